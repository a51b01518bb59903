"""What Python users are told: in Python's words, by this project's errors, with what to write instead."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from reports import granted

import recipe_compiler as rc
from recipe_compiler.front.model import Model

SPECS = Path(__file__).parents[2] / "specs"
theta, x = rc.vector("theta", "d"), rc.vector("x", 2)
p, q = rc.scalar("p"), rc.scalar("q")
U = rc.function("U", of=theta, role="potential")
YAML = re.compile(r"quote|YAML|`\||\{(of|is|shape|value)\b|[a-z]: \{|\bunder (parameters|functions|state|sizes)\b")


def stated(**changes: Any) -> rc.Dynamics:
    given: dict[str, Any] = {"name": "a", "state": [x], "H": rc.norm2(x) / 2, "D": [[rc.I]], "Q": [[0]]}
    return rc.Dynamics(**{**given, **changes})


def cycle(moves: object) -> rc.Build:
    return rc.Build(
        name="plane", dynamics=f"{SPECS}/dynamics/hmc.yaml", target=f"{SPECS}/targets/banana.yaml", step_size=0.1,
        parameters={"M": [[2, 1], [1, 3]]}, scheme={"cycle": moves}, sizes={"d": 2},
    )  # fmt: skip


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "D of numbers": (lambda: stated(D=np.eye(2)), "D=[[np.eye(2)]]"),
    "D of SymPy": (lambda: stated(D=sympy.eye(2)), "D=[[A]] of one, whatever its size"),
    "D flat": (lambda: stated(D=[rc.I]), "D=[[A]]"),
    "D too wide": (lambda: stated(D=[[rc.I, 0]]), "D=[[A, 0], [0, B]] of two"),
    "H is an array": (lambda: stated(H=np.ones(2)), "a formula is one object"),
    "an undeclared name": (lambda: stated(H="a*norm2(x)"), "declare it with scalar, vector, matrix or function"),
    "matrices compared": (
        lambda: stated(H=rc.norm2(x) * rc.trace(rc.matrix("M", "d", "d")), assume=[rc.matrix("M", "d", "d") > 0]),
        'matrix("M", "d", "d", is_="positive definite")',
    ),
    "== of Python": (lambda: stated(assume=[p == q]), 'as a text, "a == b"'),
    "claims in a list": (lambda: stated(claims=[1]), 'claims={"drift": {theta: ...}}'),
    "potential is a formula": (lambda: stated(potential=rc.norm2(x)), 'U = function("U", of=theta)'),
    "potential is code": (lambda: stated(potential=np.sum), 'U = function("U", of=theta)'),
    "of a number": (lambda: rc.function("U", of=3), 'function("U", of=theta)'),
    "of a formula": (lambda: rc.function("U", of=theta + theta), 'function("U", of=theta)'),
    "three sizes": (lambda: rc.function("U", of=theta, shape=("d", "d", "d")), "expected none, one or two"),  # type: ignore[arg-type]
    "a role": (lambda: rc.function("U", of=theta, role="energy"), "expected 'potential' or none"),
    "a name": (lambda: rc.function(3, of=theta), "expected a text"),  # type: ignore[arg-type]
    "a kind": (lambda: rc.scalar("a", is_=3), "expected one of real, positive"),  # type: ignore[arg-type]
    "a domain": (lambda: rc.scalar("a", domain=(0, 1)), '"interval(0, 1)"'),  # type: ignore[arg-type]
    "NumPy's exp": (lambda: np.exp(p), "recipe_compiler.exp(...)"),
    "^": (lambda: p ^ 2, "write **"),
    "a cycle that is no list": (lambda: cycle({"refresh": "r"}), 'hint: [{"refresh": r}, {"metropolis"'),
    "a move that is a block": (lambda: cycle(["r"]), 'each move is an item of its own: [{"refresh": r}, {'),
    "a cycle without a word": (lambda: cycle([{"refresh": "r"}]), '{"split": ["B/2", "A", "B/2"], "steps": 10, "flip'),
    "a large array": (lambda: x + np.ones((40, 40)), "declare a parameter"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_python_is_answered_in_python(name: str) -> None:
    wrong, said = WRONG[name]
    with pytest.raises(rc.RecipeError) as caught:
        wrong()
    assert said in str(caught.value)
    assert not YAML.search(str(caught.value))


@pytest.mark.slow
def test_arrays_stand_in_formulas_as_the_matrices_they_are() -> None:
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    of_array = stated(H=x.T @ A @ x / 2, D=[[A]])
    of_sympy = stated(H=x.T @ sympy.Matrix(A) @ x / 2, D=[[sympy.Matrix([[2, "1/2"], ["1/2", 1]])]])
    assert of_array.derive().drift.to_sympy() == of_sympy.derive().drift.to_sympy()
    assert of_array.check().verdict is rc.Verdict.PROVED
    assert repr(np.float64(2) * x) == "2*x"
    assert stated(D=[[-A]]).check().verdict is rc.Verdict.REFUTED


def test_one_block_alone_is_a_state_and_a_function_is_its_name() -> None:
    assert stated(state=x).digest == stated().digest
    named = {"state": [theta], "H": U, "name": "s"}
    assert stated(**named, potential=U).digest == stated(**named, potential="U").digest


@pytest.fixture(scope="module")
def model() -> Model:
    sgld = rc.Dynamics(name="sgld", state=[theta], H=U, D=[[rc.I]], Q=[[0]])
    normal = rc.Target(name="normal", state=[theta], potential=theta.T @ theta / 2)
    with granted():
        return rc.compile(sgld, normal, sizes={"d": 2}, step_size=0.05)


@pytest.mark.parametrize(
    ("setting", "found", "expected"),
    [
        ({"chains": 1.5}, "chains: found 1.5 (float)", "a whole number"),
        ({"chains": 0}, "chains: found 0", "1 or more"),
        ({"chains": True}, "chains: found True (bool)", "a whole number"),
        ({"draws": "100"}, "draws: found '100' (str)", "a whole number"),
        ({"draws": -1}, "draws: found -1", "1 or more"),
        ({"warmup": 2.5}, "warmup: found 2.5 (float)", "a whole number"),
        ({"warmup": -1}, "warmup: found -1", "0 or more"),
        ({"thin": [1]}, "thin: found [1] (list)", "a whole number"),
        ({"seed": 0.5}, "seed: found 0.5 (float)", "a whole number"),
        ({"seed": -3}, "seed: found -3", "0 or more"),
        ({"step_size": "0.1"}, "step_size: found '0.1' (str)", "a positive number"),
        ({"step_size": 1j}, "step_size: found 1j (complex)", "a positive number"),
        ({"step_size": float("nan")}, "step_size: found nan", "a positive number"),
        ({"step_size": 0}, "step_size: found 0", "a positive number"),
        ({"lanes": 1}, "lanes: found 1 (int)", "True or False"),
        ({"cores": 1.5}, "cores: found 1.5", "a whole number of 1 or more"),
        ({"cores": 0}, "cores: found 0", "a whole number of 1 or more"),
    ],
)
def test_a_setting_of_the_wrong_kind_or_value_is_a_run_error(
    model: Model, setting: dict[str, Any], found: str, expected: str
) -> None:
    with pytest.raises(rc.RunError) as caught:
        model.sample(**setting, progress=False)
    assert found in str(caught.value)
    assert f"expected {expected}" in str(caught.value) or f"expected None or {expected}" in str(caught.value)


@pytest.mark.slow
def test_numbers_of_numpy_are_settings(model: Model) -> None:
    given: dict[str, Any] = {"draws": np.int64(20), "warmup": np.int32(0), "step_size": np.float64(0.05)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few draws are not to be believed
        tree = model.sample(**given, chains=1, progress=False)
    assert tree["posterior"]["theta"].shape == (1, 20, 2)
