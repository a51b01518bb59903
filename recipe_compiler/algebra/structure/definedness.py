"""Where a formula is defined, and where it is smooth: the obligations of roots, logarithms, quotients and inverses.

A proof about values holds where they are defined, one about derivatives where everything differentiated is smooth. Each
obligation is discharged by the signs and kinds declared, by the rules first and then by the proofs of `positivity/`; or
it is returned as still open, and nothing with an open one is ever proved.

Worked example: log(1 - x) with x in (0, 1). The node log needs 1 - x > 0 entry by entry; the rules give x < 1 from the
domain, so the obligation is discharged and `given` names that declaration. With x in all of R it stays open.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, Corner
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.algebra.structure.data_guards import Guarded
from recipe_compiler.algebra.structure.where_pieces import Guards, apart, meet
from recipe_compiler.facts import multiplied_out
from recipe_compiler.facts.patterns import nonsingular
from recipe_compiler.facts.semidefinite import semidefinite, sign, sign_by_rules
from recipe_compiler.formula.build import depends_on_state, negate, nodes, parts
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    CALCULUS,
    ELEMENTWISE,
    Add,
    Apply,
    Compare,
    Entry,
    Formula,
    FunctionAt,
    GradTilde,
    Multiply,
    Next,
    Normal,
    Number,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute

KINKED = frozenset({"minimum", "maximum", *(fn for fn, row in FUNCTIONS.items() if row.corner is Corner.KINK)})
JUMPING = frozenset({"where", *(fn for fn, row in FUNCTIONS.items() if row.corner is Corner.JUMP)})
_OF_DATA = frozenset({Role.DATUM, Role.INDEX})


@dataclass(frozen=True, slots=True)
class Obligations:
    """What a formula needs to be defined (and smooth): `given` are declarations used, `open` is what is left."""

    given: frozenset[str] = frozenset()
    open: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    """Functions whose kinks are excused."""

    def __or__(self, other: "Obligations") -> "Obligations":
        """Return both together, each open one and each kink once."""
        lists = (self.open, other.open), (self.kinks, other.kinks)
        return Obligations(self.given | other.given, *(tuple(dict.fromkeys((*a, *b))) for a, b in lists))

    def without(self, facts: frozenset[str]) -> "Obligations":
        """Return the obligations without declarations among `facts`, which hold anyway where they are considered."""
        return replace(self, given=self.given - facts) if facts else self


NONE = Obligations()


@dataclass(frozen=True, slots=True)
class DefinedWhere:
    """The condition that every entry of `arg` has entry + offset op 0, `op` one of `> >= !=`."""

    arg: Formula
    op: str
    offset: int = 0


class Demand(Enum):
    """What a formula is to be inside the domain. Each needs a value everywhere, and derivatives where none is excused.

    Off the kinks of abs, minimum and maximum, and of `where` whose pieces meet, everything is smooth and an identity of
    derivatives is what it says. Across them the Fokker-Planck equation is meant weakly: for every smooth phi of compact
    support

        integral of (f . grad phi + D : hess phi) p = 0.

    Where H, D and Q are locally Lipschitz, so is A p with A = D + Q and p = exp(-H). Its derivatives almost everywhere
    are then its weak ones, f p = div(A p) almost everywhere, and by parts the integral is that of -A p : hess phi + D p
    : hess phi, which is zero since Q is skew. Where a drift f is claimed, the same holds if f is that of the recipe
    almost everywhere, or if its current J = f - div D + D grad H vanishes almost everywhere. Anything else that has a
    kink is left open by name: a current that jumps carries mass on the kink, which no identity off it sees.
    """

    VALUE = "it has a value"
    OFF_KINKS = "smooth off its kinks and jumps"
    OFF_NULL_SETS = "smooth off its kinks, and off jumps on a null set"
    LIPSCHITZ = "smooth off kinks across which it is locally Lipschitz"
    ONCE = "continuously differentiable"
    SMOOTH = "all derivatives exist"


EXCUSING = (Demand.OFF_KINKS, Demand.OFF_NULL_SETS, Demand.LIPSCHITZ)


def obligations(formulas: Iterable[Formula], declarations: Declarations, demand: Demand = Demand.SMOOTH) -> Obligations:
    """Return what formulas need to be as smooth as demanded inside the domain; what is under a derivative, smooth.

    With `SMOOTH` sqrt(x) needs x > 0, log(x) the same, |x| that x has no zero, inv(A) that the n x n matrix A is
    nonsingular. With `VALUE` sqrt(x) needs x >= 0, |x| nothing. `where(x > 0, x**2, 0)` is `ONCE`, as its pieces meet
    with their derivatives.
    """
    found = NONE
    for formula in formulas:
        found = found | _collect_obligations(formula, demand, Guarded(declarations), ())
    return found


def definedness(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return what formulas need to have a value everywhere inside the domain; under a derivative, to be smooth."""
    return obligations(formulas, declarations, Demand.VALUE)


def _collect_obligations(formula: Formula, demand: Demand, known: Guarded, guards: Guards) -> Obligations:
    """Return the obligations of a formula, node by node; parts of data alone are not differentiated."""
    if demand is not Demand.VALUE and is_of_data(formula):
        demand = Demand.VALUE
    where = formula if demand is Demand.ONCE and isinstance(formula, Apply) and formula.fn == "where" else None
    if where is not None and meet(where, known.declarations, smoothly=True):
        return _obligations_of_branches(where, known, guards)
    found = _obligations_of_node(formula, demand, known.declarations, guards).without(known.facts)
    if isinstance(formula, Apply) and formula.fn in CALCULUS:
        demand = Demand.SMOOTH
    for part, own in pieces(formula, known):
        found = found | _collect_obligations(part, demand, own, guards)
    return found


def _obligations_of_branches(where: Apply, known: Guarded, guards: Guards) -> Obligations:
    """Return the obligations of branches that meet with their derivatives, each branch where it is selected."""
    condition, yes, no = where.args
    if not isinstance(condition, Compare):
        return NONE
    found = _collect_obligations(condition, Demand.VALUE, known, ())
    if condition.op == "==":  # it is `no` everywhere
        return (
            found
            | _collect_obligations(yes, Demand.VALUE, known, ())
            | _collect_obligations(no, Demand.ONCE, known, guards)
        )
    for piece, holds in ((yes, True), (no, False)):
        found = found | _collect_obligations(piece, Demand.ONCE, known, (*guards, (condition, holds)))
    return found


def pieces(formula: Formula, known: Guarded) -> Iterator[tuple[Formula, Guarded]]:
    """Yield the parts of a formula, each with what is known of data in it."""
    match formula:
        case Apply("where", (Compare() as condition, yes, no)) if is_of_data(condition):
            yield condition, known
            yield yes, known.within(condition, holds=True)
            yield no, known.within(condition, holds=False)
        case _:
            yield from ((part, known) for part in parts(formula))


def is_of_data(formula: Formula) -> bool:
    """Whether a formula consists of fields of a datum, sizes and numbers only: it is constant for all derivatives."""
    inside = list(nodes(formula))
    roles = {node.role for node in inside if isinstance(node, Symbol)}
    varies = any(isinstance(node, FunctionAt | Next | GradTilde | Normal) for node in inside)
    return not varies and roles <= _OF_DATA | {Role.SIZE} and bool(roles & _OF_DATA)


def conditions(node: Formula, smooth: bool) -> Iterator[DefinedWhere]:
    """Yield the conditions on the arguments of a node for it to have a value (and be smooth, except for kinks).

    log(x): x > 0. sqrt(x): x >= 0, x > 0 if smooth. x**(-1): x != 0.
    """
    match node:
        case Power(base, Number(exponent)) if exponent.denominator == 1:
            yield from [DefinedWhere(base, "!=")] if exponent < 0 else []
        case Power(base, Number(exponent)):
            yield DefinedWhere(base, ">" if smooth or exponent < 0 else ">=")
        case Power(base):
            yield DefinedWhere(base, ">")
        case Apply(fn, (arg,)) if fn in FUNCTIONS:
            for need in FUNCTIONS[fn].needs:
                of = Apply("cos", (arg,), arg.shape) if need.cosine else arg
                yield DefinedWhere(of, ">=" if need.closed and not smooth else need.op, need.offset)
        case _:
            return


def _obligations_of_node(node: Formula, demand: Demand, declarations: Declarations, guards: Guards) -> Obligations:
    """Return the obligations of a node itself, without those of its parts."""
    found = NONE
    for condition in conditions(node, smooth=demand is not Demand.VALUE):
        found = found | _require_sign(condition, declarations)
    match node:
        case Apply("inv", (arg,)):
            return _require_invertible(arg, declarations)
        case Apply("logdet" | "cholesky", (arg,)):
            return _require_definite(arg, declarations)
        case Apply(fn) if fn in ELEMENTWISE and fn not in FUNCTIONS:
            return _leave_open(f"{text(node)} has a value: the second engine's table lacks {fn}")
        case Apply(fn) if fn in KINKED | JUMPING and demand is not Demand.VALUE:
            return found | _obligations_at_kink(node, demand, declarations, guards)
        case _:
            return found


def kink_of(node: Apply) -> Formula | None:
    """Return the formula u on whose zeros a node has its kink or jump, None if it has none, or no such formula.

    |x| and sign(x) have x, maximum(x, y) has x - y.
    """
    match node:
        case Apply(_, (arg,)):
            return arg
        case Apply("minimum" | "maximum", (left, right)) if left.shape == right.shape:
            return Add((left, negate(right)), left.shape)
        case _:
            return None


def _obligations_at_kink(node: Apply, demand: Demand, declarations: Declarations, guards: Guards) -> Obligations:
    """Return the obligation that a function stays off its kink or jump, or the reason that it may cross it."""
    if node.fn == "where" and is_of_data(node.args[0]):
        return NONE
    kink = kink_of(node)
    found = None if kink is None else _prove_sign(kink, "!=", declarations)
    if found is None and kink is not None and demand is Demand.ONCE:
        away = (apart(kink, condition, declarations, holds=holds) for condition, holds in guards)
        found = next((given for given in away if given is not None), None)
    if found is not None:
        return Obligations(found)
    excused = demand in EXCUSING and _is_excused(node, demand, declarations)
    return Obligations(kinks=(text(node),)) if excused else _leave_open(f"{text(node)} is smooth")


def _is_excused(node: Apply, demand: Demand, declarations: Declarations) -> bool:
    """Whether a kink may be ignored: the function is continuous there, or the kink is a null set."""
    if demand is Demand.OFF_KINKS or node.fn in KINKED:
        return True
    if node.fn == "where" and meet(node, declarations, smoothly=False):
        return True
    if demand is Demand.LIPSCHITZ:
        return False
    condition = node.args[0]
    if isinstance(condition, Compare):
        return condition.op != "==" and _vanishes_on_null_set((condition.left, condition.right), declarations)
    return _vanishes_on_null_set((condition,), declarations)


def _vanishes_on_null_set(sides: tuple[Formula, ...], declarations: Declarations) -> bool:
    """Whether a formula, or the difference of two, is affine in one block, so that it vanishes on a null set only."""
    terms = [term for side in sides for term in (side.terms if isinstance(side, Add) else (side,))]
    moving = [term for term in terms if depends_on_state(term)]
    return len(moving) == 1 and _is_multiple_of_block(moving[0], declarations)


def _is_multiple_of_block(term: Formula, declarations: Declarations) -> bool:
    """Whether a term is a block or an entry of one, times factors that are constant and not zero."""
    match term:
        case Symbol(role=Role.BLOCK) | Entry(Symbol(role=Role.BLOCK)):
            return True
        case Multiply(left, right):
            factor, rest = (right, left) if depends_on_state(left) else (left, right)
            nonzero = not depends_on_state(factor) and sign(factor, declarations).nonzero
            return nonzero and _is_multiple_of_block(rest, declarations)
        case _:
            return False


def _require_sign(condition: DefinedWhere, declarations: Declarations) -> Obligations:
    """Return the obligation that every entry of a formula has a sign."""
    arg, op, offset = condition.arg, condition.op, condition.offset
    found = _prove_sign(arg, op, declarations, offset)
    if found is not None:
        return Obligations(found)
    written = f"{offset} + {text(arg)}" if offset else text(arg)
    needed = f"{written} is not zero" if op == "!=" else f"{written} {op} 0"
    return _leave_open(needed + _find_false_size(arg, op, offset))


def _find_false_size(arg: Formula, op: str, offset: int) -> str:
    """Return at which small size a condition on sizes alone is false, and what to do; empty where none is found."""
    inside = {node.name: node.role for node in nodes(arg) if isinstance(node, Symbol)}
    if arg.shape.sizes or not inside or set(inside.values()) != {Role.SIZE}:
        return ""
    for n in range(1, limits.COORDINATES + 1):
        at = {name: Number(Fraction(n)) for name in inside}
        try:
            value = evaluate(rows(substitute(arg, at), Setting(Declarations(), {}))[0][0] + offset, {}.__getitem__)
        except (NoValueError, NotScalarisableError):
            continue
        if (is_certainly(value, -1) and op != "!=") or (value == 0 and op != ">="):
            names = ", ".join(f"{name} = {n}" for name in inside)
            return f", false at {names}: write a number for the size, or a formula that has a value at every size"
    return ""


def _prove_sign(arg: Formula, op: str, declarations: Declarations, offset: int = 0) -> frozenset[str] | None:
    """Return the declarations by which every entry has `entry + offset op 0`, None if there is no proof."""
    known = sign(arg, declarations).shows(op, -offset)
    if known is not None:
        return known
    return multiplied_out.shown(plain(arg, declarations), op, declarations, sign_by_rules, offset)


def require_comparison(condition: Compare, declarations: Declarations) -> Obligations:
    """Return the obligation that a comparison holds everywhere inside the domain, entry by entry."""
    left, right = condition.left, condition.right
    if "<" in condition.op:
        left, right = right, left
    difference = left if is_zero(right) else Add((left, negate(right)), left.shape)
    found = _prove_sign(difference, condition.op.replace("<", ">"), declarations)
    return _leave_open(text(condition)) if found is None else Obligations(found)


def _require_invertible(arg: Formula, declarations: Declarations) -> Obligations:
    """Return the obligation that a square matrix is invertible, discharged if a rule proves it."""
    found = nonsingular(arg, declarations)
    if found is not None:
        return Obligations(found)
    given = multiplied_out.invertible(arg, declarations)
    return _leave_open(f"{text(arg)} is invertible") if given is None else Obligations(given)


def _require_definite(arg: Formula, declarations: Declarations) -> Obligations:
    """Return the obligation that a matrix is positive definite, discharged if a rule proves it."""
    found = semidefinite(arg, declarations)
    if found is not None and found.strict:
        return Obligations(found.given)
    given = multiplied_out.definite(arg, declarations)
    return _leave_open(f"{text(arg)} is positive definite") if given is None else Obligations(given)


def _leave_open(what: str) -> Obligations:
    """Return one obligation, in words, that was not proved."""
    return Obligations(open=(what,))
