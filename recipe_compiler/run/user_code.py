"""Functions of a user's file, a gradient or moves: what they are given, their trial before a chain calls them, blame.

A gradient is tried as one of an emitted file is (`emit/support/trial.py`). A move leads from finite numbers to finite
numbers, changes no blocks but those that it is said to change, and is a function of what it is given; that it preserves
exp(-H) is taken on its author's word.
"""

import zlib
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.support.trial import _doubt_draws, _points_near, _shown_point, _try_slopes
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.load_module import Emitted, load_function
from recipe_compiler.spec.model import Build, Code, CodeMove, Target

Words = NDArray[np.uint64]
Named = Mapping[str, Any]

UNWRITTEN = float(np.nextafter(np.inf, 0.0))
"""What stands where nothing was written: no gradient is the largest of all numbers."""

TIMES = 100
"""How often a move is tried, 25 times in a row from a start of a chain."""

MORE = 1000
"""How often besides, where it has left a block as it was each time."""

MARGIN = 64
"""So many entries before and behind an array are looked at too: jitted code writes beyond one unseen."""

UNTOUCHED = np.uint64(0x7FF8_5EED_5EED_5EED)
"""What stands there: a NaN that no arithmetic makes."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeGradient:
    """The gradient that a target's author computes, and what it is given."""

    function: Callable[..., object]
    """Jitted; writes into its first argument."""
    call: str
    """How it is called, for messages."""
    given: Named
    """Parameters and data, in the order it takes them."""
    width: int
    """Entries of the gradient."""
    rows: int
    batch_size: int | None
    """Rows of a minibatch, None where the function takes all of them."""

    def of_batch(self, theta: Array, batch: Words | None) -> Array:
        """Return what the function makes of a batch of rows; of None where it takes all."""
        out = np.full(self.width, UNWRITTEN)
        self.function(out, theta, *self.given.values(), *(() if batch is None else (batch,)))
        return out

    def full(self, theta: Array) -> Array:
        """Return grad U of all data."""
        every = None if self.batch_size is None else np.arange(self.rows, dtype=np.uint64)
        return self.of_batch(np.ascontiguousarray(theta, dtype=np.float64), every)


@dataclass(frozen=True, slots=True, eq=False)
class CalledMove:
    """The function of a move of a cycle, and what it is given."""

    argument: str
    """What the module calls it."""
    function: Callable[..., object]
    """Jitted; changes its first arguments in place."""
    call: str
    """How it is called, for messages."""
    changes: tuple[str, ...]
    """The blocks that it changes, in the order that it takes them."""
    reads: tuple[str, ...]
    """Likewise, of those that it reads besides."""
    names: tuple[str, ...]
    """Those of all blocks of the state."""
    given: Named
    """Parameters and data, in the order that it takes them."""


def code_gradient(
    target: Target, width: int, parameters: Named, data: Named, rows: int, batch_size: int | None
) -> CodeGradient | None:
    """Return the function that computes a target's gradient, None where formulas do. It is run, once.

    Args:
        target: names the file and the function.
        width: coordinates of the potential's block.
        parameters: values by name, those of the target among them.
        data: arrays by name.
        rows: the number of data.
        batch_size: rows of a minibatch, None where the function takes all of them.

    Raises:
        RunError: the file has no such function, or it cannot be compiled, raises, or leaves entries unwritten.
    """
    if target.gradient is None:
        return None
    given = _given(target, parameters, data)
    arguments = ", ".join(("out", "theta", *given, *(() if batch_size is None else ("batch",))))
    call = f"{target.gradient.file}: {target.gradient.function}({arguments})"
    gradient = CodeGradient(load_function(target.gradient), call, given, width, rows, batch_size)
    _of_gradient(gradient, np.full(width, 1.0 / (width + 1.0)))  # inside every domain but intervals elsewhere
    return gradient


def called_moves(module: Emitted, build: Build, parameters: Named, data: Named) -> tuple[CalledMove, ...]:
    """Return the moves of a build that are code, each once. Their files are run; they are not called.

    Args:
        module: the emitted module of `build`.
        build: names files and functions.
        parameters: values by name, those of the target among them.
        data: arrays by name, as the chain reads them.

    Raises:
        RunError: a file has no such function, or cannot be run.
    """
    moves = {(move.code, move.changes, move.reads): move for move in build.scheme.cycle if isinstance(move, CodeMove)}
    loaded: dict[Code, Callable[..., object]] = {move.code: load_function(move.code) for move in moves.values()}
    arguments = dict(zip(loaded, (name for name, _ in module.code if name != "gradient"), strict=True))
    names = tuple(block.name for block in build.dynamics.declarations.blocks)
    given = _given(build.target, parameters, data)

    def called(move: CodeMove) -> CalledMove:
        taken = ", ".join((*move.changes, *move.reads, *given, "stream"))
        call = f"{move.code.file}: {move.code.function}({taken})"
        return CalledMove(arguments[move.code], loaded[move.code], call, move.changes, move.reads, names, given)

    return tuple(map(called, moves.values()))


def _given(target: Target, parameters: Named, data: Named) -> Named:
    declared = target.declarations
    return {item.name: {**parameters, **data}[item.name] for item in (*declared.parameters, *declared.data)}


@contextmanager
def blaming(codes: Sequence[Code]) -> Generator[None]:
    """Report what an emitted module raises as a fault of the user's functions that it calls.

    Nothing else that is compiled there raises but for want of memory. Numba does not always say where: it may be any.

    Raises:
        RunError: in the place of what one of them raises.
    """
    try:
        yield
    except Exception as error:
        from numba.core.errors import NumbaError

        if not codes or isinstance(error, MemoryError | NumbaError):
            raise
        guilty = " or ".join(map(str, codes))
        raise RunError(f"{guilty} raises {type(error).__name__} where a chain calls it: {error}") from error


def try_gradient(gradient: CodeGradient, starts: Sequence[Array]) -> None:
    """Check a gradient that is code at the states where chains start, and between them.

    Raises:
        RunError: it is not finite at a start, differs at a second call, writes to its arguments, has an asymmetric
            Jacobian, or its average over minibatches is not the gradient of all data; with numbers.
    """
    call = gradient.call
    with np.errstate(all="ignore"), _keeping(call, ("out",), gradient.given):
        for k, start in enumerate(starts):
            _finite(call, *_of_gradient(gradient, start, f"where chain {k + 1} starts, at"))
        try:
            _try_at(gradient, _points_near(starts))
        except ValueError as error:
            raise RunError(str(error)) from None


def _try_at(gradient: CodeGradient, points: Sequence[Array]) -> None:
    of_batch = None if gradient.batch_size is None else gradient.of_batch
    if points:
        _try_slopes(gradient.call, points, gradient.full, of_batch, gradient.rows)


def doubt_gradient(gradient: CodeGradient, name: str, theta: Array) -> str:
    """Return in words where a gradient that is code is none at draws, or how these leave for good; else nothing.

    Args:
        gradient: as chains called it.
        name: of the block that it is the gradient by.
        theta: chain x draw x coordinate.
    """
    return _doubt_draws(name, theta, gradient.full, partial(_try_at, gradient)) or ""


def _of_gradient(gradient: CodeGradient, theta: Array, where: str = "at") -> tuple[str, dict[str, Array]]:
    """Return where it was called, and what it gives there of a batch of as many rows as a step takes."""
    size, where = gradient.batch_size, f"{where} theta = {_shown_point(theta)}"
    batch = {} if size is None else {"batch": np.arange(size, dtype=np.uint64) % gradient.rows}
    given = {"out": np.full(gradient.width, UNWRITTEN), "theta": theta, **gradient.given, **batch}
    return where, _called(gradient.call, where, gradient.function, given, ("out",), gradient.given)


def try_moves(moves: Sequence[CalledMove], starts: Sequence[tuple[Array, ...]]) -> None:
    """Check moves that are code at the states where chains start, and at those where they lead.

    Raises:
        RunError: one does not run, is not finite, changes what it is not said to change, or differs at a second call
            with the same state and stream; with numbers.
    """
    rng = np.random.default_rng(0)
    for move in moves:
        still, state = {*move.changes}, dict[str, Array]()
        with np.errstate(all="ignore"), _keeping(move.call, move.changes, move.given):
            for k in range(TIMES + MORE):
                if k % 25 == 0 or k >= TIMES:
                    state = dict(zip(move.names, starts[(k if k >= TIMES else k // 25) % len(starts)], strict=True))
                taken = {name: state[name] for name in (*move.changes, *move.reads)}
                where = f"at {', '.join(f'{name} = {_shown_point(value)}' for name, value in taken.items())}"
                given = {**taken, **move.given, "stream": rng.integers(1, 2**64, 4, dtype=np.uint64)}
                made = _called(move.call, where, move.function, given, move.changes, move.given)
                still -= {name for name in still if _bits(made[name]) != _bits(state[name])}
                state |= _finite(move.call, where, made)
                if k >= TIMES and not still:
                    break
        for name in sorted(still):
            expected = f"expected it to change {name} in place, `{name}[:] = -{name}`: `{name} = -{name}` is another"
            raise RunError(f"{move.call} leaves {name} as it is, {MORE} times and more: {expected} array")


def _called(
    call: str, where: str, function: Callable[..., Any], given: Named, changed: Sequence[str], left: Container[str]
) -> dict[str, Array]:
    """Return what a function makes of arguments that it may change, of copies of them; they stay as they are.

    Raises:
        RunError: it cannot be compiled, raises, returns a value, leaves an entry unwritten, gives other bits at a
            second call, or writes outside of arrays or to what it may not change, but for what is `left` for later.
    """
    from numba.core.errors import NumbaError

    calls = list[dict[str, Any]]()
    for _ in "12":
        wide = {name: _widened(one) for name, one in given.items() if name not in left}
        arguments = {**given, **{name: one[MARGIN:-MARGIN].view(given[name].dtype) for name, one in wide.items()}}
        calls.append(arguments)
        with _keeping(call, changed, {name: arguments[name] for name in wide if name not in {*changed, "stream"}}):
            try:
                returned = function(*arguments.values())
            except NumbaError as error:
                lines = [line.strip() for line in str(error).splitlines() if line.strip()]
                raise RunError(f"{call} cannot be compiled by numba: {' '.join(lines[:3])}") from error
            except Exception as error:  # the user's own code may raise anything
                raise RunError(f"{call} raises {type(error).__name__} {where}: {error}") from error
        for name, one in wide.items():
            size, places = one.size - 2 * MARGIN, np.flatnonzero(one != UNTOUCHED) - MARGIN
            for k in places[(places < 0) | (places >= size)]:
                raise RunError(f"{call} writes to {name}[{k}]: expected places from 0 to {size - 1} alone")
        said = "" if returned is None else ", and returns a value, which is ignored"
        for name in changed:
            for k in np.flatnonzero(arguments[name] == UNWRITTEN):
                expected = f"expected grad U in `out`, of {arguments[name].size} entries"
                raise RunError(f"{call} leaves {name}[{k}] unwritten{said}: {expected}")
        if said and "out" not in changed:
            raise RunError(
                f"{call} returns a value, which is ignored: expected it to change {', '.join(changed)} in place"
            )
    once, again = calls
    for name in changed:
        for k in np.flatnonzero(once[name].view(np.uint64) != again[name].view(np.uint64)):
            found = f"{name}[{k}] = {once[name][k]:.17g} at one call and {again[name][k]:.17g} at the next"
            raise RunError(f"{call} gives {found}: expected the same, of the same arguments")
    return {name: once[name] for name in changed}


def _widened(values: Array | Words) -> Words:
    """Return a copy of an array, bit by bit, between margins."""
    return np.pad(np.ascontiguousarray(values).view(np.uint64), MARGIN, constant_values=UNTOUCHED)


def _finite(call: str, where: str, made: dict[str, Array]) -> dict[str, Array]:
    for name, values in made.items():
        for k in np.flatnonzero(~np.isfinite(values)):
            raise RunError(f"{call} gives {name}[{k}] = {values[k]} {where}: expected finite numbers")
    return made


@contextmanager
def _keeping(call: str, changed: Sequence[str], values: Named) -> Generator[None]:
    """Demand that values are, bit by bit, what they were."""
    before = {name: _bits(value) for name, value in values.items()}
    try:
        yield
    finally:
        for name, bits in before.items():
            if _bits(values[name]) != bits:
                raise RunError(f"{call} writes to {name}: expected it to change {', '.join(changed)} alone")


def _bits(value: Any) -> int:
    return zlib.crc32(cast("Any", np.ascontiguousarray(value).view(np.uint8)))
