"""Experiments from their documents: shared entries, names that are known, faults at their places."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command import recipe

from recipe_compiler.errors import DocumentError
from recipe_compiler.experiment.document import Operand, cells_of, label, read_experiment, read_operand
from recipe_compiler.spec.catalogue import names, shipped

Write = Callable[..., Path]


def test_a_build_has_the_shared_entries_and_its_own(write: Write) -> None:
    hmc, sgld, em = read_experiment(write()).runs
    assert hmc.build is not None
    assert sgld.build is not None
    assert (hmc.build.name, hmc.build.variant, hmc.build.target.name) == ("small_HMC", "full", "standard_normal")
    assert em.build is None
    assert sgld.numbers == {("mean", "exact"): 0.0, ("sd", "exact"): 1.0}
    assert [label("S", cell) for cell in cells_of(sgld)][:2] == ["S[step_size=0.1, seed=1]", "S[step_size=0.1, seed=2]"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"statistic": 'mean: "theta[0]", sd: "theta[0]"'}, "found mean, sd, expected one of mean, sd, rmse"),
        ({"statistic": 'quantile: "theta[0]"'}, "found one of `quantile` and `at`, expected both"),
        ({"missing": ""}, "found none, expected one of build, check and missing"),
        ({"operand": "[HMC.sd, SGHMC.sd]"}, "found `SGHMC`, expected a run"),
        ({"operand": "[HMC.sd, SGLD.kl]"}, "found `kl`, expected a column"),
        ({"operand": "[HMC.sd]"}, "expected one of `larger` and `equal`, with two figures or more"),
        ({"operand": "[HMC.sd, HMC]"}, "found `HMC`, expected a number, or a figure such as HMC.mean"),
        ({"best": "by: kl"}, "found `kl`, expected a column"),
        ({"bars": "bars: [kl]"}, "found `kl`, expected one of the experiment"),
        ({"published": "published: {kl: 1}"}, "found `kl`, expected a column"),
        ({"sweep": "{stepsize: [1]"}, "found the unknown key `stepsize`"),
        ({"sweep": "{step_size: [a]"}, "found `a`, expected a number > 0"),
        ({"exact": "exact: mu"}, "'mu' is not declared"),
        ({"exact": "exact: log(0)"}, "expected a finite number"),
        ({"bind": "bind: {E: I}"}, "`E`"),
    ],
)
def test_a_fault_is_said_at_its_place(write: Write, changed: dict[str, str], says: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_experiment(write(**changed))
    assert any(says in fault.problem and fault.where.line > 1 for fault in error.value.faults), error.value.faults


def test_operands_are_figures_or_numbers() -> None:
    assert read_operand("1e-2") == Operand(number=0.01)
    assert read_operand("S[step_size=0.1, seed=2].sd") == Operand("S[step_size=0.1,seed=2]", "sd")
    assert read_operand("S.") is None or not read_operand("S.").column
    assert read_operand("nothing") is None


def test_an_experiment_is_none_that_is_checked(write: Write) -> None:
    outcome = recipe("check", write())
    assert outcome.code == 2
    assert "found an experiment" in outcome.err
    assert recipe("experiment", "e0").code == 2


@pytest.mark.parametrize("name", names("experiment"))
def test_what_ships_is_read_and_listed(name: str) -> None:
    path = shipped(name, ("experiment",))
    assert path is not None
    experiment = read_experiment(path)
    assert experiment.entry.name == name
    listed = recipe("experiment").out
    assert name in listed
    assert experiment.entry.title.split()[0] in listed
