"""Signs and equalities at the points where they change: claims about values hold there, too, or are not proved.

{u = 0} may be half the space (|y| - y = 0), all of it (sin**2 + cos**2 = 1), or one value of a parameter that its kind
allows: a claim is about that one as about any other.
"""

from collections.abc import Callable

import pytest

Said = Callable[[str, str], str]

PLANE = "state: {x: {}, y: {}}\nparameters: {a: {}, b: {}, p: {is: positive}, n: {is: nonzero}}\nH: x**2/2 + y**2/2\n"
NO_Q = "Q: [[0, 0], [0, 0]]\n"

NEGATIVE = [
    "1 - 2*where(sin(a)**2 + cos(a)**2 == 1, 1, 0)",
    "1 - 2*where(abs(a) - a == 0, 1, 0)",
    "1 - 2*where(minimum(a, a) == a, 1, 0)",
    "1 - 2*where(exp(a + b) == exp(a)*exp(b), 1, 0)",
    "1 - 2*where(a**2 - 2*a + 1 == (a - 1)**2, 1, 0)",
    "1 - 2*where(abs(a*b) == abs(a)*abs(b), 1, 0)",
    "where(a == 0, -1, 1)",
    "2*where(a == b, -1, 1) + 1",
    "where(a - b == 0, where(a == 0, -1, 1), 1)",
    "sign(a)**2 - 1/2",
    "sign(a)**2 + sign(b)**2 - 1",
    "sign(a)**4 - sign(b)**2",
    "abs(sign(a)) - 1/2",
    "sign(sign(a))**2 - 1/2",
    "sign(abs(a) - a)**2 - 1/2",
    "1 - 2*(1 - sign(abs(a) - a)**2)",
    "sign(a*b)**2 - sign(a)**2",
    "sign(a)**2*n**2 - sign(n)**2/2",
    "where(a**2 > 0, 1, -1)",
    "where(a >= a, -1, 1)",
    "where(abs(a) >= a, -1, 1)",
    "where(a < b, 1, where(a > b, 1, -1))",
    "maximum(sign(a)**2, 0) - 1/2",
    "minimum(sign(a)**2, sign(b)**2) - 1/3",
    "sqrt(sign(a)**2) - 1/2",
]


@pytest.mark.parametrize("D", NEGATIVE)
def test_a_diffusion_that_is_negative_on_a_kink_is_not_proved(said: Said, D: str) -> None:
    assert said("d_psd", f'{PLANE}D: [["{D}", 0], [0, 1]]\n{NO_Q}') != "proved"


@pytest.mark.parametrize("D", NEGATIVE)
def test_it_is_refuted_in_several_coordinates(said: Said, D: str) -> None:
    text = PLANE.replace("{x: {}, y: {}}", "{x: {shape: 2}}").replace("x**2/2 + y**2/2", "x.T @ x / 2")
    assert said("d_psd", f'{text}D: [["({D})*I"]]\nQ: [[0]]\n') == "refuted"


NONNEGATIVE = [
    "2 - 2*where(sin(a)**2 + cos(a)**2 == 1, 1, 0)",
    "where(a == 0, 0, 1)",
    "1 - where(a == 0, 1, 0)",
    "sign(a)**2",
    "1 - sign(a)**2",
    "sign(n)**2 - 1/2",
    "sign(p) - 1/2",
    "2*where(p > 0, 1, -1) - 1",
    "sign(a)*a",
    "abs(a)*sign(a)**2",
    "where(a > b, a - b, b - a)",
    "sign(a)**2 + where(a == 0, 1, 0) - 1",
]


@pytest.mark.parametrize("D", NONNEGATIVE)
def test_a_diffusion_that_is_nonnegative_on_every_kink_is_not_refuted(said: Said, D: str) -> None:
    assert said("d_psd", f'{PLANE}D: [["{D}", 0], [0, 1]]\n{NO_Q}') != "refuted"


OPPOSITE = [
    ("sign(a)**2", "-sign(a)**2"),
    ("where(a == 0, 1, 2)", "-where(0 == a, 1, 2)"),
    ("where(a > b, 1, 2)", "-where(a <= b, 2, 1)"),
    ("where(a > b, 1, 2)", "-where(b < a, 1, 2)"),
    ("sign(a)**3", "-sign(a)"),
    ("sign(a*b)", "-sign(a)*sign(b)"),
    ("sign(a)*a", "-abs(a)"),
    ("sign(a)**2*a", "-a"),
    ("sign(n)**2", "-1"),
    ("sign(abs(a) + 1)", "-1"),
    ("where(sin(a)**2 + cos(a)**2 == 1, a, b)", "-a"),
    ("abs(x)**2", "-x**2"),
    ("abs(x*y)", "-abs(x)*abs(y)"),
    ("minimum(x, y) + maximum(x, y)", "-x - y"),
    ("sign(a**3*b**2)", "-sign(a)*sign(b)**2"),
    ("sqrt(x**2)", "-abs(x)"),
    ("where(a == b, a, 0)", "-where(a == b, b, 0)"),
]
"""Places (x, y) and (y, x) of a Q that is skew at every point."""

NOT_OPPOSITE = [
    ("where(abs(a) - a == 0, 1, 0)", "0"),
    ("where(a == 0, 1, 0)", "0"),
    ("where(a == 0, 1, 2)", "-2"),
    ("where(a > b, 1, 2)", "-where(a >= b, 1, 2)"),
    ("where(a > b, 1, 2)", "-where(b > a, 2, 1)"),
    ("sign(a)**2", "-1"),
    ("sign(a)**2", "-sign(b)**2"),
    ("sign(a*b)**2", "-sign(a)**2"),
    ("abs(sign(a))", "-1"),
    ("sign(abs(a) - a)", "-sign(b)**2"),
    ("where(sin(a)**2 + cos(a)**2 == 1, a, b)", "-b"),
    ("where(minimum(a, a) == a, 1, 0)", "0"),
    ("where(exp(a + b) == exp(a)*exp(b), 1, 2)", "-2"),
    ("sign(a)*sign(b)", "-sign(a)*sign(b)*sign(p - 1)**2"),
    ("abs(a + b)", "-a - b"),
    ("sqrt(p*a**2)*sign(a)**2", "-sqrt(p)*a"),
]


@pytest.mark.parametrize(("up", "low"), OPPOSITE)
def test_a_q_that_is_skew_at_every_point_is_proved(said: Said, up: str, low: str) -> None:
    assert said("q_skew", f'{PLANE}D: [[1, 0], [0, 1]]\nQ: [[0, "{up}"], ["{low}", 0]]\n') == "proved"


@pytest.mark.parametrize(("up", "low"), NOT_OPPOSITE)
def test_a_q_that_is_skew_off_a_kink_only_is_refuted(said: Said, up: str, low: str) -> None:
    assert said("q_skew", f'{PLANE}D: [[1, 0], [0, 1]]\nQ: [[0, "{up}"], ["{low}", 0]]\n') == "refuted"


@pytest.mark.parametrize(("up", "low"), NOT_OPPOSITE)
def test_nor_is_such_a_diffusion_symmetric(said: Said, up: str, low: str) -> None:
    assert said("d_symmetric", f'{PLANE}D: [[9, "{up}"], ["-({low})", 9]]\n{NO_Q}') == "refuted"


def test_half_the_space_is_no_null_set(said: Said) -> None:
    text = f'{PLANE}D: [[1, 0], [0, 1]]\nQ: [[0, "maximum(abs(x) - x, 0)"], [0, 0]]\n'
    assert said("q_skew", text) == "refuted"


ENERGIES = [
    "x**2/2 - where(a == 0, 1, 0)*x**2",
    "sign(a)**2*x**2",
    "x**2*(1 - 2*where(sin(a)**2 + cos(a)**2 == 1, 1, 0))",
    "abs(sign(a))*x**2",
    "x**4 - 2*where(a == a, 1, 0)*x**4",
    "where(abs(a) == a, -1, 1)*x**2",
    "where(a > b, 1, where(a < b, 1, -1))*x**2",
    "x**2 - (1 - sign(a)**2)*x**4",
]


@pytest.mark.parametrize("H", ENERGIES)
def test_an_energy_that_confines_for_almost_all_parameters_is_not_proved(said: Said, H: str) -> None:
    text = f'state: {{x: {{}}}}\nparameters: {{a: {{}}, b: {{}}}}\nH: "{H}"\nD: [[1]]\nQ: [[0]]\n'
    assert said("normalisable", text) != "proved"
    assert said("normalisable", text.replace("H: ", "assume: ['a >= 0']\nH: ")) != "proved"


@pytest.mark.parametrize(
    "H", ["x**2*where(a == 0, 1, 2)", "where(sin(a)**2 + cos(a)**2 == 1, x**2/2, -x**4)", "x**2 + sign(a)*x"]
)
def test_an_energy_that_confines_for_all_parameters_is_not_refuted(said: Said, H: str) -> None:
    text = f'state: {{x: {{}}}}\nparameters: {{a: {{}}}}\nH: "{H}"\nD: [[1]]\nQ: [[0]]\n'
    for claim in ("normalisable", "stationary", "d_psd", "q_skew"):
        assert said(claim, text) != "refuted"
