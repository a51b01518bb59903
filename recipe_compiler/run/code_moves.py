"""Moves that are code: the functions that a chain is given, and what they are called with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.load_module import Emitted, load_function
from recipe_compiler.spec.model import Build, Code, CodeMove

Array = NDArray[np.float64]
Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class CalledMove:
    """The function of a move of a cycle, and what it is given."""

    argument: str
    """What the module calls it."""
    function: Callable[..., object]
    """Jitted; changes its first arguments in place."""
    call: str
    """How it is called, for messages."""
    changes: tuple[int, ...]
    """The places in the state of the blocks that it changes, in the order that it takes them."""
    reads: tuple[int, ...]
    """Likewise, of those that it reads besides."""
    names: tuple[str, ...]
    """Those of all blocks of the state."""
    given: tuple[tuple[str, Any], ...]
    """Parameters and data by name, in the order that it takes them."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """The places of all blocks that it takes, in order."""
        return (*self.changes, *self.reads)

    def __call__(self, state: tuple[Array, ...], stream: Words) -> object:
        """Change the state in place, and return what the function returns."""
        return self.function(*(state[k] for k in self.blocks), *(value for _, value in self.given), stream)


def called_moves(
    module: Emitted, build: Build, parameters: Mapping[str, object], data: Mapping[str, object]
) -> tuple[CalledMove, ...]:
    """Return the moves of a build that are code, each once. Their files are run; they are not called.

    Args:
        module: the emitted module of `build`.
        build: names files and functions.
        parameters: values by name, those of the target among them.
        data: arrays by name, as the chain reads them.

    Raises:
        RunError: a file has no such function, or cannot be run.
    """
    moves = {(move.code, move.changes, move.reads): move for move in build.scheme.cycle if isinstance(move, CodeMove)}
    loaded: dict[Code, Callable[..., object]] = {move.code: load_function(move.code) for move in moves.values()}
    arguments = dict(zip(loaded, (name for name, _ in module.code if name != "gradient"), strict=True))
    names = tuple(block.name for block in build.dynamics.declarations.blocks)
    declared = build.target.declarations
    others = [item.name for group in (declared.parameters, declared.data) for item in group]
    given = tuple((name, {**parameters, **data}[name]) for name in others)

    def called(move: CodeMove) -> CalledMove:
        taken = ", ".join((*move.changes, *move.reads, *others, "stream"))
        return CalledMove(
            arguments[move.code],
            loaded[move.code],
            f"{move.code.file}: {move.code.function}({taken})",
            tuple(map(names.index, move.changes)),
            tuple(map(names.index, move.reads)),
            names,
            given,
        )

    return tuple(map(called, moves.values()))
