"""Every fault planted in an emitted text is found by reading it back, and named."""

from collections import Counter
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet
from emitted_texts import read, text_of, with_change
from planted_faults import PLANTED, Planted

from recipe_compiler.errors import CompilerError, ModelError


def cases() -> Iterator[ParameterSet]:
    """Yield every fault, those marked slow of which the table says that some are enough."""
    seen: Counter[int] = Counter()
    for planted in PLANTED:
        for fault in planted.faults:
            by_default = planted.each and seen[planted.each] % (3 * planted.each) == 0
            seen[planted.each] += 1
            name = f"{planted.build}, {planted.shapes[0]}: {fault}"
            yield pytest.param(planted, fault, id=name, marks=() if by_default else pytest.mark.slow)


@pytest.mark.parametrize(("planted", "fault"), list(cases()))
def test_a_planted_fault_is_found_and_named(planted: Planted, fault: str) -> None:
    old, new, *says = planted.faults[fault][:3]
    for shape in planted.shapes:
        text = text_of(planted.build, shape)
        faulty = with_change(text, old, new, planted.after)
        with pytest.raises((CompilerError, ModelError)) as error:
            read(planted.build, text, faulty, planted.part)
        assert all(words in str(error.value) for words in says), (shape, str(error.value))


def test_the_table_of_faults_does_not_shrink() -> None:
    """What a change of the emitter makes obsolete is to be planted anew, in what it emits then."""
    rows = [(one.build, one.shapes, one.after, *row[:2]) for one in PLANTED for row in one.faults.values()]
    assert len(rows) >= 380
    assert len(set(rows)) == len(rows)
    assert all(old != new for *_, old, new in rows)
