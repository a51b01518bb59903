"""Textbook models whose gradients hold digamma are compiled and read back; what no step can compute has its place."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.errors import ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
POSITIVE = "{shape: scalar, domain: positive, transform: log}"
MODELS = {
    "negative binomial": (
        f"a: {{shape: scalar}}, s: {POSITIVE}", "-a**2/20 - s",
        "loggamma(y + s) - loggamma(s) - loggamma(y + 1) + s*log(s) + y*a*x - (y + s)*log(s + exp(a*x))",
    ),
    "beta": (
        f"a: {POSITIVE}, b: {POSITIVE}", "-a - b",
        "loggamma(a + b) - loggamma(a) - loggamma(b) + (a - 1)*log(x/9) + (b - 1)*log(1 - x/9)",
    ),
    "gamma of unknown shape": (
        f"k: {POSITIVE}, r: {POSITIVE}", "-k - r", "k*log(r) - loggamma(k) + (k - 1)*log(y) - r*y"
    ),
    "Student's t of unknown nu": (
        f"m: {{shape: scalar}}, s: {POSITIVE}, nu: {POSITIVE}", "-m**2/20 - s - nu/10",
        "loggamma((nu + 1)/2) - loggamma(nu/2) - log(nu*pi)/2 - log(s) - (nu + 1)/2*log1p((y - m)**2/(nu*s**2))",
    ),
    "a datum of no data": ("m: {shape: scalar}", "-m**2/2", "-digamma(1 + m**2)"),
}  # fmt: skip


def build_of(folder: Path, state: str, prior: str, likelihood: str) -> Build:
    target = "format: 1\nname: model\ntitle: A model\ndata: {x: {shape: N}, y: {shape: N}}\n"
    target += f"state: {{{state}}}\nlog_prior: {prior}\nlog_likelihood: {likelihood}\n"
    (folder / "model.yaml").write_text(target, encoding="utf-8")
    (folder / "data.csv").write_text("x,y\n1,2\n2,3\n3,5\n", encoding="utf-8")
    text = f"""format: 1
name: sghmc_model
title: SGHMC of a model
dynamics: {SPECS}/dynamics/sghmc.yaml
target: model.yaml
bind: {{M: I, C: I}}
scheme: {{name: sequential_euler, order: [r, theta]}}
variant: full
data: {{file: data.csv, x: x, y: y}}
run: {{step_size: 0.01, draws: 10}}
"""
    (folder / "build.yaml").write_text(text, encoding="utf-8")
    return load_build(folder / "build.yaml")


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
@pytest.mark.parametrize("name", MODELS)
def test_a_textbook_model_is_compiled_and_read_back(name: str, tmp_path: Path) -> None:
    text = compile_build(build_of(tmp_path, *MODELS[name]), allow_undecided=True).text
    assert ("def _digamma(" in text) == ("gamma" in MODELS[name][2])  # U is in it, too
    assert ("def _trigamma(" in text) == ("digamma" in MODELS[name][2])


REFUSED = {
    "a number beyond doubles": (
        ("m: {shape: scalar}", "-m**2/2", "-1e400*(m - y)**2"),
        ("build.yaml", 4, "a number of 401 digits"),
    ),
    "a derivative that the calculus does not know": (
        ("m: {shape: scalar}", "-m**2/2", "-trigamma(1 + m**2)*y"),
        ("model.yaml", 7, "the derivative of trigamma"),
    ),
    "an inverse in every step": (
        ("m: {shape: 2}", "-norm2(m)/2", "-y*(m.T @ inv(m @ m.T - I) @ m)"),
        ("build.yaml", 5, "the inverse of a matrix that depends on the state"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_emitted_has_file_line_and_place(name: str, tmp_path: Path) -> None:
    model, (file, line, problem) = REFUSED[name]
    with pytest.raises(ModelError, match=problem) as raised:
        compile_build(build_of(tmp_path, *model), allow_undecided=True)
    where = raised.value.faults[0].where
    assert (Path(where.file).name, where.line) == (file, line)
    assert where.column
