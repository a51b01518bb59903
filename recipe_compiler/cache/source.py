"""What verdicts depend on besides their document: this compiler, to the byte, and the libraries it decides with."""

import platform
from functools import cache
from hashlib import sha256
from pathlib import Path

from recipe_compiler.version import versions

LIBRARIES = ("sympy", "python-flint", "numpy", "scipy", "clarabel", "z3-solver", "numba")


LARGEST = 2**24
"""Bytes of a file that is read to tell whether it has changed."""


@cache
def compiler() -> str:
    """Return a text that is another one for every other compiler, library or Python."""
    package = Path(__file__).parents[1]
    found = sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        found.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode())
        found.update(content)
    named = [f"{name} {version}" for name, version in versions(LIBRARIES).items()]
    return "\n".join((found.hexdigest(), platform.python_version(), platform.machine(), *named))


def content(path: Path) -> str:
    """Return a text that is another one once a file has changed: of large ones by size and time, else by content."""
    try:
        state = path.stat()
        if state.st_size > LARGEST:
            return f"{path} {state.st_size} {state.st_mtime_ns}"
        return f"{path} {sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        return f"{path} {type(error).__name__}"
