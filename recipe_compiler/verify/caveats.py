"""What a check did not decide: every claim that applies to a document and that this version leaves open, with why."""

from recipe_compiler.algebra.definedness import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Build, Dynamics, Target

INNER = frozenset({DomainName.REAL, DomainName.CIRCLE})
"""Domains without a boundary."""


def dynamics_caveats(dynamics: Dynamics) -> tuple[str, ...]:
    """Return the claims about a dynamics that were not decided."""
    found = [
        _normalisable(dynamics),
        *_marginal(dynamics),
        "verdicts are about the equation; how far a finite step size departs from it is not decided by this version",
    ]
    if dynamics.claims.marginal is not None:
        found.append("claimed_marginal: claimed, and not decided by this version")
    return tuple(found)


def build_caveats(build: Build, bound: Dynamics) -> tuple[str, ...]:
    """Return the claims about a build that were not decided, those about its dynamics included."""
    files = [name for name, value in build.values if value.file is not None]
    checked_later = [f"the kind of {name} is checked when its file is read, before the first step" for name in files]
    return (*dynamics_caveats(bound), *_unguarded(bound), *checked_later)


def _unguarded(bound: Dynamics) -> list[str]:
    """Return the caveat on blocks with a boundary: the schemes of this version know of none."""
    names = [block.name for block in bound.declarations.blocks if block.domain.name not in INNER]
    if not names:
        return []
    reason = "the emitted step neither reflects nor stops there: a finite step may leave the domain"
    return [f"boundary: {', '.join(names)} has a boundary, and {reason}"]


def target_caveats(target: Target) -> tuple[str, ...]:
    """Return the claims about a target that were not decided."""
    domains = [b.name for b in target.declarations.blocks if b.domain.name not in INNER]
    domains += [name for name in _assumed(target.declarations) if name not in domains]
    found = ["normalisable: that the posterior has a finite integral is not decided by this version"]
    if domains:
        found.append(f"boundary: {', '.join(domains)} has a boundary; not decided by this version")
    return tuple(found)


def _normalisable(dynamics: Dynamics) -> str:
    if dynamics.potential is not None:
        return f"normalisable: that exp(-H) has a finite integral is assumed of {dynamics.potential}, not decided"
    return "normalisable: that exp(-H) has a finite integral is not decided by this version"


def _marginal(dynamics: Dynamics) -> list[str]:
    """Return the caveat on the marginal where the state has blocks besides the potential's."""
    potential = next((f for f in dynamics.declarations.functions if f.role == "potential"), None)
    if potential is None:
        return []
    others = [block.name for block in dynamics.declarations.blocks if block.name not in potential.of]
    if not others:
        return []
    of = ", ".join(potential.of)
    reason = f"that {of} has the law exp(-{potential.name}) once {', '.join(others)} is integrated out"
    return [f"marginal: {reason} is not decided by this version"]


def _assumed(declarations: Declarations) -> list[str]:
    """Return the blocks that an assumption restricts."""
    parts = (part for c in declarations.assume for side in (c.left, c.right) for part in nodes(side))
    return list(dict.fromkeys(p.name for p in parts if isinstance(p, Symbol) and p.role is Role.BLOCK))
