"""Cycles with a word that refreshes do not mend: the density of what moves slowly, after a cycle, refutes them."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import OWN_FAULT, Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves import cycle as cycles
from recipe_compiler.verify.moves import metropolis as accepted
from recipe_compiler.verify.moves import metropolis_witness
from recipe_compiler.verify.moves.cycle import cycle
from recipe_compiler.verify.moves.in_build import of_cycle
from recipe_compiler.verify.steps.split import Split

ROOT = Path(__file__).parents[2]
BUILD = """
format: 1
name: cycle
dynamics: {root}/specs/dynamics/{dynamics}.yaml
target: target.yaml
parameters: {{M: {{value: [[2, 1], [1, 3]]}}{more}}}
scheme: {{cycle: [{moves}]}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 1/2}}
"""
GAUSS = "state: {theta: {shape: 2}}\npotential: theta[0]**2 + theta[0]*theta[1]/2 + theta[1]**2\n"
QUARTIC = "state: {theta: {shape: 2}}\npotential: theta[0]**4/4 + theta[0]**2*theta[1]/3 + theta[1]**2 + theta[1]**4\n"
FLAT = "state: {theta: {shape: 2}}\ndata: {y: {shape: N}}\nlog_prior: '0'\nlog_likelihood: normal(y, 0, 1)\n"
PARTS = "state: {a: {}, b: {}}\npotential: a**2 + a*b/2 + b**2\nlaws: {b: 'N(-a/4, 1/2)'}\n"


def stages(folder: Path, moves: str, target: str = GAUSS) -> Stages:
    noisy = "O" in moves
    more, dynamics = (", C: {value: [[1, 1/2], [1/2, 2]]}", "sghmc") if noisy else ("", "hmc")
    (folder / "target.yaml").write_text(f"format: 1\nname: target\n{target}", encoding="utf-8")
    (folder / "build.yaml").write_text(
        BUILD.format(root=ROOT, moves=moves, dynamics=dynamics, more=more), encoding="utf-8"
    )
    if "data:" in target:
        (folder / "y.csv").write_text("y\n1\n2\n", encoding="utf-8")
        with (folder / "build.yaml").open("a", encoding="utf-8") as more_of_it:
            more_of_it.write("data: {file: y.csv, y: y}\n")
    build = load_build(folder / "build.yaml")
    return Stages(build, bind(build))


def density(theta: tuple[int, int], target: str) -> Fraction:
    """Return sum W_ij (d_i d_j U - d_i U d_j U)/2 over what is moved, W = inv(M): what kicks before drifts add."""
    (x, y), W = theta, ((Fraction(3, 5), Fraction(-1, 5)), (Fraction(-1, 5), Fraction(2, 5)))
    third = Fraction(1, 3)
    if target == QUARTIC:
        g, K = (
            (x**3 + 2 * x * y * third, x**2 * third + 2 * y + 4 * y**3),
            (
                (3 * x**2 + 2 * y * third, 2 * x * third),
                (2 * x * third, 2 + 12 * y**2),
            ),
        )
    else:
        half = Fraction(1, 2)
        g, K = (2 * x + y * half, 2 * y + x * half), ((2, half), (half, 2))
    return sum((W[i][j] * (K[i][j] - g[i] * g[j]) / 2 for i in (0, 1) for j in (0, 1)), Fraction(0))


KICK, DRIFT = "{split: [B, A]}", "{split: [A, B]}"
HELD = "metropolis: {split: [B, A], flip: {r: -r}}"
USED = f"use: used.yaml, {HELD}"


@pytest.mark.parametrize(
    ("moves", "target", "share"),
    [
        (f"refresh: r, {KICK}", GAUSS, 1),
        (f"refresh: {{r: -1/2}}, {DRIFT}", GAUSS, -1),
        (f"refresh: r, {KICK}", QUARTIC, 1),
        ("refresh: {r: 1/3}, {split: [A, O, B], steps: 3}", GAUSS, -3),
        ("refresh: r, {split: [2*B/5, A, 3*B/5]}", GAUSS, Fraction(-1, 5)),
        ("refresh: r, {metropolis: {split: [A, B], flip: {r: -r}}}", QUARTIC, -1),
        ("{metropolis: {split: [B, O, A], flip: {r: -r}, scale: 1/2}}", GAUSS, Fraction(1, 4)),
    ],
)  # fmt: skip
def test_a_word_is_refuted_by_the_density_that_it_leaves(
    tmp_path: Path, moves: str, target: str, share: Fraction
) -> None:
    found = of_cycle(cycle)(stages(tmp_path, moves, target)).decision
    assert isinstance(found, Refuted), found
    at = dict(found.witness)
    theta = (int(at["theta[0]"]), int(at["theta[1]"]))
    by = "by one step of the move" if "metropolis" in moves else "in a cycle"
    change = at[f"change of the density of theta[0], theta[1] {by}, over it"]
    assert change == f"{share * density(theta, target)} eps**2 + o(eps**2)"


@pytest.mark.parametrize("word", ["split: [B, A]", HELD, USED])
def test_what_is_drawn_beside_a_word_is_averaged_over(tmp_path: Path, word: str) -> None:
    """It is W (m'' - m'**2)/2, m = 15 a**2/16 the energy of the marginal of a and W = 3/5: 9/16 - 135 a**2/128."""
    used = (ROOT / "specs/dynamics/hmc.yaml").read_text(encoding="utf-8")
    (tmp_path / "used.yaml").write_text(used.replace("name: hmc", "name: used"), encoding="utf-8")
    moves = f"refresh: r, {{{word}, of: {{theta: [a]}}}}, draw: b"
    found = of_cycle(cycle)(stages(tmp_path, moves, PARTS)).decision
    assert isinstance(found, Refuted), found
    at = dict(found.witness)
    value = Fraction(9, 16) - Fraction(135, 128) * int(at["theta[0]"]) ** 2
    by = "in a cycle" if "metropolis" not in word else "by one step of the move"
    assert at[f"change of the density of theta[0] {by}, over it"] == f"{value} eps**2 + o(eps**2)"


@pytest.mark.parametrize(
    "moves",
    [
        "refresh: r, {split: [B/2, A, B/2]}",
        "refresh: {r: 1/2}, {split: [A/2, B, A/2], steps: 2}",
        'refresh: r, {metropolis: {split: [B/2, A, B/2], steps: "uniform(1, 2)"}}',
        "refresh: {r: -1/2}, {metropolis: {split: [B/2, A, B/2], steps: 2, flip: {r: -r}}}",
        "refresh: r, {split: [B/2, A/2, O, A/2, B/2]}",
    ],
)
def test_words_that_are_their_own_reverse_are_proved(tmp_path: Path, moves: str) -> None:
    assert isinstance(of_cycle(cycle)(stages(tmp_path, moves)).decision, Proved)


@pytest.mark.parametrize("target", [FLAT, FLAT.replace("y, 0", "y, theta[0]*theta[1]")])
@pytest.mark.parametrize("word", ["metropolis: {split: [B/2, A, B/2], steps: 2}", "split: [B, A]"])
def test_a_point_with_another_u_refutes_no_target_that_is_flat(tmp_path: Path, word: str, target: str) -> None:
    found = of_cycle(cycle)(stages(tmp_path, f"refresh: {{r: 1/2}}, {{{word}}}", target)).decision
    assert isinstance(found, Undecided if target == FLAT else Refuted)


@pytest.mark.parametrize(
    ("moves", "module", "claim", "decide"),
    [
        ("refresh: r, {split: [B/2, A, B/2]}", cycles, "limit_departs", cycle),
        (
            "refresh: {r: 1/2}, {metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}",
            accepted,
            "departure",
            accepted.metropolis,
        ),
    ],
)
def test_a_proof_that_an_exact_point_contradicts_is_a_fault_of_the_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moves: str,
    module: object,
    claim: str,
    decide: Callable[[Split, Stages], Answer],
) -> None:
    own = stages(tmp_path, "refresh: r, {split: [B, A]}")
    wrong = of_cycle(cycle)(own)
    monkeypatch.setattr(module, claim, lambda *_, **__: wrong)
    found = of_cycle(decide)(stages(tmp_path, moves)).decision
    assert isinstance(found, Undecided)
    assert OWN_FAULT in found.tried[0]


def with_mass_of_many_digits(folder: Path) -> Build:
    """Return the build in a folder with a mass as warm-up finds it, of 400 numbers of 17 digits."""
    A = np.random.default_rng(2).standard_normal((20, 40))
    text = (folder / "build.yaml").read_text(encoding="utf-8")
    text = text.replace("[[2, 1], [1, 3]]", str((A @ A.T / 40).tolist())).replace("{d: 2}", "{d: 20}")
    (folder / "build.yaml").write_text(text, encoding="utf-8")
    (folder / "target.yaml").write_text(
        "name: target\nstate: {theta: {shape: 20}}\npotential: norm2(theta)**2\n", encoding="utf-8"
    )
    return load_build(folder / "build.yaml")


@pytest.mark.slow
def test_a_wrong_word_with_such_a_mass_is_refuted_before_a_point_of_the_move_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages(tmp_path, f"refresh: r, {HELD}")
    build = with_mass_of_many_digits(tmp_path)
    monkeypatch.setattr(accepted, "departure", lambda *_: pytest.fail("a point of the move outlasts the limit"))
    assert isinstance(of_cycle(accepted.metropolis)(Stages(build, bind(build))).decision, Refuted)


def test_a_proof_with_a_mass_of_many_digits_is_tried_at_small_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mass that warm-up found: with its 400 numbers of 17 digits a point would outlast the limit of the claim."""
    made = stages(tmp_path, f"refresh: r, {HELD.replace('[B, A]', '[B/2, A, B/2]')}")
    build = with_mass_of_many_digits(tmp_path)
    tried: list[int] = []

    def found(split: Split, *_: object) -> None:
        tried.extend(len(split.z(sizes)) for sizes in split.subject.sizes)

    monkeypatch.setattr(metropolis_witness, "_found", found)
    for one in (made, Stages(build, bind(build))):
        assert isinstance(of_cycle(accepted.metropolis)(one).decision, Proved)
    assert tried[0] == 4
    assert 0 < max(tried) <= 8
