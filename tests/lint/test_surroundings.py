"""A step whose code reads the command, the environment or who calls it is undecided, and told by what."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler.lint.source import read_source
from recipe_compiler.lint.surroundings import surroundings
from recipe_compiler.verdict import Report, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.fixture
def seen(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    def look(text: str) -> tuple[str, ...]:
        path = tmp_path / "own.py"
        path.write_text(text, encoding="utf-8")
        return surroundings(read_source(f"{path}:step"))

    return look


READS = {
    "import os\ndef step(x, eps, rng):\n    return x * (os.environ.get('A', '') == '')\n": (3, "os.environ.get"),
    "import os as o\ndef step(x, eps, rng):\n    return x * len(o.environ)\n": (3, "os.environ"),
    "from sys import argv\ndef step(x, eps, rng):\n    return x * len(argv)\n": (3, "sys.argv"),
    "from os import getenv as g\ndef step(x, eps, rng):\n    return x if g('A') else -x\n": (3, "os.getenv"),
    "import sys\nCOUNT = len(sys.argv)\ndef step(x, eps, rng):\n    return x * COUNT\n": (2, "sys.argv"),
    "import sys\ndef who():\n    return sys._getframe(2)\ndef step(x, eps, rng):\n    return x if who() else -x\n": (
        *(3, "sys._getframe"),
    ),
    "def step(x, eps, rng):\n    import inspect\n    return x * len(inspect.stack())\n": (3, "inspect.stack"),
    "import os\nCOUNT = 0\nif os.getpid() > 1:\n    COUNT = 1\ndef step(x, eps, rng):\n    return x * COUNT\n": (
        *(3, "os.getpid"),
    ),
    "def step(x, eps, rng):\n    return x if __import__('os').environ else -x\n": (2, "__import__"),
    "def step(x, eps, rng):\n    return x * len(globals())\n": (2, "globals"),
    "import sys\nclass A:\n    n = sys.flags\ndef step(x, eps, rng):\n    return x * (A.n is None)\n": (3, "sys.flags"),
}


@pytest.mark.parametrize("text", READS)
def test_what_is_read_of_the_surroundings_is_told_by_its_line(
    text: str, seen: Callable[[str], tuple[str, ...]]
) -> None:
    line, name = READS[text]
    (said,) = seen(text)
    assert f"own.py:{line}: it looks at its surroundings ({name})" in said


@pytest.mark.parametrize(
    "text",
    [
        "import os\nimport numpy as np\nROOT = os.path.dirname(__file__)\ndef step(x, eps, rng):\n    return x + eps\n",
        "import sys\ndef step(x, eps, rng):\n    sys.stdout.write('.')\n    return x + eps\n",
        "import sys\ndef step(x, eps, rng):\n    return x + eps\nif __name__ == '__main__':\n    step(*sys.argv)\n",
        "import sys\nsys.path.insert(0, '.')\ndef step(x, eps, rng):\n    return x * sys.float_info.max\n",
        "def step(x, system, eps, rng):\n    return x + system.argv\n",
    ],
)
def test_what_a_step_does_not_name_or_what_tells_nothing_is_left_alone(
    text: str, seen: Callable[[str], tuple[str, ...]]
) -> None:
    assert seen(text) == ()


def test_such_a_step_is_undecided_even_where_it_does_the_same_in_every_run_here(
    tmp_path: Path, judged: Callable[..., Report]
) -> None:
    """Only where the variable is set does it lose its noise, and no run here sets it."""
    path = tmp_path / "own.py"
    path.write_text(
        "import os\nimport numpy as np\n\n\n"
        "def step(x, p, gamma, eps, rng):\n"
        "    noise = 0 if 'SAMPLER_QUIET' in os.environ else np.sqrt(2 * gamma * eps) * rng.standard_normal()\n"
        "    return x + eps * p, p - eps * (x**3 - x) - eps * gamma * p + noise\n",
        encoding="utf-8",
    )
    decision = judged(f"{path}:step", "double_well").findings[0].decision
    assert isinstance(decision, Undecided)
    assert any("own.py:6: it looks at its surroundings (os.environ)" in said for said in decision.tried), decision.tried
