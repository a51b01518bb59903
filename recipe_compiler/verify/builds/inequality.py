"""That a sum of monomials is at most a constant, and logarithms or multiples of blocks that priors absorb.

It is shown by weights: s_i of slopes of convex functions that are taken away (`balance`), p_i >= 0 of quantities known
to be bounded below. What is known to be at most constant:

    what has a sign, or a range
    log p(y | ...) - its stated bound, of every named density that stands anywhere in F
    sum_i log G(a_i + y_i)/G(a_i) - log G(a + y)/G(a), a >= sum_i a_i, y = sum_i y_i, y_i >= 0: log E prod_i p_i**y_i of
        Dirichlet's p
    log G(a + s)/G(a) - s log a, 0 <= s <= 1 (Wendel 1948)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from flint import fmpq

from recipe_compiler.formula.densities import EXPONENTIALS, INVERSE, POWERS
from recipe_compiler.formula.elementwise import BOUNDED
from recipe_compiler.formula.expression import Entry, Formula, MatMul, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.verify.builds.cases import Case
from recipe_compiler.verify.builds.residuals import Kept
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.integrability.bounded import bounded_above, bounded_below
from recipe_compiler.verify.integrability.summands import (
    NOTHING,
    UNIT,
    Atom,
    Function,
    Leaf,
    Linear,
    Monomial,
    Raised,
    Reader,
    less,
    moves,
    parted,
    scaled,
    single,
    times,
    total,
)

Moments = Mapping[str, frozenset[str]]
"""Blocks to the names of the moments that their priors have."""

MOST_SHARES = 6
"""Shares of a Dirichlet law that are looked for."""

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Used:
    """What an inequality rests on: blocks whose moments absorb the rest, facts of data, declarations."""

    absorbed: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()

    def __or__(self, other: "Used") -> "Used":
        return Used(self.absorbed | other.absorbed, self.facts | other.facts, self.given | other.given)

    def by(self, reader: Reader, case: Case) -> "Used":
        """Return it with the declarations that signs rest on; of what the data of a case are, as a fact of them."""
        of_case = {fact for fact in reader.given if fact in case.found}
        facts = frozenset(case.found[fact] for fact in of_case) - {""}
        return self | Used(facts=facts, given=frozenset(reader.given - of_case))


@dataclass(slots=True)
class Inequality:
    """The inequality F <= C + what a prior absorbs, to be shown as a combination of sums that are at most constant."""

    of: Linear
    bounds: list[Linear]
    reader: Reader
    moments: Moments
    kept: Sequence[Kept] = ()
    """Summands of -F, and what the sum over all data makes of them."""

    def shown(self) -> Used | None:
        """Return what a proof of the inequality rests on, with no absorbing blocks if possible; None where it is open.

        -F = sum_i s_i l_i + sum_j p_j q_j + a constant with weights s_i in the range of slopes of convex functions that
        are taken away, and p_j >= 0 of quantities q_j that are bounded below. Weights are proposed by a linear
        programme and solved for exactly. First without convex functions, then with half of each.
        """
        energy = scaled(self.of, -ONE)
        convex = [*self._convex(energy), *_of_kept(self.kept)]
        halves = total((energy, *(scaled(term, Fraction(-1, 2)) for term, _, _ in convex)))
        slopes = [(kind, form) for _, kind, form in convex]
        facts = {len(convex) - len(self.kept) + k: one.fact for k, one in enumerate(self.kept)}
        for moments in ({}, self.moments) if self.moments else ({},):
            for left, used in ((energy, []), (halves, slopes)) if convex else ((energy, []),):
                found = self._balanced(left, used, moments)
                if found is not None:
                    absorbed, weighed = found
                    return Used(absorbed, frozenset(facts[k] for k in weighed & facts.keys()))
        return None

    def _balanced(
        self, energy: Linear, convex: Sequence[tuple[str, Linear]], moments: Moments
    ) -> tuple[frozenset[str], frozenset[int]] | None:
        """Return the blocks that absorb, and the convex terms whose slopes are used."""
        from recipe_compiler.verify.from_data.balance import balance  # brings SciPy
        from recipe_compiler.verify.from_data.energy import Piece

        rays = list(self._rays([energy, *(form for _, form in convex)]))
        absorbing = list(self._absorbing([energy, *rays, *(form for _, form in convex)], moments))
        pieces = [*convex, *(("exp", scaled(ray, -ONE)) for ray in rays), *(("exp", form) for form, _ in absorbing)]
        names = _monomials([energy, *(form for _, form in pieces)])

        def form(of: Linear) -> tuple[fmpq, ...]:
            known = dict(of)
            return (*(_exact(known.get(name, Fraction(0))) for name in names), fmpq(0))

        found = balance([Piece(kind, fmpq(1), (form(own),)) for kind, own in pieces], form(energy))
        if found is None:
            return None
        used = found.weights[len(pieces) - len(absorbing) :]
        absorbed = frozenset(block for (_, block), weight in zip(absorbing, used, strict=True) if weight != 0)
        return absorbed, frozenset(k for k, weight in enumerate(found.weights[: len(convex)]) if weight != 0)

    def _convex(self, energy: Linear) -> Iterator[tuple[Linear, str, Linear]]:
        """Yield positive terms and squares of the energy: the term, its kind, and a form, also times what data are.

        c m = c exp(log m) >= s log m + C for every s >= 0, c l**2 >= s l + C for every s; C, s may depend on the datum.
        """
        data = [same for same in {parted(monomial)[0]: None for monomial, _ in energy} if same]
        for monomial, c in energy:
            same, moving = parted(monomial)
            if c <= 0 or not moving or not self.reader.is_positive(same):
                continue
            ((atom, k), *others) = moving
            if self.reader.is_positive(moving):
                kind, form = "exp", self.reader.log(frozenset({(moving, ONE)}))
                allowed = [d for d in data if self.reader.is_positive(d, strictly=False)]
            elif k == 2 and not others:
                kind, form = "square", atom.base if isinstance(atom, Raised) else single(atom)
                allowed = data
            else:
                continue
            term = frozenset({(monomial, c)})
            yield term, kind, form
            for d in allowed:
                yield NOTHING, kind, times(frozenset({(d, ONE)}), form)

    def _rays(self, parts: Sequence[Linear]) -> Iterator[Linear]:
        """Yield sums that are at least a constant, of monomials that occur."""
        for bound in (*self.bounds, *_of_loggammas(self.of, self.reader)):
            yield scaled(bound, -ONE)
        for monomial in _monomials([*parts, *self.bounds]):
            own = frozenset({(monomial, ONE)})
            if self.reader.is_positive(monomial, strictly=False):
                yield own
            same, moving = parted(monomial)
            if self.reader.is_positive(same, strictly=False) and len(moving) == 1:
                ((atom, k),) = moving
                if k == 1:
                    yield from (times(frozenset({(same, ONE)}), ray) for ray in self._of_atom(atom))

    def _of_atom(self, atom: Atom) -> Iterator[Linear]:
        """Yield sums with one atom in them that are at least a constant."""
        own = single(atom)
        match atom:
            case Function("logsumexp", terms):
                yield from (less(own, term) for term in terms)
            case Function("abs", (of,)):
                yield from (less(own, of), total((own, of)))
            case Function(fn) if fn in BOUNDED:
                yield from (own, scaled(own, -ONE))
            case _:
                pass
        formula = atom.formula if isinstance(atom, Leaf) else self.reader.origin.get(own)
        if formula is not None and bounded_above(formula, self.reader.declarations):
            yield scaled(own, -ONE)
        if formula is not None and bounded_below(formula, self.reader.declarations):
            yield own

    def _absorbing(self, parts: Sequence[Linear], moments: Moments) -> Iterator[tuple[Linear, str]]:
        """Yield what may be left of F, and the block whose prior absorbs it."""
        for monomial in _monomials(parts):
            same, moving = parted(monomial)
            if len(moving) != 1:
                continue
            ((atom, k),) = moving
            own = frozenset({(monomial, ONE)})
            block, known = _absorbs(atom, moments) if k == 1 else ("", frozenset[str]())
            if known >= {POWERS, INVERSE} or EXPONENTIALS in known:
                yield from ((own, block), (scaled(own, -ONE), block))
            elif known and self.reader.is_positive(same, strictly=False):
                yield (own if POWERS in known else scaled(own, -ONE)), block


def _of_kept(kept: Sequence[Kept]) -> Iterator[tuple[Linear, str, Linear]]:
    """Yield what is kept from zero as exponentials of precisions, each term once."""
    seen: set[Linear] = set()
    for one in kept:
        yield (NOTHING if one.term in seen else one.term), "exp", one.precision
        seen.add(one.term)


def _absorbs(atom: Atom, moments: Moments) -> tuple[str, frozenset[str]]:
    """Return the block of log v or of a linear h, and those of its finite moments that matter for the atom."""
    match atom:
        case Function("log", (of,)):
            block = next((name for name in moments if _is_entry(of, name)), "")
            return block, moments.get(block, frozenset[str]()) & {POWERS, INVERSE}
        case Leaf(formula):
            block = next((name for name in moments if _is_linear(formula, name)), "")
            return block, moments.get(block, frozenset[str]()) & {EXPONENTIALS}
        case _:
            return "", frozenset()


def _is_entry(of: Linear, block: str) -> bool:
    """Whether a sum is an entry of a block, or the one at a position that a datum is."""
    match tuple(of):
        case ((monomial, c),) if c == 1 and len(monomial) == 1:
            ((atom, k),) = monomial
            return k == 1 and isinstance(atom, Leaf) and _entry_of(atom.formula) == block
        case _:
            return False


def _entry_of(formula: Formula) -> str:
    match formula:
        case Symbol(name, shape, Role.BLOCK) if shape == SCALAR:
            return name
        case MatMul(Symbol(_, _, Role.INDEX), Symbol(name, _, Role.BLOCK)) | Entry(Symbol(name, _, Role.BLOCK)):
            return name
        case _:
            return ""


def _is_linear(formula: Formula, block: str) -> bool:
    """Whether a formula is a block, or a row that is the same for every state times it."""
    match formula:
        case Symbol(name, shape, Role.BLOCK) if shape == SCALAR:
            return name == block
        case MatMul(row, Symbol(name, _, Role.BLOCK)):
            return name == block and not depends_on_state(row)
        case _:
            return False


def _of_loggammas(of: Linear, reader: Reader) -> Iterator[Linear]:
    """Yield sums of log gamma functions in F that are at most 0."""
    up = [own for own, c in _loggammas(of) if c > 0]
    down = [own for own, c in _loggammas(of) if c < 0]
    rises = [(a, less(b, a)) for b in up for a in down if b != a and not moves(less(b, a))]
    grown = [(a, y) for a, y in rises if reader.sign(a).positive and _is_nonnegative(y, reader)]
    for a, s in rises:
        step = _number(s)
        if reader.sign(a).positive and step is not None and 0 <= step <= 1:
            yield total((_ratio(a, s), scaled(reader.log(a), -step)))
    for whole in down:
        for a in up:
            y = less(whole, a)
            if moves(y):
                continue
            for count in range(1, min(len(grown), MOST_SHARES) + 1):
                for parts in combinations(grown, count):
                    rest = less(a, total(b for b, _ in parts))  # of a share that nothing is counted of
                    if total(x for _, x in parts) == y and _is_nonnegative(rest, reader):
                        yield less(total(_ratio(b, x) for b, x in parts), _ratio(a, y))


def _ratio(a: Linear, y: Linear) -> Linear:
    return less(single(Function("loggamma", (total((a, y)),))), single(Function("loggamma", (a,))))


def _loggammas(of: Linear) -> Iterator[tuple[Linear, Fraction]]:
    for monomial, c in of:
        match tuple(monomial):
            case ((Function("loggamma", (own,)), k),) if k == 1 and moves(own):
                for _ in range(min(-int(-abs(c) // 1), MOST_SHARES)):
                    yield own, c
            case _:
                pass


def _number(of: Linear) -> Fraction | None:
    known = dict(of)
    return known.get(UNIT, Fraction(0)) if set(known) <= {UNIT} else None


def _is_nonnegative(of: Linear, reader: Reader) -> bool:
    return (
        all(c > 0 and reader.is_positive(monomial, strictly=False) for monomial, c in of) or reader.sign(of).nonnegative
    )


def _monomials(parts: Iterable[Linear]) -> list[Monomial]:
    """Return the monomials of sums that the state occurs in."""
    return list({monomial: None for part in parts for monomial, _ in part if any(moves(atom) for atom, _ in monomial)})


def _exact(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
