"""Documents that fix a large size, decided for every size first: what holds for every d holds for this one.

At a fixed size the second engine would write out every coordinate. With a name in the place of the number it looks at
small sizes instead, and a proof covers the document as it stands. A refutation at another size says nothing about it;
neither does one about a build that fixes its sizes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from recipe_compiler.formula.build import nodes, parts, rebuild
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Compare, Explicit, Formula
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.spec.model import Claims, Dynamics, Target, Transform
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.sizes import LARGEST, written

LARGEST_WRITTEN_OUT = 100
"""Documents with larger sizes are not looked at as they stand."""

Rows = tuple[tuple[Formula, ...], ...]
Named = tuple[tuple[str, Formula], ...]


def decided(own: Callable[[], Answer], wide: Callable[[], Answer], largest: int) -> Answer:
    """Return the answer at the sizes of a document, taken from the proof for every size where there is one.

    A proof for every d holds at the document's d. A refutation at another size says nothing about the document's own,
    which is then decided directly, up to `LARGEST_WRITTEN_OUT`; above, the answer is undecided.

    Args:
        own: decides at the document's sizes.
        wide: decides for every size in their place.
        largest: the largest fixed size of the document.
    """
    for_all = wide()
    if isinstance(for_all.decision, Proved):
        return for_all
    if largest <= LARGEST_WRITTEN_OUT:
        found = own()
    else:
        tried = for_all.decision.tried if isinstance(for_all.decision, Undecided) else ()
        more = f"sizes above {LARGEST_WRITTEN_OUT} are decided for every size or not at all"
        found = replace(for_all, decision=Undecided((*tried, more)), for_d="all", checked_at=())
    if not isinstance(found.decision, Undecided) or not isinstance(for_all.decision, Refuted):
        return found
    at = "" if isinstance(for_all.for_d, str) else f" at {written(dict(for_all.for_d))}"
    hint = f"refuted{at}, which is not the document's size, so nothing follows for it"
    return replace(found, decision=replace(found.decision, tried=(*found.decision.tried, hint)))


def of_target(claim: Callable[[Target], Answer], target: Target) -> Answer:
    """Return the answer of a claim about a target; where it fixes a large size, every size is tried first."""
    wide = any_size_of_target(target)
    if wide is None:
        return claim(target)
    return decided(lambda: claim(target), lambda: claim(wide), largest_size(target.declarations))


def largest_size(declarations: Declarations) -> int:
    """Return the largest fixed size declared, 0 if there is none."""
    return max(_fixed(declarations), default=0)


def any_size(dynamics: Dynamics) -> Dynamics | None:
    """Return the dynamics with names in the place of large fixed sizes; None where there are none or it is impossible.

    A block of shape 50 gets the shape n_50: what is proved for every n_50 holds for 50. It is impossible where a block
    is a matrix, where a formula has a size that is a product of sizes, or where a position such as theta[7] would not
    exist at the small sizes that the second engine looks at.
    """
    names = _names(dynamics.declarations)
    if not names:
        return None

    def of(formula: Formula) -> Formula:
        return _renamed(formula, names)

    if not _is_renamed(stated_formulas(dynamics), names):
        return None
    wide = replace(
        dynamics,
        declarations=_declarations(dynamics.declarations, names),
        H=of(dynamics.H),
        D=_matrix(dynamics.D, of),
        Q=_matrix(dynamics.Q, of),
        claims=_claims(dynamics.claims, names),
    )
    return wide if _is_small(smallest_sizes(wide.declarations, stated_formulas(wide))) else None


def any_size_of_target(target: Target) -> Target | None:
    """Return a target with names in the place of large fixed sizes, as `any_size` does; None if there are none."""
    names = _names(target.declarations)
    if not names:
        return None
    declared = None if target.declared is None else any_size_of_target(target.declared)
    if (declared is None) is not (target.declared is None) or not _is_renamed(stated_formulas(target), names):
        return None
    stated = (target.potential, target.log_prior, target.log_likelihood)
    potential, prior, likelihood = (None if f is None else _renamed(f, names) for f in stated)
    declarations = _declarations(target.declarations, names)
    wide = replace(
        target,
        declarations=declarations,
        potential=potential,
        log_prior=prior,
        log_likelihood=likelihood,
        recursion=tuple(
            replace(state.of(lambda formula: _renamed(formula, names)), block=_block(state.block, names))
            for state in target.recursion
        ),
        laws=tuple((block, law.of(lambda formula: _renamed(formula, names))) for block, law in target.laws),
        transforms=tuple(_transform(one, names) for one in target.transforms),
        stated=target.stated.of(lambda formula: _renamed(formula, names)),
        declared=declared,
    )
    return wide if _is_small(smallest_sizes(declarations, stated_formulas(wide))) else None


def _is_small(sizes: dict[str, int]) -> bool:
    """Whether literal positions leave small sizes to look at."""
    return max(sizes.values(), default=0) <= LARGEST


def _is_renamed(formulas: Iterable[Formula], names: dict[int, str]) -> bool:
    """Whether names cover all large sizes of formulas: not those of a product of two, or of what is written out."""
    inside = [node for formula in formulas for node in nodes(formula)]
    if any(isinstance(node, Explicit) and names.keys() & set(node.shape.sizes) for node in inside):
        return False
    sizes = {size for node in inside for size in node.shape.sizes}
    return all(size in names or size <= LARGEST if isinstance(size, int) else "*" not in size for size in sizes)


def _fixed(declarations: Declarations) -> list[int]:
    items = (*declarations.blocks, *declarations.parameters, *declarations.functions, *declarations.data)
    sizes = [size for item in items for size in item.shape.sizes] + [datum.size for datum in declarations.data]
    return [size for size in sizes if isinstance(size, int)]


def _names(declarations: Declarations) -> dict[int, str]:
    """Return a name for every large fixed size; none where a block is a matrix, whose coordinates are a product."""
    if any(len(block.shape.sizes) > 1 for block in declarations.blocks):
        return {}
    found: dict[int, str] = {}
    for size in sorted({size for size in _fixed(declarations) if size > LARGEST}):
        name = f"n_{size}"
        while declarations.find(name) is not None or name in declarations.sizes:
            name += "_"
        found[size] = name
    return found


def _resized(shape: Shape, names: dict[int, str]) -> Shape:
    return Shape(*(None if size is None else _renamed_size(size, names) for size in (shape.rows, shape.cols)))


def _renamed_size(size: Size, names: dict[int, str]) -> Size:
    return names.get(size, size) if isinstance(size, int) else size


def _renamed(formula: Formula, names: dict[int, str]) -> Formula:
    return rebuild(formula, [_renamed(part, names) for part in parts(formula)], lambda shape: _resized(shape, names))


def _matrix(matrix: Rows | None, of: Callable[[Formula], Formula]) -> Rows | None:
    return None if matrix is None else tuple(tuple(of(place) for place in row) for row in matrix)


def _declarations(declared: Declarations, names: dict[int, str]) -> Declarations:
    def shape(item: Block | Parameter | Function | Datum) -> Shape:
        return _resized(item.shape, names)

    def default(parameter: Parameter) -> Formula | None:
        return None if parameter.default is None else _renamed(parameter.default, names)

    def parameter(item: Parameter) -> Parameter:
        resized = shape(item)
        value = item.value if resized == item.shape else None  # at other sizes its kinds are all that is known
        return replace(item, shape=resized, default=default(item), value=value)

    assume = (_renamed(compare, names) for compare in declared.assume)
    return Declarations(
        tuple(_block(block, names) for block in declared.blocks),
        tuple(parameter(p) for p in declared.parameters),
        tuple(replace(f, shape=shape(f)) for f in declared.functions),
        tuple(replace(x, shape=shape(x), size=_renamed_size(x.size, names)) for x in declared.data),
        tuple(compare for compare in assume if isinstance(compare, Compare)),
    )


def _block(block: Block, names: dict[int, str]) -> Block:
    bounds = tuple(_renamed(bound, names) for bound in block.domain.bounds)
    return replace(block, shape=_resized(block.shape, names), domain=replace(block.domain, bounds=bounds))


def _transform(one: Transform, names: dict[int, str]) -> Transform:
    bound = None if one.bound is None else _renamed(one.bound, names)
    return replace(one, block=_block(one.block, names), bound=bound)


def _claims(claims: Claims, names: dict[int, str]) -> Claims:
    def each(stated: Named | None) -> Named | None:
        return None if stated is None else tuple((block, _renamed(formula, names)) for block, formula in stated)

    return replace(
        claims,
        drift=each(claims.drift),
        diffusion=_matrix(claims.diffusion, lambda formula: _renamed(formula, names)),
        marginal=each(claims.marginal),
        lyapunov=None if claims.lyapunov is None else _renamed(claims.lyapunov, names),
        update=each(claims.update),
        noise=tuple(_block(block, names) for block in claims.noise),
    )
