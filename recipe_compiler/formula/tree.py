"""The untyped syntax tree of a formula: what both front doors, text and Python, produce.

Sums and products are n-ary, so that a sum of thousands of terms is not thousands of nodes deep. A difference `a - b` is
a sum with a negated term; a product keeps the operator before each factor but the first.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a part starts in the text of its formula; both counted from 0."""

    line: int
    column: int


At = Spot | None
"""None: the part comes from a Python object, which has no text."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, exact."""

    value: Fraction
    at: At = None


@dataclass(frozen=True, slots=True)
class Name:
    """A name, not yet looked up."""

    name: str
    at: At = None


@dataclass(frozen=True, slots=True)
class Constant:
    """`I`, `ones` or `pi` from Python, where it is known to be the language's, whatever names are declared."""

    name: str
    at: At = None


@dataclass(frozen=True, slots=True)
class Call:
    """`name(args)`."""

    name: str
    args: tuple["Tree", ...]
    at: At = None
    language: bool = False
    """From Python: known to be the language's function, whatever names are declared."""


@dataclass(frozen=True, slots=True)
class Negate:
    """`-arg`."""

    arg: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Sum:
    """`a + b - c`: two terms or more."""

    terms: tuple["Tree", ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Product:
    """`a * b / c @ e`, read from the left: `operators[k]` stands between `factors[k]` and `factors[k + 1]`."""

    factors: tuple["Tree", ...]
    operators: tuple[str, ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Power:
    """`base ** exponent`."""

    base: "Tree"
    exponent: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Transposed:
    """`arg.T`."""

    arg: "Tree"
    at: At = None


@dataclass(frozen=True, slots=True)
class Subscript:
    """`arg[0]`, `arg[0, 1]`."""

    arg: "Tree"
    positions: tuple[int, ...]
    at: At = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, `op` one of `> >= < <= ==`."""

    op: str
    left: "Tree"
    right: "Tree"
    at: At = None


Tree = Literal | Name | Constant | Call | Negate | Sum | Product | Power | Transposed | Subscript | Comparison


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return the parts of a tree, from left to right."""
    match tree:
        case Literal() | Name() | Constant():
            return ()
        case Call(_, args):
            return args
        case Negate(arg) | Transposed(arg) | Subscript(arg):
            return (arg,)
        case Sum(terms):
            return terms
        case Product(factors):
            return factors
        case Power(base, exponent):
            return (base, exponent)
        case Comparison(_, left, right):
            return (left, right)
