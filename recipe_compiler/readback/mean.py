"""What the statements of a Program say at fixed sizes, entry by entry: what an emitted text is compared with.

Nothing here knows how a Program is lowered: a fault of the lowering is a difference from this.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import sympy as sp

from recipe_compiler.algebra.scalars.symbols import positions
from recipe_compiler.algebra.scalars.transforms import transformed
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.program import STAGE, STEP, Evaluate, Heat, Noise, Shift
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.names import (
    Names,
)
from recipe_compiler.readback.noise import NoiseFactor, covariance_of, drawn, normals_of, without_noise
from recipe_compiler.readback.oracle import Oracle
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.scalars import Scalar, Sums
from recipe_compiler.tensor.terms import (
    Applied,
    Delta,
    Tensor,
)

Covariance = Mapping[tuple[int, int], Scalar]
"""By row and column, where it is not 0."""


@dataclass(frozen=True, slots=True)
class ReadStep:
    """One step given the batch, `next = value` for every entry of every new value, in the order of the shifts.

    Values are in terms of eps, the old state, gradients and earlier new values; those read from the text also of
    normals.
    """

    next: tuple[sp.Symbol, ...]
    """What stands for the new values in others."""
    values: tuple[Scalar, ...]
    """Where all normals are zero; T of the new value where a shift is of a transform."""
    covariance: Mapping[tuple[int, int], Scalar]
    """The covariance of what the normals add, given the values before, by row and column; 0 where there is none."""
    oracle: Oracle = field(default_factory=Oracle)
    """Is asked for the gradient, and for H - U before and after letters with noise."""
    heat: Sequence[Scalar] = ()
    """What letters with noise do to H, one by one or together."""
    positive: tuple[Scalar, ...] = ()
    """At a point: what must be positive, since the step divides by it."""
    of_gradients: Mapping[str, Covariance] = field(default_factory=dict[str, Covariance])
    """The covariance of what is added to each gradient, by its name, where that is none of `covariance`."""


def stated_step(names: Names, new: Sequence[sp.Symbol], *, with_gradients: bool = False) -> ReadStep:
    """Return the step that the Program states: T(new) = T(old) + eps rate + w, w ~ N(0, eps (2D - eps B_hat)) by group.

    (Ma, Chen, Fox 2015, Eqs. 6 and 9, their sign of Gamma corrected, for Euler's scheme.)

    Args:
        names: the values of its names.
        new: the symbols of the entries of the new values, in the order of the shifts.
        with_gradients: whether noise that is added to gradients is among that of the values, and a gradient that is
            passed on stands behind these.
    """
    moved = {block.name: names.block(block) for block in names.program.blocks}
    found: list[Scalar] = []
    left = list(new)
    joint: dict[tuple[int, int], Scalar] = {}
    places, oracle, heat, positive = _places(names), gradients_of(names), list[Scalar](), list[Scalar]()
    added, of_gradients = dict[str, Covariance](), dict[str, Covariance]()
    normals, factors = list[Scalar](), list[NoiseFactor]()
    for statement in names.program.statements:
        match statement:
            case Noise(name) if any(name == own.noise for own in names.program.evaluations):
                added[name] = covariance(statement, names, moved)
            case Noise(name, blocks):
                rows = [k for block in blocks for k in places[name, block]]
                joint |= {(rows[i], rows[j]): x for (i, j), x in covariance(statement, names, moved).items()}
            case Shift(block, old, value, rate):
                start = [transformed(statement.transform, x) for x in moved[old]]
                own, left = left[: len(start)], left[len(start) :]
                positive += _divisors(statement, names, moved) if names.at_point and not statement.implicit else ()
                drift = values(rate, names, block, {**moved, value: own} if statement.implicit else moved)
                found += drift if statement.image else [z + names.eps * f for z, f in zip(start, drift, strict=True)]
                moved[value] = own
            case Evaluate(at, value, draw) if names.program.gradient is not None:
                oracle.ask("gradient", {names.program.gradient.block.name: moved[at]})
                if draw and with_gradients:
                    n, factor = drawn(draw, added[draw], len(names.gradient(value)))
                    moved[value] = [g + x for g, x in zip(names.gradient(value), n, strict=True)]
                    normals, factors = [*normals, *normals_of(draw, len(n))], [*factors, factor]
                elif draw:
                    of_gradients[value] = added[draw]
            case Heat(before, after):
                for sign, at in ((-1, before), (1, after)):
                    state = {block.name: moved[v] for block, v in zip(names.program.blocks, at, strict=True)}
                    heat.append(sign * oracle.ask("rest", state, 1)[0])
            case _:
                pass
    if factors:
        left = names.program.passed_on.get(names.program.gradient.name, "") if names.program.gradient else ""
        found += moved.get(left, [])
        for place, x in covariance_of(found, normals, factors).items():
            joint[place] = joint.get(place, sp.Integer(0)) + x
        found = without_noise(found, normals)
    return ReadStep(tuple(new), tuple(found), joint, oracle, heat, tuple(positive), of_gradients)


def gradients_of(names: Names) -> Oracle:
    """Return an oracle that answers with the gradients of a step, one after the other."""
    return Oracle(known={"gradient": [names.gradient(own.new) for own in names.program.evaluations]})


def _places(names: Names) -> dict[tuple[str, Block], list[int]]:
    """Return where the shift of a block that adds a draw stands among the entries of all new values."""
    found: dict[tuple[str, Block], list[int]] = {}
    count = 0
    for shift in names.program.shifts:
        size = len(names.block(shift.block))
        found[shift.noise, shift.block] = list(range(count, count + size))
        count += size
    return found


def stated_value(
    tensor: Tensor, names: Names, at: tuple[int, ...] = (), row: int = 0, sums: Sums | None = None
) -> Scalar:
    """Return an entry of a tensor with free indices `i`, `j`; of one row of the data where it has the index `n`.

    Inside of a row the entry is that at the step and stage whose values the names know.
    """
    inside = {"n": row, STEP: 0, STAGE: 0}
    places = {
        index: inside[index.label] if index.label in inside else at["ij".index(index.label)] for index in tensor.free
    }
    return scalarise(tensor, names.sizes, places, names.atom, apart=names.at_point, sums=sums)


def values(tensor: Tensor, names: Names, block: Block, moved: Mapping[str, list[Scalar]] | None = None) -> list[Scalar]:
    """Return a vector over a block in symbols, updated blocks replaced by what they became."""
    here, sums = names.given(moved or {}), Sums()
    return [stated_value(tensor, here, at, sums=sums) for at in positions(block.shape, names.sizes)]


def _divisors(shift: Shift, names: Names, moved: Mapping[str, list[Scalar]]) -> Iterator[Scalar]:
    """Yield y for every `reciprocal(y)` in the rate of a shift, entry by entry: each y has to be positive."""
    for atom in everywhere(shift.rate):
        match atom:
            case Applied("reciprocal", (y,)) if {*y.free} <= {*shift.rate.free}:
                yield from values(y, names, shift.block, moved)
            case _:
                pass


def covariance(
    noise: Noise, names: Names, moved: Mapping[str, list[Scalar]] | None = None
) -> dict[tuple[int, int], Scalar]:
    """Return t (2D - t B_hat) of a group, where it may not be 0; t = eps, or 1 for a draw at once."""
    time = sp.Integer(1) if noise.at_once else names.eps
    here, none = names.given(moved or {}), Tensor((), ())
    blocks = range(len(noise.blocks))
    both = {(a, b): (noise.two_D[a][b], noise.B_hat[a][b] if noise.B_hat else none) for a in blocks for b in blocks}
    dense = {pair for pair, tensors in both.items() if not all(map(_is_diagonal, tensors))}
    rows = [(a, at) for a in blocks for at in positions(noise.blocks[a].shape, names.sizes)]
    found: dict[tuple[int, int], Scalar] = {}
    for (row, (a, at)), (col, (b, to)) in product(enumerate(rows), repeat=2):
        if at == to or (a, b) in dense:
            two_D, B_hat = (stated_value(tensor, here, entry_at(at, to)) for tensor in both[a, b])
            found[row, col] = time * (two_D - time * B_hat)
    return found


def _is_diagonal(tensor: Tensor) -> bool:
    """Whether every term holds the delta of row and column."""
    free = set(tensor.free)
    return all(
        any(isinstance(atom, Delta) and {atom.left, atom.right} == free for atom, _ in term.factors)
        for term in tensor.terms
    )


def entry_at(row: tuple[int, ...], col: tuple[int, ...]) -> tuple[int, ...]:
    """Return the place of an entry of a matrix over two blocks, either of which may be a scalar."""
    return (*(row or (0,)), *col)
