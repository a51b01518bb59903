"""Lowering of the gradient of the target: one pass over the data.

Inside the loop over data everything that belongs to one datum is a scalar; the terms of its gradient are grouped by
the factors that carry the free index, so that the innermost loop adds `weight * vector`.
"""

from fractions import Fraction

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import Loops, nested, plus, times
from recipe_compiler.program.contraction import Contraction, Factors
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Constant,
    For,
    ForBatch,
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

ROW = "row"
"""The loop variable over data: a row number, in a minibatch the one drawn."""


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
        body += (_over_data(gradient, gradient.datum, gradient.count, contraction, out, loops),)
        count = gradient.count
        N = Ref(count) if isinstance(count, str) else Constant(Fraction(count))
        scale = (N, Raise(Ref("batch_size"), Fraction(-1)))
        total = Times((*scale, out)) if gradient.minibatch else out
    prior = contraction.scalar(gradient.prior, tuple(index for index, _ in loops), dict(loops))
    before = tuple(s for d in contraction.changing if not d.of_datum for s in d.body)
    parts = tuple(part for part in (prior, total) if part != Constant(Fraction(0)))
    body = (*before, *body, *nested(loops, (Assign(out, plus(parts)),)))
    work = tuple(d.array for d in contraction.changing if d.array.sizes)
    outputs = (Array(gradient.name, gradient.block.shape.sizes or (1,)),)
    return Procedure("gradient", _says(gradient), outputs, inputs, work, body)


def _over_data(
    gradient: Gradient, datum: Tensor, count: Size, contraction: Contraction, out: Ref, loops: Loops
) -> Statement:
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
    local = tuple(s for d in contraction.changing if d.of_datum for s in d.body)
    body = (*local, *weights, *nested(loops, tuple(sums)))
    return ForBatch(ROW, body) if gradient.minibatch else For(ROW, count, body)


def _carries(atom: Atom, loops: Loops) -> bool:
    return any(index in indices(atom) for index, _ in loops)


def _says(gradient: Gradient) -> tuple[str, ...]:
    place = "[i]" if gradient.block.shape.sizes else ""
    prior = text(gradient.prior)
    if gradient.datum is None:
        return (f"Write {gradient.name}{place} = {prior}.",)
    rows = f"({gradient.count}/batch_size) * sum over the batch" if gradient.minibatch else "sum over the data"
    return (f"Write {gradient.name}{place} = {prior}", f"+ {rows} of {text(gradient.datum)}.")
