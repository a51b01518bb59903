"""Does probability flow through the faces of the domain of a build? With the target's potential in the place of U.

Of dynamics alone U is any function, and what exp(-U) does at a face stays open; a target that states U decides it. A
proof that rests on chains being reflected is none of a build: no emitted step reflects.
"""

from dataclasses import replace

from recipe_compiler import limits
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Entry, Explicit, Formula, Role, Symbol
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.builds.in_build import Stages, decided_in
from recipe_compiler.verify.core.build_values import sharpen_kinds
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.uniqueness.boundary import REFLECTED, boundary


def boundary_in(build: Build, bound: Dynamics) -> Answer:
    """Decide the flux through every face of a build's domain: for every U if possible, else for the target's U.

    At distance y from a face p = exp(-H) ~ y**e and the face's row of D + Q ~ y**s need s + e > 0, as in
    `uniqueness.boundary`. A proof that rests on reflection does not hold of a build, and is undecided: no emitted step
    reflects.
    """
    of_any = _decide_flux(build, bound)
    stated = bind_potential(build, bound)
    if not isinstance(of_any.decision, Undecided) or stated is None:
        return of_any
    return replace(_decide_flux(stated, bind(stated)), where=of_any.where)


def _decide_without_reflection(subject: Subject) -> Answer:
    found = boundary(subject)
    rules = [fact for fact in found.decision.given if fact.startswith(REFLECTED)]
    if not isinstance(found.decision, Proved) or not rules:
        return found
    given = tuple(fact for fact in found.decision.given if fact not in rules)
    reason = f"exp(-H) is preserved if {'; '.join(rules)}, which emitted steps do not do"
    return replace(found, decision=Undecided((reason,), given=given))


def _decide_flux(build: Build, bound: Dynamics) -> Answer:
    return decided_in(_decide_without_reflection, Stages(build, sharpen_kinds(build, bound)))


def express_blocks(block: Block, parts: tuple[Block, ...], most: int = limits.COORDINATES) -> dict[str, Formula] | None:
    """Return the blocks of a target as formulas of the dynamics' block that they make up; None where none is known."""
    whole = Symbol(block.name, block.shape, Role.BLOCK)
    if len(parts) == 1 and parts[0].shape == block.shape:
        return {parts[0].name: whole}
    if any(isinstance(size, str) for part in parts for size in part.shape.sizes):
        return None
    extents = [tuple(size if isinstance(size, int) else 1 for size in (p.shape.rows, p.shape.cols)) for p in parts]
    length = sum(rows * columns for rows, columns in extents)
    if length > most or block.shape != Shape(length):
        return None
    entries = iter([Entry(whole, (k,)) for k in range(length)])

    def take_entries(part: Block, rows: int, columns: int) -> Formula:
        own = tuple(tuple(next(entries) for _ in range(columns)) for _ in range(rows))
        return Explicit(own, part.shape) if part.shape.sizes else own[0][0]

    return {part.name: take_entries(part, *extent) for part, extent in zip(parts, extents, strict=True)}


def bind_potential(build: Build, bound: Dynamics) -> Build | None:
    """Return the build with U bound to the target's potential; None where U is made of data, or by no formula."""
    name, target = bound.potential, build.target
    blocks = target.declarations.blocks
    of = next((f.of for f in bound.declarations.functions if f.name == name), ())
    block = next((b for b in bound.declarations.blocks if (b.name,) == of), None)
    if name is None or block is None or target.potential is None or target.declarations.data:
        return None
    own = express_blocks(block, blocks)
    if own is None or any(one.constraint is not None for one in blocks):
        return None
    potential = substitute(target.potential, own)
    parameters = (*build.parameters, *target.declarations.parameters)
    return replace(build, bind=(*build.bind, (name, potential)), parameters=parameters)
