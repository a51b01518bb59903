"""Faces of the domain: exponents decide the flux, for every size and all parameters; mutants are never proved."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.uniqueness.boundary import boundary, has_boundary

Found = Callable[[str], Answer]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    def decided(text: str) -> Answer:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        document = load_dynamics(path)
        assert has_boundary(document)
        return boundary(subject_of(document))

    return decided


CIR = """
state: {x: {shape: d, domain: positive}}
parameters: {a: {shape: d, is: positive}}
H: sum(x) - sum((a - ones)*log(x))
D: [[diag(x)]]
Q: [[0]]
"""


def proved(found: Answer) -> Proved:
    assert isinstance(found.decision, Proved), found.decision
    return found.decision


def test_the_square_root_process_keeps_its_mass(found: Found) -> None:
    decision = proved(found(CIR))
    assert decision.given == ("a is positive",)
    assert decision.by == "D and Q times exp(-H) vanish at x = 0: reached where a < 1 (Feller)"


def test_an_assumption_tells_that_it_is_not_reached(found: Found) -> None:
    decision = proved(
        found(CIR.replace("shape: d, is: pos", "is: pos").replace("a - ones", "(a - 1)*ones") + 'assume: ["a >= 1"]\n')
    )
    assert decision.by.endswith("not reached (Feller)")
    assert "a >= 1" in decision.given


def test_a_shape_that_may_not_be_positive_is_refuted(found: Found) -> None:
    decision = found(CIR.replace("{shape: d, is: positive}", "{shape: d}")).decision
    assert isinstance(decision, Refuted)
    assert "x = 0" in decision.residual


@pytest.mark.parametrize("H", ["sum(x) + sum(a*log(x)) + sum(log(x))", "sum(x) - sum(a/x)", "sum(x) + 2*sum(log(x))"])
def test_energies_that_are_not_integrable_are_refuted(found: Found, H: str) -> None:
    assert isinstance(found(CIR.replace("sum(x) - sum((a - ones)*log(x))", H)).decision, Refuted)


HAMILTON = """
state: {x: {shape: d, domain: positive}, r: {shape: d}}
parameters: {a: {is: positive}, M: {shape: [d, d], is: positive definite}}
H: sum(x) - (a - 1)*sum(log(x)) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, diag(x)]]
Q: [[0, -diag(sqrt(x))], [diag(sqrt(x)), 0]]
"""


def test_a_momentum_is_reversed_where_the_face_is_reached(found: Found) -> None:
    given = proved(found(HAMILTON)).given
    assert "chains are reflected at x = 0, r reversed with it, where a - 1/2 <= 0" in given
    above = proved(found(HAMILTON + 'assume: ["a > 1/2"]\n'))
    assert not any("reflected" in reason for reason in above.given)


@pytest.mark.parametrize(
    "change",
    [
        ("r / 2", "r / 2 + sum(r)"),  # not even in r: the flux does not cancel
        ("[[0, 0], [0, diag(x)]]", "[[I, 0], [0, I]]"),  # noise and current both reach the face
    ],
)
def test_without_the_symmetry_no_reflection_is_claimed(found: Found, change: tuple[str, str]) -> None:
    assert found(HAMILTON.replace(*change)).verdict is Verdict.UNDECIDED


def test_noise_that_stays_needs_a_reflection(found: Found) -> None:
    text = "state: {x: {shape: d, domain: positive}}\nH: sum(x)\nD: [[I]]\nQ: [[0]]\n"
    assert "chains are reflected at x = 0" in proved(found(text)).given
    dense = text.replace("H:", "parameters: {C: {shape: [d, d], is: positive definite}}\nH:").replace("[[I]]", "[[C]]")
    assert found(dense).verdict is Verdict.UNDECIDED


INTERVAL = """
state: {x: {domain: "interval(-1, 3)"}}
parameters: {a: {is: positive}, b: {is: positive}}
H: -(a - 1)*log(1 + x) - (b - 1)*log(3 - x)
D: [[(1 + x)*(3 - x)]]
Q: [[0]]
"""


def test_both_ends_of_an_interval_are_looked_at(found: Found) -> None:
    says = proved(found(INTERVAL)).by
    assert "x = -1: reached where a < 1" in says
    assert "x = 3: reached where b < 1" in says
    one_end = found(INTERVAL.replace("b: {is: positive}", "b: {}"))
    assert isinstance(one_end.decision, Refuted)
    assert "x = 3" in one_end.decision.residual


SIMPLEX = """
state: {w: {shape: d, domain: simplex}}
parameters: {a: {shape: d, is: positive}, b: {is: positive}}
H: -sum((a - ones)*log(w)) - (b - 1)*log(1 - sum(w))
D: [["diag(w) - outer(w, w)"]]
Q: [[0]]
"""


def test_all_faces_of_a_simplex_are_looked_at(found: Found) -> None:
    says = proved(found(SIMPLEX)).by
    assert "w = 0" in says
    assert "sum(w) = 1" in says


@pytest.mark.parametrize("D", ["diag(w)", "diag(w) - 2*outer(w, w)"])
def test_a_metric_that_pushes_through_the_last_face_is_not_proved(found: Found, D: str) -> None:
    decision = found(SIMPLEX.replace("diag(w) - outer(w, w)", D)).decision
    assert isinstance(decision, Undecided)
    assert "sum(w) = 1" in decision.tried[0]


def test_densities_that_fall_faster_than_powers_are_not_reached(found: Found) -> None:
    text = """
    state: {x: {shape: d, domain: positive}}
    parameters: {m: {shape: d}, v: {is: positive}}
    H: norm2(log(x) - m)/(2*v) + sum(log(x))
    D: [[diag(v*x**2)]]
    Q: [[0]]
    """
    assert proved(found(text)).by.endswith("not reached")
    assert isinstance(found(text.replace("/(2*v)", "/(-2*v)")).decision, Refuted)


def test_a_sum_of_all_counts_is_bounded_below(found: Found) -> None:
    text = """
    state: {x: {shape: d, domain: positive}}
    parameters: {a: {shape: d, is: positive}, n: {shape: d, is: nonnegative}}
    H: sum(x) - sum((a - ones + n)*log(x)) + sum(n)*log(sum(x))
    D: [[diag(x)]]
    Q: [[0]]
    """
    assert "n is nonnegative" in proved(found(text)).given
    assert found(text.replace("is: nonnegative", "is: real")).verdict is Verdict.UNDECIDED
    assert found(text.replace("+ sum(n)*log", "- sum(n)*log")).verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    "text",
    [
        # x + y vanishes in the corner, where exp(-H) ~ (x + y)**-3 is not integrable
        "state: {x: {domain: positive}, y: {domain: positive}}\nH: x + y + 3*log(x + y)\n"
        "D: [[x, 0], [0, y]]\nQ: [[0, 0], [0, 0]]\n",
        "state: {x: {domain: positive}}\nH: x - (exp(x) - 1)/x**2\nD: [[x]]\nQ: [[0]]\n",
        "state: {x: {domain: positive}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[x]]\nQ: [[0]]\n",
        "state: {x: {}, y: {}}\nassume: ['1 - x - y > 0']\nH: x**2 + y**2\nD: [[1, 0], [0, 1]]\nQ: [[0, 0], [0, 0]]\n",
    ],
)
def test_what_is_not_known_is_undecided(found: Found, text: str) -> None:
    assert isinstance(found(text).decision, Undecided)


CLAIMED = """
state: {x: {shape: d, domain: positive}}
parameters: {a: {is: positive}}
H: sum(x) - (a - 1)*sum(log(x))
claims:
  drift: {x: a*ones - x}
  diffusion: [[diag(x)]]
"""


def test_a_q_that_is_recovered_gives_the_current(found: Found) -> None:
    assert "D and Q times exp(-H) vanish at x = 0" in proved(found(CLAIMED)).by


def test_without_a_q_the_current_is_not_known(found: Found) -> None:
    decision = found(CLAIMED.replace("a*ones - x", "a*ones - 2*x")).decision
    assert isinstance(decision, Undecided)
    assert "none is shown to give the claimed drift" in decision.tried[0]


def test_a_shape_that_may_be_negative_is_refuted_with_a_q_that_is_recovered(found: Found) -> None:
    assert isinstance(found(CLAIMED.replace("a: {is: positive}", "a: {}")).decision, Refuted)
