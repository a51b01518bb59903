"""Finite integrals: what a witness says is so, and what builds take of files (`documents/verify/normalisable.yaml`)."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import sympy
from answers import document, expect

from recipe_compiler.algebra.polynomial_integrability.infinite_volume import flat
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Value
from recipe_compiler.verify.builds.normalisable import normalisable_build


def test_a_flat_region_is_what_it_says():
    """The region named in the witness is checked at its corners: the energy stays below the bound, far out too."""
    x, y = sympy.symbols("x y", real=True)
    H = x**2 * y**2 + x**2 - y**3 * x**4
    text = dict(flat(H, (x, y), (False, False)).text)
    bound = Fraction(text["H in the region"].removeprefix("at most "))
    places = [part.partition(" = ")[2] for part in text["region"].split(", with")[0].split("; ")]
    parsed = [re.fullmatch(r"(-?)u\d\*s\*\*\((-?\d+)\)", place) for place in places]
    weights = [(-1 if m[1] else 1, int(m[2])) for m in parsed]
    assert len(weights) == 2
    assert sum(w for _, w in weights) >= 0
    for s, *u in product((1, 7, 1000), (1, 2), (1, 2)):
        at = [sign * k * Fraction(s) ** w for (sign, w), k in zip(weights, u, strict=True)]
        value = H.subs({x: sympy.Rational(str(at[0])), y: sympy.Rational(str(at[1]))})
        assert value <= sympy.Rational(str(bound))


def test_a_falling_ray_is_what_it_says():
    """Along the ray named in the witness, and close to it, the energy falls."""
    x, y = sympy.symbols("x y", real=True)
    H = x**4 - 3 * x**2 * y + y**2 + 7 * x + 5
    text = dict(flat(H, (x, y), (False, False)).text)
    s = sympy.Symbol("s", positive=True)
    places = [part.partition(" = ")[2] for part in text["ray"].removesuffix(", s -> oo").split(", ")]
    parsed = [re.fullmatch(r"(?:(-?\d+)\*)?s(?:\*\*(\d+))?", place) for place in places]
    path = [int(m[1] or 1) * s ** int(m[2] or 1) for m in parsed]
    assert len(path) == 2
    for near in (sympy.Rational(99, 100), 1, sympy.Rational(101, 100)):
        assert sympy.limit(H.subs({x: path[0] * near, y: path[1]}), s, sympy.oo) == -sympy.oo


TEMPERED = """
state: {theta: {shape: d}}
parameters: {T: {is: positive}, P: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta)/T
D: [[P]]
Q: [[0]]
"""
BUILD = """
name: b
dynamics: dynamics.yaml
target: target.yaml
parameters: {T: {value: 1}, P: {value: [[1]]}}
scheme: {name: euler}
variant: full
run: {step_size: 0.1}
"""


def test_a_size_that_a_file_fixes_is_not_free(tmp_path):
    """Where the value of P is in a file, the improper integral at d = 2 says nothing about the d that it has."""
    target = "state: {theta: {shape: d}}\nlog_prior: -norm2(theta)/2 + (d - 1)*norm2(theta)"
    build = document(BUILD, dynamics=TEMPERED, target=target)
    expect(normalisable_build(build, bind(build)), "proved")
    unread = tuple((name, Value(file=tmp_path / "P.npy") if name == "P" else value) for name, value in build.values)
    build = replace(build, values=unread)
    expect(normalisable_build(build, bind(build)), "undecided")
