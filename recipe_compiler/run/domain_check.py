"""Draws outside of the domain that their block declares: a finite step knows of no boundary and may cross it.

The equation keeps to the domain, the step that takes its place does not: beyond the boundary D and grad H are whatever
their formulas give there. So every draw kept is looked at, exactly as it is stored; states between two draws are not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.support.starts import _outside
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.spec.declarations import domain_text
from recipe_compiler.spec.model import Build

Truths = NDArray[np.bool_]

UNBOUNDED = (DomainName.REAL, DomainName.CIRCLE)


@dataclass(frozen=True, slots=True)
class Outside:
    """The draws of one block that lie outside its domain; chains, draws and entries are counted from 0."""

    block: str
    domain: DomainName
    says: str
    """The domain in words, with its bounds."""
    draws: int
    """How many, warmup and all chains together."""
    chains: int
    """Chains that have any."""
    chain: int
    """Chain of the earliest draw outside; then its place there, an entry that is outside, and its value."""
    draw: int
    entry: int
    value: float


def bounded_blocks(declared: Declarations) -> list[str]:
    """Return the names of the blocks that are not all of a real space."""
    return [block.name for block in declared.blocks if block.domain.name is not DomainName.REAL]


def outside(build: Build, arrays: Sequence[Array], at: Point) -> tuple[Outside, ...]:
    """Return the draws outside their block's domain, block by block; blocks that stay inside are left out.

    Args:
        build: gives the domains, with what is bound in them put in.
        arrays: per block of the dynamics, chains x draws x size; NaN, where a chain has ended, is not outside.
        at: values of the parameters.
    """
    blocks = zip(build.dynamics.declarations.blocks, arrays, strict=True)
    bounded = ((block, array) for block, array in blocks if block.domain.name not in UNBOUNDED)
    return tuple(found for block, array in bounded for found in _of_block(block, array, dict(build.bind), at))


def leaves(block: Block, bind: dict[str, Formula], at: Point, states: Array) -> Truths:
    """Return which states of a block, the entries of each along the last axis, lie outside its domain."""
    bounds = (substitute(bound, bind) if bind else bound for bound in block.domain.bounds)
    return _outside(states, block.domain.name.value, *(float(evaluate(bound, at)) for bound in bounds))


def _of_block(block: Block, array: Array, bind: dict[str, Formula], at: Point) -> Iterator[Outside]:
    found = leaves(block, bind, at, array)
    if not found.any():
        return
    draw = int(np.argmax(np.any(found, axis=0)))
    chain = int(found[:, draw].argmax())
    entry = int(leaves(block, bind, at, array[chain, draw, :, None]).argmax())
    yield Outside(
        block=block.name,
        domain=block.domain.name,
        says=domain_text(block.domain),
        draws=int(found.sum()),
        chains=int(np.any(found, axis=1).sum()),
        chain=chain,
        draw=draw,
        entry=entry,
        value=float(array[chain, draw, entry]),
    )
