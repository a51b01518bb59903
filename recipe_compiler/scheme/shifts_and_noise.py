"""What all schemes share: names, gradients at the values that rates are taken at, the noise of groups of blocks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from recipe_compiler.derive.recipe import Derivation, Matrix
from recipe_compiler.errors import ModelError, model_error
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.program.atoms import names_of, replace_atoms
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.program import Evaluate, Gradient, Noise, Program, Shift, Statement
from recipe_compiler.program.rename import renamed
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor


@dataclass(frozen=True, slots=True)
class SchemeSetting:
    """What a scheme needs besides the derivation: the target's gradient and how it is estimated."""

    gradient: Gradient
    V: Tensor | None
    """Covariance of the gradient that is subtracted, free indices `i`, `j`; None where the gradient is exact."""
    W: Tensor | None
    """Covariance of the noise that is added to each gradient, likewise; None where there is none."""
    build: Build
    parameters: tuple[Parameter, ...]
    declared: frozenset[str]
    """Every name of the user's, for the compiler's own to stay clear of."""

    def program(
        self, scheme: str, derivation: Derivation, statements: Sequence[Statement], *, carried: bool = False
    ) -> Program:
        """Return the Program of one step: its statements, with each gradient evaluated before the first that needs it.

        Args:
            scheme: its name.
            derivation: of the dynamics.
            statements: with gradients at values of their block, as `with_gradient` names them.
            carried: whether a step may leave the gradient at its end to the next one, which begins with it.
        """
        used = {block: values_used(statements, block, name) for block, name in self.gradient.places.items()}
        own = self.gradient.block.name
        newest = next((shift.new for shift in reversed(_shifts(statements)) if shift.block.name == own), own)
        carried = carried and not self.gradient.others and {own, newest} <= {*used[own]}
        return Program(
            scheme=scheme,
            variant=self.build.variant,
            replacement=self.build.replacement,
            contiguous=self.build.contiguous,
            blocks=derivation.blocks,
            parameters=self.parameters,
            data=self.build.target.declarations.data,
            gradient=self.gradient,
            statements=tuple(self._evaluated(statements, used, carried=carried)),
            carried=carried,
        )

    def _evaluated(
        self, statements: Sequence[Statement], used: Mapping[str, Sequence[str]], *, carried: bool
    ) -> Iterator[Statement]:
        evaluations: dict[str, Evaluate] = {}
        for block, gradient in self.gradient.places.items():
            values = [value for value in used[block] if not (carried and value == block)]
            for n, value in enumerate(values, 1):
                ending = "_new" if carried and n == len(values) else f"_v{n}" if len(values) > 1 else ""
                evaluations[at_value(gradient, block, value)] = Evaluate(value, fresh(gradient + ending, self.declared))
        arrays, done = {name: own.new for name, own in evaluations.items()}, set[str]()
        for statement in statements:
            if isinstance(statement, Shift):
                needed = names_of(statement.rate)
                for name in (name for name in evaluations if name in needed and name not in done):
                    yield from self._with_noise(evaluations[name])
                done |= needed
                statement = replace(statement, rate=renamed(statement.rate, arrays))
            yield statement

    def _with_noise(self, own: Evaluate) -> Iterator[Statement]:
        """Yield an evaluation of the gradient, after the draw that is added to it."""
        if self.W is None:
            yield own
            return
        draw, at = f"w_{own.new}", {self.gradient.block.name: own.at}
        yield Noise(draw, (self.gradient.block,), ((with_gradient(self.W, {}, at),),), None, at_once=True)
        yield replace(own, noise=draw)


def arrays_of(derivation: Derivation, gradient: Gradient) -> Mapping[str, str]:
    """Return the names of the potential, and of it at other blocks, to those of the arrays of its gradients."""
    functions = derivation.declarations.functions
    own = (f for f in functions if f.value.declared == derivation.dynamics.potential)
    return {f.name: gradient.places[f.of[0]] for f in own}


def at_value(gradient: str, block: str, value: str) -> str:
    """Return what the gradient by a block is called at one of its values, until it is known where it is evaluated."""
    return gradient if value == block else f"{gradient}({value})"


def values_used(statements: Sequence[Statement], block: str, gradient: str) -> list[str]:
    """Return the values of a block at which statements take the gradient by it, in order."""
    values = (block, *(own.new for own in _shifts(statements) if own.block.name == block))
    needed = {name for own in _shifts(statements) for name in names_of(own.rate)}
    return [value for value in values if at_value(gradient, block, value) in needed]


def _shifts(statements: Sequence[Statement]) -> list[Shift]:
    return [statement for statement in statements if isinstance(statement, Shift)]


def with_gradient(drift: Tensor, gradients: Mapping[str, str], newest: Mapping[str, str]) -> Tensor:
    """Return a drift at the newest values of blocks, with grad U as the component of an array (`at_value`).

    `gradients` are the arrays of U, and of U at other blocks, by these names.

    Raises:
        ModelError: the drift contains U itself, or a derivative of U beyond the first.
    """

    def rule(atom: Atom) -> Atom:
        match atom:
            case Component(name, (), (Coordinate(block, at),)) if name in gradients:
                return Component(at_value(gradients[name], block, newest.get(block, block)), at)
            case Component(name, _, by) if name in gradients:
                raise _needs(name, len(by))
            case Coordinate(block, at):
                return Coordinate(newest.get(block, block), at)
            case _:
                return atom

    return replace_atoms(drift, rule)


def _needs(potential: str, order: int) -> ModelError:
    what = "the value" if order == 0 else f"derivatives of order {order}"
    problem = f"found a drift with {what} of {potential}, expected at most its gradient"
    return model_error("drift", problem, "more of U is computed where a target without data states it as a formula")


def noises(blocks: Sequence[Block], names: Mapping[str, str], two_D: Matrix, B_hat: Matrix | None) -> tuple[Noise, ...]:
    """Return the noise N(0, eps (two_D - eps B_hat)) of each group of blocks that it correlates, `w_` and their names.

    Blocks a and b are in one group where two_D[a][b] or B_hat[a][b] is not zero (Ma, Chen, Fox 2015, Eq. 9).
    """

    def part(matrix: Matrix | None, group: list[int]) -> Matrix | None:
        own = tuple(tuple(matrix[a][b] for b in group) for a in group) if matrix else ()
        return own if any(not entry.is_zero for row in own for entry in row) else None

    return tuple(
        Noise(
            "_".join(("w", *(names[blocks[a].name] for a in group))),
            tuple(blocks[a] for a in group),
            tuple(tuple(two_D[a][b] for b in group) for a in group),
            part(B_hat, group),
        )
        for group in correlated(two_D, *((B_hat,) if B_hat else ()))
    )


def correlated(*matrices: Matrix) -> list[list[int]]:
    """Return the groups of blocks that entries of the matrices connect, in order; blocks with zero rows are in none.

    A D with nonzero entries at (0, 0) and (1, 2) gives [0] and [1, 2].
    """

    def linked(a: int, b: int) -> bool:
        return any(not matrix[a][b].is_zero for matrix in matrices)

    places = range(len(matrices[0]))
    group = [*places]
    for a, b in product(places, repeat=2):
        if linked(a, b):
            kept, joined = sorted((group[a], group[b]))
            group = [kept if own == joined else own for own in group]
    found = ([a for a in places if group[a] == own] for own in places)
    return [own for own in found if any(linked(a, b) for a in own for b in own)]
