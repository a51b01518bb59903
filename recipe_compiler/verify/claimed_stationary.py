"""Does the equation that an author claims leave exp(-H) stationary? Its own residual, whatever the recipe would say."""

from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra import system as second
from recipe_compiler.algebra.definedness import Obligations
from recipe_compiler.algebra.entries import Setting
from recipe_compiler.derive.recipe import Vector, col_slots, row_slots
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Finding, Proved, Undecided
from recipe_compiler.verify.case import Case, Matrix
from recipe_compiler.verify.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.kinks import across, almost_everywhere, lipschitz
from recipe_compiler.verify.sizes import Sizes
from recipe_compiler.verify.stationary import drift_at, faults_of
from recipe_compiler.verify.stratonovich import NotConvertedError, ito_drift


def claimed_stationary(case: Case) -> Finding:
    """Decide that exp(-H) is stationary for dz = f dt + sqrt(2 D) dW with the claimed f and D."""
    says = "exp(-H) is stationary for the claimed equation"
    where = case.place("claims.drift", "claims")
    D = case.dynamics.claims.diffusion or case.dynamics.D
    if case.derivation is None or D is None:
        reason = "neither D nor claims.diffusion is given: the noise of the claimed equation is not known"
        return Finding("claimed_stationary", says, True, Undecided((reason,)), where=where)
    try:
        claimed = ito_drift(case.dynamics, D)
    except NotConvertedError as reason:
        return Finding("claimed_stationary", says, True, Undecided((str(reason),)), where=where)
    declarations = case.dynamics.declarations
    blocks = declarations.blocks
    drift = tuple(convert(f, declarations, *row_slots(block)) for f, block in zip(claimed, blocks, strict=True))
    diffusion = tuple(
        tuple(
            convert(place, declarations, *row_slots(row), *col_slots(col))
            for place, col in zip(line, blocks, strict=True)
        )
        for line, row in zip(D, blocks, strict=True)
    )
    try:
        left = residual(case.derivation, drift, diffusion)
    except ModelError as error:
        return Finding("claimed_stationary", says, True, Undecided(faults_of(error)), where=where)
    identity = Identity("the residual of the claimed equation", where, left, _residual(case, claimed, D))
    kinks = lipschitz([case.dynamics.H, *(place for row in D for place in row)], declarations)
    kinks |= almost_everywhere(claimed, declarations)
    question = Question((identity,), declarations, case.sizes, kinks.premises, case.contradiction, across(kinks.names))
    if kinks.names and not _same_current(case, claimed, drift, question):
        listed = ", ".join(kinks.names)
        open_ = f"the claimed drift carries no current that jumps on the kinks of {listed}"
        question = replace(question, premises=kinks.premises | Obligations(open=(open_,)))
    answer = decide(question)
    return Finding("claimed_stationary", says, True, answer.decision, answer.for_d, answer.checked_at, where)


def _same_current(case: Case, claimed: tuple[Formula, ...], drift: Vector, question: Question) -> bool:
    """Whether the claimed drift is that of the recipe almost everywhere, D and Q being Lipschitz."""
    if case.derivation is None or case.dynamics.Q is None or case.dynamics.claims.diffusion is not None:
        return False
    declarations = case.dynamics.declarations
    Q = lipschitz([place for row in case.dynamics.Q for place in row], declarations)
    c = calculus(declarations)

    def entries(name: str, formula: Formula) -> Scalars:
        def found(sizes: Sizes) -> Sequence[Expr]:
            stated = second.block_vector((formula,), case.setting(sizes))
            return [x - y for x, y in zip(stated, drift_at(case, sizes)[name], strict=True)]

        return found

    same = tuple(
        Identity("", case.place("claims"), c.settled(c.subtract(f, g)), entries(name, formula))
        for name, formula, f, g in zip(case.names, claimed, drift, case.derivation.drift, strict=True)
    )
    answer = decide(replace(question, identities=same, premises=Q.premises | question.premises))
    return isinstance(answer.decision, Proved)


def _residual(case: Case, claimed: tuple[Formula, ...], D: Matrix) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        at: Setting = case.setting(sizes)
        f = second.block_vector(claimed, at)
        return [second.residual(case.system(sizes), f, second.block_matrix(D, at))]

    return entries
