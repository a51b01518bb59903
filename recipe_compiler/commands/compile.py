"""`recipe compile`."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp

from recipe_compiler.cache import Cache, check_once, open_cache
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.commands.clean_exit import of_verdict, worst
from recipe_compiler.commands.documents import demand_build, load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.commands.made_build import make_build
from recipe_compiler.commands.outputs import demand_file
from recipe_compiler.display import MARK, complain, mark_lines, say, show_faults, show_report
from recipe_compiler.emit.header import MADE_BY
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import DocumentError, ReadBackError, VerificationError, spec_error
from recipe_compiler.pipeline import compile_build, write_module
from recipe_compiler.report.refuted import mark_refuted
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.spec.files import files_of, same_file
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.places import digest

DIFF_LINES = 20
"""Lines of a difference that `compile --check` shows."""
DIGESTS = "digests.json"
"""A file in a folder of modules: the SHA-256 of each module by its name, for those that are not kept there."""
HEAD = 1 << 16
"""Bytes of a file in which its header is looked for: a title may be long."""


def compile_files(
    builds: Sequence[str], folder: Path, *, compare: bool, allow_undecided: bool, allow_refuted: bool = False,
    use_cache: bool = True, given: BuildArguments | None = None,
) -> ExitCode:  # fmt: skip
    """Compile builds and write their modules, or compare them with those that are there.

    With `given` the documents are dynamics and a target, or dynamics alone, and what is compiled is the build that they
    make; without it, dynamics make one, too.
    """
    cache = open_cache(use=use_cache)
    given = BuildArguments() if given is None and _are_pair(builds) else given
    codes: list[ExitCode] = []
    made: dict[Path, tuple[str, str]] = {}
    for file in builds if given is None else (" ".join(builds),):
        try:
            build = _build_of(file) if given is None else make_build(builds, given)
            path, own = folder / f"{build.name}.py", digest(build)
            _demand_own(path, made, file, own)
            demand_file(path, "-o", files_of(build), make_folders=True)
            if not compare:
                _demand_emitted(path)
            codes.append(
                _compile(
                    build, folder, cache, compare=compare, allow_undecided=allow_undecided, allow_refuted=allow_refuted
                )
            )
        except DocumentError as error:
            show_faults(error.faults)
            codes.append(ExitCode.FAULTY)
        else:
            made |= {path: (file, own)} if codes[-1] is ExitCode.PROVED or allow_refuted else {}
    return worst(codes)


def _are_pair(files: Sequence[str]) -> bool:
    """Whether documents are dynamics and a target, which make one build."""
    if len(files) != 2:
        return False
    with suppress(DocumentError):  # said when they are read
        return [type(load_named(file)) for file in files] == [Dynamics, Target]
    return False


def _build_of(file: str) -> Build:
    """Return a build, or that of dynamics alone."""
    document = load_named(file)
    return make_build((file,), BuildArguments()) if isinstance(document, Dynamics) else demand_build(document, file)


def _compile(
    build: Build, folder: Path, cache: Cache, *, compare: bool, allow_undecided: bool, allow_refuted: bool
) -> ExitCode:
    mark_lines("")
    try:
        if allow_refuted:
            build = mark_refuted(build, report := check_once(build, cache, advisory=build.target.is_open))
            mark_lines("" if build.mark is None else MARK)
        module = compile_build(build, report if allow_refuted else None, allow_undecided=allow_undecided, cache=cache)
    except ReadBackError as error:
        complain(str(error))
        return ExitCode.UNDECIDED
    except VerificationError as error:
        complain(str(error))
        report = check_once(build, cache)
        show_report(report)
        return of_verdict(report.verdict, allow_undecided=False)
    if compare:
        return max(_compare(module, folder), ExitCode.REFUTED if build.mark else ExitCode.PROVED)
    path = write_module(module, folder)
    if build.mark is None:
        say(f"{path}: verified, emitted, read back")
        return ExitCode.PROVED
    for claim in build.mark.claims:
        say(claim)
    say(f"{path}: emitted as a negative control, read back as {build.mark.runs}")
    return ExitCode.REFUTED


def _demand_own(path: Path, made: Mapping[Path, tuple[str, str]], file: str, of_build: str) -> None:
    """Raise SpecError where the module of another build in the same command is at `path`: one of them would be lost."""
    for other, (first, of_first) in made.items():
        if of_first != of_build and (other == path or same_file(other, path)):
            problem = f"found the name of the build in {first}, expected another: {path} is one module"
            hint = "rename one of them, or compile them by two commands, each into a folder of its own (-o)"
            raise spec_error(file, "name", problem, hint)


def _demand_emitted(path: Path) -> None:
    """Raise SpecError where there is something else at `path` than a module of ours, or an empty file."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        top = stream.read(HEAD)
    if top and MADE_BY.encode() not in top:
        problem = "found a file that this compiler did not write, expected an emitted module or none"
        hint = "move it away, give the build another name, or name another folder with -o"
        raise spec_error(path, "-o", problem, hint)


def _compare(module: Module, folder: Path) -> ExitCode:
    lines = [*differences(module.name, module.file, folder)]
    for line in lines:
        complain(line)
    if not lines:
        say(f"{folder / module.name}.py: current")
    return ExitCode.REFUTED if lines else ExitCode.PROVED


def differences(name: str, text: str, folder: Path) -> Iterator[str]:
    """Yield lines that tell how the text of a module differs from what a folder holds of it; none if it is current.

    A folder holds the module itself or its digest. A text that differs is written to a temporary folder.

    Raises:
        SpecError: the digests of the folder cannot be read.
    """
    path, now = folder / f"{name}.py", text.encode()
    if path.exists():
        before = path.read_bytes()
        if before != now:
            yield f"{path}: differs from what its build compiles to; diff {quote(str(path))} {_write_new(name, now)}"
            old, new = before.decode(errors="replace").splitlines(), text.splitlines()
            yield from islice(difflib.unified_diff(old, new, str(path), "now", lineterm=""), DIFF_LINES)
        return
    digest = _digests(folder / DIGESTS).get(name)
    if digest is None:
        yield f"{path}: not there"
    elif digest != sha256(now).hexdigest():
        yield f"{path}: the SHA-256 of what its build compiles to is not the one in {folder / DIGESTS}"
        yield f"to compare, compile with the version that wrote the digest, then: diff OLD {_write_new(name, now)}"


def _digests(path: Path) -> Mapping[str, object]:
    """Return digests by the names of modules; none where there is no such file."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        problem = "found no JSON object, expected the SHA-256 of each module by its name"
        raise spec_error(path, "--check", problem)
    return found


def _write_new(name: str, text: bytes) -> str:
    """Write a text to the temporary folder for new ones; return its path as a shell takes it."""
    path = _new_texts() / f"{name}.py"
    write_whole(path, text)
    return quote(str(path))


@cache
def _new_texts() -> Path:
    return Path(mkdtemp(prefix="recipe_compile_"))
