"""Operations in order, evaluated: in floats where a function is called, in balls where what a step returns is judged.

An operation is its name, the places of its parts among those before it, and what else says which it is.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Line = Sequence[Any]
Functions = Mapping[str, Callable[..., Any]]


def evaluated(
    lines: Sequence[Line],
    leaf: Callable[[Line, list[Any]], Any],
    number: Callable[[str], Any],
    power: Callable[[Any, Any], Any],
    functions: Functions,
) -> list[Any]:
    """Return the value of every operation.

    Args:
        lines: `number TEXT`, `add a b`, `mul a b`, `pow a b`, `min a b`, `call NAME a`; any other one is a leaf.
        leaf: the value of one that is a leaf, by itself and the values of all before it.
        number: a rational number, by its text; "pi" is pi.
        power: a to the b.
        functions: by their names.
    """
    found: list[Any] = []
    for line in lines:
        match line:
            case ["number", text]:
                found.append(number(text))
            case ["pi"]:
                found.append(number("pi"))
            case ["add", a, b]:
                found.append(found[a] + found[b])
            case ["mul", a, b]:
                found.append(found[a] * found[b])
            case ["pow", a, b]:
                found.append(power(found[a], found[b]))
            case ["min", a, b]:
                found.append(functions["min"](found[a], found[b]))
            case ["call", name, a]:
                found.append(functions[name](found[a]))
            case _:
                found.append(leaf(line, found))
    return found


def in_floats(lines: Sequence[Line], at: Sequence[float], functions: Functions) -> list[float]:
    """Return values in floats, of `coordinate k` those of a point."""

    def leaf(line: Line, _: list[Any]) -> float:
        return at[line[1]]

    return [float(x) for x in evaluated(lines, leaf, _number, math.pow, functions)]


def _number(text: str) -> float:
    if text == "pi":
        return math.pi
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)
