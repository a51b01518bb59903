"""For many coordinates plans choose diagonal matrices: steps, draws of momenta and documents grow with d, not d**2."""

from recipe_compiler.advise.entries import free_name
from recipe_compiler.advise.roles import ParameterRole, open_parameters
from recipe_compiler.advise.spread import MANY
from recipe_compiler.errors import RunError
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import Entry, restated
from recipe_compiler.spec.yaml_reader import MAX_NODES

OWN = 1_000
"""Nodes of a document that are not numbers of a plan."""

NAMES = {
    ParameterRole.MASS: "mass",
    ParameterRole.FRICTION: "friction",
    ParameterRole.PRECONDITIONER: "preconditioner",
}


def with_diagonals(build: Build, width: int) -> Build:
    """Return a build whose open matrices are bound to diagonals, `M: diag(mass)`, where it has many coordinates.

    Args:
        build: with `step_size: auto`, and a move that is accepted or refused.
        width: coordinates of the potential's block.
    """
    matrices = [one for one in open_parameters(build) if one.is_matrix] if width > MANY else []
    bound: dict[str, Entry | None] = {}
    declared: dict[str, Entry | None] = {}
    for one in matrices:
        name = free_name(NAMES[one.role], build)
        bound[one.name] = f"diag({name})"
        declared[name] = {"shape": str(one.parameter.shape.sizes[0]), "is": "positive"}
    return restated(build, {"bind": bound, "parameters": declared}) if matrices else build


def demand_statable(build: Build, width: int) -> None:
    """Raise RunError for more numbers than the document of a build holds, before any of them is looked for."""
    open_ones = open_parameters(build)
    matrices = sum(one.is_matrix for one in open_ones)
    columns = sum(not one.is_matrix and not one.is_number for one in open_ones)
    is_diagonal = build.has_acceptance and width > MANY
    if build.has_acceptance or potential_block(build) not in dict(build.init):  # where chains start, and how wide
        matrices, columns = matrices + (not is_diagonal), columns + 1 + is_diagonal
    numbers = matrices * width**2 + columns * width
    if numbers > MAX_NODES - OWN:
        raise RunError(
            f"step_size: auto: found {width} coordinates, whose plan has {numbers:,} numbers, expected at most "
            f"{MAX_NODES - OWN:,}, the limit of a document; state a step size and a value of every parameter"
            + ("" if is_diagonal else f", or take dynamics `hmc`, which is planned up to {(MAX_NODES - OWN) // 3:,}")
        )
