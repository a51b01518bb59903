"""Terms of the claimed drift added, dropped, flipped or scaled: the fewest that make the claim hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recipe_compiler.explain.repair.changes import DRIFT, Change
from recipe_compiler.explain.repair.drift_terms import Piece, claimed_block, pieces, recipe_pieces
from recipe_compiler.explain.repair.equations import derivation_of
from recipe_compiler.explain.repair.parametrise import sketch
from recipe_compiler.explain.repair.ratios import Constants, Ratio, plus
from recipe_compiler.explain.repair.rescale import written
from recipe_compiler.explain.repair.solve import Solution
from recipe_compiler.explain.repair.sums import additive, gathered, number, scaled, simplest, total
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics

LARGEST = 3
"""Terms changed at once."""
MOST = 8
"""Sets of terms for which equations are solved."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece with the unknown that stands for its change: the factor less 1 of a claimed term, that of a new one."""

    piece: Piece
    unknown: str


def drift_changes(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes of at most three terms of the drift."""
    listed = pieces(dynamics)
    of = sketch(dynamics, len(listed))
    parts = [_Part(piece, name) for piece, name in zip(listed, of.unknowns, strict=True)]
    symbols = {name: of.symbol(n) for n, name in enumerate(of.unknowns)}
    formulas = _drifts(dynamics, parts, symbols, of.ring)
    for _, values in of.sparse(formulas, LARGEST, derived=derived, most=MOST):
        yield _change(dynamics, parts, values, of.ring)


def whole_drift(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the change that states the recipe's drift in every block where the claim differs from it."""
    declarations = dynamics.declarations
    derivation = derivation_of(dynamics)
    stated = dict(dynamics.claims.drift or ())
    found: list[tuple[str, Formula]] = []
    for n, block in enumerate(derivation.dynamics.declarations.blocks):
        terms = [piece.formula for piece in recipe_pieces(dynamics) if piece.block == n]
        formula = simplest(total([simplest(t, declarations) for t in terms], block.shape), declarations)
        if text(formula) != text(stated[block.name]):
            found.append((claimed_block(declarations, n), formula))
    names = ", ".join(entry.removeprefix("claims.drift.") for entry, _ in found)
    yield Change(DRIFT, LARGEST + len(found), f"take the recipe's drift for {names}", tuple(found))


def _drifts(dynamics: Dynamics, parts: Sequence[_Part], values: Solution, ring: Constants) -> dict[str, Formula]:
    """Return the whole new drift of every block."""
    declarations = dynamics.declarations
    found: dict[str, Formula] = {}
    for n, block in enumerate(declarations.blocks):
        here = [part for part in parts if part.piece.block == n]
        changed = {part.piece.part_of for part in here if not values[part.unknown].top.is_zero()}
        terms: list[Formula] = []
        for part in here:
            whole = part.piece.part_of
            if whole is None or whole in changed:
                terms.append(_term(part, values[part.unknown], ring))
            elif part.piece.formula in (whole, additive(whole)[0]):
                terms.append(whole)
        found[claimed_block(declarations, n)] = total(terms, block.shape)
    return found


def _term(part: _Part, value: Ratio, ring: Constants) -> Formula:
    factor = plus(value, number(1, ring)) if part.piece.own else value
    unchanged = part.piece.own and value.top.is_zero()
    return part.piece.formula if unchanged else scaled(part.piece.formula, factor, ring)


def _change(dynamics: Dynamics, parts: Sequence[_Part], values: Solution, ring: Constants) -> Change:
    """Return a change with its words and the drifts of the blocks it touches."""
    declarations = dynamics.declarations
    touched = [part for part in parts if not values[part.unknown].top.is_zero()]
    drifts = _drifts(dynamics, parts, values, ring)
    entries = dict.fromkeys(claimed_block(declarations, part.piece.block) for part in touched)
    says = ", and ".join(
        _says(part, values[part.unknown], declarations.blocks[part.piece.block].name, ring) for part in touched
    )
    return Change(
        max(part.piece.rank for part in touched),
        len(touched),
        says,
        tuple((entry, gathered(drifts[entry], declarations)) for entry in entries),
        all(values[part.unknown].is_number for part in touched),
    )


def _says(part: _Part, value: Ratio, block: str, ring: Constants) -> str:
    term = text(part.piece.formula)
    if not part.piece.own:
        return f"add {text(scaled(part.piece.formula, value, ring))} to the drift of {block}"
    factor = plus(value, number(1, ring))
    if factor.top.is_zero():
        return f"drop {term} from the drift of {block}"
    if plus(factor, number(1, ring)).top.is_zero():
        return f"flip the sign of {term} in the drift of {block}"
    return f"multiply {term} in the drift of {block} by {written(factor, ring)}"
