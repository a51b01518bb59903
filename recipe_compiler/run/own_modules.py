"""What a user's Python file imports that is the user's own as well: neither installed nor of Python itself.

Found by the `import` statements of the file and of what it imports, wherever they stand, once it has been run.
"""

import ast
import contextlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_PACKAGES = ("site-packages", "dist-packages")
"""Folders that packages are installed into."""


def own_modules(file: Path) -> dict[str, Path]:
    """Return the files of all modules that a file imports, and those that they do, by name, which are not installed.

    Args:
        file: has been run, so that it has imported what it imports first, from where it imports it.
    """
    found: dict[str, Path] = {}
    left = [("", file)]
    while left:
        for name in _imported(*left.pop()):
            where = None if name in found else _file_of(name)
            if where is not None and where != file.resolve() and not _installed(where):
                found[name] = where
                package = name if where.name == "__init__.py" else name.rpartition(".")[0]
                left.append((package, where))
    return dict(sorted(found.items()))


def _imported(package: str, file: Path) -> Iterator[str]:
    """Yield the names of all modules that `import` statements of a file may mean, packages before what is in them."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # compiled, or never run
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                stated = [name.name for name in names]
            case ast.ImportFrom(module, names, level):
                whole = ".".join(filter(None, (_above(package, level), module)))
                stated = [f"{whole}.{name.name}" if whole else name.name for name in names]
            case _:
                continue
        for name in stated:
            parts = name.split(".")
            yield from (".".join(parts[:k]) for k in range(1, len(parts) + 1))


def _above(package: str, level: int | None) -> str:
    """Return the package that so many dots mean; empty for none."""
    parts = package.split(".")
    return ".".join(parts[: len(parts) - level + 1]) if level else ""


def _file_of(name: str) -> Path | None:
    """Return the file of a module; None where there is none, or `name` is none."""
    module = sys.modules.get(name)
    where = getattr(module, "__file__", None)
    if module is None and (not (above := name.rpartition(".")[0]) or hasattr(sys.modules.get(above), "__path__")):
        with contextlib.suppress(ImportError, ValueError, AttributeError):  # not there: a function, or never imported
            spec = importlib.util.find_spec(name)
            where = spec.origin if spec is not None and spec.has_location else None
    return None if where is None else Path(where).resolve()


def _installed(file: Path) -> bool:
    paths = sysconfig.get_paths()
    given = (Path(paths["stdlib"]), Path(paths["platstdlib"]), Path(__file__).parents[1])
    return any(part in _PACKAGES for part in file.parts) or any(file.is_relative_to(one.resolve()) for one in given)
