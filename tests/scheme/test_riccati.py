"""Steps by Riccati's equation: solutions, their ends, faults in the text, pieces that have no such flow."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from advancing import advance
from loaders import load_build
from reports import granted
from scipy.integrate import solve_ivp

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.tensor.show import text

unproved = pytest.mark.usefixtures("taken_for_granted")

SPECS = Path(__file__).parents[2] / "specs"
DYNAMICS = """
format: 1
name: quadratic
state:
  x: {shape: d}
  w: {shape: d}
parameters:
  M: {shape: [d, d], is: positive definite}
functions:
  U: {of: x, role: potential}
H: U(x) + w.T @ inv(M) @ w/2
D: [[0, 0], [0, 0]]
Q: [[0, -diag(G)], [diag(G), 0]]
"""
BUILD = """
format: 1
name: moving
dynamics: other.yaml
target: SPECS/targets/gaussian.yaml
parameters:
  M: {value: [[2, 1/2], [1/2, 1]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
scheme: {split: [A/2, B, A/2]}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
M = np.array([[2, 0.5], [0.5, 1]])
mu, Sigma = np.array([1.0, -2.0]), np.array([[2, 0.5], [0.5, 1]])
G = {
    "ones + x**2": (1, 0, 1),  # Delta = -4 (inv(M) w)**2
    "ones - x**2": (1, 0, -1),  # 4
    "ones/4 + x + x**2": (0.25, 1, 1),  # 0
    "ones/4 + x + 999999/1000000*x**2": (0.25, 1, 0.999999),  # 1e-6
    "ones/4 + x + 1000001/1000000*x**2": (0.25, 1, 1.000001),  # -1e-6
    "x**2 - 2*x": (0, -2, 1),  # 4
    "3*x**2": (0, 0, 3),  # 0
    "2*ones - 5*x - 3*x**2": (2, -5, -3),  # 49
}
"""(1, 0, 1) is x' = (1 + x**2) v entry by entry, v = inv(M) w: coefficients of either sign, by what stands still."""
OF_EACH_SIGN = ("ones + x**2", "ones/4 + x + x**2", "2*ones - 5*x - 3*x**2")
"""Of Delta: negative, zero, positive."""


def stated(g: str, sizes: str = "sizes: {d: 2}\n", dynamics: str = DYNAMICS) -> tuple[str, str]:
    return BUILD.replace("sizes: {d: 2}\n", sizes), dynamics.replace("(G)", f"({g})")


def compiled(written, g: str, sizes: str = "sizes: {d: 2}\n", split: str = "[A/2, B, A/2]") -> tuple[Module, Any]:
    """Return a module; where G vanishes the state space falls apart, which is no matter to a step, and not asked."""
    document, other = stated(g, sizes)
    build = written(document.replace("[A/2, B, A/2]", split), other=other)
    made = compile_build(build)
    return made, load_text(made.name, made.text)


def stepped(module, x: np.ndarray, w: np.ndarray, eps: float, steps: int, M=M) -> int:
    """Make steps in place; return whether the chain is alive."""
    streams, _ = module.seed_streams(1, 1)
    return len(advance(module, (x, w), (M, mu, Sigma), eps, streams[0], thin=steps)[0])


def test_the_statement_has_one_hyperbolic_function_for_either_sign(written) -> None:
    build, other = stated("ones + x**2")
    program = discretise(own := written(build, other=other), derive(bind(own), stated=True))
    first = program.shifts[0]
    assert first.transform is None
    v = "sum_j inv(M)[j,i] w[j]"
    assert text(first.rate).startswith("reciprocal(-sum_j eps x[i] inv(M)[j,i] w[j]/2 + sqrtcoth(-sum_jk eps**2 inv(M)")
    assert text(first.rate).endswith(f"(sum_j x[i]**2 inv(M)[j,i] w[j] + {v})/2")
    assert check_canonical(program) == ()
    piece, flow = split_by(derive(bind(own)), own.scheme)["A"]
    assert (flow.row, flow.may_end, flow.order, piece.moved) == ("Riccati, entry by entry", True, None, ("x",))
    assert "not a number where a solution runs off to infinity before t" in flow.says


@pytest.mark.slow
@unproved
@pytest.mark.parametrize(
    ("g", "sizes"), [*((g, "sizes: {d: 2}\n") for g in G), *((g, "") for g in OF_EACH_SIGN)],
    ids=lambda part: {"": "arrays", "sizes: {d: 2}\n": "registers"}.get(part, part),
)  # fmt: skip
def test_steps_are_the_solutions_of_their_equations(written, g: str, sizes: str) -> None:
    """Three steps of [A/2, B, A/2] against SciPy's solution of x' = (a + b x + c x**2) inv(M) w."""
    _, module = compiled(written, g, sizes)
    a, b, c = G[g]
    start, push = np.array([0.3, -1.1]), np.array([0.7, -0.4])
    x, w = start.copy(), push.copy()
    for _ in range(3):
        for part in ("A", "B", "A"):
            if part == "B":
                w = w + 0.1 * (b + 2 * c * x - (a + b * x + c * x**2) * np.linalg.solve(Sigma, x - mu))
                continue
            v = np.linalg.solve(M, w)
            found = solve_ivp(
                lambda _, z, v=v: (a + b * z + c * z**2) * v, (0, 0.05), x, rtol=1e-12, atol=1e-13, method="DOP853"
            )
            x = found.y[:, -1]
    assert stepped(module, start, push, 0.1, 3) == 1
    np.testing.assert_allclose([*start, *push], [*x, *w], rtol=1e-9)


@pytest.mark.slow
@unproved
@pytest.mark.parametrize(
    ("g", "x", "v", "alive"),
    [
        ("ones + x**2", 1.5, 10.0, True),  # tan(atan(1.5) + v/20): 1.48 of pi/2
        ("ones + x**2", 1.5, 15.0, False),  # 1.73
        ("ones + x**2", -1.5, 30.0, True),
        ("ones + x**2", 0.0, 400.0, False),  # before the last half turn, q < -pi**2
        ("ones - x**2", 1.5, 300.0, True),  # to 1
        ("ones - x**2", 1.5, -300.0, False),  # away from it
        ("3*x**2", 1.5, -300.0, True),  # to 0
        ("3*x**2", 1.5, 300.0, False),
        ("3*x**2", 0.0, 300.0, True),  # it stays
    ],
)
def test_a_solution_that_runs_off_ends_its_chain(written, g: str, x: float, v: float, *, alive: bool) -> None:
    """In a step of 0.05; the second entry, which stays, does not hide it."""
    _, module = compiled(written, g, split="[A, B]")
    moved = np.array([x, 0.6])
    assert stepped(module, moved, np.array([v, 0.0]), 0.05, 1, M=np.eye(2)) == alive
    assert bool(np.isnan(moved[0])) is not alive
    assert moved[1] == 0.6


FAULTS = {
    "q four times": ("_sqrtcoth(3.0625 * eps_squared", "_sqrtcoth(12.25 * eps_squared"),
    "q of a coefficient that is stale": ("eps_squared * (inv_M_w_new_0 *", "eps_squared * (inv_M_w_0 *"),
    "s of the other sign": ("_reciprocal(eps * (inv_M_w_0 * (5.0 + 6.0 * x_0)) / 4.0 + part)",
                            "_reciprocal(-eps * (inv_M_w_0 * (5.0 + 6.0 * x_0)) / 4.0 + part)"),
    "f at a stale x": ("(-2.0 + x_v1_0 * (5.0 + 3.0 * x_v1_0)) * inv_M_w_new_0",
                       "(-2.0 + x_0 * (5.0 + 3.0 * x_0)) * inv_M_w_new_0"),
    "no denominator": ("* (5.0 + 3.0 * x_0))) * part_2", "* (5.0 + 3.0 * x_0)))"),
    "another function": ("part = _sqrtcoth(", "part = _exprel("),
}  # fmt: skip
"""Of x' = (2 - 5 x - 3 x**2) v, b**2 - 4 a c = 49 v**2."""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Module:
    folder = tmp_path_factory.mktemp("shipped")

    def write(build: str, other: str) -> Build:
        (folder / "other.yaml").write_text(other)
        (folder / "build.yaml").write_text(build.replace("SPECS", str(SPECS)))
        return load_build(folder / "build.yaml")

    with granted():
        return compiled(write, "2*ones - 5*x - 3*x**2")[0]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_text_is_found(shipped: Module, assert_found, fault: str) -> None:
    check_shipped(shipped, {"d": 2})
    assert_found(shipped, *FAULTS[fault])


@pytest.mark.parametrize("name", ["part_2", "part_4"])
def test_a_quotient_without_its_guard_is_found(shipped: Module, name: str) -> None:
    """Its formula is the same: what differs is that a chain goes on where a solution has run off."""
    assert f"{name} = _reciprocal(" in shipped.text
    text = shipped.text.replace(f"{name} = _reciprocal(", f"{name} = 1.0 / (", 1)
    with pytest.raises(CompilerError, match="divides in x_v1 by what it does not require to be positive"):
        check_shipped(replace(shipped, text=text), {"d": 2})
