"""A step at a point against the second engine: its drift against f = -(D + Q) grad H + Gamma, and its H - U against H.

For steps that invert matrices of the state: these have no normal form as functions of symbols, and are numbers at a
point, to 80 digits. The second engine differentiates H there by the chain rule, part by part: the derivative of an
inverse, or of a determinant, as a function of all symbols is many times as long as they are.
"""

from collections.abc import Iterator, Mapping, Sequence

import sympy as sp

from recipe_compiler.algebra.dynamics.system import System, system
from recipe_compiler.algebra.scalars.symbols import component, coordinates, positions
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block, Function
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.readback.mean import values
from recipe_compiler.readback.names import PRECISION, Names
from recipe_compiler.readback.point import equal
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Atom, Component, Tensor

GUARDED = PRECISION + 40
"""Digits of what is put into H: a derivative is of as many as are looked at, whatever cancels in it."""


def same_drift(here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Check that what the shifts of a step without noise add up to, at eps = 0, is the drift of the second engine.

    Raises:
        CompilerError: it is not, or there is a D that no draw of the step follows.
    """
    there, numbers = _there(here, derivation, names)
    if any(entry != 0 for row in there.D for entry in row):
        raise CompilerError("a step without noise follows dynamics with D")
    blocks = here.program.blocks
    still = {shift.new: here.block(shift.block) for shift in here.program.shifts}
    found = {block.name: [sp.Integer(0)] * len(here.block(block)) for block in blocks}
    shifts = here.program.shifts
    for shift, after in zip(shifts, (*shifts[1:], None), strict=True):
        if after is None or not after.again:  # one that is put into the next is no step of its own
            rate = values(_at_the_state(shift.rate, here), here, shift.block, still)
            found[shift.block.name] = [x + f for x, f in zip(found[shift.block.name], rate, strict=True)]
    stated = [entry for block in blocks for entry in found[block.name]]
    grad_H = _gradient(there.H, there.z, numbers)
    drift = [
        sp.Add(*(sp.diff(q, z) - q * slope for q, z, slope in zip(row, there.z, grad_H, strict=True)))
        for row in there.Q
    ]
    for k, (value, expected) in enumerate(zip(stated, drift, strict=True)):
        equal(value, _number(expected, numbers), f"the drift of z_{k} at a point", here)


def same_energy(read: Scalar, here: Names, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Compare the emitted H - U with the H of the second engine at a point.

    Raises:
        CompilerError: it differs.
    """
    there, numbers = _there(here, derivation, names)
    equal(read, _number(there.H - _potential(here, derivation), numbers), "H - U beside H at a point", here)


def _at_the_state(rate: Tensor, here: Names) -> Tensor:
    """Return a rate in which every gradient is that at the state."""
    gradients = here.program.gradients

    def moved(atom: Atom) -> Atom:
        match atom:
            case Component(name, at, ()) if name in gradients:
                return Component(gradients[name], at)
            case _:
                return atom

    return replace_atoms(rate, moved)


def _potential(here: Names, derivation: Derivation) -> Scalar:
    """Return U, an abstract function in the second engine."""
    declarations = derivation.dynamics.declarations
    potential = next((f for f in declarations.functions if f.role == "potential"), None)
    if potential is None:
        raise CompilerError("H - U of dynamics without a potential")
    return component(potential, (), declarations, here.sizes)


def taken_at(derivation: Derivation, here: Names, names: Mapping[str, str]) -> Iterator[tuple[Function, Block, str]]:
    """Yield the potential with its block and the array of its gradient, then those at other blocks."""
    declarations, gradient = derivation.dynamics.declarations, here.program.gradient
    for function in declarations.functions if gradient is not None else ():
        if gradient is not None and function.value.declared == derivation.dynamics.potential:
            block = next(block for block in declarations.blocks if block.name == function.of[0])
            yield function, block, gradient.places[names.get(block.name, block.name)]


def potential_gradients(derivation: Derivation, here: Names, names: Mapping[str, str]) -> dict[Scalar, Scalar]:
    """Map the symbols of the gradients to derivatives of the abstract potential."""
    found: dict[Scalar, Scalar] = {}
    for function, block, array in taken_at(derivation, here, names):
        U = component(function, (), derivation.dynamics.declarations, here.sizes)
        slopes = (sp.diff(U, z) for z in coordinates(block, here.sizes))
        found |= dict(zip(here.gradient(array), slopes, strict=True))
    return found


def _there(here: Names, derivation: Derivation, names: Mapping[str, str]) -> tuple[System, dict[Scalar, Scalar]]:
    """Return H, D and Q of the second engine, and the number that each of its symbols is at the point."""
    dynamics = derivation.dynamics
    if dynamics.D is None or dynamics.Q is None:
        raise CompilerError("a derivation without D and Q")
    declarations = dynamics.declarations
    numbers: dict[Scalar, Scalar] = {}
    for parameter in declarations.parameters:
        for at in positions(parameter.shape, here.sizes):
            symbol = component(parameter, at, declarations, here.sizes)
            if isinstance(symbol, sp.Symbol):
                numbers[symbol] = here.component(names.get(parameter.name, parameter.name), at)
    for block, own in zip(declarations.blocks, here.program.blocks, strict=True):
        numbers |= dict(zip(coordinates(block, here.sizes), here.block(own), strict=True))
    numbers |= {slope: number for number, slope in potential_gradients(derivation, here, names).items()}
    for function, block, _ in taken_at(derivation, here, names):
        if (value := here.potentials.get(names.get(block.name, block.name))) is not None:
            numbers[component(function, (), declarations, here.sizes)] = here.potential(value)
    return system(declarations, dynamics.H, dynamics.D, dynamics.Q, here.sizes), numbers


def _gradient(H: Scalar, z: Sequence[Scalar], numbers: Mapping[Scalar, Scalar]) -> list[Scalar]:
    """Return dH/dz_i at the point: each part of H has its number there, and its slopes by those of its arguments."""
    slopes = {of: number for of, number in numbers.items() if isinstance(of, sp.Derivative)}
    found: dict[Scalar, tuple[Scalar, dict[Scalar, Scalar]]] = {
        of: (sp.N(number, GUARDED), {of: sp.Integer(1)} if of in z else {}) for of, number in numbers.items()
    }
    for U in {of.expr for of in slopes}:  # of U alone its slopes are known: its own number stands in none of them
        found[U] = (U, {of.variables[0]: number for of, number in slopes.items() if of.expr == U})

    def at(part: Scalar) -> tuple[Scalar, dict[Scalar, Scalar]]:
        if part not in found:
            read = [at(argument) for argument in part.args]
            found[part] = _chained(part, read) if read else (part, {})
        return found[part]

    _, grad = at(H)
    return [_number(grad.get(own, sp.Integer(0)), {}) for own in z]


def _chained(
    part: Scalar, read: Sequence[tuple[Scalar, dict[Scalar, Scalar]]]
) -> tuple[Scalar, dict[Scalar, Scalar]]:  # fmt: skip
    """Return the number of a function of arguments, and its slopes by the chain rule."""
    total: dict[Scalar, Scalar] = {}
    for k, (number, grad) in enumerate(read):
        if not grad:
            continue
        free = sp.Dummy(real=True)
        whole = part.func(*(free if j == k else other for j, (other, _) in enumerate(read)))
        partial = sp.diff(whole, free).xreplace({free: number})
        for own, slope in grad.items():
            total[own] = sp.N(total.get(own, 0) + partial * slope, GUARDED)
    return sp.N(part.func(*(number for number, _ in read)), GUARDED), total


def _number(value: Scalar, numbers: Mapping[Scalar, Scalar]) -> Scalar:
    return sp.N((sp.Integer(0) + value).xreplace(dict(numbers)), PRECISION)
