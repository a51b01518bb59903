"""Default pieces of a recipe: A, B and O of Langevin dynamics, and one for each block left.

* B: Q with the summands of H that hold the potential: the kick -Q grad U.
* A: pairs of Q with a summand that move the potential's block: its drift.
* O: all of D with all of H, and pairs of Q with a summand that stay linear in the blocks that O moves: friction and
  noise, exact with frozen coefficients (Leimkuhler, Matthews 2013; Leimkuhler, Shang 2016 for SGNHT).
* what is left of Q, by the name of the block that it moves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.spec.model import Selection
from recipe_compiler.spec.words import Pair
from recipe_compiler.splitting.flow import NoRowError, find_affine_degree
from recipe_compiler.splitting.pieces import Selections, make_piece
from recipe_compiler.splitting.select import choose_summands, list_summands


@dataclass(frozen=True, slots=True)
class _Part:
    """A pair of Q with a summand of H, and what they move."""

    pair: Pair
    summand: str
    moved: frozenset[str]

    @property
    def selection(self) -> Selection:
        """What it selects."""
        return Selection(Q=(self.pair,), H=(self.summand,))


def choose_default_selections(derivation: Derivation) -> Selections:
    """Return what each of the default pieces selects of the matrices D, Q and of H, in the order A, B, O, then blocks.

    SGHMC has A: dtheta = inv(M) r dt, B: dr = -grad U dt and O: dr = -C inv(M) r dt + sqrt(2C) dW (Leimkuhler, Matthews
    2013); SGNHT's O has dr = -xi r dt + sqrt(2A) dW, and dxi = (r.T r/d - 1) dt is the piece `xi` (Leimkuhler, Shang
    2016).

    Raises:
        ModelError: the dynamics declare no potential; or a part moves several of the blocks that are left.
    """
    declared = derivation.declarations
    position = declared.blocks_of(derivation.dynamics.potential)
    if not position:
        problem = "found no potential, expected one: the pieces A, B and O are made around it"
        hint = "state the pieces: `pieces: {A: {Q: all, H: [r]}, ...}`"
        raise ModelError([Fault(derivation.dynamics.source.place("functions"), "scheme.pieces", problem, hint)])
    potential = [f.name for f in declared.functions if f.value.declared == derivation.dynamics.potential]
    found: dict[str, list[Selection]] = {"A": [], "B": [], "O": []}
    if any(not entry.is_zero for row in derivation.D for entry in row):
        found["O"].append(Selection(D=None))
    parts = [*_list_moving_parts(derivation)]
    if kicks := {part.summand for part in parts}.intersection(potential):
        found["B"].append(Selection(Q=None, H=tuple(name for name in potential if name in kicks)))
    left = [part for part in parts if part.summand not in potential]
    found["A"] += [part.selection for part in left if part.moved & position]
    for part in [part for part in left if not part.moved & position]:
        joined = (*found["O"], part.selection)
        if found["O"] and _is_linear(derivation, joined):
            found["O"] = list(joined)
        else:
            found.setdefault(_find_moved_block(derivation, part), []).append(part.selection)
    return {name: tuple(selections) for name, selections in found.items() if selections}


def _list_moving_parts(derivation: Derivation) -> Iterator[_Part]:
    """Yield every pair of Q with every summand of H that move anything together, pairs in the order of the state."""
    names = [block.name for block in derivation.blocks]
    summands = dict.fromkeys(summand.names[0] for summand in list_summands(derivation.dynamics))
    for (a, one), (b, other) in combinations_with_replacement(enumerate(names), 2):
        if derivation.Q[a][b].is_zero and derivation.Q[b][a].is_zero:
            continue
        for name in summands:
            selection = Selection(Q=((one, other),), H=(name,))
            touched = {block for s in choose_summands(derivation.dynamics, selection) for block in s.blocks}
            moved = make_piece(derivation, "", (selection,)).moved if touched & {one, other} else ()
            if moved:
                yield _Part((one, other), name, frozenset(moved))


def _is_linear(derivation: Derivation, selections: tuple[Selection, ...]) -> bool:
    """Whether the drift of a piece is of degree at most one in the blocks that it moves, jointly."""
    try:
        find_affine_degree(make_piece(derivation, "", selections), derivation.declarations)
    except NoRowError:
        return False
    return True


def _find_moved_block(derivation: Derivation, part: _Part) -> str:
    """Return the block that a part moves, the name of its piece."""
    if len(part.moved) == 1:
        return next(iter(part.moved))
    problem = f"found Q[{','.join(part.pair)}] with {part.summand} moving {', '.join(sorted(part.moved))}, expected one"
    hint = "state the pieces: `pieces: {...}`"
    raise ModelError([Fault(derivation.dynamics.source.place("Q"), "scheme.pieces", problem, hint)])
