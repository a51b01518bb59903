"""A build that nobody wrote: dynamics, a target if there is one, and options, as the document that says the same."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from recipe_compiler.advise.choose import (
    Candidate,
    Candidates,
    candidates,
    cycle_without_noise,
    draws_by_laws,
    has_word,
    name_of_length,
)
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.commands.documents import load_named
from recipe_compiler.commands.outputs import demand_file
from recipe_compiler.display import say
from recipe_compiler.errors import DataError, Fault, Place, nearest, spec_error
from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.shapes import HALF_LINE, SCALAR, Kind
from recipe_compiler.formula.show import text as formula_text
from recipe_compiler.report.found_q import with_proved_q
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.columns import columns_of
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.catalogue import is_plain, shipped, shipped_data
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.files import files_of, with_absolute_names
from recipe_compiler.spec.load import around, load
from recipe_compiler.spec.model import Build, Document, Dynamics, Source, Target
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.schema_build import BuildDocument
from recipe_compiler.spec.to_yaml import text_of
from recipe_compiler.spec.validate import fields_of
from recipe_compiler.spec.yaml_nodes import plain
from recipe_compiler.spec.yaml_reader import MAX_BYTES, read_yaml

WORDS = ("baoab", "badodab")
"""Words that are tried, one after another, before Euler's steps: of order 2, one gradient a step."""

Entries = dict[str, Any]
_SIGNED = {Kind.POSITIVE, Kind.NONNEGATIVE}
_NUMBER = re.compile(r"[-+]?[0-9][0-9.eE+/-]*", re.ASCII)
_OF_THE_BUILD = ("name", "title", "variant")


def make_build(
    files: Sequence[str], given: BuildArguments, *, step_size: float | None = None, quiet: bool = False
) -> Build:  # fmt: skip
    """Return the build of dynamics and a target, after its document is printed, and saved with `--save`.

    What is not said: `variant: full`, a word of order 2 where the dynamics have its pieces, `step_size: auto`, which
    chooses masses, frictions and preconditioners; where the step size is stated, these are I. Metrics, and their roots,
    are I. Of dynamics alone, step size and parameters that are not stated are arguments of the module.

    Raises:
        SpecError, ModelError: dynamics and target do not go together, or what is said means nothing.
    """
    dynamics, *others = (load_named(file) for file in files)
    if not isinstance(dynamics, Dynamics) or not all(isinstance(other, Target) for other in others):
        found = f"{type(dynamics).__name__.lower()}{''.join(f' and {_with_article(other)}' for other in others)}"
        raise spec_error(" ".join(files), "document", f"found {found}, expected dynamics and a target, in this order")
    target = next((other for other in others if isinstance(other, Target)), None)
    folder = _folder_of(given, dynamics, *others)
    named = {} if target is None else {"target": _path(files[1], target, folder)}
    own = {**_named_by(dynamics, target), "dynamics": _path(files[0], dynamics, folder), **named, "variant": "full"}
    stated = _stated(own, dynamics, target, given, folder)
    if target is not None or dynamics.potential is None:
        stated.setdefault("run", {}).setdefault("step_size", "auto" if step_size is None else repr(step_size))
    _complete(stated, dynamics)
    made = _with_scheme(stated, dynamics, target, folder, given)
    show_made(made, given, quiet=quiet)
    return made


def _named_by(dynamics: Dynamics, target: Target | None) -> Entries:
    return {"format": "1", "name": "_".join(part.name for part in (dynamics, target) if part is not None)}


def _folder_of(given: BuildArguments, *documents: Document) -> Path:
    """Return the folder that names in a build are relative to. Raises SpecError where it cannot be saved."""
    if given.save is None:
        return Path()
    demand_file(given.save, "--save", [file for document in documents for file in files_of(document)])
    if given.save.exists():
        raise spec_error(str(given.save), "--save", "found a file of that name, expected a name that is free")
    return given.save.parent


def open_build(file: str) -> Entries | None:
    """Return what a build states that names a target and no dynamics; None of another document."""
    path = Path(file)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return None
    with path.open("rb") as read:
        entries = plain(read_yaml(read.read(MAX_BYTES + 1), file))
    return entries if isinstance(entries, dict) and "target" in entries and "dynamics" not in entries else None


def read_candidates(file: str, own: Target | Entries, given: BuildArguments) -> Candidates:
    """Return the builds by which a target may be sampled.

    Args:
        file: of the target, or of a build without dynamics.
        own: that target, or what that build states.
        given: on the command line.

    Raises:
        SpecError, ModelError: there is none, or what is said means nothing.
        DataError: the data do not fit.
    """
    if isinstance(own, Target):
        target, folder, own_file = own, _folder_of(given, own), ""
        own = {"target": _path(file, target, folder)}
    else:
        folder, named, own_file = Path(file).parent, str(own["target"]), file
        target = load_named(str(shipped(named, ("target",)) or folder / named))
        if not isinstance(target, Target):
            raise spec_error(file, "target", f"found {_with_article(target)}, expected a target")
        _folder_of(given, target)

    def made(one: Candidate) -> Build:
        dynamics = load(one.dynamics)
        if not isinstance(dynamics, Dynamics):
            raise spec_error(one.dynamics, "document", "found a file of that name, expected dynamics that ship")
        base = {**_named_by(dynamics, target), "variant": one.variant, **deepcopy(own), "dynamics": one.dynamics}
        stated = _stated(base, dynamics, target, given, folder)
        eps = stated.setdefault("run", {}).setdefault("step_size", "auto")
        if "scheme" in stated or eps != "auto":
            entry = "scheme" if "scheme" in stated else "step_size"
            problem = f"found `{entry}` without dynamics, expected none: it is chosen with them"
            raise spec_error(file, entry, problem, "name the dynamics too: `recipe run sghmc TARGET`")
        _complete(stated, dynamics)
        longest = name_of_length(target, dynamics)
        return _read(stated | {"scheme": one.scheme(target, longest)}, folder, given, file, own_file)

    return candidates(made)


def _with_scheme(
    stated: Entries, dynamics: Dynamics, target: Target | None, folder: Path, given: BuildArguments
) -> Build:
    """Return the build that entries state, its scheme chosen where none is stated."""
    if "scheme" in stated:
        return _read(stated, folder, given)
    first = _first(dynamics, target)
    # whatever else is wrong is said first; what only moves take is read with the scheme that is chosen
    plainly = _read(_without_moves(stated) | {"scheme": first}, folder, given)
    is_planned = stated.get("run", {}).get("step_size") == "auto"
    longest = name_of_length(plainly.target, dynamics) if is_planned else "20"
    return _read(stated | {"scheme": _scheme_of(dynamics, plainly, longest) or first}, folder, given)


def show_made(made: Build, given: BuildArguments, *, quiet: bool) -> None:
    """Print the document of a build that was made, and save it where this is wanted."""
    if given.save is not None:
        source = made.source
        moved = Path(source.file).resolve().parent != given.save.resolve().parent
        write_whole(given.save, text_of(with_absolute_names(source) if moved else source).encode())
    if not quiet:
        say(text_of(made.source))
        stated, functions = {one.partition("=")[0].strip() for one in given.settings}, made.stated_dynamics.declarations
        for name, formula in made.bind:
            if name not in stated and name in {item.name for item in functions.own_functions}:
                say(f'# {name}: {formula_text(formula)}, as nothing states it; `--set "{name}=..."` does')
        if given.save is not None:
            say(f"{given.save}: written")


def _stated(
    entries: Entries, dynamics: Dynamics, target: Target | None, given: BuildArguments, folder: Path
) -> Entries:
    """Return the document as far as the command states it, with the entries that it begins with."""
    theirs = Declarations() if target is None else target.declarations
    for text in given.settings:
        _settle(entries, dynamics.declarations, theirs, text)
    fields = [datum.name for datum in theirs.data]
    if fields and given.data is None and "data" not in entries:
        problem = f"found no data, expected columns for {', '.join(fields)}"
        raise spec_error(
            _files_of(entries), "data", problem, "add `--data FILE.csv`, a table with a column for each of them"
        )
    if target is not None and (given.data is not None or "data" in entries):
        entries["data"] = _data(target, given.data, entries.get("data", {}), folder)
    return entries


def _path(file: str, document: Document, folder: Path) -> str:
    """Return the name of a document as the build says it: that it ships under, or its place from the build's own."""
    if is_plain(file) and not os.path.isfile(file):
        return file
    return os.path.relpath(document.source.file, folder)


def _settle(entries: Entries, dynamics: Declarations, target: Declarations, text: str) -> None:
    """Put `NAME=VALUE` where a build has it: a value, a binding, a size, or the entry that a dotted name leads to."""
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name or not written:
        raise spec_error("--set", shown(text), f"found `{shown(text)}`, expected NAME=VALUE", "--set A=2")
    root = read_yaml(f"value: {written}\n".encode(), f"--set {name}")
    value = plain(next(node for _, node in root.entries))
    path = name.split(".")
    if len(path) == 1:
        path = _place(name, value, dynamics, target)
    inner = entries
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise spec_error("--set", name, f"found `{key}`, which is one value, expected a section")
    inner[path[-1]] = value


def _place(name: str, value: object, dynamics: Declarations, target: Declarations) -> list[str]:
    """Return where the entry of a plain name stands."""
    places = {key: [key] for key in _OF_THE_BUILD}
    places |= {"scheme": ["scheme", "name"] if isinstance(value, str) else ["scheme"]}
    places |= {f.name: ["bind", f.name] for f in dynamics.own_functions if f.role != "potential"}
    for declared in (dynamics, target):  # a name of both is the target's: that of the dynamics gets another
        places |= {size: ["sizes", size] for size in declared.sizes}
        for own in declared.parameters:
            is_formula = declared is dynamics and not _is_value(value, own)
            places[own.name] = ["bind", own.name] if is_formula else ["parameters", own.name, "value"]
    if name not in places:
        hint = nearest(name, tuple(places)) or f"there are {', '.join(places)}"
        expected = "expected a parameter, a function, a size, or an entry of a build such as `run.draws`"
        raise spec_error("--set", name, f"found `{name}`, {expected}", hint)
    return places[name]


def _is_value(value: object, parameter: Parameter) -> bool:
    """Whether what is given to a parameter is numbers, or a file of them: else it is a formula to be bound."""
    if isinstance(value, str):
        return value.endswith(".npy") or (parameter.shape == SCALAR and _NUMBER.fullmatch(value) is not None)
    return isinstance(value, list)


def _data(target: Target, file: str | None, given: object, folder: Path) -> Entries:
    """Return the data section: fields by columns of their names, the one matrix that is left by those left over."""
    if not isinstance(given, dict):
        raise spec_error("--set", "data", "found one value, expected a section", "--set data.x=[a, b]")
    entries: Entries = dict(given)
    if file is None:
        return entries
    path = shipped_data(file) or Path(file)
    entries = {"file": file if shipped_data(file) else os.path.relpath(path, folder), **entries}
    try:
        columns = columns_of(path)
    except DataError as error:
        raise spec_error(file, "--data", f"found no table that can be read, expected one: {error}") from None
    fields = target.declarations.data
    for datum in fields:
        if datum.name in columns and datum.name not in entries:
            entries[datum.name] = datum.name if datum.shape.cols is None else [datum.name]
    named = [name for value in entries.values() for name in (value if isinstance(value, list) else [value])]
    taken = {name for name in named if isinstance(name, str)}
    left = [datum for datum in fields if datum.name not in entries]
    over = [name for name in columns if name not in taken]
    if len(left) == 1 and left[0].shape.cols is not None and over:
        entries[left[0].name] = over
    elif left:
        problem = f"found no column `{left[0].name}` in {file} ({', '.join(columns)}), expected one for each field"
        example = "NAME" if left[0].shape.cols is None else "[A, B]"
        hint = f"{nearest(left[0].name, columns)} --set data.{left[0].name}={example}".strip()
        split = any(mark in "".join(columns) for mark in ";\t")
        raise spec_error(file, "--data", problem, "save it with commas between columns" if split else hint)
    return {"file": entries.pop("file"), **{datum.name: entries.pop(datum.name) for datum in fields}, **entries}


def _complete(entries: Entries, dynamics: Dynamics) -> None:
    """Bind what neither the command nor a plan chooses: metrics to I, and of a stated step size masses and the like."""
    declared = dynamics.declarations
    is_open = "target" not in entries and dynamics.potential is not None
    chosen = is_open or entries["run"]["step_size"] == "auto"  # by a plan, or by whoever calls the module
    settled = {*entries.get("bind", {}), *entries.get("parameters", {}), dynamics.potential}
    own = {block.shape.rows for block in potential_blocks(dynamics)}
    for item in (*declared.own_functions, *(() if chosen else declared.parameters)):
        if item.name in settled or (isinstance(item, Parameter) and item.default is not None):
            continue
        if item.shape.rows == item.shape.cols and item.shape.rows in own:
            entries.setdefault("bind", {})[item.name] = _identity(item)
        elif isinstance(item, Parameter) and item.shape == SCALAR and _SIGNED & set(item.kinds):
            entries.setdefault("parameters", {})[item.name] = {"value": "1"}


def _identity(item: Parameter | Function) -> str:
    """Return I; of the noise that a minibatch adds, which no kind asks to be definite, 0."""
    noise = isinstance(item, Function) and Kind.PSD in item.kinds and Kind.PD not in item.kinds
    return "0" if noise else "I"


def _first(dynamics: Dynamics, target: Target | None) -> Entries:
    """Return Euler's step; draws by the laws of a target with discrete blocks, where the equation moves nothing."""
    laws = () if target is None else target.as_declared.laws
    if (
        target
        and laws
        and discrete_blocks(target.declarations)
        and all(formula_text(entry) == "0" for entry in dynamics.matrix_entries)
    ):
        return draws_by_laws(target)
    return _euler(dynamics)


def _without_moves(stated: Entries) -> Entries:
    """Return entries without the share of moves to be accepted, which Euler's step has none of."""
    run = {key: value for key, value in stated.get("run", {}).items() if key != "accept"}
    return stated | ({"run": run} if run else {})


def _scheme_of(dynamics: Dynamics, plainly: Build, longest: str) -> Entries | None:
    """Return the first scheme that dynamics have the pieces and flows for; None where it is that of the build given."""
    if cycle := cycle_without_noise(plainly, longest):
        return cycle
    has_momenta = len(dynamics.declarations.blocks) > len(potential_blocks(dynamics))
    return next(({"name": name} for name in WORDS if has_momenta and has_word(plainly, name)), None)


def _euler(dynamics: Dynamics) -> Entries:
    """Return Euler's step, momenta before the potential's block; what ends at 0 is reflected there."""
    own = {block.name for block in potential_blocks(dynamics)}
    names = [block.name for block in dynamics.declarations.blocks]
    others = [name for name in names if name not in own]
    order = [*others[:1], *(name for name in names if name in own), *others[1:]]
    ends = [block.name for block in dynamics.declarations.blocks if block.domain.name in HALF_LINE]
    step: Entries = {"name": "sequential_euler", "order": order} if len(names) > 1 else {"name": "euler"}
    return step | ({"reflect": ends} if ends else {})


def _read(
    entries: Mapping[str, Any], folder: Path, given: BuildArguments, files: str = "", own_file: str = ""
) -> Build:
    """Return the build that entries state.

    Args:
        entries: of its document.
        folder: what names in it are relative to.
        given: on the command line.
        files: to which faults are put; left out, those of dynamics and target.
        own_file: that states it; left out, there is none.
    """
    files = files or _files_of(entries)
    file = own_file or str(given.save or folder / files.replace("/", " "))
    ordered = {key: entries[key] for key in (*fields_of(BuildDocument), *entries) if key in entries}
    text = text_of(Source(file, json.dumps(ordered)))
    faults = Faults()
    made = faults.catch(lambda: read_build(read_yaml(text.encode(), file), file, around(folder)))
    if made is None:
        faults.found = [_where_stated(fault, file, given.settings, files) for fault in faults.found]
        raise faults.error()
    return with_proved_q(made)


def _files_of(entries: Mapping[str, Any]) -> str:
    return f"{entries['dynamics']} {entries.get('target', '')}".strip()


def _where_stated(fault: Fault, file: str, settings: Sequence[str], files: str) -> Fault:
    """Return a fault of a document that nobody wrote, at the option that states what it is about, or at its files."""
    if fault.where.file != file:
        return fault
    stated = [text.partition("=")[0].strip() for text in settings]
    is_stated = any(name in (fault.entry, *fault.entry.split(".")) for name in stated)
    return replace(fault, where=Place("--set" if is_stated else files))


def _with_article(document: Document) -> str:
    kind = type(document).__name__.lower()
    return kind if kind == "dynamics" else f"a {kind}"
