"""Remarks beside a proof that the limit of a claimed update is right: what its finite steps do, and the recipe's.

The residual of the coefficients of eps**2 in E[dz] and Cov[dz] is the eps^1 part of the residual of the step's moments.
What noise of order eps**2 brings to it (the noise of a minibatch gradient) is a bias of every finite step, unless
something was subtracted for it. The rest belongs to how the step is composed; even an exact step has such a part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.stationarity import residual
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.trace.moments import amplitude, own_noise
from recipe_compiler.trace.series import ONE, TWO, NoExpansionError
from recipe_compiler.trace.tensors import TensorSeries
from recipe_compiler.verify.core.first_witness import find_first_witness
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.updates.claimed_step import ClaimedStep, describe_step_size, print_power

LONGEST = 400
"""Characters of a formula that is put into a sentence; a longer one is among the data."""

Said = Iterator[tuple[str, tuple[str, str] | None]]
"""Sentences to add to a proof, empty or not, each with a formula it is about, by name."""


def remarks(claimed: ClaimedStep) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return what the finite steps of a claimed update do, and how its limit differs from the recipe's equation.

    With E[dz] = eps f + eps**2 f_2 and Cov[dz] = 2 eps D + eps**2 C_2, the eps^1 part of the residual of the moments is
    the residual of f_2 and C_2/2. What the noise V of an estimated gradient leaves there is a bias of every finite
    step. (SGHMC without a correction, M = I, has C_2 = V in r: (r.T V r - tr V)/2.)
    """
    parts = [_describe_limit(claimed)]
    if claimed.unit == ONE:
        parts += [_describe_middle_powers(claimed), _describe_bias(claimed)]
    found = [pair for part in (*parts, _describe_other_equation(claimed)) for pair in part]
    return tuple(said for said, _ in found if said), tuple(formula for _, formula in found if formula is not None)


def _describe_limit(claimed: ClaimedStep) -> Said:
    """Yield the limiting equation, as text for the report."""
    blocks, own = claimed.declarations.blocks, claimed.moments.at(claimed.unit)
    step = print_power(claimed.unit)
    for block, f in zip(blocks, own.mean, strict=True):
        yield "", (f"lim E[d{block.name}]/{step}", text(f))
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks):
            if i <= j and not own.covariance[i][j].is_zero:
                yield "", (f"lim Cov[d{a.name}, d{b.name}]/{step}", text(own.covariance[i][j]))
    if all(x.is_zero for row in own.covariance for x in row):
        yield "the limiting equation has no noise, so it is not ergodic by itself", None


def _limit_residual(claimed: ClaimedStep, power: Fraction) -> Tensor:
    """Return the Fokker-Planck residual of the coefficients of one power of eps."""
    return residual(claimed.energy, claimed.drift_at(power), claimed.diffusion_at(power))


def _describe_middle_powers(claimed: ClaimedStep) -> Said:
    """Yield the residual at powers between eps and eps**2, which means a bias larger than O(eps)."""
    for power in (p for p in claimed.powers if ONE < p < TWO):
        left = _limit_residual(claimed, power)
        if not left.is_zero:
            what = f"the eps^({power - ONE}) part of the residual"
            yield f"biased at finite step size: {what} does not vanish: {_abbreviate(left)}", (what, text(left))


def _describe_bias(claimed: ClaimedStep) -> Said:
    """Yield the eps^1 part of the residual of the moments, and which moments cause it."""
    c, found = claimed.c, claimed.moments
    blocks = claimed.declarations.blocks
    at = TensorSeries(c, found.S)
    try:
        whole = _limit_residual(claimed, TWO)
        if whole.is_zero:
            yield "", ("eps^1 part of the residual of the moments", "0")
            return
        own = own_noise(found, lambda series, b: at.as_columns(series, blocks[b]))
    except NoExpansionError as reason:
        yield f"the bias at finite step size is not computed: {reason}", None
        return
    covariance = tuple(
        tuple(c.settled(c.add(zero, x)) for zero, x in zip(zeros, row, strict=True))
        for zeros, row in zip(found.zeros.covariance, own, strict=True)
    )
    noise = residual(claimed.energy, found.zeros.mean, claimed.halved(covariance))
    yield "", ("eps^1 part of the residual of the moments", text(whole))
    yield from (("", seen) for seen in _find_bias_point(claimed))
    slow = [x for x in found.draws if any(y.parts and y.low >= ONE for y in amplitude(found, x))]
    if slow and not noise.is_zero:
        source = ", ".join(item.says for item in slow)
        said = f"noise of order eps**2 ({source}) leaves the residual eps*({_abbreviate(noise)})"
        yield f"biased at finite step size: {said}", ("eps^1 part of the residual that noise leaves", text(noise))
        whole = c.settled(c.subtract(whole, noise))
    if not whole.is_zero:
        yield f"moments of the step: the eps^1 part of their residual does not vanish: {_abbreviate(whole)}", None


def _find_bias_point(claimed: ClaimedStep) -> Iterator[tuple[str, str]]:
    """Yield an exact point at which the second engine finds a nonzero eps^1 part."""
    found = find_first_witness(lambda at: [("", claimed.residual_at(at, TWO))], claimed.declarations, claimed.sizes[:2])
    if found is not None:
        at = found[-1]
        yield (
            "eps^1 part at a point",
            f"{format_value(at.value)} at {', '.join(f'{name} = {x}' for name, x in at.text)}",
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the limiting equation next to the recipe's."""

    block: str
    words: str
    own: Tensor
    given: Tensor


def _compare_with_recipe(claimed: ClaimedStep) -> tuple[_Part, ...]:
    """Return the limiting drift and diffusion next to the recipe's; empty if D or Q is not given."""
    recipe = claimed.recipe
    if recipe is None or claimed.dynamics.Q is None:
        return ()
    names = [block.name for block in claimed.declarations.blocks]
    f, D = claimed.drift_at(claimed.unit), claimed.diffusion_at(claimed.unit)
    found = [
        _Part(a, f"its drift of {a} minus that of D, Q and H", own, given)
        for a, own, given in zip(names, f, recipe.drift, strict=True)
    ]
    for i, a in enumerate(names):
        found += [_Part(a, f"its diffusion of {a}, {b} minus D", D[i][j], recipe.D[i][j]) for j, b in enumerate(names)]
    return tuple(found)


def _list_differences(claimed: ClaimedStep, parts: Iterable[_Part], scale: Fraction) -> list[tuple[_Part, Tensor]]:
    """Return the parts that differ from a multiple of the recipe's, each with the difference."""
    c = claimed.c
    rests = ((part, c.settled(c.subtract(part.own, c.scale(part.given, scale)))) for part in parts)
    return [(part, rest) for part, rest in rests if not rest.is_zero]


def _describe_other_equation(claimed: ClaimedStep) -> Said:
    """Yield how the limiting equation differs from the recipe's; it may still be correct."""
    parts = _compare_with_recipe(claimed)
    k = ONE if claimed.unit == ONE else _common_factor(claimed, parts[::-1])
    if claimed.unit != ONE:
        yield f"{describe_step_size(claimed.unit, k)}: the bias at finite step size is not computed for it", None
    for n, (part, rest) in enumerate(_list_differences(claimed, parts, k)):
        said = f"it is not the equation of D and Q: {part.words} is {text(rest)}"
        yield said if n == 0 else "", (part.words, text(rest))


def departure(claimed: ClaimedStep) -> tuple[str, str] | None:
    """Return the first part of a limiting equation that is not the recipe's: the block, what was found and expected.

    f and D are compared with k f and k D of the recipe, k > 0 the multiple of the step size for which fewest parts
    differ. None where D (or a diffusion) and Q are not given, or nothing differs. Another equation need not be wrong;
    of one that is refuted, this says where to look.
    """
    parts = _compare_with_recipe(claimed) if claimed.dynamics.D is not None else ()
    noise = ONE if claimed.unit == ONE else _common_factor(claimed, parts[::-1])
    scales = sorted({noise, *(_common_factor(claimed, [part]) for part in parts)}, key=lambda k: (k != noise, k))
    k = min(scales, key=lambda k: len(_list_differences(claimed, parts, k)))  # what fewest parts depart from is meant
    for part, rest in _list_differences(claimed, parts, k):
        step = "" if (claimed.unit, k) == (ONE, ONE) else f" ({describe_step_size(claimed.unit, k)})"
        expected = _abbreviate(claimed.c.scale(part.given, k))
        found = _abbreviate(claimed.c.settled(part.own))
        return part.block, f"{part.words} is {_abbreviate(rest)}: found {found}, expected {expected}{step}"
    return None


def _common_factor(claimed: ClaimedStep, parts: Iterable[_Part]) -> Fraction:
    """Return the ratio of the limiting equation to the recipe's in the first nonzero part; 1 unless positive."""
    c = claimed.c
    for part in parts:
        left, right = c.settled(part.own), c.settled(part.given)
        if left.is_zero or right.is_zero:
            continue
        k = left.terms[0].coefficient / right.terms[0].coefficient
        return k if k > 0 and c.is_zero(c.subtract(left, c.scale(right, k))) else ONE
    return ONE


def _abbreviate(tensor: Tensor) -> str:
    """Return a tensor as text, cut off after `LONGEST` characters."""
    written = text(tensor)
    return written if len(written) <= LONGEST else written[:LONGEST] + " ..."
