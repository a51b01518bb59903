"""Figures against closed forms, their errors against the spread over seeds; claims and tables of made-up figures."""

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import arviz_base
import numpy as np
import pytest

from recipe_compiler.experiment.document import Experiment, read_experiment
from recipe_compiler.experiment.run import Record, Results
from recipe_compiler.experiment.statistics import Figure, FinishedRun, figure_of
from recipe_compiler.experiment.table import judge_claims, shown_figure, table, table_rows, unexpected_trust
from recipe_compiler.spec.schema_experiment import ColumnEntry

Write = Callable[..., Path]
SEEDS = 200


def finished(draws: np.ndarray) -> FinishedRun:
    tree = arviz_base.from_dict({"posterior": {"x": draws}})
    settings = SimpleNamespace(chains=len(draws), draws=draws.shape[1], thin=2, warmup=0)
    drawn = SimpleNamespace(diverging=(False,) * len(draws), settings=settings, processor_seconds=0.5)
    return FinishedRun(cast("Any", None), cast("Any", drawn), tree, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "exact"),
    [
        ({"mean": "x[1]"}, 3.0),
        ({"sd": "x[1]"}, 2.0),
        ({"rmse": "x[1]"}, math.hypot(2.0, 2.0)),
        ({"quantile": "x[1]", "at": 0.975}, 3.0 + 2.0 * 1.959964),
    ],
)
def test_a_figure_is_as_far_off_as_its_error_says(column: dict[str, Any], exact: float) -> None:
    rng, z = np.random.default_rng(5), []
    for _ in range(SEEDS):
        noise = rng.standard_normal((4, 400, 2))
        for k in range(1, 400):  # autocorrelated: an error that takes draws for independent is 1.7 times too small
            noise[:, k] = 0.5 * noise[:, k - 1] + math.sqrt(0.75) * noise[:, k]
        found = figure_of(ColumnEntry(**column), finished(3.0 + 2.0 * noise), {"to": 1.0})
        z.append((found.value - exact) / found.error)
    assert abs(np.mean(z)) < 0.5
    assert 0.8 < np.std(z) < 1.25


def results(values: dict[str, tuple[float, float]], **of_all: Any) -> Results:
    return Results({name: Record("", {"sd": Figure(*one)}, **of_all) for name, one in values.items()})


def sweep(**sds: float) -> dict[str, tuple[float, float]]:
    steps = {"a": "0.1", "b": "0.5", "c": "3"}
    return {f"SGLD[step_size={steps[key[0]]}, seed={key[1]}]": (value, 0.0) for key, value in sds.items()}


def test_of_a_sweep_the_best_step_of_each_seed_is_averaged(write: Write) -> None:
    found = results(sweep(a1=1.4, b1=1.2, c1=math.nan, a2=1.0, b2=1.3, c2=math.nan))
    row = next(row for row in table_rows(read_experiment(write()), found) if row.run.name == "SGLD")
    assert row.label == "SGLD"
    assert row.chosen == (0.5, 0.1)
    assert row.figures["sd"] == Figure(pytest.approx(1.1), pytest.approx(0.1))


@pytest.mark.parametrize(
    ("hmc", "equal", "larger"),
    [
        ((1.05, 0.01), "agrees", "does not agree"),
        ((1.95, 0.5), "within the error", "within the error"),
        ((1.5, 0.01), "does not agree", "does not agree"),
        ((2.5, 0.01), "does not agree", "agrees"),
        ((math.nan, 0.01), "not known", "not known"),
    ],
)
def test_claims_are_judged_by_errors(write: Write, hmc: tuple[float, float], equal: str, larger: str) -> None:
    experiment = read_experiment(write())
    found = results({"HMC": hmc, **sweep(a1=1.0, a2=1.02)})
    assert [claim.verdict for claim in judge_claims(experiment, found)] == [equal, larger]


def test_figures_without_a_distance_are_equal_within_three_errors(write: Write) -> None:
    path = write()
    path.write_text(path.read_text().replace(", within: 0.2", ""))
    for value, verdict in ((1.029, "agrees"), (1.031, "does not agree")):
        found = results({"HMC": (value, 0.01)})
        assert judge_claims(read_experiment(path), found)[0].verdict == verdict


def test_a_table_has_the_exact_the_published_and_what_is_missing(write: Write) -> None:
    headings, rows = table(read_experiment(write()), results({"HMC": (1.05, 0.02), **sweep(a1=1.0, a2=1.2)}))
    assert headings == ("", "mean", "sd", "sd, published", "remark")
    assert rows[0] == ("exact", "0", "1", "", "")
    assert rows[1] == ("HMC", "-", "1.050(20), z 2.5", "1.01", "")
    assert rows[2] == ("SGLD", "-", "1.10(10), z 1.0", "", "best step_size: 0.1")
    assert rows[3] == ("EM", "", "", "2", "an outer loop")


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(0.0212, 0.00043), "0.02120(43)"),
        (Figure(16.02, 1.4), "16.0(14)"),
        (Figure(5321.0, 40.0), "5321(40)"),
        (Figure(0.5), "0.5"),
        (Figure(math.nan), "-"),
        (Figure(math.nan, words="proved"), "proved"),
    ],
)
def test_a_figure_is_shown_with_the_digits_that_are_known(figure: Figure, text: str) -> None:
    assert shown_figure(figure) == text


def test_results_come_back_from_their_text(tmp_path: Path) -> None:
    from recipe_compiler.experiment.run import read_results

    found = Results(
        {
            "A": Record("k", {"sd": Figure(1.25, math.nan), "v": Figure(math.nan, words="proved")}, "yes"),
            "B": Record("", {}),
        }
    )
    path = tmp_path / "results.json"
    path.write_text(found.text())
    again = read_results(path)
    assert again.text() == found.text()
    assert again.records["A"].figures["sd"].value == 1.25
    assert math.isnan(again.records["A"].figures["sd"].error)


@pytest.mark.parametrize(("doubts", "told"), [((), False), (("diverged",), True)])
def test_a_run_that_is_doubted_is_told(write: Write, doubts: tuple[str, ...], told: bool) -> None:
    experiment: Experiment = read_experiment(write())
    found = results({"HMC": (1.0, 0.1)}, trust="trust: yes" if not doubts else "trust: no", doubts=doubts)
    assert bool(unexpected_trust(experiment, found)) is told


def test_a_claim_shows_by_how_many_times_a_figure_is_to_be_larger(write: Write) -> None:
    found = results({"HMC": (1.05, 0.01), **sweep(a1=1.0, a2=1.02)})
    assert " > 2 x SGLD" in judge_claims(read_experiment(write()), found)[1].found
