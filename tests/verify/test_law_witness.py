"""What is proved of refreshes, draws and involutions is tried at exact points, by values where proofs take slopes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_build, load_target

from recipe_compiler.derive.involution import mapped
from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Involution
from recipe_compiler.spec.read_involution import visible
from recipe_compiler.verdict import OWN_FAULT, Answer, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves import draw, involution, refresh
from recipe_compiler.verify.moves.draw import draw_departs
from recipe_compiler.verify.moves.in_build import of_cycle
from recipe_compiler.verify.moves.involution import involution_departs
from recipe_compiler.verify.moves.law_witness import refresh_departs
from recipe_compiler.verify.steps.split import split_of

ROOT = Path(__file__).parents[2]
BUILD = """
format: 1
name: moves
dynamics: {root}/specs/dynamics/hmc.yaml
target: own.yaml
parameters: {{M: {{value: [[2, 1], [1, 3]]}}}}
scheme: {{cycle: [refresh: r, draw: a, draw: b, {{involution: {maps}, draws: {{w: "N(0, 1/4)"}}}}]}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.2}}
"""
TARGET = """
format: 1
name: own
state: {{a: {{}}, b: {{domain: positive, transform: log}}}}
potential: b*(1 + a**2)/2 - 2*log(b) + a**2/2
laws: {{a: "N(0, 1/(1 + b))", b: "{law}"}}
"""
SCALED = "{theta: theta*exp(w), w: -w}"


def stages(folder: Path, maps: str = SCALED, law: str = "Gamma(3, (1 + a**2)/2)") -> Stages:
    (folder / "own.yaml").write_text(TARGET.format(law=law), encoding="utf-8")
    (folder / "build.yaml").write_text(BUILD.format(root=ROOT, maps=maps), encoding="utf-8")
    build = load_build(folder / "build.yaml")
    return Stages(build, bind(build))


@pytest.mark.parametrize("factor", [1, 2])
def test_the_energy_of_a_refresh_is_that_of_h(tmp_path: Path, factor: int) -> None:
    """A refresh from N(0, 2M) leaves (b'.T inv(M) b' - b.T inv(M) b)/4 of H(b') - H(b)."""
    own = stages(tmp_path)
    split = split_of(own.declared, own.build.scheme)
    law = conditional_law(split.derivation, "r")
    assert law is not None
    scaled = replace(law, covariance=split.derivation.calculus.scale(law.covariance, factor))
    assert isinstance(refresh_departs(split, scaled), Answer) is (factor != 1)


@pytest.mark.parametrize(
    ("law", "right"), [("Gamma(3, (1 + a**2)/2)", True), ("Gamma(2, (1 + a**2)/2)", False), ("Gamma(3, 1/2)", False)]
)
def test_the_energy_of_a_claimed_law_is_that_of_u(tmp_path: Path, law: str, right: bool) -> None:
    (tmp_path / "own.yaml").write_text(TARGET.format(law=law), encoding="utf-8")
    found = draw_departs(load_target(tmp_path / "own.yaml"), "b")
    assert (found is None) is right


@pytest.mark.parametrize(
    ("maps", "right"), [(SCALED, True), ("{theta: theta*exp(w), w: w}", False), ("{theta: theta + ones, w: -w}", False)]
)
def test_an_involution_leads_back_with_the_inverse_ratio(tmp_path: Path, maps: str, right: bool) -> None:
    own = stages(tmp_path, maps)
    move = next(move for move in own.build.scheme.cycle if isinstance(move, Involution))
    S = mapped(move, visible(own.declared.dynamics.declarations, own.build.target.declarations.parameters))
    assert (involution_departs(own.declared, S) is None) is right


@pytest.mark.parametrize(
    ("module", "name", "decide"),
    [
        (refresh, "refresh_departs", refresh.refresh),
        (draw, "draw_departs", draw.draw),
        (involution, "involution_departs", involution.involution),
    ],
)
def test_a_proof_that_a_point_contradicts_is_a_fault_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, decide: Callable[..., Answer]
) -> None:
    monkeypatch.setattr(module, name, lambda *_: Answer(Refuted("planted", (("theta", "1"),))))
    found = of_cycle(decide)(stages(tmp_path)).decision
    assert isinstance(found, Undecided)
    assert OWN_FAULT in found.tried[0]
