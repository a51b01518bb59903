"""The emitted module: header, kernel, chain, support, put together as one text, in names that do not collide."""

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.print_body import call
from recipe_compiler.emit.print_chain import (
    carried,
    first_values_arguments,
    print_first_values,
    print_run,
    print_seed_streams,
    print_sweep,
    print_work,
    run_arguments,
)
from recipe_compiler.emit.print_lanes import has_lanes, lanes_arguments, print_run_lanes, print_step_lanes
from recipe_compiler.emit.print_procedure import (
    APART,
    INLINED,
    LONG,
    LOOP,
    print_prepare,
    print_procedure,
    print_whole,
)
from recipe_compiler.emit.print_sample import print_sample
from recipe_compiler.emit.print_start import print_start, spelling
from recipe_compiler.emit.sampler import Sampler
from recipe_compiler.emit.support.text import support_text
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.lower_energies import lower_energies, lower_full_gradient
from recipe_compiler.program.program import REST, ROWS, Program, steps_at_head, symbolic_sizes
from recipe_compiler.program.step_stats import REPORTED
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.open_target import GRADIENT, POTENTIAL

_WORDS = """
    math np njit gradient step prepare potential rest sums cycle energy accept log_ratio length run sample
    first_state starts rng seed chain first_chain callback return_state found chains
    draws warmup step_size init progress tell threads given drawn noise
    batches states state own of_draw first_eps first_values sizes seed_streams eps thin batch batch_size row kept
    entry finite clipped total weight noise_state batch_state permutation done s0 s1 s2 s3 sweep entries first last
    gradient_noise gradient_noise_draws
    step_lanes run_lanes lanes lanes_noise lanes_told lanes_draws lane turn draw FORMAT SPEC_DIGEST VARIANT
    REPLACEMENT BLOCKS SIZES PARAMETERS CONSTANTS DATA COLUMN_MAJOR ARGUMENTS LANES_ARGUMENTS FIRST_ARGUMENTS CODE
    POTENTIAL_BLOCK ENERGY_CONSTANTS prepare_full_gradient full_gradient full_potential log_likelihood auxiliary_energy
    prepare_energies at_step at_stage
"""
OWN = frozenset((*_WORDS.split(), *(f"{name}{ending}" for name in REPORTED for ending in ("", "_sum", "_draws"))))
"""Names that every emitted module has for itself."""

OF_ANY = frozenset((POTENTIAL, GRADIENT, REST, ROWS, "check", "work", "STEP_ARGUMENTS", "STEP_LEAVES"))
"""Besides, those of one whose U is an argument."""

FORMAT = 3
"""The number of the emission format: it changes with what a text offers to those who load it."""

LANES = ("step_lanes", "run_lanes", "LANES_ARGUMENTS")
"""What a file has where its build asks for chains side by side."""

DIAGNOSTICS = (
    "prepare_full_gradient", "full_gradient", "prepare_energies", "full_potential", "log_likelihood",
    "auxiliary_energy", "ENERGY_CONSTANTS",
)  # fmt: skip
"""What it has where its build asks for what tells of draws: energies and grad U of all data."""

REFUTED = "REFUTED"
"""The fact that a file has whose build is refuted: the claims, of which `sample` warns."""

FACTS = "# Facts: what `sample`, and programs that load this module, read of it."
SUPPORT = "# Support: checks, random streams, stable functions, as far as what stands above calls them."


def renames(program: Program) -> dict[str, str]:
    """Return the user's names that must change, with a trailing underscore (more, where that is taken too)."""
    gradient = program.gradient
    parts = () if gradient is None else tuple(part.block for part in gradient.parts)
    states = gradient.recursion.states if gradient is not None and gradient.recursion else ()
    items = (*program.blocks, *parts, *program.parameters, *program.data, *states)
    sizes = [size for item in items for size in item.shape.sizes] + [datum.size for datum in program.data]
    names = dict.fromkeys([item.name for item in items] + [size for size in sizes if isinstance(size, str)])
    made = {f"{block.name}_draws" for block in program.blocks}
    found: dict[str, str] = {}
    for name in names:
        new = name
        own = OWN | made | (OF_ANY if program.rest else frozenset())
        while keyword.iskeyword(new) or hasattr(builtins, new) or new in own or (new != name and new in names):
            new += "_"
        if new != name:
            found[name] = new
    return found


@dataclass(frozen=True, slots=True)
class Module:
    """An emitted module: its name, its texts, and what it was made of."""

    name: str
    text: str
    """What a run loads, and what is read back: all that there is, lanes and diagnostics among it."""
    program: Program
    kernel: Kernel
    parts: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Its functions, then its facts, by name: what `text` and `file` are put together from."""
    starts: str = ""
    """The function `first_state`, with what it calls: a run loads it after `text`."""
    file: str = ""
    """What users get: the functions of `text` that were asked for, word for word, described, with `sample`."""

    @property
    def loaded(self) -> str:
        """What a run imports."""
        return self.text + self.starts


def emit_module(name: str, program: Program, kernel: Kernel, header: str, digest: str) -> Module:
    """Return the module of a kernel, without a file.

    Args:
        name: name of the file, without its ending.
        program: the step in index notation.
        kernel: the same, lowered to loops.
        header: the text's docstring, without quotes, safe to stand between them.
        digest: SHA-256 of the documents it was made of.
    """
    functions = ("\n".join(lines) for lines in (*_stepping(program, kernel), *_sampling(program, kernel)))
    parts = {text.partition("def ")[2].partition("(")[0]: text for text in functions}
    facts = re.split(r"\n(?=[A-Z_]+ = )", "\n".join(_facts(program, kernel, digest)))
    parts |= {fact.partition(" = ")[0]: fact for fact in facts}
    return Module(name, _assembled(header, program, parts, parts), program, kernel, parts)


def with_starts(module: Module, build: Build, derivation: Derivation, names: Mapping[str, str]) -> Module:
    """Return a module that starts chains, too: all sizes and parameters of `first_state` are its arguments.

    Args:
        module: as `emit_module` returns it.
        build: for its `init`.
        derivation: of the bound dynamics.
        names: the user's names that had to be changed, with what they became.
    """
    code = "\n".join(print_start(build, derivation, names, spelling(build, names, {}, "OPERATIONS")).lines)
    others = "from recipe_compiler.emit.print_numpy import OPERATIONS\n\n\n" if "OPERATIONS[" in code else ""
    return replace(module, starts=f"\n\n\n{others}{code}\n\n\n{support_text(_called(code))}")


def emit_file(module: Module, sampler: Sampler, header: str) -> Module:
    """Return a module with its file: `sample`, and those functions of its text that are wanted, word for word.

    Args:
        module: as `emit_module` returns it.
        sampler: what `sample` takes.
        header: the file's docstring, without quotes, safe to stand between them.
    """
    build, parts = sampler.build, dict[str, str]()
    left_out = {*(() if build.run.lanes else LANES), *(() if build.diagnostics else DIAGNOSTICS)}
    for name, text in module.parts.items():
        if name in ("sweep", "step_lanes", "prepare") and "sample" not in parts:  # the first beside those that step
            parts |= {"sample": "\n".join(print_sample(sampler)), "first_state": "\n".join(sampler.start.lines)}
        parts |= {} if name in left_out else {name: text}
    if build.mark is not None:
        parts |= {REFUTED: "\n".join(_tuple(REFUTED, tuple(map(repr, build.mark.claims))))}
    return replace(module, file=_assembled(header, module.program, parts, module.parts))


def _assembled(header: str, program: Program, parts: Mapping[str, str], every: Mapping[str, str]) -> str:
    """Return a text in the order of a reader: header, imports, functions, facts, support.

    Functions look up those that stand below them when they are called, or compiled. The options of the jit stand first,
    as decorators read them on import, and so do sizes, to which formulas refer.

    every: the parts of the text with all of them: support functions that plain Python calls there are compiled so that
        it can, in each text alike.
    """
    code = "\n\n\n".join(text for name, text in parts.items() if not name.isupper())
    facts = "\n".join(text for name, text in parts.items() if name.isupper())
    plain = {name for text in every.values() if text.startswith("def ") for name in _called(text)}
    support = support_text(_called(code), given=("_FASTMATH",), called_by_python=plain)
    body = "\n\n\n".join(("\n".join(_constants(program)), code, f"{FACTS}\n{facts}", SUPPORT, support))
    return f'"""{header}"""\n\n{_imports(code + support)}\n\n{body}'


def _called(code: str) -> set[str]:
    """Return the support functions that a text calls."""
    return set(re.findall(r"\b(_\w+)\(", code))


LIBRARY = ("functools", "math", "os", "sys", "threading", "time", "warnings")
"""Modules of Python's own library that emitted code may import."""


def _imports(code: str) -> str:
    """Return the lines that import what a module uses, of Python's own library first."""
    used = set(re.findall(r"\b(\w+)\.", code))
    own = "".join(f"import {name}\n" for name in LIBRARY if name in used)
    own += "from concurrent.futures import ThreadPoolExecutor, wait\n" if "ThreadPoolExecutor(" in code else ""
    own += "\n" if own else ""
    tools_of_llvm = [name for name in ("binding", "ir") if name in used]
    builder = f"from llvmlite import {', '.join(tools_of_llvm)}\n" if tools_of_llvm else ""
    if "@intrinsic" not in code:
        return own + "import numpy as np\nfrom numba import njit"
    tools = "from numba.core import cgutils\n" if "cgutils" in used else ""
    intrinsics = "from numba.extending import intrinsic"  # which comes with numba, as llvmlite does
    named = "njit, typeof, types" if "typeof(" in code else "njit, types"
    return f"{own}import numpy as np\n{builder}from numba import {named}\n{tools}{intrinsics}"


def _facts(program: Program, kernel: Kernel, digest: str) -> Iterator[str]:
    yield f"FORMAT = {FORMAT}"
    yield f"SPEC_DIGEST = {_quoted(digest)}"
    yield f"VARIANT = {_quoted(program.variant)}"
    yield f"REPLACEMENT = {program.replacement}"
    if program.contiguous:
        yield "CONTIGUOUS = True"
    blocks = tuple(f"({_quoted(b.name)}, {_size(b.shape.sizes)})" for b in program.blocks)
    yield from _tuple("BLOCKS", blocks)
    yield from _names("SIZES", symbolic_sizes(program))
    yield from _names("PARAMETERS", tuple(p.name for p in program.parameters))
    yield from _names("CONSTANTS", tuple(array.name for array in kernel.prepare.outputs))
    yield from _names("DATA", tuple(d.name for d in program.data))
    if kernel.column_major:
        yield from _names("COLUMN_MAJOR", kernel.column_major)
    yield from _names("ARGUMENTS", run_arguments(program, kernel))
    if program.rest:
        yield from _names("STEP_ARGUMENTS", kernel.chain_step.arguments)
        yield from _tuple("STEP_LEAVES", tuple(f"({_quoted(a)}, {_quoted(b)})" for a, b in program.left.items()))
    if carried(program):
        yield from _tuple("CARRIED", tuple(f"({_quoted(a.name)}, {_size(a.sizes)})" for a in carried(program)))
        yield from _names("FIRST_ARGUMENTS", first_values_arguments(program, kernel))
    if has_lanes(program, kernel):
        yield from _names("LANES_ARGUMENTS", lanes_arguments(program, kernel))
    lowered = lower_energies(program)
    if lowered is not None and lowered.prepare.outputs:
        yield from _names("ENERGY_CONSTANTS", tuple(array.name for array in lowered.prepare.outputs))
    if program.functions:
        yield from _tuple("CODE", tuple(f"({_quoted(a)}, {_quoted(code)})" for a, code in program.functions.items()))
    yield f"POTENTIAL_BLOCK = {_quoted(program.gradient.block.name if program.gradient else '')}"


def _constants(program: Program) -> Iterator[str]:
    """Yield the lines that functions need above them."""
    if program.heads:
        solved = program.heads == steps_at_head(program.gradient)
        what = "steps of the solver from row to row" if solved else "sizes of the target's blocks"
        yield f"# {what}: what stands below is the same for all of them"
        yield from (f"{size} = {number}" for size, number in program.heads)
        yield ""
    yield '_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums'
    yield '_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise'


def _size(sizes: tuple[str | int, ...]) -> str:
    return (_quoted(sizes[0]) if isinstance(sizes[0], str) else str(sizes[0])) if sizes else "0"


def _names(name: str, values: tuple[str, ...]) -> Iterator[str]:
    return _tuple(name, tuple(_quoted(value) for value in values))


def _tuple(name: str, items: tuple[str, ...]) -> Iterator[str]:
    return call(f"{name} = ", items if len(items) != 1 else (f"{items[0]},",), 0)


def _quoted(name: str) -> str:
    return f'"{name}"'


def _stepping(program: Program, kernel: Kernel) -> Iterator[Iterator[str]]:
    """Yield the functions of one step: gradient, draws, step, and the cycle of steps."""
    if kernel.gradient is not None:
        yield print_procedure(kernel.gradient, LOOP if kernel.gradient.returns else INLINED)
    for procedure in (kernel.potential, kernel.rest, kernel.sums, *kernel.draws):
        if procedure is not None and procedure.name not in program.functions:
            yield print_procedure(procedure, LOOP if kernel.registers else INLINED)
    there_and_back = program.cycle is not None and any(move.is_solved for move in program.cycle.accepted)
    yield print_procedure(kernel.step, LOOP, APART if there_and_back else LONG)
    if kernel.cycle is not None:
        yield print_procedure(kernel.cycle, LOOP)
    if program.rest:
        yield print_work(program, kernel)


def _sampling(program: Program, kernel: Kernel) -> Iterator[Iterator[str]]:
    """Yield the functions that make and describe chains of steps."""
    lanes = has_lanes(program, kernel)
    if kernel.chunked:
        yield print_sweep(program, kernel)
    if lanes:
        yield print_step_lanes(program, kernel)
    yield print_prepare(kernel.prepare, symbolic_sizes(program))
    if carried(program):
        yield print_first_values(program, kernel)
    yield print_run(program, kernel)
    if lanes:
        yield print_run_lanes(program, kernel)
    yield print_seed_streams(program, kernel)
    yield from _diagnostics(program)


def _diagnostics(program: Program) -> Iterator[Iterator[str]]:
    """Yield what tells of a run: U of all data, the log likelihood of every datum, H - U, and grad U of all data."""
    sizes = symbolic_sizes(program)
    energies, gradient = lower_energies(program), lower_full_gradient(program)
    for lowered, functions in (
        (energies, energies.procedures if energies else ()),
        (gradient, (gradient.gradient,) if gradient else ()),
    ):
        if lowered is not None and lowered.prepare.outputs:
            yield print_prepare(lowered.prepare, sizes)
        yield from map(print_whole, functions)
