"""What stands in one field of a document: how it is read from raw text, and what its JSON Schema is.

Numbers are exact: `0.02`, `1e-3`, `-1/3`; never octal, sexagesimal or with underscores. Names are those a document may
use.
"""

import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, NoReturn

from recipe_compiler.errors import nearest
from recipe_compiler.formula.shapes import MAX_SIZE, OF_DATA, OF_PARAMETERS, OF_ROW_STATES, SCALAR, Kind, Shape, Size
from recipe_compiler.spec.catalogue import EULER, NAMED
from recipe_compiler.spec.model import MOST_MOVES, Refresh
from recipe_compiler.spec.words import LONGEST, Item, Pair, Repeat, Word, length, read_letter

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}", re.ASCII)
NAME_PATTERN = "^[A-Za-z][A-Za-z0-9_]{0,62}$"
_BOOLEANS = frozenset(["yes", "no", "on", "off", "true", "false", "null"])
_NO_NUMBERS = frozenset(["nan", "inf", "infinity"])
MAX_DIGITS = 400
MAX_EXPONENT = 400
_DECIMAL = r"[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(rf"(?P<top>{_DECIMAL})(?:\s*/\s*(?P<bottom>{_DECIMAL}))?", re.ASCII)
Raw = Any
"""What the YAML door or a caller hands over, before anything is known about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """How the raw text of a field is parsed, and its JSON Schema; `Annotated` carries it beside the type."""

    read: Callable[[Raw], Any]
    """Raises FieldError."""
    schema: dict[str, Any]


class FieldError(Exception):
    """A value that is not what its field holds."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem, self.hint = problem, hint


_FORMULA_SCHEMA = {"type": ["string", "number"]}
_NAME_SCHEMA = {"type": "string", "pattern": NAME_PATTERN}


class Keywords(dict[str, Any]):
    """Keywords of a JSON Schema beside those that a type has."""

    __hash__ = object.__hash__


SOME = Keywords(minItems=1, minProperties=1)
"""Beside a list or keys with values: they may not be empty."""


def one_or_many(value: Raw) -> list[Raw]:
    """Return a list; of one thing its brackets may be left out."""
    return value if isinstance(value, list) else [value]


def _scheme(value: Raw) -> str:
    known = (*EULER, *NAMED)
    near = nearest(value, known) if isinstance(value, str) else ""
    return value if value in known else refuse(value, f"one of {', '.join(known)}", near)


def _word(value: Raw) -> Word:
    found = tuple(_item(item, 0) for item in one_or_many(value))
    count = length(found)
    if not 1 <= count <= LONGEST:
        expected = f"1 to {LONGEST}, its repetitions written out: [B/2, A/2, O, A/2, B/2]"
        refuse_said(f"a word of {count} letters", expected)
    return found


def _item(value: Raw, depth: int) -> Item:
    match value:
        case str():
            letter, several = read_letter(value), value.replace(",", " ").split()
            hint = f"write a list: [{', '.join(several)}]" if all(map(read_letter, several)) else ""
            expected = "a piece with its share, not 0: B, B/2, 2*A/5"
            return letter if letter is not None else refuse(value, expected, hint)
        case {"repeat": count, "of": list(items)} if len(value) == 2 and depth < _DEEPEST:
            number = _integer(count)
            if not 1 <= number <= LONGEST:
                refuse(count, f"how often it is repeated, from 1 to {LONGEST}")
            if not items:
                refuse(value, "letters to repeat: {repeat: 4, of: [F/8, A/4, F/8]}")
            return Repeat(number, tuple(_item(item, depth + 1) for item in items))
        case _:
            return refuse(value, "a letter such as B/2, or {repeat: 4, of: [F/8, A/4, F/8]}")


def _keep(value: Raw) -> int | str:
    number = exact(value)
    if number is None:
        return _name(value)
    if number.denominator != 1 or not 1 <= number <= LONGEST:
        refuse(value, "a letter of the word: a piece that is in it once, or a number counted from 1")
    return int(number)


def check_moves(value: Raw) -> list[Raw]:
    """Return a list of moves, of which a cycle has some, and not too many."""
    if not isinstance(value, list):
        refuse(value, "a list of moves", A_CYCLE)
    if not 1 <= len(value) <= MOST_MOVES:
        refuse_said(f"a cycle of {len(value)} moves", f"1 to {MOST_MOVES}, each done once in a step of the chain")
    return value


def check_move(value: Raw) -> Raw:
    """Refuse what a cycle may hold one day, and what it never may, by its name."""
    if not isinstance(value, dict):
        refuse(value, _OFFERED, f"each move is an item of its own: {A_CYCLE}")
    for key in value:
        if key in _LOOKS_AT_THE_STATE:
            expected = "moves that are all done in every cycle"
            refuse_said(f"`{key}`: a scan order that depends on the state does not preserve exp(-H)", expected)
        if key == "of" and isinstance(value[key], list):
            expected = f"these two keys alone, a number, and {MOST_MOVES} moves at most with their repetitions"
            refuse_said("`of` with moves, which `repeat` says how often are done", expected, _REPEATED)
        if key == "bind":
            of_one = "a binding of one move: `bind` of the build names what a move uses, too"
            refuse_said(f"`bind`, {of_one}, which is not offered yet", _OFFERED)
    return value


def _refresh(value: Raw) -> Refresh:
    match value:
        case str():
            return Refresh(_name(value))
        case dict() if len(value) == 1:
            ((block, kept),) = value.items()
            share = exact(kept)
            if share is None or not abs(share) < 1 or abs(float(share)) == 1:
                expected = f"the share c of {_name(block)} that is kept, a number with -1 < c < 1"
                hint = "one that depends on the state does not preserve exp(-H)" if share is None else ""
                return refuse(kept, expected, hint)
            return Refresh(_name(block), share)
        case _:
            hint = "r, or {r: 0.9}; write one refresh for each block"
            return refuse(value, "a block, alone or with the share of it that is kept", hint)


def _flip(value: Raw) -> tuple[str, ...]:
    if not isinstance(value, dict) or not value:
        refuse(value, "the blocks whose sign flips when the move is rejected", "{r: -r}")
    for block, turned in value.items():
        if not isinstance(turned, str) or "".join(turned.split()) != f"-{_name(block)}":
            refuse(turned, f"-{block}: a flip changes the sign of a block")
    return tuple(value)


def _steps(value: Raw) -> tuple[int, int | str]:
    drawn = _UNIFORM.fullmatch(value) if isinstance(value, str) else None
    if drawn and drawn["longest"]:
        return 1, _name(drawn["longest"])
    number = exact(value)
    bounds = (drawn["least"], drawn["most"]) if drawn else (number, number)
    least, most = (Fraction(0 if bound is None else bound) for bound in bounds)
    if least.denominator != 1 or not 1 <= least <= most <= MOST_STEPS:
        expected = (
            f'an integer from 1 to {MOST_STEPS}, or "uniform(1, 20)" with both ends such and in order, or '
            '"uniform(1, longest)" with a parameter of the build'
        )
        depends = number is None and drawn is None
        refuse(value, expected, "if it depends on the state, exp(-H) is not preserved" if depends else "")
    return int(least), int(most)


def _pairs(value: Raw) -> tuple[Pair, ...] | None:
    if value == "all":
        return None
    found: list[Pair] = []
    for pair in one_or_many(value):
        if not isinstance(pair, list) or len(pair) != 2:
            refuse(pair, "all, or pairs of blocks: [[theta, r], [r, xi]]")
        found.append((_name(pair[0]), _name(pair[1])))
    return tuple(found)


def _summands(value: Raw) -> tuple[str, ...] | None:
    if value == "all":
        return None
    names = one_or_many(value)
    wrong = next((name for name in names if not isinstance(name, str) or not name.strip()), None)
    if wrong is not None or not names:
        refuse(value, "all, or names of summands of H: [U, r]")
    return tuple(",".join(part.strip() for part in name.split(",")) for name in names)


MOST_STEPS = 1000
"""How often a move may do its word."""
MOST_SCALE = 1000
"""What the step size may be multiplied by for one move, or divided by, at most."""
_UNIFORM = re.compile(
    r"\s*uniform\(\s*((?P<least>\d{1,9})\s*,\s*(?P<most>\d{1,9})|1\s*,\s*(?P<longest>[A-Za-z]\w*))\s*\)\s*", re.ASCII
)
A_CYCLE = "[{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 10, flip: {r: -r}}}]"
"""What is shown where something else was written."""
_REPEATED = "{repeat: 4, of: [draw: mu, draw: tau]}; `every` goes into the moves themselves"
_OFFERED = (
    "`refresh`, `draw`, `cir`, `metropolis`, `involution`, `code`, or a word (`split`, `name`, `use`) with `steps`"
)
_LOOKS_AT_THE_STATE = ("when", "if", "unless", "while", "until")
_DEEPEST = 4
"""How deep repetitions may stand in each other."""
_SIZE_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_SIZE}, _NAME_SCHEMA]}
Matrix = Annotated[
    Raw,
    Keywords(
        anyOf=[
            _FORMULA_SCHEMA,
            {"type": "array", "items": {"type": "array", "items": _FORMULA_SCHEMA}, "minItems": 1},
        ]
    ),
]
"""A block matrix of formulas: nested lists, a quoted nested list, or a `|` block with a row on each line."""

_NUMBER_SCHEMA = {"type": ["number", "string"]}
Numbers = Annotated[
    Raw,
    Keywords(
        anyOf=[
            _NUMBER_SCHEMA,
            {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 1},
            {"type": "array", "items": {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 1}, "minItems": 1},
        ]
    ),
]
"""A number, a list, a list of rows, or the name of a .npy file."""


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
        return f"found `{name}`, which readers take for NaN or infinity, expected a name", ""
    return None


def plain_name_problem(name: str) -> tuple[str, str] | None:
    """Return problem and hint of a name written without quotes that YAML readers take for a truth value or nothing."""
    if name.lower() in _BOOLEANS:
        return f"found `{name}`, which YAML readers take for a truth value or nothing", f'quote it: "{name}"'
    return None


def exact(text: Raw) -> Fraction | None:
    """Return the number a text writes, or None if it writes none, or is no text."""
    if not isinstance(text, str) or len(text) > MAX_DIGITS:
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


def found(value: Raw) -> str:
    """Name a value as a fault does."""
    match value:
        case None:
            return "nothing"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "keys with values"
        case _:
            return f"`{shown(str(value))}`"


def refuse(value: Raw, expected: str, hint: str = "") -> NoReturn:
    """Raise FieldError: found ..., expected ... ."""
    refuse_said(found(value), expected, _number_meant(value) or hint)


def _number_meant(value: Raw) -> str:
    """Return the hint for a number with letters in the place of digits, as in `O.1`."""
    if not isinstance(value, str) or exact(value) is not None or not any(c.isdigit() for c in value):
        return ""
    number = value.translate(str.maketrans("OolI", "0011"))
    return "" if exact(number) is None else f"did you mean `{number}`?"


def refuse_said(said: str, expected: str, hint: str = "") -> NoReturn:
    """Raise the same, of what is no plain value and is said in words."""
    raise FieldError(f"found {said}, expected {expected}", hint)


def _text(expected: str, hint: str = "") -> Callable[[Raw], str]:
    def read(value: Raw) -> str:
        return value if isinstance(value, str) and value.strip() else refuse(value, expected, hint)

    return read


def _name(value: Raw, *, hint: str = "") -> str:
    if not isinstance(value, str):
        refuse(value, "a name")
    problem = name_problem(value)
    if problem is not None:
        raise FieldError(problem[0], problem[1] or hint)
    return value


def _integer(value: Raw) -> int:
    number = exact(value)
    if number is None or number.denominator != 1:
        hint = "write it in decimal, without a leading zero, underscore or colon"
        return refuse(value, "an integer", hint if number is None and str(value)[:1].isdigit() else "")
    return int(number)


def _number(expected: str, low: Fraction, high: Fraction, hint: str = "") -> Callable[[Raw], Fraction]:
    def read(value: Raw) -> Fraction:
        number = exact(value)
        return number if number is not None and low <= number <= high else refuse(value, expected, hint)

    return read


TINY = Fraction(1, 10**300)
"""The least step size: as a double it is above 0, and its inverse is finite."""


def _step_size(value: Raw) -> Fraction | Literal["auto"]:
    return "auto" if value == "auto" else _number("a step size > 0, finite, or `auto`", TINY, 1 / TINY)(value)


def _truth(value: Raw) -> bool:
    meant = {"yes": "write true", "on": "write true", "no": "write false", "off": "write false"}
    hint = meant.get(str(value).lower(), "")
    return value == "true" if value in ("true", "false") else refuse(value, "true or false", hint)


Text = Annotated[str, Leaf(_text("text"), {"type": ["string", "number"]})]


FormulaText = Annotated[
    str,
    Leaf(_text("a formula", "a formula with commas or brackets is quoted"), _FORMULA_SCHEMA),
]


Name = Annotated[str, Leaf(_name, _NAME_SCHEMA)]


def _score(value: Raw) -> str:
    expected = '`log_predictive`, or keys with values: {ks: theta, law: "N(0, 1)"}'
    return "log_predictive" if value == "log_predictive" else refuse(value, expected)


ScoreText = Annotated[str, Leaf(_score, {"const": "log_predictive"})]


FilePath = Annotated[str, Leaf(_text("the name of a file"), {"type": "string"})]


Truth = Annotated[bool, Leaf(_truth, {"type": "boolean"})]


StepSize = Annotated[
    Fraction | Literal["auto"],
    Leaf(_step_size, {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"const": "auto"}], "description": "eps"}),
]


def _range(value: Raw) -> tuple[float, float]:
    ends = [exact(one) for one in value] if isinstance(value, list) else []
    if len(ends) != 2 or ends[0] is None or ends[1] is None or not ends[0] < ends[1]:
        return refuse(value, "two numbers, the smaller first: [-4, 4]")
    return float(ends[0]), float(ends[1])


Range = Annotated[
    tuple[float, float], Leaf(_range, {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 2, "maxItems": 2})
]


Probability = Annotated[
    Fraction,
    Leaf(
        _number("a probability, above 0 and below 1", TINY, 1 - Fraction(1, 10**15)),
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    ),
]
Weight = Annotated[
    Fraction,
    Leaf(_number("a weight from 0 to 1", Fraction(0), Fraction(1)), {"type": "number", "minimum": 0, "maximum": 1}),
]


Positive = Annotated[
    Fraction,
    Leaf(_number("a number > 0, finite", TINY, 1 / TINY), {"type": "number", "exclusiveMinimum": 0}),
]


def _between(low: int, high: int) -> Leaf:
    def read(value: Raw) -> int:
        number = _integer(value)
        return number if low <= number <= high else refuse(value, f"an integer from {low} to {high}")

    return Leaf(read, {"type": "integer", "minimum": low, "maximum": high})


Count = Annotated[int, _between(1, 10**9)]


CountOrZero = Annotated[int, _between(0, 10**9)]


Chains = Annotated[int, _between(1, 10_000)]


Bins = Annotated[int, _between(2, 10_000)]


Seed = Annotated[int, _between(0, 2**63 - 1)]


WholeNumber = Annotated[int, _between(-(2**53), 2**53)]


Format = Annotated[int, _between(1, 1)]


OrderNumber = Annotated[int, _between(1, 8)]


def _size(value: Raw) -> Size:
    number = exact(value)
    if number is not None:
        whole = number.denominator == 1 and 1 <= number <= MAX_SIZE
        return int(number) if whole else refuse(value, f"a size: a name, or an integer from 1 to {MAX_SIZE}")
    return _name(value, hint="a size is a name or a number; a matrix is [rows, columns]")


def _shape(value: Raw) -> Shape:
    if value == "scalar":
        return SCALAR
    sizes = one_or_many(value)
    if not 1 <= len(sizes) <= 2 or any(isinstance(size, (list, dict)) or size is None for size in sizes):
        refuse(value, "scalar, a size such as d, or [rows, columns]")
    return Shape(*(_size(size) for size in sizes))


_MEANT: Mapping[str, tuple[tuple[str, ...], str]] = {
    "`is: [integer, nonnegative]`": (("count", "counts", "natural", "nonnegative integer"), "a count is"),
    "`in: [0, 1]` in its place": (
        ("binary", "boolean", "bool", "indicator", "bernoulli"),
        "a field of zeros and ones is",
    ),
    "`is: integer`": (("int", "whole", "discrete"), "whole numbers are"),
    "`index_of: SIZE` in its place": (("index", "category", "categorical", "factor"), "positions along an axis are"),
}
"""What to write of data to what it is called elsewhere."""


_CALLED = {
    "positive definite": ("pos def", "posdef", "pd", "spd", "positive-definite", "positive_definite"),
    "positive semidefinite": ("psd", "spsd", "positive-semidefinite", "positive_semidefinite", "nonnegative definite"),
    "positive": ("> 0", ">0", "pos"),
    "nonnegative": (">= 0", ">=0", "non-negative", "nonneg"),
    "nonzero": ("!= 0", "!=0", "non-zero", "not zero"),
    "symmetric": ("sym",),
    "skew": ("antisymmetric", "skew-symmetric", "skew symmetric", "asym"),
    "diagonal": ("diag",),
}
"""What kinds are called elsewhere."""


def _kind_meant(item: str, known: tuple[str, ...]) -> str:
    """Return the hint for what is no kind; of data, what is meant may be stated by other keys."""
    if Kind.INTEGER.value in known:
        for write, (names, what) in _MEANT.items():
            if item.casefold() in names:
                return f"{what} {write}"
    named = next((kind for kind, others in _CALLED.items() if kind in known and item.casefold() in others), "")
    return f"did you mean `{named}`?" if named else nearest(item, known)


def _kinds(allowed: tuple[Kind, ...]) -> Leaf:
    known = tuple(kind.value for kind in allowed)

    def read(value: Raw) -> tuple[Kind, ...]:
        kinds: list[Kind] = []
        for item in one_or_many(value):
            if item not in known:
                refuse(item, "one of " + ", ".join(known), _kind_meant(item, known) if isinstance(item, str) else "")
            kinds.append(Kind(item))
        return tuple(dict.fromkeys(kinds))

    one = {"enum": [*known]}
    return Leaf(read, {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})


def left_out(value: Raw) -> Raw:
    """Return keys with values: nothing after a key means all defaults."""
    return {} if value is None else value


SizeNumber = Annotated[int, _between(1, MAX_SIZE)]
SizeField = Annotated[Size, Leaf(_size, _SIZE_SCHEMA)]
"""A size: a name such as J, or a number."""


ShapeField = Annotated[
    Shape,
    Leaf(
        _shape,
        {"anyOf": [*_SIZE_SCHEMA["anyOf"], {"type": "array", "items": _SIZE_SCHEMA, "minItems": 1, "maxItems": 2}]},
    ),
]


Kinds = Annotated[tuple[Kind, ...], _kinds(OF_PARAMETERS)]
"""`is:` one kind or a list of them."""
DataKinds = Annotated[tuple[Kind, ...], _kinds(OF_DATA)]
"""`is:` of a field of the data."""
RowStateKinds = Annotated[tuple[Kind, ...], _kinds(OF_ROW_STATES)]
"""`is:` of a state of a recursion."""


_PAIRS_SCHEMA = {"anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "array"}}]}
SchemeName = Annotated[str, Leaf(_scheme, {"enum": [*EULER, *NAMED]})]
WordField = Annotated[
    Word,
    Leaf(_word, {"type": "array", "items": {"type": ["string", "object"]}, "minItems": 1}),
]
"""Pieces with their shares of the step, in the order they are done."""
KeepField = Annotated[int | str, Leaf(_keep, {"type": ["integer", "string"]})]
"""After which letter draws are kept: the piece of one, or the place of one counted from 1."""
_BLOCK_SCHEMA = {"type": "object", "propertyNames": {"pattern": NAME_PATTERN}, "minProperties": 1}
RefreshField = Annotated[
    Refresh,
    Leaf(
        _refresh,
        {"anyOf": [_NAME_SCHEMA, {**_BLOCK_SCHEMA, "maxProperties": 1, "additionalProperties": _NUMBER_SCHEMA}]},
    ),
]
"""A block that is drawn anew, alone or with the share of it that is kept."""
FlipField = Annotated[
    tuple[str, ...],
    Leaf(_flip, {**_BLOCK_SCHEMA, "additionalProperties": {"type": "string"}}),
]
"""Blocks whose sign is turned."""
StepsField = Annotated[
    tuple[int, int | str],
    Leaf(_steps, {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_STEPS}, {"type": "string"}]}),
]
"""How often a word is done, at least and at most; the name of a parameter for a number that it gives."""
StepsNumber = Annotated[int, _between(1, MOST_STEPS)]
MovesNumber = Annotated[int, _between(1, MOST_MOVES)]
ScaleNumber = Annotated[
    Fraction,
    Leaf(
        _number(
            f"a number between 1/{MOST_SCALE} and {MOST_SCALE}: 1/4",
            Fraction(1, MOST_SCALE),
            Fraction(MOST_SCALE),
            "steps are of the length scale*eps",
        ),
        {"type": ["number", "string"]},
    ),
]
"""What the step size is multiplied by: 1/4, 0.25."""
Pairs = Annotated[tuple[Pair, ...] | None, Leaf(_pairs, _PAIRS_SCHEMA)]
"""Places of a block matrix; None: all."""
Summands = Annotated[tuple[str, ...] | None, Leaf(_summands, {"type": ["string", "array"]})]
"""Terms of H by name; None: all."""
Names = Annotated[list[Name], one_or_many]
"""One name, or a list of them."""
SomeNames = Annotated[list[Name], one_or_many, SOME]
