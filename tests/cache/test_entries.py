"""Entries stay whole, and all of them together below a size."""

import os
from pathlib import Path

import pytest

from recipe_compiler import cache as entries
from recipe_compiler.cache import Cache

TEXT = "x" * 900


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Return a cache with room for four entries, of which three are left when it is full."""
    monkeypatch.setattr(entries, "MOST_BYTES", 4500)
    return Cache(tmp_path)


def write(cache: Cache, *names: str) -> None:
    """Write entries, each a second after the one before, all of them long ago."""
    for name in names:
        cache.write(name, (), TEXT)
        assert cache.folder is not None
        (written,) = cache.folder.glob(f"{name}-*")
        os.utime(written, (0, ord(name)))


def there(cache: Cache) -> str:
    assert cache.folder is not None
    return "".join(sorted(path.name[0] for path in cache.folder.iterdir()))


def test_entries_stay_while_there_is_room(cache: Cache) -> None:
    write(cache, "a", "b", "c", "d")
    assert there(cache) == "abcd"
    assert cache.read("a", ()) == TEXT


def test_those_go_that_were_asked_for_longest_ago(cache: Cache) -> None:
    write(cache, "a", "b", "c", "d")
    cache.read("a", ())
    cache.write("e", (), TEXT)
    assert there(cache) == "ade"
    assert cache.read("b", ()) is None
    assert cache.read("a", ()) == TEXT


def test_what_a_killed_command_left_goes_too(cache: Cache, tmp_path: Path) -> None:
    left = tmp_path / ".a-0123.half"
    left.write_text(TEXT * 5)
    os.utime(left, (0, 0))
    cache.write("b", (), TEXT)
    assert there(cache) == "b"


def test_a_folder_in_the_cache_is_no_entry(cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    write(cache, "a", "b", "c", "d", "e")
    assert (tmp_path / "folder").is_dir()
    assert there(cache) == "cdef"
