"""Does a covariance whose leading part in eps is positive semidefinite stay so, itself, for all small step sizes?

A definite leading part outweighs what comes after it. One that may be singular does not: `2 D - eps V` is no covariance
at any step size where D is singular and V is not. `s D` outweighs `s D Y D` and `y s D`, for v.D Y D v is at most
|Y| |D v|**2 <= |Y| |D| v.D v. Where neither is shown, to assume it says something only if the
leading part is definite somewhere.
"""

from collections import Counter
from fractions import Fraction
from math import prod

from recipe_compiler.algebra.scalars.transposes import chain, plain, reflected
from recipe_compiler.ansatz.sums import expand_sum
from recipe_compiler.facts.fold import list_factors
from recipe_compiler.facts.patterns import is_of_kind
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Formula, Identity, Number
from recipe_compiler.formula.orders import holds_step, orders
from recipe_compiler.formula.shapes import Kind

Product = tuple[Fraction, Fraction, Counter[Formula], tuple[Formula, ...]]
"""A term of an expanded covariance: its least power of eps, its number, its scalars, its matrices but identities."""


def stays_semidefinite(covariance: Formula, first: Formula, declarations: Declarations) -> bool:
    """Whether a symmetric covariance is positive semidefinite for all small eps if its leading coefficient `first` is.

    Both are [n, n], or scalars. 2 D - eps V is if D is definite, and is not where D is singular along a v with v.T V v
    > 0. 2 D - eps D Y D is for every D >= 0, since |v.D Y D v| <= |Y| |D| v.D v. False may mean that it was not shown.
    """
    weak, strict = (Kind.PSD, Kind.PD) if covariance.shape.sizes else (Kind.NONNEGATIVE, Kind.POSITIVE)
    if not holds_step(covariance) or is_of_kind(covariance, weak, declarations):
        return True
    return is_of_kind(first, strict, declarations) or _is_led_by_first(plain(covariance, declarations), declarations)


def _is_led_by_first(covariance: Formula, declarations: Declarations) -> bool:
    """Return whether every later product has the form `s F Y F` or `y s F`, where `s F` is the leading one."""
    found = [_split_product(term) for term in expand_sum(covariance)]
    products = [product for product in found if product is not None]
    low = min((power for power, *_ in products), default=Fraction(0))
    leading = [product for product in products if product[0] == low]
    if len(products) < len(found) or not leading:
        return False
    _, _, scalars, F = leading[0]
    is_one = all((s, f) == (scalars, F) for _, _, s, f in leading) and sum(number for _, number, *_ in leading) != 0
    scale = Counter({x: n for x, n in scalars.items() if not holds_step(x)})
    later = [(s, f) for power, _, s, f in products if power > low]
    led = all(scale <= s and _starts_and_ends_with(f, F) for s, f in later)
    return not later or (is_one and led and reflected(F, declarations) == F)


def _starts_and_ends_with(factors: tuple[Formula, ...], F: tuple[Formula, ...]) -> bool:
    """Return whether factors equal F, or start and end with it."""
    n = len(F)
    return factors == F or (len(factors) >= 2 * n and factors[:n] == F and factors[len(factors) - n :] == F)


def _split_product(term: Formula) -> Product | None:
    """Return the parts of a product; None where its power of eps is not known."""
    scalars, factors = chain(term)
    pieces = [x for scalar in scalars for x in list_factors(scalar)]
    powers = orders(term)
    if powers is None or any(isinstance(x, Add) and holds_step(x) for x in (*pieces, *factors)):
        return None
    number = prod((x.value for x in pieces if isinstance(x, Number)), start=Fraction(1))
    others: Counter[Formula] = Counter(x for x in pieces if not isinstance(x, Number))
    return min(powers), number, others, tuple(x for x in factors if not isinstance(x, Identity))
