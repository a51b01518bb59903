"""The loops that a Program is lowered to: procedures over named arrays."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from recipe_compiler.program.loops import Array, Body


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function of the emitted module: writes `outputs` (and nothing else but its own locals and `work`).

    Outputs that are arrays are arguments that it writes into; outputs that are scalars are what it returns.
    """

    name: str
    says: tuple[str, ...]
    """The equations it computes, one a line, to be put after the word `Write` or `Return`."""
    outputs: tuple[Array, ...]
    inputs: tuple[Array, ...]
    """Arrays and scalars it reads, in the order of its arguments."""
    work: tuple[Array, ...]
    body: Body

    @property
    def returns(self) -> bool:
        """Whether it returns its outputs, which then are scalars."""
        return not any(array.sizes for array in self.outputs)

    @property
    def taken(self) -> tuple[Array, ...]:
        """Its arguments, in order."""
        return (*(() if self.returns else self.outputs), *self.inputs, *self.work)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(array.name for array in self.taken)

    @property
    def names(self) -> frozenset[str]:
        """The names of its arrays and of their sizes: a new name stays clear of all."""
        arrays = (*self.outputs, *self.inputs, *self.work)
        sizes = (part for array in arrays for size in array.sizes for part in str(size).split("+"))
        return frozenset(array.name for array in arrays) | frozenset(sizes)


@dataclass(frozen=True, slots=True)
class Kernel:
    """The arithmetic of one module: `prepare` computes the constants of a run, `step` one step, or its word."""

    prepare: Procedure
    gradient: Procedure | None
    step: Procedure
    noises: tuple[Array, ...]
    """Standard normals that `step` takes: one array per group of blocks with correlated noise."""
    registers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Arrays of the state and of a step that are kept in scalars: each with their names, entry by entry."""
    chunked: tuple[str, ...] = ()
    """Arrays that `step` takes a chunk of; it then works in place."""
    block: int = 1
    """Rows of the data that the gradient takes at once."""
    column_major: tuple[str, ...] = ()
    """Fields of the data that are read fastest where they are stored column by column (Fortran order)."""
    shape: str = "Loops over arrays."
    """Which shape the loops have, and why: a sentence for the reader of the module."""
    potential: Procedure | None = None
    """U of all data; of a cycle that accepts by it."""
    rest: Procedure | None = None
    """H - U, for the same purpose."""
    sums: Procedure | None = None
    """What draws take of constants and data alone, computed once a call of `run`."""
    draws: tuple[Procedure, ...] = ()
    """What draws blocks of the target by their laws, in the order of a cycle."""
    cycle: Procedure | None = None
    """One step of the chain, made of calls of the others; None where `step` is one: a cycle without a word, too."""

    @property
    def chain_step(self) -> Procedure:
        """What advances a chain by one step."""
        return self.cycle or self.step

    def mapped(self, rule: Callable[[Procedure], Procedure]) -> "Kernel":
        """Return the kernel with `rule` applied to all that a chain calls."""
        made = {procedure.name: rule(procedure) for procedure in self.procedures}

        def of(procedure: Procedure | None) -> Procedure | None:
            return procedure and made[procedure.name]

        return replace(
            self,
            gradient=of(self.gradient),
            step=made[self.step.name],
            potential=of(self.potential),
            rest=of(self.rest),
            sums=of(self.sums),
            draws=tuple(made[procedure.name] for procedure in self.draws),
            cycle=of(self.cycle),
        )

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """All that a chain calls, those called before those that call them; `prepare` is called before a chain."""
        own = (self.gradient, self.potential, self.rest, self.sums, *self.draws, self.step, self.cycle)
        return tuple(procedure for procedure in own if procedure is not None)

    def scalars(self, name: str) -> tuple[str, ...]:
        """Return the names of the scalars that hold an array, none for one that stays an array."""
        return dict(self.registers).get(name, ())
