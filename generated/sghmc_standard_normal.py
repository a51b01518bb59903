"""sghmc_standard_normal: Stochastic gradient Hamiltonian Monte Carlo, for standard_normal.

To sample, with NumPy and Numba only:

    import sghmc_standard_normal

    draws = sghmc_standard_normal.sample()
    draws["theta"].mean(axis=(0, 1))  # shape: (chain, draw, d)
    help(sghmc_standard_normal.sample)  # all arguments

Parameters:
    m: a number, positive; default 1.0
    c: a number, nonnegative; default 1.0

State:
    theta: (d,), real
    r: (d,), real

Draws, each of shape (chain, draw, ...):
    theta: (d,)
    r: (d,)

The build:
    step_size 0.1, draws 1000, warmup 50, thin 20, chains 4, seed 1

Energy:
    H = U(theta) + r.T @ inv(M) @ r / 2
    U = theta.T @ theta / 2

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[r,r] = C
    Q[theta,r] = -I
    Q[r,theta] = I
    Gamma = 0
    f[theta] = r/m
    f[r] = -grad(U, theta) - c*r/m

With:
    M = m*I
    C = c*I

Step:
    sequential Euler: r, then theta; the noise covariance is evaluated at the old state; weak order 1
    grad U over all data; noise N(0, 2 eps D)

Proved:
    D is symmetric (index calculus for every size; second engine)
    D is positive semidefinite (structure of D)
    Q is skew (index calculus for every size; second engine)
    exp(-H) is stationary (index calculus for every size; second engine)
    the claimed drift equals the derived drift (index calculus for every size; second engine)
    exp(-H) is stationary for the claimed equation (index calculus for every size; second engine)
    exp(-H) has a finite integral (growth at the ends of the domain; second engine)
    the marginal of the target's blocks is exp(-U) (index calculus for every size; second engine)
    exp(-H) has the claimed marginal (index calculus for every size; second engine)
    the log posterior is defined inside the domain (rules of definedness and smoothness)
    the log posterior is differentiable inside the domain (rules of definedness and smoothness)
    the values bound in the build have the declared kinds (structure, exact values)
    V is positive semidefinite (structure of V)
    2D - eps B_hat is positive semidefinite (the gradient is exact)
    D and Q do not reuse the gradient's minibatch (there is no minibatch)

Not checked here:
    the discretisation bias of the stationary distribution: it is computed for quadratic U only

References:
    Tianqi Chen, Emily B. Fox, Carlos Guestrin (2014): Stochastic Gradient Hamiltonian Monte Carlo. Proceedings of
        the 31st International Conference on Machine Learning. arXiv:1402.4102
    Yi-An Ma, Tianqi Chen, Emily B. Fox (2015): A Complete Recipe for Stochastic Gradient MCMC. Advances in Neural
        Information Processing Systems 28. arXiv:1506.04696

Origin:
    Emitted by recipe_compiler (format 3) from sghmc and standard_normal, by version 0.1.0 of that package.
    Spec digest (SHA-256): 10328ed57cdfc3f9fc8ea1d2ff66890713bb05d85e0f8aab86a80c6f72b99502
    Licence of this text: BSD-3-Clause, Copyright (c) 2026, The recipe_compiler authors; that of the formulas is
    their authors' own.
"""

import math
import os
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def gradient(theta_i):
    """Return grad_U[i] = theta[i]."""
    grad_U_i = theta_i
    return grad_U_i


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(theta, r, m, c, scale_r, noise_r, eps):
    """Write one step (sequential euler) of a chunk of entries, in place; draw nothing."""
    entries = theta.shape[0]
    for i in range(entries):
        theta_i = theta[i]
        r_i = r[i]
        noise_r_i = noise_r[i]
        grad_U_i = gradient(theta_i)
        # r_new[i] = r[i] + eps*(-grad_U[i] - c r[i]/m) + noise
        reciprocal = 1.0 / m
        r_new_i = r_i + scale_r * noise_r_i + eps * (-grad_U_i - c * r_i * reciprocal)
        # theta_new[i] = theta[i] + eps*(r_new[i]/m)
        theta_new_i = theta_i + eps * (reciprocal * r_new_i)
        r[i] = r_new_i
        theta[i] = theta_new_i


def sample(
    *, d=100, m=1.0, c=1.0, step_size=0.1, draws=1000, warmup=50, thin=20, chains=4, seed=1, init=None, progress=False,
    threads=None, first_chain=0, callback=None, return_state=False,
):  # fmt: skip
    """Return draws by name, as arrays of shape (chain, draw, ...); the first `warmup` draws are dropped.

    m a number, c a number. help(sghmc_standard_normal) describes the arguments and the draws. Every `thin`-th state
    is kept. init: initial states, a dict with any of theta or r, each (size,) for all chains or (chain, size).
    progress: True reports on stderr; a function is called as progress(chain, draws, total, phase), phase being
    warmup or draws. threads: None uses all cores; the draws depend on the seed only, not on the number of threads.
    first_chain: the number of the first chain, whose streams depend on it and the seed alone. callback: called a
    few times a second with the draws so far, as they are returned. return_state: returns (draws, state); with
    init=state, warmup=0 chains go on from there, bit for bit as one long run.

    Raises TypeError or ValueError for invalid arguments; warns of chains that ended early.
    """
    sizes = {}
    sizes["d"] = _checked_number("d", d, whole=True, least=1)
    m = _checked_number("m", m, above=0)
    c = _checked_number("c", c, least=0)
    eps = _checked_number("step_size", step_size, above=0)
    draws = _checked_number("draws", draws, whole=True, least=1)
    warmup = _checked_number("warmup", warmup, whole=True, least=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    chains = _checked_number("chains", chains, whole=True, least=1)
    seed = _checked_number("seed", seed, whole=True, least=0)
    first_chain = _checked_number("first_chain", first_chain, whole=True, least=0)
    tell = _checked_progress(progress, warmup)
    if threads is not None:
        threads = _checked_number("threads", threads, whole=True, least=1)
    given = {"m": m, "c": c, "eps": eps, "thin": thin}
    given.update(_constants(CONSTANTS, prepare(m, c, eps, sizes["d"])))
    drawn = _room(first_state(seed, 0, m, sizes["d"]), chains, warmup + draws)
    starts = [first_state(seed, first_chain + chain, m, sizes["d"]) for chain in range(chains)]
    starts = _checked_starts(starts, init)
    noise, _ = seed_streams(seed, chains, first_chain)
    states = [{**starts[chain], "noise_state": noise[chain]} for chain in range(chains)]
    _goes_on(states, init)

    def cut(drawn):
        return {"theta": drawn["theta"], "r": drawn["r"]}

    tell = _telling(tell, callback, cut, drawn, warmup)
    done = _run_chains(run, ARGUMENTS, given, states, drawn, threads, tell)
    drawn = _after_warmup(drawn, done, warmup)
    _tell_still("theta", drawn["theta"])
    found = cut(drawn)
    return (found, _left(states)) if return_state else found


def first_state(seed, chain, m, d):
    """Return where a chain starts, by the blocks of the state."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    theta = rng.uniform(-2.0, 2.0, d)

    def energy(r):
        r = r.reshape((d, 1))
        return float((((np.asarray(m) ** np.asarray(-1.0)) * r.T) @ r).reshape(()) * 0.5)

    r = _draw_law(rng, d, energy)
    return {"theta": theta, "r": r}


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def sweep(theta, r, m, c, scale_r, noise_state, noise_r, eps):
    """Advance all entries by one step, in place, as many at a time as have room for their noise."""
    for first in range(0, theta.shape[0], noise_r.shape[0]):
        last = min(first + noise_r.shape[0], theta.shape[0])
        _fill_normals_lanes(noise_state, noise_r[: last - first])
        step(theta[first:last], r[first:last], m, c, scale_r, noise_r, eps)


def prepare(m, c, eps, d):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    scale_r = _noise_scale(2.0 * c, 0.0, eps, "r")
    return (scale_r,)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, r, m, c, scale_r, eps, thin, noise_state, theta_draws, r_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64; a block is as long
    as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for each that is asked for, as wide
    as the block; random states are rows of what `seed_streams` returns.

    Chunks: no entry touches another, so gradient, drift and noise of an entry are computed together, in place, and the
    noise of a chunk of entries at a time.
    """
    _wide_vectors()
    noise_r = _empty_rows(8)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            sweep(theta, r, m, c, scale_r, noise_state, noise_r, eps)
        finite = 0
        for entry in range(theta.shape[0]):
            theta_draws[kept, entry] = theta[entry]
            finite += abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite += abs(r[entry]) <= 1.7976931348623157e308
        if finite < 2 * theta.shape[0]:
            return kept
    return theta_draws.shape[0]


def seed_streams(seed, chains, first_chain=0):
    """Return the states of the noise and of the minibatch stream of chains; no two streams are the same."""
    return _seed_words(seed, chains, 0, 256, first_chain), _seed_words(seed, chains, 1, 4, first_chain)


# Facts: what `sample`, and programs that load this module, read of it.
FORMAT = 3
SPEC_DIGEST = "10328ed57cdfc3f9fc8ea1d2ff66890713bb05d85e0f8aab86a80c6f72b99502"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", "d"), ("r", "d"))
SIZES = ("d",)
PARAMETERS = ("m", "c")
CONSTANTS = ("scale_r",)
DATA = ()
ARGUMENTS = ("theta", "r", "m", "c", "scale_r", "eps", "thin", "noise_state", "theta_draws", "r_draws")
POTENTIAL_BLOCK = "theta"


# Support: checks, random streams, stable functions, as far as what stands above calls them.


@intrinsic
def _wide_vectors(_):
    """Let loops of the function that calls this use registers of 512 bits, where the processor has them.

    LLVM takes half as wide ones for Intel's processors, as the first that had wide ones slowed down with them. The set
    of attributes is written into LLVM's text as it is; its own `add` knows none that have a value.
    """

    def build(context, builder, signature, arguments):
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), build


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_bits(s0, s1, s2, s3):
    """Return 64 random bits and the state after them (Blackman and Vigna 2021, xoshiro256++)."""
    total = s0 + s3
    bits = ((total << 23) | (total >> 41)) + s0
    shifted = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << 45) | (s3 >> 19)
    return bits, s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _minus_two_log(x):
    """Return -2 log(x) to 2 ulp for normal x > 0: x = 2**k m, sqrt(1/2) <= m < sqrt(2), t = 4 (1 - m)/(1 + m).

    Then -2 log(m) = 4 atanh(t/4) = t + t**3 p(t**2), with p of degree 6 in pairs: shorter chains of operations.
    """
    bits = np.float64(x).view(np.uint64)
    k = np.int64(bits - np.uint64(0x3FE6A09E667F3BCD)) >> 52
    m = np.uint64(bits - np.uint64(k << 52)).view(np.float64)
    t = (1.0 - m) / (0.25 + 0.25 * m)
    z = t * t
    low = 0.020833333333333547 + z * 0.0007812499999884652
    middle = 3.4877232353103505e-05 + z * 1.6954191919059589e-06
    high = 8.670602875527406e-08 + z * 4.5638792810468e-09 + z * z * 2.7563792849176723e-10
    p = low + z * z * (middle + z * z * high)
    k = np.float64(k)
    return k * -1.3862943607382476 + (t + (t * z * p + k * -3.8164298585411754e-10))


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _circle_point(bits):
    """Return cos and sin to 2 ulp, at an angle uniform on the circle: 52 bits within a quarter, 2 bits for which.

    The quarter lies about 0: x is the angle over pi/2, in [-1/2, 1/2).
    """
    x = np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.5
    z = x * x
    s = 5.6344631588402386e-08
    s = s * z - 3.5986477759195397e-06
    s = s * z + 0.00016044115216851901
    s = s * z - 0.0046817541325625996
    s = s * z + 0.0796926262460598
    s = s * z - 0.6459640975062448
    s = s * z + 1.5707963267948966
    s = x * s
    c = -6.324128083636905e-09
    c = c * z + 4.7106364577487296e-07
    c = c * z - 2.5202037759532392e-05
    c = c * z + 0.0009192602743673871
    c = c * z - 0.020863480763329178
    c = c * z + 0.2536695079010476
    c = c * z - 1.2337005501361697
    c = c * z + 1.0
    c = np.uint64(np.float64(c).view(np.uint64) ^ (bits << 63)).view(np.float64)
    turned = (bits & np.uint64(2)) != np.uint64(0)
    return (s if turned else c), (c if turned else s)


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _normal_pair(a, b):
    """Return two independent N(0, 1) draws made of two random words (Box and Muller 1958).

    The radius is sqrt(-2 log u) with u the middle of one of 2**52 equal parts of (0, 1). It ends at 8.57, beyond
    which a pair of normals falls with probability 2**-53.
    """
    u = np.uint64((a >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 0.9999999999999999
    radius = math.sqrt(_minus_two_log(u))
    c, s = _circle_point(b)
    return radius * c, radius * s


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _empty_rows(rows):
    """Return an array for `rows` rows of 64 numbers, with any content, that starts at a multiple of 512 bytes."""
    room = np.empty(64 * rows + 64)
    start = (512 - room.ctypes.data % 512) // 8
    return room[start : start + 64 * rows]


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_bits_of(state, lane):
    """Return 64 random bits of a lane (uint64, as all offsets here: no sign, no wraparound); its state moves on."""
    s0, s1 = state[lane], state[np.uint64(64) + lane]
    s2, s3 = state[np.uint64(128) + lane], state[np.uint64(192) + lane]
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    state[lane], state[np.uint64(64) + lane] = s0, s1
    state[np.uint64(128) + lane], state[np.uint64(192) + lane] = s2, s3
    return bits


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_pairs(state, words):
    """Fill `words` (uint64, whole pairs of rows of 64) with the bits of N(0, 1) draws, one pair of each lane at a time.

    Words, because arrays of one type are known not to overlap by fewer comparisons than arrays of two.
    """
    _wide_vectors()
    for row in range(0, np.uint64(words.size), np.uint64(128)):
        for lane in range(np.uint64(64)):
            one, other = _normal_pair(_next_bits_of(state, lane), _next_bits_of(state, lane))
            words[row + lane] = np.float64(one).view(np.uint64)
            words[row + np.uint64(64) + lane] = np.float64(other).view(np.uint64)


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals_lanes(state, out):
    """Fill `out` with N(0, 1) draws of 64 lanes; `state` (uint64[256]) moves on.

    Draw 128 k + l and draw 128 k + 64 + l are a pair of lane l. All lanes move on together: what is left over of the
    last pairs is not used again.
    """
    whole = out.size // 128 * 128
    _fill_pairs(state, out[:whole].view(np.uint64))
    if whole < out.size:
        rows = _empty_rows(2)
        _fill_pairs(state, rows.view(np.uint64))
        out[whole:] = rows[: out.size - whole]


def _noise_scale(two_D, B_hat, eps, block):
    """Return sqrt(eps (2D - eps B_hat)) of numbers; a negative variance is refused with the largest step allowed."""
    variance = eps * (two_D - eps * B_hat)
    if variance < 0.0:
        raise ValueError(_too_long(eps, two_D / B_hat if two_D > 0.0 else 0.0, block))
    return np.sqrt(variance)


def _too_long(eps, eps_max, blocks):
    """Return the message for a step whose gradient noise exceeds the noise the dynamics inject."""
    cure = f"take eps <= eps_max = {float(eps_max)!r}" if eps_max > 0.0 else "no step size makes it so: D is too small"
    return f"2D - eps B_hat of {blocks} is not positive semidefinite at eps = {float(eps)!r}: {cure}"


def _seed_words(seed, chains, stream, words, first_chain=0):
    """Return the states of a stream of xoshiro256++ of chains, uint64 [chains, words]: 4 words for each lane.

    In memory they start at a multiple of 512 bytes, the length of a row of 64 lanes, and so does every one of them.
    """
    room = np.empty(chains * words + 64, np.uint64)
    start = -room.ctypes.data % 512 // 8
    states = room[start : start + chains * words].reshape(chains, words)
    for chain in range(chains):
        own = np.random.SeedSequence(seed, spawn_key=(first_chain + chain, stream))
        states[chain] = own.generate_state(words, np.uint64)
    return states


def _checked_array(name, array, shape, sizes, values=(), dtype="float64"):
    """Return real numbers as a contiguous array; sizes that are names are positive and the same wherever they occur.

    Lists, integers, other floats, other layouts and byte orders are converted, and what may not be written to is
    copied, as jitted code would be compiled for it once more; a memory map is read where it is. Refused is what would
    be lost by it or has no meaning here: masks, text, objects, complex numbers, integers that float64 cannot hold,
    other shapes, numbers that are not finite or not one of `values`, and rows that pandas labels otherwise than others
    of the same size. Raises TypeError, ValueError: what was found, what was expected.
    """
    masked = isinstance(array, np.ma.MaskedArray)
    try:
        found = np.asarray(None if masked else array)
    except ValueError:  # rows of different lengths
        found = np.asarray(None)
    if found.dtype.kind not in "buif" or found.dtype.itemsize > 8:
        plain = isinstance(array, np.ndarray) and not masked
        said = f"an array of {array.dtype}" if plain else type(array).__name__
        raise TypeError(f"{name}: found {said}, expected an array of real numbers that float64 holds")
    known = tuple(sizes.get(size, size) for size in shape)
    if not _fits(found.shape, known):
        squeezed = tuple(n for n in found.shape if n != 1)
        hint = ": give its transpose" if _fits(found.T.shape, known) else ""
        hint = f": give it by .reshape({squeezed})" if _fits(squeezed, known) else hint
        hint = hint if found.size else ": there are no numbers in it"
        raise ValueError(f"{name}: found the shape {found.shape}, expected {_shape_text(known)}{hint}")
    sizes.update({size: count for size, count in zip(known, found.shape, strict=True) if not isinstance(size, int)})
    rows, axis = getattr(array, "index", None), shape[0] if shape else 0
    if isinstance(axis, str) and hasattr(rows, "equals") and not sizes.setdefault(f"rows of {axis}", rows).equals(rows):
        told = "expected rows in one order: give .reindex of them, or .to_numpy() where labels mean nothing"
        raise ValueError(f"{name}: found rows with other labels than those before it, {told}")
    if found.dtype.kind in "ui" and (found.max(initial=0) > 2**53 or found.min(initial=0) < -(2**53)):
        raise ValueError(f"{name}: found integers beyond 2**53, expected numbers that float64 holds")
    with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, and refused
        made = np.require(found, dtype, ["C", "A"] if isinstance(array, np.memmap) else ["C", "A", "W"])
    bad = np.argwhere(~(np.isin(made, values) if len(values) else np.isfinite(made)))
    if bad.size:
        place, wanted = ", ".join(map(str, bad[0])), f"one of {list(values)}" if len(values) else "finite numbers"
        raise ValueError(f"{name}: found {made[tuple(bad[0])]} at [{place}], expected {wanted}")
    return made


def _fits(found, known):
    """Whether an array's shape is one that is known; sizes that are names stand for any number from 1 on."""
    pairs = zip(found, known, strict=False)
    return len(found) == len(known) and all(n == size if isinstance(size, int) else n > 0 for n, size in pairs)


def _shape_text(shape):
    """Return a shape as Python writes it, sizes that are not known by their names and at least 1."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _checked_number(name, number, whole=False, least=None, above=None, most=None, nonzero=False):
    """Return a number as jitted code takes it: a finite double or, where `whole`, an integer of 64 bits.

    least, above, most: its bounds. Raises TypeError, ValueError: what was found, and what was expected.
    """
    refused = (bool, np.bool_, np.ndarray, np.complexfloating)
    if isinstance(number, refused) or not hasattr(number, "__index__" if whole else "__float__"):
        raise TypeError(f"{name}: found {type(number).__name__}, expected {'an integer' if whole else 'a real number'}")
    try:
        value = int(number) if whole else float(number)
    except OverflowError:
        value = math.inf
    limits = ((least, "at least"), (above, "above"), (most, "at most"))
    said = [f"{words} {limit}" for limit, words in limits if limit is not None] + ["other than 0"] * nonzero
    low = (least is None or value >= least) and (above is None or value > above)
    fits = value.bit_length() < 64 if whole else math.isfinite(value)
    if not (fits and low and (most is None or value <= most) and (value != 0 or not nonzero)):
        found = f"an integer of {value.bit_length()} bits and a sign" if whole and not fits else value
        expected = f"{'an integer of 64 bits' if whole else 'a finite number'} {' and '.join(said)}".rstrip()
        raise ValueError(f"{name}: found {found}, expected {expected}")
    return value


def _constants(names, values):
    """Return what `prepare` computes by name, as jitted code takes it: floats and contiguous arrays."""
    return {
        name: np.ascontiguousarray(value) if np.ndim(value) else float(value)
        for name, value in zip(names, values, strict=True)
    }


_LONGEST_LAW = 256  # of a longer block the law is not computed: it starts at zero


def _draw_law(rng, length, energy):
    """Return a draw of exp(-energy(r)), r in `length` coordinates; zero where there are many or it is no Gaussian.

    energy(r) = (r - m)^T A (r - m)/2 + rest: unit second differences give A, first differences A m, both exactly up to
    rounding.
    """
    if length > _LONGEST_LAW:
        return np.zeros(length)
    unit = np.eye(length)
    with np.errstate(all="ignore"):
        origin = energy(np.zeros(length))
        ahead = np.array([energy(unit[k]) - origin for k in range(length)])
        behind = np.array([energy(-unit[k]) - origin for k in range(length)])
        A = np.diag(ahead + behind)
        for k in range(length):
            for j in range(k):
                A[k, j] = A[j, k] = energy(unit[k] + unit[j]) - origin - ahead[k] - ahead[j]
    if not np.isfinite(A).all() or np.linalg.eigvalsh(A)[0] <= 0.0:
        return np.zeros(length)
    mean = -np.linalg.solve(A, (ahead - behind) / 2.0)
    return mean + np.linalg.solve(np.linalg.cholesky(A).T, rng.standard_normal(length))


def _checked_starts(starts, init):
    """Return where chains start, with what `init` says of a block in the place of its own start.

    starts: per chain, its blocks by name. init: None, or by name an array (size,) for all chains or (chain, size).
    Raises TypeError, ValueError: what was found, and what was expected.
    """
    names = list(starts[0])
    if init is not None and not isinstance(init, dict):
        raise TypeError(f"init: found {type(init).__name__}, expected None or a dict with any of {', '.join(names)}")
    goes_on = init is not None and "noise_state" in init  # a state that `sample` returned, which has more
    for name, value in (init or {}).items():
        if goes_on and name not in names:
            continue
        if name not in names:
            raise ValueError(f"init: found {name!r}, expected any of {', '.join(names)}")
        size = starts[0][name].size
        array = np.asarray(value)
        one = array.reshape(-1) if array.size == 1 == size else array
        rows = ("chains", size) if one.ndim == 2 else (size,)
        own = _checked_array(f"init of {name}", one, rows, {"chains": len(starts)})
        for start, place in zip(starts, np.broadcast_to(own, (len(starts), size)), strict=True):
            start[name] = place.copy()
    for start in starts:
        for name, value in start.items():
            if not np.isfinite(value).all():
                raise ValueError(f"start of {name}: found {value[:5]}, expected finite numbers: state them by init")
    return starts


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
