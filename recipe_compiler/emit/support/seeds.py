"""Seeds of the random streams of every chain."""

# Emitted files carry this code without annotations.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false

import numpy as np


def seed_streams(seed, chains):
    """Return the states of the noise and batch streams, uint64 [chains, 4] each; no two streams are the same.

    `SeedSequence(seed).spawn(chains)` gives every chain its own seed, whatever their number, and `.spawn(2)` splits it.
    """
    states = np.empty((2, chains, 4), np.uint64)
    for chain, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        for stream, grandchild in enumerate(child.spawn(2)):
            states[stream, chain] = grandchild.generate_state(4, np.uint64)
    return states[0], states[1]
