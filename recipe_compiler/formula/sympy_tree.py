"""SymPy objects to syntax trees. What has no counterpart in the language is refused, its class named."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

import sympy
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.matrices.expressions.matexpr import MatrixElement

from recipe_compiler.formula import tree
from recipe_compiler.formula.bounds import MAX_DEPTH
from recipe_compiler.formula.declared import checked_name, refusal
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.exact import literal
from recipe_compiler.formula.sympy_names import Object, block_name, entry_positions, is_one_by_one
from recipe_compiler.formula.tree import Tree

_FUNCTIONS: dict[type[sympy.Basic], str] = {
    **{getattr(sympy, row.sympy): row.name for row in FUNCTIONS.values() if row.sympy},
    sympy.Trace: "trace", sympy.Determinant: "det", sympy.DiagMatrix: "diag",
}  # fmt: skip
_NARY: dict[type[sympy.Basic], str] = {sympy.Min: "minimum", sympy.Max: "maximum", sympy.KroneckerProduct: "kron"}
_RELATIONS = frozenset({">", ">=", "<", "<=", "=="})

Read = Callable[[Object], Tree]


def sympy_tree(obj: Object, depth: int = 0) -> Tree:
    """Return the tree of a SymPy object. Raises SpecError for a class that the language does not have."""
    if depth > MAX_DEPTH:
        raise refusal(f"nested more than {MAX_DEPTH} deep", "name a part, or split the formula")

    def read(node: Object) -> Tree:
        return sympy_tree(node, depth + 1)

    found = _number(obj) or _name(obj) or _arithmetic(obj, read) or _matrix(obj, read) or _function(obj, read)
    if found is None:
        kind = type(obj)
        hint = "a product of row and column that is a scalar is written Trace(...)" if kind is sympy.Sum else ""
        raise refusal(f"found a SymPy object of class {kind.__name__}, which formulas do not have", hint)
    return found


def _call(name: str, *args: Tree) -> Tree:
    return tree.Call(name, args, language=True)


def _number(obj: Object) -> Tree | None:
    if obj in (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan):
        raise refusal(f"found {obj}, which is not a number", "formulas are finite everywhere on their domain")
    match obj:
        case sympy.Rational():
            return literal(Fraction(int(obj.p), int(obj.q)))
        case sympy.Float():
            # As everywhere, a float is the decimal it is printed as: all digits of a Float, the shortest of a double.
            double = float(obj)
            return literal(Fraction(repr(double)) if sympy.Float(double) == obj else Fraction(str(obj)))
        case sympy.pi:
            return tree.Constant("pi")
        case sympy.E:
            return _call("exp", tree.Literal(Fraction(1)))
        case _:
            return None


def _name(obj: Object) -> Tree | None:
    match obj:
        case sympy.Symbol() | sympy.MatrixSymbol():
            return tree.Name(checked_name(str(obj.name)))
        case sympy.Identity():
            return tree.Constant("I")
        case sympy.ZeroMatrix():
            return tree.Literal(Fraction(0))
        case sympy.OneMatrix() if obj.shape[1] == 1:
            return tree.Constant("ones")
        case sympy.OneMatrix() if obj.shape[0] == 1:
            return tree.Transposed(tree.Constant("ones"))
        case _:
            return None


def _arithmetic(obj: Object, read: Read) -> Tree | None:
    match obj:
        case sympy.MatMul():  # before Mul, of which it is a subclass; so is MatAdd of Add
            return _matrix_product(obj, read)
        case sympy.HadamardProduct():
            return _times([read(arg) for arg in obj.args], "*")
        case sympy.MatAdd():
            return tree.Sum(tuple(read(arg) for arg in obj.args))
        case sympy.Add():
            return tree.Sum(tuple(read(term) for term in obj.as_ordered_terms()))
        case sympy.Mul():
            return _product(obj, read)
        case sympy.Pow() | sympy.HadamardPower():
            return tree.Power(read(obj.args[0]), read(obj.args[1]))
        case Relational():
            return _relation(obj, read)
        case _:
            return None


def _relation(obj: Object, read: Read) -> Tree | None:
    op = obj.rel_op
    return tree.Comparison(op, read(obj.lhs), read(obj.rhs)) if op in _RELATIONS else None


def _times(factors: Sequence[Tree], operator: str) -> Tree:
    return tree.Product(tuple(factors), (operator,) * (len(factors) - 1)) if len(factors) > 1 else factors[0]


def _product(obj: Object, read: Read) -> Tree:
    """Write `x * y**(-2)` as `x / y**2`, a negative coefficient as a negation."""
    if obj.as_coeff_Mul()[0].is_negative:
        return tree.Negate(read(-obj))
    factors: list[Tree] = []
    divisors: list[Tree] = []
    for factor in obj.as_ordered_factors():
        exponent = factor.exp if isinstance(factor, sympy.Pow) else None
        if isinstance(exponent, sympy.Rational) and exponent < 0 and not factor.is_number:
            divisors.append(read(1 / factor))
        else:
            factors.append(read(factor))
    parts = factors or [tree.Literal(Fraction(1))]
    operators = ("*",) * (len(parts) - 1) + ("/",) * len(divisors)
    return tree.Product((*parts, *divisors), operators) if operators else parts[0]


def _matrix_product(obj: Object, read: Read) -> Tree:
    """Write scalars, and 1 x 1 products that act as such, with `*`; the rest with `@`."""
    coefficient, matrices = obj.as_coeff_matrices()
    product = _times([read(matrix) for matrix in matrices], "@")
    if coefficient == 1:
        return product
    if coefficient == -1:
        return tree.Negate(product)
    return tree.Product((read(coefficient), product), ("*",))


def _matrix(obj: Object, read: Read) -> Tree | None:
    match obj:
        case sympy.Transpose():
            return tree.Transposed(read(obj.args[0]))
        case sympy.Trace() if is_one_by_one(obj.args[0]):
            return read(obj.args[0])
        case MatrixElement():
            positions = entry_positions(obj)
            return tree.Subscript(read(obj.args[0]), positions) if positions else read(obj.args[0])
        case sympy.MatPow():
            return _matrix_power(obj, read)
        case sympy.MatrixBase() if obj.shape == (1, 1):
            return read(obj[0, 0])
        case sympy.MatrixBase() | sympy.BlockMatrix():
            raise refusal("found an explicit matrix within a formula", "blocks of D and Q go row by row; name the rest")
        case _:
            return None


def _matrix_power(obj: Object, read: Read) -> Tree:
    base, exponent = read(obj.args[0]), obj.args[1]
    if not isinstance(exponent, sympy.Integer) or exponent == 0 or abs(exponent) > 20:
        raise refusal(f"found a matrix to the power {exponent}, expected an integer from -20 to 20 that is not 0")
    factor = base if exponent > 0 else _call("inv", base)
    return _times([factor] * abs(int(exponent)), "@")


def _function(obj: Object, read: Read) -> Tree | None:
    kind = type(obj)
    if kind in _FUNCTIONS and len(obj.args) == 1:
        return _call(_FUNCTIONS[kind], read(obj.args[0]))
    if kind in _NARY:
        return reduce(lambda left, right: _call(_NARY[kind], left, right), [read(arg) for arg in obj.args])
    match obj:
        case AppliedUndef():
            blocks = tuple(tree.Name(block_name(arg)) for arg in obj.args)
            return tree.Call(checked_name(kind.__name__), blocks)
        case sympy.Derivative():
            return _derivative(obj, read)
        case sympy.polygamma() if obj.args[0] in (0, 1):
            return _call("digamma" if obj.args[0] == 0 else "trigamma", read(obj.args[1]))
        case sympy.Piecewise():
            return _piecewise(obj, read)
        case _:
            return None


def _derivative(obj: Object, read: Read) -> Tree:
    derived = read(obj.expr)
    for variable, count in obj.variable_count:
        if not isinstance(count, sympy.Integer) or count > 4:
            raise refusal(f"found a derivative of order {count}, expected at most 4")
        for _ in range(int(count)):
            derived = _call("grad", derived, read(variable))
    return derived


def _piecewise(obj: Object, read: Read) -> Tree:
    *cases, last = obj.args
    if last.cond != sympy.true:
        raise refusal("found a Piecewise without a last case for all the rest", "add (value, True)")
    written = read(last.expr)
    for case in reversed(cases):
        if not isinstance(case.cond, Relational):
            raise refusal(f"found the condition {case.cond}, expected one comparison")
        written = _call("where", read(case.cond), read(case.expr), written)
    return written
