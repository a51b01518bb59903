"""Lowering of the gradient of the target: sums over the parameters, then functions of them, then the sum over data.

What belongs to one datum is kept in an array over the rows read; functions of it have a loop to themselves, which then
is one of vector instructions. The terms of the gradient are grouped by the factors that carry the free index, so that
the innermost loop adds `weight * vector`.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.errors import CompilerError, ModelError
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
    View,
)
from recipe_compiler.program.program import Gradient, Part
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Atom


def lower_gradient(gradient: Gradient, contraction: Contraction, inputs: tuple[Array, ...]) -> Procedure:
    """Return the procedure that writes grad U (or its minibatch estimate) into an array of its name.

    Args:
        gradient: the gradient's parts in index notation.
        contraction: the definitions of the module so far; constant ones go to `prepare`.
        inputs: every array and scalar the procedure may read, in the order of the module's arguments.

    Raises:
        ModelError: no emitted step can compute it; its entry is the build's `target`.
    """
    try:
        return _lowered(gradient, contraction, inputs)
    except ModelError as error:
        raise ModelError(replace(fault, entry="target") for fault in error.faults) from None


def _lowered(gradient: Gradient, contraction: Contraction, inputs: tuple[Array, ...]) -> Procedure:
    outputs = (Array(gradient.name, gradient.block.shape.sizes or (1,)),)
    if gradient.code:
        return Procedure("gradient", (), outputs, inputs, (), ())
    views = _views(gradient, contraction)
    outs = [_Out.of(part, gradient, contraction) for part in gradient.parts]
    over_data: tuple[Statement, ...] = ()
    if gradient.count is not None:
        position = contraction.name("b") if gradient.minibatch else ROW
        contraction.rows = Rows("batch_size" if gradient.minibatch else gradient.count, position, gradient.minibatch)
        for out in outs:
            over_data += nested(out.loops, (Assign(out.ref, Constant(Fraction(0))),))
            over_data += _over_data(out, contraction, contraction.rows)
    ends = tuple(statement for out in outs for statement in _end(out, gradient, contraction))
    contraction.rows = None
    before = tuple(s for d in contraction.changing for s in d.body)
    work = tuple(d.array for d in contraction.changing if d.array.sizes)
    return Procedure("gradient", _says(gradient), outputs, inputs, work, (*views, *before, *over_data, *ends))


@dataclass(frozen=True, slots=True)
class _Out:
    """A part of the gradient, and the element it is written to inside its loops."""

    part: Part
    ref: Ref
    loops: Loops

    @classmethod
    def of(cls, part: Part, gradient: Gradient, contraction: Contraction) -> "_Out":
        loops = contraction.loops(part.block.shape.sizes)
        return cls(part, Ref(_output(part, gradient), tuple(variable for _, variable in loops) or (0,)), loops)


def _output(part: Part, gradient: Gradient) -> str:
    return f"{gradient.name}_{part.block.name}" if gradient.stacked else gradient.name


def _views(gradient: Gradient, contraction: Contraction) -> tuple[View, ...]:
    """Return the names of the target's blocks in the potential's block and in the gradient."""
    if not gradient.stacked:
        return ()
    pairs: list[View] = []
    for part in gradient.parts:
        sizes = tuple(size for size in part.block.shape.sizes if isinstance(size, int))
        if len(sizes) != len(part.block.shape.sizes):
            raise CompilerError(f"the block {part.block.name} of a stacked target has no fixed size")
        contraction.taken.add(_output(part, gradient))
        pairs += [View(part.block.name, gradient.block.name, part.start, sizes)]
        pairs += [View(_output(part, gradient), gradient.name, part.start, sizes)]
    return tuple(pairs)


def _end(out: _Out, gradient: Gradient, contraction: Contraction) -> tuple[Statement, ...]:
    """Return the loop that adds the prior to the sum over the data, scaled where it is one over a minibatch."""
    total: Scalar = Constant(Fraction(0)) if gradient.count is None else out.ref
    if gradient.count is not None and gradient.minibatch:
        N = Ref(gradient.count) if isinstance(gradient.count, str) else Constant(Fraction(gradient.count))
        total = Times((N, Raise(Ref("batch_size"), Fraction(-1)), out.ref))
    prior = contraction.scalar(out.part.stated_prior, tuple(index for index, _ in out.loops), dict(out.loops))
    parts = tuple(part for part in (prior, total) if part != Constant(Fraction(0)))
    return nested(out.loops, (Assign(out.ref, plus(parts)),))


def _over_data(out: _Out, contraction: Contraction, rows: Rows) -> tuple[Statement, ...]:
    """Return the loop over the data that adds `weight * vector`; a matrix has weights for each of its rows."""
    datum, loops = out.part.stated_datum, out.loops
    if datum is None or datum.is_zero:
        return ()
    n = next(index for index in datum.free if index.label == "n")
    scope = (n, *(index for index, _ in loops))
    variables = {n: ROW} | dict(loops)
    inner = loops[-1:]
    groups: dict[Factors, list[Scalar]] = {}
    for term in datum.terms:
        factors = contraction.eliminate(term, scope)
        vector = tuple(factor for factor in factors if _carries(factor[0], inner))
        rest = tuple(contraction.factor(*factor, scope, variables) for factor in factors if factor not in vector)
        groups.setdefault(vector, []).append(times(term.coefficient, rest))
    weights: list[Statement] = []
    sums: list[Statement] = []
    for vector, terms in groups.items():
        weight = Ref(contraction.name("weight"))
        weights.append(Assign(weight, plus(tuple(terms))))
        carried = tuple(contraction.factor(*factor, scope, variables) for factor in vector)
        sums.append(Increment(out.ref, times(Fraction(1), (weight, *carried))))
    return (rows.loop(nested(loops[:-1], (*weights, *nested(inner, tuple(sums))))),)


def _carries(atom: Atom, loops: Loops) -> bool:
    return any(index in indices(atom) for index, _ in loops)


def _says(gradient: Gradient) -> tuple[str, ...]:
    lines = [line for part in gradient.parts for line in _says_part(part, gradient)]
    return (*lines[:-1], f"{lines[-1]}.")


def _says_part(part: Part, gradient: Gradient) -> tuple[str, ...]:
    axes = len(part.block.shape.sizes)
    place = f"[{','.join('ij'[:axes])}]" if axes else ""
    written = f"{_output(part, gradient)}{place} = {text(part.stated_prior)}"
    if part.stated_datum is None:
        return (written,)
    rows = f"({gradient.count}/batch_size) * sum over the batch" if gradient.minibatch else "sum over the data"
    return (written, f"+ {rows} of {text(part.stated_datum)}")
