"""Steps that are solved for, midpoint and generalised leapfrog: statements, chains, and faults in their text."""

import numpy as np
import pytest
from advancing import advance

from recipe_compiler.errors import DocumentError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.run.load_module import load_text
from recipe_compiler.tensor.show import text

pytestmark = pytest.mark.usefixtures("taken_for_granted")

METRIC = """
format: 1
name: metric
dynamics: SPECS/dynamics/gsgrhmc.yaml
target: SPECS/targets/gaussian.yaml
bind: {K: "sqrt(1 + norm2(theta)/4)*A"}
parameters:
  A: {shape: [d, d], is: positive definite, value: [[1, 1/4], [1/4, 2]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
scheme: {name: baoab, flows: {A: midpoint, O: midpoint}}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
RIEMANN = (
    METRIC.replace("gsgrhmc", "rhmc")
    .replace('K: "sqrt(1 + norm2(theta)/4)*A"', 'G: "(1 + norm2(theta)/4)*diag(a)"')
    .replace("A: {shape: [d, d], is: positive definite, value: [[1, 1/4], [1/4, 2]]}", "a: {shape: d, is: positive, V}")
    .replace("V}", "value: [1, 3]}")
    .replace("{name: baoab, flows: {A: midpoint, O: midpoint}}", "FLOW")
    .replace("FLOW", "{split: [H], pieces: {H: {Q: all}}, flows: {H: generalised}}")
)
a, mu = np.array([1.0, 3.0]), np.array([1.0, -2.0])
Sigma = np.array([[2, 0.5], [0.5, 1]])
EPS = 0.2


def test_midpoint_is_a_half_step_that_is_solved_for_and_one_that_is_not(program_of) -> None:
    shifts = program_of(METRIC).shifts
    assert [(s.new, s.implicit, bool(s.noise)) for s in shifts] == [
        ("r_v1", False, False),
        ("theta_v1", True, False),
        ("theta_v2", False, False),
        ("r_v2", False, True),
        ("r_v3", True, False),
        ("theta_v3", True, False),
        ("theta_new", False, False),
        ("r_new", False, False),
    ]
    solved, after = shifts[1], shifts[2]
    assert text(solved.rate) == text(after.rate) == "sum_j sqrt(sum_k theta_v1[k]**2 + 4) A[j,i] r_v1[j]/8"


def test_the_generalised_leapfrog_solves_for_half_of_the_momentum_and_half_of_the_position(program_of) -> None:
    shifts = program_of(RIEMANN).shifts
    assert [(s.new, s.implicit) for s in shifts] == [
        ("r_v1", True), ("theta_v1", False), ("theta_new", True), ("r_new", False),
    ]  # fmt: skip


def test_what_does_not_hold_what_it_moves_is_no_equation(program_of) -> None:
    """The kick takes the gradient where theta stands: both its halves are known."""
    program = program_of(METRIC.replace("{A: midpoint, O", "{A: midpoint, B: midpoint, O"))
    assert [s.new for s in program.shifts if s.implicit] == ["theta_v1", "r_v4", "theta_v3"]
    assert check_canonical(program) == ()


@pytest.mark.parametrize(
    ("scheme", "problem"),
    [
        ("{name: baoab, flows: {A: midpoint}}", "found the piece O"),
        ("{name: baoab, flows: {A: midpoint, O: midpoint, X: midpoint}}", "found a flow of X"),
        ("{name: baoab, flows: {A: midpoint, O: generalised}}", "two blocks without noise"),
        ("{name: baoab, flows: {A: newton}}", "midpoint"),
        ("{name: euler, flows: {A: midpoint}}", "found `flows`, expected none"),
        ("{split: [H, O], pieces: {H: {Q: all}, O: {D: all}}, flows: {H: midpoint, O: midpoint}}", "midpoint solves"),
    ],
)
def test_a_flow_that_a_piece_does_not_have_says_why(program_of, scheme: str, problem: str) -> None:
    document = METRIC.replace("{name: baoab, flows: {A: midpoint, O: midpoint}}", scheme)
    with pytest.raises(DocumentError) as raised:
        program_of(document)
    assert problem in str(raised.value)


def gradient(x: np.ndarray) -> np.ndarray:
    return np.linalg.solve(Sigma, x - mu)


def forces(x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dH/dr and dH/dtheta of H = U + r.T inv(G) r/2 + logdet(G)/2, G = (1 + |theta|**2/4) diag(a)."""
    g = 1 + x @ x / 4
    v = p / a
    return v / g, gradient(x) - p @ v * x / (4 * g**2) + len(x) * x / (4 * g)


def leapfrog(x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One generalised leapfrog step, its equations solved by plain iteration."""
    half, y = p, x
    for _ in range(200):
        half = p - EPS / 2 * forces(x, half)[1]
    for _ in range(200):
        y = x + EPS / 2 * (forces(x, half)[0] + forces(y, half)[0])
    return y, half - EPS / 2 * forces(y, half)[1]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["sizes: {d: 2}\n", ""])
def test_steps_of_the_generalised_leapfrog_go_back_where_they_came_from(written, sizes: str) -> None:
    """In registers and in arrays: against NumPy, and forth and back with the momentum turned round."""
    emitted = compile_build(written(RIEMANN.replace("sizes: {d: 2}\n", sizes)), allow_undecided=True)
    module = load_text(emitted.name, emitted.text)
    theta, r = np.array([1.5, -0.5]), np.array([0.3, -1.0])
    start, x, p = theta.copy(), theta.copy(), r.copy()
    for _ in range(5):
        x, p = leapfrog(x, p)
    streams, _ = module.seed_streams(1, 1)
    assert len(advance(module, (theta, r), (a, mu, Sigma), EPS, streams[0], thin=5)[0]) == 1
    np.testing.assert_allclose([*theta, *r], [*x, *p], rtol=1e-10)
    r *= -1
    assert len(advance(module, (theta, r), (a, mu, Sigma), EPS, streams[0], thin=5)[0]) == 1
    np.testing.assert_allclose(theta, start, rtol=1e-10)


@pytest.mark.slow
def test_an_equation_without_a_solution_leaves_no_number(written) -> None:
    """Far out, with a step of 1000, Newton's iteration finds none: the chain ends, and nothing is kept."""
    emitted = compile_build(written(RIEMANN), allow_undecided=True)
    module = load_text(emitted.name, emitted.text)
    theta, r = np.array([1.5, -0.5]), np.array([30.0, -80.0])
    streams, _ = module.seed_streams(1, 1)
    assert not len(advance(module, (theta, r), (a, mu, Sigma), 1000.0, streams[0], draws=2)[0])
    assert np.isnan(theta).any()


MUTANTS = {
    "an equation at the old position": ("theta_v1_theta_v1 = theta_v1_0 *", "theta_v1_theta_v1 = theta_0 *"),
    "an entry that is not compared": (
        "        _change, _size = _progress(_change, _size, theta_1, theta_v1_1, theta_v1_other_1)\n", "",
    ),
    "differences that are forgotten": (
        "_change, _size = _progress(_change, _size, theta_1,", "_change, _size = _progress(0.0, _size, theta_1,",
    ),
    "an iteration alone": ("for _ in range(100):", "for _ in range(1):"),
    "another entry that is no number": ("theta_v1_0 = np.nan", "_change = np.nan"),
    "a start elsewhere": ("    theta_v1_1 = theta_1\n", "    theta_v1_1 = theta_0\n"),
    "a difference of another entry": ("= theta_v1_other_1 - theta_v1_1", "= theta_v1_other_0 - theta_v1_1"),
    "a step of another entry": ("theta_v1_1 + residual_theta_v1[1]", "theta_v1_1 + residual_theta_v1[0]"),
    "no step": ("        theta_v1_1 = theta_v1_1 + residual_theta_v1[1]\n", ""),
    "noise in the equation": ("r_v3_other_0 = r_v2_0 +", "r_v3_other_0 = r_v2_0 + noise_r_0 +"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_fault_in_the_text_is_found(written, assert_found, mutant: str) -> None:
    assert_found(compile_build(written(METRIC)), *MUTANTS[mutant])
