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


def box_muller(words: Sequence[int]) -> list[float]:
    """Return normals of pairs of words, by the rule of Box and Muller."""
    found = list[float]()
    for a, b in zip(words[::2], words[1::2], strict=True):
        radius = math.sqrt(-2.0 * math.log(((a >> 12) + 0.5) / 2**52))
        angle = ((b >> 12) / 2**52 - 0.5) * math.pi / 2
        x, y = (-1) ** (b & 1) * math.cos(angle), math.sin(angle)
        found += [radius * y, radius * x] if b & 2 else [radius * x, radius * y]
    return found


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
