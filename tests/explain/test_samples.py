"""What wrong samplers sample: the closed forms that are known, and nothing where no member of the family is right."""

import pytest
from answers import document as written
from processor_time import ends
from repair_specs import amended, changed, document, loaded, renamed, same_formulas

from recipe_compiler.explain.samples import samples_instead
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Explanation, Proved, Topic
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.stationarity.stationary import claimed_stationary

ENERGY = {
    "friction_scale": "2*U + r.T @ inv(M) @ r",
    "temperature_squared": "U/T**2 + r.T @ r / (2*T**2)",
    "sgnht_energy": "U + r.T @ r / 2 + d*(xi - A)**2/2",
    "sgrld_wrong_sign_line": "U + 2*log(g)",
    "sgrld_dropped_line": "U + log(g)",
    "sgrhmc_naive_line": "U + r**2/2 + log(g)",
    "historic_factor_one": "U + logdet(W)/2",
    "cir_minus_two": "sum(theta) - (a - 3)*sum(log(theta))",
    "geometric_brownian": "2*(1 - mu/sigma**2)*log(x)",
    "stratonovich": "x - (a - 1/2)*log(x)",
    "thermostat_temperature": "(U + r.T @ r / 2 + d*(xi - A)**2/2)/T + d*(A*T - B)*xi/T**2",
}

NONE = [
    "sghmc_naive", "sgrhmc_naive", "sgrhmc_eq17", "historic_factor_two", "thermostat_mass", "sghmc", "sgrhmc", "sgrld",
]  # fmt: skip
"""Wrong ones whose stationary law is not in the family, and right ones."""


def shown(dynamics: Dynamics) -> tuple[Explanation, ...]:
    with ends():
        found = samples_instead(prepare_subject(dynamics))
    assert all(explanation.topic is Topic.SAMPLES and explanation.by for explanation in found)
    return found


def is_stationary(dynamics: Dynamics) -> bool:
    return isinstance(claimed_stationary(prepare_subject(dynamics)).decision, Proved)


@pytest.mark.parametrize("name", ENERGY)
def test_the_density_is_found_and_is_stationary(name: str) -> None:
    dynamics = loaded(document(name))
    assert not is_stationary(dynamics)
    found = shown(dynamics)
    assert same_formulas(dynamics, found[0].formulas, {"H": ENERGY[name]})
    for explanation in found:
        assert is_stationary(loaded(amended(document(name), explanation.formulas)))


@pytest.mark.parametrize("name", NONE)
def test_nothing_is_said_where_nothing_is_known(name: str) -> None:
    assert shown(loaded(document(name))) == ()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["friction_scale", "sgrhmc_naive_line", "thermostat_temperature", "cir_minus_two"])
def test_names_and_order_of_the_state_do_not_matter(name: str, seed: int) -> None:
    found, names = changed(name, seed)
    dynamics = loaded(found)
    assert same_formulas(dynamics, shown(dynamics)[0].formulas, {"H": renamed(ENERGY[name], names)})


@pytest.mark.parametrize(("noise", "temperature"), [("V/2", "1/2"), ("3*V", "3"), ("2*V/7", "2/7")])
def test_the_temperature_is_said(noise: str, temperature: str) -> None:
    found = shown(loaded(amended(document("friction_scale"), [("claims.diffusion[r,r]", noise)])))
    assert found[0].says.endswith(f"the stated one at temperature {temperature}")


@pytest.mark.parametrize("power", [1, 2, 3, -1])
def test_any_power_of_the_diffusion_is_found(power: int) -> None:
    drift = f"-g*grad(U, theta) + (1 - {power})*grad(g, theta)" if power > 0 else "-g*grad(U, theta) + 2*grad(g, theta)"
    dynamics = loaded(amended(document("sgrld_dropped_line"), [("claims.drift.theta", drift)]))
    assert same_formulas(dynamics, shown(dynamics)[0].formulas, {"H": f"U + {power}*log(g)"})


@pytest.mark.parametrize(
    ("H", "D", "drift", "energy"),
    [
        ("x**2/2", "1 + x**2", "-3*x - x**3", "x**2/2 + 2*log(1 + x**2)"),
        ("x**2/2", "1", "-x**3 + 2*x - 1", "x**4/4 - x**2 + x"),
        ("x**2/2", "3", "1 - x**5", "x**6/18 - x/3"),
    ],
)
def test_on_a_line_the_energy_is_an_integral(H: str, D: str, drift: str, energy: str) -> None:
    found = {"name": "line", "state": {"x": {}}, "H": H, "D": [[D]], "claims": {"drift": {"x": drift}}}
    dynamics = loaded(found)
    explanations = shown(dynamics)
    assert explanations
    assert same_formulas(dynamics, explanations[0].formulas, {"H": energy})


def test_what_has_no_elementary_integral_is_left_alone() -> None:
    found = {"name": "line", "state": {"x": {}}, "H": "x**2/2", "D": [["1"]], "claims": {"drift": {"x": "-exp(x**2)"}}}
    assert shown(loaded(found)) == ()


@pytest.mark.parametrize(
    ("state", "H", "drift", "energy", "says"),
    [
        ("{domain: circle}", "cos(x)", "1", "", ""),  # -x is no energy of a circle
        ("{}", "cos(x)", "1", "-x", ""),
        ("{}", "x**2/2", "x", "-x**2/2", "its integral is infinite: nothing is sampled"),
    ],
)
def test_what_is_shown_means_something_where_the_state_lives(
    state: str, H: str, drift: str, energy: str, says: str
) -> None:
    own = written(f"state: {{x: {state}}}\nH: {H}\nD: [[1]]\nclaims: {{drift: {{x: {drift}}}}}\n")
    found = shown(own)
    assert [dict(one.formulas)["H"] for one in found] == [energy] * bool(energy)
    assert all(one.says.endswith(says) for one in found)
