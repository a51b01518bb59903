"""Builds and targets: bound formulas and values are of the kinds declared; log posteriors are defined and smooth."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from loaders import load_build, load_target

from recipe_compiler.algebra.scalars.rational_matrices import violates_exactly
from recipe_compiler.errors import Place
from recipe_compiler.formula.context import Scope
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.elaborate import elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Target, Value
from recipe_compiler.verdict import Answer, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.bindings import bindings, gradient_noise
from recipe_compiler.verify.builds.target import defined, gradient

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
SQUARE = Shape("d", "d")


@pytest.fixture
def build() -> Build:
    return load_build(BUILDS / "sghmc_logistic.yaml")


def bound_to(build: Build, name: str, text: str, c: Parameter, value: Fraction) -> Build:
    """Return the build with one binding replaced, and its parameter c declared and valued as given."""
    where = Place("test")
    declared = replace(build.dynamics.declarations, parameters=(*build.dynamics.declarations.parameters, c))
    formula: Formula = elaborate(parse(text, name, where), Scope(declared), SQUARE, name, where)
    bind = tuple((key, formula if key == name else old) for key, old in build.bind)
    values = tuple((key, old) for key, old in build.values if key != "c")
    return replace(build, bind=bind, parameters=(c,), values=(*values, ("c", Value(((value,),)))))


def decided(build: Build) -> Answer:
    return bindings(build, bind(build))


def test_a_shipped_build_binds_what_was_declared(build: Build) -> None:
    assert decided(build).verdict is Verdict.PROVED
    assert gradient_noise(build, bind(build)).verdict is Verdict.PROVED


def test_an_exact_value_proves_a_kind_that_the_declaration_does_not(build: Build) -> None:
    assert decided(bound_to(build, "C", "c*I", Parameter("c"), Fraction(2))).verdict is Verdict.PROVED


def test_what_structure_shows_is_not_written_out_at_a_large_size(monkeypatch: pytest.MonkeyPatch, build: Build) -> None:
    monkeypatch.setattr("recipe_compiler.verify.builds.bindings.exact_rows", None)  # a million by a million entries
    large = bound_to(build, "C", "c*I", Parameter("c", SCALAR, (Kind.NONNEGATIVE,)), Fraction(2))
    large = replace(large, sizes=(("d", 10**6),))
    assert decided(large).verdict is Verdict.PROVED
    assert gradient_noise(large, bind(large)).verdict is Verdict.PROVED


@pytest.mark.parametrize("text", ["-c*I", "(c - 3)*I", "c*I - 3*I"])
def test_a_binding_of_the_wrong_kind_is_refuted(build: Build, text: str) -> None:
    found = decided(bound_to(build, "C", text, Parameter("c", SCALAR, (Kind.NONNEGATIVE,)), Fraction(2)))
    assert isinstance(found.decision, Refuted)
    assert "positive semidefinite" in found.decision.residual


def test_a_value_of_the_wrong_kind_is_refuted(build: Build) -> None:
    found = decided(bound_to(build, "C", "c*I", Parameter("c", SCALAR, (Kind.NONNEGATIVE,)), Fraction(-1)))
    assert isinstance(found.decision, Refuted)


def test_a_kind_that_no_rule_shows_is_undecided(build: Build) -> None:
    c = Parameter("c", SCALAR, (Kind.POSITIVE,))
    found = decided(bound_to(build, "M", "(c**2 - c + 1)*I", c, Fraction(2)))
    assert found.verdict is not Verdict.REFUTED


@pytest.mark.slow
def test_a_negative_v_is_refuted(build: Build) -> None:
    where = Place("test")
    V = elaborate(parse("-I", "V", where), Scope(build.dynamics.declarations), SQUARE, "V", where)
    found = replace(build, V=V)
    assert gradient_noise(found, bind(found)).verdict is Verdict.REFUTED
    assert check(found).verdict is Verdict.REFUTED


@pytest.mark.slow
def test_a_build_is_checked_bound(build: Build) -> None:
    report = check(build)
    stationary = next(f for f in report.findings if f.id == "stationary")
    assert "c is nonnegative" not in stationary.decision.given, "the build gives c a value"
    assert {"noise_budget", "independence"} <= {finding.id for finding in report.findings}


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
def test_exact_matrices_are_told_apart(kind: Kind) -> None:
    good, bad = (tuple(tuple(Fraction(x) for x in row) for row in matrix) for matrix in KINDS[kind])
    assert not violates_exactly(good, kind)
    assert violates_exactly(bad, kind)


def target_with(tmp_path: Path, potential: str) -> Target:
    path = tmp_path / "target.yaml"
    text = f'name: t\nstate: {{theta: {{shape: d}}, u: {{domain: positive}}}}\npotential: "{potential}"\n'
    path.write_text(text, encoding="utf-8")
    return load_target(path)


Claim = Callable[[Target], Answer]


@pytest.mark.parametrize("claim", [defined, gradient])
@pytest.mark.parametrize("potential", ["theta.T @ theta/2 + u - log(u)", "sum(softplus(theta)) + sqrt(u)"])
def test_a_smooth_potential_is_proved(tmp_path: Path, claim: Claim, potential: str) -> None:
    assert claim(target_with(tmp_path, potential)).verdict is Verdict.PROVED


@pytest.mark.parametrize("potential", ["sum(abs(theta)) + u", "maximum(u, 2) + norm2(theta)"])
def test_a_kink_leaves_the_gradient_undecided(tmp_path: Path, potential: str) -> None:
    target = target_with(tmp_path, potential)
    found = gradient(target).decision
    assert isinstance(found, Undecided)
    assert "smooth" in found.tried[0]
    assert defined(target).verdict is Verdict.PROVED


def test_a_logarithm_of_anything_is_refuted(tmp_path: Path) -> None:
    target = target_with(tmp_path, "sum(log(theta)) + u")
    assert defined(target).verdict is Verdict.REFUTED
    assert gradient(target).verdict is Verdict.UNDECIDED
