"""Pass: sums over products become named intermediates, so that no loop nest is deeper than it must be.

sum_jk C_ij inv(M)_jk r_k, d**3 operations as it is, becomes w_j = sum_k inv(M)_jk r_k, then sum_j C_ij w_j: twice d**2.
Indices are eliminated one by one, first those that leave the fewest indices. Equal intermediates are shared; constant
ones are computed before the chain.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.program.atoms import indices, matrix_name
from recipe_compiler.program.combine import Loops, entry_at, nested, plus, times, unsupported
from recipe_compiler.program.definition import ROW, Definitions, Rows, of_row
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    Call,
    Constant,
    For,
    Increment,
    Invoke,
    Kronecker,
    Raise,
    Ref,
    Scalar,
)
from recipe_compiler.program.lower_inverse import (
    Structure,
    block_of,
    factorised,
    halved,
    inverted,
    is_upper_triangle,
    log_determinant,
    structure,
)
from recipe_compiler.program.program import STAGE
from recipe_compiler.tensor.atoms import ONE, Factor, moved, slots
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    Pi,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

ZERO = Constant(Fraction(0))
Factors = tuple[Factor, ...]
Scope = tuple[Index, ...]
"""The indices of the loops that an expression stands in."""
Variables = dict[Index, str]
"""Their loop variables."""


def scalar(defined: Definitions, tensor: Tensor, scope: Scope, variables: Variables) -> Scalar:
    """Return a tensor as a scalar expression inside loops over `scope`; `variables` names the loop variables.

    The intermediates that it needs are added to the definitions.
    """
    return plus(
        tuple(
            _product(defined, one.coefficient, eliminate(defined, one, scope), scope, variables) for one in tensor.terms
        )
    )


def scalars_at(defined: Definitions, tensors: Iterable[Tensor], loops: Loops) -> tuple[Scalar, ...]:
    """Return tensors as scalar expressions at the variables of loops, in their order."""
    return tuple(at_loops(defined, tensor, loops) for tensor in tensors)


def at_loops(defined: Definitions, tensor: Tensor, loops: Loops) -> Scalar:
    """Return a tensor as a scalar expression at the variables of loops."""
    return scalar(defined, tensor, tuple(index for index, _ in loops), dict(loops))


def filled(defined: Definitions, name: str, tensor: Tensor, loops: Loops) -> Body:
    """Return the loops that write a tensor into an array, entry by entry."""
    return nested(loops, (Assign(Ref(name, entry_at(loops)), at_loops(defined, tensor, loops)),))


def eliminate(defined: Definitions, term: Term, scope: Scope) -> Factors:
    """Return the factors of `term` with every index outside `scope` summed into intermediates.

    Of A_ij x_j y_k z_k with i in scope, j and k are eliminated each by itself: A_x[i] and the number y_z remain.
    """
    atoms = tuple(_named(defined, atom) for atom, _ in term.factors)
    factors: Factors = tuple((atom, exponent) for atom, (_, exponent) in zip(atoms, term.factors, strict=True))
    while bound := [index for index in _all_indices(factors) if index not in scope]:
        chosen = min(bound, key=lambda index: (_rank(factors, index), bound.index(index)))
        group = tuple(sorted((f for f in factors if chosen in indices(f[0])), key=lambda f: -len(slots(f[0]))))
        rest = tuple(factor for factor in factors if chosen not in indices(factor[0]))
        summed = _share(defined, group, chosen)
        factors = (*rest, (summed, ONE))
    return factors


def factor(defined: Definitions, power: Factor, scope: Scope, variables: Variables) -> Scalar:
    """Return a power of an atom (an entry of a vector or matrix, a number, a function) as a scalar expression."""
    atom, exponent = power
    value = _value(defined, atom, scope, variables)
    return value if exponent == 1 else Raise(value, exponent)


def product_of(defined: Definitions, factors: Factors, scope: Scope, variables: Variables) -> tuple[Scalar, ...]:
    """Return factors as scalar expressions, one by one."""
    return tuple(factor(defined, power, scope, variables) for power in factors)


def _product(
    defined: Definitions, coefficient: Fraction, factors: Factors, scope: Scope, variables: Variables
) -> Scalar:
    return times(coefficient, product_of(defined, factors, scope, variables))


def _named(defined: Definitions, atom: Atom) -> Atom:
    """Put the name of a function of a matrix in its place: `inv(M)_ij` becomes a component of `inv_M`."""
    if not isinstance(atom, MatrixFunction) or not atom.at:
        return atom
    grid, at = atom.of, atom.at
    if atom.fn == "inv" and is_upper_triangle(defined, grid):
        grid, at = Grid(grid.col, grid.row, grid.entry), at[::-1]
    name = defined.name_of((atom.fn, grid))
    if name is None:
        name = _MATRICES[atom.fn](defined, grid)
        defined.meaning((atom.fn, grid), name)
    return Component(name, at)


def _invert(defined: Definitions, grid: Grid) -> str:
    constant = defined.is_constant_tensor(grid.entry)
    of = None if constant else structure(defined, grid)
    if not constant and of is None:
        raise unsupported("the inverse of a matrix that depends on the state", "declare the inverse as a function")
    name = defined.naming(f"inv_{matrix_name(grid) or block_of(grid) or 'matrix'}")
    source = _stored(defined, grid)
    if source in defined.symmetric | defined.definite or of is Structure.DEFINITE:
        defined.symmetric |= {name}
    if of is not None:
        inverted(defined, name, source, grid.row.size, of)
        return name
    sizes = (grid.row.size, grid.col.size)
    body = (Invoke("np.linalg.inv", (source,), (Ref(name),)),)
    defined.having(Array(name, sizes), body, constant=True)
    return name


def _factorise(defined: Definitions, grid: Grid) -> str:
    constant = defined.is_constant_tensor(grid.entry)
    return factorised(defined, _stored(defined, grid), grid.row.size, constant=constant)


_MATRICES: Mapping[str, Callable[[Definitions, Grid], str]] = {
    "inv": _invert, "cholesky": _factorise, "halved": lambda defined, grid: halved(defined, grid.row.size),
}  # fmt: skip
"""The functions that define the array of a matrix function."""


def _stored(defined: Definitions, grid: Grid) -> str:
    """Return the array that a matrix is, or is computed into."""
    name = matrix_name(grid) or block_of(grid) or defined.name_of((_stored, grid))
    if name:
        return name
    match grid.entry.terms:
        case (Term(coefficient, ((MatrixFunction(_, _, at) as atom, power),)),) if coefficient == power == 1:
            named = _named(defined, atom)
            if at == (grid.row, grid.col) and isinstance(named, Component):
                return named.name
        case _:
            pass
    name = defined.naming("matrix")
    loops = defined.over((grid.row, grid.col))
    body = filled(defined, name, grid.entry, loops)
    array = Array(name, (grid.row.size, grid.col.size))
    defined.having(array, body, constant=defined.is_constant_tensor(grid.entry), meant=(_stored, grid))
    return name


def _share(defined: Definitions, group: Factors, bound: Index) -> Component:
    """Return the component of the intermediate that sums `group` over `bound`, a new one or one known."""
    group = tuple((_oriented(defined, atom, bound), exponent) for atom, exponent in group)
    everything = tuple(index for index in _all_indices(group) if index != bound)
    over = tuple(index for index in everything if not of_row(index))
    places: dict[Index, Slot] = {index: Index(index.size, f"%{k}") for k, index in enumerate(over)}
    places[bound] = Index(bound.size, "%")
    meant = tuple(sorted(repr((moved(atom, places), exponent)) for atom, exponent in group))
    name = defined.name_of(meant)
    if name is None:
        name = defined.naming(_called(group))
        _define(defined, name, group, bound, everything)
        defined.meaning(meant, name)
    row = (defined.rows.index,) if defined.rows and len(over) < len(everything) else ()
    return Component(name, (*row, *over))


def _define(defined: Definitions, name: str, group: Factors, bound: Index, everything: tuple[Index, ...]) -> None:
    over = tuple(index for index in everything if not of_row(index))
    constant = all(defined.is_constant(atom) for atom, _ in group)
    variables = defined.variables((*over, bound, *(index for index in everything if of_row(index))))
    datum = defined.rows if len(over) < len(everything) else None
    target = Ref(name, (*((datum.position,) if datum else ()), *(variables[index] for index in over)))
    inner = next((index for index in reversed(over) if _is_by_rows(defined, group, index, bound)), None)
    if inner is None or datum or constant or not defined.solves:
        value = _product(defined, ONE, group, (*everything, bound), variables)
        # summed in a scalar: an element of an array could be aliased, and would be stored at every iteration
        total = Ref("total") if target.at else target
        summing = (Assign(total, ZERO), For(variables[bound], bound.size, (Increment(total, value),)))
        store = (Assign(target, total),) if target.at else ()
        body = nested(tuple((index, variables[index]) for index in over), (*summing, *store))
    else:
        body = _add_rows(defined, target, group, (bound, inner), variables)
    sizes = (*((datum.count,) if datum else ()), *(index.size for index in over))
    body = (datum.loop(body),) if datum else body
    defined.having(Array(name, sizes), body, constant=constant, of_datum=datum is not None)


def _is_by_rows(defined: Definitions, group: Factors, index: Index, bound: Index) -> bool:
    """Whether all factors with an index are entries of rows that it runs along, of any length, one for each `bound`."""
    own = [_transposed(defined, atom, (bound, index)) for atom, _ in group if index in indices(atom)]
    along = all(isinstance(atom, Component) and atom.at == (bound, index) for atom in own)
    return along and isinstance(index.size, str)


def _transposed(defined: Definitions, atom: Atom, at: tuple[Index, Index]) -> Atom:
    """Return the entry of a symmetric matrix with its slots in the order of `at`."""
    turns = isinstance(atom, Component) and atom.name in defined.symmetric and atom.at == at[::-1]
    return replace(atom, at=at) if turns and isinstance(atom, Component) else atom


def _add_rows(defined: Definitions, target: Ref, group: Factors, at: tuple[Index, Index], variables: Variables) -> Body:
    """Return loops that add up multiples of rows: the innermost runs along them, so that it vectorises.

    sum_k A_ki w_k B_kj is, for every i and k, A_ki w_k times the row B_k. Each entry is summed in the order of k.
    """
    bound, inner = at
    group = tuple((_transposed(defined, atom, at), exponent) for atom, exponent in group)
    rows = tuple(factor for factor in group if inner in indices(factor[0]))
    others = tuple(factor for factor in group if factor not in rows)
    scope = tuple(index for index in variables if not of_row(index))
    outer = tuple((index, variables[index]) for index in scope if index not in at)
    along, total = ((inner, variables[inner]),), Ref("total")
    times_row = times(ONE, (total, *product_of(defined, rows, scope, variables)))
    added = (
        Assign(total, _product(defined, ONE, others, scope, variables)),
        *nested(along, (Increment(target, times_row),)),
    )
    return nested(outer, (*nested(along, (Assign(target, ZERO),)), For(variables[bound], bound.size, added)))


def _before(defined: Definitions, atom: Applied, rows: Rows) -> Ref:
    """Return where a function of one datum, or of the state alone, is kept, computed before the rows are summed.

    That of a datum is an array with a loop of its own, which vectorises; that of the state is a number.
    """
    scope = indices(atom)
    at = (rows.position,) if scope else ()
    name = defined.name_of(atom)
    if name is None:
        value = _call(defined, atom, scope, defined.variables(scope))
        of = "of_datum" if scope else "of_constants" if defined.is_constant(atom) else "of_state"
        inner = value.args[0].name if isinstance(value.args[0], Ref) else of
        name = defined.naming(f"{_head(atom.fn)}_{inner}")
        assign = Assign(Ref(name, at), value)
        array = Array(name, (rows.count,) if scope else ())
        body = (rows.loop((assign,)) if scope else assign,)
        defined.having(array, body, of_datum=bool(scope), meant=atom)
    return Ref(name, at)


def _ahead(defined: Definitions, atom: Applied, variables: Variables, words: str, *, constant: bool) -> Ref:
    """Return where a function, or its entry, is kept: of constants before the chain, of the state before its loop."""
    own = indices(atom)
    meant = moved(atom, {index: Index(index.size, f"%{k}") for k, index in enumerate(own)})
    at = tuple(variables[index] for index in own)
    name = defined.name_of(meant)
    if name is None:
        value = _call(defined, atom, own, variables)
        name = defined.naming(f"{_head(atom.fn)}_{words}")
        body = nested(tuple(zip(own, at, strict=True)), (Assign(Ref(name, at), value),))
        array = Array(name, tuple(index.size for index in own))
        defined.having(array, body, constant=constant, meant=meant)
    return Ref(name, at)


def _at_stage(defined: Definitions, atom: Applied, scope: Scope, variables: Variables) -> Ref:
    """Return where a function of numbers at a stage of a step is kept: one number, for all that pass on there."""
    name = defined.name_of(atom)
    if name is None:
        value = _call(defined, atom, scope, variables)
        name = defined.naming(f"{_head(atom.fn)}_of_stage")
        defined.having(Array(name), (Assign(Ref(name), value),), meant=atom)
    return Ref(name)


def _call(defined: Definitions, atom: Applied, scope: Scope, variables: Variables) -> Call:
    return Call(atom.fn, tuple(scalar(defined, arg, scope, variables) for arg in atom.args))


def _oriented(defined: Definitions, atom: Atom, bound: Index) -> Atom:
    """Sum a symmetric matrix over its last slot: its rows then are read in the order they are stored."""
    if isinstance(atom, Component) and atom.name in defined.symmetric and len(atom.at) == 2 and atom.at[0] == bound:
        return replace(atom, at=(atom.at[1], atom.at[0]))
    return atom


def _value(defined: Definitions, atom: Atom, scope: Scope, variables: Variables) -> Scalar:
    match atom:
        case Applied() if defined.rows and all(of_row(index) for index in indices(atom)):
            return _before(defined, atom, defined.rows)
        case Applied() if defined.is_constant(atom) and (defined.ahead or not indices(atom)):
            return _ahead(defined, atom, variables, "of_constants", constant=True)
        case Applied() if len(scope) >= max(2 if defined.solves else 3, len(indices(atom)) + 1) and not any(
            map(of_row, indices(atom))
        ):
            return _ahead(defined, atom, variables, "of_state", constant=defined.is_constant(atom))
        case Applied() if defined.ahead and scope and not indices(atom):
            return _ahead(defined, atom, variables, "of_state", constant=False)
        case Applied() if any(index.label == STAGE for index in indices(atom)) and all(map(of_row, indices(atom))):
            return _at_stage(defined, atom, scope, variables)
        case Applied():
            return _call(defined, atom, scope, variables)
        case Base(arg):
            return scalar(defined, arg, scope, variables)
        case MatrixFunction(_, _, (_, _)):
            return _value(defined, _named(defined, atom), scope, variables)
        case MatrixFunction("logdet", of) if (
            not defined.is_constant(atom) and structure(defined, of) is Structure.DEFINITE
        ):
            return log_determinant(defined, _stored(defined, of), of.row.size)
        case _:
            return _leaf(defined, atom, variables)


def _leaf(defined: Definitions, atom: Atom, variables: Variables) -> Scalar:
    """Return an atom without arguments: an element of an array, a number, or a comparison of two places."""
    at = tuple(variables[slot] if isinstance(slot, Index) else slot for slot in slots(atom))
    match atom:
        case Coordinate(block, _):
            return Ref(block, at or (0,))
        case Component(name, _, ()):
            if name in defined.singletons:
                return Ref(name, (0,))
            # what was computed for the rows of a minibatch stands at their positions in it
            own = defined.rows if any(name == d.array.name and d.of_datum for d in defined.changing) else None
            return Ref(name, tuple(own.position if own and place == ROW else place for place in at))
        case SizeNumber(name):
            return Ref(name)
        case Pi():
            return Ref("math.pi")
        case Delta():
            return Kronecker(at[0], at[1])
        case Component(name, _, by):
            order = len(by)
            hint = "bind the function to a formula; a target without data binds its potential"
            raise unsupported(f"derivative {order} of {name}", hint)
        case _:
            raise unsupported("a determinant in the drift", "state the dynamics without det or logdet")


def _rank(factors: Factors, index: Index) -> int:
    """Return how many indices would stay if `index` were summed away (a row of the data is fixed, so it is none)."""
    others = {other for atom, _ in factors for other in indices(atom) if index in indices(atom)} - {index}
    return len([other for other in others if not of_row(other)])


def _all_indices(factors: Factors) -> tuple[Index, ...]:
    return tuple(dict.fromkeys(index for atom, _ in factors for index in indices(atom)))


def _called(group: Factors) -> str:
    """Return what the sum of a product is called: `x_theta`, `r_r` for one of squares, `sum_r` for one of single r."""
    first, *more = dict.fromkeys(_word(atom) for atom, _ in group)
    squares = len(group) == 2 or group[0][1] == 2
    return "_".join((first, *(more or [first]))) if more or squares else f"sum_{first}"


def _head(fn: str) -> str:
    """Return a function's name without the comparison that a `where <` has."""
    return fn.partition(" ")[0]


def _word(atom: Atom) -> str:
    match atom:
        case Coordinate(name, _) | Component(name, _, _):
            return name
        case Applied(fn, _):
            return _head(fn)
        case MatrixFunction(fn, of):
            return f"{fn}_{matrix_name(of) or 'matrix'}"
        case Base(Tensor(_, terms)):
            return "difference" if any(term.coefficient < 0 for term in terms) else "total"
        case _:
            return "of_terms"
