"""Tensors in matrix notation, where their sums are matrix products: `-C @ inv(M) @ r - grad(U, theta)`.

Factors with indices are chains of matrices and columns: a_i B_ij c_j is `a.T @ B @ c`, A_ij B_ji is `trace(A @ B)`.
Every index of a term then occurs twice, or once if it is free; anything else (elementwise products, higher derivatives)
is written with indices instead, and then so is the whole tensor.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.tensor.atoms import ONE, Factor, slots
from recipe_compiler.tensor.calculus import Calculus
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
from recipe_compiler.tensor.walks import DirectedLink, backwards, between, is_product, uses, walk


@dataclass(frozen=True, slots=True)
class Link:
    """A matrix (two ends) or a column (its second end is None), with the text it is written as."""

    written: str
    ends: tuple[Slot, Slot | None]
    symmetry: int = 0
    """1 for a symmetric matrix, -1 for a skew one: they need no transpose."""
    sign: int = 1


Chain = tuple[DirectedLink[Link], ...]

Part = tuple[int, str, list[Link]]
"""A chain's sign and text, and the links that are left."""


@dataclass(frozen=True, slots=True)
class Chains:
    """A product as text: its sign, the chain through the free indices (empty for a scalar), and closed chains."""

    sign: int
    opened: str
    closed: tuple[str, ...]


def chains(style: Style, links: Sequence[Link], free: tuple[Index, ...]) -> Chains | None:
    """Return factors with indices as matrix products, None if they are not: C_ij M_jk r_k is C @ M @ r, with i free.

    A product of several closed chains, (r.T @ r) trace(C), is returned as `closed`, one text for each.
    """
    if not is_product(links, free):
        return None
    opened = _open_chain(style, list(links), free, uses(links))
    if opened is None:
        return None
    sign, written, rest = opened
    sign *= (-1) ** sum(link.sign < 0 for link in links)
    closed: list[str] = []
    while rest:
        scalar = _closed_chain(style, rest)
        if scalar is None:
            return None
        sign *= scalar[0]
        closed.append(scalar[1])
        rest = scalar[2]
    return Chains(sign, written, tuple(closed))


def _open_chain(style: Style, links: list[Link], free: tuple[Index, ...], ends: Counter[Slot]) -> Part | None:
    """Return the chain through the free indices: its sign, its text and the links left; None if there is none."""
    match free:
        case ():
            return 1, "", links
        case (index,) if ends[index] == 1:
            steps, end, rest = walk(index, links)
            chain = backwards(steps) if index.label == "j" else steps
            return None if end is not None or not steps else (*write_chain(style, chain), rest)
        case (row, col) if ends[row] == ends[col] == 1:
            return _chain_between(style, links, row, col)
        case (row, col) if {ends[row], ends[col]} == {1, 2}:
            return _chain_on_diagonal(style, links, row, col)
        case _:
            return None


def _chain_between(style: Style, links: list[Link], row: Index, col: Index) -> Part | None:
    """Return the chain from the row to the column, as `_open_chain` does."""
    found = between(row, col, links)
    return None if found is None else (*write_chain(style, found[0]), found[1])


def _chain_on_diagonal(style: Style, links: list[Link], row: Index, col: Index) -> Part | None:
    """Return the chain diag(v) of delta_ij v_i: its sign, its text and the links left."""
    delta = next((link for link in links if set(link.ends) == {row, col} and link.written == "I"), None)
    if delta is None:
        return None
    others = [link for link in links if link is not delta]
    held = row if any(row in link.ends for link in others) else col
    steps, end, rest = walk(held, others)
    if end is not None:
        return None
    sign, written = write_chain(style, steps)
    return sign, style.call("diag", [written]), rest


def _closed_chain(style: Style, links: list[Link]) -> Part | None:
    """Return a scalar product or trace: its sign, its text and the links left; None if no chain closes."""
    column = next((n for n, link in enumerate(links) if link.ends[1] is None), None)
    if column is not None:
        first = links[column]
        steps, end, rest = walk(first.ends[0], [*links[:column], *links[column + 1 :]])
        return None if end is not None else (*write_chain(style, (DirectedLink(first, forwards=False), *steps)), rest)
    start = links[0]
    if start.ends[0] == start.ends[1]:
        return 1, style.call("trace", [start.written]), links[1:]
    steps, end, rest = walk(start.ends[1], links[1:])
    if end != start.ends[0]:
        return None
    sign, written = write_chain(style, (DirectedLink(start, forwards=True), *steps))
    return sign, style.call("trace", [written]), rest


def write_chain(style: Style, chain: Sequence[DirectedLink[Link]]) -> tuple[int, str]:
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
    return _write_sum(c, style, tensor)


def _write_sum(c: Calculus, style: Style, tensor: Tensor) -> str | None:
    """Return a tensor in matrix notation, None if one of its terms has none."""
    terms: list[tuple[bool, str]] = []
    for term in sorted(tensor.terms, key=lambda term: not term.factors):
        signed = _write_term(c, style, term, tensor.free)
        if signed is None:
            return None
        terms.append(signed)
    return join_terms(terms)


def _write_term(c: Calculus, style: Style, term: Term, free: tuple[Index, ...]) -> tuple[bool, str] | None:
    """Return whether a term is negative, and its absolute value in matrix notation; None if it has none."""
    above: list[str] = []
    below: list[str] = []
    links: list[Link] = []
    for atom, exponent in term.factors:
        if slots(atom):
            more = _factor_as_links(c, style, (atom, exponent), term)
            if more is None:
                return None
            links += more
            continue
        written = _write_scalar(c, style, atom, abs(exponent))
        if written is None:
            return None
        (above if exponent > 0 else below).append(written)
    found = chains(style, links, free)
    if found is None:
        return None
    alone = len(found.closed) == 1 and not above and not found.opened
    above += found.closed if alone else [style.group(scalar) for scalar in found.closed]
    coefficient = term.coefficient * found.sign
    return coefficient < 0, _write_product(style, coefficient, above, below, found.opened)


def _write_product(style: Style, coefficient: Fraction, above: list[str], below: list[str], chain: str) -> str:
    """Write coefficient, scalars and a chain of matrices, the chain inside a fraction only in plain text."""
    if not chain:
        return fraction(style, "", coefficient, above, below, between=style.scalar_times)
    if style is PLAIN:
        return fraction(style, "", coefficient, [*above, chain], below, between=style.scalar_times)
    plain = abs(coefficient) == 1 and not above and not below
    return chain if plain else f"{fraction(style, '', coefficient, above, below, between=' ')} {chain}"


def _write_scalar(c: Calculus, style: Style, atom: Atom, exponent: Fraction) -> str | None:
    """Write a power of an atom without indices; inside it matrix notation is used again."""
    match atom:
        case Applied(fn, args):
            inner = [_write_sum(c, style, arg) for arg in args]
            written = style.call(fn, [part for part in inner if part is not None])
            return None if None in inner else style.power(written, exponent, simple=True)
        case Base(arg):
            inside = _write_sum(c, style, arg)
            return None if inside is None else style.power(inside, exponent, simple=False)
        case Determinant(of, log):
            written = style.call("logdet" if log else "det", [_write_matrix(c, style, of)[0]])
            return style.power(written, exponent, simple=True)
        case Component(_, _, by):
            simple = not by
            written = write(style, Tensor((), (Term(ONE, ((atom, ONE),)),)), {})
            return style.power(written, exponent, simple=simple) if exponent != 1 else written
        case _:
            return write(style, Tensor((), (Term(ONE, ((atom, exponent),)),)), {})


def _factor_as_links(c: Calculus, style: Style, factor: Factor, term: Term) -> list[Link] | None:
    """Return a factor as links: a square of a column is two of them."""
    atom, exponent = factor
    if exponent not in (1, 2):
        return None
    link = _atom_as_link(c, style, atom, term)
    if link is None or (exponent == 2 and link.ends[1] is not None):
        return None
    return [link] * exponent.numerator


def _atom_as_link(c: Calculus, style: Style, atom: Atom, term: Term) -> Link | None:
    """Return an atom with indices as a named matrix or column, None if it has no such form."""
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
        case Inverse(of, (row, col)):
            matrix, simple = _write_matrix(c, style, of)
            return Link(style.inverse(matrix, simple=simple), (row, col), grid_sign(c, of))
        case Delta(left, right):
            return Link("I", (left, right), 1)
        case Applied(fn, (arg,)) if len(arg.free) == 1:
            inside = _write_sum(c, style, c.rename(arg, {arg.free[0]: Index(arg.free[0].size, "i")}))
            return None if inside is None else Link(style.call(fn, [inside]), (arg.free[0], None))
        case _:
            return None


def _divergence_as_link(c: Calculus, style: Style, matrix: Component, block: str, at: Slot, term: Term) -> Link | None:
    """Return dA_ij/dz_j as the column div(A, z), for A.T where the row is summed."""
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


def _write_matrix(c: Calculus, style: Style, grid: Grid) -> tuple[str, bool]:
    """Return a matrix in matrix notation, and whether it is a single name."""
    written, simple = matrix_of(style, grid)
    if simple:
        return written, True
    return _write_sum(c, style, grid.entry) or written, False
