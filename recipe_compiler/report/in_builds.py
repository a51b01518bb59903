"""The claims that apply to targets, schemes and builds, their caveats, and the bias of a build's step."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import WITHOUT_BOUNDARY
from recipe_compiler.report.applicable import (
    ApplicableClaims,
    Job,
    list_declared,
    list_unasked,
    list_unread,
    list_unused,
)
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.complete import with_whole_energy
from recipe_compiler.spec.model import Build, Claims, Data, Dynamics, Scheme, Target
from recipe_compiler.splitting.split_by import list_leaving_blocks, split_by
from recipe_compiler.verdict import Answer, Explanation, Finding, Topic
from recipe_compiler.verify.builds.in_build import decided_in, target_decided_in
from recipe_compiler.verify.builds.target import demand_smoothness
from recipe_compiler.verify.claims import DYNAMICS, Claim, get_decider, list_applicable_claims
from recipe_compiler.verify.claims_in_builds import (
    BUILDS,
    IN_STEPS,
    SCHEMES,
    TARGETS,
    BoundBuild,
    bind_build,
    decide_any_metric_first,
    get_build_decider,
    has_cycle,
    list_claims_in_build,
    state_build_sizes,
    state_target_sizes,
)
from recipe_compiler.verify.core.generalise_size import decide_target
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all
from recipe_compiler.verify.steps.in_build import check_pieces, has_word

Explain = Callable[[], tuple[Explanation, ...]]


def find_target_claims(target: Target) -> ApplicableClaims:
    """Return the claims that apply to a target by itself."""
    claims = list_applicable_claims(TARGETS, target)

    def finding(claim: Claim[Target, Target]) -> Finding:
        return claim.finding(state_target_sizes(target, decide_target(claim.decide, target)))

    return ApplicableClaims(claims, lambda: [partial(finding, claim) for claim in claims])


def find_scheme_claims(scheme: Scheme) -> ApplicableClaims:
    """Return the claims that apply to a scheme by itself."""
    claims = list_applicable_claims(SCHEMES, scheme)

    def finding(claim: Claim[Scheme, Scheme]) -> Finding:
        return claim.finding(claim.decide(scheme))

    return ApplicableClaims(claims, lambda: [partial(finding, claim) for claim in claims])


def find_build_claims(build: Build) -> ApplicableClaims:
    """Return the claims that apply to a build: those about its dynamics, target and scheme, then its own."""
    bound = bind_build(build)
    whole = bind_build(with_whole_energy(build)) if build.is_complete else bound
    parts = (_find_dynamics_claims_of(whole), _find_target_claims_of(bound), _find_scheme_claims_of(bound))
    claims = list_applicable_claims(BUILDS, build)

    def job(claim: Claim[BoundBuild, Build]) -> Job:
        return partial(_decide_claim, claim, bound, _demand_smoothness(claim, bound, partial(claim.decide, bound)))

    own = [job(claim) for claim in claims]

    def jobs() -> Sequence[Job]:
        check_pieces((bound.wider or bound).stages)
        return [*(job for part in parts for job in part.jobs()), *own]

    return ApplicableClaims((*(row for part in parts for row in part.rows), *claims), jobs)


def _find_dynamics_claims_of(bound: BoundBuild) -> ApplicableClaims:
    claims = list_claims_in_build(DYNAMICS, bound.dynamics, bound.build)

    def job(claim: Claim[Subject, Dynamics]) -> Job:
        return partial(_decide_claim, claim, bound, _demand_smoothness(claim, bound, _decide_in_build(claim, bound)))

    return ApplicableClaims(claims, lambda: [job(claim) for claim in claims])


def _decide_in_build(claim: Claim[Subject, Dynamics], bound: BoundBuild) -> Callable[[], Answer]:
    own = get_build_decider(claim)

    def decide(bound: BoundBuild) -> Answer:
        return decided_in(get_decider(claim), bound.stages) if own is None else own(bound)

    return partial(decide_any_metric_first, decide, bound)


def _find_target_claims_of(bound: BoundBuild) -> ApplicableClaims:
    claims = list_claims_in_build(TARGETS, bound.build.target, bound.build)

    def job(claim: Claim[Target, Target]) -> Job:
        return partial(_decide_claim, claim, bound, partial(target_decided_in, claim.decide, bound.build))

    return ApplicableClaims(claims, lambda: [job(claim) for claim in claims])


def _find_scheme_claims_of(bound: BoundBuild) -> ApplicableClaims:
    scheme = bound.build.scheme
    claims = list_claims_in_build(SCHEMES, scheme, bound.build) if scheme.is_used else ()

    def finding(claim: Claim[Scheme, Scheme]) -> Finding:
        in_step = IN_STEPS.get(claim.id)
        return claim.finding(claim.decide(scheme) if in_step is None else in_step(bound))

    return ApplicableClaims(claims, lambda: [partial(finding, claim) for claim in claims])


def _demand_smoothness(claim: Claim[Any, Any], bound: BoundBuild, decide: Callable[[], Answer]) -> Callable[[], Answer]:
    return partial(demand_smoothness, claim.id, bound.build, bound.dynamics, decide)


def _decide_claim(claim: Claim[Any, Any], bound: BoundBuild, decide: Callable[[], Answer]) -> Finding:
    return claim.finding(state_build_sizes(claim, bound, decide()))


def explain_bias(build: Build, seconds: float) -> tuple[Explanation, ...]:
    """Return what a step of a build samples where U is quadratic, or that this was not found out in time."""
    (outcome,) = run_all(Work(partial(_list_audits, build), 1), seconds)
    if not isinstance(outcome, Unfinished):
        return outcome
    return (Explanation(Topic.STEP, f"the bias of this step size was not found: {outcome.reason}"),)


def _list_audits(build: Build) -> Sequence[Explain]:
    from recipe_compiler.audit.of_build import audit  # imported here: it brings what is needed to make steps

    return [partial(audit, build)]


def list_scheme_caveats(scheme: Scheme) -> tuple[str, ...]:
    """Return the caveats on a scheme: what no claim covers."""
    about = "flows: these verdicts concern the word for every dynamics; check a build for the flows of its pieces"
    return (*list_unread(scheme, list_applicable_claims(SCHEMES, scheme)), about)


def list_build_caveats(build: Build) -> tuple[str, ...]:
    """Return the caveats on a build and its dynamics: what no claim covers."""
    whole = with_whole_energy(build)
    bound = bind(whole)
    files = [name for name, value in build.values if value.file is not None and value.numbers is None]
    checked_later = [f"the kind of {name} is checked when its file is read, before the first step" for name in files]
    of_dynamics = (*list_unasked(bound), *list_unread(whole.dynamics, list_claims_in_build(DYNAMICS, bound, build)))
    return (
        *of_dynamics,
        *_list_unread_of_used(build),
        *_list_unused(build),
        _explain_step(build),
        *_list_boundary_caveats(build, bound),
        *checked_later,
        *_explain_data(build),
        *([f"schedule: {limit}"] if (limit := build.run.schedule.in_the_limit) else []),
    )


def _list_unread_of_used(build: Build) -> Iterator[str]:
    """Yield the statements of the documents that a step uses that no claim about the build reads."""
    scheme = build.scheme
    if scheme.is_used:
        yield from list_unread(scheme, list_claims_in_build(SCHEMES, scheme, build))
    used = None if scheme.use is None else scheme.use.document
    if used is not None and (used.claims != Claims() or used.units):
        yield f"the claims of {used.name}: the word uses only its D and Q; run `recipe check` on that document"


def _list_unused(build: Build) -> Iterator[str]:
    """Yield the declarations of a build, its dynamics and its target that no formula reads."""
    if build.codes:  # a function of its author may read it
        return
    beside = (build, *(part for kind, part in build.parts.items() if kind in {"scheme", "use"}))
    stated = dict(json.loads(build.source.document).get("parameters", ()))
    yield from list_unused([own for own in build.parameters if own.name in stated], *beside)
    for document in (build.stated_dynamics, build.target):
        yield from list_unused(list_declared(document), document, *beside)


def _explain_data(build: Build) -> Iterator[str]:
    """Yield the caveats on data: not read, or positions that look counted from 1."""
    if isinstance(build.observed, Data):
        fields = build.observed.arrays
        shifted = () if build.data is None else build.data.from_one
        for datum in build.target.declarations.data:
            if datum.is_index and datum.name not in shifted and fields[datum.name].min() > 0:
                from_one = f"if its column counts from 1, state `from_one: [{datum.name}]`"
                yield f"data: no row has position 0 of `{datum.name}`; {from_one}"
    elif build.data is not None and build.observed:
        yield f"data: {build.observed}; verdicts hold for any data as declared"


def _explain_step(build: Build) -> str:
    """Return the caveat on the discretisation bias: claims about a step concern one step."""
    if has_cycle(build):
        word = "; claims about pieces, flow and order concern the word inside a move" if has_word(build) else ""
        return f"discretisation bias: none if `exact` is proved (the chain preserves exp(-H) at every step size){word}"
    return "the discretisation bias of the stationary distribution: it is computed for quadratic U only"


def _list_boundary_caveats(build: Build, bound: Dynamics) -> list[str]:
    """Return the caveat on blocks with a boundary; flows of a word that move a transform keep to the domain."""
    blocks = [block for block in bound.declarations.blocks if block.domain.name not in WITHOUT_BOUNDARY]
    found = _find_leaving(build, bound) if blocks and has_word(build) else None
    met = (block.name for block in blocks if block.name not in build.scheme.reflect)
    leaving = dict.fromkeys(met, False) if found is None else found
    reasons = {
        False: "emitted steps do not enforce it: a finite step may leave the domain",
        True: "a step that leaves the domain gives NaN and ends its chain",
    }
    named = {reason: [name for name, ends in leaving.items() if ends is own] for own, reason in reasons.items()}
    return [f"boundary: {', '.join(names)} has a boundary, and {reason}" for reason, names in named.items() if names]


def _find_leaving(build: Build, bound: Dynamics) -> dict[str, bool] | None:
    """Return the blocks that a word may lead to a boundary, with whether chains end there; None without flows."""
    try:
        return list_leaving_blocks(bound.declarations.blocks, split_by(derive(bound), build.scheme).values())
    except ModelError:  # of a word that is refuted, or refused, by name
        return None


def list_target_caveats(target: Target) -> tuple[str, ...]:
    """Return the caveats on a target: what no claim covers."""
    moved = [block for block in target.declarations.blocks if block.constraint is None]
    domains = [b.name for b in moved if b.domain.name not in WITHOUT_BOUNDARY]
    domains += [name for name in _list_restricted_blocks(target.declarations) if name not in domains]
    bounds = (
        (f"boundary: {', '.join(domains)} has a boundary; flux through it is decided in a build",) if domains else ()
    )
    return (*bounds, *(() if target.gradient is not None else list_unused(list_declared(target), target)))


def _list_restricted_blocks(declarations: Declarations) -> list[str]:
    """Return the blocks that an assumption restricts."""
    parts = (part for c in declarations.assume for side in (c.left, c.right) for part in nodes(side))
    return list(dict.fromkeys(p.name for p in parts if isinstance(p, Symbol) and p.role is Role.BLOCK))
