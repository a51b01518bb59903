"""Exact flows: which piece has which, and the pieces that have none are named."""

from fractions import Fraction

import pytest
import sympy as sp
from answers import shipped

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.sympy_functions import SqrtCoth
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.spec.model import Selection
from recipe_compiler.splitting.defaults import choose_default_selections
from recipe_compiler.splitting.entrywise import ORNSTEIN_UHLENBECK, SHIFT
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.pieces import Piece, list_pieces
from recipe_compiler.tensor.show import text

HALF = Fraction(1, 2)
a, b, z, t = sp.symbols("a b z t", nonzero=True)


@pytest.mark.slow
def test_the_flow_of_riccati_solves_its_equation() -> None:
    """d/dt z' = a + b z' + c z'**2 by the derivative of h alone, for either sign of Delta; at t = 0 it is z."""
    c = sp.Symbol("c", real=True)
    f, g = a + b * z + c * z**2, b + 2 * c * z
    assert sp.expand(g**2 - 4 * c * f - (b**2 - 4 * a * c)) == 0
    flow = z + t * f / (SqrtCoth(t**2 * (b**2 - 4 * a * c) / 4) - t * g / 2)
    h = sp.Symbol("h")
    there = sp.diff(flow, t) - (a + b * flow + c * flow**2)
    (call,) = there.atoms(SqrtCoth)
    assert sp.cancel(there.xreplace({call: h})) == 0
    assert flow.subs(t, 0) == z
    for other in (flow.subs(c, 0), flow.xreplace({call: h + t}), flow.xreplace({call: h * t})):
        left = (sp.diff(other, t) - (a + b * other + c * other**2)).xreplace({call: h})
        assert sp.cancel(left) != 0


@pytest.mark.parametrize(("sign", "by"), [(1, sp.coth), (-1, sp.cot)])
def test_the_derivative_of_h_is_that_of_both_its_forms(sign: int, by: type) -> None:
    q = sp.Symbol("q", positive=True)
    h = sp.sqrt(q) * by(sp.sqrt(q))
    slope = SqrtCoth(q).fdiff().xreplace({SqrtCoth(q): h, q: q}) if sign > 0 else (h - h**2 - q) / (-2 * q)
    assert sp.simplify((sign * sp.diff(h, q) - slope).rewrite(sp.exp)) == 0
    assert sp.limit(h, q, 0) == 1


def made(name: str, selections: dict[str, tuple[Selection, ...]] | None = None) -> tuple[Derivation, dict[str, Piece]]:
    derivation = derive(shipped(f"dynamics/{name}"))
    pieces = list_pieces(derivation, selections or choose_default_selections(derivation))
    return derivation, {piece.name: piece for piece in pieces}


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("sgnht", {"A": SHIFT, "B": SHIFT, "O": ORNSTEIN_UHLENBECK, "xi": SHIFT}),
        ("hmc", {"A": SHIFT, "B": SHIFT}),
    ],
)
def test_the_pieces_of_shipped_dynamics_have_these_flows(name: str, rows: dict[str, str]) -> None:
    derivation, pieces = made(name)
    assert {piece: find_flow(derivation, own).row for piece, own in pieces.items()} == rows


def test_the_exponential_of_an_ornstein_uhlenbeck_process_has_a_lognormal_flow() -> None:
    derivation, pieces = made("exponential_ou", {"X": (Selection(D=None),)})
    flow = find_flow(derivation, pieces["X"])
    assert flow.row == "Ornstein-Uhlenbeck, entry by entry, of log(x)"
    (change,) = flow.changes(derivation, pieces["X"], HALF)
    assert text(change.rate[0]) == "kappa exprel(-eps kappa/2) m[i]/2 - kappa exprel(-eps kappa/2) log(x[i])/2"
    assert text(change.two_D[0][0]) == "kappa v exprel(-eps kappa) delta[i,j]"
    assert change.transforms == {"x": Transform(Family.LOG)}


def test_a_drift_that_is_a_root_shifts_the_root() -> None:
    """theta' = sqrt(theta) r: sqrt(theta)' = r/2."""
    derivation, pieces = made("sgrhmc_positive")
    flow = find_flow(derivation, pieces["A"])
    assert flow.row == "shift, of theta**(1/2)"
    assert "not a number where T(z') would be no value of T" in flow.says
    (change,) = flow.changes(derivation, pieces["A"], HALF)
    assert text(change.rate[0]) == "r[i]/4"
    assert change.transforms == {"theta": Transform(Family.POWER, HALF)}


@pytest.mark.parametrize(
    ("name", "selections", "piece", "why"),
    [
        ("sgld", None, "O", "not a polynomial in theta"),
        ("rhmc", None, "A", "not a polynomial in theta, r"),
        ("cir", {"O": (Selection(D=None),)}, "O", "its noise depends on theta"),
        ("sgnht", {"T": (Selection(Q=(("r", "xi"),)),)}, "T", "of degree 2 in r, xi"),
        ("hmc", {"H": (Selection(Q=None, H=("r",)), Selection(Q=None, H=("U",)))}, "H", "not a polynomial in theta, r"),
    ],
)  # fmt: skip
def test_a_piece_without_a_row_says_why(
    name: str, selections: dict[str, tuple[Selection, ...]] | None, piece: str, why: str
) -> None:
    derivation, pieces = made(name, selections)
    with pytest.raises(ModelError, match="without an exact flow") as raised:
        find_flow(derivation, pieces[piece])
    assert why in raised.value.faults[0].problem
