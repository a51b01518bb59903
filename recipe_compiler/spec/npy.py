"""Array files: their numbers, exactly, without unpickling anything."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from recipe_compiler.formula.shapes import Shape, Sizes
from recipe_compiler.spec.files import no_file
from recipe_compiler.spec.model import Rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MANY = 250_000
"""Numbers beyond which an array is left to the run: verdicts do not know them."""


MAGIC = b"\x93NUMPY"
"""The first bytes of a .npy file."""


def mapped(file: Path) -> "NDArray[Any]":
    """Return the array of a .npy file, mapped and read-only: it takes no memory, whatever its header says.

    Raises ValueError for anything but an array, and for a file that is shorter than its own header says; OSError.
    """
    import numpy as np  # which most documents need not: it takes a tenth of a second to import

    with file.open("rb") as stream:
        start = stream.read(len(MAGIC))
    if start != MAGIC and start[:2] != b"PK":  # NumPy takes it for a pickle then, and advises to load it unsafely
        raise ValueError(f"its first bytes are {start!r}, expected {MAGIC!r} as np.save writes them")
    try:
        array: object = np.load(file, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # NumPy reads the header as a literal of Python, and passes on what that raises
        raise ValueError(f"NumPy finds no array in its {file.stat().st_size} bytes, cut off maybe: {error}") from error
    if not isinstance(array, np.ndarray):
        cast("Any", array).close()
        raise ValueError("it is an archive of arrays, expected one array")
    return cast("NDArray[Any]", array)


def npy_numbers(file: Path, shape: Shape, sizes: Sizes) -> Rows | str | None:
    """Return the numbers of a .npy file row by row, each as the exact value of the double that runs; a column as n x 1.

    None where there are too many, a text where the file holds no array of the shape. Symbolic sizes that are not fixed
    yet fit any length. Kinds are claims, decided on the numbers.
    """
    import numpy as np

    if what := no_file(file):
        return f"found {what} in place of {file.name}, expected an array file"
    try:
        array = mapped(file)
    except (OSError, ValueError, EOFError) as error:
        return f"found {file.name}, which cannot be read as an array of numbers ({str(error)[:120]})"
    problem = _misfit(array, file.name, shape, sizes)
    if problem or array.size > MANY:
        return problem or None
    doubles = np.asarray(array, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(doubles))
    if bad.size:
        at = ",".join(str(k) for k in bad[0])
        return f"found {doubles[tuple(bad[0])]} at [{at}] in {file.name}, expected finite numbers"
    columns = doubles if doubles.ndim == 2 else doubles.reshape(-1, 1)
    return tuple(tuple(Fraction(x) for x in row) for row in columns.tolist())


def _misfit(array: "np.ndarray[Any, Any]", name: str, shape: Shape, sizes: Sizes) -> str:
    """Return why an array is none of a shape; empty if it is."""
    if array.dtype.kind not in "iuf":
        return f"found {array.dtype} numbers in {name}, expected real ones"
    wanted = [sizes.get(size, size) if isinstance(size, str) else size for size in shape.sizes]
    got = array.shape
    if len(got) != len(wanted) or any(isinstance(w, int) and w != n for n, w in zip(got, wanted, strict=False)):
        return f"found an array {list(got)} in {name}, expected a {shape}"
    if wanted and wanted[0] == wanted[-1] and got[0] != got[-1]:
        return f"found an array {list(got)} in {name}, expected a {shape}"
    return "" if array.size else f"found an empty array {list(got)} in {name}, expected numbers"
