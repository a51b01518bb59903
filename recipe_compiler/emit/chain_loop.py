"""The loop of every chain, however its state is held: in arrays, in registers, chunk by chunk, or as lanes.

for kept in range(draws):
for _ in range(thin):
what a step needs is drawn, the state advances
the state is written down, and counts only if it is finite
"""

from collections.abc import Iterator
from dataclasses import dataclass

RUN = '@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)'
"""What the function around the loop is compiled with."""

LARGEST = "1.7976931348623157e308"
"""The largest finite number: above it is what is infinite, and what is no number compares as false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLoop:
    """The parts of a chain's loop that depend on where its state is held; lines with the indentation of the text."""

    begin: tuple[str, ...]
    """Room for what a step works with, and the state where the loop holds it."""
    draw: str = "kept"
    """The number of a draw."""
    rows: str
    """How many draws there are to make."""
    turn: str = "_"
    """The number of a step since the draw before."""
    step: tuple[str, ...]
    """What is drawn for a step, and the step."""
    keep: tuple[str, ...]
    """The state written down, and what is done where it is not finite."""
    end: tuple[str, ...] = ()
    """What the caller is given back."""


def print_loop(loop: ChainLoop) -> Iterator[str]:
    """Yield the body of the function that advances a chain, or chains side by side."""
    yield from loop.begin
    yield f"    for {loop.draw} in range({loop.rows}):"
    yield f"        for {loop.turn} in range(thin):"
    yield from loop.step
    yield from loop.keep
    yield from loop.end
