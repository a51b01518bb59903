"""Random bits: xoshiro256++ with its state in local scalars."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

from recipe_compiler.emit.support.jit import inlined


@inlined
def _next_bits(s0, s1, s2, s3):
    """Return 64 random bits and the state after them (Blackman and Vigna 2021, xoshiro256++)."""
    total = s0 + s3
    bits = ((total << 23) | (total >> 41)) + s0
    shifted = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << 45) | (s3 >> 19)
    return bits, s0, s1, s2, s3
