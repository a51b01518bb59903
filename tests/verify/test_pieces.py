"""Kinks: `where` pieces that meet on the whole boundary bend, others jump; what bends holds weakly or is left open."""

import pytest
from answers import answer, document, expect, said

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check

TARGET = "state: {{x: {{}}, y: {{}}, theta: {{shape: d}}}}\nparameters: {{c: {{is: positive}}}}\npotential: '{}'\n"
OF_DATA = "state: {{x: {{}}, y: {{}}}}\ndata: {{n: {{shape: N, is: nonnegative}}}}\nlog_prior: -x**2 - y**2\n"
GRADIENTS = {
    "proved": [
        "Piecewise((x**2, x > 0), (x**2/2, True))",
        "where(x > 0, x**2, x**2/2)",
        "where(x <= 0, x**2/2, x**2)",
        "Piecewise((x**2/2, Abs(x) <= 1), (Abs(x) - 1/2, True))",
        "Piecewise((x**2/2, Abs(x) <= c), (c*Abs(x) - c**2/2, True))",
        "Piecewise((-1/2 - x, x < -1), (x**2/2, x < 1), (x - 1/2, True))",
        "where(x + y > 1, x**2, x**2 + (x + y - 1)**2)",
        "where(x**2 > 1, x**2 + (x**2 - 1)**2, x**2)",
        "where(x == 0, 0, x**2)",
        "where(theta.T @ theta > 1, theta.T @ theta, theta.T @ theta + (theta.T @ theta - 1)**3)",
        "sum(where(abs(theta) <= ones, theta**2/2, abs(theta) - ones/2))",
        "where(x > 0, x*sin(x), 1 - cos(x))",
    ],
    "undecided": [
        "Piecewise((x, x > 0), (-x, True))",
        "where(x > 0, x**2, x**2 + x)",
        "where(x > 0, x**2, x**2 + 1)",
        "where(x > y, x**2, y**2)",
        "where(x > 0, x*y, 0)",
        "where(x > 0, x*y, x*y**2)",
        "where(x + y > 1, x**2, x**2 + (x + y - 1))",
        "where(x**2 > 1, x**2, x**2 + (x - 1)**2)",
        "where(x**2 > 1, x**2, 2*x**2 - 1)",
        "Piecewise((x**2/2, Abs(x) <= 1), (Abs(x) - 1/3, True))",
        "Piecewise((x**2/2, Abs(x) <= 1), (x - 1/2, True))",
        "Piecewise((x**2/2 + abs(x), Abs(x) <= 1), (2*Abs(x) - 1/2, True))",
        "where(x == 0, 1, x**2)",
        "where(sign(x) > 0, x**2, x**2/2)",
        "where(where(x > 0, 1, 0) > 1/2, x**2, x**2/2)",
        "where(x > 0, sqrt(x), 0)",
        "where(x > 0, x**3, where(x > -1, 0, 1))",
        "sum(where(abs(theta) <= ones, theta**2/2, abs(theta)))",
    ],
}
# a datum stays the case that it is; where it decides with the state, that may change it
BY_DATA = {
    "proved": [
        "where(n == 0, x, -exp(y) + n*y)", "where(n > 2, abs(n - 3)*x, sign(n)*y)", "sqrt(n)*x + maximum(n, 1)*y",
    ],
    "undecided": [
        "where(n == 0, abs(x), y)", "where(n > x, x, y)", "where(n == 0, where(x > 0, 1, 0), y)", "sqrt(n*exp(x))*y",
        "maximum(n, x)",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        *((TARGET.format(one), verdict) for verdict, own in GRADIENTS.items() for one in own),
        *((f"{OF_DATA.format()}log_likelihood: '{one}'\n", verdict) for verdict, own in BY_DATA.items() for one in own),
    ],
)
def test_pieces_that_meet_with_their_slopes_have_a_gradient(text, verdict):
    expect(answer(document(text), "gradient"), verdict)


DYNAMICS = """
state: {{theta: {{shape: 2}}, r: {{shape: 2}}}}
parameters: {{c: {{is: positive}}}}
H: "{H} + norm2(theta) + norm2(r)/2"
D: [[0, 0], [0, "({D})*I"]]
Q: [[0, -I], [I, 0]]
"""
LAPLACE = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {C: {shape: [d, d], is: positive semidefinite}, M: {shape: [d, d], is: positive definite}}
H: sum(abs(theta)) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims: {drift: {theta: inv(M) @ r, r: -sign(theta) - C @ inv(M) @ r}}
"""
LIPSCHITZ = """
state: {theta: {shape: 2}}
H: "minimum(theta[0]**2, theta[1]**2 + 1) + theta.T @ theta"
D: [["(1 + maximum(theta[0], 0))*I"]]
Q: [[0]]
"""
SINGULAR = """
state: {theta: {shape: d}}
parameters: {a: {is: positive}}
H: sum(abs(theta)) - (a - 1)*sum(log(abs(theta)))
D: [[diag(abs(theta))]]
Q: [[0]]
"""
MOMENTUM = "state: {x: {}, r: {}}\nH: where(x > 0, x**2, 2*x**2) + r**2/2\nD: [[0, 0], [0, 1]]\nQ: [[0, -1], [1, 0]]\n"
OF_SLOPE = "state: {x: {}, y: {}}\nH: x**2 + y**2\nD: [[1, 0], [0, 'grad(abs(x), x)**2 + 1']]\nQ: [[0, 0], [0, 0]]\n"
# J = f p jumps at 0 and is constant off it: mass gathers there, which no residual off 0 sees
JUMP = "state: {x: {domain: 'interval(-1, 1)'}}\nH: 0*x\nD: [[1]]\nQ: [[0]]\nclaims: {drift: {x: sign(x)}}\n"
HINT = "state: {x: {}}\nH: x**2 + where(x > 1, 2*x - 1, x**2)\nD: [[1]]\nQ: [[0]]\n"
WEAKLY = "weakly across the kinks of where"


@pytest.mark.parametrize(
    ("text", "claim", "verdict", "says"),
    [
        *(
            (DYNAMICS.format(H=H, D=D), "stationary", "proved", WEAKLY)
            for H, D in (
                ("Piecewise((theta[0], theta[0] > 0), (-2*theta[0], True))", "1"),
                ("Piecewise((theta[0]**2/2, Abs(theta[0]) <= c), (c*Abs(theta[0]) - c**2/2, True))", "1"),
                ("0", "1 + where(theta[0] > theta[1], theta[0] - theta[1], 0)"),
                ("0", "1 + where(r[0] > 0, r[0]**2, r[0]**4)"),
                ("where(theta[0] > 1, theta[0]**2, 2*theta[0] - 1)", "1 + where(r[1] > 0, r[1]**2, 0)"),
            )
        ),
        (MOMENTUM, "stationary", "proved", "weakly across the kinks of where(x > 0, x**2, 2*x**2)"),
        (LIPSCHITZ, "stationary", "proved", ""),
        (HINT, "stationary", "proved", ""),
        (LAPLACE, "stationary", "proved", "weakly across the kinks of abs(theta)"),
        (LAPLACE, "claimed_stationary", "proved", ""),
        (LAPLACE.replace("-sign(theta) - C", "-sign(theta) - C.T @ C"), "claimed_stationary", "refuted", ""),
        (LAPLACE.replace("-sign(theta)", "sign(theta)"), "claimed_stationary", "refuted", ""),
        (LAPLACE.replace("-sign(theta)", "-theta"), "claimed_stationary", "refuted", ""),
        (JUMP, "claimed_stationary", "not proved", ""),
        (SINGULAR, "stationary", "undecided", "abs(theta) > 0"),
        (OF_SLOPE, "stationary", "not proved", ""),
    ],
)
def test_across_kinks_that_meet_the_law_is_proved_weakly(text, claim, verdict, says):
    expect(answer(document(text), claim), verdict, says)


@pytest.mark.parametrize(
    "text",
    [
        DYNAMICS.format(H="where(theta[0] > 0, theta[0], 1)", D="1"),
        DYNAMICS.format(H="where(theta[0] > theta[1], theta[0]**2, theta[1])", D="1"),
        DYNAMICS.format(H="0", D="1 + where(r[0] > 0, 1, 0)"),
        DYNAMICS.format(H="0", D="1 + where(r[0] > r[1], r[0]**2, r[1]**4)"),
        DYNAMICS.format(H="0", D="2 + where(r[0] > 1, tanh(r[0]), 0)"),
        "state: {theta: {}}\nH: theta**2/2\nD: [['2 + sign(theta)*exp(-theta**2)']]\nQ: [[0]]\n",
    ],
)
def test_what_jumps_is_not_proved(text):
    try:
        found = answer(document(text), "stationary")
    except DocumentError:
        return
    expect(found, "not proved")


@pytest.mark.slow
def test_a_build_takes_no_more_of_a_bending_potential_than_it_has():
    """Brackets and Lyapunov functions of U take a smooth one: with pieces that meet once they are not shown."""
    dynamics = """
    state: {theta: {shape: d}, r: {shape: d}}
    functions: {U: {of: theta, role: potential}}
    H: U + norm2(r)/2
    D: [[0, 0], [0, I]]
    Q: [[0, -I], [I, 0]]
    """
    build = """
    name: build
    dynamics: dynamics.yaml
    target: target.yaml
    scheme: {name: sequential_euler, order: [r, theta]}
    variant: full
    run: {step_size: 0.05}
    """
    target = "state: {x: {shape: 2}}\npotential: 'norm2(x)/2 + where(x[0] > 0, x[0]**POWER, 0)'\n"
    bent, kinked = (
        {one.id: one for one in check(document(build, dynamics=dynamics, target=target.replace("POWER", n))).findings}
        for n in "21"
    )
    expect(bent["gradient"], "proved")
    expect(bent["stationary"], "proved", "U has a Lipschitz gradient")
    assert not any(one.decision.verdict == "proved" and "U is smooth" in said(one) for one in bent.values())
    expect(bent["unique"], "undecided")
    expect(kinked["gradient"], "undecided")


@pytest.mark.parametrize(
    ("H", "says"),
    [
        ("where(x > 1, x**2, 2*x)", "do not meet on x = 1: one less the other is -1 there, a jump with a point mass"),
        ("where(x > c, x**2, x)", "not shown: the pieces of where meet on x = c; one less the other is"),
        ("where(abs(x) > 2, abs(x), 3)", "do not meet on abs(x) = 2: one less the other is -1 there"),
        ("where(x**2 + y**2 > 1, x**2 + y**2, 1)", "meet on x**2 + y**2 = 1, in which no coordinate stands alone"),
        ("sum(where(theta > ones, theta, theta**2/2))", "meet on theta[i] = 1: one less the other is 1/2 there"),
    ],
)
def test_pieces_that_are_not_shown_to_meet_say_what_was_found_there(H, says):
    declared = "state: {x: {}, y: {}, theta: {shape: d}}\nparameters: {c: {is: positive}}\n"
    blocks = "D: [[1, 0, 0], [0, 1, 0], [0, 0, I]]\nQ: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]\n"
    with pytest.raises(DocumentError) as caught:
        check(document(f"{declared}H: x**2 + y**2 + norm2(theta) + {H}\n{blocks}"))
    (fault,) = caught.value.faults
    assert fault.entry == "H"
    assert says in fault.problem
    assert fault.hint.startswith("write pieces that agree there, as where(x > 1, 2*x - 1, x**2) does")
