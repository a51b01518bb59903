"""Errors of a run: data or values that do not fit, and chains that cannot start."""

from collections.abc import Iterable

from recipe_compiler.errors import RecipeError


class DataError(RecipeError):
    """Data, parameter values or initial values do not fit the build; holds every fault found."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class RunError(RecipeError):
    """A run that cannot start with the settings it was given."""
