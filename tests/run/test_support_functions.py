"""Support functions that modules have in common are compiled once; whatever differs in any way stays a module's own."""

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
