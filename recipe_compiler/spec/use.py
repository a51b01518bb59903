"""`use` and `of` in a move of a cycle: the dynamics whose D and Q a word follows, and the blocks that it moves.

The build's dynamics become those that the word follows before anything is derived of them: the D and Q of the dynamics
used, with their blocks as they are called here, P D P and P Q P where blocks of the target are held, and the build's H.
So every later stage, and every claim, is about the one equation that is integrated.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from recipe_compiler.errors import nearest
from recipe_compiler.formula.block_matrices import Matrix, zeros
from recipe_compiler.formula.declaration import Declarations, Function, Parameter, by_name, unused
from recipe_compiler.formula.expression import Apply, Formula, Number, Role, Symbol
from recipe_compiler.formula.rebuild import is_zero, matrix_product
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.formula.show import text
from recipe_compiler.spec.build_checks import coordinates, potential_blocks, with_sizes_of_columns
from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.clashing_names import renamed
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.declarations import domain_text
from recipe_compiler.spec.found_q import entry_of, texts
from recipe_compiler.spec.model import Claims, Dynamics, Moved, Source, Target, Use, Value
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.places import canonical_json, placed
from recipe_compiler.spec.schema_build import BuildDocument, WordStated


def as_called_here(
    dynamics: Dynamics, other: Dynamics, blocks: Mapping[str, str], sizes: Mapping[str, Size]
) -> Dynamics:
    """Return other dynamics with the names that blocks, their potential and sizes have in those of a build.

    What their document claims is about them by themselves, and is left out.

    Args:
        dynamics: the build's.
        other: those used.
        blocks: each block of those used to what it is called in the build's.
        sizes: each of their sizes to what it is in the build's.

    Raises:
        ModelError: a formula that differentiates by a block which is called otherwise.
    """
    here = by_name(dynamics.declarations.blocks)
    letters = {old: new for old, new in sizes.items() if isinstance(new, str)}
    numbers = {old: Number(Fraction(new)) for old, new in sizes.items() if isinstance(new, int)}
    potentials = {other.potential or "": dynamics.potential or other.potential or ""}
    with placed(other.source, "H"):
        given = renamed(replace(other, claims=Claims()), {**blocks, **letters, **potentials}, numbers)
    own = tuple(here[blocks[block.name]] for block in other.declarations.blocks)
    return replace(given, declarations=replace(given.declarations, blocks=own))


def followed(dynamics: Dynamics, given: Dynamics, use: Use) -> Dynamics:
    """Return the dynamics of a build with P D P and P Q P of those used, H its own.

    What the build's document claims of its drift, or of a step, is about its own D and Q, and is left out; that of H
    stays. The energy of other dynamics is kept beside it, to be compared (`verify/moves/use.py`).

    Args:
        dynamics: the build's.
        given: those used, as they are called here.
        use: what the move says of them.
    """
    own, (theta,) = dynamics.declarations, potential_blocks(dynamics)
    mask = tuple(Parameter(name, theta.shape) for name in use.masks)
    parameters = tuple(item for item in given.declarations.parameters if own.find(item.name) is None)
    functions = tuple(item for item in given.declarations.functions if own.find(item.name) is None)
    assumed = tuple(condition for condition in given.declarations.assume if condition not in own.assume)
    energy = None if use.document is None else given.H
    made = replace(
        dynamics,
        declarations=Declarations(
            own.blocks, (*own.parameters, *parameters, *mask), (*own.functions, *functions), own.data,
            (*own.assume, *assumed),
        ),
        D=_placed(dynamics, given, given.D or (), use),
        Q=_placed(dynamics, given, given.Q or (), use),
        claims=Claims(marginal=dynamics.claims.marginal, energy=energy),
        units=(),
    )  # fmt: skip
    return replace(made, source=_stated(made, (*parameters, *mask), functions))


def _placed(dynamics: Dynamics, given: Dynamics, matrix: Matrix, use: Use) -> Matrix:
    """Return P A P over the blocks of a build, zero in the places of blocks that those used do not have."""
    blocks, (theta,) = dynamics.declarations.blocks, potential_blocks(dynamics)
    order = {block.name: n for n, block in enumerate(given.declarations.blocks)}
    P = _projection(theta.shape, use.parts[0].mask)
    found = [list(row) for row in zeros(blocks)]
    for i, row in enumerate(blocks):
        for j, col in enumerate(blocks):
            if row.name not in order or col.name not in order:
                continue
            entry = matrix[order[row.name]][order[col.name]]
            shape = entry.shape
            if P is not None and not is_zero(entry):
                entry = matrix_product(P, entry, shape) if row == theta else entry
                entry = matrix_product(entry, P, shape) if col == theta else entry
            found[i][j] = entry
    return tuple(map(tuple, found))


def _projection(shape: Shape, mask: str) -> Formula | None:
    """Return P = diag(moved); None where it is the identity."""
    if not mask:
        return None
    return Apply("diag", (Symbol(mask, shape, Role.PARAMETER),), Shape(shape.rows, shape.rows))


def mask_value(moved: Moved) -> Value:
    """Return the value of the parameter of P: 1 for each coordinate that is moved, 0 for those that are held."""
    return Value(tuple((Fraction(int(row)),) for row in moved.rows))


def _stated(made: Dynamics, parameters: tuple[Parameter, ...], functions: tuple[Function, ...]) -> Source:
    """Return the document that says what dynamics are followed: the build's own with what differs put in."""
    document: dict[str, Any] = json.loads(made.source.document)
    document |= {name: texts(matrix) for name, matrix in (("D", made.D), ("Q", made.Q))}
    entries = [[item.name, entry_of(item)] for item in parameters]
    document["parameters"] = [*document.get("parameters", []), *entries]
    more = [[f.name, {"of": list(f.of), **entry_of(f)}] for f in functions]
    document["functions"] = [*document.get("functions", []), *more]
    if made.declarations.assume:
        document["assume"] = [text(condition) for condition in made.declarations.assume]
    claimed = document.pop("claims", {})
    document.pop("units", None)
    if "marginal" in claimed:
        document["claims"] = {"marginal": claimed["marginal"]}
    return replace(made.source, document=canonical_json(document))


MASK = "moved"
"""What the parameter of P is called, with underscores behind it where that is another name."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """What the word of one move follows, and the blocks of the target that it moves."""

    at: Page
    document: Dynamics | None
    """The dynamics that it names; None where it follows the build's own."""
    blocks: Mapping[str, str]
    """Their blocks to what they are called in the build's."""
    moved: tuple[str, ...]


def with_use(
    page: Page, document: BuildDocument, dynamics: Dynamics, target: Target, around: Around
) -> tuple[Dynamics, Use | None, Mapping[int, int]]:
    """Return the dynamics that the word of a build's cycle follows, what it uses, and which part of it each move does.

    The dynamics as they are, None and nothing where no move says anything of it, or a fault was added: one is for
    everything of it that does not fit together. Moves are named by their places in the cycle.
    """
    nothing = dynamics, None, dict[int, int]()
    moves = document.scheme.words
    if not any(entry.of for entry in moves.values()):
        return nothing
    before = len(page.faults.found)
    at = page["scheme", "cycle"]
    every = [_followed(at[place], entry, dynamics, target, around) for place, entry in moves.items()]
    words = [own for own in every if own is not None]
    if len(words) < len(every) or len(page.faults.found) > before or not _are_one(words, dynamics):
        return nothing
    first = next(own for place, own in zip(moves, words, strict=True) if moves[place].of)
    renamed = _renamed(first.at, dynamics, first.document or dynamics, first.blocks)
    if renamed is None:
        return nothing
    document = with_sizes_of_columns(document, dynamics, target)
    moved = tuple(dict.fromkeys(own.moved for own in words))
    parts = _parts(first.at, document, target, moved, _taken(document, dynamics, renamed, target))
    if parts is None:
        return nothing
    use = Use(dynamics, first.document, tuple(first.blocks.items()), parts)
    return (
        followed(dynamics, renamed, use),
        use,
        dict(zip(moves, map(moved.index, [w.moved for w in words]), strict=True)),
    )


def _followed(at: Page, entry: WordStated, dynamics: Dynamics, target: Target, around: Around) -> _Followed | None:
    """Return what the word of a move follows; None where a fault was added."""
    before = len(at.faults.found)
    named = entry.use is not None and bool(entry.of)
    other = part_of(at["use"], Dynamics, around, "use") if named else dynamics
    if other is None or not _are_recipes(at, dynamics, other):
        return None
    blocks = _blocks(at, entry, dynamics, other)
    moved = _moved(at, entry, dynamics, other, target)
    return None if len(at.faults.found) > before else _Followed(at, other if named else None, blocks, moved)


def _are_one(words: Sequence[_Followed], dynamics: Dynamics) -> bool:
    """Whether the words of all moves follow one equation; a fault is added for the first that does not."""
    first = words[0]
    for own in words[1:]:
        if (own.document, own.blocks) != (first.document, first.blocks):
            found, expected = (_says(one, dynamics) for one in (own, first))
            problem = f"found a word that follows {found}, expected {expected}, as that of the move before does"
            hint = "moves with a word may differ in what of the target they move, not in `use` and other blocks of `of`"
            own.at.fault(problem, hint)
            return False
    return True


def _parts(
    at: Page, document: BuildDocument, target: Target, moved: Sequence[tuple[str, ...]], taken: Set[str]
) -> tuple[Moved, ...] | None:
    """Return what words move, with a name for the P of each where one holds something; None where a fault was added."""
    (first, *others), found = moved, list[Moved]()
    if not others and len(first) == len(target.as_declared.declarations.blocks):
        return (Moved(first),)
    for blocks in moved:
        rows = _rows(at, document, target, blocks)
        if rows is None:
            return None
        name = f"{MASK}_{len(found) + 1}" if found else MASK
        found.append(Moved(blocks, unused(name, taken), rows))
    return tuple(found)


def _says(word: _Followed, dynamics: Dynamics) -> str:
    called = ", ".join(f"{name}: {here}" for name, here in word.blocks.items())
    return f"{(word.document or dynamics).name} ({called})"


def _are_recipes(at: Page, *every: Dynamics) -> bool:
    """Whether dynamics have D, Q and a potential of one block; a fault is added where some have not."""
    before = len(at.faults.found)
    for dynamics in dict.fromkeys(every):
        lacking = [name for name in ("D", "Q") if getattr(dynamics, name) is None]
        if lacking:
            none = " and no ".join(lacking)
            problem = f"found {dynamics.name}, which states no {none}, expected D and Q: a word takes them"
            at["of"].fault(problem, "state them; `recipe check` finds a Q")
        elif len(potential_blocks(dynamics)) != 1:
            problem = f"found {dynamics.name}, expected dynamics with a potential of one block: its gradient moves them"
            hint = "a block with a Gamma law is moved by `cir`, one with a known law by `draw`"
            at["of"].fault(problem, hint)
    return len(at.faults.found) == before


def _blocks(at: Page, entry: WordStated, dynamics: Dynamics, other: Dynamics) -> dict[str, str]:
    """Return what each block of the dynamics used is called here; that of the potential's is the potential's."""
    own = tuple(block.name for block in dynamics.declarations.blocks)
    (theta,), (wanted,) = potential_blocks(dynamics), potential_blocks(other)
    known = tuple(block.name for block in other.declarations.blocks)
    for name, stated in entry.of.items():
        twice = next((one for place, one in enumerate(stated) if one in stated[:place]), None)
        if twice is not None:
            problem = f"found {twice} twice in [{', '.join(stated)}], expected each block once"
            at["of", name].fault(problem, f"write `{name}: {twice}`" if len({*stated}) == 1 else "")
        at["of", name].knows(name, known, f"a block of {other.name}")
    found = {wanted.name: theta.name}
    for name in known:
        if name == wanted.name:
            continue
        stated = entry.of.get(name, [name])
        here = stated[0]
        what = f"found {name} as {', '.join(stated)}" if name in entry.of else f"found no `{name}` of {other.name}"
        if len({*stated}) != 1 or here not in own or here == theta.name:
            problem = f"{what}, expected a block of {dynamics.name} beside {theta.name}"
            hint = f"state it: `of: {{{name}: ...}}`; {dynamics.name} has {', '.join(own)}"
            at["of", name].fault(problem, nearest(here, own) or hint)
        elif here in found.values():
            first = next(one for one, there in found.items() if there == here)
            problem = f"found {name} and {first} both as {here}, expected a block of its own for each"
            at["of", name].fault(problem, "one block cannot be two")
        else:
            found[name] = here
    return found


def _moved(at: Page, entry: WordStated, dynamics: Dynamics, other: Dynamics, target: Target) -> tuple[str, ...]:
    """Return the blocks of the target that are moved, as it declares them; all where nothing is said of them."""
    (theta,), (wanted,) = potential_blocks(dynamics), potential_blocks(other)
    known = tuple(block.name for block in target.as_declared.declarations.blocks)
    stated = entry.of.get(wanted.name)
    if stated is None or (stated == [theta.name] and theta.name not in known):
        return known
    inner = {one.inner: one.block.name for one in target.transforms}
    for name in stated:
        if name not in known:
            problem = f"found `{name}`, expected blocks of the target {target.name} ({', '.join(known)})"
            hint = f"blocks are named as the target declares them: {inner[name]}" if name in inner else ""
            at["of", wanted.name].fault(problem, hint or nearest(name, known))
    return tuple(name for name in known if name in stated)


def _renamed(at: Page, dynamics: Dynamics, other: Dynamics, blocks: Mapping[str, str]) -> Dynamics | None:
    """Return the dynamics used with blocks and sizes as they are called here; None where a fault was added."""
    sizes = _sizes(at, dynamics, other, blocks)
    if sizes is None or not _letters_agree(at, dynamics, other, sizes):
        return None
    given = at.faults.catch(lambda: as_called_here(dynamics, other, blocks, sizes))
    return given if given is not None and _names_agree(at, dynamics, given) else None


def _sizes(at: Page, dynamics: Dynamics, other: Dynamics, blocks: Mapping[str, str]) -> dict[str, Size] | None:
    """Return what each size of the dynamics used is here; None, and faults are added, where blocks do not fit."""
    before = len(at.faults.found)
    here, sizes = by_name(dynamics.declarations.blocks), dict[str, Size]()
    for block in other.declarations.blocks:
        own = here[blocks[block.name]]
        fits = len(block.shape.sizes) == len(own.shape.sizes)
        for there, size in zip(block.shape.sizes, own.shape.sizes, strict=False):
            fits = fits and (sizes.setdefault(there, size) if isinstance(there, str) else there) == size
        if not fits:
            problem = f"found {block.name}, a {block.shape}, as {own.name}, a {own.shape}, expected the same shape"
            hint = f"blocks of {other.name} that share a letter have one size here"
            at["of"].fault(problem, hint)
        elif block.domain.name is not own.domain.name:
            domains = f"{domain_text(block.domain)} and {domain_text(own.domain)}"
            problem = f"found {block.name} as {own.name}, whose domains are {domains}, expected one domain"
            at["of"].fault(problem)
    return sizes if len(at.faults.found) == before else None


def _letters_agree(at: Page, dynamics: Dynamics, other: Dynamics, sizes: Mapping[str, Size]) -> bool:
    """Whether no size of the dynamics used, nor the name that its U has here, is something else; else with faults."""
    before, own = len(at.faults.found), dynamics.declarations
    hint = "a name in both documents means the same object: rename one of the two"
    for size in other.declarations.sizes:
        item = None if size in sizes else own.find(size)
        if item is not None:
            what = f"a {type(item).__name__.lower()} of {dynamics.name}"
            problem = f"found the size `{size}` of {other.name}, which is {what}, expected a letter of its own"
            at["use"].fault(problem, hint)
    named = other.declarations.find(dynamics.potential or "")
    if named is not None and dynamics.potential != other.potential:
        problem = f"found `{dynamics.potential}` in {other.name} beside its potential {other.potential}"
        expected = f"expected that name for its potential alone: it is that of {dynamics.name}"
        at["use"].fault(f"{problem}, {expected}", hint)
    return len(at.faults.found) == before


def _names_agree(at: Page, dynamics: Dynamics, given: Dynamics) -> bool:
    """Whether what both dynamics have a name for is the same thing; faults are added where it is not."""
    before, own = len(at.faults.found), dynamics.declarations
    for item in (*given.declarations.parameters, *given.declarations.functions):
        here = own.find(item.name)
        others = isinstance(here, Function) and isinstance(item, Function) and here.of != item.of
        if item.name in own.sizes or (
            here is not None and ((type(here), here.shape) != (type(item), item.shape) or others)
        ):
            what = "a size" if here is None else f"a {type(here).__name__.lower()} that is a {here.shape}"
            what += f" of {', '.join(here.of)}" if isinstance(here, Function) else ""
            problem = f"found `{item.name}` of {given.name}, a {item.shape}, which is {what} of {dynamics.name}"
            hint = "a name in both documents means the same object: rename one of the two"
            at["use"].fault(f"{problem}, expected the same", hint)
    return len(at.faults.found) == before


def _rows(at: Page, document: BuildDocument, target: Target, moved: tuple[str, ...]) -> tuple[bool, ...] | None:
    """Return of each coordinate of the potential's block whether it is moved; None where a fault was added."""
    declared = target.as_declared.declarations.blocks
    counts = [coordinates((block,), document.sizes) for block in sampled_blocks(target)]
    if not all(isinstance(count, int) for count in counts):
        open_ = ", ".join(str(count) for count in counts if not isinstance(count, int))
        problem = f"found blocks of {open_} coordinates, expected numbers: which of them are moved is a list"
        hint = "state the sizes of the target under `sizes`"
        at["of"].fault(problem, hint)
        return None
    pairs = zip(declared, counts, strict=True)
    return tuple(block.name in moved for block, count in pairs for _ in range(int(count)))


def _taken(document: BuildDocument, dynamics: Dynamics, other: Dynamics, target: Target) -> set[str]:
    documents = (dynamics, other, target, target.as_declared)
    taken = {*document.parameters, *document.sizes, *document.derived, *document.bind}
    return taken.union(*(one.declarations.names for one in documents), {state.block.name for state in target.recursion})
