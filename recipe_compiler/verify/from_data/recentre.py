"""Non-centred blocks, centred: where tau z_j occurs, zeta_j = tau z_j is integrated over, dz_j = dzeta_j/tau."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from recipe_compiler.verify.from_data.reading import Known
from recipe_compiler.verify.from_data.terms import within
from recipe_compiler.verify.from_data.values import (
    Affine,
    Coordinate,
    Product,
    Value,
    called,
    coordinate,
    products_of,
    total,
)

ONE = Fraction(1)


def multiplied(values: Iterable[Value], known: Known) -> dict[Coordinate, Coordinate]:
    """Return the coordinates z_j that occur as tau z_j with one positive tau, with that tau.

    zeta_j = tau z_j takes the place of z_j: dz_j = dzeta_j/tau, which `jacobian` adds to U. Empty where a coordinate
    has several such, or a tau is itself multiplied.
    """
    found: dict[Coordinate, set[Coordinate]] = {}
    for value in values:
        for own in (inner for term in products_of(value) for inner in within(term)):
            for z, v in _pairs(own, known):
                found.setdefault(z, set()).add(v)
    if any(len(scales) > 1 for scales in found.values()):
        return {}
    return {z: v for z, (v,) in found.items()}


def _pairs(own: Product, known: Known) -> Iterator[tuple[Coordinate, Coordinate]]:
    """Yield each z with v where a product is v z, or v times a form of coordinates z."""
    match own.powers, own.factors:
        case ((a, k), (b, m)), () if k == m == ONE and known.positive(a) and known.on_line(b):
            yield b, a
        case ((a, k), (b, m)), () if k == m == ONE and known.positive(b) and known.on_line(a):
            yield a, b
        case ((v, k),), ((Affine(_, slopes), m),) if k == m == ONE and known.positive(v):
            yield from ((z, v) for z, _ in slopes if known.on_line(z))
        case _:
            pass


def jacobian(by: Mapping[Coordinate, Coordinate]) -> Value:
    """Return sum_j log tau_j, what U gains where zeta_j = tau_j z_j takes the place of z_j: dz_j = dzeta_j/tau_j."""
    return total(called("log", coordinate(v)) for v in by.values())
