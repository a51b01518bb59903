"""Guards of moves whose steps are solved for: a move that is not tried, or told otherwise than it is, is found."""

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from cycles import Text, texts
from loaders import load_build

from recipe_compiler.errors import CompilerError

FUNNEL = Path(__file__).parents[1] / "shared/guarded_funnel.yaml"
FAULTS = {
    # fault: what stands there, what then does, what is said
    "the way back of one coordinate": ("gap += abs(theta_1 - theta_back_1)", "gap += 0.0", "how far theta is"),
    "a sign of the way back": ("abs(theta_0 - theta_back_0)", "abs(theta_0 + theta_back_0)", "how far theta is"),
    "a momentum that is not turned": ("abs(r_drawn_0 + r_back_0)", "abs(r_drawn_0 - r_back_0)", "how far r is"),
    "the size of another block": ("extent += abs(r_drawn_2) + abs(r_at_2)", "extent += abs(r_drawn_2)", "how far r is"),
    "a way back from the start": ("theta_back_0 = theta_at_0", "theta_back_0 = theta_0", "theta that a step is given"),
    "guards told by one ratio": ("_guards(led, log_ratio)", "_guards(led, led)", "what its guards are told by"),
    "guards told by the last ratio": ("_guards(led, log_ratio)", "_guards(log_ratio, log_ratio)", "are told by"),
    "guards told before the way back": ("led = log_ratio", "led = U_0", "what its guards are told by"),
    "one guard for the other": ("unsolved_0 = lost", "unsolved_0 = one_way", "what its guards tell"),
    "a guard that tells nothing": ("irreversible_0 = one_way", "irreversible_0 = 0.0", "what its guards tell"),
    "a guard that is not added up": ("unsolved_sum += unsolved_0", "unsolved_sum += irreversible_0", "up its unsolved"),
    "the other sum": ("irreversible_sum += irreversible_0", "unsolved_sum += irreversible_0", "add up its"),
    "a sum that begins at one": ("irreversible_sum = 0.0", "irreversible_sum = 1.0", "begin to add up irreversible"),
}  # fmt: skip


@cache
def funnel() -> Text:
    """Return the text that is shipped, every statement on one line."""
    found = texts(load_build(FUNNEL))["shipped"]
    return replace(found, module=replace(found.module, text=ast.unparse(ast.parse(found.module.text))))


@pytest.mark.slow
def test_the_text_as_it_is_emitted_has_no_fault() -> None:
    funnel().read()


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    text = funnel()
    old, new, says = FAULTS[fault]
    assert old in text.module.text
    with pytest.raises(CompilerError) as raised:
        text.read(replace(text.module, text=text.module.text.replace(old, new, 1)))
    assert says in str(raised.value)
