"""Regularity of D and Q: zeros are isolated exactly; what splits the state space is refuted, what is crossed is not."""

import pytest
from answers import answer, document, expect

from recipe_compiler.verify.uniqueness.regular import varies

ROUND, STILL, TURN = "x**2/2 + y**2/2", "[[0, 0], [0, 0]]", "[[0, -1], [1, 0]]"
TOGETHER, FIRST = "[[(x - y)**2, 0], [0, (x - y)**2]]", "[[x**2, 0], [0, 1]]"
AGAIN = f"[[0, exp({ROUND})], [-exp({ROUND}), 0]]"


def line(D, of="{}"):
    return f"state: {{x: {of}}}\nH: x**2/2\nD: [['{D}']]\nQ: [[0]]\n"


def plane(D, Q=STILL, H=f"{ROUND} + x + y", x="{}", y="{}"):
    declared = f"state: {{x: {x}, y: {y}}}\nparameters: {{a: {{}}, b: {{is: positive}}}}\n"
    return f"{declared}H: {H}\nD: {D}\nQ: {Q}\n"


def metric_of(U):
    G = f"3/2*sqrt(abs({U} + 1/2))"
    of = f"[[0, -sqrt({G})], [sqrt({G}), 0]]"
    return f"state: {{theta: {{}}, r: {{}}}}\nH: {U} + r**2/2\nD: [[0, 0], [0, {G}]]\nQ: {of}\n"


CLAIMED = """
state: {x: {}, y: {}}
H: x**2/2 + y**2/2
claims: {drift: {x: "DRIFT", y: -x - y}, diffusion: [[x**2, 0], [0, 1]]}
"""
TORUS = """
state: {a: {domain: circle}, b: {domain: circle}}
H: 0*a
claims: {drift: {a: 1, b: 2}, diffusion: [[1, 0], [0, 0]]}
"""
THERMOSTAT = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}}
parameters: {A: {is: positive}, M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r / 2 + d*(xi - A)**2/2
D: [[0, 0, 0], [0, A*I, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, 0, inv(M) @ r/d], [0, -(inv(M) @ r).T/d, 0]]
"""
METRIC = """
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}, K: {of: theta, shape: [d, d]KIND}}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, K @ K.T]]
Q: [[0, -K], [K.T, 0]]
"""
WRIGHT_FISHER = """
state: {x: {shape: d, domain: simplex}}
parameters: {a: {shape: d, is: positive}, b: {is: positive}}
H: -sum((a - ones)*log(x)) - (b - 1)*log(1 - sum(x))
D: [[diag(x) - outer(x, x)]]
Q: [[0]]
"""
CHAIN = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}, eta: {}}
parameters: {A: {is: positive}, M: {shape: [d, d], is: positive definite}, q: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r / 2 + d*xi**2/2 + q*eta**2/2
D: [[0, 0, 0, 0], [0, A*I, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
Q: [[0, -I, 0, 0], [I, 0, inv(M) @ r/d, 0], [0, -(inv(M) @ r).T/d, 0, xi/(d*q)], [0, 0, -xi/(d*q), 0]]
"""
COUPLED = CHAIN.replace("A: {is: positive}", "A: {is: positive}, c: {}").replace("inv(M) @ r/d", "c*inv(M) @ r")
THERMOSTATS = """
state: {theta: {shape: d}, r: {shape: d}, xi: {}, zeta: {}}
parameters: {k: {is: positive}, A: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + norm2(r)/2 + k*xi**2/2 + k*zeta**2/2
D: [[0, 0, 0, 0], [0, A*I, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
"""
OF_THERMOSTATS = (
    "Q: [[0, -I, 0, 0], [I, 0, r/k, 0], [0, -r.T/k, 0, xi/k], [0, 0, -xi/k, 0]]\n",
    'claims: {drift: {theta: r, r: "-grad(U, theta) - A*r - xi*r", xi: "(norm2(r) - d)/k - zeta*xi", '
    'zeta: "xi**2 - 1/k"}}\n',
)
TURNED = "state: {{x: {{shape: d}}, y: {{shape: d}}}}\nD: [['diag(x**2)', 0], [0, I]]\nQ: [[0, I], [-I, 0]]\nH: {}\n"

PROVED = [
    metric_of("theta**2/2"),
    *map(line, ("1 + x**2", "exp(x)", "2 + sin(x)", "log(2 + x**2)", "1 + abs(x)", "sqrt(1 + x**4)")),
    line("x**4 - x**2 + 1"),
    *(line(D, "{domain: positive}") for D in ("x**2", "sqrt(x)", "x")),  # zero on the boundary alone
    plane("[[2 + (x - y)**2, 1], [1, 1 + (x - y)**2]]"),
    plane("[[(x - y)**2, 0], [0, 1]]"),
    plane(TOGETHER, TURN),
    plane(FIRST, "[[0, -y], [y, 0]]"),
    plane("[[x**2, 0], [0, x**2]]", "[[0, -1 - y**2], [1 + y**2, 0]]"),
    plane(FIRST, TURN, ROUND),
    plane("[[0, 0], [0, y**2]]", TURN, ROUND),
    THERMOSTAT,  # where its momentum vanishes
    *(THERMOSTATS + own for own in OF_THERMOSTATS),
    CLAIMED.replace("DRIFT", "2*x - x**3 + y"),  # by the Q that is recovered chains cross x = 0
    TURNED.format("norm2(x)/2 + dot(x**2, y**4) + norm2(y)/2"),
]


@pytest.mark.parametrize("text", PROVED)
def test_what_is_positive_or_crossed_is_proved(text):
    expect(answer(document(text), "regular"), "proved")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (plane("[[1, 0], [0, x**2]]"), "crossed"),
        (METRIC.replace("KIND", ", is: positive definite"), "K is positive definite\nK is smooth"),
        (METRIC.replace("KIND", ""), "K is nonsingular\nK is smooth"),
    ],
)
def test_a_proof_says_what_it_rests_on(text, says):
    expect(answer(document(text), "regular"), "proved", *says.split("\n"))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (metric_of("theta**4 - 2*theta**2"), "theta", "the zero of 2*theta**4 - 4*theta**2 + 1 near -1.3065630"),
        (metric_of("theta**4 - 2*theta**2"), "D[r,r]", "**(1/2)"),
        *((line(D), "x", "0") for D in ("x**2", "abs(x)", "sqrt(abs(x))", "x**2*exp(x)")),
        (line("(x**2 - 2)**2"), "x", "x**2 - 2"),
        *((line(D), "surface", "x = 0") for D in ("sin(x)**2", "1 - exp(-x**2)", "1 - cos(x)")),
        (line("(exp(x) - 2)**2"), "surface", "exp(x) - 2 = 0"),
        (line("tanh(x - 1)**2"), "surface", "x - 1 = 0"),
        (plane(FIRST), "x", "0"),
        (plane("[[1 + (x - y)**2, 1], [1, 1 + (x - y)**2]]"), "surface", "x - y = 0"),  # (1, -1) is null and normal
        (plane(TOGETHER), "surface", "x - y = 0"),
        (plane("[[x**2 - 2*x*y + y**2, 0], [0, (x - y)**2]]"), "surface", "x - y = 0"),
        (plane("[[(x**2 + y**2 - 3)**2, 0], [0, (x**2 + y**2 - 3)**2]]"), "surface", "x**2 + y**2 - 3 = 0"),
        # a skew matrix times exp(H) adds nothing to the drift, and rotations keep to spheres
        (plane(FIRST, AGAIN, ROUND), "surface", "x = 0"),
        (plane(FIRST, "[[0, 1], [-1, 0]]", "x**2/2", y="{domain: circle}"), "surface", "x = 0"),
        (plane("[[0, 0], [0, (x**2 + y**2 - 1)**2]]", TURN, ROUND), "surface", "x**2 + y**2 - 1 = 0"),
        (plane(TOGETHER, AGAIN, ROUND), "surface", "x - y = 0"),
        (plane("[[0, 0], [0, 1]]", "[[0, x], [-x, 0]]", ROUND), "x", "0"),
        *(
            (plane("[[0, 0], [0, 1]]", f"[[0, 'x{more}'], ['-(x{more})', 0]]", ROUND), "surface", "x = 0")
            for more in (f" + 2*exp({ROUND})", f" - exp({ROUND})")
        ),
        (CLAIMED.replace("DRIFT", "2*x - x**3").replace("-x - y", "-y"), "x", "0"),
    ],
)
def test_a_zero_that_splits_the_states_is_refuted_where_it_is(text, name, value):
    assert value in expect(answer(document(text), "regular"), "refuted")[name]


def test_every_coordinate_and_every_size_counts():
    text = "state: {x: {shape: d}}\nparameters: {c: {}}\nH: x.T @ x\nD: [[diag((x - c*ones)**2)]]\nQ: [[0]]\n"
    at = expect(answer(document(text), "regular"), "refuted")
    assert at["x[0]"] == at["c"]
    found = answer(document(text.replace("diag((x - c*ones)**2)", "'(x[0] - x[1])**2*I + 0*c*I'")), "regular")
    expect(found, "refuted")
    assert found.for_d == (("d", 2),)


@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        (line("1 + sin(x)"), "undecided", "D[x,x]"),
        *((line(D), "not refuted", "") for D in ("1 + sin(x)**2", "2 - exp(-x**2)", "2 - cos(x)", "exp(-x**2)")),
        (line("1 + tanh(x)**2"), "not refuted", ""),
        (plane("[[y**2, -x*y], [-x*y, x**2]]"), "undecided", ""),
        (plane(TOGETHER, x="{domain: positive}", y="{domain: positive}"), "undecided", ""),  # which meets the faces
        (CLAIMED.replace("DRIFT", "2*x - x**3 + 2*y"), "undecided", ""),
        (plane("[[0, 0], [0, (x**2 + y**2 - 1)**2]]", TURN, f"{ROUND} + x"), "not refuted", ""),
        # the current across x[i] = 0 is a factor of y[i], which vanishes at d = 2, or 5
        (TURNED.format("norm2(x)/2 + dot(x**2, y**4) + (d - 2)**2*norm2(y)/2"), "not proved", ""),
        (TURNED.format("norm2(x)/2 + dot(x**2, y**4) + (d - 5)**2*norm2(y)/2"), "not proved", ""),
    ],
)
def test_what_is_not_known_is_open(text, verdict, says):
    expect(answer(document(text), "regular"), verdict, says)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("state: {t: {domain: circle}}\nH: cos(t)\nD: [['1 - cos(t)']]\nQ: [[0]]\n", "not refuted"),
        ("state: {t: {domain: circle}}\nH: cos(t)\nD: [['sin(t)**2']]\nQ: [[0]]\n", "refuted"),  # of two points
        (WRIGHT_FISHER, "proved"),
        (line("x*(1 - x)", "{domain: 'interval(0, 1)'}"), "proved"),
        (line("x*(1 - x)", "{domain: 'interval(0, 2)'}"), "not proved"),
        (WRIGHT_FISHER.replace("outer(x, x)", "2*outer(x, x)"), "not proved"),
        (CHAIN, "proved"),
        (CHAIN.replace("inv(M) @ r/d", "0").replace("-(inv(M) @ r).T/d", "0"), "refuted"),
        (CHAIN.replace("q: {is: positive}", "q: {}"), "not proved"),
        (COUPLED.replace("-(inv(M) @ r).T/d", "-c*(inv(M) @ r).T"), "not proved"),
        # where a = 0 chains do not cross x = 0, or x = y
        *((plane(D, "[[0, a], [-a, 0]]", ROUND), "not proved") for D in (FIRST, TOGETHER)),
        *((plane(D, "[[0, a*(x - y)], [-a*(x - y), 0]]", ROUND), "not proved") for D in (FIRST, TOGETHER)),
        (plane(FIRST, "[[0, b], [-b, 0]]", ROUND), "proved"),
    ],
)
def test_circles_simplices_and_chains_of_thermostats(text, verdict):
    expect(answer(document(text), "regular"), verdict)


def test_it_is_asked_where_coefficients_depend_on_the_state():
    assert [varies(document(line(D))) for D in ("1", "1 + x**2")] == [False, True]


def test_of_constant_noise_nothing_is_required_where_there_is_no_q():
    found = answer(document(TORUS), "regular")
    expect(found, "undecided")
    assert not found.required
    assert answer(document(CLAIMED.replace("DRIFT", "2*x - x**3 + 2*y")), "regular").required
