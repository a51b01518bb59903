"""Covariances that are written as sums of Gram matrices c P M P^T: their factors need no decomposition.

    K @ K.T                     K
    s*A, A constant             sqrt(s) chol(A), chol(A) computed before the chain
    c*I + u @ u.T               sqrt(c) I and u, side by side, each with normals of its own

A term is cut in the middle: at one summed index, or at its constant factors. The factors to the left of the cut must be
those to the right of it, mirrored.

Worked example, B[i,k] V[k,l] B[j,l] with B a function of the state and V a constant declared PSD: cut at V, left B[i,k]
and right B[j,l] are mirror images, so the noise is B (chol(V) n) with n ~ N(0, I) of the size of V.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.atoms import ONE, Factor, indices, moved, moved_factors
from recipe_compiler.tensor.rules import Rules
from recipe_compiler.tensor.signs import factor_is_nonnegative, is_nonnegative
from recipe_compiler.tensor.terms import Atom, Component, Delta, Index, Slot, Tensor, Term

Factors = tuple[Factor, ...]
PERMUTED = 3
"""The most indices summed inside one side of a cut: all their orders are tried."""


@dataclass(frozen=True, slots=True)
class GramTerm:
    """One part of a covariance, scale * left M left^T, n x n of the block."""

    scale: Tensor
    """A number that is nonnegative by its form, without free indices."""
    left: Factors
    """The entries of P, whose row is the covariance's own index i."""
    index: Index | None
    """The column of P; i itself where P is diagonal, None where it is one column."""
    inner: Tensor | None = None
    """M, constant, with free indices `i` and `j`; None for the identity."""
    excess: Tensor | None = None
    """What stands in the place of M in B_hat; with it M is that of 2D alone."""


@dataclass(frozen=True, slots=True)
class GramSum:
    """A covariance, n x n, as a sum: a diagonal matrix with the free index `i`, if there is one, and products."""

    diagonal: Tensor | None
    products: tuple[GramTerm, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A term as `scale * left inner right`, right being left mirrored."""

    scale: Factors
    left: Factors
    index: Index | None
    inner: Factors | None
    """Constant factors with the free indices `i` and `j` of M; None for the identity."""
    size: Size

    @property
    def middle(self) -> Factors:
        """The constant factors, those of the identity too."""
        return self.inner or ((Delta(Index(self.size, "i"), Index(self.size, "j")), ONE),)


@dataclass(frozen=True, slots=True)
class _Item:
    """A cut term of 2D or of B_hat."""

    of_B_hat: bool
    coefficient: Fraction
    cut: _Cut


@dataclass(frozen=True, slots=True)
class Gram:
    """The facts about names by which a covariance is cut into Gram matrices."""

    size: Size
    """Its number of rows."""
    rules: Rules
    semidefinite: frozenset[str]
    """Constant matrices that are declared positive semidefinite."""
    is_constant: Callable[[Atom], bool]

    def parts(self, two_D: Tensor, B_hat: Tensor | None) -> GramSum | None:
        """Return 2D - eps B_hat as parts that are positive semidefinite by their form; None if it has no such form.

        With `inner` and `excess`, M - eps E: whether that is positive semidefinite is decided when it is factored.
        """
        single = self._single(two_D, B_hat)
        if single is not None:
            return GramSum(None, (single,))
        return None if B_hat is not None else self._sum(two_D)

    @property
    def _row(self) -> Index:
        return Index(self.size, "i")

    @property
    def _col(self) -> Index:
        return Index(self.size, "j")

    def _single(self, two_D: Tensor, B_hat: Tensor | None) -> GramTerm | None:
        """Return `s P (M - eps E) P^T` where all terms have the same P, M and E are constant and share the number s."""
        items: list[_Item] = []
        for of_B_hat, tensor in ((False, two_D), (True, B_hat or Tensor((), ()))):
            for term in tensor.terms:
                cut = self._at_constants(term) or self._at_index(term)
                if cut is None or cut.index is None:
                    return None
                items.append(_Item(of_B_hat, term.coefficient, cut))
        first = items[0].cut
        free = (Index(first.size, "i"), Index(first.size, "j"))
        if not all(self._alike(first, item.cut) for item in items):
            return None
        if B_hat is None and all(item.cut.inner is None for item in items):
            return None  # one Gram matrix, whose factor is P itself
        groups: list[list[_Item]] = []
        for item in items:
            own = next((g for g in groups if self._same(g[0].cut.scale, item.cut.scale, {}, ())), None)
            groups = groups if own is not None else [*groups, own := []]
            own.append(item)
        ratios = [self._ratio(groups[0], group) for group in groups]
        scale = Tensor((), tuple(Term(q or ONE, g[0].cut.scale) for q, g in zip(ratios, groups, strict=True)))
        if None in ratios or not is_nonnegative(self.rules, scale):
            return None
        inner, excess = (
            Tensor(free, tuple(Term(i.coefficient, i.cut.middle) for i in groups[0] if i.of_B_hat is which))
            for which in (False, True)
        )
        return GramTerm(scale, first.left, first.index, inner, None if B_hat is None else excess)

    def _ratio(self, one: list[_Item], other: list[_Item]) -> Fraction | None:
        """Return q with `other = q one`, item by item, None where there is none."""
        free = (Index(one[0].cut.size, "i"), Index(one[0].cut.size, "j"))
        found: set[Fraction] = set()
        for item in other:
            like = (
                i for i in one if i.of_B_hat is item.of_B_hat and self._same(i.cut.middle, item.cut.middle, {}, free)
            )
            twin = next(like, None)
            if twin is None:
                return None
            found.add(item.coefficient / twin.coefficient)
        return found.pop() if len(found) == 1 and len(one) == len(other) else None

    def _alike(self, one: _Cut, other: _Cut) -> bool:
        """Whether two terms are cut into the same outer factors."""
        if one.index is None or other.index is None or one.size != other.size:
            return False
        if (one.index == self._row) != (other.index == self._row):
            return False
        return self._same(one.left, other.left, {other.index: one.index}, (self._row, one.index))

    def _sum(self, two_D: Tensor) -> GramSum | None:
        """Return the terms one by one, those with the same P together, None unless every one is nonnegative."""
        diagonal: list[Term] = []
        products: list[GramTerm] = []
        for term in two_D.terms:
            on_diagonal = self._on_diagonal(term)
            if on_diagonal is not None:
                diagonal.append(on_diagonal)
                continue
            part = self._product(term)
            if part is None:
                return None
            same = next((k for k, old in enumerate(products) if self._joins(old, part)), None)
            if same is None:
                products.append(part)
            else:
                old = products[same]
                scale = Tensor((), (*old.scale.terms, *part.scale.terms))
                products[same] = replace(old, scale=scale)
        variance = Tensor((self._row,), tuple(diagonal)) if diagonal else None
        signed = [part.scale for part in products] + ([variance] if variance else [])
        return GramSum(variance, tuple(products)) if all(is_nonnegative(self.rules, t) for t in signed) else None

    def _joins(self, old: GramTerm, new: GramTerm) -> bool:
        if old.inner != new.inner or old.index != new.index:
            return False
        return self._same(old.left, new.left, {}, (self._row, *((old.index,) if old.index else ())))

    def _on_diagonal(self, term: Term) -> Term | None:
        """Return v of a term `delta_ij v_i`."""
        pair = {self._row, self._col}
        rest = tuple(f for f in term.factors if not (isinstance(f[0], Delta) and {f[0].left, f[0].right} == pair))
        if len(rest) == len(term.factors):
            return None
        turned: dict[Index, Slot] = {self._col: self._row}
        return Term(term.coefficient, moved_factors(rest, turned))

    def _product(self, term: Term) -> GramTerm | None:
        cut = self._at_constants(term)
        if cut is not None:
            match cut.inner:
                case ((Component(name), power),) if power == 1 and name in self.semidefinite:
                    free = (Index(cut.size, "i"), Index(cut.size, "j"))
                    inner = Tensor(free, (Term(ONE, cut.inner),))
                    return GramTerm(_scaled(term.coefficient, cut.scale), cut.left, cut.index, inner)
                case _:
                    pass
        cut = self._at_index(term)
        return None if cut is None else GramTerm(_scaled(term.coefficient, cut.scale), cut.left, cut.index)

    def _at_constants(self, term: Term) -> _Cut | None:
        """Cut a term at its constant factors: `s u_i A_ij u_j`, or `K_ik V_kl K_lj`."""
        scale, core = self._apart(term.factors)
        fixed = tuple(f for f in core if self.is_constant(f[0]))
        pieces = list(_pieces([f for f in core if f not in fixed], ()))
        left = tuple(f for piece in pieces if self._row in indices(piece) for f in piece)
        right = tuple(f for piece in pieces if self._col in indices(piece) for f in piece)
        if not fixed or self._col in indices(left) or len(left) + len(right) != sum(map(len, pieces)):
            return None
        ends = [_end(side, own, fixed) for side, own in ((left, self._row), (right, self._col))]
        first, last = ends
        if first is None or last is None or first.size != last.size:
            return None
        if indices(fixed) & (indices(left) | indices(right)) - {first, last}:
            return None
        turned: dict[Index, Slot] = {self._col: self._row, last: first}
        if not self._same(left, right, turned, (self._row, first)):
            return None
        own: dict[Index, Slot] = {first: Index(first.size, "i"), last: Index(first.size, "j")}
        inner = moved_factors(fixed, own)
        return _Cut(scale, left, first, inner, first.size)

    def _at_index(self, term: Term) -> _Cut | None:
        """Cut a term at one summed index, `K_ik w_k K_jk`, or where nothing joins its sides, `u_i u_j`."""
        scale, core = self._apart(term.factors)
        bound = sorted(indices(core) - {self._row, self._col}, key=lambda index: index.label)
        for index in (None, *bound):
            at = () if index is None else (index,)
            pieces = list(_pieces(core, at))
            left = tuple(f for piece in pieces if self._row in indices(piece) for f in piece)
            right = tuple(f for piece in pieces if self._col in indices(piece) for f in piece)
            weights = tuple(f for f in core if f not in left and f not in right)
            apart = self._col not in indices(left) and all(factor_is_nonnegative(self.rules, f) for f in weights)
            if not apart or any(indices((f,)) - set(at) for f in weights):
                continue
            if self._same(left, right, {self._col: self._row}, (self._row, *at)):
                halves = tuple((atom, power / 2) for atom, power in weights)
                return _Cut(scale, (*left, *halves), index, None, 1 if index is None else index.size)
        return None

    def _apart(self, factors: Factors) -> tuple[Factors, Factors]:
        """Return the factors that neither i nor j reaches, which are a number, and the others."""
        free = {self._row, self._col}
        scale = tuple(f for piece in _pieces(factors, ()) if not indices(piece) & free for f in piece)
        return scale, tuple(f for f in factors if f not in scale)

    def _same(
        self, one: Sequence[Factor], other: Sequence[Factor], turned: dict[Index, Slot], own: Iterable[Index]
    ) -> bool:
        """Whether two products are the same once `turned` is done to the other, by some naming of summed indices."""
        kept = set(own)
        ours = sorted(indices(one) - kept, key=lambda index: index.label)
        theirs = sorted(indices(other) - kept - set(turned), key=lambda index: index.label)
        if len(ours) != len(theirs) or len(ours) > PERMUTED:
            return False
        wanted = self._counted(one, {})
        for order in permutations(ours):
            names: dict[Index, Slot] = dict(zip(theirs, order, strict=True))
            if wanted == self._counted(other, turned | names):
                return True
        return False

    def _counted(self, factors: Iterable[Factor], moves: dict[Index, Slot]) -> Counter[Factor]:
        found: list[Factor] = []
        for atom, power in factors:
            turned = moved(atom, moves)
            if isinstance(turned, Component) and turned.name in self.rules.symmetric and len(turned.at) == 2:
                turned = replace(turned, at=tuple(sorted(turned.at, key=repr)))
            found.append((turned, power))
        return Counter(found)


def _scaled(coefficient: Fraction, factors: Factors) -> Tensor:
    return Tensor((), (Term(coefficient, factors),))


def _end(side: Factors, own: Index, fixed: Factors) -> Index | None:
    """Return the index by which a side of a cut meets the constants: its own where nothing is on that side."""
    meets = (indices(side) | {own}) & indices(fixed)
    return next(iter(meets)) if len(meets) == 1 else None


def _pieces(factors: Iterable[Factor], cut: Iterable[Index]) -> Iterator[Factors]:
    """Yield the factors that shared indices join, those in `cut` apart; the order within a piece stays."""
    away = set(cut)
    groups: list[tuple[set[Index], list[Factor]]] = []
    for factor in factors:
        own = indices((factor,)) - away
        touching = [group for group in groups if group[0] & own]
        groups = [group for group in groups if group not in touching]
        merged = own.union(*(group[0] for group in touching))
        groups.append((merged, [*(f for group in touching for f in group[1]), factor]))
    yield from (tuple(group) for _, group in groups)
