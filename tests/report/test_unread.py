"""What a document states is decided, or named as not decided: whatever else it states beside."""

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest
from answers import document
from reports import decide_here
from some import some

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.applicable import list_dynamics_caveats
from recipe_compiler.report.in_builds import list_build_caveats, list_target_caveats
from recipe_compiler.verdict import Finding, Proved, Verdict
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
BESIDE = [f"{beside} {key}" for beside, key in product(["D Q", "D drift", "update"], FACTS)]


def stated(kept: tuple[str, ...], wrong: str) -> str:
    """Return a document with some keys, one of them with its wrong value."""
    lines = {key: f"{key}: {FACTS[key][key == wrong]}" for key in kept}
    top = [lines.pop(key) for key in ("D", "Q") if key in lines]
    claims = ["claims:", *(f"  {line}" for line in lines.values())] if lines else []
    return "\n".join(["name: facts", "state: {x: {shape: 2}}", "H: norm2(x)/2", *top, *claims, ""])


def lines_naming(findings: list[Finding], caveats: tuple[str, ...], key: str) -> Iterator[str]:
    """Yield the claims that read a key and are not proved, and what is said not to be checked of it."""
    host = {"interpretation": "drift"}.get(key, key)
    reading = {c.id for c in DYNAMICS if host in (*(c.reads or ()), *c.also_reads)}
    reading |= {c.id for c in DYNAMICS if key == "diffusion" and "D" in (c.reads or ())}
    yield from (f.says for f in findings if f.verdict is not Verdict.PROVED and f.id in reading)
    remarks = (note for f in findings if isinstance(f.decision, Proved) for note in f.decision.remarks)
    yield from (note for note in remarks if "not the equation of D and Q" in note)
    yield from (line for line in caveats if line.startswith((f"{key}:", f"claims.{key}:")))


def unnamed(kept: tuple[str, ...]) -> Iterator[str]:
    """Yield the keys that leave a document proved, wrong as they are, and that no line names."""
    for wrong in kept:
        try:
            own = document(stated(kept, wrong))
            findings = [*decide_here(own).values()]
        except DocumentError:  # a document without an equation
            return
        proved = all(one.verdict is Verdict.PROVED for one in findings if one.required)
        used = wrong == "noise" and "update" in kept
        if proved and not used and not any(lines_naming(findings, list_dynamics_caveats(own), wrong)):
            yield f"{wrong} of {', '.join(kept)}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_no_fact_of_any_subset_of_facts_is_left_out(part: int) -> None:
    assert not [found for kept in SUBSETS[part::16] for found in unnamed(kept)]


@pytest.mark.parametrize("kept", some(BESIDE, 4))
def test_a_fact_beside_an_equation_is_not_left_out(kept: str) -> None:
    assert not list(unnamed(tuple(key for key in FACTS if key in kept.split())))


def test_what_says_how_a_drift_is_read_is_named_where_there_is_none() -> None:
    named = "claims.interpretation: ignored by every claim here, as `claims.drift` is not stated"
    assert list_dynamics_caveats(document(stated(("D", "Q", "interpretation"), "interpretation")))[0] == named


TARGET = """name: target
state: {theta: {shape: d}}
parameters: {s: {is: positive, default: 2}, k: {default: 1}}
log_prior: -norm2(theta)/(2*s)
assume: ["k > 0"]
"""
BUILD = """name: build
dynamics: sghmc
target: target.yaml
bind: {M: m*I, C: I}
scheme: {name: baoab}
variant: full
parameters: {m: {is: positive, value: 2}, mm: {value: 3}}
run: {step_size: 0.1}
"""
DATA = "data: {y: {shape: N}, w: {shape: N}}\nlog_likelihood: -(y - theta[0])**2/2\n"
UNREAD = "parameters: {c: {is: positive}, k: {}}\nfunctions: {g: {of: x}}\nassume: ['k > 3']\n"


@pytest.mark.parametrize(
    ("text", "caveats", "names"),
    [
        (stated(("D", "Q", "drift"), "") + UNREAD, list_dynamics_caveats, ["c", "k", "g"]),
        (TARGET + DATA, list_target_caveats, ["k", "w"]),
        (BUILD, list_build_caveats, ["mm", "k"]),
        (f"{BUILD}derived: {{of_k: k*theta}}\n", list_build_caveats, ["mm"]),
    ],
)
def test_what_is_declared_and_no_formula_reads_is_named(text: str, caveats: Any, names: list[str]) -> None:
    found = caveats(document(text, target=TARGET))
    assert [line.partition(":")[0] for line in found if line.endswith("used in no formula")] == names
