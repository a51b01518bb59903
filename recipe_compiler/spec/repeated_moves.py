"""`{repeat: 4, of: [draw: mu, draw: tau]}` in a cycle: its moves, written out so many times before a build is read.

All that is asked of a cycle, and all that a certificate holds, is of the moves that are done: `[P, Q]` twice is P, Q,
P, Q, and preserves exp(-H) where P and Q do. What is no such item is left as it is, and refused where moves are read.
"""

from dataclasses import replace

from recipe_compiler.spec.fields import exact
from recipe_compiler.spec.model import MOST_MOVES
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Sequence

KEYS = {"repeat", "of"}


def written_out(root: Mapping) -> Mapping:
    """Return the document of a build whose cycle has no item of several moves; as it is where these are too many."""
    scheme = root.get("scheme")
    cycle = scheme.get("cycle") if isinstance(scheme, Mapping) else None
    if not isinstance(scheme, Mapping) or not isinstance(cycle, Sequence):
        return root
    moves = _moves(cycle.items)
    if moves is None or moves == cycle.items:
        return root
    return _with(root, "scheme", _with(scheme, "cycle", replace(cycle, items=moves)))


def _moves(items: tuple[Node, ...]) -> tuple[Node, ...] | None:
    """Return moves with those repeated together written out; None where they are more than a cycle may have."""
    found: list[Node] = []
    for item in items:
        count, of = _repeated(item)
        inner = _moves(of.items) if of else (item,)
        if inner is None or (of and len(found) + count * len(inner) > MOST_MOVES):
            return None
        found += inner * count
    return tuple(found)


def _repeated(item: Node) -> tuple[int, Sequence | None]:
    """Return how often moves are repeated, and which; 1 and None of a move."""
    if not isinstance(item, Mapping) or {key.text for key, _ in item.entries} != KEYS:
        return 1, None
    count, of = item.get("repeat"), item.get("of")
    number = exact(getattr(count, "text", None))
    if not isinstance(of, Sequence) or not of.items or number not in range(1, MOST_MOVES + 1):
        return 1, None
    return int(number or 1), of


def _with(mapping: Mapping, name: str, node: Node) -> Mapping:
    entries = tuple((key, node if key.text == name else old) for key, old in mapping.entries)
    return replace(mapping, entries=entries)
