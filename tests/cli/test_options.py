"""Options: ranges are named, and other samplers' names are answered with ours."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from recipe_compiler.cli import app

BUILD = "specs/builds/sghmc_gaussian.yaml"


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--draws", "0", "1 to 1000000000"),
        ("--draws", "99999999999", "1 to 1000000000"),
        ("--warmup", "-1", "0 to 1000000000"),
        ("--chains", "0", "1 to 10000"),
        ("--cores", "0", "1 to 10000"),
        ("--seed", "-1", "0 to 9223372036854775807"),
        ("--thin", "0", "1 to 1000000000"),
        ("--batch-size", "0", "1 to 1000000000"),
        ("--step-size", "0", "> 0"),
        ("--step-size", "nan", "> 0"),
        ("--step-size", "inf", "finite"),
    ],
)
def test_what_is_out_of_range_names_the_range(recipe, option: str, value: str, expected: str) -> None:
    outcome = recipe("run", BUILD, option, value)
    assert outcome.code == 2
    assert expected in outcome.err


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [("--tune", "--warmup"), ("--num-samples=5", "--draws"), ("--num_warmup", "--warmup"), ("--eps", "--step-size"),
     ("--random_seed", "--seed"), ("--batch_size", "--batch-size"), ("--step_size", "--step-size")],
)  # fmt: skip
def test_another_samplers_option_is_answered_with_ours(recipe, foreign: str, ours: str) -> None:
    outcome = recipe("run", BUILD, foreign, "5")
    assert outcome.code == 2
    assert f"here it is called {ours}" in outcome.err


@pytest.mark.parametrize("arguments", [("check",), ("compile",), ("run",), ("check", "--frobnicate"), ("derive",)])
def test_wrong_usage_is_told_and_leaves_with_2(recipe, arguments: tuple[str, ...]) -> None:
    outcome = recipe(*arguments)
    assert outcome.code == 2
    assert outcome.err


def test_a_full_data_build_has_no_batch_size(recipe) -> None:
    outcome = recipe("run", BUILD, "--batch-size", "3")
    assert outcome.code == 2
    assert "full" in outcome.err


@pytest.mark.slow
def test_draws_that_do_not_fit_into_memory_are_refused_before_they_are_made(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, "--draws", "1000000000", "--chains", "10000", "-o", tmp_path)
    assert outcome.code == 2
    assert "expected at most" in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected", "not_expected"),
    [
        (("show", "sgl"), "sgld", "sghmc"),
        (("run", "hmc_l"), "hmc_logistic", "hmc_double_well"),
        (("check", "sghmc", "bana"), "banana", "sghmc"),
        (("lint", "f.py:step", "--against", "sgn"), "sgnht", "banana"),
    ],
)
def test_names_of_documents_are_completed(words: tuple[str, ...], expected: str, not_expected: str) -> None:
    given = {"_RECIPE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("recipe", *words))}
    outcome = CliRunner().invoke(app, env=given | {"COMP_CWORD": str(len(words))}, prog_name="recipe")
    assert expected in outcome.stdout.split()
    assert not_expected not in outcome.stdout.split()
