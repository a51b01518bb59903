"""Blocks that lie in sets, of their unconstrained variables and back, as emitted files have it."""

from collections.abc import Callable, Mapping

import numpy as np

from recipe_compiler.emit.support import constraints
from recipe_compiler.errors import DataError
from recipe_compiler.formula.constraints import VECTORS, Constraint
from recipe_compiler.formula.declaration import Block
from recipe_compiler.run.chain import Array

SLACK = 1e-8
"""How far from its set a start may be, relative to its entries: what decimals and a Cholesky factor round."""

FORWARD: Mapping[Constraint, Callable[..., Array]] = {c: getattr(constraints, f"_{c}") for c in Constraint}
BACK: Mapping[Constraint, Callable[[Array], Array]] = {c: getattr(constraints, f"_from_{c}") for c in Constraint}


def of_variables(block: Block, u: Array) -> Array:
    """Return draws of a block that lies in a set, of draws of its variables: the last axis of u."""
    if block.constraint is None:
        return u
    if block.constraint in VECTORS:
        return FORWARD[block.constraint](u)
    return FORWARD[block.constraint](u, block.shape.rows)


def variables_of(block: Block, value: Array) -> Array:
    """Return the variables of a block at one value of it.

    Raises:
        DataError: it does not lie in the set.
    """
    if block.constraint is None:
        return value.reshape(-1)
    x = value.reshape(-1) if block.constraint in VECTORS else value
    with np.errstate(all="ignore"):
        try:
            u = BACK[block.constraint](x)
            apart = np.abs(of_variables(block, u) - x).max()
        except np.linalg.LinAlgError:
            u, apart = np.full(1, np.nan), np.nan
    if not (np.isfinite(u).all() and apart <= SLACK * np.abs(x).max()):
        problem = f"found {x.tolist()}, expected a value that is {block.constraint}"
        raise DataError([f"init of `{block.name}`: {problem}"])
    return u
