"""A derivation for readers: the energy, D and Q, what follows from them, and the equation, as text and as LaTeX."""

import re
from collections.abc import Sequence

from recipe_compiler import limits
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.formula import show as formula_show
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Block
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.positions import equation_formulas, smallest_sizes
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.matrixform import as_matrices, matrix_form
from recipe_compiler.tensor.style import LATEX, PLAIN, Style
from recipe_compiler.tensor.terms import Delta, Tensor, Term

_MARGIN = 10


def derivation_text(derivation: Derivation, *, euler: bool = True) -> str:
    """Return grad H, Gamma, the drift and dz = f dt + sqrt(2D) dW as text, in the language of specs.

    Args:
        derivation: what is shown.
        euler: whether Euler's step of it is, too.
    """
    dynamics, rows = derivation.dynamics, equation_rows(derivation, PLAIN)
    width, Gamma = max(len(name) for name, _ in rows), ["vanishes"]
    if not all(entry.is_zero for entry in derivation.Gamma):
        Gamma = ["Gamma_i = sum_j d(D + Q)_ij/dz_j", *vector_text(derivation, derivation.Gamma)]
    least = [f"{size} >= {n}" for size, n in _minimal_sizes(dynamics)]
    sections = [
        ("state", ["z = (" + ", ".join(_name_with_shape(block) for block in dynamics.declarations.blocks) + ")"]),
        ("energy", [f"H = {formula_show.text(dynamics.H)}"]),
        ("D", matrix_text(derivation, derivation.D)),
        ("Q", matrix_text(derivation, derivation.Q)),
        ("grad H", vector_text(derivation, derivation.grad_H)),
        ("Gamma", Gamma),
        ("drift", ["f = -(D + Q) grad H + Gamma", *vector_text(derivation, derivation.drift)]),
        ("equation", ["dz = f dt + sqrt(2 D) dW", *(f"d {name:<{width}} = {right}" for name, right in rows)]),
        ("step", ["z' = z + eps f(z) + N(0, 2 eps D(z))"] if euler else []),
        ("given", least),
    ]
    return "\n\n".join([_title_line(dynamics), *(section(name, lines) for name, lines in sections if lines)]) + "\n"


def derivation_latex(derivation: Derivation) -> str:
    """Return the same as one LaTeX `align*` environment (needs amsmath)."""
    dynamics = derivation.dynamics
    vanishing = all(entry.is_zero for entry in derivation.Gamma)
    lines = [
        rf"z &= \left({', '.join(LATEX.symbol(block.name) for block in dynamics.declarations.blocks)}\right)",
        rf"H(z) &= {formula_show.latex(dynamics.H)}",
        rf"D(z) &= {_print_matrix(derivation, dynamics.D, derivation.D)}, \qquad "
        rf"Q(z) = {_print_matrix(derivation, dynamics.Q, derivation.Q)}",
        rf"\nabla H &= {vector_latex(derivation, derivation.grad_H)}",
        rf"\Gamma &= {'0' if vanishing else vector_latex(derivation, derivation.Gamma)}",
        r"\mathrm{d}z &= \left(-(D + Q) \nabla H + \Gamma\right) \mathrm{d}t + \sqrt{2 D} \, \mathrm{d}W",
        *(rf"\mathrm{{d}}{name} &= {right}" for name, right in equation_rows(derivation, LATEX)),
        *(rf"{LATEX.symbol(size)} &\geq {least}" for size, least in _minimal_sizes(dynamics)),
    ]
    body = " \\\\\n".join(f"  {line}" for line in lines)
    return f"% {_title_line(dynamics)}\n\\begin{{align*}}\n{body}\n\\end{{align*}}\n"


def _title_line(dynamics: Dynamics) -> str:
    """Return the name of the dynamics, with its title if there is one."""
    return f"{dynamics.name}: {dynamics.title}" if dynamics.title else dynamics.name


_SPECIAL = re.compile(r"([&%$#_{}])")


def compilable(document: Dynamics | Target, equations: str) -> str:
    """Return equations as a LaTeX document of their own, under the title of what they are of."""
    title = _SPECIAL.sub(r"\\\1", document.title or document.name)
    head = f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\begin{{document}}\n\\section*{{{title}}}\n"
    return f"{head}{equations.rstrip()}\n\\end{{document}}\n"


def vector_text(derivation: Derivation, vector: Sequence[Tensor]) -> list[str]:
    """Return a vector over z of a derivation as lines of text."""
    rows, c = _vector_rows(derivation, PLAIN, vector), _calculus_of_derivation(derivation)
    width = max(len(name) for name, _, _ in rows) + 1
    return [f"{name + ':':<{width}} {matrix_form(c, PLAIN, entry)}" for name, entry, _ in rows]


def vector_latex(derivation: Derivation, vector: Sequence[Tensor]) -> str:
    """Return a vector over z of a derivation as LaTeX."""
    rows, c = _vector_rows(derivation, LATEX, vector), _calculus_of_derivation(derivation)
    return _pmatrix(
        [[_entry_notation(matrix_form(c, LATEX, entry), place if entry.free else "")] for _, entry, place in rows]
    )


def matrix_text(derivation: Derivation, matrix: Sequence[Sequence[Tensor]]) -> list[str]:
    """Return a matrix over z of a derivation as lines of text."""
    c = _calculus_of_derivation(derivation)
    written = [[matrix_form(c, PLAIN, entry) for entry in row] for row in matrix]
    widths = [max(map(len, column)) for column in zip(*written, strict=True)]
    return [
        "[" + "  ".join(f"{entry:>{width}}" for entry, width in zip(row, widths, strict=True)) + "]" for row in written
    ]


def matrix_latex(derivation: Derivation, matrix: Sequence[Sequence[Tensor]]) -> str:
    """Return a matrix over z of a derivation as LaTeX; what has no matrix notation by the indices of its entries."""
    c = _calculus_of_derivation(derivation)

    def places(entry: Tensor) -> str:
        has_none = bool(entry.free) and as_matrices(c, LATEX, entry) is None
        return " ".join(i.label for i in entry.free) if has_none else ""

    return _pmatrix([[_entry_notation(matrix_form(c, LATEX, entry), places(entry)) for entry in row] for row in matrix])


def _calculus_of_derivation(derivation: Derivation) -> Calculus:
    """Return the calculus of the derivation's declarations."""
    return calculus(derivation.declarations)


def _vector_rows(derivation: Derivation, style: Style, vector: Sequence[Tensor]) -> list[tuple[str, Tensor, str]]:
    c, blocks = _calculus_of_derivation(derivation), derivation.blocks
    return [row for block, entry in zip(blocks, vector, strict=True) for row in _block_rows(c, style, block, entry)]


def row_texts(derivation: Derivation, vector: Sequence[Tensor], block: int) -> list[tuple[str, str]]:
    """Return one block of a vector over z as text, with its left side: one pair, or one for each position."""
    c = calculus(derivation.declarations)
    rows = _block_rows(c, PLAIN, derivation.blocks[block], vector[block])
    return [(name, matrix_form(c, PLAIN, entry)) for name, entry, _ in rows]


def _minimal_sizes(dynamics: Dynamics) -> list[tuple[str, int]]:
    """Return the sizes that must exceed 1 because formulas name positions."""
    return [
        (name, n) for name, n in smallest_sizes(dynamics.declarations, equation_formulas(dynamics)).items() if n > 1
    ]


def section(name: str, lines: Sequence[str]) -> str:
    """Return lines under a name in the margin."""
    first, *others = lines
    return "\n".join([f"{name:<{_MARGIN}}{first}", *(f"{'':<{_MARGIN}}{line}" for line in others)])


def _name_with_shape(block: Block) -> str:
    """Return a block's name followed by its sizes in brackets."""
    return block.name + "".join(f" [{size}]" for size in block.shape.sizes)


def _block_rows(c: Calculus, style: Style, block: Block, entry: Tensor) -> list[tuple[str, Tensor, str]]:
    """Return the lines of a block of a vector: left side, tensor, and the position if it has one.

    One line where there is matrix notation, else one with the index i, or one for each place of a small fixed size.
    """
    name = style.symbol(block.name)
    if not entry.free or as_matrices(c, style, entry) is not None:
        return [(name, entry, "")]
    (index,) = entry.free
    if isinstance(index.size, int) and index.size <= limits.COORDINATES:
        places = [(str(place), c.rename(entry, {index: place})) for place in range(index.size)]
        return [(style.at(name, [place]), one, place) for place, one in places]
    return [(style.at(name, [index.label]), entry, index.label)]


def equation_rows(derivation: Derivation, style: Style) -> list[tuple[str, str]]:
    """Return the rows of dz = f dt + sqrt(2 D) dW: the name whose differential it is, and the right side.

    One row for each block, or for each entry of a block that has no matrix notation.
    """
    c, found = _calculus_of_derivation(derivation), list[tuple[str, str]]()
    dt = " dt" if style is PLAIN else r" \, \mathrm{d}t"
    for n, block in enumerate(derivation.blocks):
        noise = _noise_term(c, style, derivation, n)
        for name, drift, place in _block_rows(c, style, block, derivation.drift[n]):
            parts = [_parenthesise(style, drift, matrix_form(c, style, drift)) + dt] if drift.terms else []
            parts += [style.at(f"({noise})" if style is PLAIN else noise, [place]) if place else noise] if noise else []
            found.append((name, " + ".join(parts) or "0"))
    return found


def _noise_term(c: Calculus, style: Style, derivation: Derivation, n: int) -> str:
    """Return the noise of a block: sqrt(2 D_nn) dW where D is block diagonal, else its row of sqrt(2 D) dW."""
    row = derivation.D[n]
    if all(entry.is_zero for entry in row):
        return ""
    name = style.symbol(derivation.blocks[n].name)
    if any(entry.terms for m, entry in enumerate(row) if m != n):
        if style is PLAIN:
            return f"(sqrt(2 D) dW)_{name}"
        return rf"\left(\sqrt{{2 D}} \, \mathrm{{d}}W\right)_{{{name}}}"
    doubled = matrix_form(c, style, c.scale(_strip_identity(row[n]), 2))
    return f"sqrt({doubled}) dW_{name}" if style is PLAIN else rf"\sqrt{{{doubled}}} \, \mathrm{{d}}W_{{{name}}}"


def _strip_identity(entry: Tensor) -> Tensor:
    """Return c for c*I, since sqrt(c*I) dW = sqrt(c) dW; anything else unchanged."""
    terms: list[Term] = []
    for term in entry.terms:
        rest = tuple(factor for factor in term.factors if not isinstance(factor[0], Delta))
        terms.append(Term(term.coefficient, rest))
    scalar = Tensor((), tuple(terms))
    alike = all(len(rest.factors) == len(term.factors) - 1 for rest, term in zip(terms, entry.terms, strict=True))
    held = {index for term in terms for index in indices(term.factors)} & set(entry.free)
    return scalar if alike and not held else entry


def _parenthesise(style: Style, tensor: Tensor, written: str) -> str:
    """Return the text of a tensor, in parentheses if it is a sum."""
    if len(tensor.terms) < 2:
        return written
    return f"({written})" if style is PLAIN else rf"\left({written}\right)"


def _print_matrix(derivation: Derivation, stated: Matrix | None, found: Sequence[Sequence[Tensor]]) -> str:
    """Return a matrix over z as its author wrote it, or in the notation of the calculus if it was derived."""
    if stated is not None:
        return _pmatrix([[formula_show.latex(entry) for entry in row] for row in stated])
    return matrix_latex(derivation, found)


def _entry_notation(written: str, places: str) -> str:
    """Return the vector or matrix with given entries as LaTeX: (theta_i)_i."""
    return rf"\left({written}\right)_{{{places}}}" if places else written


def _pmatrix(rows: Sequence[Sequence[str]]) -> str:
    return r"\begin{pmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{pmatrix}"
