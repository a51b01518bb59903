"""Draws as an ArviZ data tree, and as a netCDF file."""

import errno
import math
import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.chain import Array
from recipe_compiler.run.coordinates import labels
from recipe_compiler.run.data import Data
from recipe_compiler.run.numbers import finite_draws
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown, weights
from recipe_compiler.run.unstack import declared_blocks
from recipe_compiler.run.write import written_whole
from recipe_compiler.spec.model import Build
from recipe_compiler.version import OWN, versions

if TYPE_CHECKING:
    from xarray import DataTree

Attributes = Mapping[str, str | int | float]


def to_datatree(draws: Draws, build: Build, data: Data, digest: str, verdicts: str = "") -> "DataTree":
    """Return draws in groups as ArviZ reads them.

    `posterior` holds the target's own blocks under their names and shapes, `auxiliary` the other blocks of the
    dynamics, `warmup_posterior` the target's during warmup, `sample_stats` the flag `diverging` (during
    warmup: `warmup_sample_stats`) and, where it falls along a chain, the `step_size` of every draw, which is its
    weight. Chains that ended early are filled up with NaN and flagged there, and so are draws that are not finite.

    Args:
        draws: what a run drew.
        build: the build that was run.
        data: its data, whose columns name the coordinates of a block of the same size.
        digest: SHA-256 of the documents.
        verdicts: what is known about the dynamics, as text.
    """
    import arviz_base

    potential = next((f.of[0] for f in build.dynamics.declarations.functions if f.role == "potential"), "")
    posterior: dict[str, Array] = {}
    auxiliary: dict[str, Array] = {}
    for name, array in zip(draws.blocks, draws.arrays, strict=True):
        if name == potential:
            posterior = declared_blocks(array, build, dict(draws.sizes))
        else:
            auxiliary[name] = array
    length = draws.arrays[0].shape[1]
    past = np.arange(length)[None, :] >= np.array(draws.kept)[:, None]
    lost = (past & np.array(draws.diverging)[:, None]) | (~past & ~finite_draws(posterior, past.shape))
    groups: dict[str, Mapping[str, Array | NDArray[np.bool_]]] = {
        "posterior": {name: values[:, draws.warmup :] for name, values in posterior.items()},
        "sample_stats": {"diverging": lost[:, draws.warmup :]},
    }
    step_sizes = weights(draws.settings, length)
    if step_sizes is not None:
        each = np.broadcast_to(step_sizes[draws.warmup :], lost[:, draws.warmup :].shape)
        groups["sample_stats"] = {**groups["sample_stats"], "step_size": each}
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


OVERHEAD = 1 << 20
"""Bytes of a netCDF file beside its arrays: names, attributes, HDF5's own."""


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


def _attributes(draws: Draws, build: Build, digest: str, verdicts: str) -> Attributes:
    settings = {name: value for name, value in asdict(draws.settings).items() if value is not None}
    settings |= {"schedule": shown(draws.settings), "lanes": int(draws.settings.lanes)}
    return {
        "build": build.name,
        "dynamics": build.dynamics.name,
        "target": build.target.name,
        "scheme": build.scheme,
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
