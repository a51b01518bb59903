"""Values of random formulas, by exact evaluation, lie in their ranges, and have their parities."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate, is_certainly
from recipe_compiler.facts.fold import asking
from recipe_compiler.facts.parity import EVEN, ODD, Parity
from recipe_compiler.facts.ranges import Range
from recipe_compiler.facts.semidefinite import sign_by_rules
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Parameter
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind


def number(value: Fraction | int) -> ex.Number:
    return ex.Number(Fraction(value))


def interval(low: int, high: int) -> Domain:
    return Domain(DomainName.INTERVAL, (number(low), number(high)))


BLOCKS = (
    Block("p", SCALAR, interval(0, 1)), Block("q", SCALAR, interval(-3, 2)), Block("x", SCALAR),
    Block("y", SCALAR, Domain(DomainName.POSITIVE)),
)  # fmt: skip
DECLARED = Declarations(
    BLOCKS,
    (Parameter("a", SCALAR, (Kind.NONNEGATIVE,)), Parameter("b", SCALAR, (Kind.NONZERO,))),
    data=(Datum("z", "N", values=(0, 1, 3)),),
    assume=(ex.Compare(">=", ex.Symbol("c", SCALAR, ex.Role.PARAMETER), number(2), SCALAR),),
)
VALUES = {
    "p": (Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)), "q": (Fraction(-29, 10), Fraction(0), Fraction(19, 10)),
    "x": (Fraction(-7), Fraction(0), Fraction(3, 2)), "y": (Fraction(1, 50), Fraction(1), Fraction(40)),
    "a": (Fraction(0), Fraction(1, 3), Fraction(5)), "b": (Fraction(-2), Fraction(1, 9), Fraction(1)),
    "z": (Fraction(0), Fraction(1), Fraction(3)),
}  # fmt: skip
LEAVES = st.one_of(
    st.sampled_from([ex.Symbol(block.name, SCALAR, ex.Role.BLOCK) for block in BLOCKS]),
    st.sampled_from([ex.Symbol(name, SCALAR, ex.Role.PARAMETER) for name in "ab"]),
    st.just(ex.Symbol("z", SCALAR, ex.Role.DATUM)),
    st.sampled_from([number(Fraction(n, 2)) for n in range(-4, 5)]),
)
FUNCTIONS = ("exp", "log", "sqrt", "abs", "tanh", "sin", "cos", "sigmoid", "log1p", "expm1", "sign", "softplus")
POWERS = (2, 3, -1, -2, Fraction(1, 2), Fraction(-3, 2))


def grown(inner: st.SearchStrategy[ex.Formula]) -> st.SearchStrategy[ex.Formula]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda terms: ex.Add(tuple(terms), SCALAR)),
        st.tuples(inner, inner).map(lambda two: ex.Multiply(*two, SCALAR)),
        inner.map(lambda one: ex.Multiply(one, one, SCALAR)),
        st.tuples(inner, st.sampled_from(POWERS)).map(lambda two: ex.Power(two[0], number(two[1]), SCALAR)),
        st.tuples(st.sampled_from(FUNCTIONS), inner).map(lambda two: ex.Apply(two[0], (two[1],), SCALAR)),
        st.tuples(st.sampled_from(("minimum", "maximum")), inner, inner).map(
            lambda three: ex.Apply(three[0], three[1:], SCALAR)
        ),
    )


FORMULAS = st.recursive(LEAVES, grown, max_leaves=6)


def value(formula: ex.Formula, at: dict[str, Fraction]) -> Value | None:
    try:
        entries = [rows(node, Setting(DECLARED, {}))[0][0] for node in (*nodes(formula), formula)]
        return [evaluate(entry, lambda e: at[str(e)]) for entry in entries][-1]  # defined where all of its parts are
    except (NoValueError, ZeroDivisionError, KeyError):
        return None


def lies_in(found: Value, known: Range) -> bool:
    """Whether a value, or its ball, may satisfy all that a range says."""
    for op, end in ((">", known.low), ("<", known.high)):
        if not isinstance(end.at, Fraction):
            continue
        sign = 1 if op == ">" else -1
        difference = found - end.at if isinstance(found, Fraction) else ball(found) - ball(end.at)
        if is_certainly(difference, -sign) or (end.open and difference == 0):
            return False
    return not (known.nonzero and found == 0)


@settings(max_examples=150, deadline=None)
@given(formula=FORMULAS, k=st.integers(0, 2), shift=st.integers(0, 2))
def test_values_lie_in_ranges(formula: ex.Formula, k: int, shift: int) -> None:
    at = {name: own[(k + shift * i) % 3] for i, (name, own) in enumerate(VALUES.items())}
    found = value(formula, at)
    assert found is None or lies_in(found, sign_by_rules(formula, DECLARED)), (formula, at)


@settings(max_examples=100, deadline=None)
@given(formula=FORMULAS, k=st.integers(0, 2))
def test_parities_are_those_of_values(formula: ex.Formula, k: int) -> None:
    at = {name: own[k] for name, own in VALUES.items()} | {"x": Fraction(5, 7)}
    known = asking(Parity("x"), DECLARED)(formula)
    here, there = value(formula, at), value(formula, at | {"x": -at["x"]})
    if here is None or there is None:
        return
    for parity, sign in ((EVEN, 1), (ODD, -1)):
        if known & parity:
            assert ball(here).overlaps(sign * ball(there)), (formula, at)


def test_assumptions_are_met() -> None:
    c = ex.Symbol("c", SCALAR, ex.Role.PARAMETER)
    found = sign_by_rules(ex.Add((c, number(-1)), SCALAR), DECLARED)
    assert found.shows(">") == found.shows(">=", 1) == {"c >= 2"}
    assert found.shows(">", 1) is None


def test_a_condition_on_the_block_is_no_even_function() -> None:
    x = ex.Symbol("x", SCALAR, ex.Role.BLOCK)
    chosen = ex.Apply("where", (ex.Compare(">", x, number(0), SCALAR), number(1), number(2)), SCALAR)
    assert not asking(Parity("x"), DECLARED)(chosen)
