"""Digests of documents: what reports are about, and what an emitted module names as its origin."""

import json
from hashlib import sha256
from typing import Any

from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.places import canonical_json


def digest(document: Dynamics | Target | Build) -> str:
    """Return the SHA-256 of the canonical JSON of a document, as 64 hexadecimal digits.

    A build's covers its dynamics and its target. Comments, spaces between entries and the order of keys do not matter,
    the order of blocks, parameters, functions and data does.
    """
    return _sha256(documents(document))


def compiled_digest(build: Build) -> str:
    """Return the digest of what a module is made of: of a build all but `run`, which chains are given when they start.

    The same build with another step size, or more draws, is the same module.
    """
    parts = documents(build)
    return _sha256({**parts, "build": {name: entry for name, entry in parts["build"].items() if name != "run"}})


def _sha256(parts: dict[str, Any]) -> str:
    return sha256(canonical_json(parts).encode("ascii")).hexdigest()


def documents(document: Dynamics | Target | Build) -> dict[str, Any]:
    """Return the documents that a digest covers, by their kind, as written."""
    match document:
        case Build():
            parts = {"build": document.source, "dynamics": document.dynamics.source, "target": document.target.source}
        case Dynamics():
            parts = {"dynamics": document.source}
        case Target():
            parts = {"target": document.source}
    return {name: json.loads(source.document) for name, source in parts.items()}
