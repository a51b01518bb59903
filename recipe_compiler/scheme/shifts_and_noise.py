"""What Euler-Maruyama schemes share: drifts at old or updated blocks, and the noise of groups of blocks."""

from collections.abc import Mapping

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.atoms import names_of, replace_atoms
from recipe_compiler.program.program import Evaluate, Gradient, Noise, Shift, Statement
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor

Matrix = tuple[tuple[Tensor, ...], ...]


def fresh(name: str, declared: frozenset[str]) -> str:
    """Return a name of the compiler's own that differs from every declared one: `name`, `name_`, `name__` ..."""
    while name in declared:
        name += "_"
    return name


def shifts(
    derivation: Derivation,
    gradient: Gradient,
    order: tuple[str, ...],
    declared: frozenset[str],
    draws: tuple[Noise, ...],
    *,
    sequential: bool,
) -> tuple[Shift, ...]:
    """Return one shift b' = b + eps f_b + noise, [n_b], per block, in `order`; sequential ones read shifted blocks.

    grad U in a drift becomes the component of `gradient`, the array that is computed for it.
    """
    declarations, gradients = derivation.dynamics.declarations, arrays_of(derivation, gradient)
    drifts = {block.name: drift for block, drift in zip(declarations.blocks, derivation.drift, strict=True)}
    blocks = {block.name: block for block in declarations.blocks}
    noise = {block.name: draw.name for draw in draws for block in draw.blocks}
    done: dict[str, str] = {}
    found: list[Shift] = []
    for name in order:
        new = fresh(f"{name}_new", declared)
        rate = with_gradient(drifts[name], gradients, done)
        found.append(Shift(blocks[name], name, new, rate, noise.get(name, "")))
        if sequential:
            done[name] = new
    return tuple(found)


def arrays_of(derivation: Derivation, gradient: Gradient) -> Mapping[str, str]:
    """Return the names of the potential, and of it at other blocks, to those of the arrays of its gradients."""
    functions = derivation.dynamics.declarations.functions
    own = (f for f in functions if f.value.declared == derivation.dynamics.potential)
    return {f.name: gradient.places[f.of[0]] for f in own}


def with_gradient(drift: Tensor, gradients: Mapping[str, str], done: Mapping[str, str]) -> Tensor:
    """Return a drift with grad U as the component of an array, and with the updated names of the blocks in `done`.

    `gradients` are the arrays of U, and of U at other blocks, by these names.

    Raises:
        ModelError: the drift contains U itself, or a derivative of U beyond the first.
    """

    def rule(atom: Atom) -> Atom:
        match atom:
            case Component(name, (), (Coordinate(_, at),)) if name in gradients:
                return Component(gradients[name], at)
            case Component(name, _, by) if name in gradients:
                raise _needs(name, len(by))
            case Coordinate(block, at):
                return Coordinate(done.get(block, block), at)
            case _:
                return atom

    return replace_atoms(drift, rule)


def _needs(potential: str, order: int) -> ModelError:
    what = "the value" if order == 0 else f"derivatives of order {order}"
    problem = f"found a drift with {what} of {potential}, expected at most its gradient"
    return ModelError([Fault(Place(""), "drift", problem, "supported are dynamics whose drift holds grad U alone")])


def evaluated(moves: tuple[Shift, ...], gradients: Mapping[str, str], *, sequential: bool) -> tuple[Statement, ...]:
    """Return the shifts with each gradient, by its block, evaluated before the first that needs it, where it does.

    Raises:
        ModelError: one shift needs it at the old value of its block, another at the new one.
    """
    found: list[Statement] = list(moves)
    for block, gradient in gradients.items():
        now, places = block, list[str]()
        for move in moves:
            if gradient in names_of(move.rate):
                places.append(now)
            if sequential and move.block.name == block:
                now = move.new
        if len(set(places)) > 1:
            problem = f"found an order that needs {gradient} at both the old and the new {block}"
            hint = f"put {block} last, or use the scheme euler"
            raise ModelError([Fault(Place(""), "scheme.order", problem, hint)])
        if places:
            first = next(move for move in moves if gradient in names_of(move.rate))
            found.insert(found.index(first), Evaluate(places[0], gradient))
    return tuple(found)


def noises(derivation: Derivation, B_hat: Matrix | None) -> tuple[Noise, ...]:
    """Return the groups of blocks whose noise is correlated, with the blocks of 2D and B_hat of each group.

    Blocks a and b are in one group where D[a][b] or B_hat[a][b] is not zero; the draw is N(0, eps (2D - eps B_hat))
    over the group (Ma, Chen, Fox 2015, Eq. 9).
    """
    blocks = derivation.dynamics.declarations.blocks
    groups = correlated(derivation.D, *(() if B_hat is None else (B_hat,)))
    return tuple(_noise(derivation, B_hat, blocks, group) for group in groups)


def correlated(*matrices: Matrix) -> list[list[int]]:
    """Return the groups of blocks that entries of the matrices connect, in order; blocks with zero rows are in none.

    A D with nonzero entries at (0, 0) and (1, 2) gives [0] and [1, 2].
    """

    def linked(a: int, b: int) -> bool:
        return any(not matrix[a][b].is_zero for matrix in matrices)

    groups: list[list[int]] = []
    for a in range(len(matrices[0])):
        touching = [group for group in groups if any(linked(a, b) or linked(b, a) for b in group)]
        merged = sorted([a, *(b for group in touching for b in group)])
        groups = [group for group in groups if group not in touching] + [merged]
    return sorted(group for group in groups if any(linked(a, b) for a in group for b in group))


def _noise(derivation: Derivation, B_hat: Matrix | None, blocks: tuple[Block, ...], group: list[int]) -> Noise:
    rules = derivation.calculus
    two_D = tuple(tuple(rules.scale(derivation.D[a][b], 2) for b in group) for a in group)
    part = None if B_hat is None else tuple(tuple(B_hat[a][b] for b in group) for a in group)
    if part is not None and all(entry.is_zero for row in part for entry in row):
        part = None
    own = tuple(blocks[a] for a in group)
    return Noise("_".join(("w", *(block.name for block in own))), own, two_D, part)
