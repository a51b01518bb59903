"""Random posteriors with data, and curves along which masses of boxes do not fall, by no code of the compiler.

A model is text for the compiler and, piece by piece, functions in ball arithmetic at 600 bits for the judge. A curve
moves every coordinate with tau: to a value that data suggest, at distance u exp(-r tau); to 0 or oo as exp(-+r tau),
to +-r tau; or leaves it in an interval. Its box is u and these intervals, and what changes with tau alone makes up the
volume. If the mass of the box does not fall between tau = 40, 80 and 160, the integral over tau is infinite.
"""

# Formulas are functions of numbers of as many arguments as they have.

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random

from flint import arb, ctx, fmpq

SPECS = Path(__file__).parents[2] / "specs"
TIMES = (40, 80, 160)
LEAST = -0.5
"""What a logarithm of a mass may fall by when tau doubles: that of 1/tau falls by log 2, that of 1/tau**2 by 1.4."""

BITS = 600
CURVES, SAMPLES = 160, 6

State = Mapping[str, arb]
Row = Mapping[str, int | Fraction]


@dataclass(frozen=True)
class Term:
    """A formula, and its value at a state and a datum."""

    text: str
    at: Callable[[State, Row], arb]


@dataclass
class Posterior:
    """A model with data: coordinates by kind, a log prior, a log likelihood of a datum."""

    blocks: dict[str, str] = field(default_factory=dict)
    """Scalar coordinates to `real`, `positive` or `unit`; entries of columns are `m[0]`."""
    prior: list[Term] = field(default_factory=list)
    likelihood: list[Term] = field(default_factory=list)
    rows: list[dict[str, int | Fraction]] = field(default_factory=list)
    columns: dict[str, int] = field(default_factory=dict)
    """Columns of coordinates to how many entries they have."""

    def log_density(self, state: State) -> arb:
        """Return the log posterior, of the coordinates as declared."""
        own = sum((term.at(state, {}) for term in self.prior), arb(0))
        return own + sum((term.at(state, row) for row in self.rows for term in self.likelihood), arb(0))

    def write(self, folder: Path) -> Path:
        """Write target, data and build; return the build."""
        (folder / "target.yaml").write_text(self.text(), encoding="utf-8")
        fields = list(self.rows[0])
        lines = [",".join(fields), *(",".join(_decimal(row[f]) for f in fields) for row in self.rows)]
        (folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        build = folder / "build.yaml"
        build.write_text(
            f"format: 1\nname: random_build\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: target.yaml\n"
            "scheme: {name: baoab}\nvariant: full\n"
            f"data: {{file: data.csv, {', '.join(f'{f}: {f}' for f in fields)}}}\nrun: {{step_size: auto}}\n",
            encoding="utf-8",
        )
        return build

    def text(self) -> str:
        """Return the target document."""
        kinds = {
            "real": "{}",
            "positive": "{domain: positive, transform: log}",
            "unit": '{domain: "interval(0, 1)", transform: logit}',
        }
        state = {name: kinds[kind] for name, kind in self.blocks.items() if "[" not in name}
        for name, count in self.columns.items():
            kind = kinds[self.blocks[f"{name}[0]"]].strip("{}")
            state[name] = f"{{shape: {count}{', ' + kind if kind else ''}}}"
        data = {f: FIELDS[f] for f in self.rows[0]}
        return (
            "format: 1\nname: random_model\n"
            f"state: {{{', '.join(f'{k}: {v}' for k, v in state.items())}}}\n"
            f"data: {{{', '.join(f'{k}: {v}' for k, v in data.items())}}}\n"
            f'log_prior: "{" + ".join(term.text for term in self.prior) or "0"}"\n'
            f'log_likelihood: "{" + ".join(term.text for term in self.likelihood)}"\n'
        )


FIELDS = {
    "y": "{shape: N}",
    "v": "{shape: N}",
    "x": "{shape: N}",
    "p": "{shape: N, is: positive}",
    "n": "{shape: N, is: [nonnegative, integer]}",
    "e": "{shape: N, in: [0, 1]}",
    "z": "{shape: N, index_of: 2}",
}


def _decimal(x: int | Fraction) -> str:
    return str(x) if isinstance(x, int) else repr(float(x))


def number(x: int | Fraction) -> arb:
    """Return an exact number; a fraction is the double that a file holds."""
    return arb(fmpq(*Fraction(float(x)).as_integer_ratio()))


# Formulas


def coordinate(name: str) -> Term:
    """Return a coordinate; `m[z]` is the entry at the position that a datum is."""
    block = name.partition("[")[0]
    if name.endswith("[z]"):
        return Term(name, lambda state, row: state[f"{block}[{row['z']}]"])
    return Term(name, lambda state, row: state[name])


def datum(name: str) -> Term:
    """Return a field of the data."""
    return Term(name, lambda state, row: number(row[name]))


def call(text: str, fn: Callable[..., arb], *of: Term) -> Term:
    """Return a function of terms, `text` with their texts put in."""
    return Term(text.format(*(term.text for term in of)), lambda state, row: fn(*(term.at(state, row) for term in of)))


def _log_normal(x: arb, m: arb, s: arb) -> arb:
    return -(((x - m) / s) ** 2) / 2 - s.log()


def _log_laplace(x: arb, m: arb, s: arb) -> arb:
    return -abs(x - m) / s - s.log()


def _log_logistic(x: arb, m: arb, s: arb) -> arb:
    u = abs((x - m) / s)
    return -u - 2 * (1 + (-u).exp()).log() - s.log()


def _log_student(x: arb, m: arb, s: arb) -> arb:
    return -2 * (1 + ((x - m) / s) ** 2 / 3).log() - s.log()


def _log_sum(a: arb, b: arb) -> arb:
    top = a if a > b else b
    return top + ((a - top).exp() + (b - top).exp()).log()


LAWS: dict[str, tuple[str, Callable[..., arb]]] = {
    "normal": ("normal({0}, {1}, {2})", _log_normal),
    "laplace": ("laplace({0}, {1}, {2})", _log_laplace),
    "logistic": ("logistic({0}, {1}, {2})", _log_logistic),
    "student": ("student_t({0}, 3, {1}, {2})", _log_student),
    "lognormal": ("lognormal({0}, {1}, {2})", lambda x, m, s: _log_normal(x.log(), m, s)),
    "of logarithms": ("normal(log({0}), {1}, {2})", lambda x, m, s: _log_normal(x.log(), m, s)),
    "written": ("-log({2}) - (({0} - {1})/{2})**2/2", _log_normal),
    "half written": ("-log({2})/2 - ({0} - {1})**2/(2*{2})", lambda x, m, s: -s.log() / 2 - (x - m) ** 2 / (2 * s)),
}

REAL_PRIORS: list[tuple[int, str, Callable[[arb], arb] | None]] = [
    (6, "normal({0}, 0, 5)", lambda x: -((x / 5) ** 2) / 2),
    (2, "cauchy({0}, 0, 5)", lambda x: -(1 + (x / 5) ** 2).log()),
    (1, "student_t({0}, 3, 0, 1)", lambda x: -2 * (1 + x**2 / 3).log()),
    (1, "laplace({0}, 0, 1)", lambda x: -abs(x)),
    (1, "", None),
]
POSITIVE_PRIORS: list[tuple[int, str, Callable[[arb], arb] | None]] = [
    (6, "half_normal({0}, 1)", lambda s: -(s**2) / 2),
    (5, "half_cauchy({0}, 1)", lambda s: -(1 + s**2).log()),
    (2, "gamma({0}, 2, 1)", lambda s: s.log() - s),
    (1, "gamma({0}, 1/2, 1)", lambda s: -s.log() / 2 - s),
    (2, "lognormal({0}, 0, 1)", lambda s: -(s.log() ** 2) / 2 - s.log()),
    (2, "inverse_gamma({0}, 2, 1)", lambda s: -3 * s.log() - 1 / s),
    (1, "exponential({0}, 1)", lambda s: -s),
    (1, "(-log({0}))", lambda s: -s.log()),
    (1, "", None),
]


class Maker:
    """Makes one random posterior."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.made = Posterior()
        self.fields: list[str] = []

    def posterior(self) -> Posterior:
        """Return it: one or two terms of a likelihood, a prior of each block, now and then a term beside them."""
        for _ in range(self.random.choice((1, 1, 1, 2))):
            self.made.likelihood.append(self.random.choice(self.kinds())())
        self._priors()
        if self.random.random() < 0.2:
            self._beside()
        self._rows()
        return self.made

    def kinds(self) -> list[Callable[[], Term]]:
        """Return the kinds of likelihoods, the frequent ones more than once."""
        return [
            self.law, self.law, self.law, self.mixture, self.mixture, self.mixture, self.hurdle, self.covariance,
            self.counts, self.censored, self.inflated, self.pieces,
        ]  # fmt: skip

    def use(self, *fields: str) -> None:
        """Note fields that occur."""
        self.fields += [f for f in fields if f not in self.fields]

    def real(self, *, at: str = "") -> Term:
        """Return a coordinate of the line, a new one or one that there is."""
        return self._coordinate("real", "abc", at)

    def scale(self, *, at: str = "") -> Term:
        """Return a positive coordinate."""
        return self._coordinate("positive", "stu", at)

    def _coordinate(self, kind: str, names: str, at: str) -> Term:
        name = self.random.choice(names)
        if at:
            block = f"{name}{name}"
            self.made.columns[block] = 2
            self.made.blocks |= {f"{block}[0]": kind, f"{block}[1]": kind}
            return coordinate(f"{block}[{at}]")
        self.made.blocks[name] = kind
        return coordinate(name)

    def weight(self) -> Term:
        """Return a coordinate between 0 and 1."""
        self.made.blocks["w"] = "unit"
        return coordinate("w")

    def outcome(self, law: str) -> Term:
        """Return a field that a law may be of."""
        name = "p" if law in {"lognormal", "of logarithms"} else self.random.choice("yyv")
        self.use(name)
        return datum(name)

    def location(self) -> Term:
        """Return a location: a coordinate, an entry, a line, products and functions of these."""
        kind = self.random.randrange(9)
        if kind < 3:
            return self.real()
        if kind == 3:
            self.use("z")
            return self.real(at="z")
        self.use("x")
        x = datum("x")
        if kind == 4:
            return call("{0}*{1}", lambda a, x: a * x, self.real(), x)
        if kind < 7:
            return call("({0} + {1}*{2})", lambda a, b, x: a + b * x, self.real(), self.real(), x)
        if kind == 7:
            return call("({0} + {1}*{2})", lambda a, s, x: a + s * x, self.real(), self.scale(), x)
        return call("({0}*{1} + {2})", lambda a, b, x: a * b + x, self.real(), self.real(), x)

    def spread(self) -> Term:
        """Return a scale: a coordinate, an entry, products with each other and with data."""
        kind = self.random.randrange(10)
        if kind < 5:
            return self.scale()
        if kind == 5:
            self.use("z")
            return self.scale(at="z")
        if kind == 6:
            return call("({0}*{1})", lambda s, t: s * t, self.scale(), self.scale())
        if kind == 7:
            self.use("p")
            return call("({0}*{1})", lambda s, p: s * p, self.scale(), datum("p"))
        if kind == 8:
            self.use("x")
            return call("exp({0} + {1}*{2})", lambda a, b, x: (a + b * x).exp(), self.real(), self.real(), datum("x"))
        return call("({0}*sqrt(1 + {1}**2))", lambda s, a: s * (1 + a**2).sqrt(), self.scale(), self.real())

    def law(self, *, among: Sequence[str] = tuple(LAWS)) -> Term:
        """Return a law of an outcome."""
        name = self.random.choice(among)
        text, fn = LAWS[name]
        return call(text, fn, self.outcome(name), self.location(), self.spread())

    def mixture(self) -> Term:
        """Return a mixture of two laws of one outcome."""
        one, other = self.random.choice((("y", "y"), ("y", "y"), ("p", "p")))
        laws = ("normal", "laplace", "student", "logistic") if one == "y" else ("lognormal",)
        parts = []
        for k, name in enumerate((one, other)):
            self.use(name)
            text, fn = LAWS[self.random.choice(laws)]
            m = self.real(at=str(k)) if self.random.random() < 0.7 else self.location()
            s = self.scale(at=str(k)) if self.random.random() < 0.6 else self.spread()
            parts.append(call(text, fn, datum(name), m, s))
        return call(
            "mixture([{0}, 1 - {0}], {1}, {2})",
            lambda w, f, g: _log_sum(w.log() + f, (1 - w).log() + g),
            self.weight(), *parts,
        )  # fmt: skip

    def hurdle(self) -> Term:
        """Return zeros beside a law of what is positive, with or without what makes it one."""
        self.use("n")
        n, w = datum("n"), self.weight()
        if self.random.random() < 0.5:
            rate = self.scale()
            power = self.random.choice(("{1}*log({2}) - {2}", "{1}*log({2}) - {2}", "-{2}"))
            fn = (lambda n, r: n * r.log() - r) if power.startswith("{1}") else (lambda n, r: -r)
            return call(
                f"where({{1}} > 0, log({{0}}) + {power} - log1p(-exp(-{{2}})), log1p(-{{0}}))",
                lambda w, n, r: w.log() + fn(n, r) - (1 - (-r).exp()).log() if n > 0 else (1 - w).log(),
                w, n, rate,
            )  # fmt: skip
        law = self.random.choice(("normal(log(maximum({1}, 1)), {2}, {3})", "lognormal({1}, {2}, {3})"))
        return call(
            f"where({{1}} > 0, log({{0}}) + {law}, log1p(-{{0}}))",
            lambda w, n, m, s: w.log() + _log_normal(n.log(), m, s) if n > 0 else (1 - w).log(),
            w, n, self.location(), self.spread(),
        )  # fmt: skip

    def pieces(self) -> Term:
        """Return a law of two sides of a location, or of residuals that count less far out."""
        self.use("y")
        y, m, s = datum("y"), self.location(), self.spread()
        if self.random.random() < 0.5:
            return call(
                "(where({0} > {1}, ({1} - {0})/{2}, 2*({0} - {1})/{2}) - log({2}))",
                lambda y, m, s: ((m - y) / s if y > m else 2 * (y - m) / s) - s.log(), y, m, s,
            )  # fmt: skip
        return call(
            "(where(abs({0} - {1}) < {2}, -(({0} - {1})/{2})**2/2, 1/2 - abs({0} - {1})/{2}) - log({2}))",
            lambda y, m, s: (-(((y - m) / s) ** 2) / 2 if abs(y - m) < s else arb(0.5) - abs(y - m) / s) - s.log(),
            y, m, s,
        )  # fmt: skip

    def covariance(self) -> Term:
        """Return two correlated outcomes, the second given the first, or with a correlation written out."""
        self.use("y", "v")
        y, v, a, b, s, t = datum("y"), datum("v"), self.real(), self.real(), self.scale(), self.scale()
        if self.random.random() < 0.5:
            return call(
                "normal({0}, {2}, {4}) + normal({1}, {3}*{0}, {5})",
                lambda y, v, a, b, s, t: _log_normal(y, a, s) + _log_normal(v, b * y, t), y, v, a, b, s, t,
            )  # fmt: skip
        w = self.weight()
        return call(
            "-log({4}) - log({5}) - log1p(-{6}**2)/2"
            " - ((({0} - {2})/{4} - {6}*({1} - {3})/{5})**2/(1 - {6}**2) + (({1} - {3})/{5})**2)/2",
            lambda y, v, a, b, s, t, w: (
                -s.log() - t.log() - (1 - w**2).log() / 2
                - (((y - a) / s - w * (v - b) / t) ** 2 / (1 - w**2) + ((v - b) / t) ** 2) / 2
            ),
            y, v, a, b, s, t, w,
        )  # fmt: skip

    def counts(self) -> Term:
        """Return counts, of a rate or its logarithm."""
        self.use("n")
        n = datum("n")
        if self.random.random() < 0.5:
            return call("poisson_log({0}, {1})", lambda n, m: n * m - m.exp(), n, self.location())
        return call("poisson({0}, {1})", lambda n, s: n * s.log() - s, n, self.spread())

    def censored(self) -> Term:
        """Return a law of some data, and nothing or a little of the others."""
        self.use("e")
        own = self.law(among=("normal", "laplace", "student", "written"))
        other = self.random.choice(("0", "-{2}", "-{2}**2"))
        fns: dict[str, Callable[[arb], arb]] = {
            "0": lambda s: arb(0),
            "-{2}": lambda s: -s,
            "-{2}**2": lambda s: -(s**2),
        }
        return call(
            f"{{0}}*({{1}}) + (1 - {{0}})*({other})",
            lambda e, f, s: e * f + (1 - e) * fns[other](s), datum("e"), own, self.scale(),
        )  # fmt: skip

    def inflated(self) -> Term:
        """Return counts with more zeros."""
        self.use("n")
        return call(
            "where({1} > 0, log({0}) + poisson({1}, {2}), log(1 - {0} + {0}*exp(-{2})))",
            lambda w, n, r: w.log() + n * r.log() - r if n > 0 else (1 - w + w * (-r).exp()).log(),
            self.weight(), datum("n"), self.scale(),
        )  # fmt: skip

    def _priors(self) -> None:
        for name, kind in self.made.blocks.items():
            block = name.partition("[")[0]
            if name != block and not name.endswith("[0]"):
                continue
            if kind == "unit":
                if self.random.random() < 0.7:
                    self.made.prior.append(call("beta({0}, 2, 2)", lambda w: w.log() + (1 - w).log(), coordinate(name)))
                continue
            rows = REAL_PRIORS if kind == "real" else POSITIVE_PRIORS
            _, text, fn = self.random.choices(rows, [row[0] for row in rows])[0]
            if fn is None or (block != name and text.startswith("(")):
                continue
            entries = [coordinate(f"{block}[{k}]") for k in range(2)] if block != name else [coordinate(name)]
            self.made.prior.append(_over(text, block, fn, entries))

    def _beside(self) -> None:
        """Add a term to prior or likelihood that is no law."""
        scales = [n for n, kind in self.made.blocks.items() if kind == "positive" and "[" not in n]
        reals = [n for n, kind in self.made.blocks.items() if kind == "real" and "[" not in n]
        where = self.random.choice((self.made.prior, self.made.likelihood))
        if scales and self.random.random() < 0.7:
            text, fn = self.random.choice(SCALE_TERMS)
            where.append(call(text, fn, coordinate(self.random.choice(scales))))
        elif reals:
            text, fn = self.random.choice(REAL_TERMS)
            where.append(call(text, fn, coordinate(self.random.choice(reals))))

    def _rows(self) -> None:
        """Make 2 to 5 data, often with equal numbers, on lines or constant."""
        count = self.random.randint(2, 5)
        drawn: dict[str, Callable[[], int | Fraction]] = {
            "x": lambda: self.random.randint(0, 2),
            "p": lambda: self.random.choice((1, 2, 4, 8, Fraction(1, 2), 3)),
            "n": lambda: self.random.choice((0, 0, 1, 2, 5)),
            "e": lambda: self.random.randint(0, 1),
            "z": lambda: self.random.randint(0, 1),
        }
        few = self.random.random() < 0.5
        outcome = (lambda: self.random.choice((0, 1))) if few else (lambda: self.random.randint(-9, 9))
        columns = {f: [drawn.get(f, outcome)() for _ in range(count)] for f in self.fields}
        if "x" in columns and self.random.random() < 0.5:
            columns |= {f: [2 * x + 1 for x in columns["x"]] for f in ("y", "v") if f in columns}
        self.made.rows = [{f: column[n] for f, column in columns.items()} for n in range(count)]


SCALE_TERMS: list[tuple[str, Callable[[arb], arb]]] = [
    ("(-log({0}))", lambda s: -s.log()),
    ("log({0})", lambda s: s.log()),
    ("(-log({0})/2)", lambda s: -s.log() / 2),
    ("2*log({0})", lambda s: 2 * s.log()),
    ("{0}", lambda s: s),
    ("{0}/2", lambda s: s / 2),
    ("(-1/{0})", lambda s: -1 / s),
    ("(-{0}**2)", lambda s: -(s**2)),
]
REAL_TERMS: list[tuple[str, Callable[[arb], arb]]] = [
    ("{0}", lambda a: a),
    ("(-{0}/2)", lambda a: -a / 2),
    ("{0}**2/60", lambda a: a**2 / 60),
    ("(-abs({0}))", lambda a: -abs(a)),
    ("log(1 + {0}**2)/2", lambda a: (1 + a**2).log() / 2),
]


def _over(text: str, block: str, fn: Callable[[arb], arb], entries: Sequence[Term]) -> Term:
    """Return a law of every entry of a block."""
    own = list(entries)
    return Term(text.format(block), lambda state, row: sum((fn(entry.at(state, row)) for entry in own), arb(0)))


# The judge


@dataclass(frozen=True)
class Way:
    """How a coordinate moves: its value at tau and u in (0, 1), the log of its width du, or of d/dtau."""

    name: str
    at: Callable[[int, arb], arb]
    log_width: Callable[[int, arb], arb]
    moves: bool
    """Whether it may be what tau is exchanged for."""


@ctx.workprec(BITS)
def diverges(model: Posterior, random: Random) -> str:
    """Return along which curve masses of boxes do not fall; empty where none was found."""
    for _ in range(CURVES):
        curve = _curve(model, random)
        if any(path.moves for path in curve) and _is_heavy(model, curve, random):
            return ", ".join(f"{path.name} ~ {float(path.at(40, arb(1) / 2).mid()):.3g}" for path in curve)
    return ""


def _is_heavy(model: Posterior, curve: Sequence[Way], random: Random) -> bool:
    middle = [arb(1) / 2 for _ in curve]
    if not _keeps(*(_log_mass(model, curve, tau, middle) for tau in TIMES)):
        return False
    points = [[arb(random.randint(1, 31)) / 32 for _ in curve] for _ in range(SAMPLES)]
    least = [min((_log_mass(model, curve, tau, u) for u in points), key=float) for tau in TIMES]
    return _keeps(*least)


def _keeps(first: arb, second: arb, third: arb) -> bool:
    return all(x.is_finite() for x in (first, second, third)) and bool(
        second - first > LEAST and third - second > LEAST
    )


def _log_mass(model: Posterior, curve: Sequence[Way], tau: int, u: Sequence[arb]) -> arb:
    """Return the log density times the widths of a box: tau takes the place of u of a coordinate that moves."""
    state = {path.name: path.at(tau, x) for path, x in zip(curve, u, strict=True)}
    return model.log_density(state) + sum((path.log_width(tau, x) for path, x in zip(curve, u, strict=True)), arb(0))


def _curve(model: Posterior, random: Random) -> list[Way]:
    """Return a curve on which one to four coordinates move, most often inwards, or all of them."""
    names = list(model.blocks)
    aims, inward = _aims(model, random), random.random() < 0.7
    count = random.choice((1, 2, 2, 3, 3, 4, len(names)))
    moved = set(random.sample(names, min(count, len(names))))
    found: list[Way] = []
    for name, kind in model.blocks.items():
        r = random.choice((Fraction(1, 2), Fraction(1), Fraction(2))) if random.random() < 0.2 else Fraction(1)
        if name not in moved:
            found.append(_still(name, kind, random))
        elif kind == "positive":
            found.append(_powers(name, r, -1 if inward or random.random() < 0.3 else 1))
        elif kind == "unit":
            found.append(_of_share(name, r, random))
        else:
            found.append(_of_real(name, r, random, aims, inward=inward))
    return found


def _still(name: str, kind: str, random: Random) -> Way:
    if kind == "real":
        return _stays(name, Fraction(random.randint(-2, 2)), Fraction(1))
    return (
        _stays(name, Fraction(1, 2), Fraction(1))
        if kind == "positive"
        else _stays(name, Fraction(1, 4), Fraction(1, 2))
    )


def _aims(model: Posterior, random: Random) -> dict[str, list[arb]]:
    """Return values that a real coordinate may go to: data, logarithms of positive ones, lines through two data."""
    fields = [f for f in ("y", "v") if f in model.rows[0]]
    outcomes = [number(row[f]) for row in model.rows for f in fields]
    outcomes += [number(row["p"]).log() for row in model.rows if "p" in row]
    values = outcomes if outcomes and random.random() < 0.7 else [arb(k) for k in (-1, 0, 1, 2)]
    found = dict.fromkeys(model.blocks, values)
    if fields and "x" in model.rows[0] and random.random() < 0.5:
        f = random.choice(fields)
        one, two = random.choice(model.rows), random.choice(model.rows)
        if one["x"] != two["x"]:
            slope = Fraction(Fraction(two[f]) - Fraction(one[f])) / (Fraction(two["x"]) - Fraction(one["x"]))
            intercept = Fraction(one[f]) - slope * Fraction(one["x"])
            for a in "abc":
                found[a] = [_constant(random.choice((slope, intercept)))]
    return found


def _constant(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def _stays(name: str, low: Fraction, width: Fraction) -> Way:
    a, b = _constant(low), _constant(width)
    return Way(name, lambda tau, u: a + b * u, lambda tau, u: b.log(), moves=False)


def _powers(name: str, r: Fraction, sign: int) -> Way:
    """Return v = exp(sign r tau + u): dv = v du, or r v dtau."""
    by = _constant(r * sign)
    return Way(name, lambda tau, u: (by * tau + u).exp(), lambda tau, u: by * tau + u, moves=True)


def _of_share(name: str, r: Fraction, random: Random) -> Way:
    small = _powers(name, r, -1)
    if random.random() < 0.5:
        return small
    return Way(name, lambda tau, u: 1 - small.at(tau, u), small.log_width, moves=True)


def _of_real(name: str, r: Fraction, random: Random, aims: Mapping[str, Sequence[arb]], *, inward: bool) -> Way:
    by, sign = _constant(r), random.choice((-1, 1))
    if inward and random.random() < 0.9:
        to = random.choice(aims[name])
        return Way(name, lambda tau, u: to + sign * u * (-by * tau).exp(), lambda tau, u: -by * tau, moves=False)
    if random.random() < 0.5:
        far = _powers(name, r, 1)
        return Way(name, lambda tau, u: sign * far.at(tau, u), far.log_width, moves=True)
    return Way(name, lambda tau, u: sign * (by * tau + u), lambda tau, u: arb(0), moves=True)
