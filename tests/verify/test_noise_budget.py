"""Limits of a noise budget against eigenvalues, roots and matrix exponentials of NumPy and SciPy.

Verdicts and words are in `documents/verify/noise_budget.yaml`.
"""

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
import sympy
from answers import answer, document, expect, saved, vector
from flint import fmpq, fmpq_mat
from scipy.linalg import expm
from scipy.optimize import brentq
from some import some

from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction, violates_exactly
from recipe_compiler.formula.shapes import Kind

BUILD = """
name: b
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/logistic_regression.yaml
bind: {BIND}
parameters: {VALUES}
scheme: SCHEME
variant: minibatch
gradient_noise: {V: "NOISE"}
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: EPS, batch_size: 2}
"""
MATRICES = "M: {value: [[2, 1/2], [1/2, 1]]}, C: {value: [[1, 1/4], [1/4, 3]]}, "
SURD = "M: {value: [[2, 0], [0, 1]]}, C: {value: [[1, 0], [0, 2]]}, "
M, C = np.array([[2, 0.5], [0.5, 1]]), np.array([[1, 0.25], [0.25, 3]])


def built(noise, eps, bind="", values="", scheme="euler", **files):
    """Return a minibatch build; `values` may end with those of V0."""
    kind = "V0: {shape: [d, d], is: positive semidefinite, value: "
    put = {"BIND": bind, "VALUES": values.replace("V0: ", kind), "SCHEME": f"{{name: {scheme}}}", "EPS": eps}
    text = BUILD.replace("NOISE", noise)
    for name, value in put.items():
        text = text.replace(name, value)
    data = {"data.csv": "a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n"}
    return document(text, **data, **files)


def decided(*given, **more):
    """Return the answer about the budget of a build."""
    return answer(built(*given, **more), "noise_budget")


def test_full_matrices_are_decided_at_their_values():
    V = np.array([[0.5, 0.125], [0.125, 0.25]])
    limit = 2.0 / np.linalg.eigvals(np.linalg.solve(C, V)).real.max()
    values = f"{MATRICES}V0: [[1/2, 1/8], [1/8, 1/4]]}}"
    below, above = (decided("V0", f"{x * limit:.9f}", values=values) for x in (0.999999, 1.000001))
    assert float(Fraction(expect(below, "proved")["eps_max"])) == pytest.approx(limit, rel=1e-12)
    witness = expect(above, "refuted")
    v, eps = np.array(vector(witness["v"]), float), float(Fraction(witness["eps"]))
    left = v @ (2 * C - eps * V) @ v
    assert left == pytest.approx(float(Fraction(witness["v.T @ (2D - eps B_hat) @ v"])))
    assert left < 0


def test_a_value_from_a_file_is_the_exact_value_of_its_doubles(monkeypatch):
    given = {"bind": "M: I", "values": "C: {value: C.npy}", "C.npy": saved(0.1 * np.eye(2))}
    assert expect(decided("I", "0.2", **given), "proved")["eps_max"] == str(2 * Fraction(0.1))
    expect(decided("I", "0.21", **given), "refuted")
    monkeypatch.setattr("recipe_compiler.spec.npy.MANY", 3)
    expect(decided("I", "0.01", **given), "undecided", "C is read from a file")


@pytest.mark.parametrize("digits", [13, 20, 60])
def test_no_enclosure_contradicts_the_verdict(digits):
    root, values = str((2 - 2 * sympy.sqrt(3) / 3).evalf(90))[: digits + 2], f"{SURD}V0: [[2, 1], [1, 2]]}}"
    below = expect(decided("V0", root, values=values), "proved")
    above = expect(decided("V0", str(Fraction(root) + Fraction(1, 10**digits)), values=values), "refuted")
    assert Fraction(root) <= Fraction(below["where"].partition(" < ")[0])
    assert Fraction(above["where"].rpartition(" < ")[2]) <= Fraction(above["eps"])


# random matrices near the edge of their kinds, by minors

FORMULAS = {
    "C0": lambda A, one: A,
    "2*C0": lambda A, one: 2 * A,
    "C0 + I": lambda A, one: A + one,
    "C0 - I": lambda A, one: A - one,
    "C0 @ C0": lambda A, one: A * A,
    "-C0": lambda A, one: -1 * A,
    "C0 @ C0.T": lambda A, one: A * A.transpose(),
}


def near_edge(random, d):
    """Return L L.T of L of small numbers, often singular, sometimes with another number in one place."""
    numbers = [fmpq(0), fmpq(1), fmpq(-1), fmpq(2), fmpq(1, 2), fmpq(-1, 3)]
    width = max(1, d - random.randint(0, 1))
    L = fmpq_mat([[random.choice(numbers) for _ in range(width)] for _ in range(d)])
    A = L * L.transpose()
    if random.random() < 0.35:
        i, j, change = random.randrange(d), random.randrange(d), random.choice((fmpq(-1), fmpq(1, 10), fmpq(-1, 1000)))
        A[i, j] += change
        if i != j and random.random() < 0.7:
            A[j, i] += change
    return A


def is_semidefinite(A):
    at = [s for k in range(1, A.nrows() + 1) for s in combinations(range(A.nrows()), k)]
    return A.transpose() == A and all(fmpq_mat([[A[i, j] for j in s] for i in s]).det() >= 0 for s in at)


@pytest.mark.parametrize("seed", range(4))
def test_definiteness_of_rational_matrices_is_that_of_their_minors(seed):
    random = Random(seed)
    for _ in range(60):
        A = near_edge(random, random.randint(1, 4))
        rows = tuple(tuple(Fraction(int(x.p), int(x.q)) for x in row) for row in A.tolist())
        semidefinite = is_semidefinite(A)
        kinds = {Kind.PSD: semidefinite, Kind.PD: semidefinite and A.det() > 0, Kind.SYMMETRIC: A.transpose() == A}
        for kind, holds in kinds.items():
            assert bool(violates_exactly(rows, kind)) is not holds
        if kinds[Kind.SYMMETRIC]:
            v = negative_direction(rows)
            assert semidefinite if v is None else form(rows, v) < 0


@pytest.mark.parametrize("seed", some(range(40), 4))
def test_claims_at_random_matrices_are_those_of_minors(seed):
    random = Random(seed)
    C0, V, formula, eps = (
        near_edge(random, 2),
        near_edge(random, 2),
        random.choice([*FORMULAS]),
        fmpq(2, random.randint(1, 7)),
    )
    C = FORMULAS[formula](C0, fmpq_mat([[1, 0], [0, 1]]))
    stated = f"C0: {{shape: [d, d], value: {C0.tolist()}}}, V: {{shape: [d, d], value: {V.tolist()}}}".replace(
        "fmpq", ""
    )
    own = built("V", str(eps), f"M: I, C: {formula}", stated)
    holds = {
        "d_symmetric": C.transpose() == C,
        "d_psd": is_semidefinite(C),
        "bindings": is_semidefinite(C),
        "gradient_noise": is_semidefinite(V),
        "noise_budget": is_semidefinite(2 * C - eps * V),
    }
    for claim, right in holds.items():
        expect(answer(own, claim), "not refuted" if right else "not proved")


# words: whether O has the noise that is given up

LIMITS = {
    "baoab": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E**2),
    "aboba": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E**2),
    "obabo": lambda eps, E: eps**2 * (1 + E) ** 2 / 4 * 5 - 2 * (1 - E),
    "lie": lambda eps, E: eps**2 * 5 - 2 * (1 - E**2),
}


@pytest.mark.parametrize("scheme", LIMITS)
def test_multiples_of_the_identity_in_a_word_are_decided_at_every_size(scheme):
    """M = 2 I, C = 3 I, V = 5 I: Sigma_O = 2 (1 - E^2) I, E = exp(-3 eps/2); of half a step 2 (1 - E) I."""
    limit = brentq(lambda eps: LIMITS[scheme](eps, np.exp(-1.5 * eps)), 1e-3, 5.0, xtol=1e-12)
    scaled = "M: m*I, C: c*I", "m: {is: positive, value: 2}, c: {is: nonnegative, value: 3}", scheme
    steps = {f"{0.99999 * limit:.8f}": True, f"{1.00001 * limit:.8f}": False, "0.01": True, "7": False}
    for eps, holds in steps.items():
        shown = expect(decided("5*I", eps, *scaled), "proved" if holds else "refuted")
        low, high = (float(Fraction(shown[name])) for name in ("holds at", "fails at"))
        assert low <= limit * (1 + 1e-9) < high * (1 + 2e-9)
        assert high / low < 1.0002


def test_full_matrices_in_a_word_are_decided_at_their_values():
    V = np.array([[5.0, 2.0], [2.0, 3.0]])

    def left(eps):
        """Return what is left of the noise of O in BAOAB."""
        E = expm(-eps * C @ np.linalg.inv(M))
        K = (np.eye(2) + E) / 2
        return M - E @ M @ E.T - eps**2 * K @ V @ K.T

    limit = brentq(lambda eps: float(np.linalg.eigvalsh(left(eps))[0]), 0.05, 2.0, xtol=1e-12)
    given = {"values": f"{MATRICES}V0: [[5, 2], [2, 3]]}}", "scheme": "baoab"}
    below = expect(decided("V0", f"{0.9999 * limit:.8f}", **given), "proved")
    assert float(Fraction(below["holds at"])) < limit * (1 + 1e-6)
    assert limit * (1 - 1e-6) < float(Fraction(below["fails at"]))
    above = expect(decided("V0", f"{1.0001 * limit:.8f}", **given), "refuted")
    assert above["v.T @ (Sigma - eps^2 B_hat) @ v"].startswith("< -")
    v = np.array(vector(above["v"]), float)
    assert v @ left(1.0001 * limit) @ v < 0
