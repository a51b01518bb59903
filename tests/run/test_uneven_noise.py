"""A D that depends on the state has no forecast: friction follows D, which a linear step leaves out."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

import recipe_compiler as rc
from recipe_compiler.derive.recipe import derive
from recipe_compiler.program.atoms import noise_is_steady
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

SPECS = Path(__file__).parents[2] / "specs"
EULER, IN_TURN = "{name: euler}", "{name: sequential_euler, order: [r, theta]}"
THERMOSTAT = """format: 1
name: thermostat
state: {theta: {shape: d}, r: {shape: d}, xi: {}}
parameters: {A: {is: positive}}
functions: {U: {of: theta, role: potential}, c: {of: theta, is: positive}}
H: U(theta) + r.T @ r/2 + d*(xi - A)**2/2
D: [[0, 0, 0], [0, A*c(theta)*I, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, 0, c(theta)*r/d], [0, -c(theta)*r.T/d, 0]]
"""
FRICTION = """format: 1
name: friction
state: {theta: {shape: d}, r: {shape: d}}
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


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("stated", "steady"), [*((one, False) for one in UNEVEN.values()), *((one, True) for one in EVEN.values())],
    ids=[*UNEVEN, *(f"constant {name}" for name in EVEN)],
)  # fmt: skip
def test_there_is_a_forecast_where_what_is_drawn_is_the_same_everywhere(
    stated: tuple[str, str, str], noise: str, tmp_path: Path, *, steady: bool
) -> None:
    (tmp_path / "thermostat.yaml").write_text(THERMOSTAT)
    (tmp_path / "friction.yaml").write_text(FRICTION)
    dynamics, bound, scheme = stated
    of_batch = "" if noise == "all data" else ", batch_size: 9"
    if scheme == "{name: baoab}" and noise == "V stated":
        return  # words draw by D alone
    (tmp_path / "one.yaml").write_text(
        f"format: 1\nname: one\ntarget: {SPECS}/targets/linear_regression.yaml\nsizes: {{d: 3}}\n"
        f"data: {{file: {SPECS}/data/linear_regression.csv, x: [a, b, c], y: y}}\n"
        f"dynamics: {dynamics if '.' in dynamics else f'{SPECS}/dynamics/{dynamics}.yaml'}\nbind: {bound}\n"
        f"parameters: {{noise_variance: {{value: 1/2}}{', A: {value: 2}' if 'thermostat' in dynamics else ''}}}\n"
        f"scheme: {scheme}\nvariant: {NOISES[noise]}\nrun: {{step_size: 0.001{of_batch}}}\n"
    )
    build = load_build(tmp_path / "one.yaml")
    program = discretise(build, derive(bind(build), stated=True))
    assert noise_is_steady(program) == steady


PEAKS = {
    "one": ("theta[0]**2/2", "3/2*sqrt(theta[0]**2/2 + 1/2)", 1.0),
    "two": ("theta[0]**4 - 2*theta[0]**2", "3/2*sqrt(sqrt((theta[0]**4 - 2*theta[0]**2 + 1/2)**2 + 1/100))", 0.832745),
}


@pytest.mark.slow
@pytest.mark.usefixtures("without_reading_back")
@pytest.mark.parametrize("step", [0.01, 0.4])
@pytest.mark.parametrize("peaks", PEAKS)
def test_runs_of_one_and_two_peaks_are_judged_by_their_draws(peaks: str, step: float, tmp_path: Path) -> None:
    """Ma, Chen, Fox 2015, Fig. 2 left: gradient noise of variance 1/4. E theta**2 is known within 3 % (5 errors)."""
    noise = np.random.default_rng(0).normal(size=1000)
    noise *= 0.5 * np.sqrt(10.0) / 1000.0 / (noise - noise.mean()).std()
    potential, inverse_metric, square = PEAKS[peaks]
    (tmp_path / "target.yaml").write_text(
        "format: 1\nname: peaks\nstate: {theta: {shape: 1}}\ndata: {x: {shape: N}}\nassume: [normalisable]\n"
        f"log_prior: -({potential})\nlog_likelihood: -x*theta[0]\n"
    )
    model = rc.compile(
        rc.load(SPECS / "dynamics/gsgrhmc.yaml"), rc.load(tmp_path / "target.yaml"), sizes={"d": 1}, step_size=step,
        bind={"K": f"sqrt({inverse_metric})*I"}, variant="minibatch", batch_size=10,
        scheme={"name": "sequential_euler", "order": ["r", "theta"]},
    )  # fmt: skip
    run = {"thin": max(1, int(1.0 / step)), "draws": 4000, "warmup": 100, "chains": 8, "seed": 1, "progress": False}
    if step > 0.1:
        with pytest.warns(rc.DoubtWarning):
            fit = model.sample({"x": noise - noise.mean()}, **run)
        assert fit.verdict.trust.startswith("trust: no")
        return
    fit = model.sample({"x": noise - noise.mean()}, **run)
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    assert "depends on the state" in fit.attrs["forecast"]
    assert float((fit["posterior"]["theta"] ** 2).mean()) == pytest.approx(square, rel=0.03)
