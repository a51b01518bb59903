"""The block of each value that a step returns, found from its value at eps = 0 without noise.

A step of size zero without noise leaves a block where it is. A value that is then the old value of another block is
the new one of that block: who returns `r, theta` has not returned `theta, r`. The report names another order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import sympy
from sympy import Expr, Symbol
from sympy.core.function import UndefinedFunction

from recipe_compiler import limits
from recipe_compiler.lint.visited import Expressions
from recipe_compiler.trace.operations import Evaluation, Operation


def find_order(
    operations: Sequence[Operation], values: Sequence[Sequence[int]], old: Mapping[str, int], vanishing: frozenset[str]
) -> tuple[int, ...]:
    """Return for every block which of the values is its new one; as they stand where nothing says otherwise.

    Args:
        operations: those of the step.
        values: the places of the entries of each value returned.
        old: the arguments that hold the blocks, with the number of their entries.
        vanishing: arguments that tend to zero with the step size.
    """
    plain = tuple(range(len(old)))
    if not 2 <= len(old) <= limits.CASES:
        return plain
    at = Evaluation(operations, _AtZero(vanishing))
    found = [[sympy.expand(at.value(k)) for k in flat] for flat in values]
    sizes = [*old.values()]
    blocks = [[_name_entry(name, k) for k in range(n)] for name, n in old.items()]
    orders = [order for order in permutations(plain) if [len(values[k]) for k in order] == sizes]
    scores = {order: sum(found[k] == block for k, block in zip(order, blocks, strict=True)) for order in orders}
    best = max(scores.values(), default=0)
    chosen = [order for order, score in scores.items() if score == best]
    return chosen[0] if len(chosen) == 1 and best > scores.get(plain, -1) else plain


def _name_entry(name: str, k: int) -> Symbol:
    return Symbol(f"{name}.{k}", real=True)


@dataclass(frozen=True, slots=True)
class _AtZero(Expressions):
    """A carrier: expressions where draws, and arguments that vanish with the step size, are 0."""

    vanishing: frozenset[str]

    def done(self, one: Operation, parts: Sequence[Expr]) -> Expr:
        if one.op == "draw" or one.name in self.vanishing or (one.op == "mul" and 0 in parts):
            return sympy.Integer(0)  # without noise, whatever it is multiplied by
        if one.op in ("leaf", "field"):
            own = _name_entry(one.name, one.position)
            return UndefinedFunction(own.name, real=True)(*parts) if parts else own
        return Expressions.done(self, one, parts)
