"""Steps that cannot be traced on symbols, and hostile ones; each says at which line."""

# every step: sgld undecided

import os
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


def eigenvalues(theta, D, eps, rng):  # undecided: np.linalg.eigh
    values, _ = np.linalg.eigh(D)  # here
    return theta + values


def random_choice(theta, grad_U, eps, rng):  # undecided: the random draw `choice`
    k = rng.choice(len(theta))  # here
    theta[k] += eps
    return theta


def swallowed(theta, grad_U, eps, rng):  # undecided: a value that depends on the state
    try:
        factor = float(np.max(theta)) + int(theta[0])  # here
    except BaseException:
        factor = 1.0
    return theta - factor * eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def fallback(theta, grad_U, eps, rng):  # refuted
    factor = 2.0
    with suppress(TypeError):
        factor = 1.0 + ord(theta)
    return theta - factor * eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def seeded(theta, grad_U, eps):  # undecided: a seed set in the step
    rng = np.random.default_rng(0)  # here
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def clock(theta, grad_U, eps, rng):  # undecided: run with floats ... when it was traced
    return theta - time.perf_counter_ns() * eps * grad_U(theta)


def typed_root(theta, grad_U, eps, rng):  # undecided: the number 1.4142135623730951 is rounded
    return theta - eps * grad_U(theta) + 1.4142135623730951 * eps**0.5 * rng.standard_normal(len(theta))  # here


def never_set(theta, eps):  # undecided: NoneType
    new = np.empty(len(theta))
    return theta - eps * new  # here


def transposed(theta, eps):  # undecided: the new theta has shape (1, 1), expected (1,)
    return np.reshape(theta, (1, -1))


def leaves(theta, eps):  # undecided: its process ended without an answer
    os._exit(0)


def ends(theta, eps):  # undecided: it ended the program
    raise SystemExit(0)  # here


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
