"""Matrices whose positive semidefiniteness is known, of every difficulty: right verdicts, in time, and certificates.

Each is a document: D over n scalar blocks, all names declared as parameters.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loaders import load_dynamics
from processor_time import ends
from some import some

from recipe_compiler import recheck
from recipe_compiler.report.as_json import make_certificate
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.equation.d_psd import d_psd


def gram(b: list[list[str]], plus: str = "0") -> str:
    """Return B B.T + plus * I, entry by entry, not multiplied out."""
    n = range(len(b))
    products = [[" + ".join(f"({x})*({y})" for x, y in zip(b[i], b[j], strict=True)) for j in n] for i in n]
    return "; ".join(
        ", ".join(e + f" + {plus}" * (i == j) for j, e in enumerate(row)) for i, row in enumerate(products)
    )


def thin(n: int) -> str:
    """Return B B.T + I with Gram matrices that have no interior."""
    return gram([[f"{i + 1}*x**{(i + j) % 3} + ({j - i})*y + {(i * j) % 3}" for j in range(n)] for i in range(n)], "1")


RHO = "1 - rho**2 >= 0"
TRUE: list[tuple[str, str, str]] = [
    ("A", "A", ""),
    ("a, 0; 0, b", "a b", ""),
    ("1, x; x, x**2", "", ""),
    (gram([["a1", "a2", "a3"], ["a4", "a5", "a6"], ["a7", "a8", "a9"]]), "", ""),
    ("1 + x**2, x; x, 1", "", ""),
    ("x**4 + 1, x**2*y; x**2*y, y**2 + 1", "", ""),
    ("1/(1 + x**2), rho/(1 + x**2); rho/(1 + x**2), 1/(1 + x**2)", "", RHO),
    ("exp(x), 1; 1, exp(-x)", "", ""),
    ("sqrt(1 + x**2), x; x, sqrt(1 + x**2)", "", ""),
    ("abs(x), x; x, abs(x)", "", ""),
    ("3/2*sqrt(abs(x**4 - 2*x**2 + 1/2))", "", ""),
    ("p - p**2, -p*q; -p*q, q - q**2", "p q", "1 - p - q >= 0"),  # a multinomial's covariance
    ("p - p**2, -p*q, -p*r; -p*q, q - q**2, -q*r; -p*r, -q*r, r - r**2", "p q r", "1 - p - q - r >= 0"),
    ("a - a**2/(a + b), -a*b/(a + b); -a*b/(a + b), b - b**2/(a + b)", "a b", ""),  # Wright and Fisher
    ("x**2 + 2*z**2, -x*y, -x*z; -x*y, y**2 + 2*x**2, -y*z; -x*z, -y*z, z**2 + 2*y**2", "", ""),  # Choi: none either
    ("2, sin(x); sin(x), 1", "", ""),
    ("a, rho*sqrt(a*b); rho*sqrt(a*b), b", "a b", RHO),
    (gram([["1 + x", "y", "x*y"], ["x - y", "2", "x**2"], ["0", "y + 1", "1"]]), "", ""),
    ("exp(x) - 1 - x", "", ""),
    ("1, x; x, x**2 + 1/1000000", "", ""),
    ("2 - x**2, x; x, 2 - x**2", "", "1 - x**2 >= 0"),
    *((thin(n), "", "") for n in range(2, 7)),
]
FALSE: list[tuple[str, str, str]] = [
    ("1, x; x, 1", "", ""),
    ("(x - 1)**2 + (y - 2)**2 - 1/1000, 0; 0, 1", "", ""),  # a small disc
    ("1, x; x, x**2 + (x - 3)**2 - 1/1000000", "", ""),  # a thin interval
    ("0, 0; 0, -1", "", ""),
    ("0, 1; 1, x", "", ""),
    ("x, 0; 0, 1", "", ""),
    ("0, sqrt(s)*B; A, 0", "s A B", ""),
    ("2*c - e*b, -e*u; -e*u, 2*k - e*v", "c k e b v", ""),  # noise over budget
    ("exp(x) - 1 - x - 1/100", "", ""),
    ("(x - 1000)**2*10000 + (y + 777)**2 - 1/10", "", ""),  # a far needle
]


def read(folder: Path, rows: str, positive: str = "", assume: str = "") -> Dynamics:
    """Return the dynamics with a matrix D; names that are not positive are real."""
    matrix = [row.split(", ") for row in rows.split("; ")]
    names = sorted({*re.findall(r"\b[a-zA-Z]\w*\b(?!\()", rows + assume)})
    declared = {name: "{is: positive}" if name in positive.split() else "{}" for name in names}
    D = ", ".join("[" + ", ".join(f'"{entry}"' for entry in row) + "]" for row in matrix)
    zero = ", ".join("[" + ", ".join("0" for _ in matrix) + "]" for _ in matrix)
    lines = {
        "name": "corpus",
        "state": f"{{{', '.join(f'state{k}: {{}}' for k in range(len(matrix)))}}}",
        "parameters": f"{{{', '.join(f'{name}: {kind}' for name, kind in declared.items())}}}",
        "assume": f"['{assume}']" if assume else "[]",
        "H": "0",
        "D": f"[{D}]",
        "Q": f"[{zero}]",
    }
    path = folder / "corpus.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in lines.items()), encoding="utf-8")
    return load_dynamics(path)


def verdict(dynamics: Dynamics) -> Verdict:
    return d_psd(prepare_subject(dynamics)).verdict


CASES = [*((*row, Verdict.PROVED) for row in TRUE), *((*row, Verdict.REFUTED) for row in FALSE)]


@pytest.mark.parametrize(("rows", "positive", "assume", "expected"), some(CASES, 2))
def test_the_verdict_is_right_and_in_time(
    tmp_path: Path, rows: str, positive: str, assume: str, expected: Verdict
) -> None:
    with ends():
        assert verdict(read(tmp_path, rows, positive, assume)) is expected


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "positive", "assume"), [TRUE[3], TRUE[11], TRUE[12], TRUE[17], *TRUE[21:25]])
def test_a_sum_of_squares_is_one(tmp_path: Path, rows: str, positive: str, assume: str) -> None:
    dynamics = read(tmp_path, rows, positive, assume)
    says = dict(recheck.recheck(make_certificate(dynamics, check(dynamics))))
    assert says["d_psd"].endswith("Gram matrices exactly")


MONOMIALS = ("1", "x", "y", "x*y", "x**2")
POLYNOMIAL = st.lists(st.integers(-2, 2), min_size=5, max_size=5).map(
    lambda c: " + ".join(f"({n})*{m}" for n, m in zip(c, MONOMIALS, strict=True) if n) or "0"
)
COLUMNS = st.integers(2, 3).flatmap(
    lambda n: st.lists(st.lists(POLYNOMIAL, min_size=n - 1, max_size=n - 1), min_size=n, max_size=n)
)


@pytest.mark.slow
@given(COLUMNS, st.integers(-3, 3), st.integers(-3, 3), st.sampled_from(["1", "1/10", "1/1000"]))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_a_planted_negative_direction_is_never_proved(
    tmp_path_factory: pytest.TempPathFactory, b: list[list[str]], x: int, y: int, depth: str
) -> None:
    """B has fewer columns than rows: at (x, y) some v is orthogonal to them, and there v.T M v = -depth |v|**2."""
    negative = gram(b, f"(x - ({x}))**2 + (y - ({y}))**2 - {depth}")
    folder = tmp_path_factory.mktemp("planted")
    assert verdict(read(folder, negative)) is not Verdict.PROVED
    assert verdict(read(folder, gram(b, "(x - y)**2"))) is not Verdict.REFUTED
