"""Q at fixed sizes: polynomials in the coordinates, and polynomials times transcendental factors of the equations."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS, Corner
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Formula
from recipe_compiler.verify.recover.polynomials import (
    Polynomial,
    PolynomialReader,
    PolynomialTooLargeError,
    add,
    multiply,
    scaled,
)
from recipe_compiler.verify.recover.scalar_formulas import NotWrittenError, Writer
from recipe_compiler.verify.recover.skew_problem import Entries, Fields, Proposal, SkewProblem, assembled
from recipe_compiler.verify.recover.solve import Entry, Indeterminates, Solution, solve
from recipe_compiler.verify.recover.to_formula import multiple

MOST_FACTORS = 8
"""So many transcendentals are used, those of the drift first."""

LARGEST_DEGREE = 5
MOST = 300
"""So many unknowns are solved for at once."""

Unknown = tuple[int, int, Expr]
"""A pair i < j of coordinates and the scalar that stands in Q_ij, and with the other sign in Q_ji."""


def multipliers(at: Fields) -> tuple[list[Expr], list[Expr]]:
    """Return the transcendentals in W and grad H (exp, roots, sin and cos, ...), and the products of two of them."""
    state = set(at.z)
    found: dict[Expr, None] = {}
    for e in (*at.W, *at.g):
        for node in sympy.preorder_traversal(e):
            if isinstance(node, Expr) and node.free_symbols & state:
                found.update(dict.fromkeys(_kernels(node)))
    single = list(found)[:MOST_FACTORS]
    return single, [a * b for a, b in combinations_with_replacement(single, 2)]


def _kernels(node: Expr) -> Iterator[Expr]:
    match node:
        case sympy.sin() | sympy.cos():
            yield from (sympy.sin(node.args[0]), sympy.cos(node.args[0]))
        case AppliedUndef():
            yield node
        case _ if type(node) in SCALAR_FUNCTIONS and SCALAR_FUNCTIONS[type(node)].corner is Corner.NONE:
            yield node
        case sympy.Pow() if not node.exp.is_Integer or node.exp < 0:
            yield node
        case _:
            return


def from_ansatz(problem: SkewProblem, at: Fields) -> Proposal | str:
    """Return a Q at the fixed sizes of a document, n x n, by a linear solve; otherwise what was tried.

    Each entry above the diagonal is sum_k c_k m_k, with m_k monomials in the coordinates times transcendentals of W.
    div Q - Q grad H = W, W = f + D grad H - div D, is linear in the c_k, which may be rational functions of the
    parameters (Ma, Chen, Fox 2015, Theorem 2). Larger sets of m_k are tried one after the other. The result is a
    proposal, to be proved by `search.verified`.
    """
    tried: list[str] = []
    for unknowns, says in _stages(at):
        if len(unknowns) > MOST:
            continue
        tried.append(f"{says} ({len(unknowns)} unknowns)")
        try:
            found = _solved(at, unknowns)
            if found is not None:
                Q = _written(problem, unknowns, *found)
                return Proposal(Q, f"exact linear solve for {says}")
        except (PolynomialTooLargeError, NotWrittenError) as reason:
            tried[-1] += f": {reason}"
    return f"no Q was found with entries that are {', '.join(tried)}" if tried else "too many coordinates for an ansatz"


def _stages(at: Fields) -> Iterator[tuple[list[Unknown], str]]:
    """Yield ever larger sets of unknowns, each with the simpler ones first."""
    single, double = multipliers(at)
    for degree in range(1, LARGEST_DEGREE + 1):
        plain = _unknowns(at, degree, [sympy.Integer(1)])
        yield plain, f"polynomials of degree {degree}"
        for own in range(1, degree + 1) if single else ():
            yield (
                plain + _unknowns(at, own, single),
                f"polynomials of degree {degree}, those of degree {own} by transcendentals",
            )
    for own in range(2) if double else ():
        makers = [sympy.Integer(1), *single, *double]
        yield _unknowns(at, own, makers), f"polynomials of degree {own} by products of transcendentals"


def _unknowns(at: Fields, degree: int, makers: Sequence[Expr]) -> list[Unknown]:
    pairs = list(combinations(range(len(at.z)), 2))
    return [(i, j, m * k) for k in makers for m in _monomials(at.straight, degree) for i, j in pairs]


def _monomials(z: Sequence[Expr], degree: int) -> list[Expr]:
    return [sympy.Mul(*factors) for n in range(degree + 1) for factors in combinations_with_replacement(z, n)]


def _solved(at: Fields, unknowns: Sequence[Unknown]) -> tuple[Solution, list[Expr]] | None:
    """Set up `W_i = sum_j d_j Q_ij - Q_ij g_j`, equation by equation without denominators, and solve.

    Return the solution with the parameters that it may depend on.
    """
    shapes = list(dict.fromkeys(e for _, _, e in unknowns))
    slopes = {(e, n): sympy.diff(e, x) for e in shapes for n, x in enumerate(at.z)}
    reader = PolynomialReader([*at.g, *at.W, *shapes, *slopes.values()])
    wanted = [reader.of(e) for e in at.W]
    minus_g = [scaled(reader.of(e), -1) for e in at.g]
    parts = {(e, n): add([reader.of(slope), multiply(reader.of(e), minus_g[n])]) for (e, n), slope in slopes.items()}
    constants = {number: e for number, e in reader.scalars().items() if not e.free_symbols & set(at.z)}
    columns: list[dict[Hashable, Entry]] = [{} for _ in unknowns]
    target: dict[Hashable, Entry] = {}
    for row in range(len(at.z)):
        touched = [k for k, (i, j, _) in enumerate(unknowns) if row in (i, j)]
        equation = [_of_row(parts, unknowns[k], row) for k in touched]
        *rows, right = reader.cleared([*equation, wanted[row]])
        target.update(_entries(row, right, constants))
        for k, polynomial in zip(touched, rows, strict=True):
            columns[k].update(_entries(row, polynomial, constants))
    found = solve(columns, target, Indeterminates(list(constants.values())))
    return None if found is None else (found, list(constants.values()))


def _of_row(parts: Mapping[tuple[Expr, int], Polynomial], unknown: Unknown, row: int) -> Polynomial:
    """Return what an unknown is multiplied with in one equation: Q_ij stands in row i, -Q_ij in row j."""
    i, j, e = unknown
    return parts[e, j] if row == i else scaled(parts[e, i], -1)


def _entries(row: int, polynomial: Polynomial, parameters: Mapping[int, Expr]) -> dict[Hashable, Entry]:
    """Return the coefficients of a polynomial by monomial, parameters going into the coefficients."""
    found: defaultdict[Hashable, list[tuple[Fraction, tuple[tuple[Hashable, int], ...]]]] = defaultdict(list)
    for powers, number in polynomial.items():
        rest = tuple(item for item in powers if item[0] not in parameters)
        own = tuple((parameters[generator], n) for generator, n in powers if generator in parameters)
        found[row, rest].append((number, own))
    return {key: tuple(entry) for key, entry in found.items()}


def _written(problem: SkewProblem, unknowns: Sequence[Unknown], solution: Solution, parameters: list[Expr]) -> Matrix:
    writer = Writer(problem.dynamics.declarations)
    names: dict[Hashable, Formula] = {p: writer.written(p) for p in parameters}
    entries: Entries = {}
    for k, coefficient in solution:
        i, j, e = unknowns[k]
        entries.setdefault((i, j), []).append(multiple(coefficient, writer.written(e), names))
    return assembled(problem, writer, entries)
