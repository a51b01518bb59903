"""A word where a build states one: by name, of a document of its own, or letter by letter with its pieces."""

from dataclasses import replace

from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.catalogue import EULER, NAMED
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.read_scheme import named_scheme, pieces_of
from recipe_compiler.spec.schema_scheme import WordEntry
from recipe_compiler.spec.validate import entry_name

SPLIT = "split"
"""What a word is called that has no name."""
Path = tuple[str | int, ...]


def read_word(page: Page, path: Path, entry: WordEntry, around: Around) -> Scheme:
    """Return the word that stands at a path, its pieces and flows with it; faults are added for what contradicts."""
    label = entry_name(path)
    stated = [key for key in ("name", "use", "split") if getattr(entry, key)]
    for key in stated[1:]:
        problem = f"found `{key}` beside `{stated[0]}`, expected one of them: each states the word"
        page.fault((*path, key), f"{label}.{key}", problem, f"leave out `{key}`, or `{stated[0]}`")
    word = _word(page, path, entry, around)
    for key, here, own in (("pieces", entry.pieces, word.pieces), ("flows", entry.flows, word.flows)):
        if here and own:
            problem = f"found {key}, expected none: {word.name} states its own"
            page.fault((*path, key), f"{label}.{key}", problem, "leave them out")
    pieces = pieces_of(entry.pieces) if entry.pieces else word.pieces
    return replace(word, pieces=pieces, flows=tuple(entry.flows.items()) or word.flows)


def _word(page: Page, path: Path, entry: WordEntry, around: Around) -> Scheme:
    """Return the word that is named, used or stated."""
    label = entry_name(path)
    if entry.name in EULER:
        problem = f"found {entry.name}, which has no word, expected one of {', '.join(NAMED)}"
        page.fault((*path, "name"), f"{label}.name", problem)
    elif entry.name is not None:
        return named_scheme(entry.name)
    if entry.use is not None:
        return part_of(page, (*path, "use"), Scheme, around) or Scheme(SPLIT)
    told = tuple(f"{label}.{key}" for key in ("name", "use", "split", "cycle"))
    if entry.split is None and not any(fault.entry.startswith(told) for fault in page.faults.found):
        hint = "a word of your own: `split: [B/2, A/2, O, A/2, B/2]`"
        page.fault(path, label, "found no `name`, no `use` and no word under `split`, expected one", hint)
    return Scheme(SPLIT, entry.split or ())
