"""A size stands as a number in a target without data and in `bind`: draws are those of the number itself.

A size is that of the block, known when it is compiled or at the run, or that of a parameter which nothing else reads.
"""

from pathlib import Path

import numpy as np
import pytest
from answers import document
from emitted_file import file_of
from reports import granted

D, K = 2, 3
"""The size of theta, and of the parameter."""
LANGEVIN = """state: {theta: {shape: d}}
parameters: {c: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [[c*I]]
Q: [[0]]
"""
HMC = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 2, flip: {r: -r}}}]}"
EULER, BAOAB = "{name: euler}", "{name: baoab}"


def drawn(folder: Path, n: str, dynamics: str, scheme: str, bind: str, *, fixed: bool, run: str) -> np.ndarray:
    """Return draws of U = n theta.theta."""
    build = document(
        f"dynamics: {dynamics}\ntarget: target.yaml\nscheme: {scheme}\nvariant: full\nbind: {{{bind}}}\n"
        f"parameters: {{a: {{value: [1, 2, 4]}}}}\nrun: {{step_size: 0.1{run}}}\n"
        + (f"sizes: {{d: {D}}}\n" if fixed else ""),
        target=f"state: {{theta: {{shape: d}}}}\nparameters: {{a: {{shape: k}}}}\npotential: {n}*theta.T @ theta\n",
        langevin=LANGEVIN,
    )
    with granted():
        module = file_of(build, folder)
    given = {} if fixed else {"d": D}
    return module.sample(draws=5, warmup=0, thin=2, chains=2, **given)["theta"]


@pytest.mark.parametrize(
    ("n", "dynamics", "scheme", "bind", "fixed", "run"),
    [
        ("d", "langevin.yaml", EULER, "c: 1", True, ""),
        ("d", "langevin.yaml", EULER, "c: 1/d", False, ""),
        ("(d + k)", "langevin.yaml", EULER, "c: d/k", True, ", lanes: true"),
        ("k", "sghmc", BAOAB, "M: k*I, C: 2*d*I", False, ""),
        ("(d + k)", "hmc", HMC, "M: I/k", False, ""),
    ],
)
def test_a_size_in_a_formula_is_its_number(
    tmp_path: Path, n: str, dynamics: str, scheme: str, bind: str, fixed: bool, run: str
) -> None:
    whole = {"d": D, "k": K}
    numbers = str.maketrans({name: str(n) if fixed else f"(({name} + {n})/2)" for name, n in whole.items()})
    own = drawn(tmp_path, n, dynamics, scheme, bind, fixed=fixed, run=run)
    other = drawn(tmp_path, n.translate(numbers), dynamics, scheme, bind.translate(numbers), fixed=fixed, run=run)
    np.testing.assert_allclose(own, other, rtol=1e-12)
