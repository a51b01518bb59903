"""What guards of moves refuse whose steps are solved for: counted for each draw, kept, and said of a run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cycles import cycle_build, texts
from loaders import load_build

from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.run.store import to_datatree
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.model import Build

FUNNEL = Path(__file__).parents[1] / "shared/guarded_funnel.yaml"


def drawn(build: Build, **settings: object) -> Draws:
    module = texts(build)["shipped"].module
    run = replace(build.run, **{"chains": 2, "warmup": 50, "seed": 3, **settings})
    return sample(load_text(module.name, module.text), build, run, load_data(build.data, build.target))


@pytest.mark.slow
def test_guards_are_counted_by_draws_and_refuse() -> None:
    """A step too long for the neck: what was refused by a guard stands where it stood, and has no acceptance."""
    build = load_build(FUNNEL)
    one = drawn(build, step_size=1.2, thin=1, draws=3000)
    assert one.unsolved is not None
    assert one.irreversible is not None
    assert one.acceptance is not None
    refused = one.unsolved + one.irreversible
    assert one.unsolved.sum() > 20
    assert one.irreversible.sum() > 0
    assert set(np.unique(refused)) == {0.0, 1.0}
    stood = np.all(np.diff(one.arrays[0], axis=1) == 0.0, axis=2)
    assert np.all(stood[refused[:, 1:] > 0])
    assert np.all(one.acceptance[refused > 0] == 0.0)
    four = drawn(build, step_size=1.2, thin=4, draws=700)
    assert four.unsolved is not None
    np.testing.assert_array_equal(four.unsolved, one.unsolved[:, : 4 * 750].reshape(2, -1, 4).sum(axis=2))
    tree = to_datatree(four, build, load_data(build.data, build.target), "0" * 64)
    kept = tree["sample_stats"]["unsolved"].to_numpy()
    np.testing.assert_array_equal(kept, four.unsolved[:, 50:])
    irreversible = int(tree["sample_stats"]["irreversible"].sum())
    says = (
        f"refused by guards of implicit steps: {int(kept.sum())} not solved for, {irreversible} that do not lead back"
    )
    assert f"{says}, of 5600 moves" in summarise(tree, four).notes


def test_of_explicit_steps_no_guard_is_told() -> None:
    draws = drawn(cycle_build("double_well", "hmc"), draws=50)
    assert draws.acceptance is not None
    assert draws.unsolved is None
    assert draws.irreversible is None
