"""Functions that modules have in common are compiled once; whatever differs in any way stays a module's own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shipped_text import shipped_text

from recipe_compiler.run.shared_functions import share_functions

pytestmark = pytest.mark.usefixtures("with_jit")

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
    "Keep what is compiled."
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
    share_functions(first)
    share_functions(second)
    assert second["inner"] is first["inner"]
    assert second["outer"] is first["outer"]
    assert (second["kept"], second["plain"]) == own, "what is kept beside its file, or no jit compiles, is its own"


@pytest.mark.slow
def test_what_is_kept_is_filed_under_its_content(tmp_path: Path) -> None:
    texts = (TEXT, TEXT.replace("Keep what", "Other words on what"), TEXT.replace("SCALE = 0.0", "SCALE = 2.0"))
    spaces = [names_of(text) for text in texts]
    for space in spaces:
        share_functions(space, tmp_path)
    first, second, other = (space["kept"] for space in spaces)
    assert second is first
    assert other is not first
    assert (first(3.0), other(3.0)) == (8.0, 10.0)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in files) == [".nbc", ".nbc", ".nbi", ".nbi"]
    assert len({path.parent for path in files}) == 2


def test_words_that_are_computed_with_count() -> None:
    """Python has one constant for the words of a function and for equal ones in its code."""
    text = TEXT.replace("def outer(x):", 'def outer(x):\n    "Add."').replace("PAIR[0]", "len('Add.')")
    first, second = (names_of(one) for one in (text, text.replace("Add.", "Add numbers.")))
    share_functions(first)
    share_functions(second)
    assert (first["plain"](3.0), second["plain"](3.0)) == (11.0, 19.0)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_differs_stays(change: tuple[str, str]) -> None:
    assert TEXT.count(change[0]) == 1
    first, second = names_of(TEXT), names_of(TEXT.replace(*change))
    own = second["outer"]
    share_functions(first)
    share_functions(second)
    assert second["outer"] is own
    assert second["outer"] is not first["outer"]


KEPT = """
import sys
from pathlib import Path
from recipe_compiler.run.load_module import load_text

modules = [load_text(path.stem, path.read_text()) for path in map(Path, {paths})]
for module in modules:
    space = vars(sys.modules[module.seed_streams.__module__])
    drawn = space["sample"](draws=2, warmup=0, thin=1, chains=1, seed=2)["theta"]
print(sum(space["run"].stats.cache_hits.values()), drawn.tobytes().hex())
"""


def test_what_is_kept_is_found_without_the_first_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiled code calls is of a module that the other process has not imported: its name must mean the same."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    def ran(*paths: Path) -> list[str]:
        text = KEPT.format(paths=[str(path) for path in paths])
        return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()

    baoab = GENERATED / "sghmc_double_well_baoab.py"
    hits, drawn = ran(GENERATED / "sgld_gaussian.py", baoab)
    assert hits == "0", "both were compiled"
    assert ran(baoab) == ["1", drawn]
    renamed = tmp_path / "renamed.py"
    text = baoab.read_text()
    renamed.write_text(
        text.replace(baoab.stem, "renamed").replace("Advance a chain", "Further down,\n    advance a chain")
    )
    assert ran(renamed) == ["1", drawn], "functions that are what they were are not compiled again"


DRAWN = """
import sys
import numpy as np
from pathlib import Path
from recipe_compiler.run.load_module import load_text

module = load_text("module", Path({path!r}).read_text())
space = vars(sys.modules[module.seed_streams.__module__])
rng = np.random.default_rng(0)
x = rng.normal(size=(569, 30))
y = (rng.random(569) < 0.5).astype(float)
drawn = space["sample"](x, y, step_size=0.006, batch_size=512, draws=3, warmup=0, thin=1000, chains=1, seed=2)["theta"]
print(sum(space["run"].stats.cache_hits.values()), drawn.tobytes().hex())
"""


def test_what_is_kept_draws_what_was_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient that is called stands twice where a chain was compiled, once where it is kept: sums differ by order.

    The last bits of a sum are another one's now and then: these data and this seed have such steps.
    """
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    path = tmp_path / "sgnht_logistic.py"
    path.write_text(shipped_text(path.stem), encoding="utf-8")
    text = DRAWN.format(path=str(path))
    command = [sys.executable, "-c", text]
    compiled, kept = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert (compiled[:2], kept[:2]) == ("0 ", "1 ")
    assert compiled[2:] == kept[2:]
