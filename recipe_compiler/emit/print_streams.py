"""The random streams of a module: the function that seeds them, and how many words they have.

Noise comes from xoshiro256++: one generator and the ziggurat for few normals, 64 lanes for many.
"""

from collections.abc import Iterator

from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program

LANES = 256
"""Words of the state of 64 generators side by side; one alone has 4."""


def steps_at_once(count: int) -> int:
    """Return for how many steps of `count` normals 64 chains draw at a time.

    Rows of lanes come in pairs, none of which is to be dropped within a draw, and longer loops cost less.
    """
    return max(8 // count, 1 + count % 2) if count else 1


def noise_words(kernel: Kernel) -> int:
    """Return how many words the state of the noise of a chain has."""
    return LANES if kernel.chunked else 4


def batch_words(program: Program) -> int:
    """Return how many words the state of the minibatch stream of a chain has."""
    return LANES if program.variant == "minibatch" and program.replacement else 4


def print_seed_streams(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `seed_streams`."""
    noise = f"_seed_words(seed, chains, 0, {noise_words(kernel)})"
    yield "def seed_streams(seed, chains):"
    says = "Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."
    yield f'    """{says}"""'
    yield f"    return {noise}, _seed_words(seed, chains, 1, {batch_words(program)})"
