"""The digest of a document: what an emitted module names as its origin."""

import json
from hashlib import sha256

from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.places import canonical_json


def digest(document: Dynamics | Target | Build) -> str:
    """Return the SHA-256 of the canonical JSON of a document, as 64 hexadecimal digits.

    A build's covers its dynamics and its target. Comments, spaces between entries and the order of keys do not matter,
    the order of blocks, parameters, functions and data does.
    """
    match document:
        case Build():
            parts = {"build": document.source, "dynamics": document.dynamics.source, "target": document.target.source}
        case Dynamics():
            parts = {"dynamics": document.source}
        case Target():
            parts = {"target": document.source}
    text = canonical_json({name: json.loads(source.document) for name, source in parts.items()})
    return sha256(text.encode("ascii")).hexdigest()
