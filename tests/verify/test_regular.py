"""Regularity of D and Q: zeros are isolated exactly; what splits the state space is refuted, what is crossed is not."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.uniqueness.regular import regular, varies

Found = Callable[[str], Answer]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    def decided(text: str) -> Answer:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        document = load_dynamics(path)
        return regular(subject_of(document))

    return decided


def potential_metric(U: str) -> str:
    G = f"3/2*sqrt(abs({U} + 1/2))"
    return f"""
state: {{theta: {{}}, r: {{}}}}
H: {U} + r**2/2
D: [[0, 0], [0, {G}]]
Q: [[0, -sqrt({G})], [sqrt({G}), 0]]
"""


def one(D: str, of: str = "{}") -> str:
    return f"state: {{x: {of}}}\nH: x**2/2\nD: [['{D}']]\nQ: [[0]]\n"


def test_the_metric_of_the_double_well_vanishes_at_four_points(found: Found) -> None:
    decision = found(potential_metric("theta**4 - 2*theta**2")).decision
    assert isinstance(decision, Refuted)
    witness = dict(decision.witness)
    assert witness["theta"] == "the zero of 2*theta**4 - 4*theta**2 + 1 near -1.3065630"
    assert "**(1/2)" in witness["D[r,r]"]


def test_that_of_the_gaussian_does_not(found: Found) -> None:
    assert isinstance(found(potential_metric("theta**2/2")).decision, Proved)


@pytest.mark.parametrize(
    "D", ["1 + x**2", "exp(x)", "2 + sin(x)", "log(2 + x**2)", "1 + abs(x)", "sqrt(1 + x**4)", "x**4 - x**2 + 1"]
)
def test_what_is_positive_everywhere_is_proved(found: Found, D: str) -> None:
    assert isinstance(found(one(D)).decision, Proved)


@pytest.mark.parametrize(
    ("D", "zero"),
    [("x**2", "0"), ("(x**2 - 2)**2", "x**2 - 2"), ("abs(x)", "0"), ("sqrt(abs(x))", "0"), ("x**2*exp(x)", "0")],
)
def test_what_vanishes_is_refuted_at_its_zero(found: Found, D: str, zero: str) -> None:
    decision = found(one(D)).decision
    assert isinstance(decision, Refuted)
    assert zero in dict(decision.witness)["x"]


@pytest.mark.parametrize("D", ["x**2", "sqrt(x)", "x"])
def test_zeros_on_the_boundary_do_not_count(found: Found, D: str) -> None:
    assert isinstance(found(one(D, "{domain: positive}")).decision, Proved)


def test_every_coordinate_of_a_diagonal_counts(found: Found) -> None:
    text = "state: {x: {shape: d}}\nparameters: {c: {}}\nH: x.T @ x\nD: [[diag((x - c*ones)**2)]]\nQ: [[0]]\n"
    decision = found(text).decision
    assert isinstance(decision, Refuted)
    assert dict(decision.witness)["x[0]"] == dict(decision.witness)["c"]


PAIR = "state: {{x: {{}}, y: {{}}}}\nH: x**2 + y**2\nD: {D}\nQ: [[0, 0], [0, 0]]\n"


def test_a_zero_that_chains_cross_is_no_fault(found: Found) -> None:
    decision = found(PAIR.format(D="[[1, 0], [0, x**2]]")).decision
    assert isinstance(decision, Proved)
    assert "crossed" in decision.by


def test_the_same_zero_along_which_they_stay_is(found: Found) -> None:
    assert isinstance(found(PAIR.format(D="[[x**2, 0], [0, 1]]")).decision, Refuted)


def test_entries_without_zeros_may_degenerate_together(found: Found) -> None:
    """det = u**2 (2 + u**2) with u = x - y, and (1, -1) is both normal of {u = 0} and null there."""
    text = PAIR.format(D="[[1 + (x - y)**2, 1], [1, 1 + (x - y)**2]]")
    decision = found(text).decision
    assert isinstance(decision, Refuted)
    assert dict(decision.witness)["surface"] == "x - y = 0"
    assert isinstance(found(text.replace("1 + (x", "2 + (x")).decision, Proved)


THERMOSTAT = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}}
parameters: {A: {is: positive}, M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r / 2 + d*(xi - A)**2/2
D: [[0, 0, 0], [0, A*I, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, 0, inv(M) @ r/d], [0, -(inv(M) @ r).T/d, 0]]
"""


def test_a_thermostat_is_regular_where_its_momentum_vanishes(found: Found) -> None:
    assert isinstance(found(THERMOSTAT).decision, Proved)


METRIC = """
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}, K: {of: theta, shape: [d, d]KIND}}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, K @ K.T]]
Q: [[0, -K], [K.T, 0]]
"""


@pytest.mark.parametrize(
    ("kind", "given"), [(", is: positive definite", "K is positive definite"), ("", "K is nonsingular")]
)
def test_an_abstract_metric_is_proved_under_what_is_listed(found: Found, kind: str, given: str) -> None:
    decision: Decision = found(METRIC.replace("KIND", kind)).decision
    assert isinstance(decision, Proved)
    assert given in decision.given
    assert "K is smooth" in decision.given


def test_what_is_not_known_is_named(found: Found) -> None:
    decision = found(one("1 + sin(x)")).decision
    assert isinstance(decision, Undecided)
    assert "D[x,x]" in decision.tried[0]


def test_it_is_asked_where_coefficients_depend_on_the_state(tmp_path: Path) -> None:
    for text, expected in ((one("1"), False), (one("1 + x**2"), True)):
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + text, encoding="utf-8")
        document = load_dynamics(path)
        assert varies(document) is expected


@pytest.mark.parametrize(
    ("D", "surface"),
    [
        ("sin(x)**2", "x = 0"),
        ("1 - exp(-x**2)", "x = 0"),
        ("1 - cos(x)", "x = 0"),
        ("(exp(x) - 2)**2", "exp(x) - 2 = 0"),
        ("tanh(x - 1)**2", "x - 1 = 0"),
    ],
)
def test_zeros_of_what_is_no_polynomial_are_refuted_too(found: Found, D: str, surface: str) -> None:
    decision = found(one(D)).decision
    assert isinstance(decision, Refuted)
    assert dict(decision.witness)["surface"] == surface


@pytest.mark.parametrize("D", ["1 + sin(x)**2", "2 - exp(-x**2)", "2 - cos(x)", "exp(-x**2)", "1 + tanh(x)**2"])
def test_what_only_comes_near_zero_is_not_refuted(found: Found, D: str) -> None:
    assert not isinstance(found(one(D)).decision, Refuted)


TWO = "state: {{x: {0}, y: {0}}}\nH: x**2/2 + y**2/2 + x + y\nD: {1}\nQ: {2}\n"
STILL = "[[0, 0], [0, 0]]"


@pytest.mark.parametrize(
    ("D", "surface"),
    [
        ("[[(x - y)**2, 0], [0, (x - y)**2]]", "x - y = 0"),
        ("[[x**2 - 2*x*y + y**2, 0], [0, (x - y)**2]]", "x - y = 0"),
        ("[[(x**2 + y**2 - 3)**2, 0], [0, (x**2 + y**2 - 3)**2]]", "x**2 + y**2 - 3 = 0"),
        ("[[y**2, -x*y], [-x*y, x**2]]", "x**2 + y**2"),
    ],
)
def test_surfaces_of_several_coordinates_count(found: Found, D: str, surface: str) -> None:
    decision = found(TWO.format("{}", D, STILL)).decision
    if surface.endswith("= 0"):
        assert isinstance(decision, Refuted)
        assert dict(decision.witness)["surface"] == surface
    else:
        assert isinstance(decision, Undecided)


def test_a_surface_through_vectors_counts_at_its_size(found: Found) -> None:
    text = "state: {x: {shape: d}}\nH: x.T @ x\nD: [['(x[0] - x[1])**2*I']]\nQ: [[0]]\n"
    finding = found(text)
    assert isinstance(finding.decision, Refuted)
    assert finding.for_d == (("d", 2),)


@pytest.mark.parametrize(
    ("D", "Q"),
    [
        ("[[(x - y)**2, 0], [0, 1]]", STILL),
        ("[[(x - y)**2, 0], [0, (x - y)**2]]", "[[0, -1], [1, 0]]"),
        ("[[x**2, 0], [0, 1]]", "[[0, -y], [y, 0]]"),
        ("[[x**2, 0], [0, x**2]]", "[[0, -1 - y**2], [1 + y**2, 0]]"),
    ],
)
def test_surfaces_that_noise_or_drift_cross_are_no_fault(found: Found, D: str, Q: str) -> None:
    assert isinstance(found(TWO.format("{}", D, Q)).decision, Proved)


def test_faces_that_a_surface_meets_leave_it_open(found: Found) -> None:
    D = "[[(x - y)**2, 0], [0, (x - y)**2]]"
    assert isinstance(found(TWO.format("{domain: positive}", D, STILL)).decision, Undecided)


CIRCLE = "state: {{t: {{domain: circle}}}}\nH: cos(t)\nD: [['{}']]\nQ: [[0]]\n"


@pytest.mark.slow
def test_one_point_leaves_a_circle_in_one_piece_and_two_do_not(found: Found) -> None:
    assert not isinstance(found(CIRCLE.format("1 - cos(t)")).decision, Refuted)
    decision = found(CIRCLE.format("sin(t)**2")).decision
    assert isinstance(decision, Refuted)
    assert dict(decision.witness)["surface"] == "sin(t) = 0"


WRIGHT_FISHER = """
state: {x: {shape: d, domain: simplex}}
parameters: {a: {shape: d, is: positive}, b: {is: positive}}
H: -sum((a - ones)*log(x)) - (b - 1)*log(1 - sum(x))
D: [[diag(x) - outer(x, x)]]
Q: [[0]]
"""


@pytest.mark.slow
def test_the_metric_of_wright_and_fisher_is_proved(found: Found) -> None:
    assert isinstance(found(WRIGHT_FISHER).decision, Proved)
    assert isinstance(found(one("x*(1 - x)", "{domain: 'interval(0, 1)'}")).decision, Proved)
    assert not isinstance(found(one("x*(1 - x)", "{domain: 'interval(0, 2)'}")).decision, Proved)
    assert not isinstance(found(WRIGHT_FISHER.replace("outer(x, x)", "2*outer(x, x)")).decision, Proved)


CHAIN = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}, eta: {}}
parameters: {A: {is: positive}, M: {shape: [d, d], is: positive definite}, q: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r / 2 + d*xi**2/2 + q*eta**2/2
D: [[0, 0, 0, 0], [0, A*I, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
Q: [[0, -I, 0, 0],
    [I, 0, inv(M) @ r/d, 0],
    [0, -(inv(M) @ r).T/d, 0, xi/(d*q)],
    [0, 0, -xi/(d*q), 0]]
"""


@pytest.mark.slow
def test_a_chain_of_thermostats_crosses_where_its_coupling_vanishes(found: Found) -> None:
    assert isinstance(found(CHAIN).decision, Proved)
    uncoupled = CHAIN.replace("inv(M) @ r/d", "0").replace("-(inv(M) @ r).T/d", "0")
    assert isinstance(found(uncoupled).decision, Refuted)
    assert not isinstance(found(CHAIN.replace("q: {is: positive}", "q: {}")).decision, Proved)
    real = CHAIN.replace("A: {is: positive}", "A: {is: positive}, c: {}")
    real = real.replace("inv(M) @ r/d", "c*inv(M) @ r").replace("-(inv(M) @ r).T/d", "-c*(inv(M) @ r).T")
    assert not isinstance(found(real).decision, Proved)


CLAIMED = """
state: {x: {}, y: {}}
H: x**2/2 + y**2/2
claims:
  drift: {x: "DRIFT", y: -x - y}
  diffusion: [[x**2, 0], [0, 1]]
"""


def test_a_q_that_is_recovered_counts(found: Found) -> None:
    """With Q = [[0, -1], [1, 0]] chains cross x = 0; without a Q they do not; of a drift that has none nobody knows."""
    assert isinstance(found(CLAIMED.replace("DRIFT", "2*x - x**3 + y")).decision, Proved)
    still = CLAIMED.replace("DRIFT", "2*x - x**3").replace("-x - y", "-y")
    assert isinstance(found(still).decision, Refuted)
    assert isinstance(found(CLAIMED.replace("DRIFT", "2*x - x**3 + 2*y")).decision, Undecided)


def test_of_constant_noise_nothing_is_required_where_there_is_no_q(found: Found) -> None:
    torus = "state: {a: {domain: circle}, b: {domain: circle}}\nH: 0*a\n"
    claim = "claims: {drift: {a: 1, b: 2}, diffusion: [[1, 0], [0, 0]]}\n"
    answer = found(torus + claim)
    assert isinstance(answer.decision, Undecided)
    assert answer.excused
    assert not found(CLAIMED.replace("DRIFT", "2*x - x**3 + 2*y")).excused


HARMONIC = "state: {{x: {{}}, y: {1}}}\nparameters: {{a: {{}}, b: {{is: positive}}}}\nH: {0}\nD: {2}\nQ: {3}\n"
ROUND = "x**2/2 + y**2/2"
DEGENERATE = "[[x**2, 0], [0, 1]]"


@pytest.mark.parametrize(
    ("H", "of", "D", "Q", "surface"),
    [
        (ROUND, "{}", DEGENERATE, f"[[0, exp({ROUND})], [-exp({ROUND}), 0]]", "x = 0"),
        ("x**2/2", "{domain: circle}", DEGENERATE, "[[0, 1], [-1, 0]]", "x = 0"),
        (ROUND, "{}", "[[0, 0], [0, (x**2 + y**2 - 1)**2]]", "[[0, -1], [1, 0]]", "x**2 + y**2 - 1 = 0"),
        (ROUND, "{}", "[[(x - y)**2, 0], [0, (x - y)**2]]", f"[[0, exp({ROUND})], [-exp({ROUND}), 0]]", "x - y = 0"),
    ],
)
def test_a_curl_of_full_rank_does_not_carry_chains_where_it_adds_nothing(
    found: Found, H: str, of: str, D: str, Q: str, surface: str
) -> None:
    """A skew matrix times exp(H) adds nothing to the drift, rotations keep to spheres: the law splits as with Q = 0."""
    decision = found(HARMONIC.format(H, of, D, Q)).decision
    assert isinstance(decision, Refuted)
    assert dict(decision.witness)["surface"] == surface


def test_where_the_same_curl_moves_chains_across_it_is_no_fault(found: Found) -> None:
    for D in ("[[x**2, 0], [0, 1]]", "[[0, 0], [0, y**2]]"):
        assert isinstance(found(HARMONIC.format(ROUND, "{}", D, "[[0, -1], [1, 0]]")).decision, Proved)
    off_centre = HARMONIC.format(ROUND + " + x", "{}", "[[0, 0], [0, (x**2 + y**2 - 1)**2]]", "[[0, -1], [1, 0]]")
    assert not isinstance(found(off_centre).decision, Refuted)


@pytest.mark.slow
@pytest.mark.parametrize("Q", ["[[0, {}], [-{}, 0]]", "[[0, {}*(x - y)], [-{}*(x - y), 0]]"])
def test_a_factor_that_may_be_zero_carries_nothing(found: Found, Q: str) -> None:
    """Where a = 0 chains do not cross x = 0, or x = y."""
    for D in (DEGENERATE, "[[(x - y)**2, 0], [0, (x - y)**2]]"):
        assert not isinstance(found(HARMONIC.format(ROUND, "{}", D, Q.format("a", "a"))).decision, Proved)
    if "(x - y)" not in Q:
        assert isinstance(found(HARMONIC.format(ROUND, "{}", DEGENERATE, Q.format("b", "b"))).decision, Proved)


@pytest.mark.parametrize(("factor", "proved"), [("", True), ("(d - 2)**2*", False), ("(d - 5)**2*", False)])
def test_a_current_has_to_carry_chains_across_at_every_size(found: Found, factor: str, proved: bool) -> None:
    """Where x[i] = 0 the current in x[i] is that factor of y[i]."""
    H = f"norm2(x)/2 + dot(x**2, y**4) + {factor}norm2(y)/2"
    text = (
        f"state: {{x: {{shape: d}}, y: {{shape: d}}}}\nH: {H}\nD: [['diag(x**2)', 0], [0, I]]\nQ: [[0, I], [-I, 0]]\n"
    )
    assert isinstance(found(text).decision, Proved) is proved


THERMOSTATS = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}, zeta: {}}
parameters: {k: {is: positive}, A: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + norm2(r)/2 + k*xi**2/2 + k*zeta**2/2
D: [[0, 0, 0, 0], [0, A*I, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
"""
OF_THERMOSTATS = [
    "Q: [[0, -I, 0, 0], [I, 0, r/k, 0], [0, -r.T/k, 0, xi/k], [0, 0, -xi/k, 0]]\n",
    'claims: {drift: {theta: r, r: "-grad(U, theta) - A*r - xi*r", xi: "(norm2(r) - d)/k - zeta*xi", '
    'zeta: "xi**2 - 1/k"}}\n',
]


@pytest.mark.parametrize("own", OF_THERMOSTATS)
def test_a_chain_of_thermostats_is_crossed_where_its_curl_vanishes(found: Found, own: str) -> None:
    assert isinstance(found(THERMOSTATS + own).decision, Proved)


@pytest.mark.parametrize("added", ["", " + 2*exp(x**2/2 + y**2/2)", " - exp(x**2/2 + y**2/2)"])
def test_another_curl_of_the_same_drift_hides_no_wall(found: Found, added: str) -> None:
    q = f"x{added}"
    text = f"state: {{x: {{}}, y: {{}}}}\nH: x**2/2 + y**2/2\nD: [[0, 0], [0, 1]]\nQ: [[0, '{q}'], ['-({q})', 0]]\n"
    assert isinstance(found(text).decision, Refuted)
