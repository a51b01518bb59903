"""Emitted steps at shifted and scaled states lose no more digits than D, Q and H do as they are stated.

Coordinates and parameters are near 1e9, their differences of order one. Drift and covariance of the noise are compared
with 200 digits, and may be wrong by 100 u times the condition of the formulas as stated (`stated_equation.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
from emitted_step import Step
from loaders import load_build
from stated import wide
from stated_equation import Both, Equation

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run.sizes import parameter_values
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics, Scheme

SPECS = Path(__file__).parents[2] / "specs"
UNIT = 2.0**-53
ALLOWED = 100
EPS = 1.0
"""The drift is read off a step: a long one, so that it is not lost beside the state."""
FAR = 1e9

Rng = np.random.Generator
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Variant:
    """Dynamics stated in a test: of theta alone, or of theta and r; D and Q by their entries, row by row."""

    D: tuple[str, ...]
    Q: tuple[str, ...] = ("0",)
    H: str = "U(theta)"
    far: bool = True
    """Whether theta and m are near 1e9; else near 0."""


ONE, TWO = "theta: {shape: d}", "theta: {shape: d}, r: {shape: d}"
FRICTION, CANONICAL = ("0", "0", "0", "C"), ("0", "-I", "I", "0")
VARIANTS = {
    "distance": Variant(("(1 + norm2(theta - m))*I",)),
    "distance_to_a_power": Variant(("(1 + norm2(theta - m))**(3/2)*I",)),
    "squares_by_coordinate": Variant(("diag((theta - m)**2)",)),
    "fourth_power": Variant(("(1 + (theta[0] - m[0])**4)*I",)),
    "product_of_sums": Variant(("((theta[0] - m[0])*(theta[1] - m[1]) + 3)**2*I",)),
    "column": Variant(("I + (theta - m) @ (theta - m).T",)),
    "column_and_matrix": Variant(("C + 2*(theta - m) @ (theta - m).T",)),
    "columns_under_one_number": Variant(("exp(theta[0] - m[0])*(m @ m.T + (theta - m) @ (theta - m).T)",)),
    "matrix_squared": Variant(("(C + (theta - m) @ (theta - m).T) @ (C + (theta - m) @ (theta - m).T)",)),
    "no_factor_by_its_form": Variant(("2*(1 + norm2(theta - m))*C - (theta - m) @ (theta - m).T/8",)),
    "softplus": Variant(("softplus(3*(theta[0] - m[0]))*I",)),
    "exponential": Variant(("exp(-norm2(theta - m)/8)*C",)),
    "sine": Variant(("(1 + sin(theta[0] - m[0])**2)*I",)),
    "bell": Variant(("I/cosh(theta[0] - m[0])**2",)),
    "tanh": Variant(("(1 - tanh(9*(theta[0] - m[0]))**2)*I",), far=False),
    "log_of_a_ratio": Variant(("(1 + (1000000000*log(theta[0]/m[0]))**2)*I",)),
    "root": Variant(("sqrt(1 + norm2(theta - m))*I",)),
    "quotient": Variant(("I/(1 + norm2(theta - m))**2",)),
    "skew": Variant(("C",), Q=("(theta - m) @ b.T - b @ (theta - m).T",)),
    "skew_of_ratios": Variant(("C",), Q=("(theta[0] - m[0])*(b @ (C @ b).T - (C @ b) @ b.T)",)),
    "momentum": Variant(FRICTION, CANONICAL, "U(theta) + (r - m).T @ inv(C) @ (r - m)/2"),
    "relativistic": Variant(FRICTION, CANONICAL, "U(theta) + sqrt(1 + norm2(r - m))"),
    "student": Variant(FRICTION, CANONICAL, "U(theta) + 3*log(1 + norm2(r - m)/5)"),
    "quartic": Variant(FRICTION, CANONICAL, "U(theta) + norm2(r - m)**2/4"),
    "metric": Variant(("0", "0", "0", "(1 + norm2(theta - m))*C"),
                      ("0", "-sqrt(1 + norm2(theta - m))*C", "sqrt(1 + norm2(theta - m))*C", "0"),
                      "U(theta) + norm2(r - m)/2"),
    "of_the_distance": Variant(("0", "0", "0", "norm2(theta - r)*C"),
                               ("0", "-norm2(theta - r)*I", "norm2(theta - r)*I", "0"),
                               "U(theta) + norm2(theta - r)**2/8"),
    "friction_that_cancels": Variant(FRICTION, ("0", "-C", "C", "0"), "U(theta) + r.T @ theta + norm2(r - m)/2"),
}  # fmt: skip
SHIPPED: dict[str, Callable[[Rng, str, int], np.ndarray]] = {
    "sghmc_gaussian": lambda rng, block, d: FAR + rng.standard_normal(d),
    "sgnht_gaussian": lambda rng, block, d: FAR + rng.standard_normal(d),
    "gsgrhmc_gaussian": lambda rng, block, d: 1e6 * rng.standard_normal(d),
    "generalised_langevin_gaussian": lambda rng, block, d: FAR + rng.standard_normal(d),
    "sgld_gaussian": lambda rng, block, d: FAR + rng.standard_normal(d),
    "sgrld_banana": lambda rng, block, d: 1e4 * rng.standard_normal(d),
    "wright_fisher_dirichlet": lambda rng, block, d: np.array([1e-9, 0.5]),
    "sgrld_categories": lambda rng, block, d: FAR + rng.uniform(size=d),
}  # fmt: skip


def matrix(entries: tuple[str, ...]) -> str:
    """Return a matrix of blocks as YAML, from its entries row by row."""
    n = isqrt(len(entries))
    rows = (", ".join(f'"{entry}"' for entry in entries[n * a : n * a + n]) for a in range(n))
    return f"[{', '.join(f'[{row}]' for row in rows)}]"


def build_of(variant: Variant, folder: Path) -> Build:
    """Return a build of dynamics stated in a test."""
    blocks = ONE if len(variant.Q) == 1 else TWO
    place = FAR if variant.far else 0.0
    (folder / "dynamics.yaml").write_text(
        f"""
format: 1
name: t
title: A test
state: {{{blocks}}}
parameters:
  m: {{shape: d}}
  b: {{shape: d}}
  C: {{shape: [d, d], is: positive definite}}
functions: {{U: {{of: theta, role: potential}}}}
H: {variant.H}
D: {matrix(variant.D)}
Q: {matrix(variant.Q)}
""",
        encoding="utf-8",
    )
    (folder / "build.yaml").write_text(
        f"""
format: 1
name: b
title: A test
dynamics: dynamics.yaml
target: {SPECS}/targets/gaussian.yaml
parameters:
  m: {{value: [{place + 0.5}, {place - 1.25}]}}
  b: {{value: [1, -2]}}
  C: {{value: [[2, 1/2], [1/2, 1]]}}
  mu: {{value: [{place + 1}, {place - 2}]}}
  Sigma: {{value: [[2, -1/3], [-1/3, 1]]}}
scheme: {{name: euler}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.01}}
""",
        encoding="utf-8",
    )
    return load_build(folder / "build.yaml")


def steps(build: Build, dynamics: Dynamics) -> dict[str, Step]:
    """Return the step for every size, in loops, and that for the sizes of the build, as it is shipped."""
    program = discretise(build, derive(dynamics, stated=True))
    fixed = rename(program, dict(build.sizes))
    found: dict[str, Step] = {}
    for name, one, kernel in (("loops", program, lower(program)), ("shipped", fixed, schedule(fixed, lower(fixed)))):
        module = emit_module(build.name, one, kernel, "A test.", "0" * 64)
        found[name] = Step(kernel, module.text, dict(build.sizes))
    return found


def check(build: Build, state: State) -> None:
    """Compare drift and covariance of a build's step with the stated ones."""
    dynamics = bind(build)
    sizes = {"d": len(state["theta"])} | dict(build.sizes)
    program = discretise(build, derive(dynamics, stated=True))
    values = parameter_values(build, tuple(p.name for p in program.parameters), sizes)
    plain = {name: float(v) if v.ndim == 0 else v for name, v in values.items()}
    known = {name: wide(value) for name, value in (state | {n: np.asarray(v) for n, v in plain.items()}).items()}
    assert build.target.potential is not None
    functions = {build.dynamics.potential or "U": build.target.potential}
    equation = Equation(dynamics, sizes, known, functions)
    z = np.concatenate([state[block.name] for block in dynamics.declarations.blocks])
    drift, doubled = equation.drift(), equation.two_D()
    for by, step in steps(build, dynamics).items():
        still = wide(step(state, plain, EPS, -1))
        compare(f"drift {by}", (still - wide(z)) / EPS, (drift[0], drift[1] + abs(wide(z)) / EPS))
        factor = [(wide(step(state, plain, EPS, k)) - still) / 2.0**200 for k in range(step.normals)]
        if factor:
            root = np.array(factor).T
            scale = np.sqrt(np.diag(doubled[1]).astype(float))
            compare(f"noise {by}", root @ root.T / EPS, (doubled[0], doubled[1] + wide(np.outer(scale, scale))))


def compare(what: str, found: np.ndarray, stated: Both) -> None:
    """Hold every entry against its condition."""
    exact, condition = stated
    for at in np.ndindex(found.shape):
        error = abs(found[at] - exact[at])
        assert error <= ALLOWED * UNIT * condition[at], (
            f"{what}{at} is {float(found[at])}, {float(exact[at])} is right, to {float(UNIT * condition[at]):.3g}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_variants(name: str, tmp_path: Path) -> None:
    build, rng = build_of(VARIANTS[name], tmp_path), np.random.default_rng(6)
    blocks = build.dynamics.declarations.blocks
    check(build, {block.name: FAR * VARIANTS[name].far + rng.standard_normal(2) for block in blocks})


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_dynamics(name: str) -> None:
    build, rng = load_build(SPECS / "builds" / f"{name}.yaml"), np.random.default_rng(6)
    build = replace(build, scheme=Scheme("euler"))
    sizes = dict(build.sizes)
    blocks = [(b.name, [sizes.get(str(s), s) for s in b.shape.sizes]) for b in build.dynamics.declarations.blocks]
    check(build, {name_: SHIPPED[name](rng, name_, int(np.prod(shape))) for name_, shape in blocks})
