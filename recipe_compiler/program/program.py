"""One step of a chain as a list of few statements in index notation.

A Program knows nothing of loops, arrays or Python: it says what is computed, for every size. Names that the Program
introduces (`r_new`, `grad_U_tilde`, `noise_r`) stand in its tensors as coordinates and components like any other.
"""

from dataclasses import dataclass

from recipe_compiler.formula.declaration import Block, Datum, Parameter
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.terms import Tensor


@dataclass(frozen=True, slots=True)
class Gradient:
    """grad U of the target at the old state, or its minibatch estimate.

    Full data: `prior + sum_n datum`; minibatch: `prior + (N/n) sum_{n in batch} datum` (Ma, Chen, Fox 2015, Eq. 7:
    the sum is scaled, the prior is not). The parts are gradients of -log prior and of -log likelihood of datum n.
    """

    name: str
    """`grad_U`, or `grad_U_tilde` for the estimate."""
    block: Block
    """The block of the state that U depends on."""
    at: str
    """Where it is evaluated: the block's name, or the name of its updated value."""
    prior: Tensor
    """Free index `i` (none for a scalar block)."""
    datum: Tensor | None
    """Free indices `n` (the datum) and `i`; None for a target without data."""
    count: Size | None
    """The number of data N."""
    minibatch: bool


@dataclass(frozen=True, slots=True)
class Noise:
    """A Gaussian draw w ~ N(0, eps (two_D - eps B_hat)) for blocks whose noise is correlated, at the old state.

    `two_D[a][b]` and `B_hat[a][b]` have free indices `i` of block a and `j` of block b (those that exist). `B_hat` is
    None where the gradient is exact or its covariance is taken to be zero.
    """

    blocks: tuple[Block, ...]
    two_D: tuple[tuple[Tensor, ...], ...]
    B_hat: tuple[tuple[Tensor, ...], ...] | None


@dataclass(frozen=True, slots=True)
class Update:
    """`new = old + eps * drift + w`, the drift at the blocks updated before where it says `<block>_new`."""

    block: Block
    new: str
    drift: Tensor


@dataclass(frozen=True, slots=True)
class Program:
    """One step: batch, gradient, noise, then the updates in order. Invariants are in `program/invariants.py`."""

    scheme: str
    variant: str
    replacement: bool
    blocks: tuple[Block, ...]
    """The state z, in the order of the dynamics."""
    parameters: tuple[Parameter, ...]
    """All constants of the chain: of the dynamics, of the build, of the target."""
    data: tuple[Datum, ...]
    gradient: Gradient | None
    noises: tuple[Noise, ...]
    updates: tuple[Update, ...]
    """In the order in which they are done, one for every block."""
