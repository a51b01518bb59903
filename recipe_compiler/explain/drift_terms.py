"""Terms of a drift: those of the author, and those of the recipe, place by place of D and Q."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from recipe_compiler import limits
from recipe_compiler.ansatz.simplify import direction, simplest
from recipe_compiler.ansatz.sums import expand_sum, list_terms, sum_terms
from recipe_compiler.ansatz.unknowns import Part
from recipe_compiler.explain.changes import DRIFT, FRICTION, GAMMA, Change
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.block_matrices import place_shape
from recipe_compiler.formula.build import depends_on_state, nodes
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics


@dataclass(frozen=True, slots=True)
class DriftTerm:
    """A term that the drift of a block may have, a column of its shape."""

    block: Block
    rank: int
    formula: Formula


def drift_parts(dynamics: Dynamics) -> tuple[Part, ...]:
    """Return the claimed drift terms, then terms that may be missing; no two of a block are multiples.

    A claimed term that is a multiple of one of the recipe's gets its rank: a wrong friction is then tried before
    others.
    """
    declarations = dynamics.declarations
    stated = dict(dynamics.claims.drift or ())
    few = sum(len(expand_sum(t)) for formula in stated.values() for t in list_terms(formula)) <= 2 * limits.TRIALS
    found: dict[tuple[str, str | None, int], Part] = {}
    for name, formula in stated.items():
        for whole in list_terms(formula):
            for term in expand_sum(whole) if few else (whole,):
                part = Part(((f"claims.drift.{name}", term),), rank=DRIFT, whole=whole)
                found[name, direction(term, declarations), len(found)] = part
    new = [*_row_terms(dynamics), *recipe_terms(dynamics), *([] if dynamics.Q else _guess_q_terms(dynamics))]
    for term in sorted(new, key=lambda term: term.rank):
        simple = simplest(term.formula, declarations)
        mark = direction(simple, declarations)
        same = next((key for key in found if key[:2] == (term.block.name, mark)), None)
        if same is not None and found[same].own:
            found[same] = replace(found[same], rank=min(found[same].rank, term.rank))
        elif mark is not None and same is None:
            entry = f"claims.drift.{term.block.name}"
            found[term.block.name, mark, len(found)] = Part(((entry, simple),), own=False, rank=term.rank)
    return tuple(found.values())[: 3 * limits.TRIALS]


def recipe_terms(dynamics: Dynamics) -> Iterator[DriftTerm]:
    """Yield div(A, b) and -A @ grad(H_k, b) for every place A of D and Q and every term H_k of H, column block b.

    Their sum is f = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3). Each is a vector of the row's block.
    """
    D = dynamics.D or dynamics.claims.diffusion or ()
    for matrix, rank in ((D, FRICTION), (dynamics.Q or (), DRIFT)):
        for row, line in zip(dynamics.declarations.blocks, matrix, strict=False):
            for col, place in zip(dynamics.declarations.blocks, line, strict=True):
                if not is_zero(place):
                    yield DriftTerm(row, GAMMA, _apply_derivative("div", place, col, row))
                    for slope in _energy_gradients(dynamics, col):
                        yield DriftTerm(row, rank, build.negate(build.matmul(place, slope, row.shape)))


def _row_terms(dynamics: Dynamics) -> Iterator[DriftTerm]:
    """Yield D's contributions to a block with several terms: the whole of Gamma, and the whole of the friction."""
    alone = list(recipe_terms(replace(dynamics, Q=None)))
    for block in dynamics.declarations.blocks:
        for rank in (GAMMA, FRICTION):
            parts = [term.formula for term in alone if term.block == block and term.rank == rank]
            if len(parts) > 1:
                yield DriftTerm(block, rank, build.add(parts, block.shape))


def _guess_q_terms(dynamics: Dynamics) -> Iterator[DriftTerm]:
    """Yield possible contributions of an unknown Q: div(A, b), factors A of claimed terms; grad(H_k, b), Q = I."""
    blocks = dynamics.declarations.blocks
    stated = dict(dynamics.claims.drift or ())
    for row in blocks:
        for col in blocks:
            factors = (node for term in expand_sum(stated[row.name]) for node in nodes(term))
            for factor in dict.fromkeys(factors):
                calculus = any(isinstance(part, ex.Apply) and part.fn in ex.CALCULUS for part in nodes(factor))
                if factor.shape == place_shape(row, col) and not calculus and _may_depend_on(factor, col.name):
                    yield DriftTerm(row, GAMMA, _apply_derivative("div", factor, col, row))
            if row != col and row.shape == col.shape:
                yield from (DriftTerm(row, DRIFT, slope) for slope in _energy_gradients(dynamics, col))


def whole_drift(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the change that states the recipe's drift in every block where the claim differs from it.

    f = -(D + Q) grad H + Gamma, block by block, [n_b] each (Ma, Chen, Fox 2015, Eq. 3), where D and H determine it.
    """
    declarations = dynamics.declarations
    on_a_line = len(declarations.blocks) == 1 and declarations.blocks[0].shape.sizes in {(), (1,)}  # then Q = 0
    if not (derived or on_a_line):
        return
    listed, found = list(recipe_terms(dynamics)), dict[str, Formula]()
    for block in declarations.blocks:
        terms = [simplest(term.formula, declarations) for term in listed if term.block == block]
        formula = simplest(sum_terms(terms, block.shape), declarations)
        if text(formula) != text(dict(dynamics.claims.drift or ())[block.name]):
            found[block.name] = formula
    new = tuple((f"claims.drift.{name}", formula) for name, formula in found.items())
    yield Change(DRIFT, 3 + len(found), f"take the recipe's drift for {', '.join(found)}", new)


def _energy_gradients(dynamics: Dynamics, col: Block) -> Iterator[Formula]:
    """Yield the gradients of H's terms by a block."""
    for energy in expand_sum(dynamics.H, constants=False):
        if _may_depend_on(energy, col.name):
            yield _apply_derivative("grad", energy, col, col)


def _apply_derivative(fn: str, formula: Formula, by: Block, row: Block) -> Formula:
    """Return the formula fn(formula, block), shaped as a column of the row block."""
    return ex.Apply(fn, (formula, by.symbol), row.shape)


def _may_depend_on(formula: Formula, block: str) -> bool:
    """Return whether a block may occur in a formula."""
    return depends_on_state(formula) and any(
        (isinstance(node, ex.Symbol) and node.name == block and node.role is Role.BLOCK)
        or (isinstance(node, ex.FunctionAt) and block in node.of)
        for node in nodes(formula)
    )
