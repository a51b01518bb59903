"""Chains in parallel threads, in short pieces, so that progress can be shown and an interrupt loses nothing."""

import heapq
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType

from recipe_compiler.run.chain import LANES, Chain, Inputs, advance
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.load_module import Emitted

PIECE_SECONDS = 0.1
"""How long one call into the jitted loop should take."""

WRITER = -1
"""The number, among those of groups of chains, of the thread that writes a checkpoint."""

Watch = Callable[[Sequence[int], int], None]
"""Called with the draws of every chain so far, and the number wanted of each."""


def run_chains(
    module: Emitted, inputs: Inputs, chains: Sequence[Chain], cores: int, watch: Watch,
    checkpoint: Checkpoint | None = None,
    *, lanes: bool = False,
) -> signal.Signals | None:  # fmt: skip
    """Advance all chains to the number of draws asked for, on `cores` threads; return the signal that stopped it.

    Chains advance in turns, those that have drawn least first, by pieces of about a tenth of a second, each by itself
    or, as lanes, 64 side by side. What a chain draws depends on which of the two, and on neither the pieces, the
    threads nor the other chains. At SIGINT (ctrl-C) or SIGTERM all chains are brought to one length and kept; a second
    one stops at once.
    """
    if not chains:
        return None
    size = LANES if lanes else 1
    groups = [chains[k : k + size] for k in range(0, len(chains), size)]
    idle = [(min(chain.done for chain in group), number) for number, group in enumerate(groups)]
    heapq.heapify(idle)
    busy = set[int]()
    ended = SimpleQueue[tuple[int, BaseException | None]]()
    shown = time.monotonic()

    def start(number: int, work: Callable[[], None]) -> None:
        def worked() -> None:
            try:
                work()
            except BaseException as error:  # handed to the main thread, which raises it
                ended.put((number, error))
            else:
                ended.put((number, None))

        busy.add(number)
        threading.Thread(target=worked, daemon=True).start()  # one that nobody waits for after a second interrupt

    def advance_group(group: Sequence[Chain], draws: int) -> None:
        begin, used = time.perf_counter(), time.thread_time()
        advance(module, inputs, group, draws, lanes=lanes)
        group[0].seconds_per_draw = (time.perf_counter() - begin) / draws
        group[0].processor_seconds += time.thread_time() - used

    with _signals_noted() as caught:
        advance(module, inputs, groups[0], 0, lanes=lanes)  # compiles
        while True:
            limit = max(chain.done for chain in chains) if caught else inputs.draws
            due = checkpoint is not None and WRITER not in busy and checkpoint.is_due()
            while idle and idle[0][0] < limit and len(busy - {WRITER}) < cores and not due:
                done, number = heapq.heappop(idle)
                slow = groups[number][0].seconds_per_draw
                # Grow by at most ten: the first piece, one draw, says little about the next.
                piece = min(int(PIECE_SECONDS / slow), 10 * done) if slow > 0.0 else 1
                start(number, partial(advance_group, groups[number], min(max(piece, 1), limit - done)))
            if not busy and not (idle and idle[0][0] < limit):
                break
            if checkpoint is not None and not busy:
                start(WRITER, checkpoint.copy(chains))  # while the chains stand still
                continue
            with suppress(Empty):
                number, error = ended.get(timeout=PIECE_SECONDS)
                busy.remove(number)
                if error is not None:
                    raise error
                live = [] if number == WRITER else [chain.done for chain in groups[number] if not chain.diverging]
                if live:
                    heapq.heappush(idle, (min(live), number))
            if time.monotonic() - shown >= PIECE_SECONDS:
                watch([chain.done for chain in chains], inputs.draws)
                shown = time.monotonic()
        watch([chain.done for chain in chains], inputs.draws)
    unfinished = any(chain.done < inputs.draws and not chain.diverging for chain in chains)
    return caught[0] if caught and unfinished else None


@contextmanager
def _signals_noted() -> Generator[list[signal.Signals]]:
    """Yield a list that notes the first SIGINT or SIGTERM; the second does what it did before.

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
        restore()

    for number in before:
        signal.signal(number, note)
    try:
        yield caught
    finally:
        restore()
