"""A build with other entries in its document: what a plan chose stands there as if its author had written it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recipe_compiler.errors import CompilerError
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.places import ORDERED
from recipe_compiler.spec.to_yaml import read_again, text_of

Entry = str | list[Any] | dict[str, Any]
"""As a document holds it: scalars are text."""


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
    return replace(made, observed=build.observed)


def number(value: float) -> str:
    """Return a number as a document has it: the shortest decimal that is the same double."""
    return repr(float(value))
