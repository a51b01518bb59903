"""A run made again from its file: the same documents, settings and data, and then the same draws bit for bit.

The file holds the documents as written, the settings, and digests of all that the draws depend on
(`run/checkpoint_facts.py`).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.run import checkpoint
from recipe_compiler.run.checkpoint import Facts
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
    build = _read(tree, "documents", file, lambda text: from_archive(text, folder))
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
    one, other = (own.isel(draw=slice(0, length)) for own in (one, other))
    names = list(one.data_vars)
    return names == list(other.data_vars) and all(
        one[name].shape == other[name].shape
        and np.array_equal(one[name].to_numpy(), other[name].to_numpy(), equal_nan=True)
        for name in names
    )
