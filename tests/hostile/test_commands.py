"""Hostile inputs by the command: each is refused, without a traceback and soon, and nothing in it runs."""

from pathlib import Path

import pytest
from command import recipe
from processor_time import ends
from some import some
from tries import TRIES, Try, laid_out

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back")


@pytest.mark.parametrize("one", some(TRIES, 11), ids=lambda one: one.name)
def test_it_is_refused(one: Try, tmp_path: Path) -> None:
    folder = tmp_path / "a/b/c/d"  # deep enough for paths that climb
    folder.mkdir(parents=True)
    laid_out(folder, one.files)
    with ends():
        assert recipe(*one.arguments, folder=folder).code in one.allowed
    assert not list(tmp_path.rglob("*CANARY*"))
