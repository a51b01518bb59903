"""Names of coordinates: those of the summary and of the file, and of the variables that are sampled."""

from collections.abc import Collection, Mapping
from itertools import product

from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import extent
from recipe_compiler.spec.model import Build


def labels(
    build: Build, data: Data, sizes: Mapping[str, int], taken: Collection[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Name the coordinates of a block after the columns of the one field of the data that has its size.

    Returns the dimensions of blocks, and their labels. No dimension has the name of a variable, one of `taken`.
    """
    columns: dict[str, list[tuple[str, ...]]] = {}
    for datum, field in zip(build.target.declarations.data, data.fields, strict=True):
        for size in datum.shape.sizes:
            if isinstance(size, str):
                columns.setdefault(size, []).append(field.columns)
    found = {
        size: list(names[0]) for size, names in columns.items()
        if len(names) == 1 and len(set(names[0])) == sizes[size] and size not in taken
    }  # fmt: skip
    dims = {
        block.name: [str(size) for size in block.shape.sizes]
        for block in (build.target.declared or build.target).declarations.blocks
        if block.shape.sizes and all(size in found for size in block.shape.sizes)
        and len(set(block.shape.sizes)) == len(block.shape.sizes)
    }  # fmt: skip
    used = {size for names in dims.values() for size in names}
    return dims, {size: names for size, names in found.items() if size in used}


def sampled_names(build: Build, data: Data, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Return the names of the coordinates of the potential's block, as the summary has them: `theta[age]`, `W[0, 1]`.

    A block that is sampled in another variable has that one's name: `log_tau`.
    """
    declared = (build.target.declared or build.target).declarations.blocks
    dims, named = labels(build, data, sizes, [block.name for block in declared])
    names: list[str] = []
    for block, own in zip(build.target.declarations.blocks, declared, strict=True):
        of = dims.get(own.name)
        places = [
            named[of[k]] if of is not None else [str(place) for place in range(extent(size, sizes))]
            for k, size in enumerate(block.shape.sizes)
        ]
        names += [f"{block.name}[{', '.join(place)}]" if place else block.name for place in product(*places)]
    return tuple(names)
