"""Tensors with unknown constants as polynomial equations: the coefficients of their monomials, which must vanish."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor

from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.tensor.atoms import Factor
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.order import spell_factors
from recipe_compiler.tensor.terms import Atom, Component, Pi, SizeNumber, Tensor
from recipe_compiler.tensor.zero import cleared, instances

MAX_TERMS = 3000
"""Tensors of more terms are left out: what is found is proved anyhow."""

Monomial = tuple[tuple[str, int], ...]
"""Whole powers, also negative ones, of constants and unknowns by name."""

Equation = tuple[tuple[Fraction, Monomial], ...]
"""A sum of rational multiples of monomials that must vanish."""


def constant_names(declarations: Declarations) -> tuple[str, ...]:
    """Return the names that a coefficient may depend on: sizes, scalar parameters and pi."""
    scalars = (item.name for item in declarations.parameters if item.shape == SCALAR)
    return (*declarations.sizes, *scalars, "pi")


def with_unknowns(declarations: Declarations, count: int) -> tuple[Declarations, tuple[str, ...]]:
    """Return declarations with `count` more scalar parameters under new names, and these names."""
    groups = (declarations.blocks, declarations.parameters, declarations.functions, declarations.data)
    taken = {item.name for group in groups for item in group} | set(declarations.sizes)
    numbers = range(1, count + len(taken) + 1)
    names = tuple(name for n in numbers if (name := f"unknown{n}") not in taken)[:count]
    more = (*declarations.parameters, *(Parameter(name) for name in names))
    return replace(declarations, parameters=more), names


def equations(c: Calculus, tensors: Iterable[Tensor], names: Iterable[str]) -> list[Equation]:
    """Return the coefficients of the monomials of tensors, as polynomials in the named scalars.

    All of them vanish only where the tensors do: monomials count as independent, after sums in denominators have been
    multiplied out and sums over fixed sizes written out. (c - 1) r_i + (c**2 - a) theta_i has c - 1 and c**2 - a. A
    relation that the calculus does not know may hide a solution; what is found needs a proof of its own.
    """
    known: dict[Atom, str] = {Component(name): name for name in names} | {Pi(): "pi"}
    found: list[Equation] = []
    for tensor in tensors:
        if len(tensor.terms) > MAX_TERMS:
            continue
        for one in instances(c, tensor):
            found += _coefficients(cleared(c, one), known)
    return found


def _coefficients(tensor: Tensor, known: Mapping[Atom, str]) -> Iterator[Equation]:
    groups: defaultdict[str, list[tuple[Fraction, Monomial]]] = defaultdict(list)
    for term in tensor.terms:
        powers: list[tuple[str, int]] = []
        rest: list[Factor] = []
        for atom, exponent in term.factors:
            name = atom.name if isinstance(atom, SizeNumber) else known.get(atom)
            whole = floor(exponent) if name is not None else 0
            if name is not None and whole:
                powers.append((name, whole))
            if exponent != whole:
                rest.append((atom, exponent - whole))
        groups[spell_factors(rest)].append((term.coefficient, tuple(powers)))
    for name in sorted(groups):
        yield tuple(groups[name])
