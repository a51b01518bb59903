"""One step of a scheme: the flows of the pieces of a recipe in the order of a word, or each block moved once."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import Derivation, col_coordinate, derive, map_matrices
from recipe_compiler.errors import model_error
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.combine import fresh, unsupported
from recipe_compiler.program.program import Heat, Program, Shift, Statement
from recipe_compiler.scheme.shifts_and_noise import (
    SchemeSetting,
    arrays_of,
    noises,
    values_used,
    with_gradient,
)
from recipe_compiler.spec.model import Metropolis, Scheme
from recipe_compiler.spec.words import letters, word_text
from recipe_compiler.splitting.flow import Change
from recipe_compiler.splitting.gradient_noise import OtherFormError, Subtraction, find_subtraction
from recipe_compiler.splitting.pieces import Piece, list_pieces
from recipe_compiler.splitting.reflection import list_momenta, reflect_at_zero
from recipe_compiler.splitting.split_by import list_selections, split_by
from recipe_compiler.tensor.expand_factors import opened
from recipe_compiler.tensor.terms import Tensor


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
    less: Subtraction | None = None
    if setting.V is not None:
        with suppress(OtherFormError):
            less = find_subtraction(plain, scheme, setting.V)
    letters_: list[tuple[Piece, tuple[Change, ...]]] = []
    for place, letter in enumerate(letters(scheme.word)):
        piece, flow = flows[letter.piece]
        B_hat = less.B_hat if less is not None and less.given_up.place == place else None
        own = flow.changes(derivation, stated[letter.piece] if flow.as_stated else piece, letter.share)
        letters_.append((piece, tuple(replace(change, B_hat=B_hat) for change in own)))
    every = [change for _, changes in letters_ for change in changes]
    count = Counter(block for change in every for block in change.moved for _ in range(max(change.turns, 1)))
    made = _Step(derivation, setting, count, {block.name: block.name for block in derivation.blocks})
    for piece, changes in letters_:
        before = tuple(made.newest.values())
        for change in changes:
            made.add(change)
        if piece.is_noisy and any(isinstance(move, Metropolis) for move in scheme.cycle):
            _check_heat(setting.gradient.block.name, piece)
            made.statements.append(Heat(before, tuple(made.newest.values())))
    needed = [own for own in (less.propagators if less else ()) if own not in made.statements]
    program = setting.program(scheme.name, derivation, (*needed, *made.statements), carried=True)
    _check_batches(scheme, program)
    return program


def _check_heat(position: str, piece: Piece) -> None:
    """Raise ModelError for a letter with noise that is accepted by the work of the others and moves the position."""
    if position in piece.moved:
        hint = f"leave letters with noise that move {position} out, or the acceptance"
        raise unsupported(f"acceptance of a letter with noise, {piece.name}, that moves {position}", hint)


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
        raise model_error("scheme.split", problem, hint)


@dataclass(slots=True)
class _Step:
    """The statements of a word up to a letter."""

    derivation: Derivation
    setting: SchemeSetting
    shifts: Counter[str]
    """How often each block is shifted in all."""
    newest: dict[str, str]
    """Block to its newest value."""
    statements: list[Statement] = field(default_factory=list[Statement])

    def add(self, change: Change) -> None:
        """Add the statements of one more change: all its blocks move at once, from the same values.

        An equation that substitutions solve is as many shifts, each with the value that the one before it made.
        """
        begun = dict(self.newest)
        for turn in range(max(change.turns, 1)):
            self._shift(change, begun, again=turn > 0)

    def _shift(self, change: Change, begun: Mapping[str, str], *, again: bool) -> None:
        c, blocks = self.derivation.calculus, self.derivation.blocks
        if change.propagator is not None and change.propagator not in self.statements:
            self.statements.insert(0, change.propagator)
        new = {block.name: self.name(block) for block in blocks if block.name in change.moved}
        two_D = map_matrices(lambda entry: with_gradient(entry, {}, self.newest), change.two_D)
        draws = noises(blocks, new, two_D, change.B_hat)
        noise = {block.name: draw.name for draw in draws for block in draw.blocks}
        moves: list[Shift] = []
        for block, rate in zip(blocks, change.rate, strict=True):
            if block.name not in new:
                continue
            slope = None
            if change.implicit and not change.turns:  # for an iteration: where it is not defined any value may stand
                slope = opened(c, c.diff(rate, col_coordinate(block), almost_everywhere=True))
            solved = new if slope is not None and slope.terms else {}  # what holds no z is no equation
            moves.append(
                Shift(
                    block,
                    begun[block.name],
                    new[block.name],
                    self._at_newest(rate, solved),
                    noise.get(block.name, ""),
                    self._at_newest(slope, solved) if slope is not None and solved else None,
                    change.transforms.get(block.name),
                    change.image,
                    again,
                )
            )
        self.statements += [*draws, *moves]
        self.newest |= new

    def _at_newest(self, tensor: Tensor, solved: Mapping[str, str] = MappingProxyType({})) -> Tensor:
        """Return a tensor at the newest values, or at those that are solved for."""
        return with_gradient(tensor, arrays_of(self.derivation, self.setting.gradient), {**self.newest, **solved})

    def name(self, block: Block) -> str:
        """Return the name of the next value of a block."""
        done = sum(isinstance(s, Shift) and s.block == block for s in self.statements)
        ending = "new" if done + 1 == self.shifts[block.name] else f"v{done + 1}"  # `r_1` is an entry of r
        return fresh(f"{block.name}_{ending}", self.setting.declared)


def euler(derivation: Derivation, setting: SchemeSetting, scheme: Scheme) -> Program:
    """Return z+ = z + eps f(z) + N(0, 2 eps D(z)), with a minibatch N(0, eps (2D - eps B_hat)).

    B_hat = (D + Q) V (D + Q)^T. Ma, Chen, Fox (2015), Eqs. 6 and 9, with Gamma in the drift as in Eq. 3 (the printed
    sign is the opposite one). z and f are vectors over z, D and B_hat matrices over z. Weak order 1. On U = theta**2/2
    with D = 1 it samples the variance 1/(1 - eps/2) instead of 1. That 2D - eps B_hat is positive semidefinite is not
    decided here.

    With an `order` b+ = b + eps f_b(updated blocks before b, old ones after) + noise, sequential Euler. The noise
    covariance is that of the old state: a coefficient at an updated block would add a drift of order one. With momentum
    first this is the symplectic Euler rule for the Hamiltonian part (Chen, Fox, Guestrin 2014, Algorithm 2 in the
    notation of Ma, Chen, Fox 2015, Eq. 12). Weak order 1.

    A block to `reflect` is put back by |y_i|, and the momentum that Q couples to it turned where y_i < 0: by S, which
    changes both signs, this is the step of the equation mirrored at 0, f(S z) = S f(z), D(S z) = S D(z) S. It is done
    after all blocks have moved, in an `order` after the block has (Patterson, Teh 2013).

    Worked, SGHMC with the order r, theta: r+ = r - eps grad U(theta) - eps C inv(M) r + N(0, 2 eps C), then theta+ =
    theta + eps inv(M) r+, with the new r.

    Args:
        derivation: of the dynamics.
        setting: with the gradient of the target.
        scheme: its `order` is of all blocks, empty where all of them move from the old state.

    Raises:
        ModelError: one block needs the gradient at the old value of its block, another at the new one; Q couples a
            block that is reflected to several momenta.
    """
    c, blocks = derivation.calculus, {block.name: block for block in derivation.blocks}
    drifts = dict(zip(blocks, derivation.drift, strict=True))
    two_D = map_matrices(lambda entry: c.scale(entry, 2), derivation.D)
    B_hat = None
    if setting.V is not None and not setting.V.is_zero:
        B_hat = noise_covariance(derivation, setting.gradient.block.name, setting.V)
    draws = noises(derivation.blocks, {name: name for name in blocks}, two_D, B_hat)
    noise = {block.name: draw.name for draw in draws for block in draw.blocks}
    back = {name: _reflect(derivation, blocks[name]) for name in scheme.reflect}
    count = Counter([*blocks, *(block for change in back.values() for block in change.moved)])
    made = _Step(derivation, setting, count, {name: name for name in blocks}, [*draws])
    for name in scheme.order or blocks:
        newest = made.newest if scheme.order else {}
        rate = with_gradient(drifts[name], arrays_of(derivation, setting.gradient), newest)
        new = made.name(blocks[name])
        made.statements.append(Shift(blocks[name], made.newest[name], new, rate, noise.get(name, "")))
        made.newest[name] = new
        if scheme.order and name in back:
            made.add(back[name])
    for change in () if scheme.order else back.values():
        made.add(change)
    moves = [statement for statement in made.statements if isinstance(statement, Shift)]
    for block, gradient in setting.gradient.places.items():
        if len(values_used(moves, block, gradient)) > 1:
            problem = f"found an order that needs {gradient} at both the old and the new {block}"
            hint = f"put {block} last, or use the scheme euler"
            raise model_error("scheme.order", problem, hint)
    return setting.program(scheme.name, derivation, made.statements)


def _reflect(derivation: Derivation, position: Block) -> Change:
    momenta = list_momenta(derivation, position)
    if len(momenta) > 1:
        names = ", ".join(block.name for block in momenta)
        problem = f"found Q coupling {position.name} to {names}, expected one momentum, which reflection turns"
        raise model_error("scheme.reflect", problem, "leave `reflect` out, or sample an unbounded variable")
    return reflect_at_zero(derivation, position, *momenta)
