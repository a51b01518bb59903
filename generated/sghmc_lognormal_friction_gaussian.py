"""sghmc_lognormal_friction_gaussian: Langevin dynamics with lognormal friction.

Emitted by recipe_compiler (format 1) from sghmc_lognormal_friction and gaussian.
Spec digest (SHA-256): 9f4ddfe3374f05e88ed8f9310fe1f64f7acee8ae5fcda14ae7ee3fe6a106d75b

State:
    theta: column [2], real
    r: column [2], real
    x: column [2], positive

Energy:
    H = U(theta) + r.T @ r / 2 + (log(x) - m).T @ (log(x) - m) / (2*v) + sum(log(x))
    U = (theta - mu).T @ inv(Sigma) @ (theta - mu) / 2

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[r,r] = delta[i,j] x[i]
    D[x,x] = kappa v delta[i,j] x[i]**2
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Gamma[x] = 2 kappa v x[i]
    f[theta] = r[i]
    f[r] = -d_theta[i] U - r[i] x[i]
    f[x] = kappa m[i] x[i] + kappa v x[i] - kappa x[i] log(x[i])

Parameters:
    kappa: positive
    m: real
    v: positive
    mu: real
    Sigma: positive definite

Step:
    split: [B/2, A/2, X/2, O, X/2, A/2, B/2], the exact flow of each piece, one after the other; weak order 2
    grad U over all data; noise N(0, 2 eps D)

Claims:
    proved: D is symmetric (by index calculus for every size; second engine; given kappa is positive; v is positive)
    proved: D is positive semidefinite (by structure of D; given kappa is positive; v is positive; x > 0 inside its
        domain)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given U is smooth; kappa is
        positive; v is positive; x > 0 inside its domain)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given U is
        smooth; kappa is positive; v is positive; x > 0 inside its domain)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given U
        is smooth; kappa is positive; v is positive; x > 0 inside its domain)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given Sigma is
        positive definite; U is smooth; m is nonnegative; v is positive; x > 0 inside its domain)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given U is smooth; v is positive; x > 0 inside its domain)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given U is smooth; v
        is positive; x > 0 inside its domain)
    proved: D and Q are locally Lipschitz, and vanish nowhere that splits the state space (by Lipschitz; nonsingular
        by structure; given kappa is positive; v is positive; x > 0 inside its domain)
    proved: no probability flows through the faces of the domain (by exp(-H) falls faster than every power of the
        distance at x = 0: not reached; given v is positive)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given Sigma is
        positive definite)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        Sigma is positive definite)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by the gradient is exact)
    proved: D and Q do not reuse the gradient's minibatch (by there is no minibatch)
    proved: the pieces of the word make the equation (by index calculus for every size; second engine; given U is
        smooth; kappa is positive; v is positive; x > 0 inside its domain)
    proved: each piece is moved by its flow, exact or the one named (by A, B: shift; O: Ornstein-Uhlenbeck, entry by
        entry; X: Ornstein-Uhlenbeck, entry by entry, of log(x); second engine; given U is smooth; kappa is
        positive; v is positive; x > 0 inside its domain)
    advisory claims are decided by `recipe check`

Not checked here:
    pieces, flow, order and what pieces keep are about one step, other claims about the equation; how far the law
        that steps of one size settle at is from exp(-H) is computed where U is quadratic only

References:
    uhlenbeck1930
    ma2015recipe
"""

import math

import numpy as np
from numba import njit

FORMAT = 1
SPEC_DIGEST = "9f4ddfe3374f05e88ed8f9310fe1f64f7acee8ae5fcda14ae7ee3fe6a106d75b"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 2), ("r", 2), ("x", 2))
SIZES = ()
PARAMETERS = ("kappa", "m", "v", "mu", "Sigma")
CONSTANTS = ("inv_Sigma", "step_factor", "step_factor_2", "scale_x", "step_factor_3", "step_factor_4")
DATA = ()
ARGUMENTS = (
    "theta",
    "r",
    "x",
    "kappa",
    "m",
    "v",
    "mu",
    "Sigma",
    "inv_Sigma",
    "step_factor",
    "step_factor_2",
    "scale_x",
    "step_factor_3",
    "step_factor_4",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
    "x_draws",
)
MOMENTS = ("theta[i]", "r[i]", "theta[i]*theta[j]", "theta[i]*r[j]", "r[i]*r[j]")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def gradient(theta_0, theta_1, mu, inv_Sigma):
    """Return grad_U[i] = -sum_j inv(Sigma)[j,i] (mu[j] - theta[j])."""
    part = mu[0] - theta_0
    part_2 = mu[1] - theta_1
    inv_Sigma_difference_0 = inv_Sigma[0, 0] * part + inv_Sigma[0, 1] * part_2
    inv_Sigma_difference_1 = inv_Sigma[1, 0] * part + inv_Sigma[1, 1] * part_2
    grad_U_0 = -inv_Sigma_difference_0
    grad_U_1 = -inv_Sigma_difference_1
    return grad_U_0, grad_U_1


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_0,
    theta_1,
    r_0,
    r_1,
    x_0,
    x_1,
    grad_U_0,
    grad_U_1,
    m,
    mu,
    inv_Sigma,
    step_factor,
    step_factor_2,
    scale_x,
    step_factor_3,
    step_factor_4,
    noise_x_0,
    noise_x_1,
    noise_r_0,
    noise_r_1,
    noise_x_2_0,
    noise_x_2_1,
    eps,
):
    """Return one step (split): theta_new, r_new, x_new, grad_U_new; draw nothing."""
    # r_v1[i] = r[i] + eps*(-grad_U[i]/2)
    r_v1_0 = r_0 + step_factor * grad_U_0
    r_v1_1 = r_1 + step_factor * grad_U_1
    # theta_v1[i] = theta[i] + eps*(r_v1[i]/2)
    theta_v1_0 = theta_0 + step_factor_2 * r_v1_0
    theta_v1_1 = theta_1 + step_factor_2 * r_v1_1
    # log(x_v1[i]) = log(x[i]) + eps*(kappa exprel(-eps kappa/2) (m[i] - log(x[i]))/2) + noise
    log_part = math.log(x_0)
    part = scale_x * noise_x_0 + log_part + step_factor_3 * (m[0] - log_part)
    x_v1_0 = _inverse_log(part)
    log_part_2 = math.log(x_1)
    part_2 = step_factor_3 * (m[1] - log_part_2)
    x_v1_1 = _inverse_log(scale_x * noise_x_1 + log_part_2 + part_2)
    # r_v2[i] = r_v1[i] + eps*(-r_v1[i] x_v1[i] exprel(-eps x_v1[i])) + noise
    scale_r = eps * (2.0 * x_v1_0 * _exprel(-2.0 * eps * x_v1_0))
    scale_r = math.sqrt(scale_r)
    r_v2_0 = r_v1_0 * (1.0 + step_factor_4 * x_v1_0 * _exprel(-eps * x_v1_0)) + noise_r_0 * scale_r
    scale_r = eps * (2.0 * x_v1_1 * _exprel(-2.0 * eps * x_v1_1))
    scale_r = math.sqrt(scale_r)
    r_v2_1 = r_v1_1 * (1.0 + step_factor_4 * x_v1_1 * _exprel(-eps * x_v1_1)) + noise_r_1 * scale_r
    # log(x_new[i]) = log(x_v1[i]) + eps*(kappa exprel(-eps kappa/2) (m[i] - log(x_v1[i]))/2) + noise
    log_part_3 = math.log(x_v1_0)
    part_3 = step_factor_3 * (m[0] - log_part_3)
    x_new_0 = _inverse_log(scale_x * noise_x_2_0 + log_part_3 + part_3)
    log_part_4 = math.log(x_v1_1)
    part_4 = step_factor_3 * (m[1] - log_part_4)
    x_new_1 = _inverse_log(scale_x * noise_x_2_1 + log_part_4 + part_4)
    # theta_new[i] = theta_v1[i] + eps*(r_v2[i]/2)
    theta_new_0 = theta_v1_0 + step_factor_2 * r_v2_0
    theta_new_1 = theta_v1_1 + step_factor_2 * r_v2_1
    grad_U_new_0, grad_U_new_1 = gradient(theta_new_0, theta_new_1, mu, inv_Sigma)
    # r_new[i] = r_v2[i] + eps*(-grad_U_new[i]/2)
    r_new_0 = r_v2_0 + step_factor * grad_U_new_0
    r_new_1 = r_v2_1 + step_factor * grad_U_new_1
    return theta_new_0, theta_new_1, r_new_0, r_new_1, x_new_0, x_new_1, grad_U_new_0, grad_U_new_1


def prepare(kappa, m, v, mu, Sigma, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    inv_Sigma = np.linalg.inv(Sigma)
    step_factor = -eps / 2.0
    step_factor_2 = eps / 2.0
    exprel_of_constants = _exprel(-eps * kappa)
    scale_x = _noise_scale(kappa * v * exprel_of_constants, 0.0, eps, "x")
    exprel_of_constants_2 = _exprel(-eps * kappa / 2.0)
    step_factor_3 = eps * kappa * exprel_of_constants_2 / 2.0
    step_factor_4 = -eps
    return (inv_Sigma, step_factor, step_factor_2, scale_x, step_factor_3, step_factor_4)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta,
    r,
    x,
    kappa,
    m,
    v,
    mu,
    Sigma,
    inv_Sigma,
    step_factor,
    step_factor_2,
    scale_x,
    step_factor_3,
    step_factor_4,
    eps,
    thin,
    noise_state,
    theta_draws,
    r_draws,
    x_draws,
):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64; a block is as
    long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for each that is asked for, as
    wide as the block; random states are rows of what `seed_streams` returns.

    Registers: no data and 6 coordinates, so the state and all of a step are scalars.
    """
    theta_0 = theta[0]
    theta_1 = theta[1]
    r_0 = r[0]
    r_1 = r[1]
    x_0 = x[0]
    x_1 = x[1]
    grad_U_0, grad_U_1 = gradient(theta_0, theta_1, mu, inv_Sigma)
    s0 = noise_state[0]
    s1 = noise_state[1]
    s2 = noise_state[2]
    s3 = noise_state[3]
    done = theta_draws.shape[0]
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            noise_x_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_x_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_r_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_r_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_x_2_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_x_2_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            theta_0, theta_1, r_0, r_1, x_0, x_1, grad_U_0, grad_U_1 = step(
                theta_0,
                theta_1,
                r_0,
                r_1,
                x_0,
                x_1,
                grad_U_0,
                grad_U_1,
                m,
                mu,
                inv_Sigma,
                step_factor,
                step_factor_2,
                scale_x,
                step_factor_3,
                step_factor_4,
                noise_x_0,
                noise_x_1,
                noise_r_0,
                noise_r_1,
                noise_x_2_0,
                noise_x_2_1,
                eps,
            )
        theta_draws[kept, 0] = theta_0
        theta_draws[kept, 1] = theta_1
        r_draws[kept, 0] = r_0
        r_draws[kept, 1] = r_1
        x_draws[kept, 0] = x_0
        x_draws[kept, 1] = x_1
        finite = True
        finite = finite and abs(theta_0) <= 1.7976931348623157e308
        finite = finite and abs(theta_1) <= 1.7976931348623157e308
        finite = finite and abs(r_0) <= 1.7976931348623157e308
        finite = finite and abs(r_1) <= 1.7976931348623157e308
        finite = finite and abs(x_0) <= 1.7976931348623157e308
        finite = finite and abs(x_1) <= 1.7976931348623157e308
        if not finite:
            done = kept
            break
    theta[0] = theta_0
    theta[1] = theta_1
    r[0] = r_0
    r[1] = r_1
    x[0] = x_0
    x[1] = x_1
    noise_state[0] = s0
    noise_state[1] = s1
    noise_state[2] = s2
    noise_state[3] = s3
    return done


def checked_run(theta, r, x, kappa, m, v, mu, Sigma, eps, thin, noise_state, theta_draws, r_draws, x_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (2,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (2,), sizes, written=True)
    _check_finite("r", r)
    _check_array("x", x, (2,), sizes, written=True)
    _check_finite("x", x)
    kappa = _checked_number("kappa", kappa, above=0)
    _check_array("m", m, (2,), sizes)
    _check_finite("m", m)
    v = _checked_number("v", v, above=0)
    _check_array("mu", mu, (2,), sizes)
    _check_finite("mu", mu)
    _check_array("Sigma", Sigma, (2, 2), sizes)
    _check_finite("Sigma", Sigma)
    _check_kinds("Sigma", Sigma, ["positive definite"])
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    _check_array("theta_draws", theta_draws, ("draws", 2), sizes, written=True)
    _check_array("r_draws", r_draws, ("draws", 2), sizes, written=True)
    _check_array("x_draws", x_draws, ("draws", 2), sizes, written=True)
    _check_apart(
        ["m", "mu", "Sigma"],
        theta=theta,
        r=r,
        x=x,
        theta_draws=theta_draws,
        r_draws=r_draws,
        x_draws=x_draws,
        noise_state=noise_state,
        m=m,
        mu=mu,
        Sigma=Sigma,
    )
    inv_Sigma, step_factor, step_factor_2, scale_x, step_factor_3, step_factor_4 = prepare(kappa, m, v, mu, Sigma, eps)
    return run(
        theta,
        r,
        x,
        kappa,
        m,
        v,
        mu,
        Sigma,
        inv_Sigma,
        step_factor,
        step_factor_2,
        scale_x,
        step_factor_3,
        step_factor_4,
        eps,
        thin,
        noise_state,
        theta_draws,
        r_draws,
        x_draws,
    )


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


def prepare_generator(kappa, m, v, mu, Sigma):
    """Return what `generator` and `full_gradient` take beside the state, parameters and data."""
    inv_Sigma = np.linalg.inv(Sigma)
    return (inv_Sigma,)


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def full_gradient(theta, mu, inv_Sigma):
    """Return grad_U[i] = -sum_j inv(Sigma)[j,i] (mu[j] - theta[j])."""
    grad_U = np.empty(2)
    inv_Sigma_difference = np.empty(2)
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += inv_Sigma[i, j] * (mu[j] - theta[j])
        inv_Sigma_difference[i] = total
    for i in range(2):
        grad_U[i] = -inv_Sigma_difference[i]
    return grad_U


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def generator(theta, r, x, kappa, m, v, mu, Sigma, inv_Sigma):
    """Return L phi at one state, for phi = theta[i], r[i], theta[i]*theta[j], theta[i]*r[j], r[i]*r[j].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(2)
    L_r = np.empty(2)
    L_theta_theta = np.empty((2, 2))
    L_theta_r = np.empty((2, 2))
    L_r_r = np.empty((2, 2))
    grad_U = full_gradient(theta, mu, inv_Sigma)
    # L(theta[i]) = r[i]
    for i in range(2):
        L_theta[i] = r[i]
    # L(r[i]) = -grad_U[i] - r[i] x[i]
    for i in range(2):
        L_r[i] = -grad_U[i] - r[i] * x[i]
    # L(theta[i]*theta[j]) = r[i] theta[j] + r[j] theta[i]
    for i in range(2):
        for j in range(2):
            L_theta_theta[i, j] = r[i] * theta[j] + r[j] * theta[i]
    # L(theta[i]*r[j]) = -grad_U[j] theta[i] + r[i] r[j] - r[j] theta[i] x[j]
    for i in range(2):
        for j in range(2):
            L_theta_r[i, j] = r[i] * r[j] - grad_U[j] * theta[i] - r[j] * theta[i] * x[j]
    # L(r[i]*r[j]) = 2 delta[i,j] x[i] - grad_U[i] r[j] - grad_U[j] r[i] - r[i] r[j] x[i] - r[i] r[j] x[j]
    for i in range(2):
        for j in range(2):
            L_r_r[i, j] = (
                2.0 * (1.0 if i == j else 0.0) * x[i]
                - grad_U[i] * r[j]
                - grad_U[j] * r[i]
                - r[i] * r[j] * x[i]
                - r[i] * r[j] * x[j]
            )
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


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cfunc_wrapper=True)
def _exprel(x):
    """Return (exp(x) - 1)/x, and 1 at 0: expm1 keeps the digits of small x."""
    return 1.0 if x == 0.0 else math.expm1(x) / x


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _inverse_log(y):
    """Return the x with log(x) = y."""
    return _exp(y)


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
