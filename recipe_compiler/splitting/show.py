"""A word as text: its pieces with their equations and flows, and what the word alone proves."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.derive.show import equation_rows, section
from recipe_compiler.spec.model import Scheme, Target
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.words import kept_text, word_text
from recipe_compiler.splitting.flow import Flow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.show_cycle import write_cycle_lines, write_cycle_rows
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.splitting.words import find_first_asymmetry, find_order
from recipe_compiler.tensor.style import LATEX, PLAIN, Style


def format_word(derivation: Derivation, scheme: Scheme, target: Target | None = None) -> str:
    """Return the pieces of a word, dz = f_k dt + sqrt(2 D_k) dW with the row of their flow, and the word, as text.

    For a cycle the word is that of the move that repeats one, if any, and the moves follow.

    Args:
        derivation: of the dynamics.
        scheme: with the word, or the moves.
        target: whose laws moves may draw its blocks from, and whose parameters involutions may name.

    Raises:
        ModelError: as of `split_by`.
    """
    if not scheme.split:
        return section("cycle", [*write_cycle_lines(derivation, scheme, {}, target)])
    found = split_by(derivation, scheme)
    width = max(map(len, found))
    lines = [
        line
        for name, (piece, flow) in found.items()
        for line in _write_piece_lines(derivation, f"{name:<{width}}", piece, flow)
    ]
    sections = [section("pieces", lines), section("word", [*_write_word_lines(scheme, found)])]
    if scheme.cycle:
        pieces = {name: piece for name, (piece, _) in found.items()}
        sections.append(section("cycle", [*write_cycle_lines(derivation, scheme, pieces, target)]))
    return "\n\n".join(sections)


def format_word_as_latex(derivation: Derivation, scheme: Scheme, target: Target | None = None) -> str:
    """Return the same as one LaTeX `align*` environment (needs amsmath)."""
    found, lines = split_by(derivation, scheme) if scheme.split else {}, list[str]()
    for name, (piece, flow) in found.items():
        for left, right in _write_equations(derivation, piece, LATEX):
            said = rf"&& \text{{{name}, {flow.row}}}"
            lines.append(rf"\mathrm{{d}}{left} &= {right} {said}")
    lines += write_cycle_rows(derivation, scheme, {name: piece for name, (piece, _) in found.items()}, target)
    body = " \\\\\n".join(f"  {line}" for line in lines)
    kept = f"; {kept_text(scheme.split, scheme.keep, scheme.word)}" if scheme.keep else ""
    stated = cycle_text(scheme) if scheme.cycle else word_text(scheme.split)
    return f"% {scheme.name}: {stated}{kept}\n\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def _write_piece_lines(derivation: Derivation, name: str, piece: Piece, flow: Flow) -> Iterator[str]:
    first, *others = (f"d {left} = {right}" for left, right in _write_equations(derivation, piece, PLAIN))
    yield f"{name}  {first}   ({flow.row})"
    yield from (f"{'':<{len(name)}}  {other}" for other in others)


def _write_equations(derivation: Derivation, piece: Piece, style: Style) -> list[tuple[str, str]]:
    """Return the left and right sides of the equations of the blocks that a piece moves."""
    own = replace(derivation, drift=piece.drift, D=piece.D)
    return [row for row in equation_rows(own, style) if row[1] != "0"]


def _write_word_lines(scheme: Scheme, found: Mapping[str, tuple[Piece, Flow]]) -> Iterator[str]:
    own = min([find_order(scheme.split).order, *(flow.order for _, flow in found.values() if flow.order is not None)])
    yield word_text(scheme.split)
    noise = ", ".join(name for name, (piece, _) in found.items() if piece.is_noisy) or "none"
    symmetric = "a palindrome" if find_first_asymmetry(scheme.split) is None else "no palindrome"
    yield f"weak order {own}, {symmetric}; noise in {noise}"
    if scheme.keep:
        yield kept_text(scheme.split, scheme.keep, scheme.word)
