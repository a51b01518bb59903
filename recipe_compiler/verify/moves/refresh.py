"""Is a block drawn anew from its law under exp(-H) given all others? Then b' = c b + N(0, (1 - c^2) S) keeps exp(-H).

For H = b.T P b/2 + terms free of b, P positive definite and a function of the others, that law is N(0, P^-1).
With b ~ N(0, S) the mean of b' is 0 and its covariance c^2 S + (1 - c^2) S = S, for every |c| < 1 (Horowitz 1991).
"""

from functools import lru_cache

from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import NoValueError, rational_rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, product
from recipe_compiler.algebra.scalars.rational_matrices import determinant, form, fraction, is_semidefinite, matrix
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.refresh import GaussianLaw, conditional_law
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, by_name
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Refresh
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.verdict import Answer, Refuted, undecided
from recipe_compiler.verify.core.conjunction import conjoin, is_proved, reject_if_refuted
from recipe_compiler.verify.core.identities import Identity, list_faults
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.scalars import make_leaf
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.witness import defined_points, refute_at_point, substitute_point
from recipe_compiler.verify.steps.quantity import Quantity, energy_quantity
from recipe_compiler.verify.steps.split import NOTHING, Split, decide_identities, rows_of


def refresh(cycle: Cycle, move: Refresh) -> Answer:
    """Decide that a refreshed block b of n entries is drawn from its law given all others, N(0, S), S: [n, n].

    b' = c b + N(0, (1 - c**2) S) with |c| < 1 then keeps exp(-H), as c**2 S + (1 - c**2) S = S (Horowitz 1991).
    """
    return law_given_others(cycle.split, move.block)


@lru_cache(maxsize=limits.SUBJECTS)
def law_given_others(split: Split, block: str) -> Answer:
    """Decide that b ~ N(0, inv(P)) under exp(-H) given all others, with P = d2H/db db.T.

    dH/db - P b = 0 and dP/db = 0 by both engines, and P positive definite. The second engine differentiates H entry by
    entry, and multiplies P by the inverse of the first: P inv(P) = I. Then c**2 S + (1 - c**2) S = S for S = inv(P) and
    every |c| < 1 (Horowitz 1991). Refuted where one of these fails at an exact point. H = r.T inv(M) r/2 + U has P =
    inv(M), S = M.
    """
    derivation = split.derivation
    own = by_name(derivation.blocks)[block]
    refused = _unsupported_block_reason(split, own)
    if refused:
        return undecided(refused)
    try:
        found = decide_identities(split, _gaussian_identities(split, own))
    except ModelError as error:
        return undecided(*list_faults(error))
    if not is_proved(found):
        return found
    law, indefinite = conditional_law(derivation, block), _refute_definiteness(split, own)
    if law is None and indefinite is not None:
        return indefinite
    if law is None:
        return undecided(f"the precision of {block} is not shown to be positive definite")
    if indefinite is not None:
        reason = f"the engines disagree on whether the precision of {block} is positive definite; please report this"
        return undecided(reason)
    others = ", ".join(name for name in split.subject.names if name != block)
    covariance = matrix_form(derivation.calculus, PLAIN, law.covariance)
    says = f"{block} ~ N(0, {covariance}){f' given {others}' if others else ''}"
    inverse = decide_identities(split, [_inverse_identity(split, law)])
    proof = conjoin(says, [("dH/db = P b, P free of b", found), ("P S = I", inverse)])
    return reject_if_refuted(proof, refute_refresh(split, law))


def refute_refresh(split: Split, law: GaussianLaw) -> Answer | None:
    """Return the refutation by H(b') - H(b) != (b'.T inv(S) b' - b.T inv(S) b)/2, S claimed; else None.

    None where no point shows it.
    """
    sizes = split.subject.sizes[-1]

    def off(at: Point, other: Point) -> list[Expr]:
        H, x = split.subject.system(sizes).H, coordinates(law.block, sizes)
        S = rational_rows(_evaluate_covariance(split, law, sizes), at.leaf)
        if S is None:
            raise NoValueError("not rational")
        inverse = matrix(S, len(x)).inv()
        P = tuple(tuple(fraction(inverse[i, j]) for j in range(len(x))) for i in range(len(x)))
        here, there = (form(P, tuple(point.numbers[y] for y in x)) for point in (at, other))
        return [substitute_point(H, x, other) - H - rational(there - here) / 2]

    by = f"exact witness: H depends on {law.block.name} differently from the distribution it is drawn from"
    return refute_at_point(by, off, split.subject.declarations, sizes, split.subject.formulas)


def _unsupported_block_reason(split: Split, block: Block) -> str:
    """Return why the program cannot check that a block is Gaussian; empty where it can."""
    dynamics = split.derivation.dynamics
    held = next((f.name for f in dynamics.declarations.functions if f.role == "potential" and block.name in f.of), "")
    if held:
        return f"{held} is a function of {block.name}, so the conditional distribution of {block.name} is not known"
    if block.domain.name is not DomainName.REAL or len(block.shape.sizes) > 1:
        return f"{block.name} is not a scalar or a column on the whole real line, so it is not Gaussian"
    if has_state_assumptions(split.subject.declarations):
        return "an assumption restricts the state, and a truncated Gaussian is not Gaussian"
    return ""


@lru_cache(maxsize=limits.SUBJECTS)
def _differentiate_twice(split: Split, block: Block) -> Quantity:
    """Return P = d^2H/db db': [n, n]."""
    return energy_quantity(split).slope(block).slope(block)


def _gaussian_identities(split: Split, block: Block) -> tuple[Identity, Identity]:
    """Return dH/db - P b = 0 and dP/db = 0: then H = b.T P b/2 plus terms free of b."""
    b, P = block.name, _differentiate_twice(split, block)
    off = energy_quantity(split).slope(block).minus(P.times(block))
    return off.vanishes(f"dH/d{b} - P {b}"), P.slope(block).vanishes(f"dP/d{b}")


def _evaluate_covariance(split: Split, law: GaussianLaw, sizes: Sizes) -> Rows:
    """Return the covariance S of the refresh, entry by entry at fixed sizes."""
    return rows_of((law.block,), ((law.covariance,),), sizes, make_leaf(split.subject.declarations, sizes))


def _inverse_identity(split: Split, law: GaussianLaw) -> Identity:
    """Return the identity P S - I = 0."""

    def entries(sizes: Sizes) -> list[Expr]:
        PS = product(_differentiate_twice(split, law.block).rows(sizes), _evaluate_covariance(split, law, sizes))
        return [x - int(i == j) for i, row in enumerate(PS) for j, x in enumerate(row)]

    return Identity(f"P S - I of {law.block.name}", split.subject.place("H"), NOTHING, entries)


def _refute_definiteness(split: Split, block: Block) -> Answer | None:
    """Return the refutation by an exact point where the precision is not positive definite; None if none is found."""
    precision = _differentiate_twice(split, block)
    for sizes in split.subject.sizes:
        try:
            P = precision.rows(sizes)
            for at in defined_points(split.subject, sizes, limits.TRIALS):
                numbers = rational_rows(P, at.leaf)
                if numbers is not None and not (is_semidefinite(numbers) and determinant(numbers)):
                    rows = ", ".join(f"[{', '.join(map(str, row))}]" for row in numbers)
                    by = f"the precision of {block.name} is not positive definite"
                    witness = (*at.text, (f"d^2H/d{block.name}^2", f"[{rows}]"))
                    return Answer(Refuted(by, witness), tuple(sizes.items()) or "all", where=split.subject.place("H"))
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            continue
    return None
