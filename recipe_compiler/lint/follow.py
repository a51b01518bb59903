"""A step followed on symbols: its file is run in a child process, and one call is noted operation by operation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import Traced, TracedFunction, traced
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName
from recipe_compiler.lint.draws import FollowedDraws, replace_randomness
from recipe_compiler.lint.nodes import Node, UntraceableError, tape
from recipe_compiler.lint.numpy_names import math_names, numpy_names
from recipe_compiler.lint.order import order_of
from recipe_compiler.lint.user_file import Names, array_shape, call_step, run_file, run_in_child, unreached_lines
from recipe_compiler.lint.values import Symbolic, SymbolicFunction, made, node_of
from recipe_compiler.trace.operations import Operation, Partial, Trace, Untraced
from recipe_compiler.verify.core.sizes import Sizes


def follow_step(ask: Binding, sizes: Sequence[Sizes]) -> tuple[Trace | Untraced, ...]:
    """Return what a step computes at each choice of sizes, by calling it on symbols in a child process."""
    return run_in_child(ask, _loaded, [partial(_followed, ask, at) for at in sizes])


def _loaded(ask: Binding) -> Names:
    replace_randomness(FollowedDraws)
    modules = {"numpy": numpy_names(), "math": math_names()}
    return run_file(ask.source.file, ask.source.text, modules, exactly=True)


def _followed(ask: Binding, sizes: Sizes, names: Names) -> Trace:
    """Return what a call computes; where it is accepted or refused by chance, what it does either way."""
    tape.lines.clear()
    tape.codes.clear()
    found = _one_way(ask, sizes, names, answer=True)
    if found.compared:
        other = _one_way(ask, sizes, names, answer=False)
        if found.order != other.order:  # blocks may be exchanged where a move is accepted
            found, other = _as_returned(found), _as_returned(other)
        found = _both_ways(found, other)
    return replace(found, left=unreached_lines())


def _both_ways(one: Trace, other: Trace) -> Trace:
    """Return both ways of a call as one trace, in which operations that they share stand once.

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


def _one_way(ask: Binding, sizes: Sizes, names: Names, *, answer: bool) -> Trace:
    """Return what a call computes where a comparison by chance is answered so.

    Raises:
        UntraceableError: it cannot be followed.
    """
    tape.begin(answer=answer)
    given = {one.name: _stand_in(one, ask, sizes) for one in ask.given}
    values, listed = call_step(ask, names, given)
    shapes = {one.name: array_shape(one, ask, sizes) for one in ask.outputs}
    arrays = [_array(value) for value in values]
    flats = [_flat(array) for array in arrays]
    if any(node.by_chance for flat in flats for node in flat):
        nodes.refuse_uniform()
    groups = [(own, [node for row in covariance for node in row]) for own, covariance in tape.groups]
    compared = list(tape.compared or ())
    everything = [*flats, compared, *(flat for _, flat in groups)]
    written = nodes.written([node for flat in (*everything, [node for _, node, _ in tape.partial]) for node in flat])

    def places(flat: Sequence[Node]) -> tuple[int, ...]:
        return tuple(written.place[node.serial] for node in flat)

    outputs = [*map(places, flats)]
    order = tuple(range(len(values)))
    if listed:
        vanishing = frozenset(one.name for one in ask.given if one.vanishes)
        order = order_of(written.operations, outputs, {name: prod(shape) for name, shape in shapes.items()}, vanishing)
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


def _as_returned(trace: Trace) -> Trace:
    """Return a trace whose values are the blocks in the order in which they were returned."""
    values = dict(zip(trace.order, trace.outputs, strict=True))
    plain = tuple(range(len(values)))
    return replace(trace, outputs=tuple(values[k] for k in plain), order=plain)


def _stand_in(given: BoundName, ask: Binding, sizes: Sizes) -> Any:
    """Return what is given for an argument."""
    shape = array_shape(given, ask, sizes)
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
        return _arranged(leaves, shape)

    def at(*arguments: object) -> Any:
        point = _point(given, arguments, sizes)
        return _arranged([nodes.entry(given.name, k, point) for k in range(len(leaves))], shape)

    if not shape:
        return SymbolicFunction(leaves[0], at)
    found = _arranged(leaves, shape).view(TracedFunction)
    found.at = at
    return found


def _arranged(flat: Sequence[Node], shape: tuple[int, ...]) -> Any:
    if not shape:
        return made(flat[0])
    found = np.empty(len(flat), dtype=object)
    found[:] = [made(node) for node in flat]
    return found.reshape(shape).view(Traced)


def _point(given: BoundName, arguments: tuple[object, ...], sizes: Sizes) -> list[Node]:
    """Return the coordinates of the point a function of the document is taken at."""
    if len(arguments) != len(given.of):
        raise UntraceableError(f"{given.name} called with {len(arguments)} arguments, expected {len(given.of)}")
    found: list[Node] = []
    for argument, block in zip(arguments, given.of, strict=True):
        found += _entries(argument, _numbers(block.shape, sizes), f"an argument of {given.name}")
    return found


def _numbers(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(length(size, sizes) for size in shape.sizes)


def _entries(value: object, shape: tuple[int, ...], what: str) -> list[Node]:
    array = _array(value)
    _demand_shape(array, shape, what)
    return _flat(array)


def _array(value: object) -> np.ndarray:
    return np.asarray(traced(value) if not isinstance(value, Symbolic) else value, dtype=object)


def _demand_shape(array: np.ndarray, shape: tuple[int, ...], what: str) -> None:
    if array.shape != shape and not (array.size == 1 and not shape):
        raise UntraceableError(f"{what} has shape {array.shape}, expected {shape}")


def _flat(array: np.ndarray) -> list[Node]:
    """Return the entries of an array, whatever its shape."""
    return [node for x in array.reshape(-1) if (node := node_of(x)) is not None]
