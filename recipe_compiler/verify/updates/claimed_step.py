"""A claimed update read by both engines: what the claim about it and the remarks beside it need, found once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics.system import System, state
from recipe_compiler.algebra.dynamics.system import residual as residual_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, scalar
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.recipe import Derivation, Matrix, Vector, derive
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError, Place
from recipe_compiler.formula.block_matrices import zeros
from recipe_compiler.formula.declaration import Block, Declarations, Function
from recipe_compiler.formula.expression import Formula, MatMul, Multiply, Number, Power, Transpose
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.trace.density_change import PolyDensity, TensorDensity, density_change
from recipe_compiler.trace.gaussian import NotAffineError, invariance, invariance_at
from recipe_compiler.trace.moments import Coefficients, Moments
from recipe_compiler.trace.of_formulas import tensor_moments
from recipe_compiler.trace.of_scalars import scalar_moments
from recipe_compiler.trace.scalars import Poly, value_of
from recipe_compiler.trace.series import HALF, ONE, TWO, ZERO, NoExpansionError
from recipe_compiler.trace.stated_step import Step, stated_step
from recipe_compiler.verdict import Answer
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.premises import require_smooth
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes, list_checked_sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.periodic import circle_blocks
from recipe_compiler.verify.updates.covariances import holds_draw
from recipe_compiler.verify.updates.judgement import Refreshed

AGREE = "the moments of the step minus those of the second engine"


@dataclass(frozen=True)
class ClaimedStep:
    """A claimed update, read by both engines, and the energy that it should keep."""

    dynamics: Dynamics
    """As written, with the declarations of the step."""
    step: Step
    moments: Moments[Tensor]
    energy: Derivation
    """H and its gradient; D and Q are zero."""
    sizes: tuple[Sizes, ...]
    where: Place
    premises: Obligations
    """What a proof rests on."""
    contradiction: str
    recipe: Derivation | None
    """That of D and Q, if these are given."""
    at: Callable[[Sizes], Moments[Poly]]
    """E[dz] and Cov[dz] at fixed sizes, by the second engine."""

    @property
    def declarations(self) -> Declarations:
        """What is declared, the covariance V of an estimated gradient included."""
        return self.step.declarations

    @property
    def c(self) -> Calculus:
        """The calculus of the declarations."""
        return calculus(self.declarations)

    @property
    def powers(self) -> tuple[Fraction, ...]:
        """The powers of eps, up to 2, that occur in a moment."""
        return self.moments.powers(TWO)

    @cached_property
    def unit(self) -> Fraction:
        """The power of eps that one step takes of time: 1, or that of the covariance if nothing moves at a lower one.

        `theta - eps**2/2*grad(U, theta) + eps*N(0, I)` takes time of order eps**2. A step with anything of order eps is
        read with the unit 1, and so is one without noise.
        """
        return time_unit([self.moments])

    @property
    def read_as(self) -> str:
        """As what the step size is read, to be put behind a verdict."""
        return "" if self.unit == ONE else f"; {describe_step_size(self.unit)}"

    def drift_at(self, power: Fraction) -> Vector:
        """Return f, the coefficient of a power of eps in E[dz], a vector over z."""
        return self.moments.at(power).mean

    def diffusion_at(self, power: Fraction) -> Matrix:
        """Return D, half the coefficient of a power of eps in Cov[dz], a matrix over z."""
        return self.halved(self.moments.at(power).covariance)

    def halved(self, matrix: Matrix) -> Matrix:
        """Return D for a covariance 2 D."""
        return tuple(tuple(self.c.scale(entry, HALF) for entry in row) for row in matrix)

    def coefficients_at(self, sizes: Sizes, power: Fraction) -> Coefficients[Expr]:
        """Return the coefficients of a power of eps in E[dz] and Cov[dz], by the second engine."""
        return values_at(self.at(sizes), power)

    def residual_at(self, sizes: Sizes, power: Fraction) -> Expr:
        """Return the residual for the coefficients of a power of eps, by the second engine."""
        H = scalar(self.dynamics.H, self.declarations, sizes)
        return residual_of(state(self.declarations, sizes), self.coefficients_at(sizes, power), H)

    @property
    def density(self) -> TensorDensity:
        """exp(-H), for every size."""
        return TensorDensity(self.energy)

    def moments_to(self, power: Fraction) -> Moments[Tensor]:
        """Return the moments of the step, known up to a power of eps if possible."""
        return self.moments if self.moments.known >= power else tensor_moments(self.step, top=power)

    def change_at(self, sizes: Sizes, power: Fraction) -> Expr:
        """Return the part of the change of exp(-H) at a power of eps, over exp(-H), by the second engine."""
        H = scalar(self.dynamics.H, self.declarations, sizes)
        found = scalar_moments(self.step, sizes, least=power)
        density = PolyDensity(state(self.declarations, sizes), H)
        return value_of(found.S.at(density_change(found, density, power), power))

    def text(self, x: Tensor) -> str:
        """Return a coefficient in index notation."""
        return tensor_text(x)

    def decide(self, conditions: Sequence[Identity]) -> Answer:
        """Decide identities together with the agreement of the engines on the moments of the step."""
        agree = Identity(AGREE, self.where, Tensor((), ()), self.disagreement)
        identities = (*conditions, agree)
        return decide(Question(identities, self.declarations, self.sizes, self.premises, self.contradiction))

    def disagreement(self, sizes: Sizes) -> Sequence[Expr]:
        """Return E[dz] and Cov[dz] by the index calculus less those of the second engine, up to eps**2.

        n + n * n scalars for each power of eps at the given sizes; a proof needs all of them to be zero.
        """
        return report_unexpanded(
            lambda at: [x for power in self._list_powers(at) for x in self._subtract_engines(at, power)]
        )(sizes)

    def _list_powers(self, sizes: Sizes) -> list[Fraction]:
        """Return the powers of eps up to 2 that either engine finds in the moments."""
        found = {*self.at(sizes).powers(TWO), *self.moments.powers(TWO)}
        return sorted(power for power in found if power <= self.moments.known)

    def _subtract_engines(self, sizes: Sizes, power: Fraction) -> Iterator[Expr]:
        """Yield the moments' coefficients of one power by the index calculus minus those of the second engine."""
        own, leaf = self.moments.at(power), make_leaf(self.declarations, sizes)
        found = [x for part in own.mean for x in write_out(part, sizes, leaf)]
        for block, row in zip(self.declarations.blocks, own.covariance, strict=True):
            height = len(coordinates(block, sizes))
            places = [write_out(part, sizes, leaf) for part in row]
            widths = [len(flat) // height for flat in places]
            found += [
                x
                for k in range(height)
                for flat, n in zip(places, widths, strict=True)
                for x in flat[k * n : (k + 1) * n]
            ]
        yield from (x - y for x, y in zip(found, self.coefficients_at(sizes, power).entries, strict=True))

    def stationary(self, power: Fraction, words: str) -> Identity:
        """Return the identity that the residual of the coefficients of one power of eps vanishes."""
        left = residual(self.energy, self.drift_at(power), self.diffusion_at(power))
        return Identity(words, self.where, left, report_unexpanded(lambda sizes: [self.residual_at(sizes, power)]))

    def growth(self, power: Fraction) -> Sequence[Identity]:
        """Return nothing: the second engine reads no step that grows."""
        del power
        return ()

    def spread(self, words: str) -> Sequence[Identity]:
        """Return the identity that Cov[dz] vanishes at eps = 0; none on circles, where noise may keep the law."""
        if circle_blocks(self.declarations):
            return ()
        left = next(x for row in self.moments.at(ZERO).covariance for x in row if not x.is_zero)

        def entries(sizes: Sizes) -> Sequence[Expr]:
            return [x for row in self.coefficients_at(sizes, ZERO).covariance for x in row]

        return [Identity(words, self.where, left, report_unexpanded(entries))]

    def has_mean_at_zero(self) -> bool:
        """Whether E[dz] does not vanish at eps = 0."""
        return any(not x.is_zero for x in self.drift_at(ZERO))

    def refreshed(self) -> Refreshed[Identity]:
        """Return what must vanish for the step at eps = 0 to preserve the law of the blocks that it moves.

        Its index expression is the first condition that does not reduce to zero; its entries are all conditions at
        fixed sizes.

        Raises:
            NotAffineError: it is no affine step of blocks that are Gaussian under exp(-H).
        """
        found = invariance(self.moments.at(ZERO), self.dynamics.H, self.declarations)
        blocks = [block for block in self.declarations.blocks if block.name in found.moved]

        def entries(sizes: Sizes) -> Sequence[Expr]:
            own = [x for block in blocks for x in coordinates(block, sizes)]
            H = scalar(self.dynamics.H, self.declarations, sizes)
            part = self.coefficients_at(sizes, ZERO)
            return [x for _, x in invariance_at(Setting(self.declarations, sizes), part, H, own).conditions]

        none = ("moments of a step", Tensor((), ()))
        words, left = next(((words, x) for words, x in found.conditions if not x.is_zero), none)
        identity = Identity(words, self.where, left, report_unexpanded(entries))
        return Refreshed(", ".join(found.moved), (identity,), not self.step.uses_eps and self._is_draw())

    def _is_draw(self) -> bool:
        """Whether dz is affine in its draws, and their covariances hold none."""
        draws = self.moments.draws
        entries = [x for dz in self.moments.change for x in dz.parts.values()]
        linear = all(sum(item.degree(x) for item in draws) <= 1 for x in entries)
        plain = not any(holds_draw(item.covariance) for item in self.step.draws if item.covariance is not None)
        return linear and plain and all(item.gaussian for item in draws)

    def with_square_potential(self) -> "tuple[ClaimedStep, str] | str":
        """Return the update for the potential |theta|**2/2, where it is abstract and of one block."""
        dynamics = self.dynamics
        item = dynamics.declarations.find(dynamics.potential or "")
        if not isinstance(item, Function) or len(item.of) != 1 or dynamics.claims.update is None:
            return ""
        if circle_blocks(self.declarations):
            return ""
        block = next(block for block in dynamics.declarations.blocks if block.name == item.of[0])
        square = _half_squared_norm(block)
        try:
            update = tuple((name, substitute(f, {item.name: square})) for name, f in dynamics.claims.update)
            functions = tuple(f for f in dynamics.declarations.functions if f != item)
            bound = replace(
                dynamics,
                H=substitute(dynamics.H, {item.name: square}),
                D=None,
                Q=None,
                declarations=replace(dynamics.declarations, functions=functions),
                claims=replace(dynamics.claims, update=update, drift=None, diffusion=None),
            )
            found = claimed_step(Subject(bound, None, (), self.contradiction), self.where)
        except (ModelError, NoExpansionError):
            return ""
        return found, f"{item.name} = {text(square)}"

    def moved_later(self) -> Sequence[str]:
        """Return the blocks that the step moves only at a higher order in eps than its own."""
        own = self.moments.at(self.unit)
        rows = zip(self.declarations.blocks, self.moments.change, own.mean, own.covariance, strict=True)
        return [block.name for block, dz, f, row in rows if dz.parts and all(x.is_zero for x in (f, *row))]


def claimed_step(subject: Subject, where: Place) -> ClaimedStep:
    """Return a claimed update, read by the index calculus.

    Raises:
        NoExpansionError: a formula whose expansion in eps is not known.
        ModelError: a formula that has no entrywise meaning, or blocks that need each other's new value.
    """
    dynamics, step = subject.dynamics, stated_step(subject.dynamics)
    zero = zeros(step.declarations.blocks)
    bare = replace(dynamics, declarations=step.declarations)
    energy = derive(replace(bare, D=zero, Q=zero))
    stated = Claims(drift=tuple(("", formula) for formula in step.formulas))
    premises = require_smooth((*step.formulas, dynamics.H), step.declarations)
    kept = cache(lambda pairs: scalar_moments(step, dict(pairs)))

    def at(sizes: Sizes) -> Moments[Poly]:
        return kept(tuple(sizes.items()))

    sizes = list_checked_sizes(replace(bare, claims=stated))
    found = tensor_moments(step)
    return ClaimedStep(bare, step, found, energy, sizes, where, premises, subject.contradiction, subject.derivation, at)


def time_unit(parts: Sequence[Moments[Tensor] | None]) -> Fraction:
    """Return the power of eps that one step takes of time, from the moments of its blocks; 1 if some are unknown."""
    found = [own for own in parts if own is not None]
    low = min((power for own in found for power in own.powers(TWO)), default=ONE)
    noisy = any(low in x.parts for own in found for row in own.covariance for x in row)
    known = min((own.known for own in found), default=ZERO)
    return low if len(found) == len(parts) and noisy and ONE < low <= known else ONE


def describe_step_size(unit: Fraction, scale: Fraction = ONE, name: str = "eps") -> str:
    """Return in words what the step size means: a multiple of a power of eps."""
    above = print_power(unit, name) if scale.numerator == 1 else f"{scale.numerator}*{print_power(unit, name)}"
    return f"step size read as {above}{'' if scale.denominator == 1 else f'/{scale.denominator}'}"


def print_power(power: Fraction, name: str = "eps") -> str:
    """Return a power of the step size as text."""
    if power == ONE:
        return name
    return f"{name}**{power}" if power.denominator == 1 else f"{name}**({power})"


def values_at(moments: Moments[Poly], power: Fraction) -> Coefficients[Expr]:
    """Return the coefficients of a power of eps as scalars: no draw is left in them."""
    found = moments.at(power)
    rows = tuple(tuple(map(value_of, row)) for row in found.covariance)
    return Coefficients(tuple(map(value_of, found.mean)), rows)


def residual_of(z: tuple[sympy.Symbol, ...], part: Coefficients[Expr], H: Expr) -> Expr:
    """Return the scalar R = (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)], p = exp(-H), for one power of eps.

    f is its coefficient in E[dz] (n), D half of that in Cov[dz] (n x n). (cf. Ma, Chen, Fox 2015, Eq. 5.)
    """
    D = tuple(tuple(entry / 2 for entry in row) for row in part.covariance)
    return residual_at(System(z, H, D, ()), part.mean, D)


def report_unexpanded(entries: Scalars) -> Scalars:
    """Return entries that raise what `identities.decide` handles if the second engine cannot expand a formula.

    Raises:
        NotScalarisableError: from the entries, in the place of NoExpansionError and NotAffineError.
    """

    def inner(sizes: Sizes) -> Sequence[Expr]:
        try:
            return entries(sizes)
        except (NoExpansionError, NotAffineError) as reason:
            raise NotScalarisableError(str(reason)) from None

    return inner


def _half_squared_norm(block: Block) -> Formula:
    """Return the formula |z|**2/2 of a block."""
    z = block.symbol
    square: Formula
    if block.shape.sizes:
        square = MatMul(Transpose(z, block.shape.transposed), z, SCALAR)
    else:
        square = Power(z, Number(TWO), SCALAR)
    return Multiply(square, Number(HALF), SCALAR)
