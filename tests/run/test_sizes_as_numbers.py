"""A size stands as a number in a target without data and in `bind`: what is compiled of it draws from exp(-U).

U = n theta.theta, n a size, has the variance 1/(2n) in each coordinate. A size is that of the block itself, known when
it is compiled or at the run, or that of a parameter which nothing else reads. BAOAB and accepted paths have that
variance at every step size, Euler's step with D = c I has 1/(2n (1 - n c eps)).
"""

from pathlib import Path

import numpy as np
import pytest
from emitted_file import imported
from loaders import load_build

from recipe_compiler.pipeline import compile_build

DYNAMICS = Path(__file__).parents[2] / "specs/dynamics"
D, K = 2, 3
"""The size of theta, and of the parameter."""
LANGEVIN = """
format: 1
name: langevin
state: {theta: {shape: d}}
parameters: {c: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [[c*I]]
Q: [[0]]
"""
TARGETS = {
    "d": "state: {theta: {shape: d}}\npotential: d*theta.T @ theta\n",
    "k": "state: {theta: {shape: d}}\nparameters: {a: {shape: k}}\npotential: k*theta.T @ theta\n",
    "none": "state: {theta: {shape: d}}\npotential: 2*theta.T @ theta\n",
    "both": "state: {theta: {shape: d}}\nparameters: {a: {shape: k}}\npotential: (d + k)*theta.T @ theta\n",
}
N = {"d": D, "k": K, "none": 2, "both": D + K}
HMC = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 5, flip: {r: -r}}}]}"
EULER, BAOAB = "{name: euler}", "{name: baoab}"
LANES = "lanes: true"
EPS = {EULER: 0.05, BAOAB: 0.3, HMC: 0.2}


@pytest.mark.parametrize(
    ("target", "dynamics", "scheme", "bind", "c", "fixed", "run"),
    [
        ("d", "langevin", EULER, "c: 1", 1, True, ""),
        ("d", "langevin", EULER, "c: 1", 1, False, ""),
        ("none", "langevin", EULER, "c: 1/d", 1 / D, False, ""),
        ("none", "langevin", EULER, "c: d", D, True, LANES),
        ("k", "langevin", EULER, "c: 1", 1, False, ""),
        ("both", "langevin", EULER, "c: 1/k", 1 / K, True, ""),
        ("d", "sghmc", BAOAB, "M: d*I, C: I/d", 0, False, ""),
        ("k", "sghmc", BAOAB, "M: k*I, C: 2*k*I", 0, False, ""),
        ("both", "sghmc", BAOAB, "M: d*I, C: k*I", 0, True, LANES),
        ("d", "hmc", HMC, "M: d*I", 0, False, ""),
        ("k", "hmc", HMC, "M: I/k", 0, False, ""),
        ("both", "hmc", HMC, "M: k*I", 0, True, LANES),
    ],
)
def test_what_is_compiled_of_a_size_in_a_formula_has_the_variance_of_its_law(
    tmp_path: Path, target: str, dynamics: str, scheme: str, bind: str, c: float, fixed: bool, run: str
) -> None:
    (tmp_path / "target.yaml").write_text(f"format: 1\nname: target\n{TARGETS[target]}")
    (tmp_path / "langevin.yaml").write_text(LANGEVIN)
    used = "langevin.yaml" if dynamics == "langevin" else DYNAMICS / f"{dynamics}.yaml"
    parts = [f"format: 1\nname: sized\ndynamics: {used}\ntarget: target.yaml\nscheme: {scheme}\nvariant: full"]
    parts += [f"bind: {{{bind}}}", f"run: {{step_size: {EPS[scheme]}, {run}}}"]
    parts += ["parameters: {a: {value: [1, 2, 4]}}"] if "{a:" in TARGETS[target] else []
    parts += [f"sizes: {{d: {D}}}"] if fixed else []
    (tmp_path / "sized.yaml").write_text("\n".join(parts))
    module = compile_build(load_build(tmp_path / "sized.yaml"))
    (tmp_path / "sized.py").write_text(module.file)
    sizes = {} if fixed else {"d": D}
    theta = imported(tmp_path / "sized.py").sample(draws=10_000, warmup=100, thin=10, chains=4, **sizes)["theta"]
    n = N[target]
    expected = 1 / (2 * n * (1 - n * c * EPS[scheme]))
    assert theta.shape == (4, 10_000, D)
    np.testing.assert_allclose(theta.var(axis=(0, 1)), expected, rtol=0.05)  # its sd: 0.01 and less
