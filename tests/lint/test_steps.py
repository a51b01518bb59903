"""Existing steps, right and wrong, in several styles: each with the verdict it must get."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from some import some

from recipe_compiler.lint.findings import TO_PROVE, Lint
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")

HERE = Path(__file__).parent / "steps"

RIGHT = {
    "sgld": "sgld",
    "sgld_module_generator": "sgld",
    "sgld_half": "sgld",
    "sgld_thirds": "sgld",
    "sgld_sqrt2": "sgld",
    "sgld_loops": "sgld",
    "sgld_own_gradient": "sgld",
    "sghmc": "sghmc",
    "sghmc_in_place": "sghmc",
    "sghmc_loops": "sghmc",
    "sgnht": "sgnht",
    "sgnht_dict": "sgnht",
    "sgrhmc": "gsgrhmc",
    "sgrld": "sgrld",
    "leapfrog": "hmc",
    "refresh": "hmc",
    "langevin_adjusted": "sgld_unit",
    "sghmc_squared": "sghmc",
}
"""Right at every size that is looked at."""

PROVED = {
    "langevin": ("double_well", ()),
    "langevin_state": ("double_well", (("z", "state"),)),
    "langevin_noise": ("double_well", (("w", "normal(p)"),)),
    "cir": ("gamma", ()),
    "autoregression": ("gaussian", ()),
    "gaussian": ("gaussian", ()),
}
"""Right, the document fixing the sizes."""

WRONG = {
    "sgld_noise": ("sgld", 1, "wrong at every step size (eps^0)"),
    "sgld_noise_of_eps": ("sgld", 1, "wrong at every step size (eps^0)"),
    "sgld_noise_without_step": ("sgld", 1, "Cov[dz] does not shrink with eps"),
    "sgld_drift_without_step": ("sgld", 1, "changes the law for U = theta[0]**2/2"),
    "sgld_fourth_root": ("sgld", 1, "the step is of order eps^(1/2), not eps"),
    "sgld_factor_transposed": ("sgld", 2, "it holds at d = 1 only"),
    "sgld_same_noise": ("sgld", 2, "it holds at d = 1 only"),
    "sgld_other_gradient": ("sgld", 1, "wrong at every step size (eps^0)"),
    "sghmc_without_friction": ("sghmc", 1, "wrong at every step size (eps^0)"),
    "sghmc_mass_forgotten": ("sghmc", 1, "wrong at every step size (eps^0)"),
    "sghmc_gradient_sign": ("sghmc", 1, "wrong at every step size (eps^0)"),
    "sghmc_temperature_squared": ("sghmc", 1, "wrong at every step size (eps^0)"),
    "sghmc_decay": ("sghmc", 1, "changes the law of r[0]"),
    "sgnht_norm": ("sgnht", 1, "wrong at every step size (eps^0)"),
    "sgnht_not_divided": ("sgnht", 2, "it holds at d = 1 only"),
    "sgrhmc_gamma_dropped": ("gsgrhmc", 1, "wrong at every step size (eps^0)"),
    "sgrld_gamma_dropped": ("sgrld", 1, "wrong at every step size (eps^0)"),
    "sgrld_gamma_sign": ("sgrld", 1, "wrong at every step size (eps^0)"),
    "hmc_half_position": ("hmc", 1, "wrong at every step size (eps^0)"),
    "refresh_half": ("hmc", 1, "changes the law of r[0]"),
    "cir_noise": ("gamma", 0, "wrong at every step size (eps^0)"),
    "langevin_adjusted_drift": ("sgld_unit", 1, "wrong at every step size (eps^0)"),
    "langevin_adjusted_order": ("sgld_unit", 1, "wrong at every step size (eps^0)"),
    "langevin_adjusted_between": ("sgld_unit", 1, "the step is of order eps^(3/2), not eps"),
    "langevin_adjusted_later": ("sgld_unit", 1, "wrong at every step size (eps^0)"),
    "sghmc_squared_transposed": ("sghmc", 2, "it holds at d = 1 only"),
    "sghmc_squared_friction": ("sghmc", 1, "wrong at every step size (eps^0)"),
}
"""Wrong, the smallest size that shows it (0: the document fixes the sizes), and why."""

SQUARED = {"langevin_adjusted", "sghmc_squared"}
"""Right with time of h**2 in a step."""

NO_STEP_SIZE = {
    "autoregression": ("gaussian", "no argument of the step function is a step size"),
    "sgld": ("sgld", "no argument of the step function is a step size"),
    "leapfrog": ("hmc", "no argument of the step function is a step size"),
    "sghmc_unused": ("sghmc", "the step does not use its step size eps"),
}

SMALL = ({"d": 1}, {"d": 2}, {"d": 3})


def functions(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_step_has_its_row() -> None:
    assert functions("right.py") - {"grad_U"} == RIGHT.keys() | PROVED.keys()
    assert functions("wrong.py") - {"gradient"} == WRONG.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_step_holds_at_every_size_looked_at_and_is_not_proved(
    name: str, step_finding: Callable[..., Finding]
) -> None:
    found = step_finding(f"right.py:{name}", RIGHT[name])
    assert isinstance(found.decision, Undecided)
    assert found.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert found.decision.tried[0].startswith("holds at d = 1; d = 2; d = 3")
    assert found.decision.tried[1:] == (TO_PROVE,)
    assert ("step size read as eps = h**2" in found.decision.tried[0]) == (name in SQUARED)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVED)
def test_a_right_step_is_proved_where_the_sizes_are_fixed(name: str, step_finding: Callable[..., Finding]) -> None:
    spec, maps = PROVED[name]
    assert isinstance(step_finding(f"right.py:{name}", spec, maps).decision, Proved)


@pytest.mark.parametrize("name", some(WRONG, 5))
def test_a_wrong_step_is_refuted_at_the_smallest_size_that_shows_it(
    name: str, step_finding: Callable[..., Finding]
) -> None:
    spec, size, why = WRONG[name]
    found = step_finding(f"wrong.py:{name}", spec)
    assert isinstance(found.decision, Refuted)
    assert why in found.decision.by
    assert found.for_d == ((("d", size),) if size else "all")
    assert found.decision.residual
    assert found.decision.witness[-1][1] != "0"


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_STEP_SIZE)
def test_a_step_without_a_step_size_is_not_refuted_for_it(name: str, judged: Callable[..., Report]) -> None:
    spec, why = NO_STEP_SIZE[name]
    findings = judged(f"no_step_size.py:{name}", spec).findings
    assert findings
    for found in findings:
        assert isinstance(found.decision, Undecided)
        assert found.decision.tried[0].startswith(why)
    assert functions("no_step_size.py") == NO_STEP_SIZE.keys()


@pytest.mark.slow
def test_the_step_size_of_the_equation_is_said(judged: Callable[..., Report], read: Callable[..., Lint]) -> None:
    _, same = judged("right.py:langevin_adjusted", "sgld_unit").findings
    assert isinstance(same.decision, Undecided)
    assert "step size read as eps = h**2/2" in same.decision.tried[0]
    assert read("right.py:langevin_adjusted", "sgld_unit").equation.step_size == "step size read as eps = h**2"
    _, wrong = judged("wrong.py:langevin_adjusted_drift", "sgld_unit").findings
    assert isinstance(wrong.decision, Refuted)
    assert dict(wrong.decision.witness).keys() >= {"the drift of theta[0] less that of D and Q"}


@pytest.mark.slow
def test_an_equation_beside_the_recipe_is_said_apart(judged: Callable[..., Report]) -> None:
    _, same = judged("right.py:sgld_loops", "sgld").findings
    assert not same.required
    assert same.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    _, other = judged("right.py:sgld", "sgld").findings
    assert isinstance(other.decision, Refuted)
    assert dict(other.decision.witness).keys() >= {"the drift of theta[0] less that of D and Q"}


@pytest.mark.slow
def test_another_scale_of_eps_is_the_same_equation(judged: Callable[..., Report]) -> None:
    _, same = judged("right.py:leapfrog", "hmc").findings
    assert isinstance(same.decision, Undecided)
    assert "a step eps being one of 2 eps" in same.decision.tried[0]


@pytest.mark.slow
def test_the_equation_is_shown(read: Callable[..., Lint]) -> None:
    found = read("right.py:sgnht", "sgnht").equation
    assert found.sizes == (("d", 2),)
    assert dict(found.drift) == {
        "theta[0]": "r[0]",
        "theta[1]": "r[1]",
        "r[0]": "-r[0]*xi - d_theta[0] U",
        "r[1]": "-r[1]*xi - d_theta[1] U",
        "xi": "r[0]**2/2 + r[1]**2/2 - 1",
    }
    assert dict(found.diffusion) == {"r[0], r[0]": "A", "r[1], r[1]": "A"}
    assert found.bias.startswith("finite steps: their stationary law is off by order eps, by the residual ")


@pytest.mark.slow
def test_what_is_taken_for_given_is_listed(step_finding: Callable[..., Finding]) -> None:
    given = step_finding("right.py:sghmc", "sghmc").decision.given
    assert "grad_U is grad(U, theta)" in given
    assert "M is positive definite" in given
    assert any(line.startswith("the matrix factored at line ") for line in given)
    assert "lr is the step size" in step_finding("right.py:sgld_half", "sgld").decision.given
    own = step_finding("right.py:sgld_own_gradient", "sgld").decision.given
    assert "grad_U is grad(U, theta)" in own


CHANGES = {
    "- 0.3 * eps * p": ("+ 0.3 * eps * p", "", "- 0.31 * eps * p", "- 0.3 * eps * x"),
    "np.sqrt(0.6 * eps)": ("np.sqrt(0.3 * eps)", "0.6 * np.sqrt(eps)", "np.sqrt(0.6) * eps", "np.sqrt(0.6)"),
    "eps * (x - x**3)": ("eps * (x**3 - x)", "eps * x", "2 * eps * (x - x**3)", "(x - x**3)"),
    "x + eps * p": ("x - eps * p", "x + eps", "x + 2 * eps * p", "x + eps * p**2", "x"),
}
STEP = """\
import numpy as np


def step(x, p, eps, rng):
    p = p + eps * (x - x**3) - 0.3 * eps * p + np.sqrt(0.6 * eps) * rng.standard_normal()
    return x + eps * p, p
"""


@pytest.mark.slow
def test_the_step_that_is_changed_is_right(tmp_path: Path, step_finding: Callable[..., Finding]) -> None:
    file = tmp_path / "sampler.py"
    file.write_text(STEP, encoding="utf-8")
    assert isinstance(step_finding(f"{file}:step", "double_well").decision, Proved)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [(old, new) for old, changed in CHANGES.items() for new in changed])
def test_no_changed_step_is_proved(old: str, new: str, tmp_path: Path, step_finding: Callable[..., Finding]) -> None:
    assert STEP.count(old) == 1
    file = tmp_path / "sampler.py"
    file.write_text(STEP.replace(old, new), encoding="utf-8")
    assert not isinstance(step_finding(f"{file}:step", "double_well").decision, Proved)


@pytest.mark.slow
def test_what_jumps_around_a_circle_is_not_proved(step_finding: Callable[..., Finding]) -> None:
    assert isinstance(step_finding("circles.py:goes_round", "torus").decision, Proved)
    found = step_finding("circles.py:piles_up", "torus").decision
    assert isinstance(found, Undecided)
    assert "periodic in x" in found.tried[0]
