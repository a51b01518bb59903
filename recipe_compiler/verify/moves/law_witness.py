"""What is proved of draws and involutions, tried at exact points: the values of energies, where proofs take slopes."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from sympy import Expr, Symbol

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import is_defined_at, points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly, rational_rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rational_matrices import form, fraction, matrix
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.derive.refresh import GaussianLaw
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.core.scalars import leaf_of, written_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.split import Split

POINTS, DRAWN = 3, 12
"""Points that are tried; what a block becomes is as at the last of those drawn, which are far from the simplest."""
Off = Callable[[Point, Point], Iterable[Expr]]
"""What has to vanish at a point, by another one."""


def refresh_departs(split: Split, law: GaussianLaw) -> Answer | None:
    """Return the refutation by H(b') - H(b) != (b'.T inv(S) b' - b.T inv(S) b)/2, N(0, S) the law that b is drawn from.

    None where no point shows it.
    """
    declarations = split.subject.dynamics.declarations
    sizes = split.subject.sizes[-1]

    def off(at: Point, other: Point) -> Iterable[Expr]:
        place = split.subject.names.index(law.block.name)
        H, x = split.subject.system(sizes).H, [split.z(sizes)[k] for k in split.places(place, sizes)]
        flat, n = written_out(law.covariance, sizes, leaf_of(declarations, sizes)), len(x)
        S = rational_rows(tuple(tuple(flat[i * n : (i + 1) * n]) for i in range(n)), at.leaf)
        if S is None:
            raise NoValueError("not rational")
        inverse = matrix(S, n).inv()
        P = tuple(tuple(fraction(inverse[i, j]) for j in range(n)) for i in range(n))
        here, there = (form(P, tuple(point.numbers[y] for y in x)) for point in (at, other))
        return [moved(H, x, other) - H - rational(there - here) / 2]

    by = f"exact witness: H depends on {law.block.name} differently from the distribution it is drawn from"
    return departs(by, off, declarations, sizes, split.formulas)


def departs(by: str, off: Off, declared: Declarations, sizes: Sizes, reads: Sequence[Formula]) -> Answer | None:
    """Return the refutation by a point at which something is certainly not zero; None where there is none."""
    try:
        drawn = [*islice(points(declared, sizes), DRAWN)]
        for at, other in zip(drawn[:POINTS], reversed(drawn), strict=False):
            if not is_defined_at(reads, Setting(declared, sizes), at.leaf):
                continue
            for value in (evaluate(left, at.leaf) for left in off(at, other)):
                if is_certainly(value, 0):
                    return Answer(Refuted(by, (*at.text, ("off by", shown(value)))), tuple(sizes.items()) or "all")
    except (NoValueError, NotScalarisableError, TooLargeError, NoInstanceError, ZeroDivisionError):
        return None
    return None


def moved(e: Expr, x: Sequence[Symbol], to: Point) -> Expr:
    """Return an expression with some coordinates as they are at a point."""
    return e.xreplace({y: rational(to.numbers[y]) for y in x})
