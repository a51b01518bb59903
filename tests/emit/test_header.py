"""A title is data: whatever it says, the emitted module has the same syntax tree behind its docstring."""

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
