"""sghmc_gaussian_mean_baoab: Stochastic gradient Hamiltonian Monte Carlo.

Emitted by recipe_compiler (format 1) from sghmc and gaussian_mean.
Spec digest (SHA-256): c8599f93b33fc693ad2815fae1edce94d58194f0e068d0b9ebcd2c2e911d4f9a

State:
    theta: column [2], real
    r: column [2], real

Energy:
    H = U(theta) + r.T @ inv(M) @ r / 2
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = -(x.T - theta).T @ inv(Sigma) @ (x.T - theta) / 2
    log_prior = -theta.T @ theta / (2*prior_variance)

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[r,r] = C[i,j]
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Gamma = 0
    f[theta] = sum_j inv(M)[j,i] r[j]
    f[r] = -sum_jk C[j,i] inv(M)[j,k] r[k] - d_theta[i] U

Parameters:
    M: positive definite
    C: positive semidefinite
    V: positive semidefinite
    Sigma: positive definite
    prior_variance: positive

Step:
    baoab: [B/2, A/2, O, A/2, B/2], the exact flow of each piece, one after the other; weak order 2
    grad U from a minibatch drawn without replacement, its sum scaled by N/n, the prior not
    a step begins with the gradient of the minibatch before, which is state of the chain
    for the noise of the gradient, V = V: O gives up eps^2 K B K^T with K = 1/2 + E/2,
    B = (D + Q) V (D + Q)^T, E = exp(-eps F) what O leaves of r
    volume and reversibility are those of a step given its minibatch, not of the chain; the order of what is sampled
        is 2 only where the noise of the gradient is given up

Claims:
    proved: D is symmetric (by index calculus for every size; second engine; given C is positive semidefinite)
    proved: D is positive semidefinite (by structure of D; given C is positive semidefinite)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given C is positive
        semidefinite; M is positive definite; U is smooth)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given C is
        positive semidefinite; M is positive definite; U is smooth)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given C
        is positive semidefinite; M is positive definite; U is smooth)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given M is positive
        definite; Sigma is positive definite; U is smooth; prior_variance is positive)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given M is positive definite; U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given M is positive
        definite; U is smooth)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given Sigma is
        positive definite; prior_variance is positive)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        Sigma is positive definite; prior_variance is positive)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V; given V is positive semidefinite)
    proved: 2D - eps B_hat is positive semidefinite (by exact values: O gives up eps^2 K B K^T with K = 1/2 + E/2;
        it holds at eps = 637329/1000000, and not at 63739/100000; given C is positive semidefinite; V is positive
        semidefinite)
    proved: D and Q do not reuse the gradient's minibatch (by structure: no entry of D or Q holds U)
    proved: the pieces of the word make the equation (by index calculus for every size; second engine; given C is
        positive semidefinite; M is positive definite; U is smooth)
    proved: each piece is moved by its flow, exact or the one named (by A, B: shift; O: linear or Ornstein-
        Uhlenbeck, constant matrices; second engine; given C is positive semidefinite; M is positive definite; U is
        smooth; gradients are those of all data)
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
SPEC_DIGEST = "c8599f93b33fc693ad2815fae1edce94d58194f0e068d0b9ebcd2c2e911d4f9a"
VARIANT = "minibatch"
REPLACEMENT = False
BLOCKS = (("theta", 2), ("r", 2))
SIZES = ()
PARAMETERS = ("M", "C", "V", "Sigma", "prior_variance")
CONSTANTS = ("inv_Sigma", "inv_M", "change_O", "step_factor", "step_factor_2", "L_r", "step_factor_3")
DATA = ("x",)
ARGUMENTS = (
    "theta",
    "r",
    "grad_U_tilde",
    "M",
    "C",
    "V",
    "Sigma",
    "prior_variance",
    "inv_Sigma",
    "inv_M",
    "change_O",
    "step_factor",
    "step_factor_2",
    "L_r",
    "step_factor_3",
    "x",
    "batch_size",
    "eps",
    "thin",
    "noise_state",
    "batch_state",
    "permutation",
    "theta_draws",
    "r_draws",
)
MOMENTS = ("theta[i]", "r[i]", "theta[i]*theta[j]", "theta[i]*r[j]", "r[i]*r[j]")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U_tilde, theta, prior_variance, inv_Sigma, x, batch, x_batch_0_1):
    """Write grad_U_tilde[i] = theta[i]/prior_variance
    + (N/batch_size) * sum over the batch of -sum_j (x[n,j] - theta[j]) inv(Sigma)[j,i].
    """
    N = x.shape[0]
    batch_size = batch.shape[0]
    grad_U_tilde_0 = 0.0
    grad_U_tilde_1 = 0.0
    for b in range(np.uint64(batch_size)):
        row = batch[b]
        x_0 = x[row, 0]
        x_1 = x[row, 1]
        x_batch_0_1[np.uint64(2) * b] = x_0
        x_batch_0_1[np.uint64(2) * b + np.uint64(1)] = x_1
    for b in range(np.uint64(batch_size)):
        x_0 = x_batch_0_1[np.uint64(2) * b]
        x_1 = x_batch_0_1[np.uint64(2) * b + np.uint64(1)]
        part = x_0 - theta[0]
        part_2 = x_1 - theta[1]
        difference_inv_Sigma_0 = inv_Sigma[0, 0] * part + inv_Sigma[0, 1] * part_2
        difference_inv_Sigma_1 = inv_Sigma[1, 0] * part + inv_Sigma[1, 1] * part_2
        weight = -1.0
        grad_U_tilde_0 += weight * difference_inv_Sigma_0
        grad_U_tilde_1 += weight * difference_inv_Sigma_1
    reciprocal = 1.0 / prior_variance
    reciprocal_2 = 1.0 / batch_size
    grad_U_tilde_0 = theta[0] * reciprocal + N * grad_U_tilde_0 * reciprocal_2
    grad_U_tilde_1 = theta[1] * reciprocal + N * grad_U_tilde_1 * reciprocal_2
    grad_U_tilde[0] = grad_U_tilde_0
    grad_U_tilde[1] = grad_U_tilde_1


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new,
    r_new,
    grad_U_tilde_new,
    theta,
    r,
    grad_U_tilde,
    prior_variance,
    inv_Sigma,
    inv_M,
    change_O,
    step_factor,
    step_factor_2,
    L_r,
    step_factor_3,
    x,
    batch,
    noise_r,
    eps,
    r_v1,
    theta_v1,
    r_v2,
    inv_M_r_v1,
    L_r_noise_r,
    change_O_r_v1,
    inv_M_r_v2,
    x_batch_0_1,
):
    """Write one step (baoab): theta_new, r_new, grad_U_tilde_new; draw nothing."""
    # r_v1[i] = r[i] + eps*(-grad_U_tilde[i]/2)
    for i in range(2):
        r_v1[i] = r[i] + step_factor * grad_U_tilde[i]
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += inv_M[i, j] * r_v1[j]
        inv_M_r_v1[i] = total
    # theta_v1[i] = theta[i] + eps*(sum_j inv(M)[j,i] r_v1[j]/2)
    for i in range(2):
        theta_v1[i] = theta[i] + step_factor_2 * inv_M_r_v1[i]
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += L_r[i, j] * noise_r[j]
        L_r_noise_r[i] = total
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += change_O[i, j] * r_v1[j]
        change_O_r_v1[i] = total
    # r_v2[i] = r_v1[i] + eps*(sum_j change_O[i,j] r_v1[j]) + noise
    for i in range(2):
        r_v2[i] = r_v1[i] + step_factor_3 * change_O_r_v1[i] + L_r_noise_r[i]
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += inv_M[i, j] * r_v2[j]
        inv_M_r_v2[i] = total
    # theta_new[i] = theta_v1[i] + eps*(sum_j inv(M)[j,i] r_v2[j]/2)
    for i in range(2):
        theta_new[i] = theta_v1[i] + step_factor_2 * inv_M_r_v2[i]
    gradient(grad_U_tilde_new, theta_new, prior_variance, inv_Sigma, x, batch, x_batch_0_1)
    # r_new[i] = r_v2[i] + eps*(-grad_U_tilde_new[i]/2)
    for i in range(2):
        r_new[i] = r_v2[i] + step_factor * grad_U_tilde_new[i]


def prepare(M, C, V, Sigma, prior_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    C_inv_M = np.empty((2, 2))
    F_r = np.empty((2, 2))
    two_D_r = np.empty((2, 2))
    two_D_r_2 = np.empty((2, 2))
    V_change_O = np.empty((2, 2))
    change_O_V_change_O = np.empty((2, 2))
    B_hat_r = np.empty((2, 2))
    inv_Sigma = np.linalg.inv(Sigma)
    inv_M = np.linalg.inv(M)
    for i in range(2):
        for j in range(2):
            total = 0.0
            for k in range(2):
                total += C[i, k] * inv_M[j, k]
            C_inv_M[i, j] = total
    for i in range(2):
        for j in range(2):
            F_r[i, j] = C_inv_M[i, j]
    for i in range(2):
        for j in range(2):
            two_D_r[i, j] = 2.0 * C[i, j]
    (
        ((change_O,),),
        ((integral_O,),),
        ((covariance_O,),),
    ) = _propagator([[F_r]], [[two_D_r]], 1.0, eps)
    step_factor = -eps / 2.0
    step_factor_2 = eps / 2.0
    for i in range(2):
        for j in range(2):
            two_D_r_2[i, j] = covariance_O[i, j]
    for i in range(2):
        for j in range(2):
            total = 0.0
            for k in range(2):
                total += V[i, k] * change_O[j, k]
            V_change_O[i, j] = total
    for i in range(2):
        for j in range(2):
            total = 0.0
            for k in range(2):
                total += change_O[i, k] * V_change_O[k, j]
            change_O_V_change_O[i, j] = total
    for i in range(2):
        for j in range(2):
            B_hat_r[i, j] = (
                eps**2 * change_O_V_change_O[j, i] / 4.0
                + eps * V_change_O[i, j] / 2.0
                + eps * V_change_O[j, i] / 2.0
                + V[i, j]
            )
    (L_r,) = _flow_factor([[two_D_r_2]], [[B_hat_r]], eps, ["r"])
    step_factor_3 = eps
    return (inv_Sigma, inv_M, change_O, step_factor, step_factor_2, L_r, step_factor_3)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def first_gradient(
    theta,
    r,
    grad_U_tilde,
    M,
    C,
    V,
    Sigma,
    prior_variance,
    inv_Sigma,
    inv_M,
    change_O,
    step_factor,
    step_factor_2,
    L_r,
    step_factor_3,
    x,
    batch_size,
    batch_state,
    permutation,
):
    """Write grad_U_tilde at the state, of a minibatch that is drawn for it: what the first step of a chain begins
    with."""
    x_batch_0_1 = np.empty(2 * batch_size)
    batch = np.empty(batch_size, np.uint64)
    _shuffle_indices(batch_state, permutation, batch)
    gradient(grad_U_tilde, theta, prior_variance, inv_Sigma, x, batch, x_batch_0_1)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta,
    r,
    grad_U_tilde,
    M,
    C,
    V,
    Sigma,
    prior_variance,
    inv_Sigma,
    inv_M,
    change_O,
    step_factor,
    step_factor_2,
    L_r,
    step_factor_3,
    x,
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

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64, the data of
    float64 or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a
    row for each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.
    batch_size is from 1 to N, permutation begins as np.arange(N, dtype=np.uint64). grad_U_tilde begins as
    `first_gradient` writes it; from call to call it is passed on.

    Small rows: those of a minibatch are copied side by side, a few columns to an array, then one loop over them with
    their features in scalars takes several rows at once.
    """
    _wide_vectors()
    theta_new = np.empty(2)
    r_new = np.empty(2)
    grad_U_tilde_new = np.empty(2)
    r_v1 = np.empty(2)
    theta_v1 = np.empty(2)
    r_v2 = np.empty(2)
    inv_M_r_v1 = np.empty(2)
    L_r_noise_r = np.empty(2)
    change_O_r_v1 = np.empty(2)
    inv_M_r_v2 = np.empty(2)
    x_batch_0_1 = np.empty(2 * batch_size)
    noise_r = np.empty(2)
    batch = np.empty(batch_size, np.uint64)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _shuffle_indices(batch_state, permutation, batch)
            _fill_normals(noise_state, noise_r)
            step(
                theta_new,
                r_new,
                grad_U_tilde_new,
                theta,
                r,
                grad_U_tilde,
                prior_variance,
                inv_Sigma,
                inv_M,
                change_O,
                step_factor,
                step_factor_2,
                L_r,
                step_factor_3,
                x,
                batch,
                noise_r,
                eps,
                r_v1,
                theta_v1,
                r_v2,
                inv_M_r_v1,
                L_r_noise_r,
                change_O_r_v1,
                inv_M_r_v2,
                x_batch_0_1,
            )
            for entry in range(2):
                theta[entry] = theta_new[entry]
                r[entry] = r_new[entry]
            for entry in range(2):
                grad_U_tilde[entry] = grad_U_tilde_new[entry]
        finite = True
        for entry in range(2):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


def checked_run(
    theta,
    r,
    grad_U_tilde,
    M,
    C,
    V,
    Sigma,
    prior_variance,
    x,
    batch_size,
    eps,
    thin,
    noise_state,
    batch_state,
    permutation,
    theta_draws,
    r_draws,
):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (2,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (2,), sizes, written=True)
    _check_finite("r", r)
    _check_array("grad_U_tilde", grad_U_tilde, (2,), sizes, written=True)
    _check_finite("grad_U_tilde", grad_U_tilde)
    _check_array("x", x, ("N", 2), sizes, ("float64", "float32"))
    _check_finite("x", x)
    _check_array("M", M, (2, 2), sizes)
    _check_finite("M", M)
    _check_kinds("M", M, ["positive definite"])
    _check_array("C", C, (2, 2), sizes)
    _check_finite("C", C)
    _check_kinds("C", C, ["positive semidefinite"])
    _check_array("V", V, (2, 2), sizes)
    _check_finite("V", V)
    _check_kinds("V", V, ["positive semidefinite"])
    _check_array("Sigma", Sigma, (2, 2), sizes)
    _check_finite("Sigma", Sigma)
    _check_kinds("Sigma", Sigma, ["positive definite"])
    prior_variance = _checked_number("prior_variance", prior_variance, above=0)
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    batch_size = _checked_number("batch_size", batch_size, whole=True, least=1, most=x.shape[0])
    _check_words("batch_state", batch_state, 4)
    _check_places("permutation", permutation, x.shape[0])
    _check_array("theta_draws", theta_draws, ("draws", 2), sizes, written=True)
    _check_array("r_draws", r_draws, ("draws", 2), sizes, written=True)
    _check_apart(
        ["x", "M", "C", "V", "Sigma"],
        theta=theta,
        r=r,
        grad_U_tilde=grad_U_tilde,
        theta_draws=theta_draws,
        r_draws=r_draws,
        noise_state=noise_state,
        batch_state=batch_state,
        permutation=permutation,
        x=x,
        M=M,
        C=C,
        V=V,
        Sigma=Sigma,
    )
    inv_Sigma, inv_M, change_O, step_factor, step_factor_2, L_r, step_factor_3 = prepare(
        M, C, V, Sigma, prior_variance, eps
    )
    return run(
        theta,
        r,
        grad_U_tilde,
        M,
        C,
        V,
        Sigma,
        prior_variance,
        inv_Sigma,
        inv_M,
        change_O,
        step_factor,
        step_factor_2,
        L_r,
        step_factor_3,
        x,
        batch_size,
        eps,
        thin,
        noise_state,
        batch_state,
        permutation,
        theta_draws,
        r_draws,
    )


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


def prepare_generator(M, C, V, Sigma, prior_variance):
    """Return what `generator` and `full_gradient` take beside the state, parameters and data."""
    inv_Sigma = np.linalg.inv(Sigma)
    inv_M = np.linalg.inv(M)
    return (inv_Sigma, inv_M)


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def full_gradient(theta, prior_variance, inv_Sigma, x):
    """Return grad_U[i] = theta[i]/prior_variance
    + sum over the data of -sum_j (x[n,j] - theta[j]) inv(Sigma)[j,i].
    """
    N = x.shape[0]
    grad_U = np.empty(2)
    difference_inv_Sigma = np.empty((N, 2))
    for row in range(N):
        for i in range(2):
            total = 0.0
            for j in range(2):
                total += (x[row, j] - theta[j]) * inv_Sigma[i, j]
            difference_inv_Sigma[row, i] = total
    for i in range(2):
        grad_U[i] = 0.0
    for row in range(N):
        weight = -1.0
        for i in range(2):
            grad_U[i] += weight * difference_inv_Sigma[row, i]
    for i in range(2):
        grad_U[i] = theta[i] / prior_variance + grad_U[i]
    return grad_U


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def generator(theta, r, M, C, V, Sigma, prior_variance, inv_Sigma, inv_M, x):
    """Return L phi at one state, for phi = theta[i], r[i], theta[i]*theta[j], theta[i]*r[j], r[i]*r[j].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(2)
    L_r = np.empty(2)
    L_theta_theta = np.empty((2, 2))
    L_theta_r = np.empty((2, 2))
    L_r_r = np.empty((2, 2))
    inv_M_r = np.empty(2)
    C_inv_M_r = np.empty(2)
    grad_U = full_gradient(theta, prior_variance, inv_Sigma, x)
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += inv_M[i, j] * r[j]
        inv_M_r[i] = total
    # L(theta[i]) = sum_j inv(M)[j,i] r[j]
    for i in range(2):
        L_theta[i] = inv_M_r[i]
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += C[i, j] * inv_M_r[j]
        C_inv_M_r[i] = total
    # L(r[i]) = -sum_jk C[j,i] inv(M)[j,k] r[k] - grad_U[i]
    for i in range(2):
        L_r[i] = -C_inv_M_r[i] - grad_U[i]
    # L(theta[i]*theta[j]) = sum_k theta[i] inv(M)[k,j] r[k] + sum_k theta[j] inv(M)[k,i] r[k]
    for i in range(2):
        for j in range(2):
            L_theta_theta[i, j] = theta[i] * inv_M_r[j] + theta[j] * inv_M_r[i]
    # L(theta[i]*r[j]) = -sum_kl C[k,j] inv(M)[k,l] r[l] theta[i] - grad_U[j] theta[i] + sum_k r[j] inv(M)[k,i] r[k]
    for i in range(2):
        for j in range(2):
            L_theta_r[i, j] = r[j] * inv_M_r[i] - theta[i] * C_inv_M_r[j] - grad_U[j] * theta[i]
    # L(r[i]*r[j]) = -sum_kl C[k,i] inv(M)[k,l] r[l] r[j] - sum_kl C[k,j] inv(M)[k,l] r[l] r[i] + 2 C[i,j] - grad_U[i]
    #   r[j] - grad_U[j] r[i]
    for i in range(2):
        for j in range(2):
            L_r_r[i, j] = (
                2.0 * C[i, j] - r[j] * C_inv_M_r[i] - r[i] * C_inv_M_r[j] - grad_U[i] * r[j] - grad_U[j] * r[i]
            )
    return L_theta, L_r, L_theta_theta, L_theta_r, L_r_r


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


def _flow_factor(two_D, B_hat, eps, blocks):
    """Return L, one row block per block, with L L^T = eps (2D - eps B_hat) of what depends on eps.

    Raises ValueError where that is not positive semidefinite.
    """
    try:
        return _noise_factor(two_D, B_hat, eps, blocks)
    except ValueError:
        raise ValueError(_too_much(eps, ", ".join(blocks))) from None


def _largest_step(doubled, excess):
    """Return the largest eps with 2D - eps B_hat positive semidefinite; 0 where B_hat leaves the range of D."""
    values, vectors = np.linalg.eigh(doubled)
    inside = values > 1e-12 * max(values[-1], 0.0)
    outside = vectors[:, ~inside]
    if np.abs(outside.T @ excess @ outside).max(initial=0.0) > 1e-12 * np.abs(excess).max() or not inside.any():
        return 0.0
    root = vectors[:, inside] / np.sqrt(values[inside])
    return 1.0 / np.linalg.eigvalsh(root.T @ excess @ root)[-1]


def _too_much(eps, blocks):
    """Return the message for a flow that is to give up more noise than it has."""
    gives = f"what is given up of the noise of {blocks} for that of the gradient is more than there is"
    return (
        f"2D - eps B_hat of {blocks} is not positive semidefinite at eps = {float(eps)!r}: {gives}: take a smaller eps"
    )


def _too_long(eps, eps_max, blocks):
    """Return the message for a step whose gradient noise exceeds the noise the dynamics inject."""
    cure = f"take eps <= eps_max = {float(eps_max)!r}" if eps_max > 0.0 else "no step size makes it so: D is too small"
    return f"2D - eps B_hat of {blocks} is not positive semidefinite at eps = {float(eps)!r}: {cure}"


def _propagator(F, two_D, share, eps):
    """Return (exp(-tF) - 1)/eps, and over eps the integrals of exp(-uF) and exp(-uF) 2D exp(-uF)^T for u from 0 to t.

    They are what dz = -F z dt + sqrt(2D) dW does in t = eps share; all are given and returned block by block. By their
    series over t/2^k, then doubled k times. The covariance is a sum of covariances all the way: where noise reaches a
    coordinate through others only, it is of a higher order in t, and no difference of large numbers.
    """
    drift, doubled = np.block(F), np.block(two_D)
    size = np.abs(share * eps * drift).sum(axis=0).max(initial=0.0)
    doublings = max(0, int(np.ceil(np.log2(max(size, 1e-300)))) + 1) if np.isfinite(size) else 0
    h = share * eps / 2.0**doublings
    term, added = np.eye(len(drift)), doubled
    integral, covariance = term, added
    for n in range(2, 22):
        term = -h * drift @ term / n
        added = -h * (drift @ added + added @ drift.T) / n
        integral = integral + term
        covariance = covariance + added
    decay = np.eye(len(drift)) - h * drift @ integral
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(doublings):
            integral = (integral + decay @ integral) / 2.0
            covariance = (covariance + decay @ covariance @ decay.T) / 2.0
            decay = decay @ decay
    if not (np.isfinite(integral).all() and np.isfinite(covariance).all()):
        raise ValueError(f"a linear flow grows beyond all numbers in eps = {float(eps)!r}: take a smaller step")
    ends = np.cumsum([row[0].shape[0] for row in F])[:-1]
    covariance = (covariance + covariance.T) / 2.0
    return tuple(
        [np.split(row, ends, axis=1) for row in np.split(share * matrix, ends)]
        for matrix in (-drift @ integral, integral, covariance)
    )


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
