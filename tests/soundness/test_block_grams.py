"""D put together block by block as L W P L.T: proved where it is one, never where a sign or a transpose is wrong."""

from collections.abc import Callable

import pytest

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.d_psd import d_psd

Decide = Callable[[Callable[[Subject], Answer], str], Answer]

DECLARED = """
state: {{x: {{shape: d}}, y: {{shape: {y}}}}}
parameters:
  A: {{shape: [d, n]}}
  B: {{shape: [{y}, n]}}
  C: {{shape: [{y}, k]}}
  K: {{shape: [d, d]}}
  M: {{shape: [d, d], is: positive definite}}
  N: {{shape: [n, n], is: KIND}}
  s: {{}}
H: x.T @ x/2 + y.T @ y/2
Q: [[0, 0], [0, 0]]
"""


def blocks(D: str, y: str = "m", kind: str = "positive semidefinite") -> str:
    return DECLARED.format(y=y).replace("KIND", kind) + f"D: {D}\n"


@pytest.mark.parametrize(
    ("D", "y"),
    [
        ('[["A @ A.T", "A @ B.T"], ["B @ A.T", "B @ B.T + C @ C.T"]]', "m"),
        ('[["A @ N @ A.T", "-A @ N @ B.T"], ["-B @ N @ A.T", "2*B @ N @ B.T"]]', "m"),
        ('[["M", "-M"], ["-M", "M"]]', "d"),
        ('[["K @ K.T", "s*K"], ["s*K.T", "s**2*I"]]', "d"),
        ('[["x @ x.T + I", "s*x @ y.T"], ["s*y @ x.T", "s**2*y @ y.T"]]', "m"),
    ],
)
def test_what_is_a_gram_matrix_is_proved(decide: Decide, D: str, y: str) -> None:
    assert isinstance(decide(d_psd, blocks(D, y)).decision, Proved)


@pytest.mark.parametrize(
    ("D", "y", "kind"),
    [
        ('[["A @ A.T", "2*A @ B.T"], ["2*B @ A.T", "B @ B.T + C @ C.T"]]', "m", "positive semidefinite"),
        ('[["A @ N @ A.T", "A @ N @ B.T"], ["B @ N @ A.T", "B @ N @ B.T"]]', "m", "symmetric"),
        ('[["M", "2*M"], ["2*M", "3*M"]]', "d", "positive semidefinite"),
        ('[["K @ K.T", "s*K.T"], ["s*K", "s**2*I"]]', "d", "positive semidefinite"),  # K.T for K
        ('[["x @ x.T", "2*x @ y.T"], ["2*y @ x.T", "y @ y.T"]]', "m", "positive semidefinite"),
    ],
)
def test_what_is_none_is_refuted(decide: Decide, D: str, y: str, kind: str) -> None:
    assert isinstance(decide(d_psd, blocks(D, y, kind)).decision, Refuted)


def one(D: str, parameters: str) -> str:
    return f"state: {{x: {{shape: d}}}}\nparameters: {parameters}\nH: x.T @ x/2\nD: [['{D}']]\nQ: [[0]]\n"


def test_a_factor_that_stands_twice_is_a_square(decide: Decide) -> None:
    parameters = "{B: {shape: [d, n]}, c: {}, b: {}}"
    assert isinstance(decide(d_psd, one("(c*B) @ (c*B).T", parameters)).decision, Proved)
    assert isinstance(decide(d_psd, one("(c*B) @ (b*B).T", parameters)).decision, Refuted)
    assert isinstance(decide(d_psd, one("(c*B) @ (c*(c*B)).T", parameters)).decision, Refuted)


def test_a_search_in_floats_that_cannot_be_is_no_fault(decide: Decide) -> None:
    document = """
    state: {x: {domain: positive}}
    parameters: {p: {is: nonzero}}
    H: x**2/2
    D: [["VALUE"]]
    Q: [[0]]
    """
    for value in ("where(sigmoid(2) <= p, 1, p)", "gamma(x) - 2"):
        assert isinstance(decide(d_psd, document.replace("VALUE", value)).decision, Refuted)
    nowhere = document.replace("VALUE", "x - (2 + x)").replace("H: ", "assume: ['expm1(1/3) > 1']\n    H: ")
    assert isinstance(decide(d_psd, nowhere).decision, Undecided)


def test_a_draw_that_has_no_instance_does_not_undo_a_proof(decide: Decide) -> None:
    document = """
    state: {x: {domain: "interval(a, b)"}}
    parameters: {a: {}, b: {}}
    assume: ["a < b"]
    H: x**2
    D: [["b - a + x**2"]]
    Q: [[0]]
    """
    assert isinstance(decide(d_psd, document).decision, Proved)
    assert isinstance(decide(d_psd, document.replace('["a < b"]', '["a < b", "b**3 < a**3"]')).decision, Undecided)
