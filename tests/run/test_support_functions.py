"""Support functions that modules have in common are compiled once; whatever differs in any way stays a module's own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recipe_compiler.run.load_module import load_file
from recipe_compiler.run.support_functions import share_support

GENERATED = Path(__file__).parents[2] / "generated"
TEXT = """
import numpy as np
from numba import njit

SCALE = 0.0
TABLE = np.array([1.0, 2.0])
PAIR = (1, 2)

@njit(error_model="numpy")
def inner(x):
    return TABLE[1] * x + 1.0

@njit(error_model="numpy")
def outer(x):
    return inner(x) + SCALE + PAIR[0]

@njit(cache=True)
def kept(x):
    return outer(x)

def plain(x):
    return outer(x)
"""
CHANGES = {
    "the sign of a zero": ("SCALE = 0.0", "SCALE = -0.0"),
    "the type of a number": ("PAIR = (1, 2)", "PAIR = (1.0, 2)"),
    "an entry of a table": ("[1.0, 2.0]", "[1.0, 2.5]"),
    "the type of a table": ("[1.0, 2.0])", "[1.0, 2.0], np.float32)"),
    "an option of what is called": ('"numpy")\ndef inner', '"numpy", fastmath={"nsz"})\ndef inner'),
    "an option": ('"numpy")\ndef outer', '"numpy", inline="always")\ndef outer'),
    "a number in what is called": ("* x + 1.0", "* x + 1.5"),
    "the type of a number in what is called": ("* x + 1.0", "* x + 1"),
    "an operation": ("inner(x) + SCALE", "inner(x) - SCALE"),
    "a plain function in between": ("return inner(x)", "return plain(x)"),
}


def names_of(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "of_a_test"}
    exec(compile(text, __file__, "exec"), space)
    return space


def test_copies_give_way_to_the_first() -> None:
    first, second = (names_of(text) for text in (TEXT, f"# further down\n\n{TEXT}"))
    own = second["kept"], second["plain"]
    share_support(first)
    share_support(second)
    assert second["inner"] is first["inner"]
    assert second["outer"] is first["outer"]
    assert (second["kept"], second["plain"]) == own, "what is kept on disk, or no jit compiles, is the module's own"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_differs_stays(change: tuple[str, str]) -> None:
    assert TEXT.count(change[0]) == 1
    first, second = names_of(TEXT), names_of(TEXT.replace(*change))
    own = second["outer"]
    share_support(first)
    share_support(second)
    assert second["outer"] is own
    assert second["outer"] is not first["outer"]


def test_each_module_computes_with_its_own_numbers() -> None:
    first, second = names_of(TEXT), names_of(TEXT.replace("* x + 1.0", "* x + 1.5"))
    share_support(first)
    share_support(second)
    assert first["plain"](3.0) == 2.0 * 3.0 + 1.0 + 1.0
    assert second["plain"](3.0) == 2.0 * 3.0 + 1.5 + 1.0


def test_shipped_modules_draw_normals_with_one_function() -> None:
    modules = [load_file(GENERATED / f"{name}.py") for name in ("sgld_gaussian", "sghmc_gaussian_baoab")]
    spaces = [vars(sys.modules[module.run.py_func.__module__]) for module in modules]
    assert spaces[0] is not spaces[1]
    assert spaces[0]["_next_normal"] is spaces[1]["_next_normal"]
    assert spaces[0]["run"] is not spaces[1]["run"]
    drawn = [space["sample"](draws=3, warmup=0, thin=1, chains=1, seed=2)["theta"] for space in spaces]
    assert all(np.isfinite(one).all() and one.std() > 0.0 for one in drawn)


KEPT = """
import sys
from pathlib import Path
from recipe_compiler.run.load_module import load_file

modules = [load_file(Path({folder!r}) / f"{{name}}.py") for name in {names}]
for module in modules:
    space = vars(sys.modules[module.run.py_func.__module__])
    drawn = space["sample"](draws=2, warmup=0, thin=1, chains=1, seed=2)["theta"]
print(sum(space["run"].stats.cache_hits.values()), drawn.tobytes().hex())
"""


def test_what_is_kept_is_found_by_a_process_without_the_first_module(
    warm_libraries: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What compiled code calls is of a module that the other process has not imported: its name must mean the same."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    def ran(*names: str) -> list[str]:
        text = KEPT.format(folder=str(GENERATED), names=names)
        return subprocess.run([*warm_libraries, "-c", text], capture_output=True, text=True, check=True).stdout.split()

    hits, drawn = ran("sgld_gaussian", "sghmc_gaussian_baoab")
    assert hits == "0", "both were compiled"
    assert ran("sghmc_gaussian_baoab") == ["1", drawn]


def test_names_are_the_same_in_every_process() -> None:
    """Sets are written in order: hashes of strings differ from process to process."""
    text = TEXT.replace("return TABLE", "return (x in {'a', 'b', 'c'}) + TABLE")
    text = text.replace('"numpy")', '"numpy", fastmath={"nsz", "arcp", "contract"})')
    script = f"space = {{}}\nexec(compile({text!r}, 'a.py', 'exec'), space)\n" + (
        "from recipe_compiler.run.support_functions import share_support\nshare_support(space)\n"
        "print(space['inner'].py_func.__module__, space['outer'].py_func.__module__)"
    )
    script = script.replace("cache=True", "cache=False")
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in "12"
    }
    assert len(found) == 1
    assert found.pop().count("_recipe_support_") == 2
