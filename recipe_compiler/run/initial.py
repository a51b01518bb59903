"""Where chains start: what the build says, else spread out for the target and from their law for the rest.

The search for a mode begins at `init`, else at zero, else at states that chains could start from.
"""

import math
from collections.abc import Mapping

import numpy as np

from recipe_compiler.derive.refresh import OwnLaw
from recipe_compiler.emit.print_start import spread_domain
from recipe_compiler.emit.support.starts import _draw_law, _spread
from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.run.constrained import stated_blocks, with_rows, with_stated
from recipe_compiler.run.evaluate import Array, Point, evaluate, extent, extents
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import Start
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics

SCATTERED = 6
"""The number of random starts, tried in addition to `init` and zero."""

SPREAD = 2.0
"""Chains start uniformly in [-2, 2] on the real line (in an unbounded variable, for other domains)."""


def starts_of(build: Build, width: int, known: Mapping[str, Array], sizes: Mapping[str, int]) -> tuple[Start, ...]:
    """Return the starts of a search for the mode, in order: `init`, zero, then random ones, the same at every call.

    Args:
        build: for its `init`; the potential's block is that of its dynamics.
        width: coordinates of the potential's block.
        known: values of parameters in the shapes that formulas use.
        sizes: symbolic sizes.
    """
    potential = next(function for function in build.dynamics.declarations.functions if function.role == "potential")
    formula = dict(build.init).get(potential.of[0])
    rng = np.random.default_rng(0)
    first: tuple[Start, ...] = ()
    stated = stated_blocks(build) | ({} if formula is None else {potential.of[0]: formula})
    if stated:
        drawn = ", a draw of it" if any(dependence(f).draws for f in stated.values()) else ""
        value = np.zeros(width) if formula is None else evaluate(formula, Point(known, sizes, rng))
        whole = np.ascontiguousarray(value, dtype=np.float64).reshape(-1)
        first = (Start(f"`init`{drawn}", with_stated(whole, build, Point(known, sizes, rng))),)
    scattered = (Start(f"random state {k + 1}", rng.uniform(-SPREAD, SPREAD, width)) for k in range(SCATTERED))
    return (*first, Start("zero", np.zeros(width)), *scattered)


def initial_state(
    module: Emitted, build: Build, dynamics: Dynamics, laws: Mapping[str, OwnLaw], known: Mapping[str, Array],
    sizes: Mapping[str, int], seed: int, chain: int,
) -> dict[str, Array]:  # fmt: skip
    """Return where a chain starts: one array of one dimension per block of the dynamics, by the module's names.

    A block of `init` takes the value of its formula, draws included; a block of the target, as it declares it, has its
    part of the potential's block. Of the others, the potential's block starts overdispersed (uniform in [-2, 2] per
    coordinate, rows of one_hot at any place, counts at zero), a block whose law under H is a Gaussian independent of
    the rest starts from that law, and all others start at zero or, where zero is outside their domain, spread out too.

    Args:
        module: of the build.
        build: the build, for its `init`.
        dynamics: its dynamics, bound.
        laws: of the blocks whose law under H is a Gaussian independent of the rest.
        known: values of parameters in the shapes formulas work with.
        sizes: symbolic sizes.
        seed: the run's seed; the draws here come from a stream of their own.
        chain: the number of the chain.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    init = dict(build.init)
    potential = next((f.of for f in dynamics.declarations.functions if f.role == "potential"), ())
    starts: dict[str, Array] = {}
    for (name, _), block in zip(module.blocks, dynamics.declarations.blocks, strict=True):
        if block.name in init:
            start = _evaluated(block, init[block.name], Point(known, sizes, rng))
        elif block.name in potential or block.domain.name is not DomainName.REAL:
            start = _spread_over(block, Point(known, sizes), rng)
        elif laws.get(block.name) is OwnLaw.NORMAL:
            start = rng.standard_normal(_length(block, sizes))
        elif block.name in laws:
            start = _from_law(block, dynamics, Point(known, sizes), rng)
        else:
            start = np.zeros(_length(block, sizes))
        start = np.ascontiguousarray(start, dtype=np.float64).reshape(-1)
        if block.name in potential:
            start = with_stated(with_rows(start, build, sizes, rng), build, Point(known, sizes, rng))
        starts[name] = start
    return starts


def _length(block: Block, sizes: Mapping[str, int]) -> int:
    return math.prod(extent(size, sizes) for size in block.shape.sizes)


def _evaluated(block: Block, formula: Formula, at: Point) -> Array:
    value = evaluate(formula, at)
    expected = extents(block.shape, at.sizes)
    if value.shape != expected:
        raise DataError([f"init of `{block.name}`: found an array {value.shape}, expected {expected}"])
    if not np.isfinite(value).all():
        raise DataError([f"init of `{block.name}`: found {value.reshape(-1)[:5]}, expected finite numbers"])
    return value


def _spread_over(block: Block, at: Point, rng: np.random.Generator) -> Array:
    """Return a point spread over the domain of a block: uniform in [-2, 2] in an unbounded variable."""
    real = rng.uniform(-SPREAD, SPREAD, _length(block, at.sizes))
    bounds = [float(evaluate(bound, at)) for bound in block.domain.bounds]
    if block.domain.name is DomainName.REAL:
        return real
    if block.domain.name is DomainName.CIRCLE and not bounds:
        bounds = [0.0, math.tau]
    return _spread(real, spread_domain(block.domain), *bounds)


def _from_law(block: Block, dynamics: Dynamics, at: Point, rng: np.random.Generator) -> Array:
    """Return a draw of exp(-H) as a law of one block, in which H is quadratic and coupled to no other.

    All other blocks stand at one, abstract functions at zero: they are part of the rest.
    """
    others = {b.name: np.ones(extents(b.shape, at.sizes)) for b in dynamics.declarations.blocks}
    others |= {f.name: np.zeros(extents(f.shape, at.sizes)) for f in dynamics.declarations.functions}

    def energy(r: Array) -> float:
        r = r.reshape(extents(block.shape, at.sizes))
        return float(evaluate(dynamics.H, Point({**others, **at.names, block.name: r}, at.sizes)))

    return _draw_law(rng, _length(block, at.sizes), energy)
