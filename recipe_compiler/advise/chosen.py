"""What a plan chose: all of it that a run is given, whether or not something was planned; and as text, to be kept.

What was chosen is in the document of its build, from which a plan is made again.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recipe_compiler.run.map_estimate import Mode
from recipe_compiler.spec.files import with_absolute_names
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.spec.to_yaml import read_restated, text_of, to_yaml

KNOWN = 0.025
"""The largest error of how far an sd is off that leaves it known: half of what is called wrong (`suggestions.WIDE`)."""


@dataclass(frozen=True, slots=True)
class PilotFigures:
    """Figures from pilot chains, by coordinate of theta, with Monte Carlo standard errors (Vehtari et al. 2021)."""

    mean: tuple[float, ...]
    sds: tuple[float, ...]
    of_means: tuple[float, ...]
    """How far the step size puts a mean off, in sds."""
    means_within: tuple[float, ...]
    of_sds: tuple[float, ...]
    """The same of an sd, relative."""
    sds_within: tuple[float, ...]
    steps: float
    """Steps that are worth one independent draw."""
    draws: int
    """Draws of all pilot chains behind each figure."""

    @property
    def worst(self) -> int:
        """The coordinate whose sd is off most, in units of its Monte Carlo error."""
        return int(np.argmax(np.abs(self.of_sds)))

    @property
    def is_known(self) -> bool:
        """Whether the figures are precise enough to tell right sds from wrong ones."""
        return max(self.sds_within) <= KNOWN

    @property
    def off(self) -> str:
        """How far sds are off: `0.8 % +- 0.5 %`."""
        k = self.worst
        return f"{100.0 * self.of_sds[k]:+.2g} % +- {100.0 * self.sds_within[k]:.2g} %"

    @property
    def shift(self) -> str:
        """How far means are off, in sds."""
        k = int(np.argmax(np.abs(self.of_means)))
        return f"{self.of_means[k]:+.2g} +- {self.means_within[k]:.2g} sd"


@dataclass(frozen=True, slots=True)
class Pace:
    """What a run is expected to make of gradients."""

    effective: float
    """Effective draws per gradient, of the coordinate that has fewest."""
    gradients: float
    """Gradients of one step, or of one cycle of moves, on average."""
    seconds: float | None = field(default=None, compare=False)
    """Processor time of one gradient; None where it was not measured."""
    of_all: float | None = field(default=None, compare=False)
    """The same of all data, where a gradient is of a minibatch."""

    def says(self, settings: RunSettings) -> str:
        """Return in a line what a run is expected to take."""
        gradients = settings.chains * (settings.draws + settings.warmup) * settings.thin * self.gradients
        seconds = f", about {self.seconds * gradients:.2g} processor seconds" if self.seconds is not None else ""
        kept = self.effective * settings.chains * settings.draws * settings.thin * self.gradients
        return (
            f"predicted: ESS per gradient {self.effective:.2g}; {gradients:,.0f} gradients{seconds}, for an ESS of "
            f"{kept:.2g} at least"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What was chosen, and on what grounds."""

    build: Build
    """With every choice in its document."""
    says: tuple[str, ...]
    """In lines, for whoever runs it."""
    measured: PilotFigures | None = None
    """What pilot chains made of the posterior, where no linear step shows it."""
    doubts: tuple[str, ...] = ()
    """Why no run of it is to be believed."""
    damping: float = 1.0
    """Friction over that of one time of the bulk, around a mode."""
    pace: Pace | None = None
    """What its run is expected to make of gradients."""
    mode: Mode | None = None
    """The mode of U, where chains were begun around it; a plan that was kept does not have it."""
    by_limit: bool = False
    """Whether something was given up because it took too long: another time it may be chosen."""

    def yaml(self, folder: Path) -> str:
        """Return the build as a file of a folder that runs as it is, below comments that say of it what is known.

        Names in a document are relative to its own folder: for another one they are given from the root.
        """
        text, source = to_yaml(self.build), self.build.source
        if Path(source.file).resolve().parent != folder.resolve():
            text = text_of(with_absolute_names(source))
        return "".join(f"# {line}\n" for line in self.says) + text

    @property
    def refusal(self) -> str:
        """Why no run of it is drawn; nothing where it may be."""
        if not self.doubts:
            return ""
        several = f"{len(self.doubts)} doubts" if len(self.doubts) > 1 else "doubt"
        return (
            f"nothing is drawn, for the {several} of the plan: no summary of it could be trusted. To draw "
            "anyway, run the build of the plan (`recipe run --plan`, `Model.plan`)"
        )


def plan_text(plan: Plan) -> str:
    """Return a plan as JSON from which `plan_of_text` makes it again."""
    measured = None if plan.measured is None else asdict(plan.measured)
    return json.dumps({
        "build": text_of(plan.build.source), "says": plan.says, "measured": measured, "doubts": plan.doubts,
        "damping": plan.damping, "pace": None if plan.pace is None else asdict(plan.pace),
    })  # fmt: skip


def plan_of_text(text: str, stated: Build) -> Plan:
    """Return the plan that `plan_text` wrote.

    Args:
        text: of a plan.
        stated: the build that it is of, with `step_size: auto`.

    Raises:
        SpecError, ModelError: the document means nothing.
    """
    kept: dict[str, Any] = json.loads(text)
    measured = None if kept["measured"] is None else _figures(kept["measured"])
    pace = None if kept["pace"] is None else Pace(**kept["pace"])
    return Plan(
        read_restated(stated, kept["build"]), tuple(kept["says"]), measured, tuple(kept["doubts"]), kept["damping"],
        pace,
    )  # fmt: skip


def _figures(kept: dict[str, Any]) -> PilotFigures:
    figures: dict[str, Any] = {name: tuple(own) if isinstance(own, list) else own for name, own in kept.items()}
    return PilotFigures(**figures)


def processor() -> str:
    """Return what the jit compiles for: another processor may round sums otherwise."""
    from llvmlite import binding  # with LLVM, which nothing needs but what is compiled

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"
