"""Where a formula is defined and smooth: the obligations of roots, logarithms, quotients and inverses.

A proof about derivatives holds where everything differentiated exists. Each obligation is discharged by the signs and
kinds declared, or returned as still open; nothing with an open one is ever proved.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from recipe_compiler.algebra.psd import semidefinite, sign
from recipe_compiler.algebra.transposes import kinds_of
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Formula,
    MatMul,
    Multiply,
    Number,
    Power,
    Transpose,
)
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text


@dataclass(frozen=True, slots=True)
class Obligations:
    """What a formula needs to be defined and smooth: `given` discharged some of it, `open` is left."""

    given: frozenset[str] = frozenset()
    open: tuple[str, ...] = ()

    def __or__(self, other: "Obligations") -> "Obligations":
        """Return both together, each open one once."""
        return Obligations(self.given | other.given, tuple(dict.fromkeys((*self.open, *other.open))))


NONE = Obligations()


def obligations(formulas: Iterator[Formula] | tuple[Formula, ...], declarations: Declarations) -> Obligations:
    """Return what formulas need to be defined and continuously differentiable inside the domain."""
    found = NONE
    for formula in formulas:
        for node in nodes(formula):
            found = found | _of_node(node, declarations)
    return found


def nodes(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and everything it is made of."""
    yield formula
    for part in parts(formula):
        yield from nodes(part)


def parts(formula: Formula) -> tuple[Formula, ...]:
    """Return what a node is made of, one level down."""
    match formula:
        case Add(terms):
            return terms
        case Multiply(left, right) | MatMul(left, right):
            return (left, right)
        case Power(base, exponent):
            return (base, exponent)
        case Transpose(arg) | Entry(arg, _):
            return (arg,)
        case Compare(_, left, right):
            return (left, right)
        case Apply(_, args):
            return args
        case _:
            return ()


def _of_node(node: Formula, declarations: Declarations) -> Obligations:
    match node:
        case Power(base, exponent):
            return _of_power(base, exponent, declarations)
        case Apply("sqrt" | "log" | "gamma" | "loggamma", (arg,)):
            return _positive(arg, declarations)
        case Apply("log1p", (arg,)):
            found = sign(arg, declarations)
            return Obligations(found.given) if found.nonnegative else _open(f"1 + {text(arg)} > 0")
        case Apply("inv", (arg,)):
            return _invertible(arg, declarations)
        case Apply("logdet", (arg,)):
            found = semidefinite(arg, declarations)
            strict = found is not None and found.strict
            return Obligations(found.given) if found and strict else _open(f"{text(arg)} is positive definite")
        case Apply("tan", (arg,)):
            return _open(f"cos({text(arg)}) is not zero")
        case Apply("abs", (arg,)):
            found = sign(arg, declarations)
            return Obligations(found.given) if found.nonzero else _open(f"{text(node)} is smooth")
        case Apply("sign" | "where" | "minimum" | "maximum"):
            return _open(f"{text(node)} is smooth")
        case _:
            return NONE


def _of_power(base: Formula, exponent: Formula, declarations: Declarations) -> Obligations:
    if isinstance(exponent, Number) and exponent.value.denominator == 1:
        if exponent.value >= 0:
            return NONE
        found = sign(base, declarations)
        return Obligations(found.given) if found.nonzero else _open(f"{text(base)} is not zero")
    return _positive(base, declarations)


def _positive(arg: Formula, declarations: Declarations) -> Obligations:
    found = sign(arg, declarations)
    return Obligations(found.given) if found.positive else _open(f"{text(arg)} > 0")


def _invertible(arg: Formula, declarations: Declarations) -> Obligations:
    found = semidefinite(arg, declarations)
    if found is not None and found.strict:
        return Obligations(found.given)
    kinds = kinds_of(arg, declarations)
    if Kind.DIAGONAL in kinds and Kind.NONZERO in kinds:
        return Obligations(frozenset({f"{text(arg)} is diagonal and nonzero"}))
    return _open(f"{text(arg)} is invertible")


def _open(what: str) -> Obligations:
    return Obligations(open=(what,))
