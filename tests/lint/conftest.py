"""Steps of the files beside this one, judged; each once."""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build, load_dynamics

from recipe_compiler.lint.against_build import bind_by_build
from recipe_compiler.lint.bind_arguments import Binding, bind_arguments
from recipe_compiler.lint.findings import TO_PROVE, Lint, lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.run.observed import observed
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Undecided

HERE = Path(__file__).parent
SPECS = HERE.parents[1] / "specs"
Maps = tuple[tuple[str, str], ...]


def ask_of(where: str, spec: str, maps: Maps = ()) -> Binding:
    """Return what a step is called with: by a document beside this file, or by shipped dynamics or a shipped build."""
    file, _, step = where.partition(":")
    path = Path(file) if Path(file).is_absolute() else HERE / "steps" / file
    source = read_source(f"{path}:{step}")
    if (build := SPECS / "builds" / f"{spec}.yaml").exists():
        return bind_by_build(source, observed(load_build(build)), maps)
    own = HERE / "specs" / f"{spec}.yaml"
    return bind_arguments(source, load_dynamics(own if own.exists() else SPECS / "dynamics" / f"{spec}.yaml"), maps)


@cache
def linted(where: str, spec: str, maps: Maps = ()) -> Lint:
    return lint(ask_of(where, spec, maps))


def judge(where: str, spec: str, maps: Maps = ()) -> Report:
    report = linted(where, spec, maps).report
    assert report is not None
    return report


@pytest.fixture
def asking() -> Callable[..., Binding]:
    """What a step is called with."""
    return ask_of


@pytest.fixture
def judged() -> Callable[..., Report]:
    """The report on a step."""
    return judge


@pytest.fixture
def step_finding() -> Callable[..., Finding]:
    """The finding on a step alone."""
    return lambda where, spec, maps=(): judge(where, spec, maps).findings[0]


@pytest.fixture
def read() -> Callable[..., Lint]:
    """All that is read off a step."""
    return linted


Written = Callable[..., Finding]


@pytest.fixture
def written_step(tmp_path: Path) -> Written:
    """Judge the text of a step by a document, and assert its verdict and words of the message."""

    def judge_text(text: str, spec: str, verdict: str, *says: str, maps: Maps = (), name: str = "step") -> Finding:
        path = tmp_path / f"own_{len(list(tmp_path.iterdir()))}.py"
        path.write_text(text, encoding="utf-8")
        found = judge(f"{path}:{name}", spec, maps).findings[0]
        assert_expected(found, verdict, says)
        return found

    return judge_text


@pytest.fixture
def expect() -> Callable[..., None]:
    """Assert a verdict, the sizes that it is about and words of the message."""
    return assert_expected


VERDICTS = {"proved": (Proved,), "refuted": (Refuted,), "undecided": (Undecided,), "holds": (Undecided,)}
VERDICTS["not proved"] = (Refuted, Undecided)
SMALL = ((("d", 1),), (("d", 2),), (("d", 3),))


def assert_expected(found: Finding, verdict: str, says: Iterable[str] = (), at: str = "") -> None:
    """Assert what is expected of a finding; of words, "one|other" is either of two."""
    decision = found.decision
    assert isinstance(decision, VERDICTS[verdict]), decision
    told = [" ".join((*getattr(decision, "tried", ()), getattr(decision, "by", ""))), *decision.given]
    for words in says:
        assert any(one in text for text in told for one in words.split("|")), (words, told)
    if isinstance(decision, Refuted):
        assert decision.witness
        assert decision.witness[-1][1] != "0"
        if at:
            assert found.for_d == ("all" if at == "all sizes" else (("d", int(at[-1])),))
    if verdict == "holds" and not at:
        assert isinstance(decision, Undecided)
        assert found.checked_at == SMALL
        assert decision.tried[0].startswith("holds at d = 1; d = 2; d = 3")
        assert decision.tried[1:] == (TO_PROVE,)
    elif verdict == "holds":
        assert isinstance(decision, Undecided)
        assert decision.tried[0].partition(" (")[0] == f"holds at {at}"
    elif verdict == "undecided":
        sizes = at.removeprefix("d = ").split(", ") if at else ()
        assert [*filter(None, found.checked_at)] == [(("d", int(size)),) for size in sizes]
