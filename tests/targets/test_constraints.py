"""Blocks that lie in sets: what is read, claimed and emitted of them, against 50 digits and closed forms."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from answers import document
from by_hand import factor
from loaders import load_build
from plain_gradients import Plain, plain
from some import some

from recipe_compiler.algebra.scalars import constraints as scalars
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.emit.print_start import print_start, spelling
from recipe_compiler.emit.support import constraints as support
from recipe_compiler.emit.support import starts
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.constraints import VECTORS, Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.readback import readings
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Target
from recipe_compiler.verdict import Refuted, Verdict
from recipe_compiler.verify.builds import constrained

HERE = Path(__file__).parent
A = [[0.4, 0.1, -0.3], [0.9, -0.6, 0.2], [-0.8, 0.5, 1.1]]
B = [[0.7, -0.2], [0.4, 0.3]]
a = [0.3, -1.2, 0.7]
DIGITS = 60
Columns = Callable[[list[Any]], Any]


# What is emitted: U and its gradient, beside 50 digits.


@cache
def module() -> Plain:
    """The functions of the module of a target with a block in every set, as plain Python."""
    return plain(HERE / "builds" / "all_sets.yaml", 24, a=np.array(a), A=np.array(A), B=np.array(B))


def dot(M: list[list[float]], X: Any) -> Any:
    return mp.fsum(M[i][j] * X[i, j] for i in range(len(M)) for j in range(len(M)))


def squares(x: Any) -> Any:
    return mp.fsum(one**2 for one in x)


def along(x: list[Any]) -> Any:
    return mp.fsum(c * one for c, one in zip(a, x, strict=True))


def entries(block: str, u: list[Any]) -> Any:
    """Return a block of `all_sets.yaml` by its variables, in Stan's forms."""
    match block:
        case "o" | "p":
            x = [u[0] if block == "o" else mp.exp(u[0])]
            return [*x, x[0] + mp.exp(u[1]), x[0] + mp.exp(u[1]) + mp.exp(u[2])]
        case "s":
            return [mp.exp(x) / mp.fsum(map(mp.exp, u)) for x in u]
        case "v":
            return [x / mp.sqrt(squares(u)) for x in u]
        case "L":
            return mp.matrix(factor([[mp.tanh(u[0])], [mp.tanh(u[1]), mp.tanh(u[2])]], mp.sqrt))
        case "C":
            return mp.matrix([[mp.exp(u[0]), 0], [u[1], mp.exp(u[2])]])
        case _:
            root = entries({"R": "L", "S": "C"}[block], u)
            return root * root.T


V: dict[str, Callable[[Any], Any]] = {
    "o": lambda x: along(x) + squares(x) / 2,
    "p": lambda x: along(x) + squares(x) / 2,
    "s": lambda x: along(x) - 3 * mp.fsum(map(mp.log, x)),
    "v": lambda x: along(x) + x[0] * x[1],
    "L": lambda L: dot(A, L) + L[2, 0] * L[1, 1] + L[2, 1] ** 2,
    "R": lambda R: dot(A, R) + R[2, 0] * R[1, 2],
    "C": lambda C: dot(B, C) + squares(C),
    "S": lambda S: dot(B, S) + squares(S) / 2,
}
"""The energy of each block of `all_sets.yaml`, in the order of its variables."""
BELOW, LOWER = ((1, 0), (2, 0), (2, 1)), ((0, 0), (1, 0), (1, 1))
FREE = {"L": BELOW, "R": BELOW, "C": LOWER, "S": LOWER}


def volume(block: str, u: list[Any]) -> Any:
    """Return J by the determinant of the Jacobian of the free entries, differentiated in many digits."""
    if block == "v":
        return -squares(u) / 2
    functions: list[Columns] = [lambda x, k=k: entries(block, x)[k] for k in FREE.get(block, range(3))]
    if block == "s":  # two shares are free, beside the mean of the variables
        functions[2] = lambda x: mp.fsum(x) / mp.sqrt(3)
    jacobian = mp.matrix([[partial(f, u, k) for k in range(3)] for f in functions])
    return mp.log(abs(mp.det(jacobian))) - (mp.fsum(u) ** 2 / 6 if block == "s" else 0)


def partial(function: Columns, u: list[Any], k: int) -> Any:
    """Return a derivative by differences of 4th order, exact to some 50 digits at 120."""
    step = mp.mpf(10) ** -25

    def at(times: int) -> Any:
        return function([x + times * step * (j == k) for j, x in enumerate(u)])

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)


POINTS = {
    "near": [0.3, -0.7, 0.4],
    "nearly equal": [0.5, -30.0, -29.0],
    "far up": [1.0, 2.5, 12.0],
    "corner": [30.0, -30.0, 1.0],
    "far": [-30.0, 28.0, -29.0],
}


@pytest.mark.parametrize("point", some(POINTS, 3))
def test_U_and_its_gradient_agree_with_50_digits(point: str) -> None:
    """Each block by itself, the others at the origin; U against U at another point, as constants do not matter."""
    u, base = POINTS[point], [0.2, 0.1, -0.3]
    with mp.workdps(160):
        for n, block in enumerate(V):
            if block in "pS" and point in ("far", "corner"):
                continue  # exp(60) and its square: values that no model has, and whose U overflows all others

            theta = np.tile(np.array(base), 8)
            before = module().U(theta)
            theta[3 * n : 3 * n + 3] = u
            read = module().gradient(theta)[3 * n : 3 * n + 3]
            value = module().U(theta) - before

            def U(x: list[Any], block: str = block) -> Any:
                return V[block](entries(block, x)) - volume(block, x)

            exact = [mp.mpf(x) for x in u]
            expected = [float(partial(U, exact, k)) for k in range(3)]
            scale = 1e-12 * max(1.0, *(abs(x) for x in expected))
            assert read == pytest.approx(expected, rel=1e-12, abs=scale), block
            stated = float(U(exact) - U([mp.mpf(x) for x in base]))
            assert value == pytest.approx(stated, rel=1e-12, abs=1e-10), block


@cache
def built() -> tuple[Module, Callable[[Module], None]]:
    """Return a module whose loops are as they are lowered, and what reads it back at the sizes of its target."""
    build = load_build(HERE / "builds" / "all_sets.yaml")
    derivation = derive(bind(build))
    program = discretise(build, derive(derivation.dynamics, stated=True))
    module = emit_module(build.name, program, lower(program), "A test.", "0" * 64)
    return module, lambda text: readings(text, derivation, {}, pinned_sizes(build, program))[0].job()


TANH_L, TANH_R = "math.tanh(cholesky_factor_corr_L", "math.tanh(corr_matrix_R"
SYMMETRIC = "R_slope_2_1 = grad_U_R[2, 1] + R_slope_1_2"

MUTANTS = {
    "no Jacobian of ordered": ("exp(ordered_o[1]) * o_slope_1 - 1.0", "exp(ordered_o[1]) * o_slope_1"),
    "wrong sign of the Jacobian of ordered": ("o_slope_2 - 1.0", "o_slope_2 + 1.0"),
    "no Jacobian of positive_ordered": ("p_slope_0 - 1.0", "p_slope_0"),
    "one share too few in the Jacobian of a simplex": ("s_slope + 3.0", "s_slope + 2.0"),
    "a simplex that is not confined": (" + (simplex_s[0] + simplex_s[1] + simplex_s[2]) / 3.0", ""),
    "no radius of a direction": (" + unit_vector_v[0]", ""),
    "wrong power in a Cholesky factor": (f"2.0 * {TANH_L}[0])", f"{TANH_L}[0])"),
    "wrong sign in a Cholesky factor": (f"+ 3.0 * {TANH_L}[1])", f"- 3.0 * {TANH_L}[1])"),
    "Jacobian of the factor in place of the matrix": (f"+ 3.0 * {TANH_R}[0])", f"+ 2.0 * {TANH_R}[0])"),
    "wrong power in a covariance": ("S_factor_slope_1_1 - 2.0", "S_factor_slope_1_1 - 1.0"),
    "no Jacobian of a covariance's factor": ("C_slope_1_1 - 1.0", "C_slope_1_1"),
    "half of a symmetric matrix": (SYMMETRIC, "R_slope_2_1 = grad_U_R[2, 1]"),
    "another block's variables": ("cov_matrix_S = theta[21:24]", "cov_matrix_S = theta[18:21]"),
    "a row that is too long": (f"{TANH_L}[2]) * L_left_2_1", f"{TANH_L}[2])"),
}


OF_U = {
    "ordered": (" - (ordered_o_2[1] + ordered_o_2[2])", ""),
    "simplex": (" + math.log(s_total_2)", ""),
    "cov_matrix": (" - (3.0 * cov_matrix_S_2[0] + 2.0 * cov_matrix_S_2[2])", ""),
    "none": ("", ""),
}
"""Jacobians that U loses; the last is the text as it is."""


@pytest.mark.parametrize("mutant", some(MUTANTS, 2))
def test_a_mutant_of_the_gradient_is_found(mutant: str) -> None:
    module, read = built()
    old, new = MUTANTS[mutant]
    head, gradient = module.text.split("def gradient(", 1)
    gradient, rest = gradient.split("\n\n\n", 1)
    assert old in gradient, gradient
    text = f"{head}def gradient({gradient.replace(old, new, 1)}\n\n\n{rest}"
    with pytest.raises(CompilerError, match="the gradient"):
        read(replace(module, text=text))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", OF_U)
def test_a_potential_without_a_jacobian_is_found(mutant: str) -> None:
    module, read = built()
    old, new = OF_U[mutant]
    assert old in module.text
    wrong = replace(module, text=module.text.replace(old, new))
    with nullcontext() if mutant == "none" else pytest.raises(CompilerError, match="in U"):
        read(wrong)


# What is claimed: the law of what is sampled is that of the blocks as declared.


def target(constraint: Constraint, shape: Shape) -> Target:
    return Target("t", Declarations((Block("b", shape, constraint=constraint),)))


SHAPES = {c: (Shape("K"), Shape(5)) if c in VECTORS else (Shape(2, 2), Shape(3, 3), Shape(5, 5)) for c in Constraint}


@pytest.mark.parametrize("constraint", Constraint)
def test_the_law_is_proved(constraint: Constraint) -> None:
    """Of columns for every size, by both engines; of matrices at their own size, and nothing is said of others."""
    for shape in SHAPES[constraint]:
        answer = constrained.keeps_law(target(constraint, shape))
        assert answer.decision.verdict is Verdict.PROVED, answer
        every = "index calculus for every size; second engine"
        assert answer.decision.by == (every if constraint in VECTORS else "normal form at the document's sizes")


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "forgotten": lambda J, u: 0 * J,
    "of the wrong sign": lambda J, u: -J,
    "of the wrong power": lambda J, u: J + u[-1] / 2,
    "squared": lambda J, u: 2 * J,
}


@pytest.mark.parametrize("constraint", Constraint)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_jacobian_is_refuted(constraint: Constraint, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = scalars.log_jacobian
    monkeypatch.setattr(constrained, "log_jacobian", lambda c, u, rows: WRONG[wrong](right(c, u, rows), u))
    decision = constrained.keeps_law(target(constraint, SHAPES[constraint][0])).decision
    if constraint is Constraint.UNIT_VECTOR and wrong != "of the wrong power":
        assert decision.verdict is Verdict.PROVED, "any law of the radius leaves that of the direction"
        return
    assert decision.verdict is not Verdict.PROVED
    if constraint not in VECTORS:
        assert isinstance(decision, Refuted)
        assert f"the log Jacobian of {constraint} differs" in decision.residual


# Where draws are: columns, shares, directions and matrices, and back.


@pytest.mark.parametrize("constraint", Constraint)
def test_draws_lie_in_their_set_and_come_back(constraint: Constraint) -> None:
    rng = np.random.default_rng(3)
    shape = Shape(4) if constraint in VECTORS else Shape(4, 4)
    count = Block("b", shape, constraint=constraint).sampled.shape.rows
    u = rng.normal(size=(2, 7, int(str(count))))
    forward, back = getattr(support, f"_{constraint}"), getattr(support, f"_from_{constraint}")
    x = forward(u) if constraint in VECTORS else forward(u, 4)
    again = back(x[1, 2])
    once = forward(again) if constraint in VECTORS else forward(again, 4)
    assert once == pytest.approx(x[1, 2], rel=1e-12, abs=1e-13)
    exact = scalars.value(constraint, [mp.mpf(v) for v in u[1, 2]], 4)
    for at, value in exact.items():
        assert x[(1, 2, *at)] == pytest.approx(float(value), rel=1e-13, abs=1e-15)
    if constraint is Constraint.SIMPLEX:
        assert x.sum(axis=-1) == pytest.approx(np.ones((2, 7)))
    elif constraint is Constraint.CORR:
        assert (np.linalg.eigvalsh(x) > 0).all()
        assert (x[..., range(4), range(4)] == 1).all()


# Where a chain of an emitted module starts.


SHARES, CORRELATIONS = [0.5, 0.2, 0.3], [[1.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.0]]


@cache
def first_state() -> Callable[..., dict[str, np.ndarray]]:
    """Return `first_state` of a module whose starts of blocks in sets are parameters."""
    more = "s0: {shape: 3, value: [1, 1, 1]}\n  R0: {shape: [3, 3], value: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}"
    build = (HERE / "builds" / "all_sets.yaml").read_text().replace("../../../specs/dynamics/hmc.yaml", "hmc")
    build = build.replace("../all_sets", "target").replace("parameters:", f"parameters:\n  {more}")
    made = document(f"{build}init: {{s: s0, R: R0}}\n", target=(HERE / "all_sets.yaml").read_text())
    start = print_start(made, derive(bind(made), stated=True), {}, spelling(made, {}, {}))
    assert start.arguments == ("s0", "R0", "d")
    space: dict[str, Any] = {"np": np, **vars(support), **vars(starts)}
    exec(compile("\n".join(start.lines), "starting", "exec"), space)
    return space["first_state"]


@pytest.mark.parametrize(
    ("s0", "R0", "found"),
    [
        (SHARES, CORRELATIONS, ""),
        ([0.5, 0.5, 0.5], CORRELATIONS, "init of s: found .* simplex"),
        ([0.5, 0.7, -0.2], CORRELATIONS, "init of s: found .* simplex"),
        (SHARES, 2 * np.array(CORRELATIONS), "init of R: found .* corr_matrix"),
        (SHARES, np.ones((3, 3)), "init of R: found .* corr_matrix"),
    ],
)
def test_a_module_starts_at_values_in_their_sets_alone(s0: Any, R0: Any, found: str) -> None:
    given = (1, 0, np.reshape(s0, (-1, 1)), np.array(R0), 24)
    if found:
        with pytest.raises(ValueError, match=found):
            first_state()(*given)
        return
    theta = first_state()(*given)["theta"]
    assert support._simplex(theta[6:9]) == pytest.approx(SHARES)
    assert support._corr_matrix(theta[15:18], 3) == pytest.approx(np.array(CORRELATIONS))
