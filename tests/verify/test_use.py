"""Other dynamics under the H of a build, and blocks that are held: P D P, P Q P, and whether the energies agree."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from loaders import load_build, load_dynamics

from recipe_compiler.algebra.dynamics.system import system
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Dynamics, Metropolis, Moved, Scheme, Use
from recipe_compiler.spec.use import followed
from recipe_compiler.spec.words import Letter
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew
from recipe_compiler.verify.moves.draw import draw
from recipe_compiler.verify.moves.in_build import of_cycle
from recipe_compiler.verify.moves.irreducible import irreducible
from recipe_compiler.verify.moves.metropolis import metropolis
from recipe_compiler.verify.moves.use import use
from recipe_compiler.verify.stationarity.stationary import stationary
from recipe_compiler.verify.steps.split import Split, split_of

ROOT = Path(__file__).parents[2]
STATE = """
format: 1
name: held
state: {theta: {shape: d}, r: {shape: d}, s: {}}
parameters:
  M: {shape: [d, d], is: positive definite}
  A: {shape: [d, d]}
  C: {shape: [d, d], is: positive semidefinite}
functions: {U: {of: theta, role: potential}}
H: HERE
D: [[0, 0, 0], [0, C, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, A - A.T, 0], [0, 0, 0]]
"""
H = "U(theta) + r.T @ inv(M) @ r/2 + s**2/2"
SAME = ["0", "s**4", "logdet(M)", "exp(s)/(1 + s**2)", "abs(s)"]
OTHER = [
    "r.T @ A @ theta",
    "sum(theta)",
    "U(theta)",
    "norm2(r)",
    "s*sum(r)",
    "s**2*norm2(theta)",
    "theta.T @ M @ theta",
]
JUMPS = ["sum(sign(r))", "sum(where(theta > 0, ones, 0))", "sum(sign(theta))*s"]
FOLLOWED = ["hmc", "sghmc", "sgld", "sgnht", "sgrld", "generalised_langevin", "gsgrhmc", "sghmc_lognormal_friction"]


def split_with(tmp_path: Path, more: str) -> Split:
    """Return the word of the dynamics with the energy E = H + more beside it."""
    found = []
    for name, energy in (("here", H), ("used", f"{H} + {more}")):
        (tmp_path / f"{name}.yaml").write_text(STATE.replace("HERE", energy), encoding="utf-8")
        found.append(load_dynamics(tmp_path / f"{name}.yaml"))
    here, other = found
    dynamics = replace(here, claims=replace(here.claims, energy=other.H))
    word = tuple(Letter(name, Fraction(1, 1 + (name != "O"))) for name in "BAOAB")
    return split_of(subject_of(dynamics), Scheme("cycle", word, cycle=(Metropolis(),)))


def decided(tmp_path: Path, more: str) -> Answer:
    build = load_build(ROOT / "specs/builds/hmc_within_gibbs.yaml")
    return use(split_with(tmp_path, more), Stages(build, bind(build)))


def followed_by(name: str) -> tuple[Dynamics, Dynamics]:
    """Return shipped dynamics, and what a word follows that holds some of their rows."""
    own = load_dynamics(ROOT / f"specs/dynamics/{name}.yaml")
    blocks = tuple((block.name, block.name) for block in own.declarations.blocks)
    return own, followed(own, own, Use(own, None, blocks, (Moved(("a",), "moved", (True, False)),)))


@pytest.mark.parametrize("name", FOLLOWED)
def test_D_and_Q_are_projected_at_the_block_of_the_potential(name: str) -> None:
    """By the second engine, entry by entry, with every other matrix abstract: nothing commutes."""
    own, made = followed_by(name)
    sizes = dict.fromkeys(own.declarations.sizes, 3)
    declared = made.declarations
    here, there = (system(declared, one.H, one.D or (), one.Q or (), sizes) for one in (own, made))
    mask = [x for row in rows(Symbol("moved", Shape("d"), Role.PARAMETER), Setting(declared, sizes)) for x in row]
    held = {str(x): m for x, m in zip(coordinates(potential_blocks(own)[0], sizes), mask, strict=True)}
    P = sympy.diag(*(held.get(str(x), sympy.Integer(1)) for x in here.z))
    for one, two in ((here.D, there.D), (here.Q, there.Q)):
        assert (P * sympy.Matrix(one) * P - sympy.Matrix(two)).expand().is_zero_matrix


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed_keeps_the_law(name: str) -> None:
    subject = subject_of(followed_by(name)[1])
    found = {claim.__name__: claim(subject).decision for claim in (d_symmetric, d_psd, q_skew, stationary)}
    assert all(isinstance(decision, Proved) for decision in found.values()), found


@pytest.mark.parametrize("more", SAME)
def test_an_energy_that_differs_by_what_is_held_is_the_same(tmp_path: Path, more: str) -> None:
    decision = decided(tmp_path, more).decision
    assert isinstance(decision, Proved), decision
    assert "second engine" in decision.by


@pytest.mark.parametrize("more", OTHER)
def test_another_energy_is_refuted_at_a_point(tmp_path: Path, more: str) -> None:
    decision = decided(tmp_path, more).decision
    assert isinstance(decision, Refuted), decision
    assert decision.witness


@pytest.mark.parametrize("more", JUMPS)
def test_a_kink_in_the_energy_used_leaves_it_open(tmp_path: Path, more: str) -> None:
    """Off its jumps such an energy has the slopes of H: a drift that pushes at a jump is not seen there."""
    assert isinstance(decided(tmp_path, more).decision, Undecided)


WORD = "{of: {theta: beta}, metropolis: {split: [B/2, A, B/2], steps: STEPS, flip: {r: -r}}}"
COUPLED = """
format: 1
name: coupled
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, v: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r/2
D: [[0, 0], [0, 0]]
Q: [[0, COUPLING], [OTHER, 0]]
"""


def reached(tmp_path: Path, cycle: str, coupling: str = "-I") -> Answer:
    """Return whether a cycle of Gibbs draws and words of beta alone reaches every state; tau is held by the word."""
    document = COUPLED.replace("COUPLING", coupling).replace("OTHER", coupling.removeprefix("-"))
    (tmp_path / "coupled.yaml").write_text(document, encoding="utf-8")
    stated = (ROOT / "specs/builds/hmc_within_gibbs.yaml").read_text(encoding="utf-8")
    head, _, tail = stated.replace("../", f"{ROOT}/specs/").partition("scheme:")
    head = head.replace(f"{ROOT}/specs/dynamics/hmc.yaml", "coupled.yaml")
    head = head.replace("value: 400}", "value: 400}\n  v: {value: [1, 2, -1, 1/2, 3]}")
    path = tmp_path / "build.yaml"
    path.write_text(f"{head}scheme: {{cycle: [{cycle}]}}\nvariant{tail.partition('variant')[2]}", encoding="utf-8")
    build = load_build(path)
    return of_cycle(irreducible)(Stages(build, bind(build)))


@pytest.mark.parametrize(
    "cycle",
    [
        "draw: tau, refresh: r, WORD",
        "{refresh: {r: 9/10}}, WORD, draw: tau",
        "{draw: tau, every: 2}, refresh: r, WORD",
    ],
)
def test_what_is_held_is_reached_by_its_draws(tmp_path: Path, cycle: str) -> None:
    found = reached(tmp_path, cycle.replace("WORD", WORD.replace("STEPS", '"uniform(1, 4)"'))).decision
    assert isinstance(found, Proved), found
    assert "every beta" in found.by
    assert "tau after it" in found.by


OF_TAU = WORD.replace("beta", "tau")
TURN = "{involution: {theta: -theta}}"


@pytest.mark.parametrize(
    "cycle",
    [
        "refresh: r, WORD, refresh: r, TAU",
        "refresh: {r: 1/2}, TAU, refresh: {r: 9/10}, WORD",
        "refresh: r, LONG, refresh: r, TAU, refresh: r, WORD",
        "refresh: r, {of: {theta: [tau, beta]}, metropolis: {split: [B/2, A, B/2], scale: 1/4, flip: {r: -r}}}, "
        "refresh: r, LONG",
        "refresh: r, WORD, refresh: r, draw: tau, TAU, refresh: r",
        "refresh: r, WORD, {refresh: r, every: 2}, TAU",
        f"refresh: r, WORD, refresh: r, {TURN}, refresh: r, TAU",
    ],
)
def test_moves_with_a_word_in_a_row_reach_what_each_of_them_holds(tmp_path: Path, cycle: str) -> None:
    moves = {"WORD": WORD.replace("STEPS", "1"), "LONG": WORD.replace("STEPS", "5")}
    moves["TAU"] = OF_TAU.replace("STEPS", '"uniform(1, 4)"')
    for name, move in moves.items():
        cycle = cycle.replace(name, move)
    found = reached(tmp_path, cycle).decision
    assert isinstance(found, Proved), found
    assert "moves with the word reach every beta, tau from every other, r being drawn anew" in found.by


NOT_ALL = "no moves in a row, of one step at times and with r drawn anew next to each, move or draw all of beta, tau"


@pytest.mark.parametrize(
    ("cycle", "coupling", "why"),
    [
        ("refresh: r, WORD, TAU", "-I", "r is drawn anew less often than a word is done"),
        ("refresh: r, WORD, refresh: r, LONG", "-I", NOT_ALL),
        ("refresh: r, LONG, refresh: r, LONG", "-I", "5 steps at least: where U is quadratic trajectories may close"),
        (f"refresh: r, WORD, refresh: r, {TURN}, refresh: r, TAU, refresh: r, {TURN}", "-I", NOT_ALL),
        ("refresh: r, WORD, refresh: r, TAU", "-v @ v.T", "is invertible, were nothing held"),
    ],
)
def test_moves_with_a_word_may_leave_something_where_it_is(tmp_path: Path, cycle: str, coupling: str, why: str) -> None:
    for name, move, steps in (("WORD", WORD, "1"), ("LONG", OF_TAU, "5"), ("TAU", OF_TAU, "1")):
        cycle = cycle.replace(name, move.replace("STEPS", steps))
    found = reached(tmp_path, cycle, coupling).decision
    assert isinstance(found, Undecided), found
    assert why in "; ".join(found.tried), found


@pytest.mark.parametrize(
    ("cycle", "steps", "coupling", "why"),
    [
        ("draw: tau, refresh: r, WORD", "1", "-v @ v.T", "is invertible, were nothing held"),
        ("draw: tau, refresh: r, WORD", "3", "-I", "trajectories may close"),
        ("draw: tau, {refresh: r, every: 2}, WORD", "1", "-I", "less often than a word is done"),
        ("refresh: r, WORD, refresh: r, {involution: {theta: -theta}}, draw: tau", "1", "-I", "what is held, tau, is"),
        ("refresh: r, WORD", "1", "-I", "what is held, tau, is not all drawn"),
    ],
)
def test_what_is_held_may_be_left_where_it_is(tmp_path: Path, cycle: str, steps: str, coupling: str, why: str) -> None:
    """A coupling of rank one moves beta along v alone: such a chain is no chain of the law, whatever draws tau."""
    found = reached(tmp_path, cycle.replace("WORD", WORD.replace("STEPS", steps)), coupling).decision
    assert isinstance(found, Undecided), found
    assert why in "; ".join(found.tried)


IN_TURN = """
format: 1
name: in_turn
dynamics: {root}/specs/dynamics/hmc.yaml
target: own.yaml
bind: {{M: m*I}}
parameters: {{m: {{is: positive, value: 2}}}}
scheme:
  cycle:
    - refresh: {{r: 9/10}}
    - {{of: {{theta: a}}, metropolis: {{split: [B/2, A, B/2]{first}}}}}
    - refresh: {{r: 9/10}}
    - {{of: {{theta: b}}, metropolis: {{split: [B/2, A, B/2], scale: 1/4{second}}}}}
variant: full
run: {{step_size: 1/2, draws: 4000, warmup: 1000, chains: 4, seed: 1}}
"""
OWN = "{format: 1, name: own, state: {a: {}, b: {}}, potential: a**2/2 + (b - a)**2 + b**4/4}"
FLIP = ", flip: {r: -r}"


def leapfrog(theta: list[Fraction], r: list[Fraction], moved: int, eps: Fraction) -> tuple[Fraction, Fraction]:
    """Return a step of one coordinate, of U = `OWN` and M = 2 I; the other stands still."""
    half = r[moved] - eps / 2 * slope_of_own(theta, moved)
    end = [*theta]
    end[moved] += eps * half / 2
    return end[moved], half - eps / 2 * slope_of_own(end, moved)


def slope_of_own(theta: list[Fraction], moved: int) -> Fraction:
    """Return dU/da or dU/db."""
    a, b = theta
    return b**3 + 2 * (b - a) if moved else a - 2 * (b - a)


@pytest.mark.parametrize(("place", "moved"), [(2, 0), (4, 1)])
def test_a_move_is_refuted_at_what_it_moves_alone(tmp_path: Path, place: int, moved: int) -> None:
    """Of two moves with a word one turns nothing where it is refused: (pi K - pi)/pi is that of its own coordinate."""
    flips = {"first": "" if moved == 0 else FLIP, "second": "" if moved == 1 else FLIP}
    (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")
    (tmp_path / "build.yaml").write_text(IN_TURN.format(root=ROOT, **flips), encoding="utf-8")
    build = load_build(tmp_path / "build.yaml")
    found = of_cycle(metropolis)(Stages(build, bind(build))).decision
    assert isinstance(found, Refuted), found
    assert found.by.startswith(f"move {place}: ")
    at = dict(found.witness)
    assert at["moved"] == ("[1, 0]", "[0, 1]")[moved]
    assert at["m"] == "2"
    theta, r = ([Fraction(x) for x in at[name].strip("[]").split(", ")] for name in ("theta", "r"))
    eps = Fraction(at["eps" if moved == 0 else "1/4*eps"])

    def energy(end: tuple[Fraction, Fraction]) -> Fraction:
        a, b = (end[0], theta[1]) if moved == 0 else (theta[0], end[0])
        return a**2 / 2 + (b - a) ** 2 + b**4 / 4 + end[1] ** 2 / 4

    now = energy((theta[moved], r[moved]))
    after = energy(leapfrog(theta, r, moved, eps))
    before = energy(leapfrog(theta, [-x for x in r], moved, eps))
    off = min(math.exp(float(now - before)), 1.0) - min(1.0, math.exp(float(now - after)))
    stated = at["(pi K - pi)/pi, pi = exp(-H)"]
    assert float(stated.rpartition("= ")[2]) == pytest.approx(off, rel=1e-3)


OTHER = """
format: 1
name: other
state: {theta: {shape: n}, r: {shape: n}}
parameters: {k: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
PAIR = '{format: 1, name: pair, state: {a: {}, b: {}}, potential: a**2 + a*b/2 + b**2, laws: {a: "N(-b/4, 1/2)"}}'
AT_K = """
format: 1
name: at_k
dynamics: DYNAMICS.yaml
target: pair.yaml
parameters: {k: {value: VALUE}}
scheme:
  cycle:
    - draw: a
    - refresh: r
    - {USE of: {theta: b}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}
variant: full
run: {step_size: 1/2}
"""


@pytest.mark.parametrize(
    ("claim", "energy", "beside", "value", "verdict"),
    [
        (use, "U(theta) + k*r.T @ r/4", "use: other.yaml,", "2", Proved),
        (use, "U(theta) + k*r.T @ r/4", "use: other.yaml,", "1", Refuted),
        (draw, "U(theta)*k/2 + r.T @ r/2", "", "2", Proved),
        (draw, "U(theta)*k/2 + r.T @ r/2", "", "1", Undecided),
    ],
)
def test_a_cycle_with_held_blocks_is_judged_at_the_values_of_its_build(
    tmp_path: Path, claim: Callable[[Split, Stages], Answer], energy: str, beside: str, value: str, verdict: type
) -> None:
    """At k = 2 alone H is U(theta) + r.T r/2; no witness names another k, or a mask with the entry 2."""
    (tmp_path / "other.yaml").write_text(OTHER.replace("ENERGY", energy), encoding="utf-8")
    (tmp_path / "own.yaml").write_text(OTHER.replace("ENERGY", "U(theta) + r.T @ r/2"), encoding="utf-8")
    (tmp_path / "pair.yaml").write_text(PAIR, encoding="utf-8")
    text = AT_K.replace("DYNAMICS", "own" if beside else "other").replace("VALUE", value).replace("USE", beside)
    (tmp_path / "build.yaml").write_text(text, encoding="utf-8")
    build = load_build(tmp_path / "build.yaml")
    found = of_cycle(claim)(Stages(build, bind(build))).decision
    assert isinstance(found, verdict), found
    at = dict(getattr(found, "witness", ()))
    assert at.get("k", value) == value
    assert at.get("moved", "[0, 1]") == "[0, 1]"
