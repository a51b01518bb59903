"""Builds whose dynamics have U at several blocks: emitted steps take its gradient at each."""

import inspect
from typing import Any

import numpy as np
import pytest
from answers import SPECS, document
from emitted_file import module_of

from recipe_compiler.errors import ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample

MU, SIGMA, SHARE = np.array([1.0, -2.0]), np.array([[2.0, 0.5], [0.5, 1.0]]), 0.25
K, EPS = np.linalg.inv(SIGMA), 0.125
A, B, G = (
    np.array([[1.0, 0.25], [0.25, 0.5]]),
    np.array([[1.0, -0.5], [-0.5, 1.0]]),
    np.array([[0.0, 1.0], [0.5, -1.0]]),
)
FIRST = """
state: {theta: {shape: d}, y: {shape: d}}
parameters: {b: {is: positive}, A: {shape: [d, d], is: positive definite}, B: {shape: [d, d], is: positive definite},
  G: {shape: [d, d]}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + b*U(y)
D: [[A, 0], [0, B]]
Q: [[0, G], [-G.T, 0]]
"""
SECOND = """
state: {theta: {shape: d}, r: {shape: d}, y: {shape: d}, s: {shape: d}}
parameters: {b: {is: positive}, A: {shape: [d, d], is: positive definite}, B: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + b*U(y) + norm2(r)/2 + norm2(s)/2
D: [[0, 0, 0, 0], [0, A, 0, 0], [0, 0, 0, 0], [0, 0, 0, B]]
Q: [[0, -I, 0, 0], [I, 0, 0, 0], [0, 0, 0, -I], [0, 0, I, 0]]
"""
BUILD = f"""
dynamics: dynamics.yaml
target: {SPECS}/targets/gaussian.yaml
parameters:
  b: {{value: {SHARE}}}
  A: {{value: {A.tolist()}}}
  B: {{value: {B.tolist()}}}
  mu: {{value: {MU.tolist()}}}
  Sigma: {{value: {SIGMA.tolist()}}}
scheme: SCHEME
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.7, draws: 20000, warmup: 200, thin: 4, chains: 4, seed: 1}}
"""
EXCHANGE = (
    "{cycle: [refresh: r, refresh: s, metropolis: {split: [B/2, A, B/2], steps: 2, flip: {r: -r, s: -s}}, "
    "{involution: {theta: y, y: theta}}]}"
)
OF_FIRST = BUILD.replace("  mu:", f"  G: {{value: {G.tolist()}}}\n  mu:")


def gradient(theta: np.ndarray) -> np.ndarray:
    return K @ (theta - MU)


def stepped(text: str, dynamics: str, **state: np.ndarray) -> np.ndarray:
    """Return all blocks after one emitted step without noise, end to end."""
    made = compile_build(document(text, dynamics=dynamics))
    module = module_of(load_text(made.name, made.loaded))
    known: dict[str, Any] = {"b": SHARE, "A": A, "B": B, "G": G, "mu": MU, "Sigma": SIGMA, "eps": EPS}
    constants = module.prepare(*(known[name] for name in inspect.signature(module.prepare).parameters))
    known |= dict(zip(module.CONSTANTS, constants, strict=True))
    known |= {f"{name}_{k}": x for name, z in state.items() for k, x in enumerate(z)}
    given = (known.get(name, 0.0) for name in inspect.signature(module.step).parameters)
    return np.array(module.step(*given))


def test_a_step_takes_the_gradient_at_each_block() -> None:
    """theta' = theta - eps (A g + b G h), y' = y - eps (b B h - G.T g), g and h the gradients at theta and y."""
    theta, y = np.array([0.5, -1.0]), np.array([3.0, 0.25])
    found = stepped(OF_FIRST.replace("SCHEME", "{name: euler}"), FIRST, theta=theta, y=y)
    g, h = gradient(theta), gradient(y)
    after = [theta - EPS * (A @ g + SHARE * G @ h), y - EPS * (SHARE * B @ h - G.T @ g)]
    np.testing.assert_allclose(found, np.concatenate(after), rtol=1e-12)


def test_a_step_takes_each_gradient_at_the_newest_value_of_its_block() -> None:
    theta, r, y, s = np.array([[0.5, -1.0], [0.25, 2.0], [3.0, 0.25], [-1.0, 0.5]])
    text = BUILD.replace("SCHEME", "{name: sequential_euler, order: [theta, r, y, s]}")
    found = stepped(text, SECOND, theta=theta, r=r, y=y, s=s)
    theta, y = theta + EPS * r, y + EPS * s
    after = [theta, r - EPS * (gradient(theta) + A @ r), y, s - EPS * (SHARE * gradient(y) + B @ s)]
    np.testing.assert_allclose(found, np.concatenate(after), rtol=1e-12)


def test_an_order_that_needs_two_gradients_by_another_block_is_refused() -> None:
    text = OF_FIRST.replace("SCHEME", "{name: sequential_euler, order: [y, theta]}")
    with pytest.raises(ModelError, match="needs grad_U_y at both the old and the new y"):
        compile_build(document(text, dynamics=FIRST))


def test_two_temperatures_have_the_moments_of_their_gaussians() -> None:
    """By BAOAB they are exact at every step size where U is quadratic (Leimkuhler, Matthews 2013)."""
    demand_gaussians(BUILD.replace("SCHEME", "{split: [B/2, A/2, O, A/2, B/2]}"), SECOND)


def test_replicas_exchange_as_their_temperatures_allow() -> None:
    """Parallel tempering (Geyer 1991): Hamiltonian moves of both, and theta and y exchanged, accepted by H."""
    still, dynamics = SECOND.replace("0, A, 0", "0, 0, 0").replace("0, B]", "0, 0]").split(", A: {", 1)
    dynamics = still + "}\n" + dynamics[dynamics.index("functions") :]
    text = BUILD[: BUILD.index("  A:")] + BUILD[BUILD.index("  mu:") :]
    text = text.replace("0.7", "0.9").replace("thin: 4", "thin: 2")
    demand_gaussians(text.replace("SCHEME", EXCHANGE), dynamics)


def demand_gaussians(text: str, dynamics: str) -> None:
    """Demand means mu and covariances Sigma, Sigma/b, within 5 standard errors of which four draws are worth one."""
    build = document(text, dynamics=dynamics)
    made = compile_build(build)
    draws = sample(load_text(made.name, made.loaded), build, build.run, Data(()))
    for name, covariance in (("theta", SIGMA), ("y", SIGMA / SHARE)):
        found = draws.block(name)[:, draws.warmup :].reshape(-1, 2)
        sds = np.sqrt(np.diag(covariance))
        np.testing.assert_array_less(np.abs(found.mean(axis=0) - MU) / sds, 5 / np.sqrt(20000))
        np.testing.assert_array_less(np.abs(np.cov(found.T) - covariance) / np.outer(sds, sds), 5 * np.sqrt(2 / 20000))


def test_a_long_state_is_not_swept_in_chunks() -> None:
    text = BUILD[: BUILD.index("  A:")] + "  n: {value: 15}\n" + BUILD[BUILD.index("scheme") :]
    plain = FIRST.replace("A, 0], [0, B", "I, 0], [0, I").replace("G], [-G.T", "0], [0").partition(", A: {")
    dynamics = plain[0] + "}\n" + plain[2][plain[2].index("functions") :]
    target = "state: {theta: {shape: d}}\nparameters: {n: {is: positive}}\npotential: n*sum(log(ones + theta**2))\n"
    text = text.replace(f"{SPECS}/targets/gaussian.yaml", "target.yaml").replace("SCHEME", "{name: euler}")
    made = compile_build(document(text.replace("d: 2", "d: 100"), dynamics=dynamics, target=target))
    assert not made.kernel.chunked
    assert [evaluation.at for evaluation in made.program.evaluations] == ["theta", "y"]


BATCHES = "variant: minibatch\ngradient_noise: {V: 0}\ndata: {file: data.csv, x: [a, b]}"


def test_a_batch_is_refused_by_name() -> None:
    text = OF_FIRST.replace("targets/gaussian.yaml", "targets/gaussian_mean.yaml").replace("SCHEME", "{name: euler}")
    text = text.replace(f"  mu: {{value: {MU.tolist()}}}\n", "").replace("variant: full", BATCHES)
    text = text.replace("run: {", "run: {batch_size: 2, ")
    with pytest.raises(ModelError, match="found U at theta, y, expected it at one block"):
        compile_build(document(text, dynamics=FIRST, **{"data.csv": "a,b\n1,2\n3,4\n5,6\n"}), allow_undecided=True)


@pytest.mark.parametrize("value", ["f(theta)", "f(y)"])
def test_a_function_without_a_formula_is_refused_by_name(value: str) -> None:
    dynamics = SECOND.replace("0, B]", f"0, {value}*B]").replace(
        "functions: {", "functions: {f: {of: theta, is: positive}, "
    )
    text = BUILD.replace("SCHEME", "{name: euler}")
    with pytest.raises(ModelError, match="found dynamics with f, a function without a formula"):
        compile_build(document(text, dynamics=dynamics), allow_undecided=True)
