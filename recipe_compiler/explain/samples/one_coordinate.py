"""One scalar coordinate: f = -D H' + D' leaves one H, found by quadrature where it is elementary."""

from collections.abc import Iterator

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars import untyped
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.algebra.scalars.symbols import coordinate
from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.explain.samples.candidate_densities import line
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verify.core.stratonovich import ito_drift

MAX_DEGREE = 6
MAX_OPERATIONS = 120
"""Integrands of higher degree or with more operations are not integrated."""


class _NotWrittenError(Exception):
    """A part of an integral that the language of formulas does not have."""


def on_a_line(dynamics: Dynamics) -> Iterator[Formula]:
    """Yield the H with f = -D H' + D' where z is one scalar and the integral of H' = (D' - f)/D is elementary.

    (Ma, Chen, Fox 2015, Eq. 3, with Q = 0.) On a line no other density without a current is stationary. "Elementary" is
    a sum of rational functions and logarithms. f = -x and D = 1 + x**2 give H' = 3 x/(1 + x**2) and H = (3/2) log(1 +
    x**2).

    Raises:
        NotConvertedError: a Stratonovich drift whose Ito drift is not known.
    """
    block = line(dynamics)
    D = dynamics.claims.diffusion or dynamics.D
    if block is None or D is None or dynamics.declarations.sizes:
        return
    (stated,) = ito_drift(dynamics, D)
    at = Setting(dynamics.declarations, {})
    try:
        f, noise = rows(stated, at)[0][0], rows(D[0][0], at)[0][0]
        found = _integral(f, noise, coordinate(block, ()))
        if found is not None:
            yield _formula(found, dynamics.declarations)
    except (NotScalarisableError, _NotWrittenError):
        return


def _integral(f: Expr, D: Expr, x: Expr) -> Expr | None:
    """Return the integral of (D' - f)/D over x, None where it is not of the kinds looked for.

    A field F enters as b F' with b constant (its integral is b F), or with b F constant (b F log F).
    """
    if D == 0:
        return None
    integrand = sympy.expand((sympy.diff(D, x) - f) / D)
    if integrand.count_ops() > MAX_OPERATIONS:
        return None
    found: list[Expr] = []
    fields = sorted(integrand.atoms(AppliedUndef), key=str)
    slopes = {field: sympy.Symbol(f"slope{n}") for n, field in enumerate(fields)}
    rest = integrand.subs({sympy.diff(field, x): slope for field, slope in slopes.items()})
    for field, slope in slopes.items():
        b = sympy.expand(sympy.diff(rest, slope))
        if b.has(slope):
            return None
        rest = sympy.expand(rest - b * slope)
        if not b.has(x):
            found.append(b * field)
        elif not sympy.expand(b * field).has(x):
            found.append(sympy.expand(b * field) * sympy.log(field))
        else:
            return None
    if rest.has(AppliedUndef) or any(rest.has(slope) for slope in slopes.values()):
        return None
    rational = _rational_integral(rest, x)
    return None if rational is None else sympy.Add(*found, rational)


def _rational_integral(e: Expr, x: Expr) -> Expr | None:
    if not e.is_rational_function(x):
        return None
    top, bottom = sympy.fraction(sympy.together(e))
    if max(sympy.Poly(top, x).degree(), sympy.Poly(bottom, x).degree()) > MAX_DEGREE:
        return None
    found = untyped.ratint(e, x)
    return found if isinstance(found, Expr) else None


def _formula(e: Expr, declarations: Declarations) -> Formula:
    """Return a scalar expression as a formula."""
    match e:
        case sympy.Rational():
            return ex.Number(fraction(e))
        case sympy.Symbol():
            return _named(str(e), declarations)
        case AppliedUndef():
            return _named(type(e).__name__, declarations)
        case sympy.Add():
            return build.add([_formula(term, declarations) for term in e.args], SCALAR)
        case sympy.Mul():
            first, *others = (_formula(factor, declarations) for factor in e.args)
            for other in others:
                first = build.multiply(first, other, SCALAR)
            return first
        case sympy.Pow() if isinstance(e.exp, sympy.Rational):
            exponent = ex.Number(fraction(e.exp))
            return build.power(_formula(e.base, declarations), exponent, SCALAR)
        case sympy.log() | sympy.atan():
            return ex.Apply(type(e).__name__, (_formula(argument(e), declarations),), SCALAR)
        case _:
            raise _NotWrittenError(type(e).__name__)


def _named(name: str, declarations: Declarations) -> Formula:
    match declarations.find(name):
        case Block(shape=shape):
            return ex.Symbol(name, shape, Role.BLOCK)
        case Parameter(shape=shape) if shape == SCALAR:
            return ex.Symbol(name, shape, Role.PARAMETER)
        case Function(of=of, shape=shape) if shape == SCALAR:
            return ex.FunctionAt(name, of, shape)
        case _:
            raise _NotWrittenError(name)
