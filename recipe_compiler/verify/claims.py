"""The tables of claims: each with its words, what decides it, and when it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Finding
from recipe_compiler.verify.builds.assumptions import ASSUMPTIONS, assumes, assumptions
from recipe_compiler.verify.builds.bindings import BINDINGS, GRADIENT_NOISE, bindings, gradient_noise
from recipe_compiler.verify.builds.boundary import boundary_in
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.builds.minibatch_independence import (
    INDEPENDENCE,
    estimates_gradients,
    independence,
    independent_update,
)
from recipe_compiler.verify.builds.noise_budget import NOISE_BUDGET, noise_budget
from recipe_compiler.verify.builds.normalisable import NORMALISABLE_TARGET, normalisable_build, normalisable_target
from recipe_compiler.verify.builds.target import DEFINED, GRADIENT, defined, gradient
from recipe_compiler.verify.builds.unique import unique_in
from recipe_compiler.verify.core.build_values import at_values
from recipe_compiler.verify.core.obligations import obliged
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.d_symmetric import d_symmetric
from recipe_compiler.verify.equation.periodic import PERIODIC, on_circles, periodic, target_periodic
from recipe_compiler.verify.equation.q_skew import q_skew
from recipe_compiler.verify.equation.units import UNITS, declares_units, units
from recipe_compiler.verify.integrability.claimed_marginal import CLAIMED_MARGINAL, claimed_marginal, claims_marginal
from recipe_compiler.verify.integrability.marginal import MARGINAL, has_auxiliaries, marginal
from recipe_compiler.verify.integrability.normalisable import NORMALISABLE, normalisable
from recipe_compiler.verify.recover.recovered_q import RECOVERED_Q, lacks_q, recovered_q
from recipe_compiler.verify.recover.represented import states_equation
from recipe_compiler.verify.stationarity.claimed_stationary import claimed_stationary
from recipe_compiler.verify.stationarity.explosion import EXPLOSION, explosion
from recipe_compiler.verify.stationarity.stationary import stationary
from recipe_compiler.verify.uniqueness.boundary import BOUNDARY, boundary, has_boundary
from recipe_compiler.verify.uniqueness.regular import REGULAR, regular, varies
from recipe_compiler.verify.uniqueness.unique import UNIQUE, unique
from recipe_compiler.verify.updates.claimed_update import CLAIMED_UPDATE, claimed_update, claims_update
from recipe_compiler.verify.updates.step_scale import STEP_SCALE, step_scale

Asked = TypeVar("Asked")
Document = TypeVar("Document", Dynamics, Target, Build)


@dataclass(frozen=True, slots=True)
class Bound:
    """A build, and its dynamics with everything bound."""

    build: Build
    dynamics: Dynamics


@dataclass(frozen=True, slots=True)
class Claim(Generic[Asked, Document]):
    """A row of a table; `decide` returns its finding, `applies` says whether a document is asked it."""

    id: str
    says: str
    decide: Callable[[Asked], Finding]
    applies: Callable[[Document], bool]
    required: bool = True
    in_build: Callable[[Bound], Finding] | None = None
    """What decides it in a build instead, where target and values tell more."""
    stops: bool = False
    """Whether an advisory claim is asked by every compilation, and stops it where it is refuted."""
    alone: bool = False
    """Whether it is asked of a document by itself only, not within a build."""


def _noise(dynamics: Dynamics) -> bool:
    return dynamics.D is not None or dynamics.claims.diffusion is not None


def _recipe(dynamics: Dynamics) -> bool:
    return dynamics.Q is not None and _noise(dynamics)


def _drift(dynamics: Dynamics) -> bool:
    return dynamics.claims.drift is not None


def _on_circles(document: Dynamics | Target) -> bool:
    return bool(on_circles(document.declarations))


def _is_stated(target: Target) -> bool:
    return target.gradient is None


def _always(document: Dynamics | Target | Build) -> bool:
    del document
    return True


RECIPE = ("H", "D", "Q")
EQUATION = (*RECIPE, "drift")
"""What claims read that are about the recipe, or about the equation with a Q that its drift has."""


def reading(claim: Callable[[Subject], Finding], *entries: str) -> Callable[[Subject], Finding]:
    """Return a claim that is proved only where the entries of the document that it reads have a value."""
    return lambda subject: obliged(claim(subject), entries, subject.stated or subject.dynamics, subject)


def reading_in(claim: Callable[[Bound], Finding], *entries: str) -> Callable[[Bound], Finding]:
    """Return the same of a claim about a build, at the build's values."""
    return lambda bound: obliged(claim(bound), entries, at_values(bound.build) or bound.dynamics)


DYNAMICS: tuple[Claim[Subject, Dynamics], ...] = (
    Claim("d_symmetric", "D is symmetric", reading(d_symmetric, "D"), _noise),
    Claim("d_psd", "D is positive semidefinite", reading(d_psd, "D"), _noise),
    Claim("q_skew", "Q is skew", reading(q_skew, "Q"), _recipe),
    Claim("stationary", "exp(-H) is stationary", reading(stationary, *RECIPE), _recipe),
    Claim(
        "claimed_drift",
        "the claimed drift is the derived one",
        reading(claimed_drift, *EQUATION, "diffusion"),
        lambda d: _drift(d) and _recipe(d),
    ),
    Claim(
        "claimed_stationary",
        "exp(-H) is stationary for the claimed equation",
        reading(claimed_stationary, "H", "D", "drift", "diffusion"),
        _drift,
    ),
    Claim(*RECOVERED_Q, reading(recovered_q, "H", "D", "drift"), lacks_q, required=False),
    Claim(*STEP_SCALE, reading(step_scale, "update"), claims_update, required=False),
    Claim(*CLAIMED_UPDATE, reading(claimed_update, "H", "update"), claims_update),
    Claim(*PERIODIC, reading(periodic, *EQUATION, "diffusion", "update"), _on_circles),
    Claim(
        *NORMALISABLE,
        reading(normalisable, "H"),
        _always,
        in_build=reading_in(lambda bound: normalisable_build(bound.build, bound.dynamics), "H"),
    ),
    Claim(*MARGINAL, reading(marginal, "H"), has_auxiliaries),
    Claim(*CLAIMED_MARGINAL, reading(claimed_marginal, "H", "marginal"), claims_marginal),
    Claim(*REGULAR, reading(regular, "D", "Q", "drift"), varies),
    Claim(
        *EXPLOSION,
        reading(explosion, *EQUATION),
        states_equation,
        required=False,
        in_build=reading_in(lambda bound: explosion_in(bound.build, bound.dynamics), *EQUATION),
        stops=True,
    ),
    Claim(
        *BOUNDARY,
        reading(boundary, *EQUATION),
        has_boundary,
        in_build=reading_in(lambda bound: boundary_in(bound.build, bound.dynamics), *EQUATION),
    ),
    Claim(
        *UNIQUE,
        reading(unique, *EQUATION),
        states_equation,
        required=False,
        in_build=reading_in(lambda bound: unique_in(bound.build, bound.dynamics), *EQUATION),
    ),
    Claim(*INDEPENDENCE, independent_update, estimates_gradients, required=False),
    Claim(*UNITS, units, declares_units, required=False),
)

TARGETS: tuple[Claim[Target, Target], ...] = (
    Claim(*DEFINED, defined, _is_stated),
    Claim(*GRADIENT, gradient, _always),
    Claim(*PERIODIC, target_periodic, lambda target: _on_circles(target) and _is_stated(target)),
    Claim(*NORMALISABLE_TARGET, normalisable_target, _always, alone=True),
)

BUILDS: tuple[Claim[Bound, Build], ...] = (
    Claim(*BINDINGS, lambda bound: bindings(bound.build, bound.dynamics), _always),
    Claim(*GRADIENT_NOISE, lambda bound: gradient_noise(bound.build, bound.dynamics), _always),
    Claim(*ASSUMPTIONS, lambda bound: assumptions(bound.build, bound.dynamics), assumes),
    Claim(*NOISE_BUDGET, lambda bound: noise_budget(bound.build, bound.dynamics), _always),
    Claim(*INDEPENDENCE, lambda bound: independence(bound.build, bound.dynamics), _always),
)


def asked(
    table: tuple[Claim[Asked, Document], ...], document: Document, *, in_build: bool = False
) -> tuple[Claim[Asked, Document], ...]:
    """Return the claims of a table that a document is asked, by itself or within a build, in order."""
    return tuple(claim for claim in table if claim.applies(document) and not (in_build and claim.alone))
