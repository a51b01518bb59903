"""The loops of `run` around a step: what they give it, what they keep of it, and what a chain begins with.

The step itself is read elsewhere: here it is a request to an oracle. Every normal that goes into it must be a draw of
this iteration, no two the same; everything else must be what `run` was given; what comes out must be the state of the
next iteration; and the streams must have moved on, by what was drawn.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried, run_arguments, summed, told_by
from recipe_compiler.emit.print_lanes import LANES, lanes_state
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.program import Program
from recipe_compiler.program.step_stats import TOLD
from recipe_compiler.readback.calls import Calls, Value, chain_values, entries_of, joined_shape
from recipe_compiler.readback.interpreter import Reader, parsed
from recipe_compiler.readback.names import BATCH, Names, Sizes
from recipe_compiler.readback.oracle import Oracle, require, same_trace
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.step import gradient_procedure
from recipe_compiler.tensor.scalars import Scalar


@dataclass(slots=True)
class Loop(Calls):
    """What `run` calls: its streams, which advance with every draw, and the step."""

    moved: int = 0
    """How often the state of the noise moved on."""
    drawn: int = 0
    """Normals drawn so far; one is never drawn twice."""
    passed: list[Scalar] = field(default_factory=list[Scalar])
    """Those that the step was given."""
    batches: int = 0
    """Minibatches drawn so far: the rows of one are those of no other."""
    made: dict[str, Value] = field(default_factory=dict[str, Value])
    """What the step made, by the names that it has for it."""

    @property
    def fills(self) -> dict[str, Callable[[list[Value]], Value]]:
        """What stands for each function that the loops call."""
        return {
            "_next_normal": self._next_normal,
            **dict.fromkeys(("_fill_normals", "_fill_normals_lanes"), self._fill),
            **dict.fromkeys(("_fill_indices", "_shuffle_indices", "_block_indices"), self._rows),
            "_wide_vectors": lambda _: None,
            "_empty_rows": lambda arguments: np.full(64 * arguments[0], None, object),
            "sums": self._sums,
            "sweep" if self.module.kernel.chunked else self.module.kernel.chain_step.name: self._step,
        }

    @property
    def words(self) -> list[sp.Symbol]:
        """The words of the noise's state at this point."""
        return [sp.Symbol(f"word[{k}, {self.moved}]") for k in range(4)]

    def _normals(self, count: int) -> list[sp.Symbol]:
        """Return normals that have not been drawn before, and advance the stream."""
        self.moved, self.drawn = self.moved + 1, self.drawn + count
        return [sp.Symbol(f"normal[{k}]") for k in range(self.drawn - count, self.drawn)]

    def _next_normal(self, words: list[Value]) -> Value:
        require(words == self.words, "draws from a state that is not the last one")
        return (*self._normals(1), *self.words)

    def _fill(self, arguments: list[Value]) -> None:
        state, out = arguments
        require(state is self.given[STREAM.name], "draws its noise from a state other than the given one")
        out[:] = self._normals(out.size)
        state[:] = self.words

    def _rows(self, arguments: list[Value]) -> None:
        """Draw a minibatch, from the stream for minibatches."""
        wanted = [self.given[name] for name in ("batch_state", "permutation") if name in self.given]
        count = [] if "permutation" in self.given else [len(self.given[self.module.program.data[0].name])]
        *streams, batch = arguments
        right = all(a is b for a, b in zip(streams, wanted, strict=False)) and streams[len(wanted) :] == count
        require(right, "draws its minibatch from rows or a state other than the given ones")
        self.batches += 1
        batch[:] = [sp.Symbol(f"row[{k}, {self.batches}]") for k in range(BATCH)]

    def check_own(self, name: str, value: Value, what: str) -> None:
        """Require of constants that they are the chain's, of normals that they are drawn, of rows the first batch's."""
        kernel = self.module.kernel
        if any(name in (array.name, *kernel.scalars(array.name)) for array in kernel.noises):
            self.passed += [] if kernel.chunked else np.ravel(np.asarray(value, object)).tolist()
        elif name == "batch":
            stated = [sp.Symbol(f"row[{k}, 1]") for k in range(BATCH)]
            require(list(value) == stated, f"passes {what} no minibatch, or draws more than one")
        else:
            Calls.check_own(self, name, value, what)

    def _sums(self, arguments: list[Value]) -> None:
        """Compute what draws take of data and constants, before the loops."""
        own = self.module.kernel.sums
        if own is not None:
            self.procedure(own, arguments)
            self.given |= {array.name: value for array, value in zip(own.outputs, arguments, strict=False)}

    def _step(self, arguments: list[Value]) -> Value:
        """Take one step, which may move the stream on; a sweep works in place."""
        own, program = self.module.kernel.chain_step, self.module.program
        if not self.module.kernel.chunked:
            answer = self.procedure(own, arguments)
            values = (answer if isinstance(answer, tuple) else (answer,)) if own.returns else map(list, arguments)
            self.made |= {array.name: value for array, value in zip(own.outputs, values, strict=False)}
        else:
            names = parsed(self.module.text).functions["sweep"].args.args
            answer, named = None, {name.arg: value for name, value in zip(names, arguments, strict=True)}
            state = {block.name: named.pop(block.name) for block in program.blocks}
            for name, value in named.items():
                self.check_own(name, value, "sweep")
            new = iter(self.oracle.ask(own.name, state, sum(map(len, state.values()))))
            for name, value in state.items():
                value[:] = self.made[program.left[name]] = [next(new) for _ in value]
        if STREAM in own.inputs:
            self.moved += 1
            self.given[STREAM.name][:] = self.words
        return answer


def check_iteration(module: Module, sizes: Sizes) -> None:
    """Check one iteration of the loop of `run`, at sizes that are numbers.

    Every normal that a step gets is drawn in this iteration, none twice; everything else is what `run` was given; the
    state of the next iteration is what the step returned; all streams have advanced by what was drawn.

    Raises:
        CompilerError: one of these does not hold; says which.
    """
    program, kernel, here = module.program, module.kernel, _names(module.program, sizes)
    given, reader = _given(module, here), Reader(module.text)
    loop = Loop(module, here, given)
    given[STREAM.name][:] = loop.words
    state = {name: given[name] for name in (*(b.name for b in program.blocks), *(a.name for a in carried(program)))}
    stated = Oracle()
    stated.ask(kernel.chain_step.name, state)
    reader.fills = loop.fills
    scope: dict[str, Value] = dict(given)
    before, turn, after = _one_turn(reader.functions["run"])
    reader.execute(before, scope)
    if kernel.sums is not None:
        stated.ask(kernel.sums.name, {})
    for name, _ in told_by(kernel):
        require(scope.get(summed(name)) == 0, f"does not start the sum of {name} at zero")
        scope[summed(name)] = sp.Symbol(summed(name))
    reader.execute(turn, scope)
    reader.execute(after, scope)
    same_trace(stated, loop.oracle, {}, here)
    right = all(str(normal).startswith("normal[") for normal in loop.passed) and len({*loop.passed}) == len(loop.passed)
    require(right, "passes a step a normal twice, or one that was not drawn")
    for name, _ in told_by(kernel):
        added = sp.Symbol(summed(name)) + entries_of(module, loop.made, name)[0]
        require(scope[summed(name)] == added, f"does not add up its {name}")
    for name in state:
        new = entries_of(module, loop.made, program.left[name])
        require(list(given[name]) == new, f"does not keep the {name} that a step returns")
    require(list(given[STREAM.name]) == loop.words, "does not keep the state of its noise")


def check_first_values(module: Module, sizes: Sizes) -> None:
    """Check that `first_values` writes grad U and U at the state it is given, from a minibatch that it draws.

    Raises:
        CompilerError: it does not.
    """
    program, kernel, here = module.program, module.kernel, _names(module.program, sizes)
    given, reader, stated = _given(module, here), Reader(module.text), Oracle()
    loop = Loop(module, here, given)
    own = {"gradient": gradient_procedure(module), **({"potential": kernel.potential} if kernel.potential else {})}
    reader.fills = loop.fills | {name: partial(loop.procedure, procedure) for name, procedure in own.items()}
    state = {block.name: given[block.name] for block in program.blocks}
    counter = program.cycle.counter if program.cycle else ""
    wanted: dict[str, list[Scalar]] = {}
    for name in (array.name for array in carried(program)):
        what = "gradient" if program.gradient and name == program.gradient.name else "potential"
        wanted[name] = [sp.Integer(0)] if name == counter else stated.ask(what, state, len(given[name]))
    reader.call("first_values", given)
    same_trace(stated, loop.oracle, {}, here)
    for name, values in wanted.items():
        require(list(given[name]) == values, f"does not write the first {name}")


def check_lanes(module: Module, names: Names) -> None:
    """Check that `step_lanes` passes each lane's state and normals to the step, and keeps the result in that lane.

    All numbers differ, so that mixed-up lanes are seen. The step itself is not entered: it is read back separately.

    Raises:
        CompilerError: a lane computes something else, or a lane is missing.
    """
    kernel, step = module.kernel, module.kernel.chain_step.name
    state = lanes_state(module.program, kernel)
    normals = [name for array in kernel.noises for name in kernel.scalars(array.name)]
    told = [name for name, _ in told_by(kernel)]
    counts = (len(state), len(normals), len(told), len(state) + len(told))
    lanes, noise, sums, made = (_numbers(sum(counts[:k]), count) for k, count in enumerate(counts))
    reader, asked = Reader(module.text, matrices=matrices_of(names)), list[list[Value]]()

    def stepped(arguments: list[Value]) -> Value:
        asked.append(arguments)
        require(len(asked) <= LANES, f"calls {step} more often than there are lanes")
        answer = tuple(made[len(asked) - 1 :: LANES])
        return answer if len(answer) > 1 else answer[0]

    given = chain_values(module, names, reader)
    reader.fills[step] = stepped
    before = lanes.copy()
    wanted = np.concatenate((made[: lanes.size], sums + made[lanes.size :]))
    reader.call("step_lanes", {**given, "lanes": lanes, "lanes_told": sums, "lanes_noise": noise})
    inputs = [argument.arg for argument in reader.functions[step].args.args]
    found = np.concatenate((lanes, sums))
    for lane in range(LANES):
        own = dict(zip(state, before[lane::LANES], strict=True)) | dict(zip(normals, noise[lane::LANES], strict=True))
        stated: list[Value] = [(given | own).get(name) for name in inputs]
        right = lane < len(asked) and len(asked[lane]) == len(stated) and all(map(np.array_equal, asked[lane], stated))
        right = right and np.array_equal(found[lane::LANES], wanted[lane::LANES])
        require(right, f"differs from {step} in lane {lane} of step_lanes")


def _numbers(first: int, rows: int) -> np.ndarray:
    """Return rows of 64 rational numbers in (0, 2) of which no two, and none of other rows, are the same."""
    return np.array([sp.Rational(1 + LANES * first + k, 1024) for k in range(LANES * rows)], object)


def _one_turn(run: ast.FunctionDef) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """Return what `run` does before its loops, in the innermost, and after them, but for what it returns."""
    place = next((k for k, statement in enumerate(run.body) if isinstance(statement, ast.For)), len(run.body))
    match run.body[place:]:
        case [ast.For(body=[ast.For(body=iteration), *_]), *after]:
            return run.body[:place], iteration, [one for one in after if not isinstance(one, ast.Return)]
        case _:
            raise CompilerError("the emitted run has no loop over draws with a loop over steps in it")


def _names(program: Program, sizes: Sizes) -> Names:
    """Return names at the sizes of a build, with few rows of data."""
    rows = {datum.size: BATCH + 1 for datum in program.data if isinstance(datum.size, str)}
    return Names(program, {**sizes, **rows, "batch_size": BATCH})


def _given(module: Module, here: Names) -> dict[str, Value]:
    """Return the arguments of `run`, each a symbol of its own or an array of them."""
    program, kernel = module.program, module.kernel
    shapes: dict[str, tuple[int | str, ...]] = {block.name: block.shape.sizes or (1,) for block in program.blocks}
    shapes |= {parameter.name: parameter.shape.sizes for parameter in program.parameters}
    shapes |= {array.name: array.sizes for array in kernel.prepare.outputs}
    shapes |= {datum.name: datum.axes for datum in program.data}
    shapes |= {array.name: array.sizes for array in carried(program)}
    shapes |= {f"{block.name}_draws": (1, *(block.shape.sizes or (1,))) for block in program.blocks}
    shapes |= {f"{name}_draws": (1, 1) for name in TOLD}
    shapes |= {"noise_state": (4,), "batch_state": (4,), "permutation": (program.data[0].size,) if program.data else ()}
    shapes |= {"clipped": (1,), "batch_size": (), "eps": (), "thin": ()} | dict.fromkeys(program.functions, ())
    found: dict[str, Value] = {}
    for name in run_arguments(program, kernel):
        shape = joined_shape(shapes[name], here.sizes)
        entries = [sp.Symbol(f"{name}[{k}]") for k in range(int(np.prod(shape)))]
        found[name] = np.array(entries, object).reshape(shape) if shape else sp.Symbol(name)
    return found | ({"batch_size": BATCH} if "batch_size" in found else {})
