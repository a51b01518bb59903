"""`recipe compile`."""

import difflib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from recipe_compiler.cache.entries import Cache, open_cache
from recipe_compiler.cache.reports import check_once
from recipe_compiler.commands.documents import load_build
from recipe_compiler.commands.exit_code import ExitCode, of_verdict, worst
from recipe_compiler.commands.outputs import demand_file
from recipe_compiler.display import complain, say, show_faults, show_report
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import DocumentError, ReadBackError, VerificationError
from recipe_compiler.pipeline import compile_build, write_module
from recipe_compiler.spec.files import files_of

DIFF_LINES = 20
"""Lines of a difference that `compile --check` shows."""


def compile_files(
    builds: Sequence[str], folder: Path, *, compare: bool, allow_undecided: bool, use_cache: bool = True
) -> ExitCode:
    """Compile builds and write their modules, or compare them with those that are there."""
    cache = open_cache(use=use_cache)
    return worst([_compile(file, folder, cache, compare=compare, allow_undecided=allow_undecided) for file in builds])


def _compile(file: str, folder: Path, cache: Cache, *, compare: bool, allow_undecided: bool) -> ExitCode:
    try:
        build = load_build(file)
        demand_file(folder / f"{build.name}.py", "-o", files_of(build), make_folders=True)
        try:
            module = compile_build(build, allow_undecided=allow_undecided, cache=cache)
        except ReadBackError as error:
            complain(str(error))
            return ExitCode.UNDECIDED
        except VerificationError as error:
            complain(str(error))
            report = check_once(build, cache)
            show_report(report)
            return of_verdict(report.verdict, allow_undecided=False)
    except DocumentError as error:
        show_faults(error.faults)
        return ExitCode.FAULTY
    if compare:
        return _compare(module, folder)
    path = write_module(module, folder)
    say(f"{path}: verified, emitted, read back")
    return ExitCode.PROVED


def _compare(module: Module, folder: Path) -> ExitCode:
    path = folder / f"{module.name}.py"
    there = path.read_bytes() if path.exists() else b""
    if there == module.text.encode():
        say(f"{path}: current")
        return ExitCode.PROVED
    complain(f"{path}: differs from what its build compiles to" if there else f"{path}: not there")
    before, now = there.decode(errors="replace").splitlines(), module.text.splitlines()
    for line in islice(difflib.unified_diff(before, now, str(path), "now", lineterm=""), DIFF_LINES):
        complain(line)
    return ExitCode.REFUTED
