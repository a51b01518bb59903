"""Forms of data: which vanish together, their rank, and whether ties or tails decide one scale."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from flint import fmpq, fmpq_mat

from recipe_compiler.verify.from_data.decide import Shown, decide
from recipe_compiler.verify.from_data.energy import Energy, Form, Group, Own
from recipe_compiler.verify.from_data.fitted import consistent_end, disjoint_bases, excess, most_together
from recipe_compiler.verify.from_data.ranks import is_consistent, rank_of
from recipe_compiler.verify.from_data.terms import _each_once


def forms_of(rng: Random, width: int) -> list[Form]:
    """Return few forms of small numbers: many vanish together, some are the same, some have no slope."""
    count = rng.randrange(1, 8)
    return [tuple(fmpq(rng.randrange(-1, 2), rng.randrange(1, 3)) for _ in range(width + 1)) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1, 2, 3])
def test_as_many_vanish_together_as_of_all_subsets(width: int) -> None:
    rng = Random(width)
    for _ in range(150):
        forms = forms_of(rng, width)
        subsets = [own for k in range(len(forms) + 1) for own in combinations(forms, k)]
        together = [own for own in subsets if not own or is_consistent(own, width)]
        assert most_together(forms, width) == max(map(len, together))
        assert excess(forms, width) == max(len(own) - (rank_of(own, width).rank if own else 0) for own in together)


def test_the_end_that_vanishes_together_is_the_longest() -> None:
    one, two, other = ((fmpq(1), fmpq(-x)) for x in (1, 2, 3))
    assert consistent_end([other, two, one, one], 1) == 2
    assert consistent_end([one, one, two], 1) == 1
    assert consistent_end([two, (fmpq(0), fmpq(1))], 1) == 0
    assert consistent_end([one, one], 1) is None


def test_bases_have_no_form_in_common() -> None:
    rows = [(1, 0), (1, 1), (2, 2), (0, 1), (3, 0), (1, 2)]
    assert disjoint_bases([(fmpq(a), fmpq(b), fmpq(0)) for a, b in rows], 2) == 3
    assert disjoint_bases([(fmpq(1), fmpq(1), fmpq(k)) for k in range(9)], 2) == 0


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


V = ("s", 0)


def test_where_most_data_are_the_same_tails_decide() -> None:
    found = {tail: isinstance(decide(ties(fmpq(tail, 2))), Shown) for tail in (2, 20)}
    assert found == {2: False, 20: True}


def ties(tail: fmpq) -> Energy:
    """Return the energy of eight equal data and four others, the scale flat."""
    form = [(fmpq(1), fmpq(-y)) for y in (*[0] * 8, 1, 2, 3, 4)]
    own = Own({(Fraction(0), 1): fmpq(12)}, ())
    group = Group(((V, Fraction(-2)),), tail, tuple(form))
    return Energy((("m", 0),), (V,), frozenset({V}), (group,), (), (fmpq(0), fmpq(0)), {V: own}, exact=True)
