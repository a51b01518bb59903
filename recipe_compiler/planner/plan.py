"""The plan of a run: everything a build leaves to `step_size: auto`, as entries of its document.

A plan is made around the mode theta* of U, with K = Hess U(theta*) by central differences of the emitted gradient. What
it chooses is put into the document as its author would have put it there, and the build that results is decided,
emitted and read back as any other: a plan proves nothing and relies on nothing unproved.
"""

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import RunError
from recipe_compiler.planner.other_modes import main_mode
from recipe_compiler.planner.roles import Open, Role, open_parameters
from recipe_compiler.planner.search import Choice, choose, decimals
from recipe_compiler.planner.steepness import Surroundings, surroundings
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.forecast import NoForecastError, question_of
from recipe_compiler.run.linear_step import curvature
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import Mode, Start, find_mode
from recipe_compiler.run.question import AS_IT_IS, CONTROL_VARIATES
from recipe_compiler.run.sizes import declared_parameters
from recipe_compiler.run.suggestions import HELD_SHARPNESS
from recipe_compiler.spec.model import Build, Value
from recipe_compiler.spec.restate import Entry, number, restated

Array = NDArray[np.float64]

BATCH = 100
"""Data of a minibatch where the build does not say."""

WARMUP = 20.0
"""Effective draws that are thrown away."""

SPREAD = 2.0
"""Chains start as widely as this many posterior sds, or less where U is steeper than a quadratic."""

BENT = 2.0
"""How many times as steep as at the mode U may be away from it for the linear step to tell how long chains take."""

TRIAL = 2.0**-10
"""The step size of the module that is asked for the gradient; no chain is run with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What was chosen, and why."""

    build: Build
    """With every choice in its document."""
    says: tuple[str, ...]
    """In lines, for whoever runs it."""
    bends: bool = False
    """Whether U is so much steeper away from the mode that a linear step does not tell how long chains take."""


def trial(build: Build, width: int, rows: int) -> Build:
    """Return a build with any values in the place of those to be chosen, to be compiled and asked for its gradient.

    Args:
        build: with `step_size: auto`.
        width: coordinates of the potential's block.
        rows: of the data.

    Raises:
        RunError: a parameter has no value, and nothing that it could be matched to.
    """
    ones = tuple((one.name, _value(np.eye(width) if one.is_matrix else np.ones(()))) for one in open_parameters(build))
    size = build.run.batch_size or min(BATCH, rows)
    run = replace(build.run, step_size=TRIAL, batch_size=size if build.variant == "minibatch" else None)
    return replace(build, values=(*build.values, *ones), run=run, stated_step_size=Fraction(TRIAL))


def plan(
    stated: Build, tried: Build, compiled: Module, module: Emitted, inputs: Inputs, starts: tuple[Start, ...]
) -> Plan:
    """Return what a run of a build should be.

    Args:
        stated: with `step_size: auto`.
        tried: the same with any values, which `compiled`, `module` and `inputs` are of.
        compiled: as it was emitted.
        module: the same, imported.
        inputs: what its chains would be given.
        starts: where the search for the mode begins, one after another.

    Raises:
        RunError: there is no mode, there are several, or no step size that keeps to the share; says what to do.
    """
    try:
        question = question_of(compiled, module, tried, inputs, starts[0].theta)
    except NoForecastError as why:
        raise RunError(f"step_size: auto: {why}; state a step size, and a value of every parameter") from None
    slope = question.slope_of_few
    mode = find_mode(slope, starts)
    _demand_definite(curvature(slope, mode.theta))
    mode = main_mode(slope, mode, starts, question.entries)
    K = decimals(_demand_definite(curvature(slope, mode.theta)))
    around, mode = surroundings(slope, mode.theta, K), question.refined(mode)
    question = replace(question, theta=mode.theta, sharpness=min(HELD_SHARPNESS, stated.share / 4.0))
    open_ones, gradient = open_parameters(stated), compiled.program.gradient
    may_vary = stated.variant == "minibatch" and stated.control is None
    kinds = (AS_IT_IS, CONTROL_VARIATES) if may_vary and gradient and not gradient.stacked else (AS_IT_IS,)
    choice = choose(question, open_ones, K, kinds, stated.share, around.steepest)
    chosen = _Chosen(stated, open_ones, choice, mode, K, around)
    return Plan(restated(stated, chosen.changes), chosen.says, around.steepest > BENT)


def states(build: Build, setting: str) -> bool:
    """Whether the document of a build has a setting of its run itself."""
    return setting in json.loads(build.source.document).get("run", {})


def _demand_definite(K: Array) -> Array:
    """Return the Hessian of U at the mode; a fault where nothing follows from it for the width of the posterior."""
    least = float(np.linalg.eigvalsh(K)[0]) if np.isfinite(K).all() else math.nan
    if least > 0.0:
        return K
    raise RunError(
        f"step_size: auto: the Hessian of U at the mode is not positive definite (smallest eigenvalue {least:.3g}), so "
        "that nothing is known there of the width of the posterior; state a step size, or another parameterisation"
    )


def _value(array: Array) -> Value:
    return Value(tuple(tuple(Fraction(float(entry)) for entry in row) for row in np.atleast_2d(array)))


def _entry(array: Array) -> Entry:
    """Return numbers as a document has them: one, a list, a list of rows."""
    return number(float(array)) if array.ndim == 0 else [_entry(part) for part in array]


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """A choice beside what the build states itself."""

    stated: Build
    open_ones: tuple[Open, ...]
    choice: Choice
    mode: Mode
    K: Array
    around: Surroundings

    @property
    def thin(self) -> int:
        """Steps from one draw to the next: two draws in the time of one that counts."""
        return self._own("thin") or max(1, math.ceil(self.choice.width.steps / 2.0))

    @property
    def warmup(self) -> int:
        own = self._own("warmup")
        return math.ceil(WARMUP * self.choice.width.steps / self.thin) if own is None else own

    @property
    def changes(self) -> dict[str, dict[str, Entry | None]]:
        """What the document of the build has in addition."""
        inputs = self.choice.question.inputs
        run: dict[str, Entry | None] = {"step_size": number(inputs.eps), "share": None}
        run |= {"thin": str(self.thin), "warmup": str(self.warmup)}
        changes: dict[str, dict[str, Entry | None]] = {"run": run}
        if self.stated.variant == "minibatch":
            run["batch_size"] = str(inputs.batch_size)
        if self.choice.question.noise == CONTROL_VARIATES:
            changes["minibatch"] = {"control_variates": "mode"}
        changes["parameters"] = {
            one.name: {**self._declared(one.name), "value": _entry(self._of(one))} for one in self.open_ones
        }
        if self.block not in dict(self.stated.init):
            self._add_starts(changes)
        return {section: entries for section, entries in changes.items() if entries}

    @property
    def says(self) -> tuple[str, ...]:
        """The plan in lines."""
        choice, width = self.choice, self.choice.width
        d, condition = len(self.K), float(np.linalg.cond(self.K))
        off = 100.0 * (width.off - 1.0)
        shape = f"Hessian of U {d} x {d}, condition number {condition:.2g}"
        shape += f", {choice.question.of_how_many}" if choice.question.of_how_many else ""
        lines = [f"plan: around the mode found from {self.mode.says}; {shape}"]
        lines += [f"  {one.name}: {self._matched_to(one)}" for one in self.open_ones]
        stable = "" if choice.stable is None else f", stable up to {choice.stable:.2g}"
        lines.append(f"  step_size: {choice.question.inputs.eps:g}{stable}; posterior sds at most {off:.2g} % off")
        if self.stated.variant == "minibatch":
            kind = "with control variates at the mode" if choice.question.noise == CONTROL_VARIATES else "as it is"
            lines.append(f"  batch_size: {choice.question.inputs.batch_size}, the gradient {kind}")
        lines.append(
            f"  thin: {self.thin}, warmup: {self.warmup} draws; {width.steps:.3g} steps are worth one independent draw"
        )
        if self.block not in dict(self.stated.init):
            lines.append(f"  init: around the mode, {SPREAD:g} posterior sds wide at most")
        return tuple(lines)

    @property
    def block(self) -> str:
        """The name of the potential's block in the dynamics."""
        declared = self.stated.dynamics.declarations.functions
        return next(function.of[0] for function in declared if function.role == "potential")

    def _own(self, name: str) -> int | None:
        """Return a setting that the document states itself."""
        return getattr(self.stated.run, name) if states(self.stated, name) else None

    def _declared(self, name: str) -> dict[str, Entry]:
        """Return what the document says of a parameter already."""
        return dict(dict(json.loads(self.stated.source.document).get("parameters") or []).get(name) or {})

    def _of(self, one: Open) -> Array:
        question = self.choice.question
        return np.asarray(question.inputs.parameters[question.place_of(one.name)])

    def _matched_to(self, one: Open) -> str:
        gamma = self.choice.gamma
        match one.role:
            case Role.MASS:
                return "the Hessian of U"
            case Role.FRICTION if not one.is_matrix:
                return f"{gamma:g}"
            case Role.FRICTION:
                mass = next((other.name for other in self.open_ones if other.role is Role.MASS), "I")
                return f"{gamma:g} {mass}"
            case Role.PRECONDITIONER:
                return "the inverse of the Hessian of U" if one.is_matrix else f"{float(self._of(one)):g}"

    def _add_starts(self, changes: dict[str, dict[str, Entry | None]]) -> None:
        """Let chains start around the mode, wider than the posterior: new parameters `start` and `start_covariance`."""
        declared = {parameter.name for parameter in declared_parameters(self.stated)}
        mean, spread = (_free(name, declared) for name in ("start", "start_covariance"))
        block = next(b for b in self.stated.dynamics.declarations.blocks if b.name == self.block)
        spread_out = self.around.spread
        covariance = decimals(SPREAD**2 * (spread_out + spread_out.T) / 2.0)
        size = [str(size) for size in block.shape.sizes]
        shapes = ({"shape": size[0]}, {"shape": size * 2}) if size else ({}, {})
        values = (self.mode.theta, covariance) if size else (self.mode.theta.reshape(()), covariance.reshape(()))
        kinds = ({}, {"is": "positive definite" if size else "positive"})
        changes["parameters"] |= {
            name: {**shape, **kind, "value": _entry(value)}
            for name, shape, kind, value in zip((mean, spread), shapes, kinds, values, strict=True)
        }
        changes["init"] = {self.block: f"{mean} + N(0, {spread})"}


def _free(name: str, taken: set[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)
