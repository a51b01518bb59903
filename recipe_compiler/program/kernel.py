"""What a Program becomes when it is lowered to loops: three procedures over named arrays."""

from dataclasses import dataclass

from recipe_compiler.program.loops import Array, Statement


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function of the emitted module: writes `outputs` (and nothing else but its own locals and `work`)."""

    name: str
    says: tuple[str, ...]
    """The equations it computes, one a line."""
    outputs: tuple[Array, ...]
    inputs: tuple[Array, ...]
    """Arrays and scalars it reads, in the order of its arguments."""
    work: tuple[Array, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """The arithmetic of one module. `prepare` computes the constants of a run, `step` one step."""

    prepare: Procedure
    gradient: Procedure | None
    step: Procedure
    noises: tuple[Array, ...]
    """Standard normals that `step` takes: one array per group of blocks with correlated noise."""
