"""The contents page: every stage from a document to draws, in order, each with what it takes and what it gives.

document  --load-->        Dynamics, Target, Build
Build     --bind-->        Dynamics                  the build's formulas put in
Dynamics  --derive-->      Derivation                grad H, Gamma, drift, for every size
document  --check-->       Report                    three-valued findings
Build     --discretise-->  Program                   one step, in index notation
Program   --lower-->       Kernel                    loops
Kernel    --emit-->        Module                    one standalone text
Module    --read back-->   the same Module           or a CompilerError and no file
Module    --write-->       a file
Module    --sample-->      Draws
"""

from pathlib import Path

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.header import header
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.emit.names import renames
from recipe_compiler.errors import VerificationError
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run.write import write_whole
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.digest import digest
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Report, Verdict
from recipe_compiler.verify.readback import check_shipped, read_back
from recipe_compiler.verify.report import check

__all__ = ["check", "compile_build", "derive", "load", "write_module"]


def compile_build(build: Build, report: Report | None = None, *, allow_undecided: bool = False) -> Module:
    """Return the module of a build: verified, emitted, read back.

    Args:
        build: what to compile.
        report: the verdicts about it, where they are known already; else they are found first.
        allow_undecided: whether a build may be compiled that is neither proved nor refuted.

    Raises:
        VerificationError: a required claim is refuted, or undecided where that is not allowed.
        CompilerError: the emitted text is not what was verified.
    """
    report = report or check(build)
    _demand(report, allow_undecided=allow_undecided)
    derivation = derive(bind(build))
    program = discretise(build, derivation)
    pinned = pinned_sizes(build, program)
    names = renames(program)
    program = rename(program, names)
    sizes = {names.get(name, name): number for name, number in build.sizes}
    identity = digest(build)
    general = emit_module(build.name, program, lower(program), "Read back at small sizes.", identity)
    read_back(general, derivation, names, pinned)
    shipped = rename(program, sizes)
    top = header(build, derivation, shipped, report, identity, names)
    module = emit_module(build.name, shipped, lower(shipped), top, identity)
    check_shipped(module, sizes)
    return module


def write_module(module: Module, folder: Path) -> Path:
    """Write a module beside its place, then move it there: a reader sees the old file or the new one, never half."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{module.name}.py"
    write_whole(path, module.text.encode())
    return path


def _demand(report: Report, *, allow_undecided: bool) -> None:
    if report.verdict is Verdict.PROVED or (report.verdict is Verdict.UNDECIDED and allow_undecided):
        return
    guilty = [f for f in report.findings if f.required and f.verdict is not Verdict.PROVED]
    lines = "; ".join(f"{f.id} is {f.verdict.value}" for f in guilty)
    raise VerificationError(f"{report.name} is {report.verdict.value}: {lines}. `recipe check {report.file}` says why")
