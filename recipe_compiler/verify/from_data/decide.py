"""Has a posterior a finite integral, at the data of a build?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from flint import fmpq

from recipe_compiler.verify.from_data.balance import Balance, balance
from recipe_compiler.verify.from_data.direction import flat_direction
from recipe_compiler.verify.from_data.energy import Energy, Form, over_its_units
from recipe_compiler.verify.from_data.ranks import rank_of
from recipe_compiler.verify.from_data.scales import Counted, Way, counted, diverges, unshown
from recipe_compiler.verify.from_data.values import Coordinate


@dataclass(frozen=True, slots=True)
class Fact:
    """What the data show, in words, how it was decided, and numbers that show it again."""

    words: str
    method: str
    certificate: str = ""
    asks: str = ""
    """What it is a fact of, whatever the numbers are: what data are to show."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The integral is finite, by facts of the data."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Infinite:
    """The integral is infinite, at the data."""

    by: str
    witness: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Open:
    """Why neither is shown."""

    reasons: tuple[str, ...]


def decide(energy: Energy) -> Shown | Infinite | Open:
    """Decide int exp(-U) dz < oo for an energy read at exact data, in forms l_i(theta), theta of m coordinates.

    In turn: a direction of theta that no form depends on; exact weights that balance the convex functions (`balance`),
    where none are found a direction along which a convex U does not grow; power counting, E(t) > 0 for all directions t
    of the scales (`scales.unshown`); an end of one scale towards which E <= 0 (`scales.diverges`). Finite by the third;
    infinite by the others, if U was read exactly. Anything else is `Open`. (Albert and Anderson 1984; Silvapulle 1981;
    Edmonds 1970.)

    Raises:
        NotReadError: there is more of it than is looked at.
    """
    energy, width = over_its_units(energy), len(energy.theta)
    forms = [form for group in energy.groups for form in group.forms]
    rank = rank_of([*forms, *(form for piece in energy.pieces for form in piece.forms)], width)
    if rank.rank < width:
        return _flat(energy, rank.kernel[0]) if rank.kernel else Open(("forms are not of full rank",))
    confined = balance(energy.pieces, energy.linear)
    if confined is None:
        return _falls(energy)
    kept = rank_of([*forms, *confined.forms], width)
    if kept.rank < width:
        return _falls(energy, confined)
    found = counted(energy, _spanning(confined.forms, width))
    ways = list(unshown(energy, found))
    if not ways:
        return Shown(tuple(_facts(energy, confined, found)))
    if len(confined.inside) == len(energy.pieces):
        infinite = diverges(energy, found)
        if infinite is not None:
            ((v, sign),) = infinite.signs
            return Infinite("power counting", (("towards", _end(energy, v, sign)),))
    return Open(tuple(dict.fromkeys(f"not shown to decay towards {_towards(energy, way)}" for way in ways)))


def _spanning(forms: tuple[Form, ...], width: int) -> tuple[Form, ...]:
    return tuple(forms[k] for k in rank_of(forms, width).attained)


def name(z: Coordinate, energy: Energy) -> str:
    """Return a coordinate as formulas name it; a block of one by its name."""
    alone = sum(other[0] == z[0] for other in (*energy.theta, *energy.scales)) == 1
    return z[0] if alone else f"{z[0]}[{z[1]}]"


def _direction(energy: Energy, d: Iterable[fmpq]) -> str:
    return ", ".join(f"{name(z, energy)} = {x}" for z, x in zip(energy.theta, d, strict=True) if x != 0)


def _flat(energy: Energy, d: tuple[fmpq, ...]) -> Infinite | Open:
    along = _direction(energy, d)
    if energy.exact:
        return Infinite("a direction that nothing depends on", (("direction", along),))
    return Open((f"no term is known to confine the direction {along}",))


def _falls(energy: Energy, confined: Balance | None = None) -> Infinite | Open:
    """Return what is known where convex functions do not confine theta."""
    d = flat_direction(energy.pieces, energy.linear)
    if d is not None and energy.exact and not energy.groups:
        return Infinite(
            "a direction along which a convex energy does not grow", (("direction", _direction(energy, d)),)
        )
    if d is None:
        return Open(("no exact weights were found that show that the energy confines the state",))
    return Open((f"no term is shown to grow along {_direction(energy, d)}",))


def _end(energy: Energy, v: Coordinate, sign: int) -> str:
    low = "0" if v in energy.half_lines else "-oo"
    return f"{name(v, energy)} -> {'oo' if sign > 0 else low}"


def _towards(energy: Energy, way: Way) -> str:
    return ", ".join(_end(energy, v, sign) for v, sign in way.signs)


def _facts(energy: Energy, confined: Balance, found: Counted) -> Iterator[Fact]:
    """Yield the facts that were used."""
    width, blocks = len(energy.theta), _blocks(energy)
    if width:
        asks = f"the full rank of the forms of {blocks}"
        yield Fact(f"forms of {blocks} of full rank {width}", "a minor that is not zero modulo a prime", asks=asks)
    kinds = {energy.pieces[k].kind for k in confined.inside}
    firm = [form for piece in energy.pieces if piece.kind in FIRM for form in piece.forms]
    if kinds - FIRM and rank_of([*firm, *(form for g in energy.groups for form in g.forms)], width).rank < width:
        words = f"classes that no direction of {blocks} separates" if "log" in kinds else f"counts that bound {blocks}"
        asks = f"no direction of {blocks} along which the likelihood never falls"
        yield Fact(words, "weights inside the slopes, exact: sum_i s_i l_i + L = 0", _shares(confined), asks)
    for chosen in found.never_zero:
        scales = " and ".join(_scale(energy, found, k) for k in sorted(chosen))
        words = f"residuals of scale {scales} that no {blocks} makes all zero"
        yield Fact(words, "the rank of [A c] is that of A and 1", asks=words)
    for missed in found.left_over:
        if missed:
            words = f"{missed} residuals at least that no {blocks} makes zero"
            yield Fact(words, "hyperplanes modulo a prime", asks=f"residuals that no {blocks} makes zero, most of them")


FIRM = frozenset({"square", "abs"})
"""Pieces that confine their forms whatever is added to them, except for what `abs` does."""


def _shares(confined: Balance) -> str:
    """Return how many weights there are, and the least and largest of them."""
    low, high = min(confined.weights), max(confined.weights)
    return f"{len(confined.weights)} weights from {float(low):.3g} to {float(high):.3g}"


def _scale(energy: Energy, found: Counted, k: int) -> str:
    return ", ".join(name(z, energy) for z, _ in found.groups[k].weights)


def _blocks(energy: Energy) -> str:
    return ", ".join(dict.fromkeys(z[0] for z in energy.theta))
