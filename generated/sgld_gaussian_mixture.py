"""sgld_gaussian_mixture: Stochastic gradient Langevin dynamics.

Emitted by recipe_compiler (format 1) from sgld and gaussian_mixture.
Spec digest (SHA-256): ee619541e66ee7110b011f97f3259722f7ce7f15a1c8d4eaac1c2e0ce821bc66

State:
    theta: column [4], real

Energy:
    H = U(theta)
    U = -log_prior - sum over the data of log_likelihood
    log_likelihood of one datum = log(sum(exp(a - (y*ones - mu)**2/(2*variance)))) - log(sum(exp(a)))
    log_prior = -mu.T @ mu / (2*mean_variance) - a.T @ a / (2*weight_variance)

Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma:
    D[theta,theta] = delta[i,j]
    Q = 0
    Gamma = 0
    f[theta] = -d_theta[i] U

Bound to:
    D = I

Parameters:
    start: real
    variance: positive
    mean_variance: positive
    weight_variance: positive

Step:
    Euler-Maruyama: every block from the old state at once; weak order 1
    grad U over all data; noise N(0, 2 eps D)

Claims:
    proved: D is symmetric (by index calculus for every size; second engine)
    proved: D is positive semidefinite (by structure of D)
    proved: Q is skew (by index calculus for every size; second engine)
    proved: exp(-H) is stationary (by index calculus for every size; second engine; given U is smooth)
    proved: the claimed drift is the derived one (by index calculus for every size; second engine; given U is
        smooth)
    proved: exp(-H) is stationary for the claimed equation (by index calculus for every size; second engine; given U
        is smooth)
    proved: exp(-H) has a finite integral (by growth at the ends of the domain; second engine; given U is smooth;
        mean_variance is positive; variance is positive; weight_variance is positive)
    proved: exp(-H) has the claimed marginal (by index calculus for every size; second engine; given U is smooth)
    proved: the log posterior is defined inside the domain (by rules of definedness and smoothness; given
        mean_variance is positive; variance is positive; weight_variance is positive)
    proved: the log posterior is differentiable inside the domain (by rules of definedness and smoothness; given
        mean_variance is positive; variance is positive; weight_variance is positive)
    proved: what is bound is of the kind declared (by structure, exact values)
    proved: V is positive semidefinite (by structure of V)
    proved: 2D - eps B_hat is positive semidefinite (by the gradient is exact)
    proved: D and Q do not reuse the gradient's minibatch (by there is no minibatch)
    advisory claims are decided by `recipe check`

Not checked here:
    order is about one step, other claims about the equation; how far the law that steps of one size settle at is
        from exp(-H) is computed where U is quadratic only

References:
    welling2011sgld
    ma2015recipe
"""

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

FORMAT = 1
SPEC_DIGEST = "ee619541e66ee7110b011f97f3259722f7ce7f15a1c8d4eaac1c2e0ce821bc66"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 4),)
SIZES = ()
PARAMETERS = ("start", "variance", "mean_variance", "weight_variance")
CONSTANTS = ("scale_theta",)
DATA = ("y",)
ARGUMENTS = (
    "theta",
    "start",
    "variance",
    "mean_variance",
    "weight_variance",
    "scale_theta",
    "y",
    "eps",
    "thin",
    "noise_state",
    "theta_draws",
)
MOMENTS = ("theta[i]", "theta[i]*theta[j]")
POTENTIAL_BLOCK = "theta"

_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums
_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise


@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)
def gradient(grad_U, theta, variance, mean_variance, weight_variance, y, sum_exp_2):
    """Write grad_U_mu[i] = mu[i]/mean_variance
    + sum over the data of -(y[n] - mu[i])/(variance (sum_j exp(-(y[n] - mu[j])**2/(2 variance) + (y[n] -
    mu[i])**2/(2 variance) + a[j] - a[i])))
    grad_U_a[i] = a[i]/weight_variance
    + sum over the data of -1/(sum_j exp(-(y[n] - mu[j])**2/(2 variance) + (y[n] - mu[i])**2/(2 variance) + a[j] -
    a[i])) + 1/(sum_j exp(a[j] - a[i])).
    """
    N = y.shape[0]
    sum_exp_2[0] = 1.0 + _exp(theta[3] - theta[2])
    sum_exp_2[1] = 1.0 + _exp(theta[2] - theta[3])
    grad_U_0 = 0.0
    grad_U_1 = 0.0
    grad_U_2 = 0.0
    grad_U_3 = 0.0
    for row in range(N):
        reciprocal = 1.0 / variance
        part = y[row] - theta[0]
        part_2 = y[row] - theta[1]
        part_3 = reciprocal * (part * part / 2.0 - part_2 * part_2 / 2.0)
        sum_exp_0 = 1.0 + _exp(theta[3] - theta[2] + part_3)
        part_4 = reciprocal * (part_2 * part_2 / 2.0 - part * part / 2.0)
        sum_exp_1 = 1.0 + _exp(theta[2] - theta[3] + part_4)
        weight = -reciprocal
        reciprocal_2 = 1.0 / sum_exp_0
        grad_U_0 += part * weight * reciprocal_2
        reciprocal_3 = 1.0 / sum_exp_1
        grad_U_1 += part_2 * weight * reciprocal_3
        weight_2 = -1.0
        weight_3 = 1.0
        grad_U_2 += weight_2 * reciprocal_2
        grad_U_2 += weight_3 / sum_exp_2[0]
        grad_U_3 += weight_2 * reciprocal_3
        grad_U_3 += weight_3 / sum_exp_2[1]
    reciprocal_4 = 1.0 / mean_variance
    grad_U_0 = grad_U_0 + theta[0] * reciprocal_4
    grad_U_1 = grad_U_1 + theta[1] * reciprocal_4
    reciprocal_5 = 1.0 / weight_variance
    grad_U_2 = grad_U_2 + theta[2] * reciprocal_5
    grad_U_3 = grad_U_3 + theta[3] * reciprocal_5
    grad_U[0] = grad_U_0
    grad_U[1] = grad_U_1
    grad_U[2] = grad_U_2
    grad_U[3] = grad_U_3


@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)
def step(
    theta_new, theta, variance, mean_variance, weight_variance, scale_theta, y, noise_theta, eps, grad_U, sum_exp_2
):
    """Write one step (euler): theta_new; draw nothing."""
    gradient(grad_U, theta, variance, mean_variance, weight_variance, y, sum_exp_2)
    # theta_new[i] = theta[i] + eps*(-grad_U[i]) + noise
    for i in range(4):
        theta_new[i] = theta[i] + eps * (-grad_U[i]) + scale_theta * noise_theta[i]


def prepare(start, variance, mean_variance, weight_variance, eps):
    """Return what stays the same along a chain: inverses of matrices, factors of the noise."""
    scale_theta = _noise_scale(2.0, 0.0, eps, "theta")
    return (scale_theta,)


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
def run(theta, start, variance, mean_variance, weight_variance, scale_theta, y, eps, thin, noise_state, theta_draws):
    """Advance a chain and keep every thin-th state; return how many draws were kept.

    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer
    draws are kept than asked for, the last of them its last finite state.

    `checked_run` checks its arguments, nothing is checked here: arrays are contiguous and of float64, the data of
    float64 or float32; a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a
    row for each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns.

    Small rows: one loop over the rows of the data, their features in scalars.
    """
    _wide_vectors()
    theta_new = np.empty(4)
    grad_U = np.empty(4)
    sum_exp_2 = np.empty(2)
    noise_theta = np.empty(4)
    for kept in range(theta_draws.shape[0]):
        for _ in range(thin):
            _fill_normals(noise_state, noise_theta)
            step(
                theta_new,
                theta,
                variance,
                mean_variance,
                weight_variance,
                scale_theta,
                y,
                noise_theta,
                eps,
                grad_U,
                sum_exp_2,
            )
            for entry in range(4):
                theta[entry] = theta_new[entry]
        finite = True
        for entry in range(4):
            theta_draws[kept, entry] = theta[entry]
            finite = finite and abs(theta[entry]) <= 1.7976931348623157e308
        if not finite:
            return kept
    return theta_draws.shape[0]


def checked_run(theta, start, variance, mean_variance, weight_variance, y, eps, thin, noise_state, theta_draws):
    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.

    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then.
    """
    sizes = {}
    _check_array("theta", theta, (4,), sizes, written=True)
    _check_finite("theta", theta)
    _check_array("y", y, ("N",), sizes, ("float64", "float32"))
    _check_finite("y", y)
    _check_array("start", start, (4,), sizes)
    _check_finite("start", start)
    variance = _checked_number("variance", variance, above=0)
    mean_variance = _checked_number("mean_variance", mean_variance, above=0)
    weight_variance = _checked_number("weight_variance", weight_variance, above=0)
    eps = _checked_number("eps", eps, above=0)
    thin = _checked_number("thin", thin, whole=True, least=1)
    _check_words("noise_state", noise_state, 4)
    _check_array("theta_draws", theta_draws, ("draws", 4), sizes, written=True)
    _check_apart(["y", "start"], theta=theta, theta_draws=theta_draws, noise_state=noise_state, y=y, start=start)
    (scale_theta,) = prepare(start, variance, mean_variance, weight_variance, eps)
    return run(
        theta, start, variance, mean_variance, weight_variance, scale_theta, y, eps, thin, noise_state, theta_draws
    )


def seed_streams(seed, chains):
    """Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."""
    return _seed_words(seed, chains, 0, 4), _seed_words(seed, chains, 1, 4)


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def full_gradient(theta, variance, mean_variance, weight_variance, y):
    """Return grad_U_mu[i] = mu[i]/mean_variance
    + sum over the data of -(y[n] - mu[i])/(variance (sum_j exp(-(y[n] - mu[j])**2/(2 variance) + (y[n] -
    mu[i])**2/(2 variance) + a[j] - a[i])))
    grad_U_a[i] = a[i]/weight_variance
    + sum over the data of -1/(sum_j exp(-(y[n] - mu[j])**2/(2 variance) + (y[n] - mu[i])**2/(2 variance) + a[j] -
    a[i])) + 1/(sum_j exp(a[j] - a[i])).
    """
    N = y.shape[0]
    grad_U = np.empty(4)
    sum_exp = np.empty((N, 2))
    sum_exp_2 = np.empty(2)
    mu = theta[0:2]
    grad_U_mu = grad_U[0:2]
    a = theta[2:4]
    grad_U_a = grad_U[2:4]
    for row in range(N):
        for i in range(2):
            total = 0.0
            for j in range(2):
                part = -((y[row] - mu[j]) ** 2) / (2.0 * variance)
                part_2 = (y[row] - mu[i]) ** 2 / (2.0 * variance)
                total += _exp(part_2 + part + a[j] - a[i])
            sum_exp[row, i] = total
    for i in range(2):
        total = 0.0
        for j in range(2):
            total += _exp(a[j] - a[i])
        sum_exp_2[i] = total
    for i in range(2):
        grad_U_mu[i] = 0.0
    for row in range(N):
        weight = -1.0 / variance
        for i in range(2):
            grad_U_mu[i] += weight * (y[row] - mu[i]) / sum_exp[row, i]
    for i in range(2):
        grad_U_a[i] = 0.0
    for row in range(N):
        weight_2 = -1.0
        weight_3 = 1.0
        for i in range(2):
            grad_U_a[i] += weight_2 / sum_exp[row, i]
            grad_U_a[i] += weight_3 / sum_exp_2[i]
    for i in range(2):
        grad_U_mu[i] = mu[i] / mean_variance + grad_U_mu[i]
    for i in range(2):
        grad_U_a[i] = a[i] / weight_variance + grad_U_a[i]
    return grad_U


@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)
def generator(theta, start, variance, mean_variance, weight_variance, y):
    """Return L phi at one state, for phi = theta[i], theta[i]*theta[j].
    L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).
    """
    L_theta = np.empty(4)
    L_theta_theta = np.empty((4, 4))
    grad_U = full_gradient(theta, variance, mean_variance, weight_variance, y)
    # L(theta[i]) = -grad_U[i]
    for i in range(4):
        L_theta[i] = -grad_U[i]
    # L(theta[i]*theta[j]) = 2 delta[i,j] - grad_U[i] theta[j] - grad_U[j] theta[i]
    for i in range(4):
        for j in range(4):
            L_theta_theta[i, j] = 2.0 * (1.0 if i == j else 0.0) - grad_U[i] * theta[j] - grad_U[j] * theta[i]
    return L_theta, L_theta_theta


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
