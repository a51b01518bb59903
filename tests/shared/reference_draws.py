"""Random draws by their textbook formulas, in Python's integers and doubles: what emitted ones must be."""

import math
from collections.abc import Iterable, Iterator, Sequence

import mpmath
import numpy as np
from scipy.special import ndtr

WORD = 2**64 - 1


def reference_bits(state: list[int]) -> Iterator[int]:
    """Yield the stream of xoshiro256++ in Python's integers, after the authors' definition of 2019."""

    def rotate(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & WORD

    s = list(state)
    while True:
        yield (rotate((s[0] + s[3]) & WORD, 23) + s[0]) & WORD
        t = (s[1] << 17) & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)


def reference_normals(bits: Iterator[int]) -> Iterator[float]:
    """Yield the ziggurat's draws, with tables of 40 digits."""
    with mpmath.workdps(40):
        r = mpmath.mpf("3.6541528853610087963519472518")
        area = r * mpmath.exp(-r * r / 2) + mpmath.sqrt(mpmath.pi / 2) * mpmath.erfc(r / mpmath.sqrt(2))
        edges = [area * mpmath.exp(r * r / 2), r]
        while len(edges) < 256:
            edges.append(mpmath.sqrt(-2 * mpmath.log(area / edges[-1] + mpmath.exp(-(edges[-1] ** 2) / 2))))
        x = [float(edge) for edge in edges] + [0.0]
    f = [math.exp(-0.5 * edge * edge) for edge in x]

    def uniform() -> float:
        return (next(bits) >> 11) / 2**53

    while True:
        word = next(bits)
        layer, sign, place = word & 255, -1.0 if word & 256 else 1.0, word >> 12
        size = place / 2**52 * x[layer]
        if size < x[layer + 1]:
            yield sign * size
        elif layer == 0:
            while True:
                beyond, other = -math.log(1 - uniform()) / x[1], -math.log(1 - uniform())
                if 2 * other >= beyond * beyond:
                    break
            yield sign * (x[1] + beyond)
        else:
            u, _ = uniform(), uniform()
            if f[layer] + u * (f[layer + 1] - f[layer]) < math.exp(-0.5 * size * size):
                yield sign * size


def assert_normal(z: np.ndarray, edges: Iterable[float] = ()) -> None:
    """Assert moments, distribution function and tails beyond some edges of draws of N(0, 1), each within 5 sigma."""
    n = z.size
    for power, (mean, variance) in {1: (0, 1), 2: (1, 2), 3: (0, 15), 4: (3, 96), 6: (15, 10170)}.items():
        assert abs((z**power).mean() - mean) <= 5.0 * math.sqrt(variance / n), power
    for edge in edges:
        expected = 2 * ndtr(-edge) * n
        assert abs((np.abs(z) > edge).sum() - expected) <= 5.0 * math.sqrt(expected), edge
    distance = np.abs(ndtr(np.sort(z)) - (np.arange(n) + 0.5) / n).max()
    assert distance * math.sqrt(n) <= 2.75  # two-sided p = 5.4e-7


class ReferenceDraws:
    """Draws beyond normals as the papers write them: full tests in the place of squeezes, log gamma of the library."""

    def __init__(self, state: Sequence[int]) -> None:
        self.bits = reference_bits(list(state))
        self.normals = reference_normals(self.bits)

    def uniform(self) -> float:
        return (2 * (next(self.bits) >> 12) + 1) / 2**53

    def exponential(self) -> float:
        return -math.log(self.uniform())

    def integer(self, a: int, b: int) -> int:
        count = b - a + 1
        while True:
            chosen, rest = divmod(next(self.bits) * count, 2**64)
            if rest >= 2**64 % count:
                return a + chosen

    def categorical(self, *logits: float) -> int:
        u, weights = self.uniform(), [math.exp(logit - max(logits)) for logit in logits]
        return next(k for k in range(len(logits)) if sum(weights[: k + 1]) > u * sum(weights))

    def log_gamma(self, a: float) -> float:
        if a < 1:
            return self.log_gamma(a + 1) + math.log(self.uniform()) / a
        d = a - 1 / 3
        while True:
            x, u = next(self.normals), self.uniform()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            if v > 0 and math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                return math.log(d) + math.log(v)

    def gamma(self, a: float) -> float:
        return math.exp(self.log_gamma(a))

    def log_dirichlet(self, *alpha: float) -> list[float]:
        logs = [self.log_gamma(a) for a in alpha]
        with mpmath.workdps(40):
            total = mpmath.log(sum(mpmath.exp(one) for one in logs))
            return [float(one - total) for one in logs]

    def log_beta(self, a: float, b: float) -> list[float]:
        G, F = self.log_gamma(a), self.log_gamma(b)
        with mpmath.workdps(40):
            return [-float(mpmath.log1p(mpmath.exp(mpmath.mpf(one)))) for one in (F - G, G - F)]

    def dirichlet(self, *alpha: float) -> list[float]:
        return [math.exp(one) for one in self.log_dirichlet(*alpha)]

    def beta(self, a: float, b: float) -> float:
        return self.dirichlet(a, b)[0]

    def poisson(self, mean: float) -> int:
        if mean < 10:
            k, product = 0, self.uniform()
            while product > math.exp(-mean):
                k, product = k + 1, product * self.uniform()
            return k
        b = 0.931 + 2.53 * math.sqrt(mean)  # 1.2 and 3.75 below are 1.1328 and 3.6224 in the paper: too small
        a = -0.059 + 0.02483 * b
        while True:
            U, V = self.uniform() - 0.5, self.uniform()
            us = 0.5 - abs(U)
            k = math.floor((2 * a / us + b) * U + mean + 0.43)
            if us >= 0.07 and 0.9277 - 3.75 / (b - 2) >= V:
                return k
            if k < 0 or (us < 0.013 and us < V):
                continue
            hat = math.log(V * (1.1239 + 1.2 / (b - 3.4)) / (a / us**2 + b))
            if hat <= -mean + k * math.log(mean) - math.lgamma(k + 1):
                return k

    def binomial(self, n: int, p: float) -> int:
        if p > 0.5:
            return n - self.binomial(n, 1 - p)
        if n * p == 0:
            return 0
        if n * p < 10:
            left = self.uniform()
            for k in range(n + 1):
                weight = math.exp(math.log(math.comb(n, k)) + k * math.log(p) + (n - k) * math.log1p(-p))
                if left < weight:
                    return k
                left -= weight
        spq = math.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * spq
        a = -0.0873 + 0.0248 * b + 0.01 * p
        m = math.floor((n + 1) * p)
        while True:
            U, V = self.uniform() - 0.5, self.uniform()
            us = 0.5 - abs(U)
            k = math.floor((2 * a / us + b) * U + n * p + 0.5)
            if us >= 0.07 and 0.92 - 4.2 / b >= V:
                return k
            if not 0 <= k <= n:
                continue
            hat = math.log(V * (2.83 + 5.1 / b) * spq / (a / us**2 + b))
            h = math.lgamma(m + 1) + math.lgamma(n - m + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            if hat <= h + (k - m) * math.log(p / (1 - p)):
                return k

    def noncentral_chi_square(self, nu: float, noncentrality: float) -> float:
        return 2 * self.gamma(nu / 2 + self.poisson(noncentrality / 2))

    def cir(self, theta: float, a: float, t: float) -> float:
        return (1 - math.exp(-t)) * self.gamma(a + self.poisson(theta * math.exp(-t) / (1 - math.exp(-t))))
