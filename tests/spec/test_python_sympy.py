"""Dynamics stated with SymPy's own objects: entries of products, sums over axes, assumptions of symbols."""

import textwrap
from pathlib import Path

import pytest
import sympy
from sympy.matrices.expressions.dotproduct import DotProduct

from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.declaring import matrix, scalar
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.symbolic import tree_of
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.spec.python import state_dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Verdict

d = sympy.Symbol("d", integer=True, positive=True)
i, j = sympy.symbols("i j", integer=True)
p, theta = sympy.MatrixSymbol("p", d, 1), sympy.MatrixSymbol("theta", d, 1)
M, A = sympy.MatrixSymbol("M", d, d), sympy.MatrixSymbol("A", d, d)
c = sympy.Symbol("c", positive=True)
DECLARED = Declarations(
    (Block("p", Shape("d")), Block("theta", Shape("d"))),
    (Parameter("M", Shape("d", "d")), Parameter("A", Shape("d", "d")), Parameter("c", kinds=(Kind.POSITIVE,))),
)
ALL = (0, d - 1)


def tensor(formula: object):
    typed = elaborate(tree_of(formula), Scope(DECLARED), SCALAR, "H", Place("python"))
    return convert(typed, DECLARED)


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        ((p.T * M.I * p)[0, 0] / 2, "p.T @ inv(M) @ p/2"),
        ((p.T * M * A * theta)[0, 0], "p.T @ M @ A @ theta"),
        ((p.T * M * A.T * theta)[0, 0], "p.T @ M @ A.T @ theta"),
        (sympy.Sum(theta[i, 0] ** 2, (i, *ALL)), "norm2(theta)"),
        (sympy.Sum(c * sympy.cos(c * theta[i, 0] + 1) * p[i, 0], (i, *ALL)), "c*sum(cos(c*theta + ones)*p)"),
        (sympy.Sum(M[i, j] * A[j, i], (i, *ALL), (j, *ALL)), "trace(M @ A)"),
        (sympy.Sum(M[i, j] * A[i, j], (i, *ALL), (j, *ALL)), "trace(M @ A.T)"),
        (sympy.Sum(M[i, i] * p[i, 0], (i, *ALL)), "trace(M @ diag(p))"),
        (sympy.Sum(M[i, j] * p[j, 0], (i, *ALL), (j, *ALL)), "sum(M @ p)"),
        (sympy.Sum(sympy.exp(sympy.Sum(M[i, j] * p[j, 0], (j, *ALL))), (i, *ALL)), "sum(exp(M @ p))"),
        (sympy.Sum(c, (i, *ALL)), "c*d"),
        (sympy.Sum(c * i, (i, 1, 3)), "6*c"),
        (sympy.Trace(M * A) + sympy.Determinant(M), "trace(M @ A) + det(M)"),
        (sympy.Trace(sympy.HadamardProduct(p, theta) * p.T), "trace((p*theta) @ p.T)"),
        (DotProduct(theta, p), "dot(theta, p)"),
    ],
    ids=str,
)
def test_sums_and_entries_are_matrix_products(obj: sympy.Basic, text: str) -> None:
    c = calculus(DECLARED)
    assert c.is_zero(c.subtract(tensor(obj), tensor(text)))


def test_a_transposed_factor_is_another_sum() -> None:
    c = calculus(DECLARED)
    assert not c.is_zero(c.subtract(tensor((p.T * M * A * theta)[0, 0]), tensor("p.T @ M.T @ A @ theta")))


@pytest.mark.parametrize(
    ("obj", "says"),
    [
        (sympy.Sum(theta[i, 0], (i, 1, d - 1)), "expected the whole axis"),
        (sympy.Sum(theta[i, 0], (i, 0, d)), "expected the whole axis"),
        (sympy.Sum(c**i, (i, 0, 10**8)), "1 to 1000 terms"),
        (sympy.Sum(M[i, j] * A[i, j] * M[j, i], (i, *ALL), (j, *ALL)), "no matrix product"),
        (sympy.Sum(i * theta[i, 0], (i, *ALL)), "expected entries and functions of them"),
    ],
    ids=str,
)
def test_other_sums_are_refused(obj: sympy.Basic, says: str) -> None:
    with pytest.raises(DocumentError) as error:
        tensor(obj)
    assert says in error.value.faults[0].problem


def _langevin(*parameters: object, H: object, state: object = theta):
    zero, identity = sympy.ZeroMatrix(d, d), sympy.Identity(d)
    Q = sympy.BlockMatrix([[zero, -identity], [identity, zero]])
    return state_dynamics(
        name="langevin", state=[state, p], H=H, D=[[0, 0], [0, c * identity]], Q=Q, parameters=[*parameters]
    )


@pytest.mark.slow
def test_a_declaration_says_what_a_matrix_symbol_cannot() -> None:
    U = sympy.Function("U")(theta)
    stated = _langevin(matrix("M", "d", "d", is_="positive definite"), H=U + (p.T * M.I * p)[0, 0] / 2)
    assert {item.name: item.kinds for item in stated.declarations.parameters} == {
        "M": (Kind.PD,),
        "c": (Kind.POSITIVE,),
    }
    found = {finding.id: finding.verdict for finding in check(stated).findings}
    assert (found["d_psd"], found["stationary"]) == (Verdict.PROVED, Verdict.PROVED)


@pytest.mark.parametrize(
    ("assumption", "says"), [("negative", "negative"), ("integer", "integer"), ("imaginary", "imaginary")]
)
def test_an_assumption_that_would_be_lost_is_a_fault(assumption: str, says: str) -> None:
    a = sympy.Symbol("a", **{assumption: True})
    with pytest.raises(DocumentError, match=f"found a symbol that is {says}"):
        _langevin(H=a * (p.T * p)[0, 0] + (theta.T * theta)[0, 0])


def test_a_declaration_must_include_what_a_symbol_says() -> None:
    H = c * (p.T * p)[0, 0] + (theta.T * theta)[0, 0]
    assert _langevin(scalar("c", is_="positive"), H=H).declarations.parameters[0].kinds == (Kind.POSITIVE,)
    with pytest.raises(DocumentError, match="symbol of SymPy's that is positive"):
        _langevin(scalar("c"), H=H)


@pytest.mark.slow
def test_block_matrices_in_yaml_are_read_as_sympy_prints_them(tmp_path: Path) -> None:
    text = """
        name: printed
        state: {x: {}, y: {}}
        H: x**2/2 + x**4/4 + y**2/2
        D: Matrix([[2, 1], [1, 1]])
        Q: "Matrix([\\n[0, -1],\\n[1, 0]])"
    """
    path = tmp_path / "printed.yaml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    plain = tmp_path / "plain.yaml"
    plain.write_text(textwrap.dedent(text).replace("Matrix(", "").replace("]])", "]]"), encoding="utf-8")
    printed = load(path)
    assert printed == load(plain)
    assert check(printed).verdict is Verdict.PROVED
