"""The part of a recipe that a selection chooses: D, Q and H with all other entries and summands zero."""

from dataclasses import dataclass, replace

from recipe_compiler.errors import Fault, ModelError, model_error, nearest
from recipe_compiler.formula import build
from recipe_compiler.formula.block_matrices import Matrix, zeros
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Dynamics, Selection
from recipe_compiler.spec.words import Pair


@dataclass(frozen=True, slots=True)
class Summand:
    """A term of H, with the names by which a selection may refer to it."""

    formula: Formula
    names: tuple[str, ...]
    """The functions in it, bound or not, then the blocks that it depends on: `U`, `theta`; `G`, `theta,r`; `r`."""
    blocks: frozenset[str]
    """The blocks that it depends on, through functions too."""


def list_summands(dynamics: Dynamics) -> tuple[Summand, ...]:
    """Return the terms of H in the order they are written."""
    order = [block.name for block in dynamics.declarations.blocks]
    called, found = dict(dynamics.called), list[Summand]()
    for formula in terms_of(dynamics.H):
        uses = dependence(formula)
        blocks = sorted(set(uses.blocks), key=order.index)
        functions = dict.fromkeys((*uses.functions, *called.get(formula, ())))
        found.append(Summand(formula, (*functions, ",".join(blocks)), frozenset(blocks)))
    return tuple(found)


def choose_summands(dynamics: Dynamics, selection: Selection) -> tuple[Summand, ...]:
    """Return the summands of H that a selection takes.

    Raises:
        ModelError: it names one that does not exist; lists those that do.
    """
    every = list_summands(dynamics)
    if selection.H is None:
        return every
    known = tuple(dict.fromkeys(name for summand in every for name in summand.names if name))
    for name in selection.H:
        if name not in known:
            says = "; ".join(f"{' or '.join(filter(None, s.names))}: {text(s.formula)}" for s in every)
            problem = f"found the summand `{name}` of H, expected one of {', '.join(known)}"
            hint = nearest(name, known) or f"a summand has the name of a function in it, or of its blocks: {says}"
            raise model_error("scheme.pieces", problem, hint)
    return tuple(summand for summand in every if set(summand.names) & set(selection.H))


def select_part(dynamics: Dynamics, selection: Selection) -> Dynamics:
    """Return the dynamics with D_k, Q_k and H_k of a selection for D, Q and H.

    D_k and Q_k are those matrices with zeros in the places (a, b) and (b, a) that are not selected, so D_k stays
    symmetric and Q_k skew; H_k is the sum of the selected summands.

    Raises:
        ModelError: the selection names a block or a summand that does not exist; or D or Q is not given.
    """
    energies = tuple(summand.formula for summand in choose_summands(dynamics, selection))
    H = build.add(energies, SCALAR) if energies else zero(SCALAR)
    _check_blocks(dynamics, "Gamma", selection.Gamma)
    D = _zero_unselected(dynamics, "D", dynamics.D, selection.D)
    Q = _zero_unselected(dynamics, "Q", dynamics.Q, selection.Q)
    return replace(dynamics, H=H, D=D, Q=Q)


def _zero_unselected(dynamics: Dynamics, name: str, matrix: Matrix | None, pairs: tuple[Pair, ...] | None) -> Matrix:
    """Return a matrix with zeros in all places that are not selected."""
    if matrix is None:
        problem = f"found no {name}, expected it: pieces are parts of D, Q and H"
        raise ModelError([Fault(dynamics.source.place(name), name, problem)])
    if pairs is None:
        return matrix
    _check_blocks(dynamics, name, pairs)
    blocks = dynamics.declarations.blocks
    names = tuple(block.name for block in blocks)
    held = {places for a, b in pairs for places in ((a, b), (b, a))}
    return tuple(
        tuple(entry if (row, col) in held else empty for col, entry, empty in zip(names, entries, none, strict=True))
        for row, entries, none in zip(names, matrix, zeros(blocks), strict=True)
    )


def _check_blocks(dynamics: Dynamics, name: str, pairs: tuple[Pair, ...]) -> None:
    """Raise ModelError where a pair of a selection of D, Q or Gamma names a block that there is not."""
    names = tuple(block.name for block in dynamics.declarations.blocks)
    for block in (block for pair in pairs for block in pair):
        if block not in names:
            problem = f"found the block `{block}` in a selection of {name}, expected one of {', '.join(names)}"
            raise model_error("scheme.pieces", problem, nearest(block, names))
