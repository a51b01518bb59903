"""How minibatches are drawn, what is estimated, how steps fall: keys of a build, and what does not fit together."""

from pathlib import Path

from recipe_compiler.formula.expression import Apply, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.spec.model import Control, Schedule

LOGISTIC = "builds/sghmc_logistic"
VARIANT = "variant: minibatch"
STANDARD = "standardise: [x]"


def minibatch(text: str) -> tuple[str, str]:
    return VARIANT, f"{VARIANT}\nminibatch: {{{text}}}"


def data(text: str) -> tuple[str, str]:
    return STANDARD, f"{STANDARD}\n  {text}"


def run(text: str) -> tuple[str, str]:
    return "seed: 1}", f"seed: 1, {text}}}"


def test_a_schedule_is_constant_unless_it_is_stated(load_spoiled) -> None:
    assert load_spoiled(LOGISTIC).run.schedule == Schedule("constant")
    power = load_spoiled(LOGISTIC, run("schedule: {name: power, b: 100, c: 0.55}")).run
    assert (power.step_size, power.schedule) == (0.02, Schedule("power", b=100.0, c=0.55))
    assert load_spoiled(LOGISTIC, run("schedule: {name: cyclic, period: 500}")).run.schedule.period == 500


def test_blocks_are_of_data_in_random_order(load_spoiled, refused) -> None:
    build = load_spoiled(LOGISTIC, minibatch("blocks: contiguous"), data("shuffle: 7"))
    assert (build.contiguous, build.replacement, build.data.shuffle) == (True, False, 7)
    assert load_spoiled(LOGISTIC, minibatch("blocks: contiguous"), data("shuffled: true")).data.shuffled
    (fault,) = refused(LOGISTIC, minibatch("blocks: contiguous"))
    assert "whose order is not known to be random" in fault.problem
    assert "shuffle: SEED" in fault.hint
    (fault,) = refused(LOGISTIC, minibatch("blocks: contiguous, replacement: true"), data("shuffle: 7"))
    assert "beside `replacement: true`" in fault.problem
    (fault,) = refused(LOGISTIC, data("shuffle: 7\n  shuffled: true"))
    assert "expected one of the two" in fault.problem


def test_an_estimated_v_is_a_parameter(load_spoiled) -> None:
    build = load_spoiled(LOGISTIC, ("V: 0", "V: estimate"))
    V = next(parameter for parameter in build.parameters if parameter.name == "V_hat")
    assert (build.estimated, V.shape, V.kinds) == ("V_hat", Shape("d", "d"), (Kind.PSD,))
    assert isinstance(build.V, Symbol)
    build = load_spoiled(LOGISTIC, ("{V: 0}", "{V: estimate, form: diagonal}"))
    V = next(parameter for parameter in build.parameters if parameter.name == "V_hat")
    assert (V.shape, V.kinds) == (Shape("d"), (Kind.NONNEGATIVE,))
    assert isinstance(build.V, Apply)
    assert build.V.fn == "diag"


def test_names_of_estimates_stay_clear_of_declared_ones(load_spoiled) -> None:
    spoiled = (("V: 0", "V: estimate"), ("c: {is: nonnegative, value: 2}", "c: {value: 2}\n  V_hat: {value: 1}"))
    assert load_spoiled(LOGISTIC, *spoiled).estimated == "V_hat_"


def test_a_declared_name_wins_over_the_word_estimate(load_spoiled) -> None:
    declared = ("c: {is: nonnegative, value: 2}", "c: {is: nonnegative, value: 2}\n  estimate: {value: 1}")
    build = load_spoiled(LOGISTIC, ("V: 0", "V: estimate*I"), declared)
    assert build.estimated is None


def test_control_variates_are_two_parameters(load_spoiled) -> None:
    build = load_spoiled(LOGISTIC, minibatch("control_variates: mode"))
    assert build.control == (Control("theta_mode", "grad_U_mode"),)
    assert [p.shape for p in build.parameters if p.name in build.estimates] == [Shape("d"), Shape("d")]


SEVERAL = """
name: several
dynamics: {specs}/dynamics/sgld.yaml
target: own.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: minibatch
minibatch: {{control_variates: mode}}
data: {{file: data.csv, y: y}}
run: {{step_size: 0.1, batch_size: 4}}
"""


def test_control_variates_of_several_blocks_are_two_parameters_of_each(load_text, specs, tmp_path: Path) -> None:
    own = "{name: own, state: {a: {}, grad_U_a: {}, a_mode: {shape: 3}}, data: {y: {shape: N}}, log_prior: 0,\n"
    (tmp_path / "own.yaml").write_text(f"{own} log_likelihood: -(y - a - grad_U_a)**2 - norm2(a_mode)}}")
    build = load_text(SEVERAL.format(specs=specs))
    names = [(own.mode, own.at_mode) for own in build.control]
    assert names == [
        ("a_mode_", "grad_U_a_mode"), ("grad_U_a_mode_", "grad_U_grad_U_a_mode"), ("a_mode_mode", "grad_U_a_mode_mode"),
    ]  # fmt: skip
    shapes = {parameter.name: parameter.shape for parameter in build.parameters}
    assert [shapes[mode] for mode, _ in names] == [SCALAR, SCALAR, Shape(3)]


def test_arrays_take_the_place_of_columns(load_text, specs) -> None:
    build = load_text(
        f"""
name: arrays
dynamics: {specs}/dynamics/sgld.yaml
target: {specs}/targets/logistic_regression.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: minibatch
data: {{arrays: {{y: y.npy, x: big/x.npy}}, dtype: float32}}
run: {{step_size: 0.1, batch_size: 4}}
"""
    )
    assert [(name, path.name) for name, path in build.data.arrays] == [("x", "x.npy"), ("y", "y.npy")]
    assert build.data.dtype == "float32"
