"""Pass: sums over products become named intermediates, so that no loop nest is deeper than it must be.

`sum_jk C_ij inv(M)_jk r_k` is `w_j = sum_k inv(M)_jk r_k`, then `sum_j C_ij w_j`: indices are eliminated one by one,
first those that leave the fewest indices. Alike intermediates are shared; constant ones are computed before the chain.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.atoms import indices, matrix_name
from recipe_compiler.program.combine import Loops, free_name, nested, plus, times, unsupported
from recipe_compiler.program.definition import DATUM, LETTERS, ROW, Definition, Rows
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Call,
    Constant,
    For,
    Increment,
    Invert,
    Kronecker,
    Raise,
    Ref,
    Scalar,
)
from recipe_compiler.tensor.atoms import moved, slots
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Determinant,
    Grid,
    Index,
    Inverse,
    Pi,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

Factors = tuple[tuple[Atom, Fraction], ...]


@dataclass(slots=True)
class Contraction:
    """The definitions found so far while tensors are lowered to scalar expressions, in the order they need."""

    constants: frozenset[str]
    """Names whose components stay the same along the chain."""
    symmetric: frozenset[str]
    """Names of symmetric matrices."""
    taken: set[str]
    """Names in use; loop variables and new names stay clear of them."""
    fixed: list[Definition] = field(default_factory=list)
    """What stays the same along the chain, for `prepare`."""
    changing: list[Definition] = field(default_factory=list)
    """What is computed at every step, in the procedure being lowered."""
    singletons: frozenset[str] = frozenset()
    """Names of arrays of length one that stand for a number: the gradient by a scalar block."""
    rows: Rows | None = None
    """The rows a gradient reads, while one is lowered."""
    _known: dict[object, str] = field(default_factory=dict)

    def define(self, definition: Definition) -> None:
        """Add a definition; what it needs was added before."""
        (self.fixed if definition.constant else self.changing).append(definition)

    def take_changing(self) -> tuple[Definition, ...]:
        """Return what the procedure just lowered computes for itself, and forget it: the next one cannot see it."""
        taken = tuple(self.changing)
        names = {definition.array.name for definition in taken}
        self._known = {key: name for key, name in self._known.items() if name not in names}
        self.changing.clear()
        return taken

    def variables(self, indices_: tuple[Index, ...]) -> dict[Index, str]:
        """Return loop variables for nested indices; the row of the data is always `DATUM`'s."""
        letters = [letter for letter in LETTERS if letter not in self.taken]
        nested = [index for index in indices_ if index.label != DATUM]
        names = dict(zip(nested, letters, strict=False))
        return names | {index: ROW for index in indices_ if index.label == DATUM}

    def loops(self, sizes: tuple[Size, ...]) -> Loops:
        """Return the loop over the entries of a block: its free index `i`, or none for a scalar."""
        own = tuple(Index(size, label) for size, label in zip(sizes, ("i", "j"), strict=False))
        variables = self.variables(own)
        return tuple((index, variables[index]) for index in own)

    def eliminate(self, term: Term, scope: tuple[Index, ...]) -> Factors:
        """Return the factors of `term` with every index outside `scope` summed away into intermediates."""
        factors = tuple((self._named(atom), exponent) for atom, exponent in term.factors)
        while bound := [index for index in _all_indices(factors) if index not in scope]:
            chosen = min(bound, key=lambda index: (_rank(factors, index), bound.index(index)))
            group = tuple(sorted((f for f in factors if chosen in indices(f[0])), key=lambda f: -len(slots(f[0]))))
            rest = tuple(factor for factor in factors if chosen not in indices(factor[0]))
            factors = (*rest, (self._share(group, chosen), Fraction(1)))
        return factors

    def _named(self, atom: Atom) -> Atom:
        """Put the name of an inverse in its place: `inv(M)_ij` becomes a component of `inv_M`."""
        if not isinstance(atom, Inverse):
            return atom
        name = self._known.get(atom.of)
        if name is None:
            name = self._invert(atom.of)
            self._known[atom.of] = name
        return Component(name, atom.at)

    def _invert(self, grid: Grid) -> str:
        if not self.is_constant_tensor(grid.entry):
            raise unsupported("the inverse of a matrix that depends on the state", "declare the inverse as a function")
        source = matrix_name(grid)
        name = self.name(f"inv_{source or 'matrix'}")
        self.constants |= {name}
        if source in self.symmetric:
            self.symmetric |= {name}
        sizes = (grid.row.size, grid.col.size)
        if source is None:
            source = self.name("matrix")
            nest = self.variables((grid.row, grid.col))
            entry = self.scalar(grid.entry, (grid.row, grid.col), nest)
            body = nested(
                ((grid.row, nest[grid.row]), (grid.col, nest[grid.col])),
                (Assign(Ref(source, (nest[grid.row], nest[grid.col])), entry),),
            )
            self.define(Definition(Array(source, sizes), body, constant=True, of_datum=False))
        self.define(Definition(Array(name, sizes), (Invert(name, source),), constant=True, of_datum=False))
        return name

    def _share(self, group: Factors, bound: Index) -> Component:
        """Return the component of the intermediate that sums `group` over `bound`, a new one or one known."""
        group = tuple((self._oriented(atom, bound), exponent) for atom, exponent in group)
        everything = tuple(index for index in _all_indices(group) if index != bound)
        over = tuple(index for index in everything if index.label != DATUM)
        places: dict[Index, Slot] = {index: Index(index.size, f"%{k}") for k, index in enumerate(over)}
        places[bound] = Index(bound.size, "%")
        key = tuple(sorted(repr((moved(atom, places), exponent)) for atom, exponent in group))
        name = self._known.get(key)
        if name is None:
            name = self.name(_called(group))
            self._define(name, group, bound, everything)
            self._known[key] = name
        return Component(name, (*(index for index in everything if index.label == DATUM), *over))

    def _define(self, name: str, group: Factors, bound: Index, everything: tuple[Index, ...]) -> None:
        over = tuple(index for index in everything if index.label != DATUM)
        constant = all(self.is_constant(atom) for atom, _ in group)
        variables = self.variables((*over, bound, *(index for index in everything if index.label == DATUM)))
        scope = (*everything, bound)
        datum = self.rows if len(over) < len(everything) else None
        target = Ref(name, (*((datum.position,) if datum else ()), *(variables[index] for index in over)))
        value = self._product(Fraction(1), group, scope, variables)
        # summed in a scalar: an element of an array could be aliased, and would be stored at every turn
        total = Ref("total") if target.at else target
        summing = (Assign(total, Constant(Fraction(0))), For(variables[bound], bound.size, (Increment(total, value),)))
        store = (Assign(target, total),) if target.at else ()
        body = nested(tuple((index, variables[index]) for index in over), (*summing, *store))
        if constant:
            self.constants |= {name}
        sizes = (*((datum.count,) if datum else ()), *(index.size for index in over))
        body = (datum.loop(body),) if datum else body
        self.define(Definition(Array(name, sizes), body, constant, of_datum=datum is not None))

    def _before(self, atom: Applied, rows: Rows) -> Ref:
        """Return where a function of one datum, or of the state alone, is kept, computed before the rows are summed.

        That of a datum is an array with a loop of its own, which vectorises; that of the state is a number.
        """
        scope = indices(atom)
        at = (rows.position,) if scope else ()
        name = self._known.get(atom)
        if name is None:
            value = Call(atom.fn, tuple(self.scalar(arg, scope, dict.fromkeys(scope, ROW)) for arg in atom.args))
            inner = value.args[0].name if isinstance(value.args[0], Ref) else "of_datum" if scope else "of_state"
            name = self.name(f"{atom.fn}_{inner}")
            assign = Assign(Ref(name, at), value)
            array = Array(name, (rows.count,) if scope else ())
            body = (rows.loop((assign,)) if scope else assign,)
            self.define(Definition(array, body, constant=False, of_datum=bool(scope)))
            self._known[atom] = name
        return Ref(name, at)

    def _oriented(self, atom: Atom, bound: Index) -> Atom:
        """Sum a symmetric matrix over its last slot: its rows then are read in the order they are stored."""
        if isinstance(atom, Component) and atom.name in self.symmetric and len(atom.at) == 2 and atom.at[0] == bound:
            return replace(atom, at=(atom.at[1], atom.at[0]))
        return atom

    def is_constant(self, atom: Atom) -> bool:
        """Whether an atom stays the same along the chain."""
        match atom:
            case Component(name, _, by):
                return name in self.constants and not by
            case Coordinate():
                return False
            case Applied(_, args):
                return all(self.is_constant_tensor(arg) for arg in args)
            case Base(arg):
                return self.is_constant_tensor(arg)
            case Inverse(of, _) | Determinant(of, _):
                return self.is_constant_tensor(of.entry)
            case SizeNumber() | Pi() | Delta():
                return True

    def is_constant_tensor(self, tensor: Tensor) -> bool:
        """Whether a tensor stays the same along the chain."""
        return all(self.is_constant(atom) for term in tensor.terms for atom, _ in term.factors)

    def name(self, wanted: str) -> str:
        """Return `wanted`, or with the first free number behind it, and take it."""
        return free_name(wanted, self.taken)

    def scalar(self, tensor: Tensor, scope: tuple[Index, ...], variables: dict[Index, str]) -> Scalar:
        """Return a tensor as a scalar expression inside loops over `scope`; `variables` names the loop variables."""
        terms = tuple(
            self._product(term.coefficient, self.eliminate(term, scope), scope, variables) for term in tensor.terms
        )
        return plus(terms)

    def _product(
        self, coefficient: Fraction, factors: Factors, scope: tuple[Index, ...], variables: dict[Index, str]
    ) -> Scalar:
        parts = tuple(self.factor(atom, exponent, scope, variables) for atom, exponent in factors)
        return times(coefficient, parts)

    def factor(self, atom: Atom, exponent: Fraction, scope: tuple[Index, ...], variables: dict[Index, str]) -> Scalar:
        """Return a power of an atom as a scalar expression."""
        value = self._value(atom, scope, variables)
        return value if exponent == 1 else Raise(value, exponent)

    def _value(self, atom: Atom, scope: tuple[Index, ...], variables: dict[Index, str]) -> Scalar:
        at = tuple(
            variables[slot] if isinstance(slot, Index) else slot
            for slot in slots(atom)
            if not isinstance(atom, Applied | Base)
        )
        match atom:
            case Coordinate(block, _):
                return Ref(block, at or (0,))
            case Component(name, _, ()):
                if name in self.singletons:
                    return Ref(name, (0,))
                # what was computed for the rows of a minibatch stands at their positions in it
                own = self.rows if any(name == d.array.name and d.of_datum for d in self.changing) else None
                return Ref(name, tuple(own.position if own and place == ROW else place for place in at))
            case SizeNumber(name):
                return Ref(name)
            case Pi():
                return Ref("math.pi")
            case Delta():
                return Kronecker(at[0], at[1])
            case Applied() if self.rows and {index.label for index in indices(atom)} <= {DATUM}:
                return self._before(atom, self.rows)
            case Applied(fn, args):
                return Call(fn, tuple(self.scalar(arg, scope, variables) for arg in args))
            case Base(arg):
                return self.scalar(arg, scope, variables)
            case Component(name, _, by):
                order = len(by)
                raise unsupported(f"derivative {order} of {name}", "bind the function to a formula in the build")
            case Inverse():
                return self._value(self._named(atom), scope, variables)
            case Determinant():
                raise unsupported("a determinant in the drift", "state the dynamics without det or logdet")


def _rank(factors: Factors, index: Index) -> int:
    """Return how many indices would stay if `index` were summed away (a row of the data is fixed, so it is none)."""
    others = {other for atom, _ in factors for other in indices(atom) if index in indices(atom)} - {index}
    return len([other for other in others if other.label != DATUM])


def _all_indices(factors: Factors) -> tuple[Index, ...]:
    return tuple(dict.fromkeys(index for atom, _ in factors for index in indices(atom)))


def _called(group: Factors) -> str:
    """Return what the sum of a product is called: `x_theta`, `r_r` for one of squares, `sum_r` for one of single r."""
    first, *more = dict.fromkeys(_word(atom) for atom, _ in group)
    squares = len(group) == 2 or group[0][1] == 2
    return "_".join((first, *(more or [first]))) if more or squares else f"sum_{first}"


def _word(atom: Atom) -> str:
    match atom:
        case Coordinate(name, _) | Component(name, _, _):
            return name
        case Applied(fn, _):
            return fn
        case Inverse(of, _):
            return f"inv_{matrix_name(of) or 'matrix'}"
        case Base(Tensor(_, terms)):
            return "difference" if any(term.coefficient < 0 for term in terms) else "total"
        case _:
            return "of_terms"
