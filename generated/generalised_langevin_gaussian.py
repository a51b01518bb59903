"""generalised_langevin_gaussian: Generalised Langevin dynamics with k memory variables.

Emitted by recipe_compiler (format 1) from generalised_langevin and gaussian.
Spec digest (SHA-256): 10938d83aaab6563c9c3163a332645c89da18ab8e6b1d74cd1f4c04bb4d8acca

State:
    theta: column [3], real
    r: column [3], real
    w: column [2], real

Energy:
    H = U(theta) + r.T @ inv(M) @ r / 2 + w.T @ w / 2
    U = (theta - mu).T @ inv(Sigma) @ (theta - mu) / 2

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[w,w] = A[i,j]
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Q[r,w] = -Lambda[i,j]
    Q[w,r] = Lambda[j,i]
    Gamma = 0
    f[theta] = sum_j inv(M)[j,i] r[j]
    f[r] = sum_j Lambda[i,j] w[j] - d_theta[i] U
    f[w] = -sum_j A[j,i] w[j] - sum_jl Lambda[j,i] inv(M)[j,l] r[l]

Parameters:
    M: positive definite
    Lambda: real
    A: positive semidefinite
    mu: real
    Sigma: positive definite

Step:
    sequential Euler: r, then theta, then w; the noise covariance is that of the old state; order 1
    grad U over all data; noise N(0, 2 eps D)

Claims:
    proved: D is symmetric (by index calculus for every size; second engine; given A is positive semidefinite)
    proved: D is positive semidefinite (by structure of D; given A is positive semidefinite)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given A is positive
        semidefinite; M is positive definite; U is smooth)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given A is
        positive semidefinite; M is positive definite; U is smooth)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given A
        is positive semidefinite; M is positive definite; U is smooth)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given M is positive
        definite; Sigma is positive definite; U is smooth)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given M is positive definite; U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given M is positive
        definite; U is smooth)
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
    ceriotti2010colored
    ottobre2011gle
"""

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

FORMAT = 1
SPEC_DIGEST = "10938d83aaab6563c9c3163a332645c89da18ab8e6b1d74cd1f4c04bb4d8acca"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3), ("r", 3), ("w", 2))
SIZES = ()
PARAMETERS = ("M", "Lambda", "A", "mu", "Sigma")
CONSTANTS = ("L_w", "inv_Sigma", "inv_M")
DATA = ()
ARGUMENTS = (
    "theta",
    "r",
    "w",
    "M",
    "Lambda",
    "A",
    "mu",
    "Sigma",
    "L_w",
    "inv_Sigma",
    "inv_M",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
    "w_draws",
)
LANES_ARGUMENTS = (
    "lanes",
    "Lambda",
    "A",
    "mu",
    "L_w",
    "inv_Sigma",
    "inv_M",
    "eps",
    "thin",
    "noise_state",
    "kept",
    "lanes_draws",
)
MOMENTS = (
    "theta[i]",
    "r[i]",
    "w[i]",
    "theta[i]*theta[j]",
    "theta[i]*r[j]",
    "theta[i]*w[j]",
    "r[i]*r[j]",
    "r[i]*w[j]",
    "w[i]*w[j]",
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
def step(
    theta_0, theta_1, theta_2, r_0, r_1, r_2, w_0, w_1, Lambda, A, mu, L_w, inv_Sigma, inv_M, noise_w_0, noise_w_1, eps
):
    """Return one step (sequential euler): theta_new, r_new, w_new; draw nothing."""
    L_w_noise_w_0 = L_w[0, 0] * noise_w_0 + L_w[0, 1] * noise_w_1
    L_w_noise_w_1 = L_w[1, 0] * noise_w_0 + L_w[1, 1] * noise_w_1
    grad_U_0, grad_U_1, grad_U_2 = gradient(theta_0, theta_1, theta_2, mu, inv_Sigma)
    Lambda_w_0 = Lambda[0, 0] * w_0 + Lambda[0, 1] * w_1
    Lambda_w_1 = Lambda[1, 0] * w_0 + Lambda[1, 1] * w_1
    Lambda_w_2 = Lambda[2, 0] * w_0 + Lambda[2, 1] * w_1
    # r_new[i] = r[i] + eps*(sum_j Lambda[i,j] w[j] - grad_U[i])
    r_new_0 = r_0 + eps * (Lambda_w_0 - grad_U_0)
    r_new_1 = r_1 + eps * (Lambda_w_1 - grad_U_1)
    r_new_2 = r_2 + eps * (Lambda_w_2 - grad_U_2)
    inv_M_r_new_0 = inv_M[0, 0] * r_new_0 + inv_M[0, 1] * r_new_1 + inv_M[0, 2] * r_new_2
    inv_M_r_new_1 = inv_M[1, 0] * r_new_0 + inv_M[1, 1] * r_new_1 + inv_M[1, 2] * r_new_2
    inv_M_r_new_2 = inv_M[2, 0] * r_new_0 + inv_M[2, 1] * r_new_1 + inv_M[2, 2] * r_new_2
    # theta_new[i] = theta[i] + eps*(sum_j inv(M)[j,i] r_new[j])
    theta_new_0 = theta_0 + eps * inv_M_r_new_0
    theta_new_1 = theta_1 + eps * inv_M_r_new_1
    theta_new_2 = theta_2 + eps * inv_M_r_new_2
    A_w_0 = A[0, 0] * w_0 + A[0, 1] * w_1
    A_w_1 = A[1, 0] * w_0 + A[1, 1] * w_1
    Lambda_inv_M_r_new_0 = Lambda[0, 0] * inv_M_r_new_0 + Lambda[1, 0] * inv_M_r_new_1 + Lambda[2, 0] * inv_M_r_new_2
    Lambda_inv_M_r_new_1 = Lambda[0, 1] * inv_M_r_new_0 + Lambda[1, 1] * inv_M_r_new_1 + Lambda[2, 1] * inv_M_r_new_2
    # w_new[i] = w[i] + eps*(-sum_j A[j,i] w[j] - sum_jk Lambda[j,i] inv(M)[j,k] r_new[k]) + noise
    w_new_0 = w_0 + L_w_noise_w_0 + eps * (-A_w_0 - Lambda_inv_M_r_new_0)
    w_new_1 = w_1 + L_w_noise_w_1 + eps * (-A_w_1 - Lambda_inv_M_r_new_1)
    return theta_new_0, theta_new_1, theta_new_2, r_new_0, r_new_1, r_new_2, w_new_0, w_new_1


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step_lanes(lanes, Lambda, A, mu, L_w, inv_Sigma, inv_M, lanes_noise, eps):
    """Advance 64 chains by one step, in place; draw nothing."""
    for lane in range(np.uint64(64)):
        theta_0 = lanes[lane]
        theta_1 = lanes[np.uint64(64) + lane]
        theta_2 = lanes[np.uint64(128) + lane]
        r_0 = lanes[np.uint64(192) + lane]
        r_1 = lanes[np.uint64(256) + lane]
        r_2 = lanes[np.uint64(320) + lane]
        w_0 = lanes[np.uint64(384) + lane]
        w_1 = lanes[np.uint64(448) + lane]
        noise_w_0 = lanes_noise[lane]
        noise_w_1 = lanes_noise[np.uint64(64) + lane]
        theta_0, theta_1, theta_2, r_0, r_1, r_2, w_0, w_1 = step(
            theta_0,
            theta_1,
            theta_2,
            r_0,
            r_1,
            r_2,
            w_0,
            w_1,
            Lambda,
            A,
            mu,
            L_w,
            inv_Sigma,
            inv_M,
            noise_w_0,
            noise_w_1,
            eps,
        )
        lanes[lane] = theta_0
        lanes[np.uint64(64) + lane] = theta_1
        lanes[np.uint64(128) + lane] = theta_2
        lanes[np.uint64(192) + lane] = r_0
        lanes[np.uint64(256) + lane] = r_1
        lanes[np.uint64(320) + lane] = r_2
        lanes[np.uint64(384) + lane] = w_0
        lanes[np.uint64(448) + lane] = w_1


def prepare(M, Lambda, A, mu, Sigma, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    two_D_w = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            two_D_w[i, j] = 2.0 * A[i, j]
    (L_w,) = _noise_factor([[two_D_w]], None, eps, ["w"])
    inv_Sigma = np.linalg.inv(Sigma)
    inv_M = np.linalg.inv(M)
    return (L_w, inv_Sigma, inv_M)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta, r, w, M, Lambda, A, mu, Sigma, L_w, inv_Sigma, inv_M, eps, thin, noise_state, theta_draws, r_draws, w_draws
):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64; a block is as
    long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for each that is asked for, as
    wide as the block; random states are rows of what `seed_streams` returns.

    Registers: no data and 8 coordinates, so the state and all of a step are scalars.
    """
    theta_0 = theta[0]
    theta_1 = theta[1]
    theta_2 = theta[2]
    r_0 = r[0]
    r_1 = r[1]
    r_2 = r[2]
    w_0 = w[0]
    w_1 = w[1]
    s0 = noise_state[0]
    s1 = noise_state[1]
    s2 = noise_state[2]
    s3 = noise_state[3]
    done = theta_draws.shape[0]
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            noise_w_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_w_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            theta_0, theta_1, theta_2, r_0, r_1, r_2, w_0, w_1 = step(
                theta_0,
                theta_1,
                theta_2,
                r_0,
                r_1,
                r_2,
                w_0,
                w_1,
                Lambda,
                A,
                mu,
                L_w,
                inv_Sigma,
                inv_M,
                noise_w_0,
                noise_w_1,
                eps,
            )
        theta_draws[kept, 0] = theta_0
        theta_draws[kept, 1] = theta_1
        theta_draws[kept, 2] = theta_2
        r_draws[kept, 0] = r_0
        r_draws[kept, 1] = r_1
        r_draws[kept, 2] = r_2
        w_draws[kept, 0] = w_0
        w_draws[kept, 1] = w_1
        finite = True
        finite = finite and abs(theta_0) <= 1.7976931348623157e308
        finite = finite and abs(theta_1) <= 1.7976931348623157e308
        finite = finite and abs(theta_2) <= 1.7976931348623157e308
        finite = finite and abs(r_0) <= 1.7976931348623157e308
        finite = finite and abs(r_1) <= 1.7976931348623157e308
        finite = finite and abs(r_2) <= 1.7976931348623157e308
        finite = finite and abs(w_0) <= 1.7976931348623157e308
        finite = finite and abs(w_1) <= 1.7976931348623157e308
        if not finite:
            done = kept
            break
    theta[0] = theta_0
    theta[1] = theta_1
    theta[2] = theta_2
    r[0] = r_0
    r[1] = r_1
    r[2] = r_2
    w[0] = w_0
    w[1] = w_1
    noise_state[0] = s0
    noise_state[1] = s1
    noise_state[2] = s2
    noise_state[3] = s3
    return done


def checked_run(theta, r, w, M, Lambda, A, mu, Sigma, eps, thin, noise_state, theta_draws, r_draws, w_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (3,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (3,), sizes, written=True)
    _check_finite("r", r)
    _check_array("w", w, (2,), sizes, written=True)
    _check_finite("w", w)
    _check_array("M", M, (3, 3), sizes)
    _check_finite("M", M)
    _check_kinds("M", M, ["positive definite"])
    _check_array("Lambda", Lambda, (3, 2), sizes)
    _check_finite("Lambda", Lambda)
    _check_array("A", A, (2, 2), sizes)
    _check_finite("A", A)
    _check_kinds("A", A, ["positive semidefinite"])
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
    _check_array("w_draws", w_draws, ("draws", 2), sizes, written=True)
    _check_apart(
        ["M", "Lambda", "A", "mu", "Sigma"],
        theta=theta,
        r=r,
        w=w,
        theta_draws=theta_draws,
        r_draws=r_draws,
        w_draws=w_draws,
        noise_state=noise_state,
        M=M,
        Lambda=Lambda,
        A=A,
        mu=mu,
        Sigma=Sigma,
    )
    L_w, inv_Sigma, inv_M = prepare(M, Lambda, A, mu, Sigma, eps)
    return run(
        theta,
        r,
        w,
        M,
        Lambda,
        A,
        mu,
        Sigma,
        L_w,
        inv_Sigma,
        inv_M,
        eps,
        thin,
        noise_state,
        theta_draws,
        r_draws,
        w_draws,
    )


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run_lanes(lanes, Lambda, A, mu, L_w, inv_Sigma, inv_M, eps, thin, noise_state, kept, lanes_draws):
    """Advance 64 chains and keep every thin-th state of each in a row of lanes_draws.

    Entry k of the state of lane l is lanes[64 * k + l], in a row of lanes_draws too; word w of its
    random state is noise_state[64 * w + l]. Each kept[l] counts its draws before it left the finite
    numbers. Fastest where lanes and noise_state start at multiples of 512 bytes.
    """
    _wide_vectors()
    lanes_noise = _empty_rows(8)
    kept[:] = 0
    for draw in range(lanes_draws.shape[0]):
        for turn in range(thin):
            if turn % 4 == 0:
                _fill_normals_lanes(noise_state, lanes_noise[: 128 * min(4, thin - turn)])
            step_lanes(lanes, Lambda, A, mu, L_w, inv_Sigma, inv_M, lanes_noise[128 * (turn % 4) :], eps)
        for lane in range(np.uint64(64)):
            finite = kept[lane] == draw
            finite &= abs(lanes[lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(64) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(128) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(192) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(256) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(320) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(384) + lane]) <= 1.7976931348623157e308
            finite &= abs(lanes[np.uint64(448) + lane]) <= 1.7976931348623157e308
            kept[lane] += finite
        for entry in range(512):
            lanes_draws[draw, entry] = lanes[entry]


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


def prepare_generator(M, Lambda, A, mu, Sigma):
    """Return what `generator` and `full_gradient` take beside the state, parameters and data."""
    inv_Sigma = np.linalg.inv(Sigma)
    inv_M = np.linalg.inv(M)
    return (inv_Sigma, inv_M)


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
def generator(theta, r, w, M, Lambda, A, mu, Sigma, inv_Sigma, inv_M):
    """Return L phi at one state, for phi = theta[i], r[i], w[i], theta[i]*theta[j], theta[i]*r[j], theta[i]*w[j],
    r[i]*r[j], r[i]*w[j], w[i]*w[j].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(3)
    L_r = np.empty(3)
    L_w = np.empty(2)
    L_theta_theta = np.empty((3, 3))
    L_theta_r = np.empty((3, 3))
    L_theta_w = np.empty((3, 2))
    L_r_r = np.empty((3, 3))
    L_r_w = np.empty((3, 2))
    L_w_w = np.empty((2, 2))
    inv_M_r = np.empty(3)
    Lambda_w = np.empty(3)
    A_w = np.empty(2)
    Lambda_inv_M_r = np.empty(2)
    grad_U = full_gradient(theta, mu, inv_Sigma)
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_M[i, j] * r[j]
        inv_M_r[i] = total
    # L(theta[i]) = sum_j inv(M)[j,i] r[j]
    for i in range(3):
        L_theta[i] = inv_M_r[i]
    for i in range(3):
        total = 0.0
        for j in range(2):
            total += Lambda[i, j] * w[j]
        Lambda_w[i] = total
    # L(r[i]) = sum_j Lambda[i,j] w[j] - grad_U[i]
    for i in range(3):
        L_r[i] = Lambda_w[i] - grad_U[i]
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += A[i, j] * w[j]
        A_w[i] = total
    for i in range(2):
        total = 0.0
        for j in range(3):
            total += Lambda[j, i] * inv_M_r[j]
        Lambda_inv_M_r[i] = total
    # L(w[i]) = -sum_j A[j,i] w[j] - sum_jk Lambda[j,i] inv(M)[j,k] r[k]
    for i in range(2):
        L_w[i] = -A_w[i] - Lambda_inv_M_r[i]
    # L(theta[i]*theta[j]) = sum_k theta[i] inv(M)[k,j] r[k] + sum_k theta[j] inv(M)[k,i] r[k]
    for i in range(3):
        for j in range(3):
            L_theta_theta[i, j] = theta[i] * inv_M_r[j] + theta[j] * inv_M_r[i]
    # L(theta[i]*r[j]) = sum_k Lambda[j,k] w[k] theta[i] - grad_U[j] theta[i] + sum_k r[j] inv(M)[k,i] r[k]
    for i in range(3):
        for j in range(3):
            L_theta_r[i, j] = theta[i] * Lambda_w[j] - grad_U[j] * theta[i] + r[j] * inv_M_r[i]
    # L(theta[i]*w[j]) = -sum_k A[k,j] w[k] theta[i] - sum_kl Lambda[k,j] inv(M)[k,l] r[l] theta[i] + sum_k w[j]
    #   inv(M)[k,i] r[k]
    for i in range(3):
        for j in range(2):
            L_theta_w[i, j] = w[j] * inv_M_r[i] - theta[i] * A_w[j] - theta[i] * Lambda_inv_M_r[j]
    # L(r[i]*r[j]) = sum_k Lambda[i,k] w[k] r[j] + sum_k Lambda[j,k] w[k] r[i] - grad_U[i] r[j] - grad_U[j] r[i]
    for i in range(3):
        for j in range(3):
            L_r_r[i, j] = r[j] * Lambda_w[i] + r[i] * Lambda_w[j] - grad_U[i] * r[j] - grad_U[j] * r[i]
    # L(r[i]*w[j]) = -sum_k A[k,j] w[k] r[i] - sum_kl Lambda[k,j] inv(M)[k,l] r[l] r[i] + sum_k Lambda[i,k] w[k] w[j] -
    #   grad_U[i] w[j]
    for i in range(3):
        for j in range(2):
            L_r_w[i, j] = w[j] * Lambda_w[i] - r[i] * A_w[j] - r[i] * Lambda_inv_M_r[j] - grad_U[i] * w[j]
    # L(w[i]*w[j]) = -sum_k A[k,i] w[k] w[j] - sum_k A[k,j] w[k] w[i] + 2 A[i,j] - sum_kl Lambda[k,i] inv(M)[k,l] r[l]
    #   w[j] - sum_kl Lambda[k,j] inv(M)[k,l] r[l] w[i]
    for i in range(2):
        for j in range(2):
            L_w_w[i, j] = (
                2.0 * A[i, j] - w[j] * A_w[i] - w[i] * A_w[j] - w[j] * Lambda_inv_M_r[i] - w[i] * Lambda_inv_M_r[j]
            )
    return L_theta, L_r, L_w, L_theta_theta, L_theta_r, L_theta_w, L_r_r, L_r_w, L_w_w


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


def _noise_factor(two_D, B_hat, eps, blocks):
    """Return L, one row block per block, with L L^T = eps (2D - eps B_hat), D and B_hat given block by block.

    Raises ValueError where 2D - eps B_hat is not positive semidefinite, naming the largest step for which it is.
    """
    doubled = np.block(two_D)
    excess = np.zeros_like(doubled) if B_hat is None else np.block(B_hat)
    values, vectors = np.linalg.eigh(eps * (doubled - eps * excess))
    if values[0] < -1e-12 * max(np.abs(values).max(), eps * np.abs(doubled).max()):
        raise ValueError(_too_long(eps, _largest_step(doubled, excess), ", ".join(blocks)))
    L = vectors * np.sqrt(np.maximum(values, 0.0))
    ends = np.cumsum([row[0].shape[0] for row in two_D])
    return np.split(L, ends[:-1])


def _largest_step(doubled, excess):
    """Return the largest eps with 2D - eps B_hat positive semidefinite; 0 where B_hat leaves the range of D."""
    values, vectors = np.linalg.eigh(doubled)
    inside = values > 1e-12 * max(values[-1], 0.0)
    outside = vectors[:, ~inside]
    if np.abs(outside.T @ excess @ outside).max(initial=0.0) > 1e-12 * np.abs(excess).max() or not inside.any():
        return 0.0
    root = vectors[:, inside] / np.sqrt(values[inside])
    return 1.0 / np.linalg.eigvalsh(root.T @ excess @ root)[-1]


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
