"""Numbers of a document, exact: `0.02`, `1e-3`, `-1/3`. Never octal, sexagesimal or with underscores."""

import re
from fractions import Fraction

MAX_DIGITS = 400
MAX_EXPONENT = 400

_DECIMAL = r"[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(rf"(?P<top>{_DECIMAL})(?:\s*/\s*(?P<bottom>{_DECIMAL}))?", re.ASCII)


def exact(text: str) -> Fraction | None:
    """Return the number a text writes, or None if it writes none."""
    if len(text) > MAX_DIGITS:
        return None
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    top, bottom = _decimal(match["top"]), _decimal("1" if match["bottom"] is None else match["bottom"])
    return None if top is None or not bottom else top / bottom


def _decimal(text: str) -> Fraction | None:
    mantissa, _, power = text.lower().partition("e")
    if not any(character.isdigit() for character in mantissa) or abs(int(power or "0")) > MAX_EXPONENT:
        return None
    return Fraction(mantissa) * Fraction(10) ** int(power or "0")
