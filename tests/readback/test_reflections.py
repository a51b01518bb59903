"""Positions that are reflected: the distribution of a step is exact, and what is not reflected says so."""

import numpy as np
import pytest
from answers import SPECS, answer, document, expect
from running import drawn, kept
from running import off as errors_off

from recipe_compiler.errors import ModelError
from recipe_compiler.pipeline import compile_build

REFLECTED = SPECS / "builds/hmc_reflected_categories.yaml"
TEXT = REFLECTED.read_text(encoding="utf-8").replace("../", "SPECS/")


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        (),
        ("r_v2_0 = -r_0 if theta_v1_0 < 0.0 else r_0", "r_v2_0 = -r_0"),
        ("theta_new_0 = -theta_v1_0 if", "theta_new_0 = 1.0 - theta_v1_0 if"),
    ],
    ids=["right", "always turned", "reflected elsewhere"],
)
def test_shares_are_dirichlet_and_their_sum_is_gamma(fault: tuple[str, ...]) -> None:
    """Half of the mass is near faces. Nothing is allowed for a bias: 5 standard errors are a chance of 5e-5."""
    text = TEXT.replace("[3, 4, 3]", "[1, 3/2, 5/4]").replace("[5, 8, 4]", "[0, 0, 0]")
    changes = [fault] if fault else []
    found = drawn(document(text), *changes, step_size=0.4, chains=64, draws=2200, warmup=200, thin=4, seed=5)
    theta, a = kept(found), np.array([1.0, 1.5, 1.25])
    total, omega = a.sum(), theta / theta.sum(axis=2, keepdims=True)
    off = max(
        errors_off(values, expected)
        for values, expected in (
            (omega, a / total),
            (omega**2, a * (a + 1) / (total * (total + 1))),
            (omega[..., :1] * omega[..., 1:], a[0] * a[1:] / (total * (total + 1))),
            (theta.sum(axis=2, keepdims=True) ** np.array([1, 2]), np.array([total, total * (total + 1)])),
        )
    )
    assert off > 7.0 if fault else off < 5.0


@pytest.mark.parametrize("flow", ["{B: reflected}", "{A: reflected, B: reflected}"])
def test_what_is_not_reflected_says_so(flow: str) -> None:
    with pytest.raises(ModelError, match="r has the domain real, and what is reflected is positive, at 0"):
        compile_build(document(TEXT.replace("{A: reflected}", flow)), allow_undecided=True)


BETWEEN = """
dynamics: walls.yaml
target: own.yaml
parameters: {m: {value: [1, 2]}}
scheme: {cycle: [refresh: r, {metropolis: {split: [B/2, A, B/2], flows: {A: reflected}, flip: {r: -r}}}]}
variant: full
sizes: {d: 2}
run: {step_size: 0.3}
"""


def test_between_two_walls_it_is_said_how_to_sample() -> None:
    dynamics = (SPECS / "dynamics/hmc_reflected.yaml").read_text(encoding="utf-8")
    walls = dynamics.replace("domain: positive", 'domain: "interval(0, 1)"')
    own = 'name: own\nstate: {theta: {shape: d, domain: "interval(0, 1)"}}\npotential: sum(2*theta)\n'
    says = "theta has the domain interval, and what is reflected is positive, at 0; between two walls sample an unbound"
    expect(answer(document(BETWEEN, walls=walls, own=own), "metropolis"), "undecided", says)
