"""The bulk of exp(-U) where no minimum of U leads to it, by chains that have its law at every step size.

A density that grows without limit, as that of a hierarchy does where a scale goes to zero, has its mass elsewhere, and
a search for a mode runs away from it. Hamiltonian Monte Carlo (Duane and others 1987) goes where the mass is at every
step size. Its chains warm up as those of any build of moves do (`plan_moves.py`). Pilot chains of the build that is
planned begin where they end, and what these find is held against what they found: a step size that stays the same may
not come into a neck of exp(-U) at all, and then two of them agree with each other, not with chains that do.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recipe_compiler.advise.choose import name_of_length, trajectories
from recipe_compiler.advise.moments import Moments
from recipe_compiler.errors import DocumentError, RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.spec.load import around
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.to_yaml import text_of
from recipe_compiler.spec.yaml_reader import read_yaml

ACCEPT = "0.95"
"""The mean probability of acceptance: shorter steps than a run's, which come further into a neck."""

OF_TARGET = ("format", "name", "target", "variant", "data", "sizes")
"""Entries of a build that state its target and data, not its sampler."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactDraws:
    """Draws of chains whose law is exp(-U) at every step size."""

    theta: Array
    """Chain x draw x coordinate."""
    moments: Moments

    def agreement(self, walk: Moments, names: tuple[str, ...]) -> Iterator[str]:
        """Yield what they are, and how far the moments of a walk of the build are from theirs."""
        off = walk.beside(self.moments)
        mean, sd = (int(np.argmax(np.abs(of))) for of in (off.of_means, off.of_sds))
        yield (
            f"  begun by {len(self.theta)} chains of {self.theta.shape[1]} draws by HMC: from theirs sds are off by "
            f"{100.0 * off.of_sds[sd]:+.2g} % +- {100.0 * off.sds_within[sd]:.2g} % at most ({names[sd]}), means by "
            f"{off.of_means[mean]:+.2g} +- {off.means_within[mean]:.2g} sd ({names[mean]})"
        )


def hmc_of(build: Build) -> Build:
    """Return the build that samples the same by HMC, its mass and the length of its moves open.

    Raises:
        RunError: HMC does not move all of the state.
    """
    stated: dict[str, Any] = json.loads(build.source.document)
    theirs = {parameter.name for parameter in build.target.declarations.parameters}
    parameters = [[name, entry] for name, entry in stated.get("parameters", []) if name in theirs]
    entries = {key: stated[key] for key in OF_TARGET if key in stated} | {
        "dynamics": "hmc",
        "variant": "full",
        "parameters": parameters,
        "scheme": trajectories(name_of_length(build.target)),
        "run": {"step_size": "auto", "accept": ACCEPT},
    }
    file = build.source.file
    root = read_yaml(text_of(replace(build.source, document=json.dumps(entries))).encode(), file)
    known = {"target": build.parts["target"]}
    try:
        made = read_build(root, file, around(Path(file).parent, known, in_memory=build.data is None))
    except DocumentError as why:
        raise RunError(f"HMC does not sample it: {why.faults[0].problem}") from None
    return replace(made, observed=build.observed)
