"""What is said of a step beside its verdict: the equation, what was followed, what is taken for given."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler.errors import ModelError
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.findings import Lint
from recipe_compiler.verdict import Finding, Refuted, Report, Undecided, Verdict

pytestmark = pytest.mark.usefixtures("few_calls")

STEPS = Path(__file__).parent / "steps"


@pytest.mark.slow
def test_the_step_size_of_the_equation_is_said(judged: Callable[..., Report], read: Callable[..., Lint]) -> None:
    _, same = judged("right.py:langevin_adjusted", "sgld_unit").findings
    assert isinstance(same.decision, Undecided)
    assert "step size read as eps = h**2/2" in same.decision.tried[0]
    assert read("right.py:langevin_adjusted", "sgld_unit").equation.step_size == "step size read as eps = h**2"


@pytest.mark.slow
def test_an_equation_beside_the_recipe_is_said_apart(judged: Callable[..., Report]) -> None:
    _, same = judged("right.py:sgld_loops", "sgld").findings
    assert not same.required
    assert same.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    _, other = judged("right.py:sgld", "sgld").findings
    assert isinstance(other.decision, Refuted)
    assert dict(other.decision.witness).keys() >= {"the drift of theta[0] minus that of D and Q"}


@pytest.mark.slow
def test_the_equation_is_shown(read: Callable[..., Lint]) -> None:
    found = read("right.py:sgnht", "sgnht").equation
    assert found.sizes == (("d", 2),)
    assert dict(found.drift) == {
        "theta[0]": "r[0]",
        "theta[1]": "r[1]",
        "r[0]": "-r[0]*xi - d_theta[0] U",
        "r[1]": "-r[1]*xi - d_theta[1] U",
        "xi": "r[0]**2/2 + r[1]**2/2 - 1",
    }
    assert dict(found.diffusion) == {"r[0], r[0]": "A", "r[1], r[1]": "A"}
    assert found.bias.startswith("finite steps: the stationary distribution is off by order eps, by the residual ")


@pytest.mark.slow
def test_what_is_taken_for_given_is_listed(step_finding: Callable[..., Finding]) -> None:
    given = step_finding("right.py:sghmc", "sghmc").decision.given
    assert "grad_U is grad(U, theta)" in given
    assert "M is positive definite" in given
    assert any(line.startswith("the matrix factored at line ") for line in given)
    assert "lr is the step size" in step_finding("right.py:sgld_half", "sgld").decision.given
    own = step_finding("right.py:sgld_own_gradient", "sgld").decision.given
    assert "grad_U is grad(U, theta)" in own


@pytest.mark.parametrize(
    ("name", "remark"),
    [("second_order", ""), ("without_the_middle", "finite steps: the stationary distribution is off by order eps, ")],
)
def test_only_a_step_of_order_one_is_said_to_be_off_by_eps(name: str, remark: str, read: Callable[..., Lint]) -> None:
    found = read(f"second_order.py:{name}", "friction")
    assert found.report is not None
    assert found.report.findings[0].checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert found.equation.bias.startswith(remark)
    assert bool(found.equation.bias) == bool(remark)


def test_a_step_in_the_velocity_holds_and_is_no_proof(judged: Callable[..., Report]) -> None:
    maps = (("v", "eps*r"), ("eta", "eps**2"), ("alpha", "C*eps"))
    report = judged("velocities.py:published", "friction", maps)
    assert report.conclusion == "holds at d = 1, 2, 3; fix the size for a proof"
    assert report.verdict is Verdict.UNDECIDED


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


@pytest.mark.slow
def test_no_limit_of_small_steps_is_read(read: Callable[..., Lint]) -> None:
    found = read("accepted.py:walk", "sgld_unit")
    assert found.equation.reason.startswith("a step with acceptance is judged at finite eps")
    assert found.report is not None
    assert [finding.id for finding in found.report.findings] == ["lint_metropolis"]
    assert any("about the step as it is" in caveat for caveat in found.report.caveats)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("gaussian", "U is that of the target gaussian; M, mu, Sigma as the build has them"),
        ("gaussian_given", "U is that of the target gaussian"),
        ("gaussian_any", "U is any function"),
        ("wrong_gaussian_mass", "U is any function; M as the build has it"),
        (
            "logistic",
            "U is that of the target logistic_regression, the data being any 2 rows of a minibatch of N = 569",
        ),
    ],
)
def test_it_is_said_what_a_step_is_judged_by(step: str, said: str, read: Callable[..., Lint]) -> None:
    build = "sgld_logistic" if step == "logistic" else "sghmc_gaussian"
    assert read(f"of_builds.py:{step}", build).followed[0] == f"judged by the build: {said}"
