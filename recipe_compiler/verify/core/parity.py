"""Is a formula even in a block: unchanged where the block changes its sign? By structure, for every size."""

from recipe_compiler.formula.elementwise import FUNCTIONS, Parity
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)

EVEN, ODD = 0, 1
_LINEAR = frozenset({"sum", "diag", "trace"})


def is_even(formula: Formula, block: str) -> bool:
    """Return whether F(-r) = F(r) is shown, for a formula F of any shape and a block r: [n]. False decides nothing."""
    return parity(formula, block) == EVEN


def parity(formula: Formula, block: str) -> int | None:
    """Return 0 if F(-r) = F(r) is shown, 1 if F(-r) = -F(r) is, None where neither is; r is the block named.

    F may be a scalar, a vector or a matrix. r.T inv(M) r has 0, inv(M) r has 1, r + 1 has None, and so has an abstract
    function of r. (0 of zero matrices: they are both, and counted as even.)
    """
    match formula:
        case Symbol(name, _, Role.BLOCK):
            return ODD if name == block else EVEN
        case Number() | Pi() | Symbol() | Identity() | Filled():
            return EVEN
        case FunctionAt(_, of, _):
            return None if block in of else EVEN
        case Add(terms):
            found = {parity(term, block) for term in terms}
            return found.pop() if len(found) == 1 else None
        case Multiply(left, right) | MatMul(left, right):
            return _product(parity(left, block), parity(right, block))
        case Transpose(arg) | Entry(arg, _):
            return parity(arg, block)
        case Power(base, Number(n)) if n.denominator == 1:
            inner = parity(base, block)
            return None if inner is None else inner * (n.numerator % 2)
        case Power(base, exponent):
            return EVEN if parity(base, block) == EVEN and parity(exponent, block) == EVEN else None
        case Apply(fn, args):
            return _applied(fn, [parity(arg, block) for arg in args])
        case _:
            return None


def _product(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else (a + b) % 2


def _applied(fn: str, args: list[int | None]) -> int | None:
    if all(arg == EVEN for arg in args) and fn not in {"grad", "div", "hessian"}:
        return EVEN
    match fn:
        case _ if fn in _LINEAR:
            return args[0]
        case "norm2":
            return None if args[0] is None else EVEN
        case "dot" | "outer" | "kron":
            return _product(args[0], args[1])
        case _ if fn in FUNCTIONS and FUNCTIONS[fn].parity is Parity.ODD:
            return args[0]
        case _ if fn in FUNCTIONS and FUNCTIONS[fn].parity is Parity.EVEN:
            return None if args[0] is None else EVEN
        case _:
            return None
