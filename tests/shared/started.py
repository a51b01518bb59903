"""Commands of a copy of the package, in forks of a process that has imported what is of others and nothing of ours."""

import importlib
import multiprocessing
import os
import runpy
import sys
from pathlib import Path

LIBRARIES = (
    "clarabel flint h5netcdf.legacyapi numba pyarrow.pandas_compat pytest rich.console rich.table"
    " ruamel.yaml scipy.linalg scipy.optimize sympy typer xarray"
)
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(LIBRARIES.split())


def started(arguments: list[str], folder: Path, environment: dict[str, str], seconds: float = 300) -> str:
    """Return what Python prints, errors too, for the arguments `-m MODULE ...` or `FILE ...` in a folder."""
    printed = folder / "printed"
    printed.write_bytes(b"")
    process = SERVER.Process(target=_become, args=(arguments, str(folder), environment, str(printed)))
    process.start()
    process.join(seconds)
    assert process.exitcode is not None, "it did not end"
    return printed.read_text(encoding="utf-8")


def _become(arguments: list[str], folder: str, environment: dict[str, str], printed: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    importlib.import_module("numba.core.config").reload_config()
    stream = os.open(printed, os.O_WRONLY | os.O_APPEND)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    sys.path.insert(0, folder)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
