"""How a command ends, as other programs see it."""

from enum import IntEnum

from recipe_compiler.verdict import Verdict


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


def worst(codes: list[ExitCode]) -> ExitCode:
    """Return the exit code of several documents: the first of 2, 1, 3 that occurs."""
    order = (ExitCode.FAULTY, ExitCode.REFUTED, ExitCode.UNDECIDED)
    return next((code for code in order if code in codes), ExitCode.PROVED)


def of_verdict(verdict: Verdict, *, allow_undecided: bool) -> ExitCode:
    """Return the exit code of one verdict."""
    match verdict:
        case Verdict.PROVED:
            return ExitCode.PROVED
        case Verdict.REFUTED:
            return ExitCode.REFUTED
        case Verdict.UNDECIDED:
            return ExitCode.PROVED if allow_undecided else ExitCode.UNDECIDED
