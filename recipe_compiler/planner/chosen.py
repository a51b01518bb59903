"""What a plan chose: all of it that a run is given, whether or not something was planned."""

from dataclasses import dataclass

from recipe_compiler.run.pilot_figures import PilotFigures
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import to_yaml


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What was chosen, and on what grounds."""

    build: Build
    """With every choice in its document."""
    says: tuple[str, ...]
    """In lines, for whoever runs it."""
    measured: PilotFigures | None = None
    """What pilot chains made of the posterior, where no linear step tells it."""
    doubts: tuple[str, ...] = ()
    """Why no run of it is to be believed."""
    damping: float = 1.0
    """Friction over that of one time of the bulk, around a mode."""
    by_limit: bool = False
    """Whether something was given up because it took too long: another time it may be chosen."""

    @property
    def yaml(self) -> str:
        """The build in a file that runs as it is, below what is said of it, doubts with it, in comments."""
        return "".join(f"# {line}\n" for line in self.says) + to_yaml(self.build)
