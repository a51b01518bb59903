"""The acceptance ratio of an involution S of (z, w), beyond H: log q(w'|z') - log q(w|z) + log |det DS(z, w)|.

The determinant is computed by structure, for every size: blocks are taken one by one, each where its row of the
Jacobian, or its column, has only one block left that is not zero. The determinant is then the product of those of the
blocks taken, up to its sign, and each of them has to be diagonal with entries that are single terms: log |c x**p
exp(u)| = log |c| + p log x + u (Green 1995 for the ratio with a Jacobian).

Worked example, a scale move of x > 0 in n coordinates: w ~ N(0, v), x' = exp(w) x, w' = -w. In the row of w' only
dw'/dw = -1 is not zero; dx'_i/dx_j = exp(w) delta_ij is left, so log |det DS| = n w. q is symmetric, and the ratio is n
w.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recipe_compiler.derive.law_energies import energy
from recipe_compiler.derive.recipe import col_coordinate, col_slots, row_coordinate, row_slots
from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Involution
from recipe_compiler.spec.read_moves import with_draws
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Applied, Atom, Component, Coordinate, Delta, Index, SizeNumber, Tensor, Term


class JacobianError(Exception):
    """The determinant of a Jacobian is not to be had by structure; the message says why."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """An involution S of z and of auxiliary draws w, in index notation: S(S(z, w)) = (z, w).

    Accepted with the probability min(1, exp(H(z) - H(z') + log_ratio)), log_ratio = log q(w'|z') - log q(w|z) + log
    |det DS|, it preserves exp(-H) (Green 1995). Images and slopes are vectors and matrices over its blocks.
    """

    stated: Involution
    declarations: Declarations
    """Those of z, of what is drawn, and of parameters."""
    calculus: Calculus

    @property
    def maps(self) -> Mapping[str, Formula]:
        """The blocks of z and the draws that S moves, to what they become."""
        return dict(self.stated.maps)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Those of z and of what is drawn that S moves."""
        return tuple(block for block in self.declarations.blocks if block.name in self.maps)

    def image(self, block: Block) -> Tensor:
        """Return what a block becomes, with its free index `i`."""
        return convert(self.maps[block.name], self.declarations, *row_slots(block))

    def twice(self, block: Block) -> Tensor:
        """Return S(S(z))_b - b for a block, with its free index: zero for an involution."""
        image = convert(substitute(self.maps[block.name], self.maps), self.declarations, *row_slots(block))
        c = self.calculus
        return c.settled(c.subtract(image, c.atom(row_coordinate(block))))

    @property
    def energy(self) -> Formula:
        """E = -log q(w|z) of all that is drawn, up to a constant: covariances are."""
        return build.add([energy(drawn.law, drawn.block) for drawn in self.stated.draws], SCALAR)

    def of_laws(self) -> Tensor:
        """Return log q(w'|z') - log q(w|z)."""
        if not self.stated.draws:
            return self.calculus.zero()
        before, after = self.energy, substitute(self.energy, self.maps)
        parts = (convert(part, self.declarations) for part in (before, after))
        return self.calculus.settled(self.calculus.subtract(*parts))

    def log_jacobian(self) -> Tensor:
        """Return log |det DS|, a scalar. Raises JacobianError where structure does not give it."""
        c = self.calculus
        return c.add(c.zero(), *(_block_log_determinant(self, *pair) for pair in self._pivots()))

    def log_ratio(self) -> Tensor:
        """Return log q(w'|z') - log q(w|z) + log |det DS|, a scalar (Green 1995).

        Raises JacobianError as `log_jacobian` does.
        """
        return self.calculus.add(self.of_laws(), self.log_jacobian())

    def slope(self, of: Block, by: Block) -> Tensor:
        """Return dS_a/db, with the free index `i` of a and `j` of b; the zero tensor where it is shown to vanish."""
        return self.calculus.settled(self.calculus.diff(self.image(of), col_coordinate(by)))

    def _pivots(self) -> Iterator[tuple[Block, Block]]:
        """Yield the blocks of the Jacobian whose determinants make that of all: each with its row and its column."""
        rows, columns = list(self.blocks), list(self.blocks)
        held = {(a, b) for a in rows for b in columns if not self.slope(a, b).is_zero}
        while rows:
            pivot = next(_find_pivots(rows, columns, held), None)
            if pivot is None:
                names = ", ".join(block.name for block in rows)
                raise JacobianError(f"its Jacobian in {names} has no order of blocks in which it is triangular")
            yield pivot
            rows.remove(pivot[0])
            columns.remove(pivot[1])


def mapped(stated: Involution, known: Declarations) -> Mapped:
    """Return an involution together with the declarations that its formulas name, those of its draws included."""
    declared = with_draws(known, tuple(drawn.block for drawn in stated.draws))
    return Mapped(stated, declared, calculus(declared))


def _find_pivots(
    rows: list[Block], columns: list[Block], held: set[tuple[Block, Block]]
) -> Iterator[tuple[Block, Block]]:
    """Yield the nonzero places that are alone in their row or column of the remaining ones."""
    left = [(a, b) for a in rows for b in columns if (a, b) in held]
    for a, b in left:
        if sum(one == a for one, _ in left) == 1 or sum(other == b for _, other in left) == 1:
            yield a, b


def _block_log_determinant(of: Mapped, row: Block, column: Block) -> Tensor:
    """Return log |det dS_a/db| of one block of the Jacobian, a sum over its entries."""
    says = f"d{row.name}'/d{column.name}"
    if row.shape != column.shape or row.shape.cols is not None:
        raise JacobianError(f"{says} is not square, or of a matrix")
    slope = of.slope(row, column)
    if len(slope.terms) != 1:
        raise JacobianError(f"{says} is a sum, and no single term")
    (term,) = slope.terms
    factors, i = term.factors, None
    if row.shape.sizes:
        i, j = *row_slots(row), *col_slots(column)
        factors = tuple(factor for factor in term.factors if factor[0] != Delta(i, j))
        if len(factors) == len(term.factors) or j in indices(factors):
            raise JacobianError(f"{says} is not shown to be diagonal")
    if indices(factors) - {i}:
        raise JacobianError(f"{says} holds a sum over an index")
    return _log_of_term(of, Term(term.coefficient, factors), i, says)


def _log_of_term(of: Mapped, term: Term, i: Index | None, says: str) -> Tensor:
    """Return sum_i log |c prod x**p| of a term, i the index of the entries; no sum for a scalar."""
    c = of.calculus
    parts = [c.scale(_log_atom(of, atom, says), power) for atom, power in term.factors]
    if abs(term.coefficient) != 1:
        parts.append(c.applied("log", c.constant(abs(term.coefficient))))
    found = c.add(c.zero(), *parts) if i is None else c.add(c.zero(i), *(_add_free_index(part, i) for part in parts))
    return found if i is None else c.total(found, i)


def _add_free_index(tensor: Tensor, i: Index) -> Tensor:
    """Return a tensor with one more free index, whether it depends on it or not."""
    return Tensor((i,), tensor.terms)


def _log_atom(of: Mapped, atom: Atom, says: str) -> Tensor:
    """Return the logarithm of a positive factor. Raises JacobianError unless it is known to be positive."""
    c = of.calculus
    match atom:
        case Applied("exp", (u,)):
            return u
        case Coordinate(block) | Component(block, by=()) if _is_declared_positive(of.declarations, block):
            return c.applied("log", c.atom(atom))
        case SizeNumber():
            return c.applied("log", c.atom(atom))
        case _:
            raise JacobianError(f"{says} holds a factor that is not known to be positive: its logarithm is not known")


def _is_declared_positive(declared: Declarations, name: str) -> bool:
    """Return whether a name is declared positive: a block's domain, or a parameter's kind."""
    match declared.find(name):
        case Block(domain=domain):
            return domain.name is DomainName.POSITIVE
        case Parameter(kinds=kinds):
            return Kind.POSITIVE in kinds
        case _:
            return False
