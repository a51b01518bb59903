"""Forms that vanish together, against all their subsets."""

from itertools import combinations
from random import Random

import pytest
from flint import fmpq

from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.fitted import consistent_end, disjoint_bases, excess, most_together
from recipe_compiler.verify.from_data.ranks import is_consistent, rank_of


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
