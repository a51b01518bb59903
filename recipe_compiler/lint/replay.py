"""A step run with floats: its trace must agree with what it computes there, else it stays undecided.

It is called at admissible random points twice with the same arguments and draws, and then with what it returned itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from random import Random
from typing import Any

import numpy as np
import sympy
from flint import arb
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point, point
from recipe_compiler.algebra.points.sample_fields import ALL_APART, NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate
from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.lint.bind_arguments import Binding, BoundName
from recipe_compiler.lint.draws import NOT_THE_DRAWS, StatedDraws, replace_randomness
from recipe_compiler.lint.nodes import tape
from recipe_compiler.lint.read import UNREAD, TracedProblem, bind_leaves
from recipe_compiler.lint.user_file import Names, call_step, describe_failure, get_array_shape, run_file, run_in_child
from recipe_compiler.trace.of_operations import Meaning
from recipe_compiler.trace.operations import Evaluation, Operation, Trace, Untraced
from recipe_compiler.verify.core.sizes import Sizes, format_sizes
from recipe_compiler.verify.core.subject import Subject

LARGEST = 1e290
"""The size of numbers, and of their inverses, that doubles are near to."""
NEAR = 1e-9
"""How near to each other numbers are that are the same, relative to them."""
ACCEPTED, REFUSED = 2.0**-20, 1 - 2.0**-20
"""Uniform draws by which what may be accepted, or refused, is."""

PART, OTHER = Symbol("part"), Symbol("other")
ADVICE = "a step may depend on the numbers it is given and on its draws only, not on what a file keeps or a type is"
OVERWRITTEN = "a later call overwrites an array that it returned: return a copy (np.array)"
FED_ITSELF = "called with what it returned"
OF_RETURNED = (
    "its results are not floats or arrays like its first arguments (a 0-d array is changed in place, a list or a view "
    "is another array to some functions): return floats, and copies of arrays"
)


def run_with_floats(
    ask: Binding, subject: Subject, sizes: Sequence[Sizes], cases: Sequence[Trace | Untraced]
) -> tuple[Trace | Untraced, ...]:
    """Return the trace of a step at each choice of sizes, or where a run with floats differs."""
    jobs = [partial(_compare_runs, ask, subject, at, case) for at, case in zip(sizes, cases, strict=True)]
    return run_in_child(ask, _load_plain, jobs) if any(isinstance(case, Trace) for case in cases) else tuple(cases)


def _load_plain(ask: Binding) -> Names:
    replace_randomness(StatedDraws)
    return run_file(ask.source.file, ask.source.text, {}, exactly=False)


class _OtherwiseError(Exception):
    """A difference between a run with floats and the trace, and the line of the file where it is known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


def _compare_runs(
    ask: Binding, subject: Subject, sizes: Sizes, case: Trace | Untraced, names: Names
) -> Trace | Untraced:
    if isinstance(case, Untraced):
        return case
    problem = TracedProblem(ask, subject, case, sizes)
    try:
        run = _Run(problem, bind_leaves(problem), names)
    except UNREAD:
        return case  # nor is there a verdict where nothing is known of what its names mean
    where = f"run with floats{f' at {format_sizes(sizes)}' if sizes else ''}"
    try:
        return replace(case, runs=run.count_calls())
    except (NoValueError, NoInstanceError) as reason:
        return Untraced(f"it was not run with floats: {reason}", ask.source.line)
    except _OtherwiseError as other:
        return Untraced(f"{where}, {other}", other.line or ask.source.line)


@dataclass(frozen=True, slots=True)
class _Instance:
    """Numbers that a step is called with."""

    at: Point
    """The numbers of all that is declared, and the step size."""
    state: Mapping[str, Sequence[float]]
    """Arguments that hold the state, where they are others than at the point."""
    normal: tuple[float, ...]
    uniform: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Balls:
    """A carrier: numbers of one call."""

    means: Meaning
    here: _Instance

    def done(self, one: Operation, parts: Sequence[Value]) -> Value:
        match one.op:
            case "number":
                return one.value
            case "pi":
                return arb.pi()
            case "draw":
                return arb(self.here.normal[one.position])
            case "uniform":
                return arb(self.here.uniform[one.position])
            case "leaf" if one.name in self.here.state:
                return arb(self.here.state[one.name][one.position])
            case "leaf" | "field":
                at = dict(zip(self.means.points[one.name], parts, strict=True)) if one.op == "field" else {}
                return _evaluate_at(self.means.leaves[one.name][one.position], self.here.at, at)
            case "min":
                return ball(parts[0]).min(ball(parts[1]))
            case "call":
                return _evaluate_at(FUNCTIONS[one.name].scalar(PART), self.here.at, {PART: parts[0]})
            case "add":
                return ball(parts[0]) + ball(parts[1])
            case "mul":
                return ball(parts[0]) * ball(parts[1])
            case _:
                return _evaluate_at(PART**OTHER, self.here.at, dict(zip((PART, OTHER), parts, strict=True)))


_Expected = tuple[list[list[arb]], list[list[arb]]]
"""What a call returns, block by block, and the covariances that it draws from."""


class _Run:
    """Calls of one step at one choice of sizes."""

    def __init__(self, problem: TracedProblem, means: Meaning, names: Names) -> None:
        self.problem, self.means, self.names = problem, means, names
        self.ask, self.trace = problem.ask, problem.trace
        self.random = Random(f"{self.ask.source.text}:{self.ask.source.step}:{problem.at}")
        self.read = {one.name for one in self.trace.operations if one.op == "leaf"}
        """Arguments that are used as values, not called."""

    def count_calls(self) -> int:
        """Return how many calls agreed with the trace.

        Raises:
            NoValueError: there are no numbers at which it can be run.
            NoInstanceError: nothing is known that satisfies the declarations.
        """
        count = found = 0
        for _ in range(limits.POINTS):
            at = self._choose_point()
            answers = (ACCEPTED, self.random.uniform(0.1, 0.9), REFUSED) if self.trace.uniforms else (0.5,)
            here = [
                self._make_three_calls(_Instance(at, {}, self._draw_normals(), (u,) * self.trace.uniforms))
                for u in answers
            ]
            count += sum(here)
            found += any(here)
            if found == limits.TRIALS:
                return count
        raise NoValueError("for none of the numbers tried is everything it computes defined")

    def _draw_normals(self) -> tuple[float, ...]:
        return tuple(self.random.choice((-1, 1)) * self.random.uniform(0.2, 1.2) for _ in range(self.trace.draws))

    def _choose_point(self) -> Point:
        declarations, sizes = self.problem.subject.declarations, self.problem.sizes
        drawn = (point(declarations, sizes, ALL_APART, self.random) for _ in range(limits.POINTS))
        found = next((at for at in drawn if at is not None), None)
        at = found or self.random.choice([*points(declarations, sizes)] or [None])
        if at is None:
            raise NoInstanceError("no numbers are known that satisfy the declarations")
        return replace(at, numbers={**at.numbers, self.means.eps: Fraction(self.random.uniform(0.03, 0.06))})

    def _make_three_calls(self, here: _Instance) -> int:
        """Return how many calls were compared: one, a repetition, and one with the result as input."""
        expected = self._evaluate_trace(here)
        if expected is None:
            return 0
        first = self._make_call(here, expected)
        held = [_read_floats(value) for value in first]
        again = self._make_call(here, expected)
        state = {one.name: _read_floats(value) for one, value in zip(self.ask.outputs, again, strict=True)}
        fed = replace(here, state=state, normal=self._draw_normals())
        if (then := self._evaluate_trace(fed)) is not None:
            try:
                self._make_call(fed, then, dict(zip(state, again, strict=True)))
            except _OtherwiseError as reason:
                raise _OtherwiseError(f"{FED_ITSELF}, {reason}; {OF_RETURNED}", reason.line) from None
        if [_read_floats(value) for value in first] != held:
            raise _OtherwiseError(OVERWRITTEN)
        return 3

    def _make_call(self, here: _Instance, expected: _Expected, state: Mapping[str, Any] | None = None) -> list[Any]:
        """Return the result of a call, block by block, once it agrees with the trace."""
        outputs, covariances = expected
        StatedDraws.state(here.normal, here.uniform)
        given = {one.name: self._make_argument(one, here) for one in self.ask.given} | dict(state or {})
        states = [one.name for one in self.ask.outputs]
        arrays = {name: x for name, x in given.items() if isinstance(x, np.ndarray) and name not in states}
        before = {name: x.copy() for name, x in arrays.items()}
        returned = self._call_step(given)
        for name, x in arrays.items():
            if not np.array_equal(x, before[name]):
                why = "the next call is given what this one left there"
                raise _OtherwiseError(f"it changes its argument {name} in place: {why}; copy it before")
        if StatedDraws.are_left() or len(StatedDraws.covariances) != len(covariances):
            raise _OtherwiseError(NOT_THE_DRAWS)
        for own, values in zip(StatedDraws.covariances, covariances, strict=True):
            _demand_same(own, values, "a covariance that it draws from")
        found = [returned[k] for k in self.trace.order]
        for one, value, values in zip(self.ask.outputs, found, outputs, strict=True):
            _demand_same(value, values, f"the new {one.name}")
        return found

    def _call_step(self, given: Mapping[str, Any]) -> list[Any]:
        tape.failed = None
        try:
            return call_step(self.ask, self.names, given)[0]
        except BaseException as error:  # a user's step may raise anything
            found = describe_failure(error)
            raise _OtherwiseError(f"it fails: {found.reason}", found.line) from None

    # What was followed, evaluated.

    def _evaluate_trace(self, here: _Instance) -> _Expected | None:
        """Return the values and covariances of a call by its trace; None where doubles are not accurate enough."""
        at, trace = Evaluation(self.trace.operations, _Balls(self.means, here)), self.trace
        try:
            left, right = (ball(at.value(k)) for k in trace.compared) if trace.compared else (arb(0), arb(1))
            if not (left < right or left >= right):
                return None
            outputs = trace.outputs if left < right else trace.otherwise
            groups = [places for _, places in trace.groups]
            values = [[[ball(at.value(k)) for k in flat] for flat in places] for places in (outputs, groups)]
        except (NoValueError, ZeroDivisionError):
            return None
        balls = map(ball, at.known.values())
        is_near = all(x.is_finite() and (0 in x or 1 / LARGEST < abs(float(x.mid())) < LARGEST) for x in balls)
        return (values[0], values[1]) if is_near else None

    # What a call is given.

    def _make_argument(self, given: BoundName, here: _Instance) -> Any:
        shape = get_array_shape(given, self.ask, self.problem.sizes)
        match given.kind:
            case "generator":
                return StatedDraws()
            case "size":
                return length(given.size, self.problem.sizes)
            case "normals":
                return StatedDraws().normals(shape or None)
            case _:
                entries = self.means.leaves[given.name]
        if given.of and given.name not in self.read:
            return partial(self._evaluate_entries, entries, self.means.points[given.name], here.at, shape)
        return _arrange([_evaluate_at(e, here.at, {}) for e in entries], shape)

    def _evaluate_entries(
        self, entries: Sequence[Expr], coordinates: Sequence[Symbol], at: Point, shape: tuple[int, ...], *point: Any
    ) -> Any:
        """Return the entries of a function of the document at a point, in a shape."""
        numbers = [Fraction(float(x)) for argument in point for x in np.asarray(argument, dtype=float).reshape(-1)]
        here = dict(zip(coordinates, numbers, strict=True))
        return _arrange([_evaluate_at(e, at, here) for e in entries], shape)


def _evaluate_at(e: Expr, at: Point, point: Mapping[Any, Value]) -> Value:
    """Return a scalar at a point, with the coordinates in `point` replaced."""

    def leaf(x: Expr) -> Value:
        if isinstance(x, Symbol):
            return point[x] if x in point else at.numbers[x]
        function, by = (x.args[0], x.variables) if isinstance(x, sympy.Derivative) else (x, ())
        return evaluate(reduce(slope, by, at.fields[type(function).__name__]), leaf)

    return evaluate(e, leaf)


def _arrange(values: Sequence[Value], shape: tuple[int, ...]) -> Any:
    """Return the midpoints of values as a float or an array of a shape."""
    numbers = [float(ball(value).mid()) for value in values]
    return np.array(numbers).reshape(shape) if shape else numbers[0]


def _read_floats(value: Any) -> list[float]:
    if np.iscomplexobj(value):
        raise _OtherwiseError("it returns a complex number")
    return np.asarray(value, dtype=float).reshape(-1).tolist()


def _demand_same(value: Any, expected: Sequence[arb], name: str) -> None:
    """Refuse numbers that differ from those of the trace.

    Raises:
        _OtherwiseError: which, and both numbers.
    """
    own = _read_floats(value)
    if len(own) != len(expected):
        raise _OtherwiseError(f"{name} has {len(own)} entries, {len(expected)} when it was traced")
    for k, (x, y) in enumerate(zip(own, map(float, expected), strict=True)):
        if not abs(x - y) <= NEAR * (1 + abs(y)):
            entry = name if len(own) == 1 else f"entry {k} of {name}"
            raise _OtherwiseError(f"{entry} is {x:.9g}, {y:.9g} when it was traced; {ADVICE}")
