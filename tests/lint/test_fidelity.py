"""What is followed on symbols is what NumPy computes: traces evaluated in floats beside the real calls."""

import ast
import importlib.util
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recipe_compiler.lint.answer import Trace
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.process import run_step

pytestmark = pytest.mark.usefixtures("few_calls")

FILE = Path(__file__).parent / "steps" / "idioms.py"
NAMES = [node.name for node in ast.parse(FILE.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]

THETA = np.array([0.7, -0.4, 1.3])
FACTOR = np.array([[1.1, 0.0, 0.0], [0.3, 0.9, 0.0], [-0.5, 0.2, 1.4]])
D = FACTOR @ FACTOR.T
EPS = 0.01


def gradient(theta: Any) -> Any:
    return theta**3 + np.cos(theta[::-1])


class Recorded:
    """A generator whose draws are known: numbers in the order in which they are drawn."""

    def __init__(self) -> None:
        self.left = np.random.default_rng(20150601).standard_normal(100)
        self.used = 0

    def standard_normal(self, size: Any = None) -> Any:
        n = int(np.prod(size)) if size is not None else 1
        found = self.left[self.used : self.used + n]
        self.used += n
        return found[0] if size is None else found.reshape(size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        shape = size if size is not None else np.broadcast(loc, scale).shape or None
        return loc + scale * self.standard_normal(shape)

    def multivariate_normal(self, mean: Any, cov: Any) -> Any:
        return mean + self.standard_normal(len(mean))


def evaluated(trace: Trace, leaves: dict[str, Sequence[float]], draws: Sequence[float]) -> list[float]:
    """Return the outputs of a trace in floats."""
    functions: dict[str, Callable[[float], float]] = {
        **{
            name: getattr(math, name) for name in ("exp", "log", "log1p", "expm1", "sin", "cos", "tanh", "sinh", "cosh")
        },
        "atan": math.atan,
        "abs": abs,
        "sign": lambda x: math.copysign(1.0, x),
    }
    values: list[float] = []
    for operation in trace.operations:
        parts = [values[k] for k in operation.parts]
        match operation.op:
            case "number":
                value = float(operation.value)
            case "pi":
                value = math.pi
            case "leaf":
                value = leaves[operation.name][operation.position]
            case "draw":
                value = draws[operation.position]
            case "add":
                value = sum(parts)
            case "mul":
                value = math.prod(parts)
            case "pow":
                value = math.pow(*parts)
            case "call":
                value = functions[operation.name](*parts)
            case _:
                assert operation.name == "grad_U"
                value = float(gradient(np.array(parts))[operation.position])
        values.append(value)
    return [values[k] for flat in trace.outputs for k in flat]


def real_module() -> Any:
    spec = importlib.util.spec_from_file_location("idioms_for_real", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_is_what_numpy_computes(name: str, asking: Callable[..., Binding]) -> None:
    (trace,) = run_step(asking(f"idioms.py:{name}", "sgld"), ({"d": 3},)).cases
    assert isinstance(trace, Trace), trace
    rng = Recorded()
    real = getattr(real_module(), name)(THETA.copy(), D.copy(), gradient, EPS, rng)
    leaves = {"theta": THETA, "D": D.reshape(-1), "eps": [EPS], "grad_U": gradient(THETA)}
    assert trace.draws == rng.used
    assert evaluated(trace, leaves, rng.left) == pytest.approx(list(real), rel=1e-11, abs=1e-11)
    assert trace.rounded == ()
