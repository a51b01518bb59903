"""Tensors in matrix notation, where their sums are matrix products: `-C @ inv(M) @ r - grad(U, theta)`.

Factors with indices are chains of matrices and columns: a_i B_ij c_j is `a.T @ B @ c`, A_ij B_ji is `trace(A @ B)`.
Every index of a term then occurs twice, or once if it is free; anything else (elementwise products, higher derivatives)
is written with indices instead, and then so is the whole tensor.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.tensor.atoms import Factor, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.inverses import declared_symmetry, grid_sign
from recipe_compiler.tensor.show import NONE, fraction, join_terms, matrix_of, write, write_power
from recipe_compiler.tensor.style import PLAIN, Style
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    Slot,
    Tensor,
    Term,
)
from recipe_compiler.tensor.walks import DirectedLink, backwards, between, is_product, uses, walk


@dataclass(frozen=True, slots=True)
class Link:
    """A matrix (two ends) or a column (its second end is None), with the text it is written as."""

    written: str
    ends: tuple[Slot, Slot | None]
    symmetry: int = 0
    """1 for a symmetric matrix, -1 for a skew one: they need no transpose."""
    sign: int = 1


Part = tuple[int, str, list[Link]]
"""A chain's sign and text, and the links that are left."""


class _NoMatrixFormError(Exception):
    """A tensor that is written with indices."""


def _chains(style: Style, links: Sequence[Link], free: tuple[Index, ...]) -> tuple[int, str, list[str]]:
    """Return factors with indices as matrix products: C_ij M_jk r_k is C @ M @ r, with i free.

    These are the sign, the chain through the free indices, empty for a scalar, and closed chains: (r.T @ r) trace(C).
    """
    if not is_product(links, free):
        raise _NoMatrixFormError
    sign, opened, rest = _open_chain(style, list(links), free, uses(links))
    sign *= (-1) ** sum(link.sign < 0 for link in links)
    closed: list[str] = []
    while rest:
        own, written, rest = _closed_chain(style, rest)
        sign *= own
        closed.append(written)
    return sign, opened, closed


def _open_chain(style: Style, links: list[Link], free: tuple[Index, ...], ends: Counter[Slot]) -> Part:
    """Return the chain through the free indices: its sign, its text and the links left."""
    match free:
        case ():
            return 1, "", links
        case (index,) if ends[index] == 1:
            steps, rest = _walk(index, None, links)
            if steps:
                return *_write_chain(style, backwards(steps) if index.label == "j" else steps), rest
        case (row, col) if ends[row] == ends[col] == 1 and (found := between(row, col, links)):
            return *_write_chain(style, found[0]), found[1]
        case (row, col) if {ends[row], ends[col]} == {1, 2}:
            for delta in (link for link in links if set(link.ends) == {row, col} and link.written == "I"):
                others = [link for link in links if link is not delta]
                steps, rest = _walk(row if any(row in link.ends for link in others) else col, None, others)
                sign, written = _write_chain(style, steps)
                return sign, style.call("diag", [written]), rest
    raise _NoMatrixFormError


def _walk(start: Slot | None, end: Slot | None, links: list[Link]) -> tuple[Sequence[DirectedLink[Link]], list[Link]]:
    """Return the chain from a slot to another, or to a column, and the links left."""
    steps, last, rest = walk(start, links)
    if last != end:
        raise _NoMatrixFormError
    return steps, rest


def _closed_chain(style: Style, links: list[Link]) -> Part:
    """Return a scalar product or trace: its sign, its text and the links left."""
    column = next((n for n, link in enumerate(links) if link.ends[1] is None), None)
    if column is not None:
        first = links[column]
        steps, rest = _walk(first.ends[0], None, [*links[:column], *links[column + 1 :]])
        return *_write_chain(style, (DirectedLink(first, forwards=False), *steps)), rest
    start, *others = links
    if start.ends[0] == start.ends[1]:
        return 1, style.call("trace", [start.written]), others
    steps, rest = _walk(start.ends[1], start.ends[0], others)
    sign, written = _write_chain(style, (DirectedLink(start, forwards=True), *steps))
    return sign, style.call("trace", [written]), rest


def _write_chain(style: Style, chain: Sequence[DirectedLink[Link]]) -> tuple[int, str]:
    """Return the sign and the text of a chain as a matrix product, identities left out.

    K_ji of a skew K is -K, no transpose.
    """
    shown = [step for step in chain if step.link.written != "I"] or list(chain[:1])
    flips = sum(step.link.symmetry < 0 and not step.forwards for step in shown)
    return (-1) ** flips, style.chain.join(_write_link(style, step, alone=len(shown) == 1) for step in shown)


def _write_link(style: Style, step: DirectedLink[Link], *, alone: bool) -> str:
    """Return the text of one link, transposed if it is passed backwards."""
    written = step.link.written
    if not step.forwards and not step.link.symmetry:
        return style.transpose(written)
    return written if alone else style.factor(written)


def matrix_form(c: Calculus, style: Style, tensor: Tensor) -> str:
    """Write a scalar, a vector or a matrix in matrix notation if it has one, else in index notation.

    A free index labelled `j` alone makes a row of the vector, so that it is written as the transposed product.
    """
    letters = {index: index.label for index in tensor.free}
    return as_matrices(c, style, tensor) or write(style, tensor, letters, c.rules.symmetric)


def as_matrices(c: Calculus, style: Style, tensor: Tensor) -> str | None:
    """Write a tensor in matrix notation; None if one of its terms has none."""
    try:
        return _write_sum(c, style, tensor)
    except _NoMatrixFormError:
        return None


def _write_sum(c: Calculus, style: Style, tensor: Tensor) -> str:
    ordered = sorted(tensor.terms, key=lambda term: not term.factors)
    return join_terms([_write_term(c, style, term, tensor.free) for term in ordered])


def _write_term(c: Calculus, style: Style, term: Term, free: tuple[Index, ...]) -> tuple[bool, str]:
    """Return whether a term is negative, and its absolute value in matrix notation."""
    above: list[str] = []
    below: list[str] = []
    links: list[Link] = []
    for atom, exponent in term.factors:
        if slots(atom):
            links += _factor_as_links(c, style, (atom, exponent), term)
        else:
            (above if exponent > 0 else below).append(_write_scalar(c, style, atom, abs(exponent)))
    sign, opened, closed = _chains(style, links, free)
    alone = len(closed) == 1 and not above and not opened
    above += closed if alone else map(style.group, closed)
    coefficient = term.coefficient * sign
    return coefficient < 0, _write_product(style, coefficient, above, below, opened)


def _write_product(style: Style, coefficient: Fraction, above: list[str], below: list[str], chain: str) -> str:
    """Write coefficient, scalars and a chain of matrices, the chain inside a fraction only in plain text."""
    if not chain:
        return fraction(style, "", coefficient, above, below, between=style.scalar_times)
    if style is PLAIN:
        return fraction(style, "", coefficient, [*above, chain], below, between=style.scalar_times)
    plain = abs(coefficient) == 1 and not above and not below
    return chain if plain else f"{fraction(style, '', coefficient, above, below, between=' ')} {chain}"


def _write_scalar(c: Calculus, style: Style, atom: Atom, exponent: Fraction) -> str:
    """Write a power of an atom without indices; inside it matrix notation is used again."""
    match atom:
        case Applied(fn, args):
            return style.power(style.call(fn, [_write_sum(c, style, arg) for arg in args]), exponent, simple=True)
        case Base(arg):
            return style.power(_write_sum(c, style, arg), exponent, simple=False)
        case MatrixFunction(fn, of):
            written = style.call(fn, [_write_matrix(c, style, of)[0]])
            return style.power(written, exponent, simple=True)
        case _:
            return write_power(style, atom, exponent, {}, NONE)


def _factor_as_links(c: Calculus, style: Style, factor: Factor, term: Term) -> list[Link]:
    """Return a factor as links: a square of a column is two of them."""
    atom, exponent = factor
    if exponent not in (1, 2):
        raise _NoMatrixFormError
    link = _atom_as_link(c, style, atom, term)
    if exponent == 2 and link.ends[1] is not None:
        raise _NoMatrixFormError
    return [link] * exponent.numerator


def _atom_as_link(c: Calculus, style: Style, atom: Atom, term: Term) -> Link:
    """Return an atom with indices as a named matrix or column."""
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
            return _divergence_as_link(c, style, Component(name, (row, col)), block, at, term)
        case MatrixFunction("inv", of, (row, col)):
            matrix, simple = _write_matrix(c, style, of)
            return Link(style.inverse(matrix, simple=simple), (row, col), grid_sign(c, of))
        case MatrixFunction("cholesky", of, (row, col)):
            return Link(style.call("cholesky", [_write_matrix(c, style, of)[0]]), (row, col))
        case Delta(left, right):
            return Link("I", (left, right), 1)
        case Applied(fn, (arg,)) if len(arg.free) == 1:
            inside = _write_sum(c, style, c.rename(arg, {arg.free[0]: Index(arg.free[0].size, "i")}))
            return Link(style.call(fn, [inside]), (arg.free[0], None))
        case _:
            raise _NoMatrixFormError


def _divergence_as_link(c: Calculus, style: Style, matrix: Component, block: str, at: Slot, term: Term) -> Link:
    """Return dA_ij/dz_j as the column div(A, z), for A.T where the row is summed."""
    row, col = matrix.at
    uses = Counter(slot for atom, _ in term.factors for slot in slots(atom))
    if uses[at] != 2 or at not in (row, col):
        raise _NoMatrixFormError
    name = style.symbol(matrix.name)
    if at == col:
        return Link(style.divergence(name, block), (row, None))
    symmetry = declared_symmetry(c.rules, matrix.name)
    written = name if symmetry else style.transpose(name)
    return Link(style.divergence(written, block), (col, None), sign=symmetry or 1)


def _write_matrix(c: Calculus, style: Style, grid: Grid) -> tuple[str, bool]:
    """Return a matrix in matrix notation, and whether it is a single name."""
    written, simple = matrix_of(style, grid)
    return written if simple else as_matrices(c, style, grid.entry) or written, simple
