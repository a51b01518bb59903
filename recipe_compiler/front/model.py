"""From documents to a model that can be sampled: compiled, verified, read back.

Doubts about draws are warnings of two categories: to filter, or to turn into errors.
"""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from recipe_compiler.advise.choose import Candidate, candidates, choose, name_of_length
from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.advise.judge import forecast_run, judge_run
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.cache import Cache, check_once, open_cache
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError, DataError, RunError, shown
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.front.build import Build
from recipe_compiler.front.dynamics import Dynamics
from recipe_compiler.front.load import load
from recipe_compiler.front.scheme import Scheme
from recipe_compiler.front.target import Target
from recipe_compiler.pipeline import (
    compile_build,
    draw,
    make_ready,
    prepare_run,
    write_module,
)
from recipe_compiler.report.refuted import mark_refuted
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.data import data_for
from recipe_compiler.run.load_module import load_file
from recipe_compiler.run.observed import demand_data, observed, with_data, with_sizes
from recipe_compiler.run.progress import Progress, demand_progress, watching
from recipe_compiler.run.rerun import build_of, demand_same
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.stages import Ready, Run, demand_log_likelihood, demand_no_code, demand_predictive, settings_of
from recipe_compiler.spec import model as spec
from recipe_compiler.verdict import Report, Verdict
from recipe_compiler.verify.builds.of_data import awaits_data, rests_on_data


class SampleWarning(UserWarning):
    """Numbers made of the draws are rough."""


class DoubtWarning(SampleWarning):
    """The draws are not to be believed: what ends `recipe run` with exit code 4."""


if TYPE_CHECKING:
    from recipe_compiler.front.fit import Fit


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """An emitted module with the documents it was made of; made by `compile`.

    Attributes
    ----------
    build : Build
        What was compiled.
    report : Report
        The verdicts about it.
    text : str
        The standalone module, which needs numpy and numba alone.
    """

    build: Build
    report: Report
    module: Module
    allow_undecided: bool = False
    cache: bool = True
    allow_refuted: bool = False

    @property
    def name(self) -> str:
        """The name of the build, and of its module."""
        return self.module.name

    @property
    def text(self) -> str:
        """The text of the emitted module."""
        return self.module.file

    def write(self, folder: str | PathLike[str] = ".") -> Path:
        """Write the module as FOLDER/NAME.py, whole or not at all, and return where it is.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        return write_module(self.module, folder)

    def load(self) -> ModuleType:
        """Return the standalone module, imported: `load().sample(grad_U, d=3, step_size=0.1)` of a model of any U.

        Raises
        ------
        RunError
            NUMBA_DISABLE_JIT is set.
        """
        return load_file(self.name, self.text)

    def sample(
        self, data: object = None, *, draws: int | None = None, warmup: int | None = None,
        chains: int | None = None, seed: int | None = None, step_size: float | None = None, thin: int | None = None,
        batch_size: int | None = None, lanes: bool | None = None, cores: int | None = None, progress: Progress = True,
        checkpoint: str | PathLike[str] | None = None, resume: bool = False, allow_code: bool = False,
        log_likelihood: bool | None = None, predictive: bool | None = None,
    ) -> "Fit":  # fmt: skip
        """Run chains and return their draws as ArviZ reads them, with a verdict on the run.

        The same data, settings and seed give the same draws bit for bit on one machine.

        Parameters
        ----------
        data : mapping, table or dataset, optional
            As of `compile`, in memory. Left out, those that it was compiled for. What is open without data, or was
            proved by others, is decided at these.
        draws, warmup, chains, seed, step_size, thin, batch_size, lanes : optional
            As of `Build`, and as the build says where they are left out.
        cores : int, optional
            Threads; by default, all cores.
        progress : bool or callable
            Whether to show how far the chains are, on a terminal or in a notebook; or a function that is called as
            `progress(chain, draws, total, phase)` a few times a second, for each chain that has more draws than
            before: `chain` counts from 0, `draws` and `total` are those so far and in all, warmup included, and
            `phase` is "warmup" or "draws". What it raises ends the run.
        checkpoint : path-like, optional
            A folder in which the chains are kept as NAME.checkpoint, once a minute and at the end: `recipe run -o`.
        resume : bool
            Whether to go on from `checkpoint`: the same bits as of a run that never stopped.
        allow_code : bool
            Whether to run the Python files that a target names as its gradient, and a cycle as moves.
        log_likelihood : bool, optional
            Whether to keep that of every datum at every draw, which `loo` and others take; left out, where it takes 64
            MiB at most.

        predictive : bool, optional
            Whether to draw data by posterior and prior, from the densities that the target names; left out, where it
            names them and they take 64 MiB at most.

        Returns
        -------
        Fit
            An `xarray.DataTree` with groups `posterior`, `sample_stats`, `auxiliary`, `log_likelihood`, `log_prior`,
            `constant_data`, `warmup_...` and `forecast`. Its attributes hold settings, verdicts, `trust` in one line
            and, line by line, `doubts`, `warnings`, what is forecast, `forecast_lines`, what was planned, `plan`, and
            what there is not, and why, `left_out`. `.verdict` says whether to
            believe it, `.plot()` shows it.

        Raises
        ------
        DataError, RunError
            Data, sizes or values that do not fit; settings that no run can have; a plan with a doubt.
        VerificationError
            A required claim is refuted at these data, or undecided where that is not allowed.

        Warns
        -----
        DoubtWarning, SampleWarning
            The draws are not to be believed, with the evidence; numbers made of them are rough.
        """
        given = {
            "draws": draws, "warmup": warmup, "chains": chains, "seed": seed, "step_size": step_size, "thin": thin,
            "batch_size": batch_size, "lanes": lanes,
        }  # fmt: skip
        if cores is not None and (type(cores) is not int or cores < 1):
            raise RunError(f"cores: found {shown(cores)}, expected None or a whole number of 1 or more")
        demand_progress(progress)
        run, plan = _run(self, data, given, allow_code=allow_code)
        run = replace(run, log_likelihood=log_likelihood, predictive=predictive)
        demand_log_likelihood(run, "log_likelihood")
        demand_predictive(run, "predictive")
        return _drawn(run, plan, cores, progress=progress, checkpoint=checkpoint, resume=resume)

    def plan(self, data: object = None, *, allow_code: bool = False) -> Build:
        """Return the build with everything that `step_size="auto"` leaves to be chosen from the data.

        Around the mode of U, with its Hessian K there: mass K, friction, step size, thinning, warmup and where chains
        start, so that no posterior sd is off by more than `share` by the audit of the step. Moves that are accepted
        or refused are tuned by chains that warm up, until `accept` of them are. `sample` does the same first;
        `plan(data).to_yaml()` is what it chose, and runs as it is once it names its `data`.

        Parameters
        ----------
        data, allow_code
            As of `sample`.

        Returns
        -------
        Build
            With every value stated; the same build where nothing is left open.

        Raises
        ------
        DataError, RunError
            Data that do not fit; no step size that serves, and what does.

        Warns
        -----
        DoubtWarning
            Chains of warm-up speak against any run of it.
        """
        demand_no_code(self.build.document, "allow_code=True", allowed=allow_code)
        planned, _ = _planned(self, data)
        for doubt in planned.doubts:
            warnings.warn(doubt, DoubtWarning, stacklevel=2)
        return Build.of(planned.build)

    def __repr__(self) -> str:
        return f"<Model {self.name}, {self.report.verdict.value}>"


def _run(model: Model, data: object, given: Mapping[str, object], *, allow_code: bool) -> tuple[Run, Plan]:
    """Return the run, with its data in memory or from the file of the build, and its plan."""
    build = model.build.document
    demand_no_code(build, "allow_code=True", allowed=allow_code)
    settings_of(build, given)
    planned, report = _planned(model, data)
    cache = open_cache(use=model.cache)
    return _prepared(planned, report, given, allow_undecided=model.allow_undecided, cache=cache), planned


def _prepared(
    planned: Plan, report: Report, given: Mapping[str, object], *, allow_undecided: bool, cache: Cache
) -> Run:
    if planned.doubts:
        raise RunError("\n".join((planned.refusal, *planned.doubts)))
    settings = settings_of(planned.build, given)
    return prepare_run(planned.build, report, settings, allow_undecided=allow_undecided, cache=cache)


def sample(
    target: Target | str | PathLike[str], data: object = None, *, parameters: Mapping[object, object] | None = None,
    sizes: Sizes | None = None, draws: int | None = None, warmup: int | None = None,
    chains: int | None = None, seed: int | None = None, thin: int | None = None, cores: int | None = None,
    progress: Progress = True, allow_undecided: bool = False, cache: bool = True,
) -> "Fit":  # fmt: skip
    """Sample a target by the sampler of most predicted effective draws per processor second.

    It is `hmc`, of many data `sghmc` in minibatches, of discrete blocks draws by their laws; the first lines of
    `fit.attrs["plan"]` say which, and why. `compile` takes dynamics that are named.

    Parameters
    ----------
    target : Target, or the name of a YAML file of one
        What is sampled.
    data : mapping, table or dataset, optional
        As of `compile`, in memory.
    parameters, sizes : mapping, optional
        As of `Build`: values of the target's parameters, and its symbolic sizes.
    draws, warmup, chains, seed, thin, cores, progress
        As of `Model.sample`.
    allow_undecided, cache
        As of `compile`.

    Returns
    -------
    Fit
        As of `Model.sample`, with its warnings.

    Raises
    ------
    SpecError, ModelError
        No sampler takes the target; says why of each.
    DataError, RunError
        Data that do not fit; no plan that serves, or one with a doubt.
    VerificationError
        A required claim is refuted, or undecided where that is not allowed.

    Examples
    --------
    >>> theta = vector("theta", 2)
    >>> fit = sample(Target(name="normal", state=[theta], potential=theta.T @ theta / 2), progress=False)
    >>> print(fit.attrs["plan"].partition(",")[0])
    sampler: hmc
    """
    demand_progress(progress)
    own = load(target) if isinstance(target, (str, PathLike)) else target
    if not isinstance(own, Target):
        raise TypeError(f"found {type(own).__name__}, expected a Target: `compile` takes builds and dynamics")
    kept = open_cache(use=cache)
    given = {"draws": draws, "warmup": warmup, "chains": chains, "seed": seed, "thin": thin}

    def made(one: Candidate) -> spec.Build:
        scheme = one.scheme(own.document, name_of_length(own.document))
        return Build(
            name=f"{one.dynamics}_{own.name}", dynamics=one.dynamics, target=own, step_size="auto", scheme=scheme,
            variant=one.variant, parameters=parameters, sizes=sizes,
        ).document  # fmt: skip

    def planned(build: spec.Build, seconds: float | None) -> tuple[Plan | None, Report]:
        report = check_once(build, kept)
        return plan_run(build, report, allow_undecided=allow_undecided, cache=kept, seconds=seconds)

    plan, report = choose(candidates(made, partial(_holding, data)), planned)
    if plan is None:
        raise CompilerError(f"{own.name}: found no plan, expected one")
    run = _prepared(plan, report, given, allow_undecided=allow_undecided, cache=kept)
    return _drawn(run, plan, cores, progress=progress)


def _planned(model: Model, data: object) -> tuple[Plan, Report]:
    """Return the build with everything chosen that it leaves open, which holds its data, and the verdicts on it."""
    build, cache = model.build.document, open_cache(use=model.cache)
    held = _holding(data, build)
    report = model.report if data is None else _at_data(held, model.report, cache, anew=_is_given(build))
    if model.allow_refuted and report.verdict is Verdict.REFUTED:
        return Plan(mark_refuted(held, report), ()), report
    plan, report = plan_run(held, report, allow_undecided=model.allow_undecided, cache=cache)
    return plan, _at_data(plan.build, report, cache)


def _is_given(build: spec.Build) -> bool:
    return isinstance(build.observed, spec.Data) and build.observed.file == spec.GIVEN


def _holding(data: object, build: spec.Build) -> spec.Build:
    """Return a build that holds its data. Raises DataError where none are given nor in a file, or they do not fit."""
    fields = ", ".join(datum.name for datum in build.target.declarations.data)
    if data is None and build.data is None and fields and not _is_given(build):
        said = "pass them to `sample(data)`, or to `compile(..., data=...)`"
        raise DataError([f"{build.target.name}: found no data, expected {fields}: {said}"])
    return with_data(build, None if data is None else data_for(build, data))


def _at_data(build: spec.Build, report: Report, cache: Cache, *, anew: bool = False) -> Report:
    """Return the verdicts at data that are given, where they rest on facts of others, or are open without any."""
    is_open = build.data is None and report.verdict is Verdict.UNDECIDED
    if not _is_given(build) or not (anew or is_open or rests_on_data(report)):
        return report
    return check_once(build, cache)


def _drawn(
    run: Run, plan: Plan, cores: int | None, *, progress: Progress, checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
) -> "Fit":  # fmt: skip
    ready = make_ready(run)
    ahead = forecast_run(ready, plan)
    kept = (
        None if checkpoint is None else Checkpoint(Path(checkpoint) / f"{run.build.name}.checkpoint", ready.run.facts)
    )
    settings = ready.run.settings
    total = settings.warmup + settings.draws
    with kept or nullcontext(), watching(progress, settings.chains, settings.warmup, total) as watch:
        drawn = draw(ready, watch, cores, kept, resume=resume)
    return _concluded(ready, plan, ahead, drawn, kept)


def rerun(
    draws: "Fit | str | PathLike[str]", data: object = None, *,
    folder: str | PathLike[str] | None = None, cores: int | None = None, progress: Progress = True,
    allow_code: bool = False, allow_undecided: bool = False, allow_refuted: bool = False,
) -> "Fit":  # fmt: skip
    """Make a run again, bit for bit, from the documents and settings that its draws hold, and from its data.

    Parameters
    ----------
    draws : Fit, or the name of a file of one
        What `Model.sample` returned, or `recipe run` wrote.
    data : mapping, table or dataset, optional
        As of `compile`, where they were given in memory.
    folder : path-like, optional
        What the names of files in the build are relative to; by default the folder that it was in.
    cores, progress, allow_code
        As of `Model.sample`.
    allow_undecided, allow_refuted : bool
        As of `compile`.

    Returns
    -------
    Fit
        With the same draws.

    Raises
    ------
    RunError
        The data, or what this version emits, are not those of the run; says which.
    DataError
        They cannot be read; says where.
    """
    from recipe_compiler.front.fit import Fit

    demand_progress(progress)
    fit = Fit.read(draws) if isinstance(draws, (str, PathLike)) else draws
    said = str(draws) if isinstance(draws, (str, PathLike)) else "these draws"
    build, settings = build_of(fit, said, None if folder is None else Path(folder))
    if data is None and build.data is None and build.target.declarations.data:
        raise RunError("found no data, expected those of the run: they were given in Python, and are in no file")
    if data is None:
        build = with_data(build)
    model = _compiled(Build.of(build), allow_undecided=allow_undecided, allow_refuted=allow_refuted)
    given = {name: value for name, value in asdict(settings).items() if name != "schedule"}
    run, plan = _run(model, data, given, allow_code=allow_code)
    demand_same(fit, run.facts, said)
    return _drawn(replace(run, log_likelihood="log_likelihood" in fit.children), plan, cores, progress=progress)


def _concluded(ready: Ready, plan: Plan, ahead: Forecast, drawn: Draws, kept: Checkpoint | None) -> "Fit":
    """Return the tree of draws with all that is said of them, the doubts and warnings said aloud."""
    from recipe_compiler.front.fit import Fit  # with xarray, which no other verb needs

    summary = judge_run(ready, plan, ahead, drawn)
    notes = () if kept is None else (*kept.notes, *(() if kept.refused is None else (kept.what_is_kept,)))
    rough = (*notes, *summary.warnings)
    summary.tree.attrs["warnings"] = "\n".join(rough)
    for category, sentences in ((DoubtWarning, summary.doubts), (SampleWarning, rough)):
        for sentence in sentences:
            warnings.warn(sentence, category, stacklevel=4)
    return Fit.of(summary.tree)


OWN = {"dynamics", "target", "name", "data", "allow_undecided", "allow_refuted", "cache"}
"""The arguments of `compile` that are not handed on to `Build` as they are."""


def compile(
    dynamics: Dynamics | Build | str | PathLike[str],
    target: Target | str | PathLike[str] | None = None,
    *,
    name: str = "",
    data: object = None,
    step_size: float | str | None = None,
    share: float | None = None,
    accept: float | None = None,
    scheme: Scheme | str | Sequence[object] | Mapping[str, object] | None = None,
    order: Sequence[object] = (),
    variant: str = "full",
    bind: Mapping[object, object] | None = None,
    parameters: Mapping[object, object] | None = None,
    sizes: Sizes | None = None,
    init: Mapping[object, object] | None = None,
    derived: Mapping[object, object] | None = None,
    test: Mapping[str, object] | None = None,
    scores: Mapping[str, object] | None = None,
    gradient_noise: object = None,
    minibatch: Mapping[str, object] | None = None,
    draws: int | None = None,
    warmup: int | None = None,
    warmup_seconds: float | None = None,
    thin: int | None = None,
    chains: int | None = None,
    seed: int | None = None,
    batch_size: int | None = None,
    lanes: bool | None = None,
    diagnostics: bool | None = None,
    schedule: Mapping[str, object] | None = None,
    title: str = "",
    references: Sequence[str] = (),
    allow_undecided: bool = False,
    allow_refuted: bool = False,
    cache: bool = True,
) -> Model:
    """Verify, emit and read back the sampler of dynamics for a target, or for any log density.

    Parameters
    ----------
    dynamics : Dynamics or Build, or the name of a YAML file of one
        A build says everything by itself.
    target : Target, optional
        What is sampled. Left out, grad U is an argument of the module, `model.load().sample(grad_U, ...)`, and so are
        step size and parameters that are not stated.
    name : str
        Name of the build and its module; by default made of those of dynamics and target.
    data : mapping, table or dataset, optional
        As of `Build`: what the model is decided at, and `sample` takes where it is given no other; to a build,
        `{"file": table}` gives a table in the place of its file. Left out, what the data decide is left to
        `sample(data)`.
    step_size, share, accept, warmup_seconds, scheme, order, variant, bind, parameters, sizes, init, derived
    test, scores, gradient_noise, minibatch, draws, warmup, thin, chains, seed, batch_size, lanes, diagnostics, schedule
    title, references
        As of `Build`.
    allow_undecided : bool
        Whether a build may be compiled that is neither proved nor refuted.
    allow_refuted : bool
        Whether one that is refuted is made a negative control: its text and its draws say so, and are never trusted.
    cache : bool
        Whether verdicts of earlier commands are used, and these kept.

    Returns
    -------
    Model
        What can be sampled, and written as a file.

    Raises
    ------
    SpecError, ModelError
        The build is malformed or means nothing.
    DataError
        Data that do not fit; says which.
    VerificationError
        A required claim is refuted, or undecided where that is not allowed and data do not decide it.
    CompilerError
        The emitted text is not what was verified.

    Examples
    --------
    >>> theta = vector("theta", "d")
    >>> U = function("U", of=theta, role="potential")
    >>> sgld = Dynamics(name="sgld", state=[theta], H=U, D=[[I]], Q=[[0]])
    >>> normal = Target(name="normal", state=[theta], potential=theta.T @ theta / 2)
    >>> compile(sgld, normal, sizes={"d": 2}, step_size=0.05)
    <Model sgld_normal, proved>
    """
    given = locals().copy()
    left_out = inspect.signature(compile).parameters
    stated = {key: value for key, value in given.items() if key not in OWN and value is not left_out[key].default}
    build = _build(dynamics, target, name, stated, data)
    return _compiled(build, allow_undecided=allow_undecided, allow_refuted=allow_refuted, cache=cache)


def _compiled(build: Build, *, allow_undecided: bool, allow_refuted: bool = False, cache: bool = True) -> Model:
    kept = open_cache(use=cache)
    build = Build.of(observed(build.document))
    report = check_once(build.document, kept)
    if report.verdict is not Verdict.PROVED:
        demand_data(build.document, report)
    awaits = not _is_given(build.document) and awaits_data(build.document, report)
    marked = mark_refuted(build.document, report) if allow_refuted else build.document
    module = compile_build(marked, report, allow_undecided=allow_undecided or awaits, cache=kept)
    return Model(build, report, module, allow_undecided, cache, allow_refuted)


def _build(
    dynamics: Dynamics | Build | str | PathLike[str], target: Target | str | PathLike[str] | None, name: str,
    stated: Mapping[str, Any], data: object,
) -> Build:  # fmt: skip
    """Return what is to be compiled, a build or what dynamics, a target and the rest make, with its data in memory."""
    first = load(dynamics) if isinstance(dynamics, (str, PathLike)) else dynamics
    if isinstance(first, Build):
        more = [*(["target"] if target is not None else []), *(["name"] if name else []), *stated]
        if more:
            raise TypeError(f"found a build and {', '.join(more)}, expected the build alone")
        own = first.document
        return first if data is None else Build.of(with_sizes(with_data(own, data_for(own, data))))
    second = load(target) if isinstance(target, (str, PathLike)) else target
    parts = [first] if second is None else [first, second]
    if not isinstance(first, Dynamics) or not (second is None or isinstance(second, Target)):
        found = " and ".join(type(part).__name__ for part in parts)
        raise TypeError(f"found {found}, expected Dynamics, with or without a Target, or a Build")
    name = name or "_".join(part.name for part in parts)
    return Build(name=name, dynamics=first, target=second, data=data, **stated)
