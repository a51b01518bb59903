"""One chain: what it is given, all that its next draw depends on, and how it advances."""

from collections.abc import Callable
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
    """What every chain of a run is given, in the order of the arguments of the emitted `run`."""

    parameters: tuple[float | Array, ...]
    constants: tuple[float | Array, ...]
    data: tuple[NDArray[np.floating[Any] | np.int64], ...]
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
    numbers: tuple[int, ...] = ()
    """The symbolic sizes of the module."""
    of_draw: "Callable[[int], Inputs] | None" = None
    """What a draw is given by its number, where the step size falls along the chain (`run/schedule.py`)."""


@dataclass(slots=True, eq=False)
class Chain:
    """A running chain: everything that its next draw depends on, and its draws so far."""

    blocks: tuple[Array, ...]
    noise_state: NDArray[np.uint64]
    batch_state: NDArray[np.uint64]
    permutation: NDArray[np.uint64]
    draws: tuple[Array, ...]
    """Those of every block, then what `run` counts in the moves of each draw: acceptance, refusals by guards."""
    carried: tuple[Array, ...] = ()
    """What the next step needs in addition to the state: the last gradient, and U."""
    clipped: Array = field(default_factory=lambda: np.zeros(1))
    done: int = 0
    diverging: bool = False
    seconds_per_draw: float = 0.0
    processor_seconds: float = 0.0
    """That draws took here, of lanes those of all side by side in the first."""
    busy: bool = False


def start_chain(module: Emitted, inputs: Inputs, state: tuple[Array, ...], noise: NDArray[np.uint64],
                batch: NDArray[np.uint64]) -> Chain:  # fmt: skip
    """Return a chain at its start: the state is copied, the streams become the chain's own.

    If its first step needs a gradient, or U, that is evaluated here; of a minibatch, which is drawn for it.
    """
    sizes = {size: block.size for (_, size), block in zip(module.blocks, state, strict=True)}
    sizes |= {size: size for _, size in module.carried if isinstance(size, int)}
    shuffled = inputs.rows if module.permutes else 0
    chain = Chain(
        blocks=tuple(block.copy() for block in state),
        noise_state=noise,
        batch_state=batch,
        permutation=np.arange(shuffled, dtype=np.uint64),
        carried=tuple(np.empty(sizes[size]) for _, size in module.carried),
        draws=tuple(np.empty((inputs.draws, size)) for size in (*(b.size for b in state), *((1,) * len(module.told)))),
    )
    if module.first_values is not None:
        own = _given(module, inputs) | _own(module, chain)
        module.first_values(*(own[name] for name in module.first_arguments))
    return chain


def _given(module: Emitted, inputs: Inputs) -> dict[str, object]:
    """Return what all chains are given, by the names that the module has for it."""
    return {
        **({"gradient": inputs.gradient.function} if inputs.gradient else {}),
        **{move.argument: move.function for move in inputs.moves},
        **dict(zip(module.parameters, inputs.parameters, strict=True)),
        **dict(zip(module.constants, inputs.constants, strict=True)),
        **dict(zip(module.data, inputs.data, strict=True)),
        "batch_size": inputs.batch_size,
        "eps": inputs.eps,
        "thin": inputs.thin,
    }


def _own(module: Emitted, chain: Chain) -> dict[str, object]:
    """Return what is a chain's own, by the names that the module has for it."""
    return {
        **dict(zip((name for name, _ in module.blocks), chain.blocks, strict=True)),
        **dict(zip((name for name, _ in module.carried), chain.carried, strict=True)),
        "noise_state": chain.noise_state,
        "batch_state": chain.batch_state,
        "permutation": chain.permutation,
        CLIPPED: chain.clipped,
    }


def run_arguments(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> tuple[object, ...]:
    """Return the arguments of a module's `run` for the next draws of a chain, in the order that the module states."""
    rows = slice(chain.done, chain.done + draws)
    names = (*(f"{name}_draws" for name, _ in module.blocks), *module.told)
    kept = {name: block[rows] for name, block in zip(names, chain.draws, strict=True)}
    known = _given(module, inputs) | _own(module, chain) | kept
    return tuple(known[name] for name in module.arguments)


def advance(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> None:
    """Advance a chain by a number of draws, in place; one that leaves the finite numbers is marked `diverging`."""
    if inputs.of_draw is None or draws == 0:
        kept = _run(module, inputs, chain, draws)
        chain.done += kept
        chain.diverging = kept < draws
        return
    for _ in range(draws):
        kept = _run(module, inputs.of_draw(chain.done), chain, 1)
        chain.done += kept
        if not kept:
            chain.diverging = True
            return


def _run(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> int:
    arguments = run_arguments(module, inputs, chain, draws)
    with blaming(inputs.codes):
        return module.run(*arguments)
