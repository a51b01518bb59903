"""Chains in parallel threads, in short pieces, so that progress can be shown and an interrupt loses nothing."""

import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.load_module import Emitted

Array = NDArray[np.float64]

PIECE_SECONDS = 0.1
"""How long one call into the jitted loop should take."""

Watch = Callable[[Sequence[int], int], None]
"""Told the number of draws of every chain so far, and the number asked of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What every chain of a run is given, in the order of the arguments of `run`."""

    parameters: tuple[float | Array, ...]
    constants: tuple[float | Array, ...]
    data: tuple[Array, ...]
    rows: int
    batch_size: int | None
    eps: float
    thin: int
    draws: int
    """Draws of a chain, warmup included."""


@dataclass(slots=True, eq=False)
class Chain:
    """A chain on its way: all that its next draw depends on, and the draws so far."""

    blocks: tuple[Array, ...]
    noise_state: NDArray[np.uint64]
    batch_state: NDArray[np.uint64]
    permutation: NDArray[np.uint64]
    draws: tuple[Array, ...]
    clipped: Array = field(default_factory=lambda: np.zeros(1))
    done: int = 0
    diverging: bool = False
    seconds_per_draw: float = 0.0
    busy: bool = False


def start_chain(module: Emitted, inputs: Inputs, state: tuple[Array, ...], noise: NDArray[np.uint64],
                batch: NDArray[np.uint64]) -> Chain:  # fmt: skip
    """Return a chain at its start; arrays are copied."""
    shuffled = inputs.rows if module.variant == "minibatch" and not module.replacement else 0
    return Chain(
        blocks=tuple(block.copy() for block in state),
        noise_state=noise.copy(),
        batch_state=batch.copy(),
        permutation=np.arange(shuffled, dtype=np.uint64),
        draws=tuple(np.empty((inputs.draws, block.size)) for block in state),
    )


def run_arguments(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> tuple[object, ...]:
    """Return the arguments of a module's `run` for the next draws of a chain."""
    minibatch = module.variant == "minibatch"
    batch_states = (chain.batch_state,) if module.replacement else (chain.batch_state, chain.permutation)
    return (
        *chain.blocks,
        *inputs.parameters,
        *inputs.constants,
        *inputs.data,
        *((inputs.batch_size,) if minibatch else ()),
        inputs.eps,
        inputs.thin,
        chain.noise_state,
        *(batch_states if minibatch else ()),
        *((chain.clipped,) if module.clips else ()),
        *(block[chain.done : chain.done + draws] for block in chain.draws),
    )


def advance(module: Emitted, inputs: Inputs, chain: Chain, draws: int) -> None:
    """Advance a chain by a number of draws, in place. One that leaves the finite numbers is marked `diverging`."""
    kept = module.run(*run_arguments(module, inputs, chain, draws))
    chain.done += kept
    chain.diverging = kept < draws


def run_chains(module: Emitted, inputs: Inputs, chains: Sequence[Chain], cores: int, watch: Watch) -> bool:
    """Advance all chains to the number of draws asked for, on `cores` threads; return whether it was interrupted.

    Chains advance in turns, by pieces of about a tenth of a second. What a chain draws depends on neither the pieces
    nor the threads. At an interrupt (ctrl-C) all chains are brought to one length and kept; a second interrupt
    stops at once.
    """
    if not chains:
        return False
    turns = _Turns(chains, inputs.draws)
    with _interrupt_sets(turns.stop):
        advance(module, inputs, chains[0], 0)  # compiles
        workers = [
            threading.Thread(target=_work, args=(module, inputs, turns), daemon=True)
            for _ in range(min(cores, len(chains)))
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(PIECE_SECONDS)
                    watch([chain.done for chain in chains], inputs.draws)
            watch([chain.done for chain in chains], inputs.draws)
        except BaseException as error:  # a second interrupt: let the workers end with the pieces they are at
            turns.error = error
        if turns.error is not None:
            raise turns.error
    return turns.stop.is_set() and any(chain.done < inputs.draws and not chain.diverging for chain in chains)


class _Turns:
    """Who goes next: the idle chain that has drawn least."""

    def __init__(self, chains: Sequence[Chain], draws: int) -> None:
        self.chains = chains
        self.draws = draws
        self.stop = threading.Event()
        self.error: BaseException | None = None
        self._lock = threading.Lock()

    def take(self) -> tuple[Chain, int] | None:
        """Return a chain and how many draws it shall make now, None when nothing is left to start."""
        with self._lock:
            limit = max(chain.done for chain in self.chains) if self.stop.is_set() else self.draws
            waiting = [c for c in self.chains if not (c.busy or c.diverging) and c.done < limit]
            if not waiting or self.error is not None:
                return None
            chain = min(waiting, key=lambda c: c.done)
            chain.busy = True
            slow = chain.seconds_per_draw
            # Grow by at most ten: the first piece, one draw, says little about the next.
            piece = min(int(PIECE_SECONDS / slow), 10 * chain.done) if slow > 0.0 else 1
            return chain, min(max(piece, 1), limit - chain.done)

    def give_back(self, chain: Chain) -> None:
        """Let others take the chain again."""
        with self._lock:
            chain.busy = False


def _work(module: Emitted, inputs: Inputs, turns: _Turns) -> None:
    while (turn := turns.take()) is not None:
        chain, draws = turn
        try:
            begin = time.perf_counter()
            advance(module, inputs, chain, draws)
            chain.seconds_per_draw = (time.perf_counter() - begin) / draws
        except BaseException as error:  # handed to the main thread, which raises it
            turns.error = error
        finally:
            turns.give_back(chain)


@contextmanager
def _interrupt_sets(stop: threading.Event) -> Generator[None]:
    """Let the first ctrl-C set `stop` instead of raising; the second does what it did before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
