"""What was decided and read back in this run of the tests, once, whichever worker asks first."""

import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from recipe_compiler import pipeline
from recipe_compiler.cache import NOTHING, Cache, check_once, content, from_text, to_text
from recipe_compiler.report import check as module
from recipe_compiler.report import in_builds
from recipe_compiler.report.as_json import make_certificate
from recipe_compiler.report.check import check
from recipe_compiler.report.premises import apply_premises
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Document
from recipe_compiler.spec.places import digest
from recipe_compiler.verdict import Answer, Finding, Proved, Report, Undecided, is_own_fault
from recipe_compiler.verify.claims import Claim
from recipe_compiler.verify.core.time_limit import _explain_error

FOLDER = "RECIPE_COMPILER_TESTS"
"""The environment variable that names the folder of this run, made by the first process of it."""
ELSEWHERE = "/elsewhere"
"""Stands for the folder of a document: tests write the same one to many."""
SHIPPED = Path(__file__).parents[2] / "specs" / "builds"
PLENTY = 20.0
"""Seconds of processor time a claim may take: what tests find must not depend on the machine."""


def demand_no_fault(report: Report) -> None:
    """Fail where a verdict is undecided by a fault of the program."""
    said = [what for f in report.findings if isinstance(f.decision, Undecided) for what in f.decision.tried]
    said += [explanation.says for explanation in report.explanations]
    found = [f"{report.file}: {what}" for what in said if is_own_fault(what)]
    assert not found, "\n".join(found)


@cache
def report(path: Path) -> Report:
    """Return the verdicts on a document and its data, without a search for repairs of what is refuted."""
    kept = _kept(str(path))
    if kept.exists():
        return from_text(kept.read_text(encoding="utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "list_explanations", lambda *_: ())
        found = check(observed(load(path)), PLENTY)
    demand_no_fault(found)
    write_whole(kept, to_text(found).encode())
    return found


@cache
def certificate_of(path: Path) -> str:
    """Return the certificate of a shipped document or mutant."""
    kept = _kept(f"certificate of {path}")
    if not kept.exists():
        write_whole(kept, json.dumps(make_certificate(load(path), report(path))).encode())
    return kept.read_text(encoding="utf-8")


def decided(document: Document, cache: Cache = NOTHING, *, advisory: bool = True) -> Report:
    """Return the report of a document as `cache.check_once` does, of the same document in any folder once."""
    if cache.folder is not None:
        return check_once(document, cache, advisory=advisory)
    folder = Path(document.source.file).parent
    if folder == SHIPPED and digest(document) == _shipped_digest(Path(document.source.file)):
        return report(Path(document.source.file))
    own = str(folder) if folder.is_absolute() else ELSEWHERE
    files = (content(path) for path in (Path(document.source.file), *files_of(document)))
    kept = _kept("\n".join((digest(document), str(advisory), *files)).replace(own, ELSEWHERE))
    if kept.exists():
        return from_text(kept.read_text(encoding="utf-8").replace(ELSEWHERE, own))
    found = check_once(document, NOTHING, advisory=advisory)
    demand_no_fault(found)
    write_whole(kept, to_text(found).replace(own, ELSEWHERE).encode())
    return found


@cache
def _shipped_digest(path: Path) -> str:
    return digest(load(path))


@contextmanager
def granted() -> Iterator[None]:
    """Find every claim proved that applies to what is compiled meanwhile; nothing is kept of it."""

    def proved(document: Document, _: float, *, advisory: bool) -> tuple[Finding, ...]:
        rows = module._choose_claims(document, advisory=advisory).rows
        return tuple(row.finding(Answer(Proved("taken for granted"))) for row in rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_decide_claims", proved)
        patch.setattr(pipeline, "check_once", check_once)
        yield


@contextmanager
def required() -> Iterator[None]:
    """Ask the claims alone that decide a build: for tests of what is made of it, not of what else is known of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "check_once", lambda build, cache, **_: decided(build, cache, advisory=False))
        yield


@contextmanager
def only(*claims: str) -> Iterator[None]:
    """Let `check` decide these claims alone: for tests of one claim, about documents that no other test decides."""
    applicable = module._choose_claims

    def few(document: Document, *, advisory: bool) -> module.ApplicableClaims:
        what = module._select_claims(applicable(document, advisory=advisory), lambda row: row.id in claims)
        assert {row.id for row in what.rows} == {*claims}, (document.name, claims)
        return what

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_choose_claims", few)
        patch.setattr(in_builds, "explain_bias", lambda *_: ())
        yield


def decide_here(
    document: Document, claims: Collection[str] | None = None, *, with_premises: bool = True
) -> dict[str, Finding]:
    """Return what a report says of these claims, or of all, by name; those that do not apply are left out.

    They are decided in this process, which takes a third of the time that a child does, with the claims that they rest
    on; without these, as they are before their premises are looked at. What explains a report is not looked for.
    """
    what = module._find_claims(document)
    rests_on = {row.id: row.rests_on for row in what.rows}
    claims = rests_on.keys() if claims is None else claims
    wanted, found = list(claims), set[str]()
    while wanted:
        found.add(claim := wanted.pop())
        wanted += [one for one in rests_on.get(claim, ()) if with_premises and one not in found]
    chosen = module._select_claims(what, lambda row: row.id in found)
    findings = [_here(row, job) for row, job in zip(chosen.rows, chosen.jobs(), strict=True)]
    if with_premises:
        findings = apply_premises(chosen.rows, chosen.left, findings, module._find_deciders(document))
    return {finding.id: finding for finding in findings if finding.id in claims}


def _here(row: Claim[Any, Any], job: Callable[[], Finding]) -> Finding:
    try:
        return job()
    except Exception as error:
        reason = _explain_error(error)
        assert not is_own_fault(reason), reason
        return row.finding(Answer(Undecided((reason,))))


def read_back() -> Cache:
    """Return the cache of the texts that were read back in this run."""
    return Cache(Path(os.environ[FOLDER]) / "read_back")


def _kept(key: str) -> Path:
    return Path(os.environ[FOLDER]) / f"{sha256(key.encode()).hexdigest()}.json"
