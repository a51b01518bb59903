"""One chain: what it is given, all that its next draw depends on, and how it advances."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.user_code import CalledMove, CodeGradient, blaming
from recipe_compiler.spec.model import Code

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What every chain of a run is given, by the names that its module has for it."""

    parameters: Mapping[str, float | Array]
    constants: Mapping[str, float | Array]
    data: Mapping[str, NDArray[np.floating[Any] | np.int64]]
    rows: int
    batch_size: int | None
    eps: float
    thin: int
    draws: int
    """Draws of a chain, warmup included."""
    gradient: CodeGradient | None = None
    """The user's function that computes grad U; None where the module does."""
    moves: tuple[CalledMove, ...] = ()
    """The user's functions that are moves, in the order of the module's arguments."""
    codes: tuple[Code, ...] = ()
    """Whose functions these are."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The symbolic sizes of the module."""
    of_draw: "Callable[[int], Inputs] | None" = None
    """What a draw is given by its number, where the step size falls along the chain (`run/schedule.py`)."""

    @property
    def given(self) -> dict[str, Any]:
        """All of it that `run` may take."""
        functions = {move.argument: move.function for move in self.moves}
        functions |= {"gradient": self.gradient.function} if self.gradient else {}
        settings = {"batch_size": self.batch_size, "eps": self.eps, "thin": self.thin}
        return {**functions, **self.parameters, **self.constants, **self.data, **settings}


@dataclass(slots=True, eq=False)
class Chain:
    """A running chain: everything that its next draw depends on, and its draws so far."""

    state: dict[str, NDArray[Any]]
    """What a step takes and leaves, by the names of the module: blocks, what it carries on, streams, a counter."""
    draws: dict[str, Array]
    """Those of every block, then what `run` counts in the moves of each draw: acceptance, refusals by guards."""
    done: int = 0
    diverging: bool = False
    seconds_per_draw: float = 0.0
    processor_seconds: float = 0.0
    """That draws took here, of lanes those of all side by side in the first."""


def start_chain(
    module: Emitted, inputs: Inputs, blocks: Mapping[str, Array], noise: NDArray[np.uint64], batch: NDArray[np.uint64]
) -> Chain:
    """Return a chain at its start: the blocks are copied, the streams become the chain's own.

    If its first step needs a gradient, or U, that is evaluated here; of a minibatch, which is drawn for it.
    """
    sizes = {size: blocks[name].size for name, size in module.blocks}
    state: dict[str, NDArray[Any]] = {
        **{name: blocks[name].copy() for name, _ in module.blocks},
        **{name: np.empty(sizes[size] if size in sizes else int(size)) for name, size in module.carried},
        "noise_state": noise,
        "batch_state": batch,
        "permutation": np.arange(inputs.rows if module.permutes else 0, dtype=np.uint64),
        CLIPPED: np.zeros(1),
    }
    widths = {name: state[name].size for name, _ in module.blocks} | dict.fromkeys(module.told, 1)
    if module.first_values is not None:
        known = inputs.given | state
        module.first_values(*(known[name] for name in module.first_arguments))
    return Chain(state, {f"{name}_draws": np.empty((inputs.draws, width)) for name, width in widths.items()})


def run_arguments(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> tuple[object, ...]:
    """Return the arguments of a module's `run` for the next draws of a chain, in the order that the module states."""
    rows = slice(chain.done, chain.done + draws)
    known = inputs.given | chain.state | {name: array[rows] for name, array in chain.draws.items()}
    return tuple(known[name] for name in module.arguments)


def advance(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> None:
    """Advance a chain by a number of draws, in place; one that leaves the finite numbers is marked `diverging`."""
    while True:
        here = inputs.of_draw(chain.done) if inputs.of_draw and draws else inputs
        most = draws if here is inputs else 1
        with blaming(inputs.codes):
            kept = module.run(*run_arguments(module, here, chain, most))
        chain.done += kept
        chain.diverging = kept < most
        draws -= most
        if chain.diverging or not draws:
            return
