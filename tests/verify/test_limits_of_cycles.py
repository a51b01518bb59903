"""Steps that nothing refuses, beside other moves: where a cycle is proved, its law tends to exp(-H) as eps goes to 0.

Of quadratic H every move is linear with normal noise, z' = F z + N(0, S), and so is the cycle: its stationary
covariance solves P = F P F.T + S. The moves are written out here, from nothing of the compiler.
"""

import numpy as np
import pytest
from answers import answer, document, expect
from some import some

M, C, ONE, NIL = np.array([[2.0, 0.5], [0.5, 1.5]]), np.array([[1.0, -0.25], [-0.25, 2.0]]), np.eye(2), np.zeros((2, 2))
STILL = np.zeros((4, 4))
BUILD = """
name: limit
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: SPECS/targets/standard_normal.yaml
parameters: {M: {value: [[2, 1/2], [1/2, 3/2]]}MORE}
sizes: {d: 2}
scheme: {cycle: CYCLE}
variant: full
run: {step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}
"""
FLIP, TURN = "{involution: {theta: -theta}}", "{involution: {r: -r}}"
WORDS = {
    "[B, A]": [("B", 1), ("A", 1)],
    "[B/2, A, B/2]": [("B", 0.5), ("A", 1), ("B", 0.5)],
    "[B, A, O]": [("B", 1), ("A", 1), ("O", 1)],
    "[B/2, A/2, O, A/2, B/2]": [("B", 0.5), ("A", 0.5), ("O", 1), ("A", 0.5), ("B", 0.5)],
}
BA, BAB, BAO, BAOAB = WORDS
CYCLES = {
    "full, order 1": ([0.0, BA], False),
    "part, order 1": ([0.9, BA], False),
    "full, order 2": ([0.0, BAB], True),
    "part, order 2": ([0.9, BAB], True),
    "noise alone, order 1": ([BAO], True),
    "noise, full, order 1": ([0.0, BAO], False),
    "noise, part, order 1": ([0.5, BAO], False),
    "noise, full, order 2": ([0.0, BAOAB], True),
    "noise, flip of theta, order 1": ([FLIP, BAO], False),
    "noise, flip of theta, order 2": ([FLIP, BAOAB], False),
    "noise, flip of r, order 1": ([TURN, BAO], False),
}
"""Moves (shares of a momentum that are kept, involutions, words), and whether the cycle is proved."""


def stated(move):
    if isinstance(move, float):
        return f"{{refresh: {{r: {move}}}}}" if move else "{refresh: r}"
    return f"{{split: {move}, steps: 1}}" if move in WORDS else move


def then(first, second):
    (F, S), (G, T) = first, second
    return G @ F, G @ S @ G.T + T


def block(theta, r):
    return np.block([[*theta], [*r]])


def letter(name, t):
    """H = theta.T theta/2 + r.T inv(M) r/2; dr = -C inv(M) r dt + sqrt(2 C) dW, of which r ~ N(0, M)."""
    if name == "A":
        return block((ONE, t * np.linalg.inv(M)), (NIL, ONE)), STILL
    if name == "B":
        return block((ONE, NIL), (-t * ONE, ONE)), STILL
    values, vectors = np.linalg.eig(C @ np.linalg.inv(M))
    E = np.real(vectors @ np.diag(np.exp(-t * values)) @ np.linalg.inv(vectors))
    return block((ONE, NIL), (NIL, E)), block((NIL, NIL), (NIL, M - E @ M @ E.T))


def covariance_of_theta(moves, eps):
    found = (np.eye(4), STILL)
    for move in moves:
        if isinstance(move, float):
            found = then(found, (block((ONE, NIL), (NIL, move * ONE)), block((NIL, NIL), (NIL, (1 - move**2) * M))))
        elif move in WORDS:
            for name, share in WORDS[move]:
                found = then(found, letter(name, share * eps))
        else:
            signs = (-ONE, ONE) if move == FLIP else (ONE, -ONE)
            found = then(found, (block((signs[0], NIL), (NIL, signs[1])), STILL))
    F, S = found
    return np.linalg.solve(np.eye(16) - np.kron(F, F), S.reshape(-1)).reshape(4, 4)[:2, :2]


@pytest.mark.parametrize("name", some(CYCLES, 2))
def test_what_is_proved_of_a_cycle_is_so_in_the_limit(name):
    moves, proved = CYCLES[name]
    noisy = "noise" in name
    text = BUILD.replace("DYNAMICS", "sghmc" if noisy else "hmc").replace("CYCLE", f"[{', '.join(map(stated, moves))}]")
    text = text.replace("MORE", ", C: {value: [[1, -1/4], [-1/4, 2]]}" if noisy else "")
    found = answer(document(text), "cycle")
    if proved:
        expect(found, "proved")
        np.testing.assert_allclose(covariance_of_theta(moves, 2.0**-9), ONE, atol=0.01)
    else:
        expect(found, "not proved")
        assert found.verdict == "refuted" or "the law need not tend to exp(-H)" in found.decision.tried[0]


@pytest.mark.parametrize(
    ("name", "limit"), [("full, order 1", 1 / 2), ("part, order 1", 0.95), ("noise, full, order 1", 1 / 2)]
)
def test_what_is_left_open_has_another_limit(name, limit):
    """var theta by "refresh r, B, A" is 1/(2 - eps^2), whatever M is; with a share c kept it tends to (1 + c)/2."""
    np.testing.assert_allclose(covariance_of_theta(CYCLES[name][0], 2.0**-9), limit * ONE, atol=0.01)


def test_a_flip_leaves_a_point_in_the_limit():
    found = [covariance_of_theta(CYCLES["noise, flip of theta, order 1"][0], 2.0**-k) for k in (3, 6, 9)]
    assert [float(np.trace(one)) for one in found] == pytest.approx([0, 0, 0], abs=0.3)
    assert np.trace(found[2]) < 0.01
