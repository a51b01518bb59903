"""An involution as a move of a Program: what it draws, the images of blocks, and the log of its ratio besides H."""

from collections.abc import Mapping

from recipe_compiler.derive.involution import JacobianError, mapped
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.errors import model_error
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.program import Auxiliary, Image, Involution, Noise, Program
from recipe_compiler.program.rename import renamed
from recipe_compiler.spec.model import Involution as Stated
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Tensor


def reflected(
    move: Stated, program: Program, known: Declarations, newest: Mapping[str, str], taken: frozenset[str]
) -> Involution:
    """Return the move of an involution S of (z, w), which starts at the newest values.

    Accepted is log u < H(z) - H(z') + log_ratio, with the log_ratio of `derive.involution.Mapped.log_ratio`.

    Args:
        move: as a build states it.
        program: whose blocks it maps.
        known: what the formulas of the move may name (`spec.read_moves.visible`).
        newest: every block to its newest value.
        taken: names that those of the compiler must not meet.

    Raises:
        ModelError: structure does not give the determinant of its Jacobian.
    """
    of = mapped(move, known)
    try:
        log_ratio = of.log_ratio()
    except JacobianError as why:
        problem = f"found an involution of {', '.join(move.moved)} whose Jacobian is not known: {why}"
        hint = "state it so that each block depends on itself entry by entry, others in an order"
        raise model_error("scheme.cycle", problem, hint) from None
    drawn = {own.block.name: fresh(f"{own.block.name}_drawn", taken) for own in move.draws}
    values = {**newest, **drawn}

    def in_newest(formula: Formula, block: Block, *, stated: bool = False) -> Tensor:
        return renamed(convert(formula, of.declarations, *row_slots(block), stated=stated), values)

    auxiliaries: list[Auxiliary] = []
    for own in of.stated.draws:
        m, cov = own.law.arguments
        block = Block(drawn[own.block.name], own.block.shape)
        covariance = convert(cov, of.declarations, *row_slots(block), *col_slots(block))
        noise = Noise(fresh(f"n_{block.name}", taken), (block,), ((covariance,),), None, at_once=True)
        auxiliaries.append(Auxiliary(block, in_newest(m, block), noise))
    images: list[Image] = []
    for block in program.blocks:
        if block.name in move.moved:
            old = newest[block.name]
            at, new = (fresh(f"{old}_{ending}", taken) for ending in ("image", "mapped"))
            images.append(Image(block, old, at, new, in_newest(of.maps[block.name], block, stated=True)))
    start = tuple((block.name, newest[block.name]) for block in program.blocks)
    return Involution(tuple(auxiliaries), tuple(images), renamed(log_ratio, values), start)
