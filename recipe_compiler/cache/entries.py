"""Entries of the cache: small texts under names made of all that they depend on, each with its digest.

An entry that is not there, or not as it was written, is found out again; none can be found under another's name.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from recipe_compiler.run.write import write_whole

KIND = "recipe_compiler cache 1"

MOST_BYTES = 200 * 2**20
"""What all entries may take together; beyond it those go that were asked for longest ago."""
LEFT = 0.75
"""The part of it that is left then, so that not every entry looks for room."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of entries; None: nothing is kept, nothing is found."""

    folder: Path | None = None

    def read(self, what: str, key: Iterable[str]) -> str | None:
        """Return the entry of a key, None where there is none that is whole."""
        if self.folder is None:
            return None
        name = named(what, key)
        try:
            kind, own, digest, text = (self.folder / name).read_text(encoding="utf-8").split("\n", 3)
        except (OSError, ValueError):
            return None
        with suppress(OSError):  # of another user's folder
            os.utime(self.folder / name)  # asked for now
        return text if (kind, own, digest) == (KIND, name, _digest(text)) else None

    def write(self, what: str, key: Iterable[str], text: str) -> None:
        """Keep an entry; a folder that cannot be written keeps none."""
        if self.folder is None:
            return
        name = named(what, key)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, f"{KIND}\n{name}\n{_digest(text)}\n{text}".encode())
            _prune(self.folder)


NOTHING = Cache()
"""The cache of those who want none."""


def open_cache(*, use: bool = True) -> Cache:
    """Return the cache of this user: `$XDG_CACHE_HOME/recipe_compiler`, by default in `~/.cache`."""
    if not use:
        return NOTHING
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        home = given if given.is_absolute() else Path.home() / ".cache"  # as the XDG specification has it
    except RuntimeError:  # there is no home
        return NOTHING
    return Cache(home / "recipe_compiler" / "verdicts")


def named(what: str, key: Iterable[str]) -> str:
    """Return the name of an entry: every part of its key has a part in it, and where one ends and the next begins."""
    return f"{what}-{_digest(''.join(_digest(part) for part in key))}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _prune(folder: Path) -> None:
    """Make room where entries take more than they may, and files beside them that a killed command left."""
    with os.scandir(folder) as found:
        files = sorted((state.st_mtime_ns, file.path, state.st_size) for file in found if (state := _state(file)))
    total = sum(size for _, _, size in files)
    if total <= MOST_BYTES:
        return
    for _, path, size in files:
        if total <= LEFT * MOST_BYTES:
            return
        Path(path).unlink(missing_ok=True)
        total -= size


def _state(file: os.DirEntry[str]) -> os.stat_result | None:
    """Return what is known of a file, None of what is none, or was removed by another command meanwhile."""
    with suppress(FileNotFoundError):
        return file.stat(follow_symlinks=False) if file.is_file(follow_symlinks=False) else None
    return None
