"""A PyMC model as a target: its log density, compiled by PyTensor for numba, inside the loop of an emitted sampler."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Self

import numpy as np

from recipe_compiler.advise.acceptance import measured, tuned
from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.choose import trajectories
from recipe_compiler.advise.forecast import NoForecastError, linearized_chain_of
from recipe_compiler.advise.pilots import LEAST_ENTRIES, Pilots
from recipe_compiler.advise.plan import BATCH
from recipe_compiler.advise.roles import LONGEST, Open, ParameterRole, open_parameters
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.search import Choice, choose, matched
from recipe_compiler.advise.spread import decimals, unit
from recipe_compiler.advise.stein import departed
from recipe_compiler.advise.target_at_mode import target_at_mode
from recipe_compiler.errors import DataError, RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.front import model as models
from recipe_compiler.front.fit import Fit
from recipe_compiler.front.model import DoubtWarning, Model
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.gradients import Gradients
from recipe_compiler.run.load_module import typed
from recipe_compiler.run.map_estimate import Slope
from recipe_compiler.run.posterior_numbers import MAX_R_HAT, posterior_numbers
from recipe_compiler.run.progress import Stages
from recipe_compiler.run.sample import stepping, with_parameters
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.model import Data

HMC = trajectories("longest")
"""The moves that a run takes where it names none, as `recipe run hmc` does."""
AROUND = 250
"""Draws of a chain of warm-up that tell the mean."""
SPACED = 4.0
"""Draws for an independent one."""
JUDGED = 4000
"""Draws of all chains at which grad U is computed, to compare them with the target."""


@dataclass(frozen=True, eq=False, repr=False)
class PyMCModel:
    """The log density of a PyMC model on the whole of R^d, as a module of any log density takes it; by `from_pymc`.

    theta (d,) holds the free variables one after another, raveled, on the real line where PyMC transforms them there; U
    is -log of their joint density with the data, the Jacobians of the transforms included.

    Attributes
    ----------
    model : pymc.Model
        As it was given.
    U, grad_U : functions jitted by numba
        `U(theta, *data)`, a number, and `grad_U(theta, *data)`, (d,).
    grad_U_of_batch : function jitted by numba, or None
        `grad_U_of_batch(theta, batch, *data)`, the estimate from the rows `batch`; None without `minibatch`.
    data : tuple of arrays
        What they take besides: the values of the model's shared variables, `pm.Data` and lengths of dimensions.
    rows : int
        Of the data that minibatches are drawn from; 0 without.
    names : tuple of str
        Of the d coordinates.
    point : dict
        PyMC's initial point, which has the shapes of the free variables on the real line.
    """

    model: Any
    U: Callable[..., float]
    grad_U: Callable[..., Array]
    grad_U_of_batch: Callable[..., Array] | None
    data: tuple[Any, ...]
    rows: int
    names: tuple[str, ...]
    point: Mapping[str, Array]

    def starts(self, chains: int, seed: int = 0) -> Array:
        """Return where chains start, chains x d: PyMC's initial values, moved by uniforms on (-1, 1)."""
        make = import_module("pymc.initial_point").make_initial_point_fn
        first = make(model=self.model, jitter_rvs={*self.model.free_RVs}, return_transformed=True)
        points = map(first, map(int, np.random.SeedSequence(seed).generate_state(chains)))
        names = [value.name for value in self.model.value_vars]
        return np.array([np.concatenate([np.ravel(point[name]) for name in names]) for point in points], float)

    def sample(
        self, sampler: Model | None = None, *, draws: int = 1000, warmup: int = 500, thin: int | None = None,
        chains: int = 4, seed: int = 0, step_size: float | None = None, accept: float = 0.8, share: float = 0.02,
        batch_size: int | None = None, progress: bool = True, check: bool = True, **parameters: object,
    ) -> Fit:  # fmt: skip
        """Run chains of a proved sampler, and return draws of the model's own variables as ArviZ reads them.

        What is not stated is chosen by chains of HMC that warm up: the mass by the covariance of their draws, friction
        and preconditioners by the mass; the step size by how often moves are accepted, else, with friction and
        thinning, by the step made linear around their mean, the noise of minibatches in it. Before the first step U
        and grad_U are tried near where chains start.

        Parameters
        ----------
        sampler : Model, optional
            Of dynamics alone: `rc.compile("sghmc", scheme="baoab", variant="minibatch")`. Left out, Hamiltonian Monte
            Carlo, whose trajectories are as long as has most effective draws per gradient.
        draws, warmup, thin, chains, seed
            As of `sample` of a module. Tuning comes before `warmup`, from which nothing more is chosen.
        step_size : float, optional
            In units in which all posterior sds are 1, where the mass is chosen.
        accept : float
            The mean probability of moves to be accepted, where the step size is tuned by it.
        share : float
            By what part of it a posterior sd may be off, where no move is accepted or refused.
        batch_size : int, optional
            Rows of a minibatch; by default, chosen with the step size, or 100.
        progress : bool
            Whether to say on stderr what is done.
        check : bool
            Whether to try that grad_U is the gradient of U, by differences, and minibatches are unbiased.
        **parameters
            Values of the sampler's parameters, by name.

        Returns
        -------
        Fit
            Groups `posterior` (free variables and deterministics by their names, with dims and coords),
            `unconstrained_posterior` (theta, by PyMC's names of what is transformed), `sample_stats`, `constant_data`
            and `observed_data`. Its attributes hold the step size, `trust` and `doubts`.

        Raises
        ------
        TypeError, ValueError
            Arguments that do not fit; a gradient that is none, with the coordinate.
        RunError
            A sampler of another target; no step size that is accepted as often as wanted, or keeps to the share.

        Warns
        -----
        DoubtWarning
            The draws are not to be believed: chains disagree, or Stein's identity does not hold for them.
        """
        own = models.compile("hmc", scheme=HMC) if sampler is None else sampler
        build = own.build.document
        if build.is_complete or not build.target.is_open:
            raise RunError(f"{own.name}: found a target, expected dynamics alone, as `rc.compile('sghmc')` makes them")
        if build.variant == "minibatch" and self.grad_U_of_batch is None:
            raise RunError(
                f"{own.name}: found no minibatches, expected some: rc.from_pymc(model, minibatch=('x', 'y'))"
            )
        is_any_size = batch_size is None
        if build.variant == "minibatch" and batch_size is None:
            batch_size = min(BATCH, self.rows)
        theta, chosen = self.starts(chains, seed), dict(parameters)
        open_ones = tuple(one for one in open_parameters(build) if one.name not in parameters)
        with Stages().said(quiet=not progress) as say:
            say("compiling")
            loaded = own.load()
            if open_ones or step_size is None:
                is_own = build.has_acceptance
                tuner, given = (own, parameters) if is_own else (models.compile("hmc", scheme=HMC), {})
                left = open_ones if is_own else open_parameters(tuner.build.document)
                lengths = [one.name for one in left if one.role is ParameterRole.LENGTH]
                left = tuple(one for one in left if one.name not in lengths)
                module = loaded if is_own else tuner.load()
                module._try_given(self.grad_U, self.U, self.data, theta, 0, 0, check)
                pilots = _chains(_Sampler.of_model(self, tuner, module, given), theta).lasting(LONGEST, lengths)
                values, eps = tuned(pilots, left, None, accept, 1, say)
                if is_own and step_size is None:
                    found, pilots = measured(pilots, left, values, eps, accept, 1, None, say)
                    eps, thin = found.eps, found.thin if thin is None else thin
                values = {**values, **pilots.lengths} if is_own else values
                if step_size is None and not is_own:
                    mean = pilots.moved(values, eps, 1, AROUND).theta.mean(axis=(0, 1))
                    at = _Sampler.of_model(self, own, loaded, parameters, batch_size)
                    choice = _chosen_around(at, open_ones, mean, values["M"], share, say, sizes=is_any_size)
                    values, eps = matched(open_ones, values["M"], choice.gamma), choice.linearized.inputs.eps
                    batch_size = choice.linearized.inputs.batch_size
                    thin = math.ceil(choice.width.steps / SPACED) if thin is None else thin
                elif not is_own:
                    values = matched(open_ones, values["M"], 1.0)
                step_size = eps if step_size is None else step_size
                chosen |= {name: np.diag(own) if own.ndim == 1 else own[()] for name, own in values.items()}
                theta = pilots.theta
            say("drawing")
            more = {} if batch_size is None else {"batch_size": batch_size}
            found = self._sampling(own, loaded)(
                init={potential_block(build): theta}, step_size=step_size, draws=draws, warmup=warmup, thin=thin or 1,
                chains=chains, seed=seed + 1, check=check, **chosen, **more,
            )  # fmt: skip
        attrs = {"build": own.name, "step_size": step_size, "thin": thin or 1, **more}
        return self._concluded(found, found[potential_block(build)], attrs)

    def _sampling(self, sampler: Model, loaded: ModuleType) -> Callable[..., Any]:
        """Return `sample` of a sampler's module, with U and grad U."""
        build = sampler.build.document
        given: dict[str, Any] = {"rows": self.rows} if build.variant == "minibatch" else {}
        slope = self.grad_U if build.variant == "full" else self.grad_U_of_batch
        if build.has_acceptance:
            return partial(loaded.sample, self.U, slope, data=self.data, **given)
        return partial(loaded.sample, slope, U=self.U, data=self.data, **given)

    def _concluded(self, found: Mapping[str, Array], theta: Array, attrs: Mapping[str, object]) -> Fit:
        """Return the tree of draws, with what chains and Stein's identity say of them."""
        import arviz_base

        model = self.model
        dims = {
            name: [own or f"{name}_{k}" for k, own in enumerate(all_)]
            for name, all_ in model.named_vars_to_dims.items()
        }
        coords = {name: list(own) for name, own in model.coords.items() if own is not None}
        tree = arviz_base.from_dict(self._groups(found, theta), dims=dims, coords=coords)
        doubts = tuple(self._doubts(tree, theta))
        for doubt in doubts:
            warnings.warn(doubt, DoubtWarning, stacklevel=3)
        trust = "no, as doubted" if doubts else "yes, by chains that agree and by Stein's identity"
        tree.attrs |= {**attrs, "doubts": "\n".join(doubts), "trust": f"trust: {trust}, given that grad_U is grad U"}
        return Fit.of(tree)

    def _groups(self, found: Mapping[str, Array], theta: Array) -> dict[str, dict[str, Array]]:
        """Return the arrays of each group of a tree of draws by their names; theta is chain x draw x d."""
        (chains, draws, d), model = theta.shape, self.model
        shapes = {value.name: np.shape(self.point[value.name]) for value in model.value_vars}
        parts = np.split(theta, np.cumsum([*map(math.prod, shapes.values())])[:-1], axis=2)
        data = {one.name: one.get_value() for one in model.data_vars if hasattr(one, "get_value")}
        observed = {one.name: model.rvs_to_values[one] for one in model.observed_RVs}
        values = import_module("pytensor").function([], [*observed.values()], mode="FAST_COMPILE")()
        groups = {
            "posterior": {
                name: own.reshape(chains, draws, *own.shape[1:])
                for name, own in _expanded(model, self.point, theta.reshape(-1, d)).items()
            },
            "unconstrained_posterior": {
                name: part.reshape(chains, draws, *shape)
                for (name, shape), part in zip(shapes.items(), parts, strict=True)
            },
            "sample_stats": {"lp": np.array([[-self.U(at, *self.data) for at in one] for one in theta])}
            | ({"acceptance_rate": found["acceptance"]} if "acceptance" in found else {}),
            "constant_data": data,
            "observed_data": dict(zip(observed, values, strict=True)),
        }
        return {group: own for group, own in groups.items() if own}

    def _doubts(self, tree: Any, theta: Array) -> Iterator[str]:
        """Yield why the draws are not to be believed."""
        worst = max(posterior_numbers(tree).rows, key=lambda row: np.nan_to_num(row.value("r_hat"), nan=np.inf))
        if not worst.value("r_hat") <= MAX_R_HAT:
            yield (
                f"R-hat is {worst.value('r_hat'):#.4g} for {worst.name}, above {MAX_R_HAT}: the chains do not agree. "
                "Try more draws, more warmup, more thinning or another step size."
            )
        some = theta[:, :: -(-theta.shape[0] * theta.shape[1] // JUDGED)]
        slopes = np.array([[self.grad_U(at, *self.data) for at in chain] for chain in some])
        if doubt := departed(some, slopes, np.ones(some.shape[1]), self.names).doubt:
            yield doubt

    def __repr__(self) -> str:
        of = f", {self.rows} rows" if self.rows else ""
        return f"<PyMCModel of {len(self.model.free_RVs)} variables, {len(self.names)} coordinates{of}>"


@dataclass(frozen=True, eq=False)
class _Sampler(Sampler):
    """A module for any log density, with that of a model."""

    own: PyMCModel

    @classmethod
    def of_model(
        cls, own: PyMCModel, sampler: Model, loaded: ModuleType, stated: Mapping[str, Any],
        batch_size: int | None = None,
    ) -> Self:  # fmt: skip
        """Return the sampler with parameters at their `stated` values, else at those matched to posterior sds of 1.

        Args:
            own: the density, its gradient and its data.
            sampler: what was compiled.
            loaded: its module.
            stated: values of parameters.
            batch_size: rows of a minibatch; None where steps take all.
        """
        from numba import typeof

        build, module, width = sampler.build.document, typed(loaded), len(own.names)
        data = loaded._checked_data(own.data)
        slope = ("grad_U", own.grad_U) if batch_size is None else ("grad_U of a batch", own.grad_U_of_batch)
        given = {
            "potential": loaded._adapted("U", own.U, typeof(data)),
            "gradient": loaded._adapted(*slope, typeof(data)),
            "data": loaded._addresses_of(data),
            "kept": data,  # for as long as these addresses are used
        }
        module = replace(
            module, run=loaded._by_address(module.run), first_values=loaded._by_address(module.first_values)
        )
        parameters, sizes = dict.fromkeys(module.parameters, 0.0), dict.fromkeys(module.sizes, width)
        inputs = Inputs(parameters, {}, given, own.rows, batch_size, eps=1e-3, thin=1, draws=1, sizes=sizes)
        values = matched(open_parameters(build), unit(width, diagonal=False), 1.0)
        inputs = stepping(module, with_parameters(module, build, inputs, {**values, **stated}), 1e-3)
        return cls(build, sampler.module, module, Data(), inputs, own.names, own)

    @property
    def slope(self) -> Slope:
        """Theta to grad U of all data."""
        return lambda theta: self.own.grad_U(theta, *self.own.data)

    @property
    def gradients(self) -> Gradients:
        """The gradient estimated from minibatches."""
        own, of_batch = self.own, self.own.grad_U_of_batch
        if of_batch is None:
            raise RunError("found no gradient of a minibatch, expected one")
        entries = sum(map(np.size, own.data))
        return Gradients(own.rows, len(own.names), lambda theta, batch: of_batch(theta, batch, *own.data), entries)


def _chains(sampler: _Sampler, theta: Array) -> Pilots:
    """Return chains that start at the rows of theta, all other blocks at 0."""
    sizes, entries = sampler.inputs.sizes, float(sum(map(np.size, sampler.own.data)) + LEAST_ENTRIES)
    rest = {name: np.zeros(sizes.get(str(size), 1)) for name, size in sampler.module.blocks}
    return Pilots(sampler, (), rest, entries, Budget(math.inf), sampler.gradients_of_step()).at(theta, 0)


def _chosen_around(
    sampler: _Sampler, open_ones: tuple[Open, ...], mean: Array, K: Array, share: float, say: Callable[[str], None],
    *, sizes: bool,
) -> Choice:  # fmt: skip
    """Return the step size and friction by a sampler's step made linear, U taken for a quadratic with these moments.

    Args:
        sampler: no move of which is accepted or refused.
        open_ones: the parameters to be chosen.
        mean: of theta.
        K: the inverse of its covariance, d x d.
        share: by what part of it an sd may be off.
        say: called with a line that describes the work that starts.
        sizes: whether the size of a batch is to be chosen, too.

    Raises:
        RunError: no step size keeps to the share, or the step is not linear.
    """
    try:
        arrays = {f"data_{k}": np.asarray(one) for k, one in enumerate(sampler.own.data)}
        linearized = linearized_chain_of(replace(sampler, inputs=replace(sampler.inputs, data=arrays)))
        estimated = sampler.gradients if linearized.has_batches else None
        target = replace(target_at_mode(sampler.slope, mean, estimated), K=decimals(K))
        return choose((replace(linearized, target=target),), open_ones, decimals(K), share, 1.0, say, sizes=sizes)
    except (NoForecastError, RunError, ValueError) as why:
        said = str(why).removeprefix("step_size: auto: ")
        raise RunError(f"{sampler.build.name}: no step_size was found: {said}. State `step_size`") from why


def from_pymc(model: Any, minibatch: Sequence[str] = ()) -> PyMCModel:
    """Compile the log density of a PyMC model and its gradient for numba: `from_pymc(model).sample()`.

    Parameters
    ----------
    model : pymc.Model
        Of continuous variables.
    minibatch : sequence of str
        The `pm.Data` of which a minibatch takes rows, all with as many. The log density of observed variables that
        depend on them is multiplied by N/n, unless `total_size` does so already.

    Returns
    -------
    PyMCModel
        What `sample` of a module of any log density takes, and a `sample` of its own.

    Raises
    ------
    RunError
        PyMC is not installed.
    DataError
        Discrete variables; no such `pm.Data`, or of other lengths; minibatches of what priors depend on.

    Examples
    --------
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     x = pm.Normal("x", shape=3)
    >>> from_pymc(model).sample()  # doctest: +SKIP
    """
    try:
        pm, traversal = import_module("pymc"), import_module("pytensor.graph.traversal")
    except ImportError as error:
        raise RunError('found no PyMC, expected it to be installed: pip install "recipe_compiler[pymc]"') from error
    if not isinstance(model, pm.Model):
        raise TypeError(f"model: found {type(model).__name__}, expected a pymc.Model")
    if model.discrete_value_vars:
        named = ", ".join(one.name for one in model.discrete_value_vars)
        raise DataError([f"model: found the discrete {named}, expected continuous variables: sum these out"])

    def shared(output: Any) -> list[Any]:
        return [one for one in traversal.graph_inputs([output]) if hasattr(one, "get_value")]

    cut = _of_minibatches(model, minibatch)
    rows = len(cut[0].get_value()) if cut else 0
    energy, point = -model.logp(), model.initial_point()
    own = shared(energy)
    compiled = partial(_compiled, pm, model, point, own)
    of_batch = None
    if rows:
        fixed = model.logp(vars=[*model.free_RVs, *model.potentials])
        if wrong := [one.name for one in shared(fixed) if one in cut]:
            found = f"minibatch: found {wrong[0]!r} in the density of free variables or in a potential"
            raise DataError([f"{found}, expected it in that of observed variables alone"])
        batch = import_module("pytensor.tensor").lvector("batch")
        estimate = -fixed
        for observed in model.observed_RVs:
            logp = model.logp(vars=[observed])
            is_scaled = type(observed.owner.op).__name__ == "MinibatchRandomVariable"
            is_of_rows = any(one in cut for one in shared(logp))
            estimate -= logp * (rows / batch.shape[0]) if is_of_rows and not is_scaled else logp
        of_batch = compiled(estimate, cut=cut, batch=batch)
    names = (
        f"{value.name}[{', '.join(map(str, at))}]" if at else value.name
        for value in model.value_vars
        for at in np.ndindex(*np.shape(point[value.name]))
    )
    data = tuple(one.get_value() for one in own)
    return PyMCModel(model, compiled(energy), compiled(energy, slope=True), of_batch, data, rows, tuple(names), point)


def _of_minibatches(model: Any, names: Sequence[str]) -> list[Any]:
    """Return the shared variables of these names. Raises DataError: there is none, or they have not as many rows."""
    there = {one.name: one for one in model.data_vars if hasattr(one, "get_value")}
    if lost := [name for name in names if name not in there]:
        known = ", ".join(there) or "none: use pm.Data"
        raise DataError([f"minibatch: found {lost[0]!r}, expected names of pm.Data, of which there are {known}"])
    lengths = {name: np.shape(there[name].get_value())[:1] for name in names}
    if len({*lengths.values()}) > 1 or () in lengths.values():
        raise DataError([f"minibatch: found {lengths} rows, expected as many of each"])
    return [there[name] for name in names]


def _compiled(
    pm: Any, model: Any, point: Mapping[str, Array], own: Sequence[Any], output: Any, *, slope: bool = False,
    cut: Sequence[Any] = (), batch: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a scalar of a model, or its gradient, as a function (theta, *data), jitted by numba.

    Args:
        pm: the package.
        model: of it.
        point: its initial one.
        own: the shared variables that are `data`.
        output: the scalar.
        slope: whether its gradient is returned.
        cut: those of `own` of which the function (theta, batch, *data) takes rows; it returns the gradient.
        batch: their numbers.
    """
    from numba import njit

    [joined], theta = pm.pytensorf.join_nonshared_inputs(point, [output], model.value_vars)
    made = joined if batch is None and not slope else import_module("pytensor.gradient").grad(joined, theta)
    inputs = [one.type() for one in own]
    places = {one: given[batch] if one in cut else given for one, given in zip(own, inputs, strict=True)}
    [made] = import_module("pytensor.graph.replace").graph_replace([made], places, strict=False)
    first = [theta] if batch is None else [theta, batch]
    with model:
        function = pm.pytensorf.compile([*first, *inputs], [made], mode="NUMBA", on_unused_input="ignore").vm.jit_fn
    if batch is not None:
        return njit(lambda theta, batch, *data: function(theta, batch.astype(np.int64), *data)[0])
    return njit(lambda theta, *data: function(theta, *data)[0] if slope else function(theta, *data)[0].item())


def _expanded(model: Any, point: Mapping[str, Array], theta: Array) -> dict[str, Array]:
    """Return free variables and deterministics of a model at each row of theta, by their names."""
    tensor, replace = import_module("pytensor.tensor"), import_module("pytensor.graph.replace")
    names = [one.name for one in model.unobserved_RVs]
    known = {one.name: one for one in model.unobserved_value_vars}
    join = import_module("pymc.pytensorf").join_nonshared_inputs
    outputs, one = join(point, [known[name] for name in names], model.value_vars)
    many = tensor.matrix("draws", dtype="float64")
    of_all = replace.vectorize_graph(outputs, {one: many})
    with model:
        values = import_module("pytensor").function([many], of_all, mode="FAST_COMPILE", on_unused_input="ignore")(
            theta
        )
    return {
        name: value if value.ndim > own.ndim else np.broadcast_to(value, (len(theta), *value.shape))
        for name, value, own in zip(names, values, outputs, strict=True)
    }
