"""Cycles that no step is emitted for, each refused by name, with what to do; and names that moves may not take."""

import pytest
from answers import SPECS, document
from cycles import document as of_cycle
from cycles import texts

from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.program.program import Program, Trajectory
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

OF_HMC = f"{SPECS}/dynamics/hmc.yaml"
KINETIC = "r.T @ inv(M) @ r / 2"
MOVE = "{metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}"
PATH = "[B/2, A/2, O, A/2, B/2]"
ALONG = MOVE.replace("[B/2, A, B/2]", PATH)
NOISY = (
    (OF_HMC, f"{SPECS}/dynamics/sghmc.yaml"),
    ("Sigma: {value", "C: {value: [[2, 0, 0], [0, 1, 1/2], [0, 1/2, 1]]}, Sigma: {value"),
)


def program_of(cycle: str, own: str = "", *changes: tuple[str, str]) -> Program:
    """Return the Program of a cycle for a Gaussian, of Hamiltonian dynamics or of its own."""
    changes = ((OF_HMC, "own.yaml"),) if own else changes
    build = document(of_cycle("gaussian", f"[{cycle}]", "1/4", *changes), own=own)
    return discretise(build, derive(bind(build), stated=True))


def dynamics(H: str, *, positive: bool = False) -> str:
    """Return Hamiltonian dynamics of an energy, beside a block on the half line."""
    D, Q = ("[[0, 0, 0], [0, 0, 0], [0, 0, 1]]", "[[0, -I, 0], [I, 0, 0], [0, 0, 0]]") if positive else (
        "[[0, 0], [0, 0]]", "[[0, -I], [I, 0]]")  # fmt: skip
    more = ", x: {domain: positive}" if positive else ""
    return f"""
name: own
state: {{theta: {{shape: d}}, r: {{shape: d}}{more}}}
parameters: {{M: {{shape: [d, d], is: positive definite}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: {H}
D: {D}
Q: {Q}
"""


REFUSED: list[tuple[str, str, tuple[tuple[str, str], ...], tuple[str, ...]]] = [
    (f"{{split: {PATH}, steps: 2}}, {{refresh: r}}", "", NOISY,
     ("a word with noise that is repeated within a cycle, which no emitted step can compute", "take `steps: 1`")),
    (f"{ALONG}, {{refresh: r}}, {ALONG}", "", NOISY,
     ("a word with noise that is repeated within a cycle, which no emitted step can compute", "take one move")),
    (ALONG.replace("flip", "scale: 1/2, flip"), "", NOISY,
     ("a move with a step size of its own of a word with noise or linear flows, which no emitted step",)),
    (f"{{refresh: r}}, {MOVE}", dynamics(f"U(theta) + {KINETIC} + (r.T @ r)**2"), (),
     ("`refresh: r`, whose conditional distribution is not shown to be N(0, S)", "H has to hold r as a square alone")),
    (f"{{refresh: r}}, {ALONG}", dynamics(f"U(theta) + {KINETIC} + x**2/2", positive=True), (),
     ("acceptance by H of a state with a boundary (x), which no emitted step can compute",
      "state the target with `transform` for x")),
    (f"{{refresh: r}}, {MOVE}", dynamics(f"2*U(theta) + {KINETIC}"), (),
     ("acceptance by an H that is not U and a rest without it, which no emitted step can compute",
      "state H as such a sum")),
]  # fmt: skip


@pytest.mark.parametrize(("cycle", "own", "changes", "says"), REFUSED)
def test_a_cycle_without_a_step_is_refused_by_name(
    cycle: str, own: str, changes: tuple[tuple[str, str], ...], says: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError) as raised:
        program_of(cycle, own, *changes)
    (fault,) = raised.value.faults
    assert fault.problem.startswith(f"found {says[0]}")
    assert all(words in str(fault.hint) for words in says[1:])


def test_a_word_with_noise_is_done_once_in_a_cycle() -> None:
    cycle = program_of(f"{{split: {PATH}}}, {{refresh: r}}", "", *NOISY).cycle
    assert cycle is not None
    assert isinstance(cycle.trajectory, Trajectory)


def test_moves_whose_steps_are_solved_for_do_not_share_their_word() -> None:
    stated = (SPECS / "builds/rhmc_logistic.yaml").read_text(encoding="utf-8").replace("../", "SPECS/")
    head, moves = stated.split("cycle:\n")
    moves, tail = moves.split("variant:")
    build = document(f"{head}cycle:\n{moves}{moves}variant:{tail}")
    with pytest.raises(ModelError, match="found several moves with a word whose steps are solved for"):
        discretise(build, derive(bind(build), stated=True))


NAMES = (
    "accept", "length", "acceptance", "acceptance_sum", "log_ratio", "U_next", "U_at", "U_value", "potential", "rest",
    "cycle", "energy", "rest_start", "rest_at", "noise_accept", "noise_length", "noise_r", "r_drawn", "r_at", "r_next",
    "theta_at", "theta_next", "theta_new", "grad_U_at", "grad_U", "scale_r", "w_r_drawn",
)  # fmt: skip


@pytest.mark.slow
def test_names_of_the_users_are_kept_apart_from_those_of_the_moves() -> None:
    parameters = ", ".join(f"{name}: {{is: positive, default: {k + 1}}}" for k, name in enumerate(NAMES))
    named = f"state: {{theta: {{shape: d}}}}\nparameters: {{{parameters}}}\n"
    named += f"potential: ({' + '.join(NAMES)})*theta.T @ theta/2 + (theta.T @ theta)**2/4\n"
    changes = ((f"{SPECS}/targets/double_well.yaml", "named.yaml"), ("sizes: {d: 1}", "sizes: {d: 2}"))
    build = document(of_cycle("double_well", "hmc_of_some_steps", "1/4", *changes), named=named)
    for text in texts(build).values():
        text.read()
