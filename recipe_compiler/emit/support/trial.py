"""What a user's function computes, tried where chains start and went: is it the gradient of one U, and of that given?

A gradient has a symmetric Jacobian J, the Hessian of U: W^T J W = (W^T J W)^T for all directions W, with

    J w = (g(theta + h w) - g(theta - h w))/(2 h) + O(h^2);

differences at 2 h show how wrong these are. The estimate from a minibatch is tried as an average: over batches that
share the data out it gives the gradient of all data. Where U is given, its differences are the gradient. Without it a
symmetric error goes unnoticed: a term left out, such as the prior, or the Jacobian of a transform.
"""

# Emitted files carry this code without annotations, and call it.

import time
import warnings

import numpy as np

_POINTS = 3  # states near starts at which a gradient is tried
_VISITED = 6  # of those that chains went to
_SEEN = 400  # draws of a chain that are looked at for the farthest
_SEGMENTS = 8  # of a chain, in each of which it is farther away than in the one before where it never settles
_FEWEST = 10  # draws of a segment
_DIRECTIONS = 20  # random directions W at each, where theta has more coordinates than _MOST_NAMED; else those of them
_MOST_NAMED = 60
_MOST_BENT = 200  # coordinates, of which the second derivative of U is looked at
_SLOW = 1e-3  # seconds: what takes longer is tried at one state, in few directions
_FEW = 4
_STEPS = (1e-4, 1e-2)  # h in units of 1/sqrt(|d^2 U/d theta_i^2|): the second for gradients in single precision
_LONGEST = 1e8  # the largest unit over what theta has
_SIGNIFICANT = 10.0  # how many times its own error what is wrong must be
_LEAST = 1e-6  # the smallest asymmetry, over the largest entry of W^T J W, that is one
_ROUNDING = 1e-6  # how far averages over minibatches may be apart, over the size of their parts
_SHARES = 16  # into how many batches the data are shared out
_MOST_ROWS = 4096  # rows of a batch by which the Jacobian is tried


def _units_of(slope, theta):
    """Return 1/sqrt(|U_ii|) by coordinate; max(|theta_i|, 1) for long blocks and where U is straight or not finite."""
    units = np.maximum(np.abs(theta), 1.0)

    def bent(k):
        ahead, behind = theta.copy(), theta.copy()
        ahead[k] += _STEPS[0] * units[k]
        behind[k] -= _STEPS[0] * units[k]
        return abs((slope(ahead)[k] - slope(behind)[k]) / (ahead[k] - behind[k]))

    for _ in range(0 if theta.size > _MOST_BENT else 5):  # a difference in poor units gives better ones
        curved = np.array([bent(k) for k in range(theta.size)])
        better = np.where(curved > 0.0, 1.0 / np.sqrt(np.where(curved > 0.0, curved, 1.0)), units)
        before, clipped = units, np.clip(better, 1e-3 * units, 1e3 * units)
        units = np.where(np.isfinite(curved), clipped, 1e-3 * units)
        if (np.abs(units - before) <= 0.1 * before).all():
            break
    return np.minimum(units, _LONGEST * np.maximum(np.abs(theta), 1.0))


def _points_near(starts):
    """Return points near starts: where a start is as simple as zero much is symmetric by luck."""
    rng = np.random.default_rng(0)
    chosen = [starts[k % len(starts)] for k in range(_POINTS)]
    return [start + 0.1 * (0.1 + np.abs(start)) * rng.standard_normal(start.size) for start in chosen]


def _points_visited(array):
    """Return draws to try a gradient at, of (chain, draw, size): last ones, and where coordinates are farthest out."""
    seen = array[:, :: -(-array.shape[1] // _SEEN)].reshape(-1, array.shape[2])
    every = np.concatenate([array[:, -1], seen])
    finite = every[np.isfinite(every).all(axis=1)]
    if not len(finite):
        return []
    spread = finite.std(axis=0)
    far = np.abs(finite - finite.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    farthest = np.argsort(-far.max(axis=0))[: _VISITED - 2]
    return [finite[k] for k in dict.fromkeys([*far[:, farthest].argmax(axis=0).tolist(), 0, min(1, len(finite) - 1)])]


def _try_slopes(call, points, full, of_batch=None, rows=0, energy=None):
    """Check that a function is a gradient at points, a slow one at the first alone. Raises ValueError, with numbers.

    call: what it is called, for messages. full(theta): of all data. of_batch(theta, batch): its estimate by some rows.
    energy(theta): U, where it is known.
    """
    rng, slope = np.random.default_rng(0), full
    if of_batch is not None:
        few = rng.permutation(rows)[:_MOST_ROWS].astype(np.uint64)

        def slope(theta):
            return of_batch(theta, few)

    begin = time.process_time()
    slope(points[0])
    slow = time.process_time() - begin > _SLOW
    for theta in points[: 1 if slow else len(points)]:
        if not np.isfinite(full(theta)).all():
            continue
        units = np.maximum(np.abs(theta), 1.0) if slow else _units_of(slope, theta)
        named = theta.size <= (_FEW if slow else _MOST_NAMED)
        W = np.eye(theta.size) if named else rng.choice([-1.0, 1.0], (_FEW if slow else _DIRECTIONS, theta.size))
        if energy is not None:
            _check_slope(call, full, energy, theta, units, W, named)
        _check_symmetry(call, slope, theta, units, W, named)
        if of_batch is not None:
            _check_average(call, full, of_batch, rows, theta, rng)


def _check_symmetry(call, slope, theta, units, W, named):
    """Check that the Jacobian of a gradient is symmetric. Raises ValueError."""

    def products(h):
        ahead, behind = (np.array([slope(theta + sign * h * units * w) for w in W]) for sign in (1.0, -1.0))
        return W @ (units * (ahead - behind)).T / (2.0 * h)

    for h in _STEPS:
        S, wide = products(h), products(2.0 * h)
        apart = S - S.T
        error = np.abs(wide - wide.T - apart).max()
        i, j = np.unravel_index(int(np.argmax(np.abs(apart))), apart.shape)
        if abs(apart[i, j]) > max(_SIGNIFICANT * error, _LEAST * np.abs(S).max()):
            scale = units[i] * units[j] if named else 1.0
            one, other = f"d grad_U[{i}]/d theta[{j}]", f"d grad_U[{j}]/d theta[{i}]"
            says = f"{one} = {S[i, j] / scale:.6g}, {other} = {S[j, i] / scale:.6g}"
            says = says if named else f"v.Ju = {S[i, j]:.6g}, u.Jv = {S[j, i]:.6g} in some directions u, v"
            found = f"is no gradient: its Jacobian is not symmetric at theta = {_shown_point(theta)}: {says}"
            raise ValueError(f"{call} {found}. Expected the gradient of one function U")


def _check_average(call, full, of_batch, rows, theta, rng):
    """Check that estimates from batches that share the data out have the gradient as their mean. Raises ValueError."""
    batches = np.array_split(rng.permutation(rows).astype(np.uint64), min(_SHARES, rows))
    parts = np.array([of_batch(theta, batch) for batch in batches])
    mean = np.array([batch.size for batch in batches]) @ parts / rows
    whole = full(theta)
    off = np.abs(mean - whole) - _ROUNDING * (np.abs(parts).max(axis=0) + np.abs(whole))
    for k in np.flatnonzero(~(off <= 0.0)):
        found = f"grad_U[{k}] is {mean[k]:.6g} on average over {len(batches)} batches, {whole[k]:.6g} for all data"
        expected = "expected the same: grad of -log prior + (N/n) times the sum over a batch of n rows, of any n"
        raise ValueError(f"{call} is no unbiased estimate at theta = {_shown_point(theta)}: {found}; {expected}")


def _check_slope(call, full, energy, theta, units, W, named):
    """Check that a gradient is that of U, by differences of U. Raises ValueError."""
    stated, level = W @ (units * full(theta)), np.finfo(float).eps * abs(energy(theta))

    def slopes(h):
        return np.array([energy(theta + h * units * w) - energy(theta - h * units * w) for w in W]) / (2.0 * h)

    for h in _STEPS:
        found = slopes(h)
        error = np.abs(slopes(2.0 * h) - found).max() + level / h + _LEAST * np.abs(stated).max()
        k = int(np.argmax(np.abs(found - stated)))
        if abs(found[k] - stated[k]) > _SIGNIFICANT * error:
            scale, what = (units[k], f"[{k}]") if named else (1.0, ".v in some direction v")
            says = f"{stated[k] / scale:.6g}, differences of U give {found[k] / scale:.6g}"
            raise ValueError(f"{call} is not grad U at theta = {_shown_point(theta)}: found grad_U{what} = {says}")


def _shown_point(theta):
    """Return the first coordinates of a point, for messages."""
    return f"[{', '.join(f'{x:.4g}' for x in theta[:4])}{', ...' if theta.size > 4 else ''}]"


def _find_departure(name, array, full):
    """Return in words how draws (chain, draw, size) leave where they began, in every chain ever farther; else None."""
    length = (
        int(np.isfinite(array).all(axis=2).sum(axis=1).min()) // _SEGMENTS
    )  # a chain that ended is NaN from there on
    if length < _FEWEST:
        return None
    places = np.arange(_SEGMENTS * length).reshape(_SEGMENTS, length)[:, -_FEWEST:]
    moved = array[:, places] - array[:, :1, None]
    far = np.abs(moved).max(axis=3).mean(axis=2)
    if not (np.diff(far, axis=1) > 0.0).all():
        return None
    slopes = [
        np.sign([full(chain[-1, -k]) @ own[-1, -k] for k in range(1, _FEWEST)]).mean()
        for chain, own in zip(array[:, places], moved, strict=True)
    ]
    found = f"{name} goes ever farther from where it began in all chains, by {far[:, -1].max():.4g} at the end"
    if max(slopes) < 0.0:
        asked = "is grad_U the gradient of U = -log density, sign and all? Else chains need a longer warmup"
        return f"{found}, and U falls and falls: {asked}"
    return f"{found}: take a smaller step_size" if (far[:, -1] > _LONGEST * far[:, 0]).all() else None


def _doubt_draws(name, array, full, try_at):
    """Return in words how draws (chain, draw, size) leave for good, or where a gradient is none; None where neither.

    full(theta): the gradient. try_at(points): raises ValueError where it is none.
    """
    with np.errstate(all="ignore"):
        said = _find_departure(name, array, full)
        try:
            try_at([] if said else _points_visited(array))
        except ValueError as error:
            said = f"{error}. Chains went there: draws are not of exp(-U)"
    return said


def _try_given(grad_U, U, data, starts, batch_size, rows, check):
    """Check that grad_U, and U if it is given, return what a chain needs where it starts. Raises TypeError, ValueError.

    Returns what is called with the name and draws of theta, and warns where they went away or it is no gradient there.
    batch_size, rows: 0 where grad_U takes all data. check: whether to try that it is a gradient, by differences.
    """
    from numba.core.errors import NumbaError

    batch = (np.arange(batch_size, dtype=np.uint64) % rows,) if rows else ()
    call = f"grad_U({', '.join(('theta', *(['batch'] if rows else []), *(['*data'] if data else [])))})"

    def value(name, function, theta, *given):
        own = theta.copy()
        try:
            returned = function(own, *given, *data)
        except NumbaError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise TypeError(f"{name} cannot be compiled by numba: {' '.join(lines[:3])}") from error
        if not np.array_equal(own, theta):
            raise ValueError(f"{name} writes to theta, expected it to return a new array")
        found, shape = np.asarray(returned), () if function is U else theta.shape
        is_one = function is not U or not isinstance(returned, np.ndarray)
        if found.shape != shape or found.dtype.kind not in "fiu" or not is_one:
            expected = "U, a real number" if function is U else f"grad U, an array of shape {shape} of real numbers"
            raise ValueError(f"{name} returns an array of shape {found.shape} of {found.dtype}, expected {expected}")
        return found

    def of_batch(theta, batch):
        return value(call, grad_U, theta, batch).astype(np.float64)

    def full(theta):
        return of_batch(theta, np.arange(rows, dtype=np.uint64)) if rows else value(call, grad_U, theta).astype(float)

    def energy(theta):
        return float(value(f"U(theta{', *data' if data else ''})", U, theta))

    for chain, theta in enumerate(starts):
        for name, found in (
            (call, value(call, grad_U, theta, *batch)),
            ("U", np.zeros(1) if U is None else energy(theta)),
        ):
            for k in np.flatnonzero(~np.isfinite(np.atleast_1d(found))):
                at = f"where chain {chain} starts, at theta = {_shown_point(theta)}"
                place = "" if name == "U" else f"[{k}]"
                raise ValueError(
                    f"{name} gives {np.atleast_1d(found)[k]}{place and f' at {place}'} {at}: start elsewhere (init)"
                )

    def try_at(points):
        with np.errstate(all="ignore"):
            if check and points:
                _try_slopes(call, points, full, of_batch if rows else None, rows, None if U is None else energy)

    def try_draws(name, array):
        if said := _doubt_draws(name, array, full, try_at):
            warnings.warn(said, RuntimeWarning, stacklevel=3)

    try_at(_points_near(starts))
    return try_draws
