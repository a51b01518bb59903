"""Lowering of diagnostics at one state: U of all data, its gradient, the log likelihood of every datum, and H - U."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from recipe_compiler.errors import ModelError
from recipe_compiler.program.cast_float64 import widened
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.given import inputs_of, read_by, with_sizes_told
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower import prepared, readable, started
from recipe_compiler.program.lower_cycle import lower_rest
from recipe_compiler.program.lower_gradient import lower_gradient, lower_log_likelihood, lower_potential
from recipe_compiler.program.program import Program
from recipe_compiler.program.split_long_lines import shorten
from recipe_compiler.program.traverse import names_in

LOWERED = 4
"""Programs of which what tells of draws is kept as it was lowered."""

PREPARE, POTENTIAL, REST = "prepare_energies", "full_potential", "auxiliary_energy"
"""The procedures by their names; the log likelihood has its own."""


@dataclass(frozen=True, slots=True)
class LoweredEnergies:
    """The energies as loops. Their procedures return their outputs, and hold their work arrays themselves."""

    prepare: Procedure
    """What stays the same along the chain; it has no outputs where there is nothing of the kind."""
    potential: Procedure
    """U of all data, whatever the steps take."""
    log_likelihood: Procedure | None
    """None of a target without data."""
    rest: Procedure | None
    """None where it is not known how it is computed."""

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """What is called at a state, in order."""
        every = (self.potential, self.log_likelihood, self.rest)
        return tuple(procedure for procedure in every if procedure is not None)


@lru_cache(maxsize=LOWERED)
def lower_energies(program: Program) -> LoweredEnergies | None:
    """Return the procedures of a program's energies; None if it has none, or if U cannot be computed.

    Of the last programs they are kept: a text is made of them in several places, and read back by them at every point.
    """
    stated = program.energies
    if stated is None:
        return None
    defined = started(program)
    taken = defined.taken
    likelihood = rest = None
    try:
        potential = lower_potential(defined, stated.potential)
        if stated.potential.datum is not None:
            _begin_again(defined, taken)
            likelihood = lower_log_likelihood(defined, stated.potential)
    except ModelError:
        return None
    if stated.rest is not None:
        _begin_again(defined, taken)
        with suppress(ModelError):  # of a determinant
            rest = lower_rest(defined, stated.rest)
    every = tuple(own for own in (potential, likelihood, rest) if own is not None)
    used = names_in(statement for own in every for statement in own.body)
    says = "Return what the energies take beside the state, parameters and data."
    prepare = prepared(program, defined, used, PREPARE, says)

    def given(procedure: Procedure, name: str, data: Program | None = program) -> Procedure:
        own = inputs_of(procedure, readable(program, prepare.outputs, at_state=True), data)
        return shorten(widened(program, replace(procedure, name=name, inputs=own)))

    return LoweredEnergies(
        prepare,
        given(potential, POTENTIAL),
        likelihood and given(likelihood, likelihood.name),
        rest and given(rest, REST, None),
    )


@dataclass(frozen=True, slots=True)
class LoweredFullGradient:
    """grad U of all data as loops, with what stays the same along the chain, as of `LoweredEnergies`."""

    prepare: Procedure
    gradient: Procedure


@lru_cache(maxsize=LOWERED)
def lower_full_gradient(program: Program) -> LoweredFullGradient | None:
    """Return the procedures of grad U of all data, None where a program has none; kept as those of the energies."""
    if program.full_gradient is None:
        return None
    defined = started(replace(program, gradient=program.full_gradient))
    gradient = lower_gradient(defined, program.full_gradient)
    says = "Return what `full_gradient` takes beside the state, parameters and data."
    prepare = prepared(program, defined, names_in(gradient.body), "prepare_full_gradient", says)
    given = readable(program, prepare.outputs, at_state=True)
    read = read_by(gradient.body, program)
    own = with_sizes_told(given, read, gradient.body, gradient.work, gradient.outputs)
    return LoweredFullGradient(prepare, shorten(replace(gradient, name="full_gradient", inputs=own)))


def _begin_again(defined: Definitions, taken: frozenset[str]) -> None:
    """Let the next procedure know constants, and their names alone beside those of all."""
    defined.forget()
    defined.taken = taken | {constant.array.name for constant in defined.fixed}
