"""What all tests share: golden texts, and a warning of third parties that is not ours to mend."""

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption("--update-golden", action="store_true", help="accept changes of golden texts, and show them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """A check that a text equals a committed file; with `--update-golden` the file is written and the change shown."""
    update = request.config.getoption("--update-golden")

    def check(path: Path, text: str) -> None:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if text == before:
            return
        lines = difflib.unified_diff(before.splitlines(), text.splitlines(), str(path), "now", lineterm="")
        change = "\n".join(lines)
        if not update:
            pytest.fail(f"{change}\n\naccept with: python -m pytest --update-golden", pytrace=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        request.config.get_terminal_writer().line(f"\n{change}")

    return check
