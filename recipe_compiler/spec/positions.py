"""What the literal positions in formulas (`theta[1]`) ask of sizes: d >= 2."""

from collections.abc import Iterable, Iterator, Set

from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Entry, Formula
from recipe_compiler.spec.model import Draw, Dynamics, Involution, Scheme, Target

NONE_KNOWN: frozenset[str] = frozenset()


def smallest_sizes(declarations: Declarations, formulas: Iterable[Formula]) -> dict[str, int]:
    """Return the smallest value of every symbolic size at which all literal positions exist."""
    found = dict.fromkeys(declarations.sizes, 1)
    for node in (node for formula in formulas for node in nodes(formula) if isinstance(node, Entry)):
        for size, position in zip(node.arg.shape.sizes, node.at, strict=True):
            if isinstance(size, str):
                found[size] = max(found.get(size, 1), position + 1)
    return found


def size_conditions(formulas: Iterable[Formula], known: Set[str] = NONE_KNOWN) -> tuple[str, ...]:
    """Return what literal positions ask of sizes, as assumptions: `d >= 2`; nothing of those that are known."""
    least = smallest_sizes(Declarations(), formulas)
    return tuple(f"{name} >= {size}" for name, size in least.items() if size > 1 and name not in known)


def stated_formulas(document: Dynamics | Target) -> Iterator[Formula]:
    """Yield every formula that dynamics or a target state."""
    yield from declared_formulas(document.declarations)
    if isinstance(document, Dynamics):
        yield from equation_formulas(document)
        for named in (document.claims.marginal, document.claims.update):
            yield from (formula for _, formula in named or ())
        return
    stated = (document.potential, document.log_prior, document.log_likelihood)
    yield from (formula for formula in stated if formula is not None)
    yield from (formula for state in document.recursion for formula in (state.start, state.next))
    yield from (argument for _, law in document.laws for argument in law.arguments)
    yield from (formula for _, formula in document.derived)


def formulas_of_moves(scheme: Scheme) -> Iterator[Formula]:
    """Yield what the moves of a cycle are made of: involutions, and slices that draws are made in."""
    for move in scheme.cycle:
        if isinstance(move, Involution):
            yield from move.formulas
        elif isinstance(move, Draw) and move.slices is not None:
            yield from move.slices.formulas


def declared_formulas(declarations: Declarations) -> Iterator[Formula]:
    """Yield what stands in declarations: the ends of domains, and assumptions."""
    yield from (bound for block in declarations.blocks for bound in block.domain.bounds)
    yield from declarations.assume


def equation_formulas(dynamics: Dynamics) -> Iterator[Formula]:
    """Yield what dynamics state of their equation, and assume."""
    yield dynamics.H
    for matrix in (dynamics.D, dynamics.Q, dynamics.claims.diffusion):
        for row in matrix or ():
            yield from row
    for _, claimed in dynamics.claims.drift or ():
        yield claimed
    yield from (own for own in (dynamics.claims.lyapunov, dynamics.claims.energy) if own is not None)
    yield from dynamics.declarations.assume
