"""The smallest sizes at which a program means anything: those that have every position it names."""

from collections.abc import Iterator

from recipe_compiler.program.program import Program
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.terms import Component, Coordinate, Tensor


def smallest_sizes(program: Program) -> dict[str, int]:
    """Return symbolic sizes with the smallest value at which every literal position (`theta[2]`) exists."""
    shapes = {item.name: item.shape.sizes for item in (*program.blocks, *program.parameters)}
    shapes |= {datum.name: (datum.size, *datum.shape.sizes) for datum in program.data}
    shapes |= {update.new: update.block.shape.sizes for update in program.updates}
    found: dict[str, int] = {}
    for tensor in _tensors(program):
        for atom in everywhere(tensor):
            match atom:
                case Coordinate(name, at) | Component(name, at, _):
                    pairs = zip(shapes.get(name, ()), at, strict=False)
                case _:
                    continue
            for size, slot in pairs:
                if isinstance(size, str) and isinstance(slot, int):
                    found[size] = max(found.get(size, 1), slot + 1)
    return found


def _tensors(program: Program) -> Iterator[Tensor]:
    yield from (update.drift for update in program.updates)
    for noise in program.noises:
        for matrix in (noise.two_D, noise.B_hat or ()):
            yield from (entry for row in matrix for entry in row)
    if program.gradient is not None:
        for part in program.gradient.parts:
            yield part.prior
            if part.datum is not None:
                yield part.datum
