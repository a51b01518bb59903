"""sgnht_gaussian: Stochastic gradient Nose-Hoover thermostat.

Emitted by recipe_compiler (format 1) from sgnht and gaussian.
Spec digest (SHA-256): 0d6e0bcdf79d829b2526d4150c1be7e12db60222f4def928a989cc4cdc2884e1

State:
    theta: column [3], real
    r: column [3], real
    xi: scalar, real

Energy:
    H = U(theta) + r.T @ r / 2 + d*(xi - A)**2/2
    U = (theta - mu).T @ inv(Sigma) @ (theta - mu) / 2

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
    mu: real
    Sigma: positive definite

Step:
    sequential Euler: r, then theta, then xi; the noise covariance is that of the old state; order 1
    grad U over all data; noise N(0, 2 eps D)

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
        Sigma is positive definite; U is smooth)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given A is positive; U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given A is positive;
        U is smooth)
    proved: D and Q are locally Lipschitz, and vanish nowhere that splits the state space (by Lipschitz; nonsingular
        by structure; given A is positive)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given Sigma is
        positive definite)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        Sigma is positive definite)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by the gradient is exact)
    proved: D and Q do not reuse the gradient's minibatch (by there is no minibatch)
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
SPEC_DIGEST = "0d6e0bcdf79d829b2526d4150c1be7e12db60222f4def928a989cc4cdc2884e1"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3), ("r", 3), ("xi", 0))
SIZES = ()
PARAMETERS = ("A", "mu", "Sigma")
CONSTANTS = ("scale_r", "inv_Sigma")
DATA = ()
ARGUMENTS = (
    "theta",
    "r",
    "xi",
    "A",
    "mu",
    "Sigma",
    "scale_r",
    "inv_Sigma",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
    "xi_draws",
)
LANES_ARGUMENTS = ("lanes", "mu", "scale_r", "inv_Sigma", "eps", "thin", "noise_state", "kept", "lanes_draws")
MOMENTS = (
    "theta[i]",
    "r[i]",
    "xi",
    "theta[i]*theta[j]",
    "theta[i]*r[j]",
    "theta[i]*xi",
    "r[i]*r[j]",
    "r[i]*xi",
    "xi*xi",
)
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def gradient(theta_0, theta_1, theta_2, mu, inv_Sigma):
    """Return grad_U[i] = -sum_j inv(Sigma)[j,i] (mu[j] - theta[j])."""
    part = mu[0] - theta_0
    part_2 = mu[1] - theta_1
    part_3 = mu[2] - theta_2
    inv_Sigma_difference_0 = inv_Sigma[0, 0] * part + inv_Sigma[0, 1] * part_2 + inv_Sigma[0, 2] * part_3
    inv_Sigma_difference_1 = inv_Sigma[1, 0] * part + inv_Sigma[1, 1] * part_2 + inv_Sigma[1, 2] * part_3
    inv_Sigma_difference_2 = inv_Sigma[2, 0] * part + inv_Sigma[2, 1] * part_2 + inv_Sigma[2, 2] * part_3
    grad_U_0 = -inv_Sigma_difference_0
    grad_U_1 = -inv_Sigma_difference_1
    grad_U_2 = -inv_Sigma_difference_2
    return grad_U_0, grad_U_1, grad_U_2


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(theta_0, theta_1, theta_2, r_0, r_1, r_2, xi_0, mu, scale_r, inv_Sigma, noise_r_0, noise_r_1, noise_r_2, eps):
    """Return one step (sequential euler): theta_new, r_new, xi_new; draw nothing."""
    grad_U_0, grad_U_1, grad_U_2 = gradient(theta_0, theta_1, theta_2, mu, inv_Sigma)
    # r_new[i] = r[i] + eps*(-grad_U[i] - xi r[i]) + noise
    r_new_0 = r_0 + scale_r * noise_r_0 + eps * (-r_0 * xi_0 - grad_U_0)
    r_new_1 = r_1 + scale_r * noise_r_1 + eps * (-r_1 * xi_0 - grad_U_1)
    r_new_2 = r_2 + scale_r * noise_r_2 + eps * (-r_2 * xi_0 - grad_U_2)
    # theta_new[i] = theta[i] + eps*(r_new[i])
    theta_new_0 = theta_0 + eps * r_new_0
    theta_new_1 = theta_1 + eps * r_new_1
    theta_new_2 = theta_2 + eps * r_new_2
    r_new_r_new = r_new_0 * r_new_0 + r_new_1 * r_new_1 + r_new_2 * r_new_2
    # xi_new = xi + eps*(sum_i r_new[i]**2/3 - 1)
    xi_new_0 = xi_0 + eps * (-1.0 + r_new_r_new / 3.0)
    return theta_new_0, theta_new_1, theta_new_2, r_new_0, r_new_1, r_new_2, xi_new_0


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step_lanes(lanes, mu, scale_r, inv_Sigma, lanes_noise, eps):
    """Advance 64 chains by one step, in place; draw nothing."""
    for lane in range(np.uint64(64)):
        theta_0 = lanes[lane]
        theta_1 = lanes[np.uint64(64) + lane]
        theta_2 = lanes[np.uint64(128) + lane]
        r_0 = lanes[np.uint64(192) + lane]
        r_1 = lanes[np.uint64(256) + lane]
        r_2 = lanes[np.uint64(320) + lane]
        xi_0 = lanes[np.uint64(384) + lane]
        noise_r_0 = lanes_noise[lane]
        noise_r_1 = lanes_noise[np.uint64(64) + lane]
        noise_r_2 = lanes_noise[np.uint64(128) + lane]
        theta_0, theta_1, theta_2, r_0, r_1, r_2, xi_0 = step(
            theta_0, theta_1, theta_2, r_0, r_1, r_2, xi_0, mu, scale_r, inv_Sigma, noise_r_0, noise_r_1, noise_r_2, eps
        )
        lanes[lane] = theta_0
        lanes[np.uint64(64) + lane] = theta_1
        lanes[np.uint64(128) + lane] = theta_2
        lanes[np.uint64(192) + lane] = r_0
        lanes[np.uint64(256) + lane] = r_1
        lanes[np.uint64(320) + lane] = r_2
        lanes[np.uint64(384) + lane] = xi_0


def prepare(A, mu, Sigma, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    scale_r = _noise_scale(2.0 * A, 0.0, eps, "r")
    inv_Sigma = np.linalg.inv(Sigma)
    return (scale_r, inv_Sigma)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, r, xi, A, mu, Sigma, scale_r, inv_Sigma, eps, thin, noise_state, theta_draws, r_draws, xi_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64; a block is as
    long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for each that is asked for, as
    wide as the block; random states are rows of what `seed_streams` returns.

    Registers: no data and 7 coordinates, so the state and all of a step are scalars.
    """
    theta_0 = theta[0]
    theta_1 = theta[1]
    theta_2 = theta[2]
    r_0 = r[0]
    r_1 = r[1]
    r_2 = r[2]
    xi_0 = xi[0]
    s0 = noise_state[0]
    s1 = noise_state[1]
    s2 = noise_state[2]
    s3 = noise_state[3]
    done = theta_draws.shape[0]
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            noise_r_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_r_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_r_2, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            theta_0, theta_1, theta_2, r_0, r_1, r_2, xi_0 = step(
                theta_0,
                theta_1,
                theta_2,
                r_0,
                r_1,
                r_2,
                xi_0,
                mu,
                scale_r,
                inv_Sigma,
                noise_r_0,
                noise_r_1,
                noise_r_2,
                eps,
            )
        theta_draws[kept, 0] = theta_0
        theta_draws[kept, 1] = theta_1
        theta_draws[kept, 2] = theta_2
        r_draws[kept, 0] = r_0
        r_draws[kept, 1] = r_1
        r_draws[kept, 2] = r_2
        xi_draws[kept, 0] = xi_0
        finite = True
        finite = finite and abs(theta_0) <= 1.7976931348623157e308
        finite = finite and abs(theta_1) <= 1.7976931348623157e308
        finite = finite and abs(theta_2) <= 1.7976931348623157e308
        finite = finite and abs(r_0) <= 1.7976931348623157e308
        finite = finite and abs(r_1) <= 1.7976931348623157e308
        finite = finite and abs(r_2) <= 1.7976931348623157e308
        finite = finite and abs(xi_0) <= 1.7976931348623157e308
        if not finite:
            done = kept
            break
    theta[0] = theta_0
    theta[1] = theta_1
    theta[2] = theta_2
    r[0] = r_0
    r[1] = r_1
    r[2] = r_2
    xi[0] = xi_0
    noise_state[0] = s0
    noise_state[1] = s1
    noise_state[2] = s2
    noise_state[3] = s3
    return done


def checked_run(theta, r, xi, A, mu, Sigma, eps, thin, noise_state, theta_draws, r_draws, xi_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (3,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (3,), sizes, written=True)
    _check_finite("r", r)
    _check_array("xi", xi, (1,), sizes, written=True)
    _check_finite("xi", xi)
    A = _checked_number("A", A, above=0)
    _check_array("mu", mu, (3,), sizes)
    _check_finite("mu", mu)
    _check_array("Sigma", Sigma, (3, 3), sizes)
    _check_finite("Sigma", Sigma)
    _check_kinds("Sigma", Sigma, ["positive definite"])
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    _check_array("theta_draws", theta_draws, ("draws", 3), sizes, written=True)
    _check_array("r_draws", r_draws, ("draws", 3), sizes, written=True)
    _check_array("xi_draws", xi_draws, ("draws", 1), sizes, written=True)
    _check_apart(
        ["mu", "Sigma"],
        theta=theta,
        r=r,
        xi=xi,
        theta_draws=theta_draws,
        r_draws=r_draws,
        xi_draws=xi_draws,
        noise_state=noise_state,
        mu=mu,
        Sigma=Sigma,
    )
    scale_r, inv_Sigma = prepare(A, mu, Sigma, eps)
    return run(theta, r, xi, A, mu, Sigma, scale_r, inv_Sigma, eps, thin, noise_state, theta_draws, r_draws, xi_draws)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run_lanes(lanes, mu, scale_r, inv_Sigma, eps, thin, noise_state, kept, lanes_draws):
    """Advance 64 chains and keep every thin-th state of each in a row of lanes_draws.

    Entry k of the state of lane l is lanes[64 * k + l], in a row of lanes_draws too; word w of its
    random state is noise_state[64 * w + l]. Each kept[l] counts its draws before it left the finite
    numbers. Fastest where lanes and noise_state start at multiples of 512 bytes.
    """
    _wide_vectors()
    lanes_noise = _empty_rows(6)
    kept[:] = 0
    for draw in range(lanes_draws.shape[0]):
        for turn in range(thin):
            if turn % 2 == 0:
                _fill_normals_lanes(noise_state, lanes_noise[: 192 * min(2, thin - turn)])
            step_lanes(lanes, mu, scale_r, inv_Sigma, lanes_noise[192 * (turn % 2) :], eps)
        for lane in range(np.uint64(64)):
            finite = kept[lane] == draw
            finite &= abs(lanes[lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(64) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(128) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(192) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(256) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(320) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(384) + lane]) <= 1.7976931348623157e308
            kept[lane] += finite
        for entry in range(448):
            lanes_draws[draw, entry] = lanes[entry]


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


def prepare_generator(A, mu, Sigma):
    """Return what `generator` and `full_gradient` take beside the state, parameters and data."""
    inv_Sigma = np.linalg.inv(Sigma)
    return (inv_Sigma,)


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def full_gradient(theta, mu, inv_Sigma):
    """Return grad_U[i] = -sum_j inv(Sigma)[j,i] (mu[j] - theta[j])."""
    grad_U = np.empty(3)
    inv_Sigma_difference = np.empty(3)
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_Sigma[i, j] * (mu[j] - theta[j])
        inv_Sigma_difference[i] = total
    for i in range(3):
        grad_U[i] = -inv_Sigma_difference[i]
    return grad_U


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def generator(theta, r, xi, A, mu, Sigma, inv_Sigma):
    """Return L phi at one state, for phi = theta[i], r[i], xi, theta[i]*theta[j], theta[i]*r[j], theta[i]*xi,
    r[i]*r[j], r[i]*xi, xi*xi.
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(3)
    L_r = np.empty(3)
    L_xi = np.empty(1)
    L_theta_theta = np.empty((3, 3))
    L_theta_r = np.empty((3, 3))
    L_theta_xi = np.empty(3)
    L_r_r = np.empty((3, 3))
    L_r_xi = np.empty(3)
    L_xi_xi = np.empty(1)
    grad_U = full_gradient(theta, mu, inv_Sigma)
    # L(theta[i]) = r[i]
    for i in range(3):
        L_theta[i] = r[i]
    # L(r[i]) = -grad_U[i] - xi r[i]
    for i in range(3):
        L_r[i] = -grad_U[i] - r[i] * xi[0]
    r_r = 0.0
    for i in range(3):
        r_r += r[i] ** 2
    # L(xi) = sum_i r[i]**2/3 - 1
    L_xi[0] = r_r / 3.0 - 1.0
    # L(theta[i]*theta[j]) = r[i] theta[j] + r[j] theta[i]
    for i in range(3):
        for j in range(3):
            L_theta_theta[i, j] = r[i] * theta[j] + r[j] * theta[i]
    # L(theta[i]*r[j]) = -grad_U[j] theta[i] + r[i] r[j] - xi r[j] theta[i]
    for i in range(3):
        for j in range(3):
            L_theta_r[i, j] = r[i] * r[j] - grad_U[j] * theta[i] - r[j] * theta[i] * xi[0]
    # L(theta[i]*xi) = sum_j theta[i] r[j]**2/3 + xi r[i] - theta[i]
    for i in range(3):
        L_theta_xi[i] = theta[i] * r_r / 3.0 + r[i] * xi[0] - theta[i]
    # L(r[i]*r[j]) = 2 A delta[i,j] - grad_U[i] r[j] - grad_U[j] r[i] - 2 xi r[i] r[j]
    for i in range(3):
        for j in range(3):
            L_r_r[i, j] = (
                2.0 * (1.0 if i == j else 0.0) * A - grad_U[i] * r[j] - grad_U[j] * r[i] - 2.0 * r[i] * r[j] * xi[0]
            )
    # L(r[i]*xi) = sum_j r[i] r[j]**2/3 - xi grad_U[i] - r[i] - xi**2 r[i]
    for i in range(3):
        L_r_xi[i] = r[i] * r_r / 3.0 - grad_U[i] * xi[0] - r[i] - r[i] * xi[0] ** 2
    # L(xi*xi) = sum_i 2 xi r[i]**2/3 - 2 xi
    L_xi_xi[0] = (2.0 / 3.0) * xi[0] * r_r - 2.0 * xi[0]
    return L_theta, L_r, L_xi, L_theta_theta, L_theta_r, L_theta_xi, L_r_r, L_r_xi, L_xi_xi


# Support: random streams, stable functions, noise factors. The same text in every emitted module.


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
