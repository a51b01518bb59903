"""Pass: other names for those of the user, and integers for symbolic sizes.

A name that the emitted module needs for itself is changed; a size that a build fixes becomes its number.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.formula.declaration import Block, Datum, Parameter
from recipe_compiler.formula.extents import resized
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.program.program import (
    CodeMove,
    Cycle,
    Draw,
    Energies,
    Evaluate,
    Gradient,
    Heat,
    InfinitesimalGenerator,
    Involution,
    Kick,
    Move,
    Noise,
    Part,
    Potential,
    Program,
    Propagator,
    Recursion,
    Refresh,
    Shift,
    Statement,
    Trajectory,
)
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Determinant,
    Grid,
    Index,
    Inverse,
    Pi,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

Names = Mapping[str, str] | Mapping[str, int] | Mapping[str, str | int]
"""Name to another name, or symbolic size to an integer."""


def rename(program: Program, names: Names) -> Program:
    """Return the program with blocks, parameters, data and sizes renamed; one map, since names are unique.

    Names of blocks, parameters and data map to names; those of sizes to names or integers.
    """
    if not names:
        return program
    return replace(
        program,
        heads=tuple(
            (str(new), number) for size, number in program.heads if not isinstance(new := _size(size, names), int)
        ),
        blocks=tuple(_block(block, names) for block in program.blocks),
        parameters=tuple(_parameter(parameter, names) for parameter in program.parameters),
        data=tuple(_datum(datum, names) for datum in program.data),
        gradient=None if program.gradient is None else _gradient(program.gradient, names),
        statements=tuple(_statement(statement, names) for statement in program.statements),
        cycle=None if program.cycle is None else _cycle(program.cycle, names),
        infinitesimal_generator=None
        if program.infinitesimal_generator is None
        else _infinitesimal_generator(program.infinitesimal_generator, names),
        energies=None if program.energies is None else _energies(program.energies, names),
    )


def _size(size: Size, names: Names) -> Size:
    return names.get(size, size) if isinstance(size, str) else size


def _name(name: str, names: Names) -> str:
    return str(names.get(name, name))


def _shape(shape: Shape, names: Names) -> Shape:
    rows = None if shape.rows is None else _size(shape.rows, names)
    return Shape(rows, None if shape.cols is None else _size(shape.cols, names))


def _block(block: Block, names: Names) -> Block:
    return replace(block, name=_name(block.name, names), shape=_shape(block.shape, names))


def _parameter(parameter: Parameter, names: Names) -> Parameter:
    name = _name(parameter.name, names)
    return replace(parameter, name=name, shape=_shape(parameter.shape, names))


def _datum(datum: Datum, names: Names) -> Datum:
    name = _name(datum.name, names)
    return replace(datum, name=name, size=_size(datum.size, names), shape=_shape(datum.shape, names))


def _gradient(gradient: Gradient, names: Names) -> Gradient:
    return replace(
        gradient,
        block=_block(gradient.block, names),
        others=tuple((_name(block, names), array) for block, array in gradient.others),
        given=tuple(_name(name, names) for name in gradient.given),
        parts=tuple(_part(part, names) for part in gradient.parts),
        count=None if gradient.count is None else _size(gradient.count, names),
        recursion=_recursion(gradient.recursion, names),
    )


def _recursion(recursion: Recursion | None, names: Names) -> Recursion | None:
    if recursion is None:
        return None
    states = (
        replace(
            state, shape=_shape(state.shape, names),
            **{key: _name(getattr(state, key), names) for key in ("name", "passed", "adjoint", "first")},
        )
        for state in recursion.states
    )  # fmt: skip
    return replace(recursion, states=tuple(states)).mapped(lambda tensor: rename_tensor(tensor, names))


def _cycle(cycle: Cycle, names: Names) -> Cycle:
    def rule(tensor: Tensor) -> Tensor:
        return rename_tensor(tensor, names)

    def move(one: Move) -> Move:
        match one:
            case Refresh(block, old, _, _, noise):
                own = _noise(noise, names)
                return replace(one, block=_block(block, names), old=_name(old, names), noise=own)
            case Draw(block, old, _, places, drawn, _, _, parameters):
                blocks = tuple((_block(own, names), resized(start, names)) for own, start in places)
                return replace(one, block=_block(block, names), old=_name(old, names), places=blocks,
                               drawn=_block(drawn, names), parameters=tuple(map(rule, parameters)),
                               datum=one.datum and rule(one.datum),
                               count=one.count and _size(one.count, names))  # fmt: skip
            case Involution(draws, images, log_ratio, start):
                return replace(
                    one,
                    draws=tuple(replace(own, block=_block(own.block, names), mean=rule(own.mean),
                                        noise=_noise(own.noise, names)) for own in draws),
                    images=tuple(replace(own, block=_block(own.block, names), old=_name(own.old, names),
                                         value=rule(own.value)) for own in images),
                    log_ratio=rule(log_ratio),
                    start=tuple((_name(name, names), _name(value, names)) for name, value in start),
                )  # fmt: skip
            case CodeMove(changed=changed, read=read, given=given):
                changed, read = (
                    tuple(replace(own, block=_block(own.block, names), old=_name(own.old, names)) for own in handed)
                    for handed in (changed, read)
                )
                return replace(one, changed=changed, read=read, given=tuple(_name(name, names) for name in given))
            case Trajectory(values=values, flip=flip):
                moved = (replace(v, name=_name(v.name, names), start=_name(v.start, names),
                                 shape=_shape(v.shape, names)) for v in values)  # fmt: skip
                kick = one.kick and Kick(_block(one.kick.block, names), rule(one.kick.rate))
                flipped = tuple(_name(name, names) for name in flip)
                given = tuple((_name(name, names), _name(other, names)) for name, other in one.given)
                return replace(one, values=tuple(moved), flip=flipped, kick=kick, given=given)

    potential = None if cycle.potential is None else _potential(cycle.potential, names)
    rest = None if cycle.rest is None else rule(cycle.rest)
    return replace(cycle, moves=tuple(map(move, cycle.moves)), potential=potential, rest=rest)


def _noise(noise: Noise, names: Names) -> Noise:
    blocks = tuple(_block(block, names) for block in noise.blocks)
    return replace(noise, blocks=blocks).mapped(lambda tensor: rename_tensor(tensor, names))


def _potential(potential: Potential, names: Names) -> Potential:
    places = tuple((_block(block, names), resized(start, names)) for block, start in potential.places)
    count = None if potential.count is None else _size(potential.count, names)
    others = tuple((_name(block, names), value) for block, value in potential.others)
    own = replace(
        potential, block=_block(potential.block, names), places=places, count=count, recursion=None, others=others
    )
    renamed = own.mapped(lambda tensor: rename_tensor(tensor, names))
    return replace(renamed, recursion=_recursion(potential.recursion, names))


def _energies(energies: Energies, names: Names) -> Energies:
    rest = None if energies.rest is None else rename_tensor(energies.rest, names)
    return Energies(_potential(energies.potential, names), rest)


def _part(part: Part, names: Names) -> Part:
    own = replace(part, block=_block(part.block, names), start=resized(part.start, names))
    return own.mapped(lambda tensor: rename_tensor(tensor, names))


def _infinitesimal_generator(generator: InfinitesimalGenerator, names: Names) -> InfinitesimalGenerator:
    moments = (replace(m, says=_written(m.says, names), phi=rename_tensor(m.phi, names),
                       value=rename_tensor(m.value, names)) for m in generator.moments)  # fmt: skip
    return InfinitesimalGenerator(_gradient(generator.gradient, names), tuple(moments))


def _written(says: str, names: Names) -> str:
    """Return a product of entries with the blocks renamed."""
    entries = (entry.partition("[") for entry in says.split("*"))
    return "*".join(f"{_name(head, names)}{bracket}{at}" for head, bracket, at in entries)


def _statement(statement: Statement, names: Names) -> Statement:
    match statement:
        case Evaluate(at, new):
            return Evaluate(_name(at, names), new)
        case Heat(before, after):
            return Heat(*(tuple(_name(name, names) for name in values) for values in (before, after)))
        case Noise(_, blocks) | Propagator(blocks):
            blocks = tuple(_block(block, names) for block in blocks)
            return replace(statement, blocks=blocks).mapped(lambda tensor: rename_tensor(tensor, names))
        case Shift(block, old, _, rate):
            block, old, rate = _block(block, names), _name(old, names), rename_tensor(rate, names)
            slope = None if statement.slope is None else rename_tensor(statement.slope, names)
            return replace(statement, block=block, old=old, rate=rate, slope=slope)


def _index(index: Index, names: Names) -> Index:
    return Index(_size(index.size, names), index.label)


def _slot(slot: Slot, names: Names) -> Slot:
    return _index(slot, names) if isinstance(slot, Index) else slot


def rename_tensor(tensor: Tensor, names: Names) -> Tensor:
    """Return a tensor with its names replaced, and sizes that became numbers as numbers."""
    terms = tuple(_term(term, names) for term in tensor.terms)
    return Tensor(tuple(_index(index, names) for index in tensor.free), terms)


def _term(term: Term, names: Names) -> Term:
    """Return a term renamed, the powers of sizes that became numbers in its coefficient.

    A size to a power that is not an integer stays in a sum of its own, since its value is irrational.
    """
    coefficient = term.coefficient
    factors: list[tuple[Atom, Fraction]] = []
    for atom, power in term.factors:
        number = _size(atom.name, names) if isinstance(atom, SizeNumber) else None
        if not isinstance(number, int):
            factors.append((_atom(atom, names), power))
        elif power.denominator == 1:
            coefficient *= Fraction(number) ** int(power)
        else:
            factors.append((Base(Tensor((), (Term(Fraction(number)),))), power))
    return Term(coefficient, tuple(factors))


def _coordinate(coordinate: Coordinate, names: Names) -> Coordinate:
    block = _name(coordinate.block, names)
    return Coordinate(block, tuple(_slot(slot, names) for slot in coordinate.at))


def _grid(grid: Grid, names: Names) -> Grid:
    return Grid(_index(grid.row, names), _index(grid.col, names), rename_tensor(grid.entry, names))


def _atom(atom: Atom, names: Names) -> Atom:
    match atom:
        case Coordinate():
            return _coordinate(atom, names)
        case Component(name, at, by):
            slots = tuple(_slot(slot, names) for slot in at)
            return Component(_name(name, names), slots, tuple(_coordinate(c, names) for c in by))
        case SizeNumber(name):
            return SizeNumber(_name(name, names))
        case Pi():
            return atom
        case Delta(left, right):
            return Delta(_slot(left, names), _slot(right, names))
        case Applied(fn, args):
            return Applied(fn, tuple(rename_tensor(arg, names) for arg in args))
        case Base(arg):
            return Base(rename_tensor(arg, names))
        case Inverse(of, (row, col)):
            return Inverse(_grid(of, names), (_slot(row, names), _slot(col, names)))
        case Determinant(of, log):
            return Determinant(_grid(of, names), log)
