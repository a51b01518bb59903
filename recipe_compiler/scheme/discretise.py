"""Build and derivation to Program: the scheme by its name."""

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.program.program import Program
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.assemble import Setting
from recipe_compiler.scheme.euler import euler
from recipe_compiler.scheme.posterior import target_gradient
from recipe_compiler.scheme.sequential_euler import sequential_euler
from recipe_compiler.spec.model import Build
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor


def discretise(build: Build, derivation: Derivation) -> Program:
    """Return one step of the build's scheme for the bound dynamics and its target.

    Raises:
        ModelError: the build asks for what no emitted step can do; names it.
    """
    setting = _setting(build, derivation)
    if build.scheme == "euler":
        program = euler(derivation, setting)
    else:
        program = sequential_euler(derivation, setting, build.order)
    return rename(program, _one_name_each(build, setting.gradient.block))


def pinned_sizes(build: Build, program: Program) -> dict[str, int]:
    """Return the sizes of the dynamics that the target's own shapes fix, whatever the build says of them."""
    blocks = {block.name: block for block in build.dynamics.declarations.blocks}
    pairs = [(blocks[b.name].shape.sizes, b.shape.sizes) for b in program.blocks if b.name in blocks]
    found = [pair for old, new in pairs for pair in zip(old, new, strict=True)]
    return {old: new for old, new in found if isinstance(old, str) and isinstance(new, int)}


def _one_name_each(build: Build, block: Block) -> dict[str, str | int]:
    """Return what sizes of dynamics and target become, so that the block of the potential has one size.

    A size that either document states as a number is that number; else the dynamics' name stands.
    """
    found: dict[str, str | int] = {}
    for own, theirs in zip(block.shape.sizes, build.target.declarations.blocks[0].shape.sizes, strict=True):
        if own == theirs:
            continue
        if isinstance(theirs, str):
            found[theirs] = own
        elif isinstance(own, str):
            found[own] = theirs
    return found


def _setting(build: Build, derivation: Derivation) -> Setting:
    block = _potential_block(build, derivation)
    parameters = _parameters(build, derivation)
    data = build.target.declarations.data
    items = (*derivation.dynamics.declarations.blocks, *parameters, *data)
    declared = frozenset(item.name for item in items)
    minibatch = build.variant == "minibatch"
    gradient = target_gradient(build.target, build.dynamics.potential or "U", block, declared, minibatch=minibatch)
    V = _covariance(build, derivation, block) if minibatch else None
    return Setting(gradient, V, build.variant, build.replacement, parameters, data, declared)


def _potential_block(build: Build, derivation: Derivation) -> Block:
    functions = derivation.dynamics.declarations.functions
    potential = next((function for function in functions if function.role == "potential"), None)
    if potential is None or len(potential.of) != 1:
        found = "none" if potential is None else f"one of {', '.join(potential.of)}"
        place = build.dynamics.source.place("functions")
        problem = f"found {found}, expected a function of one block with role: potential"
        raise ModelError([Fault(place, "functions", problem, "declare U: {of: theta, role: potential}")])
    return next(b for b in derivation.dynamics.declarations.blocks if b.name == potential.of[0])


def _parameters(build: Build, derivation: Derivation) -> tuple[Parameter, ...]:
    """Return all constants of the chain, each once: those of dynamics and build, then those of the target."""
    every = (*derivation.dynamics.declarations.parameters, *build.parameters, *build.target.declarations.parameters)
    return tuple({parameter.name: parameter for parameter in every}.values())


def _covariance(build: Build, derivation: Derivation, block: Block) -> Tensor:
    """Return V with the free indices `i` and `j` of the potential's block."""
    slots = tuple(Index(size, label) for size in block.shape.sizes for label in ("i", "j"))
    return convert(build.V, derivation.dynamics.declarations, *slots)
