"""All documents of a build as one text, from which the same build is read again without their files.

What they name beside each other (tables, arrays, code) stays where it is: its names are relative to the folders that
the documents were in.
"""

import json
from pathlib import Path
from typing import Any

from recipe_compiler.errors import Fault, Place, SpecError
from recipe_compiler.spec.build_parts import Stated
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.load import around
from recipe_compiler.spec.model import Build, Source
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.read_dynamics import read_dynamics
from recipe_compiler.spec.read_scheme import read_scheme
from recipe_compiler.spec.read_target import read_target
from recipe_compiler.spec.to_yaml import text_of
from recipe_compiler.spec.yaml_reader import read_yaml

BUILD = "build"


def archived(build: Build) -> str:
    """Return the documents of a build, by their kinds as they are written, each with the place of its file."""
    documents = {BUILD: build.source} | {kind: part.source for kind, part in build.parts.items()}
    held = {kind: _kept(source) for kind, source in documents.items()}
    return json.dumps({"documents": held, "data_in_memory": build.data is None})


def _kept(source: Source) -> dict[str, str]:
    return {"file": str(Path(source.file).resolve()), "text": text_of(source)}


def from_archive(text: str, folder: Path | None = None) -> Build:
    """Return the build whose documents a text holds.

    Args:
        text: made by `archived`.
        folder: what names of files in the build are relative to, in the place of the folder that it was in.

    Raises:
        SpecError, ModelError: the documents mean nothing, to this version or without the files that they name.
    """
    held: dict[str, Any] = json.loads(text)
    faults = Faults()
    parts: dict[str, Stated] = {}
    for kind, own in held["documents"].items():
        if kind != BUILD and (part := _part(kind, own, faults)) is not None:
            parts[kind] = part
    faults.finish()
    own = held["documents"][BUILD]
    file = Path(own["file"]) if folder is None else folder / Path(own["file"]).name
    root = read_yaml(own["text"].encode(), str(file))
    build = read_build(root, str(file), around(file.parent, parts, in_memory=held["data_in_memory"]), faults)
    faults.finish()
    return _there(build, str(file))


def _part(kind: str, own: dict[str, str], faults: Faults) -> Stated | None:
    root = read_yaml(own["text"].encode(), own["file"])
    read = {"dynamics": read_dynamics, "use": read_dynamics, "target": read_target, "scheme": read_scheme}[kind]
    return read(root, own["file"], faults)


def _there(build: Build | None, file: str) -> Build:
    if build is None:
        raise SpecError([Fault(Place(file), "document", "found no build, expected one")])
    return build
