"""Positive semidefinite matrices by a table of theorems: for every size, everywhere on the domain.

A row names a pattern of matrices, the theorem that holds of it and the function that recognises it; rows are tried in
turn. What no row covers is unknown, which does not say that it is not semidefinite. Definedness of roots, logarithms
and quotients inside is shown apart (`definedness.py`). Every row yields symmetric matrices.

Worked example, D = B C B.T + exp(y) I with C declared semidefinite, B any d x k matrix: the product is a chain (B, C,
B.T) that equals its own transpose reversed, with the middle C; exp(y) is positive and I is definite. The sum is
definite, given "C is positive semidefinite".
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.symbols import SYMMETRIC_KINDS
from recipe_compiler.algebra.scalars.transposes import chain, kinds_of, mirrored, plain, scaled, transposed
from recipe_compiler.facts import multiplied_out
from recipe_compiler.facts.fold import asking
from recipe_compiler.facts.ranges import NOTHING, Bound, Given, Range, Ranges, known
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import ONE, column_apart, differences, multiply, negate, nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape


@dataclass(frozen=True, slots=True)
class Definite:
    """A symmetric matrix of any size is positive semidefinite, definite if `strict`, by the declarations `given`."""

    strict: bool
    given: Given = NOTHING


def semidefinite(formula: Formula, declarations: Declarations) -> Definite | None:
    """Return why a square formula, [d, d] for any d, is positive semidefinite; None if no rule shows it.

    A scalar is judged as a matrix of one entry. x x.T + exp(y) I is positive definite for every size.
    """
    return _judge(declarations).semidefinite(plain(formula, declarations))


def sign(formula: Formula, declarations: Declarations) -> Range:
    """Return between which numbers the entries of a formula of any shape lie, on the domain, for every size."""
    return _judge(declarations).range(plain(formula, declarations))


def sign_by_rules(formula: Formula, declarations: Declarations) -> Range:
    """Return between which numbers the entries of a formula lie, by rules about its parts one at a time."""
    return asking(RANGES, declarations)(plain(formula, declarations))


class Judge:
    """What is known of plain formulas under the declarations of a document; answers are kept."""

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.known: dict[Formula, Definite | None] = {}

    def semidefinite(self, matrix: Formula) -> Definite | None:
        """Return why a matrix is positive semidefinite, by the first rule that shows it."""
        if matrix not in self.known:
            found = (rule.show(matrix, self) for rule in MATRIX_RULES)
            own = self.nonnegative(matrix) if not matrix.shape.sizes else next(filter(None, found), None)
            self.known[matrix] = own
        return self.known[matrix]

    def nonnegative(self, entries: Formula) -> Definite | None:
        """Return why the diagonal matrix of some entries is semidefinite: none of them is negative."""
        found = self.range(entries)
        return Definite(found.positive, found.given) if found.nonnegative else None

    def range(self, formula: Formula) -> Range:
        """Return a range by the fold; of what is put together from scalars, also by multiplying it out."""
        found = asking(RANGES, self.declarations)(formula)
        if found.nonnegative or not isinstance(formula, (ex.Add, ex.Multiply, ex.Power, ex.Apply)):
            return found
        for op in (">", ">="):
            given = multiplied_out.shown(formula, op, self.declarations, sign_by_rules, light=True)
            if given is not None:
                return RANGES.meet(found, Range(Bound(Fraction(0), op == ">", given)))
        return found


_judge = lru_cache(maxsize=limits.SUBJECTS)(Judge)


@dataclass(frozen=True, slots=True)
class MatrixRule:
    """Matrices of a pattern are positive semidefinite.

    The pattern is written in the language: P and R are semidefinite, M is definite, s is positive, a and c are
    nonnegative, L and u are anything. Tests draw instances from it and decide them exactly.
    """

    pattern: str
    strict: bool
    """Whether what the pattern states is definite."""
    theorem: str
    show: Callable[[Formula, Judge], Definite | None]


def _prove_identity(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that I is positive definite; None for any other matrix."""
    return Definite(True) if isinstance(matrix, ex.Identity) else None


def _prove_zero(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that a matrix of zeros is semidefinite; None for any other matrix."""
    return Definite(False) if is_zero(matrix) else None


def _prove_by_kinds(matrix: Formula, judge: Judge) -> Definite | None:
    """Return the definiteness that the kinds of a name, or of the numbers of a matrix, imply."""
    if not isinstance(matrix, ex.Symbol | ex.FunctionAt | ex.Explicit):
        return None
    kinds = kinds_of(matrix, judge.declarations)
    name = None if isinstance(matrix, ex.Explicit) else matrix.name
    for kind in (Kind.PD, Kind.PSD):
        if kind in kinds:
            return Definite(kind is Kind.PD, NOTHING if name is None else known(name, f"is {kind}"))
    for kind in (Kind.POSITIVE, Kind.NONNEGATIVE) if Kind.DIAGONAL in kinds and name is not None else ():
        if kind in kinds:
            return Definite(kind is Kind.POSITIVE, known(name or "", f"is {kind} and diagonal"))
    return None


def _prove_sum(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that a sum is semidefinite if all terms are, and definite if one term is."""
    if not isinstance(matrix, ex.Add):
        return None
    found = [judge.semidefinite(term.formula) for term in _collect_multiples(matrix)]
    return _combine_proofs(found, any)


def _prove_congruence(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that `s L P L.T` is semidefinite: scalars are split off, then a chain that is its own transpose."""
    if not isinstance(matrix, ex.Multiply | ex.MatMul) and not (isinstance(matrix, ex.Apply) and matrix.fn == "outer"):
        return None
    scalars, factors = chain(matrix)
    powers = [RANGES.power(judge.range(s), Fraction(n)) for s, n in Counter(scalars).items()]
    scale = reduce(RANGES.times, powers, RANGES.number(Fraction(1)))
    core = _prove_form(factors, judge) if factors and scale.nonnegative else None
    return None if core is None else Definite(core.strict and scale.positive, core.given | scale.given)


def _prove_form(factors: tuple[Formula, ...], judge: Judge) -> Definite | None:
    """Return that `L P L.T` (without P: L L.T) is semidefinite, and definite if every factor is."""
    found = mirrored(factors, judge.declarations)
    if found is None:
        return None
    left, middle = found
    centre = Definite(True) if middle is None else _prove_factor(middle, judge)
    if centre is None:
        return None
    outer = _combine_proofs([centre, *(_prove_factor(factor, judge) for factor in left)], all)
    if outer is not None and outer.strict:
        return outer
    own = (node for factor in left if transposed(factor, judge.declarations) == factor for node in nodes(factor))
    symmetric = (
        known(node.name, f"is {kind}")
        for node in own
        if isinstance(node, ex.Symbol | ex.FunctionAt)
        for kind in kinds_of(node, judge.declarations)
        if kind in SYMMETRIC_KINDS
    )
    return Definite(False, centre.given.union(*symmetric))


def _prove_factor(factor: Formula, judge: Judge) -> Definite | None:
    """Return that a single factor is semidefinite; None for a product."""
    is_product = isinstance(factor, ex.MatMul | ex.Multiply) and chain(factor)[1] == (factor,)
    return None if is_product else judge.semidefinite(factor)


def _prove_inverse(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that inv(A) is positive definite if A is."""
    match matrix:
        case ex.Apply("inv", (arg,)):
            found = judge.semidefinite(arg)
            return found if found is not None and found.strict else None
        case _:
            return None


def _prove_diagonal(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that diag(v) is semidefinite if no entry of v is negative."""
    match matrix:
        case ex.Apply("diag", (entries,)):
            return judge.nonnegative(entries)
        case _:
            return None


def _prove_kronecker(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that kron(A, B) is semidefinite if A and B are, and definite if both are."""
    match matrix:
        case ex.Apply("kron", args):
            return _combine_proofs([judge.semidefinite(arg) for arg in args], all)
        case _:
            return None


def _prove_kernel(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that exp(-s (u_i - u_j)**2) is semidefinite for s >= 0; None for any other matrix."""
    match matrix:
        case ex.Apply("exp", (ex.Multiply(rate, ex.Multiply(apart, other)),)) if apart == other and not (
            rate.shape.sizes
        ):
            falls = judge.nonnegative(plain(negate(rate), judge.declarations))
            points = column_apart(apart)
            same = points is not None and plain(differences(points), judge.declarations) == apart
            return Definite(False, falls.given) if same and falls is not None else None
        case _:
            return None


def _combine_proofs(parts: list[Definite | None], strict: Callable[[Iterator[bool]], bool]) -> Definite | None:
    """Return one proof from those of all parts, definite if `strict` (any or all) of them are; None if one is open."""
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    return Definite(strict(part.strict for part in found), NOTHING.union(*(part.given for part in found)))


@dataclass(frozen=True, slots=True)
class _Term:
    """A scalar times a product of matrices."""

    weight: Formula
    factors: tuple[Formula, ...]

    @property
    def matrix(self) -> Formula:
        """The product of its matrices."""
        shape = type(self.factors[0].shape)
        return reduce(lambda a, b: ex.MatMul(a, b, shape(a.shape.rows, b.shape.cols)), self.factors)

    @property
    def formula(self) -> Formula:
        """The whole term."""
        plain_one = self.weight == ex.Number(Fraction(1))
        return self.matrix if plain_one else ex.Multiply(self.weight, self.matrix, self.matrix.shape)

    @property
    def is_heavy(self) -> bool:
        """Whether it is a multiple of an identity, or of a diagonal written as such."""
        return len(self.factors) == 1 and (
            isinstance(self.factors[0], ex.Identity)
            or (isinstance(self.factors[0], ex.Apply) and self.factors[0].fn == "diag")
        )


def _collect_multiples(total: ex.Add) -> list[_Term]:
    """Return the terms of a sum of matrices, multiples of one product together: C - C/2 is (1 - 1/2) C."""
    groups: dict[tuple[Formula, ...], list[Formula]] = {}
    left = [*total.terms]
    while left:
        term = left.pop(0)
        if isinstance(term, ex.Add):
            left = [*term.terms, *left]
            continue
        scalars, factors = chain(term)
        weight = reduce(_multiply_scalars, scalars, ONE)
        groups.setdefault(factors, []).append(weight)
    return [_Term(w[0] if len(w) == 1 else ex.Add(tuple(w), SCALAR), factors) for factors, w in groups.items()]


def _multiply_scalars(left: Formula, right: Formula) -> Formula:
    """Return the product of two scalar formulas, numbers multiplied."""
    return right if left == ONE else multiply(left, right, SCALAR)


def _prove_by_margin(matrix: Formula, judge: Judge) -> Definite | None:
    """Return that t I - sum s_k P_k, or c diag(a) - sum s_k a a.T, plus semidefinite terms, is semidefinite.

    P <= trace(P) I for semidefinite P, u u.T <= (u.T u) I and a a.T <= sum(a) diag(a) for a >= 0 (Cauchy and Schwarz:
    (a.T x)**2 = (sum_i sqrt(a_i) sqrt(a_i) x_i)**2 <= sum(a) sum_i a_i x_i**2): what is left of t or c, the margin,
    must not be negative. diag(p) - p p.T with p > 0 and sum(p) < 1 has the margin 1 - sum(p) > 0.
    """
    terms = _collect_multiples(matrix) if isinstance(matrix, ex.Add) else []
    heavy = [term for term in terms if term.is_heavy]
    rest = [(term, judge.semidefinite(term.formula)) for term in terms if not term.is_heavy]
    light = [term for term, shown in rest if shown is None]
    if len(heavy) != 1 or not light:
        return None
    base = heavy[0].factors[0]
    entries = judge.nonnegative(base.args[0]) if isinstance(base, ex.Apply) else Definite(True)
    signs = [judge.nonnegative(_multiply_scalars(ex.Number(Fraction(-1)), term.weight)) for term in light]
    added = _combine_proofs([entries, *signs, *(shown for _, shown in rest if shown is not None)], any)
    if added is None or entries is None:
        return None
    for choice in product(*(tuple(_list_upper_bounds(term, base, judge)) for term in light)):
        bounds = (_multiply_scalars(term.weight, bound.value) for term, bound in zip(light, choice, strict=True))
        margin = judge.nonnegative(ex.Add((heavy[0].weight, *bounds), SCALAR))
        if margin is not None:
            given = NOTHING.union(added.given, margin.given, *(bound.given for bound in choice))
            return Definite(margin.strict and entries.strict, given)
    return None


@dataclass(frozen=True, slots=True)
class _Bound:
    """A scalar q with P <= q I, or P <= q diag(a), and what that rests on."""

    value: Formula
    given: Given = NOTHING


def _list_upper_bounds(term: _Term, base: Formula, judge: Judge) -> Iterator[_Bound]:
    """Yield bounds of the matrix P of a term by an identity or a diagonal."""
    match base, term.factors:
        case ex.Apply("diag", (a,), _), (left, ex.Transpose(right, _)) if left == right == a:
            yield _Bound(ex.Apply("sum", (a,), SCALAR))
        case ex.Identity(size), (ex.Filled(1, Shape(cols=None)), ex.Filled(1)):
            yield _Bound(ex.Number(Fraction(size)) if isinstance(size, int) else ex.Symbol(size, SCALAR, ex.Role.SIZE))
        case ex.Identity(), (left, ex.Transpose(right, _)) if left == right and left.shape.cols is None:
            yield _Bound(ex.MatMul(ex.Transpose(left, left.shape.transposed), left, SCALAR))
        case ex.Identity(), _ if (core := judge.semidefinite(term.matrix)) is not None:
            yield _Bound(ex.Apply("trace", (term.matrix,), SCALAR), core.given)
            if len(term.factors) == 2:
                turned = _Term(term.weight, term.factors[::-1]).matrix
                yield _Bound(ex.Apply("trace", (turned,), SCALAR), core.given)
        case _:
            return


MATRIX_RULES = (
    MatrixRule("I", True, "x.T x > 0", _prove_identity),
    MatrixRule("0", False, "x.T 0 x = 0", _prove_zero),
    MatrixRule("M", True, "as declared", _prove_by_kinds),
    MatrixRule("P + R", False, "x.T (P + R) x = x.T P x + x.T R x", _prove_sum),
    MatrixRule("c*L @ P @ L.T", False, "x.T L P L.T x = y.T P y, y = L.T x", _prove_congruence),
    MatrixRule("inv(M)", True, "the eigenvalues are reciprocals", _prove_inverse),
    MatrixRule("diag(a)", False, "sum_i a_i x_i**2", _prove_diagonal),
    MatrixRule("kron(P, R)", False, "the eigenvalues are products", _prove_kronecker),
    MatrixRule("gp_exp_quad_cov(u, 1, s)", False, "powers entry by entry are semidefinite (Schur 1911)", _prove_kernel),
    MatrixRule("trace(P)*I - P", False, "no eigenvalue is larger than their sum", _prove_by_margin),
    MatrixRule("norm2(u)*I - u @ u.T", False, "Cauchy and Schwarz", _prove_by_margin),
    MatrixRule("sum(a)*diag(a) - a @ a.T", False, "Cauchy and Schwarz", _prove_by_margin),
    MatrixRule("d*I - ones @ ones.T", False, "Cauchy and Schwarz", _prove_by_margin),
)


def _quadratic_form(formula: Formula, declarations: Declarations) -> tuple[Formula, Given] | None:
    """Return s of a scalar `s x.T P x`, with the proof that P is semidefinite; None of anything else."""
    scalars, factors = scaled(formula)
    form = _prove_form(factors, _judge(declarations))
    return None if form is None else (reduce(_multiply_scalars, scalars, ex.Number(Fraction(1))), form.given)


def _definiteness_of(matrix: Formula, declarations: Declarations) -> tuple[bool, Given] | None:
    """Return whether a semidefinite matrix is definite, and the declarations used; None if it is not proved."""
    found = _judge(declarations).semidefinite(matrix)
    return None if found is None else (found.strict, found.given)


RANGES = Ranges(_quadratic_form, _definiteness_of)
