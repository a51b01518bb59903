"""The canonical form of a Program: what every pass that makes one may rely on, and must preserve (docs/program.md).

A Program is data, and a pass could write anything into it. The rules below are what the lowering takes for granted, by
number; `check_canonical` reports what breaks them. Tests call it after every pass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.extents import after, extent
from recipe_compiler.formula.shapes import DomainName, Size
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.lower_draw import is_computed
from recipe_compiler.program.places import Axes, gradients, places
from recipe_compiler.program.program import (
    EPS,
    CodeMove,
    Cycle,
    Draw,
    Evaluate,
    Involution,
    Noise,
    Program,
    Refresh,
    Shift,
    Trajectory,
)
from recipe_compiler.tensor.atoms import everywhere, nested
from recipe_compiler.tensor.terms import (
    Atom,
    Component,
    Coordinate,
    Delta,
    Determinant,
    Index,
    Inverse,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant that a Program or Kernel breaks, and where."""

    number: int
    """Of the list in docs/program.md."""
    says: str
    """What was found, and what was expected."""


def check_canonical(program: Program) -> tuple[Broken, ...]:
    """Return every invariant that a Program breaks, by its number; empty for one in canonical form."""
    return tuple(Broken(number, says) for number, rule in enumerate(_RULES, 1) for says in dict.fromkeys(rule(program)))


def _names_are_apart(program: Program) -> Iterator[str]:
    """1. Everything has a name of its own."""
    named = [*(b.name for b in program.blocks), *(p.name for p in program.parameters), *(d.name for d in program.data)]
    named += [shift.new for shift in program.shifts]
    named += [noise.name for noise in program.noises]
    named += [name for propagator in program.propagators for name in propagator.arrays]
    named += _moved(program.cycle) if program.cycle else []
    computed = [evaluation.new for evaluation in program.evaluations]
    own = {g.name for g in gradients(program)} - (set[str]() if program.carried else {*computed})
    named += [*computed, *own]
    named += dict.fromkeys(p.block.name for g in gradients(program) for p in g.parts if p.block.name != g.block.name)
    named += {name for g in gradients(program) if g.recursion is not None for name in g.recursion.names}
    named += [
        moment.name for moment in (program.infinitesimal_generator.moments if program.infinitesimal_generator else ())
    ]
    named += _sizes(program)
    yield from (f"{name} is the name of {named.count(name)} things" for name in named if named.count(name) > 1)


def _values_follow(program: Program) -> Iterator[str]:
    """2. Every block of the state is shifted, each time from its newest value; again from that of the shift before."""
    newest = {block: block.name for block in program.blocks}
    for before, shift in zip((None, *program.shifts), program.shifts, strict=False):
        if shift.again:
            yield from _substitutes(before, shift)
            newest |= {shift.block: shift.old}
        if shift.block not in newest:
            yield f"a shift of {shift.block.name}, which is no block"
        elif shift.old != newest[shift.block]:
            yield f"{shift.new} is made from {shift.old}, expected {newest[shift.block]}"
        newest |= {shift.block: shift.new} if shift.block in newest else {}
    if program.cycle is None or program.cycle.trajectory is not None:
        yield from (f"{block.name} has no shift" for block, value in newest.items() if value == block.name)


def _substitutes(before: Shift | None, shift: Shift) -> Iterator[str]:
    """Yield what keeps a shift from being the one before it with its value put in."""
    if before is None or (before.block, before.old) != (shift.block, shift.old) or before.noise or before.transform:
        yield f"{shift.new} is a substitution into no shift before it"


def _names_stand_before(program: Program) -> Iterator[str]:
    """3. A tensor names what stands before it, and nothing else; that of a propagator constants alone."""
    for place in places(program):
        unknown = sorted(names_of(place.tensor) - place.known.keys())
        yield from (f"{place.where} names {name}, which is not known there" for name in unknown)


def _no_derivatives(program: Program) -> Iterator[str]:
    """4. No derivative of a function is left."""
    for place in places(program):
        for atom in everywhere(place.tensor):
            if isinstance(atom, Component) and atom.by:
                yield f"{place.where} holds a derivative of {atom.name}"


def _slots_fit(program: Program) -> Iterator[str]:
    """5. What has axes has a slot for each, of its size; the slots of a delta are of one size."""
    for place in places(program):
        for atom in everywhere(place.tensor):
            axes = _axes(atom, place.known)
            at = atom.at if isinstance(atom, Coordinate | Component) else _pair(atom)
            if axes is not None and not _fits(at, axes):
                yield f"{place.where} has {atom}, expected slots for {axes}"


def _free_indices(program: Program) -> Iterator[str]:
    """6. The free indices of a tensor are those of its place."""
    for place in places(program):
        if sorted(place.tensor.free, key=repr) != sorted(place.free, key=repr):
            yield f"{place.where} has the free indices {place.tensor.free}, expected {place.free}"


def _sizes_are_read(program: Program) -> Iterator[str]:
    """7. A symbolic size is that of an axis of the state, of a parameter or of the data."""
    known = set(_sizes(program))
    for place in places(program):
        for atom in everywhere(place.tensor):
            found = [atom.name] if isinstance(atom, SizeNumber) else [i.size for i in _indices(atom)]
            yield from (f"{place.where} has the size {s}" for s in found if isinstance(s, str) and s not in known)


def _no_zeros(program: Program) -> Iterator[str]:
    """8. No coefficient and no exponent is zero, so that a tensor without terms is the only zero."""
    for place in places(program):
        for term in _terms(place.tensor):
            if not term.coefficient or any(not exponent for _, exponent in term.factors):
                yield f"{place.where} has a term with a zero: {term}"


def _draws_are_added(program: Program) -> Iterator[str]:
    """9. A draw is added once to each of its blocks; matrices square, not zero; only a minibatch has a B_hat."""
    drawn: list[tuple[str, Block]] = []
    for statement in program.statements:
        match statement:
            case Noise(name, blocks):
                drawn += [(name, block) for block in blocks]
            case Shift(block, _, new, _, name) if name:
                if (name, block) not in drawn:
                    yield f"{new} adds the draw {name} of {block.name}, which is not there, or was added before"
                drawn = [pair for pair in drawn if pair != (name, block)]
            case _:
                pass
    yield from (f"the draw {name} of {block.name} is never added" for name, block in drawn)
    for noise in (*program.noises, *(move.noise for move in (program.cycle.refreshes if program.cycle else ()))):
        where = "noise of " + ", ".join(block.name for block in noise.blocks)
        for word, matrix in (("2D", noise.two_D), ("B_hat", noise.B_hat or noise.two_D)):
            if [len(row) for row in matrix] != [len(noise.blocks)] * len(noise.blocks):
                yield f"{where}: {word} is not square"
        if all(entry.is_zero for matrix in (noise.two_D, noise.B_hat or ()) for row in matrix for entry in row):
            yield f"{where}: it is zero"
        if noise.B_hat is not None and program.variant != "minibatch":
            yield f"{where}: B_hat of an exact gradient"


def _gradient_at_a_value(program: Program) -> Iterator[str]:
    """10. The gradient is evaluated at a value of its block that is there; one that is carried on, at the last."""
    gradient = program.gradient
    if gradient is None:
        yield from (f"{evaluation.new} is evaluated without a gradient" for evaluation in program.evaluations)
        return
    alike = [block.name for block in program.blocks if replace(block, name=gradient.block.name) == gradient.block]
    yield from (f"the gradient is by {name}, which is no block" for name in gradient.places if name not in alike)
    known = list(gradient.places)
    for statement in program.statements:
        match statement:
            case Evaluate(at, new) if at not in known:
                yield f"{new} is evaluated at {at}, expected one of {', '.join(known)}"
            case Shift(block, _, new) if block.name in gradient.places:
                known.append(new)
            case _:
                pass
    last = program.evaluations[-1].at if program.evaluations else "no value"
    if program.carried and last != known[-1]:
        yield f"the gradient that is carried on is of {last}, expected {known[-1]}"


def _parts_cover(program: Program) -> Iterator[str]:
    """11. The parts of a gradient stand in the potential's block end to end, and fill it."""
    for gradient in gradients(program):
        if gradient.code or not gradient.stacked:
            expected = 0 if gradient.code else 1
            if len(gradient.parts) != expected or any(part.start for part in gradient.parts):
                yield f"{gradient.name} has {len(gradient.parts)} parts, expected {expected}"
            continue
        end: Size = 0
        for part in gradient.parts:
            if part.start != end:
                yield f"{part.block.name} starts at {part.start}, expected {end}"
            end = after(part.start, extent(part.block.sampled.shape))
        open_ = not program.heads and None in map(_length, (p.block.sampled for p in gradient.parts))
        if _length(gradient.block) not in (end, None) or open_:
            yield f"parts of {gradient.name} are {end} long, {gradient.block.name} is {gradient.block.shape}"


def _data_are_counted(program: Program) -> Iterator[str]:
    """12. A gradient with a sum over data has their number, and none without; a minibatch is one of data."""
    for gradient in gradients(program):
        sums = any(part.datum is not None for part in gradient.parts)
        if not gradient.code and sums != (gradient.count is not None):
            yield f"{gradient.name} has the number of data {gradient.count}"
        if gradient.count is not None and {gradient.count} != {datum.size for datum in program.data}:
            yield f"{gradient.name} counts {gradient.count} data, which no field has"
    if program.gradient is not None and program.gradient.minibatch != (program.variant == "minibatch"):
        yield f"{program.gradient.name} is no gradient of the variant {program.variant}"


def _generator_is_exact(program: Program) -> Iterator[str]:
    """13. The generator takes the gradient of all data, and each L phi has the indices of its phi."""
    if program.infinitesimal_generator is None:
        return
    gradient = program.infinitesimal_generator.gradient
    if gradient.minibatch:
        yield f"the generator takes {gradient.name} of a minibatch, expected that of all data"
    if program.gradient is not None and gradient.block != program.gradient.block:
        yield f"the generator's gradient is by {gradient.block.name}, the step's by {program.gradient.block.name}"
    for moment in program.infinitesimal_generator.moments:
        if moment.value.free != moment.phi.free:
            yield f"{moment.name} has the free indices {moment.value.free}, its phi {moment.phi.free}"


def _equations_stand_alone(program: Program) -> Iterator[str]:
    """14. A shift that is implicit names its own value, and adds no draw."""
    for shift in program.shifts:
        if shift.implicit and shift.new not in names_of(shift.rate):
            yield f"{shift.new} is an equation that does not name it"
        if shift.implicit and shift.noise:
            yield f"{shift.new} is an equation, and adds the draw {shift.noise}"


def _transforms_have_a_domain(program: Program) -> Iterator[str]:
    """15. A shift of a transform is no equation; its block lies in the domain of the transform."""
    for shift in program.shifts:
        if shift.transform is None:
            continue
        if shift.implicit:
            yield f"{shift.new} is an equation of a transform"
        if shift.transform.of_positive and shift.block.domain.name is not DomainName.POSITIVE:
            yield f"{shift.new} is moved by {shift.transform.says(shift.block.name)}, which may be negative"


def _moves_follow(program: Program) -> Iterator[str]:
    """16. Moves begin at the newest values; trajectories move all that is carried; H is there to accept them by."""
    if program.cycle is None:
        return
    newest: dict[str, str] = {}
    for move in program.cycle.moves:
        match move:
            case Refresh(block, old, new):
                if block not in program.blocks:
                    yield f"a refresh of {block.name}, which is no block"
                if move.noise.blocks != (block,) or not move.noise.at_once:
                    yield f"{new} adds a draw for {move.noise.blocks}, expected one of {block.name} and of no time"
                begins = {block.name: (old, new)}
            case Draw(block, old, new):
                begins = {block.name: (old, new)}
            case Trajectory():
                yield from _trajectory_fits(move, program)
                begins = {value.name: (value.start, value.end) for value in move.values if value.end}
            case Involution():
                yield from _involution_fits(move, program, newest)
                begins = {image.block.name: (image.old, image.new) for image in move.images}
            case CodeMove():
                yield from _code_fits(move, program, newest)
                begins = {one.block.name: (one.old, one.new) for one in move.changed}
        for name, (start, end) in begins.items():
            if start != newest.get(name, name):
                yield f"{end} is made from {start}, expected {newest.get(name, name)}"
            newest[name] = end
    scheduled = bool(program.cycle.schedules)
    if scheduled != bool(program.cycle.counter):
        yield f"cycles are {'not ' if scheduled else ''}counted, and moves are {'' if scheduled else 'not '}left out"
    trajectories = program.cycle.trajectories
    if not trajectories and not program.cycle.begins_anew:
        yield "none of the moves is a trajectory, expected one, or moves that begin anew alone"
    if len(trajectories) > 1:
        yield from _several_fit(trajectories, program)
    accepts = any(move.metropolis for move in trajectories) or bool(program.cycle.involutions)
    for says, found in (("U", program.cycle.potential), ("H - U", program.cycle.rest)):
        if accepts != (found is not None):
            yield f"{says} is {'missing' if accepts else 'there'}, and a move is {'' if accepts else 'not '}accepted"


def _draws_fit(program: Program) -> Iterator[str]:
    """17. A draw is of a block of the target, in its place; after one nothing is carried on."""
    if program.cycle is None:
        return
    for move in program.cycle.draws:
        if program.gradient is None or move.block != program.gradient.block or move.block not in program.blocks:
            yield f"a draw of a part of {move.block.name}, which is not the block that U depends on"
        elif program.gradient.parts and [(p.block, p.start) for p in program.gradient.parts] != [*move.places]:
            yield f"{move.new} has its parts in other places than the gradient"
        if move.drawn not in dict(move.places):
            yield f"a draw of {move.drawn.name}, which is no part of {move.block.name}"
        if not is_computed(move.law, move.via):
            yield f"a draw from {move.law}{f' by {move.via}' if move.via else ''}, which no step computes"
        if (move.datum is None) != (move.count is None) or (move.datum is not None and program.variant != "minibatch"):
            yield f"{move.new} takes of a datum what is not summed over a minibatch"
    for trajectory in program.cycle.trajectories:
        kept = {value.name for value in trajectory.values if value.end} - {block.name for block in program.blocks}
        if trajectory.anew != program.cycle.begins_anew:
            yield f"a trajectory starts {'anew' if trajectory.anew else 'as it is carried on'} beside draws"
        elif trajectory.anew:
            yield from (f"{name} is carried on to a state that is drawn" for name in sorted(kept))


def _images_stand_alone(program: Program) -> Iterator[str]:
    """18. An image adds nothing: no draw, no transform; it is no equation, and free of eps."""
    for shift in program.shifts:
        if shift.image and (shift.noise or shift.transform or shift.implicit or EPS in names_of(shift.rate)):
            yield f"{shift.new} is an image, and more"


def _involution_fits(move: Involution, program: Program, newest: Mapping[str, str]) -> Iterator[str]:
    """Yield what an involution maps that is no block, draws with the time of a step, or begins at."""
    for image in move.images:
        if image.block not in program.blocks:
            yield f"an involution of {image.block.name}, which is no block"
    for drawn in move.draws:
        if drawn.noise.blocks != (drawn.block,) or not drawn.noise.at_once:
            yield f"{drawn.block.name} adds a draw for {drawn.noise.blocks}, expected one of its own and of no time"
    begins = {block.name: newest.get(block.name, block.name) for block in program.blocks}
    if dict(move.start) != begins:
        yield f"an involution begins at {dict(move.start)}, expected {begins}"


def _code_fits(move: CodeMove, program: Program, newest: Mapping[str, str]) -> Iterator[str]:
    """Yield what code is given that is none of the chain, or is not the newest value."""
    known = {item.name for group in (program.parameters, program.data) for item in group}
    yield from (
        f"{move.code} is given {name}, which the chain does not have" for name in move.given if name not in known
    )
    blocks = {block.name for block in program.blocks}
    taken = [one.block.name for one in move.handed]
    yield from (f"{move.code} is given {name}, which is no block" for name in taken if name not in blocks)
    yield from (f"{move.code} is given {name} twice" for name in dict.fromkeys(taken) if taken.count(name) > 1)
    for one in move.read:
        if one.old != newest.get(one.block.name, one.block.name):
            yield f"{move.code} reads {one.old}, expected {newest.get(one.block.name, one.block.name)}"
    if not move.changed:
        yield f"{move.code} changes no block"


def _trajectory_fits(move: Trajectory, program: Program) -> Iterator[str]:
    """Yield what a trajectory does not move and should, its flips that are none, and a length that is none."""
    potential = program.cycle.potential if program.cycle and move.metropolis else None
    moved = {value.name for value in move.values}
    expected = {*program.passed_on, *((potential.name,) if potential else ())}
    yield from (f"a trajectory does not move {name}" for name in sorted(expected - moved))
    yield from (f"a trajectory moves {name}, which a step is not given" for name in sorted(moved - expected))
    kept = {block.name for block in program.blocks} - ({potential.block.name} if potential else set[str]())
    yield from (f"a trajectory flips {name}" for name in move.flip if name not in kept)
    if move.flip and not move.metropolis:
        yield f"a trajectory flips {', '.join(move.flip)}, and is never refused"
    if move.kick is not None and (move.kick.block not in program.blocks or not program.carried):
        yield f"a trajectory kicks {move.kick.block.name} by no gradient that is carried along"
    if move.kick is not None and potential and move.kick.block == potential.block:
        yield f"a trajectory kicks {move.kick.block.name}, which the gradient depends on"
    if not 1 <= move.least <= move.most:
        yield f"a trajectory has {move.least} to {move.most} steps"
    if move.scale <= 0 or (move.scale != 1 and (program.noises or program.propagators)):
        yield f"a trajectory has steps of {move.scale} eps"
    shapes = {parameter.name: parameter.shape for parameter in program.parameters}
    for name, other in move.given:
        if name not in shapes or shapes[name] != shapes.get(other):
            yield f"a trajectory is given {other} in the place of {name}"


def _several_fit(trajectories: tuple[Trajectory, ...], program: Program) -> Iterator[str]:
    """Yield what keeps several trajectories from being of one word: noise that each would add is the same."""
    if not all(move.metropolis for move in trajectories):
        yield "one of several trajectories is taken as it comes"
    if program.noises:
        yield "trajectories take the same noise"
    if any(move.is_solved for move in trajectories):
        yield "one of several trajectories is solved for"
    if len({(move.anew, move.kick) for move in trajectories}) > 1:
        yield "trajectories differ in how they begin"


_RULES: tuple[Callable[[Program], Iterator[str]], ...] = (
    _names_are_apart,
    _values_follow,
    _names_stand_before,
    _no_derivatives,
    _slots_fit,
    _free_indices,
    _sizes_are_read,
    _no_zeros,
    _draws_are_added,
    _gradient_at_a_value,
    _parts_cover,
    _data_are_counted,
    _generator_is_exact,
    _equations_stand_alone,
    _transforms_have_a_domain,
    _moves_follow,
    _draws_fit,
    _images_stand_alone,
)

INVARIANTS = tuple((rule.__doc__ or "").partition("\n")[0] for rule in _RULES)
"""What is checked, as docs/program.md has it."""


def _moved(cycle: Cycle) -> Iterator[str]:
    """Yield the names that moves make, as often as they do, and U where they carry it."""
    yield from () if cycle.potential is None else (cycle.potential.name,)
    yield from filter(None, (cycle.counter, cycle.counted))
    for move in cycle.moves:
        match move:
            case Refresh(_, _, new, _, noise):
                yield from (new, noise.name)
            case Draw(_, _, new):
                yield from filter(None, (new, move.told))
            case Trajectory():
                yield from move.names
            case Involution(draws, images):
                yield from (name for drawn in draws for name in (drawn.block.name, drawn.noise.name))
                yield from (name for image in images for name in (image.at, image.new))
            case CodeMove():
                yield from (move.stream, *(one.new for one in move.handed))


def _sizes(program: Program) -> list[str]:
    """Return the symbolic sizes of all axes, each once."""
    shapes = [item.shape for group in (program.blocks, program.parameters, program.data) for item in group]
    sizes = [*(size for shape in shapes for size in shape.sizes), *(datum.size for datum in program.data)]
    sizes += [size for size, _ in program.heads]
    return list(dict.fromkeys(size for size in sizes if isinstance(size, str)))


def _length(block: Block) -> int | None:
    """Return the number of coordinates of a block, None of one that has a symbolic size."""
    sizes = [size for size in block.shape.sizes if isinstance(size, int)]
    return prod(sizes) if len(sizes) == len(block.shape.sizes) else None


def _axes(atom: Atom, known: Mapping[str, Axes]) -> Axes | None:
    """Return the axes that an atom's slots run over, None where it has none of its own or is not known."""
    match atom:
        case Coordinate(name, _) | Component(name, _, _):
            return known.get(name)
        case Inverse(of, _):
            return (of.row.size, of.col.size)
        case Delta(left, right):
            size = next((slot.size for slot in (left, right) if isinstance(slot, Index)), None)
            return None if size is None else (size, size)
        case _:
            return None


def _pair(atom: Atom) -> tuple[Slot, ...]:
    match atom:
        case Inverse(_, at):
            return at
        case Delta(left, right):
            return (left, right)
        case _:
            return ()


def _fits(at: tuple[Slot, ...], axes: Axes) -> bool:
    return len(at) == len(axes) and all(
        slot.size == size if isinstance(slot, Index) else slot >= 0 and (isinstance(size, str) or slot < size)
        for slot, size in zip(at, axes, strict=True)
    )


def _indices(atom: Atom) -> Iterable[Index]:
    match atom:
        case Coordinate(_, at) | Component(_, at, _):
            slots: tuple[Slot, ...] = at
        case Inverse(of, at):
            slots = (*at, of.row, of.col)
        case Determinant(of, _):
            slots = (of.row, of.col)
        case _:
            slots = _pair(atom)
    return (slot for slot in slots if isinstance(slot, Index))


def _terms(tensor: Tensor) -> Iterator[Term]:
    """Yield the terms of a tensor, those inside its atoms included."""
    yield from tensor.terms
    for atom in everywhere(tensor):
        inner = (atom.of.entry,) if isinstance(atom, Inverse | Determinant) else nested(atom)
        yield from (term for argument in inner for term in argument.terms)
