"""Steps with flows of constant matrices: friction with a full C, memory, a rotation; what is read of their text."""

import numpy as np
import pytest
from advancing import advance
from scipy.linalg import expm

from recipe_compiler.errors import DocumentError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.program import Noise, Propagator, Shift
from recipe_compiler.run.load_module import load_text
from recipe_compiler.tensor.show import text

pytestmark = pytest.mark.usefixtures("taken_for_granted")

DENSE = """
format: 1
name: dense
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/gaussian.yaml
parameters:
  M: {value: [[2, 1/2], [1/2, 1]]}
  C: {value: [[1, 1/3], [1/3, 2]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
scheme: {name: baoab}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
MEMORY = (
    DENSE.replace("sghmc", "generalised_langevin")
    .replace("C: {value: [[1, 1/3], [1/3, 2]]}", "Lambda: {value: [[1, 1/2, 0], [-1/3, 1, 2]]}\n  A: MEMORY")
    .replace("MEMORY", "{value: [[2, 1/2, 0], [1/2, 1, 0], [0, 0, 0]]}")
    .replace("{d: 2}", "{d: 2, k: 3}")
)
M, C = np.array([[2, 0.5], [0.5, 1]]), np.array([[1, 1 / 3], [1 / 3, 2]])
Lambda, A = np.array([[1, 0.5, 0], [-1 / 3, 1, 2]]), np.array([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 0.0]])
mu, Sigma = np.array([1.0, -2.0]), np.array([[2, 0.5], [0.5, 1]])
EPS = 0.3


def test_friction_with_a_full_matrix_is_one_draw_from_prepared_matrices(program_of) -> None:
    program = program_of(DENSE)
    first, *_ = program.statements
    assert isinstance(first, Propagator)
    assert text(first.F[0][0]) == "sum_k C[k,i] inv(M)[k,j]"  # C is symmetric
    assert text(first.two_D[0][0]) == "2 C[i,j]"
    (noise,) = program.noises
    assert text(noise.two_D[0][0]) == "covariance_O[i,j]"
    assert [text(s.rate) for s in program.shifts if s.noise] == ["sum_j change_O[i,j] r_v1[j]"]


def test_memory_moves_momenta_and_its_variables_together(program_of) -> None:
    program = program_of(MEMORY)
    (noise,) = program.noises
    assert [block.name for block in noise.blocks] == ["r", "w"]
    assert isinstance(program.statements[0], Propagator)
    assert [type(s) for s in program.statements[1:]][2:5] == [Noise, Shift, Shift]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["sizes: {d: 2, k: 3}\n", ""])
def test_prepared_matrices_are_those_of_the_flow(written, sizes: str) -> None:
    """In registers and in arrays: the covariance of O by Van Loan's exponential."""
    emitted = compile_build(written(MEMORY.replace("sizes: {d: 2, k: 3}\n", sizes)))
    module = load_text(emitted.name, emitted.text)
    constants = module.prepare(M, Lambda, A, mu, Sigma, EPS, *([] if sizes else [2, 3]))
    two_D = np.zeros((5, 5))
    two_D[2:, 2:] = 2 * A
    F = friction(A)
    whole = expm(EPS * np.block([[-F, two_D], [np.zeros((5, 5)), F.T]]))
    found = dict(zip((array.name for array in emitted.kernel.prepare.outputs), constants, strict=True))
    L = np.vstack([found["L_r"], found["L_w"]])
    np.testing.assert_allclose(L @ L.T, whole[:5, 5:] @ whole[:5, :5].T, atol=1e-14)
    change = np.block([[found[f"change_O_{a}_{b}"] for b in "rw"] for a in "rw"])
    np.testing.assert_allclose(np.eye(5) + EPS * change, expm(-EPS * F), atol=1e-14)


def friction(A: np.ndarray) -> np.ndarray:
    return np.block([[np.zeros((2, 2)), -Lambda], [Lambda.T @ np.linalg.inv(M), A]])


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["sizes: {d: 2, k: 3}\n", ""])
def test_three_steps_are_the_composition_of_their_flows(written, sizes: str) -> None:
    """BAOAB with memory that does not fade, so without noise: in registers and in arrays, against NumPy and SciPy."""
    emitted = compile_build(written(MEMORY.replace("sizes: {d: 2, k: 3}\n", sizes)))
    module = load_text(emitted.name, emitted.text)
    theta, r, w = np.array([1.5, -0.5]), np.array([0.3, -1.0]), np.array([0.2, 0.1, -0.4])
    x, p, z = theta.copy(), r.copy(), w.copy()
    decay = expm(-EPS * friction(np.zeros((3, 3))))
    for _ in range(3):
        p -= EPS / 2 * np.linalg.solve(Sigma, x - mu)
        x += EPS / 2 * np.linalg.solve(M, p)
        p, z = np.split(decay @ np.concatenate([p, z]), [2])
        x += EPS / 2 * np.linalg.solve(M, p)
        p -= EPS / 2 * np.linalg.solve(Sigma, x - mu)
    given = (M, Lambda, np.zeros((3, 3)), mu, Sigma)
    streams, _ = module.seed_streams(1, 1)
    assert len(advance(module, (theta, r, w), given, EPS, streams[0], thin=3)[0]) == 1
    np.testing.assert_allclose([*theta, *r, *w], [*x, *p, *z], rtol=1e-12)


MUTANTS = {
    "a flow for half a step": ("1.0, eps)", "0.5, eps)"),
    "friction transposed": ("F_r[i, j] = C_inv_M[i, j]", "F_r[i, j] = C_inv_M[j, i]"),
    "noise of half its variance": ("two_D_r[i, j] = 2.0 * C[i, j]", "two_D_r[i, j] = C[i, j]"),
    "Euler's noise at an exact decay": ("_noise_factor([[two_D_r_2]]", "_noise_factor([[two_D_r]]"),
    "the integral for the change": (
        "((change_O,),)", "((X_O,),)", "((integral_O,),)", "((change_O,),)", "((X_O,),)", "((integral_O,),)",
    ),
    "a decay that is transposed": ("change_O[0, 1] * r_v1_1", "change_O[1, 0] * r_v1_1"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_fault_in_the_text_is_found(written, assert_found, mutant: str) -> None:
    assert_found(compile_build(written(DENSE)), *MUTANTS[mutant])


def test_a_matrix_that_depends_on_the_state_has_no_row(program_of) -> None:
    document = """
format: 1
name: metric
dynamics: SPECS/dynamics/gsgrhmc.yaml
target: SPECS/targets/gaussian.yaml
bind: {K: "sqrt(1 + norm2(theta)/4)*A"}
parameters:
  A: {shape: [d, d], is: positive definite, value: [[1, 1/4], [1/4, 2]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
scheme: {split: [O, A, B]}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
    with pytest.raises(DocumentError) as raised:
        program_of(document)
    assert "found the piece A" in str(raised.value)
    assert "its drift is no polynomial in theta" in str(raised.value)
