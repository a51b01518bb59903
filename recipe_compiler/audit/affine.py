"""A step as an affine map and a Gaussian, z' = F z + a + N(0, Sigma): read off its values, one after the other.

The values are those of a step as it was read back from emitted text, or as its Program states them
(`readback/mean.py`); the gradient is that of a quadratic U, grad U = K theta - b. Nothing here depends on the scheme.

Worked example: SGLD on U = theta**2/2, theta' = theta - eps theta + N(0, 2 eps), is F = 1 - eps, a = 0, Sigma = 2 eps.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan, prod

import numpy as np
import sympy as sp
from scipy.linalg import block_diag

from recipe_compiler.emit.support.propagator import _propagator
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.program import Evaluate, Shift
from recipe_compiler.readback.mean import ReadStep
from recipe_compiler.readback.names import EPS, Names
from recipe_compiler.readback.propagators import matrix, symbols_of
from recipe_compiler.tensor.scalars import Scalar

Value = Callable[[Scalar], float]
Polynomial = tuple[tuple[tuple[sp.Symbol, ...], Scalar], ...]
"""Products of at most two symbols, each with its factor."""
ZERO = sp.Integer(0)


class NotAffineError(Exception):
    """A step, or a gradient, is not affine in the state; the message names the entry and what it depends on."""


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """z' = F z + a + N(0, Sigma), z being the vector of all n coordinates of the state, block after block."""

    F: Array
    """n x n."""
    a: Array
    """n."""
    Sigma: Array
    """n x n."""


@dataclass(frozen=True, slots=True, eq=False)
class AffineForm:
    """One affine function sum_k factor_k x_k + constant of symbols x_k."""

    factors: tuple[tuple[sp.Symbol, Scalar], ...]
    constant: Scalar

    def renamed(self, names: Mapping[sp.Symbol, sp.Symbol]) -> "AffineForm":
        """Return the same function of other symbols."""
        return AffineForm(tuple((names[x], factor) for x, factor in self.factors), self.constant)


def lines_of(
    entries: Sequence[Scalar], says: Sequence[str], symbols: Sequence[sp.Symbol], known: Mapping[Scalar, Scalar]
) -> tuple[AffineForm, ...]:
    """Return entries as affine functions of `symbols`, all other symbols replaced by their values in `known`.

    An entry e is affine in x if de/dx is free of all symbols; then e = sum_k (de/dx_k) x_k + e(0).

    Raises:
        NotAffineError: an entry is not; `says` names it.
    """
    order = {symbol: k for k, symbol in enumerate(symbols)}
    return tuple(_read_affine(entry, name, order, known) for entry, name in zip(entries, says, strict=True))


def _read_affine(
    entry: Scalar, says: str, order: Mapping[sp.Symbol, int], known: Mapping[Scalar, Scalar]
) -> AffineForm:
    """Return one entry as an affine function. Raises NotAffineError where a coefficient depends on the state."""
    own = sorted(order.keys() & entry.free_symbols, key=order.__getitem__)
    factors: list[tuple[sp.Symbol, Scalar]] = []
    for symbol in own:
        factor = sp.diff(entry, symbol)
        factor = factor if factor.free_symbols.isdisjoint(own) else sp.expand(factor)
        if others := _list_dependences(factor, own):
            raise NotAffineError(f"{says} is not affine: its coefficient of {symbol.name} depends on {others}")
        factors.append((symbol, factor.xreplace(known)))
    nothing: Mapping[Scalar, Scalar] = dict.fromkeys(own, ZERO)
    return AffineForm(tuple(factors), entry.xreplace(nothing).xreplace(known))


Flow = tuple[tuple[Array, ...], Array, Array, float]
"""A linear flow dz = -F z dt + sqrt(2D) dW: what stands for its three matrices, then F, 2D and its share of eps."""


@dataclass(frozen=True, slots=True, eq=False)
class AffineStep:
    """A step as affine functions of the state, to be composed for any step size.

    One after the other: x = (row of values before) + constant + noise. Composition gives z' = F z + a + G w with w ~
    N(0, C), so that Sigma = G C G^T; F, Sigma: [n, n], G: [n, m] for m noisy values.
    """

    names: Names
    state: tuple[sp.Symbol, ...]
    """z."""
    made: tuple[Mapping[sp.Symbol, AffineForm], ...]
    """What the step computes, in order: values made together, which may occur in each other, and gradients."""
    after: tuple[sp.Symbol, ...]
    """Those that are z'."""
    noisy: tuple[sp.Symbol, ...]
    """Those that noise is added to."""
    covariance: tuple[tuple[Scalar, ...], ...]
    """The covariance of that noise, given what stands before: constants."""
    gradient: tuple[AffineForm, ...]
    """grad U = K theta - b, entry by entry."""
    flows: tuple[Flow, ...] = ()
    """Those whose matrices coefficients are made of."""
    held: tuple[str, ...] = ()
    """Blocks that stand where they are, and are no part of z: coefficients may depend on them."""
    changes: tuple[Polynomial, ...] = ()
    """What the step would add to them: at most quadratic in the values it makes."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of z."""
        return tuple(block for block in self.names.program.blocks if block.name not in self.held)

    def composed(self, value: Value) -> Affine:
        """Return F (n x n), a (n) and Sigma (n x n), `value` giving each coefficient."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows, n = self._compose_rows(value), len(self.state)
            left = np.array([rows[x] for x in self.after])
            G = left[:, n + 1 :]
            return Affine(left[:, :n], left[:, n], G @ self._noise_covariance(value) @ G.T)

    def mean_change(self, S: Array, value: Value) -> float:
        """Return the mean change of what is held, in floats, over the stationary law N(m, S) of the others.

        m solves m = F m + a. The change is a polynomial of degree 2 at most in values x = g . (z, w) + constant, so
        that E[x y] = E[x] E[y] + g_x diag(S, C) g_y^T.
        """
        rows, chain = self._compose_rows(value), self.composed(value)
        mean = np.linalg.solve(np.eye(len(chain.F)) - chain.F, chain.a)
        n = len(mean)
        law = block_diag(S, self._noise_covariance(value))

        def moment(term: tuple[sp.Symbol, ...]) -> float:
            found = [(rows[x][:n] @ mean + rows[x][n], np.delete(rows[x], n)) for x in term]
            spread = found[0][1] @ law @ found[1][1] if len(found) == 2 else 0.0
            return float(prod(m for m, _ in found) + spread)

        return sum(value(factor) * moment(term) for change in self.changes for term, factor in change)

    def _noise_covariance(self, value: Value) -> Array:
        """Return the covariance of the step's noise, with numbers as coefficients."""
        found = [value(entry) for line in self.covariance for entry in line]
        return np.array(found, float).reshape(len(self.noisy), len(self.noisy))

    def _compose_rows(self, value: Value) -> dict[sp.Symbol, Array]:
        """Return every value as a row over z, 1 and the noises, computed in order."""
        n = len(self.state)
        unit = np.eye(n + 1 + len(self.noisy))
        noise = dict(zip(self.noisy, unit[n + 1 :], strict=True))
        rows = dict(zip(self.state, unit, strict=False))
        for group in self.made:
            own = {x: k for k, x in enumerate(group)}
            within = np.zeros((len(own), len(own)))
            known = np.zeros((len(own), len(unit)))
            for x, line in group.items():
                known[own[x]] = value(line.constant) * unit[n] + noise.get(x, 0.0)
                for y, factor in line.factors:
                    if y in own:
                        within[own[x], own[y]] = value(factor)
                    else:
                        known[own[x]] += value(factor) * rows[y]
            found = np.linalg.solve(np.eye(len(own)) - within, known) if within.any() else known
            rows.update(zip(own, found, strict=True))
        return rows

    def at(self, eps: float) -> Affine:
        """Return F, a and Sigma at a step size, in double precision: every coefficient is rounded once."""
        return self.composed(self.rounded(eps))

    def rounded(self, eps: float, held: float = nan) -> Value:
        """Return the map from coefficients to floats at a step size, blocks that are held having the value `held`."""
        program = self.names.program
        stands = [x for block in program.blocks if block.name in self.held for x in self.names.block(block)]
        here: dict[Scalar, Scalar] = {EPS: sp.Rational(eps)} | propagated(self.flows, eps)
        here |= dict.fromkeys(stands, sp.Float(held))
        known: dict[Scalar, float] = {}

        def value(entry: Scalar) -> float:
            if entry not in known:
                known[entry] = float(here[entry] if entry in here else sp.N(entry.xreplace(here)))
            return known[entry]

        return value


def flows_of(names: Names) -> tuple[Flow, ...]:
    """Return the linear flows of a program, with numbers in their matrices F and 2D."""
    found: list[Flow] = []
    for own in names.program.propagators:
        matrices = [matrix(names, own.blocks, grid) for grid in (own.F, own.two_D)]
        written = names.inverses_written_out([entry for one in matrices for entry in one.ravel()])
        F, two_D = (np.array([[float(x.xreplace(written)) for x in row] for row in one]) for one in matrices)
        found.append((symbols_of(names, own), F, two_D, float(own.share)))
    return tuple(found)


def propagated(flows: Sequence[Flow], eps: float) -> dict[Scalar, Scalar]:
    """Return the symbols of all linear flows with their values at a step size; infinite where a flow grows so far."""
    found: dict[Scalar, Scalar] = {}
    for symbols, F, two_D, share in flows:
        try:
            values = [block for ((block,),) in _propagator([[F]], [[two_D]], share, eps)]
        except ValueError:
            values = [np.full(F.shape, np.inf)] * len(symbols)
        for own, value in zip(symbols, values, strict=True):
            found |= dict(zip(own.ravel(), map(sp.Float, value.ravel()), strict=True))
    return found


def affine_step(step: ReadStep, names: Names, gradient: Sequence[Scalar], held: tuple[str, ...] = ()) -> AffineStep:
    """Return a step that was read as affine functions of the state, of which `at` makes F and Sigma: [n, n].

    z' = F z + a + N(0, Sigma), composed from the statements in their order; grad U = K theta - b, K: [d, d].

    Args:
        step: entry by entry.
        names: the values of its names.
        gradient: grad U of all data in the coordinates of its block, entry by entry.
        held: blocks that stay where they are.

    Raises:
        NotAffineError: a value, the gradient, or a covariance that depends on the state; or the change of a held block
            that is not quadratic in it.
    """
    program = names.program
    if others := [shift for shift in program.shifts if shift.transform is not None]:
        raise NotAffineError(f"{others[0].new} is not affine in the state")
    state = tuple(symbol for block in program.blocks if block.name not in held for symbol in names.block(block))
    carried = program.gradient.name if program.gradient is not None and program.carried and step.of_gradients else ""
    state += tuple(names.gradient(carried)) if carried else ()
    every = [(shift, entry) for shift in program.shifts for entry in _name_entries(names, shift)]
    own = [k for k, (shift, _) in enumerate(every) if shift.block.name not in held]
    gradients = (symbol for name in sorted(names.program.gradients) for symbol in names.gradient(name))
    symbols = (*state, *(step.next[k] for k in own), *gradients)
    inverses = names.inverses_written_out([*step.values, *gradient, *step.covariance.values()])
    slopes = lines_of(gradient, [f"grad U[{k}]" for k in range(len(gradient))], state, inverses)
    for (row, _), entry in sorted(step.covariance.items()):
        if others := _list_dependences(entry, symbols):
            raise NotAffineError(f"the noise of {every[row][1]} depends on {others}: it has no single covariance")
    rows = {row for (row, _), entry in step.covariance.items() if entry != 0}
    noisy = [k for k in own if k in rows]
    found = {(step.next[i], step.next[j]): entry for (i, j), entry in step.covariance.items()}
    of_gradients = {new: names.gradient(new) for new in step.of_gradients}
    for new, entries in of_gradients.items():
        found |= {(entries[i], entries[j]): entry for (i, j), entry in step.of_gradients[new].items()}
    added = (*(step.next[k] for k in noisy), *(x for entries in of_gradients.values() for x in entries))
    if others := _list_dependences(sp.Add(*(x for own in step.of_gradients.values() for x in own.values())), symbols):
        raise NotAffineError(f"the noise that is added to the gradient depends on {others}")
    covariance = tuple(tuple(found.get((x, y), ZERO).xreplace(inverses) for y in added) for x in added)
    added_to_held = _held_changes(step, names, held)
    changes = tuple(_read_quadratic(change, f"what moves {held[0]}", symbols, inverses) for change in added_to_held)
    lines = lines_of([step.values[k] for k in own], [every[k][1] for k in own], symbols, inverses)
    values = {block.name: names.block(block) for block in program.blocks}
    new = iter(step.next)
    values |= {shift.new: [next(new) for _ in names.block(shift.block)] for shift in program.shifts}
    made = _list_in_order(names, values, slopes, carried, dict(zip((step.next[k] for k in own), lines, strict=True)))
    after = tuple(x for block in program.blocks if block.name not in held for x in values[program.newest(block)])
    after += tuple(names.gradient(program.passed_on[carried])) if carried else ()
    return AffineStep(
        names, state, tuple(made), after, added, covariance, slopes, flows_of(names), held, tuple(changes)
    )


def _list_in_order(
    names: Names,
    values: Mapping[str, Sequence[sp.Symbol]],
    slopes: Sequence[AffineForm],
    carried: str,
    lines: Mapping[sp.Symbol, AffineForm],
) -> Iterator[Mapping[sp.Symbol, AffineForm]]:
    """Yield the values and gradients that a step computes, in the order of its statements."""
    program = names.program
    gradient = program.gradient
    is_known = gradient is None or not program.carried or carried
    order = [Evaluate(gradient.block.name, gradient.name)] if gradient is not None and not is_known else []
    for statement in (*order, *program.statements):
        match statement:
            case Evaluate(at, new) if gradient is not None:
                there = dict(zip(names.block(gradient.block), values[at], strict=True))
                yield {x: line.renamed(there) for x, line in zip(names.gradient(new), slopes, strict=True)}
            case Shift() if own := {x: lines[x] for x in values[statement.new] if x in lines}:
                yield own
            case _:
                pass


def _held_changes(step: ReadStep, names: Names, held: tuple[str, ...]) -> Iterator[Scalar]:
    """Yield the change of the held block by each shift, at most one number each."""
    before = {block.name: names.block(block)[0] for block in names.program.blocks}
    shifts = (shift for shift in names.program.shifts for _ in names.block(shift.block))
    for shift, value, new in zip(shifts, step.values, step.next, strict=True):
        if shift.block.name in held:
            yield sp.expand(value - before[shift.block.name])
            before[shift.block.name] = new


def _read_quadratic(
    entry: Scalar, says: str, symbols: Sequence[sp.Symbol], known: Mapping[Scalar, Scalar]
) -> Polynomial:
    """Return an entry as a polynomial of degree 2, term by term."""
    own = [symbol for symbol in symbols if symbol in entry.free_symbols]
    if not own:
        return (((), entry.xreplace(known)),)
    if not entry.is_polynomial(*own) or (found := sp.Poly(entry, *own)).total_degree() > 2:
        raise NotAffineError(f"{says} is not quadratic in {_list_dependences(entry, own)}")
    return tuple(
        (tuple(x for x, power in zip(own, powers, strict=True) for _ in range(power)), factor.xreplace(known))
        for powers, factor in found.terms()
    )


def shift_symbols(names: Names) -> tuple[sp.Symbol, ...]:
    """Return the symbols of the values that a program's shifts compute."""
    return tuple(sp.Symbol(name, real=True) for shift in names.program.shifts for name in _name_entries(names, shift))


def _list_dependences(entry: Scalar, symbols: Sequence[sp.Symbol]) -> str:
    """Return the names of the symbols on which an entry depends."""
    free = entry.free_symbols
    return ", ".join(symbol.name for symbol in symbols if symbol in free) if free else ""


def _name_entries(names: Names, shift: Shift) -> list[str]:
    """Return the values that a shift computes, by name and entry."""
    count = len(names.block(shift.block))
    return [f"{shift.new}[{k}]" for k in range(count)] if shift.block.shape.sizes else [shift.new]
