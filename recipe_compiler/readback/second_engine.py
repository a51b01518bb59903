"""The equation by the second engine, which uses only D, Q and H of the documents, in the names of a program.

What a step is to first order, and H - U, are compared with it: as functions of symbols or, where the step
inverts matrices of the state, as numbers at a point. The derivative of an inverse, or of a determinant, is a number as
soon as a derivative of anything else: parts that occur again are evaluated once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import sympy as sp
from flint import arb

from recipe_compiler.algebra.dynamics.system import System, Vector, block_vector, drift, system
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import Setting
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.symbols import component, coordinates, positions
from recipe_compiler.algebra.scalars.transforms import inverse_slopes, transformed
from recipe_compiler.derive.recipe import Derivation, claimed_drift
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.formula.declaration import Entries, Parameter
from recipe_compiler.formula.sympy_functions import SqrtCoth
from recipe_compiler.readback.mean import stated_step
from recipe_compiler.readback.names import EPS, PRECISION, Names
from recipe_compiler.readback.oracle import same
from recipe_compiler.readback.point import NOTHING
from recipe_compiler.readback.propagators import at_start as at_rest
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.trace.scalars import Scalars, poly_arithmetic, value_of
from recipe_compiler.trace.series import ONE, TWO, NoExpansionError

ZERO = sp.Integer(0)


@dataclass(frozen=True, slots=True)
class SecondEngine:
    """D, Q and H at some sizes."""

    here: Names
    there: System
    names: Mapping[Scalar, Scalar]
    """What its symbols, U and the derivatives of U are in the program."""
    U: Scalar
    """U of the block that the gradient is at."""
    f: Vector
    """The drift: -(D + Q) grad H + Gamma, or the claimed one where that is what is run."""

    def says(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Return expressions of its own in the names of the program, or as numbers at the point."""
        if not self.here.at_point:
            return [value.xreplace(dict(self.names)) for value in values]
        found: list[Scalar] = []
        for value in values:
            try:
                found.append(_number(evaluate(value, lambda of: fraction(self.names[of]))))
            except NoValueError as error:
                raise ReadBackError(f"the equation has no value at a point: {error}") from error
        return found

    def same(self, own: Sequence[Scalar], read: Sequence[Scalar], what: str) -> None:
        """Require that entries in the names of the program are expressions of this engine.

        Raises:
            CompilerError: one is not.
        """
        inverses = self.here.inverses_written_out(read)
        same(self.says(own), [entry.xreplace(inverses) for entry in read], what, self.here)


Engine = Callable[[], SecondEngine]
"""Makes it where it is needed."""


def _number(value: Value) -> Scalar:
    if not isinstance(value, arb):
        return rational(value)
    if not value.rad() < NOTHING:
        raise NoValueError("a ball that is wider than what is compared")
    return sp.Float(value.str(PRECISION, radius=False), PRECISION)


def second_engine(derivation: Derivation, names: Mapping[str, str], here: Names) -> SecondEngine:
    """Return D, Q and H of a derivation at the sizes of a program.

    Args:
        derivation: of the bound dynamics.
        names: what the user's names were changed to.
        here: the values of the program's names.

    Raises:
        CompilerError: dynamics without D and Q.
    """
    dynamics, exact = derivation.dynamics, replace(here, digits=0)
    if dynamics.D is None or dynamics.Q is None:
        raise CompilerError("a derivation without D and Q")
    declarations, gradient = dynamics.declarations, here.program.gradient
    if here.at_point:  # the inverse of a symbolic n x n matrix has n! terms
        known = tuple(_known(parameter, names, exact) for parameter in declarations.parameters)
        declarations = replace(declarations, parameters=known)
    found: dict[Scalar, Scalar] = {}
    for parameter in declarations.parameters:
        for at in positions(parameter.shape, here.sizes):
            symbol = component(parameter, at, declarations, here.sizes)
            if isinstance(symbol, sp.Symbol):
                found[symbol] = exact.component(names.get(parameter.name, parameter.name), at)
    for block, own in zip(declarations.blocks, here.program.blocks, strict=True):
        found |= dict(zip(coordinates(block, here.sizes), exact.block(own), strict=True))
    U = ZERO
    for function in declarations.functions:
        if function.value.declared != dynamics.potential:
            continue
        block = next(block for block in declarations.blocks if block.name == function.of[0])
        name = names.get(block.name, block.name)
        value = component(function, (), declarations, here.sizes)
        if function.name == dynamics.potential:
            U = value
        if gradient is not None:
            slopes = (slope(value, z) for z in coordinates(block, here.sizes))
            found |= dict(zip(slopes, exact.gradient(gradient.places[name]), strict=True))
        if name in here.potentials:
            found[value] = exact.potential(here.potentials[name])
    there = system(declarations, dynamics.H, dynamics.D, dynamics.Q, here.sizes)
    claimed = dynamics.as_claimed
    f = block_vector(claimed_drift(dynamics), Setting(declarations, here.sizes)) if claimed else drift(there)
    return SecondEngine(here, there, found, U, f)


def _known(parameter: Parameter, names: Mapping[str, str], exact: Names) -> Parameter:
    """Return a matrix with its entries at the point; any other parameter as it is."""
    if parameter.shape.cols is None:
        return parameter
    entries = np.asarray(exact.parameter(names.get(parameter.name, parameter.name)))
    return replace(parameter, value=Entries(tuple(tuple(map(fraction, row)) for row in entries)))


def check_step(engine: SecondEngine) -> None:
    """Check that the parts of order eps of the step that a Program states are f = -(D + Q) grad H + Gamma, and 2D.

    With S the inverse of T, what moves T by f eps and noise of variance v eps moves z by (S' f + S'' v/2) eps (Ito).
    All values of a block are the old one at eps = 0; what they are beyond that changes E[dz] by order eps**2, so the
    parts of several shifts of a block add up, but for those of which another is made by substitution.

    Raises:
        CompilerError: they are not.
    """
    here = replace(engine.here, is_at_rest=True)
    blocks, shifts = here.program.blocks, here.program.shifts
    step = stated_step(here, [x for shift in shifts for x in here.block(shift.block)])
    places = [(block.name, k) for block in blocks for k in range(len(here.block(block)))]
    z = [x for block in blocks for x in here.block(block)]
    own = [(s, places.index((s.block.name, k))) for s in shifts for k in range(len(here.block(s.block)))]
    replaced = {shift.new for shift, after in pairwise(shifts) if after.again}
    flows = at_rest(here)
    covariance = {place: _orders(w.xreplace(flows))[1] for place, w in step.covariance.items()}
    inverses = [inverse_slopes(shift.transform, z[a]) for shift, a in own]
    f, two_D = [ZERO for _ in z], [[ZERO for _ in z] for _ in z]
    for n, ((shift, a), value) in enumerate(zip(own, step.values, strict=True)):
        start, rate = _orders(value.xreplace(flows))
        if not shift.image:  # which is free of eps, and within the domain what it is of
            same([transformed(shift.transform, z[a])], [start], f"{shift.new} at eps = 0", here)
        once, twice = inverses[n]
        if shift.new not in replaced:
            f[a] += once * rate + twice * covariance.get((n, n), ZERO) / 2
    for (n, m), w in covariance.items():
        if not replaced & {own[n][0].new, own[m][0].new}:
            two_D[own[n][1]][own[m][1]] += inverses[n][0] * inverses[m][0] * w
    engine.same(engine.f, f, "the drift")
    for row, stated in zip(two_D, engine.there.D, strict=True):
        engine.same([2 * entry for entry in stated], row, "2D")


def _orders(value: Scalar) -> list[Scalar]:
    """Return an expression at eps = 0, and its derivative there: f of E[dz], 2D of Cov[dz].

    Raises:
        ReadBackError: it has a pole there, or no expansion that is known.
    """
    S, small = poly_arithmetic(TWO * TWO), [h for h in value.atoms(SqrtCoth) if h.args[0].xreplace({EPS: ZERO}) == 0]
    try:
        series = Scalars(S, EPS, {}).series(value.xreplace({h: 1 + h.args[0] / 3 - h.args[0] ** 2 / 45 for h in small}))
        if any(power < 1 and power != 0 for power in series.parts):
            raise NoExpansionError("a power of the step size below 1")
        return [value_of(S.at(series, power)) for power in (Fraction(0), ONE)]
    except NoExpansionError as error:
        raise ReadBackError(f"the step has no first order: {error}") from error
