"""Chains in parallel threads, in short pieces, so that progress can be shown and an interrupt loses nothing."""

import heapq
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from recipe_compiler.run.chain import Chain, Inputs, advance
from recipe_compiler.run.lanes import LANES, advance_lanes
from recipe_compiler.run.load_module import Emitted

Group = tuple[Chain, ...]
"""Chains that advance together."""

Proceed = Callable[[Emitted, Inputs, Group, int], None]
"""Advances a group by a number of draws, in place."""

PIECE_SECONDS = 0.1
"""How long one call into the jitted loop should take."""

Watch = Callable[[Sequence[int], int], None]
"""Called with the draws of every chain so far, and the number wanted of each."""


@dataclass(frozen=True, slots=True)
class Keep:
    """How a run is kept while it goes on."""

    due: Callable[[], bool]
    copy: Callable[[], Callable[[], None]]
    """Called while every chain stands still: copies them, and returns what writes the copies."""


def run_chains(
    module: Emitted, inputs: Inputs, chains: Sequence[Chain], cores: int, watch: Watch, keep: Keep | None = None,
    *, lanes: bool = False,
) -> signal.Signals | None:  # fmt: skip
    """Advance all chains to the number of draws asked for, on `cores` threads; return the signal that stopped it.

    Chains advance in turns, by pieces of about a tenth of a second, each by itself or, as lanes, 64 side by side. What
    a chain draws depends on which of the two, and on neither the pieces, the threads nor the other chains. At SIGINT
    (ctrl-C) or SIGTERM all chains are brought to one length and kept; a second one stops at once.
    """
    if not chains:
        return None
    size, proceed = (LANES, advance_lanes) if lanes else (1, _advance_one)
    groups = [tuple(chains[k : k + size]) for k in range(0, len(chains), size)]
    turns = _Turns(groups, inputs.draws)
    with _signals_set(turns.stop) as caught:
        proceed(module, inputs, groups[0], 0)  # compiles
        workers = [
            threading.Thread(target=_work, args=(module, inputs, turns, proceed), daemon=True)
            for _ in range(min(cores, len(groups)))
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(PIECE_SECONDS)
                    watch([chain.done for chain in chains], inputs.draws)
                    if keep is not None and keep.due():
                        _keep(turns, keep)
            watch([chain.done for chain in chains], inputs.draws)
        except BaseException as error:  # a second interrupt: let the workers end with the pieces they are at
            turns.error = error
        if turns.error is not None:
            raise turns.error
    unfinished = any(chain.done < inputs.draws and not chain.diverging for chain in chains)
    return caught[0] if caught and unfinished else None


def _keep(turns: "_Turns", keep: Keep) -> None:
    """Let what is due be copied while the chains stand still, and written while they go on."""
    with turns.still():
        write = keep.copy()
    write()


class _Turns:
    """Who goes next: the idle chains that have drawn least."""

    def __init__(self, groups: Sequence[Group], draws: int) -> None:
        self.groups = groups
        self.chains = tuple(chain for group in groups for chain in group)
        self.draws = draws
        self.stop = threading.Event()
        self.error: BaseException | None = None
        self._lock = threading.Condition()
        self._still = False
        self._waiting: list[tuple[int, int]] = []
        """A heap: of every idle group that can go on, its draws and its number."""
        for number in range(len(groups)):
            self._wait(number)

    def take(self) -> tuple[int, int] | None:
        """Return the number of a group and how many draws it shall make now, None when nothing is left to start."""
        with self._lock:
            self._lock.wait_for(lambda: not self._still)
            limit = max(chain.done for chain in self.chains) if self.stop.is_set() else self.draws
            if not self._waiting or self.error is not None or self._waiting[0][0] >= limit:
                return None
            done, number = heapq.heappop(self._waiting)
            group = self.groups[number]
            for chain in group:
                chain.busy = True
            slow = group[0].seconds_per_draw
            # Grow by at most ten: the first piece, one draw, says little about the next.
            piece = min(int(PIECE_SECONDS / slow), 10 * done) if slow > 0.0 else 1
            return number, min(max(piece, 1), limit - done)

    def give_back(self, number: int) -> None:
        """Let others take the chains again."""
        with self._lock:
            for chain in self.groups[number]:
                chain.busy = False
            self._wait(number)
            self._lock.notify_all()

    def _wait(self, number: int) -> None:
        """Put a group among those that wait, unless none of its chains goes on."""
        live = [chain.done for chain in self.groups[number] if not chain.diverging]
        if live:
            heapq.heappush(self._waiting, (min(live), number))

    @contextmanager
    def still(self) -> Generator[None]:
        """Hold every chain between two of its pieces."""
        with self._lock:
            self._still = True
            self._lock.wait_for(lambda: not any(chain.busy for chain in self.chains))
        try:
            yield
        finally:
            with self._lock:
                self._still = False
                self._lock.notify_all()


def _work(module: Emitted, inputs: Inputs, turns: _Turns, proceed: Proceed) -> None:
    while (turn := turns.take()) is not None:
        number, draws = turn
        group = turns.groups[number]
        try:
            begin, used = time.perf_counter(), time.thread_time()
            proceed(module, inputs, group, draws)
            group[0].seconds_per_draw = (time.perf_counter() - begin) / draws
            group[0].processor_seconds += time.thread_time() - used
        except BaseException as error:  # handed to the main thread, which raises it
            turns.error = error
        finally:
            turns.give_back(number)


def _advance_one(module: Emitted, inputs: Inputs, group: Group, draws: int) -> None:
    advance(module, inputs, group[0], draws)


@contextmanager
def _signals_set(stop: threading.Event) -> Generator[list[signal.Signals]]:
    """Let the first SIGINT or SIGTERM set `stop` and be noted; the second does what it did before.

    What is ignored stays ignored: a program that is started in the background is none of the terminal's business.
    """
    caught: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    both = {number: signal.getsignal(number) or signal.SIG_DFL for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in both.items() if handler is not signal.SIG_IGN}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        caught.append(signal.Signals(number))
        stop.set()
        restore()

    for number in before:
        signal.signal(number, note)
    try:
        yield caught
    finally:
        restore()
