"""SymPy objects to syntax trees, as SymPy prints them: an object and its text are one formula.

What has no counterpart in the language is refused, its class named.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import sympy
from sympy.core.function import AppliedUndef

# `c*(a + b)` as its printer sees it, c not distributed: there is no public function for that
from sympy.core.mul import _keep_coeff
from sympy.core.relational import Relational
from sympy.matrices.expressions.dotproduct import DotProduct
from sympy.matrices.expressions.matexpr import MatrixElement

from recipe_compiler.formula import tree
from recipe_compiler.formula.bounds import MAX_DEPTH
from recipe_compiler.formula.names import LANGUAGE, WRITE_INSTEAD
from recipe_compiler.formula.python_declaration import checked_name, literal, refusal
from recipe_compiler.formula.spellings import SPELLED
from recipe_compiler.formula.sympy_names import (
    Object,
    block_name,
    entry_positions,
    is_one_by_one,
    means_its_name,
)
from recipe_compiler.formula.sympy_sums import contracted
from recipe_compiler.formula.tree import Tree

_RELATIONS = frozenset({">", ">=", "<", "<=", "=="})
_JOINTS: dict[type[sympy.Basic], str] = {sympy.And: "And", sympy.Or: "Or", sympy.Not: "Not"}
_ONE = tree.Literal(Fraction(1))

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
        hint = "formulas are of real numbers" if obj.has(sympy.I) else WRITE_INSTEAD.get(kind.__name__, "")
        if not means_its_name(kind):
            hint = "only SymPy's own classes can be read: write the formula"
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
            return _call("exp", _ONE)
        case sympy.EulerGamma | sympy.GoldenRatio:
            return tree.Constant(str(obj))
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
        case DotProduct():
            return _call("dot", *map(read, obj.args))
        case sympy.MatAdd():
            return tree.Sum(tuple(read(arg) for arg in obj.args))
        case sympy.Add():
            first, *others = obj.as_ordered_terms()
            return tree.Sum((read(first), *(_term(term, read) for term in others)))
        case sympy.Mul():
            return _product(obj, read)
        case sympy.Pow():
            return _power(obj, read)
        case sympy.HadamardPower():
            return tree.Power(read(obj.args[0]), read(obj.args[1]))
        case sympy.Ne():
            return _call("Ne", read(obj.lhs), read(obj.rhs))
        case Relational():
            return _relation(obj, read)
        case sympy.true:
            return tree.Constant("True")
        case sympy.And() | sympy.Or() | sympy.Not():
            return _call(_JOINTS[obj.func], *map(read, obj.args))
        case _:
            return None


def _relation(obj: Object, read: Read) -> Tree | None:
    op = obj.rel_op
    return tree.Comparison(op, read(obj.lhs), read(obj.rhs)) if op in _RELATIONS else None


def _times(factors: Sequence[Tree], operator: str) -> Tree:
    return tree.Product(tuple(factors), (operator,) * (len(factors) - 1)) if len(factors) > 1 else factors[0]


def _term(term: Object, read: Read) -> Tree:
    """Write a term behind the first: `- x` where its number is negative."""
    if not term.as_coeff_Mul()[0].is_negative:
        return read(term)
    return tree.Negate(_quotient(term, read) if term.is_Mul else read(-term))


def _product(obj: Object, read: Read) -> Tree:
    """Write `-2*x/3` and not `(-2/3)*x`."""
    found = _quotient(obj, read)
    if not obj.as_coeff_Mul()[0].is_negative:
        return found
    if not isinstance(found, tree.Product):
        return tree.Negate(found)
    first, *others = found.factors
    return tree.Product((tree.Negate(first), *others), found.operators)


def _quotient(obj: Object, read: Read) -> Tree:
    """Return a product without the sign of its number, one fraction: `x*y/(z*w)`."""
    coefficient, rest = obj.as_coeff_Mul()
    if coefficient.is_negative:
        obj = _keep_coeff(-coefficient, rest)
    above: list[Tree] = []
    below: list[Tree] = []
    for factor in obj.as_ordered_factors():
        exponent = factor.exp if factor.is_Pow else None
        if exponent is not None and exponent.as_coeff_Mul()[0].is_negative:
            below.append(read(factor.base if exponent == -1 else sympy.Pow(factor.base, -exponent, evaluate=False)))
        elif factor.is_Rational and not factor.is_Integer:
            above += [read(sympy.Integer(factor.p))] if factor.p != 1 else []
            below.append(read(sympy.Integer(factor.q)))
        elif factor != 1:
            above.append(read(factor))
    parts = above or [_ONE]
    if not below:
        return _times(parts, "*")
    return tree.Product((*parts, _times(below, "*")), ("*",) * (len(parts) - 1) + ("/",))


def _power(obj: Object, read: Read) -> Tree:
    base, exponent = obj.args
    if exponent in (sympy.S.Half, -sympy.S.Half):
        root = _call("sqrt", read(base))
        return root if exponent.is_positive else tree.Product((_ONE, root), ("/",))
    if exponent == -1:
        return tree.Product((_ONE, read(base)), ("/",))
    return tree.Power(read(base), read(exponent))


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
        case sympy.MatrixBase() if 0 not in obj.shape:
            return tree.Explicit(tuple(tuple(read(entry) for entry in row) for row in obj.tolist()))
        case sympy.BlockMatrix():
            raise refusal("found a BlockMatrix within a formula", "blocks of D and Q go row by row; name the rest")
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
    match obj:
        case AppliedUndef():
            blocks = tuple(tree.Name(block_name(arg)) for arg in obj.args)
            return tree.Call(checked_name(kind.__name__), blocks)
        case sympy.Derivative():
            variables = [_variable(pair.args[0], pair.args[1], read) for pair in obj.args[1:]]
            return _call("Derivative", read(obj.expr), *variables)
        case sympy.Piecewise():
            return _call("Piecewise", *(tree.Group(tuple(map(read, case.args))) for case in obj.args))
        case sympy.Sum():
            return contracted(obj, read)
        case sympy.Heaviside():
            return _call("Heaviside", *map(read, obj.pargs))
        case sympy.Max() | sympy.Min():
            return _call(kind.__name__, *map(read, sorted(obj.args, key=sympy.default_sort_key)))
        case sympy.Function() | sympy.MatrixExpr() | sympy.Trace() | sympy.Determinant() if _is_known(kind):
            return _call(kind.__name__, *map(read, obj.args))
        case _:
            return None


def _is_known(kind: type) -> bool:
    """Whether a class of SymPy's has the name of a function that formulas have, or read."""
    return means_its_name(kind) and (kind.__name__ in LANGUAGE or kind.__name__ in SPELLED)


def _variable(variable: Object, count: Object, read: Read) -> Tree:
    return read(variable) if count == 1 else tree.Group((read(variable), read(count)))
