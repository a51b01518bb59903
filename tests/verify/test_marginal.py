"""What exp(-H) leaves of theta once the other blocks are integrated out: proved, refuted, or honestly open."""

import re
from collections.abc import Callable
from pathlib import Path

import flint
import pytest
from flint import acb, arb
from loaders import load_dynamics

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.integrability.marginal import claimed_marginal, has_auxiliaries, marginal

AUXILIARY = "{theta: {shape: d}, r: {shape: d}}"
METRIC = "{U: {of: theta, role: potential}, G: {of: theta, shape: [d, d], is: positive definite}}"
POTENTIAL = "{U: {of: theta, role: potential}}"

Law = tuple[str, str, str, str]


def law(H: str, functions: str = POTENTIAL, parameters: str = "{}", state: str = AUXILIARY) -> Law:
    return state, H, parameters, functions


PROVED = {
    "log det": law("U(theta) + r.T @ inv(G) @ r/2 + logdet(G)/2", METRIC),
    "precision itself": law("U(theta) + r.T @ G @ r/2 - logdet(G)/2", METRIC),
    "two metrics": law(
        "U(theta) + r.T @ inv(G) @ r/2 + logdet(G)/2 + w.T @ G @ G @ w/2 - logdet(G)",
        METRIC,
        state="{theta: {shape: d}, r: {shape: d}, w: {shape: d}}",
    ),
    "mean that moves": law(
        "U(theta) + (r - B @ theta).T @ inv(G) @ (r - B @ theta)/2 + logdet(G)/2", METRIC, "{B: {shape: [d, d]}}"
    ),
    "one after the other": law(
        "U(theta) + (1 + xi**2)*norm2(r)/2 - d*log(1 + xi**2)/2 + (xi - sum(theta))**2/2",
        state="{theta: {shape: d}, r: {shape: d}, xi: {}}",
    ),
    "diagonal": law(
        "U(theta) + r.T @ diag(g) @ r/2 - sum(log(g))/2",
        "{U: {of: theta, role: potential}, g: {of: theta, shape: d, is: positive}}",
    ),
    "quartic": law("U(theta) + sum(r**4)"),
    "angle": law("U(theta) + k*cos(phi)", parameters="{k: {}}", state="{theta: {shape: d}, phi: {domain: circle}}"),
    "relativistic, each": law(
        "U(theta) + m*c**2*sum(sqrt(ones + r**2/(m**2*c**2)))", parameters="{m: {is: positive}, c: {is: positive}}"
    ),
    "relativistic": law(
        "U(theta) + c*sqrt(m**2*c**2 + r.T @ inv(M) @ r)",
        parameters="{m: {is: positive}, c: {is: positive}, M: {shape: [d, d], is: positive definite}}",
    ),
    "Laplace": law("U(theta) + sum(abs(r))"),
    "hyperbolic cosine": law("U(theta) + sum(log(cosh(r)))"),
    "Student": law("U(theta) + (nu + d)/2*log(1 + r.T @ r/nu)", parameters="{nu: {is: positive}}"),
    "gamma": law("U(theta) + s - log(s)", state="{theta: {shape: d}, s: {domain: positive}}"),
}

REFUTED = {
    "no log det": law("U(theta) + r.T @ inv(G) @ r/2", METRIC),
    "diagonal, one power off": law(
        "U(theta) + r.T @ diag(g) @ r/2 - sum(log(g))",
        "{U: {of: theta, role: potential}, g: {of: theta, shape: d, is: positive}}",
    ),
    "coupled mean": law("U(theta) + norm2(r)/2 + r.T @ theta"),
    "coupled thermostat": law("U(theta) + xi**4 + xi**2*norm2(theta)", state="{theta: {shape: d}, xi: {}}"),
    "coupled angle": law("U(theta) + cos(phi)*norm2(theta)", state="{theta: {shape: d}, phi: {domain: circle}}"),
    "energy and potential differ": law("U(theta) + norm2(theta)/2 + sum(r**4)"),
}

OPEN = {
    "half-line": law(
        "U(theta) + r**2*(1 + norm2(theta))/2 - log(1 + norm2(theta))/2",
        state="{theta: {shape: d}, r: {domain: positive}}",
    ),
    "symmetric metric": law(
        "U(theta) + r.T @ G @ r/2", "{U: {of: theta, role: potential}, G: {of: theta, shape: [d, d], is: symmetric}}"
    ),
    "relativistic with the mass of theta": law("U(theta) + sqrt(1 + norm2(theta) + r.T @ r)"),
    "Laplace with the rate of theta": law("U(theta) + sum(abs(r))*(1 + norm2(theta)) + sum(sin(r))"),
    "Student with too slow a tail": law("U(theta) + d/2*log(1 + r.T @ r)"),
    "infinite integral": law("U(theta) + 0*r[0]"),
    "moved quartic, which is right": law("U(theta) + (xi - theta)**4", state="{theta: {}, xi: {}}"),
    "scaled quartic": law("U(theta) + sum(r**4)*(1 + norm2(theta)) + sum(r)*theta[0]"),
}


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Dynamics]:
    """Return a function that reads dynamics at rest with an energy, and more lines of its document."""

    def read(given: Law, more: str = "") -> Dynamics:
        state, H, parameters, functions = given
        names = re.findall(r"(\w+): \{", state)
        rows = "[" + ", ".join(f"[{', '.join('0' for _ in names)}]" for _ in names) + "]"
        text = f"name: law\nstate: {state}\nparameters: {parameters}\nfunctions: {functions}\n"
        (tmp_path / "law.yaml").write_text(f"{text}H: {H}\nD: {rows}\nQ: {rows}\n{more}")
        return load_dynamics(tmp_path / "law.yaml")

    return read


@pytest.mark.parametrize("name", PROVED)
def test_a_right_marginal_is_proved_for_every_size(made: Callable[..., Dynamics], name: str) -> None:
    document = made(PROVED[name])
    found = marginal(subject_of(document))
    assert isinstance(found.decision, Proved), found.decision
    assert found.for_d == "all"
    assert len(found.checked_at) >= min(2, len(subject_of(document).sizes))


@pytest.mark.parametrize("name", REFUTED)
def test_a_wrong_marginal_is_refuted_with_a_witness(made: Callable[..., Dynamics], name: str) -> None:
    found = marginal(subject_of(made(REFUTED[name])))
    assert isinstance(found.decision, Refuted), found.decision
    assert found.decision.witness
    assert found.decision.residual


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_known_is_undecided(made: Callable[..., Dynamics], name: str) -> None:
    assert isinstance(marginal(subject_of(made(OPEN[name]))).decision, Undecided)


def test_an_assumption_on_what_is_integrated_leaves_it_open(made: Callable[..., Dynamics]) -> None:
    document = made(PROVED["log det"], 'assume: ["r[0] > 0"]\n')
    assert marginal(subject_of(document)).verdict is Verdict.UNDECIDED


def test_it_applies_where_there_are_blocks_besides_the_targets(made: Callable[..., Dynamics]) -> None:
    assert has_auxiliaries(made(PROVED["log det"]))
    assert not has_auxiliaries(made(law("U(theta)", state="{theta: {shape: d}}")))
    assert not has_auxiliaries(made(law("x**2 + y**2", "{}", state="{x: {}, y: {}}")))


def test_who_claims_another_law_of_the_target_is_asked_about_that_one(made: Callable[..., Dynamics]) -> None:
    hot = law("(U(theta) + norm2(r)/2)/T", parameters="{T: {is: positive}}")
    assert marginal(subject_of(made(hot))).verdict is Verdict.REFUTED
    document = made(hot, "claims: {marginal: {theta: U(theta)/T}}\n")
    assert not has_auxiliaries(document)
    assert claimed_marginal(subject_of(document)).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("stated", "verdict"),
    [
        ("theta: U(theta)", Verdict.PROVED),
        ("theta: U(theta) + 7*d", Verdict.PROVED),
        ("theta: 2*U(theta)", Verdict.REFUTED),
        ("theta: U(theta) + norm2(theta)", Verdict.REFUTED),
        ("theta: U(theta) + norm2(r)", Verdict.UNDECIDED),
        ("r: r.T @ r/2", Verdict.PROVED),
        ("r: r.T @ r", Verdict.REFUTED),
        ("r: r.T @ r/2, theta: U(theta)", Verdict.PROVED),
        ("r: r.T @ r, theta: U(theta)", Verdict.REFUTED),
    ],
)
def test_claimed_marginals(made: Callable[..., Dynamics], stated: str, verdict: Verdict) -> None:
    document = made(law("U(theta) + r.T @ r/2"), f"claims: {{marginal: {{{stated}}}}}\n")
    assert claimed_marginal(subject_of(document)).verdict is verdict


def test_a_claim_about_momenta_rests_on_the_integral_over_theta(made: Callable[..., Dynamics]) -> None:
    document = made(law("U(theta) + r.T @ r/2"), "claims: {marginal: {r: r.T @ r/2}}\n")
    assert "exp(-U) has a finite integral" in claimed_marginal(subject_of(document)).decision.given


def test_the_law_that_nose_poincare_leaves_is_strictly_log_convex() -> None:
    """Z(u) = int exp(-s u - s log s) ds, enclosed on [1/16, 16]: Z(1)**2 < Z(0) Z(2), where exp(-u) has equality."""

    def Z(u: int) -> arb:
        def density(s: acb, _: bool) -> acb:
            return (-s * u - s * s.log()).exp()

        return acb.integral(density, acb(1) / 16, acb(16)).real

    before = flint.ctx.prec
    flint.ctx.prec = 64
    try:
        assert Z(1) ** 2 < Z(0) * Z(2)
    finally:
        flint.ctx.prec = before
