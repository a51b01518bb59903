"""`generated/` holds what the shipped builds compile to: the digest of each text, and eight of the texts.

The texts are read back in `tests/readback`.
"""

import json
import os
import re
import subprocess
import sys
from hashlib import sha256

import pytest
from shipped_text import BUILDS, ROOT, shipped_text

from recipe_compiler.commands.compile import DIGESTS, differences

GENERATED = ROOT / "generated"
EXEMPLARS = {
    "sgld_gaussian", "sghmc_logistic", "sgld_poisson_regression", "sghmc_varying_intercepts", "sghmc_standard_normal",
    "sghmc_double_well_baoab", "hmc_double_well", "gibbs_normal",
}  # fmt: skip
"""One build for each shape of a kernel; `generated/README.md` names the shapes."""
NAMES = [path.stem for path in BUILDS]
HINT = """the old text, generated/{0}.py in /tmp/old, is made from the last commit by
git worktree add --detach /tmp/old && cd /tmp/old && python -m recipe_compiler compile specs/builds/{0}.yaml
the new one is accepted by
python -m pytest tests/golden/test_generated.py --update-golden"""


def digests() -> dict[str, str]:
    return json.loads((GENERATED / DIGESTS).read_text(encoding="utf-8"))


def accept(name: str) -> None:
    """Put what a build compiles to into `generated/`; drop digests of builds that no longer ship."""
    if name in EXEMPLARS:
        (GENERATED / f"{name}.py").write_text(shipped_text(name), encoding="utf-8")
    found = digests() | {name: sha256(shipped_text(name).encode()).hexdigest()}
    kept = {name: found[name] for name in NAMES if name in found}
    (GENERATED / DIGESTS).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_generated_is_current(name: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        accept(name)
    told = [*differences(name, shipped_text(name), GENERATED)]
    assert not told, "\n".join((*told, HINT.format(name)))
    assert digests()[name] == sha256(shipped_text(name).encode()).hexdigest()


def test_nothing_else_is_in_generated() -> None:
    assert {path.name for path in GENERATED.iterdir() if path.name != "__pycache__"} == {
        "README.md", DIGESTS, *(f"{name}.py" for name in EXEMPLARS)
    }  # fmt: skip
    assert [*digests()] == NAMES


@pytest.mark.slow
def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    name = "generalised_langevin_gaussian"
    program = (
        "import hashlib, pathlib, sys\n"
        "from recipe_compiler.pipeline import compile_build\n"
        "from recipe_compiler.spec.load import load\n"
        "print(hashlib.sha256(compile_build(load(pathlib.Path(sys.argv[1]))).file.encode()).hexdigest())\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-c", program, str(ROOT / "specs" / "builds" / f"{name}.yaml")]
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert other.stdout.strip() == digests()[name]


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_laid_out_as_the_formatter_would(name: str) -> None:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--diff", "-"]
    found = subprocess.run(command, input=shipped_text(name), capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("name", NAMES)
def test_modules_import_pythons_own_numpy_and_numba_only(name: str) -> None:
    text = shipped_text(name)
    modules = {*re.findall(r"^ *(?:import|from) ([\w.]+)(?: import .*| as \w+)?$", text, re.MULTILINE)}
    # llvmlite comes with numba: the intrinsic that asks for rows is written with it
    own = ({"numba.extending"} if "@intrinsic" in text else set()) | ({"llvmlite"} if "def _ask_for" in text else set())
    of_python = {"math", "os", "sys", "threading", "time", "warnings", "concurrent.futures"}
    assert modules == {name, "numpy", "numba", *of_python, *own}, "its header imports the module itself"
