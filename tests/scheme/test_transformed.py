"""Steps that move a transform of a block: statements, laws of a step, faults in their text, pieces that have none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from advancing import advance
from loaders import load_build
from scipy import stats
from scipy.integrate import solve_ivp

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.errors import CompilerError, DocumentError
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.readback import check_shipped, read_back
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.splitting import transformed
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.tensor.show import text

pytestmark = pytest.mark.usefixtures("taken_for_granted")

SPECS = Path(__file__).parents[2] / "specs"
FRICTION = """
format: 1
name: friction
dynamics: SPECS/dynamics/sghmc_lognormal_friction.yaml
target: SPECS/targets/gaussian.yaml
parameters:
  kappa: {value: 1/2}
  m: {value: [0, 1/2]}
  v: {value: 1/4}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
scheme:
  split: [B/2, A/2, X/2, O, X/2, A/2, B/2]
  pieces: {A: {Q: all, H: r}, B: {Q: all, H: U}, O: {D: [[r, r]]}, X: {D: [[x, x]]}}
variant: full
sizes: {d: 2}
run: {step_size: 0.3}
"""
kappa, m, v = 0.5, np.array([0.0, 0.5]), 0.25
mu, Sigma = np.array([1.0, -2.0]), np.array([[2, 0.5], [0.5, 1]])
EPS = 0.3


def test_a_lognormal_piece_shifts_the_logarithm(program_of) -> None:
    program = program_of(FRICTION)
    first, last = (shift for shift in program.shifts if shift.block.name == "x")
    assert first.transform == last.transform == Transform(Family.LOG)
    assert text(first.rate) == "kappa exprel(-eps kappa/2) (m[i] - log(x[i]))/2"
    assert text(program.noises[0].two_D[0][0]) == "kappa v exprel(-eps kappa) delta[i,j]"
    assert all(shift.transform is None for shift in program.shifts if shift.block.name != "x")
    assert check_canonical(program) == ()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["sizes: {d: 2}\n", ""])
def test_the_law_of_one_step_from_a_point_is_lognormal(written, sizes: str) -> None:
    """In registers and in arrays: 4,000 steps from a point, log x against its normal law, false alarms 1e-5 each.

    X is done twice for half the step, so log x has the mean m + e (log x - m), e = exp(-kappa eps), the variance
    v (1 - e**2), at any step size, here 0.3 and 3.
    """
    emitted = compile_build(written(FRICTION.replace("sizes: {d: 2}\n", sizes)))
    module = load_text(emitted.name, emitted.text)
    start = np.array([3.0, 0.2])
    for seed, eps in enumerate((EPS, 10 * EPS)):
        streams, _ = module.seed_streams(seed, 4000)
        found = np.empty((len(streams), 2))
        for k, stream in enumerate(streams):
            state = np.array([1.5, -0.5]), np.array([0.3, -1.0]), start.copy()
            (found[k],) = advance(module, state, (kappa, m, v, mu, Sigma), eps, stream)[2]
        e = np.exp(-kappa * eps)
        standard = (np.log(found) - m - e * (np.log(start) - m)) / np.sqrt(v * (1 - e**2))
        assert all(stats.kstest(standard[:, i], "norm").pvalue > 1e-5 for i in range(2))
        assert abs(np.corrcoef(standard.T)[0, 1]) < 4.4 / np.sqrt(len(streams))


MUTANTS = {
    "an exponential of another number": ("_inverse_log(part)", "_inverse_log(2.0 * part)"),
    "noise beside the exponential": (
        "part = scale_x * noise_x_0 + log_part", "part = log_part",
        "_inverse_log(part)", "_inverse_log(part) + scale_x * noise_x_0",
    ),
    "no logarithm": ("log_part = math.log(x_0)", "log_part = x_0"),
    "a stale value": ("math.log(x_v1_0)", "math.log(x_0)"),
    "a decay that grows": ("step_factor_3 * (m[0] - log_part)", "step_factor_3 * (m[0] + log_part)"),
    "a whole step for a half": ("step_factor_3 = eps * kappa * exprel_of_constants_2 / 2.0",
                                "step_factor_3 = eps * kappa * exprel_of_constants"),
    "Euler's noise": ("_noise_scale(kappa * v * exprel_of_constants,", "_noise_scale(kappa * v,"),
    "one draw for both halves": ("scale_x * noise_x_2_0", "scale_x * noise_x_0"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_fault_in_the_text_is_found(written, assert_found, mutant: str) -> None:
    assert_found(compile_build(written(FRICTION)), *MUTANTS[mutant])


def test_another_transform_of_the_program_is_found(written) -> None:
    """The text moves the logarithm, the Program a power."""
    module = compile_build(written(FRICTION))
    statements = tuple(
        replace(s, transform=Transform(Family.POWER)) if getattr(s, "transform", None) else s
        for s in module.program.statements
    )
    with pytest.raises(CompilerError, match="moves something else than x"):
        check_shipped(replace(module, program=replace(module.program, statements=statements)), {"d": 2})


@pytest.mark.slow
def test_the_term_of_ito_is_missed_in_a_step_without_it(written, monkeypatch: pytest.MonkeyPatch) -> None:
    """Program and text agree, and the drift of x is not the derived one: kappa v x is missing."""
    build = written(FRICTION)
    derivation, slopes = derive(bind(build)), transformed._slopes

    def read() -> None:
        program = discretise(build, derive(bind(build), stated=True))
        module = emit_module(build.name, program, lower(program), "A test.\n", "0" * 64)
        read_back(module, derivation, {}, pinned_sizes(build, program))

    read()

    def without(c, transform, z):
        T, first, second = slopes(c, transform, z)
        return T, first, c.subtract(second, second)

    monkeypatch.setattr(transformed, "_slopes", without)
    with pytest.raises(CompilerError, match="differs from its Program in the drift of z_"):
        read()


DYNAMICS = """
format: 1
name: other
state:
  theta: {shape: d}
  r: {shape: d}
  x: {shape: d, domain: positive}
parameters:
  s: {is: positive}
functions:
  U: {of: theta, role: potential}
H: U(theta) + r.T @ r/2 + ENERGY
D: [[0, 0, 0], [0, I, 0], [0, 0, NOISE]]
Q: [[0, -I, 0], [I, 0, 0], [0, 0, 0]]
"""


@pytest.mark.parametrize(
    ("energy", "noise", "why"),
    [
        ("norm2(log(x))/2", "s*diag(x)", "the noise of log(x) depends on x"),
        ("norm2(x)/2", "s*diag(x**2)", "the drift of log(x) is not affine in it"),
        ("sum(log(x))**2/2", "s*diag(x**2)", "entries of log(x) drift by others of x"),
        ("norm2(log(x))/2", "s*(diag(x**2) + x @ x.T)", "its noise is correlated"),
    ],
)
def test_a_piece_that_no_transform_makes_affine_says_why(program_of, energy: str, noise: str, why: str) -> None:
    other = DYNAMICS.replace("ENERGY", energy).replace("NOISE", noise)
    document = FRICTION.replace("SPECS/dynamics/sghmc_lognormal_friction.yaml", "other.yaml")
    document = document.replace("kappa: {value: 1/2}", "s: {value: 1}").replace("  m: {value: [0, 1/2]}\n", "")
    with pytest.raises(DocumentError) as raised:
        program_of(document.replace("  v: {value: 1/4}\n", ""), other=other)
    assert "found the piece X" in str(raised.value)
    assert why in str(raised.value)


SEPARABLE = """
format: 1
name: separable
state:
  x: {shape: d, domain: DOMAIN}
  w: {shape: d}
functions:
  U: {of: x, role: potential}
H: U(x) + w.T @ w/2
D: [[0, 0], [0, 0]]
Q: [[0, -diag(G)], [diag(G), 0]]
"""
POSITIVE = """
format: 1
name: moving
dynamics: other.yaml
target: SPECS/targets/inverse_gaussian.yaml
parameters:
  b: {value: [6, 2]}
  c: {value: [1/2, 1/3]}
  k: {value: 1/4}
scheme: {split: [A/2, B, A/2]}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
LINE = POSITIVE.replace("inverse_gaussian", "gaussian").replace(
    "  b: {value: [6, 2]}\n  c: {value: [1/2, 1/3]}\n  k: {value: 1/4}\n",
    "  mu: {value: [1, -2]}\n  Sigma: {value: [[2, 1/2], [1/2, 1]]}\n",
)
DRIFTS = {
    "sqrt(x)": (np.sqrt, lambda x: 0.5 / np.sqrt(x), "shift, of x**(1/2)"),
    "x**2/2": (lambda x: x * x / 2, lambda x: x, "shift, of x**(-1)"),
    "1/x": (lambda x: 1 / x, lambda x: -1 / x**2, "shift, of x**2"),
    "x + x**2/4": (lambda x: x + x * x / 4, lambda x: 1 + x / 2, "linear, entry by entry, of x**(-1)"),
    "x*log(x)": (lambda x: x * np.log(x), lambda x: 1 + np.log(x), "linear, entry by entry, of log(x)"),
    "exp(2*x)/5": (lambda x: np.exp(2 * x) / 5, lambda x: 2 * np.exp(2 * x) / 5, "shift, of exp(-2*x)"),
}  # fmt: skip


def moving(g: str, domain: str = "") -> tuple[str, str]:
    """Return a build whose A is x' = g(x) w, and its dynamics."""
    domain = domain or ("real" if "exp" in g else "positive")
    return LINE if domain == "real" else POSITIVE, SEPARABLE.replace("DOMAIN", domain).replace("G", g)


def slope_of_U(x: np.ndarray, *, line: bool) -> np.ndarray:
    if line:
        return np.linalg.solve(Sigma, x - mu)
    return 1.5 / x - np.array([6, 2]) / x**2 + np.array([1 / 2, 1 / 3]) + x.sum() / 4


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["sizes: {d: 2}\n", ""])
@pytest.mark.parametrize("g", DRIFTS)
def test_steps_are_the_solutions_of_their_equations(written, g: str, sizes: str) -> None:
    """In registers and in arrays, three steps of [A/2, B, A/2] against SciPy's solution of x' = g(x) w."""
    document, other = moving(g)
    build = written(document.replace("sizes: {d: 2}\n", sizes), other=other)
    plain = derive(bind(build))
    assert split_by(plain, build.scheme)["A"][1].row == DRIFTS[g][2]
    emitted = compile_build(build, allow_undecided=True)
    module = load_text(emitted.name, emitted.text)
    line = document is LINE
    given = (mu, Sigma) if line else (np.array([6.0, 2.0]), np.array([1 / 2, 1 / 3]), 0.25)
    streams, _ = module.seed_streams(1, 1)
    value, derivative, _ = DRIFTS[g]
    start, push = (np.array([0.3, -1.1]) if line else np.array([1.5, 0.6])), np.array([0.7, -0.4])
    x, w = start.copy(), push.copy()
    for _ in range(3):
        for part in ("A", "B", "A"):
            if part == "B":
                w = w + 0.1 * (derivative(x) - value(x) * slope_of_U(x, line=line))
                continue
            found = solve_ivp(lambda _, z, w=w: value(z) * w, (0, 0.05), x, rtol=1e-12, atol=1e-13, method="DOP853")
            x = found.y[:, -1]
    assert len(advance(module, (start, push), given, 0.1, streams[0], thin=3)[0]) == 1
    np.testing.assert_allclose([*start, *push], [*x, *w], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("g", "push"), [("sqrt(x)", -300.0), ("x**2/2", 300.0), ("1/x", -300.0), ("exp(2*x)/5", 300.0)]
)
def test_a_solution_that_leaves_ends_its_chain(written, g: str, push: float) -> None:
    """It reaches 0, or infinity, within the step: the second entry, which stays, does not hide it."""
    document, other = moving(g)
    emitted = compile_build(written(document, other=other), allow_undecided=True)
    module = load_text(emitted.name, emitted.text)
    given = (mu, Sigma) if document is LINE else (np.array([6.0, 2.0]), np.array([1 / 2, 1 / 3]), 0.25)
    streams, _ = module.seed_streams(1, 1)
    x, w = np.array([1.5, 0.6]), np.array([push, 0.0])
    assert not len(advance(module, (x, w), given, 0.1, streams[0])[0])
    assert np.isnan(x[0])


ROOTS = {
    "another power": ("r_v1_0, 2.0)", "r_v1_0, 1.0)"),
    "a power without its guard": (
        "_inverse_power(root + step_factor_2 * r_v1_0, 2.0)", "(root + step_factor_2 * r_v1_0) ** 2",
    ),
    "the other momentum": ("step_factor_2 * r_v1_0, 2.0)", "step_factor_2 * r_v1_1, 2.0)"),
    "a stale root": ("math.sqrt(theta_v1_0)", "math.sqrt(theta_0)"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", ROOTS)
def test_a_fault_in_a_power_is_found(assert_found, mutant: str) -> None:
    assert_found(compile_build(load_build(SPECS / "builds/sgrhmc_inverse_gaussian_baoab.yaml")), *ROOTS[mutant])


@pytest.mark.parametrize(
    ("g", "domain", "why"),
    [
        ("sqrt(ones + x**2)", "real", "it has no transform of x, whose domain is real"),
        ("x**3", "real", "it has no transform of x, whose domain is real"),
        ("sqrt(x) + x**2", "positive", "the drift of x**(1/2) is not affine in it; the drift of x**(-1) is not"),
        ("exp(x) + exp(2*x)", "real", "the drift of exp(-x) is not affine in it"),
        ("ones + x**3", "real", "its drift is of degree 3 in x; it has no transform of x, whose domain is real"),
        ("ones + x + x**3", "positive", "the drift of x**(-2) is not affine in it"),
        ("exp(x**2)", "real", "it has no transform of x, whose domain is real"),
    ],
)
def test_a_drift_that_no_transform_makes_affine_says_why(program_of, g: str, domain: str, why: str) -> None:
    document, other = moving(g, domain)
    with pytest.raises(DocumentError) as raised:
        program_of(document, other=other)
    assert "found the piece A" in str(raised.value)
    assert why in str(raised.value)
