"""sgrhmc_inverse_gaussian_baoab: SGRHMC for positive coordinates.

Emitted by recipe_compiler (format 1) from sgrhmc_positive and inverse_gaussian.
Spec digest (SHA-256): f45dcc02458229f9476be87cb2edc418677004bf2b0c6e6e6e9d4665f5a8badb

State:
    theta: column [2], positive
    r: column [2], real

Energy:
    H = U(theta) + r.T @ r / 2
    U = 3/2*sum(log(theta)) + sum(b/theta) + sum(c*theta) + k*sum(theta)**2/2

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[r,r] = delta[i,j] theta[i]
    Q[theta,r] = -delta[i,j] sqrt(theta[i])
    Q[r,theta] = delta[i,j] sqrt(theta[i])
    Gamma[r] = 1/(2 sqrt(theta[i]))
    f[theta] = r[i] sqrt(theta[i])
    f[r] = -d_theta[i] U sqrt(theta[i]) - r[i] theta[i] + 1/(2 sqrt(theta[i]))

Parameters:
    b: positive
    c: positive
    k: nonnegative

Step:
    baoab: [B/2, A/2, O, A/2, B/2], the exact flow of each piece, one after the other; weak order 2
    grad U over all data; noise N(0, 2 eps D)

Claims:
    proved: D is symmetric (by index calculus for every size; second engine)
    proved: D is positive semidefinite (by structure of D; given theta > 0 inside its domain)
    proved: Q is skew (by index calculus for every size; second engine; given theta > 0 inside its domain)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given U is smooth; theta > 0
        inside its domain)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given U is
        smooth; theta > 0 inside its domain)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given U
        is smooth; theta > 0 inside its domain)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given U is smooth; b
        is positive; c is positive; k is nonnegative; theta > 0 inside its domain)
    proved: the target's blocks have the law exp(-U) once the others are integrated out (by index calculus for every
        size; second engine; given U is smooth)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given U is smooth)
    proved: D and Q are locally Lipschitz, and vanish nowhere that splits the state space (by Lipschitz; nonsingular
        by structure; given theta > 0 inside its domain)
    proved: no probability flows through the faces of the domain (by exp(-H) falls faster than every power of the
        distance at theta = 0: not reached; given b is positive)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given b is
        positive; c is positive; k is nonnegative; theta > 0 inside its domain)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given b
        is positive; c is positive; k is nonnegative; theta > 0 inside its domain)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by the gradient is exact)
    proved: D and Q do not reuse the gradient's minibatch (by there is no minibatch)
    proved: the pieces of the word make the equation (by index calculus for every size; second engine; given U is
        smooth; theta > 0 inside its domain)
    proved: each piece is moved by its flow, exact or the one named (by A: shift, of theta**(1/2); B: shift; O:
        Ornstein-Uhlenbeck, entry by entry; second engine; given U is smooth; theta > 0 inside its domain)
    advisory claims are decided by `recipe check`

Not checked here:
    pieces, flow, order and what pieces keep are about one step, other claims about the equation; how far the law
        that steps of one size settle at is from exp(-H) is computed where U is quadratic only
    boundary: theta has a boundary, and a step that would leave the domain is not a number, and ends its chain

References:
    ma2015recipe
    patterson2013sgrld
"""

import math

import numpy as np
from numba import njit

FORMAT = 1
SPEC_DIGEST = "f45dcc02458229f9476be87cb2edc418677004bf2b0c6e6e6e9d4665f5a8badb"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 2), ("r", 2))
SIZES = ()
PARAMETERS = ("b", "c", "k")
CONSTANTS = ("step_factor", "step_factor_2", "step_factor_3")
DATA = ()
ARGUMENTS = (
    "theta",
    "r",
    "b",
    "c",
    "k",
    "step_factor",
    "step_factor_2",
    "step_factor_3",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
    "r_draws",
)
MOMENTS = ("r[i]", "r[i]*r[j]")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def gradient(theta_0, theta_1, b, c, k):
    """Return grad_U[i] = -b[i]/theta[i]**2 + c[i] + sum_j k theta[j] + 3/(2 theta[i])."""
    sum_theta = theta_0 + theta_1
    part = k * sum_theta
    reciprocal = 1.0 / theta_0
    grad_U_0 = c[0] + part + reciprocal * (1.5 - b[0] * reciprocal)
    reciprocal_2 = 1.0 / theta_1
    grad_U_1 = c[1] + part + reciprocal_2 * (1.5 - b[1] * reciprocal_2)
    return grad_U_0, grad_U_1


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_0,
    theta_1,
    r_0,
    r_1,
    grad_U_0,
    grad_U_1,
    b,
    c,
    k,
    step_factor,
    step_factor_2,
    step_factor_3,
    noise_r_0,
    noise_r_1,
    eps,
):
    """Return one step (baoab): theta_new, r_new, grad_U_new; draw nothing."""
    # r_v1[i] = r[i] + eps*(-grad_U[i] sqrt(theta[i])/2 + 1/(4 sqrt(theta[i])))
    root = math.sqrt(theta_0)
    r_v1_0 = r_0 + step_factor * grad_U_0 * root + step_factor_2 / root
    root_2 = math.sqrt(theta_1)
    r_v1_1 = r_1 + step_factor * grad_U_1 * root_2 + step_factor_2 / root_2
    # theta_v1[i]**(1/2) = theta[i]**(1/2) + eps*(r_v1[i]/4)
    theta_v1_0 = _inverse_power(root + step_factor_2 * r_v1_0, 2.0)
    theta_v1_1 = _inverse_power(root_2 + step_factor_2 * r_v1_1, 2.0)
    # r_v2[i] = r_v1[i] + eps*(-r_v1[i] theta_v1[i] exprel(-eps theta_v1[i])) + noise
    scale_r = eps * (2.0 * theta_v1_0 * _exprel(-2.0 * eps * theta_v1_0))
    scale_r = math.sqrt(scale_r)
    part = 1.0 + step_factor_3 * theta_v1_0 * _exprel(-eps * theta_v1_0)
    r_v2_0 = r_v1_0 * part + noise_r_0 * scale_r
    scale_r = eps * (2.0 * theta_v1_1 * _exprel(-2.0 * eps * theta_v1_1))
    scale_r = math.sqrt(scale_r)
    part_2 = 1.0 + step_factor_3 * theta_v1_1 * _exprel(-eps * theta_v1_1)
    r_v2_1 = r_v1_1 * part_2 + noise_r_1 * scale_r
    # theta_new[i]**(1/2) = theta_v1[i]**(1/2) + eps*(r_v2[i]/4)
    theta_new_0 = _inverse_power(math.sqrt(theta_v1_0) + step_factor_2 * r_v2_0, 2.0)
    theta_new_1 = _inverse_power(math.sqrt(theta_v1_1) + step_factor_2 * r_v2_1, 2.0)
    grad_U_new_0, grad_U_new_1 = gradient(theta_new_0, theta_new_1, b, c, k)
    # r_new[i] = r_v2[i] + eps*(-grad_U_new[i] sqrt(theta_new[i])/2 + 1/(4 sqrt(theta_new[i])))
    root_3 = math.sqrt(theta_new_0)
    r_new_0 = r_v2_0 + step_factor * root_3 * grad_U_new_0 + step_factor_2 / root_3
    root_4 = math.sqrt(theta_new_1)
    r_new_1 = r_v2_1 + step_factor * grad_U_new_1 * root_4 + step_factor_2 / root_4
    return theta_new_0, theta_new_1, r_new_0, r_new_1, grad_U_new_0, grad_U_new_1


def prepare(b, c, k, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    step_factor = -eps / 2.0
    step_factor_2 = eps / 4.0
    step_factor_3 = -eps
    return (step_factor, step_factor_2, step_factor_3)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, r, b, c, k, step_factor, step_factor_2, step_factor_3, eps, thin, noise_state, theta_draws, r_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64; a block is as
    long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for each that is asked for, as
    wide as the block; random states are rows of what `seed_streams` returns.

    Registers: no data and 4 coordinates, so the state and all of a step are scalars.
    """
    theta_0 = theta[0]
    theta_1 = theta[1]
    r_0 = r[0]
    r_1 = r[1]
    grad_U_0, grad_U_1 = gradient(theta_0, theta_1, b, c, k)
    s0 = noise_state[0]
    s1 = noise_state[1]
    s2 = noise_state[2]
    s3 = noise_state[3]
    done = theta_draws.shape[0]
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            noise_r_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            noise_r_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
            theta_0, theta_1, r_0, r_1, grad_U_0, grad_U_1 = step(
                theta_0,
                theta_1,
                r_0,
                r_1,
                grad_U_0,
                grad_U_1,
                b,
                c,
                k,
                step_factor,
                step_factor_2,
                step_factor_3,
                noise_r_0,
                noise_r_1,
                eps,
            )
        theta_draws[kept, 0] = theta_0
        theta_draws[kept, 1] = theta_1
        r_draws[kept, 0] = r_0
        r_draws[kept, 1] = r_1
        finite = True
        finite = finite and abs(theta_0) <= 1.7976931348623157e308
        finite = finite and abs(theta_1) <= 1.7976931348623157e308
        finite = finite and abs(r_0) <= 1.7976931348623157e308
        finite = finite and abs(r_1) <= 1.7976931348623157e308
        if not finite:
            done = kept
            break
    theta[0] = theta_0
    theta[1] = theta_1
    r[0] = r_0
    r[1] = r_1
    noise_state[0] = s0
    noise_state[1] = s1
    noise_state[2] = s2
    noise_state[3] = s3
    return done


def checked_run(theta, r, b, c, k, eps, thin, noise_state, theta_draws, r_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (2,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("r", r, (2,), sizes, written=True)
    _check_finite("r", r)
    _check_array("b", b, (2,), sizes)
    _check_finite("b", b)
    _check_kinds("b", b, ["positive"])
    _check_array("c", c, (2,), sizes)
    _check_finite("c", c)
    _check_kinds("c", c, ["positive"])
    k = _checked_number("k", k, least=0)
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    _check_array("theta_draws", theta_draws, ("draws", 2), sizes, written=True)
    _check_array("r_draws", r_draws, ("draws", 2), sizes, written=True)
    _check_apart(
        ["b", "c"], theta=theta, r=r, theta_draws=theta_draws, r_draws=r_draws, noise_state=noise_state, b=b, c=c
    )
    step_factor, step_factor_2, step_factor_3 = prepare(b, c, k, eps)
    return run(
        theta, r, b, c, k, step_factor, step_factor_2, step_factor_3, eps, thin, noise_state, theta_draws, r_draws
    )


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def full_gradient(theta, b, c, k):
    """Return grad_U[i] = -b[i]/theta[i]**2 + c[i] + sum_j k theta[j] + 3/(2 theta[i])."""
    grad_U = np.empty(2)
    sum_theta = 0.0
    for i in range(2):
        sum_theta += theta[i]
    for i in range(2):
        grad_U[i] = c[i] - b[i] / theta[i] ** 2 + k * sum_theta + 1.5 / theta[i]
    return grad_U


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def generator(theta, r, b, c, k):
    """Return L phi at one state, for phi = r[i], r[i]*r[j].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_r = np.empty(2)
    L_r_r = np.empty((2, 2))
    grad_U = full_gradient(theta, b, c, k)
    # L(r[i]) = -grad_U[i] sqrt(theta[i]) - r[i] theta[i] + 1/(2 sqrt(theta[i]))
    for i in range(2):
        L_r[i] = 1.0 / (2.0 * math.sqrt(theta[i])) - grad_U[i] * math.sqrt(theta[i]) - r[i] * theta[i]
    # L(r[i]*r[j]) = 2 delta[i,j] theta[i] - grad_U[i] r[j] sqrt(theta[i]) - grad_U[j] r[i] sqrt(theta[j]) - r[i] r[j]
    #   theta[i] - r[i] r[j] theta[j] + r[i]/(2 sqrt(theta[j])) + r[j]/(2 sqrt(theta[i]))
    for i in range(2):
        for j in range(2):
            L_r_r[i, j] = (
                2.0 * (1.0 if i == j else 0.0) * theta[i]
                - grad_U[i] * r[j] * math.sqrt(theta[i])
                - grad_U[j] * r[i] * math.sqrt(theta[j])
                - r[i] * r[j] * theta[i]
                - r[i] * r[j] * theta[j]
                + r[i] / (2.0 * math.sqrt(theta[j]))
                + r[j] / (2.0 * math.sqrt(theta[i]))
            )
    return L_r, L_r_r


# Support: random streams, stable functions, noise factors. The same text in every emitted module.


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _exprel(x):
    """Return (exp(x) - 1)/x, and 1 at 0: expm1 keeps the digits of small x."""
    return 1.0 if x == 0.0 else math.expm1(x) / x


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _inverse_power(y, p):
    """Return the x > 0 with x**(1/p) = y."""
    return y**p if y > 0.0 else math.nan


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
