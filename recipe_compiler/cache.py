"""What commands found out, kept for the next one: verdicts of documents, texts that were read back, and plans.

Entries are small texts under names made of all that they depend on, each with its digest. An entry that is not there,
or not as it was written, is found out again; none can be found under another's name. Verdicts depend on the document,
the files it was read from, and the compiler, to the byte, with the libraries it decides with. Kept is only what no
limit had a part in: no claim that did not end, and no refuted document, whose repairs are searched for as long as the
time allows.
"""

import json
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from recipe_compiler.errors import Place
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.spec.catalogue import SCHEMES
from recipe_compiler.spec.files import files_of, state_of
from recipe_compiler.spec.model import GIVEN, Build, Data, Document
from recipe_compiler.spec.places import compiled_digest, digest
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Report, Topic, Undecided, Verdict
from recipe_compiler.version import versions

KIND = "recipe_compiler cache 1"
MOST_BYTES = 200 * 2**20
"""What all entries may take together; beyond it those go that were asked for longest ago."""

LEFT = 0.75
"""The part of it that is left then, so that not every entry looks for room."""

LIBRARIES = ("sympy", "python-flint", "numpy", "scipy", "clarabel", "numba")
LARGEST = 2**24
"""Bytes of a file that is read to tell whether it has changed."""

ALL, REQUIRED, FINDINGS = "verdicts", "required", "findings"
"""Entries: reports of all claims, of those alone that decide the document, and of builds whatever their `run`."""

_CLASSES: dict[str, Any] = {
    kind.__name__: kind for kind in (Report, Finding, Proved, Refuted, Undecided, Explanation, Place)
}


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of entries; None: nothing is kept, nothing is found, but what one command holds in memory."""

    folder: Path | None = None
    held: dict[str, str] | None = field(default=None, compare=False)

    @property
    def keeps(self) -> bool:
        """Whether an entry that is written is found again."""
        return self.folder is not None or self.held is not None

    def read(self, what: str, key: Iterable[str]) -> str | None:
        """Return the entry of a key, None where there is none that is whole."""
        if self.folder is None:
            return None if self.held is None else self.held.get(named(what, key))
        name = named(what, key)
        try:
            kind, own, digest, text = (self.folder / name).read_text(encoding="utf-8").split("\n", 3)
        except (OSError, ValueError):
            return None
        with suppress(OSError):  # of another user's folder
            os.utime(self.folder / name)  # asked for now
        return text if (kind, own, digest) == (KIND, name, _digest(text)) else None

    def write(self, what: str, key: Iterable[str], text: str) -> None:
        """Keep an entry; a folder that cannot be written keeps none."""
        if self.held is not None:
            self.held[named(what, key)] = text
        if self.folder is None:
            return
        name = named(what, key)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, f"{KIND}\n{name}\n{_digest(text)}\n{text}".encode())
            _prune(self.folder)


NOTHING = Cache()
"""The cache of those who want none."""


def open_cache(*, use: bool = True) -> Cache:
    """Return the cache of this user: `$XDG_CACHE_HOME/recipe_compiler`, by default in `~/.cache`."""
    if not use:
        return Cache(held={})
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        home = given if given.is_absolute() else Path.home() / ".cache"  # as the XDG specification has it
    except RuntimeError:  # there is no home
        return NOTHING
    return Cache(home / "recipe_compiler" / "verdicts")


def named(what: str, key: Iterable[str]) -> str:
    """Return the name of an entry: every part of its key has a part in it, and where one ends and the next begins."""
    return f"{what}-{_digest(''.join(_digest(part) for part in key))}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _prune(folder: Path) -> None:
    """Make room where entries take more than they may, and files beside them that a killed command left."""
    with os.scandir(folder) as found:
        files = sorted((state.st_mtime_ns, file.path, state.st_size) for file in found if (state := _state(file)))
    total = sum(size for _, _, size in files)
    if total <= MOST_BYTES:
        return
    for _, path, size in files:
        if total <= LEFT * MOST_BYTES:
            return
        Path(path).unlink(missing_ok=True)
        total -= size


def _state(file: os.DirEntry[str]) -> os.stat_result | None:
    """Return what is known of a file, None of what is none, or was removed by another command meanwhile."""
    with suppress(FileNotFoundError):
        return file.stat(follow_symlinks=False) if file.is_file(follow_symlinks=False) else None
    return None


@cache
def compiler() -> str:
    """Return a text that is another one for every other compiler, library or Python."""
    package, found = str(Path(__file__).parent), sha256()
    own = (os.path.join(folder, name) for folder, _, names in os.walk(package) for name in names)
    parts = {path for path in own if path.endswith((".py", ".yaml"))}
    named_schemes = map(str, SCHEMES.glob("*.yaml"))  # behind a link, which a walk does not follow
    for path in sorted({*parts, *named_schemes}):
        content = Path(path).read_bytes()
        found.update(f"{path.removeprefix(package)} {len(content)}\n".encode())
        found.update(content)
    named = [f"{name} {version}" for name, version in versions(LIBRARIES).items()]
    return "\n".join((found.hexdigest(), platform.python_version(), platform.machine(), *named))


def content(path: Path) -> str:
    """Return a text that is another one once a file has changed: of large ones by `state_of`, else by content."""
    try:
        size, *others = state_of(path)
        if size > LARGEST:
            return f"{path} {size} {others}"
        return f"{path} {sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        return f"{path} {type(error).__name__}"


def check_once(document: Document, cache: Cache, *, advisory: bool = True) -> Report:
    """Return the report of a document, from the cache where it is there.

    Args:
        document: what is decided.
        cache: where reports are kept.
        advisory: whether claims are asked that do not decide the document.

    Raises:
        ModelError: a formula that has no meaning in index notation.
    """
    key = tuple(key_of(document)) if cache.keeps else ()
    for what in (ALL,) if advisory else (ALL, REQUIRED):
        if (text := cache.read(what, key)) is not None:
            return from_text(text)
    from recipe_compiler.report.check import check  # brings SymPy, which a verdict that is known does without

    if isinstance(document, Build):
        from recipe_compiler.run.observed import observed  # brings NumPy

        document = observed(document)
    of_builds = tuple(_key_of_findings(document)) if isinstance(document, Build) and key else ()
    text = cache.read(FINDINGS, of_builds) if of_builds and advisory else None
    report = check(document, advisory=advisory, findings=None if text is None else from_text(text).findings)
    if report.verdict is not Verdict.REFUTED and within_limits(report):
        cache.write(ALL if advisory else REQUIRED, key, to_text(report))
        if of_builds and advisory and text is None:
            cache.write(FINDINGS, of_builds, to_text(report))
    return report


def to_text(report: Report) -> str:
    """Return a report as JSON from which it can be read again."""
    return json.dumps(_written(report))


def from_text(text: str) -> Report:
    """Return the report that `to_text` wrote."""
    return _read(json.loads(text))


def key_of(document: Document) -> Iterator[str]:
    """Yield what all depends on that is found out about a document: itself, its files, the compiler."""
    yield compiler()
    yield digest(document)
    yield document.source.file
    yield from (content(path) for path in files_of(document))
    yield from _parts_of_data(document)


def _parts_of_data(document: Document) -> Iterator[str]:
    """Yield, of data given in Python, the names, type, shape of each field, and the digest of its numbers."""
    held = document.observed if isinstance(document, Build) else ""
    for own in held.fields if isinstance(held, Data) and held.file == GIVEN else ():
        values = own.values
        yield f"{own.name} {own.columns} {values.dtype.str} {values.shape} {sha256(values.tobytes()).hexdigest()}"


def _key_of_findings(build: Build) -> Iterator[str]:
    """Yield what the claims about a build rest on: of its `run` the step size of minibatches alone, and all places."""
    yield compiler()
    yield compiled_digest(build)
    yield build.source.file
    yield repr(build.source.places)
    yield "" if build.has_exact_gradient else f"{build.stated_step_size} {build.run}"
    yield from (content(path) for path in files_of(build) if str(path) != build.source.file)
    yield from _parts_of_data(build)


def within_limits(report: Report) -> bool:
    """Whether every claim of a report ended by itself: with more time it would be the same."""
    return not any(isinstance(f.decision, Undecided) and f.decision.by_limit for f in report.findings)


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
