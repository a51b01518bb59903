"""Where a target is certainly not defined: a fault where numbers say so, refuted where a state shows it."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.verdict import Refuted, Undecided
from recipe_compiler.verify.builds.normalisable import normalisable_alone
from recipe_compiler.verify.builds.target import defined

STATE = "name: t\nstate: {b: {shape: 2}, s: {}}\n"


def _target(folder: Path, text: str, state: str = STATE) -> Path:
    (folder / "t.yaml").write_text(state + text, encoding="utf-8")
    return folder / "t.yaml"


@pytest.mark.parametrize(
    ("stated", "last", "hint"),
    [
        ("log_prior: half_normal(s, 1)", ("s", "-1, where s >= 0 is needed"), "`s: {constraint: positive}`"),
        ("log_prior: normal(b, 0, s)", ("s", "-1, where s > 0 is needed"), "`s: {constraint: positive}`"),
        ("potential: b.T @ b + log(1 - s**2)", ("1 - s**2", "-3, where 1 - s**2 > 0 is needed"), ""),
    ],
)
def test_a_state_outside_is_named_with_what_would_keep_it_inside(
    tmp_path: Path, stated: str, last: tuple[str, str], hint: str
) -> None:
    decision = defined(load_target(_target(tmp_path, stated + "\n"))).decision
    assert isinstance(decision, Refuted)
    assert decision.witness[-1] == last
    assert hint in decision.by


@pytest.mark.parametrize(
    "stated",
    [
        "potential: where(s > 0, log(s), s) + b.T @ b",  # the piece keeps s away
        "parameters: {a: {}}\nlog_prior: normal(b, 0, a)",  # a build may give a positive a
        "data: {y: {shape: N}}\nlog_prior: normal(b, 0, 1)\nlog_likelihood: normal(y, 0, 1) + log(y)",
        "potential: b.T @ b + 1/s**2",  # on a null set alone
    ],
)
def test_what_a_piece_a_build_or_data_may_rule_out_is_not_refuted(tmp_path: Path, stated: str) -> None:
    assert isinstance(defined(load_target(_target(tmp_path, stated + "\n"))).decision, Undecided)


def test_a_prior_alone_blames_no_likelihood(tmp_path: Path) -> None:
    decision = normalisable_alone(
        load_target(_target(tmp_path, "log_prior: normal(b, 0, s) + half_normal(s, 1)\n"))
    ).decision
    assert isinstance(decision, Undecided)
    assert not any("likelihood" in line for line in decision.tried)
