"""The dynamics that ship, and every verdict about them, in one table."""

from pathlib import Path

import pytest
import reports

from recipe_compiler.verdict import Finding, Proved, Report, Verdict

SPECS = Path(__file__).parents[2] / "specs" / "dynamics"

COLUMNS = (
    "d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_stationary",
    "claimed_update", "marginal", "claimed_marginal", "normalisable", "regular", "boundary", "unique",
)  # fmt: skip

# One letter for each column: p proved, r refuted, u undecided, a dot for what does not apply or is not stated here.
# `unique` is refuted where a matrix declared positive semidefinite may be zero, or D is: other laws are stationary too.
# `boundary` is undecided where U is abstract beside a boundary: a build decides it with its target's.
TABLE = {
    #                         D D Q s c c   u   m c   n r b u
    "cir":                   "p p p p p p   .   . p   p p p .",
    "cir_root":              "p p p p p p   .   . p   p p . .",
    "exponential_ou":        "p p p p p p   .   . p   p p p .",
    "generalised_langevin":  "p p p p p p   .   p p   . . . r",
    "gsgrhmc":               "p p p p p p   .   p p   . p . p",
    "gsgrhmc_cholesky":      "p p p p p p   .   p p   . p . .",
    "hmc":                   "p p p p p p   .   p p   . . . r",
    "hmc_reflected":         "p p p p p p   .   p p   . . u u",
    "mirrored_gamma":        "p p p p p p   .   . p   p p p .",
    "rhmc":                  "p p p p p p   .   p p   . . . r",
    "sghmc":                 "p p p p p p   .   p p   . . . r",
    "sghmc_lognormal_friction":"p p p p p p .   p p   . p p u",
    "sgld":                  "p p p p p p   .   . p   . . . r",
    "sgld_noise_subtraction":"p p p p p p   p   . p   . . . r",
    "sgnht":                 "p p p p p p   .   p p   . p . p",
    "sgnht_mass":            "p p p p p p   .   p p   . p . p",
    "sgnht_mass_velocity":   "p p p p p p   .   p p   . p . p",
    "sgrhmc_gamma":          "p p p p p p   .   p p   p p . .",
    "sgrhmc_positive":       "p p p p p p   .   p p   . p u u",
    "sgrhmc_potential":      "p p p p p p   .   p p   p p . p",
    "sgrld":                 "p p p p p p   .   . p   . p . p",
    "sgrld_positive":        "p p p p p p   .   . p   p p u u",
    "still":                 "p p p p p p   .   p p   . . . r",
    "wright_fisher":         "p p p p p p   .   . p   p p u u",
}  # fmt: skip

VERDICTS = {"p": Verdict.PROVED, "r": Verdict.REFUTED, "u": Verdict.UNDECIDED}
CLAIM_SECONDS = 5
UNIVERSAL = sorted(TABLE.keys() - {"sgrhmc_potential"})
"""Those of symbolic size: the other one is a single equation in two numbers."""


def row(name: str) -> dict[str, Verdict]:
    """Return the verdicts the table states of a system."""
    letters = TABLE[name].split()
    assert len(letters) == len(COLUMNS)
    return {claim: VERDICTS[letter] for claim, letter in zip(COLUMNS, letters, strict=True) if letter != "."}


def report(name: str) -> Report:
    return reports.report(SPECS / f"{name}.yaml")


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def test_every_system_that_ships_has_its_row() -> None:
    assert {path.stem for path in SPECS.glob("*.yaml")} == TABLE.keys()


@pytest.mark.parametrize("name", TABLE)
def test_the_verdicts_are_those_of_the_table(name: str) -> None:
    stated = row(name)
    verdicts = {f.id: f.verdict for f in report(name).findings}
    assert set(COLUMNS[:6]) <= verdicts.keys()
    asserted = {claim: verdict for claim, verdict in verdicts.items() if claim in stated}
    assert asserted == {claim: stated[claim] for claim in asserted}


@pytest.mark.parametrize("name", TABLE)
def test_nothing_that_ships_is_refuted(name: str) -> None:
    found = report(name)
    assert found.verdict is not Verdict.REFUTED
    assert {f.id for f in found.findings if f.verdict is Verdict.REFUTED and f.required} == set()


@pytest.mark.parametrize("name", UNIVERSAL)
def test_what_is_proved_is_proved_for_every_size(name: str) -> None:
    for claim in COLUMNS[:6]:
        found = finding(report(name), claim)
        assert isinstance(found.decision, Proved)
        assert found.for_d == "all"
        assert {size for sizes in found.checked_at for _, size in sizes} == {1, 2, 3}


@pytest.mark.parametrize("name", TABLE)
def test_no_claim_takes_long(name: str) -> None:
    assert max(f.seconds for f in report(name).findings) < CLAIM_SECONDS
