"""Steps that nothing refuses, beside other moves: where a cycle is proved, its law tends to exp(-H) as eps goes to 0.

Of quadratic H every move is linear with normal noise, z' = F z + N(0, S), and so is the cycle: its stationary
covariance solves P = F P F.T + S. The moves are written out here, from nothing of the compiler.
"""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from numpy.typing import NDArray
from some import some

from recipe_compiler.report.check import check
from recipe_compiler.verdict import Finding, Proved, Undecided

ROOT = Path(__file__).parents[2]
Matrix = NDArray[np.float64]
Kernel = tuple[Matrix, Matrix]
M, C, ONE, NIL = np.array([[2.0, 0.5], [0.5, 1.5]]), np.array([[1.0, -0.25], [-0.25, 2.0]]), np.eye(2), np.zeros((2, 2))
BUILD = """
format: 1
name: limit
dynamics: {root}/specs/dynamics/{dynamics}.yaml
target: {root}/specs/targets/standard_normal.yaml
parameters: {{M: {{value: [[2, 1/2], [1/2, 3/2]]}}{more}}}
sizes: {{d: 2}}
scheme: {{cycle: {cycle}}}
variant: full
run: {{step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}}
"""
FLIP, TURN = "{involution: {theta: -theta}}", "{involution: {r: -r}}"


def word(*letters: tuple[str, float]) -> list[tuple[str, float]]:
    return [*letters]


BA, BAB = word(("B", 1), ("A", 1)), word(("B", 0.5), ("A", 1), ("B", 0.5))
BAO = word(("B", 1), ("A", 1), ("O", 1))
BAOAB = word(("B", 0.5), ("A", 0.5), ("O", 1), ("A", 0.5), ("B", 0.5))
LETTERS = {id(BA): "[B, A]", id(BAB): "[B/2, A, B/2]", id(BAO): "[B, A, O]", id(BAOAB): "[B/2, A/2, O, A/2, B/2]"}

PROVED, OPEN = True, False
CYCLES = {
    "full, order 1": ([0.0, BA], OPEN),
    "part, order 1": ([0.9, BA], OPEN),
    "full, order 2": ([0.0, BAB], PROVED),
    "part, order 2": ([0.9, BAB], PROVED),
    "noise alone, order 1": ([BAO], PROVED),
    "noise, full, order 1": ([0.0, BAO], OPEN),
    "noise, part, order 1": ([0.5, BAO], OPEN),
    "noise, full, order 2": ([0.0, BAOAB], PROVED),
    "noise, flip of theta, order 1": ([FLIP, BAO], OPEN),
    "noise, flip of theta, order 2": ([FLIP, BAOAB], OPEN),
    "noise, flip of r, order 1": ([TURN, BAO], OPEN),
}
"""Moves by what they are: shares of a momentum that are kept, involutions, words."""


def moves_text(moves: list[object]) -> str:
    def text(move: object) -> str:
        if isinstance(move, float):
            return "{refresh: r}" if move == 0.0 else f"{{refresh: {{r: {move}}}}}"
        return f"{{split: {LETTERS[id(move)]}, steps: 1}}" if isinstance(move, list) else str(move)

    return f"[{', '.join(map(text, moves))}]"


def finding(tmp_path: Path, moves: list[object]) -> Finding:
    is_noisy = any(move is BAO or move is BAOAB for move in moves)
    more = ", C: {value: [[1, -1/4], [-1/4, 2]]}" if is_noisy else ""
    path = tmp_path / "limit.yaml"
    dynamics = "sghmc" if is_noisy else "hmc"
    path.write_text(BUILD.format(root=ROOT, dynamics=dynamics, more=more, cycle=moves_text(moves)), encoding="utf-8")
    return next(found for found in check(load_build(path)).findings if found.id == "cycle")


def then(first: Kernel, second: Kernel) -> Kernel:
    (F, S), (G, T) = first, second
    return G @ F, G @ S @ G.T + T


def block(theta: tuple[Matrix, Matrix], r: tuple[Matrix, Matrix]) -> Matrix:
    return np.block([[*theta], [*r]])


def letter(name: str, t: float) -> Kernel:
    """H = theta.T theta/2 + r.T inv(M) r/2; dr = -C inv(M) r dt + sqrt(2 C) dW, of which r ~ N(0, M)."""
    if name == "A":
        return block((ONE, t * np.linalg.inv(M)), (NIL, ONE)), np.zeros((4, 4))
    if name == "B":
        return block((ONE, NIL), (-t * ONE, ONE)), np.zeros((4, 4))
    values, vectors = np.linalg.eig(C @ np.linalg.inv(M))
    E = np.real(vectors @ np.diag(np.exp(-t * values)) @ np.linalg.inv(vectors))
    return block((ONE, NIL), (NIL, E)), block((NIL, NIL), (NIL, M - E @ M @ E.T))


def kernel(moves: list[object], eps: float) -> Kernel:
    found: Kernel = (np.eye(4), np.zeros((4, 4)))
    for move in moves:
        if isinstance(move, list):
            for name, share in move:
                found = then(found, letter(name, share * eps))
        elif isinstance(move, float):
            found = then(found, (block((ONE, NIL), (NIL, move * ONE)), block((NIL, NIL), (NIL, (1 - move**2) * M))))
        else:
            signs = (-ONE, ONE) if move == FLIP else (ONE, -ONE)
            found = then(found, (block((signs[0], NIL), (NIL, signs[1])), np.zeros((4, 4))))
    return found


def covariance_of_theta(moves: list[object], eps: float) -> Matrix:
    F, S = kernel(moves, eps)
    return np.linalg.solve(np.eye(16) - np.kron(F, F), S.reshape(-1)).reshape(4, 4)[:2, :2]


@pytest.mark.parametrize("name", some(CYCLES, 2))
def test_what_is_proved_of_a_cycle_is_so_in_the_limit(name: str, tmp_path: Path) -> None:
    moves, proved = CYCLES[name]
    decision = finding(tmp_path, moves).decision
    assert isinstance(decision, Proved) is proved
    if isinstance(decision, Undecided):
        assert "the law need not tend to exp(-H)" in decision.tried[0]
    if proved:
        np.testing.assert_allclose(covariance_of_theta(moves, 2.0**-9), ONE, atol=0.01)


@pytest.mark.parametrize(
    ("name", "limit"), [("full, order 1", 1 / 2), ("part, order 1", 0.95), ("noise, full, order 1", 1 / 2)]
)
def test_what_is_left_open_has_another_limit(name: str, limit: float) -> None:
    """var theta by "refresh r, B, A" is 1/(2 - eps^2), whatever M is; with a share c kept it tends to (1 + c)/2."""
    np.testing.assert_allclose(covariance_of_theta(CYCLES[name][0], 2.0**-9), limit * ONE, atol=0.01)


def test_a_flip_leaves_a_point_in_the_limit() -> None:
    found = [covariance_of_theta(CYCLES["noise, flip of theta, order 1"][0], 2.0**-k) for k in (3, 6, 9)]
    assert [float(np.trace(one)) for one in found] == pytest.approx([0, 0, 0], abs=0.3)
    assert np.trace(found[2]) < 0.01
