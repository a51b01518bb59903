"""Another stationary law, exactly: something the dynamics never change, where noise does not reach it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.invariants import EnergyPart, conserved_energies, linear_invariants
from recipe_compiler.algebra.dynamics.system import System, system
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points, witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.definedness import obligations
from recipe_compiler.derive.brackets import circulation
from recipe_compiler.derive.recipe import Derivation, col_slots, row_slots
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Formula, Symbol
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Coordinate
from recipe_compiler.verdict import Refuted
from recipe_compiler.verify.core.build_values import entry_values
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject

LARGEST = 10
"""Coordinates up to which invariants are looked for."""
_STRONGER = {Kind.PSD: Kind.PD, Kind.NONNEGATIVE: Kind.POSITIVE}
"""What to declare of a parameter that may vanish as declared."""
MAY_VANISH = frozenset({Kind.REAL, Kind.NONNEGATIVE, Kind.SYMMETRIC, Kind.SKEW, Kind.PSD, Kind.DIAGONAL})


@dataclass(frozen=True, slots=True)
class AtValues:
    """The exact values of a build: its sizes, and the value of each entry of a parameter."""

    sizes: Sizes
    entries: dict[Expr, Expr]
    potential: tuple[str, tuple[Expr, ...], Expr] | None = None
    """The function that a target binds, the target's coordinates, and what it is of them."""


@dataclass(frozen=True, slots=True)
class Other:
    """A refutation of uniqueness by another stationary density, and the sizes it is about."""

    decision: Refuted
    for_d: str | tuple[tuple[str, int], ...]
    zeros: tuple[str, ...] = ()
    """The parameters that it sets to zero."""


@dataclass(frozen=True, slots=True)
class _Instance:
    """Dynamics at one size, some parameters set to zero, and what to say of it."""

    dynamics: Dynamics
    zeros: tuple[str, ...]
    sizes: Sizes
    scalars: System


def other_law(subject: Subject, hint: str, at: AtValues | None) -> Other | None:
    """Return another stationary density exp(-H)/(1 + C**2), with a conserved quantity C; None where none is found.

    If D grad C = 0 and b . grad C = 0 with b = -Q grad H + div Q, the scalar C never changes along a chain, so any
    function of C times exp(-H) is stationary. C is H itself where D = 0 (HMC), the energy of blocks without noise, or a
    constant vector times z. For dynamics the claim is about all admissible parameters, and one instance refutes it; in
    a build it is about the build's values.

    Example: HMC, D = 0 and Q = [[0, -I], [I, 0]], has C = H. Langevin dynamics with D = diag(1, 0) in two coordinates
    and Q = 0 has C = theta_2.

    Args:
        subject: the dynamics.
        hint: what to add to the refutation: a refresh that would bring in noise.
        at: the values of a build; None for dynamics by themselves.
    """
    for instance in _instances(subject, at):
        try:
            found = _energy(instance, subject, at) or _linear(instance, subject)
        except (NoNormalFormError, NoInstanceError):
            continue
        if found is not None:
            decision = Refuted(found.decision.by, found.decision.witness, found.decision.residual + hint)
            return Other(decision, found.for_d, instance.zeros)
    return None


def stronger(dynamics: Dynamics, names: tuple[str, ...]) -> tuple[Dynamics, str] | None:
    """Return the dynamics with some parameters declared nonzero by stronger kinds, and these in words; None if none do.

    `psd` becomes `pd`, `nonnegative` becomes `positive`.
    """
    declared = dynamics.declarations
    kinds = {p.name: kind for p in declared.parameters if p.name in names for kind in p.kinds if kind in _STRONGER}
    if not names or kinds.keys() != set(names):
        return None
    changed = tuple(
        replace(p, kinds=tuple(_STRONGER.get(kind, kind) for kind in p.kinds)) if p.name in names else p
        for p in declared.parameters
    )
    says = " and ".join(f"{name} is {_STRONGER[kind]}" for name, kind in kinds.items())
    return replace(dynamics, declarations=replace(declared, parameters=changed)), says


def at_values(dynamics: Dynamics, at: AtValues) -> System | None:
    """Return H, D, Q of a build as scalars at its values and sizes; None where it does not fix every size."""
    sizes = dynamics.declarations.sizes
    if not all(size in at.sizes for size in sizes):
        return None
    found = _scalars(dynamics, {size: at.sizes[size] for size in sizes})
    if found is None:
        return None
    name, z, potential = at.potential or ("", (), found.H)
    targets: dict[Expr, Expr] = {
        e: _at(potential, {x: cast(Expr, new) for x, new in zip(z, e.args, strict=True)})
        for e in found.H.atoms(AppliedUndef)
        if e.func.__name__ == name and len(e.args) == len(z)
    }
    return _valued(System(found.z, _at(found.H, targets), found.D, found.Q), at.entries)


def potential_of(build: Build, bound: Dynamics, sizes: Sizes) -> tuple[str, tuple[Expr, ...], Expr] | None:
    """Return the potential that a target states, at exact values; None if it is of data, or a size is not known.

    The name of the function, the target's coordinates, and U as a scalar of these.
    """
    target, name = build.target, bound.potential
    own = target.declarations
    held = any(block.constraint is not None for block in own.blocks)
    if name is None or target.potential is None or own.data or held or not all(size in sizes for size in own.sizes):
        return None
    values = entry_values(build, Dynamics(target.name, own, target.potential, None, None), sizes)
    try:
        found = rows(target.potential, Setting(own, sizes))[0][0]
    except (NotScalarisableError, TooLargeError):
        return None
    return name, tuple(x for block in own.blocks for x in coordinates(block, sizes)), _at(found, values)


def _instances(subject: Subject, at: AtValues | None) -> Iterator[_Instance]:
    whole = subject.whole
    choices = [(whole, ())] if at is not None else [(whole, ()), *_zeroed(whole)]
    sizes = sorted((s for s in subject.sizes), key=lambda s: (min(s.values(), default=0) < 2, sum(s.values())))
    if at is not None and all(size in at.sizes for size in whole.declarations.sizes):
        sizes = [{size: at.sizes[size] for size in whole.declarations.sizes}, *sizes]
    for dynamics, zeros in choices:
        for size in sizes[:2]:
            scalars = _scalars(dynamics, size)
            if scalars is None or len(scalars.z) > LARGEST:
                continue
            if at is not None and all(size.get(name) == at.sizes.get(name) for name in size):
                scalars = _valued(scalars, at.entries)
            yield _Instance(dynamics, zeros, size, scalars)


def _scalars(dynamics: Dynamics, sizes: Sizes) -> System | None:
    try:
        return system(dynamics.declarations, dynamics.H, dynamics.D or (), dynamics.Q or (), sizes)
    except (NotScalarisableError, TooLargeError):
        return None


def _valued(s: System, values: dict[Expr, Expr]) -> System:
    D, Q = (tuple(tuple(_at(x, values) for x in row) for row in matrix) for matrix in (s.D, s.Q))
    return System(s.z, _at(s.H, values), D, Q)


def _at(e: Expr, values: dict[Expr, Expr]) -> Expr:
    found = e.xreplace(values)
    return found if isinstance(found, Expr) else e


def _zeroed(dynamics: Dynamics) -> Iterator[tuple[Dynamics, tuple[str, ...]]]:
    """Yield the dynamics with parameters set to zero that may be zero: those of D alone, then those of Q too.

    A parameter that H or an assumption speaks of is left alone, and so is one that something is divided by.
    """
    declared = dynamics.declarations
    fixed = _names([dynamics.H, *(side for c in declared.assume for side in (c.left, c.right))])
    bounds = _names([edge for block in declared.blocks for edge in block.domain.bounds])
    free = [p for p in declared.parameters if set(p.kinds) <= MAY_VANISH and p.name not in fixed | bounds]
    D, Q = dynamics.D or (), dynamics.Q or ()
    for used in (_names(x for row in D for x in row), _names(x for m in (D, Q) for row in m for x in row)):
        zeros = {p.name: zero(p.shape) for p in free if p.name in used}
        if not zeros:
            continue
        changed = replace(
            dynamics,
            D=tuple(tuple(substitute(x, zeros) for x in row) for row in D),
            Q=tuple(tuple(substitute(x, zeros) for x in row) for row in Q),
        )
        open_ = obligations(tuple(x for m in (changed.D, changed.Q) for row in m or () for x in row), declared).open
        if not open_:
            yield changed, tuple(zeros)


def _names(formulas: Iterator[Formula] | list[Formula]) -> set[str]:
    return {node.name for formula in formulas for node in nodes(formula) if isinstance(node, Symbol)}


def _energy(instance: _Instance, subject: Subject, at: AtValues | None) -> Other | None:
    """Return the refutation by a part of H that is conserved."""
    for part in conserved_energies(instance.scalars):
        names = _blocks_of(part, instance)
        everywhere = not instance.zeros and names is not None and _conserved(subject.derivation, names)
        if at is not None and not everywhere:
            continue
        what = "H" if len(part.coordinates) == len(instance.scalars.z) else f"the part of H in {_where(part, instance)}"
        for slope in part.slopes:
            found = witness(slope, instance.dynamics.declarations, instance.sizes)
            if found is not None:
                values = (*found.text, (f"a derivative of {what}", shown(found.value)))
                return _other(instance, what, values, everywhere=everywhere)
    return None


def _linear(instance: _Instance, subject: Subject) -> Other | None:
    """Return the refutation by a combination of coordinates that never changes, at a size that is allowed."""
    if next(points(instance.dynamics.declarations, instance.sizes), None) is None:
        return None
    circles = _circles(instance)
    for v in linear_invariants(instance.scalars):
        if any(v[k] for k in circles):
            continue
        terms = [(x, str(z)) for x, z in zip(v, instance.scalars.z, strict=True) if x]
        what = " + ".join(name if x == 1 else f"{x}*{name}" for x, name in terms).replace("+ -", "- ")
        return _other(instance, what, (), everywhere=not instance.sizes)
    return None


def _other(instance: _Instance, what: str, values: tuple[tuple[str, str], ...], *, everywhere: bool) -> Other:
    zero = tuple((name, "0") for name in instance.zeros)
    sizes = tuple((name, str(n)) for name, n in instance.sizes.items() if name not in dict(values))
    rest = tuple((name, value) for name, value in values if name not in instance.zeros)
    law = ("also stationary", f"exp(-H)/(1 + {'H' if what == 'H' else f'({what})'}**2)")
    by = "a conserved quantity" + (f", where {' = '.join((*instance.zeros, '0'))}" if zero else "")
    residual = f"{what} is conserved" + (_excluded(instance) if zero else "")
    for_d = "all" if everywhere else tuple(instance.sizes.items()) or "all"
    return Other(Refuted(by, (*zero, *sizes, *rest, law), residual), for_d)


def _excluded(instance: _Instance) -> str:
    """Return where it was shown, and what to declare to exclude these values."""
    named = [p for p in instance.dynamics.declarations.parameters if p.name in instance.zeros]
    stronger = [f"{p.name} {_STRONGER[kind]}" for p in named for kind in p.kinds if kind in _STRONGER]
    hint = f"; declare {', '.join(stronger)} to exclude it" if len(stronger) == len(named) else ""
    return f" where {' = '.join((*instance.zeros, '0'))}, which the declarations allow{hint}"


def _owners(instance: _Instance) -> list[str]:
    """Return the block of every coordinate."""
    found: list[str] = []
    for block in instance.dynamics.declarations.blocks:
        count = 1
        for size in block.shape.sizes:
            count *= size if isinstance(size, int) else instance.sizes[size]
        found += [block.name] * count
    return found


def _blocks_of(part: EnergyPart, instance: _Instance) -> frozenset[str] | None:
    """Return the blocks that a group of coordinates makes up; None where it takes one apart."""
    owners = _owners(instance)
    names = frozenset(owners[k] for k in part.coordinates)
    whole = all(k in part.coordinates for k, owner in enumerate(owners) if owner in names)
    return names if whole else None


def _where(part: EnergyPart, instance: _Instance) -> str:
    return ", ".join(str(instance.scalars.z[k]) for k in part.coordinates)


def _circles(instance: _Instance) -> list[int]:
    on = {b.name for b in instance.dynamics.declarations.blocks if b.domain.name is not DomainName.REAL}
    return [k for k, owner in enumerate(_owners(instance)) if owner in on]


def _conserved(derivation: Derivation | None, names: frozenset[str]) -> bool:
    """Whether index calculus shows, for every size, that the part of H in some blocks is conserved, without noise."""
    if derivation is None:
        return False
    blocks = derivation.dynamics.declarations.blocks
    c = calculus(derivation.dynamics.declarations)
    inside = [n for n, block in enumerate(blocks) if block.name in names]
    b = circulation(derivation)
    power = c.zero()
    for n in inside:
        if not all(c.is_zero(row[n]) for row in derivation.D):
            return False
        for m, other in enumerate(blocks):
            if m not in inside and not c.is_zero(
                c.diff(derivation.grad_H[n], Coordinate(other.name, col_slots(other)))
            ):
                return False
        power = c.add(power, c.total(c.multiply(b[n], derivation.grad_H[n]), *row_slots(blocks[n])))
    return c.is_zero(power)
