"""What a build gives a number, exactly: its parameters, the sizes that these fix, and its dynamics and target at them.

Values are numbers of the document, doubles of array files, and defaults that are numbers. A scalar is put in as the
number it is, a multiple of the identity as such, any other matrix as a parameter that has a value (`Parameter.value`)
and the kinds that the value shows.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rational_matrices import kinds_shown
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.formula.build import multiply
from recipe_compiler.formula.declaration import Declarations, Entries, Parameter
from recipe_compiler.formula.expression import Filled, Formula, Identity, Number, Symbol
from recipe_compiler.formula.shapes import Shape, Sizes
from recipe_compiler.formula.substitute import resizer, substitute
from recipe_compiler.spec.bind import bind, replaced, replacing, rewritten
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics, Target, Value

Rational = tuple[tuple[Fraction, ...], ...]


def list_declared_parameters(build: Build) -> tuple[Parameter, ...]:
    """Return the parameters that the dynamics, the target and the build declare, in this order."""
    return (*build.dynamics.declarations.parameters, *build.target.declarations.parameters, *build.parameters)


def find_known_sizes(build: Build, bound: Dynamics | Target) -> Sizes:
    """Return the sizes of bound dynamics, or of a target, that the build states or that its values fix."""
    names = bound.declarations.sizes
    return {name: n for name, n in _collect_sizes(build).items() if name in names}


def list_unread_parameters(build: Build) -> tuple[str, ...]:
    """Return the parameters whose values are in files too large to read during a check; a run reads them."""
    return tuple(name for name, value in build.values if value.file is not None and value.numbers is None)


def sharpen_kinds(build: Build, bound: Dynamics) -> Dynamics:
    """Return the bound dynamics with the kinds that exact values show of their parameters."""
    values = _list_exact_values(build)
    parameters = tuple(_sharpen_kinds(values, p) for p in bound.declarations.parameters)
    return replace(bound, declarations=replace(bound.declarations, parameters=parameters))


def bind_values(build: Build) -> Dynamics | None:
    """Return the bound dynamics at every value and size that the build gives; None where it gives no value.

    A scalar is replaced by its number, c I by itself; any other matrix stays a parameter that carries its n x m
    fractions and the kinds that these show. A parameter bound to a formula of such parameters gets the value of the
    formula.
    """
    build = evaluate_bound_formulas(build)
    bound = bind(build)
    values = _list_exact_values(build)
    if not any(p.name in values or p.default is not None for p in bound.declarations.parameters):
        return None
    found = replaced(bound, _list_replacements(bound.declarations.parameters, values, find_known_sizes(build, bound)))
    parameters = tuple(_attach_value(values, p) for p in found.declarations.parameters)
    return replace(found, declarations=replace(found.declarations, parameters=parameters))


def fix_sizes(build: Build) -> Build:
    """Return a build in which the sizes it states, or its values fix, are numbers in all shapes and formulas."""
    sizes: dict[str, Formula] = {name: Number(Fraction(n)) for name, n in _collect_sizes(build).items()}
    shape = resizer(sizes)
    return replace(
        build,
        dynamics=replaced(build.dynamics, sizes),
        target=_bind_target(build.target, {}, _collect_sizes(build)),
        bind=tuple((name, substitute(formula, sizes)) for name, formula in build.bind),
        parameters=tuple(replace(p, shape=shape(p.shape)) for p in build.parameters),
    )


def put_values_in(formula: Formula, build: Build) -> Formula:
    """Return a formula with the build's values and sizes put in, as far as formulas can express them.

    A matrix that is no multiple of the identity keeps its name: a formula has no literal for it.
    """
    bound = bind(evaluate_bound_formulas(build))
    return substitute(
        formula,
        _list_replacements(bound.declarations.parameters, _list_exact_values(build), find_known_sizes(build, bound)),
    )


def bind_target_values(build: Build) -> Target | None:
    """Return the build's target at every value and size that the build gives; None where it gives none."""
    values = _list_exact_values(build)
    if not any(p.name in values for p in build.target.declarations.parameters):
        return None
    return _bind_target(build.target, values, find_known_sizes(build, build.target))


def bind_target_sizes(target: Target, sizes: Sizes) -> Target:
    """Return a target with the number of data and other sizes put in. Raises ModelError where formulas take none."""
    return _bind_target(target, {}, sizes)


def evaluate_bound_formulas(build: Build) -> Build:
    """Return a build in which a parameter bound to a formula of matrices with values has the value of that formula.

    With C = [[1, 0], [0, 2]] and `bind: {B: 2*C}`, B has the value [[2, 0], [0, 4]] and is no longer bound.
    """
    numbers = {name: found for name, formula in build.bind if (found := _evaluate_bound_formula(build, name, formula))}
    kept = tuple((name, formula) for name, formula in build.bind if name not in numbers)
    values = tuple((name, Value(found)) for name, found in numbers.items())
    return replace(build, bind=kept, values=(*build.values, *values)) if numbers else build


def list_rounded_builds(build: Build) -> Iterator[Build]:
    """Yield a build with its values as doubles, and as the shortest decimals of these, where they are other numbers.

    Raises OverflowError where a value is too large for a double.
    """
    build = evaluate_bound_formulas(build)
    for form in (Fraction, lambda x: Fraction(repr(x))):
        values = tuple((name, _round_value(value, form)) for name, value in build.values)
        if values != build.values:
            yield replace(build, values=values)


def _round_value(value: Value, form: Callable[[float], Fraction]) -> Value:
    if value.numbers is None:
        return value
    return replace(value, numbers=tuple(tuple(form(float(x)) for x in row) for row in value.numbers))


def evaluate_exactly(formula: Formula, build: Build) -> Rational | None:
    """Return the value of a formula of parameters in a build as n x m fractions; None where it is not exactly known.

    It is not known of formulas of the state, of data, of functions or of the step size, of entries that are irrational,
    and of matrices too large to write out.
    """
    uses, values = dependence(formula), _list_exact_values(build)
    if uses.blocks or uses.functions or uses.data or uses.draws or uses.step:
        return None
    sizes = _collect_sizes(build)
    declared = Declarations((), tuple(p for p in list_declared_parameters(build) if p.name in uses.parameters))
    put_in = _list_replacements(declared.parameters, values, sizes)
    try:
        here = rewritten(declared, replace(replacing(put_in), parameter=partial(_attach_value, values)))
        entries = rows(substitute(formula, put_in), Setting(here, sizes))
    except (NotScalarisableError, TooLargeError, KeyError):
        return None
    found = tuple(tuple(fraction(x) for x in row if isinstance(x, sympy.Rational)) for row in entries)
    return found if all(len(x) == len(y) for x, y in zip(found, entries, strict=True)) else None


def _evaluate_bound_formula(build: Build, name: str, formula: Formula) -> Rational | None:
    """Return the value of a parameter bound to a formula of matrices with values; None of any other."""
    values = _list_exact_values(build)
    shapes = {p.name: p.shape for p in list_declared_parameters(build)}
    if name not in shapes or not formula.shape.sizes or isinstance(formula, Symbol):
        return None
    matrices = [p for p in dependence(formula).parameters if p in values and shapes[p].sizes]
    sizes = _collect_sizes(build)
    entries = math.prod(size if isinstance(size, int) else sizes.get(size, 1) for size in shapes[name].sizes)
    return evaluate_exactly(formula, build) if matrices and entries <= limits.DATA else None


def _list_replacements(
    parameters: Iterable[Parameter], values: Mapping[str, Rational], sizes: Sizes
) -> dict[str, Formula]:
    """Return the formulas that stand for sizes, scalars, multiples of the identity and defaults."""
    found: dict[str, Formula] = {name: Number(Fraction(n)) for name, n in sizes.items()}
    for parameter in parameters:
        value = values.get(parameter.name)
        simple = parameter.default if value is None else _express_value(value, parameter.shape)
        if simple is not None:
            found[parameter.name] = simple
    return found


def _express_value(value: Rational, shape: Shape) -> Formula | None:
    """Return a value that formulas can express: a number, a zero, a multiple of the identity."""
    if not shape.sizes:
        return Number(value[0][0])
    if not any(x for row in value for x in row):
        return Filled(0, shape)
    first = value[0][0]
    if shape.rows is None or shape.rows != shape.cols:
        return None
    if any(x != (first if i == j else 0) for i, row in enumerate(value) for j, x in enumerate(row)):
        return None
    return Identity(shape.rows) if first == 1 else multiply(Number(first), Identity(shape.rows), shape)


def _attach_value(values: Mapping[str, Rational], parameter: Parameter) -> Parameter:
    """Return a parameter with its value, if that has its shape at known sizes, and the kinds that the value shows."""
    value, sizes = values.get(parameter.name), (parameter.shape.rows or 1, parameter.shape.cols or 1)
    if value is None or sizes != (len(value), len(value[0])):
        return parameter
    return replace(_sharpen_kinds(values, parameter), value=Entries(value))


def _sharpen_kinds(values: Mapping[str, Rational], parameter: Parameter) -> Parameter:
    value = values.get(parameter.name)
    return parameter if value is None else replace(parameter, kinds=kinds_shown(value, parameter.shape))


def _bind_target(target: Target, values: Mapping[str, Rational], sizes: Sizes) -> Target:
    by = replacing(_list_replacements(target.declarations.parameters, values, sizes))
    return rewritten(target, replace(by, parameter=partial(_attach_value, values)))


def _collect_sizes(build: Build) -> Sizes:
    """Return every size that the build states, or that the value of a parameter fixes."""
    found = dict(build.sizes)
    values = _list_exact_values(build)
    for parameter in list_declared_parameters(build):
        if parameter.name in values:
            for size, length in _pair_sizes(parameter.shape, values[parameter.name]):
                found.setdefault(size, length)
    return found


def _pair_sizes(shape: Shape, value: Rational) -> Iterator[tuple[str, int]]:
    """Yield the symbolic sizes of a shape with the lengths of a value."""
    for size, length in zip((shape.rows, shape.cols), (len(value), len(value[0])), strict=True):
        if isinstance(size, str):
            yield size, length


def _list_exact_values(build: Build) -> dict[str, Rational]:
    """Return the exact values; a default that is a number is one too."""
    return {name: value.numbers for name, value in build.values if value.numbers is not None}
