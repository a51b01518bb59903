"""Involutions of (z, w): what is derived of them, for every size, and what is left open by its name."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from loaders import load_build

from recipe_compiler.errors import ModelError
from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.claims import applicable_claims
from recipe_compiler.verify.claims_in_builds import BUILDS, BoundBuild

SPECS = Path(__file__).parents[2] / "specs"
BUILD = """
name: mapped
dynamics: {dynamics}
target: target.yaml
scheme: {{cycle: [{cycle}]}}
variant: full
parameters: {{s: {{is: positive, value: 1/2}}, m: {{shape: d, value: [1, -2]}}}}
sizes: {{d: 2}}
run: {{step_size: 1/4}}
"""
TARGET = "name: plane\nstate: {theta: {shape: d}}\npotential: norm2(theta)**2/4 + sum(theta)\n"
SCALE = "involution: {theta: theta*exp(w), w: -w}"
COLUMN = 'draws: {w: {shape: d, law: "N(MEAN, s**2*I)"}}'
WORD = "{metropolis: {split: [B/2, A, B/2]FLIP}}"


@cache
def decided(cycle: str, claim: str = "involution", dynamics: str = "still", own: str = "") -> Answer:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "build.yaml"
        (path.parent / "target.yaml").write_text(TARGET, encoding="utf-8")
        named = f"{SPECS}/dynamics/{dynamics}.yaml"
        if own:
            text = (SPECS / f"dynamics/{dynamics}.yaml").read_text(encoding="utf-8")
            (path.parent / "own.yaml").write_text(f"{text}\n{own}\n", encoding="utf-8")
            named = "own.yaml"
        text = BUILD.format(dynamics=named, cycle=cycle)
        text = (
            text.replace("parameters: {", "parameters: {M: {value: [[2, 1/2], [1/2, 1]]}, ")
            if dynamics == "hmc"
            else text
        )
        path.write_text(text, encoding="utf-8")
        build = load_build(path)
    asked = {own.id: own for own in applicable_claims(BUILDS, build)}
    return asked[claim].decide(BoundBuild(Stages(build, bind(build))))


def proof(answer: Answer) -> str:
    assert isinstance(answer.decision, Proved), answer.decision
    return answer.decision.by


def why(answer: Answer) -> str:
    assert isinstance(answer.decision, Undecided), answer.decision
    return "; ".join(answer.decision.tried)


RIGHT = {
    "a factor for all": (f"{{{SCALE}, draws: {{w: 'N(0, s**2)'}}}}", "H(z) - H(z') + d w"),
    "a factor for each": (f"{{{SCALE}, {COLUMN.replace('MEAN', '0')}}}", "H(z) - H(z') + sum_i w[i]"),
    "a law that is not symmetric": (f"{{{SCALE}, draws: {{w: 'N(1, s**2)'}}}}", "+ d w - 2 w/s**2"),
    "a walk": (f"{{involution: {{theta: theta + w, w: -w}}, {COLUMN.replace('MEAN', '0')}}}", "log a = H(z) - H(z')"),
    "a walk that drifts": (
        f"{{involution: {{theta: theta + w, w: -w}}, {COLUMN.replace('MEAN', '-theta')}}}",
        "+ sum_i theta[i] w[i]/s**2 + sum_i w[i]**2/(2 s**2)",
    ),
    "states of a law": (
        f"{{involution: {{theta: w, w: theta}}, {COLUMN.replace('MEAN', 'm')}}}", "sum_i m[i] theta[i]/s**2",
    ),
    "a mirror": ("{involution: {theta: 2*m - theta}}", "log a = H(z) - H(z')"),
    "a shear": ("{involution: {theta: -theta + exp(w)*m, w: w}, draws: {w: 'N(0, 1)'}}", "log a = H(z) - H(z')"),
    "several turns of two draws": (
        "{involution: {theta: theta*exp(2*w) + v*m, w: -w, v: -v*exp(-2*w)}, draws: {w: 'N(0, 1)', v: 'N(0, 1)'}}",
        "+ 2 d w + v**2/2 - v**2 exp(-4 w)/2 - 2 w",
    ),
    "a multiple of what is drawn": (
        "{involution: {theta: s*w, w: theta/s}, " + COLUMN.replace("MEAN", "0") + "}", "sum_i theta[i]**2/(2 s**4)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_the_ratio_is_derived_for_every_size(name: str) -> None:
    cycle, says = RIGHT[name]
    found = decided(cycle)
    assert says in proof(found)
    assert found.for_d == "all"
    assert found.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert isinstance(decided(cycle, "exact").decision, Proved)


def test_what_is_claimed_of_the_ratio_is_compared() -> None:
    right = f"{{{SCALE}, draws: {{w: 'N(1, s**2)'}}, log_ratio: d*w - 2*w/s**2}}"
    assert proof(decided(right))
    wrong = decided(right.replace("d*w -", "2*w*d -"))
    assert isinstance(wrong.decision, Refuted)
    assert dict(wrong.decision.witness)["d"] == "2"
    value = dict(wrong.decision.witness)["log_ratio as claimed less log q(w'|z')/q(w|z) + log |det DS|"]
    assert Fraction(value) == 2 * Fraction(dict(wrong.decision.witness)["w"])


def test_what_is_wrong_at_other_sizes_is_shown_at_those_of_the_build_alone() -> None:
    """2 w is d w at d = 2, and at no other."""
    assert "+ 2 w, at the values of the build" in proof(
        decided(f"{{{SCALE}, draws: {{w: 'N(0, s**2)'}}, log_ratio: 2*w}}")
    )


def test_a_claim_is_never_what_is_computed_with() -> None:
    of_none, of_right = (
        proof(decided(f"{{{SCALE}, draws: {{w: 'N(0, s**2)'}}{own}}}")) for own in ("", ", log_ratio: d*w")
    )
    assert of_none == of_right


def test_a_law_without_a_density_is_open() -> None:
    walk = "{involution: {theta: theta + w, w: -w}, draws: {w: {shape: d, law: 'N(0, m @ m.T)'}}}"
    assert "m @ m.T is positive definite" in why(decided(walk))


def test_a_kink_leaves_an_involution_open() -> None:
    walk = "{involution: {theta: theta + abs(w)*m, w: -w}, draws: {w: 'N(0, 1)'}}"
    assert isinstance(decided(walk).decision, Refuted)
    walk = "{involution: {theta: -theta + abs(w)*m, w: w}, draws: {w: 'N(0, 1)'}}"
    assert "abs(w) is smooth" in why(decided(walk))


def test_an_assumption_leaves_an_involution_open() -> None:
    assert "an assumption restricts the state" in why(
        decided("{involution: {theta: -theta}}", own="assume: ['theta[0] > 0']")
    )


@pytest.mark.parametrize(
    ("maps", "says"),
    [
        ("theta: theta - 2*m*(m.T @ theta)/5", "dtheta'/dtheta is a sum, and no single term"),
        ("theta: diag(m) @ theta", ""),
        ("theta: theta*tanh(w), w: w", ""),
        ("theta: w*ones - theta, w: w**3", ""),
    ],
)
def test_what_has_no_jacobian_by_structure_or_is_no_involution_is_not_proved(maps: str, says: str) -> None:
    found = decided(f"{{involution: {{{maps}}}, draws: {{w: 'N(0, 1)'}}}}")
    assert not isinstance(found.decision, Proved)
    assert says in "; ".join(found.decision.tried if isinstance(found.decision, Undecided) else ())


@pytest.mark.parametrize("order", ["after", "before"])
def test_an_involution_of_the_position_needs_no_flip_before_the_refresh(order: str) -> None:
    """Its ratio does not know the sign of r, as H is even in it; one that reads r does."""
    mirror, reads = "{involution: {theta: -theta}}", "{involution: {theta: -theta + w*r, w: w}, draws: {w: 'N(0, 1)'}}"
    for move, shown in ((mirror, True), (reads, order == "before")):
        moves = f"{move}, {{refresh: r}}" if order == "after" else f"{{refresh: r}}, {move}"
        found = decided(f"{WORD.replace('FLIP', '')}, {moves}", "metropolis", "hmc")
        assert isinstance(found.decision, Proved) is shown, (move, found.decision)


def test_an_involution_between_refresh_and_word_leaves_the_uniqueness_of_the_law_open() -> None:
    mirror = "{involution: {theta: -theta, r: -r}}"
    word = WORD.replace("FLIP", ", flip: {r: -r}")
    assert isinstance(
        decided(f"{{refresh: r}}, {word}, {{refresh: r}}, {mirror}", "irreducible", "hmc").decision, Proved
    )
    assert "drawn anew next to a word" in why(decided(f"{{refresh: r}}, {mirror}, {word}", "irreducible", "hmc"))


@pytest.mark.parametrize("image", ["theta", "theta*exp(w - w)", "2*theta - theta"])
def test_an_involution_that_is_the_identity_moves_nothing(image: str) -> None:
    cycle = f'{{involution: {{theta: "{image}", w: -w}}, draws: {{w: {{shape: d, law: "N(0, I)"}}}}}}'
    assert isinstance(decided(cycle).decision, Proved)
    found = decided(cycle, "cycle").decision
    assert isinstance(found, Refuted)
    assert "no move moves theta" in found.by
    moving = decided(cycle.replace(f'"{image}"', '"theta + w"'), "cycle").decision
    assert isinstance(moving, Proved)


def test_positions_are_looked_at_where_they_are() -> None:
    """theta has two entries in the build; of one alone there is no second."""
    by = proof(decided('{involution: {theta: "theta*exp(w[1])", w: -w}, draws: {w: {shape: d, law: "N(0, I)"}}}'))
    assert "log a = H(z) - H(z') + d w[1]" in by


def test_a_position_that_is_not_there_is_refused() -> None:
    with pytest.raises(ModelError) as refused:
        decided('{involution: {theta: "theta*exp(w[7])", w: -w}, draws: {w: {shape: d, law: "N(0, I)"}}}')
    (fault,) = refused.value.faults
    assert fault.entry == "sizes.d"
    assert "found d = 2 with a formula that uses position 7, counted from 0; expected d >= 8" in fault.problem
