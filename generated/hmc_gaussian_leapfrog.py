"""hmc_gaussian_leapfrog: Hamiltonian Monte Carlo.

Emitted by recipe_compiler (format 1) from hmc and gaussian.
Spec digest (SHA-256): 9c61118c45470805d557abbe744efedd3d7e114d4d157201fe2774ba6d994894

State:
    theta: column [3], real
    r: column [3], real

Energy:
    H = U(theta) + r.T @ inv(M) @ r / 2
    U = (theta - mu).T @ inv(Sigma) @ (theta - mu) / 2

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D = 0
    Q[theta,r] = -delta[i,j]
    Q[r,theta] = delta[i,j]
    Gamma = 0
    f[theta] = sum_j inv(M)[j,i] r[j]
    f[r] = -d_theta[i] U

Parameters:
    M: positive definite
    mu: real
    Sigma: positive definite

Step:
    leapfrog: [B/2, A, B/2], the exact flow of each piece, one after the other; weak order 2
    grad U over all data; noise N(0, 2 eps D)

Claims:
    proved: D is symmetric (by index calculus for every size; second engine)
    proved: D is positive semidefinite (by structure of D)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given M is positive definite; U
        is smooth)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given M is
        positive definite; U is smooth)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given M
        is positive definite; U is smooth)
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
    proved: the pieces of the word make the equation (by index calculus for every size; second engine; given M is
        positive definite; U is smooth)
    proved: each piece is moved by its flow, exact or the one named (by A, B: shift; second engine; given M is
        positive definite; U is smooth)
    advisory claims are decided by `recipe check`

Not checked here:
    pieces, flow, order and what pieces keep are about one step, other claims about the equation; how far the law
        that steps of one size settle at is from exp(-H) is computed where U is quadratic only

References:
    duane1987hmc
    neal2011hmc
    ma2015recipe
"""

import math

import numpy as np
from numba import njit

FORMAT = 1
SPEC_DIGEST = "9c61118c45470805d557abbe744efedd3d7e114d4d157201fe2774ba6d994894"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 3), ("r", 3))
SIZES = ()
PARAMETERS = ("M", "mu", "Sigma")
CONSTANTS = ("inv_Sigma", "step_factor", "step_factor_2", "inv_M")
DATA = ()
ARGUMENTS = (
    "theta",
    "r",
    "M",
    "mu",
    "Sigma",
    "inv_Sigma",
    "step_factor",
    "step_factor_2",
    "inv_M",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
)
MOMENTS = ("theta[i]", "r[i]", "theta[i]*theta[j]", "theta[i]*r[j]", "r[i]*r[j]")
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
    theta_0,
    theta_1,
    theta_2,
    r_0,
    r_1,
    r_2,
    grad_U_0,
    grad_U_1,
    grad_U_2,
    mu,
    inv_Sigma,
    step_factor,
    step_factor_2,
    inv_M,
    eps,
):
    """Return one step (leapfrog): theta_new, r_new, grad_U_new; draw nothing."""
    # r_v1[i] = r[i] + eps*(-grad_U[i]/2)
    r_v1_0 = r_0 + step_factor * grad_U_0
    r_v1_1 = r_1 + step_factor * grad_U_1
    r_v1_2 = r_2 + step_factor * grad_U_2
    inv_M_r_v1_0 = inv_M[0, 0] * r_v1_0 + inv_M[0, 1] * r_v1_1 + inv_M[0, 2] * r_v1_2
    inv_M_r_v1_1 = inv_M[1, 0] * r_v1_0 + inv_M[1, 1] * r_v1_1 + inv_M[1, 2] * r_v1_2
    inv_M_r_v1_2 = inv_M[2, 0] * r_v1_0 + inv_M[2, 1] * r_v1_1 + inv_M[2, 2] * r_v1_2
    # theta_new[i] = theta[i] + eps*(sum_j inv(M)[j,i] r_v1[j])
    theta_new_0 = theta_0 + step_factor_2 * inv_M_r_v1_0
    theta_new_1 = theta_1 + step_factor_2 * inv_M_r_v1_1
    theta_new_2 = theta_2 + step_factor_2 * inv_M_r_v1_2
    grad_U_new_0, grad_U_new_1, grad_U_new_2 = gradient(theta_new_0, theta_new_1, theta_new_2, mu, inv_Sigma)
    # r_new[i] = r_v1[i] + eps*(-grad_U_new[i]/2)
    r_new_0 = r_v1_0 + step_factor * grad_U_new_0
    r_new_1 = r_v1_1 + step_factor * grad_U_new_1
    r_new_2 = r_v1_2 + step_factor * grad_U_new_2
    return theta_new_0, theta_new_1, theta_new_2, r_new_0, r_new_1, r_new_2, grad_U_new_0, grad_U_new_1, grad_U_new_2


def prepare(M, mu, Sigma, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    inv_Sigma = np.linalg.inv(Sigma)
    step_factor = -eps / 2.0
    step_factor_2 = eps
    inv_M = np.linalg.inv(M)
    return (inv_Sigma, step_factor, step_factor_2, inv_M)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(
    theta, r, M, mu, Sigma, inv_Sigma, step_factor, step_factor_2, inv_M, eps, thin, noise_state, theta_draws, r_draws
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
    theta_2 = theta[2]
    r_0 = r[0]
    r_1 = r[1]
    r_2 = r[2]
    grad_U_0, grad_U_1, grad_U_2 = gradient(theta_0, theta_1, theta_2, mu, inv_Sigma)
    s0 = noise_state[0]
    s1 = noise_state[1]
    s2 = noise_state[2]
    s3 = noise_state[3]
    done = theta_draws.shape[0]
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            theta_0, theta_1, theta_2, r_0, r_1, r_2, grad_U_0, grad_U_1, grad_U_2 = step(
                theta_0,
                theta_1,
                theta_2,
                r_0,
                r_1,
                r_2,
                grad_U_0,
                grad_U_1,
                grad_U_2,
                mu,
                inv_Sigma,
                step_factor,
                step_factor_2,
                inv_M,
                eps,
            )
        theta_draws[kept, 0] = theta_0
        theta_draws[kept, 1] = theta_1
        theta_draws[kept, 2] = theta_2
        r_draws[kept, 0] = r_0
        r_draws[kept, 1] = r_1
        r_draws[kept, 2] = r_2
        finite = True
        finite = finite and abs(theta_0) <= 1.7976931348623157e308
        finite = finite and abs(theta_1) <= 1.7976931348623157e308
        finite = finite and abs(theta_2) <= 1.7976931348623157e308
        finite = finite and abs(r_0) <= 1.7976931348623157e308
        finite = finite and abs(r_1) <= 1.7976931348623157e308
        finite = finite and abs(r_2) <= 1.7976931348623157e308
        if not finite:
            done = kept
            break
    theta[0] = theta_0
    theta[1] = theta_1
    theta[2] = theta_2
    r[0] = r_0
    r[1] = r_1
    r[2] = r_2
    noise_state[0] = s0
    noise_state[1] = s1
    noise_state[2] = s2
    noise_state[3] = s3
    return done


def checked_run(theta, r, M, mu, Sigma, eps, thin, noise_state, theta_draws, r_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (3,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (3,), sizes, written=True)
    _check_finite("r", r)
    _check_array("M", M, (3, 3), sizes)
    _check_finite("M", M)
    _check_kinds("M", M, ["positive definite"])
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
    _check_apart(
        ["M", "mu", "Sigma"],
        theta=theta,
        r=r,
        theta_draws=theta_draws,
        r_draws=r_draws,
        noise_state=noise_state,
        M=M,
        mu=mu,
        Sigma=Sigma,
    )
    inv_Sigma, step_factor, step_factor_2, inv_M = prepare(M, mu, Sigma, eps)
    return run(
        theta,
        r,
        M,
        mu,
        Sigma,
        inv_Sigma,
        step_factor,
        step_factor_2,
        inv_M,
        eps,
        thin,
        noise_state,
        theta_draws,
        r_draws,
    )


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


def prepare_generator(M, mu, Sigma):
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
def generator(theta, r, M, mu, Sigma, inv_Sigma, inv_M):
    """Return L phi at one state, for phi = theta[i], r[i], theta[i]*theta[j], theta[i]*r[j], r[i]*r[j].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(3)
    L_r = np.empty(3)
    L_theta_theta = np.empty((3, 3))
    L_theta_r = np.empty((3, 3))
    L_r_r = np.empty((3, 3))
    inv_M_r = np.empty(3)
    grad_U = full_gradient(theta, mu, inv_Sigma)
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += inv_M[i, j] * r[j]
        inv_M_r[i] = total
    # L(theta[i]) = sum_j inv(M)[j,i] r[j]
    for i in range(3):
        L_theta[i] = inv_M_r[i]
    # L(r[i]) = -grad_U[i]
    for i in range(3):
        L_r[i] = -grad_U[i]
    # L(theta[i]*theta[j]) = sum_k theta[i] inv(M)[k,j] r[k] + sum_k theta[j] inv(M)[k,i] r[k]
    for i in range(3):
        for j in range(3):
            L_theta_theta[i, j] = theta[i] * inv_M_r[j] + theta[j] * inv_M_r[i]
    # L(theta[i]*r[j]) = -grad_U[j] theta[i] + sum_k r[j] inv(M)[k,i] r[k]
    for i in range(3):
        for j in range(3):
            L_theta_r[i, j] = r[j] * inv_M_r[i] - grad_U[j] * theta[i]
    # L(r[i]*r[j]) = -grad_U[i] r[j] - grad_U[j] r[i]
    for i in range(3):
        for j in range(3):
            L_r_r[i, j] = -grad_U[i] * r[j] - grad_U[j] * r[i]
    return L_theta, L_r, L_theta_theta, L_theta_r, L_r_r


# Support: random streams, stable functions, noise factors. The same text in every emitted module.


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
