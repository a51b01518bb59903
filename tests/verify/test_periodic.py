"""What is stated of a circle comes back to itself around it, or a point shows that it does not."""

import pytest
from answers import answer, document, expect

SCALAR, VECTOR = "{x: {domain: circle}}", "{x: {shape: d, domain: circle}}"
UNIT = '{x: {domain: "circle(0, 1)"}}'
TORUS = "state: {x: {domain: circle}, y: {domain: circle}}\nH: 0*x\n"
NOISE = "sqrt(2*eps)*N(0, I)"


def energy(state, H, D="0"):
    return f"state: {state}\nparameters: {{a: {{}}}}\nH: {H}\nD: [['{D}']]\nQ: [[0]]\n"


def update(x, y):
    return f"{TORUS}claims: {{update: {{x: '{x}', y: '{y}'}}}}\n"


CASES = {
    "cosine": (energy(SCALAR, "a*cos(x)"), "proved"),
    "exponential of a cosine": (energy(SCALAR, "exp(cos(2*x - x))"), "proved"),
    "multiples": (energy(VECTOR, "sum(cos(3*x)) + sin(x[0] - x[1])"), "proved"),
    "square of multiples, moved": (energy(SCALAR, "sin(3*x + a)**2"), "proved"),
    "half the angle": (energy(SCALAR, "-cos(x/2)"), "refuted"),
    "half the angle in every dimension": (energy(VECTOR, "sum(cos(x/2))"), "refuted"),
    "square of half the angle": (energy(SCALAR, "sin(x/2)**2"), "proved"),
    "product of half the angle": (energy(SCALAR, "sin(x/2)*cos(x/2)"), "proved"),
    "cube of half the angle": (energy(SCALAR, "sin(x/2)**3"), "refuted"),
    "the angle itself": (energy(SCALAR, "a*x"), "refuted"),
    "the angle beside a cosine": (energy(SCALAR, "cos(x) + x"), "not proved"),
    "cosine of the square": (energy(SCALAR, "cos(x**2)"), "not proved"),
    "parabola with equal ends": (energy(SCALAR, "x*(2*pi - x)"), "refuted"),
    "multiple that is no number": (energy(SCALAR, "cos(a*x)"), "refuted"),
    "other circumference": (energy(UNIT, "cos(2*pi*x)"), "proved"),
    "angle on another circumference": (energy(UNIT, "cos(x)"), "refuted"),
    "half the angle on another circumference": (energy(UNIT, "cos(pi*x)"), "refuted"),
    "square in every dimension": (energy(VECTOR, "sum(sin(x/2)**2)"), "undecided"),
    "diffusion": (energy(SCALAR, "cos(x)", "1 + sin(x)**2"), "proved"),
    "diffusion that is not": (energy(SCALAR, "cos(x)", "1 + x**2"), "refuted"),
    "target": (f"name: t\nstate: {SCALAR}\npotential: -cos(x)\n", "proved"),
    "target of half the angle": (f"name: t\nstate: {SCALAR}\npotential: -cos(x/2)\n", "refuted"),
    "target of the angle": (f"name: t\nstate: {SCALAR}\npotential: x/2\n", "refuted"),
    # an update moves by the same one turn further: the drift (x, -y) has no divergence, yet mass piles up at the jump
    "update by the angles": (update(f"x + eps*x + {NOISE}", f"y - eps*y + {NOISE}"), "undecided"),
    "update by the other angle": (update(f"x + eps*y + {NOISE}", f"y + {NOISE}"), "undecided"),
    "update by the new angle": (update(f"x + eps*next(y) + {NOISE}", f"y + {NOISE}"), "undecided"),
    "update by a sum of angles": (update(f"x + y + {NOISE}", f"y + {NOISE}"), "undecided"),
    "update by sines": (update(f"x + eps*sin(y) + {NOISE}", f"y + eps*cos(2*x) + {NOISE}"), "proved"),
    "reflection": (update("-x", "y"), "proved"),
}


@pytest.mark.parametrize("name", CASES)
def test_formulas_on_circles(name):
    text, verdict = CASES[name]
    found = answer(document(text), "periodic")
    shown = expect(found, verdict)
    assert verdict != "refuted" or "once around x" in [*shown][-1]


def test_what_is_assumed_of_abstract_functions_is_listed():
    text = energy(SCALAR, "U(x) + sin(x/2)**2").replace(
        "parameters", "functions: {U: {of: x, role: potential}}\nparameters"
    )
    found = answer(document(text), "periodic")
    expect(found, "proved")
    assert found.decision.given == ("U is periodic in x",)
