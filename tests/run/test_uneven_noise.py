"""A D that depends on the state has no forecast: friction follows D, which a linear step leaves out."""

import pytest
from answers import document
from some import some

from recipe_compiler.derive.recipe import derive
from recipe_compiler.program.atoms import noise_is_steady
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

EULER, IN_TURN = "{name: euler}", "{name: sequential_euler, order: [r, theta]}"
THERMOSTAT = """state: {theta: {shape: d}, r: {shape: d}, xi: {}}
parameters: {A: {is: positive}}
functions: {U: {of: theta, role: potential}, c: {of: theta, is: positive}}
H: U(theta) + r.T @ r/2 + d*(xi - A)**2/2
D: [[0, 0, 0], [0, A*c(theta)*I, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, 0, c(theta)*r/d], [0, -c(theta)*r.T/d, 0]]
"""
FRICTION = """state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}, c: {of: theta, is: positive}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, c(theta)*I]]
Q: [[0, -I], [I, 0]]
"""
UNEVEN = {
    "sgrld": ("sgrld", "{G_inverse: (1 + norm2(theta))*I}", EULER),
    "gsgrhmc": ("gsgrhmc", '{K: "sqrt(1 + norm2(theta)/4)*I"}', IN_TURN),
    "friction": ("friction.yaml", '{c: "1 + norm2(theta)"}', IN_TURN),
    "friction in a word": ("friction.yaml", '{c: "1 + norm2(theta)"}', "{name: baoab}"),
    "thermostat": ("thermostat.yaml", '{c: "1 + norm2(theta)"}', "{name: sequential_euler, order: [r, theta, xi]}"),
}
EVEN = {
    "sgrld": ("sgrld", "{G_inverse: 2*I}", EULER),
    "gsgrhmc": ("gsgrhmc", "{K: 2*I}", IN_TURN),
    "friction": ("friction.yaml", "{c: 2}", IN_TURN),
    "thermostat": ("thermostat.yaml", "{c: 1}", "{name: sequential_euler, order: [r, theta, xi]}"),
}
NOISES = {"all data": "full", "minibatch": "minibatch", "V stated": 'minibatch\ngradient_noise: {V: "I/50"}'}


@pytest.mark.parametrize("noise", some(NOISES, 2))
@pytest.mark.parametrize(
    ("stated", "steady"), [*((one, False) for one in UNEVEN.values()), *((one, True) for one in EVEN.values())],
    ids=[*UNEVEN, *(f"constant {name}" for name in EVEN)],
)  # fmt: skip
def test_there_is_a_forecast_where_what_is_drawn_is_the_same_everywhere(
    stated: tuple[str, str, str], noise: str, *, steady: bool
) -> None:
    dynamics, bound, scheme = stated
    if scheme == "{name: baoab}" and noise == "V stated":
        return  # words draw by D alone
    build = document(
        f"dynamics: {dynamics}\ntarget: linear_regression\nbind: {bound}\nscheme: {scheme}\nvariant: {NOISES[noise]}\n"
        "sizes: {d: 3}\ndata: {file: SPECS/data/linear_regression.csv, x: [a, b, c], y: y}\n"
        f"parameters: {{noise_variance: {{value: 1/2}}{', A: {value: 2}' if 'thermostat' in dynamics else ''}}}\n"
        f"run: {{step_size: 0.001{'' if noise == 'all data' else ', batch_size: 9'}}}\n",
        thermostat=THERMOSTAT, friction=FRICTION,
    )  # fmt: skip
    assert noise_is_steady(discretise(build, derive(bind(build), stated=True))) == steady
