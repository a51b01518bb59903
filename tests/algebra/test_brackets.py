"""Brackets, ranks, minors and invariants at fixed sizes; null spaces of rational matrices."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from recipe_compiler.algebra.dynamics.brackets import bracket, circulation, never_zero, rank_at
from recipe_compiler.algebra.dynamics.invariants import conserved_energies, linear_invariants
from recipe_compiler.algebra.dynamics.system import System
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.scalars.rational_matrices import nullspace, rank
from recipe_compiler.verify.uniqueness.noise_reach import find_spanning_minors

X, Y, Z = (sympy.Symbol(name, real=True) for name in "xyz")
Rows = tuple[tuple[sympy.Expr, ...], ...]


def square(*rows: tuple[object, ...]) -> Rows:
    return tuple(tuple(sympy.sympify(x) for x in row) for row in rows)


def at(*values: int) -> Point:
    return Point({x: Fraction(v) for x, v in zip((X, Y, Z), values, strict=False)}, {}, ())


def system(z: tuple[sympy.Symbol, ...], H: sympy.Expr, D: Rows, Q: Rows) -> System:
    return System(z, H, D, Q)


LANGEVIN = system((X, Y), X**4 + Y**2 / 2, square((0, 0), (0, 1)), square((0, -1), (1, 0)))
SPLIT = system((X, Y), X**2 / 2 + Y**2 / 2, square((0, 0), (0, X**2)), square((0, -X), (X, 0)))
FLOW = system((X, Y), X**4 + Y**2 / 2, square((0, 0), (0, 0)), square((0, -1), (1, 0)))
DIAGONAL = system((X, Y), X**4 + Y**2, square((1, 1), (1, 1)), square((0, 0), (0, 0)))
TURNED = system((X, Y), X**2 + Y**2, square((1, 1), (1, 1)), square((0, -1), (1, 0)))
SQUARED = system((X, Y), X**2 + Y**2, square((1, 0), (0, 0)), square((0, -X), (X, 0)))
THIRD = system(
    (X, Y, Z), X**4 + Y**2 / 2 + Z**2 / 2, square((0, 0, 0), (0, 0, 0), (0, 0, 1)),
    square((0, -1, 0), (1, 0, -1), (0, 1, 0)),
)  # fmt: skip
E, ROOT = sympy.exp(-(X**2)), sympy.sqrt(2)
IRRATIONAL = system((X, Y), X**4 + Y**2, square((1 + E, 0), (0, ROOT)), square((0, 0), (0, 0)))
PARALLEL = system((X, Y), X**4 + Y**2, square((2, ROOT), (ROOT, 1)), square((0, 0), (0, 0)))
UNCOUPLED = system(THIRD.z, THIRD.H, THIRD.D, square((0, -1, 0), (1, 0, 0), (0, 0, 0)))


def test_brackets_are_antisymmetric_and_satisfy_jacobis_identity() -> None:
    u, v, w = (Y, X * Z, X), (X**2, Y, Z), (Y * Z, X, Y**2)
    z = (X, Y, Z)
    assert all(sympy.expand(a + b) == 0 for a, b in zip(bracket(u, v, z), bracket(v, u, z), strict=True))
    turns = [bracket(a, bracket(b, c, z), z) for a, b, c in ((u, v, w), (v, w, u), (w, u, v))]
    assert all(sympy.expand(sum(parts)) == 0 for parts in zip(*turns, strict=True))


@pytest.mark.parametrize(
    ("s", "point", "wanted"),
    [
        (LANGEVIN, at(1, 2), 2), (LANGEVIN, at(0, 0), 2), (SPLIT, at(1, 2), 2), (SPLIT, at(0, 2), 0),
        (FLOW, at(1, 2), 0), (DIAGONAL, at(1, 2), 1), (TURNED, at(1, 2), 2),
        (IRRATIONAL, at(1, 2), 2), (PARALLEL, at(1, 2), 1), (THIRD, at(1, 2, 3), 3), (UNCOUPLED, at(1, 2, 3), 1),
    ],
)  # fmt: skip
def test_the_rank_at_a_point(s: System, point: Point, wanted: int) -> None:
    assert rank_at(s, point) == wanted


@pytest.mark.parametrize("s", [LANGEVIN, TURNED, THIRD])
def test_a_minor_without_zeros_is_a_certificate(s: System) -> None:
    (minor,) = find_spanning_minors(s, (at(1, 2, 3), at(2, 1, 1)))
    assert never_zero(minor)


@pytest.mark.parametrize("s", [SPLIT, FLOW, DIAGONAL, UNCOUPLED])
def test_no_minor_hides_a_state_of_lower_rank(s: System) -> None:
    assert find_spanning_minors(s, (at(1, 2, 3), at(2, 1, 1))) == ()


@pytest.mark.parametrize(
    ("e", "known"),
    [(2 + X**2, True), (-1 - X**4, True), (sympy.exp(X), True), (X**2, False), (X, False), (1 + X, False),
     (1 - X**2, False), (X**2 + Y**2, False), ((X - 1) ** 2 + 1, False), (sympy.Integer(0), False)],
)  # fmt: skip
def test_what_vanishes_nowhere(e: sympy.Expr, known: bool) -> None:
    assert never_zero(e) is known


def test_the_drift_without_what_follows_the_noise() -> None:
    assert [sympy.expand(x) for x in circulation(SPLIT)] == [X * Y, 1 - X**2]


def test_energies_without_noise_are_conserved() -> None:
    assert [part.coordinates for part in conserved_energies(FLOW)] == [(0, 1)]
    assert [part.coordinates for part in conserved_energies(UNCOUPLED)] == [(0, 1)]
    for s in (LANGEVIN, TURNED, THIRD, SPLIT, DIAGONAL):
        assert list(conserved_energies(s)) == []


def test_a_turning_that_changes_energy_conserves_none() -> None:
    """The divergence of Q moves y by itself: D is zero, and H is not conserved."""
    s = system((X, Y), X**2 + Y**2, square((0, 0), (0, 0)), square((0, -X), (X, 0)))
    assert list(conserved_energies(s)) == []


def test_directions_that_never_move_are_found() -> None:
    assert linear_invariants(DIAGONAL) == ((Fraction(-1), Fraction(1)),)
    for s in (LANGEVIN, TURNED, THIRD, SPLIT, FLOW):
        assert linear_invariants(s) == ()


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_null_spaces_are_complete(rows: list[list[int]]) -> None:
    a = tuple(tuple(Fraction(x) for x in row) for row in rows)
    found = nullspace(a, 4)
    assert all(sum(x * y for x, y in zip(row, v, strict=True)) == 0 for row in a for v in found)
    assert rank(a, 4) == sympy.Matrix(rows).rank()
    assert len(found) == 4 - rank(a, 4)
    assert rank(found, 4) == len(found)
