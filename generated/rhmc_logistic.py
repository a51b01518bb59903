"""rhmc_logistic: Riemannian manifold Hamiltonian Monte Carlo, for logistic_regression.

To draw from it, in plain Python with numpy and numba alone:

    import rhmc_logistic

    draws = rhmc_logistic.sample(x, y, X=X)
    draws["theta"].mean(axis=(0, 1))  # of an array (chain, draw, 3)
    help(rhmc_logistic.sample)  # settings, and what else it takes

Data:
    x: (N, 3), finite numbers, kept as float64
    y: (N,), each one of 0, 1, kept as float64
    in the build, x is made of the columns a, b of few_trials.csv
    in the build, y is made of the column y of few_trials.csv
    a column of ones stands before the columns of a matrix

Parameters:
    X: (n, 3), real; to be given: in the build, an array too long to stand here
    prior_variance: a number, positive; 10.0 unless it is given

State:
    theta: (3,), real
    r: (3,), real

Draws, each of shape (chain, draw, ...):
    theta: (3,)
    r: (3,)
    acceptance: a number, the mean probability that the moves of a draw were accepted with
    unsolved: a number, how many of them were refused since their steps were not solved for, or led to no number
    irreversible: a number, how many of them were refused since they do not lead back to where they began

The build:
    step_size 0.4, draws 2000, warmup 100, thin 2, chains 4, seed 1

Energy:
    H = U(theta) + r.T @ inv(X.T @ diag(sigmoid(X @ theta)*sigmoid(-X @ theta)) @ X + I/prior_variance) @ r / 2 +
        logdet(X.T @ diag(sigmoid(X @ theta)*sigmoid(-X @ theta)) @ X + I/prior_variance) / 2
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = bernoulli_logit(y, x @ theta)
    log_prior = normal(theta, 0, sqrt(prior_variance))

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D = 0
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Gamma = 0
    f[theta] = sum_j inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l])
        sigmoid(sum_l X[k,l] theta[l]))[j,i] r[j]
    f[r] = -d_theta[i] U + sum_jkl X[j,i] X[j,k] inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l
        X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))[k,l] X[j,l] sigmoid(-sum_m X[j,m] theta[m]) sigmoid(sum_m
        X[j,m] theta[m])**2/2 - sum_jkl X[j,i] X[j,k] inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j]
        sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))[k,l] X[j,l] sigmoid(-sum_m X[j,m]
        theta[m])**2 sigmoid(sum_m X[j,m] theta[m])/2 - sum_jklmp X[j,i] X[j,k] inv(delta[i,j]/prior_variance +
        sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))[k,l] r[l] r[m]
        inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l]
        theta[l]))[p,m] X[j,p] sigmoid(-sum_q X[j,q] theta[q]) sigmoid(sum_q X[j,q] theta[q])**2/2 + sum_jklmp
        X[j,i] X[j,k] inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l])
        sigmoid(sum_l X[k,l] theta[l]))[k,l] r[l] r[m] inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j]
        sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))[p,m] X[j,p] sigmoid(-sum_q X[j,q]
        theta[q])**2 sigmoid(sum_q X[j,q] theta[q])/2

Bound to:
    G = X.T @ diag(sigmoid(X @ theta)*sigmoid(-X @ theta)) @ X + I/prior_variance

Step:
    a cycle of moves, one after the other, each from the state z that the one before leaves:
    refresh: r
    r' ~ N(0, delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l]
        theta[l]))
    metropolis: {split: [H], steps: 'uniform(1, 6)', flip: {r: -r}}
    z' = Psi^L(z) with probability min(1, exp(-W)), else z with r -> -r
    W = H(Psi^L(z)) - H(z); Psi the word; L uniform in 1, ..., 6
    steps are solved for: z' is refused where as many of them from it, turned round, do not lead to z
    the word: [H], the flow of each piece, exact but of H (generalised), one after the other; weak order 2
    grad U over all data

Proved:
    D is symmetric; Q is skew; exp(-H) is stationary; the claimed drift is the derived one; exp(-H) is stationary
        for the claimed equation; the target's blocks have the law exp(-U) once the others are integrated out;
        exp(-H) has the claimed marginal; the pieces of the word make the equation (index calculus for every size;
        second engine)
    D is positive semidefinite (structure of D)
    exp(-H) has a finite integral (growth at the ends of the domain; second engine)
    the log posterior is defined inside the domain; the log posterior is differentiable inside the domain (rules of
        definedness and smoothness)
    what is bound is of the kind declared (structure, exact values)
    V is positive semidefinite (structure of V)
    2D - eps B_hat is positive semidefinite (the gradient is exact)
    D and Q do not reuse the gradient's minibatch (there is no minibatch)
    each piece is moved by its flow, exact or the one named (H: generalised; second engine)
    blocks are drawn anew from their laws given the others (r ~ N(0, G) given theta)

Proved, given that implicit equations are solved exactly, backwards for the state that they were solved from:
    what is accepted or refused keeps exp(-H) (a palindrome of pieces that keep volume and run backwards under r ->
        -r)
    every move keeps exp(-H), and every block is moved (move 1, refresh of r; move 2, Metropolis)

Not checked here:
    pieces, flow, order and what pieces keep are about the word that moves of the cycle repeat; exact says whether
        its moves keep exp(-H) whatever the step size is

References:
    Mark Girolami, Ben Calderhead (2011): Riemann Manifold Langevin and Hamiltonian Monte Carlo Methods. Journal of
        the Royal Statistical Society: Series B, 73(2), 123-214
    Anirban Roychowdhury, Srinivasan Parthasarathy (2017): Adaptive Bayesian Sampling with Monte Carlo EM. Advances
        in Neural Information Processing Systems 30

Origin:
    Emitted by recipe_compiler (format 2) from rhmc and logistic_regression, by version 0.1.0 of that Python
        package.
    Spec digest (SHA-256): 8c4fc3df485d38a3b3d6eeb427fbeee735a48b6d60d82ce90c97a5dadd3e3c67
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
SPEC_DIGEST = "8c4fc3df485d38a3b3d6eeb427fbeee735a48b6d60d82ce90c97a5dadd3e3c67"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3), ("r", 3))
SIZES = ()
PARAMETERS = ("X", "prior_variance")
CONSTANTS = ("step_factor", "step_factor_2", "scale_r", "scale_r_2")
DATA = ("x", "y")
COLUMN_MAJOR = ("x",)
ARGUMENTS = (
    "theta", "r", "grad_U", "U", "X", "prior_variance", "step_factor", "step_factor_2", "scale_r", "scale_r_2", "x",
    "y", "eps", "thin", "noise_state", "theta_draws", "r_draws", "acceptance_draws", "unsolved_draws",
    "irreversible_draws",
)  # fmt: skip
CARRIED = (("grad_U", 3), ("U", 1))
FIRST_ARGUMENTS = (
    "theta", "r", "grad_U", "U", "X", "prior_variance", "step_factor", "step_factor_2", "scale_r", "scale_r_2", "x",
    "y",
)  # fmt: skip
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


def sample(
    x, y, *, X, prior_variance=10.0, step_size=0.4, draws=2000, warmup=100, thin=2, chains=4, seed=1, init=None,
    progress=False, threads=None,
):  # fmt: skip
    """Return draws by name, arrays (chain, draw, ...), without the first `warmup` draws of each chain.

    x (N, 3), y (N,), X (n, 3), prior_variance a number. The top of the file, help(rhmc_logistic), says what they
    are, and what is returned. A draw is kept of every `thin` steps. init: where chains start, a dict with any of
    theta or r, each (size,) for all chains or (chain, size). progress: True tells it on stderr; a function is
    called as progress(chain, draws, total, phase), the phase warmup or draws. threads: None takes all cores; the
    same seed draws the same bits on any number of them.

    Raises TypeError, ValueError: what was found, and what was expected. Warns of a chain that ended early.
    """
    sizes = {}
    x = _checked_array("x", x, ("N", 3), sizes)
    x = np.asfortranarray(x)  # as the loop over its rows reads it fastest
    y = _checked_array("y", y, ("N",), sizes, values=[0, 1])
    X = _checked_array("X", X, ("n", 3), sizes)
    prior_variance = _checked_number("prior_variance", prior_variance, above=0)
    eps = _checked_number("step_size", step_size, above=0)
    draws = _checked_number("draws", draws, whole=True, least=1)
    warmup = _checked_number("warmup", warmup, whole=True, least=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    chains = _checked_number("chains", chains, whole=True, least=1)
    seed = _checked_number("seed", seed, whole=True, least=0)
    tell = _checked_progress(progress, warmup)
    if threads is not None:
        threads = _checked_number("threads", threads, whole=True, least=1)
    given = {"X": X, "prior_variance": prior_variance, "x": x, "y": y, "eps": eps, "thin": thin}
    given.update(_constants(CONSTANTS, prepare(X, prior_variance, eps)))
    drawn = _room(first_state(seed, 0), chains, warmup + draws)
    starts = [first_state(seed, chain) for chain in range(chains)]
    starts = _checked_starts(starts, init)
    drawn["acceptance"] = np.empty((chains, warmup + draws, 1))
    drawn["unsolved"] = np.empty((chains, warmup + draws, 1))
    drawn["irreversible"] = np.empty((chains, warmup + draws, 1))
    noise, _ = seed_streams(seed, chains)
    states = [
        {**starts[chain], "noise_state": noise[chain], "grad_U": np.empty(3), "U": np.empty(1)}
        for chain in range(chains)
    ]
    for state in states:
        own = {**given, **state}
        first_values(*[own[name] for name in FIRST_ARGUMENTS])
    done = _run_chains(run, ARGUMENTS, given, states, drawn, threads, tell)
    drawn = _after_warmup(drawn, done, warmup)
    _tell_still("theta", drawn["theta"])
    return {
        "theta": drawn["theta"], "r": drawn["r"], "acceptance": drawn["acceptance"][:, :, 0],
        "unsolved": drawn["unsolved"][:, :, 0], "irreversible": drawn["irreversible"][:, :, 0],
    }  # fmt: skip


def first_state(seed, chain):
    """Return where a chain starts, by the blocks of the state."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    theta = rng.uniform(-2.0, 2.0, 3)
    r = np.zeros(3)
    return {"theta": theta, "r": r}


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U, theta, prior_variance, x, y):
    """Write grad_U[i] = theta[i]/prior_variance
    + sum over the data of -x[n,i] y[n] + x[n,i] sigmoid(sum_j x[n,j] theta[j]).
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
        sigmoid_x_theta = _sigmoid(x_theta)
        weight = -y[row] + sigmoid_x_theta
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


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def potential(theta, prior_variance, x, y):
    """Return U = 3 log(prior_variance)/2 + 3 log(2 pi)/2 + sum_i theta[i]**2/(2 prior_variance)
    + sum over the data of -sum_i x[n,i] theta[i] y[n] + softplus(sum_i x[n,i] theta[i]).
    """
    N = x.shape[0]
    log_prior_variance = math.log(prior_variance)
    log_of_constants = math.log(2.0 * math.pi)
    theta_theta = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]
    U_value = 0.0
    for row in range(N):
        x_theta_2 = x[row, 0] * theta[0] + x[row, 1] * theta[1] + x[row, 2] * theta[2]
        softplus_x_theta_2 = _softplus(x_theta_2)
        weight_2 = -y[row] * x_theta_2 + softplus_x_theta_2
        U_value += weight_2
    U_value = U_value + 1.5 * log_prior_variance + 1.5 * log_of_constants + theta_theta / (2.0 * prior_variance)
    return U_value


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def rest(
    theta, r, X, prior_variance, X_theta_3, X_sigmoid_11, matrix_5, root_matrix_5, inv_root_matrix_5, inv_matrix_5,
    inv_matrix_5_r,
):  # fmt: skip
    """Return H - U = sum_ij r[i] inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l])
    sigmoid(sum_l X[k,l] theta[l]))[i,j] r[j]/2 + logdet(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j]
    sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))/2.
    """
    n = X.shape[0]
    for i in range(n):
        total = 0.0
        for j in range(3):
            total += X[i, j] * theta[j]
        X_theta_3[i] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(n):
                part = _sigmoid(-X_theta_3[k])
                total += X[k, i] * X[k, j] * part * _sigmoid(X_theta_3[k])
            X_sigmoid_11[i, j] = total
    for i in range(3):
        for j in range(3):
            matrix_5[i, j] = (1.0 if i == j else 0.0) / prior_variance + X_sigmoid_11[i, j]
    _cholesky_factor(root_matrix_5, matrix_5)
    _triangle_inverse(inv_root_matrix_5, root_matrix_5)
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += inv_root_matrix_5[k, i] * inv_root_matrix_5[k, j]
            inv_matrix_5[i, j] = total
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_matrix_5[i, j] * r[j]
        inv_matrix_5_r[i] = total
    r_inv_matrix_5_r = 0.0
    for i in range(3):
        r_inv_matrix_5_r += r[i] * inv_matrix_5_r[i]
    log_det_matrix_5 = 0.0
    for i in range(3):
        log_det_matrix_5 += 2.0 * math.log(root_matrix_5[i, i])
    energy = r_inv_matrix_5_r / 2.0 + log_det_matrix_5 / 2.0
    return energy


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new, r_new, grad_U_new, theta, r, grad_U, X, prior_variance, step_factor, step_factor_2, x, y, eps, r_v1,
    theta_v1, r_v1_other, residual_r_v1, matrix_r_v1, X_theta, X_sigmoid, matrix, root_matrix, inv_root_matrix,
    inv_matrix, inv_matrix_r_v1, X_sigmoid_2, X_sigmoid_3, difference_inv_matrix_r_v1,
    difference_inv_matrix_r_v1_inv_matrix_r_v1, difference_inv_matrix, sum_difference_inv_matrix,
    inv_matrix_difference_inv_matrix_r_v1, X_theta_2, X_sigmoid_4, matrix_2, root_matrix_2, inv_root_matrix_2,
    inv_matrix_2, inv_matrix_2_r_v1, theta_new_other, residual_theta_new, matrix_theta_new, X_theta_new, X_sigmoid_5,
    matrix_3, root_matrix_3, inv_root_matrix_3, inv_matrix_3, inv_matrix_3_r_v1, X_sigmoid_6, X_sigmoid_7,
    difference_inv_matrix_3_r_v1, inv_matrix_3_difference_inv_matrix_3_r_v1, X_theta_new_2, X_sigmoid_8, matrix_4,
    root_matrix_4, inv_root_matrix_4, inv_matrix_4, inv_matrix_4_r_v1, X_sigmoid_9, X_sigmoid_10,
    difference_inv_matrix_4_r_v1, difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1, difference_inv_matrix_4,
    sum_difference_inv_matrix_4,
):  # fmt: skip
    """Write one step of the word: theta_new, r_new, grad_U_new; draw nothing."""
    n = X.shape[0]
    # r_v1[i] = r[i] + eps*(-(2 grad_U[i] + sum_jklm (sum_p X[p,j] X[p,k] sigmoid(-sum_q X[p,q] theta[q]) X[p,i]
    #   sigmoid(sum_q X[p,q] theta[q])**2 - sum_p X[p,j] X[p,k] sigmoid(-sum_q X[p,q] theta[q])**2 X[p,i] sigmoid(sum_q
    #   X[p,q] theta[q])) inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l])
    #   sigmoid(sum_l X[k,l] theta[l]))[j,l] r_v1[l] r_v1[m] inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j]
    #   sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))[k,m] - sum_jk (sum_l X[l,j] X[l,k]
    #   sigmoid(-sum_m X[l,m] theta[m]) X[l,i] sigmoid(sum_m X[l,m] theta[m])**2 - sum_l X[l,j] X[l,k] sigmoid(-sum_m
    #   X[l,m] theta[m])**2 X[l,i] sigmoid(sum_m X[l,m] theta[m])) inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j]
    #   sigmoid(-sum_l X[k,l] theta[l]) sigmoid(sum_l X[k,l] theta[l]))[j,k])/4), solved by Newton's iteration
    for i in range(3):
        r_v1[i] = r[i]
    for _ in range(100):
        _change = 0.0
        _size = 0.0
        for i in range(n):
            total = 0.0
            for j in range(3):
                total += X[i, j] * theta[j]
            X_theta[i] = total
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(n):
                    total += X[k, i] * X[k, j] * _sigmoid(-X_theta[k]) * _sigmoid(X_theta[k])
                X_sigmoid[i, j] = total
        for i in range(3):
            for j in range(3):
                matrix[i, j] = (1.0 if i == j else 0.0) / prior_variance + X_sigmoid[i, j]
        _cholesky_factor(root_matrix, matrix)
        _triangle_inverse(inv_root_matrix, root_matrix)
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += inv_root_matrix[k, i] * inv_root_matrix[k, j]
                inv_matrix[i, j] = total
        for i in range(3):
            total = 0.0
            for j in range(3):
                total += inv_matrix[i, j] * r_v1[j]
            inv_matrix_r_v1[i] = total
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    total = 0.0
                    for l in range(n):
                        part = _sigmoid(X_theta[l]) ** 2
                        total += X[l, i] * X[l, j] * X[l, k] * _sigmoid(-X_theta[l]) * part
                    X_sigmoid_2[i, j, k] = total
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    total = 0.0
                    for l in range(n):
                        part_2 = _sigmoid(-X_theta[l]) ** 2
                        total += X[l, i] * X[l, j] * X[l, k] * part_2 * _sigmoid(X_theta[l])
                    X_sigmoid_3[i, j, k] = total
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += (X_sigmoid_2[k, i, j] - X_sigmoid_3[k, i, j]) * inv_matrix_r_v1[k]
                difference_inv_matrix_r_v1[i, j] = total
        for i in range(3):
            total = 0.0
            for j in range(3):
                total += difference_inv_matrix_r_v1[j, i] * inv_matrix_r_v1[j]
            difference_inv_matrix_r_v1_inv_matrix_r_v1[i] = total
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += (X_sigmoid_2[k, i, j] - X_sigmoid_3[k, i, j]) * inv_matrix[i, k]
                difference_inv_matrix[i, j] = total
        for i in range(3):
            total = 0.0
            for j in range(3):
                total += difference_inv_matrix[j, i]
            sum_difference_inv_matrix[i] = total
        for i in range(3):
            part_3 = -sum_difference_inv_matrix[i]
            part_4 = 2.0 * grad_U[i] + difference_inv_matrix_r_v1_inv_matrix_r_v1[i] + part_3
            r_v1_other[i] = r[i] + eps * (-part_4 / 4.0)
        for i in range(3):
            _change, _size = _progress(_change, _size, r[i], r_v1[i], r_v1_other[i])
        if _change <= 1e-12 * _size:
            break
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += inv_matrix[i, k] * difference_inv_matrix_r_v1[k, j]
                inv_matrix_difference_inv_matrix_r_v1[i, j] = total
        for i in range(3):
            for j in range(3):
                matrix_r_v1[i, j] = (1.0 if i == j else 0.0) - eps * (
                    -inv_matrix_difference_inv_matrix_r_v1[j, i] / 2.0
                )
        for i in range(3):
            residual_r_v1[i] = r_v1_other[i] - r_v1[i]
        _solve(matrix_r_v1, residual_r_v1)
        for i in range(3):
            r_v1[i] = r_v1[i] + residual_r_v1[i]
    else:
        r_v1[0] = np.nan
    for i in range(n):
        total = 0.0
        for j in range(3):
            total += X[i, j] * theta[j]
        X_theta_2[i] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(n):
                part_5 = _sigmoid(-X_theta_2[k])
                total += X[k, i] * X[k, j] * part_5 * _sigmoid(X_theta_2[k])
            X_sigmoid_4[i, j] = total
    for i in range(3):
        for j in range(3):
            matrix_2[i, j] = (1.0 if i == j else 0.0) / prior_variance + X_sigmoid_4[i, j]
    _cholesky_factor(root_matrix_2, matrix_2)
    _triangle_inverse(inv_root_matrix_2, root_matrix_2)
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += inv_root_matrix_2[k, i] * inv_root_matrix_2[k, j]
            inv_matrix_2[i, j] = total
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_matrix_2[i, j] * r_v1[j]
        inv_matrix_2_r_v1[i] = total
    # theta_v1[i] = theta[i] + eps*(sum_j inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l]
    #   theta[l]) sigmoid(sum_l X[k,l] theta[l]))[j,i] r_v1[j]/2)
    for i in range(3):
        theta_v1[i] = theta[i] + step_factor * inv_matrix_2_r_v1[i]
    # theta_new[i] = theta_v1[i] + eps*(sum_j inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l]
    #   theta_new[l]) sigmoid(sum_l X[k,l] theta_new[l]))[j,i] r_v1[j]/2), solved by Newton's iteration
    for i in range(3):
        theta_new[i] = theta_v1[i]
    for _ in range(100):
        _change = 0.0
        _size = 0.0
        for i in range(n):
            total = 0.0
            for j in range(3):
                total += X[i, j] * theta_new[j]
            X_theta_new[i] = total
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(n):
                    part_6 = _sigmoid(-X_theta_new[k])
                    total += X[k, i] * X[k, j] * part_6 * _sigmoid(X_theta_new[k])
                X_sigmoid_5[i, j] = total
        for i in range(3):
            for j in range(3):
                matrix_3[i, j] = (1.0 if i == j else 0.0) / prior_variance + X_sigmoid_5[i, j]
        _cholesky_factor(root_matrix_3, matrix_3)
        _triangle_inverse(inv_root_matrix_3, root_matrix_3)
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += inv_root_matrix_3[k, i] * inv_root_matrix_3[k, j]
                inv_matrix_3[i, j] = total
        for i in range(3):
            total = 0.0
            for j in range(3):
                total += inv_matrix_3[i, j] * r_v1[j]
            inv_matrix_3_r_v1[i] = total
        for i in range(3):
            theta_new_other[i] = theta_v1[i] + eps * (inv_matrix_3_r_v1[i] / 2.0)
        for i in range(3):
            _change, _size = _progress(_change, _size, theta_v1[i], theta_new[i], theta_new_other[i])
        if _change <= 1e-12 * _size:
            break
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    total = 0.0
                    for l in range(n):
                        part_7 = _sigmoid(X_theta_new[l]) ** 2
                        total += X[l, i] * X[l, j] * X[l, k] * _sigmoid(-X_theta_new[l]) * part_7
                    X_sigmoid_6[i, j, k] = total
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    total = 0.0
                    for l in range(n):
                        part_8 = _sigmoid(-X_theta_new[l]) ** 2
                        total += X[l, i] * X[l, j] * X[l, k] * part_8 * _sigmoid(X_theta_new[l])
                    X_sigmoid_7[i, j, k] = total
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += (X_sigmoid_6[k, i, j] - X_sigmoid_7[k, i, j]) * inv_matrix_3_r_v1[k]
                difference_inv_matrix_3_r_v1[i, j] = total
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += inv_matrix_3[i, k] * difference_inv_matrix_3_r_v1[k, j]
                inv_matrix_3_difference_inv_matrix_3_r_v1[i, j] = total
        for i in range(3):
            for j in range(3):
                matrix_theta_new[i, j] = (1.0 if i == j else 0.0) - eps * (
                    inv_matrix_3_difference_inv_matrix_3_r_v1[i, j] / 2.0
                )
        for i in range(3):
            residual_theta_new[i] = theta_new_other[i] - theta_new[i]
        _solve(matrix_theta_new, residual_theta_new)
        for i in range(3):
            theta_new[i] = theta_new[i] + residual_theta_new[i]
    else:
        theta_new[0] = np.nan
    gradient(grad_U_new, theta_new, prior_variance, x, y)
    for i in range(n):
        total = 0.0
        for j in range(3):
            total += X[i, j] * theta_new[j]
        X_theta_new_2[i] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(n):
                part_9 = _sigmoid(-X_theta_new_2[k])
                total += X[k, i] * X[k, j] * part_9 * _sigmoid(X_theta_new_2[k])
            X_sigmoid_8[i, j] = total
    for i in range(3):
        for j in range(3):
            matrix_4[i, j] = (1.0 if i == j else 0.0) / prior_variance + X_sigmoid_8[i, j]
    _cholesky_factor(root_matrix_4, matrix_4)
    _triangle_inverse(inv_root_matrix_4, root_matrix_4)
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += inv_root_matrix_4[k, i] * inv_root_matrix_4[k, j]
            inv_matrix_4[i, j] = total
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_matrix_4[i, j] * r_v1[j]
        inv_matrix_4_r_v1[i] = total
    for i in range(3):
        for j in range(3):
            for k in range(3):
                total = 0.0
                for l in range(n):
                    part_10 = _sigmoid(X_theta_new_2[l]) ** 2
                    total += X[l, i] * X[l, j] * X[l, k] * _sigmoid(-X_theta_new_2[l]) * part_10
                X_sigmoid_9[i, j, k] = total
    for i in range(3):
        for j in range(3):
            for k in range(3):
                total = 0.0
                for l in range(n):
                    part_11 = _sigmoid(-X_theta_new_2[l]) ** 2
                    total += X[l, i] * X[l, j] * X[l, k] * part_11 * _sigmoid(X_theta_new_2[l])
                X_sigmoid_10[i, j, k] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += (X_sigmoid_9[k, i, j] - X_sigmoid_10[k, i, j]) * inv_matrix_4_r_v1[k]
            difference_inv_matrix_4_r_v1[i, j] = total
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += difference_inv_matrix_4_r_v1[j, i] * inv_matrix_4_r_v1[j]
        difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1[i] = total
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += (X_sigmoid_9[k, i, j] - X_sigmoid_10[k, i, j]) * inv_matrix_4[i, k]
            difference_inv_matrix_4[i, j] = total
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += difference_inv_matrix_4[j, i]
        sum_difference_inv_matrix_4[i] = total
    # r_new[i] = r_v1[i] + eps*(-(2 grad_U_new[i] + sum_jklm (sum_p X[p,j] X[p,k] sigmoid(-sum_q X[p,q] theta_new[q])
    #   X[p,i] sigmoid(sum_q X[p,q] theta_new[q])**2 - sum_p X[p,j] X[p,k] sigmoid(-sum_q X[p,q] theta_new[q])**2 X[p,i]
    #   sigmoid(sum_q X[p,q] theta_new[q])) inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l]
    #   theta_new[l]) sigmoid(sum_l X[k,l] theta_new[l]))[j,l] r_v1[l] r_v1[m] inv(delta[i,j]/prior_variance + sum_k
    #   X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta_new[l]) sigmoid(sum_l X[k,l] theta_new[l]))[k,m] - sum_jk (sum_l
    #   X[l,j] X[l,k] sigmoid(-sum_m X[l,m] theta_new[m]) X[l,i] sigmoid(sum_m X[l,m] theta_new[m])**2 - sum_l X[l,j]
    #   X[l,k] sigmoid(-sum_m X[l,m] theta_new[m])**2 X[l,i] sigmoid(sum_m X[l,m] theta_new[m]))
    #   inv(delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta_new[l]) sigmoid(sum_l X[k,l]
    #   theta_new[l]))[j,k])/4)
    for i in range(3):
        part_12 = -sum_difference_inv_matrix_4[i]
        part_13 = 2.0 * grad_U_new[i] + difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1[i] + part_12
        r_new[i] = r_v1[i] + step_factor_2 * part_13


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_FASTMATH)
def cycle(
    theta_next, r_next, grad_U_next, U_next, acceptance, unsolved, irreversible, theta, r, grad_U, U, X, prior_variance,
    step_factor, step_factor_2, scale_r, scale_r_2, x, y, noise_r, noise_r_2, noise_length, noise_accept, eps,
    X_theta_4, X_sigmoid_noise_r_2, r_drawn, theta_at, theta_new, theta_back, r_at, r_new, r_back, grad_U_at,
    grad_U_new, grad_U_back, X_theta_3, X_sigmoid_11, matrix_5, root_matrix_5, inv_root_matrix_5, inv_matrix_5,
    inv_matrix_5_r, r_v1, theta_v1, r_v1_other, residual_r_v1, matrix_r_v1, X_theta, X_sigmoid, matrix, root_matrix,
    inv_root_matrix, inv_matrix, inv_matrix_r_v1, X_sigmoid_2, X_sigmoid_3, difference_inv_matrix_r_v1,
    difference_inv_matrix_r_v1_inv_matrix_r_v1, difference_inv_matrix, sum_difference_inv_matrix,
    inv_matrix_difference_inv_matrix_r_v1, X_theta_2, X_sigmoid_4, matrix_2, root_matrix_2, inv_root_matrix_2,
    inv_matrix_2, inv_matrix_2_r_v1, theta_new_other, residual_theta_new, matrix_theta_new, X_theta_new, X_sigmoid_5,
    matrix_3, root_matrix_3, inv_root_matrix_3, inv_matrix_3, inv_matrix_3_r_v1, X_sigmoid_6, X_sigmoid_7,
    difference_inv_matrix_3_r_v1, inv_matrix_3_difference_inv_matrix_3_r_v1, X_theta_new_2, X_sigmoid_8, matrix_4,
    root_matrix_4, inv_root_matrix_4, inv_matrix_4, inv_matrix_4_r_v1, X_sigmoid_9, X_sigmoid_10,
    difference_inv_matrix_4_r_v1, difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1, difference_inv_matrix_4,
    sum_difference_inv_matrix_4,
):  # fmt: skip
    """Write one step, a cycle of moves: theta_next, r_next, grad_U_next, U_next, acceptance, unsolved, irreversible;
    draw nothing.
    """
    n = X.shape[0]
    # refresh: r_drawn = N(0, delta[i,j]/prior_variance + sum_k X[k,i] X[k,j] sigmoid(-sum_l X[k,l] theta[l])
    #   sigmoid(sum_l X[k,l] theta[l]))
    for i in range(n):
        total = 0.0
        for j in range(3):
            total += X[i, j] * theta[j]
        X_theta_4[i] = total
    for i in range(3):
        total = 0.0
        for j in range(n):
            part = math.sqrt(_sigmoid(-X_theta_4[j]))
            total += X[j, i] * part * math.sqrt(_sigmoid(X_theta_4[j])) * noise_r_2[j]
        X_sigmoid_noise_r_2[i] = total
    for i in range(3):
        r_drawn[i] = scale_r * noise_r[i] + scale_r_2 * X_sigmoid_noise_r_2[i]
    # length: uniform(1, 6)
    length = _uniform_integer(1, 6, noise_length[0], noise_length[1])
    rest_start = rest(
        theta, r_drawn, X, prior_variance, X_theta_3, X_sigmoid_11, matrix_5, root_matrix_5, inv_root_matrix_5,
        inv_matrix_5, inv_matrix_5_r,
    )  # fmt: skip
    for i in range(3):
        theta_at[i] = theta[i]
    for i in range(3):
        r_at[i] = r_drawn[i]
    for i in range(3):
        grad_U_at[i] = grad_U[i]
    for _ in range(length):
        step(
            theta_new, r_new, grad_U_new, theta_at, r_at, grad_U_at, X, prior_variance, step_factor, step_factor_2, x,
            y, eps, r_v1, theta_v1, r_v1_other, residual_r_v1, matrix_r_v1, X_theta, X_sigmoid, matrix, root_matrix,
            inv_root_matrix, inv_matrix, inv_matrix_r_v1, X_sigmoid_2, X_sigmoid_3, difference_inv_matrix_r_v1,
            difference_inv_matrix_r_v1_inv_matrix_r_v1, difference_inv_matrix, sum_difference_inv_matrix,
            inv_matrix_difference_inv_matrix_r_v1, X_theta_2, X_sigmoid_4, matrix_2, root_matrix_2, inv_root_matrix_2,
            inv_matrix_2, inv_matrix_2_r_v1, theta_new_other, residual_theta_new, matrix_theta_new, X_theta_new,
            X_sigmoid_5, matrix_3, root_matrix_3, inv_root_matrix_3, inv_matrix_3, inv_matrix_3_r_v1, X_sigmoid_6,
            X_sigmoid_7, difference_inv_matrix_3_r_v1, inv_matrix_3_difference_inv_matrix_3_r_v1, X_theta_new_2,
            X_sigmoid_8, matrix_4, root_matrix_4, inv_root_matrix_4, inv_matrix_4, inv_matrix_4_r_v1, X_sigmoid_9,
            X_sigmoid_10, difference_inv_matrix_4_r_v1, difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1,
            difference_inv_matrix_4, sum_difference_inv_matrix_4,
        )  # fmt: skip
        for i in range(3):
            theta_at[i] = theta_new[i]
        for i in range(3):
            r_at[i] = r_new[i]
        for i in range(3):
            grad_U_at[i] = grad_U_new[i]
    U_at = potential(theta_at, prior_variance, x, y)
    rest_at = rest(
        theta_at, r_at, X, prior_variance, X_theta_3, X_sigmoid_11, matrix_5, root_matrix_5, inv_root_matrix_5,
        inv_matrix_5, inv_matrix_5_r,
    )  # fmt: skip
    # accept with probability min(1, exp(H - H')), else turn round
    log_ratio = U[0] - U_at + rest_start - rest_at
    # and where it leads back: each step was solved for
    led = log_ratio
    for i in range(3):
        theta_back[i] = theta_at[i]
    for i in range(3):
        r_back[i] = -r_at[i]
    for i in range(3):
        grad_U_back[i] = grad_U_at[i]
    for _ in range(length):
        step(
            theta_new, r_new, grad_U_new, theta_back, r_back, grad_U_back, X, prior_variance, step_factor,
            step_factor_2, x, y, eps, r_v1, theta_v1, r_v1_other, residual_r_v1, matrix_r_v1, X_theta, X_sigmoid,
            matrix, root_matrix, inv_root_matrix, inv_matrix, inv_matrix_r_v1, X_sigmoid_2, X_sigmoid_3,
            difference_inv_matrix_r_v1, difference_inv_matrix_r_v1_inv_matrix_r_v1, difference_inv_matrix,
            sum_difference_inv_matrix, inv_matrix_difference_inv_matrix_r_v1, X_theta_2, X_sigmoid_4, matrix_2,
            root_matrix_2, inv_root_matrix_2, inv_matrix_2, inv_matrix_2_r_v1, theta_new_other, residual_theta_new,
            matrix_theta_new, X_theta_new, X_sigmoid_5, matrix_3, root_matrix_3, inv_root_matrix_3, inv_matrix_3,
            inv_matrix_3_r_v1, X_sigmoid_6, X_sigmoid_7, difference_inv_matrix_3_r_v1,
            inv_matrix_3_difference_inv_matrix_3_r_v1, X_theta_new_2, X_sigmoid_8, matrix_4, root_matrix_4,
            inv_root_matrix_4, inv_matrix_4, inv_matrix_4_r_v1, X_sigmoid_9, X_sigmoid_10, difference_inv_matrix_4_r_v1,
            difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1, difference_inv_matrix_4, sum_difference_inv_matrix_4,
        )  # fmt: skip
        for i in range(3):
            theta_back[i] = theta_new[i]
        for i in range(3):
            r_back[i] = r_new[i]
        for i in range(3):
            grad_U_back[i] = grad_U_new[i]
    gap = 0.0
    extent = 0.0
    for i in range(3):
        gap += abs(theta[i] - theta_back[i])
        extent += abs(theta[i]) + abs(theta_at[i])
    log_ratio = _returned(log_ratio, gap, extent)
    gap = 0.0
    extent = 0.0
    for i in range(3):
        gap += abs(r_drawn[i] + r_back[i])
        extent += abs(r_drawn[i]) + abs(r_at[i])
    log_ratio = _returned(log_ratio, gap, extent)
    lost, one_way = _guards(led, log_ratio)
    unsolved[0] = lost
    irreversible[0] = one_way
    accept, acceptance[0] = _accepted(log_ratio, noise_accept[0], noise_accept[1])
    for i in range(3):
        theta_next[i] = theta_at[i] if accept else theta[i]
    for i in range(3):
        r_next[i] = r_at[i] if accept else -r_drawn[i]
    for i in range(3):
        grad_U_next[i] = grad_U_at[i] if accept else grad_U[i]
    U_next[0] = U_at if accept else U[0]


def prepare(X, prior_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    step_factor = eps / 2.0
    step_factor_2 = -eps / 4.0
    scale_r = math.sqrt(1.0 / prior_variance)
    scale_r_2 = math.sqrt(1.0)
    return (step_factor, step_factor_2, scale_r, scale_r_2)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def first_values(theta, r, grad_U, U, X, prior_variance, step_factor, step_factor_2, scale_r, scale_r_2, x, y):
    """Write grad_U and U at the state: what the first step of a chain begins with."""
    gradient(grad_U, theta, prior_variance, x, y)
    U[0] = potential(theta, prior_variance, x, y)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta, r, grad_U, U, X, prior_variance, step_factor, step_factor_2, scale_r, scale_r_2, x, y, eps, thin,
    noise_state, theta_draws, r_draws, acceptance_draws, unsolved_draws, irreversible_draws,
):  # fmt: skip
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64, the data of float64
    or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for
    each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns. grad_U and U
    begin as `first_values` writes them; from call to call they are passed on.

    Small rows: one loop over the rows of the data, their features in scalars; in Fortran order several rows at once.
    """
    _wide_vectors()
    n = X.shape[0]
    theta_next = np.empty(3)
    r_next = np.empty(3)
    grad_U_next = np.empty(3)
    U_next = np.empty(1)
    acceptance = np.empty(1)
    unsolved = np.empty(1)
    irreversible = np.empty(1)
    X_theta_4 = np.empty(n)
    X_sigmoid_noise_r_2 = np.empty(3)
    r_drawn = np.empty(3)
    theta_at = np.empty(3)
    theta_new = np.empty(3)
    theta_back = np.empty(3)
    r_at = np.empty(3)
    r_new = np.empty(3)
    r_back = np.empty(3)
    grad_U_at = np.empty(3)
    grad_U_new = np.empty(3)
    grad_U_back = np.empty(3)
    X_theta_3 = np.empty(n)
    X_sigmoid_11 = np.empty((3, 3))
    matrix_5 = np.empty((3, 3))
    root_matrix_5 = np.empty((3, 3))
    inv_root_matrix_5 = np.empty((3, 3))
    inv_matrix_5 = np.empty((3, 3))
    inv_matrix_5_r = np.empty(3)
    r_v1 = np.empty(3)
    theta_v1 = np.empty(3)
    r_v1_other = np.empty(3)
    residual_r_v1 = np.empty(3)
    matrix_r_v1 = np.empty((3, 3))
    X_theta = np.empty(n)
    X_sigmoid = np.empty((3, 3))
    matrix = np.empty((3, 3))
    root_matrix = np.empty((3, 3))
    inv_root_matrix = np.empty((3, 3))
    inv_matrix = np.empty((3, 3))
    inv_matrix_r_v1 = np.empty(3)
    X_sigmoid_2 = np.empty((3, 3, 3))
    X_sigmoid_3 = np.empty((3, 3, 3))
    difference_inv_matrix_r_v1 = np.empty((3, 3))
    difference_inv_matrix_r_v1_inv_matrix_r_v1 = np.empty(3)
    difference_inv_matrix = np.empty((3, 3))
    sum_difference_inv_matrix = np.empty(3)
    inv_matrix_difference_inv_matrix_r_v1 = np.empty((3, 3))
    X_theta_2 = np.empty(n)
    X_sigmoid_4 = np.empty((3, 3))
    matrix_2 = np.empty((3, 3))
    root_matrix_2 = np.empty((3, 3))
    inv_root_matrix_2 = np.empty((3, 3))
    inv_matrix_2 = np.empty((3, 3))
    inv_matrix_2_r_v1 = np.empty(3)
    theta_new_other = np.empty(3)
    residual_theta_new = np.empty(3)
    matrix_theta_new = np.empty((3, 3))
    X_theta_new = np.empty(n)
    X_sigmoid_5 = np.empty((3, 3))
    matrix_3 = np.empty((3, 3))
    root_matrix_3 = np.empty((3, 3))
    inv_root_matrix_3 = np.empty((3, 3))
    inv_matrix_3 = np.empty((3, 3))
    inv_matrix_3_r_v1 = np.empty(3)
    X_sigmoid_6 = np.empty((3, 3, 3))
    X_sigmoid_7 = np.empty((3, 3, 3))
    difference_inv_matrix_3_r_v1 = np.empty((3, 3))
    inv_matrix_3_difference_inv_matrix_3_r_v1 = np.empty((3, 3))
    X_theta_new_2 = np.empty(n)
    X_sigmoid_8 = np.empty((3, 3))
    matrix_4 = np.empty((3, 3))
    root_matrix_4 = np.empty((3, 3))
    inv_root_matrix_4 = np.empty((3, 3))
    inv_matrix_4 = np.empty((3, 3))
    inv_matrix_4_r_v1 = np.empty(3)
    X_sigmoid_9 = np.empty((3, 3, 3))
    X_sigmoid_10 = np.empty((3, 3, 3))
    difference_inv_matrix_4_r_v1 = np.empty((3, 3))
    difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1 = np.empty(3)
    difference_inv_matrix_4 = np.empty((3, 3))
    sum_difference_inv_matrix_4 = np.empty(3)
    noise_r = np.empty(3)
    noise_r_2 = np.empty(n)
    noise_length = np.empty(2)
    noise_accept = np.empty(2)
    acceptance_sum = 0.0
    unsolved_sum = 0.0
    irreversible_sum = 0.0
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_r)
            _fill_normals(noise_state, noise_r_2)
            _fill_normals(noise_state, noise_length)
            _fill_normals(noise_state, noise_accept)
            cycle(
                theta_next, r_next, grad_U_next, U_next, acceptance, unsolved, irreversible, theta, r, grad_U, U, X,
                prior_variance, step_factor, step_factor_2, scale_r, scale_r_2, x, y, noise_r, noise_r_2, noise_length,
                noise_accept, eps, X_theta_4, X_sigmoid_noise_r_2, r_drawn, theta_at, theta_new, theta_back, r_at,
                r_new, r_back, grad_U_at, grad_U_new, grad_U_back, X_theta_3, X_sigmoid_11, matrix_5, root_matrix_5,
                inv_root_matrix_5, inv_matrix_5, inv_matrix_5_r, r_v1, theta_v1, r_v1_other, residual_r_v1, matrix_r_v1,
                X_theta, X_sigmoid, matrix, root_matrix, inv_root_matrix, inv_matrix, inv_matrix_r_v1, X_sigmoid_2,
                X_sigmoid_3, difference_inv_matrix_r_v1, difference_inv_matrix_r_v1_inv_matrix_r_v1,
                difference_inv_matrix, sum_difference_inv_matrix, inv_matrix_difference_inv_matrix_r_v1, X_theta_2,
                X_sigmoid_4, matrix_2, root_matrix_2, inv_root_matrix_2, inv_matrix_2, inv_matrix_2_r_v1,
                theta_new_other, residual_theta_new, matrix_theta_new, X_theta_new, X_sigmoid_5, matrix_3,
                root_matrix_3, inv_root_matrix_3, inv_matrix_3, inv_matrix_3_r_v1, X_sigmoid_6, X_sigmoid_7,
                difference_inv_matrix_3_r_v1, inv_matrix_3_difference_inv_matrix_3_r_v1, X_theta_new_2, X_sigmoid_8,
                matrix_4, root_matrix_4, inv_root_matrix_4, inv_matrix_4, inv_matrix_4_r_v1, X_sigmoid_9, X_sigmoid_10,
                difference_inv_matrix_4_r_v1, difference_inv_matrix_4_r_v1_inv_matrix_4_r_v1, difference_inv_matrix_4,
                sum_difference_inv_matrix_4,
            )  # fmt: skip
            for entry in range(3):
                theta[entry] = theta_next[entry]
                r[entry] = r_next[entry]
            for entry in range(3):
                grad_U[entry] = grad_U_next[entry]
            for entry in range(1):
                U[entry] = U_next[entry]
            acceptance_sum += acceptance[0]
            unsolved_sum += unsolved[0]
            irreversible_sum += irreversible[0]
        acceptance_draws[kept, 0] = acceptance_sum / thin
        acceptance_sum = 0.0
        unsolved_draws[kept, 0] = unsolved_sum
        unsolved_sum = 0.0
        irreversible_draws[kept, 0] = irreversible_sum
        irreversible_sum = 0.0
        finite = True
        for entry in range(3):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
        finite = finite and abs(U[0]) <= 1.7976931348623157e308
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
def _sigmoid(x):
    """Return 1/(1 + exp(-x)), as e/(1 + e) with e = exp(-|x|) for x < 0: no overflow, small values kept."""
    e = _exp(-abs(x))
    return (e if x < 0.0 else 1.0) / (1.0 + e)


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


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals(state, out):
    """Fill `out` with independent N(0, 1) draws; `state` (uint64[4]) moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(np.uint64(out.size)):
        out[k], s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


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


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _uniform_integer(least, most, a, b):
    """Return an integer drawn uniformly from least to most."""
    u = _exp(-0.5 * (a * a + b * b))
    return min(least + int(u * (most - least + 1)), most)


_CLOSE = 1e-8  # of the size of a block, as near as trajectories of many steps come that were solved to 1e-12 each


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _returned(log_ratio, gap, extent):
    """Return the log ratio, or -inf where a block came back by `gap` from where it began; NaN is no way back."""
    return log_ratio if gap <= _CLOSE * extent else -math.inf


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _guards(led, log_ratio):
    """Return 1 where a trajectory led to no number, else 0; and 1 where it led somewhere and not back, else 0.

    `led` is the log ratio before it was tried whether it leads back. An energy of plus infinity is a number.
    """
    known = led < math.inf or led >= math.inf
    lost = not known
    one_way = known and led > -math.inf and not log_ratio > -math.inf
    return 1.0 if lost else 0.0, 1.0 if one_way else 0.0


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _progress(change, size, start, value, other):
    """Return the largest difference of two sides so far and the largest entry, with those of one more entry.

    The entry from which the iteration started counts, too: what crosses zero has no size of its own.
    """
    return max(change, abs(other - value)), max(size, abs(start), abs(other))


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _solve(matrix, right):
    """Overwrite `right` by the solution of a linear equation, by elimination with row pivots; both are overwritten."""
    n = len(right)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
            right[k], right[pivot] = right[pivot], right[k]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
            right[i] -= factor * right[k]
    for k in range(n - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * right[j]
        right[k] = total / matrix[k, k]


@njit(cache=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def _triangle_inverse(X, L):
    """Write into X the inverse of a lower triangular L, row by row, by forward substitution: L X = 1."""
    size, _ = L.shape
    for i in range(size):
        for j in range(size):
            X[i, j] = 0.0
        X[i, i] = 1.0 / L[i, i]
        for j in range(i):
            total = 0.0
            for k in range(j, i):
                total += L[i, k] * X[k, j]
            X[i, j] = -total / L[i, i]


@njit(cache=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def _cholesky_factor(L, S):
    """Write into L the lower triangular factor of a positive definite S, of which the lower triangle is read."""
    size, _ = S.shape
    for i in range(size):
        for j in range(size):
            L[i, j] = 0.0
        for j in range(i):
            total = 0.0
            for k in range(j):
                total += L[i, k] * L[j, k]
            L[i, j] = (S[i, j] - total) / L[j, j]
        total = 0.0
        for k in range(i):
            total += L[i, k] * L[i, k]
        L[i, i] = math.sqrt(S[i, i] - total)


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
