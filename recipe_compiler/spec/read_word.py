"""A word where a build states one: by name, of a document of its own, or letter by letter with its pieces."""

from dataclasses import replace

from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.catalogue import EULER, NAMED
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.read_scheme import named_scheme, pieces_of
from recipe_compiler.spec.schema_scheme import WordEntry

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
