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
        return text if (kind, own, digest) == (KIND, name, _digest(text)) else None

    def write(self, what: str, key: Iterable[str], text: str) -> None:
        """Keep an entry; a folder that cannot be written keeps none."""
        if self.folder is None:
            return
        name = named(what, key)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / name, f"{KIND}\n{name}\n{_digest(text)}\n{text}".encode())


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
