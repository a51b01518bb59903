"""What the docstring of an emitted module says; whatever a title says, the module behind it is the same."""

import ast
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build

pytestmark = pytest.mark.usefixtures("without_reading_back")

SPECS = Path(__file__).parents[2] / "specs"


def behind_the_docstring(folder: Path, title: str) -> str:
    dynamics = (SPECS / "dynamics" / "sgld.yaml").read_text()
    lines = [line for line in dynamics.splitlines() if not line.startswith("title:")]
    written = title.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    (folder / "sgld.yaml").write_text(f'title: "{written}"\n' + "\n".join(lines) + "\n")
    build = (SPECS / "builds" / "sgld_gaussian.yaml").read_text()
    build = build.replace("../dynamics/sgld.yaml", "sgld.yaml").replace("../targets", f"{SPECS}/targets")
    (folder / "build.yaml").write_text(build)
    found = load_build(folder / "build.yaml")
    tree = ast.parse(compile_build(found).file)
    assert isinstance(ast.get_docstring(tree), str)
    digest = next(node for node in tree.body if isinstance(node, ast.Assign) and "SPEC_DIGEST" in ast.unparse(node))
    return ast.dump(ast.Module([node for node in tree.body[1:] if node is not digest], []))


@pytest.mark.slow
@pytest.mark.parametrize(
    "title",
    [
        'ok"""\nimport os; os.system("touch CANARY")\n"""',
        "ok\r\nimport os #",
        "a \\N{BULLET} \\x41 back\\slash\\",
        '""""""',
    ],
)
def test_a_title_stays_in_the_docstring(tmp_path: Path, title: str) -> None:
    assert behind_the_docstring(tmp_path, title) == behind_the_docstring(tmp_path, "plain")


@pytest.mark.parametrize(
    ("parameter", "friction", "said"), [("C", "C_ = 2*I", "D[r,r] = 2 delta[i,j]"), ("c", "C = 2*I", "D[r,r] = C")]
)
def test_formulas_are_as_written_unless_names_of_the_dynamics_had_to_change(
    tmp_path: Path, parameter: str, friction: str, said: str
) -> None:
    (tmp_path / "target.yaml").write_text(
        f"name: normal\nstate: {{x: {{shape: p}}}}\nparameters: {{{parameter}: {{is: positive}}}}\n"
        f"potential: {parameter}*norm2(x)/2\n"
    )
    (tmp_path / "build.yaml").write_text(
        f"name: own\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: target.yaml\nbind: {{M: 3*I, C: 2*I}}\n"
        f"parameters: {{{parameter}: {{value: 3}}}}\nscheme: {{name: sequential_euler, order: [r, theta]}}\n"
        "variant: full\nsizes: {p: 2}\nrun: {step_size: 0.01}\n"
    )
    file = compile_build(load_build(tmp_path / "build.yaml")).file
    lines = {line.strip() for line in (ast.get_docstring(ast.parse(file)) or "").splitlines()}
    assert {f"U = {parameter}*norm2(x)/2", friction, said} <= lines
    assert ("H = U(theta) + r.T @ inv(M) @ r / 2" in lines) == (friction[1] == " ")
