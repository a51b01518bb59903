"""Random posteriors with data, and curves along which masses of boxes do not fall, by no code of the compiler.

A model is text, which the judge evaluates in ball arithmetic at 600 bits. A curve moves every coordinate with tau: to a
value that data suggest, at distance u exp(-r tau); to 0 or oo as exp(-+r tau), to +-r tau; or leaves it in an interval.
Its box is u and these intervals, and what changes with tau alone makes up the volume. If the mass of the box does not
fall between tau = 40, 80 and 160, the integral over tau is infinite.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from flint import arb, ctx, fmpq
from parts import Files, build, evaluate

TIMES = (40, 80, 160)
LEAST = -0.5
"""What a logarithm of a mass may fall by when tau doubles: that of 1/tau falls by log 2, that of 1/tau**2 by 1.4."""

BITS = 600
CURVES, SAMPLES = 160, 6

State = Mapping[str, arb]
Number = int | Fraction
FIELDS = {
    "y": {"shape": "N"},
    "v": {"shape": "N"},
    "x": {"shape": "N"},
    "p": {"shape": "N", "is": "positive"},
    "n": {"shape": "N", "is": ["nonnegative", "integer"]},
    "e": {"shape": "N", "in": [0, 1]},
    "z": {"shape": "N", "index_of": 2},
}
KINDS = {
    "real": {},
    "positive": {"domain": "positive", "transform": "log"},
    "unit": {"domain": "interval(0, 1)", "transform": "logit"},
}


def table(rows: Sequence[Mapping[str, Number]]) -> str:
    """Return data as a file holds them."""
    lines = [",".join(str(x) if isinstance(x, int) else repr(float(x)) for x in row.values()) for row in rows]
    return "\n".join([",".join(rows[0]), *lines]) + "\n"


@dataclass
class Posterior:
    """A model with data: coordinates by kind, a log prior, a log likelihood of a datum."""

    blocks: dict[str, str] = field(default_factory=dict)
    """Scalar coordinates to their kinds; entries of columns are `m[0]`."""
    prior: list[str] = field(default_factory=list)
    likelihood: list[str] = field(default_factory=list)
    rows: list[dict[str, Number]] = field(default_factory=list)

    def log_density(self, state: State) -> arb:
        """Return the log posterior, of the coordinates as declared."""
        names: dict[str, Any] = {name: x for name, x in state.items() if "[" not in name}
        columns = {name.partition("[")[0] for name in state} - {*names}
        names |= {name: [state[f"{name}[0]"], state[f"{name}[1]"]] for name in columns}
        found = sum((evaluate(term, BALLS, names) for term in self.prior), arb(0))
        for row in self.rows:
            datum = {f: x if f == "z" else number(x) for f, x in row.items()}
            found += sum((evaluate(term, BALLS, names | datum) for term in self.likelihood), arb(0))
        return found

    def files(self) -> Files:
        """Return target, data and build."""
        state = {name: KINDS[kind] for name, kind in self.blocks.items() if "[" not in name}
        state |= {n[:-3]: {"shape": 2, **KINDS[kind]} for n, kind in self.blocks.items() if n.endswith("[0]")}
        target = {
            "format": 1,
            "name": "random_model",
            "state": state,
            "data": {name: FIELDS[name] for name in self.rows[0]},
            "log_prior": " + ".join(self.prior) or "0",
            "log_likelihood": " + ".join(self.likelihood),
        }
        data = {"file": "data.csv", **{name: name for name in self.rows[0]}}
        return {"target.yaml": target, "data.csv": table(self.rows), "build.yaml": with_data("sghmc", data)}


def with_data(dynamics: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a build whose step size the data decide."""
    whole = build("random_build", dynamics, scheme={"name": "baoab"}, data=data, run={"step_size": "auto"})
    return {key: part for key, part in whole.items() if key != "sizes"}


def number(x: Number) -> arb:
    """Return an exact number; a fraction is the double that a file holds."""
    return arb(fmpq(*Fraction(float(x)).as_integer_ratio()))


# What formulas are worth


def _log_sum(a: arb, b: arb) -> arb:
    top = a if a > b else b
    return top + ((a - top).exp() + (b - top).exp()).log()


def _logistic(x: arb, m: arb, s: arb) -> arb:
    u = abs((x - m) / s)
    return -u - 2 * (1 + (-u).exp()).log() - s.log()


LAWS: dict[str, Callable[..., arb]] = {
    "normal": lambda x, m, s: -(((x - m) / s) ** 2) / 2 - arb(s).log(),
    "laplace": lambda x, m, s: -abs(x - m) / s - arb(s).log(),
    "logistic": _logistic,
    "student_t": lambda x, df, m, s: -(df + 1) / arb(2) * (1 + ((x - m) / s) ** 2 / df).log() - arb(s).log(),
    "cauchy": lambda x, m, s: -(1 + ((x - m) / s) ** 2).log(),
    "lognormal": lambda x, m, s: -(((x.log() - m) / s) ** 2) / 2 - arb(s).log() - x.log(),
    "half_normal": lambda x, s: -((x / s) ** 2) / 2,
    "half_cauchy": lambda x, s: -(1 + (x / s) ** 2).log(),
    "gamma": lambda x, a, b: (a - 1) * x.log() - b * x,
    "inverse_gamma": lambda x, a, b: -(a + 1) * x.log() - b / x,
    "exponential": lambda x, b: -b * x,
    "beta": lambda x, a, b: (a - 1) * x.log() + (b - 1) * (1 - x).log(),
    "poisson": lambda n, r: n * r.log() - r,
    "poisson_log": lambda n, m: n * m - m.exp(),
}
"""Log densities, less what no coordinate changes."""


def _of_entries(law: Callable[..., arb]) -> Callable[..., arb]:
    """Return a law that is one of every entry of a column."""
    return lambda x, *of: sum((law(one, *of) for one in x), arb(0)) if isinstance(x, list) else law(x, *of)


BALLS: dict[str, Any] = {
    "__builtins__": {},
    **{name: _of_entries(law) for name, law in LAWS.items()},
    "log": lambda x: arb(x).log(),
    "exp": lambda x: x.exp(),
    "sqrt": lambda x: x.sqrt(),
    "log1p": lambda x: (1 + x).log(),
    "abs": abs,
    "maximum": lambda x, y: x if x > y else arb(y),
    "where": lambda holds, yes, no: yes if holds else no,
    "mixture": lambda shares, f, g: _log_sum(shares[0].log() + f, shares[1].log() + g),
}

LAWS_OF = {
    "normal": "normal({0}, {1}, {2})",
    "laplace": "laplace({0}, {1}, {2})",
    "student": "student_t({0}, 3, {1}, {2})",
    "logistic": "logistic({0}, {1}, {2})",
    "written": "-log({2}) - (({0} - {1})/{2})**2/2",
    "half written": "-log({2})/2 - ({0} - {1})**2/(2*{2})",
}


def _laws(names: str, *of: str) -> tuple[str, ...]:
    return tuple(LAWS_OF[name].format(*of) for name in names.split(", "))


AT = ("{outcome}", "{location}", "{spread}")
GRAMMAR: dict[str, tuple[str, ...]] = {
    "term": (*["{law}"] * 3, *["{mixture}"] * 3, "{hurdle}", "{covariance}", "{counts}", "{censored}", "{inflated}",
             "{pieces}"),
    "outcome": ("{y}", "{y}", "{v}"),
    "location": ("{R}", "{R}", "{R}", "{Rz}", "{R}*{x}", "({R.1} + {R.2}*{x})", "({R.1} + {R.2}*{x})",
                 "({R} + {S}*{x})", "({R.1}*{R.2} + {x})"),
    "spread": (*["{S}"] * 5, "{Sz}", "({S.1}*{S.2})", "({S}*{p})", "exp({R.1} + {R.2}*{x})",
               "({S}*sqrt(1 + {R}**2))"),
    "law": (*_laws("normal, laplace, student, logistic, written, half written", *AT),
            "lognormal({p}, {location}, {spread})", "normal(log({p}), {location}, {spread})"),
    # two laws of one outcome
    "mixture": (*["mixture([{W}, 1 - w], {of_y0}, {of_y1})"] * 2, "mixture([{W}, 1 - w], {of_p0}, {of_p1})"),
    **{f"of_y{k}": _laws("normal, laplace, student, logistic", "{y}", f"{{m{k}}}", f"{{s{k}}}") for k in "01"},
    **{f"of_p{k}": (f"lognormal({{p}}, {{m{k}}}, {{s{k}}})",) for k in "01"},
    **{f"m{k}": (*[f"{{R{k}}}"] * 7, *["{location}"] * 3) for k in "01"},
    **{f"s{k}": (*[f"{{S{k}}}"] * 6, *["{spread}"] * 4) for k in "01"},
    # zeros beside a law of what is positive, with or without what makes it one
    "hurdle": (*["where({n} > 0, log({W}) + {n}*log({S}) - {S} - log1p(-exp(-{S})), log1p(-w))"] * 4,
               *["where({n} > 0, log({W}) + -{S} - log1p(-exp(-{S})), log1p(-w))"] * 2,
               *["where({n} > 0, log({W}) + normal(log(maximum({n}, 1)), {location}, {spread}), log1p(-w))"] * 3,
               *["where({n} > 0, log({W}) + lognormal({n}, {location}, {spread}), log1p(-w))"] * 3),
    # a law of two sides of a location, or of residuals that count less far out
    "pieces": ("(where({y} > {location}, ({location} - {y})/{spread}, 2*({y} - {location})/{spread}) - log({spread}))",
               "(where(abs({y} - {location}) < {spread}, -(({y} - {location})/{spread})**2/2, "
               "1/2 - abs({y} - {location})/{spread}) - log({spread}))"),
    # two correlated outcomes, the second given the first, or with a correlation written out
    "covariance": ("normal({y}, {R.1}, {S.1}) + normal({v}, {R.2}*{y}, {S.2})",
                   "-log({S.1}) - log({S.2}) - log1p(-{W}**2)/2 - ((({y} - {R.1})/{S.1} - {W}*({v} - {R.2})/{S.2})**2"
                   "/(1 - {W}**2) + (({v} - {R.2})/{S.2})**2)/2"),
    "counts": ("poisson_log({n}, {location})", "poisson({n}, {spread})"),
    # a law of some data, and nothing or a little of the others
    "censored": tuple(f"{{e}}*({{own}}) + (1 - {{e}})*({other})" for other in ("0", "-{S}", "-{S}**2")),
    "own": _laws("normal, laplace, student, written", *AT),
    "inflated": ("where({n} > 0, log({W}) + poisson({n}, {S}), log(1 - {W} + {W}*exp(-{S})))",),
}  # fmt: skip
"""What likelihoods are made of; R is a real coordinate, S a positive one (an entry, or that of z), W a weight."""
PRIORS = {
    "real": {
        "normal({0}, 0, 5)": 6, "cauchy({0}, 0, 5)": 2, "student_t({0}, 3, 0, 1)": 1, "laplace({0}, 0, 1)": 1, "": 1,
    },
    "positive": {
        "half_normal({0}, 1)": 6, "half_cauchy({0}, 1)": 5, "gamma({0}, 2, 1)": 2, "gamma({0}, 1/2, 1)": 1,
        "lognormal({0}, 0, 1)": 2, "inverse_gamma({0}, 2, 1)": 2, "exponential({0}, 1)": 1, "(-log({0}))": 1, "": 1,
    },
}  # fmt: skip
"""Priors of a coordinate, with how often they are drawn."""
BESIDE = {
    "positive": (
        "(-log({0}))", "log({0})", "(-log({0})/2)", "2*log({0})", "{0}", "{0}/2", "(-1/{0})", "(-{0}**2)",
    ),
    "real": ("{0}", "(-{0}/2)", "{0}**2/60", "(-abs({0}))", "log(1 + {0}**2)/2"),
}  # fmt: skip
"""Terms that are no law."""


class Maker:
    """Makes one random posterior."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.made = Posterior()
        self.fields: list[str] = []

    def posterior(self) -> Posterior:
        """Return it: one or two terms of a likelihood, a prior of each block, now and then a term beside them."""
        for _ in range(self.random.choice((1, 1, 1, 2))):
            self.made.likelihood.append(self.made_of("term"))
        self._priors()
        if self.random.random() < 0.2:
            self._beside()
        self._rows()
        return self.made

    def made_of(self, symbol: str) -> str:
        """Return what the grammar makes of a symbol; one that occurs twice in a formula stands for one thing."""
        known: dict[str, str] = {}

        def make(found: re.Match[str]) -> str:
            if found[1] not in known:
                known[found[1]] = self._one(found[1].partition(".")[0])
            return known[found[1]]

        return re.sub(r"\{([\w.]+)\}", make, self.random.choice(GRAMMAR[symbol]))

    def _one(self, symbol: str) -> str:
        if symbol in GRAMMAR:
            return self.made_of(symbol)
        if symbol == "W":
            self.made.blocks["w"] = "unit"
            return "w"
        kind, at = symbol[:1], symbol[1:]
        field = at if kind in "RS" else symbol
        if field in FIELDS:
            self.fields += [field] if field not in self.fields else []
        if kind not in "RS":
            return symbol
        name, kind = self.random.choice("abc" if kind == "R" else "stu"), "real" if kind == "R" else "positive"
        if not at:
            self.made.blocks[name] = kind
            return name
        self.made.blocks |= {f"{name}{name}[0]": kind, f"{name}{name}[1]": kind}
        return f"{name}{name}[{at}]"

    def _priors(self) -> None:
        for name, kind in self.made.blocks.items():
            block, is_entry = name.partition("[")[0], "[" in name
            if is_entry and not name.endswith("[0]"):
                continue
            if kind == "unit":
                self.made.prior += ["beta(w, 2, 2)"] if self.random.random() < 0.7 else []
                continue
            text = self.random.choices([*PRIORS[kind]], [*PRIORS[kind].values()])[0]
            if text and not (is_entry and text.startswith("(")):
                self.made.prior.append(text.format(block))

    def _beside(self) -> None:
        """Add a term to prior or likelihood that is no law."""
        scalars = {kind: [n for n, own in self.made.blocks.items() if own == kind and "[" not in n] for kind in BESIDE}
        beside = self.random.choice((self.made.prior, self.made.likelihood))
        is_scale = scalars["positive"] and self.random.random() < 0.7
        names = scalars["positive" if is_scale else "real"]
        if names:
            text = self.random.choice(BESIDE["positive" if is_scale else "real"])
            beside.append(text.format(self.random.choice(names)))

    def _rows(self) -> None:
        """Make 2 to 5 data, often with equal numbers, on lines or constant."""
        count = self.random.randint(2, 5)
        drawn: dict[str, Callable[[], Number]] = {
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
    return _keeps(*(min((_log_mass(model, curve, tau, u) for u in points), key=float) for tau in TIMES))


def _keeps(*masses: arb) -> bool:
    first, second, third = masses
    return all(x.is_finite() for x in masses) and bool(second - first > LEAST and third - second > LEAST)


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
            low, width = {"positive": (0.5, 1), "unit": (0.25, 0.5)}.get(kind) or (random.randint(-2, 2), 1)
            found.append(_stays(name, arb(low), arb(width)))
        elif kind == "positive":
            found.append(_powers(name, r, -1 if inward or random.random() < 0.3 else 1))
        elif kind == "unit":
            small = _powers(name, r, -1)
            large = Way(name, partial(lambda at, tau, u: 1 - at(tau, u), small.at), small.log_width, moves=True)
            found.append(small if random.random() < 0.5 else large)
        else:
            found.append(_of_real(name, r, random, aims, inward=inward))
    return found


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
                found[a] = [_exact(random.choice((slope, intercept)))]
    return found


def _exact(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def _stays(name: str, low: arb, width: arb) -> Way:
    return Way(name, lambda tau, u: low + width * u, lambda tau, u: width.log(), moves=False)


def _powers(name: str, r: Fraction, sign: int) -> Way:
    """Return v = exp(sign r tau + u): dv = v du, or r v dtau."""
    by = _exact(r * sign)
    return Way(name, lambda tau, u: (by * tau + u).exp(), lambda tau, u: by * tau + u, moves=True)


def _of_real(name: str, r: Fraction, random: Random, aims: Mapping[str, Sequence[arb]], *, inward: bool) -> Way:
    by, sign = _exact(r), random.choice((-1, 1))
    if inward and random.random() < 0.9:
        to = random.choice(aims[name])
        return Way(name, lambda tau, u: to + sign * u * (-by * tau).exp(), lambda tau, u: -by * tau, moves=False)
    if random.random() < 0.5:
        far = _powers(name, r, 1)
        return Way(name, lambda tau, u: sign * far.at(tau, u), far.log_width, moves=True)
    return Way(name, lambda tau, u: sign * (by * tau + u), lambda tau, u: arb(0), moves=True)
