"""sghmc_gaussian: Stochastic gradient Hamiltonian Monte Carlo.

Emitted by recipe_compiler (format 1) from sghmc and gaussian.
Spec digest (SHA-256): 355261732369bbc4a38c31057879682e1609ba23dedeaadc6d0b461f76a565aa

State:
    theta: column [3], real
    r: column [3], real

Energy:
    H = U(theta) + r.T @ inv(M) @ r / 2
    U = (theta - mu).T @ inv(Sigma) @ (theta - mu) / 2

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
    mu: real
    Sigma: positive definite

Step:
    sequential Euler: r, then theta; the noise covariance is that of the old state; order 1
    grad U over all data; noise N(0, 2 eps D)

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
        definite; Sigma is positive definite; U is smooth)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given M is positive definite; U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given M is positive
        definite; U is smooth)
    proved: exp(-H) is the only stationary law of the recipe's equation (by Hoermander: noise in r reaches theta by
        d b_theta/d r = inv(M), invertible at every state; given C is positive definite; C is positive semidefinite;
        M is positive definite; U is smooth; chains do not explode in finite time; Sigma is positive definite)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given Sigma is
        positive definite)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        Sigma is positive definite)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by the gradient is exact)
    proved: D and Q do not reuse the gradient's minibatch (by there is no minibatch)

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
SPEC_DIGEST = "355261732369bbc4a38c31057879682e1609ba23dedeaadc6d0b461f76a565aa"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3), ("r", 3))
SIZES = ()
PARAMETERS = ("M", "C", "mu", "Sigma")
CONSTANTS = ("L_r", "inv_Sigma", "inv_Sigma_mu", "inv_M")
DATA = ()
ARGUMENTS = (
    "theta",
    "r",
    "M",
    "C",
    "mu",
    "Sigma",
    "L_r",
    "inv_Sigma",
    "inv_Sigma_mu",
    "inv_M",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
)
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U, theta, inv_Sigma, inv_Sigma_mu, inv_Sigma_theta):
    """Write grad_U[i] = -sum_j inv(Sigma)[j,i] mu[j] + sum_j inv(Sigma)[j,i] theta[j]."""
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_Sigma[i, j] * theta[j]
        inv_Sigma_theta[i] = total
    for i in range(3):
        grad_U[i] = inv_Sigma_theta[i] - inv_Sigma_mu[i]


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new,
    r_new,
    theta,
    r,
    C,
    L_r,
    inv_Sigma,
    inv_Sigma_mu,
    inv_M,
    noise_r,
    eps,
    grad_U,
    inv_Sigma_theta,
    L_r_noise_r,
    inv_M_r,
    C_inv_M_r,
    inv_M_r_new,
):
    """Write one step (sequential euler) into theta_new, r_new; draw nothing."""
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += L_r[i, j] * noise_r[j]
        L_r_noise_r[i] = total
    gradient(grad_U, theta, inv_Sigma, inv_Sigma_mu, inv_Sigma_theta)
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_M[i, j] * r[j]
        inv_M_r[i] = total
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += C[i, j] * inv_M_r[j]
        C_inv_M_r[i] = total
    # r_new[i] = r[i] + eps*(-sum_jk C[j,i] inv(M)[j,k] r[k] - grad_U[i]) + noise
    for i in range(3):
        r_new[i] = r[i] + eps * (-C_inv_M_r[i] - grad_U[i]) + L_r_noise_r[i]
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_M[i, j] * r_new[j]
        inv_M_r_new[i] = total
    # theta_new[i] = theta[i] + eps*(sum_j inv(M)[j,i] r_new[j])
    for i in range(3):
        theta_new[i] = theta[i] + eps * inv_M_r_new[i]


def prepare(M, C, mu, Sigma, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    inv_Sigma_mu = np.empty(3)
    two_D_r = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            two_D_r[i, j] = 2.0 * C[i, j]
    (L_r,) = _noise_factor([[two_D_r]], None, eps, ["r"])
    inv_Sigma = np.linalg.inv(Sigma)
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_Sigma[i, j] * mu[j]
        inv_Sigma_mu[i] = total
    inv_M = np.linalg.inv(M)
    return (L_r, inv_Sigma, inv_Sigma_mu, inv_M)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, r, M, C, mu, Sigma, L_r, inv_Sigma, inv_Sigma_mu, inv_M, eps, thin, noise_state, theta_draws, r_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.
    """
    theta_new = np.empty(3)
    r_new = np.empty(3)
    grad_U = np.empty(3)
    inv_Sigma_theta = np.empty(3)
    L_r_noise_r = np.empty(3)
    inv_M_r = np.empty(3)
    C_inv_M_r = np.empty(3)
    inv_M_r_new = np.empty(3)
    noise_r = np.empty(3)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_r)
            step(
                theta_new,
                r_new,
                theta,
                r,
                C,
                L_r,
                inv_Sigma,
                inv_Sigma_mu,
                inv_M,
                noise_r,
                eps,
                grad_U,
                inv_Sigma_theta,
                L_r_noise_r,
                inv_M_r,
                C_inv_M_r,
                inv_M_r_new,
            )
            for entry in range(3):
                theta[entry] = theta_new[entry]
                r[entry] = r_new[entry]
        finite = True
        for entry in range(3):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
            r_draws[kept, entry] = r[entry]
            finite = finite and abs(r[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


# Support: random streams, stable functions, noise factors. The same text in every emitted module.


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
