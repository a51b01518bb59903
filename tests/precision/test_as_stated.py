"""Emitted gradients at shifted and scaled data lose no more than their formulas do as they are stated.

Data are near 1e9, columns near 1e6, the state where the differences of the model are of order one. The gradient of
every target, as the step and as `full_gradient` compute it, is compared with 200 digits, and may be wrong by 100 u
times the condition of the formula as stated (`stated.py`): not by what multiplying its squares out would cost.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from emitted_gradient import emitted, known_noise
from loaders import load_build
from some import some
from stated import gradients, wide

from recipe_compiler.run.sizes import parameter_values
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
UNIT = 2.0**-53
ALLOWED = 100
N = 5
"""Data of every target."""

Rng = np.random.Generator
Point = tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, int]]
"""Blocks of the target, fields of the data, sizes."""


def far_columns(rng: Rng, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns near 1e6, and coefficients of order one that nearly cancel in every row."""
    x = 1e6 + rng.standard_normal((N, d))
    theta = rng.standard_normal(d)
    return x, theta - theta.mean()


def classification(rng: Rng) -> Point:
    x, theta = far_columns(rng, 3)
    return {"theta": theta}, {"x": x, "y": rng.integers(0, 2, N).astype(float)}, {"d": 3}


def counts(rng: Rng) -> Point:
    x, theta = far_columns(rng, 3)
    theta = theta + np.log(1e9) / 3e6
    return {"theta": theta}, {"x": x, "y": np.round(1e9 + 1e4 * rng.standard_normal(N))}, {"d": 3}


def line(rng: Rng) -> Point:
    x = 1e6 + rng.standard_normal((N, 3))
    theta = 1e3 / 3 + rng.standard_normal(3)
    return {"theta": theta}, {"x": x, "y": x @ theta + rng.standard_normal(N)}, {"d": 3}


def classes(rng: Rng) -> Point:
    x = 1e6 + rng.standard_normal((N, 3))
    W = rng.standard_normal((3, 3))
    W -= W.mean(axis=1, keepdims=True)
    return {"W": W}, {"x": x, "y": np.eye(3)[rng.integers(0, 3, N)]}, {"K": 3, "p": 3}


def schools(rng: Rng) -> Point:
    data = {"y": 1e9 + rng.standard_normal(N), "w": rng.uniform(0.5, 2.0, N), "z": np.eye(N)[:, :4]}
    return {"mu": np.array([1e9 + 0.5]), "log_tau": np.array([0.3]), "eta": rng.standard_normal(4)}, data, {"J": 4}


def groups(rng: Rng) -> Point:
    blocks = {"mu": 1e9 + rng.standard_normal(2), "a": rng.standard_normal(2)}
    return blocks, {"y": 1e9 + rng.standard_normal(N)}, {"K": 2}


def ratings(rng: Rng) -> Point:
    F, G = (2.2e4 + rng.standard_normal((3, 2)) for _ in range(2))
    u, v = np.eye(3)[rng.integers(0, 3, N)], np.eye(3)[rng.integers(0, 3, N)]
    y = np.einsum("nk,kl,ml,nm->n", u, F, G, v) + rng.standard_normal(N)
    return {"F": F, "G": G}, {"u": u, "v": v, "y": y}, {"users": 3, "items": 3, "K": 2}


def sample(rng: Rng) -> Point:
    return {"mu": np.array([1e9 + 0.5]), "log_tau": np.array([0.3])}, {"y": 1e9 + rng.standard_normal(N)}, {}


def plane(*theta: float) -> Callable[[Rng], Point]:
    return lambda _: ({"theta": np.array(theta)}, {}, {})


def funnel(rng: Rng) -> Point:
    return {"v": np.array([-20.0]), "x": 1e6 * rng.standard_normal(3)}, {}, {"k": 3}


SHIPPED: dict[str, tuple[str, Callable[[Rng], Point]]] = {
    "logistic_regression": ("sgld_logistic", classification),
    "poisson_regression": ("sgld_poisson_regression", counts),
    "linear_regression": ("sghmc_linear_regression", line),
    "softmax_regression": ("sghmc_softmax_regression", classes),
    "eight_schools": ("sghmc_eight_schools", schools),
    "gaussian_mixture": ("sgld_gaussian_mixture", groups),
    "matrix_factorisation": ("sghmc_matrix_factorisation", ratings),
    "normal_mean_precision": ("../../tests/targets/builds/sgnht_normal_mean_precision", sample),
    "banana": ("sghmc_banana", plane(3e4, 0.25 * (3e4**2 - 4) + 0.5)),
    "correlated_plane": ("sghmc_correlated_plane", plane(3e4, 3e4**2 / 4 - 1.2)),
    "double_well": ("sghmc_double_well", plane(1.0 + 1e-6)),
    "funnel": ("sghmc_funnel", funnel),
    "gaussian": ("sghmc_gaussian", lambda rng: ({"theta": rng.standard_normal(3)}, {}, {"d": 3})),
    "standard_normal": ("sgnht_standard_normal", lambda rng: ({"theta": 1e9 + rng.standard_normal(3)}, {}, {"d": 3})),
    "categories": ("sgrld_categories", lambda rng: ({"theta": 1e9 + rng.uniform(size=3)}, {}, {"d": 3})),
    "dirichlet": ("wright_fisher_dirichlet", plane(0.5, 0.5 - 1e-9)),
}


@dataclass(frozen=True)
class Variant:
    """A target stated in a test."""

    state: str
    data: str
    prior: str
    likelihood: str
    point: Callable[[Rng], Point]
    parameters: str = ""
    potential: str = ""


def scattered(rng: Rng, **blocks: float | np.ndarray) -> Point:
    """Return data y near 1e9 and x near 1e6, and the given blocks."""
    x = 1e6 + rng.standard_normal(N)
    y = 1e9 + 2.0 * x + rng.standard_normal(N)
    return {name: np.atleast_1d(value).astype(float) for name, value in blocks.items()}, {"x": x, "y": y}, {}


def measured(rng: Rng, **blocks: float) -> Point:
    """Return positive data y and x near 1e9 that differ by a few units, and the given blocks."""
    data = {"x": 1e9 + rng.standard_normal(N), "y": 1e9 + rng.standard_normal(N)}
    return {name: np.array([value]) for name, value in blocks.items()}, data, {}


def small(rng: Rng, **blocks: float) -> Point:
    """Return counts y and numbers x between 0 and 9, and the given blocks."""
    data = {"x": rng.uniform(0.5, 8.5, N), "y": rng.integers(1, 40, N).astype(float)}
    return {name: np.array([value]) for name, value in blocks.items()}, data, {}


def in_groups(rng: Rng) -> Point:
    blocks = {"m": np.array([1e9]), "s": np.array([0.2]), "t": np.array([-0.3]), "a": 1e9 + rng.standard_normal(3)}
    return blocks, {"y": 1e9 + rng.standard_normal(N), "z": np.eye(3)[rng.integers(0, 3, N)]}, {"J": 3}


LINE = "b1: {shape: scalar}, b2: {shape: scalar}, s: {shape: scalar}"
XY = "x: {shape: N}, y: {shape: N}"
FLAT = "-(b1**2 + b2**2 + s**2)/1e20"
VARIANTS = {
    "unknown_variance": Variant(LINE, XY, FLAT, "-s - (y - b1 - b2*x)**2*exp(-2*s)/2",
                                lambda rng: scattered(rng, b1=1e9, b2=2.0, s=0.3)),
    "student_t": Variant(LINE, XY, FLAT, "-s - (nu + 1)/2*log1p((y - b1 - b2*x)**2/(nu*exp(2*s)))",
                         lambda rng: scattered(rng, b1=1e9, b2=2.0, s=0.3), "nu: {is: positive, default: 4}"),
    "heteroscedastic": Variant(LINE, XY, FLAT, "-s*(x - 1000000) - (y - b1 - b2*x)**2/(2*exp(s*(x - 1000000))**2)",
                               lambda rng: scattered(rng, b1=1e9, b2=2.0, s=0.3)),
    "log_normal": Variant("m: {shape: scalar}, s: {shape: scalar}", XY, "-m**2 - s**2",
                          "-s - (log(y/x) - m)**2*exp(-2*s)/2", lambda rng: measured(rng, m=1e-9, s=-19.0)),
    "log_of_a_ratio": Variant("m: {shape: scalar}", XY, "-m**2/1e20", "-1000000*log(y/(m + x/1e6))**2",
                              lambda rng: measured(rng, m=1e9 + 0.5)),
    "hierarchical": Variant("m: {shape: scalar}, s: {shape: scalar}, t: {shape: scalar}, a: {shape: J}",
                            "y: {shape: N}, z: {shape: [N, J], in: [0, 1]}",
                            "-sum((a - m*ones)**2)*exp(-2*t)/2 - J*t - s**2 - t**2", "-s - (y - z @ a)**2*exp(-2*s)/2",
                            in_groups),
    "softplus_of_a_difference": Variant("m: {shape: scalar}, s: {shape: scalar}", "y: {shape: N}", "-m**2/1e20 - s**2",
                                        "-softplus(exp(s)*(y - m)) - softplus(3*(m - y))**2",
                                        lambda rng: (measured(rng, m=1e9, s=0.4)[0],
                                                     {"y": 1e9 + rng.standard_normal(N)}, {})),
    "far_tails": Variant("m: {shape: scalar}", "y: {shape: N}", "-m**2/1e20",
                         "log(sigmoid(20*(y - m))) - tanh(9*(y - m))**2 - expm1((y - m)/1e6)**2 - (cos(y - m) - 1)**2",
                         lambda rng: (measured(rng, m=1e9)[0], {"y": 1e9 + rng.standard_normal(N)}, {})),
    **{
        f"named_{law}": Variant(LINE, XY, "normal([b1, b2, s], 0, 1e10)", f"{law}(y, {before}b1 + b2*x, exp(s))",
                                lambda rng: scattered(rng, b1=1e9, b2=2.0, s=0.3))
        for law, before in (("normal", ""), ("cauchy", ""), ("laplace", ""), ("logistic", ""), ("student_t", "4, "))
    },
    "named_lognormal": Variant("m: {shape: scalar}, s: {shape: scalar}", XY, "normal(m, 0, 1) + normal(s, 0, 1)",
                               "lognormal(y, m, exp(s)) + gamma(x, exp(s), 2) + weibull(y/1e9, exp(s), 1 + m**2)",
                               lambda rng: measured(rng, m=20.7, s=-2.0)),
    "named_mixture": Variant("m: {shape: scalar}, s: {shape: scalar}, a: {shape: scalar}", "y: {shape: N}",
                             "normal(m, 0, 1e10) + normal(s, 0, 1) + normal(a, 0, 1)",
                             "mixture(sigmoid(a), normal(y, m, exp(s)), student_t(y, 3, m + 1, 2))",
                             lambda rng: (measured(rng, m=1e9, s=0.4, a=0.2)[0],
                                          {"y": 1e9 + rng.standard_normal(N)}, {})),
    "named_counts": Variant("a: {shape: scalar}, b: {shape: scalar}, t: {shape: scalar}", XY,
                            "normal(a, 0, 1) + normal(b, 0, 1) + normal(t, 0, 1)",
                            "neg_binomial_2_log(y, a + b*x, exp(t)) + poisson_log(y, a - b*x)",
                            lambda rng: small(rng, a=0.3, b=0.2, t=0.1)),
    "negative_binomial": Variant("a: {shape: scalar}, b: {shape: scalar}, t: {shape: scalar}", XY, "-a**2 - b**2 - t",
                                 "loggamma(y + exp(t)) - loggamma(exp(t)) + exp(t)*t + y*(a + b*x)"
                                 " - (y + exp(t))*log(exp(t) + exp(a + b*x))",
                                 lambda rng: small(rng, a=0.3, b=0.2, t=2.5)),
    "beta": Variant("s: {shape: scalar}, t: {shape: scalar}", XY, "-exp(s) - exp(t)",
                    "loggamma(exp(s) + exp(t)) - loggamma(exp(s)) - loggamma(exp(t)) + (exp(s) - 1)*log(x/9)"
                    " + (exp(t) - 1)*log(1 - x/9)", lambda rng: small(rng, s=0.4, t=-3.0)),
    "gamma": Variant("s: {shape: scalar}, t: {shape: scalar}", XY, "-exp(s) - exp(t)",
                     "exp(s)*t - loggamma(exp(s)) + (exp(s) - 1)*log(y) - exp(t)*y",
                     lambda rng: small(rng, s=0.37955, t=-1.0)),
    "student_t_of_unknown_nu": Variant(LINE + ", t: {shape: scalar}", XY, FLAT,
                                       "loggamma((exp(t) + 1)/2) - loggamma(exp(t)/2) - t/2 - s"
                                       " - (exp(t) + 1)/2*log1p((y - b1 - b2*x)**2*exp(-2*s - t))",
                                       lambda rng: scattered(rng, b1=1e9, b2=2.0, s=0.3, t=1.2)),
    "difference_of_squares": Variant("a: {shape: 2}", "", "", "",
                                     lambda rng: ({"a": 1e9 + rng.standard_normal(2)}, {}, {}),
                                     potential="((a[0] - a[1])*(a[0] - 1000000000))**2 + sin(a[0] - a[1])**2*a[1]"),
    "logsumexp_of_squares": Variant("m: {shape: J}", "y: {shape: N}", "-norm2(m)/1e20",
                                    "logsumexp(-(y*ones - m)**2/2) - log(1 + norm2(m - y*ones))",
                                    lambda rng: ({"m": 1e9 + rng.standard_normal(3)},
                                                 {"y": 1e9 + rng.standard_normal(N)}, {"d": 3, "J": 3})),
}  # fmt: skip


def build_of(variant: Variant, sizes: dict[str, int], folder: Path) -> Build:
    """Return a build of a target for SGLD."""
    own = f"log_prior: {variant.prior}\nlog_likelihood: {variant.likelihood}\ndata: {{{variant.data}}}\n"
    own = f"potential: {variant.potential}\n" if variant.potential else own
    declared = f"state: {{{variant.state}}}\nparameters: {{{variant.parameters}}}\n"
    (folder / "t.yaml").write_text(f"format: 1\nname: t\ntitle: A test\n{declared}{own}", encoding="utf-8")
    (folder / "data.csv").write_text("y\n1\n", encoding="utf-8")
    columns = [field.split(":")[0].strip() for field in variant.data.replace("[N, J]", "").split("},") if field]
    data = ", ".join(f"{name}: y" for name in columns)
    text = f"""format: 1
name: b
title: A test
dynamics: {SPECS}/dynamics/sgld.yaml
target: t.yaml
bind: {{D: I}}
scheme: {{name: euler}}
variant: full
run: {{step_size: 0.01, draws: 10}}
sizes: {{{", ".join(f"{name}: {size}" for name, size in sizes.items())}}}
"""
    text += f"data: {{file: data.csv, {data}{', indicator: [z]' if 'z' in columns else ''}}}\n" if columns else ""
    (folder / "b.yaml").write_text(text, encoding="utf-8")
    return load_build(folder / "b.yaml")


def check(build: Build, point: Point) -> None:
    """Compare the gradients of a build's module with the stated one."""
    blocks, data, sizes = point
    data = {name: np.ascontiguousarray(value) for name, value in data.items()}
    sizes = dict(build.sizes) | sizes
    made = emitted(replace(build, sizes=tuple(sizes.items())))
    z = np.concatenate([blocks[block.name].ravel() for block in build.target.declarations.blocks])
    every = {"d": len(z)} | sizes
    values = parameter_values(known_noise(build, every), made.module.parameters, every)
    plain = {name: float(v) if v.ndim == 0 else v for name, v in values.items()}
    rows = len(next(iter(data.values()))) if data else 0
    known = plain | made.constants(list(plain.values()), every) | data
    read = made.gradients(known, z, rows)

    target = build.target
    at = {name: wide(value) for name, value in (blocks | {n: np.asarray(v) for n, v in plain.items()}).items()}
    names = [block.name for block in target.declarations.blocks]
    own = target.potential if target.potential is not None else target.log_prior
    exact, condition = gradients(own, every, at, names)
    sign = 1 if target.potential is not None else -1
    exact = sign * exact
    for n in range(rows):
        one = {name: wide(value[n]) for name, value in data.items()}
        slope, minds = gradients(target.log_likelihood, every, at | one, names)
        exact, condition = exact - slope, condition + minds + abs(slope)
    for by, found in read.items():
        for k, value in enumerate(found):
            error = abs(wide([value])[0] - exact[k])
            assert error <= ALLOWED * UNIT * condition[k], (
                f"entry {k} of {by} is {value}, {float(exact[k])} is right: {float(error / condition[k] / UNIT):.3g} u"
            )


@pytest.mark.parametrize("target", some(sorted(SHIPPED), 3))
def test_shipped_targets(target: str) -> None:
    file, point = SHIPPED[target]
    build = load_build(SPECS / "builds" / f"{file}.yaml")
    check(build, point(np.random.default_rng(4)))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_variants(name: str, tmp_path: Path) -> None:
    variant = VARIANTS[name]
    point = variant.point(np.random.default_rng(5))
    check(build_of(variant, point[2], tmp_path), point)
