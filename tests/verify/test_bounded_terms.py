"""What a log likelihood is at most: shown where it is so, and never where a curve of states goes above every bound."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.formula.densities import EXPONENTIALS, INVERSE, POWERS
from recipe_compiler.verify.builds.bounded_terms import Limits
from recipe_compiler.verify.builds.row_laws import likelihood_products

DOCUMENT = """\
format: 1
name: model
state: {{m: {{}}, k: {{}}, s: {{domain: positive}}, a: {{domain: positive}}, w: {{domain: "interval(0, 1)"}}}}
data:
  y: {{shape: N}}
  z: {{shape: N, is: nonzero}}
  t: {{shape: N, is: positive}}
  n: {{shape: N, is: [nonnegative, integer]}}
  f: {{shape: N, is: [nonnegative, integer]}}
  b: {{shape: N, in: [0, 1]}}
log_prior: 0
log_likelihood: "{0}"
"""

Moments = Mapping[str, frozenset[str]]
NONE: Moments = {}
OF_SCALE: Moments = {"s": frozenset({INVERSE})}
POSITIVE: Moments = {"s": frozenset({POWERS}), "a": frozenset({POWERS})}
LIGHT: Moments = {"m": frozenset({EXPONENTIALS})}

NORMAL = "-log(s) - ((y - m)/s)**2/2"
FALLING = "loggamma(n + a*w) - loggamma(a*w) + loggamma(f + a*(1 - w)) - loggamma(a*(1 - w))"

SHOWN: list[tuple[str, Moments]] = [
    (NORMAL, OF_SCALE),
    ("-log(s) - (y - m)**2/(2*s**2)", OF_SCALE),
    ("normal(y, m, s)", OF_SCALE),
    ("mixture([w, 1 - w], normal(y, m, s), laplace(y, k, 2))", OF_SCALE),
    ("logsumexp([log(w) + normal(y, m, s), log1p(-w) + cauchy(y, k, s)])", OF_SCALE),
    ("student_t(y, a, m, 1)", NONE),
    ("weibull(t, a, s)", POSITIVE),
    ("weibull(t, a, exp(m))", POSITIVE),
    ("b*log(a) + b*a*(log(t) - m) - exp(a*(log(t) - m))", POSITIVE),
    ("-softplus(m) + b*(m + softplus(-exp(k) - m)) + (1 - b)*poisson_log(n, k)", NONE),
    ("-softplus(m) + b*(m + softplus(-a*log1p(exp(k)/a) - m)) + (1 - b)*neg_binomial_2_log(n, k, a)", NONE),
    (f"{FALLING} + loggamma(a) - loggamma(a + n + f)", NONE),
    ("-abs(m) + m/2", NONE),
]


NEVER: list[tuple[str, Moments, str]] = [
    (NORMAL, NONE, "m = y, s -> 0"),
    (NORMAL, POSITIVE, "m = y, s -> 0"),
    (f"{NORMAL} + ((y - m)/s)**2", OF_SCALE, "m -> oo"),
    ("mixture([w, 1 - w], normal(y, m, s), normal(y, k, 1))", POSITIVE, "m = y, s -> 0"),
    ("b*log(a) + 2*b*a*(log(t) - m)", POSITIVE, "b = 1, m -> -oo"),
    ("-m/2 - y**2*exp(-m)/2", NONE, "y = 0, m -> -oo"),
    ("y*m - exp(m)", NONE, "y = -1, m -> -oo"),
    ("y*m", NONE, "y = 1, m -> oo"),
    ("y*m", {"m": frozenset({POWERS, INVERSE})}, "y = 1, m -> oo"),
    ("m*k - m**2/4", LIGHT, "k = m -> oo"),
    ("-softplus(m) + b*(m + softplus(-exp(k) - 2*m)) + (1 - b)*poisson_log(n, k)", NONE, "b = 1, m -> -oo, k -> -oo"),
    (f"{FALLING} + loggamma(a) - loggamma(a + n)", NONE, "n = 0, f = 3, w = 1/2, a -> oo"),
    ("loggamma(a + 3/2) - loggamma(a) - log(a)", NONE, "a -> oo"),
    ("loggamma(a + 1/3) - loggamma(a)", NONE, "a -> oo"),
    ("-abs(m) + 2*m", NONE, "m -> oo"),
    ("softplus(m) - softplus(k)", NONE, "m -> oo"),
]
"""With data and a curve of states along which it grows, faster than what moments absorb."""


def is_bounded(formula: str, moments: Moments, folder: Path) -> bool:
    path = folder / "target.yaml"
    path.write_text(DOCUMENT.format(formula))
    target = load_target(path)
    limits = Limits(target.declarations, moments)
    products = likelihood_products(target, target.stated.densities)
    return all(
        limits.find_absorbing_blocks(product.rest) is not None
        and all(limits.bound_law(law) is not None for law in product.laws)
        for product in products
    )


@pytest.mark.parametrize(("formula", "moments"), SHOWN)
def test_a_bounded_likelihood_is_seen_to_be_so(formula: str, moments: Moments, tmp_path: Path) -> None:
    assert is_bounded(formula, moments, tmp_path)


@pytest.mark.parametrize(("formula", "moments", "curve"), NEVER)
def test_what_is_above_every_bound_is_not_shown(formula: str, moments: Moments, curve: str, tmp_path: Path) -> None:
    assert not is_bounded(formula, moments, tmp_path), curve
