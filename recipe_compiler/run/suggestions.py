"""Settings that cure a posterior that comes out too wide, each found by asking the emitted forecast again."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.run.chain import Array, Inputs
from recipe_compiler.run.load_module import Emitted, users_name
from recipe_compiler.run.sizes import declared_parameters
from recipe_compiler.spec.model import Build

WIDE = 1.05
"""The largest factor of a posterior sd that needs no cure, and that cures aim at; as much too narrow is as wrong."""

MOST_COORDINATES = 200
"""The longest state that is made linear."""

WORK = 5e8
"""Entries of the data that may be read to make a step linear."""

ITERATIONS = 12
"""How often the forecast is asked for one cure."""

TOO_LARGE = "the step size is too large"
"""What the emitted forecast says of a step that a smaller one would cure."""

AS_IT_IS, SUBTRACTED, CONTROL_VARIATES = "as it is", "subtracted", "control variates"


@dataclass(frozen=True, slots=True)
class Width:
    """What a chain makes of the posterior, by the linearised step."""

    sds: tuple[float, ...]
    """Of the chain, by coordinate of theta."""
    factors: tuple[float, ...]
    """By which they are wider than those of exp(-H), linearised alike."""
    temperature: float
    """tr(S Hess U)/d: 1 where the covariance S of the chain is that of exp(-H)."""
    of_step: float
    """temperature - 1 with exact gradients: the part of the step size."""
    mode: tuple[float, ...] = ()
    """theta where the step stands still on average, around which the step is made linear."""

    @property
    def widest(self) -> float:
        """The largest factor."""
        return max(self.factors)

    @property
    def narrowest(self) -> float:
        """The smallest factor."""
        return min(self.factors)


@dataclass(frozen=True, slots=True)
class Cure:
    """Another setting, and what the forecast says of it."""

    setting: str
    """`step_size`, `batch_size`, the name of a parameter, `gradient_noise` or `control_variates`."""
    value: float | str
    width: Width
    cost: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the emitted forecast."""

    module: Emitted
    build: Build
    inputs: Inputs
    theta: Array | None = None
    """Where the potential's block starts in the search for the state around which a chain stays; None: at zero."""
    noise: str = AS_IT_IS

    def refused(self) -> str:
        """Return why there can be no forecast, empty where there may be one."""
        bounded = [b.name for b in self.build.dynamics.declarations.blocks if b.domain.name is not DomainName.REAL]
        width = sum(block.size for block in self.starts())
        if bounded:
            return f"`{bounded[0]}` has a bounded domain, on which no step is linear"
        if width > MOST_COORDINATES:
            return f"the state has {width} coordinates, at most {MOST_COORDINATES} are made linear"
        if self.inputs.rows < 2:
            return "one datum alone tells nothing of the noise of a minibatch"
        if 4.0 * width * sum(field.size for field in self.inputs.data) > WORK:
            return "there are too many data to make the step linear in less than some seconds"
        return ""

    def starts(self) -> tuple[Array, ...]:
        """Return the mode for the potential's block, zeros for the others."""
        sizes = dict(zip(self.module.sizes, self.inputs.numbers, strict=True))
        zeros = {name: np.zeros((sizes[n] if isinstance(n, str) else n) or 1) for name, n in self.module.blocks}
        if self.theta is not None:
            zeros[self.module.potential_block] = self.theta
        return tuple(zeros.values())

    def width(self) -> Width:
        """Return the answer. Raises ValueError where the step cannot be made linear."""
        inputs = self.inputs
        given = (*self.starts(), *inputs.parameters, *inputs.data, inputs.batch_size, inputs.eps, *inputs.numbers)
        with np.errstate(all="ignore"):
            middle, target, exact, chain = cast("Any", self.module.forecast)(*given, noise_kept=self.noise)
        d = len(target)
        temperature, step_alone = (float(np.trace(np.linalg.solve(target, S))) / d for S in (chain, exact))
        sds = np.sqrt(np.diag(chain))
        factors = sds / np.sqrt(np.diag(target))
        starts = self.starts()
        place = [name for name, _ in self.module.blocks].index(self.module.potential_block)
        mode = np.split(middle, np.cumsum([block.size for block in starts])[:-1])[place]
        return Width(
            tuple(map(float, sds)), tuple(map(float, factors)), temperature, step_alone - 1.0, tuple(map(float, mode))
        )

    def with_step(self, eps: float) -> "Question":
        """Return the question for another step size."""
        return replace(self, inputs=replace(self.inputs, eps=eps))

    def with_batch(self, size: int) -> "Question":
        """Return the question for another batch size."""
        return replace(self, inputs=replace(self.inputs, batch_size=size))

    def with_parameter(self, place: int, value: float) -> "Question":
        """Return the question for another value of a parameter."""
        old = self.inputs.parameters
        return replace(self, inputs=replace(self.inputs, parameters=(*old[:place], value, *old[place + 1 :])))


def cures_of(question: Question, widest: float) -> Iterator[Cure]:
    """Yield settings with which the posterior is narrow enough, and what the forecast says of other gradients.

    Args:
        question: the question whose answer is too wide.
        widest: that answer; infinite where there is none.
    """
    eps, size = question.inputs.eps, question.inputs.batch_size or 1
    found = _sought(lambda factor: question.with_step(_rounded(eps / factor)), widest)
    if found is not None:
        value = found[0].inputs.eps
        yield Cure("step_size", value, found[1], f"{eps / value:.2g} times as many steps for the same time")
    rows = question.inputs.rows
    most = math.inf if question.module.replacement else rows / size
    found = _sought(lambda factor: question.with_batch(min(math.ceil(size * factor), rows)), widest, most)
    if found is not None:
        value = found[0].inputs.batch_size or 1
        yield Cure("batch_size", value, found[1], f"{value / size:.2g} times as many data in a step")
    yield from _frictions(question, widest)
    plain = question.build.estimated is None and question.build.control is None and _is_zero(question.build)
    kinds = (
        (SUBTRACTED, "gradient_noise", "{V: estimate}", "V is taken from the data at the mode, and subtracted"),
        (CONTROL_VARIATES, "minibatch", "{control_variates: mode}", "twice the work of a step"),
    )
    for kind, setting, value, cost in kinds if plain else ():
        if (answer := _answer(replace(question, noise=kind))) is not None and answer.widest < widest:
            yield Cure(setting, value, answer, cost)


def _is_zero(build: Build) -> bool:
    """Whether nothing of the gradient's noise is subtracted."""
    from recipe_compiler.formula.show import text  # as the module's header says it

    return text(build.V) == "0"


def _frictions(question: Question, widest: float) -> Iterator[Cure]:
    """Yield larger values of the parameters of D that narrow the posterior."""
    declared = {parameter.name for parameter in declared_parameters(question.build)}
    names = [users_name(name, declared) for name in question.module.parameters]
    for parameter in _of_D(question.build):
        if parameter.name not in names:
            continue
        place = names.index(parameter.name)
        old = float(cast("float", question.inputs.parameters[place]))

        def asks(factor: float, place: int = place, old: float = old) -> Question:
            return question.with_parameter(place, -_rounded(-old * factor))

        found = _sought(asks, widest, gentle=False) if old > 0.0 else None
        if found is not None:
            value = float(cast("float", found[0].inputs.parameters[place]))
            yield Cure(parameter.name, value, found[1], f"chains move up to {value / old:.2g} times slower")


def _of_D(build: Build) -> tuple[Parameter, ...]:
    """Return the positive numbers among the parameters of the dynamics that D is made of, and the target is not."""
    # Imported here because it brings SymPy, which a run without cures does without.
    from recipe_compiler.formula.build import nodes
    from recipe_compiler.spec.bind import bind

    entries = [entry for row in bind(build).D or () for entry in row]
    named = {node.name for entry in entries for node in nodes(entry)
             if isinstance(node, Symbol) and node.role is Role.PARAMETER}  # fmt: skip
    target = {parameter.name for parameter in build.target.declarations.parameters}
    found = {p.name: p for p in declared_parameters(build) if p.name in named - target and not p.shape.sizes}
    return tuple(p for p in found.values() if {Kind.POSITIVE, Kind.NONNEGATIVE} & set(p.kinds))


def _sought(
    ask: Callable[[float], Question], widest: float, most: float = math.inf, *, gentle: bool = True
) -> tuple[Question, Width] | None:
    """Return a question whose answer is narrow enough, by about the smallest factor, and that answer; None for none.

    What is too wide falls about as 1/factor, so that the next factor is the last one times what is still too much.

    Args:
        ask: makes a question of a factor.
        widest: the answer for the factor 1; infinite where there is none.
        most: the largest factor.
        gentle: whether a larger factor takes a question away from where there is no answer, not into it.
    """
    low, high, best = 1.0, math.inf, None
    factor = _too_much(widest) if math.isfinite(widest) else 4.0
    for _ in range(ITERATIONS):
        factor = min(factor, most)
        question = ask(factor)
        found = _answer(question)
        excess = (4.0 if gentle else math.inf) if found is None else _too_much(found.widest)
        if found is not None and excess <= 1.0:
            high, best = factor, (question, found)
            if excess > 0.9:
                break
        elif math.isinf(excess):
            high = factor
        elif factor >= most:
            break
        else:
            low = factor
        if high / low < 1.03:
            break
        factor = factor * excess * 1.02
        factor = factor if low < factor < high else math.sqrt(low * high) if math.isfinite(high) else 2.0 * low
    return best


def _too_much(widest: float) -> float:
    """Return the part of the variance that is too wide, in units of what needs no cure."""
    return (widest**2 - 1.0) / (WIDE**2 - 1.0)


def _answer(question: Question) -> Width | None:
    try:
        return question.width()
    except (ValueError, np.linalg.LinAlgError):
        return None


def _rounded(value: float) -> float:
    """Return a number with two digits that is at most the value."""
    digits = 1 - math.floor(math.log10(abs(value)))
    return math.floor(value * 10.0**digits) / 10.0**digits
