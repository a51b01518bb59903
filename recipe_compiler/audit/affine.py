"""A step as an affine map and a Gaussian, z' = F z + a + N(0, Sigma): read off its values, one after the other.

The values are those of a step as it was read back from emitted text, or as its Program states them
(`readback/step.py`); the gradient is that of a quadratic U, grad U = K theta - b. Nothing is known here of schemes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from recipe_compiler.program.program import Evaluate, Shift
from recipe_compiler.readback.names import EPS, Names
from recipe_compiler.readback.propagators import matrix, symbols_of
from recipe_compiler.readback.step import Step
from recipe_compiler.tensor.scalars import Scalar

Array = NDArray[Any]
"""Of expressions, or of floats."""
Value = Callable[[Scalar], Any]
ZERO = sp.Integer(0)


class NotAffineError(Exception):
    """A step, or a gradient, that is not affine in the state; says where."""


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """z' = F z + a + N(0, Sigma), z being the n coordinates of all blocks of the state, end to end."""

    F: Array
    """n x n."""
    a: Array
    """n."""
    Sigma: Array
    """n x n."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One affine function of symbols: what each is multiplied by, and a constant."""

    factors: tuple[tuple[sp.Symbol, Scalar], ...]
    constant: Scalar


def lines_of(
    entries: Sequence[Scalar], says: Sequence[str], symbols: Sequence[sp.Symbol], known: Mapping[Scalar, Scalar]
) -> tuple[Line, ...]:
    """Return entries as affine functions of symbols; `known` is what other symbols stand for.

    Raises:
        NotAffineError: one is not; `says` which.
    """
    return tuple(_line(entry, name, symbols, known) for entry, name in zip(entries, says, strict=True))


def _line(entry: Scalar, says: str, symbols: Sequence[sp.Symbol], known: Mapping[Scalar, Scalar]) -> Line:
    own = [symbol for symbol in symbols if symbol in entry.free_symbols]
    factors: list[tuple[sp.Symbol, Scalar]] = []
    for symbol in own:
        factor = sp.diff(entry, symbol)
        factor = factor if factor.free_symbols.isdisjoint(own) else sp.expand(factor)
        if others := _names(factor, own):
            raise NotAffineError(f"{says} is not affine: what it takes of {symbol.name} depends on {others}")
        factors.append((symbol, factor.xreplace(known)))
    nothing: Mapping[Scalar, Scalar] = dict.fromkeys(own, ZERO)
    return Line(tuple(factors), entry.xreplace(nothing).xreplace(known))


@dataclass(frozen=True, slots=True, eq=False)
class AffineStep:
    """The values of a step as affine functions of those that stand before: composed for any step size."""

    names: Names
    values: tuple[Line, ...]
    """In the order in which shifts make them, entry by entry."""
    made: tuple[sp.Symbol, ...]
    """What stands for them in later ones."""
    covariance: tuple[tuple[Scalar, ...], ...]
    """Of what their noise adds, given what stands before: constants."""
    gradient: tuple[Line, ...]
    """grad U = K theta - b, entry by entry."""

    def composed(self, value: Value = lambda entry: entry, dtype: type = object) -> Affine:
        """Return F, a and Sigma, every coefficient being what `value` makes of it: itself, or a float."""
        program, names = self.names.program, self.names
        start = [symbol for block in program.blocks for symbol in names.block(block)]
        n, m = len(start), len(self.made)
        unit = np.array([[value(sp.Integer(int(i == j))) for j in range(n + 1 + m)] for i in range(n + 1 + m)], dtype)
        rows: dict[sp.Symbol, Array] = {symbol: unit[k] for k, symbol in enumerate(start)}
        newest = {block.name: names.block(block) for block in program.blocks}

        def row(line: Line, at: Mapping[sp.Symbol, Array]) -> Array:
            found = value(line.constant) * unit[n]
            for symbol, factor in line.factors:
                found = found + value(factor) * at[symbol]
            return found

        def evaluate(new: str, at: str) -> None:
            gradient = program.gradient
            if gradient is not None:
                theta = dict(zip(names.block(gradient.block), (rows[x] for x in newest[at]), strict=True))
                found = [row(line, theta) for line in self.gradient]
                rows.update(zip(names.gradient(new), found, strict=True))

        if program.gradient is not None and program.carried:
            evaluate(program.gradient.name, program.gradient.block.name)
        done = 0
        for statement in program.statements:
            match statement:
                case Evaluate(at, new):
                    evaluate(new, at)
                case Shift(block, _, new):
                    count = len(names.block(block))
                    for k in range(done, done + count):
                        rows[self.made[k]] = row(self.values[k], rows) + unit[n + 1 + k]
                    newest[new] = list(self.made[done : done + count])
                    done += count
                case _:
                    pass
        left = np.array([rows[x] for block in program.blocks for x in newest[program.newest(block)]], dtype)
        noise = np.array([[value(entry) for entry in line] for line in self.covariance], dtype)
        G = left[:, n + 1 :]
        return Affine(left[:, :n], left[:, n], G @ noise @ G.T)

    def at(self, eps: float) -> Affine:
        """Return F, a and Sigma at a step size, in double precision: every coefficient is rounded once."""
        here: dict[Scalar, Scalar] = {EPS: sp.Rational(eps)} | propagated(self.names, eps)
        known: dict[Scalar, float] = {}

        def value(entry: Scalar) -> float:
            if entry not in known:
                known[entry] = float(sp.N(entry.xreplace(here)))
            return known[entry]

        return self.composed(value, float)


def propagated(names: Names, eps: float) -> dict[Scalar, Scalar]:
    """Return the symbols of all propagators with what they are at a step size, by matrix exponentials.

    With exp(t [[-F, 2D], [0, F^T]]) = [[E, G], [0, inv(E)^T]] the covariance is G E^T (Van Loan 1978), and
    exp(t [[-F, 1], [0, 0]]) has the integral of exp(-u F) at its right.
    """
    if not names.program.propagators:
        return {}
    from scipy.linalg import expm

    found: dict[Scalar, Scalar] = {}
    for own in names.program.propagators:
        matrices = [matrix(names, own.blocks, grid) for grid in (own.F, own.two_D)]
        written = names.inverses_written_out([entry for one in matrices for entry in one.ravel()])
        F, two_D = (np.array([[float(x.xreplace(written)) for x in row] for row in one]) for one in matrices)
        t, n = eps * float(own.share), len(F)
        one, nothing = np.eye(n), np.zeros((n, n))
        E, G = np.split(expm(t * np.block([[-F, two_D], [nothing, F.T]]))[:n], 2, axis=1)
        integral = expm(t * np.block([[-F, one], [nothing, nothing]]))[:n, n:]
        values = ((E - one) / eps, integral / eps, G @ E.T / eps)
        for symbols, value in zip(symbols_of(names, own), values, strict=True):
            found |= dict(zip(symbols.ravel(), map(sp.Float, value.ravel()), strict=True))
    return found


def affine_step(step: Step, names: Names, gradient: Sequence[Scalar]) -> AffineStep:
    """Return a step that was read as affine functions of the state.

    Args:
        step: entry by entry.
        names: the values of its names.
        gradient: grad U of all data in the coordinates of its block, entry by entry.

    Raises:
        NotAffineError: a value, the gradient, or a covariance that depends on the state.
    """
    program = names.program
    if others := [shift for shift in program.shifts if shift.transform is not None]:
        raise NotAffineError(f"{others[0].new} is not affine in the state")
    made = step.next
    state = tuple(symbol for block in program.blocks for symbol in names.block(block))
    symbols = (*state, *made, *(symbol for value in sorted(names.gradients) for symbol in names.gradient(value)))
    inverses = names.inverses_written_out([*step.values, *gradient, *(x for line in step.covariance for x in line)])
    says = tuple(_entries(names))
    slopes = lines_of(gradient, [f"grad U[{k}]" for k in range(len(gradient))], state, inverses)
    for name, line in zip(says, step.covariance, strict=True):
        for entry in line:
            if others := _names(entry, symbols):
                raise NotAffineError(f"the noise of {name} depends on {others}")
    covariance = tuple(tuple(entry.xreplace(inverses) for entry in line) for line in step.covariance)
    return AffineStep(names, lines_of(step.values, says, symbols, inverses), made, covariance, slopes)


def made_by(names: Names) -> tuple[sp.Symbol, ...]:
    """Return what stands for the values that the shifts of a program make, by their names."""
    return tuple(sp.Symbol(name, real=True) for name in _entries(names))


def _names(entry: Scalar, symbols: Sequence[sp.Symbol]) -> str:
    """Return the symbols that an entry depends on, by name."""
    return ", ".join(symbol.name for symbol in symbols if symbol in entry.free_symbols)


def _entries(names: Names) -> Iterator[str]:
    """Yield the values that the shifts make, by name and entry."""
    for shift in names.program.shifts:
        count = len(names.block(shift.block))
        yield from ((f"{shift.new}[{k}]" for k in range(count)) if shift.block.shape.sizes else (shift.new,))
