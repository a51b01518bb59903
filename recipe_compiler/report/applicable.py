"""The claims that apply to dynamics, how their jobs are prepared, and caveats on what no claim covers."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from recipe_compiler.formula.declaration import Block, Datum, Function, Parameter
from recipe_compiler.spec.model import Document, Dynamics, Scheme, Target
from recipe_compiler.verdict import Finding
from recipe_compiler.verify.claims import DYNAMICS, Claim, get_decider, list_applicable_claims, state_sizes
from recipe_compiler.verify.core.subject import Subject, decide_claim, prepare_subject
from recipe_compiler.verify.recover.search import states_equation
from recipe_compiler.verify.updates.claimed_update import claims_update

Job = Callable[[], Finding]
Declared = Sequence[Parameter | Function | Datum | Block]


@dataclass(frozen=True, slots=True)
class ApplicableClaims:
    """The claims that apply to a document, and how their jobs are prepared."""

    rows: tuple[Claim[Any, Any], ...]
    jobs: Callable[[], Sequence[Job]]
    left: tuple[Claim[Any, Any], ...] = ()
    """Those that apply as well, and are not decided."""


def find_dynamics_claims(dynamics: Dynamics) -> ApplicableClaims:
    """Return the claims that apply to dynamics by themselves."""
    claims = list_applicable_claims(DYNAMICS, dynamics)

    def jobs() -> Sequence[Job]:
        subject = prepare_subject(dynamics)
        return [partial(_decide_claim, claim, subject, dynamics) for claim in claims]

    return ApplicableClaims(claims, jobs)


def _decide_claim(claim: Claim[Subject, Dynamics], subject: Subject, dynamics: Dynamics) -> Finding:
    return claim.finding(state_sizes(claim, dynamics, decide_claim(get_decider(claim), subject)))


def list_dynamics_caveats(dynamics: Dynamics) -> tuple[str, ...]:
    """Return the caveats on dynamics: what no claim covers."""
    limit = " and the claimed update as eps -> 0" if claims_update(dynamics) else ""
    rows = list_applicable_claims(DYNAMICS, dynamics)
    about = f"discretisation: these verdicts concern the SDE{limit}; check a build for statements about its step"
    declared = list_declared(dynamics)
    return (*list_unasked(dynamics), *list_unread(dynamics, rows), *list_unused(declared, dynamics), about)


def list_unasked(dynamics: Dynamics) -> tuple[str, ...]:
    """Return the claims that are not asked where the equation is not stated."""
    if states_equation(dynamics):
        return ()
    return ("explosion, unique: they need D (or a diffusion), and Q or a drift",)


QUALIFIED = {"interpretation": "drift", "noise": "update"}
"""Keys under `claims` that say how another is read: what reads that reads them."""


def list_unread(document: Dynamics | Scheme, rows: Sequence[Claim[Any, Any]]) -> tuple[str, ...]:
    """Return the facts that a document states and that no row of its report reads."""
    stated = json.loads(document.source.document)
    claims = stated.get("claims") or {}
    facts = {name: name for name in ("D", "Q", "units") if stated.get(name)}
    facts |= {name: f"claims.{name}" for name, value in claims.items() if value}
    read = {entry for row in rows for entry in (*(row.reads or ()), *row.also_reads)} & {*facts}
    read |= {"diffusion"} if "D" not in facts and any("D" in (row.reads or ()) for row in rows) else set()
    read |= {name for name, host in QUALIFIED.items() if host in read}
    alone = {"D", "Q", "diffusion"} if isinstance(document, Dynamics) and not states_equation(document) else set()
    found = [f"{facts[name]}: not compared with the update" for name in facts if name in alone]
    left = [name for name in facts if name not in read | alone]
    return (
        *found,
        *(f"{facts[name]}: ignored by every claim here{_explain_missing_host(name, facts)}" for name in left),
    )


def list_declared(document: Dynamics | Target) -> Declared:
    """Return the parameters, functions, data and noise that a document declares."""
    own = document.declarations
    return (
        *own.parameters,
        *own.own_functions,
        *own.data,
        *(document.claims.noise if isinstance(document, Dynamics) else ()),
    )


def list_unused(declared: Declared, *documents: Document) -> tuple[str, ...]:
    """Return what is declared and no formula of some documents reads, but what they assume."""
    read = {name for one in documents for name in _list_names(json.loads(one.source.document))}
    return tuple(f"{item.name}: declared but used in no formula" for item in declared if item.name not in read)


NO_FORMULA = frozenset(
    ("name", "title", "references", "units", "assume", "parameters", "functions", "noise", "data", "dynamics", "target")
)
"""Keys below which documents state no formula but assumptions."""


def _list_names(stated: object) -> Iterator[str]:
    """Yield the names in the formulas of a document, its assumptions excepted."""
    if isinstance(stated, str):
        yield from re.findall(r"\w+", stated)
    elif isinstance(stated, dict):
        yield from (name for key, part in stated.items() if key not in NO_FORMULA for name in _list_names(part))
    elif isinstance(stated, list):
        yield from (name for part in stated for name in _list_names(part))


def _explain_missing_host(name: str, facts: Iterable[str]) -> str:
    host = QUALIFIED.get(name)
    return f", as `claims.{host}` is not stated" if host is not None and host not in facts else ""
