"""The named densities in formulas: a call becomes the formula of its log density, in the language's own functions.

    normal(x, mu, sigma)  of a scalar x:    -((x - mu)/sigma)**2/2 - log(sigma) - log(2*pi)/2
                          of a column x:    sum(-((x - mu)/sigma)**2/2) - d*log(sigma) - d*log(2*pi)/2

Terms of what is one number for all entries are taken d times, the others summed, so that nothing is added up that need
not be. What an author factored stays factored. Of a matrix every entry has the law, or every row where it is one of
whole vectors.
"""

from collections.abc import Mapping, Sequence
from functools import cache, reduce

from recipe_compiler.errors import CompilerError, Place
from recipe_compiler.formula import build, tree
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.context import Context, is_matrix, is_open, is_scalar, shown
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.spellings import is_spelled
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.triangular import log_normal, size_of

_NOWHERE = Place("")
MIXTURE = "mixture"
PROCESSES = {"gaussian_process": "multi_normal"}
"""Calls that are spelled out as another density (`spellings`), to its name."""
OF_TARGETS = "only log_prior, log_likelihood and potential take densities"


def density_called(part: tree.Call) -> Density | None:
    """Return the density that a call means; `gamma(x)`, `beta(x, y)` and `binomial(n, k)` are numbers, and none."""
    row = DENSITIES.get(PROCESSES.get(part.name, part.name))
    function = part.name in ex.ELEMENTWISE and len(part.args) == 1
    return None if function or (part.name in DENSITIES and is_spelled(part)) else row


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
    return substitute(_sum(terms), _given(row, own))


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
    found: list[ex.Compare] = []
    shapes = tuple(arg.shape for arg in args)
    for text in (*row.support, *row.needs):
        written = parse(text, row.name, _NOWHERE)
        if not isinstance(written, tree.Comparison):
            raise CompilerError(f"{text} of {row.name} is not a comparison")
        sides = [_typed(side, _Names(row.arguments, shapes)) for side in (written.left, written.right)]
        left, right = (substitute(side, _given(row, args)) for side in _alike(sides))
        found.append(ex.Compare(written.op, left, right, left.shape))
    return tuple(found)


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


def _given(row: Density, args: Sequence[Formula]) -> Mapping[str, Formula]:
    return {_own(name): arg for name, arg in zip(row.arguments, args, strict=True)}


def _own(name: str) -> str:
    """Return the name of an argument in a template: none that a document may declare."""
    return f"?{name}"


def _vector(args: Sequence[Formula]) -> Shape:
    return next((arg.shape for arg in args if arg.shape != SCALAR), SCALAR)


class _Names:
    """The arguments of a density as symbols of the shapes that they have in a call."""

    def __init__(self, arguments: Sequence[str], shapes: Sequence[Shape]) -> None:
        pairs = zip(arguments, shapes, strict=True)
        self.known = {name: ex.Symbol(_own(name), shape, ex.Role.PARAMETER) for name, shape in pairs}
        self.size = next((shape.sizes[0] for shape in shapes if shape != SCALAR), 1)

    def find(self, name: str) -> Formula:
        """Return an argument, `pi`, or the size `d` of its vectors."""
        if name in self.known:
            return self.known[name]
        return ex.Pi() if name == "pi" else size_of(self.size)


def in_arguments(text: str, arguments: Mapping[str, Formula]) -> Formula:
    """Return the formula of a text in named arguments; numbers beside vectors are those of every entry."""
    names = _Names([*arguments], [arg.shape for arg in arguments.values()])
    return substitute(_typed(parse(text, text, _NOWHERE), names), {_own(name): arg for name, arg in arguments.items()})


@cache
def _terms(text: str, row: Density, shapes: tuple[Shape, ...]) -> tuple[Formula, ...]:
    """Return the terms of a row's formula at arguments of some shapes."""
    written = parse(text, row.name, _NOWHERE)
    terms = written.terms if isinstance(written, tree.Sum) else (written,)
    return tuple(_typed(term, _Names(row.arguments, shapes)) for term in terms)


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


def _typed(part: tree.Tree, names: _Names) -> Formula:
    """Type a part of a row's formula, numbers beside vectors being those of every entry."""
    if isinstance(part, tree.Name):
        return names.find(part.name)
    typed = [_typed(inner, names) for inner in tree.parts(part)]
    match part:
        case tree.Literal(value):
            return ex.Number(value)
        case tree.Sum():
            return _sum(typed)
        case tree.Negate():
            return build.negate(*typed)
        case tree.Product(_, operators):
            return _product(typed, operators)
        case tree.Power():
            return build.power(*typed, typed[0].shape)
        case tree.Transposed():
            return build.transpose(*typed)
        case tree.Subscript(_, positions):
            return ex.Entry(*typed, tuple(map(int, positions)))
        case tree.Comparison(op):
            return ex.Compare(op, *typed, SCALAR)
        case tree.Call("where"):
            sides = _alike([*build.parts(typed[0]), *typed[1:]])
            shape = sides[0].shape
            return ex.Apply("where", (build.rebuild(typed[0], sides[:2], lambda _: shape), *sides[2:]), shape)
        case tree.Call(name):
            return build.apply(name, typed, typed[0].shape if name in ex.ELEMENTWISE | {"inv"} else SCALAR)
        case _:
            raise CompilerError(f"a density's formula holds {part}")


def _product(factors: Sequence[Formula], operators: Sequence[str]) -> Formula:
    found = factors[0]
    for operator, factor in zip(operators, factors[1:], strict=True):
        if operator == "@":
            shape = Shape(found.shape.rows, factor.shape.cols)
            found = build.matmul(found, factor, shape)
            continue
        right = build.power(factor, build.MINUS_ONE, factor.shape) if operator == "/" else factor
        found = build.multiply(found, right, _vector((found, right)))
    return found
