"""What a chain with minibatch gradients samples, before it runs: the emitted step itself, made linear.

Around the state z* where the step stands still on average, z+ - z* = M (z - z*) + noise, and the covariance S of the
chain solves S = M S M^T + N. M, the noise that is drawn and that of the gradient are read off the step: central
differences, unit normals, and batches of one row. N depends on the state, so that it is averaged over N(z*, S): at the
2n points z* +- sqrt(n) L_k with S = L L^T, which is exact where N is quadratic in the state.
"""

# Emitted files carry this code without annotations, and call it.

import numpy as np

_FORECAST_ROWS = 4_000  # batches of one row that are looked at for one average over the state
_FORECAST_BATCH = 200  # rows of a batch that noise is looked at with: one row has another curvature than all


def _jacobian(function, z, widths=None):
    """Return d function/dz by central differences."""
    widths = 1e-5 * (1.0 + np.abs(z)) if widths is None else widths
    columns = [(function(z + w) - function(z - w)) / (2.0 * w.max()) for w in np.diag(widths)]
    return np.array(columns).T


def _widths(slope, z, block):
    """Return widths of differences at z: of theta 1e-4 of 1/sqrt(d^2 U/d theta_i^2), as far as U curves upwards."""
    widths = 1e-5 * (1.0 + np.abs(z))
    for _ in range(5):  # a difference over a poor width gives a better one
        old = widths[block].copy()
        with np.errstate(all="ignore"):
            bent = np.diag(_jacobian(slope, z[block], old))
            better = np.where(bent > 0.0, 1e-4 / np.sqrt(bent), old)
        widths[block] = np.where(np.isnan(bent), 1e-3 * old, np.clip(better, 1e-3 * old, 1e3 * old))
        if (np.abs(widths[block] - old) <= 0.1 * old).all():
            break
    return widths


def _standstill(change, z, widths=None):
    """Return the state where `change` is zero and its matrix there, by Newton's method with halved steps."""
    reason = "its limit of 100 turns"
    widths = 1e-5 * (1.0 + np.abs(z)) if widths is None else widths
    with np.errstate(all="ignore"):
        for _ in range(100):
            slopes = _jacobian(change, z, widths)
            if not np.isfinite(slopes).all():
                reason = "values that are not finite"
                break
            try:
                move = -np.linalg.solve(slopes, change(z))
            except np.linalg.LinAlgError:
                reason = "a singular matrix"
                break
            if (np.abs(move) <= 1e-3 * widths).all():
                return z + move, slopes
            share = 1.0
            while share > 1e-6:
                left = np.linalg.solve(slopes, change(z + share * move))
                if np.linalg.norm(left) <= (1.0 - 0.25 * share) * np.linalg.norm(move):
                    break
                share *= 0.5
            if not share > 1e-6:
                reason = "a state from which no shorter step leads on"
                break
            z = z + share * move
        left = np.linalg.norm(change(z))
    raise ValueError(
        f"no state was found where the step stands still on average: Newton's method met {reason} (a step moves by "
        f"{left:.2g} there)"
    )


def _stationary(M, N):
    """Return S = M S M^T + N = sum_k M^k N (M^T)^k, twice as many terms at every turn."""
    found, power = N, M
    while np.abs(power).max() > 1e-12:
        found = found + power @ found @ power.T
        power = power @ power
    return found


def _curvature(slope, theta, widths):
    """Return the Hessian of U, which is positive definite around a mode."""
    slopes = _jacobian(slope, theta, widths)
    curvature = (slopes + slopes.T) / 2.0
    units = np.sqrt(np.abs(np.diag(curvature))) + 1e-300
    least = np.linalg.eigvalsh(curvature / np.outer(units, units))[0]
    if not least > 1e-7:
        kind = "U is flat in a direction" if least > -1e-7 else "U curves downwards in a direction"
        raise ValueError(f"{kind} where the step stands still on average (smallest curvature {least:.1g} in its units)")
    return curvature


def _demand_return(M):
    """Raise ValueError where a chain z+ = M z does not come back to 0."""
    slowest = np.abs(np.linalg.eigvals(M)).max()
    if not slowest < 1.0 + 1e-8:
        raise ValueError("the chain is unstable: the step size is too large")
    if not slowest < 1.0 - 1e-9:
        raise ValueError("a step of this size moves the chain too little to tell whether it comes back to the mode")


def _forecast(take, slope, z, block, normals, rows, batch_size, replacement, noise):
    """Return a state z* and covariances: of exp(-H), of the chain with exact gradients, of the chain.

    take(z, batch, normals) is the state after one step, slope(theta) the gradient of all data; z[block] is theta.
    noise says what is made of the noise of the gradient: "as it is"; "subtracted", V at z* being known; or "control
    variates", where only what it differs from z* by counts. ValueError where no chain stays around z*.
    """
    every, quiet = np.arange(rows, dtype=np.uint64), np.zeros(normals)

    def change(at):
        return take(at, every, quiet) - at

    widths = _widths(slope, z, block)
    z, slopes = _standstill(change, z, widths)
    curvature = _curvature(slope, z[block], widths[block])
    M = np.eye(z.size) + slopes
    _demand_return(M)
    order = np.random.default_rng(0).permutation(rows)
    some = np.sort(every[order[:_FORECAST_BATCH]])
    drawn = 1.0 / batch_size if replacement or rows == 1 else (rows - batch_size) / (batch_size * (rows - 1.0))

    def of_rows(at, chosen):
        return np.array([take(at, every[row : row + 1], quiet) for row in chosen])

    def of_gradient(values):
        """Return the covariance of the mean of a batch from values of single rows, drawn from among all."""
        return np.atleast_2d(np.cov(values.T)) * ((rows - 1.0) / rows * drawn)

    def of_normals(at):
        start = take(at, some, quiet)
        factor = np.array([take(at, some, unit) - start for unit in np.eye(normals)]).reshape(normals, z.size)
        return factor.T @ factor

    known = order[:_FORECAST_ROWS]
    middle = of_rows(z, known)
    if known.size == rows and not np.allclose(middle.mean(axis=0), take(z, every, quiet), rtol=1e-6, atol=1e-9):
        raise ValueError("the step is not linear in the gradient")
    own, V = of_normals(z), of_gradient(middle)
    subtracted = V if noise == "subtracted" else 0.0 * V
    if np.linalg.eigvalsh(own - subtracted)[0] < -1e-9 * np.abs(own).max():
        raise ValueError("2D - eps B_hat is not positive semidefinite")
    exact = _stationary(M, own)
    size = min(known.size, max(_FORECAST_ROWS // (2 * z.size), 32))
    root = _root(exact).sum(axis=0)
    steady = np.allclose(of_normals(z + root), own, rtol=1e-6, atol=1e-9 * np.abs(own).max())

    def around(points):
        """Return the covariance of the noise of a step, over states around z*."""
        total = np.zeros_like(own)
        for k, away in enumerate(points):
            chosen = (k * size + np.arange(size)) % known.size
            found = of_rows(z + away, known[chosen])
            total += of_gradient(found - middle[chosen] if noise == "control variates" else found)
            total += (own if steady else of_normals(z + away)) - subtracted
        return total / len(points)

    start = own - subtracted + (0.0 * V if noise == "control variates" else V)
    chain = _settled(M, _stationary(M, start), around, 1e4 * np.abs(exact).max())
    return z, np.linalg.inv(curvature), exact[block, block], chain[block, block]


def _root(S):
    """Return the symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _settled(M, start, around, most):
    """Return S = M S M^T + N, with N the mean over N(z*, S) of what `around` says, from a first guess of S."""
    old = start
    for _ in range(30):
        spread = np.sqrt(len(old)) * _root(old)
        new = _stationary(M, around(np.concatenate((spread, -spread))))
        if np.abs(new - old).max() <= 1e-3 * np.abs(new).max():
            return new
        if not np.abs(new).max() < most:
            break
        old = new
    raise ValueError("the noise of the gradient grows without bound: the step size is too large")
