"""Tensors as text and LaTeX: in matrix notation where that says the same, else with indices and explicit sums."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from recipe_compiler.tensor.atoms import Factor, indices, slots
from recipe_compiler.tensor.style import LATEX, PLAIN, Style
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
    Pi,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

_LETTERS = "ijklmnpqstuvwabcefgh"

Letters = Mapping[Index, str]
"""How indices are written."""


Names = frozenset[str]
"""Names of symmetric matrices, whose slots may be written either way round."""

NONE: Names = frozenset()


def text(tensor: Tensor, symmetric: Names = NONE) -> str:
    """Write a tensor in index notation: `-sum_jk C[i,j] inv(M)[j,k] r[k] - d_theta[i] U`.

    Slots of matrices known to be `symmetric` are swapped so that neighbours share an index.
    """
    return write(PLAIN, tensor, {index: index.label for index in tensor.free}, symmetric)


def latex(tensor: Tensor) -> str:
    """Write a tensor in index notation as LaTeX."""
    return write(LATEX, tensor, {index: index.label for index in tensor.free})


def write(style: Style, tensor: Tensor, letters: Letters, symmetric: Names = NONE) -> str:
    """Write a sum of terms; numbers alone come last."""
    ordered = sorted(tensor.terms, key=lambda term: not term.factors)
    return join_terms([_write_term(style, term, letters, symmetric) for term in ordered])


def join_terms(terms: Sequence[tuple[bool, str]]) -> str:
    """Join terms (whether negative, and what follows the sign) to a sum."""
    if not terms:
        return "0"
    first, *others = terms
    return ("-" if first[0] else "") + first[1] + "".join(f" {'-' if neg else '+'} {body}" for neg, body in others)


def fraction(
    style: Style,
    prefix: str,
    coefficient: Fraction,
    above: Sequence[str],
    below: Sequence[str],
    *,
    between: str | None = None,
) -> str:
    """Write |coefficient| * above / below, with `prefix` (a sum's sign) before the factors that it sums."""
    times = style.times if between is None else between
    number = abs(coefficient)
    if prefix and number.denominator == 1 and number != 1:
        prefix, number = f"{number}{style.times}{prefix}", Fraction(1)
    over = [*([str(number.numerator)] if number.numerator != 1 else []), *above]
    under = [*([str(number.denominator)] if number.denominator != 1 else []), *below]
    if not under:
        return prefix + (times.join(over) or "1")
    if style is LATEX and above and (prefix or not below):
        return style.ratio(str(number.numerator), times.join(under), compound=False) + f" {prefix}{times.join(above)}"
    return prefix + style.ratio(times.join(over) or "1", times.join(under), compound=len(under) > 1)


def _write_term(style: Style, term: Term, letters: Letters, symmetric: Names) -> tuple[bool, str]:
    """Return whether a term is negative, and its absolute value in index notation."""
    factors = chained(term.factors, tuple(letters), symmetric)
    appearing = dict.fromkeys(slot for atom, _ in factors for slot in slots(atom) if isinstance(slot, Index))
    bound = [index for index in appearing if index not in letters]
    inner = {**letters, **_choose_letters(bound, term, letters)}
    above: list[str] = []
    below: list[str] = []
    for atom, exponent in factors:
        (below if exponent < 0 else above).append(write_power(style, atom, abs(exponent), inner, symmetric))
    prefix = style.total([inner[index] for index in bound]) if bound else ""
    return term.coefficient < 0, fraction(style, prefix, term.coefficient, above, below)


def _choose_letters(bound: Sequence[Index], term: Term, letters: Letters) -> dict[Index, str]:
    """Return letters for bound indices that nothing around them uses."""
    used = set(letters.values()) | names_in(term)
    letters_left = [letter for letter in _LETTERS if letter not in used]
    spare = [f"i{n}" for n in range(len(bound))]
    return dict(zip(bound, [*letters_left, *spare], strict=False))


def names_in(term: Term) -> set[str]:
    """Return the one-letter names that a term holds outside its arguments, and its sizes: no letters for indices."""
    found: set[str] = set()
    for atom, _ in term.factors:
        match atom:
            case Coordinate(name, _) | Component(name, _, _) | SizeNumber(name):
                found.add(name)
            case _:
                pass
        found |= {str(index.size) for index in indices(((atom, Fraction(1)),))}
    return found


def chained(factors: Sequence[Factor], start: Sequence[Index], symmetric: Names) -> list[Factor]:
    """Return factors in reading order: scalars, then each factor next to one that it shares an index with."""
    scalars = [factor for factor in factors if not slots(factor[0])]
    waiting = [factor for factor in factors if slots(factor[0])]
    ends: set[Slot] = set(start)
    ordered: list[Factor] = []
    while waiting:
        follows = [factor for factor in waiting if ends & set(slots(factor[0]))]
        chosen = min(follows or waiting, key=lambda factor: len(slots(factor[0])) if not follows else 0)
        waiting.remove(chosen)
        ordered.append((_orient_for_reading(chosen[0], ends, symmetric), chosen[1]))
        ends = set(slots(chosen[0])) - ends or ends
    return [*scalars, *ordered]


def _orient_for_reading(atom: Atom, ends: set[Slot], symmetric: Names) -> Atom:
    """Return a symmetric matrix with the slot first that it shares with the factor before it."""
    match atom:
        case Component(name, (left, right), by) if name in symmetric and right in ends and left not in ends:
            return Component(name, (right, left), by)
        case MatrixFunction("inv", of, (left, right)) if (
            right in ends and left not in ends and _sole_name(of) in symmetric
        ):
            return MatrixFunction("inv", of, (right, left))
        case _:
            return atom


def _sole_name(grid: Grid) -> str:
    """Return the name of a matrix that is a component alone, empty for any other."""
    match grid.entry.terms:
        case (Term(coefficient, ((Component(name, at, ()), exponent),)),) if coefficient == exponent == 1 and at == (
            grid.row,
            grid.col,
        ):
            return name
        case _:
            return ""


def write_power(style: Style, atom: Atom, exponent: Fraction, letters: Letters, symmetric: Names) -> str:
    """Return the text of an atom raised to an exponent."""
    written = _write_atom(style, atom, letters, symmetric)
    if exponent == 1 and not isinstance(atom, Base):
        return written
    simple = not (isinstance(atom, Base) or (isinstance(atom, Component) and bool(atom.by)))
    return style.power(written, exponent, simple=simple)


def _write_atom(style: Style, atom: Atom, letters: Letters, symmetric: Names) -> str:
    """Return the text of an atom, its slots by letters."""
    match atom:
        case Coordinate(block, at):
            return style.at(style.symbol(block), _write_slots(at, letters))
        case Component(name, at, by):
            partials = "".join(style.partial(x.block, _write_slots(x.at, letters)) for x in by)
            return partials + style.at(style.symbol(name), _write_slots(at, letters))
        case SizeNumber(name):
            return style.symbol(name)
        case Pi():
            return style.symbol("pi")
        case Delta(left, right):
            return style.delta(_write_slots((left, right), letters))
        case Applied(fn, args):
            return style.call(fn, [write(style, arg, letters, symmetric) for arg in args])
        case Base(arg):
            return write(style, arg, letters, symmetric)
        case MatrixFunction(fn, of, at):
            matrix, simple = matrix_of(style, of)
            written = style.inverse(matrix, simple=simple) if fn == "inv" else style.call(fn, [matrix])
            return style.at(written, _write_slots(at, letters))


def matrix_of(style: Style, grid: Grid) -> tuple[str, bool]:
    """Return the text of a matrix given entry by entry, and whether it is a single name."""
    name = _sole_name(grid)
    if name:
        return style.symbol(name), True
    return write(style, grid.entry, {grid.row: grid.row.label, grid.col: grid.col.label}), False


def _write_slots(at: Sequence[Slot], letters: Letters) -> list[str]:
    """Return the letters of indices, and literal positions as digits."""
    return [letters[slot] if isinstance(slot, Index) else str(slot) for slot in at]
