"""A Q that no document states: what was found for a claimed drift is put into the dynamics of a build."""

import json
from dataclasses import replace
from typing import Any

from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Function, Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.spec.places import canonical_json


def lacks_q(dynamics: Dynamics) -> bool:
    """Whether a drift is claimed and no Q is given."""
    return dynamics.Q is None and dynamics.claims.drift is not None


def has_found_q(build: Build) -> bool:
    """Whether the dynamics of a build have a Q that their document does not state."""
    return build.dynamics.Q is not None and "Q" not in json.loads(build.stated_dynamics.source.document)


def with_found_matrices(build: Build, D: Matrix | None, Q: Matrix | None) -> Build:
    """Return a build whose dynamics have D and Q, as if their document stated these: its digest is of them, too."""
    given = json.loads(build.dynamics.source.document) | {"D": texts(D), "Q": texts(Q)}
    source, named = replace(build.dynamics.source, document=canonical_json(given)), build.stated_dynamics
    named = replace(named, D=D, Q=Q) if build.is_complete else named
    return replace(build, dynamics=replace(build.dynamics, D=D, Q=Q, source=source), named=named)


def entry_of(item: Parameter | Function) -> dict[str, Any]:
    """Return what a document says of a parameter, or a function: its shape and its kinds."""
    sizes = [str(size) for size in item.shape.sizes]
    shape = "scalar" if not sizes else sizes[0] if len(sizes) == 1 else sizes
    kinds = {"is": [kind.value for kind in item.kinds]} if item.kinds != (Kind.REAL,) else {}
    return {"shape": shape, **kinds}


def texts(matrix: Matrix | None) -> list[list[str]]:
    """Return the places of a matrix as a document has them."""
    return [[text(entry) for entry in row] for row in matrix or ()]
