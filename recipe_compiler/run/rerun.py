"""What a run must share with one that it continues or repeats, by name, so that what differs can be named.

Among it is the part of the emitted module that makes draws. What a module says about itself (header, docstrings,
comments) may change, and so may what only looks at draws (the gradient of all data, the forecast): the bits of a
chain do not depend on it. The file of a run holds all this, the documents as written, and the settings: what the run
is made again from.
"""

import ast
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.formula.show import text
from recipe_compiler.report.found_q import with_proved_q
from recipe_compiler.run import checkpoint
from recipe_compiler.run.checkpoint import Facts
from recipe_compiler.run.data import Data
from recipe_compiler.run.estimates import without_estimates
from recipe_compiler.run.load_module import own_modules
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build, RunSettings, Schedule
from recipe_compiler.spec.to_yaml import archived, from_archive

if TYPE_CHECKING:
    from xarray import DataTree

Read = TypeVar("Read")

GROUPS = ("posterior", "auxiliary", "warmup_posterior", "diverged_posterior")
"""The groups that hold draws."""


def kept_for_rerun(build: Build, settings: RunSettings, facts: Facts) -> Mapping[str, str]:
    """Return the attributes of a file from which its run can be made again."""
    return {
        "documents": archived(build),
        "run_settings": json.dumps(asdict(settings)),
        "run_facts": json.dumps(facts),
    }


def build_of(tree: "DataTree", file: str, folder: Path | None = None) -> tuple[Build, RunSettings]:
    """Return the build of a stored run and its settings.

    Args:
        tree: as it was read.
        file: what it was read from, for the faults.
        folder: what names of files in the build are relative to; None: the folder that it was in.

    Raises:
        RunError: the file records no run.
        SpecError, ModelError: its documents mean nothing without the files that they name.
    """
    missing = [name for name in ("documents", "run_settings", "run_facts") if name not in tree.attrs]
    if missing:
        raise RunError(f"{file}: found no documents in it, expected a file that `recipe run` of this version wrote")
    build = _read(tree, "documents", file, lambda text: with_proved_q(from_archive(text, folder)))
    return build, _read(tree, "run_settings", file, _settings)


def _settings(text: str) -> RunSettings:
    settings: dict[str, Any] = json.loads(text)
    schedule = Schedule(**settings.pop("schedule"))
    return RunSettings(**settings, schedule=schedule)


def _read(tree: "DataTree", name: str, file: str, read: Callable[[str], Read]) -> Read:
    """Return what an attribute says.

    Raises:
        RunError: nothing that a run has written.
    """
    try:
        return read(str(tree.attrs[name]))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        problem = f"found `{name}` in it that cannot be read, expected what `recipe run` wrote there"
        raise RunError(f"{file}: {problem}: the file was changed") from error


def demand_same(tree: "DataTree", facts: Facts, file: str) -> None:
    """Raise RunError where draws would be others than those of a stored run, with what differs."""
    before = _read(tree, "run_facts", file, lambda text: dict(json.loads(text)))
    checkpoint.demand_same(before, facts, f"{file}: cannot be made again")


def same_draws(tree: "DataTree", again: "DataTree") -> bool:
    """Whether two runs drew the same bits, as far as both went."""
    return all(_same(tree, again, group) for group in GROUPS)


def _same(tree: "DataTree", again: "DataTree", group: str) -> bool:
    if (group in tree.children) != (group in again.children):
        return False
    if group not in tree.children:
        return True
    one, other = (cast("Any", own[group]).to_dataset() for own in (tree, again))
    length = min(one.sizes["draw"], other.sizes["draw"])
    return one.isel(draw=slice(length)).equals(other.isel(draw=slice(length)))


ROOTS = ("run", "run_lanes", "first_values", "prepare", "seed_streams")
"""The functions that a run calls to draw."""

_Defined = ast.FunctionDef | ast.Assign
SAMPLED = 256
"""Pieces of a larger field of the data that are hashed, evenly spread, first and last included."""

PIECE = 1 << 20
"""Bytes of such a piece."""


def stepping_code(text: str) -> Mapping[str, str]:
    """Return what the draws of a module are made by: functions and constants by name, without words for readers.

    Args:
        text: of an emitted module.
    """
    defined = dict(_definitions(ast.parse(text)))
    found: dict[str, str] = {}
    left = [name for name in ROOTS if name in defined]
    while left:
        name = left.pop()
        if name not in found:
            node = defined[name]
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
                del node.body[0]
            found[name] = ast.unparse(node)
            left += [used.id for used in ast.walk(node) if isinstance(used, ast.Name) and used.id in defined]
    return dict(sorted(found.items()))


def _definitions(tree: ast.Module) -> Iterator[tuple[str, _Defined]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name, node
            case _:
                pass


def checkpoint_facts(code: Mapping[str, str], build: Build, settings: RunSettings, data: Data) -> Facts:
    """Return what a run must share with the one it continues.

    Values that a run estimates are left out: it estimates them again.

    Args:
        code: what makes its draws (`stepping_code`).
        build: gives values of parameters and initial states.
        settings: those of the run; with another number of `draws` it is the same run.
        data: the fields of the target.
    """
    sizes = resolve_sizes(build, data)
    values = known_values(without_estimates(build), sizes)
    return {
        **{f"code {name}": _digest(own.encode()) for name, own in code.items()},
        **dict(_of_code(build)),
        **{name: value for name, value in asdict(settings).items() if name not in ("draws", "schedule")},
        **{f"schedule {name}": value for name, value in asdict(settings.schedule).items()},
        **{f"size {name}": size for name, size in sizes.items()},
        **{
            f"parameter {name}": value.item() if value.size == 1 else _digest_array(value)
            for name, value in values.items()
        },
        **({} if build.moving is None else {"V moving": build.moving}),
        **{f"init {name}": text(formula) for name, formula in build.init},
        **{f"data {item.name}": _digest_array(item.values) for item in data.fields},
    }


def _of_code(build: Build) -> Iterator[tuple[str, str]]:
    """Yield digests of the user's files, and of what they import that is the user's own."""
    for own in build.codes:
        name = f"{'code of' if own == build.target.gradient else 'move'} {own}"
        yield name, _digest(own.file.read_bytes())
        yield from ((f"{name}, {other}", _digest(file.read_bytes())) for other, file in own_modules(own.file).items())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _digest_array(values: NDArray[np.generic]) -> str:
    """Return the digest of an array, of pieces spread over it where it is large: it may not fit into memory."""
    flat = values.reshape(-1)
    length = PIECE // flat.itemsize
    pieces = range(0, flat.size, length)
    if len(pieces) > SAMPLED:
        pieces = [int(start) for start in np.linspace(0, flat.size - length, SAMPLED)]
    found = hashlib.sha256(f"{values.shape} {values.dtype.str}".encode("ascii"))
    for start in pieces:
        found.update(np.ascontiguousarray(flat[start : start + length]).tobytes())
    return found.hexdigest()[:24]
