"""Rules that read what SymPy prints where no template of the language does: numbers, conditions, derivatives.

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
from recipe_compiler.formula.tree import At, Call, Literal, Tree

MOST_FACTORS = 20
"""binomial(n, k) of a number k up to this is the polynomial n (n - 1) ... / k!."""
MOST_WHOLE = 1000
"""Factorials and binomials are worked out up to this argument; beyond, they are out of bounds, or gamma functions."""
MOST_DERIVATIVES = 4

ONE = Literal(Fraction(1))
JOINTS = frozenset({"And", "Or", "Not", "Ne"})
"""Conditions that are no comparison of the language: they are gone once `where` is written out."""
_SEVERAL = {"HadamardProduct": "*", "Max": "maximum", "Min": "minimum", "KroneckerProduct": "kron"}


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


def several(part: Call, context: Context) -> Tree:
    """Max(a, b, ...): a product, or a function of two arguments at all of a call's, the last two first."""
    args, means = part.args, _SEVERAL[part.name]
    if len(args) == 1:
        return args[0]
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


Rule = Callable[[Call, Context], Tree | None]

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_SEVERAL, several), "Piecewise": piecewise, "where": where, "Derivative": derivative,
    "diff": derivative,
}  # fmt: skip
"""By the functions whose calls they read: the number of arguments varies, or what they are does."""

EXACT: Mapping[str, Rule] = {"factorial": factorial, "binomial": binomial}
"""What functions are at whole numbers; None at others, where they are what their template says."""
