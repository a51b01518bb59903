"""Reading back under a limit that holds: in a child process, by processor time, one reading after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all

READING_SECONDS = 120.0
"""Processor time that one reading may take."""
MODULE_SECONDS = 240.0
"""Processor time that all readings of a build may take together."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One part of reading a module back."""

    says: str
    """What is read, and at which sizes."""
    job: Callable[[], object]
    """Reads it; CompilerError where it differs from what was verified."""


def read_all(
    name: str, readings: Sequence[Reading], seconds: float = READING_SECONDS, total: float = MODULE_SECONDS
) -> None:
    """Run all readings of a build in a child process, one after the other.

    Args:
        name: of the build, for messages.
        readings: what to read.
        seconds: processor time of one reading.
        total: of all of them.

    Raises:
        CompilerError: the emitted text is not what was verified.
        ReadBackError: that could not be decided, within the time or at all.
    """
    jobs = [partial(_found, reading) for reading in readings]
    for reading, fault in zip(readings, run_all(Work(partial(tuple, jobs), len(jobs)), seconds, total), strict=True):
        if isinstance(fault, Unfinished):
            problem = f"{name} was not read back, so nothing is written: {reading.says}: {fault.reason}"
            raise ReadBackError(f"{problem}. Try smaller fixed sizes or a simpler formula")
        if fault:
            raise CompilerError(fault)


def _found(reading: Reading) -> str:
    """Return what is wrong, nothing where nothing is: errors do not travel between processes."""
    try:
        reading.job()
    except CompilerError as error:
        return str(error)
    return ""
