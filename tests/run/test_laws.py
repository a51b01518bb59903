"""Chains have the law of their target, whatever their moves: means beside closed forms, quadrature and enumeration.

No bias is allowed for, and faults that are planted are seen at this length. Standard errors are those of means of
batches; a figure is five of them off once in a million.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations_with_replacement, product
from math import lgamma
from pathlib import Path

import numpy as np
import pytest
from answers import document
from code_moves import HMC, code, coded_build
from cycles import OF_MATRICES, SIZED_MASS, WORDS, cycle_build, several
from draws import DATA, HELD, WORD, draws_build
from loaders import load_build
from running import drawn, kept
from running import off as errors_off
from scipy import linalg, stats
from scipy.special import digamma, gammaln, logsumexp

from recipe_compiler.run.sample import Draws
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.slow

Array = np.ndarray
Figures = Iterable[tuple[Array, object]]
"""Functions of the draws, `[chain, draw, ...]`, and their means."""
SPECS = Path(__file__).parents[2] / "specs"
CHOICES = np.loadtxt(SPECS / "data/few_choices.csv", delimiter=",", skiprows=1)
MOST = 5.0
"""Standard errors."""
LONG = {"draws": 12_500, "warmup": 500, "thin": 1, "chains": 32, "seed": 20}


@dataclass(frozen=True)
class Law:
    """What has a law: a build, made in a folder, with settings of its run, and figures that are known."""

    build: Callable[[Path], Build]
    figures: Callable[[Draws], Figures]
    settings: dict[str, object] = field(default_factory=dict)

    def off(self, folder: Path, *changes: tuple[str, str], shape: str = "shipped") -> float:
        """Return by how many standard errors figures are off, the most of them."""
        found = drawn(self.build(folder), *changes, shape=shape, **{**LONG, **self.settings})
        assert not any(found.diverging)
        return max(errors_off(np.asarray(values, float), expected) for values, expected in self.figures(found))


def moments(z: Array, mean: Array, covariance: Array) -> Figures:
    """Yield z and the products of its entries."""
    (i, j), away = np.triu_indices(len(covariance)), z - mean
    yield z, mean
    yield away[..., i] * away[..., j], np.asarray(covariance)[i, j]


# accepted words and refreshes

MU, SIGMA = np.array([1, -2, 1 / 2]), np.array([[2, 1 / 2, 1 / 3], [1 / 2, 1, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
MASS = np.array([[2, 1 / 2, 0], [1 / 2, 1, 1 / 4], [0, 1 / 4, 3 / 2]])
"""Matrices that do not commute."""


def of_well(draws: Draws) -> Figures:
    """Of exp(-U), U = theta^4 - 2 theta^2, by quadrature."""
    theta = kept(draws)[:, :, 0]
    yield from ((theta**2, 0.832745), (theta**4, 1.082745), (np.abs(theta) < 0.5, 0.219437))


def of_gaussian(draws: Draws) -> Figures:
    """Theta and r together: r is as the last move leaves it."""
    zero = np.zeros((3, 3))
    z = np.concatenate([kept(draws), kept(draws, "r")], axis=2)
    return moments(z, np.concatenate([MU, np.zeros(3)]), np.block([[SIGMA, zero], [zero, MASS]]))


def of_target(draws: Draws) -> Figures:
    return moments(kept(draws), MU, SIGMA)


def of_linear(draws: Draws) -> Figures:
    """SGHMC is linear here, z+ = F z + N(0, S): its covariance by Lyapunov's equation, and a draw later."""
    eps, zero = draws.settings.eps, np.zeros((3, 3))
    C = np.array([[1, 1 / 3, 1 / 4], [1 / 3, 2, -1 / 2], [1 / 4, -1 / 2, 3 / 2]])
    inv_M, one = np.linalg.inv(MASS), np.eye(3)
    of_r = np.block([[one, zero], [-eps * np.linalg.inv(SIGMA), one - eps * C @ inv_M]])
    of_theta = np.block([[one, eps * inv_M], [zero, one]])
    F = of_theta @ of_r
    S = of_theta @ np.block([[zero, zero], [zero, 2 * eps * C]]) @ of_theta.T
    covariance = linalg.solve_discrete_lyapunov(F, S)
    z = np.concatenate([kept(draws) - MU, kept(draws, "r")], axis=2)
    yield from moments(z, np.zeros(6), covariance)
    later = np.linalg.matrix_power(F, draws.settings.thin) @ covariance
    yield z[:, 1::2, :, None] * z[:, ::2, None, :], later


def of_scaled(draws: Draws) -> Figures:
    """theta = S omega, S ~ Gamma(10, 1) and omega ~ Dirichlet(8, 12, 7): E theta_j^m = E S^m E omega_j^m."""
    theta, a = kept(draws), np.array([8.0, 12.0, 7.0])
    yield theta, 10 * a / 27
    yield theta**2, 110 * a * (a + 1) / (27 * 28)
    yield np.log(theta).sum(axis=2) - 3 * np.log(theta.sum(axis=2)), digamma(a).sum() - 3 * digamma(27)


HALF = """
name: b
dynamics: hmc
target: half.yaml
bind: {M: I}
scheme: {cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 3, flip: {r: -r}}}]}
variant: full
init: {theta: 2*ones}
run: {step_size: 0.6}
"""
"""Gamma(3, 1) in every coordinate, as if all numbers were allowed: beyond 0 the logarithm is no number."""


POTENTIAL = "state: {theta: {shape: 2}}\npotential: ones.T @ theta - 2*(ones.T @ log(theta))\n"


def of_half_line(draws: Draws) -> Figures:
    theta = kept(draws)
    assert theta.min() > 0.0
    assert (draws.stats["acceptance"] == 0.0).any(), "no proposal was beyond 0"
    yield from ((theta, 3.0), (theta**2, 12.0))


# several words, each of its own blocks


def of_bent(draws: Draws) -> Figures:
    a, b = kept(draws)[..., :2], kept(draws)[..., 2:]
    w = b - a @ np.array([[0.5, -0.25], [0.25, 0.5]]).T - a**2 / 2.0
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = np.linalg.inv([[2, 0.5], [0.5, 1]]), np.linalg.inv([[3, -1], [-1, 1]])
    yield from moments(np.concatenate([a, w], axis=-1), np.zeros(4), covariance)
    yield a**4 / 3.0, np.diag(covariance)[:2] ** 2


# moves by other dynamics

PAIR = """
name: pair
state: {a: {shape: 2}, b: {shape: 2}}
parameters: {A: {shape: [2, 2], is: positive definite}, C_: {shape: [2, 2], is: positive definite}, B: {shape: [2, 2]}}
potential: a.T @ A @ a/2 + a.T @ B @ b + b.T @ C_ @ b/2 - sum(a)
laws: {b: "N(-inv(C_) @ B.T @ a, inv(C_))"}
"""
MOMENTUM = """
name: momentum
state: {q: {shape: d}, p: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}}
functions: {U: {of: q, role: potential}}
H: U(q) + p.T @ inv(M) @ p/2
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, 0]]
"""
"""An energy with momenta, and no equation of its own: what moves the state is what a move uses."""
USED = f"""
name: used
dynamics: momentum.yaml
target: pair.yaml
parameters:
  A: {{value: [[3, 1], [1, 2]]}}
  B: {{value: [[1, -1/2], [1/4, 1/2]]}}
  C_: {{value: [[2, -1/2], [-1/2, 1]]}}
  {SIZED_MASS}
MORE
scheme: {{cycle: CYCLE}}
variant: full
run: {{step_size: 1/2}}
"""
FRICTION = "  C: {value: [[1, 0, 1/2, 0], [0, 1/2, 1/4, 0], [1/2, 1/4, 1, 1/3], [0, 0, 1/3, 1]]}"
USES = {
    "hmc": "[draw: b, refresh: p, {use: hmc, of: {theta: a, r: p}, metropolis: {split: [B/2, A, B/2], "
    'steps: "uniform(1, 4)", flip: {p: -p}}}]',
    "sghmc": "[{use: sghmc, of: {theta: a, r: p}, metropolis: {name: baoab, flip: {p: -p}}}, draw: b]",
    "nothing held": "[{use: sghmc, of: {r: p}, metropolis: {name: baoab, flip: {p: -p}}}]",
}


def used(cycle: str, _: Path) -> Build:
    text = USED.replace("CYCLE", cycle).replace("MORE", FRICTION if "sghmc" in cycle else "")
    return document(text, momentum=MOMENTUM, pair=PAIR)


def of_pair(draws: Draws) -> Figures:
    covariance = np.linalg.inv([[3, 1, 1, -0.5], [1, 2, 0.25, 0.5], [1, 0.25, 2, -0.5], [-0.5, 0.5, -0.5, 1]])
    return moments(kept(draws, "q"), covariance @ [1, 1, 0, 0], covariance)


# draws by laws: a regression whose beta and tau have a normal-gamma posterior

CONJUGATE = """
format: 1
name: conjugate
state: {beta: {shape: p}, tau: {shape: scalar, domain: positive, transform: log}}
data: {x: {shape: [N, p]}, y: {shape: N}}
parameters: {m: {shape: p, default: ones/2}}
log_prior: p*log(tau)/2 - tau*norm2(beta - m)/4 + 2*log(tau) - 2*tau
log_likelihood: log(tau)/2 - tau*(y - x @ beta)**2/2
laws:
  beta: "N(inv(tau*(x.T @ x + I/2)) @ (tau*(x.T @ y + m/2)), inv(tau*(x.T @ x + I/2)))"
  tau: "Gamma(3 + p/2 + N/2, 2 + norm2(y - x @ beta)/2 + norm2(beta - m)/4)"
"""
COLUMNS = DATA["regression_precision"].replace("p: 2", "p: 3").replace("[a, b]", "[a, b, c]")


def conjugate(cycle: str, _: Path) -> Build:
    return draws_build("conjugate", CONJUGATE, cycle, COLUMNS)


def of_conjugate(draws: Draws) -> Figures:
    rows = np.genfromtxt(SPECS / "data/linear_regression.csv", delimiter=",", names=True)
    x, y, m = np.stack([rows[name] for name in "abc"], axis=1), rows["y"], np.full(3, 0.5)
    V = np.linalg.inv(x.T @ x + np.eye(3) / 2)
    b = V @ (x.T @ y + m / 2)
    a, rate = 3 + len(y) / 2, 2 + (y @ y + m @ m / 2 - b @ np.linalg.solve(V, b)) / 2
    beta, tau = kept(draws)[..., :3], np.exp(kept(draws)[..., 3:])
    yield from moments(beta, b, V * rate / (a - 1))
    yield from moments(tau, np.array([a / rate]), np.array([[a / rate**2]]))
    yield tau * (beta - b) ** 2, np.diag(V)


# allocations, every one of them counted

Y = np.loadtxt(SPECS / "data/few_of_two_groups.csv", skiprows=1)


@cache
def allocations() -> tuple[Array, Array]:
    """Return all allocations of ten data to two places with their probabilities: weights and means integrated out."""
    every = np.array(list(product(range(2), repeat=len(Y))))
    one = every[:, :, None] == np.arange(2)
    n, total = one.sum(axis=1), np.einsum("ank,n->ak", one, Y)
    logs = gammaln(1.0 + n) + total**2 / (2 * (n + 1 / 4)) - np.log(4 * n + 1) / 2
    return every, np.exp(logs.sum(axis=1) - logsumexp(logs.sum(axis=1)))


def of_mixture(draws: Draws) -> Figures:
    """How often each two of the data are at one place, and each at the first; and how many are at each."""
    z, (every, p) = kept(draws)[..., 4:].reshape(*kept(draws).shape[:2], 10, 2), allocations()
    assert (np.sort(z) == [0.0, 1.0]).all()
    places, (i, j) = z.argmax(axis=3), np.triu_indices(10, 1)
    yield places[..., i] == places[..., j], p @ (every[:, i] == every[:, j])
    yield places == 0, p @ (every == 0)
    yield places.sum(axis=2, keepdims=True) == np.arange(11), p @ (every.sum(axis=1, keepdims=True) == np.arange(11))


SITES = """
name: sites
state: {mu: {shape: 2}, z: {shape: [N, 2], domain: one_hot}, b: {shape: 2}, left: {shape: N, domain: counts}}
data: {y: {shape: N}, x: {shape: N}, caught: {shape: N, is: [integer, nonnegative]}}
log_prior: -norm2(mu)/2 + mu[0]/2 - norm2(b)/2
log_likelihood: >-
  -(y - z @ mu)**2/2 + poisson(caught, exp(b[0] + x*b[1])/2) + poisson(left, exp(b[0] + x*b[1])/2)
laws: {z: "Categorical(-(y @ ones.T - ones @ mu.T)**2/2)", left: "Poisson(exp(b[0]*ones + x*b[1])/2)"}
"""
"""y_n is N(mu_k, 1) for the place k of the one in z_n; caught[n], left[n] are counts of means exp(b_0 + x_n b_1)/2."""
BESIDE = f"""
name: sites
dynamics: {SPECS}/dynamics/hmc.yaml
target: sites.yaml
bind: {{M: diag(m)}}
parameters: {{m: {{shape: d, is: positive, value: [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 3, 2, 1, 1, 1, 1]}}}}
scheme: {{cycle: [draw: z, draw: left, refresh: r,
         {{of: {{theta: [mu, b]}}, metropolis: {{split: [B/2, A, B/2], steps: "uniform(1, 5)", flip: {{r: -r}}}}}}]}}
variant: full
sizes: {{N: 4}}
data: {{file: rows.csv, y: y, x: x, caught: caught}}
run: {{step_size: 0.7}}
"""
ROWS = np.array([[-1.2, 0.3, 3], [0.4, -0.5, 1], [1.9, 1.1, 2], [0.1, -1.4, 0]])


def sites(_: Path) -> Build:
    rows = "".join(f"{y},{x},{caught:g}\n" for y, x, caught in ROWS)
    return document(BESIDE, sites=SITES, **{"rows.csv": f"y,x,caught\n{rows}"})


def of_sites(draws: Draws) -> Figures:
    """mu and z by all 16 allocations, given one of which mu is Gaussian; b, and what is left, by quadrature."""
    y, x, caught = ROWS.T
    every, weights, means = list(product((0, 1), repeat=4)), list[float](), list[Array]()
    for places in every:
        own = np.eye(2)[list(places)]
        precision, pull = np.eye(2) + own.T @ own, own.T @ y + np.array([0.5, 0.0])
        means.append(np.linalg.solve(precision, pull))
        weights.append(float(np.exp(pull @ means[-1] / 2) / np.sqrt(np.linalg.det(precision))))
    share, grid = np.array(weights) / sum(weights), np.linspace(-6.0, 6.0, 801)
    b = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    eta = b[:, :1] + b[:, 1:] * x
    level = -(b**2).sum(1) / 2 + eta @ caught - np.exp(eta).sum(1) / 2 - sum(lgamma(k + 1) for k in caught)
    weight = np.exp(level - level.max())
    weight /= weight.sum()
    theta = kept(draws)
    yield theta[..., :2], share @ np.array(means)
    yield theta[..., 3:10:2], share @ np.array(every, float)
    yield theta[..., 10:12], weight @ b
    yield theta[..., 12:], weight @ (np.exp(eta) / 2)


# flows of Cox, Ingersoll and Ross: the Dirichlet posteriors of Baker, Fearnhead, Fox and Nemeth (2018)

SPARSE = np.array([800.0, 100, 100, 0, 0, 0, 0, 0, 0, 0]) + 0.1
DENSE = np.array([112.0, 119, 92, 98, 95, 96, 102, 92, 91, 103]) + 0.1


def of_sparse(draws: Draws) -> Figures:
    """Shares of seven categories without data, too: sds of 0.3 around means of 0.1 of theta."""
    theta = np.exp(kept(draws))
    yield from ((theta, SPARSE), (theta**2, SPARSE * (SPARSE + 1)), (theta < 1e-3, stats.gamma(SPARSE).cdf(1e-3)))
    i, j = zip(*combinations_with_replacement(range(10), 2), strict=True)
    w = theta / theta.sum(axis=2, keepdims=True)
    products = SPARSE[list(i)] * (SPARSE[list(j)] + np.equal(i, j)) / (SPARSE.sum() * (SPARSE.sum() + 1))
    yield w[..., i] * w[..., j], products


def of_dense(draws: Draws) -> Figures:
    """theta has the mean a and the variance a + tanh(eps/2) Var[A], A drawn without replacement, whatever eps."""
    theta, p = np.exp(kept(draws)), (DENSE - 0.1) / 1000
    variance = DENSE + np.tanh(draws.settings.eps / 2) * 1000**2 / 100 * 900 / 999 * p * (1 - p)
    assert np.all(variance > 2.5 * DENSE)
    yield from ((theta, DENSE), ((theta - DENSE) ** 2, variance))


def shipped(name: str) -> Callable[[Path], Build]:
    return lambda _: load_build(SPECS / f"builds/{name}.yaml")


def cycle(target: str, name: str, *changes: tuple[str, str]) -> Callable[[Path], Build]:
    return lambda _: cycle_build(target, name, "1/4", *changes)


EIGHT = {"draws": 15_000, "chains": 8, "warmup": 200}
LAWS = {
    **{
        f"well, {name}, {eps}": Law(cycle("double_well", name), of_well, {"step_size": eps})
        for name in ("hmc", "hmc_of_some_steps", "ghmc", "mala", "scaled")
        for eps in (0.35, 0.7)
    },
    "well, path": Law(shipped("baoab_path_double_well"), of_well, {"step_size": 0.35, "thin": 4}),
    "gaussian, hmc": Law(cycle("gaussian", "hmc"), of_gaussian, {"step_size": 0.5}),
    "gaussian, length": Law(cycle("gaussian", "hmc_up_to_a_length"), of_gaussian, {"step_size": 0.5}),
    "gaussian, ghmc": Law(cycle("gaussian", "ghmc"), of_gaussian, {"step_size": 0.9}),
    "gaussian, between": Law(cycle("gaussian", "between"), of_gaussian, {"step_size": 0.7}),
    "gaussian, involutions": Law(cycle("gaussian", OF_MATRICES), of_gaussian, {"step_size": 0.7}),
    "gaussian, turned": Law(cycle("gaussian", "turned_steps"), of_gaussian, {"step_size": 0.001}),
    "gaussian, every": Law(cycle("gaussian", "every_word"), of_gaussian, {"step_size": 0.7, "thin": 3}),
    "gaussian, walk": Law(cycle("gaussian", "walk_every"), of_gaussian, {"thin": 40}),
    "gaussian, code": Law(partial(coded_build, cycle=f"{HMC}, {code('turn')}"), of_target, {"step_size": 0.4}),
    "gaussian, lines": Law(partial(coded_build, cycle=f"refresh: r, {code('hit_and_run', 'repeat: 2')}"), of_target),
    "linear": Law(shipped("sghmc_gaussian"), of_linear, {"step_size": 0.1, "thin": 10, "draws": 16_000}),
    "scaled": Law(shipped("scaled_categories"), of_scaled),
    "half line": Law(lambda _: document(HALF, half=POTENTIAL), of_half_line, {"draws": 20_000, "chains": 16}),
    **{f"words, {name}": Law(lambda _, name=name: several(name), of_bent, {"thin": 2}) for name in WORDS},
    **{f"uses, {name}": Law(partial(used, own), of_pair, {"thin": 4}) for name, own in USES.items()},
    **{
        f"conjugate, {moves}": Law(partial(conjugate, moves), of_conjugate, {**EIGHT, "thin": 8})
        for moves in (
            "[draw: beta, draw: tau]",
            f"[{WORD}, {{draw: tau}}]",
            f"[{{draw: tau}}, {WORD}]",
            f"[{{draw: beta, every: 3}}, {WORD}, {{draw: tau, every: 2}}]",
            f"[{{draw: tau}}, {HELD}]",
        )
    },
    "mixture": Law(lambda _: draws_build("mixture"), of_mixture, {**EIGHT, "thin": 8}),
    "mixture by slices": Law(lambda _: draws_build("slices_of_data"), of_mixture, {**EIGHT, "thin": 20}),
    "sites": Law(sites, of_sites, {"thin": 2, "draws": 4000, "chains": 8}),
    "flows": Law(shipped("cir_categories"), of_sparse, {**EIGHT, "step_size": 1.0, "thin": 8}),
    "flows, short": Law(shipped("cir_categories"), of_sparse, {**EIGHT, "draws": 4000, "step_size": 0.05, "thin": 160}),
    "flows of minibatches": Law(
        shipped("scir_dense"), of_dense, {**EIGHT, "draws": 4000, "step_size": 0.5, "thin": 16}
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_chains_have_the_law_of_their_target(name: str, tmp_path: Path) -> None:
    assert LAWS[name].off(tmp_path) < MOST


FAULTS = {
    "a ratio without kinetic energy": ("well, hmc, 0.35", (" + rest_start - rest_at", "")),
    "a refresh of half the variance": ("well, mala, 0.7", ("_noise_scale(m,", "_noise_scale(m / 2.0,")),
    "an involution without its Jacobian": ("well, scaled, 0.35", (" + w_drawn[0] - (16.0 / 9.0)", " - (16.0 / 9.0)")),
    "the energy of the first move": ("words, in turn", ("= U_next[0] - U_at_v2 +", "= U[0] - U_at_v2 +")),
    "the step size of the other word": ("words, in turn", ("+ eps_scaled * (-grad", "+ eps * (-grad")),
    "a position by the old momentum": ("linear", ("eps * inv_M_r_new_0", "eps * inv_M_r_0")),
    "noise of D for 2 D": ("linear", ("two_D_r[i, j] = 2.0 * C", "two_D_r[i, j] = C")),
    "a momentum that is not turned": ("words, beside a draw", ("else -r_drawn[i]", "else r_drawn[i]")),
}
"""Fault to a law and what of the text is replaced; that of several words is the text for every size."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_move_is_seen_at_this_length(fault: str, tmp_path: Path) -> None:
    name, change = FAULTS[fault]
    assert LAWS[name].off(tmp_path, change, shape="plain" if name.startswith("words") else "shipped") > MOST


def test_a_move_of_the_users_that_keeps_another_law_is_seen_at_this_length(tmp_path: Path) -> None:
    wrong = partial(coded_build, cycle=f"refresh: r, {code('too_wide')}")
    assert Law(wrong, of_target).off(tmp_path) > 2 * MOST
