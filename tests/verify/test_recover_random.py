"""Random skew Q: the drift they give is stated without them, and some Q that gives it is found and proved."""

from fractions import Fraction

import pytest
import sympy as sp
from answers import answer, document, expect
from hypothesis import assume, given, settings
from hypothesis import strategies as st

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


def drift(H, D, Q):
    """Return the recipe's drift, expanded, so that Q does not stand in it as it is."""
    A = D + Q
    return [sp.expand(sum(sp.diff(A[i, j], X[j]) - A[i, j] * sp.diff(H, X[j]) for j in range(3))) for i in range(3)]


def found(H, D, f):
    rows = [[str(entry) for entry in D.row(i)] for i in range(3)]
    claims = {str(name): str(entry) for name, entry in zip(X, f, strict=True)}
    return answer(
        document(f"state: {{x: {{}}, y: {{}}, z: {{}}}}\nH: {H}\nD: {rows}\nclaims: {{drift: {claims}}}\n"),
        "recovered_q",
    )


def skew(a, b, c):
    return sp.Matrix([[0, a, b], [-a, 0, c], [-b, -c, 0]])


def check_found(H, D, a, b, c):
    expect(found(H, D, drift(H, D, skew(a, b, c))), "proved")


def check_not_found(H, D, a, b, wrong):
    f = drift(H, D, skew(a, b, sp.Integer(0)))
    f[0] = f[0] + wrong
    left = sp.expand(sp.diff(wrong, x) - wrong * sp.diff(H, x))
    assume(any(left.subs({x: 2, y: 3, z: k}).evalf(40) != 0 for k in (1, 5)))
    expect(found(H, D, f), "not proved")


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


def check_sized(parts):
    own = sized(parts)
    expect(own, "proved")
    assert own.for_d == "all"


def check_wrong_size(parts, extra):
    expect(sized(parts, extra), "refuted")


PARTS = st.dictionaries(
    st.integers(0, len(PIECES) - 1),
    st.sampled_from([Fraction(n) for n in (-2, -1, 1, 3)] + [Fraction(1, 3)]),
    min_size=1,
    max_size=4,
)
EXTRA = st.sampled_from([" + r/d", " - A*theta", " + K @ theta", " + xi*grad(U, theta)"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "of", "few", "many"),
    [
        (check_found, (ENERGY, NOISE, ENTRY, ENTRY, ENTRY), 8, 100),
        (check_not_found, (ENERGY, NOISE, ENTRY, ENTRY, ENTRY), 8, 100),
        (check_sized, (PARTS,), 8, 60),
        (check_wrong_size, (PARTS, EXTRA), 6, 6),
    ],
)
@pytest.mark.parametrize("is_random", [False, True])
def test_a_random_q_is_found_and_none_for_a_drift_that_is_not_stationary(check, of, few, many, is_random):
    """The same few each time, and others each time."""
    settings(max_examples=many if is_random else few, deadline=None, derandomize=not is_random)(given(*of)(check))()
