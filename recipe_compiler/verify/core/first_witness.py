"""The first of several named scalars that is not zero at an exact point, at one of several sizes."""

from collections.abc import Callable, Iterable

from sympy import Expr

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.trace.scalars import vanishes
from recipe_compiler.trace.series import NoExpansionError
from recipe_compiler.verify.core.sizes import Sizes

UNSEEN = (NotScalarisableError, TooLargeError, NoInstanceError, NoExpansionError)
"""What keeps the second engine from a point: other sizes are looked at then."""
Named = Iterable[tuple[str, Expr]]


def find_first_witness(
    entries: Callable[[Sizes], Named],
    declarations: Declarations,
    sizes: Iterable[Sizes],
    reads: tuple[Formula, ...] = (),
) -> tuple[Sizes, str, Witness] | None:
    """Return the sizes, the name and the point of the first scalar that is not zero somewhere; None decides nothing.

    Args:
        entries: the scalars at fixed sizes, with their names, by the second engine.
        declarations: what a point has to satisfy.
        sizes: those that are looked at, in order.
        reads: formulas that have to have a value at the point.
    """
    for at in sizes:
        try:
            for says, e in entries(at):
                found = None if vanishes(e) else witness(e, declarations, at, reads)
                if found is not None:
                    return at, says, found
        except UNSEEN:
            continue
    return None
