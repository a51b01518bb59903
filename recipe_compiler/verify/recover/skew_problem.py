"""The problem: a skew Q with f = -(D+Q) grad H + div(D+Q), for the drift f and the noise D that an author claims.

At fixed sizes its equations are read in the second engine's scalars.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.symbols import coordinates, positions
from recipe_compiler.derive.recipe import Derivation, Vector, vector
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.formula.block_matrices import Matrix, place_shape
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.stratonovich import ito_drift
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.recover.scalar_formulas import Writer, outer
from recipe_compiler.verify.recover.to_formula import scaled, total

Entries = dict[tuple[int, int], list[Formula]]
"""Pairs of coordinates i < j to the terms of Q_ij."""


@dataclass(frozen=True, slots=True)
class SkewProblem:
    """The problem: find a skew Q with div Q - Q grad H = f + D grad H - div D, f the claimed drift in Ito's sense."""

    subject: Subject
    derivation: Derivation
    """With Q = 0."""
    drift: tuple[Formula, ...]

    @property
    def dynamics(self) -> Dynamics:
        """The document of the claimed equation alone."""
        return self.subject.dynamics

    @property
    def calculus(self) -> Calculus:
        """The index calculus of the declarations."""
        return calculus(self.dynamics.declarations)

    def claimed(self) -> Vector:
        """Return the claimed drift f in index notation."""
        return vector(self.drift, self.dynamics.declarations)

    def wanted(self) -> Vector:
        """Return W = f + D grad H - div D, which Q has to contribute to the drift, block by block, for every size."""
        c, own = self.calculus, self.derivation.drift
        return tuple(c.settled(c.subtract(f, g)) for f, g in zip(self.claimed(), own, strict=True))

    def residual(self) -> Tensor:
        """Return the residual of exp(-H) under the claimed equation: zero wherever some Q gives the drift."""
        return residual(self.derivation, self.claimed(), self.derivation.D)

    def with_curl(self, Q: Matrix) -> Subject:
        """Return the subject of the same document with Q filled in, to be judged like one that an author wrote."""
        return subject_of(replace(self.dynamics, Q=Q))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A Q that is not yet verified, and how it was found."""

    Q: Matrix
    by: str


def problem_of(subject: Subject) -> SkewProblem | None:
    """Return the problem of finding Q for the claimed drift of a subject; None without a drift or noise.

    div Q - Q grad H = f + D grad H - div D (from Ma, Chen, Fox 2015, Eq. 3).

    Raises:
        stratonovich.NotConvertedError: what is stated does not determine the Ito drift.
    """
    dynamics = subject.dynamics
    D = dynamics.D or dynamics.claims.diffusion
    if D is None or dynamics.claims.drift is None:
        return None
    drift = ito_drift(dynamics, D)
    names = [block.name for block in dynamics.declarations.blocks]
    claims = Claims(drift=tuple(zip(names, drift, strict=True)))
    alone = subject_of(replace(dynamics, D=D, Q=None, claims=claims))
    return None if alone.derivation is None else SkewProblem(alone, alone.derivation, drift)


@dataclass(frozen=True, slots=True)
class Fields:
    """The problem at fixed sizes: z, g = grad H, and W = f + D g - div D with W = div Q - Q g; n scalars each."""

    z: tuple[sympy.Symbol, ...]
    straight: tuple[sympy.Symbol, ...]
    """Those that are no angle on a circle: powers of them are functions of the state."""
    H: Expr
    g: tuple[Expr, ...]
    W: tuple[Expr, ...]


def fields(problem: SkewProblem, sizes: Sizes) -> Fields:
    """Return W = f + D grad H - div D and grad H, [n] each, at fixed sizes.

    Raises:
        NotScalarisableError, TooLargeError: the second engine has no scalars for the document.
    """
    s = problem.subject.system(sizes)
    claimed = second.block_vector(problem.drift, problem.subject.setting(sizes))
    wanted = tuple(f - own for f, own in zip(claimed, second.drift(s), strict=True))
    straight = tuple(
        x
        for block in problem.dynamics.declarations.blocks
        for x in coordinates(block, sizes)
        if block.domain.name is not DomainName.CIRCLE
    )
    return Fields(s.z, straight, s.H, second.gradient(s.H, s.z), wanted)


def assembled(problem: SkewProblem, writer: Writer, entries: Entries) -> Matrix:
    """Return the block matrix Q of a document of fixed sizes from its scalar entries above the diagonal.

    `entries` maps (i, j), i < j, of the n x n matrix to terms; -Q_ij is put at (j, i).
    """
    blocks = problem.dynamics.declarations.blocks
    owner = [(a, k) for a, block in enumerate(blocks) for k in range(len(positions(block.shape, {})))]
    places: dict[tuple[int, int], list[Formula]] = {}
    for (i, j), terms in entries.items():
        (a, k), (b, n) = owner[i], owner[j]
        for term in terms:
            opposite = scaled(Fraction(-1), term)
            places.setdefault((a, b), []).append(outer(writer, blocks[a], blocks[b], (k, n), term))
            places.setdefault((b, a), []).append(outer(writer, blocks[b], blocks[a], (n, k), opposite))
    return tuple(
        tuple(total(places.get((a, b), []), place_shape(row, col)) for b, col in enumerate(blocks))
        for a, row in enumerate(blocks)
    )
