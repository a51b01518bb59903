"""Every tensor of a Program, with its required free indices and the names that are known there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.program import (
    EPS,
    SLICES,
    CodeMove,
    Cycle,
    Draw,
    Evaluate,
    Gradient,
    Grid,
    Heat,
    Involution,
    Kick,
    Noise,
    Potential,
    Program,
    Propagator,
    Recursion,
    Refresh,
    Shift,
    Trajectory,
)
from recipe_compiler.tensor.terms import Index, Tensor

Axes = tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """A tensor of a Program, the free indices that it must have, and the names known before it, with their axes."""

    where: str
    tensor: Tensor
    free: tuple[Index, ...]
    known: Mapping[str, Axes]


def places(program: Program) -> Iterator[TensorPlace]:
    """Yield every tensor of a Program with the conditions on it."""
    constants = {p.name: p.shape.sizes for p in program.parameters}
    state = {block.name: block.shape.sizes for block in program.blocks} | constants
    yield from _of_statements(program, state)
    for gradient in gradients(program):
        yield from _of_gradient(gradient, program, constants)
    if program.cycle is not None:
        yield from _of_cycle(program.cycle, program, state)
    if program.infinitesimal_generator is not None:
        gradient = program.infinitesimal_generator.gradient
        known = state | dict.fromkeys(gradient.places.values(), gradient.block.shape.sizes)
        for moment in program.infinitesimal_generator.moments:
            yield TensorPlace(f"{moment.name}: phi", moment.phi, moment.phi.free, state)
            yield TensorPlace(moment.name, moment.value, moment.value.free, known)
    if program.energies is not None:
        yield from _of_potential(program.energies.potential, program)
        if program.energies.rest is not None:
            yield TensorPlace("H - U", program.energies.rest, (), state)


def _of_statements(program: Program, state: Mapping[str, Axes]) -> Iterator[TensorPlace]:
    """Yield the rates and covariances of the statements, each with the values that stand before it."""
    known = {**state, EPS: ()}
    if program.gradient is not None and program.carried:
        known |= {program.gradient.name: program.gradient.block.shape.sizes}
    for statement in program.statements:
        match statement:
            case Evaluate(_, new):
                known = known | ({new: program.gradient.block.shape.sizes} if program.gradient else {})
            case Propagator(blocks, F, two_D):
                constants = {p.name: p.shape.sizes for p in program.parameters}
                yield from _of_matrices(blocks, {"F": F, "2D of F": two_D}, constants)
                known = known | {name: (_length(row), _length(col)) for name, (row, col) in statement.arrays.items()}
            case Heat():
                pass
            case Noise(_, blocks, two_D, B_hat):
                yield from _of_matrices(blocks, {"2D": two_D, "B_hat": B_hat or ()}, known)
            case Shift(block, _, new, rate):
                own = {new: block.shape.sizes}
                there = known | own if statement.implicit else known
                yield TensorPlace(f"the rate of {block.name}", rate, _free(block, "i"), there)
                if statement.slope is not None:
                    free = (*_free(block, "i"), *_free(block, "j"))
                    yield TensorPlace(f"the slope of {block.name}", statement.slope, free, there)
                known = known | own


def _of_matrices(
    blocks: tuple[Block, ...], matrices: Mapping[str, Grid], known: Mapping[str, Axes]
) -> Iterator[TensorPlace]:
    for word, matrix in matrices.items():
        for row, entries in zip(blocks, matrix, strict=False):
            for col, entry in zip(blocks, entries, strict=False):
                yield TensorPlace(f"{word}[{row.name},{col.name}]", entry, (*_free(row, "i"), *_free(col, "j")), known)


def _length(block: Block) -> Size:
    return block.shape.sizes[0] if block.shape.sizes else 1


def _of_gradient(gradient: Gradient, program: Program, constants: Mapping[str, Axes]) -> Iterator[TensorPlace]:
    blocks = {**constants, **{part.block.name: part.block.shape.sizes for part in gradient.parts}}
    known = dict(blocks)
    fields = _fields(program)
    if gradient.recursion is not None and gradient.count is not None:
        yield from _of_recursion(gradient.recursion, gradient.count, blocks, fields)
        known |= {state.first: state.shape.sizes for state in gradient.recursion.states}
        fields |= _over_rows(gradient.recursion, gradient.count, adjoint=True)
    for part in gradient.parts:
        free = _free(part.block, "i", "j")
        where = f"{gradient.name} by {part.block.name}"
        for word, prior in (("prior", part.prior), ("stated prior", part.stated_prior)):
            yield TensorPlace(f"{where}: {word}", prior, free, known)
        count = () if gradient.count is None else (Index(gradient.count, "n"),)
        for word, datum in (("datum", part.datum), ("stated datum", part.stated_datum)):
            if datum is not None:
                yield TensorPlace(f"{where}: {word}", datum, (*free, *count), {**known, **fields})


def _fields(program: Program) -> dict[str, Axes]:
    return {datum.name: (datum.size, *datum.shape.sizes) for datum in program.data}


def _over_rows(recursion: Recursion, count: Size, *, adjoint: bool) -> dict[str, Axes]:
    """Return the arrays over the rows that a recursion makes."""
    kept = [(state.name, state.shape) for state in recursion.states]
    kept += [(state.adjoint, state.shape) for state in recursion.states] if adjoint else []
    return {name: (count, *shape.sizes) for name, shape in kept}


def _of_recursion(
    recursion: Recursion, count: Size, blocks: Mapping[str, Axes], fields: Mapping[str, Axes]
) -> Iterator[TensorPlace]:
    """Yield what the states of a recursion begin as and become, and what U is of them."""
    n = Index(count, "n")
    of_row = {**blocks, **fields, **_over_rows(recursion, count, adjoint=False)}
    adjoint = of_row | _over_rows(recursion, count, adjoint=True)
    yield TensorPlace("the recursion: prior", recursion.prior, (), blocks)
    yield TensorPlace("the recursion: term", recursion.term, (n,), of_row)
    for state in recursion.states:
        free = tuple(Index(size, "i") for size in state.shape.sizes)
        for word, start in (("start", state.start), ("stated start", state.stated_start)):
            yield TensorPlace(f"{state.name}: {word}", start, free, blocks)
        for word, following in (("next", state.next), ("stated next", state.stated_next)):
            yield TensorPlace(f"{state.name}: {word}", following, (*free, n), of_row)
        yield TensorPlace(f"{state.name}: slope", state.slope, (*free, n), adjoint)


def _of_cycle(cycle: Cycle, program: Program, state: Mapping[str, Axes]) -> Iterator[TensorPlace]:
    """Yield the covariances that blocks are drawn anew with, U, and H - U."""
    known = dict(state)
    for move in cycle.moves:
        match move:
            case Refresh(block, _, new, _, noise):
                yield from _of_matrices(noise.blocks, {f"S of {new}": noise.two_D}, known)
                known[new] = block.shape.sizes
            case Draw(block, _, new):
                yield from _of_draw(move, program)
                known[new] = block.shape.sizes
            case Trajectory():
                if move.kick is not None:
                    yield _of_kick(move.kick, program)
                known |= {value.end: value.shape.sizes for value in move.values if value.end}
            case Involution():
                yield from _of_involution(move, known)
                known |= {image.new: image.block.shape.sizes for image in move.images}
            case CodeMove():
                known |= {one.new: one.block.shape.sizes for one in move.changed}
    if cycle.rest is not None:
        values: dict[str, Axes] = {value: () for _, value in (cycle.potential.others if cycle.potential else ())}
        yield TensorPlace("H - U", cycle.rest, (), {**state, **values})
    if cycle.potential is not None:
        yield from _of_potential(cycle.potential, program)


def _of_kick(kick: Kick, program: Program) -> TensorPlace:
    """Return the rate of a kick, which reads the gradient and constants alone."""
    known: dict[str, Axes] = {parameter.name: parameter.shape.sizes for parameter in program.parameters}
    known |= {program.gradient.name: program.gradient.block.shape.sizes} if program.gradient else {}
    return TensorPlace(f"the kick of {kick.block.name}", kick.rate, _free(kick.block, "i"), known)


def _of_involution(move: Involution, known: Mapping[str, Axes]) -> Iterator[TensorPlace]:
    """Yield means and covariances of what is drawn, what blocks become, and the ratio beside H."""
    beside = dict(known)
    for drawn in move.draws:
        name = drawn.block.name
        yield TensorPlace(f"the mean of {name}", drawn.mean, _free(drawn.block, "i"), known)
        yield from _of_matrices(drawn.noise.blocks, {f"the covariance of {name}": drawn.noise.two_D}, known)
        beside[name] = drawn.block.shape.sizes
    for image in move.images:
        yield TensorPlace(f"what {image.block.name} becomes", image.value, _free(image.block, "i"), beside)
    yield TensorPlace("the log ratio of an involution", move.log_ratio, (), beside)


def _of_potential(potential: Potential, program: Program) -> Iterator[TensorPlace]:
    """Yield -log prior, and -log likelihood of a datum."""
    fields = _fields(program)
    constants = {p.name: p.shape.sizes for p in program.parameters}
    own = {**constants, **{block.name: block.shape.sizes for block, _ in potential.places}}
    yield TensorPlace("U: prior", potential.prior, (), own)
    if potential.datum is not None and potential.count is not None:
        if potential.recursion is not None:
            yield from _of_recursion(potential.recursion, potential.count, own, fields)
            fields |= _over_rows(potential.recursion, potential.count, adjoint=False)
        yield TensorPlace("U: datum", potential.datum, (Index(potential.count, "n"),), own | fields)


def _of_draw(move: Draw, program: Program) -> Iterator[TensorPlace]:
    """Yield the parameters of the law that a block is drawn by: functions of the other blocks, constants and data."""
    known = {p.name: p.shape.sizes for p in program.parameters}
    known |= {datum.name: (datum.size, *datum.shape.sizes) for datum in program.data}
    known |= {block.name: block.shape.sizes for block, _ in move.places if block != move.drawn}
    square = move.law == "N" and bool(move.drawn.shape.sizes)
    for k, parameter in enumerate(move.parameters):
        labels = ("i", "j") if square and k == 1 else ("i",)
        free = tuple(Index(size, label) for size in move.drawn.shape.sizes for label in labels)
        if len(move.drawn.shape.sizes) == 2:
            free = tuple(Index(size, label) for size, label in zip(move.drawn.shape.sizes, "ij", strict=True))
        whole = () if move.law == "Uniform" or (move.law == SLICES and k == 2) else free
        whole = free[-1:] if move.law == SLICES and parameter.free == free[-1:] else whole  # alike in all rows
        yield TensorPlace(f"parameter {k} of the law of {move.drawn.name}", parameter, whole, known)
    if move.datum is not None and move.count is not None:
        free = (*_free(move.drawn, "i"), Index(move.count, "n"))
        yield TensorPlace(f"what a datum adds to parameter 0 of the law of {move.drawn.name}", move.datum, free, known)


def gradients(program: Program) -> tuple[Gradient, ...]:
    """Return the gradient that a step takes, and that of the generator."""
    own = (
        program.gradient,
        None if program.infinitesimal_generator is None else program.infinitesimal_generator.gradient,
    )
    return tuple(gradient for gradient in own if gradient is not None)


def _free(block: Block, *labels: str) -> tuple[Index, ...]:
    return tuple(Index(size, label) for size, label in zip(block.shape.sizes, labels, strict=False))
