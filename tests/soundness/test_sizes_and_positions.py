"""One entry, or the smallest size, tells of all of them only where nothing singles it out."""

from collections.abc import Callable

import pytest

from recipe_compiler.verdict import Answer, Proved, Refuted
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.uniqueness.boundary import boundary
from recipe_compiler.verify.uniqueness.regular import regular

Decide = Callable[[Callable[[Subject], Answer], str], Answer]


def oscillators(entry: str, declared: str = "") -> str:
    """Return dynamics that move x by r through the diagonal of a vector."""
    return f"""
state: {{x: {{shape: d}}, r: {{shape: d}}}}
{declared}
H: x.T @ x/2 + r.T @ r/2
D: [[0, 0], [0, I]]
Q: [[0, "-diag({entry})"], ["diag({entry})", 0]]
"""


def reflected(energy: str, declared: str, shape: str = "d") -> str:
    """Return diffusions on the positive half-lines."""
    return f"""
state: {{x: {{shape: {shape}, domain: positive}}}}
{declared}
H: sum(x) - {energy}
D: [[I]]
Q: [[0]]
"""


@pytest.mark.parametrize(
    ("entry", "declared"),
    [
        ("x**2 + 2*ones - d*ones", ""),  # x**2 + 1 at d = 1, x**2 at d = 2: no chain crosses 0
        ("x**2 + a", "parameters: {a: {shape: d}}\nassume: ['sum(a) > 1']"),  # a = (3, -1): none crosses 1
        ("x**2 + a*a[0] + ones/2", "parameters: {a: {shape: d}}"),  # a = (1, -1)
    ],
)
def test_the_smallest_size_does_not_prove_that_nothing_degenerates(decide: Decide, entry: str, declared: str) -> None:
    assert not isinstance(decide(regular, oscillators(entry, declared)).decision, Proved)


def test_a_matrix_that_is_no_diagonal_is_another_one_at_every_size(decide: Decide) -> None:
    document = oscillators("x", "parameters: {a: {shape: d}}").replace("diag(x)", "(diag(1 + x**2) + B)")
    document = document.replace("parameters: {", "parameters: {B: {shape: [d, d], is: [symmetric, positive]}, ")
    document = document.replace("1 + x**2", "ones + x**2")
    assert not isinstance(decide(regular, document).decision, Proved)


def test_what_is_alike_at_every_position_still_is_proved(decide: Decide) -> None:
    declared = "parameters: {a: {shape: d}}\nassume: ['a > ones']"
    assert isinstance(decide(regular, oscillators("x**2 + a", declared)).decision, Proved)
    assert isinstance(decide(regular, oscillators("x**2 + ones")).decision, Proved)


@pytest.mark.parametrize(
    ("energy", "declared", "shape"),
    [
        ("sum((alpha - ones)*log(x))", "parameters: {alpha: {shape: 2}}\nassume: ['alpha[0] > 1']", "2"),
        ("sum((alpha - ones)*log(x))", "parameters: {alpha: {shape: d}}\nassume: ['sum(alpha) > 1']", "d"),
    ],
)
def test_an_assumption_about_some_entries_is_none_about_each(
    decide: Decide, energy: str, declared: str, shape: str
) -> None:
    assert not isinstance(decide(boundary, reflected(energy, declared, shape)).decision, Proved)


def test_an_assumption_about_a_size_is_not_read_at_the_smallest(decide: Decide) -> None:
    declared = "parameters: {a: {is: positive}}\nassume: ['a*d > 1']"
    decision = decide(boundary, reflected("(a - 1)*sum(log(x))", declared)).decision
    assert isinstance(decision, Proved)
    assert any(reason.startswith("chains are reflected at x = 0") for reason in decision.given)


def test_an_assumption_about_every_entry_counts(decide: Decide) -> None:
    declared = "parameters: {alpha: {shape: d}}\nassume: ['alpha > ones']"
    decision = decide(boundary, reflected("sum((alpha - ones)*log(x))", declared)).decision
    assert isinstance(decision, Proved)
    assert not any("reflected" in reason for reason in decision.given)


@pytest.mark.parametrize("declared", ["assume: ['x > 1']", ""])
def test_a_zero_outside_the_assumed_domain_refutes_nothing(decide: Decide, declared: str) -> None:
    document = f"state: {{x: {{}}}}\n{declared}\nH: x**2/2\nD: [[x**2]]\nQ: [[0]]\n"
    assert isinstance(decide(regular, document).decision, Proved if declared else Refuted)


def test_a_zero_outside_an_interval_of_parameters_refutes_nothing(decide: Decide) -> None:
    document = """
    state: {x: {domain: "interval(a, a + 1)"}}
    parameters: {a: {is: positive}}
    H: x**2/2
    D: [[x**2]]
    Q: [[0]]
    """
    assert not isinstance(decide(regular, document).decision, Refuted)


@pytest.mark.parametrize("D", ["4 + atan(1/x)", "4 + x + sqrt(x**2)**3/x**3"])
def test_a_jump_with_bounded_slopes_is_not_lipschitz(decide: Decide, D: str) -> None:
    document = f"state: {{x: {{}}}}\nH: x**2/2\nD: [['{D}']]\nQ: [[0]]\n"
    assert not isinstance(decide(regular, document).decision, Proved)
