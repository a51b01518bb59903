"""A run as functions of what came before it: its settings, what its chains are given, and what it leaves.

settings  --ready-->      Run        compiled, with data that fit and room for its draws (`pipeline.prepare_run`)
Run       --make_ready--> Ready      what the chains are given
Ready     --draw-->       Draws
Draws     --conclude-->   DataTree

The memory of the machine.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import DataError, Fault, RunError, SpecError, shown
from recipe_compiler.run.chain import LANES, Inputs
from recipe_compiler.run.chains import Watch
from recipe_compiler.run.checkpoint import Checkpoint, Facts
from recipe_compiler.run.data import Data
from recipe_compiler.run.energies import LARGEST, DrawEnergies, bytes_of, energies_of
from recipe_compiler.run.estimates import with_moving_noise
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.predictive import add_predictive, predictive_of
from recipe_compiler.run.rerun import kept_for_rerun
from recipe_compiler.run.row_states import MOST, formulas_of_states
from recipe_compiler.run.sample import Draws, prepare_inputs, sample, unwatched
from recipe_compiler.run.score_laws import Reference
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import sampled_names, to_datatree
from recipe_compiler.spec.build_checks import no_lanes
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.verdict import Report

COPIES = 3
"""How often draws lie in memory at once: as drawn, in the groups of the data tree, and while they are written."""


def machine_memory() -> int | None:
    """Return the bytes of memory that the machine has, None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # AttributeError: on Windows
        return None


if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run whose module is compiled, and whose settings and data fit it."""

    build: Build
    """With what was estimated from the data, as values."""
    report: Report
    settings: RunSettings
    data: Data
    compiled: Module
    """As it was emitted."""
    module: Emitted
    """The same, imported."""
    facts: Facts
    """What a run must share with one that it continues."""
    predictive: bool | None = None
    """Whether data are drawn by posterior and prior; None: where the target says of what, and they are few."""
    log_likelihood: bool | None = None
    """Whether that of every datum at every draw is kept; None: where it is small."""
    scores: tuple[Reference, ...] = ()

    @property
    def may_use_lanes(self) -> bool:
        """Whether the same chains could advance side by side, but were not requested to."""
        return self.module.run_lanes is not None and self.settings.chains >= LANES and not self.settings.lanes


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A run that can start: what its chains are given."""

    run: Run
    inputs: Inputs
    names: tuple[str, ...]
    """Names of the coordinates of the potential's block."""


WHOLE = ("draws", "warmup", "thin", "chains", "seed", "batch_size")
"""Settings that are whole numbers."""


def settings_of(
    build: Build, given: Mapping[str, object], spelled: Callable[[str], str] = lambda name: name
) -> RunSettings:
    """Return the settings of a build with others in their place.

    Args:
        build: gives what is not given.
        given: by the names of `RunSettings`; None: as the build says.
        spelled: how whoever asks spells a name, for the faults.

    Raises:
        RunError: a setting that is not of its kind.
        SpecError: a setting that no run of this build can have.
    """
    stated = {name: value for name, value in given.items() if value is not None}
    if build.is_planned and "step_size" in stated:
        found = f"{spelled('step_size')}: found {stated['step_size']} for a build with step_size: auto"
        serves = "state it in the build, and a value of every parameter, as `recipe run --plan` prints them"
        raise RunError(f"{found}, expected none: {serves}")
    faults = [fault for name, value in stated.items() for fault in _of_wrong_kind(spelled(name), name, value)]
    if faults:
        raise RunError("\n".join(faults))
    if given.get("batch_size") is not None and build.variant == "full":
        found = f"found {spelled('batch_size')}, expected none"
        problem = f"{found}: the variant of this build is full, every step uses all data"
        raise SpecError([Fault(build.source.place("variant"), "variant", problem)])
    if given.get("lanes") and (why := no_lanes(build.target)):
        problem = f"found it for {build.name}: {why}"
        raise SpecError([Fault(build.source.place("target"), spelled("lanes"), problem)])
    return replace(build.run, **{name: _plain(value) for name, value in stated.items()})


def _of_wrong_kind(says: str, name: str, value: object) -> Iterator[str]:
    """Yield the fault of a setting that is not of its kind; bounds are those of `check_settings`."""
    found = f"{says}: found {shown(value)} ({type(value).__name__})"
    truth = isinstance(value, bool | np.bool_)
    if name == "lanes" and not truth:
        yield f"{found}, expected True or False"
    elif name == "step_size" and (truth or not isinstance(value, Real)):
        yield f"{found}, expected a positive number"
    elif name in WHOLE and (truth or not isinstance(value, Integral)):
        yield f"{found}, expected a whole number"


def _plain(value: object) -> object:
    """Return a number of NumPy's as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def demand_no_code(build: Build, permission: str, *, allowed: bool) -> None:
    """Raise RunError for code, a target's gradient or a move, unless it is `allowed` by what is called `permission`.

    So it is where U is an argument: a run has none.
    """
    if build.target.is_open:
        found = f"{build.name}: found no target, expected one, or a gradient of your own given to the module's `sample`"
        raise RunError(f"{found}: `recipe compile`, then {build.name}.sample({build.target.gradient}, ...)")
    for code in build.codes if not allowed else ():
        what = "the target's gradient" if code == build.target.gradient else "a move of its cycle"
        raise RunError(f"{what} is code, {code.file}, which is run only with {permission}")


def demand_room(build: Build, module: Emitted, settings: RunSettings, data: Data) -> None:
    """Raise RunError for draws that this machine has no memory for, before any is made."""
    sizes = resolve_sizes(build, data)
    width = sum(extent(size, sizes) or 1 for _, size in module.blocks)
    if (memory := machine_memory()) is None:
        return
    most = memory // (COPIES * 8 * width * settings.chains)
    if settings.warmup + settings.draws > most:
        found = f"draws and warmup: found {settings.warmup + settings.draws} in all"
        why = f"{settings.chains} chains of {width} coordinates must fit into {memory / 1e9:.0f} GB"
        raise RunError(f"{found}, expected at most {most}: {why}; take more steps per draw (--thin) instead")


def demand_predictive(run: Run, spelled: str) -> None:
    """Raise RunError, with the reason, where predictive draws of the data are requested and cannot be made."""
    if run.predictive:
        try:
            predictive_of(run.build.target)
        except RunError as error:
            raise RunError(f"{spelled}: {error}") from error


def _predicted(run: Run, draws: Draws, tree: "DataTree") -> tuple[str, ...]:
    """Add what the model would give as data, where it is wanted and can be drawn; return what there is not, and why."""
    if run.predictive is False or run.build.target.log_likelihood is None:
        return ()
    taken = bytes_of(run.settings, run.data)
    if taken > LARGEST and not run.predictive:
        return (f"posterior_predictive is left out: it takes {taken / 1e6:.0f} MB; --predictive draws it.",)
    if formulas_of_states(run.build.target, run.data.rows) > MOST and not run.predictive:
        why = "the states of all rows at all draws take minutes"
        return (f"posterior_predictive is left out: {why}; --predictive draws it.",)
    try:
        why = add_predictive(tree, run.build, run.data, run.settings, dict(draws.sizes))
    except (RunError, DataError) as error:
        return (f"posterior_predictive is left out: {error}.",)
    return (f"prior is left out: {why}.",) if why else ()


def demand_log_likelihood(run: Run, spelled: str) -> None:
    """Raise RunError where the log likelihood is requested and there is none, or no room for it in memory."""
    if not run.log_likelihood:
        return
    if run.module.log_likelihood is None:
        found = f"{spelled}: found a target that does not state the log likelihood of a datum, {run.build.target.name}"
        raise RunError(f"{found}, expected one with `log_likelihood`")
    wanted, memory = COPIES * bytes_of(run.settings, run.data), machine_memory()
    if memory is not None and wanted > memory:
        found = f"{spelled}: found {run.settings.chains} chains of {run.settings.draws} draws, each of {run.data.rows}"
        raise RunError(f"{found} data, which take {wanted / 1e9:.0f} GB, expected at most {memory / 1e9:.0f} GB")


def make_ready(run: Run) -> Ready:
    """Return what the chains of a run are given.

    Raises:
        DataError: parameters or sizes do not fit.
        RunError: the step size is above eps_max, or a gradient that is code does not run.
    """
    inputs = prepare_inputs(run.module, run.build, run.settings, run.data)
    if run.build.moving is not None:
        inputs = with_moving_noise(run.build, run.compiled, run.module, inputs)
    return Ready(run, inputs, sampled_names(run.build, run.data, resolve_sizes(run.build, run.data)))


def draw(
    ready: Ready, progress: Watch = unwatched, cores: int | None = None, checkpoint: Checkpoint | None = None, *,
    resume: bool = False,
) -> Draws:  # fmt: skip
    """Run the chains; arguments and errors are those of `run.sample.sample`."""
    run = ready.run
    return sample(
        run.module, run.build, run.settings, run.data, progress, cores, checkpoint, resume=resume, inputs=ready.inputs
    )


def conclude(ready: Ready, draws: Draws) -> tuple["DataTree", DrawEnergies]:
    """Return draws as ArviZ reads them, and what the target and H say of each; `left_out` names what there is not."""
    run = ready.run
    known = energies_of(run.module, run.build, ready.inputs, run.data, draws, asked=run.log_likelihood)
    verdicts = "; ".join(f"{finding.id}: {finding.verdict.value}" for finding in run.report.findings)
    tree = to_datatree(draws, run.build, run.data, run.report.digest, verdicts, known)
    left_out = (*known.left_out, *_predicted(run, draws, tree))
    tree.attrs.update(kept_for_rerun(run.build, run.settings, run.facts))
    tree.attrs.update({"left_out": "\n".join(left_out)} if left_out else {})
    if mark := run.build.mark:
        tree.attrs.update({"refuted": "\n".join(mark.claims), "refuted_runs": mark.runs})
    return tree, known
