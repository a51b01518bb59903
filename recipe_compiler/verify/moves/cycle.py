"""A cycle of moves in a build, and the blocks that its moves move: what claims about a cycle are about."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.declaration import Block
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.model import Build, ByLaw, Move, Target
from recipe_compiler.spec.moves import over_a_period
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.build_values import find_known_sizes
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.split import Split

Kind = TypeVar("Kind", bound=Move)


@dataclass(frozen=True, slots=True)
class Part:
    """A block that moves must cover: one of the target's, or one of the dynamics' (the names may coincide)."""

    is_of_target: bool
    name: str


@dataclass(frozen=True, slots=True)
class Cycle:
    """The moves of one step of a chain, with the pieces of its word in one subject of a build."""

    split: Split
    stages: Stages

    @property
    def build(self) -> Build:
        """The build whose chain this is."""
        return self.stages.build

    @property
    def target(self) -> Target:
        """The target as its author declares it, no block being transformed."""
        return self.build.target.as_declared

    @property
    def drawn_blocks(self) -> tuple[Block, ...]:
        """The blocks of the target as it declares them: what the potential's block consists of, in order."""
        return self.target.declarations.blocks

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves in order."""
        return self.split.scheme.cycle

    @property
    def period(self) -> tuple[Move, ...]:
        """The moves of as many cycles as pass until all counters restart together: the moves of one kernel."""
        return over_a_period(self.moves)

    @property
    def potential_blocks(self) -> tuple[Block, ...]:
        """The blocks of the dynamics that U is a function of."""
        return potential_blocks(self.split.subject.dynamics)

    def of_kind(self, kind: type[Kind]) -> Iterator[Kind]:
        """Yield the moves of a kind."""
        return (move for move in self.moves if isinstance(move, kind))

    def parts(self, block: str) -> tuple[Part, ...]:
        """Return the target's blocks inside a block of the dynamics, for the potential's; else the block itself."""
        apart = self.split.scheme.use is not None or any(isinstance(move, ByLaw) for move in self.moves)
        if [one.name for one in self.potential_blocks] != [block] or not apart:
            return (Part(False, block),)
        return tuple(Part(True, one.name) for one in self.drawn_blocks)

    def places(self, block: str, sizes: Sizes, split: Split | None = None) -> range | None:
        """Return where in z the entries of a block of the target lie; None where the build fixes no sizes."""
        split = split or self.split
        known = {**find_known_sizes(self.build, self.build.target), **sizes}
        needed = {n for one in (*split.blocks, *self.drawn_blocks) for n in one.shape.sizes if isinstance(n, str)}
        if not needed <= known.keys():
            return None
        (theta,), names = self.potential_blocks, [one.name for one in self.drawn_blocks]
        start = split.places(split.subject.names.index(theta.name), sizes).start
        counts = [len(coordinates(one, known)) for one in self.drawn_blocks]
        n = names.index(block)
        return range(start + sum(counts[:n]), start + sum(counts[: n + 1]))
