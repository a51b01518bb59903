"""Is the drift that an author claims the one that follows from D, Q and H, and the diffusion D? Block by block.

Where D is left out the claimed diffusion stands for it.
"""

from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.derive.recipe import Derivation, col_slots, row_slots
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.premises import (
    describe_kinks,
    require_almost_everywhere,
    require_lipschitz,
    require_values,
)
from recipe_compiler.verify.core.scalars import write_drift
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.stratonovich import NotConvertedError, convert_to_ito
from recipe_compiler.verify.core.subject import Subject


def claimed_drift(subject: Subject) -> Answer:
    """Decide that every block of the claimed drift equals the derived one, for every size.

    f_claimed - [-(D + Q) grad H + Gamma] = 0, block by block with n_b entries each (Ma, Chen, Fox 2015, Eq. 3); a
    Stratonovich f is converted first. Undecided without D, without Q, or where that conversion needs a noise factor
    that is not given. Across kinks it rests on Lipschitz H, D and Q; the claimed f may jump on a null set. SGHMC with
    the claim dr = (-grad U - 2 C inv(M) r) dt is refuted at a point where C inv(M) r is not zero.
    """
    where = subject.place("claims.drift", "claims")
    D = subject.dynamics.claims.diffusion or subject.dynamics.D
    if subject.derivation is None or D is None or subject.dynamics.Q is None:
        missing = "D" if D is None else "Q"
        reason = f"{missing} is not given: there is no derived drift to compare the claim with"
        return undecided(reason, where=where)
    try:
        claimed = convert_to_ito(subject.dynamics, D)
    except NotConvertedError as reason:
        return undecided(str(reason), where=where)
    declarations = subject.declarations
    matrices = (subject.whole.D, subject.whole.Q, subject.dynamics.claims.diffusion)
    recipe = [subject.whole.H, *(x for m in matrices for row in m or () for x in row)]
    kinks = require_lipschitz(recipe, declarations) | require_almost_everywhere(claimed, declarations)
    question = Question(
        tuple(_drift_identities(subject, subject.derivation, claimed)),
        declarations,
        subject.sizes,
        kinks,
        subject.contradiction,
        describe_kinks(kinks.kinks),
        (*recipe, *claimed),
    )
    answer = decide(question)
    return replace(answer, where=answer.where or where)


def claimed_diffusion(subject: Subject) -> Answer:
    """Decide that a claimed diffusion is D, entry by entry, for every size, on kinks as well.

    D_claimed - D = 0, n x n over z (Ma, Chen, Fox 2015, Eq. 3), whether or not a drift is claimed. `diffusion: 7`
    beside `D: 1` is refuted: their difference is 6.
    """
    stated, D = subject.dynamics.claims.diffusion, subject.dynamics.D
    if stated is None or D is None or subject.derivation is None:
        return undecided(f"{'claims.diffusion' if stated is None else 'D'} is not given")
    declarations = subject.declarations
    c = calculus(declarations)
    identities: list[Identity] = []
    for a, row in enumerate(declarations.blocks):
        for b, col in enumerate(declarations.blocks):
            place = f"[{row.name},{col.name}]"
            where = subject.place(f"claims.diffusion{place}", "claims.diffusion", "claims")
            tensor = convert(stated[a][b], declarations, *row_slots(row), *col_slots(col))
            left = c.settled(c.subtract(tensor, subject.derivation.D[a][b]))
            entries = _subtract_entry(subject, stated, D, (a, b))
            identities.append(Identity(f"claims.diffusion{place} - D{place}", where, left, entries))
    reads = tuple(x for m in (stated, D) for row in m for x in row)
    question = Question(
        tuple(identities),
        declarations,
        subject.sizes,
        require_values(reads, declarations),
        subject.contradiction,
        reads=reads,
        at_every_point=True,
    )
    answer = decide(question)
    return replace(answer, where=answer.where or subject.place("claims.diffusion", "claims"))


def _drift_identities(subject: Subject, derivation: Derivation, claimed: tuple[Formula, ...]) -> list[Identity]:
    """Return `claimed - derived = 0` of every block."""
    declarations = subject.declarations
    c = calculus(declarations)
    found: list[Identity] = []
    for block, formula, f in zip(declarations.blocks, claimed, derivation.drift, strict=True):
        entry = f"claims.drift.{block.name}"
        where = subject.place(entry, "claims.drift", "claims")
        stated = convert(formula, declarations, *row_slots(block), entry=entry, where=where)
        left = c.settled(c.subtract(stated, f))
        says = f"the claimed drift of {block.name} minus the derived one"
        found.append(Identity(says, where, left, _subtract_derived_drift(subject, block.name, formula)))
    return found


def _subtract_derived_drift(subject: Subject, block: str, formula: Formula) -> Scalars:
    """Return the claimed minus the derived drift of one block, by the second engine."""

    def entries(sizes: Sizes) -> Sequence[Expr]:
        stated = [x for row in rows(formula, subject.setting(sizes)) for x in row]
        return [x - y for x, y in zip(stated, write_drift(subject, sizes)[block], strict=True)]

    return entries


def _subtract_entry(subject: Subject, stated: Matrix, D: Matrix, at: tuple[int, int]) -> Scalars:
    """Return the stated minus the given D at one pair of blocks, by the second engine."""

    def entries(sizes: Sizes) -> Sequence[Expr]:
        a, b = at
        here, there = rows(stated[a][b], subject.setting(sizes)), rows(D[a][b], subject.setting(sizes))
        return [x - y for p, q in zip(here, there, strict=True) for x, y in zip(p, q, strict=True)]

    return entries
