"""Functions of a user's file, a gradient or moves: what they are given, their trial before a chain calls them, blame.

A gradient has a symmetric Jacobian J, the Hessian of U: W^T J W = (W^T J W)^T for all directions W, with

    J w = (g(theta + h w) - g(theta - h w))/(2 h) + O(h^2);

differences at 2 h show how wrong these are. The estimate from a minibatch is tried as an average: over batches that
share the data out it gives the gradient of all data. A symmetric error goes unnoticed: a term left out, such as the
Jacobian of a transform. A move leads from finite numbers to finite numbers, changes no blocks but those that it is said
to change, and is a function of what it is given; that it preserves exp(-H) is taken on its author's word.
"""

import zlib
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.load_module import Emitted, load_function
from recipe_compiler.run.map_estimate import units_of
from recipe_compiler.spec.model import Build, Code, CodeMove, Target

Array = NDArray[np.float64]
Words = NDArray[np.uint64]
Named = Mapping[str, Any]

UNWRITTEN = float(np.nextafter(np.inf, 0.0))
"""What stands where nothing was written: no gradient is the largest of all numbers."""

POINTS = 3
"""States at which a gradient is tried."""

DIRECTIONS = 20
"""Random directions W at each, where theta has more coordinates than MOST_NAMED; else those of the coordinates."""

MOST_NAMED = 60

STEPS = (1e-4, 1e-2)
"""h in units of 1/sqrt(|d^2 U/d theta_i^2|): the second for gradients in single precision."""

SIGNIFICANT = 10.0
"""How many times its own error an asymmetry must be."""

LEAST = 1e-6
"""The smallest asymmetry, over the largest entry of W^T J W, that is one."""

ROUNDING = 1e-6
"""How far averages over minibatches may be apart, over the size of their parts."""

SHARES = 16
"""Into how many batches the data are shared out."""

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
    rng, call = np.random.default_rng(0), gradient.call
    with np.errstate(all="ignore"), _keeping(call, ("out",), gradient.given):
        for k, start in enumerate(starts):
            _finite(call, *_of_gradient(gradient, start, f"where chain {k + 1} starts, at"))
        for k in range(POINTS):
            start = starts[k % len(starts)]  # moved a little: where it is as simple as zero much is symmetric by luck
            theta = start + 0.1 * (0.1 + np.abs(start)) * rng.standard_normal(start.size)
            if np.isfinite(gradient.full(theta)).all():
                _demand_symmetry(gradient, theta, rng)
                _demand_average(gradient, theta, rng)


def _of_gradient(gradient: CodeGradient, theta: Array, where: str = "at") -> tuple[str, dict[str, Array]]:
    """Return where it was called, and what it gives there of a batch of as many rows as a step takes."""
    size, where = gradient.batch_size, f"{where} theta = {_shown(theta)}"
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
                where = f"at {', '.join(f'{name} = {_shown(value)}' for name, value in taken.items())}"
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


def _demand_symmetry(gradient: CodeGradient, theta: Array, rng: np.random.Generator) -> None:
    units, width = units_of(gradient.full, theta), theta.size
    named = width <= MOST_NAMED
    W = np.eye(width) if named else rng.choice([-1.0, 1.0], (DIRECTIONS, width))

    def products(h: float) -> Array:
        ahead, behind = (np.array([gradient.full(theta + sign * h * units * w) for w in W]) for sign in (1.0, -1.0))
        return W @ (units * (ahead - behind)).T / (2.0 * h)

    for h in STEPS:
        S, wide = products(h), products(2.0 * h)
        apart = S - S.T
        error = np.abs(wide - wide.T - apart).max()
        i, j = np.unravel_index(int(np.argmax(np.abs(apart))), apart.shape)
        if abs(apart[i, j]) > max(SIGNIFICANT * error, LEAST * np.abs(S).max()):
            scale = units[i] * units[j]
            one, other = f"d out[{i}]/d theta[{j}]", f"d out[{j}]/d theta[{i}]"
            says = f"{one} = {S[i, j] / scale:.6g}, {other} = {S[j, i] / scale:.6g}"
            says = says if named else f"v.Ju = {S[i, j]:.6g}, u.Jv = {S[j, i]:.6g} in some directions u, v"
            found = f"is no gradient: its Jacobian is not symmetric at theta = {_shown(theta)}: {says}"
            raise RunError(f"{gradient.call} {found}. Expected the gradient of one function U")


def _demand_average(gradient: CodeGradient, theta: Array, rng: np.random.Generator) -> None:
    """The estimates from batches that share the data out have the gradient of all data as their mean."""
    if gradient.batch_size is None:
        return
    order = rng.permutation(gradient.rows).astype(np.uint64)
    batches = np.array_split(order, min(SHARES, gradient.rows))
    parts = np.array([gradient.of_batch(theta, batch) for batch in batches])
    mean = np.array([batch.size for batch in batches]) @ parts / gradient.rows
    whole = gradient.full(theta)
    off = np.abs(mean - whole) - ROUNDING * (np.abs(parts).max(axis=0) + np.abs(whole))
    for k in np.flatnonzero(~(off <= 0.0)):
        found = f"out[{k}] is {mean[k]:.6g} on average over {len(batches)} batches, {whole[k]:.6g} for all data"
        expected = "expected the same: grad of -log prior + (N/n) times the sum over a batch of n rows, of any n"
        raise RunError(f"{gradient.call} is no unbiased estimate at theta = {_shown(theta)}: {found}; {expected}")


def _shown(theta: Array) -> str:
    return f"[{', '.join(f'{x:.4g}' for x in theta[:4])}{', ...' if theta.size > 4 else ''}]"
