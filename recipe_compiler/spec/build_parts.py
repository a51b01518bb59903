"""The documents that a build is made of besides its own: dynamics, target, and a scheme that has one."""

import os
from collections.abc import Callable
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from recipe_compiler.errors import nearest
from recipe_compiler.spec.catalogue import names, shipped
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.model import Dynamics, Scheme, Target
from recipe_compiler.spec.page import Page


@dataclass(frozen=True, slots=True)
class Unread:
    """A build where one of its parts belongs. It is not read: it may name the first."""


MOST_NEAR = 1000
"""Files of a folder among which the one that is meant is sought."""

Stated = Dynamics | Target | Scheme
Part = Stated | Unread
Wanted = TypeVar("Wanted", Dynamics, Target, Scheme)
KINDS: dict[type, str] = {Dynamics: "dynamics", Target: "target", Scheme: "scheme"}
_WORDS: dict[type, str] = {Dynamics: "dynamics", Target: "a target", Scheme: "a scheme", Unread: "a build"}


@dataclass(frozen=True, slots=True)
class Around:
    """What the document of a build is read beside."""

    folder: Path
    """What the names of files in it are relative to."""
    load_part: Callable[[Path], Part]
    """Reads its dynamics, its target, its scheme, the dynamics that a move uses."""
    parts: Table[str, Stated] = field(default_factory=dict[str, Stated])
    """Those that are there already, by their keys: a build in Python has objects for them."""
    in_memory: bool = False
    """Whether the data are given with each run, and the document says nothing of them."""


def part_of(at: Page, wanted: type[Wanted], around: Around, key: str = "") -> Wanted | None:
    """Return the document that a build names at a place; None where it names none, or a fault was added.

    Args:
        at: where it is named.
        wanted: its kind.
        around: what the build is read beside.
        key: that of `around.parts`; left out: the first key of the place.
    """
    if (there := around.parts.get(key or str(at.path[0]))) is not None:
        return _of_kind(at, wanted, there, "this object")
    name = at.text
    if not name:
        return None
    file = shipped(name, (KINDS[wanted],)) or around.folder / name
    if not file.name.endswith((".yaml", ".yml")):
        what = f"expected a YAML file, or the name of {_WORDS[wanted]} that ships"
        code = "a build reads no Python file: write the document in YAML" if name.endswith(".py") else ""
        beside = f"did you mean `{name}.yaml`?" if os.path.isfile(around.folder / f"{name}.yaml") else ""
        hint = code or beside or nearest(name, names(KINDS[wanted])) or "`recipe list` shows what ships"
        at.fault(f"found `{shown(name)}`, {what}", hint)
        return None
    if not os.path.isfile(file):
        there = tuple(sorted(one.name for one in file.parent.glob("*.y*ml"))[:MOST_NEAR])
        hint = nearest(file.name, there) or "names are relative to the build's own file"
        at.fault(f"found no file `{shown(name)}`, expected one", hint)
        return None
    return _of_kind(at, wanted, at.faults.catch(lambda: around.load_part(file)), f"`{name}`")


def _of_kind(at: Page, wanted: type[Wanted], part: Part | None, held: str) -> Wanted | None:
    """Return a part of the kind that its key wants; None where it is of another, and a fault was added."""
    if part is None or isinstance(part, wanted):
        return part
    at.fault(f"found {_WORDS[type(part)]} in {held}, expected {_WORDS[wanted]}")
    return None
