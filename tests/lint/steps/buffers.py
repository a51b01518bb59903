"""Steps of Langevin dynamics in two dimensions that return an array which the next call overwrites."""

import functools

import numpy as np

NEW = np.zeros(2)
SCRATCH = np.zeros(2)
OTHER = np.zeros(2)
KEPT = {}
LAST = [np.zeros(2)]


def of_the_file(theta, grad_U, eps, rng):  # plane undecided: keeps in ... {RETURN_A_COPY}
    NEW[:] = 0.0
    NEW[:] += theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return NEW


def view(theta, grad_U, eps, rng):  # plane undecided: keeps in ... {RETURN_A_COPY}
    NEW[:] = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return NEW[:]


def in_a_mapping(theta, grad_U, eps, rng):  # plane undecided: keeps in ... {RETURN_A_COPY}
    new = KEPT.setdefault(len(theta), np.zeros(len(theta)))
    new.fill(0.0)
    new += theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return new


def accepted(theta, U, rng):  # plane undecided: keeps in ... {RETURN_A_COPY}
    np.copyto(NEW, rng.standard_normal(2))
    np.add(NEW, theta, out=NEW)
    if np.log(rng.random()) < U(theta) - U(NEW):
        return NEW
    return theta


class Sampler:
    """Keeps the array that it moves."""

    def __init__(self, n):
        self.out = np.zeros(n)

    def move(self, theta, grad_U, eps, rng):
        self.out[:] = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
        return self.out


SAMPLER = Sampler(2)


def of_an_instance(theta, grad_U, eps, rng):  # plane undecided: keeps in ... {RETURN_A_COPY}
    return SAMPLER.move(theta, grad_U, eps, rng)


# plane undecided: keeps in ... {RETURN_A_COPY}
def of_a_default(theta, grad_U, eps, rng, out=np.zeros(2)):  # noqa: B008
    out[:] = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return out


def cleared_later(theta, grad_U, eps, rng):  # plane undecided: keeps in ... {RETURN_A_COPY}
    old = LAST[0]
    old[...] = 0
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    LAST[0] = new
    return new


@functools.cache
def _buffer(n):
    return np.zeros(n)


def remembered(theta, grad_U, eps, rng):  # plane undecided: {RETURN_A_COPY}
    new = _buffer(2)
    new[:] = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return new


def right(theta, grad_U, eps, rng):  # plane proved
    """Its scratch array is its own: what it returns is another."""
    np.multiply(grad_U(theta), eps, out=SCRATCH)
    return theta - SCRATCH + np.sqrt(2 * eps) * rng.standard_normal(2)


def right_copy(theta, grad_U, eps, rng):  # plane proved
    OTHER[:] = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return OTHER.copy()
