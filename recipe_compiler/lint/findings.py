"""The report on an existing step function: run on symbols, read at every size looked at, judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

from recipe_compiler.errors import Fault, SpecError
from recipe_compiler.formula.show import text
from recipe_compiler.lint.against_build import rows_said, sizes_in, with_stated_rows
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName
from recipe_compiler.lint.equation import LimitEquation, equation, same_equation
from recipe_compiler.lint.finite_steps import finite_steps
from recipe_compiler.lint.follow import follow_step
from recipe_compiler.lint.judge import stationary, stationary_of_mean
from recipe_compiler.lint.metropolis import metropolis
from recipe_compiler.lint.offending_line import offending_line
from recipe_compiler.lint.published_form import published_form
from recipe_compiler.lint.read import NORMAL, Read, Seen, TracedProblem, in_blocks
from recipe_compiler.lint.replay import run_with_floats
from recipe_compiler.lint.user_file import LIMITS
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.places import digest
from recipe_compiler.trace.operations import Trace, Untraced
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Report, Undecided
from recipe_compiler.verify.core.limits import CLAIM_SECONDS, Unfinished, Work, run_all
from recipe_compiler.verify.core.premises import smoothness
from recipe_compiler.verify.core.sizes import Sizes, checked_sizes, written
from recipe_compiler.verify.core.subject import Subject, subject_of

Cases = Sequence[Trace | Untraced]
"""What was followed of a step at each choice of sizes."""

# What was followed of a step: what it was given, how often it was run, what did not run, what it returns.


def followed(ask: Binding, answer: Cases, sizes: Sequence[Sizes]) -> tuple[str, ...]:
    """Return, in sentences, what verdicts about a step are about; nothing where none of its calls was followed."""
    traces = [(at, case) for at, case in zip(sizes, answer, strict=True) if isinstance(case, Trace)]
    by = (f"judged by the build: {'; '.join(ask.said)}",) if ask.said else ()
    if not traces:
        return by
    where = "; ".join(written(at) for at, _ in traces if at)
    said = f"traced: {ask.source.step}({', '.join(_given(ask))}){f' at {where}' if where else ''}"
    return (*by, said, *filter(None, [_was_run(answer)]), *unrun(answer), *orders(ask, answer))


def _was_run(answer: Cases) -> str:
    """Return how often a step was run with floats."""
    runs = sum(case.runs for case in answer if isinstance(case, Trace))
    return f"{runs} calls with floats at random points agreed with the traced step" if runs else ""


def unrun(answer: Cases) -> tuple[str, ...]:
    """Return the lines of a step and what it calls that no call ran: what they do is not in a verdict."""
    left = [set(case.left) for case in answer if isinstance(case, Trace)]
    lines = sorted(set.intersection(*left)) if left else []
    return (f"not traced: line {', '.join(map(str, lines))}, which no call reached",) if lines else ()


def orders(ask: Binding, answer: Cases) -> tuple[str, ...]:
    """Return the order in which a step returns its blocks, where that is not the document's."""
    names = [_name(given) for given in ask.outputs]
    found: dict[str, None] = {}
    for trace in answer:
        if isinstance(trace, Trace) and list(trace.order) != sorted(trace.order):
            returned = [names[trace.order.index(place)] for place in range(len(names))]
            found[f"it returns ({', '.join(returned)}), not ({', '.join(names)}): inferred from the limit eps -> 0"] = (
                None
            )
    return tuple(found)


def _given(ask: Binding) -> list[str]:
    own = {given.name: given for given in ask.given}
    arguments = [
        f"{a.name} at its default" if a.name not in own else _stands(own[a.name]) for a in ask.source.arguments
    ]
    return [*arguments, *(f"{name} of the file: {_stands(own[name])}" for name in ask.globals)]


def _stands(given: BoundName) -> str:
    match given.kind:
        case "eps":
            what = "the step size"
        case "generator":
            what = "draws of N(0, 1)"
        case "size":
            what = f"the size {given.size}"
        case "normals":
            what = f"a draw of N(0, I) as long as {_name(given)}"
        case _ if given.kind == STATE:
            what = "the state"
        case _:
            what = "" if given.formula is None else text(given.formula)
    return given.name if what in {given.name, ""} else f"{given.name}: {what}"


def _name(given: BoundName) -> str:
    return given.name if given.block is None else given.block.name


STEP = ("lint_update", "in the limit eps -> 0 the step preserves exp(-H)")
MOVE = ("lint_metropolis", "the step, accepted or rejected, preserves exp(-H) at every step size")
ACCEPTED = "a step with acceptance is judged at finite eps, not in the limit"
EQUATION = ("lint_equation", "the limit of the step is the equation of D and Q")
OF_SOME_ROWS = "refuted for arbitrary rows, but not for rows that the build allows, with equal rows in a batch"
TURNS = 2
"""Choices of stated rows with which a step is looked at that is wrong of any."""
OF_BATCHES = "acceptance depends on a minibatch: no single batch decides which distribution is preserved"
AT_FIXED_SIZES = "a step is traced at fixed sizes: nothing is shown for larger ones"
TO_PROVE = f"{AT_FIXED_SIZES}; for a proof write a number for each size, as in `shape: 2`"


@dataclass(frozen=True, slots=True)
class Lint:
    """What was read off a step, and the verdicts about it; no report without dynamics to judge it by."""

    equation: LimitEquation
    report: Report | None
    followed: tuple[str, ...] = ()
    """What was followed of the step, in sentences."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was seen of one claim at all sizes."""

    seen: tuple[Seen, ...]
    unread: tuple[str, ...]
    """Why a size could not be looked at."""
    seconds: float


def lint(ask: Binding, judged: bool = True, seconds: float = CLAIM_SECONDS) -> Lint:
    """Run a step on symbols and return what it is. Without `judged` its drift and diffusion are read, no more.

    Of a step that is given rows of the data nothing is wrong but what is wrong of rows that the build allows, and of a
    minibatch what is wrong of rows that are alike.

    Raises:
        SpecError: the file does not run.
        ModelError: dynamics that have no meaning in index notation.
    """
    found = _lint(ask, judged, seconds)
    if found.report is None or ask.rows is None or ask.rows.are_any:
        return found
    for which in range(TURNS):
        if not any(_is_refuted(one) for one in found.report.findings if one.required):
            break
        stated = _lint(with_stated_rows(ask, which), judged, seconds).report
        if stated is not None and any(_is_refuted(one) for one in stated.findings if one.required):
            said = rows_said(ask, which)
            return replace(
                found, report=replace(found.report, findings=tuple(_at_rows(f, said) for f in stated.findings))
            )
    return replace(found, report=replace(found.report, findings=tuple(map(_unless_refuted, found.report.findings))))


def _is_refuted(finding: Finding) -> bool:
    return isinstance(finding.decision, Refuted)


def _at_rows(finding: Finding, said: tuple[str, ...]) -> Finding:
    """Return a finding about stated rows, which is said."""
    if not isinstance(finding.decision, Refuted):
        return finding
    return replace(finding, decision=replace(finding.decision, given=(*finding.decision.given, *said)))


def _unless_refuted(finding: Finding) -> Finding:
    """Return a finding that is undecided where it is refuted by rows that the build may not allow."""
    if not isinstance(finding.decision, Refuted):
        return finding
    return replace(finding, decision=Undecided((OF_SOME_ROWS,), given=finding.decision.given))


def _lint(ask: Binding, judged: bool, seconds: float) -> Lint:
    subject = subject_of(ask.dynamics)
    sizes = checked_sizes(ask.dynamics)
    sizes = sizes if judged else (_shown(sizes),)
    answer = run_with_floats(ask, subject, sizes, follow_step(ask, sizes))
    _refuse(answer, ask)
    accepted = any(isinstance(case, Trace) and case.otherwise for case in answer)
    rows = _of_acceptance(sizes) if accepted else _of_limit(sizes, ask, judged=judged)
    traced = {_key(at): found for at, found in zip(sizes, answer, strict=True)}
    reads = {
        key: Read(TracedProblem(ask, subject, in_blocks(found, ask), dict(key)))
        for key, found in traced.items()
        if isinstance(found, Trace)
    }
    todo = [(name, at, partial(_timed, job, reads[_key(at)])) for name, job, at in rows if _key(at) in reads]
    outcomes = run_all(Work(partial(tuple, [job for _, _, job in todo]), len(todo)), seconds) if todo else ()
    found = list(zip([(name, at) for name, at, _ in todo], outcomes, strict=True))
    failures = _failures(answer, sizes, ask)
    read = next((_equation(o, at) for (name, at), o in found if name == "equation"), None)
    why = failures[0] if failures else ACCEPTED if accepted else ""
    read = read or LimitEquation(_key(_shown(sizes)), reason=why)
    bias = next((str(o[0]) for (name, _), o in found if name == "finite" and not isinstance(o, Unfinished)), "")
    offered = "" if accepted or any(one.inverse for one in ask.given) else published_form(ask.source, ask.dynamics)
    if read.reason and offered:
        read = replace(read, reason=f"{read.reason}; {offered}")
    read = replace(read, bias=bias)
    said = followed(ask, answer, sizes)
    if not judged:
        return Lint(read, None, said)
    findings = [_finding(MOVE if accepted else STEP, True, _looked("step", found, failures), answer, ask, subject)]
    if _has_recipe(ask.dynamics) and not accepted:
        findings.append(_finding(EQUATION, False, _looked("same", found, failures), answer, ask, subject))
    name = f"{ask.source.shown}:{ask.source.step}"
    report = Report(
        ask.dynamics.name,
        name,
        digest(ask.dynamics),
        tuple(findings),
        (*unrun(answer), *_caveats(ask, read, _was_run(answer), accepted=accepted)),
    )
    return Lint(read, report, said)


Row = tuple[str, Callable[[Read], object], Sizes]


def _of_limit(sizes: Sequence[Sizes], ask: Binding, *, judged: bool) -> list[Row]:
    """Return what is looked at of a step with a limit."""
    rows: list[Row] = [("equation", equation, _shown(sizes))]
    if judged:
        rows += [("step", stationary_of_mean if ask.is_of_batch else stationary, at) for at in sizes]
        rows += [("same", same_equation, at) for at in sizes] if _has_recipe(ask.dynamics) else []
        rows.append(("finite", finite_steps, sizes[0]))
    return rows


def _of_acceptance(sizes: Sequence[Sizes]) -> list[Row]:
    """Return what is looked at of a step that is accepted or refused."""
    return [("step", metropolis, at) for at in sizes]


def _timed(job: Callable[[Read], object], read: Read) -> tuple[object, float]:
    start = process_time()
    found = job(read)
    if isinstance(found, Seen) and found.witness:
        found = replace(found, line=offending_line(read))
    return found, process_time() - start


def _key(sizes: Sizes) -> tuple[tuple[str, int], ...]:
    return tuple(sizes.items())


def _shown(sizes: Sequence[Sizes]) -> Sizes:
    return next((at for at in sizes if all(n == 2 for n in at.values())), sizes[0])


def _has_recipe(dynamics: Dynamics) -> bool:
    return dynamics.D is not None and dynamics.Q is not None


def _refuse(answer: Cases, ask: Binding) -> None:
    """Raise the fault of a file that does not run."""
    one = answer[0]
    if isinstance(one, Untraced) and one.raised_at_load and one.line:
        problem = f"found {one.reason} when the file ran, expected a file that runs"
        raise SpecError([Fault(ask.source.place(one.line), ask.source.step, problem)])


def _failures(answer: Cases, sizes: Sequence[Sizes], ask: Binding) -> tuple[str, ...]:
    """Return why the step was not followed, the line first."""
    found = [(at, case) for at, case in zip(sizes, answer, strict=True) if isinstance(case, Untraced)]
    said: dict[str, list[str]] = {}
    for at, case in found:
        said.setdefault(_said(case, ask), []).append(written(at))
    whole = len(found) == len(sizes)
    return tuple(
        reason if whole and len(said) == 1 else f"{reason} (at {'; '.join(at)})" for reason, at in said.items()
    )


def _said(failure: Untraced, ask: Binding) -> str:
    return f"{ask.source.place(failure.line)}: {failure.reason}"


def _equation(outcome: object, at: Sizes) -> LimitEquation:
    if isinstance(outcome, Unfinished):
        return LimitEquation(_key(at), reason=outcome.reason)
    found = outcome[0] if isinstance(outcome, tuple) else None
    return found if isinstance(found, LimitEquation) else LimitEquation(_key(at), reason="not read")


def _looked(name: str, found: Sequence[tuple[tuple[str, Sizes], object]], failures: tuple[str, ...]) -> _Looked:
    seen: list[Seen] = []
    unread = list(failures)
    seconds = 0.0
    for (which, at), outcome in found:
        if which != name:
            continue
        if isinstance(outcome, Unfinished):
            unread.append(f"at {written(at) or 'the fixed sizes'}: {outcome.reason}")
            seconds += outcome.seconds
        elif isinstance(outcome, tuple) and isinstance(outcome[0], Seen):
            seen.append(outcome[0])
            seconds += outcome[1]
    return _Looked(tuple(seen), tuple(unread), seconds)


def _finding(
    words: tuple[str, str], required: bool, looked: _Looked, answer: Cases, ask: Binding, subject: Subject
) -> Finding:
    held = tuple(seen.sizes for seen in looked.seen if seen.holds)
    failed = next((seen for seen in looked.seen if seen.witness), None)
    rounded = tuple(dict.fromkeys(number for found in answer if isinstance(found, Trace) for number in found.rounded))
    formulas = (formula for g in ask.given for formula in (g.formula, g.inverse) if formula is not None)
    premises = smoothness((ask.dynamics.H, *formulas), subject.dynamics.declarations)
    says = {given.says for given in ask.given if given.says}
    says |= set(orders(ask, answer))
    given = tuple(sorted(premises.given.union(says, *(seen.given for seen in looked.seen))))
    line = ask.source.line if failed is None else failed.line or ask.source.line
    where = ask.source.place(line)
    tried = [*looked.unread]
    tried += _reasons(looked)
    tried += [f"{_at(seen)}not shown: {what}" for seen in looked.seen for what in seen.left]
    tried += [f"not shown: {what}" for what in premises.open]
    tried += [_rounded(text, line, ask) for text, line in rounded]
    tried += [subject.contradiction] if subject.contradiction else []
    for_d: str | tuple[tuple[str, int], ...] = "all"
    decision: Decision
    unlike = [*ask.left_open, *([OF_BATCHES] if ask.is_of_batch and words == MOVE else [])]
    traces = [found for found in answer if isinstance(found, Trace)] if failed is not None else []
    unlike += [why for found in traces for why in sizes_in(found, ask)]
    tried += [why for why in unlike if why not in tried]
    if failed is not None and not rounded and not unlike:
        holds = "; ".join(written(dict(sizes)) for sizes in held if sizes)
        by = failed.by + (f" (of the sizes checked, it holds at {holds} only)" if holds else "")
        decision = Refuted(by, failed.witness, failed.residual, given)
        for_d = failed.sizes or ask.smaller or "all"
    elif tried or ask.dynamics.declarations.sizes or ask.smaller or ask.is_of_batch or not held:
        holds_at: tuple[tuple[tuple[str, int], ...], ...] = ()
        if held and (ask.smaller or ask.is_of_batch):
            tried += [_held_smaller(looked.seen, ask), AT_FIXED_SIZES]
        elif held and ask.dynamics.declarations.sizes:
            holds_at = () if tried else held
            tried += [_held(looked.seen), TO_PROVE]
        residual = next((seen.residual for seen in looked.seen if seen.residual), "")
        decision = Undecided(tuple(dict.fromkeys(tried)), residual, given, holds_at=holds_at)
    else:
        by = "; ".join(dict.fromkeys(seen.by for seen in looked.seen))
        decision = Proved(f"{by} at the document's sizes", given)
    return Finding(*words, required, decision, for_d, held, where, looked.seconds)


def _held(seen: Sequence[Seen]) -> str:
    """Return where a claim holds, and what is special about how."""
    held = [one for one in seen if one.holds]
    how = "; ".join(by for by in dict.fromkeys(one.by for one in held) if by != NORMAL)
    return f"holds at {'; '.join(written(dict(one.sizes)) for one in held)}{f' ({how})' if how else ''}"


def _held_smaller(seen: Sequence[Seen], ask: Binding) -> str:
    """Return where a claim about a build holds, at other sizes than the build's."""
    at = written(dict(ask.smaller)) or "the rows that the step is given"
    how = "; ".join(by for by in dict.fromkeys(one.by for one in seen if one.holds) if by != NORMAL)
    return f"holds at {at}{f' ({how})' if how else ''}"


def _reasons(looked: _Looked) -> list[str]:
    """Return why sizes are not decided; what keeps all of them from it is said once."""
    every = dict.fromkeys(seen.reason for seen in looked.seen)
    if len(every) == 1 and not looked.unread:
        return [reason for reason in every if reason]
    return [f"{_at(seen)}{seen.reason}" for seen in looked.seen if seen.reason]


def _at(seen: Seen) -> str:
    return f"at {written(dict(seen.sizes))}: " if seen.sizes else ""


def _rounded(text: str, line: int, ask: Binding) -> str:
    advice = "write the exact value: 1/3, np.sqrt(2)"
    return f"{ask.source.place(line)}: the number {text} is rounded, so nothing exact follows; {advice}"


def _caveats(ask: Binding, read: LimitEquation, was_run: str, *, accepted: bool) -> tuple[str, ...]:
    ran = f": {was_run}; what it does in other calls" if was_run else "; what it does"
    found = [
        f"{ask.source.shown} was run, in a child process with {LIMITS}{ran}, and its side effects, are not checked",
        f"verdicts concern {'the step as it is' if accepted else 'the limit of small steps'}, in exact arithmetic",
    ]
    return (*found, *((read.bias,) if read.bias else ()))
