"""Builds whose cycles draw blocks of the target by their laws: alone, and among moves of Hamiltonian dynamics."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from loaders import load_build

from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
DOCUMENT = """
format: 1
name: {name}
dynamics: {dynamics}
target: {target}
{values}
scheme: {{cycle: {cycle}}}
variant: full
{rest}run: {{step_size: 1/8, draws: 400, warmup: 10, chains: 2, seed: 1}}
"""
DATA = {
    "regression_precision": f"sizes: {{p: 2}}\n"
    f"data: {{file: {ROOT}/specs/data/linear_regression.csv, x: [a, b], y: y}}",
    "normal_mean_precision": f"data: {{file: {ROOT}/specs/data/normal_sample.csv, y: y}}",
}
MASS = "bind: {M: mass*I}\nparameters: {mass: {is: positive, value: 2}}\n"
WORD = "{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 3, flip: {r: -r}}}"
GIBBS = {
    "gibbs_regression": ("regression_precision", "[draw: beta, draw: tau]"),
    "gibbs_normal": ("normal_mean_precision", "[draw: mu, draw: tau]"),
    "twice": ("regression_precision", "[draw: tau, draw: beta, draw: tau]"),
    "hmc_first": ("regression_precision", f"[{WORD}, {{draw: tau}}]"),
    "hmc_between": ("regression_precision", f"[{{draw: beta}}, {WORD}, {{draw: tau}}]"),
    "steps": ("normal_mean_precision", "[{draw: tau}, {split: [B/2, A, B/2], steps: 2}, {refresh: r}]"),
}
"""Target and cycle of every build."""


def draws_build(name: str, target: str = "", cycle: str = "", values: str = "", rest: str = "") -> Build:
    """Return a build of `GIBBS`, or one of another target, whose document `target` is, by its cycle."""
    known, moves = GIBBS.get(name, ("", cycle))
    return _build(name, target or f"{ROOT}/specs/targets/{known}.yaml", moves, values or DATA.get(known, ""), rest)


@cache
def _build(name: str, target: str, cycle: str, values: str, rest: str) -> Build:
    with TemporaryDirectory() as folder:
        path = Path(folder)
        if target.lstrip().startswith("format"):
            (path / "target.yaml").write_text(target, encoding="utf-8")
            target = "target.yaml"
        moves = "split" in cycle
        dynamics = f"{ROOT}/specs/dynamics/{'hmc' if moves else 'still'}.yaml"
        text = DOCUMENT.format(
            name=name, dynamics=dynamics, target=target, values=(MASS if moves else "") + values, cycle=cycle, rest=rest
        )
        (path / "build.yaml").write_text(text, encoding="utf-8")
        return load_build(path / "build.yaml")
