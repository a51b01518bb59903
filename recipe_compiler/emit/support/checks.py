"""What arguments of emitted functions have to be: jitted code looks at neither lengths nor types, this does."""

# Emitted files carry this code without annotations, and call it.

import math

import numpy as np


def _checked_array(name, array, shape, sizes, values=(), dtype="float64"):
    """Return real numbers as a contiguous array; sizes that are names are positive and the same wherever they occur.

    Lists, integers, other floats, other layouts and byte orders are converted, and what may not be written to is
    copied, as jitted code would be compiled for it once more; a memory map is read where it is. Refused is what would
    be lost by it or has no meaning here: masks, text, objects, complex numbers, integers that float64 cannot hold,
    other shapes, numbers that are not finite or not one of `values`, and rows that pandas labels otherwise than others
    of the same size. Raises TypeError, ValueError: what was found, what was expected.
    """
    masked = isinstance(array, np.ma.MaskedArray)
    try:
        found = np.asarray(None if masked else array)
    except ValueError:  # rows of different lengths
        found = np.asarray(None)
    if found.dtype.kind not in "buif" or found.dtype.itemsize > 8:
        plain = isinstance(array, np.ndarray) and not masked
        said = f"an array of {array.dtype}" if plain else type(array).__name__
        raise TypeError(f"{name}: found {said}, expected an array of real numbers that float64 holds")
    known = tuple(sizes.get(size, size) for size in shape)
    if not _fits(found.shape, known):
        squeezed = tuple(n for n in found.shape if n != 1)
        hint = ": give its transpose" if _fits(found.T.shape, known) else ""
        hint = f": give it by .reshape({squeezed})" if _fits(squeezed, known) else hint
        hint = hint if found.size else ": there are no numbers in it"
        raise ValueError(f"{name}: found the shape {found.shape}, expected {_shape_text(known)}{hint}")
    sizes.update({size: count for size, count in zip(known, found.shape, strict=True) if not isinstance(size, int)})
    rows, axis = getattr(array, "index", None), shape[0] if shape else 0
    if isinstance(axis, str) and hasattr(rows, "equals") and not sizes.setdefault(f"rows of {axis}", rows).equals(rows):
        told = "expected rows in one order: give .reindex of them, or .to_numpy() where labels mean nothing"
        raise ValueError(f"{name}: found rows with other labels than those before it, {told}")
    if found.dtype.kind in "ui" and (found.max(initial=0) > 2**53 or found.min(initial=0) < -(2**53)):
        raise ValueError(f"{name}: found integers beyond 2**53, expected numbers that float64 holds")
    with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, and refused
        made = np.require(found, dtype, ["C", "A"] if isinstance(array, np.memmap) else ["C", "A", "W"])
    bad = np.argwhere(~(np.isin(made, values) if len(values) else np.isfinite(made)))
    if bad.size:
        place, wanted = ", ".join(map(str, bad[0])), f"one of {list(values)}" if len(values) else "finite numbers"
        raise ValueError(f"{name}: found {made[tuple(bad[0])]} at [{place}], expected {wanted}")
    return made


def _narrow_array(name, array, shape, sizes, values=()):
    """Return what `_checked_array` does, in float32.

    Refused are also numbers below its normal ones, where it has others: it would have 1e-46 as 0. Raises ValueError.
    """
    made = _checked_array(name, array, shape, sizes, values, "float32")
    found = np.asarray(array)
    bad = np.argwhere((np.abs(made) < np.finfo(np.float32).tiny) & (made != found))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}: found {found[tuple(bad[0])]} at [{place}], expected numbers that float32 holds")
    return made


def _checked_positions(name, array, count, length, sizes):
    """Return whole numbers from 0 to `length` - 1, one for each of the `count` data, as int64.

    Raises TypeError, ValueError: what was found, what was expected.
    """
    made = _checked_array(name, array, (count,), sizes)
    bad = np.flatnonzero((made != np.floor(made)) | (made < 0) | (made >= length))
    if bad.size:
        found, row = made[bad[0]], bad[0]
        raise ValueError(f"{name}: found {found:g} at [{row}], expected a whole number from 0 to {length - 1}")
    return made.astype(np.int64)


def _fits(found, known):
    """Whether an array's shape is one that is known; sizes that are names stand for any number from 1 on."""
    pairs = zip(found, known, strict=False)
    return len(found) == len(known) and all(n == size if isinstance(size, int) else n > 0 for n, size in pairs)


def _shape_text(shape):
    """Return a shape as Python writes it, sizes that are not known by their names and at least 1."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _check_sizes(sizes, least):
    """Check that sizes are as large as the positions that the formulas name ask for. Raises ValueError."""
    for size, number in least.items():
        if sizes.get(size, number) < number:
            raise ValueError(
                f"{size}: found {sizes[size]}, expected {number} or more: a formula names position {number - 1}"
            )


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


def _check_numbers(name, array, kinds):
    """Check that every number of an array is of the kinds declared. Raises ValueError."""
    for kind in kinds:
        match kind:
            case "positive":
                right = array > 0.0
            case "nonnegative":
                right = array >= 0.0
            case "nonzero":
                right = array != 0.0
            case "increasing":
                after = np.diff(array, axis=-1)
                right = np.insert(after > 0.0 if array.ndim > 1 else after >= 0.0, 0, True, axis=-1)
            case _:
                right = array == np.floor(array)
        bad = np.argwhere(~right)
        if bad.size:
            place = ", ".join(map(str, bad[0]))
            raise ValueError(f"{name}: found {array[tuple(bad[0])]} at [{place}], expected {kind} numbers")


def _check_rows(held, expected):
    """Check that something holds of every row of the data. Raises ValueError."""
    bad = np.flatnonzero(~held)
    if bad.size:
        raise ValueError(f"data: found otherwise in row {bad[0] + 1}, expected {expected}")


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
        found = f"an integer of {value.bit_length()} bits and a sign" if whole and not fits else value
        expected = f"{'an integer of 64 bits' if whole else 'a finite number'} {' and '.join(said)}".rstrip()
        raise ValueError(f"{name}: found {found}, expected {expected}")
    return value


def _check_jitted(name, function):
    """Check that a function is one that jitted code can call. Raises TypeError."""
    if not hasattr(function, "py_func"):  # which jitted functions keep
        raise TypeError(f"{name}: found {type(function).__name__}, expected a function jitted by numba.njit")


def _told_size(name, number, init, blocks):
    """Return a size: as it is given, else that which `init` tells by a block of so many entries. Raises ValueError."""
    for block in blocks if number is None and isinstance(init, dict) else ():
        if block in init:
            return np.shape(init[block])[-1]
    if number is None:
        raise ValueError(f"{name}: found no number, expected {name}=..., or init of {' or '.join(blocks)}")
    return number


def _check_total(name, length, total):
    """Check that the target's blocks together are as long as the block that they stand in. Raises ValueError."""
    if length != total:
        raise ValueError(f"{name}: found {length} coordinates by its size, expected {total}, as the blocks in it have")


def _constants(names, values):
    """Return what `prepare` computes by name, as jitted code takes it: floats and contiguous arrays."""
    return {
        name: np.ascontiguousarray(value) if np.ndim(value) else float(value)
        for name, value in zip(names, values, strict=True)
    }
