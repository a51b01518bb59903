"""What is said of a step beside its verdict, where `tests/golden/lint.json` does not hold it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler.errors import ModelError
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.findings import Lint
from recipe_compiler.verdict import Report, Verdict

STEPS = Path(__file__).parent / "steps"


@pytest.mark.parametrize(
    ("name", "remarks"),
    [
        ("second_order", []),
        ("without_the_middle", ["finite steps: the stationary distribution is off by order eps, by the residual "]),
        (
            "with_noise_of_a_gradient",
            [
                "finite steps: the stationary distribution is off by order eps, by the residual ",
                "finite steps: noise of order eps**2 (the draw of line 26) leaves the residual 9*r[0]**2/2 - 9/2",
            ],
        ),
        (
            "without_noise",
            [
                "the limiting equation has no noise, so it is not ergodic",
                "finite steps: exp(-H) changes at order eps, ",
            ],
        ),
    ],
)
def test_what_finite_steps_do_is_said(name: str, remarks: list[str], read: Callable[..., Lint]) -> None:
    found = read(f"second_order.py:{name}", "friction")
    assert found.report is not None
    assert found.report.findings[0].checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    said = found.equation.remarks
    assert all(map(str.startswith, said, remarks))
    assert len(said) == len(remarks)


def test_a_step_in_the_velocity_holds_and_is_no_proof(judged: Callable[..., Report]) -> None:
    maps = (("v", "eps*r"), ("eta", "eps**2"), ("alpha", "C*eps"))
    report = judged("velocities.py:published", "friction", maps)
    assert report.conclusion == "holds at d = 1, 2, 3; fix the size for a proof"
    assert report.verdict is Verdict.UNDECIDED


def test_the_maps_are_offered_where_nothing_says_what_arguments_are(asking: Callable[..., Binding]) -> None:
    with pytest.raises(ModelError) as raised:
        asking("velocities.py:published", "friction")
    hints = [fault.hint for fault in raised.value.faults]
    offered = "if v is the step size times r (the published form of SGHMC): "
    offered += "--map 'v=eps*r' --map 'eta=eps**2' --map 'alpha=C*eps'"
    assert hints == [offered, "", "", "--map NAME=r"]


def test_the_maps_are_offered_where_the_step_is_not_read(read: Callable[..., Lint]) -> None:
    found = read("velocities.py:published", "friction", (("v", "r"), ("eta", "eps"), ("alpha", "C")))
    assert found.equation.reason.endswith("--map 'v=eps*r' --map 'eta=eps**2' --map 'alpha=C*eps'")


def test_a_draw_is_no_formula_of_a_map(asking: Callable[..., Binding]) -> None:
    with pytest.raises(ModelError, match=r"expected a formula of the state, parameters and eps"):
        asking("velocities.py:published", "friction", (("v", "eps*r"), ("eta", "eps**2"), ("alpha", "N(0, 1)")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("gaussian", "U is that of the target gaussian; M, mu, Sigma as the build has them"),
        ("gaussian_given", "U is that of the target gaussian"),
        ("gaussian_any", "U is any function"),
        (
            "logistic",
            "U is that of the target logistic_regression, the data being any 2 rows of a minibatch of N = 569",
        ),
    ],
)
def test_it_is_said_what_a_step_is_judged_by(step: str, said: str, read: Callable[..., Lint]) -> None:
    build = "sgld_logistic" if step == "logistic" else "sghmc_gaussian"
    assert read(f"of_builds.py:{step}", build).followed[0] == f"judged by the build: {said}"
