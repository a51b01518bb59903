"""The written file, read back: its `sample` is executed on stand-ins for chains, and compared with its documents.

What runs is read elsewhere, and carried along word for word; `sample` is what has to hand its chains the right arrays,
streams and step sizes, and to return the right draws of them under the right names. Chains that are stood in for take
all that is theirs, and return numbers of which no two are alike: what is exchanged, shifted or left out is seen.
"""

import inspect
import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried, reported_by
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import unused
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.program import REST, ROWS, symbolic_sizes
from recipe_compiler.readback.file_text import check_claims, check_mark, check_words
from recipe_compiler.readback.text import check_names, require
from recipe_compiler.run.chain import LANES
from recipe_compiler.run.data import Data
from recipe_compiler.run.energies import declared_blocks
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.run.load_module import plain_names
from recipe_compiler.run.read_start import check_starts
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.schedule import step_of
from recipe_compiler.run.sizes import declared_parameters
from recipe_compiler.run.stand_ins import with_others, with_stand_ins
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.spec.open_target import GRADIENT, POTENTIAL
from recipe_compiler.spec.places import compiled_digest
from recipe_compiler.verdict import Report

Named = dict[str, Any]
Array = NDArray[Any]
DEFAULTS = MappingProxyType({
    "init": None, "progress": False, "threads": None, "first_chain": 0, "callback": None, "return_state": False,
})  # fmt: skip
"""What every `sample` takes besides a build's own."""
OF_INIT = 300
SEED = "seed"
"""What a state keeps of the call that its random streams are of."""
NOTED = (
    "_check_numbers", "_check_kinds", "_check_jitted", "_check_starts_inside", "_tell_outside", "_tell_still",
    "_tell_clipped", "_tell_seed",
)  # fmt: skip
"""Support functions that change nothing of what they look at: it is noted what that is."""
PASSED_ON = ("_checked_number", "_checked_array", "_narrow_array")
"""Those that return what they look at, as jitted code takes it."""
LEAST = {Kind.POSITIVE: "above", Kind.NONNEGATIVE: "least", Kind.NONZERO: "nonzero"}
BOUND = {Kind.POSITIVE: 0, Kind.NONNEGATIVE: 0, Kind.NONZERO: True}
"""What a number of a kind is asked for."""


def check_file(
    module: Module, build: Build, derivation: Derivation, names: Mapping[str, str], report: Report, *,
    allow_undecided: bool = False,
) -> None:  # fmt: skip
    """Check that a file has what was read back, and that its `sample` makes of it the draws that its documents mean.

    What is carried along is compared word for word, what is said to be proved with the report. `sample` is executed
    with the values of the build, with others of everything, and to go on from where that ended.

    Args:
        module: with its text, which was read back, and its file.
        build: what it was made of, with sizes.
        derivation: of the bound dynamics.
        names: the user's names that had to be changed, with what they became.
        report: the verdicts about the build.
        allow_undecided: as of a compilation.

    Raises:
        CompilerError: the file is not that; says where.
    """
    check_words(module.file, module.text)
    check_names(module.file)
    is_open = build.target.is_open
    if build.mark is None:
        check_claims(module.file, report, compiled_digest(build), advisory=is_open, allow_undecided=allow_undecided)
    else:
        check_mark(module.file, build.mark.claims)
    own, data = with_stand_ins(build, module.program)
    check_starts(plain_names(module.file), own, derivation, names)
    run = replace(own.run, draws=5, warmup=3, chains=3, seed=11, step_size=0.375, thin=_thin(own.run))
    run = replace(run, batch_size=run.batch_size or 2)
    first = Call(module, replace(own, run=run), derivation, names, data)
    _check_defaults(first.taken, module, build)
    first.check()
    run = replace(run, draws=4, warmup=2, chains=2, seed=7, thin=1, batch_size=2, step_size=0.25)
    others = with_others(own, [p.name for p in declared_parameters(own) if names.get(p.name, p.name) in first.taken])
    second = Call(module, replace(others, run=run), derivation, names, data, has_all=True)
    third = Call(
        module, replace(others, run=replace(run, draws=5, warmup=0, seed=99)), derivation, names, data, has_all=True,
        state=second.check(), before=6, ends={1: 9},
    )  # fmt: skip
    third.check()


def _thin(run: RunSettings) -> int:
    return min(4, run.schedule.period - 1) if run.schedule.name == "cyclic" else 4


def _check_defaults(found: Mapping[str, Any], module: Module, build: Build) -> None:
    """Check the defaults of `sample`, which are the settings of the build's run."""
    program, run, unsaid = module.program, build.run, inspect.Parameter.empty
    wanted: Named = {name: getattr(run, name) for name in ("step_size", "draws", "warmup", "thin", "chains", "seed")}
    if program.variant == "minibatch" and (run.batch_size is None or program.replacement):
        wanted["batch_size"] = run.batch_size
    wanted = {name: unsaid if value is None else value for name, value in wanted.items()} | dict(DEFAULTS)
    wanted |= {"check": True, REST: ()} if program.rest else {}
    for name, value in wanted.items():
        require(name in found and found[name] == value, f"has another default of {name} in `sample` than its build")


@dataclass(slots=True, eq=False)
class Call:
    """A call of `sample`: what it is given, what its chains must then be given, and what it must return."""

    module: Module
    build: Build
    """With numbers for all parameters and sizes, and the settings of this call."""
    derivation: Derivation
    names: Mapping[str, str]
    """The user's names that had to be changed, with what they became."""
    data: Data
    has_all: bool = False
    """Whether everything is given that may be; else what has to be."""
    state: Mapping[str, Array] | None = None
    """That of chains which go on."""
    before: int = 0
    """How many draws they have made."""
    ends: Mapping[int, int] = field(default_factory=dict[int, int])
    """The draws after which chains leave the finite numbers, of all that they made."""
    noted: dict[tuple[str, Any], Any] = field(default_factory=dict[tuple[str, Any], Any])
    """What support functions were given, by their names and that of what they look at."""
    loaded: Named = field(init=False)
    """What the file defines, and what stands for what is jitted."""
    names_of: Mapping[str, list[str]] = field(init=False)
    """The names of the arguments of functions of the file that are plain Python."""
    at: Point = field(init=False)
    """The values of parameters, by the user's names."""
    fields: Named = field(default_factory=dict[str, Any])
    """The data, and values of parameters and sizes, by the names of the module."""
    chains: list[Named] = field(init=False)
    """All that the chains are where they begin, by the names of the module."""

    def __post_init__(self) -> None:
        """Find what the documents say of the names in the module, and of its chains."""
        build, self.loaded = self.build, plain_names(self.module.file)
        plain = ("sample", "first_state", "prepare")
        self.names_of = {name: [*inspect.signature(self.loaded[name]).parameters] for name in plain}
        self.at = Point(known_values(build, dict(build.sizes)), dict(build.sizes))
        columns = {p.name for p in declared_parameters(build) if len(p.shape.sizes) == 1}
        for name, value in self.at.names.items():
            plain = value.reshape(-1) if name in columns else value
            self.fields[self.names.get(name, name)] = plain if value.ndim else float(value)
        self.fields |= {self.names.get(name, name): number for name, number in build.sizes}
        data = zip(self.module.program.data, self.data.fields, strict=True)
        self.fields |= {own.name: one.values.astype(self._dtype(own.is_index)) for own, one in data}
        self.chains = [self._begun(chain) for chain in range(build.run.chains)]

    def _dtype(self, is_index: bool) -> type:
        return np.int64 if is_index else np.float32 if self.module.program.narrow else np.float64

    @property
    def taken(self) -> Mapping[str, Any]:
        """What `sample` takes: its defaults by name."""
        return {name: one.default for name, one in inspect.signature(self.loaded["sample"]).parameters.items()}

    def eps(self, draw: int) -> float:
        """Return the step size of a draw, of all that a chain makes."""
        step = step_of(self.build.run)
        return self.build.run.eps if step is None else step(draw)

    @property
    def rows(self) -> int:
        """How many rows minibatches are of."""
        return self.data.rows or (self.build.run.batch_size or 0) + 3

    @property
    def batch_size(self) -> int | None:
        """How many rows a minibatch has: as it is given, or as the build says."""
        size = self.build.run.batch_size
        return size if size is None or self.module.program.replacement else min(size, self.rows)

    @property
    def functions(self) -> Mapping[str, str]:
        """The functions of a user by the names that a chain has for them, to those that `sample` has."""
        own = {"gradient": GRADIENT, "potential": POTENTIAL} if self.module.program.rest else {}
        return {name: own.get(name, name) for name in self.module.program.functions}

    @property
    def rest(self) -> tuple[Any, ...]:
        """What functions of any U take besides."""
        return (np.array([1.0, 2.0]), 3.0) if self.has_all else ()

    def given(self, eps: float) -> Named:
        """Return what every chain is given, by the names of the module."""
        program = self.module.program
        found = {one.name: self.fields[one.name] for one in (*program.parameters, *program.data)}
        found |= {name: self._function(argument) for name, argument in self.functions.items()}
        found |= {REST: ("_addresses_of", self.rest), ROWS: self.rows} if program.rest else {}
        return found | {"batch_size": self.batch_size, "eps": eps, "thin": self.build.run.thin} | self._constants(eps)

    def _function(self, argument: str) -> object:
        """Return what a chain has of a function of its user's: one of any U is jitted, and adapted to its call."""
        if not self.module.program.rest:
            return f"function {argument}"
        of_batch = argument == GRADIENT and self.module.program.variant == "minibatch"
        role = f"{argument} of a batch" if of_batch else argument
        return "_adapted", role, self._jitted(argument), ("typeof", self.rest)

    def _jitted(self, argument: str) -> object:
        return "_jitted", argument, f"function {argument}"

    def _constants(self, eps: float) -> Named:
        """Return what stands for the constants of a chain: numbers that tell one step size, and array, from another."""
        return {
            array.name: eps + k + np.arange(prod(shape)).reshape(shape) / 64.0 if shape else eps + k
            for k, array in enumerate(self.module.kernel.prepare.outputs)
            for shape in [tuple(self._length(size) for size in array.sizes)]
        }

    def _length(self, size: int | str) -> int:
        return sum(int(self.fields.get(part, part)) for part in str(size).split("+"))

    def _begun(self, chain: int) -> Named:
        """Return all that a chain is where it begins, or goes on."""
        program, run, kernel = self.module.program, self.build.run, self.module.kernel
        if self.state is not None:
            found = {name: array[chain].copy() for name, array in self.state.items()}
            if program.rest and program.variant == "full":  # the gradient may be another
                _begin(found, self._blocks, self._carried)
            return found
        found = self._starts(OF_INIT, chain) if self.has_all else self._starts(run.seed, self.first_chain + chain)
        wide = (bool(kernel.chunked), program.replacement)
        for stream, name in enumerate(("noise_state", "batch_state")):
            own = np.random.SeedSequence(run.seed, spawn_key=(self.first_chain + chain, stream))
            found[name] = own.generate_state(4 * (LANES if wide[stream] else 1), np.uint64)
        found |= {"permutation": np.arange(self.rows, dtype=np.uint64), CLIPPED: np.zeros(1)}
        found = {name: value for name, value in found.items() if name in self.arguments or name in self._blocks}
        found |= {array.name: np.zeros(self._length(array.sizes[0])) for array in carried(program)}
        found |= {"made": np.zeros(1)} if run.schedule.name != "constant" else {}
        found |= {SEED: np.array([run.seed])} if program.rest else {}
        if self._carried:
            taken = self.loaded["FIRST_ARGUMENTS"]
            _begin({name: value for name, value in found.items() if name in taken}, self._blocks, self._carried)
        return found

    @property
    def first_chain(self) -> int:
        """The number of the first chain."""
        return 6 if self.has_all else 4

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of what `run` takes."""
        return self.loaded["ARGUMENTS"]

    @property
    def _blocks(self) -> tuple[str, ...]:
        return tuple(block.name for block in self.module.program.blocks)

    @property
    def _carried(self) -> tuple[str, ...]:
        return tuple(array.name for array in carried(self.module.program))

    def _starts(self, seed: int, chain: int) -> Named:
        """Return what stands for where a chain of a seed starts, or for where `init` says so (seed `OF_INIT`)."""
        rng, lengths = (
            np.random.default_rng((seed, chain)),
            [one.shape.sizes or (1,) for one in self.module.program.blocks],
        )
        return {name: rng.uniform(size=self._length(own[0])) for name, own in zip(self._blocks, lengths, strict=True)}

    # What stands for what is jitted, and for what looks at what it is given

    def _prepare(self, *given: Any) -> tuple[Any, ...]:
        own = dict(zip(self.names_of["prepare"], given, strict=True))
        self._check_given(own, self.fields)
        return tuple(self._constants(own["eps"]).values())

    def _first_state(self, seed: int, chain: int, *given: Any) -> Named:
        self._check_given(dict(zip(self.names_of["first_state"][2:], given, strict=True)), self.fields)
        return self._starts(seed, chain)

    def _first_values(self, *given: Any) -> None:
        own = dict(zip(self.loaded["FIRST_ARGUMENTS"], given, strict=True))
        self._check_given(own, self.given(self.eps(0)))
        _begin(own, self._blocks, self._carried)

    def _run_lanes(self, function: object, order: Sequence[str], passed: Sequence[str], *more: Any) -> list[int]:
        require(passed == [*self._blocks, *self._carried], "carries something else along in lanes than a step leaves")
        return self._run_chains(function, order, *more)

    def _run_chains(
        self, function: object, order: Sequence[str], given: Named, states: list[Named], drawn: dict[str, Array],
        threads: int | None, tell: Callable[..., None] | None, of_draw: Callable[[int], Named] = lambda _: {},
    ) -> list[int]:  # fmt: skip
        """Look at all that chains are given, and fill in what stands for their draws; return how many each has."""
        run, own = self.build.run, self._drawn()
        names = ("run_lanes", "LANES_ARGUMENTS") if run.lanes else ("run", "ARGUMENTS")
        wanted = (names[0], self.loaded[names[1]], 1 if self.has_all else None)
        require((function, order, threads) == wanted, f"runs its chains by something else than `{names[0]}`")
        for draw in range(self.total if run.schedule.name != "constant" else 1):
            of_all = self.given(self.eps(self.before + draw))
            for chain, state in zip(self.chains, states, strict=True):
                found, wanted = {**given, **state, **of_draw(draw)}, of_all | chain
                self._check_given({name: found.get(name) for name in (*order, *chain) if name in wanted}, wanted)
        room = [(name, array.shape) for name, array in drawn.items()]
        require(room == [(name, array.shape) for name, array in own.items()], "has room for other draws than are made")
        for name, array in drawn.items():
            array[...] = own[name]
        for state in states:
            _move(state)
        if tell:
            tell(self.done, self.total, True)
        return self.done

    def _check_given(self, own: Named, wanted: Named) -> None:
        """Check what a chain, or what is computed for it, is given."""
        for name, value in own.items():
            right = name not in wanted or _is_same(wanted[name], value)
            require(right, f"gives a chain another {name} than its documents say")
            if isinstance(value, np.ndarray) and name in self.fields:
                across = name in self.module.kernel.column_major
                right = value.flags.f_contiguous if across else value.flags.c_contiguous
                require(right, f"gives a chain {name} in another order than it reads it in")

    def _note(self, what: str, through: Callable[..., Any] | None, *given: Any, **named: Any) -> Any:
        """Note what a support function is given, and let it return what it does where that is used."""
        is_named = isinstance(given[0], str)
        name, told = given[0] if is_named else "", [*given[is_named:], *named.values()]
        if what == "_checked_number":
            told = self.noted.get((what, name), {}) | named
        elif what in PASSED_ON:
            told = given[2], [*named.get("values", given[4] if len(given) > 4 else ())]
        if not name.startswith("init of"):
            self.noted[what, name] = deepcopy(told)  # chains move what they are given
        return through(*given, **named) if through else None

    def _stand_ins(self) -> Named:
        own: Named = {name: partial(self._note, name, None) for name in NOTED}
        own |= {name: partial(self._note, name, self.loaded[name]) for name in PASSED_ON if name in self.loaded}
        own |= {"_try_given": partial(self._note, "_try_given", lambda *_: partial(self._note, "try_draws", None))}
        own |= {name: partial(_name, name) for name in ("_jitted", "_adapted", "typeof", "_addresses_of")}
        own |= {"_check_rows": lambda *_: None, "prepare": self._prepare, "first_state": self._first_state}
        own |= {"first_values": self._first_values, "run": "run", "run_lanes": "run_lanes"}
        return own | {"_run_chains": self._run_chains, "_run_lanes": self._run_lanes}

    # The call, and what it must return

    def check(self) -> Named:
        """Check the call; return the state that its chains are left in.

        Raises:
            CompilerError: `sample` fails, hands on or returns something else; says what.
        """
        run, seen, told = self.build.run, list[Named](), dict[int, tuple[int, int, str]]()
        self.loaded.update(self._stand_ins())
        data = [self.fields[one.name] for one in self.module.program.data]
        functions = [f"function {argument}" for argument in self.functions.values()]
        more: Named = {
            "threads": 1, "return_state": True, "callback": seen.append,
            "progress": lambda chain, *given: told.update({chain: given}), "init": self.state or self._init(),
        }  # fmt: skip
        try:
            with warnings.catch_warnings(action="ignore"):
                found = self.loaded["sample"](*functions, *data, **self._keywords(), **(more if self.has_all else {}))
        except CompilerError:
            raise
        except Exception as error:  # whatever it is that it raises
            problem = f"the emitted text was read back and `sample` fails: {type(error).__name__}: {error}"
            raise CompilerError(problem) from error
        states = [_move({name: value.copy() for name, value in one.items()}) for one in self.chains]
        for state in states if run.schedule.name != "constant" else ():
            state["made"] += self.total
        state = {name: np.array([one[name] for one in states]) for name in states[0]}
        drawn, done = self._drawn(), self.done
        if self.has_all:
            found, left = found
            require(_is_same(left, state), "returns another state than its chains are in")
            phases = ["warmup" if count < run.warmup else "draws" for count in done]
            wanted = {chain: (count, self.total, phases[chain]) for chain, count in enumerate(done)}
            require(told == wanted, "reports another progress than its chains have made")
            so_far = self._cut({name: own[:, run.warmup : min(done)] for name, own in drawn.items()})
            require(bool(seen) and _is_same(so_far, seen[-1]), "hands a callback other draws than there are")
        for own in drawn.values():
            for chain, count in enumerate(done):
                own[chain, count:] = np.nan
        after = {name: own[:, run.warmup :] for name, own in drawn.items()}
        wanted = self._cut(after)
        if run.schedule.name != "constant":
            steps = [self.eps(self.before + run.warmup + k) for k in range(run.draws)]
            wanted["step_size"] = np.array([steps] * run.chains)
        for name in {*wanted, *found}:
            right = name in wanted and name in found and _is_same(wanted[name], found[name])
            require(right, f"returns other draws of {name} than its chains have")
        self._check_noted(after, states)
        return state

    def _init(self) -> Named:
        starts = [self._starts(OF_INIT, chain) for chain in range(self.build.run.chains)]
        return {name: np.array([start[name] for start in starts]) for name in self._blocks}

    def _keywords(self) -> Named:
        """Return the settings of the call, and what has to be given by name, or may be."""
        run, program = self.build.run, self.module.program
        found: Named = {name: getattr(run, name) for name in ("draws", "warmup", "thin", "chains", "seed", "step_size")}
        values = {self.names.get(name, name) for name, _ in self.build.values}
        lengths = {size for block in program.blocks for size in block.shape.sizes}
        for name, default in self.taken.items():
            required = default is inspect.Parameter.empty and name not in found
            if name in self.fields and name not in {one.name for one in program.data}:
                is_size = name in symbolic_sizes(program)  # one that is told by nothing else, or by `init`
                wanted = default is None and not (self.has_all and name in lengths) if is_size else name in values
                if required or (wanted and (is_size or self.has_all)):
                    found[name] = self.fields[name]
            elif name == "batch_size" and (required or self.has_all):
                found[name] = run.batch_size
        found["first_chain"] = self.first_chain
        found |= {ROWS: self.rows} if ROWS in self.taken and program.rest else {}
        if program.rest and self.has_all:
            found |= {REST: self.rest, "check": False}
            found |= {POTENTIAL: f"function {POTENTIAL}"} if POTENTIAL not in self.functions.values() else {}
        return found

    @property
    def total(self) -> int:
        """How many draws every chain is asked for."""
        return self.build.run.warmup + self.build.run.draws

    @property
    def done(self) -> list[int]:
        """How many draws the chains make of them."""
        ends = (self.ends.get(chain, self.before + self.total) for chain in range(self.build.run.chains))
        return [min(self.total, end - self.before) for end in ends]

    def _drawn(self) -> dict[str, Array]:
        """Return what stands for the draws of the chains, warm-up included, no two numbers alike."""
        widths = {name: self.chains[0][name].size for name in self._blocks}
        widths |= {name: 1 for name, _ in reported_by(self.module.kernel)}
        rng, run = np.random.default_rng(self.before), self.build.run
        return {name: rng.uniform(-1.0, 1.0, (run.chains, self.total, width)) for name, width in widths.items()}

    def _cut(self, drawn: Mapping[str, Array]) -> Named:
        """Return draws as `sample` does: the target's blocks as they are declared, the others as they are."""
        gradient, found = self.module.program.gradient, dict[str, Any]()
        if gradient is not None:
            found |= declared_blocks(drawn[gradient.block.name], self.build, self.at.sizes)
        for block in self.module.program.blocks:
            if gradient is None or block.name != gradient.block.name:
                name = unused(block.name, found)
                found[name] = drawn[block.name] if block.shape.sizes else drawn[block.name][:, :, 0]
        return found | {name: own[:, :, 0] for name, own in drawn.items() if name not in self._blocks}

    def _check_noted(self, after: Mapping[str, Array], states: list[Named]) -> None:
        """Check what `sample` has looked at: arguments by what they are declared to be, starts, draws, functions."""
        skipped = {one.name for one in self.module.program.parameters} - {*self.taken}  # the file has their values
        noted = {key: value for key, value in self.noted.items() if key[-1] not in skipped}
        wanted = dict((*self._looked_at(), *self._told(after, states)))
        for key in wanted | noted:
            right = key in wanted and key in noted and _is_same(wanted[key], noted[key])
            require(right, f"does not look at {key[1] or 'all'} by {key[0]} as its declarations say")

    def _looked_at(self) -> Iterator[tuple[tuple[str, str], Any]]:
        """Yield what arguments have to be, as they are declared."""
        program, run, taken = self.module.program, self.build.run, self.taken
        least = {"draws": 1, "warmup": 0, "thin": 1, "chains": 1, "seed": 0, "first_chain": 0}
        least |= {ROWS: 1} if ROWS in taken and program.rest else {}
        least |= dict.fromkeys((size for size in symbolic_sizes(program) if size in taken), 1)
        least |= {"threads": 1} if self.has_all else {}
        most = {"thin": run.schedule.period - 1} if run.schedule.name == "cyclic" else {}
        if program.variant == "minibatch":
            least, most = least | {"batch_size": 1}, most | ({} if program.replacement else {"batch_size": self.rows})
        for name, number in least.items():
            ends = {"most": most[name]} if name in most else {}
            yield ("_checked_number", name), {"whole": True, "least": number} | ends
        yield ("_checked_number", "step_size"), {"above": 0}
        for datum in program.data:
            shape = datum.axes, [*datum.values] if not datum.is_index else []
            yield ("_checked_array", datum.name), shape
            if program.narrow and not datum.is_index:
                yield ("_narrow_array", datum.name), shape
            kinds = [kind.value for kind in datum.kinds if kind is not Kind.REAL]
            if kinds and not datum.is_index:
                yield ("_check_numbers", datum.name), [self.fields[datum.name], kinds]
        declared = {self.names.get(p.name, p.name): p for p in declared_parameters(self.build)}
        for name, one in (declared | {p.name: p for p in program.parameters}).items():
            kinds = [kind.value for kind in one.kinds if kind is not Kind.REAL]
            if name in taken and one.shape.sizes:
                yield ("_checked_array", name), (one.shape.sizes, [])
                yield from [(("_check_kinds", name), [self.fields[name], kinds])] if kinds else ()
            elif name in taken:
                yield ("_checked_number", name), {LEAST[kind]: BOUND[kind] for kind in one.kinds if kind in BOUND}
        for name in self.functions.values() if not program.rest else ():
            yield ("_check_jitted", name), [f"function {name}"]

    def _told(self, after: Mapping[str, Array], states: list[Named]) -> Iterator[tuple[tuple[str, str], Any]]:
        """Yield what is looked at of starts and draws."""
        program = self.module.program
        starts = [{name: chain[name] for name in self._blocks} for chain in self.chains]
        for block, own in zip(self.derivation.declarations.blocks, program.blocks, strict=True):
            if block.domain.name not in (DomainName.REAL, DomainName.CIRCLE):
                domain = [block.domain.name.value, *(float(evaluate(bound, self.at)) for bound in block.domain.bounds)]
                yield ("_check_starts_inside", own.name), [starts, *domain]
                yield ("_tell_outside", own.name), [after[own.name], *domain]
        if CLIPPED in self.arguments:
            yield ("_tell_clipped", ""), [[state[CLIPPED] for state in states]]
        if program.gradient is None:
            return
        block = program.gradient.block.name
        yield ("_tell_still", block), [after[block]]
        if program.rest:
            counts = (self.batch_size, self.rows) if program.variant == "minibatch" else (0, 0)
            tried = self._jitted(POTENTIAL) if self.has_all or POTENTIAL in self.functions.values() else None
            given = [self._jitted(GRADIENT), tried, self.rest, [start[block] for start in starts], *counts]
            yield ("_try_given", ""), [*given, not self.has_all]
            yield ("try_draws", block), [after[block]]
            yield ("_tell_seed", ""), [self.build.run.seed, self.taken[SEED], self.chains]


def _name(what: str, *given: Any) -> tuple[Any, ...]:
    """Return what stands for the value of a function."""
    return what, *given


def _begin(own: Named, blocks: Collection[str], carried_on: Collection[str]) -> None:
    """Write what a chain carries on where it begins, which tells its state; a minibatch may be drawn for it."""
    for turn, name in enumerate(carried_on):
        own[name][:] = sum(own[block].sum() for block in blocks) + turn
    for name in {"batch_state", "permutation"} & own.keys():
        own[name] += np.uint64(1)


def _move(state: Named) -> Named:
    """Change all that moves change of a chain, in place."""
    for name, value in state.items():
        if name not in (SEED, "made"):
            value += value.dtype.type(1)
    return state


def _is_same(wanted: Any, found: Any) -> bool:
    """Whether values are the same, of one type, up to rounding."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and wanted.keys() == found.keys() and all(
            _is_same(value, found[name]) for name, value in wanted.items()
        )  # fmt: skip
    if isinstance(wanted, list | tuple):
        same = type(found) is type(wanted) and len(found) == len(wanted)
        return same and all(map(_is_same, wanted, found))
    if isinstance(wanted, np.ndarray):
        same = isinstance(found, np.ndarray) and (wanted.shape, wanted.dtype) == (found.shape, found.dtype)
        if same and wanted.dtype.kind == "f":
            return bool(np.allclose(wanted, found, 1e-9, 0.0, equal_nan=True))
        return same and np.array_equal(wanted, found)
    if isinstance(wanted, float):
        return isinstance(found, float) and math.isclose(wanted, found, rel_tol=1e-12)
    return type(found) is type(wanted) and bool(found == wanted)
