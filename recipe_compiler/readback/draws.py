"""Draws of blocks of the target by their laws, read as emitted: parameters, words of the stream, places, transforms.

What a variate is given is compared with the parameters of the law at the state before, what is made of it with the
entries of the block that the law is of; every other entry of the potential's block must stay. The functions that turn
standard normals into a normal vector are read by themselves, at rational numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import length, positions
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower_draw import CATEGORICAL, CATEGORICAL_ABOVE, REACHES, STREAM, TOLD_BELOW
from recipe_compiler.program.program import SLICES, Draw
from recipe_compiler.readback.gradient import BATCH, batches, stated_value
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import Names, rational_of
from recipe_compiler.readback.noise import noise_of, without_noise
from recipe_compiler.readback.point import equal, vanishes
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.step import joined_shape, prepared
from recipe_compiler.tensor.scalars import Scalar, Sums

MOST_PLACES = 3
"""Places of a row, from the first on, with which a draw of a discrete block is read."""

Value = Any
Scalars = Sequence[Scalar]


ONE_EACH, LEVEL_AND_ONE = "expected one in each of its rows", "expected a level and a place in each of its rows"


def _told(levels: int) -> sp.Symbol:
    """Return what is told of so many levels."""
    return sp.Symbol(f"too few of {levels}")


def _itself(draw: Scalar) -> Scalar:
    return draw


VARIATES: Mapping[str, tuple[str, Callable[[Scalar], Scalar]]] = {
    "_next_gamma": ("Gamma", _itself),
    "_next_log_gamma": ("Gamma", sp.log),
    "_next_beta": ("Beta", _itself),
    "_next_exponential": ("Exponential", _itself),
    "_next_uniform": ("Uniform", _itself),
    "_next_normal": ("N", _itself),
    "_next_poisson": ("Poisson", _itself),
    "_next_binomial": ("Binomial", _itself),
    "_next_gamma_of_count": ("Gamma of count", _itself),
    "_next_log_gamma_of_count": ("Gamma of count", sp.log),
}
"""The laws that support functions draw from, of rate 1 or on (0, 1), and what they return of the draw."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A law as a function of variates: which ones, with which of its parameters, and T of the entry."""

    variates: tuple[tuple[str, tuple[int, ...]], ...]
    """Law and the places of its parameters; none where it is of one normal."""
    value: Callable[[Scalars, Scalars], Scalar]
    moves: bool = False
    """Whether it is a flow, with b before it, e = exp(-rate eps), c = (1 - e)/rate and b e/c behind the parameters."""


def _log_odds(u: Scalar) -> Scalar:
    return sp.log(u) - sp.log(1 - u)


_COUNTED = (("Gamma of count", (0, 5)),)
_GAMMA, _OF_ONE, _OF_UNIT = (("Gamma", (0,)),), (("Exponential", ()),), (("Uniform", ()),)
MEANINGS: Mapping[tuple[str, str], _Meaning] = {
    ("N", ""): _Meaning((), lambda p, n: p[0] + sp.sqrt(p[1]) * n[0]),
    ("LogNormal", "log"): _Meaning((), lambda p, n: p[0] + sp.sqrt(p[1]) * n[0]),
    ("LogNormal", ""): _Meaning((), lambda p, n: sp.exp(p[0] + sp.sqrt(p[1]) * n[0])),
    ("Gamma", ""): _Meaning(_GAMMA, lambda p, v: v[0] / p[1]),
    ("Gamma", "log"): _Meaning(_GAMMA, lambda p, v: sp.log(v[0]) - sp.log(p[1])),
    ("InverseGamma", ""): _Meaning(_GAMMA, lambda p, v: p[1] / v[0]),
    ("InverseGamma", "log"): _Meaning(_GAMMA, lambda p, v: sp.log(p[1]) - sp.log(v[0])),
    ("Exponential", ""): _Meaning(_OF_ONE, lambda p, v: v[0] / p[0]),
    ("Exponential", "log"): _Meaning(_OF_ONE, lambda p, v: sp.log(v[0]) - sp.log(p[0])),
    ("Beta", ""): _Meaning((("Beta", (0, 1)),), lambda _, v: v[0]),
    ("Beta", "logit"): _Meaning((("Gamma", (0,)), ("Gamma", (1,))), lambda _, v: sp.log(v[0]) - sp.log(v[1])),
    ("Uniform", ""): _Meaning(_OF_UNIT, lambda p, v: p[0] + (p[1] - p[0]) * v[0]),
    ("Uniform", "logit"): _Meaning(_OF_UNIT, lambda _, v: _log_odds(v[0])),
    ("Poisson", ""): _Meaning((("Poisson", (0,)),), lambda _, v: v[0]),
    ("Binomial", ""): _Meaning((("Binomial", (0, 1)),), lambda _, v: v[0]),
    ("CIR", ""): _Meaning(_COUNTED, lambda p, v: p[4] * v[0], moves=True),
    ("CIR", "log"): _Meaning(_COUNTED, lambda p, v: sp.log(v[0]) + sp.log(p[4]), moves=True),
}
"""What an entry of every law is: X of Beta(a, b) is G/(G + F), so that its logit is log G - log F."""


@dataclass(slots=True)
class Words:
    """The words of a random stream as draws use them: each draw must take the last state, and advances it."""

    here: Names
    drawn: list[tuple[str, list[Value], Scalar]] = field(default_factory=list)
    """Law, parameters and the variate of every draw."""
    reached: list[tuple[Scalar, Scalar, bool]] = field(default_factory=list)
    """What was compared with a level, the level, and whether it reaches it."""
    compared: list[list[Value]] = field(default_factory=list)
    """What was told before, the level, and what is left, of every level that is compared with that."""
    first: int = 0
    """Which place the first category is: that of the next is one further, so that each place is one that is drawn."""

    @property
    def now(self) -> list[sp.Symbol]:
        """The words of the stream at this point."""
        return [sp.Symbol(f"word[{k}, {len(self.drawn)}]") for k in range(4)]

    def reaches(self, arguments: list[Value]) -> bool:
        """Return whether a place reaches a level: of any two in a row one does, so that both ways are read."""
        self.reached.append((*arguments, (self.first + len(self.reached)) % 2 == 0))
        return self.reached[-1][-1]

    def below(self, arguments: list[Value]) -> sp.Symbol:
        """Return what is told of a level after so many others."""
        self.compared.append(arguments)
        return _told(len(self.compared))

    def fill(self, name: str, arguments: list[Value]) -> Value:
        """Draw one variate: check the state passed, record law and parameters, return a symbol and a new state."""
        given, words = arguments[:-4], arguments[-4:]
        if words != self.now:
            raise CompilerError(f"the emitted {name} was read back and uses words that are not the last of the stream")
        if name in (CATEGORICAL, CATEGORICAL_ABOVE):
            return (self._place(name, given), *self.now)
        law, kept = VARIATES[name]
        draw = self.here.valued(sp.Symbol(f"variate[{len(self.drawn)}]", positive=True))
        draw = draw / 2 if self.here.at_point else draw  # below 1, as a uniform one is
        self.drawn.append((law, given, draw))
        return (kept(draw), *self.now)

    def _place(self, name: str, arguments: list[Value]) -> int:
        """Return a place that is drawn by logits, of which sums are left in the last argument: not to be read.

        Above a level any place may be returned: which ones it is drawn among says what else is given.
        """
        logits, *above, sums = arguments
        if name == CATEGORICAL and any(logit is None for logit in logits):
            raise CompilerError("the emitted draw was read back and uses logits that are not set")
        place = (self.first + len(self.drawn)) % len(logits)
        heights = [list(above[0]), *above[1:]] if above else []
        self.drawn.append((name, [list(logits), *heights], place))
        logits[:] = [None] * len(logits) if above else list(logits)
        sums[:] = [None] * len(sums)
        return place


def check_draws(module: Module, here: Names) -> None:
    """Check that every draw is from the law that its Program states, and changes only the block of that law.

    Parameters are compared as functions of the state before, the data and constants; the entries made of the variate
    with those of the block; all other entries have to stay. N(inv(P) u, inv(P)) and N(m, S) are checked where they are
    made of standard normals, at rational numbers of sizes 1, 2, 3.

    Raises:
        CompilerError: a draw differs; names what does.
    """
    cycle, kernel = module.program.cycle, module.kernel
    if cycle is None:
        return
    here = here.for_gradients
    for move, procedure in zip(cycle.draws, kernel.draws, strict=True):
        if move.law in ("Categorical", SLICES):
            _check_places(module, here, procedure, move)
        elif move.datum is None:
            _Reading.of(module, here, procedure, move, ()).check()
        else:
            _check_batches(module, here, procedure, move)
    names = {name for move in cycle.draws if (name := solver_of(move))}
    for name in sorted(names):
        for size in (1, 2, 3):
            _check_solver(module, name, size)


def _check_places(module: Module, here: Names, procedure: Procedure, move: Draw) -> None:
    """Check a draw of a discrete block with each place drawn in each row; of many places with the first of them."""
    known = Known()
    for first in range(min(length(move.drawn.shape.sizes[-1], here.sizes), MOST_PLACES)):
        replace(_Reading.of(module, here, procedure, move, (), first), known=known).check()


def _check_batches(module: Module, here: Names, procedure: Procedure, move: Draw) -> None:
    """Check a draw batch by batch, its first parameter to be that of all data on average; at a point one batch."""
    count = length(move.count or 0, here.sizes)
    every = [tuple(range(BATCH, 0, -1))] if here.at_point else batches(module.program, count, BATCH)
    read = [_Reading.of(module, here, procedure, move, batch) for batch in every]
    for reading in read:
        reading.check()
    for k in range(0 if here.at_point else len(read[0].words.drawn)):
        mean = sp.Add(*(own.words.drawn[k][1][0] for own in read)) / len(every)
        whole = read[0].shape(k, tuple(range(count)), sp.Integer(1))
        equal(mean, whole, f"the mean over all {len(every)} batches of parameter 1 of the law of {move.name}", here)


def solver_of(move: Draw) -> str:
    """Return the support function that makes a normal vector from standard normals; empty where a draw takes none."""
    if move.law != "N" or not move.drawn.shape.sizes:
        return ""
    return "_normal_by_precision" if move.by_precision else "_normal_by_covariance"


def read_sums(module: Module, here: Names, reader: Reader, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return what draws use that depends on data and constants alone, as the emitted text computes it."""
    sums = module.kernel.sums
    if sums is None:
        return {}
    found = {array.name: np.full(joined_shape(array.sizes, here.sizes), None, object) for array in sums.outputs}
    reader.call(sums.name, {**given, **found})
    return found


@dataclass(slots=True)
class Known:
    """Parameters of a law as its Program states them, by place and entry, and the sums in them: kept between readings.

    They are functions of the state before, whatever is drawn.
    """

    stated: dict[tuple[int, tuple[int, ...]], Scalar] = field(default_factory=dict[tuple[int, tuple[int, ...]], Scalar])
    sums: Sums = field(default_factory=Sums)


@dataclass(slots=True)
class _Reading:
    move: Draw
    here: Names
    normals: list[Scalar]
    words: Words
    vectors: list[list[np.ndarray]]
    """What the function of a normal vector was given, and what it wrote."""
    new: list[Scalar]
    stream: list[Scalar]
    """The words that it left."""
    batch: tuple[int, ...]
    """The rows of the minibatch that it was given."""
    told: list[Scalar]
    """What it tells beside what is drawn."""
    known: Known = field(default_factory=Known)

    @classmethod
    def of(
        cls, module: Module, here: Names, procedure: Procedure, move: Draw, batch: tuple[int, ...], first: int = 0
    ) -> "_Reading":
        reader = Reader(module.text, matrices=matrices_of(here))
        given: dict[str, Any] = prepared(module, here, reader)
        given |= {block.name: np.array(here.block(block), object) for block in module.program.blocks}
        given |= {datum.name: here.data(datum) for datum in module.program.data}
        given |= read_sums(module, here, reader, given)
        given["batch"] = np.array(batch, object)
        own = [a for a in procedure.inputs if a in module.kernel.noises]
        normals: list[Scalar] = []
        for array in own:
            (count,) = joined_shape(array.sizes, here.sizes)
            symbols = [sp.Symbol(f"{array.name}[{k}]", real=True) for k in range(count)]
            normals += symbols
            given[array.name] = np.array(symbols, object)
        words, vectors = Words(here, first=first), list[list[np.ndarray]]()
        stream = np.array(words.now, object)
        given[STREAM.name] = stream
        for array in (*procedure.outputs, *procedure.work):
            given[array.name] = np.full(joined_shape(array.sizes, here.sizes), None, object)
        for name in (*VARIATES, CATEGORICAL, CATEGORICAL_ABOVE):
            reader.fills[name] = lambda arguments, name=name: words.fill(name, arguments)
        reader.fills |= {REACHES: words.reaches, TOLD_BELOW: words.below}
        for name in ("_normal_by_precision", "_normal_by_covariance"):
            reader.fills[name] = lambda arguments, name=name: _vector(vectors, solver_of(move) == name, arguments)
        before = {name: np.array(value, copy=True) for name, value in given.items() if isinstance(value, np.ndarray)}
        reader.call(procedure.name, given)
        for array in procedure.inputs:
            if array.sizes and array != STREAM and not np.array_equal(before[array.name], given[array.name]):
                raise CompilerError(f"the emitted {procedure.name} was read back and changes {array.name}")
        new, *told = (list(given[array.name]) for array in procedure.outputs)
        beside = [entry for entries in told for entry in entries]
        return cls(move, here, normals, words, vectors, new, list(stream), batch, beside)

    def check(self) -> None:
        """Check what stays, what is drawn, and the words that are left."""
        move, says = self.move, self.move.name
        self._demand(all(entry is not None for entry in self.new), f"does not set all of {move.new}")
        count = len(list(positions(move.drawn.shape, self.here.sizes)))
        own = range(move.start, move.start + count)
        old = self.here.block(move.block)
        for k, (read, before) in enumerate(zip(self.new, old, strict=True)):
            if k not in own:
                self._demand(read == before, f"changes entry {k} of {move.block.name}, which is not in {says}")
        self._demand(self.stream == self.words.now, f"does not leave the last words of its stream after {says}")
        entries = self.new[move.start : move.start + count]
        CHECKS.get(move.law, _Reading.check_entries)(self, entries)

    def _parameter(self, place: int, *at: int) -> Scalar:
        if place == 0 and self.move.datum is not None:
            return self.shape(
                at[0], self.batch, sp.Rational(length(self.move.count or 0, self.here.sizes), len(self.batch))
            )
        tensor, stated = self.move.parameters[place], self.known.stated
        at = at if tensor.free else ()
        if (place, at) not in stated:
            stated[place, at] = stated_value(tensor, self.here, at, 0, self.known.sums)
        return stated[place, at]

    def shape(self, k: int, rows: Sequence[int], scale: Scalar) -> Scalar:
        """Return the first parameter of entry k: what holds no data, and `scale` times what some rows add."""
        tensor, datum = self.move.parameters[0], self.move.datum
        at = (k,) if tensor.free else ()
        added = [] if datum is None else [stated_value(datum, self.here, at, row, {}) for row in rows]
        return stated_value(tensor, self.here, at, 0, {}) + scale * sp.Add(*added)

    def _moved(self, k: int, rate: Scalar) -> Scalars:
        """Return b of entry k before a flow, exp(-rate eps), (1 - exp(-rate eps))/rate, and the mean of its count."""
        own = self.here.block(self.move.block)[self.move.start + k]
        b, decay = sp.exp(own) if self.move.via else own, sp.exp(-rate * self.here.eps)
        scale = (1 - decay) / rate
        return (b, decay, scale, b * decay / scale)

    def check_entries(self, entries: Scalars) -> None:
        """Check the entries one by one: the variates of each with their parameters, and what is made of them."""
        move, says = self.move, self.move.name
        meaning = MEANINGS[move.law, move.via]
        drawn = list(self.words.drawn)
        expected = len(meaning.variates) * len(entries)
        self._demand(len(drawn) == expected, f"takes {len(drawn)} variates for {says}, expected {expected}")
        self._demand(bool(meaning.variates) or len(self.normals) == len(entries), f"uses wrong normals for {says}")
        for k, entry in enumerate(entries):
            where = f"{says}[{k}]" if move.drawn.shape.sizes else says
            parameters = [self._parameter(p, k) for p in range(len(move.parameters))]
            parameters += self._moved(k, parameters[1]) if meaning.moves else ()
            made: list[Scalar] = []
            for law, places in meaning.variates:
                read, given, variate = drawn.pop(0)
                self._demand(read == law, f"draws from {read} for {where}, expected {law}")
                for n, (place, value) in enumerate(zip(places, given, strict=True), 1):
                    own = (n, f"variate {law}") if meaning.moves else (place + 1, f"law {move.law}")
                    what = f"parameter {own[0]} of the {own[1]} of {where}"
                    equal(sp.Integer(0) + value, parameters[place], what, self.here)
                made.append(variate)
            normal = [self.normals[k]] if not meaning.variates else []
            equal(entry, meaning.value(parameters, made or normal), f"the draw of {where}", self.here)

    def check_rows(self, entries: Scalars) -> None:
        """Check logits entry by entry, and that a one is put at the place that is drawn by them, zeros elsewhere."""
        drawn = self.words.drawn
        rows = self._rows(entries)
        self._demand(len(drawn) == len(rows), f"draws {len(drawn)} places for {self.move.name}, {ONE_EACH}")
        for n, (row, (law, given, place)) in enumerate(zip(rows, drawn, strict=True)):
            self._demand(law == CATEGORICAL, f"draws from {law} for {self._row(n)}, not by its logits")
            self._demand(len(given[0]) == len(row), f"draws {self._row(n)} by {len(given[0])} logits")
            for k, logit in enumerate(given[0]):
                self._logit(n, k, logit)
            self._one(n, row, place)

    def check_slices(self, entries: Scalars) -> None:
        """Check of every row the level, which places are compared with it, the logits of those that reach it.

        The level is that of the place where the row was, less an exponential variate of its own.
        """
        words, rows, told = self.words, self._rows(entries), sp.Integer(0)
        drawn, size = list(words.drawn), len(rows[0])
        held = self.here.block(self.move.block)[self.move.start :]
        self._demand(len(drawn) == 2 * len(rows), f"draws {len(drawn)} variates for {self.move.name}, {LEVEL_AND_ONE}")
        self._demand(len(words.reached) == len(entries), f"compares {len(words.reached)} places of {self.move.name}")
        for n, row in enumerate(rows):
            (kind, _, E), (law, given, place) = drawn[2 * n : 2 * n + 2]
            says = self._row(n)
            self._demand(kind == "Exponential", f"draws from {kind} for the level of {says}, expected Exponential")
            self._demand(law == CATEGORICAL_ABOVE, f"draws from {law} for {says}, not above its level")
            logits, log_w, level = given
            stated = [self._parameter(1, *self._at(n, k)) for k in range(size)]
            own = sp.Add(*(held[n * size + k] * w for k, w in enumerate(stated))) - E
            equal(level, own, f"the level of {says}", self.here)
            for k, (height, compared, reaches) in enumerate(words.reached[n * size : (n + 1) * size]):
                equal(height, stated[k], f"the value compared with the level of {says}, place {k}", self.here)
                equal(log_w[k], stated[k], f"the log weight of place {k} of {says}, above its level", self.here)
                equal(compared, level, f"the level that place {k} of {says} is compared with", self.here)
                self._demand((logits[k] is not None) == reaches, f"sets logit {k} of {says} where it must not be read")
                if reaches:
                    self._logit(n, k, logits[k])
            self._one(n, row, place)
            if self.move.told:
                self._demand(len(words.compared) > n, f"does not compare the level of {says} with the remaining weight")
                before, given_level, left = words.compared[n]
                equal(left, self._parameter(2), f"the remaining weight beside the places of {says}", self.here)
                equal(given_level, level, f"the level of {says} compared with the remaining weight", self.here)
                self._demand(before == told, f"drops the report of rows before {says}")
                told = _told(n + 1)
        told_of = f"reports wrongly whether the places of {self.move.name} were too few"
        self._demand(not self.move.told or self.told == [told], told_of)

    def _rows(self, entries: Scalars) -> list[Scalars]:
        size = length(self.move.drawn.shape.sizes[-1], self.here.sizes)
        return [entries[k : k + size] for k in range(0, len(entries), size)]

    def _at(self, n: int, k: int) -> tuple[int, ...]:
        """Return where place k of row n stands."""
        return (n, k) if len(self.move.drawn.shape.sizes) == 2 else (k,)

    def _row(self, n: int) -> str:
        return f"{self.move.name}[{n}]" if len(self.move.drawn.shape.sizes) == 2 else self.move.name

    def _logit(self, n: int, k: int, logit: Scalar) -> None:
        equal(sp.Integer(0) + logit, self._parameter(0, *self._at(n, k)), f"logit {k} of {self._row(n)}", self.here)

    def _one(self, n: int, row: Scalars, place: Scalar) -> None:
        found = [sp.Integer(int(k == place)) for k in range(len(row))]
        self._demand(list(row) == found, f"does not set the one of {self._row(n)} at the place drawn")

    def check_shares(self, entries: Scalars) -> None:
        """Check the gammas of all shares, and that the variables are their logarithms less what is not the simplex's.

        sum(u)/sqrt(K) is standard normal, and no gamma's.
        """
        move, says, drawn, count = self.move, self.move.name, self.words.drawn, len(entries)
        laws = [law for law, _, _ in drawn]
        self._demand(laws == ["Gamma"] * count + ["N"], f"draws {laws} for {says}, expected a Gamma a share and an N")
        *gammas, (_, _, normal) = drawn
        for k, (_, given, _) in enumerate(gammas):
            what = f"parameter 1 of the law {move.law} of {says}[{k}]"
            equal(sp.Integer(0) + given[0], self._parameter(0, k), what, self.here)
        logs = [sp.log(gamma) for _, _, gamma in gammas]
        level = normal / sp.sqrt(count) - sp.Add(*logs) / count
        for k, (entry, log_G) in enumerate(zip(entries, logs, strict=True)):
            equal(entry, log_G + level, f"the draw of {says}[{k}]", self.here)

    def check_normal(self, entries: Scalars) -> None:
        """Check a normal number as an entry, a normal vector by what makes it."""
        (self._check_vector if solver_of(self.move) else self.check_entries)(entries)

    def _check_vector(self, entries: Scalars) -> None:
        """Check what the function of a normal vector is given, and that it writes into the block."""
        move, says, count = self.move, self.move.name, len(entries)
        self._demand(len(self.vectors) == 1, f"draws {says} {len(self.vectors)} times, expected once")
        ((vector, matrix, normals, out),) = self.vectors
        self._demand(list(normals) == self.normals, f"uses normals for {says} that are not its own")
        self._demand(list(out) == list(entries), f"does not store the draw in {says}")
        words = ("u", "P") if move.by_precision else ("the mean", "the covariance")
        for i in range(count):
            equal(vector[i], self._parameter(0, i), f"{words[0]}[{i}] of the law of {says}", self.here)
            for j in range(i + 1):  # the lower triangle is what is read
                equal(matrix[i, j], self._parameter(1, i, j), f"{words[1]}[{i},{j}] of the law of {says}", self.here)

    def _demand(self, right: bool, what: str) -> None:
        if not right:
            raise CompilerError(f"the emitted draw was read back and {what}")


CHECKS: Mapping[str, Callable[[_Reading, Scalars], None]] = {
    "N": _Reading.check_normal,
    "Categorical": _Reading.check_rows,
    SLICES: _Reading.check_slices,
    "Dirichlet": _Reading.check_shares,
}
"""How the entries of a block are read that are drawn at once; those of others one by one."""


def _vector(found: list[list[np.ndarray]], right: bool, arguments: list[Value]) -> None:
    """Note what a normal vector is made of, and write symbols for it."""
    if not right:
        raise CompilerError("the emitted draw was read back and uses a covariance as a precision, or the reverse")
    vector, matrix, normals, out = arguments
    if not all(isinstance(value, np.ndarray) for value in arguments) or not len(vector) == len(normals) == len(out):
        raise CompilerError("the emitted draw was read back and makes a normal vector of other sizes")
    given = [np.array(value, copy=True) for value in (vector, matrix, normals)]
    out[:] = [sp.Symbol(f"drawn[{k}]") for k in range(len(out))]
    found.append([*given, np.array(out, copy=True)])


def _check_solver(module: Module, name: str, size: int) -> None:
    """Check that a function writes N(inv(P) u, inv(P)), or N(mean, cov), at rational numbers.

    Raises:
        CompilerError: it does not.
    """
    vector = np.array([rational_of(f"{name} u[{k}]") for k in range(size)], object)
    rows = [[rational_of(f"{name} {i},{j}") + 2 * (i == j) for j in range(size)] for i in range(size)]
    factor = sp.Matrix(rows)
    matrix = factor * factor.T
    normals = [sp.Symbol(f"n[{k}]", real=True) for k in range(size)]
    out = np.full(size, None, object)
    reader = Reader(module.text)
    lower = np.array([[matrix[i, j] if j <= i else None for j in range(size)] for i in range(size)], object)
    arguments = (vector.copy(), lower, np.array(normals, object), out)
    names = [argument.arg for argument in reader.functions[name].args.args]
    reader.call(name, dict(zip(names, arguments, strict=True)))
    entries = [sp.expand(entry) for entry in out]
    mean = sp.Matrix(without_noise(entries, normals))
    covariance = sp.Matrix(noise_of(entries, normals, []).covariance())
    of_mean, of_covariance = (matrix * mean, matrix * covariance) if "precision" in name else (mean, covariance)
    stated = sp.eye(size) if "precision" in name else matrix
    off = [*(of_mean - sp.Matrix(vector)), *(of_covariance - stated)]
    if not all(map(vanishes, off)):
        raise CompilerError(f"the emitted {name} was read back and does not draw from the given distribution")
