"""At which sizes the second engine looks: 1, 2, 3 in all combinations, from the smallest size the formulas allow."""

from collections.abc import Iterable, Iterator
from itertools import product

from recipe_compiler.algebra.definedness import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Entry, Formula
from recipe_compiler.spec.model import Dynamics

Sizes = dict[str, int]

LARGEST = 3
MANY = 3
"""With more symbolic sizes than this, not all combinations up to 3 are looked at but those up to 2, and all 3."""


def formulas_of(dynamics: Dynamics) -> Iterator[Formula]:
    """Yield every formula of a dynamics."""
    yield dynamics.H
    for matrix in (dynamics.D, dynamics.Q, dynamics.claims.diffusion):
        for row in matrix or ():
            yield from row
    for _, claimed in dynamics.claims.drift or ():
        yield claimed
    for compare in dynamics.declarations.assume:
        yield compare.left
        yield compare.right


def smallest_sizes(declarations: Declarations, formulas: Iterable[Formula]) -> Sizes:
    """Return the smallest sizes at which every literal position (`theta[2]`) exists."""
    found = dict.fromkeys(declarations.sizes, 1)
    for formula in formulas:
        for node in nodes(formula):
            if not isinstance(node, Entry):
                continue
            for size, position in zip(node.arg.shape.sizes, node.at, strict=True):
                if isinstance(size, str):
                    found[size] = max(found.get(size, 1), position + 1)
    return found


def checked_sizes(dynamics: Dynamics) -> tuple[Sizes, ...]:
    """Return the sizes to look at, small ones first; one empty choice if the document fixes them all."""
    smallest = smallest_sizes(dynamics.declarations, formulas_of(dynamics))
    names = list(smallest)
    top = LARGEST if len(names) <= MANY else LARGEST - 1
    ranges = [range(low, max(top, low + 1) + 1) for low in smallest.values()]
    found = [dict(zip(names, choice, strict=True)) for choice in product(*ranges)]
    if len(names) > MANY:
        found.append({name: max(LARGEST, low) for name, low in smallest.items()})
    return tuple(sorted(found, key=lambda sizes: sum(sizes.values())))


def written(sizes: Sizes) -> str:
    """Return sizes as text: `d = 2, k = 1`."""
    return ", ".join(f"{name} = {n}" for name, n in sizes.items())
