"""The scheme of a build: Euler's by name, a named word, or a word with its pieces."""

from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.model import Dynamics, Scheme, Selection
from recipe_compiler.spec.named_words import EULER, NAMED
from recipe_compiler.spec.schema import BuildDocument, SchemeEntry, SelectionEntry

SPLIT = "split"
"""What a word is called that has no name."""


def read_scheme(page: Page, document: BuildDocument, dynamics: Dynamics) -> Scheme:
    """Return the scheme that a build states; a fault is added for everything that does not fit together."""
    entry = document.scheme
    if entry.split is None and entry.name in EULER:
        return _euler(page, entry, dynamics)
    for block in entry.order[:1]:
        problem = f"found an order ({block}, ...), expected none: a word says what is done when"
        page.fault(("scheme", "order"), "scheme.order", problem, "leave it out, or use sequential_euler")
    if document.variant == "minibatch":
        hint = "what a word gives up for the noise of the gradient is not derived; use sequential_euler"
        page.fault(("scheme",), "scheme", "found a word with variant: minibatch, expected full", hint)
    pieces = tuple((name, tuple(map(_selection, own))) for name, own in entry.pieces.items())
    named = NAMED.get(entry.name or "")
    if entry.split is None and named is not None:
        return Scheme(entry.name or "", named, pieces)
    if entry.split is None:
        hint = "a word of your own: `split: [B/2, A/2, O, A/2, B/2]`"
        if not any(fault.entry == "scheme.split" for fault in page.faults.found):
            page.fault(("scheme",), "scheme", "found neither a `name` nor a word under `split`, expected one", hint)
    elif entry.name is not None:
        problem = f"found the name `{entry.name}` beside a word, expected one or the other"
        page.fault(("scheme", "name"), "scheme.name", problem, "leave the name out, or `split`")
    return Scheme(SPLIT, entry.split or (), pieces)


def _euler(page: Page, entry: SchemeEntry, dynamics: Dynamics) -> Scheme:
    """Return one of Euler's: a sequential one orders every block once, the simultaneous one none."""
    names = tuple(block.name for block in dynamics.declarations.blocks)
    order = tuple(entry.order)
    if entry.pieces:
        page.fault(("scheme", "pieces"), "scheme.pieces", f"found pieces, expected none: {entry.name} has one drift")
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


def _selection(entry: SelectionEntry) -> Selection:
    return Selection(entry.D, entry.Q, entry.H, entry.Gamma or ())
