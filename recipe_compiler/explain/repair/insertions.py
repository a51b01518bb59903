"""A constant matrix put into a term: `T @ x` for a part x, T a declared symmetric matrix or its inverse.

What is searched: the whole drift of one block as a combination of such variants of its terms; and one term of a drift
together with the noise of its block, each replaced by a variant (a thermostat with a mass matrix needs one or the
other). Where D and Q are given, a pair of places of Q may follow.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from recipe_compiler.errors import ModelError
from recipe_compiler.explain.repair.changes import CURL, DRIFT, Change, unchanged
from recipe_compiler.explain.repair.drift_terms import alike, claimed_block
from recipe_compiler.explain.repair.parametrise import sketch
from recipe_compiler.explain.repair.ratios import Constants, Ratio, constants
from recipe_compiler.explain.repair.rescale import is_one
from recipe_compiler.explain.repair.sum_of_terms import SYMMETRIC, additive, scaled, simplest, split, tensor_of, total
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape, Size
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.terms import Tensor

MAX_VARIANTS = 12
SHORT = 4
"""Drifts of more terms are not taken apart."""
MOST = 4


def library(declarations: Declarations) -> list[Formula]:
    """Return the constant symmetric matrices of a document: parameters S, and inv(S) of the positive definite ones."""
    found: list[Formula] = []
    for item in declarations.parameters:
        if item.shape.rows is not None and item.shape.rows == item.shape.cols and SYMMETRIC & set(item.kinds):
            symbol = ex.Symbol(item.name, item.shape, ex.Role.PARAMETER)
            found.append(symbol)
            if Kind.PD in item.kinds:
                found.append(build.apply("inv", (symbol,), item.shape))
    return found


def variants(term: Formula, declarations: Declarations) -> list[Formula]:
    """Return a term, and the same term with a matrix of the library inserted, no two multiples of each other.

    r.T r/d - 1 has r.T inv(M) r/d - 1 among its variants.
    """
    found: list[tuple[Formula, Tensor]] = [(term, tensor_of(term, declarations))]
    for matrix in library(declarations):
        for new in _with(term, matrix, matrix.shape.rows):
            try:
                simple = simplest(new, declarations)
                tensor = tensor_of(simple, declarations)
            except ModelError:
                continue
            if not any(alike(tensor, known) for _, known in found):
                found.append((simple, tensor))
    return [formula for formula, _ in found[:MAX_VARIANTS]]


def insertions(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that insert constant matrices into terms of the drift, or of a block's drift and noise."""
    if not library(dynamics.declarations):
        return
    for n in range(len(dynamics.declarations.blocks)):
        yield from _block_replaced(dynamics, n, derived=derived)
        yield from _with_noise(dynamics, n, derived=derived)


def curl_insertions(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the changes that insert a constant matrix into Q[a,b] and Q[b,a] so that the claimed drift is derived.

    A part x of Q_ab: [n_a, n_b] becomes T x, T a declared symmetric matrix or its inverse, the whole times a constant
    c, and Q_ba = -Q_ab.T; c is solved for from f_claimed = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3).
    """
    declarations = dynamics.declarations
    blocks = declarations.blocks
    for a, b in combinations(range(len(blocks)), 2):
        if dynamics.Q is None or is_zero(dynamics.Q[a][b]) or is_zero(dynamics.Q[b][a]):
            continue
        here, there = (f"Q[{blocks[m].name},{blocks[n].name}]" for m, n in ((a, b), (b, a)))
        of = sketch(dynamics, 1)
        for new in variants(dynamics.Q[a][b], declarations)[1:]:
            place = scaled(new, of.symbol(0), of.ring)
            given = of.equations({here: place, there: build.negate(build.transpose(place))}, derived=True)
            for factor in of.factors(given, of.unknowns):
                whole = scaled(new, factor, of.ring)
                other = simplest(build.negate(build.transpose(whole)), declarations)
                yield Change(CURL, 2, f"take {text(whole)} for {here}", ((here, whole), (there, other)))


def _with(term: Formula, matrix: Formula, size: Size | None) -> Iterator[Formula]:
    """Yield a term with `matrix @ x` for each part x with so many rows; for a constant, times the trace."""
    if term.shape == SCALAR and not any(_fits(node, size) for node in _operands(term)):
        trace = build.apply("trace", (matrix,), SCALAR)
        yield build.multiply(term, trace, SCALAR)
        return
    yield from _replacements(term, matrix, size)


def _replacements(formula: Formula, matrix: Formula, size: Size | None) -> Iterator[Formula]:
    if _fits(formula, size):
        yield build.matmul(matrix, formula, Shape(size, formula.shape.cols))
    match formula:
        case ex.Multiply() | ex.MatMul() | ex.Transpose():
            parts = build.parts(formula)
            for n, part in enumerate(parts):
                for new in _replacements(part, matrix, size):
                    yield build.rebuild(formula, [*parts[:n], new, *parts[n + 1 :]], lambda shape: shape)
        case _:
            pass


def _operands(formula: Formula) -> Iterator[Formula]:
    yield formula
    if isinstance(formula, (ex.Multiply, ex.MatMul, ex.Transpose)):
        for part in build.parts(formula):
            yield from _operands(part)


def _fits(formula: Formula, size: Size | None) -> bool:
    return formula.shape.rows is not None and formula.shape.rows == size


def _block_replaced(dynamics: Dynamics, n: int, *, derived: bool) -> Iterator[Change]:
    """Yield the drifts of one block that are combinations of variants of its terms."""
    declarations = dynamics.declarations
    block, entry = declarations.blocks[n], claimed_block(declarations, n)
    own = _own(dynamics, n)
    if not own or len(own) > SHORT:
        return
    listed = _distinct([new for term in own for new in variants(term, declarations)], dynamics)
    if len(listed) == len(own):
        return
    of = sketch(dynamics, len(listed))
    terms = [scaled(term, of.symbol(k), of.ring) for k, term in enumerate(listed)]
    formulas = {entry: total(terms, block.shape)}
    for subset, values in of.sparse(formulas, len(own) + 1, derived=derived, most=MOST):
        new = _combined(listed, [values[name] for name in of.unknowns], of.ring, block.shape)
        says = f"take {text(new)} for the drift of {block.name}"
        yield Change(DRIFT, len(subset), says, ((entry, new),), all(values[name].is_number for name in subset))


def _with_noise(dynamics: Dynamics, n: int, *, derived: bool) -> Iterator[Change]:
    """Yield the pairs of one new term in the drift of a block and new noise in it."""
    declarations = dynamics.declarations
    own = _own(dynamics, n)
    place = (dynamics.claims.diffusion or dynamics.D or ())[n][n]
    if is_zero(place) or not own or len(own) > 2 * SHORT:
        return
    noises = variants(place, declarations)
    for k, term in enumerate(own):
        drifts = variants(term, declarations)
        if len(noises) * len(drifts) > 1:
            yield from _term_with_noise(dynamics, n, k, drifts, noises, derived=derived)


def _term_with_noise(
    dynamics: Dynamics, n: int, k: int, drifts: list[Formula], noises: list[Formula], *, derived: bool
) -> Iterator[Change]:
    """Yield the changes of the k-th term of a block's drift to one of `drifts`, and of its noise to one of `noises`."""
    declarations = dynamics.declarations
    block, entry = declarations.blocks[n], claimed_block(declarations, n)
    own = _own(dynamics, n)
    names = [name for name, m in (("claims.diffusion", dynamics.claims.diffusion), ("D", dynamics.D)) if m is not None]
    places = [f"{name}[{block.name},{block.name}]" for name in names]
    of = sketch(dynamics, len(noises) + len(drifts))
    first = len(noises)

    def formulas(values: Sequence[Ratio]) -> tuple[Formula, Formula]:
        noise = _combined(noises, values[:first], of.ring, noises[0].shape)
        return _combined(drifts, values[first:], of.ring, block.shape), noise

    unknown, noisy = formulas([of.symbol(m) for m in range(len(of.unknowns))])
    whole = total([*own[:k], unknown, *own[k + 1 :]], block.shape)
    sketched = {entry: whole, **dict.fromkeys(places, noisy)}
    for subset, values in of.sparse(sketched, 2, derived=derived, most=MOST):
        if len([name for name in subset if name in of.unknowns[:first]]) != 1 or len(subset) != 2:
            continue
        one, noise = formulas([values[name] for name in of.unknowns])
        drift = total([*own[:k], one, *own[k + 1 :]], block.shape)
        in_drift = f"{text(one)} for {text(own[k])} in the drift of {block.name}"
        in_noise = f"{text(noise)} for {places[-1]}"
        parts = ((in_drift, [(entry, drift)]), (in_noise, [(name, noise) for name in places]))
        kept = [part for part in parts if not unchanged(dynamics, *part[1][0])]
        says = "take " + ", and ".join(words for words, _ in kept)
        changed = tuple(new for _, entries in kept for new in entries)
        if kept:
            yield Change(DRIFT, len(kept), says, changed, all(values[name].is_number for name in subset))


def _own(dynamics: Dynamics, n: int) -> tuple[Formula, ...]:
    """Return the claimed terms of the drift of a block."""
    return additive(dict(dynamics.claims.drift or ())[dynamics.declarations.blocks[n].name])


def _combined(listed: Sequence[Formula], values: Sequence[Ratio], ring: Constants, shape: Shape) -> Formula:
    """Return the combination of formulas, those with the factor 1 as they are."""
    pairs = zip(listed, values, strict=True)
    return total([t if is_one(value) else scaled(t, value, ring) for t, value in pairs], shape)


def _distinct(listed: Sequence[Formula], dynamics: Dynamics) -> list[Formula]:
    """Return formulas without their constant factors, none a multiple of another."""
    ring = constants(dynamics.declarations)
    found: list[tuple[Formula, Tensor]] = []
    for formula in listed:
        core = split(formula, ring)[1] or build.ONE
        tensor = tensor_of(core, dynamics.declarations)
        if not any(alike(tensor, known) for _, known in found):
            found.append((core, tensor))
    return [formula for formula, _ in found]
