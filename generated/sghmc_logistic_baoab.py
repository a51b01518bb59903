"""sghmc_logistic_baoab: Stochastic gradient Hamiltonian Monte Carlo.

Emitted by recipe_compiler (format 1) from sghmc and logistic_regression.
Spec digest (SHA-256): 0b6ac4cc3d4473a1e26e0e1289554d5254aa8fd32970dc762aaa14ea310543f7

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
    baoab: [B/2, A/2, O, A/2, B/2], the exact flow of each piece, one after the other; weak order 2
    grad U over all data; noise N(0, 2 eps D)

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
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given
        prior_variance is positive)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        prior_variance is positive)
    proved: what is bound is of the kind declared (by structure, exact values; given c is nonnegative)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by the gradient is exact)
    proved: D and Q do not reuse the gradient's minibatch (by there is no minibatch)
    proved: the pieces of the word make the equation (by index calculus for every size; second engine; given U is
        smooth; c is nonnegative)
    proved: each piece is moved by its flow, exact or the one named (by A, B: shift; O: Ornstein-Uhlenbeck, entry by
        entry; second engine; given U is smooth; c is nonnegative)
    advisory claims are decided by `recipe check`

Not checked here:
    pieces, flow, order and what pieces keep are about one step, other claims about the equation; how far the law
        that steps of one size settle at is from exp(-H) is computed where U is quadratic only

References:
    chen2014sghmc
    ma2015recipe
"""

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

FORMAT = 1
SPEC_DIGEST = "0b6ac4cc3d4473a1e26e0e1289554d5254aa8fd32970dc762aaa14ea310543f7"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 30), ("r", 30))
SIZES = ()
PARAMETERS = ("c", "prior_variance")
CONSTANTS = ("step_factor", "step_factor_2", "scale_r", "step_factor_3")
DATA = ("x", "y")
ARGUMENTS = (
    "theta",
    "r",
    "c",
    "prior_variance",
    "step_factor",
    "step_factor_2",
    "scale_r",
    "step_factor_3",
    "x",
    "y",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
)
MOMENTS = ("theta[i]", "r[i]", "theta[i]*theta[i]", "theta[i]*r[i]", "r[i]*r[i]")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U, theta, prior_variance, x, y, x_theta, weight):
    """Write grad_U[i] = theta[i]/prior_variance
    + sum over the data of -x[n,i] y[n] + x[n,i] sigmoid(sum_j x[n,j] theta[j]).
    """
    N = x.shape[0]
    for i in range(30):
        grad_U[i] = 0.0
    for start in range(np.uint64(0), np.uint64(N - N % 8), np.uint64(8)):
        for k in range(np.uint64(x_theta.shape[0])):
            row = start + k
            total = 0.0
            for i in range(np.uint64(x.shape[1])):
                total += x[row, i] * theta[i]
            x_theta[k] = total
        for k in range(np.uint64(x_theta.shape[0])):
            row = start + k
            sigmoid_x_theta = _sigmoid(x_theta[k])
            weight[k] = -y[row] + sigmoid_x_theta
        for first in range(np.uint64(0), np.uint64(weight.shape[0]), np.uint64(4)):
            row_0 = start + first
            row_1 = start + first + np.uint64(1)
            row_2 = start + first + np.uint64(2)
            row_3 = start + first + np.uint64(3)
            weight_0 = weight[first]
            weight_1 = weight[first + np.uint64(1)]
            weight_2 = weight[first + np.uint64(2)]
            weight_3 = weight[first + np.uint64(3)]
            for i in range(np.uint64(30)):
                grad_U[i] += (
                    weight_0 * x[row_0, i] + weight_1 * x[row_1, i] + weight_2 * x[row_2, i] + weight_3 * x[row_3, i]
                )
    for row in range(N - N % 8, N):
        total = 0.0
        for i in range(30):
            total += x[row, i] * theta[i]
        x_theta_alone = total
        sigmoid_x_theta = _sigmoid(x_theta_alone)
        weight_alone = -y[row] + sigmoid_x_theta
        for i in range(30):
            grad_U[i] += weight_alone * x[row, i]
    for i in range(30):
        grad_U[i] = grad_U[i] + theta[i] / prior_variance


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new,
    r_new,
    grad_U_new,
    theta,
    r,
    grad_U,
    prior_variance,
    step_factor,
    step_factor_2,
    scale_r,
    step_factor_3,
    x,
    y,
    noise_r,
    eps,
    r_v1,
    theta_v1,
    r_v2,
    x_theta,
    weight,
):
    """Write one step (baoab): theta_new, r_new, grad_U_new; draw nothing."""
    # r_v1[i] = r[i] + eps*(-grad_U[i]/2)
    for i in range(30):
        r_v1[i] = r[i] + step_factor * grad_U[i]
    # theta_v1[i] = theta[i] + eps*(r_v1[i]/2)
    for i in range(30):
        theta_v1[i] = theta[i] + step_factor_2 * r_v1[i]
    # r_v2[i] = r_v1[i] + eps*(-c exprel(-c eps) r_v1[i]) + noise
    for i in range(30):
        r_v2[i] = r_v1[i] + step_factor_3 * r_v1[i] + scale_r * noise_r[i]
    # theta_new[i] = theta_v1[i] + eps*(r_v2[i]/2)
    for i in range(30):
        theta_new[i] = theta_v1[i] + step_factor_2 * r_v2[i]
    gradient(grad_U_new, theta_new, prior_variance, x, y, x_theta, weight)
    # r_new[i] = r_v2[i] + eps*(-grad_U_new[i]/2)
    for i in range(30):
        r_new[i] = r_v2[i] + step_factor * grad_U_new[i]


def prepare(c, prior_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    step_factor = -eps / 2.0
    step_factor_2 = eps / 2.0
    exprel_of_constants = _exprel(-2.0 * c * eps)
    scale_r = _noise_scale(2.0 * c * exprel_of_constants, 0.0, eps, "r")
    exprel_of_constants_2 = _exprel(-c * eps)
    step_factor_3 = -eps * c * exprel_of_constants_2
    return (step_factor, step_factor_2, scale_r, step_factor_3)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta,
    r,
    c,
    prior_variance,
    step_factor,
    step_factor_2,
    scale_r,
    step_factor_3,
    x,
    y,
    eps,
    thin,
    noise_state,
    theta_draws,
    r_draws,
):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64, the data of
    float64 or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a
    row for each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.

    Blocks of rows: 8 rows of the data at a time, summed while they are in the cache.
    """
    _wide_vectors()
    theta_new = np.empty(30)
    r_new = np.empty(30)
    grad_U_new = np.empty(30)
    grad_U = np.empty(30)
    r_v1 = np.empty(30)
    theta_v1 = np.empty(30)
    r_v2 = np.empty(30)
    x_theta = np.empty(8)
    weight = np.empty(8)
    noise_r = np.empty(30)
    gradient(grad_U, theta, prior_variance, x, y, x_theta, weight)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_r)
            step(
                theta_new,
                r_new,
                grad_U_new,
                theta,
                r,
                grad_U,
                prior_variance,
                step_factor,
                step_factor_2,
                scale_r,
                step_factor_3,
                x,
                y,
                noise_r,
                eps,
                r_v1,
                theta_v1,
                r_v2,
                x_theta,
                weight,
            )
            for entry in range(30):
                theta[entry] = theta_new[entry]
                r[entry] = r_new[entry]
            for entry in range(30):
                grad_U[entry] = grad_U_new[entry]
        finite = True
        for entry in range(30):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


def checked_run(theta, r, c, prior_variance, x, y, eps, thin, noise_state, theta_draws, r_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (30,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (30,), sizes, written=True)
    _check_finite("r", r)
    _check_array("x", x, ("N", 30), sizes, ("float64", "float32"))
    _check_finite("x", x)
    _check_array("y", y, ("N",), sizes, ("float64", "float32"))
    _check_finite("y", y)
    _check_values("y", y, [0, 1])
    c = _checked_number("c", c, least=0)
    prior_variance = _checked_number("prior_variance", prior_variance, above=0)
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    _check_array("theta_draws", theta_draws, ("draws", 30), sizes, written=True)
    _check_array("r_draws", r_draws, ("draws", 30), sizes, written=True)
    _check_apart(
        ["x", "y"], theta=theta, r=r, theta_draws=theta_draws, r_draws=r_draws, noise_state=noise_state, x=x, y=y
    )
    step_factor, step_factor_2, scale_r, step_factor_3 = prepare(c, prior_variance, eps)
    return run(
        theta,
        r,
        c,
        prior_variance,
        step_factor,
        step_factor_2,
        scale_r,
        step_factor_3,
        x,
        y,
        eps,
        thin,
        noise_state,
        theta_draws,
        r_draws,
    )


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def full_gradient(theta, prior_variance, x, y):
    """Return grad_U[i] = theta[i]/prior_variance
    + sum over the data of -x[n,i] y[n] + x[n,i] sigmoid(sum_j x[n,j] theta[j]).
    """
    N = x.shape[0]
    grad_U = np.empty(30)
    x_theta = np.empty(N)
    sigmoid_x_theta = np.empty(N)
    for row in range(N):
        total = 0.0
        for i in range(30):
            total += x[row, i] * theta[i]
        x_theta[row] = total
    for row in range(N):
        sigmoid_x_theta[row] = _sigmoid(x_theta[row])
    for i in range(30):
        grad_U[i] = 0.0
    for row in range(N):
        weight = sigmoid_x_theta[row] - y[row]
        for i in range(30):
            grad_U[i] += weight * x[row, i]
    for i in range(30):
        grad_U[i] = theta[i] / prior_variance + grad_U[i]
    return grad_U


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def generator(theta, r, c, prior_variance, x, y):
    """Return L phi at one state, for phi = theta[i], r[i], theta[i]*theta[i], theta[i]*r[i], r[i]*r[i].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(30)
    L_r = np.empty(30)
    L_theta_theta = np.empty(30)
    L_theta_r = np.empty(30)
    L_r_r = np.empty(30)
    grad_U = full_gradient(theta, prior_variance, x, y)
    # L(theta[i]) = r[i]
    for i in range(30):
        L_theta[i] = r[i]
    # L(r[i]) = -grad_U[i] - c r[i]
    for i in range(30):
        L_r[i] = -grad_U[i] - c * r[i]
    # L(theta[i]*theta[i]) = 2 r[i] theta[i]
    for i in range(30):
        L_theta_theta[i] = 2.0 * r[i] * theta[i]
    # L(theta[i]*r[i]) = -grad_U[i] theta[i] - c r[i] theta[i] + r[i]**2
    for i in range(30):
        L_theta_r[i] = r[i] ** 2 - grad_U[i] * theta[i] - c * r[i] * theta[i]
    # L(r[i]*r[i]) = -2 grad_U[i] r[i] + 2 c - 2 c r[i]**2
    for i in range(30):
        L_r_r[i] = 2.0 * c - 2.0 * grad_U[i] * r[i] - 2.0 * c * r[i] ** 2
    return L_theta, L_r, L_theta_theta, L_theta_r, L_r_r


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


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cfunc_wrapper=True)
def _exprel(x):
    """Return (exp(x) - 1)/x, and 1 at 0: expm1 keeps the digits of small x."""
    return 1.0 if x == 0.0 else math.expm1(x) / x


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


def _check_array(name, array, shape, sizes, kinds=("float64",), written=False):
    """Check an array's type, shape and layout; sizes that are names are positive and the same wherever they occur.

    Raises TypeError, ValueError: what was found, and what was expected.
    """
    plain = type(array) in (np.ndarray, np.memmap)  # not one with a mask, which would not be looked at
    if not plain or all(array.dtype != kind for kind in kinds):
        found = f"an array of {array.dtype}" if plain else type(array).__name__
        raise TypeError(f"{name}: found {found}, expected a NumPy array of {' or '.join(kinds)}")
    known = tuple(sizes.get(size, size) for size in shape)
    pairs = tuple(zip(array.shape, known, strict=False))
    wanted = f"({', '.join(map(str, known))}{',' if len(known) == 1 else ''})"
    if array.ndim != len(shape) or any(isinstance(size, int) and size != found for found, size in pairs):
        raise ValueError(f"{name}: found the shape {array.shape}, expected {wanted}")
    for found, size in pairs:
        if found == 0 and not isinstance(size, int):
            raise ValueError(f"{name}: found the shape {array.shape}, expected {wanted} with {size} at least 1")
    sizes.update({size: found for found, size in pairs if not isinstance(size, int)})
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: found an array with gaps or by columns, expected np.ascontiguousarray of it")
    if written and not array.flags.writeable:
        raise ValueError(f"{name}: found an array that is read only, expected one that can be written")


def _check_finite(name, array):
    """Check that all entries of an array are finite numbers. Raises ValueError."""
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected finite numbers")


def _check_values(name, array, values):
    """Check that an array holds some values only. Raises ValueError."""
    bad = np.argwhere(~np.isin(array, values))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected one of {values}")


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
        found = f"an integer of {value.bit_length()} bits" if whole and not fits else value
        expected = f"{'an integer of 64 bits' if whole else 'a finite number'} {' and '.join(said)}".rstrip()
        raise ValueError(f"{name}: found {found}, expected {expected}")
    return value


def _check_words(name, state, words):
    """Check the state of a random stream: a row of what `seed_streams` returns. Raises TypeError, ValueError.

    words: how many there are, 0 for a numpy.random.Generator. A generator of four words that are zero stands still.
    """
    if not words:
        if not isinstance(state, np.random.Generator):
            raise TypeError(f"{name}: found {type(state).__name__}, expected a numpy.random.Generator")
        return
    _check_array(name, state, (words,), {}, ("uint64",), written=True)
    if words % 4 == 0 and not state.reshape(4, -1).any(axis=0).all():
        raise ValueError(f"{name}: found a state of zeros, which no draw leaves; expected a row of `seed_streams`")


def _check_apart(read, /, **arrays):
    """Check that no array that is written shares memory with another; those in `read` are not. Raises ValueError."""
    names = list(arrays)
    for k, name in enumerate(names):
        for other in names[:k]:
            if not {name, other} <= set(read) and np.may_share_memory(arrays[name], arrays[other]):
                raise ValueError(f"{other} and {name}: found arrays that share memory, expected arrays of their own")
