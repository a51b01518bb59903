"""A step by splitting: the flows of the pieces of a recipe, one after the other, in the order of a word."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from recipe_compiler.derive.recipe import Derivation, col_slots, derive, map_matrices
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.combine import unsupported
from recipe_compiler.program.program import Heat, Program, Shift, Statement
from recipe_compiler.scheme.shifts_and_noise import SchemeSetting, arrays_of, fresh, noises, with_gradient
from recipe_compiler.spec.model import Metropolis, Scheme
from recipe_compiler.spec.words import letters, word_text
from recipe_compiler.splitting.flow import Change
from recipe_compiler.splitting.pieces import Piece, list_pieces
from recipe_compiler.splitting.split_by import list_selections, split_by
from recipe_compiler.splitting.subtraction import Subtraction, find_subtraction
from recipe_compiler.tensor.terms import Coordinate, Tensor


def split(derivation: Derivation, setting: SchemeSetting, scheme: Scheme) -> Program:
    """Return the step of a word: for each letter the flow T(z') = T(z) + eps rate + N(0, eps two_D) of its piece.

    Shifts are computed as their formulas are stated; what is linear multiplied out, so that `A - (A - xi)` is xi. The
    gradient is evaluated where a piece needs it and its block has moved since; what is known at the end of a step is
    carried on to the next, so that `[B/2, A/2, O, A/2, B/2]` evaluates it once (Leimkuhler, Matthews 2013).

    Raises:
        ModelError: a letter that is no piece, a piece whose shares do not add up to 1, or that has no flow; a minibatch
            step that would evaluate the gradient more than once.
    """
    plain = derive(derivation.dynamics)
    flows = split_by(plain, scheme)
    stated = {piece.name: piece for piece in list_pieces(derivation, list_selections(plain, scheme))}
    given_up = None if setting.V is None else find_subtraction(plain, scheme, setting.V)
    less = given_up if isinstance(given_up, Subtraction) else None
    letters_: list[tuple[Piece, tuple[Change, ...]]] = []
    for place, letter in enumerate(letters(scheme.word)):
        piece, flow = flows[letter.piece]
        B_hat = less.B_hat if less is not None and less.given_up.place == place else None
        own = flow.changes(derivation, stated[letter.piece] if flow.as_stated else piece, letter.share)
        letters_.append((piece, tuple(replace(change, B_hat=B_hat) for change in own)))
    every = [change for _, changes in letters_ for change in changes]
    count = Counter(block for change in every for block in change.moved for _ in range(max(change.turns, 1)))
    made = _Made(derivation, setting, count)
    for piece, changes in letters_:
        before = made
        for change in changes:
            made = made.then(change)
        if piece.is_noisy and is_accepted(scheme):
            made = made.heated(before, piece)
    needed = [own for own in (less.propagators if less else ()) if own not in made.statements]
    program = setting.program(scheme.name, derivation, (*needed, *made.statements), carried=True)
    _check_batches(scheme, program)
    return program


def is_accepted(scheme: Scheme) -> bool:
    """Whether a move of the scheme accepts or rejects the result of its word by H."""
    return any(isinstance(move, Metropolis) for move in scheme.cycle)


def _check_batches(scheme: Scheme, program: Program) -> None:
    """Raise ModelError where a step with minibatches evaluates the gradient more than once."""
    count = len(program.evaluations)
    if program.variant == "minibatch" and count > 1:
        problem = f"found {word_text(scheme.split)}, which evaluates the gradient {count} times a step, expected once"
        hint = (
            f"{count} minibatches have at best 1/{count} of the noise for {count} times the rows, and nothing is won; "
            "put all kicks between the same two drifts, as [B/2, A/2, O, A/2, B/2] has them round its end and "
            "[A/2, B, O, A/2] within, or take `variant: full`"
        )
        raise ModelError([Fault(Place(""), "scheme.split", problem, hint)])


@dataclass(frozen=True, slots=True)
class _Made:
    """The statements of a word up to a letter; the gradient stands under one name as yet."""

    derivation: Derivation
    setting: SchemeSetting
    shifts: Counter[str]
    """How often each block is shifted in all."""
    statements: tuple[Statement, ...] = ()
    newest: Mapping[str, str] = field(default_factory=dict[str, str])
    """Block to its newest value."""

    def then(self, change: Change) -> "_Made":
        """Return the statements with those of one more change: all its blocks move at once, from the same values.

        An equation that substitutions solve is as many shifts, each with the value that the one before it made.
        """
        if change.implicit and change.turns:
            made = self._shifted(replace(change, implicit=False))
            for _ in range(1, change.turns):
                made = made._shifted(replace(change, implicit=False), self.newest)
            return made
        return self._shifted(change)

    def _shifted(self, change: Change, begun: Mapping[str, str] | None = None) -> "_Made":
        """Return the statements with the shifts of a change, from the newest values, or again from those begun with."""
        blocks = self.derivation.blocks
        own = change.propagator
        known = () if own is None or own in self.statements else (own,)
        new = {block.name: self._name(block) for block in blocks if block.name in change.moved}
        two_D = map_matrices(self._at_newest, change.two_D)
        draws = noises(blocks, new, two_D, change.B_hat)
        noise = {block.name: draw.name for draw in draws for block in draw.blocks}
        moves = [
            Shift(
                block,
                self._newest(block) if begun is None else begun.get(block.name, block.name),
                new[block.name],
                self._at_newest(rate, {} if slope is None else new),
                noise.get(block.name, ""),
                self._at_newest(slope, new) if slope is not None else None,
                change.transforms.get(block.name),
                change.image,
                begun is not None,
            )
            for block, rate, slope in zip(blocks, change.rate, self._slopes(change), strict=True)
            if block.name in new
        ]
        return replace(self, statements=(*known, *self.statements, *draws, *moves), newest={**self.newest, **new})

    def heated(self, before: "_Made", piece: Piece) -> "_Made":
        """Return the statements with the heat of a letter, which is accepted with the others by their work."""
        blocks = self.derivation.blocks
        if self.setting.gradient.block.name in piece.moved:
            name = self.setting.gradient.block.name
            hint = f"leave letters with noise that move {name} out, or the acceptance"
            raise unsupported(f"acceptance of a letter with noise, {piece.name}, that moves {name}", hint)
        values = (tuple(own.newest.get(block.name, block.name) for block in blocks) for own in (before, self))
        return replace(self, statements=(*self.statements, Heat(*values)))

    def _slopes(self, change: Change) -> Iterator[Tensor | None]:
        """Yield d rate_i/d z_j of every block that is solved for, None of others: what holds no z is no equation.

        It is for an iteration: where it is not defined any value may take its place.
        """
        c = self.derivation.calculus
        for block, rate in zip(self.derivation.blocks, change.rate, strict=True):
            z = Coordinate(block.name, col_slots(block))
            slope = c.diff(rate, z, almost_everywhere=True) if change.implicit else None
            yield slope if slope is not None and slope.terms else None

    def _newest(self, block: Block) -> str:
        return self.newest.get(block.name, block.name)

    def _at_newest(self, tensor: Tensor, solved: Mapping[str, str] = MappingProxyType({})) -> Tensor:
        """Return a tensor at the newest values, or at those that are solved for."""
        return with_gradient(tensor, arrays_of(self.derivation, self.setting.gradient), {**self.newest, **solved})

    def _name(self, block: Block) -> str:
        done = sum(isinstance(s, Shift) and s.block == block for s in self.statements)
        ending = "new" if done + 1 == self.shifts[block.name] else f"v{done + 1}"  # `r_1` is an entry of r
        return fresh(f"{block.name}_{ending}", self.setting.declared)
