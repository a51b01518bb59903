"""Chains of modules without data, advanced call by call."""

from collections.abc import Sequence

import numpy as np

from recipe_compiler.run.load_module import Emitted

Array = np.ndarray


def advance(
    module: Emitted, state: Sequence[Array], parameters: Sequence[float | Array], eps: float, noise: Array, *,
    thin: int = 1, draws: int = 1,
) -> tuple[Array, ...]:  # fmt: skip
    """Advance a chain in place, and return the draws that it keeps of every block; fewer where it ends.

    What a step is given beside the state, the gradient of the one before, is evaluated at the state.
    """
    blocks = dict(zip((name for name, _ in module.blocks), state, strict=True))
    sizes = {size: block.size for (_, size), block in zip(module.blocks, state, strict=True)}
    known = dict(zip(module.parameters, parameters, strict=True))
    constants = module.prepare(*parameters, eps, *(sizes[size] for size in module.sizes))
    kept = {f"{name}_draws": np.empty((draws, block.size)) for name, block in blocks.items()}
    given = {
        **known, **dict(zip(module.constants, constants, strict=True)), **blocks, **kept,
        **{name: np.empty(sizes.get(size, size)) for name, size in module.carried},
        "eps": eps, "thin": thin, "noise_state": noise,
    }  # fmt: skip
    if module.first_values is not None:
        module.first_values(*(given[name] for name in module.first_arguments))
    count = module.run(*(given[name] for name in module.arguments))
    return tuple(own[:count] for own in kept.values())
