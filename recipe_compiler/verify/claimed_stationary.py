"""Does the equation that an author claims leave exp(-H) stationary? Its own residual, whatever the recipe would say."""

from collections.abc import Sequence

from sympy import Expr

from recipe_compiler.algebra import system as second
from recipe_compiler.algebra.entries import Setting
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Finding, Undecided
from recipe_compiler.verify.case import Case, Matrix
from recipe_compiler.verify.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.premises import smoothness
from recipe_compiler.verify.sizes import Sizes
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
    left = residual(case.derivation, drift, diffusion)
    identity = Identity("the residual of the claimed equation", where, left, _residual(case, claimed, D))
    premises = smoothness([*claimed, case.dynamics.H, *(place for row in D for place in row)], declarations)
    answer = decide(Question((identity,), declarations, case.sizes, premises, case.contradiction))
    return Finding("claimed_stationary", says, True, answer.decision, answer.for_d, answer.checked_at, where)


def _residual(case: Case, claimed: tuple[Formula, ...], D: Matrix) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        at: Setting = case.setting(sizes)
        f = second.block_vector(claimed, at)
        return [second.residual(case.system(sizes), f, second.block_matrix(D, at))]

    return entries
