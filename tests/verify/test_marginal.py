"""What exp(-H) leaves of theta once the other blocks are integrated out: proved, refuted, or honestly open."""

import flint
import pytest
from answers import answer, document, expect
from energies import energy
from flint import acb

from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.integrability.marginal import has_auxiliaries

THETA = "theta: {shape: d}"
MOMENTA, ANGLE, XI = f"{THETA}, r: {{shape: d}}", f"{THETA}, phi: {{domain: circle}}", f"{THETA}, xi: {{}}"
LOG_DET = (MOMENTA, "r.T @ inv(G) @ r/2 + logdet(G)/2")
CASES = {
    "proved": [
        LOG_DET,
        (MOMENTA, "r.T @ G @ r/2 - logdet(G)/2"),
        (f"{MOMENTA}, z: {{shape: d}}", "r.T @ inv(G) @ r/2 + logdet(G)/2 + z.T @ G @ G @ z/2 - logdet(G)"),
        (MOMENTA, "(r - A @ theta).T @ inv(G) @ (r - A @ theta)/2 + logdet(G)/2"),
        (f"{MOMENTA}, xi: {{}}", "(1 + xi**2)*norm2(r)/2 - d*log(1 + xi**2)/2 + (xi - sum(theta))**2/2"),
        (MOMENTA, "r.T @ diag(h) @ r/2 - sum(log(h))/2"),
        (MOMENTA, "sum(r**4)"),
        (ANGLE, "k*cos(phi)"),
        (MOMENTA, "m*c**2*sum(sqrt(ones + r**2/(m**2*c**2)))"),
        (MOMENTA, "c*sqrt(m**2*c**2 + r.T @ inv(M) @ r)"),
        (MOMENTA, "sum(abs(r))"),
        (MOMENTA, "sum(log(cosh(r)))"),
        (MOMENTA, "(nu + d)/2*log(1 + r.T @ r/nu)"),
        (f"{THETA}, s: {{domain: positive}}", "s - log(s)"),
    ],
    "refuted": [
        (MOMENTA, "r.T @ inv(G) @ r/2"),
        (MOMENTA, "r.T @ diag(h) @ r/2 - sum(log(h))"),  # one power off
        (MOMENTA, "norm2(r)/2 + r.T @ theta"),
        (XI, "xi**4 + xi**2*norm2(theta)"),
        (ANGLE, "cos(phi)*norm2(theta)"),
        (MOMENTA, "norm2(theta)/2 + sum(r**4)"),
    ],
    "undecided": [
        (f"{THETA}, r: {{domain: positive}}", "r**2*(1 + norm2(theta))/2 - log(1 + norm2(theta))/2"),
        (MOMENTA, "r.T @ R @ r/2"),
        (MOMENTA, "sqrt(1 + norm2(theta) + r.T @ r)"),
        (MOMENTA, "sum(abs(r))*(1 + norm2(theta)) + sum(sin(r))"),
        (MOMENTA, "d/2*log(1 + r.T @ r)"),  # the tail is too slow
        (MOMENTA, "0*r[0]"),
        ("theta: {}, xi: {}", "(xi - theta)**4"),  # right, and not seen
        (MOMENTA, "sum(r**4)*(1 + norm2(theta)) + sum(r)*theta[0]"),
    ],
}


@pytest.mark.parametrize(
    ("state", "H", "verdict"), [(*own, verdict) for verdict, found in CASES.items() for own in found]
)
def test_the_law_of_the_targets_blocks_is_decided_for_every_size(state, H, verdict):
    dynamics = document(energy(state, f"U(theta) + {H}"))
    found = answer(dynamics, "marginal")
    shown = expect(found, verdict)
    assert verdict != "refuted" or (shown and found.decision.residual)
    if verdict == "proved":
        assert found.for_d == "all"
        assert len(found.checked_at) >= min(2, len(subject_of(dynamics).sizes))


def test_an_assumption_on_what_is_integrated_leaves_it_open():
    state, H = LOG_DET
    expect(answer(document(energy(state, f"U(theta) + {H}") + 'assume: ["r[0] > 0"]\n'), "marginal"), "undecided")


def test_it_applies_where_there_are_blocks_besides_the_targets():
    of = (energy(MOMENTA, "U(theta) + norm2(r)"), energy(THETA, "U(theta)"), energy("x: {}, y: {}", "x**2 + y**2"))
    assert [has_auxiliaries(document(text)) for text in of] == [True, False, False]


HOT, PLAIN = energy(MOMENTA, "(U(theta) + norm2(r)/2)/T"), energy(MOMENTA, "U(theta) + r.T @ r/2")


@pytest.mark.parametrize(
    ("text", "stated", "verdict"),
    [
        (HOT, "theta: U(theta)/T", "proved"),
        (PLAIN, "theta: U(theta)", "proved"),
        (PLAIN, "theta: U(theta) + 7*d", "proved"),
        (PLAIN, "theta: 2*U(theta)", "refuted"),
        (PLAIN, "theta: U(theta) + norm2(theta)", "refuted"),
        (PLAIN, "theta: U(theta) + norm2(r)", "undecided"),
        (PLAIN, "r: r.T @ r/2", "proved"),
        (PLAIN, "r: r.T @ r", "refuted"),
        (PLAIN, "r: r.T @ r/2, theta: U(theta)", "proved"),
        (PLAIN, "r: r.T @ r, theta: U(theta)", "refuted"),
    ],
)
def test_a_claimed_law_is_decided_in_the_place_of_the_targets(text, stated, verdict):
    dynamics = document(f"{text}claims: {{marginal: {{{stated}}}}}\n")
    says = "exp(-U) has a finite integral" if stated == "r: r.T @ r/2" else ""
    expect(answer(dynamics, "claimed_marginal"), verdict, says)
    assert text != HOT or not has_auxiliaries(dynamics)


def test_another_temperature_leaves_another_law_of_the_target():
    expect(answer(document(HOT), "marginal"), "refuted")


def test_the_law_that_nose_poincare_leaves_is_strictly_log_convex():
    """Z(u) = int exp(-s u - s log s) ds, enclosed on [1/16, 16]: Z(1)**2 < Z(0) Z(2), where exp(-u) has equality."""

    def Z(u):
        return acb.integral(lambda s, _: (-s * u - s * s.log()).exp(), acb(1) / 16, acb(16)).real

    with flint.ctx.workprec(64):
        assert Z(1) ** 2 < Z(0) * Z(2)
