"""Lowering of the target, its gradient and U: sums over the parameters, functions of them, then the sum over data.

    grad U = prior + sum_n datum,    minibatch: prior + (N/n) sum_{n in batch} datum        (Ma, Chen, Fox 2015, Eq. 7)

Values of one datum are kept in an array over the rows read; functions of them have a loop to themselves, which then is
one of vector instructions. The terms of the gradient are grouped by the factors that carry the free index, so that the
innermost loop adds `weight * vector`.

Worked example, -log likelihood softplus(-y_n x_n.theta): for every row eta = x.theta, then the weight w = -y sigmoid(-y
eta), then grad[j] += w x[j].
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import Loops, block_array, entry_at, nested, plus, times
from recipe_compiler.program.contraction import Factors, at_loops, eliminate, product_of, scalar
from recipe_compiler.program.definition import DATUM, POSITION, ROW, Definitions, Rows
from recipe_compiler.program.gathers import gathered, positions_in, scattered
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    Constant,
    Increment,
    Invoke,
    Raise,
    Ref,
    Scalar,
    Statement,
    Times,
    View,
)
from recipe_compiler.program.lower_constraint import ConstraintCode, around, around_by_logs
from recipe_compiler.program.lower_scans import Scans, lower_scans
from recipe_compiler.program.program import Gradient, Part, Potential
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Atom, Index, Tensor, Term

LOG_LIKELIHOOD = "log_likelihood"
"""The procedure that writes that of every datum, and the array that it writes into."""


@contextmanager
def _in_target() -> Generator[None]:
    """Say of a fault in what is lowered that its entry is the build's `target`."""
    try:
        yield
    except ModelError as error:
        raise ModelError(replace(fault, entry="target") for fault in error.faults) from None


@_in_target()
def lower_gradient(defined: Definitions, gradient: Gradient) -> Procedure:
    """Return the procedure that writes grad U (or its minibatch estimate) into an array of its name, without inputs.

    Args:
        defined: the definitions of the module so far; constant ones go to `prepare`.
        gradient: the gradient's parts in index notation.

    Raises:
        ModelError: no emitted step can compute it; its entry is the build's `target`.
    """
    outputs = (block_array(gradient.name, gradient.block.shape),)
    if gradient.code:
        return Procedure("gradient", (), outputs, (), (), (Invoke("gradient", gradient.given),))
    views = _views(gradient)
    defined.taken |= {view.name for view in views if view.source == gradient.name}
    name, whole = gradient.name, gradient.block.name
    sets = [part for part in gradient.parts if part.block.constraint is not None]
    chains = tuple(around(defined, part.block, whole, part.start, (_output(part, gradient), name)) for part in sets)
    scans = lower_scans(defined, gradient.recursion, gradient.count)
    outs = [Out.of(part, gradient, defined) for part in gradient.parts]
    body = _summed(defined, outs, gradient.count, minibatch=gradient.minibatch)
    body = (*body, *(s for chain in chains for s in chain.after))
    return _procedure(
        defined, Procedure("gradient", _says(gradient, outs), outputs, (), (), body), views, chains, scans
    )


def _procedure(
    defined: Definitions, own: Procedure, views: Iterable[View], chains: tuple[ConstraintCode, ...], scans: Scans
) -> Procedure:
    """Return a procedure with what goes before its sums over the data, and the arrays that it works in.

    Before them come blocks by their variables, and what passes from row to row.
    """
    views = (*views, *(view for chain in chains for view in chain.views))
    before = (*(s for chain in chains for s in chain.before), *scans.body)
    work = (*(array for chain in chains for array in chain.arrays), *scans.arrays, *defined.computed()[1])
    return replace(own, body=(*views, *before, *own.body), work=work)


@_in_target()
def lower_potential(defined: Definitions, potential: Potential) -> Procedure:
    """Return the procedure that returns U of all data; its inputs are left out.

    Args:
        defined: the definitions so far.
        potential: U.

    Raises:
        ModelError: no emitted step can compute it; its entry is the build's `target`.
    """
    if potential.code:
        value = Array(defined.naming(f"{potential.name}_value"))
        return Procedure("potential", (), (value,), (), (), (Invoke("potential", potential.given),))
    says = _says_potential(potential, defined)
    views, chains, potential = _places(defined, potential)
    name = defined.naming(f"{potential.name}_value")
    datum = None if potential.datum is None else gathered(potential.datum, defined.fields)
    scans = lower_scans(defined, potential.recursion, potential.count, adjoint=False)
    out = Out(potential.prior, datum, Ref(name), ())
    body = _summed(defined, [out], potential.count, minibatch=False)
    after = tuple(Assign(out.ref, plus((out.ref, times(Fraction(-1), (c.log_jacobian,))))) for c in chains)
    own = Procedure("potential", says, (Array(name),), (), (), (*body, *after))
    return _procedure(defined, own, views, chains, scans)


def _says_potential(potential: Potential, defined: Definitions) -> tuple[str, ...]:
    says = [f"{potential.name} = {text(potential.prior)}"]
    if potential.datum is not None:
        says.append(f"+ sum over the data of {text(gathered(potential.datum, defined.fields))}")
    return (*says[:-1], f"{says[-1]}.")


def lower_log_likelihood(defined: Definitions, potential: Potential) -> Procedure:
    """Return the procedure that writes the log likelihood of every datum; its inputs are left out.

    Raises:
        ModelError: no emitted code can compute it.
    """
    count = potential.count
    if potential.datum is None or count is None:
        raise CompilerError(f"{potential.name} has no data")
    says = f"{LOG_LIKELIHOOD}[{ROW}] = -({text(gathered(potential.datum, defined.fields))})."
    views, chains, potential = _places(defined, potential)
    if potential.datum is None:
        raise CompilerError(f"{potential.name} lost its data")
    datum = gathered(potential.datum, defined.fields)
    ref = Ref(LOG_LIKELIHOOD, (ROW,))
    scans = lower_scans(defined, potential.recursion, count, adjoint=False)
    rows = _rows(defined, [Out(potential.prior, datum, ref, ())], count, ROW, Index(count, DATUM))
    variables = {rows.index: ROW} | {place: variable for place, variable, _ in rows.places}
    defined.rows = rows
    value = scalar(defined, datum, tuple(variables), variables)
    defined.rows = None
    loop = rows.loop((Assign(ref, times(Fraction(-1), (value,))),))
    body = (*defined.computed()[0], loop)
    own = Procedure(LOG_LIKELIHOOD, (says,), (Array(LOG_LIKELIHOOD, (count,)),), (), (), body)
    return _procedure(defined, own, views, chains, scans)


def _places(
    defined: Definitions, potential: Potential
) -> tuple[tuple[View, ...], tuple[ConstraintCode, ...], Potential]:
    """Return the names of the target's blocks in the potential's block, what makes those that lie in sets, and U.

    Logarithms of shares are computed of their variables: a share may be too small for a double.
    """
    plain = [(block, start) for block, start in potential.places if potential.stacked and block.constraint is None]
    views = tuple(View(block.name, potential.block.name, start, block.shape.sizes) for block, start in plain)
    sets = [(block, start) for block, start in potential.places if block.constraint is not None]
    tensors = (potential.prior, *(() if potential.datum is None else (potential.datum,)))
    chains, (prior, *datum) = around_by_logs(defined, sets, potential.block.name, tensors)
    return views, chains, replace(potential, prior=prior, datum=datum[0] if datum else None)


def _summed(defined: Definitions, outs: list["Out"], count: Size | None, *, minibatch: bool) -> Body:
    """Return the statements that write `prior + sum_n datum` of every part, and what they need before."""
    over_data, ends = sums_of(defined, outs, count, minibatch=minibatch)
    return (*defined.computed()[0], *over_data, *ends)


def sums_of(defined: Definitions, outs: list["Out"], count: Size | None, *, minibatch: bool) -> tuple[Body, Body]:
    """Return the loops over the data, and those after them that write `prior + sum_n datum` of every part."""
    over_data: Body = ()
    if count is not None:
        position = defined.naming("b") if minibatch else ROW
        rows = _rows(defined, outs, "batch_size" if minibatch else count, position, Index(count, DATUM))
        defined.rows = rows
        over_data = tuple(statement for out in outs for statement in _over_data(defined, out, rows))
    summed = None if all(out.datum is None or out.datum.is_zero for out in outs) else count
    ends = tuple(statement for out in outs for statement in _end(defined, out, summed, minibatch=minibatch))
    defined.rows = None
    return over_data, ends


def _rows(defined: Definitions, outs: list["Out"], count: Size, position: str, index: Index) -> Rows:
    """Return the rows that are read, with a variable for every position that an index field says in them."""
    places: list[tuple[Index, str, str]] = []
    for place in dict.fromkeys(p for out in outs if out.datum is not None for p in positions_in(out.datum)):
        field = place.label.removesuffix(POSITION)
        variable = defined.naming(f"{field}_{ROW}")
        places.append((place, variable, field))
    return Rows(count, position, position != ROW, index, tuple(places))


@dataclass(frozen=True, slots=True)
class Out:
    """A quantity to be summed, as it is stated, and the element it is written to inside its loops."""

    prior: Tensor
    datum: Tensor | None
    ref: Ref
    loops: Loops

    @classmethod
    def of(cls, part: Part, gradient: Gradient, defined: Definitions) -> "Out":
        """Return the quantity for a part of the gradient."""
        loops = defined.loops(part.block.shape.sizes)
        ref = Ref(_output(part, gradient), entry_at(loops))
        datum = None if part.stated_datum is None else gathered(part.stated_datum, defined.fields)
        return cls(part.stated_prior, datum, ref, loops)


def _output(part: Part, gradient: Gradient) -> str:
    return f"{gradient.name}_{part.block.name}" if gradient.stacked else gradient.name


def _views(gradient: Gradient) -> tuple[View, ...]:
    """Return the names of the target's blocks in the potential's block and in the gradient."""
    if not gradient.stacked:
        return ()
    pairs: list[View] = []
    for part in gradient.parts:
        if part.block.constraint is not None:
            continue
        sizes = part.block.shape.sizes
        pairs += [View(part.block.name, gradient.block.name, part.start, sizes)]
        pairs += [View(_output(part, gradient), gradient.name, part.start, sizes)]
    return tuple(pairs)


def _end(defined: Definitions, out: Out, count: Size | None, *, minibatch: bool) -> Body:
    """Return the loop that adds the prior to the sum over the data, scaled where it is one over a minibatch."""
    total: Scalar = Constant(Fraction(0)) if count is None else out.ref
    if count is not None and minibatch:
        N = Ref(count) if isinstance(count, str) else Constant(Fraction(count))
        total = Times((N, Raise(Ref("batch_size"), Fraction(-1)), out.ref))
    prior = at_loops(defined, out.prior, out.loops)
    value = plus(tuple(part for part in (prior, total) if part != Constant(Fraction(0))))
    return () if value == out.ref else nested(out.loops, (Assign(out.ref, value),))


def _over_data(defined: Definitions, out: Out, rows: Rows) -> Body:
    """Return the loop over the data that adds `weight * vector` to 0; a matrix has weights for each of its rows.

    What belongs to one place of an axis, which an index field says, is added there.
    """
    datum, loops = out.datum, out.loops
    start = nested(loops, (Assign(out.ref, Constant(Fraction(0))),))
    if datum is None or datum.is_zero:
        return start
    by_places: dict[tuple[tuple[Index, Index], ...], list[Term]] = {}
    for term in datum.terms:
        own = scattered(term, tuple(index for index, _ in loops))
        by_places.setdefault(own.places, []).append(own.term)
    body: list[Statement] = []
    variables = {rows.index: ROW} | {place: variable for place, variable, _ in rows.places}
    for places, terms in by_places.items():
        at = {dict(loops)[index]: variables[place] for index, place in places}
        left = tuple((index, variable) for index, variable in loops if variable not in at)
        ref = Ref(out.ref.name, tuple(at.get(one, one) if isinstance(one, str) else one for one in out.ref.at))
        body += _added(defined, terms, ref, left, variables)
    return (*start, rows.loop(tuple(body)))


def _added(defined: Definitions, terms: list[Term], ref: Ref, loops: Loops, row: dict[Index, str]) -> Body:
    """Return what adds terms of one row at a place, or along loops; `row` names what the row fixes."""
    scope = (*row, *(index for index, _ in loops))
    variables = row | dict(loops)
    inner = loops[-1:]
    groups: dict[Factors, list[Scalar]] = {}
    for term in terms:
        factors = eliminate(defined, term, scope)
        vector = tuple(factor for factor in factors if _carries(factor[0], inner))
        others = tuple(factor for factor in factors if factor not in vector)
        rest = product_of(defined, others, scope, variables)
        groups.setdefault(vector, []).append(times(term.coefficient, rest))
    weights: list[Statement] = []
    sums: list[Statement] = []
    for vector, weighed in groups.items():
        name = defined.naming("weight")
        weights.append(Assign(Ref(name), plus(tuple(weighed))))
        carried = product_of(defined, vector, scope, variables)
        sums.append(Increment(ref, times(Fraction(1), (Ref(name), *carried))))
    return nested(loops[:-1], (*weights, *nested(inner, tuple(sums))))


def _carries(atom: Atom, loops: Loops) -> bool:
    return any(index in indices(atom) for index, _ in loops)


def _says(gradient: Gradient, outs: list[Out]) -> tuple[str, ...]:
    lines = [line for part, out in zip(gradient.parts, outs, strict=True) for line in _says_part(part, gradient, out)]
    return (*lines[:-1], f"{lines[-1]}.")


def _says_part(part: Part, gradient: Gradient, out: Out) -> tuple[str, ...]:
    axes = len(part.block.shape.sizes)
    place = f"[{','.join('ij'[:axes])}]" if axes else ""
    written = f"{_output(part, gradient)}{place} = {text(part.stated_prior)}"
    if out.datum is None:
        return (written,)
    rows = f"({gradient.count}/batch_size) * sum over the batch" if gradient.minibatch else "sum over the data"
    return (written, f"+ {rows} of {text(out.datum)}")
