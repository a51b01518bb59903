"""Python objects as the nodes of a document: what its YAML would hold, so that one reader reads both.

A formula becomes the text that means it, and keeps its tree: what is read is what was written in Python, and the digest
is that of the text.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import sympy

from recipe_compiler.errors import DocumentError, Fault, Place, SpecError, shown
from recipe_compiler.formula.python_declaration import PYTHON, REAL, Declared, exact, merged
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.symbolic import block_rows, declared_in, tree_of
from recipe_compiler.formula.tree import written
from recipe_compiler.spec import yaml_nodes
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.yaml_nodes import Node, Scalar
from recipe_compiler.spec.yaml_reader import MAX_NESTING, TOO_DEEP

PACKAGE = Path(__file__).parents[1]
_DOMAINS: dict[tuple[Kind, ...], str] = {(Kind.POSITIVE,): "positive", (Kind.NONNEGATIVE,): "nonnegative"}
"""The domain that an object's kinds (SymPy's `positive=True`) mean for a block of the state."""


Made = TypeVar("Made")


class Statement:
    """A document that is stated at one line of Python: where that is, and the faults found so far."""

    def __init__(self) -> None:
        self.where = _caller()
        self.faults = Faults()
        held = Path(self.where.file).is_file()
        self.file = self.where.file if held else "python"
        """The file that states it; in an interactive session a name that no file has."""
        self.folder = Path(self.file).parent
        """What names of files are relative to: its folder, or the working directory."""

    def mapping(self, **entries: object) -> yaml_nodes.Mapping:
        """Return keys with their values, in the order given; what is None is left out."""
        given = {name.removesuffix("_"): value for name, value in entries.items() if value is not None}
        return yaml_nodes.Mapping(
            tuple((self._text(name), self.node(name, value)) for name, value in given.items()), self.where
        )

    def document(self, name: str, title: str, references: Sequence[str], **entries: object) -> yaml_nodes.Mapping:
        """Return a document of entries; what is None is left out."""
        return self.mapping(format=1, name=name, title=title or None, references=list(references) or None, **entries)

    def node(self, entry: str, obj: object, depth: int = MAX_NESTING) -> Node:
        """Return an object as a node, a fault where it nests deeper; `entry` is what its faults are said of."""
        if not depth:
            self.faults.catch(lambda: _raised([Fault(PYTHON, entry, TOO_DEEP)]))
            return self._text("0")
        match obj:
            case Scalar() | yaml_nodes.Sequence() | yaml_nodes.Mapping():
                return obj
            case None:
                return Scalar("", self.where)
            case bool():
                return self._text("true" if obj else "false")
            case str():
                return self._text(obj)
            case Path():
                return self._text(str(obj))
            case Shape():
                return self.node(entry, _one_or_many(obj.sizes) if obj.sizes else "scalar")
            case Mapping():
                named = [(self.name(key), value) for key, value in cast("Mapping[object, object]", obj).items()]
                self.demand_once(entry, [name for name, _ in named])
                entries = ((self._text(name), self.node(f"{entry}.{name}", value, depth - 1)) for name, value in named)
                return yaml_nodes.Mapping(tuple(entries), self.where)
            case list() | tuple():
                items = cast("Sequence[object]", obj)
                return yaml_nodes.Sequence(tuple(self.node(entry, item, depth - 1) for item in items), self.where)
            case _ if (rows := rows_of(obj)) is not None and not isinstance(obj, sympy.MatrixBase):
                return self.node(entry, rows, depth - 1)
            case _:  # a matrix of SymPy's is a formula, too
                return self._scalar(entry, obj)

    def matrix(self, entry: str, obj: object) -> Node | None:
        """Return a block matrix: rows, a SymPy matrix, or what stands at the one place of one block."""
        if type(obj).__name__ in ("BlockMatrix", "BlockDiagMatrix"):
            obj = self.faults.catch(lambda: block_rows(obj))
        rows = rows_of(obj)
        whole = obj if rows is None else rows
        if isinstance(whole, list | tuple):
            whole = [self._row(entry, row) for row in cast("Sequence[object]", whole)]
        return None if obj is None else self.node(entry, whole)

    def _row(self, entry: str, row: object) -> object:
        """Return a row of a block matrix, an array in it being the formula at its place."""
        if not isinstance(row, list | tuple):
            return row
        places = cast("Sequence[object]", row)
        return [self._scalar(entry, obj) if isinstance(obj, np.ndarray) else obj for obj in places]

    def name(self, obj: object) -> str:
        """Return a name, or that which an object declares; a fault is added where it is none."""
        if isinstance(obj, str):
            return obj
        names = self.declared(obj)
        if len(names) != 1:
            self.fault("document", f"found `{shown(obj)}` as a key, expected a name")
        return names[0].name if names else "unnamed"

    def declared(self, *objects: object) -> tuple[Declared, ...]:
        """Return the names that objects carry, those inside lists and mappings too, each once, in order of use."""
        groups = [group for leaf in _leaves(objects) if (group := _names(leaf)) is not None]
        return self.faults.catch(lambda: merged(*groups)) or ()

    def demand_once(self, entry: str, names: Sequence[str]) -> None:
        """Add a fault for a name that stands twice: an object and its name are one key."""
        for name, times in Counter(names).items():
            if times > 1:
                self.fault(entry, f"found `{name}` {times} times, expected it once")

    def blocks(self, state: object) -> Sequence[object]:
        """Return what stands in a list of blocks; one block alone is a list of it."""
        if isinstance(state, list | tuple | Mapping | set | frozenset | str):
            return cast("Sequence[object]", state)
        return (state,)

    def keys(self, entry: str, obj: object, hint: str) -> Mapping[str, object]:
        """Return keys with values; a fault is added for anything else."""
        if obj is None or isinstance(obj, Mapping):
            return cast("Mapping[str, object]", obj or {})
        self.fault(entry, f"found a {type(obj).__name__}, expected keys with values", hint)
        return {}

    def assumptions(self, assume: object) -> Sequence[object]:
        """Return the comparisons of a list, or the one that stands alone; a fault is added for Python's own `==`."""
        listed = cast("Sequence[object]", assume if isinstance(assume, list | tuple) else (assume,))
        for k, one in enumerate(listed):
            if isinstance(one, bool):
                hint = '== compares two objects in Python: write the assumption as a text, "a == b"'
                self.fault(f"assume[{k}]", f"found {one}, expected a comparison of formulas", hint)
        return [one for one in listed if not isinstance(one, bool)]

    def potential(self, obj: object) -> str:
        """Return the name of the function that a target binds, which is given by itself or by its name."""
        if obj is None or isinstance(obj, str):
            return obj or ""
        functions = [item for item in _names(obj) or () if item.of is not None]
        if len(functions) == 1:
            return functions[0].name
        found = shown(obj) if _names(obj) is not None else type(obj).__name__
        hint = 'write U = function("U", of=theta), use U in H, and potential="U"; formulas of U go into a Target'
        self.fault("potential", f"found {found}, expected a declared function or its name", hint)
        return ""

    def state(self, objects: Sequence[object]) -> tuple[Declared, ...]:
        """Return what declares the blocks of a state; a fault is added for what does not."""
        found: list[Declared] = []
        if isinstance(objects, set | frozenset):
            problem = f"found a {type(objects).__name__}, expected a list: the rows of D and Q follow its order"
            self.fault("state", problem, "state=[theta, r]")
            return ()
        for obj in objects:
            names = () if isinstance(obj, str) else self.declared(obj)
            if len(names) == 1 and names[0].of is None:
                found.append(names[0])
                continue
            problem = f"found {type(obj).__name__} `{shown(obj)}`, expected a name with its shape"
            self.fault("state", problem, 'write `theta = vector("theta", "d")` and `state=[theta]`')
        self.demand_once("state", [block.name for block in found])
        if not objects:
            self.fault("state", "found no blocks, expected at least one", 'vector("theta", "d") is d coordinates')
        return tuple(found)

    def block(self, block: Declared) -> Node:
        """Return what a document declares of a block."""
        self._check_kept(block)
        domain = None if block.domain == REAL else written(block.domain)
        if domain is None and block.kinds != (Kind.REAL,):
            domain = _DOMAINS.get(block.kinds)
            if domain is None:
                problem = f"found a block that is {', '.join(block.kinds)}, expected a domain"
                hint = 'a block has a domain: scalar("x", domain="interval(0, 1)")'
                self.fault(f"state.{block.name}", problem, hint)
        return self.mapping(
            shape=block.shape, domain=domain, transform=block.transform or None, constraint=block.constraint or None
        )

    def parameters(
        self, listed: Sequence[object], used: Sequence[Declared], taken: Mapping[str, str], sizes: set[str]
    ) -> tuple[Declared, ...]:
        """Return the names that are parameters.

        Args:
            listed: what is stated to be one; a fault is added where it has the name of something else.
            used: all names of the document; a fault is added for one that a size has, and that says more than a size.
            taken: the names of what else is declared, with what they are.
            sizes: the names of sizes, which nothing declares.
        """
        for item in self.declared(*listed):
            if what := taken.get(item.name) or ("a size" if item.name in sizes else ""):
                problem = f"found the name `{item.name}` among the parameters, which is already {what}"
                self.fault(f"parameters.{item.name}", problem, "give it another name")
        self.demand_sizes(used, sizes)
        return tuple(item for item in used if item.of is None and item.name not in {*taken, *sizes})

    def demand_sizes(self, used: Sequence[Declared], sizes: set[str]) -> None:
        """Add a fault for what has the name of a size, and says more than what is true of one: it would be dropped."""
        for item in used:
            if item.name in sizes and not item.is_size():
                problem = f"found the name `{item.name}` of {item.says()}, which is already a size"
                hint = f'give it another name; the size as a number is scalar("{item.name}") alone'
                self.fault(f"parameters.{item.name}", problem, hint)

    def is_text(self, entry: str, key: object) -> bool:
        """Whether a key is a text; a fault is added where it is none."""
        if not isinstance(key, str):
            self.fault(entry, f"found {shown(key)} as a key, expected a text")
        return isinstance(key, str)

    def parameter(self, item: Declared, **more: object) -> Node:
        """Return what a document declares of a parameter."""
        self._check_kept(item)
        default = None if item.default is None else self._written(item.default)
        return self.mapping(shape=_shape(item), is_=kinds_of(item), default=default, **more)

    def row_state(self, item: Declared, formulas: Mapping[str, object]) -> Node:
        """Return what a document states of a state of a recursion."""
        self._check_kept(item)
        return self.mapping(shape=_shape(item), is_=kinds_of(item), **formulas)

    def function(self, item: Declared, role: str) -> Node:
        """Return what a document declares of a function."""
        self._check_kept(item)
        of = _one_or_many(item.of or ())
        return self.mapping(of=of, shape=_shape(item), is_=kinds_of(item), role=role or None)

    def _check_kept(self, item: Declared) -> None:
        """Add a fault for an assumption of SymPy's that would be dropped: verdicts are about declarations."""
        if item.lost:
            what = "symbol" if item.of is None else "function"
            problem = f"found a {what} that is {item.lost}, expected real, positive, nonnegative or nonzero"
            hint = "put it in assume" if item.lost in ("negative", "nonpositive") else "formulas are of real numbers"
            self.fault(item.name, problem, hint)

    def fault(self, entry: str, problem: str, hint: str = "") -> None:
        """Add a fault of the meaning."""
        self.faults.meaningless_at(self.where, entry, problem, hint)

    def read(self, means: Callable[[], Made]) -> Made:
        """Return what a document means; everything found is raised, without a place at the line of the statement."""
        made = self.faults.catch(means)
        found = self.faults.found
        placed = [replace(fault, where=self.where) if fault.where == PYTHON else fault for fault in found]
        self.faults.found = [in_python(fault) for fault in placed]
        if made is None or found:
            raise self.faults.error()
        return made

    def _text(self, text: str) -> Scalar:
        return Scalar(text, self.where, plain=False)

    def _scalar(self, entry: str, obj: object) -> Scalar:
        """Return a number or a formula as text; a stand-in and a fault where it is neither."""
        try:
            if exact(obj) is not None:
                return self._text(_number_text(obj))
            return self._written(tree_of(obj, entry, self.where))
        except DocumentError as error:
            faults = [replace(f, entry=entry) if f.entry == "formula" else f for f in error.faults]
            self.faults.catch(lambda: _raised(faults))
            return self._text("0")

    def _written(self, formula: yaml_nodes.Tree) -> Scalar:
        return replace(self._text(written(formula)), formula=formula)


def _leaves(obj: object, depth: int = MAX_NESTING) -> Iterator[object]:
    """Yield what stands in lists, mappings (their keys too) and matrices, as far as a document nests."""
    match obj:
        case Mapping() if depth:
            for key, value in cast("Mapping[object, object]", obj).items():
                yield key
                yield from _leaves(value, depth - 1)
        case list() | tuple() if depth:
            for item in cast("Sequence[object]", obj):
                yield from _leaves(item, depth - 1)
        case Mapping() | list() | tuple():
            return
        case _ if (rows := rows_of(obj)) is not None:
            yield from _leaves(rows, depth - 1)
        case _:
            yield obj


def sizes_of(*names: Declared) -> set[str]:
    """Return the names of sizes in shapes."""
    return {size for item in names for size in item.shape.sizes if isinstance(size, str)}


def rows_of(obj: Any) -> Any:
    """Return the entries of an array, or of a matrix of SymPy's, as lists; None for anything else."""
    rows = obj.tolist() if hasattr(obj, "tolist") and hasattr(obj, "shape") else None
    return None if type(rows) is type(obj) else rows  # a number of NumPy's that Python has none for is no list either


def _number_text(number: object) -> str:
    """Return a number as text, by its value: a class of a user's own may print itself as another one."""
    if isinstance(number, float):
        return repr(float(number))
    return str(int(number)) if isinstance(number, Integral) else str(number)


def _names(leaf: object) -> tuple[Declared, ...] | None:
    """Return the names of a formula; None for what is none: that is said where it stands."""
    try:
        return declared_in(leaf)
    except DocumentError:
        return None


def _raised(faults: Sequence[Fault]) -> None:
    raise SpecError(faults)


def _shape(item: Declared) -> Shape | None:
    return None if item.shape == SCALAR else item.shape


def kinds_of(item: Declared) -> object:
    """Return the kinds of a name as a document states them, nothing where it is any real number."""
    return None if item.kinds == (Kind.REAL,) else _one_or_many([kind.value for kind in item.kinds])


def _one_or_many(items: Sequence[object]) -> object:
    """Return what documents write without a list where it is one."""
    return items[0] if len(items) == 1 else [*items]


def _caller() -> Place:
    """Return the line of the user's code that states the document."""
    frame = inspect.currentframe()
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
        frame = frame.f_back
    return Place("python") if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


_SPELLINGS = (
    (r"quote an entry that holds a comma or bracket, or use a block: `\|`, then a row on each line",
     "D and Q have one place for each pair of blocks: D=[[A, 0], [0, B]] of two, D=[[A]] of one, whatever its size; "
     "numbers go in a place as an array or a sympy.Matrix, D=[[np.eye(2)]]"),
    (r"a formula with commas or brackets is quoted",
     "a formula is one object: an expression, a number, an object of SymPy's, or a text of the language"),
    (r"declare `functions: \{U: \{of: theta, role: potential\}\}`, with one block",
     'write U = function("U", of=theta, role="potential") and use it in H'),
    (r"declare U: \{of: theta, role: potential\}", 'write U = function("U", of=theta, role="potential")'),
    (r"declare `(\w+)` under functions, of the blocks it depends on", r'write \1 = function("\1", of=theta)'),
    (r"or declare it under parameters", "or declare it with scalar, vector or matrix"),
    (r"declare it under state, parameters or functions",
     "declare it with scalar, vector, matrix or function, and use that object"),
    (r"declare that a matrix is positive definite: \{is: positive definite\}",
     'declare that a matrix is positive definite: matrix("M", "d", "d", is_="positive definite")'),
    (r"give blocks a shape: `theta: \{shape: d\}` is d coordinates at once",
     'vector("theta", "d") is d coordinates at once'),
    (r"write under parameters: `(\w+): \{value: ...\}`, or bind it",
     r'write parameters={"\1": ...}, or bind={"\1": ...}'),
    (r"write `data: \{file: ..., (\w+): \[columns\]\}`", r'write data={"file": ..., "\1": [columns]}'),
    (r"declare it in the target: (\w+): \{shape: \[N, K\]\}", r'declare it in the target: data("\1", "N", "K")'),
    (r"state the sizes of both under `sizes`", 'state the sizes of both: sizes={"d": 2}'),
    (r"`sizes: \{(\w+): (\d+)\}`", r'sizes={"\1": \2}'),
    (r"write `shuffle: SEED` under data, or `shuffled: true`", 'write data={..., "shuffle": SEED} or "shuffled": True'),
    (r"\[\{refresh: r\}, \{metropolis: \{split: \[B/2, A, B/2\], steps: 10, flip: \{r: -r\}\}\}\]",
     '[{"refresh": r}, {"metropolis": {"split": ["B/2", "A", "B/2"], "steps": 10, "flip": {r: -r}}}]'),
    (r"`(draw|refresh): (\w+)`", r'{"\1": "\2"}'),
    (r"declare the draw under claims\.noise and use its name",
     'write claims={"noise": [w], ...} with w = vector("w", "d")'),
    (r"write `?claims\.(\w+)`?", r'write claims={"\1": ...}'),
)  # fmt: skip
_PATTERNS = tuple((re.compile(said), instead) for said, instead in _SPELLINGS)


def in_python(fault: Fault) -> Fault:
    """Return a fault with its hint spelled as Python has it."""
    hint = fault.hint
    for pattern, instead in _PATTERNS:
        hint = pattern.sub(instead, hint)
    return replace(fault, hint=hint)
