"""What a step returned, block by block."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard


def returned(result: object, names: Sequence[str], called: Sequence[str], given: Mapping[str, Any]) -> list[Any]:
    """Return a value for every argument that holds the state, as they stand in a tuple, or in the order of `names`.

    Args:
        result: what the step returned; None where it changes its arguments.
        names: of the arguments.
        called: the blocks that they hold.
        given: what the step was called with.

    Raises:
        ValueError: more or fewer values, or one by another name.
    """
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
