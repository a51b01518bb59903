"""Refuted builds as negative controls: what is run of them, and the mark that every stage after that shows."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from recipe_compiler.errors import VerificationError
from recipe_compiler.formula.block_matrices import zeros
from recipe_compiler.formula.rebuild import is_zero, zero
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics, Mark
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Report, Verdict
from recipe_compiler.verify.core.stratonovich import NotConvertedError, convert_to_ito
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all

NOTHING_TO_RUN = {
    "d_symmetric": "sqrt(2D) does not exist, as D is not symmetric",
    "d_psd": "sqrt(2D) does not exist, as D is not positive semidefinite",
    "bindings": "values are not of the kinds that the emitted code relies on",
    "pieces": "its word is no step of any equation",
    "flow": "its word is no step of any equation",
}
"""Claims without which no step can be made, and why."""
OF_NOISE = {"noise_budget", "gradient_noise"}
"""Claims without which the covariance of the gradient's noise cannot be subtracted."""
FLAG = "--allow-refuted (in Python `allow_refuted=True`) runs it as a negative control, marked as refuted"


def mark_refuted(build: Build, report: Report) -> Build:
    """Return a refuted build with its mark, its equation the claimed one where that differs; any other as it is.

    Where the noise of the gradient cannot be subtracted, as for HMC with minibatches, it is not.

    Raises:
        VerificationError: no step can be made of it; says why.
    """
    if report.verdict is not Verdict.REFUTED:
        return build
    refuted = [f for f in report.findings if f.required and f.verdict is Verdict.REFUTED]
    if why := next((NOTHING_TO_RUN[f.id] for f in refuted if f.id in NOTHING_TO_RUN), ""):
        raise _cannot(build, why)
    if build.is_planned and not build.target.is_open:
        raise _cannot(build, "step_size: auto plans for a right sampler: state a number, and every parameter")
    runs = "the recipe's equation, f = -(D + Q) grad H + Gamma"
    if _differs(build.dynamics, report):
        build = replace(build, dynamics=_as_claimed(build))
        runs = "the claimed equation, whose drift is not that of D, Q and H"
    if OF_NOISE & {f.id for f in refuted} and not is_zero(build.V):
        kept = tuple(p for p in build.parameters if p.name != build.estimated)
        build = replace(build, V=zero(build.V.shape), estimated=None, parameters=kept)
        runs += "; V is not subtracted from the noise, which would have no root"
    return replace(build, mark=Mark(tuple(map(_with_witness, refuted)), runs))


def find_laws(build: Build) -> tuple[str, ...]:
    """Return the energies H' of which a marked build leaves exp(-H') stationary; in words, if none is found.

    Nothing where the recipe's equation is run, which leaves exp(-H) stationary.
    """
    if not build.dynamics.as_claimed:
        return ()
    (found,) = run_all(Work(partial(_list_searches, bind(build)), 1))
    if isinstance(found, Unfinished):
        return (f"the search for the law that it samples ended early: {found.reason}",)
    return tuple(line for one in found for line in one.lines[:1]) or (
        "samples instead: no energy was found among those tried: H with its terms scaled, and logarithms of what D "
        "and H hold",
    )


def _list_searches(bound: Dynamics) -> Sequence[partial[tuple[Explanation, ...]]]:
    from recipe_compiler.explain.samples import samples_instead  # with SymPy
    from recipe_compiler.verify.core.subject import prepare_subject

    return [partial(samples_instead, prepare_subject(replace(bound, as_claimed=False)))]


def _with_witness(finding: Finding) -> str:
    decision = finding.decision
    if not isinstance(decision, Refuted):
        return finding.says
    at = ", ".join(f"{name} = {value}" for name, value in decision.witness)
    parts = (f"fails at {at}" if at else decision.by, f"residual {decision.residual}" if decision.residual else "")
    return f"{finding.says}: {'; '.join(filter(None, parts))}"


def _differs(dynamics: Dynamics, report: Report) -> bool:
    """Whether an equation is claimed that is not shown to be the recipe's."""
    compared = [f for f in report.findings if f.id in ("claimed_drift", "claimed_diffusion")]
    same = bool(compared) and all(isinstance(f.decision, Proved) for f in compared)
    return dynamics.claims.drift is not None and not same


def _as_claimed(build: Build) -> Dynamics:
    """Return dynamics whose equation is the claimed one, in Ito's sense; Q is 0 where none is stated."""
    dynamics = build.dynamics
    blocks = dynamics.declarations.blocks
    D = dynamics.claims.diffusion or dynamics.D or zeros(blocks)
    if build.scheme.split or build.scheme.cycle:
        why = "its claimed drift is not that of D, Q and H, of which the pieces of words and moves are made"
        raise _cannot(build, f"{why}; `scheme: {{name: euler}}` or sequential_euler runs the claimed drift")
    if dynamics.Q is None and not is_zero(build.V):
        raise _cannot(build, "without Q the noise of the gradient that reaches a step is not known: leave V out")
    try:
        drift = convert_to_ito(dynamics, D)
    except NotConvertedError as error:
        raise _cannot(build, str(error)) from None
    named = zip((block.name for block in blocks), drift, strict=True)
    claims = replace(dynamics.claims, drift=tuple(named), diffusion=None, stratonovich=False)
    return replace(dynamics, D=D, Q=dynamics.Q or zeros(blocks), claims=claims, as_claimed=True)


def _cannot(build: Build, why: str) -> VerificationError:
    return VerificationError(f"{build.name} is refuted, and cannot be run as a negative control: {why}")
