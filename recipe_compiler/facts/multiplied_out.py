"""Signs of typed formulas, entry by entry, by the same proofs as those of matrices: definedness rests on them.

If a document fixes all sizes its formulas are read entry by entry; otherwise what has entries of a symbolic size is one
opaque scalar of known sign, and the answer holds for every size: `1 + norm2(theta)/d` becomes `1 + q/d` with opaque q
>= 0 and d >= 1. Opaque scalars that stand for equal formulas are one; anything true of them all is true of the formula
at every size. Signs come from the structural rules. Of a vector or matrix put together entry by entry (`1 +
sin(theta)**2`) one entry is read: an opaque part stands for its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import sympy
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.positivity import prove
from recipe_compiler.algebra.positivity.region import (
    Fact,
    Region,
    assumed,
    facts_of_block,
    facts_of_data,
    facts_of_scalar,
    region_at,
)
from recipe_compiler.algebra.scalars import elementwise
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, determinant
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinate
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.facts.ranges import Range
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
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
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape, Sizes
from recipe_compiler.formula.show import text

SignOf = Callable[[Formula, Declarations], Range]


@dataclass(slots=True)
class Abstraction:
    """Opaque scalars introduced so far, with the facts about them."""

    declarations: Declarations
    sign_of: SignOf
    opaque: dict[Formula, Expr] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    def scalar(self, formula: Formula) -> Expr:
        """Return a scalar formula, or one entry of another, as a SymPy scalar in opaque scalars."""
        return self._translate(plain(formula, self.declarations))

    def region(self, shape: Shape = SCALAR) -> Region:
        """Return what is declared of the opaque scalars introduced so far.

        Assumptions about scalars are read, and those about every entry of what has the shape; they may add some.
        """
        read = (SCALAR, shape)
        scalars = (c for c in self.declarations.assume if c.left.shape in read and c.right.shape in read)
        found = [assumed(compare, self.scalar(compare.left), self.scalar(compare.right)) for compare in scalars]
        return tuple(fact for fact in (*self.facts, *found) if not fact.value.is_number)

    def _translate(self, formula: Formula) -> Expr:
        """Return a formula as a SymPy scalar, parts without scalar rules replaced by opaque symbols."""
        match formula:
            case Number(value):
                return rational(value)
            case Filled(value, _):
                return sympy.Integer(value)
            case Pi():
                return sympy.pi
            case Add(terms):
                return sympy.Add(*[self._translate(term) for term in terms])
            case Multiply(left, right):
                return self._translate(left) * self._translate(right)
            case Power(base, exponent):
                return self._translate(base) ** self._translate(exponent)
            case Apply(fn, (arg,)) if fn in elementwise.FUNCTIONS:
                return elementwise.FUNCTIONS[fn].scalar(self._translate(arg))
            case Apply("minimum", (left, right)):
                return elementwise.minimum(self._translate(left), self._translate(right))
            case Apply("maximum", (left, right)):
                return elementwise.maximum(self._translate(left), self._translate(right))
            case _:
                return self._make_opaque(formula)

    def _make_opaque(self, formula: Formula) -> Expr:
        """Return the symbol of a part, made with its facts at the first call."""
        if formula not in self.opaque:
            made = self._choose_symbol(formula)
            self.opaque[formula] = made
            self.facts += self._list_facts(formula, made)
        return self.opaque[formula]

    def _choose_symbol(self, formula: Formula) -> Expr:
        """Return the coordinate of a block, else a new symbol labelled with the formula's text."""
        item = self.declarations.find(formula.name) if isinstance(formula, Symbol) else None
        if isinstance(item, Block):
            return coordinate(item, ())
        label = text(formula)
        while any(str(other) == label for other in self.opaque.values()):
            label += "'"
        return sympy.Symbol(label, real=True)

    def _list_facts(self, formula: Formula, made: Expr) -> list[Fact]:
        """Return the declared or proved signs of a part as facts about its symbol."""
        if isinstance(formula, Symbol) and formula.role in {Role.SIZE, Role.STEP}:
            return [Fact(made - 1, ">=", "")] if formula.role is Role.SIZE else [Fact(made, ">", "")]
        item = self.declarations.find(formula.name) if isinstance(formula, (Symbol, FunctionAt)) else None
        if isinstance(item, Block):
            return list(facts_of_block(item, (made,), self.scalar))
        if isinstance(item, (Parameter, Function)) and len(item.shape.sizes) < 2:
            return list(facts_of_scalar(item.name, made, item.kinds))
        if isinstance(item, Datum):
            return list(facts_of_data(item, made))
        if isinstance(formula, Apply) and formula.fn == "sum" and isinstance(formula.args[0], Symbol):
            block = self.declarations.find(formula.args[0].name)
            if isinstance(block, Block) and block.domain.name is DomainName.SIMPLEX:
                says = f"sum({block.name}) < 1 inside its domain"
                return [Fact(made, ">", says), Fact(1 - made, ">", says)]
        found = self.sign_of(formula, self.declarations)
        op = ">" if found.positive else ">=" if found.nonnegative else "!=" if found.nonzero else ""
        if not op and isinstance(formula, Apply) and formula.fn == "sum":
            given = shown(formula.args[0], ">=", self.declarations, self.sign_of)
            return [] if given is None else [Fact(made, ">=", says) for says in sorted(given) or [""]]
        return [Fact(made, op, says) for says in sorted(found.given) or [""]] if op else []


@lru_cache(maxsize=limits.REMEMBERED)
def shown(
    formula: Formula, op: str, declarations: Declarations, sign_of: SignOf, offset: int = 0, light: bool = False
) -> frozenset[str] | None:
    """Return the declarations by which every entry of a formula has `entry + offset op 0`; None if that is not shown.

    Args:
        formula: A scalar, or a vector or matrix.
        op: One of `> >= !=`.
        declarations: Of the document.
        sign_of: The structural rules, for opaque parts.
        offset: An integer added to every entry.
        light: By signs of terms and factors only.
    """
    try:
        entries, region = _read_entries(formula, declarations, sign_of)
        answers = [prove.scalar(e + offset, op, region, light=light) for e in entries]
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    found = [answer for answer in answers if answer is not None]
    return frozenset[str]().union(*(answer.given for answer in found)) if len(found) == len(answers) else None


@lru_cache(maxsize=limits.REMEMBERED)
def definite(formula: Formula, declarations: Declarations) -> frozenset[str] | None:
    """Return the declarations by which A: [n, n], small and of fixed size, is positive definite; None if not shown."""
    try:
        a = _read_small_matrix(formula, declarations)
        return None if a is None else prove.definite(a, region_at(declarations, {}))
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None


@lru_cache(maxsize=limits.REMEMBERED)
def invertible(formula: Formula, declarations: Declarations) -> frozenset[str] | None:
    """Return the declarations by which det A != 0 everywhere, A: [n, n], small and of fixed size; None if not shown."""
    try:
        a = _read_small_matrix(formula, declarations)
        found = None if a is None else prove.scalar(determinant(a), "!=", region_at(declarations, {}))
    except (NotScalarisableError, TooLargeError, NoNormalFormError):
        return None
    return None if found is None else found.given


def _read_small_matrix(formula: Formula, declarations: Declarations) -> Rows | None:
    """Return the entries of a small matrix where the document fixes all sizes."""
    a = None if declarations.sizes else rows(formula, Setting(declarations, {}))
    return a if a is not None and len(a) <= limits.FEW_COORDINATES else None


def apart(declarations: Declarations, sizes: Sizes) -> Callable[[Expr], bool]:
    """Return a test whether a scalar at fixed sizes is shown to have no zero wherever the declarations hold."""

    def never_zero(e: Expr) -> bool:
        try:
            return prove.scalar(e, "!=", region_at(declarations, sizes), light=True) is not None
        except (NotScalarisableError, TooLargeError, NoNormalFormError):
            return False

    return never_zero


def _read_entries(formula: Formula, declarations: Declarations, sign_of: SignOf) -> tuple[list[Expr], Region]:
    # what is stated by named densities keeps names for the sizes that a build's declarations have as numbers
    """Return the distinct entries and their region at fixed sizes, else one entry that stands for all."""
    if not declarations.sizes and not any(isinstance(n, str) for node in nodes(formula) for n in node.shape.sizes):
        flat = [x for row in rows(formula, Setting(declarations, {})) for x in row]
        distinct = list(dict.fromkeys(flat))
        if len(distinct) <= limits.SUMMANDS:
            return distinct, region_at(declarations, {})
    abstraction = Abstraction(declarations, sign_of)
    entry = abstraction.scalar(formula)
    return [entry], abstraction.region(formula.shape)
