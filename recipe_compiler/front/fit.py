"""What a run in Python returns: the data tree that ArviZ reads, which also says whether to believe it, and shows it."""

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from xarray import DataTree

from recipe_compiler import notebook
from recipe_compiler.errors import RunError
from recipe_compiler.plots.pictures import Pictures, pictures_of
from recipe_compiler.run.posterior_numbers import (
    SHOWN,
    PosteriorNumbers,
    posterior_numbers,
    says_constant,
    scores_said,
    shown_cells,
    speed,
)
from recipe_compiler.run.store import save, stored

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """Whether to believe a run.

    Attributes
    ----------
    trust : str
        The last line of `recipe run`: whether to believe the numbers, and by what.
    doubts : tuple of str
        Why they are not to be believed; where there are any, `recipe run` ends with 4.
    warnings : tuple of str
        Why they are rough.
    """

    trust: str
    doubts: tuple[str, ...]
    warnings: tuple[str, ...]

    def __bool__(self) -> bool:
        raise TypeError("a verdict on a run is not a boolean: check `.doubts`, which is empty if there are none")

    def __str__(self) -> str:
        return "\n".join((*self.doubts, *self.warnings, self.trust))


class Fit(DataTree):
    """The draws of a run: an `xarray.DataTree` as ArviZ reads it, with what is known of the run.

    Groups `posterior` of the chains that stand, `diverged_posterior` of others, `sample_stats`, `auxiliary`,
    `log_likelihood`, `log_prior`, `constant_data`, `warmup_...`, `scores` where the build has some, and `forecast`:
    mean, sd, sd of the target and autocorrelation of each coordinate by the step made linear at the mode, where it can
    be.
    """

    __slots__ = ()

    @classmethod
    def of(cls, tree: DataTree) -> Self:
        """Return a tree of draws, as `Model.sample` makes it or as it is read from a file, as a fit."""
        return cls(tree.dataset, children=cast("Mapping[str, Any]", tree.children))

    @classmethod
    def read(cls, file: str | PathLike[str]) -> Self:
        """Return the draws that `recipe run` or `save` wrote.

        Raises
        ------
        RunError
            The file cannot be read, or holds no run.
        """
        return cls.of(stored(Path(file)))

    @property
    def verdict(self) -> RunVerdict:
        """Whether to believe the numbers, by what, and why not."""
        if "trust" not in self.attrs:
            raise RunError("found draws without a verdict on their run, expected those of a completed run")
        doubts, warnings = (tuple(str(self.attrs.get(key, "")).splitlines()) for key in ("doubts", "warnings"))
        return RunVerdict(str(self.attrs["trust"]), doubts, warnings)

    def plot(self, *kinds: str) -> Pictures:
        """Return pictures of the run, which show themselves in a notebook; `.write(folder)` writes them as PNG.

        Parameters
        ----------
        *kinds : str
            Some of `traces`, `ranks` (flat where chains agree: Vehtari and others 2021), `forest`, `pairs`,
            `autocorrelations` and `sds`, the last two beside what was forecast, `energies`, `scores`, and `predictive`:
            data that the model would give beside those observed. By default all that there are.

        Raises
        ------
        RunError
            matplotlib is not installed; no such picture; no chain whose draws are finite to its end.
        """
        return pictures_of(self, *kinds)

    def save(self, file: str | PathLike[str]) -> Path:
        """Write the draws as netCDF, as `recipe run` does: `xarray.open_datatree(file)` reads them.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        save(self, path := Path(file))
        return path

    def __str__(self) -> str:
        """Return the summary as `recipe run` prints it: a row for each coordinate, what else is known, the verdict."""
        numbers = posterior_numbers(self)
        cells = [("", *SHOWN), *map(shown_cells, numbers.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = ["  ".join((name.ljust(widths[0]), *map(str.rjust, row, widths[1:]))) for name, *row in cells]
        return "\n".join((*table, *self._notes(numbers), str(self.verdict)))

    def _notes(self, numbers: PosteriorNumbers) -> tuple[str, ...]:
        return (
            *says_constant(numbers),
            *scores_said(self),
            *speed(numbers, float(self.attrs.get("processor_seconds", math.nan))),
        )

    def _repr_html_(self) -> str:
        numbers = posterior_numbers(self)
        of = f"{self.attrs.get('build', 'a run')}: {self['posterior'].sizes['chain']} chains"
        lines = (*self._notes(numbers), *str(self.verdict).splitlines())
        table = notebook.table(("", *SHOWN), map(shown_cells, numbers.rows))
        return notebook.card(of, table, lines, more="print(fit.verdict)")
