"""Steps of the files in `steps`, each with the verdict that it says of itself.

A comment at the function or, for all of a file, at its head: the document, the verdict, `with` a map of an argument,
`at` the sizes that it is about, and after a colon words of the message, " ... " between those that lie apart. A line
that ends with "# here" is the one that the message names.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from recipe_compiler.lint.findings import AT_FIXED_SIZES, OF_BATCHES, OF_SOME_ROWS
from recipe_compiler.lint.plain_run.handed import RETURN_A_COPY
from recipe_compiler.lint.replay import FED_ITSELF, OF_RETURNED
from recipe_compiler.verdict import Finding, Refuted, Undecided

COUNTING = {"asks.py", "behind.py", "careless.py", "keeps.py", "opaque.py", "orders.py", "unseen.py"}
"""Files whose steps are called as often as a user's are; those of others a few times."""

FOLDER = Path(__file__).parent / "steps"
WORDS = {
    "AT_FIXED_SIZES": AT_FIXED_SIZES, "FED_ITSELF": FED_ITSELF, "OF_BATCHES": OF_BATCHES, "OF_RETURNED": OF_RETURNED,
    "OF_SOME_ROWS": OF_SOME_ROWS, "RETURN_A_COPY": RETURN_A_COPY,
}  # fmt: skip
EXPECTED = re.compile(
    r"# (?:every step: )?(?:(?P<spec>\w+) )?(?P<verdict>proved|not proved|holds|refuted|undecided)"
    r"(?P<maps>(?: with \w+ = [^:]+?)*)(?: at (?P<at>[^:]+))?(?:: (?P<says>.*))?$"
)
EACH = {
    "wrong.py refuted": 5, "of_builds.py refuted": 3, "hostile.py undecided": 2,
    "hostile_builtins.py undecided": 2, "ways.py proved": 2, "velocities.py holds": 3, "velocities.py refuted": 2,
    "fed.py proved": 3, "fed.py undecided": 3, "buffers.py proved": 3, "buffers.py undecided": 3,
}  # fmt: skip
"""Of how many steps of a file one is judged by default; of those of other files none is."""
QUICK = {
    "walk_sign", "walk_with_a_drift", "mala_without_correction", "hmc_momentum_forgotten", "ghmc_without_flip",
    "persistent_without_flip", "double_well_kick",
}  # fmt: skip
"""Steps of `accepted_wrong.py` that are judged by default: the others take some seconds, and are like these."""


@dataclass(frozen=True)
class Step:
    """A step and what is expected of it."""

    file: str
    name: str
    spec: str
    verdict: str
    maps: tuple[tuple[str, str], ...]
    at: str
    says: tuple[str, ...]
    line: int | None


def read_steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a file that say what is expected of them."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    whole = next((found for line in lines if (found := EXPECTED.match(line)) and "# every step" in line), None)
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        own = (
            f"# {lines[node.lineno - 1].partition('  # ')[2]}" if "  # " in lines[node.lineno - 1] else lines[first - 2]
        )
        found = EXPECTED.match(own) or (None if own in ("# no step", "# judged apart") else whole)
        if found is None:
            continue
        spec = found["spec"] or (whole["spec"] if whole else "")
        maps = tuple(tuple(one.split(" = ")) for one in found["maps"].split(" with ")[1:])
        says = tuple(words.format(**WORDS) for words in (found["says"] or "").split(" ... "))
        here = [k for k, line in enumerate(lines[: node.end_lineno], 1) if line.endswith("# here") and k > node.lineno]
        yield Step(path.name, node.name, spec, found["verdict"], maps, found["at"] or "", says, *(here or [None]))


STEPS = [step for path in sorted(FOLDER.glob("*.py")) for step in read_steps(path)]


def cases() -> Iterator[ParameterSet]:
    """Yield every step, those marked slow of which some are enough."""
    seen: Counter[str] = Counter()
    for step in STEPS:
        kind = f"{step.file} {step.verdict}"
        by_default = seen[kind] % EACH[kind] == 0 if kind in EACH else step.name in QUICK
        seen[kind] += 1
        name = f"{step.file}:{step.name}{'-mapped' * bool(step.maps)}"
        yield pytest.param(step, id=name, marks=() if by_default else pytest.mark.slow)


@pytest.mark.parametrize("step", list(cases()))
def test_a_step_has_the_verdict_that_it_says(
    step: Step, step_finding: Callable[..., Finding], expect: Callable[..., None], request: pytest.FixtureRequest
) -> None:
    if step.file not in COUNTING:
        request.getfixturevalue("few_calls")
    found = step_finding(f"{step.file}:{step.name}", step.spec, step.maps)
    expect(found, step.verdict, step.says, step.at)
    if step.line is not None and isinstance(found.decision, Undecided):
        assert found.decision.tried[0].startswith(f"{FOLDER / step.file}:{step.line}: ")
    elif step.line is not None:
        assert isinstance(found.decision, Refuted)
        assert found.where is not None
        assert found.where.line == step.line


def test_no_step_is_left_out() -> None:
    found = Counter(step.verdict for step in STEPS)
    least = {"refuted": 63, "proved": 51, "holds": 47, "undecided": 172, "not proved": 23}
    assert all(found[verdict] >= count for verdict, count in least.items()), found
