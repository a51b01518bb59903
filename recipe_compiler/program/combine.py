"""Constructors of scalar expressions and loops, and the error for what no loop can compute."""

from collections.abc import Set
from fractions import Fraction

from recipe_compiler.errors import ModelError, model_error
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.program.loops import Array, Body, Constant, For, Plus, Scalar, Times
from recipe_compiler.tensor.terms import Index

Loops = tuple[tuple[Index, str], ...]
"""Nested loops, outermost first: index and loop variable."""


def times(coefficient: Fraction, parts: tuple[Scalar, ...]) -> Scalar:
    """Return a product without factors 1."""
    if coefficient == 1 and parts:
        return parts[0] if len(parts) == 1 else Times(parts)
    return Times((Constant(coefficient), *parts)) if parts else Constant(coefficient)


def plus(terms: tuple[Scalar, ...]) -> Scalar:
    """Return a sum without sums as terms, nor the empty one; one that can start without a minus does."""
    terms = tuple(part for term in terms for part in (term.terms if isinstance(term, Plus) else (term,)))
    if not terms:
        return Constant(Fraction(0))
    first = next((place for place, term in enumerate(terms) if not is_negative(term)), 0)
    return terms[0] if len(terms) == 1 else Plus((terms[first], *terms[:first], *terms[first + 1 :]))


def is_negative(term: Scalar) -> bool:
    """Whether a term is printed with a minus."""
    first = term.factors[0] if isinstance(term, Times) else term
    return isinstance(first, Constant) and first.value < 0


def nested(loops: Loops, body: Body) -> Body:
    """Return `body` inside loops over indices, outermost first: a loop nest over the axes of an array."""
    for index, variable in reversed(loops):
        body = (For(variable, index.size, body),)
    return body


def entry_at(loops: Loops) -> tuple[str | int, ...]:
    """Return where an entry of a block is inside loops over it; a scalar block has one."""
    return tuple(variable for _, variable in loops) or (0,)


def block_array(name: str, shape: Shape) -> Array:
    """Return the array of a block of the state; a scalar block is an array of length one."""
    return Array(name, shape.sizes or (1,))


def first_free(wanted: str, taken: Set[str]) -> str:
    """Return `wanted`, or `wanted_2`, `wanted_3`, ... if it is taken; `math.` is left out of it."""
    wanted = wanted.replace("math.", "")
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def fresh(name: str, declared: Set[str]) -> str:
    """Return a name of the compiler's own that differs from every declared one: `name`, `name_`, `name__` ..."""
    while name in declared:
        name += "_"
    return name


def free_name(wanted: str, taken: set[str]) -> str:
    """Return `wanted`, or `wanted_2`, `wanted_3`, ... if it is taken, and add it to `taken`."""
    name = first_free(wanted, taken)
    taken.add(name)
    return name


def double(number: Fraction) -> float:
    """Return the double nearest to a number. Raises ModelError if the number is beyond 1.8e308."""
    try:
        return float(number)
    except OverflowError:
        digits = len(str(abs(number.numerator) // number.denominator))
        hint = "doubles end at 1.8e308: change the units"
        raise unsupported(f"a number of {digits} digits", hint) from None


def unsupported(what: str, hint: str) -> ModelError:
    """Return the ModelError that names what no emitted step can compute."""
    return model_error("build", f"found {what}, which no emitted step can compute", hint)
