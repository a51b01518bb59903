"""What is stated of a circle comes back to itself around it, or a point shows that it does not."""

from pathlib import Path

import pytest
from loaders import load_dynamics, load_target

from recipe_compiler.verdict import Refuted, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.periodic import periodic, target_periodic

SCALAR, VECTOR = "{x: {domain: circle}}", "{x: {shape: d, domain: circle}}"
UNIT = '{x: {domain: "circle(0, 1)"}}'

VERDICTS = {
    "cosine": (SCALAR, "a*cos(x)", Verdict.PROVED),
    "multiples": (VECTOR, "sum(cos(3*x)) + sin(x[0] - x[1])", Verdict.PROVED),
    "half the angle": (SCALAR, "-cos(x/2)", Verdict.REFUTED),
    "half the angle in every dimension": (VECTOR, "sum(cos(x/2))", Verdict.REFUTED),
    "square of half the angle": (SCALAR, "sin(x/2)**2", Verdict.PROVED),
    "product of half the angle": (SCALAR, "sin(x/2)*cos(x/2)", Verdict.PROVED),
    "cube of half the angle": (SCALAR, "sin(x/2)**3", Verdict.REFUTED),
    "the angle itself": (SCALAR, "a*x", Verdict.REFUTED),
    "parabola with equal ends": (SCALAR, "x*(2*pi - x)", Verdict.REFUTED),
    "multiple that is no number": (SCALAR, "cos(a*x)", Verdict.REFUTED),
    "other circumference": (UNIT, "cos(2*pi*x)", Verdict.PROVED),
    "angle on another circumference": (UNIT, "cos(x)", Verdict.REFUTED),
    "half the angle on another circumference": (UNIT, "cos(pi*x)", Verdict.REFUTED),
    "square in every dimension": (VECTOR, "sum(sin(x/2)**2)", Verdict.UNDECIDED),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_formulas_on_circles(tmp_path: Path, name: str) -> None:
    state, H, verdict = VERDICTS[name]
    text = f"name: c\nstate: {state}\nparameters: {{a: {{}}}}\nH: {H}\nD: [[0]]\nQ: [[0]]\n"
    (tmp_path / "c.yaml").write_text(text)
    document = load_dynamics(tmp_path / "c.yaml")
    found = periodic(subject_of(document))
    assert found.verdict is verdict
    assert not isinstance(found.decision, Refuted) or "once around x" in found.decision.witness[-1][0]


@pytest.mark.parametrize(("potential", "verdict"), [("-cos(x)", Verdict.PROVED), ("-cos(x/2)", Verdict.REFUTED)])
def test_targets_on_circles(tmp_path: Path, potential: str, verdict: Verdict) -> None:
    (tmp_path / "t.yaml").write_text(f"name: t\nstate: {SCALAR}\npotential: {potential}\n")
    document = load_target(tmp_path / "t.yaml")
    assert target_periodic(document).verdict is verdict


def test_what_is_assumed_of_abstract_functions_is_listed(tmp_path: Path) -> None:
    text = f"name: c\nstate: {SCALAR}\nfunctions: {{U: {{of: x, role: potential}}}}\n"
    (tmp_path / "c.yaml").write_text(text + "H: U(x) + sin(x/2)**2\nD: [[0]]\nQ: [[0]]\n")
    document = load_dynamics(tmp_path / "c.yaml")
    found = periodic(subject_of(document))
    assert found.verdict is Verdict.PROVED
    assert found.decision.given == ("U is periodic in x",)


TORUS = "name: c\nstate: {x: {domain: circle}, y: {domain: circle}}\nH: 0*x\nclaims: {update: {x: 'X', y: 'Y'}}\n"
NOISE = "sqrt(2*eps)*N(0, I)"


@pytest.mark.parametrize(
    ("x", "y", "verdict"),
    [
        (f"x + eps*x + {NOISE}", f"y - eps*y + {NOISE}", Verdict.UNDECIDED),
        (f"x + eps*y + {NOISE}", f"y + {NOISE}", Verdict.UNDECIDED),
        (f"x + eps*next(y) + {NOISE}", f"y + {NOISE}", Verdict.UNDECIDED),
        (f"x + y + {NOISE}", f"y + {NOISE}", Verdict.UNDECIDED),
        (f"x + eps*sin(y) + {NOISE}", f"y + eps*cos(2*x) + {NOISE}", Verdict.PROVED),
        ("-x", "y", Verdict.PROVED),
    ],
)
def test_an_update_moves_by_the_same_one_turn_further(tmp_path: Path, x: str, y: str, verdict: Verdict) -> None:
    """The drift (x, -y) has no divergence, yet it piles up mass where x jumps back by a turn."""
    (tmp_path / "c.yaml").write_text(TORUS.replace("X", x).replace("Y", y))
    document = load_dynamics(tmp_path / "c.yaml")
    assert periodic(subject_of(document)).verdict is verdict
