"""A `where` or `Piecewise` whose pieces meet on the whole boundary bends, and does not jump; every other one jumps."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_dynamics, load_target

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Answer, Finding, Proved, Undecided, Verdict
from recipe_compiler.verify.builds.target import gradient
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.stationarity.stationary import stationary

Written = Callable[[str, str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(name: str, text: str) -> Path:
        path = tmp_path / f"{name}.yaml"
        path.write_text(f"name: {name}\n{textwrap.dedent(text)}", encoding="utf-8")
        return path

    return write


TARGET = "state: {{x: {{}}, y: {{}}, theta: {{shape: d}}}}\nparameters: {{c: {{is: positive}}}}\npotential: '{}'\n"
MEET = [
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
]
PART = [
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
]


def _gradient(path: Path) -> Answer:
    document = load_target(path)
    return gradient(document)


@pytest.mark.parametrize("potential", MEET)
def test_pieces_that_meet_with_their_slopes_have_a_gradient(written: Written, potential: str):
    assert isinstance(_gradient(written("target", TARGET.format(potential))).decision, Proved)


@pytest.mark.parametrize("potential", PART)
def test_pieces_that_meet_at_a_point_or_in_value_alone_have_none(written: Written, potential: str):
    assert isinstance(_gradient(written("target", TARGET.format(potential))).decision, Undecided)


OF_DATA = "state: {{x: {{}}, y: {{}}}}\ndata: {{n: {{shape: N, is: nonnegative}}}}\nlog_prior: -x**2 - y**2\n"
CASES = {
    "where(n == 0, x, -exp(y) + n*y)": Proved,
    "where(n > 2, abs(n - 3)*x, sign(n)*y)": Proved,
    "sqrt(n)*x + maximum(n, 1)*y": Proved,
    "where(n == 0, abs(x), y)": Undecided,
    "where(n > x, x, y)": Undecided,
    "where(n == 0, where(x > 0, 1, 0), y)": Undecided,
    "sqrt(n*exp(x))*y": Undecided,
    "maximum(n, x)": Undecided,
}
"""A datum stays the case that it is; where it decides with the state, that may change it."""


@pytest.mark.parametrize("log_likelihood", CASES)
def test_what_data_alone_decide_neither_jumps_nor_bends(written: Written, log_likelihood: str):
    text = f"{OF_DATA.format()}log_likelihood: '{log_likelihood}'\n"
    assert isinstance(_gradient(written("target", text)).decision, CASES[log_likelihood])


DYNAMICS = """
state: {{theta: {{shape: 2}}, r: {{shape: 2}}}}
parameters: {{c: {{is: positive}}}}
H: "{H} + norm2(theta) + norm2(r)/2"
D: [[0, 0], [0, "({D})*I"]]
Q: [[0, -I], [I, 0]]
"""


def _stationary(path: Path) -> Answer:
    document = load_dynamics(path)
    return stationary(subject_of(document))


@pytest.mark.parametrize(
    ("H", "D"),
    [
        ("Piecewise((theta[0], theta[0] > 0), (-2*theta[0], True))", "1"),
        ("Piecewise((theta[0]**2/2, Abs(theta[0]) <= c), (c*Abs(theta[0]) - c**2/2, True))", "1"),
        ("0", "1 + where(theta[0] > theta[1], theta[0] - theta[1], 0)"),
        ("0", "1 + where(r[0] > 0, r[0]**2, r[0]**4)"),
        ("where(theta[0] > 1, theta[0]**2, 2*theta[0] - 1)", "1 + where(r[1] > 0, r[1]**2, 0)"),
    ],
)
def test_across_pieces_that_meet_the_law_is_proved_weakly(written: Written, H: str, D: str):
    found = _stationary(written("dynamics", DYNAMICS.format(H=H, D=D))).decision
    assert isinstance(found, Proved)
    assert "weakly across the kinks of where" in found.by


@pytest.mark.parametrize(
    ("H", "D"),
    [
        ("where(theta[0] > 0, theta[0], 1)", "1"),
        ("where(theta[0] > theta[1], theta[0]**2, theta[1])", "1"),
        ("0", "1 + where(r[0] > 0, 1, 0)"),
        ("0", "1 + where(r[0] > r[1], r[0]**2, r[1]**4)"),
        ("0", "2 + where(r[0] > 1, tanh(r[0]), 0)"),
    ],
)
def test_across_pieces_that_do_not_it_is_not(written: Written, H: str, D: str):
    try:
        verdict = _stationary(written("dynamics", DYNAMICS.format(H=H, D=D))).verdict
    except DocumentError:
        return
    assert verdict is not Verdict.PROVED


@pytest.mark.slow
def test_a_build_takes_no_more_of_a_bending_potential_than_it_has(written: Written):
    """Brackets and Lyapunov functions of U take a smooth one: with pieces that meet once they are not shown."""
    dynamics = """
        state: {theta: {shape: d}, r: {shape: d}}
        functions: {U: {of: theta, role: potential}}
        H: U + norm2(r)/2
        D: [[0, 0], [0, I]]
        Q: [[0, -I], [I, 0]]
    """
    target = "state: {x: {shape: 2}}\npotential: 'norm2(x)/2 + where(x[0] > 0, x[0]**POWER, 0)'\n"
    build = """
        dynamics: dynamics.yaml
        target: target.yaml
        scheme: {name: sequential_euler, order: [r, theta]}
        variant: full
        run: {step_size: 0.05}
    """
    written("dynamics", dynamics)
    found: dict[str, dict[str, Finding]] = {}
    for power in ("2", "1"):
        written("target", target.replace("POWER", power))
        document = load(written("build", build))
        found[power] = {finding.id: finding for finding in check(document).findings}
    bent = found["2"]
    assert isinstance(bent["gradient"].decision, Proved)
    assert isinstance(bent["stationary"].decision, Proved)
    assert "U has a Lipschitz gradient" in bent["stationary"].decision.given
    proofs = [finding.decision for finding in bent.values() if isinstance(finding.decision, Proved)]
    assert not any("U is smooth" in proof.given for proof in proofs)
    assert bent["unique"].verdict is Verdict.UNDECIDED
    assert found["1"]["gradient"].verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("H", "said"),
    [
        ("where(x > 1, x**2, 2*x)", "do not meet on x = 1: one less the other is -1 there, a jump with a point mass"),
        ("where(x > c, x**2, x)", "not shown: the pieces of where meet on x = c; one less the other is"),
        ("where(abs(x) > 2, abs(x), 3)", "do not meet on abs(x) = 2: one less the other is -1 there"),
        ("where(x**2 + y**2 > 1, x**2 + y**2, 1)", "meet on x**2 + y**2 = 1, in which no coordinate stands alone"),
        ("sum(where(theta > ones, theta, theta**2/2))", "meet on theta[i] = 1: one less the other is 1/2 there"),
    ],
)
def test_pieces_that_are_not_shown_to_meet_say_what_was_found_there(written: Written, H: str, said: str) -> None:
    declared = "state: {x: {}, y: {}, theta: {shape: d}}\nparameters: {c: {is: positive}}\n"
    blocks = "D: [[1, 0, 0], [0, 1, 0], [0, 0, I]]\nQ: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]\n"
    document = load_dynamics(written("apart", f"{declared}H: x**2 + y**2 + norm2(theta) + {H}\n{blocks}"))
    with pytest.raises(DocumentError) as caught:
        check(document)
    (fault,) = caught.value.faults
    assert fault.entry == "H"
    assert said in fault.problem
    assert fault.hint.startswith("write pieces that agree there, as where(x > 1, 2*x - 1, x**2) does")


def test_the_hint_for_pieces_that_do_not_meet_is_right(written: Written) -> None:
    text = "state: {x: {}}\nH: x**2 + where(x > 1, 2*x - 1, x**2)\nD: [[1]]\nQ: [[0]]\n"
    assert stationary(subject_of(load_dynamics(written("hint", text)))).verdict is Verdict.PROVED
