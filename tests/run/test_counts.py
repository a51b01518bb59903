"""Draws of counts have the law of their target: what is left of a removal experiment, and counts of a signal, beside
their posteriors by quadrature and by enumeration; where chains start, what is stored, and what ends a chain.

Standard errors are between chains, which share no draw, and a figure is off by 5 of them with t of 15 degrees once in
6,000; a p-value is below 1e-6 once in a million.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from cycles import texts
from draws import draws_build
from loaders import load_build
from scipy import stats
from scipy.special import gammaln, logsumexp

from recipe_compiler.errors import DataError
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.checkpoint_facts import checkpoint_facts
from recipe_compiler.run.data import load_data
from recipe_compiler.run.energies import energies_of
from recipe_compiler.run.initial import initial_state
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.run.store import to_datatree
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
LEAST, CHAINS = 1e-6, 16
COLUMNS = np.loadtxt(ROOT / "specs/data/removal_counts.csv", delimiter=",", skiprows=1)
AREA, CATCHES = COLUMNS[:, 0], COLUMNS[:, 1:]
ONE = """
format: 1
name: one_count
state: {NAME: {domain: DOMAIN}}
parameters: {a: {is: positive}}
potential: ENERGY
laws: {NAME: "LAW"}
"""


@cache
def module_of(build: Build) -> Emitted:
    module = texts(build)["shipped"].module
    return load_text(module.name, module.text)


def drawn(build: Build, **settings: object) -> Draws:
    run = replace(build.run, **{"draws": 20_000, "warmup": 200, "thin": 1, "chains": CHAINS, "seed": 7, **settings})
    return sample(module_of(build), build, run, load_data(build.data, build.target))


def kept(draws: Draws) -> np.ndarray:
    return draws.block("theta")[:, draws.warmup :]


def off(of_chains: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return how many standard errors the mean over draws is off; `of_chains` is `[chain, draw, figure]`."""
    means = of_chains.mean(axis=1)
    return (means.mean(axis=0) - expected) / (means.std(axis=0, ddof=1) / np.sqrt(len(means)))


def removal_posterior() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights of (mu, p) given the catches, and their values: rate, and what is left, integrated out exactly.

    Catches are independent Poisson counts, and int gamma(mu, 2, rate) gamma(rate, 2, 2) drate ~ mu (mu + 2)**-4.
    """
    mu, p = np.linspace(1e-3, 80, 8000)[:, None], ((np.arange(800) + 0.5) / 800)[None]
    log_w = np.log(mu) - 4 * np.log(mu + 2) + np.log(p) + np.log1p(-p)
    for passed, catch in enumerate(CATCHES.T):
        per_area = mu * p * (1 - p) ** passed
        log_w = log_w + catch.sum() * np.log(per_area) - AREA.sum() * per_area
    return np.exp(log_w - logsumexp(log_w)), mu, p


@pytest.mark.slow
def test_what_is_left_has_its_posterior() -> None:
    draws = kept(drawn(draws_build("removal"), thin=10))
    mu, p, left = np.exp(draws[..., :1]), 1 / (1 + np.exp(-draws[..., 2:3])), draws[..., 3:]
    assert (left == np.floor(left)).all()
    assert (left >= 0).all()
    w, of_mu, of_p = removal_posterior()
    mean = of_mu * (1 - of_p) ** 3
    total, few = AREA.sum() * mean, np.array([0, 3, 9])
    figures = [
        (mu, np.sum(w * of_mu)), (p, np.sum(w * of_p)), (p**2, np.sum(w * of_p**2)), (mu * p, np.sum(w * of_mu * of_p)),
        (left, np.array([np.sum(w * a * mean) for a in AREA])),
        (left == 0, np.array([np.sum(w * np.exp(-a * mean)) for a in AREA])),
        (left.sum(axis=-1, keepdims=True) <= few, [np.sum(w * stats.poisson.cdf(k, total)) for k in few]),
        (left[..., :1] * left[..., 1:2], np.sum(w * AREA[0] * AREA[1] * mean**2)),
        (left[..., :1] * p, np.sum(w * AREA[0] * mean * of_p)),
    ]  # fmt: skip
    for of_draws, expected in figures:
        assert np.max(np.abs(off(of_draws, np.asarray(expected)))) < 5


def signal_posterior() -> tuple[np.ndarray, np.ndarray]:
    """Return all counts k of signal of the first two data, and their probabilities: s and b are integrated out.

    Given k of all data s is Gamma(2 + sum k, 1 + sum t), so only the sum of the others counts: it is enumerated, too,
    with as many ways as there are to choose so many of all that were seen.
    """
    y, w, t = CATCHES[:, 0], CATCHES[:, 1], AREA
    first, second, others = np.meshgrid(
        np.arange(y[0] + 1), np.arange(y[1] + 1), np.arange(y[2:].sum() + 1), indexing="ij"
    )
    K, S = first + second + others, np.array([y[0], y[1], y[2:].sum()])
    log_p = gammaln(2 + K) - (2 + K) * np.log(1 + t.sum())
    B = 2 + y.sum() - K + w.sum()
    log_p += gammaln(B) - B * np.log(1 + 4 * t.sum())
    for n, k in zip(S, (first, second, others), strict=True):
        log_p += gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_p += first * np.log(t[0]) + (y[0] - first) * np.log(t[0])  # the time of a datum is that of both kinds
    p = np.exp(log_p - logsumexp(log_p)).sum(axis=2)
    return np.stack([first[..., 0], second[..., 0]], axis=-1).reshape(-1, 2), p.reshape(-1)


@pytest.mark.slow
def test_counts_of_a_signal_have_their_posterior_by_enumeration() -> None:
    k = kept(drawn(draws_build("signal"), thin=4))[..., 2:]
    assert (k == np.floor(k)).all()
    assert ((k >= 0) & (k <= CATCHES[:, 0])).all()
    every, p = signal_posterior()
    likely = p > 0.002
    pairs = (k[..., None, :2] == every[likely]).all(axis=-1)
    assert np.max(np.abs(off(pairs, p[likely]))) < 5
    means = np.array([p @ every[:, 0], p @ every[:, 1]])
    assert np.max(np.abs(off(k[..., :2], means))) < 5


def one_count(name: str, domain: str, energy: str, law: str, a: str) -> Build:
    text = ONE.replace("NAME", name).replace("DOMAIN", domain).replace("ENERGY", energy).replace("LAW", law)
    return draws_build(
        f"one_{name}_{a.replace('/', '_')}", text, f"[draw: {name}]", f"parameters: {{a: {{value: {a}}}}}"
    )


@pytest.mark.parametrize("mean", ["1/100", "3/2", "15", "3000"])
def test_a_poisson_count_has_its_law(mean: str) -> None:
    build = one_count("m", "counts", "loggamma(m + 1) - m*log(a)", "Poisson(a)", mean)
    m = kept(drawn(build, chains=2, draws=40_000)).reshape(-1)
    check_law(m, stats.poisson(float(Fraction(mean))))


@pytest.mark.parametrize("p", ["1/1000", "1/4", "9/10"])
def test_a_binomial_count_has_its_law(p: str) -> None:
    energy = "loggamma(k + 1) + loggamma(41 - k) - k*log(a) - (40 - k)*log(2 - a)"
    build = one_count("k", '"counts(40)"', energy, "Binomial(40, a/2)", p)
    k = kept(drawn(build, chains=2, draws=40_000)).reshape(-1)
    assert k.max() <= 40
    check_law(k, stats.binom(40, float(Fraction(p)) / 2))


def check_law(counts: np.ndarray, known: object) -> None:
    """Check counts against a law by chi-square, in cells of 20 or more, and that none depends on the one before."""
    edges = [-1.0]
    while known.sf(edges[-1]) * len(counts) > 40:
        edges.append(known.ppf(min(known.cdf(edges[-1]) + max(20 / len(counts), 0.02), 1 - 20 / len(counts))))
        if edges[-1] == edges[-2]:
            edges[-1] += 1
    edges = [*dict.fromkeys(edges), np.inf]
    p = np.diff([0.0, *(known.cdf(edge) for edge in edges[1:-1]), 1.0])
    found = np.histogram(counts, bins=[e + 0.5 for e in edges])[0]
    assert found.sum() == len(counts)
    if len(p) > 1:
        assert stats.chisquare(found, len(counts) * p).pvalue > LEAST
    centred = counts - known.mean()
    assert abs(np.mean(centred[1:] * centred[:-1])) < 6 * known.var() / np.sqrt(len(counts))


def test_counts_are_stored_as_integers() -> None:
    build = draws_build("removal")
    draws = drawn(build, chains=4, draws=500)
    data, module = load_data(build.data, build.target), module_of(build)
    known = energies_of(module, build, prepare_inputs(module, build, build.run, data, 0), data, draws, asked=True)
    tree = to_datatree(draws, build, data, "0" * 64, "", known)
    left = tree["posterior"]["left"]
    assert left.dtype == np.int64
    assert left.shape == (4, 500, 10)
    assert np.array_equal(left.to_numpy(), kept(draws)[..., 3:])
    assert np.array_equal(tree["posterior"]["missed"].to_numpy(), left.to_numpy().sum(axis=-1))
    assert [row.name for row in summarise(tree, draws).rows][:4] == ["mu", "rate", "p", "left[0]"]


def test_the_log_likelihood_of_a_datum_is_that_of_its_counts() -> None:
    build = draws_build("removal")
    draws = drawn(build, chains=2, draws=20)
    data, module = load_data(build.data, build.target), module_of(build)
    known = energies_of(module, build, prepare_inputs(module, build, build.run, data, 0), data, draws, asked=True)
    theta = kept(draws)
    mu, p = np.exp(theta[..., :1]), 1 / (1 + np.exp(-theta[..., 2:3]))
    expected = sum(stats.poisson.logpmf(CATCHES[:, k], AREA * mu * p * (1 - p) ** k) for k in range(3))
    expected = expected + stats.poisson.logpmf(theta[..., 3:], AREA * mu * (1 - p) ** 3)
    assert known.log_likelihood == pytest.approx(expected, rel=1e-10)


def test_a_run_of_counts_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """How many words a count takes depends on the state: what is drawn next must not depend on where a run stopped."""
    build = draws_build("removal")
    module, data = module_of(build), load_data(build.data, build.target)
    few = replace(build.run, draws=60, warmup=5, thin=3, chains=2, seed=3)
    for settings, resume in ((few, False), (replace(few, draws=200), True)):
        facts = checkpoint_facts({"module": "0" * 64}, build, settings, data)
        with Checkpoint(tmp_path, facts) as checkpoint:
            found = sample(module, build, settings, data, checkpoint=checkpoint, resume=resume)
    whole = sample(module, build, replace(few, draws=200), data)
    assert whole.kept == found.kept == (205, 205)
    assert np.array_equal(whole.block("theta"), found.block("theta"))


def test_counts_start_at_zero_or_where_they_are_told(tmp_path: Path) -> None:
    text = (ROOT / "specs/builds/gibbs_removal.yaml").read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    path = tmp_path / "build.yaml"
    path.write_text(text, encoding="utf-8")
    assert (start(load_build(path)) == 0.0).all()
    for stated, right in (("2*ones", True), ("ones/2", False), ("-ones", False)):
        path.write_text(text.replace("run:", f"init: {{left: {stated}}}\nrun:"), encoding="utf-8")
        if right:
            assert (start(load_build(path)) == 2.0).all()
        else:
            with pytest.raises(DataError, match="whole numbers from 0 on"):
                start(load_build(path))


@pytest.mark.parametrize("end", ["2", "n"])
def test_counts_start_below_their_end(tmp_path: Path, end: str) -> None:
    text = f"""name: t
state: {{p: {{constraint: "interval(0, 1)"}}, left: {{shape: 13, domain: counts({end})}}}}
data: {{y: {{shape: n}}}}
log_prior: binomial(left, {end}, p)
log_likelihood: -y**2
laws: {{left: "Binomial({end}, p*ones)"}}
"""
    (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "y.csv").write_text("y\n1\n2\n", encoding="utf-8")
    head = "name: b\ndynamics: still\ntarget: t.yaml\nscheme: {cycle: [draw: left]}\nvariant: full\n"
    for first, right in (("2", True), ("3", False)):
        build = f"{head}data: {{file: y.csv, y: y}}\ninit: {{left: {first}*ones}}\nrun: {{step_size: 1}}\n"
        (tmp_path / "b.yaml").write_text(build, encoding="utf-8")
        document = load_build(tmp_path / "b.yaml")
        stated = partial(initial_state, document, document.dynamics, {}, {}, {"d": 14, "n": 2}, 1, 0)
        if right:
            assert (stated()[0][1:] == 2.0).all()
            continue
        with pytest.raises(DataError, match="whole numbers from 0 to 2"):
            stated()


def start(build: Build) -> np.ndarray:
    """Return the counts at which a chain starts."""
    from recipe_compiler.run.sample import known_values

    sizes = {"d": 13, "N": 10}
    return initial_state(build, build.dynamics, {}, known_values(build, sizes), sizes, 1, 0)[0][3:]


def test_a_mean_that_is_none_ends_the_chain() -> None:
    build = one_count("m", "counts", "loggamma(m + 1) - m*log(a)", "Poisson(a)", "3/2")
    module = module_of(build)
    kept_draws = np.empty((4, 1))
    for mean, count in ((1.5, 4), (0.0, 4), (-1.0, 0), (np.nan, 0), (np.inf, 0)):
        state, words = np.zeros(1), np.arange(1, 5, dtype=np.uint64)
        assert module.run(state, mean, 1.0, 1, words, kept_draws) == count, mean
