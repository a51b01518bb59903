"""Cycles that no step is emitted for, each refused by name, with what to do; and names that moves may not take."""

from pathlib import Path

import pytest
from cycles import cycle_build, document, texts
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.program.canonical_kernel import check_kernel
from recipe_compiler.program.program import Trajectory
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
OF_HMC = f"{SPECS}/dynamics/hmc.yaml"
DYNAMICS = """
format: 1
name: own
state: {{theta: {{shape: d}}, r: {{shape: d}}{more}}}
parameters: {{M: {{shape: [d, d], is: positive definite}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: {H}
D: {D}
Q: {Q}
"""
TWO = {"more": "", "D": "[[0, 0], [0, 0]]", "Q": "[[0, -I], [I, 0]]"}
KINETIC = "r.T @ inv(M) @ r / 2"
QUARTIC = "r.T @ inv(M) @ r / 2 + (r.T @ r)**2"
WITH_A_POSITIVE = {
    "more": ", x: {domain: positive}",
    "D": "[[0, 0, 0], [0, 0, 0], [0, 0, 1]]",
    "Q": "[[0, -I, 0], [I, 0, 0], [0, 0, 0]]",
    "H": f"U(theta) + {KINETIC} + x**2/2",
}
MOVE = "{metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}"
FRICTION = f"{SPECS}/dynamics/sghmc.yaml"
MASS_AND_FRICTION = ("Sigma: {value", "C: {value: [[2, 0, 0], [0, 1, 1/2], [0, 1/2, 1]]}, Sigma: {value")


def refused(build: Build) -> str:
    with pytest.raises(ModelError) as raised:
        discretise(build, derive(bind(build), stated=True))
    (fault,) = raised.value.faults
    return f"{fault.problem} ({fault.hint})"


def of_own(folder: Path, cycle: str, **own: str) -> Build:
    """Return a build of dynamics of its own."""
    (folder / "own.yaml").write_text(DYNAMICS.format(**{**TWO, **own}))
    path = folder / "build.yaml"
    path.write_text(document("gaussian", cycle, "1/4", (OF_HMC, "own.yaml")))
    return load_build(path)


def test_a_word_with_noise_is_done_once_in_a_cycle() -> None:
    word = "[B/2, A/2, O, A/2, B/2]"
    changes = ((OF_HMC, FRICTION), MASS_AND_FRICTION)
    said = refused(cycle_build("gaussian", f"[{{split: {word}, steps: 2}}, {{refresh: r}}]", "1/4", *changes))
    assert said == (
        "found a word with noise that is repeated within a cycle, which no emitted step can compute (take `steps: 1`)"
    )
    build = cycle_build("gaussian", f"[{{split: {word}}}, {{refresh: r}}]", "1/4", *changes)
    cycle = discretise(build, derive(bind(build), stated=True)).cycle
    assert cycle is not None
    assert isinstance(cycle.trajectory, Trajectory)


AGAIN = "{{metropolis: {{split: {word}, flip: {{r: -r}}{more}}}}}"
PATH = "[B/2, A/2, O, A/2, B/2]"


@pytest.mark.parametrize(
    ("cycle", "changes", "said"),
    [
        (
            f"[{AGAIN.format(word=PATH, more='')}, {{refresh: r}}, {AGAIN.format(word=PATH, more='')}]",
            ((OF_HMC, FRICTION), MASS_AND_FRICTION),
            "found a word with noise that is repeated within a cycle, which no emitted step can compute (take one move",
        ),
        (
            f"[{AGAIN.format(word=PATH, more=', scale: 1/2')}]",
            ((OF_HMC, FRICTION), MASS_AND_FRICTION),
            "found a move with a step size of its own of a word with noise or linear flows, which no emitted step",
        ),
    ],
)
def test_moves_that_cannot_share_their_word_are_told(
    cycle: str, changes: tuple[tuple[str, str], ...], said: str
) -> None:
    assert refused(cycle_build("gaussian", cycle, "1/4", *changes)).startswith(said)


def test_moves_whose_steps_are_solved_for_do_not_share_their_word(tmp_path: Path) -> None:
    stated = (SPECS / "builds/rhmc_logistic.yaml").read_text(encoding="utf-8").replace("../", f"{SPECS}/")
    head, moves, tail = stated.partition("scheme:\n  cycle:\n")[0], *stated.partition("cycle:\n")[2].split("variant:")
    (tmp_path / "build.yaml").write_text(f"{head}scheme:\n  cycle:\n{moves}{moves}variant:{tail}", encoding="utf-8")
    said = refused(load_build(tmp_path / "build.yaml"))
    assert said.startswith("found several moves with a word whose steps are solved for")


def test_a_block_is_drawn_anew_from_a_law_that_is_known(tmp_path: Path) -> None:
    said = refused(of_own(tmp_path, f"[{{refresh: r}}, {MOVE}]", H=f"U(theta) + {QUARTIC}"))
    assert "found `refresh: r`, whose law given all others is not shown to be N(0, S)" in said
    assert "H has to hold r as a square alone" in said


def test_what_is_accepted_has_no_boundary(tmp_path: Path) -> None:
    word = MOVE.replace("[B/2, A, B/2]", "[B/2, A/2, O, A/2, B/2]")
    said = refused(of_own(tmp_path, f"[{{refresh: r}}, {word}]", **WITH_A_POSITIVE))
    assert "found acceptance by H of a state with a boundary (x), which no emitted step can compute" in said
    assert "state the target with `transform` for x" in said


def test_what_is_accepted_is_U_and_a_rest_without_it(tmp_path: Path) -> None:
    said = refused(of_own(tmp_path, f"[{{refresh: r}}, {MOVE}]", H=f"2*U(theta) + {KINETIC}"))
    assert "found acceptance by an H that is not U and a rest without it, which no emitted step can compute" in said
    assert "(state H as such a sum)" in said


NAMES = (
    "accept", "length", "acceptance", "acceptance_sum", "log_ratio", "U_next", "U_at", "U_value", "potential", "rest",
    "cycle", "energy", "rest_start", "rest_at", "noise_accept", "noise_length", "noise_r", "r_drawn", "r_at", "r_next",
    "theta_at", "theta_next", "theta_new", "grad_U_at", "grad_U", "scale_r", "w_r_drawn",
)  # fmt: skip
NAMED = """
format: 1
name: named
state: {{theta: {{shape: d}}}}
parameters: {{{parameters}}}
potential: ({sum})*theta.T @ theta/2 + (theta.T @ theta)**2/4
"""


@pytest.mark.slow
def test_names_of_the_users_are_kept_apart_from_those_of_the_moves(tmp_path: Path) -> None:
    parameters = ", ".join(f"{name}: {{is: positive, default: {k + 1}}}" for k, name in enumerate(NAMES))
    (tmp_path / "named.yaml").write_text(NAMED.format(parameters=parameters, sum=" + ".join(NAMES)))
    path = tmp_path / "build.yaml"
    changes = ((f"{SPECS}/targets/double_well.yaml", "named.yaml"), ("sizes: {d: 1}", "sizes: {d: 2}"))
    path.write_text(document("double_well", "hmc_of_some_steps", "1/4", *changes))
    for text in texts(load_build(path)).values():
        assert check_canonical(text.module.program) == ()
        assert check_kernel(text.module.kernel) == ()
        text.read()
