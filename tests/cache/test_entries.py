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


def test_an_entry_that_is_damaged_or_of_another_key_is_none(cache: Cache) -> None:
    assert cache.folder is not None
    cache.write("a", ("x", "yz"), TEXT)
    (entry,) = cache.folder.iterdir()
    whole = entry.read_bytes()
    for place in range(0, len(whole), 31):
        entry.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert cache.read("a", ("x", "yz")) is None
    entry.write_bytes(whole[: len(whole) // 2])
    assert cache.read("a", ("x", "yz")) is None
    entry.write_bytes(whole)
    assert cache.read("a", ("x", "yz")) == TEXT
    cache.write("a", ("xy", "z"), "another")
    (other,) = {*cache.folder.iterdir()} - {entry}
    other.write_bytes(whole)
    assert cache.read("a", ("xy", "z")) is None
