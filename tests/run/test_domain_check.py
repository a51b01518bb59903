"""Draws outside of their domains: each is found, the first is named, and nothing inside is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from recipe_compiler.advise.diagnostics import summarise
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.expression import Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.run.data import Data
from recipe_compiler.run.domain_check import Outside, outside
from recipe_compiler.run.evaluate import Point
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import sample
from recipe_compiler.run.store import to_datatree
from recipe_compiler.spec.model import Build

POSITIVE = Domain(DomainName.POSITIVE)
UNIT = Domain(DomainName.INTERVAL, (Number(Fraction(0)), Symbol("top", SCALAR, Role.PARAMETER)))
AT = Point({"top": np.asarray(1.0)}, {"d": 2})


def bounded(build: Build, domain: Domain) -> Build:
    """Return the build with its first block on another domain."""
    declared = build.dynamics.declarations
    blocks = (Block("theta", Shape("d"), domain), *declared.blocks[1:])
    return replace(build, dynamics=replace(build.dynamics, declarations=replace(declared, blocks=blocks)))


def found(build: Build, domain: Domain, theta: np.ndarray) -> tuple[Outside, ...]:
    return outside(bounded(build, domain), (theta, -np.ones_like(theta)), AT)


@pytest.mark.parametrize(
    ("domain", "inside", "beyond"),
    [
        (POSITIVE, 5e-324, 0.0),
        (Domain(DomainName.NONNEGATIVE), 0.0, -5e-324),
        (UNIT, 1.0, np.nextafter(1.0, 2.0)),
        (UNIT, 0.0, -5e-324),
        (Domain(DomainName.SIMPLEX), 0.25, 0.75),
        (Domain(DomainName.SIMPLEX), 0.25, 0.0),
        (Domain(DomainName.REAL), -1e300, None),
        (Domain(DomainName.CIRCLE), -1e300, None),
    ],
)
def test_a_draw_is_outside_or_not_to_the_last_bit(
    build: Build, domain: Domain, inside: float, beyond: float | None
) -> None:
    theta = np.full((2, 3, 2), 0.5)
    theta[:, :, 1] = inside
    assert found(build, domain, theta) == ()
    if beyond is not None:
        theta[1, 2, 1] = beyond
        (one,) = found(build, domain, theta)
        assert (one.block, one.draws, one.chains, one.chain, one.draw) == ("theta", 1, 1, 1, 2)


def test_the_earliest_draw_is_named_and_ended_chains_are_not_counted(build: Build) -> None:
    theta = np.ones((3, 5, 2))
    theta[0, 4] = -1.0
    theta[1, 2, 1] = -2.0
    theta[2, 1:] = np.nan
    (one,) = found(build, POSITIVE, theta)
    assert one == Outside("theta", DomainName.POSITIVE, "positive", 2, 2, chain=1, draw=2, entry=1, value=-2.0)


def test_what_is_bound_in_a_domain_is_put_in(build: Build) -> None:
    theta = np.full((1, 1, 2), 1.5)
    assert len(found(build, UNIT, theta)) == 1
    assert found(replace(build, bind=(("top", Number(Fraction(2))),)), UNIT, theta) == ()


def test_a_run_counts_tells_and_stores_them(full_module: Emitted, build: Build, data: Data) -> None:
    """The Gaussian of the module knows of no domain: its coordinates, of deviation 0.22 about 1, 2 and 3, leave it."""
    free = sample(full_module, build, build.run, data)
    assert free.outside == ()
    top = Domain(DomainName.INTERVAL, (Number(Fraction(0)), Number(Fraction(33, 10))))
    draws = sample(full_module, bounded(build, top), build.run, data)
    theta = draws.block("theta")
    count = int(((theta < 0.0) | (theta > 3.3)).any(axis=2).sum())
    assert count > 0
    assert [one.draws for one in draws.outside] == [count]
    tree = to_datatree(draws, build, data, "0" * 64)
    assert tree.attrs["draws_outside"] == count
    (doubt,) = [doubt for doubt in summarise(tree, draws).doubts if "left its domain" in doubt]
    for part in (f"interval(0, 33/10), in {count} draws", "first in draw", "transform: logit", "smaller step size"):
        assert part in doubt
    assert not [doubt for doubt in summarise(tree, free).doubts if "left its domain" in doubt]
