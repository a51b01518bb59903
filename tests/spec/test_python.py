"""Dynamics from Python, and of SymPy's own objects, are the dynamics from YAML."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from answers import answer, shipped
from sympy.matrices.expressions.dotproduct import DotProduct

from recipe_compiler.errors import DocumentError, ModelError, Place, SpecError
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.declaring import I, function, matrix, scalar, vector
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.symbolic import tree_of
from recipe_compiler.formula.units import base
from recipe_compiler.front.dynamics import Dynamics
from recipe_compiler.report.check import check
from recipe_compiler.spec import model
from recipe_compiler.spec.load import load
from recipe_compiler.spec.places import digest
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert


def state_dynamics(**stated: Any) -> model.Dynamics:
    return Dynamics(**stated).document


def sghmc(**changes: object) -> model.Dynamics:
    theta, r = vector("theta", "d"), vector("r", "d")
    M = matrix("M", "d", "d", is_="positive definite")
    C = matrix("C", "d", "d", is_="positive semidefinite")
    U = function("U", of=theta, role="potential")
    stated = {
        "name": "sghmc",
        "state": [theta, r],
        "H": U + r.T @ "inv(M)" @ r / 2,
        "D": [[0, 0], [0, C]],
        "Q": [[0, -I], [I, 0]],
        "parameters": [M],
        "claims": {"drift": {"theta": "inv(M) @ r", r: "-grad(U, theta) - C @ inv(M) @ r"}, "marginal": {theta: U}},
    }
    return state_dynamics(**{**stated, **changes})


def test_both_doors_lead_to_the_same_dynamics() -> None:
    ours, theirs = sghmc(), shipped("dynamics/sghmc")
    assert (ours.H, ours.D, ours.Q, ours.claims) == (theirs.H, theirs.D, theirs.Q, theirs.claims)
    assert ours.declarations.blocks == theirs.declarations.blocks
    assert set(ours.declarations.parameters) == set(theirs.declarations.parameters)
    assert ours.declarations.functions == theirs.declarations.functions


def test_faults_are_gathered_at_the_line_of_the_statement() -> None:
    with pytest.raises(SpecError) as caught:
        sghmc(name="a b", H="thta", D=[[0, 0], [0, 3]], Q=[[0]], claims={"drft": {}})
    faults = caught.value.faults
    assert {fault.entry for fault in faults} == {"name", "H", "D[r,r]", "Q", "claims.drft"}
    assert {fault.where.file for fault in faults} == {__file__}
    assert next(fault for fault in faults if fault.entry == "H").hint == "did you mean `theta`?"


@pytest.mark.parametrize(
    ("changes", "entry", "part"),
    [
        ({"state": []}, "state", "no blocks"),
        ({"state": ["theta"]}, "state", "a name with its shape"),
        ({"state": [matrix("theta", "K", "d")]}, "state.theta", "scalar or a column"),
        ({"D": None}, "D", "no `D`"),
        ({"claims": {"drift": {"theta": "r"}}}, "claims.drift", "no drift of `r`"),
        ({"claims": {"drift": {"q": "r"}}}, "claims.drift.q", "a block of the state"),
        ({"claims": {"interpretation": "Ito"}}, "claims.interpretation", "stratonovich"),
        ({"H": object()}, "H", "object"),
        ({"potential": "V"}, "potential", "no function `V`"),
        ({"parameters": [matrix("d", 2, 2)]}, "parameters.d", "already a size"),
        ({"H": 10**5000}, "H", "a number beyond 10**400"),
        ({"H": Fraction(1, 10**5000)}, "H", "or of such a denominator"),
        ({"H": sympy.Integer(10**5000)}, "H", "a number beyond 10**400"),
        ({"H": np.longdouble("0.1")}, "H", "numpy.longdouble"),
        ({"units": {"y": "length"}}, "units", "found `y`, expected a block, parameter or function"),
        ({"units": {"theta": "length + 1"}}, "units", "expected a unit"),
    ],
)
def test_a_fault_names_its_entry(changes: dict[str, object], entry: str, part: str) -> None:
    with pytest.raises((ModelError, SpecError)) as caught:
        sghmc(**changes)
    assert any(part in fault.problem for fault in caught.value.faults if fault.entry.startswith(entry))


@pytest.mark.parametrize(("base", "value"), [(float, 2.5), (int, 3)])
def test_a_number_is_what_it_is_and_not_what_it_prints(base: type, value: float) -> None:
    printed = type("Printed", (base,), {"__str__": lambda _: "-7", "__repr__": lambda _: "-7"})
    x = scalar("x")
    made = [state_dynamics(name="k", state=[x], H=x**2, D=D, Q=0).D for D in (printed(value), value)]
    assert made[0] == made[1]


def test_a_python_file_is_loaded_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from recipe_compiler import Dynamics, I, vector\nx = vector('x', 'd')\n"
        "a = Dynamics(name='a', state=[x], H=x.T @ x, D=[[I]], Q=[[0]])\n"
        "b = Dynamics(name='b', state=[x], H=2*x.T @ x, D=[[I]], Q=[[0]])\n"
    )
    b = load(tmp_path / "mine.py", "b")
    assert (b.name, b.source.file, b.source.place("H").line) == ("b", str(tmp_path / "mine.py"), 4)
    assert digest(b) != digest(load(tmp_path / "mine.py", "a"))
    with pytest.raises(SpecError, match="found the dynamics a, b, expected the name of one"):
        load(tmp_path / "mine.py")
    with pytest.raises(SpecError, match="expected dynamics called `c`"):
        load(tmp_path / "mine.py", "c")
    (tmp_path / "mine.py").write_text("x = 1\ny = x / 0\n")
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "mine.py")
    assert (caught.value.faults[0].where.line, "ZeroDivisionError" in caught.value.faults[0].problem) == (2, True)


def test_units_are_declared_as_in_yaml() -> None:
    x, k = scalar("x"), scalar("k", is_="positive")
    stated: dict[str, Any] = {"name": "spring", "state": [x], "H": k * x**2 / 2, "D": [[1]], "Q": [[0]]}
    measured = state_dynamics(**stated, units={"x": "length", "k": "length**(-2)"})
    assert measured.units == (("x", base("length")), ("k", base("length") ** Fraction(-2)))
    assert digest(state_dynamics(**stated)) != digest(measured)


# SymPy's own objects: entries of products, sums over axes, assumptions of symbols.

d = sympy.Symbol("d", integer=True, positive=True)
i, j = sympy.symbols("i j", integer=True)
p, theta = sympy.MatrixSymbol("p", d, 1), sympy.MatrixSymbol("theta", d, 1)
M, A = sympy.MatrixSymbol("M", d, d), sympy.MatrixSymbol("A", d, d)
c = sympy.Symbol("c", positive=True)
DECLARED = Declarations(
    (Block("p", Shape("d")), Block("theta", Shape("d"))),
    (Parameter("M", Shape("d", "d")), Parameter("A", Shape("d", "d")), Parameter("c", kinds=(Kind.POSITIVE,))),
)
ALL, BOTH = (0, d - 1), ((i, 0, d - 1), (j, 0, d - 1))


def tensor(formula: object) -> Any:
    return convert(elaborate(tree_of(formula), Scope(DECLARED), SCALAR, "H", Place("python")), DECLARED)


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        ((p.T * M.I * p)[0, 0] / 2, "p.T @ inv(M) @ p/2"),
        ((p.T * M * A * theta)[0, 0], "p.T @ M @ A @ theta"),
        ((p.T * M * A.T * theta)[0, 0], "p.T @ M @ A.T @ theta"),
        (sympy.Sum(theta[i, 0] ** 2, (i, *ALL)), "norm2(theta)"),
        (sympy.Sum(c * sympy.cos(c * theta[i, 0] + 1) * p[i, 0], (i, *ALL)), "c*sum(cos(c*theta + ones)*p)"),
        (sympy.Sum(M[i, j] * A[j, i], *BOTH), "trace(M @ A)"),
        (sympy.Sum(M[i, j] * A[i, j], *BOTH), "trace(M @ A.T)"),
        (sympy.Sum(M[i, i] * p[i, 0], (i, *ALL)), "trace(M @ diag(p))"),
        (sympy.Sum(M[i, j] * p[j, 0], *BOTH), "sum(M @ p)"),
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
    own = calculus(DECLARED)
    assert own.is_zero(own.subtract(tensor(obj), tensor(text)))


def test_a_transposed_factor_is_another_sum() -> None:
    own = calculus(DECLARED)
    assert not own.is_zero(own.subtract(tensor((p.T * M * A * theta)[0, 0]), tensor("p.T @ M.T @ A @ theta")))


@pytest.mark.parametrize(
    ("obj", "says"),
    [
        (sympy.Sum(theta[i, 0], (i, 1, d - 1)), "expected the whole axis"),
        (sympy.Sum(theta[i, 0], (i, 0, d)), "expected the whole axis"),
        (sympy.Sum(c**i, (i, 0, 10**8)), "1 to 1000 terms"),
        (sympy.Sum(M[i, j] * A[i, j] * M[j, i], *BOTH), "not a matrix product"),
        (sympy.Sum(i * theta[i, 0], (i, *ALL)), "expected entries and functions of them"),
    ],
    ids=str,
)
def test_other_sums_are_refused(obj: sympy.Basic, says: str) -> None:
    with pytest.raises(DocumentError) as error:
        tensor(obj)
    assert says in error.value.faults[0].problem


ZERO, ONE = sympy.ZeroMatrix(d, d), sympy.Identity(d)


def langevin(*parameters: object, H: object) -> model.Dynamics:
    Q = sympy.BlockMatrix([[ZERO, -ONE], [ONE, ZERO]])
    return state_dynamics(
        name="langevin", state=[theta, p], H=H, D=[[0, 0], [0, c * ONE]], Q=Q, parameters=[*parameters]
    )


def test_a_declaration_says_what_a_matrix_symbol_cannot() -> None:
    U = sympy.Function("U")(theta)
    stated = langevin(matrix("M", "d", "d", is_="positive definite"), H=U + (p.T * M.I * p)[0, 0] / 2)
    kinds = {item.name: item.kinds for item in stated.declarations.parameters}
    assert kinds == {"M": (Kind.PD,), "c": (Kind.POSITIVE,)}
    assert stated.declarations.sizes == ("d",)
    assert (stated.Q, stated.D[1][1].shape) == (sghmc().Q, Shape("d", "d"))
    assert [answer(stated, claim).verdict for claim in ("d_psd", "stationary")] == ["proved", "proved"]


@pytest.mark.parametrize("assumption", ["negative", "integer", "imaginary"])
def test_an_assumption_that_would_be_lost_is_a_fault(assumption: str) -> None:
    a = sympy.Symbol("a", **{assumption: True})
    with pytest.raises(DocumentError, match=f"found a symbol that is {assumption}"):
        langevin(H=a * (p.T * p)[0, 0] + (theta.T * theta)[0, 0])


def test_a_declaration_must_include_what_a_symbol_says() -> None:
    H = c * (p.T * p)[0, 0] + (theta.T * theta)[0, 0]
    assert langevin(scalar("c", is_="positive"), H=H).declarations.parameters[0].kinds == (Kind.POSITIVE,)
    with pytest.raises(DocumentError, match="symbol of SymPy's that is positive"):
        langevin(scalar("c"), H=H)


def test_sympy_scalars_and_matrices_of_them_are_scalar_blocks() -> None:
    x, y, a = sympy.Symbol("x"), sympy.Symbol("y"), sympy.Symbol("a", positive=True)
    Q = sympy.Matrix([[0, -1], [1, 0]])
    dynamics = state_dynamics(name="k", state=[x, y], H=x**4 + y**2 / 2, D=sympy.Matrix([[0, 0], [0, a * x**2]]), Q=Q)
    assert [parameter.kinds for parameter in dynamics.declarations.parameters] == [(Kind.POSITIVE,)]
    assert dynamics.Q[0][1].shape == Shape()  # type: ignore[index]


def test_what_a_symbol_says_of_a_coordinate_is_its_domain() -> None:
    x, a = sympy.symbols("x a", positive=True)
    dynamics = state_dynamics(name="cir", state=[x], H=x - (a - 1) * sympy.log(x), D=[[x]], Q=[[0]])
    assert dynamics.declarations.blocks[0].domain.name is DomainName.POSITIVE
    found = {finding.id: finding.verdict for finding in check(dynamics).findings}
    assert found["d_psd"] == found["stationary"] == "proved"
    assert "boundary" in found
    x = sympy.Symbol("x", nonzero=True, real=True)
    with pytest.raises(DocumentError, match="nonzero, expected a domain"):
        state_dynamics(name="f", state=[x], H=x**2 / 2, D=[[1]], Q=[[0]])
