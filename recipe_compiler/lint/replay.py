"""A step run once more with plain numbers: what was followed of it is what it computes, or nothing is said of it.

A step that is followed is given symbols, and may see that it is: by a type, by what is the same object, by its callers.
So it is run in a process of its own with floats and NumPy's arrays at admissible numbers that nobody would guess, and
what it returns and draws is compared with the operations that were followed, evaluated at these numbers in balls. A
step that is accepted or refused by a uniform draw is run with draws on both sides of the number that decides it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from hashlib import sha256
from random import Random
from typing import Any, NoReturn

import flint
import numpy as np
from flint import arb

from recipe_compiler.lint import process
from recipe_compiler.lint.answer import FileOutcome, Operation, Trace, Untraced
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName
from recipe_compiler.lint.nodes import FOLLOWED, FUNCTIONS
from recipe_compiler.lint.plain_run.operations import Line, evaluated
from recipe_compiler.lint.read import UNREAD, TracedProblem, meaning
from recipe_compiler.lint.series import Meaning
from recipe_compiler.lint.stated_numbers import FUNCTIONS as OF_BALLS
from recipe_compiler.lint.stated_numbers import (
    NoNumbersError,
    Values,
    admissible,
    ball_of,
    in_balls,
    squared,
    stretched,
    values_of,
)
from recipe_compiler.verify.core.sizes import Sizes, written
from recipe_compiler.verify.core.subject import Subject

POINTS = 4
"""Points at which a step is run at every choice of sizes."""
STRETCHED = (1.0, 2.0, 0.5, 3.0)
"""What the state is multiplied by, at one point after another."""
TRIED = 24
"""Points that are tried for those."""
WIDER = ((8.0, 8.0), (64.0, 0.125), (0.015625, 1.0))
"""What state and step size are multiplied by at points besides, for what a step does at some numbers alone."""
FAR = (*(2.0 ** (k / 4) for k in range(8, 44)), 2.0**20, 2.0**-20)
"""What one state is multiplied by at points where doubles may overflow, or underflow, on the way to a number.

exp(-x**2) exp(x**2/2) exp(x**2/2) is 0 for x from 27 to 38 alone: factors step by less than that window is wide."""
SCALARS = ("Python", "NumPy")
"""Whose numbers scalars are."""
SINGLE = "32 bits"
"""What they are besides, and all arrays: a step that is given these is none that loses its noise."""
BITS_OF_SINGLE = 24
NEAR_OF_SINGLE = 1e-4
"""How near to each other numbers are that are the same in 32 bits, the rounding of what was given counted in."""
COMPARABLE_OF_SINGLE = 1e-2
"""The largest difference, relative to a number, that may be rounding there: noise that is lost is a larger one."""
AGAIN = 100
"""Times that the first call is made again."""
NEAR = 1e-9
"""How near to each other numbers are that are the same, relative to them, where no rounding is seen."""
ROUNDINGS = 100
"""Radii of a ball in doubles by which a number that was computed in another order may differ."""
COMPARABLE = 1e-6
"""The largest difference, relative to a number, that may be rounding."""
SMALLEST = 2.0**-20
"""The smallest uniform draw, and how near to 1 the largest is."""
LARGEST = 1e290
"""The size of numbers, and of their inverses, that doubles are near to."""
FED = 3
"""Calls that are given what the one before returned, as it is."""
BISECTIONS = 32
BESIDE = 2.0**-24
"""How near to the uniform draw that decides those are that it is run with, relative to it."""

BITS = 53
"""Those of doubles: what rounding may do to a number is read off balls of as many."""

SEED = 20150601
"""Of a generator of NumPy's own."""

ADVICE = "remove what depends on types, object identity or the caller: it may depend on numbers only"
BY_ROUNDING = "rounding alone may explain the difference"
OF_ROUNDING = "avoid cancellation there: np.expm1, np.log1p, a difference of squares as a product"
"""The advice where a step differs in nothing else."""
FAR_OUT = "at extreme numbers, where doubles overflow or underflow"
OF_SINGLE = "given arrays of float32"
OF_RETURNED = "its results are not floats or arrays like its first arguments: a 0-d array is changed in place, " + (
    "and some functions treat a list or a view differently; return floats, and copies of arrays (np.array, float)"
)
"""The same of a step that does something else with what it returned itself."""
OF_OVERFLOW = "avoid both: use np.logaddexp, or subtract exponents before np.exp"
"""The same of a step that is another one where numbers are large or small."""
OF_ITS_ARGUMENT = ", where a gradient returns its argument, the same array"
"""What is said of calls whose potential is |z|^2/2."""
FED_ITSELF = "given the result of the call before"
LEGACY = ("randn", "rand", "random_sample", "ranf", "sample")
"""What a generator of the older kind has besides."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What a step is called with, apart from its uniform draws."""

    values: dict[str, Values]
    eps: float
    draws: tuple[float, ...]
    read: frozenset[str]
    """Arguments that are used as values, not called."""


@dataclass(frozen=True, slots=True)
class _Call:
    case: int
    scalars: str
    at: "_At"
    numbers: _Numbers
    uniforms: tuple[float, ...]
    trace: Trace
    """The way that it goes."""
    expected: tuple[tuple[arb, ...], ...]
    covariances: tuple[tuple[arb, ...], ...]
    is_near_doubles: bool
    """Whether nothing that is computed overflows or underflows."""
    is_far: bool = False
    """Whether it is looked at for numbers that are finite, and others than they should be; it may raise as well."""
    beside: str = ""
    """What it is called with besides."""
    fed: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()
    """Normal and uniform draws of the calls after it that are given what the one before returned."""

    @property
    def is_comparable(self) -> bool:
        """Whether doubles alone lead nowhere near to what would be another number."""
        return self.is_near_doubles and all(
            _is_comparable(x) for flat in (*self.expected, *self.covariances) for x in flat
        )


def replayed(ask: Binding, subject: Subject, sizes: Sequence[Sizes], answer: FileOutcome) -> FileOutcome:
    """Return what was followed of a step, without what it does not do with plain numbers."""
    with flint.ctx.workprec(BITS):
        return _replayed(ask, subject, sizes, answer)


def _replayed(ask: Binding, subject: Subject, sizes: Sequence[Sizes], answer: FileOutcome) -> FileOutcome:
    calls: list[_Call] = []
    cases: list[Trace | Untraced] = list(answer.cases)
    for k, (at, case) in enumerate(zip(sizes, answer.cases, strict=False)):
        if isinstance(case, Trace):
            problem = TracedProblem(ask, subject, case, at)
            try:
                means = meaning(problem)
            except UNREAD:
                continue  # nor is there a verdict where nothing is known of what its names mean
            try:
                own = [*_calls(k, problem, means)]
            except (*UNREAD, NoNumbersError) as reason:
                cases[k] = Untraced(f"{reason}: it was not run with plain numbers", ask.source.line)
            else:
                calls += own
                cases[k] = replace(case, runs=sum(not call.is_far for call in own))
    calls.sort(key=lambda call: call.is_far)
    if calls:
        for k, reason in _differences(ask, sizes, calls).items():
            cases[k] = Untraced(reason, ask.source.line)
    return FileOutcome(answer.file, tuple(cases))


# What a step is called with.


def _calls(k: int, problem: TracedProblem, means: Meaning) -> Iterator[_Call]:
    """Yield the calls at one choice of sizes.

    Raises:
        NoNumbersError: none are known at which the step has values.
    """
    seed = f"{problem.ask.source.text}:{problem.ask.source.step}:{problem.at}"
    random = Random(int.from_bytes(sha256(seed.encode()).digest()))
    trace = problem.trace
    ways = {True} if trace.otherwise is None else {True, False}
    found = 0
    for tried in range(TRIED):
        numbers = _numbers(problem, means, random, STRETCHED[tried % len(STRETCHED)])
        at = _At(trace, numbers, means)
        uniforms = [random.uniform(0.2, 0.8)] if trace.otherwise is None else at.around()
        here = [call for u in uniforms for call in at.calls(k, [u] * trace.uniforms)]
        if not here:
            continue
        new = ways & {call.trace is trace for call in here}
        if found < POINTS or new:
            yield from (replace(call, fed=_feeds(trace, random)) for call in here)
        ways -= new
        found += 1
        if found >= POINTS and not ways:
            break
    else:
        _say_none(found)
    for of_state, of_step in WIDER:
        numbers = _numbers(problem, means, random, of_state, of_step)
        calls = _At(trace, numbers, means).calls(k, [random.uniform(0.2, 0.8)] * trace.uniforms)
        yield from (call for call in calls if call.is_comparable)
    numbers = _numbers(problem, means, random, is_square=True)
    if any(own.is_its_argument for name, own in numbers.values.items() if name not in numbers.read):
        calls = _At(trace, numbers, means).calls(k, [random.uniform(0.2, 0.8)] * trace.uniforms)
        yield from (replace(call, beside=OF_ITS_ARGUMENT) for call in calls if call.is_comparable)
    if trace.otherwise is None:
        numbers = _numbers(problem, means, random)
        with flint.ctx.workprec(BITS_OF_SINGLE):
            calls = [*_At(trace, numbers, means).calls(k, [random.uniform(0.2, 0.8)] * trace.uniforms)]
        yield from (replace(call, is_far=True, scalars=SINGLE) for call in calls[:1])
    for of_state in FAR if trace.otherwise is None else ():
        numbers = _numbers(problem, means, Random(0), of_state)
        calls = _At(trace, numbers, means).calls(k, [random.uniform(0.2, 0.8)] * trace.uniforms)
        yield from (replace(call, is_far=True) for call in calls if call.scalars == SCALARS[-1])


def _feeds(trace: Trace, random: Random) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]:
    """Return draws of the calls that follow one; some accept whatever may be accepted, some refuse."""
    answers = [random.choice((SMALLEST, 1 - SMALLEST)) for _ in range(FED)]
    return tuple((_normals(trace, random), (u,) * trace.uniforms) for u in answers)


def _normals(trace: Trace, random: Random) -> tuple[float, ...]:
    count = max(trace.draws, 0 if trace.otherwise is None else trace.otherwise.draws)
    return tuple(random.choice((-1, 1)) * random.uniform(0.2, 1.2) for _ in range(count))


def _say_none(found: int) -> NoReturn:
    if found < POINTS:
        raise NoNumbersError("for none of the numbers tried is everything it computes defined")
    raise NoNumbersError("for none of the numbers tried does it both accept and reject")


def _numbers(
    problem: TracedProblem,
    means: Meaning,
    random: Random,
    of_state: float = 1.0,
    of_step: float = 1.0,
    *,
    is_square: bool = False,
) -> _Numbers:
    declarations = problem.subject.dynamics.declarations
    at = stretched(admissible(declarations, problem.sizes, random), declarations, problem.sizes, of_state)
    at = squared(at, declarations, problem.sizes) if is_square else at
    draws = _normals(problem.trace, random)
    eps = of_step * random.uniform(0.03, 0.06)
    at = replace(at, numbers={**at.numbers, means.eps: Fraction(eps)})
    values = {
        given.name: values_of(given.name, means, at)
        for given in problem.ask.given
        if given.kind == STATE or given.formula is not None
    }
    return _Numbers(values, eps, draws, _read_as_values(problem))


def _read_as_values(problem: TracedProblem) -> frozenset[str]:
    """Return the arguments that are used as values.

    Raises:
        NoNumbersError: one is called as well.
    """
    ways = [trace for trace in (problem.trace, problem.trace.otherwise) if trace is not None]
    used = {(one.op, one.name) for trace in ways for one in trace.operations if one.op in ("leaf", "field")}
    both = next((name for op, name in sorted(used) if op == "field" and ("leaf", name) in used), None)
    if both is not None:
        raise NoNumbersError(f"{both} is used as a value and called as a function")
    return frozenset(name for op, name in used if op == "leaf")


class _At:
    def __init__(self, trace: Trace, numbers: _Numbers, means: Meaning) -> None:
        self.trace, self.numbers, self.means = trace, numbers, means

    def calls(self, case: int, uniforms: Sequence[float]) -> Iterator[_Call]:
        """Yield the calls with uniform draws; none where what is computed has no value."""
        trace = self.trace if self.trace.otherwise is None or self._holds(uniforms) else self.trace.otherwise
        values = self._values(trace, uniforms)
        expected = tuple(tuple(values[k] for k in flat) for flat in trace.outputs)
        covariances = tuple(tuple(values[k] for k in entries) for _, entries in trace.groups)
        if not all(x.is_finite() for flat in (*expected, *covariances) for x in flat):
            return
        for scalars in SCALARS:
            doubles = all(map(_is_near_doubles, values))
            yield _Call(case, scalars, self, self.numbers, tuple(uniforms), trace, expected, covariances, doubles)

    def with_draws(self, draws: Sequence[float]) -> "_At":
        """Return the trace at the same numbers with other normal draws."""
        return _At(self.trace, replace(self.numbers, draws=tuple(draws)), self.means)

    def with_state(self, state: Mapping[str, Sequence[float]]) -> "_At":
        """Return the trace at other values of the state; arguments that are values of functions stay what they are."""
        own = self.numbers.values
        new = {name: replace(own[name], here=tuple(values)) for name, values in state.items()}
        return _At(self.trace, replace(self.numbers, values=own | new), self.means)

    def is_decided(self, uniforms: Sequence[float]) -> bool:
        """Whether rounding leaves no doubt which way the step goes."""
        if self.trace.otherwise is None:
            return True
        left, right = (self._values(self.trace, uniforms)[k] for k in self.trace.compared)
        return bool(left < right) or bool(left >= right)

    def around(self) -> list[float]:
        """Return uniform draws on both sides of the one that decides, one where there is none."""
        low, high = SMALLEST, 1 - SMALLEST
        first = self._holds([low] * self.trace.uniforms)
        if first == self._holds([high] * self.trace.uniforms):
            return [0.5]
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._holds([middle] * self.trace.uniforms) == first else (low, middle)
        return [low * (1 - BESIDE), high * (1 + BESIDE)]

    def _holds(self, uniforms: Sequence[float]) -> bool:
        values = self._values(self.trace, uniforms)
        left, right = (values[k] for k in self.trace.compared)
        return bool(left < right)

    def _values(self, trace: Trace, uniforms: Sequence[float]) -> list[arb]:
        leaf = partial(self._leaf, uniforms, dict[tuple[object, ...], list[arb]]())
        return evaluated([_line(one) for one in trace.operations], leaf, ball_of, pow, OF_BALLS)

    def _leaf(
        self, uniforms: Sequence[float], known: dict[tuple[object, ...], list[arb]], line: Line, found: Sequence[arb]
    ) -> arb:
        match line:
            case ["draw", k]:
                return arb(self.numbers.draws[k])
            case ["uniform", k]:
                return arb(uniforms[k])
            case ["leaf", name, k]:
                own = self.numbers.values.get(name)
                return arb(self.numbers.eps if own is None else own.here[k])
            case [_, name, k, *parts]:
                own, point = self.numbers.values[name], (name, *parts)
                if point not in known:
                    known[point] = in_balls(own.lines, [found[part] for part in parts])
                return known[point][own.entries[k]]
            case _:
                raise NoNumbersError("an operation that is not known")


def _line(one: Operation) -> Line:
    """Return an operation of a trace as the evaluator reads it."""
    match one.op:
        case "number":
            return ("number", str(one.value))
        case "draw" | "uniform":
            return (one.op, one.position)
        case "leaf" | "field":
            return (one.op, one.name, one.position, *one.parts)
        case "call":
            return ("call", one.name, *one.parts)
        case _:
            return (one.op, *one.parts)


# What the process is told, and what it answers.


def _differences(ask: Binding, sizes: Sequence[Sizes], calls: Sequence[_Call]) -> dict[int, str]:
    """Return for every case why a run differs from what was followed."""
    generator = "Generator"
    said = _run(ask, sizes, calls, generator)
    if isinstance(said, dict) and _is_legacy(str(said.get("failed", ""))):
        generator = "RandomState"
        said = _run(ask, sizes, calls, generator)
    if isinstance(said, Untraced):
        return {call.case: f"run with plain numbers, {said.reason}" for call in calls}
    try:
        return _compared(ask, sizes, calls, said, generator)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        return {call.case: "run with plain numbers, its process ended without an answer" for call in calls}


def _is_legacy(failed: str) -> bool:
    return any(failed.endswith(f"object has no attribute '{name}'") for name in LEGACY)


def _run(ask: Binding, sizes: Sequence[Sizes], calls: Sequence[_Call], generator: str) -> Any:
    request = {
        "file": ask.source.file,
        "text": ask.source.text,
        "step": ask.source.step,
        "positional": ask.positional,
        "keywords": ask.keywords,
        "globals": ask.globals,
        "outputs": [given.name for given in ask.outputs],
        "called": [process.block_of(given) for given in ask.outputs],
        "functions": {name: FUNCTIONS[name].ufunc for name in FOLLOWED},
        "again": AGAIN,
        "changing": sorted({name for call in calls for name in call.trace.changing}),
        "calls": [_request(ask, sizes[call.case], call, generator) for call in calls],
    }
    said = process.run_plainly(request)
    return said if isinstance(said, Untraced) else _read(said)


def _read(said: bytes) -> Any:
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return Untraced("its process ended without an answer (out of memory, or it left Python)")


def _request(ask: Binding, sizes: Sizes, call: _Call, generator: str) -> dict[str, Any]:
    return {
        "scalars": call.scalars,
        "generator": generator,
        "normal": call.numbers.draws,
        "uniform": call.uniforms,
        "seed": SEED,
        "far": call.is_far,
        "order": call.trace.order,
        "fed": [{"normal": normal, "uniform": uniform} for normal, uniform in call.fed],
        "given": [_given(given, ask, sizes, call) for given in ask.given],
    }


def _given(given: BoundName, ask: Binding, sizes: Sizes, call: _Call) -> dict[str, Any]:
    """Return what an argument is given: a number, an array, or a function where it is called as one."""
    item = process.stand_in(given, ask, sizes)
    own = call.numbers.values.get(given.name)
    if item["is"] == "step size":
        return item | {"values": [call.numbers.eps]}
    if own is None:
        return item
    if given.of and (given.name in ask.globals or given.name not in call.numbers.read):
        is_same = bool(call.beside) and own.is_its_argument
        return item | {"is": "function", "lines": own.lines, "entries": own.entries, "same": is_same}
    return item | {"values": own.here}


def _compared(
    ask: Binding, sizes: Sequence[Sizes], calls: Sequence[_Call], said: Any, generator: str
) -> dict[int, str]:
    """Return for every case the first difference between the calls of a run and what was followed."""
    found: dict[int, str] = {}
    answers = said["calls"]
    for call, one in zip(calls, answers, strict=False):
        different = next(_different(ask, call, one, generator), "")
        if different and call.case not in found:
            by_rounding = different.endswith(BY_ROUNDING)
            by_overflow = call.is_far and call.scalars != SINGLE
            advice = OF_OVERFLOW if by_overflow else OF_ROUNDING if by_rounding else ADVICE
            found[call.case] = f"{_where(sizes, call)}, {different}; {advice}"
    if len(answers) < len(calls) or "failed" in said:
        reason = f"run with plain numbers, {said['failed']}"
        return {call.case: reason for call in (calls[len(answers) :] or calls)} | found
    return _compared_fed(ask, sizes, calls, said["fed"]) | found


def _where(sizes: Sequence[Sizes], call: _Call) -> str:
    at = f" at {written(sizes[call.case])}" if sizes[call.case] else ""
    return f"run with plain numbers{at} (with scalars of {call.scalars}{call.beside})"


def _compared_fed(ask: Binding, sizes: Sequence[Sizes], calls: Sequence[_Call], answers: Any) -> dict[int, str]:
    """Return for every case the first difference of calls that are given what those before returned."""
    found: dict[int, str] = {}
    went: dict[int, set[bool]] = {call.case: set() for call in calls}
    for call, one in zip(calls, answers, strict=False):
        different = next(_others_fed(ask, call, one, went[call.case]), "")
        if different:
            found.setdefault(call.case, f"{_where(sizes, call)}, {FED_ITSELF}, {different}; {OF_RETURNED}")
    for call in calls:
        if not _ways(call.at.trace) <= went[call.case]:
            found.setdefault(call.case, f"{_where(sizes, call)}, {FED_ITSELF}, not all of its branches were reached")
    return found


def _ways(trace: Trace) -> set[bool]:
    return {True} if trace.otherwise is None else {True, False}


def _others_fed(ask: Binding, call: _Call, answers: Any, went: set[bool]) -> Iterator[str]:
    """Yield what calls do otherwise that are given what the one before returned; note which ways those go that do not.

    Where what was followed has no value, or doubles are not near to it, no later call is compared.
    """
    trace = call.at.trace
    if trace.otherwise is not None and trace.otherwise.order != trace.order:
        yield "its blocks are in another order when it is rejected"
        return
    for (normal, uniform), one in zip(call.fed, answers, strict=False):
        state = {given.name: own for given, own in zip(ask.outputs, one["given"], strict=True)}
        at = call.at.with_state(state).with_draws(normal)
        here = next(at.calls(call.case, uniform), None)
        if here is None or not here.is_comparable or not at.is_decided(uniform):
            return
        if "raised" in one:
            yield one["raised"]
            return
        yield from _other_draws(here, one)
        yield from _others(ask, here, one["values"])
        went.add(here.trace is trace)


def _different(ask: Binding, call: _Call, one: Any, generator: str) -> Iterator[str]:
    """Yield what a call does otherwise than was followed."""
    if call.is_far:
        yield from _other_far_out(ask, call, one)
        return
    yield from _other_draws(call, one)
    yield from _others(ask, call, one["values"])
    if "own" in one:
        yield from _with_own_draws(ask, call, one, generator)


def _other_draws(call: _Call, one: Any) -> Iterator[str]:
    """Yield draws that are not those that were followed."""
    for what, drawn, followed in (
        ("normal", one["normals"], call.trace.draws),
        ("uniform", one["uniforms"], call.trace.uniforms),
    ):
        if drawn != followed:
            yield f"it draws {drawn} {what} numbers, {followed} when it was traced"
    for own, followed in zip(one["covariances"], call.covariances, strict=True):
        yield from _apart(own, followed, lambda k: f"entry {k} of a covariance that it draws from")


def _other_far_out(ask: Binding, call: _Call, one: Any) -> Iterator[str]:
    """Yield numbers that are finite, and not those that were followed; what is infinite, or raised, is seen by all."""
    is_single = call.scalars == SINGLE
    where = OF_SINGLE if is_single else FAR_OUT
    near, within = (NEAR_OF_SINGLE, COMPARABLE_OF_SINGLE) if is_single else (NEAR, COMPARABLE)
    values = [] if one is None else [one["values"][k] for k in call.trace.order]
    for given, own, followed in zip(ask.outputs, values, call.expected, strict=False):
        for k, (x, y) in enumerate(zip(own, followed, strict=False)):
            if np.isfinite(x) and np.isfinite(float(y)) and _is_comparable(y, within):
                name = _entry(given.name, len(followed), k)
                apart = _apart([x], [y], lambda _, name=name: name, near, within)
                yield from (f"{where}, {different}" for different in apart)


def _with_own_draws(ask: Binding, call: _Call, one: Any, generator: str) -> Iterator[str]:
    """Yield what a call does otherwise that draws from a generator of NumPy's own."""
    own = np.random.Generator(np.random.PCG64(SEED)) if generator == "Generator" else np.random.RandomState(SEED)
    drawn = [(kind, float(own.standard_normal() if kind == "n" else own.random())) for kind in one["order"]]
    at = call.at.with_draws([x for kind, x in drawn if kind == "n"])
    here = next(at.calls(call.case, [x for kind, x in drawn if kind == "u"]), None)
    for different in _others(ask, here, one["own"]) if here is not None and here.is_comparable else ():
        yield f"{different} (with numpy.random.{generator} itself)"


def _others(ask: Binding, call: _Call, values: Any) -> Iterator[str]:
    """Yield values that are not those that were followed."""
    for given, own, followed in zip(ask.outputs, [values[k] for k in call.trace.order], call.expected, strict=True):
        yield from _apart(own, followed, partial(_entry, given.name, len(followed)))


def _entry(name: str, count: int, k: int) -> str:
    return f"the new {name}" if count == 1 else f"entry {k} of the new {name}"


def _apart(
    own: Sequence[float],
    followed: Sequence[arb],
    named: Callable[[int], str],
    near: float = NEAR,
    within: float = COMPARABLE,
) -> Iterator[str]:
    """Yield a number that is not the one that was followed."""
    if len(own) != len(followed):
        yield f"it returns {len(own)} numbers, {len(followed)} when it was traced"
        return
    for k, (x, y) in enumerate(zip(own, followed, strict=True)):
        value = float(y)
        if not _is_comparable(y, within):
            yield f"{named(k)} is {x:.9g}, {value:.9g} when it was traced: {BY_ROUNDING}"
        elif not abs(x - value) <= near * (1 + abs(value)) + _rounding(y):
            yield f"{named(k)} is {x:.9g}, {value:.9g} when it was traced"


def _is_near_doubles(y: arb) -> bool:
    """Whether a value, if it has one, is 0 or neither overflows nor underflows."""
    return not y.is_finite() or y == 0 or 1 / LARGEST < float(y.abs_upper()) < LARGEST


def _rounding(y: arb) -> float:
    return ROUNDINGS * float(y.rad())


def _is_comparable(y: arb, within: float = COMPARABLE) -> bool:
    return _rounding(y) <= within * (1 + abs(float(y)))
