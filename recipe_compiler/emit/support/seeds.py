"""Seeds of the random streams of every chain.

`SeedSequence(seed).spawn` gives every chain its own seed, whatever their number, and `.spawn(2)` splits it into one for
the noise (0) and one for minibatches (1). Two streams of xoshiro256++ share no state but by chance: of n
streams of length m, some two overlap with probability n**2 m / 2**256 at most.
"""

# Emitted files carry this code without annotations, and call it.

import numpy as np


def _seed_words(seed, chains, stream, words, first_chain=0):
    """Return the states of a stream of xoshiro256++ of chains, uint64 [chains, words]: 4 words for each lane.

    In memory they start at a multiple of 512 bytes, the length of a row of 64 lanes, and so does every one of them.
    """
    room = np.empty(chains * words + 64, np.uint64)
    start = -room.ctypes.data % 512 // 8
    states = room[start : start + chains * words].reshape(chains, words)
    for chain in range(chains):
        own = np.random.SeedSequence(seed, spawn_key=(first_chain + chain, stream))
        states[chain] = own.generate_state(words, np.uint64)
    return states
