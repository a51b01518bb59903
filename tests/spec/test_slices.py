"""Draws by slices as documents state them: what is read, and what is refused, by name and at its place."""

from pathlib import Path

import pytest

from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Draw, Slices
from recipe_compiler.spec.moves import cycle_text

BUILD = """
name: sliced
dynamics: {specs}/dynamics/still.yaml
target: {specs}/targets/mixture_allocations.yaml
scheme: {{cycle: [draw: theta, draw: mu, {move}]}}
variant: full
sizes: {{K: 2, N: 10}}
data: {{file: {specs}/data/few_of_two_groups.csv, y: y}}
run: {{step_size: 1, draws: 10, warmup: 1, chains: 1, seed: 1}}
"""


def read(folder: Path, specs: Path, move: str) -> Build:
    path = folder / "build.yaml"
    path.write_text(BUILD.format(specs=specs, move=move), encoding="utf-8")
    build = load(path)
    assert isinstance(build, Build)
    return build


@pytest.mark.parametrize(
    ("weights", "left", "shape"),
    [
        ("log(theta)", "", Shape("K")),
        ("log(theta) - log(sum(theta))*ones", "-sum(theta)", Shape("K")),
        ("-(y @ ones.T - ones @ mu.T)**2", "", Shape("N", "K")),
    ],
)
def test_weights_are_alike_in_all_rows_or_of_each(
    tmp_path: Path, specs: Path, weights: str, left: str, shape: Shape
) -> None:
    stated = f"draw: z, slice: {weights}" + (f", left: {left}" if left else "")
    build = read(tmp_path, specs, f"{{{stated}, every: 2}}")
    move = build.scheme.cycle[-1]
    assert isinstance(move, Draw)
    assert isinstance(move.slices, Slices)
    assert move.slices.log_weights.shape == shape
    assert text(move.slices.log_weights) == weights
    assert (move.slices.left is None) is (not left)
    assert cycle_text(build.scheme) == f"[draw: theta, draw: mu, {{{stated}, every: 2}}]"
