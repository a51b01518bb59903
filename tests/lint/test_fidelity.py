"""What is followed on symbols is what NumPy computes, for many ways to write NumPy."""

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.follow import follow_step
from recipe_compiler.lint.replay import run_with_floats
from recipe_compiler.trace.operations import Trace, Untraced
from recipe_compiler.verify.core.subject import prepare_subject

FILE = Path(__file__).parent / "steps" / "idioms.py"
NAMES = [node.name for node in ast.parse(FILE.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_trace_is_what_numpy_computes(name: str, asking: Callable[..., Binding]) -> None:
    ask, sizes = asking(f"idioms.py:{name}", "sgld"), ({"d": 3},)
    (trace,) = run_with_floats(ask, prepare_subject(ask.dynamics), sizes, follow_step(ask, sizes))
    assert isinstance(trace, Trace), trace
    assert trace.rounded == ()


@pytest.mark.slow
def test_another_trace_is_not(asking: Callable[..., Binding]) -> None:
    ask, sizes = asking("idioms.py:operators", "sgld"), ({"d": 3},)
    (trace,) = follow_step(ask, sizes)
    assert isinstance(trace, Trace)
    other = replace(trace, outputs=(trace.outputs[0][::-1],))
    (found,) = run_with_floats(ask, prepare_subject(ask.dynamics), sizes, [other])
    assert isinstance(found, Untraced)
    assert "entry 0 of the new theta is" in found.reason
