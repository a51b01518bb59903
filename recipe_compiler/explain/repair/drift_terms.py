"""Terms of a drift: those of the author, and those of the recipe, place by place of D and Q.

Repairs of a claimed drift add, drop, flip or scale them: the fewest that make the claim hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recipe_compiler.errors import ModelError
from recipe_compiler.explain.repair.changes import DRIFT, FRICTION, GAMMA, Change
from recipe_compiler.explain.repair.equations import derivation_of
from recipe_compiler.explain.repair.parametrise import sketch
from recipe_compiler.explain.repair.ratios import Constants, Ratio, plus
from recipe_compiler.explain.repair.rescale import written
from recipe_compiler.explain.repair.solve import Solution
from recipe_compiler.explain.repair.sum_of_terms import (
    additive,
    gathered,
    number,
    scaled,
    simplest,
    tensor_of,
    top_level,
    total,
)
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.order import spell_factors
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.premises import depends_on_state

LARGEST = 3
"""Terms changed at once."""

MOST = 8
"""Sets of terms for which equations are solved."""

MAX_PIECES = 26
MAX_OWN = 14
"""With more claimed terms than this, products with sums are not multiplied out."""


@dataclass(frozen=True, slots=True)
class DriftTerm:
    """A term of the drift of one block; `part_of` is the claimed term that it is a part of, None for a new term."""

    block: int
    rank: int
    formula: Formula
    part_of: Formula | None = None

    @property
    def own(self) -> bool:
        """Whether the author claimed it."""
        return self.part_of is not None


def pieces(dynamics: Dynamics) -> tuple[DriftTerm, ...]:
    """Return the claimed terms of the drift, then terms that may be missing, no two of a block multiples of each other.

    A claimed term that is a multiple of one of the recipe's gets its rank: a wrong friction is then tried before
    others.
    """
    declarations = dynamics.declarations
    stated = dict(dynamics.claims.drift or ())
    few = sum(len(additive(t)) for formula in stated.values() for t in top_level(formula)) <= MAX_OWN
    kept: list[tuple[DriftTerm, Tensor]] = []
    for n, block in enumerate(declarations.blocks):
        for whole in top_level(stated[block.name]):
            parts = additive(whole) if few else (whole,)
            kept += [(DriftTerm(n, DRIFT, t, whole), tensor_of(t, declarations)) for t in parts]
    new = [*whole_rows(dynamics), *recipe_pieces(dynamics), *(() if dynamics.Q else guessed_pieces(dynamics))]
    for piece in sorted(new, key=lambda piece: piece.rank):
        try:
            simple = replace(piece, formula=simplest(piece.formula, declarations))
            tensor = tensor_of(simple.formula, declarations)
        except ModelError:
            continue
        if tensor.is_zero:
            continue
        same = next((k for k, (old, t) in enumerate(kept) if old.block == piece.block and alike(t, tensor)), None)
        if same is None:
            kept.append((simple, tensor))
        elif kept[same][0].own:
            old, t = kept[same]
            kept[same] = (replace(old, rank=min(old.rank, piece.rank)), t)
    return tuple(piece for piece, _ in kept[:MAX_PIECES])


def recipe_pieces(dynamics: Dynamics) -> Iterator[DriftTerm]:
    """Yield div(A, b) and -A @ grad(H_k, b) for every place A of D and Q and every term H_k of H, column block b.

    Their sum is f = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3). Each is a vector of the row's block.
    """
    D = dynamics.D or dynamics.claims.diffusion or ()
    for matrix, rank in ((D, FRICTION), (dynamics.Q or (), DRIFT)):
        for a, line in enumerate(matrix):
            for b, place in enumerate(line):
                if not is_zero(place):
                    yield from _of_place(dynamics, place, (a, b), rank)


def whole_rows(dynamics: Dynamics) -> Iterator[DriftTerm]:
    """Yield what D contributes to a block, all of Gamma and all of the friction, where it consists of several terms."""
    D = dynamics.D or dynamics.claims.diffusion or ()
    for a, row in enumerate(dynamics.declarations.blocks[: len(D)]):
        found = [x for b, place in enumerate(D[a]) if not is_zero(place) for x in _of_place(dynamics, place, (a, b))]
        for rank in (GAMMA, FRICTION):
            parts = [piece.formula for piece in found if piece.rank == rank]
            if len(parts) > 1:
                yield DriftTerm(a, rank, build.add(parts, row.shape))


def _of_place(dynamics: Dynamics, place: Formula, at: tuple[int, int], rank: int = FRICTION) -> Iterator[DriftTerm]:
    row, col = (dynamics.declarations.blocks[n] for n in at)
    yield DriftTerm(at[0], GAMMA, divergence(place, row, col))
    for energy in additive(dynamics.H, constants=False):
        if _depends(energy, col.name):
            yield DriftTerm(at[0], rank, build.negate(applied(place, gradient(energy, col), row)))


def guessed_pieces(dynamics: Dynamics) -> Iterator[DriftTerm]:
    """Yield what a Q that is not given would contribute: div(A, b), factors A of claimed terms; grad(H_k, b), Q = I."""
    blocks = dynamics.declarations.blocks
    stated = dict(dynamics.claims.drift or ())
    for a, row in enumerate(blocks):
        for b, col in enumerate(blocks):
            wanted = Shape(row.shape.rows, col.shape.rows)
            for factor in _factors(stated[row.name], wanted, col.name):
                yield DriftTerm(a, GAMMA, divergence(factor, row, col))
            if a != b and row.shape == col.shape:
                for energy in additive(dynamics.H, constants=False):
                    if _depends(energy, col.name):
                        yield DriftTerm(a, DRIFT, gradient(energy, col))


def divergence(place: Formula, row: Block, col: Block) -> Formula:
    """Return `div(A, b)` of a place of a block matrix."""
    return ex.Apply("div", (place, _symbol(col)), row.shape)


def gradient(energy: Formula, block: Block) -> Formula:
    """Return `grad(H_k, b)`."""
    return ex.Apply("grad", (energy, _symbol(block)), block.shape)


def applied(place: Formula, vector: Formula, row: Block) -> Formula:
    """Return `A @ v` of the shape of a block."""
    return build.matmul(place, vector, row.shape)


def alike(left: Tensor, right: Tensor) -> bool:
    """Whether A = c B for two tensors and a rational c, compared term by term."""
    if len(left.terms) != len(right.terms) or left.is_zero:
        return False
    one, other = ({spell_factors(t.factors): t.coefficient for t in x.terms} for x in (left, right))
    if one.keys() != other.keys():
        return False
    first = next(iter(one))
    factor = other[first] / one[first]
    return all(other[key] == factor * value for key, value in one.items())


def claimed_block(declarations: Declarations, n: int) -> str:
    """Return the entry of the claimed drift of a block."""
    return f"claims.drift.{declarations.blocks[n].name}"


def _factors(drift: Formula, wanted: Shape, block: str) -> list[Formula]:
    """Return the parts of a drift of a shape that depend on a block and hold no derivative."""
    found: list[Formula] = []
    for term in additive(drift):
        for node in nodes(term):
            calculus = any(isinstance(part, ex.Apply) and part.fn in ex.CALCULUS for part in nodes(node))
            if node.shape == wanted and not calculus and _depends(node, block) and node not in found:
                found.append(node)
    return found


def _depends(formula: Formula, block: str) -> bool:
    """Whether a block may enter a formula."""
    return depends_on_state(formula) and any(
        (isinstance(node, ex.Symbol) and node.name == block and node.role is Role.BLOCK)
        or (isinstance(node, ex.FunctionAt) and block in node.of)
        for node in nodes(formula)
    )


def _symbol(block: Block) -> ex.Symbol:
    return ex.Symbol(block.name, block.shape, Role.BLOCK)


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece with the unknown that stands for its change: the factor less 1 of a claimed term, that of a new one."""

    piece: DriftTerm
    unknown: str


def drift_changes(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes of at most three terms of the drift that may make the claim hold.

    With an unknown factor on every term (claimed ones and possible new ones, [n_b] each), what has to vanish
    (`defects`) is linear in the factors; the smallest sets of factors that suffice are solved for. For naive SGHMC, dr
    = -grad U dt + sqrt(V) dW and M = I, one new term -V r/2 makes exp(-H) stationary: D = V/2, and -D grad_r H = -V r/2
    (cf. Ma, Chen, Fox 2015, Sec. 3.1).
    """
    listed = pieces(dynamics)
    of = sketch(dynamics, len(listed))
    parts = [_Part(piece, name) for piece, name in zip(listed, of.unknowns, strict=True)]
    symbols = {name: of.symbol(n) for n, name in enumerate(of.unknowns)}
    formulas = _drifts(dynamics, parts, symbols, of.ring)
    for _, values in of.sparse(formulas, LARGEST, derived=derived, most=MOST):
        yield _change(dynamics, parts, values, of.ring)


def whole_drift(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the change that states the recipe's drift in every block where the claim differs from it.

    f = -(D + Q) grad H + Gamma, block by block, [n_b] each (Ma, Chen, Fox 2015, Eq. 3).
    """
    declarations = dynamics.declarations
    derivation = derivation_of(dynamics)
    stated = dict(dynamics.claims.drift or ())
    found: list[tuple[str, Formula]] = []
    for n, block in enumerate(derivation.dynamics.declarations.blocks):
        terms = [piece.formula for piece in recipe_pieces(dynamics) if piece.block == n]
        formula = simplest(total([simplest(t, declarations) for t in terms], block.shape), declarations)
        if text(formula) != text(stated[block.name]):
            found.append((claimed_block(declarations, n), formula))
    names = ", ".join(entry.removeprefix("claims.drift.") for entry, _ in found)
    yield Change(DRIFT, LARGEST + len(found), f"take the recipe's drift for {names}", tuple(found))


def _drifts(dynamics: Dynamics, parts: Sequence[_Part], values: Solution, ring: Constants) -> dict[str, Formula]:
    """Return the whole new drift of every block."""
    declarations = dynamics.declarations
    found: dict[str, Formula] = {}
    for n, block in enumerate(declarations.blocks):
        here = [part for part in parts if part.piece.block == n]
        changed = {part.piece.part_of for part in here if not values[part.unknown].top.is_zero()}
        terms: list[Formula] = []
        for part in here:
            whole = part.piece.part_of
            if whole is None or whole in changed:
                terms.append(_term(part, values[part.unknown], ring))
            elif part.piece.formula in (whole, additive(whole)[0]):
                terms.append(whole)
        found[claimed_block(declarations, n)] = total(terms, block.shape)
    return found


def _term(part: _Part, value: Ratio, ring: Constants) -> Formula:
    factor = plus(value, number(1, ring)) if part.piece.own else value
    unchanged = part.piece.own and value.top.is_zero()
    return part.piece.formula if unchanged else scaled(part.piece.formula, factor, ring)


def _change(dynamics: Dynamics, parts: Sequence[_Part], values: Solution, ring: Constants) -> Change:
    """Return a change with its words and the drifts of the blocks it touches."""
    declarations = dynamics.declarations
    touched = [part for part in parts if not values[part.unknown].top.is_zero()]
    drifts = _drifts(dynamics, parts, values, ring)
    entries = dict.fromkeys(claimed_block(declarations, part.piece.block) for part in touched)
    says = ", and ".join(
        _says(part, values[part.unknown], declarations.blocks[part.piece.block].name, ring) for part in touched
    )
    return Change(
        max(part.piece.rank for part in touched),
        len(touched),
        says,
        tuple((entry, gathered(drifts[entry], declarations)) for entry in entries),
        all(values[part.unknown].is_number for part in touched),
    )


def _says(part: _Part, value: Ratio, block: str, ring: Constants) -> str:
    term = text(part.piece.formula)
    if not part.piece.own:
        return f"add {text(scaled(part.piece.formula, value, ring))} to the drift of {block}"
    factor = plus(value, number(1, ring))
    if factor.top.is_zero():
        return f"drop {term} from the drift of {block}"
    if plus(factor, number(1, ring)).top.is_zero():
        return f"flip the sign of {term} in the drift of {block}"
    return f"multiply {term} in the drift of {block} by {written(factor, ring)}"
