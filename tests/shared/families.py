"""Families of documents in YAML files, each with its variants and what is expected of them (`tests/documents`)."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.verify.claims import DYNAMICS
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS

ROOT = Path(__file__).parents[2]
PARSED = ROOT / ".pytest_cache" / "documents"
CLAIMS = {row.id for row in (*DYNAMICS, *TARGETS, *SCHEMES, *BUILDS)}
VERDICTS = ("proved", "refuted", "undecided", "not proved", "not refuted", "absent", "")
OF_A_CLAIM = ("is", "place", "says", "unsaid", "residual", "witness", "data", "given", "for_d", "checked_at", "by")
OF_A_REPORT = ("is", "says", "unsaid")
OF_A_FAULT = ("place", "kind", "entry", "says", "hint")
SHARED = ("base", "file", "folder", "as", "files", "slow", "let")
OF_A_VARIANT = ("says", *SHARED, "replace", "everywhere", "add", "expect", "fault", "faults", "columns", "rows", "some")
CELLS = ("says", "file", "old", "new", "add", "expect", "fault", "faults")


class Text(str):
    """A scalar, with the line that it stands on."""

    line = 0


class Entries(dict[Text, Any]):
    """A mapping, with the line that it begins on."""

    line = 0


class MistakeError(Exception):
    """A file of documents that does not keep to its format."""


@dataclass(frozen=True)
class Variant:
    """A document and what is expected of it."""

    name: str
    place: str
    """File and line of the variant."""
    main: str
    texts: dict[str, str]
    """By name the text of the document, `main`, and of what lies beside it."""
    shipped: Path | None = None
    """The committed document that this is, without a change."""
    expect: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    faults: tuple[dict[str, Any], ...] | None = None
    """What loading finds; None where that is not what is asked."""
    slow: bool = False


def variants_in(folder: Path) -> Iterator[Variant]:
    """Yield the variants in all files of a folder. Raises MistakeError."""
    for file in sorted(folder.rglob("*.yaml")):
        yield from read_variants(file, file.relative_to(folder).with_suffix("").as_posix())


def read_variants(file: Path, name: str) -> Iterator[Variant]:
    """Yield the variants in a file, whose names begin with that of the file. Raises MistakeError."""
    for family in _parsed(file):
        keys = _Reader(file, name)
        shared = keys.known(family, (*SHARED, "variants"), ("variants",))
        for entries in keys.listed(shared.pop("variants")):
            joined = {key: {**shared.get(key, {}), **entries.get(key, {})} for key in ("files", "let")}
            merged = Entries(shared | joined)
            if {"base", "file"} & entries.keys():
                merged = Entries({key: value for key, value in merged.items() if key not in ("base", "file")})
            merged.update({key: value for key, value in entries.items() if key not in joined})
            merged.line = entries.line
            yield from keys.variants(keys.known(merged, OF_A_VARIANT, ("says",)))


def _parsed(file: Path) -> list[Any]:
    """Return what a file states, with lines; kept by its content, as parsing takes long."""
    text = file.read_bytes()
    kept = PARSED / f"{sha256(text + Path(__file__).read_bytes()).hexdigest()}.pickle"
    if not kept.exists():
        try:
            nodes = list(YAML(typ="safe", pure=True).compose_all(text.decode("utf-8")))
        except MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 0
            raise MistakeError(f"{file}:{line}: {error.problem}") from None
        stated = [_value(node, file) for node in nodes]
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, pickle.dumps(stated))
        return stated
    return pickle.loads(kept.read_bytes())


def _value(node: Node, file: Path) -> Any:
    line = node.start_mark.line + 1
    match node:
        case MappingNode(value=pairs):
            found = Entries()
            for key, value in pairs:
                stated = _value(key, file)
                if stated in found:
                    raise MistakeError(f"{file}:{stated.line}: found `{stated}` twice")
                found[stated] = _value(value, file)
        case SequenceNode(value=items):
            return [_value(item, file) for item in items]
        case ScalarNode(value=text):
            found = Text(text)
    found.line = line
    return found


@dataclass(frozen=True)
class _Reader:
    file: Path
    name: str

    def fail(self, at: object, problem: str) -> NoReturn:
        line = getattr(at, "line", 0)
        raise MistakeError(f"{self.file}:{line}: {problem}" if line else f"{self.file}: {problem}")

    def known(self, entries: Any, keys: Iterable[str], needed: Iterable[str] = ()) -> Entries:
        if not isinstance(entries, Entries):
            self.fail(entries, f"found `{entries}`, expected the keys {', '.join(keys)}")
        for key in entries:
            if key not in keys:
                self.fail(key, f"found the key `{key}`, expected one of {', '.join(keys)}")
        for key in needed:
            if key not in entries:
                self.fail(entries, f"found no `{key}`")
        return entries

    def listed(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            self.fail(value, f"found `{value}`, expected a list")
        return value

    def variants(self, entries: Entries) -> Iterator[Variant]:
        """Yield what an entry of `variants` states: itself, or one for each row of its table."""
        if ("columns" in entries) != ("rows" in entries):
            self.fail(entries, "found one of `columns` and `rows`, expected both or none")
        if "rows" not in entries:
            yield self.variant(entries, entries["says"])
            return
        columns, each = self.listed(entries["columns"]), int(entries.get("some", "1"))
        for k, row in enumerate(self.listed(entries["rows"])):
            cells = self.listed(row) if len(columns) > 1 or isinstance(row, list) else [row]
            if len(cells) != len(columns):
                self.fail(cells[0] if cells else entries, f"found {len(cells)} cells, expected {len(columns)}")
            whole = Entries({key: value for key, value in entries.items() if key not in ("columns", "rows", "some")})
            whole.line = getattr(cells[0], "line", entries.line)
            for column, cell in zip(columns, cells, strict=True):
                self.put(whole, column, cell)
            if k % each:
                whole[Text("slow")] = Text("true")
            shown = ", ".join(islice((str(cell) for cell in cells if isinstance(cell, str)), 3))
            shown = whole["says"] if "says" in columns else " ".join(shown.split())[:70]
            yield self.variant(whole, f"{entries['says']}: {shown}")

    def put(self, whole: Entries, column: Text, cell: Any) -> None:
        """Put a cell where its column says: a path into the variant, or a text to be replaced everywhere."""
        first, *path = column.split(".") if column.startswith(("expect.", "fault.", "files.")) else [str(column)]
        if first == "files":
            path = [column.removeprefix("files.")]
        elif not path and column not in CELLS:
            first, path = "everywhere", [str(column)]
        inside: Any = whole
        for key, below in zip([first, *path][:-1], path, strict=True):
            found = inside.get(key, {})
            inner = Entries(found if isinstance(found, dict) else {"place" if key == "fault" else "is": found})
            inner.line = whole.line
            inside[Text(key)] = inner
            inside, first = inner, below
        inside[Text(first)] = cell

    def variant(self, entries: Entries, name: str) -> Variant:
        whole = f"{self.name}::{name}"
        if ("base" in entries) == ("file" in entries):
            self.fail(entries, "expected one of `base` and `file`")
        named = f"{entries.get('folder', '')}/{entries.get('file', '')}".removesuffix(".yaml").lstrip("/") + ".yaml"
        committed = ROOT / named if "file" in entries else None
        if committed is not None and not committed.exists():
            self.fail(entries["file"], f"found no file {committed}")
        main = entries.get("as", committed.name if committed else "document.yaml")
        base = committed.read_text(encoding="utf-8") if committed else str(entries["base"])
        beside = {name: self.beside(stated) for name, stated in entries.get("files", {}).items()}
        texts = self.changed({main: base, **beside}, main, entries)
        expect = {claim: self.expected(claim, stated) for claim, stated in entries.get("expect", {}).items() if stated}
        faults = self.faults(entries)
        if not expect and faults is None:
            self.fail(entries, "expected one of `expect`, `fault` and `faults`")
        shipped = committed if len(texts) == 1 and texts[main] == base and faults is None else None
        if committed is not None and shipped is None:
            texts[main] = texts[main].replace("../", f"{committed.parents[1]}/")
        place, slow = f"{self.file}:{entries.line}", entries.get("slow") == "true"
        return Variant(whole, place, main, texts, shipped, expect, faults, slow)

    def beside(self, stated: Any) -> str:
        """Return the text of a file beside the document: as stated, or `{file: data.csv}`, that of a file beside us."""
        if isinstance(stated, str):
            return stated
        path = self.file.parent / self.known(stated, ("file",), ("file",))["file"]
        if not path.exists():
            self.fail(stated, f"found no file {path}")
        return path.read_text(encoding="utf-8")

    def changed(self, texts: dict[str, str], main: str, entries: Entries) -> dict[str, str]:
        """Return texts after `add`, `replace`, `old` and `new`, `everywhere` and `let`."""
        changed = texts | {main: texts[main] + entries.get("add", "")}
        once = {**entries.get("replace", {}), **({entries["old"]: entries["new"]} if entries.get("old") else {})}
        for old, new in once.items():
            count = sum(text.count(old) for text in changed.values())
            if count != 1:
                self.fail(old, f"found `{old}` {count} times, expected it once (or under `everywhere`)")
            changed = {name: text.replace(old, new) for name, text in changed.items()}
        for old, new in entries.get("everywhere", {}).items():
            if not any(old in text for text in changed.values()):
                self.fail(entries, f"found no `{old}` to be replaced")
            changed = {name: text.replace(old, new) for name, text in changed.items()}
        for old, new in entries.get("let", {}).items():
            changed = {name: text.replace(old, new) for name, text in changed.items()}
        return changed

    def expected(self, claim: Text, stated: Any) -> dict[str, Any]:
        if claim not in CLAIMS and claim not in ("report", "every"):
            self.fail(claim, f"found `{claim}`, expected a claim, `every` or `report`")
        entries = Entries({"is": stated}) if isinstance(stated, str) else stated
        self.known(entries, OF_A_REPORT if claim == "report" else OF_A_CLAIM)
        if entries.get("is", "") not in VERDICTS:
            self.fail(claim, f"found `{entries['is']}`, expected one of {', '.join(VERDICTS[:-1])}")
        return dict(entries)

    def faults(self, entries: Entries) -> tuple[dict[str, Any], ...] | None:
        if "faults" in entries:
            listed = self.listed(entries["faults"])
        elif "fault" not in entries or entries["fault"] == "none":
            return () if "fault" in entries else None
        else:
            listed = [entries["fault"]]
        found = [Entries({"place": one}) if isinstance(one, str) else one for one in listed]
        return tuple(dict(self.known(one, OF_A_FAULT)) for one in found)
