"""The scheme of a build: one of Euler's, a word, or a cycle of moves."""

from collections.abc import Mapping
from dataclasses import replace

from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.spec.bind import unbound
from recipe_compiler.spec.build_parts import Around
from recipe_compiler.spec.catalogue import EULER
from recipe_compiler.spec.model import Dynamics, Scheme, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.read_cycle import check_cycle, read_cycle
from recipe_compiler.spec.read_involution import visible
from recipe_compiler.spec.read_scheme import place_of_keep
from recipe_compiler.spec.read_word import read_word
from recipe_compiler.spec.schema_build import BuildDocument, MoveEntry, SchemeEntry


def read_build_scheme(
    page: Page, document: BuildDocument, dynamics: Dynamics, target: Target, parameters: tuple[Parameter, ...],
    around: Around, parts: Mapping[int, int],
) -> Scheme:  # fmt: skip
    """Return the scheme that a build states; a fault is added for everything that does not fit together.

    `parts` says which of the parts that `use` lists the word of a move moves, by its place in a cycle.
    """
    at, entry = page["scheme"], document.scheme
    if entry.cycle is not None:
        free = unbound(dynamics, tuple(document.bind), parameters)
        known = visible(free, target.declarations.parameters)
        scheme = _cycle(at, entry, entry.cycle, around, known, target, parts)
        check_cycle(at["cycle"], scheme, dynamics, target, document.variant)
        return scheme
    if entry.name in EULER:
        return _euler(at, entry, dynamics)
    for block in entry.order[:1]:
        problem = f"found an order ({block}, ...), expected none: the word fixes the order"
        at["order"].fault(problem, "leave it out, or use sequential_euler")
    word = read_word(at, entry, around)
    keep = word.keep if entry.keep is None else place_of_keep(at["keep"], word.split, entry.keep)
    if keep and document.variant == "minibatch":
        problem = "found draws kept within the word with variant: minibatch, expected them at its end"
        hint = "the noise that a word subtracts is derived for its end; leave `keep` out"
        at["keep"].fault(problem, hint)
    return replace(word, keep=keep)


def _cycle(
    at: Page, entry: SchemeEntry, moves: list[MoveEntry], around: Around, known: Declarations, target: Target,
    parts: Mapping[int, int],
) -> Scheme:  # fmt: skip
    """Return a cycle; a fault is added for each key that says of a word, or of Euler's, what its moves say."""
    in_a_move = "a word goes into a move, with its pieces and flows"
    whys = {
        **dict.fromkeys(("name", "use", "split", "pieces", "flows"), in_a_move),
        "order": "the cycle fixes the order",
        "keep": "a cycle keeps draws at its end",
    }
    for key, why in whys.items():
        if getattr(entry, key) not in (None, [], {}):
            at[key].fault(f"found `{key}` beside `cycle`, expected none: {why}")
    return read_cycle(at["cycle"], moves, around, known, target, parts)


def _euler(at: Page, entry: SchemeEntry, dynamics: Dynamics) -> Scheme:
    """Return one of Euler's: a sequential one orders every block once, the simultaneous one none."""
    names = tuple(block.name for block in dynamics.declarations.blocks)
    order = tuple(entry.order)
    for key in ("use", "split", "pieces", "flows", "keep"):
        if getattr(entry, key) not in (None, {}):
            at[key].fault(f"found `{key}`, expected none: {entry.name} has no word")
    if entry.name == "euler" and order:
        hint = "leave it out, or use sequential_euler"
        at["order"].fault("found an order, expected none: euler updates all at once", hint)
    if entry.name == "sequential_euler" and sorted(order) != sorted(names):
        found = ", ".join(order) or "nothing"
        problem = f"found the order {found}, expected each block once: {', '.join(names)}"
        at["order"].fault(problem, "momenta first is the more accurate order")
    return Scheme(entry.name or "", order=order)
