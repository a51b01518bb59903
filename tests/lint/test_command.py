"""`recipe lint`: exit codes, what is printed, JSON, faults."""

import json
from pathlib import Path

import pytest
from command import ROOT, recipe

STEPS = ROOT / "tests" / "lint" / "steps"
OWN = ROOT / "tests" / "lint" / "specs"
SGLD = ROOT / "specs" / "dynamics" / "sgld.yaml"
GAUSSIAN = ROOT / "specs" / "builds" / "sghmc_gaussian.yaml"

slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("step", "against", "options", "code", "said"),
    [
        pytest.param("right.py:langevin", OWN / "double_well.yaml", "", 0,
            ["is run, in a child process", "p: -gamma*p - x**3 + x", "double_well: proved"]),
        pytest.param("right.py:sgnht", None, "--map xi=scalar", 0,
            ["theta[1]: r[1]", "r[0]: -r[0]*xi - grad_U[0]"], marks=slow),
        pytest.param("right.py:sgld", SGLD, "", 3, [], marks=slow),
        pytest.param("right.py:sgld", SGLD, "--allow-undecided", 0, [], marks=slow),
        pytest.param("opaque.py:branch", None, "", 3, ["a comparison"]),
        pytest.param("right.py:sghmc", GAUSSIAN, "", 0, ["judged by the build: U is any function"], marks=slow),
        pytest.param("of_builds.py:gaussian", GAUSSIAN, "", 0,
            ["judged by the build: U is that of the target gaussian"], marks=slow),
    ],
)  # fmt: skip
def test_a_command_exits_and_says(step: str, against: Path | None, options: str, code: int, said: list[str]) -> None:
    given = ("--against", against) if against else ()
    found = recipe("lint", f"{STEPS}/{step}", *given, *options.split())
    assert found.code == code
    assert [one for one in said if one not in found.out] == []
    assert against or "proved" not in found.out


@slow
def test_json_is_one_object_with_the_equation() -> None:
    def data(step: str, *more: str | Path) -> dict[str, object]:
        return json.loads(recipe("lint", f"{STEPS}/right.py:{step}", *more, "--json").out)

    found = data("cir", "--against", OWN / "gamma.yaml")
    expected = {"drift": {"x": "a - x"}, "diffusion": {"x, x": "x"}, "step_size": None}
    assert found["step"].items() >= expected.items()  # ty: ignore[unresolved-attribute]
    (document,) = found["documents"]  # ty: ignore[not-iterable]
    assert (document["verdict"], document["claims"][0]["id"]) == ("proved", "lint_update")
    adjusted = data("langevin_adjusted", "--against", OWN / "sgld_unit.yaml")
    assert adjusted["step"]["step_size"] == "step size read as h**2"  # ty: ignore[not-subscriptable]
    assert data("sgnht", "--map", "xi=scalar")["documents"] == []


@slow
def test_arguments_are_mapped_to_formulas(tmp_path: Path) -> None:
    path = tmp_path / "sampler.py"
    path.write_text(
        "import numpy as np\n\n\n"
        "def step(q, p, score, Minv, C, h, noise):\n"
        "    r = p + h * score(q) - h * C @ Minv @ p + np.sqrt(2 * h) * np.linalg.cholesky(C) @ noise\n"
        "    return q + h * Minv @ r, r\n",
        encoding="utf-8",
    )
    for sign, code in (("-", 3), ("", 1)):
        maps = ("q=theta", "p=r", f"score={sign}grad(U, theta)", "Minv=inv(M)", "noise=normal(r)")
        options = [part for text in maps for part in ("--map", text)]
        found = recipe("lint", f"{path}:step", "--against", SGLD.with_name("sghmc.yaml"), *options)
        assert found.code == code
        assert f"score is {sign}grad(U, theta)" in found.out


FAULTS = {
    "def other(theta): pass\n": "found no `def step` on the top level, expected one; there are other",
    "def step(theta:\n": "found no Python",
    "def step(theta, eps, rng, thing): pass\n": "found the argument `thing`, expected one of theta, D, U, grad_U",
    "def step(eps, rng): pass\n": "found no argument for the block theta, expected one",
    "import nothing_of_that_name\n\n\ndef step(theta, eps): pass\n": "found ModuleNotFoundError: No module named",
    "raise SystemExit(0)\n\n\ndef step(theta, eps): pass\n": "found it ended the program when the file ran",
    "FORMAT = 1\nSPEC_DIGEST = BLOCKS = ()\n\n\ndef step(theta): pass\n": "a module that recipe compile emitted",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_said_and_exits_2(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sampler.py"
    path.write_text(text, encoding="utf-8")
    found = recipe("lint", f"{path}:step", "--against", SGLD)
    assert (found.code, FAULTS[text] in found.err) == (2, True)
    quiet = recipe("lint", f"{path}:step", "--against", SGLD, "--json")
    assert quiet.code == 2
    assert json.loads(quiet.out)["documents"][0]["faults"]
