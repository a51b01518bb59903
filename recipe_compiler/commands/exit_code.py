"""The exit codes, importable where nothing else of the package is: an installation that is broken has one, too."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes (`docs/spec_reference.md`)."""

    PROVED = 0
    """Proved, or done."""
    REFUTED = 1
    """Refuted; for `compile --check`, a module differs."""
    FAULTY = 2
    """Wrong usage, a faulty document, or a file the system refused."""
    UNDECIDED = 3
    """Undecided, and that was not allowed."""
    DOUBTFUL = 4
    """A run was done and its draws are kept, and their summary is not to be believed."""
    OWN_FAULT = 70
    """A fault of the compiler."""
    INTERRUPTED = 130
    """Ctrl-C."""
    TERMINATED = 143
    """SIGTERM, in `run`: what was drawn is kept."""
