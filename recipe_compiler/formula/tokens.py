"""The tokens of a formula, and the reason why a character is none."""

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto


class Mark(Enum):
    """What a token is."""

    NUMBER = auto()
    NAME = auto()
    OPERATOR = auto()
    REFUSED = auto()
    """A character outside the grammar; nothing after it is read."""
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text and the offset of its first character."""

    mark: Mark
    text: str
    offset: int


_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<operator>\*\*|<=|>=|==|[-+*/@()\[\],.<>&|~])"
)

_REASONS = {
    "^": ("'^' is not an operator of formulas", "write ** for a power, inv(A) for an inverse"),
    "_": ("'_' cannot start a name or stand in a number", "names start with a letter; numbers are written without '_'"),
    "=": ("'=' is not an operator of formulas", "write == in an assumption"),
    ":": ("':' is not in the grammar of formulas", ""),
    "'": (
        "`'` is not in the grammar of formulas",
        "write next(r) for the value after a step, A.T for a transpose, grad(s, b) for a derivative",
    ),
    ";": ("';' is not in the grammar of formulas", "write a comma between arguments, and nothing at the end"),
    '"': ("text in quotes is not in the grammar of formulas", ""),
    "#": ("'#' is not in the grammar of formulas", "put comments in the document, outside the formula"),
    "!": (
        "'!' is not in the grammar of formulas",
        "comparisons are > >= < <= ==; a name that is not zero is declared, `is: nonzero`",
    ),
}


def tokens(text: str) -> tuple[Token, ...]:
    """Cut `text` into tokens, the last of which is END or, at the first character that cannot be read, REFUSED."""
    found: list[Token] = []
    offset = 0
    marks = {"number": Mark.NUMBER, "name": Mark.NAME, "operator": Mark.OPERATOR}
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            return (*found, Token(Mark.REFUSED, text[offset], offset))
        if match.lastgroup is not None and match.lastgroup != "space":
            found.append(Token(marks[match.lastgroup], match.group(), offset))
        offset = match.end()
    return (*found, Token(Mark.END, "", len(text)))


def why_refused(character: str) -> tuple[str, str]:
    """Return the problem with a character that starts no token, and a hint."""
    if not character.isascii():
        name = unicodedata.name(character, "unnamed")
        return f"found U+{ord(character):04X} ({name}), expected ASCII characters only", "type the ASCII look-alike"
    if not character.isprintable():
        return f"found the control character U+{ord(character):04X}", "remove it"
    return _REASONS.get(character, (f"'{character}' is not in the grammar of formulas", ""))
