"""A step that depends on anything that is not known to be its own is undecided, and told by which line and what."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from some import some

from recipe_compiler.lint.dependencies import MOST, NOT_FOLLOWED, dependencies
from recipe_compiler.lint.source import read_source
from recipe_compiler.verdict import Finding, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")

STEPS = Path(__file__).parent / "steps"
FILE = STEPS / "depends.py"
LINES = FILE.read_text(encoding="utf-8").splitlines()
NAMES = [node.name for node in ast.parse("\n".join(LINES)).body if isinstance(node, ast.FunctionDef)]
HOSTILE = [name for name in NAMES if name.startswith("by_")]


def marked(name: str) -> tuple[str, str]:
    """Return where a step of `depends.py` is marked, and what it depends on there."""
    start = LINES.index(f"def {name}(x, p, eps, rng):")
    k, mark = next((k, line.split("  # ")[1]) for k, line in enumerate(LINES[start:], start + 1) if "  # " in line)
    where, what = mark.split(": ")
    return (f"{where}:" if where.endswith(".py") else f"depends.py:{k}: "), what


@pytest.mark.parametrize("name", some(HOSTILE, 2))
def test_what_a_step_depends_on_is_told_by_line_and_name(name: str, step_finding: Callable[..., Finding]) -> None:
    """With the list of what is forbidden that there was, 52 of these were proved."""
    where, what = marked(name)
    decision = step_finding(f"depends.py:{name}", "double_well").decision
    assert isinstance(decision, Undecided)
    said = [one for one in decision.tried if NOT_FOLLOWED in one]
    assert any(where in one and re.search(rf"\b{re.escape(what)}\b|{re.escape(what)}", one) for one in said), said


OWN = "class Rule:\n    level = 1\n    def of(self):\n        return self.level\nRULE = Rule()\n"
OF_OTHERS = {
    "x * rng.level": "level",
    "x * (lambda: 1).level": "level",
    "x * np.finfo(float).level": "level",
    "x * np.sqrt(x).level": "level",
    "x * (1, 2).level": "level",
    "x * np.sqrt.level": "level",
    "x * RULE.level": "",
    "x * RULE.of()": "",
    "x * Rule().level": "",
}
"""Attributes that a class of the file has, of other values too; what is told of them."""


@pytest.mark.parametrize("written", OF_OTHERS)
def test_fields_of_a_class_are_none_of_what_is_known_to_be_something_else(
    written: str, told: Callable[..., tuple[str, ...]]
) -> None:
    found = told(f"import numpy as np\n{OWN}{STEP}{written}\n")
    what = OF_OTHERS[written]
    assert [f"`{what}`" in one for one in found] == [True] * bool(what)


def test_an_argument_that_is_made_anew_may_be_an_instance(told: Callable[..., tuple[str, ...]]) -> None:
    text = f"{OWN}def step(x, eps, rng):\n    rule = x.level\n    return rule\n"
    assert len(told(text)) == 1
    assert told(text.replace("    rule = x", "    y, x = x, Rule()\n    rule = x")) == ()


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    """What is told of a step of a file, with files beside it."""

    def look(text: str, *replaced: str, **beside: str) -> tuple[str, ...]:
        path = tmp_path / "own.py"
        path.write_text(text, encoding="utf-8")
        for name, other in beside.items():
            (tmp_path / f"{name}.py").write_text(other, encoding="utf-8")
        source = read_source(f"{path}:step")
        names = [one.name for one in source.arguments]
        return dependencies(source, replaced, [name for name in names if name == "rng"], names)

    return look


STEP = "def step(x, eps, rng):\n    return "
KEEP = "K = [0]\ndef keep(q):\n    K[0] = q\n"
SEEDED = "import numpy as np; from numpy.random import default_rng\n"
NOISE = "def step(x, eps):\n    return x + "
SHARED = "def step(x, rng):\n    return x + rng.normal() - A.normal()\n"
LEVEL = "from logging import getLogger\ndef hidden(*_):\n    return getLogger().level\n"
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
    "import time\ndef step(x, eps, rng, at=time.time()):\n    return x * at\n": (2, "time.time"),
    "import atexit\n@atexit.register\ndef step(x, eps, rng):\n    return x\n": (2, "atexit.register"),
    "def step(x, grad_U, eps):\n    grad_U.calls += 1\n    return x - eps * grad_U(x)\n": (2, "calls"),
    "def f(g):\n    g.calls += 1\ndef step(x, grad_U, eps):\n    f(grad_U)\n    return x - eps * grad_U(x)\n": (
        *(2, "calls"),
    ),
    "class A:\n    state = 0\ndef step(x, eps, rng):\n    return x * rng.bit_generator.state\n": (4, "bit_generator"),
    "class A:\n    def __del__(self):\n        pass\ndef step(x, eps, rng):\n    return x * len([A()])\n": (
        *(2, "__del__"),
    ),
    "class A(metaclass=type):\n    pass\ndef step(x, eps, rng):\n    return x * len([A()])\n": (1, "metaclass"),
    "def step(x, eps, rng):\n    return [type for type in [1]] and type(x)(x)\n": (2, "type"),
    "class A:\n    type = 0\n    def of(self):\n        return type(2)\ndef step(x, eps):\n    return x * A().of()\n": (
        *(4, "type"),
    ),
    "import math as m\ndef other():\n    import os as m\n    return m\ndef step(x, eps, rng):\n    return m.exp(x)\n": (
        *(6, "os.exp"),
    ),
    "import numpy as np\nnp.sqrt = abs\ndef step(x, eps, rng):\n    return np.sqrt(x)\n": (2, "numpy.sqrt"),
    "import numpy as np\ndef put():\n    np.sqrt = abs\nput()\ndef step(x, eps, rng):\n    return np.sqrt(x)\n": (
        *(3, "numpy.sqrt"),
    ),
    "import numpy as np\nsetattr(np, 'sqrt', abs)\ndef step(x, eps, rng):\n    return np.sqrt(x)\n": (2, "setattr"),
    "import sys\nimport numpy as np\nsys.modules['numpy'] = 0\ndef step(x, eps, rng):\n    return np.sqrt(x)\n": (
        *(3, "modules"),
    ),
    "import sys\nclass W:\n    def write(self, text):\n        open(text)\nsys.stdout = W()\n"
    "def step(x, eps, rng):\n    print(1)\n    return x\n": (4, "open"),
    "def step(x, eps, rng):\n    a = {'a': 1}.keys() | {'b': 2}.keys()\n    return x * len(a)\n": (2, "keys"),
    "FORM = 'a%s'\ndef step(x, eps, rng):\n    return x * len(FORM % x)\n": (1, "the text of a value"),
    "def step(x, eps, rng):\n    return x * len(b'%d' % 1)\n": (2, "the text of a value"),
    "def step(x, eps, rng):\n    match x:\n        case float():\n            return x\n    return -x\n": (3, "case"),
    "from numpy import *\nfrom os import *\ndef step(x, eps, rng):\n    return sqrt(x) * len(environ)\n": (
        4,
        "environ",
    ),
    "def step(x, eps):\n    if (q := isinstance(x, int)) and x:\n        raise TypeError\n    return x * q\n": (
        2,
        "isinstance",
    ),
    f"{KEEP}def step(x, eps):\n    assert not keep(isinstance(x, int))\n    return x * K[0]\n": (5, "isinstance"),
    f"{KEEP}def step(x, eps):\n    print(keep(str(x)))\n    return x * len(K[0])\n": (5, "str"),
    "K = []\ndef step(x, eps):\n    assert K.append(hasattr(x, 'a')) is None\n    return x * K[0]\n": (3, "hasattr"),
    "import numpy as np\nK = np.ones(1)\ndef step(x, eps):\n    assert np.all(np.isfinite(np.add(x, x, out=K)))\n"
    "    assert np.multiply(1, np.isfinite(x), out=K)\n    return x * K\n": (5, "isfinite"),
    # generators that may draw the same numbers, and some that no other stands for
    f"{SEEDED}A = default_rng(7)\nB = default_rng(7)\n{NOISE}A.normal() - B.normal()\n": (2, "default_rng"),
    f"{SEEDED}S = np.random.SeedSequence()\nA, B = default_rng(S), default_rng(S)\n{NOISE}A.normal() - B.normal()\n": (
        *(3, "default_rng"),
    ),
    f"{SEEDED}np.random.seed(0)\nA = np.random.RandomState(0)\n{NOISE}np.random.randn() - A.randn()\n": (
        *(3, "RandomState"),
    ),
    f"{SEEDED}def step(x, a=default_rng(1), b=default_rng(1)):\n    return x + a.normal() - b.normal()\n": (
        *(2, "default_rng"),
    ),
    f"{SEEDED}def noise():\n    return default_rng(5).normal()\n{NOISE}noise()\n": (3, "default_rng"),
    f"{SEEDED}A = [default_rng(5) for _ in range(2)]\n{NOISE}A[0].normal() - A[1].normal()\n": (2, "default_rng"),
    f"{SEEDED}A = list(map(default_rng, [5, 5]))\n{NOISE}A[0].normal() - A[1].normal()\n": (2, "default_rng"),
    f"{SEEDED}A = default_rng(7)\ndef step(x, rng):\n    return x + rng.normal() - A.normal()\n": (2, "default_rng"),
    f"{SEEDED}A = default_rng(int())\nB = default_rng(int())\n{NOISE}A.normal() - B.normal()\n": (2, "default_rng"),
    f"{SEEDED}def at():\n    return 7\nA, B = default_rng(at()), default_rng(at())\n{NOISE}A.normal() - B.normal()\n": (
        *(4, "default_rng"),
    ),
    f"{SEEDED}A = np.random.Generator(np.random.PCG64(int()))\n{SHARED}": (2, "Generator"),
    "import random\ndef step(x):\n    return x * random.Random().random()\n": (3, "random.Random"),
    "import random\nclass A(random.Random):\n    pass\nR = A()\ndef step(x):\n    return x * R.random()\n": (
        *(2, "random.Random"),
    ),
    "import numpy as np\nclass A:\n    entropy = 0\ndef step(x):\n    return x * np.random.SeedSequence().entropy\n": (
        *(5, "SeedSequence"),
    ),
    # what keeps more than it shows
    **{
        f"{imported}class A({base}):\n    kept = 0\nK = A()\n{NOISE}K.kept\n": (line, base)
        for imported, base, line in (
            ("import itertools\n", "itertools.count", 2),
            *(("", base, 1) for base in ("list", "dict", "tuple")),
            ("import functools\n", "functools.partial", 2),
        )
    },
    "import functools\nclass A:\n    cache_info = hits = 0\n@functools.cache\ndef f(k):\n    return k\n"
    f"{NOISE}f(1) * f.cache_info().hits\n": (8, "cache_info"),
    f"{SEEDED}A = default_rng()\ndef g():\n    from os import times as default_rng\n{NOISE}A.normal()\n": (
        2,
        "os.times",
    ),
    f"class A:\n    gi_frame = f_builtins = 0\n{NOISE}len((q for q in [1]).gi_frame.f_builtins)\n": (4, "gi_frame"),
    # what only stops a step, or is printed, and does more
    "def step(x, eps):\n    noise = []\n    assert noise.append(eps) is None\n    return x + sum(noise)\n": (
        3,
        "append",
    ),
    "def step(x, eps):\n    print(t := str(x))\n    return x * len(t)\n": (2, ":="),
    "class A:\n    def write(self, s):\n        self.s = s\ndef step(x, eps):\n    a = A()\n    print(x, file=a)\n"
    "    return x * len(a.s)\n": (6, "file"),
    "class A:\n    def __getitem__(self, k):\n        if isinstance(k, int):\n            raise IndexError\n"
    f"        return 1\n{NOISE}sum(A())\n": (3, "isinstance"),
    "import numpy as np\ndef f(v):\n    if np.isnan(v):\n        raise next(iter([]))\n    return 1\n"
    f"{NOISE}sum(map(f, [x]))\n": (4, "next"),
    "def begun(g):\n    g.a = 0\n    return True\n"
    "def step(x, grad_U):\n    assert hasattr(grad_U, 'a') or begun(grad_U)\n    return grad_U(x)\n": (5, "begun"),
    "class A:\n    def __eq__(self, o):\n        self.o = o\n        return True\ndef step(x, eps):\n    a = A()\n"
    "    assert a == isinstance(x, int)\n    return x * a.o\n": (7, "isinstance"),
    # what runs when the file is loaded
    f"{LEVEL}T = {{'f': abs}}\nT['f'] = hidden\n{NOISE}T['f'](1)\n": (3, "logging.getLogger"),
    f"{LEVEL}class A:\n    def go(self):\n        return 1\nA.go = hidden\n{NOISE}A().go()\n": (3, "logging.getLogger"),
    f"{LEVEL}T = [1]\nif hidden():\n    T[0] = 0\n{NOISE}T[0]\n": (3, "logging.getLogger"),
    f"{LEVEL}class A:\n    def __getitem__(self, g):\n        self.go = g\n        return g\nR = A()\n"
    "def step(x: R[hidden], eps):\n    return x * R.go()\n": (3, "logging.getLogger"),
    f"{LEVEL}import numpy as np\nm = np\nm.sqrt = hidden\n{NOISE}np.sqrt(x)\n": (6, "sqrt"),
    f"{LEVEL}__builtins__['abs'] = hidden\n{NOISE}abs(x)\n": (4, "__builtins__"),
    f"{LEVEL}U = hidden\n{NOISE}U(x)\n": (3, "logging.getLogger"),
    f"{LEVEL}T = [abs]\n_ = T.append(hidden)\n{NOISE}T[-1](x)\n": (3, "logging.getLogger"),
    f"{LEVEL}class R:\n    def add(self, f):\n        self.f = f\n        return f\nr = R()\n@r.add\ndef g():\n"
    f"    return hidden()\n{NOISE}r.f()\n": (3, "logging.getLogger"),
    f"import numpy as np\n{NOISE}x\nif __name__ == '__main__':\n    np.sqrt = abs\n": (5, "numpy.sqrt"),
    f"if __name__ == 'production':\n    abs = len\n{NOISE}abs(x)\n": (1, "__name__"),
    f"W = [1]\ndef off():\n    w = W\n    w[0] = 0\n{NOISE}W[0]\n": (6, "W"),
    f"W = 0\ntry:\n    import cupy\nexcept ImportError:\n    W = 1\n{NOISE}W\n": (5, "W"),
    # names
    f"{LEVEL}def step(x, eps):\n    return x * [getLogger for getLogger in [getLogger()]][0]\n": (
        5,
        "logging.getLogger",
    ),
    f"{LEVEL}def step(x, eps):\n    getLogger = 1\n    def inner():\n        global getLogger\n"
    "        return getLogger()\n    return x * inner()\n": (7, "getLogger"),
    f"{LEVEL}_C__get = hidden\n__get = abs\nclass C:\n    def go(self):\n        return __get()\n{NOISE}C().go()\n": (
        *(8, "__get"),
    ),
    f"__import__ = 0\ndel __import__\n{NOISE}__import__('os')\n": (2, "del __import__"),
    "def step(x, eps):\n    match x:\n        case [*_]:\n            return x\n    return -x\n": (2, "case"),
    f"def w(dtype):\n    return dtype == 'f4'\n{NOISE}w(dtype=x.dtype)\n": (4, "dtype"),
    f"def sorted(v):\n    return v | v\nD = {{'a': 1}}\n{NOISE}len([k for k in sorted(D.keys())])\n": (5, "keys"),
    "from elsewhere import f\ndef step(x, eps, rng):\n    return f(x)\n": (3, "elsewhere.f"),
}


@pytest.mark.parametrize("text", READS)
def test_each_way_to_it_is_told(text: str, told: Callable[..., tuple[str, ...]]) -> None:
    line, name = READS[text]
    said = told(text)
    assert any(f"own.py:{line}: it depends on " in one and name in one for one in said), said


RIGHT = [
    "import os\nimport numpy as np\nROOT = os.path.dirname(__file__)\n" + STEP + "x + eps\n",
    "import sys\ndef step(x, eps, rng):\n    sys.stdout.write('.')\n    print(f'{x}')\n    return x + eps\n",
    "import sys\n" + STEP + "x + eps\nif __name__ == '__main__':\n    step(*sys.argv)\n",
    "import sys\nsys.path.insert(0, '.')\n" + STEP + "x * sys.float_info.max\n",
    "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport numpy as np\nnp.seterr(all='raise')\n" + STEP + "x\n",
    "try:\n    from numba import njit\nexcept ImportError:\n    def njit(f):\n        return f\n@njit\n" + STEP + "x\n",
    "from numpy import *\nfrom math import *\n" + STEP + "sqrt(eps) * cos(x)\n",
    "from dataclasses import dataclass\n@dataclass\nclass State:\n    x: float\n    def moved(self, by):\n"
    "        return State(self.x + by)\n" + STEP + "State(x).moved(eps).x\n",
    "def step(x, eps):\n    if not isinstance(x, float):\n        raise TypeError(f'no number: {x!r}')\n    return x\n",
    "import numpy as np\ndef step(x, eps):\n    assert np.all(np.isfinite(x)) and not any([callable(x)]), str(x)\n"
    "    if not np.isfinite(x).all():\n        raise ValueError('x is {}'.format(x), repr(x))\n    return x\n",
    "def step(x, eps, rng):\n    parts = {'x': x, 'eps': eps}\n    for name, value in parts.items():\n"
    "        parts[name] = value + 1\n    return sum(v for _, v in sorted(parts.items())) if 'x' in {'x'} else x\n",
    "import numpy as np\n" + STEP + "np.zeros(2, x.dtype) + np.add.reduce(np.ones(2, dtype=x.dtype)) * x\n",
    "from typing import NamedTuple\nclass Own(NamedTuple):\n    beta: float = 1.0\nclass Of:\n"
    "    def __init__(self, gamma):\n        self.gamma, self.power, self.f = gamma, 0.5, 1\nOF, OWN = Of(1), Own()\n"
    + STEP
    + "x * OF.gamma ** OF.power * OF.f * OWN.beta\n",
    "import numpy as np\nA = np.random.Generator(np.random.PCG64(5))\ndef step(x):\n    return x * A.normal()\n",
    f"{SEEDED}A = np.random.Generator(np.random.PCG64())\nB = default_rng(seed=None)\n{SHARED}",
    "import numpy as np\ndef step(x, rng=None):\n    g = rng or np.random.default_rng()\n    return x * g.normal()\n",
    "class A(ValueError):\n    pass\n"
    "def step(x):\n    if not isinstance(x, float):\n        raise A(x)\n    return x\n",
    "from beside import f\n" + STEP + "f(x)\n",
    "import beside as b\n" + STEP + "b.f(b.SCALE * x)\n",
    "from package.inner import f\n" + STEP + "f(x)\n",
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_follows_from_the_arguments_alone_is_let_pass(
    text: str, told: Callable[..., tuple[str, ...]], tmp_path: Path
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "inner.py").write_text("from .part import g as f\n", encoding="utf-8")
    (tmp_path / "package" / "part.py").write_text("def g(x):\n    return 2 * x\n", encoding="utf-8")
    assert told(text, beside="import math\nSCALE = 2\ndef f(x):\n    return math.sqrt(x)\n") == ()


BESIDE = {
    "f = abs\nfrom logging import getLogger as f\n": "`logging.getLogger`",
    "def f(x):\n    return x\ndel f\ndef __getattr__(name):\n    return abs\n": "`beside.f`",
    "import math\nimport os\nSCALE = len(os.environ)\ndef f(x):\n    return SCALE * x\n": "beside.py:3: it depends on",
    "from beneath import g as f\n": "`beneath.g`",
    "import numpy as np\nnp.sqrt = abs\ndef f(x):\n    return x\n": "beside.py:2: it depends on `numpy.sqrt`",
    "def f(:\n": "`beside`, whose source cannot be read",
    "def __getattr__(name):\n    return abs\n": "`beside.f`",
}


@pytest.mark.parametrize("other", BESIDE)
def test_a_file_beside_the_step_is_read_by_the_same_rule(other: str, told: Callable[..., tuple[str, ...]]) -> None:
    said = told("from beside import f\n" + STEP + "f(x)\n", beside=other)
    assert any(BESIDE[other] in one for one in said), said


def test_a_file_that_is_named_like_a_module_is_read_in_its_place(told: Callable[..., tuple[str, ...]]) -> None:
    (said,) = told("import math\n" + STEP + "math.exp(x)\n", math="import os\nexp = os.environ.get\n")
    assert "math.py:2: it depends on `os.environ.get`" in said


STARS = [
    "from logging import getLogger\ndef abs(v):\n    return getLogger().level\n",
    "from logging import getLogger as abs\n",
]


@pytest.mark.parametrize("other", STARS)
def test_what_a_star_gives_comes_before_what_python_has(other: str, told: Callable[..., tuple[str, ...]]) -> None:
    for own in ("", "def abs(v):\n    return v\n"):
        said = told(f"{own}from beside import *\n" + STEP + "abs(x)\n", beside=other)
        assert any("`logging.getLogger`" in one for one in said), said


def test_what_a_star_gives_is_none_of_pythons_that_keep_nothing(told: Callable[..., tuple[str, ...]]) -> None:
    text = (
        "import numpy as np\nfrom beside import *\ndef step(x):\n    assert all(np.isfinite(x))\n    return x * K[0]\n"
    )
    said = told(text, beside="K = [0]\ndef all(v):\n    K[0] = v\n    return True\n")
    assert any("own.py:4" in one for one in said), said
    assert told(text, beside="K = [0]\n") == ()


@pytest.mark.parametrize("text", ["from own import *\n", "from own import f\n"])
def test_files_that_import_each_other_are_read_once(text: str, told: Callable[..., tuple[str, ...]]) -> None:
    own = text.replace("own", "beside")
    assert told(f"{own}{STEP}x\n", beside=text) == ()
    made = told(f"{own}{STEP}f(x)\n", beside=f"{text}def f(x):\n    return x\n")
    missing = told(f"{own}{STEP}open(x)\n", beside=text)
    assert made == () or "*" in text
    assert any("`open`" in one for one in missing)


def test_a_folder_of_files_is_loaded_as_well(told: Callable[..., tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import package.part\npackage.part.f = abs\n", encoding="utf-8")
    (tmp_path / "package" / "part.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
    said = told("from package.part import f\n" + STEP + "f(x)\n")
    assert any("__init__.py:2" in one for one in said), said


def test_what_is_replaced_is_not_looked_at(told: Callable[..., tuple[str, ...]]) -> None:
    text = "import numpy as np\nX = np.loadtxt('data.csv')\n" + STEP + "x * X\n"
    assert told(text, "X") == ()
    (said,) = told(text)
    assert "own.py:2: it depends on `numpy.loadtxt`" in said
    (said,) = told("import numpy as np\nX = np.loadtxt('data.csv')\nY = X\n" + STEP + "x * X * Y\n", "X")
    assert "own.py:2: it depends on `numpy.loadtxt`" in said


def test_of_many_lines_some_are_told(told: Callable[..., tuple[str, ...]]) -> None:
    said = told("import os\ndef step(x, eps, rng):\n" + "    x = x * os.times()\n" * (MOST + 3) + "    return x\n")
    assert len(said) == MOST + 1
    assert said[-1] == "3 more such lines"


COUNTED = """
def step(x, p, grad_U, eps, rng):
    {count}
    return x + eps * p, p - eps * (grad_U(x) + p) + np.sqrt(2 * eps) * rng.standard_normal()
"""


@pytest.mark.slow
def test_a_count_in_an_argument_is_not_proved(written_step: Callable[..., Finding]) -> None:
    """Each call that is followed is given a function of its own, on which nothing is kept."""
    written_step(f"import numpy as np\n{COUNTED.format(count='eps = 1 * eps')}", "well_of_any", "proved")
    count = "grad_U.calls = getattr(grad_U, 'calls', 0) + 1\n    eps = eps * (grad_U.calls < 1000)"
    text = f"import numpy as np\n{COUNTED.format(count=count)}"
    written_step(text, "well_of_any", "undecided", "it depends on `calls` of a value", name="step")


def test_an_attribute_of_an_argument_that_is_called_as_a_field_is_seen(written_step: Callable[..., Finding]) -> None:
    text = COUNTED.format(count="grad_U.calls = 1")
    text = f"import numpy as np\n\n\nclass Own:\n    calls = 0\n\n{text}"
    written_step(text, "well_of_any", "undecided", "it sets an attribute of grad_U")
