"""A step that depends on anything that is not known to be its own is undecided, and told by which line and what."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from recipe_compiler.lint.dependencies import MOST, dependencies
from recipe_compiler.lint.source import read_source

TEXTS = YAML(typ="safe", pure=True).load(Path(__file__).with_name("dependencies.yaml").read_text(encoding="utf-8"))
STEP = "def step(x, eps, rng):\n    return "
NAMED = f"import decimal, logging, math, warnings\nimport beside\nimport numpy as np\n{STEP}x * bool(%s)  # %s\n"
BESIDE = (
    "import logging\nimport math\nSCALE = 2\nLEVEL = logging.root  # logging.root\ndef f(x):\n    return math.sqrt(x)\n"
)


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    """What is told of a step of a file, with files beside it."""

    def look(text: str, *replaced: str, **beside: str) -> tuple[str, ...]:
        path = tmp_path / "own.py"
        path.write_text(text, encoding="utf-8")
        for name, other in beside.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / f"{name}.py").write_text(other, encoding="utf-8")
        source = read_source(f"{path}:step")
        names = [one.name for one in source.arguments]
        return dependencies(source, replaced, [name for name in names if name == "rng"], names)

    return look


@pytest.mark.parametrize("text", [*TEXTS["told"], *(NAMED % pair for pair in TEXTS["names"].items())])
def test_what_a_step_depends_on_is_told_by_line_and_name(text: str, told: Callable[..., tuple[str, ...]]) -> None:
    told_of = "beside" if "beside.LEVEL" in text else "own"
    lines = (BESIDE if told_of == "beside" else text).splitlines()
    line, name = next((k, one.split("  # ")[1]) for k, one in enumerate(lines, 1) if "  # " in one)
    said = told(text, beside=BESIDE)
    assert any(f"{told_of}.py:{line}: it depends on " in one and name in one for one in said), said


@pytest.mark.parametrize("text", TEXTS["passes"])
def test_what_follows_from_the_arguments_alone_is_let_pass(text: str, told: Callable[..., tuple[str, ...]]) -> None:
    package = {"package/inner": "from .part import g as f\n", "package/part": "def g(x):\n    return 2 * x\n"}
    assert told(text, beside=BESIDE, **package) == ()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("f = abs\nfrom logging import getLogger as f\n", "`logging.getLogger`"),
        ("import math\nimport os\nSCALE = len(os.environ)\ndef f(x):\n    return SCALE * x\n", "beside.py:3: "),
        ("import numpy as np\nnp.sqrt = abs\ndef f(x):\n    return x\n", "beside.py:2: it depends on `numpy.sqrt`"),
        ("def f(:\n", "`beside`, whose source cannot be read"),
        ("def __getattr__(name):\n    return abs\n", "`beside.f`"),
    ],
)
def test_a_file_beside_the_step_is_read_by_the_same_rule(
    other: str, said: str, told: Callable[..., tuple[str, ...]]
) -> None:
    assert any(said in one for one in told("from beside import f\n" + STEP + "f(x)\n", beside=other))


def test_a_file_that_is_named_like_a_module_is_read_in_its_place(told: Callable[..., tuple[str, ...]]) -> None:
    (said,) = told("import math\n" + STEP + "math.exp(x)\n", math="import os\nexp = os.environ.get\n")
    assert "math.py:2: it depends on `os.environ.get`" in said


def test_what_a_star_gives_comes_before_what_python_has(told: Callable[..., tuple[str, ...]]) -> None:
    for own in ("", "def abs(v):\n    return v\n"):
        said = told(f"{own}from beside import *\n{STEP}abs(x)\n", beside="from logging import getLogger as abs\n")
        assert any("`logging.getLogger`" in one for one in said), said


def test_files_that_import_each_other_are_read_once(told: Callable[..., tuple[str, ...]]) -> None:
    assert told(f"from beside import f\n{STEP}f(x)\n", beside="from own import step\ndef f(x):\n    return x\n") == ()
    said = told(f"from beside import *\n{STEP}open(x)\n", beside="from own import *\n")
    assert any("`open`" in one for one in said)


def test_what_is_replaced_is_not_looked_at(told: Callable[..., tuple[str, ...]]) -> None:
    text = "import numpy as np\nX = np.loadtxt('data.csv')\nY = X\n" + STEP + "x * X"
    assert told(text, "X") == ()
    for said in (told(text), told(f"{text} * Y", "X")):
        assert "own.py:2: it depends on `numpy.loadtxt`" in said[0]


def test_of_many_lines_some_are_told(told: Callable[..., tuple[str, ...]]) -> None:
    said = told("import os\ndef step(x, eps, rng):\n" + "    x = x * os.times()\n" * (MOST + 3) + "    return x\n")
    assert len(said) == MOST + 1
    assert said[-1] == "3 more such lines"
