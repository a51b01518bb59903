"""Which of the values that a step returns is which block: by name, by what each is where nothing has moved yet.

A step of size zero without noise leaves a block where it is. A value that is then the old value of another block is
the new one of that block: who returns `r, theta` has not returned `theta, r`. Floats only propose an order, which the
report names; what is judged is what was computed.
"""

import math
from collections.abc import Sequence
from itertools import permutations

from recipe_compiler.lint.nodes import FOLLOWED, Node

SMALL = 1e-9
"""The step size at which values are looked at, and how small what vanishes with it is there."""
NEAR = 1e-3
"""How near to the old value of a block a value is."""
MOST = 6
"""Values returned up to which orders are looked through."""

Values = Sequence[Sequence[Node]]


def order_of(values: Values, old: Values, vanishing: frozenset[str]) -> tuple[int, ...]:
    """Return for every block which of the values is its new one; as they stand where nothing says otherwise."""
    plain = tuple(range(len(old)))
    if not 2 <= len(old) <= MOST:
        return plain
    sizes = [len(block) for block in old]
    near = [[_meets(value, block, vanishing) for block in old] for value in values]
    orders = [order for order in permutations(plain) if [len(values[k]) for k in order] == sizes]
    scores = {order: sum(near[k][block] for block, k in enumerate(order)) for order in orders}
    best = max(scores.values(), default=0)
    chosen = [order for order, score in scores.items() if score == best]
    return chosen[0] if len(chosen) == 1 and best > scores.get(plain, -1) else plain


def _meets(value: Sequence[Node], block: Sequence[Node], vanishing: frozenset[str]) -> bool:
    """Whether a value goes to the old one of a block with the step size."""
    known: dict[int, float] = {}
    pairs = [(_at(v, known, vanishing), _at(b, known, vanishing)) for v, b in zip(value, block, strict=False)]
    return len(value) == len(block) and all(abs(v - b) <= NEAR * (1.0 + abs(b)) for v, b in pairs)


def _at(node: Node, known: dict[int, float], vanishing: frozenset[str]) -> float:
    """Return a value at one point: no noise, a small step, names spread over numbers of their own."""
    waiting = [node]
    while waiting:
        one = waiting[-1]
        missing = [part for part in one.args if isinstance(part, Node) and part.serial not in known]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        try:
            known[one.serial] = _one(one, [known[p.serial] for p in one.args if isinstance(p, Node)], vanishing)
        except (ArithmeticError, ValueError, KeyError):
            known[one.serial] = math.nan
    return known[node.serial]


def _one(node: Node, parts: list[float], vanishing: frozenset[str]) -> float:
    if node.value is not None:
        return node.value
    match node.op:
        case "leaf" if str(node.args[0]) in vanishing:
            return SMALL * _spread(str(node.args[0]), float(str(node.args[1])))
        case "leaf" | "field":
            return _spread(str(node.args[0]), *parts, float(str(node.args[1])))
        case "draw" | "old draw":
            return 0.0
        case "add":
            return parts[0] + parts[1]
        case "mul":
            return 0.0 if 0.0 in parts else parts[0] * parts[1]  # without noise, whatever it is multiplied by
        case "pow":
            return math.pow(parts[0], parts[1])
        case "call":
            return float(FOLLOWED[str(node.args[0])](parts[0]))
        case _:
            return math.nan


def _spread(name: str, *numbers: float) -> float:
    """Return a number between 1 and 2 that names and positions do not share."""
    mixed = sum((k + 1) * ord(letter) for k, letter in enumerate(name)) + sum(7.3 * x for x in numbers)
    return 1.5 + 0.5 * math.sin(mixed)
