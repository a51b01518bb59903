"""Chains of one call of `sample`: side by side on threads, in short pieces, so that an interrupt ends them soon."""

# Emitted files carry this code without annotations, and call it.

import os
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

_STILL = 50  # draws: of fewer, moves that may be refused need not have moved one


def _room(start, chains, count):
    """Return room for `count` draws of every chain, by block (chain, draw, size). Raises ValueError for too many."""
    try:
        return {name: np.empty((chains, count, block.size)) for name, block in start.items()}
    except (MemoryError, ValueError):
        found = f"draws and warmup: found {count} in all for each of {chains} chains"
        raise ValueError(f"{found}, expected as many as memory has room for: take fewer, and a larger thin") from None


def _checked_progress(progress, warmup):
    """Return what is called with the draws of every chain, how many are asked for and whether it is the last call.

    None where nothing is told. progress: False; True, for a line on stderr; or a function, called as progress(chain,
    draws, total, phase) for each chain that has more draws than before. TypeError for anything else.
    """
    if not (isinstance(progress, bool) or callable(progress)):
        expected = "True, False or a function progress(chain, draws, total, phase)"
        raise TypeError(f"progress: found {type(progress).__name__}, expected {expected}")
    if not progress:
        return None
    before = {}

    def call(done, total, ended):
        for chain, draws in enumerate(done):
            if before.get(chain) != draws:
                before[chain] = draws
                progress(chain, draws, total, "warmup" if draws < warmup else "draws")

    def print_line(done, total, ended):
        line = f"\r{sum(done)} of {len(done) * total} draws"
        print(line, end="\n" if ended else "", file=sys.stderr, flush=True)

    return print_line if progress is True else call


def _telling(tell, callback, cut, drawn, warmup):
    """Return what is called as `_checked_progress` says, and hands `callback` the draws that all chains have so far.

    cut(drawn): the draws as they are returned. Raises TypeError.
    """
    if callback is None:
        return tell
    if not callable(callback):
        raise TypeError(f"callback: found {type(callback).__name__}, expected None or a function callback(draws)")
    before = [0]

    def call(done, total, ended):
        if tell:
            tell(done, total, ended)
        count = min(done) - warmup
        if count > before[0]:
            before[0] = count
            callback(cut({name: array[:, warmup : warmup + count] for name, array in drawn.items()}))

    return call


def _goes_on(states, init):
    """Whether `init` is a state that `sample` returned: then chains go on from it, with its random streams.

    states: per chain, all that it is by name; where so, they take what is in `init`. Raises ValueError.
    """
    if not init or "noise_state" not in init:
        return False
    for name in states[0]:
        held = np.asarray(init.get(name, ()))
        for chain, state in enumerate(states):
            shape = (len(states), *state[name].shape)
            if held.shape != shape or held.dtype != state[name].dtype:
                found, expected = f"{held.shape} of {held.dtype}", f"{shape} of {state[name].dtype}"
                raise ValueError(
                    f"init of {name}: found an array {found}, expected {expected}, as `sample` returned it"
                )
            state[name][...] = held[chain]
    return True


def _left(states):
    """Return the state that chains are in, by name: arrays (chain, ...)."""
    return {name: np.array([state[name] for state in states]) for name in states[0]}


def _advance(piece, chains, draws, threads, tell, most):
    """Make all draws of every chain on threads, at most `most` of them in a piece; return how many each has.

    piece(chain, first, last) makes some and returns how many were kept: fewer where the chain ends there. All chains
    end with the piece that they are at where one raises, or the caller is interrupted.
    """
    done, stop = [0] * chains, threading.Event()

    def work(chain):
        asked = 1
        while done[chain] < draws and not stop.is_set():
            asked = min(asked, most, draws - done[chain])
            begin = time.perf_counter()
            kept = piece(chain, done[chain], done[chain] + asked)
            done[chain] += kept
            if kept < asked:
                return
            asked = max(1, min(10 * asked, int(0.1 * asked / (time.perf_counter() - begin + 1e-9))))

    piece(0, 0, 0)  # compiles
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ThreadPoolExecutor(threads or cores) as pool:
        try:
            left = {pool.submit(work, chain) for chain in range(chains)}
            while left:
                ended, left = wait(left, timeout=0.2)
                if tell:
                    tell([*done], draws, not left)
                for one in ended:
                    one.result()
        finally:
            stop.set()
    return done


def _run_chains(run, names, given, states, drawn, threads, tell, of_draw=None):
    """Fill `drawn` with the draws of chains, each by itself; return how many draws each has.

    names: of the arguments of `run`. given: those of all chains. states: per chain, its own. of_draw(draw): what takes
    the place of the given, where the step size falls along a chain.
    """

    def piece(chain, first, last):
        rows = {f"{name}_draws": array[chain, first:last] for name, array in drawn.items()}
        own = {**given, **states[chain], **rows, **(of_draw(first) if of_draw else {})}
        return run(*[own[name] for name in names])

    chains, draws, _ = next(iter(drawn.values())).shape
    return _advance(piece, chains, draws, threads, tell, 1 if of_draw else draws)


def _rows_of_64(values):
    """Return rows of 64 as one flat array that starts at a multiple of 512 bytes, where their loops are fastest."""
    room = np.empty(values.size + 64, values.dtype)
    start = -room.ctypes.data % 512 // 8
    flat = room[start : start + values.size]
    flat[:] = values.ravel()
    return flat


def _run_lanes(run_lanes, names, passed, given, states, drawn, threads, tell, of_draw=None):
    """Fill `drawn` with the draws of chains, up to 64 side by side; return how many draws each has.

    passed: names of what a step takes of a state and leaves. Others are those of `_run_chains`; lanes that are
    left over run idly. A lane that ended goes on with what is no number, and nothing of it is counted.
    """
    chains, draws, _ = next(iter(drawn.values())).shape
    sizes = [array.shape[2] for array in drawn.values()]
    most = 1 if of_draw else max(1, (1 << 22) // (64 * sum(sizes)))
    done, ended = [0] * chains, [False] * chains
    groups = [range(first, min(first + 64, chains)) for first in range(0, chains, 64)]
    held = []
    for group in groups:
        of_lanes = [states[group[min(lane, len(group) - 1)]] for lane in range(64)]
        lanes = np.array([np.concatenate([own[name] for name in passed]) for own in of_lanes])
        words = np.array([own["noise_state"] for own in of_lanes])
        held.append({"lanes": _rows_of_64(lanes.T), "noise_state": _rows_of_64(words.T)})

    def piece(number, first, last):
        rows, kept = np.empty((last - first, 64 * sum(sizes))), np.zeros(64, np.int64)
        own = {**given, **held[number], "kept": kept, "lanes_draws": rows, **(of_draw(first) if of_draw else {})}
        run_lanes(*[own[name] for name in names])
        blocks = np.split(rows.reshape(last - first, sum(sizes), 64), np.cumsum(sizes)[:-1], axis=1)
        for lane, chain in enumerate(groups[number]):
            for array, block in zip(drawn.values(), blocks, strict=True):
                array[chain, first:last] = block[:, :, lane]
            done[chain] += 0 if ended[chain] else int(kept[lane])
            ended[chain] |= bool(kept[lane] < last - first)
        return last - first

    def leave_states():
        ends = np.cumsum([states[0][name].size for name in passed])[:-1]
        for group, own in zip(groups, held, strict=True):
            lanes, words = (own[name].reshape(-1, 64).T for name in ("lanes", "noise_state"))
            for lane, chain in enumerate(group):
                for name, values in zip(passed, np.split(lanes[lane], ends), strict=True):
                    states[chain][name][:] = values
                states[chain]["noise_state"][:] = words[lane]

    def tell_of_lanes(of_group, total, last):
        tell([of_group[chain // 64] for chain in range(chains)], total, last)

    _advance(piece, len(groups), draws, threads, tell and tell_of_lanes, most)
    leave_states()
    return done


def _after_warmup(drawn, done, warmup):
    """Return the draws after warmup; those that a chain does not have are NaN, and told by a RuntimeWarning."""
    draws = next(iter(drawn.values())).shape[1]
    ended = {chain: count for chain, count in enumerate(done) if count < draws}
    for chain, count in ended.items():
        for array in drawn.values():
            array[chain, count:] = np.nan
    if ended:
        found = ", ".join(f"chain {chain} after {count} of {draws} draws" for chain, count in ended.items())
        said = f"left the finite numbers: {found}, which are NaN from there on"
        warnings.warn(f"{said}; take a smaller step_size, or start elsewhere (init)", RuntimeWarning, stacklevel=3)
    return {name: array[:, warmup:] for name, array in drawn.items()}


def _tell_still(name, array):
    """Warn of chains in which a block is the same in all draws: they tell nothing of its law."""
    still = np.flatnonzero((array == array[:, :1]).all(axis=(1, 2)))
    if array.shape[1] >= _STILL and still.size:
        found = f"{name} is the same in all {array.shape[1]} draws of chain {', '.join(map(str, still))}"
        warnings.warn(f"{found}: take another step_size, or start elsewhere (init)", RuntimeWarning, stacklevel=3)
