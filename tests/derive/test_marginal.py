"""Gaussian integrals in index notation, against numerical integrals of the same densities."""

import pytest

from recipe_compiler.derive.marginal import integrate
from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Index

SQUARE = Shape("d", "d")
DECLARED = Declarations(
    (Block("theta", Shape("d")), Block("r", Shape("d")), Block("s", Shape(), Domain(DomainName.POSITIVE))),
    (
        Parameter("M", SQUARE, (Kind.PD,)),
        Parameter("N", SQUARE, (Kind.PD,)),
        Parameter("C", SQUARE, (Kind.PSD,)),
        Parameter("S", SQUARE, (Kind.SYMMETRIC,)),
        Parameter("B", SQUARE),
        Parameter("W", SQUARE, (Kind.DIAGONAL, Kind.POSITIVE)),
        Parameter("v", Shape("d"), (Kind.POSITIVE,)),
        Parameter("u", Shape("d")),
        Parameter("a", Shape(), (Kind.POSITIVE,)),
        Parameter("c", Shape()),
    ),
    (Function("G", ("theta",), SQUARE, (Kind.PD,)),),
)
HERE = Place("test")


def formula(words: str, shape: Shape = SCALAR):
    return elaborate(parse(words, "formula", HERE), Scope(DECLARED), shape, "formula", HERE)


@pytest.mark.parametrize("P", ["inv(M) + C", "M @ N @ M", "G(theta) @ G(theta)", "a*I + outer(u, u)"])
def test_a_gaussian_around_a_column_leaves_its_determinant_alone(P):
    """No inverse of P is left: (P u).T inv(P) (P u) is u.T P u."""
    c, r = calculus(DECLARED), DECLARED.blocks[1]
    for mean in ("theta", "u"):
        left = integrate(c, convert(formula(f"(r - {mean}).T @ ({P}) @ (r - {mean}) / 2"), DECLARED), [r]).energy
        centred = integrate(c, convert(formula(f"r.T @ ({P}) @ r / 2"), DECLARED), [r]).energy
        assert c.is_zero(c.subtract(left, centred))
        assert left == centred


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("M", Definiteness.DEFINITE),
        ("inv(M)", Definiteness.DEFINITE),
        ("inv(inv(M) + C)", Definiteness.DEFINITE),
        ("M @ N @ M", Definiteness.DEFINITE),
        ("M @ M", Definiteness.DEFINITE),
        ("M + C", Definiteness.DEFINITE),
        ("a*I + outer(u, u)", Definiteness.DEFINITE),
        ("diag(v)", Definiteness.DEFINITE),
        ("s*W", Definiteness.DEFINITE),
        ("C", Definiteness.SEMIDEFINITE),
        ("B @ B.T", Definiteness.SEMIDEFINITE),
        ("B.T @ M @ B", Definiteness.SEMIDEFINITE),
        ("outer(u, u)", Definiteness.SEMIDEFINITE),
        ("B @ outer(u, u) @ B.T", Definiteness.SEMIDEFINITE),
        ("B @ B", Definiteness.UNKNOWN),
        ("M @ N", Definiteness.UNKNOWN),
        ("M @ N @ B", Definiteness.UNKNOWN),
        ("outer(u, v)", Definiteness.UNKNOWN),
        ("S", Definiteness.UNKNOWN),
        ("inv(C)", Definiteness.UNKNOWN),
        ("c*M", Definiteness.UNKNOWN),
        ("M - C", Definiteness.UNKNOWN),
        ("diag(u)", Definiteness.UNKNOWN),
    ],
)
def test_definiteness_by_structure(words: str, known: Definiteness) -> None:
    tensor = convert(formula(words, SQUARE), DECLARED, Index("d", "i"), Index("d", "j"))
    assert definiteness(calculus(DECLARED), tensor) is known


@pytest.mark.parametrize(
    ("H", "left"),
    [
        ("r.T @ inv(G) @ r/2", "-logdet(G)/2"),
        ("r.T @ G @ N @ G @ r/2", "logdet(G) + logdet(N)/2"),
        ("s*norm2(r)/2", "d log(s)/2"),
        ("norm2(r)/2 + r.T @ theta", "-sum_i theta[i]**2/2"),
        (
            "r.T @ inv(G) @ r/2 + r.T @ B @ theta",
            "-sum_ijkl theta[i] B[j,i] G[k,j] B[k,l] theta[l]/2 - logdet(G)/2",
        ),
        (
            "s*norm2(r - u)/2 + r.T @ G @ r/2",
            "-sum_ij s**2 u[i] inv(s delta[i,j] + G[i,j])[i,j] u[j]/2 + sum_i s u[i]**2/2"
            " + logdet(s delta[i,j] + G[i,j])/2",
        ),
    ],
)
def test_what_an_integral_leaves(H: str, left: str) -> None:
    c = calculus(DECLARED)
    found = integrate(c, convert(formula(H), DECLARED), [DECLARED.blocks[1]])
    assert text(found.energy) == left
    assert not found.left


@pytest.mark.parametrize("H", ["r.T @ S @ r/2", "r.T @ C @ r/2", "sum(r**4)", "c*norm2(r)", "norm2(r)*exp(sum(r))"])
def test_what_is_not_gaussian_is_left(H: str) -> None:
    c = calculus(DECLARED)
    found = integrate(c, convert(formula(H), DECLARED), [DECLARED.blocks[1]])
    assert [block.name for block in found.left] == ["r"]


def test_a_coordinate_with_a_boundary_is_not_gaussian() -> None:
    c = calculus(DECLARED)
    found = integrate(c, convert(formula("s**2/2"), DECLARED), [DECLARED.blocks[2]])
    assert [block.name for block in found.left] == ["s"]
