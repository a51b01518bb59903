"""U as a formula of the block, where the target states it: in D, in Q, and where H scales it or differentiates it.

The gradient of U is an array that a step is given. What D, Q or H make of U beside, its value, its Hessian, or its
gradient as a factor of the noise, is computed by the formula of U, put in its place: what is proved of every U is
so of this one.

Worked example: D = (1 + norm2(grad(U, theta))) I and U = norm2(theta)/2 give D = (1 + norm2(grad(norm2(theta)/2,
theta))) I, of which Gamma = 2 theta follows; H stays U(theta), and the drift -D grad U + 2 theta.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.algebra.structure.definedness import Demand, obligations
from recipe_compiler.facts.patterns import is_of_kind
from recipe_compiler.formula.build import add, negate, nodes
from recipe_compiler.formula.declaration import Block, by_name
from recipe_compiler.formula.expression import Apply, Entry, Explicit, Formula, Number
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.bind import bind, replacing, rewritten
from recipe_compiler.spec.build_checks import coordinates, potential_blocks
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.spec.places import canonical_json

CALCULUS = frozenset({"grad", "div", "hessian"})


def with_known_potential(build: Build) -> tuple[Build, Dynamics]:
    """Return a build and its bound dynamics with U as the target states it in D, in Q and in derivatives of H.

    Both are as they were where none of these have U, and where the target has data, or states no formula. A size of the
    block that the target states as a number is that number.
    """
    bound = bind_with_potential(build)
    if not any(_is_needed(formula, bound) for formula in _of_known(bound)):
        return build, bound
    fixed = _at_fixed_sizes(build, bound)
    known = _stated_in(fixed, bind(fixed))
    return (build, bound) if known is None else (fixed, known)


def bind_with_potential(build: Build) -> Dynamics:
    """Return the bound dynamics of a build; of a complete H whose word moves the block of U by U, with its formula.

    A flow of dx = -D grad U dt + sqrt(2D) dW is known of some U alone: of a lognormal law, say.
    """
    bound = bind(build)
    held = bound.declarations.blocks_of(bound.potential)
    places = [n for n, block in enumerate(bound.declarations.blocks) if block.name in held]
    if not (build.is_complete and build.scheme.split and any(not is_zero((bound.D or ())[n][n]) for n in places)):
        return bound
    potential = state_potential(build, bound)
    return (
        bound if potential is None else replace(bound, H=replacing({bound.potential or "": potential}).formula(bound.H))
    )


def with_bound_potential(build: Build) -> Build:
    """Return a build whose bindings have U as the target states it, where they are not as declared for every U.

    So has its document. sqrt(U + 1/2) is smooth, and (1 + U)*I positive definite, where U is norm2(theta)/2; sqrt(1 +
    U**2) is smooth for every U, which has the simpler proofs.
    """
    bound = bind(build)
    declared, having = bound.declarations, [(name, f) for name, f in build.bind if _is_needed(f, bound)]
    kinds = {item.name: item.kinds for item in build.dynamics.declarations.functions}
    is_shown = all(is_of_kind(f, kind, declared) for name, f in having for kind in kinds[name])
    if is_shown and not obligations([f for _, f in having], declared, Demand.SMOOTH).open:
        return build
    fixed = _at_fixed_sizes(build, bound)
    potential = state_potential(fixed, bind(fixed))
    if potential is None:
        return build
    by = replacing({bound.potential or "": potential})
    named, document = rewritten(fixed.bind, by), json.loads(fixed.source.document)
    document["bind"] |= {name: text(formula) for name, formula in named}
    return replace(fixed, bind=named, source=replace(fixed.source, document=canonical_json(document)))


def _at_fixed_sizes(build: Build, bound: Dynamics) -> Build:
    sizes = _fixed_sizes(build, bound)
    return rewritten(build, replacing(sizes)) if sizes else build


def _of_known(bound: Dynamics) -> Iterator[Formula]:
    """Yield the formulas in which U may stand as the target states it."""
    yield from bound.matrix_entries
    yield from _of_calculus(bound.H)
    yield from (term for term in terms_of(bound.H) if _is_multiplied(term, bound))


def _is_multiplied(term: Formula, bound: Dynamics) -> bool:
    """Whether a summand of H has U beside other blocks, whose slopes then have its value: s U(theta)."""
    of = {name for f in bound.declarations.functions if f.name == bound.potential for name in f.of}
    return _is_needed(term, bound) and not {*dependence(term).blocks} <= of


def _is_needed(formula: Formula, bound: Dynamics) -> bool:
    return bound.potential in dependence(formula).functions


def _stated_in(build: Build, bound: Dynamics) -> Dynamics | None:
    potential = state_potential(build, bound)
    if potential is None or any(f.home for f in bound.declarations.functions):
        return None
    by = replacing({bound.potential or "": potential})
    is_known = [
        _is_multiplied(term, bound) or any(_is_needed(part, bound) for part in _of_calculus(term))
        for term in terms_of(bound.H)
    ]
    H = [by.formula(term) if known else term for term, known in zip(terms_of(bound.H), is_known, strict=True)]
    parameters = by_name((*bound.declarations.parameters, *build.target.declarations.parameters))
    declared = replace(bound.declarations, parameters=tuple(parameters.values()))
    D, Q = rewritten(bound.D, by), rewritten(bound.Q, by)
    return replace(bound, declarations=declared, D=D, Q=Q, H=add(H, bound.H.shape))


def _of_calculus(formula: Formula) -> Iterator[Formula]:
    return (part for part in nodes(formula) if isinstance(part, Apply) and part.fn in CALCULUS)


def _fixed_sizes(build: Build, bound: Dynamics) -> dict[str, Formula]:
    """Return the size of the potential's block as the number of coordinates that the target's blocks have."""
    total = coordinates(sampled_blocks(build.target), {})
    rows = [block.shape.rows for block in potential_blocks(bound)]
    return {size: Number(Fraction(total)) for size in rows if isinstance(size, str) and isinstance(total, int)}


def state_potential(build: Build, bound: Dynamics) -> Formula | None:
    """Return U of a build's target at the block of its dynamics; None where it is made of data, or by no formula."""
    name, target = bound.potential, build.target
    potential, blocks = target.potential, target.declarations.blocks
    of = next((f.of for f in bound.declarations.functions if f.name == name), ())
    block = next((b for b in bound.declarations.blocks if (b.name,) == of), None)
    if potential is None and target.log_prior is not None:
        potential = negate(target.log_prior)
    if name is None or block is None or potential is None or target.declarations.data:
        return None
    own = express_blocks(block, blocks)
    return None if own is None or any(one.constraint for one in blocks) else substitute(potential, own)


def express_blocks(block: Block, parts: tuple[Block, ...], most: int = limits.COORDINATES) -> dict[str, Formula] | None:
    """Return the blocks of a target as formulas of the dynamics' block that they make up; None where none is known."""
    whole = block.symbol
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
