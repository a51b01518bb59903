"""Reading back ends: at its limit, or where something cannot be read, with what was not read, and without a module."""

import pytest
from processor_time import ends

from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback.child_process import Reading, read_all


def nothing() -> None:
    return


def forever() -> None:
    while True:
        pass


def fails() -> None:
    raise ZeroDivisionError("by nothing")


def differs() -> None:
    raise CompilerError("the emitted text differs")


def test_what_does_not_end_is_named() -> None:
    says = r"well was not read back.*the step at d = 2: did not end in 0.2 s"
    with ends(), pytest.raises(ReadBackError, match=says):
        read_all("well", [Reading("the step", nothing), Reading("the step at d = 2", forever)], seconds=0.2)


def test_an_exception_of_a_reading_is_told_as_a_fault_of_the_program_and_not_of_the_text() -> None:
    said = "the lanes: an internal error of recipe_compiler, not of the document: ZeroDivisionError: by nothing"
    with pytest.raises(ReadBackError, match=said):
        read_all("well", [Reading("the lanes", fails)])


def test_what_differs_is_one() -> None:
    with pytest.raises(CompilerError, match="the emitted text differs"):
        read_all("well", [Reading("the step", nothing), Reading("the lanes", differs)])
