"""What a step's code depends on besides its arguments, its draws and its file: all that is not known to be none of it.

A step may count its calls in an attribute of a function that it is given, read a level of `logging` or an option of
NumPy, or what a file beside it reads. No run in another process shows what it does where these are others. So its code
is read: that of the functions, classes and values of its file that it names, of those that they name, and of files in
its folder. Every name, attribute and kind of statement is one that `allowed.py` lists, or its own, or it is told by
its line, and nothing is said of the step. What its file keeps between calls is seen by calling it (`calls.py`).
"""

import ast
import builtins
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from random import Random

import numpy as np

from recipe_compiler.errors import Place
from recipe_compiler.lint import allowed
from recipe_compiler.lint.plain_run.generators import REFUSED
from recipe_compiler.lint.source import LARGEST, Source

NOT_FOLLOWED = "what it depends on was not followed"
ADVICE = "take it out, or make it an argument that the document declares"
MOST = 5
"""What is told of one step."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_PLAIN = (
    ast.Return, ast.Assign, ast.AugAssign, ast.While, ast.IfExp, ast.Pass, ast.Break, ast.Continue, ast.Nonlocal,
    ast.BoolOp, ast.UnaryOp, ast.Dict, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.Starred, ast.Yield,
    ast.YieldFrom, ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchStar,
    ast.MatchAs, ast.MatchOr, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword,
)  # fmt: skip
"""Code that does what its parts do."""
_WORDS: dict[type[ast.AST], str] = {
    ast.Set: "set",
    ast.SetComp: "set",
    ast.MatchClass: "case",
    ast.AsyncFunctionDef: "async def",
}
"""How code is called, where not by the name of its class."""
_SHOWN = allowed.TEXTS | {"format", "join"}
_PASSES = frozenset({"all", "any", "bool", "numpy.all", "numpy.any", *allowed.ASKED})
"""What asks of answers whether all of them, or any, are so, and keeps none."""
_RAISING = frozenset({"__init__", "__post_init__", "__call__"})
"""Special methods whose errors go on to who called."""
_NEEDED = frozenset(name.partition(".")[0] for name in allowed.MODULES) | {"builtins", "sys"}
"""Modules that steps are written with, or that say how Python itself is."""


def _any_function() -> None:
    """Stand for any function."""


_OF_OTHERS = frozenset(
    name
    for value in (
        *(np.zeros(1), np.float64(0), np.sqrt, np.random.Generator, np.random.RandomState, Random(), partial(abs)),
        *([], {}, (), set[int](), "", 0, 0.0, iter([]), ArithmeticError(), _any_function, _any_function.__code__),
        *(
            types.FrameType,
            types.GeneratorType,
            types.CoroutineType,
            types.MethodType,
            types.ModuleType,
            types.CellType,
        ),
        *(types.TracebackType, types.BuiltinFunctionType, types.MappingProxyType, type, property, staticmethod, super),
        *(cache(abs), deque[int](), Counter[int](), defaultdict[int, int](), OrderedDict(), Fraction(), 1j),
        *(np.zeros(1).flat, {}.items(), map, zip),
    )
    for name in dir(value)
) - ({*REFUSED} - set(dir([])) - set(dir("")))
"""What values have that are no instances of a class of the file, draws left out that are refused when it is called."""


def dependencies(source: Source, replaced: Collection[str], generators: Collection[str] = ()) -> tuple[str, ...]:
    """Return in words, by line, what the code of a step depends on that is not followed.

    Args:
        source: the step.
        replaced: names of its file in whose place others are put when it is called.
        generators: its arguments that are generators.
    """
    file = _File(Path(source.file), source.shown, ast.parse(source.text))
    walk = _Walk(file, frozenset(replaced))
    walk.reach(file, source.step)
    walk.finish()
    walk.tell_seeds(len(generators))
    told = [f"{place}: it depends on {what}: {NOT_FOLLOWED}; {ADVICE}" for place, what in walk.found]
    left = len(told) - MOST
    return (*told[:MOST], *([f"{left} more such lines"] if left > 0 else []))


# What a file consists of.


class _File:
    """A file, by the names on its top level."""

    def __init__(self, path: Path, shown: str, tree: ast.Module) -> None:
        self.path, self.shown, self.tree = path, shown, tree
        self.aliases: dict[str, tuple[str, ...]] = {}
        """What each name is that is imported anywhere in the file: in a function it may be another than outside."""
        for name, dotted in _aliases(tree):
            self.aliases[name] = (*self.aliases.get(name, ()), dotted)
        self.stars = tuple(_stars(tree))
        self.makers: dict[str, list[ast.stmt]] = {}
        for statement in tree.body:
            for name in _made(statement):
                self.makers.setdefault(name, []).append(statement)
        self.fields = frozenset(_fields(tree))


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names under which modules, and what is in them, are imported anywhere in a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((one.asname or _top(one.name), one.name if one.asname else _top(one.name)) for one in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                where = "." * level + (f"{module}." if module else "")
                yield from ((one.asname or one.name, f"{where}{one.name}") for one in names if one.name != "*")
            case _:
                pass


def _top(module: str) -> str:
    return module.partition(".")[0]


def _stars(tree: ast.Module) -> Iterator[str]:
    """Yield the modules all of whose names are imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
            yield "." * node.level + (node.module or "")


def _made(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement on the top level makes, or changes."""
    if isinstance(statement, Definition):
        yield statement.name
    elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
        stored = (ast.Store, ast.Del)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, stored):
                yield node.id
            elif isinstance(node, Definition):
                yield node.name


def _fields(tree: ast.Module) -> Iterator[str]:
    """Yield the attributes that classes of a file give their instances."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                for statement in body:
                    yield from (name for name in _made(statement) if not name.startswith("__"))
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if not name.startswith("__"):
                yield name
            case ast.Call(func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"), args=args):
                texts = (n.value for arg in args for n in ast.walk(arg) if isinstance(n, ast.Constant))
                yield from (word for text in texts if isinstance(text, str) for word in text.replace(",", " ").split())
            case _:
                pass


def _is_main(statement: ast.stmt) -> bool:
    """Whether a statement is what a file does when it is the program."""
    match statement:
        case ast.If(test=ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]), orelse=[]):
            return True
        case _:
            return False


_Beside = tuple[_File | None, str, tuple[str, ...]]
"""A file that was found, None where it cannot be read, the module's name, and what is asked of it."""

# What is reached of files.


class _Walk:
    """What a step reaches, and what of it is not allowed."""

    def __init__(self, file: _File, replaced: frozenset[str]) -> None:
        self.main, self.replaced = file, replaced
        self.files: dict[Path, _File | None] = {}
        self.found: dict[tuple[Place, str], None] = {}
        self.read: dict[tuple[Path, str], int] = {}
        self.seen: set[int] = set()
        self.left: list[tuple[_File, ast.stmt]] = []
        self.fields: set[str] = set()
        self.modules: dict[tuple[Path, str], _Beside | None] = {}
        self.within: set[tuple[Path, str]] = set()
        """Names of files that are looked for, of which others may be looked for in turn."""
        self.made: dict[int, tuple[_File, ast.Call, str, bool]] = {}
        """Calls that make a generator, or seed one, and whether they may be made more than once."""
        self.asked: list[tuple[_File, int, str]] = []
        """What is asked for what only stops the step."""
        self.swallows: list[str] = []
        """Methods of classes whose errors Python may take for an end, or an answer."""
        self.either: list[tuple[_File, str, int]] = []
        """Names that are others where a module is missing."""
        self.shared: set[str] = set()
        """Modules whose own generator is drawn from."""
        self._add(file)

    def _add(self, file: _File) -> None:
        """Take in a file with those that it imports: what they do when they are loaded is looked at."""
        self.files[file.path] = file
        self.fields |= file.fields
        for module in (*(dotted for every in file.aliases.values() for dotted in every), *file.stars):
            self.beside(file, module)

    def tell(self, file: _File, line: int, what: str) -> None:
        """Note what is not allowed."""
        self.found[Place(file.shown, line), what] = None

    def reach(self, file: _File, name: str, line: int = 0, *, at_load: bool = False) -> None:
        """Look at what makes a name of a file; what it is when the file is loaded nothing replaces."""
        if file is self.main and name in self.replaced and not at_load:
            return
        self.read.setdefault((file.path, name), line)
        for statement in file.makers[name]:
            self.look_at(file, statement)

    @contextmanager
    def once(self, file: _File, name: str) -> Generator[bool]:
        """Say whether a name of a file is not being looked for already: files may import each other."""
        key = (file.path, name)
        is_first = key not in self.within
        self.within.add(key)
        yield is_first
        if is_first:
            self.within.discard(key)

    def look_at(self, file: _File, statement: ast.stmt) -> None:
        """Look at a statement that runs when the file is loaded."""
        if id(statement) not in self.seen:
            self.seen.add(id(statement))
            self.left.append((file, statement))

    def finish(self) -> None:
        """Look at all that is reached, and at what changes it that is not."""
        files = [file for file in self.files.values() if file is not None]
        for file in files:
            _look_at_loading(self, file)
        while self.left:
            file, statement = self.left.pop()
            _Reading(self, file).visit(statement)
        for file in files:
            _tell_switches(self, file)
        for file, name, line in self.either:
            if (file.path, name) in self.read:
                self.tell(file, line, f"`{name}`, which is another where a module is missing")
        for file, line, what in self.asked if self.swallows else ():
            self.tell(file, line, f"`{what}`, beside `{self.swallows[0]}`, whose errors may be taken for an answer")

    def tell_seeds(self, given: int) -> None:
        """Tell what seeds a generator where there is another one: they may draw the same numbers."""
        several = given + len(self.made) + len(self.shared) > 1
        for file, node, called, again in self.made.values():
            if (several or again) and _is_seeded(node):
                why = "with a seed in what runs again" if again else "with a seed, beside another generator"
                self.tell(file, node.lineno, f"`{called}` {why}: both may draw the same numbers")

    def beside(self, file: _File, dotted: str) -> _Beside | None:
        """Return the file in the folder that a module is, None where it cannot be read, its name, and what is asked.

        None of a module that is none of the folder's.
        """
        key = (file.path, dotted)
        if key not in self.modules:
            self.modules[key] = self._beside(file, dotted)
        return self.modules[key]

    def _beside(self, file: _File, dotted: str) -> _Beside | None:
        level = len(dotted) - len(dotted.lstrip("."))
        above = file.path.parents
        folder = above[min(level, len(above)) - 1] if level else self.main.path.parent
        parts = dotted[level:].split(".")
        for count in range(len(parts), 0, -1):
            name = ".".join(parts[:count])
            path = folder.joinpath(*parts[:count])
            for one in (path.with_suffix(".py"), path / "__init__.py"):
                if one.is_file():
                    for k in range(1, count):
                        above_it = folder.joinpath(*parts[:k]) / "__init__.py"
                        if above_it.is_file():
                            self._file(above_it)
                    return self._file(one), name, tuple(parts[count:])
        return (None, dotted, ()) if _is_other(folder, parts[0]) else None

    def _file(self, path: Path) -> _File | None:
        path = path.resolve()
        if path not in self.files:
            self.files[path] = None
            try:
                text = path.read_text(encoding="utf-8") if path.stat().st_size <= LARGEST else ""
                tree = ast.parse(text)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                return None
            if text:
                self._add(_File(path, self._shown(path), tree))
        return self.files[path]

    def _shown(self, path: Path) -> str:
        try:
            return str(Path(self.main.shown).parent / path.relative_to(self.main.path.parent))
        except ValueError:
            return str(path)


def _is_seeded(node: ast.Call) -> bool:
    """Whether a generator is made of anything else than what is made of nothing."""
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(
        (_is_seeded(part) if isinstance(part, ast.Call) and "seed" not in ast.unparse(part.func) else True)
        for part in parts
        if not (isinstance(part, ast.Constant) and part.value is None)
    )


def _is_other(folder: Path, name: str) -> bool:
    """Whether a module of a folder is no text of Python, or a folder of those."""
    built = any(any(folder.glob(f"{name}{end}")) for end in (".so", ".*.so", ".pyd", ".*.pyd", ".pyc"))
    return bool(name) and (built or (name not in _NEEDED and (folder / name).is_dir()))


# What of it is allowed.


class _Reading(ast.NodeVisitor):
    """One statement of a file's top level, read: what is not allowed is told."""

    def __init__(self, walk: _Walk, file: _File) -> None:
        self.walk, self.file = walk, file
        self.scopes: list[tuple[bool, frozenset[str]]] = []
        """The names of each scope inside the statement, and whether it is one of a class."""
        self.stops = False
        """Whether what is read decides only whether the step stops."""
        self.shows = False
        """Whether what is read is printed, or raised."""
        self.aside = False
        """Whether it is part of an assertion, of what is printed or of what is raised."""
        self.loops = 0
        """Loops that are around."""

    def tell(self, node: ast.AST, what: str) -> None:
        """Note what is not allowed."""
        self.walk.tell(self.file, getattr(node, "lineno", 0), what)

    def generic_visit(self, node: ast.AST) -> None:
        """Look at the parts of what is allowed, tell of anything else."""
        if isinstance(node, _PLAIN):
            super().generic_visit(node)
        else:
            self.tell(node, f"`{_WORDS.get(type(node), type(node).__name__.lower())}`")

    # Names.

    def _is_local(self, name: str) -> bool:
        """Whether a name is one of the functions that are around, whose methods do not see the names of their class."""
        return any(name in names for is_class, names in self.scopes if not is_class)

    def visit_Name(self, node: ast.Name) -> None:
        """A name is local, one of the file, of a module or of Python."""
        if isinstance(node.ctx, ast.Load):
            self._name(node, node.id)

    def _name(self, node: ast.AST, name: str, rest: tuple[str, ...] = ()) -> None:
        if self._is_local(name):
            return
        if name.startswith("__") and not name.endswith("__") and any(is_class for is_class, _ in self.scopes):
            self.tell(node, f"`{name}`, whose name is another in a class")
        known = name in self.file.makers
        starred = self._starred(node, name, rest)
        if known:
            at_load = all(is_class for is_class, _ in self.scopes)
            self.walk.reach(self.file, name, getattr(node, "lineno", 0), at_load=at_load)
        if name in self.file.aliases:
            for dotted in self.file.aliases[name]:
                self._of_module(node, dotted, rest)
            return
        if self.stops and name in allowed.ASKED:
            self.walk.asked.append((self.file, getattr(node, "lineno", 0), name))
        in_class = bool(self.scopes) and self.scopes[-1][0] and name in self.scopes[-1][1]
        builtin = name in allowed.BUILTINS or (self.stops and name in allowed.ASKED) or (self.shows and name in _SHOWN)
        if not known and not builtin and not (in_class and not hasattr(builtins, name)) and not starred:
            self.tell(node, f"`{name}`")

    def _starred(self, node: ast.AST, name: str, rest: tuple[str, ...]) -> bool:
        """Whether a name may come of a module of which all names were imported; of one of the folder it is read."""
        looked = False
        for other in self._of_stars(name):
            with self.walk.once(other, name) as is_first:
                if is_first:
                    _Reading(self.walk, other)._name(node, name, rest)
                    looked = True
        return looked or any(f"{module}.{name}" in allowed.NAMES for module in self.file.stars)

    def _of_stars(self, name: str) -> Iterator[_File]:
        """Yield the files in the folder of which a name may come that were imported with all their names."""
        for module in self.file.stars:
            found = self.walk.beside(self.file, module)
            other = found and found[0]
            if other is not None and (other.stars or name in other.makers or name in other.aliases):
                yield other

    def _of_module(self, node: ast.AST, dotted: str, rest: tuple[str, ...]) -> None:
        """Look at what is asked of a module: of one of the folder it is read."""
        whole = ".".join((dotted, *rest))
        found = self.walk.beside(self.file, whole)
        if found is not None:
            self._of_file(node, whole, *found)
            return
        parts = whole.split(".")
        heads = [k for k in range(1, len(parts) + 1) if self._is_allowed(".".join(parts[:k]))]
        if heads:
            first = ".".join(parts[: heads[0]])
            if first in allowed.FINITE:
                self.walk.asked.append((self.file, getattr(node, "lineno", 0), first))
            if first in allowed.GENERATORS | allowed.SEEDS and not self.stops:
                self.tell(node, f"`{first}`, elsewhere than where a generator is made")
            if first in allowed.SHARED:
                self.walk.shared.add(first.rpartition(".")[0])
            self._attributes(node, parts[heads[0] :])
        else:
            self.tell(node, f"`{whole}`")

    def _is_allowed(self, dotted: str) -> bool:
        of_stop = self.stops and dotted in (allowed.FINITE | allowed.KINDS)
        return dotted in allowed.NAMES or of_stop or (self.shows and dotted in allowed.STREAMS)

    def _of_file(self, node: ast.AST, whole: str, file: _File | None, module: str, asked: tuple[str, ...]) -> None:
        if file is None:
            self.tell(node, f"`{module}`, whose source cannot be read")
        elif (
            not asked or (asked[0] not in file.makers and asked[0] not in file.aliases) or "__getattr__" in file.makers
        ):
            self.tell(node, f"`{whole}`")
        else:
            if asked[0] in file.makers:
                self.walk.reach(file, asked[0], getattr(node, "lineno", 0))
                self._attributes(node, asked[1:])
            with self.walk.once(file, asked[0]) as is_first:
                for dotted in file.aliases.get(asked[0], ()) if is_first else ():
                    _Reading(self.walk, file)._of_module(node, dotted, asked[1:])

    def _attributes(self, node: ast.AST, names: Sequence[str]) -> None:
        for name in names:
            own = name in self.walk.fields and name not in _OF_OTHERS
            if name not in allowed.ATTRIBUTES and not own:
                self.tell(node, f"`{name}` of a value")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """An attribute is what a module holds, what any value has, or a field of a class of the file."""
        name, rest = _dotted(node)
        imported = name in self.file.aliases and not self._is_local(name)
        if imported and not isinstance(node.ctx, ast.Load):
            self.tell(node, f"`{'.'.join((self.file.aliases[name][0], *rest))}`, which it sets")
        elif imported:
            self._name(node, name, rest)
        else:
            self.visit(node.value)
            is_set = not isinstance(node.ctx, ast.Load) and node.attr not in self.walk.fields
            if is_set:
                self.tell(node, f"`{node.attr}` of a value, which it sets")
            elif not (self.shows and node.attr in _SHOWN and isinstance(node.value, (ast.Constant, ast.JoinedStr))):
                self._attributes(node, [node.attr])

    # Calls.

    def visit_Call(self, node: ast.Call) -> None:
        """A call may say the type of an array, and go through a mapping in its order."""
        called = self._called(node.func)
        if called in allowed.GENERATORS:
            again = self.loops > 0 or any(not is_class for is_class, _ in self.scopes)
            self.walk.made[id(node)] = (self.file, node, called, again)
            self._seeds(node)
            return
        self._callee(node.func)
        if (self.stops or self.shows or self.aside) and not self._only_answers(node.func, called):
            self.tell(node, f"`{ast.unparse(node.func)}`, called in what only stops it or is printed")
        stops = self.stops and called in _PASSES
        of_text = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, (ast.Constant, ast.JoinedStr))
        shows = self.shows and (called in allowed.BUILTINS | allowed.TEXTS or of_text)
        with self._in(stops=stops, shows=shows):
            for k, arg in enumerate(node.args):
                typed = (called in allowed.MAKES_ARRAYS and k > 0) or _is_attribute(node.func, {"astype"})
                self._typed(arg) if typed else self._in_order(arg) if called in allowed.IN_ORDER else self.visit(arg)
            of_numpy = called.startswith("numpy.") or (
                not called and _is_attribute(node.func, allowed.ATTRIBUTES - self.walk.fields)
            )
            for keyword in node.keywords:
                self._typed(keyword.value) if keyword.arg == "dtype" and of_numpy else self.visit(keyword.value)

    def _only_answers(self, func: ast.expr, called: str) -> bool:
        """Whether a call does nothing but answer: one of Python, NumPy or a value, or an error of the file."""
        if called in allowed.EFFECTS | allowed.SHARED:
            return False
        if called in allowed.BUILTINS | allowed.ASKED | allowed.TEXTS | allowed.FINITE:
            return True
        if _top(called) in self.file.aliases or _top(called) in ("numpy", "math"):
            return called in allowed.NAMES and _top(called) in ("numpy", "math")
        if isinstance(func, ast.Attribute):
            return func.attr in (allowed.ATTRIBUTES | _SHOWN) - allowed.EFFECTS and func.attr not in self.walk.fields
        makers = self.file.makers.get(func.id, []) if isinstance(func, ast.Name) and not self._is_local(func.id) else []
        return bool(makers) and all(isinstance(one, ast.ClassDef) and _is_bare(one) for one in makers)

    def _seeds(self, node: ast.Call) -> None:
        """Look at what a generator is made of."""
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(part, ast.Call) and self._called(part.func) in allowed.SEEDS:
                self._seeds(part)
            else:
                self.visit(part)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """What is named is used again, beyond what only stops the step or is printed."""
        if self.stops or self.shows or self.aside:
            self.tell(node, "`:=` in what only stops it or is printed")
        with self._in():
            self.visit(node.value)

    def _callee(self, func: ast.expr) -> None:
        if _is_attribute(func, allowed.VIEWS) and isinstance(func, ast.Attribute):
            self.tell(func, f"`{func.attr}` of a mapping, elsewhere than in a loop")
            self.visit(func.value)
        else:
            self.visit(func)

    def _called(self, func: ast.expr) -> str:
        """Return the dotted name of what is called: of a module, or of Python."""
        name, rest = _dotted(func)
        modules = {*self.file.aliases.get(name, (name,))}
        own = self._is_local(name) or name in self.file.makers or any(self._of_stars(name))
        if not name or own or len(modules) > 1:
            return ""
        whole = ".".join((*modules, *rest))
        return "" if self.walk.beside(self.file, whole) else whole

    def _typed(self, node: ast.expr) -> None:
        """Look at a type of numbers: that of another array is one."""
        self.visit(node.value if isinstance(node, ast.Attribute) and node.attr == "dtype" else node)

    def _in_order(self, node: ast.expr) -> None:
        """Look at what is gone through: a mapping's names, in its order."""
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys"), args=[], keywords=[]):
                self.visit(value)
            case ast.Call(
                func=ast.Name(id="enumerate" | "zip" | "list" | "sorted" as name), args=args, keywords=[]
            ) if self._called(ast.Name(name)) == name:
                self._name(node, name)
                for arg in args:
                    self._in_order(arg)
            case _:
                self.visit(node)

    # Operators and texts.

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """An operator is allowed, but for one that writes values out."""
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            self._text(node)
        with self._in(shows=self.shows and self._is_written(node)):
            self.visit(node.left)
            self.visit(node.right)

    def _is_written(self, node: ast.expr) -> bool:
        """Whether a text is put together of texts alone, no object of the file among them."""
        match node:
            case ast.BinOp(left=ast.Constant(), op=ast.Mod()) | ast.Constant() | ast.JoinedStr():
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_written(left) and self._is_written(right)
            case ast.Call(func=func):
                called = self._called(func)
                return called in allowed.TEXTS or (isinstance(func, ast.Attribute) and self._is_written(func.value))
            case _:
                return False

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """What is asked for by a key may keep the key."""
        with self._in():
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A constant is allowed, but for one that values are written with."""
        if isinstance(node.value, bytes) or (isinstance(node.value, str) and not {"%", "{"}.isdisjoint(node.value)):
            self._text(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text of values is for what is printed or raised."""
        self._text(node)
        with self._in(shows=True):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    self.visit(value.value)

    def _text(self, node: ast.AST) -> None:
        if not self.shows:
            self.tell(node, "the text of a value")

    def visit_Compare(self, node: ast.Compare) -> None:
        """A comparison is one of values; that of objects is allowed with `None`."""
        for op, left, right in zip(node.ops, (node.left, *node.comparators), node.comparators, strict=False):
            constant = any(isinstance(x, ast.Constant) and not isinstance(x.value, (str, bytes)) for x in (left, right))
            if isinstance(op, (ast.Is, ast.IsNot)) and not constant:
                self.tell(node, "`is`: which object one is")
        known = all(self._is_known(one) for one in (node.left, *node.comparators))
        with self._in(stops=self.stops and known, shows=self.shows and known):
            self.visit(node.left)
            for op, right in zip(node.ops, node.comparators, strict=True):
                elements = right.elts if isinstance(right, ast.Set) and isinstance(op, (ast.In, ast.NotIn)) else [right]
                for element in elements:
                    self.visit(element)

    def _is_known(self, node: ast.expr) -> bool:
        """Whether a value is no object of the file, which may keep what it is compared with."""
        match node:
            case ast.Constant():
                return True
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(map(self._is_known, elements))
            case ast.Call(func=func):
                return self._called(func) in allowed.BUILTINS | allowed.ASKED | allowed.TEXTS | _PASSES
            case ast.Name() | ast.Attribute():
                called = self._called(node)
                return called in allowed.BUILTINS or _dotted(node)[0] in self.file.aliases
            case _:
                return False

    # Statements.

    def visit_Expr(self, node: ast.Expr) -> None:
        """A statement that is a text says nothing; one that prints may write values out."""
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and self._called(node.value.func) in allowed.PRINTS:
            with self._in(shows=True, aside=True):
                for part in (*node.value.args, *(keyword.value for keyword in node.value.keywords)):
                    self.visit(part)
            for keyword in node.value.keywords:
                if keyword.arg not in ("sep", "end", "flush") and self._called(keyword.value) not in allowed.STREAMS:
                    self.tell(node, f"`{keyword.arg or '**'}` of a call that prints")
            return
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """A condition that only stops the step may ask what a value is."""
        with self._in(stops=not node.orelse and all(isinstance(part, ast.Raise) for part in node.body)):
            self.visit(node.test)
        for part in (*node.body, *node.orelse):
            self.visit(part)

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion only stops the step."""
        with self._in(stops=True, aside=True):
            self.visit(node.test)
        if node.msg is not None:
            with self._in(shows=True, aside=True):
                self.visit(node.msg)

    def visit_Match(self, node: ast.Match) -> None:
        """A value is matched by what it is: that it is a list is for what stands there as one."""
        listed = any(isinstance(part, ast.MatchSequence) for case in node.cases for part in ast.walk(case.pattern))
        if listed and not isinstance(node.subject, ast.Tuple):
            self.tell(node, "`case [...]`")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is raised may write values out."""
        with self._in(shows=True, aside=True):
            for part in (node.exc, node.cause):
                if part is not None:
                    self.visit(part)

    def visit_For(self, node: ast.For) -> None:
        """A loop goes through a mapping in its order."""
        self.visit(node.target)
        self._in_order(node.iter)
        self.loops += 1
        for part in (*node.body, *node.orelse):
            self.visit(part)
        self.loops -= 1

    def visit_While(self, node: ast.While) -> None:
        """A loop that goes on."""
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """What is said of types is not run for its value."""
        self.visit(node.target)
        self._annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_Try(self, node: ast.Try) -> None:
        """What may be missing may be imported; whether something is raised is not followed."""
        imports = all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body) and not self.scopes
        if not imports or node.orelse or node.finalbody:
            self.generic_visit(node)
            return
        for handler in node.handlers:
            for part in handler.body:
                self.visit(part)

    def visit_Import(self, node: ast.Import) -> None:
        """What is imported is looked at where it is used."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """What is imported is looked at where it is used."""

    def visit_Delete(self, node: ast.Delete) -> None:
        """What is deleted is no name: that would be another again."""
        for target in node.targets:
            if isinstance(target, ast.Name) and not self._is_local(target.id):
                self.tell(node, f"`del {target.id}`")
            self.visit(target)

    def visit_Global(self, node: ast.Global) -> None:
        """A name of the file is one of it, unless a function around has it as well."""
        for name in node.names:
            if self._is_local(name):
                self.tell(node, f"`{name}`, which is a name of the file and of a function around")

    # Functions and classes.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function is its decorators and defaults, read where it stands, and its body with names of its own."""
        if self.scopes and self.scopes[-1][0] and _is_special(node.name) and node.name not in allowed.SPECIAL:
            self.tell(node, f"`{node.name}`")
        if self.scopes and self.scopes[-1][0] and _is_special(node.name) and node.name not in _RAISING:
            self.walk.swallows.append(node.name)
        for part in node.decorator_list:
            self.visit(part)
        self._annotation(node.returns)
        self._function(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A function without a name."""
        self._function(node, [node.body])

    def _function(self, node: Scoped, body: Sequence[ast.AST]) -> None:
        own = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        own += [arg for arg in (node.args.vararg, node.args.kwarg) if arg is not None]
        for part in (*node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)
        for arg in own:
            self._annotation(arg.annotation)
        with self._scope(frozenset(arg.arg for arg in own) | _bound(body)):
            for part in body:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class is its bases, decorators and body."""
        if node.keywords:
            self.tell(node, f"`{node.keywords[0].arg}` of the class {node.name}")
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
        for base in node.bases:
            if not self._is_base(base):
                self.tell(node, f"`{ast.unparse(base)}`, which the class {node.name} is made of")
        names = _bound(node.body)
        for name in names:
            if _is_special(name) and name not in allowed.SPECIAL:
                self.tell(node, f"`{name}`")
        with self._scope(names, is_class=True):
            for part in node.body:
                self.visit(part)

    def _is_base(self, node: ast.expr) -> bool:
        """Whether a class may be made of another: one of a file in the folder, or one that keeps nothing unseen."""
        if isinstance(node, ast.Call):
            return self._called(node.func) == "collections.namedtuple"
        name, _ = _dotted(node)
        own = [one for one in self.file.makers.get(name, ()) if not isinstance(one, ast.ClassDef)]
        if name in self.file.makers or self._is_local(name):
            return not own or all(_is_named_tuple(one) for one in own)
        called = self._called(node)
        return called in allowed.BASES or (bool(called) and self.walk.beside(self.file, called) is not None)

    def is_made_by(self, node: ast.expr) -> bool:
        """Whether what is said of a type asks an object of the file."""
        asked = [part.value for part in ast.walk(node) if isinstance(part, ast.Subscript)]
        joined = (one for part in ast.walk(node) if isinstance(part, ast.BinOp) for one in (part.left, part.right))
        return any(
            isinstance(maker, Definition) or any(isinstance(part, ast.Call) for part in ast.walk(maker))
            for part in (*asked, *joined)
            for maker in self.file.makers.get(_root(part), ())
            if not (isinstance(maker, ast.ClassDef) and part not in asked)
        )

    def _annotation(self, node: ast.expr | None) -> None:
        """Look at what is said of a type: it is run, and left, where the function is made."""
        if node is None:
            return
        if any(isinstance(part, ast.Call) for part in ast.walk(node)) or self.is_made_by(node):
            self.visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """A list made in a loop."""
        self._comprehension(node, [node.elt])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """Values made in a loop."""
        self._comprehension(node, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """A mapping made in a loop."""
        self._comprehension(node, [node.key, node.value])

    def _comprehension(self, node: Comprehension, parts: Sequence[ast.expr]) -> None:
        first = node.generators[0].iter
        self._in_order(first)
        with self._scope(_bound([generator.target for generator in node.generators])):
            for generator in node.generators:
                if generator.iter is not first:
                    self._in_order(generator.iter)
                for part in (generator.target, *generator.ifs):
                    self.visit(part)
            for part in parts:
                self.visit(part)

    # Where one is.

    @contextmanager
    def _scope(self, names: frozenset[str], *, is_class: bool = False) -> Generator[None]:
        self.scopes.append((is_class, names))
        with self._in():
            yield
        self.scopes.pop()

    @contextmanager
    def _in(self, *, stops: bool = False, shows: bool = False, aside: bool = False) -> Generator[None]:
        before = self.stops, self.shows, self.aside
        self.stops, self.shows, self.aside = stops, shows, self.aside or aside
        yield
        self.stops, self.shows, self.aside = before


def _is_bare(node: ast.ClassDef) -> bool:
    """Whether a class has nothing of its own."""
    return all(isinstance(part, ast.Pass) or _is_text(part) for part in node.body)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_named_tuple(node: ast.stmt) -> bool:
    """Whether a name is made by a call of `namedtuple`."""
    match node:
        case ast.Assign(value=ast.Call(func=func)):
            return _dotted(func)[-1][-1:] == ("namedtuple",) or _dotted(func)[0] == "namedtuple"
        case _:
            return False


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_attribute(node: ast.expr, names: Collection[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names


def _dotted(node: ast.expr) -> tuple[str, tuple[str, ...]]:
    """Return `np` and what is asked of it, of an attribute of a name; no name of one of anything else."""
    rest: list[str] = []
    while isinstance(node, ast.Attribute):
        rest.append(node.attr)
        node = node.value
    return (node.id, tuple(reversed(rest))) if isinstance(node, ast.Name) else ("", ())


def _bound(parts: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that code binds where it stands, those left out that belong to what is around."""
    found: set[str] = set()
    outside: set[str] = set()
    waiting = list(parts)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outside |= {*names}
            case _:
                pass
        if isinstance(node, Definition):
            found.add(node.name)
        elif isinstance(node, Comprehension):
            found |= {one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr)}
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found - outside)


# What files do when they are loaded, and what others may do to what they hold.


def _look_at_loading(walk: _Walk, file: _File) -> None:
    """Tell what a file changes that is not its own when it is loaded, and reach what runs then and may change it."""
    for statement in file.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        for part in _run_at_once(statement):
            _look_at_what_is_set(walk, file, part)
            if not _is_main(statement):
                _look_at_what_runs(walk, file, part)
        if isinstance(statement, ast.Try) and _is_instead(statement):
            _note_instead(walk, file, statement)
        elif not (_is_main(statement) or _is_plain(file, statement) or _is_loose(file, statement)):
            walk.look_at(file, statement)


def _is_plain(file: _File, statement: ast.stmt) -> bool:
    """Whether a statement makes names of the file and does nothing else."""
    match statement:
        case ast.ClassDef(body=body):
            return all(_is_plain(file, part) for part in body) and not _is_decorated(file, statement)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return not _is_decorated(file, statement)
        case ast.Pass():
            return True
        case ast.Assign(targets=targets, value=value):
            names = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
            return all(isinstance(one, ast.Name) for one in names) and not _is_method_called(file, value)
        case ast.AnnAssign(target=ast.Name(), value=value):
            return value is None or not _is_method_called(file, value)
        case _:
            return _is_text(statement)


def _is_decorated(file: _File, node: Definition) -> bool:
    """Whether a decorator is the file's own, or an object of it: it may put the function elsewhere."""
    roots = (part.func if isinstance(part, ast.Call) else part for part in node.decorator_list)
    return any(_root(part) in file.makers for part in roots)


def _is_method_called(file: _File, node: ast.expr) -> bool:
    """Whether a method is called that may change an object of the file."""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and (part.func.attr in allowed.CHANGES or part.func.attr in file.fields)
        for part in ast.walk(node)
    )


def _is_loose(file: _File, statement: ast.stmt) -> bool:
    """Whether a statement sets what no step that is judged depends on."""
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            name, rest = _dotted(func)
            dotted = file.aliases.get(name, (name,))[0]
            return name not in file.makers and ".".join((dotted, *rest)) in allowed.LOOSE
        case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="environ"))]):
            return file.aliases.get(name) == ("os",)
        case ast.Assign(targets=[ast.Attribute(value=ast.Attribute(attr="flags"), attr="writeable")]):
            return isinstance(statement.value, ast.Constant)
        case _:
            return False


def _is_instead(node: ast.Try) -> bool:
    """Whether a statement imports what may be missing, and makes names in its place."""
    made = (part for handler in node.handlers for part in handler.body)
    makes = (ast.Import, ast.ImportFrom, ast.Pass, ast.Assign, ast.FunctionDef)
    own = all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body)
    return own and all(isinstance(part, makes) for part in made) and not node.orelse and not node.finalbody


def _note_instead(walk: _Walk, file: _File, node: ast.Try) -> None:
    """Note the names that are others where a module is missing; for numba functions stand as they are in Python."""
    modules = {dotted for part in node.body for _, dotted in _aliases(ast.Module([part], []))}
    imported = {name for part in node.body for name, _ in _aliases(ast.Module([part], []))}
    of_numba = {_top(module) for module in modules} == {"numba"}
    for handler in node.handlers:
        for part in handler.body:
            names = set(_made(part)) | {name for name, _ in _aliases(ast.Module([part], []))}
            for name in names:
                if not (of_numba and name in imported):
                    walk.either.append((file, name, part.lineno))


def _run_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement with its parts, without the bodies of functions inside it."""
    yield node
    if isinstance(node, ast.Lambda):
        return
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    parts = [*node.decorator_list, node.args] if is_function else ast.iter_child_nodes(node)
    for child in parts:
        yield from _run_at_once(child)


def _look_at_what_runs(walk: _Walk, file: _File, node: ast.AST) -> None:
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            for part in (func, *args, *(keyword.value for keyword in keywords)):
                if isinstance(part, ast.Name) and any(isinstance(s, Definition) for s in file.makers.get(part.id, ())):
                    walk.reach(file, part.id, part.lineno)
                elif isinstance(part, ast.Lambda):
                    _Reading(walk, file).visit(part)
                elif isinstance(part, ast.Name) and _is_needed(walk, file, part.id, ()):
                    walk.tell(file, part.lineno, f"`{file.aliases[part.id][0]}`, which is given away when it is loaded")
        case ast.Name(id=name, ctx=ast.Load()) if name in allowed.ELSEWHERE and name not in file.makers:
            walk.tell(file, node.lineno, f"`{name}`, which is called when it is loaded")
        case ast.FunctionDef(args=arguments, returns=returns) | ast.AsyncFunctionDef(args=arguments, returns=returns):
            reading = _Reading(walk, file)
            own = (part.annotation for part in ast.walk(arguments) if isinstance(part, ast.arg))
            for annotation in (*own, returns):
                if annotation is not None and reading.is_made_by(annotation):
                    reading.visit(annotation)
        case _:
            pass


def _look_at_what_is_set(walk: _Walk, file: _File, node: ast.AST) -> None:
    match node:
        case (
            ast.Subscript(value=ast.Attribute(attr="__dict__" | "modules" as name), ctx=ast.Store() | ast.Del())
            | ast.Attribute(value=ast.Attribute(attr="__dict__" | "modules" as name))
        ):
            walk.tell(file, node.lineno, f"`{name}`, which may be changed when it is loaded")
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            name, rest = _dotted(node if isinstance(node, ast.Attribute) else node.value)
            if name in file.aliases and _is_needed(walk, file, name, rest):
                dotted = ".".join((file.aliases[name][0], *rest))
                walk.tell(file, node.lineno, f"`{dotted}`, which is set when it is loaded")
        case _:
            pass


def _is_needed(walk: _Walk, file: _File, name: str, rest: tuple[str, ...]) -> bool:
    """Whether a name is a module that steps are written with, or one of the folder."""
    return any(
        (_top(dotted) in _NEEDED and dotted not in allowed.NAMES) or walk.beside(file, ".".join((dotted, *rest)))
        for dotted in file.aliases.get(name, ())
    )


def _tell_switches(walk: _Walk, file: _File) -> None:
    """Tell names of a file that the step reads, and that code changes which it does not call."""
    for statement in file.tree.body:
        if id(statement) in walk.seen or not (isinstance(statement, Definition) or _is_main(statement)):
            continue
        where = f"`{statement.name}`" if isinstance(statement, Definition) else "it as the program"
        lines: dict[str, int] = {}
        for name, line in _changed_names(statement, frozenset()):
            lines.setdefault(name, line)
        for name, line in lines.items():
            at = walk.read.get((file.path, name))
            if at is not None:
                walk.tell(file, at or line, f"`{name}`, which {where} changes (line {line})")


def _changed_names(node: ast.AST, local: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Yield the names of a file's top level that code changes, or what they hold, with the line."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = frozenset(arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg))
        outside = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        local = (local | arguments | _bound(node.body)) - outside
        yield from ((name, node.lineno) for name in outside)
    for target in _targets(node):
        name = _root(target)
        if name and name not in local:
            yield name, target.lineno
    if local and isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id not in local:
        yield node.value.id, node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _changed_names(child, local)


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in allowed.CHANGES:
            return [value]
        case _:
            return []


def _root(node: ast.expr) -> str:
    """Return the name that a target is in, or is an attribute of."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
