"""Steps in the velocity, a linear image of the document's momentum, with rate and decay by formulas of eps."""

from collections.abc import Callable

import pytest
from some import some

from recipe_compiler.errors import ModelError
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.findings import Lint
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Verdict

pytestmark = pytest.mark.usefixtures("few_calls")

DECAY = (("v", "eps*r"), ("eta", "eps**2"), ("alpha", "C*eps"))
MASSIVE = (("v", "eps*inv(M) @ r"), *DECAY[1:])
RIGHT = {
    "published": ("friction", DECAY),
    "momentum": ("friction", (DECAY[0], ("lr", "eps**2"), ("mu", "1 - C*eps"))),
}
WRONG = {
    "doubled_noise": ("friction", DECAY, "wrong at every step size", 24),
    "without_friction": ("friction", DECAY, "wrong at every step size", 29),
    "noise_without_rate": ("friction", DECAY, "the step grows as eps becomes small", 34),
    "noise_without_root": ("friction", DECAY, "wrong at every step size", 39),
    "massless": ("friction_of_two", MASSIVE, "wrong at every step size", 44),
}
"""Wrong, why, and the line of the noise or, where that is right, of the drift."""


@pytest.mark.parametrize("name", some(RIGHT, 1))
def test_a_right_step_in_the_velocity_holds(name: str, judged: Callable[..., Report]) -> None:
    spec, maps = RIGHT[name]
    report = judged(f"velocities.py:{name}", spec, maps)
    assert report.conclusion == "holds at d = 1, 2, 3; fix the size for a proof"
    assert report.verdict is Verdict.UNDECIDED
    found = report.findings[0]
    assert found.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert "v is eps*r" in found.decision.given


@pytest.mark.slow
def test_it_is_proved_where_the_sizes_are_fixed(step_finding: Callable[..., Finding]) -> None:
    found = step_finding("velocities.py:massive", "friction_of_two", MASSIVE)
    assert isinstance(found.decision, Proved)
    assert "M is positive definite" in found.decision.given


@pytest.mark.parametrize("name", some(WRONG, 2))
def test_a_wrong_step_in_the_velocity_is_refuted(name: str, step_finding: Callable[..., Finding]) -> None:
    spec, maps, why, line = WRONG[name]
    found = step_finding(f"velocities.py:{name}", spec, maps)
    assert isinstance(found.decision, Refuted)
    assert why in found.decision.by
    assert found.where is not None
    assert found.where.line == line


def test_the_maps_are_offered_where_nothing_says_what_arguments_are(asking: Callable[..., Binding]) -> None:
    with pytest.raises(ModelError) as raised:
        asking("velocities.py:published", "friction")
    hints = [fault.hint for fault in raised.value.faults]
    offered = "if v is the step size times r, as SGHMC was published: "
    offered += "--map 'v=eps*r' --map 'eta=eps**2' --map 'alpha=C*eps'"
    assert hints == [offered, "", "", "--map NAME=r"]


def test_the_maps_are_offered_where_the_step_is_not_read(read: Callable[..., Lint]) -> None:
    found = read("velocities.py:published", "friction", (("v", "r"), ("eta", "eps"), ("alpha", "C")))
    assert found.equation.reason.endswith("--map 'v=eps*r' --map 'eta=eps**2' --map 'alpha=C*eps'")


def test_a_draw_is_no_formula_of_a_map(asking: Callable[..., Binding]) -> None:
    with pytest.raises(ModelError, match=r"expected a formula of the state, parameters and eps"):
        asking("velocities.py:published", "friction", (("v", "eps*r"), ("eta", "eps**2"), ("alpha", "N(0, 1)")))
