"""What a Python object declares by itself: a name with its shape, kinds and domain, as a document's entry would.

Python's numbers are made exact.
"""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational

from recipe_compiler.errors import Fault, Place, SpecError, shown
from recipe_compiler.formula import tree
from recipe_compiler.formula.shapes import MAX_SIZE, SCALAR, Kind, Shape, Size

MOST_PLACES = 400
"""Places of a number before or after its point: a text of the language has no more digits."""

REAL = tree.Name("real")
INTEGER = "integer"
"""What SymPy's symbols of sizes are, and declarations have no word for."""
PYTHON = Place("python")
"""The place of what no file holds."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_SAYS = {Kind.POSITIVE: (Kind.NONNEGATIVE, Kind.NONZERO, Kind.REAL)}
"""What a kind that SymPy knows of includes."""


def exact(number: object) -> Fraction | None:
    """Return an exact ratio; a float is the decimal it is printed as (0.1 is 1/10). None for what is no number.

    Raises SpecError for nan, the infinities, and a number of more than 400 places.
    """
    if isinstance(number, bool):
        return None
    if isinstance(number, Integral | Rational):
        ratio = Fraction(int(number.numerator), int(number.denominator))
        if max(abs(ratio.numerator), ratio.denominator) >= 10**MOST_PLACES:  # Python itself prints no longer ones
            raise refusal(f"found a number beyond 10**{MOST_PLACES} or of such a denominator", "rescale")
        return ratio
    if isinstance(number, float | Decimal):
        if not isfinite(number):
            raise refusal(f"found {number}, which is not a number", "formulas are finite everywhere on their domain")
        if isinstance(number, float):
            return Fraction(repr(float(number)))
        if abs(number.adjusted()) > MOST_PLACES:
            raise refusal(f"found {number}, expected a number of at most {MOST_PLACES} places")
        return Fraction(number)
    return None


def literal(value: Fraction) -> tree.Tree:
    """Return the tree of a number; literals themselves have no sign."""
    return tree.Negate(tree.Literal(-value)) if value < 0 else tree.Literal(value)


@dataclass(frozen=True, slots=True)
class Declared:
    """A name that formulas built in Python use; whether it is a block or a parameter, the dynamics say."""

    name: str
    shape: Shape = SCALAR
    kinds: tuple[Kind, ...] = (Kind.REAL,)
    domain: tree.Tree = REAL
    """As written in a document: `positive`, `interval(0, 1)`; for blocks."""
    of: tuple[str, ...] | None = None
    """The blocks a function is of; None for what is no function."""
    role: str = ""
    stated: bool = True
    """False of a symbol of SymPy's: what it does not say, another declaration of that name may."""
    lost: str = ""
    """An assumption of a symbol of SymPy's that declarations have no word for; of a size it does not matter."""
    default: tree.Tree | None = None
    """What a parameter is where nobody gives it a value."""
    transform: str = ""
    """The unbounded variable that a block of a target is sampled in: `log` or `logit`."""
    constraint: str = ""
    """The set that a block of a target lies in: `lower(2)`, `simplex`."""
    values: tuple[int, ...] = ()
    """The values that a field of the data may have; empty for any number."""
    index_of: Size | None = None
    """The length of the axes along which a field of the data is a position; None for what is none."""

    def says(self) -> str:
        """Return what it is, in words: of which shape and kinds, with what else it states."""
        kinds = " that is " + ", ".join((*self.kinds, *filter(None, (self.lost,))))
        default = "" if self.default is None else ", with a default"
        return f"a {self.shape}{kinds}{default}" if self.of is None else "a function"

    def is_size(self) -> bool:
        """Whether a scalar says no more than what is true of a size, so that it may be the one of its name."""
        plain = Declared(self.name, stated=self.stated)
        return replace(self, kinds=plain.kinds, lost="") == plain and (
            self.lost == INTEGER or (self.kinds == plain.kinds and not self.lost)
        )


def refusal(problem: str, hint: str = "", entry: str = "formula") -> SpecError:
    """Return the error of a Python object that cannot be a formula."""
    return SpecError([Fault(PYTHON, entry, problem, hint)])


def checked_name(name: str) -> str:
    """Return a name that formulas may use. Raises SpecError."""
    if type(name) is not str:
        raise refusal(f"found {shown(name)} as a name, expected a text")
    if not _NAME.fullmatch(name):
        plain = name.encode("unicode_escape").decode("ascii")[:80]
        raise refusal(f"found the name '{plain}', expected [A-Za-z][A-Za-z0-9_]{{0,62}} in ASCII")
    return name


def checked_size(size: object) -> Size:
    """Return a size: a name or a positive integer. Raises SpecError."""
    if isinstance(size, str):
        return checked_name(size)
    if isinstance(size, int) and not isinstance(size, bool) and 0 < size <= MAX_SIZE:
        return size
    raise refusal(f"found the size {shown(size)}, expected a name or an integer from 1 to {MAX_SIZE}")


def merged(*groups: tuple[Declared, ...]) -> tuple[Declared, ...]:
    """Return the names of several parts, each once. Raises SpecError where two of one name differ."""
    found: dict[str, Declared] = {}
    for group in groups:
        for item in group:
            found[item.name] = _agreed(found.setdefault(item.name, item), item)
    return tuple(found.values())


def _agreed(known: Declared, item: Declared) -> Declared:
    """Return what two declarations of a name say; a symbol of SymPy's may say less than the other, and not more."""
    if known == item:
        return known
    if (known.shape, known.of) == (item.shape, item.of) and known.stated != item.stated:
        whole, part = (known, item) if known.stated else (item, known)
        if set(part.kinds) <= _said(whole) and not part.lost:
            return whole
        says = part.lost or ", ".join(part.kinds)
        raise refusal(f"found {item.name} as a symbol of SymPy's that is {says}", "its declaration does not say so")
    one, other = known.says(), item.says()
    what = "in two declarations that differ" if one == other else f"as {one} and as {other}"
    raise refusal(f"found {item.name} {what}", "declare a name once and use that object")


def _said(item: Declared) -> set[Kind]:
    """Return the kinds that a declaration includes; a domain is one where it has the name of one."""
    domain = item.domain.name if isinstance(item.domain, tree.Name) else ""
    kinds = [*item.kinds, *(kind for kind in _SAYS if kind.value == domain), Kind.REAL]
    kinds += [Kind.NONNEGATIVE] if domain == Kind.NONNEGATIVE.value else []
    return {*kinds, *(other for kind in kinds for other in _SAYS.get(kind, ()))}
