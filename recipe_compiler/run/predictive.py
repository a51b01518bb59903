"""Data that a model would give: drawn from the densities that its target states, by draws of posterior and prior.

    posterior_predictive   y~_n from the density of y_n in log_likelihood, at every draw of the posterior
    prior                  blocks from the densities of log_prior, each after those that its arguments name
    prior_predictive       y~_n at each of these

Draws are NumPy's, from streams of the run's seed that no chain uses: the same seed, the same draws.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.errors import DataError, RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName, Sizes
from recipe_compiler.run.data import Data, field_rows, rows_of
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows, extents
from recipe_compiler.run.row_states import fields_of_states, states_before_rows
from recipe_compiler.run.sample import known_values
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, RunSettings, StatedDensity, Target, Transform
from recipe_compiler.spec.recursion import OPEN
from recipe_compiler.spec.transform import with_one_bound

if TYPE_CHECKING:
    from xarray import DataTree

PRIOR_DRAWS = 500
"""Draws of the prior."""

POSTERIOR, PRIOR = 3, 4
"""The random streams of a chain other than those of noise, minibatches and start."""


@dataclass(frozen=True, slots=True, eq=False)
class Predictive:
    """What data are drawn from: fields and blocks with their densities, in an order in which they can be drawn."""

    fields: tuple[StatedDensity, ...]
    blocks: tuple[StatedDensity, ...] = ()
    why_no_prior: str = ""
    above: Formula | None = None
    """The log probability that a datum of the one field is drawn from its density, and is not 0."""


def predictive_of(target: Target) -> Predictive:
    """Return what data of a target can be drawn from: y~_n by the density stated of y_n, blocks by their priors.

    Raises:
        RunError: it states no density of a field of the data, with what it would have to state; or it has discrete
            blocks, or a recursion that reads what would be drawn.
    """
    if discrete := discrete_blocks(target.declarations):
        found = f"the discrete block {discrete[0].name}, which belongs to the observed data"
        raise RunError(f"data of {target.name}: found {found}; expected none: it has no rows for new data")
    fields, above = _fields(target)
    if drawn := sorted({one.of for one in fields} & fields_of_states(target)):
        found, expected = f"a recursion that reads {drawn[0]}: {OPEN}", "a density of rows that are independent"
        raise RunError(f"data of {target.name}: found {found}, expected {expected}")
    whole = [one for one in fields if not _by_rows(DENSITIES[one.name])]
    if whole:
        found = "it cannot be drawn row by row"
        raise RunError(f"data of {whole[0].name}: {found}, expected a distribution of one number, or a normal one")
    ordered = tuple(_in_order(fields))
    try:
        return Predictive(ordered, tuple(_of_blocks(target)), above=above)
    except RunError as error:
        return Predictive(ordered, why_no_prior=str(error), above=above)


def _by_rows(row: Density) -> bool:
    """Whether data of a law are drawn row by row: numbers, positions, and vectors around a mean."""
    return row.of_entry or row.index or (bool(row.matrices) and row.of_set is None)


def _fields(target: Target) -> tuple[list[StatedDensity], Formula | None]:
    """Return the densities that are the law of the data, and `Predictive.above`.

    Raises:
        RunError: there is none.
    """
    declared = {datum.name for datum in target.declarations.data}
    own = [one for one in target.stated.densities if one.entry == "log_likelihood"]
    fields = [one for one in own if one.of in declared]
    above = None
    if len(fields) == 1 and not fields[0].is_term:
        from recipe_compiler.run.hurdles import probability_above  # brings SymPy, which no other law needs

        above = probability_above(target, fields[0])
    named = [one.of for one in fields]
    if not fields:
        found = "none"
    elif twice := next((name for name in named if named.count(name) > 1), ""):
        found = f"two of {twice}"
    elif above is None and (part := next((one.of for one in fields if not one.is_term), "")):
        found = f"a part of a formula of {part}"
    elif above is None and (also := next((name for name in named if name in _beside(target, own, fields)), "")):
        found = f"one of {also} and a summand beside it that contains {also}"
    elif above is None and (cut := _cut_off(target, fields)):
        found = cut
    else:
        return fields, above
    expected = "a summand of log_likelihood that is a named density of a field: `normal(y, x @ theta, sigma)`"
    raise RunError(f"log_likelihood of {target.name}: found {found}, expected {expected}")


def _beside(target: Target, own: Sequence[StatedDensity], fields: Sequence[StatedDensity]) -> set[str]:
    """Return the fields that stand in what log_likelihood adds to the densities of fields."""
    others = [formula for entry, formula in target.stated.others if entry == "log_likelihood"]
    others += [argument for one in own if one not in fields for argument in one.arguments]
    return {name for formula in others for name in dependence(formula).data}


def _cut_off(target: Target, fields: Sequence[StatedDensity]) -> str:
    """Return what shows that a named density is not all of the law of its field, but that law on a part of its support.

    For a truncated law, normal(y, m, 1) - log_ndtr(m) over y > 0, a summand free of y is what it is divided by,
    and the kinds that are declared of y do not hold of what the density alone would give.
    """
    declared = target.as_declared.declarations
    others = (formula for entry, formula in target.stated.others if entry == "log_likelihood")
    if state := sorted({name for formula in others for name in dependence(formula).blocks}):
        beside = f"a summand beside it that depends on {', '.join(state)}, as if truncated"
        return f"one of {fields[0].of} and {beside}"
    for one in fields:
        field = declared.find(one.of)
        lost = (
            [kind for kind in field.known if kind not in DENSITIES[one.name].kinds] if isinstance(field, Datum) else []
        )
        if lost:
            return f"{one.name} of {one.of}, which need not be {lost[0]} as {one.of} is declared"
    return ""


def _in_order(densities: Sequence[StatedDensity]) -> list[StatedDensity]:
    """Return densities, each after those of what its arguments name. Raises RunError where there is no such order."""
    left, ordered = list(densities), list[StatedDensity]()
    while left:
        of = [one.of for one in left]
        ready = next((one for one in left if not any({*of} & {*dependence(a).names} for a in one.arguments[1:])), None)
        if ready is None:
            found = f"densities of {', '.join(of)} that use each other" if of[1:] else f"one of {of[0]} that uses it"
            raise RunError(f"{left[0].entry}: found {found}, expected an order to draw them in")
        ordered.append(ready)
        left.remove(ready)
    return ordered


def _of_blocks(target: Target) -> Sequence[StatedDensity]:
    """Return the densities of the blocks, in the order to draw them in. Raises RunError where there is none."""
    declared = target.as_declared.declarations
    own = [one for one in target.stated.densities if one.entry == "log_prior"]
    if target.log_prior is None or "log_prior" in dict(target.stated.others) or not all(o.is_term for o in own):
        raise RunError("log_prior is not a sum of named densities")
    blocks, bounded = {block.name: block for block in declared.blocks}, with_one_bound(target)
    left = [one for one in own if one.of in blocks]
    names = [one.of for one in left]
    if len(left) != len(own) or sorted(names) != sorted(blocks):
        raise RunError("log_prior does not state one density of each block")
    for one in left:
        row = DENSITIES[one.name]
        if not row.proper or not _stays_in(row, blocks[one.of], one_bound=one.of in bounded):
            raise RunError(f"{one.name} of {one.of} is truncated by its domain, or has no finite integral")
    return _in_order(left)


def _stays_in(row: Density, block: Block, *, one_bound: bool) -> bool:
    """Whether draws of a law may lie where a block does: in a set as a whole by the set's own law alone."""
    if block.constraint is not None or block.domain.name is DomainName.SIMPLEX:
        return row.of_set is not None and row.of_set is block.constraint
    return (block.domain.name is DomainName.REAL and not one_bound) or bool(row.support)


def add_predictive(tree: "DataTree", build: Build, data: Data, settings: RunSettings, sizes: Sizes) -> str:
    """Add posterior_predictive, prior and prior_predictive draws; return why there is no prior, empty if there is one.

    y~_n from its density at every draw of the posterior, and at draws of the prior.

    Raises:
        RunError: nothing can be drawn.
    """
    import xarray

    found = predictive_of(build.target)
    drawer = _Drawer(build, data, sizes, known_values(build, sizes))
    posterior = cast("Any", tree["posterior"])
    chains = [int(chain) for chain in posterior["chain"].to_numpy()]
    streams = [_stream(settings.seed, chain, POSTERIOR) for chain in chains]
    states = {block.name: posterior[block.name].to_numpy() for block in drawer.declared.blocks}
    groups = {"posterior_predictive": drawer.data_at(states, found, streams)}
    why = found.why_no_prior
    if not why:
        try:
            prior = drawer.prior(found.blocks, _stream(settings.seed, 0, PRIOR))
            predicted = drawer.data_at(prior, found, [_stream(settings.seed, 1, PRIOR)])
        except (RunError, DataError, ValueError) as error:
            why = str(error)
        else:
            groups |= {"prior": prior, "prior_predictive": predicted}
    constant = cast("Any", tree["constant_data"]).to_dataset() if "constant_data" in tree.children else xarray.Dataset()
    dims = {name: constant[name].dims for name in constant.data_vars}
    dims |= {name: array.dims[2:] for name, array in posterior.data_vars.items()}
    for group, arrays in groups.items():
        coords = {"chain": chains if group == "posterior_predictive" else [0]}
        variables = {name: (("chain", "draw", *dims.get(name, _axes(name, values))), values)
                     for name, values in arrays.items()}  # fmt: skip
        tree[group] = xarray.DataTree(xarray.Dataset(variables, coords=coords))
    observed = [one.of for one in found.fields if one.of in constant]
    if observed:
        tree["observed_data"] = xarray.DataTree(constant[observed])
        tree["constant_data"] = xarray.DataTree(constant.drop_vars(observed))
    return why


def _axes(name: str, values: Array) -> tuple[str, ...]:
    return tuple(f"{name}_dim_{k}" for k in range(values.ndim - 2))


def _stream(seed: int, chain: int, stream: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, stream)))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawer:
    """Draws of one build with its data."""

    build: Build
    data: Data
    sizes: Sizes
    known: Mapping[str, Array]

    @property
    def declared(self) -> Declarations:
        """The target's declarations, as its author wrote them."""
        return self.build.target.as_declared.declarations

    def data_at(
        self, states: Mapping[str, Array], of: Predictive, streams: Sequence[np.random.Generator]
    ) -> dict[str, Array]:
        """Return data `[chain, draw, ...]` at states of the blocks; NaN where a state is not finite."""
        fields = of.fields
        chains, length = next(iter(states.values())).shape[:2]
        observed = self.data.arrays
        made = {one.of: np.full((chains, length, *observed[one.of].shape), np.nan) for one in fields}
        rows = rows_of(self.data, self.declared, self.sizes)
        passed = self._passed(states, rows)
        for chain, draw in np.ndindex(chains, length):
            at = self._point({name: values[chain, draw] for name, values in states.items()})
            if not all(np.isfinite(at.names[block.name]).all() for block in self.declared.blocks):
                continue
            given = {**rows, **{name: values[chain * length + draw] for name, values in passed.items()}}
            for one in fields:
                drawn = self._of_rows(one, at, given, observed[one.of].shape, streams[chain])
                if of.above is not None:
                    log_p = evaluate_rows(of.above, at, given).reshape(-1)
                    drawn = np.where(np.log(streams[chain].random(drawn.shape)) < log_p, drawn, 0.0)
                self._demand_allowed(one, drawn)
                made[one.of][chain, draw] = drawn
                given[one.of] = field_rows(self.declared, one.of, drawn, self.sizes)
        return made

    def _passed(self, states: Mapping[str, Array], rows: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the states of a recursion before every row, at draws of the blocks; none without one."""
        target = self.build.target.as_declared
        if not target.recursion:
            return {}
        shapes = {block.name: extents(block.shape, self.sizes) or (1, 1) for block in self.declared.blocks}
        blocks = {name: states[name].reshape(-1, *shape) for name, shape in shapes.items()}
        return states_before_rows(target, Point({**self.known, **blocks}, self.sizes), rows)

    def _demand_allowed(self, one: StatedDensity, drawn: Array) -> None:
        """Raise RunError where a draw is none of the values that its field is allowed."""
        field = self.declared.find(one.of)
        if not isinstance(field, Datum) or field.is_index:  # a draw is a position; `values` are those of its row
            return
        if field.values and not np.isin(drawn, field.values).all():
            raise RunError(f"{one.name} of {one.of} draws values that `in` excludes: its distribution is truncated")

    def _point(self, blocks: Mapping[str, Array]) -> Point:
        shapes = {block.name: extents(block.shape, self.sizes) for block in self.declared.blocks}
        own = {name: np.asarray(value).reshape(shapes[name]) for name, value in blocks.items()}
        return Point({**self.known, **own}, self.sizes)

    def _of_rows(
        self, one: StatedDensity, at: Point, rows: Mapping[str, Array], shape: tuple[int, ...],
        rng: np.random.Generator,
    ) -> Array:  # fmt: skip
        given = [evaluate_rows(argument, at, rows) for argument in one.arguments[1:]]
        if DENSITIES[one.name].index:
            odds = [np.broadcast_to(v.reshape(v.shape[0], -1), (shape[0], v[0].size)) for v in given]
            return np.asarray(_drawn(one, rng, shape[0], odds), dtype=np.float64)
        if DENSITIES[one.name].matrices:
            return _of_location(one, rng, shape, *given)
        flat = [np.broadcast_to(v.reshape(v.shape[0], -1), (shape[0], max(1, *shape[1:], 1))).reshape(shape)
                for v in given]  # fmt: skip
        return np.asarray(_drawn(one, rng, shape, flat), dtype=np.float64)

    def _of_block(self, one: StatedDensity, at: Point, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Return a draw of a block: as one datum or, for a matrix of rows drawn as a whole, as one for each row."""
        row = DENSITIES[one.name]
        if row.of_set is None:
            whole = len(shape) == 2 and bool(row.matrices)
            return self._of_rows(one, at, {}, shape if whole else (1, math.prod(shape)), rng)
        given = [_flat(argument, at) for argument in one.arguments[1:]]
        return np.asarray(_drawn(one, rng, shape if len(shape) == 2 else 1, given), dtype=np.float64)

    def prior(self, blocks: Sequence[StatedDensity], rng: np.random.Generator) -> dict[str, Array]:
        """Return draws of the prior, `[1, draw, ...]`. Raises RunError where one lies outside of its domain."""
        declared = {block.name: block for block in self.declared.blocks}
        axes = {name: tuple(extents(block.shape, self.sizes)[: len(block.shape.sizes)])
                for name, block in declared.items()}  # fmt: skip
        found = {name: np.empty((1, PRIOR_DRAWS, *axes[name])) for name in declared}
        bounded = with_one_bound(self.build.target)
        for draw in range(PRIOR_DRAWS):
            so_far: dict[str, Array] = {}
            for one in blocks:
                at = self._point(so_far)
                value = self._of_block(one, at, axes[one.of], rng).reshape(axes[one.of])
                _demand_inside(declared[one.of], value, at, bounded.get(one.of))
                found[one.of][0, draw] = so_far[one.of] = value
        return found


def _flat(argument: Formula, at: Point) -> Array:
    """Return an argument of a law, a column or a row as the vector of its entries; a matrix stays one, J x 1 too."""
    value = evaluate(argument, at)
    return value.reshape(-1) if len(argument.shape.sizes) == 1 else value


def _of_location(
    one: StatedDensity, rng: np.random.Generator, shape: tuple[int, ...], mean: Array, matrix: Array
) -> Array:
    """Return rows of a law of whole vectors: what is drawn around 0, of the matrix of each datum, and their means."""
    around = np.zeros(shape[1])
    if len(matrix) == 1:
        drawn = _drawn(one, rng, shape[0], [around, matrix[0]])
    else:
        drawn = np.concatenate([_drawn(one, rng, 1, [around, own]) for own in matrix])
    return np.asarray(drawn + mean.reshape(-1, shape[1]), dtype=np.float64)


def _drawn(one: StatedDensity, rng: np.random.Generator, size: object, given: Sequence[Array]) -> Any:
    """Return a draw. Raises RunError where the parameters of the law are none of it."""
    try:
        with np.errstate(all="ignore"):
            return cast("Any", DENSITIES[one.name].draw)(rng, size, *given)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise RunError(f"{one.name} of {one.of} cannot be drawn: {error}") from error


def _demand_inside(block: Block, value: Array, at: Point, one_sided: Transform | None) -> None:
    low, high = -np.inf, np.inf
    if one_sided is not None and one_sided.bound is not None:
        bound = float(evaluate(one_sided.bound, at))
        low, high = (bound, high) if one_sided.via == "lower" else (low, bound)
    elif block.domain.name in (DomainName.POSITIVE, DomainName.NONNEGATIVE):
        low = 0.0
    elif block.domain.name is DomainName.INTERVAL:
        low, high = (float(evaluate(bound, at)) for bound in block.domain.bounds)
    if not ((value >= low) & (value <= high)).all():
        raise RunError(f"the prior of {block.name} is truncated by its domain")
