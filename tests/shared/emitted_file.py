"""Files of emitted modules, imported as their users do."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from shipped_text import shipped_text

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.load_module import Emitted, cache_folder
from recipe_compiler.run.shared_functions import share_functions
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
BUILDS = ROOT / "specs" / "builds"


def file_of(build: Build, folder: Path) -> ModuleType:
    """Return the file of a build, imported from a folder where nothing else is."""
    path = folder / f"{build.name}.py"
    path.write_text(compile_build(build, allow_undecided=True).file, encoding="utf-8")
    return imported(path)


def shipped_file(name: str, folder: Path) -> ModuleType:
    """Return the file of a shipped build, in a folder where nothing else is."""
    path = folder / f"{name}.py"
    path.write_text(shipped_text(name), encoding="utf-8")
    return imported(path)


def imported(path: Path) -> ModuleType:
    """Return a file as a module."""
    module = execute(path)
    share_functions(vars(module), None if hasattr(module, "CODE") else cache_folder())
    return module


def execute(path: Path) -> ModuleType:
    """Return a file as a module, whose functions are its own."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where the cache of compiled code looks for it
    spec.loader.exec_module(module)
    return module


def module_of(loaded: Emitted) -> ModuleType:
    """Return the module that a text was loaded as, with all its names; its compiled functions may be of another."""
    return sys.modules[loaded.seed_streams.__module__]
