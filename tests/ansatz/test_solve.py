"""Equations in unknown constants: their solutions, the smallest sets of unknowns, and formulas written anew."""

from fractions import Fraction

import pytest
from answers import document

from recipe_compiler.ansatz.equations import constant_names, equations
from recipe_compiler.ansatz.simplify import normalise_signs, read, simplest, tensor_of
from recipe_compiler.ansatz.solve import System
from recipe_compiler.ansatz.sums import constants
from recipe_compiler.formula.build import negate, transpose
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.tensor.calculus import calculus

DECLARED = """
state: {x: {}, v: {shape: d}}
parameters: {a: {is: positive}, b: {}, c: {}, e: {}, M: {shape: [d, d], is: symmetric}, S: {shape: [d, d], is: skew}}
functions: {U: {of: [x, v]}, L: {of: v, shape: [d, d]}}
H: U
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, 0]]
"""


@pytest.fixture(scope="module")
def declarations():
    return document(DECLARED).declarations


@pytest.fixture(scope="module")
def known():
    return constants(document(DECLARED.replace("b: {}, c: {}, e: {}, ", "")).declarations)


def system(declarations, known, unknowns, *formulas):
    tensors = [tensor_of(read(formula, declarations, SCALAR), declarations) for formula in formulas]
    found = equations(calculus(declarations), tensors, constant_names(declarations))
    return System(found, unknowns, known.field)


def test_linear_systems_have_the_solution_they_were_made_of(declarations, known):
    """A x = A y for a regular matrix A of integers and ratios y of a and d; x is (b, c, e)."""
    at = known
    wanted = [at.split(read(y, declarations, SCALAR))[0] for y in ("a/d", "1 - a**2", "3/(d + 1)")]
    lines = []
    for row in ((2, -1, 3), (0, 4, 1), (-3, 2, 2)):
        right = sum((y * n for y, n in zip(wanted, row, strict=True)), at.number(0))
        left = " + ".join(f"({n})*{name}" for n, name in zip(row, "bce", strict=True))
        lines.append(f"x*({left} - ({at.text(right)}))")
    (found,) = system(declarations, known, ("b", "c", "e"), *lines).solutions(("b", "c", "e"))
    assert [found[name] for name in "bce"] == wanted


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        ("b**2 - b*a", {"0", "a"}),
        ("b**2 - a", set()),
        ("(b*d - a)*x + (b*d - a)*x**2", {"a/d"}),
        ("b/(1 + x**2) + x**2/(1 + x**2) - 1", {"1"}),
        ("b*sin(x)**2 + 2*cos(x)**2 - 2", {"2"}),
        ("b*sqrt(1 + x**2)**3 - a*(1 + x**2)*sqrt(1 + x**2)", {"a"}),
        ("b*U*sum(v)/(2 + sum(v)) - a*U + 2*a*U/(2 + sum(v))", {"a"}),
        ("b*x - x**2", set()),
    ],
)
def test_values_at_which_a_formula_vanishes(declarations, known, formula, values):
    found = system(declarations, known, ("b",), formula).solutions(("b",))
    assert {known.text(solution["b"]) for solution in found} == values


def test_the_smallest_sets_that_suffice_are_found(declarations, known):
    asked = system(declarations, known, ("b", "c", "e"), "(b + c - 1)*x + (c + 2*e - a)*x**2 + e*x**3 - e*x**3")
    assert list(asked.supports(3, 5)) == [("b", "c"), ("b", "e"), ("c", "e")]
    assert asked.sparsest() == ("b", "c")
    assert system(declarations, known, ("b", "c", "e"), "(b + c)*x - 1").sparsest() is None


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("-(-diag(v)).T", "diag(v)"),
        ("(S @ M).T", "-M @ S"),
        ("(M @ L(v)).T", "L(v).T @ M"),
        ("2*outer(v, M @ v).T", None),
    ],
)
def test_signs_come_first_and_transposes_go_to_the_parts(declarations, formula, written):
    old = read(formula, declarations, Shape("d", "d"))
    c = calculus(declarations)
    for new in (normalise_signs(old, declarations), simplest(old, declarations)):
        assert c.is_zero(c.subtract(tensor_of(new, declarations), tensor_of(old, declarations)))
    assert written is None or text(normalise_signs(old, declarations)) == written
    twice = transpose(negate(transpose(negate(old))))
    assert text(simplest(twice, declarations)) == text(simplest(old, declarations))


def test_constants_are_gathered_before_and_behind_a_term(declarations):
    at = constants(declarations)
    factor, core = at.split(read("3*d*x/2", declarations, SCALAR))
    assert (at.text(factor), text(core)) == ("3*d/2", "x")
    assert (
        text(at.scaled(read("x**2/(2*d)", declarations, SCALAR), at.number(Fraction(4)) / factor)) == "4*x**2/(3*d**2)"
    )
