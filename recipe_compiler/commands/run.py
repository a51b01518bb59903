"""`recipe run`."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

import numpy as np

from recipe_compiler.cache.entries import Cache, open_cache
from recipe_compiler.cache.reports import check_once
from recipe_compiler.commands.asked import Asked
from recipe_compiler.commands.documents import load_build
from recipe_compiler.commands.exit_code import ExitCode, of_verdict
from recipe_compiler.commands.outputs import demand_file, demand_folder
from recipe_compiler.commands.run_json import refusals_said, say_run, say_verdict
from recipe_compiler.display import complain, say, show_report, show_summary
from recipe_compiler.errors import Fault, SpecError
from recipe_compiler.pipeline import compile_build, estimate
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.coordinates import sampled_names
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.errors import RunError
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.facts import checkpoint_facts
from recipe_compiler.run.forecast import forecast
from recipe_compiler.run.generator import generator_means
from recipe_compiler.run.lanes import LANES
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.memory import machine_memory
from recipe_compiler.run.mode import Start
from recipe_compiler.run.progress import progress_bars
from recipe_compiler.run.sample import (
    Draws,
    check_settings,
    known_values,
    potential_width,
    prepare_inputs,
    sample,
)
from recipe_compiler.run.schedule import shown
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.starts import starts_of
from recipe_compiler.run.stein import departures
from recipe_compiler.run.stepping import stepping_code
from recipe_compiler.run.store import save, to_datatree
from recipe_compiler.run.summary import COLUMNS, Summary, Told, summarise
from recipe_compiler.spec.build_checks import no_lanes
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.verdict import Report

COPIES = 3
"""How often draws lie in memory at once: as drawn, in the groups of the data tree, and while they are written."""


def run_build(
    file: str, folder: Path, asked: Asked, cores: int | None, *, resume: bool, as_json: bool, allow_undecided: bool,
    allow_code: bool = False, use_cache: bool = True,
) -> ExitCode:  # fmt: skip
    """Verify and compile a build, run it or go on with a run, store and summarise the draws."""
    with refusals_said(file, as_json=as_json):
        build = load_build(file)
        settings, cache = _settings(build, asked), open_cache(use=use_cache)
        stored, checkpoint = folder / f"{build.name}.nc", folder / f"{build.name}.checkpoint"
        demand_file(stored, "-o", files_of(build), make_folders=True)
        demand_folder(checkpoint, "-o", files_of(build))
        if build.target.gradient is not None and not allow_code:
            raise RunError(
                f"the target's gradient is code, {build.target.gradient.file}, which is run only with --allow-code"
            )
        report = check_once(build, cache)
        if not as_json:
            show_report(report)
        if (code := of_verdict(report.verdict, allow_undecided=allow_undecided)) is not ExitCode.PROVED:
            complain(f"{report.name} is {report.verdict.value}: it is not run")
            if as_json:
                say_verdict(report)
            return code
        return _run(build, report, settings, stored, checkpoint, cores, cache, resume=resume,
                    as_json=as_json, allow_undecided=allow_undecided)  # fmt: skip


def _run(
    build: Build, report: Report, settings: RunSettings, stored: Path, checkpoint: Path, cores: int | None,
    cache: Cache, *, resume: bool, as_json: bool, allow_undecided: bool,
) -> ExitCode:  # fmt: skip
    """Run a build whose verdict allows it."""
    data = load_data(build.data, build.target)
    module = compile_build(build, report, allow_undecided=allow_undecided, cache=cache)
    emitted = load_text(module.name, module.text)
    check_settings(emitted, build, settings, data)
    facts = checkpoint_facts(stepping_code(module.text), build, settings, data)
    build = estimate(build, report, settings, data, allow_undecided=allow_undecided, cache=cache)
    _demand_room(build, emitted, settings, data)
    if not as_json:
        say(f"compiled and read back; {_length(settings)}")
    if emitted.run_lanes is not None and settings.chains >= LANES and not settings.lanes and not as_json:
        say(f"hint: --lanes (`lanes: true` under run) advances {LANES} chains side by side: faster, with other draws")
    inputs = prepare_inputs(emitted, build, settings, data, 0)
    names = sampled_names(build, data, resolve_sizes(build, data))
    ahead = forecast(emitted, build, inputs, names, _starts(build, emitted, inputs, data))
    for line in ahead.says if ahead is not None and not as_json else ():
        say(line)
    kept = Checkpoint(checkpoint, facts)
    with kept, progress_bars(settings.chains, settings.warmup + settings.draws, quiet=as_json) as watch:
        draws = sample(emitted, build, settings, data, watch, cores, kept, resume=resume, inputs=inputs)
    for note in kept.notes:
        complain(note)
    if kept.refused is not None:
        complain(f"all draws were made; {kept.what_is_kept}")
    try:
        with _terminating():
            means = generator_means(emitted, inputs, draws)
            told = Told(ahead, departures(emitted, build, inputs, draws, names), means)
            summary = _conclude(report, draws, build, data, stored, told, as_json=as_json)
    except (KeyboardInterrupt, _TerminatedError) as stop:
        complain(f"stopped before the summary was written: {kept.what_is_kept}")
        return ExitCode.TERMINATED if isinstance(stop, _TerminatedError) else ExitCode.INTERRUPTED
    except OSError:
        complain(f"the draws cannot be written: {kept.what_is_kept}")
        raise
    if draws.stopped is not None:
        return ExitCode.TERMINATED if draws.stopped is signal.SIGTERM else ExitCode.INTERRUPTED
    return ExitCode.DOUBTFUL if summary.doubts else ExitCode.PROVED


def _starts(build: Build, module: Emitted, inputs: Inputs, data: Data) -> tuple[Start, ...]:
    """Return where the forecast begins its search: at the mode that is known already, else where `init` says."""
    given = dict(zip(module.parameters, inputs.parameters, strict=True))
    if build.control is not None and build.control[0] in given:
        return (Start("the mode of the control variates", np.asarray(given[build.control[0]])),)
    sizes = resolve_sizes(build, data)
    width = potential_width(module, build, sizes)
    return starts_of(build, width, known_values(build, sizes), sizes)


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


def _settings(build: Build, asked: Asked) -> RunSettings:
    if asked.batch_size is not None and build.variant == "full":
        problem = "found --batch-size, expected none: the variant of this build is full, every step uses all data"
        raise SpecError([Fault(build.source.place("variant"), "variant", problem)])
    if asked.lanes and (why := no_lanes(build.target, build.noise_generator)):
        raise SpecError([Fault(build.source.place("target"), "--lanes", f"found it for {build.name}: {why}")])
    given = {name: value for name, value in asdict(asked).items() if value is not None}
    return replace(build.run, **given)


def _demand_room(build: Build, module: Emitted, settings: RunSettings, data: Data) -> None:
    """Refuse draws that this machine has no memory for, before any is made."""
    sizes = resolve_sizes(build, data)
    width = sum(extent(size, sizes) or 1 for _, size in module.blocks)
    if (memory := machine_memory()) is None:
        return
    most = memory // (COPIES * 8 * width * settings.chains)
    if settings.warmup + settings.draws > most:
        found = f"draws and warmup: found {settings.warmup + settings.draws} in all"
        why = f"{settings.chains} chains of {width} coordinates must fit into {memory / 1e9:.0f} GB"
        raise RunError(f"{found}, expected at most {most}: {why}; take more steps per draw (--thin) instead")


def _length(settings: RunSettings) -> str:
    draws = f"{settings.warmup} draws of warmup and {settings.draws} kept"
    lanes = " as lanes" if settings.lanes else ""
    return f"{settings.chains} chains{lanes}, {draws}, {settings.thin} steps a draw, step size {shown(settings)}"


def _conclude(
    report: Report, draws: Draws, build: Build, data: Data, path: Path, told: Told, *, as_json: bool
) -> Summary:
    """Store the draws, then say what they are worth."""
    verdicts = "; ".join(f"{finding.id}: {finding.verdict.value}" for finding in report.findings)
    tree = to_datatree(draws, build, data, report.digest, verdicts)
    for one in (told.forecast, told.departures, told.generator):
        tree.attrs.update({} if one is None else one.attributes)
    save(tree, path)
    summary = summarise(tree, draws, told)
    if as_json:
        say_run(report, draws, summary, path)
    else:
        show_summary(summary, COLUMNS)
        say(f'{path}: draws in {draws.seconds:.1f} s; open with xarray.open_datatree("{path}")')
    return summary
