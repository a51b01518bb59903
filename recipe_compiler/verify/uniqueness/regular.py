"""Are D and Q locally Lipschitz, and is the state space in one piece for the dynamics?

Where an entry of D or Q jumps or has a root of a zero, the drift has a singular term that no step resolves. Where
nT (D + Q) = 0 on a surface with normal n, noise and drift are tangent to it (D >= 0 has no slope across its zeros), so
that chains do not cross: started on one side they sample that side only. (SGRHMC with K = sqrt(3/2 sqrt|U + 1/2|):
for E = r**2/2 + U - log K, L E = (1 - r**2) K**2, so that zeros of K are never reached.) A Q of full rank does not help
a D that degenerates: what it adds to the drift may be tangent, or nothing. Chains have to be shown to cross there.
"""

from dataclasses import replace

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.brackets import never_zero
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import region_alike
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, add, determinant
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.regularity import find_rough_points
from recipe_compiler.algebra.zero.zeros_on_line import Root
from recipe_compiler.derive.brackets import circulation
from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.facts.patterns import is_diagonal, nonsingular
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.terms import SizeNumber, Tensor
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.premises import has_state_assumptions, require_lipschitz, require_smooth
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.recover.search import UNKNOWN, Represented, states_equation, with_recovered_q
from recipe_compiler.verify.uniqueness.degeneracy_1d import (
    EntryOnLine,
    decide_lipschitz,
    drop_constant_factor,
    is_alike,
    is_certainly_inside,
    is_crossed,
    isolate_roots,
    read_entry_on_line,
    refute_at_zero,
    varies_along,
)
from recipe_compiler.verify.uniqueness.degeneracy_rank import (
    MatrixEntry,
    Pivot,
    Pivots,
    decide_constant_rank,
    list_nonzero_entries,
)
from recipe_compiler.verify.uniqueness.degeneracy_surfaces import is_linear, is_surface_crossed, split_factors
from recipe_compiler.verify.uniqueness.unique import prove_spanning


def has_varying_matrix(dynamics: Dynamics) -> bool:
    """Whether D or Q depends on the state; also if Q is not given and the one recovered for a claimed drift may."""
    matrices = (dynamics.D, dynamics.Q, dynamics.claims.diffusion)
    moving = any(depends_on_state(place) for matrix in matrices for row in matrix or () for place in row)
    return moving or (dynamics.Q is None and states_equation(dynamics))


def regular(subject: Subject) -> Answer:
    """Decide that D and Q are locally Lipschitz, and that they degenerate on no surface that splits the state space.

    D, Q: [n, n] over z. Entry by entry for the first; for the second, nT (D + Q) = 0 with n the normal of a surface
    means that noise and drift are tangent to it (D >= 0 has no slope across its zeros), and no chain crosses. So where
    D or D + Q loses rank, chains have to be shown to cross: n . D n or b . n must not vanish there. Abstract functions
    are taken to be smooth, and nonsingular, both listed as assumptions. Where Q is not given, the one recovered for the
    drift is judged; where none is, only D, and nothing is required of a constant D.

    Examples: D = theta**2 on the line is refuted, as chains do not cross 0. D = sqrt(|theta|) is refuted as not
    Lipschitz at 0. SGHMC with constant matrices depends on no state, and the claim does not apply.
    """
    of = with_recovered_q(subject)
    if of is not None:
        return _decide_regular(of.subject, of, of.given)
    found = _decide_regular(subject, None, frozenset())
    return replace(found, waived=not any(place.moves for place in list_nonzero_entries(subject)))


def _decide_regular(subject: Subject, of: Represented | None, reasons: frozenset[str]) -> Answer:
    where = subject.place("D", "claims.diffusion")
    given = set(reasons)
    tried: list[str] = []
    entries = tuple(list_nonzero_entries(subject))
    for place in entries:
        if not place.moves:
            continue
        decision = _decide_entry(subject, place, of)
        if isinstance(decision, Refuted):
            sizes = tuple(subject.sizes[0].items())
            return Answer(decision, sizes or "all", where=subject.place(place.name, place.matrix))
        given |= set(decision.given)
        tried += decision.tried if isinstance(decision, Undecided) else ()
    noise = decide_constant_rank(
        tuple(p for p in entries if p.matrix == "D"), lambda place: _find_pivot(subject, place)
    )
    rank = decide_constant_rank(entries, lambda place: _find_pivot(subject, place))
    whole = _prove_no_zeros(subject, *_choose_matrix(subject, noise)) if noise.open or rank.open else None
    if of is None and len(rank.zero) < len(subject.names):
        tried.append(UNKNOWN)
    elif (noise.open or rank.open) and whole is None:
        whole = _prove_by_brackets(subject)
        if whole is None:
            tried.append(f"not shown: the zero set of {rank.open or noise.open} does not divide the state space")
    pivots = [whole] if whole is not None else [*noise.pivots, *rank.pivots]
    given |= {reason for pivot in pivots for reason in pivot.given}
    tried += [subject.contradiction] if subject.contradiction else []
    reasons = frozenset(given)
    if tried:
        return undecided(*tried, given=tuple(sorted(reasons)), where=where)
    data = tuple(dict.fromkeys(item for pivot in pivots for item in pivot.data))
    by = "Lipschitz; " + "; ".join(dict.fromkeys(pivot.by for pivot in pivots))
    return Answer(Proved(by.removesuffix("; "), tuple(sorted(reasons)), data), where=where)


def _decide_entry(subject: Subject, place: MatrixEntry, of: Represented | None) -> Decision:
    """Decide that an entry is Lipschitz, and look for a zero of it that chains do not cross.

    A Q that was found is one of many: another may be smooth where it is rough, and without a Q it is not known which
    zeros are crossed.
    """
    kinks = require_lipschitz((place.formula,), subject.declarations)
    given = tuple(sorted(kinks.given))
    line = read_entry_on_line(subject, place.formula)
    rough = decide_lipschitz(subject, place, line) if kinks.open and line is not None else None
    if isinstance(rough, Refuted):
        found = place.matrix == "Q" and of is not None and of.recovered
        return Undecided((f"{place.name}, which was found: {rough.by}",), given=given) if found else rough
    for root in (isolate_roots(line) or ()) if of is not None else ():
        if (
            line is not None
            and is_crossed(subject, line, root) is False
            and is_certainly_inside(subject, root, line.block)
        ):
            bent = bool(find_rough_points(line.f, line.x, line.block, line.constants))
            row = f"the row of {line.x} in D and Q vanishes"
            says = (
                f"{row}, with a kink: the drift jumps where there is no noise" if bent else f"{row}: no chain crosses"
            )
            return refute_at_zero(place, line, root, says)
    if kinks.open and rough is None:
        return Undecided(tuple(f"{place.name}: not shown: {what}" for what in kinks.open), given=given)
    return Proved("Lipschitz", given)


def _find_pivot(subject: Subject, place: MatrixEntry) -> Pivot | None:
    """Return why an entry is nonsingular everywhere, off surfaces that chains cross; None if that is not known."""
    formula, declarations = place.formula, subject.declarations
    if formula.shape.rows != formula.shape.cols:
        return None
    for assumed, by in ((False, "nonsingular by structure"), (True, "nonsingular as assumed")):
        known = nonsingular(formula, declarations, assumed=assumed)
        if known is not None:
            return Pivot(by, known)
    if declarations.sizes and not (is_alike(subject, formula) and is_diagonal(formula, declarations)):
        return None
    try:
        entries = rows(formula, subject.setting(subject.sizes[0]))
    except (NotScalarisableError, TooLargeError):
        return None
    found = _prove_no_zeros(subject, place.name, entries)
    if found is not None:
        return found
    line = read_entry_on_line(subject, formula)
    line = None if line is None else drop_constant_factor(line)
    zeros = isolate_roots(line)
    if line is None or zeros is None or not all(is_crossed(subject, line, zero) for zero in zeros):
        return None if declarations.sizes else _prove_zeros_crossed(subject, place, entries)
    if zeros and declarations.sizes and not _is_alike_at_every_size(subject, line, zeros):
        return None  # what crosses them at the smallest size may vanish at another
    listed = ", ".join(zero.text for zero in zeros) or "none"
    return Pivot(f"zeros of {place.name} isolated, crossed", data=((f"zeros of {place.name} in {line.x}", listed),))


def _is_alike_at_every_size(subject: Subject, line: EntryOnLine, zeros: tuple[Root, ...]) -> bool:
    """Whether the current of Q in a block, nonzero at the smallest size, is nonzero at every larger one.

    It holds that of the smallest one where further coordinates are 0, if sizes as numbers are factors of all of it, or
    of terms free of the state, beside others that vary along the zeros: r.T r - d.
    """
    blocks = subject.declarations.blocks
    row = blocks.index(line.block)
    if subject.derivation is None or not all(
        is_alike(subject, p.formula) for p in list_nonzero_entries(subject) if p.row == row
    ):
        return False
    c, current = subject.derivation.calculus, circulation(subject.derivation)[row]
    sized = [term for term in current.terms if any(isinstance(f, SizeNumber) for f, _ in term.factors)]
    numbers = {frozenset(f for f in term.factors if isinstance(f[0], SizeNumber)) for term in current.terms}
    if sum(isinstance(atom, SizeNumber) for atom in everywhere(current)) != sum(
        isinstance(atom, SizeNumber) for term in sized for atom, _ in term.factors
    ):
        return False
    is_free = not blocks_in(c, Tensor(current.free, tuple(sized)))
    return len(numbers) <= 1 or (is_free and all(varies_along(subject, line, zero) for zero in zeros))


def _prove_zeros_crossed(subject: Subject, place: MatrixEntry, entries: Rows) -> Pivot | None:
    """Return a proof that a scalar entry vanishes only where one of its linear factors does, and chains cross there."""
    if len(entries) != 1 or not entries[0][0].is_polynomial(*subject.system({}).z):
        return None
    z = subject.system({}).z
    constant, listed = split_factors(entries[0][0], z)
    if not never_zero(constant) or not all(is_linear(g, z) and is_surface_crossed(subject, g, {}) for g in listed):
        return None
    data = tuple((f"a surface on which {place.name} vanishes", f"{g} = 0") for g in listed)
    return Pivot(f"zeros of {place.name} on surfaces, crossed", data=data)


def _prove_no_zeros(subject: Subject, name: str, matrix: Rows) -> Pivot | None:
    """Return a proof that the determinant of a square matrix at the smallest sizes has no zeros."""
    if not 0 < len(matrix) <= limits.FEW_COORDINATES:
        return None
    try:
        found = scalar(determinant(matrix), "!=", region_alike(subject.declarations, subject.sizes[0]))
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    if found is None:
        return None
    return Pivot(f"{name} without zeros by {found.by}", found.given, tuple((f"{name}: {n}", v) for n, v in found.data))


def _prove_by_brackets(subject: Subject) -> Pivot | None:
    """Return the proof that no surface splits the state space because brackets of noise and drift are tangent to none.

    On a surface that no chain crosses the columns of D and b are tangent, hence all of their brackets.
    """
    premises = require_smooth(subject.formulas, subject.declarations)
    if subject.derivation is None or premises.open or has_state_assumptions(subject.declarations):
        return None
    reached = prove_spanning(subject, subject.derivation)
    return None if reached.open else Pivot(reached.by, premises.given, reached.data)


def _choose_matrix(subject: Subject, noise: Pivots) -> tuple[str, Rows]:
    """Return D where it may degenerate, else D + Q, at fixed sizes; no rows where sizes are symbolic."""
    name = "D" if noise.open else "D + Q"
    if subject.declarations.sizes or subject.whole.D is None or subject.whole.Q is None:
        return name, ()
    system = subject.system({})
    return name, system.D if noise.open else add((system.D, system.Q))
