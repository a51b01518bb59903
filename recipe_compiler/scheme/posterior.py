"""The gradient of a target, in index notation, at the block that the dynamics' potential depends on."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.extents import after, extent
from recipe_compiler.formula.shapes import DISCRETE, Size, Sizes
from recipe_compiler.program.combine import fresh, unsupported
from recipe_compiler.program.program import REST, Gradient, Part, Potential
from recipe_compiler.program.rebuild import with_tensors
from recipe_compiler.program.rename import renamed
from recipe_compiler.scheme.adjoints import Adjoints, adjoints
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.spec.build_checks import is_stacked
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.open_target import POTENTIAL
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor


@dataclass(frozen=True, slots=True)
class SampledTarget:
    """A target in the dynamics' own names: U, a function of one of their blocks, and its gradient."""

    target: Target
    potential: str
    """What the dynamics call U."""
    block: Block
    """The block that U depends on."""
    declared: frozenset[str]
    """Every name of the user's."""
    sizes: Sizes | None
    """Those of a stacked target; None leaves them open."""
    others: tuple[str, ...] = ()
    """Other blocks that the dynamics have U at."""

    def gradient(self, *, minibatch: bool) -> Gradient:
        """Return grad U of the target, block by block, a vector over the potential's block.

            U(theta) = -log_prior - sum_n log_likelihood_n
            grad U~  = -grad log_prior - (N/n) sum_batch grad log_likelihood_n          (Ma, Chen, Fox 2015, Eq. 7)

        E[grad U~] = grad U for a batch of n of N data drawn uniformly; the prior is not scaled. A target without data
        states U itself. Of discrete blocks, which are drawn by their laws alone, it is 0.

        Raises:
            ModelError: a size of a stacked target is not known.
        """
        name, declared = self._arrays[minibatch], self.target.declarations
        count = declared.data[0].size if declared.data else None
        if self.target.gradient is not None:
            items = (self.block, *declared.parameters, *declared.data)
            given = (*(item.name for item in items), *(("batch",) if minibatch else ()))
            code, rest = str(self.target.gradient), REST if self.target.is_open else ""
            given = (*given, rest) if rest else given
            return Gradient(name, self.block, (), count, minibatch, code, given, rest, others=self._name_others(name))
        adjoint = self._adjoint()
        parts = tuple(
            Part(place, start, *self._terms(adjoint, own, stated=False), *self._terms(adjoint, own, stated=True))
            for own, (place, start) in zip(declared.blocks, self._places(), strict=True)
        )
        recursion = None if adjoint is None else adjoint.recursion()
        count = None if parts[0].datum is None else count
        others = self._name_others(name)
        found = Gradient(name, self.block, parts, count, minibatch, recursion=recursion, others=others)
        return with_tensors(found, self._renamed)

    def energy(self) -> Potential:
        """Return U of the target, a scalar, at the block that U depends on.

        U(theta) = -log_prior - sum_n log_likelihood_n, of all data, as the target states it (Ma, Chen, Fox 2015, Eq. 7,
        with all data); a target without data states U itself.

        Raises:
            ModelError: a gradient that is code, from which U is not known; a size of a stacked target that is not
                known.
        """
        if self.target.is_open:
            name, given = fresh(self.potential, self.declared), (self.block.name, REST)
            own = Potential(name, self.block, ((self.block, 0),), Tensor((), ()), None, None)
            return replace(own, others=self._name_others(name), code=POTENTIAL, given=given)
        if self.target.gradient is not None:
            hint = "state the log posterior by formulas, or leave out `metropolis`"
            raise unsupported("acceptance by H of a target whose gradient is code, which tells no U", hint)
        adjoint, name = self._adjoint(), fresh(self.potential, self.declared)
        prior, datum = self._terms(adjoint, None, stated=True)
        count = None if datum is None else self.target.declarations.data[0].size
        recursion = None if adjoint is None else adjoint.recursion()
        found = Potential(name, self.block, tuple(self._places()), prior, datum, count, recursion)
        return replace(with_tensors(found, self._renamed), others=self._name_others(name))

    @property
    def _arrays(self) -> tuple[str, str]:
        """What grad U and its estimate are called: parts of the potential's block keep clear of both."""
        name = f"grad_{self.potential}"
        return fresh(name, self.declared), fresh(f"{name}_tilde", self.declared)

    @property
    def _names(self) -> dict[str, str]:
        """What the blocks of the target are called in the dynamics' own names."""
        blocks, taken = self.target.declarations.blocks, self.declared | {*self._arrays}
        stacked = is_stacked(self.target, self.block)
        return {own.name: fresh(own.name, taken) if stacked else self.block.name for own in blocks}

    def _renamed(self, tensor: Tensor) -> Tensor:
        return renamed(tensor, self._names)

    def _name_others(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the other blocks that U is at, with names for what is computed of it there."""
        return tuple((block, fresh(f"{name}_{block}", self.declared)) for block in self.others)

    def _places(self) -> Iterator[tuple[Block, Size]]:
        """Yield the blocks of the target with the place of their first entry in the potential's block."""
        if not is_stacked(self.target, self.block):
            yield self.block, 0
            return
        start: Size = 0
        for own in self.target.declarations.blocks:
            yield replace(own, name=self._names[own.name]), start
            start = after(start, length(own.sampled, self.sizes, self.target))

    def _adjoint(self) -> Adjoints | None:
        sizes = (size for size in self.block.shape.sizes if isinstance(size, str))
        taken = {*self.declared, *self._arrays, *self._names.values(), *self.target.declarations.sizes, *sizes}
        return adjoints(self.target, taken)

    def _terms(self, adjoint: Adjoints | None, by: Block | None, *, stated: bool) -> tuple[Tensor, Tensor | None]:
        """Return -log prior and -log likelihood of datum n, or their gradients by a block, fit to be computed.

        They are as they are stated, or multiplied out. Of a recursion with what the starts of its states add to the
        first, and what a row leaves to those after it to the second.
        """
        target, declared = self.target, of_rows(self.target)
        rules = calculus(declared, stated=stated)
        n = Index(target.declarations.data[0].size, "n") if target.declarations.data else None
        sizes = by.shape.sizes if by is not None else ()
        slots = tuple(Index(size, label) for size, label in zip(sizes, "ij", strict=False))
        at = None if by is None else Coordinate(by.name, slots)

        def term(entry: str, formula: Formula, sign: int, datum: Index | None = None) -> Tensor:
            with placed(target.source, entry):
                value = convert(formula, declared, datum=datum, stated=stated)
                value = value if at is None else rules.diff(value, at)
                return without_overflow(rules, rules.scale(value, sign))

        if by is not None and by.domain.name in DISCRETE:
            rows = None if target.log_likelihood is None or n is None else Tensor((*slots, n), ())
            return Tensor(slots, ()), rows
        if target.potential is not None:
            return term("potential", target.potential, 1), None
        prior = Tensor(slots, ()) if target.log_prior is None else term("log_prior", target.log_prior, -1)
        if target.log_likelihood is None:
            return prior, None
        datum = term("log_likelihood", target.log_likelihood, -1, n)
        if adjoint is None:
            return prior, datum
        if at is None:
            return prior, adjoint.on_rows(datum)
        return adjoint.chained(prior, at, stated=stated), adjoint.chained(datum, at, stated=stated, rows=True)


def stacked_sizes(declarations: Declarations) -> tuple[str, ...]:
    """Return the symbolic sizes of the blocks of a target, which have to be fixed where it is stacked."""
    sizes: list[Size] = [size for block in declarations.blocks for size in block.shape.sizes]
    return tuple(dict.fromkeys(size for size in sizes if isinstance(size, str)))


def length(block: Block, sizes: Sizes | None, target: Target) -> Size:
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
