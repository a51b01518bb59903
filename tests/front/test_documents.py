"""Documents stated in Python: what they refuse, where, and what they are once stated."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy
from command import recipe

import recipe_compiler as rc

theta, r = rc.vector("theta", "d"), rc.vector("r", "d")
U = rc.function("U", of=theta, role="potential")
NORMAL = {"name": "normal", "state": [theta], "potential": theta.T @ theta / 2}


def sgld(**changes: object) -> rc.Dynamics:
    return rc.Dynamics(**{"name": "sgld", "state": [theta], "H": U, "D": [[rc.I]], "Q": [[0]], **changes})


def build(**changes: object) -> rc.Build:
    stated = {"name": "b", "dynamics": sgld(), "target": rc.Target(**NORMAL), "sizes": {"d": 2}, "step_size": 0.1}
    return rc.Build(**{**stated, **changes})


def test_a_document_is_frozen_and_compared_by_what_it_states() -> None:
    assert sgld() == sgld()
    assert sgld() != sgld(name="other")
    with pytest.raises(dataclasses.FrozenInstanceError):
        sgld().document = None


def test_a_loaded_document_is_of_its_kind() -> None:
    kinds = {"dynamics/sghmc": rc.Dynamics, "targets/gaussian": rc.Target, "builds/sghmc_gaussian": rc.Build}
    for name, kind in kinds.items():
        assert type(rc.load(Path(__file__).parents[2] / f"specs/{name}.yaml")) is kind


def test_parameters_of_a_build_are_declared_by_their_objects() -> None:
    c = rc.scalar("c", is_="positive")
    dynamics = sgld(D=[[rc.matrix("D", "d", "d", is_="positive semidefinite")]])
    by_name, by_object = (build(dynamics=dynamics, bind={"D": c * rc.I}, parameters={key: 2}) for key in ("c", c))
    assert by_name == by_object
    assert [(p.name, [k.value for k in p.kinds]) for p in by_name.document.parameters] == [("c", ["positive"])]


def test_values_are_numbers_rows_and_arrays_of_any_kind() -> None:
    mu = rc.vector("mu", "d")
    target = rc.Target(name="t", state=[theta], potential=(theta - mu).T @ (theta - mu) / 2)
    values = ([0.5, -1], np.array([0.5, -1.0]), sympy.Matrix([[sympy.Rational(1, 2)], [-1]]), ("1/2", "-1"))
    found = [build(target=target, parameters={"mu": value}).document.values for value in values]
    assert found == [found[0]] * len(found)


def test_a_matrix_of_sympy_is_the_rows_of_d_or_one_of_its_places() -> None:
    x, y = sympy.symbols("x y", real=True)
    whole, one = sympy.Matrix([[2, 1], [1, 2]]), rc.vector("z", 2)
    by_rows = rc.Dynamics(name="k", state=[x, y], H=x**2 + y**2, D=whole, Q=[[0, 0], [0, 0]])
    by_place = rc.Dynamics(name="k", state=[one], H=one.T @ one, D=[[whole]], Q=[[0]])
    assert by_rows.derive().D.to_sympy() == by_place.derive().D.to_sympy() == whole
    assert "D: [['Matrix([[2, 1], [1, 2]])']]" in by_place.to_yaml()
    energy = (sympy.Matrix([[x, y]]) * whole * sympy.Matrix([x, y])) / 2
    assert rc.Dynamics(name="k", state=[x, y], H=energy, D=whole, Q=[[0, 0], [0, 0]]).name == "k"


def test_a_domain_and_a_transform_are_those_of_the_object() -> None:
    tau = rc.scalar("tau", domain="positive", transform="log")
    target = rc.Target(name="t", state=[tau], potential=tau - rc.log(tau))
    assert "tau: {shape: scalar, domain: positive, transform: log}" in target.to_yaml()


def test_noise_of_a_claimed_update_is_no_parameter() -> None:
    n = rc.vector("n", "d")
    claimed = {"update": {theta: theta - rc.eps * rc.grad(U, theta) + rc.sqrt(2 * rc.eps) * n}, "noise": n}
    stated = sgld(claims=claimed)
    assert stated.document.declarations.parameters == ()
    assert [draw.name for draw in stated.document.claims.noise] == ["n"]


@pytest.mark.parametrize(
    ("attempt", "entry", "problem"),
    [
        (lambda: rc.Target(name="t", state=[theta]), "potential", "found neither a potential, nor a log_prior"),
        (lambda: rc.Target(**{**NORMAL, "potential": "thet.T @ theta"}), "potential", "'thet' is not declared"),
        (lambda: rc.Target(**{**NORMAL, "potential": theta}), "potential", "found a column"),
        (lambda: rc.Target(**{**NORMAL, "state": [3]}), "state", "a name with its shape"),
        (lambda: build(step_size=-1), "run.step_size", "found `-1`, expected a step size > 0"),
        (lambda: build(scheme="leapfrogs"), "scheme.name", "expected one of euler, sequential_euler"),
        (lambda: build(sizes={"k": 2}), "sizes.k", "found the size `k`"),
        (lambda: build(sizes={"d": 2.5}), "sizes.d", "expected an integer"),
        (lambda: build(bind={"W": rc.I}), "bind.W", "found `W`"),
        (lambda: build(parameters={"x": object()}), "parameters.x.value", "found an object of class builtins.object"),
        (lambda: build(target=sgld()), "target", "found dynamics in this object, expected a target"),
        (lambda: build(dynamics="nowhere.yaml"), "dynamics", "found no file `nowhere.yaml`"),
        (lambda: build(variant="minibatch", batch_size=5), "variant", "found minibatch for a target without data"),
    ],
)
def test_a_fault_names_its_entry_and_the_line_that_states_it(attempt, entry: str, problem: str) -> None:
    with pytest.raises((rc.SpecError, rc.ModelError)) as caught:
        attempt()
    faults = [fault for fault in caught.value.faults if fault.entry == entry]
    assert any(problem in fault.problem for fault in faults), caught.value
    assert {fault.where.file for fault in faults} == {__file__}


def test_a_scheme_with_its_order_is_what_both_say_apart() -> None:
    """Stated twice it was a TypeError of Python."""
    p = rc.vector("p", "d")
    H = U + p.T @ p / 2
    langevin = rc.Dynamics(name="k", state=[theta, p], H=H, D=[[0, 0], [0, rc.I]], Q=[[0, -rc.I], [rc.I, 0]])
    named = build(dynamics=langevin, scheme={"name": "sequential_euler", "order": ["p", "theta"]})
    assert named == build(dynamics=langevin, scheme="sequential_euler", order=[p, theta])
    assert named.document.scheme.order == ("p", "theta")


def test_a_constant_of_the_language_beside_a_declared_name_is_refused() -> None:
    gamma = sympy.Symbol("gamma", positive=True)
    x = sympy.Symbol("x", positive=True)
    with pytest.raises(rc.ModelError, match="found the language's `gamma` beside a declared `gamma`"):
        rc.Dynamics(name="k", state=[x], H=gamma * x + sympy.gamma(x), D=[[1]], Q=[[0]])
    assert rc.Dynamics(name="k", state=[x], H=gamma * x, D=[[1]], Q=[[0]]).name == "k"
    draw = rc.vector("sqrt", "d")
    update = {theta: theta - rc.eps * rc.grad(U, theta) + rc.sqrt(2 * rc.eps) * draw}
    with pytest.raises(rc.ModelError, match="found the language's `sqrt` beside a declared `sqrt`"):
        sgld(claims={"update": update, "noise": draw})


@pytest.mark.slow
def test_builds_in_a_python_file_are_documents_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import recipe_compiler as rc\n"
        "theta = rc.vector('theta', 'd')\n"
        "U = rc.function('U', of=theta, role='potential')\n"
        "sgld = rc.Dynamics(name='sgld', state=[theta], H=U, D=[[rc.I]], Q=[[0]])\n"
        "normal = rc.Target(name='normal', state=[theta], potential=theta.T @ theta / 2)\n"
        "build = rc.Build(name='mine', dynamics=sgld, target=normal, sizes={'d': 2}, step_size=0.1)\n"
    )
    outcome = recipe("compile", f"{tmp_path}/mine.py:build", "-o", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    assert "def run(" in (tmp_path / "out/mine.py").read_text()
    several = recipe("check", "--json", tmp_path / "mine.py")
    assert several.code == 2
    problem = json.loads(several.out)["documents"][0]["faults"][0]["problem"]
    assert problem == "found the documents sgld, normal, build, expected the name of one"


@pytest.mark.slow
def test_a_specification_in_python_is_read_without_the_stages_behind_it() -> None:
    code = (
        "import sys, recipe_compiler as rc; x = rc.scalar('x');"
        "rc.Dynamics(name='k', state=[x], H=x**2, D=[[1]], Q=[[0]]);"
        "print(sorted({'numba', 'scipy', 'recipe_compiler.pipeline', 'rich'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("unit", [1j, sympy.I])
def test_complex_numbers_are_refused_by_name(unit: object) -> None:
    x = rc.scalar("x")
    with pytest.raises(rc.SpecError) as caught:
        rc.Dynamics(name="c", state=[x], H=unit * sympy.Symbol("x", real=True), D=[[1]], Q=[[0]])
    assert "formulas are of real numbers" in str(caught.value)
