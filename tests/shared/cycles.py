"""Builds whose step is a cycle of moves, and the texts that a compilation makes of them and reads back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from answers import ROOT, written
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module, renames
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.readback.child_process import Reading
from recipe_compiler.readback.readback import equation_readings, readings, shipped_readings
from recipe_compiler.scheme.discretise import discretise, pinned_sizes, small_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

DOCUMENT = f"""
format: 1
name: {{name}}
dynamics: {ROOT}/specs/dynamics/hmc.yaml
target: {ROOT}/specs/targets/{{target}}.yaml
{{values}}
scheme: {{scheme}}
variant: full
run: {{{{step_size: {{eps}}, draws: 4000, warmup: 200, chains: 4, seed: 1}}}}
"""
MASS = "M: {value: [[2, 1/2, 0], [1/2, 1, 1/4], [0, 1/4, 3/2]]}"
VALUES = {
    "double_well": "bind: {M: m*I}\nparameters: {m: {is: positive, value: 1}}\nsizes: {d: 1}",
    "gaussian": f"parameters: {{mu: {{value: [1, -2, 1/2]}}, {MASS}, "
    "Sigma: {value: [[2, 1/2, 1/3], [1/2, 1, -1/4], [1/3, -1/4, 3/2]]}}\nsizes: {d: 3}",
    "logistic_regression": "bind: {M: m*I}\nparameters: {m: {is: positive, value: 2}}\nsizes: {d: 3}\n"
    f"data: {{file: {ROOT}/specs/data/breast_cancer.csv, x: [mean_radius, mean_texture, mean_area], y: diagnosis, "
    "standardise: [x]}",
    "eight_schools": "bind: {M: m*I}\nparameters: {m: {is: positive, value: 2}}\nsizes: {J: 8}\n"
    f"data: {{file: {ROOT}/specs/data/eight_schools.csv, y: effect, w: weight, z: school, indicator: [z]}}",
}
"""What a build says about a target beside its scheme; the matrices of the Gaussian do not commute."""
LEAPFROG = "split: [B/2, A, B/2]"
FLIP = "flip: {r: -r}"
SCALED = '{involution: {theta: theta*exp(w), w: -w}, draws: {w: "N(1/2, 9/16)"}}'
WALK = '{involution: {theta: theta + w, w: -w}, draws: {w: {shape: d, law: "N(0, 1/25*I)"}}}'
TURNED = (
    '{involution: {theta: theta + w, w: -w, r: -r}, draws: {w: {shape: d, law: "N(-theta/4 + r/3, 2*I)"}}}, '
    '{involution: {theta: w, w: theta}, draws: {w: {shape: d, law: "N(-1, 4*I)"}}}'
)
"""Involutions: a law that is not symmetric, a mean of the state, blocks that are exchanged."""
CYCLES = {
    "hmc": f"[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, steps: 10, {FLIP}}}}}]",
    "hmc_of_some_steps": f'[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, steps: "uniform(1, 20)", {FLIP}}}}}]',
    "hmc_up_to_a_length": f'[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, steps: "uniform(1, longest)", {FLIP}}}}}]',
    "ghmc": f"[{{refresh: {{r: 0.9}}}}, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}]",
    "mala": f"[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}]",
    "steps": f"[{{{LEAPFROG}, steps: 3}}, {{refresh: {{r: 1/3}}}}]",
    "between": f"[{{refresh: {{r: 1/2}}}}, {{metropolis: {{{LEAPFROG}, steps: 2, {FLIP}}}}}, {{refresh: {{r: 1/3}}}}]",
    "every_word": f"[{{metropolis: {{{LEAPFROG}, {FLIP}}}, every: 3}}, {{refresh: r, every: 2}}]",
    "every_steps": f"[{{{LEAPFROG}, steps: 2, every: 2}}, {{refresh: {{r: 1/3}}}}]",
    "again": f"[{{refresh: {{r: 1/2}}}}, {{metropolis: {{{LEAPFROG}, steps: 3, {FLIP}}}}}, {{refresh: {{r: 1/3}}}}, "
    f'{{metropolis: {{{LEAPFROG}, steps: "uniform(1, 4)", scale: 1/3, {FLIP}}}}}]',
    "again_every": f"[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, scale: 3/2, {FLIP}}}, every: 2}}, "
    f"{{metropolis: {{{LEAPFROG}, steps: 2, {FLIP}}}, repeat: 2}}, {{refresh: {{r: 1/3}}, every: 3}}]",
    "again_anew": f"[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, steps: 2, {FLIP}}}}}, {WALK}, "
    f"{{metropolis: {{{LEAPFROG}, {FLIP}}}}}]",
    "scaled": f"[{{refresh: r}}, {{metropolis: {{{LEAPFROG}, steps: 3, {FLIP}}}}}, {SCALED}]",
    "turned": f"[{TURNED}, {{refresh: {{r: 1/2}}}}, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}]",
    "turned_steps": f"[{WALK}, {{{LEAPFROG}, steps: 2, every: 2}}, {{refresh: {{r: 1/3}}}}]",
    "walk_every": f"[{{refresh: r}}, {WALK[:-1]}, every: 2}}, {SCALED[:-1]}, every: 3}}, {WALK}]",
    "walk": f"[{{refresh: r}}, {WALK}]",
    "every": f"[{{refresh: {{r: 1/2}}, every: 3}}, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}, {{refresh: r, every: 2}}]",
}

OF_MATRICES = f"[{TURNED}, {{refresh: {{r: 1/2}}}}, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}]".replace(
    "2*I", "M"
).replace("-1, 4*I", "mu, 2*Sigma")
"""Involutions of a Gaussian whose draws have full covariances."""

ONE_OF_EACH = {
    f"{cycle}_{target}": (target, cycle)
    for target, cycle in (
        ("gaussian", "hmc"), ("double_well", "hmc_of_some_steps"), ("logistic_regression", "ghmc"),
        ("eight_schools", "mala"), ("logistic_regression", "steps"), ("gaussian", "between"), ("gaussian", "every"),
        ("gaussian", "every_word"), ("logistic_regression", "every_steps"), ("double_well", "scaled"),
        ("gaussian", "turned"), ("logistic_regression", "turned_steps"), ("eight_schools", "walk"),
        ("gaussian", "walk_every"), ("gaussian", "again"), ("logistic_regression", "again"),
        ("double_well", "again_every"), ("eight_schools", "again_anew"), ("gaussian", "hmc_up_to_a_length"),
    )
}  # fmt: skip
"""Every cycle and every target, by the names of the builds."""


def document(target: str, cycle: str, eps: float | str = "1/4", *changes: tuple[str, str]) -> str:
    """Return the document of a build: a target of `VALUES`, a cycle of `CYCLES` or one written out."""
    scheme = f"{{cycle: {CYCLES.get(cycle, cycle)}}}"
    name = f"{cycle if cycle in CYCLES else 'cycle'}_{target}"
    text = DOCUMENT.format(name=name, target=target, values=VALUES[target], scheme=scheme, eps=eps)
    changes += (("parameters: {", "parameters: {longest: {value: 27/2}, "),) if "longest" in scheme else ()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@cache
def cycle_build(target: str, cycle: str, eps: float | str = "1/4", *changes: tuple[str, str]) -> Build:
    """Return that build."""
    return load_build(written(document(target, cycle, eps, *changes)))


SIZED_MASS = "M: {value: [[2, 1/2, 0, 1/3], [1/2, 1, 1/4, 0], [0, 1/4, 3/2, 1/2], [1/3, 0, 1/2, 1]]}"
BENT = """
state: {a: {shape: 2}, b: {shape: 2}}
parameters: {A: {shape: [2, 2], is: positive definite}, B: {shape: [2, 2]}, C: {shape: [2, 2], is: positive definite}}
potential: a.T @ A @ a/2 + (b - B @ a - a**2/2).T @ C @ (b - B @ a - a**2/2)/2
laws: {b: "N(B @ a + a**2/2, inv(C))"}
"""
"""a is N(0, inv(A)), w = b - B a - a**2/2 is N(0, inv(C))."""
SEVERAL = """
name: several
dynamics: hmc
target: bent.yaml
parameters:
  A: {value: [[2, 1/2], [1/2, 1]]}
  B: {value: [[1/2, -1/4], [1/4, 1/2]]}
  C: {value: [[3, -1], [-1, 1]]}
  MASS
scheme: {cycle: CYCLE}
variant: full
run: {step_size: 3/4}
"""
_STEP = f"{LEAPFROG}, {FLIP}"
WORDS = {
    "in turn": f'[refresh: r, {{of: {{theta: a}}, metropolis: {{{_STEP}, steps: "uniform(1, 4)"}}}}, refresh: r, '
    f'{{of: {{theta: b}}, metropolis: {{{_STEP}, steps: "uniform(1, 6)", scale: 1/2}}}}]',
    "short and long": f"[refresh: {{r: 7/10}}, {{metropolis: {{{_STEP}}}, every: 2}}, refresh: {{r: 1/2}}, "
    f'{{metropolis: {{{_STEP}, steps: "uniform(1, 6)", scale: 2/3}}, repeat: 2}}]',
    "beside a draw": f"[draw: b, refresh: {{r: 3/5}}, {{of: {{theta: a}}, metropolis: {{{_STEP}, steps: 2}}}}, "
    f"{{metropolis: {{{_STEP}, steps: 3, scale: 1/3}}}}, refresh: r]",
}
"""Cycles of several words, each of its own blocks."""


def several(name: str, mass: str = SIZED_MASS, *changes: tuple[str, str]) -> Build:
    """Return the build of a cycle of `WORDS`."""
    text = SEVERAL.replace("CYCLE", WORDS[name]).replace("MASS", mass)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return load_build(written(text, bent=BENT))


@dataclass(frozen=True, slots=True)
class Text:
    """One of the texts that a compilation makes, and what it is read back with."""

    module: Module
    readings: Callable[[Module], Sequence[Reading]]

    def read(self, module: Module | None = None) -> None:
        """Read the text back, or another in its place. Raises CompilerError where it is not what its Program says."""
        for reading in self.readings(module or self.module):
            reading.job()


@cache
def texts(build: Build) -> dict[str, Text]:
    """Return the texts of a build by their shape: for every size, plain and scheduled, and for the sizes it states."""
    derivation = derive(bind(build))
    stated = derive(derivation.dynamics, stated=True)
    program = discretise(build, stated)
    names = renames(program)
    found: dict[str, Text] = {}
    for small in small_sizes(build):
        general = rename(discretise(build, stated, small), names)
        plain, pinned = lower(general), pinned_sizes(build, general)
        for shape, kernel in {"plain": plain, "scheduled": schedule(general, plain)}.items():
            module = emit_module(build.name, general, kernel, "A test.\n", "0" * 64)
            found[shape] = Text(
                module,
                lambda m, pinned=pinned: [
                    *readings(m, derivation, names, pinned),
                    *equation_readings(m, derivation, names, pinned),
                ],
            )
    shipped = rename(rename(program, names), {names.get(name, name): number for name, number in build.sizes})
    module = emit_module(build.name, shipped, schedule(shipped, lower(shipped)), "A test.\n", "0" * 64)
    return {**found, "shipped": Text(module, lambda m: shipped_readings(m, dict(build.sizes)))}
