"""What claims share of a subject is found once, and only for that subject."""

from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.verify.core.scalars import write_drift
from recipe_compiler.verify.core.subject import Subject, once, prepare_subject
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew

SPECS = Path(__file__).parents[2] / "specs" / "dynamics"


def subject(name: str) -> Subject:
    document = load_dynamics(SPECS / f"{name}.yaml")
    return prepare_subject(document)


def test_a_system_and_a_drift_are_written_out_once_for_each_size() -> None:
    sghmc = subject("sghmc")
    assert sghmc.system({"d": 2}) is sghmc.system({"d": 2})
    assert len(sghmc.system({"d": 3}).z) == 6
    assert write_drift(sghmc, {"d": 2}) is write_drift(sghmc, {"d": 2})
    assert len(write_drift(sghmc, {"d": 3})["theta"]) == 3


@pytest.mark.parametrize("claim", [d_symmetric, q_skew, d_psd], ids=lambda claim: claim.__name__)
def test_a_claim_that_others_rest_on_is_decided_once(claim: object) -> None:
    assert callable(claim)
    sghmc = subject("sghmc")
    assert claim(sghmc) is claim(sghmc)
    assert claim(sghmc) == claim(subject("sghmc"))
    assert claim(sghmc) is not claim(subject("sghmc"))


def test_what_raises_is_asked_again() -> None:
    sghmc = subject("sghmc")
    asked: list[int] = []

    @once
    def find(_: Subject) -> int:
        asked.append(1)
        raise NotScalarisableError("no entries")

    for _ in range(2):
        with pytest.raises(NotScalarisableError):
            find(sghmc)
    assert len(asked) == 2


def test_what_is_kept_has_an_end() -> None:
    asked: list[Subject] = []

    @once
    def find(one: Subject) -> int:
        asked.append(one)
        return len(asked)

    first = subject("sghmc")
    others = [replace(first) for _ in range(limits.SUBJECTS)]
    for one in (first, first, *others, others[-1], first):
        find(one)
    assert len(asked) == 2 + limits.SUBJECTS
    assert asked[0] is asked[-1] is first
