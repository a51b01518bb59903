"""Are the dynamics that the word of a cycle uses those of H here? Then the equation it follows is theirs, others held.

With D and Q of the dynamics used, P D P and P Q P where blocks of the target are held (`spec/use.py`), and E their H:

    (D + Q) grad(E - H) = 0,

so that E differs from H by nothing that what is moved depends on: E is the energy of the blocks that are moved given
those that are held. Every other claim about the word is about H, D and Q as they stand in the build: where E is
another energy the word preserves exp(-H) all the same, and is not the sampler that its author names.
"""

from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.dynamics.system import drift, system
from recipe_compiler.derive.recipe import apply_matrix, derive, map_matrices
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.expression import Formula
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.identities import Identity, list_faults
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.steps.quantity import vector_of
from recipe_compiler.verify.steps.split import Split, decide_identities


def use(cycle: Cycle) -> Answer:
    """Decide that (D + Q) grad(E - H) = 0, E the energy of the dynamics that the word uses, H that of the build.

    Block by block, vectors over z, with D and Q zero in the rows and columns of what is held: the drift -(D + Q) grad E
    + Gamma is then -(D + Q) grad H + Gamma, that of H given what is held (Ma, Chen, Fox 2015, Eq. 3). Refuted by an
    exact point; undecided where the word uses no other dynamics, or E jumps. With E = U(theta) + r.T r/2 and H =
    U(theta) + r.T r/2 + V(x), x held, grad(E - H) is zero but in x, of which D + Q has no row or column.
    """
    split = cycle.split
    E = split.subject.dynamics.claims.energy
    if E is None:
        return undecided("the cycle uses no other dynamics")
    try:
        return decide_identities(split, _stationarity_identities(split, E), also=(E,))
    except ModelError as error:
        return undecided(*list_faults(error))


def _stationarity_identities(split: Split, E: Formula) -> list[Identity]:
    """Return (D + Q) grad(E - H) = 0, block by block."""
    own, c = split.derivation, split.derivation.calculus
    other = derive(replace(own.dynamics, H=E))
    slopes = tuple(c.subtract(one, two) for one, two in zip(other.grad_H, own.grad_H, strict=True))
    left = apply_matrix(c, own.dynamics.declarations.blocks, map_matrices(c.add, own.D, own.Q), slopes)

    def entries(sizes: Sizes) -> list[Expr]:
        here, whole = split.subject.system(sizes), split.subject.whole
        there = system(whole.declarations, E, whole.D or (), whole.Q or (), sizes)
        return [x - y for x, y in zip(drift(here), drift(there), strict=True)]

    says = "the drift of {} by the H here minus that by the H used"
    return [own.vanishes(says) for own in vector_of(split, left, entries)]
