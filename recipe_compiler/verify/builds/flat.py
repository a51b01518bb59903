"""Coefficients without a proper law, in linear predictors, with at most one scale: is the posterior proper at its data?

With X the columns of p flat coefficients in a location mu, and y in the span of no columns of mu,

    int prod_n h((y_n - mu_n)/sigma)/sigma dbeta <= C sigma**-(N - p) exp(-r/sigma),

which any proper law of sigma makes finite if N >= p, and a flat one if N - p > 1. Log likelihoods that are concave in
linear predictors confine them where nothing separates the data (`separation`).
"""

from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.spec.model import Target
from recipe_compiler.verify.builds.flat_model import (
    Infinite,
    Shown,
    add_likelihood,
    drop_bounded_summands,
    join_names,
    read_model,
)
from recipe_compiler.verify.builds.flat_scale import decide_by_scale, refute_at_zero_scale
from recipe_compiler.verify.builds.flat_slopes import decide_by_slopes
from recipe_compiler.verify.builds.products import TooManyError
from recipe_compiler.verify.from_data.columns import NotReadError, Rows


def decide_flat(target: Target, rows: Rows) -> Shown | Infinite | None:
    """Decide a posterior with flat coefficients in linear predictors, and at most one scale; None where that is open.

    Finite by the ranks of columns and N - p > k + 1, infinite at an end of the scale, or along a direction that nothing
    depends on or that separates the data. y = (1, 3, 2, 5) on a line with flat coefficients and scale has N - p = 2.

    Args:
        target: of the blocks as they are declared.
        rows: its data.
    """
    if target.recursion or target.potential is not None:
        return None
    try:
        if (infinite := refute_at_zero_scale(target, rows)) is not None:
            return infinite
        model = read_model(target, rows)
        if model is None or not add_likelihood(model):
            return None
        if model.spread and any(DENSITIES[law.name].tail for law, _ in model.located):
            return None
        if model.located and model.summands and not drop_bounded_summands(model):
            return None
        if not model.located and not model.summands and model.is_exact and rows.is_whole:
            return Infinite("a direction that nothing depends on", (("direction", join_names(model.flat_blocks)),))
        found = decide_by_scale(model) if model.located else decide_by_slopes(model)
        if isinstance(found, Shown) and model.spread:
            fact = f"effects of more entries than their scales take, {join_names(model.spread)} integrated first"
            return Shown(((fact, "powers of scales"), *found.facts))
        return found
    except (NotReadError, TooManyError):
        return None
