"""Lowering of the gradient of the target: sums over the parameters, then functions of them, then the sum over data.

What belongs to one datum is kept in an array over the rows read; functions of it have a loop to themselves, which then
is one of vector instructions. The terms of the gradient are grouped by the factors that carry the free index, so that
the innermost loop adds `weight * vector`.
"""

from fractions import Fraction

from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import Loops, nested, plus, times
from recipe_compiler.program.contraction import Contraction, Factors
from recipe_compiler.program.definition import ROW, Rows
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Constant,
    Increment,
    Raise,
    Ref,
    Scalar,
    Statement,
    Times,
)
from recipe_compiler.program.program import Gradient
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Atom, Tensor


def lower_gradient(gradient: Gradient, contraction: Contraction, inputs: tuple[Array, ...]) -> Procedure:
    """Return the procedure that writes grad U (or its minibatch estimate) into an array of its name.

    Args:
        gradient: the gradient's parts in index notation.
        contraction: the definitions of the module so far; constant ones go to `prepare`.
        inputs: every array and scalar the procedure may read, in the order of the module's arguments.
    """
    loops = contraction.loops(gradient.block.shape.sizes)
    out = Ref(gradient.name, tuple(variable for _, variable in loops) or (0,))
    body: tuple[Statement, ...] = ()
    total: Scalar = Constant(Fraction(0))
    if gradient.datum is not None and gradient.count is not None:
        body += nested(loops, (Assign(out, Constant(Fraction(0))),))
        count = gradient.count
        position = contraction.name("b") if gradient.minibatch else ROW
        contraction.rows = Rows("batch_size" if gradient.minibatch else count, position, gradient.minibatch)
        body += _over_data(gradient.datum, contraction, contraction.rows, out, loops)
        N = Ref(count) if isinstance(count, str) else Constant(Fraction(count))
        scale = (N, Raise(Ref("batch_size"), Fraction(-1)))
        total = Times((*scale, out)) if gradient.minibatch else out
    prior = contraction.scalar(gradient.prior, tuple(index for index, _ in loops), dict(loops))
    contraction.rows = None
    before = tuple(s for d in contraction.changing for s in d.body)
    parts = tuple(part for part in (prior, total) if part != Constant(Fraction(0)))
    body = (*before, *body, *nested(loops, (Assign(out, plus(parts)),)))
    work = tuple(d.array for d in contraction.changing if d.array.sizes)
    outputs = (Array(gradient.name, gradient.block.shape.sizes or (1,)),)
    return Procedure("gradient", _says(gradient), outputs, inputs, work, body)


def _over_data(datum: Tensor, contraction: Contraction, rows: Rows, out: Ref, loops: Loops) -> tuple[Statement, ...]:
    n = next(index for index in datum.free if index.label == "n")
    scope = (n, *(index for index, _ in loops))
    variables = {n: ROW} | dict(loops)
    groups: dict[Factors, list[Scalar]] = {}
    for term in datum.terms:
        factors = contraction.eliminate(term, scope)
        vector = tuple(factor for factor in factors if _carries(factor[0], loops))
        rest = tuple(contraction.factor(*factor, scope, variables) for factor in factors if factor not in vector)
        groups.setdefault(vector, []).append(times(term.coefficient, rest))
    weights: list[Statement] = []
    sums: list[Statement] = []
    for vector, terms in groups.items():
        weight = Ref(contraction.name("weight"))
        weights.append(Assign(weight, plus(tuple(terms))))
        carried = tuple(contraction.factor(*factor, scope, variables) for factor in vector)
        sums.append(Increment(out, times(Fraction(1), (weight, *carried))))
    return (rows.loop((*weights, *nested(loops, tuple(sums)))),)


def _carries(atom: Atom, loops: Loops) -> bool:
    return any(index in indices(atom) for index, _ in loops)


def _says(gradient: Gradient) -> tuple[str, ...]:
    place = "[i]" if gradient.block.shape.sizes else ""
    prior = text(gradient.prior)
    if gradient.datum is None:
        return (f"Write {gradient.name}{place} = {prior}.",)
    rows = f"({gradient.count}/batch_size) * sum over the batch" if gradient.minibatch else "sum over the data"
    return (f"Write {gradient.name}{place} = {prior}", f"+ {rows} of {text(gradient.datum)}.")
