"""Memory of a worker in pages of 2 MiB: a fork of it, which decides a document, copies 500 times fewer entries.

A worker grows to a GB, and forks thousands of times; to copy and to free the table of its pages took most of what a
small decision takes. Only where Linux does it (6.1 and later); elsewhere nothing is done.
"""

import ctypes
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SIZE = 2**21
GROWN = 2**26
"""Bytes by which a process grows until it is looked at again."""
_COLLAPSE = 25
"""MADV_COLLAPSE: put a range of memory into large pages now."""


@dataclass(slots=True)
class LargePages:
    """What a process had when it was last put into large pages."""

    resident: int = 0

    def follow(self) -> None:
        """Put what the process has into large pages, once it has grown by `GROWN`."""
        if sys.platform != "linux" or (now := _resident()) < self.resident + GROWN:
            return
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for at in _ranges():
            madvise(at, SIZE, _COLLAPSE)  # what the system refuses stays as it is
        self.resident = max(now, _resident())


def _ranges() -> Iterator[int]:
    """Yield where each aligned range of writable private memory begins."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        where, allowed, _, _, inode, *name = line.split(maxsplit=5)
        if allowed == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            first, end = (int(one, 16) for one in where.split("-"))
            yield from range(-(-first // SIZE) * SIZE, end - SIZE + 1, SIZE)


def _resident() -> int:
    """Return the bytes of memory that this process takes."""
    with open("/proc/self/statm", "rb", buffering=0) as said:
        return int(said.read().split()[1]) * resource.getpagesize()
