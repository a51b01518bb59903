"""One run: from an emitted module, its build, settings and data to draws."""

import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.support.checks import _constants
from recipe_compiler.errors import RunError, shown
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.step_stats import ACCEPTANCE, INVOLUTIONS_TRIED, TRIED, of_kind
from recipe_compiler.run.chain import Chain, Inputs, start_chain, why_no_lanes
from recipe_compiler.run.chains import Watch, run_chains
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.data import Data, Floats, Integers
from recipe_compiler.run.domain_check import Outside, outside
from recipe_compiler.run.evaluate import Point, extent
from recipe_compiler.run.initial import first_states
from recipe_compiler.run.load_module import Emitted, users_name
from recipe_compiler.run.schedule import step_of
from recipe_compiler.run.sizes import declared_parameters, found_columns, parameter_values, placed_blocks, resolve_sizes
from recipe_compiler.run.user_code import called_moves, code_gradient, try_gradient, try_moves
from recipe_compiler.spec.model import Build, RunSettings


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """How moves of one kind, of several in a cycle, were accepted."""

    says: str
    """What kind it is: the blocks that it moves, its steps."""
    rates: Array
    """The probability that they were accepted with, a mean over those of a draw: chains x draws; NaN where none was."""
    moves: Array
    """How many there were in each draw: likewise."""


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The draws of a run, and what is known of how they were made."""

    blocks: tuple[str, ...]
    arrays: tuple[Array, ...]
    """One array per block: chains x draws (warmup first) x size.

    As many draws as the longest chain has, and after divergence one more; NaN where one did not come.
    """
    warmup: int
    """Draws at the start of every chain that are not of the sample."""
    kept: tuple[int, ...]
    """Draws of each chain, warmup included."""
    diverging: tuple[bool, ...]
    """Chains that left the finite numbers; their draws before that are kept."""
    stopped: signal.Signals | None
    """The signal that stopped the run before all requested draws were made."""
    clipped: tuple[int, ...]
    """Per chain, how often a noise covariance was not positive semidefinite and was cut off at zero.

    A diagonal one counts at every state once per coordinate, any other once per state.
    """
    settings: RunSettings
    sizes: tuple[tuple[str, int], ...]
    seconds: float
    processor_seconds: float = math.nan
    """Time that all threads took for all draws, warmup included; scaled from its last part where a run was resumed."""
    stats: Mapping[str, Array] = field(default_factory=dict)
    """What steps report of their moves, by the names of `program/step_stats.py`, for each draw: chains x draws."""
    kinds: tuple[Accepted, ...] = ()
    """Moves that are accepted or refused, kind by kind, where there are several kinds."""
    outside: tuple[Outside, ...] = ()
    """Blocks with draws outside of their domains."""

    @property
    def interrupted(self) -> bool:
        """Whether a signal stopped the run early."""
        return self.stopped is not None

    def moves(self) -> Array:
        """Return how many moves were accepted or refused in each draw: chains x draws."""
        return self.stats.get(TRIED, np.full(self.arrays[0].shape[:2], float(self.settings.thin)))

    def involutions(self) -> Array:
        """Return how many involutions were tried in each draw, or cycles that have all: chains x draws."""
        return self.stats.get(INVOLUTIONS_TRIED, np.full(self.arrays[0].shape[:2], float(self.settings.thin)))

    def block(self, name: str) -> Array:
        """Return the draws of a block."""
        return self.arrays[self.blocks.index(name)]


def unsaid(what: str) -> None:
    """Say nothing of what is being done."""
    del what


def unwatched(done: Sequence[int], total: int) -> None:
    """Show nothing."""
    del done, total


def sample(
    module: Emitted, build: Build, settings: RunSettings, data: Data, progress: Watch = unwatched,
    cores: int | None = None, checkpoint: Checkpoint | None = None, *, resume: bool = False,
    inputs: Inputs | None = None,
) -> Draws:  # fmt: skip
    """Run the chains of a build: draws z_1, z_2, ... of each, every thin-th state after warmup.

    The same module, build, data, settings and seed give the same draws bit for bit on one machine, whatever `cores`.

    Args:
        module: the emitted module of `build`.
        build: gives parameters' values and initial states.
        settings: how long to run; takes the place of `build.run`.
        data: the fields of the target.
        progress: called a few times a second with the number of draws of every chain.
        cores: threads to use; by default as many as there are cores.
        checkpoint: where the chains are kept, open; None: nowhere.
        resume: go on from the checkpoint instead of from the start.
        inputs: what `prepare_inputs` made of all this, where that is known already.

    Raises:
        DataError: parameters, sizes or initial values do not fit.
        RunError: settings that cannot be run, a step size above eps_max among them; a checkpoint of another run; a
            gradient or a move that is code and raises, or fails its trial (`run/user_code.py`).
    """
    begin = time.perf_counter()
    check_settings(module, build, settings, data)
    sizes = resolve_sizes(build, data)
    inputs = replace(inputs or prepare_inputs(module, build, settings, data), draws=settings.warmup + settings.draws)
    known = known_values(build, sizes)
    chains = _at_their_start(module, build, settings, inputs, Point(known, sizes))
    if checkpoint is not None:
        checkpoint.restore(chains) if resume else checkpoint.begin()
    begun = sum(chain.done for chain in chains)
    stopped = run_chains(module, inputs, chains, cores or available_cores(), progress, checkpoint, lanes=settings.lanes)
    if checkpoint is not None:
        checkpoint.copy(chains)()
    longest = _longest(chains, settings.warmup)
    arrays = tuple(_stacked(chains, f"{name}_draws", longest) for name, _ in module.blocks)
    stats = {name: _stacked(chains, f"{name}_draws", longest)[:, :, 0] for name in (*module.reported, *inputs.kept)}
    return Draws(
        blocks=tuple(block.name for block in build.dynamics.declarations.blocks),
        arrays=arrays,
        warmup=settings.warmup,
        kept=tuple(chain.done for chain in chains),
        diverging=tuple(chain.diverging for chain in chains),
        stopped=stopped,
        clipped=tuple(int(chain.state[CLIPPED].sum()) for chain in chains),
        settings=settings,
        sizes=tuple(sorted(sizes.items())),
        seconds=time.perf_counter() - begin,
        processor_seconds=_processor_seconds(chains, begun),
        stats=stats,
        kinds=tuple(_of_kinds(build, stats, settings.thin)),
        outside=outside(build, arrays, Point(known, sizes)),
    )


def _processor_seconds(chains: Sequence[Chain], begun: int) -> float:
    """Return what all draws took, by what those did that were made here; NaN where none was."""
    done = sum(chain.done for chain in chains)
    return math.nan if done == begun else sum(chain.processor_seconds for chain in chains) * done / (done - begun)


def _at_their_start(module: Emitted, build: Build, settings: RunSettings, inputs: Inputs, at: Point) -> list[Chain]:
    """Return chains that have drawn nothing. A gradient or a move that is code is tried where they start."""
    noise, batch = module.seed_streams(settings.seed, settings.chains)
    first = first_states(module, build, at.names, at.sizes)
    starts = [first(settings.seed, k) for k in range(settings.chains)]
    try_moves(inputs.moves, [tuple(start.values()) for start in starts])
    if inputs.gradient is not None:
        try_gradient(inputs.gradient, [start[module.potential_block] for start in starts])
    return [start_chain(module, inputs, start, noise[k], batch[k]) for k, start in enumerate(starts)]


def _of_kinds(build: Build, stats: Mapping[str, Array], thin: int) -> Iterator[Accepted]:
    """Yield how moves of each kind were accepted; nothing where there is one kind."""
    for k, kind in enumerate(build.scheme.accepted):
        if (rates := stats.get(of_kind(ACCEPTANCE, k))) is not None:
            times = float(thin * sum(move == kind for move in build.scheme.cycle))
            tried = stats.get(of_kind(TRIED, k), np.full(rates.shape, times))
            yield Accepted(build.scheme.kind_of(kind), rates, tried)


def _stacked(chains: Sequence[Chain], name: str, longest: int) -> Array:
    array = np.full((len(chains), longest, chains[0].draws[name].shape[1]), np.nan)
    for k, chain in enumerate(chains):
        array[k, : chain.done] = chain.draws[name][: chain.done]
    return array


def _longest(chains: Sequence[Chain], warmup: int) -> int:
    """Return how many draws the arrays have room for: where a chain diverged, also for the first that did not come."""
    lost = any(chain.diverging for chain in chains)
    return max(*(chain.done + chain.diverging for chain in chains), warmup + 1 if lost else 0)


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def known_values(build: Build, sizes: Sizes) -> dict[str, Array]:
    """Return the values of all parameters that are not bound, in the shapes formulas work with."""
    bound = {name for name, _ in build.bind}
    declared = {parameter.name: parameter for parameter in declared_parameters(build) if parameter.name not in bound}
    return found_columns(parameter_values(build, tuple(declared), sizes), declared)


def check_settings(module: Emitted, build: Build, settings: RunSettings, data: Data) -> None:
    """Raise RunError with all settings that no run can have."""
    faults: list[str] = []
    if not 0.0 < settings.eps <= sys.float_info.max:
        faults.append(f"step_size: found {shown(settings.eps)}, expected a positive number")
    for name, least in (("draws", 1), ("warmup", 0), ("thin", 1), ("chains", 1), ("seed", 0)):
        value = getattr(settings, name)
        if not least <= value < 2**63:
            faults.append(
                f"{name}: found {shown(value)}, expected {least} or more{'' if value < 2**63 else ', of 63 bits'}"
            )
    if module.variant == "minibatch":
        most = None if module.replacement else data.rows
        size = settings.batch_size
        if size is None or size < 1 or (most is not None and size > most):
            faults.append(f"batch_size: found {size}, expected 1 {'or more' if most is None else f'to {most}'}")
    schedule = settings.schedule
    if schedule.name == "cyclic" and schedule.period <= settings.thin:
        found = f"schedule: found a period of {schedule.period} steps and draws of {settings.thin} steps"
        faults.append(f"{found}, expected a longer period: the step size stays the same for the steps of a draw")
    if settings.lanes and (why := why_no_lanes(module, build, resolve_sizes(build, data))):
        faults.append(f"lanes: found true, expected false for {build.name}: {why}")
    if faults:
        raise RunError("\n".join(faults))


class NoStepError(RunError):
    """No step of this size can be made with these parameters: it is above eps_max."""


def prepare_inputs(module: Emitted, build: Build, settings: RunSettings, data: Data) -> Inputs:
    """Return what the chains of a run are given: values of parameters, constants computed from them, data.

    Raises DataError for parameters or sizes that do not fit, NoStepError for a step size above eps_max, RunError for a
    gradient or a move that is code and does not run. That code is run.
    """
    sizes = resolve_sizes(build, data)
    names = parameter_names(module, build)
    given = {name: _argument(value) for name, value in parameter_values(build, tuple(names), sizes).items()}
    parameters = {own: given[name] for name, own in names.items()}
    symbols = {*build.dynamics.declarations.sizes, *build.target.declarations.sizes, *sizes}
    numbers = {name: extent(users_name(name, symbols), sizes) for name in module.sizes}

    fields = {field.name: field.values for field in data.fields}
    *_, (_, _, last) = placed_blocks(build, sizes)
    batch_size = settings.batch_size if module.variant == "minibatch" else None
    laid_out = laid_out_fields(module, fields)
    inputs = Inputs(
        parameters=parameters,
        constants=_constants_of(module, parameters, settings.eps, numbers),
        data=laid_out,
        rows=data.rows,
        batch_size=settings.batch_size,
        eps=float(settings.eps),
        thin=settings.thin,
        draws=0,
        sizes=numbers,
        gradient=code_gradient(build.target, last.stop, given, fields, data.rows, batch_size),
        moves=called_moves(module, build, given, {users_name(name, fields): own for name, own in laid_out.items()}),
        codes=build.codes,
    )
    if (step := step_of(settings)) is None:
        return inputs
    return replace(inputs, of_draw=lambda chain: stepping(module, inputs, step(chain.done)), falls=True)


def parameter_names(module: Emitted, build: Build) -> dict[str, str]:
    """Return the parameters of a module by their names in the documents."""
    declared = {parameter.name for parameter in declared_parameters(build)}
    return {users_name(name, declared): name for name in module.parameters}


def with_parameters(module: Emitted, build: Build, inputs: Inputs, values: Mapping[str, Any]) -> Inputs:
    """Return what chains are given with other values of parameters, by their names in the documents.

    What is declared as a matrix may be given by its diagonal.
    """
    names, chosen = parameter_names(module, build), {name: np.asarray(value) for name, value in values.items()}
    for one in declared_parameters(build):
        if len(one.shape.sizes) == 2 and one.name in chosen and chosen[one.name].ndim == 1:
            chosen[one.name] = np.diag(chosen[one.name])
    own = {names[name]: _argument(value) for name, value in chosen.items()}
    return replace(inputs, parameters={**inputs.parameters, **own})


def stepping(module: Emitted, inputs: Inputs, eps: float) -> Inputs:
    """Return what chains are given that step with another eps, or with other parameters that `inputs` has already.

    Raises RunError for a step size above eps_max.
    """
    return replace(inputs, eps=eps, constants=_constants_of(module, inputs.parameters, eps, inputs.sizes))


def _constants_of(
    module: Emitted, parameters: Mapping[str, float | Array], eps: float, sizes: Sizes
) -> dict[str, float | Array]:
    try:
        return _constants(module.constants, module.prepare(*parameters.values(), eps, *sizes.values()))
    except (ValueError, np.linalg.LinAlgError) as error:
        raise NoStepError(str(error)) from error


def potential_place(module: Emitted) -> int:
    """Return the place of the potential's block among the blocks of the state."""
    return [name for name, _ in module.blocks].index(module.potential_block)


def _argument(value: Array) -> float | Array:
    """Return a number as a float and an array contiguous, so that the jitted loop is compiled for one layout."""
    return float(value) if value.ndim == 0 else np.ascontiguousarray(value, dtype=np.float64)


def laid_out_fields(
    module: Emitted, fields: Mapping[str, Floats | Integers]
) -> dict[str, NDArray[np.floating[Any] | np.int64]]:
    """Return fields of the data by the names of a module, each in the order that it reads them in."""
    own = {name: fields[users_name(name, fields)] for name in module.data}
    return {name: np.asfortranarray(v) if name in module.column_major else v for name, v in own.items()}
