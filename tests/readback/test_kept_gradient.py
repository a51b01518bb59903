"""Faults in the text of a word with minibatches, of the gradient that one step leaves for the next: each is found."""

from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.readback.readback import check_shipped

BUILD = Path(__file__).parents[2] / "specs/builds/sghmc_gaussian_mean_baoab.yaml"
DRAW = "            _shuffle_indices(batch_state, permutation, batch)\n"
GRADIENT = "gradient(grad_U_tilde, theta, prior_variance, inv_Sigma, x, batch, x_batch_0_1)\n"
FIRST = DRAW[8:]
B_HAT = """                eps**2 * change_O_V_change_O[j, i] / 4.0
                + eps * V_change_O[i, j] / 2.0
                + eps * V_change_O[j, i] / 2.0
                + V[i, j]
"""
FAULTS = {
    "a new minibatch in the second half kick": (DRAW, f"{DRAW}            {GRADIENT}{DRAW}"),
    "the gradient anew of the same minibatch": (DRAW, f"{DRAW}            {GRADIENT}"),
    "two minibatches for one step": (DRAW, f"{DRAW}{DRAW}"),
    "no minibatch": (DRAW, ""),
    "the gradient is not passed on": (
        "grad_U_tilde[entry] = grad_U_tilde_new[entry]", "grad_U_tilde[entry] = grad_U_tilde[entry]",
    ),
    "the momentum passed on for it": (
        "grad_U_tilde[entry] = grad_U_tilde_new[entry]", "grad_U_tilde[entry] = r_new[entry]",
    ),
    "the old gradient in the second half kick": (
        "r_v2[i] + step_factor * grad_U_tilde_new[i]", "r_v2[i] + step_factor * grad_U_tilde[i]",
    ),
    "the new one in the first": ("r[i] + step_factor * grad_U_tilde[i]", "r[i] + step_factor * grad_U_tilde_new[i]"),
    "a gradient at the old position": (
        "gradient(grad_U_tilde_new, theta_new, ", "gradient(grad_U_tilde_new, theta, ",
    ),
    "a first gradient at the momentum": (f"    {GRADIENT}", f"    {GRADIENT.replace('theta', 'r')}"),
    "a first gradient of no minibatch": (FIRST + "    gradient", "    gradient"),
    "no first gradient": (f"    {GRADIENT}", ""),
    "O gives up eps^2 V": (B_HAT, "                V[i, j]\n"),
    "a lost factor 1/4": (B_HAT, B_HAT.replace("/ 4.0", "").replace("/ 2.0", "* 2.0").replace("V[i", "4.0 * V[i")),
    "less of E": ("eps**2 * change_O_V_change_O[j, i] / 4.0", "eps**2 * change_O_V_change_O[j, i] / 8.0"),
    "another matrix given up": ("[[B_hat_r]], eps", "[[two_D_r_2]], eps"),
}  # fmt: skip


@pytest.fixture(scope="module")
def module() -> Module:
    return compile_build(load_build(BUILD))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(module: Module, fault: str) -> None:
    right, wrong = FAULTS[fault]
    assert right in module.text
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(right, wrong, 1)), {"d": 2})


def test_the_text_as_it_is_has_none(module: Module) -> None:
    check_shipped(module, {"d": 2})
