"""Where results may go: never over what they are made from, and never into what is no file.

One check for all that commands write. It is made before anything is decided, so that no work is lost at its end.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from recipe_compiler.errors import spec_error
from recipe_compiler.spec.files import no_file, same_file

STREAMS = ("-", "/dev/stdin", "/dev/stdout", "/dev/stderr")


def demand_file(path: Path, option: str, inputs: Sequence[Path], *, make_folders: bool = False) -> None:
    """Raise SpecError where a result may not be written to `path`.

    Args:
        path: where it is to go; links are followed.
        option: that named it, for the message.
        inputs: the files that it is made from.
        make_folders: whether folders that are not there are made.
    """
    expected = "expected the name of a file"
    if str(path) in STREAMS:
        _refuse(path, option, f"found a stream, {expected}", "stdout is for messages about it")
    if what := no_file(path):
        _refuse(path, option, f"found {what}, {expected}")
    if any(same_file(path, one) for one in inputs):
        _refuse(path, option, f"found a file that is read, {expected} of its own", "it would be overwritten")
    if _is_stream(path):
        _refuse(path, option, f"found the file that stdout or stderr goes to, {expected} of its own")
    _demand_parents(path, option, make_folders=make_folders)


def demand_folder(path: Path, option: str, inputs: Sequence[Path]) -> None:
    """Raise SpecError where results may not be written into the folder `path`, which is made where it is not there.

    Its files are replaced and removed as the results need it: none of `inputs` may be among them.
    """
    what = no_file(path) or ("a file" if path.is_file() else "")
    if what not in ("", "a folder"):
        _refuse(path, option, f"found {what}, expected a folder")
    place = Path(os.path.realpath(path))
    for one in inputs:
        if place in Path(os.path.realpath(one)).parents:
            _refuse(path, option, f"found the input {one.name} in it, expected a folder for results only")
    _demand_parents(path, option, make_folders=True)


def _demand_parents(path: Path, option: str, *, make_folders: bool) -> None:
    parent = Path(os.path.realpath(path)).parent
    if not make_folders and not parent.exists():
        _refuse(path, option, f"found no folder {path.parent}, expected one")
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        _refuse(path, option, f"found no folder but a file in {parent}, expected one")
    if not os.access(parent, os.W_OK | os.X_OK):
        _refuse(path, option, f"found the folder {parent}, into which nothing may be written")


def _is_stream(path: Path) -> bool:
    with suppress(OSError):
        found = path.stat()
        return any(os.path.samestat(found, one) for one in _streams())
    return False


def _streams() -> Iterator[os.stat_result]:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            yield os.fstat(stream.fileno())


def _refuse(path: Path, option: str, problem: str, hint: str = "") -> NoReturn:
    raise spec_error(path, option, problem, hint)
