"""Gaussian integrals in index notation, against numerical integrals of the same densities."""

import math

import pytest
import sympy

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.symbols import coordinates
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
from recipe_compiler.verify.core.scalars import leaf_of, written_out

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "H",
    [
        "r.T @ inv(G) @ r/2 + r.T @ B @ theta",
        "(r - B @ theta).T @ M @ G @ M @ (r - B @ theta)/2 + norm2(theta)",
        "s*norm2(r - u)/2 + r.T @ G @ r/2",
    ],
)
def test_against_sums_over_a_grid(H: str) -> None:
    """At d = 2, M, G and B without common eigenvectors: the ratio of the integral at two places, to 9 digits.

    The sum over a grid of a Gaussian that has decayed at its edge is exact far beyond that.
    """
    sizes = {"d": 2}
    c = calculus(DECLARED)
    found = integrate(c, convert(formula(H), DECLARED), [DECLARED.blocks[1]])
    (left,) = written_out(found.energy, sizes, leaf_of(DECLARED, sizes))
    whole = system(DECLARED, formula(H), (), (), sizes).H
    r = coordinates(DECLARED.blocks[1], sizes)
    places = [(0.3, -0.2, 0.7), (-0.5, 0.4, 1.9)]
    ratios: list[tuple[float, float]] = []
    for place in places:
        density = sympy.lambdify(r, sympy.exp(-_at(whole, place)), "math")
        steps = [k / 5 for k in range(-60, 61)]
        integral = math.fsum(density(x, y) for x in steps for y in steps)
        ratios.append((math.log(integral), float(_at(left, place))))
    (one, first), (other, second) = ratios
    assert one - other == pytest.approx(second - first, abs=1e-9)


def _at(e: sympy.Expr, place: tuple[float, float, float]) -> sympy.Expr:
    """Put in numbers for everything but the momenta; G depends on theta and does not commute with M."""
    x, y, s = place
    G = [[2 + x * x, x * y - 0.5], [x * y - 0.5, 1.5 + y * y]]
    M, B, u = [[1.5, 0.4], [0.4, 0.8]], [[0.3, -0.7], [0.2, 0.5]], [0.4, -0.6]
    values = {"theta[0]": x, "theta[1]": y, "s": s, "u[0]": u[0], "u[1]": u[1]}
    values |= {f"{name}[{i},{j}]": a[i][j] for name, a in (("M", M), ("B", B)) for i in (0, 1) for j in (0, 1)}
    fields = {f"G[{i},{j}]": G[i][j] for i in (0, 1) for j in (0, 1)}
    calls = {call: fields[type(call).__name__] for call in e.atoms(sympy.core.function.AppliedUndef)}
    e = e.xreplace(calls)
    return e.xreplace({symbol: values[symbol.name] for symbol in e.free_symbols if symbol.name in values})
