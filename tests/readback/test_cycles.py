"""Cycles of moves: every fault planted in the text of a move, of an energy or of the loop is found by reading it back.

As loops over arrays for every size, and as scalars of the sizes that are stated, exactly at a point. The matrices do
not commute, and no mass is one.
"""

import ast
from dataclasses import replace

import pytest
from cycles import CYCLES, VALUES, Text, cycle_build, texts
from some import some

from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.run_loop import check_first_values, check_iteration

LENGTH = "hmc_of_some_steps"
SHAPES = {
    "loops": ("gaussian", "scheduled", "Loops over arrays."),
    "scalars": ("gaussian", "shipped", "Registers: no data and 6 coordinates"),
    "one coordinate": ("double_well", "scheduled", "Registers: no data and 2 coordinates"),
    "rows": ("logistic_regression", "scheduled", "Blocks of rows"),
    "small rows": ("logistic_regression", "shipped", "Small rows"),
    "parts": ("eight_schools", "scheduled", "Small rows"),
}
"""The target and text that have it, and what the text says of its shape."""


def text_of(shape: str, cycle: str) -> Text:
    """Return a text with every statement on one line."""
    target, which, _ = SHAPES[shape]
    found = texts(cycle_build(target, cycle))[which]
    return replace(found, module=replace(found.module, text=ast.unparse(ast.parse(found.module.text))))


def with_change(text: Text, change: tuple[str, str], function: str = "") -> Text:
    """Return a text with the first place of something replaced, in a function and what follows it."""
    old, new = change
    start = text.module.text.index(f"def {function}(") if function else 0
    assert old in text.module.text[start:], old
    changed = text.module.text[:start] + text.module.text[start:].replace(old, new, 1)
    ast.parse(changed)
    return replace(text, module=replace(text.module, text=changed))


@pytest.mark.slow
@pytest.mark.parametrize("cycle", CYCLES)
@pytest.mark.parametrize("target", VALUES)
def test_texts_as_they_are_emitted_have_no_fault(target: str, cycle: str) -> None:
    for text in texts(cycle_build(target, cycle)).values():
        text.read()


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["philox", "numpy"])
@pytest.mark.parametrize("target", ["gaussian", "logistic_regression"])
def test_other_bits_make_the_same_moves(target: str, generator: str) -> None:
    """All that a cycle draws are normals: the length of a trajectory and what it is accepted by, too."""
    change = ("variant: full", f"variant: full\nnoise: {{generator: {generator}}}")
    for text in texts(cycle_build(target, LENGTH, "1/4", change)).values():
        assert text.module.program.bit_generator == generator
        text.read()


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_texts_have_the_shape_that_faults_are_planted_in(shape: str) -> None:
    text = text_of(shape, "hmc")
    assert SHAPES[shape][2] in text.module.kernel.shape
    text.read()


# ruff: noqa: E501
MOVES: dict[str, tuple[str, str, str, str, str, str]] = {
    # fault: the cycle, the place in loops, what stands there then, both in scalars, what is said
    "no flip on refusal": (
        "ghmc", "else -r_drawn[i]", "else r_drawn[i]", "else -r_drawn_1", "else r_drawn_1", "what is left of r",
    ),
    "no kick before the first step": (
        "hmc", "r_at[i] = r_at[i] + eps * (-grad_U_at[i] / 2.0)", "r_at[i] = r_at[i]",
        "r_at_1 = r_at_1 + eps * (-grad_U_at_1 / 2.0)", "r_at_1 = r_at_1", "the r that a step is given",
    ),
    "a kick against the force": (
        "hmc", "r_at[i] = r_at[i] + eps * (-grad_U_at[i] / 2.0)", "r_at[i] = r_at[i] + eps * (grad_U_at[i] / 2.0)",
        "r_at_1 = r_at_1 + eps * (-grad_U_at_1 / 2.0)", "r_at_1 = r_at_1 + eps * (grad_U_at_1 / 2.0)",
        "the r that a step is given",
    ),
    "a whole kick before the first step": (
        "hmc", "r_at[i] + eps * (-grad_U_at[i] / 2.0)", "r_at[i] + eps * (-grad_U_at[i])",
        "r_at_0 + eps * (-grad_U_at_0 / 2.0)", "r_at_0 + eps * (-grad_U_at_0)", "the r that a step is given",
    ),
    "a kick that is not taken back": (
        "hmc", "r_at[i] = r_at[i] - eps * (-grad_U_at[i] / 2.0)", "r_at[i] = r_at[i]",
        "r_at_2 = r_at_2 - eps * (-grad_U_at_2 / 2.0)", "r_at_2 = r_at_2", "the r that H is evaluated at",
    ),
    "a kick taken back by the gradient at the start": (
        "hmc", "r_at[i] - eps * (-grad_U_at[i] / 2.0)", "r_at[i] - eps * (-grad_U[i] / 2.0)",
        "r_at_2 - eps * (-grad_U_at_2 / 2.0)", "r_at_2 - eps * (-grad_U_2 / 2.0)", "the r that H is evaluated at",
    ),
    "a flip of the position": (
        "ghmc", "theta_at[i] if accept else theta[i]", "theta_at[i] if accept else -theta[i]",
        "theta_at_2 if accept else theta_2", "theta_at_2 if accept else -theta_2", "what is left of theta",
    ),
    "a flip of what is taken": (
        "ghmc", "r_at[i] if accept", "-r_at[i] if accept", "r_at_0 if accept", "-r_at_0 if accept", "what is left of r",
    ),
    "the momentum before the refresh on refusal": (
        "ghmc", "else -r_drawn[i]", "else -r[i]", "else -r_drawn_0", "else -r_0", "what is left of r",
    ),
    "refused where it is to be accepted": (
        "hmc", "theta_at[i] if accept else theta[i]", "theta[i] if accept else theta_at[i]",
        "theta_at_1 if accept else theta_1", "theta_1 if accept else theta_at_1", "what is left of theta",
    ),
    "every end is taken": (
        "hmc", "theta_at[i] if accept else theta[i]", "theta_at[i]", "theta_at_0 if accept else theta_0", "theta_at_0",
        "what is left of theta",
    ),
    "the gradient of the end after refusal": (
        "hmc", "grad_U_at[i] if accept else grad_U[i]", "grad_U_at[i]", "grad_U_at_1 if accept else grad_U_1", "grad_U_at_1",
        "what is left of grad_U",
    ),
    "the gradient of the start after acceptance": (
        "hmc", "grad_U_at[i] if accept else grad_U[i]", "grad_U[i]", "grad_U_at_2 if accept else grad_U_2", "grad_U_2",
        "what is left of grad_U",
    ),
    "U of the end after refusal": (
        "hmc", "U_at if accept else U[0]", "U_at", "U_at if accept else U_0", "U_at", "what is left of U",
    ),
    "U of the start after acceptance": (
        "hmc", "U_at if accept else U[0]", "U[0]", "U_at if accept else U_0", "U_0", "what is left of U",
    ),
    "U beside a rest": (
        "hmc", "U_at if accept else U[0]", "U_at + rest_at if accept else U[0]", "U_at if accept else U_0",
        "U_at + rest_at if accept else U_0", "what is left of U",
    ),
    "the sign of the ratio": (
        "hmc", "= U[0] - U_at + rest_start - rest_at", "= U_at - U[0] + rest_at - rest_start",
        "= U_0 - U_at + rest_start - rest_at", "= U_at - U_0 + rest_at - rest_start", "the log of the ratio",
    ),
    "a ratio without kinetic energy": (
        "hmc", " + rest_start - rest_at", "", " + rest_start - rest_at", "", "the log of the ratio",
    ),
    "a ratio without U": ("hmc", "U[0] - U_at + rest", "rest", "U_0 - U_at + rest", "rest", "the log of the ratio"),
    "the energy of the start twice": (
        "hmc", "U[0] - U_at", "U[0] - U[0]", "U_0 - U_at", "U_0 - U_0", "the log of the ratio",
    ),
    "the kinetic energy of the start twice": (
        "hmc", "rest_start - rest_at", "rest_start - rest_start", "rest_start - rest_at", "rest_start - rest_start",
        "the log of the ratio",
    ),
    "twice the temperature": (
        "hmc", "= U[0] - U_at + rest_start - rest_at", "= (U[0] - U_at + rest_start - rest_at) / 2.0",
        "= U_0 - U_at + rest_start - rest_at", "= (U_0 - U_at + rest_start - rest_at) / 2.0", "the log of the ratio",
    ),
    "U at the start": (
        "hmc", "U_at = potential(theta_at, ", "U_at = potential(theta, ", "U_at = potential(theta_at_0, ",
        "U_at = potential(theta_0, ", "the theta that H is evaluated at",
    ),
    "the kinetic energy of the old momentum": (
        "ghmc", "rest_start = rest(r_drawn, ", "rest_start = rest(r, ", "rest_start = rest(r_drawn_0, ",
        "rest_start = rest(r_0, ", "the r that H is evaluated at",
    ),
    "the kinetic energy of the start in place of that of the end": (
        "hmc", "rest_at = rest(r_at, ", "rest_at = rest(r_drawn, ", "rest_at = rest(r_at_0, r_at_1",
        "rest_at = rest(r_at_0, r_drawn_1", "the r that H is evaluated at",
    ),
    "another matrix in the kinetic energy": (
        "hmc", "rest_at = rest(r_at, inv_M", "rest_at = rest(r_at, inv_Sigma", "rest_at = rest(r_at_0, r_at_1, r_at_2, inv_M",
        "rest_at = rest(r_at_0, r_at_1, r_at_2, inv_Sigma", "another inv_M than its own",
    ),
    "one normal decides twice": (
        "hmc", "noise_accept[0], noise_accept[1]", "noise_accept[0], noise_accept[0]", "(log_ratio, noise_accept_0, noise_accept_1)",
        "(log_ratio, noise_accept_0, noise_accept_0)", "not two normals of its own",
    ),
    "the noise of the refresh decides": (
        "hmc", "log_ratio, noise_accept[0], noise_accept[1]", "log_ratio, noise_r[0], noise_accept[1]",
        "(log_ratio, noise_accept_0, noise_accept_1)", "(log_ratio, noise_r_0, noise_r_1)", "not two normals of its own",
    ),
    "the noise of the length decides": (
        LENGTH, "log_ratio, noise_accept[0], noise_accept[1]", "log_ratio, noise_length[0], noise_length[1]",
        "(log_ratio, noise_accept_0, noise_accept_1)", "(log_ratio, noise_length_0, noise_length_1)", "noise_length twice",
    ),
    "half of a refresh": (
        "hmc", "r_drawn[i] = L_r_noise_r[i]", "r_drawn[i] = L_r_noise_r[i] / 2.0", "r_drawn_1 = L_r_noise_r_1",
        "r_drawn_1 = L_r_noise_r_1 / 2.0", "the covariance of r",
    ),
    "a refresh of M over 2": (
        "hmc", "two_D_r[i, j] = M[i, j]", "two_D_r[i, j] = M[i, j] / 2.0", "two_D_r[i, j] = M[i, j]",
        "two_D_r[i, j] = M[i, j] / 2.0", "the covariance of r",
    ),
    "a refresh of inv(M)": (
        "hmc", "two_D_r[i, j] = M[i, j]", "two_D_r[i, j] = inv_M[i, j]", "two_D_r[i, j] = M[i, j]",
        "two_D_r[i, j] = inv_M[i, j]", "the covariance of r",
    ),
    "a refresh in the time eps": (
        "hmc", "_noise_factor([[two_D_r]], None, 1.0,", "_noise_factor([[two_D_r]], None, eps,",
        "_noise_factor([[two_D_r]], None, 1.0,", "_noise_factor([[two_D_r]], None, eps,", "the covariance of r",
    ),
    "a factor turned": (
        "hmc", "L_r[i, j] * noise_r[j]", "L_r[j, i] * noise_r[j]", "L_r[1, 0] * noise_r_0", "L_r[0, 1] * noise_r_0",
        "a factor of its noise",
    ),
    "more is kept": (
        "ghmc", "0.9 * r[i]", "0.99 * r[i]", "0.9 * r_2", "0.99 * r_2", "what is kept of r",
    ),
    "nothing is kept": ("ghmc", "0.9 * r[i] + ", "", "0.9 * r_0 + ", "", "what is kept of r"),
    "the position is kept of the momentum": (
        "ghmc", "0.9 * r[i]", "0.9 * theta[i]", "0.9 * r_0", "0.9 * theta_0", "what is kept of r",
    ),
    "as much is drawn as if nothing were kept": (
        "ghmc", "0.19 * M[i, j]", "M[i, j]", "0.19 * M[i, j]", "M[i, j]", "the covariance of r",
    ),
    "less is drawn the second time": (
        "between", "r_next_drawn[i] = r_next[i] / 3.0", "r_next_drawn[i] = r_next[i] / 4.0",
        "r_next_drawn_0 = r_next_0 / 3.0", "r_next_drawn_0 = r_next_0 / 4.0", "what is kept of r",
    ),
    "the first draw the second time": (
        "between", "* noise_r_2[j]", "* noise_r[j]", "* noise_r_2_0", "* noise_r_0", "what is kept of r",
    ),
    "a start at the old momentum": (
        "ghmc", "r_at[i] = r_drawn[i]", "r_at[i] = r[i]", "r_at_1 = r_drawn_1", "r_at_1 = r_1", "the r that a step is given",
    ),
    "a start that is not begun": (
        "hmc", "    for i in range(d):\n        theta_at[i] = theta[i]\n", "", "theta_at_0 = theta_0", "theta_at_0 = theta_1", "the theta that a step is given",
    ),
    "a start at another gradient": (
        "hmc", "grad_U_at[i] = grad_U[i]", "grad_U_at[i] = r[i]", "grad_U_at_0 = grad_U_0", "grad_U_at_0 = r_0",
        "the r that a step is given",
    ),
    "the first gradient at every step": (
        "hmc", "            grad_U_at[i] = grad_U_new[i]", "            grad_U_at[i] = grad_U[i]",
        "        grad_U_at_1 = grad_U_new_1", "        grad_U_at_1 = grad_U_1", "the r that H is evaluated at",
    ),
    "a position that stays": (
        "hmc", "            theta_at[i] = theta_new[i]", "            theta_at[i] = theta[i]",
        "        theta_at_2 = theta_new_2", "        theta_at_2 = theta_2", "the theta that a step is given",
    ),
    "a step too few": ("hmc", "range(10)", "range(9)", "range(10)", "range(9)", "takes 9 steps in a trajectory of 10"),
    "a step too many": ("hmc", "range(10)", "range(11)", "range(10)", "range(11)", "takes 11 steps in a trajectory of 10"),
    "a length from 0 on": (
        LENGTH, "_uniform_integer(1, 20,", "_uniform_integer(0, 20,", "_uniform_integer(1, 20,", "_uniform_integer(0, 20,",
        "another length",
    ),
    "a length to 21": (
        LENGTH, "_uniform_integer(1, 20,", "_uniform_integer(1, 21,", "_uniform_integer(1, 20,", "_uniform_integer(1, 21,",
        "another length",
    ),
    "a length that is not the one drawn": (
        LENGTH, "range(length)", "range(20)", "range(length)", "range(20)", "takes 20 steps",
    ),
    "the length by the noise of the refresh": (
        LENGTH, "1, 20, noise_length[0], noise_length[1]", "1, 20, noise_r[0], noise_length[1]",
        "1, 20, noise_length_0, noise_length_1", "1, 20, noise_r_0, noise_r_1", "not two normals of its own",
    ),
    "another probability": (
        "hmc", "accept, acceptance[0] = ", "acceptance[0], accept = ", "accept, acceptance_0 = ", "acceptance_0, accept = ", "what is left of theta",
    ),
    "the end of nothing": (
        "steps", "r_next[i] = r_at[i]", "r_next[i] = r[i]", "r_next_0 = r_at_0", "r_next_0 = r_0", "r after a trajectory",
    ),
    "kinetic energy without a half": (
        "hmc", "energy = r_inv_M_r_2 / 2.0", "energy = r_inv_M_r_2", "energy = r_inv_M_r / 2.0", "energy = r_inv_M_r", "H - U",
    ),
    "kinetic energy of part of the momentum": (
        "hmc", "inv_M[i, j] * r[j]", "inv_M[i, i] * r[i]", "inv_M[0, 2] * r_2", "inv_M[0, 1] * r_2", "H - U",
    ),
    "U without a half": (
        "hmc", "U_value = difference_inv_Sigma_difference_2 / 2.0", "U_value = difference_inv_Sigma_difference_2",
        "U_value = difference_inv_Sigma_difference_2 / 2.0", "U_value = difference_inv_Sigma_difference_2", "in U",
    ),
    "a move that is due at other times": (
        "every", "_is_due(cycles[0], 3)", "_is_due(cycles[0], 2)", "_is_due(cycles_0, 3)", "_is_due(cycles_0, 2)", "r",
    ),
    "moves at each other's times": (
        "every", "due_3 = _is_due(cycles[0], 3)", "due_3 = _is_due(cycles[0], 3) if 1.0 == 2.0 else _is_due(cycles[0], 2)",
        "if due_3:", "if due_2:", "r",
    ),
    "the count of another cycle": (
        "every", "_is_due(cycles[0], 2)", "_is_due(U[0], 2)", "_is_due(cycles_0, 2)", "_is_due(U_0, 2)", "another count than its own",
    ),
    "cycles that are not counted": (
        "every", "cycles_next[0] = cycles[0] + 1.0", "cycles_next[0] = cycles[0]", "cycles_next_0 = cycles_0 + 1.0", "cycles_next_0 = cycles_0",
        "the number of cycles",
    ),
    "cycles counted twice": (
        "every", "cycles_next[0] = cycles[0] + 1.0", "cycles_next[0] = cycles[0] + 2.0", "cycles_next_0 = cycles_0 + 1.0", "cycles_next_0 = cycles_0 + 2.0",
        "the number of cycles",
    ),
    "another sign where a move is not due": (
        "every", "    r_next_drawn[i] = r_next[i]", "    r_next_drawn[i] = -r_next[i]", "    r_next_drawn_1 = r_next_1", "    r_next_drawn_1 = -r_next_1", "r, which is not due",
    ),
    "what was before where a move is not due": (
        "every", "    r_drawn[i] = r[i]\n", "    r_drawn[i] = r[0]\n", "    r_drawn_1 = r_1\n", "    r_drawn_1 = r_0\n", "r, which is not due",
    ),
    "a word that is due at other times": (
        "every_word", "_is_due(cycles[0], 3)", "_is_due(cycles[0], 6)", "_is_due(cycles_0, 3)", "_is_due(cycles_0, 6)", "a move in each cycle of 6, which none",
    ),
    "another end where no word is due": (
        "every_word", "        theta_next[i] = theta[i]", "        theta_next[i] = -theta[i]", "        theta_next_1 = theta_1\n", "        theta_next_1 = theta_0\n",
        "theta, not due",
    ),
    "another U where no word is due": (
        "every_word", "        U_next[0] = U[0]", "        U_next[0] = 2.0 * U[0]", "        U_next_0 = U_0\n", "        U_next_0 = 2.0 * U_0\n", "U, not due",
    ),
    "an acceptance of no move": (
        "every_word", "        acceptance[0] = 0.0", "        acceptance[0] = 1.0", "        acceptance_0 = 0.0", "        acceptance_0 = 1.0", "acceptance of no move",
    ),
    "a move that is not counted": (
        "every_word", "        tried[0] = 1.0", "        tried[0] = 0.0", "        tried_0 = 1.0", "        tried_0 = 0.0", "how many moves were tried",
    ),
    "a count of no move": (
        "every_word", "        tried[0] = 0.0", "        tried[0] = 1.0", "        tried_0 = 0.0", "        tried_0 = 1.0", "tried of no move",
    ),
    "steps that are due at other times": (
        "every_steps", "_is_due(cycles[0], 2)", "_is_due(cycles[0], 4)", "_is_due(cycles_0, 2)", "_is_due(cycles_0, 4)", "a move in each cycle of 4, which none",
    ),
    "U with another mean": (
        "hmc", "(mu[i] - theta[i]) * inv_Sigma_difference_2[i]", "mu[i] * inv_Sigma_difference_2[i]",
        "part_3 * inv_Sigma_difference_2_2", "part_2 * inv_Sigma_difference_2_2", "in U",
    ),
}  # fmt: skip
RUN: dict[str, tuple[str, str, str, str, str]] = {
    # fault: the place in loops, what stands there then, both in scalars, what is said
    "the old U for the next move": (
        "U[entry] = U_next[entry]", "U[entry] = U[entry]", "grad_U_2, U_0, acceptance_0 = cycle(", "grad_U_2, _, acceptance_0 = cycle(",
        "what a step made of U",
    ),
    "the count of the move before": (
        "cycles[entry] = cycles_next[entry]", "cycles[entry] = cycles[entry]", "U_0, cycles_0, acceptance_0 = cycle(", "U_0, _, acceptance_0 = cycle(",
        "what a step made of cycles",
    ),
    "the old gradient for the next move": (
        "grad_U[entry] = grad_U_next[entry]", "grad_U[entry] = theta_next[entry]", "grad_U_1, grad_U_2, U_0, acceptance_0 = cycle(",
        "grad_U_2, grad_U_1, U_0, acceptance_0 = cycle(", "what a step made of grad_U",
    ),
    "acceptance of the last move alone": (
        "acceptance_sum += acceptance[0]", "acceptance_sum = acceptance[0]", "acceptance_sum += acceptance_0",
        "acceptance_sum = acceptance_0", "does not add up its acceptance",
    ),
    "acceptance that is not summed": (
        "            acceptance_sum += acceptance[0]\n", "", "            acceptance_sum += acceptance_0\n", "",
        "does not add up its acceptance",
    ),
    "the noise of the refresh to decide by": (
        "_fill_normals(noise_state, noise_accept)", "_fill_normals(noise_state, noise_r)",
        "noise_accept_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)", "noise_accept_0 = noise_r_0", "a normal twice",
    ),
    "one normal to decide by": (
        "            _fill_normals(noise_state, noise_accept)\n", "",
        "noise_accept_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)", "noise_accept_1 = noise_accept_0", "a normal twice",
    ),
    "the state before the move": (
        "theta[entry] = theta_next[entry]", "theta[entry] = theta[entry]", "theta_0, theta_1, theta_2, r_0, r_1, r_2, grad_U_0, grad_U_1, grad_U_2, U_0, acceptance_0 = cycle(",
        "theta_0, theta_2, theta_1, r_0, r_1, r_2, grad_U_0, grad_U_1, grad_U_2, U_0, acceptance_0 = cycle(", "what a step made of theta",
    ),
}  # fmt: skip
FIRST: dict[str, tuple[str, str, str, str, str]] = {
    # fault: the place in loops, what stands there then, both in scalars, what is said
    "U of another state at the start": (
        "U[0] = potential(theta, ", "U[0] = potential(r, ", "U_0 = potential(theta_0, theta_1", "U_0 = potential(theta_1, theta_0",
        "the first U at another theta",
    ),
    "no U at the start": (
        "    U[0] = potential(theta, mu, inv_Sigma, inv_Sigma_difference_2)\n", "",
        "    U_0 = potential(theta_0, theta_1, theta_2, mu, inv_Sigma)\n", "    U_0 = 0.0\n", "does not write the first U",
    ),
    "a chain that begins late": (
        "    cycles[0] = 0.0\n", "    cycles[0] = 1.0\n", "    cycles_0 = 0.0\n", "    cycles_0 = 1.0\n", "does not write the first cycles",
    ),
    "a gradient of the momentum at the start": (
        "    gradient(grad_U, theta, ", "    gradient(grad_U, r, ", "= gradient(theta_0, theta_1, ", "= gradient(theta_1, theta_0, ",
        "the first gradient at another theta",
    ),
    "no gradient at the start": (
        "    gradient(grad_U, theta, mu, inv_Sigma, inv_Sigma_difference)\n", "",
        "    grad_U_0, grad_U_1, grad_U_2 = gradient(theta_0, theta_1, theta_2, mu, inv_Sigma)\n",
        "    grad_U_0, grad_U_1, grad_U_2 = (theta_0, theta_1, theta_2)\n", "the first gradient once",
    ),
    "gradients that are not their own": (
        "    gradient(grad_U, theta, mu, inv_Sigma, inv_Sigma_difference)\n",
        "    gradient(grad_U, theta, mu, inv_Sigma, inv_Sigma_difference)\n    grad_U[1] = grad_U[2]\n",
        "    grad_U[1] = grad_U_1\n", "    grad_U[1] = grad_U_2\n", "does not write the first grad_U",
    ),
}  # fmt: skip
IN_ROWS: dict[str, tuple[str, str, str, str, str]] = {
    # fault: the shape, the place, what stands there, what is said, the cycle
    "the prior left out": (
        "rows", "theta_theta / (2.0 * prior_variance) + U_value", "U_value", "in U", "hmc",
    ),
    "the prior left out of small rows": (
        "small rows", "log_of_constants + theta_theta / (2.0 * prior_variance)\n", "log_of_constants\n", "in U", "hmc",
    ),
    "a prior of twice its variance": ("rows", "theta_theta / (2.0 * prior_variance)", "theta_theta / (4.0 * prior_variance)", "in U", "hmc"),
    "a datum left out": ("rows", "    for row in range(N):\n        weight_2", "    for row in range(N - 1):\n        weight_2", "in U", "hmc"),
    "data counted N/(N - 1)": ("rows", "U_value += weight_2", "U_value += weight_2 * N / (N - 1)", "in U", "hmc"),
    "data counted N/(N - 1) in small rows": ("small rows", "U_value += weight_2", "U_value += weight_2 * N / (N - 1)", "in U", "hmc"),
    "the other sign of a label": ("small rows", "weight_2 = -y[row] * x_theta_2", "weight_2 = y[row] * x_theta_2", "in U", "hmc"),
    "a feature for another": ("small rows", "x_theta_2 = x[row, 0] * theta[0] + x[row, 1] * theta[1]", "x_theta_2 = x[row, 1] * theta[0] + x[row, 0] * theta[1]", "in U", "hmc"),
    "a mass that is one": ("small rows", "energy = r_r / (2.0 * m)", "energy = r_r / 2.0", "H - U", "hmc"),
    "a refresh of variance one": ("rows", "_noise_scale(m, 0.0, 1.0, 'r')", "_noise_scale(1.0, 0.0, 1.0, 'r')", "the covariance of r", "hmc"),
    "a refresh of 1/m": ("small rows", "_noise_scale(m, 0.0, 1.0, 'r')", "_noise_scale(1.0 / m, 0.0, 1.0, 'r')", "the covariance of r", "hmc"),
    "the data of another field": ("rows", "U_at = potential(theta_at, prior_variance, x, y,", "U_at = potential(theta_at, prior_variance, x, x,", "another y than its own", "hmc"),
    "the rows in another order": ("small rows", "U_at = potential(theta_at, prior_variance, x, y", "U_at = potential(theta_at, prior_variance, x, y[::-1]", "cannot be read back", "hmc"),
    "a Jacobian left out": ("parts", " - theta[1] + theta[0] * theta[0]", " + theta[0] * theta[0]", "in U", "hmc"),
    "a prior of another part": ("parts", "eta_eta = theta[2] * theta[2]", "eta_eta = theta[1] * theta[1]", "in U", "hmc"),
    "a part for another": ("parts", "part = y[row] - theta[0]", "part = y[row] - theta[1]", "in U", "hmc"),
    "no flip of one coordinate": ("one coordinate", "else -r_drawn_0", "else r_drawn_0", "what is left of r", "ghmc"),
    "no share kept of one coordinate": ("one coordinate", "0.9 * r_0", "r_0", "what is kept of r", "ghmc"),
    "a well that is flatter": ("one coordinate", "U_value = theta_0_squared * (-2.0 + theta_0_squared)", "U_value = theta_0_squared * (-1.0 + theta_0_squared)", "in U", "ghmc"),
    "the old momentum squared": ("one coordinate", "rest_at = rest(r_at_0, m)", "rest_at = rest(r_0, m)", "the r that H is evaluated at", "ghmc"),
}  # fmt: skip
BOTH = (("loops", 0), ("scalars", 2))
FAULTS = {
    **{
        (fault, shape): (shape, own[0], *own[k + 1 : k + 3], own[5])
        for fault, own in MOVES.items()
        for shape, k in BOTH
    },
    **{(fault, own[0]): (own[0], own[4], *own[1:4]) for fault, own in IN_ROWS.items()},
}


@pytest.mark.parametrize(("fault", "shape"), some(FAULTS, 3))
def test_a_fault_is_found_and_named(fault: str, shape: str) -> None:
    own, cycle, old, new, says = FAULTS[fault, shape]
    text = with_change(text_of(own, cycle), (old, new))
    with pytest.raises(CompilerError) as raised:
        text.read()
    assert says in str(raised.value)


@pytest.mark.parametrize("shape", [shape for shape, _ in BOTH])
@pytest.mark.parametrize("fault", [*RUN, *FIRST])
def test_a_fault_of_the_loop_is_found_and_named(fault: str, shape: str) -> None:
    *places, says = {**RUN, **FIRST}[fault]
    read, function = (check_iteration, "run") if fault in RUN else (check_first_values, "first_values")
    first = dict(BOTH)[shape]
    text, sizes = text_of(shape, "every" if "cycles" in places[first] else "hmc"), {"d": 3}
    read(text.module, sizes)
    with pytest.raises(CompilerError) as raised:
        read(with_change(text, (places[first], places[first + 1]), function).module, sizes)
    assert says in str(raised.value)


def test_the_lists_of_faults_do_not_shrink() -> None:
    """What a change of the emitter makes obsolete is to be planted anew, in what it emits then."""
    assert len(MOVES) >= 59
    assert len(RUN) >= 8
    assert len(FIRST) >= 6
    assert len(IN_ROWS) >= 20
    every = [*FAULTS.values(), *((fault, *own) for fault, own in (*RUN.items(), *FIRST.items()))]
    assert len(set(every)) == len(every)
    assert all(old != new for _, _, old, new, _ in FAULTS.values())
