"""What a build gives a number: scalars as formulas, sizes, the entries of matrices, and the kinds that they show."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.symbols import component, positions
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.spec.model import Build, Dynamics, Target, Value
from recipe_compiler.verify.kinds import violates_exactly

Sizes = dict[str, int]
Rational = tuple[tuple[Fraction, ...], ...]


def scalar_values(build: Build, bound: Dynamics) -> dict[str, Formula]:
    """Return the scalar parameters of the bound dynamics that the build gives a number."""
    found = _numbers(build)
    return {p.name: Number(found[p.name][0][0]) for p in _parameters(bound) if not p.shape.sizes and p.name in found}


def known_sizes(build: Build, bound: Dynamics) -> Sizes:
    """Return the sizes that the build states, or that the values of its matrices have."""
    found = dict(build.sizes)
    values = _numbers(build)
    for parameter in _parameters(bound):
        if parameter.name not in values:
            continue
        rows = values[parameter.name]
        for size, length in zip((parameter.shape.rows, parameter.shape.cols), (len(rows), len(rows[0])), strict=True):
            if isinstance(size, str):
                found.setdefault(size, length)
    return found


def entry_values(build: Build, bound: Dynamics, sizes: Sizes) -> dict[Expr, Expr]:
    """Return what each entry of a valued parameter is, by its name in the second engine."""
    values = _numbers(build)
    found: dict[Expr, Expr] = {}
    for parameter in _parameters(bound):
        if parameter.name not in values:
            continue
        flat = [x for row in values[parameter.name] for x in row]
        for at, value in zip(positions(parameter.shape, sizes), flat, strict=True):
            name = component(parameter, at, bound.declarations, sizes)
            if isinstance(name, sympy.Symbol):
                found[name] = sympy.Rational(value.numerator, value.denominator)
    return found


def from_files(build: Build) -> tuple[str, ...]:
    """Return the parameters whose values stand in array files, which are read when the module runs."""
    return tuple(name for name, value in build.values if value.file is not None)


def sharpened(build: Build, bound: Dynamics) -> Dynamics:
    """Return the dynamics with what exact values show of their parameters: positive, or positive definite."""
    values = _numbers(build)
    parameters = tuple(_sharper(p, values.get(p.name)) for p in _parameters(bound))
    return replace(bound, declarations=replace(bound.declarations, parameters=parameters))


def sharpened_target(build: Build) -> Target:
    """Return the build's target with what exact values show of its parameters."""
    return _sharper_target(build.target, _numbers(build))


def _sharper_target(target: Target, values: Mapping[str, Rational]) -> Target:
    parameters = tuple(_sharper(p, values.get(p.name)) for p in target.declarations.parameters)
    declared = None if target.declared is None else _sharper_target(target.declared, values)
    return replace(target, declarations=replace(target.declarations, parameters=parameters), declared=declared)


def _sharper(parameter: Parameter, value: Rational | None) -> Parameter:
    if value is None:
        return parameter
    kind = Kind.POSITIVE if not parameter.shape.sizes else Kind.PD
    square = parameter.shape.cols is not None and len(value) == len(value[0])
    if (kind is Kind.PD and not square) or kind in parameter.kinds or violates_exactly(value, kind):
        return parameter
    return replace(parameter, kinds=(*parameter.kinds, kind))


def _parameters(bound: Dynamics) -> tuple[Parameter, ...]:
    return bound.declarations.parameters


def _numbers(build: Build) -> dict[str, Rational]:
    """Return the exact values; a default of the target's is one too."""
    return {name: value.numbers for name, value in build.values if _exact(value) and value.numbers is not None}


def _exact(value: Value) -> bool:
    return value.numbers is not None
