"""Every sampler that ships stays finite, under growth of U that is named (`documents/verify/explosion.yaml`)."""

import pytest
from answers import SPECS, answer, expect
from reports import report

import recipe_compiler as rc
from recipe_compiler import I, vector
from recipe_compiler.verify.stationarity.explosion import rests_on

STAYS = "the SDE is non-explosive"
LOW = "U >= -c (1 + norm2(theta)) for some c"
SGLD = ("-2 sum_ij d_theta[i] U D[i,j] theta[j] <= c (1 + norm2(theta)) for some c",)


def bounds(factor):
    """Return what is assumed of a metric K K.T."""
    of = (f"sum_ij {factor}[i,j]**2", f"sum_ijk d_theta[i] {factor}[i,j] d_theta[k] {factor}[k,j]")
    return (LOW, *(f"{one} <= c (1 + norm2(theta) + U) for some c" for one in of))


GROWTH = {
    **dict.fromkeys(("cir", "cir_root", "exponential_ou", "mirrored_gamma", "sgrhmc_gamma", "sgrhmc_potential"), ()),
    **dict.fromkeys(("still", "wright_fisher"), ()),
    **dict.fromkeys(("generalised_langevin", "hmc", "hmc_reflected", "sghmc"), (LOW,)),
    **dict.fromkeys(("sgnht", "sgnht_mass", "sgnht_mass_velocity"), (LOW,)),
    **dict.fromkeys(("sgld", "sgld_noise_subtraction"), SGLD),
    "gsgrhmc": bounds("K"),
    "gsgrhmc_cholesky": bounds("L"),
    "rhmc": ("U + logdet(G)/2 -> oo as norm2(theta) -> oo",),
    "sghmc_lognormal_friction": ("sum_i (d_theta[i] U)**2 <= c (1 + norm2(theta)) for some c",),
    "sgrhmc_positive": (LOW, "sum_i theta[i]**3 <= c (1 + norm2(theta) + U) for some c"),
    "sgrld": (
        "2 sum_i G_inverse[i,i] + 2 sum_ij theta[i] d_theta[j] G_inverse[j,i] "
        "- 2 sum_ij d_theta[i] U G_inverse[i,j] theta[j] <= c (1 + norm2(theta)) for some c",
    ),
    "sgrld_positive": ("-2 sum_i d_theta[i] U theta[i]**2 <= c (1 + norm2(theta)) for some c",),
}
"""Shipped dynamics to what is assumed of growth."""


@pytest.mark.parametrize("name", sorted(path.stem for path in (SPECS / "dynamics").glob("*.yaml")))
def test_shipped_samplers_stay_finite_under_named_growth(name):
    (found,) = (one for one in report(SPECS / f"dynamics/{name}.yaml").findings if one.id == "explosion")
    expect(found, "proved")
    assert rests_on(found) == GROWTH[name]
    assert found.for_d == "all"
    assert found.checked_at


def test_uniqueness_rests_on_the_growth_that_keeps_chains_finite():
    (found,) = (one for one in report(SPECS / "dynamics/sgnht.yaml").findings if one.id == "unique")
    expect(found, "proved", LOW)
    assert STAYS not in found.decision.given


def test_a_function_is_stated_in_python_too():
    x = vector("x", "d")
    made = rc.Dynamics(name="p", state=[x], H=x.T @ x / 2, D=[[I]], Q=[[0]], claims={"lyapunov": x.T @ x})
    found = answer(made.document, "explosion")
    assert found.decision.by == "Lyapunov function x.T @ x, as stated"
