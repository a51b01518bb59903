"""Documents that fix a large size, decided for every size first: what holds for every d holds for this one.

At a fixed size the second engine would write out every coordinate. With a name in the place of the number it looks at
small sizes instead, and a proof covers the document as it stands. A refutation at another size says nothing about it;
neither does one about a build that fixes its sizes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from recipe_compiler import limits
from recipe_compiler.formula.build import nodes, parts, rebuild
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.expression import Explicit, Formula
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.bind import Rewriting, rewritten
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.verdict import Answer, Refuted, Undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.sizes import format_sizes


def decide_every_size_first(own: Callable[[], Answer], wide: Callable[[], Answer], largest: int) -> Answer:
    """Return the answer at the sizes of a document, taken from the proof for every size where there is one.

    A proof for every d holds at the document's d. A refutation at another size says nothing about the document's own,
    which is then decided directly, up to `limits.STATE`; above, the answer is undecided.

    Args:
        own: decides at the document's sizes.
        wide: decides for every size in their place.
        largest: the largest fixed size of the document.
    """
    for_all = wide()
    if is_proved(for_all):
        return for_all
    if largest <= limits.STATE:
        found = own()
    else:
        tried = for_all.decision.tried if isinstance(for_all.decision, Undecided) else ()
        more = f"sizes above {limits.STATE} are decided for every size or not at all"
        found = replace(for_all, decision=Undecided((*tried, more)), for_d="all", checked_at=())
    if not isinstance(found.decision, Undecided) or not isinstance(for_all.decision, Refuted):
        return found
    at = "" if isinstance(for_all.for_d, str) else f" at {format_sizes(dict(for_all.for_d))}"
    hint = f"refuted{at}, which is not the document's size, so nothing follows for it"
    return found.but(tried=(*found.decision.tried, hint))


def decide_target(claim: Callable[[Target], Answer], target: Target) -> Answer:
    """Return the answer of a claim about a target; where it fixes a large size, every size is tried first."""
    wide = generalise_target(target)
    if wide is None:
        return claim(target)
    return decide_every_size_first(lambda: claim(target), lambda: claim(wide), find_largest_size(target.declarations))


def find_largest_size(declarations: Declarations) -> int:
    """Return the largest fixed size declared, 0 if there is none."""
    return max(_list_fixed_sizes(declarations), default=0)


def generalise_dynamics(dynamics: Dynamics) -> Dynamics | None:
    """Return the dynamics with names in the place of large fixed sizes; None where there are none or it is impossible.

    A block of shape 50 gets the shape n_50: what is proved for every n_50 holds for 50. It is impossible where a block
    is a matrix, where a formula has a size that is a product of sizes, or where a position such as theta[7] would not
    exist at the small sizes that the second engine looks at.
    """
    names = _choose_names(dynamics.declarations)
    if not names or not _has_names_for_sizes(stated_formulas(dynamics), names):
        return None
    wide = rewritten(dynamics, _rename_sizes(names))
    return wide if _has_small_sizes(smallest_sizes(wide.declarations, stated_formulas(wide))) else None


def generalise_target(target: Target) -> Target | None:
    """Return a target with names in the place of large fixed sizes, as `generalise_dynamics` does; None without any."""
    names = _choose_names(target.declarations)
    if not names or not _has_names_for_sizes(stated_formulas(target), names):
        return None
    if target.declared is not None and generalise_target(target.declared) is None:
        return None
    wide = rewritten(target, _rename_sizes(names))
    return wide if _has_small_sizes(smallest_sizes(wide.declarations, stated_formulas(wide))) else None


def _rename_sizes(names: dict[int, str]) -> Rewriting:
    """Return the rewriting that replaces sizes by names; matrices with values keep only their kinds."""

    def shape(shape: Shape) -> Shape:
        rows, cols = (names.get(size, size) if isinstance(size, int) else size for size in (shape.rows, shape.cols))
        return Shape(rows, cols)

    def new(formula: Formula) -> Formula:
        return rebuild(formula, [*map(new, parts(formula))], shape)

    def without_value(found: Parameter) -> Parameter:
        return replace(found, value=None) if {*names.values()} & {*found.shape.sizes} else found

    return Rewriting(new, shape, without_value)


def _has_small_sizes(sizes: dict[str, int]) -> bool:
    """Whether literal positions leave small sizes to look at."""
    return max(sizes.values(), default=0) <= limits.SIZES


def _has_names_for_sizes(formulas: Iterable[Formula], names: dict[int, str]) -> bool:
    """Whether all large sizes in formulas can be named: none is a product of two, or the size of an explicit array."""
    inside = [node for formula in formulas for node in nodes(formula)]
    if any(isinstance(node, Explicit) and names.keys() & set(node.shape.sizes) for node in inside):
        return False
    sizes = {size for node in inside for size in node.shape.sizes}
    return all(size in names or size <= limits.SIZES if isinstance(size, int) else "*" not in size for size in sizes)


def _list_fixed_sizes(declarations: Declarations) -> list[int]:
    items = (*declarations.blocks, *declarations.parameters, *declarations.functions, *declarations.data)
    sizes = [size for item in items for size in item.shape.sizes] + [datum.size for datum in declarations.data]
    return [size for size in sizes if isinstance(size, int)]


def _choose_names(declarations: Declarations) -> dict[int, str]:
    """Return a name for every large fixed size; none where a block is a matrix, whose coordinates are a product."""
    if any(len(block.shape.sizes) > 1 for block in declarations.blocks):
        return {}
    found: dict[int, str] = {}
    for size in sorted({size for size in _list_fixed_sizes(declarations) if size > limits.SIZES}):
        name = f"n_{size}"
        while declarations.find(name) is not None or name in declarations.sizes:
            name += "_"
        found[size] = name
    return found
