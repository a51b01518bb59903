"""Logarithms of sums of exponentials are dominated by what grows faster, and by nothing else."""

import pytest
from loaders import load_target

from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_target

TEXT = (
    "name: t\nstate: {{a: {{shape: d}}, b: {{shape: d}}}}\n"
    "parameters: {{p: {{is: positive}}, q: {{}}, v: {{shape: d}}}}\npotential: {}\n"
)
PRIOR = "a.T @ a / 2 + b.T @ b / 2"


def verdict(tmp_path, potential: str) -> Verdict:
    (tmp_path / "t.yaml").write_text(TEXT.format(potential))
    target = load_target(tmp_path / "t.yaml")
    return normalisable_target(target).verdict


@pytest.mark.parametrize(
    "potential",
    [
        f"{PRIOR} - 5*logsumexp(a + b)",
        f"{PRIOR} + q*logsumexp(a)",
        f"{PRIOR} - p*logsumexp(a - p*b**2)",
        f"{PRIOR} - log(p*exp(a[0]) + 3*exp(b[1]))",
    ],
)
def test_what_grows_less_fast_is_dominated(tmp_path, potential: str) -> None:
    assert verdict(tmp_path, potential) is Verdict.PROVED


@pytest.mark.parametrize(
    "potential",
    [
        "b.T @ b / 2 + logsumexp(a)",  # nothing confines a
        f"{PRIOR} - logsumexp(a**2)",  # exp(-U) grows like exp(a^2/2)
        f"{PRIOR} + logsumexp(a - p*b**2)",  # with a minus before the prior's opponent, b**2 does not help
        f"{PRIOR} - logsumexp(p*b**2)",
        f"{PRIOR} + q*logsumexp(a - p*b**2)",  # q of either sign
        "a.T @ a + b.T @ b - 2*logsumexp(a**2 + b**2)",
    ],
)
def test_what_grows_as_fast_is_not(tmp_path, potential: str) -> None:
    assert verdict(tmp_path, potential) is not Verdict.PROVED
