"""What the parameters that a build leaves without a value are to its dynamics, by where they occur in H and D."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from recipe_compiler.errors import RunError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Formula, Role, Symbol
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.run.sizes import declared_parameters
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

LONGEST = 10.0
"""The most steps of a move, at first."""


class ParameterRole(Enum):
    """What a parameter is matched to."""

    MASS = "mass"
    """In the kinetic energy: the Hessian K of U, so that every direction swings at one frequency."""
    FRICTION = "friction"
    """Noise and friction of momenta: a multiple of the mass, or of the identity."""
    PRECONDITIONER = "preconditioner"
    """Noise and drift of the potential's own block: the inverse of K."""
    LENGTH = "length"
    """The most steps of a move: the number that has most effective draws per gradient."""


@dataclass(frozen=True, slots=True)
class Open:
    """A parameter whose value is to be chosen."""

    parameter: Parameter
    role: ParameterRole

    @property
    def name(self) -> str:
        """Its name in the documents."""
        return self.parameter.name

    @property
    def is_number(self) -> bool:
        """Whether it is a number: no matrix, and no diagonal of one."""
        return not self.parameter.shape.sizes

    @property
    def is_matrix(self) -> bool:
        """Whether it is a matrix."""
        return len(self.parameter.shape.sizes) == 2


def open_parameters(build: Build) -> tuple[Open, ...]:
    """Return the parameters without a value, each with its role in H and D.

    Raises:
        RunError: one stands where nothing is known that it could be matched to.
    """
    stated = {name for name, _ in (*build.bind, *build.values)}
    known = stated | build.estimates
    bare = [p for p in declared_parameters(build) if p.name not in known and p.default is None]
    return tuple(Open(parameter, _role(build, parameter)) for parameter in bare)


def _role(build: Build, parameter: Parameter) -> ParameterRole:
    if any(parameter.name == move.steps[1] for move in build.scheme.accepted):
        return ParameterRole.LENGTH
    bound = bind(build)
    blocks = bound.declarations.blocks
    potential = bound.declarations.blocks_of(bound.potential)
    own = [n for n, block in enumerate(blocks) if block.name in potential]
    size = [blocks[n].shape.sizes[0] for n in own if blocks[n].shape.sizes]
    square = list(parameter.shape.sizes) == size * 2
    diagonal = build.has_acceptance and list(parameter.shape.sizes) == size and Kind.POSITIVE in parameter.kinds
    number = not parameter.shape.sizes and bool({Kind.POSITIVE, Kind.NONNEGATIVE} & set(parameter.kinds))
    D = bound.D or ()
    of_own = any(_names(D[a][b], parameter) for a in own for b in own)
    elsewhere = any(
        _names(e, parameter) for a, row in enumerate(D) for b, e in enumerate(row) if {a, b}.isdisjoint(own)
    )
    if (square or diagonal or number) and of_own != elsewhere:
        return ParameterRole.PRECONDITIONER if of_own else ParameterRole.FRICTION
    definite = diagonal or (square and Kind.PD in parameter.kinds)
    if definite and not of_own and not elsewhere and _names(bound.H, parameter):
        return ParameterRole.MASS
    where = ", ".join(_where(build, parameter)) or "nowhere"
    raise RunError(
        f"parameter `{parameter.name}`: found no value with step_size: auto, and it occurs in {where}; expected one "
        f"under `parameters`: a plan chooses a mass in H, a friction or a preconditioner in D, or a length of moves"
    )


def _where(build: Build, parameter: Parameter) -> Iterator[str]:
    bound = bind(build)
    if _names(bound.H, parameter):
        yield "H"
    for name, rows in (("D", bound.D or ()), ("Q", bound.Q or ())):
        if any(_names(entry, parameter) for row in rows for entry in row):
            yield name


def _names(formula: Formula, parameter: Parameter) -> bool:
    return any(
        isinstance(node, Symbol) and node.role is Role.PARAMETER and node.name == parameter.name
        for node in nodes(formula)
    )
