"""Is D positive semidefinite? By structure for every size; refuted by an exact point and direction."""

from dataclasses import dataclass

from recipe_compiler.algebra.entries import NotScalarisableError
from recipe_compiler.algebra.instances import NoInstanceError
from recipe_compiler.algebra.matrices import TooLargeError
from recipe_compiler.algebra.psd import semidefinite
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import Finding, Proved, Refuted, Undecided
from recipe_compiler.verify.case import Case, Matrix
from recipe_compiler.verify.negativity import Negative, assumed_nonnegative, find_negative
from recipe_compiler.verify.premises import smoothness
from recipe_compiler.verify.sizes import written

SAYS = "D is positive semidefinite"


@dataclass(frozen=True, slots=True)
class _Part:
    """A diagonal part of D that no other block couples to: one block, or several that couple among themselves."""

    name: str
    matrix: Matrix
    given: frozenset[str] | None
    """What its positive semidefiniteness rests on; None if no rule shows it."""


def d_psd(case: Case) -> Finding:
    """Decide that D (the claimed diffusion where D is not given) is positive semidefinite for every size.

    The structural rules and a search for exact negative directions are independent: should they contradict each other,
    the verdict is undecided.
    """
    D = case.whole.D
    if D is None or case.derivation is None:
        return Finding("d_psd", SAYS, True, Undecided(("neither D nor claims.diffusion is given",)))
    declarations = case.dynamics.declarations
    parts = [_part(case, D, group) for group in _groups(case)]
    notes: list[str] = []
    for part in sorted(parts, key=lambda part: part.given is not None):
        found, failures = _negative(case, part)
        notes += failures
        if found is not None:
            return _negative_finding(case, part, found)
    premises = smoothness([place for row in D for place in row], declarations)
    tried = [f"no rule shows that {part.name} is positive semidefinite" for part in parts if part.given is None]
    if tried:
        tried.append(f"no negative direction at {'; '.join(written(s) for s in case.sizes if s) or 'its sizes'}")
    tried += [*notes, *(f"not shown: {what}" for what in premises.open)]
    tried += [case.contradiction] if case.contradiction else []
    used = frozenset[str]().union(*(part.given or frozenset() for part in parts))
    given = tuple(sorted(used))
    where = case.place("D", "claims.diffusion")
    checked = tuple(tuple(sizes.items()) for sizes in case.sizes)
    if tried:
        return Finding("d_psd", SAYS, True, Undecided(tuple(tried), given=given), where=where)
    return Finding("d_psd", SAYS, True, Proved("structure of D", given), checked_at=checked, where=where)


def _groups(case: Case) -> list[tuple[int, ...]]:
    """Return the blocks in groups that D couples: those between which an entry is not shown to vanish."""
    derivation = case.derivation
    entries = () if derivation is None else derivation.D
    left = set(range(len(entries)))
    groups: list[tuple[int, ...]] = []
    while left:
        group = {min(left)}
        while True:
            more = {b for a in group for b in left if not (entries[a][b].is_zero and entries[b][a].is_zero)} | group
            if more == group:
                break
            group = more
        groups.append(tuple(sorted(group)))
        left -= group
    return groups


def _part(case: Case, D: Matrix, group: tuple[int, ...]) -> _Part:
    """Return a group with what structure says about it."""
    declarations = case.dynamics.declarations
    matrix = tuple(tuple(D[a][b] for b in group) for a in group)
    name = "D" if case.dynamics.D is not None else "claims.diffusion"
    if len(group) == 1:
        found = semidefinite(matrix[0][0], declarations)
        block = case.names[group[0]]
        return _Part(f"{name}[{block},{block}]", matrix, None if found is None else found.given)
    names = ", ".join(case.names[a] for a in group)
    return _Part(f"{name} of ({names})", matrix, assumed_nonnegative(matrix, case, group))


def _negative(case: Case, part: _Part) -> tuple[Negative | None, list[str]]:
    """Return an exact negative direction of a part, and at which sizes none could be looked for."""
    failures: list[str] = []
    for sizes in case.sizes:
        try:
            found = find_negative(part.matrix, case, sizes, short=part.given is not None)
        except (NotScalarisableError, TooLargeError, NoInstanceError) as reason:
            failures.append(f"no search at {written(sizes) or 'the fixed sizes'}: {reason}")
            continue
        if found is not None:
            return found, failures
    return None, failures


def _negative_finding(case: Case, part: _Part, found: Negative) -> Finding:
    """Return the refutation, blaming the smallest part; undecided if a structural rule says the contrary."""
    formula = f"{part.name} = {text(part.matrix[0][0])}" if len(part.matrix) == 1 else part.name
    scalar = len(found.direction) == 1
    direction = "[" + ", ".join(map(str, found.direction)) + "]"
    value = (
        ((part.name, str(found.value)),) if scalar else (("v", direction), (f"v.T @ {part.name} @ v", str(found.value)))
    )
    block = part.name.partition("[")[2].rstrip("]").partition(",")[0]
    where = case.place(f"D[{block},{block}]", "D", f"claims.diffusion[{block},{block}]", "claims.diffusion")
    if part.given is not None:
        reason = (
            f"structure says that {part.name} is positive semidefinite, an exact point says not; please report this"
        )
        return Finding("d_psd", SAYS, True, Undecided((reason,)), where=where)
    decision = Refuted("exact witness", (*found.text, *value), formula)
    return Finding("d_psd", SAYS, True, decision, tuple(found.sizes.items()) or "all", where=where)
