"""Array files, looked at without unpickling anything and without reading more than their header and numbers."""

from collections.abc import Mapping
from pathlib import Path

from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.files import no_file


def npy_problem(file: Path, shape: Shape, sizes: Mapping[str, int]) -> str | None:
    """Return why a .npy file holds no array of a shape, None if it does.

    Symbolic sizes that are not fixed yet fit any length. The kind is checked when the numbers are read for a run.
    """
    import numpy as np  # which most documents need not: it takes a tenth of a second to import

    if what := no_file(file):
        return f"found {what} in place of {file.name}, expected an array file"
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        return f"found {file.name}, which cannot be read as an array of numbers ({str(error)[:100]})"
    if not isinstance(array, np.ndarray):
        array.close()
        return f"found an archive of arrays in {file.name}, expected one array"
    if array.dtype.kind not in "iuf":
        return f"found {array.dtype} numbers in {file.name}, expected real ones"
    wanted = [sizes.get(size, size) if isinstance(size, str) else size for size in shape.sizes]
    got = array.shape
    if len(got) != len(wanted) or any(isinstance(w, int) and w != n for n, w in zip(got, wanted, strict=False)):
        return f"found an array {list(got)} in {file.name}, expected a {shape}"
    if wanted and wanted[0] == wanted[-1] and got[0] != got[-1]:
        return f"found an array {list(got)} in {file.name}, expected a {shape}"
    return None
