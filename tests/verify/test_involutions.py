"""Involutions of (z, w): what is derived of them, for every size, and what is left open by its name."""

from fractions import Fraction

import pytest
from answers import SPECS, answer, document, expect

from recipe_compiler.errors import ModelError

BUILD = """
name: mapped
dynamics: DYNAMICS
target: target.yaml
scheme: {cycle: [CYCLE]}
variant: full
parameters: {MASS s: {is: positive, value: 1/2}, m: {shape: d, value: [1, -2]}}
sizes: {d: 2}
run: {step_size: 1/4}
"""
PLANE = "name: plane\nstate: {theta: {shape: d}}\npotential: norm2(theta)**2/4 + sum(theta)\n"
SCALE, ONE = "theta: theta*exp(w), w: -w", "'N(0, 1)'"
WORD, FLIPPED = "{metropolis: {split: [B/2, A, B/2]}}", "{metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}"
MIRROR, READS = "{involution: {theta: -theta}}", f"{{involution: {{theta: -theta + w*r, w: w}}, draws: {{w: {ONE}}}}}"


def column(mean):
    return f'{{shape: d, law: "N({mean}, s**2*I)"}}'


def move(maps, law="", more=""):
    return f"{{involution: {{{maps}}}{f', draws: {{w: {law}}}' if law else ''}{more}}}"


def decided(cycle, claim="involution", dynamics="still", own=""):
    text = BUILD.replace("CYCLE", cycle).replace(
        "MASS", "M: {value: [[2, 1/2], [1/2, 1]]}," if dynamics == "hmc" else ""
    )
    named = "own.yaml" if own else f"SPECS/dynamics/{dynamics}.yaml"
    beside = f"{(SPECS / f'dynamics/{dynamics}.yaml').read_text()}\n{own}\n"
    return answer(document(text.replace("DYNAMICS", named), target=PLANE, own=beside), claim)


@pytest.mark.parametrize(
    ("cycle", "says"),
    [
        (move(SCALE, "'N(0, s**2)'"), "H(z) - H(z') + d w"),
        (move(SCALE, column("0")), "H(z) - H(z') + sum_i w[i]"),
        (move(SCALE, "'N(1, s**2)'"), "+ d w - 2 w/s**2"),
        (move("theta: theta + w, w: -w", column("0")), "log a = H(z) - H(z')"),
        (move("theta: theta + w, w: -w", column("-theta")), "+ sum_i theta[i] w[i]/s**2 + sum_i w[i]**2/(2 s**2)"),
        (move("theta: w, w: theta", column("m")), "sum_i m[i] theta[i]/s**2"),
        (move("theta: 2*m - theta"), "log a = H(z) - H(z')"),
        (move("theta: -theta + exp(w)*m, w: w", ONE), "log a = H(z) - H(z')"),
        (
            move("theta: theta*exp(2*w) + v*m, w: -w, v: -v*exp(-2*w)", f"{ONE}, v: {ONE}"),
            "+ 2 d w + v**2/2 - v**2 exp(-4 w)/2 - 2 w",
        ),
        (move("theta: s*w, w: theta/s", column("0")), "sum_i theta[i]**2/(2 s**4)"),
    ],
)
def test_the_ratio_is_derived_for_every_size(cycle, says):
    found = decided(cycle)
    expect(found, "proved", says)
    assert found.for_d == "all"
    assert found.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    expect(decided(cycle, "exact"), "proved")


def test_what_is_claimed_of_the_ratio_is_compared():
    right = move(SCALE, "'N(1, s**2)'", ", log_ratio: d*w - 2*w/s**2")
    expect(decided(right), "proved")
    at = expect(decided(right.replace("d*w -", "2*w*d -")), "refuted")
    assert at["d"] == "2"
    value = at["log_ratio as claimed less log q(w'|z')/q(w|z) + log |det DS|"]
    assert Fraction(value) == 2 * Fraction(at["w"])


def test_a_claim_is_never_what_is_computed_with():
    of_none, of_right = (decided(move(SCALE, "'N(0, s**2)'", own)) for own in ("", ", log_ratio: d*w"))
    assert of_none.decision.by == of_right.decision.by


@pytest.mark.parametrize(
    ("cycle", "verdict", "says"),
    [
        # 2 w is d w at d = 2, and at no other
        (move(SCALE, "'N(0, s**2)'", ", log_ratio: 2*w"), "proved", "+ 2 w, at the values of the build"),
        (
            move("theta: theta + w, w: -w", "{shape: d, law: 'N(0, m @ m.T)'}"), "undecided",
            "m @ m.T is positive definite",
        ),
        (move("theta: theta + abs(w)*m, w: -w", ONE), "refuted", ""),
        (move("theta: -theta + abs(w)*m, w: w", ONE), "undecided", "abs(w) is smooth"),
        (
            move("theta: theta - 2*m*(m.T @ theta)/5", ONE), "undecided",
            "dtheta'/dtheta is a sum, and no single term",
        ),
        (move("theta: diag(m) @ theta", ONE), "not proved", ""),
        (move("theta: theta*tanh(w), w: w", ONE), "not proved", ""),
        (move("theta: w*ones - theta, w: w**3", ONE), "not proved", ""),
        # theta has two entries in the build; of one alone there is no second
        (move('theta: "theta*exp(w[1])", w: -w', '{shape: d, law: "N(0, I)"}'), "proved", "- H(z') + d w[1]"),
    ],
)  # fmt: skip
def test_what_has_no_jacobian_by_structure_or_is_no_involution_is_not_proved(cycle, verdict, says):
    expect(decided(cycle), verdict, says)


def test_an_assumption_leaves_an_involution_open():
    expect(decided(MIRROR, own="assume: ['theta[0] > 0']"), "undecided", "an assumption restricts the state")


@pytest.mark.parametrize(
    ("cycle", "verdict"),
    [
        (f"{WORD}, {MIRROR}, {{refresh: r}}", "proved"),
        (f"{WORD}, {{refresh: r}}, {MIRROR}", "proved"),
        (f"{WORD}, {READS}, {{refresh: r}}", "not proved"),
        (f"{WORD}, {{refresh: r}}, {READS}", "proved"),
    ],
)
def test_an_involution_of_the_position_needs_no_flip_before_the_refresh(cycle, verdict):
    """Its ratio does not know the sign of r, as H is even in it; one that reads r does."""
    expect(decided(cycle, "metropolis", "hmc"), verdict)


def test_an_involution_between_refresh_and_word_leaves_the_uniqueness_of_the_law_open():
    both = move("theta: -theta, r: -r")
    expect(decided(f"{{refresh: r}}, {FLIPPED}, {{refresh: r}}, {both}", "irreducible", "hmc"), "proved")
    found = decided(f"{{refresh: r}}, {both}, {FLIPPED}", "irreducible", "hmc")
    expect(found, "undecided", "drawn anew next to a word")


@pytest.mark.parametrize("image", ["theta", "theta*exp(w - w)", "2*theta - theta"])
def test_an_involution_that_is_the_identity_moves_nothing(image):
    cycle = move(f'theta: "{image}", w: -w', '{shape: d, law: "N(0, I)"}')
    expect(decided(cycle), "proved")
    expect(decided(cycle, "cycle"), "refuted", "no move moves theta")
    expect(decided(cycle.replace(f'"{image}"', '"theta + w"'), "cycle"), "proved")


def test_a_position_that_is_not_there_is_refused():
    with pytest.raises(ModelError) as refused:
        decided(move('theta: "theta*exp(w[7])", w: -w', '{shape: d, law: "N(0, I)"}'))
    (fault,) = refused.value.faults
    assert fault.entry == "sizes.d"
    assert "found d = 2 with a formula that uses position 7, counted from 0; expected d >= 8" in fault.problem
