"""Cycles with a word that refreshes do not mend: the Gaussian law of one cycle refutes them, in exact numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import OWN_FAULT, Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves import cycle as cycles
from recipe_compiler.verify.moves import metropolis as accepted
from recipe_compiler.verify.moves.cycle import cycle
from recipe_compiler.verify.moves.in_build import of_cycle
from recipe_compiler.verify.steps.split import Split

ROOT = Path(__file__).parents[2]
BUILD = """
format: 1
name: cycle
dynamics: {root}/specs/dynamics/hmc.yaml
target: gauss.yaml
parameters: {{M: {{value: {M}}}}}
scheme: {{cycle: [{moves}]}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 1/2}}
"""
U = "theta[0]**2 + theta[0]*theta[1]/2 + theta[1]**2"
GAUSS = f"format: 1\nname: gauss\nstate: {{theta: {{shape: 2}}}}\npotential: {U}\n"


def stages(folder: Path, moves: str, M: str = "[[2, 1], [1, 3]]") -> Stages:
    (folder / "gauss.yaml").write_text(GAUSS, encoding="utf-8")
    (folder / "build.yaml").write_text(BUILD.format(root=ROOT, moves=moves, M=M), encoding="utf-8")
    build = load_build(folder / "build.yaml")
    return Stages(build, bind(build))


@pytest.mark.parametrize(
    ("moves", "name", "value"),
    [
        ("refresh: r, {split: [B, A]}", "Cov(theta[0], theta[0]) as eps -> 0", "4/15"),
        ("refresh: r, {metropolis: {split: [B, A], flip: {r: -r}}}", "change of Cov(theta[0], theta[0]) in a cycle",
         "-1 eps**2 + O(eps**3)"),
        ("refresh: r, {metropolis: {split: [A, B], flip: {r: -r}}}", "change of Cov(theta[0], theta[0]) in a cycle",
         "1 eps**2 + O(eps**3)"),
    ],
)  # fmt: skip
def test_a_word_beside_refreshes_is_refuted_by_its_covariance(
    tmp_path: Path, moves: str, name: str, value: str
) -> None:
    """With M = I, theta' = theta - s eps**2 K theta + eps r, s = 1 after a kick, 0 before: Cov = inv(2 s K)."""
    found = of_cycle(cycle)(stages(tmp_path, moves, "[[1, 0], [0, 1]]")).decision
    assert isinstance(found, Refuted), found
    assert dict(found.witness)[name] == value


@pytest.mark.parametrize(
    "moves",
    [
        "refresh: r, {split: [B/2, A, B/2]}",
        "refresh: {r: 1/2}, {split: [A/2, B, A/2], steps: 2}",
        'refresh: r, {metropolis: {split: [B/2, A, B/2], steps: "uniform(1, 2)"}}',
    ],
)
def test_words_that_keep_their_covariance_to_second_order_are_proved(tmp_path: Path, moves: str) -> None:
    assert isinstance(of_cycle(cycle)(stages(tmp_path, moves)).decision, Proved)


@pytest.mark.parametrize(
    ("moves", "module", "claim", "decide"),
    [
        ("refresh: r, {split: [B/2, A, B/2]}", cycles, "limit_departs", cycle),
        (
            "refresh: {r: 1/2}, {metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}",
            accepted,
            "departure",
            accepted.metropolis,
        ),
    ],
)
def test_a_proof_that_an_exact_point_contradicts_is_a_fault_of_the_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moves: str,
    module: object,
    claim: str,
    decide: Callable[[Split, Stages], Answer],
) -> None:
    own = stages(tmp_path, "refresh: r, {split: [B, A]}")
    wrong = of_cycle(cycle)(own)
    monkeypatch.setattr(module, claim, lambda *_: wrong)
    found = of_cycle(decide)(stages(tmp_path, moves)).decision
    assert isinstance(found, Undecided)
    assert OWN_FAULT in found.tried[0]
