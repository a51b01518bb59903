"""The documents' entries and where they stand; their canonical form and its digest.

A digest is what reports are about, and what an emitted module names as its origin.
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from typing import Any

from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.spec.model import Build, Document, Dynamics, Source
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Plain, Scalar, Sequence, plain

ORDERED = frozenset({"state", "parameters", "functions", "data", "recursion", "solve"})
"""Sections whose order is meant: that of z, of arguments, of fields."""


def digest(document: Document) -> str:
    """Return the SHA-256 of the canonical JSON of a document, as 64 hexadecimal digits.

    A build's covers its dynamics, its target, and the documents of its scheme and of the dynamics that a move uses;
    that of dynamics covers those whose image they claim to be. Comments, spaces between entries and the order of keys
    do not matter, that of blocks, parameters, functions, data and states of a recursion does.
    """
    return _sha256(documents(document))


def compiled_digest(build: Build) -> str:
    """Return the digest of what a module is made of: of a build all but `run` and `scores`.

    The same build with another step size, or more draws, is the same module.
    """
    parts = documents(build)
    return _sha256({**parts, "build": {n: own for n, own in parts["build"].items() if n not in ("run", "scores")}})


def step_digest(build: Build) -> str:
    """Return the digest of what the step of a module is made of beside its parameters, which are arguments of it.

    It is all but `run`, `scores`, where chains begin, and what the build says of parameters.
    """
    parts = documents(build)
    left_out = ("run", "scores", "init", "parameters")
    return _sha256({**parts, "build": {name: entry for name, entry in parts["build"].items() if name not in left_out}})


def _sha256(parts: dict[str, Any]) -> str:
    return sha256(canonical_json(parts).encode("ascii")).hexdigest()


def documents(document: Document) -> dict[str, Any]:
    """Return the documents that a digest covers, by their kind, as written; D and Q of a build as its word has them."""
    named: dict[str, Document] = {}
    if isinstance(document, Build):
        named = {**document.parts, "dynamics": document.dynamics, "target": document.target}
    elif isinstance(document, Dynamics) and document.claims.image is not None:
        named = {"image": document.claims.image.of}
    parts = {type(document).__name__.lower(): document, **named}
    return {kind: json.loads(part.source.document) for kind, part in parts.items()}


@contextmanager
def placed(source: Source, entry: str) -> Generator[None]:
    """Give faults that are raised meanwhile, and have no place, that of an entry of a document: their own, else this.

    What a document means is found out after it was read, by what knows of no documents.
    """
    try:
        yield
    except ModelError as error:
        places = dict(source.places)

        def at(fault: Fault) -> Fault:
            own = fault.entry if fault.entry in places else entry
            return fault if fault.where.file else replace(fault, where=source.place(own), entry=own)

        raise ModelError(map(at, error.faults)) from None


def source_of(root: Mapping, file: str, more: tuple[tuple[str, Place], ...] = ()) -> Source:
    """Return file, canonical JSON and places of a document; `more` are places with names of their own (`D[r,r]`)."""
    return Source(file, canonical(root), (*_places(root, ""), *more))


def canonical(root: Mapping) -> str:
    """Return the document as JSON: keys sorted but for those whose order counts, no spaces, scalars as text."""
    document: dict[str, object] = {}
    for key, node in root.entries:
        if key.text in ORDERED and isinstance(node, Mapping):
            document[key.text] = [[name.text, plain(value)] for name, value in node.entries]
        else:
            document[key.text] = plain(node)
    return canonical_json(document)


def canonical_json(document: dict[str, object] | Plain) -> str:
    """Return JSON with sorted keys and without spaces, ASCII only."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _places(node: Node, prefix: str) -> list[tuple[str, Place]]:
    """Return entry and place of every key, and of the items of lists outside of block matrices, with their keys."""
    match node:
        case Mapping(entries=entries):
            found: list[tuple[str, Place]] = []
            for key, value in entries:
                entry = f"{prefix}.{key.text}" if prefix else key.text
                found.append((entry, value.place if isinstance(value, Scalar) and value.text else key.place))
                found += _places(value, entry)
            return found
        case Sequence(items=items) if not any(isinstance(item, Sequence) for item in items):
            listed = [(f"{prefix}[{number}]", item) for number, item in enumerate(items)]
            return [found for entry, item in listed for found in ((entry, item.place), *_places(item, entry))]
        case _:
            return []
