"""Matrices of known answer: right verdicts, in time, certificates that hold; and random ones, never the wrong way."""

import math
import random
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import ends
from some import some

from recipe_compiler.verdict import Answer, Proved, Refuted, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.d_psd import d_psd

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode leaves test folders off the path

from psd_corpus import CORPUS, THIN, Matrix


def decide(matrix: Matrix) -> Answer:
    return d_psd(subject_of(matrix.load()))


@pytest.mark.parametrize("matrix", some([*CORPUS, *THIN], 2), ids=lambda matrix: matrix.name)
def test_the_verdict_is_right_and_in_time(matrix: Matrix) -> None:
    with ends():
        found = decide(matrix)
        assert found.verdict is (Verdict.PROVED if matrix.proved else Verdict.REFUTED), found.decision


def test_the_corpus_is_whole() -> None:
    assert len(CORPUS) == 32
    assert sum(matrix.proved for matrix in CORPUS) == 22


def symbolic(text: str) -> sympy.Expr:
    """Read the text of a certificate: names `g0` and `v0`, integers, fractions, sums, products and powers."""
    assert re.fullmatch(r"[gv0-9+\-*/() ]*", text)
    return sympy.parse_expr(text)


def table(text: str) -> list[list[sympy.Expr]]:
    rows = re.findall(r"\[([^\[\]]*)\]", text)
    return [[symbolic(x) for x in row.split(",")] for row in rows]


def blocks(decision: Proved) -> list[dict[str, str]]:
    """Return the data of every block shown by a sum of squares, by name."""
    found: dict[str, dict[str, str]] = {}
    for name, value in decision.data:
        prefix, _, key = name.rpartition(": ")
        found.setdefault(prefix, {})[key] = value
    return [block for block in found.values() if any(key.startswith("Gram matrix") for key in block)]


def rechecks(block: dict[str, str]) -> bool:
    """Whether v.T M v is the sum of squares claimed, and every Gram matrix positive semidefinite: by SymPy alone."""
    M = table(block["matrix"])
    v = sympy.symbols(f"v0:{len(M)}")
    total = sum(v[i] * M[i][j] * v[j] for i in range(len(M)) for j in range(len(M)))
    for key, text in block.items():
        if not key.startswith("Gram matrix"):
            continue
        k = key.split()[-1]
        Q = sympy.Matrix(table(text))
        w = sympy.Matrix([symbolic(x) for x in block[f"monomials {k}"].strip("[]").split(",")])
        total -= symbolic(block[f"multiplier {k}"]) * (w.T * Q * w)[0, 0]
        if Q != Q.T or not Q.is_positive_semidefinite:
            return False
    return sympy.expand(total) == 0


SQUARES = [m for m in (*CORPUS, *THIN[:4]) if (m.proved and "unknowns" in m.name) or "B B.T" in m.name]
SQUARES += [m for m in CORPUS if m.name.startswith("multinomial") or "<=" in m.name]


@pytest.mark.slow
@pytest.mark.parametrize("matrix", SQUARES, ids=lambda matrix: matrix.name)
def test_a_sum_of_squares_is_one(matrix: Matrix) -> None:
    decision = decide(matrix).decision
    assert isinstance(decision, Proved)
    found = blocks(decision)
    assert found
    assert all(rechecks(block) for block in found)


@pytest.mark.slow
def test_a_changed_certificate_does_not_recheck() -> None:
    decision = decide(THIN[0]).decision
    assert isinstance(decision, Proved)
    (block,) = blocks(decision)
    assert rechecks(block)
    key = next(key for key in block if key.startswith("Gram matrix"))
    rows = table(block[key])
    rows[0][0] += 1
    changed = "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
    assert not rechecks({**block, key: changed})


MONOMIALS = ("1", "x", "y", "x*y", "x**2")
POLYNOMIAL = st.lists(st.integers(-2, 2), min_size=5, max_size=5).map(
    lambda c: " + ".join(f"({n})*{m}" for n, m in zip(c, MONOMIALS, strict=True) if n) or "0"
)
COLUMNS = st.integers(2, 3).flatmap(
    lambda n: st.lists(st.lists(POLYNOMIAL, min_size=n - 1, max_size=n - 1), min_size=n, max_size=n)
)


def shifted(b: list[list[str]], shift: str) -> Matrix:
    """Return B B.T + shift * I; B has fewer columns than rows, so that B B.T is singular everywhere."""
    n = range(len(b))
    rows = tuple(tuple(" + ".join(f"({p})*({q})" for p, q in zip(b[i], b[j], strict=True)) for j in n) for i in n)
    return Matrix("random", tuple(
        tuple(x + f" + {shift}" if i == j else x for j, x in enumerate(row)) for i, row in enumerate(rows)
    ), True, real="x y")  # fmt: skip


@pytest.mark.slow
@given(COLUMNS, st.sampled_from(["0", "1", "(x - y)**2"]))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_a_gram_matrix_is_never_refuted(b: list[list[str]], shift: str) -> None:
    assert decide(shifted(b, shift)).verdict is not Verdict.REFUTED


@pytest.mark.slow
@given(COLUMNS, st.integers(-3, 3), st.integers(-3, 3), st.sampled_from(["1", "1/10", "1/1000"]))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_a_planted_negative_direction_is_never_proved(b: list[list[str]], x: int, y: int, depth: str) -> None:
    """At (x, y) some v is orthogonal to all columns of B, and there v.T M v = -depth |v|**2."""
    found = decide(shifted(b, f"(x - ({x}))**2 + (y - ({y}))**2 - {depth}"))
    assert found.verdict is not Verdict.PROVED


POOL = ("0", "0", "1", "2", "x", "y", "p", "q", "x**2", "p*q", "-x", "sqrt(p*q)", "abs(x)", "x*y", "1 + x**2", "exp(x)",
        "exp(-x)", "-p", "sqrt(p)", "p**2", "sin(x)", "cos(y)", "1/(1 + x**2)", "log(1 + p)", "tanh(y)", "p/(p + q)",
        "atan(x)", "minimum(x, y)", "sqrt(1 + x**2)", "exp(x) - x", "2 + sign(y)", "p**x", "cosh(x)")  # fmt: skip


def random_matrix(source: random.Random) -> Matrix:
    """Return a symmetric matrix of entries of the pool; half of them nearly u u.T."""
    n = source.choice((2, 2, 3))
    entries = {(i, j): source.choice(POOL) for i in range(n) for j in range(i, n)}
    if source.random() < 0.5:
        u = [source.choice(POOL) for _ in range(n)]
        extra = source.choice(("0", "x**2", "p", "1", "exp(y)", "-1/100", "p - q/4", "abs(x) - x"))
        entries = {(i, j): f"({u[i]})*({u[j]})" + (f" + {extra}" if i == j else "") for i, j in entries}
    rows = tuple(tuple(entries[min(i, j), max(i, j)] for j in range(n)) for i in range(n))
    return Matrix("random", rows, True, positive="p q", real="x y")


FUNCTIONS = {
    "sqrt": np.sqrt, "abs": abs, "exp": np.exp, "sin": np.sin, "cos": np.cos, "log": np.log, "tanh": np.tanh,
    "atan": np.arctan, "minimum": min, "sign": np.sign, "cosh": np.cosh,
}  # fmt: skip


def least(matrix: Matrix, at: dict[str, float]) -> float:
    """Return the smallest eigenvalue at a point, by Python's own arithmetic on the text."""
    values = [[eval(x, {"__builtins__": {}}, {**FUNCTIONS, **at}) for x in row] for row in matrix.rows]
    return float(np.linalg.eigvalsh(np.array(values, dtype=float))[0])


def contradicted(matrix: Matrix, found: Answer, source: random.Random) -> str:
    """Return how numbers contradict a verdict; empty if they do not."""
    if isinstance(found.decision, Proved):
        for _ in range(60):
            at = {name: source.gauss(0, 2) for name in "xy"} | {name: abs(source.gauss(0, 2)) + 1e-3 for name in "pq"}
            if least(matrix, at) < -1e-7 * max(1.0, max(map(abs, at.values())) ** 4):
                return f"proved, but negative at {at}"
    if isinstance(found.decision, Refuted):
        at = {"x": 1.0, "y": 1.0, "p": 1.0, "q": 1.0}
        at |= {name: float(Fraction(v)) for name, v in found.decision.witness if name in at}
        value = least(matrix, at)
        if not value < 0 and math.isfinite(value):
            return f"refuted, but {value} at {at}"
    return ""


@pytest.mark.slow
def test_random_matrices_are_never_decided_wrongly() -> None:
    source = random.Random(7)
    verdicts: list[Verdict] = []
    for _ in range(60):
        matrix = random_matrix(source)
        found = decide(matrix)
        verdicts.append(found.verdict)
        assert contradicted(matrix, found, source) == "", matrix.rows
    assert verdicts.count(Verdict.PROVED) >= 5
    assert verdicts.count(Verdict.REFUTED) >= 20
