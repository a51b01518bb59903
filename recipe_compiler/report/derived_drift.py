"""What follows from D, Q and H, next to what is claimed: of each block whose claimed drift differs from it."""

from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.derive.show import drift_texts
from recipe_compiler.formula.show import text
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Explanation, Topic
from recipe_compiler.verify.core.stratonovich import ito_drift
from recipe_compiler.verify.core.subject import Subject


def derived_drift(subject: Subject) -> tuple[Explanation, ...]:
    """Return the guilty blocks with both drifts; nothing where there is no derived drift, or none differs.

    A claim in Stratonovich's sense is compared, and shown, in Ito's.
    """
    derivation, dynamics = subject.derivation, subject.dynamics
    D = dynamics.claims.diffusion or dynamics.D
    if derivation is None or D is None or dynamics.Q is None or dynamics.claims.drift is None:
        return ()
    c = calculus(dynamics.declarations)
    formulas: list[tuple[str, str]] = []
    guilty: list[str] = []
    claimed = zip(dynamics.declarations.blocks, ito_drift(dynamics, D), strict=True)
    for n, (block, formula) in enumerate(claimed):
        stated = convert(formula, dynamics.declarations, *row_slots(block))
        if not c.settled(c.subtract(stated, derivation.drift[n])).is_zero:
            guilty.append(block.name)
            formulas.append((f"claimed drift of {block.name}", text(formula)))
            formulas += [(f"derived drift of {name}", told) for name, told in drift_texts(derivation, n)]
    if not guilty:
        return ()
    says = f"the drift of {' and '.join(guilty)} that follows from D, Q and H differs from the claimed one"
    return (Explanation(Topic.DERIVED, says, tuple(formulas), "f = -(D + Q) grad H + Gamma"),)
