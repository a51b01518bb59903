"""What tests of runs share: emitted modules written by hand."""

import pytest
from hand_module import FULL, WITH, WITHOUT, make_build, make_data, module_text
from plain_modules import plain_modules

from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.spec.model import Build


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
