"""Hessians of sums over coordinates are the diagonals that they are said to be; nothing else is said to be one."""

from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.transposes import diagonal_hessian
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Verdict

TEXT = """
name: mirror
state: {{x: {{shape: d, domain: positive}}, y: {{shape: d}}}}
parameters: {{a: {{shape: d}}, b: {{}}, A: {{shape: [d, d], is: positive definite}}}}
H: sum(x) + norm2(y)/2
D: [["{D}", 0], [0, I]]
Q: [[0, 0], [0, 0]]
"""


def read(at: Path, D: str) -> Dynamics:
    (at / "mirror.yaml").write_text(TEXT.format(D=D), encoding="utf-8")
    return load_dynamics(at / "mirror.yaml")


@pytest.mark.parametrize(
    "f",
    [
        "sum(x*log(x))",
        "sum(x**4) - b*sum(a*x**3) + b**2*sum(a)",
        "sum(a*exp(b*x))/2 - sum(log(x + exp(x)))",
        "sum(sqrt(ones + x**2)) + sum(x*x*x)",
        "sum(log(x))*b - sum(x**(-2)) + sum(x)",
        "sum(a*x)",
    ],
)
def test_the_diagonal_is_the_hessian(tmp_path: Path, f: str) -> None:
    document = read(tmp_path, f"hessian({f}, x)")
    assert document.D is not None
    written = document.D[0][0]
    found = diagonal_hessian(written)
    assert found is not None
    setting = Setting(document.declarations, {"d": 3})
    pairs = zip(rows(written, setting), rows(found, setting), strict=True)
    assert all(is_zero(x - z) for left, right in pairs for x, z in zip(left, right, strict=True))


@pytest.mark.parametrize(
    "f", ["sum(x)**2", "x.T @ A @ x", "sum(x)*sum(x*log(x))", "sum(x**2*y)", "sum((A @ x)**2)", "sum(x[0]*x)"]
)
def test_what_couples_coordinates_is_no_diagonal(tmp_path: Path, f: str) -> None:
    document = read(tmp_path, f"hessian({f}, x)")
    assert document.D is not None
    assert diagonal_hessian(document.D[0][0]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("D", "verdict"),
    [
        ("inv(hessian(sum(x*log(x)), x))", Verdict.PROVED),
        ("inv(hessian(-sum(log(x)), x))", Verdict.PROVED),
        ("inv(hessian(sum(x*log(x)) - sum(x**2), x))", Verdict.UNDECIDED),
        ("-inv(hessian(sum(x*log(x)), x))", Verdict.REFUTED),
    ],
)
def test_mirror_metrics(tmp_path: Path, D: str, verdict: Verdict) -> None:
    found = {finding.id: finding for finding in check(read(tmp_path, D)).findings}
    assert (found["d_psd"].verdict is Verdict.PROVED) == (verdict is Verdict.PROVED)
    assert (found["stationary"].verdict is Verdict.UNDECIDED) == (verdict is Verdict.UNDECIDED)
    assert verdict is not Verdict.REFUTED or found["d_psd"].verdict is Verdict.REFUTED
