"""Versions: of this package, stated here and nowhere else, and of what it was run with."""

from collections.abc import Iterable

__version__ = "0.1.0"

OWN = "recipe_compiler"


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages, this one among them, by name."""
    from importlib import metadata  # takes longer to import than all that `import recipe_compiler` needs

    return {name: __version__ if name == OWN else metadata.version(name) for name in packages}
