"""Words that have a name: what `scheme: {name: baoab}` stands for, a row each."""

from collections.abc import Mapping
from dataclasses import dataclass

from recipe_compiler.errors import CompilerError
from recipe_compiler.spec.words import Word, read_letter


@dataclass(frozen=True, slots=True)
class Named:
    """A word with its name; its pieces are those that follow from the dynamics."""

    name: str
    split: Word
    title: str
    reference: str = ""
    """A key of docs/references.bib."""


def _named(name: str, word: str, title: str, reference: str = "") -> Named:
    found = [read_letter(item) for item in word.split()]
    letters = tuple(letter for letter in found if letter is not None)
    if len(letters) < len(found):
        raise CompilerError(f"the word of {name} is none: {word}")
    return Named(name, letters, title, reference)


_ROWS = (
    _named("lie", "B A O", "Lie and Trotter: one piece after the other"),
    _named("leapfrog", "B/2 A B/2", "Leapfrog (Stoermer, Verlet), kick first, without noise"),
    _named("baoab", "B/2 A/2 O A/2 B/2", "Langevin splitting, kick first", "leimkuhler2013rational"),
    _named("aboba", "A/2 B/2 O B/2 A/2", "Langevin splitting, drift first", "leimkuhler2013rational"),
    _named("obabo", "O/2 B/2 A B/2 O/2", "Langevin splitting, friction first", "bussi2007accurate"),
    _named("badodab", "B/2 A/2 xi/2 O xi/2 A/2 B/2", "Splitting of a thermostat", "leimkuhler2016adaptive"),
)

NAMED: Mapping[str, Named] = {row.name: row for row in _ROWS}
EULER = ("euler", "sequential_euler")
"""Steps that are no words: every block is moved by its whole drift."""
