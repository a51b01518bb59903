"""The step size and friction of least work for one effective draw, by the audit of the step around the mode.

With the mass matched to the Hessian K of U at the mode every direction of theta swings at one frequency, and what is
left to choose are a friction gamma and the step size eps. For each gamma the longest eps is taken at which no posterior
sd is off by more than the share asked for and a chain is well inside its stable region; gamma moves by factors of two
towards less work (Ma, Chen and Fox 2015 leave D and Q free; any choice of them samples the same law).
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from recipe_compiler.advise.linear_step import AS_IT_IS, CONTROL_VARIATES
from recipe_compiler.advise.linearized_chain import LinearizedChain, Width
from recipe_compiler.advise.roles import LONGEST, Open, ParameterRole
from recipe_compiler.advise.spread import decimals, eigenvalues, inverse, unit
from recipe_compiler.advise.suggestions import rounded
from recipe_compiler.audit.figures import NoLawError
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.sample import unsaid

OF_STABLE = 0.5
"""The longest step over the longest that is stable where U is steepest."""

LOOKS = 16
"""The most step sizes that are tried for one friction."""

LONGER = 2.0
"""The most that a step may be longer when friction moves by a factor of two."""

FRICTIONS = 8
"""How many factors of two friction moves at most."""

WORK = {AS_IT_IS: 1.0, CONTROL_VARIATES: 2.0}
"""Gradients of a datum that are evaluated in a step, over those of the minibatch; subtracting V takes none."""

OVERHEAD = 10.0
"""What else a step does takes the time of so many gradients of a datum, and of one more for each coordinate."""

TIMED = 0.02
"""Processor seconds in which gradients are counted."""

SIZES = 10
"""How many factors of two the size of a batch moves at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Settings, and what a chain with them makes of the posterior."""

    linearized: LinearizedChain
    gamma: float
    width: Width
    stable: float | None

    @property
    def work(self) -> float:
        """What one effective draw takes, in gradients of a datum."""
        return self.width.steps * _work_of_step(self.linearized)


class _DearError(Exception):
    """Settings take more work than others that are known."""


_Ask = Callable[[float, Choice | None], Choice | None]
"""The choice for a value, compared with a choice known for another; raises `_DearError`."""


def _work_of_step(linearized: LinearizedChain) -> float:
    size = linearized.inputs.batch_size or linearized.inputs.rows
    return _work_of(linearized, WORK[linearized.noise] * size)


def _work_of(linearized: LinearizedChain, gradients: float) -> float:
    return OVERHEAD + len(linearized.at_mode.mode) + gradients


def seconds_of_step(linearized: LinearizedChain) -> tuple[float, float]:
    """Return the processor time of a step, and of one by all data, by that of the gradient of the rows at the mode."""
    slope, theta, calls = linearized.slope_of_few, linearized.at_mode.mode, 0
    slope(theta)  # compiles
    began = time.process_time()
    while (spent := time.process_time() - began) < TIMED:
        slope(theta)
        calls += 1
    rows = linearized.inputs.rows
    unit = spent / calls / _work_of(linearized, rows if linearized.sample is None else linearized.sample.size)
    return unit * _work_of_step(linearized), unit * _work_of(linearized, rows)


def matched(open_ones: tuple[Open, ...], K: Array, gamma: float) -> dict[str, Array]:
    """Return the value of each open parameter: mass M = K, friction gamma M, preconditioner inv(K), a length.

    Each is a matrix, the diagonal of one, or a number, as it is declared; of a K that is a diagonal none is a matrix.
    """
    mass = K if _has(open_ones, ParameterRole.MASS) else unit(len(K), diagonal=K.ndim == 1)
    of_array = {
        ParameterRole.MASS: K,
        ParameterRole.FRICTION: gamma * mass,
        ParameterRole.PRECONDITIONER: decimals(inverse(K)),
    }
    of_number = {
        ParameterRole.FRICTION: gamma,
        ParameterRole.PRECONDITIONER: 1.0 / float(eigenvalues(K)[-1]),
        ParameterRole.LENGTH: LONGEST,
    }

    def value(one: Open) -> Array:
        if one.is_number:
            return np.asarray(of_number[one.role])
        own = of_array[one.role]
        return own if one.is_matrix or own.ndim == 1 else np.diag(own).copy()

    return {one.name: value(one) for one in open_ones}


def slowest(open_ones: tuple[Open, ...], K: Array) -> float:
    """Return the lowest frequency that a step has along theta: 1 where the mass is matched to K."""
    return 1.0 if _has(open_ones, ParameterRole.MASS) else float(np.sqrt(eigenvalues(K)[0]))


def _has(open_ones: tuple[Open, ...], role: ParameterRole) -> bool:
    return any(one.role is role for one in open_ones)


def choose(
    candidates: tuple[LinearizedChain, ...],
    open_ones: tuple[Open, ...],
    K: Array,
    share: float,
    steep: float,
    say: Callable[[str], None] = unsaid,
    *,
    sizes: bool = False,
    below: float = math.inf,
) -> Choice:
    """Return the settings of least work per effective draw.

    For each friction gamma the largest eps at which no posterior sd is off by more than the share, well inside the
    stable region; gamma moves by factors of two, and so does the size of a batch where none is stated. Any D and Q
    sample the same law (Ma, Chen, Fox 2015, Theorem 1), so what is chosen is speed: work is steps, times the gradients
    of data in one and what else it does.

    Args:
        candidates: of the build at arbitrary values, one for each way to treat the noise of a minibatch.
        open_ones: the parameters to be chosen.
        K: the Hessian of U at the mode, d x d.
        share: by what part of it a posterior sd may be off.
        steep: the largest curvature that chains meet, over that at the mode.
        say: called with a line that describes the work that starts.
        sizes: whether the size of a batch is to be chosen, too.
        below: the work of another choice; larger batches are not tried where one step takes more.

    Raises:
        RunError: no step size does; says why.
    """
    # A momentum's longest stable step falls as the square root of the curvature, that of theta alone as the curvature.
    longest = OF_STABLE / (steep if _has(open_ones, ParameterRole.PRECONDITIONER) else math.sqrt(steep))
    first = slowest(open_ones, K) if _has(open_ones, ParameterRole.FRICTION) else None
    is_matched = _has(open_ones, ParameterRole.MASS) or _has(open_ones, ParameterRole.PRECONDITIONER)
    unit = 1.0 if is_matched else 1.0 / float(np.sqrt(np.linalg.eigvalsh(K)[-1]))
    why: list[str] = []
    asked_of = count(1)

    def of_friction(linearized: LinearizedChain, most: float) -> _Ask:
        def ask(gamma: float, near: Choice | None) -> Choice | None:
            size = f", {linearized.inputs.batch_size} data a step" if linearized.has_batches else ""
            say(f"planning: candidate {next(asked_of)}, the gradient {linearized.noise}, friction {gamma:g}{size}")
            asked = linearized.with_values(matched(open_ones, K, gamma))
            try:
                return _longest(asked, gamma, unit, share, longest, near, most)
            except (ValueError, np.linalg.LinAlgError, NoLawError) as error:
                why.append(str(error))
                return None

        return ask

    def of_size(linearized: LinearizedChain, most: float) -> _Ask:
        def ask(size: float, near: Choice | None) -> Choice | None:
            if not 1.0 <= size <= linearized.inputs.rows:
                return None
            asked = linearized.with_batch(int(size))
            if _work_of_step(asked) > most:
                raise _DearError
            return _least(of_friction(asked, most), first if near is None or first is None else near.gamma, FRICTIONS)

        return ask

    found: list[Choice | None] = []
    for linearized in candidates:
        most = min([below, *(choice.work for choice in found if choice is not None)])
        try:
            found.append(
                _least(of_size(linearized, most), float(linearized.inputs.batch_size or 1), SIZES)
                if sizes
                else _least(of_friction(linearized, most), first, FRICTIONS)
            )
        except _DearError:
            continue
    choices = [choice for choice in found if choice is not None]
    if not choices:
        said = f": {why[-1]}" if why else ""
        raise RunError(f"step_size: auto: no step size has every posterior sd within {100.0 * share:g} %{said}")
    return min(choices, key=lambda choice: choice.work)


def _least(ask: _Ask, first: float | None, most: int) -> Choice | None:
    """Return the choice of least work as a value moves by at most so many factors of two; the only one of None.

    Raises _DearError where the first is too dear.
    """
    best, at = ask(1.0 if first is None else first, None), first or 1.0
    for factor in (2.0, 0.5) if first is not None else ():
        value = at
        for _ in range(most):
            value *= factor
            try:
                found = ask(value, best)
            except _DearError:
                break
            if found is None and best is None:
                continue
            if found is None or (best is not None and found.work >= best.work):
                break
            best, at = found, value
    return best


def _longest(
    linearized: LinearizedChain, gamma: float, unit: float, share: float, longest: float, near: Choice | None,
    most: float,
) -> Choice | None:  # fmt: skip
    """Return the choice with the longest step that keeps to the share; None where it would be too short.

    Beside a known friction, `near`, no step is tried that is longer than `LONGER` times that one's. The error of a
    variance is at most as eps^2, and the steps for a draw at least as 1/eps: both together bound the work from below.

    Raises:
        ValueError, LinAlgError: nothing is known of the shortest that was looked at; says why.
        _DearError: it takes more work than `most`.
    """
    at_unit, stable = linearized.with_step(unit), None
    for _ in range(LOOKS):
        try:
            _, linear = at_unit.linear()
            stable = at_unit.largest_stable(linear)
            break
        except (ValueError, np.linalg.LinAlgError):
            at_unit = at_unit.with_step(at_unit.inputs.eps / 4.0)
    eps = at_unit.inputs.eps if stable is None else longest * stable
    eps = eps if near is None else min(eps, LONGER * near.linearized.inputs.eps)
    why: Exception | None = None
    for _ in range(LOOKS):
        asked = linearized.with_step(rounded(eps))
        try:
            width = asked.width()
        except (ValueError, np.linalg.LinAlgError) as error:
            eps, why = eps / 2.0, error
            continue
        why, found = None, Choice(asked, gamma, width, stable)
        if width.off <= 1.0 + share:
            return found
        if found.work > most * math.sqrt((2.0 * share + share**2) / (width.off**2 - 1.0)):
            raise _DearError
        eps *= min(0.9, max(0.3, 0.95 * share / (width.off - 1.0)))
    if why is not None:
        raise why
    return None
