"""Three-valued verdicts, findings and reports.

None of them is a boolean: using one as such raises, because "not proved" is not "refuted".
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from recipe_compiler.errors import Place


class Verdict(StrEnum):
    """What is known about a claim."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> NoReturn:
        """Refuse: compare with `is Verdict.PROVED` instead."""
        raise TypeError("a verdict is not a boolean: compare it with Verdict.PROVED, REFUTED or UNDECIDED")


def _no_boolean(held: object) -> NoReturn:
    """Refuse to be true or false; every object is true that does not."""
    what = type(held).__name__
    raise TypeError(f"a {what} is not a boolean: compare its .verdict with Verdict.PROVED, REFUTED or UNDECIDED")


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds, by an exact certificate, under the assumptions `given`."""

    by: str
    given: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    """What someone else needs to re-check the proof, by name, as exact text: a Gram matrix, weights, a bracket."""
    remarks: tuple[str, ...] = ()
    """What the claim does not say and its reader has to know."""
    verdict: Verdict = field(default=Verdict.PROVED, init=False)
    __bool__ = _no_boolean


@dataclass(frozen=True, slots=True)
class Refuted:
    """The claim fails at `witness`: names with exact values (as text) at which a reader can check it by hand."""

    by: str
    witness: tuple[tuple[str, str], ...]
    residual: str = ""
    """What does not vanish there, as a formula."""
    given: tuple[str, ...] = ()
    verdict: Verdict = field(default=Verdict.REFUTED, init=False)
    __bool__ = _no_boolean


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither proved nor refuted; `tried` says what was tried and how it ended."""

    tried: tuple[str, ...]
    residual: str = ""
    given: tuple[str, ...] = ()
    by_limit: bool = False
    """Whether its process did not get to an end: on another machine it might."""
    verdict: Verdict = field(default=Verdict.UNDECIDED, init=False)
    __bool__ = _no_boolean


Decision = Proved | Refuted | Undecided


class Topic(StrEnum):
    """What an explanation is about."""

    CURL = "curl"
    """A skew Q that represents a claimed drift."""
    DERIVED = "derived"
    """What follows from D, Q and H where something else is claimed."""
    REPAIR = "repair"
    """A change after which the claim holds."""
    NO_REPAIR = "no repair"
    """Why no such change is shown."""
    SAMPLES = "samples"
    """The density that a wrong sampler leaves stationary instead."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is said beside the verdicts, itself shown before it is said."""

    topic: Topic
    says: str
    """In words: `add the friction -V @ inv(M) @ r / 2 to the drift of r`."""
    formulas: tuple[tuple[str, str], ...] = ()
    """Entry of the document (`claims.drift.r`, `Q[theta,r]`, `H`) to its formula, in the language of formulas."""
    by: str = ""
    """How it was found and shown."""
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What decides a claim returns: which claim it is, and what it counts for, the table of claims says."""

    decision: Decision
    for_d: str | tuple[tuple[str, int], ...] = "all"
    """`"all"`, or the fixed sizes that it is about."""
    checked_at: tuple[tuple[tuple[str, int], ...], ...] = ()
    """Sizes at which the second engine agreed."""
    where: Place | None = None
    """The guilty place, or the one that the claim is about."""
    excused: bool = False
    """Whether this document need not show what others must: that an abstract exp(-U) has an integral, say."""
    __bool__ = _no_boolean

    @property
    def verdict(self) -> Verdict:
        """The three-valued verdict of the decision."""
        return self.decision.verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and its decision, as reports show it: an answer with its row of the table of claims."""

    id: str
    """The claim's name in reports: `d_symmetric`, `q_skew`, `d_psd`, `stationary`, `claimed_drift`, ..."""
    says: str
    """The claim in words: `Q is skew`."""
    required: bool
    decision: Decision
    for_d: str | tuple[tuple[str, int], ...] = "all"
    """`"all"`, or the fixed sizes the verdict is about."""
    checked_at: tuple[tuple[tuple[str, int], ...], ...] = ()
    """Sizes at which the second engine agreed."""
    where: Place | None = None
    seconds: float = field(default=0.0, compare=False)
    __bool__ = _no_boolean

    @property
    def verdict(self) -> Verdict:
        """The three-valued verdict of the decision."""
        return self.decision.verdict


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about one document."""

    name: str
    file: str
    digest: str
    findings: tuple[Finding, ...]
    caveats: tuple[str, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    __bool__ = _no_boolean

    @property
    def verdict(self) -> Verdict:
        """Refuted if a deciding claim is; else undecided if a required one is; else proved."""
        deciding = [finding.verdict for finding in self.findings if finding.required]
        for verdict in (Verdict.REFUTED, Verdict.UNDECIDED):
            if verdict in deciding:
                return verdict
        return Verdict.PROVED
