"""What is assumed is used where it says word for word what is needed; weakened, it proves nothing more."""

from collections.abc import Callable

import pytest
from some import some

from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Proved

Said = Callable[[str, str], str]

PARAMETERS = "parameters: {a: {}, b: {}, c: {}, p: {is: positive}, M: {shape: [d, d], is: positive definite}}\n"


def document(assumed: str, H: str = "x.T @ x / 2", D: str = "I", Q: str = "0*I", more: str = "") -> str:
    """Return dynamics of one block of every size, under assumptions separated by `;`."""
    listed = ", ".join(f'"{each.strip()}"' for each in assumed.split(";"))
    return f'state: {{x: {{shape: d}}}}\n{PARAMETERS}assume: [{listed}]\nH: "{H}"\nD: [["{D}"]]\nQ: [["{Q}"]]\n{more}'


NONNEGATIVE = [
    ("a*I", "a > 0", "a > -1"),
    ("a*I", "a >= 0", "a >= -1/100"),
    ("a*inv(M)", "0 < a", "0 < a + 1"),
    ("(1 - a)*I", "a < 1", "a < 2"),
    ("(1 - a)*I", "a <= 1", "a <= 2"),
    ("(1 - a)*M", "1 - a > 0", "2 - a > 0"),
    ("(a - b)*I", "a >= b", "a >= b - 1"),
    ("(2*a - 2*b)*I", "b < a", "b < a + 1"),
    ("(1 - a**2)*I", "a <= 1; a >= -1", "a <= 1; a >= -2"),
    ("(1 - a)*I", "a < b; b < 1", "a < b; b < 2"),
    ("sqrt(1 - a)*I", "a <= 1", "a <= 2"),
    ("sqrt(1 - a)*I", "a < b; b < 1", "a < b; c < 1"),
    ("1/(1 - a)*I", "a < 1", "a <= 1"),
    ("log(a)*I", "a >= 1", "a >= 1/2"),
    ("(log(a)**2 + 1)*I", "a > 0", "a >= 0"),
    ("a*I", "a == p", "a == p - 1"),
    ("a*I", "p == a", "p == a + 1"),
    ("c*I", "a == p; a == c", "a == p; b == c"),
    ("c*I", "b == p; b == c", "b == a; b == c"),
    ("(a - b*c)*I", "a == b*c", "a <= b*c"),
    ("(a - 1)*I", "a == 1", "a == 1/2"),
    ("(2*where(a == b, 1, 0) - 1)*I", "a == b", "a >= b"),
    ("(1 - 2*where(a > b, 1, 0))*I", "a == b", "a >= b"),
    ("(sign(a)**2 - 1/2)*I", "a > 0", "a >= 0"),
    ("(sign(a - b) - 1/2)*I", "a > b", "a >= b"),
    ("(2*sign(a)*a/abs(a) - 1)*I", "a < 0", "a <= 0"),
    ("a*b*I", "a*b >= 0", "a*b >= -1"),
    ("(a*c - b**2)*I", "a*c >= b**2", "a*c >= 0"),
    ("(p - a)*M", "a < p", "a < 2*p"),
]
"""A diffusion, what makes it positive semidefinite (and gives it a value), and what does not."""


@pytest.mark.parametrize(("D", "enough", "weaker"), some(NONNEGATIVE, 2))
def test_a_diffusion_is_proved_by_what_is_assumed_and_by_no_less(said: Said, D: str, enough: str, weaker: str) -> None:
    assert said("d_psd", document(enough, D=D)) == "proved"
    assert said("d_psd", document(weaker, D=D)) != "proved"


CONFINING = [
    ("a*x.T @ x", "a > 0", "a >= 0"),
    ("(1 - a)*x.T @ x", "a < 1", "a <= 1"),
    ("(2 - a)*sum(x**4) - sum(x**2)", "a < 1", "a < 3"),
    ("(a - b)*sum(abs(x))", "a > b", "a >= b"),
    ("a*x.T @ x", "a == p", "a == p - 1"),
    ("a*b*x.T @ x", "a*b > 0", "a*b >= 0"),
    ("a*sum(log(1 + x**2))", "a > 1/2", "a >= 1/2"),
    ("a*sum(log(1 + x**2))", "2*a > 1", "2*a > 1/2"),
    ("log(a)*x.T @ x", "log(a) > 0", "a > 0"),
    ("x.T @ x*where(a == b, 1, -1)", "a == b", "a >= b"),
    ("x.T @ x - (a - b)*sum(x**4)", "a == b", "a >= b"),
]


@pytest.mark.parametrize(("H", "enough", "weaker"), CONFINING)
def test_an_energy_confines_by_what_is_assumed_and_by_no_less(said: Said, H: str, enough: str, weaker: str) -> None:
    energy = H.replace("1 + x**2", "ones + x**2")
    assert said("normalisable", document(enough, energy)) == "proved"
    assert said("normalisable", document(weaker, energy)) != "proved"


EQUAL = [
    ("q_skew", "Q", "(a - b)*I", "a == b", "a >= b"),
    ("q_skew", "Q", "(a - 2*b)*I", "a == 2*b", "a == b"),
    ("q_skew", "Q", "(a - c)*M", "a == b; b == c", "a == b"),
    ("q_skew", "Q", "(a - b*c)*M", "b*c == a", "b*c == 2*a"),
    ("stationary", "Q", "(a - b)*M", "a == b", "a <= b"),
    ("claimed_drift", "f", "-x + (a - b)*x", "a == b", "a >= b"),
    ("claimed_drift", "f", "-a*x", "a == 1", "a > 0"),
    ("claimed_drift", "f", "-where(a == b, 1, 2)*x", "a == b", "a >= b"),
    ("claimed_stationary", "f", "-x + (a - b)*M @ x", "a == b", "a >= b"),
    ("claimed_stationary", "f", "-sqrt(a)*x", "a == 1", "a > 0"),
]


@pytest.mark.parametrize(("claim", "entry", "formula", "enough", "weaker"), EQUAL)
def test_an_equality_is_put_in(said: Said, claim: str, entry: str, formula: str, enough: str, weaker: str) -> None:
    for assumed, proved in ((enough, True), (weaker, False)):
        more = f'claims: {{drift: {{x: "{formula}"}}}}\n' if entry == "f" else ""
        text = document(assumed, Q=formula if entry == "Q" else "0*I", more=more)
        assert (said(claim, text) == "proved") is proved
        assert not proved or said("d_symmetric", text) == "proved"


def test_what_an_equality_leaves_without_a_value_stays_without(said: Said) -> None:
    assert said("d_psd", document("a == 1", D="(1 + (a - 1)*log(c))*I")) == "undecided"
    assert said("d_psd", document("a == 1; c > 0", D="(1 + (a - 1)*log(c))*I")) == "proved"


def test_a_proof_names_the_equality_it_rests_on(loaded: Callable[[str], Dynamics]) -> None:
    dynamics = loaded(document("a == b", Q="(a - b)*I"))
    decision = next(f.decision for f in check(dynamics).findings if f.id == "q_skew")
    assert isinstance(decision, Proved)
    assert "a == b" in decision.given


def test_a_sum_over_positions_says_nothing_of_one(said: Said) -> None:
    text = document("sum(v) > 0", "x.T @ diag(v) @ x").replace("a: {}", "a: {}, v: {shape: d}")
    assert said("normalisable", text) != "proved"
