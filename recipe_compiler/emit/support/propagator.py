"""Exact flows of linear equations with constant matrices, computed once before a chain starts."""

# Emitted files carry this code without annotations, and call it.

import numpy as np


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
