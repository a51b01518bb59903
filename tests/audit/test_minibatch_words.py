"""What noise of the gradient makes of words, by F and Sigma as the emitted text has them: no random numbers.

U is quadratic with Hessian K, and the gradient of a minibatch has the noise N(0, V). A chain that begins its step with
the gradient of the minibatch before has the state (theta, r, g), g = K theta + xi at the end of a step: z+ = F z +
noise with F and Sigma over all three, and the covariance of theta is that of the discrete Lyapunov equation.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from affine_builds import SPECS, module_of, written

from recipe_compiler.audit.affine import AffineStep, affine_step, propagated
from recipe_compiler.audit.figures import covariance
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Entries
from recipe_compiler.program.program import Evaluate, Shift
from recipe_compiler.readback.names import EPS, Names
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.readback.step import read_step
from recipe_compiler.spec.model import Build

TARGET = """
name: mean
state: {theta: {shape: d}}
parameters: {S: {shape: [d, d], is: positive definite}}
data: {x: {shape: [N, d]}}
log_prior: -theta.T @ theta / 20
log_likelihood: -(x.T - theta).T @ inv(S) @ (x.T - theta) / 2
"""
BUILD = f"""
format: 1
name: noisy
dynamics: {SPECS}/dynamics/sghmc.yaml
target: mean.yaml
bind: BIND
parameters:
  S: {{value: [[2, 1/2], [1/2, 1]]}}
PARAMETERS
scheme: SCHEME
variant: minibatch
gradient_noise: {{V: NOISE}}
data: {{file: data.csv, x: [a, b]}}
run: {{step_size: 0.01, batch_size: 2}}
"""
SCALARS = ("{M: m*I, C: c*I}", "  m: {is: positive, value: 2}\n  c: {is: nonnegative, value: 3}\n"
           "  v: {is: nonnegative, value: 5}")  # fmt: skip
DIAGONAL = ("{M: diag(m), C: diag(c)}", "  m: {shape: d, is: positive, value: [1, 3]}\n"
            "  c: {shape: d, is: nonnegative, value: [3, 2]}\n"
            "  V0: {shape: [d, d], is: positive semidefinite, value: [[5, 2], [2, 3]]}")  # fmt: skip
MATRICES = ("{}", "  M: {value: [[2, 1/2], [1/2, 1]]}\n  C: {value: [[3, 1], [1, 2]]}\n"
            "  V0: {shape: [d, d], is: positive semidefinite, value: [[5, 2], [2, 3]]}")  # fmt: skip
FORMS = {
    "scalar": (SCALARS, "v*I", 5 * np.eye(2)),
    "dense V": (DIAGONAL, "V0", np.array([[5.0, 2.0], [2.0, 3.0]])),
    "M, C and V that do not commute": (MATRICES, "V0", np.array([[5.0, 2.0], [2.0, 3.0]])),
}
K = np.array([[1.0, 0.25], [0.25, 2.0]])
"""Of the theta that the tests are about; that of the target is not needed."""


def build_of(folder: Path, form: str, scheme: str, V: str) -> Build:
    (folder / "mean.yaml").write_text(TARGET)
    (folder / "data.csv").write_text("a,b\n1,2\n-1,0.5\n0.25,1\n")
    bind, parameters = FORMS[form][0]
    text = BUILD.replace("BIND", bind).replace("PARAMETERS", parameters).replace("SCHEME", scheme)
    return written(folder, text.replace("NOISE", V))


def read(build: Build, module: Module) -> AffineStep:
    numbers = {name: Entries(value.numbers) for name, value in build.values if value.numbers is not None}
    valued = tuple(replace(p, value=numbers.get(p.name)) for p in module.program.parameters)
    names = Names(replace(module.program, parameters=valued), {"d": 2, "N": 3, "batch_size": 2})
    theta = names.block(module.program.blocks[0])
    slopes = [sum(sp.nsimplify(K[i, j]) * theta[j] for j in range(2)) for i in range(2)]
    return affine_step(read_step(module, names), names, slopes)


def with_noise(step: AffineStep, V: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return F and Sigma over (theta, r, g) where the one evaluation of a step has noise N(0, V)."""
    program, names = step.names.program, step.names
    assert program.gradient is not None
    start = [symbol for block in program.blocks for symbol in names.block(block)]
    carried = names.gradient() if program.carried else []
    n, made, d = len(start) + len(carried), len(step.made), len(V)
    unit = np.eye(n + made + d)
    rows = dict(zip([*start, *carried], unit, strict=False))
    newest = {block.name: names.block(block) for block in program.blocks}

    here = {EPS: sp.Rational(eps)} | propagated(step.flows, eps)

    def value(entry: sp.Expr) -> float:
        return float(sp.N(entry.xreplace(here)))

    done, left = 0, list(carried)
    for statement in program.statements:
        if isinstance(statement, Evaluate):
            theta = np.array([rows[x] for x in newest[statement.at]])
            left = names.gradient(statement.new)
            rows |= dict(zip(left, K @ theta + unit[n + made :], strict=True))
        elif isinstance(statement, Shift):
            count = len(names.block(statement.block))
            for k in range(done, done + count):
                parts = [value(factor) * rows[symbol] for symbol, factor in step.values[k].factors]
                rows[step.made[k]] = sum(parts, unit[n + k])
            newest[statement.new] = list(step.made[done : done + count])
            done += count
    ends = [x for block in program.blocks for x in newest[program.newest(block)]]
    out = np.array([rows[x] for x in (*ends, *(left if carried else []))])
    noise = np.zeros((made + d, made + d))
    noise[np.ix_(step.noisy, step.noisy)] = [[value(entry) for entry in line] for line in step.covariance]
    noise[made:, made:] = V
    return out[:, :n], out[:, n:] @ noise @ out[:, n:].T


def law(step: AffineStep, V: np.ndarray, eps: float) -> np.ndarray:
    """Return the covariance of theta."""
    F, Sigma = with_noise(step, V, eps)
    S = covariance(F, Sigma)
    theta = len(K)
    return S[:theta, :theta]


def departures(step: AffineStep, exact: AffineStep, V: np.ndarray, eps: float) -> float:
    """Return by how much the noise of the gradient widens theta, against the same word with exact gradients."""
    return float(np.abs(law(step, V, eps) - law(exact, 0 * V, eps)).max())


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", ["{name: baoab}", "{split: [O/2, A/2, B, A/2, O/2]}"])
def test_halving_the_step_divides_by_2_and_by_8(tmp_path: Path, form: str, scheme: str) -> None:
    _, stated, V = FORMS[form]
    exact = read(*made(build_of(tmp_path, form, scheme, "0")))
    corrected = read(*made(build_of(tmp_path, form, scheme, stated)))
    plain = [departures(exact, exact, V, eps) for eps in (0.04, 0.02)]
    less = [departures(corrected, exact, V, eps) for eps in (0.04, 0.02)]
    assert plain[0] / plain[1] == pytest.approx(2, rel=0.03)
    assert less[0] / less[1] == pytest.approx(8, rel=0.03)
    assert less[1] < 2e-3 * plain[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense V", "M, C and V that do not commute"])
@pytest.mark.parametrize("scheme", ["{name: aboba}", "{name: obabo}"])
def test_in_some_words_the_noise_is_made_up_for_exactly(tmp_path: Path, form: str, scheme: str) -> None:
    _, stated, V = FORMS[form]
    exact = read(*made(build_of(tmp_path, form, scheme, "0")))
    corrected = read(*made(build_of(tmp_path, form, scheme, stated)))
    assert departures(corrected, exact, V, 0.1) < 1e-12
    assert departures(exact, exact, V, 0.1) > 0.01


@pytest.mark.slow
def test_the_closed_forms_of_one_coordinate(tmp_path: Path) -> None:
    """var theta omega^2 - 1 is eps v/(2 gamma), and eps^3 omega^2 v/(8 gamma) with what is derived (m = 1: here, 2)."""
    m, gamma, v, eps = 2.0, 1.5, 5.0, 1e-3
    exact = read(*made(build_of(tmp_path, "scalar", "{name: baoab}", "0")))
    corrected = read(*made(build_of(tmp_path, "scalar", "{name: baoab}", "v*I")))
    omega2 = K / m
    for step, expected in (
        (exact, eps * v / (2 * gamma * m) * np.eye(2)),
        (corrected, eps**3 * v / (8 * gamma * m) * omega2),
    ):
        found = law(step, v * np.eye(2), eps) @ K - np.eye(2)
        np.testing.assert_allclose(found, expected, rtol=0.02, atol=1e-3 * np.abs(expected).max())


def made(build: Build) -> tuple[Build, Module]:
    return build, module_of(build)


def test_a_step_takes_the_gradient_of_the_minibatch_before(tmp_path: Path) -> None:
    """What a fresh minibatch in each half kick would sample is eps v/4, half of what one of both does."""
    build, module = made(build_of(tmp_path, "scalar", "{name: baoab}", "0"))
    step = read(build, module)
    assert [e.new for e in module.program.evaluations] == ["grad_U_tilde_new"]
    found = law(step, 5.0 * np.eye(2), 1e-3) @ K - np.eye(2)
    np.testing.assert_allclose(np.diag(found), 1e-3 * 5 / (2 * 3), rtol=0.01)


WRONG = {
    "eps^2 V": ("v / 4.0 + v * exp_of_constants / 2.0 + v * exp_of_constants_2 / 4.0", "v"),
    "the factor 1/4 lost": (
        "v / 4.0 + v * exp_of_constants / 2.0 + v * exp_of_constants_2 / 4.0",
        "v + 2.0 * v * exp_of_constants + v * exp_of_constants_2",
    ),
    "E for 1 + E": ("v / 4.0 + v * exp_of_constants / 2.0 + v * exp_of_constants_2 / 4.0", "v * exp_of_constants_2"),
    "nothing": ("v / 4.0 + v * exp_of_constants / 2.0 + v * exp_of_constants_2 / 4.0", "0.0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", WRONG)
def test_other_amounts_leave_more_and_are_refused_by_read_back(tmp_path: Path, mutant: str) -> None:
    build, module = made(build_of(tmp_path, "scalar", "{name: baoab}", "v*I"))
    V = 5 * np.eye(2)
    old, new = WRONG[mutant]
    assert old in module.text
    wrong = replace(module, text=module.text.replace(old, new, 1))
    exact = read(*made(build_of(tmp_path, "scalar", "{name: baoab}", "0")))
    right, left = read(build, module), read(build, wrong)
    ratio = departures(left, exact, V, 0.04) / departures(left, exact, V, 0.02)
    assert ratio == pytest.approx({"eps^2 V": 4, "E for 1 + E": 4}.get(mutant, 2), rel=0.1)
    assert departures(left, exact, V, 0.02) > 20 * departures(right, exact, V, 0.02)
    with pytest.raises(CompilerError, match="differs from its Program"):
        check_shipped(wrong, {"d": 2})
