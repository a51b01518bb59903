"""Documents as text that is read again: as YAML, with other entries, and all those of a build in one.

The YAML is what `load` reads: the same document, with the same digest.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from recipe_compiler.errors import CompilerError, Fault, ModelError
from recipe_compiler.spec.build_parts import Stated
from recipe_compiler.spec.fields import plain_name_problem
from recipe_compiler.spec.found_q import has_found_q, with_found_matrices
from recipe_compiler.spec.load import around, reader_of
from recipe_compiler.spec.model import Build, Document, Scheme, Source
from recipe_compiler.spec.places import ORDERED, digest
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.yaml_reader import read_yaml

WIDTH = 120
"""Columns of a line, where it can be broken."""

SHORT = 120
"""Characters of a mapping that is written on one line."""

Entry = str | list[Any] | dict[str, Any]
"""As a document holds it: scalars are text."""
BUILD = "build"

_TAG = "tag:yaml.org,2002:"


def to_yaml(document: Document) -> str:
    """Return a document as YAML, read again and compared before it is handed out.

    That of a build whose data are given with each run lacks the `data` that a file has to name.

    Raises:
        SpecError, ModelError: what is stated cannot stand in a file.
        CompilerError: the text would mean something else.
    """
    text, in_memory = text_of(document.source), isinstance(document, Build) and document.data is None
    if in_memory and "data" in dict(document.source.places):
        problem = "found a table that is given in Python, expected the name of a file"
        raise ModelError(
            [Fault(document.source.place("data"), "data", problem, "write it to a .csv file, and name that")]
        )
    again = read_again(text, document, in_memory=in_memory)
    if again != document or digest(again) != digest(document):
        raise CompilerError(f"the YAML of {document.name} does not read back as its document")
    return text


def text_of(source: Source) -> str:
    """Return the text of a document, keys in the order in which they were stated."""
    yaml = YAML(typ="safe", pure=True)
    yaml.width = WIDTH
    out = io.StringIO()
    yaml.serialize(_Nodes(yaml, source).root(), out)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def read_again(text: str, document: Document, *, in_memory: bool = False) -> Document:
    """Return what a text says in the place of a document; of a build, whether its data are given with each run."""
    file = document.source.file
    root = read_yaml(text.encode(), file)
    if not isinstance(document, Build):
        return reader_of(type(document).__name__.lower())(root, file)
    parts = {kind: _as_stated(part) for kind, part in document.parts.items()}
    return read_build(root, file, around(Path(file).parent, parts, in_memory=in_memory))


def _as_stated(part: Stated) -> Stated:
    """Return a part as its own document states it: what a build adds to a word (pieces, moves) stands in the build."""
    if not isinstance(part, Scheme):
        return part
    again = read_again(text_of(part.source), part)
    if not isinstance(again, Scheme):
        raise CompilerError(f"the document of {part.name} is not a scheme when it is read again")
    return again


class _Nodes:
    """The nodes of a document for the serialiser, keys in the order in which they were stated."""

    def __init__(self, yaml: YAML, source: Source) -> None:
        self.resolver = yaml.resolver
        self.document: dict[str, Any] = json.loads(source.document)
        self.order = {entry: number for number, (entry, _) in enumerate(source.places)}

    def root(self) -> Node:
        for section in ORDERED & self.document.keys():
            self.document[section] = dict(self.document[section])
        return self.mapping(self.document, "", flow=False)

    def mapping(self, entries: dict[str, Any], path: str, *, flow: bool) -> Node:
        paths = {key: f"{path}.{key}" if path else key for key in entries}
        if path not in ORDERED:
            paths = dict(sorted(paths.items(), key=lambda item: self.order.get(item[1], len(self.order))))
        pairs = [(self.scalar(key), self.node(entries[key], paths[key])) for key in paths]
        return MappingNode(f"{_TAG}map", pairs, flow_style=flow)

    def node(self, value: Any, path: str) -> Node:
        match value:
            case dict():
                flat = not any(isinstance(item, dict) for item in value.values())
                return self.mapping(value, path, flow=flat and len(json.dumps(value)) <= SHORT)
            case list():
                items = [self.node(item, f"{path}[{place}]") for place, item in enumerate(value)]
                return SequenceNode(f"{_TAG}seq", items, flow_style=True)
            case None:
                return ScalarNode(f"{_TAG}null", "")
            case _:
                return self.scalar(value)

    def scalar(self, text: str) -> Node:
        """Return a text without quotes where YAML, and this language, take it as it is."""
        if plain_name_problem(text) is not None and text not in ("true", "false"):
            return ScalarNode(f"{_TAG}str", text, style='"')
        return ScalarNode(self.resolver.resolve(ScalarNode, text, (True, False)), text)


def restated(build: Build, changes: Mapping[str, Mapping[str, Entry | None]]) -> Build:
    """Return a build read from its own document with entries changed.

    Args:
        build: what is stated.
        changes: section of the document to its new entries, None for one that goes; others of the section stay.

    Raises:
        SpecError, ModelError: the document means nothing with them.
    """
    document: dict[str, Any] = json.loads(build.source.document)
    for section, entries in changes.items():
        whole = dict(document.get(section) or {}) | dict(entries)
        document[section] = {name: entry for name, entry in whole.items() if entry is not None}
        if section in ORDERED:
            document[section] = [[name, entry] for name, entry in document[section].items()]
    return read_restated(build, text_of(replace(build.source, document=json.dumps(document))))


def read_restated(build: Build, text: str) -> Build:
    """Return the build that a text says in the place of the document of another.

    Raises:
        SpecError, ModelError: it means nothing.
    """
    made = read_again(text, build, in_memory=build.data is None)
    if not isinstance(made, Build):
        raise CompilerError(f"{build.name} with the planned entries is not a valid build")
    made = replace(made, observed=build.observed)
    return with_found_matrices(made, build.dynamics.D, build.dynamics.Q) if has_found_q(build) else made


def number(value: float) -> str:
    """Return a number as a document has it: the shortest decimal that is the same double."""
    return repr(float(value))


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
    own = held["documents"].pop(BUILD)
    parts = {kind: _part(kind, part) for kind, part in held["documents"].items()}
    file = Path(own["file"]) if folder is None else folder / Path(own["file"]).name
    root = read_yaml(own["text"].encode(), str(file))
    return read_build(root, str(file), around(file.parent, parts, in_memory=held["data_in_memory"]))


def _part(kind: str, own: dict[str, str]) -> Stated:
    root = read_yaml(own["text"].encode(), own["file"])
    return reader_of("dynamics" if kind == "use" else kind)(root, own["file"])
