"""Branches of a `where` that meet: they have one value, or also one derivative, wherever its condition changes.

The boundary of {left > right} lies in {left = right}, both sides being continuous. If yes - no vanishes on the whole of
{left = right}, where(left > right, yes, no) is continuous, and locally Lipschitz if both branches are; if the
derivatives of yes - no vanish there, too, it is continuously differentiable if both branches are. Typed formulas are
read with one opaque scalar for each part that has entries of its own, so that the answer holds for every size.

A kink in a branch counts where that branch is used: |x| has none where |x| >= 1.

Worked example, Huber's where(|x| <= 1, x**2/2, |x| - 1/2): on x = 1 yes - no is 1/2 - 1/2 = 0 and its derivative 1 - 1
= 0, likewise on x = -1: once continuously differentiable.
"""

from functools import lru_cache
from typing import cast

import sympy
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.scalars import untyped
from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, Corner
from recipe_compiler.algebra.scalars.sign_cells import Cell, by_signs, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError, argument
from recipe_compiler.algebra.zero.everywhere import is_zero_everywhere
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.facts.multiplied_out import Abstraction
from recipe_compiler.facts.semidefinite import sign_by_rules
from recipe_compiler.formula.build import ONE, add, multiply, negate, nodes, parts, rebuild
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import CALCULUS, Apply, Compare, Formula, Number, Power
from recipe_compiler.formula.shapes import Shape

Guards = tuple[tuple[Compare, bool], ...]
"""Conditions of `where`, and whether they hold."""

KINKED = frozenset({"abs", "minimum", "maximum", "where"})


@lru_cache(maxsize=limits.REMEMBERED)
def meet(node: Apply, declarations: Declarations, *, smoothly: bool) -> bool:
    """Whether the branches of a `where` are shown to meet; `smoothly`: with all first derivatives.

    yes - no = 0 on {left = right}: where(x > 0, x**2, 0) meets smoothly, where(x > 0, x, 0) does not. `where(a == b,
    yes, no)` is `no` wherever its branches have one value.
    """
    condition, yes, no = node.args
    if not isinstance(condition, Compare) or not _is_continuous(condition):
        return False
    read = Abstraction(declarations, sign_by_rules)
    gap = _read_scalar(read, condition.left) - _read_scalar(read, condition.right)
    step = by_signs(_read_scalar(read, yes) - _read_scalar(read, no))
    try:
        if not _vanishes_on(step, by_signs(gap)):
            return False
        if not smoothly or condition.op == "==":
            return True
        smooth = off_kinks(step)
        slopes = (sympy.diff(smooth, x) for x in sorted(step.free_symbols, key=str))
        return all(_vanishes_on(_replace_cells(slope), by_signs(gap)) for slope in slopes)
    except NoNormalFormError:
        return False


def apart(kink: Formula, condition: Compare, declarations: Declarations, *, holds: bool) -> frozenset[str] | None:
    """Return the declarations by which a formula has no zero where a condition holds, or fails; None if not shown.

    The condition counts with its boundary, where both branches of a `where` are used.
    """
    op = condition.op
    if op == "==" or not _is_continuous(condition):
        return None
    read = Abstraction(declarations, sign_by_rules)
    gap = _read_scalar(read, condition.left) - _read_scalar(read, condition.right)
    above = gap if (op in (">", ">=")) == holds else -gap
    zero = _solve_linear(_read_scalar(read, kink))
    if zero is None:
        return None
    below = -above.subs(*zero)
    try:
        shown = scalar(below, ">", read.region())
    except NoNormalFormError:
        return None
    return None if shown is None else shown.given


def _is_continuous(condition: Compare) -> bool:
    """Whether the sides of a condition are continuous where they have values: nothing in them jumps."""
    return not any(_may_jump(node) for side in (condition.left, condition.right) for node in nodes(side))


def _may_jump(node: Formula) -> bool:
    """Whether a node may be discontinuous: a jump, a `where`, or a derivative of a kink."""
    if not isinstance(node, Apply):
        return False
    if node.fn in CALCULUS:
        return any(isinstance(inner, Apply) and inner.fn in KINKED for inner in nodes(node.args[0]))
    return node.fn == "where" or (node.fn in FUNCTIONS and FUNCTIONS[node.fn].corner is Corner.JUMP)


def _read_scalar(read: Abstraction, formula: Formula) -> Expr:
    """Return a formula, or one entry of it, every `where` in it by signs."""
    return read.scalar(_replace_where(formula))


def _replace_where(formula: Formula) -> Formula:
    """Return a formula with `no + h (yes - no)` for `where`, h = 0 or 1 by signs of the condition."""
    new = [_replace_where(part) for part in parts(formula)]
    if not (isinstance(formula, Apply) and formula.fn == "where" and isinstance(formula.args[0], Compare)):
        return rebuild(formula, new, _keep_shape)
    condition, yes, no = new
    if not isinstance(condition, Compare):
        return formula
    shape = formula.shape
    s = Apply("sign", (add((condition.left, negate(condition.right)), shape),), shape)
    chosen = multiply(_indicator(condition.op, s), add((yes, negate(no)), shape), shape)
    return add((no, chosen), shape)


def _keep_shape(shape: Shape) -> Shape:
    """Return a shape unchanged."""
    return shape


def _indicator(op: str, s: Apply) -> Formula:
    """Return 1 where a comparison holds and 0 elsewhere, as a polynomial in the sign s of left - right."""
    square, half = Power(s, Number(ONE.value * 2), s.shape), Number(ONE.value / 2)
    up = multiply(half, add((square, s), s.shape), s.shape)
    down = multiply(half, add((square, negate(s)), s.shape), s.shape)
    match op:
        case ">":
            return up
        case "<":
            return down
        case ">=":
            return add((ONE, negate(down)), s.shape)
        case "<=":
            return add((ONE, negate(up)), s.shape)
        case _:
            return add((ONE, negate(square)), s.shape)


def _replace_cells(e: Expr) -> Expr:
    """Return a derivative with `sign` in place of cells: equal wherever the derivative exists."""
    return cast(Expr, e.replace(Cell, sympy.sign))


def _vanishes_on(e: Expr, gap: Expr) -> bool:
    """Whether an expression is zero wherever another one is. Raises NoNormalFormError."""
    moduli = sorted((x for x in gap.atoms(sympy.Abs) if not x.args[0].has(sympy.Abs)), key=sympy.default_sort_key)
    if gap.has(sympy.sign) or len(gap.atoms(sympy.Abs)) > limits.CASES:
        return False
    if moduli:
        u = argument(moduli[0])
        sides = ({moduli[0]: s * u, sympy.sign(u): sympy.Integer(s)} for s in (1, -1))
        return all(_vanishes_on(cast(Expr, e.xreplace(side)), cast(Expr, gap.xreplace(side))) for side in sides)
    zero = _solve_linear(gap)
    if zero is not None:
        there = e.subs(*zero)
        return not there.has(sympy.nan, sympy.zoo, sympy.oo) and is_zero_everywhere(there, _has_no_proof)
    return _is_multiple(e, gap)


def _has_no_proof(e: Expr) -> bool:
    """Whether a scalar is known to have no zero: never, as no facts are at hand."""
    return False


def _solve_linear(gap: Expr) -> tuple[Expr, Expr] | None:
    """Return a symbol and its value on {gap = 0}, for a symbol with a constant rational coefficient."""
    plain = cast(Expr, sympy.expand(gap))
    for x in sorted(cast(set[sympy.Symbol], plain.free_symbols), key=str):
        slope = cast(Expr, plain.coeff(x, 1))
        rest = plain - slope * x
        if slope.is_Rational and not slope.is_zero and x not in rest.free_symbols:
            return x, -rest / slope
    return None


def _is_multiple(e: Expr, gap: Expr) -> bool:
    """Whether an expression is a polynomial times another one, in some symbol in which both are polynomials."""
    if e.has(sympy.sign, sympy.Abs):
        return False
    for x in sorted(gap.free_symbols, key=str):
        if e.is_polynomial(x) and gap.is_polynomial(x):
            divisor = sympy.Poly(gap, x)
            if divisor.degree() > 0 and divisor.LC().is_Rational:
                return is_zero(untyped.rem(sympy.Poly(e, x), divisor).as_expr())
    return False
