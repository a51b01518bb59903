"""Which random streams a module has: the function that seeds them, and the lines that draw the normals of a step.

Noise of `xoshiro` comes from xoshiro256++: one generator and the ziggurat for few normals, 64 lanes for many. Noise of
`philox` is a function of key, chain, step and place in the step. `numpy` is a numpy.random.Generator of each chain.
Normals of a step are numbered through, for `philox` with every array after the first at an even number.
"""

from collections.abc import Iterator, Sequence

from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program

LANES = 256
"""Words of the state of 64 generators side by side; one alone has 4."""

WORDS = {"xoshiro": ("s0", "s1", "s2", "s3"), "philox": ("s0", "s1", "s2"), "numpy": ()}
"""The scalars that hold the state of the noise along a chain in scalars: none for what is not made of words."""


def draw_scalars(program: Program, names: Sequence[str]) -> Iterator[str]:
    """Yield lines that draw the normals of a step into scalars and advance the stream, held in scalars as well.

    By the ziggurat on xoshiro256++ (Marsaglia and Tsang 2000; Blackman and Vigna 2021), in pairs by Philox, or by
    NumPy.
    """
    match program.bit_generator:
        case "philox":
            for k in range(0, len(names), 2):
                both = ", ".join((names[k], names[k + 1] if k + 1 < len(names) else "_"))
                yield f"{both} = _pair_philox(s0, s1, s2, {k // 2})"
            if names:
                yield "s2 += np.uint64(1)"
        case "numpy":
            yield from (f"{name} = _next_normal_numpy(noise_state)" for name in names)
        case _:
            yield from (f"{name}, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)" for name in names)


def draw_arrays(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield lines that draw the normals of a step into arrays and advance the stream."""
    names = tuple(array.name for array in kernel.noises)
    for k, name in enumerate(names):
        yield f"{_fill(program, kernel, _begin(names[:k]))}, {name})"
    yield from end_step(program, kernel)


def draw_chunk(program: Program, kernel: Kernel, length: str) -> Iterator[str]:
    """Yield lines that draw the normals of entries `first` to `last` of `length` into arrays with room for a chunk."""
    for k, array in enumerate(kernel.noises):
        begin = " + ".join((*((f"{k} * ({length} + {length} % 2)",) if k else ()), "first"))
        yield f"{_fill(program, kernel, begin)}, {array.name}[: last - first])"


def steps_at_once(program: Program, count: int) -> int:
    """Return for how many steps of `count` normals 64 chains draw at a time.

    Rows of xoshiro lanes come in pairs, none of which is to be dropped within a draw, and longer loops cost less.
    """
    return max(8 // count, 1 + count % 2) if count and program.bit_generator == "xoshiro" else 1


def draw_lanes(program: Program, out: str) -> Iterator[str]:
    """Yield lines that fill rows with normals of 64 chains, a lane of each; the state moves on."""
    if program.bit_generator == "philox":
        yield f"_fill_normals_philox_lanes(noise_state, {out})"
        yield "_next_step(noise_state)"
    else:
        yield f"_fill_normals_lanes(noise_state, {out})"


def end_step(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the line that advances the counter of Philox by a step; drawing advances all other streams."""
    if program.bit_generator == "philox" and kernel.noises:
        yield "_next_step(noise_state)"


def _begin(names: Sequence[str]) -> str:
    """Return the number of the first normal after arrays, each of which takes an even number of them."""
    return " + ".join(f"{name}.shape[0] + {name}.shape[0] % 2" for name in names) or "0"


def _fill(program: Program, kernel: Kernel, begin: str) -> str:
    """Return a call that fills an array, up to that array."""
    match program.bit_generator:
        case "philox":
            return f"_fill_normals_philox(noise_state, {begin}"
        case "numpy":
            return "_fill_normals_numpy(noise_state"
        case _:
            return f"{'_fill_normals_lanes' if kernel.chunked else '_fill_normals'}(noise_state"


def noise_words(program: Program, kernel: Kernel) -> int:
    """Return how many words the state of the noise of a chain has: none where it is a numpy.random.Generator."""
    return {"philox": 3, "numpy": 0, "xoshiro": LANES if kernel.chunked else 4}[program.bit_generator]


def batch_words(program: Program) -> int:
    """Return how many words the state of the minibatch stream of a chain has."""
    return LANES if program.variant == "minibatch" and program.replacement else 4


def print_seed_streams(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `seed_streams`."""
    noise = {
        "philox": "_seed_counters(seed, chains)",
        "numpy": "_seed_generators(seed, chains)",
        "xoshiro": f"_seed_words(seed, chains, 0, {noise_words(program, kernel)})",
    }[program.bit_generator]
    yield "def seed_streams(seed, chains):"
    says = "Return the states of the noise and of the minibatch stream of every chain; no two streams are the same."
    yield f'    """{says}"""'
    yield f"    return {noise}, _seed_words(seed, chains, 1, {batch_words(program)})"
