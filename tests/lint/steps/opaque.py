"""Steps that cannot be followed on symbols, and hostile ones; each says at which line."""

# every step: sgld undecided

# ruff: noqa: NPY002

import os
import random
import signal
import sys
import time
from contextlib import suppress

import numpy as np

CALLS = [0]
CACHE = []
RNG = np.random.default_rng(1)
NOISE = RNG.standard_normal(9)


def branch(theta, grad_U, eps, rng):  # undecided: a comparison of a value that depends on the state
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    if new[0] > 0:  # here
        return new
    return theta


def where(theta, grad_U, eps, rng):  # undecided: a comparison of a value that depends on the state
    return np.where(theta > 0, theta, 0.0)  # here


def clipped(theta, grad_U, eps, rng):  # undecided: a comparison of a value that depends on the state
    return np.clip(theta, -1, 1)  # here


def fixed_point(theta, eps):  # undecided: a comparison of a value that depends on the state
    while np.abs(theta[0]) > 1e-6:  # here
        theta = theta / 2
    return theta


def scipy_call(theta, D, eps, rng):  # undecided: made a plain number|object arrays are not supported
    import scipy.linalg

    return theta + scipy.linalg.cholesky(D) @ rng.standard_normal(len(theta))  # here


def eigenvalues(theta, D, eps, rng):  # undecided: np.linalg.eigh
    values, _ = np.linalg.eigh(D)  # here
    return theta + values


def random_choice(theta, grad_U, eps, rng):  # undecided: the random draw `choice`
    k = rng.choice(len(theta))  # here
    theta[k] += eps
    return theta


def coin(theta, grad_U, eps):  # undecided: the random draw `random`
    if random.random() < 0.5:  # here
        return theta
    return theta + eps


def uniform(theta, eps):  # undecided: the random draw `uniform`
    return theta + np.sqrt(eps) * np.random.uniform(size=len(theta))  # here


def swallowed(theta, grad_U, eps, rng):  # undecided: a value that depends on the state
    try:
        factor = float(np.max(theta)) + int(theta[0])  # here
    except BaseException:
        factor = 1.0
    return theta - factor * eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def fallback(theta, grad_U, eps, rng):  # undecided: TypeError was caught
    factor = 2.0
    with suppress(TypeError):
        factor = 1.0 + ord(theta)  # here
    return theta - factor * eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def counted(theta, grad_U, eps, rng):  # undecided: call 2 did something else than call 1
    CALLS[0] += 1
    return theta - CALLS[0] * eps * grad_U(theta)


def kept_noise(theta, grad_U, eps, rng):  # undecided: drawn when the file was loaded
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * NOISE[: len(theta)]


def cached_noise(theta, grad_U, eps, rng):  # undecided: a value of an earlier call
    while len(CACHE) < len(theta):
        CACHE.append(rng.standard_normal())
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * np.array(CACHE[: len(theta)])


def seeded(theta, grad_U, eps):  # undecided: a seed set in the step
    rng = np.random.default_rng(0)  # here
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def seeded_globally(theta, grad_U, eps):  # undecided: a seed set in the step
    np.random.seed(0)  # here
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * np.random.randn(len(theta))


def clock(theta, grad_U, eps, rng):  # undecided: it asks time.perf_counter_ns
    return theta - time.perf_counter_ns() * eps * grad_U(theta)  # here


def typed_root(theta, grad_U, eps, rng):  # undecided: the number 1.4142135623730951 is rounded
    return theta - eps * grad_U(theta) + 1.4142135623730951 * eps**0.5 * rng.standard_normal(len(theta))  # here


def never_set(theta, eps):  # undecided: NoneType
    new = np.empty(len(theta))
    return theta - eps * new  # here


def too_many(theta, grad_U, eps):  # undecided: 2 values returned, expected 1: theta
    return theta, theta


def transposed(theta, eps):  # undecided: the new theta has shape (1, 1), expected (1,)
    return np.reshape(theta, (1, -1))


def recursive(theta, eps):  # undecided: RecursionError
    return recursive(theta, eps)


def leaves(theta, eps):  # undecided: its process ended without an answer
    os._exit(0)


def ends(theta, eps):  # undecided: it ended the program
    raise SystemExit(0)  # here


def interrupts(theta, eps):  # undecided: KeyboardInterrupt
    raise KeyboardInterrupt  # here


def forges(theta, eps):  # undecided: its process ended without an answer
    for number in range(3, 20):
        with suppress(OSError):
            os.write(number, b'{"cases": [{"nodes": [["leaf", "theta", 0]], "outputs": [[0]]}]}')
    os._exit(0)


def remembers(theta, eps):  # undecided: MemoryError
    return bytearray(10**11)  # here


def prints(theta, grad_U, eps, rng):  # judged apart
    print("hello")
    sys.stdout.write("hello")
    sys.stderr.write("hello")
    os.write(1, b"hello")
    os.write(2, b"hello")
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def endless(theta, eps):  # judged apart
    while True:
        pass


def busy_and_deaf(theta, eps):  # judged apart
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    while True:
        pass


def endless_and_deaf(theta, eps):  # judged apart
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(600)
    while True:
        time.sleep(1)
