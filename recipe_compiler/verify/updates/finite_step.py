"""Remarks beside a proof that the limit of a claimed update is right: what its finite steps do, and the recipe's.

The residual of the coefficients of eps**2 in E[dz] and Cov[dz] is the eps^1 part of the residual of the step's moments.
What noise of order eps**2 brings to it (the noise of a minibatch gradient) is a bias of every finite step, unless
something was subtracted for it. The rest belongs to how the step is composed; even an exact step has such a part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.derive.powers import NotReadError
from recipe_compiler.derive.recipe import Derivation, row_slots
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.updates.claimed_step import SECOND, ClaimedStep, halved, is_nothing
from recipe_compiler.verify.updates.expansion import NoExpansionError
from recipe_compiler.verify.updates.step_residual import NotAStepError

ONE = Fraction(1)
LONGEST = 400
"""Characters of a formula that is put into a sentence; a longer one is among the data."""


@dataclass(frozen=True, slots=True)
class Remarks:
    """Sentences to add to a proof, and the formulas that they are about."""

    said: tuple[str, ...]
    data: tuple[tuple[str, str], ...]


def remarks(claimed: ClaimedStep, recipe: Derivation | None) -> Remarks:
    """Return what the finite steps of a claimed update do, and how its limit differs from the recipe's equation.

    With E[dz] = eps f + eps**2 f_2 and Cov[dz] = 2 eps D + eps**2 C_2, the eps^1 part of the residual of the moments is
    the residual of f_2 and C_2/2. What the noise V of an estimated gradient leaves there is a bias of every finite
    step. (SGHMC without a correction, M = I, has C_2 = V in r: (r.T V r - tr V)/2.)

    Args:
        claimed: the update.
        recipe: the derivation from D and Q, if these are given.
    """
    finite = (_between(claimed), _finite(claimed)) if claimed.update.unit == ONE else ()
    parts = (_limit(claimed), _noiseless(claimed), *finite, _other_equation(claimed, recipe))
    return Remarks(tuple(s for part in parts for s in part.said), tuple(d for part in parts for d in part.data))


def _limit(claimed: ClaimedStep) -> Remarks:
    """Return the limiting equation."""
    blocks = claimed.declarations.blocks
    unit = claimed.update.unit
    f, two_D = claimed.update.mean_at(unit), claimed.update.covariance_at(unit)
    step = written(unit)
    drift = [(f"lim E[d{b.name}]/{step}", text(x)) for b, x in zip(blocks, f, strict=True)]
    noise = [
        (f"lim Cov[d{a.name}, d{b.name}]/{step}", text(two_D[i][j]))
        for i, a in enumerate(blocks)
        for j, b in enumerate(blocks)
        if i <= j and not two_D[i][j].is_zero
    ]
    return Remarks((), (*drift, *noise))


def _noiseless(claimed: ClaimedStep) -> Remarks:
    if not is_nothing([x for row in claimed.update.covariance_at(claimed.update.unit) for x in row]):
        return Remarks((), ())
    return Remarks(("the limiting equation has no noise, so it is not ergodic by itself",), ())


def _between(claimed: ClaimedStep) -> Remarks:
    """Return what powers between eps and eps**2 leave: more than any step of the limiting equation may."""
    said: list[str] = []
    data: list[tuple[str, str]] = []
    for power in (p for p in claimed.update.powers_below(SECOND) if p > ONE):
        D = halved(claimed, claimed.update.covariance_at(power))
        left = residual(claimed.energy, claimed.update.mean_at(power), D)
        if not left.is_zero:
            what = f"the eps^({power - ONE}) part of the residual"
            said.append(f"biased at finite step size: {what} does not vanish: {_brief(left)}")
            data.append((what, text(left)))
    return Remarks(tuple(said), tuple(data))


def _finite(claimed: ClaimedStep) -> Remarks:
    """Return what the eps^1 part of the residual of the moments is, and where it comes from."""
    try:
        whole = _residual(claimed, of_noise=False)
    except NotReadError as reason:
        return Remarks((f"the bias at finite step size is not computed: {reason}",), ())
    if whole.is_zero:
        return Remarks((), (("eps^1 part of the residual of the moments", "0"),))
    noise = _residual(claimed, of_noise=True)
    c = calculus(claimed.declarations)
    rest = c.settled(c.subtract(whole, noise))
    said: list[str] = []
    data = [("eps^1 part of the residual of the moments", text(whole)), *_seen(claimed)]
    if claimed.update.slow and not noise.is_zero:
        source = ", ".join(claimed.update.slow)
        said.append(
            f"biased at finite step size: noise of order eps**2 ({source}) leaves the residual eps*({_brief(noise)})"
        )
        data.append(("eps^1 part of the residual that noise leaves", text(noise)))
        left = rest
    else:
        left = whole
    if not left.is_zero:
        said.append(f"moments of the step: the eps^1 part of their residual does not vanish: {_brief(left)}")
    return Remarks(tuple(said), tuple(data))


def _residual(claimed: ClaimedStep, *, of_noise: bool) -> Tensor:
    update = claimed.update
    if of_noise:
        c = calculus(claimed.declarations)
        drift = tuple(c.zero(*row_slots(block)) for block in claimed.declarations.blocks)
        return residual(claimed.energy, drift, halved(claimed, update.noise))
    return residual(claimed.energy, update.mean_at(SECOND), halved(claimed, update.covariance_at(SECOND)))


def _seen(claimed: ClaimedStep) -> list[tuple[str, str]]:
    """Return an exact point where the second engine sees that the eps^1 part does not vanish."""
    for sizes in claimed.sizes[:2]:
        try:
            found = witness(claimed.residual_at(sizes, SECOND), claimed.declarations, sizes)
        except (NoExpansionError, NotAStepError, NotScalarisableError, TooLargeError, NoInstanceError):
            return []
        if found is not None:
            at = ", ".join(f"{name} = {value}" for name, value in found.text)
            return [("eps^1 part at a point", f"{shown(found.value)} at {at}")]
    return []


def _other_equation(claimed: ClaimedStep, recipe: Derivation | None) -> Remarks:
    """Return how the limiting equation is not the recipe's for the D and Q given, and as what the step size is read."""
    unit = claimed.update.unit
    if recipe is None or claimed.dynamics.Q is None:
        return Remarks((_unjudged(unit, ONE),) if unit != ONE else (), ())
    c = calculus(claimed.declarations)
    pairs = list(_pairs(claimed, recipe))
    k = ONE if unit == ONE else _scale(c, [(own, given) for _, own, given in reversed(pairs)])
    differ = [(words, c.settled(c.subtract(own, c.scale(given, k)))) for words, own, given in pairs]
    found = [(words, text(left)) for words, left in differ if not left.is_zero]
    said = [_unjudged(unit, k)] if unit != ONE else []
    if found:
        said.append(f"it is not the equation of D and Q: {found[0][0]} is {found[0][1]}")
    return Remarks(tuple(said), tuple(found))


def departure(claimed: ClaimedStep, recipe: Derivation | None) -> tuple[str, str] | None:
    """Return the first part of a limiting equation that is not the recipe's: the block, what was found and expected.

    f and D are compared with k f and k D of the recipe, k > 0 the multiple of the step size for which fewest parts
    differ. None where D (or a diffusion) and Q are not given, or nothing differs. Another equation need not be wrong;
    of one that is refuted, this says where to look.
    """
    if recipe is None or claimed.dynamics.D is None or claimed.dynamics.Q is None:
        return None
    c = calculus(claimed.declarations)
    pairs = list(_pairs(claimed, recipe))
    noise = ONE if claimed.update.unit == ONE else _scale(c, [(own, given) for _, own, given in reversed(pairs)])
    scales = sorted({noise, *(_scale(c, [(own, given)]) for _, own, given in pairs)}, key=lambda k: (k != noise, k))
    left = {k: [c.settled(c.subtract(own, c.scale(given, k))) for _, own, given in pairs] for k in scales}
    k = min(scales, key=lambda k: sum(not rest.is_zero for rest in left[k]))  # what fewest parts depart from is meant
    blocks = [block.name for block in claimed.declarations.blocks]
    for n, ((words, own, given), rest) in enumerate(zip(pairs, left[k], strict=True)):
        if not rest.is_zero:
            block = blocks[n] if n < len(blocks) else blocks[(n - len(blocks)) // len(blocks)]
            step = "" if (claimed.update.unit, k) == (ONE, ONE) else f" ({read_as(claimed.update.unit, k)})"
            said = f"{words} is {_brief(rest)}: found {_brief(c.settled(own))}, expected {_brief(c.scale(given, k))}"
            return block, said + step
    return None


def _pairs(claimed: ClaimedStep, recipe: Derivation) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield the parts of the limiting equation, each with the recipe's: the drift first."""
    blocks, unit = claimed.declarations.blocks, claimed.update.unit
    D = halved(claimed, claimed.update.covariance_at(unit))
    for block, f, own in zip(blocks, claimed.update.mean_at(unit), recipe.drift, strict=True):
        yield f"its drift of {block.name} minus that of D, Q and H", f, own
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks):
            yield f"its diffusion of {a.name}, {b.name} minus D", D[i][j], recipe.D[i][j]


def _scale(c: Calculus, pairs: list[tuple[Tensor, Tensor]]) -> Fraction:
    """Return what the first part that is not zero is of the recipe's, 1 where that is no positive number."""
    for own, given in pairs:
        left, right = c.settled(own), c.settled(given)
        if left.is_zero or right.is_zero:
            continue
        k = left.terms[0].coefficient / right.terms[0].coefficient
        return k if k > 0 and c.is_zero(c.subtract(left, c.scale(right, k))) else ONE
    return ONE


def _unjudged(unit: Fraction, k: Fraction) -> str:
    return f"{read_as(unit, k)}: the bias at finite step size is not computed for it"


def read_as(unit: Fraction, k: Fraction = ONE) -> str:
    """Return, in words, what the step size is read as: a multiple of a power of eps."""
    above = written(unit) if k.numerator == 1 else f"{k.numerator}*{written(unit)}"
    return f"step size read as {above}{'' if k.denominator == 1 else f'/{k.denominator}'}"


def written(power: Fraction) -> str:
    """Return a power of eps."""
    if power == ONE:
        return "eps"
    return f"eps**{power}" if power.denominator == 1 else f"eps**({power})"


def _brief(tensor: Tensor) -> str:
    written = text(tensor)
    return written if len(written) <= LONGEST else written[:LONGEST] + " ..."
