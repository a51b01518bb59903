"""Equations that substitutions solve exactly, and those that they do not: entries in a circle, and jumps."""

from dataclasses import replace

import numpy as np
import pytest
from answers import SPECS, answer, document, expect
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.splitting import implicit
from recipe_compiler.splitting.implicit import count_substitutions
from recipe_compiler.tensor.terms import Index

FUNNEL, GUARDED = SPECS / "builds/rhmc_funnel.yaml", SPECS.parent / "tests/shared/guarded_funnel.yaml"
RIEMANN = f"""
format: 1
name: metric
dynamics: {SPECS}/dynamics/rhmc.yaml
target: {SPECS}/targets/gaussian.yaml
bind: {{G: "diag(exp(EXPONENT))"}}
parameters:
  e: {{shape: d, value: [1, 0, 0, 0]}}
  mu: {{value: [1, -2, 0, 1]}}
  Sigma: {{value: [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1/2], [0, 0, 1/2, 1]]}}
scheme: {{split: [H], pieces: {{H: {{Q: all}}}}, flows: {{H: generalised}}}}
variant: full
sizes: {{d: 4}}
run: {{step_size: 0.1}}
"""


def place(k: int) -> str:
    return f"grad(theta[{k}], theta)"


CHAIN = f"{place(1)}*theta[0] + {place(2)}*theta[1]"


def derivation(exponent: str) -> Derivation:
    return derive(bind(document(RIEMANN.replace("EXPONENT", exponent))))


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [
        (f"{place(0)} - (ones - {place(0)})*theta[0]", (2, 2)),
        (f"{place(2)}*theta[1]**2", (2, 2)),
        (CHAIN, (3, 3)),
        (f"{CHAIN} + {place(3)}*theta[2]", (0, 0)),  # four turns: more than are tried
        (f"{CHAIN} + {place(0)}*theta[2]", (0, 0)),
        (f"{place(1)}*theta[0] + {place(0)}*theta[1]", (0, 0)),
        (f"{place(1)}*theta[1]", (0, 0)),
        ("ones*theta[0]", (0, 0)),
        ("e - (ones - e)*(e.T @ theta)", (0, 0)),  # by the value of e alone
        ("e", (1, 1)),
    ],
)
def test_entries_that_wait_for_each_other_in_an_order_are_substituted(exponent: str, expected: tuple[int, int]) -> None:
    """Of the position and the momentum, for every d; 0: solved by iteration."""
    of = derivation(exponent)
    assert tuple(count_substitutions(of, block, of.drift) for block in of.dynamics.declarations.blocks) == expected


def test_what_jumps_is_not_substituted() -> None:
    """The slope of sign is zero almost everywhere, and it depends on what is solved for."""
    of = derivation("e")
    block = of.dynamics.declarations.blocks[0]
    jumping = of.calculus.applied("sign", of.calculus.coordinate("theta", Index("d", "i")))
    assert count_substitutions(of, block, (jumping, of.drift[1])) == 0


def test_a_substitution_is_a_shift_from_where_the_one_before_it_began() -> None:
    build = document(RIEMANN.replace("EXPONENT", CHAIN))
    shifts = discretise(build, derive(bind(build), stated=True)).shifts
    assert [(s.new, s.old, s.again, s.implicit) for s in shifts] == [
        ("r_v1", "r", False, False), ("r_v2", "r", True, False), ("r_v3", "r", True, False),
        ("theta_v1", "theta", False, False),
        ("theta_v2", "theta_v1", False, False), ("theta_v3", "theta_v1", True, False),
        ("theta_new", "theta_v1", True, False), ("r_new", "r_v3", False, False),
    ]  # fmt: skip


@pytest.mark.slow
def test_moves_are_those_of_the_iteration_without_its_guards() -> None:
    """Of one seed: the funnel whose order stands in the formula, and that whose order stands in the value of e."""
    found = []
    for path in (FUNNEL, GUARDED):
        build = load_build(path)
        module = compile_build(build, allow_undecided=True)
        run = replace(build.run, chains=2, warmup=0, draws=300, thin=1, step_size=0.3)
        found.append(sample(load_text(module.name, module.loaded), build, run, load_data(build.data, build.target)))
    explicit, iterated = found
    assert "unsolved" not in explicit.stats
    assert int(iterated.stats["unsolved"].sum()) == 0
    for one, other in zip(explicit.arrays, iterated.arrays, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)


def test_too_few_substitutions_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: one turn where two are needed. The maps are composed by the second engine."""
    monkeypatch.setattr(implicit, "count_substitutions", lambda *_: 1)
    found = answer(document(FUNNEL), "flow")
    expect(found, "refuted")
    assert "after 1 substitutions" in str(found.decision)
