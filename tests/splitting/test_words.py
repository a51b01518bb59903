"""Words: read, written, and what they prove for every dynamics."""

from fractions import Fraction

import pytest
from answers import word

from recipe_compiler.spec.words import Letter, Repeat, length, letter_text, letters, read_letter, word_text
from recipe_compiler.splitting.words import expand_word, find_first_asymmetry, find_order, sum_shares

HALF = Fraction(1, 2)


PALINDROMES = {
    "leapfrog": word("B/2 A B/2"),
    "baoab": word("B/2 A/2 O A/2 B/2"),
    "aboba": word("A/2 B/2 O B/2 A/2"),
    "obabo": word("O/2 B/2 A B/2 O/2"),
    "oabao": word("O/2 A/2 B A/2 O/2"),
    "badodab": word("B/2 A/2 xi/2 O xi/2 A/2 B/2"),
    "respa": (*word("S/2"), Repeat(4, word("F/8 A/4 F/8")), *word("S/2")),
}


@pytest.mark.parametrize(
    ("text", "piece", "share"),
    [("B", "B", 1), ("B/2", "B", HALF), ("2*A/5", "A", Fraction(2, 5)), ("3/8*F", "F", Fraction(3, 8)),
     (" -A / 3 ", "A", Fraction(-1, 3)), ("xi/2", "xi", HALF)],
)  # fmt: skip
def test_a_letter_is_a_piece_and_an_exact_share(text: str, piece: str, share: Fraction) -> None:
    letter = read_letter(text)
    assert letter == Letter(piece, Fraction(share))
    assert read_letter(letter_text(Letter(piece, Fraction(share)))) == letter


@pytest.mark.parametrize("text", ["", "B/0", "B//2", "(A)", "1/0*A", "0*O", "2A", "B/x", "A B", "__import__('os')"])
def test_what_is_no_letter_is_none(text: str) -> None:
    assert read_letter(text) is None


def test_repetitions_are_counted_and_written_out() -> None:
    respa = PALINDROMES["respa"]
    assert length(respa) == len(tuple(letters(respa))) == 14
    assert word_text(respa) == "[S/2, {repeat: 4, of: [F/8, A/4, F/8]}, S/2]"
    assert sum_shares(respa) == {"S": 1, "F": 1, "A": 1}


@pytest.mark.parametrize("name", PALINDROMES)
def test_palindromes_whose_shares_are_one_have_order_two_and_no_more(name: str) -> None:
    found = find_order(PALINDROMES[name])
    assert find_first_asymmetry(PALINDROMES[name]) is None
    assert set(sum_shares(PALINDROMES[name]).values()) == {1}
    assert found.order == 2
    assert found.wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [("B A O", 1), ("B/2 A/2 O B/2 A/2", 1), ("B/2 A/2 O A/2", 0), ("A", 4)],
)
def test_other_words_have_the_order_of_their_series(text: str, expected: int) -> None:
    assert find_order(word(text)).order == expected


def test_a_word_that_is_no_palindrome_may_have_order_two() -> None:
    found = word("A/6 B/3 A/2 2*B/3 A/3")
    assert find_first_asymmetry(found) == 0
    assert find_order(found).order == 2


def test_the_first_wrong_products_are_named_with_their_defects() -> None:
    found = find_order(word("B A"))
    assert dict(found.wrong) == {("A", "B"): -HALF, ("B", "A"): HALF}
    assert expand_word(word("B/2 A B/2"), 2)["A", "B"] == HALF


def test_a_lost_or_doubled_piece_is_seen_in_the_shares() -> None:
    assert sum_shares(word("B/2 A/2 O A/2"))["B"] == HALF
    assert sum_shares(word("B/2 A/2 O A/2 A/2 B/2"))["A"] == Fraction(3, 2)
