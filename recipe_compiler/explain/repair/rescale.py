"""One scalar factor: of a term of H, of a place of the noise, of a pair of places of Q."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from recipe_compiler.explain.repair.changes import CURL, ENERGY, NOISE, Change
from recipe_compiler.explain.repair.parametrise import Sketch, sketch
from recipe_compiler.explain.repair.ratios import Constants, Poly, Ratio, at_numbers, plus
from recipe_compiler.explain.repair.sum_of_terms import additive, joined, number, scaled, total
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Formula, FunctionAt
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text, unsigned
from recipe_compiler.spec.model import Dynamics

SAMPLES = ((2, 3, 5, 7, 11, 13, 17, 19), (19, 17, 13, 11, 7, 5, 3, 2))
"""Values of the constants at which the sign of a factor is taken."""

Places = tuple[tuple[str, Formula], ...]
"""Entries with their formulas."""


def energy_scales(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that multiply one term of H = sum_k H_k, a scalar, by a constant c: H_k becomes c H_k.

    f and D as claimed are to keep exp(-H') for H' = H + (c - 1) H_k, or the recipe's f to become the claimed one; c is
    solved for as a ratio of polynomials in sizes and parameters, and has to be positive, or to take away a minus sign.
    A guess until `changes.proved` has it.

    Worked, d = 2: H = U(theta) + r.T r/2 + (xi - A)**2/(2 d) with Q[r,xi] = r/d and the claimed drift r.T r/d - 1 of
    xi: the recipe's r drift holds -r (xi - A) c/d**2 in the place of -r (xi - A), so c = d**2 = 4.
    """
    terms = additive(dynamics.H, constants=False)
    of = sketch(dynamics, len(terms))
    unknown = [scaled(term, of.symbol(n), of.ring) for n, term in enumerate(terms)]
    given = of.equations({"H": total(unknown, SCALAR)}, derived=derived)
    for n, term in enumerate(terms):
        for factor in of.factors(given, (of.unknowns[n],)):
            if is_one(factor) or not (positive(factor, of.ring) or _turns_up(term, factor, of.ring)):
                continue
            new = total([scaled(t, factor, of.ring) if k == n else t for k, t in enumerate(terms)], SCALAR)
            flips = plus(factor, number(1, of.ring)).top.is_zero()
            one = f"flip the sign of {text(term)} in H"
            says = one if flips else f"multiply {text(term)} in H by {written(factor, of.ring)}"
            yield Change(ENERGY, 1, says, (("H", new),), factor.is_number)


def _turns_up(term: Formula, factor: Ratio, ring: Constants) -> bool:
    """Whether a term written with a minus loses it, and holds no field of unknown sign: `-r**2/2` becomes `r**2/2`."""
    known = not any(isinstance(node, FunctionAt) for node in nodes(term))
    return known and unsigned(term) is not None and unsigned(scaled(term, factor, ring)) is None


def noise_scales(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that multiply a place D_ab: [n_a, n_b] of the noise (with D_ba), or all, by a constant c > 0.

    c solves R = 0 for the claimed f and H, R the Fokker-Planck residual (cf. Ma, Chen, Fox 2015, Eq. 5); or makes the
    recipe's drift the claimed one. Of f = -grad U/2 with D = I, D/2 is proposed.
    """
    groups = _noise_places(dynamics)
    of, given = _sketched(dynamics, groups, derived=derived)
    whole = tuple(range(len(groups)))
    for chosen in [*((n,) for n in whole), *([whole] if len(whole) > 1 else [])]:
        for factor in _positive(of.factors(given, [of.unknowns[n] for n in chosen]), of):
            yield _place_change(NOISE, tuple(place for n in chosen for place in groups[n]), factor, of)


def curl_scales(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the changes that multiply Q_ab, [n_a, n_b], and Q_ba by one constant so that the claimed drift is derived.

    f_claimed = -(D + Q) grad H + Gamma is linear in the constant (Ma, Chen, Fox 2015, Eq. 3).
    """
    groups = _pairs(dynamics, "Q", dynamics.Q)
    of, given = _sketched(dynamics, groups, derived=True)
    for places, name in zip(groups, of.unknowns, strict=True):
        for factor in of.factors(given, (name,)):
            if not is_one(factor):
                yield _place_change(CURL, places, factor, of)


def _sketched(dynamics: Dynamics, groups: Sequence[Places], *, derived: bool) -> tuple[Sketch, list[Poly]]:
    """Return the document with an unknown factor for each group of places, and what must vanish."""
    of = sketch(dynamics, len(groups))
    formulas = {
        entry: place for n, places in enumerate(groups) for entry, place in _scaled(places, of.symbol(n), of.ring)
    }
    return of, of.equations(formulas, derived=derived) if groups else []


def written(factor: Ratio, ring: Constants) -> str:
    """Return a ratio as text."""
    return text(joined(factor, None, SCALAR, ring))


def is_one(factor: Ratio) -> bool:
    """Whether a ratio is 1."""
    return bool((factor.top - factor.bottom).is_zero())


def positive(factor: Ratio, ring: Constants) -> bool:
    """Whether a ratio is positive at some sample of positive values of its constants: a filter, not a proof."""
    for sample in SAMPLES:
        values = {name: Fraction(sample[n % len(sample)]) for n, name in enumerate(ring.names)}
        value = at_numbers(factor, values, ring)
        if value is not None and value > 0:
            return True
    return False


def _positive(factors: Sequence[Ratio], of: Sketch) -> list[Ratio]:
    return [factor for factor in factors if not is_one(factor) and positive(factor, of.ring)]


def _scaled(places: Places, factor: Ratio, ring: Constants) -> Places:
    return tuple((entry, scaled(place, factor, ring)) for entry, place in places)


def _place_change(rank: int, places: Places, factor: Ratio, of: Sketch) -> Change:
    entries = [entry for entry, place in places if not is_zero(place)]
    listed = entries[0] if len(entries) == 1 else f"{', '.join(entries[:-1])} and {entries[-1]}"
    says = f"multiply {listed} by {written(factor, of.ring)}"
    new = tuple((entry, place) for entry, place in _scaled(places, factor, of.ring) if entry in entries)
    return Change(rank, len(entries), says, new, factor.is_number)


def _noise_places(dynamics: Dynamics) -> list[Places]:
    """Return the places of the claimed noise with their mirror images; those of D too where both are given."""
    stated = dynamics.claims.diffusion
    if stated is None:
        return _pairs(dynamics, "D", dynamics.D)
    own = _pairs(dynamics, "claims.diffusion", stated)
    if dynamics.D is None:
        return own
    D = dict(place for places in _pairs(dynamics, "D", dynamics.D) for place in places)
    also = [tuple((entry.removeprefix("claims.diffusion"), place) for entry, place in places) for places in own]
    return [
        (*places, *((f"D{at}", D[f"D{at}"]) for at, _ in others if f"D{at}" in D))
        for places, others in zip(own, also, strict=True)
    ]


def _pairs(dynamics: Dynamics, name: str, matrix: Matrix | None) -> list[Places]:
    """Return the places of a matrix that are not zero, each with its mirror image."""
    blocks = dynamics.declarations.blocks
    found: list[Places] = []
    for a, row in enumerate(blocks):
        for b, col in enumerate(blocks[a:], start=a):
            if matrix is None or (is_zero(matrix[a][b]) and is_zero(matrix[b][a])):
                continue
            places = {
                f"{name}[{row.name},{col.name}]": matrix[a][b],
                f"{name}[{col.name},{row.name}]": matrix[b][a],
            }
            found.append(tuple(places.items()))
    return found
