"""Experiments are run, kept, gone on with; pages are made of their results; what ships runs with --quick."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from command import recipe

from recipe_compiler.experiment import run as running
from recipe_compiler.experiment.document import read_experiment
from recipe_compiler.experiment.page import with_region
from recipe_compiler.experiment.run import read_results
from recipe_compiler.spec.catalogue import names, shipped

Write = Callable[..., Path]
pytestmark = pytest.mark.usefixtures("known_verdicts")
PAGES = sorted((Path(__file__).parents[2] / "docs" / "experiments").glob("*.json"))


def keys(tmp_path: Path) -> dict[str, str]:
    return {name: one.key for name, one in read_results(tmp_path / "out/small/quick/results.json").records.items()}


@pytest.mark.slow
def test_a_run_is_kept_and_made_anew_where_it_changed(write: Write, tmp_path: Path) -> None:
    words = ("experiment", "small.yaml", "--quick", "-o", "out")
    write()
    first = recipe(*words, folder=tmp_path)
    assert first.code in (0, 4), first.err
    before, made = keys(tmp_path), []
    assert len(before) == 7
    draw = running.draw
    with patch.object(running, "draw", lambda *one, **more: made.append(one[0].run.build.name) or draw(*one, **more)):
        again = recipe(*words, folder=tmp_path)
        assert again.out.splitlines()[-8:] == first.out.splitlines()[-8:]
        assert made == []
        write(hmc="bind: {M: 2*I}")
        assert recipe(*words, folder=tmp_path).code in (0, 4)
        assert made == ["small_HMC"]
    after = keys(tmp_path)
    assert [name for name in after if after[name] != before[name]] == ["HMC"]


@pytest.mark.slow
def test_what_was_stopped_goes_on(write: Write, tmp_path: Path) -> None:
    write()
    words, draw = ("experiment", "small.yaml", "--quick", "-o", "out"), running.draw

    def interrupted(*one: object, **more: object) -> object:
        if "SGLD" in one[0].run.build.name:
            raise KeyboardInterrupt
        return draw(*one, **more)

    with patch.object(running, "draw", interrupted):
        assert recipe(*words, folder=tmp_path).code == 130
    assert [*keys(tmp_path)] == ["HMC"]
    assert recipe(*words, folder=tmp_path).code in (0, 4)
    assert len(keys(tmp_path)) == 7


@pytest.mark.slow
def test_a_refuted_build_is_not_run(write: Write, tmp_path: Path) -> None:
    write(bind="bind: {D: -I}")
    outcome = recipe("experiment", "small.yaml", "--quick", "-o", "out", folder=tmp_path)
    assert outcome.code == 1, outcome.err
    assert "runs.SGLD: the build is refuted" in outcome.err


@pytest.mark.slow
def test_a_page_gets_table_and_pictures(write: Write, tmp_path: Path) -> None:
    write()
    page = tmp_path / "small.md"
    words = ("experiment", "small.yaml", "--quick", "-o", "out", "--page", "small.md")
    page.write_text("# Small\n")
    assert "expected these lines" in recipe(*words, folder=tmp_path).err
    page.write_text("# Small\n\n<!-- made by: recipe experiment small -->\n<!-- end of results -->\n\nAfter\n")
    assert recipe(*words, folder=tmp_path).code in (0, 4)
    text = page.read_text()
    assert text.startswith("# Small\n")
    assert text.endswith("\n\nAfter\n")
    assert "| exact | 0 | 1 |" in text
    assert "![sds](small_sds.svg)" in text
    assert (tmp_path / "small_sds.svg").stat().st_size > 1000
    picture = (tmp_path / "small_sds.svg").read_bytes()
    assert recipe(*words, folder=tmp_path).code in (0, 4)
    assert page.read_text() == text
    assert (tmp_path / "small_sds.svg").read_bytes() == picture
    assert json.loads((tmp_path / "small.json").read_text())["quick"] is True


@pytest.mark.parametrize("record", PAGES, ids=lambda path: path.stem)
def test_a_page_is_what_its_results_make(record: Path) -> None:
    path = shipped(record.stem, ("experiment",))
    assert path is not None
    results, page = read_results(record), record.with_suffix(".md").read_text(encoding="utf-8")
    assert not results.quick
    assert with_region(page, read_experiment(path), results) == page


@pytest.mark.slow
def test_all_that_ship_run_quickly(tmp_path: Path) -> None:
    spent = time.process_time()
    for name in names("experiment"):
        outcome = recipe("experiment", name, "--quick", "-o", "out", folder=tmp_path)
        assert outcome.code in (0, 4), outcome.err
        assert "not as stated" not in outcome.err
    assert time.process_time() - spent < 180
