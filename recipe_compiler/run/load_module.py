"""Emitted modules as Python modules: written to a folder named after their content, imported, and typed.

`users_name` is the user's name behind a name of the module.
"""

import ast
import contextlib
import hashlib
import importlib.util
import math
import os
import sys
import sysconfig
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent import futures
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import CompilerError, RunError
from recipe_compiler.program.step_stats import (
    REPORTED,
)
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.shared_functions import MODULE, share_functions
from recipe_compiler.spec.model import Code

FORMATS = (2, 3)
"""Numbers of the emission format this version can run."""


def users_name(emitted: str, declared: Collection[str]) -> str:
    """Return the declared name that an emitted module calls `emitted`.

    A name that a module cannot use as it is gets underscores at its end, never so that it becomes another declared one.
    """
    name = emitted
    while name not in declared and name.endswith("_"):
        name = name[:-1]
    if name not in declared:
        raise CompilerError(f"the emitted module takes `{emitted}`, which the build does not declare")
    return name


@dataclass(frozen=True, slots=True, eq=False)
class Emitted:
    """An emitted module, imported."""

    name: str
    digest: str
    """SHA-256 of the documents it was made of."""
    blocks: tuple[tuple[str, str | int], ...]
    """Names and sizes of the blocks in the order of the state: a symbolic size, a number, or 0 for a scalar block."""
    sizes: tuple[str, ...]
    """Symbolic sizes, in the order `prepare` takes them."""
    parameters: tuple[str, ...]
    constants: tuple[str, ...]
    data: tuple[str, ...]
    variant: str
    replacement: bool
    potential_block: str
    arguments: tuple[str, ...]
    """Names of the arguments of `run`, in order."""
    prepare: Callable[..., tuple[Any, ...]]
    run: Callable[..., int]
    seed_streams: Callable[[int, int], tuple[NDArray[np.uint64], NDArray[np.uint64]]]
    first_state: Callable[..., dict[str, Any]] | None = None
    """Returns where a chain starts, given seed, chain, and what `init` depends on."""
    contiguous: bool = False
    column_major: tuple[str, ...] = ()
    """Those of `data` that are read fastest column by column."""
    carried: tuple[tuple[str, str | int], ...] = ()
    """Names and sizes of what `run` takes and leaves beside the state: the gradient at the state, U."""
    first_arguments: tuple[str, ...] = ()
    first_values: Callable[..., None] | None = None
    """Writes what is carried on, as a chain begins with it; None where nothing is."""
    gradient: Callable[..., Any] | None = None
    code: tuple[tuple[str, str], ...] = ()
    """Those of `arguments` that are functions of the user's, with whose they are."""
    lanes_arguments: tuple[str, ...] = ()
    run_lanes: Callable[..., None] | None = None
    """Advances 64 chains side by side; None where the state is too large for it, or the chains have data."""

    full_gradient: Callable[..., Any] | None = None
    """grad U of all data, whatever the steps take."""
    prepare_full_gradient: Callable[..., tuple[Any, ...]] | None = None
    """Returns what it takes beside state, parameters and data; None where that is nothing."""
    full_potential: Callable[..., Any] | None = None
    """U of all data, likewise."""
    log_likelihood: Callable[..., Any] | None = None
    """That of every datum; None of a target without data."""
    auxiliary_energy: Callable[..., Any] | None = None
    """H - U; None where it is not known how it is computed."""
    energy_constants: tuple[str, ...] = ()
    prepare_energies: Callable[..., tuple[Any, ...]] | None = None
    """Returns `energy_constants`; None where there are none."""
    step: Callable[..., Any] | None = None
    """One step, as `run` takes it; None where a module has none of that name."""

    @property
    def permutes(self) -> bool:
        """Whether a chain keeps a permutation of the rows, from which it draws minibatches without replacement."""
        return "permutation" in self.arguments

    @property
    def reported(self) -> tuple[str, ...]:
        """The statistics of the moves of each draw that `run` writes, in its order (`program/step_stats.py`)."""
        return tuple(name for name in REPORTED if f"{name}_draws" in self.arguments)


def load_text(name: str, text: str, codes: Iterable[Code] = ()) -> Emitted:
    """Import the text of an emitted module; `codes` are the user's functions that it will be given.

    It is written to the cache folder under a name made of its content, once, so that the compiled code is kept from
    one run to the next. `NUMBA_CACHE_DIR` moves the folder. Compiled code names the modules of these functions, which
    are others for files in another place: neither finds what was compiled with the other.
    """
    return _import(*_place_of(name, text, codes))


def load_file(name: str, text: str) -> ModuleType:
    """Import the text of an emitted file, as its user would from a folder of his own."""
    path, module = _place_of(name, text)
    return _run_file(module, path)


def plain_names(text: str) -> dict[str, Any]:
    """Return what the plain Python of an emitted text defines, as its globals; what has a decorator is left out."""
    names: dict[str, Any] = {"np": np, "math": math, "os": os, "sys": sys, "threading": threading, "time": time}
    names |= {"warnings": warnings, "ThreadPoolExecutor": futures.ThreadPoolExecutor, "wait": futures.wait}
    exec(_plain_code(text), names)
    return names


@lru_cache(maxsize=2)
def _plain_code(text: str) -> CodeType:
    body, left_out = list[ast.stmt](), {"njit", "types", "typeof", "intrinsic"}
    for node in ast.parse(text).body:
        names = {
            one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(node, ast.FunctionDef)
        }
        if getattr(node, "decorator_list", ()) or not left_out.isdisjoint(names):
            left_out |= names  # constants of what numba compiles
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            body.append(node)
    return compile(ast.Module(body, []), "an emitted file", "exec")


def _keep_nothing(jitted: object) -> None:
    from numba.core.caching import NullCache

    cast("Any", jitted)._cache = NullCache()


def _place_of(name: str, text: str, codes: Iterable[Code] = ()) -> tuple[Path, str]:
    """Return the file that a text is written to, once, and the name of its module."""
    _demand_jit()
    given = "".join(map(_module_name, codes))
    digest = hashlib.sha256((MODULE + text + given).encode()).hexdigest()[:24]  # compiled code names such modules
    path = cache_folder() / digest / f"{name}.py"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    return path, f"_recipe_{name}_{digest}"


def _demand_jit() -> None:
    """Refuse to run modules that numba would leave as plain Python: integers would overflow, and steps take minutes."""
    from numba import config

    if cast("Any", config).DISABLE_JIT:
        raise RunError("found NUMBA_DISABLE_JIT set, expected numba to compile emitted modules: unset it")


def load_function(code: Code) -> Callable[..., object]:
    """Import a function of the user's, a gradient or a move, jitted if it is not yet. This runs the user's file.

    Where the file imports others of its author's, nothing is compiled that numba kept of it or of them
    (`cache=True`): whether it is stale is decided by the file of a function, not by those it imports.

    Raises RunError where the file has no such function, or cannot be run.
    """
    from numba import njit
    from numba.core.dispatcher import Dispatcher

    name = _module_name(code)
    try:
        module = _run_file(name, code.file)
    except (Exception, SystemExit) as error:
        raise RunError(f"{code.file}: cannot be run: {type(error).__name__}: {error}") from error
    function = getattr(module, code.function, None)
    if not callable(function):
        raise RunError(f"{code.file}: found no function {code.function}, expected one")
    others = [sys.modules[other] for other in own_modules(code.file) if other in sys.modules]
    for jitted in (value for one in (module, *others) if others for value in vars(one).values()):
        if isinstance(jitted, Dispatcher):
            _keep_nothing(jitted)
    return function if isinstance(function, Dispatcher) else njit(error_model="numpy")(function)


def _module_name(code: Code) -> str:
    """Return the name of the module of a user's file, which no other module has."""
    digest = hashlib.sha256(str(code.file.resolve()).encode()).hexdigest()[:12]
    return f"_code_{code.file.stem}_{digest}"


def _import(path: Path, module_name: str) -> Emitted:
    module = _run_file(module_name, path)
    takes_code = "CODE" in vars(module)  # what is kept of its callers names the user's module
    if takes_code:
        from recipe_compiler.run.kept_code import take_blas_as_there

        take_blas_as_there()
    share_functions(vars(module), None if takes_code else path.parents[1])
    return typed(module)


def _run_file(name: str, path: Path) -> ModuleType:
    """Return a file as a module of a name, by which numba finds it: kept code, and names used in `numba.objmode`."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RunError(f"{path}: found no Python file, expected one")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cache_folder() -> Path:
    """Return the folder for emitted modules that are run without being kept; it may not exist yet."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME")
    folder = Path(given) if given else (Path(home) if home else Path.home() / ".cache")
    folder = folder / "recipe_compiler"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="recipe_compiler_"))


def typed(module: ModuleType) -> Emitted:
    """Return the interface of an emitted module, read off its constants."""
    found, path = vars(module), Path(module.__file__ or "")
    if found.get("FORMAT") not in FORMATS:
        raise RunError(f"{path}: found emission format {found.get('FORMAT')}, expected one of {FORMATS}: emit it again")
    names = [(own.name, key) for own in fields(Emitted) for key in (own.name, own.name.upper()) if key in found]
    given: dict[str, Any] = {own: found[key] for own, key in names}
    given |= {"name": path.stem, "digest": found["SPEC_DIGEST"]}
    return Emitted(**given)


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
            case ast.ImportFrom(module, names, level) if package or not level:
                whole = importlib.util.resolve_name("." * level + (module or ""), package)
                stated = [f"{whole}.{name.name}" for name in names]
            case _:
                continue
        for name in stated:
            parts = name.split(".")
            yield from (".".join(parts[:k]) for k in range(1, len(parts) + 1))


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
