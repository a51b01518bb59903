"""`recipe lint`: exit codes, what is printed, JSON, faults."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from recipe_compiler.cli import main

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "tests" / "lint" / "steps"
SPECS = ROOT / "specs" / "dynamics"
OWN = ROOT / "tests" / "lint" / "specs"


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str


Recipe = Callable[..., Outcome]


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recipe:
    """Run `recipe` in this process."""

    def run(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["recipe", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Outcome(int(end.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def sampler(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "sampler.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_proved_step_exits_0_and_says_that_it_was_run(recipe: Recipe) -> None:
    found = recipe("lint", f"{STEPS}/right.py:langevin", "--against", OWN / "double_well.yaml")
    assert found.code == 0
    assert "is run, in a child process" in found.out
    assert "p: -gamma*p - x**3 + x" in found.out
    assert "double_well: proved" in found.out


@pytest.mark.slow
def test_a_refuted_step_exits_1_with_its_witness(recipe: Recipe) -> None:
    found = recipe("lint", f"{STEPS}/wrong.py:cir_noise", "--against", OWN / "gamma.yaml")
    assert found.code == 1
    assert "the residual of the limiting equation = " in found.out


@pytest.mark.slow
def test_an_undecided_step_exits_3_or_0_where_that_is_allowed(recipe: Recipe) -> None:
    step = ("lint", f"{STEPS}/right.py:sgld", "--against", SPECS / "sgld.yaml")
    assert recipe(*step).code == 3
    assert recipe(*step, "--allow-undecided").code == 0


@pytest.mark.slow
def test_json_is_one_object_with_the_equation(recipe: Recipe) -> None:
    found = recipe("lint", f"{STEPS}/right.py:cir", "--against", OWN / "gamma.yaml", "--json")
    data = json.loads(found.out)
    assert data["step"]["drift"] == {"x": "a - x"}
    assert data["step"]["diffusion"] == {"x, x": "x"}
    assert data["step"]["step_size"] is None
    (document,) = data["documents"]
    assert document["verdict"] == "proved"
    assert document["claims"][0]["id"] == "lint_update"


@pytest.mark.slow
def test_without_dynamics_the_equation_is_printed_and_nothing_judged(recipe: Recipe) -> None:
    found = recipe("lint", f"{STEPS}/right.py:sgnht", "--map", "xi=scalar")
    assert found.code == 0
    assert "theta[1]: r[1]" in found.out
    assert "r[0]: -r[0]*xi - grad_U[0]" in found.out
    assert "proved" not in found.out
    assert "undecided" not in found.out
    assert json.loads(recipe("lint", f"{STEPS}/right.py:sgnht", "--map", "xi=scalar", "--json").out)["documents"] == []


@pytest.mark.slow
def test_json_says_as_what_the_step_size_was_read(recipe: Recipe) -> None:
    step = ("lint", f"{STEPS}/right.py:langevin_adjusted", "--against", OWN / "sgld_unit.yaml", "--json")
    assert json.loads(recipe(*step).out)["step"]["step_size"] == "step size read as eps = h**2"


def test_an_opaque_step_without_dynamics_exits_3(recipe: Recipe) -> None:
    found = recipe("lint", f"{STEPS}/opaque.py:branch")
    assert found.code == 3
    lines = (STEPS / "opaque.py").read_text(encoding="utf-8").splitlines()
    line = next(k for k, text in enumerate(lines, 1) if "if new[0] > 0:" in text)
    assert f"opaque.py:{line}: a comparison" in found.out


@pytest.mark.slow
def test_a_build_judges_a_step_that_is_given_the_gradient_for_every_potential(recipe: Recipe) -> None:
    found = recipe("lint", f"{STEPS}/right.py:sghmc", "--against", ROOT / "specs" / "builds" / "sghmc_gaussian.yaml")
    assert found.code == 0
    assert "judged by the build: U is any function" in found.out


@pytest.mark.slow
def test_a_build_judges_a_step_with_its_own_gradient_by_its_target(recipe: Recipe) -> None:
    build = ROOT / "specs" / "builds" / "sghmc_gaussian.yaml"
    found = recipe("lint", f"{STEPS}/of_builds.py:gaussian", "--against", build)
    assert found.code == 0
    assert "judged by the build: U is that of the target gaussian" in found.out
    assert recipe("lint", f"{STEPS}/of_builds.py:wrong_gaussian", "--against", build).code == 1


@pytest.mark.slow
def test_arguments_are_mapped_to_formulas(recipe: Recipe, sampler: Callable[[str], Path]) -> None:
    path = sampler(
        "import numpy as np\n\n\n"
        "def step(q, p, score, Minv, C, h, noise):\n"
        "    r = p + h * score(q) - h * C @ Minv @ p + np.sqrt(2 * h) * np.linalg.cholesky(C) @ noise\n"
        "    return q + h * Minv @ r, r\n"
    )
    maps = ("q=theta", "p=r", "score=-grad(U, theta)", "Minv=inv(M)", "noise=normal(r)")
    options = [part for text in maps for part in ("--map", text)]
    found = recipe("lint", f"{path}:step", "--against", SPECS / "sghmc.yaml", *options)
    assert found.code == 3
    assert "holds at d = 1; d = 2; d = 3" in found.out
    assert "score is -grad(U, theta)" in found.out
    wrong = recipe("lint", f"{path}:step", "--against", SPECS / "sghmc.yaml", *options[:4], "--map",
                   "score=grad(U, theta)", *options[6:])  # fmt: skip
    assert wrong.code == 1


FAULTS = {
    "def other(theta): pass\n": "found no `def step` on the top level, expected one; there are other",
    "step = print\n": "found no `def step` on the top level",
    "def step(theta:\n": "found no Python",
    "def step(theta, eps, rng, thing): pass\n": "found the argument `thing`, expected one of theta, D, U, grad_U",
    "def step(eps, rng): pass\n": "found no argument for the block theta, expected one",
    "import nothing_of_that_name\n\n\ndef step(theta, eps): pass\n": "found ModuleNotFoundError: No module named",
    "1 / 0\n\n\ndef step(theta, eps): pass\n": "found ZeroDivisionError",
    "raise SystemExit(0)\n\n\ndef step(theta, eps): pass\n": "found it ended the program when the file ran",
    "FORMAT = 1\nSPEC_DIGEST = BLOCKS = ()\n\n\ndef step(theta): pass\n": "a module that recipe compile emitted",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_said_and_exits_2(text: str, recipe: Recipe, sampler: Callable[[str], Path]) -> None:
    path = sampler(text)
    found = recipe("lint", f"{path}:step", "--against", SPECS / "sgld.yaml")
    assert found.code == 2
    assert FAULTS[text] in found.err
    quiet = recipe("lint", f"{path}:step", "--against", SPECS / "sgld.yaml", "--json")
    assert quiet.code == 2
    assert json.loads(quiet.out)["documents"][0]["faults"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((f"{STEPS}/nothing.py:step",), "found no such file"),
        ((f"{STEPS}/right.py",), "expected FILE.py:NAME"),
        ((f"{STEPS}/right.py:sgld", "--map", "theta"), "expected --map NAME=WHAT"),
        ((f"{STEPS}/right.py:sgld", "--map", "nobody=D"), "found no `nobody`"),
        ((f"{STEPS}/right.py:sgld", "--map", "theta=phi"), "--map theta  'phi' is not declared"),
        ((f"{STEPS}/right.py:sgld", "--map", "eps=normal(phi)"), "expected normal(BLOCK) with a block of the state"),
        ((f"{STEPS}/right.py:sgld", "--map", "grad_U=theta"), "found the arguments theta, grad_U for the block theta"),
    ],
)
def test_wrong_usage_exits_2(arguments: tuple[str, ...], problem: str, recipe: Recipe) -> None:
    found = recipe("lint", *arguments, "--against", SPECS / "sgld.yaml")
    assert found.code == 2
    assert problem in found.err


def test_emitted_modules_are_refused_by_name(recipe: Recipe) -> None:
    module = ROOT / "generated" / "sghmc_logistic.py"
    found = recipe("lint", f"{module}:step", "--against", SPECS / "sghmc.yaml")
    assert found.code == 2
    assert "found a module that recipe compile emitted" in found.err


@pytest.mark.slow
def test_no_other_file_of_the_folder_is_run(recipe: Recipe, sampler: Callable[[str], Path], tmp_path: Path) -> None:
    path = sampler("def step(theta, grad_U, eps):\n    return theta - eps * grad_U(theta)\n")
    for name in ("numpy", "json", "random", "sitecustomize", "conftest"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n", encoding="utf-8")
    assert recipe("lint", f"{path}:step", "--against", SPECS / "sgld.yaml").code == 1
    assert not (tmp_path / "ran").exists()
