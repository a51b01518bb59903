"""Involutions: every fault planted in what is drawn, mapped, evaluated or chosen is found by reading the text back."""

import ast
from dataclasses import replace

import pytest
from cycles import OF_MATRICES, SCALED, WALK, Text, cycle_build, texts

from recipe_compiler.errors import CompilerError

# ruff: noqa: E501
BOTH = f"[{SCALED}, {WALK}, {{refresh: r}}]"
SOME = f"[{SCALED[:-1]}, every: 2}}, {WALK[:-1]}, every: 3}}, {{refresh: r}}]"
FAULTS = {
    # fault: the cycle, what stands there, what is there then, what is said
    "a Jacobian that is forgotten": (BOTH, " + 3.0 * w_drawn[0]", "", "the ratio that an involution is accepted by"),
    "a Jacobian of the wrong power": (BOTH, "3.0 * w_drawn[0]", "2.0 * w_drawn[0]", "the ratio that an involution"),
    "a law of w that is forgotten": (BOTH, " - 16.0 / 9.0 * w_drawn[0]", "", "the ratio that an involution"),
    "the law of another mean": (BOTH, "w_drawn[0] = 0.5 +", "w_drawn[0] = 0.25 +", "the mean of w_drawn, entry 0"),
    "a draw of another width": (BOTH, "_noise_scale(0.5625,", "_noise_scale(0.75,", "covariance of w_drawn[0]"),
    "the other way": (BOTH, "_exp(w_drawn[0])", "_exp(-w_drawn[0])", "what theta becomes, entry 0"),
    "one entry for all": (BOTH, "theta_image[i] = theta[i] * exp", "theta_image[i] = theta[0] * exp", "what theta becomes"),
    "U where it began, twice": (BOTH, "U_image = potential(theta_image,", "U_image = potential(theta,", "that H is evaluated at"),
    "another sign of U": (BOTH, "U_start - U_image", "U_image - U_start", "the ratio that an involution"),
    "what is proposed, whatever it is": (BOTH, "theta_image[i] if accept else theta[i]", "theta_image[i]", "what is left of theta"),
    "the old one of two moves before": (
        BOTH, "theta_mapped_image[i] if accept else theta_mapped[i]", "theta_mapped_image[i] if accept else theta[i]",
        "what is left of theta",
    ),
    "the flag of the move before": (
        BOTH, "accept, probability_2 = _accepted", "_, probability_2 = _accepted", "what is left of theta",
    ),
    "the uniform number of the move before": (
        BOTH, "_accepted(log_ratio, noise_accept_2[0]", "_accepted(log_ratio, noise_accept[0]", "two normals of its own",
    ),
    "the acceptance of the first alone": (BOTH, " + probability_2 / 2.0", "", "the acceptance of involutions"),
    "a mean of the state that is not in the ratio": (OF_MATRICES, "+ 0.4375 * w_drawn_inv_M_theta", "", "the ratio that"),
    "a factor that is transposed": (
        OF_MATRICES, "total += L_w_drawn[i, j] * noise_w_drawn[j]", "total += L_w_drawn[j, i] * noise_w_drawn[j]",
        "another way than L @ noise",
    ),
    "a block that is not turned": (OF_MATRICES, "r_image[i] = -r[i]", "r_image[i] = r[i]", "what r becomes"),
    "H - U of another momentum": (OF_MATRICES, "rest_image = rest(r_image,", "rest_image = rest(r,", "the r that H is evaluated"),
    "a move that is not due moves": (SOME, "theta_mapped[i] = theta[i]\n", "theta_mapped[i] = -theta[i]\n", "theta, which is not due"),
    "a move of another cycle": (SOME, "_is_due(cycles[0], 3)", "_is_due(cycles[0], 6)", "does a move in each cycle of 6"),
    "one that is due where another is": (SOME, "if due_2:", "if due_3:", "does not draw what a move that is due draws"),
    "a count of those that were not": (SOME, "involutions_tried[0] = 0.0", "involutions_tried[0] = 1.0", "the involutions that are due, and their number"),
    "a count that forgets one": (SOME, "        involutions_tried[0] += 1.0\n", "", "the involutions that are due, and their number"),
    "a probability of none": (SOME, "        probability = 0.0\n", "        probability = 1.0\n", "the involutions that are due, and their number"),
    "a mean for a sum": (SOME, "= probability + probability_2", "= probability / 2.0 + probability_2 / 2.0", "the involutions that are due, and their number"),
    "a trajectory from where it was before": (
        OF_MATRICES, "theta_at[i] = theta_mapped_mapped[i]", "theta_at[i] = theta_mapped[i]", "theta that a step is given",
    ),
}  # fmt: skip


def text_of(cycle: str) -> Text:
    """Return a text with every statement on one line."""
    found = texts(cycle_build("gaussian", cycle))["shipped"]
    return replace(found, module=replace(found.module, text=ast.unparse(ast.parse(found.module.text))))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_named(fault: str) -> None:
    cycle, old, new, says = FAULTS[fault]
    text = text_of(cycle)
    assert old in text.module.text, old
    changed = replace(text, module=replace(text.module, text=text.module.text.replace(old, new, 1)))
    with pytest.raises(CompilerError) as raised:
        changed.read()
    assert says in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("cycle", [BOTH, OF_MATRICES, SOME])
def test_texts_as_they_are_emitted_have_no_fault(cycle: str) -> None:
    for text in texts(cycle_build("gaussian", cycle)).values():
        text.read()
