"""A sum over the data as a constant plus the contribution of each datum: a minibatch estimates it without bias.

Of A + sum_n g_n the estimate by a minibatch of n of N data is A + (N/n) sum_batch g_n. A function of such sums, or a
product of them, is not of this form, and has no such estimate.
"""

from dataclasses import dataclass

from recipe_compiler.program.definition import DATUM
from recipe_compiler.tensor.atoms import ONE, everywhere, moved_factors, slots
from recipe_compiler.tensor.terms import Atom, Component, Index, Tensor, Term


@dataclass(frozen=True, slots=True)
class ByDatum:
    """A + sum_n g_n, A free of the data."""

    fixed: Tensor
    """A: what holds no data."""
    datum: Tensor
    """g_n, with the free index `n`."""


def by_datum(tensor: Tensor, fields: frozenset[str]) -> ByDatum | None:
    """Return a tensor as a part without data and the contribution of each datum; None if it is no such sum.

    a + sum_n x_n is (a, x_n); (sum_n x_n)**2 is none.

    Args:
        tensor: data stand in it as components `x_nj` of all rows.
        fields: the names of the data.
    """
    fixed = tuple(term for term in tensor.terms if not any(_is_of(atom, fields) for atom in _all(term)))
    data: list[Term] = []
    index: Index | None = None
    for term in (term for term in tensor.terms if term not in fixed):
        n = _row(term, tensor, fields)
        if n is None:
            return None
        index = Index(n.size, DATUM)
        factors = moved_factors(term.factors, {n: index})
        data.append(Term(term.coefficient, factors))
    free = tensor.free if index is None else (*tensor.free, index)
    return ByDatum(Tensor(tensor.free, fixed), Tensor(free, tuple(data)))


def _is_of(atom: Atom, fields: frozenset[str]) -> bool:
    return isinstance(atom, Component) and atom.name in fields


def _all(term: Term) -> tuple[Atom, ...]:
    return tuple(everywhere(Tensor((), (term,))))


def _row(term: Term, tensor: Tensor, fields: frozenset[str]) -> Index | None:
    """Return the one index over data that a term is summed over; None of several, and of one within a function."""
    rows: set[Index] = set()
    for atom, _ in term.factors:
        inner = _all(Term(term.coefficient, ((atom, ONE),)))
        own = {of.at[0] for of in inner if isinstance(of, Component) and of.name in fields}
        if not own <= {*slots(atom)}:
            return None
        rows |= {row for row in own if isinstance(row, Index)}
        if any(isinstance(row, int) for row in own):
            return None
    (n, *others) = rows
    return None if others or n in tensor.free else n
