"""The states of a recursion, solutions of equations among them, before every row, at many draws at a time."""

from collections.abc import Mapping

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.evaluate import Point, evaluate_rows, extents
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.recursion import weights_of_stages

MOST = 2e5
"""Formulas of states in all rows, up to which they are evaluated unasked: some 15 seconds."""


def fields_of_states(target: Target) -> set[str]:
    """Return the fields of the data that the states of a target depend on."""
    return {name for state in target.recursion for name in dependence(state.next).data}


def formulas_of_states(target: Target, rows: int) -> int:
    """Return how many formulas have to be evaluated for the states in all rows."""
    stages = len(weights_of_stages(target))
    return rows * sum(stages if own.staged else 1 for own in target.recursion)


def states_before_rows(target: Target, at: Point, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Return the states that the log likelihood of a row reads, at every draw and row: `[draw, row, m, n]`.

    Args:
        target: with a recursion, its formulas about the blocks in `at`.
        at: parameters, and blocks at draws, `[draw, m, n]`.
        rows: the fields of the data, `[row, 1, column]`.
    """
    states = {own.block.name: evaluate_rows(own.start, at, {}) for own in target.recursion}
    staged = [own for own in target.recursion if own.staged]
    others = [own for own in target.recursion if not own.staged]
    stages = [{n: evaluate_rows(w, at, {}) for n, w in weights.items()} for weights in weights_of_stages(target)]
    fields = {name: rows[name] for name in fields_of_states(target)}
    read = {*()} if target.log_likelihood is None else {*states} & {*dependence(target.log_likelihood).blocks}
    kept: dict[str, list[Array]] = {name: [] for name in read}
    for k in range(len(next(iter(rows.values())))):
        row = {name: values[k : k + 1] for name, values in fields.items()}
        for weights in stages:
            inside = {**row, **states, **weights}
            states |= {own.block.name: evaluate_rows(own.next, at, inside) for own in staged}
        for name in read:
            kept[name].append(states[name])
        inside = {**row, **states}
        states |= {own.block.name: evaluate_rows(own.next, at, inside) for own in others}
    draws = max(len(values) for values in at.names.values() if values.ndim == 3)
    shapes = {own.block.name: extents(own.block.shape, at.sizes) or (1, 1) for own in target.recursion}
    return {
        name: np.stack([np.broadcast_to(one, (draws, *shapes[name])) for one in values], axis=1)
        for name, values in kept.items()
    }
