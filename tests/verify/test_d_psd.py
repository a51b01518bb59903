"""D is positive semidefinite: what is, is proved; what is not, is refuted or left open; never the other way."""

import subprocess
import sys

import pytest
from answers import SPECS, answer, document, expect

X, XY, THETA, POSITIVE = "x: {}", "x: {}, y: {}", "theta: {shape: d}", "theta: {shape: d, domain: positive}"
SIMPLEX = "p: {shape: d, domain: simplex}"
POSITIVE_C, NONNEGATIVE_C, A = "{c: {is: positive}}", "{c: {is: nonnegative}}", "{A: {shape: [d, d]}}"
QR, DEFINITE = "q: {shape: d}, r: {shape: d}", "{C: {shape: [d, d], is: positive semidefinite}}"

EVERY_SIZE = [
    (THETA, "(1 + norm2(theta))*I - theta@theta.T"),
    (THETA, "(c + norm2(theta))*I - outer(theta, theta)", NONNEGATIVE_C),
    (THETA, "I - theta@theta.T/(1 + norm2(theta))"),
    (THETA, "c*(2*norm2(theta)*I - 2*theta@theta.T)", NONNEGATIVE_C),
    (THETA, "trace(C)*I - C", DEFINITE),
    (THETA, "norm2(A)*I - A@A.T + theta@theta.T", A),
    (THETA, "trace(A.T@A)*I - A.T@A", A),
    (THETA, "(c*theta.T@theta)*I", NONNEGATIVE_C),
    (THETA, "diag(abs(theta))"),
    (THETA, "diag(maximum(theta, ones))"),
    (THETA, "diag(ones + sin(theta))"),
    (THETA, "Identity(d) + OneMatrix(d, d)"),
    (THETA, "OneMatrix(d, d)"),
    (THETA, "diag(2*theta**2 - 4*theta + 2*ones)"),
    (POSITIVE, "diag(theta)"),
    (POSITIVE, "diag(minimum(theta, c*ones))", POSITIVE_C),
    (POSITIVE, "diag(theta) - theta@theta.T/sum(theta)"),
    (SIMPLEX, "diag(p) - p@p.T"),
    (f"{THETA}, xi: {{}}", '[["I", 0], [0, "norm2(theta)/d - 2*xi*sqrt(norm2(theta)/d) + xi**2"]]'),
    (QR, '[["2*I", "-c*I"], ["-c*I", "c**2*I"]]', "{c: {}}"),
    (QR, '[["diag(q**4)", "-c*diag(q**2)"], ["-c*diag(q**2)", "c**2*I"]]', "{c: {}}"),
    (THETA, "diag(theta**4 - theta**3 + theta**2/2 - theta/5 + ones/10)"),
    (QR, '[["d*I", "sqrt(d)*I"], ["sqrt(d)*I", "I"]]'),
]
NOT_EVERY_SIZE = [
    (THETA, "(1 + norm2(theta))*I - 2*theta@theta.T"),
    (THETA, "(norm2(theta) - c)*I - theta@theta.T", POSITIVE_C),
    (THETA, "trace(C)*I - 2*C", DEFINITE),
    (THETA, "trace(A)*I - A@A.T", A),
    (THETA, "(c*theta.T@theta)*I", "{c: {}}"),
    (THETA, "diag(minimum(theta, ones))"),
    (THETA, "Identity(d) - OneMatrix(d, d)"),
    (THETA, "-OneMatrix(d, d)"),
    (THETA, "diag(theta)"),
    (THETA, "diag(ones/2 + sin(theta))"),
    (POSITIVE, "diag(theta) - theta@theta.T"),
    (SIMPLEX, "diag(p) - 3*p@p.T"),
    (QR, '[["diag(q**4)", "diag(q**3)"], ["diag(q**3)", "diag(r**2)"]]'),
    (QR, '[["diag(q*q)", "diag(q)"], ["diag(q)", "diag(r*q)"]]'),
    (SIMPLEX, "diag(p**2) - p@p.T"),
    (QR, '[["I", "(d - 1)*I"], ["(d - 1)*I", "I"]]'),
    (QR, '[["I", "(d - 1)*(d - 2)*(d - 3)*I"], ["(d - 1)*(d - 2)*(d - 3)*I", "I"]]'),
    (f"{THETA}, xi: {{}}", '[["I", 0], [0, "norm2(theta) - 2*xi + xi**2"]]'),
]
HALF = "[[a, b], [b, c]]"
Z, OF_TWO = "z: {shape: 2}", "{C: {shape: [2, 2], is: positive semidefinite}}"
SIGNED = "{a: {is: nonnegative}, b: {}, c: {is: nonnegative}}"
INSIDE = "x: {domain: 'interval(-1, 1)'}, y: {}"

FIXED = [
    (XY, HALF, SIGNED, "['a*c - b**2 >= 0']"),
    (XY, HALF, "{a: {}, b: {}, c: {}}", "['a*c - b**2 >= 0', 'a + c >= 0']"),
    (XY, '[["1", "x"], ["x", "1 + x**2"]]'),
    (INSIDE, '[["1 - x**2", 0], [0, "2 + x**3"]]'),
    (INSIDE, '[["1", "x"], ["x", "1"]]'),
    (INSIDE, '[["exp(x) - 1/5", "x/5"], ["x/5", "3/2 - cos(x)"]]'),
    ("x: {domain: circle}, y: {}", '[["4 - cos(x)*x/2", 0], [0, 1]]'),
    (Z, "C - C/2 + S@S", f"{OF_TWO[:-1]}, S: {{shape: [2, 2], is: symmetric}}}}"),
    (Z, "trace(M)*M - M@M", "{M: {shape: [2, 2], is: positive definite}}"),
    ("p: {shape: 3, domain: simplex}", "diag(p) - p@p.T"),
    (XY, '[["1/(1 + x**2)", 0], [0, "sqrt(1 + x**2 + y**2)"]]'),
    (XY, '[["log(2 + sin(x))", 0], [0, "abs(y)**(1/2)"]]'),
    (XY, '[["log(3 + sin(x)*cos(y))", 0], [0, "1/(x**2 - 2*x*y + 2*y**2 + 1)"]]'),
    (XY, '[["2 + tanh(x)", "erf(y)/2"], ["erf(y)/2", "1 - sign(x)*erf(y)/10"]]'),
]
REFUTED = [
    (XY, HALF, SIGNED, "['a*c - b**2/2 >= 0']"),
    (XY, HALF, SIGNED),
    (INSIDE, '[["1 - x**2 - 1/100", 0], [0, 1]]'),
    ("x: {domain: 'interval(0, 1)'}, y: {}", '[["(x - 1/3)**2 - 1/1000000", 0], [0, 1]]'),
    (Z, "C - I/1000", OF_TWO),
    (Z, "trace(M)*M - M@M - I/1000", "{M: {shape: [2, 2], is: positive definite}}"),
    ("p: {shape: 3, domain: simplex}", "diag(p) - 11/10*p@p.T"),
    (XY, '[["f - exp(-y)", 0], [0, 1]]'),
    (XY, '[["exp(x - y) - sqrt(2)/1000", 0], [0, 1]]'),
]
VACUOUS = ["sqrt(x)", "1/x**2", "log(x)**2", "x**(1/2)", "exp(1/x)", "sqrt(x)**2 + 1", "gamma(x)**2", "1/(x**2 - 2)**2"]
MOTZKIN = '[["x**4*y**2 + x**2*y**4 - 3*x**2*y**2 + 1", 0], [0, 1]]'


def noise(state, D, parameters="{}", assume="[]"):
    """Return dynamics with D: whole, or the formula of its one block."""
    rows = D if D.startswith("[[") else f'[["{D}"]]'
    n = rows.count("[") - 1
    zero = str([[0] * n] * n)
    functions = "functions: {f: {of: x, is: positive}}\n" if "f -" in D else ""
    declared = f"state: {{{state}}}\nparameters: {parameters}\n{functions}assume: {assume}\n"
    return f"{declared}H: 0\nD: {rows}\nQ: {zero}\n"


@pytest.mark.parametrize(
    ("case", "verdict", "words"),
    [
        *((case, "proved", "") for case in (*EVERY_SIZE, *FIXED)),
        *((case, "not proved", "") for case in NOT_EVERY_SIZE),
        *((case, "refuted", "") for case in REFUTED),
        *(((X, D), "undecided", "not shown: ") for D in VACUOUS),  # not defined everywhere
        ((X, "a", "{a: {}}", "['a >= 1', 'exp(a) <= 2']"), "not proved", ""),  # no admissible a
        # random points miss what is assumed, a search does not
        ((X, "a", "{a: {is: positive}, b: {is: positive}, c: {is: positive}}", "['1 - a - b - c >= 0']"), "proved", ""),
        ((XY, HALF, SIGNED, "['a*c - b**2 >= 0']"), "proved", "a is nonnegative\nc is nonnegative\na*c - b**2 >= 0"),
        ((INSIDE, '[["1", "x"], ["x", "1"]]'), "proved", "x > -1"),
        ((THETA, "K @ K", "{K: {shape: [d, d], is: symmetric}}"), "proved", "K is symmetric"),
    ],
)
def test_d_is_decided(case, verdict, words):
    found = answer(document(noise(*case)), "d_psd")
    shown = expect(found, verdict, *words.split("\n"))
    assert case not in EVERY_SIZE or found.for_d == "all"
    assert verdict != "refuted" or shown


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
def test_a_matrix_that_is_negative_at_larger_sizes_only_is_refuted_there(D, d):
    found = answer(document(noise(THETA, D)), "d_psd")
    expect(found, "refuted")
    assert found.for_d == (("d", d),)


def test_z3_is_named_as_trusted():
    data = expect(answer(document(noise(XY, MOTZKIN)), "d_psd"), "proved", "z3")
    assert any(name.endswith("trusted") and value.startswith("z3 ") for name, value in data.items())


@pytest.mark.slow
def test_a_structural_specification_needs_no_solver():
    code = (
        "import sys; from pathlib import Path; from recipe_compiler.spec.load import load;"
        "from recipe_compiler.verify.core.subject import subject_of;"
        "from recipe_compiler.verify.equation.d_psd import d_psd;"
        f"found = d_psd(subject_of(load(Path({str(SPECS / 'dynamics/sghmc.yaml')!r}))));"
        "assert found.verdict.value == 'proved', found;"
        "assert not {'z3', 'clarabel', 'scipy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
