"""The Fokker-Planck residual of the equation that an author claims, whatever the recipe would give."""

from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.entries import Setting
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.recipe import Vector
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide, list_faults
from recipe_compiler.verify.core.premises import describe_kinks, require_almost_everywhere, require_lipschitz
from recipe_compiler.verify.core.scalars import write_drift
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.equation import claimed_equation


def claimed_residual(subject: Subject) -> Answer:
    """Decide that the Fokker-Planck residual vanishes for dz = f dt + sqrt(2 D) dW with the claimed f and D.

    R = (1/p) [-sum_i d_i (f_i p) + sum_ij d_i d_j (D_ij p)] = 0 with p = exp(-H), by both engines (cf. Ma, Chen, Fox
    2015, Eq. 5). No Q is needed. Undecided where the noise is not given, or where f may carry a current that jumps on a
    kink. Naive SGHMC, dtheta = r dt and dr = -grad U dt + sqrt(2 B) dW with M = I, has R = r.T B r - tr(B), and is
    refuted (Ma, Chen, Fox 2015, Sec. 3.1).
    """
    where = subject.place("claims.drift", "claims")
    try:
        of = claimed_equation(subject)
    except NotConvertedError as reason:
        return undecided(str(reason), where=where)
    D = subject.dynamics.claims.diffusion or subject.dynamics.D
    if of is None or D is None:
        reason = "neither D nor claims.diffusion is given: the noise of the claimed equation is not known"
        return undecided(reason, where=where)
    declarations = subject.declarations
    claimed, drift = of.stated, of.derivation.drift
    try:
        left = residual(of.derivation, drift, of.derivation.D)
    except ModelError as error:
        return undecided(*list_faults(error), where=where)
    identity = Identity(
        "the residual of the claimed equation", where, left, _second_engine_residual(subject, claimed, D)
    )
    recipe = (subject.dynamics.H, *(place for row in D for place in row))
    kinks = require_lipschitz(recipe, declarations) | require_almost_everywhere(claimed, declarations)
    reads = (*recipe, *claimed)
    question = Question(
        (identity,), declarations, subject.sizes, kinks, subject.contradiction, describe_kinks(kinks.kinks), reads
    )
    if kinks.kinks and not _is_recipe_drift(subject, claimed, drift, question):
        listed = ", ".join(kinks.kinks)
        open_ = f"the current of the claimed drift does not jump on the kinks of {listed}"
        question = replace(question, premises=kinks | Obligations(open=(open_,)))
    answer = decide(question)
    return replace(answer, where=where)


def _is_recipe_drift(subject: Subject, claimed: tuple[Formula, ...], drift: Vector, question: Question) -> bool:
    """Return whether the claimed drift equals the recipe's almost everywhere, for Lipschitz D and Q."""
    if subject.derivation is None or subject.dynamics.Q is None or subject.dynamics.claims.diffusion is not None:
        return False
    declarations = subject.declarations
    Q = require_lipschitz([place for row in subject.dynamics.Q for place in row], declarations)
    c = calculus(declarations)

    def entries(name: str, formula: Formula) -> Scalars:
        def found(sizes: Sizes) -> Sequence[Expr]:
            stated = second.block_vector((formula,), subject.setting(sizes))
            return [x - y for x, y in zip(stated, write_drift(subject, sizes)[name], strict=True)]

        return found

    same = tuple(
        Identity("", subject.place("claims"), c.settled(c.subtract(f, g)), entries(name, formula))
        for name, formula, f, g in zip(subject.names, claimed, drift, subject.derivation.drift, strict=True)
    )
    answer = decide(replace(question, identities=same, premises=Q | question.premises))
    return is_proved(answer)


def _second_engine_residual(subject: Subject, claimed: tuple[Formula, ...], D: Matrix) -> Scalars:
    """Return the Fokker-Planck residual of the claimed drift and D, by the second engine."""

    def entries(sizes: Sizes) -> Sequence[Expr]:
        at: Setting = subject.setting(sizes)
        f = second.block_vector(claimed, at)
        return [second.residual(subject.system(sizes), f, second.block_matrix(D, at))]

    return entries
