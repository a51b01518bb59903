"""YAML parse events to nodes, with a bound on everything that can grow.

A document is UTF-8 of bounded size, without characters that deceive a reader.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from recipe_compiler.errors import Fault, Place, SpecError
from recipe_compiler.spec.fields import plain_name_problem, shown
from recipe_compiler.spec.schema import EACH_HAS
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Scalar, Sequence, rejoined_items, rejoined_values

MAX_BYTES = 1_000_000
_LINE_BREAKS = "\x85\u2028\u2029"
"""Characters that YAML takes for a new line and editors do not."""

_BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Controls that make text look other than it is."""

_COLON = "could not find expected ':'"
_IN_A_VALUE, _BLOCK_END = "mapping values are not allowed", "expected <block end>"
_AT_BEGINNING = (_COLON, "expected ',' or ']'", "expected ',' or '}'", "found unexpected end of stream")
"""What YAML sees only after it: the line meant is the one that it begins on."""

_TRAPS = (
    (_IN_A_VALUE, "a value holds `: `", "quote the formula"),
    ("sequence entries are not allowed", "a value starts with `- `", "write the minus next to its term, or quote it"),
    ("expected chomping or indentation", "a value starts with `|` or `>`", "write abs(x), or quote the formula"),
    ("found character '\\t'", "a tab is used as indentation", "indent with spaces"),
    ("cannot start any token", "a value starts with a character that YAML keeps for itself", "quote the formula"),
    ("expected ',' or ']'", "a list is not closed, or an entry holds `[`", "close it with `]`, or quote the entry"),
    ("expected ',' or '}'", "a mapping is not closed, or a value holds `{`", "close it with `}`, or quote the value"),
    (_COLON, "a line is no `key: value`", "write `key: value`"),
    (_BLOCK_END, "the indentation does not fit the lines above", "start all keys of a part in one column"),
    ("expected alphabetic or numeric", "a value starts with `*` or `&`", "quote the formula"),
    ("unexpected end of stream", "a quotation mark is not closed", "close it"),
    ("found unexpected end", "a quotation mark is not closed", "close it"),
)
_KEY = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*:", re.ASCII)
_WORD = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)(?![A-Za-z0-9_])", re.ASCII)
_ALONE = re.compile(r"(\s*)[A-Za-z][A-Za-z0-9_]*\s*$", re.ASCII)
_NESTED = re.compile(r"\s*(\w+): (\w+: \w+)\s*")
_LISTS = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*): *\[.*\],\s*$", re.ASCII)
_NO_SPACE = re.compile(r"([A-Za-z][A-Za-z0-9_]*):[\[{]", re.ASCII)
_NO_COLON = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\s*[\[{]|\s+\S)", re.ASCII)
_UNFINISHED = (
    (_NO_COLON, "colon after", "colon after the key"),
    (_NO_SPACE, "space after the colon of", "space after the colon"),
)
MAX_NESTING = 50
TOO_DEEP = f"found nesting deeper than {MAX_NESTING}, expected a flat document"
MAX_NODES = 25_000
MAX_ENTRIES = 1_000
"""Keys of one mapping: a state of more blocks has a D too large for any formula."""
KEPT = 128
"""Documents whose nodes are kept: parsing takes most of reading one, and several builds name the same dynamics."""


def document_text(data: bytes, file: str) -> str:
    """Return the text of a document, with line feeds as the only line ends and without a byte order mark.

    Raises SpecError for more than 1 MB, bytes that are not UTF-8, control characters.
    """
    if len(data) > MAX_BYTES:
        _refuse(
            Place(file), f"found more than {MAX_BYTES:,} bytes, expected at most that", "put arrays into .npy files"
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse(Place(file, 1), "found UTF-16, expected UTF-8", "save the file as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode("utf-8", "replace"))
        found = f"found the byte 0x{data[error.start]:02x}, expected UTF-8"
        _refuse(Place(file, line, column), found, "save the file as UTF-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for at, character in enumerate(text):
        if _forbidden(character):
            line, column = _position(text[:at])
            problem = f"found the character U+{ord(character):04X}, expected printable text"
            _refuse(Place(file, line, column), problem, "remove it: editors do not show it")
    return text


def _forbidden(character: str) -> bool:
    if " " <= character <= "~":
        return False
    if character in "\t\n":
        return False
    return character < " " or character in _LINE_BREAKS or character in _BIDIRECTIONAL or "\x7f" <= character <= "\x9f"


def _position(before: str) -> tuple[int, int]:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1


def _refuse(where: Place, problem: str, hint: str) -> NoReturn:
    raise SpecError([Fault(where, "document", problem, hint)])


def explain(problem: str) -> tuple[str, str]:
    """Return problem and hint for a message of the YAML parser."""
    for part, meaning, hint in _TRAPS:
        if part in problem:
            return f"found what YAML cannot read ({problem}): {meaning}", hint
    return f"found what YAML cannot read ({problem})", "check quotes, brackets and indentation"


@lru_cache(maxsize=KEPT)
def read_yaml(data: bytes, file: str) -> Mapping:
    """Return the one mapping a document consists of; the same one for the same bytes of the same file.

    Raises SpecError with every fault of the YAML itself: tags, anchors, aliases, duplicate keys (both lines named),
    more than one document, nesting deeper than 50, more than 25,000 values, more than 1,000 keys in one mapping.
    """
    text = document_text(data, file)
    reader, root = _Reader(text, file), None
    for number, line in enumerate(reader.lines, 1):
        if line.count("[") + line.count("{") > 2 * MAX_NESTING and _depth(line) > MAX_NESTING:
            # The scanner looks ahead along a line, in time that grows with the square of its depth.
            reader.refuse(Place(file, number, 1), TOO_DEEP)
    try:
        root = reader.root()
    except MarkedYAMLError as error:
        mark, begins = error.problem_mark or error.context_mark, error.context_mark
        is_late = any(part in str(error.problem) for part in _AT_BEGINNING)
        if is_late and mark is not None and begins is not None and begins.line < mark.line:
            mark = begins
        where = Place(file) if mark is None else Place(file, mark.line + 1, mark.column + 1)
        reader.fault(*reader.explained(where, " ".join(str(error.problem or error.context).split())))
    except YAMLError as error:
        reader.fault(Place(file), *explain(" ".join(str(error).split())))
    if reader.faults:
        raise SpecError(reader.faults)
    return _mapping(root, file)


def _mapping(root: Node | None, file: str) -> Mapping:
    hint = f"{EACH_HAS}; `recipe new NAME` writes commented dynamics"
    match root:
        case None:
            found, where = "an empty file", Place(file)
        case Mapping():
            return root
        case Scalar(text=text, place=where):
            found = "nothing" if text in ("", "null", "~") else "a bare text"
        case _:
            found, where = "a list", root.place
    raise SpecError([Fault(where, "document", f"found {found}, expected keys with values", hint)])


def _depth(line: str) -> int:
    """Return how deep the brackets of one line nest, quotes left out of account."""
    deepest = depth = 0
    for character in line:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    return deepest


class _Reader:
    """Builds nodes from events."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines = text.split("\n")
        self.events: Iterator[Event] = YAML(typ="safe", pure=True).parse(text)
        self.faults: list[Fault] = []
        self.keys: list[Node] = []
        """Those that lead to where the reader stands."""
        self.nodes = 0

    def fault(self, where: Place, problem: str, hint: str = "") -> None:
        self.faults.append(Fault(where, self.entry(where), problem, hint))

    def entry(self, where: Place) -> str:
        """Return the keys that lead to where the reader stands; the key on the line, if it has not got that far."""
        keys = [key for key in self.keys if (key.place.line, key.place.column) <= (where.line, where.column)]
        keys = [key for key in keys if key.place.column < where.column or key.place.line == where.line]
        names = [shown(key.text) for key in keys if isinstance(key, Scalar)]
        on_line = _KEY.match(self.line(where))
        return ".".join(names or ([] if on_line is None else [on_line[1]])) or "document"

    def line(self, where: Place) -> str:
        return self.lines[where.line - 1] if 0 < where.line <= len(self.lines) else ""

    def explained(self, where: Place, found: str) -> tuple[Place, str, str]:
        """Return where a message of the YAML parser is about, what is wrong there, and what to do."""
        problem, hint = explain(found)
        line = self.line(where)
        if _COLON in found:
            return where, problem, self.missing_colon(where)
        if _IN_A_VALUE in found and (bare := self.bare_key_above(where.line)) is not None:
            return bare, "found a line that is no `key: value`", self.missing_colon(bare)
        if _IN_A_VALUE in found and (nested := _NESTED.fullmatch(line)) is not None:
            return where, problem, f"write `{nested[1]}: {{{nested[2]}}}`"
        if _BLOCK_END in found and line[where.column - 1 : where.column] in ("]", "}"):
            return where, f"found `{line[where.column - 1]}`, which closes no bracket", "leave it out"
        if _BLOCK_END in found and (list_ := _LISTS.match(line)) is not None:
            key, rows = list_[1], line[list_.end(1) + 1 :].strip()
            hint = f"put one more pair of brackets around its rows: `{key}: [{rows} ...]`"
            return where, f"found more after the list of `{key}`, expected its end", hint
        return where, problem, hint

    def bare_key_above(self, line: int) -> Place | None:
        """Return the word that stands alone on the line above one that is farther in; None where there is none."""
        above = next((k for k in range(line - 1, 0, -1) if self.lines[k - 1].strip()), 0)
        found = _ALONE.match(self.lines[above - 1]) if above else None
        if found is None or len(found[1]) >= len(self.lines[line - 1]) - len(self.lines[line - 1].lstrip()):
            return None
        return Place(self.file, above, len(found[1]) + 1)

    def missing_colon(self, where: Place) -> str:
        """Return where a line lacks its colon: behind its first word."""
        line = self.line(where)
        found = _WORD.match(line)
        if found is None:
            return "write `key: value`"
        is_close = line[found.end() :].startswith(":")
        return f"put a {'space after the colon' if is_close else 'colon after the key'}: `{found[1]}: ...`"

    def check_key(self, event: ScalarEvent) -> None:
        """Refuse a key that holds the beginning of its value, `theta {shape: d}`: it has no colon of its own."""
        for pattern, lacks, put in _UNFINISHED:
            if event.style is None and (found := pattern.match(event.value)):
                problem = f"found no {lacks} `{found[1]}`, expected `key: value`"
                self.refuse(self.place(event), problem, f"put a {put}: `{found[1]}: ...`")

    def root(self) -> Node | None:
        """Return the one document; None of a text that holds none."""
        root: Node | None = None
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                if root is not None:
                    self.refuse(
                        self.place(event), "found a second document after `---`, expected one", "split the file"
                    )
                root = self.node(next(self.events), 0)
        return root

    def node(self, event: Event, depth: int) -> Node:
        """Return the node that begins with an event, so many lists and mappings deep."""
        where = self.place(event)
        self.check(event, where, depth)
        if isinstance(event, ScalarEvent):
            return self.scalar(event)
        if not isinstance(event, MappingStartEvent | SequenceStartEvent):
            return Scalar("", where, plain=False)
        if isinstance(event, MappingStartEvent):
            return self.mapping(where, depth, in_flow=bool(event.flow_style))
        items: list[Node] = []
        while not isinstance(item := next(self.events), SequenceEndEvent):
            items.append(self.node(item, depth + 1))
        return Sequence(rejoined_items(items) if event.flow_style else tuple(items), where)

    def mapping(self, where: Place, depth: int, *, in_flow: bool) -> Mapping:
        pairs: list[tuple[Node, Node]] = []
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self.node(event, depth + 1)
            if isinstance(event, ScalarEvent):
                self.check_key(event)
            if len(pairs) == MAX_ENTRIES:
                problem = f"found more than {MAX_ENTRIES:,} entries, expected at most that"
                hint = (
                    "blocks have a shape: `theta: {shape: d}` is d coordinates at once, and D of any size stays short"
                )
                self.refuse(where, problem, hint)
            self.keys.append(key)
            if isinstance(key, Scalar) and key.plain and (unclear := plain_name_problem(key.text)):
                self.fault(key.place, *unclear)
            pairs.append((key, self.node(next(self.events), depth + 1)))
            self.keys.pop()
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key, value in rejoined_values(pairs) if in_flow else pairs:
            if not isinstance(key, Scalar):
                problem = "found a list or mapping as a key, expected a name"
                self.faults.append(Fault(key.place, "document", problem))
            elif key.text in entries:
                lines = f"on lines {entries[key.text][0].place.line} and {key.place.line}"
                problem = f"found the key `{key.text}` twice, {lines}, expected it once"
                self.faults.append(Fault(key.place, key.text, problem, "remove one of them"))
            else:
                entries[key.text] = key, value
        return Mapping(tuple(entries.values()), where)

    def check(self, event: Event, where: Place, depth: int) -> None:
        """Refuse what a specification has no use for, and what would exhaust the reader."""
        self.nodes += 1
        if depth >= MAX_NESTING:
            self.refuse(where, TOO_DEEP)
        if self.nodes > MAX_NODES:
            found = f"found more than {MAX_NODES:,} values, expected at most that"
            self.refuse(where, found, "put large arrays into .npy files")
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, AliasEvent):
            hint = f"quote the value if `*{anchor}` belongs to a formula, else write it out"
            self.fault(where, f"found `*{anchor}`, an alias of YAML, expected a value", hint)
        elif anchor is not None:
            hint = f"quote the value if `&{anchor}` belongs to a formula, else remove it"
            self.fault(where, f"found `&{anchor}`, an anchor of YAML, expected a value", hint)
        if tag is not None and not isinstance(event, AliasEvent):
            written = shown(self.lines[where.line - 1][where.column - 1 :].split(" ")[0])
            hint = "remove it: nothing is constructed"
            self.fault(where, f"found the tag `{written}`, expected a value without a tag", hint)
        if len(self.faults) >= 20:
            raise SpecError(self.faults)

    def refuse(self, where: Place, problem: str, hint: str = "") -> NoReturn:
        """Add a fault, and read no further."""
        self.fault(where, problem, hint)
        raise SpecError(self.faults)

    def place(self, event: Event) -> Place:
        return Place(self.file, event.start_mark.line + 1, event.start_mark.column + 1)

    def scalar(self, event: ScalarEvent) -> Scalar:
        where, style = self.place(event), event.style
        text = event.value.removesuffix("\n") if style in ("|", ">") else event.value
        comment = self.comment(event) if style is None else ""
        return Scalar(text, where, style is None, tuple(self.pieces(event, text)), comment)

    def comment(self, event: ScalarEvent) -> str:
        """Return the comment right after a plain scalar, on its last line."""
        rest = self.lines[event.end_mark.line][event.end_mark.column :] if event.end_mark.line < len(self.lines) else ""
        return rest.strip() if rest.lstrip(" ").startswith("#") and rest != rest.lstrip(" ") else ""

    def pieces(self, event: ScalarEvent, text: str) -> Iterator[tuple[int, Place]]:
        """Yield where the text of a scalar stands in the file, line by line."""
        first, last = event.start_mark, event.end_mark
        cursor = 0
        for number in range(first.line, min(last.line, len(self.lines) - 1) + 1):
            if number == first.line and event.style in ("|", ">"):
                continue
            begin = first.column + (event.style is not None) if number == first.line else 0
            line = self.lines[number][begin : last.column if number == last.line else None]
            piece = line.strip()
            if event.style in ("'", '"') and number == last.line:
                piece = piece[:-1].rstrip()
            at = text.find(piece, cursor) if piece else -1
            if at >= 0:
                yield at, Place(self.file, number + 1, begin + len(line) - len(line.lstrip()) + 1)
                cursor = at + len(piece)
