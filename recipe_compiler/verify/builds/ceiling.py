"""What a formula is at most, for every state: a constant, and logarithms or multiples of blocks that priors absorb.

    F <= C + sum_j k_j log v_j + sum_j c_j h_j,    for every state and every datum, C of the datum

It is shown in every case of the data (`cases`), and log(sum_k exp(l_k)) that is added is at most max_k l_k + log K: for
every l_k (`inequality`). At exact data it is the sum over them that has to have a ceiling: what residuals keep from
zero (`residuals`) falls like an exponential.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import at_most, log_density
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import StatedDensity
from recipe_compiler.verify.builds.cases import MOST_CASES, Case, Sample, Truth, cases, chosen
from recipe_compiler.verify.builds.inequality import Inequality, Moments, Used
from recipe_compiler.verify.builds.residuals import kept_from_zero
from recipe_compiler.verify.from_data.values import NotReadError
from recipe_compiler.verify.integrability.summands import (
    NOTHING,
    UNIT,
    WHERE,
    Function,
    Linear,
    Monomial,
    Reader,
    TooLargeError,
    key,
    less,
    parted,
    scaled,
    single,
    times,
    total,
)


@dataclass(frozen=True, slots=True)
class Floor:
    """A state of a recursion, and a formula of blocks that it is at least."""

    state: Formula
    least: Formula
    given: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ceiling:
    """An upper bound of F by a constant plus what priors absorb, and what that rests on."""

    absorbed: tuple[str, ...]
    given: frozenset[str]
    facts: tuple[str, ...] = ()


def ceiling(
    formula: Formula,
    densities: Sequence[StatedDensity],
    declarations: Declarations,
    moments: Moments,
    sample: Sample | None = None,
    floors: Sequence[Floor] = (),
) -> Ceiling | None:
    """Return an upper bound F <= C + sum_j k_j log v_j + sum_j c_j h_j of a scalar formula; None where none is shown.

    v_j and h_j are entries of blocks whose moments E v**k, E exp(c h) under their prior are finite: exp(F) then has a
    finite prior mean. It is shown in every case of the data (`cases`); log(sum_k exp(l_k)) <= max_k l_k + log K. For F
    = y eta - log(1 + exp(eta)) with y in {0, 1}, C = 0.

    Args:
        formula: F, of the blocks as declared, and of one datum.
        densities: named densities whose bounds may be used.
        declarations: of the names in them.
        moments: for each block the moments that its prior has, whatever the state is.
        sample: exact data; the bound is then one of the sum over them.
        floors: lower bounds of states of a recursion.
    """
    found = Used()
    try:
        for case in cases(formula, densities, declarations, sample):
            own = _of_case(case, moments, floors)
            if own is None:
                return None
            found |= own
    except (TooLargeError, NotReadError):
        return None
    return Ceiling(tuple(sorted(found.absorbed)), found.given, tuple(sorted(found.facts)))


def _of_case(case: Case, moments: Moments, floors: Sequence[Floor]) -> Used | None:
    """Return what shows a ceiling in one case of the data; None where it is not shown."""
    reader = Reader(case.declarations)
    bounds = [*bounds_of(case, reader), *_of_floors(floors, reader)]
    of = above_gaps(reader.read(case.formula), reader)
    kept = list(kept_from_zero(of, reader, case.sample)) if case.sample else []
    found = Used()
    left = list(branches(of, reader))
    while left:
        branch = left.pop()
        own = Inequality(branch.of, [*bounds, *branch.never_above], reader, moments, kept).shown()
        if own is None:
            further = _of_logarithms(branch.of, reader)
            if further is None:
                return None
            left += branches(further, reader, branch.never_above)
            continue
        found |= own
    return found.by(reader, case)


def _of_floors(floors: Sequence[Floor], reader: Reader) -> Iterator[Linear]:
    """Yield v - s, and log v - log s where v is positive, of every state s that is at least v."""
    for floor in floors:
        v, s = reader.read(floor.least), reader.read(floor.state)
        yield less(v, s)
        if reader.sign(v).positive:
            yield less(reader.log(v), reader.log(s))


def _of_logarithms(of: Linear, reader: Reader) -> Linear | None:
    """Return a sum that is at least F, the first log of a sum in it being that of its positive terms alone, or None."""
    for monomial, c in sorted(of, key=lambda term: key(term[0])):
        same, moving = parted(monomial)
        match tuple(moving):
            case ((Function("log", (inner,)), k),) if k == 1 and c > 0 and reader.is_positive(same, strictly=False):
                signs = [reader.is_positive(one, strictly=by > 0) for one, by in inner]
                if len(inner) > 1 and all(signs):
                    logs = (reader.log(frozenset({(one, by)})) for one, by in inner if by > 0)
                    above = single(Function("logsumexp", tuple(logs)))
                    return total((of - {(monomial, c)}, times(frozenset({(same, c)}), above)))
            case _:
                pass
    return None


def above_gaps(of: Linear, reader: Reader) -> Linear:
    """Return an upper bound of a sum, with -log(1 - exp(-u)) <= log(1 + u) - log(u) for u > 0, as exp(u) >= 1 + u."""
    found: list[Linear] = []
    for monomial, c in of:
        same, moving = parted(monomial)
        u = _gap(moving) if c < 0 and reader.is_positive(same, strictly=False) else None
        if u is None or not all(by > 0 and reader.is_positive(one) for one, by in u):
            found.append(frozenset({(monomial, c)}))
            continue
        log_u = reader.log(u)
        above = less(single(Function("logsumexp", (NOTHING, log_u))), log_u)
        found.append(times(frozenset({(same, -c)}), above))
    return total(found)


def _gap(moving: Monomial) -> Linear | None:
    """Return u of log(1 - exp(-u)), one such factor alone."""
    match tuple(moving):
        case ((Function("log", (of,)), k),) if k == 1 and dict(of).get(UNIT) == 1 and len(of) == 2:
            ((monomial, c),) = of - {(UNIT, Fraction(1))}
            match tuple(monomial):
                case ((Function("exp", (exponent,)), power),) if c == -1 and power == 1:
                    return scaled(exponent, Fraction(-1))
                case _:
                    return None
        case _:
            return None


def bounds_of(case: Case, reader: Reader) -> list[Linear]:
    """Return sums that are at most 0: log densities less their upper bounds."""
    return [rest for density in case.densities for rest in _below_bound(density, reader, case.truth)]


@dataclass(frozen=True, slots=True)
class Branch:
    """A sum that is at least F - C in one part of the state space, and sums that are at most 0 there."""

    of: Linear
    never_above: tuple[Linear, ...] = ()


def largest(of: Linear, reader: Reader) -> Iterator[Linear]:
    """Yield sums of which, at every state, one is at least F - C.

    Raises:
        TooLargeError: there are more than are looked at.
    """
    yield from (branch.of for branch in branches(of, reader))


def branches(of: Linear, reader: Reader, never_above: tuple[Linear, ...] = ()) -> Iterator[Branch]:
    """Yield sums of which one is at least F - C at every state, with what is known where it is.

    Of each logsumexp that is added the terms one by one; of each `where` that the state decides both pieces, with the
    condition that they are taken by.

    Raises:
        TooLargeError: there are more than are looked at.
    """
    left = [Branch(of, never_above)]
    count = 1
    while left:
        one = left.pop()
        found = next(_added(one.of, reader), None)
        if found is None:
            yield one
            continue
        term, factor, terms = found
        count += len(terms)
        if count > MOST_CASES:
            raise TooLargeError
        without = one.of - {term}
        left += [Branch(total((without, times(factor, own.of))), (*one.never_above, *own.never_above)) for own in terms]


def _added(of: Linear, reader: Reader) -> Iterator[tuple[tuple[Monomial, Fraction], Linear, tuple[Branch, ...]]]:
    """Yield a logsumexp that is added, or a `where`, as its term, what multiplies it, and its terms or pieces."""
    for monomial, c in sorted(of, key=lambda term: key(term[0])):
        same, moving = parted(monomial)
        match tuple(moving):
            case ((Function("logsumexp", terms), k),) if k == 1 and c > 0 and reader.is_positive(same, strictly=False):
                yield (monomial, c), frozenset({(same, c)}), tuple(map(Branch, terms))
            case ((Function(fn, (left, right, yes, no)), k),) if k == 1 and fn.startswith(WHERE):
                gap = less(left, right) if "<" in fn else less(right, left)
                ends = ((), ()) if fn == f"{WHERE}==" else ((gap,), (scaled(gap, Fraction(-1)),))
                pieces = zip((yes, no), ends, strict=True)
                yield (monomial, c), frozenset({(same, c)}), tuple(Branch(piece, end) for piece, end in pieces)
            case _:
                pass


def _below_bound(density: StatedDensity, reader: Reader, truth: Truth) -> Iterator[Linear]:
    """Yield log densities less their bounds: never above 0."""
    row = DENSITIES[density.name]
    bounds = (*(bound.at_most for bound in row.bounds), *row.ceilings)
    if not bounds:
        return
    value = reader.read(chosen(log_density(row, density.arguments, reader.declarations), truth))
    for text in bounds:
        yield less(value, reader.read(at_most(row, text, density.arguments)))
