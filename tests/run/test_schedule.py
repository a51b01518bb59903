"""Step sizes that fall: what every draw is given, the same bits however a run is cut, weights of the draws."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hand_module import limited

from recipe_compiler.advise.diagnostics import summarise
from recipe_compiler.errors import RunError
from recipe_compiler.report.check import check
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.rerun import checkpoint_facts
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.run.schedule import shown, step_of, weights
from recipe_compiler.run.store import to_datatree
from recipe_compiler.spec.model import Build, RunSettings, Schedule

POWER = Schedule("power", b=7.0, c=0.4)
CYCLIC = Schedule("cyclic", period=10)


def test_power_and_cyclic_steps_are_those_of_their_formulas() -> None:
    power = step_of(RunSettings(0.5, thin=3, schedule=POWER))
    cyclic = step_of(RunSettings(0.5, thin=3, schedule=CYCLIC))
    assert power is not None
    assert cyclic is not None
    assert power(0) == 0.5
    assert power(5) == pytest.approx(0.5 * (1 + 15 / 7) ** -0.4, rel=1e-15)
    expected = [0.25 * (1 + math.cos(math.pi * t / 10)) for t in (0, 3, 6, 9)]
    assert [cyclic(k) for k in range(4)] == pytest.approx(expected, rel=1e-15)
    assert cyclic(10) == cyclic(0)
    assert all(cyclic(k) > 0.0 for k in range(100))
    assert step_of(RunSettings(0.5)) is None
    assert weights(RunSettings(0.5), 4) is None


@pytest.mark.parametrize(("schedule", "squares", "limit"), [
    (Schedule("power", b=7.0, c=0.51), "sum eps_t**2 < oo", "tend to those of exp(-H)"),
    (Schedule("power", b=7.0, c=0.5), "sum eps_t**2 = oo", "tend to those of exp(-H)"),
    (CYCLIC, "does not tend to 0", "keep the discretisation bias"),
])  # fmt: skip
def test_check_and_run_say_which_conditions_a_schedule_meets(
    full_module: Emitted, build: Build, data: Data, schedule: Schedule, squares: str, limit: str
) -> None:
    """With c = 1/2 the sum of squares is harmonic: eps**2/(1 + t/b)."""
    asked = replace(build, run=settings(build, schedule))
    (said,) = (caveat for caveat in check(asked, advisory=False).caveats if caveat.startswith("schedule: "))
    assert squares in said
    assert limit in said
    draws = sample(full_module, build, asked.run, data)
    assert said in summarise(to_datatree(draws, build, data, "0123"), draws).notes
    assert not [caveat for caveat in check(build, advisory=False).caveats if caveat.startswith("schedule: ")]


def settings(build: Build, schedule: Schedule) -> RunSettings:
    return replace(build.run, draws=30, warmup=5, thin=3, schedule=schedule)


@pytest.mark.parametrize(("schedule", "variant"), [(POWER, "full"), (CYCLIC, "without")])
def test_every_draw_has_its_own_step_and_constants(
    modules: dict[str, Emitted], build: Build, data: Data, schedule: Schedule, variant: str
) -> None:
    module, asked = modules[variant], settings(build, schedule)
    found = sample(module, build, asked, data)
    step = step_of(asked)
    inputs = prepare_inputs(module, build, replace(asked, schedule=Schedule()), data)
    noise, batch = module.seed_streams(asked.seed, asked.chains)
    start = sample(module, build, replace(asked, step_size=1e-300, schedule=Schedule(), draws=1, warmup=0), data)
    z = [start.arrays[0][0, 0].copy(), start.arrays[1][0, 0].copy()]  # a step of 1e-300 moves nothing
    batches = () if variant == "full" else (batch[0], np.arange(data.rows, dtype=np.uint64))
    size = () if variant == "full" else (asked.batch_size,)
    for draw in range(35):
        eps, kept = step(draw), [np.empty((1, 3)), np.empty((1, 3))]
        constants = module.prepare(*inputs.parameters.values(), eps, 3)
        module.run(
            *z, *inputs.parameters.values(), *constants, *inputs.data.values(), *size, eps, 3, noise[0], *batches, *kept
        )
        np.testing.assert_array_equal(found.arrays[0][0, draw], kept[0][0])
        np.testing.assert_array_equal(found.arrays[1][0, draw], kept[1][0])


def test_stopped_and_continued_is_never_stopped_and_another_schedule_is_another_run(
    full_module: Emitted, build: Build, data: Data, tmp_path: Path
) -> None:
    whole = settings(build, POWER)

    def kept(asked: RunSettings, *, resume: bool) -> Draws:
        with Checkpoint(tmp_path / "kept", checkpoint_facts({}, build, asked, data)) as checkpoint:
            return sample(full_module, build, asked, data, cores=2, checkpoint=checkpoint, resume=resume)

    kept(replace(whole, draws=11), resume=False)
    continued = kept(whole, resume=True)
    np.testing.assert_array_equal(continued.arrays[0], sample(full_module, build, whole, data, cores=1).arrays[0])
    with pytest.raises(RunError, match=r"schedule b: found .* there, expected 8.0"):
        kept(settings(build, replace(POWER, b=8.0)), resume=True)


def test_the_first_step_is_the_largest_and_a_chain_that_diverges_stops_at_its_draw(
    full_module: Emitted, build: Build, data: Data
) -> None:
    with pytest.raises(RunError, match="eps_max"):
        sample(full_module, build, replace(settings(build, POWER), step_size=1.5), data)
    found = sample(full_module, limited(build, "2"), settings(build, POWER), data)
    assert any(found.diverging)
    assert all(kept < 35 for kept, diverging in zip(found.kept, found.diverging, strict=True) if diverging)


def test_draws_are_weighted_by_their_step(full_module: Emitted, build: Build, data: Data) -> None:
    asked = settings(build, POWER)
    draws = sample(full_module, build, asked, data)
    tree = to_datatree(draws, build, data, "0123")
    expected = [0.05 * (1 + 3 * k / 7) ** -0.4 for k in range(5, 35)]
    for chain in range(4):
        np.testing.assert_allclose(tree["sample_stats"]["step_size"].to_numpy()[chain], expected, rtol=1e-14)
    assert tree.attrs["schedule"] == shown(asked) == "0.05 (1 + t/7)**-0.4"
    summary = summarise(tree, draws)
    theta, weight = draws.block("theta")[:, 5:], np.tile(expected, (4, 1))
    for k, row in enumerate(summary.rows):
        mean = np.average(theta[:, :, k], weights=weight)
        sd = math.sqrt(np.average((theta[:, :, k] - mean) ** 2, weights=weight))
        assert row.value("mean") == pytest.approx(mean, rel=1e-12)
        assert row.value("sd") == pytest.approx(sd, rel=1e-12)
        assert abs(mean - theta[:, :, k].mean()) > 1e-6
    assert any("every number weights a draw by it" in note for note in summary.notes)


def test_draws_of_one_step_size_have_no_weights(full_module: Emitted, build: Build, data: Data) -> None:
    draws = sample(full_module, build, settings(build, Schedule()), data)
    tree = to_datatree(draws, build, data, "0123")
    assert np.ptp(tree["sample_stats"]["step_size"].to_numpy()) == 0.0
    assert not any("weight" in warning for warning in summarise(tree, draws).warnings)
