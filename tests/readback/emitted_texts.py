"""The texts that a compilation makes of many builds, by name, with every statement on one line."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from answers import ROOT, SPECS, written
from code_moves import HMC, code, coded_build
from cycles import FLIP, LEAPFROG, OF_MATRICES, SCALED, WALK, Text, cycle_build, texts
from draws import GIBBS, draws_build
from loaders import load_build

from recipe_compiler.emit.module import Module
from recipe_compiler.readback.child_process import Reading
from recipe_compiler.readback.readback import shipped_readings
from recipe_compiler.readback.run_loop import check_first_values, check_run
from recipe_compiler.spec.model import Build

FIRST, ITERATION = check_first_values, check_run
"""Parts of a reading that are asked alone, of whatever text."""

WELLS = """
format: 1
name: wells
state: {theta: {shape: d}}
parameters: {mu: {shape: d}, k: {is: positive}}
potential: k * sum((theta - mu)**4) / 4
"""
CHUNKED = """
format: 1
name: chunked
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: target.yaml
bind: BIND
parameters: {mu: {value: 1}, k: {value: 2}MORE}
scheme: SCHEME
variant: full
run: {step_size: 0.05, draws: 10, chains: 1}
"""
SQUARES = """
name: squares
state: {theta: {shape: d}}
data:
  x: {shape: [N, d]}
  y: {shape: N}
log_prior: -theta.T @ theta / 2
log_likelihood: -y*y*(x @ theta)**2/2 - exp(x @ theta)
"""
OF_SQUARES = """
name: squares
dynamics: SPECS/dynamics/sgld.yaml
target: target.yaml
bind: {D: I}
scheme: {name: euler}
variant: minibatch
MINIBATCH
data: {file: data.csv, x: [a, b], y: y, shuffled: true, dtype: DTYPE}
run: {step_size: 0.01, batch_size: 2}
"""
METRIC = """
name: metric
dynamics: SPECS/dynamics/sgrld.yaml
target: SPECS/targets/TARGET.yaml
bind: {G_inverse: "METRIC"}
parameters:
  s: {is: positive, value: 1}
  A: {shape: [d, d], is: positive definite, value: [[2, 1/2], [1/2, 1]]}
  C: {shape: [d, d], is: symmetric, value: [[1, 1/2], [1/2, 1]]}
  e: {shape: d, value: [1, 2]}
  b: {shape: d, value: [-1/2, 1/3]}
scheme: {name: euler}
variant: full
sizes: {d: 2}
run: {step_size: 0.01}
"""
DENSE = "2*(1 + norm2(theta))*A - theta @ theta.T"
"""Positive definite where 2 A - I is, which its form does not show."""
FORMS = {
    "a column that is a sum": ("A/2 + (e + theta[0]*b) @ (e + theta[0]*b).T", "L_theta"),
    "columns under one number": ("exp(theta[0])*(theta @ theta.T + b @ b.T)", "scale_theta"),
    "a diagonal and a column": ("s*I + theta @ theta.T", "scale_theta_2"),
    "a matrix and a column": ("A + theta @ theta.T/(1 + norm2(theta))", "L_theta"),
    "a number times a matrix": ("(1 + norm2(theta))*(A + s*I)", "L_theta"),
    "a Gram matrix": ("diag(exp(theta)) @ A @ A.T @ diag(exp(theta))", "scale_theta"),
    "a matrix between": ("diag(exp(theta)) @ A @ diag(exp(theta))", "L_theta"),
}
"""Covariances that are written with a factor, and the name that its text has."""
REPLICAS = """
state: {theta: {shape: d}, r: {shape: d}, y: {shape: d}, s: {shape: d}}
parameters: {b: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + b*U(y) + norm2(r)/2 + norm2(s)/2
D: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
Q: [[0, -I, 0, 0], [I, 0, 0, 0], [0, 0, 0, -I], [0, 0, I, 0]]
"""
OF_REPLICAS = """
dynamics: dynamics.yaml
target: SPECS/targets/gaussian.yaml
parameters: {b: {value: 0.25}, mu: {value: [1, -2]}, Sigma: {value: [[2, 0.5], [0.5, 1]]}}
scheme: {cycle: [refresh: r, refresh: s, {involution: {theta: y, y: theta}}]}
variant: full
sizes: {d: 2}
run: {step_size: 0.5, draws: 10, chains: 1}
"""
GARCH = """
name: garch
state: {mu: {}, w: {shape: 3, constraint: simplex}}
data: {y: {shape: T}}
recursion: {s2: {is: positive, start: 1/4, next: "1/3 + w[0]*(y - mu)**2 + w[1]*s2"}}
log_prior: normal(mu, 0, 5) + dirichlet(w, [2, 3, 4])
log_likelihood: normal(y, mu, sqrt(s2))
"""
OF_GARCH = """
name: garch
dynamics: SPECS/dynamics/sgld.yaml
target: target.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
data: {file: data.csv, y: a}
run: {step_size: 0.01}
"""
FIVE = """
name: five
state: {theta: {shape: 5}}
parameters: {S: {shape: [5, 5], is: positive definite}}
potential: theta.T @ inv(S) @ theta / 2
"""
OF_FIVE = """
name: five
dynamics: SPECS/dynamics/sghmc.yaml
target: target.yaml
bind: {M: I, C: c*I}
parameters:
  c: {is: positive, value: 1}
  S: {value: [[2, 1, 0, 0, 0], [1, 2, 1, 0, 0], [0, 1, 2, 1, 0], [0, 0, 1, 2, 1], [0, 0, 0, 1, 2]]}
scheme: {name: baoab}
variant: full
run: {step_size: 0.1}
"""
"""A matrix whose inverse is too long for symbols at every size that is read."""
TWO_WORDS = (
    f"[refresh: r, {{of: {{theta: eta}}, metropolis: {{{LEAPFROG}, steps: 2, {FLIP}}}}}, refresh: r, "
    f"{{of: {{theta: [mu, tau]}}, metropolis: {{{LEAPFROG}, steps: 3, scale: 1/2, {FLIP}}}}}]"
)


def built(text: str, target: str = "", **values: str) -> Build:
    """Return a build by its text, in which words in capitals stand for values, with a target beside it."""
    for name, value in values.items():
        text = text.replace(name, value)
    return load_build(written(text, target=target))


def chunked(dynamics: str, bind: str, scheme: str, more: str = "") -> Build:
    return built(CHUNKED, WELLS, DYNAMICS=dynamics, BIND=bind, SCHEME=scheme, MORE=more)


def squares(minibatch: str = "", dtype: str = "float64") -> Build:
    return built(OF_SQUARES, SQUARES, MINIBATCH=minibatch and f"minibatch: {{{minibatch}}}", DTYPE=dtype)


def metric(formula: str, target: str = "standard_normal") -> Build:
    return built(METRIC, METRIC=formula, TARGET=target)


OWN: Mapping[str, Callable[[], Build]] = {
    "chunked sgld": lambda: chunked("sgld", "{D: I}", "{name: euler}"),
    "chunked sghmc": lambda: chunked(
        "sghmc", "{M: I, C: c*I}", "{name: sequential_euler, order: [theta, r]}", ", c: {is: positive, value: 1}"
    ),
    "chunked hmc": lambda: chunked("hmc", "{M: I}", "{name: sequential_euler, order: [r, theta]}"),
    "rats": lambda: load_build(ROOT / "tests/posteriors/builds/rats.yaml"),
    "guarded_funnel": lambda: load_build(ROOT / "tests/shared/guarded_funnel.yaml"),
    "sgld_w5": lambda: replace(load_build(ROOT / "benchmarks/builds/sgld_w5.yaml"), sizes=(("d", 200),)),
    "garch": lambda: built(OF_GARCH, GARCH),
    "five": lambda: built(OF_FIVE, FIVE),
    "squares": squares,
    "squares by a mode": lambda: squares("control_variates: mode"),
    "squares in singles by a mode": lambda: squares("control_variates: mode", "float32"),
    "squares in blocks": lambda: squares("blocks: contiguous"),
    "squares in blocks by a mode": lambda: squares("blocks: contiguous, control_variates: mode", "float32"),
    "a factor of two": lambda: metric(DENSE, "banana"),
    "a factor of many": lambda: metric(DENSE),
    **{form: lambda formula=formula: metric(formula) for form, (formula, _) in FORMS.items()},
    "two involutions": lambda: cycle_build("gaussian", f"[{SCALED}, {WALK}, {{refresh: r}}]"),
    "involutions of some cycles": lambda: cycle_build(
        "gaussian", f"[{SCALED[:-1]}, every: 2}}, {WALK[:-1]}, every: 3}}, {{refresh: r}}]"
    ),
    "involutions of matrices": lambda: cycle_build("gaussian", OF_MATRICES),
    "replicas": lambda: load_build(written(OF_REPLICAS, dynamics=REPLICAS)),
    "two words": lambda: cycle_build("eight_schools", TWO_WORDS),
    "two words and a walk": lambda: cycle_build(
        "eight_schools", TWO_WORDS.replace("refresh: r, {of: {theta: [", f"{WALK}, {{of: {{theta: [")
    ),
    "rhmc_logistic in halves": lambda: built(
        (SPECS / "builds/rhmc_logistic.yaml").read_text(encoding="utf-8").replace("../", "SPECS/"),
        **{"steps:": "scale: 1/2\n        steps:"},
    ),
    "two functions": lambda: coded(f"{code('turn')}, refresh: r, {code('along', 'reads: r')}"),
    "a function of some cycles": lambda: coded(f"refresh: r, {code('along', 'reads: r', 'every: 2')}"),
    "a function of two blocks": lambda: coded(f"{code('along', changes='[theta, r]')}, {HMC}"),
    "a function of data": lambda: coded(f"refresh: r, {code('one_of')}", "logistic_regression"),
}


def coded(cycle: str, target: str = "gaussian") -> Build:
    return coded_build(Path(mkdtemp()), cycle, target=target)


@cache
def build_of(name: str) -> Build:
    """Return a build: of this file, of `draws`, of `cycles` ("CYCLE of TARGET") or a shipped one, with changes."""
    stem, *changes = name.split(", ")
    cycle, _, target = stem.partition(" of ")
    if stem in OWN:
        build = OWN[stem]()
    elif stem in GIBBS:
        build = draws_build(stem)
    else:
        build = cycle_build(target, cycle) if target else load_build(SPECS / f"builds/{stem}.yaml")
    for change in changes:
        if change == "mapped":
            assert build.data is not None
            arrays = tuple((name, Path(f"{name}.npy")) for name, _ in build.data.columns)
            build = replace(build, data=replace(build.data, arrays=arrays))
        elif change == "replacement":
            build = replace(build, replacement=True)
        elif change.startswith("d = "):
            build = replace(build, sizes=(("d", int(change[4:])),) if change != "d = any" else ())
    return build


@cache
def text_of(name: str, shape: str) -> Text:
    """Return a text of a build, "plain", "scheduled" or "shipped"; "SHAPE at a point" is read as a shipped one is."""
    build = build_of(name)
    found = texts(build)[shape.removesuffix(" at a point")]
    module = replace(found.module, text=ast.unparse(ast.parse(found.module.text)))
    if shape.endswith(" at a point"):
        return Text(module, lambda m: shipped_readings(m, dict(build.sizes)))
    return replace(found, module=module)


def read(name: str, text: Text, module: Module, part: str | Callable[[Module, Mapping[str, int]], None] = "") -> None:
    """Read a text back, in the parts whose names begin with `part`, or by `part` alone."""
    if callable(part):
        part(module, dict(build_of(name).sizes))
        return
    asked: Sequence[Reading] = [one for one in text.readings(module) if one.says.startswith(part)]
    assert asked, f"no part of the reading is {part!r}"
    for one in asked:
        one.job()


def with_change(text: Text, old: str, new: str, after: str = "") -> Module:
    """Return the module with the first `old` after the beginning of a function replaced."""
    start = text.module.text.index(f"def {after}(") if after else 0
    before, rest = text.module.text[:start], text.module.text[start:]
    assert old in rest, f"the fault has no place: {old}"
    changed = before + rest.replace(old, new, 1)
    ast.parse(changed)
    return replace(text.module, text=changed)
