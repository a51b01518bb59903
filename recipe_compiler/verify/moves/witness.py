"""Exact points against proofs: values of energies, where proofs take slopes, and pi K - pi of a Metropolis move.

For a Metropolis move without noise, words of shifts are tried, z + t f with f free of the moved blocks: rational where
f is, with |det| = 1. The U and the values of the build come first; where they are not few numbers and formulas, or
numbers grow too long, some U does. What a word of a part of the target moves is that part in either case.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import balance
from recipe_compiler.algebra.dynamics.balance import State
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import is_defined_at, points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Metropolis
from recipe_compiler.spec.words import Letter, letters
from recipe_compiler.splitting.entrywise import SHIFT
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.split_by import list_selections
from recipe_compiler.verdict import Answer, Evidence, Refuted
from recipe_compiler.verify.builds.in_build import Stages, select_part, subject_at_values
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject, once_at_sizes
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.steps.in_build import valued_subject
from recipe_compiler.verify.steps.split import Split, split_of

STEP_SIZES = (Fraction(1, 2), Fraction(1))
"""Tried besides that of the build: the claim is about all of them."""
NO_POINT = (NoValueError, NotScalarisableError, TooLargeError, NoInstanceError)
"""Why a point shows nothing."""
Off = Callable[[Point, Point], Iterable[Expr]]
"""What has to vanish at a point, by another one."""


def defined_points(subject: Subject, sizes: Sizes, tried: int) -> Iterator[Point]:
    """Yield the first admissible points at which H, D and Q have a value."""
    for at in points(subject.declarations, sizes, tried):
        if is_defined_at(subject.formulas, subject.setting(sizes), at.leaf):
            yield at


def refute_at_point(
    by: str,
    off: Off,
    declared: Declarations,
    sizes: Sizes,
    reads: Sequence[Formula],
    *,
    says: str = "off by",
    sign: int = 0,
    tried: int = limits.TRIALS,
) -> Answer | None:
    """Return the refutation by a point where a quantity is certainly not 0, or certainly negative; else None.

    Args:
        by: how it is refuted.
        off: what has to vanish, or not to be negative, at a point, by another one.
        declared: what a point has to satisfy.
        sizes: those of the point.
        reads: formulas that have to have a value at it.
        says: what the value is.
        sign: 0 where it has to vanish, -1 where it must not be negative.
        tried: points at most.
    """
    try:
        drawn = [*islice(points(declared, sizes), max(tried, limits.TRIALS))]
    except NO_POINT:
        return None
    for at, other in zip(drawn[:tried], reversed(drawn), strict=False):
        try:
            if is_defined_at(reads, Setting(declared, sizes), at.leaf):
                for value in (evaluate(left, at.leaf) for left in off(at, other)):
                    if is_certainly(value, sign):
                        return Answer(
                            Refuted(by, (*at.text, (says, format_value(value)))), tuple(sizes.items()) or "all"
                        )
        except (*NO_POINT, ZeroDivisionError):
            continue
    return None


def substitute_point(e: Expr, x: Sequence[Symbol], to: Point) -> Expr:
    """Return an expression with the values that a point gives to some coordinates."""
    return e.xreplace({y: rational(to.numbers[y]) for y in x})


@lru_cache(maxsize=limits.SUBJECTS)
def stated_subject(build: Build) -> Subject | None:
    """Return the dynamics with a build's U and values; None where those are too large."""
    return valued_subject(Stages(build, bind(build)))


def words_to_try(cycle: Cycle, part: int) -> Iterator[Split]:
    """Yield the word that moves a part of the target, first with the build's U and values, then with an abstract U.

    None with some U where the build's reads nothing of what the word moves: what goes wrong with some other U then need
    not with this one.
    """
    split, build = cycle.split, select_part(cycle.build, part)
    subjects = [stated_subject(build)]
    if not _is_potential_free_of_word(cycle, part):
        subjects.append(subject_at_values(build) or split.subject)
    yield from filter(None, (split_with_values(split, subject) for subject in subjects if subject is not None))


def split_with_values(split: Split, subject: Subject) -> Split | None:
    """Return the pieces of a word in dynamics with values substituted; None where the pieces change."""
    stated = replace(split.scheme, pieces=tuple(list_selections(split.derivation, split.scheme).items()))
    try:
        return split if subject is split.subject else split_of(subject, stated)
    except ModelError:
        return None


def _is_potential_free_of_word(cycle: Cycle, part: int) -> bool:
    """Return whether U reads none of the target's blocks that the word moves."""
    target, use = cycle.build.target, cycle.split.scheme.use
    moved = () if use is None else use.parts[part].blocks
    stated = [target.potential, target.log_prior, target.log_likelihood]
    stated += [formula for state in target.recursion for formula in (state.start, state.next)]
    read = {block for formula in stated if formula is not None for block in dependence(formula).blocks}
    return target.gradient is None and read.isdisjoint(moved or [block.name for block in target.declarations.blocks])


class _TooLongError(Exception):
    """The exact numbers grow too long, or the word has too many steps."""


def refute_invariance(cycle: Cycle, move: Metropolis, *, against_proof: bool = False) -> Answer | None:
    """Return the refutation by a point y with (pi K)(y) != pi(y), pi = exp(-H); None where none is found.

    Against a proof, which is about every size, a few points at sizes of few coordinates are tried, whatever the
    build's: numbers with the digits of its values would outlast the limits of the claim.

    For words of shifts. With x = Psi^-1 y and G the turn after a refusal, (pi K)(y) - pi(y) = min(pi(x), pi(y)) + pi(G
    y) - min(pi(G y), pi(Psi G y)) - pi(y) at a rational point is a sum of c exp(-a) with rational c and a, zero only if
    the c of every a are (Lindemann and Weierstrass): the sign of its value is certain. That it is zero everywhere is
    the invariance of pi (Tierney 1998).
    """
    build, split = cycle.build, cycle.split
    tried = [*words_to_try(cycle, move.part)]
    if against_proof:
        tried += filter(None, [split_with_values(split, split.subject.widest)])
        tried = [own for own in tried if all(len(own.z(sizes)) <= limits.COORDINATES for sizes in own.subject.sizes)]
    step_sizes = STEP_SIZES if build.is_planned else (build.eps * move.scale, *STEP_SIZES)
    for split in tried:
        if not _is_word_of_shifts(split):
            continue
        try:
            return _search_points(split, move, step_sizes, 2 if against_proof else limits.TRIALS)
        except _TooLongError:
            continue
    return None


def _search_points(split: Split, move: Metropolis, step_sizes: tuple[Fraction, ...], tried: int) -> Answer | None:
    """Return the first point and step size at which (pi K - pi)/pi is not 0, as a refutation; else None."""
    for sizes in split.subject.sizes:
        try:
            word = _Word(split, move, sizes)
            for at in defined_points(split.subject, sizes, tried):
                for eps in step_sizes:
                    off = word.change(at, eps)
                    if off:
                        return Answer(
                            Refuted(CHANGES, (*at.text, *_witness_rows(move, eps, off))), tuple(sizes.items()) or "all"
                        )
        except NO_POINT:
            continue
    return None


CHANGES = "exact witness: exp(-H) changes under the move"


def _witness_rows(move: Metropolis, eps: Fraction, off: str) -> Evidence:
    """Return step size, number of steps and (pi K - pi)/pi, as rows of a witness."""
    least, most = _lengths(move)
    length = "eps" if move.scale == 1 else f"{move.scale}*eps"
    steps = str(least) if least == most else f"uniform({least}, {most})"
    return (length, str(eps)), ("steps", steps), ("(pi K - pi)/pi, pi = exp(-H)", off)


def _lengths(move: Metropolis) -> tuple[int, int]:
    """Return how often a word is done, at least and at most; of a parameter one of its values, 2."""
    least, most = move.steps
    return least, 2 if isinstance(most, str) else most


def _is_word_of_shifts(split: Split) -> bool:
    """Return whether shifts move every letter of a word, all without noise."""
    try:
        return all(
            piece.name not in split.numerical and not piece.is_noisy and find_flow(split.derivation, piece).row == SHIFT
            for piece in split.used
        )
    except ModelError:
        return False


@once_at_sizes
def _list_drifts(split: Split, sizes: Sizes) -> dict[str, tuple[Expr, ...]]:
    """Return the drift of each piece at fixed sizes, away from kinks."""
    return {piece.name: tuple(map(off_kinks, split.drift(piece, sizes))) for piece in split.pieces}


@dataclass(frozen=True, slots=True)
class _Word:
    """The composed map of a word with its repetitions, at fixed sizes."""

    split: Split
    move: Metropolis
    sizes: Sizes

    def change(self, at: Point, eps: Fraction) -> str:
        """Return (pi K - pi)/pi at a point as text; empty where it is zero.

        Raises:
            NoValueError: something on the way has no value, or none that is rational.
            _TooLongError: numbers grow too long.
        """
        z, blocks = self.split.z(self.sizes), self.split.blocks
        flipped = {x for block in blocks if block.name in self.move.flip for x in coordinates(block, self.sizes)}
        y = tuple(at.numbers[x] for x in z)
        turned = tuple(-value if x in flipped else value for x, value in zip(z, y, strict=True))
        H, word = self.split.subject.system(self.sizes).H, [*letters(self.split.scheme.split)]
        backwards = [Letter(letter.piece, -letter.share) for letter in reversed(word)]

        def energy(state: State) -> Fraction:
            return self._evaluate_at(H, at, state)

        ways = zip(self._follow(at, y, backwards, eps), self._follow(at, turned, word, eps), strict=True)
        terms, here = balance.departure(energy, y, turned, ways), energy(y)
        if not terms:
            return ""
        exact = " + ".join(f"({c}) exp({here - a})" if a != here else f"({c})" for a, c in sorted(terms.items()))
        near = balance.value(terms, here).str(4, radius=False)
        return f"{exact} = {near}" if len(exact) <= limits.CHARACTERS else near

    def _follow(self, at: Point, state: State, word: Sequence[Letter], eps: Fraction) -> Iterator[State]:
        """Yield the state after each admissible number of repetitions of the word."""
        drifts = _list_drifts(self.split, self.sizes)
        least, most = _lengths(self.move)
        for count in range(1, most + 1):
            for letter in word:
                change = [self._evaluate_at(x, at, state) if x != 0 else Fraction(0) for x in drifts[letter.piece]]
                state = tuple(x + letter.share * eps * own for x, own in zip(state, change, strict=True))
                if max(max(abs(x.numerator), x.denominator).bit_length() for x in state) > limits.MOST_BITS:
                    raise _TooLongError
            if count >= least:
                yield state

    def _evaluate_at(self, e: Expr, at: Point, state: State) -> Fraction:
        """Return an expression's exact value with the coordinates of a state. Raises NoValueError unless rational."""
        there = replace(at, numbers={**at.numbers, **dict(zip(self.split.z(self.sizes), state, strict=True))})
        found = evaluate(e, there.leaf)
        if not isinstance(found, Fraction):
            raise NoValueError("not rational")
        return found
