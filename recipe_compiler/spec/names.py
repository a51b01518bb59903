"""The names a document may use."""

import keyword
import re

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}", re.ASCII)
NAME_PATTERN = "^[A-Za-z][A-Za-z0-9_]{0,62}$"

_BOOLEANS = frozenset(["yes", "no", "on", "off", "true", "false", "null"])
_NO_NUMBERS = frozenset(["nan", "inf", "infinity"])


def shown(text: str) -> str:
    """Return a text as a message may hold it: on one line, ASCII, at most 60 characters."""
    escaped = text[:80].encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= 60 else f"{escaped[:57]}..."


def name_problem(name: str) -> tuple[str, str] | None:
    """Return problem and hint of a name that may not be declared, None for a good one.

    Names are ASCII letters, digits and underscores, start with a letter and have at most 63 characters.
    """
    for column, character in enumerate(name, 1):
        if not " " <= character <= "~":
            found = f"found the character U+{ord(character):04X} at position {column} of a name, expected ASCII"
            return found, "use letters a-z, A-Z, digits and underscores"
    if not _NAME.fullmatch(name):
        expected = "expected letters, digits and underscores, a letter first, at most 63"
        return f"found the name `{shown(name)}`, {expected}", ""
    if keyword.iskeyword(name):
        return f"found the name `{name}`, a keyword of Python, expected another", f"write `{name}_`"
    if name.lower() in _NO_NUMBERS:
        return f"found `{name}`, which readers take for no number or an infinite one, expected a name", ""
    return None


def plain_name_problem(name: str) -> tuple[str, str] | None:
    """Return problem and hint of a name written without quotes that YAML readers take for a truth value or nothing."""
    if name.lower() in _BOOLEANS:
        return f"found `{name}`, which YAML readers take for a truth value or nothing", f'quote it: "{name}"'
    return None
