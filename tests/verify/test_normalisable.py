"""Finite integrals: what a witness says is so, and what builds take of files (`documents/verify/normalisable.yaml`)."""

import re
from dataclasses import replace
from itertools import product

import pytest
import sympy
from answers import document, expect

from recipe_compiler.algebra.polynomial_integrability.infinite_volume import flat
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Value
from recipe_compiler.verify.builds.normalisable import normalisable_build
from recipe_compiler.verify.integrability.marginal_law import gaussian_integral

x, y, w = sympy.symbols("x y w", real=True)
s = sympy.Symbol("s", positive=True)


@pytest.mark.parametrize(
    ("H", "positive"),
    [
        ((x * y - 1) ** 2, (False, False)),
        (x**2 * y**2 + x**2 - y**3 * x**4, (False, False)),
        (x**4 - 3 * x**2 * y + y**2 + 7 * x + 5, (False, False)),
        (x**2 + y**2 - x * y**3, (True, True)),
        (x**4 + y**4 - 3 * x**2 * y**2 + w**6, (False, False, False)),
        (x**2 * y**2 * w**2 + x**2 * y**2, (True, False, False)),
    ],
    ids=str,
)
def test_a_flat_region_is_what_it_says(H, positive):
    """Along the path named in the witness, and near it, the energy stays bounded or falls; the volume is infinite."""
    z = (x, y, w)[: len(positive)]
    text = dict(flat(H, z, positive).text)
    path = dict(zip(z, re.findall(r"= ([^,]+),", text["region"]), strict=True))
    path = {k: sympy.sympify(at, {"s": s}) for k, at in path.items()}
    weights = [s * sympy.diff(at, s) / at if at != 0 else 0 for at in path.values()]
    assert any(weights)
    assert int(text["volume of the region"].rpartition(" ")[2]) >= sum(weights)
    for near in product((sympy.Rational(99, 100), 1), repeat=len(z)):
        along = sympy.limit(H.subs({k: at * u for (k, at), u in zip(path.items(), near, strict=True)}), s, sympy.oo)
        assert along == -sympy.oo if text["H in the region"] != "bounded" else along < sympy.oo


@pytest.mark.parametrize("H", [x**4 + y**2 - x * y, x**2 * y**2 + x**2 + y**2, (x**2 - 1) ** 2 + (x - y) ** 2], ids=str)
def test_no_region_is_named_where_the_integral_is_finite(H):
    assert flat(H, (x, y), (False, False)) is None


@pytest.mark.parametrize("kink", [sympy.Abs(x) * y, sympy.Max(x - 1, 0) * y], ids=str)
def test_what_has_a_kink_in_a_coordinate_is_not_integrated_as_a_gaussian(kink):
    with pytest.raises(NoNormalFormError):
        gaussian_integral(x**2 / 2 + kink, (x,))


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
