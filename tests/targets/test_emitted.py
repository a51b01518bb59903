"""Targets as they are emitted: gradient, U and log likelihood are those by hand in 60 digits, faults are read back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import by_hand
import mpmath as mp
import numpy as np
import pytest
from loaders import load_build
from read_back import check_shipped, read_back
from ruamel.yaml import YAML
from some import some

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.lower_energies import lower_energies
from recipe_compiler.readback.names import Sizes
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.observed import with_sizes
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

MODELS: dict[str, Any] = YAML(typ="safe").load(Path(__file__).with_name("models.yaml"))
HAMILTONIAN = """dynamics: hmc
bind: {M: I}
scheme: {cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 2, flip: {r: -r}}}]}
variant: full
run: {step_size: 0.1}
"""
LANGEVIN = """dynamics: sgld
bind: {D: I}
scheme: {name: euler}
variant: VARIANT
run: {step_size: 0.01BATCH}
"""
BATCH = [6, 2, 0]
SIZED = ("correlated", "covariance", "slopes", "process", "latent", "classes", "spread")
"""Models that are made at a number K."""


@dataclass(frozen=True)
class Emitted:
    build: Build
    module: Module
    derivation: Derivation
    pinned: dict[str, int]
    data: Mapping[str, np.ndarray]
    parameters: Mapping[str, np.ndarray]

    @property
    def theta(self) -> np.ndarray:
        if "theta" in MODELS[self.module.name]:
            return np.array(MODELS[self.module.name]["theta"], float)
        shapes = [block.sampled.shape.sizes for block in self.build.target.declarations.blocks]
        known = dict(self.build.sizes)
        return np.linspace(-0.6, 0.7, sum(prod(int(known.get(str(size), size)) for size in shape) for shape in shapes))

    def read(self, change: Callable[[str], str] = lambda text: text) -> tuple[Sizes, ...]:
        """Read the text back, with a change."""
        return read_back(replace(self.module, text=change(self.module.text)), self.derivation, {}, self.pinned)

    def read_as_shipped(self, change: Callable[[str], str]) -> None:
        """Read the text back, with a change, and what is read of a shipped text alone: the gradient of all data."""
        self.read(change)
        check_shipped(replace(self.module, text=change(self.module.text)), dict(self.build.sizes))

    def called(self, procedure: str, theta: np.ndarray, data: Mapping[str, np.ndarray]) -> Any:
        """Call an emitted procedure by the names of its arguments."""
        loaded, found = load_text(self.module.name, self.module.text), self.module.kernel.gradient
        if procedure != "gradient":
            lowered = lower_energies(self.module.program)
            assert lowered is not None
            found = {one.name: one for one in lowered.procedures}[procedure]
        assert found is not None
        out, count = np.full(theta.shape, np.nan), len(next(iter(data.values())))
        given: dict[str, Any] = {"theta": theta, "r": np.zeros(theta.shape), **self.parameters, **data}
        halves = {array.name: _halved(array.sizes) for array in found.inputs if array.name == "halved_triangle"}
        given = {array.name: None for array in found.inputs} | {"batch": np.array(BATCH, np.uint64)} | halves | given
        if procedure == "gradient":
            given |= {array.name: out for array in found.outputs}
        for array in found.work:
            sizes = {"N": count, **dict(self.module.program.heads)}
            given[array.name] = np.full(tuple(int(sizes.get(str(size), size)) for size in array.sizes), np.nan)
        if loaded.prepare_energies is not None:
            constants = loaded.prepare_energies(*self.parameters.values())
            given |= dict(zip(loaded.energy_constants, constants, strict=True))
        if procedure != "gradient":
            return getattr(loaded, procedure)(*(given[array.name] for array in found.inputs))
        loaded.gradient(*(given[array.name] for array in (*found.outputs, *found.inputs, *found.work)))
        return out


@cache
def emitted(name: str, K: int = 3, variant: str = "full", *, shaped: bool = True) -> Emitted:
    """Return a model as it is emitted: with energies, of Hamiltonian moves, or with its gradient alone."""
    model, folder = MODELS[name], Path(mkdtemp())
    sized = name in SIZED
    target = model["target"]
    if sized:
        target = target.replace("K", str(K)).replace("POINTS", f'"{by_hand.POINTS[:K]}"')
    data = {field: np.array(rows) for field, rows in model["data"].items()}
    if sized and name != "classes":
        data = {field: rows[:, :K].copy() if rows.ndim == 2 else rows for field, rows in data.items()}
    given = {key: np.array(value, float)[: K if sized else None] for key, value in model.get("parameters", {}).items()}
    columns = {f: [f"{f}_{k}" for k in range(rows.shape[1])] if rows.ndim == 2 else f for f, rows in data.items()}
    moves = LANGEVIN if "gradient" in model else HAMILTONIAN
    moves = moves.replace("VARIANT", variant).replace("BATCH", ", batch_size: 3" if variant != "full" else "")
    stated = {f: str(c).replace("'", "") for f, c in columns.items()}
    text = f"name: {name}\ntarget: target.yaml\n{moves}data: {{file: data.csv, "
    text += ", ".join(f"{f}: {c}" for f, c in stated.items()) + "}\n"
    text += f"sizes: {model['sizes']}\n".replace("'", "") if "sizes" in model else ""
    if given and not sized:
        values = ", ".join(f"{key}: {{value: {value}}}" for key, value in model["parameters"].items())
        text += f"parameters: {{{values}}}\n"
    (folder / "target.yaml").write_text(f"name: {name}\n{target}")
    rows = np.column_stack([np.array(rows, object) for rows in data.values()])
    head = [c for names in columns.values() for c in ([names] if isinstance(names, str) else names)]
    (folder / "data.csv").write_text("\n".join([",".join(head), *(",".join(map(str, row)) for row in rows), ""]))
    (folder / "build.yaml").write_text(text)
    build = with_sizes(load_build(folder / "build.yaml"))
    derivation = derive(bind(build))
    program = discretise(build, derive(bind(build), stated=True), model.get("sizes", {}))
    kernel = schedule(program, lower(program)) if shaped else lower(program)
    module = emit_module(name, program, kernel, "A test.", "0" * 64)
    arrays = {f: rows.astype(np.int64 if f in _positions(build) else float) for f, rows in data.items()}
    return Emitted(build, module, derivation, pinned_sizes(build, program), arrays, given)


def _halved(sizes: Sequence[Any]) -> np.ndarray:
    ones = np.ones(tuple(map(int, sizes)))
    return (np.tril(ones) + np.tril(ones, -1)) / 2


def _positions(build: Build) -> set[str]:
    return {field.name for field in build.target.declarations.data if field.is_index}


def exact(array: np.ndarray) -> Any:
    """Return the entries of an array as numbers of mpmath; positions are whole numbers."""
    if array.ndim:
        return [exact(row) for row in array]
    return int(array) if np.issubdtype(array.dtype, np.integer) else mp.mpf(float(array))


def compare(
    own: Emitted, theta: np.ndarray, data: Mapping[str, np.ndarray], share: float, every: int = 1, *, far: bool = False
) -> None:
    """Compare the gradient, U and the log likelihood with those by hand; of the gradient each so manyth entry."""
    name, count = own.module.name, len(next(iter(data.values())))
    rows = BATCH if own.build.variant == "minibatch" else range(count)
    with mp.workdps(60):
        given, z = {field: exact(values) for field, values in data.items()}, exact(theta)

        def U(*at: Any) -> Any:
            prior, terms = getattr(by_hand, name)(list(at), given)
            return prior + mp.fsum(terms[row] for row in rows) * count / len(rows)

        places = range(len(z) - 1, -1, -every)
        slopes = np.array([float(mp.diff(U, z, tuple(int(k == n) for n in range(len(z))))) for k in places])
        whole, of_rows = float(U(*z)), np.array([float(-term) for term in getattr(by_hand, name)(z, given)[1]])
        moved = float(U(*z) - U(*(x + mp.mpf(1) / 8 for x in z)))
    found = own.called("gradient", theta, data)
    np.testing.assert_allclose(found[list(places)], slopes, rtol=share, atol=share * np.abs(slopes).max())
    if "gradient" in MODELS[name]:
        return
    np.testing.assert_allclose(own.called("log_likelihood", theta, data), of_rows, rtol=share, atol=1e-15)
    if far:  # where digits of U itself are lost
        return
    energies = [float(own.called("full_potential", at, data)) for at in (theta, theta + 1 / 8)]
    assert energies[0] - energies[1] == pytest.approx(moved, rel=1e-10, abs=1e-10)
    if name not in ("filter", "three"):  # what a set or a logit leaves out is a constant
        assert energies[0] == pytest.approx(whole, rel=1e-12)


CASES = [
    *((name, 3, 1) for name in MODELS if name not in {"abs", *SIZED} or name in ("classes", "spread")),
    *(("correlated", K, every) for K, every in ((6, 3), (2, 1), (10, 9), (3, 1), (4, 1))),
    *(("covariance", K, 1) for K in (2, 4)), *(("slopes", K, 2) for K in (2, 3)), ("process", 4, 1), ("latent", 4, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "K", "every"), some(CASES, 2))
@pytest.mark.usefixtures("without_jit")
def test_gradient_and_energies_are_those_by_hand(name: str, K: int, every: int) -> None:
    own = emitted(name, K)
    compare(own, own.theta, own.data, 1e-12, every)


@pytest.mark.parametrize("name", ["varying", "factors", "categories", "pairs"])
@pytest.mark.usefixtures("without_jit")
def test_the_gradient_of_a_minibatch_is_that_of_its_rows(name: str) -> None:
    own = emitted(name, variant="minibatch")
    compare(own, own.theta, own.data, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", ["garch", "arma", "filter", "column"])
@pytest.mark.usefixtures("without_jit")
def test_a_recursion_may_have_few_rows(name: str, count: int) -> None:
    own = emitted(name)
    compare(own, own.theta, {field: rows[:count] for field, rows in own.data.items()}, 1e-13)


@pytest.mark.parametrize(("name", "shift", "scale"), [("garch", 1e9, 1.0), ("garch", 0, 1e6), ("arma", 0, 1e6)])
@pytest.mark.usefixtures("without_jit")
def test_data_that_are_shifted_and_scaled_lose_no_digits(name: str, shift: float, scale: float) -> None:
    own = emitted(name)
    theta = own.theta + np.eye(len(own.theta))[0] * shift
    theta[1] += 2 * np.log(scale) if name == "garch" else 0.0
    compare(own, theta, {**own.data, "y": shift + scale * own.data["y"]}, 1e-12, far=True)


@pytest.mark.slow
@pytest.mark.parametrize("shaped", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_a_text_is_read_back(name: str, shaped: bool) -> None:
    own = emitted(name, 2, shaped=shaped)
    read = own.read()
    rows = {1, 2} if own.build.target.stages else {1, 2, 3}  # of the shipped text three, which has as many stages
    assert {sizes["N"] for sizes in read} == rows if own.build.target.recursion else read


PLANTED = [
    (name, old, new, count)
    for name, model in MODELS.items()
    for key, count in (("faults", -1), ("first", 1))
    for old, new in model.get(key, ())
]


@pytest.mark.parametrize(("name", "old", "new", "count"), some(PLANTED, 2))
def test_a_fault_of_the_text_is_found(name: str, old: str, new: str, count: int) -> None:
    own = emitted(name, 4)
    assert old in own.module.text
    with pytest.raises(CompilerError):
        own.read(lambda text: text.replace(old, new, count))


@pytest.mark.slow
def test_a_kink_is_read_on_either_side() -> None:
    """|x| is x at half of all points: each place where it is taken is changed by itself."""
    own = emitted("abs")
    text = own.module.text
    for old, new in (("abs(y[row] - mu[0])", "(y[row] - mu[0])"), ("_sign(y[row] - mu[0])", "1.0")):
        places = [k for k in range(len(text)) if text.startswith(old, k)]
        assert places
        for k in places:
            with pytest.raises(CompilerError):
                own.read_as_shipped(lambda _, k=k, old=old, new=new: text[:k] + new + text[k + len(old) :])
