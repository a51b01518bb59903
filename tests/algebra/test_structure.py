"""Structural rules: what they show of matrices, signs and domains holds; what need not hold they never show."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction
from recipe_compiler.algebra.structure.definedness import definedness, obligations
from recipe_compiler.errors import Place
from recipe_compiler.facts.multiplied_out import Abstraction
from recipe_compiler.facts.ranges import Range
from recipe_compiler.facts.semidefinite import semidefinite, sign, sign_by_rules
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.formula.syntax import parse

Reader = Callable[..., Formula]
SQUARE = Shape("d", "d")

MATRICES: dict[str, bool | None] = {
    **dict.fromkeys((
        "I", "M", "inv(M)", "M + C", "s*I", "M @ M", "inv(G)", "s*M + c*C", "M @ M @ M", "inv(M + C)", "diag(x)",
    ), True),
    **dict.fromkeys((
        "0", "C", "A @ A.T", "B @ B.T", "outer(r, r)", "c*I", "L", "S @ S", "K @ K", "A.T @ A", "A @ C @ A.T",
        "A.T @ inv(M) @ A", "B @ P @ B.T", "exp(a)*C", "xi**2*I", "diag(r*r)", "W.T @ W", "(A @ A.T).T",
        "G @ C @ G + A @ M @ A.T", "(r.T @ C @ r)*I", "c**2*A @ S @ S @ A.T",
        # an identity outweighs what is subtracted
        "norm2(r)*I - r @ r.T", "trace(C)*I - C + A @ A.T", "trace(G)*I - G", "diag(x) - x @ x.T/sum(x)",
        "c*sum(x)*diag(x) - c*outer(x, x)",
    ), False),
    **dict.fromkeys((
        "S", "W", "A", "a*I", "-C", "C - M", "A @ A", "A @ C @ A", "M @ C", "A @ S @ A.T", "a*C", "diag(r)", "W @ W",
        "outer(r, theta)", "A @ W @ A.T", "inv(A)", "A @ B @ B.T",
        "norm2(r)*I - 2*r @ r.T", "trace(S)*I - S", "norm2(theta)*I - r @ r.T", "norm2(r)*I - theta @ r.T",
        "a*norm2(r)*I - a*r @ r.T", "diag(x) - x @ x.T", "diag(r) - r @ r.T/sum(r)", "sum(x)*diag(x) - r @ r.T",
        "norm2(r)*I - r @ r.T - theta @ theta.T", "norm2(r)*I - r @ r.T - C",
    ), None),
}  # fmt: skip
"""Whether a matrix is shown to be definite, semidefinite, or nothing is shown."""


@pytest.mark.parametrize("text", MATRICES)
def test_a_matrix_is_shown_to_be_semidefinite_where_it_is(
    text: str, formula: Reader, declarations: Declarations
) -> None:
    found = semidefinite(formula(text, SQUARE), declarations)
    assert (found.strict if found else None) is MATRICES[text]


@pytest.mark.parametrize("text", ["diag(exp(r))", "I - r @ r.T/(1 + norm2(r))"])
def test_what_is_definite_is_shown_to_be_semidefinite(text: str, formula: Reader, declarations: Declarations) -> None:
    assert semidefinite(formula(text, SQUARE), declarations) is not None


def test_declarations_used_are_listed(formula: Reader, declarations: Declarations) -> None:
    found = semidefinite(formula("c*A @ C @ A.T"), declarations)
    assert found is not None
    assert found.given == {"c is nonnegative", "C is positive semidefinite"}


def signs_of(found: Range) -> set[str]:
    """Return the signs that entries in a range may have."""
    may = {"-": not found.nonnegative, "0": not found.nonzero, "+": not found.nonpositive}
    return {sign for sign, so in may.items() if so}


SIGNS = {
    "+": (
        "1 + xi**2", "exp(a) + c", "s*u/(1 + u)", "sqrt(1 + r.T @ r)", "det(M)", "softplus(a)", "u**-3",
        "minimum(s, u)", "maximum(xi, s)", "2 + sin(xi)",
    ),
    "0+": (
        "r.T @ M @ r", "norm2(r)", "trace(C)", "C[0, 0]", "a*a", "c*theta.T @ theta", "minimum(c, u)",
        "xi**2 - 2*xi + 1",
    ),
    "-": ("-s",),
    "-0+": (
        "a", "xi - s", "xi**3", "s - c", "u - 1", "C[0, 1]", "trace(S)", "log(u)", "r.T @ S @ r", "det(A)", "sin(u)",
        "a*theta.T @ theta", "minimum(s, xi)", "maximum(a, xi)", "xi**2 - 2*xi", "d - 2",
    ),
}  # fmt: skip
"""Signs that scalars may have; where both are possible, 0 need not be told."""


@pytest.mark.parametrize(("signs", "text"), [(signs, text) for signs, texts in SIGNS.items() for text in texts])
def test_a_sign_is_known_where_there_is_one(signs: str, text: str, formula: Reader, declarations: Declarations) -> None:
    found = signs_of(sign(formula(text), declarations))
    assert found == {*signs} or (signs == "-0+" and {"-", "+"} <= found)


BETWEEN = {
    "+": ("ones - v", "3 - 2*p", "log(1 + p)"),
    "-": ("p - 1", "log(p)", "sum(log(ones - v))", "log(w)", "q - 3", "log(1 - sum(w))"),
    "-0+": (
        "1 - 2*p", "log(2*p)", "sum(log(v) - log(ones - v))", "sum(log(v + v))", "q + 2",
        "sum(ones - 2*v)", "1/2 - p + p",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("signs", "text"), [(signs, text) for signs, texts in BETWEEN.items() for text in texts])
def test_sums_of_bounded_blocks_lie_between_numbers(signs: str, text: str) -> None:
    """p, v in (0, 1), q in (-3, 2), w on the simplex: what is seen entry by entry, and no more."""
    unit, wide = (
        Domain(DomainName.INTERVAL, tuple(Number(Fraction(end)) for end in ends)) for ends in ((0, 1), (-3, 2))
    )
    column = Shape("d")
    blocks = Block("p", SCALAR, unit), Block("v", column, unit), Block("q", SCALAR, wide)
    declared = Declarations((*blocks, Block("w", column, Domain(DomainName.SIMPLEX))))
    formula = elaborate(parse(text, "f", Place("", 1, 1)), Scope(declared), None, "f", Place("", 1, 1))
    found = sign_by_rules(formula, declared)
    assert signs_of(found) == {*signs}
    assert bool(found.given) is (len(signs) < 3)


OBLIGATIONS = {
    "sqrt(xi)": "xi > 0", "log(a)": "a > 0", "1/xi": "xi is not zero", "xi**(1/2)": "xi > 0",
    "inv(A)": "A is invertible", "inv(C)": "C is invertible", "logdet(C)": "C is positive definite",
    "abs(xi)": "abs(xi) is smooth", "gamma(xi)": "xi > 0", "sqrt(r.T @ r)": "r.T @ r > 0",
    "1/(xi**2 - 1)": "is not zero",
    **dict.fromkeys((
        "sqrt(u)", "log(1 + xi**2)", "1/s", "inv(M + C)", "logdet(G)", "abs(u)", "log1p(c)", "1/(1 + xi**2)",
        "sqrt(1 + xi**2 + a**2)", "log(2 + sin(xi))", "1/(2 + sin(xi)*cos(a))", "log1p(sin(xi)/2)", "abs(2 + cos(xi))",
        "1/(xi**2 - xi + 1)", "(3 - tanh(xi))**a", "maximum(2 + sin(xi), -1)",
    )),
}  # fmt: skip
"""What stays open of a formula, which is not shown to be smooth everywhere; None where nothing does."""


@pytest.mark.parametrize("text", OBLIGATIONS)
def test_an_obligation_stays_open_or_is_discharged(text: str, formula: Reader, declarations: Declarations) -> None:
    found, still = obligations((formula(text),), declarations).open, OBLIGATIONS[text]
    assert len(found) == (still is not None)
    assert still is None or still in found[0]


@pytest.mark.parametrize("text", ["abs(xi)", "sqrt(abs(xi))", "minimum(xi, a)", "sign(xi)", "sqrt(xi**2)"])
def test_a_kink_is_defined_but_not_smooth(text: str, formula: Reader, declarations: Declarations) -> None:
    assert definedness((formula(text),), declarations).open == ()
    assert obligations((formula(text),), declarations).open
    assert definedness((formula(f"grad({text}, xi)"),), declarations).open


@pytest.mark.parametrize("text", ["1/(1 + xi**3)", "sqrt(sin(xi))", "log(1 + sin(xi))", "1/(1 + 2*sin(xi))", "tan(xi)",
                                  "log1p(sin(xi))", "1/(xi**2 - xi - 1)", "xi**a", "gamma(xi**2)"])  # fmt: skip
def test_poles_stay_open(text: str, formula: Reader, declarations: Declarations) -> None:
    assert obligations((formula(text),), declarations).open
    assert definedness((formula(text),), declarations).open


def test_an_abstraction_shares_equal_parts_only(formula: Reader, declarations: Declarations) -> None:
    abstraction = Abstraction(declarations, sign_by_rules)
    assert abstraction.scalar(formula("r.T @ r - norm2(r)")) == 0
    assert abstraction.scalar(formula("r.T @ theta - theta.T @ A @ r")) != 0
    assert abstraction.scalar(formula("d - 1")) != 0
    assert any(fact.op == ">=" and "r.T @ r" in str(fact.value) for fact in abstraction.region())


ENTRIES = st.integers(-3, 3).map(Fraction)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=n, max_size=n)))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_elimination_finds_a_negative_direction_exactly_where_there_is_one(b: list[list[Fraction]]) -> None:
    n = range(len(b))
    symmetric = tuple(tuple(b[i][j] + b[j][i] for j in n) for i in n)
    gram = tuple(tuple(sum((b[i][k] * b[j][k] for k in n), Fraction(0)) for j in n) for i in n)
    assert negative_direction(gram) is None
    v = negative_direction(symmetric)
    if v is not None:
        assert form(symmetric, v) < 0
        return
    shifted = (tuple(x + Fraction(int(i == j), 1000) for j, x in enumerate(row)) for i, row in enumerate(symmetric))
    assert negative_direction(tuple(shifted)) is None
