"""Large fixed sizes and the sizes of builds: proofs for every size cover them, witnesses at others say nothing."""

import pytest
from answers import answer, document, expect

from recipe_compiler.verify.core.generalise_size import any_size

METRIC = """
state: {{theta: {{shape: {n}}}, r: {{shape: {n}}}}}
functions:
  U: {{of: theta, role: potential}}
  G: {{of: theta, shape: [{n}, {n}], is: positive definite}}
H: U(theta) + r.T @ inv(G) @ r/2 {sign} logdet(G)/2
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""
STUDENT = """
state: {x: {shape: 12}}
parameters: {nu: {is: positive}}
H: WEIGHT/2*log(1 + x.T @ x/nu)
D: [[I]]
Q: [[0]]
claims: {drift: {x: -(nu + 12)*x/(nu + x.T @ x)}}
"""
THERMOSTAT = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}}
parameters: {A: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2 + WEIGHT*(xi - A)**2/2
D: [[0, 0, 0], [0, A*I, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, 0, r/d], [0, -r.T/d, 0]]
claims: {drift: {theta: r, r: -grad(U, theta) - xi*r, xi: r.T @ r/d - 1}}
"""
VANISHING = """
state: {{theta: {{shape: d}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta)
D: [[I]]
Q: [[0]]
claims: {{drift: {{theta: "-grad(U, theta) + {}*theta"}}}}
"""
BUILD = """
name: build
dynamics: dynamics.yaml
target: target.yaml
scheme: {name: euler}
variant: full
sizes: {d: SIZE}
run: {step_size: 0.01}
"""


def build(size, dynamics, more=""):
    target = "state: {theta: {shape: d}}\npotential: norm2(theta)/2\n"
    return document(BUILD.replace("SIZE", str(size)) + more, dynamics=dynamics, target=target)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 1_000_000])
def test_a_large_size_is_decided_as_every_size(n):
    right, wrong = (document(METRIC.format(n=n, sign=sign)) for sign in "+-")
    for claim in ("d_symmetric", "d_psd", "q_skew", "stationary", "normalisable", "marginal"):
        found = answer(right, claim)
        expect(found, "proved")
        assert claim != "stationary" or {name for sizes in found.checked_at for name, _ in sizes} == {f"n_{n}"}
    expect(answer(wrong, "marginal"), "undecided", f"wrong at n_{n} = 1")


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "verdict"), [("(nu + 12)", "proved"), ("12", "refuted")])
def test_a_number_that_is_a_size_is_decided_at_that_size(weight, verdict):
    own = document(STUDENT.replace("WEIGHT", weight))
    expect(answer(own, "normalisable"), verdict)
    expect(answer(own, "claimed_drift"), verdict)


@pytest.mark.parametrize(
    ("size", "H", "general"),
    [
        ("12", "x.T @ x/2", True),
        ("12", "x.T @ x/2 + x[2]", True),
        ("12", "x.T @ x/2 + x[11]", False),
        ("3", "x.T @ x/2", False),
        ("d", "x.T @ x/2", False),
    ],
)
def test_only_large_sizes_without_far_positions_have_names(size, H, general):
    wide = any_size(document(f"state: {{x: {{shape: {size}}}}}\nH: {H}\nD: [[I]]\nQ: [[0]]\n"))
    assert (wide and wide.declarations.sizes) == (("n_12",) if general else None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weight", "size", "verdict"),
    [("d", 2, "proved"), ("1", 1, "proved"), ("1", 2, "refuted"), ("1", 5, "refuted")],
)
def test_a_build_is_decided_at_its_own_size(weight, size, verdict):
    own = build(size, THERMOSTAT.replace("WEIGHT", weight), "parameters: {A: {value: 1}}\n")
    found = answer(own, "claimed_drift")
    expect(found, verdict)
    assert verdict == "proved" or found.for_d == (("d", size),)


FACTOR = "(d - 1)*(d - 2)*(d - 3)"


@pytest.mark.parametrize(("factor", "fails_at"), [("(d - 2)", 1), (FACTOR, 4), (f"{FACTOR}*(d - 4)*(d - 5)", 6)])
def test_what_vanishes_at_the_smallest_sizes_is_refuted_at_the_next(factor, fails_at):
    found = answer(document(VANISHING.format(factor)), "claimed_drift")
    expect(found, "refuted")
    assert found.for_d == (("d", fails_at),)
    assert [size for ((_, size),) in found.checked_at] == list(range(1, fails_at))


def test_what_cancels_for_every_size_is_proved():
    expect(answer(document(VANISHING.format("(d*(d - 1)*(d - 2) - d**3 + 3*d**2 - 2*d)")), "claimed_drift"), "proved")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "verdict"), [(3, "undecided"), (4, "refuted")])
def test_a_factor_that_vanishes_at_the_size_of_a_build_refutes_nothing(size, verdict):
    expect(answer(build(size, VANISHING.format(FACTOR)), "claimed_drift"), verdict)
