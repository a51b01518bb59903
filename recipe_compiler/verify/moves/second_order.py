"""The density of what a cycle moves slowly, after one cycle from exp(-H), to the second order in eps: is it the same?

A letter with the share s moves z by the generator s L; L* is its adjoint with respect to p = exp(-H), and j = L* 1 its
`residual`. Where the letters of a word have sum s j = 0, the density of z after it is p (1 + eps**2 R + o(eps**2)),

    R = sum_(k < m) s_k s_m (L_m* j_k - L_k* j_m)/2,

letter k being done before m: the order of unlike pieces alone counts, and products j_k j_m cancel. Given those that are
slow, the others are Gaussian; the mean of R over them, at a point, is the change of the density of the slow ones.

* Where the others are refreshed or drawn, and the slow ones have no noise and no drift in the mean over the others,
  functions phi of the slow ones change by eps**2 in a cycle. A law of the cycle that tends to p has E_p[R phi] = 0 for
  all of them: what is kept of the others adds E_p[phi_1 L* 1] = 0. So R != 0 at a point refutes.
* Where a word is accepted, and letters without noise leave H to first order, a refusal has a probability o(eps) and
  undoes O(eps): the change of the density is the same.

Worked: H = (theta**2 + r**2)/2 and the word B, A have j_A = theta r = -j_B and R = (r**2 - theta**2)/2, of mean (1 -
theta**2)/2: the cycle "refresh r, B, A" narrows theta, to Var theta = 1/(2 - eps**2).
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import permutations

import sympy
from flint import fmpq_mat
from sympy import QQ, Expr, Symbol
from sympy.core.function import AppliedUndef
from sympy.polys.rings import ring

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.system import Vector, backward, gradient, residual
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly, rational_rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError, dot, total
from recipe_compiler.algebra.scalars.rational_matrices import fraction, matrix
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Draw, Metropolis, Refresh, Steps
from recipe_compiler.splitting.reflection import REFLECTED
from recipe_compiler.splitting.words import ZERO, expand_word, sum_shares
from recipe_compiler.verdict import Answer, Evidence, Refuted
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.premises import has_state_assumptions
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import once_at_sizes
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.witness import defined_points, words_to_try
from recipe_compiler.verify.steps.split import Split

NOTHING = sympy.Integer(0)
IN_CYCLE = ("in a cycle", "no invariant distribution of the cycle tends to exp(-H)")
IN_MOVE = ("by one step of the move", "the move does not preserve exp(-H)")
"""Where the density changes, and what follows."""


def refute_limit(cycle: Cycle) -> Answer | None:
    """Return the refutation of a cycle of refreshes, draws and unadjusted words; None where none is found.

    By a point at which R, of mean over what is refreshed or drawn, is not 0: no law of the cycle tends to exp(-H).
    """
    moves = cycle.period
    if not all(isinstance(move, Refresh | Draw | Steps) for move in moves):
        return None
    words = [(Fraction(move.count), move.part) for move in moves if isinstance(move, Steps)]
    refreshed = {move.block for move in moves if isinstance(move, Refresh)}
    return _refute_by_mean(cycle, words, refreshed, {move.block for move in moves if isinstance(move, Draw)})


def refute_accepted_word(cycle: Cycle, move: Metropolis) -> Answer | None:
    """Return the refutation of a word with an accept/reject step; None where none is found.

    By a point at which R, of mean over all blocks but those of the target that no move draws, is not 0: exp(-H) is not
    kept at small eps, whatever is drawn anew.
    """
    held = {block.name for block in cycle.potential_blocks}
    if held & {*move.flip}:
        return None
    others = {name for name in cycle.split.subject.names if name not in held}
    drawn = {other.block for other in cycle.of_kind(Draw)}
    return _refute_by_mean(cycle, [(move.scale**2, move.part)], others, drawn, is_accepted=True)


def _refute_by_mean(
    cycle: Cycle,
    words: Sequence[tuple[Fraction, int]],
    refreshed: Set[str],
    drawn: Set[str],
    *,
    is_accepted: bool = False,
) -> Answer | None:
    """Return the refutation by a point at which the mean of R is not 0; None where none is found.

    Args:
        cycle: the moves.
        words: how much of R each word counts for, and the part of the target that it moves.
        refreshed: the blocks of the dynamics over which the mean is.
        drawn: those of the target.
        is_accepted: whether the word is accepted or refused.
    """
    if (
        not cycle.build.has_exact_gradient
        or REFLECTED in cycle.split.numerical.values()
        or not _commutator_weights(cycle.split)
        or len(cycle.potential_blocks) != 1
    ):
        return None
    known = {part: next(words_to_try(cycle, part), None) for _, part in words}
    parts = {part: split for part, split in known.items() if split is not None}
    if len(parts) < len(known) or has_state_assumptions(next(iter(parts.values())).subject.declarations):
        return None
    first = next(iter(parts.values()))
    says, follows = IN_MOVE if is_accepted else IN_CYCLE
    for sizes in first.subject.sizes:
        fast = _averaged_places(cycle, first, refreshed, drawn, sizes)
        if not fast or len(first.z(sizes)) > limits.STATE:
            continue
        try:
            changes = [(weight, _word_residual(parts[part], fast, is_accepted, sizes)) for weight, part in words]
            if any(change is None for _, change in changes):
                return None
            R = total([rational(weight) * change for weight, change in changes if change is not None])
            found = None if R == 0 else _find_nonzero_mean(first, fast, R, says, sizes)
        except (NoValueError, NotScalarisableError, TooLargeError, NoInstanceError, sympy.PolynomialError):
            continue
        if found is not None:
            return Answer(Refuted(f"exact witness: as eps goes to 0, {follows}", found), tuple(sizes.items()) or "all")
    return None


def _averaged_places(cycle: Cycle, split: Split, refreshed: Set[str], drawn: Set[str], sizes: Sizes) -> frozenset[int]:
    """Return the places of the refreshed or drawn coordinates; empty if unknown or if a block has a boundary."""
    real = {block.name for block in split.blocks if block.domain.name is DomainName.REAL}
    drawn_real = {block.name for block in cycle.drawn_blocks if block.domain.name is DomainName.REAL}
    if not refreshed <= real or not drawn <= drawn_real:
        return frozenset()
    places = [cycle.places(block, sizes, split) for block in drawn]
    places += [split.places(split.subject.names.index(block), sizes) for block in refreshed]
    return frozenset(k for own in places for k in own or ()) if all(places) else frozenset()


@lru_cache(maxsize=limits.SUBJECTS)
def _commutator_weights(split: Split) -> Mapping[tuple[str, str], Fraction]:
    """Return (sum of s_k s_m over letters p before q, less q before p)/2 for each pair of pieces, zeros omitted."""
    word = split.scheme.split
    c = expand_word(word, 2)
    found = {(p, q): (c.get((p, q), ZERO) - c.get((q, p), ZERO)) / 2 for p, q in permutations(sum_shares(word), 2)}
    return {pair: weight for pair, weight in found.items() if weight}


@once_at_sizes
def _word_residual(split: Split, fast: frozenset[int], is_accepted: bool, sizes: Sizes) -> Expr | None:
    """Return R for one pass of a word; None where the conditions in this file's head are not shown."""
    H = split.subject.system(sizes)
    done = sum_shares(split.scheme.split)
    pieces = [piece for piece in split.pieces if done.get(piece.name)]
    drifts = {piece.name: split.drift(piece, sizes) for piece in split.pieces}
    noises = {piece.name: split.diffusion(piece, sizes) for piece in split.pieces}
    j = {name: residual(H, f, noises[name]) for name, f in drifts.items()}
    slow = [k for k in range(len(H.z)) if k not in fast]
    work = [rational(done[p.name]) * dot(drifts[p.name], gradient(H.H, H.z)) for p in pieces if not p.is_noisy]
    means = [total([rational(done[p.name]) * drifts[p.name][k] for p in pieces]) for k in slow]
    if (
        not _expands_to_zero(total([rational(share) * j[name] for name, share in done.items() if share]))
        or any(noises[p.name][k][i] != 0 for p in pieces for k in slow for i in range(len(H.z)))
        or (is_accepted and not _expands_to_zero(total(work)))
        or (not is_accepted and not _read_gaussian_law(H.H, H.z, fast).have_no_mean(means))
    ):
        return None
    L = {name: partial(backward, H, drifts[name], noises[name]) for name in j}
    return total([rational(weight) * L[q](j[p]) for (p, q), weight in _commutator_weights(split).items()])


def _expands_to_zero(e: Expr) -> bool:
    """Return whether an expression is 0 once multiplied out."""
    return sympy.expand(e) == 0


@dataclass(frozen=True, slots=True)
class _Law:
    """The Gaussian law of some coordinates x given the others: exp(-x.T P x/2 + b.T x), P and b free of x."""

    x: tuple[Symbol, ...]
    P: Rows
    b: Vector

    def have_no_mean(self, drifts: Sequence[Expr]) -> bool:
        """Whether drifts are odd in those x that have the mean 0, and free of the others: then they have none."""
        off = {k for k, b in enumerate(self.b) if b != 0}
        for _ in self.x:
            off |= {i for i, row in enumerate(self.P) if any(row[k] != 0 for k in off)}
        moved = {self.x[k] for k in off}
        turned = {x: -x for x in self.x}
        return all(not f.free_symbols & moved and _expands_to_zero(f.xreplace(turned) + f) for f in drifts)

    def mean(self, e: Expr, at: Point) -> Value:
        """Return E[e | others] at a point, e a polynomial in x.

        Raises:
            NoValueError: P or b are not rational there.
        """
        P, b = rational_rows(self.P, at.leaf), rational_rows((self.b,), at.leaf)
        if P is None or b is None:
            raise NoValueError("not rational")
        S = matrix(P, len(P)).inv()
        m = S * matrix([[x] for x in b[0]], 1)
        try:
            of_numbers = ring(self.x, QQ)[0].from_expr(self._substitute_others(e, at)).terms()
            found = [(power, QQ.to_sympy(c)) for power, c in of_numbers]
        except ValueError:  # of coefficients that are not rational
            found = sympy.Poly(e, *self.x).terms()
        terms = [c * rational(_gaussian_moment(power, S, m)) for power, c in found]
        return evaluate(total(terms), at.leaf)

    def _substitute_others(self, e: Expr, at: Point) -> Expr:
        """Return e with numbers for all but x, fields included, before expanding: its terms may be very many."""
        fields = {f for f in e.atoms(sympy.Derivative, AppliedUndef) if not f.free_symbols & {*self.x}}
        values = {f: evaluate(f, at.leaf) for f in fields}
        e = e.xreplace({f: rational(value) for f, value in values.items() if isinstance(value, Fraction)})
        left = frozenset[Symbol]() if e.has(AppliedUndef) else e.free_symbols - {*self.x}
        return e.xreplace({s: rational(at.numbers[s]) for s in left})


def _read_gaussian_law(H: Expr, z: tuple[Symbol, ...], fast: frozenset[int]) -> _Law:
    """Return the law of some coordinates given the others. Raises NotScalarisableError unless it is Gaussian."""
    x = tuple(z[k] for k in sorted(fast))
    slopes = [sympy.expand(g) for g in gradient(H, x)]
    P = tuple(tuple(sympy.expand(y) for y in gradient(g, x)) for g in slopes)
    if any(y.free_symbols & {*x} for row in P for y in row):
        raise NotScalarisableError("not Gaussian given the others")
    return _Law(x, P, tuple(sympy.expand(-g.subs(dict.fromkeys(x, NOTHING))) for g in slopes))


def _gaussian_moment(power: tuple[int, ...], S: fmpq_mat, m: fmpq_mat) -> Fraction:
    """Return E[x**power] of N(m, S) by E[x_k g] = m_k E[g] + sum_i S_ki E[dg/dx_i]."""
    k = next((k for k, n in enumerate(power) if n), None)
    if k is None:
        return Fraction(1)
    less = tuple(n - (i == k) for i, n in enumerate(power))
    total_ = fraction(m[k, 0]) * _gaussian_moment(less, S, m)
    for i, n in enumerate(less):
        if n:
            total_ += fraction(S[k, i]) * n * _gaussian_moment(tuple(p - (q == i) for q, p in enumerate(less)), S, m)
    return total_


@once_at_sizes
def _find_nonzero_mean(split: Split, fast: frozenset[int], R: Expr, says: str, sizes: Sizes) -> Evidence | None:
    """Return a point at which E[R] is certainly not 0, as rows of a witness; None where none is found."""
    subject, z = split.subject, split.z(sizes)
    law, slow = _read_gaussian_law(subject.system(sizes).H, z, fast), [x for k, x in enumerate(z) if k not in fast]
    for at in defined_points(subject, sizes, limits.TRIALS):
        value = law.mean(R, at)
        if is_certainly(value, 0):
            constants = (item for item in at.text if item[0] not in subject.names)
            names = ", ".join(map(str, slow))
            change = (f"change of the density of {names} {says}, over it", f"{format_value(value)} eps**2 + o(eps**2)")
            return (*constants, *((str(x), str(at.numbers[x])) for x in slow), change)
    return None
