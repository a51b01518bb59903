"""What is said of theta on a quadratic U for the word of a build: exact, not exact, or why nothing is said."""

from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import Letter, Word, read_letter
from recipe_compiler.verdict import Proved, Undecided
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.steps.configurational import configurational
from recipe_compiler.verify.steps.split import split_of

ROOT = Path(__file__).parents[2]
HALVES, OBABO = "B/2 A/2 O A/2 B/2", "O/2 B/2 A B/2 O/2"
OWN = """
format: 1
name: own
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  c: {is: positive}
  M: {shape: [d, d], is: positive definite}
  W: {shape: [d, d]}
functions:
  U: {of: theta, role: potential}
H: U(theta) + ENERGY
D: [[0, 0], [0, NOISE]]
Q: [[0, UP], [DOWN, 0]]
"""


def word(text: str) -> Word:
    found = [read_letter(item) for item in text.split()]
    return tuple(letter for letter in found if isinstance(letter, Letter))


def own(folder: Path, **changed: str) -> Path:
    named = {"ENERGY": "r.T @ inv(M) @ r/2", "NOISE": "c*I", "UP": "-W.T", "DOWN": "W"} | changed
    text = OWN
    for name, formula in named.items():
        text = text.replace(name, formula)
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def answer(path: Path, text: str, keep: int = 0) -> Proved | Undecided:
    decision = configurational(
        split_of(subject_of(load_dynamics(path)), Scheme("split", word(text), keep=keep))
    ).decision
    assert isinstance(decision, Proved | Undecided)
    return decision


@pytest.mark.parametrize("name", ["sghmc", "generalised_langevin"])
def test_baoab_is_exact_with_any_mass_and_friction_memory_included(name: str) -> None:
    found = answer(ROOT / f"specs/dynamics/{name}.yaml", HALVES)
    assert isinstance(found, Proved)
    assert found.by.startswith("exact on a quadratic U")
    assert not any("quadratic" in fact for fact in found.given), "the claim itself says so"


@pytest.mark.parametrize("noise", ["c*I", "M", "'(2 + cos(theta[0]))*I'"])
def test_friction_may_be_of_theta_and_the_kick_any_matrix(tmp_path: Path, noise: str) -> None:
    found = answer(own(tmp_path, NOISE=noise), HALVES)
    assert isinstance(found, Proved)
    assert found.by.startswith("exact on a quadratic U")


@pytest.mark.parametrize(
    ("text", "keep", "variance"),
    [
        (OBABO, 0, "omega^2 Var theta = 4/3"),
        (HALVES, 3, "omega^2 Var theta = 3/4"),
        ("B A O", 0, "omega^2 Var theta = 9/8"),
    ],
)
def test_other_words_and_other_places_are_not(text: str, keep: int, variance: str) -> None:
    found = answer(ROOT / "specs/dynamics/sghmc.yaml", text, keep)
    assert isinstance(found, Proved)
    assert found.by.startswith("not exact on every quadratic U: the law of its steps on the line")
    assert variance in dict(found.data)["at"]


def test_leapfrog_alone_is_not() -> None:
    found = answer(ROOT / "specs/dynamics/hmc.yaml", "B/2 A B/2")
    assert isinstance(found, Proved)
    assert "not exact" in found.by
    assert "depends on its start" in found.by
    assert "Var theta / Var r = 4/3" in dict(found.data)["at"]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("sgnht", "B/2 A/2 xi/2 O xi/2 A/2 B/2", "not shown: O keeps exp(-H)"),
        ("gsgrhmc", HALVES, "by more than grad U times a constant matrix"),
        ("rhmc", "B/2 A B/2", "A moves theta, r"),
        ("generalised_langevin", OBABO, "with a friction of its own it is not"),
        ("sghmc", "B/2 A/2 O A/2", "not shown: the pieces make the equation"),
    ],
)
def test_what_is_of_another_form_is_open(name: str, text: str, why: str) -> None:
    found = answer(ROOT / f"specs/dynamics/{name}.yaml", text)
    assert isinstance(found, Undecided)
    assert why in found.tried[0]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"ENERGY": "sqrt(1 + norm2(r))"}, "not moved by a linear function of r"),
        ({"UP": "-2*W.T"}, "not shown: Q is skew"),
        ({"DOWN": "'cos(theta[0])*W'", "UP": "'-cos(theta[0])*W.T'"}, "times a constant matrix"),
        ({"ENERGY": "r.T @ inv(M) @ r/2 + cos(theta[0])"}, ""),
        ({"NOISE": "'(2 + cos(r[0]))*I'"}, ""),
    ],
)
def test_a_premise_that_does_not_hold_is_not_passed_over(tmp_path: Path, changed: dict[str, str], why: str) -> None:
    """A kinetic energy that is not quadratic, a Q that is not skew, a metric, a force beside U."""
    path = own(tmp_path, **changed)
    if not why and "NOISE" in changed:
        assert isinstance(answer(path, HALVES), Proved)  # O then keeps N(0, M) too
        return
    found = answer(path, HALVES)
    assert isinstance(found, Undecided), found
    assert why in found.tried[0]
