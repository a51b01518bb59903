"""The weak order of every shipped scheme, by the error of one emitted step at eps and at eps/2. No random numbers.

For all monomials phi of degree 1 and 2 in the state, E[phi(z')] of one emitted step from a point is compared with
exp(eps L) phi there: of order p is a scheme whose error falls by 2^(p+1) when eps is halved (Talay and Tubaro 1990).
The expectation is by Gauss and Hermite's rule over the normals of the step, exact for polynomials up to degree 17, and
those of the schemes here are of degree 6 at most, but for the thermostat's, whose remainder is below rounding; the
semigroup is sum_k eps^k L^k phi/k!, L applied exactly to polynomials of the state. The target is a banana in the plane,
whose force is cubic; M and C are matrices that do not commute. Exit code 1 where a ratio is not that of the order that
the scheme claims, within 15 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import sympy as sp
from numpy.polynomial.hermite_e import hermegauss

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run.data import Data
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.one_step import one_step
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.splitting.words import order
from recipe_compiler.verify.core.build_values import at_values

SPECS = Path(__file__).parents[2] / "specs"
EPS = 1 / 64
WITHIN = 0.15
TERMS = 6
"""Powers of L in the series of the semigroup: its error is eps**7."""
NODES = 9

HEAD = """
format: 1
name: NAME
dynamics: DYNAMICS
target: TARGET
BINDparameters:
PARAMETERSscheme: SCHEME
variant: full
run: {step_size: 0.015625}
"""
MASS = "  M: {value: [[2, 1/2], [1/2, 1]]}\n"
FRICTION = "  C: {value: [[1, 1/3], [1/3, 2]]}\n"
LANGEVIN = ("sghmc", MASS + FRICTION)
DYNAMICS = {
    "leapfrog": ("hmc", MASS),
    "badodab": ("sgnht", "  A: {value: 1}\n"),
    "respa": ("two_forces", MASS),
}
BIND = {"respa": "bind: {V: 2*theta.T @ M @ theta}\n"}
"""What a scheme is a scheme for, where that is not Langevin dynamics."""
TWO_FORCES = """
format: 1
name: two_forces
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  M: {shape: [d, d], is: positive definite}
functions:
  U: {of: theta, role: potential}
  V: {of: theta}
H: U(theta) + V(theta) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of the moments of one step of a scheme, at eps and at eps/2."""

    scheme: str
    claimed: int
    coarse: float
    """The largest over all monomials."""
    fine: float

    @property
    def ratio(self) -> float:
        """By what the error falls."""
        return self.coarse / self.fine

    @property
    def holds(self) -> bool:
        """Whether it falls as the claimed order says."""
        return abs(self.ratio / 2.0 ** (self.claimed + 1) - 1.0) <= WITHIN


def build_of(scheme: str, folder: Path, spelled: str = "") -> Build:
    """Return a build that steps by a scheme, or by what is spelled in its place."""
    dynamics, parameters = DYNAMICS.get(scheme, LANGEVIN)
    (folder / "two_forces.yaml").write_text(TWO_FORCES)
    file = SPECS / f"dynamics/{dynamics}.yaml" if dynamics != "two_forces" else folder / "two_forces.yaml"
    order_of_blocks = ", order: [r, theta]" if scheme == "sequential_euler" else ""
    spelled = spelled or f"{{name: {scheme}{order_of_blocks}}}"
    text = HEAD.replace("NAME", f"{scheme}_banana").replace("DYNAMICS", str(file)).replace("SCHEME", spelled)
    text = text.replace("TARGET", str(SPECS / "targets/banana.yaml")).replace("PARAMETERS", parameters)
    (folder / "build.yaml").write_text(text.replace("BIND", BIND.get(scheme, "")))
    build = load(folder / "build.yaml")
    if not isinstance(build, Build):
        raise TypeError(f"{scheme} is no build")
    return build


def claimed(scheme: str) -> int:
    """Return the order that a scheme has by its word; of Euler's, 1."""
    return 1 if scheme in ("euler", "sequential_euler") else order(named_scheme(scheme).split).order


def equation(build: Build) -> tuple[sp.Matrix, sp.Matrix, list[sp.Symbol]]:
    """Return drift, D and coordinates of a build's equation in scalars, by the second engine."""
    dynamics = at_values(build)
    if dynamics is None or dynamics.D is None or dynamics.Q is None or build.target.potential is None:
        raise TypeError("found a build without D, Q or U")
    sizes = {"d": 2}
    found = system(dynamics.declarations, dynamics.H, dynamics.D, dynamics.Q, sizes)
    defaults = {sp.Symbol("spread", positive=True): 2, sp.Symbol("bend", real=True): sp.Rational(1, 4)}
    U = rows(build.target.potential, Setting(build.target.declarations, {}))[0][0].xreplace(defaults)
    H = found.H.replace(lambda e: getattr(e.func, "__name__", "") == "U", lambda _: U)
    z, n = list(found.z), len(found.z)
    D, Q = sp.Matrix(found.D), sp.Matrix(found.Q)
    both = D + Q
    Gamma = [sum(sp.diff(both[i, j], z[j]) for j in range(n)) for i in range(n)]
    f = -both * sp.Matrix([sp.diff(H, x) for x in z]) + sp.Matrix(Gamma)
    return f.applyfunc(sp.expand), D, z


def semigroup(build: Build, point: Sequence[Any]) -> list[list[float]]:
    """Return L^k phi/k! at a point, k = 0, ..., for every monomial phi of degree 1 and 2."""
    f, D, z = equation(build)
    ring, *x = sp.ring([symbol.name for symbol in z], sp.QQ)
    names = dict(zip(z, x, strict=True))

    def polynomial(e: Any) -> Any:
        return ring.from_dict({m: sp.QQ(c.p, c.q) for m, c in sp.Poly(e, *z).terms()})

    drift = [polynomial(e) for e in f]
    spread = [(i, j, polynomial(D[i, j])) for i in range(len(z)) for j in range(len(z)) if D[i, j] != 0]
    at = [(names[s], sp.QQ(p.p, p.q)) for s, p in zip(z, point, strict=True)]
    found: list[list[float]] = []
    for phi in monomials(x):
        series, factorial = [], sp.QQ(1)
        for k in range(TERMS + 1):
            factorial *= max(k, 1)
            series.append(float(sp.QQ(phi.evaluate(at)) / factorial))
            along = sum((a * phi.diff(y) for a, y in zip(drift, x, strict=True)), ring.zero)
            phi = along + sum((d * phi.diff(x[i]).diff(x[j]) for i, j, d in spread), ring.zero)
        found.append(series)
    return found


def monomials(x: Sequence[Any]) -> list[Any]:
    """Return all of degree 1 and 2."""
    return [*x, *(a * b for a, b in combinations_with_replacement(x, 2))]


def errors(scheme: str, spelled: str = "") -> Errors:
    """Return the errors of a scheme's moments from one point, or of what is spelled in its place."""
    with TemporaryDirectory() as folder:
        build = build_of(scheme, Path(folder), spelled)
    program = rename(discretise(build, derive(bind(build), stated=True)), {"d": 2})
    module = emit_module(build.name, program, schedule(program, lower(program)), "One step.", "0" * 64)
    emitted = load_text(module.name, module.text)
    inputs = prepare_inputs(emitted, build, build.run, Data(()), 0)
    slope = full_gradient(emitted, inputs)
    if slope is None:
        raise TypeError(f"{build.name} has no gradient of all data")
    n = sum(block.shape.sizes[0] if block.shape.sizes else 1 for block in program.blocks)
    point = [sp.Rational(p, 8) for p in (5, -6, 7, 3, 9)[:n]]
    start = np.array([float(p) for p in point])
    series = semigroup(build, point)
    nodes, weights = hermegauss(NODES)
    largest: list[float] = []
    for eps in (EPS, EPS / 2):
        step = one_step(module, emitted, replace(inputs, eps=eps))
        z = np.concatenate([start, slope(start[:2])]) if program.carried else start
        means = np.zeros(len(series))
        for places in product(range(NODES), repeat=step.normals):
            weight = np.prod(weights[list(places)]) / np.sum(weights) ** step.normals
            after = step.after(z, np.zeros(0, np.uint64), nodes[list(places)])[:n]
            means += weight * np.array(monomials(list(after)))
        exact = [sum(c * eps**k for k, c in enumerate(one)) for one in series]
        largest.append(float(np.abs(means - exact).max()))
    return Errors(scheme, claimed(scheme), *largest)


def schemes() -> list[str]:
    """Return every scheme that ships, Euler's and those that are documents."""
    return ["euler", "sequential_euler", *sorted(path.stem for path in (SPECS / "schemes").glob("*.yaml"))]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", list(schemes()))
def test_a_scheme_has_the_order_that_it_claims(scheme: str) -> None:
    found = errors(scheme)
    assert found.holds, found
    assert found.fine > 1e-10  # far above rounding


@pytest.mark.slow
@pytest.mark.parametrize("word", ["[B/2, A/2, O, B/2, A/2]", "[B/2, A, O, B/2]", "[B/4, A/2, O, A/2, 3*B/4]"])
def test_a_word_of_order_1_is_not_taken_for_one_of_order_2(word: str) -> None:
    found = errors("baoab", f"{{split: {word}}}")
    assert found.claimed == 2
    assert not found.holds
    assert found.ratio == pytest.approx(4.0, rel=WITHIN)
