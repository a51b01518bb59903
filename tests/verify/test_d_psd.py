"""D is positive semidefinite: what is, is proved; what is not, is refuted or left open; never the other way."""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.d_psd import d_psd

SPECS = Path(__file__).parents[2] / "specs" / "dynamics"


@cache
def decided(state: str, D: str, parameters: str = "{}", assume: str = "[]", functions: str = "{}") -> Answer:
    n = D.count("[") - 1
    zero = "[" + ", ".join("[" + ", ".join("0" for _ in range(n)) + "]" for _ in range(n)) + "]"
    text = f"name: test\nstate: {{{state}}}\nparameters: {parameters}\nfunctions: {functions}\nassume: {assume}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.yaml"
        path.write_text(f"{text}H: 0\nD: {D}\nQ: {zero}\n", encoding="utf-8")
        document = load_dynamics(path)
    return d_psd(subject_of(document))


X, XY, THETA, POSITIVE = "x: {}", "x: {}, y: {}", "theta: {shape: d}", "theta: {shape: d, domain: positive}"
SIMPLEX = "p: {shape: d, domain: simplex}"
POSITIVE_C, NONNEGATIVE_C, A = "{c: {is: positive}}", "{c: {is: nonnegative}}", "{A: {shape: [d, d]}}"
DEFINITE = "{C: {shape: [d, d], is: positive semidefinite}}"

EVERY_SIZE = [
    (THETA, '[["(1 + norm2(theta))*I - theta@theta.T"]]', "{}"),
    (THETA, '[["(c + norm2(theta))*I - outer(theta, theta)"]]', NONNEGATIVE_C),
    (THETA, '[["I - theta@theta.T/(1 + norm2(theta))"]]', "{}"),
    (THETA, '[["c*(2*norm2(theta)*I - 2*theta@theta.T)"]]', NONNEGATIVE_C),
    (THETA, '[["trace(C)*I - C"]]', DEFINITE),
    (THETA, '[["norm2(A)*I - A@A.T + theta@theta.T"]]', A),
    (THETA, '[["trace(A.T@A)*I - A.T@A"]]', A),
    (THETA, '[["(c*theta.T@theta)*I"]]', NONNEGATIVE_C),
    (THETA, '[["diag(abs(theta))"]]', "{}"),
    (THETA, '[["diag(maximum(theta, ones))"]]', "{}"),
    (THETA, '[["diag(ones + sin(theta))"]]', "{}"),
    (THETA, '[["Identity(d) + OneMatrix(d, d)"]]', "{}"),
    (THETA, '[["OneMatrix(d, d)"]]', "{}"),
    (THETA, '[["diag(2*theta**2 - 4*theta + 2*ones)"]]', "{}"),
    (POSITIVE, '[["diag(theta)"]]', "{}"),
    (POSITIVE, '[["diag(minimum(theta, c*ones))"]]', POSITIVE_C),
    (POSITIVE, '[["diag(theta) - theta@theta.T/sum(theta)"]]', "{}"),
    (SIMPLEX, '[["diag(p) - p@p.T"]]', "{}"),
    (f"{THETA}, xi: {{}}", '[["I", 0], [0, "norm2(theta)/d - 2*xi*sqrt(norm2(theta)/d) + xi**2"]]', "{}"),
    ("q: {shape: d}, r: {shape: d}", '[["2*I", "-c*I"], ["-c*I", "c**2*I"]]', "{c: {}}"),
    ("q: {shape: d}, r: {shape: d}", '[["diag(q**4)", "-c*diag(q**2)"], ["-c*diag(q**2)", "c**2*I"]]', "{c: {}}"),
    (THETA, '[["diag(theta**4 - theta**3 + theta**2/2 - theta/5 + ones/10)"]]', "{}"),
    ("q: {shape: d}, r: {shape: d}", '[["d*I", "sqrt(d)*I"], ["sqrt(d)*I", "I"]]', "{}"),
]


@pytest.mark.parametrize(("state", "D", "parameters"), EVERY_SIZE)
def test_a_rule_holds_for_every_size(state: str, D: str, parameters: str) -> None:
    found = decided(state, D, parameters)
    assert isinstance(found.decision, Proved), found.decision
    assert found.for_d == "all"


NOT_EVERY_SIZE = [
    (THETA, '[["(1 + norm2(theta))*I - 2*theta@theta.T"]]', "{}"),
    (THETA, '[["(norm2(theta) - c)*I - theta@theta.T"]]', POSITIVE_C),
    (THETA, '[["trace(C)*I - 2*C"]]', DEFINITE),
    (THETA, '[["trace(A)*I - A@A.T"]]', A),
    (THETA, '[["(c*theta.T@theta)*I"]]', "{c: {}}"),
    (THETA, '[["diag(minimum(theta, ones))"]]', "{}"),
    (THETA, '[["Identity(d) - OneMatrix(d, d)"]]', "{}"),
    (THETA, '[["-OneMatrix(d, d)"]]', "{}"),
    (THETA, '[["diag(theta)"]]', "{}"),
    (THETA, '[["diag(ones/2 + sin(theta))"]]', "{}"),
    (POSITIVE, '[["diag(theta) - theta@theta.T"]]', "{}"),
    (SIMPLEX, '[["diag(p) - 3*p@p.T"]]', "{}"),
    ("q: {shape: d}, r: {shape: d}", '[["diag(q**4)", "diag(q**3)"], ["diag(q**3)", "diag(r**2)"]]', "{}"),
    ("q: {shape: d}, r: {shape: d}", '[["diag(q*q)", "diag(q)"], ["diag(q)", "diag(r*q)"]]', "{}"),
    (SIMPLEX, '[["diag(p**2) - p@p.T"]]', "{}"),
    ("q: {shape: d}, r: {shape: d}", '[["I", "(d - 1)*I"], ["(d - 1)*I", "I"]]', "{}"),
    (
        "q: {shape: d}, r: {shape: d}",
        '[["I", "(d - 1)*(d - 2)*(d - 3)*I"], ["(d - 1)*(d - 2)*(d - 3)*I", "I"]]',
        "{}",
    ),
    (f"{THETA}, xi: {{}}", '[["I", 0], [0, "norm2(theta) - 2*xi + xi**2"]]', "{}"),
]


@pytest.mark.parametrize(("state", "D", "parameters"), NOT_EVERY_SIZE)
def test_what_fails_at_some_size_is_never_proved(state: str, D: str, parameters: str) -> None:
    assert not isinstance(decided(state, D, parameters).decision, Proved)


HALF = "[[a, b], [b, c]]"
SIGNED = "{a: {is: nonnegative}, b: {}, c: {is: nonnegative}}"
INSIDE = "x: {domain: 'interval(-1, 1)'}, y: {}"

FIXED = [
    (XY, HALF, SIGNED, "['a*c - b**2 >= 0']"),
    (XY, HALF, "{a: {}, b: {}, c: {}}", "['a*c - b**2 >= 0', 'a + c >= 0']"),
    (XY, '[["1", "x"], ["x", "1 + x**2"]]', "{}", "[]"),
    (INSIDE, '[["1 - x**2", 0], [0, "2 + x**3"]]', "{}", "[]"),
    (INSIDE, '[["1", "x"], ["x", "1"]]', "{}", "[]"),
    (INSIDE, '[["exp(x) - 1/5", "x/5"], ["x/5", "3/2 - cos(x)"]]', "{}", "[]"),
    ("x: {domain: circle}, y: {}", '[["4 - cos(x)*x/2", 0], [0, 1]]', "{}", "[]"),
    ("z: {shape: 2}", '[["C - C/2 + S@S"]]', "{C: {shape: [2, 2], is: positive semidefinite}, "
     "S: {shape: [2, 2], is: symmetric}}", "[]"),
    ("z: {shape: 2}", '[["trace(M)*M - M@M"]]', "{M: {shape: [2, 2], is: positive definite}}", "[]"),
    ("p: {shape: 3, domain: simplex}", '[["diag(p) - p@p.T"]]', "{}", "[]"),
    (XY, '[["1/(1 + x**2)", 0], [0, "sqrt(1 + x**2 + y**2)"]]', "{}", "[]"),
    (XY, '[["log(2 + sin(x))", 0], [0, "abs(y)**(1/2)"]]', "{}", "[]"),
    (XY, '[["log(3 + sin(x)*cos(y))", 0], [0, "1/(x**2 - 2*x*y + 2*y**2 + 1)"]]', "{}", "[]"),
    (XY, '[["2 + tanh(x)", "erf(y)/2"], ["erf(y)/2", "1 - sign(x)*erf(y)/10"]]', "{}", "[]"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "D", "parameters", "assume"), FIXED)
def test_scalars_are_decided(state: str, D: str, parameters: str, assume: str) -> None:
    found = decided(state, D, parameters, assume)
    assert isinstance(found.decision, Proved), found.decision


REFUTED = [
    (XY, HALF, SIGNED, "['a*c - b**2/2 >= 0']"),
    (XY, HALF, SIGNED, "[]"),
    (INSIDE, '[["1 - x**2 - 1/100", 0], [0, 1]]', "{}", "[]"),
    ("x: {domain: 'interval(0, 1)'}, y: {}", '[["(x - 1/3)**2 - 1/1000000", 0], [0, 1]]', "{}", "[]"),
    ("z: {shape: 2}", '[["C - I/1000"]]', "{C: {shape: [2, 2], is: positive semidefinite}}", "[]"),
    ("z: {shape: 2}", '[["trace(M)*M - M@M - I/1000"]]', "{M: {shape: [2, 2], is: positive definite}}", "[]"),
    ("p: {shape: 3, domain: simplex}", '[["diag(p) - 11/10*p@p.T"]]', "{}", "[]"),
    (XY, '[["f - exp(-y)", 0], [0, 1]]', "{}", "[]"),
    (XY, '[["exp(x - y) - sqrt(2)/1000", 0], [0, 1]]', "{}", "[]"),
]


@pytest.mark.parametrize(("state", "D", "parameters", "assume"), REFUTED)
def test_a_negative_direction_is_found(state: str, D: str, parameters: str, assume: str) -> None:
    functions = "{f: {of: x, is: positive}}" if "f -" in D else "{}"
    found = decided(state, D, parameters, assume, functions)
    assert isinstance(found.decision, Refuted), found.decision
    assert found.decision.witness


VACUOUS = ["sqrt(x)", "1/x**2", "log(x)**2", "x**(1/2)", "exp(1/x)", "sqrt(x)**2 + 1", "gamma(x)**2", "1/(x**2 - 2)**2"]


@pytest.mark.parametrize("entry", VACUOUS)
def test_what_is_not_defined_everywhere_is_never_proved(entry: str) -> None:
    found = decided(X, f'[["{entry}"]]')
    assert isinstance(found.decision, Undecided)
    assert any(what.startswith("not shown: ") for what in found.decision.tried)


def test_contradictory_assumptions_prove_nothing() -> None:
    # a contradiction of signs and sums would be a fault of the document already
    found = decided(X, "[[a]]", "{a: {}}", "['a >= 1', 'exp(a) <= 2']")
    assert not isinstance(found.decision, Proved)


def test_an_assumption_that_random_points_miss_is_satisfied_by_search() -> None:
    three = "{a: {is: positive}, b: {is: positive}, c: {is: positive}}"
    assert isinstance(decided(X, "[[a]]", three, "['1 - a - b - c >= 0']").decision, Proved)


def test_what_was_used_is_listed() -> None:
    found = decided(XY, HALF, SIGNED, "['a*c - b**2 >= 0']").decision
    assert isinstance(found, Proved)
    assert {"a is nonnegative", "c is nonnegative", "a*c - b**2 >= 0"} <= set(found.given)
    domain = decided(INSIDE, '[["1", "x"], ["x", "1"]]').decision
    assert isinstance(domain, Proved)
    assert any("x > -1" in reason for reason in domain.given)


def test_z3_is_named_as_trusted() -> None:
    motzkin = '[["x**4*y**2 + x**2*y**4 - 3*x**2*y**2 + 1", 0], [0, 1]]'
    found = decided(XY, motzkin).decision
    assert isinstance(found, Proved)
    assert "z3" in found.by
    assert any(name.endswith("trusted") and value.startswith("z3 ") for name, value in found.data)


@pytest.mark.slow
def test_a_structural_specification_needs_no_solver() -> None:
    code = (
        "import sys; from pathlib import Path; from recipe_compiler.spec.load import load;"
        "from recipe_compiler.verify.core.subject import subject_of;"
        "from recipe_compiler.verify.equation.d_psd import d_psd;"
        f"found = d_psd(subject_of(load(Path({str(SPECS / 'sghmc.yaml')!r}))));"
        "assert found.verdict.value == 'proved', found;"
        "assert not {'z3', 'clarabel', 'scipy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_dynamics_are_never_refuted_here(path: Path) -> None:
    document = load_dynamics(path)
    assert d_psd(subject_of(document)).verdict is not Verdict.REFUTED


def test_a_square_of_a_symmetric_matrix_rests_on_its_symmetry() -> None:
    found = decided(THETA, '[["K @ K"]]', "{K: {shape: [d, d], is: symmetric}}").decision
    assert isinstance(found, Proved)
    assert found.given == ("K is symmetric",)


@pytest.mark.parametrize(
    ("D", "d"),
    [
        ("I - ones @ ones.T/4", 5),
        ("(4 - d)*I", 5),
        ("(4 - d)*I + ones @ ones.T", 5),
        ("(d - 5)**2*I - I", 5),
        ("diag(theta**2) - theta @ theta.T/6", 7),
    ],
)
def test_a_matrix_that_is_negative_at_larger_sizes_only_is_refuted_there(D: str, d: int) -> None:
    found = decided(THETA, f'[["{D}"]]')
    assert isinstance(found.decision, Refuted)
    assert found.for_d == (("d", d),)
