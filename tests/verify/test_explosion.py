"""Every sampler that ships stays finite, under growth of U that is named; in builds the target shows it."""

from pathlib import Path

import pytest
from loaders import load_build, load_dynamics
from reports import only
from some import some

import recipe_compiler as rc
from recipe_compiler import I, vector
from recipe_compiler.errors import ModelError
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.core.subject import find, subject_of
from recipe_compiler.verify.moves.in_build import accepts
from recipe_compiler.verify.stationarity.explosion import explosion, rests_on

SPECS = Path(__file__).parents[2] / "specs"
STAYS = "solutions do not run off to infinity in finite time"
LOW = "U >= -c (1 + norm2(theta)) for some c"
SGLD = ("-2 sum_ij d_theta[i] U D[i,j] theta[j] <= c (1 + norm2(theta)) for some c",)

GROWTH = {
    "cir": (),
    "cir_root": (),
    "exponential_ou": (),
    "generalised_langevin": (LOW,),
    "gsgrhmc": (
        LOW,
        "sum_ij K[i,j]**2 <= c (1 + norm2(theta) + U) for some c",
        "sum_ijk d_theta[i] K[i,j] d_theta[k] K[k,j] <= c (1 + norm2(theta) + U) for some c",
    ),
    "gsgrhmc_cholesky": (
        LOW,
        "sum_ij L[i,j]**2 <= c (1 + norm2(theta) + U) for some c",
        "sum_ijk d_theta[i] L[i,j] d_theta[k] L[k,j] <= c (1 + norm2(theta) + U) for some c",
    ),
    "hmc": (LOW,),
    "hmc_reflected": (LOW,),
    "mirrored_gamma": (),
    "rhmc": ("U + logdet(G)/2 -> oo as norm2(theta) -> oo",),
    "sghmc": (LOW,),
    "sghmc_lognormal_friction": ("sum_i (d_theta[i] U)**2 <= c (1 + norm2(theta)) for some c",),
    "sgld": SGLD,
    "sgld_noise_subtraction": SGLD,
    "sgnht": (LOW,),
    "sgnht_mass": (LOW,),
    "sgnht_mass_velocity": (LOW,),
    "sgrhmc_gamma": (),
    "sgrhmc_positive": (LOW, "sum_i theta[i]**3 <= c (1 + norm2(theta) + U) for some c"),
    "sgrhmc_potential": (),
    "sgrld": (
        "2 sum_i G_inverse[i,i] + 2 sum_ij theta[i] d_theta[j] G_inverse[j,i] "
        "- 2 sum_ij d_theta[i] U G_inverse[i,j] theta[j] <= c (1 + norm2(theta)) for some c",
    ),
    "sgrld_positive": ("-2 sum_i d_theta[i] U theta[i]**2 <= c (1 + norm2(theta)) for some c",),
    "still": (),
    "wright_fisher": (),
}
"""Shipped dynamics to what is assumed of growth."""


def dynamics(path: Path) -> Dynamics:
    return load_dynamics(path)


@pytest.mark.parametrize("path", sorted((SPECS / "dynamics").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_samplers_stay_finite_under_named_growth(path: Path) -> None:
    found = find(explosion, subject_of(dynamics(path)))
    assert isinstance(found.decision, Proved)
    assert rests_on(found) == GROWTH[path.stem]
    assert found.for_d == "all"
    assert found.checked_at


@pytest.mark.parametrize("path", some(sorted((SPECS / "builds").glob("*.yaml"))), ids=lambda path: path.stem)
def test_shipped_builds_assume_nothing_of_growth(path: Path) -> None:
    build = load_build(path)
    if accepts(build):
        pytest.skip("moves that are accepted are refused where a step overflows")
    found = explosion_in(build, bind(build))
    assert isinstance(found.decision, Proved)
    assert rests_on(found) == ()


def written(at: Path, target: str, dynamics_text: str, sizes: str = "sizes: {d: 2}\n") -> Build:
    (at / "target.yaml").write_text(target)
    (at / "dynamics.yaml").write_text(dynamics_text)
    (at / "build.yaml").write_text(
        f"name: run\ndynamics: dynamics.yaml\ntarget: target.yaml\nscheme: {{name: euler}}\n{sizes}"
        "variant: full\nrun: {step_size: 0.01}\n"
    )
    return load_build(at / "build.yaml")


HMC = """
name: langevin
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""


@pytest.mark.parametrize(
    ("potential", "verdict"),
    [
        ("x[0]**4 - 3*x[0]**2 + x[1]**2", Verdict.PROVED),
        ("x[1]**2 - 5*x[0]**2", Verdict.PROVED),
        ("x[1]**2 - x[0]**4", Verdict.UNDECIDED),
        ("x[1]**2 - exp(x[0])", Verdict.UNDECIDED),
    ],
)
def test_what_a_target_shows_of_its_growth_is_decided(tmp_path: Path, potential: str, verdict: Verdict) -> None:
    build = written(tmp_path, f"name: t\nstate: {{x: {{shape: 2}}}}\npotential: {potential}\n", HMC)
    found = explosion_in(build, bind(build))
    assert found.verdict is verdict
    if isinstance(found.decision, Undecided):
        assert f"the target is not seen to show: {LOW}" in found.decision.tried


@pytest.mark.slow
def test_a_build_that_explodes_is_refuted_by_the_claims_of_a_compilation(tmp_path: Path) -> None:
    steep = (
        "name: steep\nstate: {x: {}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[exp(x**2)]]\nQ: [[0]]\n"
    )
    build = written(tmp_path, "name: t\nstate: {x: {}}\npotential: x**2/2\n", steep, sizes="")
    report = check(build, advisory=False)
    assert report.verdict is Verdict.REFUTED
    assert [finding.id for finding in report.findings if finding.verdict is Verdict.REFUTED] == ["explosion"]
    tame = steep.replace("exp(x**2)", "1 + x**2")
    assert check(written(tmp_path, "name: t\nstate: {x: {}}\npotential: x**2/2\n", tame, sizes="")).verdict is (
        Verdict.PROVED
    )


def test_uniqueness_rests_on_the_growth_that_keeps_chains_finite() -> None:
    found = {f.id: f.decision for f in check(load_dynamics(SPECS / "dynamics" / "sgnht.yaml")).findings}["unique"]
    assert isinstance(found, Proved)
    assert LOW in found.given
    assert STAYS not in found.given


@pytest.mark.slow
def test_uniqueness_says_what_explosion_leaves_open(tmp_path: Path) -> None:
    path = tmp_path / "heavy.yaml"
    path.write_text("name: h\nstate: {x: {shape: 2}}\nH: 3*log(1 + norm2(x))\nD: [[NOISE]]\nQ: [[0]]\n")
    text = path.read_text()
    for noise, left_open in (("'I*(1 + norm2(x)**3)'", True), ("I", False)):
        path.write_text(text.replace("NOISE", noise))
        report = check(load_dynamics(path))
        decision = {finding.id: finding.decision for finding in report.findings}
        assert isinstance(decision["explosion"], Undecided) is left_open
        assert isinstance(decision["unique"], Proved)
        assert (STAYS in decision["unique"].given) is left_open
        assert (f"; {STAYS}" in str(report)) is left_open


HINTED = """
name: hinted
state: {x: {shape: 2}, y: {shape: 2}}
H: norm2(x)/2 + norm2(y)/2
D: [[2*I, I], [I, I]]
Q: [[0, I], [-I, 0]]
claims: {lyapunov: "%s"}
"""


@pytest.mark.parametrize(
    ("hint", "residual"),
    [
        ("-x[0]**4", "W does not go to infinity"),
        ("norm2(x)", "W does not go to infinity"),
        ("x[0]**2*y[0]**2 + norm2(y)", "W does not go to infinity"),
        ("norm2(x) + norm2(y) + x[0]**3", "W does not go to infinity"),
        ("log(1 + norm2(x))", "W does not go to infinity"),
        ("sin(x[0])", "W does not go to infinity"),
        ("exp(-norm2(x)) + tanh(y[1])*cos(x[0])", "W does not go to infinity"),
        ("sin(x[0]) + norm2(y)", "W does not go to infinity"),
        ("norm2(x) + norm2(y) + sin(x[0])", ""),
        ("log(1 + norm2(x) + norm2(y))", None),
        ("norm2(x) + norm2(y)", ""),
    ],
)
def test_a_wrong_hint_is_reported_and_the_search_goes_on(tmp_path: Path, hint: str, residual: str | None) -> None:
    (tmp_path / "hinted.yaml").write_text(HINTED % hint)
    with only("explosion", "claimed_lyapunov"):
        found = {f.id: f.decision for f in check(load_dynamics(tmp_path / "hinted.yaml")).findings}
    assert isinstance(found["explosion"], Proved)
    assert ("as stated" in found["explosion"].by) is (residual == "")
    hinted = found["claimed_lyapunov"]
    assert isinstance(hinted, {None: Undecided, "": Proved}.get(residual, Refuted))
    assert not residual or (isinstance(hinted, Refuted) and hinted.residual == residual)


def test_a_stated_function_that_grows_too_slowly_is_refuted(tmp_path: Path) -> None:
    """dx = |x|**2 x dt + sqrt(2) dW explodes, so no W shows that it does not: L |x|**2 = 2 |x|**4 + 4."""
    text = "name: e\nstate: {x: {shape: 2}}\nparameters: {a: {is: positive}}\nH: a*norm2(x)\nD: [[I]]\n"
    text += 'claims: {lyapunov: norm2(x), drift: {x: "a*norm2(x)*x"}}\n'
    (tmp_path / "e.yaml").write_text(text)
    with only("claimed_lyapunov"):
        (found,) = check(load_dynamics(tmp_path / "e.yaml")).findings
    assert isinstance(found.decision, Refuted)
    assert found.decision.residual.startswith("L W grows faster than W")
    assert {"a", "x[0]", "L W there"} <= {name for name, _ in found.decision.witness}


def test_a_wrong_hint_beside_an_abstract_potential_is_refuted(tmp_path: Path) -> None:
    text = "name: e\nstate: {x: {shape: 2}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[I]]\nQ: [[0]]\n"
    (tmp_path / "e.yaml").write_text(text + "claims: {lyapunov: -norm2(x)}\n")
    with only("claimed_lyapunov"):
        (found,) = check(load_dynamics(tmp_path / "e.yaml")).findings
    assert isinstance(found.decision, Refuted)


def test_a_stated_function_is_a_formula_of_the_state(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    body = "name: w\nstate: {x: {shape: 2}}\nH: norm2(x)/2\nD: [[I]]\nQ: [[0]]\nclaims: {lyapunov: NEW}\n"
    path.write_text(body.replace("NEW", "x"))
    with pytest.raises(ModelError) as caught:
        load(path)
    assert "claims.lyapunov" in str(caught.value)
    path.write_text(body.replace("NEW", "norm2(x)"))
    assert dynamics(path).claims.lyapunov is not None


def test_a_function_is_stated_in_python_too() -> None:
    x = vector("x", "d")
    made = rc.Dynamics(name="p", state=[x], H=x.T @ x / 2, D=[[I]], Q=[[0]], claims={"lyapunov": x.T @ x})
    found = explosion(subject_of(made.document)).decision
    assert isinstance(found, Proved)
    assert found.by == "Lyapunov function x.T @ x, as stated"
