"""The report on an existing step function: traced, read and decided at every checked size."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

from recipe_compiler import limits
from recipe_compiler.errors import Fault, SpecError
from recipe_compiler.formula.show import text
from recipe_compiler.lint.against_build import describe_stated_rows, find_build_sizes, with_stated_rows
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName
from recipe_compiler.lint.equation import LimitEquation, compare_equations, read_equation
from recipe_compiler.lint.follow import follow_step
from recipe_compiler.lint.judge import decide_stationary, decide_stationary_of_mean, describe_bias
from recipe_compiler.lint.metropolis import decide_metropolis
from recipe_compiler.lint.offending_line import find_offending_line
from recipe_compiler.lint.published_form import suggest_maps
from recipe_compiler.lint.read import NORMAL, MomentReader, Outcome, TracedProblem, return_blocks
from recipe_compiler.lint.replay import run_with_floats
from recipe_compiler.lint.user_file import LIMITS
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.places import digest
from recipe_compiler.trace.operations import Trace, Untraced
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Report, Undecided
from recipe_compiler.verify.core.premises import require_smooth
from recipe_compiler.verify.core.sizes import Sizes, format_sizes, list_checked_sizes
from recipe_compiler.verify.core.subject import Subject, prepare_subject
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all

Cases = Sequence[Trace | Untraced]
"""The trace of a step at each choice of sizes, or the reason that there is none."""

# Text about a trace: the arguments, the runs with floats, unreached lines, the order of blocks.


def describe_trace(ask: Binding, answer: Cases, sizes: Sequence[Sizes]) -> tuple[str, ...]:
    """Return, in sentences, what verdicts about a step are about; nothing where none of its calls was followed."""
    traces = [(at, case) for at, case in zip(sizes, answer, strict=True) if isinstance(case, Trace)]
    by = (f"judged by the build: {'; '.join(ask.said)}",) if ask.said else ()
    if not traces:
        return by
    where = "; ".join(format_sizes(at) for at, _ in traces if at)
    said = f"traced: {ask.source.step}({', '.join(_describe_arguments(ask))}){f' at {where}' if where else ''}"
    return (
        *by,
        said,
        *filter(None, [_describe_runs(answer)]),
        *describe_unreached_lines(answer),
        *describe_order(ask, answer),
    )


def _describe_runs(answer: Cases) -> str:
    """Return how often a step was run with floats."""
    runs = sum(case.runs for case in answer if isinstance(case, Trace))
    return f"{runs} calls with floats at random points agreed with the traced step" if runs else ""


def describe_unreached_lines(answer: Cases) -> tuple[str, ...]:
    """Return the lines of a step and what it calls that no call ran: what they do is not in a verdict."""
    left = [set(case.left) for case in answer if isinstance(case, Trace)]
    lines = sorted(set.intersection(*left)) if left else []
    return (f"not traced: line {', '.join(map(str, lines))}, which no call reached",) if lines else ()


def describe_order(ask: Binding, answer: Cases) -> tuple[str, ...]:
    """Return the order in which a step returns its blocks, where that is not the document's."""
    names = [_get_name(given) for given in ask.outputs]
    found: dict[str, None] = {}
    for trace in answer:
        if isinstance(trace, Trace) and list(trace.order) != sorted(trace.order):
            returned = [names[trace.order.index(place)] for place in range(len(names))]
            found[f"it returns ({', '.join(returned)}), not ({', '.join(names)}): inferred from the limit eps -> 0"] = (
                None
            )
    return tuple(found)


def _describe_arguments(ask: Binding) -> list[str]:
    own = {given.name: given for given in ask.given}
    arguments = [
        f"{a.name} at its default" if a.name not in own else _describe_argument(own[a.name])
        for a in ask.source.arguments
    ]
    return [*arguments, *(f"{name} of the file: {_describe_argument(own[name])}" for name in ask.globals)]


def _describe_argument(given: BoundName) -> str:
    match given.kind:
        case "eps":
            what = "the step size"
        case "generator":
            what = "draws of N(0, 1)"
        case "size":
            what = f"the size {given.size}"
        case "normals":
            what = f"a draw of N(0, I) as long as {_get_name(given)}"
        case _ if given.kind == STATE:
            what = "the state"
        case _:
            what = "" if given.formula is None else text(given.formula)
    return given.name if what in {given.name, ""} else f"{given.name}: {what}"


def _get_name(given: BoundName) -> str:
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


def lint(ask: Binding, judged: bool = True, seconds: float = limits.CLAIM_SECONDS) -> Lint:
    """Run a step on symbols and return what it is. Without `judged` its drift and diffusion are read, no more.

    A step that takes rows of the data is refuted only by rows that the build allows, for a minibatch by equal rows.

    Raises:
        SpecError: the file does not run.
        ModelError: dynamics that have no meaning in index notation.
    """
    found = _lint_once(ask, judged, seconds)
    if found.report is None or ask.rows is None or ask.rows.are_any or not _is_wrong(found.report):
        return found
    report, findings = found.report, tuple(map(_make_undecided, found.report.findings))
    for which in range(TURNS):
        stated = _lint_once(with_stated_rows(ask, which), judged, seconds).report
        if stated is not None and _is_wrong(stated):
            said = describe_stated_rows(ask, which)
            findings = tuple(_add_stated_rows(one, said) for one in stated.findings)
            break
    return replace(found, report=replace(report, findings=findings))


def _is_wrong(report: Report) -> bool:
    return any(isinstance(one.decision, Refuted) for one in report.findings if one.required)


def _add_stated_rows(finding: Finding, said: tuple[str, ...]) -> Finding:
    """Return a finding whose refutation, if it is one, names the stated rows."""
    decision = finding.decision
    if not isinstance(decision, Refuted):
        return finding
    return replace(finding, decision=replace(decision, given=(*decision.given, *said)))


def _make_undecided(finding: Finding) -> Finding:
    """Return a finding, undecided where it is a refutation by rows that the build may not allow."""
    if not isinstance(finding.decision, Refuted):
        return finding
    return replace(finding, decision=Undecided((OF_SOME_ROWS,), given=finding.decision.given))


def _lint_once(ask: Binding, judged: bool, seconds: float) -> Lint:
    subject = prepare_subject(ask.dynamics)
    sizes = list_checked_sizes(ask.dynamics)
    sizes = sizes if judged else (_choose_shown_sizes(sizes),)
    answer = run_with_floats(ask, subject, sizes, follow_step(ask, sizes))
    _refuse_faulty_file(answer, ask)
    accepted = any(isinstance(case, Trace) and case.otherwise for case in answer)
    reads = {
        _make_key(at): MomentReader(TracedProblem(ask, subject, return_blocks(found, ask), at))
        for at, found in zip(sizes, answer, strict=True)
        if isinstance(found, Trace)
    }
    rows = _list_acceptance_jobs(sizes) if accepted else _list_limit_jobs(sizes, ask, judged=judged)
    rows = [row for row in rows if _make_key(row[2]) in reads]
    jobs = [partial(_time_job, job, reads[_make_key(at)]) for _, job, at in rows]
    outcomes = run_all(Work(partial(tuple, jobs), len(jobs)), seconds) if jobs else ()
    found = {(name, _make_key(at)): outcome for (name, _, at), outcome in zip(rows, outcomes, strict=True)}
    failures = _list_failures(answer, sizes, ask)
    read = _get_equation(
        found, _make_key(_choose_shown_sizes(sizes)), failures[0] if failures else ACCEPTED if accepted else ""
    )
    offered = "" if accepted or any(one.inverse for one in ask.given) else suggest_maps(ask.source, ask.dynamics)
    if read.reason and offered:
        read = replace(read, reason=f"{read.reason}; {offered}")
    said = describe_trace(ask, answer, sizes)
    if not judged:
        return Lint(read, None, said)
    stated = _FindingContext(ask, subject, answer, failures)
    findings = [stated.make_finding(MOVE if accepted else STEP, _collect_outcomes(found, "step"))]
    if _has_recipe(ask.dynamics) and not accepted:
        findings.append(
            _drop_repeated_reasons(stated.make_finding(EQUATION, _collect_outcomes(found, "same")), findings[0])
        )
    caveats = (*describe_unreached_lines(answer), *_list_caveats(ask, read, _describe_runs(answer), accepted=accepted))
    name = f"{ask.source.shown}:{ask.source.step}"
    report = Report(ask.dynamics.name, name, digest(ask.dynamics), tuple(findings), caveats)
    return Lint(read, report, said)


Row = tuple[str, Callable[[MomentReader], object], Sizes]
Key = tuple[tuple[str, int], ...]
Found = Mapping[tuple[str, Key], object]
"""What came out of each row at each choice of sizes."""


def _list_limit_jobs(sizes: Sequence[Sizes], ask: Binding, *, judged: bool) -> list[Row]:
    """Return the jobs for a step with a limit."""
    rows: list[Row] = [("equation", read_equation, _choose_shown_sizes(sizes))]
    if judged:
        rows += [("step", decide_stationary_of_mean if ask.is_of_batch else decide_stationary, at) for at in sizes]
        rows += [("same", compare_equations, at) for at in sizes] if _has_recipe(ask.dynamics) else []
        rows.append(("finite", describe_bias, sizes[0]))
    return rows


def _list_acceptance_jobs(sizes: Sequence[Sizes]) -> list[Row]:
    """Return the jobs for a step with acceptance."""
    return [("step", decide_metropolis, at) for at in sizes]


def _time_job(job: Callable[[MomentReader], object], read: MomentReader) -> object:
    start = process_time()
    found = job(read)
    if not isinstance(found, Outcome):
        return found
    line = find_offending_line(read) if found.witness else 0
    return replace(found, line=line, seconds=process_time() - start)


def _collect_outcomes(found: Found, row: str) -> list[Outcome]:
    """Return the outcomes of one job at all sizes, undecided where it did not end."""
    outcomes = [(at, one) for (name, at), one in found.items() if name == row]
    ends = [Outcome(at, reason=o.reason, seconds=o.seconds) if isinstance(o, Unfinished) else o for at, o in outcomes]
    return [one for one in ends if isinstance(one, Outcome)]


def _get_equation(found: Found, at: Key, why: str) -> LimitEquation:
    """Return the limiting equation with the bias of finite steps, or the reason that it is not read."""
    read = found.get(("equation", at))
    said = next((one for (name, _), one in found.items() if name == "finite" and isinstance(one, tuple)), ())
    if isinstance(read, LimitEquation):
        return replace(read, remarks=said)
    return LimitEquation(at, reason=read.reason if isinstance(read, Unfinished) else why)


def _make_key(sizes: Sizes) -> Key:
    return tuple(sizes.items())


def _choose_shown_sizes(sizes: Sequence[Sizes]) -> Sizes:
    return next((at for at in sizes if all(n == 2 for n in at.values())), sizes[0])


def _has_recipe(dynamics: Dynamics) -> bool:
    return dynamics.D is not None and dynamics.Q is not None


def _refuse_faulty_file(answer: Cases, ask: Binding) -> None:
    """Raise the fault of a file that does not run."""
    one = answer[0]
    if isinstance(one, Untraced) and one.raised_at_load and one.line:
        problem = f"found {one.reason} when the file ran, expected a file that runs"
        raise SpecError([Fault(ask.source.place(one.line), ask.source.step, problem)])


def _list_failures(answer: Cases, sizes: Sequence[Sizes], ask: Binding) -> tuple[str, ...]:
    """Return why the step was not traced, with the line."""
    said: dict[str, list[str]] = {}
    for at, case in zip(sizes, answer, strict=True):
        if isinstance(case, Untraced):
            said.setdefault(f"{ask.source.place(case.line)}: {case.reason}", []).append(format_sizes(at))
    whole = [len(at) for at in said.values()] == [len(sizes)]
    return tuple(reason if whole else f"{reason} (at {'; '.join(at)})" for reason, at in said.items())


def _drop_repeated_reasons(finding: Finding, first: Finding) -> Finding:
    """Return a finding that refers to another one where both are undecided for the same reasons."""
    mine, its = finding.decision, first.decision
    if not isinstance(mine, Undecided) or not isinstance(its, Undecided) or mine.tried != its.tried:
        return finding
    return replace(finding, decision=replace(mine, tried=(f"for the same reasons as {first.id}",)))


@dataclass(frozen=True, slots=True)
class _FindingContext:
    """What every finding about a step is made from."""

    ask: Binding
    subject: Subject
    answer: Cases
    failures: tuple[str, ...]

    def make_finding(self, words: tuple[str, str], seen: Sequence[Outcome]) -> Finding:
        """Return the finding on a claim, of what was seen of it at all sizes."""
        ask, dynamics = self.ask, self.ask.dynamics
        held = tuple(one.sizes for one in seen if one.holds)
        failed = next((one for one in seen if one.witness), None)
        formulas = (formula for g in ask.given for formula in (g.formula, g.inverse) if formula is not None)
        premises = require_smooth((dynamics.H, *formulas), self.subject.declarations)
        says = [*(given.says for given in ask.given if given.says), *describe_order(ask, self.answer)]
        given = tuple(sorted(premises.given.union(says, *(one.given for one in seen))))
        unlike = tuple(self._list_mismatches(words == MOVE, is_refuted=failed is not None))
        tried = [*self.failures, *_list_reasons(seen, self.failures)]
        tried += [f"{_format_sizes(one)}not shown: {what}" for one in seen for what in one.left]
        tried += [f"not shown: {what}" for what in premises.open]
        tried += [*unlike, *([self.subject.contradiction] if self.subject.contradiction else [])]
        for_d: str | Key = "all"
        decision: Decision
        if failed is not None and not unlike:
            holds = "; ".join(format_sizes(dict(at)) for at in held if at)
            by = failed.by + (f" (of the sizes checked, it holds at {holds} only)" if holds else "")
            decision = Refuted(by, failed.witness, failed.residual, given)
            for_d = failed.sizes or ask.smaller or "all"
        elif tried or dynamics.declarations.sizes or ask.smaller or ask.is_of_batch or not held:
            is_smaller = bool(ask.smaller or ask.is_of_batch)
            holds_at = held if dynamics.declarations.sizes and not is_smaller and not tried else ()
            if held and (is_smaller or dynamics.declarations.sizes):
                tried += [_describe_held(seen, ask if is_smaller else None), AT_FIXED_SIZES if is_smaller else TO_PROVE]
            residual = next((one.residual for one in seen if one.residual), "")
            decision = Undecided(tuple(dict.fromkeys(tried)), residual, given, holds_at=holds_at)
        else:
            decision = Proved(f"{'; '.join(dict.fromkeys(one.by for one in seen))} at the document's sizes", given)
        where = ask.source.place((failed.line if failed else 0) or ask.source.line)
        seconds = sum(one.seconds for one in seen)
        return Finding(*words, words != EQUATION, decision, for_d, held, where, seconds)

    def _list_mismatches(self, is_move: bool, *, is_refuted: bool) -> Iterator[str]:
        """Yield why the trace may differ from what is meant: such a step is neither proved nor refuted."""
        yield from self.ask.left_open
        if self.ask.is_of_batch and is_move:
            yield OF_BATCHES
        for trace in (one for one in self.answer if isinstance(one, Trace)):
            yield from (_describe_rounding(text, line, self.ask) for text, line in trace.rounded)
            yield from find_build_sizes(trace, self.ask) if is_refuted else ()


def _describe_held(seen: Sequence[Outcome], ask: Binding | None) -> str:
    """Return at which sizes a claim holds, with how it was shown."""
    how = "; ".join(by for by in dict.fromkeys(one.by for one in seen if one.holds) if by != NORMAL)
    at = "; ".join(format_sizes(dict(one.sizes)) for one in seen if one.holds)
    at = at if ask is None else format_sizes(dict(ask.smaller)) or "the rows that the step is given"
    return f"holds at {at}{f' ({how})' if how else ''}"


def _list_reasons(seen: Sequence[Outcome], failures: Sequence[str]) -> list[str]:
    """Return why sizes are not decided; a reason shared by all sizes is named once."""
    every = dict.fromkeys(one.reason for one in seen)
    is_same = len(every) == 1 and not failures
    return [*filter(None, every)] if is_same else [f"{_format_sizes(one)}{one.reason}" for one in seen if one.reason]


def _format_sizes(seen: Outcome) -> str:
    return f"at {format_sizes(dict(seen.sizes))}: " if seen.sizes else ""


def _describe_rounding(text: str, line: int, ask: Binding) -> str:
    advice = "write the exact value: 1/3, np.sqrt(2)"
    return f"{ask.source.place(line)}: the number {text} is rounded, so nothing exact follows; {advice}"


def _list_caveats(ask: Binding, read: LimitEquation, was_run: str, *, accepted: bool) -> tuple[str, ...]:
    ran = f": {was_run}; what it does in other calls" if was_run else "; what it does"
    found = [
        f"{ask.source.shown} was run, in a child process with {LIMITS}{ran}, and its side effects, are not checked",
        f"verdicts concern {'the step as it is' if accepted else 'the limit of small steps'}, in exact arithmetic",
    ]
    return (*found, *read.remarks)
