"""What is kept of earlier commands: found again word for word, never in place of something else, never when damaged."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaders import load_build, load_dynamics

import recipe_compiler as rc
from recipe_compiler import cache as entries
from recipe_compiler import pipeline
from recipe_compiler.cache import NOTHING, Cache, check_once, from_text, open_cache, to_text
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.program import Program
from recipe_compiler.readback import child_process
from recipe_compiler.report import check as deciding
from recipe_compiler.run.data import data_of
from recipe_compiler.run.observed import with_data
from recipe_compiler.spec.catalogue import SCHEMES
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Finding, Report, Undecided, Verdict

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "specs/dynamics/sghmc.yaml",
    "specs/targets/logistic_regression.yaml",
    "specs/builds/sghmc_logistic.yaml",
    "tests/mutants/sghmc_naive.yaml",
    "tests/recover/coupled_thermostats.yaml",
)
SGLD = (ROOT / "specs" / "dynamics" / "sgld.yaml").read_text(encoding="utf-8")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The documents that are decided anew."""
    found: list[str] = []

    def counted(
        document: Dynamics | Target | Build, *, advisory: bool = True, findings: tuple[Finding, ...] | None = None
    ) -> Report:
        found.extend([document.name] if findings is None else [])
        return check(document, advisory=advisory, findings=findings)

    check = deciding.check
    monkeypatch.setattr(deciding, "check", counted)
    return found


def sgld(folder: Path, *changes: tuple[str, str]) -> Dynamics:
    text = SGLD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "sgld.yaml").write_text(text, encoding="utf-8")
    return load_dynamics(folder / "sgld.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_report_is_read_as_it_was_written(name: str) -> None:
    report = deciding.check(load(ROOT / name))
    again = from_text(to_text(report))
    assert again == report
    assert [finding.seconds for finding in again.findings] == [finding.seconds for finding in report.findings]
    assert repr(again) == repr(report)


def test_what_is_known_is_not_decided_again(tmp_path: Path, cache: Cache, decided: list[str]) -> None:
    first = check_once(sgld(tmp_path), cache)
    assert check_once(sgld(tmp_path), cache) == first
    assert check_once(sgld(tmp_path), cache, advisory=False) == first
    assert decided == ["sgld"]


def step_changed(name: str, folder: Path, eps: str) -> Build:
    """Return a shipped build with another step size in its text, and every entry where it stood."""
    text = (ROOT / "specs" / "builds" / f"{name}.yaml").read_text(encoding="utf-8")
    text = re.sub(r"step_size: [0-9.e-]+", f"step_size: {eps}", text.replace("../", f"{ROOT}/specs/"))
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return load_build(folder / f"{name}.yaml")


@pytest.mark.slow
def test_what_the_noise_of_minibatches_allows_is_decided_for_every_step(
    tmp_path: Path, cache: Cache, decided: list[str]
) -> None:
    for eps in ("0.00001", "1"):
        report = check_once(step_changed("sghmc_linear_regression", tmp_path, eps), cache)
        build = step_changed("sghmc_linear_regression", tmp_path, eps)
        assert report == deciding.check(build)
    assert decided == ["sghmc_linear_regression"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("change", [("H: U(theta)", "H: 2*U(theta)"), ("format: 1", "# a comment\nformat: 1"), None])
def test_another_document_and_another_compiler_decide(
    change: tuple[str, str] | None, tmp_path: Path, cache: Cache, decided: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kept, count in ((cache, 1), (NOTHING, 2)):
        check_once(sgld(tmp_path), kept)
        assert decided == ["sgld"] * count
    if change is None:
        monkeypatch.setattr(entries, "compiler", lambda: "another")
    check_once(sgld(tmp_path, *([change] if change else [])), cache)
    assert decided == ["sgld"] * 3


def limited(report: Report) -> Report:
    first, *rest = report.findings
    return replace(report, findings=(replace(first, decision=Undecided(("did not end in 5 s",), by_limit=True)), *rest))


@pytest.mark.slow
@pytest.mark.parametrize("change", [limited, lambda report: refuted()])
def test_what_a_limit_may_change_is_not_kept(
    change: Callable[[Report], Report], tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = change(deciding.check(sgld(tmp_path)))
    monkeypatch.setattr(deciding, "check", lambda *_, **__: report)
    assert check_once(sgld(tmp_path), cache) == report
    assert cache.folder is not None
    assert not cache.folder.exists()


def refuted() -> Report:
    report = deciding.check(load(ROOT / "tests/mutants/d_negative.yaml"))
    assert report.verdict is Verdict.REFUTED
    return report


def test_a_claim_that_does_not_end_is_said_to_be_so(tmp_path: Path) -> None:
    report = deciding.check(sgld(tmp_path), 1e-4)
    assert any(isinstance(f.decision, Undecided) and f.decision.by_limit for f in report.findings)


@pytest.mark.slow
def test_a_text_is_read_back_once(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    build = load_build(ROOT / "specs/builds/sgld_gaussian.yaml")
    read: list[object] = []
    monkeypatch.setattr(child_process, "read_all", lambda *given: read.append(given))
    first = compile_build(build, cache=cache)
    before = len(read)
    assert before == 1
    assert compile_build(build, cache=cache).text == first.text
    assert len(read) == before
    monkeypatch.setattr(pipeline, "compiler", lambda: "another")
    compile_build(build, cache=cache)
    assert len(read) == 2 * before


@pytest.mark.slow
def test_another_step_of_the_same_documents_is_read_back(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    build = load_build(ROOT / "specs/builds/sgld_gaussian.yaml")
    read, emit, discretise = list[object](), pipeline.emit_module, pipeline.discretise
    text = compile_build(build).text

    def other(*given: Any, **named: Any) -> Program:
        program = discretise(*given, **named)
        return replace(program, replacement=not program.replacement)

    monkeypatch.setattr(child_process, "read_all", lambda *given: read.append(given))
    monkeypatch.setattr(pipeline, "emit_module", lambda *given: replace(emit(*given), text=text))
    for _ in range(2):
        compile_build(build, cache=cache, with_file=False)
    assert len(read) == 1
    monkeypatch.setattr(pipeline, "discretise", other)
    compile_build(build, cache=cache, with_file=False)
    assert len(read) == 2


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    report = check_once(sgld(tmp_path), Cache(tmp_path / "file" / "cache"))
    assert report.verdict is Verdict.PROVED


@pytest.mark.parametrize("home", ["", "relative"])
def test_the_folder_is_that_of_the_user(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    folder = open_cache().folder
    assert folder is not None
    assert folder.is_relative_to(tmp_path / ".cache" / "recipe_compiler")
    assert open_cache(use=False).folder is None


def test_the_compiler_is_another_one_with_another_scheme_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `{name: baoab}` means is in no document of a build, so that no document tells that it has changed."""
    read: list[Path] = []
    own = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (read.append(path), own(path))[1])
    entries.compiler.__wrapped__()
    assert SCHEMES / "baoab.yaml" in read


@pytest.mark.slow
def test_data_that_are_given_are_part_of_what_verdicts_are_looked_up_by(cache: Cache, decided: list[str]) -> None:
    build = rc.Build(
        dynamics=ROOT / "specs/dynamics/sghmc.yaml", target=ROOT / "tests/posteriors/targets/regression_flat.yaml",
        name="line", scheme="baoab", variant="full", step_size="auto",
    ).document  # fmt: skip
    x, y = np.column_stack([np.ones(5), np.arange(5.0)]), np.array([1.0, 3.5, 4.0, 7.5, 8.0])
    one, other, line = (data_of({"x": x, "y": those}, build.target) for those in (y, y[::-1], x @ [1.0, 2.0]))
    reports = [check_once(with_data(build, data), cache) for data in (one, other, one, other)]
    assert decided == ["line"] * 2
    assert reports[:2] == reports[2:]
    assert [check_once(with_data(build, data), cache).verdict for data in (one, line)] == [
        Verdict.PROVED,
        Verdict.REFUTED,
    ]
    assert check_once(build, cache).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("how", ["in its place", "by another file"])
def test_a_large_file_whose_time_was_set_back_is_another(how: str, tmp_path: Path) -> None:
    path, size = tmp_path / "large.npy", entries.LARGEST + 1
    path.write_bytes(bytes(size))
    before, state = entries.content(path), path.stat()
    assert entries.content(path) == before
    time.sleep(0.05)  # some systems note times to a hundredth of a second
    new = path if how == "in its place" else tmp_path / "new.npy"
    new.write_bytes(b"1" * size)
    os.utime(new, ns=(state.st_atime_ns, state.st_mtime_ns))
    new.replace(path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert entries.content(path) != before
