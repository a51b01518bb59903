"""A step is run with plain numbers as well: who does something else then is told so, who does not is judged."""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from some import some

from recipe_compiler.lint import process
from recipe_compiler.lint.plain_run.handed import RETURN_A_COPY
from recipe_compiler.lint.plain_run.returned import EXPECTED
from recipe_compiler.lint.replay import (
    ADVICE,
    BY_ROUNDING,
    FAR_OUT,
    FED_ITSELF,
    OF_OVERFLOW,
    OF_RETURNED,
    OF_ROUNDING,
    OF_SINGLE,
    SINGLE,
)
from recipe_compiler.verdict import Finding, Proved, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")

STEPS = Path(__file__).parent / "steps"
PLAINLY = "run with plain numbers"
KEPT = ("NEW", "KEPT", "LAST", "SAMPLER", "of_a_default")


def steps_in(name: str, *others: str) -> list[str]:
    body = ast.parse((STEPS / name).read_text(encoding="utf-8")).body
    functions = (node.name for node in body if isinstance(node, ast.FunctionDef))
    return [name for name in functions if not name.startswith("_") and name not in others]


HOSTILE = {
    name: f"{file}:{name}"
    for file in ("hostile.py", "hostile_builtins.py")
    for name in steps_in(file, "plain", "seen", "hangs")
}


@pytest.mark.parametrize("name", some(HOSTILE, 2))
def test_a_step_that_does_something_else_with_numbers_is_neither_proved_nor_refuted(
    name: str, step_finding: Callable[..., Finding]
) -> None:
    decision = step_finding(HOSTILE[name], "double_well").decision
    assert isinstance(decision, Undecided)
    assert PLAINLY in decision.tried[0]


MOVES = steps_in("hostile_moves.py", "U", "grad_U", "is_number")
OF_A_GRADIENT = {"last_entry_without_noise", "larger_ones_without_noise", "covariance_doubled", "gradient_of_elsewhere"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_moves_and_vectors_are_run_at_every_size(name: str, step_finding: Callable[..., Finding]) -> None:
    found = step_finding(f"hostile_moves.py:{name}", "sgld" if name in OF_A_GRADIENT else "sgld_unit")
    assert isinstance(found.decision, Undecided)
    assert PLAINLY in found.decision.tried[0]
    right = ((("d", 1),), (("d", 2),)) if name == "larger_ones_without_noise" else ()
    assert found.checked_at == right


@pytest.mark.parametrize("name", some(steps_in("ways.py", "made"), 2))
def test_ways_of_programming_are_the_same_with_numbers(name: str, step_finding: Callable[..., Finding]) -> None:
    assert isinstance(step_finding(f"ways.py:{name}", "double_well").decision, Proved)


SAID = {
    "by_type_of_another_name": "with scalars of Python), the new p is ",
    "of_numpys_alone": "with scalars of NumPy), the new p is ",
    "other_draws": "it draws more, or otherwise, than when it was followed",
    "raises": "it raises ValueError: numbers",
    "leaves": "its process ended without an answer",
    "by_few_calls": "gives something else than one before",
    "by_many_calls": "it keeps CALLS from call to call, which it did not when it was followed",
    "by_calls_that_are_counted_always": "it depends on CALLS.0, which changes from call to call",
}


@pytest.mark.parametrize("name", SAID)
def test_what_it_does_otherwise_is_said(name: str, step_finding: Callable[..., Finding]) -> None:
    decision = step_finding(f"hostile.py:{name}", "double_well").decision
    assert isinstance(decision, Undecided)
    assert SAID[name] in decision.tried[0]


def test_a_step_that_hangs_with_numbers_is_ended(
    step_finding: Callable[..., Finding], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = process.run_plainly

    def shortly(request: Mapping[str, Any]) -> Any:
        return run(request, total=0.5)

    monkeypatch.setattr(process, "run_plainly", shortly)
    decision = step_finding("hostile.py:hangs", "double_well").decision
    assert isinstance(decision, Undecided)
    assert f"{PLAINLY}, it did not end in 0.5 s" in decision.tried[0]


def test_a_step_that_differs_by_rounding_alone_is_told_what_to_do_about_that(
    tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import numpy as np\n\n\n"
        "def step(x, p, gamma, eps, rng):\n"
        "    slope = ((1e17 + x**3) - 1e17) - x\n"
        "    p = p - eps * slope - eps * gamma * p + np.sqrt(2 * gamma * eps) * rng.standard_normal()\n"
        "    return x + eps * p, p\n",
        encoding="utf-8",
    )
    decision = step_finding(f"{path}:step", "double_well").decision
    assert isinstance(decision, Undecided)
    said = next((what for what in decision.tried if BY_ROUNDING in what), f"told otherwise: {decision.tried}")
    assert said.endswith(f"{BY_ROUNDING}; {OF_ROUNDING}")
    assert ADVICE not in said


STEP = """
import numpy as np
from typing import NamedTuple


class Lazy:
    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, k):
        return self.numbers[k]


class Pair(NamedTuple):
    first: float
    second: float

    def __getitem__(self, k):
        return self.first if k == 0 else self.second


def step(theta, grad_U, eps, rng):
    noise = rng.standard_normal(2)
    FIRST
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * noise
    return RETURNED
"""
IN_SINGLE = {
    "scale = np.ones(2, dtype=theta.dtype); noise = noise * (((scale + 2**-30) - scale) * 2**30)": False,
    "noise = noise * ((theta * 0 + 1 + 2**-30 - 1) * 2**30)": False,
    "noise = noise.astype(theta.dtype)": True,
    "theta = theta + np.zeros(2, dtype=theta.dtype)": True,
}
"""What a step does first, and whether it is the same where it is given numbers of 32 bits."""


def written(tmp_path: Path, first: str = "pass", returned: str = "new") -> str:
    path = tmp_path / "own.py"
    path.write_text(STEP.replace("FIRST", first).replace("RETURNED", returned), encoding="utf-8")
    return f"{path}:step"


@pytest.mark.slow
@pytest.mark.parametrize("first", IN_SINGLE)
def test_a_step_that_loses_its_noise_in_32_bits_is_undecided(
    first: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    decision = step_finding(written(tmp_path, first), "langevin_of_two").decision
    if IN_SINGLE[first]:
        assert isinstance(decision, Proved)
        return
    assert isinstance(decision, Undecided)
    assert f"(with scalars of {SINGLE}), {OF_SINGLE}, entry " in decision.tried[0]
    assert decision.tried[0].endswith(ADVICE)


@pytest.mark.parametrize(
    "lost",
    [
        "noise = noise.astype('float32')",
        "noise = np.array(noise, dtype='f')",
        "kept = np.zeros(2, 'float32'); kept[:] = theta; theta = kept",
    ],
)
def test_what_passes_through_32_bits_is_other_numbers(
    lost: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    decision = step_finding(written(tmp_path, lost), "langevin_of_two").decision
    assert isinstance(decision, Undecided)
    assert any(PLAINLY in why and " as it was followed" in why for why in decision.tried)


@pytest.mark.parametrize(
    "returned", ["Lazy(new)", "[Lazy(new)][0]", "(Lazy(new),)", "{'theta': Lazy(new)}", "Pair(*new)"]
)
def test_what_makes_its_numbers_when_it_is_read_is_no_new_state(
    returned: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    decision = step_finding(written(tmp_path, returned=returned), "langevin_of_two").decision
    assert isinstance(decision, Undecided)
    name = "Pair" if "Pair" in returned else "Lazy"
    assert any(f"an object of the class {name} returned, {EXPECTED}" in why for why in decision.tried)


@pytest.mark.slow
@pytest.mark.parametrize(
    "returned", ["new", "(new,)", "{'theta': new}", "[new[0], new[1]]", "tuple(new)", "new.copy()"]
)
def test_numbers_arrays_tuples_lists_and_dictionaries_are(
    returned: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    found = step_finding(written(tmp_path, returned=returned), "langevin_of_two").decision
    assert isinstance(found, Proved) == (returned != "tuple(new)")


@pytest.mark.parametrize("name", steps_in("fed.py"))
def test_a_step_is_called_with_what_it_returned_itself(name: str, step_finding: Callable[..., Finding]) -> None:
    """With arguments made anew for every call all of these were proved."""
    decision = step_finding(f"fed.py:{name}", "line" if name.startswith("line") else "plane").decision
    if "right" in name:
        assert isinstance(decision, Proved)
        return
    assert isinstance(decision, Undecided)
    assert f"{FED_ITSELF}, " in decision.tried[0]
    assert decision.tried[0].endswith(OF_RETURNED)


IN_PLACE = {
    "g = grad_U(theta); g *= eps; new = theta - g + noise": "it changes in place what grad_U returned",
    "g = grad_U(theta); theta += noise; new = theta - eps * g": "where a gradient returns its argument, the same array",
    "g = grad_U(theta); theta -= eps * g; new = theta + noise": "",
    "g = grad_U(theta); g = eps * g; g += theta; new = theta - (g - theta) + noise": "",
}
COMPILED = {
    "WIDTH[0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + wide(z)": "takes WIDTH for what it was",
    "WIDTH[0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + wide(z); WIDTH[0] = 1.0": (
        "takes WIDTH for what it was"
    ),
    "WIDTH[0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + typed(z)": "takes WIDTH for what it was",
    "new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * wide(z)": "",
    "AROUND[0][0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + AROUND[1](z)": "takes own for what it was",
}
OF_CHANGES = """
import numpy as np
from numba import njit

WIDTH = np.ones(1)


@njit
def wide(z):
    return WIDTH[0] * z


@njit("float64[:](float64[:])")
def typed(z):
    return WIDTH[0] * z


def _around():
    own = np.ones(1)

    @njit
    def of(z):
        return own[0] * z

    return own, of


AROUND = _around()


def step(theta, grad_U, eps, rng):
    z = rng.standard_normal(2)
    noise = np.sqrt(2 * eps) * z
    CHANGES
    return new
"""


@pytest.mark.parametrize("changes", [*IN_PLACE, *COMPILED])
def test_what_others_keep_is_not_changed(changes: str, tmp_path: Path, step_finding: Callable[..., Finding]) -> None:
    """A gradient may return its argument (`lambda x: x`); compiled code has the arrays of its file as constants."""
    path = tmp_path / "own.py"
    path.write_text(OF_CHANGES.replace("CHANGES", changes), encoding="utf-8")
    decision = step_finding(f"{path}:step", "plane").decision
    says = {**IN_PLACE, **COMPILED}[changes]
    assert isinstance(decision, Undecided if says else Proved)
    if isinstance(decision, Undecided):
        assert says in decision.tried[0]


ASKED = {
    "u = rng.random(out=slack)": "`random(..., out=...)`",
    "u = rng.random(None, np.float32)": "`random(..., dtype=...)`",
    "u = np.exp(-rng.standard_exponential(out=slack))": "`standard_exponential(..., out=...)`",
    "u = np.exp(-rng.standard_exponential(method='inv'))": "`standard_exponential(..., method=...)`",
    "rng.standard_normal(2, dtype='f'); u = rng.random()": "`standard_normal(..., dtype=...)`",
    "u = rng.random(dtype=np.float64)": "",
}


@pytest.mark.parametrize("asked", ASKED)
def test_an_argument_of_a_draw_that_is_not_followed_is_told(
    asked: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    """What is drawn into an array was left out, and the array taken for zeros."""
    path = tmp_path / "own.py"
    path.write_text(
        "import numpy as np\n\n\n"
        "def step(theta, U, eps, rng):\n"
        "    slack = np.zeros(1)\n"
        "    new = theta + eps * rng.standard_normal(2)\n"
        f"    {asked}\n"
        "    if np.log(u) < U(theta) - U(new) + slack[0]:\n"
        "        return new\n"
        "    return theta\n",
        encoding="utf-8",
    )
    decision = step_finding(f"{path}:step", "plane").decision
    assert isinstance(decision, Undecided if ASKED[asked] else Proved)
    if isinstance(decision, Undecided):
        assert ASKED[asked] in decision.tried[0]


LOST = """
import numpy as np


def step(x, p, gamma, eps, rng):
    size = {size}
    p = p - eps * (x**3 - x) - eps * gamma * p + np.sqrt(2 * gamma * eps) * rng.standard_normal() * size
    return x + eps * p, p
"""


@pytest.mark.parametrize(
    "size",
    [
        "(1 + x**2) ** -60 * (1 + x**2) ** 30 * (1 + x**2) ** 30",
        "np.exp(-(x**2)) * np.exp(x**2 / 2) * np.exp(x**2 / 2)",
        "np.minimum(1, 2 * np.exp(-(x**2)) * np.exp(x**2 / 2) * np.exp(x**2 / 2))",
    ],
)
def test_noise_that_is_lost_where_doubles_underflow_is_seen(
    size: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    """Of real numbers all are 1; at x = 1000 the first factor is 0, and with it the noise."""
    path = tmp_path / "own.py"
    path.write_text(LOST.format(size=size), encoding="utf-8")
    decision = step_finding(f"{path}:step", "double_well").decision
    assert isinstance(decision, Undecided)
    if "minimum" not in size:
        assert any(FAR_OUT in one and one.endswith(OF_OVERFLOW) for one in decision.tried), decision.tried


@pytest.mark.parametrize("size", ["1", "(1 + np.exp(x)) / (1 + np.exp(x))", "np.exp(x**2 - x**2)"])
def test_what_overflows_for_all_to_see_or_not_at_all_is_let_pass(
    size: str, tmp_path: Path, step_finding: Callable[..., Finding]
) -> None:
    path = tmp_path / "own.py"
    path.write_text(LOST.format(size=size), encoding="utf-8")
    assert isinstance(step_finding(f"{path}:step", "double_well").decision, Proved)


@pytest.mark.parametrize("name", steps_in("buffers.py"))
def test_an_array_that_the_next_call_overwrites_is_told(name: str, step_finding: Callable[..., Finding]) -> None:
    """What a call returns is what the next one is given: each call by itself is right."""
    decision = step_finding(f"buffers.py:{name}", "plane").decision
    if name.startswith("right"):
        assert isinstance(decision, Proved)
    else:
        assert isinstance(decision, Undecided)
        assert decision.tried[0].endswith(RETURN_A_COPY)
        assert name == "remembered" or any(f"keeps in {kept}" in decision.tried[0] for kept in KEPT)
