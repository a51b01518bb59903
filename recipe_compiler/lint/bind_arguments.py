"""The meaning of the arguments of a step: by their names, or by `--map`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from recipe_compiler.errors import Place, model_error, nearest
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import MINUS_ONE, apply, depends_on_state, matmul, multiply, nodes, power
from recipe_compiler.formula.declaration import Block, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula, GradTilde, Next, Normal, Role, Symbol
from recipe_compiler.formula.orders import holds_step, orders
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.formula.show import text
from recipe_compiler.formula.syntax import parse
from recipe_compiler.lint.published_form import suggest_maps
from recipe_compiler.lint.source import Argument, Source
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Dynamics

STEP_SIZES = ("eps", "epsilon", "step_size", "stepsize", "dt", "lr", "learning_rate", "h")
GENERATORS = ("rng", "generator", "random_state", "rs", "gen")
STATE = "state"
NO_NUMBERS: Mapping[str, int] = MappingProxyType({})
_DRAW = re.compile(r"\s*normal\(\s*([A-Za-z]\w*)\s*\)\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class BoundName:
    """What one argument, or one name of the file, stands for."""

    name: str
    kind: str
    """`formula`, `eps`, `generator`, `size`, `normals`, or `state`: all blocks one after the other."""
    formula: Formula | None = None
    of: tuple[Block, ...] = ()
    """The blocks it depends on, in order; where there are any, it can be called at other values of them."""
    block: Block | None = None
    """The block whose value it is, or a linear image of it, or whose shape its draws have."""
    size: Size = ""
    """The size that it is, by its name or as a number."""
    inverse: Formula | None = None
    """Where it holds a linear image of its block, the inverse image of that block."""

    @property
    def uses_eps(self) -> bool:
        """Whether it is the step size, or a formula of it."""
        return self.kind == "eps" or (self.formula is not None and holds_step(self.formula))

    @property
    def vanishes(self) -> bool:
        """Whether its form shows that it tends to zero with the step size."""
        return self.kind == "eps" or (self.formula is not None and min(orders(self.formula) or {0}) > 0)

    @property
    def says(self) -> str:
        """The premise about it in a verdict; empty where its name says it."""
        if self.kind == "eps":
            return "" if self.name == "eps" else f"{self.name} is the step size"
        if self.kind == "normals" and self.block is not None:
            return f"{self.name} is a draw of N(0, I), new in every step, of the shape of {self.block.name}"
        if self.formula is None or self.kind != "formula" or isinstance(self.formula, Symbol):
            named = isinstance(self.formula, Symbol) and self.formula.name != self.name
            return f"{self.name} is {text(self.formula)}" if named and self.formula is not None else ""
        written = text(self.formula)
        return "" if written.partition("(")[0] == self.name else f"{self.name} is {written}"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the data of a build that a step is given."""

    fields: tuple[tuple[str, tuple[int, ...]], ...]
    """Each with the values that are allowed; empty for any number."""
    of_batch: bool
    """Whether they are a minibatch: what a step does is meant of the mean over all batches then."""

    @property
    def are_any(self) -> bool:
        """Whether what is wrong of any rows is wrong."""
        return not self.of_batch and not any(values for _, values in self.fields)


@dataclass(frozen=True, slots=True)
class Binding:
    """A step, and what it is called with."""

    source: Source
    dynamics: Dynamics
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    globals: tuple[str, ...]
    given: tuple[BoundName, ...]
    said: tuple[str, ...] = ()
    """Remarks on the part of a build that it is compared with."""
    left_open: tuple[str, ...] = ()
    """The reasons that it stays undecided."""
    smaller: tuple[tuple[str, int], ...] = ()
    """The sizes at which it is followed, where they are smaller than those of the build."""
    meant: tuple[tuple[int, str], ...] = ()
    """The sizes of the build, with their names, where others are followed."""
    rows: Rows | None = None

    @property
    def is_of_batch(self) -> bool:
        """Whether the step is given a minibatch."""
        return self.rows is not None and self.rows.of_batch

    @property
    def outputs(self) -> tuple[BoundName, ...]:
        """Return the arguments that hold the state, in the order of the blocks."""
        whole = [given for given in self.given if given.kind == STATE]
        order = {block.name: k for k, block in enumerate(self.dynamics.declarations.blocks)}
        own = [given for given in self.given if given.block is not None and given.kind == "formula"]
        return tuple(whole or sorted(own, key=lambda given: order[given.block.name if given.block else ""]))


def bind_arguments(
    source: Source,
    dynamics: Dynamics,
    maps: Sequence[tuple[str, str]],
    numbers: Mapping[str, int] = NO_NUMBERS,
    *,
    replaces_functions: bool = True,
) -> Binding:
    """Return what to call a step with.

    Args:
        source: the step.
        dynamics: what it is judged by.
        maps: pairs of a name and its meaning.
        numbers: sizes that stand as numbers in the dynamics.
        replaces_functions: whether functions of the file that are called like those of the document, or their
            derivatives, are replaced by these; where not, only what `maps` names is.

    Raises:
        ModelError: an argument whose name says nothing, a block that no argument holds, a map that means nothing.
    """
    faults = Faults()
    mapped = dict(maps)
    known = {argument.name for argument in source.arguments}
    given: list[BoundName] = []
    called: list[Argument] = []
    for argument in source.arguments:
        if argument.name in mapped:
            found = faults.catch(lambda name=argument.name: _bind_by_map(name, mapped[name], dynamics, numbers))
        else:
            found = _bind_by_name(argument.name, dynamics, numbers)
            if found is None and not argument.has_default:
                _report_unknown_argument(argument, source, dynamics, faults)
        if found is not None:
            given.append(found)
            called.append(argument)
    replaced = [
        name for name in _list_replaced_globals(source, dynamics, mapped, known) if replaces_functions or name in mapped
    ]
    given += [
        found for name in replaced if (found := faults.catch(lambda n=name: _bind_global(n, mapped, dynamics, numbers)))
    ]
    for name in mapped:
        if name not in known and name not in source.names:
            expected = "an argument of the step or a name of the file"
            hint = nearest(name, (*known, *source.names))
            faults.meaningless_at(
                source.place(source.line), f"--map {name}", f"found no `{name}`, expected {expected}", hint
            )
    given = _bind_linear_images(given, dynamics)
    _pass_by_name(source, called, faults)
    _report_unheld_blocks(given, source, dynamics, faults)
    faults.finish()
    return Binding(
        source,
        dynamics,
        tuple(argument.name for argument in called if not argument.keyword),
        tuple(argument.name for argument in called if argument.keyword),
        tuple(replaced),
        tuple(given),
    )


def _bind_by_name(name: str, dynamics: Dynamics, numbers: Mapping[str, int]) -> BoundName | None:
    """Return the binding that a name has without `--map`; None where it has none."""
    declarations = dynamics.declarations
    item = declarations.find(name)
    match item:
        case Block():
            return BoundName(name, "formula", Symbol(name, item.shape, Role.BLOCK), (), item)
        case Parameter():
            return BoundName(name, "formula", Symbol(name, item.shape, Role.PARAMETER))
        case Function():
            return _bind_formula(name, item.value, dynamics)
        case _:
            pass
    if name in declarations.sizes or name in numbers:
        return BoundName(name, "size", size=_find_size(name, dynamics, numbers))
    if name in STEP_SIZES:
        return BoundName(name, "eps")
    if name in GENERATORS:
        return BoundName(name, "generator")
    return _bind_derivative(name, dynamics)


def _find_size(name: str, dynamics: Dynamics, numbers: Mapping[str, int]) -> Size:
    return name if name in dynamics.declarations.sizes else numbers[name]


def _bind_derivative(name: str, dynamics: Dynamics) -> BoundName | None:
    """Return the gradient, Hessian or divergence of a function of one block by its usual names: `grad_U`, `div_K`."""
    for function in dynamics.declarations.functions:
        f = function.name
        if len(function.of) != 1:
            continue
        block = next(block for block in dynamics.declarations.blocks if block.name == function.of[0])
        by = block.symbol
        square = Shape(block.shape.rows, block.shape.rows)
        if name == f"div_{f}" and function.shape == square and block.shape.sizes:
            return _bind_formula(name, apply("div", [function.value, by], block.shape), dynamics)
        if function.shape.sizes:
            continue
        if name in {f"grad_{f}", f"grad{f}", f"{f}_grad", f"d{f}", f"nabla_{f}"}:
            return _bind_formula(name, apply("grad", [function.value, by], block.shape), dynamics)
        if name in {f"hess_{f}", f"hessian_{f}"}:
            return _bind_formula(name, apply("hessian", [function.value, by], square), dynamics)
    return None


def _bind_by_map(name: str, what: str, dynamics: Dynamics, numbers: Mapping[str, int]) -> BoundName:
    """Return the binding that `--map name=what` states."""
    declarations = dynamics.declarations
    draw = _DRAW.fullmatch(what)
    block = next((block for block in declarations.blocks if draw and block.name == draw.group(1)), None)
    if block is not None:
        return BoundName(name, "normals", None, (), block)
    if draw is not None:
        blocks = ", ".join(block.name for block in declarations.blocks)
        problem = f"found `{what}`, expected normal(BLOCK) with a block of the state ({blocks})"
        raise model_error(f"--map {name}", problem)
    if declarations.find(what) is None:
        special = {"eps": "eps", "rng": "generator", STATE: STATE}.get(what)
        if special is not None:
            return BoundName(name, special)
        if what in declarations.sizes or what in numbers:
            return BoundName(name, "size", size=_find_size(what, dynamics, numbers))
    entry = f"--map {name}"
    formula = elaborate(
        parse(what, entry, Place("", 1, 1)), Scope(declarations, square=True, update=True), None, entry, Place("", 1, 1)
    )
    if any(isinstance(node, Normal | Next | GradTilde) for node in nodes(formula)):
        problem = f"found `{what}`, expected a formula of the state, parameters and eps, or normal(BLOCK) for a draw"
        raise model_error(entry, problem)
    item = declarations.find(formula.name) if isinstance(formula, Symbol) else None
    if isinstance(item, Block):
        return BoundName(name, "formula", formula, (), item)
    return _bind_formula(name, formula, dynamics)


def _bind_linear_images(given: list[BoundName], dynamics: Dynamics) -> list[BoundName]:
    """Return bindings in which a linear image of a block, if no argument holds the block itself, holds that block."""
    held = {one.block.name for one in given if one.block is not None and one.kind == "formula"}
    free = {block.name: block for block in dynamics.declarations.blocks if block.name not in held}
    found: list[BoundName] = []
    for one in given:
        is_formula = one.kind == "formula" and one.formula is not None
        solved = _solve_for_block(one.formula) if is_formula and one.formula is not None else None
        block = None if solved is None else free.get(solved[0].name)
        found.append(one if solved is None or block is None else replace(one, of=(), block=block, inverse=solved[1]))
    return found


def _bind_formula(name: str, formula: Formula, dynamics: Dynamics) -> BoundName:
    """Return the binding of a name to a formula, a function of the blocks in it."""
    inside = dependence(formula).blocks
    return BoundName(name, "formula", formula, tuple(b for b in dynamics.declarations.blocks if b.name in inside))


def _list_replaced_globals(
    source: Source, dynamics: Dynamics, mapped: dict[str, str], known: set[str]
) -> Iterator[str]:
    """Yield the names of the file to replace: those mapped, and functions that are abstract in the document."""
    for name in source.names:
        if name in known or name == source.step:
            continue
        item = dynamics.declarations.find(name)
        function = isinstance(item, Function) or (item is None and _bind_derivative(name, dynamics) is not None)
        if name in mapped or (name in source.functions and function):
            yield name


def _bind_global(name: str, mapped: dict[str, str], dynamics: Dynamics, numbers: Mapping[str, int]) -> BoundName:
    found = (
        _bind_by_map(name, mapped[name], dynamics, numbers)
        if name in mapped
        else _bind_by_name(name, dynamics, numbers)
    )
    if found is None or found.kind != "formula" or found.block is not None:
        expected = "expected a parameter, a function or a formula: the state and draws are arguments"
        raise model_error(f"--map {name}", f"found `{mapped.get(name, name)}`, {expected}")
    return found


def _report_unknown_argument(argument: Argument, source: Source, dynamics: Dynamics, faults: Faults) -> None:
    declarations = dynamics.declarations
    names = [item.name for item in (*declarations.blocks, *declarations.parameters, *declarations.functions)]
    usual = [f"grad_{f.name}" for f in declarations.functions if not f.shape.sizes]
    known = (*names, *usual, "eps", "rng")
    problem = f"found the argument `{argument.name}`, expected one of {', '.join(known)}"
    form = suggest_maps(source, dynamics)
    if f"'{argument.name}=" in form:
        hint = form if form.startswith(f"if {argument.name} is") else ""  # all of it once, at the velocity
    else:
        hint = (
            nearest(argument.name, known)
            or f"say what it is: --map {argument.name}=WHAT, one of these names, a formula, or normal(BLOCK) for a draw"
        )
    faults.meaningless_at(source.place(source.line), f"{source.step}({argument.name})", problem, hint)


def _pass_by_name(source: Source, called: list[Argument], faults: Faults) -> None:
    """Pass by name every argument that follows one with a kept default."""
    names = {argument.name for argument in called}
    left = False
    for argument in source.arguments:
        if argument.keyword:
            continue
        if argument.name not in names:
            left = True
        elif left and argument.name in names:
            called[called.index(argument)] = Argument(argument.name, argument.has_default, True)


def _report_unheld_blocks(given: list[BoundName], source: Source, dynamics: Dynamics, faults: Faults) -> None:
    """Report each block that no argument, or more than one, holds."""
    if any(item.kind == STATE for item in given):
        return
    for block in dynamics.declarations.blocks:
        holders = [item.name for item in given if item.block == block and item.kind == "formula"]
        if len(holders) != 1:
            found = "no argument" if not holders else f"the arguments {', '.join(holders)}"
            problem = f"found {found} for the block {block.name}, expected one"
            faults.meaningless_at(source.place(source.line), source.step, problem, f"--map NAME={block.name}")


def get_shape(given: BoundName) -> Shape:
    """Return the shape of what an argument stands for."""
    return given.formula.shape if given.formula is not None else given.block.shape if given.block else SCALAR


# Arguments that hold a linear image of a block, as v = eps*r.


def _solve_for_block(formula: Formula) -> tuple[Symbol, Formula] | None:
    """Return the block that a formula is a linear image of, and the inverse image of that block.

    Of eps*inv(M) @ r these are r and M @ r/eps: with the formula in the place of r, the latter is r.
    """
    blocks = {node for node in nodes(formula) if isinstance(node, Symbol) and node.role is Role.BLOCK}
    if len(blocks) != 1:
        return None
    block = blocks.pop()
    found = _invert_factors(formula, block)
    return None if found is None else (block, found)


def _invert_factors(formula: Formula, image: Formula) -> Formula | None:
    """Return the block as a formula of its linear image, inverting factor by factor; None if one is not linear."""
    if isinstance(formula, Symbol) and formula.role is Role.BLOCK:
        return image
    if not isinstance(formula, ex.Multiply | ex.MatMul):
        return None
    left, right = formula.left, formula.right
    inner, factor = (left, right) if depends_on_state(left) else (right, left)
    if inner.shape != formula.shape or depends_on_state(factor):
        return None
    if isinstance(formula, ex.Multiply):
        return _invert_factors(inner, multiply(power(factor, MINUS_ONE, factor.shape), image, formula.shape))
    inverse = factor.args[0] if isinstance(factor, ex.Apply) and factor.fn == "inv" else None
    inverse = inverse or apply("inv", [factor], factor.shape)
    return _invert_factors(inner, matmul(*((image, inverse) if inner is left else (inverse, image)), formula.shape))
