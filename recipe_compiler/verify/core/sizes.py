"""The sizes that the second engine checks: 1, 2, 3 in all combinations, from the smallest that formulas allow."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

from recipe_compiler import limits
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas

NONE_KNOWN: Mapping[str, int] = MappingProxyType({})


def list_checked_sizes(dynamics: Dynamics, known: Sizes = NONE_KNOWN) -> tuple[Sizes, ...]:
    """Return the sizes at which the second engine looks, small ones first.

    All combinations of 1, 2, 3 (from the smallest size that positions in the formulas allow); with more than three
    sizes those of 1, 2, and all at 3. For d alone: {d: 1}, {d: 2}, {d: 3}. A document that fixes all sizes has the one
    empty choice {}. Sizes in `known`, those of a build, have that value only.
    """
    smallest = smallest_sizes(dynamics.declarations, stated_formulas(dynamics))
    names = list(smallest)
    top = limits.SIZES if len(names) <= limits.SIZES else limits.SIZES - 1
    free = {name: range(low, max(top, low + 1) + 1) for name, low in smallest.items()}
    ranges = [range(known[name], known[name] + 1) if name in known else free[name] for name in names]
    found = [dict(zip(names, choice, strict=True)) for choice in product(*ranges)]
    if len(names) > limits.SIZES:
        found.append({name: known.get(name, max(limits.SIZES, low)) for name, low in smallest.items()})
    return tuple(sorted(found, key=lambda sizes: sum(sizes.values())))


def list_further_sizes(sizes: tuple[Sizes, ...], powers: Mapping[str, int]) -> tuple[Sizes, ...]:
    """Return larger sizes to look at, where a polynomial in a size may vanish at all the sizes looked at so far.

    (d - 1) (d - 2) (d - 3) = 0 at d = 1, 2, 3, which says nothing about d = 4: a polynomial of degree k that vanishes
    at k + 1 sizes is zero. No size above `limits.COORDINATES` is tried.

    Args:
        sizes: those looked at.
        powers: the largest power of each size that multiplies what did not reduce to zero.
    """
    last = sizes[-1] if sizes else {}
    found: list[Sizes] = []
    for name, power in powers.items():
        seen = {at[name] for at in sizes if name in at}
        if 1 < len(seen) <= power:  # one alone is that of a build
            found += [{**last, name: n} for n in range(max(seen) + 1, min(min(seen) + power, limits.COORDINATES) + 1)]
    return tuple(found)


def format_sizes(sizes: Sizes) -> str:
    """Return sizes as text: `d = 2, k = 1`."""
    return ", ".join(f"{name} = {n}" for name, n in sizes.items())
