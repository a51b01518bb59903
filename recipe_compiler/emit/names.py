"""Names of the user that an emitted module cannot use as they are."""

import builtins
import keyword

from recipe_compiler.program.program import Program

# fmt: off
OWN = frozenset((
    "math", "np", "njit", "gradient", "step", "prepare", "run", "checked_run", "sizes", "seed_streams",
    "eps", "thin", "batch", "batch_size", "row", "kept", "entry", "finite", "clipped", "total", "weight",
    "noise_state", "batch_state", "permutation", "done", "s0", "s1", "s2", "s3", "sweep", "entries", "first", "last",
    "step_lanes", "run_lanes", "lanes", "lanes_noise", "lanes_draws", "lane", "turn", "draw", "FORMAT", "SPEC_DIGEST",
    "VARIANT", "REPLACEMENT", "BLOCKS", "SIZES", "PARAMETERS", "CONSTANTS", "DATA", "ARGUMENTS", "CLIPS",
    "LANES_ARGUMENTS", "GRADIENT", "POTENTIAL_BLOCK", "MOMENTS", "generator", "prepare_generator", "full_gradient",
    "one_step", "forecast", "noise_kept", "after_step", "grad_at",
))
# fmt: on
"""Names that every emitted module has for itself."""


def renames(program: Program) -> dict[str, str]:
    """Return the user's names that must change, with a trailing underscore (more, where that is taken too)."""
    gradient = program.gradient
    parts = () if gradient is None else tuple(part.block for part in gradient.parts)
    items = (*program.blocks, *parts, *program.parameters, *program.data)
    sizes = [size for item in items for size in item.shape.sizes] + [datum.size for datum in program.data]
    names = dict.fromkeys([item.name for item in items] + [size for size in sizes if isinstance(size, str)])
    made = {f"{block.name}{ending}" for block in program.blocks for ending in ("_draws",)}
    made |= (
        {moment.name for moment in program.infinitesimal_generator.moments}
        if program.infinitesimal_generator
        else set[str]()
    )
    found: dict[str, str] = {}
    for name in names:
        new = name
        while keyword.iskeyword(new) or hasattr(builtins, new) or new in OWN | made or (new != name and new in names):
            new += "_"
        if new != name:
            found[name] = new
    return found
