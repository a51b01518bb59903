"""Is a block drawn anew from its law under exp(-H) given all others? Then b' = c b + N(0, (1 - c^2) S) keeps exp(-H).

Of H = b.T P b/2 + what does not hold b, P positive definite and a function of the others alone, that law is N(0, P^-1).
With b ~ N(0, S) the mean of b' is 0 and its covariance c^2 S + (1 - c^2) S = S, for every |c| < 1 (Horowitz 1991).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sympy import Expr

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import is_defined_at, points
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import rational_rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, product, total
from recipe_compiler.algebra.scalars.rational_matrices import determinant, is_semidefinite
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.derive.recipe import col_slots
from recipe_compiler.derive.refresh import GaussianLaw, conditional_law
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Refresh
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Coordinate, Index
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.identities import Identity, faults_of
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.scalars import leaf_of, written_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import KEPT
from recipe_compiler.verify.moves.conjunction import is_shown, laws_kept, left_open, shown, unless_refuted
from recipe_compiler.verify.moves.law_witness import refresh_departs
from recipe_compiler.verify.steps.split import NOTHING, Split, decided

LOOKED_AT = 6
"""Points at which the second engine looks whether a precision is positive definite."""


def refresh(split: Split, stages: Stages) -> Answer:
    """Decide that every refreshed block b of n entries is drawn from its law given all others, N(0, S), S: [n, n].

    b' = c b + N(0, (1 - c**2) S) with |c| < 1 then keeps exp(-H), as c**2 S + (1 - c**2) S = S (Horowitz 1991). Refuted
    or undecided where one of the laws is (`law_given_others`).
    """
    del stages
    return laws_kept([(f"p({move.block} | rest)", law_given_others(split, move.block)) for move in refreshes(split)])


def refreshes(split: Split) -> Iterator[Refresh]:
    """Yield the moves of a cycle that draw a block anew."""
    return (move for move in split.scheme.cycle if isinstance(move, Refresh))


@lru_cache(maxsize=KEPT)
def law_given_others(split: Split, block: str) -> Answer:
    """Decide that b ~ N(0, inv(P)) under exp(-H) given all others, with P = d2H/db db.T.

    dH/db - P b = 0 and dP/db = 0 by both engines, and P positive definite. The second engine differentiates H entry by
    entry, and multiplies P by the inverse of the first: P inv(P) = I. Then c**2 S + (1 - c**2) S = S for S = inv(P) and
    every |c| < 1 (Horowitz 1991). Refuted where one of these fails at an exact point. H = r.T inv(M) r/2 + U has P =
    inv(M), S = M.
    """
    derivation, declarations = split.derivation, split.subject.dynamics.declarations
    own = next(item for item in declarations.blocks if item.name == block)
    open_ = _not_asked(split, own)
    if open_:
        return Answer(Undecided((open_,)))
    try:
        found = decided(split, list(_identities(split, own)))
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))
    if not isinstance(found.decision, Proved):
        return found
    law = conditional_law(derivation, block)
    indefinite = _indefinite(split, own)
    if law is None and indefinite is not None:
        return indefinite
    if law is None:
        return Answer(Undecided((f"the precision of {block} is not shown to be positive definite",)))
    if indefinite is not None:
        reason = f"the engines disagree on whether the precision of {block} is positive definite; please report this"
        return Answer(Undecided((reason,)))
    inverse = decided(split, [_inverse(split, law)])
    obligations = [("dH/db = P b, P free of b", found), ("P S = I", inverse)]
    if not is_shown(obligations):
        return Answer(Undecided(left_open(obligations)))
    others = ", ".join(name for name in split.subject.names if name != block)
    covariance = matrix_form(derivation.calculus, PLAIN, law.covariance)
    proof = shown(f"{block} ~ N(0, {covariance}){f' given {others}' if others else ''}", obligations)
    return unless_refuted(proof, refresh_departs(split, law))


def _not_asked(split: Split, block: Block) -> str:
    """Return why it is not looked at whether a block is Gaussian; empty where it is."""
    dynamics = split.derivation.dynamics
    held = next((f.name for f in dynamics.declarations.functions if f.role == "potential" and block.name in f.of), "")
    if held:
        return f"{held} is a function of {block.name}, so the conditional distribution of {block.name} is not known"
    if block.domain.name is not DomainName.REAL or len(block.shape.sizes) > 1:
        return f"{block.name} is not a scalar or a column on the whole real line, so it is not Gaussian"
    if restricts_state(split.subject.dynamics.declarations):
        return "an assumption restricts the state, and a truncated Gaussian is not Gaussian"
    return ""


def _identities(split: Split, block: Block) -> Iterator[Identity]:
    """Yield dH/db - P b = 0 and dP/db = 0: H is then b.T P b/2 and what does not hold b."""
    c, blocks = split.derivation.calculus, split.derivation.dynamics.declarations.blocks
    where = split.subject.place("H")
    slope_ = split.derivation.grad_H[[other.name for other in blocks].index(block.name)]
    cols, third = col_slots(block), tuple(Index(size, "k") for size in block.shape.sizes)
    precision = c.diff(slope_, Coordinate(block.name, cols))
    linear = c.total(c.multiply(precision, c.coordinate(block.name, *cols)), *cols)
    b = block.name

    def centred(sizes: Sizes) -> list[Expr]:
        slopes, P, x = _second(split, block, sizes)
        return [total([g, *(-p * y for p, y in zip(row, x, strict=True))]) for g, row in zip(slopes, P, strict=True)]

    def free(sizes: Sizes) -> list[Expr]:
        _, P, x = _second(split, block, sizes)
        return [slope(p, y) for row in P for p in row for y in x]

    yield Identity(f"dH/d{b} - P {b}", where, c.settled(c.subtract(slope_, linear)), centred)
    yield Identity(f"dP/d{b}", where, c.settled(c.diff(precision, Coordinate(b, third))), free)


def _second(split: Split, block: Block, sizes: Sizes) -> tuple[list[Expr], Rows, Sequence[Expr]]:
    """Return dH/db, d^2H/db db' and b at fixed sizes, by the second engine."""
    z, H = split.z(sizes), off_kinks(split.subject.system(sizes).H)
    place = split.subject.names.index(block.name)
    x = [z[k] for k in split.places(place, sizes)]
    slopes = [slope(H, y) for y in x]
    return slopes, tuple(tuple(slope(g, y) for y in x) for g in slopes), x


def _inverse(split: Split, law: GaussianLaw) -> Identity:
    """Return P S - I, which the rules of the index calculus for inverses make zero; S as it is drawn from."""

    def entries(sizes: Sizes) -> list[Expr]:
        _, P, x = _second(split, law.block, sizes)
        n, flat = len(x), written_out(law.covariance, sizes, leaf_of(split.subject.dynamics.declarations, sizes))
        S = tuple(tuple(flat[i * n : (i + 1) * n]) for i in range(n))
        PS = product(P, S)
        return [PS[i][j] - int(i == j) for i in range(n) for j in range(n)]

    return Identity(f"P S - I of {law.block.name}", split.subject.place("H"), NOTHING, entries)


def _indefinite(split: Split, block: Block) -> Answer | None:
    """Return the refutation by an exact point at which a precision is not positive definite; None where none is."""
    declarations = split.subject.dynamics.declarations
    for sizes in split.subject.sizes:
        try:
            _, P, _ = _second(split, block, sizes)
            setting = split.subject.setting(sizes)
            for at in points(declarations, sizes, LOOKED_AT):
                numbers = rational_rows(P, at.leaf)
                if numbers is None or not is_defined_at(split.formulas, setting, at.leaf):
                    continue
                if not is_semidefinite(numbers) or determinant(numbers) == 0:
                    shown_ = "[" + ", ".join(f"[{', '.join(map(str, row))}]" for row in numbers) + "]"
                    by = f"the precision of {block.name} is not positive definite"
                    witness = (*at.text, (f"d^2H/d{block.name}^2", shown_))
                    return Answer(Refuted(by, witness), tuple(sizes.items()) or "all", where=split.subject.place("H"))
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            continue
    return None
