"""The scheme of a build: one of Euler's, a word, or a cycle of moves in order with the one word they repeat.

`{repeat: 4, of: [draw: mu, draw: tau]}` in a cycle is its moves, written out so many times before a build is read. All
that is asked of a cycle, and all that a certificate holds, is of the moves that are done: `[P, Q]` twice is P, Q, P, Q,
and preserves exp(-H) where P and Q do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recipe_compiler.errors import nearest
from recipe_compiler.formula.declaration import Block, Declarations, Parameter, by_name
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import HALF_LINE, SCALAR, DomainName, Kind
from recipe_compiler.spec import yaml_nodes
from recipe_compiler.spec.bind import unbound
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.build_parts import Around
from recipe_compiler.spec.catalogue import EULER
from recipe_compiler.spec.code import read_code
from recipe_compiler.spec.declarations import domain_text
from recipe_compiler.spec.fields import A_CYCLE, exact
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import (
    MOST_MOVES,
    Beside,
    ByLaw,
    Cir,
    CodeMove,
    Draw,
    Dynamics,
    Involution,
    Metropolis,
    Move,
    Refresh,
    Scheme,
    Steps,
    Target,
)
from recipe_compiler.spec.moves import LONGEST_PERIOD, period
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.read_moves import check_code_move, read_involution, read_slices, visible
from recipe_compiler.spec.read_scheme import place_of_keep, read_word
from recipe_compiler.spec.schema_build import (
    BuildDocument,
    CirEntry,
    CodeEntry,
    CycleEntry,
    DrawEntry,
    InvolutionEntry,
    MetropolisMove,
    MoveStated,
    RefreshEntry,
    SchemeEntry,
)
from recipe_compiler.spec.schema_scheme import WordEntry
from recipe_compiler.spec.words import letters, word_text
from recipe_compiler.spec.yaml_nodes import Node

CYCLE = "cycle"
"""What a scheme is called that is one; its word has no name of its own."""


def read_cycle(
    cycle: Page, entries: Sequence[MoveStated], around: Around, known: Declarations, target: Target,
    parts: Mapping[int, int],
) -> Scheme:  # fmt: skip
    """Return a cycle with the word of its moves that have one, if any has; a fault is added for everything else.

    `parts` says which part of the target the word of a move moves, by the place of that (`Scheme.use`).
    """
    moves, words = list[Move](), list[tuple[Page, WordEntry]]()
    before = len(cycle.faults.found)
    for place, entry in enumerate(entries):
        at = cycle[place]
        match entry:
            case RefreshEntry():
                move: Move = replace(entry.refresh, every=entry.every)
            case DrawEntry():
                move = Draw(entry.draw, entry.every, read_slices(at, entry, target))
            case CirEntry():
                move = Cir(entry.cir, entry.every)
            case InvolutionEntry():
                move = read_involution(at, entry, known)
            case CodeEntry():
                code = read_code(at["code"], entry.code, around.folder, "my_moves.py:swap")
                move = CodeMove(code, tuple(entry.changes), tuple(entry.reads), entry.every)
            case MetropolisMove(metropolis=own):
                move = Metropolis(own.steps, own.flip, entry.every, own.scale, parts.get(place, 0))
                words.append((at["metropolis"], own))
                if entry.use is not None and not entry.of:
                    at["use"].fault(
                        "found `use` without `of`, expected what a word moves", "a word goes under `metropolis`"
                    )
            case _:
                move = Steps(entry.steps, entry.every, parts.get(place, 0))
                words.append((at, entry.but(use=None) if entry.of else entry))
        moves += [move] * entry.repeat
    _check_schedule(cycle, moves)
    if not words:
        if len(cycle.faults.found) == before and not any(isinstance(move, Beside) for move in moves):
            why = "refreshes alone leave the potential's block as it is"
            cycle.fault(f"found no move with a word, and no draw, expected one: {why}", A_CYCLE)
        return Scheme(CYCLE, cycle=tuple(moves))
    return replace(_word(words, around, moves), name=CYCLE, cycle=tuple(moves), keep=0)


def _word(words: Sequence[tuple[Page, WordEntry]], around: Around, moves: Sequence[Move]) -> Scheme:
    """Return the word that moves repeat; a fault is added where they state several, or some take it as it comes."""
    (at, word), *others = [(at, read_word(at, entry, around)) for at, entry in words]
    if word.keep:
        problem = f"found {word.name}, which keeps draws within its word, expected a word without `keep`"
        at.fault(problem, "a cycle keeps draws at its end")
    for at, other in others:
        if (
            word.split
            and other.split
            and (other.split, other.pieces, other.flows) != (word.split, word.pieces, word.flows)
        ):
            found, first = (word_text(one.split) for one in (other, word))
            found, first = (f"{found}, of other pieces or flows", first) if found == first else (found, first)
            problem = f"found the word {found}, expected {first}, that of the move before: a cycle has one word"
            hint = "moves may differ in `steps`, `scale`, `flip` and `of`; others take `draw`, `cir` or an involution"
            at.fault(problem, hint)
    several = sum(isinstance(move, Steps | Metropolis) for move in moves) > 1
    for at, _ in words:
        if several and at.path[-1] != "metropolis":
            problem = "found a word without `metropolis` beside another move with it, expected `metropolis` in each"
            hint = "write `metropolis: {...}` in each, or `steps` for how often one move does it"
            at.fault(problem, hint)
    return word


def _check_schedule(cycle: Page, moves: Sequence[Move]) -> None:
    """Add a fault where repetitions are too many, or the order of moves begins anew after too many cycles."""
    if len(moves) > MOST_MOVES:
        problem = f"found a cycle of {len(moves)} moves with their repetitions, expected {MOST_MOVES} at most"
        cycle.fault(problem, "`repeat` writes moves out so many times")
    if period(moves) > LONGEST_PERIOD:
        problem = f"found moves with a common period of {period(moves)} cycles, expected {LONGEST_PERIOD} at most"
        cycle.fault(problem, "the least common multiple of all `every` has to be smaller")


def check_cycle(
    cycle: Page, scheme: Scheme, dynamics: Dynamics, target: Target, known: Declarations, variant: str
) -> None:
    """Add a fault for each move that cannot keep the law of this build, as far as documents tell."""
    for place, move in enumerate(scheme.cycle):
        at = cycle[place]
        match move:
            case Refresh(block):
                _check_refresh(at["refresh"], block, dynamics)
            case Draw():
                _check_by_law(at["draw"], move, dynamics, target, variant)
            case Cir():
                _check_by_law(at["cir"], move, dynamics, target, variant)
            case Metropolis((_, most), flip):
                _check_longest(at["metropolis", "steps"], most, known)
                for block in flip:
                    _check_flip(at["metropolis", "flip"], block, dynamics, scheme)
                _check_energy(at["metropolis"], target, variant, "a Metropolis move")
            case Involution():
                _check_energy(at["involution"], target, variant, "an involution")
            case CodeMove():
                check_code_move(at, move, dynamics, target)
            case Steps():
                pass


def lengths_of(document: BuildDocument) -> Iterator[str]:
    """Yield the names of parameters that say how long moves are."""
    for entry in document.scheme.cycle if isinstance(document.scheme, CycleEntry) else ():
        if isinstance(entry, MetropolisMove) and isinstance(most := entry.metropolis.steps[1], str):
            yield most


def _check_longest(at: Page, most: int | str, known: Declarations) -> None:
    longest = known.find(most) if isinstance(most, str) else None
    is_length = isinstance(longest, Parameter) and longest.shape == SCALAR and Kind.POSITIVE in longest.kinds
    if isinstance(most, str) and not is_length:
        problem = f"found `{most}`, expected a parameter that is one positive number"
        at.fault(problem, "name one that nothing else declares: `longest`")


def _check_refresh(at: Page, name: str, dynamics: Dynamics) -> None:
    block = _block(at, name, dynamics)
    if block is None:
        return
    if block in potential_blocks(dynamics):
        hint = "a refresh draws from a normal distribution; a word moves the potential's block"
        problem = f"found a refresh of {name}, the potential's block, expected another"
        at.fault(problem, hint)
    elif block.domain.name is not DomainName.REAL:
        problem = f"found a refresh of {name}, whose domain is {domain_text(block.domain)}, expected a real block"
        at.fault(problem, "a refresh draws from a normal distribution")


def _check_by_law(at: Page, move: ByLaw, dynamics: Dynamics, target: Target, variant: str) -> None:
    """Add a fault where the target claims no law of a block, or where a move cannot take what the law is made of."""
    stated, name = target.as_declared, move.block
    what = f"a draw of {name}" if isinstance(move, Draw) else f"cir of {name}"
    blocks, laws = tuple(block.name for block in stated.declarations.blocks), dict(stated.laws)
    if name not in blocks:
        what = f"a draw of `{name}`" if isinstance(move, Draw) else f"cir of `{name}`"
        problem = f"found {what}, expected a block of the target {target.name} ({', '.join(blocks)})"
        at.fault(problem, _meant(name, blocks, dynamics, target))
        return
    if target.gradient is not None:
        problem = f"found {what} with a gradient that is code, expected formulas: its law needs U"
        at.fault(problem, "state U in the target, or move it by a word")
    elif name not in laws:
        known = f"it claims those of {', '.join(laws)}" if laws else "it claims none"
        problem = f"found {what}, expected its law under `laws` of the target {target.name}: {known}"
        at.fault(problem, "`recipe derive` lists the laws that it finds; or move it by a word")
    elif isinstance(move, Cir) and laws[name].name != "Gamma":
        problem = (
            f"found cir of {name}, whose law is {laws[name].name}, expected Gamma(shape, rate), which it preserves"
        )
        hint = "draw the block (`draw`), or move it by a word"
        hint = "Exponential(rate) is Gamma(1, rate)" if laws[name].name == "Exponential" else hint
        at.fault(problem, hint)
    elif variant == "minibatch":
        _check_batch(at, move, stated)


def _check_batch(at: Page, move: ByLaw, target: Target) -> None:
    """Add a fault where a move would take for all data what a minibatch has of it."""
    fields = {field.name for field in target.declarations.data}
    arguments = dict(target.laws)[move.block].arguments

    def takes_data(formula: Formula) -> bool:
        return bool(fields & {*dependence(formula).names})

    if isinstance(move, Draw) and any(map(takes_data, arguments)):
        problem = (
            f"found a draw of {move.block} with variant: minibatch, expected variant: full: a conditional distribution "
            "needs all data"
        )
        hint = "use `variant: full`, or move the block by a word"
        if dict(target.laws)[move.block].name == "Gamma":
            hint += f"; `cir: {move.block}` takes the sum in a Gamma law's shape from a minibatch, with a known bias"
        at.fault(problem, hint)
    elif isinstance(move, Draw) and move.slices is not None and any(map(takes_data, move.slices.formulas)):
        problem = (
            f"found `slice` of {move.block} of data with variant: minibatch, expected variant: full: weights of a "
            "minibatch change the distribution of the levels"
        )
        at.fault(problem, "use `variant: full`, or weights without data")
    elif isinstance(move, Cir) and takes_data(arguments[1]):
        problem = (
            f"found cir of {move.block} with variant: minibatch, expected a rate without data: one of a minibatch "
            "changes the mean that it preserves"
        )
        at.fault(problem, "use `variant: full`")


def _meant(name: str, blocks: tuple[str, ...], dynamics: Dynamics, target: Target) -> str:
    """Return what else a name may have been written for."""
    inner = {one.inner: one.block.name for one in target.transforms}
    if name in inner:
        return f"a draw names the block as the target declares it: `draw: {inner[name]}`"
    own = {block.name for block in dynamics.declarations.blocks} - {block.name for block in potential_blocks(dynamics)}
    if name in own:
        return f"{name} is a block of the dynamics only: write `refresh: {name}`"
    return nearest(name, blocks)


def _check_flip(at: Page, name: str, dynamics: Dynamics, scheme: Scheme) -> None:
    block, moved = _block(at, name, dynamics), _moved(scheme)
    if block is None:
        return
    if block.domain.name is not DomainName.REAL:
        problem = f"found a flip of {name}, whose domain is {domain_text(block.domain)}, expected a real block"
        at.fault(problem, f"-{name} is outside")
    elif moved is not None and name not in moved:
        problem = f"found a flip of {name}, expected a block that the word moves: {', '.join(moved)}"
        at.fault(problem, "no piece that is stated has a place of D or Q in its row")


def _check_energy(at: Page, target: Target, variant: str, what: str) -> None:
    """Add a fault where H, which the acceptance needs, is not known at every step."""
    if variant == "minibatch":
        problem = (
            f"found {what} with variant: minibatch, expected variant: full: the acceptance needs H of all "
            "data; an estimate of it causes a bias at every step size"
        )
        at.fault(problem, "use `variant: full`, or a word without `metropolis`")
    if target.gradient is not None and not target.is_open:
        problem = f"found {what} with a gradient that is code, expected formulas: the acceptance needs H"
        at.fault(problem, "state U in the target, or use a word without `metropolis`")


def _block(at: Page, name: str, dynamics: Dynamics) -> Block | None:
    """Return a block of the dynamics; None, and a fault is added, where there is none of that name."""
    blocks = by_name(dynamics.declarations.blocks)
    return blocks[name] if at.knows(name, blocks, "a block of the dynamics") else None


def _moved(scheme: Scheme) -> tuple[str, ...] | None:
    """Return the blocks that the letters may move, by the places of D and Q of their pieces; None where all may be."""
    pieces, found = dict(scheme.pieces), dict[str, None]()
    for name in dict.fromkeys(letter.piece for letter in letters(scheme.split)):
        for selection in pieces.get(name, ()):
            if selection.D is None or selection.Q is None:
                return None
            found |= dict.fromkeys(block for pair in (*selection.D, *selection.Q) for block in pair)
        if name not in pieces:
            return None
    return tuple(found)


def read_build_scheme(
    page: Page, document: BuildDocument, dynamics: Dynamics, target: Target, parameters: tuple[Parameter, ...],
    around: Around, parts: Mapping[int, int],
) -> Scheme:  # fmt: skip
    """Return the scheme that a build states; a fault is added for everything that does not fit together.

    `parts` says which of the parts that `use` lists the word of a move moves, by its place in a cycle.
    """
    at, entry = page["scheme"], document.scheme
    if isinstance(entry, CycleEntry):
        free = unbound(dynamics, tuple(document.bind), parameters)
        known = visible(free, target.declarations.parameters)
        scheme = read_cycle(at["cycle"], entry.cycle, around, known, target, parts)
        check_cycle(at["cycle"], scheme, dynamics, target, known, document.variant)
        return scheme
    blocks = by_name(dynamics.declarations.blocks)
    known = [at["scale"].knows(name, blocks, "a block of the dynamics") for name in entry.scale]
    scale = tuple(entry.scale.items()) if all(known) else ()
    if entry.name in EULER:
        return replace(_euler(at, entry, dynamics), scale=scale)
    if entry.reflect:
        at["reflect"].fault("found `reflect` beside a word, expected none", "`flows: {A: reflected}` reflects a piece")
    for block in entry.order[:1]:
        problem = f"found an order ({block}, ...), expected none: the word fixes the order"
        at["order"].fault(problem, "leave it out, or use sequential_euler")
    word = read_word(at, entry, around)
    keep = word.keep if entry.keep is None else place_of_keep(at["keep"], word.split, entry.keep)
    if keep and document.variant == "minibatch":
        problem = "found draws kept within the word with variant: minibatch, expected them at its end"
        hint = "the noise that a word subtracts is derived for its end; leave `keep` out"
        at["keep"].fault(problem, hint)
    return replace(word, keep=keep, scale=scale)


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
    for name in entry.reflect:
        block = _block(at["reflect"], name, dynamics)
        if block is not None and block.domain.name not in HALF_LINE:
            problem = f"found {name}, whose domain is {domain_text(block.domain)}, expected a positive block"
            hint = "it is reflected at 0; between two ends sample an unbounded variable: `transform` in the target"
            at["reflect"].fault(problem, hint)
    return Scheme(entry.name or "", order=order, reflect=tuple(dict.fromkeys(entry.reflect)))


KEYS = {"repeat", "of"}


def written_out(root: yaml_nodes.Mapping) -> yaml_nodes.Mapping:
    """Return the document of a build whose cycle has no item of several moves; as it is where these are too many."""
    scheme = root.get("scheme")
    cycle = scheme.get("cycle") if isinstance(scheme, yaml_nodes.Mapping) else None
    if not isinstance(scheme, yaml_nodes.Mapping) or not isinstance(cycle, yaml_nodes.Sequence):
        return root
    moves = _moves(cycle.items)
    if moves is None or moves == cycle.items:
        return root
    return _with(root, "scheme", _with(scheme, "cycle", replace(cycle, items=moves)))


def _moves(items: tuple[Node, ...]) -> tuple[Node, ...] | None:
    """Return moves with those repeated together written out; None where they are more than a cycle may have."""
    found: list[Node] = []
    for item in items:
        count, of = _repeated(item)
        inner = _moves(of.items) if of else (item,)
        if inner is None or (of and len(found) + count * len(inner) > MOST_MOVES):
            return None
        found += inner * count
    return tuple(found)


def _repeated(item: Node) -> tuple[int, yaml_nodes.Sequence | None]:
    """Return how often moves are repeated, and which; 1 and None of a move."""
    if not isinstance(item, yaml_nodes.Mapping) or {key.text for key, _ in item.entries} != KEYS:
        return 1, None
    count, of = item.get("repeat"), item.get("of")
    number = exact(getattr(count, "text", None))
    if not isinstance(of, yaml_nodes.Sequence) or not of.items or number not in range(1, MOST_MOVES + 1):
        return 1, None
    return int(number or 1), of


def _with(mapping: yaml_nodes.Mapping, name: str, node: Node) -> yaml_nodes.Mapping:
    entries = tuple((key, node if key.text == name else old) for key, old in mapping.entries)
    return replace(mapping, entries=entries)
