"""Drifts of random sums of skew Q, of any size: stated without them, some Q that gives it is found and proved."""

from random import Random

import pytest
from answers import answer, document, expect

STATE = """
name: random_sizes
state: {theta: {shape: d}, r: {shape: d}, w: {shape: k}, xi: {}}
parameters:
  A: {is: positive}
  B: {shape: [d, d]}
  S: {shape: [d, d], is: skew}
  L: {shape: [d, k]}
functions: {U: {of: theta, role: potential}, K: {of: theta, shape: [d, d], is: symmetric}}
H: U(theta) + r.T @ r / 2 + w.T @ w / 2 + xi**2 / 2
D: [[0, 0, 0, 0], [0, A*I, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
"""
BLOCKS = ("theta", "r", "w", "xi")
PIECES: tuple[dict[str, str], ...] = (
    {"theta": "-r", "r": "grad(U, theta)"},
    {"theta": "-B @ r", "r": "B.T @ grad(U, theta)"},
    {"theta": "-K @ r", "r": "K @ grad(U, theta) - div(K, theta)"},
    {"r": "-L @ w", "w": "L.T @ r"},
    {"theta": "-L @ w", "w": "L.T @ grad(U, theta)"},
    {"r": "-xi*r", "xi": "r.T @ r - d"},
    {"r": "-xi*(B @ r)", "xi": "r.T @ B @ r - trace(B)"},
    {"r": "-S @ r"},
    {"r": "-(r.T @ r)*(K @ r) + (r.T @ K @ r)*r + d*(K @ r) - trace(K)*r"},
    {"w": "-xi*w", "xi": "w.T @ w - k"},
    {"theta": "-xi*theta", "xi": "theta.T @ grad(U, theta) - d"},
)
"""What single places of Q add to the drift, by hand: I, B, K at (theta, r), L, r, B r, S, (K r) r.T - r (K r).T, ..."""


def sized(parts, extra=""):
    terms = {name: [] for name in BLOCKS}
    terms["r"].append("-A*r" + extra)
    for n, number in parts.items():
        for block, formula in PIECES[n].items():
            terms[block].append(f"({number})*({formula})")
    own = {block: " + ".join(terms[block]) or "0" for block in BLOCKS}
    return answer(document(f"{STATE}claims: {{drift: {own}}}\n"), "recovered_q")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_a_random_q_is_found_and_none_for_a_drift_that_is_not_stationary(seed):
    random = Random(seed)
    places = random.sample(range(len(PIECES)), random.randint(1, 4))
    parts = {n: random.choice(("-2", "-1", "1", "3", "1/3")) for n in places}
    found = sized(parts)
    expect(found, "proved")
    assert found.for_d == "all"
    if seed % 3 == 0:
        wrong = random.choice((" + r/d", " - A*theta", " + K @ theta", " + xi*grad(U, theta)"))
        expect(sized(parts, wrong), "refuted")
