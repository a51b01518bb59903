"""What arguments of emitted functions have to be: jitted code looks at neither lengths nor types, this does."""

# Emitted files carry this code without annotations, and call it.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnusedFunction=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
import numbers

import numpy as np


def _check_array(name, array, shape, sizes, kinds=("float64",), written=False):
    """Check an array's type, shape and layout; sizes that are names are the same wherever they occur.

    Raises TypeError, ValueError: what was found, and what was expected.
    """
    if not isinstance(array, np.ndarray) or array.dtype.name not in kinds:
        found = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name}: found {found}, expected a NumPy array of {' or '.join(kinds)}")
    known = tuple(sizes.get(size, size) for size in shape)
    pairs = zip(array.shape, known, strict=False)
    if array.ndim != len(shape) or any(isinstance(size, int) and size != found for found, size in pairs):
        raise ValueError(f"{name}: found the shape {array.shape}, expected ({', '.join(map(str, known))},)")
    sizes.update({size: found for found, size in zip(array.shape, known, strict=True) if not isinstance(size, int)})
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: found an array with gaps or by columns, expected np.ascontiguousarray of it")
    if written and not array.flags.writeable:
        raise ValueError(f"{name}: found an array that is read only, expected one that can be written")


def _check_finite(name, array):
    """Check that all entries of an array are finite numbers. Raises ValueError."""
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected finite numbers")


def _check_values(name, array, values):
    """Check that an array holds some values only. Raises ValueError."""
    bad = np.argwhere(~np.isin(array, values))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected one of {values}")


def _check_symmetric(name, matrix, kind):
    """Check that a matrix is symmetric up to rounding, and positive definite or semidefinite where `kind` says so.

    Raises ValueError.
    """
    slack = matrix.shape[0] * np.finfo(float).eps * np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > slack:
        raise ValueError(f"{name}: found a matrix that is not symmetric, expected a {kind} one")
    smallest = np.linalg.eigvalsh(matrix)[0]
    low = smallest <= 0.0 if kind == "positive definite" else smallest < -slack
    if kind != "symmetric" and low:
        raise ValueError(f"{name}: found the eigenvalue {smallest}, expected a {kind} matrix")


def _check_number(name, number, whole=False, least=None, above=None, most=None):
    """Check that a number is finite (or `whole`), at least `least`, above `above`, at most `most`.

    Raises TypeError, ValueError: what was found, and what was expected.
    """
    kind = numbers.Integral if whole else numbers.Real
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, kind):
        raise TypeError(f"{name}: found {type(number).__name__}, expected {'an integer' if whole else 'a real number'}")
    limits = ((least, "at least"), (above, "above"), (most, "at most"))
    said = " ".join(f"{words} {limit}" for limit, words in limits if limit is not None)
    low = (least is None or number >= least) and (above is None or number > above)
    if not (math.isfinite(number) and low and (most is None or number <= most)):
        raise ValueError(f"{name}: found {number}, expected a finite number{' ' if said else ''}{said}")


def _check_words(name, state, words):
    """Check the state of a random stream: a row of what `seed_streams` returns. Raises TypeError, ValueError.

    words: how many there are, 0 for a numpy.random.Generator. A generator of four words that are zero stands still.
    """
    if not words:
        if not isinstance(state, np.random.Generator):
            raise TypeError(f"{name}: found {type(state).__name__}, expected a numpy.random.Generator")
        return
    _check_array(name, state, (words,), {}, ("uint64",), written=True)
    if words % 4 == 0 and not state.reshape(4, -1).any(axis=0).all():
        raise ValueError(f"{name}: found a state of zeros, which no draw leaves; expected a row of `seed_streams`")


def _check_places(name, permutation, count):
    """Check that an array holds every number below `count` once. Raises TypeError, ValueError."""
    _check_array(name, permutation, (count,), {}, ("uint64",), written=True)
    if permutation.max(initial=0) >= count or (np.bincount(permutation.astype(np.int64)) != 1).any():
        raise ValueError(f"{name}: expected every number from 0 to {count - 1} once, as np.arange({count}) has them")


def _check_apart(**arrays):
    """Check that no two of the arrays that are written share memory. Raises ValueError."""
    names = list(arrays)
    for k, name in enumerate(names):
        for other in names[:k]:
            if np.may_share_memory(arrays[name], arrays[other]):
                raise ValueError(f"{other} and {name}: found arrays that share memory, expected arrays of their own")
