"""Steps on a Gaussian as they are emitted: F, a and Sigma are those of their letters, one after the other."""

import cProfile
import pstats
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from letters import SEQUENTIAL, K, composed, langevin
from some import some

from recipe_compiler.audit.affine import AffineStep, affine_step
from recipe_compiler.audit.at_values import read_affine_step
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.formula.declaration import Entries
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.step import read_step
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

EPS = 0.7
WITHOUT = ("  C: {value: [[1, 1/3], [1/3, 2]]}\n", "")
TWO_FORCES = (
    ("sghmc", "two_forces.yaml"),
    ("parameters:", "bind: {V: k*theta.T @ theta/2}\nparameters:\n  k: {value: 5}"),
)
DYNAMICS = """
name: two_forces
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}, V: {of: theta}}
H: U(theta) + V(theta) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims: {marginal: {theta: U(theta) + V(theta)}}
"""
RESPA = "pieces: {S: {Q: all, H: U}, F: {Q: all, H: V}, A: {Q: all, H: r}, O: {D: all}}"
MINIBATCH = (
    ("gaussian", "mean.yaml"),
    ("variant: full", "variant: minibatch\ngradient_noise: {V: V0}\ndata: {file: data.csv, x: [a, b]}"),
    ("  mu: {value: [1, -2]}\n", "  V0: {shape: [d, d], is: positive semidefinite, value: [[5, 2], [2, 3]]}\n"),
    ("step_size: 0.7", "step_size: 0.7, batch_size: 2"),
)  # fmt: skip
MEAN = """
name: mean
state: {theta: {shape: d}}
parameters: {Sigma: {shape: [d, d], is: positive definite}}
data: {x: {shape: [N, d]}}
log_likelihood: -(x.T - theta).T @ inv(Sigma) @ (x.T - theta) / 2
"""
WORDS = [
    ("{name: baoab}", "B/2 A/2 O A/2 B/2", ()),
    ("{name: aboba}", "A/2 B/2 O B/2 A/2", ()),
    ("{name: obabo}", "O/2 B/2 A B/2 O/2", ()),
    ("{split: [O/2, A/2, B, A/2, O/2]}", "O/2 A/2 B A/2 O/2", ()),
    ("{name: baoab}", "B/2 A/2 G A/2 B/2", MINIBATCH),
    ("{name: lie}", "B A O", ()),
    (SEQUENTIAL, "E A", ()),
    ("{name: leapfrog}", "B/2 A B/2", (("sghmc", "hmc"), WITHOUT)),
    *((f"{{name: baoab, keep: {keep}}}", word, ()) for keep, word in (
        (1, "A/2 O A/2 B"), (2, "O A/2 B A/2"), (3, "A/2 B A/2 O"), (4, "B A/2 O A/2"),
        (5, "B/2 A/2 O A/2 B/2"), ("O", "A/2 B A/2 O")
    )),
    ("{name: baoab, flows: {O: midpoint}}", "B/2 A/2 m A/2 B/2", ()),
    ("{name: obabo, flows: {O: midpoint}}", "m/2 B/2 A B/2 m/2", ()),
    ("{name: obabo, keep: 1, flows: {O: midpoint}}", "B/2 A B/2 m/2 m/2", ()),  # two halves of it are no whole one
    ("{split: [{repeat: 3, of: [B/6, A/3, O/3, B/6]}]}", 3 * "B/6 A/3 O/3 B/6 ", ()),
    ("{use: SPECS/schemes/respa.yaml}", f"S/2 {4 * 'F/8 A/4 F/8 '} S/2",
     (*TWO_FORCES, WITHOUT, ("bind: {", "bind: {C: 0*I, "))),
    (f"{{split: [S/2, {{repeat: 2, of: [F/4, A/4, O/2, A/4, F/4]}}, S/2], {RESPA}}}",
     f"S/2 {2 * 'F/4 A/4 O/2 A/4 F/4 '} S/2", TWO_FORCES),
]  # fmt: skip


def read(build: Build) -> AffineStep:
    """Return the step of a build as the text computes it that is emitted for every size, U having the Hessian K."""
    program = discretise(build, derive(bind(build), stated=True))
    module = emit_module(build.name, program, lower(program), "Read.", "0" * 64)
    numbers = {name: Entries(value.numbers) for name, value in build.values if value.numbers is not None}
    valued = tuple(replace(p, value=numbers.get(p.name)) for p in program.parameters)
    names = Names(replace(program, parameters=valued), {"d": 2, "N": 3, "batch_size": 2})
    theta = names.block(program.blocks[0])
    slopes = [sum(sp.Rational(K[i, j]) * (theta[j] - mean) for j, mean in enumerate((1, -2))) for i in range(2)]
    return affine_step(read_step(module, names), names, slopes)


@pytest.mark.parametrize(("scheme", "letters", "changes"), some(WORDS, 4))
def test_a_step_is_that_of_its_letters(scheme: str, letters: str, changes: tuple[tuple[str, str], ...]) -> None:
    files = {"two_forces": DYNAMICS, "mean": MEAN, "data.csv": "a,b\n1,2\n-1,0.5\n0.25,1\n"}
    found = read(langevin(scheme, EPS, *changes, **files)).at(EPS)
    for own, expected in zip((found.F, found.a, found.Sigma), composed(letters, EPS), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("scale", [1, pytest.param(10_000, marks=pytest.mark.slow), 10**9])
def test_friction_that_undoes_momenta_within_a_step_loses_no_digits(scale: int) -> None:
    friction = np.array([[scale, -1 / 3], [-1 / 3, 2 * scale]])
    changes = ("[[1, 1/3], [1/3, 2]]", f"[[{scale}, -1/3], [-1/3, {2 * scale}]]")
    own = langevin("{name: baoab}", EPS, changes)
    found = read_affine_step(own, discretise(own, derive(bind(own), stated=True))).step.at(EPS)
    F, _, Sigma = composed("B/2 A/2 O A/2 B/2", EPS, C=friction)
    np.testing.assert_allclose(found.F, F, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.Sigma, Sigma, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_the_audit_of_a_word_takes_time_in_proportion_to_its_letters() -> None:
    """A square would be 4 times: words of a thousand letters were left out, as is whatever takes more than 5 s."""

    def calls(count: int) -> int:
        part = f"[B/{2 * count}, A/{2 * count}, A/{2 * count}, B/{2 * count}]"
        own = langevin(f"{{split: [{{repeat: {count}, of: {part}}}, O]}}")
        program, profile = discretise(own, derive(bind(own), stated=True)), cProfile.Profile()
        profile.runcall(lambda: read_affine_step(own, program).step.at(0.5))
        return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]

    few, more, many = map(calls, (10, 20, 40))
    assert many - more < 2.6 * (more - few)
