"""Draws as an ArviZ data tree, and as a netCDF file.

The target's blocks are on their own scales, in their declared shapes, with named coordinates.
"""

import errno
import math
import os
import platform
import shutil
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain, count, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.chain import Array
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import Point, evaluate, extent
from recipe_compiler.run.forecast import Forecast
from recipe_compiler.run.numbers import finite_draws
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown, weights
from recipe_compiler.run.sizes import (
    declared_parameters,
    entries,
    found_columns,
    parameter_values,
    potential_block,
)
from recipe_compiler.run.write import written_whole
from recipe_compiler.spec.model import Build, Transform
from recipe_compiler.version import OWN, versions

Attributes = Mapping[str, str | int | float]
OVERHEAD = 1 << 20
"""Bytes of a netCDF file beside its arrays: names, attributes, HDF5's own."""


def declared_blocks(array: Array, build: Build, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Cut the potential's block into the target's blocks; what was sampled in an unbounded variable is turned back.

    Args:
        array: draws of the potential's block, chains x draws x coordinates.
        build: the build that was run.
        sizes: symbolic sizes.
    """
    transforms = {one.inner: one for one in build.target.transforms}
    found: dict[str, Array] = {}
    start = 0
    for block in build.target.declarations.blocks:
        length = entries(block.shape, sizes) or 0
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in block.shape.sizes)
        values = array[:, :, start : start + length].reshape(*array.shape[:2], *shape)
        one = transforms.get(block.name)
        if one is None:
            found[block.name] = values
        else:
            with np.errstate(over="ignore"):  # a draw that is not finite is stored as it is, and told
                found[one.block.name] = _turned_back(values, one, build, sizes)
        start += length
    return found


def _turned_back(u: Array, one: Transform, build: Build, sizes: Mapping[str, int]) -> Array:
    """Return theta = g(u) (`spec/transform.py`)."""
    if one.via == "log":
        return np.exp(u)
    declared = {parameter.name: parameter for parameter in declared_parameters(build)}
    names = tuple(p.name for p in build.target.declarations.parameters)
    at = Point(found_columns(parameter_values(build, names, sizes), declared), sizes)
    low, high = (float(evaluate(bound, at)) for bound in one.block.domain.bounds)
    return low + (high - low) / (1.0 + np.exp(-u))


def labels(
    build: Build, data: Data, sizes: Mapping[str, int], taken: Collection[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Name the coordinates of a block after the columns of the one field of the data that has its size.

    Returns the dimensions of blocks, and their labels. No dimension has the name of a variable, one of `taken`.
    """
    columns: dict[str, list[tuple[str, ...]]] = {}
    for datum, field in zip(build.target.declarations.data, data.fields, strict=True):
        for size in datum.axes[1:]:
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


if TYPE_CHECKING:
    from xarray import DataTree


def to_datatree(draws: Draws, build: Build, data: Data, digest: str, verdicts: str = "") -> "DataTree":
    """Return draws in groups as ArviZ reads them.

    `posterior` holds the target's own blocks under their names and shapes, `auxiliary` the other blocks of the
    dynamics, `warmup_posterior` the target's during warmup, `sample_stats` the flag `diverging` (during warmup:
    `warmup_sample_stats`), the `acceptance_rate` of the moves of a draw where they are accepted or refused and, where
    it falls along a chain, the `step_size` of every draw, which is its weight. Chains that ended early are filled up
    with NaN and flagged there, and so are draws that are not finite.

    Args:
        draws: what a run drew.
        build: the build that was run.
        data: its data, whose columns name the coordinates of a block of the same size.
        digest: SHA-256 of the documents.
        verdicts: what is known about the dynamics, as text.
    """
    import arviz_base

    potential = potential_block(build)
    posterior: dict[str, Array] = {}
    auxiliary: dict[str, Array] = {}
    for name, array in zip(draws.blocks, draws.arrays, strict=True):
        if name == potential:
            posterior = declared_blocks(array, build, dict(draws.sizes))
        else:
            auxiliary[name] = array
    length = draws.arrays[0].shape[1]
    past = np.arange(length)[None, :] >= np.array(draws.kept)[:, None]
    lost = (past & np.array(draws.diverging)[:, None]) | (~past & ~finite_draws(posterior.values(), past.shape))
    groups: dict[str, Mapping[str, Array | NDArray[np.bool_]]] = {
        "posterior": {name: values[:, draws.warmup :] for name, values in posterior.items()},
        "sample_stats": {"diverging": lost[:, draws.warmup :]},
    }
    step_sizes = weights(draws.settings, length)
    if step_sizes is not None:
        each = np.broadcast_to(step_sizes[draws.warmup :], lost[:, draws.warmup :].shape)
        groups["sample_stats"] = {**groups["sample_stats"], "step_size": each}
    if draws.acceptance is not None:
        groups["sample_stats"] = {**groups["sample_stats"], "acceptance_rate": draws.acceptance[:, draws.warmup :]}
    if auxiliary:
        groups["auxiliary"] = {name: values[:, draws.warmup :] for name, values in auxiliary.items()}
    if draws.warmup:
        groups["warmup_sample_stats"] = {"diverging": lost[:, : draws.warmup]}
        groups["warmup_posterior"] = {name: values[:, : draws.warmup] for name, values in posterior.items()}
    dims, coords = labels(build, data, dict(draws.sizes), posterior)
    attributes = _attributes(draws, build, digest, verdicts)
    return arviz_base.from_dict(
        groups, save_warmup=True, dims=dims, coords=coords, attrs={"/": attributes}, check_conventions=False
    )


def add_forecast(tree: "DataTree", forecast: Forecast) -> None:
    """Add what was forecast of each coordinate as the group `forecast`: mean, sd, that of the target, autocorrelation.

    Coordinates have the names of the summary, those of a block that is sampled in another variable that one's.
    """
    if not (group := forecast.group):
        return
    import xarray

    dims = {name: ("coordinate", "lag")[: values.ndim] for name, values in group.items()}
    lags = np.arange(group["autocorrelation"].shape[1])
    tree["forecast"] = xarray.DataTree(
        xarray.Dataset(
            {name: (dims[name], values) for name, values in group.items()},
            coords={"coordinate": list(forecast.names), "lag": lags},
        )
    )


def save(tree: "DataTree", path: Path) -> None:
    """Write a data tree as netCDF; the file is whole at every instant, or the old one, or not there.

    Raises OSError where it cannot be written. Room is asked for first: HDF5 cannot close a file that has none.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    wanted, free = tree.nbytes + OVERHEAD, shutil.disk_usage(path.parent).free
    if free < wanted:
        problem = f"found room for {free / 1e6:.1f} MB, expected {wanted / 1e6:.1f} MB"
        raise OSError(errno.ENOSPC, problem, str(path))
    with written_whole(path) as beside:
        tree.to_netcdf(beside, engine="h5netcdf")


def set_aside(path: Path) -> Path | None:
    """Move what an earlier run stored to a name with the time at which it was written, and return that.

    None where there is nothing to move. A link is moved itself, what it leads to stays.
    """
    if not path.exists():
        return None
    written = datetime.fromtimestamp(path.lstat().st_mtime, UTC).strftime("%Y%m%dT%H%M%S")
    more = chain([""], (f"-{k}" for k in count(2)))
    names = (f"{path.stem}-{written}{again}{path.suffix}" for again in more)
    aside = next(place for name in names if not os.path.lexists(place := path.with_name(name)))
    path.rename(aside)
    return aside


def stored(path: Path) -> "DataTree":
    """Return the data tree that `save` wrote, in memory.

    Raises:
        RunError: it cannot be read, or holds no posterior.
    """
    import xarray

    expected = "expected a file that `recipe run` wrote"
    if not path.is_file():
        raise RunError(f"{path}: found no file, {expected}")
    try:
        with xarray.open_datatree(path, engine="h5netcdf") as tree:
            found = tree.load()
    except (OSError, ValueError, KeyError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunError(f"{path}: cannot be read as draws: {why}; {expected}") from error
    if "posterior" not in found:
        raise RunError(f"{path}: found no posterior in it, {expected}")
    return found


def _attributes(draws: Draws, build: Build, digest: str, verdicts: str) -> Attributes:
    settings = {name: value for name, value in asdict(draws.settings).items() if value is not None}
    settings |= {"schedule": shown(draws.settings), "lanes": int(draws.settings.lanes)}
    return {
        "build": build.name,
        "dynamics": build.dynamics.name,
        "target": build.target.name,
        "scheme": build.scheme.name,
        "variant": build.variant,
        "spec_digest": digest,
        "verdicts": verdicts,
        "interrupted": int(draws.interrupted),
        "diverging_chains": sum(draws.diverging),
        "clipped_covariances": sum(draws.clipped),
        "draws_outside": sum(one.draws for one in draws.outside),
        "sampling_seconds": math.ceil(draws.seconds * 1000) / 1000,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{f"{package}_version": version for package, version in versions((OWN, "numpy", "numba")).items()},
        **settings,
    }
