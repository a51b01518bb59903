"""Tensors with unknown constants as polynomial equations: the coefficients of their monomials, which must vanish."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, lcm

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from recipe_compiler import limits
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.order import spell_factors
from recipe_compiler.tensor.terms import Atom, Base, Component, Pi, SizeNumber, Tensor, Term
from recipe_compiler.tensor.zero import cleared, instances

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
        if len(tensor.terms) > limits.TERMS:
            continue
        sizes = {index.size for term in tensor.terms for index in indices(term.factors) if isinstance(index.size, int)}
        for one in instances(c, tensor) if max(sizes, default=0) <= limits.FEW_COORDINATES else (tensor,):
            groups: defaultdict[str, list[Term]] = defaultdict(list)
            for term in cleared(c, one, lambda base: not _has_no_index(base.arg)).terms:
                groups[spell_factors(factor for factor in term.factors if indices((factor,)))].append(term)
            for name in sorted(groups):
                found += _Scalars(groups[name]).equations(groups[name], known)
    return found


def _has_no_index(tensor: Tensor) -> bool:
    """Return whether a tensor contains no index, not even inside its sums."""
    factors = [(atom, exponent) for term in tensor.terms for atom, exponent in term.factors]
    return not indices(factors) and all(_has_no_index(atom.arg) for atom, _ in factors if isinstance(atom, Base))


class _Scalars:
    """The polynomials in the factors without indices of some terms, sums that are divided by multiplied out."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.roots: dict[Atom, int] = {}
        """The common denominator of the exponents that an atom has: its root is the generator."""
        self.sums: dict[Atom, Tensor] = {}
        self.note(terms)
        self.atoms = list(self.roots)
        self.places = {atom: n for n, atom in enumerate(self.atoms)}
        self.context = fmpq_mpoly_ctx.get([f"g{n}" for n in range(len(self.atoms) or 1)], Ordering.degrevlex)

    def note(self, terms: Iterable[Term]) -> None:
        """Add the generators of terms, those of sums inside first."""
        for term in terms:
            for atom, exponent in term.factors:
                if indices(((atom, exponent),)):
                    continue
                if isinstance(atom, Base) and atom not in self.sums and _is_polynomial(atom.arg):
                    self.note(atom.arg.terms)
                    self.sums[atom] = atom.arg
                self.roots[atom] = lcm(self.roots.get(atom, 1), exponent.denominator)

    def numerator(self, terms: Sequence[Term]) -> fmpq_mpoly:
        """Return the sum of terms times what clears every denominator."""
        lowest, groups = dict[Atom, int](), dict[tuple[tuple[Atom, int], ...], dict[tuple[int, ...], fmpq]]()
        for atom, n in (factor for term in terms for factor in term.factors if factor[0] in self.roots):
            lowest[atom] = min(lowest.get(atom, 0), floor(n))
        shifts = {atom: Fraction(-low) for atom, low in lowest.items() if low}
        for term in terms:
            powers = shifts | {atom: n - lowest[atom] for atom, n in term.factors if atom in self.roots}
            exponents, sums = [0] * (len(self.atoms) or 1), list[tuple[Atom, int]]()
            for atom, n in powers.items():
                whole = n // 1 if atom in self.sums else 0
                sums += [(atom, whole)] if whole else []
                exponents[self.places[atom]] = int((n - whole) * self.roots[atom])
            same, key = groups.setdefault(tuple(sums), {}), tuple(exponents)
            number = fmpq(term.coefficient.numerator, term.coefficient.denominator)
            same[key] = same.get(key, fmpq(0)) + number
        total = self.context.constant(0)
        for sums, same in groups.items():
            product = self.context.from_dict(same)
            for atom, whole in sums:
                product *= self.numerator(self.sums[atom].terms) ** whole
            total += product
        return total

    def equations(self, terms: Sequence[Term], known: Mapping[Atom, str]) -> Iterator[Equation]:
        """Yield the coefficients of the monomials in what is not a named scalar or a size."""
        names = [atom.name if isinstance(atom, SizeNumber) else known.get(atom) for atom in self.atoms]
        roots = [self.roots[atom] for atom in self.atoms]
        groups: defaultdict[tuple[int, ...], list[tuple[Fraction, Monomial]]] = defaultdict(list)
        for exponents, number in self.numerator(terms).to_dict().items():
            rest, powers = [*map(int, exponents)], list[tuple[str, int]]()
            for k in (k for k, n in enumerate(exponents) if n):
                if name := names[k]:
                    whole, rest[k] = divmod(rest[k], roots[k])
                    powers += [(name, whole)] if whole else []
            groups[tuple(rest)].append((Fraction(int(number.p), int(number.q)), tuple(powers)))
        yield from (tuple(groups[rest]) for rest in sorted(groups))


def _is_polynomial(tensor: Tensor) -> bool:
    return _has_no_index(tensor) and all(n >= 0 for term in tensor.terms for _, n in term.factors)
