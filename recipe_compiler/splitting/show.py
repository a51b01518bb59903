"""A word or a cycle as text: pieces with their equations and flows, what the word alone proves, and each move."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.derive.involution import JacobianError, mapped
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.derive.show import equation_rows, section
from recipe_compiler.formula.latex import latex
from recipe_compiler.formula.show import text
from recipe_compiler.spec.laws import law_text
from recipe_compiler.spec.model import (
    Cir,
    CodeMove,
    Draw,
    Involution,
    Law,
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
from recipe_compiler.tensor.show import write
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


_LATEX = ("^{", "}")


def write_cycle_lines(
    derivation: Derivation, scheme: Scheme, pieces: Mapping[str, Piece], target: Target | None
) -> Iterator[str]:
    """Yield the moves as text, and below each what it does to z; Psi is the word."""
    laws = _collect_laws(target)
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
                S = _write_covariance(derivation, block, PLAIN)
                if S is None:
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
                yield f"  log a = {_write_log_ratio(derivation, move, target, PLAIN)}"
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


def write_cycle_rows(
    derivation: Derivation, scheme: Scheme, pieces: Mapping[str, Piece], target: Target | None
) -> Iterator[str]:
    """Yield what the moves do as rows of a LaTeX `align*`."""
    laws = _collect_laws(target)
    if scheme.cycle and scheme.split:
        word = word_text(scheme.split).replace("{", r"\{").replace("}", r"\}")
        yield rf"\Psi &= \text{{{word}}}"
    for move in scheme.cycle:
        match move:
            case Refresh(name, kept):
                block, S = LATEX.symbol(name), _write_covariance(derivation, name, LATEX)
                if S is None:
                    yield rf"{block}' &\sim p({block} \mid \text{{all others}})"
                elif kept:
                    new = rf"n \sim \mathcal{{N}}\left(0, {_format_ratio(1 - kept**2)} S\right), \quad S = {S}"
                    yield rf"{block}' &= {_format_ratio(kept)} {block} + n, \quad {new}"
                else:
                    yield rf"{block}' &\sim \mathcal{{N}}\left(0, {S}\right)"
            case Draw(name, _, slices):
                law, block = laws[name], LATEX.symbol(name)
                if slices is not None:
                    yield rf"u_n &\sim \mathrm{{Uniform}}\left(0, w[{block}_n]\right)"
                    yield rf"\log w &= {latex(slices.log_weights)}"
                head = r"\mathcal{N}" if law.name == "N" else rf"\mathrm{{{law.name}}}"
                drawn = ", ".join(map(latex, law.arguments))
                among = "" if slices is None else r" / w, \quad w[{" + block + r"}_n'] \ge u_n"
                yield rf"{block}' &\sim {head}\left({drawn}\right){among}"
            case Cir(name):
                block, (shape, rate) = LATEX.symbol(name), map(latex, laws[name].arguments)
                drift = rf"\left({shape} - \left({rate}\right) {block}\right) dt"
                yield rf"d {block} &= {drift} + \sqrt{{2 {block}}} \, dW \quad \text{{for the time }} \epsilon"
            case Involution(maps, draws, _):
                for drawn in draws:
                    head = rf"{LATEX.symbol(drawn.block.name)} &\sim \mathcal{{N}}"
                    yield rf"{head}\left({', '.join(map(latex, drawn.law.arguments))}\right)"
                for name, formula in maps:
                    yield rf"{LATEX.symbol(name)}' &= {latex(formula)}"
                yield rf"\log a &= {_write_log_ratio(derivation, move, target, LATEX)}"
            case CodeMove(code, changes, reads):
                new = ", ".join(f"{LATEX.symbol(name)}'" for name in changes)
                given = ", ".join(map(LATEX.symbol, (*changes, *reads)))
                function = code.function.replace("_", r"\_")
                yield rf"{new} &= \text{{{function}}}({given}, \dots)"
            case Metropolis((least, most), flip):
                led = rf"\Psi{'^L' if least < most else _format_power(most, *_LATEX)}(z)"
                back = ", ".join(["z", *(rf"\; {LATEX.symbol(b)} \to -{LATEX.symbol(b)}" for b in flip)])
                taken = rf"{led} & \text{{with probability }} \min(1, e^{{-W}})"
                drawn = rf", \quad L \sim \mathrm{{Uniform}}\{{{least}, \dots, {most}\}}" if least < most else ""
                by = _describe_gain(pieces)
                yield rf"z' &= \begin{{cases}} {taken} \\ {back} & \text{{else}} \end{{cases}}{drawn}"
                yield rf"W &= \text{{{by}}}" if by else rf"W &= H({led}) - H(z)"
            case Steps(count):
                yield rf"z' &= \Psi{_format_power(count, *_LATEX)}(z)"


def _collect_laws(target: Target | None) -> Mapping[str, Law]:
    """Return blocks of a target to their laws given all others, as it claims them."""
    return {} if target is None else dict((target.declared or target).laws)


def _write_log_ratio(derivation: Derivation, move: Involution, target: Target | None, style: Style) -> str:
    """Return the derived log acceptance ratio of an involution; in words where its Jacobian is not found."""
    beside = () if target is None else target.declarations.parameters
    try:
        found = mapped(move, visible(derivation.dynamics.declarations, beside)).log_ratio()
    except JacobianError:
        words = ("log q(w'|z') - log q(w|z) + log |det DS|", r"\log q(w'|z') - \log q(w|z) + \log |\det DS|")
        return f"H(z) - H(z') + {words[style is LATEX]}"
    return "H(z) - H(z')" + ("" if found.is_zero else f" + {write(style, found, {})}")


def _write_covariance(derivation: Derivation, block: str, style: Style) -> str | None:
    law = conditional_law(derivation, block)
    return None if law is None else matrix_form(derivation.calculus, style, law.covariance)


def _format_power(count: int, opened: str = "^", closed: str = "") -> str:
    return "" if count == 1 else f"{opened}{count}{closed}"


def _describe_gain(pieces: Mapping[str, Piece]) -> str:
    """Return, as text, over which letters W sums the gain of H; empty for all letters."""
    noiseless = [name for name, piece in pieces.items() if not piece.is_noisy]
    return "" if len(noiseless) == len(pieces) else f"what H gains by {', '.join(noiseless) or 'no letter'}"


def _format_ratio(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else rf"\frac{{{number.numerator}}}{{{number.denominator}}}"
