"""`recursion:` of a target: states with `start` and `next`, and what none stands beside."""

from pathlib import Path

import pytest
from loaders import load_build, load_target

from recipe_compiler.errors import RecipeError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.formula.show import text

SPECS = Path(__file__).parents[2] / "specs"
TARGET = """
name: garch
state: {mu: {}, omega: {constraint: positive}}
data: {y: {shape: N}}
let: {excess: y - mu}
recursion:
  sigma2: {is: positive, start: omega, next: omega + excess**2/4 + sigma2/2}
  total: {shape: 2, next: "[total[1], excess/sigma2]", start: "0"}
log_likelihood: normal(y, mu, sqrt(sigma2)) - norm2(total)
"""


def written(folder: Path, old: str = "", new: str = "") -> Path:
    assert old in TARGET
    path = folder / "garch.yaml"
    path.write_text(TARGET.replace(old, new))
    return path


def test_states_are_read_in_their_order_and_in_what_is_sampled(tmp_path: Path) -> None:
    target = load_target(written(tmp_path))
    first, second = target.recursion
    assert (first.block.name, first.block.domain.name) == ("sigma2", DomainName.POSITIVE)
    assert text(first.start) == "exp(log_omega)"
    assert text(first.next) == "exp(log_omega) + (y - mu)**2/4 + sigma2/2"
    assert second.block.shape.rows == 2
    assert target.declared is not None
    assert text(target.declared.recursion[0].start) == "omega"
    assert [block.name for block in target.declarations.blocks] == ["mu", "log_omega"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("start: omega,", "start: y,", "found the data `y` in the start of sigma2"),
        ("start: omega,", "start: sigma2,", "'sigma2' is not declared"),
        ("start: omega,", "start: '[1, 2]',", "expected a scalar"),
        ("omega: {constraint", "sigma2: {constraint", "declared already"),
        ("  sigma2: {", "  N: {", "declared already"),
        ("shape: 2,", "shape: K,", "found the size K of a state"),
        ("shape: 2,", "shape: [2, 2],", "expected a number or a column"),
        ("is: positive", "is: nonzero", "expected one of real, positive"),
        (" - norm2(total)", "", "found the state total, which nothing reads"),
        ("let: {excess", "log_prior: -sigma2\nlet: {excess", "'sigma2' is not declared"),
        ("{y: {shape: N}}", "{y: {shape: N}, g: {shape: N, index_of: J}}", "found the index field g"),
        ("let:", 'laws: {mu: "N(0, 1)"}\nlet:', "found laws beside a recursion"),
        ("log_likelihood: ", "potential: mu**2\nlog_likelihood: ", "found `recursion` beside `potential`"),
        ("log_likelihood: normal(y, mu, sqrt(sigma2)) - norm2(total)", "", "recursion without `log_likelihood`"),
    ],
)
def test_what_a_recursion_does_not_stand_beside_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says.replace("[", r"\[")):
        load_target(written(tmp_path, old, new))


BUILD = f"""
name: garch_sgld
dynamics: {SPECS}/dynamics/sgld.yaml
target: garch.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: full
data: {{file: data.csv, y: y}}
run: {{step_size: 0.01}}
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("full", "minibatch", "found minibatch for a target with the recursion of sigma2, total, expected full"),
        ("step_size: 0.01", "step_size: 0.01, batch_size: 2", "found a batch size, expected none"),
        ("data.csv,", "data.csv, shuffle: 1,", "expected the rows in their order"),
        ("step_size: 0.01", "step_size: 0.01, lanes: true", "every step reads data"),
        ("variant: full", "variant: full\ngradient_noise: {V: estimate}", "full gradient"),
    ],
)
def test_rows_are_neither_left_out_nor_moved(tmp_path: Path, old: str, new: str, says: str) -> None:
    written(tmp_path)
    (tmp_path / "data.csv").write_text("y\n1\n2\n3\n")
    path = tmp_path / "build.yaml"
    path.write_text(BUILD)
    assert load_build(path).target.recursion
    path.write_text(BUILD.replace(old, new))
    with pytest.raises(RecipeError, match=says):
        load_build(path)


def test_a_parameter_of_the_dynamics_makes_room_for_a_state(tmp_path: Path) -> None:
    target = TARGET.replace("sigma2", "C").replace("  total", "  c").replace("total", "c")
    (tmp_path / "garch.yaml").write_text(target)
    (tmp_path / "data.csv").write_text("y\n1\n")
    path = tmp_path / "build.yaml"
    path.write_text(BUILD.replace("sgld", "sghmc").replace("{D: I}", "{M: I, C: I}"))
    build = load_build(path)
    assert {name for name, _ in build.bind} == {"M", "C_"}
