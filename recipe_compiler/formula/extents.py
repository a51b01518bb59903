"""Numbers of entries as sums of products of sizes: the blocks of a target before `F` take up `1+J+users*K` places."""

from collections.abc import Mapping
from math import prod

from recipe_compiler.formula.shapes import Shape, Size, Sizes


def extent(shape: Shape) -> Size:
    """Return the number of entries of a shape: 6 for [2, 3], `J*K` for symbolic sizes, 1 for a scalar."""
    letters = [size for size in shape.sizes if isinstance(size, str)]
    number = prod(size for size in shape.sizes if isinstance(size, int))
    return "*".join(([str(number)] if number != 1 else []) + letters) if letters else number


def after(start: Size, length: Size) -> Size:
    """Return the end of something that starts at a place and has a length: `1+J` for 1 and `J`."""
    if isinstance(start, int) and isinstance(length, int):
        return start + length
    return length if start == 0 else f"{start}+{length}"


def valued(size: Size, sizes: Sizes) -> int:
    """Return the value of a sum of products of sizes: 7 for `1+J*K` with J = 2, K = 3."""
    if isinstance(size, int):
        return size
    products = (part.split("*") for part in size.split("+"))
    return sum(prod(int(one) if one.isdigit() else sizes[one] for one in factors) for factors in products)


def resized(size: Size, names: Mapping[str, str] | Mapping[str, int] | Mapping[str, str | int]) -> Size:
    """Return a sum of products with other names, or numbers, for its sizes; a number where all of them are."""
    if isinstance(size, int):
        return size
    parts = ["*".join(str(names.get(one, one)) for one in part.split("*")) for part in size.split("+")]
    text = "+".join(parts)
    return text if any(c.isalpha() for c in text) else valued(text, {})


def written(size: Size) -> str:
    """Return a sum of products as Python."""
    return str(size) if isinstance(size, int) else size.replace("+", " + ").replace("*", " * ")
