"""Plans of many coordinates are diagonal, and what no document holds is refused before it is looked for."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.advise.acceptance import tuned
from recipe_compiler.advise.entries import demand_statable, with_diagonals
from recipe_compiler.advise.pilots import Moved
from recipe_compiler.advise.roles import ParameterRole, open_parameters
from recipe_compiler.advise.search import matched
from recipe_compiler.advise.spread import MANY, decimals, eigenvalues, inverse, root, symmetric, times
from recipe_compiler.errors import RunError
from recipe_compiler.run.differences import is_definite
from recipe_compiler.spec.model import Build
from recipe_compiler.verify.core.build_values import evaluate_bound_formulas

SPECS = Path(__file__).parents[2] / "specs"
BUILD = """
name: many
dynamics: {specs}/dynamics/{dynamics}.yaml
target: own.yaml
scheme: {scheme}
variant: full
sizes: {{d: {d}}}
run: {{step_size: auto, seed: 3}}
"""
HMC = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 'uniform(1, 20)', flip: {r: -r}}}]}"
TARGET = """
name: own
state: {theta: {shape: d}}
parameters: {s: {shape: d, is: positive, default: ones}}
potential: sum((theta/s)**2)/2
"""


def build(folder: Path, d: int, dynamics: str = "hmc", scheme: str = HMC) -> Build:
    (folder / "own.yaml").write_text(TARGET)
    path = folder / "many.yaml"
    path.write_text(BUILD.format(specs=SPECS, dynamics=dynamics, scheme=scheme, d=d))
    return stated(path)


def stated(path: Path) -> Build:
    made = rc.load(str(path))
    assert isinstance(made, rc.Build)
    return made.document


def test_of_many_coordinates_the_mass_is_a_diagonal(tmp_path: Path) -> None:
    few = build(tmp_path, MANY)
    assert with_diagonals(few, MANY) is few
    many = with_diagonals(build(tmp_path, MANY + 1), MANY + 1)
    assert [str(name) for name, _ in many.bind] == ["M"]
    (mass,) = open_parameters(many)
    assert (mass.name, mass.role, mass.is_number, mass.is_matrix) == ("mass", ParameterRole.MASS, False, False)


def test_what_no_document_holds_is_refused_before_it_is_looked_for(tmp_path: Path) -> None:
    for d in (111, 20_000):
        langevin = build(tmp_path, d, "sghmc", "{name: euler}")
        with pytest.raises(RunError, match=f"found {d} coordinates, whose plan has"):
            demand_statable(langevin, d)
    demand_statable(build(tmp_path, 80, "sghmc", "{name: euler}"), 80)
    demand_statable(with_diagonals(build(tmp_path, 8_000), 8_000), 8_000)
    with pytest.raises(
        RunError, match="found 8001 coordinates, whose plan has 24,003 numbers, expected at most 24,000"
    ):
        demand_statable(with_diagonals(build(tmp_path, 8_001), 8_001), 8_001)


def test_a_diagonal_is_what_the_matrix_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    diagonal, w = np.exp(rng.standard_normal(5)), rng.standard_normal((3, 5))
    whole = np.diag(diagonal)
    np.testing.assert_allclose(times(root(diagonal), w), times(root(whole), w))
    np.testing.assert_allclose(times(diagonal, w[0]), whole @ w[0])
    np.testing.assert_allclose(np.diag(inverse(diagonal)), inverse(whole))
    np.testing.assert_allclose(eigenvalues(diagonal), eigenvalues(whole))
    np.testing.assert_allclose(decimals(diagonal), diagonal, rtol=1e-3)
    np.testing.assert_array_equal(symmetric(diagonal), diagonal)
    assert is_definite(diagonal)
    assert not is_definite(np.array([1.0, 0.0]))
    assert not is_definite(np.array([1.0, np.inf]))
    (mass,) = open_parameters(with_diagonals(build(tmp_path, MANY + 1), MANY + 1))
    np.testing.assert_array_equal(matched((mass,), diagonal, 1.0)["mass"], diagonal)


def test_a_diagonal_that_the_build_leaves_open_is_that_of_the_matrix(tmp_path: Path) -> None:
    """`bind: {M: diag(m)}` of few coordinates; of a step that nothing refuses it is not chosen, as before."""
    text = Path(build(tmp_path, 3).source.file)
    text.write_text(text.read_text() + "bind: {M: diag(m)}\nparameters: {m: {shape: d, is: positive}}\n")
    few = stated(text)
    assert with_diagonals(few, 3) is few
    K = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 4.0]])
    np.testing.assert_array_equal(matched(open_parameters(few), K, 1.0)["m"], [2.0, 3.0, 4.0])
    text.write_text(text.read_text().replace(HMC, "[B, A]").replace("scheme: [B, A]", "scheme: {split: [B, A, B]}"))
    with pytest.raises(RunError, match="parameter `m`: found no value with step_size: auto"):
        open_parameters(stated(text))


class Exact:
    """Chains that draw each coordinate independently, moves being accepted the more often the shorter their steps."""

    def __init__(self, sds: np.ndarray) -> None:
        self.sds, self.width, self.rng = sds, len(sds), np.random.default_rng(0)

    def moved(self, values: Mapping[str, np.ndarray], eps: float, thin: int, draws: int) -> Moved:
        frequency = float(np.max(1.0 / (self.sds * np.sqrt(values["mass"]))))
        theta = self.sds * self.rng.standard_normal((4, draws, self.width))
        return Moved(theta, (np.full((4, draws), np.exp(-((eps * frequency) ** 2))),))

    def restart(self, chain: int, other: int) -> None:
        raise AssertionError(f"chain {chain} is not stuck, and was restarted from {other}")


def test_windows_find_the_diagonal_of_many_coordinates(tmp_path: Path) -> None:
    width = MANY + 20
    sds = np.geomspace(1e-2, 1e2, width)
    open_ones = open_parameters(with_diagonals(build(tmp_path, width), width))
    values, eps = tuned(Exact(sds), open_ones, None, 0.8, 1)
    assert values["mass"].shape == (width,)
    np.testing.assert_allclose(values["mass"] * sds**2, 1.0, atol=0.3)
    assert np.exp(-((eps * np.max(1.0 / (sds * np.sqrt(values["mass"])))) ** 2)) == pytest.approx(0.8, abs=0.05)


def test_a_large_bound_matrix_stays_bound_to_its_formula(tmp_path: Path) -> None:
    """Its entries are not written out: 2,000 numbers would be 4,000,000."""
    for d, is_bound in ((20, False), (2_000, True)):
        planned = build(tmp_path, d)
        text = planned.source.file
        numbers = ", ".join(["3/2", "2", *["1"] * (d - 2)])
        more = f"bind: {{M: diag(m)}}\nparameters: {{m: {{shape: d, is: positive, value: [{numbers}]}}}}\n"
        Path(text).write_text(Path(text).read_text() + more)
        assert bool(evaluate_bound_formulas(stated(Path(text))).bind) is is_bound
