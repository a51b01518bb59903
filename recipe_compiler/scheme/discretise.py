"""Build and derivation to Program: the scheme by its name, or by its word."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from recipe_compiler.derive.noise import gradient_covariance
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import CompilerError, Fault, ModelError
from recipe_compiler.formula.build import depends_on_state, nodes
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.formula.expression import Apply
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.operators import INVERTING
from recipe_compiler.formula.shapes import DomainName, Sizes
from recipe_compiler.program.atoms import with_arrays
from recipe_compiler.program.combine import unsupported
from recipe_compiler.program.program import Energies, Gradient, Part, Program, steps_at_head
from recipe_compiler.program.rebuild import with_tensors
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.cycle import rest_of, with_cycle
from recipe_compiler.scheme.posterior import SampledTarget, length, stacked_sizes
from recipe_compiler.scheme.shifts_and_noise import SchemeSetting
from recipe_compiler.scheme.split import euler, split
from recipe_compiler.spec.build_checks import is_stacked, potential_blocks
from recipe_compiler.spec.catalogue import EULER
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, CodeMove, Control, Dynamics, Involution, Metropolis
from recipe_compiler.spec.model import Draw as DrawMove
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.positions import equation_formulas
from recipe_compiler.tensor.terms import Component, Index, Tensor, Term

# Control variates around a mode: the minibatch estimates differences of gradients, which are small near it.
#
# With g_i the gradient of -log likelihood of datum i and p that of -log prior,
#
#     p(theta) - p(theta_mode) + grad U(theta_mode) + (N/n) sum_{i in batch} (g_i(theta) - g_i(theta_mode)),
#
# unbiased for grad U(theta) whatever theta_mode is (Baker, Fearnhead, Fox, Nemeth 2019), the prior taken exactly.
# theta_mode and grad U(theta_mode) are parameters of the step: they are found once, before a run.


ONE = Fraction(1)


def with_control_variates(gradient: Gradient, control: Sequence[Control]) -> Gradient:
    """Return the gradient as differences to that at a mode, at which the full gradient is known, block by block.

    With g_m the gradient of -log likelihood of datum m and p that of -log prior, it is

        p(theta) - p(mode) + at_mode + (N/n) sum_batch (g_m(theta) - g_m(mode)),

    unbiased whatever `mode` is, and of small variance near it (Baker, Fearnhead, Fox, Nemeth 2019).

    Args:
        gradient: of a target, full or by minibatches.
        control: what holds each block of the target at the mode, and the gradient by it there.

    Raises:
        ModelError: the gradient is code.
    """
    if gradient.count is None:
        return gradient
    if gradient.code:
        hint = "leave them out, or state the log likelihood of a datum as a formula"
        raise unsupported("control variates of a gradient that is code", hint)
    modes = {part.block.name: own.mode for part, own in zip(gradient.parts, control, strict=True)}
    parts = (_around_mode(part, own, modes) for part, own in zip(gradient.parts, control, strict=True))
    return replace(gradient, parts=tuple(parts))


def _around_mode(part: Part, own: Control, modes: Mapping[str, str]) -> Part:
    """Return the gradient by one block as its difference to that at the mode, which is known."""
    part = with_tensors(part, lambda tensor: Tensor(tensor.free, _difference(tensor, modes)))
    slots = tuple(Index(size, label) for size, label in zip(part.block.shape.sizes, "ij", strict=False))
    known = Term(ONE, ((Component(own.at_mode, slots), ONE),))
    prior, stated = (Tensor(slots, (*tensor.terms, known)) for tensor in (part.prior, part.stated_prior))
    return replace(part, prior=prior, stated_prior=stated)


def _difference(tensor: Tensor, modes: Mapping[str, str]) -> tuple[Term, ...]:
    """Return the terms of a tensor less those at the mode; terms without a block cancel, exactly."""
    moved = with_arrays(tensor, modes)
    pairs = [(here, there) for here, there in zip(tensor.terms, moved.terms, strict=True) if here != there]
    return tuple(term for here, there in pairs for term in (here, Term(-there.coefficient, there.factors)))


def discretise(
    build: Build, derivation: Derivation, sizes: Sizes | None = None, *, for_every_size: bool = False
) -> Program:
    """Return one step of the build's scheme for the bound dynamics and its target.

    A target that is stacked (several blocks, or a matrix, end to end in the potential's block) makes a program at fixed
    sizes, or, with `for_every_size`, one that names them: their numbers are then set at the head of its text.

    Args:
        build: what to discretise.
        derivation: of its bound dynamics, in the form that is to be computed: as they are stated.
        sizes: of a stacked target, instead of those of the build.
        for_every_size: whether a stacked target leaves its sizes open (`is_large` decides where that is done).

    Raises:
        ModelError: the build needs what no emitted step can do; names it.
    """
    _require_bound(derivation.dynamics)
    moves = any(entry.terms for row in (*derivation.D, *derivation.Q) for entry in row)
    if build.target.is_open and not (moves or build.scheme.cycle):
        raise unsupported(
            "D = Q = 0 without a target", "name a target, and exact draws of it in a cycle: nothing moves"
        )
    stated = dict(build.sizes) if sizes is None else sizes
    known = None if for_every_size else stated
    sampled = _sampled(build, derivation, known)
    setting = _setting(build, derivation, sampled)
    program = _program(build, derivation, setting)
    if build.scheme.cycle:
        accepts = any(isinstance(move, Metropolis | Involution) for move in build.scheme.cycle)
        potential = sampled.energy() if accepts else None
        program = with_cycle(program, derivation, build, potential, setting.declared)
    one_name = _one_name_each(build, setting.gradient, known)
    exact = None
    told = bool(program.statements) or (program.cycle is not None and bool(program.cycle.codes))
    judged = any(block.domain.name in (DomainName.REAL, DomainName.POSITIVE) for block in derivation.blocks)
    if not setting.gradient.code and told and judged:  # exact moves alone leave nothing to tell
        exact = sampled.gradient(minibatch=False)
    return rename(
        replace(
            program,
            full_gradient=exact,
            energies=_energies(derivation, sampled),
            narrow=build.data is not None and build.data.dtype == "float32",
            mapped=build.data is not None and bool(build.data.arrays),
            heads=(
                *(
                    (name, stated[name])
                    for name in (stacked_sizes(build.target.declarations) if for_every_size else ())
                    if name not in one_name
                ),
                *steps_at_head(program.gradient),
            ),
        ),
        one_name,
    )


def _program(build: Build, derivation: Derivation, setting: SchemeSetting) -> Program:
    """Return the program of a build's scheme, without what tells of its draws."""
    if build.scheme.cycle and not build.scheme.split:
        return setting.program("cycle", derivation, ())
    if build.scheme.split:
        with placed(build.source, "scheme"):
            return split(derivation, setting, build.scheme)
    match build.scheme.name:
        case "euler" | "sequential_euler":
            with placed(build.source, "scheme"):
                return euler(derivation, setting, build.scheme)
        case name:
            raise CompilerError(f"found the scheme {name} without a word, expected {' or '.join(EULER)}")


def _require_bound(dynamics: Dynamics) -> None:
    """Raise ModelError where a function of the dynamics, other than U, has no formula."""
    used = {name for formula in equation_formulas(dynamics) for name in dependence(formula).functions}
    free = [f.value.declared for f in dynamics.declarations.functions if f.name in used]
    if name := next((name for name in free if name != dynamics.potential), ""):
        hint = f"bind the function to a formula: `bind: {{{name}: ...}}`"
        raise unsupported(f"dynamics with {name}, a function without a formula", hint)


def pinned_sizes(build: Build, program: Program) -> dict[str, int]:
    """Return the sizes of blocks and parameters that are numbers in the program, whatever the build states for them."""
    dynamics, target = build.dynamics.declarations, build.target.declarations
    every = (*target.parameters, *build.parameters, *dynamics.parameters, *dynamics.blocks)
    stated = {item.name: item.shape.sizes for item in every}
    made = [item for item in (*program.parameters, *program.blocks) if item.name in stated]
    found = [pair for item in made for pair in zip(stated[item.name], item.shape.sizes, strict=True)]
    return {old: new for old, new in found if isinstance(old, str) and isinstance(new, int)}


LARGE = 64
"""The most numbers of a stacked target whose text is made for their count: loops over more are not written out."""


FEW = 16
"""The largest size that is a number in a text for every size of the others: loops over it are written out."""


def is_large(build: Build) -> bool:
    """Whether a text is made for every size of a stacked target, its sizes at its head.

    So it is for more than 64 coordinates and entries of matrices of the state that are taken apart; not if no size has
    a name or one has a name of the dynamics, if blocks are drawn by their laws or mapped by an involution, changed by
    code, or if they lie in constrained sets.
    """
    block, sizes = _potential_block(build), dict(build.sizes)
    if build.target.gradient is not None or not is_stacked(build.target, block):
        return False
    if any(isinstance(size, int) for size in block.shape.sizes) or constrained(build.target):
        return False
    if any(isinstance(move, DrawMove | Involution | CodeMove) for move in build.scheme.cycle or ()):
        return False
    declared = build.dynamics.declarations
    mine = {*declared.sizes, *(item.name for group in (declared.blocks, declared.parameters) for item in group)}
    named = {*stacked_sizes(build.target.declarations)}
    if not named or mine & named:
        return False
    entries = sum(valued(length(own, sizes, build.target), {}) for own in build.target.declarations.blocks)
    stated = (build.target.potential, build.target.log_prior, build.target.log_likelihood)
    inside = {node for formula in stated if formula is not None for node in nodes(formula) if depends_on_state(node)}
    factored = {node.args[0].shape for node in inside if isinstance(node, Apply) and node.fn in INVERTING}
    rows = (sizes.get(shape.rows, 0) if isinstance(shape.rows, str) else 0 for shape in factored)
    return entries + sum(n * n for n in rows) > LARGE


def small_sizes(build: Build) -> Iterator[dict[str, int]]:
    """Yield the sizes of a stacked target at which its step is emitted to be read back.

    They are 1 and 2 in all combinations, and sizes that all differ; where the dynamics state the number of coordinates,
    those of the build, which add up to it. For any other target nothing is fixed: its text reads sizes off the arrays.
    """
    block, names = _potential_block(build), stacked_sizes(build.target.declarations)
    if not is_stacked(build.target, block):
        yield {}
        return
    if any(isinstance(size, int) for size in block.shape.sizes):
        yield {name: dict(build.sizes)[name] for name in names}
        return
    for numbers in product((1, 2), repeat=len(names)):
        yield dict(zip(names, numbers, strict=True))
    if len(names) > 1:
        yield {name: 1 + k for k, name in enumerate(names)}


def more_than_two(build: Build) -> dict[str, int]:
    """Return sizes of a stacked target of which one is 3: it has positions that are neither first nor last."""
    names = stacked_sizes(build.target.declarations)
    return {name: 2 if k else 3 for k, name in enumerate(names)}


def _one_name_each(build: Build, gradient: Gradient, sizes: Sizes | None) -> dict[str, str | int]:
    """Return what sizes of dynamics and target become, so that the block of the potential has one size.

    A size that either document states as a number is that number; else the dynamics' name stands. A stacked target
    gives the block its number of coordinates.
    """
    target = build.target
    if is_stacked(target, gradient.block):
        if sizes is None:
            return {
                name: number
                for name, number in build.sizes
                if number <= FEW and name in stacked_sizes(target.declarations)
            }
        total = sum(valued(length(block.sampled, sizes, target), {}) for block in target.declarations.blocks)
        fixed: dict[str, str | int] = {name: sizes[name] for name in stacked_sizes(target.declarations)}
        return fixed | {size: total for size in gradient.block.shape.sizes if isinstance(size, str)}
    found: dict[str, str | int] = {}
    for own, theirs in zip(gradient.block.shape.sizes, target.declarations.blocks[0].shape.sizes, strict=True):
        if own == theirs:
            continue
        if isinstance(theirs, str):
            found[theirs] = own
        elif isinstance(own, str):
            found[own] = theirs
    return found


def _sampled(build: Build, derivation: Derivation, sizes: Sizes | None) -> SampledTarget:
    items = (*derivation.blocks, *_parameters(build, derivation), *build.target.declarations.data)
    functions = (f for f in build.dynamics.declarations.functions if f.home)
    others = tuple(f.of[0] for f in functions if f.value.declared == build.dynamics.potential)
    declared = frozenset(item.name for item in items)
    potential = build.dynamics.potential or "U"
    return SampledTarget(build.target, potential, _potential_block(build), declared, sizes, others)


def _setting(build: Build, derivation: Derivation, sampled: SampledTarget) -> SchemeSetting:
    minibatch = build.variant == "minibatch"
    gradient = sampled.gradient(minibatch=minibatch)
    if gradient.others and not build.has_exact_gradient:
        found = f"found {sampled.potential} at {', '.join(gradient.places)}, expected it at one block"
        problem = f"{found}: a batch, or what is added, makes noise of all"
        raise ModelError([Fault(build.source.place("variant"), "variant", problem, "write `variant: full`")])
    if build.control:
        with placed(build.source, "minibatch"):
            gradient = with_control_variates(gradient, build.control)
    V = None if build.has_exact_gradient else gradient_covariance(derivation, build.V)
    W = None if build.W is None else gradient_covariance(derivation, build.W)
    return SchemeSetting(gradient, V, W, build, _parameters(build, derivation), sampled.declared)


def _energies(derivation: Derivation, sampled: SampledTarget) -> Energies | None:
    """Return what tells of draws; None where the gradient is code, which tells no U."""
    if sampled.target.gradient is not None:
        return None
    potential = sampled.energy()
    try:
        rest = None if potential.others else rest_of(derivation, potential)
    except ModelError:  # U is no summand of H
        rest = None
    return Energies(potential, rest)


def _potential_block(build: Build) -> Block:
    blocks = potential_blocks(build.dynamics)
    if len(blocks) != 1:
        found = f"one of {', '.join(block.name for block in blocks)}" if blocks else "none"
        place = build.dynamics.source.place("functions")
        problem = f"found {found}, expected a function of one block with role: potential"
        raise ModelError([Fault(place, "functions", problem, "declare U: {of: theta, role: potential}")])
    return blocks[0]


def _parameters(build: Build, derivation: Derivation) -> tuple[Parameter, ...]:
    """Return all constants of the chain, each once: those of dynamics and build, then those of the target."""
    every = (*derivation.declarations.parameters, *build.parameters, *build.target.declarations.parameters)
    return tuple({parameter.name: parameter for parameter in every}.values())
