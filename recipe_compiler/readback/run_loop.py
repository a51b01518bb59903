"""One iteration of the loop of `run`: what it gives to a step, and what it keeps of it, read as it is emitted.

The step itself is read elsewhere (`read_step`, `read_chunks`); here it is a box. Every normal that goes into it must be
a draw of this iteration, no two the same; everything else must be what `run` was given; what comes out must be the
state of the next iteration; and the streams must have moved on, by what was drawn.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried, run_arguments, summed, told_by
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loops import Array
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.step_stats import TOLD
from recipe_compiler.readback.calls import joined_shape
from recipe_compiler.readback.interpreter import Reader, Value
from recipe_compiler.readback.names import BATCH, Sizes

WORDS = 4
"""Words of the state of a chain's noise, as the loop sees them."""


@dataclass(slots=True)
class RunLoopReader(Reader):
    """Executes one iteration of `run`: streams return symbols that name the draw, the step is recorded."""

    stepped: Callable[[dict[str, Value]], Value] = field(default=lambda _: None)
    steps: int = 0
    drawn: int = 0
    """Normals drawn so far; one is never drawn twice."""

    def call(self, name: str, arguments: dict[str, Value]) -> Value:
        """Hand the arguments of a step to `stepped`; execute any other function."""
        if name not in ("step", "sweep", "cycle"):
            return Reader.call(self, name, arguments)
        self.steps += 1
        return self.stepped(arguments)

    def next_normals(self, count: int) -> list[sp.Symbol]:
        """Return normals that have not been drawn before."""
        self.drawn += count
        return [sp.Symbol(f"normal[{k}]") for k in range(self.drawn - count, self.drawn)]


@dataclass(slots=True)
class Iteration:
    """The arguments of `run`, and its streams as they advance."""

    module: Module
    given: dict[str, Value]
    moved: int = 0
    """How often the state of the noise moved on."""
    batches: int = 0
    """Minibatches drawn so far: the rows of one are those of no other."""

    def words(self) -> list[sp.Symbol]:
        """Return the words of the noise's state at this point."""
        return [sp.Symbol(f"word[{k}, {self.moved}]") for k in range(len(self.given["noise_state"]))]

    def next_normal(self, reader: RunLoopReader, words: list[Value]) -> Value:
        """Draw one normal with the ziggurat: it takes the state in scalars, and returns it."""
        self.demand(words == self.words(), "draws from a state that is not the last one")
        self.moved += 1
        return (*reader.next_normals(1), *self.words())

    def fill(self, reader: RunLoopReader, arguments: list[Value]) -> None:
        """Fill an array with new normals, and advance the state."""
        state, out = arguments
        self.demand(state is self.given["noise_state"], "draws its noise from a state other than the given one")
        self.moved += 1
        state[:] = self.words()
        out[:] = reader.next_normals(out.size)

    def rows(self, arguments: list[Value]) -> None:
        """Draw a minibatch, from the stream for minibatches."""
        wanted = [self.given[name] for name in ("batch_state", "permutation") if name in self.given]
        count = [] if "permutation" in self.given else [BATCH + 1]
        *streams, batch = arguments
        right = all(a is b for a, b in zip(streams, wanted, strict=False)) and streams[len(wanted) :] == count
        self.demand(right, "draws its minibatch from rows or a state other than the given ones")
        self.batches += 1
        batch[:] = _rows(self.batches)

    def demand(self, right: bool, what: str) -> None:  # what is asked, and what is wrong without
        """Require that something holds.

        Raises:
            CompilerError: it does not.
        """
        if not right:
            raise CompilerError(f"the emitted run was read back and {what}")


def _rows(batch: int) -> list[sp.Symbol]:
    """Return the rows of the n-th minibatch that is drawn."""
    return [sp.Symbol(f"row[{k}, {batch}]") for k in range(BATCH)]


def check_first_values(module: Module, sizes: Sizes) -> None:
    """Check that `first_values` writes grad U and U at the state it is given, from a minibatch that it draws.

    Raises:
        CompilerError: it does not.
    """
    iteration = Iteration(module, _given(module, sizes))
    start = {name: np.array(value) for name, value in iteration.given.items()}
    first = {array.name: _first(array, sizes) for array in carried(module.program)}
    gradient = module.program.gradient if module.program.carries else None
    energy = module.program.cycle.potential if module.program.cycle else None
    energy = energy if energy is not None and energy.name in first else None
    reader = RunLoopReader(module.text, opaque={"gradient": [first[gradient.name]]} if gradient else {})
    reader.fills = dict.fromkeys(("_fill_indices", "_shuffle_indices", "_block_indices"), iteration.rows)
    if energy is not None:
        reader.fills["potential"] = lambda arguments: _first_energy(iteration, arguments, start, first[energy.name][0])
    reader.call("first_values", iteration.given)
    iteration.demand(len(reader.asked) == (gradient is not None), "does not evaluate the first gradient once")
    if gradient is not None:
        _check_asked(iteration, reader, {**start, "batch": np.array(_rows(1), object)})
    counter = module.program.cycle.counter if module.program.cycle else ""
    for name, values in (first | ({counter: [sp.Integer(0)]} if counter else {})).items():
        iteration.demand(list(iteration.given[name]) == values, f"does not write the first {name}")


def _first(array: Array, sizes: Sizes) -> list[sp.Symbol]:
    """Return what stands for the entries of something carried on, as a chain begins with it."""
    (length,) = joined_shape(array.sizes, sizes)
    return [sp.Symbol(f"first {array.name}[{k}]") for k in range(length)]


def check_iteration(module: Module, sizes: Sizes) -> None:
    """Check one iteration of the loop of `run`, at sizes that are numbers.

    Every normal that a step gets is drawn in this iteration, none twice; everything else is what `run` was given; the
    state of the next iteration is what the step returned; all streams have advanced by what was drawn.

    Raises:
        CompilerError: one of these does not hold; says which.
    """
    kernel = module.kernel
    iteration = Iteration(module, _given(module, sizes))
    iteration.given["noise_state"][:] = iteration.words()
    start = {name: np.array(value) for name, value in iteration.given.items()}
    reader = RunLoopReader(module.text)
    reader.stepped = lambda arguments: _step(iteration, arguments)
    reader.fills = {
        "_next_normal": lambda words: iteration.next_normal(reader, words),
        "_fill_normals": lambda arguments: iteration.fill(reader, arguments),
        "_fill_normals_lanes": lambda arguments: iteration.fill(reader, arguments),
        "_fill_indices": iteration.rows, "_shuffle_indices": iteration.rows, "_block_indices": iteration.rows,
        "_wide_vectors": lambda _: None,
        "sums": lambda arguments: _sums(iteration, arguments),
        "_empty_rows": lambda arguments: np.full(64 * arguments[0], None, object),
    }  # fmt: skip
    scope: dict[str, Value] = dict(iteration.given)
    before, turn, after = _one_turn(reader.functions["run"])
    reader.execute(before, scope)
    made = {array.name for array in kernel.sums.outputs} if kernel.sums else set[str]()
    iteration.demand(made <= iteration.given.keys(), "does not compute the constants of the chain")
    for name, _ in told_by(kernel):
        iteration.demand(scope.get(summed(name)) == 0, f"does not start the sum of {name} at zero")
        scope[summed(name)] = sp.Symbol(summed(name))
    reader.execute(turn, scope)
    reader.execute(after, scope)
    iteration.demand(reader.steps == 1, f"takes {reader.steps} steps in an iteration")
    for name, _ in told_by(kernel):
        added = sp.Symbol(summed(name)) + sp.Symbol(f"new {name}[0]")
        iteration.demand(scope[summed(name)] == added, f"does not add up its {name}")
    for name in (*(block.name for block in module.program.blocks), *(a.name for a in carried(module.program))):
        new = [sp.Symbol(f"new {name}[{k}]") for k in range(start[name].size)]
        iteration.demand(list(iteration.given[name]) == new, f"does not keep the {name} that a step returns")
    iteration.demand(list(iteration.given["noise_state"]) == iteration.words(), "does not keep the state of its noise")


def _sums(iteration: Iteration, arguments: list[Value]) -> None:
    """Take what is computed of data and constants, which must be the chain's own, before the loop."""
    own = iteration.module.kernel.sums
    if own is None:
        raise CompilerError("the emitted run sums a quantity that its kernel does not have")
    for array, value in zip((*own.outputs, *own.inputs), arguments, strict=True):
        if array in own.inputs:
            iteration.demand(value is iteration.given[array.name], f"sums another {array.name} than its own")
        else:
            entries = [sp.Symbol(f"sums {array.name}[{k}]") for k in range(value.size)]
            value[...] = np.array(entries, object).reshape(value.shape)
            iteration.given[array.name] = value


def _one_turn(run: ast.FunctionDef) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """Return what `run` does before its loops, in the innermost, and after them, but for what it returns."""
    place = next((k for k, statement in enumerate(run.body) if isinstance(statement, ast.For)), len(run.body))
    match run.body[place:]:
        case [ast.For(body=[ast.For(body=iteration), *_]), *after]:
            return run.body[:place], iteration, [one for one in after if not isinstance(one, ast.Return)]
        case _:
            raise CompilerError("the emitted run has no loop over draws with a loop over steps in it")


def _first_energy(
    iteration: Iteration, arguments: list[Value], start: Mapping[str, Value], first: sp.Symbol
) -> sp.Symbol:
    procedure = iteration.module.kernel.potential
    scalars = {name: (array, k) for array, names in iteration.module.kernel.registers for k, name in enumerate(names)}
    for array, value in zip(procedure.inputs if procedure else (), arguments, strict=False):
        name, k = scalars.get(array.name, (array.name, None))
        stated = start[name] if k is None else start[name][k]
        right = np.array_equal(np.asarray(value, object), np.asarray(stated, object))
        iteration.demand(right, f"evaluates the first U at another {name} than its own")
    return first


def _check_asked(iteration: Iteration, reader: RunLoopReader, start: Mapping[str, Value]) -> None:
    """Check that the first gradient is evaluated at what `run` is given."""
    module = iteration.module
    gradient = module.program.gradient
    if gradient is None:
        return
    inputs = gradient.given if module.kernel.gradient is None else [a.name for a in module.kernel.gradient.inputs]
    returns = module.kernel.gradient is not None and module.kernel.gradient.returns
    scalars = {name: (array, k) for array, names in module.kernel.registers for k, name in enumerate(names)}
    for name, value in zip(inputs, reader.asked[0][0 if returns else 1 :], strict=False):
        array, k = scalars.get(name, (name, None))
        stated = start[array] if k is None else start[array][k]
        right = np.array_equal(np.asarray(value, object), np.asarray(stated, object))
        iteration.demand(right, f"evaluates the first gradient at another {name} than its own")


def _given(module: Module, sizes: Sizes) -> dict[str, Value]:
    """Return the arguments of `run`, each a symbol of its own or an array of them."""
    program, kernel = module.program, module.kernel
    shapes: dict[str, tuple[int | str, ...]] = {block.name: block.shape.sizes or (1,) for block in program.blocks}
    shapes |= {parameter.name: parameter.shape.sizes for parameter in program.parameters}
    shapes |= {array.name: array.sizes for array in kernel.prepare.outputs}
    shapes |= {datum.name: (BATCH + 1, *datum.axes[1:]) for datum in program.data}
    shapes |= {array.name: array.sizes for array in carried(program)}
    shapes |= {f"{block.name}_draws": (1, *(block.shape.sizes or (1,))) for block in program.blocks}
    shapes |= {f"{name}_draws": (1, 1) for name in TOLD}
    shapes |= {"noise_state": (WORDS,), "batch_state": (4,), "permutation": (BATCH + 1,)}
    shapes |= {"clipped": (1,), "batch_size": (), "eps": (), "thin": ()} | dict.fromkeys(program.functions, ())
    found: dict[str, Value] = {}
    for name in run_arguments(program, kernel):
        shape = joined_shape(shapes[name], sizes)
        entries = [sp.Symbol(f"{name}[{k}]") for k in range(int(np.prod(shape)))]
        found[name] = np.array(entries, object).reshape(shape) if shape else sp.Symbol(name)
    return found | ({"batch_size": BATCH} if "batch_size" in found else {})


def _step(iteration: Iteration, arguments: Mapping[str, Value]) -> Value:
    """Check what a step is given, and return, or write down, what it makes of the state."""
    module, kernel = iteration.module, iteration.module.kernel
    scalars = {name: (array, k) for array, names in kernel.registers for k, name in enumerate(names)}
    state = {name: iteration.given[array][k] for name, (array, k) in scalars.items() if array in iteration.given}
    normals: list[Value] = []
    for name, value in arguments.items():
        array = scalars.get(name, (name, 0))[0]
        if array in {noise.name for noise in kernel.noises}:
            normals += [] if kernel.chunked else list(np.ravel(np.asarray(value, object)))
        elif name in iteration.given or name in state:
            known = iteration.given.get(name, state.get(name))
            iteration.demand(value is known or (not isinstance(value, np.ndarray) and value == known),
                        f"passes a step a {name} that is not its own")  # fmt: skip
        elif name == "batch":
            iteration.demand(list(value) == _rows(1), "passes a step no minibatch, or draws more than one")
    right = all(str(normal).startswith("normal[") for normal in normals) and len(set(normals)) == len(normals)
    iteration.demand(right, "passes a step a normal twice, or one that was not drawn")
    if STREAM in kernel.chain_step.inputs:  # draws within the step move the stream on
        iteration.moved += 1
        iteration.given[STREAM.name][:] = iteration.words()
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    iteration.demand(len({id(array) for array in arrays}) == len(arrays), "passes a step one array twice")
    return _made(module, kernel, arguments)


def _made(module: Module, kernel: Kernel, arguments: Mapping[str, Any]) -> Value:
    """Return symbols for the state after a step where it returns them, or write them where it writes."""
    made: list[sp.Symbol] = []
    for old, new in _passed_on(module).items():
        place = next((name for name in (new, old) if name in arguments), None)
        array = arguments[old] if kernel.chunked else arguments.get(new)
        if place is not None and isinstance(array, np.ndarray):
            array[:] = [sp.Symbol(f"new {old}[{k}]") for k in range(array.size)]
    for array in kernel.chain_step.outputs if kernel.chain_step.returns else ():
        old, k = _entry(module, array.name)
        made.append(sp.Symbol(f"new {old}[{k}]"))
    return tuple(made) if len(made) != 1 else made[0]


def _passed_on(module: Module) -> Mapping[str, str]:
    """Return what a step of the chain is given to what it leaves, and the probability that it accepted with."""
    return {**module.program.left, **{name: name for name, _ in told_by(module.kernel)}}


def _entry(module: Module, scalar: str) -> tuple[str, int]:
    """Return what the next step is given in place of a scalar that a step returns, and the place in it."""
    for old, new in _passed_on(module).items():
        names = module.kernel.scalars(new)
        if scalar in names:
            return old, names.index(scalar)
    raise CompilerError(f"the step returns {scalar}, which is not an entry of the state")
