"""Is a formula even in a block: unchanged where the block changes its sign? A domain of `fold`, for every size."""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.facts.fold import Domain, Formula, asking
from recipe_compiler.formula import elementwise
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Declarations

Parities = frozenset[int]
EVEN, ODD, ZERO = frozenset({0}), frozenset({1}), frozenset({0, 1})
"""Which of F(-r) = F(r) (0) and F(-r) = -F(r) (1) are shown: both of 0 alone."""
NEITHER: Parities = frozenset()


def is_even(formula: Formula, block: str, declarations: Declarations) -> bool:
    """Return whether F(-r) = F(r) is shown, for a formula F of any shape and a block r: [n]. False decides nothing.

    r.T inv(M) r is even, inv(M) r is odd, r + 1 is neither, and so is an abstract function of r.
    """
    return 0 in asking(Parity(block), declarations)(plain(formula, declarations))


@dataclass(unsafe_hash=True)
class Parity(Domain[Parities]):
    """The parities of formulas in a block."""

    block: str
    top = NEITHER

    def number(self, value: Fraction) -> Parities:
        """Return even, and odd too for 0."""
        return EVEN if value else ZERO

    def name(self, symbol: ex.Symbol | ex.FunctionAt, declarations: Declarations) -> Parities:
        """Return odd for the block itself, even for names that do not depend on it."""
        if isinstance(symbol, ex.FunctionAt):
            return NEITHER if self.block in symbol.of else EVEN
        return ODD if symbol.role is ex.Role.BLOCK and symbol.name == self.block else EVEN

    def add(self, x: Parities, y: Parities) -> Parities:
        """Return the parities that both summands have."""
        return x & y

    def times(self, x: Parities, y: Parities) -> Parities:
        """Return the parities of products of a parity of x and one of y."""
        return frozenset((a + b) % 2 for a in x for b in y)

    def power(self, x: Parities, exponent: Fraction) -> Parities:
        """Return the parities of an integer power; for other exponents only evenness of the base."""
        return frozenset(a * exponent.numerator % 2 for a in x) if exponent.denominator == 1 else x & EVEN

    def function(self, name: str, x: Parities) -> Parities:
        """Return even for an even argument, and the parity of an odd argument under an even or odd function."""
        parity = elementwise.FUNCTIONS[name].parity
        known = {elementwise.Parity.ODD: x & ODD, elementwise.Parity.EVEN: EVEN if x else NEITHER}
        return (x & EVEN) | (known[parity] if parity is not None else NEITHER)

    def join(self, x: Parities, y: Parities) -> Parities:
        """Return the parities that x and y share."""
        return x & y

    def joint(self, name: str, values: list[Parities]) -> Parities:
        """Return even if all arguments are even."""
        return EVEN if all(0 in x for x in values) else NEITHER
