"""Tensors for readers."""

import pytest

from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.show import latex, text
from recipe_compiler.tensor.style import LATEX, PLAIN
from recipe_compiler.tensor.terms import Index

I_, J_ = Index("d", "i"), Index("d", "j")
VECTOR, MATRIX = Shape("d"), Shape("d", "d")


def test_index_notation(read):
    drift = read("-A @ inv(A) @ r - S @ inv(M) @ r - grad(U, theta)", I_, shape=VECTOR)
    assert text(drift) == "-sum_jk S[j,i] inv(M)[j,k] r[k] - d_theta[i] U - r[i]"
    assert text(drift, frozenset({"S", "M"})) == "-sum_jk S[i,j] inv(M)[j,k] r[k] - d_theta[i] U - r[i]"


def test_index_notation_in_latex(read):
    assert latex(read("A @ r/2", I_, shape=VECTOR)) == r"\frac{1}{2} \sum_{j} A_{i j} \, r_{j}"


def test_sums_inside_arguments_have_letters_of_their_own(read):
    shown = text(read("softplus(A @ theta)*r", I_, shape=VECTOR))
    assert shown == "r[i] softplus(sum_j A[i,j] theta[j])"


def test_letters_stay_clear_of_names(read):
    assert text(read("norm2(w)")) == "sum_i w[i]**2"
    assert text(read("trace(L.T @ L)")) == "sum_ij L[i,j]**2"


@pytest.mark.parametrize(
    ("formula", "shape", "expected"),
    [
        ("S @ inv(M) @ r - grad(U, theta)", VECTOR, "S @ inv(M) @ r - grad(U, theta)"),
        ("A.T @ r", VECTOR, "A.T @ r"),
        ("W.T @ r", VECTOR, "-W @ r"),
        ("r.T @ S @ theta/2", Shape(), "r.T @ S @ theta/2"),
        ("norm2(r)/d - 1", Shape(), "r.T @ r/d - 1"),
        ("div(G, theta)", VECTOR, "div(G, theta)"),
        ("div(F.T, theta)", VECTOR, "div(F.T, theta)"),
        ("div(R.T, theta)", VECTOR, "-div(R, theta)"),
        ("c*I", MATRIX, "c*I"),
        ("diag(q)", MATRIX, "diag(q)"),
        ("theta @ r.T", MATRIX, "theta @ r.T"),
        ("trace(A @ S)*theta", VECTOR, "trace(A @ S)*theta"),
        ("(r.T @ theta)*(r.T @ r)", Shape(), "(r.T @ theta)*(r.T @ r)"),
        ("hessian(U, theta) @ r", VECTOR, "hessian(U, theta) @ r"),
        ("r/(1 + norm2(theta))", VECTOR, "r/(theta.T @ theta + 1)"),
        ("theta*r", VECTOR, "r[i] theta[i]"),
        ("logdet(M)/2", Shape(), "logdet(M)/2"),
    ],
)
def test_matrix_notation(c, read, formula, shape, expected):
    shown = matrix_form(c, PLAIN, read(formula, *(I_, J_)[: len(shape.sizes)], shape=shape))
    assert shown == expected


@pytest.mark.parametrize(
    ("formula", "shape"),
    [
        ("A.T @ S @ r - 2*theta/c", VECTOR),
        ("W @ grad(U, theta) + div(R, theta) + div(F.T, theta)", VECTOR),
        ("theta @ r.T + c*I + inv(A).T", MATRIX),
        ("(r.T @ A @ theta)*sqrt(1 + norm2(theta))/d - trace(A @ inv(M))", Shape()),
        ("exp(norm2(theta))*inv(S + theta @ theta.T) @ r", VECTOR),
        ("theta.T @ W @ r", Shape()),
    ],
)
def test_matrix_notation_read_again_is_the_same(c, read, formula, shape):
    slots = (I_, J_)[: len(shape.sizes)]
    tensor = read(formula, *slots, shape=shape)
    assert c.is_zero(c.subtract(read(matrix_form(c, PLAIN, tensor), *slots, shape=shape), tensor))


def test_row_is_written_as_a_row(c, read):
    assert matrix_form(c, PLAIN, read("-r.T @ A/d", J_, shape=Shape(None, "d"))) == "-r.T @ A/d"


def test_matrix_notation_in_latex(c, read):
    shown = matrix_form(c, LATEX, read("S @ inv(M) @ r/2 + xi*theta/d", I_, shape=VECTOR))
    assert r"\frac{1}{2} S M^{-1} r" in shown
    assert r"\frac{\xi}{d} \theta" in shown


def test_zero_is_written(read):
    assert text(read("0", I_, shape=VECTOR)) == "0"
