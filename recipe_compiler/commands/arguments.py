"""What stands on the command line beside a build, or in the place of its document: data, settings, those of a run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BuildArguments:
    """What a command says of a build beside its dynamics and its target."""

    data: str | None = None
    """A table, or the name of one that ships."""
    settings: tuple[str, ...] = ()
    """`A=2`, `data.x=[a, b]`, `scheme=baoab`."""
    save: Path | None = None
    """Where its document goes."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return self == BuildArguments()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Settings of a run; None: as the build says."""

    draws: int | None = None
    warmup: int | None = None
    chains: int | None = None
    seed: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    thin: int | None = None
    lanes: bool | None = None
