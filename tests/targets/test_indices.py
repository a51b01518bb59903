"""Integer data as indices: positions outside, sizes that follow from them, and texts for every size of an axis."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from answers import document
from read_back import read_back

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError, DataError, RecipeError
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.pipeline import _for_every_size, compile_build
from recipe_compiler.readback.readback import with_heads
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.scheme.discretise import discretise, is_large, more_than_two, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.show import text as shown

VARYING = """
state: {alpha: {shape: J}, mu: {shape: scalar}, beta: {shape: p}}
data: {g: {shape: N, index_of: J}, x: {shape: [N, p]}, y: {shape: N}}
log_prior: -mu**2/2 - norm2(alpha)/2 - norm2(beta)/2
log_likelihood: -(y - mu - alpha[g] - x @ beta)**2/2 - exp(alpha[g]/4)
"""
LARGE = """
state: {mu: {shape: scalar}, eta: {shape: J}, F: {shape: [J, k]}}
data: {g: {shape: N, index_of: J}, x: {shape: [N, k]}, y: {shape: N}}
log_prior: -mu**2/2 - J*norm2(eta)/200 - trace(F @ F.T)/2
log_likelihood: -(y - mu - eta[g] - F[g] @ x.T)**2/2
"""
G, X = (
    np.array([2, 0, 2, 1, 0, 2, 2]),
    np.array([[1, -0.5], [0.25, 2], [-1, 0.5], [0, 1], [1.5, -1], [0.5, 0.5], [2, 1]]),
)
Y = np.array([0.5, -1.0, 2.0, 0.25, 1.0, -0.5, 1.5])
ROWS = [f"{g},{x[0]},{x[1]},{y}" for g, x, y in zip(G, X, Y, strict=True)]
BUILD = """
name: varying
dynamics: sgld
target: target.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
sizes: {J: 3, p: 2}
data: {file: data.csv, g: g, x: [a, b], y: y}
run: {step_size: 0.01}
"""


def built(*changes: tuple[str, str], target: str = VARYING, rows: list[str] = ROWS) -> Build:
    text = BUILD
    for old, new in changes:
        text = text.replace(old, new)
    return document(text, target=target, **{"data.csv": "\n".join(["g,a,b,y", *rows, ""])})


def test_positions_that_count_from_one() -> None:
    build = built(("y: y}", "y: y, from_one: g}"), rows=[f"{int(row[0]) + 1}{row[1:]}" for row in ROWS])
    field = load_data(build.data, build.target).fields[0]
    assert (field.values.dtype, field.values.tolist()) == (np.int64, G.tolist())


@pytest.mark.parametrize(
    ("row", "more", "says"),
    [
        ("3,1,1,1", "", "position 3 in row 2"),
        ("-1,1,1,1", "", "found -1, expected a whole number from 0 to J - 1 for `g`"),
        ("0.5,1,1,1", "", "found 0.5, expected a whole number from 0"),
        ("0,1,1,1", ", from_one: g", "found 0, expected a whole number from 1 to J for `g`"),
    ],
)
def test_a_position_outside_is_refused_with_its_row(row: str, more: str, says: str) -> None:
    build = built(("y: y}", f"y: y{more}}}"), rows=["1,1,1,1", row])
    with pytest.raises(DataError, match=says):
        resolve_sizes(build, load_data(build.data, build.target))


def test_the_length_of_an_axis_follows_from_positions() -> None:
    build = built(("sizes: {J: 3, p: 2}\n", ""))
    assert resolve_sizes(build, load_data(build.data, build.target))["J"] == 3
    with pytest.raises(RecipeError, match="found"):
        built(("sizes: {J: 3, p: 2}\n", ""), target=VARYING.replace("{shape: p}", "{shape: q}"))


def numbered(J: int) -> Build:
    """Return a build of J + 1 coordinates whose target gives their number, and names no size."""
    return document(
        "name: numbered_build\ndynamics: sghmc\ntarget: target.yaml\nbind: {M: I, C: I}\n"
        "scheme: {name: sequential_euler, order: [r, theta]}\nvariant: full\nrun: {step_size: 0.1}\n",
        target=f"state: {{mu: {{}}, eta: {{shape: {J}}}}}\npotential: mu**2/2 + norm2(eta - mu*ones)/2\n",
    )


def test_sizes_that_are_numbers_are_at_no_head() -> None:
    assert not is_large(numbered(200))


@pytest.mark.slow
def test_many_coordinates_by_number_are_compiled() -> None:
    assert "eta: (66,), theta[1:67]" in compile_build(numbered(66), allow_undecided=True).file


@cache
def large(variant: str = "full") -> tuple[Build, Module, Derivation]:
    minibatch = [("full", variant), ("0.01", "0.01, batch_size: 3")] if variant == "minibatch" else []
    build = built(("J: 3, p: 2", "J: 200, k: 2"), *minibatch, target=LARGE)
    derivation = derive(bind(build))
    return build, _for_every_size(build, derivation, derive(bind(build), stated=True)).module, derivation


def added(size: int | tuple[int, ...], at: np.ndarray, values: np.ndarray) -> np.ndarray:
    total = np.zeros(size)
    np.add.at(total, at, values)
    return total


@pytest.mark.parametrize("variant", ["full", "minibatch"])
@pytest.mark.usefixtures("without_jit")
def test_many_coordinates_are_one_text_for_every_size(variant: str) -> None:
    build, module, _ = large(variant)
    assert is_large(build)
    assert "\nJ = 200\n" in module.text
    gradient = module.kernel.gradient
    assert gradient is not None
    theta, batch = np.linspace(-1, 1, 601), np.array([6, 2, 0], np.uint64)
    rows = batch.astype(int) if variant == "minibatch" else np.arange(7)
    mu, eta, F = theta[0], theta[1:201], theta[201:].reshape(200, 2)
    part = len(G) / len(rows) * (mu + eta[G] + (F[G] * X).sum(axis=1) - Y)[rows]
    parts = ([mu + part.sum()], 2 * eta + added(200, G[rows], part))
    of_F = F + added((200, 2), G[rows], part[:, None] * X[rows])
    found = np.full(601, np.nan)
    values: dict[str, Any] = {"g": G, "x": X, "y": Y, "theta": theta, "batch": batch, gradient.outputs[0].name: found}
    load_text("large", module.text).gradient(*(values[one.name] for one in (*gradient.outputs, *gradient.inputs)))
    np.testing.assert_allclose(found, np.concatenate([*parts, of_F.ravel()]), rtol=1e-13)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("eta = theta[1 : 1 + J]", "eta = theta[0 : 0 + J]"),
        ("theta[1 + J : 1 + J + 2 * J]", "theta[2 + J : 2 + J + 2 * J]"),
        ("grad_U_eta[g_row] += ", "grad_U_eta[g_row] = "),
        ("reshape((J, 2))", "reshape((2, J))"),
        ("range(J)", "range(1)"),
        ("\nJ = 200\n", "\nJ = 100\n"),
    ],
)
def test_a_fault_of_the_text_for_every_size_is_found(old: str, new: str) -> None:
    build, module, derivation = large()
    assert old in module.text
    wrong = replace(module, text=module.text.replace(old, new))

    def read() -> None:
        for sizes in (*small_sizes(build), more_than_two(build)):
            read_back(with_heads(wrong, sizes), derivation, {})

    with pytest.raises(CompilerError):
        read()


@pytest.mark.slow
def test_a_text_for_every_size_is_the_same_for_all_of_them() -> None:
    build, _, _ = large()
    text = compile_build(build, allow_undecided=True).file
    more = compile_build(replace(build, sizes=(("J", 10_000), ("k", 2))), allow_undecided=True).file
    text = text.replace("J = 200", "J = 10000")
    for start, end in (("import numpy", "def sample"), ("VARIANT = ", "# Support")):
        assert text.partition(start)[2].partition(end)[0] == more.partition(start)[2].partition(end)[0] != ""


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
def test_sizes_that_the_data_give_need_not_be_stated() -> None:
    texts = [compile_build(one, allow_undecided=True).text for one in (built(), built(("sizes: {J: 3, p: 2}\n", "")))]
    own, other = (re.sub(r"SPEC_DIGEST = .*", "", text.split('"""', 2)[2]) for text in texts)
    assert own == other


def test_control_variates_of_several_blocks_are_differences_in_each_of_them() -> None:
    """Of an intercept that data pick too: U is quadratic, so what is left of its gradient is linear in a difference."""
    build = document(
        "name: varying\ndynamics: sghmc\ntarget: varying_intercepts\nbind: {M: I, C: I}\n"
        "scheme: {name: sequential_euler, order: [r, theta]}\nvariant: minibatch\nminibatch: {control_variates: mode}\n"
        "data: {file: groups, g: group, x: [x], y: y, from_one: g}\n"
        "sizes: {J: 12, p: 1}\nrun: {step_size: 0.01, batch_size: 10}\n"
    )
    shapes = {p.name: p.shape for p in build.parameters if p.name in build.estimates}
    assert {name: shape for name, shape in shapes.items() if name.endswith("alpha_mode")} == {
        "alpha_mode": Shape("J"), "grad_U_alpha_mode": Shape("J"),
    }  # fmt: skip
    gradient = discretise(build, derive(bind(build))).gradient
    assert gradient is not None
    for part, own in zip(gradient.parts, ("mu", "alpha", "beta"), strict=True):
        assert f"grad_U_{own}_mode" in shown(part.prior)
        assert part.datum is not None
        datum = shown(part.datum)
        assert all(f"{name}_mode" in datum for name in ("mu", "alpha", "beta")), datum
        assert "y" not in datum  # it is in both gradients of a datum


@pytest.mark.slow
@pytest.mark.parametrize("J", [8, 200])
def test_control_variates_of_blocks_are_read_back_by_all_their_sizes(J: int) -> None:
    """Their modes have the shapes of blocks that lie end to end: of sizes at the head of a text, and numbers in it."""
    variates = ("variant: full", "variant: minibatch\nminibatch: {control_variates: mode}")
    sizes = ("J: 3, p: 2", f"J: {J}, len: 2")
    build = built(sizes, variates, ("0.01", "0.01, batch_size: 3"), target=LARGE.replace(" k]", " len]"))
    assert is_large(build) == (J > 64)
    assert "grad_U_F_mode" in compile_build(build, allow_undecided=True).text
