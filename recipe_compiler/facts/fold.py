"""One fold over the nodes of a formula; a domain says what holds of each entry of a result, given its parts.

The fold knows the grammar: a product of matrices is a sum of products, a row of an index field picks an entry, a
`where` is one of two. A domain knows its values. To write one, subclass `Domain`:

- a value of `T` says something of every entry of a formula, at every admissible point, for every size; `top` says
  nothing, and is always right. Where a rule does not apply, leave the method out: the result is then `top`;
- `number` and `name` give the values of leaves, the others those of results: `add`, `times`, `power`, `function` (by
  the row of the function), `join` (one of two), `total` (a sum of one or more entries), `joint` (any other);
- `whole` adds what is known of a formula by itself (a theorem about it), `assumed` what a document assumes of some;
  `meet` puts it together with what the parts say.

What a value rests on is part of it, so that it is gathered wherever values are combined (`ranges.Bound.given`).

Worked example, parity in x with `sin(x) * x`: `name` gives ODD for x, `function` ODD for sin(x), `times` EVEN.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Generic, TypeVar

from recipe_compiler import limits
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import entry_of, nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.triangular import entry_at

Formula = ex.Formula
T = TypeVar("T")


class Domain(Generic[T]):
    """Values of one property, and their arithmetic."""

    top: T

    def number(self, value: Fraction) -> T:
        """Return the value of a number."""
        return self.top

    def name(self, symbol: ex.Symbol | ex.FunctionAt, declarations: Declarations) -> T:
        """Return the value of the entries of a declared name."""
        return self.top

    def add(self, x: T, y: T) -> T:
        """Return the value of x + y."""
        return self.top

    def times(self, x: T, y: T) -> T:
        """Return the value of x y."""
        return self.top

    def power(self, x: T, exponent: Fraction) -> T:
        """Return the value of x**exponent wherever it is defined."""
        return self.top

    def function(self, name: str, x: T) -> T:
        """Return the value of an elementwise function of x wherever it is defined."""
        return self.top

    def join(self, x: T, y: T) -> T:
        """Return the value of what is x or y."""
        return self.top

    def joint(self, name: str, values: list[T]) -> T:
        """Return the value of another function of all entries of its arguments: a determinant, a larger one of two.

        Of `where` they are the sides of the condition, then the pieces, of `power` a base and an exponent.
        """
        return self.top

    def total(self, x: T) -> T:
        """Return the value of a sum of one or more entries."""
        return self.add(x, x)

    def whole(self, formula: Formula, declarations: Declarations, ask: Callable[[Formula], T]) -> T:
        """Return what is known of a formula beside what its parts say; `ask` gives the value of another formula."""
        return self.top

    def assumed(self, declarations: Declarations) -> Mapping[Formula, T]:
        """Return what the assumptions of a document say of formulas, which are plain."""
        return {}

    def meet(self, x: T, y: T) -> T:
        """Return the value of what is both x and y."""
        return y if x == self.top else x


@lru_cache(maxsize=limits.SUBJECTS)
def asking(domain: Domain[T], declarations: Declarations) -> Callable[[Formula], T]:
    """Return the function that gives the value of a plain formula in a domain, for a document's declarations.

    Formulas are `plain` (algebra/scalars/transposes): transposes stand at names. Values are kept.
    """
    known: dict[Formula, T] = {}
    assumed = domain.assumed(declarations)
    sums = [formula for formula in assumed if isinstance(formula, ex.Add)]

    def ask(formula: Formula) -> T:
        if formula not in known:
            by_parts = _fold_node(domain, formula, declarations, ask)
            found = domain.meet(by_parts, domain.whole(formula, declarations, ask))
            if formula in assumed:
                found = domain.meet(found, assumed[formula])
            if isinstance(formula, ex.Add):
                for part in sums:  # what is assumed of some of its terms
                    counts = Counter(formula.terms)
                    counts.subtract(part.terms)
                    rest = tuple(counts.elements())
                    if rest and min(counts.values()) >= 0:
                        left = rest[0] if len(rest) == 1 else ex.Add(rest, formula.shape)
                        found = domain.meet(found, domain.add(ask(part), ask(left)))
            known[formula] = found
        return known[formula]

    return ask


def _fold_node(domain: Domain[T], formula: Formula, declarations: Declarations, ask: Callable[[Formula], T]) -> T:
    """Return the value of a formula from the values of its parts, by the domain's rule for its node."""
    match formula:
        case ex.Number(value):
            return domain.number(value)
        case ex.Filled(value):
            return domain.number(Fraction(value))
        case ex.Pi():
            return domain.join(domain.number(Fraction(3)), domain.number(Fraction(22, 7)))
        case ex.Identity():
            return domain.join(domain.number(Fraction(0)), domain.number(Fraction(1)))
        case ex.Symbol() | ex.FunctionAt():
            return domain.name(formula, declarations)
        case ex.Add(terms):
            found = reduce(domain.add, map(ask, terms))
            return domain.meet(found, _join_entries(domain, formula, ask))
        case ex.Multiply():
            powers = Counter(list_factors(formula))
            parts = (ask(x) if n == 1 else domain.power(ask(x), Fraction(n)) for x, n in powers.items())
            return reduce(domain.times, parts)
        case ex.Power(base, ex.Number(exponent)):
            return domain.power(ask(base), exponent)
        case ex.Power(base, exponent):
            return domain.joint("power", [ask(base), ask(exponent)])
        case ex.MatMul(ex.Symbol(role=ex.Role.INDEX), arg) | ex.MatMul(
            arg, ex.Transpose(ex.Symbol(role=ex.Role.INDEX))
        ):
            return ask(arg)
        case ex.MatMul(ex.Apply("diag", (v,)), x) | ex.MatMul(x, ex.Apply("diag", (v,))) if v.shape.cols is None:
            return domain.times(ask(v), ask(x))
        case ex.MatMul(left, right):
            square = isinstance(left, ex.Transpose) and left.arg == right and not formula.shape.sizes
            one = domain.power(ask(right), Fraction(2)) if square else domain.times(ask(left), ask(right))
            return domain.total(one)
        case ex.Transpose(arg):
            return ask(arg)
        case ex.Entry(ex.Explicit(rows), at):
            return ask(entry_of(rows, at))
        case ex.Entry(arg):
            return ask(arg)
        case ex.Explicit(rows):
            return reduce(domain.join, (ask(entry) for row in rows for entry in row))
        case ex.Apply(fn, args):
            return _fold_call(domain, fn, args, ask)
        case _:
            return domain.top


def list_factors(formula: Formula) -> list[Formula]:
    """Return the factors of an elementwise product, and of products in it."""
    match formula:
        case ex.Multiply(left, right):
            return [*list_factors(left), *list_factors(right)]
        case _:
            return [formula]


def _join_entries(domain: Domain[T], column: Formula, ask: Callable[[Formula], T]) -> T:
    """Return the joint value of the entries of a written-out column."""
    rows = column.shape.rows
    if not isinstance(rows, int) or column.shape.cols is not None:
        return domain.top
    if not any(isinstance(node, ex.Explicit) for node in nodes(column)):
        return domain.top
    return reduce(domain.join, (ask(entry_at(column, i)) for i in range(rows)))


def _fold_call(domain: Domain[T], fn: str, args: tuple[Formula, ...], ask: Callable[[Formula], T]) -> T:
    """Return the value of a function call from the values of its arguments; the domain's top for derivatives."""
    if fn in {"grad", "div", "hessian"}:
        return domain.top
    sides = (side for arg in args for side in ((arg.left, arg.right) if isinstance(arg, ex.Compare) else (arg,)))
    values = [ask(side) for side in sides]
    match fn, values:
        case (("sum" | "trace"), [x]):
            return domain.total(x)
        case "norm2", [x]:
            return domain.total(domain.power(x, Fraction(2)))
        case "dot", [x, y]:
            return domain.total(domain.power(x, Fraction(2)) if args[0] == args[1] else domain.times(x, y))
        case (("outer" | "kron"), _):
            return reduce(domain.times, values)
        case "diag", [x]:
            return domain.join(x, domain.number(Fraction(0)))
        case _, [x] if fn in ex.ELEMENTWISE:
            return domain.function(fn, x)
        case _:
            return domain.joint(fn, values)
