"""Bounded blocks of a target in an unbounded variable, coordinate by coordinate, the Jacobian included.

With theta = g(u) coordinate by coordinate, exp(-U(theta)) dtheta = exp(-U(g(u)) + sum_i log g'(u_i)) du:

    log      theta = exp(u)                        on (0, oo)     log g'(u) = u
    logit    theta = a + (b - a) sigmoid(u)        on (a, b)      log g'(u) = u - 2 softplus(u) + log(b - a)
    lower    theta = a + exp(u)                    on (a, oo)     log g'(u) = u
    upper    theta = b - exp(u)                    on (-oo, b)    log |g'(u)| = u

The constant log(b - a) is left out. From here on the target is one of u: claims, gradient and chain know of no bound;
only the draws are turned back. `lower` and `upper` are those of `constraint:` (`spec/constraint.py`).
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Block, Declarations, Domain, unused
from recipe_compiler.formula.expression import Apply, Filled, Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.spec.bind import replacing, rewritten
from recipe_compiler.spec.model import Stated, Target, Transform

DOMAINS = {
    "log": (DomainName.POSITIVE, DomainName.NONNEGATIVE),
    "logit": (DomainName.INTERVAL,),
}
"""The domains of the blocks that a transform is for."""

POSITIVE = Domain(DomainName.POSITIVE)

Via = tuple[str, Formula | None]
"""A transform, and its bound where it has one."""


def unbounded(target: Target, transforms: Mapping[str, Via]) -> Target:
    """Return the target in the unbounded variables u: theta = g(u) put in, the log Jacobian added.

    Raises:
        ModelError: a formula differentiates by a block that is transformed.
    """
    if not transforms:
        return target
    declared = target.declarations
    made = _transforms(declared, transforms, _names(target))
    replacements = {one.block.name: value(one) for one in made}
    in_u = rewritten(replace(target, laws=(), derived=(), stated=Stated()), replacing(replacements))
    inner = {one.block.name: Block(one.inner, one.block.shape) for one in made}
    blocks = tuple(inner.get(block.name, block) for block in declared.blocks)
    jacobian = build.add([part for one in made for part in _log_jacobian(one)], SCALAR)
    potential, log_prior = in_u.potential, in_u.log_prior
    if potential is not None:
        potential = build.add([potential, build.negate(jacobian)], SCALAR)
    else:
        log_prior = jacobian if log_prior is None else build.add([log_prior, jacobian], SCALAR)
    return replace(
        in_u,
        declarations=replace(in_u.declarations, blocks=blocks),
        potential=potential,
        log_prior=log_prior,
        laws=target.laws,
        derived=target.derived,
        transforms=tuple(made),
        declared=target,
        stated=target.stated,
    )


def _names(target: Target) -> set[str]:
    return {*target.declarations.names, *(state.block.name for state in target.recursion)}


def _transforms(declared: Declarations, transforms: Mapping[str, Via], taken: set[str]) -> list[Transform]:
    """Return the transforms of a target, the names of the unbounded blocks (`log_tau`) unlike all declared ones."""
    made: list[Transform] = []
    for block in declared.blocks:
        if block.name in transforms:
            via, bound = transforms[block.name]
            inner = unused(f"{via}_{block.name}", taken)
            taken.add(inner)
            made.append(Transform(block, via, inner, bound))
    return made


def _variable(one: Transform) -> Symbol:
    return Symbol(one.inner, one.block.shape, Role.BLOCK)


def value(one: Transform) -> Formula:
    """Return g(u), the block as a function of the unbounded variable."""
    u, shape = _variable(one), one.block.shape
    if one.via == "log":
        return Apply("exp", (u,), shape)
    if one.bound is not None:
        return beside(one, Apply("exp", (u,), shape))
    low, high = one.block.domain.bounds
    width = build.add([high, build.negate(low)], SCALAR)
    share = build.multiply(width, Apply("sigmoid", (u,), shape), shape)
    return build.add([_filled(low, shape), share], shape)


def beside(one: Transform, distance: Formula) -> Formula:
    """Return what lies at a distance from the one bound of a block, on its side."""
    away = distance if one.via == "lower" else build.negate(distance)
    bound = Number(Fraction(0)) if one.bound is None else one.bound
    return build.add([_filled(bound, distance.shape), away], distance.shape)


def _filled(number: Formula, shape: Shape) -> Formula:
    return number if shape == SCALAR else build.multiply(number, Filled(1, shape), shape)


def with_one_bound(target: Target) -> dict[str, Transform]:
    """Return the blocks that have one bound, by their names: their domain, as they are declared, does not tell it."""
    return {one.block.name: one for one in target.transforms if one.bound is not None}


def standard(target: Target) -> Target:
    """Return a target as declared, what has one bound as its distance to it: a positive block, the same measure."""
    own = target.as_declared
    moved = with_one_bound(target)
    if not moved:
        return own
    taken = _names(own)
    blocks = {name: Block(unused(f"distance_{name}", taken), one.block.shape, POSITIVE) for name, one in moved.items()}
    put_in = {name: beside(one, Symbol(blocks[name].name, one.block.shape, Role.BLOCK)) for name, one in moved.items()}
    made = rewritten(own, replacing(put_in))
    declared = tuple(blocks.get(block.name, block) for block in own.declarations.blocks)
    return replace(made, declarations=replace(made.declarations, blocks=declared))


def _log_jacobian(one: Transform) -> tuple[Formula, ...]:
    """Return the terms of sum_i log g'(u_i), constants left out."""
    u, shape = _variable(one), one.block.shape
    if one.via != "logit":
        return (_total(u, shape),)
    softplus = _total(Apply("softplus", (u,), shape), shape)
    return (_total(u, shape), build.multiply(Number(Fraction(-2)), softplus, SCALAR))


def _total(formula: Formula, shape: Shape) -> Formula:
    return formula if shape == SCALAR else Apply("sum", (formula,), SCALAR)
