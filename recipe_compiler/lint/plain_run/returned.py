"""What a step returned, block by block."""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

NUMBERS = (np.ndarray, np.generic, int, float, complex, Fraction)
"""Types of what holds numbers that stay what they are, whoever reads them and when."""


def returned(
    result: object,
    names: Sequence[str],
    called: Sequence[str],
    given: Mapping[str, Any],
    numbers: tuple[type, ...] = NUMBERS,
) -> list[Any]:
    """Return a value for every argument that holds the state, as they stand in a tuple, or in the order of `names`.

    Args:
        result: what the step returned; None where it changes its arguments.
        names: of the arguments.
        called: the blocks that they hold.
        given: what the step was called with.
        numbers: types of values that are numbers or arrays of them.

    Raises:
        ValueError: more or fewer values, one by another name, or an object that makes its numbers when it is read.
    """
    own = _own_class(result, numbers)
    if own:
        raise ValueError(f"an object of the class {own} returned, {EXPECTED}")
    return _values(result, names, called, given)


EXPECTED = "expected numbers, arrays, or tuples, lists or dictionaries of these: others may see other numbers in it"


def _own_class(value: Any, numbers: tuple[type, ...]) -> str:
    """Return the class of what is read by code of its own, of a value or in it; empty where nothing is."""
    kind: type = type(value)
    if kind in (dict, OrderedDict, defaultdict):
        value = list(dict.values(value))
    elif kind is not list and not (
        issubclass(kind, tuple) and all(getattr(kind, n) is getattr(tuple, n) for n in _READ)
    ):
        return "" if value is None or issubclass(kind, numbers) else kind.__name__
    return next((own for part in value if (own := _own_class(part, numbers))), "")


_READ = ("__iter__", "__getitem__", "__len__")


def _values(result: object, names: Sequence[str], called: Sequence[str], given: Mapping[str, Any]) -> list[Any]:
    if result is None:
        return [given[name] for name in names]
    if isinstance(result, Mapping):
        unknown = [key for key in result if key not in names and key not in called]
        if unknown:
            raise ValueError(f"a result called {unknown[0]!r}, expected {', '.join(names)}")
        both = zip(names, called, strict=True)
        return [result.get(name, result.get(other, given[name])) for name, other in both]
    if is_listed(result, len(names)):
        if len(result) != len(names):
            raise ValueError(f"{len(result)} values returned, expected {len(names)}: {', '.join(names)}")
        return list(result)
    if len(names) > 1:
        raise ValueError(f"one value returned, expected {len(names)}: {', '.join(names)}")
    return [result]


def is_listed(result: object, count: int) -> TypeGuard[Sequence[Any]]:
    """Whether values were returned one after the other, in an order of their own."""
    return isinstance(result, tuple) or (isinstance(result, list) and count > 1)
