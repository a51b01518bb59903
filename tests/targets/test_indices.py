"""Integer data as indices: positions outside, sizes that follow from them, and texts for every size of an axis."""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError, RecipeError
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.show import text
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.readback.readback import read_back, with_heads
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise, is_large, more_than_two, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.show import text as shown

SPECS = Path(__file__).parents[2] / "specs"
VARYING = """
state: {alpha: {shape: J}, mu: {shape: scalar}, beta: {shape: p}}
data: {g: {shape: N, index_of: J}, x: {shape: [N, p]}, y: {shape: N}}
log_prior: -mu**2/2 - norm2(alpha)/2 - norm2(beta)/2
log_likelihood: -(y - mu - alpha[g] - x @ beta)**2/2 - exp(alpha[g]/4)
"""
PAIRS = """
state: {s: {shape: d}}
data: {winner: {shape: N, index_of: d}, loser: {shape: N, index_of: d}}
log_prior: -norm2(s)/2
log_likelihood: -softplus(s[loser] - s[winner])
"""
SIZES = {"varying": {"J": 3, "p": 2}}
TARGETS = {"varying": VARYING, "pairs": PAIRS}
COLUMNS = {"varying": "g: g, x: [a, b], y: y", "pairs": "winner: g, loser: h"}
G, H = np.array([2, 0, 2, 1, 0, 2, 2]), np.array([0, 1, 1, 0, 1, 0, 1])
X = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5], [0.0, 1.0], [1.5, -1.0], [0.5, 0.5], [2.0, 1.0]])
Y = np.array([0.5, -1.0, 2.0, 0.25, 1.0, -0.5, 1.5])
BUILD = f"""
name: NAME
dynamics: {SPECS}/dynamics/sgld.yaml
target: target.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: full
SIZES
data: {{file: data.csv, COLUMNS}}
run: {{step_size: 0.01}}
"""


def written(name: str, folder: Path, variant: str = "full", data: str = "", *rows: str) -> Path:
    (folder / "target.yaml").write_text(f"name: {name}\n{TARGETS[name]}")
    text = BUILD.replace("NAME", name).replace("COLUMNS", COLUMNS[name] + data)
    sizes = f"sizes: {SIZES[name]}".replace("'", "") if name in SIZES else ""
    text = text.replace("SIZES", sizes).replace("variant: full", f"variant: {variant}")
    if variant == "minibatch":
        text = text.replace("step_size: 0.01", "step_size: 0.01, batch_size: 3")
    (folder / "build.yaml").write_text(text)
    made = [f"{g},{h},{x[0]},{x[1]},{y}" for g, h, x, y in zip(G, H, X, Y, strict=True)]
    (folder / "data.csv").write_text("\n".join(["g,h,a,b,y", *(rows or made), ""]))
    return folder / "build.yaml"


@dataclass(frozen=True)
class Emitted:
    module: Module
    derivation: Derivation


def added(size: int | tuple[int, ...], at: np.ndarray, values: np.ndarray) -> np.ndarray:
    total = np.zeros(size)
    np.add.at(total, at, values)
    return total


DATA = {"g": G, "x": X, "y": Y}


def test_one_datum_touches_its_own_group_alone(tmp_path: Path) -> None:
    build = load_build(written("varying", tmp_path))
    program = discretise(build, derive(bind(build), stated=True), SIZES["varying"])
    whole = emit_module("varying", program, schedule(program, lower(program)), "A test.", "0" * 64).text
    loop = whole[whole.index("for row in range(N):") :].partition("\n    for ")[0]
    assert "grad_U_alpha[g_row] += " in loop
    assert "alpha[g_row]" in loop
    assert "for " not in loop[4:].partition("\n    grad_U")[0]


@pytest.mark.slow
def test_u_of_all_data_is_read_back(tmp_path: Path) -> None:
    path = written("varying", tmp_path)
    text = path.read_text().replace("sgld", "hmc").replace("{D: I}", "{M: I}")
    cycle = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 2, flip: {r: -r}}}]}"
    path.write_text(text.replace("{name: euler}", cycle).replace("step_size: 0.01", "step_size: 0.1"))
    module = compile_build(load_build(path), allow_undecided=True)
    assert "alpha[g_row]" in module.text[module.text.index("def potential(") :]


def test_positions_that_count_from_one(tmp_path: Path) -> None:
    from recipe_compiler.run.data import load_data

    rows = [f"{g + 1},{h},{x[0]},{x[1]},{y}" for g, h, x, y in zip(G, H, X, Y, strict=True)]
    build = load_build(written("varying", tmp_path, "full", ", from_one: g", *rows))
    field = load_data(build.data, build.target).fields[0]
    assert field.values.dtype == np.int64
    assert field.values.tolist() == G.tolist()


@pytest.mark.parametrize(
    ("row", "data", "says"),
    [
        ("3,0,1,1,1", "", "position 3 in row 2"),
        ("-1,0,1,1,1", "", "found -1, expected a whole number from 0 to J - 1 for `g`"),
        ("0.5,0,1,1,1", "", "found 0.5, expected a whole number from 0"),
        ("0,0,1,1,1", ", from_one: g", "found 0, expected a whole number from 1 to J for `g`"),
    ],
)
def test_a_position_outside_is_refused_with_its_row(tmp_path: Path, row: str, data: str, says: str) -> None:
    from recipe_compiler.errors import DataError
    from recipe_compiler.run.data import load_data
    from recipe_compiler.run.sizes import resolve_sizes

    build = load_build(written("varying", tmp_path, "full", data, "1,0,1,1,1", row))
    with pytest.raises(DataError, match=says):
        resolve_sizes(build, load_data(build.data, build.target))


def test_the_length_of_an_axis_follows_from_positions(tmp_path: Path) -> None:
    from recipe_compiler.run.data import load_data
    from recipe_compiler.run.sizes import resolve_sizes

    build = load_build(written("pairs", tmp_path))
    assert resolve_sizes(build, load_data(build.data, build.target))["d"] == 3


@pytest.mark.slow
def test_the_file_looks_at_positions(tmp_path: Path) -> None:
    from emitted_file import file_of

    build: Build = load_build(written("pairs", tmp_path))
    file = file_of(build, tmp_path)
    with pytest.raises(ValueError, match=r"winner: found 5 at \[1\], expected a whole number from 0 to 2"):
        file.sample([0, 5], [1, 1], d=3)


LARGE = """
name: large
state: {mu: {shape: scalar}, eta: {shape: J}, F: {shape: [J, k]}}
data: {g: {shape: N, index_of: J}, x: {shape: [N, k]}, y: {shape: N}}
log_prior: -mu**2/2 - J*norm2(eta)/200 - trace(F @ F.T)/2
log_likelihood: -(y - mu - eta[g] - F[g] @ x.T)**2/2
"""


@cache
def large(variant: str = "full") -> tuple[Build, Emitted]:
    from recipe_compiler.pipeline import _for_every_size

    folder = Path(mkdtemp())
    written("varying", folder, variant)
    (folder / "target.yaml").write_text(LARGE)
    text = (folder / "build.yaml").read_text().replace("{J: 3, p: 2}", "{J: 200, k: 2}")
    (folder / "build.yaml").write_text(text)
    build = load_build(folder / "build.yaml")
    derivation = derive(bind(build))
    made = _for_every_size(build, derivation, derive(bind(build), stated=True))
    return build, Emitted(made.module, derivation)


def numbered(folder: Path, J: int) -> Build:
    """Return a build of J + 1 coordinates whose target gives their number, and names no size."""
    (folder / "target.yaml").write_text(
        f"name: numbered\nstate: {{mu: {{shape: scalar}}, eta: {{shape: {J}}}}}\n"
        "potential: mu**2/2 + norm2(eta - mu*ones)/2\n"
    )
    (folder / "build.yaml").write_text(
        f"name: numbered_build\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: target.yaml\nbind: {{M: I, C: I}}\n"
        "scheme: {name: sequential_euler, order: [r, theta]}\nvariant: full\nrun: {step_size: 0.1}\n"
    )
    return load_build(folder / "build.yaml")


def test_sizes_that_are_numbers_are_at_no_head(tmp_path: Path) -> None:
    assert not is_large(numbered(tmp_path, 200))


@pytest.mark.slow
def test_many_coordinates_by_number_are_compiled(tmp_path: Path) -> None:
    from recipe_compiler.pipeline import compile_build

    assert "eta: (66,), real" in compile_build(numbered(tmp_path, 66), allow_undecided=True).file


@pytest.mark.parametrize("variant", ["full", "minibatch"])
@pytest.mark.usefixtures("without_jit")
def test_many_coordinates_are_one_text_for_every_size(variant: str) -> None:
    build, own = large(variant)
    assert is_large(build)
    assert "\nJ = 200\n" in own.module.text
    gradient = own.module.kernel.gradient
    assert gradient is not None
    theta, batch = np.linspace(-1, 1, 601), np.array([6, 2, 0], np.uint64)
    rows = batch.astype(int) if variant == "minibatch" else np.arange(7)
    mu, eta, F = theta[0], theta[1:201], theta[201:].reshape(200, 2)
    part = len(G) / len(rows) * (mu + eta[G] + (F[G] * X).sum(axis=1) - Y)[rows]
    parts = ([mu + part.sum()], 2 * eta + added(200, G[rows], part))
    of_F = F + added((200, 2), G[rows], part[:, None] * X[rows])
    found = np.full(601, np.nan)
    values = {**DATA, "theta": theta, "batch": batch, gradient.outputs[0].name: found}
    given = [values[array.name] for array in (*gradient.outputs, *gradient.inputs)]
    load_text("large", own.module.text).gradient(*given)
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
    build, own = large()
    assert old in own.module.text
    module = replace(own.module, text=own.module.text.replace(old, new))

    def read() -> None:
        for sizes in (*small_sizes(build), more_than_two(build)):
            read_back(with_heads(module, sizes), own.derivation, {})

    with pytest.raises(CompilerError):
        read()


@pytest.mark.slow
def test_many_coordinates_compile_in_time_that_does_not_grow_with_them(tmp_path: Path) -> None:
    build, _ = large()
    text = compile_build(build, allow_undecided=True).file
    more = compile_build(replace(build, sizes=(("J", 10_000), ("k", 2))), allow_undecided=True).file
    text = text.replace("J = 200", "J = 10000")
    for start, end in (("import numpy", "def sample"), ("VARIANT = ", "# Support")):
        assert text.partition(start)[2].partition(end)[0] == more.partition(start)[2].partition(end)[0] != ""


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
def test_sizes_that_the_data_give_need_not_be_stated(tmp_path: Path) -> None:
    path = written("varying", tmp_path)
    path.write_text(path.read_text().replace("sizes: {J: 3, p: 2}", ""))
    build = load_build(path)
    stated = load_build(written("varying", tmp_path))
    texts = [compile_build(one, allow_undecided=True).text for one in (build, stated)]
    own, other = (re.sub(r"SPEC_DIGEST = .*", "", text.split('"""', 2)[2]) for text in texts)
    assert own == other


def test_sizes_that_nothing_gives_are_asked_for(tmp_path: Path) -> None:
    path = written("varying", tmp_path)
    (tmp_path / "target.yaml").write_text((tmp_path / "target.yaml").read_text().replace("{shape: p}", "{shape: q}"))
    path.write_text(path.read_text().replace("sizes: {J: 3, p: 2}", ""))
    with pytest.raises(RecipeError, match="found"):
        load_build(path)


@pytest.mark.usefixtures("taken_for_granted")
def test_a_model_in_python() -> None:
    import recipe_compiler as rc

    g, x, y = rc.data("g", "N", index_of="J"), rc.data("x", "N", "p"), rc.data("y", "N")
    mu, alpha, beta = rc.scalar("mu"), rc.vector("alpha", "J"), rc.vector("beta", "p")
    likelihood = -((y - mu - alpha[g] - x @ beta) ** 2) / 2 - rc.exp(alpha[g] / 4)
    prior = -(mu**2) / 2 - rc.norm2(alpha) / 2 - rc.norm2(beta) / 2
    target = rc.Target(
        name="varying", state=[alpha, mu, beta], data=[g, x, y], log_prior=prior, log_likelihood=likelihood
    )
    of_python = target.document.log_likelihood
    build = load_build(written("varying", Path(mkdtemp())))
    assert text(of_python) == text(build.target.log_likelihood)
    assert "alpha[g]" in text(of_python)


def test_control_variates_of_several_blocks_are_differences_in_each_of_them(tmp_path: Path) -> None:
    """Of an intercept that data pick too: U is quadratic, so what is left of its gradient is linear in a difference."""
    (tmp_path / "build.yaml").write_text(
        f"name: varying\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: {SPECS}/targets/varying_intercepts.yaml\n"
        "bind: {M: I, C: I}\nscheme: {name: sequential_euler, order: [r, theta]}\nvariant: minibatch\n"
        "minibatch: {control_variates: mode}\n"
        f"data: {{file: {SPECS}/data/groups.csv, g: group, x: [x], y: y, from_one: g}}\n"
        "sizes: {J: 12, p: 1}\nrun: {step_size: 0.01, batch_size: 10}\n"
    )
    build = load_build(tmp_path / "build.yaml")
    shapes = {p.name: p.shape for p in build.parameters if p.name in build.estimates}
    assert {name: shape for name, shape in shapes.items() if name.endswith("alpha_mode")} == {
        "alpha_mode": Shape("J"), "grad_U_alpha_mode": Shape("J"),
    }  # fmt: skip
    gradient = discretise(build, derive(bind(build))).gradient
    assert gradient is not None
    for part, own in zip(gradient.parts, ("mu", "alpha", "beta"), strict=True):
        prior = shown(part.prior)
        assert f"grad_U_{own}_mode" in prior
        assert part.datum is not None
        names = [f"{name}_mode" for name in ("mu", "alpha", "beta")]
        assert all(name in shown(part.datum) for name in names), shown(part.datum)
        assert "y" not in shown(part.datum)  # it is in both gradients of a datum
