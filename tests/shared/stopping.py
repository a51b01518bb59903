"""Runs that are stopped in the middle, on a machine of any speed."""

import os
import signal
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from recipe_compiler.run import chains
from recipe_compiler.run.chain import Chain, Inputs
from recipe_compiler.run.load_module import Emitted


@contextmanager
def stopping(count: int) -> Generator[None]:
    """Send this process SIGTERM once a chain has made `count` draws; no chain goes on before the run knows of it."""
    advance = chains.advance
    first = threading.Lock()

    def advance_and_stop(module: Emitted, inputs: Inputs, chains: Sequence[Chain], draws: int, *, lanes: bool) -> None:
        advance(module, inputs, chains, draws, lanes=lanes)
        if chains[0].done < count or not first.acquire(blocking=False):
            return
        handler = signal.getsignal(signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        while signal.getsignal(signal.SIGTERM) is handler:  # a run that has taken it puts back what was there before
            time.sleep(0.001)

    with patch.object(chains, "advance", advance_and_stop):
        yield
