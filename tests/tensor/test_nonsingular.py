"""Matrices of index notation that are invertible at every state, and those of which it is not known."""

from collections.abc import Callable

import pytest

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.definite import is_definite_by_terms, is_invertible, never_zero
from recipe_compiler.tensor.terms import Index, Tensor

SQUARE, COLUMN = Shape("d", "d"), Shape("d")
NAMES = Declarations(
    blocks=(Block("theta", COLUMN), Block("x", COLUMN, Domain(DomainName.POSITIVE)), Block("xi")),
    parameters=(
        Parameter("A", SQUARE),
        Parameter("S", SQUARE, (Kind.SYMMETRIC,)),
        Parameter("C", SQUARE, (Kind.PSD,)),
        Parameter("M", SQUARE, (Kind.PD,)),
        Parameter("P", SQUARE, (Kind.PD,)),
        Parameter("a"),
        Parameter("n", SCALAR, (Kind.NONZERO,)),
        Parameter("s", SCALAR, (Kind.POSITIVE,)),
        Parameter("v", COLUMN, (Kind.NONZERO,)),
        Parameter("p", COLUMN, (Kind.POSITIVE,)),
    ),
    functions=(Function("G", ("theta",), SQUARE, (Kind.PD,)), Function("K", ("theta",), SQUARE, (Kind.SYMMETRIC,))),
)
ROW, COL = Index("d", "i"), Index("d", "j")
C = calculus(NAMES)
NONZERO = frozenset({"n"})

Read = Callable[[str, Shape], Tensor]


def tensor(text: str, shape: Shape) -> Tensor:
    where = Place("test")
    formula = elaborate(parse(text, "test", where), Scope(NAMES), shape, "test", where)
    return convert(formula, NAMES, *(ROW, COL)[: len(shape.sizes)])


INVERTIBLE = [
    "I", "-2*I", "n*I", "I/n**2", "s*M", "inv(M)", "inv(A)", "M @ P", "P @ inv(A) @ M", "G", "inv(G) @ M", "n*M @ P",
    "M + P", "M + s*I", "-M - inv(P)", "diag(p)", "diag(ones + theta**2)", "diag(exp(theta))", "M @ M", "I/d",
]  # fmt: skip
NOT_KNOWN = [
    "0", "A", "S", "C", "K", "a*I", "xi*I", "A @ M", "M - P", "M + S", "M + A", "diag(theta)", "diag(v - p)", "C @ M",
    "outer(p, p)", "M @ C @ M", "theta.T @ theta*I", "M + outer(theta, p)", "ones @ ones.T", "trace(A)*M", "sum(v)*I",
    "sum(v)*M",
]  # fmt: skip


@pytest.mark.parametrize("text", INVERTIBLE)
def test_what_is_invertible_everywhere(text: str) -> None:
    assert is_invertible(C, tensor(text, SQUARE), ROW, COL, NONZERO)


@pytest.mark.parametrize("text", NOT_KNOWN)
def test_what_may_be_singular(text: str) -> None:
    assert not is_invertible(C, tensor(text, SQUARE), ROW, COL, NONZERO)


@pytest.mark.parametrize("text", ["I", "M", "M + P", "M/d", "s*G + inv(M)", "diag(p)", "inv(inv(M))"])
def test_what_is_definite(text: str) -> None:
    assert is_definite_by_terms(C, tensor(text, SQUARE))


@pytest.mark.parametrize("text", ["-M", "A", "S", "C", "M @ P", "M - P", "inv(A)", "n*M", "K", "diag(theta)", "0"])
def test_what_is_not_shown_to_be_definite(text: str) -> None:
    assert not is_definite_by_terms(C, tensor(text, SQUARE))


@pytest.mark.parametrize(
    ("text", "known"),
    [("2", True), ("n", True), ("-n**3", True), ("1/n", True), ("d", True), ("sum(p)", True), ("1 + xi**2", True),
     ("exp(xi)", True), ("s*n", True), ("a", False), ("xi", False), ("sum(v)", False), ("sum(v**2)", False),
     ("sum(v**-1)", False), ("xi**2", False), ("s - n", False), ("trace(A)", False), ("sum(theta**2)", False)],
)  # fmt: skip
def test_scalars_that_vanish_nowhere(text: str, known: bool) -> None:
    assert never_zero(C, tensor(text, SCALAR), NONZERO) is known
