"""sgnht_logistic: Stochastic gradient Nose-Hoover thermostat.

Emitted by recipe_compiler (format 1) from sgnht and logistic_regression.
Spec digest (SHA-256): 45df90825b2a40eaab53e7f3e5d029dc04ab26f56c6b9cf02df0d028b5bdc5fe

State:
    theta: column [30], real
    r: column [30], real
    xi: scalar, real

Energy:
    H = U(theta) + r.T @ r / 2 + d*(xi - A)**2/2
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = y*(x @ theta) - softplus(x @ theta)
    log_prior = -theta.T @ theta / (2*prior_variance)

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[r,r] = A delta[i,j]
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Q[r,xi] = r[i]/d
    Q[xi,r] = -r[j]/d
    Gamma[xi] = -1
    f[theta] = r[i]
    f[r] = -d_theta[i] U - xi r[i]
    f[xi] = sum_i r[i]**2/d - 1

Parameters:
    A: positive
    prior_variance: positive

Step:
    sequential Euler: r, then theta, then xi; the noise covariance is that of the old state; order 1
    grad U from a minibatch drawn without replacement, its sum scaled by N/n, the prior not
    noise N(0, 2 eps D): the covariance V of the minibatch gradient is taken to be 0, so the noise it adds
    is not subtracted and the draws are too wide by it

Claims:
    proved: D is symmetric (by index calculus for every size; second engine; given A is positive)
    proved: D is positive semidefinite (by structure of D; given A is positive)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given A is positive; U is
        smooth)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given A is
        positive; U is smooth)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given A
        is positive; U is smooth)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given A is positive;
        U is smooth; prior_variance is positive)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given A is positive; U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given A is positive;
        U is smooth)
    proved: D and Q are locally Lipschitz, and vanish nowhere that splits the state space (by Lipschitz; nonsingular
        by structure; given A is positive)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given
        prior_variance is positive)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        prior_variance is positive)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by V = 0: no gradient noise is subtracted)
    proved: D and Q do not reuse the gradient's minibatch (by structure: no entry of D or Q holds U)
    advisory claims are decided by `recipe check`

Not checked here:
    order is about one step, other claims about the equation; how far the law that steps of one size settle at is
        from exp(-H) is computed where U is quadratic only

References:
    ding2014sgnht
    ma2015recipe
"""

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

FORMAT = 1
SPEC_DIGEST = "45df90825b2a40eaab53e7f3e5d029dc04ab26f56c6b9cf02df0d028b5bdc5fe"
VARIANT = "minibatch"
REPLACEMENT = False
BLOCKS = (("theta", 30), ("r", 30), ("xi", 0))
SIZES = ()
PARAMETERS = ("A", "prior_variance")
CONSTANTS = ("scale_r",)
DATA = ("x", "y")
ARGUMENTS = (
    "theta",
    "r",
    "xi",
    "A",
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
    "xi_draws",
)
MOMENTS = ("theta[i]", "r[i]", "xi", "theta[i]*theta[i]", "theta[i]*r[i]", "r[i]*r[i]", "xi*xi")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U_tilde, theta, prior_variance, x, y, batch, x_theta, y_row, weight):
    """Write grad_U_tilde[i] = theta[i]/prior_variance
    + (N/batch_size) * sum over the batch of -x[n,i] y[n] + x[n,i] sigmoid(sum_j x[n,j] theta[j]).
    """
    N = x.shape[0]
    batch_size = batch.shape[0]
    for i in range(30):
        grad_U_tilde[i] = 0.0
    for start in range(np.uint64(0), np.uint64(batch_size - batch_size % 8), np.uint64(8)):
        for k in range(np.uint64(x_theta.shape[0])):
            row = batch[start + k]
            total = 0.0
            for i in range(np.uint64(x.shape[1])):
                total += x[row, i] * theta[i]
            x_theta[k] = total
            y_row[k] = y[row]
        for k in range(np.uint64(x_theta.shape[0])):
            sigmoid_x_theta = _sigmoid(x_theta[k])
            weight[k] = -y_row[k] + sigmoid_x_theta
        for first in range(np.uint64(0), np.uint64(weight.shape[0]), np.uint64(4)):
            row_0 = batch[start + first]
            row_1 = batch[start + first + np.uint64(1)]
            row_2 = batch[start + first + np.uint64(2)]
            row_3 = batch[start + first + np.uint64(3)]
            weight_0 = weight[first]
            weight_1 = weight[first + np.uint64(1)]
            weight_2 = weight[first + np.uint64(2)]
            weight_3 = weight[first + np.uint64(3)]
            for i in range(np.uint64(30)):
                grad_U_tilde[i] += (
                    weight_0 * x[row_0, i] + weight_1 * x[row_1, i] + weight_2 * x[row_2, i] + weight_3 * x[row_3, i]
                )
    for b in range(batch_size - batch_size % 8, batch_size):
        row = batch[b]
        total = 0.0
        for i in range(30):
            total += x[row, i] * theta[i]
        x_theta_alone = total
        sigmoid_x_theta = _sigmoid(x_theta_alone)
        weight_alone = -y[row] + sigmoid_x_theta
        for i in range(30):
            grad_U_tilde[i] += weight_alone * x[row, i]
    for i in range(30):
        grad_U_tilde[i] = theta[i] / prior_variance + N * grad_U_tilde[i] / batch_size


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new,
    r_new,
    xi_new,
    theta,
    r,
    xi,
    prior_variance,
    scale_r,
    x,
    y,
    batch,
    noise_r,
    eps,
    grad_U_tilde,
    x_theta,
    y_row,
    weight,
):
    """Write one step (sequential euler): theta_new, r_new, xi_new; draw nothing."""
    gradient(grad_U_tilde, theta, prior_variance, x, y, batch, x_theta, y_row, weight)
    # r_new[i] = r[i] + eps*(-grad_U_tilde[i] - xi r[i]) + noise
    for i in range(30):
        r_new[i] = r[i] + eps * (-grad_U_tilde[i] - r[i] * xi[0]) + scale_r * noise_r[i]
    # theta_new[i] = theta[i] + eps*(r_new[i])
    for i in range(30):
        theta_new[i] = theta[i] + eps * r_new[i]
    r_new_r_new = 0.0
    for i in range(30):
        r_new_r_new += r_new[i] ** 2
    # xi_new = xi + eps*(sum_i r_new[i]**2/30 - 1)
    xi_new[0] = xi[0] + eps * (r_new_r_new / 30.0 - 1.0)


def prepare(A, prior_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    scale_r = _noise_scale(2.0 * A, 0.0, eps, "r")
    return (scale_r,)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta,
    r,
    xi,
    A,
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
    xi_draws,
):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64, the data of
    float64 or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a
    row for each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.
    batch_size is from 1 to N, permutation begins as np.arange(N, dtype=np.uint64).

    Blocks of rows: 8 rows of the data at a time, summed while they are in the cache.
    """
    _wide_vectors()
    theta_new = np.empty(30)
    r_new = np.empty(30)
    xi_new = np.empty(1)
    grad_U_tilde = np.empty(30)
    x_theta = np.empty(8)
    y_row = np.empty(8)
    weight = np.empty(8)
    noise_r = np.empty(30)
    batch = np.empty(batch_size, np.uint64)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _shuffle_indices(batch_state, permutation, batch)
            _fill_normals(noise_state, noise_r)
            step(
                theta_new,
                r_new,
                xi_new,
                theta,
                r,
                xi,
                prior_variance,
                scale_r,
                x,
                y,
                batch,
                noise_r,
                eps,
                grad_U_tilde,
                x_theta,
                y_row,
                weight,
            )
            for entry in range(30):
                theta[entry] = theta_new[entry]
                r[entry] = r_new[entry]
            for entry in range(1):
                xi[entry] = xi_new[entry]
        finite = True
        for entry in range(30):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
        for entry in range(1):
            xi_draws[kept, entry] = xi[entry]
            finite = finite and abs(xi[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


def checked_run(
    theta,
    r,
    xi,
    A,
    prior_variance,
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
    xi_draws,
):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (30,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (30,), sizes, written=True)
    _check_finite("r", r)
    _check_array("xi", xi, (1,), sizes, written=True)
    _check_finite("xi", xi)
    _check_array("x", x, ("N", 30), sizes, ("float64", "float32"))
    _check_finite("x", x)
    _check_array("y", y, ("N",), sizes, ("float64", "float32"))
    _check_finite("y", y)
    _check_values("y", y, [0, 1])
    A = _checked_number("A", A, above=0)
    prior_variance = _checked_number("prior_variance", prior_variance, above=0)
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    batch_size = _checked_number("batch_size", batch_size, whole=True, least=1, most=x.shape[0])
    _check_words("batch_state", batch_state, 4)
    _check_places("permutation", permutation, x.shape[0])
    _check_array("theta_draws", theta_draws, ("draws", 30), sizes, written=True)
    _check_array("r_draws", r_draws, ("draws", 30), sizes, written=True)
    _check_array("xi_draws", xi_draws, ("draws", 1), sizes, written=True)
    _check_apart(
        ["x", "y"],
        theta=theta,
        r=r,
        xi=xi,
        theta_draws=theta_draws,
        r_draws=r_draws,
        xi_draws=xi_draws,
        noise_state=noise_state,
        batch_state=batch_state,
        permutation=permutation,
        x=x,
        y=y,
    )
    (scale_r,) = prepare(A, prior_variance, eps)
    return run(
        theta,
        r,
        xi,
        A,
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
        xi_draws,
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
def generator(theta, r, xi, A, prior_variance, x, y):
    """Return L phi at one state, for phi = theta[i], r[i], xi, theta[i]*theta[i], theta[i]*r[i], r[i]*r[i], xi*xi.
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(30)
    L_r = np.empty(30)
    L_xi = np.empty(1)
    L_theta_theta = np.empty(30)
    L_theta_r = np.empty(30)
    L_r_r = np.empty(30)
    L_xi_xi = np.empty(1)
    grad_U = full_gradient(theta, prior_variance, x, y)
    # L(theta[i]) = r[i]
    for i in range(30):
        L_theta[i] = r[i]
    # L(r[i]) = -grad_U[i] - xi r[i]
    for i in range(30):
        L_r[i] = -grad_U[i] - r[i] * xi[0]
    r_r = 0.0
    for i in range(30):
        r_r += r[i] ** 2
    # L(xi) = sum_i r[i]**2/30 - 1
    L_xi[0] = r_r / 30.0 - 1.0
    # L(theta[i]*theta[i]) = 2 r[i] theta[i]
    for i in range(30):
        L_theta_theta[i] = 2.0 * r[i] * theta[i]
    # L(theta[i]*r[i]) = -grad_U[i] theta[i] - xi r[i] theta[i] + r[i]**2
    for i in range(30):
        L_theta_r[i] = r[i] ** 2 - grad_U[i] * theta[i] - r[i] * theta[i] * xi[0]
    # L(r[i]*r[i]) = 2 A - 2 grad_U[i] r[i] - 2 xi r[i]**2
    for i in range(30):
        L_r_r[i] = 2.0 * A - 2.0 * grad_U[i] * r[i] - 2.0 * r[i] ** 2 * xi[0]
    # L(xi*xi) = sum_i xi r[i]**2/15 - 2 xi
    L_xi_xi[0] = xi[0] * r_r / 15.0 - 2.0 * xi[0]
    return L_theta, L_r, L_xi, L_theta_theta, L_theta_r, L_r_r, L_xi_xi


def one_step(theta, r, xi, A, prior_variance, scale_r, x, y, batch, noise_r, eps):
    """Return the state after one step from a batch of rows and standard normals; draw nothing."""
    theta_new = np.zeros(30)
    r_new = np.zeros(30)
    xi_new = np.zeros(1)
    grad_U_tilde = np.zeros(30)
    x_theta = np.zeros(8)
    y_row = np.zeros(8)
    weight = np.zeros(8)
    step(
        theta_new,
        r_new,
        xi_new,
        theta,
        r,
        xi,
        prior_variance,
        scale_r,
        x,
        y,
        batch,
        noise_r,
        eps,
        grad_U_tilde,
        x_theta,
        y_row,
        weight,
    )
    return np.concatenate((theta_new, r_new, xi_new))


def forecast(theta, r, xi, A, prior_variance, x, y, batch_size, eps, noise_kept="as it is"):
    """Return the state z* around which a chain stays, and covariances there:
    of theta under exp(-H), in a chain with exact gradients, in this chain.
    noise_kept: "as it is"; "subtracted", by a V known at z*; or of a gradient with "control variates" at z*.
    """
    (scale_r,) = prepare(A, prior_variance, eps)
    _ends = np.cumsum([theta.size, r.size, xi.size])
    _counts = np.cumsum([30])

    def after_step(_z, batch, _normals):
        theta, r, xi = np.split(_z, _ends[:-1])
        (noise_r,) = np.split(_normals, _counts[:-1])
        return one_step(theta, r, xi, A, prior_variance, scale_r, x, y, batch, noise_r, eps)

    def grad_at(theta):
        return full_gradient(theta, prior_variance, x, y)

    return _forecast(
        after_step,
        grad_at,
        np.concatenate((theta, r, xi)),
        slice(0, _ends[0]),
        _counts[-1],
        x.shape[0],
        batch_size,
        REPLACEMENT,
        noise_kept,
    )


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


def _check_places(name, permutation, count):
    """Check that an array holds every number below `count` once. Raises TypeError, ValueError."""
    _check_array(name, permutation, (count,), {}, ("uint64",), written=True)
    if permutation.max(initial=0) >= count or (np.bincount(permutation.astype(np.int64)) != 1).any():
        raise ValueError(f"{name}: expected every number from 0 to {count - 1} once, as np.arange({count}) has them")


def _check_apart(read, /, **arrays):
    """Check that no array that is written shares memory with another; those in `read` are not. Raises ValueError."""
    names = list(arrays)
    for k, name in enumerate(names):
        for other in names[:k]:
            if not {name, other} <= set(read) and np.may_share_memory(arrays[name], arrays[other]):
                raise ValueError(f"{other} and {name}: found arrays that share memory, expected arrays of their own")


_FORECAST_ROWS = 4_000  # batches of one row that are looked at for one average over the state


def _jacobian(function, z, widths=None):
    """Return d function/dz by central differences."""
    widths = 1e-5 * (1.0 + np.abs(z)) if widths is None else widths
    columns = [(function(z + w) - function(z - w)) / (2.0 * w.max()) for w in np.diag(widths)]
    return np.array(columns).T


def _widths(slope, z, block):
    """Return widths of differences at z: of theta 1e-4 of 1/sqrt(d^2 U/d theta_i^2), as far as U curves upwards."""
    widths = 1e-5 * (1.0 + np.abs(z))
    for _ in range(5):  # a difference over a poor width gives a better one
        old = widths[block].copy()
        with np.errstate(all="ignore"):
            bent = np.diag(_jacobian(slope, z[block], old))
            better = np.where(bent > 0.0, 1e-4 / np.sqrt(bent), old)
        widths[block] = np.where(np.isnan(bent), 1e-3 * old, np.clip(better, 1e-3 * old, 1e3 * old))
        if (np.abs(widths[block] - old) <= 0.1 * old).all():
            break
    return widths


def _standstill(change, z, widths=None):
    """Return the state where `change` is zero and its matrix there, by Newton's method with halved steps."""
    reason = "its limit of 100 turns"
    widths = 1e-5 * (1.0 + np.abs(z)) if widths is None else widths
    with np.errstate(all="ignore"):
        for _ in range(100):
            slopes = _jacobian(change, z, widths)
            if not np.isfinite(slopes).all():
                reason = "values that are not finite"
                break
            try:
                move = -np.linalg.solve(slopes, change(z))
            except np.linalg.LinAlgError:
                reason = "a singular matrix"
                break
            if (np.abs(move) <= 1e-3 * widths).all():
                return z + move, slopes
            share = 1.0
            while share > 1e-6:
                left = np.linalg.solve(slopes, change(z + share * move))
                if np.linalg.norm(left) <= (1.0 - 0.25 * share) * np.linalg.norm(move):
                    break
                share *= 0.5
            if not share > 1e-6:
                reason = "a state from which no shorter step leads on"
                break
            z = z + share * move
        left = np.linalg.norm(change(z))
    raise ValueError(
        f"no state was found where the step stands still on average: Newton's method met {reason} (a step moves by "
        f"{left:.2g} there)"
    )


def _stationary(M, N):
    """Return S = M S M^T + N = sum_k M^k N (M^T)^k, twice as many terms at every turn."""
    found, power = N, M
    while np.abs(power).max() > 1e-12:
        found = found + power @ found @ power.T
        power = power @ power
    return found


def _curvature(slope, theta, widths):
    """Return the Hessian of U, which is positive definite around a mode."""
    slopes = _jacobian(slope, theta, widths)
    curvature = (slopes + slopes.T) / 2.0
    units = np.sqrt(np.abs(np.diag(curvature))) + 1e-300
    least = np.linalg.eigvalsh(curvature / np.outer(units, units))[0]
    if not least > 1e-7:
        kind = "U is flat in a direction" if least > -1e-7 else "U curves downwards in a direction"
        raise ValueError(f"{kind} where the step stands still on average (smallest curvature {least:.1g} in its units)")
    return curvature


def _demand_return(M):
    """Raise ValueError where a chain z+ = M z does not come back to 0."""
    slowest = np.abs(np.linalg.eigvals(M)).max()
    if not slowest < 1.0 + 1e-8:
        raise ValueError("the chain is unstable: the step size is too large")
    if not slowest < 1.0 - 1e-9:
        raise ValueError("a step of this size moves the chain too little to tell whether it comes back to the mode")


def _forecast(take, slope, z, block, normals, rows, batch_size, replacement, noise):
    """Return a state z* and covariances: of exp(-H), of the chain with exact gradients, of the chain.

    take(z, batch, normals) is the state after one step, slope(theta) the gradient of all data; z[block] is theta.
    noise says what is made of the noise of the gradient: "as it is"; "subtracted", V at z* being known; or "control
    variates", where only what it differs from z* by counts. ValueError where no chain stays around z*.
    """
    every, quiet = np.arange(rows, dtype=np.uint64), np.zeros(normals)

    def change(at):
        return take(at, every, quiet) - at

    widths = _widths(slope, z, block)
    z, slopes = _standstill(change, z, widths)
    curvature = _curvature(slope, z[block], widths[block])
    M = np.eye(z.size) + slopes
    _demand_return(M)
    order = np.random.default_rng(0).permutation(rows)
    drawn = 1.0 / batch_size if replacement or rows == 1 else (rows - batch_size) / (batch_size * (rows - 1.0))

    def of_rows(at, chosen):
        return np.array([take(at, every[row : row + 1], quiet) for row in chosen])

    def of_gradient(values):
        """Return the covariance of the mean of a batch from values of single rows, drawn from among all."""
        return np.atleast_2d(np.cov(values.T)) * ((rows - 1.0) / rows * drawn)

    def of_normals(at):
        start = take(at, every[:1], quiet)
        factor = np.array([take(at, every[:1], unit) - start for unit in np.eye(normals)]).reshape(normals, z.size)
        return factor.T @ factor

    known = order[:_FORECAST_ROWS]
    middle = of_rows(z, known)
    if known.size == rows and not np.allclose(middle.mean(axis=0), take(z, every, quiet), rtol=1e-6, atol=1e-9):
        raise ValueError("the step is not linear in the gradient")
    own, V = of_normals(z), of_gradient(middle)
    subtracted = V if noise == "subtracted" else 0.0 * V
    if np.linalg.eigvalsh(own - subtracted)[0] < -1e-9 * np.abs(own).max():
        raise ValueError("2D - eps B_hat is not positive semidefinite")
    exact = _stationary(M, own)
    size = min(known.size, max(_FORECAST_ROWS // (2 * z.size), 32))
    root = _root(exact).sum(axis=0)
    steady = np.allclose(of_normals(z + root), own, rtol=1e-6, atol=1e-9 * np.abs(own).max())

    def around(points):
        """Return the covariance of the noise of a step, over states around z*."""
        total = np.zeros_like(own)
        for k, away in enumerate(points):
            chosen = (k * size + np.arange(size)) % known.size
            found = of_rows(z + away, known[chosen])
            total += of_gradient(found - middle[chosen] if noise == "control variates" else found)
            total += (own if steady else of_normals(z + away)) - subtracted
        return total / len(points)

    start = own - subtracted + (0.0 * V if noise == "control variates" else V)
    chain = _settled(M, _stationary(M, start), around, 1e4 * np.abs(exact).max())
    return z, np.linalg.inv(curvature), exact[block, block], chain[block, block]


def _root(S):
    """Return the symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _settled(M, start, around, most):
    """Return S = M S M^T + N, with N the mean over N(z*, S) of what `around` says, from a first guess of S."""
    old = start
    for _ in range(30):
        spread = np.sqrt(len(old)) * _root(old)
        new = _stationary(M, around(np.concatenate((spread, -spread))))
        if np.abs(new - old).max() <= 1e-3 * np.abs(new).max():
            return new
        if not np.abs(new).max() < most:
            break
        old = new
    raise ValueError("the noise of the gradient grows without bound: the step size is too large")
