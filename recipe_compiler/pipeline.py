"""The contents page: every stage from a document to draws, in order, each with what it takes and what it gives.

document  --load-->        Dynamics, Target, Build
Build     --bind-->        Dynamics                  the build's formulas put in
Dynamics  --derive-->      Derivation                grad H, Gamma, drift, for every size
document  --check_once-->  Report                    three-valued findings
Build     --discretise-->  Program                   one step, in index notation
Program   --lower-->       Kernel                    loops
Kernel    --schedule-->    Kernel                    loops in the shape their sizes allow
Kernel    --emit-->        Module                    one standalone text
Module    --read back-->   the same Module           or a CompilerError and no file
Module    --file-->        Module                    what was asked for of its text, word for word, and `sample`
Module    --write-->       a file
Build     --estimate-->    Build                     what a run has to know of the data first, as values
Build     --prepare_run--> Run                       compiled and estimated, with data that fit
Run       --make_ready-->  Ready                     what its chains are given
Ready     --draw-->        Draws
Draws     --conclude-->    DataTree                  as ArviZ reads it
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from recipe_compiler.cache import NOTHING, Cache, check_once, compiler
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.header import header
from recipe_compiler.emit.module import Module, emit_file, emit_module, renames, with_starts
from recipe_compiler.emit.sampler import sampler_of
from recipe_compiler.errors import VerificationError
from recipe_compiler.formula.show import text
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Program
from recipe_compiler.program.rename import rename
from recipe_compiler.report.refuted import FLAG
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.data import Data
from recipe_compiler.run.estimates import with_estimates, without_estimates
from recipe_compiler.run.gradients import gradients
from recipe_compiler.run.initial import starts_of
from recipe_compiler.run.load_module import load_function, load_text
from recipe_compiler.run.observed import data_of_build, with_data, with_sizes
from recipe_compiler.run.rerun import checkpoint_facts, stepping_code
from recipe_compiler.run.sample import check_settings, known_values, prepare_inputs, unsaid
from recipe_compiler.run.score_laws import demand_scores
from recipe_compiler.run.sizes import declared_parameters, resolve_sizes
from recipe_compiler.run.stages import Run, conclude, demand_room, draw, make_ready
from recipe_compiler.scheme.discretise import discretise, is_large, more_than_two, pinned_sizes, small_sizes
from recipe_compiler.spec.known_potential import with_known_potential
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.spec.places import compiled_digest, placed, step_digest
from recipe_compiler.verdict import AT_VALUES, Finding, Proved, Refuted, Report, Undecided, Verdict

if TYPE_CHECKING:
    from recipe_compiler.readback.child_process import Reading

READ_BACK = "read-back"
"""Entries of the cache: that these texts were read back, and are what was verified."""
MOST_READ = 1000
"""A text that has a larger size in it would be read at that size, some 2 ms for each entry: it is not made."""
MOST_SOLVED = 3
"""The same where it solves equations, of which each entry sums up matrices of that size."""

__all__ = [
    "compile_build", "conclude", "derive", "draw", "estimate", "load", "make_ready", "prepare_run",
    "write_module",
]  # fmt: skip


def compile_build(
    build: Build, report: Report | None = None, *, allow_undecided: bool = False, cache: Cache = NOTHING,
    with_file: bool = True, say: Callable[[str], None] = unsaid,
) -> Module:  # fmt: skip
    """Return the module of a build: verified, emitted, read back.

    Args:
        build: what to compile; one with a mark is compiled although it is refuted (`report/refuted.py`).
        report: the verdicts about it, where they are known already; else those it needs are found first.
        allow_undecided: whether a build may be compiled that is neither proved nor refuted.
        cache: where verdicts are kept, and that a text was read back.
        with_file: whether to make the file that users get, too; a run loads the text alone.
        say: called with a line that describes the work that starts.

    Raises:
        VerificationError: a required claim is refuted, or undecided where that is not allowed.
        ReadBackError: the emitted text was not shown to be what was verified, in the time this may take or at all.
        CompilerError: the emitted text is not what was verified.
        DataError: sizes of the target's blocks are not stated, and the data of the build do not give them.
    """
    report = check_once(build, cache, advisory=build.target.is_open) if report is None else report
    if build.mark is None:
        _demand(report, allow_undecided=allow_undecided)
    build = with_sizes(build)
    derivation, made = emit_unread(build, say)
    with placed(build.source, "dynamics"):
        say("reading the emitted text back")
        _read_once(made, build, cache)
        module = made.module
        if with_file:
            module = _filed(made, build, derivation, report, allow_undecided=allow_undecided)
            _read_file_once(module, made, build, derivation, report, cache, allow_undecided=allow_undecided)
        return with_starts(module, build, derivation, made.names)


def emit_unread(build: Build, say: Callable[[str], None] = unsaid) -> tuple[Derivation, "Made"]:
    """Return the module of a build, not read back: nothing may be drawn by it."""
    say("deriving")
    build, known = with_known_potential(build)
    derivation = derive(known)
    with placed(build.source, "dynamics"):
        stated = derive(derivation.dynamics, stated=True)  # computed as its formulas are stated, read as proved
        say("emitting the step")
        return derivation, (_for_every_size if is_large(build) else _for_its_sizes)(build, derivation, stated)


def _filed(made: "Made", build: Build, derivation: Derivation, report: Report, *, allow_undecided: bool) -> Module:
    """Return a module with its file."""
    module, names = made.module, made.names
    identity = compiled_digest(build)
    fixed = {} if module.kernel.chunked else dict(build.sizes)
    program = rename(module.program, dict(module.program.heads))
    held = _held_values(report, build, allow_undecided=allow_undecided)
    sampler = sampler_of(build, derivation, program, module.kernel, names, fixed, held)
    top = header(sampler, derivation, report, identity, names, allow_undecided=allow_undecided)
    return emit_file(module, sampler, top)


def _held_values(report: Report, build: Build, *, allow_undecided: bool) -> frozenset[str]:
    """Return the parameters that keep their values, as what is proved of the build is proved of these alone.

    Where claims may be open, the file says of none that it is proved, and what is depends on the limits.
    """
    proofs = (f.decision for f in report.findings if f.required and isinstance(f.decision, Proved))
    if allow_undecided or build.mark or not any(AT_VALUES in proof.by for proof in proofs):
        return frozenset()
    defaults = (p.name for p in declared_parameters(build) if p.default is not None)
    return frozenset((*dict(build.values), *defaults))


@dataclass(frozen=True, slots=True)
class Made:
    """A module, the step it was made of, what has to be shown of it, and the user's names that were changed."""

    module: Module
    names: dict[str, str]
    step: Program
    """In index notation, for every size: what is read back follows from it, texts at small sizes too."""
    to_read: "Callable[[], Iterable[Reading]]"


def _for_every_size(build: Build, derivation: Derivation, stated: Derivation) -> Made:
    """Return the module of a stacked target of many coordinates: one text, read at small sizes, whatever they are."""
    step = discretise(build, stated, for_every_size=True)
    names = renames(step)
    program = rename(step, names)
    identity, plain = compiled_digest(build), lower(program)

    def emitted(kernel: Kernel) -> Module:
        return emit_module(build.name, program, kernel, f"{build.name}, as a run loads it.", identity)

    module = emitted(schedule(program, plain))

    def to_read() -> "Iterable[Reading]":
        from recipe_compiler.readback.readback import readings_of_build, with_heads

        every = (*small_sizes(build), more_than_two(build))
        heads = [size for size, _ in program.heads]
        named = [{names.get(name, name): number for name, number in sizes.items()} for sizes in every]
        small = [
            dict(one)
            for one in dict.fromkeys(tuple((size, sizes[size]) for size in heads if size in sizes) for sizes in named)
        ]
        shapes = (module,) if plain == module.kernel else (emitted(plain), module)
        pinned = pinned_sizes(build, step)
        texts = [([with_heads(shape, sizes) for shape in shapes], pinned) for sizes in small]
        return readings_of_build(texts, texts[-1][0][-1], derivation, names, {})

    return Made(module, names, program, to_read)


def _for_its_sizes(build: Build, derivation: Derivation, stated: Derivation) -> Made:
    """Return the module of any other build, in the shape that the sizes it fixes allow."""
    step = discretise(build, stated)
    names = renames(step)
    identity = compiled_digest(build)
    program = rename(step, names)
    sizes = {names.get(name, name): number for name, number in build.sizes}
    shipped = rename(program, sizes)
    kernel = schedule(shipped, lower(shipped))
    most = MOST_SOLVED if any(shift.implicit for shift in step.shifts) else MOST_READ
    if kernel.chunked or max(sizes.values(), default=0) > most:
        # the text for every size, which is read back, is as fast: a chunk has any length, and what a long loop counts
        # to does not matter (1500 coordinates: 1.02 times the time)
        shipped, kernel = program, schedule(program, lower(program))
    module = emit_module(build.name, shipped, kernel, f"{build.name}, as a run loads it.", identity)

    def small() -> Iterator[tuple[list[Module], dict[str, int]]]:
        for fixed in small_sizes(build):
            declared = discretise(build, stated, fixed)
            general = rename(declared, names)
            plain, said = lower(general), "Read back at small sizes."
            shapes = dict.fromkeys((plain, schedule(general, plain)))
            modules = [emit_module(build.name, general, shape, said, identity) for shape in shapes]
            yield modules, pinned_sizes(build, declared)

    def to_read() -> "Iterable[Reading]":
        from recipe_compiler.readback.readback import readings_of_build, with_heads

        few = [([with_heads(shape, {}) for shape in shapes], pinned) for shapes, pinned in small()]
        return readings_of_build(few, with_heads(module, {}), derivation, names, sizes)

    return Made(module, names, step, to_read)


def estimate(
    build: Build, report: Report, settings: RunSettings, data: Data, *, allow_undecided: bool = False,
    cache: Cache = NOTHING,
) -> Build:  # fmt: skip
    """Return the build with the values that are estimated before a run; the same build where there are none.

    They are computed with the gradient of the target alone, in a module of its own, compiled and read back.

    Args:
        build: what is to be run.
        report: the verdicts about it.
        settings: for the size of a batch and the seed.
        data: the fields of the target.
        allow_undecided: as of `compile_build`.
        cache: as of `compile_build`.

    Raises:
        VerificationError, CompilerError: as of `compile_build`.
        RunError: no mode was found.
    """
    if not build.estimates:
        return build
    alone = without_estimates(build)
    module = compile_build(alone, report, allow_undecided=allow_undecided, cache=cache, with_file=False)
    emitted = load_text(module.name, module.loaded, build.codes)
    inputs = prepare_inputs(emitted, alone, settings, data)
    sizes = resolve_sizes(alone, data)
    of_target = gradients(module, emitted, inputs)
    starts = starts_of(emitted, alone, known_values(alone, sizes), sizes)
    return with_estimates(build, of_target, settings, starts, sizes)


def prepare_run(
    build: Build, report: Report, settings: RunSettings, *, allow_undecided: bool = False, cache: Cache = NOTHING,
    say: Callable[[str], None] = unsaid,
) -> Run:  # fmt: skip
    """Return a run whose module is compiled, and for which there are data, settings that fit, estimates and room.

    Args:
        build: what is to be run; it holds its data, or names their files.
        report: the verdicts about it.
        settings: how long; they take the place of the build's.
        allow_undecided: as of `compile_build`.
        cache: as of `compile_build`.
        say: called with a line that describes the work that starts.

    Raises:
        VerificationError, CompilerError: as of `compile_build`.
        DataError: the data do not fit the target.
        RunError: settings that no run can have, an estimate that is not found, or a score of a law that is none.
    """
    build = with_sizes(with_data(build))
    data = data_of_build(build)
    module = compile_build(build, report, allow_undecided=allow_undecided, cache=cache, with_file=False, say=say)
    emitted = load_text(module.name, module.loaded, build.codes)
    check_settings(emitted, build, settings, data)
    for code in build.codes:
        load_function(code)  # what a file imports is known once it has been run
    scores = demand_scores(build, data)
    facts = checkpoint_facts(stepping_code(module.text), build, settings, data)
    build = estimate(build, report, settings, data, allow_undecided=allow_undecided, cache=cache)
    demand_room(build, emitted, settings, data)
    return Run(build, report, settings, data, module, emitted, facts, scores=scores)


def write_module(module: Module, folder: str | PathLike[str]) -> Path:
    """Write a module beside its place, then move it there: a reader sees the old file or the new one, never half."""
    path = Path(folder) / f"{module.name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, module.file.encode())
    return path


def _read_once(made: Made, build: Build, cache: Cache) -> None:
    """Read texts back, unless the very same ones were found to be what the same documents mean by the same compiler.

    The same up to the digest that a text names, and the values of parameters.
    """

    def key() -> tuple[str, ...]:
        left = f"{build.control} {build.estimated} {text(build.V)}"  # what a run leaves out of a build to estimate it
        said = made.module.text.replace(compiled_digest(build), "")
        return (compiler(), step_digest(build), left, str(build.sizes), repr(made.step), said)

    _read_unless_known(build.name, made.to_read, key, cache)


def _read_file_once(
    module: Module, made: Made, build: Build, derivation: Derivation, report: Report, cache: Cache, *,
    allow_undecided: bool,
) -> None:  # fmt: skip
    """Read a file back, whose text was, unless the very same one was found to be what the same documents mean."""

    def to_read() -> "Iterable[Reading]":
        from recipe_compiler.readback.child_process import Reading
        from recipe_compiler.run.read_file import check_file

        given = (module, build, derivation, made.names, report)
        return (Reading("the written file", partial(check_file, *given, allow_undecided=allow_undecided)),)

    def key() -> tuple[str, ...]:
        known = str([(one.says, one.required, one.verdict.value) for one in report.findings])
        return (compiler(), compiled_digest(build), str(build.sizes), known, module.file)

    _read_unless_known(build.name, to_read, key, cache)


def _read_unless_known(
    name: str, to_read: "Callable[[], Iterable[Reading]]", key: Callable[[], tuple[str, ...]], cache: Cache
) -> None:  # fmt: skip
    """Read what there is to read, unless there is an entry of a key, which holds all that it depends on."""
    found = key() if cache.keeps else ()
    if cache.read(READ_BACK, found) is None:
        from recipe_compiler.readback.child_process import read_all  # brings SymPy, with all that reads

        read_all(name, tuple(to_read()))
        cache.write(READ_BACK, found, "")


def _demand(report: Report, *, allow_undecided: bool) -> None:
    if report.verdict is Verdict.PROVED or (report.verdict is Verdict.UNDECIDED and allow_undecided):
        return
    guilty = [f for f in report.findings if f.required and f.verdict is not Verdict.PROVED]
    lines = "; ".join(f"{f.id} is {f.verdict.value}" for f in guilty)
    flag = f". {FLAG}" if report.verdict is Verdict.REFUTED else ""
    raise VerificationError(f"{report.name} is {report.verdict.value}: {lines}{''.join(_why(report, guilty))}{flag}")


def _why(report: Report, guilty: Sequence[Finding]) -> Iterator[str]:
    """Yield the command that says why a document is not compiled; for one that no file states, why it is not."""
    if Path(report.file).suffix in (".yaml", ".yml") and Path(report.file).is_file():
        yield f". `recipe check {report.file}` says why"
        return
    for finding in guilty:
        match finding.decision:
            case Undecided(tried=tried):
                yield from (f"\n  {finding.id}: {line}" for line in tried)
            case Refuted(witness=witness):
                yield f"\n  {finding.id}: at {', '.join(f'{name} = {value}' for name, value in witness)}"
            case _:
                pass
