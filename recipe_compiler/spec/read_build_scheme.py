"""The scheme of a build: Euler's by name, a word by name, that of a document, or a word with its pieces."""

from dataclasses import replace

from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.model import Dynamics, Scheme
from recipe_compiler.spec.named_schemes import EULER
from recipe_compiler.spec.read_scheme import named_scheme, pieces_of, place_of_keep
from recipe_compiler.spec.schema import BuildDocument, SchemeEntry

SPLIT = "split"
"""What a word is called that has no name."""


def read_build_scheme(page: Page, document: BuildDocument, dynamics: Dynamics, around: Around) -> Scheme:
    """Return the scheme that a build states; a fault is added for everything that does not fit together."""
    entry = document.scheme
    stated = [key for key, held in (("name", entry.name), ("use", entry.use), ("split", entry.split)) if held]
    for key in stated[1:]:
        problem = f"found `{key}` beside `{stated[0]}`, expected one of them: each states the word"
        page.fault(("scheme", key), f"scheme.{key}", problem, f"leave out `{key}`, or `{stated[0]}`")
    if entry.name in EULER:
        return _euler(page, entry, dynamics)
    for block in entry.order[:1]:
        problem = f"found an order ({block}, ...), expected none: a word says what is done when"
        page.fault(("scheme", "order"), "scheme.order", problem, "leave it out, or use sequential_euler")
    word = _with_pieces(page, entry, _word(page, entry, around))
    keep = word.keep if entry.keep is None else place_of_keep(page, ("scheme", "keep"), word.split, entry.keep)
    if keep and document.variant == "minibatch":
        problem = "found draws kept within the word with variant: minibatch, expected them at its end"
        hint = "what a word gives up for the noise of the gradient is derived for its end; leave `keep` out"
        page.fault(("scheme", "keep"), "scheme.keep", problem, hint)
    return replace(word, keep=keep)


def _word(page: Page, entry: SchemeEntry, around: Around) -> Scheme:
    """Return the word that is named, used or stated."""
    if entry.name is not None:
        return named_scheme(entry.name)
    if entry.use is not None:
        return part_of(page, ("scheme", "use"), Scheme, around) or Scheme(SPLIT)
    told = {f"scheme.{key}" for key in ("name", "use", "split")}
    if entry.split is None and not any(fault.entry in told for fault in page.faults.found):
        hint = "a word of your own: `split: [B/2, A/2, O, A/2, B/2]`"
        page.fault(("scheme",), "scheme", "found no `name`, no `use` and no word under `split`, expected one", hint)
    return Scheme(SPLIT, entry.split or ())


def _with_pieces(page: Page, entry: SchemeEntry, word: Scheme) -> Scheme:
    """Return a word with the pieces and the flows that the build states for it."""
    for key, stated, own in (("pieces", entry.pieces, word.pieces), ("flows", entry.flows, word.flows)):
        if stated and own:
            path = ("scheme", key)
            page.fault(
                path, ".".join(path), f"found {key}, expected none: {word.name} states its own", "leave them out"
            )
    pieces = pieces_of(entry.pieces) if entry.pieces else word.pieces
    return replace(word, pieces=pieces, flows=tuple(entry.flows.items()) or word.flows)


def _euler(page: Page, entry: SchemeEntry, dynamics: Dynamics) -> Scheme:
    """Return one of Euler's: a sequential one orders every block once, the simultaneous one none."""
    names = tuple(block.name for block in dynamics.declarations.blocks)
    order = tuple(entry.order)
    for key, held in (("pieces", entry.pieces), ("flows", entry.flows), ("keep", entry.keep)):
        if held:
            page.fault(("scheme", key), f"scheme.{key}", f"found `{key}`, expected none: {entry.name} has no word")
    if entry.name == "euler" and order:
        hint = "leave it out, or use sequential_euler"
        page.fault(
            ("scheme", "order"), "scheme.order", "found an order, expected none: euler updates all at once", hint
        )
    if entry.name == "sequential_euler" and sorted(order) != sorted(names):
        found = ", ".join(order) or "nothing"
        problem = f"found the order {found}, expected each block once: {', '.join(names)}"
        page.fault(("scheme", "order"), "scheme.order", problem, "momenta first is the more accurate order")
    return Scheme(entry.name or "", order=order)
