"""One step at small sizes, twice: as the emitted text computes it, and as its Program states it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

import numpy as np
import sympy as sp
from sympy.core.function import UndefinedFunction

from recipe_compiler.algebra.scalars.symbols import label, positions
from recipe_compiler.algebra.scalars.transforms import transformed
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower_cycle import HEAT, REST
from recipe_compiler.program.program import Evaluate, Heat, Noise, Propagator, Shift, symbolic_sizes
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.equations import Equations, ImplicitEquation
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import (
    Names,
    Sizes,
    depends_on_state,
    determinant_of,
    exact_inverse,
    integers,
    known_numbers,
    matrix_at,
)
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.noise import Find, NoiseFactor, noise_of, without_noise
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.transforms import transforms_of, undone
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.scalars import Leaf, Scalar, Sums
from recipe_compiler.tensor.terms import Applied, Atom, Coordinate, Delta, Determinant, Grid, Inverse, Tensor


@dataclass(frozen=True, slots=True)
class ReadStep:
    """One step given the batch, `next = value` for every entry of every new value, in the order of the shifts.

    Values are in terms of eps, the old state, gradients and earlier new values; those read from the text also of
    normals.
    """

    next: tuple[sp.Symbol, ...]
    """What stands for the new values in others."""
    values: tuple[Scalar, ...]
    """Where all normals are zero; T of the new value where a shift is of a transform."""
    covariance: list[list[Scalar]]
    """Of what the normals add, given the values that stand before."""


def step_of(
    entries: Sequence[Scalar], cuts: Cuts, factors: Sequence[NoiseFactor], normals: Sequence[sp.Symbol], names: Names
) -> ReadStep:
    """Return the step that was read, from the entries of its new values."""
    new, made = cuts.defined(entries)
    values = tuple(undone(made, transforms_of(names)))
    noise = noise_of(values, normals, factors)
    return ReadStep(new, tuple(without_noise(values, normals)), noise.covariance())


def stated_values(module: Module, names: Names) -> dict[str, object]:
    """Return the parameters, the step size and the sizes of a run."""
    values: dict[str, object] = {p.name: names.parameter(p.name) for p in module.program.parameters}
    return values | {"eps": names.eps} | {size: names.sizes[size] for size in symbolic_sizes(module.program)}


def prepared(module: Module, names: Names, reader: Reader) -> dict[str, object]:
    """Return the parameters and the constants of a run, the latter as the emitted `prepare` computes them."""
    values = stated_values(module, names)
    outputs = [array.name for array in module.kernel.prepare.outputs]
    constants = reader.call("prepare", values)
    return values | dict(zip(outputs, constants, strict=True))


def read_step(module: Module, names: Names) -> ReadStep:
    """Return one step as the emitted `step` computes it, the gradient left as symbols.

    Raises:
        CompilerError: the text cannot be read, or a new value is not linear in the noise.
    """
    normals = [sp.Symbol(name, real=True) for name in _normal_names(module, names)]
    cuts = cuts_of(module)
    reader = reader_of(module, names, cuts)
    entries = [entry for value in read_values(module, names, reader, normals) for entry in value]
    factors = reader.factors if module.kernel.cycle is None else used(reader.factors, cuts.defined(entries)[1])
    return step_of(entries, cuts, factors, normals, names)


def used(factors: Sequence[NoiseFactor], values: Sequence[Scalar]) -> list[NoiseFactor]:
    """Return the factors that occur in some values; the others belong to other moves of a cycle."""
    symbols = {symbol for value in values for symbol in value.free_symbols}
    return [factor for factor in factors if not symbols.isdisjoint(factor.entries.ravel())]


def cuts_of(module: Module) -> Cuts:
    """Return an account of the new values of a step, kept in scalars or in arrays, empty at first."""
    return Cuts(frozenset(name.rstrip("_") for s in module.program.shifts for name in module.kernel.scalars(s.new)))


def reader_of(module: Module, names: Names, cuts: Cuts, factor: Find | None = None) -> Reader:
    """Return the reader for a step: the gradient is symbols, factors of the noise are symbols or from `factor`."""
    given = len(module.kernel.rest.inputs) if module.kernel.rest else 0
    return Reader(
        module.text,
        opaque=opaque_gradient(names),
        matrices=matrices_of(names),
        known=known_numbers if names.digits else None,
        equations=equations(module, cuts),
        factor=factor,
        fills={REST: lambda arguments: ENERGY(*_flat(arguments[:given]))},
        cuts=cuts,
    )


ENERGY = UndefinedFunction("energy")
"""H - U of all that its procedure is given, which is read by itself."""


def _flat(arguments: Sequence[object]) -> list[Scalar]:
    return [entry for value in arguments for entry in np.asarray(value, object).ravel()]


def equations(module: Module, cuts: Cuts) -> Equations:
    """Return the implicit shifts of a module's program; their unknowns are symbols of the cuts."""

    def kept_in(value: str) -> tuple[str, ...]:
        return module.kernel.scalars(value) or (value,)

    own = (shift for shift in module.program.shifts if shift.implicit)
    return Equations(
        [ImplicitEquation(kept_in(shift.old), kept_in(shift.new), cuts.unknown, cuts.solve, cuts.said) for shift in own]
    )


def opaque_gradient(names: Names) -> dict[str, list[list[Scalar]]]:
    """Return what the gradient gives, call by call: it is not entered."""
    return {"gradient": [names.gradient(evaluation.new) for evaluation in names.program.evaluations]}


def _normal_names(module: Module, names: Names) -> list[str]:
    arrays = module.kernel.noises
    return [label(array.name, (k,)) for array in arrays for k in range(joined_shape(array.sizes, names.sizes)[0])]


def read_values(module: Module, names: Names, reader: Reader, normals: Sequence[Scalar]) -> list[list[Scalar]]:
    """Return the new value of every shift as the emitted `step` computes it, in the order of the shifts.

    Raises:
        CompilerError: the gradient is evaluated elsewhere, or something else is carried on, than the Program says.
    """
    sizes, program, step = names.sizes, module.program, module.kernel.step
    made = {shift.new for shift in program.shifts}
    given = prepared(module, names, reader)
    left = list(normals)
    for array in module.kernel.noises:
        count = joined_shape(array.sizes, sizes)[0]
        given[array.name], left = np.array(left[:count], object), left[count:]
    for block in program.blocks:
        given[block.name] = np.array(names.block(block), object)
    if program.gradient is not None and program.carried:
        given[program.gradient.name] = np.array(names.gradient(), object)
    given = held(module, given)
    for array in (*step.work, *(() if step.returns else step.outputs)):
        empty = np.full(joined_shape(array.sizes, sizes), None, object)
        cut = reader.cuts is not None and array.name in made
        given[array.name] = reader.cuts.array(empty) if reader.cuts is not None and cut else empty
    for array in step.inputs:
        given.setdefault(array.name, np.full((1,), None, object))
    reader.watched = frozenset(name for value in made for name in module.kernel.scalars(value))
    returned = reader.call("step", given)
    found = {**given, **reader.seen, **_outputs(step, given, returned)}
    values = {shift.new: _value_of(module, found, shift.new) for shift in program.shifts}
    _check_asked(module, reader, given, values)
    _check_carried(module, names, found)
    _check_heat(module, found, values)
    return [values[shift.new] for shift in program.shifts]


def _outputs(step: Procedure, given: Mapping[str, object], returned: object) -> dict[str, object]:
    """Return what a step leaves behind by name: arrays it wrote into, or scalars it returned."""
    names = [array.name for array in step.outputs]
    if not step.returns:
        return {name: given[name] for name in names}
    return dict(zip(names, returned if isinstance(returned, tuple) else (returned,), strict=True))


def _value_of(module: Module, found: Mapping[str, object], name: str) -> list[Scalar]:
    """Return the entries of a value that a step was given, made on the way, or left behind."""
    scalars = module.kernel.scalars(name)
    missing = [scalar for scalar in scalars if scalar not in found]
    if missing:
        raise CompilerError(f"the emitted step does not compute {missing[0]}")
    return [found[scalar] for scalar in scalars] if scalars else list(np.asarray(found[name]).ravel())


def _check_asked(
    module: Module, reader: Reader, given: Mapping[str, object], values: Mapping[str, list[Scalar]]
) -> None:
    """Check that the gradient, which is not entered, is called where the Program says."""
    gradient, kernel = module.program.gradient, module.kernel
    if gradient is None:
        return
    evaluations = module.program.evaluations
    if len(reader.asked) != len(evaluations):
        raise CompilerError(
            f"the emitted step evaluates the gradient {len(reader.asked)} times, expected {len(evaluations)}"
        )
    own = kernel.scalars(gradient.block.name) or (gradient.block.name,)
    inputs = gradient.given if kernel.gradient is None else tuple(a.name for a in kernel.gradient.inputs)
    work = 0 if kernel.gradient is None else len(kernel.gradient.work)
    before = 0 if kernel.gradient is not None and kernel.gradient.returns else 1
    count = before + len(inputs) + work
    for evaluation, asked in zip(evaluations, reader.asked, strict=True):
        if len(asked) != count:
            raise CompilerError(f"the emitted step gives the gradient {len(asked)} arguments, expected {count}")
        at = values.get(evaluation.at) or _value_of(module, given, evaluation.at)
        stated = {**given, **(dict(zip(own, at, strict=True)) if kernel.scalars(gradient.block.name) else {own[0]: at})}
        for name, value in zip(inputs, asked[before : count - work], strict=True):
            if not np.array_equal(np.asarray(value, object), np.asarray(stated[name], object)):
                raise CompilerError(f"the emitted step evaluates the gradient at a {name} that is not its Program's")


def _check_heat(module: Module, found: Mapping[str, object], values: Mapping[str, list[Scalar]]) -> None:
    """Check that the heat of a step is what its letters with noise do to H, each from the values that it was given."""
    program, rest = module.program, module.kernel.rest
    if not program.heats or rest is None:
        return

    def energy(state: Sequence[str]) -> Scalar:
        own = {b.name: values.get(v) or _value_of(module, found, v) for b, v in zip(program.blocks, state, strict=True)}
        scalars = {s: e for name, entries in own.items()
                   for s, e in zip(module.kernel.scalars(name), entries, strict=False)}  # fmt: skip
        given = {**found, **own, **scalars}
        return ENERGY(*_flat([given[array.name] for array in rest.inputs]))

    stated = sp.Add(*(energy(heat.after) - energy(heat.before) for heat in program.heats))
    (read,) = _value_of(module, found, HEAT)
    if sp.expand(read - stated) != 0:
        raise CompilerError("the emitted step does not sum the heat of its letters with noise")


def _check_carried(module: Module, names: Names, found: Mapping[str, object]) -> None:
    """Check that the gradient which a step leaves for the next one is the last it evaluated."""
    program = module.program
    left = program.passed_on[program.gradient.name] if program.gradient and program.carried else ""
    if left and _value_of(module, found, left) != names.gradient(left):
        raise CompilerError("the emitted step passes on a gradient that is not its Program's")


def held(module: Module, given: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a procedure, with the entries of arrays that it takes as scalars under their names."""
    found = dict(given)
    for name, scalars in module.kernel.registers:
        if name in given:
            found |= dict(zip(scalars, np.asarray(given[name]).ravel(), strict=True))
    return found


def written(procedure: Procedure, given: Mapping[str, object], returned: object) -> list[Scalar]:
    """Return the entries of what a procedure computes: those it returned, or those of the arrays it wrote into."""
    if procedure.returns:
        return list(returned) if isinstance(returned, tuple) else [returned]
    return [entry for array in procedure.outputs for entry in np.asarray(given[array.name]).ravel()]


def joined_shape(sizes: tuple[int | str, ...], known: Sizes) -> tuple[int, ...]:
    """Return the integers that the sizes of an array are, those joined end to end (`d+k`) added."""
    return tuple(
        size
        if isinstance(size, int)
        else sum(known[part] for part in size.split("+") if part in known)
        + sum(int(part) for part in size.split("+") if part.isdigit())
        for size in sizes
    )


def next_values(names: Names) -> list[sp.Symbol]:
    """Return symbols for the entries of all new values, in the order of the shifts."""
    count = sum(len(names.block(shift.block)) for shift in names.program.shifts)
    return [sp.Symbol(f"next[{k}]", real=True) for k in range(count)]


def stated_step(names: Names, new: Sequence[sp.Symbol]) -> ReadStep:
    """Return the step that the Program states: T(new) = T(old) + eps rate + w, w ~ N(0, eps (2D - eps B_hat)) by group.

    (Ma, Chen, Fox 2015, Eqs. 6 and 9, their sign of Gamma corrected, for Euler's scheme.)

    Args:
        names: the values of its names.
        new: the symbols of the entries of the new values, in the order of the shifts.
    """
    moved: dict[str, list[Scalar]] = {}
    found: list[Scalar] = []
    left = list(new)
    joint: list[list[Scalar]] = [[sp.Integer(0)] * len(new) for _ in new]
    places = _places(names)
    for statement in names.program.statements:
        match statement:
            case Noise(name, blocks):
                rows = [k for block in blocks for k in places[name, block]]
                entries = covariance(statement, names, moved)
                for i, row in enumerate(rows):
                    for j, col in enumerate(rows):
                        joint[row][col] = entries[i, j]
            case Shift(block, old, value, rate):
                start = [transformed(statement.transform, x) for x in moved.get(old) or names.block(block)]
                own, left = left[: len(start)], left[len(start) :]
                drift = values(rate, names, block, {**moved, value: own} if statement.implicit else moved)
                found += drift if statement.image else [z + names.eps * f for z, f in zip(start, drift, strict=True)]
                moved[value] = own
            case Propagator() | Evaluate() | Heat():
                pass
    return ReadStep(tuple(new), tuple(found), joint)


def _places(names: Names) -> dict[tuple[str, Block], list[int]]:
    """Return where the shift of a block that adds a draw stands among the entries of all new values."""
    found: dict[tuple[str, Block], list[int]] = {}
    count = 0
    for shift in names.program.shifts:
        size = len(names.block(shift.block))
        found[shift.noise, shift.block] = list(range(count, count + size))
        count += size
    return found


def stated_changes(
    names: Names, draws: Mapping[str, Sequence[Scalar]], moved: Mapping[str, list[Scalar]]
) -> list[list[Scalar]]:
    """Return T(new) - T(old) of every shift as the Program states it, given the draws w of every group.

    Args:
        names: the values of the Program's names.
        draws: by group, entry by entry.
        moved: the symbols of intermediate values.
    """
    own: dict[tuple[str, Block], list[Scalar]] = {}
    for noise in names.program.noises:
        left = list(draws[noise.name])
        for block in noise.blocks:
            count = len(names.block(block))
            own[noise.name, block], left = left[:count], left[count:]
    changes: list[list[Scalar]] = []
    for shift in names.program.shifts:
        rate = values(shift.rate, names, shift.block, moved)
        w = own.get((shift.noise, shift.block), [sp.Integer(0)] * len(rate))
        if shift.image:
            start = moved.get(shift.old) or names.block(shift.block)
            changes.append([value - z for value, z in zip(rate, start, strict=True)])
            continue
        changes.append([names.eps * f + x for f, x in zip(rate, w, strict=True)])
    return changes


def values(tensor: Tensor, names: Names, block: Block, moved: Mapping[str, list[Scalar]] | None = None) -> list[Scalar]:
    """Return a vector over a block in symbols, updated blocks replaced by what they became."""
    index = next(iter(tensor.free), None)
    places = [{} if index is None else {index: at[0]} for at in positions(block.shape, names.sizes)]
    leaf = _leaf(names, moved or {})
    sums: Sums = {}
    return [scalarise(tensor, names.sizes, place, leaf, apart=names.at_point, sums=sums) for place in places]


def guarded(shift: Shift, names: Names, moved: Mapping[str, list[Scalar]]) -> Iterator[Scalar]:
    """Yield y for every `reciprocal(y)` in the rate of a shift, entry by entry: each y has to be positive."""
    leaf, index = _leaf(names, moved), next(iter(shift.rate.free), None)
    for atom in everywhere(shift.rate):
        match atom:
            case Applied("reciprocal", (y,)) if set(y.free) <= {index}:
                for at in positions(shift.block.shape, names.sizes):
                    place = {} if index is None else {index: at[0]}
                    yield scalarise(y, names.sizes, place, leaf, apart=names.at_point)
            case _:
                pass


def _leaf(names: Names, moved: Mapping[str, list[Scalar]]) -> Leaf:
    """Return what an atom is: an entry of a value that was made on the way, or what its name means."""
    inverses: dict[Grid, np.ndarray] = {}

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Coordinate(block, at) if block in moved:
                return moved[block][integers(at)[0] if at else 0]
            case Inverse(of, (int(row), int(col))) if names.at_point and depends_on_state(of):
                if of not in inverses:
                    inverses[of] = exact_inverse(matrix_at(names, of, leaf))
                return inverses[of][row, col]
            case Determinant(of, log=True) if names.at_point and depends_on_state(of):
                return sp.log(determinant_of(matrix_at(names, of, leaf)))
            case _:
                return names.atom(atom)

    return leaf


def entry_at(tensor: Tensor, at: tuple[int, ...], names: Names, moved: Mapping[str, list[Scalar]]) -> Scalar:
    """Return an entry of a tensor, of values that were made on the way."""
    return scalarise(
        tensor, names.sizes, dict(zip(tensor.free, at, strict=False)), _leaf(names, moved), apart=names.at_point
    )


def covariance(noise: Noise, names: Names, moved: Mapping[str, list[Scalar]] | None = None) -> sp.SparseMatrix:
    """Return t (2D - t B_hat) of a group over all its coordinates, sparse; t = eps, or 1 for a draw at once."""
    time = sp.Integer(1) if noise.at_once else names.eps
    leaf = _leaf(names, moved or {})
    blocks = [(a, list(positions(block.shape, names.sizes))) for a, block in enumerate(noise.blocks)]
    first = dict(enumerate(accumulate((len(own) for _, own in blocks), initial=0)))
    found: dict[tuple[int, int], Scalar] = {}
    for (a, rows), (b, cols) in product(blocks, blocks):
        both, every = _both(noise, a, b), list(enumerate(cols, first[b]))
        diagonal, alike = all(map(_is_diagonal, both)), {at: [(col, at)] for col, at in every}
        for row, at in enumerate(rows, first[a]):
            for col, to in alike.get(at, []) if diagonal else every:
                two_D, B_hat = (_entry(tensor, at, to, names, leaf) for tensor in both)
                found[row, col] = time * (two_D - time * B_hat)
    count = first[len(blocks)]
    return sp.SparseMatrix(count, count, found)


def _both(noise: Noise, a: int, b: int) -> tuple[Tensor, Tensor]:
    """Return 2D and B_hat of two blocks of a group."""
    return noise.two_D[a][b], Tensor((), ()) if noise.B_hat is None else noise.B_hat[a][b]


def _is_diagonal(tensor: Tensor) -> bool:
    """Whether every term holds the delta of row and column."""
    free = set(tensor.free)
    return all(
        any(isinstance(atom, Delta) and {atom.left, atom.right} == free for atom, _ in term.factors)
        for term in tensor.terms
    )


def _entry(tensor: Tensor, row: tuple[int, ...], col: tuple[int, ...], names: Names, leaf: Leaf) -> Scalar:
    places = {index: (row if index.label == "i" else col)[0] for index in tensor.free}
    return scalarise(tensor, names.sizes, places, leaf, apart=names.at_point)
