"""The named densities in formulas: a call becomes the formula of its log density, in the language's own functions.

    normal(x, mu, sigma)  of a scalar x:    -((x - mu)/sigma)**2/2 - log(sigma) - log(2*pi)/2
                          of a column x:    sum(-((x - mu)/sigma)**2/2) - d*log(sigma) - d*log(2*pi)/2

Terms of what is one number for all entries are taken d times, the others summed, so that nothing is added up that need
not be. What an author factored stays factored. Of a matrix every entry has the law, or every row where it is one of
whole vectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import pairwise

from recipe_compiler.errors import ModelError, Place
from recipe_compiler.formula import build, tree
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.context import Context, is_matrix, is_open, is_scalar, shown
from recipe_compiler.formula.declaration import Datum, Declarations, Parameter
from recipe_compiler.formula.densities import Density
from recipe_compiler.formula.elaborate import (
    Scope,
    elaborate,
    infer,
    infer_value,
    resolved,
    settle,
    without_spellings,
)
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.spellings import MIXTURE, density_called
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.triangular import entry_at, log_normal, size_of

_NOWHERE = Place("")


def type_density(part: tree.Call, context: Context) -> Formula | None:
    """Return the log density that a call means; None where a fault was noted."""
    if part.name == MIXTURE:
        return _mixture(part, context)
    density = density_called(part)
    args = None if density is None else density_arguments(part, density, context)
    return None if density is None or args is None else log_density(density, args, context.scope.declarations)


def density_arguments(part: tree.Call, density: Density, context: Context) -> tuple[Formula, ...] | None:
    """Return the typed arguments of a named density, of shapes that go together; None where a fault was noted."""
    if len(part.args) != len(density.arguments):
        expected = f"expected {len(density.arguments)}: {density.call}"
        context.fault(part, f"found {len(part.args)} arguments of {density.name}(), {expected}")
        return None
    named = list(zip(density.arguments, part.args, strict=True))
    args: list[Formula | None] = []
    if density.index:
        args.append(field_of_positions(named.pop(0)[1], density.call, context))
    args += [infer(arg, context) if name in density.matrices else infer_value(arg, context) for name, arg in named]
    typed = tuple(arg for arg in args if arg is not None)
    made = None if len(typed) < len(args) else fitted(density, part, typed, context)
    return None if made is None else tuple(resolved(arg, context) for arg in made)


def _mixture(part: tree.Call, context: Context) -> Formula | None:
    """Return log(sum_k w_k exp(f_k)) of weights w and log densities f: several scalars, or one density of K entries.

    A weight that is a scalar is that of the first of two.
    """
    weights, *given = part.args
    typed = infer_value(weights, context)
    if typed is None:
        return None
    shape = context.shape(typed)
    density = density_called(given[0]) if len(given) == 1 and isinstance(given[0], tree.Call) else None
    if density is not None and density.of_entry and isinstance(given[0], tree.Call):
        args = density_arguments(given[0], density, context)
        entries = None if args is None else log_density(density, args, context.scope.declarations, entries=True)
        if entries is None or context.fit(typed, entries.shape, weights) is None:
            return None
        return mixed(resolved(typed, context), entries)
    found = [infer(one, context, SCALAR) for one in given]
    known = [resolved(one, context) for one in found if one is not None]
    count = 2 if is_scalar(shape) else shape.rows
    if len(known) == len(found) and len(found) != count:
        expected = "expected a density for each weight, or one of columns, an entry for each"
        context.fault(part, f"found {len(found)} densities and weights that are a {context.shown(typed)}, {expected}")
    return mixed(resolved(typed, context), known) if len(known) == len(found) == count else None


def elaborate_density(part: tree.Call, scope: Scope, entry: str, where: Place) -> tuple[Density, tuple[Formula, ...]]:
    """Return the row of a call of a named density, and its typed arguments, every size resolved.

    Raises:
        ModelError: The faults that `elaborate` names.
    """
    context = Context(scope, entry, where)
    plain, density = without_spellings(part, context), density_called(part)
    typed = density_arguments(plain, density, context) if isinstance(plain, tree.Call) and density else None
    settle(context, set())
    if density is None or typed is None or context.faults:
        raise ModelError(context.faults)
    return density, tuple(resolved(arg, context) for arg in typed)


def field_of_positions(part: tree.Tree, call: str, context: Context) -> Formula | None:
    """Return an index field as its rows with a one; None where a fault was noted: it is none."""
    declared = context.scope.declarations.find(part.name) if isinstance(part, tree.Name) else None
    if isinstance(declared, Datum) and declared.is_index:
        return ex.Symbol(declared.name, declared.shape, Role.INDEX)
    said = f"`{declared.name}`" if isinstance(declared, Datum) else "a formula"
    hint = "declare it so in `data`: y: {shape: N, index_of: K}, K the number of classes"
    context.fault(part, f"found {said} in {call}, expected an index field of the data", hint)
    return None


def fitted(row: Density, part: tree.Call, args: Sequence[Formula], context: Context) -> list[Formula] | None:
    """Return the arguments of a density, rows as columns; None where a fault was noted: shapes do not go together.

    Of a law of every row of a J x K matrix they are J x K, but for its K x K matrices: a column, or a row, of K entries
    stands for one in every row.
    """
    args = [
        arg if name in row.matrices else _upright(arg, context) for name, arg in zip(row.arguments, args, strict=True)
    ]
    vectors = [
        shape
        for name, arg in zip(row.arguments, args, strict=True)
        if name not in row.matrices and not is_scalar(shape := context.shape(arg))
    ]
    if row.increasing:
        return _of_cuts(row, part, args, context)
    if row.at_size is not None:
        return _of_matrix(row, part, args, context)
    if not vectors:
        return args if row.of_entry else _refused(part, f"found scalars in {row.call}, expected columns", context)
    shape = next((shape for shape in vectors if not is_open(shape.rows)), vectors[0])
    of_rows = bool(row.matrices) and is_matrix(context.shape(args[0]))
    own = context.shape(args[0]) if of_rows else shape
    if is_matrix(own) and not (of_rows or row.of_entry):
        return _refused(part, f"found a {shown(own)} in {row.call}, expected scalars or vectors", context)
    one = Shape(own.cols) if of_rows else own
    found: list[Formula] = []
    for name, arg, at in zip(row.arguments, args, part.args, strict=True):
        given = context.shape(arg)
        of_all = of_rows and name not in row.matrices and not is_scalar(given) and not is_matrix(given)
        wanted = Shape(one.rows, one.rows) if name in row.matrices else one if of_all else own
        if not is_scalar(given) and context.fit(arg, wanted, at) is None:
            return None
        whole = _whole(row, name, arg, one if name in row.matrices else own, context)
        found.append(_repeated(whole, own) if of_all else whole)
    if any(is_open(context.unknowns.axis(axis)) for axis in own.sizes):
        return _refused(part, f"nothing determines the size of the vectors in {row.name}()", context)
    return found


def _of_matrix(row: Density, part: tree.Call, args: list[Formula], context: Context) -> list[Formula] | None:
    """Return the arguments of a law of a square matrix of a number of rows, and of numbers."""
    shape, *others = (context.shape(arg) for arg in args)
    if not isinstance(shape.rows, int) or shape.rows != shape.cols:
        stands = f" in place of {shape.rows}" if isinstance(shape.rows, str) and shape.rows == shape.cols else ""
        hint = f"write the number of rows{stands} in the shape of {row.arguments[0]}: `[3, 3]`"
        problem = f"found a {shape} in {row.call}, expected a square matrix of a number of rows"
        return _refused(part, problem, context, hint)
    if any(not is_scalar(other) for other in others):
        return _refused(part, f"found a vector in {row.call}, expected a number beside the matrix", context)
    return args


def _repeated(column: Formula, rows: Shape) -> Formula:
    """Return the J x K matrix whose every row is a column of K entries."""
    across = ex.Transpose(column, Shape(None, rows.cols))
    return build.matmul(ex.Filled(1, Shape(rows.rows)), across, rows)


def _of_cuts(row: Density, part: tree.Call, args: list[Formula], context: Context) -> list[Formula] | None:
    """Return the arguments of a law of positions between cuts: a field of one more than those, a number, a column."""
    positions, number, cuts = (context.shape(arg) for arg in args)
    if not isinstance(cuts.rows, int) or cuts.cols is not None:
        return _refused(part, f"found a {cuts} in {row.call}, expected a column of a number of entries", context)
    if not is_scalar(number):
        return _refused(part, f"found a {number} in {row.call}, expected a number beside the cuts", context)
    if positions.rows != cuts.rows + 1:
        found = f"found an index of {positions.rows} beside {cuts.rows} cuts in {row.call}"
        return _refused(part, f"{found}, expected an index of {cuts.rows + 1}", context)
    return args


def _upright(arg: Formula, context: Context) -> Formula:
    """Return a row as the column of its entries; in densities they are the same."""
    shape = context.shape(arg)
    return ex.Transpose(arg, shape.transposed) if shape.rows is None and shape.cols is not None else arg


def _whole(row: Density, name: str, arg: Formula, vector: Shape, context: Context) -> Formula:
    """Return an argument of a law of whole vectors as one: a number is that of every entry, of a matrix c*I."""
    if row.of_entry or not is_scalar(context.shape(arg)):
        return arg
    size = context.unknowns.axis(vector.rows)
    if name in row.matrices and size is not None:
        return build.multiply(arg, ex.Identity(size), Shape(size, size))
    return build.multiply(arg, ex.Filled(1, vector), vector)


def _refused(part: tree.Call, problem: str, context: Context, hint: str = "") -> None:
    context.fault(part, problem, hint)


def log_density(row: Density, args: Sequence[Formula], declarations: Declarations, *, entries: bool = False) -> Formula:
    """Return the log density of typed arguments; with `entries`, the vector of those of each entry, not summed."""
    named = dict(zip(row.arguments, _in_columns(row, args), strict=True))
    if row.factor and (solved := log_normal(named["x"], named["mu"], named[row.factor], declarations)) is not None:
        return solved
    rows = named[row.sized_by].shape.rows
    value = row.at_size(rows) if row.at_size is not None and isinstance(rows, int) else row.value
    return _of_arguments(value, row, args, entries=entries)


def at_most(row: Density, text: str, args: Sequence[Formula], *, entries: bool = False) -> Formula:
    """Return a bound of the log density of typed arguments; with `entries`, the vector of those of each, not summed."""
    return _of_arguments(text, row, args, entries=entries)


def _of_arguments(text: str, row: Density, args: Sequence[Formula], *, entries: bool) -> Formula:
    own = _in_columns(row, args)
    terms = _terms(text, row, tuple(arg.shape for arg in own))
    if not entries and row.of_entry:
        terms = tuple(_total(term, _vector(args)) for term in terms)
    elif own is not args:
        terms = tuple(_over_columns(term, own[0].shape) for term in terms)
    found = substitute(_sum(terms), _given(row, own))
    return build.replaced(found, _between_cuts) if row.increasing else found


def _between_cuts(part: Formula) -> Formula | None:
    """Return a cut, or the difference of two without what is in both."""
    match part:
        case ex.Entry(cuts, (k,)):
            return entry_at(cuts, k)
        case ex.Add((ex.Entry(cuts, (i,)), ex.Multiply(ex.Number(), ex.Entry(_, (j,))))):
            below, above = _apart(entry_at(cuts, i), entry_at(cuts, j))
            terms = [term for term in (below, build.negate(above)) if not is_zero(term)]
            return build.add(terms or [below], SCALAR)
        case _:
            return None


def _apart(low: Formula, high: Formula) -> tuple[Formula, Formula]:
    """Return two sums without what is in both."""
    below, above = list(_summands(low)), list[Formula]()
    for term in _summands(high):
        if term in below and not isinstance(term, ex.Number):
            below.remove(term)
        else:
            above.append(term)
    return build.add(below, SCALAR), build.add(above, SCALAR)


def _summands(formula: Formula) -> Iterator[Formula]:
    for term in formula.terms if isinstance(formula, ex.Add) else ():
        yield from _summands(term)
    if not isinstance(formula, ex.Add):
        yield formula


def _in_columns(row: Density, args: Sequence[Formula]) -> Sequence[Formula]:
    """Return the arguments of a law of every row of a J x K matrix as K x J ones, whose columns it is of."""
    if not row.matrices or row.of_set is not None or not is_matrix(args[0].shape):
        return args
    return [a if name in row.matrices else build.transpose(a) for name, a in zip(row.arguments, args, strict=True)]


def _over_columns(term: Formula, columns: Shape) -> Formula:
    """Return the sum of a term of one column over J: J times a number, the trace of a J x J product of columns."""
    if term.shape != SCALAR:
        return ex.Apply("trace", (term,), SCALAR)
    return build.multiply(size_of(columns.sizes[1]), term, SCALAR)


def comparisons(row: Density, args: Sequence[Formula]) -> tuple[ex.Compare, ...]:
    """Return what the arguments have to satisfy: the support of the first, and what is needed of the others."""
    found = (_typed(parse(text, row.name, _NOWHERE), _shapes(row, args)) for text in (*row.support, *row.needs))
    whole = [substitute(one, _given(row, args)) for one in found]
    cuts = dict(zip(row.arguments, args, strict=True)).get(row.increasing)
    entries = [entry_at(cuts, k) for k in range(cuts.shape.rows)] if cuts and isinstance(cuts.shape.rows, int) else []
    whole += [ex.Compare("<", *_apart(*pair), SCALAR) for pair in pairwise(entries)]
    return tuple(one for one in whole if isinstance(one, ex.Compare))


def mixed(weights: Formula, terms: Formula | Sequence[Formula]) -> Formula:
    """Return log(sum_k w_k exp(f_k)), of a column of weights and one of terms, or of scalars."""
    if not isinstance(terms, Sequence):
        return build.log_sum_exp(build.add([ex.Apply("log", (weights,), weights.shape), terms], terms.shape))
    if weights.shape == SCALAR:
        shares = [ex.Apply("log", (weights,), SCALAR), ex.Apply("log1p", (build.negate(weights),), SCALAR)]
    else:
        shares = [ex.Apply("log", (ex.Entry(weights, (k,)),), SCALAR) for k in range(len(terms))]
    rows = tuple((build.add([share, term], SCALAR),) for share, term in zip(shares, terms, strict=True))
    return build.log_sum_exp(ex.Explicit(rows, Shape(len(rows))))


def _shapes(row: Density, args: Sequence[Formula]) -> dict[str, Shape]:
    return {name: arg.shape for name, arg in zip(row.arguments, args, strict=True)}


def _given(row: Density, args: Sequence[Formula]) -> Mapping[str, Formula]:
    return {_own(name): arg for name, arg in zip(row.arguments, args, strict=True)}


def _own(name: str) -> str:
    """Return the name of an argument in a template: none that a document may declare."""
    return f"?{name}"


def _vector(args: Sequence[Formula]) -> Shape:
    return next((arg.shape for arg in args if arg.shape != SCALAR), SCALAR)


def in_arguments(text: str, arguments: Mapping[str, Formula]) -> Formula:
    """Return the formula of a text in named arguments; numbers beside vectors are those of every entry."""
    shapes = {name: arg.shape for name, arg in arguments.items()}
    whole = _typed(parse(text, text, _NOWHERE), shapes)
    return substitute(whole, {_own(name): arg for name, arg in arguments.items()})


@cache
def _terms(text: str, row: Density, shapes: tuple[Shape, ...]) -> tuple[Formula, ...]:
    """Return the terms of a row's formula at arguments of some shapes."""
    written = parse(text, row.name, _NOWHERE)
    terms = written.terms if isinstance(written, tree.Sum) else (written,)
    named = dict(zip(row.arguments, shapes, strict=True))
    return tuple(_typed(term, named) for term in terms)


def _total(term: Formula, vector: Shape) -> Formula:
    """Return the sum of a term over the entries of a density's vectors."""
    if term.shape != SCALAR:
        return ex.Apply("sum", (term,), SCALAR)
    if vector == SCALAR:
        return term
    return reduce(lambda total, size: build.multiply(size_of(size), total, SCALAR), vector.sizes, term)


def _alike(formulas: Sequence[Formula]) -> list[Formula]:
    """Return formulas of one shape: numbers beside a vector as vectors of them."""
    shape = _vector(formulas)
    return [f if f.shape == shape else build.multiply(f, ex.Filled(1, shape), shape) for f in formulas]


def _sum(terms: Sequence[Formula]) -> Formula:
    same = _alike(terms)
    return build.add(same, same[0].shape)


def _typed(part: tree.Tree, shapes: Mapping[str, Shape]) -> Formula:
    """Type a formula in arguments of some shapes and the size `d` of vectors, by names that no document declares."""
    declared = Declarations(parameters=tuple(Parameter(_own(name), shape) for name, shape in shapes.items()))
    size = next((shape.sizes[0] for shape in shapes.values() if shape != SCALAR), 1)
    own: dict[str, tree.Tree] = {name: tree.Name(_own(name)) for name in shapes}
    own["d"] = parse(str(size), "d", _NOWHERE)
    return elaborate(tree.put(part, own), Scope(declared, entrywise=True), None, "", _NOWHERE)
