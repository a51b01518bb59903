"""Kicks at one place are one: of a word that begins and ends with the same kick, two become one between repetitions.

Let e be the kick b -> b + eps v(g), g the gradient that is carried from step to step. It moves no position, so it
leaves g as it is, and kicks by the same g add up: e twice is b -> b + 2 eps v(g). A word W that does e, then X, then e
is V between e and its inverse, where V does X, then e twice:

    W = e^-1 o V o e,    W^n = e^-1 o V^n o e.

So n steps of the leapfrog [B/2, A, B/2] are half a kick, n times [A, B], and half a kick taken back (Duane, Kennedy,
Pendleton and Roweth 1987 write them so). One multiplication less stands between each gradient and the next.
"""

from dataclasses import replace

from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.program import Evaluate, Kick, Program, Shift
from recipe_compiler.program.rename import renamed
from recipe_compiler.tensor.terms import Tensor, Term


def join_kicks(program: Program) -> tuple[Program, Kick | None]:
    """Return the Program of V and the kick e of a word W = e^-1 o V o e.

    Args:
        program: one step of the word W.

    Returns:
        V and e, with W^n = e^-1 o V^n o e for every n; W itself and None where it does not begin and end with one
        kick, draws, or solves equations.
    """
    first, *inner, last = program.statements if len(program.statements) > 1 else (None, None)
    if not isinstance(first, Shift) or not isinstance(last, Shift) or not program.carried or not program.evaluations:
        return program, None
    if not all(isinstance(one, Shift | Evaluate) for one in inner) or any(own.implicit for own in program.shifts):
        return program, None
    if program.gradient is None or first.block == program.gradient.block:
        return program, None
    kick = _kick(program, first, program.gradient.name, program.gradient.name)
    if kick is None or kick != _kick(program, last, program.evaluations[-1].new, program.gradient.name):
        return program, None
    from_start = {first.new: first.old}
    whole = replace(renamed(last, from_start), rate=_twice(last.rate))
    return replace(program, statements=(*(renamed(one, from_start) for one in inner), whole)), kick


def _kick(program: Program, shift: Shift, evaluated: str, gradient: str) -> Kick | None:
    """Return a shift as a kick, by a gradient of a name; None where it reads anything but that and constants."""
    constants = {parameter.name for parameter in program.parameters}
    if shift.noise or shift.transform or shift.image or not names_of(shift.rate) <= {evaluated, *constants}:
        return None
    return Kick(shift.block, renamed(shift.rate, {evaluated: gradient}))


def _twice(rate: Tensor) -> Tensor:
    return Tensor(rate.free, tuple(Term(2 * term.coefficient, term.factors) for term in rate.terms))
