"""The pages that are programs run, and print what they say."""

from pathlib import Path

import pytest

WALKTHROUGH = Path(__file__).parents[2] / "docs/walkthrough.md"


@pytest.mark.parametrize("name", ["walkthrough.md", pytest.param("first_use.md", marks=pytest.mark.slow)])
def test_the_page_prints_what_it_says(name: str, golden, with_run_programs) -> None:
    page = WALKTHROUGH.with_name(name)
    golden(page, with_run_programs(page.read_text(encoding="utf-8")))


def test_a_changed_output_is_found(with_run_programs) -> None:
    text = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert with_run_programs(text) == text.replace("3", "2")


def test_a_time_is_no_change(with_run_programs) -> None:
    text = "```python\nprint('done in 12 ms')\n```\n\n```text\ndone in 7 ms\n```\n"
    assert with_run_programs(text) == text


def test_the_python_of_the_spec_reference_runs(with_run_programs) -> None:
    text = (WALKTHROUGH.parent / "spec_reference.md").read_text(encoding="utf-8")
    assert "Dynamics(" in text
    assert with_run_programs(text) == text
