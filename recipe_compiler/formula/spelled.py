"""Rules that read what SymPy prints where no template of the language does: numbers, conditions, matrices, derivatives.

`where(a & b, yes, no)` is `where(a, where(b, yes, no), no)` and `where(a | b, yes, no)` is `where(a, yes, where(b, yes,
no))`: the same values at every point, those where a side of a comparison is equal to the other included.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from math import comb
from math import factorial as whole_factorial

from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.shapes import Size
from recipe_compiler.formula.tree import At, Call, Literal, Tree

MOST_FACTORS = 20
"""binomial(n, k) of a number k up to this is the polynomial n (n - 1) ... / k!."""
MOST_WHOLE = 1000
"""Factorials and binomials are worked out up to this argument; beyond, they are out of bounds, or gamma functions."""
MOST_DERIVATIVES = 4
MOST_ROWS = 1000
"""Rows or columns of a constant matrix whose size is a number."""

ONE = Literal(Fraction(1))
JOINTS = frozenset({"And", "Or", "Not", "Ne"})
"""Conditions that are no comparison of the language: they are gone once `where` is written out."""
_SEVERAL = {
    "Add": "+",
    "Mul": "*",
    "HadamardProduct": "*",
    "Max": "maximum",
    "Min": "minimum",
    "KroneckerProduct": "kron",
}
_CONSTANTS = {"eye": "I", "Identity": "I", "zeros": "0", "ZeroMatrix": "0", "ones": "1", "OneMatrix": "1"}


def value_of(part: Tree) -> Fraction | None:
    """Return the value of a constant made of numbers by + - * /, whose size has been bounded; None of any other."""
    if isinstance(part, Literal):
        return part.value
    values: list[Fraction] = []
    for inner in tree.parts(part):
        value = value_of(inner)
        if value is None:
            return None
        values.append(value)
    match part:
        case tree.Negate():
            return -values[0]
        case tree.Sum():
            return sum(values, Fraction(0))
        case tree.Product(_, operators) if "@" not in operators:
            factors = [*zip(operators, values[1:], strict=True)]
            return None if ("/", 0) in factors else reduce(_by, factors, values[0])
        case _:
            return None


def _by(total: Fraction, factor: tuple[str, Fraction]) -> Fraction:
    operator, value = factor
    return total / value if operator == "/" else total * value


def whole_of(part: Tree) -> int | None:
    """Return the value of a constant that is a whole number."""
    value = value_of(part)
    return int(value) if value is not None and value.denominator == 1 else None


def number(value: Fraction | int, at: At) -> Tree:
    """Return a number where a part stood."""
    made = Literal(abs(Fraction(value)), at)
    return tree.Negate(made, at) if value < 0 else made


def call(name: str, at: At, *args: Tree) -> Call:
    """Return a call of the language's function."""
    return Call(name, args, at, language=True)


def integer(part: Call, context: Context) -> Tree | None:
    """Integer(n)."""
    value = whole_of(part.args[0]) if len(part.args) == 1 else None
    if value is None:
        return context.fault(part, "found no whole number in Integer(...)", "write Integer(3), or 3")
    return number(value, part.at)


def several(part: Call, context: Context) -> Tree:
    """Max(a, b, ...): a sum, a product, or a function of two arguments at all of a call's, the last two first."""
    args, means = part.args, _SEVERAL[part.name]
    if len(args) == 1:
        return args[0]
    if means == "+":
        return tree.Sum(args, part.at)
    if means == "*":
        return tree.Product(args, ("*",) * (len(args) - 1), part.at)
    return reduce(lambda right, left: call(means, part.at, left, right), reversed(args))


def factorial(part: Call, context: Context) -> Tree | None:
    """Return the factorial of a whole number; None of any other."""
    whole = whole_of(part.args[0])
    if whole is not None and whole < 0:
        context.fault(part, f"found factorial({whole}), which is not a number", "factorials need n = 0, 1, 2, ...")
    return number(whole_factorial(whole), part.at) if whole is not None and 0 <= whole <= MOST_WHOLE else None


def binomial(part: Call, context: Context) -> Tree | None:
    """Return a binomial as a number, or a polynomial in n, where k (and n) is whole; None elsewhere."""
    n, k = part.args
    at, whole, of = part.at, whole_of(k), whole_of(n)
    if whole is None:
        return None
    if whole < 0:
        if of is not None and of < 0:
            context.fault(part, "found another binomial(...), expected binomial(n, k) of k >= 0")
        return number(0, at)
    if of is not None and whole <= MOST_WHOLE and 0 <= of <= MOST_WHOLE:
        return number(comb(of, whole), at)
    if whole > MOST_FACTORS:
        return None
    factors = [tree.Sum((n, tree.Negate(number(i, at), at)), at) if i else n for i in range(whole)]
    return tree.Product((ONE, *factors, number(whole_factorial(whole), at)), ("*",) * whole + ("/",), at)


def polygamma(part: Call, context: Context) -> Tree | None:
    """Return the digamma function of order 0, the trigamma function of order 1."""
    order = whole_of(part.args[0])
    if len(part.args) != 2 or order not in (0, 1):
        return context.fault(part, "found a polygamma(n, x) that formulas do not have, expected n = 0 or 1")
    return call("trigamma" if order else "digamma", part.at, part.args[1])


def log_sum_exp(part: Call, context: Context) -> Tree:
    """logsumexp(a, b, ...) of numbers; of one vector it is the language's own."""
    if len(part.args) == 1:
        return part
    return call("log", part.at, tree.Sum(tuple(call("exp", part.at, arg) for arg in part.args), part.at))


def derivative(part: Call, context: Context) -> Tree | None:
    """Derivative(f, x, (y, 2)), diff(f, x, x): gradients by blocks, or by an entry of one."""
    found, *variables = part.args
    if not variables:
        return context.fault(part, f"found no variable in {part.name}(...)", f"write {part.name}(f, x)")
    total = 0
    for variable in variables:
        by, count = variable.items if isinstance(variable, tree.Group) and len(variable.items) == 2 else (variable, ONE)
        order = whole_of(count) or 0
        total += order
        if order < 1 or total > MOST_DERIVATIVES:
            return context.fault(part, f"found a derivative of another order, expected 1 to {MOST_DERIVATIVES} in all")
        block = by.arg if isinstance(by, tree.Subscript) else by
        for _ in range(order):
            found = call("grad", part.at, found, block)
            found = tree.Subscript(found, by.positions, part.at) if isinstance(by, tree.Subscript) else found
    return found


def piecewise(part: Call, context: Context) -> Tree | None:
    """Piecewise((a, x > 0), (b, x > -1), (c, True)): the first case whose condition holds."""
    cases = [case.items for case in part.args if isinstance(case, tree.Group) and len(case.items) == 2]
    if len(cases) < len(part.args):
        return context.fault(part, "found a case that is not a pair", "write Piecewise((a, x > 0), (b, True))")
    *before, last = [isinstance(condition, tree.Constant) and condition.name == "True" for _, condition in cases]
    if not last:
        return context.fault(part, "found a Piecewise without a last case for all the rest", "add (value, True)")
    if any(before):
        return context.fault(part, "found a case behind (value, True), which is never reached", "leave it out")
    found: Tree | None = cases[-1][0]
    for value, condition in reversed(cases[:-1]):
        found = None if found is None else _chosen(condition, value, found, part.at, context)
    return found


def where(part: Call, context: Context) -> Tree | None:
    """Return `where(condition, yes, no)` of comparisons, the condition of any form."""
    if len(part.args) != 3 or isinstance(part.args[0], tree.Comparison):
        return part
    return _chosen(*part.args, part.at, context)


def _chosen(condition: Tree, yes: Tree, no: Tree, at: At, context: Context) -> Tree | None:
    match condition:
        case tree.Comparison():
            return call("where", at, condition, yes, no)
        case Call("Not", (arg,)):
            return _chosen(arg, no, yes, at, context)
        case Call("Ne", (left, right)):
            return call("where", at, tree.Comparison("==", left, right, condition.at), no, yes)
        case Call("And" | "Or", (first,)):
            return _chosen(first, yes, no, at, context)
        case Call("And" | "Or" as name, (first, *others)):
            rest = _chosen(Call(name, tuple(others), condition.at, language=True), yes, no, at, context)
            if rest is None:
                return None
            return _chosen(first, rest, no, at, context) if name == "And" else _chosen(first, yes, rest, at, context)
        case _:
            return context.fault(condition, "found a value, expected a condition", "write for example x > 0")


def matrix(part: Call, context: Context) -> Tree | None:
    """Matrix([[a, b], [c, d]]), Matrix([a, b]) (a column), Matrix(2, 2, [a, b, c, d])."""
    match part.args:
        case (tree.Explicit() as whole,):
            return tree.placed(whole, part.at)
        case (height, width, tree.Explicit(entries)):
            n, m = whole_of(height), whole_of(width)
            flat = [entry for row in entries for entry in row]
            if n and m and n * m == len(flat):
                return tree.Explicit(tuple(tuple(flat[k : k + m]) for k in range(0, n * m, m)), part.at)
    hint = "write Matrix([[a, b], [c, d]]), a column Matrix([a, b])"
    return context.fault(part, f"found no rows of one length in {part.name}(...)", hint)


def diagonal(part: Call, context: Context) -> Tree:
    """diag(a, b, ...) of numbers; of one vector it is the language's own."""
    n = len(part.args)
    if n == 1:
        return part
    zero = number(0, part.at)
    return tree.Explicit(tuple(tuple(part.args[i] if i == j else zero for j in range(n)) for i in range(n)), part.at)


def constant(part: Call, context: Context) -> Tree | None:
    """eye(n), Identity(n), zeros(n, m), ones(n, m), ZeroMatrix(n, m), OneMatrix(n, m); zeros(n) is square."""
    name = _CONSTANTS[part.name]
    sizes = [_size(arg, context) for arg in part.args]
    if None in sizes or len(sizes) > (1 if part.name == "Identity" else 2):
        expected = f"a size of the document, or a number up to {MOST_ROWS}"
        return context.fault(part, f"found another size in {part.name}(...), expected {expected}")
    if name == "I" and len({*sizes}) > 1:
        return context.fault(part, f"found {part.name}(n, m) that is not square", "the identity is square")
    rows, cols = (None if size == 1 else size for size in (sizes[0], sizes[-1]))
    return tree.Sized(name, rows, cols, part.at)


def _size(part: Tree, context: Context) -> Size | None:
    if isinstance(part, tree.Name):
        return part.name if part.name in context.scope.declarations.sizes else None
    value = whole_of(part)
    return value if value is not None and 0 < value <= MOST_ROWS else None


Rule = Callable[[Call, Context], Tree | None]

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_SEVERAL, several), **dict.fromkeys(_CONSTANTS, constant), "Integer": integer,
    "Piecewise": piecewise, "where": where, "polygamma": polygamma, "logsumexp": log_sum_exp,
    "Derivative": derivative, "diff": derivative, "Matrix": matrix, "ImmutableMatrix": matrix, "diag": diagonal,
}  # fmt: skip
"""By the functions whose calls they read: the number of arguments varies, or what they are does."""

EXACT: Mapping[str, Rule] = {"factorial": factorial, "binomial": binomial}
"""What functions are at whole numbers; None at others, where they are what their template says."""
