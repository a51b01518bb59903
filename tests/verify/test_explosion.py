"""Every sampler that ships stays finite, under growth of U that is named; in builds the target shows it."""

import pytest
from answers import SPECS, answer, document, expect, shipped
from some import some

import recipe_compiler as rc
from recipe_compiler import I, vector
from recipe_compiler.errors import ModelError
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.moves.in_build import accepts
from recipe_compiler.verify.stationarity.explosion import rests_on

STAYS = "solutions do not run off to infinity in finite time"
LOW = "U >= -c (1 + norm2(theta)) for some c"
SGLD = ("-2 sum_ij d_theta[i] U D[i,j] theta[j] <= c (1 + norm2(theta)) for some c",)


def bounds(factor):
    """Return what is assumed of a metric K K.T."""
    of = (f"sum_ij {factor}[i,j]**2", f"sum_ijk d_theta[i] {factor}[i,j] d_theta[k] {factor}[k,j]")
    return (LOW, *(f"{one} <= c (1 + norm2(theta) + U) for some c" for one in of))


GROWTH = {
    **dict.fromkeys(("cir", "cir_root", "exponential_ou", "mirrored_gamma", "sgrhmc_gamma", "sgrhmc_potential"), ()),
    **dict.fromkeys(("still", "wright_fisher"), ()),
    **dict.fromkeys(("generalised_langevin", "hmc", "hmc_reflected", "sghmc"), (LOW,)),
    **dict.fromkeys(("sgnht", "sgnht_mass", "sgnht_mass_velocity"), (LOW,)),
    **dict.fromkeys(("sgld", "sgld_noise_subtraction"), SGLD),
    "gsgrhmc": bounds("K"),
    "gsgrhmc_cholesky": bounds("L"),
    "rhmc": ("U + logdet(G)/2 -> oo as norm2(theta) -> oo",),
    "sghmc_lognormal_friction": ("sum_i (d_theta[i] U)**2 <= c (1 + norm2(theta)) for some c",),
    "sgrhmc_positive": (LOW, "sum_i theta[i]**3 <= c (1 + norm2(theta) + U) for some c"),
    "sgrld": (
        "2 sum_i G_inverse[i,i] + 2 sum_ij theta[i] d_theta[j] G_inverse[j,i] "
        "- 2 sum_ij d_theta[i] U G_inverse[i,j] theta[j] <= c (1 + norm2(theta)) for some c",
    ),
    "sgrld_positive": ("-2 sum_i d_theta[i] U theta[i]**2 <= c (1 + norm2(theta)) for some c",),
}
"""Shipped dynamics to what is assumed of growth."""


@pytest.mark.parametrize("name", sorted(path.stem for path in (SPECS / "dynamics").glob("*.yaml")))
def test_shipped_samplers_stay_finite_under_named_growth(name):
    found = answer(shipped(f"dynamics/{name}"), "explosion")
    expect(found, "proved")
    assert rests_on(found) == GROWTH[name]
    assert found.for_d == "all"
    assert found.checked_at


@pytest.mark.parametrize("path", some(sorted((SPECS / "builds").glob("*.yaml"))), ids=lambda path: path.stem)
def test_shipped_builds_assume_nothing_of_growth(path):
    build = document(path)
    if accepts(build):
        pytest.skip("moves that are accepted are refused where a step overflows")
    found = explosion_in(build, bind(build))
    expect(found, "proved")
    assert rests_on(found) == ()


BUILD = """
name: run
dynamics: dynamics.yaml
target: target.yaml
scheme: {name: euler}
variant: full
run: {step_size: 0.01}
"""
LANGEVIN = """
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""
STEEP = "state: {x: {}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[exp(x**2)]]\nQ: [[0]]\n"


@pytest.mark.parametrize(
    ("potential", "verdict"),
    [
        ("x[0]**4 - 3*x[0]**2 + x[1]**2", "proved"),
        ("x[1]**2 - 5*x[0]**2", "proved"),
        ("x[1]**2 - x[0]**4", "undecided"),
        ("x[1]**2 - exp(x[0])", "undecided"),
    ],
)
def test_what_a_target_shows_of_its_growth_is_decided(potential, verdict):
    target = f"state: {{x: {{shape: 2}}}}\npotential: {potential}\n"
    found = answer(document(f"{BUILD}sizes: {{d: 2}}\n", dynamics=LANGEVIN, target=target), "explosion")
    expect(found, verdict, "" if verdict == "proved" else f"the target is not seen to show: {LOW}")


@pytest.mark.slow
def test_a_build_that_explodes_is_refuted_by_the_claims_of_a_compilation():
    wrong, right = (
        check(document(BUILD, dynamics=own, target="state: {x: {}}\npotential: x**2/2\n"), advisory=False)
        for own in (STEEP, STEEP.replace("exp(x**2)", "1 + x**2"))
    )
    assert wrong.verdict == "refuted"
    assert [one.id for one in wrong.findings if one.verdict == "refuted"] == ["explosion"]
    assert right.verdict == "proved"


def test_uniqueness_rests_on_the_growth_that_keeps_chains_finite():
    (found,) = (one for one in check(shipped("dynamics/sgnht")).findings if one.id == "unique")
    expect(found, "proved", LOW)
    assert STAYS not in found.decision.given


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "is_open"), [("'I*(1 + norm2(x)**3)'", True), ("I", False)])
def test_uniqueness_says_what_explosion_leaves_open(noise, is_open):
    report = check(document(f"state: {{x: {{shape: 2}}}}\nH: 3*log(1 + norm2(x))\nD: [[{noise}]]\nQ: [[0]]\n"))
    found = {one.id: one for one in report.findings}
    expect(found["explosion"], "undecided" if is_open else "not undecided")
    expect(found["unique"], "proved")
    assert (STAYS in found["unique"].decision.given) is is_open


HINTED = """
state: {{x: {{shape: 2}}, y: {{shape: 2}}}}
H: norm2(x)/2 + norm2(y)/2
D: [[2*I, I], [I, I]]
Q: [[0, I], [-I, 0]]
claims: {{lyapunov: "{}"}}
"""
# dx = |x|**2 x dt + sqrt(2) dW explodes, so no W shows that it does not: L |x|**2 = 2 |x|**4 + 4
GROWING = """
state: {x: {shape: 2}}
parameters: {a: {is: positive}}
H: a*norm2(x)
D: [[I]]
claims: {lyapunov: norm2(x), drift: {x: "a*norm2(x)*x"}}
"""
ABSTRACT = """
state: {x: {shape: 2}}
functions: {U: {of: x, role: potential}}
H: U(x)
D: [[I]]
Q: [[0]]
claims: {lyapunov: -norm2(x)}
"""
FALSE = [
    "-x[0]**4", "norm2(x)", "x[0]**2*y[0]**2 + norm2(y)", "norm2(x) + norm2(y) + x[0]**3", "log(1 + norm2(x))",
    "sin(x[0])", "exp(-norm2(x)) + tanh(y[1])*cos(x[0])", "sin(x[0]) + norm2(y)",
]  # fmt: skip


@pytest.mark.parametrize(
    ("hint", "verdict"),
    [
        *((hint, "refuted") for hint in FALSE),
        ("norm2(x) + norm2(y) + sin(x[0])", "proved"),
        ("norm2(x) + norm2(y)", "proved"),
        ("log(1 + norm2(x) + norm2(y))", "undecided"),
    ],
)
def test_a_wrong_hint_is_reported_and_the_search_goes_on(hint, verdict):
    dynamics = document(HINTED.format(hint))
    found = answer(dynamics, "explosion")
    expect(found, "proved")
    assert ("as stated" in found.decision.by) is (verdict == "proved")
    hinted = answer(dynamics, "claimed_lyapunov")
    expect(hinted, verdict)
    assert verdict != "refuted" or hinted.decision.residual == "W does not go to infinity"


def test_a_stated_function_that_grows_too_slowly_is_refuted():
    at = expect(answer(document(GROWING), "claimed_lyapunov"), "refuted", "L W grows faster than W")
    assert {"a", "x[0]", "L W there"} <= at.keys()
    expect(answer(document(ABSTRACT), "claimed_lyapunov"), "refuted")


def test_a_stated_function_is_a_formula_of_the_state():
    with pytest.raises(ModelError, match=r"claims\.lyapunov"):
        document("state: {x: {shape: 2}}\nH: norm2(x)/2\nD: [[I]]\nQ: [[0]]\nclaims: {lyapunov: x}\n")


def test_a_function_is_stated_in_python_too():
    x = vector("x", "d")
    made = rc.Dynamics(name="p", state=[x], H=x.T @ x / 2, D=[[I]], Q=[[0]], claims={"lyapunov": x.T @ x})
    found = answer(made.document, "explosion")
    assert found.decision.by == "Lyapunov function x.T @ x, as stated"
