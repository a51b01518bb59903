"""Proofs that a matrix of scalars is positive semidefinite, or a scalar positive, on a region: the cheapest way first.

1. signs of the characteristic coefficients e_k by terms and factors: M is PSD iff all e_k >= 0
2. sums of squares with exact Gram matrices: v.T M v = sum_g g w_g.T Q_g w_g

Every proof carries what re-checks it.
"""

from dataclasses import dataclass, replace

from flint import fmpq, fmpq_mpoly
from sympy import Expr
from sympy.utilities.iterables import connected_components

from recipe_compiler import limits
from recipe_compiler.algebra.positivity.polynomial_problem import PolynomialProblem, problem, shown
from recipe_compiler.algebra.positivity.region import Region
from recipe_compiler.algebra.positivity.signs import is_nonzero, sign_of
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.verdict import Evidence

# The coefficients e_k of the characteristic polynomial: a symmetric M is positive semidefinite iff all e_k(M) >= 0.
#
# det(t I - M) = t**n - e_1 t**(n-1) + e_2 t**(n-2) - ...; e_k is the sum of the principal minors of size k. With real
# eigenvalues, all e_k >= 0 leave no sign change for a negative root. Also right for singular M, where leading minors
# are not.


def connected(problem: PolynomialProblem) -> tuple[tuple[int, ...], ...]:
    """Return the rows of an n x n matrix in groups with only zeros between them: its diagonal blocks.

    [[a, 0, b], [0, c, 0], [b, 0, d]] has {0, 2} and {1}.
    """
    n = range(len(problem.matrix))
    coupled = [(i, j) for i in n for j in n if not problem.matrix[i][j].is_zero()]
    return tuple(sorted(tuple(sorted(group)) for group in connected_components(([*n], coupled))))


def coefficients(problem: PolynomialProblem) -> tuple[fmpq_mpoly, ...]:
    """Return e_1, ..., e_n of the n x n matrix of a problem: det(t I - M) = t**n - e_1 t**(n-1) + e_2 t**(n-2) - ...

    e_k is the sum of the principal minors of size k. A symmetric M is positive semidefinite if and only if all e_k >=
    0. By Faddeev and LeVerrier: B_0 = I, M_k = M B_(k-1), e_k = (-1)**(k+1) tr(M_k)/k, B_k = M_k - tr(M_k)/k I.

    [[2, 1], [1, 1]] has e = 3, 1 and is positive definite; diag(0, -1) has e = -1, 0 and is not, though its leading
    minors are 0, 0.

    Raises:
        NoNormalFormError: too many terms.
    """
    a = problem.matrix
    n = range(len(a))
    zero = problem.context.constant(fmpq(0))
    work = 0
    powers = [[problem.context.constant(fmpq(int(i == j))) for j in n] for i in n]
    found: list[fmpq_mpoly] = []
    for k in range(1, len(a) + 1):
        grown: list[list[fmpq_mpoly]] = [[] for _ in n]
        for i in n:
            for j in n:
                work += sum(len(a[i][m]) * len(powers[m][j]) for m in n)
                if work > limits.PAIRS:
                    raise NoNormalFormError("the characteristic coefficients are too large")
                entry = problem.reduced(sum((a[i][m] * powers[m][j] for m in n), zero))
                work += 100 * len(entry)
                grown[i].append(entry)
        powers = grown
        c = sum((powers[i][i] for i in n), zero) * fmpq(-1, k)
        found.append(c * fmpq((-1) ** k))
        for i in n:
            powers[i][i] = powers[i][i] + c
    return tuple(found)


OPERATORS = frozenset({">", ">=", "!="})
MARGINS = (fmpq(1, 2), fmpq(1, 1000))
"""A polynomial is shown to be positive as one of these and a sum of squares."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A proof: the method, the declarations that it uses, and the data by which it can be re-checked."""

    by: str
    given: frozenset[str] = frozenset()
    data: Evidence = ()


def semidefinite(a: Rows, region: Region) -> Shown | str:
    """Return a proof that a matrix of scalars, [n, n], is positive semidefinite on a region, or what was tried.

    M is if and only if every diagonal block is, and a symmetric block if and only if its e_k >= 0 (`coefficients`),
    which the signs of these show or sums of squares.

    Raises:
        NoNormalFormError: an entry outside what can be read.
    """
    whole = problem(a, region)
    if not _is_symmetric(whole):
        return "not shown to be symmetric"
    blocks = [tuple(tuple(a[i][j] for j in rows) for i in rows) for rows in connected(whole)]
    proofs = [
        _prove_by_signs(found) or _prove_by_squares(found) for found in (problem(block, region) for block in blocks)
    ]
    known = [proof for proof in proofs if proof is not None]
    if len(known) < len(proofs):
        return "no sum of squares found"
    if len(known) == 1:
        return known[0]
    data = tuple((f"block {k}: {name}", value) for k, one in enumerate(known, 1) for name, value in one.data)
    return Shown(", ".join(dict.fromkeys(one.by for one in known)), _collect_declarations(known), data)


def definite(a: Rows, region: Region) -> frozenset[str] | None:
    """Return the declarations by which a matrix, [n, n], is positive definite on a region; None if not shown.

    A symmetric one is if and only if all e_k > 0: det(t I - A) has real roots, and then no root t <= 0. [[2, 1], [1,
    1]] has e = 3, 1.

    Raises:
        NoNormalFormError: an entry outside what can be read, or coefficients that are too large.
    """
    found = problem(a, region)
    if not _is_symmetric(found):
        return None
    proofs = [_prove_polynomial(e, ">", found, light=False) for e in coefficients(found)]
    known = [proof for proof in proofs if proof is not None]
    return _collect_declarations(known) if len(known) == len(proofs) else None


def scalar(e: Expr, op: str, region: Region, light: bool = False) -> Shown | None:
    """Return a proof of `e op 0` (`op` one of `> >= !=`) wherever e is defined in a region, None if none was found.

    In order: signs of terms and factors (all that `light` allows), sums of squares. x**2 - 2 x + 2 > 0 has terms of
    both signs and does not factor; it is 1/2 and a sum of squares.

    Raises:
        ValueError: `op` is none of these.
    """
    if op not in OPERATORS:
        raise ValueError(f"no proof of {op}")
    try:
        found = problem(((e,),), region)
    except NoNormalFormError:
        return None
    proof = _prove_polynomial(found.matrix[0][0], op, found, light=light)
    return None if proof is None else replace(proof, data=(("value", str(e)), *proof.data))


def _prove_polynomial(p: fmpq_mpoly, op: str, found: PolynomialProblem, *, light: bool) -> Shown | None:
    """Return a proof of `p op 0` under the facts of a problem."""
    data = (*_list_generators(found), ("polynomial", shown(p)))
    sides = (p, -p) if op == "!=" else (p,)
    for q in sides:
        sign = sign_of(q, found.signs, found.known)
        if sign is not None and (sign.strict or op == ">="):
            return Shown("signs of terms and factors", found.given, (*data, ("shown by", sign.by)))
    if op == "!=" and is_nonzero(p, found.signs, found.known, found.nonzero):
        return Shown("signs of terms and factors", found.given, (*data, ("shown by", "its factors")))
    for q in sides if not light and len(p) <= limits.SUMMANDS else ():
        for margin in MARGINS if op != ">=" else (fmpq(0),):
            squares = _find_squares(replace(found, matrix=((q - margin,),)))
            if squares is not None:
                return Shown("sum of squares, exact", found.given, (*data, ("at least", str(margin)), *squares))
    return None


def _is_symmetric(found: PolynomialProblem) -> bool:
    """Whether the matrix of a problem equals its transpose as polynomials."""
    n = range(len(found.matrix))
    return all((found.matrix[i][j] - found.matrix[j][i]).is_zero() for i in n for j in range(i))


def _prove_by_signs(found: PolynomialProblem) -> Shown | None:
    """Return a proof by the signs of all e_k of a block, None if one sign is unknown."""
    try:
        e = coefficients(found) if len(found.matrix) <= limits.COORDINATES else ()
    except NoNormalFormError:
        return None
    reasons: list[tuple[str, str]] = []
    for k, p in enumerate(e, 1):
        sign = sign_of(p, found.signs, found.known)
        if sign is None:
            return None
        reasons.append((f"e_{k}", f"{shown(p)} >= 0 by {sign.by}"))
    by = "signs of the characteristic coefficients"
    return Shown(by, found.given, (*_describe_problem(found), *reasons)) if reasons else None


def _prove_by_squares(found: PolynomialProblem) -> Shown | None:
    """Return a proof that a block is semidefinite as a sum of squares, None if none is found."""
    squares = _find_squares(found)
    return (
        None if squares is None else Shown("sum of squares, exact", found.given, (*_describe_problem(found), *squares))
    )


def _find_squares(problem: PolynomialProblem) -> Evidence | None:
    """Return a sum-of-squares certificate; the import of its module is delayed, since it loads NumPy."""
    from recipe_compiler.algebra.positivity.squares import squares  # imports NumPy, which most proofs need not

    return squares(problem)


def _collect_declarations(found: list[Shown]) -> frozenset[str]:
    """Return all declarations that some proofs use."""
    return frozenset[str]().union(*(proof.given for proof in found))


def _describe_problem(found: PolynomialProblem) -> Evidence:
    """Return the names of the generators, the matrix and its positive scale as text: the head of every certificate."""
    rows = ("[" + ", ".join(shown(p) for p in row) + "]" for row in found.matrix)
    return (*_list_generators(found), ("matrix", "[" + ", ".join(rows) + "]"), ("times", shown(found.scale)))


def _list_generators(found: PolynomialProblem) -> Evidence:
    """Return the scalar that each generator g0, g1, ... of a problem represents."""
    return tuple((f"g{k}", str(name)) for k, name in enumerate(found.names))
