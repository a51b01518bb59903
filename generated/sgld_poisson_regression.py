"""sgld_poisson_regression: Stochastic gradient Langevin dynamics, for poisson_regression.

To sample, with NumPy and Numba only:

    import sgld_poisson_regression

    draws = sgld_poisson_regression.sample(x, y)
    draws["theta"].mean(axis=(0, 1))  # shape: (chain, draw, 3)
    help(sgld_poisson_regression.sample)  # all arguments

Data:
    x: (N, 3), finite, float64; in the build: columns a, b of poisson_regression.csv, after a column of ones
    y: (N,), integer, nonnegative, float64; in the build: column y of poisson_regression.csv

Parameters:
    prior_variance: a number, positive; default 10.0

State:
    theta: (3,), real

Draws, each of shape (chain, draw, ...):
    theta: (3,)

The build:
    step_size 5e-05, draws 2000, warmup 500, thin 50, chains 4, seed 1

Energy:
    H = U(theta)
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = poisson_log(y, x @ theta)
    log_prior = normal(theta, 0, sqrt(prior_variance))

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[theta,theta] = D
    Q = 0
    Gamma = 0
    f[theta] = -grad(U, theta)

With:
    D = I

Step:
    Euler-Maruyama: every block is updated from the old state; weak order 1
    grad U over all data; noise N(0, 2 eps D)

Proved:
    D is symmetric (index calculus for every size; second engine)
    D is positive semidefinite (structure of D)
    Q is skew (index calculus for every size; second engine)
    exp(-H) is stationary (index calculus for every size; second engine)
    the claimed drift equals the derived drift (index calculus for every size; second engine)
    exp(-H) is stationary for the claimed equation (index calculus for every size; second engine)
    the values bound in the build have the declared kinds (structure, exact values)
    V is positive semidefinite (structure of V)
    2D - eps B_hat is positive semidefinite (the gradient is exact)
    D and Q do not reuse the gradient's minibatch (there is no minibatch)

Proved, given that y is integer; y is nonnegative:
    exp(-H) has a finite integral (growth at the ends of the domain; second engine)
    exp(-H) has the claimed marginal (index calculus for every size; second engine)
    the log posterior is defined inside the domain (rules of definedness and smoothness)
    the log posterior is differentiable inside the domain (rules of definedness and smoothness)

Not checked here:
    the discretisation bias of the stationary distribution: it is computed for quadratic U only

References:
    Max Welling, Yee Whye Teh (2011): Bayesian Learning via Stochastic Gradient Langevin Dynamics. Proceedings of
        the 28th International Conference on Machine Learning, 681-688
    Yi-An Ma, Tianqi Chen, Emily B. Fox (2015): A Complete Recipe for Stochastic Gradient MCMC. Advances in Neural
        Information Processing Systems 28. arXiv:1506.04696

Origin:
    Emitted by recipe_compiler (format 3) from sgld and poisson_regression, by version 0.1.0 of that package.
    Spec digest (SHA-256): a4581aa229c454ec248af811f39c7696fe1e7b06cf215e20641eff223ab00dd5
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


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U, theta, prior_variance, x, y):
    """Write grad_U[i] = theta[i]/prior_variance
    + sum over the data of -x[n,i] y[n] + x[n,i] exp(sum_j x[n,j] theta[j]).
    """
    N = x.shape[0]
    grad_U_0 = 0.0
    grad_U_1 = 0.0
    grad_U_2 = 0.0
    for row in range(N):
        x_0 = x[row, 0]
        x_1 = x[row, 1]
        x_2 = x[row, 2]
        x_theta = x_0 * theta[0] + x_1 * theta[1] + x_2 * theta[2]
        exp_x_theta = _exp(x_theta)
        weight = -y[row] + exp_x_theta
        grad_U_0 += x_0 * weight
        grad_U_1 += x_1 * weight
        grad_U_2 += x_2 * weight
    reciprocal = 1.0 / prior_variance
    grad_U_0 = grad_U_0 + theta[0] * reciprocal
    grad_U_1 = grad_U_1 + theta[1] * reciprocal
    grad_U_2 = grad_U_2 + theta[2] * reciprocal
    grad_U[0] = grad_U_0
    grad_U[1] = grad_U_1
    grad_U[2] = grad_U_2


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(theta_new, theta, prior_variance, scale_theta, x, y, noise_theta, eps, grad_U):
    """Write one step (euler): theta_new; draw nothing."""
    gradient(grad_U, theta, prior_variance, x, y)
    # theta_new[i] = theta[i] + eps*(-grad_U[i]) + noise
    for i in range(3):
        theta_new[i] = theta[i] + eps * (-grad_U[i]) + scale_theta * noise_theta[i]


def sample(
    x, y, *, prior_variance=10.0, step_size=5e-05, draws=2000, warmup=500, thin=50, chains=4, seed=1, init=None,
    progress=False, threads=None, first_chain=0, callback=None, return_state=False,
):  # fmt: skip
    """Return draws by name, as arrays of shape (chain, draw, ...); the first `warmup` draws are dropped.

    x (N, 3), y (N,), prior_variance a number. help(sgld_poisson_regression) describes the arguments and the draws.
    Every `thin`-th state is kept. init: initial states, a dict with any of theta, each (size,) for all chains or
    (chain, size). progress: True reports on stderr; a function is called as progress(chain, draws, total, phase),
    phase being warmup or draws. threads: None uses all cores; the draws depend on the seed only, not on the number
    of threads. first_chain: the number of the first chain, whose streams depend on it and the seed alone. callback:
    called a few times a second with the draws so far, as they are returned. return_state: returns (draws, state);
    with init=state, warmup=0 chains go on from there, bit for bit as one long run.

    Raises TypeError or ValueError for invalid arguments; warns of chains that ended early.
    """
    sizes = {}
    x = _checked_array("x", x, ("N", 3), sizes)
    x = np.asfortranarray(x)  # as the loop over its rows reads it fastest
    y = _checked_array("y", y, ("N",), sizes)
    _check_numbers("y", y, ["integer", "nonnegative"])
    prior_variance = _checked_number("prior_variance", prior_variance, above=0)
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
    given = {"prior_variance": prior_variance, "x": x, "y": y, "eps": eps, "thin": thin}
    given.update(_constants(CONSTANTS, prepare(prior_variance, eps)))
    drawn = _room(first_state(seed, 0), chains, warmup + draws)
    starts = [first_state(seed, first_chain + chain) for chain in range(chains)]
    starts = _checked_starts(starts, init)
    noise, _ = seed_streams(seed, chains, first_chain)
    states = [{**starts[chain], "noise_state": noise[chain]} for chain in range(chains)]
    _goes_on(states, init)

    def cut(drawn):
        return {"theta": drawn["theta"]}

    tell = _telling(tell, callback, cut, drawn, warmup)
    done = _run_chains(run, ARGUMENTS, given, states, drawn, threads, tell)
    drawn = _after_warmup(drawn, done, warmup)
    _tell_still("theta", drawn["theta"])
    found = cut(drawn)
    return (found, _left(states)) if return_state else found


def first_state(seed, chain):
    """Return where a chain starts, by the blocks of the state."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    theta = rng.uniform(-2.0, 2.0, 3)
    return {"theta": theta}


def prepare(prior_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    scale_theta = _noise_scale(2.0, 0.0, eps, "theta")
    return (scale_theta,)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, prior_variance, scale_theta, x, y, eps, thin, noise_state, theta_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64, the data of float64
    or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for
    each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.

    Small rows: one loop over the rows of the data, their features in scalars; in Fortran order several rows at once.
    """
    _wide_vectors()
    theta_new = np.empty(3)
    grad_U = np.empty(3)
    noise_theta = np.empty(3)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_theta)
            step(theta_new, theta, prior_variance, scale_theta, x, y, noise_theta, eps, grad_U)
            for entry in range(3):
                theta[entry] = theta_new[entry]
        finite = True
        for entry in range(3):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


def seed_streams(seed, chains, first_chain=0):
    """Return the states of the noise and of the minibatch stream of chains; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4, first_chain), _seed_words(seed, chains, 1, 4, first_chain)


# Facts: what `sample`, and programs that load this module, read of it.
FORMAT = 3
SPEC_DIGEST = "a4581aa229c454ec248af811f39c7696fe1e7b06cf215e20641eff223ab00dd5"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3),)
SIZES = ()
PARAMETERS = ("prior_variance",)
CONSTANTS = ("scale_theta",)
DATA = ("x", "y")
COLUMN_MAJOR = ("x",)
ARGUMENTS = ("theta", "prior_variance", "scale_theta", "x", "y", "eps", "thin", "noise_state", "theta_draws")
POTENTIAL_BLOCK = "theta"


# Support: checks, random streams, stable functions, as far as what stands above calls them.


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _exp(x):
    """Return exp(x) to 1 ulp: x = k log 2 + r, a polynomial in r on |r| <= log(2)/2, and 2**k in two halves."""
    x = 710.0 if x > 710.0 else x
    x = -746.0 if x < -746.0 else x
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # 1.5 * 2**52: rounds, and leaves k in the low bits
    k = shifted - 6755399441055744.0
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    p = 2.5100472505694996e-08
    p = p * r + 2.7620201591031547e-07
    p = p * r + 2.7557268276905696e-06
    p = p * r + 2.4801521057868204e-05
    p = p * r + 0.00019841269863171557
    p = p * r + 0.0013888888917367081
    p = p * r + 0.008333333333330039
    p = p * r + 0.041666666666623824
    p = p * r + 0.16666666666666669
    p = p * r + 0.5000000000000001
    p = p * (r * r) + r + 1.0
    bits = np.float64(shifted).view(np.uint64) - np.uint64(0x4337FFFFFFFFF800)  # k + 2048
    half = bits >> 1
    low = np.uint64((half - np.uint64(1)) << 52).view(np.float64)
    high = np.uint64((bits - half - np.uint64(1)) << 52).view(np.float64)
    return p * low * high


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


_TAIL = 3.6541528853610087963519472518  # where the tail starts, for 256 layers of equal area


def _ziggurat():
    """Return layer widths over 2**52, their acceptance bounds, and exp(-x**2/2) at the layer edges x.

    Widths and bounds are there twice: 256 for positive draws, then 256, with a minus sign, for negative ones.
    """
    area = _TAIL * math.exp(-0.5 * _TAIL**2) + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL / math.sqrt(2.0))
    edges = [area / math.exp(-0.5 * _TAIL**2), _TAIL]
    while len(edges) < 256:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    edges.append(0.0)
    widths = [sign * edge / 2.0**52 for sign in (1.0, -1.0) for edge in edges[:256]]
    bounds = [int(edges[k + 1] / edges[k] * 2.0**52) for k in range(256)]
    heights = [math.exp(-0.5 * edge**2) for edge in edges]
    return np.array(widths), np.array(2 * bounds, np.uint64), np.array(heights)


_WIDTHS, _BOUNDS, _HEIGHTS = _ziggurat()


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_normal_at_edge(bits, s0, s1, s2, s3):
    """Return the draw whose first bits are outside the sure part of their layer, and the state after it.

    Below the tail two uniforms decide: under the density, or a new draw. In the tail: an exponential beyond its start,
    accepted by another (Marsaglia 1964); what is refused stays in the tail. Rare, and therefore not inlined, which has
    to be said: what a function inlined by force calls would be so too.
    """
    while True:
        layer = bits & np.uint64(511)
        place = bits >> 12
        x = np.float64(place) * _WIDTHS[layer]
        if place < _BOUNDS[layer]:
            return x, s0, s1, s2, s3
        layer &= np.uint64(255)
        while True:
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            u = np.float64(bits >> 11) * 2.0**-53
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            v = np.float64(bits >> 11) * 2.0**-53
            if layer > 0:
                break
            beyond = -math.log1p(-u) / _TAIL
            if -2.0 * math.log1p(-v) >= beyond * beyond:
                return math.copysign(_TAIL + beyond, x), s0, s1, s2, s3
        height = _HEIGHTS[layer] + u * (_HEIGHTS[layer + np.uint64(1)] - _HEIGHTS[layer])
        if height < math.exp(-0.5 * x * x):
            return x, s0, s1, s2, s3
        bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_normal(s0, s1, s2, s3):
    """Return a N(0, 1) draw (Marsaglia and Tsang 2000), and the state of the random bits after it."""
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    layer = bits & np.uint64(511)
    place = bits >> 12
    if place < _BOUNDS[layer]:
        return np.float64(np.int64(place)) * _WIDTHS[layer], s0, s1, s2, s3
    return _next_normal_at_edge(bits, s0, s1, s2, s3)


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals(state, out):
    """Fill `out` with independent N(0, 1) draws; `state` (uint64[4]) moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(np.uint64(out.size)):
        out[k], s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


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


def _check_numbers(name, array, kinds):
    """Check that every number of an array is of the kinds declared. Raises ValueError."""
    for kind in kinds:
        match kind:
            case "positive":
                right = array > 0.0
            case "nonnegative":
                right = array >= 0.0
            case "nonzero":
                right = array != 0.0
            case "increasing":
                after = np.diff(array, axis=-1)
                right = np.insert(after > 0.0 if array.ndim > 1 else after >= 0.0, 0, True, axis=-1)
            case _:
                right = array == np.floor(array)
        bad = np.argwhere(~right)
        if bad.size:
            place = ", ".join(map(str, bad[0]))
            raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected {kind} numbers")


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
