"""Random skew Q: the drift they give is stated without them, and some Q that gives it is found and proved."""

import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from loaders import load_dynamics

from recipe_compiler.verdict import Answer, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.recover.recovered_q import recovered_q

X = sp.symbols("x y z", real=True)
x, y, z = X
MONOMIALS = (sp.Integer(1), x, y, z, x * y, y * z, x**2, z**2, x**3, x * y * z, y**2 * z)
TERMS = (*MONOMIALS, sp.sin(x), sp.exp(-y), x * sp.cos(z))
ENTRY = st.dictionaries(st.sampled_from(TERMS), st.integers(-3, 3), max_size=2).map(
    lambda found: sp.Add(*[n * term for term, n in found.items()])
)
ENERGY = st.sampled_from(
    (
        x**2 / 2 + y**2 / 2 + z**2 / 2,
        x**4 / 4 + y**2 + z**2 / 2 + x * z / 2,
        x**2 / 2 + y**2 / 2 + z**2 * (1 + x**2) / 2,
    )
)
NOISE = st.sampled_from((sp.diag(0, 0, 0), sp.diag(1, 0, 2), sp.Matrix([[1, x, 0], [x, x**2, 0], [0, 0, 1 + y**2]])))


def asked(body: str) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.yaml"
        path.write_text(body, encoding="utf-8")
        dynamics = load_dynamics(path)
    return recovered_q(subject_of(dynamics))


def drift(H: sp.Expr, D: sp.Matrix, Q: sp.Matrix) -> list[sp.Expr]:
    """Return the recipe's drift, expanded, so that Q does not stand in it as it is."""
    A = D + Q
    return [sp.expand(sum(sp.diff(A[i, j], X[j]) - A[i, j] * sp.diff(H, X[j]) for j in range(3))) for i in range(3)]


def skew(a: sp.Expr, b: sp.Expr, c: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[0, a, b], [-a, 0, c], [-b, -c, 0]])


def document(H: sp.Expr, D: sp.Matrix, f: list[sp.Expr]) -> str:
    rows = ", ".join("[" + ", ".join(f'"{entry}"' for entry in D.row(i)) + "]" for i in range(3))
    claims = "".join(f'\n    {name}: "{entry}"' for name, entry in zip(X, f, strict=True))
    return f"name: random\nstate: {{x: {{}}, y: {{}}, z: {{}}}}\nH: {H}\nD: [{rows}]\nclaims:\n  drift:{claims}\n"


def is_found(H: sp.Expr, D: sp.Matrix, a: sp.Expr, b: sp.Expr, c: sp.Expr) -> None:
    found = asked(document(H, D, drift(H, D, skew(a, b, c))))
    assert found.verdict is Verdict.PROVED, found.decision


def is_not_found(H: sp.Expr, D: sp.Matrix, a: sp.Expr, b: sp.Expr, wrong: sp.Expr) -> None:
    f = drift(H, D, skew(a, b, sp.Integer(0)))
    f[0] = f[0] + wrong
    left = sp.expand(sp.diff(wrong, x) - wrong * sp.diff(H, x))
    assume(any(left.subs({x: 2, y: 3, z: k}).evalf(40) != 0 for k in (1, 5)))
    assert asked(document(H, D, f)).verdict is not Verdict.PROVED


@pytest.mark.slow
@given(ENERGY, NOISE, ENTRY, ENTRY, ENTRY)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_a_random_q_in_three_dimensions_is_found(H: sp.Expr, D: sp.Matrix, a: sp.Expr, b: sp.Expr, c: sp.Expr) -> None:
    is_found(H, D, a, b, c)


@pytest.mark.slow
@given(ENERGY, NOISE, ENTRY, ENTRY, ENTRY)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_no_q_is_proved_for_a_drift_that_is_not_stationary(
    H: sp.Expr, D: sp.Matrix, a: sp.Expr, b: sp.Expr, wrong: sp.Expr
) -> None:
    is_not_found(H, D, a, b, wrong)


@pytest.mark.slow
@given(ENERGY, NOISE, ENTRY, ENTRY, ENTRY)
@settings(max_examples=100, deadline=None)
def test_many_random_q_are_found(H: sp.Expr, D: sp.Matrix, a: sp.Expr, b: sp.Expr, c: sp.Expr) -> None:
    is_found(H, D, a, b, c)


@pytest.mark.slow
@given(ENERGY, NOISE, ENTRY, ENTRY, ENTRY)
@settings(max_examples=100, deadline=None)
def test_no_q_is_proved_for_many_wrong_drifts(H: sp.Expr, D: sp.Matrix, a: sp.Expr, b: sp.Expr, wrong: sp.Expr) -> None:
    is_not_found(H, D, a, b, wrong)


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


def sized(parts: dict[int, Fraction], extra: str = "") -> str:
    terms: dict[str, list[str]] = {name: [] for name in BLOCKS}
    terms["r"].append("-A*r" + extra)
    for n, number in parts.items():
        for block, formula in PIECES[n].items():
            terms[block].append(f"({number})*({formula})")
    zeros = {"xi": "0"}
    lines = "".join(f'\n    {b}: "{" + ".join(terms[b]) or zeros.get(b, "0")}"' for b in BLOCKS)
    return f"{STATE}claims:\n  drift:{lines}\n"


PARTS = st.dictionaries(
    st.integers(0, len(PIECES) - 1),
    st.sampled_from([Fraction(n) for n in (-2, -1, 1, 3)] + [Fraction(1, 3)]),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@given(PARTS)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_a_random_q_of_every_size_is_found(parts: dict[int, Fraction]) -> None:
    found = asked(sized(parts))
    assert found.verdict is Verdict.PROVED, found.decision
    assert found.for_d == "all"


@pytest.mark.slow
@given(PARTS, st.sampled_from([" + r/d", " - A*theta", " + K @ theta", " + xi*grad(U, theta)"]))
@settings(max_examples=6, deadline=None, derandomize=True)
def test_no_q_of_every_size_is_proved_for_a_wrong_drift(parts: dict[int, Fraction], extra: str) -> None:
    assert asked(sized(parts, extra)).verdict is Verdict.REFUTED


@pytest.mark.slow
@given(PARTS)
@settings(max_examples=60, deadline=None)
def test_many_random_q_of_every_size_are_found(parts: dict[int, Fraction]) -> None:
    found = asked(sized(parts))
    assert found.verdict is Verdict.PROVED, found.decision
