"""Laws with Cholesky factors and classes, beside closed forms, NumPy and SciPy: as formulas and as draws."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from by_hand import factor, lkj
from loaders import load_build, load_target
from mpmath import mpf
from scipy import stats

from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Apply, Formula, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.readback.names import exact_inverse
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.run.predictive import _Drawer, predictive_of
from recipe_compiler.verify.builds.proper_prior import by_proper_prior

SPECS = Path(__file__).parents[2] / "specs"


def typed(text: str, declarations: Declarations) -> Formula:
    where = Place("t")
    return elaborate(parse(text, "log_prior", where), Scope(declarations, densities=True), SCALAR, "log_prior", where)


def of_factor(K: int) -> Declarations:
    positive = Domain(DomainName.POSITIVE)
    blocks = (
        Block("x", Shape(K)),
        Block("mu", Shape(K)),
        Block("eta", SCALAR, positive),
        Block("tau", Shape(K), positive),
    )
    return Declarations((*blocks, Block("L", Shape(K, K), constraint=Constraint.CHOLESKY_CORR)))


PARTIAL = [[0.3], [-0.5, 0.7], [0.2, 0.4, -0.6]]


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("eta", [0.4, 1.0, 2.5])
def test_lkj_is_that_of_the_paper_carried_to_the_factor(K: int, eta: float) -> None:
    """The free entries of R have the volume prod_k L_kk**(K - 1 - k) in those of L, k counted from 0."""
    L = factor(PARTIAL[: K - 1])
    found = float(
        evaluate(typed("lkj_cholesky(L, eta)", of_factor(K)), Point({"L": np.array(L), "eta": np.asarray(eta)}, {}))
    )
    with mpmath.workdps(50):
        wide = mpmath.matrix([[mpf(entry) for entry in row] for row in L])
        volume = mpmath.fsum((K - 1 - k) * mpmath.log(wide[k, k]) for k in range(1, K))
        assert found == pytest.approx(float(lkj(wide * wide.T, mpf(eta)) + volume), rel=1e-12)


@pytest.mark.slow
def test_lkj_has_the_integral_one() -> None:
    """K = 3 by Gauss and Legendre in partial correlations: dL has the volume sqrt(1 - z_20**2) in them."""
    nodes_, weights = np.polynomial.legendre.leggauss(16)
    density = typed("lkj_cholesky(L, eta)", of_factor(3))
    total = 0.0
    for a, wa in zip(nodes_, weights, strict=True):
        for b, wb in zip(nodes_, weights, strict=True):
            for c, wc in zip(nodes_, weights, strict=True):
                at = Point({"L": np.array(factor([[a], [b, c]])), "eta": np.asarray(3.0)}, {})
                total += wa * wb * wc * np.exp(float(evaluate(density, at))) * np.sqrt(1 - b * b)
    assert total == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("eta", [0.7, 2.0])
def test_draws_of_lkj_have_its_marginals(eta: float) -> None:
    """Every correlation is 2 beta(b, b) - 1, b = eta - 1 + K/2: Kolmogorov's distance, one false alarm in 10**6."""
    rng = np.random.default_rng(5)
    draws = np.array([DENSITIES["lkj_cholesky"].draw(rng, (3, 3), eta) for _ in range(4000)])
    R = draws @ draws.transpose(0, 2, 1)
    b = eta - 1 + 3 / 2
    for i, j in ((1, 0), (2, 0), (2, 1)):
        distance = stats.kstest((R[:, i, j] + 1) / 2, stats.beta(b, b).cdf).statistic
        assert distance < np.sqrt(np.log(2 / 1e-6) / 2 / 4000), (i, j)


@pytest.mark.parametrize(
    ("text", "scales", "more"),
    [
        ("L", [1, 1, 1], [1, 1, 1]),
        ("diag(tau) @ L", [0.5, 2, 0.7], [1, 1, 1]),
        ("L @ diag(tau)", [1, 1, 1], [0.5, 2, 0.7]),
        ("diag(tau) @ (3*L @ diag(tau))", [0.5, 2, 0.7], [1.5, 6, 2.1]),
        ("2*L", [2, 2, 2], [1, 1, 1]),
        ("diag(exp(x/4)) @ L", None, [1, 1, 1]),
    ],
)
def test_a_normal_law_of_a_factor_of_the_state_inverts_the_triangle_alone(text: str, scales: Any, more: Any) -> None:
    L, x, mu, tau = np.array(factor(PARTIAL[:2])), np.array([0.3, -1.2, 2.0]), np.array([1.0, 0.5, -0.4]), [0.5, 2, 0.7]
    formula = typed(f"multi_normal_cholesky(x, mu, {text})", of_factor(3))
    found = {node for node in nodes(formula) if isinstance(node, Apply) and node.fn in ("inv", "det")}
    assert [one.args for one in found] == [(Symbol("L", Shape(3, 3), Role.BLOCK),)]
    columns = {"x": x.reshape(-1, 1), "mu": mu.reshape(-1, 1), "tau": np.reshape(tau, (-1, 1)), "L": L}
    D = np.diag(np.exp(x / 4) if scales is None else scales)
    Sigma: Any = D @ L @ np.diag(more) ** 2 @ L.T @ D
    wanted = stats.multivariate_normal(mu, Sigma).logpdf(x)
    assert float(evaluate(formula, Point(columns, {}))) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "mean", "factor_of"),
    [
        ("multi_normal_cholesky(B, mu, L)", "mu", lambda L, tau: L),
        ("multi_normal_cholesky(B, mu.T, diag(tau) @ L)", "mu", lambda L, tau: np.diag(tau) @ L),
        ("multi_normal_cholesky(B, M, eta*L @ diag(tau))", "M", lambda L, tau: 0.7 * L @ np.diag(tau)),
        ("multi_normal_cholesky(B, 0, eta)", "0", lambda L, tau: 0.7 * np.eye(3)),
        ("multi_normal(B, mu, L @ L.T)", "mu", lambda L, tau: L),
        ("multi_normal(B, mu, eta*I)", "mu", lambda L, tau: np.sqrt(0.7) * np.eye(3)),
        ("multi_normal(B, 0, inv(I))", "0", lambda L, tau: np.eye(3)),
        ("multi_normal(B, M, ones @ ones.T + I)", "M", lambda L, tau: np.linalg.cholesky(np.ones((3, 3)) + np.eye(3))),
        ("multi_normal_cholesky(B, 0, 2*I)", "0", lambda L, tau: 2 * np.eye(3)),
        ("multi_normal(B, ones @ ones.T, L @ L.T)", "1", lambda L, tau: L),
        ("normal(B, M, eta)", "M", lambda L, tau: 0.7 * np.eye(3)),
        ("normal(B, 0, eta)", "0", lambda L, tau: 0.7 * np.eye(3)),
    ],
)
def test_a_law_of_a_matrix_is_that_of_every_row(text: str, mean: str, factor_of: Any) -> None:
    own = of_factor(3)
    declared = replace(own, blocks=(*own.blocks, Block("B", Shape("J", 3)), Block("M", Shape("J", 3))))
    L, tau, mu = np.array(factor(PARTIAL[:2])), np.array([0.5, 2.0, 0.7]), np.array([1.0, 0.5, -0.4])
    rows, means = np.sin(np.arange(12.0)).reshape(4, 3), np.cos(np.arange(12.0)).reshape(4, 3)
    columns = {"mu": mu.reshape(-1, 1), "tau": tau.reshape(-1, 1), "L": L, "B": rows, "M": means}
    at = Point(columns | {"eta": np.asarray(0.7)}, {"J": 4})
    around = {"mu": np.tile(mu, (4, 1)), "M": means, "0": np.zeros((4, 3)), "1": np.ones((4, 3))}[mean]
    S = factor_of(L, tau) @ factor_of(L, tau).T
    wanted = stats.multivariate_normal(np.zeros(3), S).logpdf(rows - around).sum()
    assert float(evaluate(typed(text, declared), at)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("multi_normal(L, I, eta*I)", np.eye(3)),
        ("multi_normal(L, ones, eta*I)", np.ones((3, 3))),
        ("multi_normal(I, L, eta)", np.eye(3)),
        ("multi_normal(L, 0, eta*I)", np.zeros((3, 3))),
    ],
)
def test_an_identity_beside_a_square_matrix_is_one_of_its_columns(text: str, mean: Any) -> None:
    L = np.array(factor(PARTIAL[:2]))
    formula, at = typed(text, of_factor(3)), Point({"L": L, "eta": np.asarray(0.7)}, {})
    wanted = stats.norm.logpdf(L - mean, scale=np.sqrt(0.7)).sum()
    assert float(evaluate(formula, at)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("multi_normal(B, I, L @ L.T)", "matrix [?, ?], expected a matrix [J, 3]"),
        ("multi_normal(0, I, L)", "matrix [?, ?] in multi_normal(x, mu, Sigma), expected scalars or vectors"),
        ("multi_normal_cholesky(B, mu, tau)", "column [3], expected a matrix [3, 3]"),
        ("multi_normal_cholesky(mu, B, L)", "matrix [J, 3], expected a column [3]"),
        ("multi_normal_cholesky(B, M.T, L)", "matrix [3, J], expected a matrix [J, 3]"),
        ("normal(B, mu, 1)", "column [3], expected a matrix [J, 3]"),
        ("dirichlet(B, mu)", "expected scalars or vectors"),
    ],
)
def test_shapes_beside_a_matrix_of_rows_are_named(text: str, found: str) -> None:
    own = of_factor(3)
    declared = replace(own, blocks=(*own.blocks, Block("B", Shape("J", 3)), Block("M", Shape("J", 3))))
    with pytest.raises(DocumentError) as told:
        typed(text, declared)
    assert found in str(told.value)


def test_what_is_not_seen_to_be_a_triangle_keeps_its_inverse() -> None:
    for text in ("multi_normal_cholesky(x, mu, L @ L)", "multi_normal_cholesky(x, mu, L.T)"):
        formula = typed(text, of_factor(3))
        assert any(isinstance(node, Apply) and node.fn == "inv" for node in nodes(formula))


CORRELATED = """
state:
  mu: {shape: K}
  L: {shape: [K, K], constraint: cholesky_factor_corr}
  tau: {shape: K, constraint: positive}
data: {y: {shape: [N, K]}}
log_prior: normal(mu, 0, 5) + half_normal(tau, 1) + lkj_cholesky(L, 2)
log_likelihood: multi_normal_cholesky(y, mu, diag(tau) @ L)
"""
SLOPES = """
state:
  beta: {shape: [4, K]}
  mu: {shape: K}
  L: {shape: [K, K], constraint: cholesky_factor_corr}
  tau: {shape: K, constraint: positive}
data: {x: {shape: [N, K]}, g: {shape: N, index_of: 4}, y: {shape: N}}
log_prior: multi_normal_cholesky(beta, mu, diag(tau) @ L) + normal(mu, 0, 5) + half_normal(tau, 1) + lkj_cholesky(L, 2)
log_likelihood: normal(y, dot(x, beta[g]), 1/2)
"""
Y = np.sin(np.arange(15.0) ** 2).reshape(5, 3)
BUILD = f"""
name: NAME
dynamics: {SPECS}/dynamics/sgld.yaml
target: target.yaml
bind: {{{{D: I}}}}
scheme: {{{{name: euler}}}}
variant: full
data: {{{{file: data.csv, COLUMNS}}}}
run: {{{{step_size: 0.01}}}}
""".replace("{{", "{").replace("}}", "}")


def target(folder: Path, text: str) -> Any:
    (folder / "t.yaml").write_text(f"name: t\n{text}")
    return load_target(folder / "t.yaml")


PRIORS = """
state: {a: {shape: 2}, L: {shape: [2, 2], constraint: cholesky_factor_corr}, eta: {constraint: positive}}
data: {y: {shape: N, index_of: 2}}
log_prior: normal(a, 0, 2) + lkj_cholesky(L, eta) + exponential(eta, 1)
log_likelihood: categorical_logit(y, L @ a)
"""


@pytest.mark.parametrize("block", ["unit_vector", "simplex"])
def test_a_law_is_proper_over_the_measure_of_its_set_alone(tmp_path: Path, block: str) -> None:
    """N(w | 0, s) over directions is s**-3 exp(-1/(2 s**2)): not at most 1, whatever s is."""
    text = f"state: {{w: {{shape: 3, constraint: {block}}}, s: {{constraint: positive}}}}\ndata: {{y: {{shape: N}}}}\n"
    text += "log_prior: normal(w, 0, s) + half_normal(s, 1)\nlog_likelihood: -abs(y - w[0])\n"
    assert by_proper_prior(target(tmp_path, text)) is None


def test_classes_are_drawn_with_their_odds() -> None:
    """Counts of 30,000 draws: chi squared of 2 degrees, one false alarm in 10**6."""
    eta = np.array([0.5, -1.0, 1.5])
    draws = DENSITIES["categorical_logit"].draw(np.random.default_rng(4), 30_000, np.broadcast_to(eta, (30_000, 3)))
    wanted = 30_000 * np.exp(eta) / np.exp(eta).sum()
    assert (((np.bincount(draws, minlength=3) - wanted) ** 2) / wanted).sum() < stats.chi2(2).isf(1e-6)


def test_priors_of_factors_and_data_of_classes_are_drawn(tmp_path: Path) -> None:
    target(tmp_path, PRIORS)
    (tmp_path / "data.csv").write_text("g\n1\n0\n1\n")
    text = BUILD.replace("NAME", "t").replace("COLUMNS", "y: g").replace("target.yaml", "t.yaml")
    (tmp_path / "build.yaml").write_text(text)
    build = load_build(tmp_path / "build.yaml")
    found = predictive_of(build.target)
    assert [one.of for one in found.blocks] == ["a", "eta", "L"]
    drawer = _Drawer(build, load_data(build.data, build.target), {}, {})
    rng = np.random.default_rng(6)
    prior = drawer.prior(found.blocks, rng)
    L = prior["L"][0]
    np.testing.assert_allclose((L**2).sum(axis=-1), 1, rtol=1e-12)
    assert (L[:, 0, 1] == 0).all()
    made = drawer.data_at(prior, found, [rng])["y"][0]
    assert made.shape == (500, 3)
    eta = (L @ prior["a"][0][:, :, None])[:, :, 0]
    expected = 1 / (1 + np.exp(eta[:, 0] - eta[:, 1]))
    apart = made - expected[:, None]
    assert abs(apart.sum()) < 5 * np.sqrt((3 * expected * (1 - expected)).sum())


def test_rows_of_a_matrix_are_drawn_with_the_covariance_of_each_prior_draw(tmp_path: Path) -> None:
    """Standardised by the mean, scales and factor of its draw, every row is N(0, I): 500 x 4 rows, within 5 errors."""
    target(tmp_path, SLOPES.replace("K", "2"))
    (tmp_path / "data.csv").write_text("g,a,b,j\n1,0.3,2,1\n0,1,-1,2\n3,1,0.5,1\n")
    text = BUILD.replace("NAME", "t").replace("COLUMNS", "x: [a, b], g: g, y: j").replace("target.yaml", "t.yaml")
    (tmp_path / "build.yaml").write_text(text)
    build = load_build(tmp_path / "build.yaml")
    drawer = _Drawer(build, load_data(build.data, build.target), {}, {})
    prior = {
        name: x[0] for name, x in drawer.prior(predictive_of(build.target).blocks, np.random.default_rng(8)).items()
    }
    factors = prior["tau"][:, :, None] * prior["L"]
    apart = prior["beta"] - prior["mu"][:, None, :]
    z = np.linalg.solve(factors[:, None], apart[..., None])[..., 0].reshape(-1, 2)
    assert len(z) == 2000
    assert (abs(z.mean(axis=0)) < 5 / np.sqrt(2000)).all()
    assert (abs(z.T @ z / 2000 - np.eye(2)) < 5 * np.sqrt(2 / 2000)).all()


@pytest.mark.parametrize(
    ("state", "prior", "mean", "scale"),
    [
        *((f"W: {{shape: {axes}}}, M: {{shape: {axes}}}", "normal(W, M, 1/9) + normal(M, 0, 1)", "M", 1 / 9)
          for axes in ("[5, 1]", "[1, 5]", "[5, 2]")),
        ("W: {shape: [5, 2]}, M: {shape: [5, 2]}", "multi_normal(W, M, 9*I) + normal(M, 0, 1)", "M", 3),
        ("W: {shape: [5, 2]}", "multi_normal_cholesky(W, ones @ ones.T, 2*I)", 1, 2),
        ("W: {shape: [2, 2]}", "multi_normal(W, I, 9*I)", np.eye(2), 3),
        ("W: {shape: 1}", "multi_normal(W, 0, 9*I)", 0, 3),
    ],
)  # fmt: skip
def test_entries_of_a_matrix_are_drawn_around_their_means(
    tmp_path: Path, state: str, prior: str, mean: Any, scale: float
) -> None:
    """By Kolmogorov's distance, one false alarm in 10**6."""
    target(
        tmp_path, f"state: {{{state}}}\ndata: {{y: {{shape: N}}}}\nlog_prior: {prior}\nlog_likelihood: normal(y, 0, 1)"
    )
    (tmp_path / "data.csv").write_text("a\n1\n0\n1\n")
    text = BUILD.replace("NAME", "t").replace("COLUMNS", "y: a").replace("target.yaml", "t.yaml")
    (tmp_path / "build.yaml").write_text(text)
    build = load_build(tmp_path / "build.yaml")
    drawer = _Drawer(build, load_data(build.data, build.target), {}, {})
    found = drawer.prior(predictive_of(build.target).blocks, np.random.default_rng(7))
    apart = found["W"] - (found["M"] if isinstance(mean, str) else mean)
    assert stats.kstest(apart.ravel() / scale, "norm").pvalue > 1e-6


@pytest.mark.slow
def test_data_of_a_factor_that_is_sampled_are_drawn_with_its_covariance(tmp_path: Path) -> None:
    """All 4,000 states are one: entries of the mean and the covariance of 20,000 rows, within 5 errors."""
    target(tmp_path, CORRELATED.replace("K", "3"))
    (tmp_path / "data.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, row[:3])) for row in Y) + "\n")
    text = BUILD.replace("NAME", "t").replace("COLUMNS", "y: [a, b, c]").replace("target.yaml", "t.yaml")
    (tmp_path / "build.yaml").write_text(text)
    build = load_build(tmp_path / "build.yaml")
    L, tau, mu = np.array(factor(PARTIAL[:2])), np.array([0.5, 2.0, 0.7]), np.array([1.0, -2.0, 0.5])
    states = {name: np.broadcast_to(x, (1, 4000, *x.shape)) for name, x in (("mu", mu), ("L", L), ("tau", tau))}
    drawer = _Drawer(build, load_data(build.data, build.target), {}, {})
    rows = drawer.data_at(states, predictive_of(build.target), [np.random.default_rng(3)])["y"].reshape(-1, 3)
    S = np.diag(tau) @ L @ L.T @ np.diag(tau)
    assert len(rows) == 20_000
    assert (abs(rows.mean(axis=0) - mu) < 5 * np.sqrt(np.diag(S) / len(rows))).all()
    error = np.sqrt((S**2 + np.outer(np.diag(S), np.diag(S))) / len(rows))
    assert (abs(np.cov(rows.T) - S) < 5 * error).all()


def test_a_mass_of_more_rows_than_cofactors_take_is_read_beside_a_factor() -> None:
    """What the draws are told by inverts M, of 9 rows of digits where a block lies in a set."""
    entries = np.array([[sp.Float(1 + 9 * (i == j) + 1 / (i + j + 1), 80) for j in range(9)] for i in range(9)])
    product = exact_inverse(entries) @ entries
    assert all(abs(product[i, j] - int(i == j)) < sp.Float(10) ** -75 for i in range(9) for j in range(9))
