"""A point at which a Metropolis move without noise does not preserve exp(-H), in exact numbers.

Words of shifts are looked at, z + t f with f free of what it moves: rational where f is, with |det| = 1. The U and the
values of the build come first; where they are not few numbers and formulas, or numbers grow too long, some U does. What
a word of a part of the target moves is that part in either case.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics import balance
from recipe_compiler.algebra.dynamics.balance import State
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import is_defined_at, points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import ModelError
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Metropolis, Target
from recipe_compiler.spec.words import Letter, letters
from recipe_compiler.splitting.entrywise import SHIFT
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.split_by import selections_of
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.builds.in_build import Stages, of_part, subject_at_values
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.steps.in_build import MOST_COORDINATES, own_subject
from recipe_compiler.verify.steps.split import Split, split_of

POINTS, FEW = 12, 2
"""Points that are tried at each size; against a proof."""
STEP_SIZES = (Fraction(1, 2), Fraction(1))
"""Tried besides that of the build: the claim is about all of them."""
LONGEST = 4000
"""Binary digits of numbers that are followed along a word."""
SHOWN = 160
"""Characters of a sum of exponentials that is given term by term."""


class _TooLongError(Exception):
    """Numbers grow too long, or there are too many steps."""


def departure(split: Split, move: Metropolis, stages: Stages, *, against_proof: bool = False) -> Answer | None:
    """Return the refutation by a point y with (pi K)(y) != pi(y), pi = exp(-H); None where none is found.

    Against a proof, which is about every size, a few points at sizes of few coordinates are tried, whatever the
    build's: numbers with the digits of its values would outlast the limits of the claim.

    For words of shifts. With x = Psi^-1 y and G the turn after a refusal, (pi K)(y) - pi(y) = min(pi(x), pi(y)) + pi(G
    y) - min(pi(G y), pi(Psi G y)) - pi(y) at a rational point is a sum of c exp(-a) with rational c and a, zero only if
    the c of every a are (Lindemann and Weierstrass): the sign of its value is certain. That it is zero everywhere is
    the invariance of pi (Tierney 1998).
    """
    build = of_part(stages.build, move.part)
    stated = () if build.is_planned else (build.eps * move.scale,)
    own = own_subject(Stages(build, bind(build)))
    tried = [(own, (*stated, *STEP_SIZES))]
    if not is_flat(stages.build.target, moved_blocks(stages.build, move.part)):
        tried.append((subject_at_values(build) or split.subject, (*STEP_SIZES, *stated)))
    if against_proof:
        tried.append((split.subject.wide or split.subject, STEP_SIZES))
    for subject, step_sizes in tried:
        pieces = None if subject is None else pieces_in(split, subject)
        if pieces is None or (against_proof and not _is_small(pieces)):
            continue
        try:
            return _found(pieces, move, step_sizes, FEW if against_proof else POINTS)
        except _TooLongError:
            continue
    return None


def is_flat(target: Target, blocks: Iterable[str]) -> bool:
    """Whether U reads none of some blocks: what goes wrong with some other U then need not with this one."""
    if target.gradient is not None:
        return False
    stated = (target.potential, target.log_prior, target.log_likelihood)
    formulas = [formula for formula in stated if formula is not None]
    formulas += [formula for state in target.recursion for formula in (state.start, state.next)]
    return {*blocks}.isdisjoint(block for formula in formulas for block in dependence(formula).blocks)


def moved_blocks(build: Build, part: int) -> tuple[str, ...]:
    """Return the blocks of the target that a word moves."""
    use = build.scheme.use
    moved = () if use is None else use.parts[part].blocks
    return moved or tuple(block.name for block in build.target.declarations.blocks)


def _is_small(pieces: Split) -> bool:
    return all(len(pieces.z(sizes)) <= MOST_COORDINATES for sizes in pieces.subject.sizes)


def pieces_in(split: Split, subject: Subject) -> Split | None:
    """Return the pieces of a word in dynamics with values put in."""
    if subject is split.subject:
        return split
    stated = replace(split.scheme, pieces=tuple(selections_of(split.derivation, split.scheme).items()))
    try:
        return split_of(subject, stated)
    except ModelError:
        return None


def _found(split: Split, move: Metropolis, step_sizes: tuple[Fraction, ...], tried: int) -> Answer | None:
    if not is_of_shifts(split):
        return None
    declarations = split.subject.dynamics.declarations
    for sizes in split.subject.sizes:
        try:
            setting, maps = split.subject.setting(sizes), _Maps.of(split, sizes)
            for at in points(declarations, sizes, tried):
                if not is_defined_at(split.formulas, setting, at.leaf):
                    continue
                for eps in step_sizes:
                    off = maps.off(at, move, eps)
                    if off is not None:
                        return Answer(_refuted(at, move, eps, off), tuple(sizes.items()) or "all")
        except (NoValueError, NotScalarisableError, TooLargeError, NoInstanceError):
            continue
    return None


def _refuted(at: Point, move: Metropolis, eps: Fraction, off: str) -> Refuted:
    least, most = move.steps
    steps = str(least) if least == most else f"uniform({least}, {most})"
    length = "eps" if move.scale == 1 else f"{move.scale}*eps"
    return Refuted(
        "exact witness: exp(-H) changes under the move",
        (*at.text, (length, str(eps)), ("steps", steps), ("(pi K - pi)/pi, pi = exp(-H)", off)),
    )


def is_of_shifts(split: Split) -> bool:
    """Whether every letter of a word is of a piece without noise that is moved by a shift."""
    done = {letter.piece for letter in letters(split.scheme.split)}
    try:
        return all(
            piece.name not in split.numerical and not piece.is_noisy and flow_of(split.derivation, piece).row == SHIFT
            for piece in split.pieces
            if piece.name in done
        )
    except ModelError:
        return False


@dataclass(frozen=True, slots=True)
class _Maps:
    """The maps of a word at fixed sizes: its letters with the drifts of their pieces, H, and the signs that turn."""

    z: tuple[Symbol, ...]
    H: Expr
    word: tuple[tuple[Letter, tuple[Expr, ...]], ...]
    blocks: tuple[tuple[str, frozenset[Symbol]], ...]

    @classmethod
    def of(cls, split: Split, sizes: Sizes) -> "_Maps":
        """Return those of a word."""
        drifts = {piece.name: tuple(map(off_kinks, split.drift(piece, sizes))) for piece in split.pieces}
        word = tuple((letter, drifts[letter.piece]) for letter in letters(split.scheme.split))
        blocks = split.subject.dynamics.declarations.blocks
        own = tuple((block.name, frozenset(coordinates(block, sizes))) for block in blocks)
        return cls(split.z(sizes), split.subject.system(sizes).H, word, own)

    def off(self, at: Point, move: Metropolis, eps: Fraction) -> str | None:
        """Return (pi K - pi)/pi at a point as text; None where it is zero.

        Raises:
            NoValueError: something on the way has no value, or none that is rational.
            _TooLongError: numbers grow too long.
        """
        y = tuple(at.numbers[x] for x in self.z)
        turned_over = frozenset[Symbol]().union(*(own for name, own in self.blocks if name in move.flip))
        turned = tuple(-value if x in turned_over else value for x, value in zip(self.z, y, strict=True))
        backwards = [(Letter(letter.piece, -letter.share), f) for letter, f in reversed(self.word)]

        def energy(z: State) -> Fraction:
            return _rational(self.H, self._leaf(at, z))

        before, after = self._along(at, y, backwards, move, eps), self._along(at, turned, self.word, move, eps)
        found = balance.departure(energy, y, turned, zip(before, after, strict=True))
        return _text(found, energy(y)) if found else None

    def _along(
        self, at: Point, z: State, word: "list[_Step] | tuple[_Step, ...]", move: Metropolis, eps: Fraction
    ) -> Iterator[State]:
        """Yield where the word leads from z, done as often as the move may."""
        least, most = move.steps
        for count in range(1, most + 1):
            for letter, f in word:
                leaf = self._leaf(at, z)
                change = [_rational(x, leaf) if x != 0 else Fraction(0) for x in f]
                z = tuple(x + letter.share * eps * own for x, own in zip(z, change, strict=True))
                if max(max(abs(x.numerator), x.denominator).bit_length() for x in z) > LONGEST:
                    raise _TooLongError
            if count >= least:
                yield z

    def _leaf(self, at: Point, z: State) -> Callable[[Expr], Fraction]:
        return replace(at, numbers={**at.numbers, **dict(zip(self.z, z, strict=True))}).leaf


_Step = tuple[Letter, tuple[Expr, ...]]


def _rational(e: Expr, leaf: Callable[[Expr], Fraction]) -> Fraction:
    found = evaluate(e, leaf)
    if not isinstance(found, Fraction):
        raise NoValueError("not rational")
    return found


def _text(terms: balance.Sum, at: Fraction) -> str:
    """Return a sum of c exp(-a) over exp(-at): its terms where they are short, and its value."""
    exact = " + ".join(f"({c}) exp({at - a})" if a != at else f"({c})" for a, c in sorted(terms.items()))
    near = balance.value(terms, at).str(4, radius=False)
    return f"{exact} = {near}" if len(exact) <= SHOWN else near
