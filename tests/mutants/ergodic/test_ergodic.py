"""Dynamics with more than one stationary law, or with one that nobody has shown to be alone: none is proved."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sympy
from loaders import load_build, load_dynamics
from reports import only
from some import some
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.witness import points
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.unique import unique_in
from recipe_compiler.verify.claims import DYNAMICS
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.moves.in_build import steps_by_cycle
from recipe_compiler.verify.uniqueness.unique import unique

ROWS = {claim.id: claim for claim in DYNAMICS}
HERE = Path(__file__).parent
SPECS = HERE.parents[2] / "specs"

REFUTED = {
    "hmc": "exp(-H)/(1 + H**2)",
    "friction_may_vanish": "exp(-H)/(1 + H**2)",
    "frozen_direction": "exp(-H)/(1 + (-1*x + y)**2)",
    "uncoupled": "the part of H in theta[0], theta[1], r[0], r[1]",
    "coupling_may_vanish": "the part of H in theta[0], theta[1], r[0], r[1]",
    "at_rest": "the part of H in w",
}
"""Mutant to what its other law speaks of."""

UNDECIDED = {
    "thermostat_without_noise": "draw anew now and then from r ~ N(0, I) and xi ~ N(0, 1/d)",
    "metric_may_vanish": "no block is shown to have noise",
    "metric_has_kinks": "is smooth",
    "rank_one_coupling": "not shown at every state: theta",
    "noise_on_the_wrong_side": "not shown at every state: r",
    "half_line": "x has a boundary",
    "q_symmetric": "refuted: Q is skew",
}
"""Mutant to what is said to be missing."""

WALLS = ("metric_vanishes", "noise_vanishes")
"""Mutants with a surface that no chain crosses: exp(-H) on one side of it is stationary too."""

CONTROLS = sorted((HERE / "controls").glob("*.yaml"))


def subject(path: Path) -> Subject:
    found = load_dynamics(path)
    return subject_of(found)


def decided(name: str) -> Answer:
    found = unique(subject(HERE / f"{name}.yaml"))
    assert not ROWS["unique"].finding(found).required
    return found


def test_every_mutant_has_its_row() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == REFUTED.keys() | UNDECIDED.keys() | set(WALLS)


@pytest.mark.parametrize("name", REFUTED)
def test_another_law_is_named(name: str) -> None:
    found = decided(name).decision
    assert isinstance(found, Refuted)
    assert found.witness[-1][0] == "also stationary"
    assert REFUTED[name] in found.witness[-1][1]
    assert "never changes" in found.residual


@pytest.mark.parametrize("name", WALLS)
def test_one_side_of_a_wall_is_another_law(name: str) -> None:
    found = decided(name).decision
    assert isinstance(found, Refuted)
    assert ("also stationary", "exp(-H) where theta > 0, and 0 elsewhere") in found.witness
    assert found.given == ()


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_missing_is_named(name: str) -> None:
    with only("unique", *ROWS["unique"].rests_on[:4]):
        findings = check(load_dynamics(HERE / f"{name}.yaml")).findings
    found = next(one.decision for one in findings if one.id == "unique")
    assert isinstance(found, Undecided)
    assert any(UNDECIDED[name] in reason for reason in found.tried)


@pytest.mark.slow
@pytest.mark.parametrize("path", CONTROLS, ids=lambda path: path.stem)
def test_noise_that_reaches_everything_is_proved(path: Path) -> None:
    found = unique(subject(path))
    assert isinstance(found.decision, Proved)
    assert not any("explode" in fact for fact in found.decision.given)
    assert found.checked_at
    assert found.decision.data


def other_residual(about: Subject, kept: Callable[[sympy.Expr, tuple[sympy.Symbol, ...]], sympy.Expr]) -> sympy.Expr:
    """The Fokker-Planck residual of exp(-H)/(1 + F**2) at an exact point, by plain SymPy at d = 2."""
    sizes = next(sizes for sizes in about.sizes if all(n == 2 for n in sizes.values()))
    s = about.system(sizes)
    at = list(points(about.dynamics.declarations, sizes, 20))[-1]
    state = {x: at.numbers[x] for x in s.z}
    numbers = {k: sympy.Rational(v.numerator, v.denominator) for k, v in at.numbers.items() if k not in state}

    def concrete(e: sympy.Expr) -> sympy.Expr:
        calls = {call: at.fields[type(call).__name__] for call in e.atoms(AppliedUndef)}
        return e.xreplace(calls).doit().xreplace(numbers)

    H, n = concrete(s.H), range(len(s.z))
    D, Q = ([[concrete(matrix[i][j]) for j in n] for i in n] for matrix in (s.D, s.Q))
    q = sympy.exp(-H) / (1 + kept(H, s.z) ** 2)
    f = [
        sum(-(D[i][j] + Q[i][j]) * sympy.diff(H, s.z[j]) + sympy.diff(D[i][j] + Q[i][j], s.z[j]) for j in n) for i in n
    ]
    residual = sum(-sympy.diff(f[i] * q, s.z[i]) for i in n)
    residual += sum(sympy.diff(D[i][j] * q, s.z[i], s.z[j]) for i in n for j in n)
    values = {x: sympy.Rational(v.numerator, v.denominator) for x, v in state.items()}
    return sympy.nsimplify((residual / sympy.exp(-H)).subs(values).simplify())


def energy(H: sympy.Expr, z: tuple[sympy.Symbol, ...]) -> sympy.Expr:
    del z
    return H


def energy_without(name: str) -> Callable[[sympy.Expr, tuple[sympy.Symbol, ...]], sympy.Expr]:
    return lambda H, z: H.subs({x: 0 for x in z if str(x).startswith(name)})


@pytest.mark.slow
def test_what_is_said_to_be_stationary_is_so() -> None:
    assert other_residual(subject(HERE / "hmc.yaml"), energy) == 0
    assert other_residual(subject(HERE / "uncoupled.yaml"), energy_without("w")) == 0
    assert other_residual(subject(HERE / "frozen_direction.yaml"), lambda H, z: z[1] - z[0]) == 0
    assert other_residual(subject(HERE / "at_rest.yaml"), lambda H, z: z[-1] ** 2 / 2) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sghmc", "sgnht_mass", "langevin_with_memory", "tied_noise", "circle"])
def test_where_noise_reaches_everything_energy_is_not_kept(name: str) -> None:
    assert other_residual(subject(HERE / "controls" / f"{name}.yaml"), energy) != 0


@pytest.mark.slow
def test_the_refresh_of_a_metric_is_named() -> None:
    found = unique(subject(SPECS / "dynamics" / "rhmc.yaml")).decision
    assert isinstance(found, Refuted)
    assert "r ~ N(0, G)" in found.residual


OPEN = {
    "gsgrhmc_gaussian", "hmc_gaussian_leapfrog", "sghmc_lognormal_friction_gaussian", "sgrhmc_inverse_gaussian_baoab",
    "sgrld_categories", "wright_fisher_dirichlet",
}  # fmt: skip
"""Builds whose brackets, of a metric that depends on the state in three dimensions, take longer than a claim may; that
without noise; and those with a boundary, where what happens there decides it too."""
BUILDS = sorted(path for path in (SPECS / "builds").glob("*.yaml") if path.stem not in OPEN)


def test_leapfrog_by_itself_has_other_laws() -> None:
    build = load_build(SPECS / "builds/hmc_gaussian_leapfrog.yaml")
    assert unique_in(build, bind(build)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("path", some(BUILDS, 3), ids=lambda path: path.stem)
def test_builds_are_decided_at_their_values(path: Path) -> None:
    """Friction declared positive semidefinite is definite at its value; two memories reach three momenta by forces."""
    build = load_build(path)
    if steps_by_cycle(build):
        pytest.skip("what a cycle keeps need not be that of its equation")
    assert unique_in(build, bind(build)).verdict is Verdict.PROVED


LAMBDA = "[[1, 1/2],\n            [-1/3, 1],\n            [1/4, -1]]"
SIGMA = "[[2, 1/2, 1/3],\n            [1/2, 1, -1/4],\n            [1/3, -1/4, 3/2]]"
MASS = "[[2, 1/2, 0],\n            [1/2, 1, 1/4],\n            [0, 1/4, 3/2]]"
UNIT = "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {LAMBDA: "[[0, 0], [0, 0], [0, 0]]"},
        {LAMBDA: "[[1, 1], [0, 0], [0, 0]]", SIGMA: UNIT, MASS: UNIT},
        {SIGMA: UNIT, MASS: UNIT},
    ],
    ids=["uncoupled", "two directions alone", "one direction of a degenerate frequency alone"],
)
def test_memories_that_do_not_reach_everything_are_not_proved(changes: dict[str, str], tmp_path: Path) -> None:
    text = (SPECS / "builds" / "generalised_langevin_gaussian.yaml").read_text().replace("../", f"{SPECS}/")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "build.yaml"
    path.write_text(text, encoding="utf-8")
    build = load_build(path)
    assert not isinstance(unique_in(build, bind(build)).decision, Proved)


def test_a_singular_value_leaves_a_direction_alone(tmp_path: Path) -> None:
    text = (SPECS / "builds" / "sgld_gaussian.yaml").read_text().replace("../", f"{SPECS}/")
    old = "[[1, 1/3, 1/4],\n            [1/3, 2, -1/2],\n            [1/4, -1/2, 3/2]]"
    assert old in text
    (tmp_path / "build.yaml").write_text(text.replace(old, "[[1, 2, 0], [2, 4, 0], [0, 0, 1]]"))
    build = load_build(tmp_path / "build.yaml")
    found = unique_in(build, bind(build))
    assert isinstance(found.decision, Refuted)
    assert found.for_d == (("d", 3),)
    assert "-2*theta[0] + theta[1]" in found.decision.witness[-1][1]
