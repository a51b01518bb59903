"""What a plan chose, as entries of the document of its build."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recipe_compiler.advise.roles import Open, ParameterRole, open_parameters
from recipe_compiler.advise.spread import MANY, decimals, symmetric
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Kind, Shape
from recipe_compiler.run.initial import stated_blocks
from recipe_compiler.run.sizes import declared_parameters, potential_block
from recipe_compiler.spec.build_minibatch import ESTIMATE
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.schema_build import OF_AUTO
from recipe_compiler.spec.to_yaml import Entry, number, restated
from recipe_compiler.spec.yaml_reader import MAX_NODES

SUBTRACTED: dict[str, dict[str, Entry | None]] = {"gradient_noise": {"V": ESTIMATE}}
"""What a document says of a build that subtracts the noise of its gradient at the mode."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenEntries:
    """What a plan chose, as opposed to what the build states itself."""

    stated: Build
    open_ones: tuple[Open, ...]
    eps: float
    paced: int
    """Steps from one draw to the next that its chains need."""
    warm: int
    """Draws that are thrown away."""
    batch_size: int | None
    values: Mapping[str, Array]
    varies: bool
    """Whether control variates are taken, at the mode."""
    start: Array
    start_covariance: Array
    subtracts: bool = False
    """Whether the noise of the gradient is given up, V being taken from the data at the mode."""
    goes_on: bool = False
    """Whether chains start as chosen also where the build says where: that is where its warm-up began."""

    @property
    def thin(self) -> int:
        """Steps from one draw to the next."""
        return self._own("thin") or self.paced

    @property
    def warmup(self) -> int:
        """Draws that are thrown away: as many steps of them, also where thinning is stated."""
        own = self._own("warmup")
        return math.ceil(self.warm * self.paced / self.thin) if own is None else own

    @property
    def changes(self) -> dict[str, dict[str, Entry | None]]:
        """What the document of the build has in addition."""
        run: dict[str, Entry | None] = {"step_size": number(self.eps), **dict.fromkeys(OF_AUTO)}
        run |= {"thin": str(self.thin), "warmup": str(self.warmup)}
        changes: dict[str, dict[str, Entry | None]] = {"run": run}
        if self.stated.variant == "minibatch":
            run["batch_size"] = str(self.batch_size)
        if self.varies:
            changes["minibatch"] = {"control_variates": "mode"}
        if self.subtracts:
            changes |= SUBTRACTED
        changes["parameters"] = parameter_entries(
            self.stated, {one.name: self.values[one.name] for one in self.open_ones}
        )
        if self.starts_chosen:
            self._add_starts(changes)
        return {section: entries for section, entries in changes.items() if entries}

    @property
    def starts_chosen(self) -> bool:
        """Whether where chains start is chosen."""
        return self.goes_on or potential_block(self.stated) not in dict(self.stated.init)

    @property
    def of_batches(self) -> tuple[str, ...]:
        """What is said of minibatches, if there are any."""
        if self.stated.variant != "minibatch":
            return ()
        kind = "with control variates at the mode" if self.varies else "as it is"
        less = ", its noise at the mode subtracted" if self.subtracts else ""
        return (f"  batch_size: {self.batch_size}, the gradient {kind}{less}",)

    def matched_to(self, one: Open, K: str, S: str, gamma: str) -> str:
        """Return, in words, what a parameter's value was matched to.

        Args:
            one: the parameter.
            K: what a mass is, in words.
            S: what a preconditioner is.
            gamma: the friction over the mass.
        """
        match one.role:
            case ParameterRole.MASS:
                return K
            case ParameterRole.FRICTION if one.is_number:
                return f"{float(self.values[one.name]):.3g}"
            case ParameterRole.FRICTION:
                mass = next((other.name for other in self.open_ones if other.role is ParameterRole.MASS), "I")
                return f"{gamma} {mass}"
            case ParameterRole.LENGTH:
                return f"{float(self.values[one.name]):g}, by effective draws per gradient"
            case ParameterRole.PRECONDITIONER:
                return f"{float(self.values[one.name]):g}" if one.is_number else S

    def _own(self, name: str) -> int | None:
        """Return a setting that the document states itself."""
        return getattr(self.stated.run, name) if states(self.stated, name) else None

    def _add_starts(self, changes: dict[str, dict[str, Entry | None]]) -> None:
        """Let chains start wide around a state: new parameters `start` and `start_covariance`, or `start_variances`."""
        is_diagonal = self.start_covariance.ndim == 1
        mass = matched_mass(self.stated, self.open_ones) if self.goes_on else None
        numbers = (self.start, decimals(symmetric(self.start_covariance)))
        starts = start_parameters(self.stated, mass, is_diagonal=is_diagonal)
        for one, array in zip(starts, numbers, strict=mass is None):
            sizes = [str(size) for size in one.shape.sizes]
            shape: dict[str, Entry | None] = {"shape": sizes if len(sizes) > 1 else sizes[0]} if sizes else {}
            kind: dict[str, Entry | None] = {} if one.kinds == (Kind.REAL,) else {"is": one.kinds[0].value}
            value = _entry(array if sizes else array.reshape(()))
            changes["parameters"] |= {one.name: {**shape, **kind, "value": value}}
        spread = f"diag({starts[-1].name})" if is_diagonal else starts[-1].name
        if mass is not None:
            wide = float(np.trace(self.start_covariance @ self.values[mass.name])) / len(self.start)
            spread = f"inv({mass.name})*{number(float(f'{wide:.6g}'))}"
        changes["init"] = {potential_block(self.stated): f"{starts[0].name} + N(0, {spread})"}
        if self.goes_on:
            changes["init"] |= dict.fromkeys(stated_blocks(self.stated))


def matched_mass(build: Build, open_ones: tuple[Open, ...]) -> Open | None:
    """Return the mass that a plan matches to the bulk as a whole matrix, by whose inverse chains begin; None without.

    A name that the target has too may mean another thing in `init`.
    """
    declared = build.target.declarations
    taken = {item.name for item in (*declared.blocks, *declared.parameters, *declared.data)}
    return next(
        (one for one in open_ones if one.role is ParameterRole.MASS and one.is_matrix and one.name not in taken), None
    )


def start_parameters(build: Build, mass: Open | None, *, is_diagonal: bool) -> tuple[Parameter, ...]:
    """Return the parameters by which chains begin around a state: `start`, and how wide, d x d or its diagonal.

    With a `mass` that is matched it is its inverse that says how wide.
    """
    own = potential_block(build)
    size = next(block.shape.sizes for block in build.dynamics.declarations.blocks if block.name == own)
    is_matrix = bool(size) and not is_diagonal
    mean, spread = (
        free_name(name, build) for name in ("start", f"start_{'variances' if is_diagonal else 'covariance'}")
    )
    wide = Parameter(spread, Shape(*(size * 2 if is_matrix else size)), (Kind.PD if is_matrix else Kind.POSITIVE,))
    return (Parameter(mean, Shape(*size)),) if mass is not None else (Parameter(mean, Shape(*size)), wide)


def parameter_entries(build: Build, values: Mapping[str, Array]) -> dict[str, Entry | None]:
    """Return the entries of parameters in the document of a build, with values added to what it says already."""
    said = dict(json.loads(build.source.document).get("parameters") or [])
    return {name: {**dict(said.get(name) or {}), "value": _entry(value)} for name, value in values.items()}


def states(build: Build, setting: str) -> bool:
    """Whether the document of a build has a setting of its run itself."""
    return setting in json.loads(build.source.document).get("run", {})


def _entry(array: Array) -> Entry:
    """Return numbers as a document has them: one, a list, a list of rows."""
    return number(float(array)) if array.ndim == 0 else [_entry(part) for part in array]


def free_name(name: str, build: Build) -> str:
    """Return a name that nothing in a build has."""
    documents = (build.dynamics, build.target, build.target.as_declared)
    taken = {parameter.name for parameter in declared_parameters(build)}
    taken = taken.union(*(one.declarations.names for one in documents))
    while name in taken:
        name += "_"
    return name


OWN = 1_000
"""Nodes of a document that are not numbers of a plan."""


def with_diagonals(build: Build, width: int) -> Build:
    """Return a build whose open matrices are bound to diagonals, `M: diag(mass)`, where it has many coordinates.

    Args:
        build: with `step_size: auto`, and a move that is accepted or refused.
        width: coordinates of the potential's block.
    """
    matrices = [one for one in open_parameters(build) if one.is_matrix] if width > MANY else []
    bound: dict[str, Entry | None] = {}
    declared: dict[str, Entry | None] = {}
    for one in matrices:
        name = free_name(one.role.value, build)
        bound[one.name] = f"diag({name})"
        declared[name] = {"shape": str(one.parameter.shape.sizes[0]), "is": "positive"}
    return restated(build, {"bind": bound, "parameters": declared}) if matrices else build


def demand_statable(build: Build, width: int) -> None:
    """Raise RunError for more numbers than the document of a build holds, before any of them is looked for."""
    open_ones = open_parameters(build)
    matrices = sum(one.is_matrix for one in open_ones)
    columns = sum(not one.is_matrix and not one.is_number for one in open_ones)
    is_diagonal = build.has_acceptance and width > MANY
    if build.has_acceptance or potential_block(build) not in dict(build.init):  # where chains start, and how wide
        matrices, columns = matrices + (not is_diagonal), columns + 1 + is_diagonal
    numbers = matrices * width**2 + columns * width
    if numbers > MAX_NODES - OWN:
        raise RunError(
            f"step_size: auto: found {width} coordinates, whose plan has {numbers:,} numbers, expected at most "
            f"{MAX_NODES - OWN:,}, the limit of a document; state a step size and a value of every parameter"
            + ("" if is_diagonal else f", or take dynamics `hmc`, which is planned up to {(MAX_NODES - OWN) // 3:,}")
        )
