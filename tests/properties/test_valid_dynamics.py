"""Random valid dynamics are never refuted; the same with a wrong claim always are."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from loaders import load_dynamics

from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.claims import DYNAMICS, decider
from recipe_compiler.verify.core.subject import find, subject_of

MONOMIALS = ("1", "x", "y", "x*y", "x**2", "y**2")
POLYNOMIAL = st.lists(st.integers(-2, 2), min_size=len(MONOMIALS), max_size=len(MONOMIALS)).map(
    lambda c: " + ".join(f"({n})*{m}" for n, m in zip(c, MONOMIALS, strict=True) if n) or "0"
)


RIGHT = ("d_symmetric", "q_skew", "stationary", "claimed_drift", "claimed_stationary")
"""Claims that hold of all of these; that D vanishes nowhere, say, does not."""


def verdicts(a: str, b: str, c: str, q: str, h: str, claims: str = "") -> dict[str, Verdict]:
    """Decide D = A A.T with A = [[a, 0], [b, c]], Q = [[0, q], [-q, 0]], H = h: RIGHT and `d_psd`, no other claim."""
    text = f"""
name: random
state: {{x: {{}}, y: {{}}}}
H: {h}
D: [["({a})**2", "({a})*({b})"], ["({a})*({b})", "({b})**2 + ({c})**2"]]
Q: [[0, "{q}"], ["-({q})", 0]]
{claims}"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.yaml"
        path.write_text(text, encoding="utf-8")
        document = load_dynamics(path)
    subject = subject_of(document)
    asked = [claim for claim in DYNAMICS if claim.id in (*RIGHT, "d_psd")]
    return {claim.id: find(decider(claim), subject).verdict for claim in asked}


def drift(a: str, b: str, c: str, q: str, h: str, x: str, y: str) -> str:
    """Return the drift of the recipe, by the language's own derivatives."""
    xx, xy, yy = f"(({a})**2)", f"(({a})*({b}))", f"(({b})**2 + ({c})**2)"
    f_x = f"-{xx}*grad({h}, x) - ({xy} + ({q}))*grad({h}, y) + grad({xx}, x) + grad({xy} + ({q}), y)"
    f_y = f"-({xy} - ({q}))*grad({h}, x) - {yy}*grad({h}, y) + grad({xy} - ({q}), x) + grad({yy}, y)"
    return f'claims:\n  drift:\n    x: "{f_x} + ({x})"\n    y: "{f_y} + ({y})"\n'


def never_refuted(a: str, b: str, c: str, q: str, h: str) -> None:
    found = verdicts(a, b, c, q, h, drift(a, b, c, q, h, "0", "0"))
    assert found["d_psd"] is not Verdict.REFUTED
    assert {found[id] for id in RIGHT} == {Verdict.PROVED}


def always_refuted(a: str, b: str, c: str, q: str, h: str, wrong: str) -> None:
    assume(wrong != "0")
    found = verdicts(a, b, c, q, h, drift(a, b, c, q, h, "0", wrong))
    assert found["claimed_drift"] is Verdict.REFUTED
    assert found["stationary"] is Verdict.PROVED


FIVE = (POLYNOMIAL,) * 5


@pytest.mark.slow
@given(*FIVE)
@settings(max_examples=6, deadline=None, derandomize=True)
def test_valid_dynamics_are_never_refuted(a: str, b: str, c: str, q: str, h: str) -> None:
    never_refuted(a, b, c, q, h)


@pytest.mark.slow
@given(*FIVE, POLYNOMIAL)
@settings(max_examples=6, deadline=None, derandomize=True)
def test_a_wrong_claim_is_always_refuted(a: str, b: str, c: str, q: str, h: str, wrong: str) -> None:
    always_refuted(a, b, c, q, h, wrong)


@pytest.mark.slow
@given(*FIVE)
@settings(max_examples=30, deadline=None)
def test_many_valid_dynamics_are_never_refuted(a: str, b: str, c: str, q: str, h: str) -> None:
    never_refuted(a, b, c, q, h)


@pytest.mark.slow
@given(*FIVE, POLYNOMIAL)
@settings(max_examples=30, deadline=None)
def test_many_wrong_claims_are_always_refuted(a: str, b: str, c: str, q: str, h: str, wrong: str) -> None:
    always_refuted(a, b, c, q, h, wrong)
