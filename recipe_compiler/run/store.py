"""Draws as an ArviZ data tree, with named coordinates, and as a netCDF file."""

import math
import os
import platform
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain, count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import DomainName, Sizes
from recipe_compiler.program.step_stats import ACCEPTANCE, TRIED
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.data import Data
from recipe_compiler.run.energies import LARGEST, DrawEnergies, declared_blocks, derived_draws, derived_formulas
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.posterior_numbers import BOUNDED, CONSTRAINT, DERIVED, finite_draws, standing
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown, weights
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.constraint import constrained, sampled_blocks
from recipe_compiler.spec.discrete import discrete_blocks, is_counts
from recipe_compiler.spec.model import Build
from recipe_compiler.version import OWN, versions

Attributes = Mapping[str, str | int | float]
ACCEPTANCE_RATE = "acceptance_rate"
BETWEEN_NUMBERS = (DomainName.INTERVAL, DomainName.CIRCLE, DomainName.SIMPLEX)


def labels(
    build: Build, data: Data, sizes: Sizes, taken: Collection[str]
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
        for block in build.target.as_declared.declarations.blocks
        if block.shape.sizes and all(size in found for size in block.shape.sizes)
        and len(set(block.shape.sizes)) == len(block.shape.sizes)
    }  # fmt: skip
    used = {size for names in dims.values() for size in names}
    return dims, {size: names for size, names in found.items() if size in used}


def sampled_names(build: Build, data: Data, sizes: Sizes) -> tuple[str, ...]:
    """Return the names of the coordinates of the potential's block, as the summary has them: `theta[age]`, `W[0, 1]`.

    A block that is sampled in another variable has that one's name: `log_tau`.
    """
    declared = build.target.as_declared.declarations.blocks
    dims, named = labels(build, data, sizes, [block.name for block in declared])
    names: list[str] = []
    for block, own in zip(sampled_blocks(build.target), declared, strict=True):
        of = dims.get(own.name) if block.shape == own.shape else None
        places = [
            named[of[k]] if of is not None else [str(place) for place in range(extent(size, sizes))]
            for k, size in enumerate(block.shape.sizes)
        ]
        names += [f"{block.name}[{', '.join(place)}]" if place else block.name for place in product(*places)]
    return tuple(names)


if TYPE_CHECKING:
    from xarray import Dataset, DataTree

Arrays = Mapping[str, Any]
"""Arrays by the names of variables."""


def to_datatree(
    draws: Draws, build: Build, data: Data, digest: str, verdicts: str = "", known: DrawEnergies | None = None
) -> "DataTree":
    """Return draws in groups as ArviZ reads them.

    `posterior` holds the target's own blocks under their names and shapes and what is derived of them, `auxiliary` the
    other blocks of the dynamics, `log_likelihood` that of every datum, `log_prior` that of the blocks: each of the
    chains that stand, all of whose draws are finite, under their own numbers. Where none does they hold the draws of
    each before the first was lost. A chain that does not stand has its draws in `diverged_posterior`, NaN from its end
    on.

    `sample_stats` is of all chains: `diverging` is true where a draw is not finite, and where there is none as the
    chain has left the finite numbers; `step_size`, which is the weight of a draw where it falls along a chain;
    `acceptance_rate` of the moves of a draw where they are accepted or refused, `acceptance_rate_1` and so on of each
    kind of them where there are several, `unsolved` and `irreversible` how many
    of them guards refused where their steps are solved for, `tried` how many there were, of a word that is not done in
    each cycle, `involution_acceptance` the mean probability that involutions were accepted with, `involutions_tried`
    how many there were, where not all are done in each cycle, `too_few` how many draws by slices had a level below what
    no place holds; `lp`, `energy` and `temperature` (`run/energies.py`).
    `warmup_posterior` and `warmup_sample_stats` are of all chains during warmup, `constant_data` are the data.

    Args:
        draws: what a run drew.
        build: the build that was run.
        data: its data, whose columns name the coordinates of a block of the same size.
        digest: SHA-256 of the documents.
        verdicts: what is known about the dynamics, as text.
        known: what the target and H say of the draws after warmup.
    """
    from xarray import DataTree

    known = known or DrawEnergies()
    potential, begin, every = potential_block(build), draws.warmup, range(len(draws.kept))
    posterior: dict[str, Array] = {}
    auxiliary: dict[str, Array] = {}
    for name, array in zip(draws.blocks, draws.arrays, strict=True):
        if name == potential:
            posterior = declared_blocks(array, build, dict(draws.sizes))
        else:
            auxiliary[name] = array
    derived = derived_draws(build, _after(posterior, begin), dict(draws.sizes))
    length = draws.arrays[0].shape[1]
    finite = finite_draws(posterior.values(), (len(every), length))
    past = np.arange(length)[None, :] >= np.array(draws.kept)[:, None]
    lost = (past & np.array(draws.diverging)[:, None]) | (~past & ~finite)
    over = standing(finite[:, begin:], draws)
    kept = {
        "posterior": _after(posterior, begin) | derived,
        "auxiliary": _after(auxiliary, begin),
        "log_likelihood": {_of_likelihood(build): known.log_likelihood},
        "log_prior": {"log_prior": known.log_prior},
    }
    grouped = _Grouped.of(build, data, dict(draws.sizes), posterior | derived)
    fallen = [chain for chain in every if not over.whole or chain not in over.chains]
    groups = grouped.of_chains(kept, over.chains or every, over.length or None)
    groups |= grouped.of_chains({"diverged_posterior": kept["posterior"]}, fallen) if fallen else {}
    groups |= grouped.of_chains({"sample_stats": _sample_stats(draws, known, lost)}, every)
    if begin:
        warmup = {name: values[:, :begin] for name, values in posterior.items()}
        ahead = {"warmup_posterior": warmup, "warmup_sample_stats": {"diverging": lost[:, :begin]}}
        groups |= grouped.of_chains(ahead, every)
    groups |= grouped.of_data(data)
    tree = DataTree.from_dict(groups)
    tree.attrs.update(_attributes(draws, build, digest, verdicts))
    for block in constrained(build.target):
        tree["posterior"][block.name].attrs[CONSTRAINT] = str(block.constraint)
    for block in (*build.target.declarations.blocks, *(one.block for one in build.target.transforms)):
        if block.domain.name in BETWEEN_NUMBERS:
            tree["posterior"][block.name].attrs[BOUNDED] = 1
    for name in derived:
        tree["posterior"][name].attrs[DERIVED] = 1
    for block in discrete_blocks(build.target.declarations):
        _as_integers(tree, block.name, np.int64 if is_counts(block) else np.int8)
    return tree


def _as_integers(tree: "DataTree", name: str, dtype: DTypeLike) -> None:
    """Store draws of a discrete block as the integers that they are; where a draw is not finite it stays a double."""
    for group in ("posterior", "warmup_posterior"):
        array = cast("Any", tree[group])[name] if group in tree.children else None
        if array is not None and np.isfinite(array.to_numpy()).all():
            cast("Any", tree[group])[name] = array.astype(dtype)


def _after(arrays: Arrays, begin: int) -> dict[str, Any]:
    return {name: values[:, begin:] for name, values in arrays.items()}


def _of_likelihood(build: Build) -> str:
    """Return the name of the log likelihood's variable: that of the one field that it is a density of, for ArviZ."""
    stated = build.target.stated.densities
    fields = {one.of for one in stated if one.entry == "log_likelihood"} - {""}
    return fields.pop() if len(fields) == 1 else "log_likelihood"


def _sample_stats(draws: Draws, known: DrawEnergies, lost: NDArray[np.bool_]) -> Arrays:
    """Return what is known of every draw after warmup besides the state."""
    diverging = lost[:, draws.warmup :]
    found: dict[str, Any] = {"diverging": diverging}
    step_sizes = weights(draws.settings, lost.shape[1])
    each = draws.settings.eps if step_sizes is None else step_sizes[draws.warmup :]
    found["step_size"] = np.broadcast_to(each, diverging.shape)
    stated = {"lp": known.lp, "energy": known.energy, "temperature": known.temperature}
    for name, counts in draws.stats.items():
        own = name.replace(ACCEPTANCE, ACCEPTANCE_RATE) if name.startswith(ACCEPTANCE) else name
        if not name.startswith(f"{TRIED}_"):
            stated[own] = counts[:, draws.warmup :]
    return found | stated


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Arrays as data sets of xarray, with names of their axes."""

    dims: Mapping[str, list[str]]
    coords: Mapping[str, list[str]]

    @classmethod
    def of(cls, build: Build, data: Data, sizes: Sizes, posterior: Arrays) -> Self:
        """Return the names of axes: those of blocks, of the fields of the data, and of the log likelihood."""
        dims, coords = labels(build, data, sizes, posterior)
        for name, formula in derived_formulas(build).items():
            axes = formula.shape.sizes
            if axes and len(set(axes)) == len(axes) and all(size in coords for size in axes):
                dims[name] = [str(size) for size in axes]
        for datum, field in zip(build.target.declarations.data, data.fields, strict=True):
            axes = (datum.size, *datum.shape.sizes)[: field.values.ndim]  # an index field has no axis of its positions
            if len({*map(str, axes)} - {*posterior}) == len(axes) and not any(isinstance(axis, int) for axis in axes):
                dims[datum.name] = [str(axis) for axis in axes]
                dims["log_likelihood"] = dims[datum.name][:1]
        return cls(dims, coords)

    def of_chains(
        self, groups: Mapping[str, Arrays], chains: Iterable[int], length: int | None = None
    ) -> dict[str, "Dataset"]:
        """Return groups of arrays `[chain, draw, ...]` cut to some chains, and to their first draws."""
        import arviz_base

        places = list(chains)
        there = {group: {n: v for n, v in own.items() if v is not None} for group, own in groups.items()}
        cut = {group: {n: v[places, :length] for n, v in own.items()} for group, own in there.items() if own}
        coords = {**self.coords, "chain": places}
        tree = arviz_base.from_dict(cut, save_warmup=True, dims=self.dims, coords=coords, check_conventions=False)
        return {group: tree[group].to_dataset() for group in cut}

    def of_data(self, data: Data) -> dict[str, "Dataset"]:
        """Return the fields of the data; nothing of those that are large."""
        import arviz_base

        small = {field.name: np.asarray(field.values) for field in data.fields if field.values.nbytes <= LARGEST}
        if not small:
            return {}
        tree = arviz_base.from_dict({"constant_data": small}, dims=self.dims, coords=self.coords)
        return {"constant_data": tree["constant_data"].to_dataset()}


def save(tree: "DataTree", path: Path) -> None:
    """Write a data tree as netCDF; the file is whole at every instant, or the old one, or not there.

    Raises OSError where it cannot be written. It is made in memory: HDF5 ends the process where a disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, tree.to_netcdf(engine="h5netcdf"))


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
    if not os.path.isfile(path):
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
        "processor_seconds": draws.processor_seconds,
        "sampling_seconds": math.ceil(draws.seconds * 1000) / 1000,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{f"{package}_version": version for package, version in versions((OWN, "numpy", "numba")).items()},
        **settings,
    }
