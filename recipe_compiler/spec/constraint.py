"""`constraint:` of a target's block: the set that it lies in, which is sampled in unconstrained variables.

Sets in which every entry has an interval of its own are domains with a transform (`spec/transform.py`), or have one
bound; those in which a block lies as a whole are in `formula/constraints.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from recipe_compiler.errors import nearest
from recipe_compiler.formula import tree
from recipe_compiler.formula.constraints import OF_MATRICES_IN_CONES, VECTORS, Constraint
from recipe_compiler.formula.declaration import Block, Declarations, Domain, unused
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.declarations import Page, bound_of
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.formulas import Entry
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.transform import DOMAINS

if TYPE_CHECKING:  # what reads targets alone brings it
    from recipe_compiler.spec.schema_target import TargetBlockEntry

BOUNDED = {"lower": 1, "upper": 1, "interval": 2}
"""Constraints with bounds, and how many."""

MOST = 32
"""Rows of a matrix that lies in a set: what is emitted has a line for each entry."""


@dataclass(frozen=True, slots=True)
class Constrained:
    """What `constraint:`, or `transform:`, says of one block."""

    block: Block
    """With its domain, or its constraint."""
    via: str = ""
    """The transform; empty of a block that lies in a set as a whole."""
    bound: Formula | None = None
    """The bound of `lower(a)` or `upper(b)`."""


def read_constraints(
    page: Page, entries: Mapping[str, "TargetBlockEntry"], declarations: Declarations
) -> dict[str, Constrained]:
    """Return what is stated of each block with a constraint or transform, a fault added for each that does not fit."""
    found: dict[str, Constrained] = {}
    for block in declarations.blocks:
        stated = _read(page, entries[block.name], block, declarations)
        if stated is not None:
            found[block.name] = stated
    return found


def _read(page: Page, given: "TargetBlockEntry", block: Block, declarations: Declarations) -> Constrained | None:
    at = page["state", block.name, "constraint"]
    parsed = at.read(Entry.tree)
    if parsed is None:
        return None if given.transform is None else _transformed(page["state", block.name, "transform"], block)
    for key, other in (("domain", given.domain if given.domain != "real" else None), ("transform", given.transform)):
        if other is not None:
            hint = "a constraint sets the domain and samples in unconstrained variables"
            page["state", block.name, key].fault(f"found `{key}` beside `constraint`", hint)
            return None
    match parsed:
        case tree.Name("positive"):
            return Constrained(replace(block, domain=Domain(DomainName.POSITIVE)), "log")
        case tree.Name(name) if name in frozenset(Constraint):
            return _of_set(at, block, Constraint(name))
        case tree.Call(name, arguments) if BOUNDED.get(name) == len(arguments):
            read = (bound_of(at, part, declarations) for part in arguments)
            bounds = tuple(bound for bound in read if bound is not None)
            if len(bounds) != len(arguments):
                return None
            if name != "interval":
                return Constrained(block, name, bounds[0])
            return Constrained(replace(block, domain=Domain(DomainName.INTERVAL, bounds)), "logit")
        case _:
            known = ("positive", "lower(a)", "upper(b)", "interval(a, b)", *Constraint)
            written = shown(at.text) or "a formula"
            at.fault(f"found `{written}`, expected one of {', '.join(known)}", nearest(written, known))
            return None


def _transformed(at: Page, block: Block) -> Constrained | None:
    """Return a block with a transform of its domain."""
    if block.domain.name in DOMAINS[at.text]:
        return Constrained(block, at.text)
    expected = "interval(a, b)" if at.text == "logit" else "positive"
    problem = f"found the transform `{at.text}` of a block that is {block.domain.name}, expected the domain {expected}"
    at.fault(problem)
    return None


def _of_set(at: Page, block: Block, constraint: Constraint) -> Constrained | None:
    """Return a block in a set that is one of its shape: columns, or square matrices of a number of rows."""
    rows, cols = block.shape.rows, block.shape.cols
    if constraint in VECTORS:
        fits, expected = rows is not None and cols is None, "a column: `shape: K`"
    else:
        fits = isinstance(rows, int) and rows == cols and 2 <= rows <= MOST
        expected = f"a square matrix of 2 to {MOST} rows, in numbers: `shape: [3, 3]`"
    if not fits:
        at.fault(f"found {constraint} of a {block.shape}, expected {expected}")
        return None
    return Constrained(replace(block, domain=_hull(constraint, block), constraint=constraint))


def _hull(constraint: Constraint, block: Block) -> Domain:
    """Return an open interval that every entry lies in: of a share, of a cosine."""
    if constraint is Constraint.POSITIVE_ORDERED:
        return Domain(DomainName.POSITIVE)
    if constraint is Constraint.ORDERED or constraint in OF_MATRICES_IN_CONES:
        return Domain()
    several = isinstance(block.shape.rows, int) and block.shape.rows > 1
    low, high = (0, 1 if several else 2) if constraint is Constraint.SIMPLEX else (-2, 2)
    return Domain(DomainName.INTERVAL, (Number(Fraction(low)), Number(Fraction(high))))


def constrained(target: Target) -> tuple[Block, ...]:
    """Return the blocks of a target that lie in sets as a whole."""
    return tuple(block for block in target.declarations.blocks if block.constraint is not None)


def sampled_blocks(target: Target) -> tuple[Block, ...]:
    """Return the blocks that a chain moves: the variables of a constrained block in its place, `simplex_w` of `w`."""
    taken, found = {*target.declarations.names}, list[Block]()
    for block in target.declarations.blocks:
        moved = block.sampled
        found.append(moved if moved == block else replace(moved, name=unused(moved.name, taken)))
        taken.add(found[-1].name)
    return tuple(found)
