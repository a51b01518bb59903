"""Another invariant distribution, exactly: by a conserved quantity that noise does not reach."""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.invariants import conserved_energies, linear_invariants
from recipe_compiler.algebra.dynamics.system import System, system
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points, witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.definedness import obligations
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Formula, Symbol
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Evidence, Refuted
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject

_STRONGER = {Kind.PSD: Kind.PD, Kind.NONNEGATIVE: Kind.POSITIVE}
"""What to declare of a parameter that may vanish as declared."""
MAY_VANISH = frozenset({Kind.REAL, Kind.NONNEGATIVE, Kind.SYMMETRIC, Kind.SKEW, Kind.PSD, Kind.DIAGONAL})
Conserved = tuple[str, Evidence]
"""A quantity C in words, with a point at which it is not constant."""


def find_other_law(subject: Subject, hint: str) -> Answer | None:
    """Return another stationary density exp(-H)/(1 + C**2), with a conserved quantity C; None where none is found.

    If D grad C = 0 and b . grad C = 0 with b = -Q grad H + div Q, the scalar C never changes along a chain, so any
    function of C times exp(-H) is stationary. C is H itself where D = 0 (HMC), the energy of blocks without noise, or a
    constant vector times z. The claim is about all admissible parameters, and one instance refutes it.

    Example: HMC, D = 0 and Q = [[0, -I], [I, 0]], has C = H. Langevin dynamics with D = diag(1, 0) in two coordinates
    and Q = 0 has C = theta_2.

    Args:
        subject: the dynamics.
        hint: what to add to the refutation: a refresh that would bring in noise.
    """
    whole = subject.whole
    sizes = sorted(subject.sizes, key=lambda s: (min(s.values(), default=0) < 2, sum(s.values())))[:2]
    for dynamics, zeros in ((whole, ()), *_set_parameters_to_zero(whole)):
        for at in sizes:
            try:
                s = system(dynamics.declarations, dynamics.H, dynamics.D or (), dynamics.Q or (), at)
                found = None if len(s.z) > limits.COORDINATES else next(_list_conserved(dynamics, s, at), None)
            except (NoNormalFormError, NoInstanceError, NotScalarisableError, TooLargeError):
                continue
            if found is not None:
                return Answer(_refute_by_conserved(dynamics, zeros, at, found, hint), tuple(at.items()) or "all")
    return None


def _list_conserved(dynamics: Dynamics, s: System, sizes: Sizes) -> Iterator[Conserved]:
    """Yield conserved quantities: parts of H without noise, and combinations of coordinates that are on no circle."""
    declarations = dynamics.declarations
    for part in conserved_energies(s):
        where = ", ".join(str(s.z[k]) for k in part.coordinates)
        what = "H" if len(part.coordinates) == len(s.z) else f"the part of H in {where}"
        for slope in part.slopes:
            found = witness(slope, declarations, sizes)
            if found is not None:
                yield what, (*found.text, (f"a derivative of {what}", format_value(found.value)))
    if next(points(declarations, sizes), None) is None:
        return
    blocks = [block for block in declarations.blocks for _ in coordinates(block, sizes)]
    for v in linear_invariants(s):
        if all(block.domain.name is DomainName.REAL for x, block in zip(v, blocks, strict=True) if x):
            terms = (str(z) if x == 1 else f"{x}*{z}" for x, z in zip(v, s.z, strict=True) if x)
            yield " + ".join(terms).replace("+ -", "- "), ()


def _refute_by_conserved(
    dynamics: Dynamics, zeros: tuple[str, ...], sizes: Sizes, found: Conserved, hint: str
) -> Refuted:
    """Return the refutation by a conserved quantity, with what to declare to exclude the parameters that are zero."""
    what, values = found
    vanish = tuple((name, "0") for name in zeros)
    at = tuple((name, str(n)) for name, n in sizes.items() if name not in dict(values))
    rest = tuple((name, value) for name, value in values if name not in zeros)
    law = ("also stationary", f"exp(-H)/(1 + {'H' if what == 'H' else f'({what})'}**2)")
    by, residual = "a conserved quantity", f"{what} is conserved"
    if zeros:
        where = f"where {' = '.join((*zeros, '0'))}"
        by, residual = f"{by}, {where}", f"{residual} {where}, which the declarations allow"
        declared = [p for p in dynamics.declarations.parameters if p.name in zeros]
        kinds = [f"{p.name} {_STRONGER[kind]}" for p in declared for kind in p.kinds if kind in _STRONGER]
        residual += f"; declare {', '.join(kinds)} to exclude it" if len(kinds) == len(zeros) else ""
    return Refuted(by, (*vanish, *at, *rest, law), residual + hint)


def _set_parameters_to_zero(dynamics: Dynamics) -> Iterator[tuple[Dynamics, tuple[str, ...]]]:
    """Yield the dynamics at parameters 0 that the kinds allow: those of D alone, then those of Q too.

    A parameter that H or an assumption speaks of is left alone, and so is one that something is divided by.
    """
    declared = dynamics.declarations
    fixed = _collect_names([dynamics.H, *(side for c in declared.assume for side in (c.left, c.right))])
    bounds = _collect_names([edge for block in declared.blocks for edge in block.domain.bounds])
    free = [p for p in declared.parameters if set(p.kinds) <= MAY_VANISH and p.name not in fixed | bounds]
    D, Q = dynamics.D or (), dynamics.Q or ()
    for used in (
        _collect_names(x for row in D for x in row),
        _collect_names(x for m in (D, Q) for row in m for x in row),
    ):
        zeros = {p.name: zero(p.shape) for p in free if p.name in used}
        if not zeros:
            continue
        changed = replace(
            dynamics,
            D=tuple(tuple(substitute(x, zeros) for x in row) for row in D),
            Q=tuple(tuple(substitute(x, zeros) for x in row) for row in Q),
        )
        open_ = obligations(changed.matrix_entries, declared).open
        if not open_:
            yield changed, tuple(zeros)


def _collect_names(formulas: Iterator[Formula] | list[Formula]) -> set[str]:
    return {node.name for formula in formulas for node in nodes(formula) if isinstance(node, Symbol)}
