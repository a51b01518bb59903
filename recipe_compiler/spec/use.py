"""The dynamics that the word of a cycle follows, where it moves some of the blocks or uses other dynamics.

The build's dynamics become those that the word follows before anything is derived of them: the D and Q of the dynamics
used, with their blocks as they are called here, P D P and P Q P where blocks of the target are held, and the build's H.
So every later stage, and every claim, is about the one equation that is integrated.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from recipe_compiler.formula.block_matrices import Matrix, zeros
from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.expression import Apply, Formula, Number, Role, Symbol
from recipe_compiler.formula.rebuild import is_zero, matrix_product
from recipe_compiler.formula.shapes import Kind, Shape, Size
from recipe_compiler.formula.show import text
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.clashing_names import renamed
from recipe_compiler.spec.model import Claims, Dynamics, Moved, Source, Use, Value
from recipe_compiler.spec.places import canonical_json, placed


def as_called_here(
    dynamics: Dynamics, other: Dynamics, blocks: Mapping[str, str], sizes: Mapping[str, Size]
) -> Dynamics:
    """Return other dynamics with the names that blocks, their potential and sizes have in those of a build.

    What their document claims is about them by themselves, and is left out.

    Args:
        dynamics: the build's.
        other: those used.
        blocks: each block of those used to what it is called in the build's.
        sizes: each of their sizes to what it is in the build's.

    Raises:
        ModelError: a formula that differentiates by a block which is called otherwise.
    """
    here = {block.name: block for block in dynamics.declarations.blocks}
    letters = {old: new for old, new in sizes.items() if isinstance(new, str)}
    numbers = {old: Number(Fraction(new)) for old, new in sizes.items() if isinstance(new, int)}
    potentials = {other.potential or "": dynamics.potential or other.potential or ""}
    with placed(other.source, "H"):
        given = renamed(replace(other, claims=Claims()), {**blocks, **letters, **potentials}, numbers)
    own = tuple(here[blocks[block.name]] for block in other.declarations.blocks)
    return replace(given, declarations=replace(given.declarations, blocks=own))


def followed(dynamics: Dynamics, given: Dynamics, use: Use) -> Dynamics:
    """Return the dynamics of a build with P D P and P Q P of those used, H its own.

    What the build's document claims of its drift, or of a step, is about its own D and Q, and is left out; that of H
    stays. The energy of other dynamics is kept beside it, to be compared (`verify/moves/use.py`).

    Args:
        dynamics: the build's.
        given: those used, as they are called here.
        use: what the move says of them.
    """
    own, (theta,) = dynamics.declarations, potential_blocks(dynamics)
    mask = tuple(Parameter(name, theta.shape) for name in use.masks)
    parameters = tuple(item for item in given.declarations.parameters if own.find(item.name) is None)
    functions = tuple(item for item in given.declarations.functions if own.find(item.name) is None)
    assumed = tuple(condition for condition in given.declarations.assume if condition not in own.assume)
    energy = None if use.document is None else given.H
    made = replace(
        dynamics,
        declarations=Declarations(
            own.blocks, (*own.parameters, *parameters, *mask), (*own.functions, *functions), own.data,
            (*own.assume, *assumed),
        ),
        D=_placed(dynamics, given, given.D or (), use),
        Q=_placed(dynamics, given, given.Q or (), use),
        claims=Claims(marginal=dynamics.claims.marginal, energy=energy),
        units=(),
    )  # fmt: skip
    return replace(made, source=_stated(made, (*parameters, *mask), functions))


def _placed(dynamics: Dynamics, given: Dynamics, matrix: Matrix, use: Use) -> Matrix:
    """Return P A P over the blocks of a build, zero in the places of blocks that those used do not have."""
    blocks, (theta,) = dynamics.declarations.blocks, potential_blocks(dynamics)
    order = {block.name: n for n, block in enumerate(given.declarations.blocks)}
    P = _projection(theta.shape, use.parts[0].mask)
    found = [list(row) for row in zeros(blocks)]
    for i, row in enumerate(blocks):
        for j, col in enumerate(blocks):
            if row.name not in order or col.name not in order:
                continue
            entry = matrix[order[row.name]][order[col.name]]
            shape = entry.shape
            if P is not None and not is_zero(entry):
                entry = matrix_product(P, entry, shape) if row == theta else entry
                entry = matrix_product(entry, P, shape) if col == theta else entry
            found[i][j] = entry
    return tuple(map(tuple, found))


def _projection(shape: Shape, mask: str) -> Formula | None:
    """Return P = diag(moved); None where it is the identity."""
    if not mask:
        return None
    return Apply("diag", (Symbol(mask, shape, Role.PARAMETER),), Shape(shape.rows, shape.rows))


def mask_value(moved: Moved) -> Value:
    """Return the value of the parameter of P: 1 for each coordinate that is moved, 0 for those that are held."""
    return Value(tuple((Fraction(int(row)),) for row in moved.rows))


def _stated(made: Dynamics, parameters: tuple[Parameter, ...], functions: tuple[Function, ...]) -> Source:
    """Return the document that says what dynamics are followed: the build's own with what differs put in."""
    document: dict[str, Any] = json.loads(made.source.document)
    document |= {name: _texts(matrix) for name, matrix in (("D", made.D), ("Q", made.Q))}
    entries = [[item.name, {"shape": _shape(item.shape), **_kinds(item.kinds)}] for item in parameters]
    document["parameters"] = [*document.get("parameters", []), *entries]
    more = [[f.name, {"of": list(f.of), "shape": _shape(f.shape), **_kinds(f.kinds)}] for f in functions]
    document["functions"] = [*document.get("functions", []), *more]
    if made.declarations.assume:
        document["assume"] = [text(condition) for condition in made.declarations.assume]
    claimed = document.pop("claims", {})
    document.pop("units", None)
    if "marginal" in claimed:
        document["claims"] = {"marginal": claimed["marginal"]}
    return replace(made.source, document=canonical_json(document))


def _texts(matrix: Matrix | None) -> list[list[str]]:
    return [[text(entry) for entry in row] for row in matrix or ()]


def _shape(shape: Shape) -> str | list[str]:
    sizes = [str(size) for size in shape.sizes]
    return "scalar" if not sizes else sizes[0] if len(sizes) == 1 else sizes


def _kinds(kinds: tuple[Kind, ...]) -> dict[str, Any]:
    return {"is": [kind.value for kind in kinds]} if kinds != (Kind.REAL,) else {}
