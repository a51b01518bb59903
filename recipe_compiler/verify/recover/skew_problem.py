"""What is asked: a skew Q with f = -(D+Q) grad H + div(D+Q), for the drift f and the noise D that an author claims."""

from dataclasses import dataclass, replace

from recipe_compiler.derive.recipe import Derivation, Vector, row_slots
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.stratonovich import ito_drift
from recipe_compiler.verify.core.subject import Subject, subject_of


@dataclass(frozen=True, slots=True)
class Problem:
    """The claimed equation in Ito's sense, its noise as D, and nothing else claimed; Q is left out."""

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
        declarations = self.dynamics.declarations
        return tuple(
            convert(f, declarations, *row_slots(b)) for f, b in zip(self.drift, declarations.blocks, strict=True)
        )

    def wanted(self) -> Vector:
        """Return what Q has to add to the drift: f + D grad H - div D, block by block, for every size."""
        c, own = self.calculus, self.derivation.drift
        return tuple(c.settled(c.subtract(f, g)) for f, g in zip(self.claimed(), own, strict=True))

    def residual(self) -> Tensor:
        """Return the residual of exp(-H) under the claimed equation: zero wherever some Q gives the drift."""
        return residual(self.derivation, self.claimed(), self.derivation.D)

    def with_curl(self, Q: Matrix) -> Subject:
        """Return the subject of the same document with Q filled in, to be judged like any other."""
        return subject_of(replace(self.dynamics, Q=Q))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A Q that should do, not yet verified, and how it was found."""

    Q: Matrix
    by: str


def problem_of(subject: Subject) -> Problem | None:
    """Return the problem of a subject, None where no drift is claimed or no noise is given.

    Raises:
        stratonovich.NotConvertedError: the Ito drift is not determined by what is stated.
    """
    dynamics = subject.dynamics
    D = dynamics.D or dynamics.claims.diffusion
    if D is None or dynamics.claims.drift is None:
        return None
    drift = ito_drift(dynamics, D)
    names = [block.name for block in dynamics.declarations.blocks]
    claims = Claims(drift=tuple(zip(names, drift, strict=True)))
    alone = subject_of(replace(dynamics, D=D, Q=None, claims=claims))
    return None if alone.derivation is None else Problem(alone, alone.derivation, drift)
