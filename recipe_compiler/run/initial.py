"""Where chains start, by `first_state` of their module; where searches for a mode begin: `init`, zero, at random."""

import inspect
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import CompilerError, DataError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName, Sizes
from recipe_compiler.run.evaluate import Point, evaluate, extent
from recipe_compiler.run.load_module import Emitted, users_name
from recipe_compiler.run.map_estimate import Start
from recipe_compiler.run.sizes import placed_blocks, potential_block
from recipe_compiler.spec.discrete import is_counts
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build

SCATTERED = 6
"""The number of random starts, tried in addition to `init` and zero."""

SPREAD = 2.0
"""Random starts are uniform in [-2, 2]."""


def starts_of(module: Emitted, build: Build, known: Mapping[str, Array], sizes: Sizes) -> tuple[Start, ...]:
    """Return the starts of a search for the mode, in order: `init`, zero, then random ones, the same at every call.

    Args:
        module: of the build.
        build: for its `init`; the potential's block is that of its dynamics.
        known: values of parameters in the shapes that formulas use.
        sizes: symbolic sizes.
    """
    theta = first_states(module, build, known, sizes)(0, 0)[module.potential_block]
    stated = stated_coordinates(build, sizes)
    formulas = (formula for _, formula in build.init)
    drawn = ", a draw of it" if any(dependence(formula).draws for formula in formulas) else ""
    first = (Start(f"`init`{drawn}", np.where(stated, theta, 0.0)),) if stated.any() else ()
    rng = np.random.default_rng(0)
    scattered = (Start(f"random state {k + 1}", rng.uniform(-SPREAD, SPREAD, theta.size)) for k in range(SCATTERED))
    return (*first, Start("zero", np.zeros(theta.size)), *scattered)


def first_states(
    module: Emitted, build: Build, known: Mapping[str, Array], sizes: Sizes
) -> Callable[[int, int], dict[str, Array]]:
    """Return where chains start, by the module's names of blocks, as a function of the run's seed and the chain.

    Args:
        module: of the build.
        build: for its `init`.
        known: values of parameters in the shapes that formulas use.
        sizes: symbolic sizes.

    Raises:
        DataError: of that function: what `init` states is not finite, or lies outside of the domain of its block.
    """
    call, given = module.first_state, list[object]()
    if call is None:
        raise CompilerError(f"{module.name}: found no first_state, expected where chains start")
    names = {*known, *sizes, *build.dynamics.declarations.sizes, *build.target.declarations.sizes}
    for name in [*inspect.signature(call).parameters][2:]:
        own = users_name(name, names)
        given.append(known[own] if own in known else extent(own, sizes))

    def start(seed: int, chain: int) -> dict[str, Array]:
        try:
            state = call(seed, chain, *given)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise DataError([str(error)]) from error
        except ZeroDivisionError as error:  # the transform of a bounded block is infinite at its ends
            bounded = {one.block.name for one in build.target.transforms}
            ends = " or ".join(f"`{name}`" for name, _ in build.init if name in bounded)
            problem = f"init of {ends}: found the end of its domain, expected numbers inside its bounds"
            raise DataError([problem]) from error
        _demand_inside(build, [*state.values()], Point(known, sizes))
        return state

    return start


def at_rest(build: Build, state: Mapping[str, Array]) -> dict[str, Array]:
    """Return a start with blocks of all real numbers that `init` does not state at zero, momenta among them."""
    stated = {*dict(build.init), potential_block(build)}
    blocks = zip(state, build.dynamics.declarations.blocks, strict=True)
    left = {name for name, block in blocks if block.domain.name is DomainName.REAL and block.name not in stated}
    return {name: np.zeros_like(value) if name in left else value for name, value in state.items()}


def stated_blocks(build: Build) -> dict[str, Formula]:
    """Return the starting values stated for blocks of the target, as the target declares them."""
    own = {block.name for block in build.dynamics.declarations.blocks}
    return {name: formula for name, formula in build.init if name not in own}


def stated_coordinates(build: Build, sizes: Sizes) -> NDArray[np.bool_]:
    """Return which coordinates of the potential's block start where `init` says."""
    whole, stated = potential_block(build) in dict(build.init), stated_blocks(build)
    pieces = placed_blocks(build, sizes)
    return np.concatenate([np.full(place.stop - place.start, whole or name in stated) for name, _, place in pieces])


def _demand_inside(build: Build, state: list[Array], at: Point) -> None:
    for own, value in zip(build.dynamics.declarations.blocks, state, strict=True):
        in_parts = own.name == potential_block(build)
        for name, block, place in placed_blocks(build, at.sizes) if in_parts else [(own.name, own, slice(None))]:
            if expected := _outside(block, value[place], at):
                raise DataError([f"init of `{name}`: found {value[place][:5]}, expected {expected}"])


def _outside(block: Block, entries: Array, at: Point) -> str:
    """Return what a start has to be where it is not; empty where it is."""
    if not np.isfinite(entries).all():
        return "finite numbers, inside its bounds"
    if block.domain.name is DomainName.ONE_HOT:
        rows = entries.reshape(-1, extent(block.shape.sizes[-1], at.sizes))
        right = np.isin(rows, (0.0, 1.0)).all() and (rows.sum(axis=1) == 1.0).all()
        return "" if right else "a one at one place of each row, zeros elsewhere"
    if not is_counts(block):
        return ""
    ends = [float(evaluate(bound, at)) for bound in block.domain.bounds if not dependence(bound).data]
    right = ((entries >= 0.0) & (entries == np.floor(entries)) & (entries <= min(ends, default=np.inf))).all()
    return "" if right else f"whole numbers from 0 {f'to {ends[0]:g}' if ends else 'on'}"
