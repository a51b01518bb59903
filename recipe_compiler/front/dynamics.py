"""Dynamics stated in Python."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recipe_compiler.front.document import Document, derived
from recipe_compiler.spec import model
from recipe_compiler.spec.python import state_dynamics

if TYPE_CHECKING:
    from recipe_compiler.front.derivation import Derivation


class Dynamics(Document):
    """The mathematics of a sampler: dz = f dt + sqrt(2D) dW, f = -(D+Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3).

    Formulas are objects made of `vector`, `matrix`, `scalar`, `function` and `I`, SymPy objects, numbers, or texts of
    the formula language. Names are declared by the objects that carry them.

    Parameters
    ----------
    name : str
        An ASCII identifier.
    state : sequence of Expression
        The blocks of z, in order: scalars and columns.
    H : formula
        The energy, a scalar.
    D, Q : rows of formulas, optional
        Block matrices; place (i, j) has shape size(i) x size(j). A SymPy matrix will do, and for one block the formula.
    parameters : sequence of Expression
        Objects whose names texts use and no other object declares.
    potential : str
        The function a target binds, where it does not say so itself (SymPy's functions).
    assume : sequence of comparisons
        What parameters and state satisfy: `a > b`.
    claims : mapping, optional
        What is claimed of it and decided apart: `drift`, `marginal`, `update` (block to formula), `diffusion` (rows),
        `interpretation`, `noise`, `lyapunov` (a formula).
    title : str
        What the sampler is called.
    references : sequence of str
        Keys of references.
    units : mapping, optional
        Names of blocks, parameters and functions to their units: `length/time**2`, `1`.

    Raises
    ------
    SpecError
        An object, a name or a text is not of the language; all faults are gathered.
    ModelError
        The formulas do not fit together.

    Examples
    --------
    >>> theta, r = vector("theta", "d"), vector("r", "d")
    >>> C = matrix("C", "d", "d", is_="positive semidefinite")
    >>> U = function("U", of=theta, role="potential")
    >>> Dynamics(name="sghmc", state=[theta, r], H=U + r.T @ r / 2, D=[[0, 0], [0, C]], Q=[[0, -I], [I, 0]])
    <Dynamics sghmc>
    """

    document: model.Dynamics

    def __init__(
        self,
        *,
        name: str,
        state: Sequence[object],
        H: object,
        D: object = None,
        Q: object = None,
        parameters: Sequence[object] = (),
        potential: object = "",
        assume: Sequence[object] = (),
        claims: Mapping[str, object] | None = None,
        title: str = "",
        references: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
    ) -> None:
        made = state_dynamics(
            name=name, state=state, H=H, D=D, Q=Q, parameters=parameters, potential=potential, assume=assume,
            claims=claims, title=title, references=references, units=units,
        )  # fmt: skip
        object.__setattr__(self, "document", made)

    def derive(self) -> "Derivation":
        """Return grad H, Gamma and the drift, in index notation, for every size.

        Raises
        ------
        ModelError
            D or Q is not given, or a formula has no meaning entry by entry.
        """
        return derived(self.document)

    def to_latex(self) -> str:
        """Return state, energy, D, Q and the claimed drift as one `align*` environment (needs amsmath)."""
        from recipe_compiler.front.document import of_dynamics

        return of_dynamics(self.document)

    _repr_latex_ = to_latex
