"""scaled_categories: SGRLD for positive coordinates, for categories.

To draw from it, in plain Python with numpy and numba alone:

    import scaled_categories

    draws = scaled_categories.sample()
    draws["theta"].mean(axis=(0, 1))  # of an array (chain, draw, 3)
    help(scaled_categories.sample)  # settings, and what else it takes

Parameters:
    s: a number, positive; 0.5 unless it is given
    alpha: (3,), positive; [3.0, 4.0, 3.0] unless it is given
    n: (3,), nonnegative; [5.0, 8.0, 4.0] unless it is given

State:
    theta: (3,), positive

Draws, each of shape (chain, draw, ...):
    theta: (3,)
    involution_acceptance: a number, the mean probability that the involutions of a draw were accepted with

The build:
    step_size 1.0, draws 4000, warmup 100, thin 4, chains 4, seed 1

Energy:
    H = U(theta)
    U = sum(theta) - sum((alpha - ones + n)*log(theta)) + sum(n)*log(sum(theta))

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[theta,theta] = delta[i,j] theta[i]
    Q = 0
    Gamma[theta] = 1
    f[theta] = -d_theta[i] U theta[i] + 1

Step:
    a cycle of moves, one after the other, each from the state z that the one before leaves:
    involution: {theta: theta*exp(w), w: -w}, draws: {w: N(0, s**2*I)}
    w ~ N(0, s**2*I)
    theta' = theta*exp(w), w' = -w with probability min(1, a), else z
    log a = H(z) - H(z') + sum_i w[i]
    involution: {theta: theta*exp(w), w: -w}, draws: {w: N(0, s**2)}
    w ~ N(0, s**2)
    theta' = theta*exp(w), w' = -w with probability min(1, a), else z
    log a = H(z) - H(z') + d w

Proved:
    D is symmetric; Q is skew; exp(-H) is stationary; the claimed drift is the derived one; exp(-H) is stationary
        for the claimed equation; exp(-H) has the claimed marginal (index calculus for every size; second engine)
    D is positive semidefinite (structure of D)
    exp(-H) has a finite integral (growth at the ends of the domain; second engine)
    D and Q are locally Lipschitz, and vanish nowhere that splits the state space (Lipschitz; nonsingular by
        structure)
    the log posterior is defined inside the domain; the log posterior is differentiable inside the domain (rules of
        definedness and smoothness)
    what is bound is of the kind declared (structure, exact values)
    V is positive semidefinite (structure of V)
    2D - eps B_hat is positive semidefinite (the gradient is exact)
    D and Q do not reuse the gradient's minibatch (there is no minibatch)
    involutions are some, and keep exp(-H) by the ratio derived (involution: {theta: theta*exp(w), w: -w}, draws:
        {w: N(0, s**2*I)}: S o S = id, log a = H(z) - H(z') + sum_i w[i]; involution: {theta: theta*exp(w), w: -w},
        draws: {w: N(0, s**2)}: S o S = id, log a = H(z) - H(z') + d w)
    every move keeps exp(-H), and every block is moved (move 1, involution of theta; move 2, involution of theta)

Not checked here:
    exact says whether its moves keep exp(-H) whatever the step size is
    boundary: theta has a boundary, and the emitted step neither reflects nor stops there: a finite step may leave
        the domain

References:
    Sam Patterson, Yee Whye Teh (2013): Stochastic Gradient Riemannian Langevin Dynamics on the Probability Simplex.
        Advances in Neural Information Processing Systems 26
    Jack Baker, Paul Fearnhead, Emily B. Fox, Christopher Nemeth (2018): Large-Scale Stochastic Sampling from the
        Probability Simplex. Advances in Neural Information Processing Systems 31. arXiv:1806.07137

Origin:
    Emitted by recipe_compiler (format 2) from sgrld_positive and categories, by version 0.1.0 of that Python
        package.
    Spec digest (SHA-256): f8536ec90e56b47e5d131194ca02da73fb9c4ad24e042e8616a37bd1a01f3a3f
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

FORMAT = 2
SPEC_DIGEST = "f8536ec90e56b47e5d131194ca02da73fb9c4ad24e042e8616a37bd1a01f3a3f"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3),)
SIZES = ()
PARAMETERS = ("s", "alpha", "n")
CONSTANTS = ("sum_n", "scale_w_drawn", "scale_w_drawn_")
DATA = ()
ARGUMENTS = (
    "theta", "s", "alpha", "n", "sum_n", "scale_w_drawn", "scale_w_drawn_", "eps", "thin", "noise_state", "theta_draws",
    "involution_acceptance_draws",
)  # fmt: skip
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


def sample(
    *, s=0.5, alpha=None, n=None, step_size=1.0, draws=4000, warmup=100, thin=4, chains=4, seed=1, init=None,
    progress=False, threads=None,
):  # fmt: skip
    """Return draws by name, arrays (chain, draw, ...), without the first `warmup` draws of each chain.

    s a number, alpha (3,), n (3,). The top of the file, help(scaled_categories), says what they are, and what is
    returned. A draw is kept of every `thin` steps. init: where chains start, a dict with any of theta, each (size,)
    for all chains or (chain, size). progress: True tells it on stderr; a function is called as progress(chain,
    draws, total, phase), the phase warmup or draws. threads: None takes all cores; the same seed draws the same
    bits on any number of them.

    Raises TypeError, ValueError: what was found, and what was expected. Warns of a chain that ended early.
    """
    sizes = {}
    s = _checked_number("s", s, above=0)
    if alpha is None:
        alpha = [3.0, 4.0, 3.0]
    alpha = _checked_array("alpha", alpha, (3,), sizes)
    _check_kinds("alpha", alpha, ["positive"])
    if n is None:
        n = [5.0, 8.0, 4.0]
    n = _checked_array("n", n, (3,), sizes)
    _check_kinds("n", n, ["nonnegative"])
    eps = _checked_number("step_size", step_size, above=0)
    draws = _checked_number("draws", draws, whole=True, least=1)
    warmup = _checked_number("warmup", warmup, whole=True, least=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    chains = _checked_number("chains", chains, whole=True, least=1)
    seed = _checked_number("seed", seed, whole=True, least=0)
    tell = _checked_progress(progress, warmup)
    if threads is not None:
        threads = _checked_number("threads", threads, whole=True, least=1)
    given = {"s": s, "alpha": alpha, "n": n, "eps": eps, "thin": thin}
    given.update(_constants(CONSTANTS, prepare(s, alpha, n, eps)))
    drawn = _room(first_state(seed, 0), chains, warmup + draws)
    starts = [first_state(seed, chain) for chain in range(chains)]
    starts = _checked_starts(starts, init)
    _check_starts_inside("theta", starts, "positive")
    drawn["involution_acceptance"] = np.empty((chains, warmup + draws, 1))
    noise, _ = seed_streams(seed, chains)
    states = [{**starts[chain], "noise_state": noise[chain]} for chain in range(chains)]
    done = _run_chains(run, ARGUMENTS, given, states, drawn, threads, tell)
    drawn = _after_warmup(drawn, done, warmup)
    _tell_still("theta", drawn["theta"])
    _tell_outside("theta", drawn["theta"], "positive")
    return {"theta": drawn["theta"], "involution_acceptance": drawn["involution_acceptance"][:, :, 0]}


def first_state(seed, chain):
    """Return where a chain starts, by the blocks of the state."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    theta = _spread(rng.uniform(-2.0, 2.0, 3), "positive")
    return {"theta": theta}


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def potential(theta, alpha, n, sum_n):
    """Return U = sum_i log(sum_j theta[j]) n[i] + sum_i theta[i] + sum_i log(theta[i]) (-alpha[i] - n[i] + 1)."""
    sum_theta_2 = 0.0
    for i in range(3):
        sum_theta_2 += theta[i]
    log_difference = 0.0
    for i in range(3):
        log_difference += math.log(theta[i]) * (1.0 - alpha[i] - n[i])
    U_value = math.log(sum_theta_2) * sum_n + sum_theta_2 + log_difference
    return U_value


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def rest():
    """Return H - U = 0."""
    energy = 0.0
    return energy


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def cycle(
    theta_mapped_mapped, involution_acceptance, theta, alpha, n, sum_n, scale_w_drawn, scale_w_drawn_, noise_w_drawn,
    noise_accept, noise_w_drawn_, noise_accept_2, eps, w_drawn, theta_image, theta_mapped, w_drawn_, theta_mapped_image,
):  # fmt: skip
    """Write one step, a cycle of moves: theta_mapped_mapped, involution_acceptance; draw nothing."""
    # w_drawn ~ N(0, s**2 delta[i,j])
    for i in range(3):
        w_drawn[i] = scale_w_drawn * noise_w_drawn[i]
    # involution: theta_image = theta[i] exp(w_drawn[i])
    for i in range(3):
        theta_image[i] = theta[i] * _exp(w_drawn[i])
    sum_w_drawn = 0.0
    for i in range(3):
        sum_w_drawn += w_drawn[i]
    U_start = potential(theta, alpha, n, sum_n)
    rest_start = rest()
    U_image = potential(theta_image, alpha, n, sum_n)
    rest_image = rest()
    # accept with probability min(1, exp(H - H') q(w'|z')/q(w|z) |det DS|), else stay
    log_ratio = U_start - U_image + rest_start - rest_image + sum_w_drawn
    accept, probability = _accepted(log_ratio, noise_accept[0], noise_accept[1])
    for i in range(3):
        theta_mapped[i] = theta_image[i] if accept else theta[i]
    # w_drawn_ ~ N(0, s**2)
    w_drawn_[0] = scale_w_drawn_ * noise_w_drawn_[0]
    # involution: theta_mapped_image = exp(w_drawn_) theta_mapped[i]
    exp_of_state = _exp(w_drawn_[0])
    for i in range(3):
        theta_mapped_image[i] = theta_mapped[i] * exp_of_state
    U_start_2 = potential(theta_mapped, alpha, n, sum_n)
    rest_start_2 = rest()
    U_image_2 = potential(theta_mapped_image, alpha, n, sum_n)
    rest_image_2 = rest()
    # accept with probability min(1, exp(H - H') q(w'|z')/q(w|z) |det DS|), else stay
    log_ratio = U_start_2 - U_image_2 + rest_start_2 - rest_image_2 + 3.0 * w_drawn_[0]
    accept, probability_2 = _accepted(log_ratio, noise_accept_2[0], noise_accept_2[1])
    for i in range(3):
        theta_mapped_mapped[i] = theta_mapped_image[i] if accept else theta_mapped[i]
    involution_acceptance[0] = probability / 2.0 + probability_2 / 2.0


def prepare(s, alpha, n, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    sum_n = 0.0
    for i in range(3):
        sum_n += n[i]
    scale_w_drawn = _noise_scale(s**2, 0.0, 1.0, "w_drawn")
    scale_w_drawn_ = _noise_scale(s**2, 0.0, 1.0, "w_drawn_")
    return (sum_n, scale_w_drawn, scale_w_drawn_)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta, s, alpha, n, sum_n, scale_w_drawn, scale_w_drawn_, eps, thin, noise_state, theta_draws,
    involution_acceptance_draws,
):  # fmt: skip
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64; a block is as long
    as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for each that is asked for, as wide
    as the block; random states are rows of what `seed_streams` returns.

    Loops over arrays.
    """
    _wide_vectors()
    theta_mapped_mapped = np.empty(3)
    involution_acceptance = np.empty(1)
    w_drawn = np.empty(3)
    theta_image = np.empty(3)
    theta_mapped = np.empty(3)
    w_drawn_ = np.empty(1)
    theta_mapped_image = np.empty(3)
    noise_w_drawn = np.empty(3)
    noise_accept = np.empty(2)
    noise_w_drawn_ = np.empty(1)
    noise_accept_2 = np.empty(2)
    involution_acceptance_sum = 0.0
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_w_drawn)
            _fill_normals(noise_state, noise_accept)
            _fill_normals(noise_state, noise_w_drawn_)
            _fill_normals(noise_state, noise_accept_2)
            cycle(
                theta_mapped_mapped, involution_acceptance, theta, alpha, n, sum_n, scale_w_drawn, scale_w_drawn_,
                noise_w_drawn, noise_accept, noise_w_drawn_, noise_accept_2, eps, w_drawn, theta_image, theta_mapped,
                w_drawn_, theta_mapped_image,
            )  # fmt: skip
            for entry in range(3):
                theta[entry] = theta_mapped_mapped[entry]
            involution_acceptance_sum += involution_acceptance[0]
        involution_acceptance_draws[kept, 0] = involution_acceptance_sum / thin
        involution_acceptance_sum = 0.0
        finite = True
        for entry in range(3):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


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
def _normal_at_edge(layer, x, u, v):
    """Decide a draw outside the sure part of its layer by two uniforms: the draw, NaN to start anew, inf to ask again.

    Below the tail: under the density or not. In the tail: an exponential beyond its start, accepted by another
    (Marsaglia 1964); what is refused stays in the tail.
    """
    if layer > 0:
        heights = _HEIGHTS
        height = heights[layer] + u * (heights[layer + np.uint64(1)] - heights[layer])
        return x if height < math.exp(-0.5 * x * x) else math.nan
    beyond = -math.log1p(-u) / _TAIL
    accepted = -2.0 * math.log1p(-v) >= beyond * beyond
    return math.copysign(_TAIL + beyond, x) if accepted else math.inf


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_normal_at_edge(bits, s0, s1, s2, s3):
    """Return the draw whose first bits are outside the sure part of their layer, and the state after it.

    Rare, and therefore not inlined, which has to be said: what a function inlined by force calls would be so too.
    """
    while True:
        layer = bits & np.uint64(511)
        place = bits >> 12
        x = np.float64(place) * _WIDTHS[layer]
        draw = x if place < _BOUNDS[layer] else math.inf
        while draw == math.inf:
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            u = np.float64(bits >> 11) * 2.0**-53
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            draw = _normal_at_edge(layer & np.uint64(255), x, u, np.float64(bits >> 11) * 2.0**-53)
        if draw == draw:
            return draw, s0, s1, s2, s3
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


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _accepted(log_ratio, a, b):
    """Return whether to accept, which has the probability min(1, exp(log_ratio)), and that.

    NaN is refused, and so is infinity: an energy that overflows to -inf, as r^T M^-1 r does where one product of it is
    too large, is none that a state has.
    """
    known = log_ratio < math.inf
    accept = known and -0.5 * (a * a + b * b) < log_ratio
    probability = _exp(log_ratio if log_ratio < 0.0 else 0.0)
    return accept, probability if known else 0.0


def _seed_words(seed, chains, stream, words):
    """Return the states of a stream of xoshiro256++ of every chain, uint64 [chains, words]: 4 words for each lane.

    In memory they start at a multiple of 512 bytes, the length of a row of 64 lanes, and so does every one of them.
    """
    room = np.empty(chains * words + 64, np.uint64)
    start = -room.ctypes.data % 512 // 8
    states = room[start : start + chains * words].reshape(chains, words)
    for chain, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        states[chain] = child.spawn(2)[stream].generate_state(words, np.uint64)
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


def _check_kinds(name, array, kinds):
    """Check that an array is of the kinds declared: exactly entry by entry, up to rounding across the diagonal.

    What is said of entries is said of the diagonal of a diagonal matrix. Raises ValueError.
    """
    if "diagonal" in kinds and (array != np.diag(np.diag(array))).any():
        raise ValueError(f"{name}: found numbers beside the diagonal, expected a diagonal matrix")
    entries = np.diag(array) if "diagonal" in kinds else array
    right = {"positive": entries > 0.0, "nonnegative": entries >= 0.0, "nonzero": entries != 0.0}
    for kind in kinds:
        if kind in right and not right[kind].all():
            raise ValueError(f"{name}: found {entries[~right[kind]][0]}, expected {kind} entries")
        if kind in ("symmetric", "skew", "positive definite", "positive semidefinite"):
            _check_across(name, array, kind)


def _check_across(name, matrix, kind):
    """Check that a matrix is symmetric or skew up to rounding, and definite where `kind` says so. Raises ValueError."""
    slack = matrix.shape[0] * np.finfo(float).eps * np.abs(matrix).max()
    across = -matrix.T if kind == "skew" else matrix.T
    if np.abs(matrix - across).max() > slack:
        raise ValueError(
            f"{name}: found a matrix that is not {'skew' if kind == 'skew' else 'symmetric'}, expected a {kind} one"
        )
    smallest = np.linalg.eigvalsh(matrix)[0]
    low = smallest <= 0.0 if kind == "positive definite" else smallest < -slack
    if kind.startswith("positive") and low:
        raise ValueError(f"{name}: found the eigenvalue {smallest}, expected a {kind} matrix")


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


def _spread(real, domain, low=0.0, high=0.0):
    """Return a point of a domain from one of the real line, by an unbounded variable that it is a function of."""
    if domain == "positive":
        return np.exp(real)
    if domain == "interval":
        return low + (high - low) / (1.0 + np.exp(-real))
    weights = np.exp(np.append(real, 0.0))  # of a simplex
    return weights[:-1] / weights.sum()


def _checked_starts(starts, init):
    """Return where chains start, with what `init` says of a block in the place of its own start.

    starts: per chain, its blocks by name. init: None, or by name an array (size,) for all chains or (chain, size).
    Raises TypeError, ValueError: what was found, and what was expected.
    """
    names = list(starts[0])
    if init is not None and not isinstance(init, dict):
        raise TypeError(f"init: found {type(init).__name__}, expected None or a dict with any of {', '.join(names)}")
    for name, value in (init or {}).items():
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


def _outside(array, domain, low=0.0, high=0.0):
    """Return which points of an array (..., size) lie outside of a domain."""
    if domain == "positive":
        return (array <= 0.0).any(axis=-1)
    if domain == "nonnegative":
        return (array < 0.0).any(axis=-1)
    if domain == "simplex":
        return (array <= 0.0).any(axis=-1) | (array.sum(axis=-1) >= 1.0)
    return ((array < low) | (array > high)).any(axis=-1)


def _check_starts_inside(name, starts, domain, low=0.0, high=0.0):
    """Check that every chain starts inside of the domain of a block. Raises ValueError."""
    for start in starts:
        if _outside(start[name], domain, low, high):
            wanted = f"interval({low:g}, {high:g})" if domain == "interval" else domain
            raise ValueError(f"init of {name}: found {start[name][:5]}, expected a point of its domain, {wanted}")


def _tell_outside(name, array, domain, low=0.0, high=0.0):
    """Warn of draws that lie outside of the domain of a block: a finite step may leave it."""
    count = int(_outside(array, domain, low, high).sum())
    if count:
        found = f"{count} draws of {name} lie outside of its domain, {domain}"
        warnings.warn(f"{found}, where nothing was proved: take a smaller step_size", RuntimeWarning, stacklevel=3)


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
