"""Claims about a target: its log posterior is defined, and differentiable, for all data and everywhere inside."""

from collections.abc import Iterator

from recipe_compiler.errors import Place
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Apply, Formula
from recipe_compiler.spec.model import Code, Target
from recipe_compiler.verdict import Answer, Decision, Proved, Undecided
from recipe_compiler.verify.core.premises import gradients, smoothness

SMOOTH = " is smooth"


def defined(target: Target) -> Answer:
    """Decide that roots, logarithms and quotients of a target are defined."""
    premises = smoothness(_formulas(target), target.declarations)
    left = tuple(f"not shown: {what}" for what in premises.open if not what.endswith(SMOOTH))
    return Answer(_decision(left, premises.given), where=_place(target))


def gradient(target: Target) -> Answer:
    """Decide that a target has a continuous gradient: nothing in it has a kink, a jump or a pole.

    The pieces of a `where` may meet with their derivatives: it then has a continuous gradient.

    Of a gradient that is code it is assumed.
    """
    if target.gradient is not None:
        return Answer(Proved("assumption", (of_code(target.gradient),)), where=_place(target))
    premises = gradients(_formulas(target), target.declarations)
    left = tuple(f"not shown: {what}" for what in premises.open)
    return Answer(_decision(left, premises.given), where=_place(target))


def bends(target: Target) -> bool:
    """Whether a target has a continuous gradient and is not shown to be smooth: pieces of a `where` meet in it.

    What rests on a smooth U, such as brackets of vector fields, is then not shown.
    """
    formulas = tuple(_formulas(target))
    if not any(isinstance(node, Apply) and node.fn == "where" for formula in formulas for node in nodes(formula)):
        return False
    smooth = smoothness(formulas, target.declarations).open
    return any(what.endswith(SMOOTH) for what in smooth) and not gradients(formulas, target.declarations).open


def of_code(code: Code) -> str:
    """Return what is assumed of a gradient that is code."""
    return f"grad U is as {code} computes it, U being smooth"


def _formulas(target: Target) -> Iterator[Formula]:
    for formula in (target.potential, target.log_prior, target.log_likelihood):
        if formula is not None:
            yield formula


def _decision(left: tuple[str, ...], given: frozenset[str]) -> Decision:
    reasons = tuple(sorted(given))
    return Undecided(left, given=reasons) if left else Proved("rules of definedness and smoothness", reasons)


def _place(target: Target) -> Place | None:
    places = dict(target.source.places)
    return next((places[e] for e in ("log_likelihood", "potential", "log_prior", "gradient") if e in places), None)
