"""Read-back: the emitted text is what was verified, or it is not written.

At sizes 1, 2, 3 in all combinations, with eps a symbol: what every coordinate becomes, in terms of the old state, of
the coordinates updated before it and of normals, is what the Program states, for every eps, and so are its moments; the
parts of first order equal the derived drift and 2D, and the Fokker-Planck residual of those parts vanishes by the
second engine; the minibatch gradient equals its Program batch by batch and averages to the
full gradient over all batches of a small data set. Anything else is a CompilerError; what is not shown either way, or
not within its limit, is a ReadBackError. Either way no file is written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

import sympy as sp

from recipe_compiler.algebra.dynamics.system import drift as second_drift
from recipe_compiler.algebra.dynamics.system import residual, system
from recipe_compiler.algebra.scalars.symbols import positions
from recipe_compiler.algebra.scalars.transforms import inverse_slopes, transformed
from recipe_compiler.derive import stationarity
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried
from recipe_compiler.emit.print_lanes import has_lanes
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import extent, valued
from recipe_compiler.program.atoms import smallest_sizes
from recipe_compiler.program.program import InfinitesimalGenerator, Program
from recipe_compiler.program.rename import renamed
from recipe_compiler.readback.at_point import potential_gradients, same_drift, taken_at
from recipe_compiler.readback.branches import scalarise
from recipe_compiler.readback.child_process import Reading
from recipe_compiler.readback.chunks import check_sweep
from recipe_compiler.readback.cycle import check_cycle
from recipe_compiler.readback.draws import check_draws
from recipe_compiler.readback.energy import check_energies, check_potential, check_rest
from recipe_compiler.readback.first_order import at_start, first_order
from recipe_compiler.readback.gradient import compare_batch, same_blocks, same_gradient, signs
from recipe_compiler.readback.mean import ReadStep, next_values, stated_step
from recipe_compiler.readback.names import BATCH, Names, Sizes, relabelled, with_large_matrices_known
from recipe_compiler.readback.point import at_sizes, equal
from recipe_compiler.readback.propagators import at_start as at_rest
from recipe_compiler.readback.run_loop import check_first_values, check_iteration, check_lanes
from recipe_compiler.readback.stein_operator import (
    derived_moments,
    polynomials,
    read_moments,
    same_full_gradient,
    stated_moments,
)
from recipe_compiler.readback.step import read_step, same_step
from recipe_compiler.readback.text import check_names
from recipe_compiler.readback.transforms import transforms_of
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor

BATCHES = "batch_size"
ROWS = (1, 2, 3)
"""Numbers of rows at which the loops of a recursion are read."""


def read_back(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Mapping[str, int] | None = None
) -> tuple[Sizes, ...]:
    """Check that a module computes the step that was verified; return the sizes at which its text was read.

    At each size 1, 2, 3, for every eps: every new value given the old state, earlier new values, the batch and normals,
    is what the Program states, T(z') = T(z) + eps rate + w with w ~ N(0, eps (2D - eps B_hat)). Its first-order parts
    are f = -(D + Q) grad H + Gamma and 2D as derived (Ma, Chen, Fox 2015, Eqs. 3, 6 and 9, their sign of Gamma
    corrected), whose Fokker-Planck residual vanishes by the second engine. The minibatch gradient equals Eq. 7 batch by
    batch and has the full gradient as its mean over batches.

    Example: a step that adds eps*Gamma with the other sign differs from its Program in a new value and is refused,
    whatever its tests say.

    Args:
        module: emitted with symbolic sizes, as far as its documents leave them so.
        derivation: of the bound dynamics.
        names: what the user's names were changed to.
        pinned: sizes of the dynamics that the target fixes.

    Raises:
        CompilerError: it does not; names what differs and where.
        ReadBackError: it could not be shown that it does.
    """
    given = (module, derivation, names, pinned)
    for reading in (*readings(*given), *equation_readings(*given), *energy_readings(*given)):
        reading.job()
    return tuple(sizes_to_read(module.program))


def readings(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Mapping[str, int] | None = None
) -> list[Reading]:
    """Return the parts of `read_back` for the step and the gradient: one for each size, then one for blocks of rows."""
    at = _sizes_read(module.program, pinned)
    steps = [(f"the step{at_sizes(own)}", partial(_read_at, module, derivation, names, sizes)) for own, sizes in at]
    rows = ("the gradient of a whole block of rows", partial(same_blocks, module, at[-1][1]))
    return [Reading(says, job) for says, job in (*steps, rows)]


def _sizes_read(program: Program, pinned: Mapping[str, int] | None) -> list[tuple[Sizes, Sizes]]:
    """Return the sizes that a text is read at, each also with those of the dynamics that the target fixes."""
    return [(sizes, {**sizes, **(pinned or {})}) for sizes in sizes_to_read(program)]


def equation_readings(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Mapping[str, int] | None = None
) -> list[Reading]:
    """Return the parts of `read_back` that compare with the derived equation: the same for all shapes of loops.

    They are about the step as the Program states it, which that of every text is shown to be (`readings`), and about
    the generator, which is emitted without regard to the shape.
    """
    return [
        Reading(f"the equation{at_sizes(own)}", partial(_equation_at, module, derivation, names, sizes))
        for own, sizes in _sizes_read(module.program, pinned)
    ]


def _equation_at(module: Module, derivation: Derivation, names: Mapping[str, str], sizes: Sizes) -> None:
    module, derivation = _with_large_matrices_known(module, derivation, names, sizes)
    here = Names(module.program, sizes).for_steps
    if not here.at_point:
        if module.program.statements:
            _first_order(stated_step(here, next_values(here)), here, derivation, names)
        _same_generator(module, here, derivation, names)
        return
    same_drift(here, derivation, names)
    if module.program.infinitesimal_generator is not None:
        _same_shipped_generator(module, module.program.infinitesimal_generator, here)


def energy_readings(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Mapping[str, int] | None = None
) -> list[Reading]:
    """Return the parts of `read_back` for the energies that diagnostics use: the same for all shapes of loops."""
    if module.program.energies is None:
        return []
    return [
        Reading(f"the energies{at_sizes(own)}", partial(_energies_at, module, derivation, names, sizes))
        for own, sizes in _sizes_read(module.program, pinned)
    ]


def _energies_at(module: Module, derivation: Derivation, names: Mapping[str, str], sizes: Sizes) -> None:
    module, derivation = _with_large_matrices_known(module, derivation, names, sizes)
    check_energies(module, Names(module.program, sizes).for_steps, derivation, names)


def _read_at(module: Module, derivation: Derivation, names: Mapping[str, str], sizes: Sizes) -> None:
    check_names(module.text)
    module, derivation = _with_large_matrices_known(module, derivation, names, sizes)
    here = Names(module.program, sizes).for_steps
    if here.at_point:
        _same_at_point(module, here, sizes)
    elif module.program.statements and module.kernel.chunked:
        check_sweep(module, here)
    elif module.program.statements:
        same_step(read_step(module, here), here)
        same_gradient(module, here.for_gradients)
    _same_moves(module, here, derivation, names)


def _with_large_matrices_known(
    module: Module, derivation: Derivation, names: Mapping[str, str], sizes: Sizes
) -> tuple[Module, Derivation]:
    """Return both with the same values of matrices that are too large to be inverted as symbols."""
    parameters = with_large_matrices_known(module.program.parameters, sizes)
    if parameters == module.program.parameters:
        return module, derivation
    values = {parameter.name: parameter.value for parameter in parameters}
    declarations = derivation.dynamics.declarations
    own = tuple(replace(p, value=values.get(names.get(p.name, p.name), p.value)) for p in declarations.parameters)
    dynamics = replace(derivation.dynamics, declarations=replace(declarations, parameters=own))
    known = replace(module, program=replace(module.program, parameters=parameters))
    return known, replace(derivation, dynamics=dynamics)


def check_shipped(module: Module, sizes: Sizes) -> None:
    """Check the shipped text exactly, at one rational point, at the sizes it fixes (2 where it fixes none).

    Raises:
        CompilerError: it differs from its Program there.
    """
    for reading in shipped_readings(module, sizes):
        reading.job()


def shipped_readings(module: Module, sizes: Sizes) -> list[Reading]:
    """Return the parts of `check_shipped`.

    Args:
        module: the shipped text.
        sizes: those of the build, of which the text may fix some or none.
    """
    free = {name: max(2, smallest_sizes(module.program).get(name, 1)) for name in _symbolic(module.program)}
    known = dict(sizes) | free | _fixed(module.program) | _count(module.program)
    here = Names(module.program, known, at_point=True).for_steps
    check_names(module.text)
    found: list[Reading] = []
    if module.kernel.chunked:  # one more, for a remainder after the last full chunk
        beyond = Names(module.program, {name: size + 1 for name, size in free.items()})
        found.append(Reading("the shipped sweep", partial(check_sweep, module, beyond)))
    elif module.program.statements:
        found.append(Reading(f"the shipped step{at_sizes(known)}", partial(_same_at_point, module, here, known)))
    if module.program.cycle is not None:
        found.append(Reading("the moves", partial(_same_moves, module, here)))
    found.append(Reading("an iteration of the loop", partial(check_iteration, module, known)))
    if carried(module.program):
        found.append(Reading("the first values", partial(check_first_values, module, known)))
    if has_lanes(module.program, module.kernel):
        found.append(Reading("the lanes", partial(check_lanes, module, here)))
    if module.program.infinitesimal_generator is not None:
        found.append(
            Reading(
                "the generator", partial(_same_shipped_generator, module, module.program.infinitesimal_generator, here)
            )
        )
    if module.program.energies is not None:
        found.append(Reading("the energies at a point", partial(check_energies, module, here)))
    return found


def _same_shipped_generator(module: Module, generator: InfinitesimalGenerator, here: Names) -> None:
    read = read_moments(module, here)
    for place, value in stated_moments(generator, here).items():
        equal(read[place], value, f"entry {place} of the generator at a point", here)
    same_full_gradient(module, generator.gradient, here.for_gradients)


def _same_moves(
    module: Module, here: Names, derivation: Derivation | None = None, names: Mapping[str, str] | None = None
) -> None:
    check_draws(module, here)
    check_potential(module, here)
    check_rest(module, here, derivation, names)
    check_cycle(module, here)


def _same_at_point(module: Module, here: Names, known: Sizes) -> None:
    same_step(read_step(module, here), here)
    if module.program.gradient is not None and not module.program.gradient.code:
        for at in signs(here.for_gradients):
            compare_batch(module, module.program.gradient, at, tuple(range(BATCH, 0, -1)))
        same_blocks(module, known)


def sizes_to_read(program: Program) -> Iterator[Sizes]:
    """Yield 1, 2, 3 for every symbolic size of state and parameters, in all combinations.

    Where the program names a position (`theta[2]`), a size starts at the smallest that has it. For a recursion the
    number of rows takes the values of `ROWS` as well; otherwise it is fixed.
    """
    fixed = _fixed(program)
    names = tuple(name for name in _symbolic(program) if name not in fixed)
    least = smallest_sizes(program)
    ranges = [range(least.get(name, 1), max(3, least.get(name, 1) + 1) + 1) for name in names]
    counts = _count(program)
    rows = [{name: count for name in counts if name != BATCHES} for count in ROWS] if _has_recursion(program) else [{}]
    for numbers in product(*ranges):
        yield from (fixed | dict(zip(names, numbers, strict=True)) | counts | few for few in rows)


def with_heads(module: Module, sizes: Sizes) -> Module:
    """Return a module with other sizes at the head of its text: the same text, at other sizes.

    Raises:
        CompilerError: the text has no such head.
    """
    head = "\n".join(f"{size} = {number}" for size, number in module.program.heads)
    if module.text.count(f"\n{head}\n") != 1:
        raise CompilerError("the emitted text does not have the sizes of the target's blocks at its head")
    heads = tuple((size, sizes[size]) for size, _ in module.program.heads)
    text = module.text.replace(f"\n{head}\n", "\n" + "\n".join(f"{size} = {number}" for size, number in heads) + "\n")
    return replace(module, text=text, program=replace(module.program, heads=heads))


def _fixed(program: Program) -> dict[str, int]:
    """Return the sizes at the head of a text, and that of the potential's block, which they give."""
    gradient, sizes = program.gradient, dict(program.heads)
    if not sizes or gradient is None:
        return sizes
    last = gradient.parts[-1]
    total = valued(last.start, sizes) + valued(extent(last.block.shape), sizes)
    return sizes | {size: total for size in gradient.block.shape.sizes if isinstance(size, str)}


def _symbolic(program: Program) -> tuple[str, ...]:
    """Return the symbolic sizes of state and parameters."""
    shapes = [item.shape for item in (*program.blocks, *program.parameters)]
    return tuple(dict.fromkeys(size for shape in shapes for size in shape.sizes if isinstance(size, str)))


def _count(program: Program) -> dict[str, int]:
    """Return the number of data of the small data set that gradients are read on."""
    counts = {datum.size: BATCH + 1 for datum in program.data if isinstance(datum.size, str)}
    return counts | {BATCHES: BATCH}


def _has_recursion(program: Program) -> bool:
    return program.gradient is not None and program.gradient.recursion is not None


def _first_order(step: ReadStep, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Compare the parts of order eps with the derived drift and 2D, and put them into the Fokker-Planck equation.

    With S the inverse of T, what moves T by f eps and noise of variance v eps moves z by (S' f + S'' v/2) eps (Ito).
    All values of a block are the old one at eps = 0; what they are beyond that changes E[dz] by order eps**2, so the
    parts of several shifts of a block add up, but for those of which another is made by substitution.
    """
    program = here.program
    places = [(shift.block, k) for shift in program.shifts for k in range(len(here.block(shift.block)))]
    again = (*(shift.again for shift in program.shifts[1:]), False)
    lasting = [not put_in for shift, put_in in zip(program.shifts, again, strict=True) for _ in here.block(shift.block)]
    rows = {
        place: [n for n, own in enumerate(places) if own == place and lasting[n]] for place in dict.fromkeys(places)
    }
    coordinates_ = [(block, k) for block in program.blocks for k in range(len(here.block(block)))]
    old = [here.block(block)[k] for block, k in coordinates_]
    still = {new: here.block(block)[k] for new, (block, k) in zip(step.next, places, strict=True)}
    still |= at_rest(here)
    for value, start in program.gradients.items():
        still |= dict(zip(here.gradient(value), here.gradient(start), strict=True))
    values = [value.xreplace(still) for value in step.values]
    transforms = transforms_of(here)
    images = [shift.image for shift in program.shifts for _ in here.block(shift.block)]
    for value, (block, k), transform, image in zip(values, places, transforms, images, strict=True):
        if image:  # of eps it is free, and within the domain what it is of
            continue
        stated = transformed(transform, here.block(block)[k])
        equal(at_start(value), stated, f"a value of {block.name}[{k}] at eps = 0", here)
    covariance = {place: first_order(w.xreplace(still)) for place, w in step.covariance.items()}
    inverses = [inverse_slopes(own, here.block(block)[k]) for own, (block, k) in zip(transforms, places, strict=True)]
    slopes = [
        once * first_order(value) + twice * covariance.get((n, n), 0) / 2
        for n, (value, (once, twice)) in enumerate(zip(values, inverses, strict=True))
    ]
    f = [sp.Add(*(slopes[n] for n in rows[place])) for place in coordinates_]
    two_D = [
        [
            sp.Add(
                *(
                    inverses[n][0] * inverses[m][0] * covariance[n, m]
                    for n in rows[one]
                    for m in rows[other]
                    if (n, m) in covariance
                )
            )
            for other in coordinates_
        ]
        for one in coordinates_
    ]
    dimension = range(len(old))
    derived, doubled = _derived(derivation, here, names)
    for a in dimension:
        equal(*_alike(f[a], derived[a], here), f"the drift of z_{a}", here)
        for b in dimension:
            equal(*_alike(two_D[a][b], doubled[a][b], here), f"2D[{a}, {b}]", here)
    dynamics = derivation.dynamics
    if dynamics.D is None or dynamics.Q is None:
        raise CompilerError("a derivation without D and Q")
    back = {new: old for old, new in names.items()}
    there = system(dynamics.declarations, dynamics.H, dynamics.D, dynamics.Q, here.sizes)
    abstract = potential_gradients(derivation, here, names)
    known = here.inverses_written_out([*f, *(entry for row in two_D for entry in row)])
    drift = tuple(relabelled(entry.xreplace(known), back).xreplace(abstract) for entry in f)
    D = tuple(tuple(relabelled(entry.xreplace(known), back) / 2 for entry in row) for row in two_D)
    of_equation = sp.Integer(0)
    if not stationarity.residual(derivation, derivation.drift, derivation.D).is_zero:
        # what is stationary at the values of a build leaves something at others, of the step as of its equation
        of_equation = residual(there, second_drift(there), there.D)
    equal(residual(there, drift, D), of_equation, "the Fokker-Planck residual of the step's first order", here)


def _alike(read: Scalar, stated: Scalar, here: Names) -> tuple[Scalar, Scalar]:
    """Return two expressions with the inverses written out that only one of them names: inv(2 A) is inv(A)/2."""
    one, other = ({s.name for s in value.free_symbols if s.name.startswith("inv(")} for value in (read, stated))
    if one == other:
        return read, stated
    known = here.inverses_written_out((read, stated))
    return read.xreplace(known), stated.xreplace(known)


def _same_generator(module: Module, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Compare L phi as the emitted generator computes it with the second engine's, from D, Q and H."""
    generator = module.program.infinitesimal_generator
    if generator is None:
        return
    read = read_moments(module, here)
    back = {new: old for old, new in names.items()}
    abstract = potential_gradients(derivation, here, names)
    found = {place: sp.Integer(0) + value for place, value in read.items()}
    known = here.inverses_written_out(found.values())
    phis = {place: relabelled(phi, back) for place, phi in polynomials(generator, here).items()}
    for place, value in derived_moments(derivation, phis, here.sizes).items():
        own = relabelled(found[place].xreplace(known), back).xreplace(abstract)
        equal(own, value, f"L({phis[place]})", here)
    same_full_gradient(module, generator.gradient, here.for_gradients)


def _derived(derivation: Derivation, here: Names, names: Mapping[str, str]) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Return the derived drift and 2D over all coordinates, in the symbols of the program."""
    blocks = derivation.dynamics.declarations.blocks
    arrays = {function.name: array for function, _, array in taken_at(derivation, here, names)}

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Component(name, (), (Coordinate(_, at),)) if name in arrays:
                return here.gradient(arrays[name])[next((k for k in at if isinstance(k, int)), 0)]
            case _:
                return here.atom(atom)

    def value(tensor: Tensor, at: tuple[int, ...], to: tuple[int, ...]) -> Scalar:
        places = {index: (at if index.label == "i" else to)[0] for index in tensor.free}
        return scalarise(renamed(tensor, names), here.sizes, places, leaf)

    rows = [(a, at) for a, block in enumerate(blocks) for at in positions(block.shape, here.sizes)]
    drift = [value(derivation.drift[a], at, ()) for a, at in rows]
    return drift, [[2 * value(derivation.D[a][b], at, to) for b, to in rows] for a, at in rows]
