"""Texts read back as a compilation reads them: those for every size, and that of a build's own."""

from collections.abc import Mapping

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.readback.readback import equation_readings, readings, shipped_readings, sizes_to_read


def read_back(
    module: Module, derivation: Derivation, names: Mapping[str, str], pinned: Mapping[str, int] | None = None
) -> tuple[Mapping[str, int], ...]:
    """Read a text and its equation; return the sizes at which that was done."""
    given = (module, derivation, names, pinned)
    for reading in (*readings(*given), *equation_readings(*given)):
        reading.job()
    return tuple(sizes_to_read(module.program))


def check_shipped(module: Module, sizes: Mapping[str, int]) -> None:
    for reading in shipped_readings(module, sizes):
        reading.job()
