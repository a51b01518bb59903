"""Cases of one kind of which the default tests take some, and `-m slow` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], each: int = 4) -> list[Any]:
    """Return the cases of a test in their order: of each so many the first by default, the others marked `slow`.

    A tuple is a case of a test that takes several arguments, as it is for pytest.
    """
    return [case if k % each == 0 else _slow(case) for k, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
