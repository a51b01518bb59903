"""What arguments of emitted functions have to be: jitted code looks at neither lengths nor types, this does."""

# Emitted files carry this code without annotations, and call it.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnusedFunction=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import math

import numpy as np


def _check_array(name, array, shape, sizes, kinds=("float64",), written=False):
    """Check an array's type, shape and layout; sizes that are names are positive and the same wherever they occur.

    Raises TypeError, ValueError: what was found, and what was expected.
    """
    plain = type(array) in (np.ndarray, np.memmap)  # not one with a mask, which would not be looked at
    if not plain or all(array.dtype != kind for kind in kinds):
        found = f"an array of {array.dtype}" if plain else type(array).__name__
        raise TypeError(f"{name}: found {found}, expected a NumPy array of {' or '.join(kinds)}")
    known = tuple(sizes.get(size, size) for size in shape)
    pairs = tuple(zip(array.shape, known, strict=False))
    wanted = f"({', '.join(map(str, known))}{',' if len(known) == 1 else ''})"
    if array.ndim != len(shape) or any(isinstance(size, int) and size != found for found, size in pairs):
        raise ValueError(f"{name}: found the shape {array.shape}, expected {wanted}")
    for found, size in pairs:
        if found == 0 and not isinstance(size, int):
            raise ValueError(f"{name}: found the shape {array.shape}, expected {wanted} with {size} at least 1")
    sizes.update({size: found for found, size in pairs if not isinstance(size, int)})
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: found an array with gaps or by columns, expected np.ascontiguousarray of it")
    if written and not array.flags.writeable:
        raise ValueError(f"{name}: found an array that is read only, expected one that can be written")


def _check_sizes(sizes, least):
    """Check that sizes are as large as the positions that the formulas name ask for. Raises ValueError."""
    for size, number in least.items():
        if sizes.get(size, number) < number:
            raise ValueError(
                f"{size}: found {sizes[size]}, expected {number} or more: a formula names position {number - 1}"
            )


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


def _check_kinds(name, array, kinds):
    """Check that an array is of the kinds declared: exactly entry by entry, up to rounding across the diagonal.

    What is said of entries is said of the diagonal of a diagonal matrix. Raises ValueError.
    """
    if "diagonal" in kinds and (array != np.diag(np.diag(array))).any():
        raise ValueError(f"{name}: found numbers beside the diagonal, expected a diagonal matrix")
    entries = np.diag(array) if "diagonal" in kinds else array
    right = {"positive": entries > 0.0, "nonnegative": entries >= 0.0, "nonzero": entries != 0.0}
    for kind in kinds:
        if kind in right and not right[kind].all():
            raise ValueError(f"{name}: found {entries[~right[kind]][0]}, expected {kind} entries")
        if kind in ("symmetric", "skew", "positive definite", "positive semidefinite"):
            _check_across(name, array, kind)


def _check_across(name, matrix, kind):
    """Check that a matrix is symmetric or skew up to rounding, and definite where `kind` says so. Raises ValueError."""
    slack = matrix.shape[0] * np.finfo(float).eps * np.abs(matrix).max()
    across = -matrix.T if kind == "skew" else matrix.T
    if np.abs(matrix - across).max() > slack:
        raise ValueError(
            f"{name}: found a matrix that is not {'skew' if kind == 'skew' else 'symmetric'}, expected a {kind} one"
        )
    smallest = np.linalg.eigvalsh(matrix)[0]
    low = smallest <= 0.0 if kind == "positive definite" else smallest < -slack
    if kind.startswith("positive") and low:
        raise ValueError(f"{name}: found the eigenvalue {smallest}, expected a {kind} matrix")


def _checked_number(name, number, whole=False, least=None, above=None, most=None, nonzero=False):
    """Return a number as jitted code takes it: a finite double or, where `whole`, an integer of 64 bits.

    least, above, most: its bounds. Raises TypeError, ValueError: what was found, and what was expected.
    """
    refused = (bool, np.bool_, np.ndarray, np.complexfloating)
    if isinstance(number, refused) or not hasattr(number, "__index__" if whole else "__float__"):
        raise TypeError(f"{name}: found {type(number).__name__}, expected {'an integer' if whole else 'a real number'}")
    try:
        value = int(number) if whole else float(number)
    except OverflowError:
        value = math.inf
    limits = ((least, "at least"), (above, "above"), (most, "at most"))
    said = [f"{words} {limit}" for limit, words in limits if limit is not None] + ["other than 0"] * nonzero
    low = (least is None or value >= least) and (above is None or value > above)
    fits = value.bit_length() < 64 if whole else math.isfinite(value)
    if not (fits and low and (most is None or value <= most) and (value != 0 or not nonzero)):
        found = f"an integer of {value.bit_length()} bits" if whole and not fits else value
        expected = f"{'an integer of 64 bits' if whole else 'a finite number'} {' and '.join(said)}".rstrip()
        raise ValueError(f"{name}: found {found}, expected {expected}")
    return value


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


def _check_apart(read, /, **arrays):
    """Check that no array that is written shares memory with another; those in `read` are not. Raises ValueError."""
    names = list(arrays)
    for k, name in enumerate(names):
        for other in names[:k]:
            if not {name, other} <= set(read) and np.may_share_memory(arrays[name], arrays[other]):
                raise ValueError(f"{other} and {name}: found arrays that share memory, expected arrays of their own")


def _check_jitted(name, function):
    """Check that a function is one that jitted code can call. Raises TypeError."""
    if not hasattr(function, "py_func"):  # which jitted functions keep
        raise TypeError(f"{name}: found {type(function).__name__}, expected a function jitted by numba.njit")
