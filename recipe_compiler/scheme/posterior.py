"""The gradient of a target, in index notation, at the block that the dynamics' potential depends on."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.extents import after, extent
from recipe_compiler.formula.shapes import DISCRETE, Size
from recipe_compiler.program.combine import unsupported
from recipe_compiler.program.program import Gradient, Part, Potential
from recipe_compiler.program.rebuild import with_tensors
from recipe_compiler.program.rename import renamed
from recipe_compiler.scheme.adjoints import Adjoints, adjoints
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.scheme.shifts_and_noise import fresh
from recipe_compiler.spec.build_checks import is_stacked
from recipe_compiler.spec.model import Code, Target
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor


def target_gradient(
    target: Target,
    potential: str,
    block: Block,
    declared: frozenset[str],
    sizes: Mapping[str, int] | None,
    *,
    minibatch: bool,
) -> Gradient:
    """Return grad U of a target in the dynamics' own names, block by block, a vector over the potential's block.

        U(theta) = -log_prior - sum_n log_likelihood_n
        grad U~  = -grad log_prior - (N/n) sum_batch grad log_likelihood_n          (Ma, Chen, Fox 2015, Eq. 7)

    E[grad U~] = grad U for a batch of n of N data drawn uniformly; the prior is not scaled. A target without data
    states U itself. Of discrete blocks, which are drawn by their laws alone, it is 0. `sizes` are those of a stacked
    target, None leaves them open.

    Raises:
        ModelError: a size of a stacked target is not known.
    """
    computed = _gradient_names(potential, declared)
    name = computed[minibatch]
    if target.gradient is not None:
        return _by_code(target, target.gradient, name, block, minibatch=minibatch)
    parts: list[Part] = []
    stacked = is_stacked(target, block)
    start: Size = 0
    names = _own_names(target, potential, block, declared)
    adjoint = adjoints(target, {*declared, *computed, *names.values(), *_sizes(target, block)})
    for own in target.declarations.blocks:
        slopes = (*_slopes(target, own, adjoint, stated=False), *_slopes(target, own, adjoint, stated=True))
        parts.append(Part(replace(own, name=names[own.name]), start, *slopes))
        start = after(start, length(own.sampled, sizes, target) if stacked else 0)
    if not stacked:
        parts = [replace(parts[0], block=block)]
    named = with_tensors(tuple(parts), lambda tensor: renamed(tensor, names))
    count = target.declarations.data[0].size if named[0].datum is not None else None
    recursion = None if adjoint is None else with_tensors(adjoint.recursion, lambda tensor: renamed(tensor, names))
    return Gradient(name, block, named, count, minibatch, recursion=recursion)


def _own_names(target: Target, potential: str, block: Block, declared: frozenset[str]) -> dict[str, str]:
    """Return what the blocks of a target are called in the dynamics' own names."""
    taken = declared | {*_gradient_names(potential, declared)}
    stacked = is_stacked(target, block)
    return {own.name: fresh(own.name, taken) if stacked else block.name for own in target.declarations.blocks}


def _sizes(target: Target, block: Block) -> Iterator[str]:
    """Yield the names of sizes."""
    yield from target.declarations.sizes
    yield from (size for size in block.shape.sizes if isinstance(size, str))


def _gradient_names(potential: str, declared: frozenset[str]) -> tuple[str, str]:
    """Return what grad U and its estimate are called: parts of the potential's block keep clear of both."""
    return fresh(f"grad_{potential}", declared), fresh(f"grad_{potential}_tilde", declared)


def target_potential(
    target: Target, potential: str, block: Block, declared: frozenset[str], sizes: Mapping[str, int] | None
) -> Potential:
    """Return U of a target, a scalar, in the dynamics' own names, at the block that U depends on.

    U(theta) = -log_prior - sum_n log_likelihood_n, of all data, as the target states it (Ma, Chen, Fox 2015, Eq. 7,
    with all data); a target without data states U itself.

    Raises:
        ModelError: a gradient that is code, from which U is not known; a size of a stacked target that is not known.
    """
    if target.gradient is not None:
        hint = "state the log posterior by formulas, or leave out `metropolis`"
        raise unsupported("acceptance by H of a target whose gradient is code, which tells no U", hint)
    stacked = is_stacked(target, block)
    start: Size = 0
    places: list[tuple[Block, Size]] = []
    names = _own_names(target, potential, block, declared)
    for own in target.declarations.blocks:
        places.append((replace(own, name=names[own.name]), start))
        start = after(start, length(own.sampled, sizes, target) if stacked else 0)
    computed = _gradient_names(potential, declared)
    adjoint = adjoints(target, {*declared, *computed, *names.values(), *_sizes(target, block)})
    prior, datum, count = _energies(target)
    if adjoint is not None and datum is not None:
        datum = adjoint.on_rows(datum)
    found = Potential(
        fresh(potential, declared), block, tuple(places) if stacked else ((block, 0),), prior, datum, count,
        None if adjoint is None else adjoint.recursion,
    )  # fmt: skip
    return with_tensors(found, lambda tensor: renamed(tensor, names))


def _energies(target: Target) -> tuple[Tensor, Tensor | None, Size | None]:
    """Return -log prior, -log likelihood of datum n and the number of data, as they are stated, fit to be computed."""
    declared, data = of_rows(target), target.declarations.data
    rules = calculus(declared, stated=True)

    def energy(entry: str, formula: Formula | None, sign: int, datum: Index | None) -> Tensor:
        if formula is None:
            return Tensor((), ())
        with placed(target.source, entry):
            value = convert(formula, declared, datum=datum, stated=True)
            return without_overflow(rules, rules.scale(value, sign))

    if target.potential is not None:
        return energy("potential", target.potential, 1, None), None, None
    prior = energy("log_prior", target.log_prior, -1, None)
    if target.log_likelihood is None:
        return prior, None, None
    return prior, energy("log_likelihood", target.log_likelihood, -1, Index(data[0].size, "n")), data[0].size


def _by_code(target: Target, code: Code, name: str, block: Block, *, minibatch: bool) -> Gradient:
    """Return a gradient that the user's function writes: of U at the block, or its estimate from the rows `batch`."""
    declared = target.declarations
    count = declared.data[0].size if declared.data else None
    given = (block.name, *(item.name for group in (declared.parameters, declared.data) for item in group))
    batch = ("batch",) if minibatch else ()
    return Gradient(name, block, (), count, minibatch, str(code), (*given, *batch))


def stacked_sizes(declarations: Declarations) -> tuple[str, ...]:
    """Return the symbolic sizes of the blocks of a target, which have to be fixed where it is stacked."""
    sizes: list[Size] = [size for block in declarations.blocks for size in block.shape.sizes]
    return tuple(dict.fromkeys(size for size in sizes if isinstance(size, str)))


def length(block: Block, sizes: Mapping[str, int] | None, target: Target) -> Size:
    """Return the number of coordinates of a block, a number, or a product of names if `sizes` is None.

    Raises:
        ModelError: one of its sizes is not known.
    """
    if sizes is None:
        return extent(block.shape)
    for size in block.shape.sizes:
        if isinstance(size, str) and size not in sizes:
            problem = f"found no number for the size {size} of the target's block {block.name}, expected one"
            hint = f"an axis of a field gives it, or positions along it; else state `sizes: {{{size}: 3}}`"
            raise ModelError([Fault(target.source.place("state"), "sizes", problem, hint)])
    return prod(sizes[size] if isinstance(size, str) else size for size in block.shape.sizes)


def _slopes(target: Target, own: Block, adjoint: Adjoints | None, *, stated: bool) -> tuple[Tensor, Tensor | None]:
    """Return the gradients of -log prior and of -log likelihood of datum n by a block, fit to be computed.

    By the chain rule, of the formulas as they are stated, or multiplied out. Of a recursion with what the starts of its
    states add to the first, and what a row leaves to those after it to the second.
    """
    declared = of_rows(target)
    rules = calculus(declared, stated=stated)
    n = Index(target.declarations.data[0].size, "n") if target.declarations.data else None
    slots = tuple(Index(size, label) for size, label in zip(own.shape.sizes, "ij", strict=False))
    coordinate, none = Coordinate(own.name, slots), Tensor(slots, ())
    if own.domain.name in DISCRETE:
        return none, None if target.log_likelihood is None or n is None else Tensor((*slots, n), ())

    def slope(entry: str, formula: Formula, sign: int, datum: Index | None) -> Tensor:
        with placed(target.source, entry):
            value = convert(formula, declared, datum=datum, stated=stated)
            return without_overflow(rules, rules.scale(rules.diff(value, coordinate), sign))

    if target.potential is not None:
        return slope("potential", target.potential, 1, None), None
    prior = none if target.log_prior is None else slope("log_prior", target.log_prior, -1, None)
    datum = None if target.log_likelihood is None else slope("log_likelihood", target.log_likelihood, -1, n)
    if adjoint is not None and datum is not None:
        starts = adjoint.with_starts(prior, coordinate, stated=stated)
        return starts, adjoint.with_rows(datum, coordinate, stated=stated)
    return prior, datum
