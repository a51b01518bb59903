"""What a document states is decided, or named as not decided: whatever else it states beside."""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import pytest
from some import some

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.applicable import caveats_on
from recipe_compiler.report.check import check
from recipe_compiler.report.in_builds import build_caveats, target_caveats
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Target
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


@pytest.mark.parametrize(("beside", "key"), some(product([("D", "Q"), ("D", "drift"), ("update",)], FACTS), 4))
def test_a_fact_beside_an_equation_is_not_left_out(beside: tuple[str, ...], key: str, tmp_path: Path) -> None:
    assert not list(unnamed(tuple(k for k in FACTS if k in {*beside, key}), tmp_path))


def test_what_says_how_a_drift_is_read_is_named_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(document(("D", "Q", "interpretation"), "interpretation"), encoding="utf-8")
    named = "claims.interpretation: no claim here reads it, as `claims.drift` is not stated"
    assert check(load(path)).caveats[0] == named


def unused_in(file: Path, text: str) -> list[str]:
    """Return the names that the report on a document says no formula reads."""
    file.write_text(text, encoding="utf-8")
    made = load(file)
    match made:
        case Dynamics():
            found = caveats_on(made)
        case Target():
            found = target_caveats(made)
        case Build():
            found = build_caveats(made)
        case _:
            raise TypeError(made)
    return [line.partition(":")[0] for line in found if line.endswith("no formula reads it")]


def test_what_is_declared_and_no_formula_reads_is_named(tmp_path: Path) -> None:
    text = document(("D", "Q", "drift"), "") + "parameters: {c: {is: positive}, k: {}}\nfunctions: {g: {of: x}}\n"
    assert unused_in(tmp_path / "facts.yaml", f'{text}assume: ["k > 3"]\n') == ["c", "k", "g"]


TARGET = """name: target
state: {theta: {shape: d}}
parameters: {s: {is: positive, default: 2}, k: {default: 1}}
log_prior: -norm2(theta)/(2*s)
assume: ["k > 0"]
"""


def test_parameters_and_data_that_no_formula_of_a_target_reads_are_named(tmp_path: Path) -> None:
    data = "data: {y: {shape: N}, w: {shape: N}}\nlog_likelihood: -(y - theta[0])**2/2\n"
    assert unused_in(tmp_path / "target.yaml", TARGET + data) == ["k", "w"]


def test_what_a_build_declares_and_no_formula_of_it_reads_is_named(tmp_path: Path) -> None:
    (tmp_path / "target.yaml").write_text(TARGET, encoding="utf-8")
    text = (
        "name: build\ndynamics: sghmc\ntarget: target.yaml\nbind: {M: m*I, C: I}\nscheme: {name: baoab}\n"
        "variant: full\nparameters: {m: {is: positive, value: 2}, mm: {value: 3}}\nrun: {step_size: 0.1}\n"
    )
    assert unused_in(tmp_path / "build.yaml", text) == ["mm", "k"]
    assert unused_in(tmp_path / "build.yaml", text + "derived: {of_k: k*theta}\n") == ["mm"]
