"""Faces of the domain: exponents decide the flux, for every size and all parameters; mutants are never proved."""

import pytest
from answers import SPECS, answer, document, expect

CIR = """
state: {x: {shape: d, domain: positive}}
parameters: {a: {shape: d, is: positive}}
H: sum(x) - sum((a - ones)*log(x))
D: [[diag(x)]]
Q: [[0]]
"""
ENERGY = "sum(x) - sum((a - ones)*log(x))"
HAMILTON = """
state: {x: {shape: d, domain: positive}, r: {shape: d}}
parameters: {a: {is: positive}, M: {shape: [d, d], is: positive definite}}
H: sum(x) - (a - 1)*sum(log(x)) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, diag(x)]]
Q: [[0, -diag(sqrt(x))], [diag(sqrt(x)), 0]]
"""
EXPONENTIAL = "state: {x: {shape: d, domain: positive}}\nH: sum(x)\nD: [[I]]\nQ: [[0]]\n"
DENSE = EXPONENTIAL.replace("H:", "parameters: {C: {shape: [d, d], is: positive definite}}\nH:").replace(
    "[[I]]", "[[C]]"
)
INTERVAL = """
state: {x: {domain: "interval(-1, 3)"}}
parameters: {a: {is: positive}, b: {is: positive}}
H: -(a - 1)*log(1 + x) - (b - 1)*log(3 - x)
D: [[(1 + x)*(3 - x)]]
Q: [[0]]
"""
SIMPLEX = """
state: {w: {shape: d, domain: simplex}}
parameters: {a: {shape: d, is: positive}, b: {is: positive}}
H: -sum((a - ones)*log(w)) - (b - 1)*log(1 - sum(w))
D: [["diag(w) - outer(w, w)"]]
Q: [[0]]
"""
LOGNORMAL = """
state: {x: {shape: d, domain: positive}}
parameters: {m: {shape: d}, v: {is: positive}}
H: norm2(log(x) - m)/(2*v) + sum(log(x))
D: [[diag(v*x**2)]]
Q: [[0]]
"""
COUNTS = """
state: {x: {shape: d, domain: positive}}
parameters: {a: {shape: d, is: positive}, n: {shape: d, is: nonnegative}}
H: sum(x) - sum((a - ones + n)*log(x)) + sum(n)*log(sum(x))
D: [[diag(x)]]
Q: [[0]]
"""
CLAIMED = """
state: {x: {shape: d, domain: positive}}
parameters: {a: {is: positive}}
H: sum(x) - (a - 1)*sum(log(x))
claims: {drift: {x: a*ones - x}, diffusion: [[diag(x)]]}
"""
# x + y vanishes in the corner, where exp(-H) ~ (x + y)**-3 is not integrable
CORNER = """
state: {x: {domain: positive}, y: {domain: positive}}
H: x + y + 3*log(x + y)
D: [[x, 0], [0, y]]
Q: [[0, 0], [0, 0]]
"""
ABSTRACT = "state: {x: {domain: positive}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[x]]\nQ: [[0]]\n"
ASSUMED = "state: {x: {}, y: {}}\nassume: ['1 - x - y > 0']\nH: x**2 + y**2\nD: [[1, 0], [0, 1]]\nQ: [[0, 0], [0, 0]]\n"
SHAPE_OF_1 = CIR.replace("shape: d, is: pos", "is: pos").replace("a - ones", "(a - 1)*ones") + 'assume: ["a >= 1"]\n'
REFLECTED = "chains are reflected at x = 0, r reversed with it, where a - 1/2 <= 0"


@pytest.mark.parametrize(
    ("text", "verdict", "words"),
    [
        (CIR, "proved", "D and Q times exp(-H) vanish at x = 0: reached where a < 1 (Feller)\na is positive"),
        (SHAPE_OF_1, "proved", "not reached (Feller)\na >= 1"),
        (CIR.replace("{shape: d, is: positive}", "{shape: d}"), "refuted", "x = 0"),
        (CIR.replace(ENERGY, "sum(x) + sum(a*log(x)) + sum(log(x))"), "refuted", ""),
        (CIR.replace(ENERGY, "sum(x) - sum(a/x)"), "refuted", ""),
        (CIR.replace(ENERGY, "sum(x) + 2*sum(log(x))"), "refuted", ""),
        (HAMILTON, "proved", REFLECTED),
        (HAMILTON.replace("r / 2", "r / 2 + sum(r)"), "undecided", ""),  # not even in r: the flux does not cancel
        (HAMILTON.replace("[[0, 0], [0, diag(x)]]", "[[I, 0], [0, I]]"), "undecided", ""),  # noise and current reach it
        (EXPONENTIAL, "proved", "chains are reflected at x = 0"),
        (DENSE, "undecided", ""),
        (INTERVAL, "proved", "x = -1: reached where a < 1\nx = 3: reached where b < 1"),
        (INTERVAL.replace("b: {is: positive}", "b: {}"), "refuted", "x = 3"),
        (SIMPLEX, "proved", "w = 0\nsum(w) = 1"),
        (SIMPLEX.replace("diag(w) - outer(w, w)", "diag(w)"), "undecided", "sum(w) = 1"),
        (SIMPLEX.replace("diag(w) - outer", "diag(w) - 2*outer"), "undecided", "sum(w) = 1"),
        (LOGNORMAL, "proved", "not reached"),
        (LOGNORMAL.replace("/(2*v)", "/(-2*v)"), "refuted", ""),
        (COUNTS, "proved", "n is nonnegative"),
        (COUNTS.replace("is: nonnegative", "is: real"), "undecided", ""),
        (COUNTS.replace("+ sum(n)*log", "- sum(n)*log"), "not proved", ""),
        (CORNER, "undecided", ""),
        ("state: {x: {domain: positive}}\nH: x - (exp(x) - 1)/x**2\nD: [[x]]\nQ: [[0]]\n", "undecided", ""),
        (ABSTRACT, "undecided", ""),
        (ASSUMED, "undecided", ""),
        (CLAIMED, "proved", "D and Q times exp(-H) vanish at x = 0"),  # with the Q that is recovered
        (CLAIMED.replace("a*ones - x", "a*ones - 2*x"), "undecided", "none is shown to give the claimed drift"),
        (CLAIMED.replace("a: {is: positive}", "a: {}"), "refuted", ""),
    ],
)
def test_flux_through_faces(text, verdict, words):
    expect(answer(document(text), "boundary"), verdict, *words.split("\n"))


def test_a_momentum_is_not_reversed_where_the_face_is_not_reached():
    found = answer(document(HAMILTON + 'assume: ["a > 1/2"]\n'), "boundary")
    expect(found, "proved")
    assert not any("reflected" in reason for reason in found.decision.given)


SHARES, DIRICHLET = ("sgrld_categories", "categories"), ("wright_fisher_dirichlet", "dirichlet")


@pytest.mark.parametrize(
    ("build", "old", "new", "verdict"),
    [
        (SHARES, "", "", "proved"),
        (DIRICHLET, "", "", "proved"),
        (SHARES, "alpha: {shape: d, is: positive}", "alpha: {shape: d}", "proved"),  # the values are positive
        (DIRICHLET, "b: {is: positive}", "b: {}", "proved"),
        (SHARES, "(alpha - ones + n)", "(-alpha - ones)", "undecided"),
        (DIRICHLET, "(b - 1)*log", "(-b - 1)*log", "refuted"),
        (SHARES, "theta", "share", "proved"),
    ],
)
def test_a_build_shows_with_its_target_that_nothing_flows(build, old, new, verdict):
    name, target = build
    own = (SPECS / f"targets/{target}.yaml").read_text()
    assert old in own
    text = (SPECS / f"builds/{name}.yaml").read_text()
    text = text.replace(f"../targets/{target}.yaml", "target.yaml").replace("../", "SPECS/")
    found = answer(document(text, target=own.replace(old, new) if old else own), "boundary")
    expect(found, verdict)
    assert old or found.for_d == "all"


def test_what_only_a_reflection_keeps_is_not_proved_of_a_build():
    """With a constant D an exponential law is kept by chains that are reflected at 0, and by no emitted step."""
    constant = (SPECS / "dynamics/sgrld_positive.yaml").read_text().replace("D: [[diag(theta)]]", "D: [[I]]")
    text = """
    name: exponential
    dynamics: constant.yaml
    target: SPECS/targets/categories.yaml
    parameters: {alpha: {value: [1, 1]}, n: {value: [0, 0]}}
    scheme: {name: euler}
    variant: full
    sizes: {d: 2}
    run: {step_size: 0.01}
    """
    found = answer(document(text, constant=constant.partition("claims:")[0]), "boundary")
    expect(found, "undecided", "chains are reflected at theta = 0", "no emitted step does that")
