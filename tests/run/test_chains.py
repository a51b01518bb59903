"""Chains: reproducible whatever the cores and pieces, stopped one by one, never losing a draw."""

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from recipe_compiler.errors import DataError, RunError
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build, Value

pytestmark = pytest.mark.usefixtures("interruptible")


@pytest.mark.slow
def test_draws_have_the_shape_asked_for(full_module: Emitted, build: Build, data: Data) -> None:
    draws = sample(full_module, build, build.run, data)
    assert draws.blocks == ("theta", "r")
    assert [array.shape for array in draws.arrays] == [(4, 110, 3), (4, 110, 3)]
    assert draws.kept == (110,) * 4
    assert not draws.interrupted
    assert not any(draws.diverging)
    assert np.isfinite(draws.block("theta")).all()


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["full", "without", "with"])
def test_draws_depend_on_neither_cores_nor_pieces(
    variant: str, modules: dict[str, Emitted], build: Build, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sample(modules[variant], build, build.run, data, cores=1)
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 1e-9)
    other = sample(modules[variant], build, build.run, data, cores=3)
    for left, right in zip(one.arrays, other.arrays, strict=True):
        np.testing.assert_array_equal(left, right)


def test_seeds_and_chains_differ(full_module: Emitted, build: Build, data: Data) -> None:
    one = sample(full_module, build, build.run, data).block("theta")
    other = sample(full_module, build, replace(build.run, seed=2), data).block("theta")
    assert not np.any(one == other)
    assert not np.any(one[0] == one[1])


def test_a_chain_does_not_depend_on_how_many_others_run(full_module: Emitted, build: Build, data: Data) -> None:
    four = sample(full_module, build, build.run, data).block("theta")
    two = sample(full_module, build, replace(build.run, chains=2), data).block("theta")
    np.testing.assert_array_equal(four[:2], two)


def test_thinning_keeps_every_kth_state(full_module: Emitted, build: Build, data: Data) -> None:
    fine = sample(full_module, build, replace(build.run, thin=1, draws=40, warmup=0), data).block("theta")
    coarse = sample(full_module, build, replace(build.run, thin=4, draws=10, warmup=0), data).block("theta")
    np.testing.assert_array_equal(coarse, fine[:, 3::4])


def test_draws_follow_the_posterior(full_module: Emitted, build: Build, data: Data) -> None:
    """The stationary law of this linear chain is Gaussian, its mean exactly that of the data."""
    settings = replace(build.run, draws=20_000, warmup=500, thin=5)
    theta = sample(full_module, build, settings, data).block("theta")[:, 500:]
    means = theta.mean(axis=1)
    error = means.std(axis=0, ddof=1) / 2.0
    assert (np.abs(means.mean(axis=0) - data.fields[0].values.mean(axis=0)) <= 10.0 * error).all()
    np.testing.assert_allclose(theta.var(axis=(0, 1)), 1 / 20, rtol=0.1)


def test_a_diverging_chain_stops_and_the_others_go_on(full_module: Emitted, build: Build, data: Data) -> None:
    limited = replace(build, values=(*build.values, ("limit", Value(((Fraction(385, 100),),)))))
    draws = sample(full_module, limited, replace(build.run, draws=4000, thin=1), data, cores=2)
    free = sample(full_module, build, replace(build.run, draws=4000, thin=1), data, cores=2)
    assert any(draws.diverging)
    assert not all(draws.diverging)
    for k, (kept, diverging) in enumerate(zip(draws.kept, draws.diverging, strict=True)):
        assert diverging == (kept < 4010)
        np.testing.assert_array_equal(draws.block("theta")[k, :kept], free.block("theta")[k, :kept])
        assert np.isnan(draws.block("theta")[k, kept:]).all()


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_drawn_and_evens_the_chains(full_module: Emitted, build: Build, data: Data) -> None:
    def stop(done: Sequence[int], total: int) -> None:
        if min(done) > 0 and not stopped:
            stopped.append(total)
            os.kill(os.getpid(), signal.SIGINT)

    stopped: list[int] = []
    settings = replace(build.run, draws=200_000, thin=1000)
    draws = sample(full_module, build, settings, data, progress=stop, cores=2)
    assert draws.interrupted
    assert 0 < draws.kept[0] < settings.draws
    assert len(set(draws.kept)) == 1
    assert np.isfinite(draws.block("theta")[:, : draws.kept[0]]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_raises(full_module: Emitted, build: Build, data: Data) -> None:
    def stop(done: Sequence[int], total: int) -> None:
        del done, total
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sample(full_module, build, replace(build.run, draws=1000, thin=400_000), data, progress=stop, cores=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_ignored_stays_ignored(full_module: Emitted, build: Build, data: Data, number: signal.Signals) -> None:
    def stop(done: Sequence[int], total: int) -> None:
        del done, total
        os.kill(os.getpid(), number)

    signal.signal(number, signal.SIG_IGN)
    draws = sample(full_module, build, build.run, data, progress=stop, cores=1)
    assert draws.stopped is None
    assert draws.kept == (110,) * 4
    assert signal.getsignal(number) is signal.SIG_IGN


def test_chains_run_outside_the_main_thread(full_module: Emitted, build: Build, data: Data) -> None:
    found: list[tuple[int, ...]] = []
    thread = threading.Thread(target=lambda: found.append(sample(full_module, build, build.run, data).kept))
    thread.start()
    thread.join()
    assert found == [(110,) * 4]


def test_an_error_in_a_chain_is_raised_here(full_module: Emitted, build: Build, data: Data) -> None:
    def broken(*arguments: object) -> int:
        if np.size(arguments[-1]):
            raise FloatingPointError("planted")
        return 0

    with pytest.raises(FloatingPointError, match="planted"):
        sample(replace(full_module, run=broken), build, build.run, data)


def test_progress_is_told_the_end(full_module: Emitted, build: Build, data: Data) -> None:
    seen: list[tuple[tuple[int, ...], int]] = []
    sample(full_module, build, build.run, data, progress=lambda done, total: seen.append((tuple(done), total)))
    assert seen[-1] == ((110,) * 4, 110)


def test_a_step_above_eps_max_is_refused(full_module: Emitted, build: Build, data: Data) -> None:
    with pytest.raises(RunError, match="eps_max = 1"):
        sample(full_module, build, replace(build.run, step_size=1.5), data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_size": 0.0}, "step_size: found 0.0, expected a positive number"),
        ({"step_size": float("nan")}, "step_size: found nan"),
        ({"draws": 0}, "draws: found 0, expected 1 or more"),
        ({"thin": 0}, "thin: found 0, expected 1 or more"),
        ({"seed": -1}, "seed: found -1, expected 0 or more"),
        ({"batch_size": 21}, "batch_size: found 21, expected 1 to 20"),
        ({"batch_size": None}, "batch_size: found None, expected 1 to 20"),
    ],
)
def test_settings_that_cannot_be_run_are_refused(
    changes: dict[str, object], message: str, modules: dict[str, Emitted], build: Build, data: Data
) -> None:
    with pytest.raises(RunError, match=message):
        sample(modules["without"], build, replace(build.run, **changes), data)


def test_a_parameter_without_value_is_named(full_module: Emitted, build: Build, data: Data) -> None:
    with pytest.raises(DataError, match="parameter `c`: found no value"):
        sample(full_module, replace(build, values=()), build.run, data)


def test_names_that_a_module_had_to_change_are_found(full_module: Emitted, build: Build, data: Data) -> None:
    changed = {"theta": "theta_", "theta_draws": "theta__draws", "c": "c__", "x": "x_"}
    arguments = tuple(changed.get(name, name) for name in full_module.arguments)
    blocks = (("theta_", "d"), ("r", "d"))
    renamed = replace(full_module, blocks=blocks, parameters=("c__", "limit"), data=("x_",), arguments=arguments)
    np.testing.assert_array_equal(
        sample(renamed, build, build.run, data).block("theta"),
        sample(full_module, build, build.run, data).block("theta"),
    )


def test_a_size_that_nothing_fixes_is_named(full_module: Emitted, build: Build, data: Data) -> None:
    declarations = replace(build.target.declarations, data=())
    build = replace(build, target=replace(build.target, declarations=declarations))
    with pytest.raises(DataError, match="nothing fixes the size d"):
        sample(full_module, build, build.run, Data())
