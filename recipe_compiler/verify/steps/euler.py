"""The weak order of Euler's steps, by their moments: they are no products of exponentials.

b' = b + eps f_b(z) + noise moves every block from the old state, or those before it moved already. Then

    E[z'] - z = eps f + O(eps^2),     Cov[z'] = 2 eps D + O(eps^2),

as of the equation, so the order is 1 (Talay, Tubaro 1990). It is no more where E[b'] is off in eps^2: there it has
L_b f_b, with L_b the generator of the blocks that moved before b, and the equation has L f_b/2.
"""

from collections.abc import Iterator

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics.pieces import generator
from recipe_compiler.algebra.dynamics.system import Vector, drift
from recipe_compiler.algebra.points.witness import Witness
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Scheme
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.core.premises import smoothness
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.steps.order import (
    IN_GENERAL,
    LOOKED_AT,
    NO_MORE,
    asked_for,
    bounded_blocks,
    ordered,
    point_of,
)

HALF = sympy.Rational(1, 2)


def euler_order(subject: Subject, scheme: Scheme, own: Subject | None = None) -> Answer:
    """Report that one step of Euler's has weak order 1, with a coordinate whose mean shows that it has no higher one.

    E[z'] - z = eps f + O(eps**2) and Cov[z'] = 2 eps D + O(eps**2) (Talay, Tubaro 1990). In eps**2, E[b'] has L_b f_b
    with L_b the generator of the blocks moved before b, and the equation has L f_b/2. For dx = -x dt + sqrt(2) dW the
    step has 0 there, and the equation x/2.

    Args:
        subject: with an abstract U, and all values as declared.
        scheme: one of Euler's.
        own: the same with the U and the values of a build: an error for some U need not be one for this U.
    """
    needed = smoothness(_formulas(subject), subject.dynamics.declarations)
    if needed.open:
        return Answer(Undecided(tuple(f"not shown: {what}" for what in needed.open)))
    given = (*needed.given, *asked_for(subject, [block.name for block in bounded_blocks(subject)]))
    says = "weak order 1"
    data = (("scheme", scheme.name), ("order", "1"))
    for of in (own, subject):
        found = None if of is None else _beyond(of, scheme)
        if found is not None:
            return ordered(f"{says}, {NO_MORE if of is own else IN_GENERAL}", given, data, found, 2)
    return ordered(f"{says} at least, by its moments", given, data)


def _formulas(subject: Subject) -> tuple[Formula, ...]:
    whole = subject.whole
    return (whole.H, *(x for m in (whole.D, whole.Q) for row in m or () for x in row))


def _beyond(subject: Subject, scheme: Scheme) -> tuple[str, Witness] | None:
    """Return a coordinate whose mean is wrong in eps^2, with a point; None where none was found."""
    sizes = subject.sizes[:LOOKED_AT]
    seen = (point_of(_second_order(subject, scheme, at), subject, at, _formulas(subject)) for at in sizes)
    return next((off for off in seen if off is not None), None)


def _second_order(subject: Subject, scheme: Scheme, sizes: Sizes) -> Iterator[tuple[str, Expr]]:
    """Yield what E[x'] has in eps^2 less that of the equation, of every coordinate x."""
    of = subject.system(sizes)
    f = drift(of)
    before: list[int] = []
    places = _places(subject, sizes)
    for name in scheme.order or subject.names:
        own = [places.index((name, k)) for k in range(sum(block == name for block, _ in places))]
        moved = before if scheme.order else []
        part, D = _masked(f, of.D, moved)
        for i in own:
            there, here = generator(part, D, of.z, f[i]), generator(f, of.D, of.z, f[i])
            yield str(of.z[i]), sympy.expand(there - HALF * here)
        before += own


def _places(subject: Subject, sizes: Sizes) -> list[tuple[str, int]]:
    """Return block and number within it of every coordinate."""
    blocks = subject.dynamics.declarations.blocks
    return [(block.name, k) for block in blocks for k in range(len(coordinates(block, sizes)))]


def _masked(f: Vector, D: Rows, kept: list[int]) -> tuple[Vector, Rows]:
    """Return f and D with zeros in all places but some."""
    zero = sympy.Integer(0)
    held = set(kept)
    rows = tuple(tuple(x if {i, j} <= held else zero for j, x in enumerate(row)) for i, row in enumerate(D))
    return tuple(x if i in held else zero for i, x in enumerate(f)), rows
