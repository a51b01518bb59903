"""What tests of runs share: emitted modules are plain Python, and one of them is written by hand."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hand_module import FULL, WITH, WITHOUT, make_build, make_data, module_text
from plain_modules import compiled_modules, plain_modules

from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.spec.model import Build

COMPILED = {
    "test_column_major", "test_derived", "test_energies", "test_estimates", "test_infinitesimal_means",
    "test_kept_mode", "test_kinds_of_data", "test_load_module", "test_made_columns", "test_minibatch_builds",
    "test_outside", "test_overflowing_energy", "test_predictive", "test_rerun", "test_shared_functions", "test_tails",
    "test_uneven_noise", "test_unvisited",
}  # fmt: skip
"""Files whose modules the jit compiles: they test it, or draw by `rc.compile`."""


@pytest.fixture(scope="module", autouse=True)
def _plain_by_default(request: pytest.FixtureRequest) -> Iterator[None]:
    """Import emitted modules as plain Python, where a test does not take `with_jit`."""
    with nullcontext() if request.module.__name__.rpartition(".")[2] in COMPILED else plain_modules():
        yield


@pytest.fixture(autouse=True)
def _compiled_if_slow(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the jit compile modules for tests that are slow, which draw much."""
    with compiled_modules() if request.node.get_closest_marker("slow") else nullcontext():
        yield


@pytest.fixture(scope="session")
def modules() -> dict[str, Emitted]:
    """Return the three variants: full, without, with (replacement)."""
    options = {"full": FULL, "without": WITHOUT, "with": WITH}
    with plain_modules():
        return {name: load_text(f"hand_{name}", module_text(option)) for name, option in options.items()}


@pytest.fixture(scope="session")
def full_module(modules: dict[str, Emitted]) -> Emitted:
    return modules["full"]


@pytest.fixture(scope="session")
def build() -> Build:
    return make_build()


@pytest.fixture(scope="session")
def data() -> Data:
    return make_data()
