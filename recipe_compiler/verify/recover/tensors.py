"""Q at every size: an exact linear solve over a library of tensors, on the monomials of index notation."""

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from math import floor

from recipe_compiler.derive.recipe import Vector
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.block_matrices import Matrix, place_shape
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.expression import Formula, Pi, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.positions import equation_formulas
from recipe_compiler.tensor.atoms import Factor
from recipe_compiler.tensor.terms import Base, Component, SizeNumber, Tensor, Term
from recipe_compiler.tensor.terms import Pi as PiAtom
from recipe_compiler.verify.recover.candidates import LEVELS, Candidate, added_drift, candidates
from recipe_compiler.verify.recover.ingredients import gathered
from recipe_compiler.verify.recover.skew_problem import Proposal, SkewProblem
from recipe_compiler.verify.recover.solve import Column, Entry, Indeterminates, Powers, Solution, solve
from recipe_compiler.verify.recover.to_formula import Names, enlarged, multiple, scaled, total, transpose


def from_library(problem: SkewProblem) -> Proposal | str:
    """Return Q = sum_k c_k T_k for every size, T_k made of what occurs in the document; otherwise what was tried.

    The c_k are rational functions of sizes and scalar parameters that solve div Q - Q grad H = W, W = f + D grad H -
    div D, compared monomial by monomial in index notation (Ma, Chen, Fox 2015, Theorem 2).
    """
    declarations = problem.dynamics.declarations
    material = gathered(problem.calculus, declarations, list(equation_formulas(problem.dynamics)))
    indeterminates = Indeterminates()
    target = _column(problem.wanted(), declarations, indeterminates)
    listed: list[Candidate] = []
    columns: list[Column] = []
    for level in range(LEVELS):
        more = candidates(problem, material, level)
        for candidate in more:
            added = _added(problem, candidate)
            if added is not None:
                columns.append(_column(added, declarations, indeterminates))
                listed.append(candidate)
        found = solve(columns, target, indeterminates) if more or level == 0 else None
        if found is not None:
            names = _names(indeterminates)
            return Proposal(_written(problem, listed, found, names), "exact linear solve over a library of tensors")
    return f"no combination of {len(listed)} tensors made of what occurs in the document gives the claimed drift"


def _added(problem: SkewProblem, candidate: Candidate) -> Vector | None:
    """Return what a candidate adds to the drift, None where it has no derivative in index notation."""
    try:
        return added_drift(problem, candidate)
    except ModelError:
        return None


def _column(vector: Vector, declarations: Declarations, indeterminates: Indeterminates) -> Column:
    """Return a vector over z as coefficients by block and monomial."""
    found: defaultdict[Hashable, list[tuple[Fraction, Powers]]] = defaultdict(list)
    for n, tensor in enumerate(vector):
        for term in tensor.terms:
            powers, rest = _split(term, declarations, indeterminates)
            found[n, rest].append((term.coefficient, powers))
    return {key: tuple(entry) for key, entry in found.items()}


def _split(term: Term, declarations: Declarations, indeterminates: Indeterminates) -> tuple[Powers, tuple[Factor, ...]]:
    """Return a term's powers of sizes and scalar parameters, and all its other factors."""
    powers: list[tuple[Hashable, int]] = []
    rest: list[Factor] = []
    for atom, exponent in term.factors:
        whole = floor(exponent)
        if not _is_indeterminate(atom, declarations, indeterminates):
            rest.append((atom, exponent))
            continue
        if whole:
            powers.append((atom, whole))
        if exponent != whole:
            rest.append((atom, exponent - whole))
    return tuple(powers), tuple(rest)


def _is_indeterminate(atom: object, declarations: Declarations, indeterminates: Indeterminates) -> bool:
    match atom:
        case SizeNumber() | PiAtom():
            indeterminates.note(atom)
            return True
        case Component(name, (), ()) if isinstance(declarations.find(name), Parameter):
            indeterminates.note(atom)
            return True
        case Base(arg) if not arg.free:
            meaning = _constant(arg, declarations, indeterminates)
            if meaning is not None:
                indeterminates.note(atom, meaning)
            return meaning is not None
        case _:
            return False


def _constant(tensor: Tensor, declarations: Declarations, indeterminates: Indeterminates) -> Entry | None:
    """Return a tensor that is a polynomial in sizes and scalar parameters, None for any other."""
    found: list[tuple[Fraction, Powers]] = []
    for term in tensor.terms:
        powers, rest = _split(term, declarations, indeterminates)
        if rest:
            return None
        found.append((term.coefficient, powers))
    return tuple(found)


def _names(indeterminates: Indeterminates) -> Names:
    found: dict[Hashable, Formula] = {}
    for indeterminate in indeterminates.free:
        match indeterminate:
            case SizeNumber(name):
                found[indeterminate] = Symbol(name, SCALAR, Role.SIZE)
            case Component(name):
                found[indeterminate] = Symbol(name, SCALAR, Role.PARAMETER)
            case _:
                found[indeterminate] = Pi()
    return found


def _written(problem: SkewProblem, listed: list[Candidate], solution: Solution, names: Names) -> Matrix:
    """Return Q as formulas."""
    declarations = problem.dynamics.declarations
    blocks = declarations.blocks
    terms: defaultdict[tuple[int, int], list[Formula]] = defaultdict(list)
    for k, coefficient in solution:
        a, b, formula = listed[k].a, listed[k].b, listed[k].formula
        opposite = transpose(formula, declarations)
        if a == b and opposite == scaled(Fraction(-1), formula):
            terms[a, a].append(multiple(enlarged(coefficient, 2), formula, names))
            continue
        terms[a, b].append(multiple(coefficient, formula, names))
        terms[b, a].append(multiple(enlarged(coefficient, -1), opposite, names))
    return tuple(
        tuple(total(terms[a, b], place_shape(row, col)) for b, col in enumerate(blocks)) for a, row in enumerate(blocks)
    )
