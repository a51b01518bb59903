"""Chains: what they are given, all that the next draw of one depends on, and how they advance, alone or as lanes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.support.chains import _rows_of_64
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.program.loop_passes import COORDINATES
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.user_code import CalledMove, CodeGradient, blaming
from recipe_compiler.spec.build_checks import no_lanes
from recipe_compiler.spec.model import Build, Cir, Code, Draw

LANES = 64
"""Chains side by side in one call of a module's `run_lanes`."""

ROOM = 1 << 22
"""Numbers that are drawn before they are handed to the chains they belong to."""


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
    sizes: Sizes = field(default_factory=dict)
    """The symbolic sizes of the module."""
    of_draw: "Callable[[Chain], Inputs] | None" = None
    """What the next draw of a chain is given, where the step size or V changes along it."""
    falls: bool = False
    """Whether the step size does (`run/schedule.py`)."""
    kept: Mapping[str, Array] = field(default_factory=dict)
    """What each chain keeps for `of_draw`, as it starts: arrays, each with a number that every draw reports."""

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
        **{name: array.copy() for name, array in inputs.kept.items()},
    }
    widths = {name: state[name].size for name, _ in module.blocks} | dict.fromkeys((*module.reported, *inputs.kept), 1)
    if module.first_values is not None:
        known = inputs.given | state
        module.first_values(*(known[name] for name in module.first_arguments))
    return Chain(state, {f"{name}_draws": np.empty((inputs.draws, width)) for name, width in widths.items()})


def run_arguments(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> tuple[object, ...]:
    """Return the arguments of a module's `run` for the next draws of a chain, in the order that the module states."""
    rows = slice(chain.done, chain.done + draws)
    known = inputs.given | chain.state | {name: array[rows] for name, array in chain.draws.items()}
    return tuple(known[name] for name in module.arguments)


def advance(module: Emitted, inputs: Inputs, chains: Sequence[Chain], draws: int, *, lanes: bool = False) -> None:
    """Advance chains that are at the same draw, in place; one that leaves the finite numbers is marked `diverging`.

    It is one chain or, as `lanes`, up to 64 side by side. A lane holds one chain and no lane reads another, so what a
    chain draws depends on its own state and random state alone: not on which chains are beside it, nor on how many.
    """
    most = ROOM // (LANES * sum(array.shape[1] for array in chains[0].draws.values())) if lanes else draws
    most = 1 if inputs.of_draw else max(1, most)
    while live := [chain for chain in chains if not chain.diverging]:
        here = inputs.of_draw(live[0]) if inputs.of_draw and draws else inputs
        (_advance_lanes if lanes else _advance_one)(module, here, live, min(draws, most))
        draws -= min(draws, most)
        if not draws:
            return


def _advance_one(module: Emitted, inputs: Inputs, chains: Sequence[Chain], draws: int) -> None:
    (chain,) = chains
    with blaming(inputs.codes):
        kept = module.run(*run_arguments(module, inputs, chain, draws))
    chain.done += kept
    chain.diverging = kept < draws


def _advance_lanes(module: Emitted, inputs: Inputs, chains: Sequence[Chain], draws: int) -> None:
    """Lay the chains side by side, advance them, and hand every chain what is its own; lanes left over run idly."""
    passed = [name for name, _ in (*module.blocks, *module.carried)]
    own = [chains[min(lane, len(chains) - 1)].state for lane in range(LANES)]
    lanes = _rows_of_64(np.array([np.concatenate([state[name] for name in passed]) for state in own]).T)
    noise_state = _rows_of_64(np.array([state["noise_state"] for state in own]).T)
    kept = np.zeros(LANES, np.int64)
    ends = np.cumsum([chains[0].state[name].size for name in passed])[:-1]
    widths = [array.shape[1] for array in chains[0].draws.values()]
    rows = np.empty((draws, LANES * sum(widths)))
    given = {**inputs.given, "lanes": lanes, "noise_state": noise_state, "kept": kept, "lanes_draws": rows}
    if module.run_lanes is None:
        raise ValueError(f"{module.name} has no run_lanes")
    module.run_lanes(*(given[name] for name in module.lanes_arguments))
    drawn = rows.reshape(draws, sum(widths), LANES)
    for lane, chain in enumerate(chains):
        whole = slice(chain.done, chain.done + draws)
        parts = np.split(drawn[:, :, lane], np.cumsum(widths)[:-1], axis=1)
        for array, part in zip(chain.draws.values(), parts, strict=True):
            array[whole] = part
        for name, part in zip(passed, np.split(lanes.reshape(-1, LANES)[:, lane], ends), strict=True):
            chain.state[name][:] = part
        chain.state["noise_state"][:] = noise_state.reshape(-1, LANES)[:, lane]
        chain.done += int(kept[lane])
        chain.diverging = int(kept[lane]) < draws


def why_no_lanes(module: Emitted, build: Build, sizes: Sizes) -> str:
    """Return why the chains of a module cannot run as lanes; nothing where they can."""
    if module.run_lanes is not None:
        return ""
    if why := no_lanes(build.target):
        return why
    coordinates = sum(extent(size, sizes) or 1 for _, size in module.blocks)
    if coordinates > COORDINATES:
        return f"a state of {coordinates} coordinates is longer than the {COORDINATES} that lanes hold"
    if symbolic := next((size for _, size in module.blocks if isinstance(size, str)), None):
        return f"the size {symbolic} is not fixed under `sizes`"
    if module.code:
        return "a move is code, which is called for one chain at a time"
    if any(isinstance(move, Draw | Cir) for move in build.scheme.cycle):
        return "an exact draw uses a variable number of random words, and lanes draw theirs beforehand"
    return "a step works in arrays, such as a factor of the noise that is computed anew at every state"
