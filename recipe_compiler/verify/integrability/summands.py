"""Scalar formulas as sums of multiples of monomials, for inequalities that hold for every state.

An atom is a name, a product x @ beta, a function of a sum, or a sum that is raised to a power: what the author factored
stays factored, ((y - mu)/sigma)**2 is (y - mu)**2 sigma**-2. Equal formulas need not have equal sums; equal sums are of
equal formulas.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.facts.ranges import UNKNOWN, Range
from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, entry_of, multiply, nodes, power
from recipe_compiler.formula.constraints import is_fixed
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Formula,
    MatMul,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.triangular import diagonal, entry_at, is_triangle
from recipe_compiler.verify.core.premises import depends_on_state

MOST = 200
"""Monomials of one sum beyond which it is not looked at."""

LARGEST_POWER = 64

WHERE = "where "
"""What the functions of two sides and two pieces begin with."""

Monomial = frozenset[tuple["Atom", Fraction]]
Linear = frozenset[tuple[Monomial, Fraction]]

UNIT: Monomial = frozenset()
NOTHING: Linear = frozenset()


class TooLargeError(Exception):
    """A formula with more monomials than are looked at."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar formula that is not taken apart."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class Raised:
    """A sum of several monomials, the base of a power."""

    base: Linear


@dataclass(frozen=True, slots=True)
class Function:
    """A function of sums: `logsumexp` has several arguments, `where >` and the like have four.

    softplus(x) is logsumexp(0, x).
    """

    fn: str
    of: tuple[Linear, ...]


Atom = Leaf | Raised | Function


def constant(x: Fraction) -> Linear:
    """Return a number as a sum."""
    return frozenset({(UNIT, x)}) if x else NOTHING


def single(atom: Atom) -> Linear:
    """Return an atom as a sum."""
    return frozenset({(frozenset({(atom, Fraction(1))}), Fraction(1))})


def total(parts: Iterable[Linear]) -> Linear:
    """Return a sum of sums.

    Raises:
        TooLargeError: it has too many monomials.
    """
    found: dict[Monomial, Fraction] = {}
    for part in parts:
        for monomial, c in part:
            found[monomial] = found.get(monomial, Fraction(0)) + c
    if len(found) > MOST:
        raise TooLargeError
    return frozenset((monomial, c) for monomial, c in found.items() if c)


def scaled(of: Linear, by: Fraction) -> Linear:
    """Return a multiple of a sum."""
    return frozenset((monomial, c * by) for monomial, c in of) if by else NOTHING


def times(left: Linear, right: Linear) -> Linear:
    """Return a product, multiplied out.

    Raises:
        TooLargeError: it has too many monomials.
    """
    if len(left) * len(right) > MOST:
        raise TooLargeError
    return total(frozenset({(joined(a, b), c * d)}) for a, c in left for b, d in right)


def joined(left: Monomial, right: Monomial) -> Monomial:
    """Return the product of two monomials."""
    found = dict(left)
    for atom, k in right:
        found[atom] = found.get(atom, Fraction(0)) + k
    return frozenset((atom, k) for atom, k in found.items() if k)


def raised(monomial: Monomial, k: Fraction) -> Monomial:
    """Return a power of a monomial; of factors that may be negative, whole powers only."""
    return frozenset((atom, own * k) for atom, own in monomial if k)


def less(left: Linear, right: Linear) -> Linear:
    """Return a difference."""
    return total((left, scaled(right, Fraction(-1))))


def moves(of: Atom | Linear) -> bool:
    """Whether an atom or a sum depends on the state."""
    match of:
        case Leaf(formula):
            return depends_on_state(formula)
        case Raised(base):
            return moves(base)
        case Function(_, arguments):
            return any(moves(one) for one in arguments)
        case _:
            return any(moves(atom) for monomial, _ in of for atom, _ in monomial)


def parted(monomial: Monomial) -> tuple[Monomial, Monomial]:
    """Return a monomial as two factors: the part that is constant over the state, and the rest."""
    others = frozenset((atom, k) for atom, k in monomial if moves(atom))
    return monomial - others, others


def _first(of: Linear) -> tuple[Monomial, Fraction]:
    """Return a term that is the same one in every multiple of a sum."""
    return min(of, key=lambda term: key(term[0]))


def key(monomial: Monomial) -> str:
    """Return a text for a monomial that does not depend on the order in which a set is iterated."""
    return " ".join(sorted(f"{_name(atom)}**{k}" for atom, k in monomial))


def _name(atom: Atom) -> str:
    match atom:
        case Leaf(formula):
            return repr(formula)
        case Raised(base):
            return f"({_names(base)})"
        case Function(fn, of):
            return f"{fn}({', '.join(map(_names, of))})"


def _names(of: Linear) -> str:
    return " + ".join(sorted(f"{c} {key(monomial)}" for monomial, c in of))


@dataclass(slots=True)
class Reader:
    """Reads formulas as sums, and remembers which formula each sum was read from."""

    declarations: Declarations
    origin: dict[Linear, Formula] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    """The declarations that signs rest on."""

    def read(self, formula: Formula) -> Linear:
        """Return a scalar formula as a sum.

        Raises:
            TooLargeError: it has too many monomials.
        """
        found = self._read(formula)
        self.origin.setdefault(found, formula)
        return found

    def sign(self, of: Linear) -> Range:
        """Return the signs that a sum may have, judged by the formula it was read from."""
        formula = self.origin.get(of) or formula_of(of)
        if formula is None:
            return UNKNOWN
        found = sign(formula, self.declarations)
        self.given |= found.given
        return found

    def is_positive(self, monomial: Monomial, *, strictly: bool = True) -> bool:
        """Whether a monomial is positive (or, without `strictly`, nonnegative) at every state and for every datum."""
        return all(self._power_is_positive(atom, k, strictly=strictly) for atom, k in monomial)

    def _power_is_positive(self, atom: Atom, k: Fraction, *, strictly: bool) -> bool:
        even = k.denominator == 1 and k % 2 == 0
        if even and (not strictly or k < 0):
            return True
        match atom:
            case Function("exp" | "sigmoid"):
                return True
            case Raised(base):
                found = self.sign(base)
            case _:
                found = self.sign(single(atom))
        if even and found.nonzero:
            return True
        return found.positive if strictly else found.nonnegative

    def _read(self, formula: Formula) -> Linear:
        match formula:
            case Number(x):
                return constant(x)
            case Add(terms, shape) if shape == SCALAR:
                return total(self.read(term) for term in terms)
            case Multiply(left, right, shape) if shape == SCALAR:
                return times(self.read(left), self.read(right))
            case Power(base, Number(exponent), shape) if shape == SCALAR:
                return self._raised(formula, self.read(base), exponent)
            case Transpose(arg, shape) if shape == SCALAR:
                return self.read(arg)
            case Entry(Explicit(rows), at):
                return self.read(entry_of(rows, at))
            case Entry(Symbol(name, _, Role.BLOCK), (i, j)) if (known := self._fixed_entry(name, i, j)) is not None:
                return known
            case MatMul(Transpose(left), right, shape) if shape == SCALAR and left == right and _is_solved(left):
                return self._square(formula, left)
            case MatMul(left, right, shape) if shape == SCALAR:
                return self._matmul(left, right)
            case Apply("sum", (Apply("log", (column,)),)) if (entries := _entries(column)) is not None:
                return total(self.read(Apply("log", (entry,), SCALAR)) for entry in entries)
            case Apply(fn, (arg,), shape) if shape == SCALAR:
                return self._applied(formula, fn, arg)
            case Apply("where", (Compare(op, left, right, of), yes, no), shape) if of == shape == SCALAR:
                return single(Function(f"{WHERE}{op}", tuple(map(self.read, (left, right, yes, no)))))
            case _:
                return single(Leaf(formula))

    def _matmul(self, left: Formula, right: Formula) -> Linear:
        """Return a product of a row and a column, sums and numbers in which are multiplied out."""
        found: list[Linear] = []
        for a, c in self._spread(left):
            for b, d in self._spread(right):
                own = MatMul(a, b, SCALAR)
                found.append(times(times(c, d), single(Leaf(own))))
        return total(found)

    def _fixed_entry(self, name: str, i: int, j: int) -> Linear | None:
        """Return an entry that is the same in the whole set that a block lies in, None of any other."""
        block = self.declarations.find(name)
        known = isinstance(block, Block) and block.constraint is not None and is_fixed(block.constraint, i, j)
        return constant(Fraction(i == j)) if known else None

    def _square(self, formula: Formula, column: Formula) -> Linear:
        """Return z.z, entry by entry, of a column in which a triangle is solved with."""
        rows = column.shape.rows if isinstance(column.shape.rows, int) else 0
        return total(self._raised(formula, self._entry(column, i), Fraction(2)) for i in range(rows))

    def _entry(self, column: Formula, i: int) -> Linear:
        """Return an entry of a column; of inv(L) w it is sum_(j <= i) inv(L)_ij w_j, with inv(L)_ii = 1/L_ii."""
        match column:
            case MatMul(Apply("inv", (L,)) as inverse, w) if is_triangle(L, self.declarations):
                last = list(diagonal(L, self.declarations))[i]
                own = times(self.read(power(last, Number(Fraction(-1)), SCALAR)), self._entry(w, i))
                left = (times(single(Leaf(Entry(inverse, (i, j)))), self._entry(w, j)) for j in range(i))
                return total((own, *left))
            case Multiply(left, right) if SCALAR not in (left.shape, right.shape):
                return times(self._entry(left, i), self._entry(right, i))
            case _:
                return self.read(entry_at(column, i))

    def _spread(self, vector: Formula) -> Iterator[tuple[Formula, Linear]]:
        """Yield the terms of a vector, each with the scalars that multiply it."""
        match vector:
            case Add(terms):
                for term in terms:
                    yield from self._spread(term)
            case Multiply(left, right) if left.shape == SCALAR:
                for term, c in self._spread(right):
                    yield term, times(c, self.read(left))
            case Multiply(left, right) if right.shape == SCALAR:
                for term, c in self._spread(left):
                    yield term, times(c, self.read(right))
            case _:
                yield vector, constant(Fraction(1))

    def _applied(self, formula: Formula, fn: str, arg: Formula) -> Linear:
        match fn, arg:
            case "log", Apply("sum", (Apply("exp", (Explicit(rows),)),)):
                return single(Function("logsumexp", tuple(self.read(entry) for row in rows for entry in row)))
            case "log", Apply("sum", (Apply("exp", (column,)),)) if (entries := _entries(column)) is not None:
                return single(Function("logsumexp", tuple(self.read(entry) for entry in entries)))
            case "log", Apply("sum", (Apply("exp", (column,)),)) if column.shape.cols is None:
                return single(Leaf(formula))
            case _ if arg.shape != SCALAR:
                return single(Leaf(formula))
            case "log", _:
                return self.log(self.read(arg))
            case "log1p", _:
                return self.log(self.read(add([Number(Fraction(1)), arg], SCALAR)))
            case "expm1", _:
                return total((single(Function("exp", (self.read(arg),))), constant(Fraction(-1))))
            case "softplus", _:
                return single(Function("logsumexp", (NOTHING, self.read(arg))))
            case "sqrt", _:
                return self._raised(formula, self.read(arg), Fraction(1, 2))
            case "sigmoid", _:
                return self._sigmoid(self.read(arg))
            case _:
                return single(Function(fn, (self.read(arg),)))

    @staticmethod
    def _sigmoid(of: Linear) -> Linear:
        """Return sigmoid(x), as 1 - sigmoid(-x) where the first term of x is negative."""
        if of and _first(of)[1] < 0:
            own = single(Function("sigmoid", (scaled(of, Fraction(-1)),)))
            return less(constant(Fraction(1)), own)
        return single(Function("sigmoid", (of,)))

    def log(self, of: Linear) -> Linear:
        """Return the logarithm of a sum: a sum for a product of positive factors, logsumexp for a sum of exponentials.

        log(2 x exp(y)) of a positive x is log(2) + log(x) + y; log(exp(x) + exp(y)) is logsumexp(x, y).
        """
        if len(of) == 1:
            ((monomial, c),) = of
            if c > 0 and all(self._power_is_positive(atom, Fraction(1), strictly=True) for atom, _ in monomial):
                return total((_log_of_number(c), *(scaled(self._log_of_atom(atom), k) for atom, k in monomial)))
        exponents = [self._exponent(monomial, c) for monomial, c in of]
        known = [one for one in exponents if one is not None]
        if len(known) == len(exponents) > 1:
            return single(Function("logsumexp", tuple(known)))
        return single(Function("log", (of,)))

    def _log_of_atom(self, atom: Atom) -> Linear:
        match atom:
            case Function("exp", (own,)):
                return own
            case Function("sigmoid", (own,)):
                return scaled(single(Function("logsumexp", (NOTHING, scaled(own, Fraction(-1))))), Fraction(-1))
            case Raised(base):
                return single(Function("log", (base,)))
            case _:
                found = single(Function("log", (single(atom),)))
                if isinstance(atom, Leaf):
                    self.origin.setdefault(found, Apply("log", (atom.formula,), SCALAR))
                return found

    @staticmethod
    def _exponent(monomial: Monomial, c: Fraction) -> Linear | None:
        """Return l of c exp(l), or of a positive number; None of anything else."""
        if c <= 0:
            return None
        match tuple(monomial):
            case ():
                return _log_of_number(c)
            case ((Function("exp", (own,)), k),):
                return total((scaled(own, k), _log_of_number(c)))
            case _:
                return None

    def _raised(self, formula: Formula, base: Linear, exponent: Fraction) -> Linear:
        whole = exponent.denominator == 1 and abs(exponent) <= LARGEST_POWER
        if exponent == 1 or (not base and exponent > 0):
            return base
        if not base or not whole:
            return self._root(formula, base, exponent)
        k = int(exponent)
        if len(base) == 1:
            ((monomial, c),) = base
            return frozenset({(frozenset((atom, own * k) for atom, own in monomial), c**k)})
        shared, rest = over_shared(base)
        _, c = _first(base)
        rest = scaled(rest, 1 / c)
        if not shared and c == 1 and base in self.origin:
            self.origin.setdefault(rest, self.origin[base])
        factors = frozenset((atom, own * k) for atom, own in shared)
        return frozenset({(joined(factors, frozenset({(Raised(rest), exponent)})), c**k)})

    def _root(self, formula: Formula, base: Linear, exponent: Fraction) -> Linear:
        """Return a power that is no whole one: of a product of positive factors that of each."""
        if len(base) == 1:
            ((monomial, c),) = base
            if c == 1 and all(self._power_is_positive(atom, Fraction(1), strictly=True) for atom, _ in monomial):
                return frozenset({(frozenset((atom, own * exponent) for atom, own in monomial), Fraction(1))})
        return single(Leaf(formula))


def _entries(column: Formula) -> tuple[Formula, ...] | None:
    """Return the entries of a column; None of a column of unknown length, and of a matrix, which is read as it is."""
    if column.shape.cols is not None or not isinstance(column.shape.rows, int):
        return None
    return tuple(entry_at(column, k) for k in range(column.shape.rows))


def _is_solved(column: Formula) -> bool:
    """Whether a column of a number of entries is what is left where a matrix is solved with."""
    inverses = (node for node in nodes(column) if isinstance(node, Apply) and node.fn == "inv")
    return isinstance(column.shape.rows, int) and any(depends_on_state(node) for node in inverses)


def over_shared(of: Linear) -> tuple[Monomial, Linear]:
    """Return the largest monomial that divides a sum, and the quotient: x**2 y + x has x, and x y + 1."""
    shared = _shared([monomial for monomial, _ in of])
    over = frozenset((atom, -own) for atom, own in shared)
    return shared, frozenset((joined(monomial, over), c) for monomial, c in of)


def _shared(monomials: list[Monomial]) -> Monomial:
    """Return the largest monomial by which all can be divided."""
    powers: list[Mapping[Atom, Fraction]] = [dict(monomial) for monomial in monomials]
    common = set(powers[0]).intersection(*powers)
    return frozenset((atom, min(own[atom] for own in powers)) for atom in common)


def _log_of_number(c: Fraction) -> Linear:
    return NOTHING if c == 1 else single(Leaf(Apply("log", (Number(c),), SCALAR)))


def formula_of(of: Linear) -> Formula | None:
    """Return a sum of products of leaves as a formula; None if anything else occurs in it."""
    terms: list[Formula] = []
    for monomial, c in of:
        one: Formula = Number(c)
        for atom, k in monomial:
            if not isinstance(atom, Leaf):
                return None
            one = multiply(one, power(atom.formula, Number(k), SCALAR), SCALAR)
        terms.append(one)
    return add(terms, SCALAR)
