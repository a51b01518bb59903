"""The weak order of every shipped scheme, by the error of one emitted step at eps and at eps/2. No random numbers.

For all monomials phi of degree 1 and 2 in the state, E[phi(z')] of one emitted step from a point is compared with
exp(eps L) phi there: of order p is a scheme whose error falls by 2^(p+1) when eps is halved (Talay and Tubaro 1990).
The expectation is by Gauss and Hermite's rule over the normals of the step, exact for polynomials up to degree 17, and
those of the schemes here are of degree 6 at most, but for the thermostat's, whose remainder is below rounding; the
semigroup is sum_k eps^k L^k phi/k!, L applied exactly to polynomials of the state. The target is a banana in the plane,
whose force is cubic; M and C are matrices that do not commute.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from answers import SPECS, document
from numpy.polynomial.hermite_e import hermegauss
from running import module_of, shipped

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.run.data import Data
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.one_step import one_step
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.splitting.words import find_order
from recipe_compiler.verify.core.build_values import bind_values

pytestmark = pytest.mark.slow

EPS, WITHIN = 1 / 64, 0.15
TERMS = 6
"""Powers of L in the series of the semigroup: its error is eps**7."""
NODES = 9
BUILD = """
dynamics: DYNAMICS
target: SPECS/targets/banana.yaml
parameters: {PARAMETERS}
scheme: SCHEME
variant: full
sizes: {d: 2}
run: {step_size: 0.015625}
"""
MASS, FRICTION = "M: {value: [[2, 1/2], [1/2, 1]]}", "C: {value: [[1, 1/3], [1/3, 2]]}"
DYNAMICS = {
    "leapfrog": ("SPECS/dynamics/hmc.yaml", MASS),
    "badodab": ("SPECS/dynamics/sgnht.yaml", "A: {value: 1}"),
    "respa": ("two_forces.yaml", MASS),
}
"""What a scheme is a scheme for, where that is not Langevin dynamics."""
TWO_FORCES = """
name: two_forces
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}, V: {of: theta}}
H: U(theta) + V(theta) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
EULER = {"euler": "{name: euler}", "sequential_euler": "{name: sequential_euler, order: [r, theta]}"}
SCHEMES = [*EULER, *sorted(path.stem for path in (SPECS / "schemes").glob("*.yaml"))]


def build_of(scheme: str, spelled: str) -> Build:
    """Return a build that steps by a scheme, or by what is spelled in its place."""
    dynamics, parameters = DYNAMICS.get(scheme, ("SPECS/dynamics/sghmc.yaml", f"{MASS}, {FRICTION}"))
    bind = "bind: {V: 2*theta.T @ M @ theta}\n" if scheme == "respa" else ""
    text = BUILD.replace("DYNAMICS", dynamics).replace("PARAMETERS", parameters)
    return document(
        bind + text.replace("SCHEME", spelled or EULER.get(scheme, f"{{name: {scheme}}}")), two_forces=TWO_FORCES
    )


def semigroup(build: Build, point: Sequence[Any]) -> list[list[float]]:
    """Return L^k phi/k! at a point, k = 0, ..., for every monomial phi of degree 1 and 2, by the second engine."""
    dynamics = bind_values(build)
    assert dynamics is not None
    assert dynamics.D is not None
    assert dynamics.Q is not None
    assert build.target.potential is not None
    found = system(dynamics.declarations, dynamics.H, dynamics.D, dynamics.Q, {"d": 2})
    defaults = {sp.Symbol("spread", positive=True): 2, sp.Symbol("bend", real=True): sp.Rational(1, 4)}
    U = rows(build.target.potential, Setting(build.target.declarations, {}))[0][0].xreplace(defaults)
    H = found.H.replace(lambda e: getattr(e.func, "__name__", "") == "U", lambda _: U)
    z, n, D = list(found.z), len(found.z), sp.Matrix(found.D)
    both = D + sp.Matrix(found.Q)
    Gamma = [sum(sp.diff(both[i, j], z[j]) for j in range(n)) for i in range(n)]
    f = -both * sp.Matrix([sp.diff(H, x) for x in z]) + sp.Matrix(Gamma)
    ring, *x = sp.ring([symbol.name for symbol in z], sp.QQ)

    def polynomial(e: Any) -> Any:
        return ring.from_dict({m: sp.QQ(c.p, c.q) for m, c in sp.Poly(sp.expand(e), *z).terms()})

    drift = [polynomial(e) for e in f]
    spread = [(i, j, polynomial(D[i, j])) for i in range(n) for j in range(n) if D[i, j] != 0]
    at = [(y, sp.QQ(p.p, p.q)) for y, p in zip(x, point, strict=True)]
    every: list[list[float]] = []
    for phi in monomials(x):
        series, factorial = [], sp.QQ(1)
        for k in range(TERMS + 1):
            factorial *= max(k, 1)
            series.append(float(sp.QQ(phi.evaluate(at)) / factorial))
            along = sum((a * phi.diff(y) for a, y in zip(drift, x, strict=True)), ring.zero)
            phi = along + sum((d * phi.diff(x[i]).diff(x[j]) for i, j, d in spread), ring.zero)
        every.append(series)
    return every


def monomials(x: Sequence[Any]) -> list[Any]:
    """Return all of degree 1 and 2."""
    return [*x, *(a * b for a, b in combinations_with_replacement(x, 2))]


def errors(scheme: str, spelled: str = "") -> list[float]:
    """Return the largest error of a scheme's moments from one point at eps and at eps/2, or of what is spelled."""
    build = build_of(scheme, spelled)
    module, emitted = shipped(build), module_of(build)
    inputs = prepare_inputs(emitted, build, build.run, Data(()))
    slope = full_gradient(emitted, inputs)
    assert slope is not None
    n = sum(2 if block.shape.sizes else 1 for block in module.program.blocks)
    point = [sp.Rational(p, 8) for p in (5, -6, 7, 3, 9)[:n]]
    start = np.array([float(p) for p in point])
    series = semigroup(build, point)
    nodes, weights = hermegauss(NODES)
    largest: list[float] = []
    for eps in (EPS, EPS / 2):
        step = one_step(module, emitted, replace(inputs, eps=eps))
        z = np.concatenate([start, slope(start[:2])]) if module.program.carried else start
        means = np.zeros(len(series))
        for places in product(range(NODES), repeat=step.normals):
            weight = np.prod(weights[list(places)]) / np.sum(weights) ** step.normals
            means += weight * np.array(monomials(list(step.after(z, np.zeros(0, np.uint64), nodes[list(places)])[:n])))
        exact = [sum(c * eps**k for k, c in enumerate(one)) for one in series]
        largest.append(float(np.abs(means - exact).max()))
    return largest


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_has_the_order_that_it_claims(scheme: str) -> None:
    claimed = 1 if scheme in EULER else find_order(named_scheme(scheme).split).order
    coarse, fine = errors(scheme)
    assert coarse / fine == pytest.approx(2.0 ** (claimed + 1), rel=WITHIN)
    assert fine > 1e-10  # far above rounding


@pytest.mark.parametrize("word", ["[B/2, A/2, O, B/2, A/2]", "[B/2, A, O, B/2]", "[B/4, A/2, O, A/2, 3*B/4]"])
def test_a_word_of_order_1_is_not_taken_for_one_of_order_2(word: str) -> None:
    coarse, fine = errors("baoab", f"{{split: {word}}}")
    assert coarse / fine == pytest.approx(4.0, rel=WITHIN)
