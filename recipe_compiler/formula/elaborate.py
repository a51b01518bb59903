"""Untyped tree to typed formula: names are looked up, shapes checked, and the sizes of `0`, `I` and `ones` found.

Positions may be said by the data: `eta[g]`, `F[u]`, `F[u, 0]`, with index fields g and u. An index field is the row
with a one at its position and zeros elsewhere, so `eta[g]` is `g @ eta` and `F[u]` is `u @ F`: what holds for every row
holds for these. A row of a one_hot block is such a row, too: `mu[z]` is `z @ mu`.
"""

from collections.abc import Set

from recipe_compiler.errors import ModelError, Place, SpecError, nearest
from recipe_compiler.formula import build, tree
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.bounds import check_bounds
from recipe_compiler.formula.context import Context, Scope, is_matrix, is_open, is_scalar
from recipe_compiler.formula.declaration import Block, Datum, Function
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.names import (
    LANGUAGE,
    NO_UNIT,
    bare_identities,
    block_named,
    language_constant,
    names_given,
    no_function,
    resolve_name,
)
from recipe_compiler.formula.operators import ARITY
from recipe_compiler.formula.shapes import DISCRETE, SCALAR, DomainName, Shape, Size
from recipe_compiler.formula.show import text
from recipe_compiler.formula.spelled import JOINTS
from recipe_compiler.formula.spellings import MIXTURE, density_called, spelled_out
from recipe_compiler.formula.syntax import NO_LETTERS
from recipe_compiler.formula.type_calls import (
    Factor,
    apply_calculus,
    apply_function,
    gradient_estimate,
    join_factors,
    normal_draw,
    raise_power,
    reciprocal,
    updated_block,
)

OF_TARGETS = "only log_prior, log_likelihood and potential take densities"


def elaborate(formula: tree.Tree, scope: Scope, expected: Shape | None, entry: str, where: Place) -> Formula:
    """Type a formula against the names in scope.

    `0` fits any place, `I` any square place (1 at scalar places), `ones` any vector; their sizes are found by
    unification with what stands around them and with `expected`. `norm2(v)` is `v.T @ v`, the squared Euclidean norm.
    `theta[k]` of a fixed size is checked; of a symbolic size d it is accepted, and the document's sizes then have to
    satisfy d >= k + 1.

    Args:
        formula: The tree to type; a comparison only if nothing is `expected`.
        scope: The names in scope. Declared names win over those of the language.
        expected: The shape of the place it stands at; None if any will do.
        entry: The entry of the document, for faults.
        where: The place of the first character of the formula's text.

    Returns:
        The typed formula, every size resolved. Numbers are folded exactly; nothing else is simplified.

    Raises:
        ModelError: Undeclared names, shapes that do not fit, sizes that nothing determines: all that were found.
    """
    context = Context(scope, entry, where)
    plain = without_spellings(formula, context)
    if isinstance(plain, tree.Comparison):
        typed = _comparison(plain, context)
        if expected is not None:
            context.fault(formula, f"found a comparison, expected a {expected}")
    else:
        typed = infer(plain, context, expected)
    settle(context, {id(part) for part in bare_identities(plain, square=scope.square)})
    if typed is None or context.faults:
        raise ModelError(context.faults)
    return resolved(typed, context)


def elaborate_condition(formula: tree.Tree, scope: Scope, entry: str, where: Place) -> ex.Compare:
    """Type an assumption, a comparison of two formulas.

    Raises:
        ModelError: It is no comparison, or has the faults that `elaborate` names.
    """
    typed = elaborate(formula, scope, None, entry, where)
    if isinstance(typed, ex.Compare):
        return typed
    context = Context(scope, entry, where)
    context.fault(formula, "found a value, expected a comparison", "write for example a*c - b**2 >= 0")
    raise ModelError(context.faults)


def without_spellings(formula: tree.Tree, context: Context) -> tree.Tree:
    """Return a tree without SymPy's spellings, within the bounds of every formula. Raises ModelError."""
    plain = spelled_out(formula, context)
    if plain is None:
        raise ModelError(context.faults)
    if plain is not formula:
        try:
            check_bounds(plain, context.entry, context.where)
        except SpecError as error:
            raise ModelError(error.faults) from None
    return plain


def infer(part: tree.Tree, context: Context, expected: Shape | None = None) -> Formula | None:
    """Type a part, its shape made the expected one; None if a fault was noted."""
    match part:
        case tree.Sum():
            return _sum(part, context, expected)
        case tree.Negate(arg):
            inner = infer(arg, context, expected)
            return None if inner is None else build.negate(inner)
        case tree.Transposed(arg):
            in_terms = isinstance(arg, tree.Sum | tree.Negate | tree.Transposed)
            inner = infer(arg, context, expected.transposed if expected is not None and in_terms else None)
            turned = None if inner is None else ex.Transpose(inner, context.shape(inner).transposed)
            return turned if turned is None or expected is None else context.fit(turned, expected, part)
        case _:
            typed = _infer_one(part, context)
            return typed if typed is None or expected is None else context.fit(typed, expected, part)


def _infer_one(part: tree.Tree, context: Context) -> Formula | None:
    match part:
        case tree.Literal(value):
            return _zero(part, context) if value == 0 and not context.scope.entrywise else ex.Number(value)
        case tree.Name():
            return resolve_name(part, context)
        case tree.Constant():
            found = language_constant(part, context)
            if found is None:
                context.fault(part, f"found {part.name}, which is not a number")
            return found
        case tree.Call():
            return _call(part, context)
        case tree.Product():
            return _product(part, context)
        case tree.Power(base, exponent):
            typed = infer_value(base, context), infer_value(exponent, context)
            return None if typed[0] is None or typed[1] is None else raise_power(part, typed[0], typed[1], context)
        case tree.Subscript():
            return _subscript(part, context)
        case tree.Explicit():
            return _explicit(part, context)
        case tree.Group():
            context.fault(part, "found a list, expected a formula", "only Piecewise and Derivative take lists")
            return None
        case _:
            context.fault(part, "a comparison can only be an assumption or the first argument of where()")
            return None


def _zero(part: tree.Literal, context: Context) -> Formula:
    shape = Shape(context.unknowns.fresh(), context.unknowns.fresh())
    context.opened.append((part, "0", shape))
    return ex.Filled(0, shape)


def infer_value(part: tree.Tree, context: Context) -> Formula | None:
    """Type a part where a 0 is the number, not a zero of any shape."""
    typed = infer(part, context)
    if typed is not None:
        shape = context.shape(typed)
        if is_open(shape.rows) and is_open(shape.cols) and shape.rows != shape.cols:
            context.unknowns.same_shape(shape, SCALAR)
    return typed


def _sum(part: tree.Sum, context: Context, expected: Shape | None) -> Formula | None:
    typed = [infer(term, context) for term in part.terms]
    known = [term for term in typed if term is not None]
    if expected is None:
        shapes = [context.shape(term) for term in known]
        settled = [shape for shape in shapes if not (is_open(shape.rows) or is_open(shape.cols))]
        # The first term that is no scalar says what the sum is, so that in `1 + theta` the 1 is at fault.
        expected = next((s for s in [*(s for s in settled if s != SCALAR), *settled, *shapes]), None)
    if expected is None:
        return None
    typed = [term and context.spread(term, expected) for term in typed]
    known = [term for term in typed if term is not None]
    if len(known) == len(typed) and expected != SCALAR and all(is_scalar(context.shape(term)) for term in known):
        return context.fit(build.add(known, SCALAR), expected, part)
    fits = [t is not None and context.fit(t, expected, p) is not None for t, p in zip(typed, part.terms, strict=True)]
    return build.add(known, context.unknowns.shape(expected)) if all(fits) else None


def _product(part: tree.Product, context: Context) -> Formula | None:
    typed: list[Factor] = []
    operators = ("*", *part.operators, "*")
    for k, factor in enumerate(part.factors):
        operand_of_matmul = operators[k] == "@" or (k == 0 and operators[1] == "@")
        formula = infer(factor, context) if operand_of_matmul else infer_value(factor, context)
        if formula is not None and operators[k] == "/":
            formula = reciprocal(formula, factor, context)
        if formula is not None:
            typed.append((formula, factor))
    return join_factors(typed, part.operators, context) if len(typed) == len(part.factors) else None


def _subscript(part: tree.Subscript, context: Context) -> Formula | None:
    arg = infer(part.arg, context)
    if arg is None:
        return None
    shape = context.shape(arg)
    if any(isinstance(position, str) for position in part.positions):
        return entry_by_data(part, arg, context)
    positions = _along_axes(tuple(position for position in part.positions if isinstance(position, int)), shape)
    if shape == SCALAR and not any(positions) and len(positions) < 3 and _is_matrix_product(part.arg):
        return arg  # 1 x 1 for NumPy and SymPy
    if len(shape.sizes) != len(positions):
        wanted = ("none: a scalar has no entries", "one position", "two positions")[len(shape.sizes)]
        context.fault(part, f"found {len(part.positions)} positions in a {context.shown(arg)}, expected {wanted}")
        return None
    for size, position in zip(shape.sizes, positions, strict=True):
        if isinstance(size, int) and position >= size:
            context.fault(part, f"found position {position}, expected 0 to {size - 1} in a {shape}", "count from 0")
            return None
        context.unknowns.require(size)
    return ex.Entry(arg, positions)


def _is_matrix_product(part: tree.Tree) -> bool:
    return isinstance(part, tree.Product) and "@" in part.operators


def _along_axes(positions: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """Return positions without the 0 along an axis that a vector does not have: SymPy's columns are [d, 1]."""
    match positions, shape:
        case (position, 0), Shape(cols=None) if shape.rows is not None and not is_open(shape.rows):
            return (position,)
        case (0, position), Shape(rows=None) if shape.cols is not None and not is_open(shape.cols):
            return (position,)
        case _:
            return positions


def _explicit(part: tree.Explicit, context: Context) -> Formula | None:
    rows: list[tuple[Formula, ...]] = []
    for row in part.rows:
        typed = [(infer(entry, context), entry) for entry in row]
        fits = [one is not None and context.fit(one, SCALAR, entry) is not None for one, entry in typed]
        rows.append(tuple(one for one, _ in typed if one is not None))
        if not all(fits):
            return None
    height, width = len(rows), len(rows[0])
    shape = Shape(None if height == 1 else height, None if width == 1 else width)
    return rows[0][0] if shape == SCALAR else ex.Explicit(tuple(rows), shape)


def _comparison(part: tree.Comparison, context: Context) -> Formula | None:
    left, right = infer(part.left, context), infer(part.right, context)
    if left is None or right is None:
        return None
    left, right = context.spread(left, context.shape(right)), context.spread(right, context.shape(left))
    if context.fit(right, left.shape, part.right) is None:
        return None
    shape = context.shape(left)
    if is_matrix(shape) and not (is_open(shape.rows) or context.scope.entrywise):
        hint = "declare that a matrix is positive definite: {is: positive definite}"
        context.fault(part, "found a comparison of matrices, expected scalars or vectors", hint)
        return None
    return ex.Compare(part.op, left, right, shape)


def _call(part: tree.Call, context: Context) -> Formula | None:
    name, scope = part.name, context.scope
    declared = None if part.language else scope.declarations.find(name)
    if isinstance(declared, Function):
        return _declared_function(part, declared, context)
    if name in JOINTS and declared is None:
        context.fault(part, f"found a condition, {name}(...), expected a number", "write where(condition, 1, 0)")
        return None
    known = name in LANGUAGE or (scope.update and name in ex.UPDATE_FUNCTIONS)
    shadowed = not part.language and any(block.name == name for block in scope.noise)
    if declared is not None or shadowed or not known:
        return no_function(part, context)
    if name == MIXTURE or density_called(part) is not None:
        if scope.densities is not None:
            return scope.densities(part, context)
        return context.fault(part, f"found the density {name}() outside the formulas of a target", OF_TARGETS)
    if len(part.args) != ARITY[name]:
        hint = f"write {name}(s, b), b the block it is taken with respect to" if name in ex.CALCULUS else ""
        context.fault(part, f"found {len(part.args)} arguments of {name}(), expected {ARITY[name]}", hint)
        return None
    match name:
        case "grad" | "div" | "hessian":
            arg, block = infer_value(part.args[0], context), block_named(part.args[1], context)
            return None if arg is None or block is None else apply_calculus(part, arg, block, context)
        case "N":
            cov = infer(part.args[1], context)
            return None if cov is None else normal_draw(part, cov, context)
        case "next":
            return updated_block(part, context)
        case "grad_tilde":
            return gradient_estimate(part, context)
        case _:
            args = [_argument(arg, name, context) for arg in part.args]
            typed = tuple(arg for arg in args if arg is not None)
            return apply_function(part, typed, context) if len(typed) == len(args) else None


def _argument(arg: tree.Tree, function: str, context: Context) -> Formula | None:
    if isinstance(arg, tree.Comparison):
        return _comparison(arg, context)
    return infer_value(arg, context) if function in ex.ELEMENTWISE else infer(arg, context)


def _declared_function(part: tree.Call, declared: Function, context: Context) -> Formula | None:
    scope, given = context.scope, names_given(part)
    value = declared.value.at(given)
    if given == declared.of or scope.declarations.find(value.name) is not None:
        return value
    own, others = ([scope.declarations.find(name) for name in names] for names in (declared.of, given))
    alike = [(block.shape, block.domain) if isinstance(block, Block) else None for block in (*own, *others)]
    known = [f.value for f in scope.declarations.functions if f.value.declared == declared.name]
    calls = " or ".join(text(value) for value in known)
    if not scope.at_any_blocks:
        context.fault(part, f"found {value.name}, expected {calls}, as declared")
    elif len(set(given)) < len(given) or alike[: len(own)] != alike[len(own) :]:
        hint = "at other blocks of the same shapes and domains it may stand, too"
        context.fault(part, f"found {value.name}, expected {calls}, as declared", hint)
    else:
        return value
    return None


def settle(context: Context, bare: Set[int]) -> None:
    """Let a zero that nothing determines be the number 0; note every other size that is left open.

    An `I` that stands where no matrix can be, `bare` by identity, is not taken for the number 1: another was meant.
    """
    for _, written, shape in context.opened:
        known = context.unknowns.shape(shape)
        if written == "0" and is_open(known.rows) and is_open(known.cols):
            context.unknowns.same_shape(known, SCALAR)
    if context.faults:
        return
    for part, written, shape in context.opened:
        known = context.unknowns.shape(shape)
        if is_open(known.rows) or is_open(known.cols):
            context.fault(part, f"nothing determines the size of this {written}", "put it beside a declared name")
        elif known == SCALAR and id(part) in bare:
            hint = "leave it out, or declare the scalar that it stands for"
            context.fault(part, f"found I, expected a scalar: {NO_UNIT}", hint)


def resolved(formula: Formula, context: Context) -> Formula:
    """Return a formula with the sizes that its unknowns have been found to be."""
    new = [resolved(part, context) for part in build.parts(formula)]
    return build.rebuild(formula, new, context.unknowns.shape)


def entry_by_data(part: tree.Subscript, arg: Formula, context: Context) -> Formula | None:
    """Return an entry of a vector, a row of a matrix, or an entry of it, at positions of which the data say some.

    `F[u]` is the row u of F, `F[u, v]` and `F[u, 0]` are entries. None where a fault was noted: a name that is no index
    field of the data, one of an axis of another length, too many positions.
    """
    shape, positions = context.shape(arg), part.positions
    axes = shape.sizes
    fewest = 1 if len(axes) == 2 else len(axes)
    if not fewest <= len(positions) <= len(axes):
        wanted = ("none: a scalar has no entries", "one position", "a row or two positions")[len(axes)]
        context.fault(part, f"found {len(positions)} positions in a {context.shown(arg)}, expected {wanted}")
        return None
    found: Formula | None = arg
    for position, size, axis in zip(positions, axes, range(2), strict=False):
        last = axis == 1 or len(axes) == 1
        if isinstance(position, int):
            found = found and _at_number(part, found, position, size, context, last=last)
            continue
        row = _row_at(part, position, size, context)
        if found is None or row is None:
            return None
        own = context.shape(found)
        if own.rows is None:
            found = ex.MatMul(found, ex.Transpose(row, row.shape.transposed), SCALAR)
        else:
            found = ex.MatMul(row, found, Shape(None, None if last else own.cols))
    return found


def _row_at(part: tree.Subscript, position: str, size: Size, context: Context) -> Formula | None:
    """Return the row with a one at a position that an index field or a label says; None where a fault was noted."""
    declared = context.scope.declarations.find(position)
    is_label = isinstance(declared, Block) and declared.domain.name is DomainName.ONE_HOT
    if not (is_label or (isinstance(declared, Datum) and declared.is_index)):
        problem, hint = f"found {position}, expected a position 0, 1, 2, ...", NO_LETTERS
        if isinstance(declared, Datum):
            hint = (
                f"declare it as an index: {position}: {{shape: {declared.size}, index_of: J}}, J the length of the axis"
            )
        elif isinstance(declared, Block) and declared.domain.name in DISCRETE:
            problem = f"found the block {position} as a position, expected 0, 1, 2, ... or an index field of the data"
            hint = f"labels of the state are rows with a one: `{position}: {{shape: [N, K], domain: one_hot}}`"
        elif fields := tuple(datum.name for datum in context.scope.declarations.data if datum.is_index):
            problem, hint = f"{problem}, or an index field of the data", nearest(position, fields) or NO_LETTERS
        return context.fault(part, problem, hint)
    own = declared.shape.sizes[-1]
    if not context.unknowns.same(own, size):
        problem = f"found {position}, an index of {own}, along an axis of length {size}"
        stated = f"shape: [N, {size}], domain: one_hot" if is_label else f"index_of: {size}"
        return context.fault(part, problem, f"declare {position}: {{{stated}}}, or give the axis the length {own}")
    if isinstance(declared, Datum):
        if declared.shape.rows is None:
            return ex.Symbol(position, Shape(None, own), Role.INDEX)
        problem = f"found the index field {position} in a formula of all data at once, such as one under `laws`"
        rows = f"declare {{shape: [{declared.size}, {own}], in: [0, 1]}}, a row for each datum"
        return context.fault(part, problem, f"{rows}, and write {position} @ A")
    if len(declared.shape.sizes) == 2:
        hint = f"write {position} @ A for all data at once; {position} is one row in log_likelihood alone"
        return context.fault(part, f"found the rows of {position} all at once as a position", hint)
    block = ex.Symbol(position, declared.shape, Role.BLOCK)
    return block if declared.shape.rows is None else ex.Transpose(block, Shape(None, own))


def _at_number(
    part: tree.Subscript, arg: Formula, position: int, size: Size, context: Context, *, last: bool
) -> Formula | None:
    if isinstance(size, int) and position >= size:
        context.fault(part, f"found position {position}, expected 0 to {size - 1} of {size}", "count from 0")
        return None
    if last:
        return ex.Entry(arg, (position,))
    context.fault(part, "found a number before an index field of the data", "write A.T[g, 0] for A[0, g]")
    return None
