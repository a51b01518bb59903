"""The covariance that a cycle of refreshes around one word settles at as eps -> 0, exactly, where U is quadratic.

One cycle is z' = F z + g + N(0, Sigma), F and Sigma [n, n] of polynomials in eps: letters are shifts z + s eps f(z), f
affine, and a refresh of b is c b + N(0, (1 - c**2) inv(P_b)), P_b the Hessian of H in b. Every stationary law with
second moments has a covariance C = F C F.T + Sigma. Where the limit of C as eps -> 0 is not inv(P), exp(-H) is not the
law that the cycle tends to.

With an acceptance min(1, exp(-W)), and all blocks but theta drawn wholly anew, exp(-H) is not kept where F S F.T +
Sigma - S, S = inv(P), has a term of eps**2 in theta: W is O(eps**2) on a word that makes the equation, and a refused
move would have gone O(eps), so that refusals change the covariance of theta by O(eps**3).

Worked: H = (theta**2 + r**2)/2 and the cycle "refresh r, B, A" have theta' = (1 - eps**2) theta + eps r, so that
Var theta = 1/(2 - eps**2), which tends to 1/2 and not to 1.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, cast

import sympy
from sympy import QQ, Expr, Symbol
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from recipe_compiler.algebra.dynamics.system import gradient
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Metropolis, Move, Refresh, Steps
from recipe_compiler.spec.moves import over_a_period
from recipe_compiler.spec.words import letters
from recipe_compiler.verdict import Answer, Proved, Refuted
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.moves.metropolis_witness import is_of_shifts, pieces_in
from recipe_compiler.verify.steps.in_build import own_subject
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.split import Split

MOST_COORDINATES, MOST_LETTERS = 4, 60
EPS = sympy.Symbol("eps")
FIELD = QQ.frac_field(EPS)
Affine = tuple[DomainMatrix, DomainMatrix]
"""F and Sigma."""


def limit_departs(split: Split, stages: Stages) -> Answer | None:
    """Return the refutation by the limit of a covariance as eps -> 0 that is not that of exp(-H), U the build's.

    None where they are the same, where U is not quadratic or has data, and of cycles that hold more than refreshes and
    one word of shifts; accepted or refused with all other blocks than theta drawn wholly anew.
    """
    own = own_subject(stages) if stages.build.variant == "full" else None
    used = None if own is None or stages.build.scheme.use is not None else pieces_in(split, own)
    moves = over_a_period(split.scheme.cycle)
    if (
        used is None
        or len(potential_blocks(split.subject.dynamics)) != 1
        or not _is_covered(split, moves)
        or not is_of_shifts(used)
    ):
        return None
    theta = split.subject.names.index(_theta(split))
    for sizes in used.subject.sizes:
        try:
            at = next(points(used.subject.dynamics.declarations, sizes, 1), None)
            found = (
                None
                if at is None or len(used.z(sizes)) > MOST_COORDINATES
                else _departure(used, moves, theta, at, sizes)
            )
        except (NoValueError, NotScalarisableError, TooLargeError, NoInstanceError, DMNonInvertibleMatrixError):
            continue
        if found is not None:
            by = "exact witness: as eps goes to 0 the cycle does not keep the covariance under exp(-H)"
            numbers = tuple(item for item in at.text if item[0] not in split.subject.names) if at else ()
            return Answer(Refuted(by, (*numbers, *found)), tuple(sizes.items()) or "all")
    return None


def _is_covered(split: Split, moves: Sequence[Move]) -> bool:
    """Whether moves are refreshes and one word; if that is accepted, all blocks but theta are drawn wholly anew."""
    words = [move for move in moves if isinstance(move, Metropolis | Steps)]
    refreshed = [move for move in moves if isinstance(move, Refresh)]
    if len(words) != 1 or len(words) + len(refreshed) != len(moves):
        return False
    if len(potential_blocks(split.subject.dynamics)) != 1:
        return False
    last = words[0].count if isinstance(words[0], Steps) else words[0].steps[1]
    if last * len(tuple(letters(split.scheme.word))) > MOST_LETTERS:
        return False
    if isinstance(words[0], Steps):
        return True
    anew = {move.block for move in refreshed if not move.kept}
    theta = _theta(split)
    whole = isinstance(pieces(split).decision, Proved)
    return whole and {*split.subject.names} - {theta} <= anew and theta not in words[0].flip


def _theta(split: Split) -> str:
    return potential_blocks(split.subject.dynamics)[0].name


def _departure(
    split: Split, moves: Sequence[Move], theta: int, at: Point, sizes: Sizes
) -> tuple[tuple[str, str], ...] | None:
    z = split.z(sizes)
    H = split.subject.system(sizes).H
    P = _constant((gradient(slope, z) for slope in gradient(H, z)), z, at)
    drifts = {p.name: _constant((gradient(f, z) for f in split.drift(p, sizes)), z, at) for p in split.pieces}
    if P is None or any(J is None for J in drifts.values()):
        return None
    maps = {name: cast(DomainMatrix, J) for name, J in drifts.items()}
    kernels = [(_one(len(z)), _one(len(z)) * FIELD(0))]
    for move in moves:
        if isinstance(move, Refresh):
            own = split.places(split.subject.names.index(move.block), sizes)
            kernels = [_refreshed(kernel, P, own, move.kept) for kernel in kernels]
        elif isinstance(move, Metropolis | Steps):
            kernels = [(W * F, W * S * W.transpose()) for W in _words(split, maps, move) for F, S in kernels]
    expected = P.inv()
    if any(isinstance(move, Metropolis) for move in moves):
        return _changed(kernels, expected, z, split.places(theta, sizes))
    C = _settled(kernels)
    for i, j in combinations_with_replacement(range(len(z)), 2):
        found, right = C[i, j].element, expected[i, j].element
        top, bottom = found.numer.evaluate(0, 0), found.denom.evaluate(0, 0)
        if bottom == 0 or FIELD(top) / FIELD(bottom) != right:
            limit = "none" if bottom == 0 else str(top / bottom)
            name = f"Cov({z[i]}, {z[j]})"
            return ((f"{name} as eps -> 0", limit), (f"{name} under exp(-H)", str(right)))
    return None


def _changed(
    kernels: Sequence[Affine], law: DomainMatrix, z: tuple[Symbol, ...], theta: range
) -> tuple[tuple[str, str], ...] | None:
    """Return the first term of eps**2 or less in the change of the covariance of theta under exp(-H)."""
    share = FIELD(QQ(1, len(kernels)))
    for i, j in combinations_with_replacement(theta, 2):
        total = sum(((F * law * F.transpose() + S - law)[i, j].element for F, S in kernels), FIELD(0)) * share
        terms = {powers[0]: c for powers, c in total.numer.terms() if powers[0] <= 2}
        if terms:
            power = min(terms)
            coefficient = str(FIELD(terms[power]) / FIELD(total.denom))
            return ((f"change of Cov({z[i]}, {z[j]}) in a cycle", f"{coefficient} eps**{power} + O(eps**3)"),)
    return None


def _constant(rows: Iterable[Sequence[Expr]], z: tuple[Symbol, ...], at: Point) -> DomainMatrix | None:
    """Return a matrix of constants at the values of a point; None where an entry depends on the state."""
    table: list[list[Any]] = []
    for row in rows:
        line = [sympy.expand(x) for x in row]
        if any(x.free_symbols & {*z} for x in line):
            return None
        values = [evaluate(x, at.leaf) for x in line]
        if not all(isinstance(value, Fraction) for value in values):
            raise NoValueError("not rational")
        table.append([FIELD(QQ(value.numerator, value.denominator)) for value in cast(list[Fraction], values)])
    return DomainMatrix(table, (len(table), len(z)), FIELD)


def _one(n: int) -> DomainMatrix:
    return DomainMatrix.eye(n, FIELD).to_dense()


def _words(split: Split, maps: dict[str, DomainMatrix], move: Metropolis | Steps) -> list[DomainMatrix]:
    """Return what a word does, once for each number of steps that it may be done."""
    least, most = (move.count, move.count) if isinstance(move, Steps) else move.steps
    scale = move.scale if isinstance(move, Metropolis) else Fraction(1)
    found: list[DomainMatrix] = []
    step: DomainMatrix | None = None
    for letter in letters(split.scheme.word):
        share = letter.share * scale
        J = maps[letter.piece]
        own = _one(J.shape[0]) + J * (FIELD(QQ(share.numerator, share.denominator)) * FIELD(EPS))
        step = own if step is None else own * step
    total = step
    for count in range(1, most + 1):
        if count >= least and total is not None:
            found.append(total)
        total = None if total is None or step is None else step * total
    return found


def _refreshed(kernel: Affine, P: DomainMatrix, own: range, kept: Fraction) -> Affine:
    F, S = kernel
    n, c = F.shape[0], FIELD(QQ(kept.numerator, kept.denominator))
    keep = [c if i in own else FIELD(1) for i in range(n)]
    R = DomainMatrix([[FIELD(i == j) * keep[i] for j in range(n)] for i in range(n)], (n, n), FIELD)
    law = P.extract(list(own), list(own)).inv() * (1 - c**2)
    fresh = {(i, j): law[i - own.start, j - own.start].element for i in own for j in own}
    noise = [[fresh.get((i, j), FIELD(0)) for j in range(n)] for i in range(n)]
    return R * F, R * S * R.transpose() + DomainMatrix(noise, (n, n), FIELD)


def _settled(kernels: Sequence[Affine]) -> DomainMatrix:
    """Return C = mean of F C F.T + Sigma over some kernels. Raises DMNonInvertibleMatrixError where it is not one."""
    n, share = kernels[0][0].shape[0], FIELD(QQ(1, len(kernels)))
    places = list(combinations_with_replacement(range(n), 2))

    def entry(M: DomainMatrix, i: int, j: int) -> Any:
        return M[i, j].element

    table = [
        [
            FIELD((i, j) == (k, m))
            - share
            * sum(
                (
                    entry(F, i, k) * entry(F, j, m) + (entry(F, i, m) * entry(F, j, k) if k != m else FIELD(0))
                    for F, _ in kernels
                ),
                FIELD(0),
            )
            for k, m in places
        ]
        for i, j in places
    ]
    right = [[share * sum((entry(S, i, j) for _, S in kernels), FIELD(0))] for i, j in places]
    size = len(places)
    solved = DomainMatrix(table, (size, size), FIELD).lu_solve(DomainMatrix(right, (size, 1), FIELD))
    at = {place: entry(solved, k, 0) for k, place in enumerate(places)}
    return DomainMatrix([[at[min(i, j), max(i, j)] for j in range(n)] for i in range(n)], (n, n), FIELD)
