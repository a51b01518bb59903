"""`recipe check`."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from recipe_compiler.cache import check_once, open_cache
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.commands.clean_exit import of_verdict, worst
from recipe_compiler.commands.documents import load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.commands.outputs import demand_file
from recipe_compiler.display import say, show_faults, show_report
from recipe_compiler.errors import DataError, DocumentError, Fault, Place
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.model import UNREAD, Build, Document
from recipe_compiler.verdict import Report


def check_files(
    files: Sequence[str], *, as_json: bool, allow_undecided: bool, certificate: Path | None = None,
    use_cache: bool = True, given: BuildArguments | None = None,
) -> ExitCode:  # fmt: skip
    """Decide documents one by one; a faulty one does not keep the others from their verdicts.

    `certificate` is where the certificate of the last document goes; where it cannot go there, nothing is decided.
    With `given` the documents are dynamics and a target, or dynamics alone, and what is decided is the build that they
    make.
    """
    cache = open_cache(use=use_cache)
    reports: list[Report] = []
    faulty: list[tuple[str, tuple[Fault, ...]]] = []
    for file in files if given is None else (" ".join(files),):
        try:
            document = load_named(file) if given is None else _made(files, given, quiet=as_json)
            if certificate is not None:
                demand_file(certificate, "--certificate", files_of(document))
            report = check_once(document, cache)
        except DocumentError as error:
            faulty.append((file, error.faults))
            if not as_json:
                show_faults(error.faults)
        else:
            reports.append(report)
            if faults := _faults_of_data(document, report):
                faulty.append((file, faults))
                if not as_json:
                    show_faults(faults)
            if certificate is not None:
                _certify(certificate, document, report)
            if not as_json:
                show_report(report)
    if as_json:
        from recipe_compiler.report.as_json import to_json  # brings SymPy: verdicts may be known without it

        say(json.dumps(to_json(reports, faulty), allow_nan=False))
    codes = [of_verdict(report.verdict, allow_undecided=allow_undecided) for report in reports]
    return worst([*codes, *(ExitCode.FAULTY for _ in faulty)])


def _made(files: Sequence[str], given: BuildArguments, *, quiet: bool) -> Build:
    from recipe_compiler.commands.made_build import make_build  # brings NumPy, to look at the data

    return make_build(files, given, quiet=quiet)


def _faults_of_data(document: Document, report: Report) -> tuple[Fault, ...]:
    """Return why data of a build cannot be used, at the entries that name them."""
    if not isinstance(document, Build) or not any(UNREAD in caveat for caveat in report.caveats):
        return ()
    from recipe_compiler.run.observed import data_of_build  # brings NumPy

    try:
        data_of_build(document)
    except DataError as error:
        return tuple(_placed(document, problem) for problem in error.faults)
    return ()


def _placed(build: Build, problem: str) -> Fault:
    """Return a fault of data at the entry of the build with the first name in it, a column or a field; or the file."""
    places, entries = dict(build.source.places), list[str]()
    columns, made = ((), ()) if build.data is None else (build.data.columns, build.data.made)
    for name in re.findall(r"`([^`]+)`", problem):
        entries += [f"data.columns.{column.name}" for column in made if name in (column.name, *column.uses)]
        entries += [f"data.{field}[{own.index(name)}]" for field, own in columns if name in own]
        entries += [f"data.{field}" for field, own in columns if name in own]
        entries += [f"data.{name}", f"data.arrays.{name}"]
    entry = next((entry for entry in (*entries, "data.file") if entry in places), "data")
    is_written = os.path.isfile(build.source.file)  # not made of options
    return Fault(build.source.place(entry) if is_written else Place(build.source.file), entry, problem)


def _certify(path: Path, document: Document, report: Report) -> None:
    from recipe_compiler.report.as_json import format_certificate

    write_whole(path, format_certificate(document, report).encode("ascii"))
