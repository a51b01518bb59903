"""The target of a build that names none: any U of the block that the potential of its dynamics is a function of."""

import json
from pathlib import Path

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Code, Dynamics, Source, Target
from recipe_compiler.spec.places import canonical_json

NAME, GRADIENT, POTENTIAL = "any_log_density", "grad_U", "U"
"""The names of the target, and of what a module of it is given: grad U and, where moves are accepted by it, U."""


def open_target(dynamics: Dynamics) -> Target:
    """Return the target whose gradient is an argument: its one block is that of the potential, as it is declared."""
    blocks = potential_blocks(dynamics)
    state = dict(json.loads(dynamics.source.document).get("state", []))
    entries = [[block.name, state.get(block.name)] for block in blocks]
    document = canonical_json({"format": "1", "gradient": GRADIENT, "name": NAME, "state": entries})
    source = Source(dynamics.source.file, document)
    return Target(NAME, Declarations(blocks), gradient=Code(Path(), GRADIENT, ""), source=source)
