"""Residuals that vanish together: the rule is held to exact Gaussian integrals as scales vanish at different rates.

With theta ~ N(0, I), int prod_n N(c_n + a_n theta; 0, s_n**2) p(theta) dtheta is the density of N(0, S) at c, S = A A.T
+ diag(s**2), whose determinants and inverses are those of rational matrices.
"""

from itertools import combinations, product
from math import log
from random import Random

import pytest
from flint import fmpq, fmpq_mat
from some import some

from recipe_compiler import limits
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.verify.builds.at_data import VanishingResiduals, find_dependent_residuals
from recipe_compiler.verify.from_data.columns import Rows, Sum
from recipe_compiler.verify.from_data.ranks import are_apart, count_nonzero_rows

WIDTH = 3
ROWS = Rows(Declarations(), {}, {}, {}, 1)


def log_density(lines, ends, scales):
    """Return -log(det S) - c.T inv(S) c of S = A A.T + diag(s**2)."""
    n = len(lines)
    A = fmpq_mat(n, WIDTH, [fmpq(x) for line in lines for x in line])
    S = A * A.transpose() + fmpq_mat(
        n, n, [s**2 if i == j else fmpq(0) for i, s in enumerate(scales) for j in range(n)]
    )
    c = fmpq_mat(n, 1, [fmpq(x) for x in ends])
    form = (c.transpose() * S.solve(c))[0, 0]
    return -log_of(S.det()) - float(form)


def log_of(x):
    return log(int(x.p)) - log(int(x.q))


def is_unbounded(lines, ends, scale_of):
    """Whether the density grows like a power of 1/t as scales t**p vanish, for some rates p."""
    for rates in product(range(3), repeat=max(scale_of) + 1):
        near, far = (
            log_density(lines, ends, [fmpq(1, 10 ** (k * rates[scale]) if rates[scale] else 1) for scale in scale_of])
            for k in (12, 24)
        )
        if far - near > 12 * log(10):
            return True
    return False


@pytest.mark.parametrize("seed", some(range(60), 12))
def test_residuals_are_dependent_where_a_gaussian_integral_grows(seed):
    random = Random(seed)
    for _ in range(6):
        sizes = [random.randint(1, 2) for _ in range(random.randint(1, 3))]
        lines = [[random.choice((0, 0, 1, 1, 2)) for _ in range(WIDTH)] for _ in range(sum(sizes))]
        ends = [random.choice((0, 0, 1, 3)) for _ in lines]
        apart = random.random() < 0.4
        scale_of = [k for k, size in enumerate(sizes) for _ in range(size)]
        forms: list[Sum] = [
            {(): fmpq(c), **{(("b", j, 0),): fmpq(x) for j, x in enumerate(line) if x}}
            for line, c in zip(lines, ends, strict=True)
        ]
        groups = [[form for form, k in zip(forms, scale_of, strict=True) if k == own] for own in range(len(sizes))]
        part = [
            VanishingResiduals("y", tuple(group), apart, Symbol(f"s{k}", SCALAR, Role.BLOCK))
            for k, group in enumerate(groups)
        ]
        rows = list(range(len(lines))) if apart else scale_of
        assert bool(find_dependent_residuals(part, ROWS)) == is_unbounded(lines, ends, rows), (
            lines,
            ends,
            sizes,
            apart,
        )


def test_two_equal_data_of_one_location_are_dependent():
    forms: tuple[Sum, ...] = ({(): fmpq(1), (("m", 0, 0),): fmpq(1)}, {(): fmpq(1), (("m", 0, 0),): fmpq(1)})
    assert find_dependent_residuals([VanishingResiduals("y", forms, apart=True, scale=None)], ROWS)


def rank_of(lines):
    width = len(lines[0])
    return fmpq_mat(len(lines), width, [fmpq(x) for line in lines for x in line]).rref()[1] if width else 0


def have_dependent_forms(lines):
    """Whether residuals [a c] vanish at one theta though a are dependent: c is then in the span of a."""
    own = rank_of([line[:-1] for line in lines])
    return own == rank_of(lines) < len(lines)


@pytest.mark.parametrize("seed", some(range(40), 10))
def test_residuals_are_apart_where_no_dependent_ones_vanish_together(seed):
    random = Random(seed)
    for _ in range(50):
        width = random.randint(1, 4)
        lines = [
            [*(random.choice((0, 0, 1, 1, 2, -1, 3)) for _ in range(width - 1)), random.randint(-9, 9)]
            for _ in range(random.randint(1, 6))
        ]
        sets = (own for k in range(1, len(lines) + 1) for own in combinations(lines, k))
        assert are_apart(lines, width) == (not any(map(have_dependent_forms, sets))), lines


MANY = [[1, k, k**2] for k in range(140)]
"""Points of a parabola: of these no three are on a line."""


def test_of_many_residuals_three_on_a_line_are_not_apart():
    assert are_apart(MANY, 3)
    assert not are_apart([*MANY, [1, 140, (139**2 - 138**2) * 2 + 138**2]], 3)


def test_of_more_rows_than_are_looked_at_none_are_apart(monkeypatch):
    monkeypatch.setattr(limits, "DATA", 140**2 - 1)
    assert not are_apart(MANY, 3)
    assert are_apart(MANY[:20], 3)


@pytest.mark.parametrize("seed", some(range(40), 10))
def test_no_more_rows_are_nonzero_than_at_every_state(seed, monkeypatch):
    """All but those that vanish together at most; of parts of the rows it may be fewer."""
    random = Random(seed)
    for _ in range(20):
        width = random.randint(1, 4)
        lines = [
            [*(random.choice((0, 0, 1, 1, 2, -1, 3)) for _ in range(width - 1)), random.randint(-2, 2)]
            for _ in range(random.randint(width, 7))
        ]
        sets = (own for k in range(1, len(lines) + 1) for own in combinations(lines, k))
        together = max((len(own) for own in sets if rank_of([one[:-1] for one in own]) == rank_of(own)), default=0)
        exact = [[fmpq(x) for x in line] for line in lines]
        whole = rank_of([line[:-1] for line in lines]) == width - 1
        assert count_nonzero_rows(exact, width) == (len(lines) - together if whole else 0), lines
        with monkeypatch.context() as few:
            few.setattr(limits, "DATA", 20)
            assert count_nonzero_rows(exact, width) <= len(lines) - together, lines
