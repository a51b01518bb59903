"""A formula of a target as both engines read it: of ONE datum where it has data, the first of the second engine's."""

from collections.abc import Sequence

from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.symbols import component
from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.scalars import Leaf
from recipe_compiler.tensor.terms import Atom, Component, Index, Tensor
from recipe_compiler.verify.core.identities import Scalars
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes


def make_datum_index(declarations: Declarations) -> Index | None:
    """Return the index of a datum; None without data."""
    data = declarations.data
    return Index(data[0].size, "n") if data else None


def compare_with_tensor(formula: Formula, tensor: Tensor, declarations: Declarations) -> Scalars:
    """Return what the second engine finds different between a formula and its tensor, entry by entry."""
    c = calculus(declarations)
    datum = make_datum_index(declarations)
    first = c.rename(tensor, {datum: 0}) if datum in tensor.free else tensor

    def entries(sizes: Sizes) -> Sequence[Expr]:
        leaf = _make_leaf(declarations, sizes)
        own = [entry for row in rows(formula, Setting(declarations, sizes)) for entry in row]
        return [a - b for a, b in zip(write_out(first, sizes, leaf), own, strict=True)]

    return entries


def _make_leaf(declarations: Declarations, sizes: Sizes) -> Leaf:
    """Return the leaf of the second engine in which a data field is that of a single datum."""
    plain = make_leaf(declarations, sizes)

    def leaf(atom: Atom) -> Expr | None:
        item = declarations.find(atom.name) if isinstance(atom, Component) else None
        if not isinstance(item, Datum) or not isinstance(atom, Component):
            return plain(atom)
        places = tuple(slot for slot in atom.at[1:] if isinstance(slot, int))
        return component(item, places, declarations, sizes)

    return leaf


def choose_small_sizes(target: Target) -> tuple[Sizes, ...]:
    """Return the sizes the second engine looks at: all symbolic ones alike, from the smallest allowed."""
    smallest = smallest_sizes(target.declarations, stated_formulas(target))
    if not smallest:
        return ({},)
    return tuple({name: max(low, n) for name, low in smallest.items()} for n in range(1, limits.SIZES + 1))
