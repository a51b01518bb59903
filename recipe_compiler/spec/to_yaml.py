"""Documents as YAML that `load` reads: the same document, with the same digest."""

import io
import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from recipe_compiler.errors import CompilerError
from recipe_compiler.spec.build_parts import Stated
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import plain_name_problem
from recipe_compiler.spec.load import around
from recipe_compiler.spec.model import Build, Document, Dynamics, Scheme, Source, Target
from recipe_compiler.spec.places import ORDERED, digest
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.read_dynamics import read_dynamics
from recipe_compiler.spec.read_scheme import read_scheme
from recipe_compiler.spec.read_target import read_target
from recipe_compiler.spec.yaml_reader import read_yaml

WIDTH = 120
"""Columns of a line, where it can be broken."""

SHORT = 120
"""Characters of a mapping that is written on one line."""

_TAG = "tag:yaml.org,2002:"


def to_yaml(document: Document) -> str:
    """Return a document as YAML, read again and compared before it is handed out.

    That of a build whose data are given with each run lacks the `data` that a file has to name.

    Raises:
        SpecError, ModelError: what is stated cannot stand in a file.
        CompilerError: the text would mean something else.
    """
    text = text_of(document.source)
    again = read_again(text, document, in_memory=isinstance(document, Build) and document.data is None)
    if again is None or again != document or digest(again) != digest(document):
        raise CompilerError(f"the YAML of {document.name} does not read back as its document")
    return text


def text_of(source: Source) -> str:
    """Return the text of a document, keys in the order in which they were stated."""
    yaml = YAML(typ="safe", pure=True)
    yaml.width = WIDTH
    out = io.StringIO()
    yaml.serialize(_Nodes(yaml, source).root(), out)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def read_again(text: str, document: Document, *, in_memory: bool = False) -> Document | None:
    """Return what a text says in the place of a document; of a build, whether its data are given with each run."""
    file, faults = document.source.file, Faults()
    root = read_yaml(text.encode(), file)
    again: Document | None
    match document:
        case Dynamics():
            again = read_dynamics(root, file, faults)
        case Target():
            again = read_target(root, file, faults)
        case Scheme():
            again = read_scheme(root, file, faults)
        case Build():
            parts = {kind: _as_stated(part) for kind, part in document.parts.items()}
            again = read_build(root, file, around(Path(file).parent, parts, in_memory=in_memory), faults)
    faults.finish()
    return again


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
