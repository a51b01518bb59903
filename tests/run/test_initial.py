"""Where chains start."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from recipe_compiler.derive.refresh import OwnLaw
from recipe_compiler.emit.support.starts import _LONGEST_LAW
from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Filled,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Normal,
    Number,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.run.initial import initial_state
from recipe_compiler.spec.model import Build

COLUMN, SQUARE = Shape("d"), Shape("d", "d")
PRECISION = np.array([[2.0, 0.6], [0.6, 1.0]])
CENTRE = np.array([[0.5], [-3.0]])
KNOWN = {"A": PRECISION, "m": CENTRE, "c": np.asarray(3.0)}


def starts(build: Build, chains: int = 1, law: OwnLaw | None = None, d: int = 2, seed: int = 0) -> list[np.ndarray]:
    """Return, per block, the starts of all chains; law: that of r."""
    laws = {} if law is None else {"r": law}
    found = [initial_state(build, build.dynamics, laws, KNOWN, {"d": d}, seed, k) for k in range(chains)]
    return [np.stack(blocks) for blocks in zip(*found, strict=True)]


def with_law(build: Build) -> Build:
    """Let H be U(theta) + (r - m)^T A (r - m)/2."""
    away = Add(
        (Symbol("r", COLUMN, Role.BLOCK), Multiply(Number(Fraction(-1)), Symbol("m", COLUMN, Role.PARAMETER), COLUMN)),
        COLUMN,
    )
    inner = MatMul(Transpose(away, Shape(None, "d")), MatMul(Symbol("A", SQUARE, Role.PARAMETER), away, COLUMN), SCALAR)
    H = Add((FunctionAt("U", ("theta",), SCALAR), Multiply(Number(Fraction(1, 2)), inner, SCALAR)), SCALAR)
    return replace(build, dynamics=replace(build.dynamics, H=H), init=())


def with_domain(build: Build, domain: Domain) -> Build:
    blocks = (Block("theta", COLUMN, domain), Block("r", COLUMN))
    declarations = replace(build.dynamics.declarations, blocks=blocks)
    return replace(build, dynamics=replace(build.dynamics, declarations=declarations), init=())


def test_formulas_of_init_are_evaluated(build: Build) -> None:
    build = replace(build, init=(("theta", Symbol("m", COLUMN, Role.PARAMETER)), ("r", Filled(1, COLUMN))))
    theta, r = starts(build)
    np.testing.assert_array_equal(theta[0], [0.5, -3.0])
    np.testing.assert_array_equal(r[0], [1.0, 1.0])


@pytest.mark.slow
def test_draws_of_init_differ_from_chain_to_chain_and_have_their_law(build: Build) -> None:
    theta, _ = starts(build, chains=4000)
    assert theta.shape == (4000, 2)
    assert np.abs(theta.mean(axis=0)).max() <= 5 / math.sqrt(4000)
    assert np.abs(np.cov(theta.T) - np.eye(2)).max() <= 5 * math.sqrt(2 / 4000)


def test_starts_are_reproducible_and_depend_on_the_seed(build: Build) -> None:
    np.testing.assert_array_equal(starts(build, 3)[0], starts(build, 3)[0])
    assert not np.any(starts(build, 3)[0] == starts(build, 3, seed=1)[0])


def test_a_start_does_not_depend_on_the_number_of_chains(build: Build) -> None:
    np.testing.assert_array_equal(starts(build, 2)[0], starts(build, 5)[0][:2])


def test_the_potential_block_starts_overdispersed(build: Build) -> None:
    theta, r = starts(replace(build, init=()), chains=2000)
    assert np.abs(theta).max() <= 2.0
    assert abs(theta.var() - 4 / 3) <= 0.1
    np.testing.assert_array_equal(r, 0.0)


@pytest.mark.slow
def test_a_gaussian_block_starts_from_its_law(build: Build) -> None:
    _, r = starts(with_law(build), chains=4000, law=OwnLaw.GAUSSIAN)
    covariance = np.linalg.inv(PRECISION)
    assert np.abs(r.mean(axis=0) - CENTRE[:, 0]).max() <= 5 * math.sqrt(covariance.max() / 4000)
    assert np.abs(np.cov(r.T) - covariance).max() <= 5 * covariance.max() * math.sqrt(2 / 4000)


def test_a_block_with_no_proper_law_starts_at_zero(build: Build) -> None:
    build = with_law(build)
    upside_down = Multiply(Number(Fraction(-1)), build.dynamics.H, SCALAR)
    build = replace(build, dynamics=replace(build.dynamics, H=upside_down))
    np.testing.assert_array_equal(starts(build, law=OwnLaw.GAUSSIAN)[1], 0.0)


def test_the_law_of_a_long_block_is_not_computed(build: Build) -> None:
    _, r = starts(replace(build, init=()), law=OwnLaw.GAUSSIAN, d=_LONGEST_LAW + 1)
    np.testing.assert_array_equal(r, 0.0)


def test_a_standard_normal_block_starts_from_its_law_however_long_it_is(build: Build) -> None:
    _, r = starts(replace(build, init=()), chains=40, law=OwnLaw.NORMAL, d=_LONGEST_LAW + 1)
    assert abs(r.mean()) <= 5 / math.sqrt(r.size)
    assert abs(r.var() - 1.0) <= 5 * math.sqrt(2 / r.size)
    assert np.unique(r).size == r.size


@pytest.mark.parametrize(
    ("name", "bounds", "low", "high"),
    [
        (DomainName.POSITIVE, (), 0.0, math.inf),
        (DomainName.NONNEGATIVE, (), 0.0, math.inf),
        (DomainName.INTERVAL, (Number(Fraction(3)), Number(Fraction(5))), 3.0, 5.0),
        (DomainName.CIRCLE, (), 0.0, math.tau),
        (DomainName.SIMPLEX, (), 0.0, 1.0),
    ],
)
def test_bounded_blocks_start_inside_their_domain(
    build: Build, name: DomainName, bounds: tuple[Number, ...], low: float, high: float
) -> None:
    theta, _ = starts(with_domain(build, Domain(name, bounds)), chains=200)
    assert ((theta > low) & (theta < high)).all()
    assert theta.std() > 0.1
    if name is DomainName.SIMPLEX:
        assert (theta.sum(axis=1) < 1.0).all()


def test_scalar_blocks_are_arrays_of_length_one(build: Build) -> None:
    declarations = Declarations(blocks=(Block("xi"),))
    build = replace(build, dynamics=replace(build.dynamics, declarations=declarations))
    build = replace(build, init=(("xi", Symbol("c", SCALAR, Role.PARAMETER)),))
    (xi,) = initial_state(build, build.dynamics, {}, KNOWN, {}, 0, 0)
    assert xi.tolist() == [3.0]


def test_init_that_does_not_fit_is_refused(build: Build) -> None:
    with pytest.raises(DataError, match="init of `theta`: found an array"):
        starts(replace(build, init=(("theta", Identity("d")),)))
    infinite = Apply("log", (Filled(0, COLUMN),), COLUMN)
    with pytest.raises(DataError, match="expected finite numbers"):
        starts(replace(build, init=(("theta", infinite),)))
    beyond = Multiply(Number(Fraction(10**400)), Filled(1, COLUMN), COLUMN)
    with pytest.raises(DataError, match="expected finite numbers"):
        starts(replace(build, init=(("theta", beyond),)))
    minus = Multiply(Number(Fraction(-1)), Identity("d"), SQUARE)
    with pytest.raises(DataError, match="not positive semidefinite"):
        starts(replace(build, init=(("theta", Normal(minus, COLUMN)),)))
