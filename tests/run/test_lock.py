"""A lock that one holds: by `flock`, or by what Windows has."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from recipe_compiler.run.checkpoint import held


def windows() -> ModuleType:
    """A module like Windows' own: one lock on a file, and a PermissionError for the second."""
    module, locked = ModuleType("msvcrt"), set[int]()

    def locking(number: int, mode: int, length: int) -> None:
        import os

        inode = os.fstat(number).st_ino
        if inode in locked:
            raise PermissionError(13, "Permission denied")
        assert (mode, length) == (2, 1)
        locked.add(inode)

    vars(module).update(LK_NBLCK=2, locking=locking)
    return module


@pytest.mark.parametrize("system", ["this", "windows"])
def test_one_holds_it(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if system == "windows":
        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", windows())
    first = held(tmp_path / "lock")
    assert first is not None
    assert held(tmp_path / "lock") is None
    first.close()
    if system == "this":
        again = held(tmp_path / "lock")
        assert again is not None
        again.close()
