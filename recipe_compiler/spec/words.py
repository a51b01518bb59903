"""Words: the pieces of a step in order, first done first, each with its share of the step (`[B/2, A/2, O, A/2, B/2]`).

What a piece is, and what a word does, is not known here: a word is a list of names and exact ratios.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.errors import nearest

LONGEST = 1000
"""The letters that a word may have when its repetitions are written out."""
_LETTER = re.compile(
    r"\s*(?P<sign>-?)\s*(?:(?P<times>\d{1,6}(?:/\d{1,6})?)\s*\*\s*)?"
    r"(?P<piece>[A-Za-z][A-Za-z0-9_]{0,62})\s*(?:/\s*(?P<over>\d{1,6}))?\s*"
)


@dataclass(frozen=True, slots=True)
class Letter:
    """One piece, done for a share of the step size."""

    piece: str
    share: Fraction


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part of a word that is done several times: `{repeat: 4, of: [F/8, A/4, F/8]}`."""

    count: int
    of: tuple["Item", ...]


DEFAULT = ("A", "B", "O")
"""The pieces that follow from dynamics, one of them at least; others that do have the names of blocks."""
OWN_PIECES = (
    "pieces follow from the dynamics, a piece for each block that A, B and O leave, or are stated under `pieces`"
)
"""Said where a letter is no piece."""
Pair = tuple[str, str]
"""Two blocks, for the place (a, b) of a block matrix, or for (a, b) and (b, a)."""
Item = Letter | Repeat
Word = tuple[Item, ...]


def read_letter(text: str) -> Letter | None:
    """Return the letter that `B`, `B/2`, `2*A/5`, `3/8*F` or `-A/3` states, None of what is none; 0 is no share."""
    match = _LETTER.fullmatch(text)
    over = int(match["over"] or 1) if match else 0
    times = match["times"] or "1" if match else "1"
    if match is None or not over or times.endswith("/0"):
        return None
    share = Fraction(times) / over
    return Letter(match["piece"], -share if match["sign"] else share) if share else None


def letters(word: Word) -> Iterator[Letter]:
    """Yield the letters of a word, its repetitions written out."""
    for item in word:
        match item:
            case Letter():
                yield item
            case Repeat(count, of):
                for _ in range(count):
                    yield from letters(of)


def rotated(word: Word, keep: int, numerical: Collection[str] = ()) -> Word:
    """Return the letters after the first `keep`, then those: the step between two draws that are kept there.

    Where the last letter and the first are of one piece, they are one letter: exact flows add up. Those of `numerical`
    pieces do not, two halves of an implicit midpoint being no midpoint, and stay two letters. `[B/2, A/2, O, A/2, B/2]`
    after its second letter is `[O, A/2, B, A/2]`.
    """
    written = tuple(letters(word))
    if keep % len(written) == 0:
        return word
    head, tail = written[:keep], written[keep:]
    first, last = head[0], tail[-1]
    if first.piece != last.piece or first.piece in numerical:
        return (*tail, *head)
    share = last.share + first.share
    return (*tail[:-1], *((Letter(first.piece, share),) if share else ()), *head[1:])


def length(word: Word) -> int:
    """Return the number of letters without writing them out."""
    return sum(1 if isinstance(item, Letter) else item.count * length(item.of) for item in word)


def word_text(word: Word) -> str:
    """Return a word as documents state it: `[B/2, A/2, O, A/2, B/2]`."""
    return f"[{', '.join(map(_item_text, word))}]"


def kept_text(word: Word, keep: int, step: Word) -> str:
    """Return in words where draws are kept that are not kept at the end of a word, and the step between two of them."""
    own = tuple(letters(word))[keep - 1]
    return f"draws are kept after letter {keep}, {letter_text(own)}: the step from draw to draw is {word_text(step)}"


def letter_text(letter: Letter) -> str:
    """Return a letter as documents state it: `B/2`, `2*A/5`, `-A/3`."""
    share = abs(letter.share)
    times = "" if share.numerator == 1 else f"{share.numerator}*"
    over = "" if share.denominator == 1 else f"/{share.denominator}"
    return f"{'-' if letter.share < 0 else ''}{times}{letter.piece}{over}"


def no_pieces(names: Collection[str], word: Word, pieces: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield a problem and what to do for each of the letters `names` of a word, which are none of its pieces."""
    for name in names:
        problem = f"found the letter {name} in {word_text(word)}, expected pieces: {', '.join(pieces)}"
        hint = f"write a list: [{', '.join(name)}]" if {*name} <= {*pieces} else nearest(name, tuple(pieces))
        yield problem, hint or OWN_PIECES


def _item_text(item: Item) -> str:
    match item:
        case Letter():
            return letter_text(item)
        case Repeat(count, of):
            return f"{{repeat: {count}, of: {word_text(of)}}}"
