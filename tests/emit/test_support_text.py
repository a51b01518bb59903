"""The text of support functions: complete, deterministic, importable on its own, in the house's format."""

import ast
import builtins
import shutil
import subprocess
from pathlib import Path

import pytest

from recipe_compiler.emit.support.text import _MODULES, _definitions, _places, support_text
from recipe_compiler.errors import CompilerError

ENTRIES = (
    "_fill_normals", "_fill_normals_lanes", "_fill_normals_philox", "_fill_normals_philox_lanes", "_next_step",
    "_fill_normals_numpy", "_next_normal_numpy", "_fill_indices",
    "_shuffle_indices", "_sigmoid", "_softplus", "_is_finite", "_seed_words", "_seed_counters", "_seed_generators",
    "_next_exponential", "_next_integer", "_next_categorical", "_next_beta", "_fill_dirichlet", "_next_binomial",
    "_next_noncentral_chi_square", "_next_cir", "_next_log_gamma_of_count",
)  # fmt: skip


def written(path: Path, names: tuple[str, ...]) -> Path:
    lines = "import math\n\nimport numpy as np\nfrom numba import njit, types\nfrom numba.extending import intrinsic"
    path.write_text(f'"""Support."""\n\n{lines}\n\n{support_text(names)}')
    return path


@pytest.mark.parametrize("name", ENTRIES)
def test_each_function_comes_with_all_it_needs(name: str, tmp_path: Path) -> None:
    module = ast.parse(written(tmp_path / "one.py", (name,)).read_text())
    bound = {n.id for n in ast.walk(module) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.name for n in ast.walk(module) if isinstance(n, ast.FunctionDef)}
    bound |= {n.arg for n in ast.walk(module) if isinstance(n, ast.arg)} | set(dir(builtins))
    bound |= {
        a.asname or a.name for n in ast.walk(module) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }
    used = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)}
    assert used <= bound


def test_constants_given_elsewhere_are_left_out() -> None:
    assert "_FASTMATH =" in support_text(("_sigmoid",))
    assert "_FASTMATH =" not in support_text(("_sigmoid",), given=("_FASTMATH",))


def test_text_is_stable_under_the_formatter(tmp_path: Path) -> None:
    ruff = shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not on the path")
    path = written(tmp_path / "formatted.py", ENTRIES)
    before = path.read_text()
    subprocess.run([ruff, "format", "--line-length", "120", str(path)], check=True, capture_output=True)
    assert path.read_text() == before


def test_unknown_name_is_a_bug_of_the_compiler() -> None:
    with pytest.raises(CompilerError, match="_sigmoidd"):
        support_text(("_sigmoidd",))


def test_the_modules_that_names_are_looked_for_in_are_those_that_define_them() -> None:
    defined = {name: module for module in _MODULES for one in _definitions(module) for name in one.names}
    assert _places() == defined
    assert {"_HEIGHTS", "_FASTMATH", "_fill_normals"} <= defined.keys()
