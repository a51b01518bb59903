"""The densities that are looked at: factors of the terms of H, and terms added to it with an unknown factor."""

from dataclasses import dataclass

from recipe_compiler.errors import ModelError
from recipe_compiler.explain.repair.drift_terms import alike
from recipe_compiler.explain.repair.ratios import constants
from recipe_compiler.explain.repair.sum_of_terms import additive, simplest, split, tensor_of
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Block, Function
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.premises import depends_on_state

MAX_ADDED = 8


@dataclass(frozen=True, slots=True)
class DensityFamily:
    """Candidates H' = sum_k a_k H_k + sum_m b_m G_m: the terms H_k of H and added terms G_m, with unknown factors."""

    own: tuple[Formula, ...]
    added: tuple[Formula, ...]
    """Logarithms of positive fields and of determinants; scalar blocks themselves, which shift a quadratic energy."""


def family(dynamics: Dynamics) -> DensityFamily:
    """Return the terms H_k of H that depend on the state, and the terms G_m that may be added to it.

    Candidates are H' = sum_k a_k H_k + sum_m b_m G_m. Added are logarithms of positive scalar fields and of
    determinants of D[a,a]: [n_a, n_a] and of fields, of positive blocks, and scalar blocks of the real line, which
    shift a quadratic energy.
    """
    declarations = dynamics.declarations
    own = tuple(term for term in additive(dynamics.H, constants=False) if depends_on_state(term))
    found: list[tuple[Formula, Tensor]] = []
    for term in _added(dynamics):
        try:
            simple = simplest(term, declarations)
            tensor = tensor_of(simple, declarations)
        except ModelError:
            continue
        if not tensor.is_zero and not any(alike(tensor, known) for _, known in found):
            found.append((simple, tensor))
    return DensityFamily(own, tuple(formula for formula, _ in found[:MAX_ADDED]))


def _added(dynamics: Dynamics) -> list[Formula]:
    declarations = dynamics.declarations
    found: list[Formula] = []
    D = dynamics.claims.diffusion or dynamics.D or ()
    for a in range(len(D)):
        place = split(D[a][a], constants(declarations))[1]
        if place is not None and depends_on_state(place):
            found.append(_logarithm(place))
    fields = [function for function in declarations.functions if _is_positive(function)]
    found += [_logarithm(ex.FunctionAt(field.name, field.of, field.shape)) for field in fields]
    for block in declarations.blocks:
        symbol = ex.Symbol(block.name, block.shape, Role.BLOCK)
        if block.domain.name is DomainName.POSITIVE:
            log = ex.Apply("log", (symbol,), block.shape)
            found.append(ex.Apply("sum", (log,), SCALAR) if block.shape.sizes else log)
        if block.domain.name is DomainName.REAL and not block.shape.sizes:
            found.append(symbol)
    return found


def _logarithm(place: Formula) -> Formula:
    """Return the logarithm of a scalar, or of the determinant of a matrix."""
    return ex.Apply("logdet" if place.shape.sizes else "log", (place,), SCALAR)


def _is_positive(function: Function) -> bool:
    shape = function.shape
    square = shape.rows is not None and shape.rows == shape.cols
    return (Kind.PD in function.kinds and square) or (Kind.POSITIVE in function.kinds and not shape.sizes)


def line(dynamics: Dynamics) -> Block | None:
    """Return the block if the state is one scalar; otherwise None."""
    blocks = dynamics.declarations.blocks
    return blocks[0] if len(blocks) == 1 and not blocks[0].shape.sizes else None
