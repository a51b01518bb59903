"""`use` and `of` in a move: what dynamics a word follows, read, written back, archived, and refused by name."""

import json
from dataclasses import replace

import pytest
from answers import SPECS, document

from recipe_compiler.formula.show import text
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.places import digest, documents
from recipe_compiler.spec.to_yaml import archived, from_archive, to_yaml

MOMENTUM = """
name: momentum
state: {q: {shape: k}, v: {shape: k}, s: {}, g: {domain: positive}}
parameters: {M: {shape: [k, k], is: positive definite}, L: {}}
functions: {U: {of: q, role: potential}}
H: U(q) + v.T @ inv(M) @ v/2 + s**2/2 + g
D: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, g]]
Q: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
"""
BUILD = """
name: used
dynamics: momentum.yaml
target: regression_precision
bind: {M: mass*I, BIND}
parameters: {mass: {is: positive, value: 2}, L: {value: 1}, MORE}
scheme: {cycle: [draw: tau, {refresh: v}, {refresh: s}, MOVE]}
variant: full
sizes: {p: 2, SIZES}
data: {file: linear_regression, x: [a, b], y: y}
run: {step_size: 0.1}
"""
HMC = "{use: hmc, of: {theta: beta, r: v}, metropolis: {split: [B/2, A, B/2], flip: {v: -v}}}"
SGHMC = "{use: sghmc, of: {r: v}, name: baoab}"
FRICTION = (("BIND", "C: c*I"), ("MORE", "c: {is: positive, value: 1}"))
SLOPE = """
name: slope
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, "grad(U, theta) @ r.T - r @ grad(U, theta).T"]]
"""


def build_of(move: str, *changes: tuple[str, str], **beside: str) -> Build:
    own = BUILD.replace("MOVE", move)
    for old, new in (*changes, (", BIND", ""), (", MORE", ""), (", SIZES", "")):
        own = own.replace(old, new)
    return document(own, momentum=MOMENTUM, slope=SLOPE, **beside)


def matrices(dynamics: Dynamics) -> list[list[list[str]]]:
    return [[[text(entry) for entry in row] for row in matrix or ()] for matrix in (dynamics.D, dynamics.Q)]


def test_the_dynamics_are_those_used_by_the_names_here_with_the_rest_held() -> None:
    """What the build's own dynamics do, g along its diffusion, is no part of it: the word follows another equation."""
    build = build_of(HMC)
    zero = [["0"] * 4] * 4
    Q = [["0", "-diag(moved)", "0", "0"], ["diag(moved)", "0", "0", "0"], *zero[2:]]
    assert matrices(build.dynamics) == [zero, Q]
    assert text(build.dynamics.H) == "U(q) + v.T @ inv(M) @ v / 2 + s**2/2 + g"
    energy = build.dynamics.claims.energy
    assert energy is not None
    assert text(energy) == "U(q) + v.T @ inv(M) @ v / 2"
    assert dict(build.values)["moved"].numbers == ((1,), (1,), (0,))
    assert build.dynamics.claims.drift is None


def test_of_alone_holds_blocks_of_the_target_under_the_dynamics_of_the_build() -> None:
    move = "{of: {theta: [tau]}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}"
    moves = ("{refresh: v}, {refresh: s}", "{refresh: r}, {draw: beta}")
    build = build_of(move, ("momentum.yaml", "hmc"), moves, (", L: {value: 1}", ""))
    assert matrices(build.dynamics)[1] == [["0", "-diag(moved)"], ["diag(moved)", "0"]]
    assert dict(build.values)["moved"].numbers == ((0,), (0,), (1,))
    assert build.dynamics.claims.energy is None
    assert build.dynamics.claims.marginal is not None


def test_a_diffusion_is_held_on_both_sides_and_what_is_new_is_declared() -> None:
    build = build_of(SGHMC, *FRICTION)
    assert matrices(build.dynamics)[0][1] == ["0", "C", "0", "0"]
    assert [item.name for item in build.dynamics.declarations.parameters] == ["M", "L", "C"]
    assert matrices(build.dynamics)[1][0] == ["0", "-I", "0", "0"]
    matrix = (("BIND", "D: c*I"), FRICTION[1])
    here = build_of("{use: sgld, of: {theta: beta}, name: lie, pieces: {A: {D: all}}}", *matrix)
    assert matrices(here.dynamics)[0][0] == ["diag(moved) @ D @ diag(moved)", "0", "0", "0"]


def test_momenta_without_blocks_of_the_target_move_all_of_it() -> None:
    """What is left out is all, whatever blocks of the target are called."""
    target = (SPECS / "targets/regression_precision.yaml").read_text(encoding="utf-8").replace("beta", "q")
    build = build_of(HMC.replace("theta: beta, ", ""), ("regression_precision", "of_q.yaml"), of_q=target)
    assert build.scheme.use is not None
    assert build.scheme.use.masks == ()


def test_what_the_mask_would_be_called_is_left_to_others() -> None:
    build = build_of(HMC, ("MORE", "moved: {value: 3}"))
    assert dict(build.values)["moved"].numbers == ((3,),)
    assert dict(build.values)["moved_"].numbers == ((1,), (1,), (0,))


def test_moves_with_a_word_have_what_each_of_them_moves() -> None:
    """The equation has the P of the first; that of another stands beside it, and the same again is no further one."""
    other = HMC.replace("theta: beta", "theta: [tau, beta]").replace("{split", "{scale: 1/2, split")
    build = build_of(f"{HMC}, {other}, {HMC}")
    assert build.scheme.use is not None
    assert [(part.blocks, part.mask) for part in build.scheme.use.parts] == [
        (("beta",), "moved"), (("beta", "tau"), "moved_2"),
    ]  # fmt: skip
    assert matrices(build.dynamics)[1][0] == ["0", "-diag(moved)", "0", "0"]
    assert dict(build.values)["moved_2"].numbers == ((1,), (1,), (1,))
    assert [(move.part, str(move.scale)) for move in build.scheme.cycle[3:]] == [(0, "1"), (1, "1/2"), (0, "1")]
    assert "of: {theta: [beta, tau], r: v}, metropolis: {split: [B/2, A, B/2], steps: 1, scale: 1/2," in cycle_text(
        build.scheme
    )


TWO = f"{HMC}, {HMC.replace('theta: beta', 'theta: tau').replace('{split', '{scale: 3/2, split')}"


@pytest.mark.parametrize(("move", "changes"), [(HMC, ()), (SGHMC, FRICTION), (TWO, ())])
def test_it_is_written_back_and_archived(move: str, changes: tuple[tuple[str, str], ...]) -> None:
    build = build_of(move, *changes)
    again = document(to_yaml(build), momentum=MOMENTUM, slope=SLOPE)
    assert (again, digest(again)) == (build, digest(build))
    kept = from_archive(archived(build))
    assert (kept, digest(kept)) == (build, digest(build))


def test_the_digest_covers_what_is_used_and_what_is_followed() -> None:
    build = build_of(HMC)
    found = documents(build)
    assert [*found] == ["build", "dynamics", "target", "use"]
    assert found["use"]["name"] == "hmc"
    assert found["dynamics"]["Q"] == matrices(build.dynamics)[1]
    assert dict(found["dynamics"]["parameters"])["moved"] == {"shape": "k"}
    assert SPECS / "dynamics/hmc.yaml" in [path.resolve() for path in files_of(build)]
    moved = build_of(HMC.replace("theta: beta", "theta: tau"))
    whole = build_of(HMC.replace("theta: beta, ", ""))
    assert len({digest(one) for one in (build, moved, whole)}) == 3
    json.dumps(found)


def test_a_move_says_what_it_uses() -> None:
    scheme = build_of(HMC).scheme
    said = "{use: hmc, of: {theta: [beta], r: v}, metropolis: {split: [B/2, A, B/2], steps: 1, flip: {v: -v}}}"
    assert cycle_text(scheme).endswith(f", {said}]")
    assert cycle_text(replace(scheme, use=None)).endswith(
        ", metropolis: {split: [B/2, A, B/2], steps: 1, flip: {v: -v}}]"
    )


def test_formulas_that_differentiate_by_a_block_of_another_name_do_so_by_this_one() -> None:
    build = build_of(HMC.replace("hmc", "slope.yaml"))
    assert build.dynamics.Q is not None
    assert "grad(U, q) @ v.T" in text(build.dynamics.Q[1][1])
