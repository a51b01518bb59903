"""Settings that cure a posterior that comes out too wide, or too narrow.

Each is found by what a step made linear makes of it (`advise/linearized_chain.py`): the width it has then is promised.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from recipe_compiler.advise.linear_step import CONTROL_VARIATES, SUBTRACTED
from recipe_compiler.advise.linearized_chain import LinearizedChain, Width
from recipe_compiler.audit.thermostat import thermostats
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.run.sample import parameter_names
from recipe_compiler.run.sizes import declared_parameters
from recipe_compiler.spec.build_minibatch import may_vary
from recipe_compiler.spec.model import Build

WIDE = 1.05
"""The largest factor of a posterior sd that needs no cure, and that cures aim at; as much too narrow is as wrong."""

ITERATIONS, APART = 12, 1.03
"""Attempts at one cure, and the factor within which it is found."""

MOST = 2.0**31
"""The largest factor that a setting is changed by."""

HELD_ITERATIONS, HELD_APART, HELD_SHARPNESS = 5, 1.5, 1e-2
"""The same of a thermostat, and how near the value is found at which it is held: each answer is a search by itself."""

TOO_LARGE = "the step size is too large"
"""What is said of a step that a smaller one would cure."""

UNSTABLE = f"the chain is unstable: {TOO_LARGE}"
"""What is said where it is so with the gradient of all data: nothing that quiets its noise is a cure."""


@dataclass(frozen=True, slots=True)
class Cure:
    """Another setting, and the forecast for it."""

    setting: str
    """`step_size`, `batch_size`, the name of a parameter, `gradient_noise` or `control_variates`."""
    value: float | str
    width: Width
    cost: str


def cures_of(linearized: LinearizedChain, off: float, why: str = "", of_step: float = 0.0) -> Iterator[Cure]:
    """Yield settings with which posterior sds would be right within `WIDE`, and forecasts with other gradients.

    A smaller step size, a larger batch, a larger friction, subtracted noise and control variates are tried, each by the
    step made linear at these settings.

    Args:
        linearized: the chain whose width is not good enough.
        off: by what factor its sds are off, at most; infinite where it has no law.
        why: it has none.
        of_step: by what part the variance is off with the gradient of all data.
    """
    held = bool(thermostats(linearized.sampler.compiled.program))
    if held:
        linearized = replace(linearized, sharpness=HELD_SHARPNESS)
    eps, size = linearized.inputs.eps, linearized.inputs.batch_size or 1
    found = _sought(lambda factor: linearized.with_step(rounded(eps / factor)))
    if found is not None:
        value = found[0].inputs.eps
        yield Cure("step_size", value, found[1], f"{eps / value:.2g} times as many steps for the same time")
    if why == UNSTABLE:
        return
    noisy = linearized.has_batches and abs(of_step) <= WIDE**2 - 1.0
    if noisy:
        rows = linearized.inputs.rows
        most = MOST if linearized.sampler.module.replacement else rows / size
        found = _sought(lambda factor: linearized.with_batch(min(math.ceil(size * factor), rows)), most)
        if found is not None:
            value = found[0].inputs.batch_size or 1
            yield Cure("batch_size", value, found[1], f"{value / size:.2g} times as many data in a step")
    if noisy or not held:
        yield from _frictions(linearized)
    build = linearized.sampler.build
    plain = noisy and build.estimated is None and not build.control and is_zero(build.V)
    kinds = (
        (SUBTRACTED, "gradient_noise", "{V: estimate}", "V is taken from the data at the mode, and subtracted"),
        (CONTROL_VARIATES, "minibatch", "{control_variates: mode}", "twice the work of a step"),
    )
    kinds = kinds if may_vary(build.target) else kinds[:1]
    for kind, setting, value, cost in kinds if plain else ():
        if (answer := _answer(replace(linearized, noise=kind))) is not None and answer.off < off:
            yield Cure(setting, value, answer, cost)


def _frictions(linearized: LinearizedChain) -> Iterator[Cure]:
    """Yield larger values of the parameters of D that cure the posterior."""
    names = parameter_names(linearized.sampler.module, linearized.sampler.build)
    for parameter in _of_D(linearized.sampler.build):
        if parameter.name not in names:
            continue
        name, old = parameter.name, float(cast("float", linearized.parameter(parameter.name)))

        def asks(factor: float, name: str = name, old: float = old) -> LinearizedChain:
            return linearized.with_values({name: -rounded(-old * factor)})

        found = _sought(asks, gentle=False) if old > 0.0 else None
        if found is not None:
            value = float(cast("float", found[0].parameter(name)))
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
    ask: Callable[[float], LinearizedChain], most: float = MOST, *, gentle: bool = True
) -> tuple[LinearizedChain, Width] | None:
    """Return a chain whose width is good enough, by about the smallest factor, and that answer; None for none.

    Factors 2, 8, 128, ... until one is, then bisections of the last interval on a log scale.

    Args:
        ask: makes a chain of a factor.
        most: the largest factor.
        gentle: whether a larger factor takes a chain away from where there is no answer, not into it.
    """
    held = bool(thermostats(ask(1.0).sampler.compiled.program))
    iterations, apart = (HELD_ITERATIONS, HELD_APART) if held else (ITERATIONS, APART)
    low, high, best = 1.0, math.inf, None
    for _ in range(iterations):
        factor = min(most, 2.0 * low**2 if math.isinf(high) else math.sqrt(low * high))
        linearized = ask(factor)
        found = _answer(linearized)
        if found is not None and found.off <= WIDE:
            high, best = factor, (linearized, found)
        elif found is None and not gentle:
            high = factor
        elif factor >= most:
            break
        else:
            low = factor
        if high / low < apart:
            break
    return best


def _answer(linearized: LinearizedChain) -> Width | None:
    try:
        return linearized.width()
    except (ValueError, np.linalg.LinAlgError):
        return None


def rounded(value: float) -> float:
    """Return the largest number with two significant digits that is at most the value."""
    digits = 1 - math.floor(math.log10(abs(value)))
    return math.floor(value * 10.0**digits) / 10.0**digits
