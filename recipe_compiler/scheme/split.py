"""A step by splitting: the exact flows of the pieces of a recipe, one after the other, in the order of a word."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.atoms import names_of, replace_atoms
from recipe_compiler.program.program import Evaluate, Noise, Program, Shift, Statement
from recipe_compiler.scheme.assemble import Setting
from recipe_compiler.scheme.update import fresh, with_gradient
from recipe_compiler.spec.model import Scheme
from recipe_compiler.spec.words import Letter, letters
from recipe_compiler.splitting.flows import Flow, Row, rate, two_D
from recipe_compiler.splitting.pieces import Piece, pieces_of
from recipe_compiler.splitting.split_by import selections_of, split_by
from recipe_compiler.tensor.terms import Atom, Component, Tensor


def split(derivation: Derivation, setting: Setting, scheme: Scheme) -> Program:
    """Return one step of a word: for each letter, z + eps rate + N(0, eps two_D) of its piece's exact flow.

    Shifts are computed as their formulas are stated; what is linear multiplied out, so that `A - (A - xi)` is xi.
    The gradient is evaluated where a piece needs it and its block has moved since; what is known at the end of a step
    is carried on to the next, so that `[B/2, A/2, O, A/2, B/2]` evaluates it once (Leimkuhler, Matthews 2013).

    Raises:
        ModelError: a letter that is no piece, a piece whose shares are not 1, or that has no exact flow.
    """
    plain = derive(derivation.dynamics)
    flows = split_by(plain, scheme)
    stated = {piece.name: piece for piece in pieces_of(derivation, selections_of(plain, scheme))}
    made = _Made(derivation, setting, _shifts(stated, scheme))
    for letter in letters(scheme.split):
        piece, flow = flows[letter.piece]
        made = made.then(letter, stated[letter.piece] if flow.row is Row.SHIFT else piece, flow)
    carried = _is_carried(made.statements, setting)
    return Program(
        scheme=scheme.name,
        variant=setting.variant,
        replacement=setting.replacement,
        contiguous=setting.contiguous,
        blocks=derivation.dynamics.declarations.blocks,
        parameters=setting.parameters,
        data=setting.data,
        gradient=setting.gradient,
        statements=tuple(_evaluated(made.statements, setting, carried=carried)),
        carried=carried,
    )


def _shifts(pieces: Mapping[str, Piece], scheme: Scheme) -> Counter[str]:
    """Return how often each block is shifted in a step."""
    return Counter(block for letter in letters(scheme.split) for block in pieces[letter.piece].moved)


@dataclass(frozen=True, slots=True)
class _Made:
    """The statements of a word up to a letter; the gradient stands under one name as yet."""

    derivation: Derivation
    setting: Setting
    shifts: Counter[str]
    """How often each block is shifted in all."""
    statements: tuple[Statement, ...] = ()
    newest: Mapping[str, str] = field(default_factory=dict[str, str])
    """Block to its newest value."""

    def then(self, letter: Letter, piece: Piece, flow: Flow) -> "_Made":
        """Return the statements with those of one more letter: all its blocks move at once, from the same values."""
        c, blocks = self.derivation.calculus, self.derivation.dynamics.declarations.blocks
        rates = rate(c, flow, piece.drift, letter.share)
        covariance = two_D(c, flow, piece.D, letter.share)
        draws: list[Statement] = []
        moves: list[Shift] = []
        newest = dict(self.newest)
        for n, block in enumerate(blocks):
            if block.name not in piece.moved:
                continue
            new = self._name(block)
            noise = ""
            if not covariance[n][n].is_zero:
                noise = f"w_{new}"
                draws.append(Noise(noise, (block,), ((self._at_newest(covariance[n][n]),),), None))
            moves.append(Shift(block, self.newest.get(block.name, block.name), new, self._at_newest(rates[n]), noise))
            newest[block.name] = new
        return replace(self, statements=(*self.statements, *draws, *moves), newest=newest)

    def _at_newest(self, tensor: Tensor) -> Tensor:
        potential = self.derivation.dynamics.potential
        return with_gradient(tensor, potential, self.setting.gradient.name, self.newest)

    def _name(self, block: Block) -> str:
        done = sum(isinstance(s, Shift) and s.block == block for s in self.statements)
        ending = "new" if done + 1 == self.shifts[block.name] else f"v{done + 1}"  # `r_1` is an entry of r
        return fresh(f"{block.name}_{ending}", self.setting.declared)


def _is_carried(statements: tuple[Statement, ...], setting: Setting) -> bool:
    """Whether a step ends with the gradient at the state that it leaves behind, and the next begins with it."""
    roles = [role for statement in statements if (role := _role(statement, setting))]
    return bool(roles) and roles[0] is roles[-1] is Role.NEEDS


class Role(StrEnum):
    """What a statement has to do with the gradient: no flow moves the block that its own rate takes it of."""

    NEEDS = "takes the gradient"
    MOVES = "moves the block that it depends on"


def _role(statement: Statement, setting: Setting) -> Role | None:
    match statement:
        case Shift(rate=own) if setting.gradient.name in names_of(own):
            return Role.NEEDS
        case Shift(block=block) if block == setting.gradient.block:
            return Role.MOVES
        case _:
            return None


def _evaluated(statements: tuple[Statement, ...], setting: Setting, *, carried: bool) -> Iterator[Statement]:
    """Yield the statements with the gradient evaluated before each that needs a value which is not known."""
    gradient = setting.gradient.name
    roles = [_role(statement, setting) for statement in statements]
    count = sum(known is False for known, _ in _known(roles, carried=carried))
    at, value, done = setting.gradient.block.name, gradient, 0
    for statement, (known, role) in zip(statements, _known(roles, carried=carried), strict=True):
        if known is False:
            done += 1
            ending = "_new" if carried and done == count else f"_v{done}" if count > 1 else ""
            value = fresh(f"{gradient}{ending}", setting.declared)
            yield Evaluate(at, value)
        yield _with_value(statement, gradient, value)
        if role is Role.MOVES and isinstance(statement, Shift):
            at = statement.new


def _known(roles: Sequence[Role | None], *, carried: bool) -> Iterator[tuple[bool | None, Role | None]]:
    """Yield for every statement whether the gradient that it needs is known, None where it needs none; and its role."""
    known = carried
    for role in roles:
        yield (known if role is Role.NEEDS else None), role
        known = role is not Role.MOVES and (known or role is Role.NEEDS)


def _with_value(statement: Statement, gradient: str, value: str) -> Statement:
    """Return a shift that takes the gradient under the name of one of its values."""
    if not isinstance(statement, Shift) or value == gradient:
        return statement

    def rule(atom: Atom) -> Atom:
        return replace(atom, name=value) if isinstance(atom, Component) and atom.name == gradient else atom

    return replace(statement, rate=replace_atoms(statement.rate, rule))
