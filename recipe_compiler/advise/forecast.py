"""Before a run: how much too wide the posterior will come out, how many steps a draw takes, and what cures either.

The step is made linear around the state where it stands still on average, near the mode: exact where U is quadratic,
else a forecast. Every cure is found by asking again with other settings.
"""

import math
from dataclasses import dataclass

import numpy as np

from recipe_compiler.advise.chosen import PilotFigures
from recipe_compiler.advise.linearized_chain import LinearizedChain, Width
from recipe_compiler.advise.quadratic_target import quadratic_module
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.suggestions import TOO_LARGE, WIDE, Cure, cures_of
from recipe_compiler.audit.figures import NoLawError
from recipe_compiler.audit.thermostat import thermostats
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.program.atoms import drift_is_linear, noise_is_steady
from recipe_compiler.run.map_estimate import ENTRIES, Mode
from recipe_compiler.run.sizes import potential_block

BY_MOVES = "a cycle of moves is not linearised; `recipe check` says what its moves preserve"
BY_BATCHES = f"not forecast: by how much minibatches widen what `cir` moves; {BY_MOVES}"
NO_NOISE = "a step without noise is not ergodic: its chains depend on their start"


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """What is known of a run before it starts."""

    width: Width | None
    """None where the step cannot be made linear."""
    why_not: str = ""
    cures: tuple[Cure, ...] = ()
    block: str = "theta"
    """The block whose sds they are."""
    names: tuple[str, ...] = ()
    """Names of its coordinates, as in the summary."""
    around: str = ""
    """Where the search for the mode began that the step is made linear at."""
    contiguous: bool = False
    """Whether batches are blocks of data: V then depends on their order, and is its mean over all orders here."""
    stable: float | None = None
    """The step size above which chains with exact gradients leave the mode; None where that is not known."""
    variant: str = "minibatch"
    measured: PilotFigures | None = None
    """What it says, where pilot chains of a plan found it."""
    beside: str = ""
    """What counts as of the step size: noise that is added, a V that is subtracted."""
    bends: bool = False
    """Whether U is far from quadratic one sd away from the mode, so that its curvature there does not tell sds."""
    mode: Mode | None = None
    """The mode that it is around; None where none was searched for, or found."""
    autocorrelations: Array | None = None
    """Those of theta between kept draws k = 0, 1, ... apart: `[k, coordinate]`."""

    @classmethod
    def of(cls, measured: PilotFigures, block: str, variant: str, names: tuple[str, ...], thin: int) -> "Forecast":
        """Return the forecast from pilot chains of a plan, which replaces that of the step made linear at a mode."""
        width = Width(
            measured.sds,
            tuple(1.0 + error for error in measured.of_sds),
            math.nan,
            math.nan,
            measured.mean,
            measured.steps,
            measured.worst,
            max(1.0, measured.steps / thin),
        )
        return cls(width, block=block, names=names, variant=variant, measured=measured)

    @property
    def says(self) -> tuple[str, ...]:
        """The forecast in lines: what will come, then what can be done."""
        if self.width is not None and self.measured is not None:
            return (
                f"forecast: by pilot chains of the plan: posterior sds off by {self.measured.off} at most "
                f"({self.names[self.measured.worst]}), means by {self.measured.shift}",
                f"  one effective draw takes {self.width.steps:.3g} steps ({self.width.draws:.3g} draws of this run)",
            )
        cures = tuple(
            f"  {_setting(cure)}: {_wide(cure.width.factors[cure.width.worst])} at most; {cure.cost}"
            for cure in self.cures
        )
        if self.width is None:
            return (f"forecast: none: {self.why_not}", *cures)
        width = self.width
        of_noise = width.temperature - 1.0 - width.of_step
        noise = f"minibatch noise {_known(of_noise):+.2g}, " if self.variant != "full" else ""
        of_step = f"step size{self.beside} {_known(width.of_step):+.2g}"
        first = (
            f"forecast: effective temperature {width.temperature:.3g} ({noise}{of_step}); "
            f"posterior sd {_wide(width.factors[width.worst])} at most ({self.names[width.worst]})"
        )
        stable = "" if self.stable is None else f"; stable up to a step size of {self.stable:.2g}"
        speed = (
            f"  one effective draw takes {width.steps:.3g} steps ({self.names[width.slowest]}; "
            f"{width.draws:.3g} draws of this run){stable}"
        )
        order = ("  blocks of data: on average over orders of the rows; the order in this file may differ",)
        bends = "; U is far from quadratic one sd away from it, and chains that get there behave differently"
        around = f"  around the mode found from {self.around}{bends if self.bends else ''}"
        return (first, around, speed, *(order if self.contiguous else ()), *cures)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the posterior of the run is not to be believed; a plan by pilot chains keeps to its share."""
        if self.measured is not None:
            return ()
        smaller = "try a smaller step size." if self.variant == "full" else "try a smaller step size or a larger batch."
        cures = "its cures are listed before the run." if self.cures else smaller
        if self.why_not == NO_NOISE:
            return (f"{NO_NOISE}. Add friction with its noise: a D that is not 0, as in SGHMC by `baoab`.",)
        if self.width is None:
            too_large = TOO_LARGE in self.why_not
            return (f"by the forecast no chain stays at the posterior: {self.why_not}; {cures}",) if too_large else ()
        found: list[str] = []
        if not self.width.widest <= WIDE:
            found.append(f"by the forecast the posterior sd is {_wide(self.width.widest)}; {cures}")
        if not self.width.narrowest * WIDE >= 1.0:
            narrow = f"by the forecast the posterior sd is {_wide(self.width.narrowest)}"
            less = "" if self.variant == "full" else ", or subtract less of the gradient's noise (V)"
            found.append(f"{narrow}; {cures if self.cures else f'try a smaller step size{less}.'}")
        return tuple(found)

    @property
    def trust(self) -> str:
        """What speaks for a run that has no doubts; empty where there is no forecast, or U is far from quadratic."""
        if self.width is None or self.bends:
            return ""
        if self.measured is not None:
            return f"pilot chains (sds off by {self.measured.off} at most)" if self.measured.is_known else ""
        return f"sds by the forecast within {100.0 * (self.width.off - 1.0):.1f} % of the Gaussian at the mode"

    @property
    def attributes(self) -> dict[str, str | float]:
        """What the file of the draws keeps."""
        if self.width is None:
            return {"forecast": self.why_not}
        if self.measured is not None:
            return {
                "forecast": "by pilot chains",
                "forecast_widest": self.width.widest,
                "forecast_steps": self.width.steps,
            }
        return {
            "forecast_temperature": self.width.temperature,
            "forecast_widest": self.width.widest,
            "forecast_steps": self.width.steps,
        }

    @property
    def group(self) -> dict[str, Array]:
        """What the file of the draws keeps of each coordinate, in the order of `names`; empty without a linear step."""
        if self.width is None or self.autocorrelations is None:
            return {}
        sd = np.array(self.width.sds)
        of_target = sd / np.array(self.width.factors)
        mean = np.array(self.width.mode)
        return {"mean": mean, "sd": sd, "sd_of_target": of_target, "autocorrelation": self.autocorrelations.T}


class NoForecastError(Exception):
    """A build, or a run, whose step is not made linear; says why."""


class LongStateError(NoForecastError):
    """A build whose state is too long for its step to be made linear."""


class NotLinearError(NoForecastError):
    """A build whose steps are near to no linear one, though chains of it can be run: bounded domains, uneven noise."""


def linearized_chain_of(sampler: Sampler) -> LinearizedChain:
    """Return the chain of a run whose step can be made linear at a mode.

    Raises:
        NoForecastError: its step cannot be made linear: a cycle of moves, no noise, a bounded domain, a gradient that
            is code, a step size that falls.
    """
    program, inputs, slope = sampler.compiled.program, sampler.inputs, sampler.slope
    if program.cycle is not None:
        raise NoForecastError(
            BY_BATCHES if sampler.module.variant == "minibatch" and not sampler.build.control else BY_MOVES
        )
    if not program.noises:
        raise NoForecastError(NO_NOISE)
    if sampler.bounded:
        raise NotLinearError(f"`{sampler.bounded[0]}` has a bounded domain, where no step is linear")
    if slope is None or inputs.gradient is not None:
        raise NoForecastError("the gradient of the target is code")
    if inputs.falls:
        raise NoForecastError("the step size decreases along the chain, which then has no stationary distribution")
    if not noise_is_steady(program, thermostats(program)):
        # it is balanced by friction that depends on the state alike, of which a linear step has one value alone
        raise NotLinearError("the noise of a step depends on the state, so a linear step gives no forecast")
    if not drift_is_linear(program, thermostats(program)):
        raise NotLinearError("a step would not be linear if U were quadratic, so a linear step gives no forecast")
    linearized = LinearizedChain(sampler, slope, quadratic_module(sampler.compiled, sampler.module))
    if linearized.too_long:
        raise LongStateError(linearized.too_long)
    if linearized.has_batches and inputs.rows < 2:
        raise NoForecastError("one datum does not show the noise of a minibatch")
    return linearized.of_few(ENTRIES)


def _wide(factor: float) -> str:
    if factor < 1.0:
        return f"{100.0 * (1.0 - factor):.1f} % too narrow"
    return f"{100.0 * (factor - 1.0):.1f} % too wide" if factor < 2.0 else f"{factor:.2g} times too wide"


def _known(part: float) -> float:
    """Return a part of the temperature as far as differences of a step tell it."""
    return round(part, 6) + 0.0


def _setting(cure: Cure) -> str:
    return f"{cure.setting}: {cure.value}" if isinstance(cure.value, str) else f"{cure.setting}: {cure.value:g}"


def forecast(sampler: Sampler) -> Forecast:
    """Return what a run will sample, and how fast, by its step made linear at the mode.

    With F and the noise of the step there, S = F S F.T + Sigma is the covariance of the chain, compared with inv(Hess
    U); times are integrated autocorrelation times (Sokal 1997). Exact where U is quadratic, otherwise a forecast. Where
    sds are off, other settings are tried in the same way.
    """
    build, module, names = sampler.build, sampler.module, sampler.names
    try:
        linearized = linearized_chain_of(sampler)
    except NoForecastError as why:
        return Forecast(None, str(why))
    around, mode = "", None
    try:
        mode = linearized.mode_from(sampler.starts, names)
        linearized, around = linearized.around(mode.theta), mode.says
        step, linear = linearized.linear()
        width, stable = linearized.width_of(step, linear), linearized.largest_stable(linear)
        bends, autocorrelations = linearized.bends, linearized.autocorrelations(step, linear)
        around += "".join(f", {name} held at {value[0]:.4g}" for name, value in step.step.held)
        around += f", {linearized.of_how_many}" if linearized.of_how_many else ""
    except (ValueError, np.linalg.LinAlgError, NoLawError, RunError) as error:
        cures = tuple(cures_of(linearized, math.inf, str(error))) if TOO_LARGE in str(error) else ()
        return Forecast(None, str(error), cures, around=around, variant=module.variant, mode=mode)
    cures = tuple(cures_of(linearized, width.off, of_step=width.of_step)) if width.off > WIDE else ()
    return Forecast(
        width, "", cures, potential_block(build), names, around, module.contiguous, stable, module.variant, bends=bends,
        beside=" and noise added" * (build.W is not None) + " and V subtracted" * (not is_zero(build.V)), mode=mode,
        autocorrelations=autocorrelations,
    )  # fmt: skip
