"""Calls of code: every fault planted in what it is given, and in what is made of it, is found by reading the text back."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from code_moves import HMC, code, coded_build
from cycles import Text, texts
from some import some

from recipe_compiler.errors import CompilerError

# ruff: noqa: E501
BOTH = f"{code('turn')}, refresh: r, {code('along', 'reads: r')}"
EVERY = f"refresh: r, {code('along', 'reads: r', 'every: 2')}"
TWO = f"{code('along', changes='[theta, r]')}, {HMC}"
FAULTS = {
    # fault: the cycle, what stands there, what is there then, what is said
    "the block itself": (BOTH, "move_turn(theta_turn,", "move_turn(theta,", "the theta that my_moves.py:turn is given"),
    "no copy": (BOTH, "theta_turn[i] = theta[i]", "theta_turn[i] = 0.0", "the theta that my_moves.py:turn is given"),
    "the copy of another": (BOTH, "theta_turn_along[i] = theta_turn[i]", "theta_turn_along[i] = theta[i]", "the theta that my_moves.py:along is given"),
    "a momentum of before": (BOTH, "r_drawn_along[i] = r_drawn[i]", "r_drawn_along[i] = r[i]", "the r that my_moves.py:along is given"),
    "the momentum itself": (BOTH, "move_along(theta_turn_along, r_drawn_along,", "move_along(theta_turn_along, r_drawn,", "what is kept of r"),
    "parameters in another order": (BOTH, "move_turn(theta_turn, mu, Sigma,", "move_turn(theta_turn, Sigma, mu,", "gives my_moves.py:turn another mu than its own"),
    "the chain's own stream": (BOTH, "Sigma, stream_turn)", "Sigma, noise_state)", "does not give my_moves.py:turn its stream"),
    "the stream of another": (BOTH, "Sigma, stream_along)", "Sigma, stream_turn)", "does not give my_moves.py:along its stream"),
    "a stream for two": (BOTH, "    stream_along = _own_stream(noise_state)\n", "", "reads stream_along, which nothing defines"),
    "a stream of no stream": (BOTH, "_own_stream(noise_state)", "_own_stream(noise_r)", "of another than the chain's own"),
    "another function": (BOTH, "move_along(theta_turn_along, r_drawn_along,", "move_turn(theta_turn_along,", "calls move_turn, expected move_along"),
    "code that is called twice": (EVERY, "        move_along(theta_along, r_drawn_along, mu, Sigma, stream_along)\n", "        move_along(theta_along, r_drawn_along, mu, Sigma, stream_along)\n        move_along(theta_along, r_drawn_along, mu, Sigma, stream_along)\n", "what my_moves.py:along leaves of theta"),
    "code that is not called": (BOTH, "    move_turn(theta_turn, mu, Sigma, stream_turn)\n", "", "calls move_along, expected move_turn"),
    "a block that is not left when it is not due": (EVERY, "theta_along[i] = theta[i]", "theta_along[i] = -theta[i]", "theta"),
    "a schedule of every cycle": (EVERY, "_is_due(cycles[0], 2)", "_is_due(cycles[0], 1)", "does a move in each cycle of 1"),
    "blocks that are exchanged": (TWO, "move_along(theta_along, r_along,", "move_along(r_along, theta_along,", "the theta that my_moves.py:along is given"),
    "a word from before it": (TWO, "theta_at[i] = theta_along[i]", "theta_at[i] = theta[i]", "theta that a step is given"),
}  # fmt: skip


def text_of(folder: Path, cycle: str) -> Text:
    """Return a text with every statement on one line."""
    found = texts(coded_build(folder, cycle))["shipped"]
    return replace(found, module=replace(found.module, text=ast.unparse(ast.parse(found.module.text))))


@pytest.mark.parametrize("fault", some(FAULTS, 2))
def test_a_fault_is_found_and_named(tmp_path: Path, fault: str) -> None:
    cycle, old, new, says = FAULTS[fault]
    text = text_of(tmp_path, cycle)
    assert old in text.module.text, old
    changed = replace(text, module=replace(text.module, text=text.module.text.replace(old, new, 1)))
    with pytest.raises(CompilerError) as raised:
        changed.read()
    assert says in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("cycle", [BOTH, EVERY, TWO])
def test_texts_as_they_are_emitted_have_no_fault(tmp_path: Path, cycle: str) -> None:
    for text in texts(coded_build(tmp_path, cycle)).values():
        text.read()


@pytest.mark.slow
def test_of_data_too(tmp_path: Path) -> None:
    for text in texts(coded_build(tmp_path, f"refresh: r, {code('one_of')}", target="logistic_regression")).values():
        text.read()
