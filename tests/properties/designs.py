"""Random posteriors whose designs lose rank, and whether their integral is finite, by exact numbers alone.

Two kinds, of few coordinates theta and data, with columns that are equal, zero, constant, sums of others or of
indicators, and blocks without a prior. No code of the compiler has a part in the judgement.

*Gaussian*: U = sum_i (l_i/m_i)**2/2 + sum_v (n_v log v - log p(v)), l_i affine in theta, m_i products of the scales v.
The integral over theta is (2 pi)**(d/2) det(A)**(-1/2) exp(-R/2) at every value of the scales, A and R being rational
where these are. It is taken far out, at v = 2**(+-k): how its logarithm falls from k to 2 k, along the eight rays
between which the order of the m_i stays the same, is how it falls everywhere. Zero or less along one is an infinite
integral, and so is det(A) = 0.

*Convex*: U = sum_i f_i(l_i) grows along d at the rate U_inf(d) = lim U(s d)/s, linear between the hyperplanes on which
a slope changes. The integral is finite if and only if U_inf(d) > 0 on every ray of that arrangement, and no d lies in
all hyperplanes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import inf, prod
from random import Random
from typing import Any

from flint import fmpq, fmpq_mat
from parts import Files
from posteriors import Number, table, with_data

FAR = 240
"""k of the scales 2**(+-k): a fall is read from bits, and off by 4/k at most."""

Row = tuple[Fraction, ...]
"""a_1 ... a_d, c of the form c + sum_j a_j theta_j."""


@dataclass(frozen=True)
class Square:
    """(l/m)**2/2, m the product of scales; with -log m where it is a law."""

    form: Row
    scales: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """A convex function of forms by its kind: square, abs, exp, linear; `log` is weight log sum_k exp(l_k)."""

    kind: str
    forms: tuple[Row, ...]


@dataclass
class Design:
    """A model with data: its text, and what its energy is."""

    state: dict[str, Any] = field(default_factory=dict)
    """Blocks to their declarations."""
    theta: list[str] = field(default_factory=list)
    prior: list[str] = field(default_factory=list)
    likelihood: str = ""
    columns: dict[str, list[Number]] = field(default_factory=dict)
    fields: dict[str, tuple[dict[str, Any], list[str]]] = field(default_factory=dict)
    """Fields of the data to their declarations, and their columns."""
    squares: list[Square] = field(default_factory=list)
    own: dict[str, tuple[Fraction | float, Fraction | float]] = field(default_factory=dict)
    """Scales to k and m of priors that go like v**k at 0 and v**-m at oo."""
    pieces: list[Piece] = field(default_factory=list)

    def files(self) -> Files:
        """Return target, data and build."""
        target = {
            "format": 1,
            "name": "random_design",
            "state": self.state,
            "data": {name: declared for name, (declared, _) in self.fields.items()},
            "log_prior": " + ".join(self.prior) or "0",
            "log_likelihood": self.likelihood,
        }
        rows = [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]
        named = {f: own if isinstance(what["shape"], list) else own[0] for f, (what, own) in self.fields.items()}
        whole = with_data("sghmc", {"file": "data.csv", **named})
        return {"target.yaml": target, "data.csv": table(rows), "build.yaml": whole}


def is_finite(design: Design) -> bool:
    """Whether the integral of exp(-U) is finite."""
    return _rises(design.pieces, len(design.theta)) if design.pieces else _decays(design)


# What is made

POSITIVE = {"domain": "positive", "transform": "log"}

SCALE_PRIORS: tuple[tuple[str, Fraction | float, Fraction | float], ...] = (
    ("", Fraction(0), Fraction(0)),
    ("(-log({0}))", Fraction(-1), Fraction(1)),
    ("(-2*log({0}))", Fraction(-2), Fraction(2)),
    ("log({0})", Fraction(1), Fraction(-1)),
    ("half_cauchy({0}, 1)", Fraction(0), Fraction(2)),
    ("half_cauchy({0}, 1)", Fraction(0), Fraction(2)),
    ("half_normal({0}, 1)", Fraction(0), inf),
    ("half_normal({0}, 1)", Fraction(0), inf),
    ("gamma({0}, 2, 1)", Fraction(1), inf),
    ("gamma({0}, 1/2, 1)", Fraction(-1, 2), inf),
    ("inverse_gamma({0}, 1, 1)", inf, Fraction(2)),
    ("lognormal({0}, 0, 1)", inf, inf),
)
"""Log priors of a scale v, and k, m: they go like v**k at 0 and v**-m at oo, faster than any power where that is oo."""


TRIES = 40
"""Designs looked at until one is infinite for its data alone."""


def random_design(random: Random) -> Design:
    """Return a design as it comes; or one whose integral is infinite, and finite with other numbers in its columns."""
    if random.random() < 0.4:
        return Maker(random).design()
    seed = 0
    for _ in range(TRIES):
        seed = random.getrandbits(64)
        if not is_finite(Maker(Random(seed)).design()) and is_finite(Maker(Random(seed), Random(1)).design()):
            break
    return Maker(Random(seed)).design()


class Maker:
    """Makes one random design.

    Args:
        random: what it is made by.
        other: what columns and data of no pattern are drawn by, to put into the place of those that it has.
    """

    def __init__(self, random: Random, other: Random | None = None) -> None:
        self.random = random
        self.other = other
        self.made = Design()
        self.count = random.choice((1, 2, 3, 3, 4, 4, 5))
        levels = random.choice((2, 2, 3))
        self.groups = [random.randrange(levels) for _ in range(self.count)]
        self.terms: dict[str, str] = {}
        """Blocks to what they add to the location."""
        self.slopes: dict[str, list[Fraction]] = {}
        """Coordinates to what multiplies them in the location, for each datum."""

    def design(self) -> Design:
        """Return it."""
        kinds = (self._intercept, 0.5), (self._columns, 0.6), (self._effects, 0.5), (self._slope, 0.3)
        while not self.terms:
            for add, share in kinds:
                if self.random.random() < share:
                    add()
        self.made.theta = list(self.slopes)
        (self._gaussian if self.random.random() < 0.6 else self._convex)()
        return self.made

    def chance(self, share: float) -> bool:
        """Whether something happens that does so now and then."""
        return self.random.random() < share

    # Columns of the design

    def _column(self) -> list[Fraction]:
        found = self._of_a_pattern()
        return found if self.other is None else self._without_one(self.other)

    def _without_one(self, other: Random) -> list[Fraction]:
        return [Fraction(other.randint(-29, 29)) for _ in range(self.count)]

    def _of_a_pattern(self) -> list[Fraction]:
        """Return a column: a new one, or what makes a design lose rank, or nearly does."""
        random, of_group = self.random, [Fraction(int(g == 0)) for g in self.groups]
        known = [*self.slopes.values(), of_group, [Fraction(1)] * self.count]
        kind = random.randrange(10)
        if kind < 2:
            return list(random.choice(known))
        if kind < 5:
            a, b = random.randint(-2, 2), random.choice((-1, 1, 3))
            return [a * x + b * y for x, y in zip(random.choice(known), random.choice(known), strict=True)]
        if kind == 5:  # doubles that are a multiple of others, or off by a last digit
            by = random.choice((0.1, 0.3, 3.0))
            return [Fraction(float(x) * by) for x in random.choice(known)]
        return [Fraction(random.randint(-2, 3)) for _ in range(self.count)]

    def _field(self, name: str, declared: dict[str, Any], *columns: Sequence[Number]) -> None:
        names = [f"{name}{k}" for k in range(len(columns))]
        self.made.columns |= {own: list(column) for own, column in zip(names, columns, strict=True)}
        self.made.fields[name] = (declared, names)

    def _intercept(self) -> None:
        self.made.state["a"], self.terms["a"] = {}, "a"
        self.slopes["a"] = [Fraction(1)] * self.count

    def _columns(self) -> None:
        width = self.random.choice((1, 2, 2, 3))
        for k in range(width):
            self.slopes[f"b[{k}]"] = self._column()
        self.made.state["b"], self.terms["b"] = {"shape": width}, "x @ b"
        self._field("x", {"shape": ["N", width]}, *(self.slopes[f"b[{k}]"] for k in range(width)))

    def _effects(self) -> None:
        levels = max(2, max(self.groups) + 1)
        self.made.state["e"], self.terms["e"] = {"shape": levels}, "e[g]"
        self._field("g", {"shape": "N", "index_of": levels}, self.groups)
        for j in range(levels):
            self.slopes[f"e[{j}]"] = [Fraction(int(g == j)) for g in self.groups]

    def _slope(self) -> None:
        column = self._column()
        self.made.state["c"], self.terms["c"], self.slopes["c"] = {}, "c*v", column
        self._field("v", {"shape": "N"}, column)

    def _forms(self) -> list[Row]:
        """Return the location of each datum, as a form."""
        return [(*(own[n] for own in self.slopes.values()), Fraction(0)) for n in range(self.count)]

    def _unit(self, name: str, less: str = "") -> Row:
        """Return the form that is a coordinate, less another one."""
        return (*(Fraction((z == name) - (z == less)) for z in self.made.theta), Fraction(0))

    def _entries(self, block: str) -> list[str]:
        return [name for name in self.made.theta if name.partition("[")[0] == block]

    def _outcome(self) -> list[Fraction]:
        found = self._of_the_design()
        return found if self.other is None else self._without_one(self.other)

    def _of_the_design(self) -> list[Fraction]:
        """Return data: on the design often, or all equal."""
        kind = self.random.randrange(4)
        if kind < 2:
            at = [self.random.randint(-2, 2) for _ in self.made.theta]
            return [Fraction(float(dot(form, at))) for form in self._forms()]
        if kind == 2:
            return [Fraction(self.random.choice((0, 1)))] * self.count
        return [Fraction(self.random.randint(-3, 3)) for _ in self.groups]

    # Squares and scales

    def _gaussian(self) -> None:
        made, random = self.made, self.random
        scales = random.choice(((), ("s",), ("s",), ("s",), ("s", "t")))
        for block in list(made.state):
            self._gaussian_prior(block, scales)
        spread = random.choice((scales, *((v,) for v in scales)))
        weights = [Fraction(random.choice((1, 2, 4)) if self.chance(0.2) else 1) for _ in self.groups]
        if any(w != 1 for w in weights):
            self._field("w", {"shape": "N", "is": "positive"}, weights)
        sd = "*".join((*spread, *(["w"] if "w" in made.fields else []))) or "1"
        y, law = self._outcome(), "normal"
        if self.chance(0.2) and all(x.denominator == 1 and abs(x) < 30 for x in y):
            # log 2 and 1 are independent over the rationals: k log 2 is on the design where k is
            law, data = "lognormal", [Fraction(2) ** int(x) for x in y]
        else:
            data = y
        self._field("y", {"shape": "N", **({"is": "positive"} if law == "lognormal" else {})}, data)
        made.likelihood = f"{law}(y, {' + '.join(self.terms.values())}, {sd})"
        for form, x, w in zip(self._forms(), y, weights, strict=True):
            made.squares.append(Square(tuple(a / w for a in (*form[:-1], -x)), spread))
        for v in sorted({v for square in made.squares for v in square.scales}):
            text, low, high = random.choice(SCALE_PRIORS)
            made.state[v], made.own[v] = POSITIVE, (low, high)
            made.prior += [text.format(v)] if text else []

    def _gaussian_prior(self, block: str, scales: Sequence[str]) -> None:
        """Add a law of a block: none, of a known scale, of differences, of one entry, of a scale that is unknown."""
        made, random, entries = self.made, self.random, self._entries(block)
        kind = random.choice(("none", "none", "known", "known", "walk", "one", *(["scale"] * 3 if scales else [])))
        if kind == "known":
            made.prior.append(
                random.choice(("normal({0}, 0, 2)", "cauchy({0}, 0, 5)", "normal({0}, 1, 1)")).format(block)
            )
            made.squares += [Square(self._unit(name), ()) for name in entries]
        elif kind == "one":
            made.prior.append(f"normal({entries[-1]}, 0, 1)")
            made.squares.append(Square(self._unit(entries[-1]), ()))
        elif kind == "walk":
            v = random.choice(("1", *scales))
            for name, before in zip(entries[1:], entries, strict=False):
                made.prior.append(f"normal({name}, {before}, {v})")
                made.squares.append(Square(self._unit(name, before), () if v == "1" else (v,)))
        elif kind == "scale":
            v, around = random.choice(scales), "a" if "a" in made.state and block != "a" and self.chance(0.5) else ""
            if not around and block in {"b", "e"} and self.chance(0.4):  # v e is what is written e elsewhere
                made.prior.append(f"normal({block}, 0, 1)")
                self.terms[block] = f"{v}*{self.terms[block]}" if block == "e" else f"x @ ({v}*b)"
            else:
                made.prior.append(f"normal({block}, {around or 0}, {v})")
            made.squares += [Square(self._unit(name, around), (v,)) for name in entries]

    # Convex functions of forms

    def _convex(self) -> None:
        made, random = self.made, self.random
        for block in list(made.state):
            self._convex_prior(block)
        location, forms = " + ".join(self.terms.values()), self._forms()
        zero = self._unit("")
        kind = random.choice(("logit", "logit", "logit", "counts", "counts", "trials", "laplace", "normal"))
        some = random.choice((lambda: 0, lambda: random.randint(0, 1), lambda: random.randint(0, 2)))
        y = [Fraction(min(some(), 1) if kind == "logit" else some()) for _ in forms]
        n = [x + random.randint(0, 1) if kind == "trials" else Fraction(1) for x in y]
        if kind == "trials":
            self._field("n", {"shape": "N", "is": ["nonnegative", "integer"]}, n)
        self._field("y", {"shape": "N"}, y)
        made.likelihood = {
            "logit": f"bernoulli_logit(y, {location})",
            "counts": f"poisson_log(y, {location})",
            "trials": f"binomial_logit(y, n, {location})",
            "laplace": f"laplace(y, {location}, 2)",
            "normal": f"normal(y, {location}, 2)",
        }[kind]
        for k, (form, x) in enumerate(zip(forms, y, strict=True)):
            less = tuple(-x * a for a in form)
            if kind == "counts":
                made.pieces += [Piece("exp", (form,)), Piece("linear", (less,))]
            elif kind in {"logit", "trials"}:
                made.pieces += [Piece("log", (zero, tuple(n[k] * a for a in form))), Piece("linear", (less,))]
            else:
                by = Fraction(1, 2) if kind == "laplace" else 1
                made.pieces.append(Piece("abs" if by != 1 else "square", (tuple(by * a for a in form),)))

    def _convex_prior(self, block: str) -> None:
        """Add a law of a block, or a slope beside it that the law may be too light for."""
        made, random, entries = self.made, self.random, self._entries(block)
        kind = random.choice(("none", "none", "normal", "laplace", "one", "walk"))
        if kind in {"normal", "laplace"}:
            made.prior.append(f"{kind}({block}, 0, 1)")
            made.pieces += [Piece("square" if kind == "normal" else "abs", (self._unit(name),)) for name in entries]
        elif kind == "one":
            made.prior.append(f"laplace({entries[-1]}, 0, 1)")
            made.pieces.append(Piece("abs", (self._unit(entries[-1]),)))
        elif kind == "walk":
            for name, before in zip(entries[1:], entries, strict=False):
                made.prior.append(f"laplace({name}, {before}, 1)")
                made.pieces.append(Piece("abs", (self._unit(name, before),)))
        if self.chance(0.15):
            slope, name = random.choice((Fraction(1), Fraction(-1), Fraction(1, 2))), random.choice(entries)
            made.prior.append(f"({slope})*{name}")
            made.pieces.append(Piece("linear", (tuple(-slope * a for a in self._unit(name)),)))


# Exact numbers


def dot(row: Sequence[Number], other: Sequence[Number]) -> Fraction:
    """Return the sum of products of numbers, as far as both go."""
    return sum((Fraction(x) * y for x, y in zip(row, other, strict=False)), Fraction(0))


def _matrix(rows: Sequence[Row]) -> fmpq_mat:
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in rows])


# Gaussian integrals far out


def _decays(design: Design) -> bool:
    scales = list(design.own)
    if not _integral(design, dict.fromkeys(scales, Fraction(1))):
        return False
    # the rays between which no two products of at most two scales change their order, nor one with 1
    rays = [ray for ray in product((-1, 0, 1), repeat=len(scales)) if any(ray)]
    return all(_falls(design, dict(zip(scales, ray, strict=True))) for ray in rays)


def _integral(design: Design, at: dict[str, Fraction]) -> tuple[fmpq, fmpq] | None:
    """Return det(A) times prod m_i**2 of all laws, and R, at values of the scales; None where A is singular."""
    scales = [prod((at[v] for v in square.scales), start=Fraction(1)) for square in design.squares]
    rows = _matrix([tuple(a / m for a in s.form) for s, m in zip(design.squares, scales, strict=True)])
    whole = rows.transpose() * rows
    d = len(design.theta)
    det = fmpq_mat([row[:d] for row in whole.tolist()[:d]]).det()
    if det == 0:
        return None
    m = prod(scales)
    return det * fmpq(m.numerator, m.denominator) ** 2, whole.det() / det


def _falls(design: Design, ray: dict[str, int]) -> bool:
    """Whether the integral over theta falls along a ray, times dv/dt and the priors of the scales."""
    powers = [prior[0] if ray[v] < 0 else prior[1] for v, prior in design.own.items() if ray[v]]
    if inf in powers:
        return True
    near, far = (_integral(design, {v: Fraction(2) ** (k * sign) for v, sign in ray.items()}) for k in (FAR, 2 * FAR))
    if far[1] > 10**6:  # a sum of squares at 2**k grows as 4**k, or stays
        return True
    fall = Fraction(round(2 * Fraction(_bits(far[0]) - _bits(near[0]), 2 * FAR)), 2)
    return fall + sum(map(Fraction, powers)) - sum(ray.values()) > 0


def _bits(x: fmpq) -> int:
    """Return log2 x, off by 1 at most."""
    return int(x.p).bit_length() - int(x.q).bit_length()


# Directions of convex functions


def _rises(pieces: Sequence[Piece], width: int) -> bool:
    """Whether U_inf > 0 everywhere: on every ray of the arrangement of hyperplanes, which meet in 0 alone."""
    planes = [row for piece in pieces for row in _planes(piece) if any(row)]
    distinct = list({tuple(x / next(filter(None, row)) for x in row): row for row in planes}.values())
    if not distinct or _matrix(distinct).rank() < width:
        return False
    for chosen in combinations(distinct, width - 1):
        d = _null(chosen, width)
        if d is not None and (_slope(pieces, d) <= 0 or _slope(pieces, [-x for x in d]) <= 0):
            return False
    return True


def _planes(piece: Piece) -> Iterator[Row]:
    """Yield what is zero where the slope of a piece changes."""
    own = [form[:-1] for form in piece.forms]
    if piece.kind == "log":
        yield from (tuple(x - y for x, y in zip(one, other, strict=True)) for one, other in combinations(own, 2))
    elif piece.kind != "linear":
        yield from own


def _null(rows: Sequence[Row], width: int) -> list[Fraction] | None:
    """Return the one direction that rows map to zero; None where there are more."""
    reduced, rank = _matrix(rows).rref() if rows else (fmpq_mat(0, width), 0)
    if rank < width - 1:
        return None
    pivots = [next(j for j in range(width) if reduced[i, j] != 0) for i in range(rank)]
    found = [Fraction(int(j not in pivots)) for j in range(width)]
    free = found.index(1)
    for i, j in enumerate(pivots):
        found[j] = -Fraction(int(reduced[i, free].p), int(reduced[i, free].q))
    return found


def _slope(pieces: Sequence[Piece], d: Sequence[Fraction]) -> Fraction | float:
    found: Fraction | float = Fraction(0)
    for piece in pieces:
        along = [dot(form, d) for form in piece.forms]
        found += {
            "linear": along[0],
            "abs": abs(along[0]),
            "log": max(along),
            "square": inf if along[0] else Fraction(0),
            "exp": inf if along[0] > 0 else Fraction(0),
        }[piece.kind]
    return found
