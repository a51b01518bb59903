"""The gradient of every shipped target, as emitted, against differences of U at 50 digits.

U is read by the second engine, which shares nothing with the calculus the gradient comes from, and added up over all
data; its differences are mpmath's. Points lie near and far from the posterior. Targets with blocks that lie in sets are
looked at in their variables, in tests/targets/test_constraints.py.
"""

import re
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from emitted_gradient import emitted, known_noise
from loaders import load_sized

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.symbols import coordinates, label, positions
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.run.data import Data, Field, load_data
from recipe_compiler.run.sizes import parameter_values, resolve_sizes
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
BUILDS = sorted((ROOT / "specs" / "builds").glob("*.yaml")) + sorted((ROOT / "tests/targets/builds").glob("*.yaml"))
MOVED_BY_LAWS = {"dp_mixture", "gamma_categories", "mixture_allocations", "mixture_weights", "removal_counts"}
"""Targets of which no gradient is emitted: their builds move by laws alone."""
IN_SETS = {"all_sets", "ordered_mixture"}
"""Targets with blocks that lie in sets."""
NAMED = re.compile(r"^target: \S*?(?P<name>\w+)\.yaml$", re.M)
BY_TARGET = {found["name"]: path for path in BUILDS if (found := NAMED.search(path.read_text(encoding="utf-8")))}
"""A build of each target; they are not read here, which every run of the tests would wait for."""
ROWS = 12
"""Data that are looked at: U is added up datum by datum at 50 digits."""


def point(build: Build, rng: np.random.Generator, length: int, scale: float) -> np.ndarray:
    """Return a point inside the domain of the potential's block, farther from its middle for a larger scale."""
    z = scale * rng.standard_normal(length)
    domain = next(block.domain.name for block in build.target.declarations.blocks)
    if domain == DomainName.POSITIVE:
        return np.exp(z)
    if domain == DomainName.SIMPLEX:
        return np.exp(z) / (1.0 + np.exp(z).sum())
    return z


def _number(field: Field, row: int, at: tuple[int, ...]) -> float:
    """Return an entry of a datum; of a position, whether it is the one."""
    if field.values.ndim == 1 and at:
        return float(field.values[row] == at[0])
    return float(field.values[(row, *at)])


class Energy:
    """U of a target at 50 digits, from the second engine's reading of its formulas."""

    def __init__(self, build: Build, data: Data) -> None:
        target = build.target
        self.sizes = resolve_sizes(build, data)
        self.setting = Setting(target.declarations, self.sizes)
        self.z = [z for block in target.declarations.blocks for z in coordinates(block, self.sizes)]
        names = tuple(p.name for p in target.declarations.parameters)
        self.values: dict[str, float] = {}
        for name, value in parameter_values(build, names, self.sizes).items():
            self.values |= {label(name, at): float(value[at]) for at in np.ndindex(value.shape)}
        self.own = self._function(target.potential if target.potential is not None else target.log_prior)
        self.sign = 1 if target.potential is not None else -1
        self.datum = None if target.log_likelihood is None else self._function(target.log_likelihood)
        shapes = {d.name: positions(d.shape, self.sizes) for d in target.declarations.data}
        self.rows = [
            {label(f.name, at): _number(f, n, at) for f in data.fields for at in shapes[f.name]}
            for n in range(data.rows)
        ]

    def _function(self, formula: Any) -> Any:
        entry = rows(formula, self.setting)[0][0]
        symbols = sorted(entry.free_symbols, key=str)
        return [str(s) for s in symbols], sp.lambdify(symbols, entry, "mpmath")

    def __call__(self, *z: mpmath.mpf) -> mpmath.mpf:
        known = {str(name): value for name, value in zip(self.z, z, strict=True)}
        known |= {name: mpmath.mpf(value) for name, value in self.values.items()}
        names, function = self.own
        total = self.sign * function(*(known[name] for name in names))
        if self.datum is not None:
            names, function = self.datum
            for row in self.rows:
                here = known | {name: mpmath.mpf(value) for name, value in row.items()}
                total -= function(*(here[name] for name in names))
        return total


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_TARGET.keys() - MOVED_BY_LAWS - IN_SETS))
def test_the_gradient_is_that_of_the_target(name: str) -> None:
    build = load_sized(BY_TARGET[name])
    assert build.target.name == name
    assert not constrained(build.target.declared or build.target)
    whole = load_data(build.data, build.target)
    data = Data(tuple(Field(f.name, np.ascontiguousarray(f.values[:ROWS]), f.columns) for f in whole.fields))
    energy, made = Energy(build, data), emitted(build)
    module = made.module
    rng = np.random.default_rng(3)
    parameters = parameter_values(known_noise(build, energy.sizes), module.parameters, energy.sizes)
    plain = {name: float(v) if v.ndim == 0 else v for name, v in parameters.items()}
    known = plain | made.constants(list(plain.values()), energy.sizes) | {f.name: f.values for f in data.fields}
    for scale in (0.5, 2.0):
        z = point(build, rng, len(energy.z), scale)
        gradients = made.gradients(known, z, data.rows)
        assert gradients
        chosen = range(len(z)) if len(z) <= 12 else sorted({0, len(z) - 1, *rng.choice(len(z), 10, replace=False)})
        with mpmath.workdps(50):
            at = [mpmath.mpf(float(x)) for x in z]
            for k in chosen:
                order = tuple(1 if i == k else 0 for i in range(len(z)))
                exact = float(mpmath.diff(energy, at, order))
                for by, found in gradients.items():
                    near = pytest.approx(exact, rel=1e-11, abs=1e-10 * max(1.0, np.abs(found).max()))
                    assert found[k] == near, (by, k, z)
