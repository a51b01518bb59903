"""Moves of a cycle as documents state them."""

from recipe_compiler.spec.model import Cir, Draw, Metropolis, Move, Refresh, Scheme, Steps
from recipe_compiler.spec.words import word_text


def cycle_text(scheme: Scheme) -> str:
    """Return the moves of a cycle: `[refresh: r, metropolis: {split: [B/2, A, B/2], steps: 10, flip: {r: -r}}]`."""
    moves = (move_text(scheme, move) for move in scheme.cycle)
    return f"[{', '.join(f'{{{text}}}' if text.startswith('split') else text for text in moves)}]"


def move_text(scheme: Scheme, move: Move) -> str:
    """Return one of them: `refresh: {r: 9/10}`; each has the word of the scheme, whatever document it is of."""
    split = f"split: {word_text(scheme.split)}"
    match move:
        case Refresh(block, kept):
            return f"refresh: {{{block}: {kept}}}" if kept else f"refresh: {block}"
        case Draw(block):
            return f"draw: {block}"
        case Cir(block):
            return f"cir: {block}"
        case Metropolis(steps, flip):
            turned = ", ".join(f"{block}: -{block}" for block in flip)
            flipped = f", flip: {{{turned}}}" if flip else ""
            return f"metropolis: {{{split}, steps: {_drawn(steps)}{flipped}}}"
        case Steps(count):
            return f"{split}, steps: {count}"


def _drawn(steps: tuple[int, int]) -> str:
    least, most = steps
    return f"{least}" if least == most else f'"uniform({least}, {most})"'
