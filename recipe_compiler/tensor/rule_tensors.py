"""Rules of functions, stated as formulas in one variable, as tensors: `1/(1 + x**2)` at an argument x."""

from fractions import Fraction
from functools import cache

from recipe_compiler.errors import CompilerError, Place
from recipe_compiler.formula import tree
from recipe_compiler.formula.syntax import parse
from recipe_compiler.tensor.calculus_protocol import Arithmetic, as_number, constant
from recipe_compiler.tensor.terms import Pi, Tensor, Term

PI = Tensor((), (Term(Fraction(1), ((Pi(), Fraction(1)),)),))


def written(c: Arithmetic, rule: str, x: Tensor) -> Tensor:
    """Return a rule in the variable `x` at a tensor, entry by entry.

    The slope 1/(1 + x**2) of arctan at theta_i is (1 + theta_i**2)**(-1), with the free indices of theta_i.

    Raises:
        CompilerError: the rule holds something else than numbers, pi, x, sums, products, powers and functions.
    """
    return _evaluate_tree(c, _parse_rule(rule), x)


@cache
def _parse_rule(rule: str) -> tree.Tree:
    """Return the syntax tree of a rule, parsed once."""
    return parse(rule, "rule", Place(""))


def _evaluate_tree(c: Arithmetic, part: tree.Tree, x: Tensor) -> Tensor:
    """Return the tensor of a syntax tree with x put in for the variable."""
    match part:
        case tree.Literal(number):
            return constant(number)
        case tree.Name("x"):
            return x
        case tree.Name("pi"):
            return PI
        case tree.Negate(arg):
            return c.scale(_evaluate_tree(c, arg, x), -1)
        case tree.Sum(terms):
            return c.add(*(_evaluate_tree(c, term, x) for term in terms))
        case tree.Product(factors, operators):
            values = [_evaluate_tree(c, factor, x) for factor in factors]
            powers = (1, *(-1 if operator == "/" else 1 for operator in operators))
            return c.multiply(*(c.power(v, n) if n < 0 else v for v, n in zip(values, powers, strict=True)))
        case tree.Power(base, exponent):
            number = as_number(_evaluate_tree(c, exponent, x))
            if number is not None:
                return c.power(_evaluate_tree(c, base, x), number)
        case tree.Call(fn, args):
            return c.applied(fn, *(_evaluate_tree(c, arg, x) for arg in args))
        case _:
            pass
    raise CompilerError(f"found {type(part).__name__} in the rule of an elementwise function")
