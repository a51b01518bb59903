"""The command line as a function: arguments in, exit code and what is printed out."""

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from recipe_compiler.cli import main

ROOT = Path(__file__).parents[2]
FINISHED = (0, 4)
"""Exit codes of a run that came to its end, whether its summary is to be believed or not."""


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def recipe(*arguments: str | Path, folder: Path = ROOT) -> Outcome:
    """Run `recipe` in this process and in a folder; a traceback fails."""
    out, err = io.StringIO(), io.StringIO()
    named = patch.object(sys, "argv", ["recipe", *map(str, arguments)])
    with chdir(folder), redirect_stdout(out), redirect_stderr(err), named, pytest.raises(SystemExit) as end:
        main()
    assert "Traceback" not in err.getvalue()
    return Outcome(int(end.value.code or 0), out.getvalue(), err.getvalue())
