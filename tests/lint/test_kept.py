"""What a file keeps, as it is looked at after a call: nothing of it hides behind much else, or behind a false class."""

import numpy as np
import pytest

from recipe_compiler.lint.plain_run import state
from recipe_compiler.lint.plain_run.handed import Handed, KeptElsewhereError
from recipe_compiler.lint.plain_run.state import KeptState


class Pretending:
    """An object that says that it is a number, which never changes."""

    def __init__(self) -> None:
        self.kept = 0

    @property
    def __class__(self) -> type:
        return float


def test_an_array_is_found_after_more_objects_than_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MOST", 10)
    x = np.zeros(2)
    with pytest.raises(KeptElsewhereError, match="keeps in KEPT, which"):
        Handed().look_at_kept([x], __file__, {"MANY": [[] for _ in range(20)], "KEPT": [x]}, ())


def test_what_is_not_kept_is_handed_on() -> None:
    x, y = np.zeros(2), np.zeros(2)
    assert Handed().look_at_kept([x], __file__, {"OTHER": y, "LENGTH": len}, ())[0] is x


def test_a_class_that_pretends_to_be_one_of_numbers_hides_nothing() -> None:
    one = Pretending()
    assert isinstance(one, float)
    before = KeptState(__file__).text(one)
    one.kept = 1
    assert KeptState(__file__).text(one) != before
