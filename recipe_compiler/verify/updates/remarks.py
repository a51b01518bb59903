"""Remarks beside a proof that the limit of a claimed update is right: the limit, finite steps, and the recipe."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.trace.series import ONE
from recipe_compiler.verdict import Evidence
from recipe_compiler.verify.updates.claimed_step import ClaimedStep, describe_step_size, print_power
from recipe_compiler.verify.updates.finite_steps import Said, abbreviate, describe_finite_steps


def remarks(claimed: ClaimedStep) -> tuple[tuple[str, ...], Evidence]:
    """Return what the finite steps of a claimed update do, and how its limit differs from the recipe's equation.

    They are sentences, and formulas by name.
    """
    parts = (_describe_limit, describe_finite_steps, _describe_other_equation)
    found = [pair for part in parts for pair in part(claimed)]
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
        yield describe_step_size(claimed.unit, k), None
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
        expected = abbreviate(text(claimed.c.scale(part.given, k)))
        found = abbreviate(text(claimed.c.settled(part.own)))
        return part.block, f"{part.words} is {abbreviate(text(rest))}: found {found}, expected {expected}{step}"
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
