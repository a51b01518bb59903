"""Lowering of a draw of a block of the target from its law: a procedure that writes the potential's block.

A normal vector takes its standard normals from those that the chain draws in advance. How many random words other laws
take depends on the state, so their procedure is given the chain's own stream and advances it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.program import program as program_
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import block_array, entry_at, nested, plus
from recipe_compiler.program.contraction import at_loops, filled, scalar, scalars_at
from recipe_compiler.program.definition import Definition, Definitions
from recipe_compiler.program.given import inputs_of
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.logs_of_shares import logs_of_shares
from recipe_compiler.program.loops import (
    STREAM_WORDS,
    Argument,
    Array,
    Assign,
    Body,
    Call,
    Constant,
    Increment,
    Invoke,
    Kronecker,
    Raise,
    Ref,
    Scalar,
    Statement,
    Stream,
    Times,
    View,
    When,
)
from recipe_compiler.program.lower_constraint import ConstraintCode, around_by_logs
from recipe_compiler.program.lower_gradient import Out, sums_of
from recipe_compiler.program.program import SLICES, Draw, Program
from recipe_compiler.program.traverse import names_in
from recipe_compiler.tensor.atoms import occurring
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Index, Tensor

STREAM = Array("noise_state", (4,))
"""The words of the chain's own stream."""

Scalars = tuple[Scalar, ...]

ONE, MINUS = Constant(Fraction(1)), Constant(Fraction(-1))
EPS = Ref(program_.EPS)


@dataclass(frozen=True, slots=True)
class Computed:
    """How an entry of a law is computed, from variates whose parameters are the law's own, or from normals."""

    parameters: tuple[str, ...]
    """What the parameters of the law are called."""
    variates: tuple[tuple[str, str, tuple[int, ...]], ...]
    """Name, support function, and the places of the parameters that it takes; none where it is of a normal."""
    value: Callable[[Scalars, Scalars], Scalar]
    """The entry from the parameters and the variates, or the normal."""


def _quotient(above: Scalar, below: Scalar) -> Scalar:
    return Times((above, Raise(below, Fraction(-1))))


def _log(value: Scalar) -> Scalar:
    return Call("log", (value,))


def _less(left: Scalar, right: Scalar) -> Scalar:
    return plus((left, Times((MINUS, right))))


def _normal(p: Scalars, normal: Scalars) -> Scalar:
    return plus((p[0], Times((Call("sqrt", (p[1],)), *normal))))


_SHAPE_RATE, _SHAPE_SCALE = ("shape", "rate"), ("shape", "scale")
_GAMMA, _LOG_GAMMA = (("G", "_next_gamma", (0,)),), (("log_G", "_next_log_gamma", (0,)),)
_LOG_GAMMAS = (("log_G", "_next_log_gamma", (0,)), ("log_F", "_next_log_gamma", (1,)))
_EXPONENTIAL, _UNIFORM = (("E", "_next_exponential", ()),), (("u", "_next_uniform", ()),)

COMPUTED: Mapping[tuple[str, str], Computed] = {
    ("N", ""): Computed(("mean", "variance"), (), _normal),
    ("LogNormal", "log"): Computed(("mean", "variance"), (), _normal),
    ("LogNormal", ""): Computed(("mean", "variance"), (), lambda p, n: Call("exp", (_normal(p, n),))),
    ("Gamma", "log"): Computed(_SHAPE_RATE, _LOG_GAMMA, lambda p, v: _less(v[0], _log(p[1]))),
    ("Gamma", ""): Computed(_SHAPE_RATE, _GAMMA, lambda p, v: _quotient(v[0], p[1])),
    ("InverseGamma", "log"): Computed(_SHAPE_SCALE, _LOG_GAMMA, lambda p, v: _less(_log(p[1]), v[0])),
    ("InverseGamma", ""): Computed(_SHAPE_SCALE, _GAMMA, lambda p, v: _quotient(p[1], v[0])),
    ("Exponential", "log"): Computed(("rate",), _EXPONENTIAL, lambda p, v: _less(_log(v[0]), _log(p[0]))),
    ("Exponential", ""): Computed(("rate",), _EXPONENTIAL, lambda p, v: _quotient(v[0], p[0])),
    ("Beta", "logit"): Computed(("a", "b"), _LOG_GAMMAS, lambda _, v: _less(v[0], v[1])),
    ("Beta", ""): Computed(("a", "b"), (("X", "_next_beta", (0, 1)),), lambda _, v: v[0]),
    ("Uniform", "logit"): Computed(("low", "high"), _UNIFORM, lambda _, v: _less(_log(v[0]), _log(_less(ONE, v[0])))),
    ("Uniform", ""): Computed(("low", "high"), _UNIFORM, lambda p, v: plus((p[0], Times((_less(p[1], p[0]), v[0]))))),
    ("Poisson", ""): Computed(("mean",), (("count", "_next_poisson", (0,)),), lambda _, v: v[0]),
    ("Binomial", ""): Computed(("n", "p"), (("count", "_next_binomial", (0, 1)),), lambda _, v: v[0]),
}
"""How the laws are drawn entry by entry, of blocks as they are and in an unbounded variable."""

CATEGORICAL = "_next_categorical"
"""What draws the place of the one in a row, by inverting sums of exp(logit - maximum); of one word of the stream."""

CATEGORICAL_ABOVE = "_next_categorical_above"
"""The same among the places whose weight is at a level or above it."""

REACHES = "_reaches"
"""What finds whether a weight is at a level or above it."""

TOLD_BELOW = "_told_below"
"""What tells 1 where a level is below what no place holds, else what was told of rows before."""

OF_NORMALS = frozenset(law for law, _ in COMPUTED if not COMPUTED[law, _].variates)
"""The laws that take normals alone, of which a chain draws as many at every step."""


def is_computed(law: str, via: str) -> bool:
    """Whether steps draw from a law, for a block sampled as it is, in a variable, or in those of its set."""
    return (law, via) in LOWERED


@dataclass(frozen=True, slots=True)
class LoweredDraw:
    """A draw as a procedure, with the normals and constants that it takes."""

    procedure: Procedure
    """Its inputs are left out, but for normals and the stream."""
    normals: tuple[Array, ...]
    of_data: tuple[Definition, ...] = ()
    """What it takes of constants and data alone: the same along the chain."""

    def reading(self, readable: tuple[Array, ...], program: Program) -> "LoweredDraw":
        """Return the draw with its inputs among all arrays that a chain has for it."""
        fixed = (definition.array for definition in self.of_data)
        inputs = (*inputs_of(self.procedure, readable, program), *fixed, *self.procedure.inputs)
        return replace(self, procedure=replace(self.procedure, inputs=inputs))


def lower_draw(defined: Definitions, move: Draw, data: tuple[Datum, ...]) -> LoweredDraw:
    """Return the procedure that writes a new value of the potential's block, b redrawn and the rest unchanged."""
    drawn, theta = move.drawn, move.block
    out = defined.naming(f"{drawn.name}_drawn") if move.stacked else move.new
    plain = [(block, start) for block, start in move.places if move.stacked and block.constraint is None]
    views = [View(block.name, theta.name, start, block.shape.sizes) for block, start in plain]
    views += [View(out, move.new, move.start, drawn.sampled.shape.sizes)] if move.stacked else []
    defined.forget()
    sets, computed = _with_sets(defined, move)
    views += [view for own in sets for view in own.views]
    names, body, normals, work = LOWERED[move.law, move.via](defined, computed, out)
    of_data = _of_data(defined, data)
    changing = tuple(definition for definition in defined.changing if definition not in of_data)
    before = tuple(statement for own in sets for statement in own.before)
    before += tuple(statement for definition in changing for statement in definition.body)
    arrays = tuple(array for own in sets for array in own.arrays)
    work = (*arrays, *(definition.array for definition in changing if definition.array.sizes), *work)
    loops = defined.loops(theta.shape.sizes)
    at = entry_at(loops)
    kept = nested(loops, (Assign(Ref(move.new, at), Ref(theta.name, at)),)) if move.stacked else ()
    stream = (STREAM,) if any(isinstance(statement, Stream) for statement in body) else ()
    stream += (Array(EPS.name),) if move.law == "CIR" else ()
    name = defined.naming(f"{'flow' if move.law == 'CIR' else 'draw'}_{move.name}")
    procedure = Procedure(
        name,
        _says(move, names),
        (block_array(move.new, theta.shape), *((Array(move.reported, (1,)),) if move.reported else ())),
        (*normals, *stream),
        work,
        (*views, *before, *kept, *body),
    )
    return LoweredDraw(procedure, normals, of_data)


def _with_sets(defined: Definitions, move: Draw) -> tuple[tuple[ConstraintCode, ...], Draw]:
    """Return what makes the blocks that lie in sets of their variables, where a law takes them, and that law."""
    read = frozenset[str]().union(*map(names_of, move.parameters))
    sets = [(block, start) for block, start in move.places if block.constraint is not None and block.name in read]
    made, parameters = around_by_logs(defined, sets, move.block.name, move.parameters)
    return made, replace(move, parameters=tuple(map(logs_of_shares, parameters)))


def _of_data(defined: Definitions, data: tuple[Datum, ...]) -> tuple[Definition, ...]:
    """Return the arrays that are made of constants and data alone."""
    sizes = {size for datum in data for size in (datum.size, *datum.shape.sizes) if isinstance(size, str)}
    known = defined.constants | {datum.name for datum in data} | sizes | {"total"}
    found: list[Definition] = []
    for definition in defined.changing:
        if definition.array.sizes and names_in(definition.body) <= known | {definition.array.name}:
            found.append(definition)
            known |= {definition.array.name}
    return tuple(found)


def _says(move: Draw, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a draw computes, in words; `names` are those of the parameters in its body."""
    if move.law == "CIR":
        return _says_flow(move, names)
    if move.law == SLICES:
        return _says_slices(move, names)
    law = f"N(inv({names[1]}) {names[0]}, inv({names[1]}))" if move.by_precision else f"{move.law}({', '.join(names)})"
    says = f"{_part(move)} is drawn from {law}, its conditional distribution."
    return (says, *(f"{_stated(*one)}." for one in zip(names, move.parameters, strict=True)))


def _stated(name: str, tensor: Tensor) -> str:
    """Return an equation for the entries of an array."""
    at = ",".join(index.label for index in tensor.free)
    return f"{name}{at and f'[{at}]'} = {text(tensor)}"


def _part(move: Draw) -> str:
    part = f"{move.new}, {move.block.name} with a new {move.name}" if move.stacked else f"{move.new}"
    by_set = f" (here the variables of its {move.via})" if move.drawn.constraint is not None else ""
    via = by_set or (f" (here its {move.via})" if move.via else "")
    return f"{part}: {move.name}{via}"


def _says_slices(move: Draw, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return how rows are drawn below levels, in words."""
    logits, log_w, level, *left = names
    beyond = (f"{move.reported} is 1 where a level is below {_stated(left[0], move.parameters[2])}.",) if left else ()
    return (
        f"{_part(move)} is drawn by slices, which preserve its distribution: {level} = {log_w}[k] - E, E ~ "
        f"Exponential(1), k the place of a row; then its place from Categorical({logits}) among those with "
        f"{log_w} >= {level}.",
        f"{_stated(log_w, move.parameters[1])}.",
        f"{_stated(logits, move.parameters[0])}.",
        *beyond,
    )


def _says_flow(move: Draw, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return how a block is moved on, in words."""
    b, (shape, rate) = move.name, names
    by_batch = f" + (N/n) sum over the batch of {text(move.datum)}" if move.datum is not None else ""
    return (
        f"{_part(move)} moves along d {b} = ({shape} - {rate} {b}) dt + sqrt(2 {b}) dW for the time eps, exactly:",
        f"scale Gamma({shape} + K, 1), K ~ Poisson({b} exp(-{rate} eps)/scale), scale = (1 - exp(-{rate} eps))/{rate}.",
        f"{_stated(shape, move.parameters[0])}{by_batch}.",
        f"{_stated(rate, move.parameters[1])}.",
    )


_Parts = tuple[tuple[str, ...], Body, tuple[Array, ...], tuple[Array, ...]]
"""The names of the parameters, statements, the normals that they take, and the arrays that they work in."""


def _variate(target: Ref, function: str, *given: Argument) -> Statement:
    """Return what draws a number by a support function of the stream around, which moves on."""
    return Invoke(function, (*given, *STREAM_WORDS), (target, *STREAM_WORDS))


def _entries(defined: Definitions, move: Draw, out: str) -> _Parts:
    """Return the loop over the entries of a block, each drawn by the parameters that are its own."""
    how, drawn = COMPUTED[move.law, move.via], move.drawn
    loops = defined.loops(drawn.shape.sizes)
    at, values = entry_at(loops), scalars_at(defined, move.parameters, loops)
    wanted = (*how.parameters, *(name for name, _, _ in how.variates))
    names = defined.named(f"{name}_{move.name}" for name in wanted)
    parameters, made = tuple(map(Ref, names[: len(values)])), tuple(map(Ref, names[len(values) :]))
    draws = tuple(
        _variate(ref, function, *(parameters[place] for place in places))
        for ref, (_, function, places) in zip(made, how.variates, strict=True)
    )
    normals: tuple[Array, ...] = ()
    if not draws:
        normals = (block_array(defined.naming(f"noise_{move.name}"), drawn.shape),)
        made = (Ref(normals[0].name, at),)
    assigned = tuple(Assign(ref, value) for ref, value in zip(parameters, values, strict=True))
    body = nested(loops, (*assigned, *draws, Assign(Ref(out, at), how.value(parameters, made))))
    return (names[: len(values)], (Stream(STREAM.name, body),) if draws else body, normals, ())


def _with_one(place: Index, at: str, row: tuple[str, ...], out: str, k: str) -> Body:
    """Return the loop that writes a row with a one at a place.

    A row whose law is none (no logit is finite) is not a number: 0 times its place is added, which is then none.
    """
    nothing = Times((Constant(Fraction(0)), Ref(k)))
    return nested(((place, at),), (Assign(Ref(out, (*row, at)), plus((Kronecker(at, k), nothing))),))


def _rows(defined: Definitions, move: Draw, out: str) -> _Parts:
    """Return the loop over the rows of a discrete block: logits, the place of the one, and the row with it."""
    loops = defined.loops(move.drawn.shape.sizes)
    *rows, (place, at) = loops
    row, value = tuple(variable for _, variable in rows), at_loops(defined, move.parameters[0], loops)
    logits, sums, k = defined.named(f"{name}_{move.name}" for name in ("logits", "sums", "k"))
    body = (
        *nested(((place, at),), (Assign(Ref(logits, (at,)), value),)),
        _variate(Ref(k), CATEGORICAL, logits, sums),
        *_with_one(place, at, row, out, k),
    )
    work = (Array(logits, (place.size,)), Array(sums, (place.size,)))
    return ((logits,), (Stream(STREAM.name, nested(tuple(rows), body)),), (), work)


def _slices(defined: Definitions, move: Draw, out: str) -> _Parts:
    """Return the loop over the rows of a discrete block: a level, logits at the places that reach it, and the row.

    Weights that are alike in all rows are computed once. What stays of logits at other places nobody reads.
    """
    loops = defined.loops(move.drawn.shape.sizes)
    *rows, (place, at) = loops
    row, values = tuple(variable for _, variable in rows), scalars_at(defined, move.parameters, loops)
    wanted = (
        f"{name}_{move.name}" for name in ("logits", "log_w", "level", "left", "sums", "k", "E", "reached", "below")
    )
    names = defined.named(wanted)
    logits, log_w, level, left, sums, k, drawn, reached, below = names
    own = move.drawn.name
    weights = nested(((place, at),), (Assign(Ref(log_w, (at,)), values[1]),))
    by_row = bool(rows) and any(index == rows[0][0] for index in move.parameters[1].free)
    count = (Invoke(TOLD_BELOW, (below, level, left), (Ref(below),)),) if move.reported else ()
    body = (
        *(weights if by_row else ()),
        Assign(Ref(level), Constant(Fraction(0))),
        *nested(((place, at),), (Increment(Ref(level), Times((Ref(own, (*row, at)), Ref(log_w, (at,))))),)),
        _variate(Ref(drawn), "_next_exponential"),
        Increment(Ref(level), Times((MINUS, Ref(drawn)))),
        *count,
        *nested(
            ((place, at),),
            (
                Invoke(REACHES, (Ref(log_w, (at,)), Ref(level)), (Ref(reached),)),
                When(Ref(reached), (Assign(Ref(logits, (at,)), values[0]),)),
            ),
        ),
        _variate(Ref(k), CATEGORICAL_ABOVE, logits, log_w, Ref(level), sums),
        *_with_one(place, at, row, out, k),
    )
    counted = (Assign(Ref(left), values[2]), Assign(Ref(below), Constant(Fraction(0)))) if move.reported else ()
    reported = (Assign(Ref(move.reported, (0,)), Ref(below)),) if move.reported else ()
    before = (*counted, *(() if by_row else weights))
    work = tuple(Array(name, (place.size,)) for name in (logits, log_w, sums))
    stream = Stream(STREAM.name, nested(tuple(rows), body))
    return ((logits, log_w, level, *((left,) if move.reported else ())), (*before, stream, *reported), (), work)


def _shares(defined: Definitions, move: Draw, out: str) -> _Parts:
    """Return the draw of all shares of a whole, as gammas over their sum, in the variables of a simplex.

    w = softmax(u) says nothing of t = sum(u)/sqrt(K), which is N(0, 1) and independent of w: u_k = log G_k less their
    mean, and t/sqrt(K). Logarithms are kept, as a gamma of a small shape is no double.
    """
    ((index, at),) = defined.loops(move.drawn.shape.sizes)
    K = Constant(Fraction(index.size))
    value = scalar(defined, move.parameters[0], (index,), {index: at})
    wanted = ("alpha", "log_G", "total", "n", "level")
    alpha, log_G, total, n, level = defined.named(f"{name}_{move.name}" for name in wanted)
    gammas = (
        Assign(Ref(alpha), value),
        _variate(Ref(log_G, (at,)), "_next_log_gamma", Ref(alpha)),
        Increment(Ref(total), Ref(log_G, (at,))),
    )
    shift = plus((_quotient(Ref(n), Call("sqrt", (K,))), Times((MINUS, _quotient(Ref(total), K)))))
    body = (
        Assign(Ref(total), Constant(Fraction(0))),
        *nested(((index, at),), gammas),
        _variate(Ref(n), "_next_normal"),
        Assign(Ref(level), shift),
        *nested(((index, at),), (Assign(Ref(out, (at,)), plus((Ref(log_G, (at,)), Ref(level)))),)),
    )
    return ((alpha,), (Stream(STREAM.name, body),), (), (Array(log_G, move.drawn.shape.sizes),))


def _moved(defined: Definitions, move: Draw, out: str) -> _Parts:
    """Return the loop over the entries of a block, each moved by the flow that keeps its law Gamma(shape, rate).

    With scale = (1 - exp(-rate eps))/rate, factor = exp(-rate eps)/scale and mean = b factor. A shape that is estimated
    is summed over the minibatch before it; what is alike for all entries is computed once.
    """
    drawn, made = move.drawn, "log_G" if move.via else "G"
    loops = defined.loops(drawn.shape.sizes)
    at = entry_at(loops)
    wanted = ("shape", "rate", "scale", "factor", "mean", made)
    names = defined.named(f"{name}_{move.name}" for name in wanted)
    shape, rate, scale, factor, mean, gamma = map(Ref, names)
    flow = (
        Assign(rate, at_loops(defined, move.parameters[1], loops)),
        Assign(scale, Times((EPS, Call("exprel", (Times((MINUS, rate, EPS)),))))),
        Assign(factor, _quotient(Call("exp", (Times((MINUS, rate, EPS)),)), scale)),
    )
    once = not occurring(move.parameters[1]).free
    summed, own, work = Body(), Body(), tuple[Array, ...]()
    if move.datum is None:
        own = (Assign(shape, at_loops(defined, move.parameters[0], loops)),)
    else:
        work, shape = (block_array(shape.name, drawn.shape),), Ref(shape.name, at)
        over_data, ends = sums_of(
            defined, [Out(move.parameters[0], move.datum, shape, loops)], move.count, minibatch=True
        )
        summed = (*over_data, *ends)
    b, function = Ref(drawn.name, at), f"_next_{'log_' if move.via else ''}gamma_of_count"
    body = (
        *own,
        *(() if once else flow),
        Assign(mean, Times((Call("exp", (b,)) if move.via else b, factor))),
        _variate(gamma, function, shape, mean),
        Assign(Ref(out, at), plus((gamma, _log(scale))) if move.via else Times((scale, gamma))),
    )
    return (names[:2], (*summed, *(flow if once else ()), Stream(STREAM.name, nested(loops, body))), (), work)


def _normal_draw(defined: Definitions, move: Draw, out: str) -> _Parts:
    """Return the draw of a normal number, or of a normal vector from its precision or its covariance, one L L^T."""
    if not move.drawn.shape.sizes:
        return _entries(defined, move, out)
    (size,) = move.drawn.shape.sizes
    words = ("u", "P") if move.by_precision else ("mean", "cov")
    vector, matrix, normal = defined.named(f"{word}_{move.name}" for word in (*words, "noise"))
    body: Body = ()
    for name, tensor in zip((vector, matrix), move.parameters, strict=True):
        body += filled(defined, name, tensor, defined.loops((size,) * len(tensor.free)))
    function = "_normal_by_precision" if move.by_precision else "_normal_by_covariance"
    draw = Invoke(function, (vector, matrix, normal, out))
    work = (Array(vector, (size,)), Array(matrix, (size, size)))
    return ((vector, matrix), (*body, draw), (Array(normal, (size,)),), work)


LOWERED: Mapping[tuple[str, str], Callable[[Definitions, Draw, str], _Parts]] = {
    **dict.fromkeys(COMPUTED, _entries),
    ("N", ""): _normal_draw,
    ("CIR", ""): _moved,
    ("CIR", "log"): _moved,
    ("Categorical", ""): _rows,
    (SLICES, ""): _slices,
    ("Dirichlet", Constraint.SIMPLEX): _shares,
}
"""How the laws are lowered: entry by entry, a row at a time, or a block at once; by the variable or the set of it."""
