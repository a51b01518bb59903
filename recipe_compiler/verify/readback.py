"""Read-back: the emitted text is what was verified, or it is not written.

At sizes 1, 2, 3 in all combinations, with eps a symbol: E[dz] and Cov[dz] given the batch equal those of the Program
as whole functions of eps; their parts of first order equal the derived drift and 2D, and the Fokker-Planck residual of
those parts vanishes by the second engine; the minibatch gradient equals its Program batch by batch and averages to the
full gradient over all batches of a small data set. Anything else is a CompilerError.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import sympy as sp

from recipe_compiler.algebra.symbols import component, coordinates, length, positions
from recipe_compiler.algebra.system import residual, system
from recipe_compiler.algebra.zero import is_zero
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_lanes import has_lanes
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.program import Gradient, Program
from recipe_compiler.program.rename import rename_tensor
from recipe_compiler.tensor.scalars import Scalar, scalarise
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor
from recipe_compiler.verify.read_chunks import read_sweep
from recipe_compiler.verify.read_generator import (
    derived_moments,
    polynomials,
    read_full_gradient,
    read_moments,
    stated_moments,
)
from recipe_compiler.verify.read_gradient import BATCH, batches, read_gradient, stated_gradient
from recipe_compiler.verify.read_lanes import check_lanes
from recipe_compiler.verify.read_names import EPS, Names, Sizes
from recipe_compiler.verify.read_point import changes_at_point, vanishes
from recipe_compiler.verify.read_sizes import smallest_sizes
from recipe_compiler.verify.read_step import Increment, read_increment, stated_increment
from recipe_compiler.verify.read_turn import check_turn
from recipe_compiler.verify.undefined import check_names

BEYOND = 5
"""Rows read beyond a whole block: more than the four that are summed at once."""
STRIDE = 5
"""The rows of the batch that is read in blocks are this far apart, so that no row has the number of its place."""


def read_back(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Mapping[str, int] | None = None
) -> tuple[Sizes, ...]:
    """Check that a module computes the step it was emitted for; return the sizes at which it was read.

    Args:
        module: emitted with symbolic sizes, as far as its documents leave them so.
        derivation: of the bound dynamics.
        names: what the user's names were changed to.
        pinned: sizes of the dynamics that the target fixes.

    Raises:
        CompilerError: it does not; names what differs and where.
    """
    check_names(module.text)
    checked: list[Sizes] = []
    for sizes in sizes_to_read(module.program):
        here = Names(module.program, {**sizes, **(pinned or {})})
        if module.kernel.chunked:
            read = _same_sweep(module, here)
        else:
            read = read_increment(module, here)
            _same_moments(read, stated_increment(here), here)
            _same_gradient(module, here)
        _first_order(read, here, derivation, names)
        _same_generator(module, here, derivation, names)
        checked.append(sizes)
    _same_blocks(module, {**checked[-1], **(pinned or {})})
    return tuple(checked)


def check_shipped(module: Module, sizes: Sizes) -> None:
    """Check the text that is shipped, at the sizes it fixes (2 where it fixes none), exactly at one rational point.

    Raises:
        CompilerError: it differs from its Program there.
    """
    check_names(module.text)
    free = {name: max(2, smallest_sizes(module.program).get(name, 1)) for name in _symbolic(module.program)}
    known = free | (dict(sizes) if not module.kernel.chunked else {}) | _count(module.program)
    here = Names(module.program, known, at_point=True)
    if module.kernel.chunked:  # one more, for a remainder after the last full chunk
        _same_sweep(module, Names(module.program, {name: size + 1 for name, size in free.items()}))
    else:
        _same_at_point(module, here, known)
    check_turn(module, known)
    if has_lanes(module.program, module.kernel):
        check_lanes(module, here)
    if (generator := module.program.generator) is not None:
        read = read_moments(module, here)
        for place, value in stated_moments(generator, here).items():
            _equal(read[place], value, f"entry {place} of the generator at a point", here)
        _same_full_gradient(module, generator.gradient, here)


def _same_at_point(module: Module, here: Names, known: Sizes) -> None:
    for a, (read, stated) in enumerate(zip(*changes_at_point(module, here), strict=True)):
        _equal(read, stated, f"the change of z_{a} at a point", here)
    if module.program.gradient is not None and not module.program.gradient.code:
        _compare_batch(module, module.program.gradient, here, tuple(range(BATCH, 0, -1)))
        _same_blocks(module, known)


def sizes_to_read(program: Program) -> Iterator[Sizes]:
    """Yield 1, 2, 3 for every symbolic size of state and parameters, in all combinations.

    Where the program names a position (`theta[2]`), a size starts at the smallest that has it.
    """
    names = _symbolic(program)
    least = smallest_sizes(program)
    ranges = [range(least.get(name, 1), max(3, least.get(name, 1) + 1) + 1) for name in names]
    for numbers in product(*ranges):
        yield dict(zip(names, numbers, strict=True)) | _count(program)


def _symbolic(program: Program) -> tuple[str, ...]:
    """Return the symbolic sizes of state and parameters."""
    shapes = [item.shape for item in (*program.blocks, *program.parameters)]
    return tuple(dict.fromkeys(size for shape in shapes for size in shape.sizes if isinstance(size, str)))


def _count(program: Program) -> dict[str, int]:
    """Return the number of data of the small data set that gradients are read on."""
    counts = {datum.size: BATCH + 1 for datum in program.data if isinstance(datum.size, str)}
    return counts | {"batch_size": BATCH}


def _same_sweep(module: Module, here: Names) -> Increment:
    """Compare a step that is taken chunk by chunk with its Program, and return it as it was read."""
    sweep = read_sweep(module, here)
    _same_moments(sweep.increment, stated_increment(here), here)
    for k, (read, stated) in enumerate(sweep.gradients):
        _equal(read, stated, f"entry {k} of the gradient", here)
    return sweep.increment


def _same_moments(read: Increment, stated: Increment, here: Names) -> None:
    for a in range(len(stated.terms)):
        _equal(read.mean(a), stated.mean(a), f"E[dz_{a}] as a function of eps", here)
        for b in range(a + 1):
            _equal(read.cross(a, b), stated.cross(a, b), f"Cov[dz_{a}, dz_{b}] as a function of eps", here)


def _first_order(read: Increment, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Compare the parts of order eps with the derived drift and 2D, and put them into the Fokker-Planck equation."""
    dimension = range(len(read.terms))
    f = [_at_zero(sp.diff(read.mean(a), EPS)) for a in dimension]
    two_D = [[_at_zero(sp.diff(read.cross(a, b), EPS)) for b in dimension] for a in dimension]
    derived, doubled = _derived(derivation, here, names)
    for a in dimension:
        _equal(_at_zero(read.mean(a)), sp.Integer(0), f"E[dz_{a}] at eps = 0", here)
        _equal(f[a], derived[a], f"the drift of z_{a}", here)
        for b in dimension:
            _equal(two_D[a][b], doubled[a][b], f"2D[{a}, {b}]", here)
    dynamics = derivation.dynamics
    if dynamics.D is None or dynamics.Q is None:
        raise CompilerError("a derivation without D and Q")
    back = {sp.Symbol(new): sp.Symbol(old) for old, new in names.items()}
    there = system(dynamics.declarations, dynamics.H, dynamics.D, dynamics.Q, here.sizes)
    abstract = _potential_gradient(derivation, here)
    known = here.inverses_written_out()
    drift = tuple(_relabelled(entry.xreplace(known), back).xreplace(abstract) for entry in f)
    D = tuple(tuple(_relabelled(entry.xreplace(known), back) / 2 for entry in row) for row in two_D)
    _equal(residual(there, drift, D), sp.Integer(0), "the Fokker-Planck residual of the step's first order", here)


def _same_generator(module: Module, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Compare L phi as the emitted generator computes it with the second engine's, from D, Q and H."""
    generator = module.program.generator
    if generator is None:
        return
    read = read_moments(module, here)
    back = {sp.Symbol(new): sp.Symbol(old) for old, new in names.items()}
    known, abstract = here.inverses_written_out(), _potential_gradient(derivation, here)
    phis = {place: _relabelled(phi, back) for place, phi in polynomials(generator, here).items()}
    for place, value in derived_moments(derivation, phis, here.sizes).items():
        found = _relabelled((sp.Integer(0) + read[place]).xreplace(known), back).xreplace(abstract)
        _equal(found, value, f"L({phis[place]})", here)
    _same_full_gradient(module, generator.gradient, here)


def _same_full_gradient(module: Module, gradient: Gradient, here: Names) -> None:
    rows = range(0 if gradient.count is None else length(gradient.count, here.sizes))
    stated = stated_gradient(gradient, here, rows, sp.Integer(1))
    for k, (entry, value) in enumerate(zip(read_full_gradient(module, here), stated, strict=True)):
        _equal(entry, value, f"entry {k} of the gradient of all data", here)


def _at_zero(value: Scalar) -> Scalar:
    return sp.expand(value).subs(EPS, 0)


def _relabelled(value: Scalar, names: Mapping[sp.Symbol, sp.Symbol]) -> Scalar:
    """Return an expression with the heads of its symbols (`theta` of `theta[0]`) renamed."""
    heads = {old.name: new.name for old, new in names.items()}
    moves: dict[Scalar, Scalar] = {}
    for symbol in value.free_symbols:
        head, bracket, rest = symbol.name.partition("[")
        if head in heads:
            moves[symbol] = sp.Symbol(heads[head] + bracket + rest, **symbol.assumptions0)
    return value.xreplace(moves)


def _potential_gradient(derivation: Derivation, here: Names) -> dict[Scalar, Scalar]:
    """Return the symbols of the gradient with the derivatives of the abstract potential they stand for."""
    declarations = derivation.dynamics.declarations
    potential = next((f for f in declarations.functions if f.role == "potential"), None)
    if potential is None:
        return {}
    U = component(potential, (), declarations, here.sizes)
    block = next(block for block in declarations.blocks if block.name == potential.of[0])
    return {symbol: sp.diff(U, z) for symbol, z in zip(here.gradient(), coordinates(block, here.sizes), strict=True)}


def _derived(derivation: Derivation, here: Names, names: Mapping[str, str]) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Return the derived drift and 2D over all coordinates, in the symbols of the program."""
    blocks = derivation.dynamics.declarations.blocks
    potential = derivation.dynamics.potential

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Component(name, (), (Coordinate(_, at),)) if name == potential:
                return here.gradient()[next((k for k in at if isinstance(k, int)), 0)]
            case _:
                return here.atom(atom)

    def value(tensor: Tensor, at: tuple[int, ...], to: tuple[int, ...]) -> Scalar:
        places = {index: (at if index.label == "i" else to)[0] for index in tensor.free}
        return scalarise(rename_tensor(tensor, names), here.sizes, places, leaf)

    rows = [(a, at) for a, block in enumerate(blocks) for at in positions(block.shape, here.sizes)]
    drift = [value(derivation.drift[a], at, ()) for a, at in rows]
    return drift, [[2 * value(derivation.D[a][b], at, to) for b, to in rows] for a, at in rows]


def _same_gradient(module: Module, here: Names) -> None:
    gradient = module.program.gradient
    if gradient is None or gradient.code:
        return
    if not gradient.minibatch or gradient.count is None:
        _compare_batch(module, gradient, here, ())
        return
    count = length(gradient.count, here.sizes)
    every = batches(module.program, count, BATCH)
    read = [_compare_batch(module, gradient, here, batch) for batch in every]
    full = stated_gradient(gradient, here, range(count), sp.Integer(1))
    for k, entry in enumerate(full):
        mean = sp.Add(*(values[k] for values in read)) / len(every)
        _equal(mean, entry, f"the mean over all {len(every)} batches of entry {k} of the gradient", here)


def _same_blocks(module: Module, sizes: Sizes) -> None:
    """Compare a gradient that takes its rows in blocks at a point, with a whole block and rows beyond it."""
    gradient = module.program.gradient
    if gradient is None or module.kernel.block == 1:
        return
    rows = module.kernel.block + BEYOND
    many = {str(datum.size): rows + 1 for datum in module.program.data if isinstance(datum.size, str)}
    here = Names(module.program, {**sizes, **many, "batch_size": rows}, at_point=True)
    batch = tuple((STRIDE * k + 2) % (rows + 1) for k in range(rows))
    taken = batch if gradient.minibatch else tuple(range(rows + 1))
    read = read_gradient(module, here, batch)
    ends = sorted({0, len(read) // 2, len(read) - 1})  # all entries are one loop's; every one reads all rows
    scale = sp.Rational(rows + 1, len(taken))
    for k, stated in zip(ends, stated_gradient(gradient, here, taken, scale, ends), strict=True):
        _equal(read[k], stated, f"entry {k} of the gradient of {len(taken)} rows", here)


def _compare_batch(module: Module, gradient: Gradient, here: Names, batch: tuple[int, ...]) -> list[Scalar]:
    """Compare the gradient of one batch with its Program and return it as it was read."""
    rows, scale = batch, sp.Integer(1)
    if gradient.count is not None:
        count = length(gradient.count, here.sizes)
        rows = batch if gradient.minibatch else tuple(range(count))
        scale = sp.Rational(count, len(rows))
    read = read_gradient(module, here, batch)
    for k, (entry, stated) in enumerate(zip(read, stated_gradient(gradient, here, rows, scale), strict=True)):
        _equal(entry, stated, f"entry {k} of the gradient of batch {batch}", here)
    return read


def _equal(read: Scalar, stated: Scalar, what: str, here: Names) -> None:
    difference = read - stated
    if difference == 0 or (vanishes(difference) if here.at_point else is_zero(difference)):
        return
    at = ", ".join(f"{name} = {number}" for name, number in here.sizes.items())
    raise CompilerError(f"the emitted text was read back and differs from its Program in {what} ({at})")
