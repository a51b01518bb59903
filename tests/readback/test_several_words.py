"""Several moves of a cycle with its word: faults of the second, in what it begins with, its step size, its blocks."""

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cycles import FLIP, LEAPFROG, WALK, Text, cycle_build, texts
from loaders import load_build
from some import some

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.program import Move, Refresh, Trajectory

SPECS = Path(__file__).parents[2] / "specs"
HELD = (
    f"[refresh: r, {{of: {{theta: eta}}, metropolis: {{{LEAPFROG}, steps: 2, {FLIP}}}}}, refresh: r, "
    f"{{of: {{theta: [mu, tau]}}, metropolis: {{{LEAPFROG}, steps: 3, scale: 1/2, {FLIP}}}}}]"
)
ANEW = HELD.replace("refresh: r, {of: {theta: [", f"{WALK}, {{of: {{theta: [")
BUILDS = {
    "again": ("gaussian", "again"),
    "every": ("gaussian", "again_every"),
    "held": ("eight_schools", HELD),
    "anew": ("eight_schools", ANEW),
}
FAULTS = {
    "again": {
        "U before the first move": ("log_ratio = U_next[0] -", "log_ratio = U[0] -", "the log of the ratio"),
        "the end of the first move": ("- U_at_v2 +", "- U_at +", "the log of the ratio"),
        "H - U of the first move": ("+ rest_start_2 -", "+ rest_start -", "the log of the ratio"),
        "the position before the first move": ("= theta_next[i]\n", "= theta[i]\n", "the theta that a step"),
        "the momentum before its refresh": ("= r_next_drawn[i]\n", "= r_next[i]\n", "the r that a step"),
        "the gradient before the first move": ("= grad_U_next[i]\n", "= grad_U[i]\n", "the r that a step"),
        "no flip of the second move": ("else -r_next_drawn[i]", "else r_next_drawn[i]", "what is left of r"),
        "a flip of the first momentum": ("else -r_next_drawn[i]", "else -r_drawn[i]", "what is left of r"),
        "the position of the first move on refusal": (
            "accept else theta_next[i]", "accept else theta[i]", "what is left of theta",
        ),
        "the gradient of the first move": ("grad_U_at_v2[i] if", "grad_U_at[i] if", "what is left of grad_U"),
        "U of the first move": ("= U_at_v2 if accept", "= U_at if accept", "what is left of U"),
        "one decision for both": (
            "noise_accept_2[0], noise_accept_2[1]", "noise_accept[0], noise_accept[1]", "uses the normals",
        ),
        "the flag of the first move": ("    accept, taken_2 =", "    accept_2, taken_2 =", "what is left of theta"),
        "steps of the first move's length": (
            "inv_M, eps_scaled, inv_Sigma", "inv_M, eps, inv_Sigma", "the step size of a trajectory",
        ),
        "another scale": ("eps_scaled = eps / 3.0", "eps_scaled = eps / 2.0", "the step size of a trajectory"),
        "a kick of another step size": ("r_at_v2[i] + eps_scaled *", "r_at_v2[i] + eps *", "the r that a step"),
        "a kick taken back by another": (
            "r_at_v2[i] - eps_scaled *", "r_at_v2[i] - eps *", "the r that H is evaluated at",
        ),
        "a scaled step of the first move": (
            "r_at, mu, inv_Sigma, inv_M, eps,", "r_at, mu, inv_Sigma, inv_M, eps / 3.0,",
            "the step size of a trajectory",
        ),
        "the number of steps of the first move": (
            "for _ in range(length)", "for _ in range(3)", "takes 3 steps in a trajectory of 2",
        ),
        "acceptance of the first move alone": ("taken / 2.0 + taken_2 / 2.0", "taken", "the acceptance"),
        "acceptance that is summed": ("taken / 2.0 + taken_2 / 2.0", "taken + taken_2", "the acceptance"),
        "acceptance of the other move": ("acceptance_2[0] = taken_2", "acceptance_2[0] = taken", "of kind 2"),
    },
    "every": {
        "acceptance of a mean where they are counted": (
            "= taken + taken_2 + taken_3", "= taken / 2.0 + taken_2 / 2.0 + taken_3 / 2.0", "the acceptance",
        ),
        "acceptance of a kind that is summed": (
            "acceptance_2[0] = taken_2 / 2.0 + taken_3 / 2.0", "acceptance_2[0] = taken_2 + taken_3", "of kind 2",
        ),
        "acceptance of a kind with a move of another": (
            "taken_2 / 2.0 + taken_3 / 2.0", "taken / 2.0 + taken_3 / 2.0", "of kind 2",
        ),
        "a move of a kind that is not counted": ("tried_1[0] += 1.0", "tried_1[0] += 0.0", "how many of kind 1"),
        "a move of a kind that is counted where none is due": (
            "tried_1[0] = 0.0", "tried_1[0] = 1.0", "how many of kind 1",
        ),
        "a move that is not counted": ("tried[0] += 1.0", "tried[0] += 0.0", "how many moves were tried"),
        "a move that is counted where it is not due": ("tried[0] = 2.0", "tried[0] = 3.0", "how many moves were"),
        "a probability that is left from before": ("taken = 0.0", "taken = 1.0", "the acceptance"),
        "a move that is not due": ("_is_due(cycles[0], 2)", "_is_due(cycles[0], 3)", ""),
    },
    "held": {
        "the blocks of the first move": (
            "theta_at_v2, r_at_v2, moved_2,", "theta_at_v2, r_at_v2, moved,", "another moved than its own",
        ),
        "the blocks of the second move": (
            "theta_at, r_at, moved,", "theta_at, r_at, moved_2,", "another moved than its own",
        ),
        "a kick of the blocks of the first move": ("moved_2[i] / 2.0", "moved[i] / 2.0", "the r that a step"),
    },
    "anew": {
        "the gradient of the first move, though it is evaluated anew": (
            "grad_U_at_v2[i] = grad_U_start_v2[i]", "grad_U_at_v2[i] = grad_U_start[i]", "the r that a step",
        ),
        "a gradient that is evaluated at the state of the first move": (
            "(grad_U_start_v2, theta_next_mapped", "(grad_U_start_v2, theta_next", "evaluated anew at",
        ),
        "U that is evaluated at the state of the first move": (
            "U_at_v2 = potential(theta_next_mapped", "U_at_v2 = potential(theta_next", "theta that H is evaluated",
        ),
    },
}  # fmt: skip
"""By the build: of each fault what stands there, what then, and what is said."""


def text_of(build: str) -> Text:
    """Return a text, loops over arrays, with every statement on one line."""
    found = texts(cycle_build(*BUILDS[build]))["scheduled"]
    return replace(found, module=replace(found.module, text=ast.unparse(ast.parse(found.module.text))))


@pytest.mark.parametrize("build", BUILDS)
def test_texts_as_they_are_emitted_have_no_fault(build: str) -> None:
    for text in texts(cycle_build(*BUILDS[build])).values():
        text.read()


NAMED = [(build, fault) for build, faults in FAULTS.items() for fault in faults]


@pytest.mark.parametrize(("build", "fault"), some(NAMED, 2))
def test_a_fault_is_found_and_named(build: str, fault: str) -> None:
    old, new, says = FAULTS[build][fault]
    text = text_of(build)
    assert old in text.module.text, text.module.text
    changed = text.module.text.replace(old, new, 1)
    with pytest.raises(CompilerError) as raised:
        text.read(replace(text.module, text=changed))
    assert says in str(raised.value)


@pytest.mark.slow
def test_a_step_that_is_solved_for_has_its_own_length_on_the_way_back_too(tmp_path: Path) -> None:
    stated = (SPECS / "builds/rhmc_logistic.yaml").read_text(encoding="utf-8").replace("../", f"{SPECS}/")
    path = tmp_path / "build.yaml"
    path.write_text(stated.replace("steps:", "scale: 1/2\n        steps:"), encoding="utf-8")
    text = texts(load_build(path))["scheduled"]
    text.read()
    forth, back = (text.module.text.rindex(f"{name}, X") for name in ("grad_U_at", "grad_U_back"))
    for place in (forth, back):
        changed = text.module.text[:place] + text.module.text[place:].replace("eps_scaled", "eps", 1)
        with pytest.raises(CompilerError, match="the step size of a trajectory"):
            text.read(replace(text.module, text=changed))


def begun(change: Callable[[Move], Move]) -> Callable[[Module], Module]:
    """Return what changes the moves of a Program."""

    def changed(module: Module) -> Module:
        cycle = module.program.cycle
        assert cycle is not None
        moves = replace(cycle, moves=tuple(map(change, cycle.moves)))
        return replace(module, program=replace(module.program, cycle=moves))

    return changed


@pytest.mark.parametrize("kind", [Refresh, Trajectory])
def test_a_program_whose_moves_begin_with_what_is_gone_is_not_believed(kind: type[Move]) -> None:
    """The text may make what its Program says, and that begin with a value that another move has changed since."""

    def stale(move: Move) -> Move:
        if isinstance(move, Refresh) and kind is Refresh and move.old != move.block.name:
            return replace(move, old=move.block.name)
        if isinstance(move, Trajectory) and kind is Trajectory:
            old = {"theta": "theta", "r": "r_drawn"}
            return replace(move, values=tuple(replace(v, start=old.get(v.name, v.start)) for v in move.values))
        return move

    text = text_of("again")
    with pytest.raises(CompilerError, match="which is not the newest"):
        text.read(begun(stale)(text.module))
