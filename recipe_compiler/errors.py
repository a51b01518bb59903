"""Errors a user can meet, and the one that is always ours.

Every error carries what was found, what was expected and what to do; the command line maps the class to an
exit code (`docs/spec_reference.md`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

MOST_SHOWN = 60
"""Characters of what somebody gave that a message repeats."""


def shown(given: object) -> str:
    """Return what somebody gave, as a message repeats it: the start of its `repr`, or what it is where it has none.

    Python prints no integer of more than 4300 digits, nothing that is nested too deeply, and a class of a user's own
    may raise whatever it likes.
    """
    try:
        text = repr(given)
    except Exception:
        digits = f" of {given.bit_length()} bits" if isinstance(given, int) else ", which cannot be printed"
        return f"{type(given).__name__}{digits}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the hint `did you mean ...`, or the empty string when nothing is near."""
    folded = {k.casefold(): k for k in reversed(known)}
    same = [folded[name.casefold()]] if name.casefold() in folded else []
    near = [folded[k] for k in get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)]
    longer = [k for k in known if len(name) > 2 and k.startswith(name)]
    close = same or get_close_matches(name, known, n=1, cutoff=0.6) or near or longer
    return f"did you mean `{close[0]}`?" if close else ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a document: file, line and column, both counted from 1 (0 = not known)."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return `file:line:column`, leaving out what is not known; nothing without a file."""
        if not self.file:
            return ""
        numbers = [str(n) for n in (self.line, self.column) if n]
        return ":".join([self.file, *numbers])


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a document, at its smallest guilty part."""

    where: Place
    entry: str
    """The entry of the document, as a user would name it: `D[r,r]`, `state.theta.shape`."""
    problem: str
    """`found ..., expected ...` in one sentence."""
    hint: str = ""

    def __str__(self) -> str:
        """Return the fault on one line, its hint on a second."""
        line = f"{self.where}  {self.entry}  {self.problem}".strip()
        return f"{line}\n    hint: {self.hint}" if self.hint else line


class RecipeError(Exception):
    """Root of the errors of this package."""


class DocumentError(RecipeError):
    """A document cannot be used; holds every fault found, in the order of the document."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class SpecError(DocumentError):
    """Malformed document: not the language (YAML, keys, grammar of formulas)."""


class ModelError(DocumentError):
    """Well formed but meaningless: an unknown symbol, a shape that does not fit, an unsupported function."""


def model_error(entry: str, problem: str, hint: str = "") -> ModelError:
    """Return the error of an entry, found where its place in the document is not known."""
    return ModelError([Fault(Place(""), entry, problem, hint)])


def spec_error(file: object, entry: str, problem: str, hint: str = "") -> SpecError:
    """Return the error of an entry of a file, or of an option of a command."""
    return SpecError([Fault(Place(str(file)), entry, problem, hint)])


class VerificationError(RecipeError):
    """A claim required by policy is refuted or undecided."""


class ReadBackError(VerificationError):
    """What was emitted was not shown to be what was verified, and not to differ from it."""


class CompilerError(RecipeError):
    """An invariant of the compiler itself broke: always a bug of this project, never the user's doing."""


class DataError(RecipeError):
    """Data, parameter values or initial values do not fit the build; holds every fault found."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class RunError(RecipeError):
    """A run that cannot start with the settings it was given."""
