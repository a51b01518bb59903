"""Is exp(-U) of the unbounded variables the law of a target's blocks as they are declared? For all data and every size.

With b = g(u), coordinate by coordinate and one to one, exp(-V(b)) db = exp(-U(u)) du iff J = V(g(u)) - U(u) is
log g'(u) summed over all coordinates, up to a constant:

    g'(u_i) dJ/du_i = g''(u_i) of a block that is transformed,    dJ/db_i = 0 of one that is not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from sympy import Expr

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.conditional import potential_of
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import depends_on_state, nodes
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Apply, Formula
from recipe_compiler.formula.operators import INVERTING
from recipe_compiler.spec.bind import replacing, rewritten
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Target, Transform
from recipe_compiler.spec.transform import value
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Tensor
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.builds.laws import choose_sizes, declare_all_rows, list_formulas, scalar_potential
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide, list_faults
from recipe_compiler.verify.core.premises import require_values
from recipe_compiler.verify.core.sizes import Sizes


def decide_transformed_law(target: Target) -> Answer:
    """Decide that what is sampled in unbounded variables u has the law of the blocks b = g(u) as declared.

    exp(-V(g(u))) |det dg/du| du, dg/du: [n, n] diagonal, is exp(-U(u)) du then: J = V(g(u)) - U(u) has to be sum_i log
    g'(u_i) up to a constant: g'(u_i) dJ/du_i = g''(u_i) for transformed blocks, dJ/db_i = 0 for others. For tau =
    exp(u): J = u, and exp(u) * 1 = exp(u).

    Args:
        target: one with transforms, whose formulas are about the unbounded variables.
    """
    where = target.source.place("state")
    try:
        composed = _compose_target(target)
        if target.recursion or _has_state_inverse(composed.log_likelihood):
            if not _has_same_rows(target, composed):
                return undecided("not shown: formulas of a row are the declared ones, with g(u) put in", where=where)
            target, composed = _drop_rows(target), _drop_rows(composed)
        identities = tuple(_list_identities(target, composed))
    except ModelError as error:
        return undecided(*list_faults(error), where=where)
    read = (*list_formulas(target), *list_formulas(composed))
    premises = require_values(read, target.declarations)
    question = Question(identities, declare_all_rows(target.declarations), choose_sizes(target), premises, "")
    return replace(decide(question), where=where)


def _compose_target(target: Target) -> Target:
    """Return the target as declared with b = g(u) put in: V(g(u)), no Jacobian in it."""
    own = target.as_declared
    put_in = {one.block.name: value(one) for one in target.transforms}
    stated = (own.potential, own.log_prior, own.log_likelihood, own.recursion)
    potential, log_prior, log_likelihood, recursion = rewritten(stated, replacing(put_in))
    return replace(target, potential=potential, log_prior=log_prior, log_likelihood=log_likelihood, recursion=recursion)


def _has_state_inverse(formula: Formula | None) -> bool:
    """Whether a formula factorises a matrix of the state, which no engine multiplies out at the sizes of a target."""
    inverses = () if formula is None else (node for node in nodes(formula) if isinstance(node, Apply))
    return any(node.fn in INVERTING and depends_on_state(node) for node in inverses)


def _has_same_rows(target: Target, composed: Target) -> bool:
    """Whether what is stated of a row, and of the states before it, is the same formula: it is the same in V and U."""
    return (target.log_likelihood, target.recursion) == (composed.log_likelihood, composed.recursion)


def _drop_rows(target: Target) -> Target:
    """Return a target without the densities of rows."""
    declared = None if target.declared is None else _drop_rows(target.declared)
    return replace(target, log_likelihood=None, recursion=(), declared=declared)


def _list_identities(target: Target, composed: Target) -> Iterator[Identity]:
    declared = of_all_data(target.declarations)
    c = calculus(declared)
    J = c.subtract(potential_of(composed), potential_of(target))
    transforms = {one.inner: one for one in target.transforms}
    for block in target.declarations.blocks:
        one, rows_ = transforms.get(block.name), row_slots(block)
        left = c.diff(J, Coordinate(block.name, rows_))
        if one is not None:
            g = convert(value(one), declared, *rows_)
            first = _differentiate_entrywise(c, g, block)
            left = c.subtract(c.multiply(first, left), _differentiate_entrywise(c, first, block))
        says = f"g' dJ/d{block.name} - g''" if one is not None else f"dJ/d{block.name}"
        yield Identity(says, target.source.place("state"), c.settled(left), _make_scalar_residuals(target, block, one))


def _differentiate_entrywise(c: Calculus, entry: Tensor, block: Block) -> Tensor:
    """Return df_i/du_i of a function whose entry i depends on u_i alone."""
    cols = col_slots(block)
    return c.total(c.diff(entry, Coordinate(block.name, cols)), *cols)


def _make_scalar_residuals(target: Target, block: Block, one: Transform | None) -> Scalars:
    """Return the residuals entry by entry, by V of the second engine at b = g(u)."""
    own = target.as_declared

    def entries(sizes: Sizes) -> Sequence[Expr]:
        put_in = _map_coordinates(target, sizes)
        V = cast(Expr, scalar_potential(own, sizes).xreplace(put_in))
        J = off_kinks(V) - off_kinks(scalar_potential(target, sizes))
        u = coordinates(block, sizes)
        if one is None:
            return [slope(J, x) for x in u]
        g = [put_in[b] for b in coordinates(one.block, sizes)]
        return [slope(f, x) * slope(J, x) - slope(slope(f, x), x) for f, x in zip(g, u, strict=True)]

    return entries


def _map_coordinates(target: Target, sizes: Sizes) -> Mapping[Expr, Expr]:
    """Return the coordinates of transformed blocks as functions of their unbounded variables."""
    setting = Setting(declare_all_rows(target.declarations), sizes)
    found: dict[Expr, Expr] = {}
    for one in target.transforms:
        entries = [x for row in rows(value(one), setting) for x in row]
        found |= dict(zip(coordinates(one.block, sizes), entries, strict=True))
    return found
