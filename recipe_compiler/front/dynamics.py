"""Dynamics stated in Python."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from recipe_compiler.formula.python_declaration import Declared
from recipe_compiler.front.document import Document, derived
from recipe_compiler.spec import model
from recipe_compiler.spec.python_nodes import Statement, sizes_of
from recipe_compiler.spec.read_dynamics import read_dynamics

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
        `interpretation`, `noise`, `lyapunov` (a formula), `image` (`of` a file, `map` and `inverse`, block to formula).
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
        s = Statement()
        state, potential = s.blocks(state), s.potential(potential)
        assume, claims = s.assumptions(assume), s.keys("claims", claims, 'claims={"drift": {theta: ...}}')
        blocks = s.state(state)
        given = {key: stated for key, stated in claims.items() if s.is_text("claims", key)}
        draws = _draws(s, given)
        used = s.declared(*parameters, *state, H, D, Q, *assume, *given.values())
        taken = {**{item.name: "a draw" for item in draws}, **{item.name: "a block" for item in blocks}}
        lengths = sizes_of(*blocks, *used)
        functions = [item for item in used if item.of is not None]
        if potential and potential not in [item.name for item in functions]:
            s.fault("potential", f"found no function `{potential}`, expected the one a target binds")
        root = s.document(
            name,
            title,
            references,
            state={block.name: s.block(block) for block in blocks} or None,
            parameters={i.name: s.parameter(i) for i in s.parameters(parameters, used, taken, lengths)} or None,
            functions={f.name: s.function(f, "potential" if f.name == potential else f.role) for f in functions}
            or None,
            assume=list(assume) or None,
            units=s.keys("units", units, 'units={"theta": "length"}') or None,
            H=H,
            D=s.matrix("D", D),
            Q=s.matrix("Q", Q),
            claims=s.mapping(**dict(_claims(s, given, draws))) if given else None,
        )
        object.__setattr__(self, "document", s.read(lambda: read_dynamics(root, s.where.file)))

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


def _claims(s: Statement, given: Mapping[str, object], draws: Sequence[Declared]) -> Iterator[tuple[str, object]]:
    for key, stated in given.items():
        match key:
            case "noise":
                yield key, {draw.name: s.mapping(shape=draw.shape) for draw in draws}
            case "diffusion":
                yield key, s.matrix(f"claims.{key}", stated)
            case _:
                yield key, s.node(f"claims.{key}", stated)


def _draws(s: Statement, claims: Mapping[str, object]) -> tuple[Declared, ...]:
    """Return the standard normal draws that a claimed update shares."""
    stated = claims.get("noise", ())
    if isinstance(stated, Mapping):
        problem = "found keys with values, expected the draws themselves"
        s.fault("claims.noise", problem, 'write `w = vector("w", "d")` and `"noise": [w]`')
        return ()
    return s.declared(*(cast("Sequence[object]", stated) if isinstance(stated, list | tuple) else (stated,)))
