"""Three-valued verdicts, findings and reports.

None of them is a boolean: using one as such raises, because "not proved" is not "refuted".
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import prod
from typing import NoReturn, Self

from recipe_compiler import notebook
from recipe_compiler.errors import Place

Sizes = tuple[tuple[str, int], ...]

Evidence = tuple[tuple[str, str], ...]
"""Names with exact values as text: a witness, or what someone needs to check a proof again."""


AT_VALUES = ", at the values of the build"
"""How a proof says that it is about these alone."""


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


class Assumes(StrEnum):
    """What an assumption is about, where something may decide it: a build, or another claim."""

    DECLARED = "declared"
    """A kind of a name, or the domain of a block."""
    SMOOTH = "smooth"
    """A function has all derivatives."""
    INTEGRAL = "integral"
    """exp(-U) of an abstract energy U has a finite integral."""
    POWERS = "powers"
    """A function and all its derivatives grow at most like powers."""
    GROWTH = "growth"
    """How an abstract function grows, so that solutions stay finite."""


class Assumption(str):
    """What a proof takes for granted: its text, with what it is about and the name that it says this of.

    `given` holds texts; those that are assumptions are met by `report/premises.py`, which drops what is decided.
    """

    __slots__ = ("kind", "subject")
    kind: Assumes
    subject: str

    def __new__(cls, text: str, kind: Assumes = Assumes.DECLARED, subject: str = "") -> Self:
        """Return a text with its kind and subject."""
        made = super().__new__(cls, text)
        made.kind, made.subject = kind, subject
        return made


def declared_of(name: str, says: str) -> Assumption:
    """Return the assumption that a declaration makes of a name: `c is positive`, `x > 0 inside its domain`.

    That of a function at other blocks, `f(y)`, is what is declared of it.
    """
    declared = name.partition("(")[0]
    return Assumption(f"{declared} {says}", Assumes.DECLARED, declared)


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds, by an exact certificate, under the assumptions `given`."""

    by: str
    given: tuple[str, ...] = ()
    data: Evidence = ()
    """What someone else needs to re-check the proof, by name, as exact text: a Gram matrix, weights, a bracket."""
    remarks: tuple[str, ...] = ()
    """What the claim does not say and its reader has to know."""
    verdict: Verdict = field(default=Verdict.PROVED, init=False)
    __bool__ = _no_boolean


@dataclass(frozen=True, slots=True)
class Refuted:
    """The claim fails at `witness`: names with exact values (as text) at which a reader can check it by hand."""

    by: str
    witness: Evidence
    residual: str = ""
    """What does not vanish there, as a formula."""
    given: tuple[str, ...] = ()
    verdict: Verdict = field(default=Verdict.REFUTED, init=False)
    __bool__ = _no_boolean


OWN_FAULT = "an internal error of recipe_compiler, not of the document"
"""How a reason begins that tells of an exception which nothing here raises on purpose: nothing was tried to its end."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither proved nor refuted; `tried` says what was tried and how it ended."""

    tried: tuple[str, ...]
    residual: str = ""
    given: tuple[str, ...] = ()
    by_limit: bool = False
    """Whether its process did not get to an end: on another machine it might."""
    holds_at: tuple[Sizes, ...] = ()
    """The fixed sizes at which the claim is shown, where nothing but other sizes is open."""
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
    STEP = "step"
    """What a step of this size samples where U is quadratic."""


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

    @property
    def lines(self) -> tuple[str, ...]:
        """What is said, then each formula as a document would hold it."""
        by = f" ({self.by})" if self.by else ""
        head = f"{_TOPICS[self.topic]}: {self.says}{by}"
        return (head, *(f"    {entry}: {formula}" for entry, formula in self.formulas))


_TOPICS = {
    Topic.CURL: "Q", Topic.DERIVED: "derived", Topic.REPAIR: "repair", Topic.NO_REPAIR: "no repair",
    Topic.SAMPLES: "samples instead", Topic.STEP: "step",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What decides a claim returns: which claim it is, and what it counts for, the table of claims says."""

    decision: Decision
    for_d: str | Sizes = "all"
    """`"all"`, or the fixed sizes that it is about."""
    checked_at: tuple[Sizes, ...] = ()
    """Sizes at which the second engine agreed."""
    where: Place | None = None
    """The guilty place, or the one that the claim is about."""
    waived: bool = False
    """Whether this document need not show what others must: that an abstract exp(-U) has an integral, say."""
    __bool__ = _no_boolean

    @property
    def verdict(self) -> Verdict:
        """The three-valued verdict of the decision."""
        return self.decision.verdict

    def but(self, **changes: object) -> "Answer":
        """Return the answer with other values of some fields of its decision."""
        return replace(self, decision=replace(self.decision, **changes))

    def given_also(self, facts: Iterable[str]) -> "Answer":
        """Return the answer with more assumptions that its decision rests on, all in order."""
        more = {*facts}
        return self.but(given=tuple(sorted({*self.decision.given, *more}))) if more else self


def undecided(*tried: str, given: tuple[str, ...] = (), where: Place | None = None) -> Answer:
    """Return the answer that a claim is neither proved nor refuted, with what was tried."""
    return Answer(Undecided(tried, given=given), where=where)


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and its decision, as reports show it: an answer with its row of the table of claims."""

    id: str
    """The claim's name in reports: `d_symmetric`, `q_skew`, `d_psd`, `stationary`, `claimed_drift`, ..."""
    says: str
    """The claim in words: `Q is skew`."""
    required: bool
    decision: Decision
    for_d: str | Sizes = "all"
    """`"all"`, or the fixed sizes the verdict is about."""
    checked_at: tuple[Sizes, ...] = ()
    """Sizes at which the second engine agreed."""
    where: Place | None = None
    seconds: float = field(default=0.0, compare=False)
    __bool__ = _no_boolean

    def __repr__(self) -> str:
        return f"<Finding {self.id}: {self.verdict.value}>"

    @property
    def verdict(self) -> Verdict:
        """The three-valued verdict of the decision."""
        return self.decision.verdict

    @property
    def claim(self) -> str:
        """The claim in words, and whether it decides nothing."""
        return self.says if self.required else f"{self.says} (advisory)"

    @property
    def how(self) -> str:
        """By what it was decided, and for which sizes, where not for all."""
        how = "see below" if isinstance(self.decision, Undecided) else self.decision.by
        return f"{how} (for {_sizes((self.for_d,))})" if isinstance(self.for_d, tuple) else how

    @property
    def where_checked(self) -> str:
        """The sizes at which the second engine agreed: `d = 1, 2, 3`."""
        return _sizes(self.checked_at)

    @property
    def evidence(self) -> tuple[str, ...]:
        """The lines by which a reader can check what is not proved."""
        if isinstance(self.decision, Proved):
            return ()
        found = [f"{f'{self.where}  ' if self.where else ''}{self.verdict.value}: {self.says}"]
        if isinstance(self.decision, Undecided):
            found += [f"    {'' if is_own_fault(what) else 'tried: '}{what}" for what in self.decision.tried]
        elif self.decision.witness:
            found.append(f"    at: {', '.join(f'{name} = {value}' for name, value in self.decision.witness)}")
        return (*found, *([f"    residual: {self.decision.residual}"] if self.decision.residual else []))


OFTEN = 3
"""Reasons that as many claims have are given once."""


def is_own_fault(reason: str) -> bool:
    """Whether a reason tells of a fault of the program."""
    return OWN_FAULT in reason


def _sizes(every: tuple[Sizes, ...]) -> str:
    """Return sizes as `d = 1, 2, 3; k = 1, 2, 3` where they are all combinations, else one by one."""
    names = [name for name, _ in every[0]] if every else []
    values = {name: sorted({dict(sizes)[name] for sizes in every}) for name in names}
    if prod(len(numbers) for numbers in values.values()) == len(every):
        return "; ".join(f"{name} = {', '.join(map(str, numbers))}" for name, numbers in values.items())
    return "; ".join(" ".join(f"{name} = {number}" for name, number in sizes) for sizes in every)


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

    @property
    def conclusion(self) -> str:
        """The verdict in a word, or the sizes at which all that is undecided holds."""
        open_ = [f.decision for f in self.findings if f.required and isinstance(f.decision, Undecided)]
        common = [at for at in open_[0].holds_at if all(at in d.holds_at for d in open_)] if open_ else []
        if self.verdict is not Verdict.UNDECIDED or not common:
            return self.verdict.value
        return f"holds at {_sizes(tuple(common))}; fix the size{'s' if len(common[0]) > 1 else ''} for a proof"

    @property
    def heading(self) -> str:
        """Where the document stands, its name and its verdict."""
        return f"{self.file}  {self.name}: {self.conclusion}"

    @property
    def lines(self) -> Iterator[str]:
        """What stands below the table of verdicts: assumptions, evidence, remarks, explanations, what was not asked."""
        given = dict.fromkeys(assumption for finding in self.findings for assumption in finding.decision.given)
        if given:
            yield f"given: {'; '.join(given)}"
        lines = [(line, finding) for finding in self.findings for line in finding.evidence]
        count = Counter(line for line, _ in lines if line.startswith("    tried: "))
        first = {line: finding.says for line, finding in reversed(lines) if count[line] >= OFTEN}
        for line, finding in lines:
            yield line if first.get(line, finding.says) == finding.says else f"    tried: same as for `{first[line]}`"
        for finding in self.findings:
            remarks = finding.decision.remarks if isinstance(finding.decision, Proved) else ()
            yield from (f"note: {finding.id}: {remark}" for remark in remarks)
        for explanation in self.explanations:
            yield from explanation.lines
        yield from (f"not checked: {caveat}" for caveat in self.caveats)

    def __repr__(self) -> str:
        count = Counter(finding.verdict.value for finding in self.findings)
        return f"<Report on {self.name}: {self.conclusion}; {', '.join(f'{n} {v}' for v, n in count.items())}>"

    def __str__(self) -> str:
        claims = [(finding.claim, finding.verdict.value, finding.how) for finding in self.findings]
        width = max((len(claim) for claim, _, _ in claims), default=0)
        rows = [f"{claim:<{width}}  {verdict:<9}  {how}" for claim, verdict, how in claims]
        return "\n".join([self.heading, *(f"  {line}" for line in (*rows, *self.lines))])

    def _repr_html_(self) -> str:
        rows = [(finding.claim, finding.verdict.value, finding.how) for finding in self.findings]
        table = notebook.table(("claim", "verdict", "how"), rows)
        return notebook.card(self.heading, table, self.lines, "print(report) shows all")
