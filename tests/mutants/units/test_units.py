"""Slips that units and powers of eps find before anything is derived: each names the guilty term."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.errors import DocumentError, Place, SpecError
from recipe_compiler.formula.units import NONE, Unit, base
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.units import parse_unit
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.claims import DYNAMICS
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.units import declares_units, units
from recipe_compiler.verify.updates.step_scale import claims_update, step_scale

ROWS = {claim.id: claim for claim in DYNAMICS}
RIGHT = (Path(__file__).parent / "sghmc.yaml").read_text()
UPDATES = sorted((Path(__file__).parents[1] / "updates").glob("*.yaml"))

Read = Callable[..., Dynamics]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The right document, with parts of its text replaced."""

    def changed(*changes: tuple[str, str], text: str = RIGHT) -> Dynamics:
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / "document.yaml").write_text(text)
        return load_dynamics(tmp_path / "document.yaml")

    return changed


def measured(dynamics: Dynamics) -> Answer:
    assert declares_units(dynamics)
    found = units(subject_of(dynamics))
    assert not ROWS["units"].finding(found).required
    return found


def scaled(dynamics: Dynamics) -> Answer:
    assert claims_update(dynamics)
    found = step_scale(subject_of(dynamics))
    assert not ROWS["step_scale"].finding(found).required
    return found


def test_the_right_document_is_right(read: Read) -> None:
    assert measured(read()).verdict is Verdict.PROVED
    assert scaled(read()).verdict is Verdict.PROVED


WRONG_UNITS = [
    ("r: -grad(U, theta) - C @ inv(M) @ r", "r: -grad(U, theta) - C @ M @ r", "C @ M @ r"),
    ("r: -grad(U, theta) - C @ inv(M) @ r", "r: -grad(U, theta) - C @ r", "C @ r"),
    ("theta: inv(M) @ r", "theta: r", "r"),
    ("theta: inv(M) @ r", "theta: theta", "theta"),
    ("r.T @ inv(M) @ r / 2", "r.T @ r / 2", "r.T @ r/2"),
    ("r.T @ inv(M) @ r / 2", "r.T @ M @ r / 2", "r.T @ M @ r/2"),
    ("[0, C]", "[0, C @ C]", "C @ C"),
    ("[0, C]", "[0, C + I]", "I"),
    ("[[0, -I], [I, 0]]", "[[0, -M], [M, 0]]", "-M"),
    ("- eps*C @ inv(M) @ r +", "- C @ inv(M) @ r +", "C @ inv(M) @ r"),
    ("N(0, 2*eps*C)", "N(0, 2*eps**2*C)", "N(0, 2*eps**2*C)"),
    ("N(0, 2*eps*C)", "N(0, 2*C)", "N(0, 2*C)"),
    ("N(0, 2*eps*C)", "eps*N(0, 2*C)", "eps*N(0, 2*C)"),
    ("theta + eps*inv(M) @ next(r)", "theta + inv(M) @ next(r)", "inv(M) @ next(r)"),
    ("theta + eps*inv(M) @ next(r)", "theta + eps*inv(M + I) @ next(r)", "I"),
    ("marginal: {theta: U(theta)}", "marginal: {theta: U(theta) + norm2(theta)}", "theta.T @ theta"),
]


@pytest.mark.parametrize(("old", "new", "term"), WRONG_UNITS)
def test_a_term_of_the_wrong_unit_is_named(read: Read, old: str, new: str, term: str) -> None:
    found = measured(read((old, new)))
    assert isinstance(found.decision, Refuted)
    witness = dict(found.decision.witness)
    assert witness["term"].replace(" ", "").lstrip("-") == term.replace(" ", "").lstrip("-")
    assert witness["its unit"] != witness["expected"]
    assert found.where is not None
    assert found.where.line


def test_units_that_are_not_declared_are_solved_for(read: Read) -> None:
    found = measured(read(("  M: time**2/length**2\n", ""), ("  C: time/length**2\n", ""), ("  U: 1\n", "")))
    assert isinstance(found.decision, Proved)
    assert dict(found.decision.data) == {
        "theta": "length", "r": "time/length", "M": "time**2/length**2", "C": "time/length**2", "U": "1",
    }  # fmt: skip


def test_no_unit_of_the_others_makes_up_for_a_slip(read: Read) -> None:
    """C is not declared, and stands in D and in the drift: only one of them can be right."""
    found = measured(read(("  C: time/length**2\n", ""), ("- C @ inv(M) @ r\n  marginal", "- C @ r\n  marginal")))
    assert isinstance(found.decision, Refuted)
    assert dict(found.decision.witness)["term"] == "-C @ r"


ENERGIES = [
    ("x - a*log(x)", "x: 1", Verdict.PROVED),
    ("c*x - (a - 1)*log(x)", "x: length, c: 1/length", Verdict.PROVED),
    ("x - (a - 1)*log(x)", "x: length", Verdict.REFUTED),
    ("c*x - x*log(x)", "x: length, c: 1/length", Verdict.REFUTED),
    ("c*x - exp(log(x))", "x: length, c: 1/length", Verdict.REFUTED),
    ("c*x + exp(x)", "x: length, c: 1/length", Verdict.REFUTED),
    ("c*x + (c*x)**a", "x: length, c: 1/length", Verdict.PROVED),
    ("c*x + x**2", "x: length, c: 1/length", Verdict.REFUTED),
    ("c*x + 1/sqrt(c*x)", "x: length, c: 1/length", Verdict.PROVED),
    ("c*x + maximum(c*x, 2)", "x: length, c: 1/length", Verdict.PROVED),
    ("c*x + maximum(c*x, x)", "x: length, c: 1/length", Verdict.REFUTED),
    ("c*x + sqrt(c)*x**(1/2)", "x: length, c: length**-1", Verdict.PROVED),
    ("c*x + sqrt(c)*x", "x: length, c: length**(-1/2)", Verdict.REFUTED),
    ("x/c + abs(x/c) + sign(x)", "x: length, c: length", Verdict.PROVED),
]


@pytest.mark.parametrize(("H", "stated", "verdict"), ENERGIES)
def test_energies_have_no_unit_but_for_a_constant(read: Read, H: str, stated: str, verdict: Verdict) -> None:
    text = "name: m\nstate: {x: {domain: positive}}\nparameters: {a: {is: positive}, c: {is: positive}}\n"
    text += f"units: {{{stated}, a: 1}}\nH: {H}\nD: [[x**2*k]]\nQ: [[0]]\n".replace("x**2*k", "k")
    text = text.replace("c: {is: positive}}", "c: {is: positive}, k: {}}")
    found = measured(read(text=text))
    assert found.verdict is verdict


def test_a_determinant_has_the_unit_of_its_size(read: Read) -> None:
    text = "name: m\nstate: {x: {shape: SIZE}}\nparameters: {M: {shape: [SIZE, SIZE], is: positive definite}, k: {}}\n"
    text += "units: {x: length, M: 1/length**2, k: length**4}\nH: x.T @ M @ x + k*det(M)\nD: [[0]]\nQ: [[0]]\n"
    assert measured(read(("SIZE", "2"), text=text)).verdict is Verdict.PROVED
    assert measured(read(("SIZE", "3"), text=text)).verdict is Verdict.REFUTED
    assert measured(read(("SIZE", "d"), text=text)).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1", NONE),
        ("length", base("length")),
        ("length/time**2", base("length") / base("time") ** Fraction(2)),
        ("mass*length**2/time**2/mass", base("length") ** Fraction(2) / base("time") ** Fraction(2)),
        ("1/(length*time)", NONE / (base("length") * base("time"))),
        ("mass**(1/2)", base("mass") ** Fraction(1, 2)),
        ("mass**-0.5", base("mass") ** Fraction(-1, 2)),
        ("(length/time)**(-2/3)", (base("length") / base("time")) ** Fraction(-2, 3)),
        ("length/length", NONE),
    ],
)
def test_units_are_read_and_written(text: str, unit: Unit) -> None:
    found = parse_unit(text, "units.x", Place("test", 1, 1))
    assert found == unit
    assert parse_unit(str(found), "units.x", Place("test", 1, 1)) == unit


@pytest.mark.parametrize(
    ("text", "column"),
    [("2*length", 1), ("length + time", 1), ("length**x", 9), ("length @ time", 10), ("sqrt(length)", 1), ("0", 1),
     ("length**(1/0)", 12), ("length**100", 9), ("length^2", 7), ("length*", 8)],
)  # fmt: skip
def test_what_is_no_unit_is_refused_at_its_place(text: str, column: int) -> None:
    with pytest.raises(SpecError) as caught:
        parse_unit(text, "units.x", Place("test", 3, 1))
    (fault,) = caught.value.faults
    assert (fault.where.line, fault.where.column) == (3, column)
    assert fault.problem


@pytest.mark.parametrize(
    ("old", "new", "entry", "words"),
    [
        ("  U: 1\n", "  U: 3*length\n", "units.U", "found the number 3"),
        ("  U: 1\n", "  u: 1\n", "units.u", "found the unit of `u`"),
        ("  U: 1\n", "  eps: time\n", "units.eps", "found the unit of `eps`"),
    ],
)
def test_faulty_units_are_faults_of_the_document(read: Read, old: str, new: str, entry: str, words: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read((old, new))
    (fault,) = caught.value.faults
    assert fault.entry == entry
    assert words in fault.problem
    assert fault.where.line == 13


WRONG_ORDERS = [
    ("- eps*C @ inv(M) @ r +", "- C @ inv(M) @ r +", "C @ inv(M) @ r"),
    ("- eps*C @ inv(M) @ r +", "- sqrt(eps)*C @ inv(M) @ r +", "sqrt(eps)"),
    ("r - eps*grad_tilde(U, theta) -", "r - grad_tilde(U, theta) -", "grad_tilde(U, theta)"),
    ("N(0, 2*eps*C)", "N(0, 2*C)", "N(0, 2*C)"),
    ("N(0, 2*eps*C)", "N(0, 2*sqrt(eps)*C)", "sqrt(eps)"),
    ("N(0, 2*eps*C)", "eps**(1/4)*N(0, 2*C)", "eps**(1/4)"),
    ("N(0, 2*eps*C)", "eps*N(0, 2*C)", "eps*N(0, 2*C)"),
    ("N(0, 2*eps*C)", "N(0, 2*eps**2*C)", "N(0, 2*eps**2*C)"),
    ("N(0, 2*eps*C)", "sqrt(eps)*N(0, 2*eps*C)", "smaller than O(eps)"),
    ("theta + eps*inv(M) @ next(r)", "theta + inv(M) @ next(r)", "inv(M) @ next(r)"),
    ("theta + eps*inv(M) @ next(r)", "eps*inv(M) @ next(r)", "theta"),
    ("theta + eps*inv(M) @ next(r)", "2*theta + eps*inv(M) @ next(r)", "2*theta"),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG_ORDERS)
def test_a_term_of_the_wrong_order_is_named(read: Read, old: str, new: str, words: str) -> None:
    found = scaled(read((old, new)))
    assert isinstance(found.decision, Refuted)
    assert words in found.decision.residual
    assert found.decision.witness[-1][1] != "0"
    assert found.where is not None
    assert found.where.line


RIGHT_ORDERS = [
    ("N(0, 2*eps*C)", "sqrt(2*eps)*N(0, C)"),
    ("N(0, 2*eps*C)", "N(0, eps*(2*C - eps*C))"),
    ("N(0, 2*eps*C)", "N(0, 2*eps*C) + N(0, eps**2*C)"),
    ("N(0, 2*eps*C)", "N(0, (1 - exp(-2*eps))*M)"),
    ("r - eps*grad_tilde(U, theta) -", "exp(-eps)*r - eps*grad_tilde(U, theta) -"),
    ("theta + eps*inv(M) @ next(r)", "theta + next(r) - r + eps*inv(M) @ r"),
    ("theta + eps*inv(M) @ next(r)", "theta + eps*inv(M) @ (next(r) + r)/2"),
]


@pytest.mark.parametrize(("old", "new"), RIGHT_ORDERS)
def test_what_is_a_small_step_is_proved(read: Read, old: str, new: str) -> None:
    assert scaled(read((old, new))).verdict is Verdict.PROVED


def test_noise_as_small_as_the_gradients_is_named(read: Read) -> None:
    found = scaled(read(("N(0, 2*eps*C)", "N(0, 2*eps*C) + N(0, eps**2*C)")))
    assert isinstance(found.decision, Proved)
    assert found.decision.data == (("the noise N(0, eps**2*C) of r", "covariance O(eps**2)"),)


OPEN = [
    ("r - eps*grad_tilde(U, theta) - eps*C @ inv(M) @ r + N(0, 2*eps*C)", "N(0, M)", "drawn anew"),
    ("theta + eps*inv(M) @ next(r)", "theta + log(1 + eps)*inv(M) @ r", "stands in a function"),
    ("+ N(0, 2*eps*C)", "+ N(0, eps*C)*(N(0, C).T @ r)", "is of order eps**(1/2)"),
]


@pytest.mark.parametrize(("old", "new", "words"), OPEN)
def test_what_is_not_looked_at_is_undecided(read: Read, old: str, new: str, words: str) -> None:
    found = scaled(read((old, new))).decision
    assert isinstance(found, Undecided)
    assert any(words in reason for reason in found.tried)


@pytest.mark.parametrize("path", UPDATES, ids=lambda path: path.stem)
def test_no_other_slip_is_taken_for_one_of_scale(path: Path) -> None:
    dynamics = load_dynamics(path)
    verdict = step_scale(subject_of(dynamics)).verdict
    slips = ("no_step", "squared_between", "squared_order", "decay_fixed", "decay_with_force")
    assert (verdict is Verdict.REFUTED) == path.stem.endswith(slips)
