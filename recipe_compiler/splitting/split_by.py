"""The pieces and flows of a word for given dynamics: that they add up to the equation, each for the whole step."""

from collections.abc import Iterable, Mapping

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import Fault, ModelError, Place, model_error, nearest
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import WITHOUT_BOUNDARY
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import OWN_PIECES, letter_text, letters, no_pieces, word_text
from recipe_compiler.splitting.defaults import choose_default_selections
from recipe_compiler.splitting.flow import Flow
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.pieces import Piece, Selections, list_pieces, subtract_pieces
from recipe_compiler.splitting.words import sum_shares
from recipe_compiler.tensor.show import text as tensor_text


def list_selections(derivation: Derivation, scheme: Scheme) -> Selections:
    """Return what every piece of a scheme selects, as it is stated or as it follows from the dynamics."""
    return dict(scheme.pieces) or choose_default_selections(derivation)


def split_by(derivation: Derivation, scheme: Scheme) -> Mapping[str, tuple[Piece, Flow]]:
    """Return the pieces of a word by name, with sum_k f_k = f and sum_k D_k = D, and their flows.

    Args:
        derivation: of the dynamics, multiplied out.
        scheme: a word.

    Raises:
        ModelError: a letter that is no piece, shares of a piece that do not add up to 1, pieces that do not add up to
            the equation, a piece without a flow, or a negative share of a piece with noise, which cannot be undone.
    """
    selections = list_selections(derivation, scheme)
    check_letters(scheme, tuple(selections))
    _check_shares(scheme, tuple(selections))
    pieces = list_pieces(derivation, selections)
    _check_sum(derivation, pieces)
    named = dict(scheme.flows)
    found = {piece.name: (piece, find_flow(derivation, piece, named.get(piece.name, ""))) for piece in pieces}
    _check_signs(scheme, pieces)
    return found


def list_leaving_blocks(blocks: Iterable[Block], moves: Iterable[tuple[Piece, Flow]]) -> dict[str, bool]:
    """Return the blocks with a boundary that a step may reach, and whether it is not a number beyond it.

    A flow of a logarithm keeps a block inside its domain; flows of other transforms never lead to values outside.

    Args:
        blocks: of the state.
        moves: pieces with their flows.
    """
    every = tuple(moves)
    found = {
        block.name: [flow.ends_beyond.get(block.name) for piece, flow in every if block.name in piece.moved]
        for block in blocks
        if block.domain.name not in WITHOUT_BOUNDARY
    }
    return {name: None not in ends for name, ends in found.items() if any(end is not False for end in ends)}


def check_letters(scheme: Scheme, pieces: tuple[str, ...]) -> None:
    """Raise ModelError unless all letters of a word are pieces, and all flows that are stated are of pieces."""
    found = dict.fromkeys(letter.piece for letter in letters(scheme.split))
    unknown = [name for name in found if name not in pieces]
    if unknown:
        told = no_pieces(unknown, scheme.split, pieces)
        raise ModelError([Fault(Place(""), "scheme.split", problem, hint) for problem, hint in told])
    for name, _ in scheme.flows:
        if name not in pieces:
            problem = f"found a flow of {name}, expected one of the pieces {', '.join(pieces)}"
            raise model_error("scheme.flows", problem, nearest(name, pieces) or OWN_PIECES)


def _check_shares(scheme: Scheme, pieces: tuple[str, ...]) -> None:
    """Raise ModelError unless every piece is in the word, and for the whole step in all."""
    found = sum_shares(scheme.split)
    faults: list[Fault] = []
    for name in pieces:
        if name not in found:
            problem = f"found no letter {name} in {word_text(scheme.split)}, expected every piece: {', '.join(pieces)}"
            faults.append(Fault(Place(""), "scheme.split", problem, OWN_PIECES))
        elif found[name] != 1:
            share = found[name]
            problem = f"found the piece {name} for {share} of the step in {word_text(scheme.split)}, expected 1 in all"
            hint = "make the shares of each piece add up to 1, or another equation is integrated"
            faults.append(Fault(Place(""), "scheme.split", problem, hint))
    if faults:
        raise ModelError(faults)


def _check_sum(plain: Derivation, pieces: tuple[Piece, ...]) -> None:
    """Raise ModelError unless the pieces add up to the drift and to D, for every size."""
    blocks = plain.dynamics.declarations.blocks
    drift, D = subtract_pieces(plain, pieces)
    left = [
        f"f[{block.name}] - their sum = {tensor_text(f)}" for block, f in zip(blocks, drift, strict=True) if f.terms
    ]
    left += [
        f"D[{a.name},{b.name}] - their sum = {tensor_text(entry)}"
        for a, row in zip(blocks, D, strict=True)
        for b, entry in zip(blocks, row, strict=True)
        if entry.terms
    ]
    if left:
        names = ", ".join(piece.name for piece in pieces)
        problem = f"found the pieces {names} with {'; '.join(left)}, expected pieces that add up to the equation"
        hint = "assign each missing term to a piece, and each repeated term to only one"
        raise model_error("scheme.pieces", problem, hint)


def _check_signs(scheme: Scheme, pieces: tuple[Piece, ...]) -> None:
    """Raise ModelError where a piece with noise has a negative share."""
    noisy = {piece.name for piece in pieces if piece.is_noisy}
    for letter in letters(scheme.split):
        if letter.share < 0 and letter.piece in noisy:
            problem = (
                f"found {letter_text(letter)} of a piece with noise, expected a share > 0: noise cannot be reversed"
            )
            raise model_error("scheme.split", problem)
