"""What exp(-H) leaves of some blocks once all others are integrated out, and whether it is a stated law.

Blocks that are Gaussian given the others are integrated exactly, one after the other, by both engines; of those that
are left the integral must not depend on the blocks kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import sympy
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.matrices import Rows, determinant, inverse, total
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.marginal import Gaussian, Integrated, blocks_in, integrate
from recipe_compiler.derive.recipe import row_coordinate
from recipe_compiler.errors import Place
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula, Role, Symbol
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, undecided
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.premises import require_smooth, require_smooth_off_kinks, require_values
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.growth.integral import decide_finite, list_abstract_energies
from recipe_compiler.verify.integrability.convex import refute_by_convexity

"""How an obligation about a kink ends: integrals need none of these."""


@dataclass(frozen=True, slots=True)
class GaussianIntegral:
    """The integral of exp(-H), H = r.P r/2 - b.r + c: P, and the energy c + log(det P)/2 - b.inv(P) b/2 left."""

    precision: Rows
    energy: Expr


def gaussian_integral(H: Expr, r: Sequence[sympy.Symbol]) -> GaussianIntegral:
    """Return the integral of exp(-H) over coordinates r in which H is quadratic: P (n x n) and the energy H' left.

    H = r.P r/2 - b.r + c leaves H' = c + log(det P)/2 - b.inv(P) b/2, up to a constant: a r**2/2 - x r leaves log(a)/2
    - x**2/(2 a). That P is positive definite, without which there is no integral, has to be shown separately.

    In two coordinates, P = [[1, 1], [1, 2]] and b = (x, 0): log det P = 0 and b.inv(P) b/2 = x**2.

        >>> a, b, x = sympy.symbols("a b x", real=True)
        >>> gaussian_integral((a**2 + 2 * a * b + 2 * b**2) / 2 - x * a, (a, b))
        GaussianIntegral(precision=((1, 1), (1, 2)), energy=-x**2)

    Raises:
        NotScalarisableError: H is not quadratic in r, or not defined at r = 0.
        NoNormalFormError: it is not known whether it is quadratic.
        TooLargeError: P is too large to invert.
    """
    at_zero: dict[sympy.Symbol, Expr] = {x: sympy.Integer(0) for x in r}
    gradient = [slope(H, x) for x in r]
    precision = tuple(tuple(slope(g, x) for x in r) for g in gradient)
    for entry in (x for row in precision for x in row):
        if any(not is_zero(slope(entry, x)) for x in r if entry.has(x)):
            raise NotScalarisableError("the energy is not quadratic in the blocks to be integrated out")
    P = tuple(tuple(_substitute_values(x, at_zero) for x in row) for row in precision)
    b = [_substitute_values(-g, at_zero) for g in gradient]
    energy = _substitute_values(H, at_zero) + sympy.log(determinant(P)) / 2
    if any(x != 0 for x in b):
        a = inverse(P)
        square = total([b[i] * a[i][j] * b[j] for i in range(len(b)) for j in range(len(b))])
        energy = energy - square / 2
    return GaussianIntegral(P, energy)


def _substitute_values(e: Expr, values: Mapping[sympy.Symbol, Expr]) -> Expr:
    found = cast(Expr, e.xreplace(dict(values)))
    if found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise NotScalarisableError("the energy is not defined where the blocks to be integrated out vanish")
    return found


@dataclass(frozen=True, slots=True)
class StatedLaw:
    """A stated law of some blocks, and what is left of the energy once the others are integrated out."""

    subject: Subject
    keep: tuple[Block, ...]
    stated: Formula
    integrated: Integrated
    difference: Tensor
    """What is left of the energy, less the stated one: the law is right if it does not depend on the blocks kept."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the blocks kept."""
        return frozenset(block.name for block in self.keep)


def decide_marginal_law(subject: Subject, keep: frozenset[str], stated: Formula, where: Place) -> Answer:
    """Decide that int exp(-H) d(others) = const exp(-stated), all blocks but `keep` integrated out, for every size.

    Blocks that are Gaussian given the rest are integrated exactly, one after the other (`gaussian_integral`), by both
    engines; then d(energy left - stated)/d(kept) = 0 is decided. A block that cannot be integrated may stay if it has a
    finite integral of its own and is not coupled to those kept; if it is coupled, only `refute_by_convexity` may
    refute. Undecided where an assumption or a constraint restricts the domain of the integral. (Ma, Chen, Fox 2015,
    Eq. 1.)

    Args:
        subject: the document.
        keep: the names of the blocks kept.
        stated: their energy, a scalar formula of these blocks.
        where: the place to blame.
    """
    declarations = subject.declarations
    others = [block for block in declarations.blocks if block.name not in keep]
    c = calculus(declarations)
    strangers = blocks_in(c, convert(stated, declarations)) - keep
    if strangers:
        return undecided(
            f"the stated energy depends on {', '.join(sorted(strangers))}, which is integrated out", where=where
        )
    restricted = list_restricted_blocks(declarations)
    if restricted and others:
        return undecided(
            f"an assumption restricts {', '.join(restricted)}: the domain of the integral is not known", where=where
        )
    integrated = integrate(c, convert(subject.dynamics.H, declarations), others)
    difference = c.subtract(integrated.energy, convert(stated, declarations))
    kept = tuple(block for block in declarations.blocks if block.name in keep)
    law = StatedLaw(subject, kept, stated, integrated, difference)
    slopes = [c.settled(c.diff(difference, row_coordinate(block))) for block in kept]
    left = frozenset(block.name for block in integrated.left)
    if any(blocks_in(c, slope) & left for slope in slopes):
        return _decide_coupled(c, law, where)
    if not integrated.left:
        return _decide_uncoupled(c, law, slopes, where)
    abstract = tuple(f for f in list_abstract_energies(declarations) if set(f.of) <= left)
    found = decide_finite(c, declarations, difference, integrated.left, abstract)
    if found.reasons:
        return undecided(f"the integral over {', '.join(sorted(left))}: {'; '.join(found.reasons)}", where=where)
    return _decide_uncoupled(c, law, slopes, where, frozenset({found.assumed} if found.assumed else ()))


def list_restricted_blocks(declarations: Declarations) -> tuple[str, ...]:
    """Return the names of the blocks that an assumption restricts, or that lie in a constraint set as a whole."""
    parts = (part for a in declarations.assume for side in (a.left, a.right) for part in nodes(side))
    named = [part.name for part in parts if isinstance(part, Symbol) and part.role is Role.BLOCK]
    return tuple(dict.fromkeys((*named, *(b.name for b in declarations.blocks if b.constraint is not None))))


def _decide_uncoupled(
    c: Calculus, law: StatedLaw, slopes: list[Tensor], where: Place, given: frozenset[str] = frozenset()
) -> Answer:
    """Decide that the difference does not depend on the blocks kept, and that both engines find the same precisions."""
    scalars = Integrals(law)
    over = ", ".join(block.name for block in law.subject.declarations.blocks if block.name not in law.names)
    after = f" after the integral over {over}" if over else ""
    identities = [
        Identity(f"d(energy left - stated)/d{block.name}{after}", where, slope, scalars.slope(block))
        for block, slope in zip(law.keep, slopes, strict=True)
    ]
    zero = Tensor((), ())
    identities += [
        Identity(f"the precision of {step.block.name}", where, zero, scalars.precision(step))
        for step in law.integrated.steps
    ]
    declarations = law.subject.declarations
    formulas = [law.subject.dynamics.H, law.stated]
    premises = require_smooth(formulas, declarations)
    if not over and not blocks_in(c, law.difference):
        # the two energies are the same wherever they are defined: nothing is differentiated
        premises = require_values(formulas, declarations)
    elif not blocks_in(c, law.difference) & law.names:
        # what is left is free of the blocks kept, and an integral over the others needs no derivative
        premises = require_smooth_off_kinks(formulas, declarations)
    question = Question(
        tuple(identities), declarations, _choose_sizes(law), premises, law.subject.contradiction, reads=tuple(formulas)
    )
    answer = decide(question)
    if isinstance(answer.decision, Proved):
        how = "; ".join(f"integral over {s.block.name}: P = {text(s.precision)}" for s in law.integrated.steps)
        data = (("energy left", text(law.integrated.energy)), *((("Gaussian", how),) if how else ()))
        proof = Proved(answer.decision.by, tuple(sorted({*answer.decision.given, *given})), data)
        return Answer(proof, answer.for_d, answer.checked_at, where)
    return answer


def _choose_sizes(law: StatedLaw) -> tuple[Sizes, ...]:
    """Return the sizes for the second engine: not those at which completing a square takes it seconds."""
    if not any(step.shifted and step.block.shape.sizes for step in law.integrated.steps):
        return law.subject.sizes
    small = tuple(sizes for sizes in law.subject.sizes if max(sizes.values(), default=0) <= limits.SIZES)
    return small or law.subject.sizes[:1]


def _decide_coupled(c: Calculus, law: StatedLaw, where: Place) -> Answer:
    """Decide by convexity where blocks that are left couple to those kept."""
    names = ", ".join(block.name for block in law.integrated.left)
    rough = require_smooth([law.subject.dynamics.H, law.stated], law.subject.declarations).open
    if rough:
        return undecided(f"not shown: {'; '.join(rough)}", where=where)
    found = refute_by_convexity(c, law.subject, law.names, law.difference, Integrals(law).difference)
    if found is None:
        reason = f"the integral of exp(-({text(law.difference)})) over {names} is not known in closed form"
        return undecided(reason, where=where)
    return found


class Integrals:
    """The second engine's integrals at fixed sizes, over the same blocks in the same order."""

    def __init__(self, law: StatedLaw) -> None:
        self._law = law
        self._at = cache(self._integrate_at_sizes)

    def difference(self, sizes: Sizes) -> Expr:
        """Return what is left of the energy, less the stated one."""
        return self._at(tuple(sizes.items()))[0]

    def slope(self, block: Block) -> Scalars:
        """Return the derivatives of the difference by the coordinates of a block."""

        def entries(sizes: Sizes) -> Sequence[Expr]:
            return [slope(self.difference(sizes), x) for x in coordinates(block, sizes)]

        return entries

    def precision(self, step: Gaussian) -> Scalars:
        """Return the n * n entries of a precision of the first engine less those computed here: zero if both agree."""

        def entries(sizes: Sizes) -> Sequence[Expr]:
            own = self._at(tuple(sizes.items()))[1][step.block.name]
            leaf = make_leaf(self._law.subject.declarations, sizes)
            return [x - y for x, y in zip(write_out(step.precision, sizes, leaf), own, strict=True)]

        return entries

    def _integrate_at_sizes(self, items: tuple[tuple[str, int], ...]) -> tuple[Expr, dict[str, tuple[Expr, ...]]]:
        sizes = dict(items)
        setting = self._law.subject.setting(sizes)
        energy = rows(self._law.subject.dynamics.H, setting)[0][0]
        precisions: dict[str, tuple[Expr, ...]] = {}
        for step in self._law.integrated.steps:
            found = gaussian_integral(energy, coordinates(step.block, sizes))
            energy = found.energy
            precisions[step.block.name] = tuple(x for row in found.precision for x in row)
        return energy - rows(self._law.stated, setting)[0][0], precisions
