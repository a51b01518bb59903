"""The mode that a run found, kept for another run of the same module, values and data: of another step, or longer."""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.data import Data
from recipe_compiler.run.map_estimate import FindMode, Mode, Slope, Start, find_mode

MOST_BYTES = 2**28
"""Bytes of data that are hashed for it; hashing more would take as long as a search."""


def parts_of_data(data: Data) -> Iterator[str]:
    """Yield texts that are others for any other data: of each field its names, type, shape and the digest of all."""
    for field in data.fields:
        yield f"{field.name} {field.columns} {_digest(field.values)}"


def find_once(
    module: Module, inputs: Inputs, data: Data, read: Callable[[tuple[str, ...]], str | None],
    write: Callable[[tuple[str, ...], str], None],
) -> FindMode:  # fmt: skip
    """Return a search for the mode that looks first for what it found before.

    The mode depends on what is given to the gradient, not on the length of a run or of its steps, nor on constants
    that are made of these and the parameters. What the gradient is where the search begins is part of what it is looked
    up by.

    Args:
        module: whose gradient it is; not one that is given code, which may depend on anything.
        inputs: of its chains.
        data: the fields of the target, as `inputs` has them.
        read: a text by its key, None where there is none.
        write: the same.
    """
    if inputs.gradient is not None or sum(field.values.nbytes for field in data.fields) > MOST_BYTES:
        return find_mode

    def find(slope: Slope, starts: Sequence[Start], names: Sequence[str]) -> Mode:
        given = (*inputs.parameters, slope(starts[0].theta), *(start.theta for start in starts))
        key = (
            module.text, *map(_digest, given), *parts_of_data(data), *names, *(start.says for start in starts),
            f"{inputs.rows} {inputs.batch_size} {inputs.numbers}",
        )  # fmt: skip
        kept = read(key)
        if kept is not None:
            says, *theta = json.loads(kept)
            return Mode(np.array(theta, dtype=np.float64), says)
        mode = find_mode(slope, starts, names)
        write(key, json.dumps([mode.says, *mode.theta.tolist()]))
        return mode

    return find


def _digest(given: ArrayLike) -> str:
    values: NDArray[np.generic] = np.ascontiguousarray(given)
    return f"{values.dtype.str} {values.shape} {sha256(values.tobytes()).hexdigest()}"
