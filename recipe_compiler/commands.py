"""What each command of the command line does; every function returns the exit code.

Heavy imports stand inside the functions, so that help and small commands answer at once.
"""

import difflib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from recipe_compiler.display import complain, say, show_faults, show_report, show_summary
from recipe_compiler.errors import DocumentError, Fault, ModelError, Place, SpecError, VerificationError
from recipe_compiler.verdict import Report, Verdict

if TYPE_CHECKING:
    from recipe_compiler.emit.module import Module
    from recipe_compiler.run.sample import Draws
    from recipe_compiler.run.summary import Summary
    from recipe_compiler.spec.model import Build, Dynamics, RunSettings, Target

PROVED, REFUTED, FAULTY, UNDECIDED, DIVERGED, INTERRUPTED = 0, 1, 2, 3, 4, 130

DIFF_LINES = 20
"""Lines of a difference that `compile --check` shows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The settings of a run given on the command line; None: as the build says."""

    draws: int | None = None
    warmup: int | None = None
    chains: int | None = None
    seed: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    thin: int | None = None


def check_files(files: Sequence[str], *, as_json: bool, allow_undecided: bool) -> int:
    """Decide documents one by one; the exit code is the first of 2, 1, 3 that occurs."""
    from recipe_compiler.pipeline import check
    from recipe_compiler.verify.as_json import to_json
    from recipe_compiler.verify.report import exit_code

    reports: list[Report] = []
    faulty: list[tuple[str, tuple[Fault, ...]]] = []
    for file in files:
        try:
            report = check(_load(file))
        except DocumentError as error:
            faulty.append((file, error.faults))
            if not as_json:
                show_faults(error.faults)
        else:
            reports.append(report)
            if not as_json:
                show_report(report)
    if as_json:
        say(json.dumps(to_json(reports, faulty), allow_nan=False))
    return FAULTY if faulty else exit_code(reports, allow_undecided=allow_undecided)


def derive_file(file: str, *, latex: bool) -> int:
    """Print what follows from dynamics, or from a build with everything bound."""
    from recipe_compiler.derive.show import derivation_latex, derivation_text
    from recipe_compiler.pipeline import derive
    from recipe_compiler.spec.bind import bind
    from recipe_compiler.spec.model import Build, Target

    document = _load(file)
    if isinstance(document, Target):
        raise ModelError([Fault(Place(file), "document", "found a target, expected dynamics or a build")])
    derivation = derive(bind(document) if isinstance(document, Build) else document)
    say((derivation_latex if latex else derivation_text)(derivation).rstrip())
    return PROVED


def compile_files(builds: Sequence[str], folder: Path, *, compare: bool, allow_undecided: bool) -> int:
    """Compile builds and write their modules, or compare them with those that are there."""
    codes = [_compile_one(file, folder, compare=compare, allow_undecided=allow_undecided) for file in builds]
    return next((code for code in (FAULTY, REFUTED, UNDECIDED) if code in codes), PROVED)


def _compile_one(file: str, folder: Path, *, compare: bool, allow_undecided: bool) -> int:
    from recipe_compiler.pipeline import compile_build, write_module

    try:
        build = _load_build(file)
    except DocumentError as error:
        show_faults(error.faults)
        return FAULTY
    try:
        module = compile_build(build, allow_undecided=allow_undecided)
    except VerificationError as error:
        complain(str(error))
        return _refusal(build)
    if compare:
        return _compare(module, folder)
    path = write_module(module, folder)
    say(f"{path}: verified, emitted, read back")
    return PROVED


def _refusal(build: "Build") -> int:
    """Print the verdicts for which a build was refused; return 1 if one is refuted, else 3."""
    from recipe_compiler.pipeline import check

    report = check(build)
    show_report(report)
    return REFUTED if report.verdict is Verdict.REFUTED else UNDECIDED


def _compare(module: "Module", folder: Path) -> int:
    path = folder / f"{module.name}.py"
    there = path.read_bytes() if path.exists() else b""
    if there == module.text.encode():
        say(f"{path}: current")
        return PROVED
    complain(f"{path}: differs from what its build compiles to" if there else f"{path}: not there")
    before, now = there.decode(errors="replace").splitlines(), module.text.splitlines()
    for line in islice(difflib.unified_diff(before, now, str(path), "now", lineterm=""), DIFF_LINES):
        complain(line)
    return REFUTED


def run_build(
    file: str, folder: Path, asked: Asked, cores: int | None, *, as_json: bool, allow_undecided: bool
) -> int:  # fmt: skip
    """Verify and compile a build, run it, store and summarise the draws."""
    from recipe_compiler.pipeline import check, compile_build
    from recipe_compiler.run.data import load_data
    from recipe_compiler.run.load_module import load_text
    from recipe_compiler.run.progress import progress_bars
    from recipe_compiler.run.sample import sample
    from recipe_compiler.run.store import save, to_datatree
    from recipe_compiler.run.summary import COLUMNS, summarise
    from recipe_compiler.verify.report import exit_code

    build = _load_build(file)
    settings = _settings(build, asked)
    report = check(build)
    if not as_json:
        show_report(report)
    if (code := exit_code([report], allow_undecided=allow_undecided)) != PROVED:
        complain(f"{report.name} is {report.verdict.value}: it is not run")
        return code
    data = load_data(build.data, build.target)
    module = compile_build(build, allow_undecided=allow_undecided)
    if not as_json:
        say(f"compiled and read back; {_length(settings)}")
    emitted = load_text(module.name, module.text)
    with progress_bars(settings.chains, settings.warmup + settings.draws, quiet=as_json) as watch:
        draws = sample(emitted, build, settings, data, watch, cores)
    verdicts = "; ".join(f"{finding.id}: {finding.verdict.value}" for finding in report.findings)
    tree = to_datatree(draws, build, data, report.digest, verdicts)
    path = folder / f"{build.name}.nc"
    save(tree, path)
    summary = summarise(tree, draws)
    if as_json:
        say(json.dumps(_run_json(report, draws, summary, path), allow_nan=False))
    else:
        show_summary(summary, COLUMNS)
        say(f"{path}: draws in {draws.seconds:.1f} s, open with arviz.from_netcdf")
    return INTERRUPTED if draws.interrupted else DIVERGED if any(draws.diverging) else PROVED


def _settings(build: "Build", asked: Asked) -> "RunSettings":
    if asked.batch_size is not None and build.variant == "full":
        problem = "found --batch-size, expected none: the variant of this build is full, every step uses all data"
        raise SpecError([Fault(build.source.place("variant"), "variant", problem)])
    given = {name: value for name, value in asdict(asked).items() if value is not None}
    return replace(build.run, **given)


def _length(settings: "RunSettings") -> str:
    draws = f"{settings.warmup} draws of warmup and {settings.draws} kept"
    return f"{settings.chains} chains, {draws}, {settings.thin} steps a draw, step size {settings.step_size}"


def _run_json(report: Report, draws: "Draws", summary: "Summary", path: Path) -> dict[str, object]:
    from recipe_compiler.run.summary import COLUMNS

    rows = [
        {"name": row.name, **{c: v if math.isfinite(v) else None for c, v in zip(COLUMNS, row.values, strict=True)}}
        for row in summary.rows
    ]
    return {
        "schema_version": 1,
        "name": report.name,
        "digest": report.digest,
        "verdict": report.verdict.value,
        "settings": asdict(draws.settings),
        "interrupted": draws.interrupted,
        "diverging": list(draws.diverging),
        "seconds": draws.seconds,
        "summary": rows,
        "warnings": list(summary.warnings),
        "file": str(path),
    }


def write_starting_spec(name: str) -> int:
    """Write NAME.yaml in the working directory; what is there already is left alone."""
    from recipe_compiler.spec.names import name_problem

    if (problem := name_problem(name)) is not None:
        raise SpecError([Fault(Place("recipe new"), "NAME", problem[0], problem[1])])
    text = resources.files("recipe_compiler").joinpath("starting_spec.yaml").read_text(encoding="utf-8")
    path = Path(f"{name}.yaml")
    with path.open("x", encoding="utf-8") as file:
        file.write(text.replace("NAME", name))
    say(f"{path}: written; next: recipe check {path}")
    return PROVED


def print_schema(kind: str | None) -> int:
    """Print the JSON Schema of all documents, or of one kind."""
    from recipe_compiler.spec.json_schema import shipped_text

    schema = json.loads(shipped_text())
    if kind is not None:
        for choice in ("if", "then", "else", "type"):
            del schema[choice]
        schema = {**schema, "$ref": f"#/$defs/{kind.capitalize()}Document"}
    say(json.dumps(schema, indent=1))
    return PROVED


def _load(file: str) -> "Dynamics | Target | Build":
    """Read a document; `my_spec.py:name` is the object `name` of a Python spec."""
    from recipe_compiler.pipeline import load

    path, colon, name = file.rpartition(":")
    if colon and path.endswith(".py"):
        return load(Path(path), name)
    return load(Path(file))


def _load_build(file: str) -> "Build":
    from recipe_compiler.spec.model import Build

    document = _load(file)
    if not isinstance(document, Build):
        hint = "a build names dynamics, target, scheme and variant: see specs/builds"
        problem = f"found {type(document).__name__.lower()}, expected a build"
        raise ModelError([Fault(Place(file), "document", problem, hint)])
    return document
