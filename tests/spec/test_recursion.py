"""`recursion:` of a target: states with `start` and `next`, and what none stands beside."""

from pathlib import Path

from loaders import load_build, load_target

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


def test_a_parameter_of_the_dynamics_makes_room_for_a_state(tmp_path: Path) -> None:
    target = TARGET.replace("sigma2", "C").replace("  total", "  c").replace("total", "c")
    (tmp_path / "garch.yaml").write_text(target)
    (tmp_path / "data.csv").write_text("y\n1\n")
    path = tmp_path / "build.yaml"
    path.write_text(BUILD.replace("sgld", "sghmc").replace("{D: I}", "{M: I, C: I}"))
    build = load_build(path)
    assert {name for name, _ in build.bind} == {"M", "C_"}
