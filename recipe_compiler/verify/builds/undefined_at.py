"""Where a target has no value: an exact point inside its domain at which what a formula needs is certainly false.

Looked at are roots, logarithms and what named densities need, outside of the pieces of a `where`, whose conditions may
keep points away. A point is one of an open set of such points: a value that is needed to be > 0 is < 0 there. What data
are in is left out: they are looked at when they are read.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import Leaf, points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError, determinant
from recipe_compiler.algebra.structure.definedness import conditions
from recipe_compiler.formula.build import add, negate, nodes, parts
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Apply, Compare, Formula, Number, Symbol
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.verdict import Refuted
from recipe_compiler.verify.core.sizes import Sizes

Needed = tuple[str, Formula, str]
"""What is needed in words, and a formula with a sign: all its entries, or its determinant, are positive."""


def find_undefined_point(
    formulas: Iterable[Formula], needs: Iterable[Compare], declarations: Declarations, sizes: Sizes
) -> Refuted | None:
    """Return the refutation that formulas are defined, and conditions hold, at all points; None if none was found.

    half_normal(mu, 1) of a real mu needs mu >= 0, which is false at mu = -1.
    """
    if any(block.constraint not in (None, Constraint.SIMPLEX) for block in declarations.blocks):
        return None
    stated = tuple(formulas)
    in_pieces = any(isinstance(node, Apply) and node.fn == "where" for formula in stated for node in nodes(formula))
    needed = [
        one for one in (*_list_needed(stated), *_list_compared(() if in_pieces else needs)) if _has_state_alone(one[1])
    ]
    setting = Setting(declarations, sizes)
    try:
        for at in points(declarations, sizes) if needed else ():
            for words, formula, what in needed:
                negative = _find_negative_value(formula, what, setting, at.leaf)
                if negative is not None:
                    named = {node.name for node in nodes(formula) if isinstance(node, Symbol)}
                    failing = f"{what} {text(formula)}".strip()
                    witness = tuple(entry for entry in at.text if entry[0] in named - {failing})
                    last = (failing, f"{negative}, where {words} is needed")
                    return Refuted("exact witness", (*witness, last))
    except NoInstanceError:
        return None
    return None


def _list_needed(formulas: Iterable[Formula]) -> Iterator[Needed]:
    for formula in formulas:
        for node in _list_nodes_outside_pieces(formula):
            for one in conditions(node, smooth=False):
                offset = Number(Fraction(one.offset))
                shifted = add([offset, one.arg], one.arg.shape) if one.offset else one.arg
                if one.op in (">", ">="):
                    yield f"{text(shifted)} {one.op} 0", shifted, ""
            if isinstance(node, Apply) and node.fn in {"logdet", "cholesky"}:
                yield f"det({text(node.args[0])}) > 0", node.args[0], "det"


def _list_nodes_outside_pieces(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, Apply) and formula.fn == "where":
        return
    yield formula
    for part in parts(formula):
        yield from _list_nodes_outside_pieces(part)


def _list_compared(needs: Iterable[Compare]) -> Iterator[Needed]:
    for condition in needs:
        high, low = (condition.left, condition.right) if ">" in condition.op else (condition.right, condition.left)
        yield text(condition), high if is_zero(low) else add([high, negate(low)], high.shape), ""


def _has_state_alone(formula: Formula) -> bool:
    """Whether a formula consists of blocks, parameters and numbers, with at least one block."""
    inside = dependence(formula)
    return bool(inside.blocks) and not inside.data


def _find_negative_value(formula: Formula, what: str, setting: Setting, leaf: Leaf) -> Value | None:
    try:
        entries = rows(formula, setting)
        scalars = [determinant(entries)] if what else [x for row in entries for x in row]
        values = (evaluate(x, leaf) for x in scalars)
        return next((value for value in values if is_certainly(value, -1)), None)
    except (NoValueError, NotScalarisableError, TooLargeError):
        return None
