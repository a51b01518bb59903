"""Before a run with minibatches: how much too wide the posterior will come out, and settings that cure it.

The emitted `forecast` linearises the step around the state where it stands still on average. Every cure is found by
asking it again with other settings, and the width it promises is the answer to the settings it names.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import Start, find_mode
from recipe_compiler.run.suggestions import TOO_LARGE, WIDE, Cure, Question, Width, cures_of
from recipe_compiler.spec.model import Build


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is known of a run before it starts."""

    width: Width | None
    """None where the step cannot be made linear."""
    why_not: str = ""
    cures: tuple[Cure, ...] = ()
    block: str = "theta"
    """The block whose sds they are."""
    names: tuple[str, ...] = ()
    """Of its coordinates, as the summary has them."""
    around: str = ""
    """Where the search for the mode began that the step is made linear at."""
    contiguous: bool = False
    """Whether batches are blocks of data: V then depends on their order, and is its mean over all orders here."""

    @property
    def says(self) -> tuple[str, ...]:
        """The forecast in lines: what will come, then what can be done."""
        cures = tuple(f"  {_setting(cure)}: {_wide(cure.width.widest)} at most; {cure.cost}" for cure in self.cures)
        if self.width is None:
            return (f"forecast: none: {self.why_not}", *cures)
        width = self.width
        noise = width.temperature - 1.0 - width.of_step
        place = width.factors.index(width.widest)
        first = (
            f"forecast: effective temperature {width.temperature:.3g} (minibatch noise {noise:+.2g}, step size "
            f"{width.of_step:+.2g}); posterior sd {_wide(width.widest)} at most ({self.names[place]})"
        )
        order = ("  blocks of data: on average over their orders; that of this file may give more or less",)
        around = f"  around the mode found from {self.around}"
        return (first, around, *(order if self.contiguous else ()), *cures)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the posterior of the run is not to be believed."""
        cures = "its cures are listed before the run." if self.cures else "try a smaller step size or a larger batch."
        if self.width is None:
            too_large = TOO_LARGE in self.why_not
            return (f"by the forecast no chain stays at the posterior: {self.why_not}; {cures}",) if too_large else ()
        found: list[str] = []
        if not self.width.widest <= WIDE:
            found.append(f"by the forecast the posterior sd is {_wide(self.width.widest)}; {cures}")
        if not self.width.narrowest * WIDE >= 1.0:
            narrow = f"{100.0 * (1.0 - self.width.narrowest):.1f} % too narrow"
            found.append(f"by the forecast the posterior sd is {narrow}: too much noise is subtracted (V).")
        return tuple(found)

    @property
    def attributes(self) -> dict[str, str | float]:
        """What the file of the draws keeps."""
        if self.width is None:
            return {"forecast": self.why_not}
        return {"forecast_temperature": self.width.temperature, "forecast_widest": self.width.widest}


def _wide(factor: float) -> str:
    return f"{100.0 * (factor - 1.0):.1f} % too wide" if factor < 2.0 else f"{factor:.2g} times too wide"


def _setting(cure: Cure) -> str:
    return f"{cure.setting}: {cure.value}" if isinstance(cure.value, str) else f"{cure.setting}: {cure.value:g}"


def forecast(
    module: Emitted, build: Build, inputs: Inputs, names: tuple[str, ...], starts: Sequence[Start] = ()
) -> Forecast | None:
    """Return what a run with minibatches will sample; None for one with the full gradient.

    Args:
        module: the emitted module of `build`.
        build: says what its parameters are, and what of the gradient's noise is subtracted already.
        inputs: what the chains of the run are given.
        names: of the coordinates of the potential's block.
        starts: where the search for the mode begins, one after another; without any, at zero.
    """
    if module.variant != "minibatch":
        return None
    slope = full_gradient(module, inputs)
    if module.forecast is None or slope is None:
        return Forecast(None, "the gradient of the target is code")
    if inputs.of_draw is not None:
        return Forecast(None, "the step size falls along the chain, which then has no stationary law")
    question = Question(module, build, inputs)
    refused = question.refused()
    if refused:
        return Forecast(None, refused)
    zero = dict(zip((name for name, _ in module.blocks), question.starts(), strict=True))[module.potential_block]
    around = ""
    try:
        mode = find_mode(slope, starts or (Start("zero", zero),))
        question, around = replace(question, theta=mode.theta), mode.says
        width = question.width()
    except (ValueError, np.linalg.LinAlgError, RunError) as error:
        cures = tuple(cures_of(question, math.inf)) if TOO_LARGE in str(error) else ()
        return Forecast(None, str(error), cures, around=around)
    cures = tuple(cures_of(question, width.widest)) if width.widest > WIDE else ()
    return Forecast(width, "", cures, module.potential_block, names, around, module.contiguous)
