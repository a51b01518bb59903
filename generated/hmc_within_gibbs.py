"""hmc_within_gibbs: Hamiltonian Monte Carlo, for regression_precision.

To draw from it, in plain Python with numpy and numba alone:

    import hmc_within_gibbs

    draws = hmc_within_gibbs.sample(x, y)
    draws["beta"].mean(axis=(0, 1))  # of an array (chain, draw, 4)
    help(hmc_within_gibbs.sample)  # settings, and what else it takes

Data:
    x: (N, 4), finite numbers, kept as float64
    y: (N,), finite numbers, kept as float64
    in the build, x is made of the columns a, b, c, e of linear_regression.csv
    in the build, y is made of the column y of linear_regression.csv

Parameters:
    mass: a number, positive; 400.0 unless it is given
    shape: a number, positive; 0.5 unless it is given
    rate: a number, positive; 0.5 unless it is given
    m: (4,), real; np.asarray(np.full((4, 1), 0.0)).reshape(-1) unless it is given
    S: (4, 4), positive definite; np.asarray((10.0 * np.eye(4))) unless it is given

State:
    theta: (5,), real
    r: (5,), real

Draws, each of shape (chain, draw, ...):
    beta: (4,), theta[0:4]
    tau: a number, exp(theta[4])
    r: (5,)
    acceptance: a number, the mean probability that the moves of a draw were accepted with

The build:
    step_size 0.5, draws 2000, warmup 100, thin 1, chains 4, seed 1

Energy:
    H = U(theta) + mass**-1*r.T @ r / 2
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = log(exp(log_tau))/2 - exp(log_tau)*(y - x @ beta)**2 / 2
    log_prior = (-(beta - m).T @ inv(S) @ (beta - m) / 2 + (shape - 1)*log(exp(log_tau)) - rate*exp(log_tau)) +
        log_tau

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D = 0
    Q[theta,r] = -delta[i,j] moved[i]
    Q[r,theta] = delta[i,j] moved[i]
    Gamma = 0
    f[theta] = moved[i] r[i]/mass
    f[r] = -d_theta[i] U moved[i]

Bound to:
    M = mass*I

Step:
    a cycle of moves, one after the other, each from the state z that the one before leaves:
    draw: tau
    tau' ~ Gamma(shape + N/2, rate + (y - x @ beta).T @ (y - x @ beta) / 2), given all others and all data
    refresh: r
    r' ~ N(0, mass*I)
    of: {theta: [beta]}, metropolis: {split: [B/2, A, B/2], steps: 'uniform(1, 8)', flip: {r: -r}}
    moved is 1 at the coordinates of beta, which move, and 0 at others, held
    z' = Psi^L(z) with probability min(1, exp(-W)), else z with r -> -r
    W = H(Psi^L(z)) - H(z); Psi the word; L uniform in 1, ..., 8
    draws take as many words of the chain's own stream as they need, one draw after the other
    grad U and U at the state that is drawn: evaluated where the word begins, and not kept from step to step
    the word: [B/2, A, B/2], the exact flow of each piece, one after the other; weak order 2
    grad U over all data

Proved:
    D is symmetric; Q is skew; exp(-H) is stationary; the target's blocks have the law exp(-U) once the others are
        integrated out; exp(-H) has the claimed marginal; each claimed law is that of its block given all others;
        the pieces of the word make the equation (index calculus for every size; second engine)
    D is positive semidefinite (structure of D)
    exp(-H) has a finite integral (growth at the ends of the domain; second engine)
    the log posterior is defined inside the domain; the log posterior is differentiable inside the domain (rules of
        definedness and smoothness)
    what is bound is of the kind declared (structure, exact values)
    V is positive semidefinite (structure of V)
    2D - eps B_hat is positive semidefinite (the gradient is exact)
    D and Q do not reuse the gradient's minibatch (there is no minibatch)
    each piece is moved by its flow, exact or the one named (A, B: shift; second engine)
    blocks are drawn anew from their laws given the others (r ~ N(0, mass*I) given theta)
    blocks of the target are drawn from their laws given the others (tau ~ Gamma(shape + N/2, rate + (y - x @
        beta).T @ (y - x @ beta) / 2) given all others)
    what is accepted or refused keeps exp(-H) (a palindrome of pieces that keep volume and run backwards under r ->
        -r)
    every move keeps exp(-H), and every block is moved (move 1, draw of tau; move 2, refresh of r; move 3,
        Metropolis)

Not checked here:
    pieces, flow, order and what pieces keep are about the word that moves of the cycle repeat; exact says whether
        its moves keep exp(-H) whatever the step size is

References:
    Simon Duane, A. D. Kennedy, Brian J. Pendleton, Duncan Roweth (1987): Hybrid Monte Carlo. Physics Letters B,
        195(2), 216-222
    Radford M. Neal (2011): MCMC Using Hamiltonian Dynamics. Handbook of Markov Chain Monte Carlo. arXiv:1206.1901
    Yi-An Ma, Tianqi Chen, Emily B. Fox (2015): A Complete Recipe for Stochastic Gradient MCMC. Advances in Neural
        Information Processing Systems 28. arXiv:1506.04696
    Dennis V. Lindley, Adrian F. M. Smith (1972): Bayes Estimates for the Linear Model. Journal of the Royal
        Statistical Society: Series B, 34(1), 1-41
    Alan E. Gelfand, Adrian F. M. Smith (1990): Sampling-Based Approaches to Calculating Marginal Densities. Journal
        of the American Statistical Association, 85(410), 398-409

Origin:
    Emitted by recipe_compiler (format 2) from hmc and regression_precision, by version 0.1.0 of that Python
        package.
    Spec digest (SHA-256): d9c3140b590f3656fe9941f92a81f21cdb7e87fcd1442166ab6a6870b6b93747
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
SPEC_DIGEST = "d9c3140b590f3656fe9941f92a81f21cdb7e87fcd1442166ab6a6870b6b93747"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 5), ("r", 5))
SIZES = ()
PARAMETERS = ("moved", "mass", "m", "S", "shape", "rate")
CONSTANTS = ("inv_S", "step_factor", "step_factor_2", "scale_r")
DATA = ("x", "y")
COLUMN_MAJOR = ("x",)
ARGUMENTS = (
    "theta", "r", "moved", "mass", "m", "S", "shape", "rate", "inv_S", "step_factor", "step_factor_2", "scale_r", "x",
    "y", "eps", "thin", "noise_state", "theta_draws", "r_draws", "acceptance_draws",
)  # fmt: skip
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


def sample(
    x, y, *, mass=400.0, shape=0.5, rate=0.5, m=None, S=None, step_size=0.5, draws=2000, warmup=100, thin=1, chains=4,
    seed=1, init=None, progress=False, threads=None,
):  # fmt: skip
    """Return draws by name, arrays (chain, draw, ...), without the first `warmup` draws of each chain.

    x (N, 4), y (N,), mass a number, shape a number, rate a number, m (4,), S (4, 4). The top of the file,
    help(hmc_within_gibbs), says what they are, and what is returned. A draw is kept of every `thin` steps. init:
    where chains start, a dict with any of theta or r, each (size,) for all chains or (chain, size). progress: True
    tells it on stderr; a function is called as progress(chain, draws, total, phase), the phase warmup or draws.
    threads: None takes all cores; the same seed draws the same bits on any number of them.

    Raises TypeError, ValueError: what was found, and what was expected. Warns of a chain that ended early.
    """
    sizes = {}
    x = _checked_array("x", x, ("N", 4), sizes)
    x = np.asfortranarray(x)  # as the loop over its rows reads it fastest
    y = _checked_array("y", y, ("N",), sizes)
    moved = np.zeros(5)
    moved[0:4] = 1.0
    mass = _checked_number("mass", mass, above=0)
    shape = _checked_number("shape", shape, above=0)
    rate = _checked_number("rate", rate, above=0)
    if m is None:
        m = np.asarray(np.full((4, 1), 0.0)).reshape(-1)
    m = _checked_array("m", m, (4,), sizes)
    if S is None:
        S = np.asarray((10.0 * np.eye(4)))
    S = _checked_array("S", S, (4, 4), sizes)
    _check_kinds("S", S, ["positive definite"])
    eps = _checked_number("step_size", step_size, above=0)
    draws = _checked_number("draws", draws, whole=True, least=1)
    warmup = _checked_number("warmup", warmup, whole=True, least=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    chains = _checked_number("chains", chains, whole=True, least=1)
    seed = _checked_number("seed", seed, whole=True, least=0)
    tell = _checked_progress(progress, warmup)
    if threads is not None:
        threads = _checked_number("threads", threads, whole=True, least=1)
    given = {
        "moved": moved, "mass": mass, "m": m, "S": S, "shape": shape, "rate": rate, "x": x, "y": y, "eps": eps,
        "thin": thin,
    }  # fmt: skip
    given.update(_constants(CONSTANTS, prepare(moved, mass, m, S, shape, rate, eps)))
    drawn = _room(first_state(seed, 0, mass), chains, warmup + draws)
    starts = [first_state(seed, chain, mass) for chain in range(chains)]
    starts = _checked_starts(starts, init)
    drawn["acceptance"] = np.empty((chains, warmup + draws, 1))
    noise, _ = seed_streams(seed, chains)
    states = [{**starts[chain], "noise_state": noise[chain]} for chain in range(chains)]
    done = _run_chains(run, ARGUMENTS, given, states, drawn, threads, tell)
    drawn = _after_warmup(drawn, done, warmup)
    _tell_still("theta", drawn["theta"])
    with np.errstate(over="ignore"):  # a draw that is not finite stays so
        return {
            "beta": drawn["theta"][:, :, 0:4], "tau": np.exp(drawn["theta"][:, :, 4]), "r": drawn["r"],
            "acceptance": drawn["acceptance"][:, :, 0],
        }  # fmt: skip


def first_state(seed, chain, mass):
    """Return where a chain starts, by the blocks of the state."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))
    theta = rng.uniform(-2.0, 2.0, 5)

    def energy(r):
        r = r.reshape((5, 1))
        return float((((np.asarray(mass) ** np.asarray(-1.0)) * r.T) @ r).reshape(()) * 0.5)

    r = _draw_law(rng, 5, energy)
    return {"theta": theta, "r": r}


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U, theta, m, shape, rate, inv_S, x, y, inv_S_difference):
    """Write grad_U_beta[i] = -sum_j inv(S)[j,i] (m[j] - beta[j])
    + sum over the data of exp(log_tau) x[n,i] (sum_j x[n,j] beta[j] - y[n])
    grad_U_log_tau = rate exp(log_tau) + (-shape + 1) - 1
    + sum over the data of exp(log_tau) (sum_i x[n,i] beta[i] - y[n])**2/2 - 1/2.
    """
    N = x.shape[0]
    exp_log_tau = _exp(theta[4])
    part = m[0] - theta[0]
    part_2 = m[1] - theta[1]
    part_3 = m[2] - theta[2]
    part_4 = m[3] - theta[3]
    inv_S_difference[0] = inv_S[0, 0] * part + inv_S[0, 1] * part_2 + inv_S[0, 2] * part_3 + inv_S[0, 3] * part_4
    inv_S_difference[1] = inv_S[1, 0] * part + inv_S[1, 1] * part_2 + inv_S[1, 2] * part_3 + inv_S[1, 3] * part_4
    inv_S_difference[2] = inv_S[2, 0] * part + inv_S[2, 1] * part_2 + inv_S[2, 2] * part_3 + inv_S[2, 3] * part_4
    inv_S_difference[3] = inv_S[3, 0] * part + inv_S[3, 1] * part_2 + inv_S[3, 2] * part_3 + inv_S[3, 3] * part_4
    grad_U_0 = 0.0
    grad_U_1 = 0.0
    grad_U_2 = 0.0
    grad_U_3 = 0.0
    grad_U_4 = 0.0
    for row in range(N):
        x_0 = x[row, 0]
        x_1 = x[row, 1]
        x_2 = x[row, 2]
        x_3 = x[row, 3]
        x_beta = x_0 * theta[0] + x_1 * theta[1] + x_2 * theta[2] + x_3 * theta[3]
        part_5 = -y[row] + x_beta
        weight = exp_log_tau * part_5
        grad_U_0 += x_0 * weight
        grad_U_1 += x_1 * weight
        grad_U_2 += x_2 * weight
        grad_U_3 += x_3 * weight
        weight_2 = -0.5 + exp_log_tau * (part_5 * part_5) / 2.0
        grad_U_4 += weight_2
    grad_U_0 = grad_U_0 - inv_S_difference[0]
    grad_U_1 = grad_U_1 - inv_S_difference[1]
    grad_U_2 = grad_U_2 - inv_S_difference[2]
    grad_U_3 = grad_U_3 - inv_S_difference[3]
    grad_U_4 = 1.0 - 1.0 + grad_U_4 + rate * exp_log_tau - shape
    grad_U[0] = grad_U_0
    grad_U[1] = grad_U_1
    grad_U[2] = grad_U_2
    grad_U[3] = grad_U_3
    grad_U[4] = grad_U_4


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def potential(theta, m, shape, rate, inv_S, x, y, inv_S_difference_2):
    """Return U = rate exp(log_tau) - log_tau + log_tau (-shape + 1) + sum_ij (m[i] - beta[i]) inv(S)[i,j] (m[j] -
    beta[j])/2
    + sum over the data of -log_tau/2 + exp(log_tau) (sum_i x[n,i] beta[i] - y[n])**2/2.
    """
    N = x.shape[0]
    exp_log_tau_2 = _exp(theta[4])
    part = m[0] - theta[0]
    part_2 = m[1] - theta[1]
    part_3 = m[2] - theta[2]
    part_4 = m[3] - theta[3]
    inv_S_difference_2[0] = inv_S[0, 0] * part + inv_S[0, 1] * part_2 + inv_S[0, 2] * part_3 + inv_S[0, 3] * part_4
    inv_S_difference_2[1] = inv_S[1, 0] * part + inv_S[1, 1] * part_2 + inv_S[1, 2] * part_3 + inv_S[1, 3] * part_4
    inv_S_difference_2[2] = inv_S[2, 0] * part + inv_S[2, 1] * part_2 + inv_S[2, 2] * part_3 + inv_S[2, 3] * part_4
    inv_S_difference_2[3] = inv_S[3, 0] * part + inv_S[3, 1] * part_2 + inv_S[3, 2] * part_3 + inv_S[3, 3] * part_4
    difference_inv_S_difference_2 = (
        part * inv_S_difference_2[0]
        + part_2 * inv_S_difference_2[1]
        + part_3 * inv_S_difference_2[2]
        + part_4 * inv_S_difference_2[3]
    )
    U_value = 0.0
    for row in range(N):
        x_beta_2 = x[row, 0] * theta[0] + x[row, 1] * theta[1] + x[row, 2] * theta[2] + x[row, 3] * theta[3]
        part_5 = -y[row] + x_beta_2
        weight_3 = -theta[4] / 2.0 + exp_log_tau_2 * (part_5 * part_5) / 2.0
        U_value += weight_3
    U_value = U_value + rate * exp_log_tau_2 + difference_inv_S_difference_2 / 2.0 + theta[4] * (-1.0 + 1.0 - shape)
    return U_value


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def rest(r, mass):
    """Return H - U = sum_i r[i]**2/(2 mass)."""
    r_r = 0.0
    for i in range(5):
        r_r += r[i] ** 2
    energy = r_r / (2.0 * mass)
    return energy


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def draw_tau(theta_tau, theta, shape, rate, x, y, noise_state, x_beta_3):
    """Write theta_tau, which is theta but for tau: tau (here its log) is drawn from Gamma(shape_tau, rate_tau), its
    law given all else.
    shape_tau = N/2 + shape.
    rate_tau = rate + sum_i (sum_j x[i,j] beta[j] - y[i])**2/2.
    """
    N = x.shape[0]
    beta = theta[0:4]
    log_tau = theta[4:5]
    log_tau_drawn = theta_tau[4:5]
    for i in range(N):
        total = 0.0
        for j in range(4):
            total += x[i, j] * beta[j]
        x_beta_3[i] = total
    difference_difference = 0.0
    for i in range(N):
        difference_difference += (x_beta_3[i] - y[i]) ** 2
    for i in range(5):
        theta_tau[i] = theta[i]
    s0, s1, s2, s3 = noise_state[0], noise_state[1], noise_state[2], noise_state[3]
    shape_tau = N / 2.0 + shape
    rate_tau = rate + difference_difference / 2.0
    log_G_tau, s0, s1, s2, s3 = _next_log_gamma(shape_tau, s0, s1, s2, s3)
    log_tau_drawn[0] = log_G_tau - math.log(rate_tau)
    noise_state[0], noise_state[1], noise_state[2], noise_state[3] = s0, s1, s2, s3


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new, r_new, grad_U_new, theta, r, moved, m, shape, rate, inv_S, step_factor, step_factor_2, x, y, eps,
    inv_S_difference,
):  # fmt: skip
    """Write one step of the word, its first kick joined to the last: theta_new, r_new, grad_U_new; draw nothing."""
    # theta_new[i] = theta[i] + eps*(moved[i] r[i]/mass)
    for i in range(5):
        theta_new[i] = theta[i] + step_factor * moved[i] * r[i]
    gradient(grad_U_new, theta_new, m, shape, rate, inv_S, x, y, inv_S_difference)
    # r_new[i] = r[i] + eps*(-grad_U_new[i] moved[i])
    for i in range(5):
        r_new[i] = r[i] + step_factor_2 * grad_U_new[i] * moved[i]


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_FASTMATH)
def cycle(
    theta_next, r_next, acceptance, theta, r, moved, mass, m, shape, rate, inv_S, step_factor, step_factor_2, scale_r,
    x, y, noise_r, noise_length, noise_accept, noise_state, eps, x_beta_3, theta_tau, r_drawn, theta_at, theta_new,
    r_at, r_new, grad_U_at, grad_U_new, grad_U_start, U_start, inv_S_difference, inv_S_difference_2,
):  # fmt: skip
    """Write one step, a cycle of moves: theta_next, r_next, acceptance; draw from noise_state alone."""
    draw_tau(theta_tau, theta, shape, rate, x, y, noise_state, x_beta_3)
    # refresh: r_drawn = N(0, mass delta[i,j])
    for i in range(5):
        r_drawn[i] = scale_r * noise_r[i]
    # length: uniform(1, 8)
    length = _uniform_integer(1, 8, noise_length[0], noise_length[1])
    gradient(grad_U_start, theta_tau, m, shape, rate, inv_S, x, y, inv_S_difference)
    U_at = potential(theta_tau, m, shape, rate, inv_S, x, y, inv_S_difference_2)
    U_start[0] = U_at
    rest_start = rest(r_drawn, mass)
    for i in range(5):
        theta_at[i] = theta_tau[i]
    for i in range(5):
        r_at[i] = r_drawn[i]
    for i in range(5):
        grad_U_at[i] = grad_U_start[i]
    # a kick before the first step: r + eps*(-grad_U[i] moved[i]/2)
    for i in range(5):
        r_at[i] = r_at[i] + eps * (-grad_U_at[i] * moved[i] / 2.0)
    for _ in range(length):
        step(
            theta_new, r_new, grad_U_new, theta_at, r_at, moved, m, shape, rate, inv_S, step_factor, step_factor_2, x,
            y, eps, inv_S_difference,
        )  # fmt: skip
        for i in range(5):
            theta_at[i] = theta_new[i]
        for i in range(5):
            r_at[i] = r_new[i]
        for i in range(5):
            grad_U_at[i] = grad_U_new[i]
    # and taken back after the last: r - eps*(-grad_U[i] moved[i]/2)
    for i in range(5):
        r_at[i] = r_at[i] - eps * (-grad_U_at[i] * moved[i] / 2.0)
    U_at = potential(theta_at, m, shape, rate, inv_S, x, y, inv_S_difference_2)
    rest_at = rest(r_at, mass)
    # accept with probability min(1, exp(H - H')), else turn round
    log_ratio = U_start[0] - U_at + rest_start - rest_at
    accept, acceptance[0] = _accepted(log_ratio, noise_accept[0], noise_accept[1])
    for i in range(5):
        theta_next[i] = theta_at[i] if accept else theta_tau[i]
    for i in range(5):
        r_next[i] = r_at[i] if accept else -r_drawn[i]


def prepare(moved, mass, m, S, shape, rate, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    inv_S = np.linalg.inv(S)
    step_factor = eps / mass
    step_factor_2 = -eps
    scale_r = _noise_scale(mass, 0.0, 1.0, "r")
    return (inv_S, step_factor, step_factor_2, scale_r)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta, r, moved, mass, m, S, shape, rate, inv_S, step_factor, step_factor_2, scale_r, x, y, eps, thin, noise_state,
    theta_draws, r_draws, acceptance_draws,
):  # fmt: skip
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64, the data of float64
    or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for
    each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.

    Small rows: one loop over the rows of the data, their features in scalars; in Fortran order several rows at once.
    """
    _wide_vectors()
    N = x.shape[0]
    theta_next = np.empty(5)
    r_next = np.empty(5)
    acceptance = np.empty(1)
    x_beta_3 = np.empty(N)
    theta_tau = np.empty(5)
    r_drawn = np.empty(5)
    theta_at = np.empty(5)
    theta_new = np.empty(5)
    r_at = np.empty(5)
    r_new = np.empty(5)
    grad_U_at = np.empty(5)
    grad_U_new = np.empty(5)
    grad_U_start = np.empty(5)
    U_start = np.empty(1)
    inv_S_difference = np.empty(4)
    inv_S_difference_2 = np.empty(4)
    noise_r = np.empty(5)
    noise_length = np.empty(2)
    noise_accept = np.empty(2)
    acceptance_sum = 0.0
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_r)
            _fill_normals(noise_state, noise_length)
            _fill_normals(noise_state, noise_accept)
            cycle(
                theta_next, r_next, acceptance, theta, r, moved, mass, m, shape, rate, inv_S, step_factor,
                step_factor_2, scale_r, x, y, noise_r, noise_length, noise_accept, noise_state, eps, x_beta_3,
                theta_tau, r_drawn, theta_at, theta_new, r_at, r_new, grad_U_at, grad_U_new, grad_U_start, U_start,
                inv_S_difference, inv_S_difference_2,
            )  # fmt: skip
            for entry in range(5):
                theta[entry] = theta_next[entry]
                r[entry] = r_next[entry]
            acceptance_sum += acceptance[0]
        acceptance_draws[kept, 0] = acceptance_sum / thin
        acceptance_sum = 0.0
        finite = True
        for entry in range(5):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
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


_MOST_TURNS = 256  # of a loop that refuses draws


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_uniform(s0, s1, s2, s3):
    """Return a draw uniform on (0, 1): the middle of one of 2**52 equal parts, never 0 or 1. Takes one word.

    Middles of 2**53 parts are no doubles above 1/2: the last would be rounded to 1.
    """
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    u = np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 0.9999999999999999
    return u, s0, s1, s2, s3


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


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _uniform_integer(least, most, a, b):
    """Return an integer drawn uniformly from least to most."""
    u = _exp(-0.5 * (a * a + b * b))
    return min(least + int(u * (most - least + 1)), most)


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


_LONGEST_LAW = 256  # of a longer block the law is not computed: it starts at zero


def _draw_law(rng, length, energy):
    """Return a draw of exp(-energy(r)), r in `length` coordinates; zero where there are many or it is no Gaussian.

    energy(r) = (r - m)^T A (r - m)/2 + rest: unit second differences give A, first differences A m, both exactly up to
    rounding.
    """
    if length > _LONGEST_LAW:
        return np.zeros(length)
    unit = np.eye(length)
    with np.errstate(all="ignore"):
        origin = energy(np.zeros(length))
        ahead = np.array([energy(unit[k]) - origin for k in range(length)])
        behind = np.array([energy(-unit[k]) - origin for k in range(length)])
        A = np.diag(ahead + behind)
        for k in range(length):
            for j in range(k):
                A[k, j] = A[j, k] = energy(unit[k] + unit[j]) - origin - ahead[k] - ahead[j]
    if not np.isfinite(A).all() or np.linalg.eigvalsh(A)[0] <= 0.0:
        return np.zeros(length)
    mean = -np.linalg.solve(A, (ahead - behind) / 2.0)
    return mean + np.linalg.solve(np.linalg.cholesky(A).T, rng.standard_normal(length))


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
