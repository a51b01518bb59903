"""Blocks whose entries have a law each in the log likelihood, datum by datum: states of a series, given earlier ones.

Let every entry h_j of a block without a law in the prior be h[t] of one datum, whose log likelihood is at most C, what
priors absorb, and a law of h[t],

    log p - P l**2,    l = g (a h[t] + r),    p = P**(1/2) g,

with p > 0 free of h, and r any function of the state in which other entries of h stand by their positions alone. If
these are entries that came before, in an order of all of them, then h goes to (l_1, ..., l_T) by a triangle of diagonal
a g, and int dh prod_j p exp(-P l**2) is one constant, for all other blocks. All other data have to be bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula, MatMul, Role, Symbol
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity
from recipe_compiler.verify.builds.cases import Sample, cases
from recipe_compiler.verify.builds.ceiling import Ceiling, above_gaps, bounds_of, largest
from recipe_compiler.verify.builds.inequality import Inequality, Moments, Used
from recipe_compiler.verify.from_data.values import NotReadError, at_row
from recipe_compiler.verify.integrability.summands import (
    Atom,
    Function,
    Leaf,
    Linear,
    Monomial,
    Raised,
    Reader,
    TooLargeError,
    less,
    over_shared,
    parted,
    scaled,
    single,
    total,
)

ONE, HALF = Fraction(1), Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class _Law:
    """A law of h[t]: the terms of -F that it takes, log p, the field t, and the fields of other entries."""

    taken: Linear
    log_p: Linear
    own: str
    others: frozenset[str]


def latent(declared: Declarations, priors: Sequence[StatedDensity]) -> Block | None:
    """Return the one block that has no law in the prior but may have one in the likelihood; None if there is none.

    It is a column on the real line, and no other law depends on it.
    """
    with_laws = {one.of for one in priors}
    used = {name for one in priors for argument in one.arguments for name in dependence(argument).blocks}
    left = [b for b in declared.blocks if b.name not in with_laws and b.domain.name is not DomainName.INTERVAL]
    if any(block.name in used for block in left):
        return None
    match left:
        case [block] if len(block.shape.sizes) == 1 and block.domain.name is DomainName.REAL and not block.constraint:
            return block
        case _:
            return None


def ceiling_of_latent(
    formula: Formula,
    densities: Sequence[StatedDensity],
    declarations: Declarations,
    moments: Moments,
    sample: Sample,
    block: str,
) -> Ceiling | None:
    """Return an upper bound of a log likelihood once a block h is integrated over; None where none is shown.

    If each entry h_j has one datum with log likelihood at most log p - P l**2, l = g (a h_j + r), p = sqrt(P) g free of
    h, and r made of entries that come before it in one order, then h -> l is triangular and int dh prod_j p exp(-P
    l**2) is a constant. Example: a random walk h_t ~ N(h_(t-1), s**2) has l = (h_t - h_(t-1))/s.
    """
    found, earlier = Used(), dict[int, set[int]]()
    try:
        for case in cases(formula, densities, declarations, sample):
            reader = Reader(case.declarations)
            bounds = bounds_of(case, reader)
            of = above_gaps(reader.read(case.formula), reader)
            own = _shown(of, bounds, reader, moments)
            if own is None and case.sample is not None:
                law, own = next(_by_law(of, bounds, reader, moments, block), (None, None))
                if law is None or not _placed(law, case.sample, earlier):
                    return None
            if own is None:
                return None
            found = (found | own).by(reader, case)
    except (TooLargeError, NotReadError):
        return None
    count = len(list(sample.known.coordinates(block)))
    if set(earlier) != set(range(count)) or not _is_ordered(earlier):
        return None
    facts = (*sorted(found.facts), f"a density of every {block}, given earlier ones")
    return Ceiling(tuple(sorted(found.absorbed)), found.given, facts)


def _shown(of: Linear, bounds: list[Linear], reader: Reader, moments: Moments) -> Used | None:
    found = Used()
    for branch in largest(of, reader):
        own = Inequality(branch, bounds, reader, moments).shown()
        if own is None:
            return None
        found |= own
    return found


def _by_law(
    of: Linear, bounds: list[Linear], reader: Reader, moments: Moments, block: str
) -> Iterator[tuple[_Law, Used]]:
    """Yield laws of an entry of which a log likelihood is at most a multiple."""
    for law in _laws(of, reader, block):
        own = _shown(less(total((of, law.taken)), law.log_p), bounds, reader, moments)
        if own is not None:
            yield law, own


def _laws(of: Linear, reader: Reader, block: str) -> Iterator[_Law]:
    for atom in dict.fromkeys(a for monomial, _ in of for a, k in monomial if k == 2):
        square = (atom, Fraction(2))
        terms = frozenset((monomial, c) for monomial, c in of if square in monomial)
        shared, rest = over_shared(frozenset((monomial - {square}, -c) for monomial, c in terms))
        log_P = _log_of_positive(shared, rest, reader)
        for own, g, others in _of_entry(atom.base if isinstance(atom, Raised) else single(atom), block):
            p_is_free = not any(_holds(part, block) for part in (rest, _once(g), _once(shared)))
            if log_P is None or not p_is_free or not reader.is_positive(g):
                continue
            log_g = reader.log(_once(g))
            yield _Law(scaled(terms, -ONE), total((scaled(log_P, HALF), log_g)), own, others)


def _log_of_positive(shared: Monomial, rest: Linear, reader: Reader) -> Linear | None:
    """Return the logarithm of a monomial times a sum, less a constant; None where they are not seen to be positive."""
    if not reader.is_positive(shared):
        return None
    log_shared = reader.log(_once(shared))
    if len(rest) == 1:
        ((monomial, c),) = rest
        return log_shared if not monomial and c > 0 else None
    c = dict(rest).get(frozenset(), Fraction(0))
    if c <= 0:
        return None
    plain = scaled(rest, 1 / c)
    return total((log_shared, reader.log(plain))) if reader.sign(plain).positive else None


def _of_entry(base: Linear, block: str) -> Iterator[tuple[str, Monomial, frozenset[str]]]:
    """Yield the field t, g and the fields of other entries of l = g a h[t] + r; a is a number, or one of each datum."""
    for monomial, a in base:
        same, moving = parted(monomial)
        for atom, k in moving:
            own = _lookup(atom, block)
            if k != 1 or own is None or same:
                continue
            others = _positions(frozenset(x for one, _ in base - {(monomial, a)} for x in one), block)
            if others is not None and own not in others:
                yield own, moving - {(atom, k)}, others


def _lookup(atom: Atom, block: str) -> str | None:
    """Return t of h[t]."""
    match atom:
        case Leaf(MatMul(Symbol(t, _, Role.INDEX), Symbol(name, _, Role.BLOCK))) if name == block:
            return t
        case _:
            return None


def _positions(of: Monomial, block: str) -> frozenset[str] | None:
    """Return the index fields by which entries of a block stand in a monomial; None where it does otherwise."""
    found: set[str] = set()
    for formula in _leaves(_once(of)):
        held = [node for node in nodes(formula) if isinstance(node, Symbol) and node.name == block]
        fields = [
            node.left.name
            for node in nodes(formula)
            if isinstance(node, MatMul) and isinstance(node.left, Symbol) and node.left.role is Role.INDEX
            and isinstance(node.right, Symbol) and node.right.name == block
        ]  # fmt: skip
        if len(held) != len(fields):
            return None
        found.update(fields)
    return frozenset(found)


def _once(monomial: Monomial) -> Linear:
    return frozenset({(monomial, ONE)})


def _holds(of: Linear, block: str) -> bool:
    return any(_positions(monomial, block) != frozenset() for monomial, _ in of)


def _leaves(of: Linear) -> Iterator[Formula]:
    for monomial, _ in of:
        for atom, _ in monomial:
            match atom:
                case Leaf(formula):
                    yield formula
                case Raised(base):
                    yield from _leaves(base)
                case Function(_, arguments):
                    for one in arguments:
                        yield from _leaves(one)


def _placed(law: _Law, sample: Sample, earlier: dict[int, set[int]]) -> bool:
    """Add the entries that laws of some data are of, each to those that it needs; whether none had one before."""
    others = [_place(name, sample) for name in sorted(law.others)]
    for n, j in enumerate(_place(law.own, sample)):
        if j in earlier:
            return False
        earlier[j] = {column[n] for column in others}
    return True


def _place(index: str, sample: Sample) -> list[int]:
    """Return the position that each datum of an index field is."""
    (line,) = sample.known.data[index]
    return [next(j for j, x in enumerate(line) if at_row(x, n) == 1) for n in range(sample.rows)]


def _is_ordered(earlier: Mapping[int, set[int]]) -> bool:
    """Whether there is an order in which what each entry needs came before it."""
    left = {j: set(needed) for j, needed in earlier.items()}
    free = [j for j, needed in left.items() if not needed]
    after: dict[int, list[int]] = {}
    for j, needed in left.items():
        for i in needed:
            after.setdefault(i, []).append(j)
    done = 0
    while free:
        i = free.pop()
        done += 1
        for j in after.get(i, ()):
            left[j].discard(i)
            if not left[j]:
                free.append(j)
    return done == len(left)
