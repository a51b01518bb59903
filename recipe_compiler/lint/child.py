"""The child process: runs a user's file under limits, calls its step on symbols, and writes down what it computed."""

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NoReturn

import numpy as np

from recipe_compiler.lint import nodes
from recipe_compiler.lint.arrays import Traced, TracedFunction, traced
from recipe_compiler.lint.calls import called_often
from recipe_compiler.lint.draws import FollowedDraws
from recipe_compiler.lint.nodes import Node, UntraceableError, tape
from recipe_compiler.lint.order import order_of
from recipe_compiler.lint.plain_run.returned import NUMBERS, is_listed, returned
from recipe_compiler.lint.user_file import run_file, watch_files, watched
from recipe_compiler.lint.values import ExactOperators, Symbolic, SymbolicFunction, made, node_of
from recipe_compiler.verify.core.processes import bound

ASLEEP = 15.0
"""Seconds of the wall clock that one call may take: more than one that computes needs on a busy machine."""

OVER = "it did not end in"

Json = dict[str, Any]


def main() -> None:
    """Answer the request on standard input, on standard output; the file's own output goes nowhere."""
    request = json.loads(sys.stdin.buffer.read())
    answer_to = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(2000)
    bound(request["memory"], request["total"], file=request["largest"])
    text = json.dumps(_answer(request)).encode("ascii")
    with os.fdopen(answer_to, "wb") as stream:
        stream.write(text)
    os._exit(0)  # whatever the file has left running ends here


def _answer(request: Json) -> Json:
    try:
        with _timer(request["seconds"]):
            names = run_file(request["file"], request["text"])
    except BaseException as error:  # a user's file may raise anything, SystemExit too; it is reported as its failure
        return {"file": _failure(error)}
    step = names.get(request["step"])
    if not callable(step):
        return {"file": {"line": 0, "reason": f"`{request['step']}` is {type(step).__name__}, not a function"}}
    watch_files()
    cases: list[Json] = []
    for case in request["cases"]:
        try:
            call = partial(_traced, names, step, request, case)
            tape.lines.clear()
            tape.codes.clear()
            found = called_often(call, names, frozenset(request["globals"]))
            cases.append(found | {"left": _lines_left()})
        except BaseException as error:  # so may its step
            cases.append({"failed": _failure(error)})
            if tape.failed is not None and tape.failed[1].startswith(OVER):
                return {"cases": cases + cases[-1:] * (len(request["cases"]) - len(cases))}
    return {"cases": cases}


def _traced(names: Json, step: Callable[..., Any], request: Json, case: Json, *, closely: bool) -> Json:
    """Return what a call computes; where it is accepted or refused by chance, what it does either way."""
    found = _one_way(names, step, request, case, closely=closely, answer=True)
    if not found["compared"]:
        return found
    return found | {"otherwise": _one_way(names, step, request, case, closely=closely, answer=False)}


def _one_way(names: Json, step: Callable[..., Any], request: Json, case: Json, *, closely: bool, answer: bool) -> Json:
    tape.begin(answer=answer)
    stand_ins = {item["name"]: _stand_in(item) for item in case["stand_ins"]}
    names.update({name: stand_ins[name] for name in request["globals"]})
    positional = [stand_ins[name] for name in request["positional"]]
    keywords = {name: stand_ins[name] for name in request["keywords"]}
    constant = _constant(case, stand_ins)
    with _timer(request["seconds"]):
        result = watched(lambda: step(*positional, **keywords), closely=closely)
    _refuse_changed(stand_ins, constant)
    values, order = _outputs(result, case["outputs"], stand_ins, frozenset(case["vanishing"]))
    roots = [node for flat in values for node in flat]
    if any(node.by_chance for node in roots):
        nodes.refuse_uniform()
    compared = list(tape.compared or ())
    partial = list(tape.partial)
    groups = [[node for row in covariance for node in row] for _, covariance in tape.groups]
    every = [*roots, *compared, *(node for _, node, _ in partial), *(node for group in groups for node in group)]
    written = nodes.written(every)
    place = written.place
    return {
        "nodes": written.lines,
        "at": written.at,
        "outputs": [[place[node.serial] for node in flat] for flat in values],
        "draws": tape.draws,
        "uniforms": len(tape.uniforms),
        "compared": [place[node.serial] for node in compared],
        "groups": [
            [own, [place[node.serial] for node in group]] for (own, _), group in zip(tape.groups, groups, strict=True)
        ],
        "partial": [[what, place[node.serial], line] for what, node, line in partial],
        "given": list(tape.given),
        "rounded": [list(item) for item in written.rounded],
        "order": list(order),
    }


def _constant(case: Json, stand_ins: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the entries of arrays that every call is given alike: parameters and data, no blocks, no gradients."""
    own = [item["name"] for item in case["stand_ins"] if item["is"] == "array" and item["of"] is None]
    arrays = {name: stand_ins[name] for name in own if name not in case["outputs"]["names"]}
    return {name: list(array.ravel()) for name, array in arrays.items() if isinstance(array, np.ndarray)}


def _refuse_changed(stand_ins: Mapping[str, Any], before: Mapping[str, list[Any]]) -> None:
    """Refuse a step that writes into what every call is given alike: the next one is given something else.

    Raises:
        UntraceableError: what it writes into.
    """
    for name, entries in before.items():
        if any(node_of(x) is not node_of(y) for x, y in zip(stand_ins[name].ravel(), entries, strict=True)):
            why = "the next call is given what this one left there"
            raise UntraceableError(f"it changes its argument {name} in place: {why}; copy it before")


def _lines_left() -> list[int]:
    """Return the lines of the functions that calls entered, that none of them ran."""
    every = {line for code in tape.codes for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
    return sorted(every - tape.lines)


def _stand_in(item: Json) -> Any:
    """Return what is given for an argument."""
    shape = tuple(item["shape"])
    match item["is"]:
        case "generator":
            return FollowedDraws()
        case "number":
            return int(item["value"])
        case "normals":
            return FollowedDraws().normals(shape or None)
        case _:
            leaves = [nodes.leaf(item["name"], k) for k in range(int(np.prod(shape, dtype=int)))]
    if item["is"] == "step size":
        return Symbolic(leaves[0], positive=True)
    if item["of"] is None:
        return _arranged(leaves, shape)

    def at(*arguments: object) -> Any:
        point = _point(item, arguments)
        return _arranged([nodes.entry(item["name"], k, point) for k in range(len(leaves))], shape)

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


def _point(item: Json, arguments: tuple[object, ...]) -> list[Node]:
    """Return the coordinates of the point a function of the document is taken at."""
    shapes: list[list[int]] = item["of"]
    if len(arguments) != len(shapes):
        raise UntraceableError(f"{item['name']} called with {len(arguments)} arguments, expected {len(shapes)}")
    found: list[Node] = []
    for argument, shape in zip(arguments, shapes, strict=True):
        found += _entries(argument, tuple(shape), f"an argument of {item['name']}")
    return found


def _entries(value: object, shape: tuple[int, ...], what: str) -> list[Node]:
    array = np.asarray(traced(value) if not isinstance(value, Symbolic) else value, dtype=object)
    if array.shape != shape and not (array.size == 1 and not shape):
        raise UntraceableError(f"{what} has shape {array.shape}, expected {shape}")
    return [node for x in array.reshape(-1) if (node := node_of(x)) is not None]


def _outputs(
    result: object, outputs: Json, stand_ins: Mapping[str, Any], vanishing: frozenset[str]
) -> tuple[list[list[Node]], tuple[int, ...]]:
    """Return the new entries of the state, argument by argument in the order of the document, and where each stood."""
    names: list[str] = outputs["names"]
    shapes = [tuple(shape) for shape in outputs["shapes"]]
    order = tuple(range(len(names)))
    try:
        values = returned(result, names, outputs["called"], stand_ins, (*NUMBERS, ExactOperators))
    except ValueError as error:
        raise UntraceableError(str(error)) from None
    if is_listed(result, len(names)):
        old = [[nodes.leaf(name, k) for k in range(prod(shape))] for name, shape in zip(names, shapes, strict=True)]
        order = order_of([_flat(value) for value in values], old, vanishing)
        values = [values[k] for k in order]
    entries = [_entries(v, shape, f"the new {name}") for v, shape, name in zip(values, shapes, names, strict=True)]
    return entries, order


def _flat(value: object) -> list[Node]:
    """Return the entries of a value that was returned, whatever its shape."""
    array = np.asarray(traced(value) if not isinstance(value, Symbolic) else value, dtype=object)
    return [node for x in array.reshape(-1) if (node := node_of(x)) is not None]


def _failure(error: BaseException) -> Json:
    """Return the line of the file at which something was raised, and what it was."""
    if tape.failed is not None:
        return {"line": tape.failed[0], "reason": tape.failed[1], "exception": "UntraceableError"}
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == tape.file]
    line = (error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 0) or 0
    name = type(error).__name__
    said = "" if isinstance(error, SystemExit) else " ".join(str(error).split())[:300]
    reason = "it ended the program" if isinstance(error, SystemExit) else f"{name}: {said}" if said else name
    return {"line": line, "reason": reason, "exception": name}


@contextlib.contextmanager
def _timer(seconds: float) -> Generator[None, None, None]:
    """Interrupt what computes too long, or sleeps, where the system can, so that its line is known."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def over(*_: object) -> NoReturn:
        raise UntraceableError(f"{OVER} {seconds:g} s")

    def asleep(*_: object) -> NoReturn:
        raise UntraceableError(f"{OVER} {ASLEEP:g} s by the clock")

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, over, seconds), (signal.SIGALRM, signal.ITIMER_REAL, asleep, ASLEEP))
    for number, timer, handler, limit in timers:
        signal.signal(number, handler)
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for _, timer, _, _ in timers:
            signal.setitimer(timer, 0)
