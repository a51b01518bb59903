"""What a document states is decided, or named as not decided: whatever else it states beside."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Proved, Report, Verdict
from recipe_compiler.verify.claims import DYNAMICS

DRIFT = "(-(ones + x**2)*x + 2*x)"
FACTS = {
    "D": ("[[diag(ones + x**2)]]", "[[-diag(ones + x**2)]]"),
    "Q": ("[[0]]", "[[I]]"),
    "drift": (f"{{x: {DRIFT}}}", "{x: -x}"),
    "diffusion": ("[[diag(ones + x**2)]]", "[[2*I]]"),
    "interpretation": ("ito", "stratonovich"),
    "marginal": ("{x: norm2(x)/2}", "{x: norm2(x)}"),
    "lyapunov": ("norm2(x)", "-norm2(x)**2"),
    "update": (f"{{x: x + eps*{DRIFT} + N(0, 2*eps*diag(ones + x**2))}}", "{x: x - eps*x + N(0, eps*I)}"),
    "noise": ("{}", "{xi: {shape: 2}}"),
}
"""Each key with a value that is right and one that is wrong, or that nothing uses."""
SUBSETS = [kept for n in range(1, len(FACTS) + 1) for kept in combinations(FACTS, n)]


def document(kept: tuple[str, ...], wrong: str) -> str:
    """Return a document with some keys, one of them with its wrong value."""
    lines = {key: f"{key}: {FACTS[key][key == wrong]}" for key in kept}
    top = [lines.pop(key) for key in ("D", "Q") if key in lines]
    claims = ["claims:", *(f"  {line}" for line in lines.values())] if lines else []
    return "\n".join(["name: facts", "state: {x: {shape: 2}}", "H: norm2(x)/2", *top, *claims, ""])


def lines_naming(report: Report, key: str) -> Iterator[str]:
    """Yield the claims that read a key and are not proved, and what is said not to be checked of it."""
    host = {"interpretation": "drift"}.get(key, key)
    reading = {c.id for c in DYNAMICS if host in (*(c.reads or ()), *c.beside)}
    reading |= {c.id for c in DYNAMICS if key == "diffusion" and "D" in (c.reads or ())}
    yield from (f.says for f in report.findings if f.verdict is not Verdict.PROVED and f.id in reading)
    yield from (
        note
        for f in report.findings
        if isinstance(f.decision, Proved)
        for note in f.decision.remarks
        if "equation than that" in note
    )
    yield from (line for line in report.caveats if line.startswith((f"{key}:", f"claims.{key}:")))


def unnamed(kept: tuple[str, ...], folder: Path) -> Iterator[str]:
    """Yield the keys that leave a document proved, wrong as they are, and that no line names."""
    for wrong in kept:
        path = folder / "facts.yaml"
        path.write_text(document(kept, wrong), encoding="utf-8")
        try:
            report = check(load(path))
        except DocumentError:  # a document without an equation
            return
        used = wrong == "noise" and "update" in kept
        if report.verdict is Verdict.PROVED and not used and not any(lines_naming(report, wrong)):
            yield f"{wrong} of {', '.join(kept)}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_no_fact_of_any_subset_of_facts_is_left_out(part: int, tmp_path: Path) -> None:
    assert not [found for kept in SUBSETS[part::16] for found in unnamed(kept, tmp_path)]


@pytest.mark.parametrize("beside", [("D", "Q"), ("D", "drift"), ("update",)])
@pytest.mark.parametrize("key", FACTS)
def test_a_fact_beside_an_equation_is_not_left_out(beside: tuple[str, ...], key: str, tmp_path: Path) -> None:
    assert not list(unnamed(tuple(k for k in FACTS if k in {*beside, key}), tmp_path))


def test_what_says_how_a_drift_is_read_is_named_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(document(("D", "Q", "interpretation"), "interpretation"), encoding="utf-8")
    named = "claims.interpretation: no claim here reads it, as `claims.drift` is not stated"
    assert check(load(path)).caveats[0] == named
