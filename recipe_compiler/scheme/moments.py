"""Polynomials of the state and what the infinitesimal generator makes of them, in the names of a program."""

from collections.abc import Mapping
from itertools import combinations_with_replacement

from recipe_compiler.derive.recipe import Derivation, generator
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.program import Gradient, InfinitesimalGenerator, Moment
from recipe_compiler.scheme.shifts_and_noise import arrays_of, with_gradient
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Index, Slot, Tensor

SMALL = 8
"""The most coordinates of a state of which all products of two are taken; of longer ones those of like places."""


def moments(
    derivation: Derivation, gradient: Gradient, declared: frozenset[str], sizes: Mapping[str, str | int]
) -> InfinitesimalGenerator | None:
    """Return L phi = f . grad phi + tr(D Hess phi), f: [n], D: [n, n], for every coordinate, and for products of two.

    The mean of L phi under exp(-H) is 0 for each (Ma, Chen, Fox 2015, Theorem 1), which a chain is checked by (Gorham
    and Mackey 2015). None if no block ranges over the whole real line. Of theta under SGLD, L theta_i = -d_i U; of
    theta_i theta_j, -theta_i d_j U - theta_j d_i U + 2 delta_ij.

    Args:
        derivation: of the bound dynamics.
        gradient: of the target, from all data.
        declared: every name of the user's, for the compiler's own to differ from.
        sizes: numbers of symbolic sizes, as far as they are known.
    """
    c = derivation.calculus
    blocks = _inside(derivation)
    counts = [sizes.get(str(size), size) for block in blocks for size in (block.shape.sizes or (1,))]
    small = sum(count for count in counts if isinstance(count, int)) <= SMALL and all(
        isinstance(count, int) for count in counts
    )
    pairs = list(combinations_with_replacement(blocks, 2))
    if not blocks:
        return None
    families = [
        *(_family(c, (block,), "k", "i") for block in blocks),
        *(_family(c, pair, "kl", "ij" if pair[0].shape.sizes else "ii") for pair in pairs if small),
        *(_family(c, pair, "kk", "ii") for pair in pairs if not small and pair[0].shape == pair[1].shape),
    ]
    taken = set(declared)
    found: list[Moment] = []
    for name, says, phi, moves in families:
        array = fresh(f"L_{name}", frozenset(taken))
        taken.add(array)
        value = c.rename(generator(derivation, phi), moves)
        stated = with_gradient(value, arrays_of(derivation, gradient), {})
        found.append(Moment(array, says, c.rename(phi, moves), stated))
    return InfinitesimalGenerator(gradient, tuple(found))


def _inside(derivation: Derivation) -> tuple[Block, ...]:
    """Return the blocks that have the whole real line, and no noise in common with one that has not.

    A function of another block may have a generator whose mean is not 0: what flows over the end of a domain.
    """
    blocks = derivation.blocks
    ends = [b for b, block in enumerate(blocks) if block.domain.name is not DomainName.REAL]
    return tuple(
        block
        for a, block in enumerate(blocks)
        if a not in ends and all(derivation.D[a][b].is_zero and derivation.D[b][a].is_zero for b in ends)
    )


Family = tuple[str, str, Tensor, dict[Index, Slot]]
"""A name, how phi is written, phi, and its free indices with those that it has in the end."""


def _slots(block: Block, label: str) -> tuple[Index, ...]:
    return tuple(Index(size, label) for size in block.shape.sizes)


def _family(c: Calculus, blocks: tuple[Block, ...], labels: str, renamed: str) -> Family:
    """Return the products of entries of blocks: at one place with one label, of every two places with two."""
    at = [_slots(block, label) for block, label in zip(blocks, labels, strict=True)]
    ends = [_slots(block, label) for block, label in zip(blocks, renamed, strict=True)]
    says = "*".join(
        f"{block.name}[{to}]" if own else block.name for block, own, to in zip(blocks, at, renamed, strict=True)
    )
    phi = c.multiply(*(c.coordinate(block.name, *own) for block, own in zip(blocks, at, strict=True)))
    moves: dict[Index, Slot] = {}
    for own, end in zip(at, ends, strict=True):
        moves |= dict(zip(own, end, strict=True))
    return "_".join(block.name for block in blocks), says, phi, moves
