"""Every shipped dynamics with every shipped target: a build, or a fault that says why there is none."""

from functools import cache
from pathlib import Path

import pytest
from answers import written
from some import some

from recipe_compiler.commands import made_build
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.errors import DocumentError
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.catalogue import names
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics, Target

GIVEN = {
    "gamma_categories": BuildArguments("three_classes", ("data.z=y", "data.indicator=[z]", "d=3", "alpha=[1, 1, 1]")),
    "categories": BuildArguments(None, ("alpha=[1, 1]", "n=[2, 3]")),
    "dirichlet": BuildArguments(None, ("a=[2, 2]", "b=2")),
    "dp_mixture": BuildArguments("few_choices", ("before=[[0, 0], [1, 0]]", "J=2")),
    "eight_schools": BuildArguments(
        "eight_schools", ("data.y=effect", "data.w=weight", "data.z=school", "data.indicator=[z]", "J=8")
    ),
    "funnel": BuildArguments(None, ("k=2",)),
    "expanded_categories": BuildArguments(
        "three_classes", ("data.z=y", "data.indicator=[z]", "d=3", "alpha=[1, 1, 1]", "c=1")
    ),
    "gaussian": BuildArguments(None, ("mu=[0, 0]", "Sigma=[[2, 1], [1, 2]]")),
    "gaussian_mean": BuildArguments("linear_regression", ("data.x=[a, b]", "Sigma=[[2, 1], [1, 2]]")),
    "gaussian_mixture": BuildArguments("two_groups", ("K=2",)),
    "inverse_gaussian": BuildArguments(None, ("b=[1, 1]", "c=[1, 1]", "k=1")),
    "linear_regression": BuildArguments("linear_regression"),
    "logistic_regression": BuildArguments("breast_cancer", ("data.y=diagnosis", "data.x=[mean_radius, mean_area]")),
    "matrix_factorisation": BuildArguments(
        "ratings", ("data.u=user", "data.v=item", "data.indicator=[u, v]", "users=8", "items=6", "K=2")
    ),
    "mixture_allocations": BuildArguments("few_of_two_groups", ("K=2",)),
    "mixture_weights": BuildArguments("few_of_two_groups", ("K=2", "alpha=[1, 2]")),
    "normal_mean_precision": BuildArguments("normal_sample"),
    "poisson_regression": BuildArguments("poisson_regression"),
    "removal_counts": BuildArguments("removal_counts"),
    "regression_precision": BuildArguments("linear_regression"),
    "varying_intercepts": BuildArguments("groups", ("data.g=group", "data.from_one=g", "J=12")),
    "softmax_regression": BuildArguments("three_classes", ("data.x=[a, b]", "data.y=y", "data.indicator=[y]", "K=3")),
}
"""What targets need beside dynamics; nothing of those that are left out."""


@cache
def shipped(name: str) -> Dynamics | Target:
    found = load(name)
    assert isinstance(found, Dynamics | Target)
    return found


def expected(dynamics: Dynamics, target: Target) -> tuple[str, ...]:
    """Return what may be said of a pair that makes no build, nothing where it has to make one."""
    blocks, discrete = potential_blocks(dynamics), discrete_blocks(target.declarations)
    said = ["which is discrete, expected a cycle of draws"] if discrete and dynamics.name != "still" else []
    if not blocks:
        return ("found no potential in the dynamics", "expected different names", *said)
    if any(block.domain != blocks[0].domain for block in sampled_blocks(target) if block not in discrete):
        said.append("found the domain")
    fields = {datum.name for datum in target.declarations.data} | {block.name for block in target.declarations.blocks}
    if {block.name for block in dynamics.declarations.blocks} - {block.name for block in blocks} & fields:
        said.append("expected different names")  # all blocks of a run stand in one file of draws
    if dynamics.name == "still" and not (target.declared or target).laws:
        said.append("found no `laws` claimed")
    return tuple(said)


def decide(dynamics: str, target: str) -> None:
    one, other = shipped(dynamics), shipped(target)
    assert isinstance(one, Dynamics)
    assert isinstance(other, Target)
    said = expected(one, other)
    try:
        build = made_build.make_build((dynamics, target), GIVEN.get(target, BuildArguments()), quiet=True)
    except DocumentError as error:
        for fault in error.faults:
            assert any(part in fault.problem for part in said), fault
    else:
        assert "found the domain" not in said
        assert build.name == f"{dynamics}_{target}"


@pytest.fixture(autouse=True)
def _read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(made_build, "load_named", shipped)


@pytest.mark.parametrize("target", some([name for name in names("target") if name != "ordered_mixture"], 3))
def test_a_target_goes_with_sghmc(target: str) -> None:
    decide("sghmc", target)


@pytest.mark.parametrize("dynamics", some(names("dynamics"), 3))
def test_dynamics_go_with_a_target(dynamics: str) -> None:
    decide(dynamics, "logistic_regression")


@pytest.mark.slow
@pytest.mark.parametrize("dynamics", names("dynamics"))
def test_every_pair_is_a_build_or_says_why_not(dynamics: str) -> None:
    for target in GIVEN:
        decide(dynamics, target)


def test_what_moves_alone_take_is_read_with_the_moves_that_are_made() -> None:
    made = made_build.make_build(("hmc", "standard_normal"), BuildArguments(None, ("run.accept=0.9",)), quiet=True)
    assert made.accept == pytest.approx(0.9)


def test_a_metric_that_stands_at_two_blocks_is_bound_once(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = "C: {of: theta, shape: [d, d], is: positive definite}"
    two = written(
        "state: {theta: {shape: d}, y: {shape: d}}\n"
        f"functions: {{U: {{of: theta, role: potential}}, {metric}}}\n"
        "H: U(theta) + U(y)\nD: [[C(y), 0], [0, C(theta)]]\nQ: [[0, 0], [0, 0]]\n"
    )
    monkeypatch.setattr(made_build, "load_named", lambda name: load(two) if name == str(two) else shipped(name))
    given = BuildArguments(None, ("scheme=euler", "run.step_size=0.1", "d=2"))
    build = made_build.make_build((str(two), "standard_normal"), given, quiet=True)
    assert [name for name, _ in build.bind] == ["C"]


@pytest.mark.parametrize(("given", "said"), [((), "# G: I, as nothing states it"), (("G=2*I",), "")])
def test_a_metric_that_nobody_states_is_said_to_be_the_identity(
    given: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made_build.make_build(("rhmc",), BuildArguments(None, given))
    shown = capsys.readouterr().out
    assert said in shown
    assert ("# G" in shown) is bool(said)
