"""Builds and targets: bound formulas and values are of the kinds declared; log posteriors are defined and smooth."""

from dataclasses import replace
from fractions import Fraction

import pytest
from answers import answer, document, expect, shipped

from recipe_compiler.algebra.scalars.rational_matrices import violates_exactly
from recipe_compiler.errors import Place
from recipe_compiler.formula.context import Scope
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.elaborate import elaborate
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Value
from recipe_compiler.verify.builds.bindings import bindings, gradient_noise

SQUARE, WHERE = Shape("d", "d"), Place("test")


@pytest.fixture
def build():
    return shipped("builds/sghmc_logistic")


def read(text, name, declarations):
    return elaborate(parse(text, name, WHERE), Scope(declarations), SQUARE, name, WHERE)


def bound_to(build, name, text, kinds, value):
    """Return the build with one binding replaced, and its parameter c declared and valued as given."""
    c = Parameter("c", SCALAR, kinds)
    declared = replace(build.dynamics.declarations, parameters=(*build.dynamics.declarations.parameters, c))
    bound = tuple((key, read(text, name, declared) if key == name else old) for key, old in build.bind)
    values = (*((key, old) for key, old in build.values if key != "c"), ("c", Value(((Fraction(value),),))))
    return replace(build, bind=bound, parameters=(c,), values=values)


@pytest.mark.parametrize(
    ("name", "text", "kinds", "value", "verdict", "says"),
    [
        ("C", "c*I", (), 2, "proved", ""),  # by an exact value, where no kind is declared
        ("C", "-c*I", (Kind.NONNEGATIVE,), 2, "refuted", "positive semidefinite"),
        ("C", "(c - 3)*I", (Kind.NONNEGATIVE,), 2, "refuted", "positive semidefinite"),
        ("C", "c*I - 3*I", (Kind.NONNEGATIVE,), 2, "refuted", "positive semidefinite"),
        ("C", "c*I", (Kind.NONNEGATIVE,), -1, "refuted", ""),
        ("M", "(c**2 - c + 1)*I", (Kind.POSITIVE,), 2, "not refuted", ""),
    ],
)
def test_a_binding_is_of_the_kind_declared(build, name, text, kinds, value, verdict, says):
    own = bound_to(build, name, text, kinds, value)
    expect(bindings(own, bind(own)), verdict, says)


def test_what_structure_shows_is_not_written_out_at_a_large_size(monkeypatch, build):
    expect(gradient_noise(build, bind(build)), "proved")
    monkeypatch.setattr("recipe_compiler.verify.builds.bindings.exact_rows", None)  # a million by a million entries
    large = replace(bound_to(build, "C", "c*I", (Kind.NONNEGATIVE,), 2), sizes=(("d", 10**6),))
    expect(bindings(large, bind(large)), "proved")
    expect(gradient_noise(large, bind(large)), "proved")


@pytest.mark.slow
def test_a_negative_v_is_refuted(build):
    found = replace(build, V=read("-I", "V", build.dynamics.declarations))
    expect(gradient_noise(found, bind(found)), "refuted")
    assert check(found).verdict == "refuted"


@pytest.mark.slow
def test_a_build_is_checked_bound(build):
    found = {one.id: one for one in check(build).findings}
    assert "c is nonnegative" not in found["stationary"].decision.given, "the build gives c a value"
    assert {"noise_budget", "independence"} <= found.keys()


KINDS = {
    Kind.PSD: [((1, 2), (2, 4)), ((1, 2), (2, 3))],
    Kind.PD: [((2, 1), (1, 2)), ((1, 2), (2, 4))],
    Kind.SYMMETRIC: [((0, 1), (1, 0)), ((0, 1), (2, 0))],
    Kind.SKEW: [((0, 1), (-1, 0)), ((1, 1), (-1, 0))],
    Kind.DIAGONAL: [((1, 0), (0, -1)), ((1, 0), (1, 1))],
    Kind.POSITIVE: [((1, 2), (3, 4)), ((1, 0), (3, 4))],
    Kind.NONNEGATIVE: [((1, 0), (3, 4)), ((1, -1), (3, 4))],
    Kind.NONZERO: [((1, -1), (3, 4)), ((1, 0), (3, 4))],
}


@pytest.mark.parametrize("kind", KINDS)
def test_exact_matrices_are_told_apart(kind):
    good, bad = (tuple(tuple(map(Fraction, row)) for row in matrix) for matrix in KINDS[kind])
    assert not violates_exactly(good, kind)
    assert violates_exactly(bad, kind)


@pytest.mark.parametrize(
    ("potential", "defined", "gradient"),
    [
        ("theta.T @ theta/2 + u - log(u)", "proved", "proved"),
        ("sum(softplus(theta)) + sqrt(u)", "proved", "proved"),
        ("sum(abs(theta)) + u", "proved", "undecided"),
        ("maximum(u, 2) + norm2(theta)", "proved", "undecided"),
        ("sum(log(theta)) + u", "refuted", "undecided"),
    ],
)
def test_a_log_posterior_is_defined_and_differentiable(potential, defined, gradient):
    target = document(f'state: {{theta: {{shape: d}}, u: {{domain: positive}}}}\npotential: "{potential}"\n')
    expect(answer(target, "defined"), defined)
    found = answer(target, "gradient")
    expect(found, gradient, "smooth" if gradient == "undecided" and defined == "proved" else "")
