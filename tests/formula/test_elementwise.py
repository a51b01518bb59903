"""Every fact of the two tables of elementwise functions is looked at, in numbers; and no other file lists functions."""

import importlib
import itertools
import math
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mpmath
import pytest
import sympy

from recipe_compiler.algebra.scalars import elementwise as second
from recipe_compiler.emit import support
from recipe_compiler.emit.print_numpy import OPERATIONS
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.elementwise import FUNCTIONS, Corner, Elementwise, Parity, Size
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.rule_tensors import written
from recipe_compiler.tensor.scalars import function, scalarise
from recipe_compiler.tensor.terms import Coordinate

PACKAGE = Path(__file__).parents[2] / "recipe_compiler"
X = sympy.Symbol("x", real=True)
GRID: tuple[Any, ...] = tuple(sympy.Rational(n, 7) for n in (-40, -17, -9, -4, -1, 1, 3, 6, 11, 18, 40))
EIGHT: tuple[Any, ...] = (sympy.Integer(-8), sympy.Integer(8))
TINY: Any = sympy.Rational(1, 10**30)

Number = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def rule(text: str) -> sympy.Expr:
    """Return a rule of the table as a SymPy expression of x, read as the first engine reads it."""
    c = calculus(Declarations())
    return scalarise(written(c, text, c.atom(Coordinate("x"))), {}, {}, lambda atom: X)


def numbers(e: sympy.Expr) -> Number:
    """Return an expression as a function of a rational number."""
    f: Callable[..., Any] = sympy.lambdify(X, e, "mpmath")
    return lambda x: f(mpmath.mpf(x.p) / x.q)


def domain(name: str) -> tuple[Any, ...]:
    """Return points of the grid at which the second engine says that a function has all its derivatives."""
    needs = second.FUNCTIONS[name].needs
    return tuple(x for x in GRID if all(bool(need.of(x) > 0 if need.op == ">" else need.of(x) != 0) for need in needs))


def same(a: Any, b: Any) -> bool:
    return abs(a - b) <= mpmath.mpf(10) ** -25 * (1 + abs(b))


def wrong(row: Elementwise) -> Iterator[str]:
    """Yield every fact of a row that numbers contradict."""
    meaning = function(row.name, X)
    f, at = numbers(meaning), domain(row.name)
    if row.slope and not all(same(numbers(rule(row.slope))(x), slope_at(f, x)) for x in at if x != 0):
        yield "slope"
    if row.stated_slope and not all(same(numbers(rule(row.stated_slope))(x), numbers(rule(row.slope))(x)) for x in at):
        yield "stated_slope"
    if row.square and not all(same(numbers(rule(row.square))(x), f(x) ** 2) for x in at):
        yield "square"
    if row.at_zero and not same(numbers(rule(row.at_zero))(sympy.Integer(0)), f(sympy.Integer(0))):
        yield "at_zero"
    if row.logarithm_of and not all(same(mpmath.log(numbers(rule(row.logarithm_of))(x)), f(x)) for x in at):
        yield "logarithm_of"
    if row.parity and not all(same(f(-x), f(x) if row.parity is Parity.EVEN else -f(x)) for x in at):
        yield "parity"
    if (k := row.homogeneous) is not None and not all(same(f(4 * x), mpmath.mpf(4) ** float(k) * f(x)) for x in at):
        yield "homogeneous"
    if row.periodic and not all(same(numbers(meaning.subs(X, X + 2 * sympy.pi))(x), f(x)) for x in at):
        yield "periodic"
    if row.positive and not all(f(x) > 0 for x in at):
        yield "positive"
    if row.increasing and not all(f(x) <= f(y) for x, y in itertools.pairwise(at)):
        yield "increasing"
    if row.total and not all(mpmath.isfinite(f(x)) and mpmath.im(f(x)) == 0 for x in (*GRID, sympy.Integer(0))):
        yield "total"
    if row.ends is not None and not all(
        abs(f(x) - row.ends[int(bool(x > 0))] * mpmath.mpf(x)) < 3
        for x in (sympy.Integer(n) for n in (-1000, -20, 20, 1000))
    ):
        yield "ends"
    yield from size(row, f)
    jumps = abs(f(TINY) - f(-TINY)) > 1 if row.total else False
    bends = row.total and abs((f(TINY) - 2 * f(sympy.Integer(0)) + f(-TINY)) / mpmath.mpf(TINY.p) * TINY.q) > 0.1
    if row.corner is not (Corner.JUMP if jumps else Corner.KINK if bends else Corner.NONE):
        yield "corner"


def slope_at(f: Number, x: Any) -> Any:
    """Return the derivative by differences, to an error of the order of h**6."""
    h: Any = sympy.Rational(1, 10**8)
    d = [(f(x + k * h) - f(x - k * h)) / (2 * k * mpmath.mpf(h.p) / h.q) for k in (1, 2, 3)]
    return (15 * d[0] - 6 * d[1] + d[2]) / 10


def size(row: Elementwise, f: Number) -> Iterator[str]:
    """Yield what the growth of a function contradicts."""
    far = [(mpmath.mpf(n), abs(f(sympy.Integer(n)))) for n in (20, 60)]
    if row.size is Size.POWER and row.name != "tan" and any(v > x**2 for x, v in far):
        yield "size"
    if row.size is Size.EXPONENTIAL and any(
        abs(f(x)) > mpmath.exp(abs(mpmath.mpf(x.p) / x.q)) for x in (*GRID, *EIGHT)
    ):
        yield "size"
    left = [abs(f(x) - limit) for x in (EIGHT if row.total else EIGHT[1:]) for limit in (0, f(1000 * x))]
    if row.tame and (any(v > x**3 for x, v in far) or any(0 < v < mpmath.mpf(8) ** -3 for v in left)):
        yield "tame"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_facts_of_a_row_hold(name: str) -> None:
    assert list(wrong(FUNCTIONS[name])) == []


def test_the_engines_have_the_same_functions_and_agree_about_them() -> None:
    assert FUNCTIONS.keys() == second.FUNCTIONS.keys()
    for name, row in FUNCTIONS.items():
        other = second.FUNCTIONS[name]
        assert row.total == (not other.needs), name
        assert row.corner.name == other.corner.name, name
        assert row.emitted == other.emitted, name
        assert function(name, X) == other.scalar(X), name
        assert not row.positive or other.signs is second.Signs.POSITIVE, name


@pytest.mark.parametrize("name", [name for name, row in second.FUNCTIONS.items() if row.between and not row.reached])
def test_a_function_lies_between_its_two_numbers_and_comes_near_both(name: str) -> None:
    f, between = numbers(second.FUNCTIONS[name].scalar(X)), second.FUNCTIONS[name].between
    assert between is not None
    low, high = between
    assert all(low < f(x) < high for x in GRID)
    assert same(f(sympy.Integer(-90)), low)
    assert same(f(sympy.Integer(90)), high)


def test_neither_engine_takes_facts_from_the_other() -> None:
    for path in PACKAGE.joinpath("algebra").rglob("*.py"):
        assert "formula.elementwise" not in path.read_text(encoding="utf-8"), path
    for part in ("formula", "tensor", "derive"):
        for path in PACKAGE.joinpath(part).rglob("*.py"):
            assert "algebra.scalars.elementwise" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("name", second.FUNCTIONS)
def test_a_function_comes_to_kernels_that_are_known(name: str) -> None:
    found = {type(node) for node in second.FUNCTIONS[name].scalar(X).atoms(sympy.Function)}
    assert found <= {*second.SCALAR_FUNCTIONS, sympy.polygamma}


def test_an_emitted_name_is_defined_in_an_emitted_module() -> None:
    modules = [importlib.import_module(f"{support.__name__}.{m.name}") for m in pkgutil.iter_modules(support.__path__)]
    for row in FUNCTIONS.values():
        home, _, name = row.emitted.rpartition(".")
        assert hasattr(math, name) if home == "math" else name == "abs" or any(hasattr(m, name) for m in modules)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_have_the_value_of_the_scalar(name: str) -> None:
    import numpy as np

    at = domain(name)
    found = OPERATIONS[name].values(np.array([float(x) for x in at]))
    expected = [float(numbers(function(name, X))(x)) for x in at]
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_what_a_row_lacks_is_said_by_name() -> None:
    facts: dict[str, Any] = {"name": "foo", "words": "foo", "corner": Corner.NONE, "size": Size.POWER}
    with pytest.raises(CompilerError, match="the row of foo lacks `array`: neither NumPy nor math has it"):
        Elementwise(**facts, emitted="_foo", sympy="erfc")
