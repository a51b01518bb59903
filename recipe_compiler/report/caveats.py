"""What a check does not ask, though a reader may believe it did."""

from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verify.recover.represented import states_equation

INNER = frozenset({DomainName.REAL, DomainName.CIRCLE})
"""Domains without a boundary."""


def dynamics_caveats(dynamics: Dynamics) -> tuple[str, ...]:
    """Return what no claim about a dynamics asks."""
    found = [
        "verdicts are about the equation; how far a finite step size departs from it is not decided by this version"
    ]
    if not states_equation(dynamics):
        found.insert(0, "explosion, unique: not asked, since the noise, or both Q and a drift, are not given")
    return tuple(found)


def build_caveats(build: Build, bound: Dynamics) -> tuple[str, ...]:
    """Return what no claim about a build asks, its dynamics included."""
    files = [name for name, value in build.values if value.file is not None and value.numbers is None]
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
    """Return what no claim about a target asks."""
    domains = [b.name for b in target.declarations.blocks if b.domain.name not in INNER]
    domains += [name for name in _assumed(target.declarations) if name not in domains]
    return (f"boundary: {', '.join(domains)} has a boundary; not decided by this version",) if domains else ()


def _assumed(declarations: Declarations) -> list[str]:
    """Return the blocks that an assumption restricts."""
    parts = (part for c in declarations.assume for side in (c.left, c.right) for part in nodes(side))
    return list(dict.fromkeys(p.name for p in parts if isinstance(p, Symbol) and p.role is Role.BLOCK))
