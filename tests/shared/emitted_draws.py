"""Draws of the support code as emitted files carry it: its text and a loop of draws, compiled or as plain Python."""

from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from plain_modules import make_plain

from recipe_compiler.emit.support.text import support_text
from recipe_compiler.run.shared_functions import share_functions

STATE = (0x180EC6D33CFD0ABA, 0xD5A61266F0C9392C, 0xA9582618E03FC9AA, 0x39ABDC4529B1661C)
"""The stream of all these tests (words of the authors' test program)."""

Draw = Callable[..., np.ndarray]

VALUES = """
@njit(error_model="numpy", fastmath=_FASTMATH)
def fill(state, out, {parameters}):
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(np.uint64(out.shape[1])):
        {values}, s0, s1, s2, s3 = {name}({parameters}, s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
"""
LOOPS = {
    "_next_categorical": ("out[0, k]", "logits, sums"),
    "_next_categorical_above": ("out[0, k]", "logits, heights, level, sums"),
    "_next_log_beta": ("out[0, k], out[1, k]", "a, b"),
    "_next_beta": ("out[0, k]", "a, b"),
    "_next_integer": ("out[0, k]", "a, b"),
    "_next_binomial": ("out[0, k]", "n, p"),
    "_next_gamma_of_count": ("out[0, k]", "a, mean"),
    "_next_log_gamma_of_count": ("out[0, k]", "a, mean"),
}
"""How a function is called; all others take one parameter, or none."""


HEAD = "import math\nimport numpy as np\nfrom numba import njit, types\nfrom numba.extending import intrinsic\n"


@cache
def support(names: tuple[str, ...], loops: str = "", *, plain: bool = True) -> SimpleNamespace:
    """Return support functions, and loops that call them, as an emitted file has them: as plain Python or compiled."""
    module: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", int(plain))
        exec(compile(HEAD + support_text(names) + loops, f"<{names[0]}>", "exec"), module)
    (make_plain if plain else share_functions)(module)
    return SimpleNamespace(**module)


@cache
def drawing(name: str, *, plain: bool = False) -> Draw:
    """Return draws(size, parameters, state=STATE, rows=1) -> (rows, size) of a function."""
    values, parameters = LOOPS.get(name, ("out[0, k]", "parameter"))
    loop = VALUES.format(name=name, values=values, parameters=parameters)
    if name in ("_next_uniform", "_next_exponential"):
        loop = loop.replace(f"{name}(parameter, ", f"{name}(")
    fill = support((name,), loop, plain=plain).fill

    def draws(size: int, parameters: Sequence[object], state: Sequence[int] = STATE, rows: int = 1) -> np.ndarray:
        words, out = np.array(state, np.uint64), np.empty((rows, size))
        given = parameters or (0.0,)
        with np.errstate(all="ignore"):
            fill(words, out, *(np.float64(one) if isinstance(one, int | float) else one for one in given))
        return out

    return draws
