"""Read-back: the emitted text is what was verified, or it is not written.

At sizes 1, 2, 3 in all combinations, with eps a symbol: what every coordinate becomes, in terms of the old state, of
the coordinates updated before it and of normals, is what the Program states, for every eps, and so are its moments; the
parts of first order equal f and 2D of the second engine; the minibatch gradient equals its Program batch by batch and
averages to the full gradient over all batches of a small data set. Anything else is a CompilerError; what is not shown
either way, or not within its limit, is a ReadBackError. Either way no file is written.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried
from recipe_compiler.emit.print_lanes import has_lanes
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import extent, valued
from recipe_compiler.program.atoms import smallest_sizes
from recipe_compiler.program.program import Program, steps_at_head
from recipe_compiler.readback.arguments import check_arguments
from recipe_compiler.readback.calls import rows_read
from recipe_compiler.readback.child_process import Reading
from recipe_compiler.readback.chunks import check_sweep
from recipe_compiler.readback.cycle import check_cycle
from recipe_compiler.readback.draws import check_draws
from recipe_compiler.readback.energy import check_energies, check_full_gradient
from recipe_compiler.readback.gradient import check_gradient, same_blocks
from recipe_compiler.readback.names import Names, Sizes
from recipe_compiler.readback.point import at_sizes
from recipe_compiler.readback.run_loop import check_first_values, check_lanes, check_run, check_seeds
from recipe_compiler.readback.second_engine import Engine, check_step, second_engine
from recipe_compiler.readback.step import read_step, same_step
from recipe_compiler.readback.text import check_names

ROWS = (1, 2, 3)
"""Numbers of rows at which the loops of a recursion are read."""
STEPS = 2
"""The most steps from row to row in which solutions are read."""
BLOCKS = "the gradient of a whole block of rows"
Check = Callable[[Module, Names, Engine], Any]


def readings_of_build(
    small: Sequence[tuple[Sequence[Module], Sizes]], shipped: Module, derivation: Derivation, names: Mapping[str, str],
    sizes: Sizes,
) -> Iterator[Reading]:  # fmt: skip
    """Yield what is read to show that a module computes the step that was verified.

    At each size 1, 2, 3, for every eps: every new value given the old state, earlier new values, the batch and normals,
    is what the Program states, T(z') = T(z) + eps rate + w with w ~ N(0, eps (2D - eps B_hat)). Its first-order parts
    are f = -(D + Q) grad H + Gamma and 2D of the second engine (Ma, Chen, Fox 2015, Eqs. 3, 6 and 9, their sign of
    Gamma corrected). The minibatch gradient equals Eq. 7 batch by batch and has the full gradient as its mean over
    batches.

    Example: a step that adds eps*Gamma with the other sign differs from its Program in a new value and is refused,
    whatever its tests say.

    Args:
        small: at each of the small sizes, texts in every shape of loops, that of the shipped text last, and the sizes
            that the target fixes.
        shipped: the text at the build's own sizes.
        derivation: of the bound dynamics.
        names: what the user's names were changed to.
        sizes: those of the build.
    """
    for modules, pinned in small:
        for module in modules:
            yield from readings(module, derivation, names, pinned)
        yield from equation_readings(modules[-1], derivation, names, pinned)
    yield from shipped_readings(shipped, sizes)


def readings(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Sizes | None = None
) -> list[Reading]:
    """Return what is read of the step and the moves, one part for each size, and of the gradient of a block of rows."""
    checks: dict[str, Check] = {"the step": _check_step} | ({"the moves": _check_moves} if module.program.cycle else {})
    *_, sizes = sizes_to_read(module.program)
    rows = partial(same_blocks, module, {**sizes, **(pinned or {})})
    return [
        *_readings(checks, module, derivation, names, pinned),
        Reading("the gradient of a whole block of rows", rows),
    ]


def equation_readings(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Sizes | None = None
) -> list[Reading]:
    """Return what is compared with the derived equation: the same for all shapes of loops.

    It is the step as the Program states it, which that of every text is shown to be (`readings`), and the energies,
    which are emitted without regard to the shape.
    """
    checks: dict[str, Check] = {"the equation": _check_equation, "the energies": check_energies}
    return _readings(checks, module, derivation, names, pinned)


def _readings(
    checks: Mapping[str, Check], module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Sizes | None
) -> list[Reading]:
    """Return a reading of each kind for each size; the target may fix sizes of the dynamics."""
    return [
        Reading(
            f"{what}{at_sizes(own)}", partial(_check_at, check, module, derivation, names, {**own, **(pinned or {})})
        )
        for what, check in checks.items()
        for own in sizes_to_read(module.program)
    ]


def _check_at(check: Check, module: Module, derivation: Derivation, names: Mapping[str, str], sizes: Sizes) -> None:
    here = Names(module.program, sizes).for_steps
    check(module, here, partial(second_engine, derivation, names, here))


def _check_equation(module: Module, here: Names, engine: Engine) -> None:
    if module.program.statements:
        check_step(engine())


def _check_step(module: Module, here: Names, engine: Engine | None = None) -> None:
    check_names(module.text)
    if module.program.statements and module.kernel.chunked:
        check_sweep(module, here)
    elif module.program.statements:
        for at in here.signed:
            same_step(read_step(module, at), at)
        check_gradient(module, here.for_gradients, every=engine is not None)


def _check_moves(module: Module, here: Names, engine: Engine | None = None) -> None:
    check_energies(module, here, engine, of_moves=True)
    for at in here.signed:
        check_draws(module, at)
        check_cycle(module, at)


def shipped_readings(module: Module, sizes: Sizes) -> list[Reading]:
    """Return what is read of the shipped text, at one rational point, at the sizes it fixes (2 where it fixes none).

    Args:
        module: the shipped text.
        sizes: those of the build, of which the text may fix some or none.
    """
    program = module.program
    free = {name: max(2, smallest_sizes(program).get(name, 1)) for name in _symbolic(program)}
    known = dict(sizes) | free | _fixed(program) | rows_read(program)
    here = Names(program, known, at_point=True).for_steps
    beyond = Names(program, {name: size + 1 for name, size in free.items()})  # a remainder after the last full chunk
    checks: dict[str, Callable[[], Any]] = {
        f"the shipped step{at_sizes(known)}": partial(_check_step, module, beyond if module.kernel.chunked else here),
        BLOCKS: partial(same_blocks, module, known),
        "the moves": partial(_check_moves, module, here),
        "an iteration of the loop": partial(check_run, module, known),
        "the gradient of all data": partial(check_full_gradient, module, here),
        "the energies at a point": partial(check_energies, module, here),
    }
    checks |= {"the seeds": partial(check_seeds, module), "what stands beside": partial(check_arguments, module)}
    checks |= {"the first values": partial(check_first_values, module, known)} if carried(program) else {}
    checks |= {"the lanes": partial(check_lanes, module, known)} if has_lanes(program, module.kernel) else {}
    return [Reading(what, check) for what, check in checks.items()]


def sizes_to_read(program: Program) -> Iterator[Sizes]:
    """Yield 1, 2, 3 for every symbolic size of state and parameters, in all combinations.

    Where the program names a position (`theta[2]`), a size starts at the smallest that has it. For a recursion the
    number of rows takes the values of `ROWS` as well; otherwise it is fixed.
    """
    fixed = _fixed(program)
    names = tuple(name for name in _symbolic(program) if name not in fixed)
    least = smallest_sizes(program)
    ranges = [range(least.get(name, 1), max(3, least.get(name, 1) + 1) + 1) for name in names]
    counts = rows_read(program)
    numbers_of_rows = ROWS if _has_recursion(program) else ()
    if steps_at_head(program.gradient):  # its stages are as many: three rows are read of the shipped text alone
        numbers_of_rows = ROWS[:-1]
    rows = [dict.fromkeys(counts.keys() - {"batch_size"}, n) for n in numbers_of_rows] or [{}]
    for numbers in product(*ranges):
        yield from (fixed | dict(zip(names, numbers, strict=True)) | counts | few for few in rows)


def with_heads(module: Module, sizes: Sizes) -> Module:
    """Return a module with other sizes at the head of its text: the same text, at other sizes, and in few steps.

    Raises:
        CompilerError: the text has no such head.
    """
    if not module.program.heads:
        return module
    head = "\n".join(f"{size} = {number}" for size, number in module.program.heads)
    if module.text.count(f"\n{head}\n") != 1:
        raise CompilerError("the emitted text does not have the sizes of the target's blocks at its head")
    heads = tuple((size, sizes.get(size, min(number, STEPS))) for size, number in module.program.heads)
    text = module.text.replace(f"\n{head}\n", "\n" + "\n".join(f"{size} = {number}" for size, number in heads) + "\n")
    return replace(module, text=text, program=replace(module.program, heads=heads))


def _fixed(program: Program) -> dict[str, int]:
    """Return the sizes at the head of a text, and that of the potential's block, which they give."""
    gradient, sizes = program.gradient, dict(program.heads)
    if not sizes or gradient is None or program.heads == steps_at_head(gradient):
        return sizes
    last = gradient.parts[-1]
    total = valued(last.start, sizes) + valued(extent(last.block.shape), sizes)
    return sizes | {size: total for size in gradient.block.shape.sizes if isinstance(size, str)}


def _symbolic(program: Program) -> tuple[str, ...]:
    """Return the symbolic sizes of state and parameters."""
    shapes = [item.shape for item in (*program.blocks, *program.parameters)]
    return tuple(dict.fromkeys(size for shape in shapes for size in shape.sizes if isinstance(size, str)))


def _has_recursion(program: Program) -> bool:
    return program.gradient is not None and program.gradient.recursion is not None
