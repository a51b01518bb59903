"""What a formula is at most, for every state: a constant, and logarithms or multiples of blocks that priors absorb.

    F <= C + sum_j k_j log v_j + sum_j c_j h_j,    for every state and every datum, C of the datum

is shown by weights: s_i of slopes of convex functions that are taken away (`balance`), p_i >= 0 of quantities known to
be bounded below. Values that a field of the data may have, `in: [0, 1]`, are put in one by one, and log(sum_k exp(l_k))
that is added is at most max_k l_k + log K: the inequality is shown for every l_k. What is known to be at most constant:

    what has a sign, or a range
    log p(y | ...) - its stated bound, of every named density that stands anywhere in F
    sum_i log G(a_i + y_i)/G(a_i) - log G(a + y)/G(a), a >= sum_i a_i, y = sum_i y_i, y_i >= 0: log E prod_i p_i**y_i of
        Dirichlet's p
    log G(a + s)/G(a) - s log a, 0 <= s <= 1 (Wendel 1948)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

from flint import fmpq

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES, EXPONENTIALS, INVERSE, POWERS
from recipe_compiler.formula.density_terms import at_most, log_density
from recipe_compiler.formula.elementwise import BOUNDED
from recipe_compiler.formula.expression import Entry, Formula, MatMul, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity
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
    TooLargeError,
    less,
    moves,
    parted,
    scaled,
    single,
    times,
    total,
)

MOST_CASES = 64
"""Values of data, and largest terms, that are put in."""

MOST_SHARES = 6
"""Shares of a Dirichlet law that are looked for."""

ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """F is at most a constant, and multiples of these; by the declarations `given`."""

    absorbed: tuple[str, ...]
    given: frozenset[str]


def ceiling(
    formula: Formula,
    densities: Sequence[StatedDensity],
    declarations: Declarations,
    moments: Mapping[str, frozenset[str]],
) -> Ceiling | None:
    """Return what a scalar formula is at most; None where nothing is shown.

    Args:
        formula: F, of the blocks as declared, and of one datum.
        densities: named densities whose bounds may be used.
        declarations: of what stands in them.
        moments: block to the moments that its prior has, whatever the state is.
    """
    reader = Reader(declarations)
    absorbed: set[str] = set()
    try:
        for values in _cases(formula, declarations):
            one = substitute(formula, values)
            stated = [replace(d, arguments=tuple(substitute(a, values) for a in d.arguments)) for d in densities]
            bounds = [rest for density in stated for rest in _below_bound(density, reader)]
            for branch in _largest(reader.read(one), reader):
                found = _Inequality(branch, bounds, reader, moments).shown()
                if found is None:
                    return None
                absorbed |= found
    except TooLargeError:
        return None
    return Ceiling(tuple(sorted(absorbed)), frozenset(reader.given))


def _cases(formula: Formula, declarations: Declarations) -> Iterator[Mapping[str, Formula]]:
    """Yield the values that fields of few values have; none of fields where there are too many.

    Raises:
        TooLargeError: there are more than are looked at.
    """
    named = dependence(formula).data
    few = [d for d in declarations.data if d.name in named and d.values and d.shape == SCALAR and not d.is_index]
    count = 1
    for datum in few:
        count *= len(datum.values)
    if count > MOST_CASES:
        raise TooLargeError
    for values in product(*(datum.values for datum in few)):
        yield {datum.name: Number(Fraction(x)) for datum, x in zip(few, values, strict=True)}


def _largest(of: Linear, reader: Reader) -> Iterator[Linear]:
    """Yield sums of which one is at least F - C at every state: of each logsumexp that is added the terms one by one.

    Raises:
        TooLargeError: there are more than are looked at.
    """
    left = [of]
    count = 1
    while left:
        one = left.pop()
        found = next(_added(one, reader), None)
        if found is None:
            yield one
            continue
        term, factor, terms = found
        count += len(terms)
        if count > MOST_CASES:
            raise TooLargeError
        without = one - {term}
        left += [total((without, times(factor, largest))) for largest in terms]


def _added(of: Linear, reader: Reader) -> Iterator[tuple[tuple[Monomial, Fraction], Linear, tuple[Linear, ...]]]:
    """Yield a logsumexp that is added, as its term, what multiplies it, and its terms."""
    for monomial, c in sorted(of, key=lambda term: str(term[1])):
        same, moving = parted(monomial)
        match tuple(moving):
            case ((Function("logsumexp", terms), k),) if k == 1 and c > 0 and reader.is_positive(same, strictly=False):
                yield (monomial, c), frozenset({(same, c)}), terms
            case _:
                pass


def _below_bound(density: StatedDensity, reader: Reader) -> Iterator[Linear]:
    """Yield log densities less their bounds: never above 0."""
    row = DENSITIES[density.name]
    bounds = (*(bound.at_most for bound in row.bounds), *row.ceilings)
    if not bounds:
        return
    value = reader.read(log_density(row, density.arguments, reader.declarations))
    for text in bounds:
        yield less(value, reader.read(at_most(row, text, density.arguments)))


@dataclass(slots=True)
class _Inequality:
    """F <= C + what a prior absorbs, F and what is never above 0 being sums."""

    of: Linear
    bounds: list[Linear]
    reader: Reader
    moments: Mapping[str, frozenset[str]]

    def shown(self) -> frozenset[str] | None:
        """Return the blocks whose moments are needed, none if that can be; None where it is not shown.

        First without slopes of convex functions, then with those of half of each, half being left to the rest.
        """
        energy = scaled(self.of, -ONE)
        convex = list(self._convex(energy))
        halves = total((energy, *(scaled(term, Fraction(-1, 2)) for term, _, _ in convex)))
        slopes = [(kind, form) for _, kind, form in convex]
        for moments in ({}, self.moments) if self.moments else ({},):
            for left, used in ((energy, []), (halves, slopes)) if convex else ((energy, []),):
                found = self._balanced(left, used, moments)
                if found is not None:
                    return found
        return None

    def _balanced(
        self, energy: Linear, convex: Sequence[tuple[str, Linear]], moments: Mapping[str, frozenset[str]]
    ) -> frozenset[str] | None:
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
        return frozenset(block for (_, block), weight in zip(absorbing, used, strict=True) if weight != 0)

    def _convex(self, energy: Linear) -> Iterator[tuple[Linear, str, Linear]]:
        """Yield exponentials and squares in the energy: the term, its kind, and a form, also times what data are.

        c exp(l) >= s l + C for every s >= 0, c l**2 for every s; C and s may depend on the datum.
        """
        data = [same for same in {parted(monomial)[0]: None for monomial, _ in energy} if same]
        for monomial, c in energy:
            same, moving = parted(monomial)
            if c <= 0 or len(moving) != 1 or not self.reader.is_positive(same):
                continue
            ((atom, k),) = moving
            if k == 1 and isinstance(atom, Function) and atom.fn == "exp":
                kind, form = "exp", atom.of[0]
                allowed = [d for d in data if self.reader.is_positive(d, strictly=False)]
            elif k == 2:
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

    def _absorbing(
        self, parts: Sequence[Linear], moments: Mapping[str, frozenset[str]]
    ) -> Iterator[tuple[Linear, str]]:
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


def _absorbs(atom: Atom, moments: Mapping[str, frozenset[str]]) -> tuple[str, frozenset[str]]:
    """Return the block of log v or of a linear h, and which of its moments are finite and asked for."""
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
