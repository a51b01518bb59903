"""The processor time that chains may take while settings are looked for, and what is known where it is over."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recipe_compiler.advise.moments import AGREE, effective_shares, r_hats
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.run.sample import unsaid
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Target

LAST = 400
"""Draws of each chain that are looked at where the time is over."""

FEW = 20
"""Draws of each chain that tell nothing."""

NAMED = 3
"""Coordinates that are named at most."""

LONGER = "Try `warmup_seconds` under `run` (`--set run.warmup_seconds=600`) to wait longer"
OTHERWISE = "`init` near the bulk; or dynamics `sghmc`, which is planned at the mode if U has one"


def cures(target: Target) -> str:
    """Return what may serve; another parameterisation only of a block whose stated scale is of the state."""
    for one in target.stated.densities:
        scale = dict(zip(DENSITIES[one.name].arguments, one.arguments, strict=True)).get(DENSITIES[one.name].scale)
        if one.entry == "log_prior" and one.of and scale is not None and dependence(scale).blocks:
            form = f"a non-centred parameterisation of {one.of} (eta ~ N(0, 1), and mu + tau*eta in its place)"
            return f"{LONGER}; {form}; {OTHERWISE}"
    return f"{LONGER}; {OTHERWISE}"


class OverBudgetError(Exception):
    """Chains that look for settings took more processor time than they may.

    It is no RunError, as no plan is made in another way instead: what is planned does not depend on the machine's load.
    """


@dataclass(slots=True, eq=False)
class Budget:
    """What chains that look for settings may take. It ends a plan with a refusal, and changes nothing else of it."""

    seconds: float
    """Processor time; the first piece of work, which compiles, is not of it."""
    say: Callable[[str], None] = unsaid
    """Called with what is being done."""
    clock: Callable[[], float] = time.process_time
    began: float | None = None
    gradients: float = 1.0
    """Gradients of one of the last draws."""
    last: "deque[Array]" = field(default_factory=lambda: deque(maxlen=LAST))
    """Draws, chain x draw x coordinate, the newest last."""

    def demand(self) -> None:
        """Raise OverBudgetError where the time is over."""
        now = self.clock()
        self.began = now if self.began is None else self.began
        if now - self.began > self.seconds:
            raise OverBudgetError(f"chains took more than {self.seconds:g} processor seconds")

    def keep(self, theta: Array, gradients: float) -> None:
        """Remember draws, chain x draw x coordinate, each of so many gradients."""
        if self.last and self.last[-1].shape[0] != theta.shape[0]:
            self.last.clear()
        self.last.append(theta[:, -LAST:])
        self.gradients = gradients

    def refused(self, names: Sequence[str], cures: str) -> RunError:
        """Return the fault: what was over, what the last draws tell, and what may serve."""
        over = f"step_size: auto: warm-up took more than {self.seconds:g} processor seconds"
        theta = np.concatenate(list(self.last), axis=1)[:, -LAST:] if self.last else np.zeros((0, 0, 0))
        chains, draws = theta.shape[:2]
        if draws < FEW:
            return RunError(f"{over}; chains made {draws} draws. {cures}")
        with np.errstate(all="ignore"):
            shares = np.nan_to_num(effective_shares(theta), nan=0.0)
            apart = np.nan_to_num(r_hats(theta), nan=np.inf)
        worst = int(np.argmin(shares))
        steps = self.gradients / max(float(shares[worst]), 1.0 / (chains * draws))
        stuck = [int(k) for k in np.argsort(-apart)[:NAMED] if not apart[k] <= AGREE]
        known = (
            f"{over}. By the last {draws} draws of {chains} chains, one effective draw of {names[worst]} takes about"
        )
        far = ", ".join(f"{names[k]} (R-hat {apart[k]:.3g})" for k in stuck)
        differ = f"; chains differ most in {far}" if stuck else ""
        return RunError(f"{known} {steps:,.0f} gradients{differ}. {cures}")
