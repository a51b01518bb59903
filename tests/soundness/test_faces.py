"""Faces of the domain: what is refuted is false, what is proved needs no face that is not there."""

from collections.abc import Callable

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.uniqueness.boundary import boundary

Decide = Callable[[Callable[[Subject], Answer], str], Answer]


def test_a_coefficient_that_may_be_zero_makes_no_pole(decide: Decide) -> None:
    document = """
    state: {x: {domain: positive}}
    parameters: {c: {is: nonnegative}}
    H: c/x + x
    D: [[x]]
    Q: [[0]]
    """
    assert isinstance(decide(boundary, document).decision, Undecided)
    negative = document.replace("nonnegative", "real")
    assert isinstance(decide(boundary, negative).decision, Refuted)


def test_a_lower_bound_of_the_energy_refutes_nothing(decide: Decide) -> None:
    document = """
    state: {x: {shape: 2, domain: positive}}
    parameters: {w: {shape: 2, is: positive}}
    H: sum(x) + sum(w)*log(sum(exp(-1/x)))
    D: [["diag(x)"]]
    Q: [[0]]
    """
    assert not isinstance(decide(boundary, document).decision, Refuted)


def test_a_face_that_assumptions_cut_off_refutes_nothing(decide: Decide) -> None:
    document = """
    state: {x: {domain: positive}}
    H: x + 2*log(x)
    D: [[x**2]]
    Q: [[0]]
    """
    assert isinstance(decide(boundary, document).decision, Refuted)
    assert isinstance(decide(boundary, document.replace("H: ", "assume: ['x > 1']\n    H: ")).decision, Undecided)


def test_a_reflection_makes_up_for_what_grows_slower_than_the_distance_shrinks(decide: Decide) -> None:
    document = """
    state: {x: {domain: positive}, r: {}}
    H: x + r**2/2
    D: [[0, 0], [0, 1]]
    Q: [[0, "-x**SIZE"], ["x**SIZE", 0]]
    """
    assert isinstance(decide(boundary, document.replace("SIZE", "(-1/2)")).decision, Proved)
    assert isinstance(decide(boundary, document.replace("SIZE", "(-1)")).decision, Undecided)
