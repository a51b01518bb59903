"""Numbers that no document holds, and nestings that never end, given in Python: what was found is said."""

from collections.abc import Callable

import pytest

import recipe_compiler as rc
from recipe_compiler.errors import MOST_SHOWN, shown
from recipe_compiler.formula.shapes import MAX_SIZE

HUGE = 10**5000
theta = rc.vector("theta", "d")


def dynamics(**stated: object) -> rc.Dynamics:
    return rc.Dynamics(**{"name": "a", "state": [theta], "H": rc.norm2(theta), "D": [[rc.I]], "Q": [[0]], **stated})


def endless() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


ABSURD: dict[str, Callable[[], object]] = {
    "position": lambda: theta[HUGE],
    "position below 0": lambda: theta[-HUGE],
    "position beyond all sizes": lambda: theta[MAX_SIZE],
    "slice": lambda: theta[0:HUGE],
    "exponent": lambda: rc.scalar("x") ** HUGE,
    "size": lambda: rc.vector("x", HUGE),
    "size below 0": lambda: rc.matrix("x", 2, -HUGE),
    "kind": lambda: rc.scalar("x", is_=HUGE),
    "kind in a list": lambda: rc.scalar("x", is_=[HUGE]),
    "name": lambda: rc.scalar(HUGE),
    "domain": lambda: rc.scalar("x", domain=HUGE),
    "role": lambda: rc.function("U", of=theta, role=HUGE),
    "data": lambda: rc.data("x", HUGE),
    "D that holds itself": lambda: dynamics(D=endless()),
    "title that holds itself": lambda: dynamics(title=endless()),
    "key": lambda: dynamics(claims={"drift": {HUGE: theta}}),
    "order": lambda: rc.Scheme(name="s", split=["A"], claims={"order": HUGE}),
    "size of a matrix": lambda: dynamics().derive().drift.to_sympy(d=-HUGE),
}


@pytest.mark.parametrize("name", ABSURD)
def test_it_is_refused_with_what_was_found(name: str) -> None:
    with pytest.raises(rc.RecipeError, match=r"found|beyond"):
        ABSURD[name]()


def test_what_is_shown_is_short_and_never_raises() -> None:
    class Sly:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shown(HUGE) == "int of 16610 bits"
    assert shown(Sly()) == "Sly, which cannot be printed"
    assert shown("a") == "'a'"
    assert len(shown("a" * 1000)) == MOST_SHOWN + 3
