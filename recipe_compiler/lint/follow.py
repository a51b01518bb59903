"""Tracing of a step on symbols: its file runs in a child process, and one call is recorded operation by operation."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import TracedArray, TracedArrayFunction, trace_array
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName
from recipe_compiler.lint.draws import FollowedDraws, replace_randomness
from recipe_compiler.lint.nodes import Node, UntraceableError, tape
from recipe_compiler.lint.numpy_names import replace_math, replace_numpy
from recipe_compiler.lint.order import find_order
from recipe_compiler.lint.user_file import (
    Names,
    call_step,
    get_array_shape,
    list_unreached_lines,
    run_file,
    run_in_child,
)
from recipe_compiler.lint.values import Symbolic, SymbolicFunction, find_node, make_number
from recipe_compiler.trace.operations import Operation, Partial, Trace, Untraced
from recipe_compiler.verify.core.sizes import Sizes


def follow_step(ask: Binding, sizes: Sequence[Sizes]) -> tuple[Trace | Untraced, ...]:
    """Return what a step computes at each choice of sizes, by calling it on symbols in a child process."""
    return run_in_child(ask, _load_traced, [partial(_follow_call, ask, at) for at in sizes])


def _load_traced(ask: Binding) -> Names:
    replace_randomness(FollowedDraws)
    modules = {"numpy": replace_numpy(), "math": replace_math()}
    return run_file(ask.source.file, ask.source.text, modules, exactly=True)


def _follow_call(ask: Binding, sizes: Sizes, names: Names) -> Trace:
    """Return the trace of a call; of both branches where a uniform draw accepts or rejects."""
    tape.lines.clear()
    tape.codes.clear()
    found = _follow_branch(ask, sizes, names, answer=True)
    if found.compared:
        other = _follow_branch(ask, sizes, names, answer=False)
        if found.order != other.order:  # blocks may be exchanged where a move is accepted
            found, other = _order_as_returned(found), _order_as_returned(other)
        found = _join_branches(found, other)
    return replace(found, left=list_unreached_lines())


def _join_branches(one: Trace, other: Trace) -> Trace:
    """Return both branches of a call as one trace, in which shared operations occur once.

    Raises:
        UntraceableError: they draw, or compare, different numbers.
    """
    known: dict[Operation, int] = {}
    lines: list[int] = []

    def joined(trace: Trace) -> Trace:
        at: list[int] = []
        for operation, line in zip(trace.operations, trace.lines, strict=True):
            own = replace(operation, parts=tuple(at[k] for k in operation.parts))
            at.append(known.setdefault(own, len(known)))
            lines[at[-1] :] = lines[at[-1] :] or [line]
        return replace(
            trace,
            outputs=tuple(tuple(at[k] for k in flat) for flat in trace.outputs),
            groups=tuple((own, tuple(at[k] for k in flat)) for own, flat in trace.groups),
            partial=tuple(replace(partial, argument=at[partial.argument]) for partial in trace.partial),
            compared=tuple(at[k] for k in trace.compared),
        )

    one, other = joined(one), joined(other)
    if (one.draws, one.uniforms, one.groups) != (other.draws, other.uniforms, other.groups):
        raise UntraceableError("accepted and rejected moves draw different numbers")
    if one.compared != other.compared:
        raise UntraceableError("the condition for acceptance depends on its own outcome")
    given, rounded = one.given + other.given, one.rounded + other.rounded
    return replace(
        one,
        operations=tuple(known),
        lines=tuple(lines),
        otherwise=other.outputs,
        partial=tuple(dict.fromkeys(one.partial + other.partial)),
        given=tuple(dict.fromkeys(given)),
        rounded=tuple(dict.fromkeys(rounded)),
    )


def _follow_branch(ask: Binding, sizes: Sizes, names: Names, *, answer: bool) -> Trace:
    """Return the trace of a call in which a comparison with a uniform draw has the given answer.

    Raises:
        UntraceableError: it cannot be followed.
    """
    tape.begin(answer=answer)
    given = {one.name: _make_argument(one, ask, sizes) for one in ask.given}
    values, listed = call_step(ask, names, given)
    shapes = {one.name: get_array_shape(one, ask, sizes) for one in ask.outputs}
    arrays = [_make_array(value) for value in values]
    flats = [_flatten(array) for array in arrays]
    if any(node.by_chance for flat in flats for node in flat):
        nodes.refuse_uniform()
    groups = [(own, [node for row in covariance for node in row]) for own, covariance in tape.groups]
    compared = list(tape.compared or ())
    everything = [*flats, compared, *(flat for _, flat in groups)]
    written = nodes.collect_operations(
        [node for flat in (*everything, [node for _, node, _ in tape.partial]) for node in flat]
    )

    def places(flat: Sequence[Node]) -> tuple[int, ...]:
        return tuple(written.place[node.serial] for node in flat)

    outputs = [*map(places, flats)]
    order = tuple(range(len(values)))
    if listed:
        vanishing = frozenset(one.name for one in ask.given if one.vanishes)
        order = find_order(
            written.operations, outputs, {name: prod(shape) for name, shape in shapes.items()}, vanishing
        )
    for k, (name, shape) in zip(order, shapes.items(), strict=True):
        _demand_shape(arrays[k], shape, f"the new {name}")
    return Trace(
        written.operations,
        tuple(outputs[k] for k in order),
        tape.draws,
        len(tape.uniforms),
        tuple((tuple(own), places(flat)) for own, flat in groups),
        tuple(Partial(what, written.place[node.serial], line) for what, node, line in tape.partial),
        tuple(tape.given),
        written.rounded,
        order,
        lines=written.lines,
        compared=places(compared),
    )


def _order_as_returned(trace: Trace) -> Trace:
    """Return a trace whose values are the blocks in the order in which they were returned."""
    values = dict(zip(trace.order, trace.outputs, strict=True))
    plain = tuple(range(len(values)))
    return replace(trace, outputs=tuple(values[k] for k in plain), order=plain)


def _make_argument(given: BoundName, ask: Binding, sizes: Sizes) -> Any:
    """Return the symbols that are passed for an argument."""
    shape = get_array_shape(given, ask, sizes)
    match given.kind:
        case "generator":
            return FollowedDraws()
        case "size":
            return length(given.size, sizes)
        case "normals":
            return FollowedDraws().normals(shape or None)
        case "eps":
            return Symbolic(nodes.leaf(given.name, 0), positive=True)
        case _:
            leaves = [nodes.leaf(given.name, k) for k in range(prod(shape))]
    if not given.of or given.kind == STATE:
        return _arrange(leaves, shape)

    def at(*arguments: object) -> Any:
        point = _read_point(given, arguments, sizes)
        return _arrange([nodes.entry(given.name, k, point) for k in range(len(leaves))], shape)

    if not shape:
        return SymbolicFunction(leaves[0], at)
    found = _arrange(leaves, shape).view(TracedArrayFunction)
    found.at = at
    return found


def _arrange(flat: Sequence[Node], shape: tuple[int, ...]) -> Any:
    """Return nodes as a traced number or array of a shape."""
    if not shape:
        return make_number(flat[0])
    found = np.empty(len(flat), dtype=object)
    found[:] = [make_number(node) for node in flat]
    return found.reshape(shape).view(TracedArray)


def _read_point(given: BoundName, arguments: tuple[object, ...], sizes: Sizes) -> list[Node]:
    """Return the coordinates of the point a function of the document is taken at."""
    if len(arguments) != len(given.of):
        raise UntraceableError(f"{given.name} called with {len(arguments)} arguments, expected {len(given.of)}")
    found: list[Node] = []
    for argument, block in zip(arguments, given.of, strict=True):
        found += _read_entries(argument, _get_lengths(block.shape, sizes), f"an argument of {given.name}")
    return found


def _get_lengths(shape: Shape, sizes: Sizes) -> tuple[int, ...]:
    return tuple(length(size, sizes) for size in shape.sizes)


def _read_entries(value: object, shape: tuple[int, ...], what: str) -> list[Node]:
    array = _make_array(value)
    _demand_shape(array, shape, what)
    return _flatten(array)


def _make_array(value: object) -> np.ndarray:
    return np.asarray(trace_array(value) if not isinstance(value, Symbolic) else value, dtype=object)


def _demand_shape(array: np.ndarray, shape: tuple[int, ...], what: str) -> None:
    if array.shape != shape and not (array.size == 1 and not shape):
        raise UntraceableError(f"{what} has shape {array.shape}, expected {shape}")


def _flatten(array: np.ndarray) -> list[Node]:
    """Return the entries of an array, whatever its shape."""
    return [node for x in array.reshape(-1) if (node := find_node(x)) is not None]
