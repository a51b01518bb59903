"""Is D symmetric? D - D.T = 0, place by place."""

from recipe_compiler.derive.stationarity import symmetry_defect
from recipe_compiler.verdict import Finding, Undecided
from recipe_compiler.verify.core.identities import Question, decide
from recipe_compiler.verify.core.premises import values
from recipe_compiler.verify.core.subject import Subject, once
from recipe_compiler.verify.equation.mirrored import mirrored


@once
def d_symmetric(subject: Subject) -> Finding:
    """Decide that D (the claimed diffusion where D is not given) is symmetric for every size."""
    says = "D is symmetric"
    if subject.derivation is None or subject.whole.D is None:
        return Finding("d_symmetric", says, True, Undecided(("neither D nor claims.diffusion is given",)))
    name = "D" if subject.dynamics.D is not None else "claims.diffusion"
    identities = mirrored(subject, name, subject.whole.D, symmetry_defect(subject.derivation), -1)
    declarations = subject.dynamics.declarations
    reads = tuple(place for row in subject.whole.D for place in row)
    needed = values(reads, declarations)
    answer = decide(
        Question(
            identities, declarations, subject.sizes, needed, subject.contradiction, reads=reads, at_every_point=True
        )
    )
    return Finding(
        "d_symmetric", says, True, answer.decision, answer.for_d, answer.checked_at, answer.where or subject.place(name)
    )
