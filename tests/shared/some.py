"""Cases of one kind of which the default tests take some, and `-m slow` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], each: int = 4) -> list[Any]:
    """Return the cases of a test in their order: of each so many the first by default, the others marked `slow`."""
    return [case if k % each == 0 else pytest.param(case, marks=pytest.mark.slow) for k, case in enumerate(cases)]
