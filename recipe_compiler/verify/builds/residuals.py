"""Residuals that nothing makes zero: what squares and absolute values of a log likelihood come to over all data.

Let l_n = g(z) (y_n - sum_j c_nj g_j(z)), c_j columns of the data, g and g_j any functions of the state, and let y not
lie in the span of the c_j. Its distance r from the span is positive, and for all z

    sum_n l_n**2 >= r**2 g**2,    sum_n abs(l_n) >= r abs(g).

So sum_n c P l_n**2 >= const P g**2, and that is at least s log(P g**2) less a constant, for every s >= 0: data bound
a likelihood whose scale may vanish. Where P and g depend on positions of an index field it is so of the data at each
position. Of y = log x it is asked of additive functions of x (`additive`) in the place of log x.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import fmpq

from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.formula import build
from recipe_compiler.formula.expression import Formula, MatMul
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.verify.builds.cases import Numbers, Sample
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.from_data.ranks import is_consistent
from recipe_compiler.verify.from_data.reading import read_matrix
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
    formula_of,
    joined,
    parted,
    raised,
)

ONE = Fraction(1)

PRIMES = tuple(p for p in range(2, 100) if all(p % q for q in range(2, p)))


@dataclass(frozen=True, slots=True)
class Kept:
    """A summand of -F that, summed over the data, is at least a multiple of exp(precision)."""

    term: Linear
    precision: Linear
    fact: str


def kept_from_zero(of: Linear, reader: Reader, sample: Sample) -> Iterator[Kept]:
    """Yield the summands of a datum's log likelihood that residuals of the data bound away from zero.

    With l_n = g (y_n - sum_j c_nj g_j) and y at distance r > 0 from the span of the columns c_j, sum_n l_n**2 >= r**2
    g**2 and sum_n |l_n| >= r |g|, whatever g and g_j are. y = (0, 1) against the column (1, 1) has r**2 = 1/2.
    """
    for monomial, c in of:
        same, moving = parted(monomial)
        if c >= 0 or not reader.is_positive(same):
            continue
        for atom, k in moving:
            found = _residual(atom, k)
            if found is None:
                continue
            base, order = found
            for g, fact in _precisions(base, moving - {(atom, k)}, sample):
                squared = joined(moving - {(atom, k)}, raised(g, order))
                if reader.is_positive(squared):
                    precision = reader.log(frozenset({(squared, ONE)}))
                    yield Kept(frozenset({(monomial, -c)}), precision, fact)


def _residual(atom: Atom, k: Fraction) -> tuple[Linear, Fraction] | None:
    """Return l and the power of l**2 or abs(l)."""
    match atom:
        case Raised(base) if k == 2:
            return base, k
        case Function("abs", (base,)) if k == 1:
            return base, k
        case _:
            return None


def _precisions(base: Linear, beside: Monomial, sample: Sample) -> Iterator[tuple[Monomial, str]]:
    """Yield the g of l = g (y - ...) for which y is in the span of no other column, at all that P and g depend on."""
    for g in dict.fromkeys(parted(monomial)[1] for monomial, _ in base):
        fields = data_of(g) | data_of(beside)
        if not all(_is_position(name, sample) for name in fields):
            continue
        try:
            parts = list(at_positions(fields, sample))
            if all(_is_apart(base, g, fields, part) for part in parts):
                own = sorted({name for same, moving in map(_split, base) if moving == g for name in data_of(same)})
                groups = f" at every {' and '.join(sorted(fields))}" if fields else ""
                yield g, f"residuals of {' and '.join(own) or 1} that no state makes all zero{groups}"
        except (NotReadError, TooLargeError):
            continue


def _split(term: tuple[Monomial, Fraction]) -> tuple[Monomial, Monomial]:
    return parted(term[0])


def _is_position(name: str, sample: Sample) -> bool:
    return any(datum.name == name and datum.is_index for datum in sample.known.declarations.data)


def at_positions(fields: frozenset[str], sample: Sample) -> Iterator[Sample]:
    """Yield the data at each position of index fields; all of them where there is no such field."""
    rows: dict[tuple[object, ...], list[int]] = {}
    for n in range(sample.rows):
        place = tuple(at_row(x, n) for name in sorted(fields) for line in sample.known.data[name] for x in line)
        rows.setdefault(tuple((int(x.p), int(x.q)) for x in place), []).append(n)
    for own in rows.values():
        yield sample.at(own)


def _is_apart(base: Linear, g: Monomial, fields: frozenset[str], sample: Sample) -> bool:
    """Whether what g multiplies in l is in the span of no columns that others multiply.

    Raises:
        NotReadError: l is not seen to be a sum of columns of the data.
    """
    own: Numbers = (fmpq(0),) * sample.rows
    others: dict[Monomial, Numbers] = {}
    wide: list[Numbers] = []
    for monomial, c in base:
        same, moving = parted(monomial)
        within = [(atom, k) for atom, k in moving if data_of(frozenset({(atom, k)})) - fields]
        if moving == g:
            own = _plus(own, _times(c, additive(same, sample)))
            continue
        factor = _times(c, numbers_of(same, sample))
        match within:
            case []:
                others[moving] = _plus(others.get(moving, (fmpq(0),) * sample.rows), factor)
            case [(Leaf(product), k)] if k == 1:
                wide += [_entrywise(factor, c_j) for c_j in _columns_of(product, sample)]
            case _:
                raise NotReadError("a residual that is not a linear combination of columns of the data")
    forms = list(zip(*others.values(), *wide, own, strict=True))
    return not is_consistent(forms, len(others) + len(wide))


def _columns_of(product: Formula, sample: Sample) -> list[Numbers]:
    """Return the columns c_j of a product sum_j c_j g_j, g_j of the state alone: of x @ beta[g].T all x_k 1{g = i}.

    Raises:
        NotReadError: it is no product of matrices of which those before and behind others are known of each datum, and
            no field stands in those others.
    """
    factors = list(_factors(plain(product, sample.known.declarations)))
    moves = [k for k, factor in enumerate(factors) if depends_on_state(factor)]
    if not moves or any(_named(factor) for factor in factors[moves[0] : moves[-1] + 1]):
        raise NotReadError("a residual that is not a linear combination of columns of the data")
    found: list[Numbers] = [(fmpq(1),) * sample.rows]
    for known in (factors[: moves[0]], factors[moves[-1] + 1 :]):
        if known:
            entries = list(columns(reduce(_matmul, known), sample))
            found = [_entrywise(one, other) for one in found for other in entries]
    return found


def _factors(product: Formula) -> Iterator[Formula]:
    """Yield the factors of a matrix product, from left to right."""
    if isinstance(product, MatMul):
        yield from _factors(product.left)
        yield from _factors(product.right)
    else:
        yield product


def _matmul(left: Formula, right: Formula) -> Formula:
    return build.matmul(left, right, Shape(left.shape.rows, right.shape.cols))


def _entrywise(left: Numbers, right: Numbers) -> Numbers:
    return tuple(x * y for x, y in zip(left, right, strict=True))


def _plus(left: Numbers, right: Numbers) -> Numbers:
    return tuple(x + y for x, y in zip(left, right, strict=True))


def _times(c: Fraction, of: Numbers) -> Numbers:
    by = fmpq(c.numerator, c.denominator)
    return tuple(by * x for x in of)


def _named(formula: Formula) -> frozenset[str]:
    return frozenset(dependence(formula).data)


def data_of(of: Monomial | Linear | Atom) -> frozenset[str]:
    """Return the data fields in a monomial, a sum or an atom."""
    match of:
        case Leaf(formula):
            return _named(formula)
        case Raised(base):
            return data_of(base)
        case Function(_, arguments):
            return frozenset[str]().union(*map(data_of, arguments))
        case _:
            inner = (term[0] for term in of)
            return frozenset[str]().union(*(data_of(one) for one in inner))


def numbers_of(same: Monomial, sample: Sample) -> Numbers:
    """Return the value of a product of what is the same for every state, for each datum.

    Raises:
        NotReadError: it is no rational number.
    """
    formula = formula_of(frozenset({(same, ONE)}))
    if formula is None:
        raise NotReadError("a factor that is not read")
    return sample.numbers(formula)


def columns(row: Formula, sample: Sample) -> Iterator[Numbers]:
    """Yield the entries of a row that the data alone decide, each as its number for every datum.

    Raises:
        NotReadError: one is no rational number.
    """
    for entry in (x for line in read_matrix(row, sample.known) for x in line):
        if entry.number is None:
            raise NotReadError("an entry that is not a known number")
        number = entry.number
        yield tuple(at_row(number, n) for n in range(sample.rows))


def additive(same: Monomial, sample: Sample) -> Numbers:
    """Return numbers for what multiplies g: itself if rational, additive numbers psi(x) for log x.

    1 and the logarithms of primes are linearly independent over the rationals, so a rational linear map psi may take
    any values on them. If a rational u has u @ c = 0 for all other columns c and u @ psi(y) != 0, then u @ y != 0.
    """
    match tuple(same):
        case ((Function("log", (of,)), k),) if k == 1 and of:
            parts = [_times(c, numbers_of(monomial, sample)) for monomial, c in of]
            return tuple(psi(sum(row, fmpq(0))) for row in zip(*parts, strict=True))
        case _:
            return numbers_of(same, sample)


def psi(x: fmpq) -> fmpq:
    """Return the sum of the primes below 100 in x, each as often as it divides x, negative in the denominator.

    psi(x y) = psi(x) + psi(y): psi(12) = 2 + 2 + 3 = 7, psi(1/2) = -2.

        >>> psi(fmpq(12)), psi(fmpq(1, 2))
        (7, -2)

    Raises:
        NotReadError: x is not positive.
    """
    if x <= 0:
        raise NotReadError("a logarithm of a number that is not positive")
    return fmpq(_psi(int(x.p)) - _psi(int(x.q)))


def _psi(n: int) -> int:
    twos = (n & -n).bit_length() - 1
    found, n = 2 * twos, n >> twos
    for p in PRIMES[1:]:
        while n % p == 0:
            n //= p
            found += p
    return found
