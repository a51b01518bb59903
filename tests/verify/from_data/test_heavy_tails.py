"""Student errors and one scale: whether tails or ties decide."""

from fractions import Fraction

from flint import fmpq

from recipe_compiler.verify.from_data.decide import Shown, decide
from recipe_compiler.verify.from_data.energy import Energy, Group, Own

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
