"""A word or a cycle as text: pieces with their equations and flows, what the word alone proves, and each move."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from recipe_compiler.derive.involution import JacobianError, mapped
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.derive.show import equation_rows, section
from recipe_compiler.formula.show import text
from recipe_compiler.spec.laws import law_text
from recipe_compiler.spec.model import (
    Cir,
    CodeMove,
    Draw,
    Involution,
    Metropolis,
    Refresh,
    Scheme,
    Steps,
    Target,
)
from recipe_compiler.spec.moves import cycle_text, move_text
from recipe_compiler.spec.read_moves import visible
from recipe_compiler.spec.words import kept_text, word_text
from recipe_compiler.splitting.flow import Flow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.splitting.words import find_first_asymmetry, find_order
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.show import text as tensor_text
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
    found = split_by(derivation, scheme) if scheme.split else {}
    lines = [
        line
        for name, (piece, flow) in found.items()
        for line in _write_piece_lines(derivation, f"{name:<{max(map(len, found))}}", piece, flow)
    ]
    moves = [*write_cycle_lines(derivation, scheme, {name: piece for name, (piece, _) in found.items()}, target)]
    word = [*_write_word_lines(scheme, found)] if found else []
    return "\n\n".join(
        section(title, own) for title, own in (("pieces", lines), ("word", word), ("cycle", moves)) if own
    )


def format_word_as_latex(derivation: Derivation, scheme: Scheme, target: Target | None = None) -> str:
    """Return the pieces as a LaTeX `align*` environment (needs amsmath), and the moves of a cycle as text."""
    found, lines = split_by(derivation, scheme) if scheme.split else {}, list[str]()
    for name, (piece, flow) in found.items():
        for left, right in _write_equations(derivation, piece, LATEX):
            said = rf"&& \text{{{name}, {flow.row}}}"
            lines.append(rf"  \mathrm{{d}}{left} &= {right} {said}")
    moves = [*write_cycle_lines(derivation, scheme, {name: piece for name, (piece, _) in found.items()}, target)]
    kept = f"; {kept_text(scheme.split, scheme.keep, scheme.word)}" if scheme.keep else ""
    stated = cycle_text(scheme) if scheme.cycle else word_text(scheme.split)
    parts = (("align*", " \\\\\n".join(lines)), ("verbatim", "\n".join(moves)))
    written = "".join(f"\\begin{{{name}}}\n{own}\n\\end{{{name}}}\n" for name, own in parts if own)
    return f"% {scheme.name}: {stated}{kept}\n{written}"


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


def write_cycle_lines(
    derivation: Derivation, scheme: Scheme, pieces: Mapping[str, Piece], target: Target | None
) -> Iterator[str]:
    """Yield the moves as text, and below each what it does to z; Psi is the word."""
    laws = {} if target is None else dict(target.as_declared.laws)
    for move in scheme.cycle:
        yield move_text(scheme, move)
        moved = scheme.moved(move) if isinstance(move, Metropolis | Steps) else None
        if scheme.use is not None and moved is not None and moved.mask:
            of_first = scheme.use.parts[0].mask
            instead = "" if moved.mask == of_first else f", instead of {of_first}"
            blocks = ", ".join(moved.blocks)
            others = f"and 0 at others, which are fixed{instead}"
            yield f"  {moved.mask} is 1 at the coordinates of {blocks}, which move, {others}"
        match move:
            case Refresh(block, kept):
                law = conditional_law(derivation, block)
                S = "" if law is None else matrix_form(derivation.calculus, PLAIN, law.covariance)
                if law is None:
                    yield f"  not proved: the conditional distribution of {block} is normal with mean 0"
                elif kept:
                    yield f"  {block}' = {kept}*{block} + n, n ~ N(0, {1 - kept**2}*S), S = {S}"
                else:
                    yield f"  {block}' ~ N(0, {S})"
            case Draw(block, _, slices) if slices is not None:
                log_w = text(slices.log_weights)
                yield f"  log u = log w[{block}] - e, e ~ Exponential(1) for each row; log w = {log_w}"
                yield f"  {block}' ~ {law_text(laws[block])} less log w, among the components with w >= u"
                if slices.left is not None:
                    left = text(slices.left)
                    yield f"  too_few: whether a level u is below the weight left over, whose log is {left}"
            case Draw(block):
                yield f"  {block}' ~ {law_text(laws[block])} (conditional on all other blocks and the data)"
            case Cir(block):
                shape, rate = map(text, laws[block].arguments)
                yield f"  d {block} = (shape - rate*{block}) dt + sqrt(2*{block}) dW for the time eps, solved exactly"
                yield f"  shape = {shape}, rate = {rate}: its conditional Gamma distribution"
            case Involution(maps, draws, _):
                for drawn in draws:
                    yield f"  {drawn.block.name} ~ {law_text(drawn.law)}"
                mapped = ", ".join(f"{name}' = {text(formula)}" for name, formula in maps)
                yield f"  {mapped} with probability min(1, a), else z"
                yield f"  log a = {_write_log_ratio(derivation, move, target)}"
            case CodeMove(code, changes, reads):
                given = ", ".join((*changes, *reads))
                new = ", ".join(f"{name}'" for name in changes)
                yield f"  {new} = {code.function}({given}, ..., random words)"
                yield "  not verified: its author states that it preserves exp(-H)"
            case Metropolis((least, most), flip):
                turned = " with " + ", ".join(f"{block} -> -{block}" for block in flip) if flip else ""
                drawn = "" if least == most else f"; L uniform in {least}, ..., {most}"
                led = "Psi" + ("^L" if drawn else _format_power(most)) + "(z)"
                yield f"  z' = {led} with probability min(1, exp(-W)), else z{turned}"
                eps = "" if move.scale == 1 else f" with step size {move.scale}*eps"
                yield f"  W = {_describe_gain(pieces) or f'H({led}) - H(z)'}; Psi the word{eps}{drawn}"
            case Steps(count):
                yield f"  z' = Psi{_format_power(count)}(z); Psi the word"


def _write_log_ratio(derivation: Derivation, move: Involution, target: Target | None) -> str:
    """Return the derived log acceptance ratio of an involution; in words where its Jacobian is not found."""
    beside = () if target is None else target.declarations.parameters
    try:
        found = mapped(move, visible(derivation.declarations, beside)).log_ratio()
    except JacobianError:
        return "H(z) - H(z') + log q(w'|z') - log q(w|z) + log |det DS|"
    return "H(z) - H(z')" + ("" if found.is_zero else f" + {tensor_text(found)}")


def _format_power(count: int | str) -> str:
    return "" if count == 1 else f"^{count}"


def _describe_gain(pieces: Mapping[str, Piece]) -> str:
    """Return, as text, over which letters W sums the gain of H; empty for all letters."""
    noiseless = [name for name, piece in pieces.items() if not piece.is_noisy]
    return "" if len(noiseless) == len(pieces) else f"what H gains by {', '.join(noiseless) or 'no letter'}"
