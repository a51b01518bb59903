"""A claimed update read by both engines: what the claim about it and the remarks beside it need, found once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sympy import Expr

from recipe_compiler.algebra.scalars.entries import NotScalarisableError, scalar
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.ordered_update import stated_step
from recipe_compiler.derive.recipe import Derivation, Matrix, Vector, derive
from recipe_compiler.derive.update import Update, read_update
from recipe_compiler.errors import Place
from recipe_compiler.formula.block_matrices import zeros
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verify.core.identities import Scalars
from recipe_compiler.verify.core.premises import smoothness
from recipe_compiler.verify.core.scalars import leaf_of, written_out
from recipe_compiler.verify.core.sizes import Sizes, checked_sizes
from recipe_compiler.verify.updates.expansion import NoExpansionError
from recipe_compiler.verify.updates.gaussian_moments import StepMoments
from recipe_compiler.verify.updates.step_moments import step_moments
from recipe_compiler.verify.updates.step_residual import NotAStepError, by_powers, residual

SECOND = Fraction(2)


@dataclass(frozen=True, slots=True)
class ClaimedStep:
    """A claimed update, read by both engines, and the energy that it should keep."""

    dynamics: Dynamics
    """As written, with the declarations of the step."""
    update: Update
    energy: Derivation
    """H and its gradient; D and Q are zero."""
    sizes: tuple[Sizes, ...]
    where: Place
    moments: dict[tuple[tuple[str, int], ...], StepMoments] = field(
        default_factory=dict[tuple[tuple[str, int], ...], StepMoments]
    )

    @property
    def declarations(self) -> Declarations:
        """What is declared, the covariance V of an estimated gradient included."""
        return self.update.step.declarations

    @property
    def premises(self) -> Obligations:
        """What the update and H need in order to be defined and smooth."""
        return smoothness((*self.update.step.formulas, self.dynamics.H), self.declarations)

    def at(self, sizes: Sizes) -> StepMoments:
        """Return E[dz] and Cov[dz] at fixed sizes, by the second engine; computed once."""
        key = tuple(sizes.items())
        if key not in self.moments:
            self.moments[key] = step_moments(self.update.step, sizes)
        return self.moments[key]

    def residual_at(self, sizes: Sizes, power: Fraction) -> Expr:
        """Return the residual for the coefficients of eps**power in E[dz] and Cov[dz]/2, by the second engine."""
        moments = self.at(sizes)
        part = by_powers(moments, SECOND).get(power)
        none = 0 * moments.eps
        H = scalar(self.dynamics.H, self.declarations, sizes)
        return none if part is None else residual(moments.z, part, H)


def claimed_step(dynamics: Dynamics, where: Place) -> ClaimedStep:
    """Return a claimed update, read by the index calculus.

    Raises:
        NotReadError: a formula whose expansion in eps is not known.
        ModelError: a formula that has no entrywise meaning, or blocks that need each other's new value.
    """
    step = stated_step(dynamics)
    zero = zeros(step.declarations.blocks)
    bare = replace(dynamics, declarations=step.declarations)
    energy = derive(replace(bare, D=zero, Q=zero))
    stated = Claims(drift=tuple(("", formula) for formula in step.formulas))
    return ClaimedStep(bare, read_update(step), energy, checked_sizes(replace(bare, claims=stated)), where)


def guarded(entries: Callable[[Sizes], Sequence[Expr]]) -> Scalars:
    """Return entries that raise what `identities.decide` handles where the second engine cannot expand a formula.

    Raises:
        NotScalarisableError: from the entries, in the place of NoExpansionError and NotAStepError.
    """

    def inner(sizes: Sizes) -> Sequence[Expr]:
        try:
            return entries(sizes)
        except (NoExpansionError, NotAStepError) as reason:
            raise NotScalarisableError(str(reason)) from None

    return inner


def disagreement(claimed: ClaimedStep) -> Scalars:
    """Return E[dz] and Cov[dz] by the index calculus less those of the second engine, up to eps**2.

    n + n * n scalars for each power of eps at the given sizes; a proof needs all of them to be zero.
    """

    def entries(sizes: Sizes) -> Sequence[Expr]:
        parts = by_powers(claimed.at(sizes), SECOND)
        update = claimed.update
        powers = sorted({*parts, *update.powers_below(SECOND + Fraction(1, 2))})
        n = len(claimed.at(sizes).z)
        found: list[Expr] = []
        for power in (p for p in powers if p <= update.known):
            mean = _vector(claimed, update.mean_at(power), sizes)
            spread = _matrix(claimed, update.covariance_at(power), sizes)
            none = 0 * claimed.at(sizes).eps
            own = parts[power].mean if power in parts else (none,) * n
            other = parts[power].covariance if power in parts else ((none,) * n,) * n
            found += [x - y for x, y in zip(mean, own, strict=True)]
            found += [x - y for p, q in zip(spread, other, strict=True) for x, y in zip(p, q, strict=True)]
        return found

    return guarded(entries)


def _vector(claimed: ClaimedStep, vector: Vector, sizes: Sizes) -> list[Expr]:
    leaf = leaf_of(claimed.declarations, sizes)
    return [x for part in vector for x in written_out(part, sizes, leaf)]


def _matrix(claimed: ClaimedStep, matrix: Matrix, sizes: Sizes) -> list[list[Expr]]:
    """Return a matrix over z at fixed sizes, row by row."""
    leaf = leaf_of(claimed.declarations, sizes)
    found: list[list[Expr]] = []
    for row in matrix:
        height = next((_length(i, sizes) for part in row for i in part.free if i.label == "i"), 1)
        places = [written_out(part, sizes, leaf) for part in row]
        found += [[x for flat in places for x in _line(flat, k, height)] for k in range(height)]
    return found


def _line(flat: tuple[Expr, ...], k: int, height: int) -> tuple[Expr, ...]:
    """Return row k of a place written row by row."""
    width = len(flat) // height
    return flat[k * width : (k + 1) * width]


def _length(index: Index, sizes: Sizes) -> int:
    return index.size if isinstance(index.size, int) else sizes[index.size]


def halved(claimed: ClaimedStep, matrix: Matrix) -> Matrix:
    """Return D for a covariance 2 D, a matrix over z."""
    c = calculus(claimed.declarations)
    return tuple(tuple(c.scale(entry, Fraction(1, 2)) for entry in row) for row in matrix)


def is_nothing(tensors: Sequence[Tensor]) -> bool:
    """Whether all are zero."""
    return all(tensor.is_zero for tensor in tensors)
