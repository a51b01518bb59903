"""What stands in one field of a document: how it is read from raw text, and what its JSON Schema is."""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, NoReturn

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from recipe_compiler.formula.shapes import SCALAR, Kind, Shape, Size
from recipe_compiler.spec.faults import nearest
from recipe_compiler.spec.names import NAME_PATTERN, name_problem, shown
from recipe_compiler.spec.numbers import exact

MAX_SIZE = 10**9

Raw = Any
"""What the YAML door or a caller hands over, before anything is known about it."""


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
    """Raise what pydantic turns into a fault: found ..., expected ... ."""
    raise PydanticCustomError(
        "document", "found {found}, expected {expected}", {"found": found(value), "expected": expected, "hint": hint}
    )


def _text(expected: str, hint: str = "") -> Callable[[Raw], str]:
    def read(value: Raw) -> str:
        return value if isinstance(value, str) and value.strip() else refuse(value, expected, hint)

    return read


def _name(value: Raw) -> str:
    if not isinstance(value, str):
        refuse(value, "a name")
    problem = name_problem(value)
    if problem is not None:
        raise PydanticCustomError("document", "{problem}", {"problem": problem[0], "hint": problem[1]})
    return value


def _one_or_more(value: Raw) -> list[Raw]:
    return value if isinstance(value, list) else [value]


def _integer(value: Raw) -> int:
    number = exact(value) if isinstance(value, str) else None
    if number is None or number.denominator != 1:
        hint = "write it in decimal, without a leading zero, underscore or colon"
        return refuse(value, "an integer", hint if isinstance(value, str) and value[:1].isdigit() else "")
    return int(number)


def _rational(value: Raw) -> Fraction:
    number = exact(value) if isinstance(value, str) else None
    return refuse(value, "a finite number such as 0.02 or 1e-3") if number is None else number


def _positive(expected: str) -> Callable[[Raw], Fraction]:
    def read(value: Raw) -> Fraction:
        number = _rational(value)
        try:
            runs = float(number)
        except OverflowError:
            runs = 0.0
        return number if runs > 0.0 else refuse(value, expected)

    return read


def _truth(value: Raw) -> bool:
    return value == "true" if value in ("true", "false") else refuse(value, "true or false")


_FORMULA_SCHEMA = {"type": ["string", "number"]}
_NAME_SCHEMA = {"type": "string", "pattern": NAME_PATTERN}

Text = Annotated[str, BeforeValidator(_text("text")), WithJsonSchema({"type": ["string", "number"]})]
FormulaText = Annotated[
    str,
    BeforeValidator(_text("a formula", "a formula with commas or brackets is quoted")),
    WithJsonSchema(_FORMULA_SCHEMA),
]
Name = Annotated[str, BeforeValidator(_name), WithJsonSchema(_NAME_SCHEMA)]
FilePath = Annotated[str, BeforeValidator(_text("the name of a file")), WithJsonSchema({"type": "string"})]
Truth = Annotated[bool, BeforeValidator(_truth), WithJsonSchema({"type": "boolean"})]
StepSize = Annotated[
    Fraction,
    BeforeValidator(_positive("a step size > 0, finite")),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "description": "eps"}),
]
Positive = Annotated[
    Fraction,
    BeforeValidator(_positive("a number > 0, finite")),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]


def _between(low: int, high: int) -> tuple[BeforeValidator, WithJsonSchema]:
    def read(value: Raw) -> int:
        number = _integer(value)
        return number if low <= number <= high else refuse(value, f"an integer from {low} to {high}")

    return BeforeValidator(read), WithJsonSchema({"type": "integer", "minimum": low, "maximum": high})


Count = Annotated[int, *_between(1, 10**9)]
CountOrZero = Annotated[int, *_between(0, 10**9)]
Chains = Annotated[int, *_between(1, 10_000)]
Seed = Annotated[int, *_between(0, 2**63 - 1)]
WholeNumber = Annotated[int, *_between(-(2**53), 2**53)]
Format = Annotated[int, *_between(1, 1)]


def _size(value: Raw) -> Size:
    number = exact(value) if isinstance(value, str) else None
    if number is not None:
        whole = number.denominator == 1 and 1 <= number <= MAX_SIZE
        return int(number) if whole else refuse(value, f"a size: a name, or an integer from 1 to {MAX_SIZE}")
    return _name(value)


def _shape(value: Raw) -> Shape:
    if value == "scalar":
        return SCALAR
    sizes = value if isinstance(value, list) else [value]
    if not 1 <= len(sizes) <= 2 or any(isinstance(size, (list, dict)) or size is None for size in sizes):
        refuse(value, "scalar, a size such as d, or [rows, columns]")
    return Shape(*(_size(size) for size in sizes))


def _kinds(value: Raw) -> tuple[Kind, ...]:
    known = tuple(kind.value for kind in Kind)
    kinds: list[Kind] = []
    for item in _one_or_more(value):
        if item not in known:
            near = nearest(item, known) if isinstance(item, str) else ""
            refuse(item, "one of " + ", ".join(known), near)
        kinds.append(Kind(item))
    return tuple(dict.fromkeys(kinds))


def _many(value: Raw) -> Raw:
    return value if isinstance(value, list) else [value]


def _left_out(value: Raw) -> Raw:
    return {} if value is None else value


_SIZE_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_SIZE}, _NAME_SCHEMA]}
_KIND_SCHEMA = {"enum": [kind.value for kind in Kind]}

SizeNumber = Annotated[int, *_between(1, MAX_SIZE)]
ShapeField = Annotated[
    Shape,
    BeforeValidator(_shape),
    WithJsonSchema(
        {"anyOf": [*_SIZE_SCHEMA["anyOf"], {"type": "array", "items": _SIZE_SCHEMA, "minItems": 1, "maxItems": 2}]}
    ),
]
Kinds = Annotated[
    tuple[Kind, ...],
    BeforeValidator(_kinds),
    WithJsonSchema({"anyOf": [_KIND_SCHEMA, {"type": "array", "items": _KIND_SCHEMA, "minItems": 1}]}),
]
"""`is:` one kind or a list of them."""
OneOrMore = BeforeValidator(_many)
LeftOut = BeforeValidator(_left_out)
"""Nothing after a key means: all defaults."""
Matrix = Annotated[
    Raw,
    WithJsonSchema(
        {
            "anyOf": [
                _FORMULA_SCHEMA,
                {"type": "array", "items": {"type": "array", "items": _FORMULA_SCHEMA}, "minItems": 1},
            ]
        }
    ),
]
"""A block matrix of formulas: nested lists, a quoted nested list, or a `|` block with a row on each line."""
_NUMBER_SCHEMA = {"type": ["number", "string"]}
Numbers = Annotated[
    Raw,
    WithJsonSchema(
        {
            "anyOf": [
                _NUMBER_SCHEMA,
                {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 1},
                {"type": "array", "items": {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 1}, "minItems": 1},
            ]
        }
    ),
]
"""A number, a list, a list of rows, or the name of a .npy file."""
