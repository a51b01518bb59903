"""A trace at fixed sizes with the dynamics it is compared with: its moments, read once, and outcomes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.positivity.region import region_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows, scalar
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import component, coordinates, coordinates_of, positions
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.lint.step_definedness import is_symmetric, require_small_steps
from recipe_compiler.trace.moments import Coefficients
from recipe_compiler.trace.of_operations import Meaning, TraceReading
from recipe_compiler.trace.of_scalars import read_precisely
from recipe_compiler.trace.operations import Operation, Trace
from recipe_compiler.trace.series import ONE, TWO, NoExpansionError
from recipe_compiler.verdict import Answer, Evidence, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.updates.claimed_step import describe_step_size, values_at

UNREAD = (NoExpansionError, NoNormalFormError, NotScalarisableError, TooLargeError, NoInstanceError)
"""What may keep a step from being read: the claim is undecided then."""
NORMAL = "normal form"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a claim at one choice of sizes: it holds, it fails at a point, or neither is known and why."""

    sizes: tuple[tuple[str, int], ...]
    holds: bool = False
    by: str = ""
    witness: Evidence = ()
    residual: str = ""
    reason: str = ""
    given: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """What is not shown to be defined."""
    line: int = 0
    """That of the file at which it fails, where it is known."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TracedProblem:
    """A step traced at fixed sizes, with what it is judged by."""

    ask: Binding
    subject: Subject
    trace: Trace
    sizes: Sizes

    @property
    def z(self) -> tuple[Symbol, ...]:
        """Return the coordinates of the state."""
        return second.state(self.subject.declarations, self.sizes)

    @property
    def setting(self) -> Setting:
        """Return what is declared, at the fixed sizes."""
        return self.subject.setting(self.sizes)

    @property
    def H(self) -> Expr:
        """Return the energy."""
        return scalar(self.subject.dynamics.H, self.subject.declarations, self.sizes)

    @property
    def step_size(self) -> str:
        """Return the name of the argument that is the step size; eps where formulas of it are; empty without any."""
        own = next((given.name for given in self.ask.given if given.kind == "eps"), "")
        return own or ("eps" if any(given.uses_eps for given in self.ask.given) else "")

    @property
    def no_step_size(self) -> str:
        """Return why there is no limit of small steps; empty where the step computes with a step size.

        A number in it may be one: such a step is not to be refuted for what it does at that number.
        """
        name = self.step_size
        if not name:
            advice = "make that an argument called eps, or say which argument it is: --map NAME=eps"
            return f"no argument of the step function is a step size: if a number in it is one, {advice}"
        holders = {given.name for given in self.ask.given if given.uses_eps}
        used = any(one.op == "leaf" and one.name in holders for one in self.trace.operations)
        return "" if used else f"the step does not use its step size {name}: if a number in it is one, put {name} there"

    @property
    def at(self) -> tuple[tuple[str, int], ...]:
        """Return the sizes as pairs."""
        return tuple(self.sizes.items())


class MomentReader:
    """A problem with the moments of its step, read when they are first needed."""

    def __init__(self, problem: TracedProblem) -> None:
        self.problem = problem

    @cached_property
    def reading(self) -> TraceReading:
        """The trace as series, with the moments of the step.

        Raises:
            NoExpansionError: they are not known.
        """
        found = self.reading_to(ONE)
        for draws, entries in self.problem.trace.groups:
            if not is_symmetric(entries, len(draws), found):
                raise NoExpansionError("a covariance that is not known to be symmetric")
        return found

    def reading_to(self, power: Fraction) -> TraceReading:
        """Return the reading, its moments known at least up to a power of eps.

        Raises:
            NoExpansionError: they are not known as far.
        """
        found = read_precisely(lambda top: TraceReading(self.problem.trace, bind_leaves(self.problem), top), power)
        if found.known < power:
            raise NoExpansionError(f"the step is known up to eps^({found.known}) only")
        return found

    @cached_property
    def needs(self) -> Obligations:
        """What the step needs to be defined, and what of it is not shown."""
        try:
            region = region_at(self.problem.subject.declarations, self.problem.sizes)
            return require_small_steps(self.problem.trace, self.reading, region)
        except UNREAD as reason:
            return Obligations(frozenset(), (str(reason),))

    def at(self, power: Fraction) -> Coefficients[Expr]:
        """Return the coefficients of a power of eps in E[dz] and Cov[dz].

        Raises:
            NoExpansionError: they are not known as far.
        """
        found = self.reading if self.reading.known >= power else self.reading_to(power)
        return values_at(found.moments, power)

    def parts(self, top: Fraction) -> dict[Fraction, Coefficients[Expr]]:
        """Return the moments by powers of eps, those that vanish left out.

        Raises:
            NoExpansionError: they are not known as far.
        """
        found = self.reading if self.reading.known >= top else self.reading_to(top)
        parts = {power: values_at(found.moments, power) for power in found.moments.powers(top)}
        return {power: part for power, part in parts.items() if not all(map(is_zero, part.entries))}

    @cached_property
    def unit(self) -> Fraction:
        """The power of the step size that one step takes of time.

        It is 1, or the power at which the covariance starts where all that is of lower order vanishes: `theta -
        h**2/2*grad + h*noise` takes time of order h**2. A step with anything of order h, as `theta - h*grad + h*noise`,
        is left as it is.

        Raises:
            NoExpansionError: the moments are not known.
        """
        if self.parts(ONE):
            return ONE
        try:
            found = self.parts(TWO)
        except NoExpansionError:
            return ONE
        low = min(found, default=ONE)
        return ONE if not found or all(is_zero(x) for row in found[low].covariance for x in row) else low

    @property
    def says(self) -> str:
        """As what the step size is read, to be put behind a verdict; empty where it is the argument itself."""
        return f"; {self.step_size()}" if self.unit != ONE else ""

    def step_size(self, scale: Fraction = ONE) -> str:
        """Return as what the step size is read: a multiple of a power of the argument."""
        return describe_step_size(self.unit, scale, self.problem.step_size)


def bind_leaves(problem: TracedProblem) -> Meaning:
    """Return the SymPy expressions of the leaves of a trace."""
    declarations, sizes = problem.subject.declarations, problem.sizes
    eps = Symbol("eps" if declarations.find("eps") is None else "eps.", positive=True)
    setting = Setting(declarations, sizes)
    leaves: dict[str, tuple[Expr, ...]] = {}
    points: dict[str, tuple[Symbol, ...]] = {}
    for given in problem.ask.given:
        if given.kind == "eps":
            leaves[given.name] = (eps,)
        elif given.kind == STATE:
            leaves[given.name] = problem.z
        elif given.formula is not None:
            leaves[given.name] = tuple(x for row in rows(given.formula, setting) for x in row)
            points[given.name] = tuple(x for block in given.of for x in coordinates(block, sizes))
            if given.inverse is not None and given.block is not None:
                image = (x for row in rows(given.inverse, setting) for x in row)
                block = coordinates(given.block, sizes)
                leaves[_name_inverse_map(given)] = tuple(sympy.diff(x, z) for x in image for z in block)
    return Meaning(problem.z, eps, leaves, points, tuple(_map_functions_elsewhere(declarations, sizes)))


def _map_functions_elsewhere(declarations: Declarations, sizes: Sizes) -> Iterator[dict[Expr, Expr]]:
    """Yield, for functions at another home, their coordinates and calls mapped to those of the declared function."""
    elsewhere = [function for function in declarations.functions if function.home]
    for home, of in dict.fromkeys((function.home, function.of) for function in elsewhere):
        own, others = (coordinates_of(blocks, declarations, sizes) for blocks in (home, of))
        found: dict[Expr, Expr] = dict(zip(own, others, strict=True))
        there = [function for function in elsewhere if (function.home, function.of) == (home, of)]
        for pair in ((x, y) for y in there for x in declarations.functions if x.name == y.value.declared):
            for at in positions(pair[0].shape, sizes):
                calls = (component(item, at, declarations, sizes).atoms(AppliedUndef) for item in pair)
                found |= dict(zip(*calls, strict=True))
        yield found


def return_blocks(trace: Trace, ask: Binding) -> Trace:
    """Return a trace whose outputs are the blocks of the document, where arguments hold linear images of them."""
    operations, lines = list(trace.operations), list(trace.lines)

    def product(given: BoundName, flat: tuple[int, ...]) -> Iterator[int]:
        """Yield the places of the product of the inverse map with what an argument holds."""
        for row in range(len(flat)):
            total: int | None = None
            for column, place in enumerate(flat):
                k = len(operations)
                leaf = Operation("leaf", (), _name_inverse_map(given), row * len(flat) + column)
                sums = [] if total is None else [Operation("add", (total, k + 1))]
                operations.extend([leaf, Operation("mul", (k, place)), *sums])
                lines.extend([lines[place]] * (2 + len(sums)))
                total = len(operations) - 1
            yield from () if total is None else (total,)

    def blocks(outputs: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        pairs = zip(ask.outputs, outputs, strict=True)
        return tuple(flat if given.inverse is None else tuple(product(given, flat)) for given, flat in pairs)

    outputs, otherwise = blocks(trace.outputs), blocks(trace.otherwise) if trace.otherwise else ()
    return replace(trace, operations=tuple(operations), lines=tuple(lines), outputs=outputs, otherwise=otherwise)


def _name_inverse_map(given: BoundName) -> str:
    """Return the name, which no argument has, of the matrix that takes what an argument holds to its block."""
    return f"{given.name}^-1"


def decide_with_needs(read: MomentReader, look: Callable[[MomentReader], Outcome]) -> Outcome:
    """Return the outcome of a decider, with what a proof requires where the document fixes the sizes."""
    problem = read.problem
    try:
        found = look(read)
    except UNREAD as reason:
        return Outcome(problem.at, reason="; ".join(filter(None, (problem.no_step_size, str(reason)))))
    if found.holds and not problem.subject.declarations.sizes:
        return replace(found, given=tuple(sorted(read.needs.given.union(found.given))), left=read.needs.open)
    return replace(found, given=(*problem.trace.given, *found.given))


def decide(problem: TracedProblem, conditions: Sequence[tuple[str, Expr]]) -> Answer:
    """Decide that scalars vanish, each with its words; refuted by the first that has a witness among some."""
    left = list_nonzero(conditions)
    if not left:
        return Answer(Proved(NORMAL))
    for words, e in left[: limits.TRIALS]:
        found = witness(e, problem.subject.declarations, problem.sizes)
        if found is not None:
            return Answer(
                Refuted("exact witness", (*found.text, (words, format_value(found.value))), format_expression(e))
            )
    words, e = left[0]
    return Answer(Undecided((f"{words} did not reduce to zero, no witness found",), format_expression(e)))


def make_outcome(problem: TracedProblem, answer: Answer) -> Outcome:
    """Return an answer about one choice of sizes."""
    match answer.decision:
        case Proved(by, given):
            return Outcome(problem.at, holds=True, by=by, given=given)
        case Refuted(by, point, residual):
            return Outcome(problem.at, by=by, witness=point, residual=residual)
        case Undecided(tried, residual):
            return Outcome(problem.at, reason="; ".join(tried), residual=residual)


def list_nonzero(conditions: Iterable[tuple[str, Expr]]) -> list[tuple[str, Expr]]:
    """Return the scalars, with their names, whose normal form is not zero."""
    return [(words, e) for words, e in conditions if not is_zero(e)]
