"""Exact matrices and large ones are of the kinds declared; log posteriors are defined and smooth."""

from dataclasses import replace
from fractions import Fraction

import pytest
from answers import answer, document, expect, shipped

from recipe_compiler.algebra.scalars.rational_matrices import violates_exactly
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.spec.bind import bind
from recipe_compiler.verify.builds.bindings import bindings, gradient_noise


def test_what_structure_shows_is_not_written_out_at_a_large_size(monkeypatch):
    monkeypatch.setattr("recipe_compiler.verify.builds.bindings.evaluate_exactly", None)  # 10**12 entries
    large = replace(shipped("builds/sghmc_logistic"), sizes=(("d", 10**6),))
    expect(bindings(large, bind(large)), "proved")
    expect(gradient_noise(large, bind(large)), "proved")


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
