"""Steps of the files in `steps`, each with the verdict that it says of itself.

In a file of Python it is a comment at the function or, for all of a file, at its head: the document, the verdict,
`with` a map of an argument, `at` the sizes that it is about, and after a colon words of the message, " ... " between
those that lie apart; all verdicts on right steps are frozen in `tests/golden/lint.json`. A line that ends with
"# here" is the one that the message names. `changes.yaml` holds wrong steps, as changes of these; `written.yaml`
families of steps of one text.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from golden_rows import ROOT, demand_row
from ruamel.yaml import YAML

from recipe_compiler.lint.findings import AT_FIXED_SIZES, OF_BATCHES, OF_SOME_ROWS, Lint
from recipe_compiler.lint.metropolis import OF_THE_REST
from recipe_compiler.lint.replay import ADVICE, FED_ITSELF, OF_RETURNED, OVERWRITTEN
from recipe_compiler.verdict import Refuted, Undecided

FOLDER = Path(__file__).parent / "steps"
WORDS = {
    "AT_FIXED_SIZES": AT_FIXED_SIZES, "FED_ITSELF": FED_ITSELF, "OF_BATCHES": OF_BATCHES, "OF_RETURNED": OF_RETURNED,
    "OF_SOME_ROWS": OF_SOME_ROWS, "OVERWRITTEN": OVERWRITTEN, "OF_THE_REST": OF_THE_REST, "ADVICE": ADVICE,
}  # fmt: skip
EXPECTED = re.compile(
    r"# (?:every step: )?(?:(?P<spec>(?!not )\w+) )?(?P<verdict>proved|not proved|holds|refuted|undecided)"
    r"(?P<maps>(?: with \w+ = [^:]+?)*)(?: at (?P<at>[^:]+))?(?:: (?P<says>.*))?$"
)
SHIPPED = ROOT / "docs/examples/sghmc_step.py"
EACH = {"ways.py proved": 3, "velocities.py holds": 2, "fed.py proved": 2, "fed.py undecided": 3, "changes": 9}
"""Of how many steps of a file one is judged by default; of those of other files of Python none is."""


@dataclass(frozen=True)
class Step:
    """A step and what is expected of it."""

    id: str
    text: str
    name: str
    spec: str
    verdict: str
    maps: tuple[tuple[str, str], ...]
    at: str
    says: tuple[str, ...]
    file: str | None = None
    """The file of Python that holds it."""

    @property
    def line(self) -> int | None:
        """The line that the message names."""
        node = next(one for one in ast.parse(self.text).body if getattr(one, "name", "") == self.name)
        assert isinstance(node, ast.FunctionDef)
        lines = range(node.lineno + 1, (node.end_lineno or 0) + 1)
        return next((k for k in lines if self.text.splitlines()[k - 1].endswith("# here")), None)


def read_expected(said: str, spec: str = "", maps: tuple[tuple[str, str], ...] = ()) -> dict[str, Any] | None:
    """Return what a text says of a step, with the document and maps that hold where it names none."""
    if (found := EXPECTED.match(f"# {said}")) is None:
        return None
    own = tuple(tuple(one.split(" = ", 1)) for one in found["maps"].split(" with ")[1:])
    says = tuple(words.format(**WORDS) for words in (found["says"] or "").split(" ... "))
    about = {"spec": found["spec"] or spec, "verdict": found["verdict"], "at": found["at"] or ""}
    return {**about, "says": says, "maps": own or maps}


def read_steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a file that say what is expected of them."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    whole = next((read_expected(line[2:]) for line in lines if line.startswith("# every step")), None) or {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        beside = lines[node.lineno - 1].partition("  # ")[2]
        own = beside or lines[first - 2].removeprefix("# ")
        found = read_expected(own, whole.get("spec", "")) or (None if own in ("no step", "judged apart") else whole)
        if found:
            name = f"{path.name}:{node.name}{'-mapped' * bool(found['maps'])}"
            yield Step(name, text, node.name, file=path.name, **found)


def read_changes(right: dict[str, Step]) -> Iterator[Step]:
    """Yield the steps of `changes.yaml`."""
    for name, rows in _read("changes.yaml").items():
        base = right[name.replace(" ", ":")]
        own = ast.get_source_segment(base.text, next(n for n in ast.parse(base.text).body if base.name == _name(n)))
        assert own is not None
        for k, (old, new, said) in enumerate(rows):
            assert own.count(old) == 1, (name, old)
            found = read_expected(said, base.spec, base.maps)
            assert found, said
            yield Step(f"{base.id}-{k}", base.text.replace(own, own.replace(old, new or "")), base.name, **found)


def _name(node: ast.stmt) -> str:
    return getattr(node, "name", "")


def read_families() -> Iterator[tuple[Step, bool]]:
    """Yield the steps of `written.yaml`, and whether they are judged by default."""
    for family in _read("written.yaml"):
        for k, row in enumerate(family["rows"]):
            text = family["text"]
            for name, cell in zip(family["put"], row, strict=False):
                assert text.count(name) == 1, (family["says"], name)
                indent = re.search(rf"^( *){name}", text, re.MULTILINE)
                text = text.replace(name, str(cell or "").replace("; ", f"\n{indent[1]}" if indent else "; "))
            said = row[-1] if len(row) > len(family["put"]) else family["expect"]
            found = read_expected(said, family["against"])
            assert found, said
            yield Step(f"{family['says']}-{row[0]}", text, "step", **found), k < family["quick"]


def _read(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((FOLDER / name).read_text(encoding="utf-8"))


def cases() -> Iterator[Any]:
    """Yield every step, those marked slow of which some are enough."""
    right = [step for path in sorted(FOLDER.glob("*.py")) for step in read_steps(path)]
    text = SHIPPED.read_text(encoding="utf-8")
    yield pytest.param(Step("shipped", text, "step", "sghmc", "refuted", (), "", (), file=str(SHIPPED)), id="shipped")
    named = {f"{step.id.removesuffix('-mapped')}": step for step in right}
    changed = [*read_changes(named)]
    seen: Counter[str] = Counter()
    for step in (*right, *changed):
        kind = f"{step.file} {step.verdict}" if step.file else "changes"
        by_default = kind in EACH and seen[kind] % EACH[kind] == 0
        seen[kind] += 1
        yield pytest.param(step, id=step.id, marks=() if by_default else pytest.mark.slow)
    for step, by_default in read_families():
        yield pytest.param(step, id=step.id, marks=() if by_default else pytest.mark.slow)


CASES = [*cases()]
FROZEN = {str(case.id) for case in CASES if re.match(r"accepted|right|shipped", str(case.id)) and case.values[0].file}
"""Steps of which `lint.json` holds all verdicts."""


@pytest.mark.parametrize("step", CASES)
def test_a_step_has_the_verdict_that_it_says(
    step: Step,
    read: Callable[..., Lint],
    expect: Callable[..., None],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    path = FOLDER / step.file if step.file else tmp_path / "own.py"
    if not step.file:
        path.write_text(step.text, encoding="utf-8")
    found = read(f"{path}:{step.name}", step.spec, step.maps)
    assert found.report is not None
    finding = found.report.findings[0]
    expect(finding, step.verdict, step.says, step.at)
    if step.line is not None and isinstance(finding.decision, Undecided):
        assert finding.decision.tried[0].startswith(f"{path}:{step.line}: ")
    elif step.line is not None:
        assert isinstance(finding.decision, Refuted)
        assert finding.where is not None
        assert finding.where.line == step.line
    if step.id in FROZEN:
        demand_row("lint.json", step.id, frozen(found), FROZEN, request)


def frozen(found: Lint) -> dict[str, str]:
    """Return the verdicts on a step."""
    assert found.report is not None
    return {one.id: one.verdict.value for one in found.report.findings}
