"""Structural rules: what they prove is positive semidefinite, what is not they never prove."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction
from recipe_compiler.algebra.structure.definedness import obligations
from recipe_compiler.algebra.structure.psd import semidefinite, sign, sign_by_rules
from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.formula.syntax import parse

Reader = Callable[..., Formula]
SQUARE = Shape("d", "d")

DEFINITE = ["I", "M", "inv(M)", "M + C", "s*I", "M @ M", "inv(G)", "s*M + c*C", "M @ M @ M", "inv(M + C)", "diag(x)"]
SEMIDEFINITE = [
    "0",
    "C",
    "c*I",
    "A @ A.T",
    "A.T @ A",
    "A @ C @ A.T",
    "A.T @ inv(M) @ A",
    "B @ B.T",
    "B @ P @ B.T",
    "S @ S",
    "K @ K",
    "outer(r, r)",
    "exp(a)*C",
    "xi**2*I",
    "diag(r*r)",
    "diag(exp(r))",
    "L",
    "W.T @ W",
    "(A @ A.T).T",
    "G @ C @ G + A @ M @ A.T",
    "(r.T @ C @ r)*I",
    "c**2*A @ S @ S @ A.T",
]
NOT_SHOWN = ["S", "W", "A", "a*I", "-C", "C - M", "A @ A", "A @ C @ A", "M @ C", "A @ S @ A.T", "a*C", "diag(r)",
             "W @ W", "outer(r, theta)", "A @ W @ A.T", "inv(A)", "A @ B @ B.T"]  # fmt: skip


@pytest.mark.parametrize("text", DEFINITE)
def test_definite_by_structure(text: str, formula: Reader, declarations: Declarations) -> None:
    found = semidefinite(formula(text, SQUARE), declarations)
    assert found is not None
    assert found.strict


@pytest.mark.parametrize("text", SEMIDEFINITE)
def test_semidefinite_by_structure(text: str, formula: Reader, declarations: Declarations) -> None:
    assert semidefinite(formula(text, SQUARE), declarations) is not None


@pytest.mark.parametrize("text", ["0", "C", "A @ A.T", "B @ B.T", "outer(r, r)", "c*I", "L", "S @ S"])
def test_semidefinite_is_not_definite(text: str, formula: Reader, declarations: Declarations) -> None:
    found = semidefinite(formula(text, SQUARE), declarations)
    assert found is not None
    assert not found.strict


@pytest.mark.parametrize("text", NOT_SHOWN)
def test_what_need_not_be_semidefinite_is_not_shown(text: str, formula: Reader, declarations: Declarations) -> None:
    assert semidefinite(formula(text, SQUARE), declarations) is None


def test_declarations_used_are_listed(formula: Reader, declarations: Declarations) -> None:
    found = semidefinite(formula("c*A @ C @ A.T"), declarations)
    assert found is not None
    assert found.given == {"c is nonnegative", "C is positive semidefinite"}


SIGNS = {
    "1 + xi**2": "positive",
    "exp(a) + c": "positive",
    "s*u/(1 + u)": "positive",
    "r.T @ M @ r": "nonnegative",
    "norm2(r)": "nonnegative",
    "sqrt(1 + r.T @ r)": "positive",
    "trace(C)": "nonnegative",
    "det(M)": "positive",
    "C[0, 0]": "nonnegative",
    "a*a": "nonnegative",
    "softplus(a)": "positive",
    "u**-3": "positive",
    "-s": "negative",
}
NO_SIGN = ["a", "xi - s", "xi**3", "s - c", "u - 1", "C[0, 1]", "trace(S)", "log(u)", "r.T @ S @ r", "det(A)", "sin(u)"]


@pytest.mark.parametrize("text", SIGNS)
def test_a_sign_is_known(text: str, formula: Reader, declarations: Declarations) -> None:
    found = sign(formula(text), declarations)
    expected = {"positive": {1}, "nonnegative": {0, 1}, "negative": {-1}}[SIGNS[text]]
    assert set(found.may_be) == expected


@pytest.mark.parametrize("text", NO_SIGN)
def test_a_sign_is_not_made_up(text: str, formula: Reader, declarations: Declarations) -> None:
    assert {-1, 1} <= set(sign(formula(text), declarations).may_be)


BETWEEN = {
    "ones - v": {1},
    "1 - 2*p": {-1, 0, 1},
    "3 - 2*p": {1},
    "p - 1": {-1},
    "log(p)": {-1},
    "log(2*p)": {-1, 0, 1},
    "log(1 + p)": {1},
    "sum(log(ones - v))": {-1},
    "sum(log(v) - log(ones - v))": {-1, 0, 1},
    "sum(log(v + v))": {-1, 0, 1},
    "log(w)": {-1},
    "log(1 - sum(w))": {-1, 0, 1},
    "q + 2": {-1, 0, 1},
    "q - 3": {-1},
    "sum(ones - 2*v)": {-1, 0, 1},
    "1/2 - p + p": {-1, 0, 1},
}


@pytest.mark.parametrize("text", BETWEEN)
def test_sums_of_bounded_blocks_lie_between_numbers(text: str) -> None:
    """p, v in (0, 1), q in (-3, 2), w on the simplex: what is seen entry by entry, and no more."""
    one, two = Number(Fraction(0)), Number(Fraction(1))
    ends = (Number(Fraction(-3)), Number(Fraction(2)))
    declared = Declarations(
        (
            Block("p", SCALAR, Domain(DomainName.INTERVAL, (one, two))),
            Block("v", Shape("d"), Domain(DomainName.INTERVAL, (one, two))),
            Block("q", SCALAR, Domain(DomainName.INTERVAL, ends)),
            Block("w", Shape("d"), Domain(DomainName.SIMPLEX)),
        )
    )
    formula = elaborate(parse(text, "f", Place("", 1, 1)), Scope(declared), None, "f", Place("", 1, 1))
    found = sign_by_rules(formula, declared)
    assert set(found.may_be) == BETWEEN[text]
    assert bool(found.given) is (len(found.may_be) < 3)


OPEN = {
    "sqrt(xi)": "xi > 0",
    "log(a)": "a > 0",
    "1/xi": "xi is not zero",
    "xi**(1/2)": "xi > 0",
    "inv(A)": "A is invertible",
    "inv(C)": "C is invertible",
    "logdet(C)": "C is positive definite",
    "abs(xi)": "abs(xi) is smooth",
    "gamma(xi)": "xi > 0",
    "sqrt(r.T @ r)": "r.T @ r > 0",
    "1/(xi**2 - 1)": "is not zero",
}


@pytest.mark.parametrize("text", OPEN)
def test_an_obligation_stays_open(text: str, formula: Reader, declarations: Declarations) -> None:
    found = obligations((formula(text),), declarations).open
    assert len(found) == 1
    assert OPEN[text] in found[0]


@pytest.mark.parametrize("text", ["sqrt(u)", "log(1 + xi**2)", "1/s", "inv(M + C)", "logdet(G)", "abs(u)", "log1p(c)"])
def test_an_obligation_is_discharged(text: str, formula: Reader, declarations: Declarations) -> None:
    assert obligations((formula(text),), declarations).open == ()


ENTRIES = st.integers(-3, 3).map(Fraction)


@pytest.mark.slow
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=n, max_size=n)))
@settings(max_examples=150, deadline=None)
def test_elimination_finds_a_negative_direction_exactly_where_there_is_one(b: list[list[Fraction]]) -> None:
    n = range(len(b))
    symmetric = tuple(tuple(b[i][j] + b[j][i] for j in n) for i in n)
    gram = tuple(tuple(sum((b[i][k] * b[j][k] for k in n), Fraction(0)) for j in n) for i in n)
    assert negative_direction(gram) is None
    v = negative_direction(symmetric)
    if v is None:
        shifted = tuple(
            tuple(x + Fraction(int(i == j), 1000) for j, x in enumerate(row)) for i, row in enumerate(symmetric)
        )
        assert negative_direction(shifted) is None
    else:
        assert form(symmetric, v) < 0
