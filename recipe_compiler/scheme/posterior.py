"""The gradient of a target, in index notation, at the block that the dynamics' potential depends on."""

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.program import Gradient
from recipe_compiler.scheme.update import fresh
from recipe_compiler.spec.model import Target
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Atom, Coordinate, Index, Tensor


def target_gradient(
    target: Target, potential: str, block: Block, declared: frozenset[str], *, minibatch: bool
) -> Gradient:
    """Return grad U of a target in the dynamics' own names.

    U(theta) = -log_prior - sum_n log_likelihood_n; the minibatch estimate scales the sum by N/n and leaves the prior
    alone (Ma, Chen, Fox 2015, Eq. 7). A target without data states U itself.

    Raises:
        ModelError: the target has more than one block, which no emitted step supports.
    """
    if len(target.declarations.blocks) != 1:
        names = ", ".join(b.name for b in target.declarations.blocks)
        place = target.source.place("state")
        raise ModelError(
            [Fault(place, "state", f"found the blocks {names}, expected one", "stack them into one vector block")]
        )
    own = target.declarations.blocks[0].name
    rules = calculus(target.declarations)
    n = Index(target.declarations.data[0].size, "n") if target.declarations.data else None
    sizes = target.declarations.blocks[0].shape.sizes
    coordinate = Coordinate(own, tuple(Index(size, "i") for size in sizes))

    def gradient(formula: Formula, sign: int, datum: Index | None) -> Tensor:
        value = convert(formula, target.declarations, datum=datum)
        return _renamed(rules.scale(rules.diff(value, coordinate), sign), own, block.name)

    free = tuple(Index(size, "i") for size in sizes)
    if target.potential is not None:
        prior, datum = gradient(target.potential, 1, None), None
    else:
        prior = gradient(target.log_prior, -1, None) if target.log_prior is not None else Tensor(free, ())
        datum = gradient(target.log_likelihood, -1, n) if target.log_likelihood is not None else None
    name = fresh(f"grad_{potential}_tilde" if minibatch else f"grad_{potential}", declared)
    return Gradient(name, block, block.name, prior, datum, n.size if n and datum else None, minibatch)


def _renamed(tensor: Tensor, old: str, new: str) -> Tensor:
    def rule(atom: Atom) -> Atom:
        match atom:
            case Coordinate(block, at) if block == old:
                return Coordinate(new, at)
            case _:
                return atom

    return replace_atoms(tensor, rule)
