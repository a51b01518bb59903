"""A word as readers see it."""

from pathlib import Path

from typer.testing import CliRunner

from recipe_compiler.cli import app

ROOT = Path(__file__).parents[2]
TEXT = """pieces    A   d theta = r dt   (shift)
          B   d r = -grad(U, theta) dt   (shift)
          O   d r = -xi*r dt + sqrt(2*A) dW_r   (Ornstein-Uhlenbeck, entry by entry)
          xi  d xi = (r.T @ r/d - 1) dt   (shift)

word      [B/2, A/2, xi/2, O, xi/2, A/2, B/2]
          weak order 2, a palindrome; noise in O
"""


def test_derive_prints_the_pieces_of_a_build_with_their_flows_and_the_word(tmp_path: Path) -> None:
    text = (ROOT / "specs/builds/sgnht_gaussian.yaml").read_text(encoding="utf-8")
    scheme = next(line for line in text.splitlines() if line.startswith("scheme:"))
    build = tmp_path / "build.yaml"
    build.write_text(text.replace("../", f"{ROOT}/specs/").replace(scheme, "scheme: {name: badodab}"), encoding="utf-8")
    plain = CliRunner().invoke(app, ["derive", str(build)])
    assert plain.exit_code == 0, plain.output
    assert plain.output.endswith(TEXT)
    latex = CliRunner().invoke(app, ["derive", "--latex", str(build)])
    assert latex.output.count(r"\begin{align*}") == 2
    assert r"\text{O, Ornstein-Uhlenbeck, entry by entry}" in latex.output
