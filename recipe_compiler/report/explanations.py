"""What is said beside the verdicts about a dynamics: a Q that was found, repairs, what is sampled instead."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.derive.show import drift_texts
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Explanation, Finding, Proved, Topic, Verdict
from recipe_compiler.verify.claims import explained
from recipe_compiler.verify.core.limits import Unfinished, Work, run_all
from recipe_compiler.verify.core.stratonovich import ito_drift
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.recover.recovered_q import explained_q

# What follows from D, Q and H, next to what is claimed: of each block whose claimed drift differs from it.


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


Explain = Callable[[], tuple[Explanation, ...]]
Question = Callable[[Subject], tuple[Explanation, ...]]

REPAIRED = explained(Topic.REPAIR)
"""Refuted claims for which repairs are looked for."""
ASKED = {topic: explained(topic) for topic in (Topic.DERIVED, Topic.REPAIR, Topic.SAMPLES)}
"""What is said beside a refutation, and of which claims."""
NONE = (
    "none of the changes that are tried (a factor, a sign, up to three terms of the drift, friction, terms of Gamma, "
    "places of D and Q) was proved to make the claims hold"
)


def explanations(dynamics: Dynamics, findings: tuple[Finding, ...], seconds: float) -> tuple[Explanation, ...]:
    """Return what can be said within the limits; each explanation was itself shown by the claims it mends."""
    refuted = {finding.id for finding in findings if finding.verdict is Verdict.REFUTED}
    proofs = [found for f in findings if f.id in explained(Topic.CURL) and isinstance(found := f.decision, Proved)]
    found = [explained_q(proof) for proof in proofs]
    asked = [topic for topic, claims in ASKED.items() if refuted & claims]
    if not refuted & REPAIRED and (alone := [f.says for f in findings if f.required and f.id in refuted]):
        found.append(Explanation(Topic.NO_REPAIR, f"none is looked for so that {'; '.join(alone)}"))
    if not asked:
        return tuple(found)

    outcomes = run_all(Work(partial(_jobs, dynamics, findings, tuple(asked)), len(asked)), seconds)
    return (*found, *(one for pair in zip(asked, outcomes, strict=True) for one in _said(*pair)))


def _jobs(dynamics: Dynamics, findings: tuple[Finding, ...], asked: tuple[Topic, ...]) -> Sequence[Explain]:
    subject, questions = subject_of(dynamics), _questions(findings)
    return [partial(questions[topic], subject) for topic in asked]


def _questions(findings: tuple[Finding, ...]) -> Mapping[Topic, Question]:
    """Return what answers a question; imported here, since most documents leave none."""
    from recipe_compiler.explain.repair.repairs import repairs
    from recipe_compiler.explain.samples.samples import samples_instead
    from recipe_compiler.report.explanations import derived_drift

    return {
        Topic.DERIVED: derived_drift,
        Topic.REPAIR: lambda subject: repairs(subject, findings),
        Topic.SAMPLES: samples_instead,
    }


def _said(topic: Topic, outcome: tuple[Explanation, ...] | Unfinished) -> tuple[Explanation, ...]:
    """Return what was found; of repairs, that none was."""
    found = () if isinstance(outcome, Unfinished) else outcome
    if found or topic is not Topic.REPAIR:
        return found
    why = f"the search ended early: {outcome.reason}" if isinstance(outcome, Unfinished) else NONE
    return (Explanation(Topic.NO_REPAIR, why),)
