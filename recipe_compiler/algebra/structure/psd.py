"""Positive semidefiniteness and signs of typed formulas by structure: for every size, everywhere on the domain.

Each rule is a theorem: sums of positive semidefinite (PSD) matrices, nonnegative multiples, L P L.T with P PSD, A A.T,
inverses of positive definite (PD) matrices, Gaussian kernels of differences, diagonals of nonnegatives,
Kronecker products of PSD matrices, identities that dominate what is subtracted (`dominance.py`). What no rule covers is
unknown, which does not say that it is not PSD. Definedness of roots, logarithms and quotients inside is shown apart
(`definedness.py`).

Worked example, D = B C B.T + exp(y) I with C declared PSD, B any d x k matrix: the product is a chain (B, C, B.T) that
equals its own transpose reversed, with the middle C, so it is PSD; exp(y) is positive and I is PD. The sum is PD, given
"C is psd".
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from recipe_compiler.algebra.positivity import premise
from recipe_compiler.algebra.positivity import sign_sets as signs
from recipe_compiler.algebra.positivity.sign_sets import MINUS, PLUS, UNKNOWN, ZERO, Sign, sign_of
from recipe_compiler.algebra.scalars import elementwise
from recipe_compiler.algebra.scalars.transposes import chain, kinds_of, mirrored, plain, scaled
from recipe_compiler.algebra.structure.dominance import Judge, outweighed
from recipe_compiler.algebra.structure.ranges import range_of
from recipe_compiler.formula.build import entry_of, negate, nodes
from recipe_compiler.formula.constraints import VECTORS, Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.kernels import column_apart, differences
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.triangular import entry_at
from recipe_compiler.verdict import declared_of


@dataclass(frozen=True, slots=True)
class Definite:
    """A symmetric matrix of any size is positive semidefinite, definite if `strict`, by the declarations `given`."""

    strict: bool
    given: frozenset[str] = frozenset()


def semidefinite(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return why a square formula, [d, d] for any d, is positive semidefinite; None if no rule shows it.

    Rules are theorems about parts: A + B, c A with c >= 0, L P L.T, inv(P), diag(a) with a >= 0, kron(P, R) of such,
    and exp(-s (u_i - u_j)**2), s >= 0, as powers of u u.T are semidefinite entry by entry (Schur 1911); `dominance` has
    those with minus signs. x x.T + exp(y) I is positive definite for every size. Symmetry is part of the answer: every
    rule yields symmetric matrices.
    """
    return _definite(plain(formula, declarations), declarations)


def sign(formula: Formula, declarations: Declarations) -> Sign:
    """Return the signs that the entries of a formula of any shape may have, on the domain, for every size."""
    return _clear_sign(plain(formula, declarations), declarations)


def sign_by_rules(formula: Formula, declarations: Declarations) -> Sign:
    """Return the signs that the entries of a formula may have, by rules about its parts one at a time."""
    return _sign(plain(formula, declarations), declarations)


def _clear_sign(formula: Formula, declarations: Declarations) -> Sign:
    """Return a sign by the rules; of what is put together from scalars, also by multiplying it out."""
    found = _sign(formula, declarations)
    if found.nonnegative or not isinstance(formula, (Add, Multiply, Power, Apply)):
        return found
    for op, values in ((">", (PLUS,)), (">=", (ZERO, PLUS))):
        given = premise.shown(formula, op, declarations, sign_by_rules, light=True)
        if given is not None:
            return Sign(frozenset(values), given)
    return found


def _definite(formula: Formula, declarations: Declarations) -> Definite | None:
    if not formula.shape.sizes:
        return _of_entries(formula, declarations)
    match formula:
        case Identity():
            return Definite(True)
        case Filled(value, shape):  # of ones it is ones @ ones.T
            return Definite(False) if shape.rows == shape.cols and value >= 0 else None
        case Symbol() | FunctionAt() | Explicit():
            return _declared(formula, declarations)
        case Transpose(arg):
            return _definite(arg, declarations)
        case Add(terms):
            found = _sum([_definite(term, declarations) for term in terms])
            return found if found is not None else _outweighed(terms, declarations)
        case Multiply() | MatMul() | Apply("outer"):
            return _product(formula, declarations)
        case Apply(fn, args):
            return _applied_definite(fn, args, declarations)
        case _:
            return None


def _of_entries(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return what is known of a scalar, or of a diagonal, by the signs of its entries."""
    found = _clear_sign(formula, declarations)
    return Definite(found.positive, found.given) if found.nonnegative else None


def _applied_definite(fn: str, args: tuple[Formula, ...], declarations: Declarations) -> Definite | None:
    """Return what is known of a function of matrices, or of scalars entry by entry."""
    match fn, args:
        case "inv", (arg,):
            inner = _definite(arg, declarations)
            return inner if inner and inner.strict else None
        case "diag", (arg,):
            return _of_entries(arg, declarations)
        case "kron", _:
            return _both([_definite(arg, declarations) for arg in args])
        case "exp", (arg,):
            return _kernel(arg, declarations)
        case _:
            return None


def _kernel(exponent: Formula, declarations: Declarations) -> Definite | None:
    """Return that exp(-s (u_i - u_j)**2) is semidefinite, entry by entry, s >= 0.

    It is exp(-s u_i**2) exp(-s u_j**2) exp(2 s u_i u_j), and powers of u u.T are semidefinite entry by entry (Schur).
    """
    match exponent:
        case Multiply(rate, Multiply(apart, other)) if apart == other and not rate.shape.sizes:
            falls = _clear_sign(plain(negate(rate), declarations), declarations)
            points = column_apart(apart)
            same = points is not None and plain(differences(points), declarations) == apart
            return Definite(False, falls.given) if same and falls.nonnegative else None
        case _:
            return None


def _declared(formula: Symbol | FunctionAt | Explicit, declarations: Declarations) -> Definite | None:
    """Return what the kinds of a name say, or those that the numbers of a matrix are of."""
    kinds = kinds_of(formula, declarations)
    for kind in (Kind.PD, Kind.PSD):
        if kind in kinds:
            named = (
                frozenset[str]()
                if isinstance(formula, Explicit)
                else frozenset({declared_of(formula.name, f"is {kind}")})
            )
            return Definite(kind is Kind.PD, named)
    if Kind.DIAGONAL in kinds and not isinstance(formula, Explicit):
        for kind in (Kind.POSITIVE, Kind.NONNEGATIVE):
            if kind in kinds:
                return Definite(
                    kind is Kind.POSITIVE,
                    frozenset({declared_of(formula.name, f"is {kind} and diagonal")}),
                )
    return None


def _sum(terms: list[Definite | None]) -> Definite | None:
    found = [term for term in terms if term is not None]
    if len(found) < len(terms):
        return None
    return Definite(any(term.strict for term in found), frozenset().union(*(term.given for term in found)))


def _outweighed(terms: tuple[Formula, ...], declarations: Declarations) -> Definite | None:
    """Return that identities or a diagonal outweigh what is subtracted from them."""

    def nonnegative(scalar: Formula) -> frozenset[str] | None:
        found = _clear_sign(plain(scalar, declarations), declarations)
        return found.given if found.nonnegative else None

    def positive(scalar: Formula) -> frozenset[str] | None:
        found = _clear_sign(plain(scalar, declarations), declarations)
        return found.given if found.positive else None

    def psd(matrix: Formula) -> frozenset[str] | None:
        found = _definite(matrix, declarations)
        return None if found is None else found.given

    found = outweighed(terms, Judge(nonnegative, positive, psd))
    return None if found is None else Definite(found.strict, found.given)


def _both(parts: list[Definite | None]) -> Definite | None:
    found = _sum(parts)
    return None if found is None else Definite(all(part.strict for part in parts if part), found.given)


def _product(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return what is known of `s L P L.T`: scalars first, then a chain that is its own transpose."""
    scalars, factors = chain(formula)
    scale = _scale(scalars, declarations, _clear_sign)
    core = _congruence(factors, declarations) if factors else None
    if core is None or not scale.nonnegative:
        return None
    return Definite(core.strict and scale.positive, core.given | scale.given)


def _scale(
    scalars: tuple[Formula, ...], declarations: Declarations, sign_in: Callable[[Formula, Declarations], Sign]
) -> Sign:
    """Return the sign of a product of scalars, of each by its power: `c * c` has the sign of a square."""
    found = [signs.integer_power(sign_in(s, declarations), n) for s, n in Counter(scalars).items()]
    return reduce(signs.product, found, sign_of(PLUS))


def _congruence(factors: tuple[Formula, ...], declarations: Declarations) -> Definite | None:
    """Return what is known of `L P L.T` (P may be absent: then it is the identity)."""
    found = mirrored(factors, declarations)
    if found is None:
        return None
    left, middle = found
    centre = Definite(True) if middle is None else _single(middle, declarations)
    outer = [_single(factor, declarations) for factor in left]
    # L P L.T is definite only if every factor of L is; otherwise it is semidefinite with no condition on L.
    strict = all(part is not None and part.strict for part in outer)
    if centre is None:
        return None
    given = frozenset().union(*(part.given for part in outer if part)) if strict and centre.strict else frozenset()
    return Definite(centre.strict and strict, centre.given | given)


def _single(factor: Formula, declarations: Declarations) -> Definite | None:
    """Return what is known of one factor that is not itself a product."""
    is_product = isinstance(factor, (MatMul, Multiply)) and chain(factor)[1] == (factor,)
    return None if is_product else _definite(factor, declarations)


def _sign(formula: Formula, declarations: Declarations) -> Sign:
    assumed = signs.assumed(formula, declarations)
    return assumed if assumed is not None else _sign_by_rules(formula, declarations)


def _sign_by_rules(formula: Formula, declarations: Declarations) -> Sign:
    match formula:
        case Number():
            return signs.of_number(formula)
        case Pi():
            return sign_of(PLUS)
        case Identity():
            return sign_of(ZERO, PLUS)
        case Filled(value, _):
            return sign_of((value > 0) - (value < 0))
        case Symbol() | FunctionAt():
            return _named_sign(formula, declarations)
        case Add(terms):
            found = reduce(signs.plus, [_sign(term, declarations) for term in terms])
            for rule in (_sign_of_entries, _sign_by_range, _sign_of_difference):
                found = rule(formula, declarations) if found == UNKNOWN else found
            return found
        case Multiply(left, right):
            if left == right:
                return signs.integer_power(_sign(left, declarations), 2)
            return signs.product(_sign(left, declarations), _sign(right, declarations))
        case Power(base, exponent):
            return _power_sign(base, exponent, declarations)
        case MatMul():
            return _matmul_sign(formula, declarations)
        case Transpose(arg):
            return _sign(arg, declarations)
        case Entry(arg, at):
            return _entry_sign(arg, at, declarations)
        case Explicit(rows):
            return reduce(signs.either, (_sign(entry, declarations) for row in rows for entry in row))
        case Apply("diag", (Symbol(name, shape),)) if shape.cols and _has_positive_diagonal(name, declarations):
            return _of_positive_diagonal(name)
        case Apply(fn, args):
            return _applied_sign(fn, args, declarations)
        case _:
            return UNKNOWN


def _entry_sign(arg: Formula, at: tuple[int, ...], declarations: Declarations) -> Sign:
    """Return the sign of an entry: on the diagonal more may be known of it than of the others."""
    on_diagonal = len(at) == 2 and at[0] == at[1]
    match arg:
        case Symbol(name) if on_diagonal and _has_positive_diagonal(name, declarations):
            return _of_positive_diagonal(name)
        case Explicit(rows):
            return _sign(entry_of(rows, at), declarations)
        case _:
            diagonal = _definite(arg, declarations) if on_diagonal else None
            return _sign(arg, declarations) if diagonal is None else _sign_of_definite(diagonal)


def _sign_of_entries(column: Formula, declarations: Declarations) -> Sign:
    """Return the sign of the entries of a column that is made of one written out, each looked at by itself."""
    rows = column.shape.rows
    if not isinstance(rows, int) or column.shape.cols is not None or not _has_written_out(column):
        return UNKNOWN
    return reduce(signs.either, (_sign(entry_at(column, i), declarations) for i in range(rows)))


def _has_written_out(formula: Formula) -> bool:
    return any(isinstance(node, Explicit) for node in nodes(formula))


def _of_positive_diagonal(name: str) -> Sign:
    return sign_of(PLUS, given=f"the diagonal of {name} is positive")


def _sign_of_difference(formula: Formula, declarations: Declarations) -> Sign:
    """Return the sign of the difference of two entries of a block whose entries increase."""
    match formula:
        case Add((Entry(Symbol(name), (i,)), Multiply(Number(c), Entry(Symbol(other), (j,))))):
            pass
        case Add((Multiply(Number(c), Entry(Symbol(name), (j,))), Entry(Symbol(other), (i,)))):
            pass
        case _:
            return UNKNOWN
    if c != -1 or name != other:
        return UNKNOWN
    block = declarations.find(name)
    if not isinstance(block, Block) or block.constraint not in {Constraint.ORDERED, Constraint.POSITIVE_ORDERED}:
        return UNKNOWN
    return sign_of(PLUS if i > j else MINUS, given=f"{name} increases") if i != j else UNKNOWN


def _has_positive_diagonal(name: str, declarations: Declarations) -> bool:
    """Whether a block is a matrix with a positive diagonal: a factor, a covariance."""
    block = declarations.find(name)
    return isinstance(block, Block) and block.constraint is not None and block.constraint not in VECTORS


def _named_sign(formula: Symbol | FunctionAt, declarations: Declarations) -> Sign:
    if isinstance(formula, Symbol) and formula.role in {Role.SIZE, Role.STEP}:
        return sign_of(PLUS)
    item = declarations.find(formula.name)
    if isinstance(item, Block):
        return signs.of_block(item)
    if isinstance(item, (Parameter, Function)):
        return signs.of_kinds(item.name, item.kinds, matrix=len(item.shape.sizes) == 2)
    if isinstance(item, Datum):
        return signs.of_kinds(item.name, item.known, matrix=False)
    return UNKNOWN


def _sign_of_definite(found: Definite) -> Sign:
    return Sign(frozenset({PLUS} if found.strict else {ZERO, PLUS}), found.given)


def _power_sign(base: Formula, exponent: Formula, declarations: Declarations) -> Sign:
    """Return the sign of a power where it is defined: a real power is of a nonnegative base."""
    of_base = _sign(base, declarations)
    if isinstance(exponent, Number) and exponent.value.denominator == 1:
        return signs.integer_power(of_base, int(exponent.value))
    if of_base.positive:
        return of_base
    negative = isinstance(exponent, Number) and exponent.value < 0
    return sign_of(PLUS) if negative else sign_of(ZERO, PLUS)


def _matmul_sign(formula: MatMul, declarations: Declarations) -> Sign:
    """Return the sign of a product: that of a quadratic form if it is one, else entry by entry.

    The row of an index field has a single one: what it is multiplied by is one of the entries, or rows, there are.
    """
    match formula:
        case MatMul(Symbol(_, _, Role.INDEX), other) | MatMul(other, Transpose(Symbol(_, _, Role.INDEX))):
            return _sign(other, declarations)
        case _:
            pass
    if not formula.shape.sizes:
        scalars, factors = scaled(formula)
        form = _congruence(factors, declarations)
        if form is not None:
            scale = _scale(scalars, declarations, _sign)
            return signs.product(scale, Sign(frozenset({ZERO, PLUS}), form.given))
    match formula:
        case MatMul(Apply("diag", (v,)), x) | MatMul(x, Apply("diag", (v,))) if v.shape.cols is None:
            return signs.product(_sign(v, declarations), _sign(x, declarations))
        case _:
            pass
    left, right = _sign(formula.left, declarations), _sign(formula.right, declarations)
    return signs.summed(signs.product(left, right))


def _applied_sign(fn: str, args: tuple[Formula, ...], declarations: Declarations) -> Sign:
    of_args = [_sign(arg, declarations) for arg in args if not isinstance(arg, Compare)]
    x = of_args[0]
    row = elementwise.FUNCTIONS.get(fn)
    if row is not None and row.signs is not elementwise.Signs.UNKNOWN:
        return _elementwise_sign(row.signs, x)
    match fn:
        case "log":
            return _sign_by_range(args[0], declarations, less=1)
        case "sqrt":
            return x if x.positive else sign_of(ZERO, PLUS)
        case "abs":
            return Sign(frozenset(abs(v) for v in x.may_be), x.given if x.nonzero else frozenset())
        case "minimum" | "maximum":
            return signs.extreme(of_args[0], of_args[1], min if fn == "minimum" else max)
        case "where":
            return signs.either(of_args[0], of_args[1])
        case "sum" | "dot":
            if fn == "dot" and args[0] == args[1]:
                return sign_of(ZERO, PLUS)
            return signs.summed(reduce(signs.product, of_args))
        case "norm2":
            return sign_of(ZERO, PLUS)
        case "outer" | "kron":
            return reduce(signs.product, of_args)
        case "diag":
            return signs.either(x, sign_of(ZERO))
        case "trace" | "det":
            found = _definite(args[0], declarations)
            return _sign_of_definite(found) if found else UNKNOWN
        case _:
            return UNKNOWN


def _sign_by_range(formula: Formula, declarations: Declarations, less: int = 0) -> Sign:
    """Return the sign of a formula, less a number, where its entries are seen to lie between numbers."""
    found = range_of(formula, declarations)
    return UNKNOWN if found is None else found.sign_less(less)


def _elementwise_sign(rule: elementwise.Signs, x: Sign) -> Sign:
    """Return the sign of an elementwise function of something of a sign."""
    match rule:
        case elementwise.Signs.POSITIVE:
            return sign_of(PLUS)
        case elementwise.Signs.NEGATIVE:
            return sign_of(MINUS)
        case elementwise.Signs.OF_ARGUMENT:
            return x
        case elementwise.Signs.POSITIVE_AT_POSITIVE:
            return x if x.positive else UNKNOWN
        case elementwise.Signs.UNKNOWN:
            return UNKNOWN
