"""Where a chain starts that is told nothing else: spread out, or drawn from the law of a Gaussian block."""

# Emitted files carry this code without annotations, and call it.

import warnings

import numpy as np

from recipe_compiler.emit.support.checks import _checked_array

_LONGEST_LAW = 256  # of a longer block the law is not computed: it starts at zero


def _spread(real, domain, low=0.0, high=0.0):
    """Return a point of a domain from one of the real line, by an unbounded variable that it is a function of."""
    if domain == "positive":
        return np.exp(real)
    if domain == "interval":
        return low + (high - low) / (1.0 + np.exp(-real))
    weights = np.exp(np.append(real, 0.0))  # of a simplex
    return weights[:-1] / weights.sum()


def _draw(rng, cov):
    """Return a draw of N(0, cov), of a variance or of a symmetric positive semidefinite matrix. Raises ValueError."""
    if cov.ndim == 0:
        if not cov >= 0.0:
            raise ValueError(f"found a variance of {float(cov):g} in N(0, cov), expected 0 or more")
        return np.asarray(np.sqrt(cov) * rng.standard_normal())
    values, vectors = np.linalg.eigh(cov)
    largest = max(float(np.abs(values).max()), 0.0)
    if not (np.allclose(cov, cov.T, rtol=1e-10, atol=1e-12 * largest) and values[0] >= -1e-10 * largest):
        raise ValueError("found a matrix that is not positive semidefinite in N(0, cov)")
    z = rng.standard_normal(len(values))
    return (vectors @ (np.sqrt(np.maximum(values, 0.0)) * z)).reshape(-1, 1)


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
    goes_on = init is not None and "noise_state" in init  # a state that `sample` returned, which has more
    for name, value in (init or {}).items():
        if goes_on and name not in names:
            continue
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


def _outside(array, domain, low=0.0, high=0.0):
    """Return which points of an array (..., size) lie outside of a domain."""
    if domain == "positive":
        return (array <= 0.0).any(axis=-1)
    if domain == "nonnegative":
        return (array < 0.0).any(axis=-1)
    if domain == "simplex":
        return (array <= 0.0).any(axis=-1) | (array.sum(axis=-1) >= 1.0)
    return ((array < low) | (array > high)).any(axis=-1)


def _check_starts_inside(name, starts, domain, low=0.0, high=0.0):
    """Check that every chain starts inside of the domain of a block. Raises ValueError."""
    for start in starts:
        if _outside(start[name], domain, low, high):
            wanted = f"interval({low:g}, {high:g})" if domain == "interval" else domain
            raise ValueError(f"init of {name}: found {start[name][:5]}, expected a point of its domain, {wanted}")


def _tell_outside(name, array, domain, low=0.0, high=0.0):
    """Warn of draws that lie outside of the domain of a block: a finite step may leave it."""
    count = int(_outside(array, domain, low, high).sum())
    if count:
        found = f"{count} draws of {name} lie outside of its domain, {domain}"
        warnings.warn(f"{found}, where nothing was proved: take a smaller step_size", RuntimeWarning, stacklevel=3)


def _tell_clipped(counts):
    """Warn of noise covariances that were not positive semidefinite and were cut off at zero."""
    count = int(np.sum(counts))
    if count:
        found = f"2D - eps B_hat was not positive semidefinite at {count} states, and was cut off at zero"
        warnings.warn(f"{found}: take a smaller step_size", RuntimeWarning, stacklevel=3)
