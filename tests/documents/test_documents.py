"""Every document of the families here has the verdicts, or the faults, that its file states (`README.md`)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from families import MistakeError, Variant, read_variants, variants_in
from reports import decide_here, report

from recipe_compiler.errors import DocumentError, Fault, Place
from recipe_compiler.report.check import check
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Finding, Verdict

Expected = dict[str, Any]
HERE = Path(__file__).parent
PLACE = re.compile(r"(?:([A-Za-z][\w.]*):)?(\d+)(?::(\d+))?")


def _cases() -> Iterator[Any]:
    for variant in variants_in(HERE):
        yield pytest.param(variant, id=variant.name, marks=[pytest.mark.slow] * variant.slow)


@pytest.mark.parametrize("variant", [*_cases()])
def test_documents_are_as_expected(variant: Variant, tmp_path: Path) -> None:
    wrong = differences(variant, tmp_path)
    if wrong:
        pytest.fail("\n".join([variant.place, *wrong]), pytrace=False)


def differences(variant: Variant, folder: Path) -> list[str]:
    """Return in what a document is not as expected."""
    for name, text in variant.texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / variant.main
    found: dict[str, Finding] = {}
    try:
        if variant.expect:
            found = _findings(variant, path)
        else:
            load(path)
    except DocumentError as error:
        if not variant.faults:
            return [f"found the fault {fault}" for fault in error.faults]
        if len(error.faults) != len(variant.faults):
            return [f"found {len(error.faults)} faults, expected {len(variant.faults)}", *map(str, error.faults)]
        pairs = zip(error.faults, variant.faults, strict=True)
        kind = type(error).__name__
        return [line for fault, expected in pairs for line in _of_fault(fault, kind, expected, variant)]
    if variant.faults:
        return ["found no fault"]
    wrong: list[str] = []
    for claim, expected in variant.expect.items():
        if claim == "report":
            wrong += _of_report(variant, path, expected)
        elif claim == "every":
            wrong += [line for each in found.values() for line in _of_claim(each, expected, variant)]
        elif claim in found:
            wrong += _of_claim(found[claim], expected, variant)
        elif expected.get("is") != "absent":
            wrong.append(f"{claim}: not asked of this document")
    return wrong


def _findings(variant: Variant, path: Path) -> dict[str, Finding]:
    if variant.shipped is not None:
        return {finding.id: finding for finding in report(variant.shipped).findings}
    claims = None if "every" in variant.expect else variant.expect.keys() - {"report"}
    return decide_here(observed(load(path)), claims)


def _of_claim(found: Finding, expected: Expected, variant: Variant) -> list[str]:
    decision = found.decision
    parts = {name: getattr(decision, name, ()) for name in ("by", "residual", "tried", "given", "remarks")}
    pairs = [*getattr(decision, "witness", ()), *getattr(decision, "data", ())]
    said = [
        *([part] if isinstance(part, str) else part for part in parts.values()),
        [", ".join(f"{a} = {b}" for a, b in pairs)],
    ]
    wrong = [*_of_verdict(found.verdict, expected)]
    wrong += _of_words("\n".join(line for lines in said for line in lines), expected)
    wrong += _of_place(found.where, expected, variant)
    for_d = found.for_d if isinstance(found.for_d, str) else ", ".join(f"{name} = {size}" for name, size in found.for_d)
    exact = {"residual": parts["residual"], "by": parts["by"], "for_d": for_d, "checked_at": found.where_checked}
    for key, value in exact.items():
        if key in expected and value != expected[key]:
            wrong.append(f"{key}: found {value!r}, expected {expected[key]!r}")
    for key in {"witness", "data"} & expected.keys():
        values = dict(getattr(decision, key, ()))
        for name, value in expected[key].items():
            if name not in values or (value and values[name] != value):
                wrong.append(f"{key}: found {values}, expected {name} = {value or 'any value'}")
    wrong += [f"given: found {parts['given']}, expected {one!r}" for one in _all(expected, "given") - {*parts["given"]}]
    return [f"{found.id}: {line}" for line in wrong] + ([f"{decision}"] if wrong else [])


def _of_report(variant: Variant, path: Path, expected: Expected) -> list[str]:
    found = check(observed(load(path))) if variant.shipped is None else report(variant.shipped)
    wrong = [*_of_verdict(found.verdict, expected), *_of_words(str(found), expected)]
    return [f"report: {line}" for line in wrong] + ([str(found)] if wrong else [])


def _of_verdict(found: Verdict, expected: Expected) -> Iterator[str]:
    wanted = expected.get("is") or found.value
    agrees = found.value != wanted[4:] if wanted.startswith("not ") else found.value == wanted
    if not agrees:
        yield f"found {found.value}, expected {wanted}"


def _of_words(said: str, expected: Expected) -> Iterator[str]:
    yield from (f"said nothing of {part!r}" for part in _all(expected, "says") if part not in said)
    yield from (f"said {part!r}" for part in _all(expected, "unsaid") if part in said)


def _of_place(where: Place | None, expected: Expected, variant: Variant) -> Iterator[str]:
    """Compare a place with `line`, `line:column`, `file:line:column`, or the text that stands there."""
    if "place" not in expected:
        return
    wanted, file = expected["place"], Path(where.file).name if where else ""
    line, column = (where.line, where.column) if where else (0, 0)
    if numbers := PLACE.fullmatch(wanted):
        agrees = (numbers[1] or variant.main, int(numbers[2]), int(numbers[3] or column)) == (file, line, column)
    else:
        lines = variant.texts.get(file, "").splitlines()
        agrees = 0 < line <= len(lines) and column > 0 and lines[line - 1][column - 1 :].startswith(wanted)
    if not agrees:
        yield f"place: found {file}:{line}:{column}, expected {wanted}"


def _of_fault(fault: Fault, kind: str, expected: Expected, variant: Variant) -> list[str]:
    wrong = [*_of_place(fault.where, expected, variant), *_of_words(f"{fault.problem}\n{fault.hint}", expected)]
    for key, value in {"kind": kind, "entry": fault.entry, "hint": fault.hint}.items():
        if key in expected and value != expected[key]:
            wrong.append(f"{key}: found {value!r}, expected {expected[key]!r}")
    return [f"fault: {line}" for line in wrong] + ([str(fault)] if wrong else [])


def _all(expected: Expected, key: str) -> set[str]:
    listed = expected.get(key, [])
    return {listed} if isinstance(listed, str) else {*listed}


BASE = """
base: |
  name: plane
  state: {x: {shape: d}}
  parameters: {A: {shape: [d, d], is: symmetric}}
  H: norm2(x)/2
  D: [["I"]]
  Q: [["A - A.T"]]
variants:
- says: one
"""


def read(folder: Path, more: str) -> list[Variant]:
    (folder / "family.yaml").write_text(BASE.lstrip() + more, encoding="utf-8")
    return [*read_variants(folder / "family.yaml", "family")]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("expect: {q_skew: refuted}", "q_skew: found proved, expected refuted"),
        ("expect: {q_skew: not proved}", "q_skew: found proved, expected not proved"),
        ("expect: {every: not proved}", "d_symmetric: found proved"),
        ("expect: {report: refuted}", "report: found proved"),
        ("expect: {q_skew: absent}", "q_skew: found proved, expected absent"),
        ("expect: {recovered_q: proved}", "recovered_q: not asked"),
        ("expect: {q_skew: {place: 7:3}}", "place: found document.yaml:6:1, expected 7:3"),
        ("expect: {d_symmetric: {place: 'A - A.T'}}", "place: found document.yaml:5:"),
        ("expect: {q_skew: {says: no such word}}", "said nothing of 'no such word'"),
        ("expect: {q_skew: {unsaid: index}}", "said 'index'"),
        ("expect: {q_skew: {given: [x is positive]}}", "given: found"),
        ("expect: {q_skew: {for_d: d = 2}}", "for_d: found 'all', expected 'd = 2'"),
        ("replace: {A - A.T: A}\n  expect: {q_skew: {is: refuted, witness: {B: }}}", "expected B = any value"),
        ("replace: {A - A.T: A}\n  expect: {q_skew: {is: refuted, residual: A}}", "residual: found"),
        ("replace: {A - A.T: B}\n  expect: {q_skew: refuted}", "found the fault"),
        ("fault: 6:7", "found no fault"),
        ("replace: {A - A.T: B}\n  fault: 6:8", "place: found document.yaml:6:7, expected 6:8"),
        ("replace: {A - A.T: B}\n  fault: {entry: D}", "entry: found 'Q[x,x]', expected 'D'"),
        ("replace: {A - A.T: B}\n  fault: {kind: SpecError}", "kind: found 'ModelError'"),
        ("replace: {A - A.T: B}\n  faults: [6:7, 6:7]", "found 1 faults, expected 2"),
    ],
)
def test_what_is_not_as_expected_fails(tmp_path: Path, more: str, said: str) -> None:
    (variant,) = read(tmp_path, f"  {more}\n")
    assert said in "\n".join(differences(variant, tmp_path))


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ("expects: {q_skew: proved}", 10, "found the key `expects`"),
        ("expect: {q_skwe: proved}", 10, "found `q_skwe`"),
        ("expect: {q_skew: prooved}", 10, "found `prooved`"),
        ("expect: {q_skew: {residul: 0}}", 10, "found the key `residul`"),
        ("replace: {B: A}\n  expect: {q_skew: proved}", 10, "found `B` 0 times"),
        ("replace: {d: k}\n  expect: {q_skew: proved}", 10, "found `d` 3 times"),
        ("columns: [old, new]\n  rows:\n  - [A]", 12, "found 1 cells, expected 2"),
        ("replace: {A - A.T: A}", 9, "expected one of `expect`"),
        ("fault: [6", 11, "expected ',' or ']'"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_line(tmp_path: Path, more: str, line: int, said: str) -> None:
    with pytest.raises(MistakeError) as caught:
        read(tmp_path, f"  {more}\n")
    assert str(caught.value).startswith(f"{tmp_path / 'family.yaml'}:{line}: ")
    assert said in str(caught.value)


def test_rows_of_a_table_are_variants(tmp_path: Path) -> None:
    more = "  columns: [old, new, d, expect.q_skew, expect.q_skew.witness.A]\n  rows:\n"
    more += "  - [A - A.T, A, k, refuted, '']\n  - ['-', +, d, not proved, '']\n"
    first, second = read(tmp_path, more)
    assert 'Q: [["A"]]' in first.texts["document.yaml"]
    assert "norm2(x)/2\nD:" in first.texts["document.yaml"]
    assert (first.name, first.place) == ("family::one: A - A.T, A, k", f"{tmp_path / 'family.yaml'}:12")
    assert differences(first, tmp_path) == differences(second, tmp_path) == []


def test_the_example_of_the_readme(tmp_path: Path) -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "example.yaml").write_text(text, encoding="utf-8")
    assert [differences(one, tmp_path) for one in read_variants(tmp_path / "example.yaml", "example")] == [[]] * 4
