"""Builds whose cycles draw blocks of the target by their laws: alone, and among moves of Hamiltonian dynamics."""

from functools import cache

from answers import ROOT, written
from loaders import load_build

from recipe_compiler.spec.model import Build

DOCUMENT = """
format: 1
name: {name}
dynamics: {dynamics}
target: {target}
{values}
scheme: {{cycle: {cycle}}}
variant: {variant}
{rest}run: {{step_size: 1/8, draws: 400, warmup: 10, chains: 2, seed: 1{batch}}}
"""
FAMILIES = """
state:
  g: {shape: 2, domain: positive, transform: log}
  h: {shape: scalar, domain: positive, transform: log}
  e: {shape: scalar, domain: positive, transform: log}
  l: {shape: 2, domain: positive, transform: log}
  b: {shape: scalar, domain: "interval(0, 1)", transform: logit}
  w: {shape: scalar, domain: "interval(-1, 3)", transform: logit}
  n: {shape: 2}
parameters: {a: {shape: 2, is: positive}, C: {shape: [2, 2], is: positive definite}}
potential: >-
  3*sum(g) - (a - ones).T @ log(g) + 2/h + 5*log(h) + e/4 + (log(l) - a).T @ (log(l) - a)/8 + sum(log(l))
  - log(b) + log(1 - b)/2 + (n - a).T @ inv(C) @ (n - a)/2
laws:
  g: Gamma(a, 3)
  h: InverseGamma(4, 2)
  e: Exponential(1/4)
  l: LogNormal(a, 4)
  b: Beta(2, 1/2)
  w: Uniform(-1, 3)
  n: N(a, C)
"""
"""A law of every family, each block in the variable that it is sampled in."""
GAMMAS = """
state:
  s: {shape: scalar, domain: positive, transform: log}
  g: {shape: 3, domain: positive, transform: log}
data: {z: {shape: [N, 3], in: [0, 1]}}
parameters: {a: {shape: 3, is: positive}}
log_prior: sum((a - ones)*log(g)) - s*sum(g) + 2*log(s) - 2*s
log_likelihood: 2*z @ log(g)
laws:
  s: Gamma(3, 2 + sum(g))
  g: Gamma(a + 2*z.T @ ones, s)
"""
"""Gamma laws whose rate is another block, and whose shape takes data."""
ONE_OF_THREE = """
state: {k: {shape: 3, domain: one_hot}}
parameters: {a: {shape: 3}}
potential: -k.T @ a
laws: {k: Categorical(a)}
"""
"""A discrete block that is one row."""
SHARES = """
state:
  w: {shape: 3, constraint: simplex}
  x: {shape: 2}
parameters: {a: {shape: 3, is: positive, default: "[1/2, 2, 1]"}}
assume: [normalisable]
potential: norm2(x) - sum((a + norm2(x)*ones/2 - ones)*log(w))
laws:
  w: Dirichlet(a + norm2(x)*ones/2)
  x: N(0, I/(2 - sum(log(w))))
"""
"""Shares of a whole, whose law follows another block, and one that follows them."""
SETS = """
state:
  c: {shape: 2, constraint: ordered}
  R: {shape: [2, 2], constraint: corr_matrix}
  g: {shape: 2, domain: positive, transform: log}
  x: {shape: 2}
assume: [normalisable]
potential: norm2(c)/2 + norm2(x - R @ c)/2 + sum(g)*(3 + norm2(c)) - sum(log(g))
laws:
  x: N(R @ c, I)
  g: Gamma(2, 3 + norm2(c))
"""
"""Laws that take blocks in sets, which a word moves."""
SIGNAL = """
state:
  s: {shape: scalar, domain: positive, transform: log}
  b: {shape: scalar, domain: positive, transform: log}
  k: {shape: N, domain: counts(y)}
data: {y: {shape: N}, w: {shape: N}, t: {shape: N, is: positive}}
log_prior: gamma(s, 2, 1) + gamma(b, 2, 1)
log_likelihood: poisson(y, (s + b)*t) + binomial(k, y, s/(s + b)) + poisson(w, 3*t*b)
laws:
  s: Gamma(2 + sum(k), 1 + sum(t))
  b: Gamma(2 + sum(y - k + w), 1 + 4*sum(t))
  k: Binomial(y, s/(s + b)*ones)
"""
"""Counts of which k are of a signal, the others of a background that w are of alone."""
DATA = {
    "mixture_weights": "parameters: {alpha: {value: [1/2, 2]}}\nsizes: {K: 2, N: 10}\n"
    f"data: {{file: {ROOT}/specs/data/few_of_two_groups.csv, y: y}}",
    "mixture": f"sizes: {{K: 2, N: 10}}\ndata: {{file: {ROOT}/specs/data/few_of_two_groups.csv, y: y}}",
    "sticks": f"parameters: {{before: {{value: [[0, 0], [1, 0]]}}}}\nsizes: {{J: 2, N: 6}}\n"
    f"data: {{file: {ROOT}/specs/data/few_choices.csv, one: one, other: other}}",
    "slices": f"parameters: {{before: {{value: [[0, 0], [1, 0]]}}}}\nsizes: {{J: 2, N: 6}}\n"
    f"data: {{file: {ROOT}/specs/data/few_choices.csv, one: one, other: other}}",
    "one_of_three": "parameters: {a: {value: [1, 0, 3/2]}}",
    "removal_counts": f"sizes: {{N: 10}}\ndata: {{file: {ROOT}/specs/data/removal_counts.csv, catch1: catch1, "
    "catch2: catch2, catch3: catch3, area: area}",
    "signal": f"sizes: {{N: 10}}\ndata: {{file: {ROOT}/specs/data/removal_counts.csv, y: catch1, w: catch2, t: area}}",
    "slices_of_data": f"sizes: {{K: 2, N: 10}}\ndata: {{file: {ROOT}/specs/data/few_of_two_groups.csv, y: y}}",
    "families": "parameters: {a: {value: [1/2, 2]}, C: {value: [[2, 1], [1, 3]]}}",
    "gammas": "parameters: {a: {value: [1/2, 2, 1]}}\n"
    f"data: {{file: {ROOT}/specs/data/sparse_categories.csv, z: z, indicator: [z]}}",
    "regression_precision": f"sizes: {{p: 2}}\n"
    f"data: {{file: {ROOT}/specs/data/linear_regression.csv, x: [a, b], y: y}}",
    "normal_mean_precision": f"data: {{file: {ROOT}/specs/data/normal_sample.csv, y: y}}",
}
MASS = "bind: {M: mass*I}\nparameters: {mass: {is: positive, value: 2}}\n"
WORD = "{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 3, flip: {r: -r}}}"
HELD = WORD.replace("{metropolis", "{of: {theta: beta}, metropolis")
"""The same of the coefficients of a regression alone."""
OF_STICKS = "slice: log(v) + before @ log(ones - v), left: sum(log(ones - v))"
"""What users of a Dirichlet process mixture by sticks are sliced by, and what these leave of the weights."""
GIBBS = {
    "gibbs_regression": ("regression_precision", "[draw: beta, draw: tau]"),
    "gibbs_normal": ("normal_mean_precision", "[draw: mu, draw: tau]"),
    "twice": ("regression_precision", "[draw: tau, draw: beta, draw: tau]"),
    "hmc_first": ("regression_precision", f"[{WORD}, {{draw: tau}}]"),
    "hmc_between": ("regression_precision", f"[{{draw: beta}}, {WORD}, {{draw: tau}}]"),
    "held": ("regression_precision", f"[{{draw: tau}}, {HELD}]"),
    "every": ("regression_precision", f"[{{draw: beta, every: 3}}, {WORD}, {{draw: tau, every: 2, repeat: 2}}]"),
    "families": (FAMILIES, "[draw: g, draw: h, draw: e, draw: l, draw: b, draw: w, draw: n]"),
    "mixture": ("mixture_allocations", "[draw: theta, draw: mu, draw: z]"),
    "sticks": ("dp_mixture", "[draw: v, draw: p, draw: alpha, draw: z]"),
    "slices": ("dp_mixture", f"[draw: v, draw: p, draw: alpha, {{draw: z, {OF_STICKS}}}]"),
    "slices_of_data": (
        "mixture_allocations",
        '[draw: theta, draw: mu, {draw: z, slice: "-(y @ ones.T - ones @ mu.T)**2/3", left: "-norm2(mu)", every: 2},'
        " {draw: z, slice: log(theta), left: -sum(theta)}]",
    ),
    "one_of_three": (ONE_OF_THREE, "[draw: k]"),
    "one_by_slices": (ONE_OF_THREE, "[{draw: k, slice: a/2 - ones, repeat: 2}]"),
    "removal": ("removal_counts", "[draw: mu, draw: rate, draw: p, draw: left]"),
    "signal": (SIGNAL, "[draw: s, draw: b, draw: k]"),
    "mixture_weights": ("mixture_weights", "[draw: w, draw: mu, draw: z]"),
    "shares": (SHARES, "[draw: w, draw: x]"),
    "hmc_of_shares": (SHARES, f"[{{draw: w}}, {WORD}]"),
    "sets": (SETS, f"[{{draw: x}}, {WORD}, {{cir: g}}]"),
    "cir": (GAMMAS, "[draw: s, cir: g]"),
    "cir_of_a_scalar": ("regression_precision", "[draw: beta, cir: tau]"),
    "cir_minibatch": (GAMMAS, "[cir: g, draw: s]"),
    "steps": ("normal_mean_precision", "[{draw: tau}, {split: [B/2, A, B/2], steps: 2}, {refresh: r}]"),
}
"""Target and cycle of every build."""
WRITTEN = {FAMILIES: "families", GAMMAS: "gammas", ONE_OF_THREE: "one_of_three", SHARES: "", SETS: "", SIGNAL: "signal"}
"""Targets that are written here, with the name of their data."""


def draws_build(name: str, target: str = "", cycle: str = "", values: str = "", rest: str = "") -> Build:
    """Return a build of `GIBBS`, or one of another target, whose document `target` is, by its cycle."""
    known, moves = GIBBS.get(name, ("", cycle))
    own = known if known in WRITTEN else f"{ROOT}/specs/targets/{known}.yaml"
    stated = values or DATA.get(WRITTEN.get(known, known), DATA.get(name, ""))
    return _build(name, target or own, moves, stated, rest)


@cache
def _build(name: str, target: str, cycle: str, values: str, rest: str) -> Build:
    own = {"target": target if "name:" in target else f"name: {name}\n{target.lstrip()}"} if "\n" in target else {}
    moves, by_batch = "split" in cycle, name.endswith("minibatch")
    text = DOCUMENT.format(
        name=name, dynamics=f"SPECS/dynamics/{'hmc' if moves else 'still'}.yaml",
        target="target.yaml" if own else target, values=(MASS if moves else "") + values, cycle=cycle, rest=rest,
        variant="minibatch" if by_batch else "full", batch=", batch_size: 50" if by_batch else "",
    )  # fmt: skip
    return load_build(written(text, **own))
