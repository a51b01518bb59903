"""Which words keep the covariance of theta on a quadratic U, whatever the friction: against laws solved for."""

from fractions import Fraction
from itertools import pairwise, product

import pytest
import sympy as sp
from answers import word

from recipe_compiler.spec.words import Letter, Word
from recipe_compiler.splitting.configurational import find_counterexample, keeps_configurations, without_friction
from recipe_compiler.splitting.gradient_noise import NoiseRole

ROLES = {"A": NoiseRole.DRIFT, "B": NoiseRole.KICK, "O": NoiseRole.DECAY}
EXACT = (
    "B/2 A/2 O A/2 B/2", "A/2 B/2 O B/2 A/2", "A/2 O A/2 B", "B/4 A/4 O/2 A/4 B/2 A/4 O/2 A/4 B/4",
)  # fmt: skip
OTHER = {
    "O/2 B/2 A B/2 O/2": Fraction(4, 3), "O/2 A/2 B A/2 O/2": Fraction(3, 4), "B A O": Fraction(9, 8),
    "B/2 A/2 O A/2 B/3 B/6 A/4 O A/4": Fraction(0),
}  # fmt: skip
"""Words, with omega^2 Var theta at eps omega = 1 and exp(-gamma eps/n) = 1/2, by the table of closed forms; 0: any."""


def law_on_planes(written: Word, h: tuple[sp.Rational, sp.Rational], E: sp.Matrix, n: int) -> sp.Matrix:
    """Return S = F S F^T + Sigma of two pairs whose friction is not diagonal, in rational numbers."""
    one, nil, w = sp.eye(2), sp.zeros(2), sp.diag(*h)
    F, Sigma = sp.eye(4), sp.zeros(4)
    for letter in written:
        s = sp.Rational(letter.share)
        power = E ** int(letter.share * n) if letter.piece == "O" else None
        moved = {"A": [[one, s * w], [nil, one]], "B": [[one, nil], [-s * w, one]]}.get(letter.piece)
        G = sp.Matrix(sp.BlockMatrix(moved or [[one, nil], [nil, power]]))
        F, Sigma = G * F, G * Sigma * G.T
        if power is not None:
            Sigma += sp.diag(nil, one - power * power.T)
    places = list(product(range(4), range(4)))
    rows = [[int(at == to) - F[at[0], to[0]] * F[at[1], to[1]] for to in places] for at in places]
    found = sp.Matrix(rows).LUsolve(sp.Matrix([Sigma[at] for at in places]))
    return sp.Matrix(4, 4, list(found))


@pytest.mark.parametrize("text", EXACT)
def test_theta_is_as_wide_as_it_should_be_with_friction_that_mixes_pairs(text: str) -> None:
    assert keeps_configurations(word(text), ROLES)
    assert find_counterexample(word(text), ROLES) is None
    E = sp.Matrix([[sp.Rational(1, 2), sp.Rational(1, 5)], [sp.Rational(1, 5), sp.Rational(3, 4)]])
    n = 2
    S = law_on_planes(word(text), (sp.Rational(1, 3), sp.Rational(3, 4)), E, n)
    assert S[:2, :2] == sp.eye(2)
    assert sp.eye(4) != S  # what theta has exactly, r has not


@pytest.mark.parametrize("text", OTHER)
def test_other_words_have_another_law_at_a_point(text: str) -> None:
    assert not keeps_configurations(word(text), ROLES)
    found = find_counterexample(word(text), ROLES)
    assert found is not None
    assert OTHER[text] in (0, found.variance)
    E, h = sp.diag(found.decay, found.decay), sp.Rational(found.h)
    S = law_on_planes(word(text), (h, h), sp.Matrix(E), found.n)
    assert S[0, 0] == sp.Rational(found.variance) != 1


def test_no_short_palindrome_is_left_open() -> None:
    """Each of up to seven letters, in halves, is exact or has a point at which it is not; never both."""
    exact = 0
    for length in (1, 2, 3):
        for half in product("ABO", repeat=length):
            for middle in "ABO":
                letters = [*half, middle, *reversed(half)]
                if {*letters} != {*"ABO"} or any(a == b for a, b in pairwise(letters)):
                    continue
                own = tuple(Letter(x, Fraction(1, letters.count(x))) for x in letters)
                kept, found = keeps_configurations(own, ROLES), find_counterexample(own, ROLES)
                assert kept is (found is None), letters
                exact += kept
    assert exact == 2  # BAOAB and ABOBA


def test_a_word_without_friction_has_no_law_of_its_own() -> None:
    assert not keeps_configurations(word("B/2 A B/2"), ROLES)
    assert without_friction(word("B/2 A B/2"), ROLES) == Fraction(4, 3)
    assert without_friction(word("A/2 B A/2"), ROLES) == Fraction(3, 4)
    assert without_friction(word("B A"), ROLES) is None  # it keeps a law in which theta and r are correlated
