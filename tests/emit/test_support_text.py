"""The text of support functions: in the house's format, of names that there are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from recipe_compiler.emit.support.text import support_text
from recipe_compiler.errors import CompilerError

ENTRIES = (
    "_fill_normals", "_fill_normals_lanes", "_fill_indices",
    "_shuffle_indices", "_sigmoid", "_softplus", "_seed_words",
    "_next_exponential", "_next_integer", "_next_categorical", "_next_beta", "_next_binomial",
    "_next_gamma_of_count", "_next_log_gamma_of_count",
)  # fmt: skip


def test_text_is_stable_under_the_formatter(tmp_path: Path) -> None:
    ruff = shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not on the path")
    path, before = tmp_path / "formatted.py", support_text(ENTRIES)
    path.write_text(before)
    subprocess.run([ruff, "format", "--line-length", "120", str(path)], check=True, capture_output=True)
    assert path.read_text() == before


def test_unknown_name_is_a_bug_of_the_compiler() -> None:
    with pytest.raises(CompilerError, match="_sigmoidd"):
        support_text(("_sigmoidd",))
