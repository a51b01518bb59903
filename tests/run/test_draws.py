"""Draws by laws: of counts, of one of several places, of shares; where chains start, what is stored, what ends one."""

from dataclasses import replace

import numpy as np
import pytest
from answers import SPECS, document
from draws import DATA, ONE_OF_THREE, draws_build
from loaders import load_build
from running import data_of, drawn, kept, module_of, shipped, stored
from scipy import stats
from scipy.special import gammaln

from recipe_compiler.advise.diagnostics import summarise
from recipe_compiler.advise.forecast import forecast
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.errors import DataError, DocumentError
from recipe_compiler.run.energies import energies_of
from recipe_compiler.run.initial import first_states
from recipe_compiler.run.sample import known_values, prepare_inputs
from recipe_compiler.spec.model import Build

AREA, *CATCHES = np.loadtxt(SPECS / "data/removal_counts.csv", delimiter=",", skiprows=1).T
Y = np.loadtxt(SPECS / "data/few_of_two_groups.csv", skiprows=1)
FEW = {"draws": 20, "warmup": 5, "thin": 1, "chains": 2, "seed": 5}
INDEPENDENT = {
    "g[0]": stats.gamma(0.5, scale=1 / 3), "g[1]": stats.gamma(2, scale=1 / 3), "h": stats.invgamma(4, scale=2),
    "e": stats.expon(scale=4), "l[0]": stats.lognorm(2, scale=np.exp(0.5)), "l[1]": stats.lognorm(2, scale=np.exp(2)),
    "b": stats.beta(2, 0.5), "w": stats.uniform(-1, 4), "n[0]": stats.norm(0.5, np.sqrt(2)),
    "n[1]": stats.norm(2, np.sqrt(3)),
}  # fmt: skip
"""The laws of the coordinates, which do not depend on each other but for n."""


@pytest.mark.parametrize("draws", [400, pytest.param(50_000, marks=pytest.mark.slow)])
def test_every_family_is_drawn_by_its_law(draws: int) -> None:
    """In the unbounded variables that the chain holds: draws are turned back here. p-values of 1e-6."""
    theta = kept(drawn(draws_build("families"), **{**FEW, "draws": draws})).reshape(-1, 10)
    logits = 1 / (1 + np.exp(-theta[:, 6:8]))
    values = np.hstack([np.exp(theta[:, :6]), logits[:, :1], 4 * logits[:, 1:] - 1, theta[:, 8:]])
    for own, (name, law) in zip(values.T, INDEPENDENT.items(), strict=True):
        assert stats.kstest(own, law.cdf).pvalue > 1e-6, name
    n = theta[:, 8:] - [0.5, 2]
    assert abs(np.mean(n[:, 0] * n[:, 1]) - 1) < 5 * np.std(n[:, 0] * n[:, 1]) / np.sqrt(len(n))
    assert np.max(np.abs(np.corrcoef(theta.T)[np.triu_indices(10, 1)][:-1])) < 6 / np.sqrt(len(theta))


def test_a_move_is_done_in_each_nth_cycle_from_the_first_on() -> None:
    """Also where a draw is kept of each second cycle alone; a draw by slices that is not due counts nothing."""
    build = draws_build(
        "every_other", f"{SPECS}/targets/regression_precision.yaml",
        "[{draw: beta, every: 3}, {draw: tau, every: 2, repeat: 2}]", DATA["regression_precision"],
    )  # fmt: skip
    for thin in (1, 2):
        theta = drawn(build, **{**FEW, "draws": 31, "warmup": 0, "thin": thin}).block("theta")
        for own, every in ((theta[:, :, :-1], 3), (theta[:, :, -1:], 2)):
            due = [any(k % every == 0 for k in range(thin * at, thin * (at + 1))) for at in range(1, 31)]
            assert np.all(np.any(np.diff(own, axis=1) != 0, axis=2) == due)


# slices


def sliced(moves: str) -> Build:
    return draws_build("sliced", ONE_OF_THREE, f"[{moves}]", "parameters: {a: {value: [1, 0, -2]}}")


def test_levels_below_what_no_place_holds_are_counted_where_a_draw_is_due() -> None:
    draws = drawn(sliced('draw: k, {draw: k, slice: a, left: "9", every: 3}'), **{**FEW, "draws": 30, "warmup": 0})
    assert draws.stats["too_few"][0].tolist() == [1.0, 0.0, 0.0] * 10
    assert "too_few" not in drawn(draws_build("one_by_slices"), **FEW).stats
    assert "too_few" not in module_of(draws_build("one_by_slices")).arguments


@pytest.mark.slow
def test_levels_are_below_as_often_as_the_law_says() -> None:
    """A level is below where w[z] exp(-E) < left: of one row at its place, with probability min(1, left/w)."""
    build = sliced('{draw: k, slice: a, left: "-1/2", repeat: 2}')
    draws = drawn(build, chains=4, draws=20_000, warmup=200, thin=3, seed=5)
    a = np.array([1.0, 0.0, -2.0])
    expected = np.exp(a) @ np.minimum(1.0, np.exp(-0.5 - a)) / np.exp(a).sum()
    assert abs(draws.stats["too_few"][:, 200:].mean() / 6 - expected) < 6 * np.sqrt(0.25 / (4 * 20_000))
    few = int(draws.stats["too_few"][:, 200:].sum())
    says = f"draws by slices beyond all components: {few}, in 240000 cycles"
    assert says in summarise(stored(build, draws), draws).notes


# what is stored


def test_counts_are_stored_as_integers_and_the_log_likelihood_is_that_of_its_counts() -> None:
    build = draws_build("removal")
    draws = drawn(build, **FEW)
    tree, theta = stored(build, draws), kept(draws)
    left = tree["posterior"]["left"]
    assert (left.dtype, left.shape) == (np.int64, (2, 20, 10))
    assert np.array_equal(left.to_numpy(), theta[..., 3:])
    assert np.array_equal(tree["posterior"]["missed"].to_numpy(), left.to_numpy().sum(axis=-1))
    assert [row.name for row in summarise(tree, draws).rows][:4] == ["mu", "rate", "p", "left[0]"]
    mu, p = np.exp(theta[..., :1]), 1 / (1 + np.exp(-theta[..., 2:3]))
    expected = sum(stats.poisson.logpmf(CATCHES[k], AREA * mu * p * (1 - p) ** k) for k in range(3))
    expected = expected + stats.poisson.logpmf(theta[..., 3:], AREA * mu * (1 - p) ** 3)
    np.testing.assert_allclose(tree["log_likelihood"].to_dataset().to_dataarray().to_numpy()[0], expected, rtol=1e-10)


def test_rows_are_stored_as_integers_and_numbers_tell_of_those_that_move() -> None:
    build = draws_build("of_three", ONE_OF_THREE, "[draw: k]", "parameters: {a: {value: [0, 0, -900]}}")
    draws = drawn(build, **{**FEW, "chains": 4, "draws": 300})
    tree, k = stored(build, draws), kept(draws)
    assert tree["posterior"]["k"].dtype == np.int8
    assert np.array_equal(tree["posterior"]["k"].to_numpy(), k)
    assert (k.sum(axis=2) == 1.0).all()
    summary = summarise(tree, draws)
    assert [row.name for row in summary.rows] == ["k[0]", "k[1]"]  # the third is never drawn
    assert (summary.doubts, summary.tails) == ((), ())


def test_the_log_likelihood_of_a_datum_is_that_of_its_component() -> None:
    build = draws_build("mixture")
    draws = drawn(build, **FEW)
    theta = kept(draws)
    component = theta[..., 4:].reshape(2, 20, len(Y), 2).argmax(axis=3)
    mu, log_theta = (np.take_along_axis(part, component, axis=2) for part in (theta[..., 2:4], theta[..., :2]))
    found = stored(build, draws)["log_likelihood"].to_dataset().to_dataarray().to_numpy()[0]
    np.testing.assert_allclose(found, log_theta - (Y - mu) ** 2 / 2, rtol=1e-12)


def test_lp_of_shares_that_are_no_doubles_is_a_number() -> None:
    """log w of w = 0 is that of its variables: 0 log 0 in the place of it is no number, and log 0 none that is told."""
    build = load_build(SPECS / "builds/gibbs_weights.yaml")
    build = replace(build, sizes=(*build.sizes, ("N", 10)))
    draws, data, module = drawn(build, **{**FEW, "draws": 3, "warmup": 1}), data_of(build), module_of(build)
    theta = draws.block("theta")
    theta[..., :3] = (-900.0, 400.0, -2.0)
    theta[..., 6:] = np.tile([0.0, 1.0, 0.0], 10)
    known = energies_of(module, build, prepare_inputs(module, build, build.run, data), data, draws, asked=True)
    log_w, mu, alpha = theta[:, 1:, :3] - 400.0, theta[:, 1:, 3:6], np.array([2.0, 1.0, 0.5])
    assert known.log_likelihood == pytest.approx(-((Y - mu[..., 1:2]) ** 2) / 2, rel=1e-12)
    prior = log_w @ (alpha - 1) + gammaln(alpha.sum()) - gammaln(alpha).sum() - (mu**2).sum(axis=-1) / 8
    prior = prior + log_w.sum(axis=-1) - theta[:, 1:, :3].sum(axis=-1) ** 2 / 6  # in the variables
    assert known.lp == pytest.approx(prior + known.log_likelihood.sum(axis=-1), rel=1e-12)


# where chains start, and end


def starts(name: str, stated: str) -> np.ndarray:
    """Return where chains of a shipped build start, of the discrete block, by what is stated of it."""
    sizes, first = {"gibbs_removal": ({"d": 13, "N": 10}, 3), "gibbs_mixture": ({"d": 24, "K": 2, "N": 10}, 4)}[name]
    text = (SPECS / f"builds/{name}.yaml").read_text(encoding="utf-8").replace("../", "SPECS/")
    own = f"{stated}\n" if "sizes: {K: 2}" in text else f"{stated}\nsizes: {{N: 10}}\n"
    build = document(text.replace("sizes: {K: 2}", "sizes: {K: 2, N: 10}").replace("run:", f"{own}run:"))
    given = known_values(build, sizes)
    return np.array([first_states(module_of(build), build, given, sizes)(1, k)["theta"][first:] for k in range(4)])


ROWS = ", ".join(["[1, 0]"] * 9)


@pytest.mark.parametrize(
    ("name", "stated", "expected"),
    [
        ("gibbs_removal", "", 0.0),
        ("gibbs_removal", "init: {left: 2*ones}", 2.0),
        ("gibbs_removal", "init: {left: ones/2}", "whole numbers from 0 on"),
        ("gibbs_removal", "init: {left: -ones}", "whole numbers from 0 on"),
        ("gibbs_mixture", f'init: {{z: "Matrix([{ROWS}, [0, 1]])"}}', [1.0, 0.0] * 9 + [0.0, 1.0]),
        ("gibbs_mixture", f'init: {{z: "Matrix([{ROWS}, [1, 1]])"}}', "a one at one place of each row"),
        ("gibbs_mixture", f'init: {{z: "Matrix([{ROWS}, [1/2, 1/2]])"}}', "a one at one place of each row"),
    ],
)
def test_chains_start_where_they_are_told(name: str, stated: str, expected: object) -> None:
    if isinstance(expected, str):
        with pytest.raises(DataError, match=expected):
            starts(name, stated)
    else:
        assert (starts(name, stated) == expected).all()


def test_rows_start_at_places_of_their_own() -> None:
    rows = starts("gibbs_mixture", "")
    assert (rows.reshape(4, 10, 2).sum(axis=2) == 1.0).all()
    assert len({tuple(row) for row in rows}) > 1


COUNTS = """
state: {p: {constraint: "interval(0, 1)"}, left: {shape: 13, domain: counts(END)}}
data: {y: {shape: n}}
log_prior: binomial(left, END, p)
log_likelihood: -y**2
laws: {left: "Binomial(END, p*ones)"}
"""
BELOW = """
dynamics: still
target: target.yaml
scheme: {cycle: [draw: left]}
variant: full
data: {file: y.csv, y: y}
init: {left: FIRST*ones}
run: {step_size: 1}
"""
TWO = {"y.csv": "y\n1\n2\n"}


@pytest.mark.parametrize("end", ["2", "n"])
def test_counts_start_below_their_end(end: str) -> None:
    def started(first: str) -> np.ndarray:
        build = document(BELOW.replace("FIRST", first), target=COUNTS.replace("END", end), **TWO)
        return first_states(module_of(build), build, {}, {"d": 14, "n": 2})(1, 0)["theta"]

    assert (started("2")[1:] == 2.0).all()
    with pytest.raises(DataError, match="whole numbers from 0 to 2"):
        started("3")


def test_what_has_no_law_ends_the_chain() -> None:
    """Means that are none; weights of zero in all places, of which no row is a number."""
    text = 'name: one\nstate: {m: {domain: counts}}\nparameters: {a: {is: positive}}\nlaws: {m: "Poisson(a)"}\n'
    text = f"format: 1\n{text}potential: loggamma(m + 1) - m*log(a)\n"
    count = module_of(draws_build("one", text, "[draw: m]", "parameters: {a: {value: 3/2}}"))
    row, none = module_of(draws_build("one_of_three")), -np.inf
    for module, parameter, state, draws in (
        (count, 1.5, [0.0], 4), (count, 0.0, [0.0], 4), (count, -1.0, [0.0], 0), (count, np.nan, [0.0], 0),
        (count, np.inf, [0.0], 0), (row, np.full(3, np.nan), [1.0, 0.0, 0.0], 0),
        (row, np.array([0.0, none, none]), [1.0, 0.0, 0.0], 4),
    ):  # fmt: skip
        kept_draws = np.empty((4, len(state)))
        words = np.arange(1, 5, dtype=np.uint64)
        assert module.run(np.array(state), parameter, 1.0, 1, words, kept_draws) == draws, parameter
        if module is row and draws:
            assert (kept_draws == [1.0, 0.0, 0.0]).all()


def test_a_share_that_rounds_to_one_has_a_logarithm() -> None:
    """log(1 - v) of v = sigmoid(u), u = 60, where 1 - v is 0 in doubles, is drawn with as -softplus(u)."""
    source = shipped(draws_build("sticks")).text
    moves = source[source.index("def draw_v(") : source.index("def cycle(")]
    assert moves.count("_softplus(logit_v[") == 2  # the rate of alpha, and the logits of z
    assert "math.log(1.0 - _sigmoid(" not in moves


@pytest.mark.parametrize(("name", "named"), [("scir_dense", True), ("cir_categories", False)])
def test_what_minibatches_widen_is_not_forecast_and_named(name: str, *, named: bool) -> None:
    build = load_build(SPECS / f"builds/{name}.yaml")
    (said,) = forecast(Sampler.of(build, shipped(build), module_of(build), data_of(build))).says
    assert ("by how much minibatches widen what `cir` moves" in said) is named
    assert "a cycle of moves is not linearised" in said


COUNTED = """
state: {b: {shape: 2}, left: {shape: N, domain: counts}}
data: {y: {shape: N}}
log_prior: -norm2(b)/2
log_likelihood: -(y - b[0])**2/2 + poisson(left, exp(b[0] + y*b[1])/2)
laws: {left: "Poisson(exp(b[0]*ones + y*b[1])/2)"}
"""
BESIDE = """
dynamics: hmc
target: target.yaml
bind: {M: I}
sizes: {N: 2}
scheme: {cycle: [draw: left, refresh: r, MOVE]}
variant: full
data: {file: y.csv, y: y}
run: {step_size: STEP}
"""
MOVED = "{of: {theta: b}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}"


def beside(move: str, step: str) -> Build:
    return document(BESIDE.replace("MOVE", move).replace("STEP", step), target=COUNTED, **TWO)


@pytest.mark.parametrize(
    ("move", "step", "says"),
    [
        (MOVED, "auto", "step_size: auto beside `left`, which is discrete, expected a step size"),
        ("{of: {theta: b}, split: [B/2, A, B/2]}", "0.7", "found a word without `metropolis` beside `left`, which is"),
    ],
)
def test_a_word_beside_counts_that_cannot_be_is_refused(move: str, step: str, says: str) -> None:
    with pytest.raises(DocumentError, match=says):
        beside(move, step)


def test_a_word_beside_counts_takes_no_slope_along_them() -> None:
    assert "digamma" not in shipped(beside(MOVED, "0.7")).text
