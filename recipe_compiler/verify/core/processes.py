"""Limits of child processes: one ends with its parent, at its limits, and when it sleeps.

Limits are processor time, which other programs on the machine do not use up. The wall clock decides only whether a
child works at all.
"""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

STILL = 20.0
"""Seconds of the wall clock between two looks at whether a child works."""
AWAKE = 0.01
"""The part of a processor that, where a child takes it, tells by itself that it works."""
SPARE_SECONDS = 60
"""Processor time a child may take beyond its limits before the system ends it, should nobody else."""

_PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class Watch:
    """The last guard against a child process that waits for something that never comes."""

    pid: int
    _seen: float = 0.0

    def is_asleep(self) -> bool:
        """Return whether the child waits, and computed next to nothing since the last call.

        To be called every `STILL` seconds.
        """
        now = read_processor_time(self.pid)
        before, self._seen = self._seen, now or 0.0
        return now is None or (now - before < AWAKE * STILL and not has_work(self.pid))


def has_work(pid: int) -> bool:
    """Whether a thread of a process could compute, had it a processor, or waits for a disk."""
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):  # a thread that has just ended
            if stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] in ("R", "D"):
                return True
    return False


def read_processor_time(pid: int) -> float | None:
    """Return the seconds that a process has computed; None where the system does not give them."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    user, system = said.rpartition(")")[2].split()[11:13]  # the name, in brackets, may hold anything
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def die_with_parent(parent: int) -> None:
    """Have the system end this process when `parent` ends, however it does. Elsewhere than on Linux limits end it."""
    if sys.platform != "linux":
        return
    import ctypes  # only here: most of what a child is for starts without it

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it had ended before this could be requested
        os._exit(1)


def limit_process(memory: int, seconds: float, *, file: int | None = None) -> None:
    """Bound this process where the system can.

    Args:
        memory: bytes of address space beyond what it has.
        seconds: of processor time.
        file: bytes that it may write into one file.
    """
    try:
        import resource

        now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    limits = {resource.RLIMIT_AS: now + memory, resource.RLIMIT_CPU: int(seconds) + 1, resource.RLIMIT_CORE: 0}
    for what, limit in (limits | ({} if file is None else {resource.RLIMIT_FSIZE: file})).items():
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
