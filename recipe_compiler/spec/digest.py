"""The digest of a document: what an emitted module names as its origin."""

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
    return sha256(canonical_json(documents(document)).encode("ascii")).hexdigest()


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
