"""Pieces of the shipped dynamics: by default, stated, and wrong ones."""

import pytest
from answers import shipped

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.errors import ModelError
from recipe_compiler.spec.model import Selection
from recipe_compiler.splitting.defaults import choose_default_selections
from recipe_compiler.splitting.flow import find_degree
from recipe_compiler.splitting.pieces import Piece, list_pieces, subtract_pieces
from recipe_compiler.splitting.select import list_summands
from recipe_compiler.tensor.show import text

THERMOSTAT = ("r", "xi")


def derivation_of(name: str) -> Derivation:
    return derive(shipped(f"dynamics/{name}"))


def adds_up(derivation: Derivation, pieces: tuple[Piece, ...]) -> bool:
    drift, D = subtract_pieces(derivation, pieces)
    return all(f.is_zero for f in drift) and all(entry.is_zero for row in D for entry in row)


def drifts(piece: Piece) -> list[str]:
    return [text(f) for f in piece.drift]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sghmc", {"A": ("theta",), "B": ("r",), "O": ("r",)}),
        ("hmc", {"A": ("theta",), "B": ("r",)}),
        ("sgnht", {"A": ("theta",), "B": ("r",), "O": ("r",), "xi": ("xi",)}),
        ("sgnht_mass_velocity", {"A": ("theta",), "B": ("r",), "O": ("r",), "xi": ("xi",)}),
        ("generalised_langevin", {"A": ("theta",), "B": ("r",), "O": ("r", "w")}),
        ("gsgrhmc", {"A": ("theta",), "B": ("r",), "O": ("r",)}),
        ("rhmc", {"A": ("theta", "r"), "B": ("r",)}),
        ("sgld", {"O": ("theta",)}),
    ],
)
def test_default_pieces_move_these_blocks_and_add_up(name: str, expected: dict[str, tuple[str, ...]]) -> None:
    derivation = derivation_of(name)
    pieces = list_pieces(derivation, choose_default_selections(derivation))
    assert {piece.name: piece.moved for piece in pieces} == expected
    assert adds_up(derivation, pieces)
    assert [piece.name for piece in pieces if piece.is_noisy] == ["O"] * ("O" in expected)


def test_gamma_goes_with_the_summands_that_depend_on_its_block() -> None:
    derivation = derivation_of("gsgrhmc")
    pieces = {piece.name: piece for piece in list_pieces(derivation, choose_default_selections(derivation))}
    assert pieces["B"].gamma == (("r", "theta"),)
    assert "d_theta[j] K[j,i]" in drifts(pieces["B"])[1]
    thermostat = derivation_of("sgnht")
    pieces = {piece.name: piece for piece in list_pieces(thermostat, choose_default_selections(thermostat))}
    assert drifts(pieces["xi"]) == ["0", "0", "sum_i r[i]**2/d - 1"]
    assert drifts(pieces["O"]) == ["0", "-xi r[i]", "0"]


def test_a_piece_left_out_or_taken_twice_does_not_add_up() -> None:
    derivation = derivation_of("sghmc")
    whole = choose_default_selections(derivation)
    without = {name: own for name, own in whole.items() if name != "B"}
    twice = {**whole, "B": (Selection(Q=None),)}
    assert not adds_up(derivation, list_pieces(derivation, without))
    assert not adds_up(derivation, list_pieces(derivation, twice))


def test_a_thermostat_that_loses_its_friction_does_not_add_up() -> None:
    derivation = derivation_of("sgnht")
    lost = {**choose_default_selections(derivation), "O": (Selection(D=None, Q=(THERMOSTAT,), H=("xi",)),)}
    assert not adds_up(derivation, list_pieces(derivation, lost))


def test_a_share_of_gamma_that_two_pieces_want_is_a_fault_with_its_cure() -> None:
    derivation = derivation_of("sgnht")
    whole = choose_default_selections(derivation)
    doubled = {**whole, "extra": (Selection(Q=(THERMOSTAT,), H=("r",)),)}
    with pytest.raises(ModelError, match=r"Gamma\[xi,r\] = -1 in the pieces xi and extra") as raised:
        list_pieces(derivation, doubled)
    assert "Gamma: [[xi, r]]" in raised.value.faults[0].hint
    stated = {**doubled, "xi": (Selection(Q=(THERMOSTAT,), H=("r",), Gamma=(("xi", "r"),)),)}
    assert {p.name: p.gamma for p in list_pieces(derivation, stated)}["xi"] == (("xi", "r"),)


@pytest.mark.parametrize(
    ("name", "selections", "says"),
    [
        ("gsgrhmc", {"A": Selection(Q=None, H=("r",)), "O": Selection(D=None)}, "in no piece"),
        ("sghmc", {"B": Selection(Q=None, H=("V",))}, "summand `V` of H, expected one of U, theta, r"),
        ("sghmc", {"B": Selection(Q=(("theta", "p"),))}, "block `p` in a selection of Q"),
        ("sghmc", {"B": Selection(Q=None, Gamma=(("theta", "p"),))}, "block `p` in a selection of Gamma"),
    ],
)
def test_what_a_selection_names_must_be_there(name: str, selections: dict[str, Selection], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        list_pieces(derivation_of(name), {key: (own,) for key, own in selections.items()})


def test_dynamics_without_a_potential_need_stated_pieces() -> None:
    derivation = derivation_of("cir")
    with pytest.raises(ModelError, match="no potential"):
        choose_default_selections(derivation)
    assert adds_up(derivation, list_pieces(derivation, {"O": (Selection(D=None),)}))


def test_summands_are_named_by_functions_and_blocks() -> None:
    found = list_summands(derivation_of("rhmc").dynamics)
    assert [summand.names for summand in found] == [("U", "theta"), ("G", "theta,r"), ("G", "theta")]


def test_degrees_are_joint_and_functions_of_moved_blocks_have_none() -> None:
    derivation = derivation_of("sgnht")
    declarations = derivation.dynamics.declarations
    friction = derivation.drift[1]  # -d_theta U - xi r
    assert find_degree(friction, frozenset({"r"}), declarations) == 1
    assert find_degree(friction, frozenset(THERMOSTAT), declarations) == 2
    assert find_degree(friction, frozenset({"theta"}), declarations) is None
    assert find_degree(derivation.drift[2], frozenset({"xi"}), declarations) == 0
