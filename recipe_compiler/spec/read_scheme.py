"""Schemes from their documents, and words where a build states one: by name, of a document, or letter by letter."""

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from recipe_compiler.errors import CompilerError, Fault, SpecError, nearest
from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.catalogue import EULER, NAMED, SCHEMES
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.model import Scheme, Selection, Source, WordClaims
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.places import source_of
from recipe_compiler.spec.schema_scheme import SchemeDocument, SelectionEntry, WordEntry
from recipe_compiler.spec.validate import validate
from recipe_compiler.spec.words import DEFAULT, Word, letters, no_pieces
from recipe_compiler.spec.yaml_nodes import Mapping
from recipe_compiler.spec.yaml_reader import read_yaml


def read_scheme(root: Mapping, file: str) -> Scheme:
    """Return the scheme a document states. Raises SpecError or ModelError with every fault."""
    faults = Faults()
    page = Page(root, faults)
    if (cycle := root.key("cycle")) is not None:
        problem = "found `cycle` in the document of a scheme, expected `split`: a scheme is a word, for any dynamics"
        hint = "a cycle names blocks of certain dynamics: it goes into a build, `scheme: {cycle: [...]}`"
        raise SpecError([Fault(cycle.place, "cycle", problem, hint)])
    document = validate(root, SchemeDocument, faults)
    if document.name in EULER:
        problem = f"found the name `{document.name}` of a step without a word, expected another"
        page["name"].fault(problem)
    check_letters(page, document)
    keep = place_of_keep(page["keep"], document.split, document.keep)
    faults.finish()
    stated = document.claims
    claims = WordClaims(stated.order, stated.palindrome, stated.gradients, stated.configurational == "exact")
    return Scheme(
        document.name,
        document.split,
        pieces_of(document.pieces),
        tuple(document.flows.items()),
        keep=keep,
        claims=claims,
        source=source_of(root, file),
    )


def pieces_of(entries: Table[str, Sequence[SelectionEntry]]) -> tuple[tuple[str, tuple[Selection, ...]], ...]:
    """Return what every piece selects, as it is stated."""
    return tuple((name, tuple(map(_selection, own))) for name, own in entries.items())


def _selection(entry: SelectionEntry) -> Selection:
    return Selection(entry.D, entry.Q, entry.H, entry.Gamma or ())


def check_letters(page: Page, document: SchemeDocument) -> None:
    """Add a fault for each letter that is none of the pieces, and for each flow of no letter.

    Where none are stated a build may state them. One piece alone is the whole recipe, which a document can state of all
    dynamics, or what follows from dynamics that have one of A, B and O only: `split: BAOAB` is no word of five letters.
    """
    pieces = tuple(document.pieces)
    used = tuple(dict.fromkeys(letter.piece for letter in letters(document.split)))
    for name in document.flows:
        if name not in used:
            problem = f"found a flow for {name}, expected one of the word's pieces: {', '.join(used)}"
            page["flows"].fault(problem, nearest(name, used))
    if not pieces and len(used) == 1 and used[0] not in DEFAULT:
        for problem, hint in no_pieces(used, document.split, DEFAULT):
            page["split"].fault(problem, hint)
    for name in used:
        if pieces and name not in pieces:
            problem = f"found the letter {name}, expected one of the pieces that are stated: {', '.join(pieces)}"
            page["split"].fault(problem, nearest(name, pieces))


def place_of_keep(at: Page, word: Word, keep: int | str | None) -> int:
    """Return after how many letters draws are kept, 0 at the end; a fault is added where the word has no such place."""
    pieces = [letter.piece for letter in letters(word)]
    if keep is None or not pieces:
        return 0
    found = keep if isinstance(keep, int) else pieces.index(keep) + 1 if pieces.count(keep) == 1 else None
    if found is None or found > len(pieces):
        problem = f"found {keep} in a word of {len(pieces)} letters ({', '.join(dict.fromkeys(pieces))})"
        hint = "a piece that occurs once, or the place of a letter counted from 1; left out: the end"
        at.fault(f"{problem}, expected one of its letters", hint)
        return 0
    return found % len(pieces)


@cache
def named_scheme(name: str) -> Scheme:
    """Return the scheme that the compiler knows by a name; it is no part of the build that names it.

    Raises:
        CompilerError: its document is not what it should be.
    """
    path = SCHEMES / f"{name}.yaml"
    found = read_scheme(read_yaml(path.read_bytes(), str(path)), str(path))
    if found.name != name:
        raise CompilerError(f"{path} is not the scheme {name}")
    return replace(found, source=Source("", "{}"))


SPLIT = "split"
"""What a word is called that has no name."""


def read_word(at: Page, entry: WordEntry, around: Around) -> Scheme:
    """Return the word that stands at a place, its pieces and flows with it; faults are added for what contradicts."""
    stated = [key for key in ("name", "use", "split") if getattr(entry, key)]
    for key in stated[1:]:
        problem = f"found `{key}` beside `{stated[0]}`, expected one of them: each states the word"
        at[key].fault(problem, f"leave out `{key}`, or `{stated[0]}`")
    word = _word(at, entry, around)
    for key, here, own in (("pieces", entry.pieces, word.pieces), ("flows", entry.flows, word.flows)):
        if here and own:
            problem = f"found {key}, expected none: {word.name} states its own"
            at[key].fault(problem, "leave them out")
    pieces = pieces_of(entry.pieces) if entry.pieces else word.pieces
    return replace(word, pieces=pieces, flows=tuple(entry.flows.items()) or word.flows)


def _word(at: Page, entry: WordEntry, around: Around) -> Scheme:
    """Return the word that is named, used or stated."""
    if entry.name in EULER:
        problem = f"found {entry.name}, which has no word, expected one of {', '.join(NAMED)}"
        at["name"].fault(problem)
    elif entry.name is not None:
        return named_scheme(entry.name)
    if entry.use is not None:
        return part_of(at["use"], Scheme, around) or Scheme(SPLIT)
    told = tuple(at[key].label for key in ("name", "use", "split", "cycle"))
    if entry.split is None and not any(fault.entry.startswith(told) for fault in at.faults.found):
        hint = "a word of your own: `split: [B/2, A/2, O, A/2, B/2]`"
        at.fault("found no `name`, no `use` and no word under `split`, expected one", hint)
    return Scheme(SPLIT, entry.split or ())
