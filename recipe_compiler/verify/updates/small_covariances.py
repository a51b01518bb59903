"""Does a covariance whose leading part in eps is positive semidefinite stay so, itself, for all small step sizes?

A definite leading part outweighs what comes after it. One that may be singular does not: `2 D - eps V` is no covariance
at any step size where D is singular and V is not. `s D` outweighs `s D Y D` and `y s D`, for v.D Y D v is at most
|Y| |D v|**2 <= |Y| |D| v.D v. Where neither is shown, to assume it says something only if the
leading part is definite somewhere.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.algebra.scalars.transposes import plain, transposed
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Formula, Identity, MatMul, Multiply, Number
from recipe_compiler.formula.orders import holds_step, orders
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.verify.core.kinds import is_of_kind

LARGEST = 64
"""Products beyond which a covariance is not taken apart."""


@dataclass(frozen=True, slots=True)
class _Product:
    """One product in an expanded covariance, without identity factors."""

    number: Fraction
    scalars: tuple[Formula, ...]
    factors: tuple[Formula, ...]
    power: Fraction | None
    """The least power of eps, None where it is not known."""


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
    products = _expand_products(covariance)
    if products is None or any(product.power is None for product in products):
        return False
    powers = [product.power or Fraction(0) for product in products]
    leading = {(p.scalars, p.factors): p for p, power in zip(products, powers, strict=True) if power == min(powers)}
    later = [p for p, power in zip(products, powers, strict=True) if power > min(powers)]
    if not later:
        return True
    if len(leading) > 1:
        return False
    (first,) = leading.values()
    F = first.factors
    if tuple(transposed(factor, declarations) for factor in reversed(F)) != F:
        return False
    scale = Counter(x for x in first.scalars if not holds_step(x))
    return all(scale <= Counter(p.scalars) and _starts_and_ends_with(p.factors, F) for p in later)


def _starts_and_ends_with(factors: tuple[Formula, ...], F: tuple[Formula, ...]) -> bool:
    """Return whether factors equal F, or start and end with it."""
    n = len(F)
    return factors == F or (len(factors) >= 2 * n and factors[:n] == F and factors[len(factors) - n :] == F)


def _expand_products(formula: Formula) -> list[_Product] | None:
    """Return the products of an expanded formula; None if there are too many."""
    match formula:
        case Add(terms):
            parts = [_expand_products(term) for term in terms]
            known = [part for part in parts if part is not None]
            found = [product for part in known for product in part]
            return found if len(known) == len(parts) and len(found) <= LARGEST else None
        case Multiply(left, right) | MatMul(left, right) if formula.shape.sizes or isinstance(formula, Multiply):
            one, two = _expand_products(left), _expand_products(right)
            if one is None or two is None or len(one) * len(two) > LARGEST:
                return None
            return [_multiply_products(x, y) for x in one for y in two]
        case Number() | Identity():
            value = formula.value if isinstance(formula, Number) else Fraction(1)
            return [_Product(value, (), (), Fraction(0))]
        case _:
            own = orders(formula)
            power = None if own is None else min(own)
            matrix = bool(formula.shape.sizes)
            scalars, factors = ((), (formula,)) if matrix else ((formula,), ())
            return [_Product(Fraction(1), scalars, factors, power)]


def _multiply_products(left: _Product, right: _Product) -> _Product:
    """Return the product of two products."""
    power = None if left.power is None or right.power is None else left.power + right.power
    return _Product(left.number * right.number, (*left.scalars, *right.scalars), (*left.factors, *right.factors), power)
