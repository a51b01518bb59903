"""What documents derive from every draw: formulas of the target's blocks as declared, of parameters and sizes."""

from collections.abc import Mapping

import numpy as np

from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.chain import Array
from recipe_compiler.run.evaluate import Point, evaluate, extents
from recipe_compiler.run.sample import known_values
from recipe_compiler.spec.model import Build


def derived_formulas(build: Build) -> Mapping[str, Formula]:
    """Return name to formula: those of the target, then those of the build."""
    return dict((*build.target.derived, *build.derived))


def derived_draws(build: Build, blocks: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return the derived quantities at draws `[chain, draw, ...]`, in the shapes of their formulas; NaN without a draw.

    Args:
        build: with its target, which state the formulas.
        blocks: draws of the target's blocks as they are declared.
        sizes: symbolic sizes.
    """
    formulas = derived_formulas(build)
    if not formulas:
        return {}
    declared = (build.target.declared or build.target).declarations
    known = known_values(build, sizes)
    shapes = {block.name: extents(block.shape, sizes) for block in declared.blocks}
    length = next(iter(blocks.values())).shape[:2]
    found = {name: np.full((*length, *_axes(formula.shape, sizes)), np.nan) for name, formula in formulas.items()}
    for place in np.ndindex(*length):
        own = {name: blocks[name][place].reshape(shape) for name, shape in shapes.items()}
        if not all(np.isfinite(value).all() for value in own.values()):
            continue
        at = Point({**known, **own}, sizes)
        for name, formula in formulas.items():
            with np.errstate(all="ignore"):
                found[name][place] = np.asarray(evaluate(formula, at)).reshape(found[name].shape[2:])
    return found


def _axes(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sizes[size] if isinstance(size, str) else size for size in shape.sizes)
