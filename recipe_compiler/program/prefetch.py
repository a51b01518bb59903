"""Which rows are prefetched: memory works on meanwhile, and no processor foresees a random row.

Rows in order are foreseen well enough by some processors; prefetching them is a support function of its own, which may
leave it to the processor (docs/decisions/speed.md).
"""

from dataclasses import replace

from recipe_compiler.program.definition import ROW
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Assign, Body, Invoke, Ref, Unsigned
from recipe_compiler.program.traverse import every, refs

AHEAD = 1024
"""How many numbers ahead of their use rows are asked for, but at most a block of them: fewer come too late, more push
others out of the fastest cache."""
ASKED = range(32, 257)
"""The lengths of rows that are asked for: shorter ones come as fast as it takes to ask, longer ones after their first
numbers without being asked."""
ASK = "_read_ahead"
"""The support function that asks for a row that may be anywhere."""
ASK_ON = "_read_on"
"""The support function that asks for a row of those that are read in order."""


def prefetched(procedure: Procedure, body: Body) -> tuple[Array, ...]:
    """Return the data whose rows `body` reads; empty if prefetching them would not pay."""
    read = {ref.name for ref in refs(body) if ref.at[:1] == (ROW,)}
    data = tuple(array for array in procedure.inputs if array.name in read)
    whole = len(data) == len(read) and all(len(array.sizes) <= 2 for array in data)
    return data if whole and _length(data) in ASKED else ()


def _length(data: tuple[Array, ...]) -> int:
    """Return how many numbers rows have; a length that is not known is none that is asked for."""
    return sum(size if isinstance(size, int) else ASKED.stop for array in data for size in array.sizes[1:])


def ask(data: tuple[Array, ...], ahead: str, batch: str | None, row: Unsigned, block: int) -> Body:
    """Return the statements that prefetch the row, called `ahead`, needed some rows after `row` of a batch, or of all.

    At the end, the last row.
    """
    distance = min(block, AHEAD // _length(data))
    place = replace(row, terms=(*row.terms, distance))
    take = Assign(Ref(ahead), place if batch is None else Ref(batch, (place,)))
    ask_for = ASK_ON if batch is None else ASK
    return (take, *(Invoke(ask_for, (array.name, ahead)) for array in data))


def reads_ahead(procedure: Procedure) -> bool:
    """Whether a procedure in blocks prefetches rows."""
    called = (one.procedure for one in every(procedure.body) if isinstance(one, Invoke))
    return not {ASK, ASK_ON}.isdisjoint(called)
