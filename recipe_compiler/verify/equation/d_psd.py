"""Is D positive semidefinite? By structure for every size, by exact proofs about scalars; refuted by an exact point.

Points are simple ones first, then searched ones; there a vector v of rationals has v.T D v < 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, count

import sympy
from sympy.utilities.iterables import connected_components

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.system import block_matrix
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.searched_point import completed, names_in, region_of
from recipe_compiler.algebra.points.witness import is_defined_at, points
from recipe_compiler.algebra.positivity.prove import Shown
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import Value, rational_rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError
from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction
from recipe_compiler.algebra.structure.definedness import definedness
from recipe_compiler.errors import Place
from recipe_compiler.facts.semidefinite import semidefinite
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import FunctionAt, Symbol
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import Answer, Evidence, Proved, Refuted, undecided
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.premises import list_facts
from recipe_compiler.verify.core.sizes import Sizes, format_sizes, list_further_sizes
from recipe_compiler.verify.core.subject import Subject, once
from recipe_compiler.verify.equation.scalar_block import prove_by_scalars


@dataclass(frozen=True, slots=True)
class Negative:
    """A proof that a matrix A is not positive semidefinite: sizes, a point as text, and v with v.T A v < 0 there.

    `direction` is v: [n], rationals; `value` is v.T A v, exact.
    """

    sizes: Sizes
    text: Evidence
    direction: tuple[Fraction, ...]
    value: Value


Search = Callable[[Matrix, Subject, Sizes], Negative | None]


def find_negative(matrix: Matrix, subject: Subject, sizes: Sizes, *, short: bool) -> Negative | None:
    """Return an exact negative direction of the symmetric part of a block matrix M at a simple admissible point.

    v of n rationals has v.T (M + M.T) v/2 < 0 at the point, exactly. diag(x, 1) has v = (1, 0) at x = -1. None proves
    nothing. With `short`, fewer points are tried: a proof says that there is nothing to find.

    Raises:
        entries.NotScalarisableError, matrices.TooLargeError: the matrix has no scalar entries.
        sample_fields.NoInstanceError: kinds of which no instance is known.
    """
    declarations = subject.declarations
    a = block_matrix(matrix, subject.setting(sizes))
    for at in points(declarations, sizes, limits.TRIALS if short else limits.POINTS):
        numbers = _rational_symmetric_part(a, at)
        if numbers is None or not is_defined_at(chain(*matrix), subject.setting(sizes), at.leaf):
            continue
        v = negative_direction(numbers)
        if v is not None and form(numbers, v) < 0:
            return Negative(sizes, _select_relevant_values(matrix, at.text, subject), v, form(numbers, v))
    return None


def search_negative(matrix: Matrix, subject: Subject, sizes: Sizes) -> Negative | None:
    """Return an exact negative direction v.T A v < 0 at a point that floats propose; None if none is found.

    A = (M + M.T)/2 for the n x n matrix M at the given sizes. The point and v are made rational, the point is checked
    against everything declared, and v.T A v is computed exactly: floats decide nothing.

    Raises:
        entries.NotScalarisableError, matrices.TooLargeError: the matrix has no scalar entries.
        sample_fields.NoInstanceError: kinds of which no instance is known.
    """
    # imports NumPy, which most proofs need not
    from recipe_compiler.algebra.positivity.falsify import find_negative_direction

    declarations = subject.declarations
    a = block_matrix(matrix, subject.setting(sizes))
    entries = [x for row in a for x in row]
    if len(a) > limits.COORDINATES or any(x.has(sympy.Derivative) for x in entries):
        return None
    region = region_of(entries, declarations, sizes)
    found = find_negative_direction(a, region, names_in(entries, region))
    at = None if found is None else completed(found.at, declarations, sizes)
    if found is None or at is None or not is_defined_at(chain(*matrix), subject.setting(sizes), at.leaf):
        return None
    return Negative(sizes, _select_relevant_values(matrix, at.text, subject), found.direction, found.value)


def _rational_symmetric_part(a: Rows, at: Point) -> tuple[tuple[Fraction, ...], ...] | None:
    """Return the symmetric part of a matrix at a point; None unless every entry is rational."""
    exact = rational_rows(a, at.leaf)
    if exact is None:
        return None
    n = range(len(a))
    return tuple(tuple((exact[i][j] + exact[j][i]) / 2 for j in n) for i in n)


def _select_relevant_values(matrix: Matrix, text: Evidence, subject: Subject) -> Evidence:
    """Return the sizes, and a point's values that the matrix, an assumption or a bound mentions."""
    formulas = [place for row in matrix for place in row]
    formulas += [side for c in subject.declarations.assume for side in (c.left, c.right)]
    formulas += [bound for block in subject.declarations.blocks for bound in block.domain.bounds]
    used = [node for f in formulas for node in nodes(f) if isinstance(node, (Symbol, FunctionAt))]
    names = {*subject.declarations.sizes, *(node.name for node in used)}
    for node in used:
        names |= set(node.of) if isinstance(node, FunctionAt) else set()
    return tuple((name, value) for name, value in text if name.partition("(")[0] in names)


@dataclass(frozen=True, slots=True)
class _Part:
    """A diagonal part of D that is decoupled from all other blocks."""

    name: str
    matrix: Matrix
    proof: Shown | None
    """How its positive semidefiniteness is shown; None if it is not."""
    tried: str


@once
def d_psd(subject: Subject) -> Answer:
    """Decide that v.T D v >= 0 for every v at every state, for every size (Ma, Chen, Fox 2015, Theorem 1 requires it).

    D is n x n over all coordinates of z; the claimed diffusion where D is not given. It splits into groups of blocks
    that it does not couple. For each, in turn: structural rules; signs of the characteristic coefficients e_k; sums of
    squares (Peyrl and Parrilo 2008); a search for an exact negative direction. Proofs and the search are independent:
    should they contradict each other, the answer is undecided. It rests on D having a value everywhere in the domain,
    which is shown separately.

    Example: [[1, x], [x, x**2]] has e_1 = 1 + x**2 and e_2 = 0, proved although it is singular. [[1, 2], [2, 1]] is
    refuted by v = (-2, 1), v.T D v = -3.
    """
    D = subject.whole.D
    if D is None or subject.derivation is None:
        return undecided("neither D nor claims.diffusion is given")
    parts = [_prove_group(subject, D, group) for group in _coupled_groups(subject)]
    notes: list[str] = []
    for part in sorted(parts, key=lambda part: part.proof is not None):
        found, failures = _search_direction(subject, part)
        notes += failures
        if found is not None:
            return _refute_part(subject, part, found)
    return _conclude_from_parts(subject, D, parts, notes)


def _conclude_from_parts(subject: Subject, D: Matrix, parts: list[_Part], notes: list[str]) -> Answer:
    """Return the proof that D is positive semidefinite if all parts are proved, else what was tried."""
    places, declarations = [place for row in D for place in row], subject.declarations
    premises = definedness(places, declarations)
    tried: list[str] = []
    for part in parts:
        if part.proof is None:
            tried.append(f"no rule shows that {part.name} is positive semidefinite")
            tried += [f"{part.name}: {part.tried}"]
    if tried:
        at = (*subject.sizes, *_larger_sizes(subject))
        tried.append(
            f"no negative direction at {'; '.join(format_sizes(sizes) for sizes in at if sizes) or 'its sizes'}"
        )
    tried += [*notes, *(f"not shown: {what}" for what in premises.open)]
    tried += [subject.contradiction] if subject.contradiction else []
    proofs = [part.proof for part in parts if part.proof is not None]
    transposes = {fact for fact in list_facts(places, declarations) if fact.endswith(("symmetric", "skew", "diagonal"))}
    given = tuple(sorted(premises.given.union(transposes, *(proof.given for proof in proofs))))
    where = subject.place("D", "claims.diffusion")
    checked = tuple(tuple(sizes.items()) for sizes in subject.sizes)
    if tried:
        return undecided(*tried, given=given, where=where)
    by = ", ".join(dict.fromkeys(proof.by for proof in proofs))
    data = tuple(
        (f"{part.name}: {name}", value)
        for part in parts
        for name, value in (part.proof.data if part.proof is not None else ())
    )
    return Answer(Proved(by, given, data), checked_at=checked, where=where)


def _coupled_groups(subject: Subject) -> list[tuple[int, ...]]:
    """Return the blocks grouped by coupling: two are coupled unless D's entry between them is shown to vanish."""
    entries = () if subject.derivation is None else subject.derivation.D
    n = range(len(entries))
    coupled = [(a, b) for a in n for b in n if not entries[a][b].is_zero]
    return sorted(tuple(sorted(group)) for group in connected_components(([*n], coupled)))


def _prove_group(subject: Subject, D: Matrix, group: tuple[int, ...]) -> _Part:
    """Return a group of blocks with its proof by structure, or with the open condition."""
    matrix = tuple(tuple(D[a][b] for b in group) for a in group)
    name = "D" if subject.dynamics.D is not None else "claims.diffusion"
    names = [subject.names[a] for a in group]
    whole = f"{name} of ({', '.join(names)})" if len(group) > 1 else f"{name}[{names[0]},{names[0]}]"
    found = semidefinite(matrix[0][0], subject.declarations) if len(group) == 1 else None
    shown = Shown("structure of D", found.given) if found is not None else prove_by_scalars(matrix, subject, group)
    return _Part(whole, matrix, shown if isinstance(shown, Shown) else None, "" if isinstance(shown, Shown) else shown)


def _search_direction(subject: Subject, part: _Part) -> tuple[Negative | None, list[str]]:
    """Return an exact negative direction of a part, and the sizes at which no search was possible."""
    failures: list[str] = []
    short = part.proof is not None
    find = partial(find_negative, short=short)
    searches: list[tuple[Search, Sequence[Sizes]]] = [(find, subject.sizes)]
    if not short:
        searches += [(search_negative, subject.sizes[: limits.SIZES]), (find, _larger_sizes(subject))]
    for search, at in searches:
        for sizes in at:
            try:
                found = search(part.matrix, subject, sizes)
            except (NotScalarisableError, TooLargeError, NoInstanceError) as reason:
                if isinstance(reason, NoInstanceError) and short and not subject.contradiction:
                    continue  # some draws have no instance, others do: a proof needs no more
                note = f"no search at {format_sizes(sizes) or 'the fixed sizes'}: {reason}"
                failures += [] if note in failures else [note]
                continue
            if found is not None:
                return found, failures
    return None, failures


def _larger_sizes(subject: Subject) -> tuple[Sizes, ...]:
    """Return larger sizes to check: I - ones @ ones.T/3 is positive semidefinite for d <= 3 only."""
    return list_further_sizes(subject.sizes, dict.fromkeys(subject.declarations.sizes, limits.COORDINATES))


def _refute_part(subject: Subject, part: _Part, found: Negative) -> Answer:
    """Return the refutation located at the smallest part; undecided if a proof contradicts it."""
    formula = f"{part.name} = {text(part.matrix[0][0])}" if len(part.matrix) == 1 else part.name
    direction = "[" + ", ".join(map(str, found.direction)) + "]"
    v = _direction_name(subject)
    value: Evidence = (
        ((part.name, format_value(found.value)),)
        if found.direction in ((1,), (-1,))
        else ((v, direction), (f"{v}.T @ {part.name} @ {v}", format_value(found.value)))
    )
    where = _place_of_part(subject, part)
    if part.proof is not None:
        reason = (
            f"{part.proof.by} says that {part.name} is positive semidefinite, an exact point says not; "
            "please report this"
        )
        return undecided(reason, where=where)
    decision = Refuted("exact witness", (*found.text, *value), formula)
    return Answer(decision, tuple(found.sizes.items()) or "all", where=where)


def _direction_name(subject: Subject) -> str:
    """Return a name for the direction that the document does not declare, `v` if possible."""
    declarations = subject.declarations
    taken = (*declarations.blocks, *declarations.parameters, *declarations.data, *declarations.functions)
    used = {*declarations.sizes, *(item.name for item in taken)}
    return next(name for name in chain("vuwxy", (f"v{k}" for k in count())) if name not in used)


def _place_of_part(subject: Subject, part: _Part) -> Place:
    """Return where the document states a part of D."""
    block = part.name.partition("[")[2].rstrip("]").partition(",")[0]
    return subject.place(f"D[{block},{block}]", "D", f"claims.diffusion[{block},{block}]", "claims.diffusion")
