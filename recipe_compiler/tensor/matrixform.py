"""Tensors in matrix notation, where their sums are matrix products: `-C @ inv(M) @ r - grad(U, theta)`.

Every index of a term then occurs twice, or once if it is free; anything else (elementwise products, higher
derivatives) is written with indices instead, the whole tensor alike.
"""

from collections import Counter
from fractions import Fraction

from recipe_compiler.tensor.atoms import ONE, Factor, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.chains import Link, chains
from recipe_compiler.tensor.inverses import declared_symmetry, grid_sign
from recipe_compiler.tensor.show import fraction, join_terms, matrix_of, write
from recipe_compiler.tensor.style import PLAIN, Style
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Determinant,
    Grid,
    Index,
    Inverse,
    Slot,
    Tensor,
    Term,
)


def matrix_form(c: Calculus, style: Style, tensor: Tensor) -> str:
    """Write a scalar, a vector or a matrix in matrix notation if it has one, else in index notation.

    A free index labelled `j` alone is that of a row.
    """
    letters = {index: index.label for index in tensor.free}
    return as_matrices(c, style, tensor) or write(style, tensor, letters, c.rules.symmetric)


def as_matrices(c: Calculus, style: Style, tensor: Tensor) -> str | None:
    """Write a tensor in matrix notation, None if it has none."""
    return _sum(c, style, tensor)


def _sum(c: Calculus, style: Style, tensor: Tensor) -> str | None:
    terms: list[tuple[bool, str]] = []
    for term in sorted(tensor.terms, key=lambda term: not term.factors):
        signed = _term(c, style, term, tensor.free)
        if signed is None:
            return None
        terms.append(signed)
    return join_terms(terms)


def _term(c: Calculus, style: Style, term: Term, free: tuple[Index, ...]) -> tuple[bool, str] | None:
    above: list[str] = []
    below: list[str] = []
    links: list[Link] = []
    for atom, exponent in term.factors:
        if slots(atom):
            more = _links(c, style, (atom, exponent), term)
            if more is None:
                return None
            links += more
            continue
        written = _scalar(c, style, atom, abs(exponent))
        if written is None:
            return None
        (above if exponent > 0 else below).append(written)
    found = chains(style, links, free)
    if found is None:
        return None
    alone = len(found.closed) == 1 and not above and not found.opened
    above += found.closed if alone else [style.group(scalar) for scalar in found.closed]
    coefficient = term.coefficient * found.sign
    return coefficient < 0, _joined(style, coefficient, above, below, found.opened)


def _joined(style: Style, coefficient: Fraction, above: list[str], below: list[str], chain: str) -> str:
    """Write coefficient, scalars and a chain of matrices, the chain inside a fraction only in plain text."""
    if not chain:
        return fraction(style, "", coefficient, above, below, between=style.scalar_times)
    if style is PLAIN:
        return fraction(style, "", coefficient, [*above, chain], below, between=style.scalar_times)
    plain = abs(coefficient) == 1 and not above and not below
    return chain if plain else f"{fraction(style, '', coefficient, above, below, between=' ')} {chain}"


def _scalar(c: Calculus, style: Style, atom: Atom, exponent: Fraction) -> str | None:
    """Write a power of an atom without indices; inside it matrix notation is used again."""
    match atom:
        case Applied(fn, args):
            inner = [_sum(c, style, arg) for arg in args]
            written = style.call(fn, [part for part in inner if part is not None])
            return None if None in inner else style.power(written, exponent, simple=True)
        case Base(arg):
            inside = _sum(c, style, arg)
            return None if inside is None else style.power(inside, exponent, simple=False)
        case Determinant(of, log):
            written = style.call("logdet" if log else "det", [_matrix(c, style, of)[0]])
            return style.power(written, exponent, simple=True)
        case Component(_, _, by):
            simple = not by
            written = write(style, Tensor((), (Term(ONE, ((atom, ONE),)),)), {})
            return style.power(written, exponent, simple=simple) if exponent != 1 else written
        case _:
            return write(style, Tensor((), (Term(ONE, ((atom, exponent),)),)), {})


def _links(c: Calculus, style: Style, factor: Factor, term: Term) -> list[Link] | None:
    """Return a factor as links: a square of a column is two of them."""
    atom, exponent = factor
    if exponent not in (1, 2):
        return None
    link = _link(c, style, atom, term)
    if link is None or (exponent == 2 and link.ends[1] is not None):
        return None
    return [link] * exponent.numerator


def _link(c: Calculus, style: Style, atom: Atom, term: Term) -> Link | None:
    match atom:
        case Coordinate(name, (at,)) | Component(name, (at,), ()):
            return Link(style.symbol(name), (at, None))
        case Component(name, (row, col), ()):
            return Link(style.symbol(name), (row, col), declared_symmetry(c.rules, name))
        case Component(name, (), (Coordinate(block, (at,)),)):
            return Link(style.gradient(style.symbol(name), block, 1), (at, None))
        case Component(name, (), (Coordinate(block, (row,)), Coordinate(other, (col,)))) if block == other:
            return Link(style.gradient(style.symbol(name), block, 2), (row, col), 1)
        case Component(name, (row, col), (Coordinate(block, (at,)),)):
            return _divergence(c, style, Component(name, (row, col)), block, at, term)
        case Inverse(of, (row, col)):
            matrix, simple = _matrix(c, style, of)
            return Link(style.inverse(matrix, simple=simple), (row, col), grid_sign(c, of))
        case Delta(left, right):
            return Link("I", (left, right), 1)
        case Applied(fn, (arg,)) if len(arg.free) == 1:
            inside = _sum(c, style, c.rename(arg, {arg.free[0]: Index(arg.free[0].size, "i")}))
            return None if inside is None else Link(style.call(fn, [inside]), (arg.free[0], None))
        case _:
            return None


def _divergence(c: Calculus, style: Style, matrix: Component, block: str, at: Slot, term: Term) -> Link | None:
    row, col = matrix.at
    uses = Counter(slot for atom, _ in term.factors for slot in slots(atom))
    if uses[at] != 2 or at not in (row, col):
        return None
    name = style.symbol(matrix.name)
    if at == col:
        return Link(style.divergence(name, block), (row, None))
    symmetry = declared_symmetry(c.rules, matrix.name)
    written = name if symmetry else style.transpose(name)
    return Link(style.divergence(written, block), (col, None), sign=symmetry or 1)


def _matrix(c: Calculus, style: Style, grid: Grid) -> tuple[str, bool]:
    written, simple = matrix_of(style, grid)
    if simple:
        return written, True
    return _sum(c, style, grid.entry) or written, False
