"""Dynamics from Python are the dynamics from YAML."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy

from recipe_compiler.errors import ModelError, SpecError
from recipe_compiler.formula.declaring import I, function, matrix, scalar, vector
from recipe_compiler.formula.shapes import Kind, Shape
from recipe_compiler.spec import model
from recipe_compiler.spec.load import load
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.python import state_dynamics


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


def test_both_doors_lead_to_the_same_dynamics(specs: Path) -> None:
    ours, theirs = sghmc(), load(specs / "dynamics/sghmc.yaml")
    assert (ours.H, ours.D, ours.Q, ours.claims) == (theirs.H, theirs.D, theirs.Q, theirs.claims)
    assert ours.declarations.blocks == theirs.declarations.blocks
    assert set(ours.declarations.parameters) == set(theirs.declarations.parameters)
    assert ours.declarations.functions == theirs.declarations.functions


def test_sympy_matrices_are_block_matrices() -> None:
    d = sympy.Symbol("d")
    theta, r, C = sympy.MatrixSymbol("theta", d, 1), sympy.MatrixSymbol("r", d, 1), sympy.MatrixSymbol("C", d, d)
    identity, zero = sympy.Identity(d), sympy.ZeroMatrix(d, d)
    U = sympy.Function("U")(theta)
    dynamics = state_dynamics(
        name="sghmc",
        state=[theta, r],
        H=U + sympy.Trace(r * r.T) / 2,
        D=[[0, 0], [0, C * C.T]],
        Q=sympy.BlockMatrix([[zero, -identity], [identity, zero]]),
        potential="U",
    )
    assert dynamics.potential == "U"
    assert dynamics.declarations.sizes == ("d",)
    assert dynamics.D[1][1].shape == Shape("d", "d")
    assert dynamics.Q == sghmc().Q


def test_sympy_scalars_and_matrices_of_them_are_scalar_blocks() -> None:
    x, y, a = sympy.Symbol("x"), sympy.Symbol("y"), sympy.Symbol("a", positive=True)
    zero, one = sympy.S.Zero, sympy.S.One
    Q = sympy.Matrix([[zero, -one], [one, zero]])
    dynamics = state_dynamics(name="k", state=[x, y], H=x**4 + y**2 / 2, D=sympy.Matrix([[0, 0], [0, a * x**2]]), Q=Q)
    assert [p.kinds for p in dynamics.declarations.parameters] == [(Kind.POSITIVE,)]
    assert dynamics.Q[0][1].shape == Shape()


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
    ],
)
def test_a_fault_names_its_entry(changes: dict[str, object], entry: str, part: str) -> None:
    with pytest.raises((ModelError, SpecError)) as caught:
        sghmc(**changes)
    assert any(part in fault.problem for fault in caught.value.faults if fault.entry.startswith(entry))


class Printed(float):
    """A number that prints itself as another one."""

    def __str__(self) -> str:
        return "-7"

    __repr__ = __str__


class Counted(int):
    """A number that prints itself as another one."""

    def __str__(self) -> str:
        return "-7"

    __repr__ = __str__


def test_a_number_is_what_it_is_and_not_what_it_prints() -> None:
    x = scalar("x")
    made = [state_dynamics(name="k", state=[x], H=x**2, D=D, Q=0).D for D in (Printed(2.5), 2.5, Counted(3), 3)]
    assert (made[0], made[2]) == (made[1], made[3])


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


def test_a_python_file_that_raises_is_a_fault_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("x = 1\ny = x / 0\n")
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "mine.py")
    assert (caught.value.faults[0].where.line, "ZeroDivisionError" in caught.value.faults[0].problem) == (2, True)


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = {"sympy", "numpy", "numba", "pydantic", "ruamel.yaml"}
    code = f"import sys, recipe_compiler; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_units_are_declared_as_in_yaml() -> None:
    x, k = scalar("x"), scalar("k", is_="positive")
    stated = {"name": "spring", "state": [x], "H": k * x**2 / 2, "D": [[1]], "Q": [[0]]}
    plain = state_dynamics(**stated)
    measured = state_dynamics(**stated, units={"x": "length", "k": "length**(-2)"})
    assert measured.units == (("x", "length"), ("k", "length**(-2)"))
    assert digest(plain) != digest(measured)
    with pytest.raises(ModelError, match="found the unit of `y`, expected one of a block"):
        state_dynamics(**stated, units={"y": "length"})
    with pytest.raises(SpecError, match="expected a unit"):
        state_dynamics(**stated, units={"x": "length + 1"})
