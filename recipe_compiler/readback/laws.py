"""A draw of a block by its law: which variates it asks for, with which parameters, and what it makes of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from recipe_compiler.algebra.scalars.symbols import length, positions
from recipe_compiler.program.program import SLICES, Draw
from recipe_compiler.readback.mean import stated_value
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.oracle import PLACE, PLACE_ABOVE, UNSET, Entries, Oracle
from recipe_compiler.tensor.scalars import Scalar, Sums


@dataclass(frozen=True, slots=True)
class Law:
    """A law as a function of variates: which ones, with which of its parameters, and T of the entry."""

    variates: tuple[tuple[str, tuple[int, ...]], ...]
    """Law and the places of its parameters; none where it is of one normal."""
    value: Callable[[Entries, Entries], Scalar]
    moves: bool = False
    """Whether it is a flow, with b before it, e = exp(-rate eps), c = (1 - e)/rate and b e/c behind the parameters."""


_GAMMA, _OF_UNIT = (("Gamma", (0,)),), (("Uniform", ()),)
LAWS: Mapping[tuple[str, str], Law] = {
    ("N", ""): Law((), lambda p, n: p[0] + sp.sqrt(p[1]) * n[0]),
    ("LogNormal", ""): Law((), lambda p, n: sp.exp(p[0] + sp.sqrt(p[1]) * n[0])),
    ("Gamma", ""): Law(_GAMMA, lambda p, v: v[0] / p[1]),
    ("InverseGamma", ""): Law(_GAMMA, lambda p, v: p[1] / v[0]),
    ("Exponential", ""): Law((("Exponential", ()),), lambda p, v: v[0] / p[0]),
    ("Beta", ""): Law((("Beta", (0, 1)),), lambda _, v: v[0]),
    ("Beta", "logit"): Law((("Gamma", (0,)), ("Gamma", (1,))), lambda _, v: sp.log(v[0]) - sp.log(v[1])),
    ("Uniform", ""): Law(_OF_UNIT, lambda p, v: p[0] + (p[1] - p[0]) * v[0]),
    ("Uniform", "logit"): Law(_OF_UNIT, lambda _, v: sp.log(v[0]) - sp.log(1 - v[0])),
    ("Poisson", ""): Law((("Poisson", (0,)),), lambda _, v: v[0]),
    ("Binomial", ""): Law((("Binomial", (0, 1)),), lambda _, v: v[0]),
    ("CIR", ""): Law((("Gamma of count", (0, 5)),), lambda p, v: p[4] * v[0], moves=True),
}
"""What an entry of every law is: X of Beta(a, b) is G/(G + F), so that its logit is log G - log F.

Of a block that is drawn via its logarithm, it is that of what stands here.
"""


def solver_of(move: Draw) -> str:
    """Return the support function that makes a normal vector from standard normals; empty where a draw takes none."""
    if move.law != "N" or not move.drawn.shape.sizes:
        return ""
    return "_normal_by_precision" if move.by_precision else "_normal_by_covariance"


@dataclass(slots=True)
class DrawMean:
    """A draw as its Program states it, at the state before; parameters are kept from one reading to the next."""

    move: Draw
    here: Names
    batch: tuple[int, ...] = ()
    """The rows of the minibatch that estimates the first parameter."""
    stated: dict[tuple[int, ...], Scalar] = field(default_factory=dict[tuple[int, ...], Scalar])
    sums: Sums = field(default_factory=Sums)

    def make(self, oracle: Oracle, normals: Sequence[Scalar]) -> tuple[Entries, Entries]:
        """Return the entries of the potential's block after the draw, and its report."""
        move, reported = self.move, list[Scalar]()
        new = self.here.block(move.block)
        shape = move.drawn.shape
        count = len(positions(shape, self.here.sizes))
        old = new[move.start : move.start + count]
        size = length(shape.sizes[-1], self.here.sizes) if shape.sizes else 1
        match move.law:
            case "Categorical" | "Slices":
                report: Scalar = sp.Integer(0)
                drawn = Entries()
                for n in range(count // size):
                    at = [(n, k) if len(shape.sizes) == 2 else (k,) for k in range(size)]
                    logits = [self.parameter(0, *to) for to in at]
                    if move.law == SLICES:
                        place, report = self._above(
                            oracle, logits, [self.parameter(1, *to) for to in at], old[n * size :], report
                        )
                    else:
                        place = oracle.place(PLACE, {"logits": logits})
                    drawn += [sp.Integer(int(k == place)) for k in range(size)]
                reported = [report] if move.reported else []
            case "Dirichlet":  # gammas, and on the diagonal what the simplex does not have: sum(u)/sqrt(K) is normal
                logs = [sp.log(oracle.variate("Gamma", [self.parameter(0, k)])) for k in range(count)]
                level = oracle.variate("N") / sp.sqrt(count) - sp.Add(*logs) / count
                drawn = [log_G + level for log_G in logs]
            case "N" if solver := solver_of(move):
                vector = [self.parameter(0, i) for i in range(count)]
                lower = [self.parameter(1, i, j) for i in range(count) for j in range(i + 1)]
                drawn = oracle.vector(solver, vector, lower, normals)
            case _:
                drawn = [*self._each(oracle, normals, count)]
        new[move.start : move.start + count] = drawn
        return new, reported

    def _each(self, oracle: Oracle, normals: Sequence[Scalar], count: int) -> Iterator[Scalar]:
        """Yield entry by entry what is made of its variates, or of its normal."""
        is_log = self.move.via == "log"
        law = LAWS[self.move.law, "" if is_log else self.move.via]
        for k in range(count):
            parameters = [self.parameter(p, k) for p in range(len(self.move.parameters))]
            parameters += self._moved(k, parameters[1]) if law.moves else ()
            variates = [oracle.variate(name, [parameters[p] for p in places]) for name, places in law.variates]
            value = law.value(parameters, variates or [normals[k]])
            yield sp.log(value) if is_log else value

    def _above(
        self, oracle: Oracle, logits: Entries, weights: Entries, held: Sequence[Scalar], report: Scalar
    ) -> tuple[int, Scalar]:
        """Return a place among those whose weight reaches the level of a row, and the report of levels so far.

        The level is the weight where the row was, less an exponential variate of its own.
        """
        level = sp.Add(*(z * w for z, w in zip(held, weights, strict=False))) - oracle.variate("Exponential")
        reached = [oracle.reaches(w, level) for w in weights]
        own = [logit if reaches else UNSET for logit, reaches in zip(logits, reached, strict=True)]
        if self.move.reported:
            given = {"before": [report], "level": [level], "rest": [self.parameter(2)]}
            (report,) = oracle.ask("the report of a level", given, 1)
        return oracle.place(PLACE_ABOVE, {"logits": own, "log weights": weights, "level": [level]}), report

    def parameter(self, place: int, *at: int) -> Scalar:
        """Return a parameter of an entry; the first one of data is estimated by the minibatch."""
        move, here = self.move, self.here
        if place == 0 and move.datum is not None:
            return self.shape(at[0], self.batch, sp.Rational(length(move.count or 0, here.sizes), len(self.batch)))
        tensor = move.parameters[place]
        key = (place, *(at if tensor.free else ()))
        if key not in self.stated:
            self.stated[key] = stated_value(tensor, here, key[1:], 0, self.sums)
        return self.stated[key]

    def shape(self, k: int, rows: Sequence[int], scale: Scalar) -> Scalar:
        """Return the first parameter of entry k: what holds no data, and `scale` times what some rows add."""
        tensor, datum = self.move.parameters[0], self.move.datum
        at = (k,) if tensor.free else ()
        added = [] if datum is None else [stated_value(datum, self.here, at, row) for row in rows]
        return stated_value(tensor, self.here, at) + scale * sp.Add(*added)

    def _moved(self, k: int, rate: Scalar) -> Entries:
        """Return b of entry k before a flow, exp(-rate eps), (1 - exp(-rate eps))/rate, and the mean of its count."""
        own = self.here.block(self.move.block)[self.move.start + k]
        b, decay = sp.exp(own) if self.move.via else own, sp.exp(-rate * self.here.eps)
        scale = (1 - decay) / rate
        return [b, decay, scale, b * decay / scale]
