"""Formulas that are equal for every size have one form, those that are not stay apart; only where both are defined."""

import pickle
from fractions import Fraction

import pytest

from recipe_compiler.errors import ModelError
from recipe_compiler.tensor.powers import root
from recipe_compiler.tensor.terms import Index

ROW, HALF = Index("d", "i"), Fraction(1, 2)

EQUAL: list[tuple[str, str]] = [
    # powers, roots, fractions
    ("sqrt(a)*sqrt(a)", "a"), ("sqrt(c**2)", "c"), ("sqrt(4*c)", "2*sqrt(c)"), ("sqrt(12)/sqrt(3)", "2"),
    ("sqrt(2)*sqrt(3)", "sqrt(6)"), ("sqrt(a**3)", "a*sqrt(a)"), ("sqrt(a**2)**2", "a**2"),
    ("(c**(1/2))**4", "c**2"), ("(c*a)**(1/2)", "c**(1/2)*a**(1/2)"), ("c**(a + 1)", "c*c**a"),
    ("sqrt(theta.T @ theta)**2", "norm2(theta)"), ("sqrt(q**2)", "q"),
    ("(1 + norm2(theta))**(3/2)", "sqrt(1 + norm2(theta)) + norm2(theta)*sqrt(1 + norm2(theta))"),
    ("a/(a + b) + b/(a + b)", "1"), ("1/(a + 1/b)", "b/(a*b + 1)"), ("1/a - 1/(a + 1)", "1/(a*(a + 1))"),
    ("(a**2 - b**2)/(a + b)", "a - b"), ("1/(a - b)", "-1/(b - a)"), ("1/(2*a + 2*b)", "1/(a + b)/2"),
    ("a/(a*b + a*c)", "1/(b + c)"), ("norm2(theta)/(1 + norm2(theta)) + 1/(1 + norm2(theta))", "1"),
    ("(ones + r**2)/(ones + r**2)", "ones"),
    ("(a + b)**3", "a**3 + 3*a**2*b + 3*a*b**2 + b**3"), ("(a + b)**20/(a + b)**19", "a + b"),
    # functions
    ("exp(a)*exp(-a)", "1"), ("exp(a + b)", "exp(a)*exp(b)"), ("exp(a)**2", "exp(2*a)"), ("exp(2*log(c))", "c**2"),
    ("exp(log(a))", "a"), ("log(exp(a))", "a"), ("log(c**2)", "2*log(c)"), ("log(12)", "log(3) + 2*log(2)"),
    ("sin(a)**2 + cos(a)**2", "1"), ("cosh(a)**2 - sinh(a)**2", "1"), ("tanh(-a)", "-tanh(a)"),
    ("cos(a - b)", "cos(b - a)"),
    # absolute values and signs
    ("abs(a)**2", "a**2"), ("abs(c)", "c"), ("abs(theta)*sign(theta)", "theta"), ("abs(-2*theta)", "2*abs(theta)"),
    ("sign(-theta/3)", "-sign(theta)"), ("abs(theta - r)*sign(r - theta)", "r - theta"), ("abs(q)*sign(q)", "q"),
    ("abs(-c - xi**2)", "c + xi**2"), ("sign(-q - p)", "-ones"),
    ("sign(q)", "ones"), ("abs(theta + r)**3*sign(theta + r)", "(theta + r)**3"),
    ("grad(abs(xi), xi)", "sign(xi)"), ("grad(minimum(xi, a*xi), xi)", "where(xi <= a*xi, 1, a)"),
    ("grad(where(a > b, xi**2, xi), xi)", "where(a > b, 2*xi, 1)"),
    # the flux of the mirrored law, D = |x|, H = |x| - (a - 1) log|x|: D H' - D' + f = 0 with f = a sign(x) - x
    ("xi - a*sign(xi)", "abs(xi)*(sign(xi) - (a - 1)/xi) - sign(xi)"),
    # products of matrices
    ("trace(I @ S)", "trace(S)"), ("trace(S @ S @ A)", "trace(A @ S @ S)"), ("trace(A @ A.T)", "trace(A.T @ A)"),
    ("theta.T @ A @ r", "r.T @ A.T @ theta"), ("theta.T @ S @ r", "r.T @ S @ theta"),
    ("theta.T @ W @ r", "-r.T @ W @ theta"), ("r.T @ W @ r", "0"), ("trace(W)", "0"), ("trace(W @ S)", "0"),
    ("trace(W @ W @ W)", "0"), ("theta.T @ W @ S @ W @ W @ r", "-r.T @ W @ W @ S @ W @ theta"),
    ("(r.T @ r)**3", "norm2(r)*norm2(r)**2"), ("trace(diag(theta) @ A)", "trace(A @ diag(theta))"),
    ("theta.T @ T @ r", "r.T @ T @ theta"), ("trace(T @ S @ T)", "trace(S @ T @ T)"),
    ("(theta.T @ L @ w)**2", "theta.T @ (L @ w) * (w.T @ (L.T @ theta))"),
    ("sum(theta*theta*r)", "theta.T @ diag(r) @ theta"), ("trace(A @ inv(A))*xi", "d*xi"),
    ("(theta.T @ r)*(theta.T @ r)", "(r.T @ theta)**2"), ("(theta.T @ S @ theta)**4", "((theta.T @ S @ theta)**2)**2"),
    ("two.T @ two", "two[0]**2 + two[1]**2"), ("trace(square)", "square[0, 0] + square[1, 1]"),
    # determinants
    ("det(A @ S)", "det(A)*det(S)"), ("logdet(M @ M)", "2*logdet(M)"), ("logdet(G @ M)", "logdet(G) + logdet(M)"),
    ("log(det(G))", "logdet(G)"), ("exp(logdet(G)/2)", "det(G)**(1/2)"),
    ("exp(xi - logdet(G)/2)", "exp(xi)/sqrt(det(G))"), ("det(A)**2", "det(A.T @ A)"),
    ("norm2(grad(logdet(G @ G) - 2*logdet(G), theta))", "0"),
    ("norm2(grad(logdet(F.T @ F) - log(det(F)**2), theta))", "0"),
    # Cholesky factors
    ("cholesky(c*G)", "sqrt(c)*cholesky(G)"), ("cholesky(I*c**2) @ r", "c*r"),
    ("cholesky(diag(exp(theta)))", "diag(exp(theta/2))"),
    ("logdet(cholesky(G))", "logdet(G)/2"), ("det(cholesky(G))", "sqrt(det(G))"), ("cholesky(G)[0, 1]", "0"),
    ("inv(cholesky(G)) @ cholesky(G) @ r", "r"), ("cholesky(G).T @ inv(cholesky(G).T)", "I"),
]  # fmt: skip
DIFFERENT: list[tuple[str, str]] = [
    # roots, logarithms and moduli of what may be negative
    ("sqrt(a**2)", "a"), ("sqrt(a**2)", "-a"), ("(a**2)**(1/2)", "a"), ("(a**4)**(1/4)", "a"),
    ("(a**2)**(3/2)", "a**3"),
    ("sqrt(a*b)", "sqrt(a)*sqrt(b)"), ("sqrt(a**2*c)", "a*sqrt(c)"), ("sqrt((a - b)**2)", "a - b"),
    ("sqrt(r**2)", "r"), ("log(a**2)", "2*log(a)"), ("log(a*b)", "log(a) + log(b)"), ("abs(a)", "a"),
    ("a/(a + b) + b/(a + b)", "2"), ("exp(a*b)", "exp(a)*exp(b)"), ("1/(a + b)", "1/a + 1/b"),
    ("sqrt(a + b)", "sqrt(a) + sqrt(b)"), ("sin(a)**2", "cos(a)**2"), ("cos(-a)", "-cos(a)"),
    ("a*sign(xi) - xi", "abs(xi)*(sign(xi) - (a - 1)/xi) - sign(xi)"),
    ("abs(sum(theta))*theta*sign(theta)", "sum(theta)*theta"),
    # sums of fractions are no fractions
    ("sum((ones + r**2)**-1)", "0"), ("sum((ones + r**2)**-1)", "d"),
    ("theta.T @ A @ r", "r.T @ A @ theta"), ("trace(S @ S @ S)**2", "trace(S @ S @ S @ S @ S @ S)"),
    ("trace(A @ A)", "trace(A @ A.T)"), ("trace(A @ S @ M)", "trace(S @ A.T @ M) + trace(A @ M @ A)"),
    ("trace(W @ W)", "0"), ("trace(A @ inv(A))", "1"), ("sum(theta)**2", "theta.T @ theta"),
    ("trace(S @ M @ S @ M)", "trace(S @ S @ M @ M)"), ("theta.T @ W @ S @ r", "0"), ("r.T @ W @ S @ r", "0"),
    ("(theta.T @ r)**2", "sum(theta*theta*r*r)"), ("two.T @ two", "two[0]**2"),
    # a determinant that may be negative keeps its square inside; the factors of what is not square have none
    ("log(det(A)**2)", "2*logdet(A)"), ("logdet(A.T @ A)", "2*logdet(A)"), ("det(L @ L.T)", "det(L.T @ L)"),
    ("logdet(M @ M)", "logdet(M)"),
    # a factor is not symmetric, and takes no factor out that may be negative
    ("cholesky(G) @ r", "cholesky(G).T @ r"), ("cholesky(a*S)", "sqrt(a)*cholesky(S)"), ("cholesky(G)[1, 0]", "0"),
    ("inv(cholesky(G)).T @ cholesky(G) @ r", "r"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "equal"), [*((*pair, True) for pair in EQUAL), *((*pair, False) for pair in DIFFERENT)]
)
def test_formulas_have_one_form_where_they_are_equal(c, typed, read, one: str, other: str, equal: bool):
    shape = typed(one).shape
    left, right = (read(text, *[ROW] * len(shape.sizes), shape=shape) for text in (one, other))
    assert c.is_zero(c.subtract(left, right)) is equal


@pytest.mark.parametrize("text", ["theta.T @ A @ r", "1/(1 + exp(theta.T @ A @ r))", "2*theta.T @ inv(S) @ r/3"])
def test_a_hash_is_that_of_equal_tensors_and_is_not_sent_along(read, text: str):
    made, again = read(text), read(text)
    sent = pickle.dumps(made)
    assert hash(made) == hash(again) == hash(pickle.loads(sent))
    assert pickle.dumps(made) == sent


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1/(a - a)", "division by an expression that is zero"), ("sqrt(-4)", "fractional power"),
        ("log(-1)", "logarithm"), ("a**b", "exponent is not a number"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_refused(read, text: str, says: str):
    with pytest.raises(ModelError, match=says):
        read(text)


@pytest.mark.parametrize(
    ("value", "exponent", "outside", "inside"),
    [
        (Fraction(8), HALF, Fraction(2), ((2, HALF),)),
        (Fraction(9, 4), HALF, Fraction(3, 2), ()),
        (Fraction(1, 2), HALF, Fraction(1, 2), ((2, HALF),)),
        (Fraction(27), Fraction(-2, 3), Fraction(1, 9), ()),
    ],
)
def test_exact_roots(value, exponent, outside, inside):
    assert root(value, exponent) == (outside, inside)


@pytest.mark.parametrize(("size", "places", "is_zero"), [(700, 699, False), (4, 4, True), (4, 3, False)])
def test_every_place_of_a_fixed_size_counts(c, size: int, places: int, is_zero: bool):
    """delta_i0 + ... + delta_i(n-1) - 1; of more places than are gone through nothing is shown."""
    index = Index(size, "i")
    assert c.is_zero(c.add(*(c.delta(index, n) for n in range(places)), c.constant(-1))) is is_zero
