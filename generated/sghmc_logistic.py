"""sghmc_logistic: Stochastic gradient Hamiltonian Monte Carlo.

Emitted by recipe_compiler (format 1) from sghmc and logistic_regression.
Spec digest (SHA-256): 312e0a6033239c368e9a677e7b78148980ef05b15433ccfda6b753a1542e8a93

State:
    theta: column [30], real
    r: column [30], real

Energy:
    H = U(theta) + r.T @ r / 2
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = y*(x @ theta) - softplus(x @ theta)
    log_prior = -theta.T @ theta / (2*prior_variance)

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[r,r] = c delta[i,j]
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Gamma = 0
    f[theta] = r[i]
    f[r] = -d_theta[i] U - c r[i]

Bound to:
    M = I
    C = c*I

Parameters:
    c: nonnegative
    prior_variance: positive

Step:
    sequential Euler: r, then theta; the noise covariance is that of the old state; order 1
    grad U from a minibatch drawn without replacement, its sum scaled by N/n, the prior not
    noise N(0, 2 eps D): the covariance V of the minibatch gradient is taken to be 0, so the noise it adds
    is not subtracted and the draws are too wide by it

Claims:
    proved: D is symmetric (by index calculus for every size; second engine; given c is nonnegative)
    proved: D is positive semidefinite (by structure of D; given c is nonnegative)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given U is smooth; c is
        nonnegative)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given U is
        smooth; c is nonnegative)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given U
        is smooth; c is nonnegative)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given U is smooth;
        prior_variance is positive)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given U is smooth)
    proved: exp(-H) is the only stationary law of the recipe's equation (by Hoermander: noise in r reaches theta by
        d b_theta/d r = I, invertible at every state; given U is smooth; c is nonnegative; c is positive; chains do
        not explode in finite time; prior_variance is positive)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given
        prior_variance is positive)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        prior_variance is positive)
    proved: what is bound is of the kind declared (by structure, exact values; given c is nonnegative)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by V = 0: no gradient noise is subtracted)
    proved: D and Q do not reuse the gradient's minibatch (by structure: no entry of D or Q holds U)

Not checked here:
    explosion: that solutions do not run off to infinity in finite time is not decided by this version
    verdicts are about the equation; how far a finite step size departs from it is not decided by this version

References:
    chen2014sghmc
    ma2015recipe
"""

import math

import numpy as np
from numba import njit

FORMAT = 1
SPEC_DIGEST = "312e0a6033239c368e9a677e7b78148980ef05b15433ccfda6b753a1542e8a93"
VARIANT = "minibatch"
REPLACEMENT = False
BLOCKS = (("theta", 30), ("r", 30))
SIZES = ()
PARAMETERS = ("c", "prior_variance")
CONSTANTS = ("scale_r",)
DATA = ("x", "y")
ARGUMENTS = (
    "theta",
    "r",
    "c",
    "prior_variance",
    "scale_r",
    "x",
    "y",
    "batch_size",
    "eps",
    "thin",
    "noise_state",
    "batch_state",
    "permutation",
    "theta_draws",
    "r_draws",
)
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U_tilde, theta, prior_variance, x, y, batch, x_theta, sigmoid_x_theta):
    """Write grad_U_tilde[i] = theta[i]/prior_variance
    + (N/batch_size) * sum over the batch of -x[n,i] y[n] + x[n,i] sigmoid(sum_j x[n,j] theta[j]).
    """
    N = x.shape[0]
    batch_size = batch.shape[0]
    for b in range(batch_size):
        row = batch[b]
        total = 0.0
        for i in range(30):
            total += x[row, i] * theta[i]
        x_theta[b] = total
    for b in range(batch_size):
        sigmoid_x_theta[b] = _sigmoid(x_theta[b])
    for i in range(30):
        grad_U_tilde[i] = 0.0
    for b in range(batch_size):
        row = batch[b]
        weight = sigmoid_x_theta[b] - y[row]
        for i in range(30):
            grad_U_tilde[i] += weight * x[row, i]
    for i in range(30):
        grad_U_tilde[i] = theta[i] / prior_variance + N * grad_U_tilde[i] / batch_size


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new,
    r_new,
    theta,
    r,
    c,
    prior_variance,
    scale_r,
    x,
    y,
    batch,
    noise_r,
    eps,
    grad_U_tilde,
    x_theta,
    sigmoid_x_theta,
):
    """Write one step (sequential euler) into theta_new, r_new; draw nothing."""
    gradient(grad_U_tilde, theta, prior_variance, x, y, batch, x_theta, sigmoid_x_theta)
    # r_new[i] = r[i] + eps*(-grad_U_tilde[i] - c r[i]) + noise
    for i in range(30):
        r_new[i] = r[i] + eps * (-grad_U_tilde[i] - c * r[i]) + scale_r * noise_r[i]
    # theta_new[i] = theta[i] + eps*(r_new[i])
    for i in range(30):
        theta_new[i] = theta[i] + eps * r_new[i]


def prepare(c, prior_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    scale_r = _noise_scale(2.0 * c, 0.0, eps, "r")
    return (scale_r,)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta,
    r,
    c,
    prior_variance,
    scale_r,
    x,
    y,
    batch_size,
    eps,
    thin,
    noise_state,
    batch_state,
    permutation,
    theta_draws,
    r_draws,
):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.
    """
    theta_new = np.empty(30)
    r_new = np.empty(30)
    grad_U_tilde = np.empty(30)
    x_theta = np.empty(batch_size)
    sigmoid_x_theta = np.empty(batch_size)
    noise_r = np.empty(30)
    batch = np.empty(batch_size, np.uint64)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _shuffle_indices(batch_state, permutation, batch)
            _fill_normals(noise_state, noise_r)
            step(
                theta_new,
                r_new,
                theta,
                r,
                c,
                prior_variance,
                scale_r,
                x,
                y,
                batch,
                noise_r,
                eps,
                grad_U_tilde,
                x_theta,
                sigmoid_x_theta,
            )
            for entry in range(30):
                theta[entry] = theta_new[entry]
                r[entry] = r_new[entry]
        finite = True
        for entry in range(30):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


# Support: random streams, stable functions, noise factors. The same text in every emitted module.


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
def _sigmoid(x):
    """Return 1/(1 + exp(-x)), as e/(1 + e) with e = exp(-|x|) for x < 0: no overflow, small values kept."""
    e = _exp(-abs(x))
    return (e if x < 0.0 else 1.0) / (1.0 + e)


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
    """Return layer widths over 2**52, their acceptance bounds, and exp(-x**2/2) at the layer edges x."""
    area = _TAIL * math.exp(-0.5 * _TAIL**2) + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL / math.sqrt(2.0))
    edges = [area / math.exp(-0.5 * _TAIL**2), _TAIL]
    while len(edges) < 256:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    edges.append(0.0)
    widths = [edge / 2.0**52 for edge in edges[:256]]
    bounds = [int(edges[k + 1] / edges[k] * 2.0**52) for k in range(256)]
    heights = [math.exp(-0.5 * edge**2) for edge in edges]
    return np.array(widths), np.array(bounds, np.uint64), np.array(heights)


_WIDTHS, _BOUNDS, _HEIGHTS = _ziggurat()


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _normal_at_edge(layer, x, u, v):
    """Decide a draw outside the sure part of its layer by two uniforms: the draw, NaN to start anew, inf to ask again.

    Rare, and therefore a function of its own that is not inlined. Below the tail: under the density or not. In the
    tail: an exponential beyond its start, accepted by another (Marsaglia 1964); what is refused stays in the tail.
    """
    if layer > 0:
        heights = _HEIGHTS
        height = heights[layer] + u * (heights[layer + np.uint64(1)] - heights[layer])
        return x if height < math.exp(-0.5 * x * x) else math.nan
    beyond = -math.log1p(-u) / _TAIL
    accepted = -2.0 * math.log1p(-v) >= beyond * beyond
    return math.copysign(_TAIL + beyond, x) if accepted else math.inf


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals(state, out):
    """Fill `out` with independent N(0, 1) draws (Marsaglia and Tsang 2000); `state` (uint64[4]) moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(np.uint64(out.size)):
        draw = math.nan
        while draw != draw:
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            layer = bits & np.uint64(255)
            place = bits >> 12
            x = np.float64(place) * _WIDTHS[layer]
            x = -x if bits & np.uint64(256) else x
            draw = x
            if place >= _BOUNDS[layer]:
                draw = math.inf
                while draw == math.inf:
                    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
                    u = np.float64(bits >> 11) * 2.0**-53
                    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
                    draw = _normal_at_edge(layer, x, u, np.float64(bits >> 11) * 2.0**-53)
        out[k] = draw
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _shuffle_indices(state, permutation, out):
    """Fill `out` with a random subset of the rows in `permutation` (uint64), none twice; `state` moves on.

    A partial Fisher-Yates shuffle: all ordered subsets of out.size <= permutation.size rows are equally likely,
    whatever order earlier calls left the permutation in. Each of its choices is uniform to 2**-53.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    N = np.uint64(permutation.size)
    for k in range(np.uint64(out.size)):
        bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
        chosen = k + np.uint64(np.float64(bits >> 11) * 2.0**-53 * np.float64(N - k))
        row = permutation[chosen]
        permutation[chosen] = permutation[k]
        permutation[k] = row
        out[k] = row
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


def _noise_scale(two_D, B_hat, eps, block):
    """Return sqrt(eps (2D - eps B_hat)) of numbers; a negative variance is refused with the largest step allowed."""
    variance = eps * (two_D - eps * B_hat)
    if variance < 0.0:
        raise ValueError(_too_long(eps, two_D / B_hat if two_D > 0.0 else 0.0, block))
    return np.sqrt(variance)


def _too_long(eps, eps_max, blocks):
    """Return the message for a step whose gradient noise exceeds the noise the dynamics inject."""
    cure = f"take eps <= eps_max = {eps_max:.6g}" if eps_max > 0.0 else "no step size makes it so: D is too small"
    return f"2D - eps B_hat of {blocks} is not positive semidefinite at eps = {eps:.6g}: {cure}"


def seed_streams(seed, chains):
    """Return the states of the noise and batch streams, uint64 [chains, 4] each; no two streams are the same.

    `SeedSequence(seed).spawn(chains)` gives every chain its own seed, whatever their number, and `.spawn(2)` splits it.
    """
    states = np.empty((2, chains, 4), np.uint64)
    for chain, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        for stream, grandchild in enumerate(child.spawn(2)):
            states[stream, chain] = grandchild.generate_state(4, np.uint64)
    return states[0], states[1]
