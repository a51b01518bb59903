"""Euler steps that reflect, and blocks with steps of their own: single steps, their texts, what chains sample."""

from dataclasses import replace

import numpy as np
import pytest
from advancing import advance
from answers import answer, document, expect
from read_back import check_shipped
from running import drawn, kept, module_of
from running import off as errors_off

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.pipeline import compile_build

OWN = """
state: {theta: {shape: d, domain: positive}, r: {shape: d}}
parameters: {m: {shape: d, is: positive}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + sum(r**2/m)/2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
"""
BUILD = """
dynamics: own.yaml
target: gamma.yaml
parameters: {m: {value: [1, 2]}, C: {value: NOISE}, a: {value: [SHAPE]}}
scheme: {name: euler, reflect: theta}
variant: full
sizes: {d: 2}
run: {step_size: 0.01}
"""
GAMMA = """
state: {theta: {shape: d, domain: positive}}
parameters: {a: {shape: d, is: positive}}
potential: sum(theta) - sum((a - ones)*log(theta))
"""
EULER = "{name: euler, reflect: theta}"


def built(
    scheme: str = EULER, noise: str = "[[1, 1/2], [1/2, 1]]", shape: str = "1, 1", own: str = OWN, **beside: str
) -> object:
    text = BUILD.replace(EULER, scheme).replace("NOISE", noise).replace("SHAPE", shape)
    return document(text, **{"own": own, "gamma": GAMMA, **beside})


@pytest.mark.parametrize(
    "order",
    ["", "r, theta", "theta, r"],
)
def test_a_step_is_that_of_the_mirrored_equation(order: str) -> None:
    """Without noise: from (theta, r) as from its mirror image, to whose mirror image that of the step leads."""
    scheme = f"{{name: sequential_euler, order: [{order}], reflect: [theta]}}" if order else EULER
    module = module_of(built(scheme, "[[0, 0], [0, 0]]", "2, 3"))
    m, a, eps = np.array([1.0, 2.0]), np.array([2.0, 3.0]), 0.25
    theta, r = np.array([0.5, 1.5]), np.array([-4.0, 3.0])
    y, p = theta.copy(), r.copy()
    for block in order.split(", ") if order else ["both"]:
        known = (y, p) if order else (theta, r)
        slope = (a - 1) / known[0] - np.sign(known[0])  # of the mirrored U, odd
        y, p = y + eps * known[1] / m * (block != "r"), p + eps * slope * (block != "theta")
    sign = np.where(y < 0, -1, 1)
    state = [theta.copy(), r.copy()]
    streams, _ = module.seed_streams(1, 1)
    advance(module, state, (m, np.zeros((2, 2)), a), eps, streams[0])
    assert [*sign] == [-1, 1]
    np.testing.assert_allclose(np.concatenate(state), [*(sign * y), *(sign * p)], rtol=1e-14)


FAULTS = [
    ("theta_new_0 = -theta_v1_0 if", "theta_new_0 = 0.5 - theta_v1_0 if"),
    ("r_new_0 = -r_v1_0 if", "r_new_0 = r_v1_0 if"),
    ("theta_v1_1 < 0.0 else r_v1_1", "theta_v1_0 < 0.0 else r_v1_1"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=["reflected elsewhere", "not turned", "turned with another entry"])
def test_reading_back_finds_what_does_not_reflect(fault: tuple[str, str]) -> None:
    module = compile_build(built())
    assert fault[0] in module.text
    check_shipped(module, {"d": 2})
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(*fault, 1)), {"d": 2})


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["1, 1", "2, 3"], ids=["a density that stays at 0", "one that vanishes there"])
@pytest.mark.parametrize(("change", "far"), [((), False), (("r_new_0 = -r_v1_0 if", "r_new_0 = r_v1_0 if"), True)])
def test_chains_sample_gamma_laws(shape: str, change: tuple[str, ...], far: bool) -> None:
    """Friction is correlated and masses differ. The bias of a step of 0.01 is allowed for."""
    own = built("{name: sequential_euler, order: [r, theta], reflect: theta}", shape=shape)
    a, changes = np.array([*map(float, shape.split(", "))]), [change] if change else []
    found = drawn(own, *changes, step_size=0.01, chains=64, draws=2000, warmup=200, thin=100, seed=4)
    theta, r = kept(found), kept(found, "r")
    off = max(errors_off(theta, a), errors_off(theta**2, a * (a + 1)), errors_off(r**2, [1.0, 2.0]))
    assert theta.min() > 0
    assert off > 20.0 if far and shape == "1, 1" else off < 6.0


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", "0.2 - theta_v1_0"])
def test_a_density_that_stays_at_0_is_that_of_reflected_langevin_steps(fault: str) -> None:
    """exp(-theta): without reflection nothing keeps it."""
    own = OWN.replace(", r: {shape: d}", "").replace(" + sum(r**2/m)/2", "")
    own = own.replace("[[0, 0], [0, C]]", "[[C]]").replace("[[0, -I], [I, 0]]", "[[0]]")
    changes = [("-theta_v1_0 if", f"{fault} if")] if fault else []
    run = {"step_size": 0.0025, "chains": 64, "draws": 1100, "warmup": 100, "thin": 400, "seed": 6}
    found = kept(drawn(built(noise="[[1, 0], [0, 2]]", own=own), *changes, **run))
    off = max(errors_off(found, [1.0, 1.0]), errors_off(found**2, [2.0, 2.0]))
    assert off > 10.0 if fault else off < 5.0


SGRLD = """
dynamics: mirrored_gamma
parameters: {alpha: {value: [1/2, 1, 2]}, n: {value: [3, 0, 2]}}
scheme: {name: euler, reflect: theta}
variant: full
sizes: {d: 3}
run: {step_size: 0.01}
"""


@pytest.mark.slow
def test_reflected_steps_in_the_expanded_mean_form_sample_a_dirichlet_law() -> None:
    """The shares are Dirichlet(alpha + n), their sum is Gamma(sum alpha, 1), whatever n is."""
    a = np.array([3.5, 1.0, 4.0])
    found = kept(drawn(document(SGRLD), step_size=0.002, chains=64, draws=700, warmup=100, thin=500, seed=2))
    total, means = found.sum(axis=2, keepdims=True), a / a.sum()
    omega = found / total
    moments = ((omega, means), (omega**2, means * (a + 1) / (a.sum() + 1)), (total, [3.5]), (total**2, [3.5 * 4.5]))
    assert max(errors_off(values, expected) for values, expected in moments) < 5.0


TWO = """
state: {theta: {shape: d}, x: {shape: k}}
parameters: {A: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + x.T @ x/2
D: [[A, 0], [0, I]]
Q: [[0, 0], [0, 0]]
claims:
  drift: {theta: "-A @ grad(U, theta)", x: -x}
  update: {theta: "theta - eps*A @ grad(U, theta) + N(0, 2*eps*A)", x: "x - eps*x + N(0, 2*eps*I)"}
"""
OF_TWO = """
dynamics: two.yaml
target: gaussian
parameters: {A: {value: [[2, 1/2], [1/2, 1]]}, mu: {value: [1, 2]}, Sigma: {value: [[2, 1], [1, 2]]}}
scheme: {name: euler, scale: {theta: 1/10}}
variant: full
sizes: {d: 2, k: 3}
run: {step_size: 0.01}
"""


@pytest.mark.parametrize("claim", ["stationary", "claimed_drift", "claimed_update"])
def test_blocks_that_nothing_couples_have_steps_of_their_own(claim: str) -> None:
    expect(answer(document(OF_TWO, two=TWO), claim), "proved")


@pytest.mark.parametrize(("scale", "verdict"), [("{theta: 1/10}", "refuted"), ("{theta: 1/10, r: 1/10}", "proved")])
def test_blocks_that_Q_couples_have_one_step(scale: str, verdict: str) -> None:
    own = built(f"{{name: euler, reflect: theta, scale: {scale}}}")
    says = "9 delta[i,j]/10" if verdict == "refuted" else ""
    expect(answer(own, "q_skew"), verdict, says)
    expect(answer(own, "stationary"), verdict)


def test_a_scaled_block_moves_by_the_scaled_step() -> None:
    """A chain of theta at eps/10 beside x at eps: theta as from a step of eps/10 with the same normals."""
    scaled, plain = (document(text, two=TWO) for text in (OF_TWO, OF_TWO.replace(", scale: {theta: 1/10}", "")))
    own = {"chains": 1, "draws": 20, "warmup": 0, "seed": 2}
    one = drawn(scaled, step_size=0.1, **own)
    assert np.allclose(one.block("theta"), drawn(plain, step_size=0.01, **own).block("theta"), rtol=1e-12)
    assert np.allclose(one.block("x"), drawn(plain, step_size=0.1, **own).block("x"), rtol=1e-12)


def test_a_word_moves_a_scaled_block_by_the_scaled_step() -> None:
    scheme = "{split: [O], pieces: {O: {D: all, Q: all}}, scale: {theta: 1/10}}"
    expect(answer(document(OF_TWO.replace("{name: euler, scale: {theta: 1/10}}", scheme), two=TWO), "pieces"), "proved")


def test_several_momenta_are_refused() -> None:
    other = OWN.replace("r: {shape: d}}", "r: {shape: d}, s: {shape: d}}").replace(
        "sum(r**2/m)/2", "sum(r**2/m)/2 + s.T @ s/2"
    )
    other = other.replace("[[0, 0], [0, C]]", "[[0, 0, 0], [0, C, 0], [0, 0, I]]")
    other = other.replace("[[0, -I], [I, 0]]", "[[0, -I, -I], [I, 0, 0], [I, 0, 0]]")
    with pytest.raises(ModelError, match="found Q coupling theta to r, s, expected one momentum"):
        compile_build(built(shape="2, 3", own=other), allow_undecided=True)
