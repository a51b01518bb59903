"""What a workload is, and the rivals that can be missing."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from limits import CompilerMissingError
from racing import Contestant

from recipe_compiler.errors import RecipeError

KEYS = (
    "emitted", "c", "sequential_euler", "jax_scan", "blackjax", "natural_numba", "numba_blas", "numpy",
)  # fmt: skip
"""Who may race, in the order of the tables."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Contestants of one race; the first that is there is the one whose moments the others must have."""

    unit: str
    per_second: float
    """What seconds are multiplied with to be in `unit`."""
    contestants: tuple[Contestant, ...]
    absent: Mapping[str, str]
    """Why a contestant that was wanted is not there."""
    moment_units: int = 0
    """Length of the chains whose moments are compared; 0 where there are none."""
    extra: Callable[[], Mapping[str, float]] | None = None
    """More figures of the same process."""
    about: str = ""


@dataclass(slots=True)
class Field:
    """Contestants being collected; one that cannot start is noted with its reason."""

    contestants: list[Contestant] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, make: Callable[[], Contestant], needs: Iterable[str] = ()) -> None:
        """Add a contestant, unless a package it needs is missing or it cannot be compiled."""
        try:
            for package in needs:
                importlib.import_module(package)
            self.contestants.append(make())
        except ImportError as error:
            self.absent[key] = f"not installed: {error}; `python benchmarks/setup.py` installs it"
        except (CompilerMissingError, RecipeError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
            self.absent[key] = f"{type(error).__name__}: {error}"
