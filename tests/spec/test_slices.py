"""Draws by slices as documents state them: what is read, and what is refused, by name and at its place."""

from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError
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


@pytest.mark.parametrize(
    ("move", "entry", "says"),
    [
        ("{draw: z, slice: z.T @ y}", "slice", "found `z` in what its own rows are drawn by"),
        ("{draw: z, slice: log(theta), left: sum(z.T @ y)}", "left", "found `z` in what its own rows are drawn by"),
        ("{draw: mu, slice: log(theta)}", "slice", "found `slice` of mu, which is real, expected a one_hot block"),
        ("{draw: z, left: -sum(theta)}", "left", "found `left` of a draw without `slice`, expected both"),
        ("{draw: z, slice: sum(theta)}", "slice", "found a scalar, expected a column [K]"),
        ("{draw: z, slice: y}", "slice", "found a column [N], expected a column [K]"),
        ("{draw: z, slice: y.T}", "slice", "found a row [N], expected a column [K]"),
        ("{draw: z, slice: theta.T}", "slice", "found a row [K], expected a column [K]"),
        ("{draw: z, slice: log(theta), left: theta}", "left", "expected a scalar"),
        ('{draw: z, slice: "log(1 + theta[5])*ones"}', "slice", "found `theta[5]`, expected formulas of whole blocks"),
        ('{draw: z, slice: log(theta), left: "-theta[0]"}', "left", "found `theta[0]`, expected formulas of whole"),
        ("{draw: z, slice: log(phi)}", "slice", "'phi' is not declared"),
        ("{draw: x, slice: log(theta)}", "draw", "found a draw of `x`, expected a block of the target"),
        ("{cir: theta, slice: log(theta)}", "slice", "found `slice` beside `cir`"),
        ("{slice: z}", "slice", "found `slice` without `draw`"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, specs: Path, move: str, entry: str, says: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, specs, move)
    assert any(fault.entry == f"scheme.cycle[2].{entry}" and says in fault.problem for fault in caught.value.faults), (
        caught.value.faults
    )


def test_weights_of_data_are_refused_with_minibatches(tmp_path: Path, specs: Path) -> None:
    """The law takes no data here: what would be that of a batch are the weights alone."""
    (tmp_path / "target.yaml").write_text(
        "name: row\nstate: {a: {}, k: {shape: K, domain: one_hot}}\ndata: {x: {shape: N}}\n"
        'log_prior: -a**2/2\nlog_likelihood: 0*x\nlaws: {a: "N(0, 1)", k: Categorical(0*ones)}\n'
    )
    stated = BUILD.replace("{specs}/targets/mixture_allocations.yaml", "target.yaml").replace("full", "minibatch")
    stated = stated.replace("draw: theta, draw: mu", "draw: a, draw: k").replace("K: 2, N: 10", "K: 3")
    stated = stated.replace("y: y}}", "x: y}}").replace("draws: 10", "batch_size: 2, draws: 10")
    for weights, refused in (("sum(x)*ones", True), ("a*ones", False)):
        path = tmp_path / "build.yaml"
        path.write_text(stated.format(specs=specs, move=f"{{draw: k, slice: {weights}}}"), encoding="utf-8")
        if not refused:
            load(path)
            continue
        with pytest.raises(DocumentError, match="found `slice` of k of data with variant: minibatch, expected variant"):
            load(path)
