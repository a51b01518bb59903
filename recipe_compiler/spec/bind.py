"""The dynamics of a build: what is bound replaced by its formulas."""

from collections.abc import Callable
from dataclasses import replace

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Compare, Formula
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.binding import unbound
from recipe_compiler.spec.model import Build, Claims, Dynamics

Bound = Callable[[Formula], Formula]
Blocks = tuple[tuple[Formula, ...], ...]


def bind(build: Build) -> Dynamics:
    """Return the dynamics of a build: bound parameters and functions substituted, the build's own parameters declared.

    The potential stays an abstract function: generic proofs are about every potential. Domains, assumptions and claims
    are substituted too. Raises ModelError where a binding makes a formula too large.
    """
    dynamics = build.dynamics
    replacements = dict(build.bind)

    def bound(formula: Formula) -> Formula:
        return substitute(formula, replacements) if replacements else formula

    try:
        return replace(
            dynamics,
            declarations=_declarations(build, bound),
            H=bound(dynamics.H),
            D=_matrix(dynamics.D, bound),
            Q=_matrix(dynamics.Q, bound),
            claims=_claims(dynamics.claims, bound),
            units=() if build.bind else dynamics.units,  # what is bound has no unit of its own
        )
    except ModelError as error:
        where = build.source.place("bind")
        raise ModelError([Fault(where, fault.entry, fault.problem, fault.hint) for fault in error.faults]) from None


def _declarations(build: Build, bound: Bound) -> Declarations:
    declared = unbound(build.dynamics, tuple(name for name, _ in build.bind), build.parameters)
    assume = [bound(condition) for condition in declared.assume]
    return replace(
        declared,
        blocks=tuple(_block(block, bound) for block in declared.blocks),
        assume=tuple(condition for condition in assume if isinstance(condition, Compare)),
    )


def _block(block: Block, bound: Bound) -> Block:
    return replace(block, domain=replace(block.domain, bounds=tuple(bound(edge) for edge in block.domain.bounds)))


def _matrix(matrix: Blocks | None, bound: Bound) -> Blocks | None:
    return None if matrix is None else tuple(tuple(bound(entry) for entry in row) for row in matrix)


def _claims(claims: Claims, bound: Bound) -> Claims:
    def each(stated: tuple[tuple[str, Formula], ...] | None) -> tuple[tuple[str, Formula], ...] | None:
        return None if stated is None else tuple((block, bound(formula)) for block, formula in stated)

    return replace(
        claims,
        drift=each(claims.drift),
        diffusion=_matrix(claims.diffusion, bound),
        marginal=each(claims.marginal),
        update=each(claims.update),
    )
