"""The degree of an index expression in some blocks jointly, all other names being constants."""

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.program.atoms import names_of
from recipe_compiler.tensor.atoms import ONE
from recipe_compiler.tensor.terms import Atom, Coordinate, Tensor, Term


def find_degree(tensor: Tensor, blocks: frozenset[str], declarations: Declarations) -> int | None:
    """Return the degree in the coordinates of `blocks` jointly; None if it is not a polynomial in them.

    -xi r has degree 1 in {r} and 2 in {r, xi}; exp(r) and U(r) are no polynomials in r. A tensor in canonical form is
    read term by term: a degree is never too small, and may be too large where terms cancel that do not look alike.
    """
    held = blocks | {function.name for function in declarations.functions if set(function.of) & blocks}
    degrees = [_find_degree_of_term(term, blocks, held) for term in tensor.terms]
    return None if None in degrees else max((n for n in degrees if n is not None), default=0)


def _find_degree_of_term(term: Term, blocks: frozenset[str], held: frozenset[str]) -> int | None:
    found = 0
    for atom, exponent in term.factors:
        if isinstance(atom, Coordinate):
            if atom.block not in blocks:
                continue
            if exponent.denominator != 1 or exponent < 0:
                return None
            found += int(exponent)
        elif not held.isdisjoint(list_names(atom)):
            return None
    return found


def list_names(atom: Atom) -> frozenset[str]:
    """Return the names that occur in an atom; a derivative of a function counts as the function."""
    return names_of(Tensor((), (Term(ONE, ((atom, ONE),)),)))
