"""Every row of the table of matrix rules is tested from itself: its pattern is shown, and holds at exact points."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import ball, evaluate
from recipe_compiler.algebra.scalars.rational_matrices import determinant, negative_direction
from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.errors import Place
from recipe_compiler.facts.semidefinite import MATRIX_RULES, Judge, MatrixRule, semidefinite
from recipe_compiler.formula.context import Scope
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.elaborate import elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.syntax import parse

COLUMN, SQUARE = Shape("d"), Shape("d", "d")
KINDS = {"P": Kind.PSD, "R": Kind.PSD, "M": Kind.PD, "a": Kind.NONNEGATIVE, "c": Kind.NONNEGATIVE, "s": Kind.POSITIVE}
SHAPES = {"a": COLUMN, "c": SCALAR, "s": SCALAR}
OF_RULES = (
    *(Parameter(name, SHAPES.get(name, SQUARE), (kind,)) for name, kind in KINDS.items()),
    Parameter("L", SQUARE),
    Parameter("u", COLUMN),
)
DECLARED = Declarations((Block("x", COLUMN),), OF_RULES)
RULES = [pytest.param(rule, id=rule.pattern) for rule in MATRIX_RULES]


def typed(text: str, declarations: Declarations = DECLARED) -> Formula:
    where = Place("t")
    expected = None if "kron" in text else SQUARE
    return elaborate(parse(text, "D", where), Scope(declarations), expected, "D", where)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_shows_its_pattern(rule: MatrixRule) -> None:
    formula = typed(rule.pattern)
    found = semidefinite(formula, DECLARED)
    assert found is not None
    assert found.strict is rule.strict
    used = {f"{name} is {KINDS[name]}" for name in set(re.findall(r"\b\w\b", rule.pattern)) & KINDS.keys()}
    assert found.given == used
    assert rule.show(plain(formula, DECLARED), Judge(DECLARED)) == found or "gp_" in rule.pattern


@pytest.mark.parametrize("rule", RULES)
def test_what_a_rule_shows_holds_at_exact_points(rule: MatrixRule) -> None:
    n = 2 if "kron" in rule.pattern else 3
    a = rows(typed(rule.pattern), Setting(DECLARED, {"d": n}))
    for at in points(DECLARED, {"d": n}, 12):
        values = [[evaluate(x, at.leaf) for x in row] for row in a]
        exact = tuple(tuple(x for x in row if isinstance(x, Fraction)) for row in values)
        if all(len(row) == len(exact) for row in exact):
            assert exact == tuple(zip(*exact, strict=True))
            assert negative_direction(exact) is None
            assert not rule.strict or determinant(exact) > 0
        else:
            near = np.array([[float(ball(x).mid()) for x in row] for row in values])
            assert np.linalg.eigvalsh(near)[0] > -1e-12


BARE = replace(
    DECLARED, parameters=tuple(replace(p, kinds=(Kind.SYMMETRIC,) if p.name in "PRM" else ()) for p in OF_RULES)
)
PREMISES = [rule for rule in MATRIX_RULES if set(re.findall(r"\b\w\b", rule.pattern)) & (KINDS.keys() - {"s"})]


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.pattern) for rule in PREMISES])
def test_without_its_premises_a_rule_shows_nothing(rule: MatrixRule) -> None:
    assert semidefinite(typed(rule.pattern, BARE), BARE) is None


BEYOND = ("I - P", "(d - 1)*I - ones @ ones.T", "norm2(u)*I - 2*u @ u.T", "P - 2*P", "diag(a) - a @ a.T", "L @ L")


@pytest.mark.parametrize("text", BEYOND)
def test_what_need_not_be_semidefinite_is_not_shown(text: str) -> None:
    assert semidefinite(typed(text), DECLARED) is None


def test_ones_are_bounded_by_the_size() -> None:
    for text in ("d*I - ones @ ones.T", "P - P/2", "2*d*I - ones @ ones.T - ones @ ones.T + P"):
        assert semidefinite(typed(text), DECLARED) is not None, text
