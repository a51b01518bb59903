"""Words that have a name: what `scheme: {name: baoab}` stands for, a row each."""

from collections.abc import Mapping

from recipe_compiler.errors import CompilerError
from recipe_compiler.spec.words import Word, read_letter


def _word(text: str) -> Word:
    """Return the word whose letters stand in a text."""
    found = [read_letter(item) for item in text.split()]
    letters = tuple(letter for letter in found if letter is not None)
    if len(letters) < len(found):
        raise CompilerError(f"found {text}, expected letters")
    return letters


NAMED: Mapping[str, Word] = {
    "lie": _word("B A O"),
    "leapfrog": _word("B/2 A B/2"),
    "baoab": _word("B/2 A/2 O A/2 B/2"),  # leimkuhler2013rational
    "aboba": _word("A/2 B/2 O B/2 A/2"),  # leimkuhler2013rational
    "obabo": _word("O/2 B/2 A B/2 O/2"),  # bussi2007accurate
    "badodab": _word("B/2 A/2 xi/2 O xi/2 A/2 B/2"),  # leimkuhler2016adaptive, of a thermostat
}
EULER = ("euler", "sequential_euler")
"""Steps that are no words: every block is moved by its whole drift."""
