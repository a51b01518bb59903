"""gibbs_dp_mixture: Exact draws alone, for dp_mixture.

To draw from it, in plain Python with numpy and numba alone:

    import gibbs_dp_mixture

    draws = gibbs_dp_mixture.sample(one, other, before=before)
    draws["v"].mean(axis=(0, 1))  # of an array (chain, draw, 20)
    help(gibbs_dp_mixture.sample)  # settings, and what else it takes

Data:
    one: (6,), nonnegative numbers, kept as float64
    other: (6,), nonnegative numbers, kept as float64
    in the build, one is made of the column one of few_choices.csv
    in the build, other is made of the column other of few_choices.csv

Parameters:
    before: (20, 20), nonnegative; to be given: in the build, an array too long to stand here
    a: a number, positive; 0.5 unless it is given
    b1: a number, positive; 2.0 unless it is given
    b2: a number, positive; 2.0 unless it is given

State:
    theta: (161,), real

Draws, each of shape (chain, draw, ...):
    v: (20,), theta[0:20] between its bounds by the logistic function
    alpha: a number, exp(theta[20])
    p: (20,), theta[21:41] between its bounds by the logistic function
    z: (6, 20), theta[41:161]

The build:
    step_size 1.0, draws 2000, warmup 200, thin 20, chains 4, seed 1

Energy:
    H = U(theta)
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = z @ (log(0*ones + 1*sigmoid(logit_v)) + before @ log(ones - (0*ones +
        1*sigmoid(logit_v))) + one*log(0*ones + 1*sigmoid(logit_p)) + other*log(ones - (0*ones +
        1*sigmoid(logit_p))))
    log_prior = (J*log(exp(log_alpha)) + (exp(log_alpha) - 1)*sum(log(ones - (0*ones + 1*sigmoid(logit_v)))) + ((b1
        - 1)*log(exp(log_alpha)) - b2*exp(log_alpha) + b1*log(b2) - loggamma(b1)) + (sum((a - 1)*log(0*ones +
        1*sigmoid(logit_p))) + sum((a - 1)*log1p(-(0*ones + 1*sigmoid(logit_p)))) + J*loggamma(a + a) +
        J*(-loggamma(a)) + J*(-loggamma(a)))) + (sum(logit_v) - 2*sum(softplus(logit_v)) + log_alpha + sum(logit_p)
        - 2*sum(softplus(logit_p)))

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D = 0
    Q = 0
    Gamma = 0
    f[theta] = 0

Step:
    a cycle of moves, one after the other, each from the state z that the one before leaves:
    draw: v
    v' ~ Beta(ones + z.T @ ones, alpha*ones + before.T @ z.T @ ones), given all others and all data
    draw: p
    p' ~ Beta(a*ones + z.T @ one, a*ones + z.T @ other), given all others and all data
    draw: alpha
    alpha' ~ Gamma(b1 + J, b2 - sum(log(ones - v))), given all others and all data
    draw: z
    z' ~ Categorical(ones @ (log(v) + before @ log(ones - v)).T + one @ log(p).T + other @ log(ones - p).T), given
        all others and all data
    draws take as many words of the chain's own stream as they need, one draw after the other

Proved:
    D is symmetric; Q is skew; exp(-H) is stationary; the claimed drift is the derived one; exp(-H) is stationary
        for the claimed equation (index calculus for every size; second engine)
    D is positive semidefinite (structure of D)
    what is bound is of the kind declared (structure, exact values)
    V is positive semidefinite (structure of V)
    2D - eps B_hat is positive semidefinite (the gradient is exact)
    D and Q do not reuse the gradient's minibatch (there is no minibatch)

Proved, given that exp(-U) has a finite integral, as the document states under `assume`:
    exp(-H) has a finite integral (as its author states)
    exp(-H) has the claimed marginal (index calculus for every size; second engine)

Proved, given that one is nonnegative; other is nonnegative:
    the log posterior is defined inside the domain; the log posterior is differentiable inside the domain (rules of
        definedness and smoothness)

Proved, given that one is nonnegative; other is nonnegative; p < 1 inside its domain; v < 1 inside its domain:
    each claimed law is that of its block given all others (index calculus for every size; second engine)
    blocks of the target are drawn from their laws given the others (v ~ Beta(ones + z.T @ ones, alpha*ones +
        before.T @ z.T @ ones) given all others; p ~ Beta(a*ones + z.T @ one, a*ones + z.T @ other) given all
        others; alpha ~ Gamma(b1 + J, b2 - sum(log(ones - v))) given all others; z ~ Categorical(ones @ (log(v) +
        before @ log(ones - v)).T + one @ log(p).T + other @ log(ones - p).T) given all others)
    every move keeps exp(-H), and every block is moved (move 1, draw of v; move 2, draw of p; move 3, draw of alpha;
        move 4, draw of z)

Not checked here:
    exact says whether its moves keep exp(-H) whatever the step size is

References:
    Stuart Geman, Donald Geman (1984): Stochastic Relaxation, Gibbs Distributions, and the Bayesian Restoration of
        Images. IEEE Transactions on Pattern Analysis and Machine Intelligence, 6(6), 721-741
    Alan E. Gelfand, Adrian F. M. Smith (1990): Sampling-Based Approaches to Calculating Marginal Densities. Journal
        of the American Statistical Association, 85(410), 398-409
    Hemant Ishwaran, Lancelot F. James (2001): Gibbs Sampling Methods for Stick-Breaking Priors. Journal of the
        American Statistical Association, 96(453), 161-173

Origin:
    Emitted by recipe_compiler (format 2) from still and dp_mixture, by version 0.1.0 of that Python package.
    Spec digest (SHA-256): c305e7e97ea44f8a41e2a26d2654656f32042acb75eb008e23646a0248ce1d99
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
SPEC_DIGEST = "c305e7e97ea44f8a41e2a26d2654656f32042acb75eb008e23646a0248ce1d99"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 161),)
SIZES = ()
PARAMETERS = ("before", "a", "b1", "b2")
CONSTANTS = ()
DATA = ("one", "other")
ARGUMENTS = ("theta", "before", "a", "b1", "b2", "one", "other", "eps", "thin", "noise_state", "theta_draws")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


def sample(
    one, other, *, before, a=0.5, b1=2.0, b2=2.0, step_size=1.0, draws=2000, warmup=200, thin=20, chains=4, seed=1,
    init=None, progress=False, threads=None,
):  # fmt: skip
    """Return draws by name, arrays (chain, draw, ...), without the first `warmup` draws of each chain.

    one (6,), other (6,), before (20, 20), a a number, b1 a number, b2 a number. The top of the file,
    help(gibbs_dp_mixture), says what they are, and what is returned. A draw is kept of every `thin` steps. init:
    where chains start, a dict with any of theta, each (size,) for all chains or (chain, size). progress: True tells
    it on stderr; a function is called as progress(chain, draws, total, phase), the phase warmup or draws. threads:
    None takes all cores; the same seed draws the same bits on any number of them.

    Raises TypeError, ValueError: what was found, and what was expected. Warns of a chain that ended early.
    """
    sizes = {}
    one = _checked_array("one", one, (6,), sizes)
    _check_numbers("one", one, ["nonnegative"])
    other = _checked_array("other", other, (6,), sizes)
    _check_numbers("other", other, ["nonnegative"])
    before = _checked_array("before", before, (20, 20), sizes)
    _check_kinds("before", before, ["nonnegative"])
    a = _checked_number("a", a, above=0)
    b1 = _checked_number("b1", b1, above=0)
    b2 = _checked_number("b2", b2, above=0)
    eps = _checked_number("step_size", step_size, above=0)
    draws = _checked_number("draws", draws, whole=True, least=1)
    warmup = _checked_number("warmup", warmup, whole=True, least=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    chains = _checked_number("chains", chains, whole=True, least=1)
    seed = _checked_number("seed", seed, whole=True, least=0)
    tell = _checked_progress(progress, warmup)
    if threads is not None:
        threads = _checked_number("threads", threads, whole=True, least=1)
    given = {"before": before, "a": a, "b1": b1, "b2": b2, "one": one, "other": other, "eps": eps, "thin": thin}
    drawn = _room(first_state(seed, 0), chains, warmup + draws)
    starts = [first_state(seed, chain) for chain in range(chains)]
    starts = _checked_starts(starts, init)
    noise, _ = seed_streams(seed, chains)
    states = [{**starts[chain], "noise_state": noise[chain]} for chain in range(chains)]
    done = _run_chains(run, ARGUMENTS, given, states, drawn, threads, tell)
    drawn = _after_warmup(drawn, done, warmup)
    _tell_still("theta", drawn["theta"])
    with np.errstate(over="ignore"):  # a draw that is not finite stays so
        return {
            "v": float(0.0) + (float(1.0) - float(0.0)) / (1.0 + np.exp(-drawn["theta"][:, :, 0:20])),
            "alpha": np.exp(drawn["theta"][:, :, 20]),
            "p": float(0.0) + (float(1.0) - float(0.0)) / (1.0 + np.exp(-drawn["theta"][:, :, 21:41])),
            "z": drawn["theta"][:, :, 41:161].reshape(chains, draws, 6, 20),
        }  # fmt: skip


def first_state(seed, chain):
    """Return where a chain starts, by the blocks of the state."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    theta = rng.uniform(-2.0, 2.0, 161)
    theta[41:161] = np.eye(20)[rng.integers(20, size=6)].reshape(-1)
    return {"theta": theta}


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def draw_v(theta_v, theta, before, one, noise_state, sum_z, before_sum_z):
    """Write theta_v, which is theta but for v: v (here its logit) is drawn from Beta(a_v, b_v), its law given all
    else.
    a_v[i] = sum_j z[j,i] + 1.
    b_v[i] = sum_jk before[j,i] z[k,j] + exp(log_alpha).
    """
    logit_v = theta[0:20]
    log_alpha = theta[20:21]
    logit_p = theta[21:41]
    z = theta[41:161].reshape((6, 20))
    logit_v_drawn = theta_v[0:20]
    for i in range(20):
        total = 0.0
        for j in range(6):
            total += z[j, i]
        sum_z[i] = total
    for i in range(20):
        total = 0.0
        for j in range(20):
            total += before[j, i] * sum_z[j]
        before_sum_z[i] = total
    exp_of_state = _exp(log_alpha[0])
    for i in range(161):
        theta_v[i] = theta[i]
    s0, s1, s2, s3 = noise_state[0], noise_state[1], noise_state[2], noise_state[3]
    for i in range(20):
        a_v = 1.0 + sum_z[i]
        b_v = before_sum_z[i] + exp_of_state
        log_G_v, s0, s1, s2, s3 = _next_log_gamma(a_v, s0, s1, s2, s3)
        log_F_v, s0, s1, s2, s3 = _next_log_gamma(b_v, s0, s1, s2, s3)
        logit_v_drawn[i] = log_G_v - log_F_v
    noise_state[0], noise_state[1], noise_state[2], noise_state[3] = s0, s1, s2, s3


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def draw_p(theta_p, theta, a, one, other, noise_state, z_one, z_other):
    """Write theta_p, which is theta but for p: p (here its logit) is drawn from Beta(a_p, b_p), its law given all
    else.
    a_p[i] = a + sum_j z[j,i] one[j].
    b_p[i] = a + sum_j z[j,i] other[j].
    """
    logit_v = theta[0:20]
    log_alpha = theta[20:21]
    logit_p = theta[21:41]
    z = theta[41:161].reshape((6, 20))
    logit_p_drawn = theta_p[21:41]
    for i in range(20):
        total = 0.0
        for j in range(6):
            total += z[j, i] * one[j]
        z_one[i] = total
    for i in range(20):
        total = 0.0
        for j in range(6):
            total += z[j, i] * other[j]
        z_other[i] = total
    for i in range(161):
        theta_p[i] = theta[i]
    s0, s1, s2, s3 = noise_state[0], noise_state[1], noise_state[2], noise_state[3]
    for i in range(20):
        a_p = a + z_one[i]
        b_p = a + z_other[i]
        log_G_p, s0, s1, s2, s3 = _next_log_gamma(a_p, s0, s1, s2, s3)
        log_F_p, s0, s1, s2, s3 = _next_log_gamma(b_p, s0, s1, s2, s3)
        logit_p_drawn[i] = log_G_p - log_F_p
    noise_state[0], noise_state[1], noise_state[2], noise_state[3] = s0, s1, s2, s3


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def draw_alpha(theta_alpha, theta, b1, b2, one, noise_state):
    """Write theta_alpha, which is theta but for alpha: alpha (here its log) is drawn from Gamma(shape_alpha,
    rate_alpha), its law given all else.
    shape_alpha = b1 + 20.
    rate_alpha = b2 - sum_i log(-sigmoid(logit_v[i]) + 1).
    """
    logit_v = theta[0:20]
    log_alpha = theta[20:21]
    logit_p = theta[21:41]
    z = theta[41:161].reshape((6, 20))
    log_alpha_drawn = theta_alpha[20:21]
    sum_softplus = 0.0
    for i in range(20):
        sum_softplus += _softplus(logit_v[i])
    for i in range(161):
        theta_alpha[i] = theta[i]
    s0, s1, s2, s3 = noise_state[0], noise_state[1], noise_state[2], noise_state[3]
    shape_alpha = 20.0 + b1
    rate_alpha = b2 + sum_softplus
    log_G_alpha, s0, s1, s2, s3 = _next_log_gamma(shape_alpha, s0, s1, s2, s3)
    log_alpha_drawn[0] = log_G_alpha - math.log(rate_alpha)
    noise_state[0], noise_state[1], noise_state[2], noise_state[3] = s0, s1, s2, s3


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def draw_z(theta_z, theta, before, one, other, noise_state, before_softplus, logits_z, sums_z):
    """Write theta_z, which is theta but for z: z is drawn from Categorical(logits_z), its law given all else.
    logits_z[i,j] = sum_k before[j,k] log(-sigmoid(logit_v[k]) + 1) + one[i] log(sigmoid(logit_p[j])) + other[i]
    log(-sigmoid(logit_p[j]) + 1) + log(sigmoid(logit_v[j])).
    """
    logit_v = theta[0:20]
    log_alpha = theta[20:21]
    logit_p = theta[21:41]
    z = theta[41:161].reshape((6, 20))
    z_drawn = theta_z[41:161].reshape((6, 20))
    for i in range(20):
        total = 0.0
        for j in range(20):
            total += before[i, j] * _softplus(logit_v[j])
        before_softplus[i] = total
    for i in range(161):
        theta_z[i] = theta[i]
    s0, s1, s2, s3 = noise_state[0], noise_state[1], noise_state[2], noise_state[3]
    for i in range(6):
        for j in range(20):
            logits_z[j] = (
                -before_softplus[j]
                - one[i] * _softplus(-logit_p[j])
                - other[i] * _softplus(logit_p[j])
                - _softplus(-logit_v[j])
            )
        k_z, s0, s1, s2, s3 = _next_categorical(logits_z, sums_z, s0, s1, s2, s3)
        for j in range(20):
            z_drawn[i, j] = (1.0 if j == k_z else 0.0) + 0.0 * k_z
    noise_state[0], noise_state[1], noise_state[2], noise_state[3] = s0, s1, s2, s3


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def cycle(
    theta_z, theta, before, a, b1, b2, one, other, noise_state, eps, sum_z, before_sum_z, theta_v, z_one, z_other,
    theta_p, theta_alpha, before_softplus, logits_z, sums_z,
):  # fmt: skip
    """Write one step, a cycle of moves: theta_z; draw from noise_state alone."""
    draw_v(theta_v, theta, before, one, noise_state, sum_z, before_sum_z)
    draw_p(theta_p, theta_v, a, one, other, noise_state, z_one, z_other)
    draw_alpha(theta_alpha, theta_p, b1, b2, one, noise_state)
    draw_z(theta_z, theta_alpha, before, one, other, noise_state, before_softplus, logits_z, sums_z)


def prepare(before, a, b1, b2, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    return ()


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, before, a, b1, b2, one, other, eps, thin, noise_state, theta_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64, the data of float64
    or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for
    each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.

    Loops over arrays.
    """
    _wide_vectors()
    theta_z = np.empty(161)
    sum_z = np.empty(20)
    before_sum_z = np.empty(20)
    theta_v = np.empty(161)
    z_one = np.empty(20)
    z_other = np.empty(20)
    theta_p = np.empty(161)
    theta_alpha = np.empty(161)
    before_softplus = np.empty(20)
    logits_z = np.empty(20)
    sums_z = np.empty(20)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            cycle(
                theta_z, theta, before, a, b1, b2, one, other, noise_state, eps, sum_z, before_sum_z, theta_v, z_one,
                z_other, theta_p, theta_alpha, before_softplus, logits_z, sums_z,
            )  # fmt: skip
            for entry in range(161):
                theta[entry] = theta_z[entry]
        finite = True
        for entry in range(161):
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


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _softplus(x):
    """Return log(1 + exp(x)) as max(x, 0) + log1p(e), e = exp(-|x|), log1p(e) = 2 atanh(s), s = e/(2 + e) <= 1/3."""
    e = _exp(-abs(x))
    s = e / (2.0 + e)
    z = s * s
    p = 0.1616850897238873
    p = p * z + 0.08798633619507515
    p = p * z + 0.12001484893288758
    p = p * z + 0.1331410088429106
    p = p * z + 0.15385572707174294
    p = p * z + 0.18181789341994842
    p = p * z + 0.22222222719299936
    p = p * z + 0.28571428567090246
    p = p * z + 0.4000000000001465
    p = p * z + 0.6666666666666666
    return (x if x > 0.0 else 0.0) + (2.0 * s + s * z * p)


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


_MOST_TURNS = 256  # of a loop that refuses draws


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_uniform(s0, s1, s2, s3):
    """Return a draw uniform on (0, 1): the middle of one of 2**52 equal parts, never 0 or 1. Takes one word.

    Middles of 2**53 parts are no doubles above 1/2: the last would be rounded to 1.
    """
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    u = np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 0.9999999999999999
    return u, s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_categorical(logits, sums, s0, s1, s2, s3):
    """Return k with probability proportional to exp(logits[k]), by sums of exp(logits - their maximum), put in `sums`.

    -inf is weight 0, and so is what lies 746 below the maximum: it is never drawn. NaN where no logit is finite or one
    is NaN or inf. Takes one word. u times the last sum, which is 1 or more, is below that sum in doubles too.
    """
    most = -math.inf
    for k in range(np.uint64(logits.size)):
        most = logits[k] if logits[k] > most else most
    for k in range(np.uint64(logits.size)):
        sums[k] = _exp(logits[k] - most)
    total = 0.0
    for k in range(np.uint64(logits.size)):
        total += sums[k]
        sums[k] = total
    if not total >= 1.0:
        return math.nan, s0, s1, s2, s3
    u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
    below = 0
    for k in range(np.uint64(logits.size)):
        below += 1 if sums[k] <= u * total else 0
    return np.float64(below), s0, s1, s2, s3


_LEAST_SHAPE = 1e-306  # below, logarithms of gamma draws are beyond the doubles

_MOST_SHAPE = 1e306  # above, nine times the shape is


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _log_beyond_cubic(y):
    """Return log(1 + y) - y + y**2/2 - y**3/3 <= 0 for y > -1, the first terms cancelled where y is small."""
    if abs(y) >= 0.1:
        return math.log(1.0 + y) - y * (1.0 - y * (0.5 - y * 0.3333333333333333))
    p = 0.07142857142857142 - y * 0.06666666666666667
    p = 0.07692307692307693 - y * p
    p = 0.08333333333333333 - y * p
    p = 0.09090909090909091 - y * p
    p = 0.1 - y * p
    p = 0.1111111111111111 - y * p
    p = 0.125 - y * p
    p = 0.14285714285714285 - y * p
    p = 0.16666666666666666 - y * p
    p = 0.2 - y * p
    p = 0.25 - y * p
    return -(y * y) * (y * y) * p


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _accepts_gamma(y, d, u):
    """Whether u < exp(x**2/2 + d - d (1 + y)**3 + 3 d log(1 + y)), y > -1, where x**2 = 9 d y**2 cancels; else no.

    Rare, and therefore not inlined, which has to be said: what a function inlined by force calls would be so too.
    """
    return y > -1.0 and math.log(u) < 3.0 * d * _log_beyond_cubic(y)


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_gamma_from_one(a, s0, s1, s2, s3):
    """Return a Gamma(a, 1) draw, a >= 1: d (1 + y)**3 with y = x/sqrt(9 d), d = a - 1/3 (Marsaglia and Tsang 2000).

    x is normal, accepted with probability exp(3 d (log(1 + y) - y + y**2/2 - y**3/3)). By the series of the logarithm
    that is above 1 - (3 d/4) y**4/min(1 + y, 1) = 1 - x**2 y**2/12/min(1 + y, 1), so that few turns take a logarithm.
    Of 100 turns 95 accept at a = 1, more above.
    """
    d = a - 0.3333333333333333
    c = 1.0 / math.sqrt(9.0 * d)
    for _ in range(_MOST_TURNS):
        x, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        y = c * x
        v = 1.0 + y
        if (1.0 - u) * min(v, 1.0) > x * x * (y * y) * 0.08333333333333333 or _accepts_gamma(y, d, u):
            return d * (v * v * v), s0, s1, s2, s3
    return math.nan, s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_log_gamma(a, s0, s1, s2, s3):
    """Return the logarithm of a Gamma(a, 1) draw; below a = 1 log G(a + 1) + log(u)/a (Marsaglia and Tsang 2000).

    1e-306 <= a <= 1e306, else NaN. The draw itself would be 0 for nearly all words where a < 1e-4.
    """
    if not _LEAST_SHAPE <= a <= _MOST_SHAPE:
        return math.nan, s0, s1, s2, s3
    draw, s0, s1, s2, s3 = _next_gamma_from_one(a + 1.0 if a < 1.0 else a, s0, s1, s2, s3)
    draw = math.log(draw)
    if a < 1.0:
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        draw += math.log(u) / a
    return draw, s0, s1, s2, s3


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
            case _:
                right = array == np.floor(array)
        bad = np.argwhere(~right)
        if bad.size:
            place = ", ".join(map(str, bad[0]))
            raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected {kind} numbers")


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
