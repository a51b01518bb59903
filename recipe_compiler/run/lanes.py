"""Chains as lanes: up to 64 side by side in one call of a module's `run_lanes`.

A lane holds one chain and no lane reads another, so what a chain draws depends on its own state and random state alone:
not on which chains are beside it, nor on how many.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from recipe_compiler.emit.support.chains import _rows_of_64
from recipe_compiler.program.loop_passes import COORDINATES
from recipe_compiler.run.chain import Chain, Inputs
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.spec.build_checks import no_lanes
from recipe_compiler.spec.model import Build, Cir, Draw

LANES = 64

ROOM = 1 << 22
"""Numbers that are drawn before they are handed to the chains they belong to."""


def why_no_lanes(module: Emitted, build: Build, sizes: Mapping[str, int]) -> str:
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


def advance_lanes(module: Emitted, inputs: Inputs, chains: Sequence[Chain], draws: int) -> None:
    """Advance chains that are at the same draw, in place; one that leaves the finite numbers is marked `diverging`.

    Raises:
        ValueError: more than 64 chains, or chains that are not at the same draw.
    """
    live = [chain for chain in chains if not chain.diverging]
    if len(chains) > LANES or len({chain.done for chain in live}) > 1:
        raise ValueError("found chains at different draws or too many, expected up to 64 at the same draw")
    size = sum(array.shape[1] for array in chains[0].draws.values())
    most = 1 if inputs.of_draw else max(1, ROOM // (LANES * size))
    left = draws
    while True:
        live = [chain for chain in live if not chain.diverging]
        if live:
            here = inputs.of_draw(live[0].done) if inputs.of_draw and left else inputs
            _piece(module, here, live, min(left, most))
        left -= min(left, most)
        if not left or not live:
            return


def _piece(module: Emitted, inputs: Inputs, chains: Sequence[Chain], draws: int) -> None:
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
