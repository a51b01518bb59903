"""Ranks of many forms: the first of them tell where they can, and all are looked at where they cannot."""

from collections.abc import Iterator
from random import Random

import pytest
from flint import fmpq, fmpq_mat

from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.ranks import rank_of
from recipe_compiler.verify.from_data.terms import _each_once


def late_forms(rng: Random, width: int) -> Iterator[Form]:
    """Yield many forms of small fractions; coordinate k is in none of the first 12 k**2."""
    for row in range(12 * width**2):
        yield tuple(
            fmpq(rng.randrange(-2, 3) if row >= 12 * k**2 else 0, rng.randrange(1, 4)) for k in range(width + 1)
        )


@pytest.mark.parametrize("seed", range(6))
def test_the_rank_of_many_forms_is_that_of_all(seed: int) -> None:
    rng = Random(seed)
    width = 2 + seed % 3
    forms = list(late_forms(rng, width))
    for counted in range(1, width + 2):
        found = rank_of(forms, counted)
        exact = fmpq_mat(len(forms), counted, [x for form in forms for x in form[:counted]])
        assert found.rank == exact.rank() == len(found.attained)
        attained = fmpq_mat(found.rank, counted, [x for k in found.attained for x in forms[k][:counted]])
        assert attained.rank() == found.rank
        assert len(found.kernel) == counted - found.rank


def test_the_rows_that_attain_a_rank_are_the_first_that_do() -> None:
    zero, one, two = (tuple(map(fmpq, form)) for form in ((0, 0), (1, 1), (2, 1)))
    assert rank_of([zero, one, one, two, zero, two] + [one] * 60, 2).attained == (1, 3)
    assert rank_of([zero] * 50 + [one, one, two], 2).attained == (50, 52)


def test_forms_are_told_apart_by_all_their_numbers() -> None:
    forms = [(fmpq(1, 2), fmpq(3)), (fmpq(3), fmpq(1, 2)), (fmpq(2, 4), fmpq(3)), (fmpq(1, 2), fmpq(-3))]
    assert _each_once(forms) == (forms[0], forms[1], forms[3])
