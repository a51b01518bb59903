"""A typed scalar for every size at once: what has entries of its own becomes one opaque scalar of known sign.

`1 + norm2(theta)/d` becomes `1 + q/d` with opaque q >= 0 and d >= 1. Opaque scalars that stand for equal formulas are
one; anything true of them all is true of the formula at every size. Signs come from the structural rules. Of a vector
or matrix put together entry by entry (`1 + sin(theta)**2`) one entry is read: an opaque part stands for its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import sympy
from sympy import Expr

from recipe_compiler.algebra.positivity.region import Fact, Region, assumed, of_block, of_scalar
from recipe_compiler.algebra.positivity.sign_sets import Sign
from recipe_compiler.algebra.rewrite.transposes import plain
from recipe_compiler.algebra.scalars import elementwise
from recipe_compiler.algebra.scalars.symbols import coordinate
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Filled,
    Formula,
    FunctionAt,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.formula.show import text

SignOf = Callable[[Formula, Declarations], Sign]


@dataclass(slots=True)
class Abstraction:
    """Opaque scalars met so far, with what is known of them."""

    declarations: Declarations
    sign_of: SignOf
    opaque: dict[Formula, Expr] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    def scalar(self, formula: Formula) -> Expr:
        """Return a scalar formula, or one entry of another, in opaque scalars."""
        return self._of(plain(formula, self.declarations))

    def region(self) -> Region:
        """Return what is declared of the opaque scalars met so far; scalar assumptions are read, and may add some."""
        scalars = (c for c in self.declarations.assume if not c.left.shape.sizes and not c.right.shape.sizes)
        found = [assumed(compare, self.scalar(compare.left), self.scalar(compare.right)) for compare in scalars]
        return tuple(fact for fact in (*self.facts, *found) if not fact.value.is_number)

    def _of(self, formula: Formula) -> Expr:
        match formula:
            case Number(value):
                return sympy.Rational(value.numerator, value.denominator)
            case Filled(value, _):
                return sympy.Integer(value)
            case Pi():
                return sympy.pi
            case Add(terms):
                return sympy.Add(*[self._of(term) for term in terms])
            case Multiply(left, right):
                return self._of(left) * self._of(right)
            case Power(base, exponent):
                return self._of(base) ** self._of(exponent)
            case Apply(fn, (arg,)) if fn in elementwise.FUNCTIONS:
                return elementwise.FUNCTIONS[fn].scalar(self._of(arg))
            case Apply("minimum", (left, right)):
                return elementwise.minimum(self._of(left), self._of(right))
            case Apply("maximum", (left, right)):
                return elementwise.maximum(self._of(left), self._of(right))
            case _:
                return self._opaque(formula)

    def _opaque(self, formula: Formula) -> Expr:
        if formula not in self.opaque:
            made = self._named(formula)
            self.opaque[formula] = made
            self.facts += self._facts(formula, made)
        return self.opaque[formula]

    def _named(self, formula: Formula) -> Expr:
        item = self.declarations.find(formula.name) if isinstance(formula, Symbol) else None
        if isinstance(item, Block):
            return coordinate(item, ())
        label = text(formula)
        while any(str(other) == label for other in self.opaque.values()):
            label += "'"
        return sympy.Symbol(label, real=True)

    def _facts(self, formula: Formula, made: Expr) -> list[Fact]:
        if isinstance(formula, Symbol) and formula.role in {Role.SIZE, Role.STEP}:
            return [Fact(made - 1, ">=", "")] if formula.role is Role.SIZE else [Fact(made, ">", "")]
        item = self.declarations.find(formula.name) if isinstance(formula, (Symbol, FunctionAt)) else None
        if isinstance(item, Block):
            return list(of_block(item, (made,), self.scalar))
        if isinstance(item, (Parameter, Function)) and len(item.shape.sizes) < 2:
            return list(of_scalar(item.name, made, item.kinds))
        if isinstance(formula, Apply) and formula.fn == "sum" and isinstance(formula.args[0], Symbol):
            block = self.declarations.find(formula.args[0].name)
            if isinstance(block, Block) and block.domain.name is DomainName.SIMPLEX:
                says = f"sum({block.name}) < 1 inside its domain"
                return [Fact(made, ">", says), Fact(1 - made, ">", says)]
        found = self.sign_of(formula, self.declarations)
        op = ">" if found.positive else ">=" if found.nonnegative else "!=" if found.nonzero else ""
        return [Fact(made, op, says) for says in sorted(found.given) or [""]] if op else []
