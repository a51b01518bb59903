"""A size stands as a number in a target without data and in `bind`: draws are those of the number itself.

A size is that of the block, known when it is compiled or at the run, or that of a parameter which nothing else reads.
"""

from pathlib import Path

import numpy as np
import pytest
from emitted_file import imported
from loaders import load_build
from reports import granted

from recipe_compiler.pipeline import compile_build

pytestmark = pytest.mark.usefixtures("without_reading_back")

DYNAMICS = Path(__file__).parents[2] / "specs/dynamics"
D, K = 2, 3
"""The size of theta, and of the parameter."""
LANGEVIN = """
name: langevin
state: {theta: {shape: d}}
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
    (folder / "target.yaml").write_text(
        "name: target\nstate: {theta: {shape: d}}\nparameters: {a: {shape: k}}\n"
        f"potential: {n}*theta.T @ theta\n"
    )
    (folder / "langevin.yaml").write_text(LANGEVIN)
    used = "langevin.yaml" if dynamics == "langevin" else DYNAMICS / f"{dynamics}.yaml"
    sizes = f"sizes: {{d: {D}}}\n" if fixed else ""
    (folder / "sized.yaml").write_text(
        f"name: sized\ndynamics: {used}\ntarget: target.yaml\nscheme: {scheme}\nvariant: full\nbind: {{{bind}}}\n"
        f"parameters: {{a: {{value: [1, 2, 4]}}}}\n{sizes}run: {{step_size: 0.1{run}}}\n"
    )
    with granted():
        (folder / "sized.py").write_text(compile_build(load_build(folder / "sized.yaml")).file)
    given = {} if fixed else {"d": D}
    return imported(folder / "sized.py").sample(draws=5, warmup=0, thin=2, chains=2, **given)["theta"]


@pytest.mark.parametrize(
    ("n", "dynamics", "scheme", "bind", "fixed", "run"),
    [
        ("d", "langevin", EULER, "c: 1", True, ""),
        ("d", "langevin", EULER, "c: 1/d", False, ""),
        ("(d + k)", "langevin", EULER, "c: d/k", True, ", lanes: true"),
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
