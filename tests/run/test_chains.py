"""Chains: reproducible whatever the cores and pieces, stopped one by one, never losing a draw."""

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
from hand_module import limited

from recipe_compiler.errors import CompilerError, DataError, RunError
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chains import Watch
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted, users_name
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.usefixtures("interruptible")


def at_first_call(number: signal.Signals) -> Watch:
    """Return a watch that sends this process a signal, once a chain has drawn."""
    sent: list[int] = []

    def send(done: object, total: int) -> None:
        if not sent and max(done) > 0:
            sent.append(total)
            os.kill(os.getpid(), number)

    return send


def test_seeds_and_chains_differ(full_module: Emitted, build: Build, data: Data) -> None:
    one = sample(full_module, build, build.run, data).block("theta")
    assert not np.any(one == sample(full_module, build, replace(build.run, seed=2), data).block("theta"))
    assert not np.any(one[0] == one[1])


def test_a_diverging_chain_stops_and_the_others_go_on(full_module: Emitted, build: Build, data: Data) -> None:
    settings = replace(build.run, draws=100, thin=1, seed=2)
    draws = sample(full_module, limited(build, "4.1"), settings, data, cores=2)
    free = sample(full_module, build, settings, data, cores=2).block("theta")
    assert draws.diverging == (False, False, True, False)
    for k, (kept, diverging) in enumerate(zip(draws.kept, draws.diverging, strict=True)):
        assert diverging == (kept < 105)
        np.testing.assert_array_equal(draws.block("theta")[k, :kept], free[k, :kept])
        assert np.isnan(draws.block("theta")[k, kept:]).all()


def test_an_interrupt_keeps_what_was_drawn_and_evens_the_chains(
    full_module: Emitted, build: Build, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.001)
    settings = replace(build.run, draws=200_000)
    draws = sample(full_module, build, settings, data, progress=at_first_call(signal.SIGINT), cores=2)
    assert draws.interrupted
    assert 0 < draws.kept[0] < settings.draws
    assert len(set(draws.kept)) == 1
    assert np.isfinite(draws.block("theta")[:, : draws.kept[0]]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_raises(full_module: Emitted, build: Build, data: Data) -> None:
    def stop(done: object, total: int) -> None:
        del done, total
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sample(full_module, build, replace(build.run, draws=1000, thin=100_000), data, progress=stop, cores=1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_ignored_stays_ignored(full_module: Emitted, build: Build, data: Data, number: signal.Signals) -> None:
    signal.signal(number, signal.SIG_IGN)
    draws = sample(full_module, build, build.run, data, progress=at_first_call(number), cores=1)
    assert draws.stopped is None
    assert draws.kept == (45,) * 4
    assert signal.getsignal(number) is signal.SIG_IGN


def test_chains_run_outside_the_main_thread_and_progress_tells_the_end(
    full_module: Emitted, build: Build, data: Data
) -> None:
    found: list[tuple[int, ...]] = []
    seen: list[tuple[tuple[int, ...], int]] = []

    def run() -> None:
        watch = lambda done, total: seen.append((tuple(done), total))  # noqa: E731
        found.append(sample(full_module, build, build.run, data, progress=watch).kept)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [(45,) * 4]
    assert seen[-1] == ((45,) * 4, 45)


def test_an_error_in_a_chain_is_raised_here(full_module: Emitted, build: Build, data: Data) -> None:
    def broken(*arguments: object) -> int:
        if np.size(arguments[-1]):
            raise FloatingPointError("planted")
        return 0

    with pytest.raises(FloatingPointError, match="planted"):
        sample(replace(full_module, run=broken), build, build.run, data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_size": 1.5}, "eps_max = 1"),
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


def test_what_has_no_value_or_size_is_named(full_module: Emitted, build: Build, data: Data) -> None:
    with pytest.raises(DataError, match="parameter `c`: found no value"):
        sample(full_module, replace(build, values=()), build.run, data)
    declarations = replace(build.target.declarations, data=())
    with pytest.raises(DataError, match="nothing fixes the size d"):
        sample(full_module, replace(build, target=replace(build.target, declarations=declarations)), build.run, Data())


def test_names_that_a_module_had_to_change_are_found(full_module: Emitted, build: Build, data: Data) -> None:
    changed = {"theta": "theta_", "theta_draws": "theta__draws", "c": "c__", "x": "x_"}
    arguments = tuple(changed.get(name, name) for name in full_module.arguments)
    blocks = (("theta_", "d"), ("r", "d"))

    def first_state(seed: int, chain: int, d: int) -> dict[str, object]:
        return {changed.get(name, name): block for name, block in full_module.first_state(seed, chain, d).items()}

    renamed = replace(
        full_module,
        first_state=first_state,
        blocks=blocks,
        parameters=("c__", "limit"),
        data=("x_",),
        arguments=arguments,
    )
    draws = [sample(module, build, build.run, data).block("theta") for module in (renamed, full_module)]
    np.testing.assert_array_equal(*draws)
    for emitted, declared, name in (("c", {"c", "c_"}, "c"), ("c_", {"c", "c_"}, "c_"), ("eps__", {"eps"}, "eps")):
        assert users_name(emitted, declared) == name
    with pytest.raises(CompilerError, match="`q_`"):
        users_name("q_", {"c"})
