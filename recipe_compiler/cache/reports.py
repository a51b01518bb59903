"""Verdicts found once: about the same document, read from the same files, by the same compiler.

Kept is only what no limit had a part in: no claim that did not end, and no refuted document, whose repairs are searched
for as long as the time allows.
"""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from recipe_compiler.cache.entries import Cache
from recipe_compiler.cache.source import compiler, content
from recipe_compiler.errors import Place
from recipe_compiler.spec.digest import digest
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Report, Topic, Undecided, Verdict

ALL, REQUIRED = "verdicts", "required"
"""Entries: reports of all claims, and of those alone that decide the document."""

_CLASSES: dict[str, Any] = {
    kind.__name__: kind for kind in (Report, Finding, Proved, Refuted, Undecided, Explanation, Place)
}


def check_once(document: Dynamics | Target | Build, cache: Cache, *, advisory: bool = True) -> Report:
    """Return the report of a document, from the cache where it is there; without `advisory` one that decides it.

    Raises:
        ModelError: a formula that has no meaning in index notation.
    """
    key = tuple(_key(document)) if cache.folder is not None else ()
    for what in (ALL,) if advisory else (ALL, REQUIRED):
        if (text := cache.read(what, key)) is not None:
            return from_text(text)
    from recipe_compiler.report.check import check  # brings SymPy, which a verdict that is known does without

    report = check(document, advisory=advisory)
    if report.verdict is not Verdict.REFUTED and not any(_by_limit(finding) for finding in report.findings):
        cache.write(ALL if advisory else REQUIRED, key, to_text(report))
    return report


def to_text(report: Report) -> str:
    """Return a report as JSON from which it can be read again."""
    return json.dumps(_written(report))


def from_text(text: str) -> Report:
    """Return the report that `to_text` wrote."""
    return _read(json.loads(text))


def _key(document: Dynamics | Target | Build) -> Iterator[str]:
    yield compiler()
    yield digest(document)
    yield document.source.file
    yield from (content(path) for path in files_of(document))


def _by_limit(finding: Finding) -> bool:
    return isinstance(finding.decision, Undecided) and finding.decision.by_limit


def _written(value: object) -> object:
    match value:
        case Topic():
            return {"is": "Topic", "value": value.value}
        case None | bool() | int() | float() | str():
            return value
        case tuple():
            return [_written(one) for one in value]
        case _ if is_dataclass(value) and type(value).__name__ in _CLASSES:
            own = {part.name: _written(getattr(value, part.name)) for part in fields(value) if part.init}
            return {"is": type(value).__name__, **own}
        case _:
            raise TypeError(f"a report holds {type(value).__name__}, which the cache does not know")


def _read(value: Any) -> Any:
    match value:
        case {"is": "Topic", "value": topic}:
            return Topic(topic)
        case {"is": name, **own}:
            return _CLASSES[name](**{part: _read(one) for part, one in own.items()})
        case list():
            return tuple(_read(one) for one in value)
        case _:
            return value
