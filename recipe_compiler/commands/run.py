"""`recipe run`."""

import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from recipe_compiler.advise.choose import Candidates, choose
from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.diagnostics import Summary
from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.advise.judge import forecast_run, judge_run
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.cache import Cache, check_once, open_cache
from recipe_compiler.commands.arguments import BuildArguments, RunOptions
from recipe_compiler.commands.clean_exit import of_verdict
from recipe_compiler.commands.documents import demand_build, load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.commands.made_build import make_build, open_build, read_candidates, show_made
from recipe_compiler.commands.outputs import demand_file, demand_folder
from recipe_compiler.commands.run_json import refusals_said, say_plan, say_run, say_verdict
from recipe_compiler.display import MARK, complain, mark_lines, say, show_report, show_summary
from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import make_ready, prepare_run
from recipe_compiler.plots.panels import demand_matplotlib
from recipe_compiler.plots.pictures import pictures_of
from recipe_compiler.report.refuted import FLAG, mark_refuted
from recipe_compiler.run.chain import LANES
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.observed import with_data
from recipe_compiler.run.progress import Stages, progress_bars
from recipe_compiler.run.rerun import build_of, demand_same, same_draws
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown
from recipe_compiler.run.stages import (
    Ready,
    Run,
    demand_log_likelihood,
    demand_no_code,
    demand_predictive,
    draw,
    settings_of,
)
from recipe_compiler.run.store import save, set_aside, stored
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.model import Build, Dynamics, RunSettings, Target
from recipe_compiler.verdict import Report, Verdict

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True, slots=True)
class Results:
    """Where what a run makes goes."""

    folder: Path
    """The folder of the file of draws and of the checkpoint, under the name of the build."""
    plots: Path | None = None
    """The folder of pictures; None: none are made."""
    overwrite: bool = False
    """Whether draws of an earlier run are replaced: else they are moved aside."""
    log_likelihood: bool | None = None
    """Whether that of every datum at every draw is stored; None: where it is small."""
    predictive: bool | None = None
    """Whether data are drawn by posterior and prior; None: where the target says of what, and they are few."""


def run_build(
    files: Sequence[str], results: Results, options: RunOptions, cores: int | None, *, resume: bool, as_json: bool,
    allow_undecided: bool, allow_refuted: bool = False, allow_code: bool = False, use_cache: bool = True,
    only_plan: bool = False, given: BuildArguments | None = None,
) -> ExitCode:  # fmt: skip
    """Verify and compile a build, run it or go on with a run, store and summarise the draws.

    Two files are dynamics and a target, one may be dynamics whose H is complete: what is run is the build that they
    make, with what is `given` of it. Of a target alone, and of a build without dynamics, a sampler is chosen.
    With `only_plan` nothing is run: the build is printed as it would be, everything chosen that it leaves open.
    """
    with refusals_said(" ".join(files), as_json=as_json), Stages().said(quiet=as_json) as stages:
        stages("reading the documents and data")
        quiet, cache = as_json or only_plan, open_cache(use=use_cache)
        made, options = _made(files, given, options, quiet=quiet)

        def planned(build: Build, seconds: float | None = None) -> tuple[Plan | None, Report]:
            if not isinstance(made, Build):
                show_made(build, given or BuildArguments(), quiet=quiet)
            _settings(build, options)
            build, report = _checked(build, results, cache, stages, allow_code=allow_code)
            marked = _marked(build, report, stages) if allow_refuted else build
            if not quiet:
                show_report(report)
            if marked.mark is not None:
                return Plan(marked, ()), report
            if of_verdict(report.verdict, allow_undecided=allow_undecided) is not ExitCode.PROVED:
                return None, report
            found = plan_run(
                build, report, allow_undecided=allow_undecided, cache=cache, say=stages, seconds=seconds,
                begin=lambda: None if quiet else say(f"planning: {_how_planned(build)}"),
            )  # fmt: skip
            stages("")
            return found

        plan, report = planned(made) if isinstance(made, Build) else choose(made, planned)
        if plan is None:
            _say_why_not(report, as_json=as_json)
            return of_verdict(report.verdict, allow_undecided=allow_undecided)
        if only_plan:
            if as_json:
                say_plan(plan, report)
            else:
                _say_plan(plan)
            return _code_of(plan.build, ExitCode.DOUBTFUL if plan.doubts else ExitCode.PROVED)
        for line in () if as_json else plan.says:
            say(line)
        if plan.doubts:
            if as_json:
                say_plan(plan, report)
            complain(plan.refusal)
            return ExitCode.DOUBTFUL
        settings = _settings(plan.build, options)
        code = _run(plan, report, settings, results, cores, cache, stages, resume=resume,
                    as_json=as_json, allow_undecided=allow_undecided)  # fmt: skip
        return _code_of(plan.build, code)


def _marked(build: Build, report: Report, stages: Stages) -> Build:
    """Return a build with its mark, if it is refuted: from here on each line that is printed has one."""
    build = mark_refuted(build, report)
    stages.mark = "" if build.mark is None else MARK
    mark_lines(stages.mark)
    return build


def _code_of(build: Build, code: ExitCode) -> ExitCode:
    """Return the exit code of a run: of a negative control that came to its end it is that of its verdict."""
    done = code in (ExitCode.PROVED, ExitCode.DOUBTFUL)
    return ExitCode.REFUTED if done and build.mark is not None else code


def _made(
    files: Sequence[str], given: BuildArguments | None, options: RunOptions, *, quiet: bool
) -> tuple[Build | Candidates, RunOptions]:
    """Return the build of documents, or those among which one is chosen, and the options that none of them states."""
    file, arguments = files[0], given or BuildArguments()
    stated = replace(options, step_size=None)
    own = open_build(file) if len(files) == 1 else None
    document = load_named(file) if len(files) == 1 and own is None else None
    if own is not None or isinstance(document, Target):
        if options.step_size is not None:
            arguments = replace(arguments, settings=(*arguments.settings, f"run.step_size={options.step_size!r}"))
        return read_candidates(file, document if isinstance(document, Target) else own or {}, arguments), stated
    if given is None and document is not None and not isinstance(document, Dynamics):
        return demand_build(document, file), options
    build = make_build(files, arguments, step_size=options.step_size, quiet=quiet)
    return build, stated


def _stored(results: Results, build: Build) -> Path:
    return results.folder / f"{build.name}.nc"


def _checkpoint(results: Results, build: Build) -> Path:
    return results.folder / f"{build.name}.checkpoint"


def _checked(build: Build, results: Results, cache: Cache, stages: Stages, *, allow_code: bool) -> tuple[Build, Report]:
    """Return a build that holds its data, and the verdicts on it.

    Raises:
        SpecError: results cannot be written.
        RunError: pictures cannot be made; code that is not allowed.
        DataError: the data do not fit.
    """
    demand_file(_stored(results, build), "-o", files_of(build), make_folders=True)
    demand_folder(_checkpoint(results, build), "-o", files_of(build))
    if results.plots is not None:
        demand_matplotlib()
        demand_folder(results.plots, "--plots", files_of(build))
    demand_no_code(build, "--allow-code", allowed=allow_code)
    build = with_data(build)
    stages("checking")
    report = check_once(build, cache)
    stages("")
    return build, report


def _say_why_not(report: Report, *, as_json: bool) -> None:
    complain(f"{report.name} is {report.verdict.value}: it is not run, for {_why(report)}")
    if as_json:
        say_verdict(report)


def _why(report: Report) -> str:
    """Return what keeps a build from being run, and whether that may be waived."""
    guilty = [f for f in report.findings if f.required and f.verdict is report.verdict]
    waived = "; --allow-undecided runs it anyway" if report.verdict is Verdict.UNDECIDED else f"; {FLAG}"
    return f"{', '.join(f'`{finding.says}`' for finding in guilty)}{waived}"


def _how_planned(build: Build) -> str:
    if build.has_acceptance:
        return f"chains warm up, until {build.accept:g} of their moves are accepted"
    if build.is_exact_at_every_step:
        return "chains measure the thinning that draws need"
    return "searching for the modes of U, then for the step of least work"


def _say_plan(planned: Plan) -> None:
    """Print a build with all that was chosen, in the language it is stated in: a file that runs as it is, here."""
    say(planned.yaml(Path()).rstrip())


def rerun_file(
    file: str, results: Results, folder: Path | None, cores: int | None, *, as_json: bool, allow_undecided: bool,
    allow_refuted: bool = False, allow_code: bool = False, use_cache: bool = True,
) -> ExitCode:  # fmt: skip
    """Make a stored run again from the documents and settings in its file, and compare the draws bit by bit."""
    with refusals_said(file, as_json=as_json), Stages().said(quiet=as_json) as stages:
        before, cache = stored(Path(file)), open_cache(use=use_cache)
        build, kept = build_of(before, file, folder)
        settings = settings_of(build, {name: own for name, own in asdict(kept).items() if name != "schedule"})
        if build.data is None and build.target.declarations.data:
            raise RunError(f"{file}: the data were given in Python: `rc.rerun(file, data)` takes them again")
        path = _stored(results, build)
        if path.exists() and path.samefile(file):
            raise RunError(f"{path}: found the run to repeat, expected another folder for the result")
        build, report = _checked(build, results, cache, stages, allow_code=allow_code)
        build = _marked(build, report, stages) if allow_refuted else build
        code = of_verdict(report.verdict, allow_undecided=allow_undecided)
        if build.mark is None and code is not ExitCode.PROVED:
            _say_why_not(report, as_json=as_json)
            return code
        code = _run(Plan(build, ()), report, settings, results, cores, cache, stages, resume=False, as_json=as_json,
                    allow_undecided=allow_undecided,
                    begin=lambda run: demand_same(before, run.facts, file))  # fmt: skip
        if code not in (ExitCode.PROVED, ExitCode.DOUBTFUL):
            return code
        if not same_draws(before, stored(path)):
            complain(f"{path}: its draws are not those of {file}, though the records of both runs agree")
            return ExitCode.DOUBTFUL
        if not as_json:
            say(f"the draws of {file} again, bit for bit")
        return _code_of(build, code)


def _run(
    planned: Plan, report: Report, settings: RunSettings, results: Results, cores: int | None, cache: Cache,
    stages: Stages, *, resume: bool, as_json: bool, allow_undecided: bool,
    begin: Callable[[Run], None] = lambda _: None,
) -> ExitCode:  # fmt: skip
    """Run a build whose verdict allows it, and `begin` too."""
    run = prepare_run(planned.build, report, settings, allow_undecided=allow_undecided, cache=cache, say=stages)
    run = replace(run, log_likelihood=results.log_likelihood, predictive=results.predictive)
    demand_log_likelihood(run, "--log-likelihood")
    demand_predictive(run, "--predictive")
    begin(run)
    stages("")
    if not as_json:
        say(f"compiled and read back; {_length(run.build, settings)}")
        for line in () if planned.pace is None else (planned.pace.says(settings),):
            say(line)
    if run.may_use_lanes and not as_json:
        say(f"hint: --lanes (`lanes: true` under run) advances {LANES} chains side by side: faster, with other draws")
    stages("forecasting what the step samples")
    ready = make_ready(run)
    ahead = forecast_run(ready, planned)
    stages("")
    for line in () if as_json else ahead.says:
        say(line)
    kept = Checkpoint(_checkpoint(results, run.build), run.facts)
    with (
        kept,
        progress_bars(
            settings.chains, settings.warmup + settings.draws, quiet=as_json, plain=stages.watch, mark=stages.mark
        ) as watch,
    ):
        draws = draw(ready, watch, cores, kept, resume=resume)
    stages("")
    for note in kept.notes:
        complain(note)
    if kept.refused is not None:
        complain(f"all draws were made; {kept.what_is_kept}")
    try:
        with _terminating():
            summary = _conclude(
                ready,
                planned,
                ahead,
                draws,
                replace(results, overwrite=results.overwrite or resume),
                stages,
                as_json=as_json,
            )
    except (KeyboardInterrupt, _TerminatedError) as stop:
        complain(f"stopped before the summary was written: {kept.what_is_kept}")
        return ExitCode.TERMINATED if isinstance(stop, _TerminatedError) else ExitCode.INTERRUPTED
    except OSError:
        complain(f"the draws cannot be written: {kept.what_is_kept}")
        raise
    if draws.stopped is not None:
        return ExitCode.TERMINATED if draws.stopped is signal.SIGTERM else ExitCode.INTERRUPTED
    return ExitCode.DOUBTFUL if summary.doubts else ExitCode.PROVED


class _TerminatedError(BaseException):
    """SIGTERM came while draws were summarised and written."""


@contextmanager
def _terminating() -> Generator[None]:
    """Let SIGTERM unwind what is done, so that no half-written file stays."""

    def terminate(number: int, frame: FrameType | None) -> NoReturn:
        raise _TerminatedError

    before = signal.getsignal(signal.SIGTERM) or signal.SIG_DFL
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _settings(build: Build, options: RunOptions) -> RunSettings:
    return settings_of(build, asdict(options), lambda name: f"--{name.replace('_', '-')}")


def _length(build: Build, settings: RunSettings) -> str:
    """Return how long a run is; draws alone, by conditional laws, have no use for a step size."""
    draws = f"{settings.warmup} draws of warmup and {settings.draws} kept"
    lanes = " as lanes" if settings.lanes else ""
    steps = f"{settings.thin} step{'s' if settings.thin > 1 else ''} a draw"
    sized = f", step size {shown(settings)}" if build.scheme.takes_time else ""
    return f"{settings.chains} chains{lanes}, {draws}, {steps}{sized}"


def _conclude(
    ready: Ready, plan: Plan, ahead: Forecast, draws: Draws, results: Results, stages: Stages, *, as_json: bool
) -> Summary:
    """Store the draws with what they are worth, then say it; pictures come last, so that they can keep nothing back."""
    path = _stored(results, ready.run.build)
    stages("summarising the draws")
    summary = judge_run(ready, plan, ahead, draws)
    tree = summary.tree
    aside = None if results.overwrite else set_aside(path)
    save(tree, path)
    stages("")
    left_out = str(tree.attrs.get("left_out", "")).splitlines()
    if as_json:
        say_run(ready.run, plan, draws, summary, left_out, path)
    else:
        show_summary(summary)
        for line in left_out:
            say(line)
        if aside is not None:
            say(f"{aside}: the draws of an earlier run, moved out of the way; `recipe compare` puts both side by side")
        say(f'{path}: draws in {draws.seconds:.1f} s; open with xarray.open_datatree("{path}")')
    if results.plots is not None:
        stages("drawing pictures")
        _draw_pictures(tree, results.plots, as_json=as_json)
    return summary


def _draw_pictures(tree: "DataTree", folder: Path, *, as_json: bool) -> None:
    try:
        written = pictures_of(tree).write(folder)
    except RunError as error:  # no chain has draws to show: the summary has said why
        complain(str(error))
        return
    if not as_json:
        say(f"{folder}: {', '.join(path.name for path in written)}")
