"""The page on what the judge says shows what the commands print."""

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "judge.md"


@pytest.mark.slow
def test_the_blocks_are_what_the_commands_print(golden, with_made_blocks) -> None:
    golden(PAGE, with_made_blocks(PAGE.read_text(encoding="utf-8")))
