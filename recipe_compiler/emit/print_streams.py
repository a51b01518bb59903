"""Which random streams a module has: the function that seeds them, and those that draw from them."""

from collections.abc import Iterator

from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program

LANES = 256
"""Words of the state of 64 generators side by side; one alone has 4."""


def fill_normals(program: Program, kernel: Kernel) -> str:
    """Return the name of the function that fills an array with normals."""
    del program
    return "_fill_normals_lanes" if kernel.chunked else "_fill_normals"


def print_seed_streams(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `seed_streams`."""
    noise = LANES if kernel.chunked else 4
    batches = LANES if program.variant == "minibatch" and program.replacement else 4
    yield "def seed_streams(seed, chains):"
    says = "Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."
    yield f'    """{says}"""'
    yield f"    return _seed_words(seed, chains, 0, {noise}), _seed_words(seed, chains, 1, {batches})"
