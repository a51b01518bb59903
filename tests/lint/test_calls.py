"""Steps that keep something between calls, found; those for which it does not matter, judged; blocks in any order."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler.lint.findings import Lint
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Undecided

STEPS = Path(__file__).parent / "steps"


def steps_in(name: str) -> list[str]:
    body = ast.parse((STEPS / name).read_text(encoding="utf-8")).body
    functions = (node for node in body if isinstance(node, ast.FunctionDef))
    return [f.name for f in functions if not f.name.startswith("_") and f.name != "plain"]


KEEPING = [(file, name) for file in ("keeps.py", "unseen.py") for name in steps_in(file)]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "name"), KEEPING)
def test_a_step_that_acts_on_what_it_keeps_is_not_proved(
    file: str, name: str, step_finding: Callable[..., Finding]
) -> None:
    assert isinstance(step_finding(f"{file}:{name}", "double_well").decision, Undecided)


@pytest.mark.slow
@pytest.mark.parametrize("name", steps_in("behind.py"))
def test_what_is_kept_behind_something_is_seen_or_said_not_to_be(
    name: str, step_finding: Callable[..., Finding]
) -> None:
    """Where loops of generators, caches, factories and attributes of others were not looked at, these were proved."""
    decision = step_finding(f"behind.py:{name}", "double_well").decision
    assert isinstance(decision, Undecided)
    assert any("still changes from call to call" in one or "cannot be looked at" in one for one in decision.tried)


@pytest.mark.slow
@pytest.mark.parametrize("name", steps_in("asks.py"))
def test_a_step_that_asks_what_a_value_is_is_not_proved(name: str, step_finding: Callable[..., Finding]) -> None:
    assert not isinstance(step_finding(f"asks.py:{name}", "double_well").decision, Proved)


@pytest.mark.slow
@pytest.mark.parametrize("name", steps_in("careless.py"))
def test_what_is_kept_and_changes_nothing_is_no_obstacle(name: str, step_finding: Callable[..., Finding]) -> None:
    assert isinstance(step_finding(f"careless.py:{name}", "double_well").decision, Proved)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("global_number", "call 11 did something else than call 1"),
        ("listed", "call 30 did something else than call 1"),
        ("late", "50 calls did the same, but CALLS still changes from call to call"),
        ("recent", "call 3 did something else than call 1"),
        ("by_file", "it reads keeps.py"),
        ("last_state", "a value of an earlier call"),
    ],
)
def test_what_was_seen_is_said(name: str, says: str, step_finding: Callable[..., Finding]) -> None:
    decision = step_finding(f"keeps.py:{name}", "double_well").decision
    assert isinstance(decision, Undecided)
    assert says in decision.tried[0]


@pytest.mark.slow
def test_what_was_followed_is_said(read: Callable[..., Lint]) -> None:
    found = read("careless.py:unused_branch", "double_well")
    line = (STEPS / "careless.py").read_text(encoding="utf-8").splitlines().index("        p = 0 * p") + 1
    assert found.followed[0].startswith(
        "followed: unused_branch(x, p, eps: the step size, rng: draws of N(0, 1), burning at its default); 50 calls"
    )
    assert found.followed[1].startswith("run: 14 calls with plain numbers")
    assert found.followed[2] == f"not followed: line {line}, which no call ran"
    assert found.report is not None
    assert found.followed[2] in found.report.caveats


RETURNED = {
    "momentum_first": ("sghmc", "(r, theta), not (theta, r)"),
    "listed": ("sghmc", "(r, theta), not (theta, r)"),
    "thermostat": ("sgnht", "(xi, theta, r), not (theta, r, xi)"),
    "refreshed": ("hmc", "(r, theta), not (theta, r)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RETURNED)
def test_blocks_in_another_order_are_recognised(
    name: str, read: Callable[..., Lint], step_finding: Callable[..., Finding]
) -> None:
    spec, order = RETURNED[name]
    found = step_finding(f"orders.py:{name}", spec)
    assert {dict(at)["d"] for at in found.checked_at} == {1, 2, 3}
    assert any(order in fact for fact in found.decision.given)
    assert any(order in sentence for sentence in read(f"orders.py:{name}", spec).followed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["without_noise", "gradient_of_the_other"])
def test_wrong_ones_are_refuted_in_any_order(name: str, step_finding: Callable[..., Finding]) -> None:
    found = step_finding(f"orders.py:{name}", "sghmc").decision
    assert isinstance(found, Refuted)
    assert any("(r, theta), not (theta, r)" in fact for fact in found.given)


@pytest.mark.slow
def test_what_has_no_order_keeps_that_of_the_document(judged: Callable[..., Report]) -> None:
    found = judged("orders.py:twice_the_same", "sghmc").findings[0]
    assert not found.checked_at
    assert not any("it returns" in fact for fact in found.decision.given)
