"""Families of changes: factors in the energy, the noise, Q and the drift, and constant matrices put into terms."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from recipe_compiler import limits
from recipe_compiler.ansatz.simplify import SYMMETRIC, direction, gather_terms, simplest
from recipe_compiler.ansatz.sums import Constants, Value, constants, expand_sum
from recipe_compiler.ansatz.unknowns import Ansatz, Part, Values, entries
from recipe_compiler.explain.changes import CURL, DRIFT, ENERGY, NOISE, Change, unchanged
from recipe_compiler.explain.drift_terms import drift_parts
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula, FunctionAt
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape, Size
from recipe_compiler.formula.show import text, unsigned
from recipe_compiler.spec.model import Dynamics


def energy_scales(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that multiply one term of H = sum_k H_k, a scalar, by a constant c: H_k becomes c H_k.

    f and D as claimed are to keep exp(-H') for H' = H + (c - 1) H_k, or the recipe's f to become the claimed one; c is
    solved for as a ratio of polynomials in sizes and parameters, and has to be positive, or to take away a minus sign.
    A guess until `changes.proved` has it.

    Worked, d = 2: H = U(theta) + r.T r/2 + (xi - A)**2/(2 d) with Q[r,xi] = r/d and the claimed drift r.T r/d - 1 of
    xi: the recipe's r drift holds -r (xi - A) c/d**2 in the place of -r (xi - A), so c = d**2 = 4.
    """
    terms = expand_sum(dynamics.H, constants=False)
    ansatz = Ansatz(dynamics, tuple(Part((("H", term),)) for term in terms), derived)
    for values in ansatz.sparse(1, len(terms)):
        (n,) = values
        factor = ansatz.factor(n, values)
        if ansatz.constants.is_positive(factor) or _is_sign_repair(terms[n], ansatz.constants.scaled(terms[n], factor)):
            says = _describe_factor(text(terms[n]), factor, ansatz.constants, "in H")
            yield Change(ENERGY, 1, says, tuple(ansatz.written(values).items()), ansatz.is_plain(values))


def _is_sign_repair(term: Formula, new: Formula) -> bool:
    """Return whether a term loses its minus and contains no field of unknown sign: `-r**2/2` becomes `r**2/2`."""
    known = not any(isinstance(node, FunctionAt) for node in nodes(term))
    return known and unsigned(term) is not None and unsigned(new) is None


def noise_scales(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that multiply a place D_ab: [n_a, n_b] of the noise (with D_ba), or all, by a constant c > 0.

    c solves R = 0 for the claimed f and H, R the Fokker-Planck residual (cf. Ma, Chen, Fox 2015, Eq. 5); or makes the
    recipe's drift the claimed one. Of f = -grad U/2 with D = I, D/2 is proposed.
    """
    groups = _list_mirrored_places(dynamics, ("claims.diffusion", "D") if dynamics.claims.diffusion else ("D",))
    whole = [tuple(place for places in groups for place in places)] if len(groups) > 1 else []
    for chosen in (groups, whole):
        yield from _scale_places(dynamics, chosen, NOISE, derived=derived)


def curl_scales(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that multiply Q_ab, [n_a, n_b], and Q_ba by one constant so that the claimed drift is derived.

    f_claimed = -(D + Q) grad H + Gamma is linear in the constant (Ma, Chen, Fox 2015, Eq. 3).
    """
    if derived:
        yield from _scale_places(dynamics, _list_mirrored_places(dynamics, ("Q",)), CURL, derived=True)


Places = tuple[tuple[str, Formula], ...]
"""Entries with their formulas."""


def _list_mirrored_places(dynamics: Dynamics, names: Sequence[str]) -> list[Places]:
    """Return the places of matrices that are not all zero, each with its mirror image."""
    found: list[Places] = []
    blocks, old = [block.name for block in dynamics.declarations.blocks], entries(dynamics)
    for a, row in enumerate(blocks):
        for col in blocks[a:]:
            mirrored = dict.fromkeys(f"{name}[{x},{y}]" for name in names for x, y in ((row, col), (col, row)))
            places = tuple((entry, old[entry]) for entry in mirrored if entry in old)
            if not all(is_zero(place) for entry, place in places if entry.startswith(names[0])):
                found.append(places)
    return found


def _scale_places(dynamics: Dynamics, groups: Sequence[Places], rank: int, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that multiply groups of matrix entries by a constant."""
    if not groups:
        return
    ansatz = Ansatz(dynamics, tuple(Part(places) for places in groups), derived)
    for values in ansatz.sparse(1, len(groups)):
        (n,) = values
        factor = ansatz.factor(n, values)
        if rank == CURL or ansatz.constants.is_positive(factor):
            written = ansatz.written(values)
            new = [(entry, written[entry]) for entry, old in groups[n] if not is_zero(old)]
            *first, last = [entry for entry, _ in new]
            listed = f"{', '.join(first)} and {last}" if first else last
            says = f"multiply {listed} by {ansatz.constants.text(factor)}"
            yield Change(rank, len(new), says, tuple(new), ansatz.is_plain(values))


def drift_changes(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes of at most three terms of the drift that may make the claim hold.

    With an unknown factor on every term (claimed ones and possible new ones, [n_b] each), what has to vanish is linear
    in the factors; the smallest sets of factors that suffice are solved for. For naive SGHMC, dr = -grad U dt + sqrt(V)
    dW and M = I, one new term -V r/2 makes exp(-H) stationary: D = V/2, and -D grad_r H = -V r/2 (cf. Ma, Chen, Fox
    2015, Sec. 3.1).
    """
    ansatz = Ansatz(dynamics, drift_parts(dynamics), derived)
    for values in ansatz.sparse(limits.DEPTH, limits.TRIALS):
        new = (
            (entry, gather_terms(formula, dynamics.declarations)) for entry, formula in ansatz.written(values).items()
        )
        rank = max(ansatz.parts[n].rank for n in values)
        yield Change(rank, len(values), _describe_drift_change(ansatz, values), tuple(new), ansatz.is_plain(values))


def _describe_drift_change(ansatz: Ansatz, values: Values) -> str:
    """Return text for a change of terms, each block named once."""
    at, said = ansatz.constants, list[str]()
    order = list(entries(ansatz.dynamics))
    for n in sorted(values, key=lambda n: order.index(ansatz.parts[n].terms[0][0])):
        ((entry, term),) = ansatz.parts[n].terms
        block = f"the drift of {entry.removeprefix('claims.drift.')}"
        place = "it" if any(words.endswith(block) or f"{block} by " in words for words in said) else block
        factor = ansatz.factor(n, values)
        if not ansatz.parts[n].own:
            said.append(f"add {text(at.scaled(term, factor))} to {place}")
        elif not factor:
            said.append(f"drop {text(term)} from {place}")
        else:
            said.append(_describe_factor(text(term), factor, at, f"in {place}"))
    return ", and ".join(said)


def _describe_factor(term: str, factor: Value, at: Constants, where: str) -> str:
    """Return the words for a term's new factor: a flipped sign, or a multiplication."""
    return f"flip the sign of {term} {where}" if factor == -1 else f"multiply {term} {where} by {at.text(factor)}"


def constant_matrices(declarations: Declarations) -> list[Formula]:
    """Return the constant symmetric matrices of a document: parameters S, and inv(S) of the positive definite ones."""
    found: list[Formula] = []
    for item in declarations.parameters:
        if item.shape.rows is not None and item.shape.rows == item.shape.cols and SYMMETRIC & set(item.kinds):
            symbol = ex.Symbol(item.name, item.shape, ex.Role.PARAMETER)
            found += [symbol, *([build.apply("inv", (symbol,), item.shape)] if Kind.PD in item.kinds else [])]
    return found


def insert_into_term(term: Formula, declarations: Declarations) -> list[Formula]:
    """Return a term, and its versions with one constant matrix inserted, no two multiples of each other.

    r.T r/d - 1 has r.T inv(M) r/d - 1 among its variants.
    """
    found = {direction(term, declarations): term}
    for matrix in constant_matrices(declarations):
        for new in _insert_matrix(term, matrix, matrix.shape.rows):
            simple = simplest(new, declarations)
            if (mark := direction(simple, declarations)) is not None:
                found.setdefault(mark, simple)
    return list(found.values())[: limits.TRIALS]


def _insert_matrix(term: Formula, matrix: Formula, size: Size | None) -> Iterator[Formula]:
    """Yield a term with `matrix @ x` for each part x with so many rows; for a constant, times the trace."""
    if term.shape == SCALAR and all(node.shape.rows != size for node in nodes(term)):
        yield build.multiply(term, build.apply("trace", (matrix,), SCALAR), SCALAR)
    else:
        yield from _multiply_parts(term, matrix, size)


def _multiply_parts(formula: Formula, matrix: Formula, size: Size | None) -> Iterator[Formula]:
    """Yield a formula with one of its parts multiplied by the matrix from the left."""
    if formula.shape.rows is not None and formula.shape.rows == size:
        yield build.matmul(matrix, formula, Shape(size, formula.shape.cols))
    parts = build.parts(formula) if isinstance(formula, ex.Multiply | ex.MatMul | ex.Transpose) else ()
    for n, part in enumerate(parts):
        for new in _multiply_parts(part, matrix, size):
            yield build.rebuild(formula, [*parts[:n], new, *parts[n + 1 :]])


def insertions(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that put constant matrices into terms of a drift, or into one of them and the block's noise.

    `T @ x` for a part x, T a declared symmetric matrix or its inverse. A thermostat with a mass matrix needs one or the
    other.
    """
    if constant_matrices(dynamics.declarations):
        for block in dynamics.declarations.blocks:
            yield from _combine_variants(dynamics, block.name, derived=derived)
            yield from _insert_with_noise(dynamics, block.name, derived=derived)


def _combine_variants(dynamics: Dynamics, block: str, *, derived: bool) -> Iterator[Change]:
    """Yield the drifts of one block that are combinations of variants of its terms."""
    declarations, entry = dynamics.declarations, f"claims.drift.{block}"
    own = expand_sum(entries(dynamics)[entry])
    if not own or len(own) > limits.CASES:
        return
    at = constants(declarations)
    cores = [at.split(new)[1] or build.ONE for term in own for new in insert_into_term(term, declarations)]
    listed = list({direction(core, declarations): core for core in reversed(cores)}.values())[::-1]
    if len(listed) == len(own):
        return
    ansatz = Ansatz(dynamics, tuple(Part(((entry, term),), own=False) for term in listed), derived)
    for values in ansatz.sparse(len(own) + 1, limits.TRIALS // 2):
        new = ansatz.written(values)
        says = f"take {text(new[entry])} for the drift of {block}"
        yield Change(DRIFT, len(values), says, tuple(new.items()), ansatz.is_plain(values))


def _insert_with_noise(dynamics: Dynamics, block: str, *, derived: bool) -> Iterator[Change]:
    """Yield the changes of one term in the drift of a block, and of its noise, to variants of them."""
    declarations, old = dynamics.declarations, entries(dynamics)
    entry = f"claims.drift.{block}"
    places = [name for head in ("claims.diffusion", "D") if (name := f"{head}[{block},{block}]") in old]
    own = expand_sum(old[entry])
    if is_zero(old[places[0]]) or not own or len(own) > 2 * limits.CASES:
        return
    noises = insert_into_term(old[places[0]], declarations)
    for k, term in enumerate(own):
        drifts = insert_into_term(term, declarations)
        if len(noises) * len(drifts) == 1:
            continue
        new = [Part(((entry, one),), own=False) for one in drifts]
        noisy = [Part(tuple((place, one) for place in places), own=False) for one in noises]
        before, after = ([Part(((entry, one),), fixed=True) for one in part] for part in (own[:k], own[k + 1 :]))
        ansatz = Ansatz(dynamics, (*before, *new, *after, *noisy), derived)
        for values in ansatz.sparse(2, limits.TRIALS // 2):
            if sum(ansatz.parts[n] in noisy for n in values) != 1 or len(values) != 2:
                continue
            found = {place: new for place, new in ansatz.written(values).items() if not unchanged(dynamics, place, new)}
            (chosen,) = (n for n in values if ansatz.parts[n] in new)
            one = ansatz.constants.scaled(ansatz.parts[chosen].terms[0][1], values[chosen])
            said = [f"{text(one)} for {text(term)} in the drift of {block}"] if entry in found else []
            said += [f"{text(found[places[-1]])} for {places[-1]}"] if places[-1] in found else []
            if said:
                says = "take " + ", and ".join(said)
                yield Change(DRIFT, len(said), says, tuple(found.items()), ansatz.is_plain(values))


def curl_insertions(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that put a constant matrix into Q[a,b] and Q[b,a] so that the claimed drift is derived.

    A part x of Q_ab: [n_a, n_b] becomes T x, T a declared symmetric matrix or its inverse, the whole times a constant
    c, and Q_ba = -Q_ab.T; c is solved for from f_claimed = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3).
    """
    declarations, old = dynamics.declarations, entries(dynamics)
    for a, b in combinations([block.name for block in declarations.blocks], 2) if derived else ():
        here, there = f"Q[{a},{b}]", f"Q[{b},{a}]"
        if here not in old or is_zero(old[here]) or is_zero(old[there]):
            continue
        others = insert_into_term(old[here], declarations)[1:]
        pairs = [((here, new), (there, build.negate(build.transpose(new)))) for new in others]
        ansatz = Ansatz(dynamics, tuple(Part(pair, own=False) for pair in pairs), derived=True)
        for values in ansatz.sparse(1, len(pairs)) if pairs else ():
            new = {entry: simplest(place, declarations) for entry, place in ansatz.written(values).items()}
            yield Change(CURL, 2, f"take {text(new[here])} for {here}", tuple(new.items()))
