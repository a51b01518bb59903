"""What stands on the command line in the place of a build's document."""

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
